//! `def --inline-imports`: what is imported is put in (O-81). Each file of `inlined` has a module and what the
//! official command v0.17.1 prints of its first package.

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::evaluate::Imports;
use cue_tool::{Load, Request, Verb, evaluate};

const MODULE: &str = "module: \"mod.test/a\"\nlanguage: version: \"v0.9.0\"\n";

/// The files of a case: `-- name --` stands above each.
fn files(case: &str) -> Vec<(&str, &str)> {
    let sections = case.split("\n-- ").skip(1);
    sections.filter_map(|it| it.split_once(" --\n")).collect()
}

/// What the command prints of the package in a folder.
fn inlined(folder: &Path, expression: Option<&str>) -> Result<String, String> {
    beside(folder, Vec::new(), expression)
}

/// The same with data files.
fn beside(folder: &Path, data: Vec<String>, expression: Option<&str>) -> Result<String, String> {
    let package = [folder.display().to_string()];
    let arguments = package.into_iter().chain(data).collect();
    let load = Load { arguments, ..Load::default() };
    let expressions = expression.map(str::to_owned).into_iter().collect();
    let imports = Imports::PutIn;
    let request = Request { expressions, imports, ..Request::new(Verb::Def, load) };
    let outcome = evaluate(&NativeRuntime::default(), &request).map_err(|it| it.to_string())?;
    match outcome.errors.first() {
        Some(error) => Err(error.to_string()),
        None => Ok(String::from_utf8_lossy(&outcome.output).into_owned()),
    }
}

#[test]
fn imports_are_put_in_as_officially() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inlined");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(cases).expect("cases") {
        let path = entry.expect("a case").path();
        let case = fs::read_to_string(&path).expect("text");
        let folder = tempfile::tempdir().expect("a folder");
        let mut want = None;
        for (name, text) in files(&case).into_iter().chain([("cue.mod/module.cue", MODULE)]) {
            if name == "out" {
                want = Some(text);
                continue;
            }
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
            // The line break before the next name is that name's.
            fs::write(file, format!("{}\n", text.trim_end())).expect("a file");
        }
        let expression = case.lines().find_map(|it| it.strip_prefix("# -e "));
        let got = inlined(folder.path(), expression);
        if got.as_deref().ok() != want {
            wrong.push(format!("{}:\n{}", path.display(), got.unwrap_or_else(|it| it)));
        }
        count += 1;
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count > 5, "cases");
}

#[test]
fn what_cannot_be_imported_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("x.cue"), "package x\n\nimport \"a.b/c\"\n\nx: c.d\n")
        .expect("a file");
    let told = inlined(folder.path(), None).expect_err("it fails");
    assert!(told.contains("import failed"), "{told}");
}

#[test]
fn beside_data_imports_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("cue.mod/module.cue", MODULE),
        ("in.cue", "package a\n\nimport \"mod.test/a/pkg\"\n\nx: pkg.v\nz: int\n"),
        ("pkg/pkg.cue", "package pkg\n\nv: {a: int}\n"),
        ("d.json", "{\"z\": 1}"),
    ] {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    let data = vec![folder.path().join("d.json").display().to_string()];
    let text = "import \"mod.test/a/pkg\"\n\nx: pkg.v\nz: 1\n";
    assert_eq!(beside(folder.path(), data, None).as_deref(), Ok(text));
}
