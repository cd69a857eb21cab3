//! Data of other languages as CUE: its comments, its tables and the spelling of its numbers stay. What is
//! expected here is what `cue` of v0.17.1 prints.

mod folder;
mod told;

use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::import::{Options, Texts, import};
use cue_tool::place::{Context, Several};
use cue_tool::{Encoding, Load, Request, Verb, evaluate};

use crate::folder::folder;

/// What a command prints of files as CUE, or what it tells.
fn shown(verb: Verb, folder: &Path, files: &[&str]) -> String {
    let arguments = files.iter().map(|it| folder.join(it).display().to_string()).collect();
    let load = Load { arguments, ..Load::default() };
    let request = Request { out: Encoding::Cue, ..Request::new(verb, load) };
    let told = match evaluate(&NativeRuntime::default(), &request) {
        Ok(outcome) if outcome.errors.is_empty() => {
            return String::from_utf8(outcome.output).expect("text");
        }
        Ok(outcome) => outcome.errors.iter().map(ToString::to_string).collect(),
        Err(error) => error.to_string(),
    };
    told::without(folder, &told)
}

/// What becomes of one file, or what is told.
fn imported(file: &str, text: &str, options: Options) -> String {
    let folder = folder(&[(file, text)]);
    let mut arguments = options.arguments.clone();
    arguments.push(folder.path().join(file).display().to_string());
    match import(&NativeRuntime::default(), &Options { arguments, ..options }) {
        Ok(mut files) => files.remove(0).text,
        Err(error) => told::without(folder.path(), &error.to_string()),
    }
}

const COMMENTED: &str = "\
# head

# doc a
a: 1 # behind a
b:
  # doc c
  c: x
  d: # behind d
    - 1 # one
    # above two
    - 2
  e: {} # behind flow
  # foot b

# doc g
g:
  - name: x # nx
    v: 1
  # second
  - name: y
h: |
  l1

  l2
# end
";

#[test]
fn comments_of_yaml_stay_where_cue_has_places_for_them() {
    let def = "\
// head
// doc a
a: 1
b: {
	// doc c
	c: \"x\"
	d: [1, 2]
	// foot b
	e: {}
}

// doc g
g: [{
	name: \"x\"
	v:    1
}, {
	// second
	name: \"y\"
}]
// end
h: \"\"\"
	l1

	l2

	\"\"\"
";
    let folder = folder(&[("e.yaml", COMMENTED)]);
    assert_eq!(shown(Verb::Def, folder.path(), &["e.yaml"]), def);
    assert_eq!(shown(Verb::Export, folder.path(), &["e.yaml"]), def);
    let text = imported("e.yaml", COMMENTED, Options::default());
    assert!(text.contains("a: 1 // behind a\n"), "{text}");
    assert!(text.contains("\te: {// behind flow\n\t}\n"), "{text}");
}

#[test]
fn a_comment_behind_what_is_empty_keeps_no_data_from_being_read() {
    let folder = folder(&[("e.yaml", "a: [] # x\nb: {} # y\nc: [1, 2 # z\n  ]\n")]);
    assert_eq!(shown(Verb::Eval, folder.path(), &["e.yaml"]), "a: []\nb: {}\nc: [1, 2]\n");
}

#[test]
fn numbers_stay_as_they_are_written() {
    let yaml = "a: 0o17\nb: [1_000, 0x1F, 017, 1e3, .5]\n";
    let toml = "a = 0x1F\nb = [1_000, 1e3]\n";
    let json = "{\"a\": 1e3, \"b\": [1e3, 12e-3, \"\\u00e9\"]}";
    let folder = folder(&[("e.yaml", yaml), ("f.toml", toml), ("d.json", json)]);
    let eval = |file| shown(Verb::Eval, folder.path(), &[file]);
    assert_eq!(eval("e.yaml"), "a: 15\nb: [1_000, 0x1F, 0o17, 1e3, 0.5]\n");
    assert_eq!(eval("f.toml"), "a: 31\nb: [1_000, 1e3]\n");
    assert_eq!(eval("d.json"), "a: 1e+3\nb: [1e3, 12e-3, \"\\u00e9\"]\n");
    let def = shown(Verb::Def, folder.path(), &["e.yaml"]);
    assert!(def.starts_with("a: 0o17\n"), "{def}");
    let plain = Options::default;
    assert_eq!(imported("e.yaml", yaml, plain()), "a: 0o17\nb: [1_000, 0x1F, 0o17, 1e3, 0.5]\n");
    assert_eq!(imported("f.toml", toml, plain()), "a: 0x1F\nb: [1_000, 1e3]\n");
}

#[test]
fn numbers_that_cue_has_not_are_told_by_their_fields() {
    let folder = folder(&[
        ("e.yaml", "a:\n  b-c:\n  - [1, .nan]\n---\nd: -.inf\n"),
        ("f.toml", "[t.u]\nc = [[inf]]\n[[x]]\ny.z = -inf\n"),
        ("s.cue", "d: string\n"),
    ]);
    let eval = |file| shown(Verb::Eval, folder.path(), &["s.cue", file]);
    let told = "a.\"b-c\": parse error: illegal number start \"NaN\":\n    e.yaml:3:9";
    assert_eq!(eval("e.yaml"), told);
    let told = "t.u.c: parse error: illegal number start \"inf\":\n    f.toml:2:7\n\
                x.y.z: parse error: illegal number start \"-inf\":\n    f.toml:4:7";
    assert_eq!(eval("f.toml"), told);
    assert_eq!(
        imported("e.yaml", "a: -.inf\n", Options::default()),
        "a: parse error: illegal number start \"Inf\":\n    e.yaml:1:4"
    );
}

const TABLES: &str = "\
a = 2020-01-01
c = 12:30:00 # behind
f = {x = 1, y.z = 2}
[t]
k.l = 1
k.m = \"a\\nb\"
[t.\"u.v\"]
w = [
 1, # one
 2 ]
[[arr]]
x = 1
[[arr]]
[arr.sub]
y = '''it's''''
[[arr.more]]
z = 1
";

#[test]
fn tables_of_toml_are_declarations() {
    let text = "\
a: \"2020-01-01\" & time.Format(time.RFC3339Date)
c: \"12:30:00\" & time.Format(\"15:04:05\")
f: {x: 1, y: z: 2}
t: {
	k: l: 1
	k: m: \"a\\nb\"
}
t: \"u.v\": w: [1, 2]
arr: [
	{
		x: 1
	},
	{
		sub: y: \"it's'\"
		more: [
			{
				z: 1
			},
		]
	},
]
";
    assert_eq!(imported("f.toml", TABLES, Options::default()), text);
    // Only where names are looked through the package is imported.
    let parsed = Options { texts: Texts::Parsed, ..Options::default() };
    assert_eq!(imported("f.toml", TABLES, parsed), format!("import \"time\"\n\n{text}"));
    let folder = folder(&[("f.toml", TABLES), ("s.cue", "t: string\n")]);
    let told = "t: conflicting values {k:{l:1},k:{m:\"a\\nb\"}} and string (mismatched types struct \
                and string):\n    s.cue:1:4";
    let vet = shown(Verb::Vet, folder.path(), &["s.cue", "f.toml"]);
    assert!(vet.starts_with(told), "{vet}");
    let eval = shown(Verb::Eval, folder.path(), &["f.toml"]);
    assert!(eval.starts_with("a: \"2020-01-01\"\nc: \"12:30:00\"\n"), "{eval}");
}

#[test]
fn lines_of_yaml_break_where_the_file_has_them() {
    for (yaml, cue) in [
        ("p:\n- q: 1\n", "p: [{q: 1}]\n"),
        ("p:\n- q: 1\n- r: 2\n", "p: [{\n\tq: 1\n}, {\n\tr: 2\n}]\n"),
        ("p:\n- - q: 1\n  - r: 1\n", "p: [[{\n\tq: 1\n}, {\n\tr: 1\n}]]\n"),
        ("p: [{a: 1},\n {b: 2}]\n", "p: [{\n\ta: 1\n}, {\n\tb: 2\n}]\n"),
        ("p: [\n 1, 2]\n", "p: [\n\t1,\n\t2]\n"),
        ("p:\n- 1\n- null\n- 2\n", "p: [\n\t1, null,\n\t2,\n]\n"),
        ("c:\n- {b: 1} # x\n- [] # y\n", "c: [{\n\tb: 1\n}, // x\n\t[], // y\n]\n"),
        ("p: [\n 1,\n {a: 1, b: [\n1]}\n]\n", "p: [\n\t1, {\n\t\ta: 1, b: [\n\t\t\t1]}]\n"),
    ] {
        assert_eq!(imported("e.yaml", yaml, Options::default()), cue, "{yaml}");
    }
}

#[test]
fn modes_with_endings_hold_for_every_file() {
    let options = |mode: &str| Options {
        arguments: vec![mode.into()],
        endings: vec!["yaml".into()],
        ..Options::default()
    };
    assert_eq!(imported("e.yaml", "a: 1\n", options("text")), "\"a: 1\\n\"\n");
    let bytes = imported("e.yaml", "a: \"\\n\"\n", options("binary"));
    assert_eq!(bytes, "'''\n\ta: \"\\\\n\"\n\n\t'''\n");
    assert_eq!(imported("e.yaml", "a: 1\n", options("data")), "unsupported encoding \"\"");
}

#[test]
fn what_is_imported_must_agree_and_be_an_object() {
    let plain = Options::default;
    assert_eq!(
        imported("d.json", "{\"a\": 1, \"a\": 2}", plain()),
        "a: conflicting values 2 and 1:\n    d.json:1:7\n    d.json:1:15"
    );
    let context = Options { context: Context::File, ..plain() };
    assert_eq!(imported("d.json", "1", context), "cannot map non-struct to object root");
    let wrong = imported("d.cue", "a: [\n", plain());
    assert!(wrong.starts_with("expected ']'"), "{wrong}");
}

#[test]
fn a_label_that_is_no_text_is_told_as_cue() {
    let labels = |label: &str| Options {
        labels: vec![label.into()],
        several: Several::Unified,
        ..Options::default()
    };
    let yaml = "spec:\n  x-y: 1\n  name: \"a\\nb\"\n";
    let told =
        "error evaluating label spec: {\n\t\"x-y\": 1\n\tname: \"\"\"\n\t\ta\n\t\tb\n\t\t\"\"\"\n}";
    assert_eq!(imported("e.yaml", yaml, labels("spec")), told);
    let told = "error evaluating label a|b: reference \"a\" not found (and 1 more errors)";
    assert_eq!(imported("e.yaml", yaml, labels("a | b")), told);
}

#[test]
fn documents_at_labels_are_aligned_and_leave_what_is_said_below_them() {
    let text = "kind: a # behind\n\n# below\n---\nkind: long\n# of it\n---\nkind: c\n";
    let labels = |all: &[&str]| Options {
        labels: all.iter().map(|it| (*it).to_owned()).collect(),
        ..Options::default()
    };
    let one = "a: kind:    \"a\" // behind\nlong: kind: \"long\"\nc: kind:    \"c\"\n// below\n";
    assert_eq!(imported("x.yaml", text, labels(&["kind"])), one);
    let two =
        "a: a: kind: \"a\" // behind\nlong: long: kind: \"long\"\nc: c: kind: \"c\"\n// below\n";
    assert_eq!(imported("x.yaml", text, labels(&["kind", "kind"])), two);
    let only = "kind: a\n---\n# EMPTY\n";
    assert_eq!(imported("x.yaml", only, labels(&["kind"])), "a: kind: \"a\"\n// EMPTY\n");
}

#[test]
fn texts_that_hold_data_keep_its_lines() {
    let parsed = Options { texts: Texts::Parsed, ..Options::default() };
    let text = r#"{"a": "[1, {\"b\": 2}]", "c": "- 1\n- d: {e: 3}"}"#;
    let wanted = "import (\n\t\"encoding/json\"\n\t\"encoding/yaml\"\n)\n\n\
        a: json.Marshal(_cue_a)\nlet _cue_a = [1, {\n\tb: 2\n}], \
        c: yaml.Marshal(_cue_c)\nlet _cue_c = [\n\t1, {\n\t\td: e: 3\n\t}]\n";
    assert_eq!(imported("x.json", text, parsed), wanted);
}
