//! Conformance runners: recorded cases in, scores out.
//!
//! ~~~text
//! cases (a folder outside the repository) ─▶ one runner per kind ─▶ Scores ─▶ e2e/scores.txt
//! ~~~
//! Runners that play scenarios over HTTP start the built `lateen` and the players that come with
//! the cases (Python); the others call the libraries.
//!
//! Invariants
//! 1. A fresh run equals the committed file; scores that depend on timing are floors. (main.rs)
#![forbid(unsafe_code)]

pub mod bench; // what the end-to-end tests stand on
pub mod command_lines; // `lateen cue` beside the official command
pub mod score; // counting, the score file
pub mod process; // the built binary and the players
pub mod proxy; // a network that does not do as it should
pub mod faults; // requests and answers that are lost or refused
pub mod deaths; // a controller that dies again and again
pub mod kubeapi; // Kubernetes API vectors
pub mod measure; // a command with limits
pub mod canonical; // JSON in one form
pub mod cuex; // CUE under stress: cliffs, permutations, hostile inputs
pub mod cue_syntax; // CUE texts: parser and printer
pub mod cue_eval; // CUE evaluations: nodes, texts, errors
pub mod cue_sandbox; // the same in the sandbox as natively
pub mod cue_api; // CUE values: fills and questions
pub mod vela; // rendering, admission, definitions
pub mod vela_backoff; // when a workflow is looked at again
pub mod live; // scenarios recorded from the official controller
