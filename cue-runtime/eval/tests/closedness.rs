//! Which fields closed structs refuse: each case says in its first line the paths of those it must.

use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
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
