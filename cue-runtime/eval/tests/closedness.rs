//! Which fields closed structs refuse: each case says in its first line the paths of those it must.

use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::heap::VertexId;
use cue_eval::{Budget, Concreteness, Evaluation};

#[test]
fn closed_structs_refuse_what_nobody_declared() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/closedness.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut played = 0;
    for case in text.split("\n\n") {
        let wanted = case.lines().next().and_then(|it| it.strip_prefix("// refused:")).unwrap();
        let program = compile_text(case).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        let mut refused: Vec<String> = it
            .validate(root, Concreteness::Optional)
            .into_iter()
            .map(|it| {
                assert_eq!(it.message, "field not allowed", "{case}");
                it.path
            })
            .collect();
        refused.sort();
        let mut wanted: Vec<&str> = wanted.split_whitespace().collect();
        wanted.sort_unstable();
        assert_eq!(refused, wanted, "{case}");
        played += 1;
    }
    assert!(played > 4, "{played} cases");
}

/// The paths of what counts as closed in a value, itself too.
fn closed(it: &mut Evaluation, id: VertexId, path: &str, found: &mut Vec<String>) {
    let node = it.inspect(id);
    if node.closed {
        found.push(path.to_owned());
    }
    for (label, _, _, member) in node.members {
        closed(it, member, &format!("{path}.{label}"), found);
    }
}

#[test]
fn what_is_in_closed_values_counts_as_closed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/counts.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut wrong = Vec::new();
    for case in text.split("\n\n") {
        let wanted = case.lines().next().and_then(|it| it.strip_prefix("// closed:")).unwrap();
        let program = compile_text(case).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        let mut found = Vec::new();
        for (label, _, _, id) in it.inspect(root).members {
            // Definitions are closed.
            if label.starts_with(|it: char| it.is_ascii_lowercase()) {
                closed(&mut it, id, &label, &mut found);
            }
        }
        if found != wanted.split_whitespace().collect::<Vec<_>>() {
            wrong.push(format!("{found:?} in\n{case}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
