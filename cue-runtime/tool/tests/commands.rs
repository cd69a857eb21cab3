//! Commands over files in a folder of their own: what they print and what they refuse.

mod folder;
mod told;

use std::fs;
use std::path::Path;

use cue_session::{NativeRuntime, Shown};
use cue_syntax::Style;
use cue_tool::evaluate::Concrete;
use cue_tool::format::{self, Action, Wanted};
use cue_tool::place::{Context, Several};
use cue_tool::tags::Variables;
use cue_tool::{Encoding, Error, Load, Request, Verb, evaluate};

use crate::folder::folder;

fn request(verb: Verb, folder: &Path, files: &[&str]) -> Request {
    let arguments = files.iter().map(|it| folder.join(it).display().to_string()).collect();
    Request::new(verb, Load { arguments, ..Load::default() })
}

/// The output, or the error with the folder's name cut out.
fn play(request: &Request, folder: &Path) -> Result<String, String> {
    let told = |error: &Error| told::without(folder, &error.to_string());
    match evaluate(&NativeRuntime::default(), request) {
        Ok(outcome) => match outcome.errors.first() {
            None => Ok(String::from_utf8(outcome.output).expect("text")),
            Some(error) => Err(told(error)),
        },
        Err(error) => Err(told(&error)),
    }
}

#[test]
fn what_is_wrong_in_a_definition_is_wrong_in_the_data() {
    let folder = folder(&[("x.cue", "a: 1\n#D: b: 1 & 2\n"), ("y.cue", "a: 1\n_h: 1 & 2\n")]);
    for (file, wrong) in [("x.cue", "#D.b"), ("y.cue", "_h")] {
        let it = request(Verb::Export, folder.path(), &[file]);
        let told = play(&it, folder.path()).expect_err("it fails");
        assert!(told.starts_with(&format!("{wrong}: conflicting values 2 and 1")), "{told}");
    }
}

#[test]
fn no_file_is_a_literal_on_the_way_to_a_conflict() {
    let folder = folder(&[
        ("a.cue", "package p\n#Meta: tags: \"x1\"\nif true {x: 1}\n"),
        ("b.cue", "package p\n#App: {\n\t#Meta\n\ttags: 1\n}\nif true {y: 1}\n"),
    ]);
    let it = request(Verb::Eval, folder.path(), &["a.cue", "b.cue"]);
    let told = play(&it, folder.path()).expect_err("it fails");
    let positions: Vec<&str> = told.lines().skip(1).map(str::trim).collect();
    let ends = ["a.cue:2:14", "b.cue:2:7", "b.cue:3:2", "b.cue:4:8"];
    assert_eq!(positions.len(), ends.len(), "{told}");
    for (position, end) in positions.iter().zip(ends) {
        assert!(position.ends_with(end), "{told}");
    }
}

#[test]
fn what_nothing_can_be_given_for_is_no_data_and_yet_wrong() {
    let folder = folder(&[
        ("x.cue", "a: 1\n#D: b!: 1 & 2\n"),
        ("y.cue", "a: {c: int, d!: int}\n_h: b!: 1 & 2\n"),
        ("z.cue", "#D: b!: 1 & 2 & 3\n"),
    ]);
    let told = |verb, file| {
        let told = play(&request(verb, folder.path(), &[file]), folder.path());
        told.unwrap_or_else(|it| it.lines().next().unwrap_or_default().to_owned())
    };
    assert_eq!(told(Verb::Export, "x.cue"), "#D.b: conflicting values 2 and 1:");
    assert_eq!(told(Verb::Eval, "x.cue"), "_|_ // #D.b: conflicting values 2 and 1\n");
    let more = "_|_ // #D.b: conflicting values 2 and 1 (and 1 more errors)\n";
    assert_eq!(told(Verb::Eval, "z.cue"), more);
    assert_eq!(told(Verb::Eval, "y.cue"), "a.d: field is required but not present:");
    let strict =
        Request { concrete: Concrete::Must, ..request(Verb::Vet, folder.path(), &["x.cue"]) };
    assert_eq!(play(&strict, folder.path()), Ok(String::new()));
}

#[test]
fn export_in_each_form() {
    let folder = folder(&[("x.cue", "a: {b: 1, c: [\"x\", 2.50]}\nd: 3 | *4\n")]);
    let it = request(Verb::Export, folder.path(), &["x.cue"]);
    let json = "{\n    \"a\": {\n        \"b\": 1,\n        \"c\": [\n            \"x\",\n            2.50\n        ]\n    },\n    \"d\": 4\n}\n";
    for (name, text) in [
        ("json", json),
        ("yaml", "a:\n  b: 1\n  c:\n    - x\n    - 2.50\nd: 4\n"),
        ("toml", "d = 4\n\n[a]\nb = 1\nc = ['x', 2.5]\n"),
    ] {
        let out = Encoding::of_name(name).unwrap();
        assert_eq!(play(&Request { out, ..it.clone() }, folder.path()).as_deref(), Ok(text));
    }
    let out = Encoding::Text;
    let one = Request { out, expressions: vec!["a.c[0]".into()], ..it.clone() };
    assert_eq!(play(&one, folder.path()).as_deref(), Ok("x\n"));
    let two = Request { expressions: vec!["d".into(), "a.b + 1".into()], ..it };
    assert_eq!(play(&two, folder.path()).as_deref(), Ok("4\n2\n"));
}

#[test]
fn what_is_not_concrete_is_not_exported() {
    let folder = folder(&[("x.cue", "a: int\nb: 1\n")]);
    let it = request(Verb::Export, folder.path(), &["x.cue"]);
    let error = play(&it, folder.path()).unwrap_err();
    assert!(error.starts_with("a: incomplete value int"), "{error}");
    let eval = Request { verb: Verb::Eval, out: Encoding::Cue, ..it };
    assert_eq!(play(&eval, folder.path()).as_deref(), Ok("a: int\nb: 1\n"));
}

/// As v0.17.1 says it.
#[test]
fn eval_prints_nothing_beside_what_nothing_can_be_given_for() {
    let folder = folder(&[("x.cue", "#A: {b!: 1 & 2}\nx: {_h: {c!: >3 & <2}, y: 1}\nz: 3\n")]);
    let eval = request(Verb::Eval, folder.path(), &["x.cue"]);
    let text = "_|_ // #A.b: conflicting values 2 and 1\n";
    assert_eq!(play(&eval, folder.path()).as_deref(), Ok(text));
    let x = Request { expressions: vec!["x".into()], ..eval.clone() };
    let text = "_|_ // x._h.c: incompatible number bounds <2 and >3\n";
    assert_eq!(play(&x, folder.path()).as_deref(), Ok(text));
    let z = Request { expressions: vec!["z".into()], ..eval.clone() };
    assert_eq!(play(&z, folder.path()).as_deref(), Ok("3\n"));
    let all = play(&Request { ignore: true, ..eval }, folder.path()).unwrap();
    assert!(all.contains("b!: _|_ // #A.b: conflicting values 2 and 1"), "{all}");
}

/// As `cue eval` of v0.17.1 prints them.
#[test]
fn eval_shows_more_on_demand() {
    let text = "package x\n\n// doc\na: int @json(name=aa)\nb?: string\n_h: {x: 1, _y: 2, z?: 3}\n\
                #D: {q: int, r?: string, _s: 4}\nd: #D & {q: 1}\nt: {u?: v?: int} @foo(bar)\n";
    let folder = folder(&[("x.cue", text)]);
    let it = request(Verb::Eval, folder.path(), &["x.cue"]);
    let d = "d: {\n    q: 1\n}\n";
    let definition = "#D: {\n    q: int\n}\n";
    for (hidden, optional, attributes, want) in [
        (false, false, false, format!("a: int\n{definition}{d}t: {{}}\n")),
        (
            true,
            false,
            false,
            "a: int\n_h: {\n    x:  1\n    _y: 2\n}\n#D: {\n    q:  int\n    _s: 4\n}\nd: {\n    q:  1\n    _s: 4\n}\nt: {}\n".into(),
        ),
        (
            false,
            true,
            false,
            "a:  int\nb?: string\n#D: {\n    q:  int\n    r?: string\n}\nd: {\n    q:  1\n    r?: string\n}\nt: {\n    u?: {\n        v?: int\n    }\n}\n".into(),
        ),
        (
            false,
            false,
            true,
            format!("a: int @json(name=aa)\n{definition}{d}t: {{}} @foo(bar)\n"),
        ),
    ] {
        let shown = Shown { hidden, optional, attributes, ..Shown::default() };
        let printed = play(&Request { shown, ..it.clone() }, folder.path());
        assert_eq!(printed, Ok(want), "{shown:?}");
    }
}

#[test]
fn data_is_unified_placed_and_checked() {
    let folder = folder(&[
        ("s.cue", "#S: {n: int & <10, ...}\n"),
        ("good.yaml", "n: 3\n"),
        ("bad.json", "{\"n\": 30}"),
        ("t.toml", "n = 1\n"),
    ]);
    let vet = |file| Request {
        schema: Some("#S".into()),
        ..request(Verb::Vet, folder.path(), &["s.cue", file])
    };
    assert_eq!(play(&vet("good.yaml"), folder.path()).as_deref(), Ok(""));
    let error = play(&vet("bad.json"), folder.path()).unwrap_err();
    assert!(error.starts_with("n: invalid value 30 (out of bound <10)"), "{error}");
    let none = request(Verb::Vet, folder.path(), &["good.yaml"]);
    assert_eq!(play(&none, folder.path()), Err("data files specified without a schema".into()));
    let placed = Request {
        labels: vec!["a:".into(), "\"b c\"".into()],
        out: Encoding::Json,
        ..request(Verb::Export, folder.path(), &["t.toml"])
    };
    let text = "{\n    \"a\": {\n        \"b c\": {\n            \"n\": 1\n        }\n    }\n}\n";
    assert_eq!(play(&placed, folder.path()).as_deref(), Ok(text));
}

#[test]
fn a_stream_is_one_value_but_checked_document_by_document() {
    let folder = folder(&[("d.yaml", "a: 1\n---\na: 2\n"), ("s.cue", "a: <2\n")]);
    let it = request(Verb::Export, folder.path(), &["d.yaml"]);
    assert!(play(&it, folder.path()).unwrap_err().starts_with("a: conflicting values 2 and 1"));
    let vet = request(Verb::Vet, folder.path(), &["s.cue", "d.yaml"]);
    assert!(play(&vet, folder.path()).unwrap_err().starts_with("a: invalid value 2"));
    let each = Request {
        merge: false,
        out: Encoding::Yaml,
        ..request(Verb::Export, folder.path(), &["d.yaml"])
    };
    assert_eq!(play(&each, folder.path()).as_deref(), Ok("a: 1\n---\na: 2\n"));
}

#[test]
fn errors_say_where_in_data_and_expressions() {
    let folder = folder(&[("s.cue", "package p\n\n#S: n: <10\n"), ("b.json", "{\"n\": 30}\n")]);
    let it = Request {
        schema: Some("#S".into()),
        ..request(Verb::Vet, folder.path(), &["s.cue", "b.json"])
    };
    let text = "n: invalid value 30 (out of bound <10):\n    s.cue:3:8\n    b.json:1:7";
    assert_eq!(play(&it, folder.path()), Err(text.into()));
    fs::write(folder.path().join("c.yaml"), "n: 1\n---\nm: [x]\nn: true\n").unwrap();
    for schema in [None, Some("#S".to_owned())] {
        let sources = ["s.cue", "c.yaml"];
        let it = Request { schema, ..request(Verb::Vet, folder.path(), &sources) };
        let wrong = play(&it, folder.path());
        let told = wrong.as_ref().is_err_and(|it| it.ends_with("\n    c.yaml:4:4\n    s.cue:3:8"));
        assert_eq!(told, it.schema.is_some());
        assert!(wrong.err().is_none_or(|text| !text.contains("--schema")));
    }
    let expressions = vec!["nope".into()];
    let it = Request { expressions, ..request(Verb::Eval, folder.path(), &["s.cue"]) };
    let text = "reference \"nope\" not found:\n    --expression:1:1";
    assert_eq!(play(&it, folder.path()), Err(text.into()));
    let none = play(&request(Verb::Eval, folder.path(), &["no.cue"]), folder.path());
    assert!(none.unwrap_err().ends_with("no.cue: no such file or directory"));
}

#[test]
fn tags_fill_fields() {
    let folder =
        folder(&[("x.cue", "env: string @tag(env,short=prod|test)\nx: n: int @tag(n,type=int)\n")]);
    let mut it = request(Verb::Export, folder.path(), &["x.cue"]);
    it.load.tags = vec!["prod".into(), "n=3".into()];
    let text = "{\n    \"env\": \"prod\",\n    \"x\": {\n        \"n\": 3\n    }\n}\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
    it.load.tags = vec!["m=3".into()];
    assert_eq!(play(&it, folder.path()), Err("no tag for \"m\"".into()));
}

#[test]
fn a_folder_is_a_package_with_its_module() {
    let folder = folder(&[
        ("cue.mod/module.cue", "module: \"own.test/m@v0\"\nlanguage: version: \"v0.17.0\"\n"),
        ("a/a.cue", "package a\n\nimport \"own.test/m/b\"\n\nx: b.#D & {n: 1}\n"),
        ("a/other.cue", "package a\n\ny: x.n\n"),
        ("a/a_test.cue", "package a\n\ny: 7\n"),
        ("b/b.cue", "package b\n\n#D: {n: int, m: n + 1}\n"),
    ]);
    let it = request(Verb::Export, folder.path(), &["a"]);
    let text = "{\n    \"x\": {\n        \"n\": 1,\n        \"m\": 2\n    },\n    \"y\": 1\n}\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
    let wrong = request(Verb::Export, folder.path(), &["a:c"]);
    let told = play(&wrong, folder.path()).unwrap_err();
    assert!(told.starts_with("build constraints exclude all CUE files in "), "{told}");
    assert!(told.contains("a.cue: package is a, want c"), "{told}");
}

#[test]
fn a_module_says_which_language_it_is_written_in() {
    for (module, wanted) in [
        ("", "no language version declared in module.cue; run 'cue mod fix'"),
        (
            "module: \"own.test/m@v0\"\nlanguage: version: \"v0.18.0\"\n",
            "language version \"v0.18.0\" declared in module.cue is too new for current \
             language version \"v0.17.1\"",
        ),
    ] {
        let folder = folder(&[("cue.mod/module.cue", module), ("a/a.cue", "package a\nx: 1\n")]);
        let it = request(Verb::Export, folder.path(), &["a"]);
        assert_eq!(play(&it, folder.path()), Err(wanted.to_owned()));
    }
}

#[test]
fn the_files_of_a_module_are_read_in_its_language() {
    let folder = folder(&[
        ("cue.mod/module.cue", "module: \"own.test/m@v0\"\nlanguage: version: \"v0.13.0\"\n"),
        ("a/a.cue", "package a\n\nimport \"own.test/m/b\"\n\nx: b.x\n"),
        ("b/b.cue", "package b\n\nx: error(\"c\")\n"),
        ("d/d.cue", "x: [\n\t1\n\t2,\n]\n"),
    ]);
    let play = |name| play(&request(Verb::Export, folder.path(), &[name]), folder.path());
    let missing = "x: builtin \"error\" is not available in version v0.13.0; it was added in \
                   version \"v0.14.0\":\n    b/b.cue:3:4";
    assert_eq!(play("a"), Err(missing.into()));
    let wrong = "missing ',' before newline in list literal:\n    d/d.cue:3:2\nmissing ',' in list \
                 literal:\n    d/d.cue:4:3";
    assert_eq!(play("d/d.cue"), Err(wrong.into()));
    let request = format::Request {
        arguments: vec![folder.path().join("d/d.cue").display().to_string()],
        wanted: Wanted::Packages,
        style: Style::Plain,
        action: Action::Check,
    };
    assert!(format::files(&request).is_err());
    let walked = format::Request { wanted: Wanted::Files, ..request.clone() };
    assert!(format::files(&walked).is_ok());
    // A module that does not say it may be formatted.
    fs::write(folder.path().join("cue.mod/module.cue"), "").expect("a file");
    assert!(format::files(&request).is_ok());
}

#[test]
fn what_a_file_embeds_is_closed_for_data() {
    let folder = folder(&[
        ("s.cue", "package s\n\n#F: {a: int}\n#F\n"),
        ("more.cue", "package s\n\nc: int\n"),
        ("d.json", "{\"a\": 1, \"c\": 2}"),
    ]);
    let play = |verb, files: &[&str]| play(&request(verb, folder.path(), files), folder.path());
    let wrong = Err("c: field not allowed:\n    d.json:1:11".to_owned());
    for verb in [Verb::Vet, Verb::Export, Verb::Eval] {
        assert_eq!(play(verb, &["s.cue", "d.json"]), wrong);
        assert!(play(verb, &["s.cue", "more.cue", "d.json"]).is_ok());
    }
}

#[test]
fn json_may_begin_with_a_byte_order_mark() {
    let folder = folder(&[("d.json", "\u{feff}{\"a\": 1}")]);
    let it = request(Verb::Export, folder.path(), &["d.json"]);
    assert_eq!(play(&it, folder.path()).as_deref(), Ok("{\n    \"a\": 1\n}\n"));
}

#[test]
fn an_import_names_one_package_of_several_in_a_folder() {
    let folder = folder(&[
        ("cue.mod/module.cue", "module: \"own.test/m@v0\"\nlanguage: version: \"v0.17.0\"\n"),
        ("a/a.cue", "package a\n\nimport \"own.test/m/b:left\"\n\nleft\nz: 3\n"),
        ("b/left.cue", "package left\n\nimport \"own.test/m/b:right\"\n\nx: right.x\n"),
        ("b/right.cue", "package right\n\nx: 1\n"),
    ]);
    let it = request(Verb::Export, folder.path(), &["a"]);
    let text = "{\n    \"x\": 1,\n    \"z\": 3\n}\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
}

#[test]
fn files_are_formatted_in_place_once() {
    let folder = folder(&[("x.cue", "a:1\n"), ("sub/y.cue", "b:  {c:   2}\n")]);
    let all = [format!("{}/...", folder.path().display())];
    let named = |action| -> Vec<String> {
        let wanted = Wanted::Packages;
        let request =
            format::Request { arguments: all.to_vec(), wanted, style: Style::Plain, action };
        let changed = format::files(&request).unwrap().changed;
        changed.iter().map(|it| it.after.clone()).collect()
    };
    let wanted = ["a: 1\n", "b: {c: 2}\n"];
    assert_eq!(named(Action::Check), wanted);
    assert_eq!(named(Action::Write), wanted);
    assert!(named(Action::Check).is_empty());
    assert_eq!(fs::read_to_string(folder.path().join("x.cue")).unwrap(), "a: 1\n");
}

#[test]
fn values_of_files_are_lists_streams_or_one() {
    let folder = folder(&[
        (
            "s.jsonl",
            "{\"k\": \"a\", \"n\": 1}\n{\"k\": \"b\", \"n\": 2}\n{\"k\": \"a\", \"n\": 3}\n",
        ),
        ("x.cue", "[...{n: <3}]\n"),
        ("e.jsonl", ""),
    ]);
    let json = |text: &str| Ok(text.replace('\'', "\"") + "\n");
    let it =
        Request { out: Encoding::JsonLines, ..request(Verb::Export, folder.path(), &["s.jsonl"]) };
    let compact = |it: &Request| {
        play(it, folder.path()).map(|it| it.split_whitespace().collect::<String>() + "\n")
    };
    let list = Request { several: Several::Listed, ..it.clone() };
    assert_eq!(compact(&list), json("[{'k':'a','n':1},{'k':'b','n':2},{'k':'a','n':3}]"));
    let labels = vec!["strings.ToUpper(k)".into()];
    let placed = Request { labels, ..list.clone() };
    assert_eq!(
        compact(&placed),
        json("{'A':[{'k':'a','n':1},{'k':'a','n':3}],'B':[{'k':'b','n':2}]}")
    );
    let each = Request { merge: false, ..it.clone() };
    assert_eq!(compact(&each), json("{'k':'a','n':1}{'k':'b','n':2}{'k':'a','n':3}"));
    let labels = vec!["path.Base(filename)".into(), "\"n\\(index)of\\(recordCount)\":".into()];
    let context = Request { labels, context: Context::File, ..it };
    let text =
        "{'s.jsonl':{'n0of3':{'k':'a','n':1},'n1of3':{'k':'b','n':2},'n2of3':{'k':'a','n':3}}}";
    assert_eq!(compact(&context), json(text));
    let vet = request(Verb::Vet, folder.path(), &["x.cue", "s.jsonl"]);
    let vet = Request { several: Several::Listed, ..vet };
    let told = "2.n: invalid value 3 (out of bound <3):\n    x.cue:1:9\n    s.jsonl:3:17";
    assert_eq!(play(&vet, folder.path()), Err(told.into()));
    let none = request(Verb::Export, folder.path(), &["e.jsonl"]);
    assert_eq!(play(&none, folder.path()).as_deref(), Ok(""));
}

/// As `cue eval -A` of v0.17.1 shows them.
#[test]
fn attributes_of_files_and_structs() {
    let text = "@file(0)\npackage p\n\nimport \"list\"\n@file(1)\n\na: list.Max([1]) @f(1)\n\
                b: {@m(1)} & {@n(2), c: 1}\n@late(2)\nl: [{@q(1)}]\n";
    let folder = folder(&[("x.cue", text), ("y.cue", "package p\n@second(3)\nd: b\n")]);
    let shown = Shown { attributes: true, ..Shown::default() };
    let it = Request { shown, ..request(Verb::Eval, folder.path(), &["x.cue", "y.cue"]) };
    let inner = "    @m(1), @n(2)\n    c: 1\n}\n";
    let above = "@file(1)\n@late(2)\n@second(3)\na: 1 @f(1)\n";
    let text = format!("{above}b: {{\n{inner}d: {{\n{inner}l: [{{\n    @q(1)\n}}]\n");
    assert_eq!(play(&it, folder.path()), Ok(text));
    let def = request(Verb::Def, folder.path(), &["y.cue"]);
    let told = play(&def, folder.path()).unwrap_err();
    assert!(told.starts_with("d: reference \"b\" not found"), "{told}");
    fs::write(folder.path().join("z.cue"), "@file(0)\npackage p\n@z(1)\nz: 1\n").unwrap();
    let def = request(Verb::Def, folder.path(), &["z.cue"]);
    assert_eq!(play(&def, folder.path()).as_deref(), Ok("package p\n\n@z(1)\nz: 1\n"));
}

/// As v0.17.1 prints them.
#[test]
fn expressions_without_a_value() {
    let folder = folder(&[("x.cue", "x: {y: 1}\nz: string\nn: x.q\n"), ("d.json", "{\"k\": [1]}")]);
    let mut it = request(Verb::Eval, folder.path(), &["x.cue", "d.json"]);
    for (expression, text) in [
        ("x.q", "_|_ // undefined field: q\n"),
        ("z + \"a\"", "_|_ // non-concrete value string in operand to +\n"),
        ("z", "string\n"),
        ("{}", "\n"),
        ("k[0] + len(k)", "2\n"),
    ] {
        it.expressions = vec![expression.into()];
        assert_eq!(play(&it, folder.path()).as_deref(), Ok(text), "{expression}");
    }
    it.concrete = Concrete::Must;
    it.expressions = vec!["x.y".into(), "z".into(), "x".into()];
    let outcome = evaluate(&NativeRuntime::default(), &it).unwrap();
    assert_eq!(outcome.output, b"// x.y\n1\n// x\ny: 1\n");
    let told: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("// z\nz: incomplete value string"), "{told:?}");
}

#[test]
fn what_must_be_concrete_is_shown_without_definitions() {
    let folder = folder(&[("x.cue", "#D: a: int\n_h: 1\nx: {y: 1, #E: 2}\n")]);
    let it = request(Verb::Eval, folder.path(), &["x.cue"]);
    let shown = Shown { hidden: true, ..Shown::default() };
    let it = Request { concrete: Concrete::Must, shown, ..it };
    assert_eq!(play(&it, folder.path()).as_deref(), Ok("x: {\n    y: 1\n}\n"));
}

/// As v0.17.1 says it.
#[test]
fn flags_that_do_not_go_together() {
    let folder = folder(&[("x.cue", "#S: {...}\n"), ("d.json", "{}"), ("y.cue", "package y\n")]);
    let it = |files: &[&str]| request(Verb::Eval, folder.path(), files);
    let schema = Some("#S".to_owned());
    for (request, wanted) in [
        (
            Request { schema: schema.clone(), ..it(&["x.cue"]) },
            "-d/--schema flag requires non-CUE input files",
        ),
        (
            Request { schema: schema.clone(), ..it(&["d.json"]) },
            "-d/--schema flag specified without a schema",
        ),
        (
            Request { schema, several: Several::Listed, ..it(&["x.cue", "d.json"]) },
            "cannot combine --schema flag with flag \"path\", \"list\", or \"files\"",
        ),
        (
            Request { context: Context::File, ..it(&["d.json"]) },
            "flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\"",
        ),
        (
            Request { name: Some("x".into()), ..it(&["d.json"]) },
            "use of -n/--name flag without a directory",
        ),
        (
            Request { package: Some("x".into()), ..it(&["y.cue", "d.json"]) },
            "\"package\" flag clashes with existing package name (x vs y)",
        ),
    ] {
        assert_eq!(play(&request, folder.path()), Err(wanted.into()));
    }
}

#[test]
fn qualifiers_say_what_files_are() {
    let folder = folder(&[
        ("a.data", "x: 1\n"),
        ("j", "{\"y\": 2}"),
        (
            "s.json",
            "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"type\": \"object\"}",
        ),
        ("d.cue", "a: 1\nb: a\n"),
    ]);
    let place = |it: &str| folder.path().join(it).display().to_string();
    let play = |arguments: Vec<String>| {
        let load = Load { arguments, ..Load::default() };
        play(&Request::new(Verb::Eval, load), folder.path())
    };
    let both = play(vec!["yaml:".into(), place("a.data"), "json:".into(), place("j")]);
    assert_eq!(both.as_deref(), Ok("x: 1\ny: 2\n"));
    let schema = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(play(vec![place("s.json")]).as_deref(), Ok("\n"), "it is a schema");
    let data = format!("$schema: \"{schema}\"\ntype:    \"object\"\n");
    assert_eq!(play(vec!["json:".into(), place("s.json")]), Ok(data));
    let told = play(vec!["data:".into(), place("d.cue")]);
    assert_eq!(told, Err("references not allowed in data mode:\n    d.cue:2:4".into()));
    assert!(play(vec!["graph:".into(), place("d.cue")]).is_ok());
}

#[test]
fn conditions_and_variables() {
    let folder = folder(&[
        ("a.cue", "@if(prod && !test)\n\npackage p\n\nx: 1\n"),
        ("b.cue", "package p\n\nsys: string @tag(sys,var=os)\nn?: int\n"),
        ("c.cue", "@ignore()\n\npackage p\n\nx: 2\n"),
        ("l.cue", "package l\n\nl: [{x: int @tag(x)}]\n"),
    ]);
    let mut it = request(Verb::Eval, folder.path(), &[":p"]);
    it.load.arguments = vec![format!("{}:p", folder.path().display())];
    assert_eq!(play(&it, folder.path()).as_deref(), Ok("sys: string\n"));
    it.load.tags = vec!["prod".into(), "sys=mine".into()];
    it.load.variables = Variables::System;
    assert_eq!(play(&it, folder.path()).as_deref(), Ok("sys: \"mine\"\nx:   1\n"));
    it.load.tags = vec!["prod".into()];
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    assert_eq!(play(&it, folder.path()), Ok(format!("sys: \"{os}\"\nx:   1\n")));
    let wrong = request(Verb::Eval, folder.path(), &["l.cue"]);
    let told = "@tag not allowed within lists:\n    l.cue:3:13";
    assert_eq!(play(&wrong, folder.path()), Err(told.into()));
}

#[test]
fn patterns_are_many_packages() {
    let folder = folder(&[
        ("cue.mod/module.cue", "module: \"own.test/m\"\nlanguage: version: \"v0.17.0\"\n"),
        ("p.cue", "package p\n\nroot: 1\n"),
        ("a/p.cue", "package p\n\na: root\n"),
        ("b/q.cue", "package q\n\nb: strings\nstrings: 2\n"),
        ("_c/q.cue", "package q\n\nc: 1\n"),
    ]);
    let mut it = request(Verb::Eval, folder.path(), &["..."]);
    assert_eq!(
        play(&it, folder.path()).as_deref(),
        Ok("root: 1\n// ---\na:    1\nroot: 1\n// ---\nb:       2\nstrings: 2\n")
    );
    it.load.arguments = vec![format!("{}/b", folder.path().display())];
    it.expressions = vec!["b".into(), "strings + 1".into(), "list.Max([b, 5])".into()];
    assert_eq!(
        play(&it, folder.path()).as_deref(),
        Ok("// b\n2\n// strings + 1\n3\n// list.Max([b, 5])\n5\n")
    );
}

#[test]
fn def_prints_the_package_once() {
    let folder = folder(&[("x.cue", "package p\n\n#D: {a: int}\nx: #D & {a: 1}\n")]);
    let it = request(Verb::Def, folder.path(), &["x.cue"]);
    let text = "package p\n\n#D: {\n\ta: int\n}\nx: #D & {\n\ta: 1\n}\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
    let of = Request { expressions: vec!["x.a".into()], ..it };
    assert_eq!(play(&of, folder.path()).as_deref(), Ok("1\n"));
}

/// As v0.17.1 prints it.
#[test]
fn with_data_def_prints_no_package_clause() {
    let folder = folder(&[
        ("a.cue", "// head\n\npackage p\n\n// c\nx: 1\nif true {z: 1}\n"),
        ("d.json", "{\"a\": 1}"),
    ]);
    let it = request(Verb::Def, folder.path(), &["a.cue", "d.json"]);
    let text = "\n{\n\t// c\n\tx: 1\n\tif true {\n\t\tz: 1\n\t}\n}\na: 1\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
}

#[test]
fn an_empty_value_is_an_empty_line() {
    let folder = folder(&[("x.cue", "")]);
    for (verb, text) in [(Verb::Eval, "\n"), (Verb::Def, "\n"), (Verb::Export, "{}\n")] {
        let it = request(verb, folder.path(), &["x.cue"]);
        assert_eq!(play(&it, folder.path()).as_deref(), Ok(text), "{verb:?}");
    }
}

#[test]
fn errors_are_told_by_place_and_path_as_cue_does() {
    let text =
        "z: int & \"x\"\na: b: nope.x\nnope: 3\nb: {y: 1 & 2, x: 1 & 3}\na10: 1 & 2\na2: 1 & 2\n";
    let folder = folder(&[("x.cue", text)]);
    let it = request(Verb::Vet, folder.path(), &["x.cue"]);
    let wrong = play(&it, folder.path()).expect_err("conflicts");
    let heads: Vec<&str> = wrong
        .lines()
        .filter(|it| !it.starts_with(' '))
        .map(|it| &it[..it.find(':').unwrap_or(0)])
        .collect();
    assert_eq!(heads, ["a10", "a2", "b.x", "b.y", "z", "a.b"]);
}

#[test]
fn values_beside_what_is_wrong() {
    let source = "x: 1\ny: int & \"a\"\nz: x + 1\na: {b: 1 & 2, c: {}}\nl: [1, 2 & 3, 4]\nd: *(1 & 2) | (3 & 4)\nu: \"x\" & =~\"y\" & =~\"z$\"\n";
    let folder = folder(&[("x.cue", source)]);
    let it = Request { ignore: true, ..request(Verb::Eval, folder.path(), &["x.cue"]) };
    let text = "x: 1\ny: _|_ // y: conflicting values int and \"a\" (mismatched types int and string)\nz: 2\n\
        a: {\n    b: _|_ // a.b: conflicting values 2 and 1\n    c: {}\n}\n\
        l: [1, _|_, // l.1: conflicting values 3 and 2\n            4]\n\
        d: _|_ // d: 2 errors in empty disjunction: (and 2 more errors)\n\
        u: _|_ // u: invalid value \"x\" (out of bound =~\"y\") (and 1 more errors)\n";
    assert_eq!(play(&it, folder.path()).as_deref(), Ok(text));
    for verb in [Verb::Export, Verb::Vet, Verb::Def] {
        assert!(play(&Request { verb, ..it.clone() }, folder.path()).is_err(), "{verb:?}");
    }
}

#[test]
fn simpler_and_escaped() {
    let folder = folder(&[("x.cue", "x: \"<a&b>\"\n\"y\": 1\nz: {\"k\": 2}\n")]);
    let it = request(Verb::Eval, folder.path(), &["x.cue"]);
    let simple = Request { style: Style::Simplified, ..it.clone() };
    assert_eq!(play(&simple, folder.path()).as_deref(), Ok("x: \"<a&b>\"\ny: 1\nz: k: 2\n"));
    let escaped = Request {
        verb: Verb::Export,
        out: Encoding::Json,
        escape: true,
        expressions: vec!["x".into()],
        ..it
    };
    assert_eq!(play(&escaped, folder.path()).as_deref(), Ok("\"\\u003ca\\u0026b\\u003e\"\n"));
}

#[test]
fn what_is_written_as_an_error_is_told_without_a_path() {
    let folder = folder(&[("x.cue", "a: b: _|_\nc: 1 & 2\n")]);
    let it = request(Verb::Eval, folder.path(), &["x.cue"]);
    let told = play(&it, folder.path()).expect_err("it fails");
    let wanted = "c: conflicting values 2 and 1:\n    x.cue:2:4\n    x.cue:2:8\n\
                  explicit error (_|_ literal) in source:\n    x.cue:1:7";
    assert_eq!(told.replace("./", ""), wanted);
}

#[test]
fn without_a_module_only_builtin_packages_are_there() {
    let unavailable =
        "import failed: imports are unavailable because there is no cue.mod/module.cue file:\n";
    let nameless =
        "import failed: cannot determine package name for \"a.b\"; set it explicitly with ':':\n";
    for (text, told) in [
        ("import \"b.c/x\"\na: x.y\n", format!("{unavailable}    x.cue:1:8")),
        // The first by its path.
        (
            "import z \"b.c/z\"\nimport \"a.c/y\"\na: y\nb: z\n",
            format!("{unavailable}    x.cue:2:8"),
        ),
        (
            "import \"b.c/x\"\nimport \"a.b\"\na: x.y\n",
            format!("{nameless}    x.cue:2:8\n{unavailable}    x.cue:2:8"),
        ),
        ("import \"nope\"\na: nope\n", "builtin package \"nope\" undefined:\n    x.cue:1:8".into()),
        ("import \"b.c/x\"\na: {\n", "expected '}', found 'EOF':\n    x.cue:2:6".into()),
    ] {
        let folder = folder(&[("x.cue", text)]);
        let it = request(Verb::Eval, folder.path(), &["x.cue"]);
        assert_eq!(play(&it, folder.path()), Err(told), "{text}");
    }
}

#[test]
fn yaml_knows_bytes() {
    let folder = folder(&[("x.cue", "a: {k: \"x\", b: 'hi'}\n")]);
    let it = Request { out: Encoding::Yaml, ..request(Verb::Export, folder.path(), &["x.cue"]) };
    let bytes = "a:\n  k: x\n  b: !!binary aGk=\n";
    assert_eq!(play(&it, folder.path()), Ok(bytes.into()));
    let it = Request { expressions: vec!["a.b".into()], labels: vec!["c:".into()], ..it };
    assert_eq!(play(&it, folder.path()), Ok("c: !!binary aGk=\n".into()));
}

#[test]
fn expressions_are_fields_or_stand_for_themselves() {
    let text = "import \"strings\"\nx: 1\ny: {a: int, b?: 1}\nif x > 0 {g: 1}\n#D: q: int\n\
        s: strings.ToUpper(t)\nt: string\nl: [1, int]\n";
    let folder = folder(&[("x.cue", text)]);
    let said = |verb, expression: &str| {
        let mut it = request(verb, folder.path(), &["x.cue"]);
        it.expressions = vec![expression.into()];
        play(&it, folder.path()).unwrap_or_else(|it| it.lines().next().unwrap_or_default().into())
    };
    for (expression, wanted) in [
        ("g", "1\n"),
        ("y.nope", "_|_ // undefined field: nope\n"),
        ("y.b", "_|_ // cannot reference optional field: b\n"),
        ("{y}", "y\n"),
        ("{#D, q: 1}", "\n#D\nq: 1\n"),
        ("x | y", "x | y\n"),
        ("x + 1", "2\n"),
        ("-x", "-1\n"),
        ("\"x\"", "\"x\"\n"),
    ] {
        assert_eq!(said(Verb::Def, expression), wanted, "{expression}");
    }
    for (expression, wanted) in [
        ("y.nope", "undefined field: nope:"),
        ("y[\"a\"]", "y.a: incomplete value int:"),
        ("l[1]", "l.1: incomplete value int:"),
        ("int", "incomplete value int:"),
        ("g", "1\n"),
    ] {
        assert_eq!(said(Verb::Export, expression), wanted, "{expression}");
    }
}

#[test]
fn comments_are_exported_and_structs_simplified() {
    let text = "// of x\nx: #D & {\n\t// own\n\ta: 1\n}\n#D: {\n\t// of a\n\ta: int\n}\n\
        // of z\ny: z: 1\nv: {w: 1}\nu: {\"a-b\": 1}\n";
    let folder = folder(&[("x.cue", text)]);
    let cue = Request { out: Encoding::Cue, ..request(Verb::Export, folder.path(), &["x.cue"]) };
    let wanted = "// of x\nx: {\n\t// own\n\n\t// of a\n\ta: 1\n}\ny: {\n\t// of z\n\tz: 1\n}\n\
        v: w:     1\nu: \"a-b\": 1\n";
    assert_eq!(play(&cue, folder.path()), Ok(wanted.into()));
    let it = request(Verb::Eval, folder.path(), &["x.cue"]);
    let it = Request { style: Style::Simplified, ..it };
    let told = play(&it, folder.path()).expect("it is right");
    assert!(told.contains("#D: {\n    a: int\n}\ny: z:     1\n"), "{told}");
}

#[test]
fn what_is_no_text_and_what_other_commands_read() {
    let folder = folder(&[("x_test.cue", "a: 1\n"), ("t.cue", "n: int @tag(n,type=int)\n")]);
    let told = play(&request(Verb::Eval, folder.path(), &["x_test.cue"]), folder.path());
    let told = told.expect_err("it is left out");
    assert!(told.ends_with("x_test.cue: _test.cue files excluded in non-test mode"), "{told}");
    let mut it = request(Verb::Eval, folder.path(), &["t.cue"]);
    for (tag, wanted) in [("n=-1", Ok("n: -1\n")), ("n=x", Err("illegal number start \"x\""))] {
        it.load.tags = vec![tag.into()];
        let wanted = wanted.map(str::to_owned);
        let wanted = wanted.map_err(|it| format!("invalid number for injection tag \"n\": {it}"));
        assert_eq!(play(&it, folder.path()), wanted);
    }
    fs::write(folder.path().join("u.cue"), b"a: \"\xff\"\n").expect("a file");
    let told = play(&request(Verb::Eval, folder.path(), &["u.cue"]), folder.path());
    assert_eq!(told, Ok("a: \"\u{fffd}\"\n".into()));
}

/// As v0.17.1 writes them.
#[test]
fn bytes_in_toml_are_lists_of_numbers() {
    let folder = folder(&[("a.cue", "a: 'hi'\nb: [1.50, 'x', \"!!binary\"]\n")]);
    let it = request(Verb::Export, folder.path(), &["a.cue"]);
    let toml = play(&Request { out: Encoding::Toml, ..it }, folder.path());
    assert_eq!(toml.as_deref(), Ok("a = [104, 105]\nb = [1.5, [120], '!!binary']\n"));
}

/// As v0.17.1 says it.
#[test]
fn what_is_no_text_is_told_with_its_place_and_its_definitions() {
    let folder = folder(&[("a.cue", "n: 3\ns: {a: 1, #D: 5, d: *1 | 2}\nb: 'x'\n")]);
    for (out, asked, wanted) in [
        (Encoding::Text, "n", "n: cannot use value 3 (type int) as string:\n    a.cue:1:4"),
        (Encoding::Text, "s", "s: cannot use value {a:1,#D:5,d:*1 | 2} (type struct) as string"),
        (Encoding::Text, "b", "b: cannot use value 'x' (type bytes) as string:\n    a.cue:3:4"),
        (
            Encoding::Binary,
            "n + 1",
            "cannot use value 4 (type int) as (string|bytes):\n    --expression:1:1",
        ),
    ] {
        let it = request(Verb::Export, folder.path(), &["a.cue"]);
        let it = Request { out, expressions: vec![asked.into()], ..it };
        assert_eq!(play(&it, folder.path()), Err(wanted.into()));
    }
}

#[test]
fn packages_are_named_where_they_have_none() {
    let folder = folder(&[("a.cue", "package a\nx: 1\n"), ("n.cue", "x: 1\n")]);
    let named = |file: &str, name: &str, verb| {
        let it = request(verb, folder.path(), &[file]);
        play(&Request { package: Some(name.into()), ..it }, folder.path())
    };
    let clash = "\"package\" flag clashes with existing package name (q vs a)";
    assert_eq!(named("a.cue", "q", Verb::Eval), Err(clash.into()));
    assert_eq!(named("a.cue", "q", Verb::Vet), Ok(String::new()));
    assert_eq!(named("n.cue", "q", Verb::Def), Ok("package q\n\nx: 1\n".into()));
    assert_eq!(named("n.cue", "a b", Verb::Def), Err("invalid identifier \"a b\"".into()));
}

#[test]
fn parts_of_loops_are_printed_by_value_and_closed_ones_with_their_imports() {
    let text = "import \"strings\"\nl: [for i in [1, 2] {idx: i}]\n\
        o: {for n in [\"a\"] {\"\\(n)\": {kind: n}}}\n#D: {t: strings.ToUpper(s), s: string}\n";
    let folder = folder(&[("x.cue", text)]);
    let said = |expression: &str| {
        let mut it = request(Verb::Def, folder.path(), &["x.cue"]);
        it.expressions = vec![expression.into()];
        play(&it, folder.path())
    };
    assert_eq!(said("l[1]"), Ok("idx: 2\n".into()));
    assert_eq!(said("o.a"), Ok("kind: \"a\"\n".into()));
    let wanted = "import \"strings\"\n\n_#def\n_#def: {\n\tt: strings.ToUpper(s)\n\ts: string\n}\n";
    assert_eq!(said("#D"), Ok(wanted.into()));
}

#[test]
fn an_import_cycle_is_told_with_each_import_of_it() {
    let folder = folder(&[
        ("cue.mod/module.cue", "module: \"m.test/m\"\nlanguage: version: \"v0.17.0\"\n"),
        ("main.cue", "package main\n\nimport \"m.test/m/a\"\n\nx: a.v\n"),
        ("a/a.cue", "package a\n\nimport \"m.test/m/b\"\n\nv: b.v\n"),
        ("b/b.cue", "package b\n\nimport \"m.test/m/a\"\n\nv: a.v\n"),
    ]);
    let it = request(Verb::Eval, folder.path(), &["main.cue"]);
    let wrong = play(&it, folder.path()).expect_err("a cycle");
    let places: Vec<&str> = wrong.lines().skip(1).map(str::trim).collect();
    assert!(wrong.starts_with("import failed: import failed: import failed: package import cycle"));
    assert_eq!(places, ["main.cue:3:8", "a/a.cue:3:8", "b/b.cue:3:8"], "{wrong}");
}

#[test]
fn what_ends_too_early_is_told_of_on_the_last_line() {
    let folder =
        folder(&[("a.toml", "a = [1,\n"), ("b.toml", "b = [1,\n\n"), ("c.toml", "c = [1,")]);
    for (file, place) in [("a.toml", "1:9"), ("b.toml", "2:2"), ("c.toml", "1:8")] {
        let told = play(&request(Verb::Export, folder.path(), &[file]), folder.path());
        let wanted = format!("expected value, not eof:\n    {file}:{place}");
        assert_eq!(told.expect_err("it ends"), wanted);
    }
}
