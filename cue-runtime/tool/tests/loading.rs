//! What is told when files do not go together, or tags not with them.

mod told;

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::{Load, Request, Verb, evaluate};

/// A module with a package that is left out, one that imports it, and a file with tags.
fn module() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("cue.mod/module.cue", "module: \"m.test\"\nlanguage: version: \"v0.17.0\"\n"),
        ("x/a.cue", "@if(nobody)\n\npackage x\n\na: 1\n"),
        ("main.cue", "package main\n\nimport \"m.test/x\"\n\nb: x.a\n"),
        ("y/t.cue", "c: {d: string @tag(d)} & {e: {f: int @tag(f,type=int)}}\n"),
    ] {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    folder
}

/// Everything that `cue export` of `argument` tells, or its output.
fn export(folder: &Path, argument: &str, tags: &[&str]) -> String {
    let load = Load {
        arguments: vec![folder.join(argument).display().to_string()],
        tags: tags.iter().map(|it| (*it).to_owned()).collect(),
        ..Load::default()
    };
    let cut = |it: String| told::without(folder, &it);
    match evaluate(&NativeRuntime::default(), &Request::new(Verb::Export, load)) {
        Ok(outcome) if outcome.errors.is_empty() => {
            String::from_utf8(outcome.output).expect("text")
        }
        Ok(outcome) => {
            cut(outcome.errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
        Err(error) => cut(error.to_string()),
    }
}

#[test]
fn files_that_are_left_out_are_counted_and_named() {
    let module = module();
    let imported = export(module.path(), "", &[]);
    let wanted = "cannot find package \"m.test/x\": no files in package directory with package name \"x\" \
                  (1 files were excluded)";
    assert!(imported.contains(wanted), "{imported}");
    let named = export(module.path(), "x", &[]);
    assert!(named.contains("build constraints exclude all CUE files in "), "{named}");
    assert!(named.contains("@if(nobody) did not match"), "{named}");
}

#[test]
fn tags_in_operands_are_filled() {
    let module = module();
    let filled = export(module.path(), "y/t.cue", &["d=1", "f=2"]);
    assert!(filled.contains("\"d\": \"1\"") && filled.contains("\"f\": 2"), "{filled}");
    assert_eq!(export(module.path(), "y/t.cue", &["d=1", "q=2"]), "no tag for \"q\"");
    assert_eq!(
        export(module.path(), "y/t.cue", &["f=z"]),
        "invalid number for injection tag \"f\": illegal number start \"z\""
    );
}
