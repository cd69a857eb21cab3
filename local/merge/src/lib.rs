//! Patches and server-side apply over JSON values, the way a Kubernetes API server does them.
//!
//! ~~~text
//! OpenAPI or CRD schema -> Schema -> strategic::patch, typed::{compare, merge, fields}, manage::{update, apply}
//! ~~~
//! Everything is a pure function: versions, times and managers are given by the caller.
//! Values come out of parsers that bound their depth (serde_json: 128), so recursion over them is bounded.
//!
//! Invariants
//! 1. A second equal apply changes nothing, times included. (tests/apply.rs)
//! 2. `FieldSet` and its JSON are one to one. (tests/apply.rs)
//! 3. A patch either applies as a whole or the live value stays.
#![forbid(unsafe_code)]

mod annotation; // what client-side apply left
pub mod fieldset; // which fields somebody owns, and its JSON form
pub mod go; // values and strings as Go prints them, for messages
pub mod json; // JSON patch and merge patch
pub mod manage; // managedFields: update and apply
pub mod same; // when two states are the same
pub mod schema; // what patches need to know of a kind
pub mod strategic; // strategic merge patch
pub mod typed; // compare, merge, remove, field set of a value

pub use fieldset::FieldSet;
pub use schema::{Definitions, Schema};

/// Why a patch was refused: the status code and, unless the server gives its generic text, the message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// HTTP status code: 400, 409, 413, 422 or 500.
    pub code: u16,
    /// The message; for 422 without one the server says `the server rejected our request due to an error in our request`.
    pub message: String,
    /// For conflicts: manager text and path of each.
    pub conflicts: Vec<(String, String)>,
}

/// The text of a patch that could not be applied.
pub const GENERIC: &str = "the server rejected our request due to an error in our request";

impl Refused {
    pub(crate) fn new(code: u16, message: impl Into<String>) -> Refused {
        Refused { code, message: message.into(), conflicts: Vec::new() }
    }
    pub(crate) fn generic() -> Refused {
        Refused::new(422, GENERIC)
    }
}
