//! What is told first where several things are wrong, as `cue` of v0.17.1 does.

mod folder;
mod told;

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::{Encoding, Load, Request, Verb, evaluate};

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
fn what_a_package_lacks_is_told_before_what_is_asked_of_it() {
    let folder = folder(&[
        ("u.cue", "a: b\n"),
        ("c.cue", "a: 1 & 2\nb: 3\n"),
        ("d.json", "{\"a\": 2}"),
        ("e.json", "{\"a\": 1}"),
    ]);
    let missing = "a: reference \"b\" not found:\n    u.cue:1:4";
    let asked = |file: &str, expression: &str| Request {
        expressions: vec![expression.into()],
        ..request(Verb::Export, folder.path(), &[file])
    };
    assert_eq!(told(&asked("u.cue", "nope"), folder.path()), missing);
    // Of files one by one, and beside data, only what does not compile comes first.
    assert_eq!(told(&asked("c.cue", "b"), folder.path()), "3\n");
    let both = ["u.cue", "d.json", "e.json"];
    assert_eq!(told(&request(Verb::Export, folder.path(), &both), folder.path()), missing);
    let labels = Request {
        labels: vec!["nope".into()],
        ..request(Verb::Export, folder.path(), &["u.cue", "d.json"])
    };
    assert_eq!(told(&labels, folder.path()), missing);
    let data = "a: conflicting values 1 and 2:\n    d.json:1:7\n    e.json:1:7";
    let both = ["c.cue", "d.json", "e.json"];
    assert_eq!(told(&request(Verb::Export, folder.path(), &both), folder.path()), data);
}

#[test]
fn what_contradicts_in_a_package_is_told_before_what_is_asked_of_it() {
    let folder = folder(&[("c.cue", "package p\n\n#a: b: 1 & 2\nz: 3\n")]);
    let wanted = "#a.b: conflicting values 2 and 1:\n    c.cue:3:8\n    c.cue:3:12";
    let package = request(Verb::Export, folder.path(), &[""]);
    let asked = Request { expressions: vec!["z".into()], ..package.clone() };
    assert_eq!(told(&asked, folder.path()), wanted);
    let labels = Request { labels: vec!["nope".into()], ..package };
    assert_eq!(told(&labels, folder.path()), wanted);
    let ignored = Request { verb: Verb::Eval, out: Encoding::Cue, ignore: true, ..asked };
    assert_eq!(told(&ignored, folder.path()), "3\n");
}

#[test]
fn another_package_name_is_told_late_and_only_of_files() {
    let folder = folder(&[("a.cue", "package p\n\na: 1\n"), ("b.cue", "package p\n\na: b\n")]);
    let named = |files: &[&str]| Request {
        package: Some("q".into()),
        out: Encoding::Cue,
        ..request(Verb::Eval, folder.path(), files)
    };
    let clash = "\"package\" flag clashes with existing package name (q vs p)";
    assert_eq!(told(&named(&["a.cue"]), folder.path()), clash);
    assert!(told(&named(&["b.cue"]), folder.path()).starts_with("a: reference"));
    let streamed = Request { merge: false, ..named(&["a.cue"]) };
    assert_eq!(told(&streamed, folder.path()), "package q\n\na: 1\n");
    fs::remove_file(folder.path().join("b.cue")).expect("it is there");
    assert_eq!(told(&named(&[""]), folder.path()), "package q\n\na: 1\n");
}

#[test]
fn documents_are_held_against_the_package_up_to_the_one_that_is_none() {
    let folder = folder(&[
        ("s.cue", "a: 1\n"),
        ("e.yaml", "a: 2\n---\na: .nan\n"),
        ("f.yaml", "a: 1\n---\na: .nan\n"),
    ]);
    let vet = |file| told(&request(Verb::Vet, folder.path(), &["s.cue", file]), folder.path());
    assert_eq!(vet("e.yaml"), "a: conflicting values 1 and 2:\n    e.yaml:1:4\n    s.cue:1:4");
    let none = "a: parse error: illegal number start \"NaN\":\n    f.yaml:3:4";
    assert_eq!(vet("f.yaml"), none);
    // All data is read before it is placed.
    let it = request(Verb::Export, folder.path(), &["s.cue", "f.yaml"]);
    let labels = Request { labels: vec!["nope".into()], ..it };
    assert_eq!(told(&labels, folder.path()), none);
}

#[test]
fn tags_that_nothing_asks_for_are_told_beside_what_cannot_be_loaded() {
    let folder = folder(&[
        ("a.cue", "@if(foo)\n\npackage p\n\na: 1 @tag(z)\n"),
        ("s.cue", "a: [\n"),
        ("t.cue", "a!: 1 @tag(z)\n"),
    ]);
    let tagged = |file: &str, tag: &str| {
        let load = Load {
            arguments: vec![folder.path().join(file).display().to_string()],
            tags: vec![tag.into()],
            ..Load::default()
        };
        told(&Request::new(Verb::Eval, load), folder.path())
    };
    let left_out = "build constraints exclude all CUE files in command-line-arguments:\n    \
                    a.cue: @if(foo) did not match\nno tag for \"z\"";
    assert_eq!(tagged("a.cue", "z=1"), left_out);
    assert_eq!(
        tagged("s.cue", "z=1"),
        "no tag for \"z\"\nexpected ']', found 'EOF':\n    s.cue:1:6"
    );
    let misplaced = "tag \"y\" not used in any file\n@tag not allowed within field constraint:\n    \
                     t.cue:1:7";
    assert_eq!(tagged("t.cue", "y"), misplaced);
}

#[test]
fn a_tag_that_does_not_stand_where_it_may_keeps_no_other_from_being_known() {
    let folder = folder(&[
        ("s.cue", "a: string @tag(a)\nb?: int @tag(b)\nn: number @tag(n,type=number)\n"),
        ("t.cue", "D: bool @tag(c,type=bool)\nD: true\n"),
        ("x.cue", "let L = {f: string @tag(f)}\ng: L\n"),
    ]);
    let tagged = |file: &str, tag: &str| {
        let load = Load {
            arguments: vec![folder.path().join(file).display().to_string()],
            tags: vec![tag.into()],
            ..Load::default()
        };
        told(&Request::new(Verb::Export, load), folder.path())
    };
    let misplaced = "@tag not allowed within field constraint:\n    s.cue:2:9";
    assert_eq!(tagged("s.cue", "a=1"), misplaced);
    let number = "invalid number for injection tag \"n\"";
    for (value, why) in [
        ("042", "illegal integer number \"042\""),
        ("-042", "illegal integer number \"-042\""),
        ("1__0", "illegal '_' in number"),
        ("1e+", "illegal exponent \"1e+\""),
        (".", "illegal fraction \".\""),
        ("-", "illegal number start \"-\""),
    ] {
        let both = format!("{number}: {why}\n{misplaced}");
        assert_eq!(tagged("s.cue", &format!("n={value}")), both);
    }
    // The value of a tag is what its field is unified with, where that stands.
    let conflict = "D: conflicting values true and false:\n    t.cue:2:4";
    assert_eq!(tagged("t.cue", "c=false"), conflict);
    assert_eq!(tagged("x.cue", "f=3"), "{\n    \"g\": {\n        \"f\": \"3\"\n    }\n}\n");
}

#[test]
fn a_type_as_schema_is_told_where_it_stands() {
    let folder = folder(&[("s.cue", "a: 1\n"), ("d.json", "{\"b\": 1}")]);
    let vet = Request {
        schema: Some("string".into()),
        ..request(Verb::Vet, folder.path(), &["s.cue", "d.json"])
    };
    let wanted = "conflicting values {b:1} and string (mismatched types struct and string):\n    \
                  d.json:1:3\n    --schema:1:1";
    assert_eq!(told(&vet, folder.path()), wanted);
}

#[test]
fn of_several_packages_one_that_does_not_hold_is_all_that_is_told() {
    let folder = folder(&[("a.cue", "package p\n\nb: 1\n")]);
    let packages = [("y", "a: 1 & 2"), ("z", "a: 2 & 3")];
    let write = |name: &str, text: &str| {
        let inner = folder.path().join(name);
        fs::create_dir_all(&inner).expect("a folder");
        fs::write(inner.join("a.cue"), format!("package {name}\n\n{text}\n")).expect("a file");
    };
    packages.iter().for_each(|it| write(it.0, it.1));
    for verb in [Verb::Export, Verb::Eval, Verb::Vet] {
        let it = request(verb, folder.path(), &["..."]);
        let wanted = "a: conflicting values 2 and 1:\n    y/a.cue:3:4\n    y/a.cue:3:8";
        assert_eq!(told(&it, folder.path()), wanted);
    }
    // What does not compile comes before what contradicts.
    write("z", "a: b");
    let it = request(Verb::Export, folder.path(), &["..."]);
    let wanted = "a: reference \"b\" not found:\n    z/a.cue:3:4";
    assert_eq!(told(&it, folder.path()), wanted);
}

#[test]
fn what_is_not_concrete_is_told_of_where_it_is_put() {
    let folder = folder(&[("a.cue", "a: int\n")]);
    let it = request(Verb::Export, folder.path(), &["a.cue"]);
    let it = Request { labels: vec!["x: \"y\": \"a-b\":".into()], ..it };
    let wanted = "x.y.\"a-b\".a: incomplete value int:\n    a.cue:1:4";
    assert_eq!(told(&it, folder.path()), wanted);
}
