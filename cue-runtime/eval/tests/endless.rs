//! Programs without end or of exponential size end in an error that names what is to blame: each
//! case says in its first line which words that error has.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation};

const BUDGET: Budget = Budget { ticks: 2_000_000, depth: 400, bytes: 64 << 20 };
const LONGEST: Duration = Duration::from_secs(20);

/// `path: message` of the errors, as `cue export` finds them.
fn errors(text: &str) -> Vec<String> {
    let program = match compile_text(text) {
        Ok(program) => program,
        Err(all) => return all.into_iter().map(|it| it.message).collect(),
    };
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let root = it.find("").expect("it evaluates").expect("it is there");
    let mut all = it.validate(root, Concreteness::Required);
    if all.is_empty() {
        all = it.datum(root).err().unwrap_or_default();
    }
    all.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn what_has_no_end_is_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/endless");
    let mut played = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let words = text.lines().next().and_then(|it| it.strip_prefix("// error: ")).unwrap();
        let started = Instant::now();
        // The stack every runtime gives to the evaluator.
        let all = std::thread::scope(|scope| {
            let work = || errors(&text);
            let builder = std::thread::Builder::new().stack_size(512 << 20);
            builder.spawn_scoped(scope, work).unwrap().join().unwrap()
        });
        let long = started.elapsed() > LONGEST;
        if long || !all.iter().any(|it| it.contains(words)) {
            wrong.push(format!("{} after {:?}: {all:?}", path.display(), started.elapsed()));
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(played > 10, "{played} cases");
}

#[test]
fn a_fraction_may_be_longer_than_any_width() {
    let text = format!("x: 0.0{}", "3".repeat(70_000));
    let program = compile_text(&text).unwrap();
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let root = it.find("").unwrap().unwrap();
    let datum = it.datum(root).unwrap();
    let printed = cue_eval::evaluation::print_json(&datum);
    assert!(printed.starts_with("{\"x\":0.0333"), "{}", &printed[..20]);
}
