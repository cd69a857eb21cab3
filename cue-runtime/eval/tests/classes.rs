//! What single values are: each case names paths in its first lines, and the class or the code of
//! the error each has.

use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::heap::VertexId;
use cue_eval::inspect::Class;
use cue_eval::{Budget, Concreteness, Evaluation};

/// The value at a path; `a?` and `a!` name constraints.
fn value(it: &mut Evaluation, path: &str) -> Option<VertexId> {
    let mut id = it.find("").ok()??;
    for step in path.split('.') {
        let members = it.inspect(id).members;
        id = members.into_iter().find(|it| it.0 == step)?.3;
    }
    Some(id)
}

#[test]
fn values_are_of_the_class_that_the_cases_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/classes.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut played = 0;
    let mut wrong = Vec::new();
    for case in text.split("\n\n") {
        let program = compile_text(case).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        it.validate(root, Concreteness::Optional);
        for line in case.lines().filter_map(|it| it.strip_prefix("//: ")) {
            let (path, wanted) = line.split_once(' ').unwrap();
            let id = value(&mut it, path).unwrap_or_else(|| panic!("{path} in\n{case}"));
            let got = match it.inspect(id).class {
                Class::Concrete => "concrete",
                Class::Open => "open",
                Class::Error(kind) => kind.code(),
            };
            if got != wanted {
                wrong.push(format!("{path} is {got}, not {wanted}, in\n{case}"));
            }
            played += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(played > 30, "{played} values");
}
