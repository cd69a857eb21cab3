//! What is wrong, for people and for programs: excerpts of the texts that disagree, hints, and JSON.
//!
//! ~~~text
//! Diagnostics + Texts ─report─▶ Reports ─excerpts─▶ text, with colours if wanted
//!              extent, alternatives          └json─▶ {"errors": [...]}
//! ~~~
//! Invariants
//! 1. Nothing that a diagnostic says is lost: a place whose text is not at hand is named.
//! 2. What is written is bounded, however many errors there are and however long the texts.
#![forbid(unsafe_code)]

mod extent; // how far what begins somewhere goes
mod operand; // which alternative of a choice a place is in
mod alternatives; // the errors of a choice by its alternatives, the closest first
mod report; // diagnostics -> what is told of them
mod excerpts; // with lines of the texts
mod json; // for programs
mod locate; // where a value stands in YAML

pub use crate::excerpts::{Color, excerpts, lines};
pub use crate::json::json;
pub use crate::locate::locate;
pub use crate::report::{Alternative, Place, Report, Severity, Texts, reports};
