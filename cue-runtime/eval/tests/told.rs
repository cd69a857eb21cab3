//! What is told of every value of a program: its class, and its errors with their places, as the official
//! implementation tells them (recorded with the operation `paths` of the oracle).

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::heap::VertexId;
use cue_eval::inspect::{Class, Node};
use cue_eval::{Budget, Evaluation, LabelKind};

/// The class of a value, its default counting for it.
fn class(of: &Node) -> &'static str {
    match of.class {
        Class::Concrete => "concrete",
        Class::Open => match of.default.as_deref() {
            Some(it) if it.class == Class::Concrete => "concrete",
            _ => "nonconcrete",
        },
        Class::Error(kind) => kind.code().trim_start_matches("cue/"),
    }
}

fn tell(it: &mut Evaluation, id: VertexId, path: &str, out: &mut String) {
    let node = it.inspect(id);
    let told = if node.child_error { " by what it has" } else { "" };
    let _ = writeln!(out, "{path} {}{told}", class(&node));
    let mut errors: Vec<String> = node
        .errors
        .iter()
        .map(|it| {
            let places = it.positions.iter().map(|(file, line, column)| match file.as_str() {
                "in.cue" => format!("{line}:{column}"),
                file => format!("{file}:{line}:{column}"),
            });
            format!("    {} @ {}\n", it.message, places.collect::<Vec<_>>().join(" "))
        })
        .collect();
    errors.sort();
    out.extend(errors);
    for (text, label, _, vertex) in node.members {
        let path = match label {
            LabelKind::Index => format!("{path}[{text}]"),
            _ if path.is_empty() => text,
            _ => format!("{path}.{text}"),
        };
        tell(it, vertex, &path, out);
    }
}

#[test]
fn values_are_told_as_the_cases_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/told.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut played = 0;
    let mut wrong = Vec::new();
    for case in text.split("====\n").filter(|it| !it.is_empty()) {
        let (source, wanted) = case.split_once("----\n").unwrap();
        let program = compile_text(source).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        let mut got = String::new();
        tell(&mut it, root, "", &mut got);
        if got != wanted {
            wrong.push(format!("{source}tells\n{got}not\n{wanted}"));
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(played >= 4, "{played} cases");
}
