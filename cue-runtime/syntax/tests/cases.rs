//! Cases in tests/cases: `errors.txt` (text, `=>`, messages) and `format.txt` (text, `=>`, text).

use cue_syntax::{LineIndex, Style, format_tree, parse_tree};

fn cases(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\n----\n").filter_map(|it| it.split_once("\n=>\n"))
}

#[test]
fn errors() {
    for (source, want) in cases(include_str!("cases/errors.txt")) {
        let lines = LineIndex::new(source);
        let (_, errors) = parse_tree(source);
        let got: Vec<String> = errors
            .iter()
            .map(|it| {
                let (line, column) = lines.at(it.span.start);
                format!("{line}:{column} {}", it.message)
            })
            .collect();
        assert_eq!(got.join("\n"), want.trim_end(), "{source}");
    }
}

#[test]
fn format() {
    for (source, want) in cases(include_str!("cases/format.txt")) {
        let (tree, errors) = parse_tree(source);
        assert_eq!(errors, [], "{source}");
        assert_eq!(format_tree(&tree, Style::Plain).trim_end(), want.trim_end(), "{source}");
    }
}

#[test]
fn an_open_struct_within_a_line_stays_there() {
    let (tree, errors) = parse_tree("a: [{[string]: _}]\nb: {c: 1, [string]: _}\n");
    assert_eq!(errors, []);
    assert_eq!(format_tree(&tree, Style::Simplified), "a: [{...}]\nb: {c: 1\n\t...\n}\n");
}
