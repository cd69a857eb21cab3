//! Modules that folders stand for, and how they are told of.

mod told;

use std::fs;

use cue_session::NativeRuntime;
use cue_tool::{Load, Request, Verb, evaluate};

/// What is exported of a folder, or what is told.
fn exported(folder: &tempfile::TempDir) -> Result<String, String> {
    let arguments = vec![folder.path().display().to_string()];
    let request = Request::new(Verb::Export, Load { arguments, ..Load::default() });
    match evaluate(&NativeRuntime::default(), &request) {
        Ok(outcome) => match outcome.errors.first() {
            None => Ok(String::from_utf8(outcome.output).expect("text")),
            Some(error) => Err(told::without(folder.path(), &error.to_string())),
        },
        Err(error) => Err(told::without(folder.path(), &error.to_string())),
    }
}

#[test]
fn a_module_is_replaced_by_a_folder() {
    let local = "deps: \"a.example/dep@v0\": replaceWith: \"./dep\"\n";
    let files = [
        ("cue.mod/module.cue", "module: \"a.example/main@v0\"\nlanguage: version: \"v0.17.0\"\n"),
        ("cue.mod/local-module.cue", local),
        (
            "main.cue",
            "package main\nimport \"a.example/dep\"\nimport \"a.example/dep/sub@v0\"\na: dep.v\nb: sub.v\n",
        ),
        ("dep/cue.mod/module.cue", "module: \"a.example/dep@v0\"\nlanguage: version: \"v0.9.0\"\n"),
        ("dep/dep.cue", "package dep\nimport \"a.example/dep/sub\"\nv: sub.v + 1\n"),
        ("dep/sub/sub.cue", "package sub\nv: 1\n"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    assert_eq!(exported(&folder).as_deref(), Ok("{\n    \"a\": 2,\n    \"b\": 1\n}\n"));
    for (file, text, told) in [
        (
            "cue.mod/local-module.cue",
            "deps: \"a.example/dep@v1\": replaceWith: \"./dep\"\n",
            "replacement directory ./dep has module path \"a.example/dep@v0\", \
             want \"a.example/dep@v1\"",
        ),
        (
            "cue.mod/local-module.cue",
            "deps: \"a.example/dep@v0\": {}\n",
            "dependency \"a.example/dep@v0\" in cue.mod/local-module.cue has no version and is \
             not present in module.cue",
        ),
        (
            "cue.mod/module.cue",
            "module: \"a.example/main@v0\"\nlanguage: version: \"v0.17.0\"\n\
             deps: \"a.example/dep@v0\": replaceWith: \"./dep\"\n",
            "module replace for \"a.example/dep@v0\" is not allowed in module.cue; \
             move it to cue.mod/local-module.cue",
        ),
    ] {
        fs::write(folder.path().join(file), text).expect("a file");
        assert_eq!(exported(&folder), Err(told.to_owned()));
    }
}
