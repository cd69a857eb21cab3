//! Where a value stands in a text of YAML or JSON.

use cue_eval::encode::{Entry, line_column, yaml};
use cue_session::{Diagnostic, Position};

use crate::report::{Language, language};

/// Adds to each error the place in a text that `pointer` says for it: in which document, from 0, and where there, as a
/// JSON pointer. It comes first, since it is what whoever wrote the text can change.
pub fn locate(
    wrong: &mut [Diagnostic],
    file: &str,
    text: &str,
    pointer: impl Fn(&Diagnostic) -> Option<(usize, String)>,
) {
    let Ok(documents) = yaml::decode(text.as_bytes()) else { return };
    for it in wrong {
        let Some((document, pointer)) = pointer(it) else { continue };
        let Some(document) = documents.get(document) else { continue };
        let Some(offset) = offset(&document.tree.entries, &pointer) else { continue };
        let (line, mut column) = line_column(text.as_bytes(), offset as usize);
        if language(file) == Language::Yaml {
            let start = (offset + 1).saturating_sub(column) as usize;
            let before = text.get(start..offset as usize).unwrap_or_default();
            column = before.chars().count() as u32 + 1;
        }
        it.positions.insert(0, Position { file: file.to_owned(), line, column });
    }
}

/// The byte where the value at a pointer begins; that of the innermost value around it which is there.
fn offset(entries: &[(Entry, u32)], pointer: &str) -> Option<u32> {
    let mut at = 0;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let Some(inside) = child(entries, at, &step) else { break };
        at = inside;
    }
    entries.get(at).map(|it| it.1)
}

/// Where the entry of a part of the value at `at` is.
fn child(entries: &[(Entry, u32)], at: usize, step: &str) -> Option<usize> {
    let mut next = at + 1;
    let mut index = 0_usize;
    loop {
        match (&entries.get(at)?.0, &entries.get(next)?.0) {
            (_, Entry::End) => return None,
            (Entry::Struct, Entry::Key(label)) => {
                if **label == *step {
                    return Some(next + 1);
                }
                next = behind(entries, next + 1)?;
            }
            (Entry::List, _) => {
                if step.parse() == Ok(index) {
                    return Some(next);
                }
                index += 1;
                next = behind(entries, next)?;
            }
            _ => return None,
        }
    }
}

/// The entry behind a value.
fn behind(entries: &[(Entry, u32)], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, (entry, _)) in entries.iter().enumerate().skip(at) {
        match entry {
            Entry::List | Entry::Struct => depth += 1,
            Entry::End => depth = depth.checked_sub(1)?,
            Entry::Scalar(_) | Entry::Key(_) => {}
        }
        if depth == 0 && !matches!(entry, Entry::Key(_)) {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_paths() {
        let text = "a: 1\n---\nspec:\n  list:\n  - name: x\n    p: {q: \u{e9}, r: [3, 4]}\n  - {name: y}\n";
        let (first, gone) = ("/spec/list/0/p/r/1", "/spec/list/1/absent");
        let mut wrong = vec![Diagnostic::default(), Diagnostic::default()];
        wrong[1].path = "gone".into();
        locate(&mut wrong, "f.yaml", text, |it| {
            Some((1, if it.path.is_empty() { first } else { gone }.to_owned()))
        });
        let at: Vec<(u32, u32)> =
            wrong.iter().map(|it| (it.positions[0].line, it.positions[0].column)).collect();
        assert_eq!(at, [(6, 22), (7, 5)]);
    }
}
