//! Cases in tests/cases: `errors.txt` and `names.txt` (text, `=>`, messages), `format.txt` and `simplified.txt` (text,
//! `=>`, text).

use cue_syntax::{
    Language, LineIndex, Style, format_tree, parse_as, parse_file, parse_tree, parse_tree_as,
};

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

// What names are bound to, as the official resolver tells of it.
#[test]
fn names() {
    let mut played = 0;
    for (source, want) in cases(include_str!("cases/names.txt")) {
        let lines = LineIndex::new(source);
        for errors in [parse_tree(source).1, parse_file(source).errors] {
            let mut got: Vec<String> = Vec::new();
            for it in &errors {
                let (line, column) = lines.at(it.span.start);
                got.push(format!("{line}:{column} {}", it.message));
            }
            assert_eq!(got.join("\n"), want.trim_end(), "{source}");
        }
        played += 1;
    }
    assert!(played > 60, "{played} cases");
}

#[test]
fn format() {
    prints_alike(include_str!("cases/format.txt"), Style::Plain);
    prints_alike(include_str!("cases/simplified.txt"), Style::Simplified);
}

fn prints_alike(all: &str, style: Style) {
    for (source, want) in cases(all) {
        let (tree, errors) = parse_tree(source);
        assert_eq!(errors, [], "{source}");
        let printed = format_tree(&tree, style);
        assert_eq!(printed.trim_end(), want.trim_end(), "{source}");
        // Not even blanks are left behind the last line.
        assert_eq!(printed.trim_end(), printed.trim_end_matches('\n'), "{source}");
    }
}

// As the official parser tells of them, of modules before v0.15 and v0.17.
#[test]
fn older_modules_separate_elements_by_commas_and_have_fewer_experiments() {
    for (version, text, wanted) in [
        ("v0.16.0", "x: [\n1\n2,\n]", "missing ',' before newline in list literal"),
        ("v0.14.0", "x: ==1", "expected operand, found '=='"),
        (
            "v0.15.0",
            "@experiment(try)\nx: 1",
            "parsing experiments for version \"v0.15.0\": cannot set experiment \"try\" before \
             version v0.16.0",
        ),
    ] {
        let old = Language::parse(version).expect("a version");
        let (_, errors) = parse_tree_as(text, &old);
        assert_eq!(errors.first().map(|it| &*it.message), Some(wanted), "{text}");
        assert_eq!(parse_as(text, &old).errors, errors, "{text}");
        assert_eq!(parse_tree(text).1, [], "{text}");
    }
    let old = Language::parse("v0.14.0").expect("a version");
    assert_eq!(parse_tree_as("x: [1, 2\n]\ny: [for a in x {a}\n3]\nz: [1\n]", &old).1, []);
}

#[test]
fn an_open_struct_within_a_line_stays_there() {
    let (tree, errors) = parse_tree("a: [{[string]: _}]\nb: {c: 1, [string]: _}\n");
    assert_eq!(errors, []);
    let printed = "a: [{...}]\nb: {c: 1\n\t...\n}\n";
    assert_eq!(format_tree(&tree, Style::Simplified), printed);
    assert_eq!(format_tree(&tree, Style::Former), printed);
    // Where v0.14 and v0.17 differ.
    let (tree, _) = parse_tree("a: [...{...}]\n");
    assert_eq!(format_tree(&tree, Style::Simplified), "a: [...{\n\t...\n}]\n");
    assert_eq!(format_tree(&tree, Style::Former), "a: [...{...}]\n");
}
