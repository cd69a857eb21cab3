//! What `eval` and `def` print. Each file of `printed` has a command, its files, and what the official command v0.17.1
//! prints of them.

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_syntax::Style;
use cue_tool::evaluate::Concrete;
use cue_tool::{Load, Request, Verb, evaluate};

/// The command of a case: `# eval -i x.cue`.
fn request(line: &str, folder: &Path) -> Request {
    let mut words = line.split(' ');
    let verb = match words.next() {
        Some("eval") => Verb::Eval,
        Some("def") => Verb::Def,
        other => panic!("{other:?} is no command of a case"),
    };
    let mut it = Request::new(verb, Load::default());
    while let Some(word) = words.next() {
        match word {
            "-a" => (it.shown.optional, it.shown.hidden) = (true, true),
            "-A" => it.shown.attributes = true,
            "-c" => it.concrete = Concrete::Must,
            "-e" => it.expressions.extend(words.next().map(str::to_owned)),
            "-i" => it.ignore = true,
            "-s" => it.style = Style::Simplified,
            file => it.load.arguments.push(folder.join(file).display().to_string()),
        }
    }
    it
}

#[test]
fn values_are_printed_as_officially() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/printed");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(cases).expect("cases") {
        let path = entry.expect("a case").path();
        let case = fs::read_to_string(&path).expect("text");
        let folder = tempfile::tempdir().expect("a folder");
        let mut want = None;
        for section in case.split("\n-- ").skip(1) {
            let (name, text) = section.split_once(" --\n").expect("a name");
            if name == "out" {
                want = Some(text);
                continue;
            }
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
            fs::write(file, format!("{text}\n")).expect("a file");
        }
        let line = case.lines().find_map(|it| it.strip_prefix("# ")).expect("a command");
        let got = match evaluate(&NativeRuntime::default(), &request(line, folder.path())) {
            Ok(outcome) => match outcome.errors.first() {
                Some(error) => Err(error.to_string()),
                None => Ok(String::from_utf8_lossy(&outcome.output).into_owned()),
            },
            Err(error) => Err(error.to_string()),
        };
        if got.as_deref().ok() != want {
            wrong.push(format!("{}: {got:#?}", path.display()));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 5, "{count} cases");
}
