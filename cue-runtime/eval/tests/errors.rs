//! Texts, positions and order of errors, as data in `cases/errors.txt`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation, LoadError, Profile, Source, compile};

const BUDGET: Budget = Budget { ticks: 1_000_000, depth: 100, bytes: 64 << 20 };

/// The errors of a text, each on a line; of what has to be concrete also what it lacks.
fn errors(text: &str, values: Concreteness) -> String {
    let program = match compile_text(text) {
        Ok(program) => program,
        Err(all) => return loading(&all),
    };
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let root = it.find("").expect("it evaluates").expect("it is there");
    let mut out = String::new();
    for each in it.validate(root, values) {
        let _ = write!(out, "{}: {} @", each.path, each.message);
        for (_, line, column) in &each.positions {
            let _ = write!(out, " {line}:{column}");
        }
        out.push('\n');
    }
    out
}

/// What keeps a text from being evaluated.
fn loading(all: &[LoadError]) -> String {
    let mut out = String::new();
    for LoadError { path, message, position: (_, line, column) } in all {
        let _ = writeln!(out, "{path}: {message} @ {line}:{column}");
    }
    out
}

#[test]
fn errors_are_told_as_the_cases_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/errors.txt");
    let cases = std::fs::read_to_string(path).unwrap();
    let mut played = 0;
    let mut wrong = String::new();
    for case in cases.split("\n-- ").skip(1) {
        if let Some(wanted) = case.strip_prefix("gives\n") {
            let _ = wanted;
            continue;
        }
        let (name, text) = case.split_once('\n').unwrap();
        let after = &cases[cases.find(case).unwrap() + case.len()..];
        let wanted = after.strip_prefix("\n-- gives\n").unwrap();
        let wanted = wanted.split("\n-- ").next().unwrap().trim_end();
        let values = match name.split_once(": ") {
            Some(("concrete", _)) => Concreteness::Required,
            Some(("acyclic", _)) => Concreteness::Acyclic,
            Some(("final", _)) => Concreteness::Final,
            _ => Concreteness::Optional,
        };
        let got = errors(text, values);
        if got.trim_end() != wanted {
            let _ = writeln!(wrong, "{name}:\n{got}");
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(played > 5, "{played} cases");
}

/// The first thing that keeps files, and the packages they import, from being evaluated.
fn refused(files: &[(&str, &str)], packages: &[(&str, &str)]) -> String {
    let source = |name: &str, text: &str| Source::new(name, text);
    let files: Vec<Source> = files.iter().map(|it| source(it.0, it.1)).collect();
    let packages: Vec<(String, Vec<Source>)> =
        packages.iter().map(|it| (it.0.to_owned(), vec![source(it.0, it.1)])).collect();
    match compile(&files, &packages, Profile::V017) {
        Ok(_) => String::new(),
        Err(all) => all.first().map_or_else(String::new, |it| it.message.clone()),
    }
}

#[test]
fn files_and_packages_that_do_not_fit_are_told_of() {
    let one = ("a.cue", "package p\na: 1\n");
    assert_eq!(refused(&[one, ("b.cue", "b: 2\n"), ("c.cue", "package p\n")], &[]), "");
    // A file without a package sees those with one; nobody sees it.
    assert_eq!(refused(&[("b.cue", "b: a\n"), one], &[]), "");
    let unseen = refused(&[("a.cue", "package p\na: b\n"), ("b.cue", "b: 2\n")], &[]);
    assert_eq!(unseen, "reference \"b\" not found");
    assert_eq!(
        refused(&[one, ("b.cue", "package q\nb: 2\n")], &[]),
        "found packages \"p\" (a.cue) and \"q\" (b.cue) in \".\""
    );
    let main = ("main.cue", "import \"m.test/x\"\na: x.v\n");
    assert_eq!(
        refused(
            &[main],
            &[
                ("m.test/x", "package x\nimport \"m.test/y\"\nv: y.v\n"),
                ("m.test/y", "package y\nimport \"m.test/x\"\nv: x.v\n"),
            ]
        ),
        "import failed: import failed: import failed: package import cycle not allowed"
    );
    assert_eq!(
        refused(&[main], &[("m.test/x", "package x\nimport \"m.test/y\"\nv: y.v\n")]),
        "import failed: import failed: cannot find package \"m.test/y\": cannot find module \
         providing package m.test/y"
    );
}
