//! Patches of one value by another, steered by comments: `+patchKey`, `+patchStrategy`.
//!
//! ~~~text
//! base, patch (Tree) ─ strategy: line lists up, blank what is replaced ─▶ unify ─▶ Tree ─▶ JSON or CUE
//! ~~~
//! Rules: kubevela.md §2.4 and kubevela-observed.md 19. What is ground is unified here; a leaf that
//! is not (`string`, `*1 | int`) stays CUE text, and the caller evaluates the result.
//!
//! Invariants
//! 1. Knows values, not Kubernetes.
//! 2. A failed patch leaves nothing behind.
#![forbid(unsafe_code)]

pub mod tree; // values with their comments
mod strategy; // what the comments ask for
mod order; // of the fields of both
mod unify; // putting the two together
mod operations; // JSON patch and JSON merge patch

pub use crate::tree::{Field, Rest, Tree};

/// How a whole patch is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Unification, steered by comments inside the patch.
    #[default]
    Unify,
    /// RFC 6902, the operations in `operations`.
    JsonPatch,
    /// RFC 7386.
    JsonMergePatch,
}

impl Mode {
    /// The mode that the comments on the whole patch ask for.
    pub fn of(docs: &[String]) -> Self {
        match strategy::tag(docs, "patchStrategy") {
            Some("jsonPatch") => Mode::JsonPatch,
            Some("jsonMergePatch") => Mode::JsonMergePatch,
            Some(_) | None => Mode::Unify,
        }
    }
}

/// Why a patch cannot be applied. Texts are KubeVela's: scripts match on them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Base and patch disagree, or one is wrong in itself.
    #[error("result check err: {}", first(.0))]
    Result(Vec<Conflict>),
    /// An operation of a JSON patch.
    #[error("failed to apply json patch: {0}")]
    Operation(String),
    /// A patch that must be data and is not.
    #[error("failed to marshal patch value: cue: marshal error: {0}")]
    NotData(String),
}

/// Two values that cannot both hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Labels and indices from the root.
    pub path: Vec<String>,
    /// CUE's words.
    pub message: String,
}

fn first(all: &[Conflict]) -> String {
    let Some(one) = all.first() else { return String::new() };
    let path = one.path.join(".");
    let colon = if path.is_empty() { "" } else { ": " };
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more errors)"),
    };
    format!("{path}{colon}{}{more}", one.message)
}

/// `base` as `patch` wants it.
///
/// # Errors
/// When the two disagree; see [`Error`].
pub fn patch(mut base: Tree, mut patch: Tree, mode: Mode) -> Result<Tree, Error> {
    match mode {
        Mode::Unify => {
            base.open_lists();
            strategy::align(&mut base, &mut patch);
            patch.lower_docs();
            unify::unify(patch, base)
        }
        Mode::JsonPatch => operations::json_patch(&base, &patch).map(opened),
        Mode::JsonMergePatch => operations::merge_patch(base, patch).map(opened),
    }
}

/// What has been patched takes further patches.
fn opened(mut tree: Tree) -> Tree {
    tree.open_lists();
    tree
}
