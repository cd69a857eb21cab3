//! Data that is no CUE as text that is, and where each piece of it stands in its file: so errors name
//! the place in the file.

use cue_eval::builtin::Datum;
use cue_eval::encode::{Entry, Tree, line_column};
use cue_eval::evaluation::print_json;

/// Bytes of the text, and line and column in the file, in order.
pub(crate) type Places = Vec<(u32, (u32, u32))>;

/// A value on one line.
pub(crate) fn located(tree: &Tree, file: &[u8]) -> (String, Places) {
    let mut text = String::new();
    let mut places = Places::new();
    let mut open: Vec<char> = Vec::new();
    // Whether what comes next is not the first of its list or struct.
    let mut follows = false;
    let mut labelled = false;
    for (entry, offset) in &tree.entries {
        if let Entry::End = entry {
            text.extend(open.pop());
            follows = true;
            continue;
        }
        if follows && !labelled {
            text.push_str(", ");
        }
        let at = u32::try_from(text.len()).unwrap_or(u32::MAX);
        places.push((at, line_column(file, *offset as usize)));
        (follows, labelled) = (true, false);
        match entry {
            Entry::Scalar(datum) => text.push_str(&print_json(datum)),
            Entry::Key(label) => {
                text.push_str(&print_json(&Datum::text(&**label)));
                text.push_str(": ");
                labelled = true;
            }
            Entry::List | Entry::Struct => {
                let list = matches!(entry, Entry::List);
                text.push(if list { '[' } else { '{' });
                open.push(if list { ']' } else { '}' });
                follows = false;
            }
            Entry::End => {}
        }
    }
    (text, places)
}

#[cfg(test)]
mod tests {
    use cue_eval::encode::yaml;

    use super::*;

    #[test]
    fn every_piece_has_its_place() {
        let file = "a: 1\nb:\n- x\n- c: {}\n";
        let tree = yaml::decode(file.as_bytes()).unwrap().remove(0).tree;
        let (text, places) = located(&tree, file.as_bytes());
        assert_eq!(text, r#"{"a": 1, "b": ["x", {"c": {}}]}"#);
        let place = |piece: &str| {
            let at = text.find(piece).unwrap() as u32;
            places.iter().find(|it| it.0 == at).unwrap().1
        };
        assert_eq!((place("1"), place("\"x\"")), ((1, 4), (3, 3)));
        assert_eq!((place("\"b\""), place("\"c\""), place("{}")), ((2, 1), (4, 3), (4, 6)));
    }
}
