//! What `eval` and `def` print. Each file of `printed` has a command, its files, and what the official command v0.17.1
//! prints of them.

mod cases;
mod folder;

use std::path::Path;

use cue_syntax::Style;
use cue_tool::evaluate::Concrete;
use cue_tool::{Load, Request, Verb};

use crate::cases::{cases, printed};

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
            qualifier if qualifier.ends_with(':') => it.load.arguments.push(qualifier.to_owned()),
            file => it.load.arguments.push(folder.join(file).display().to_string()),
        }
    }
    it
}

#[test]
fn values_are_printed_as_officially() {
    let mut wrong = Vec::new();
    let all = cases("printed", &[]);
    for case in &all {
        let line = case.line("# ").expect("a command");
        let got = printed(&request(line, case.folder.path()));
        if got.as_deref().ok() != case.want() {
            wrong.push(format!("{}: {got:#?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.len() > 5, "{} cases", all.len());
}
