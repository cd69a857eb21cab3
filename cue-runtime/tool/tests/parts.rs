//! Parts of a package that are printed on their own (O-80): `def -e`.

use std::fs;

use cue_session::NativeRuntime;
use cue_tool::{Load, Request, Verb, evaluate};

/// What a command prints of a part; it finds nothing wrong.
#[track_caller]
fn printed(verb: Verb, text: &str, expression: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.cue");
    fs::write(&file, text).expect("a file");
    let load = Load { arguments: vec![file.display().to_string()], ..Load::default() };
    let request = Request { expressions: vec![expression.to_owned()], ..Request::new(verb, load) };
    let outcome = evaluate(&NativeRuntime::default(), &request).expect("it begins");
    let told: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
    assert_eq!(told, Vec::<String>::new());
    String::from_utf8(outcome.output).expect("text")
}

#[track_caller]
fn check(text: &str, expression: &str, want: &str) {
    assert_eq!(printed(Verb::Def, text, expression), want, "{text}");
}

#[test]
fn what_is_named_once_is_put_in() {
    check("i: int\no: {v: i | string, w: [i]}\n", "o.v", "int | string\n");
    check("i: {p: int}\no: {v: [i.p], {w: 1}}\n", "o", "v: [int]\nw: 1\n");
    check("k: 5\nm: k + 1\no: {v: m, w: m}\n", "o", "v: 5 + 1\nw: 5 + 1\n");
}

#[test]
fn what_is_named_more_often_or_computed_with_gets_a_name() {
    let let_i = "\n//cue:path: i\nlet I = int\n";
    for text in ["v: I + 1", "v: \"\\(I)\"", "v: -I", "v: >I", "v: I\nw: I"] {
        let part = text.replace('I', "i");
        check(&format!("i: int\no: {{\n{part}\n}}\n"), "o", &format!("{text}\n{let_i}"));
    }
    check(
        "st: {p: int}\no: {v: st, w: st.p, x: l[1] + 1}\nl: [_, int]\n",
        "o",
        "v: ST\nw: ST.p\nx: Index1 + 1\n\n//cue:path: st\nlet ST = {\n\tp: int\n}\n\n\
         //cue:path: l.1\nlet Index1 = int\n",
    );
    // No name of the part is given away.
    check("y: int\no: {Y: y, v: y}\n", "o", "Y: Y_1\nv: Y_1\n\n//cue:path: y\nlet Y_1 = int\n");
}

#[test]
fn what_a_definition_closes_stays_closed() {
    let text = "#D: {f: int, g?: #D}\nd: #D\no: {v: d}\n#P: {#D, h: 1}\n";
    check(
        text,
        "o",
        "v: D.#x\n\n//cue:path: d\nlet D = {\n\t#x: D_1.#x\n}\n\n//cue:path: #D\nlet D_1 = {\n\
         \t#x: {\n\t\tf:  int\n\t\tg?: #D\n\t}\n}\n",
    );
    check(text, "#D", "\n_#def\n_#def: {\n\tf:  int\n\tg?: #D\n}\n");
}

#[test]
fn a_part_that_names_itself_keeps_its_name() {
    check("a: e: {} | a\n", "a", "e: {} | a\n");
    check(
        "self: {w: self.v, v: int}\no: v: self\n",
        "o.v",
        "\nSELF\n\n//cue:path: self\nlet SELF = {\n\tw: SELF.v\n\tv: int\n}\n",
    );
}

#[test]
fn a_field_that_is_not_there_is_told() {
    check("a!: 1\n", "a", "_|_ // required field missing: a\n");
    check("\"a\"?: 1\n", "a", "_|_ // cannot reference optional field: a\n");
    check("a: {}\n", "a", "\n");
}

#[test]
fn what_is_printed_evaluated_names_what_it_waits_for() {
    let text = "i: int\no: {v: i + 1, w: o.v, x: i}\n";
    let printed = |expression: &str| printed(Verb::Eval, text, expression);
    let let_i = "\n//cue:path: i\nlet I = int\n";
    assert_eq!(printed("o"), format!("v: I + 1\nw: I + 1\nx: int\n{let_i}"));
    assert_eq!(printed("o.v"), format!("\nI + 1\n{let_i}"));
    assert_eq!(printed("{x: i + 1}"), "x: i + 1\n");
}

#[test]
fn what_is_printed_evaluated_says_what_it_imports() {
    let text = "import \"strings\"\ne: strings.ToUpper(f)\nf: string\nk: {if f > \"a\" {b: 1}}\n";
    let printed = |expression: &str| printed(Verb::Eval, text, expression);
    let let_f = "\n//cue:path: f\nlet F = string\n";
    assert_eq!(printed("e"), format!("import \"strings\"\n\nstrings.ToUpper(F)\n{let_f}"));
    assert_eq!(printed("{v: e}"), "import \"strings\"\n\nv: strings.ToUpper(f)\n");
    assert_eq!(printed("[e]"), "import \"strings\"\n\n[strings.ToUpper(f)]\n");
    assert_eq!(printed("k"), format!("if F > \"a\" {{\n    b: 1\n}}\n{let_f}"));
}
