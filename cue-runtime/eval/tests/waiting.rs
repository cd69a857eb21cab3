//! Who waits for what (S-25 to S-32): each case says in its first line what it gives, in every
//! order of its declarations.

use std::path::Path;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::evaluation::{compile_text, parse_json, print_json};
use cue_eval::{Budget, Concreteness, Evaluation};

#[test]
fn the_order_of_declarations_says_nothing() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/waiting.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut played = 0;
    for case in text.split("\n\n") {
        let wanted = case.lines().next().and_then(|it| it.strip_prefix("// ")).unwrap();
        let lines: Vec<&str> = case.lines().filter(|it| !it.starts_with("//")).collect();
        for turned in 0..lines.len() * 2 {
            let mut lines = lines.clone();
            let by = turned % lines.len();
            lines.rotate_left(by);
            if turned >= lines.len() {
                lines.reverse();
            }
            let text = lines.join("\n");
            let program = compile_text(&text).unwrap_or_else(|all| panic!("{all:?}\n{text}"));
            let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
            let mut it = Evaluation::start(Arc::new(program), &[], budget);
            let root = it.find("").unwrap().unwrap();
            let errors = it.validate(root, Concreteness::Required);
            match wanted.strip_prefix("fails: ") {
                Some(code) => {
                    let codes: Vec<&str> = errors.iter().map(|it| it.kind.code()).collect();
                    assert!(codes.contains(&code), "{errors:?}\n{text}");
                }
                None => {
                    assert!(errors.is_empty(), "{errors:?}\n{text}");
                    let got = it.datum(root).unwrap();
                    let wanted = parse_json(wanted).unwrap();
                    assert_eq!(sorted(&got), sorted(&wanted), "{text}");
                }
            }
            played += 1;
        }
    }
    assert!(played > 60, "{played} plays");
}

/// JSON text, fields in the order of their names.
fn sorted(datum: &Datum) -> String {
    fn order(datum: &Datum) -> Datum {
        match datum {
            Datum::Struct(fields) => {
                let all = fields.iter().map(|(name, value)| (name.clone(), order(value)));
                let mut all: Vec<_> = all.collect();
                all.sort_by(|left, right| left.0.cmp(&right.0));
                Datum::fields(all)
            }
            Datum::List(items) => Datum::list(items.iter().map(order).collect()),
            other => other.clone(),
        }
    }
    print_json(&order(datum))
}
