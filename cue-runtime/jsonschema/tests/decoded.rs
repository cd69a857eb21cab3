//! Schemas as CUE. Each file of `decoded` has schemas about one subject, and what `cue import` v0.17.1 makes of them:
//! `== name [words of the qualifier]`, the schema, `--`, the file or what is wrong.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cue_builtin::Datum;
use cue_builtin::encode::{Tree, json, line_column, yaml};
use cue_jsonschema::decode::{Config, Document, Form, Problem, decode, decode_open_api};

/// A schema and what is made of it.
struct Case {
    name: String,
    words: Vec<String>,
    schema: String,
    wanted: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    let mut made = false;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("== ") {
            let (name, words) = head.split_once(" [").unwrap_or((head, ""));
            let words = words.trim_end_matches(']').split_whitespace().map(str::to_owned).collect();
            let name = name.to_owned();
            all.push(Case { name, words, schema: String::new(), wanted: String::new() });
            made = false;
        } else if line == "--" {
            made = true;
        } else if let Some(case) = all.last_mut() {
            let part = if made { &mut case.wanted } else { &mut case.schema };
            part.push_str(line);
            part.push('\n');
        }
    }
    all
}

/// The literal that begins at a byte, of a short string; else as CUE writes it.
fn spelled(file: &str, datum: &Datum, offset: u32) -> String {
    let rest = &file[offset as usize..];
    match datum {
        Datum::Number(_) => {
            let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || ".+-".contains(it)));
            rest[..end.unwrap_or(rest.len())].to_owned()
        }
        other => other.literal(),
    }
}

/// All that is wrong, by its places.
fn told(problems: Vec<Problem>, name: &str, file: &str) -> String {
    let place = |it: &Problem| it.at.map(|at| line_column(file.as_bytes(), at as usize));
    let mut all: Vec<_> = problems.into_iter().map(|it| (place(&it), it.message)).collect();
    all.sort();
    all.dedup();
    let mut out = String::new();
    for (place, message) in all {
        let _ = match place {
            Some((line, column)) => writeln!(out, "{message}:\n    ./{name}:{line}:{column}"),
            None => writeln!(out, "{message}"),
        };
    }
    out
}

fn made(case: &Case) -> String {
    let says = |word: &str| case.words.iter().any(|it| it == word);
    let file = &case.schema;
    let bytes = file.as_bytes();
    let (tree, form, name): (Tree, _, _) = match says("yaml") {
        true => {
            let mut all = yaml::decode_keeping(bytes).expect("YAML").0;
            (all.remove(0).tree, Form::Yaml, "schema.yaml")
        }
        false => (json::decode(bytes, json::Values::One).expect("JSON"), Form::Json, "schema.json"),
    };
    let spelled = |datum: &Datum, offset: u32| spelled(file, datum, offset);
    let document = Document { tree: &tree, file: bytes, form, spelled: &spelled };
    let config = Config {
        strict_keywords: says("strict") || says("strictKeywords"),
        strict_features: says("strict") || says("strictFeatures"),
        open_only_when_explicit: says("openOnlyWhenExplicit"),
        ..Config::default()
    };
    let decoded = match says("openapi") {
        true => decode_open_api(&document, &config),
        false => decode(&document, &config),
    };
    decoded.map_or_else(|all| told(all, name, file), |it| it.text(None))
}

#[test]
fn schemas_are_what_the_official_command_makes_of_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decoded");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        for case in cases(&fs::read_to_string(&path).expect("a text")) {
            count += 1;
            let got = made(&case);
            if got != case.wanted {
                let (name, wanted) = (&case.name, &case.wanted);
                wrong.push(format!("{}: {name}\n{got}--- wanted\n{wanted}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 80, "{count} cases");
}

#[test]
fn hostile_schemas_end_in_an_error() {
    let text = |depth: usize| format!("{}{{}}{}", "{\"items\":".repeat(depth), "}".repeat(depth));
    let case = |schema: String| Case {
        name: String::new(),
        words: Vec::new(),
        schema,
        wanted: String::new(),
    };
    assert!(made(&case(text(100_000))).starts_with("schemas nest too deeply:\n"));
    assert!(made(&case(text(1_000))).starts_with("\nnull | bool | number | string | [...null"));
    let told = made(&case("{\"minItems\": 1000000000000}".into()));
    assert!(told.starts_with("\"minItems\" value must not be greater than"), "{told}");
    let told = made(&case("{\"allOf\": [{\"$ref\": \"#/allOf/0\"}]}".into()));
    assert!(told.contains("_#defs: \"/allOf/0\": _#defs.\"/allOf/0\""), "{told}");
}
