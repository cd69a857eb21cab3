//! What only an evaluation tells about declarations.

use cue_map::{Map, Set};
use cue_syntax::ast::Marker;

use crate::Simplified;

/// A computed label: its file, its first and last byte.
pub type LabelKey = (String, u32, u32);

/// What only an evaluation tells.
#[derive(Default)]
pub struct Found {
    /// Labels that computed fields got: file, first and last byte of the label.
    pub labels: Map<LabelKey, String>,
    /// The same by the place of the struct, which may have one of several.
    pub labels_at: Map<(LabelKey, String), String>,
    /// Places that `close` closed.
    pub closed: Set<String>,
    /// Places that are nothing but another one, and which: [`left_of`] itself, if it is a choice that one alternative is
    /// left of.
    pub shared: Map<String, String>,
    /// Whether fields are there, by place.
    pub presence: Map<String, Marker>,
    /// The package embeds what a definition closes (O-77).
    pub is_closed: bool,
    /// Whether the text is simplified.
    pub simplified: Simplified,
}

/// The place of the alternative that is left of a choice.
pub fn left_of(place: &str) -> String {
    format!("{place} left")
}
