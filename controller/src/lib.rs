//! Runs the engine against Kubernetes: watches in, reconciles, effects out.
//!
//! ~~~text
//! watch ─▶ Queue ─▶ worker: engine::reconcile(World = KubeWorld) ─▶ requests
//!   ▲                                                            │
//!   └──────────── the cluster, or the local plane in-process ◀───┘
//! ~~~
//! Invariants
//! 1. No key is worked on twice at once. (queue tests)
//! 2. Nothing here decides what the engine decides.
//! 3. What a watch has shown is not asked for again, unless a write whose end is not known came after. (mirror tests)
//! 4. What came to nothing is not run again while it would read the same. (calm tests)
//! 5. What a reconcile has written itself is no reason for another. (queue and news tests)
//!
//! Start at `run`, then `world`.
#![forbid(unsafe_code)]

pub mod connection; // the way to an API
mod fence; // nothing leaves after a term
pub mod rest; // requests as JSON values
pub mod kinds; // apiVersion and kind -> path
pub mod clusters; // the clusters that are joined
pub mod joining; // a kubeconfig as the Secret of a cluster
pub mod queue; // each key once, later keys at their time
pub mod lease; // at most one controller acts
pub mod install; // CRDs and definitions
pub mod control; // suspend, resume, terminate, restart
pub mod report; // what an Application has become
pub mod git; // repositories, by the program git
pub mod packages; // Package objects
pub mod outside; // web and mail servers
pub mod mirror; // what watches have shown
mod news; // what of an object matters to who hears of it
mod calm; // reconciles that came to nothing
mod recorder; // events, told in the background
pub mod world; // the engine's World on a Kubernetes API
mod follow; // objects of a kind, listed and watched
mod watched; // what is watched, and what follows from it
pub mod run; // workers
pub mod observe; // health and metrics
