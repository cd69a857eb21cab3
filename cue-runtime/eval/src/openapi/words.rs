//! The words schemas have for kinds and comments, whoever makes them.

use crate::builtin::Kinds;

/// Comments as the official generator joins them: each ends its last line. Given are their lines, declaration by
/// declaration, with the indices of those that begin another comment.
pub fn description<'a>(comments: impl IntoIterator<Item = (&'a [String], &'a [u32])>) -> String {
    let mut out = String::new();
    for (lines, breaks) in comments {
        for (index, line) in lines.iter().enumerate() {
            let another = index == 0 || breaks.contains(&(index as u32));
            if another && !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

/// The `type` of values of some kinds; `None` if there is not one for all.
pub fn type_name(kinds: Kinds) -> Option<&'static str> {
    match kinds {
        Kinds::BOOL => Some("boolean"),
        Kinds::INT => Some("integer"),
        Kinds::NUMBER | Kinds::FLOAT => Some("number"),
        Kinds::STRING | Kinds::BYTES => Some("string"),
        Kinds::LIST => Some("array"),
        Kinds::STRUCT => Some("object"),
        _ => None,
    }
}
