//! Data files: in which order they are taken, where what they hold stands, what becomes of them.

mod folder;
mod told;

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_syntax::Style;
use cue_tool::evaluate::Concrete;
use cue_tool::format::{self, Action, Wanted};
use cue_tool::import::{Files, Options, Texts, import};
use cue_tool::place::{Context, Several};
use cue_tool::{Load, Request, Verb, evaluate};

use crate::folder::folder;

fn request(verb: Verb, folder: &Path, files: &[&str]) -> Request {
    let arguments = files.iter().map(|it| folder.join(it).display().to_string()).collect();
    Request::new(verb, Load { arguments, ..Load::default() })
}

/// Everything that is told, or the output.
fn told(request: &Request, folder: &Path) -> String {
    let cut = |it: String| told::without(folder, &it);
    match evaluate(&NativeRuntime::default(), request) {
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
fn data_agrees_before_it_is_held_against_cue() {
    let folder = folder(&[
        ("s.cue", "// doc\n\nb: string\n"),
        ("d.json", "{\"b\": 1}"),
        ("e.json", "{\"b\": 2}"),
        ("l.json", "[1]"),
        ("m.yaml", "z: 1\ny: 1\n---\na: 1\n"),
    ]);
    let told = |files: &[&str]| told(&request(Verb::Export, folder.path(), files), folder.path());
    let both = "b: conflicting values 2 and 1:\n    d.json:1:7\n    e.json:1:7";
    assert_eq!(told(&["s.cue", "e.json", "d.json"]), both);
    let one = "b: conflicting values 1 and string (mismatched types int and string):\n    \
               d.json:1:7\n    s.cue:3:4";
    assert_eq!(told(&["s.cue", "d.json"]), one);
    // A file begins behind the comments above it.
    let whole = "conflicting values [1] and {b:string} (mismatched types list and struct):\n    \
                 l.json:1:1\n    s.cue:3:1";
    assert_eq!(told(&["s.cue", "l.json"]), whole);
    let order = "{\n    \"z\": 1,\n    \"y\": 1,\n    \"a\": 1\n}\n";
    assert_eq!(told(&["m.yaml"]), order);
}

#[test]
fn errors_name_the_place_in_the_file() {
    let folder = folder(&[
        ("s.cue", "#S: {}\n"),
        ("j.json", "{\"a\": 1, \"a-b\": 2}"),
        ("t.toml", "a = 1\nb.c = [1]\n"),
        ("y.yaml", "{x: \u{e9}, b: 1}\n"),
        ("t.txt", "text"),
    ]);
    let told = |file: &str| {
        let it = request(Verb::Vet, folder.path(), &["s.cue", file]);
        told(&Request { schema: Some("#S".into()), ..it }, folder.path())
    };
    let not = |file: &str, all: &[(&str, &str)]| {
        let one =
            |(label, at): &(&str, &str)| format!("{label}: field not allowed:\n    {file}:{at}");
        all.iter().map(one).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(told("j.json"), not("j.json", &[("\"a-b\"", "1:10"), ("a", "1:3")]));
    assert_eq!(told("t.toml"), not("t.toml", &[("a", "1:1"), ("b", "2:1")]));
    assert_eq!(told("y.yaml"), not("y.yaml", &[("b", "1:8"), ("x", "1:2")]));
    let text =
        "conflicting values \"text\" and {} (mismatched types string and struct):\n    s.cue:1:5";
    assert_eq!(told("t.txt"), text);
}

#[test]
fn what_is_wrong_is_told_in_the_order_of_the_files() {
    let folder = folder(&[
        ("s.cue", "a: int\nb: int\n"),
        ("d.json", "{\"b\": 1}"),
        ("e.json", "{"),
        ("c.json", "{\"a\": \"x\"}"),
    ]);
    let it = request(Verb::Vet, folder.path(), &["s.cue", "e.json", "d.json"]);
    let said = told(&it, folder.path());
    assert!(said.starts_with("a: incomplete value int:\n"), "{said}");
    assert!(said.contains("\ninvalid JSON for file"), "{said}");
    // Data must be concrete, whatever is asked for.
    let it = Request { concrete: Concrete::May, ..it };
    assert!(told(&it, folder.path()).starts_with("a: incomplete value int:\n"));
    let it = request(Verb::Vet, folder.path(), &["s.cue", "e.json", "c.json"]);
    let said = told(&it, folder.path());
    assert!(said.starts_with("a: conflicting values") && !said.contains("invalid"), "{said}");
    let it = Request { schema: Some("#M".into()), ..it };
    assert_eq!(told(&it, folder.path()), "reference \"#M\" not found:\n    --schema:1:1");
}

#[test]
fn a_package_is_formatted_if_all_of_it_can_be_read() {
    let folder = folder(&[("a.cue", "a:1\n"), ("b.cue", "b: [\n"), ("c.cue", "c: ]\n")]);
    let all = ["a.cue", "b.cue", "c.cue"].map(|it| folder.path().join(it).display().to_string());
    let mut request = format::Request {
        arguments: all.to_vec(),
        wanted: Wanted::Packages,
        style: Style::Plain,
        action: Action::Write,
    };
    let (_, error) = format::files(&request).expect_err("it fails");
    assert_eq!(error.to_string().lines().count(), 4, "{error}");
    let text = || fs::read_to_string(folder.path().join("a.cue")).expect("a file");
    assert_eq!(text(), "a:1\n");
    request.wanted = Wanted::Files;
    assert!(format::files(&request).is_err());
    assert_eq!(text(), "a: 1\n");
}

#[test]
fn imported_json_begins_where_the_file_has_it() {
    let json = "{\n  \"c\": [\n    [\n      1\n    ],\n    2.5,\n    {\n      \"d\": \"\\u00e9\"\n    }\n  ]\n}\n";
    let folder = folder(&[("x.json", json)]);
    let options = Options {
        arguments: vec![folder.path().join("x.json").display().to_string()],
        endings: Vec::new(),
        name: None,
        package: None,
        labels: Vec::new(),
        several: Several::Listed,
        context: Context::Value,
        schema: None,
        files: Files::Together,
        texts: Texts::Kept,
        force: false,
    };
    let made = import(&NativeRuntime::default(), &options).expect("it works");
    let want = "[{\n\tc: [\n\t\t[\n\t\t\t1\n\t\t], 2.5,\n\t\t{\n\t\t\td: \"\\u00e9\"\n\t\t}]\n}]\n";
    assert_eq!(made[0].text, want);
}

#[test]
fn a_file_that_formatting_would_break_is_left_as_it_is() {
    let text = "x: 1 // d\nz: {\n\t( // c\n\tk): 1 // e\n}\nk: \"k\"\n";
    let folder = folder(&[("x.cue", text), ("y.cue", "a:  ( // c\n1)\n")]);
    let path = |name| folder.path().join(name).display().to_string();
    for (name, at, text) in [("x.cue", (3, 4), text), ("y.cue", (1, 7), "a:  ( // c\n1)\n")] {
        let request = format::Request {
            arguments: vec![path(name)],
            wanted: Wanted::Files,
            action: Action::Write,
            style: Style::Plain,
        };
        let (_, error) = format::files(&request).expect_err("it would be refused");
        let cue_tool::Error::Diagnostics(all) = error else { panic!("{error}") };
        let [it] = &all[..] else { panic!("{all:?}") };
        let wanted = "comment cannot stand here: formatted, expected ')', found newline";
        assert_eq!(it.message, wanted);
        assert_eq!((it.positions[0].line, it.positions[0].column), at);
        assert_eq!(fs::read_to_string(path(name)).unwrap(), text);
    }
    // Nothing is wrong with it as it is.
    let it = request(Verb::Export, folder.path(), &["x.cue", "y.cue"]);
    let made = "{\n    \"a\": 1,\n    \"x\": 1,\n    \"z\": {\n        \"k\": 1\n    },\n    \"k\": \"k\"\n}\n";
    assert_eq!(told(&it, folder.path()), made);
    let load = Load { tags: vec!["nope=1".into()], ..it.load.clone() };
    let it = Request { load, ..it };
    assert_eq!(told(&it, folder.path()), "no tag for \"nope\"");
}
