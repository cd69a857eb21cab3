//! Which keys of `context` a template reads: what none reads need not be made, nor be given to the interpreter, which
//! takes most of the time where an application has many components.

use std::collections::BTreeSet;

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// These keys at most.
    Keys(BTreeSet<Box<str>>),
    /// It may be any of them.
    All,
}

/// The name by which templates know it.
const CONTEXT: &str = "context";

impl Reads {
    /// What texts read: whoever reads a key names `context` there, and the key behind it. Where the name stands
    /// otherwise (by itself, as a label, in a comment), it may be any.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut keys = BTreeSet::new();
        for text in texts {
            for (at, _) in text.match_indices(CONTEXT) {
                let (before, after) = (&text[..at], &text[at + CONTEXT.len()..]);
                if before.ends_with(is_of_name) || after.starts_with(is_of_name) {
                    continue;
                }
                match key(after) {
                    Some(key) => drop(keys.insert(key.into())),
                    None => return Self::All,
                }
            }
        }
        Self::Keys(keys)
    }

    /// Whether it may be this one.
    pub(super) fn may_be(&self, key: &str) -> bool {
        match self {
            Self::Keys(keys) => keys.contains(key),
            Self::All => true,
        }
    }
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '$' | '#')
}

/// The key that is selected there: `.key` or `["key"]`.
fn key(after: &str) -> Option<&str> {
    if let Some(rest) = after.strip_prefix("[\"") {
        let (key, _) = rest.split_once("\"]")?;
        return (!key.contains(['"', '\\', '\n'])).then_some(key);
    }
    let rest = after.strip_prefix('.')?;
    let end = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_behind_the_name() {
        let text = "a: context.name\nb: \"\\(context.appName)-\\(context[\"namespace\"])\"
            c: context.output.spec.context2 & #context & _context & mycontext";
        let Reads::Keys(keys) = Reads::of([text, "x: 1"].into_iter()) else {
            panic!("all of them");
        };
        let keys: Vec<&str> = keys.iter().map(|it| &**it).collect();
        assert_eq!(keys, ["appName", "name", "namespace", "output"]);
        assert!(Reads::of([text].into_iter()).may_be("name"));
        assert!(!Reads::of([text].into_iter()).may_be("cluster"));
    }

    #[test]
    fn what_is_not_told_may_be_any() {
        for text in [
            "x: context",
            "for k, v in context {(k): v}",
            "let c = context\nx: c.name",
            "context: {name: string}",
            "\"context\": {name: string}",
            "x: context[parameter.key]",
            "x: context[\"a\\u0062\"]",
            "x: context.\"name\"",
            "// with its context",
            "x: context .name",
        ] {
            assert_eq!(Reads::of([text].into_iter()), Reads::All, "{text}");
        }
    }
}
