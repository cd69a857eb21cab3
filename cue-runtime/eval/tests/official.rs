//! Texts that the official `cue def` and `cue eval` gave for files of `cases/def` and `cases/eval`; in
//! files whose name begins with `all_` `eval` shows optional and hidden fields.

use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation, Show, Style};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a readable file")
}

/// Every file of a folder against the text beside it.
fn play(folder: &str, print: impl Fn(&str, &mut Evaluation) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let mut played = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = file.expect("a case").path();
        if path.extension().is_none_or(|it| it != "cue") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let program = compile_text(&read(&path)).expect("a program");
        let budget = Budget { ticks: 1_000_000, depth: 1_000, bytes: 200 << 20 };
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let root = it.find("").ok().flatten().expect("a root");
        it.validate(root, Concreteness::Optional);
        let got = print(&name, &mut it);
        if got != read(&path.with_extension("want")) {
            wrong.push(format!("{name}:\n{got}"));
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(played > 5, "{played} cases");
}

#[test]
fn def_prints_what_the_official_one_does() {
    play("def", |_, it| it.definition());
}

#[test]
fn eval_prints_what_the_official_one_does() {
    play("eval", |name, it| {
        let all = if name.starts_with("all_") { Show::OPTIONAL | Show::HIDDEN } else { 0 };
        let root = it.find("").unwrap().unwrap();
        it.shown(root, Show::new(Style::Eval, Show::DEFINITIONS | all))
    });
}
