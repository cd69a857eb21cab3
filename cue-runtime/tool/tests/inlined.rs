//! `def --inline-imports`: what is imported is put in (O-81). Each file of `inlined` has a module and what the
//! official command v0.17.1 prints of its first package.

mod cases;
mod folder;

use std::path::Path;

use cue_tool::evaluate::Imports;
use cue_tool::{Load, Request, Verb};

use crate::cases::{cases, printed};
use crate::folder::folder;

const MODULE: &str = "module: \"mod.test/a\"\nlanguage: version: \"v0.9.0\"\n";

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
    printed(&Request { expressions, imports, ..Request::new(Verb::Def, load) })
}

#[test]
fn imports_are_put_in_as_officially() {
    let mut wrong = Vec::new();
    let all = cases("inlined", &[("cue.mod/module.cue", MODULE)]);
    for case in &all {
        let got = inlined(case.folder.path(), case.line("# -e "));
        if got.as_deref().ok() != case.want() {
            wrong.push(format!("{}:\n{}", case.name, got.unwrap_or_else(|it| it)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(all.len() > 5, "cases");
}

#[test]
fn what_cannot_be_imported_is_told() {
    let folder = folder(&[("x.cue", "package x\n\nimport \"a.b/c\"\n\nx: c.d\n")]);
    let told = inlined(folder.path(), None).expect_err("it fails");
    assert!(told.contains("import failed"), "{told}");
}

#[test]
fn beside_data_imports_stay() {
    let folder = folder(&[
        ("cue.mod/module.cue", MODULE),
        ("in.cue", "package a\n\nimport \"mod.test/a/pkg\"\n\nx: pkg.v\nz: int\n"),
        ("pkg/pkg.cue", "package pkg\n\nv: {a: int}\n"),
        ("d.json", "{\"z\": 1}"),
    ]);
    let data = vec![folder.path().join("d.json").display().to_string()];
    let text = "import \"mod.test/a/pkg\"\n\nx: pkg.v\nz: 1\n";
    assert_eq!(beside(folder.path(), data, None).as_deref(), Ok(text));
}
