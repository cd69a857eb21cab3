//! Values as YAML, as the official command exports them: elements of lists keep their spelling (O-32, O-36).
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation};

fn yaml(text: &str) -> String {
    let program = compile_text(text).unwrap();
    let budget = Budget { ticks: 1_000_000, depth: 1_000, bytes: 200 << 20 };
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").unwrap().unwrap();
    assert!(it.validate(root, Concreteness::Required).is_empty());
    it.yaml(root, &[]).unwrap()
}

#[test]
fn numbers_of_lists_are_spelled_as_they_are_written() {
    for (text, want) in [
        ("a: [0x10, 1_000, .5, 5., 1E5, 0o17]", "0x10 1_000 .5 5. 1E5 0o17"),
        ("a: [1K, 1.5Mi, -0x10, -.5, .5 + 1, +5]", "1000 1572864 -16 -0.5 1.5 5"),
        ("a: [...0x10] & [16]", "16"),
        ("a: [0x10] & [16]", "0x10"),
        ("a: [16] & [0x10]", "16"),
        ("a: [int] & [0x10]", "0x10"),
        ("a: [for v in [0x10, .5] {v}]", "16 0.5"),
        ("a: [x, *0x10 | int]\nx: 1_000", "1000 16"),
        ("a: [#D.b[0]]\n#D: b: [0x10]", "0x10"),
    ] {
        let told = yaml(text);
        let list = told.lines().filter_map(|it| it.strip_prefix("  - "));
        assert_eq!(list.collect::<Vec<&str>>().join(" "), want, "{text}");
    }
    let nested = yaml("a: [[.5, {b: .5, c: [.5]}], .5]\nd: .5");
    let want = "a:\n  - - .5\n    - b: 0.5\n      c:\n        - .5\n  - .5\nd: 0.5\n";
    assert_eq!(nested, want);
}

#[test]
fn texts_of_several_lines_are_blocks_in_lists() {
    let text = "a: [\"\"\"\n  x\n  \"\"\", \"\"\"\n  x \n  \"\"\", \"\"\"\n  \n  \"\"\", \"x\"]\n\
                b: \"\"\"\n  x\n  \"\"\"\n";
    assert_eq!(yaml(text), "a:\n  - |-\n    x\n  - \"x \"\n  - \"\"\n  - x\nb: x\n");
}
