//! What files ask for with `@experiment`: each case is the JSON it gives, then the program.

use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::{compile_text, print_json};
use cue_eval::{Budget, Evaluation, Profile, Source, compile};
use cue_syntax::Language;

#[test]
fn experiments_give_what_cue_gives() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/experiments.cue.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut played = 0;
    for case in text.split("\n\n") {
        let (wanted, program) = case.split_once('\n').unwrap();
        let program = compile_text(program).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        let datum = it.datum(root).unwrap_or_else(|all| panic!("{all:?}\n{case}"));
        let got: serde_json::Value = serde_json::from_str(&print_json(&datum)).unwrap();
        let wanted: serde_json::Value = serde_json::from_str(wanted).unwrap();
        assert_eq!(got, wanted, "{case}");
        played += 1;
    }
    assert!(played > 3, "{played} cases");
}

// Of a module before v0.14 and v0.15.
#[test]
fn older_modules_have_fewer_functions_and_compare_less() {
    let told = |version: &str, text: &str| {
        let language = Language::parse(version).unwrap();
        let source = Source { language, ..Source::new("x.cue", text) };
        let program = match compile(&[source], &[], Profile::V017) {
            Ok(program) => program,
            Err(all) => return all.into_iter().map(|it| it.message).collect(),
        };
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").unwrap().unwrap();
        match it.datum(root) {
            Ok(datum) => print_json(&datum),
            Err(all) => all.into_iter().map(|it| it.message).collect(),
        }
    };
    let missing = "builtin \"error\" is not available in version v0.8.0; it was added in version \
                   \"v0.14.0\"";
    assert_eq!(told("v0.8.0", "a: error(\"b\")"), missing);
    assert_eq!(told("v0.14.0", "a: error(\"b\")"), "b");
    let wrong = "invalid operands {a:1} and {a:1} to '==' (type struct and struct)";
    assert_eq!(told("v0.14.0", "a: {a: 1} == {a: 1}"), wrong);
    for text in ["a: {a: 1} == {a: 1}", "@experiment(structcmp)\na: [{a: 1}] == [{a: 1}]"] {
        let version = if text.starts_with('@') { "v0.14.0" } else { "v0.15.0" };
        assert_eq!(told(version, text).replace(['\n', ' '], ""), "{\"a\":true}");
    }
}

#[test]
fn without_the_experiment_it_is_an_error() {
    for (text, words) in [
        ("a: {try {b: 1}}", "try clause requires the try experiment"),
        ("@experiment(try)\na: b?\nb: 1", "only valid within a try clause"),
    ] {
        let all = compile_text(text).err().unwrap_or_default();
        assert!(all.iter().any(|it| it.message.contains(words)), "{text}: {all:?}");
    }
}
