//! What a user may want to do next: texts of their own, filled with what is known.

use handlebars::{Handlebars, no_escape};
use serde::Serialize;

/// A text and when it is said.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// CRDs and definitions are in a cluster.
    Installed,
    /// The embedded plane runs in the background.
    Started,
}

impl Note {
    fn template(self) -> &'static str {
        match self {
            Note::Installed => include_str!("notes/installed.hbs"),
            Note::Started => include_str!("notes/started.hbs"),
        }
    }

    /// The text, filled; without the last newline.
    ///
    /// # Errors
    /// When the text names something that `known` has not.
    pub fn fill(self, known: &impl Serialize) -> anyhow::Result<String> {
        let mut templates = Handlebars::new();
        templates.set_strict_mode(true);
        templates.register_escape_fn(no_escape);
        Ok(templates.render_template(self.template(), known)?.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_name_the_cluster_that_was_chosen() {
        let text = Note::Installed.fill(&json!({"flags": ["--context", "a<b"]})).unwrap();
        assert!(text.contains("lateen controller --context a<b   runs"), "{text}");
        let text = Note::Installed.fill(&json!({"flags": []})).unwrap();
        assert!(text.contains("lateen controller   runs"), "{text}");
    }

    #[test]
    fn a_text_that_knows_too_little_is_an_error() {
        let text = Note::Started.fill(&json!({"exported": true, "name": "east"})).unwrap();
        assert!(text.ends_with("lateen local stop --name east"), "{text}");
        let text = Note::Started.fill(&json!({"exported": true, "name": null})).unwrap();
        assert!(text.ends_with("lateen local stop"), "{text}");
        Note::Installed.fill(&json!({})).unwrap_err();
    }
}
