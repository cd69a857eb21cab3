//! What is told when files do not go together, or tags not with them.

mod folder;
mod told;

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::{Load, Request, Verb, evaluate};

use crate::folder::folder;

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

/// The module file of a module with that path.
fn module_file(path: &str) -> String {
    format!("module: {path:?}\nlanguage: version: \"v0.17.0\"\n")
}

#[test]
fn fields_of_a_package_keep_their_order_whichever_tags_are_given() {
    let folder = folder(&[
        ("a.cue", "package p\nn: string @tag(n)\nenv: string @tag(e)\nk: 1\n"),
        ("b.cue", "package p\nc: true\n"),
    ]);
    let given = export(folder.path(), "", &["e=3", "n=x"]);
    let order: Vec<&str> = given.split('"').skip(1).step_by(2).collect();
    assert_eq!(order, ["c", "n", "x", "env", "3", "k"], "{given}");
}

#[test]
fn a_package_is_its_folder_and_what_is_above_whatever_the_path_goes_through() {
    let folder = folder(&[
        ("cue.mod/module.cue", &module_file("m.test")),
        ("r/r.cue", "package d\nu: 1\n"),
        ("r/l/l.cue", "package d\nv: 3\n"),
        ("q.cue", "package q\nx: {\n"),
    ]);
    // A file of another package above it has to parse, too.
    assert_eq!(export(folder.path(), "r/l/..", &[]), "expected '}', found 'EOF':\n    q.cue:2:6");
    fs::remove_file(folder.path().join("q.cue")).expect("removed");
    assert_eq!(export(folder.path(), "r/l/..", &[]), "{\n    \"u\": 1\n}\n");
}

#[test]
fn an_import_that_fails_is_all_that_is_told_of_its_package() {
    let folder = folder(&[
        ("cue.mod/module.cue", &module_file("m.test")),
        ("a/a.cue", "package a\nimport \"m.test/none\"\nimport \"strings\"\nx: y\n"),
        ("b/b.cue", "package b\nimport \"./x\"\ny: x\n"),
        ("c/c.cue", "package c\nimport \"strings:s\"\ny: s\n"),
        ("d/d.cue", "package d\nimport \"m.test/d/e:f\"\ny: f.x\n"),
        ("d/e/f.cue", "package f\nx: 1\n"),
        ("d/e/g.cue", "package g\nx: {\n"),
        ("h/h.cue", "package h\nimport \"m.test/h/i\"\ny: i.x\n"),
        ("h/i/i.cue", "package i\nimport \"m.test/h\"\nx: 1\n"),
        ("j/j.cue", "package j\nimport \"m.test/empty\"\n"),
        ("empty/x.json", "{}"),
        ("z/z.cue", "package z\nx: y\n"),
    ]);
    let missing = |of: &str, path: &str| {
        format!(
            "m.test/{of}@v0: import failed: cannot find package {path:?}: cannot find module \
             providing package {path}:\n    {of}/{of}.cue:2:8"
        )
    };
    let told = |argument: &str| export(folder.path(), argument, &[]);
    assert_eq!(told("a"), missing("a", "m.test/none"));
    assert_eq!(told("j"), missing("j", "m.test/empty"));
    let relative = "import failed: relative import paths not allowed (\"./x\"):\n    b/b.cue:2:8";
    assert_eq!(told("b"), relative);
    assert_eq!(told("c"), "builtin package \"strings:s\" undefined:\n    c/c.cue:2:8");
    let broken = "import failed: expected '}', found 'EOF':\n    d/d.cue:2:8\n    d/e/g.cue:2:6";
    assert_eq!(told("d"), broken);
    fs::remove_file(folder.path().join("d/e/g.cue")).expect("removed");
    let round = "import failed: import failed: import failed: package import cycle not \
                 allowed:\n    h/h.cue:2:8\n    h/i/i.cue:2:8";
    assert_eq!(told("h"), round);
    // Of what a pattern means all that failed so, and nothing else.
    let all = told("...");
    assert!(all.contains(&missing("a", "m.test/none")) && all.contains(round), "{all}");
    assert!(!all.contains("reference"), "{all}");
}

#[test]
fn a_module_has_a_path_that_can_be_one() {
    for (path, why) in [
        ("Ex.com/m@v0", "malformed module path \"Ex.com/m@v0\": invalid char 'E'"),
        ("m", "module path \"m\" is not valid: missing dot in first path element"),
        ("ex.com/m@v1.2", "module path ex.com/m@v1.2 should contain the major version only"),
        ("ex.com/.x", "module path \"ex.com/.x\" is not valid: leading '.' in path element"),
    ] {
        let file = module_file(path);
        let folder = folder(&[("cue.mod/module.cue", &file), ("a.cue", "package a\nx: 1\n")]);
        let told = export(folder.path(), "", &[]);
        assert_eq!(told, format!("invalid module file cue.mod/module.cue: {why}"));
    }
}

#[test]
fn what_lies_below_cue_mod_is_no_pattern() {
    let folder = folder(&[
        ("cue.mod/module.cue", &module_file("m.test")),
        ("cue.mod/pkg/ext.com/q/q.cue", "package q\na: 1\n"),
    ]);
    let told = export(folder.path(), "cue.mod/...", &[]);
    assert!(told.starts_with("pattern not allowed in external package path "), "{told}");
}

#[test]
fn what_was_put_below_cue_mod_is_one_package() {
    let folder = folder(&[
        ("cue.mod/module.cue", &module_file("m.test")),
        ("cue.mod/pkg/ext.com/q/q.cue", "package q\na: 1\n"),
        ("cue.mod/usr/ext.com/q/q.cue", "package q\nb: 2\n"),
        ("p.cue", "package p\nimport \"ext.com/q\"\nx: q\n"),
    ]);
    let imported = export(folder.path(), "", &[]);
    assert!(imported.contains("\"a\": 1") && imported.contains("\"b\": 2"), "{imported}");
}
