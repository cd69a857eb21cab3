//! `import`: what files of data become, and which files of a folder are read.

mod folder;
mod told;

use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::import::{Files, Options, Texts, import};
use cue_tool::place::Several;

use crate::folder::folder;

/// What files become, with the options of a command.
fn imported(folder: &Path, files: &[&str], options: Options) -> Result<Vec<String>, String> {
    let arguments = files.iter().map(|it| match it.contains('.') {
        true => folder.join(it).display().to_string(),
        false => (*it).to_owned(),
    });
    let options = Options { arguments: arguments.collect(), ..options };
    match import(&NativeRuntime::default(), &options) {
        Ok(all) => Ok(all.into_iter().map(|it| it.text).collect()),
        Err(error) => Err(told::without(folder, &error.to_string())),
    }
}

/// As `cue import` of v0.17.1 writes it.
#[test]
fn data_becomes_cue() {
    let json = "{\"a\": {\"b-c\": [1, \"x\"], \"t\": \"l1\\nl2\"}, \"e\": {}, \"f\": {\n\"g\": 1}, \"h\": [\n1,\n2\n]}";
    let folder = folder(&[
        ("x.json", json),
        ("x.yaml", "kind: A\n---\nkind: B\n"),
        ("y.yaml", "a: [1, 2]\nb:\n- 1\n- c: x\n  d: |\n    l1\n    l2\n"),
    ]);
    let play = |file: &str, options| imported(folder.path(), &[file], options);
    let text = "a: {\"b-c\": [1, \"x\"], t: \"l1\\nl2\"}\ne: {}\nf: g: 1\nh: [\n\t1,\n\t2,\n]\n";
    assert_eq!(play("x.json", Options::default()), Ok(vec![text.into()]));
    let text = "a: [1, 2]\nb: [\n\t1, {\n\t\tc: \"x\"\n\t\td: \"\"\"\n\t\t\tl1\n\t\t\tl2\n\n\t\t\t\"\"\"\n\t}]\n";
    assert_eq!(play("y.yaml", Options::default()), Ok(vec![text.into()]));
    let labels = vec!["kind".into(), "\"x\"".into()];
    let named = Options { package: Some("p".into()), labels, ..Options::default() };
    let text = "package p\n\nA: x: kind: \"A\"\nB: x: kind: \"B\"\n";
    assert_eq!(play("x.yaml", named), Ok(vec![text.into()]));
    let told = "path, list, or files flag needed to handle multiple objects in file ./x.yaml";
    assert_eq!(play("x.yaml", Options::default()), Err(told.into()));
    let apart = Options { files: Files::Apart, ..Options::default() };
    let texts = ["kind: \"A\"\n", "kind: \"B\"\n"].map(String::from).to_vec();
    assert_eq!(play("x.yaml", apart), Ok(texts));
    let list = Options { several: Several::Listed, ..Options::default() };
    let text = "[{\n\tkind: \"A\"\n}, {\n\tkind: \"B\"\n}]\n";
    assert_eq!(play("x.yaml", list), Ok(vec![text.into()]));
}

#[test]
fn packages_that_a_field_has_the_name_of_are_imported_under_another() {
    let folder =
        folder(&[("x.yaml", "z: '[1]'\nx: {json: 1, y: '[2]'}\n"), ("y.json", "{\"a\": \"[1]\"}")]);
    let taken = |file: &str, labels: &[&str]| {
        let labels = labels.iter().map(|it| (*it).to_owned()).collect();
        let options = Options { texts: Texts::Parsed, labels, ..Options::default() };
        imported(folder.path(), &[file], options)
    };
    let text = "import (\n\t\"encoding/json\"\n\tjson_9 \"encoding/json\"\n)\n\n\
        z: json.Marshal(_cue_z)\nlet _cue_z = [1]\n\
        x: {json: 1, y: json_9.Marshal(_cue_y)\n\tlet _cue_y = [2], }\n";
    assert_eq!(taken("x.yaml", &[]), Ok(vec![text.into()]));
    let text = "import json_9 \"encoding/json\"\n\n\
        json: {\n\ta: json_9.Marshal(_cue_a)\n\tlet _cue_a = [1]\n}\n";
    assert_eq!(taken("y.json", &["json:"]), Ok(vec![text.into()]));
}

#[test]
fn cue_that_is_named_is_loaded_with_what_it_embeds() {
    let embeds = "@extern(embed)\n\npackage p\n\na: _ @embed(file=x.json)\n";
    let folder = folder(&[("t.cue", embeds)]);
    let told = imported(folder.path(), &["t.cue"], Options::default());
    assert_eq!(told, Err("cannot embed files when not in a module".into()));
}

#[test]
fn modes_choose_files_of_folders() {
    let folder = folder(&[
        ("a.json", "{\"a\": 1}"),
        ("b.yaml", "b: 1\n"),
        ("c.crt", "x"),
        ("d.cue", "package d\n"),
        ("m/e.json", "{\"e\": \"[1, {\\\"f\\\": 2}]\"}"),
    ]);
    let place = format!("{}/", folder.path().display());
    let play = |mode: &str, options: Options| {
        let arguments = vec![mode.to_owned(), place.clone()];
        let all = import(&NativeRuntime::default(), &Options { arguments, ..options });
        all.map(|all| all.into_iter().map(|it| it.text).collect::<Vec<_>>())
            .map_err(|it| it.to_string())
    };
    let options = Options::default;
    assert_eq!(play("json", options()), Ok(vec!["a: 1\n".into()]));
    assert_eq!(play("data", options()), Ok(vec!["a: 1\n".into(), "b: 1\n".into()]));
    let name = Some("^b".into());
    assert_eq!(play("data", Options { name, ..options() }), Ok(vec!["b: 1\n".into()]));
    let endings = vec!["crt".to_owned()];
    let told = play("text", Options { endings, ..options() });
    assert_eq!(told, Ok(vec!["\"x\"\n".into()]));
    let told = play("binary", options());
    assert_eq!(told, Err("use of --ext flag required in binary mode".into()));
    assert_eq!(play("nope", options()), Err("unknown mode \"nope\"".into()));
    let told = play("proto", options()).unwrap_err();
    assert!(told.contains("Protocol Buffers is not read"), "{told}");
    let arguments = vec![folder.path().join("m/e.json").display().to_string()];
    let parsed = Options { arguments, texts: Texts::Parsed, ..options() };
    let text = import(&NativeRuntime::default(), &parsed).unwrap().remove(0).text;
    assert!(text.contains("e: json.Marshal(_cue_e)\nlet _cue_e = [1, {\n"), "{text}");
}

/// What is said of a field keeps the braces of its struct, as `cue import` of v0.17.1 has it.
#[test]
fn comments_of_yaml_stay_with_what_they_are_said_of() {
    let cases = [
        ("# x\na:\n  b:\n    c: 1\n", "// x\na: {\n\tb: c: 1\n}\n"),
        ("a: # x\n  b: 1\n", "a: // x\n{\n\tb: 1\n}\n"),
        ("# x\na: {b: {c: 1}}\n", "// x\na: {b: c: 1}\n"),
        ("a:\n  b:\n    c: 1 # x\n", "a: b: c: 1 // x\n"),
        ("a:\n  b: 1\n# foot\n", "// foot\na: {\n\tb: 1\n}\n"),
        ("l:\n- # x\n  a:\n    b: 1\n", "l: [{\n\t// x\n\ta: {\n\t\tb: 1\n\t}\n}]\n"),
        // A key without a value has what is said behind it, the next one what stands below it.
        ("a:\n  db: # x\n", "a: {\n\tdb: // x\n\t\tnull\n}\n"),
        ("a: null # x\n", "a: null // x\n"),
        ("r:\n  # x: 1\n  # y: 2\nb: 1\n", "r: null\n// x: 1\n// y: 2\nb: 1\n"),
        ("r:\n  # x: 1\n", "r: null\n// x: 1\n"),
        // An alias brings what is said behind its anchor, too.
        ("a: &x 1 # y\nb: *x # z\nc: *x\n", "a: 1 // y\nb: 1 // y // z\nc: 1 // y\n"),
    ];
    for (yaml, cue) in cases {
        let folder = folder(&[("x.yaml", yaml)]);
        let got = imported(folder.path(), &["x.yaml"], Options::default());
        assert_eq!(got, Ok(vec![cue.to_owned()]), "{yaml}");
    }
}
