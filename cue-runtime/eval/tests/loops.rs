//! Values that are computed from each other (S-60), as data in `cases/loops.txt`: what is said of each
//! field depends on who asked for what first.

use std::fmt::Write as _;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation};

const BUDGET: Budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };

#[test]
fn fields_of_loops_say_what_the_official_ones_do() {
    let cases = include_str!("cases/loops.txt");
    let mut wrong = String::new();
    let mut played = 0;
    for case in cases.split("\n-- program\n").skip(1) {
        let (text, wanted) = case.split_once("\n-- says\n").unwrap();
        let program = compile_text(text).unwrap_or_else(|all| panic!("{all:?}\n{text}"));
        let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
        let root = it.find("").unwrap().unwrap();
        it.validate(root, Concreteness::Optional);
        let mut paths: Vec<&str> =
            wanted.lines().filter_map(|it| it.split_once(": ")).map(|it| it.0).collect();
        paths.dedup();
        let mut got = String::new();
        for path in paths {
            let id = it.find(path).unwrap().unwrap();
            for each in it.inspect(id).errors {
                let _ = write!(got, "{path}: {} @", each.message);
                for (_, line, column) in &each.positions {
                    let _ = write!(got, " {line}:{column}");
                }
                got.push('\n');
            }
        }
        if got.trim_end() != wanted.trim_end() {
            let _ = writeln!(wrong, "{text}\nsays\n{got}instead of\n{wanted}");
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(played > 20, "{played} cases");
}
