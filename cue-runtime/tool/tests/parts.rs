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
fn names_lead_out_from_any_depth() {
    let let_s = "\n//cue:path: a.s\nlet S = {\n\tt: int\n}\n";
    let of_s = |value: &str| format!("c: {value}\nd: S\n{let_s}");
    check("i: int\na: {s: {t: i}, b: {c: s.t, d: s}}\n", "a.b", &of_s("S.t"));
    check("a: {s: {t: int}, b: {c: s.t + 1, d: s}}\n", "a.b", &of_s("S.t + 1"));
    check("#C: {a: int, b: a}\nv: #C.b\n", "v", "int\n");
    let both = "\n_#def\n_#def: {\n\tx: I\n\ty: I\n}\n\n//cue:path: i\nlet I = number\n";
    check("i: number\n#P: {x: i, y: i}\n", "#P", both);
}

#[test]
fn what_a_value_without_a_place_is_made_of_is_named() {
    check(
        "#D: {n: int, m: n + 1}\no: {x: (#D & {n: 3}).m}\n",
        "o",
        "x: M.#x\n\n//cue:path: #D.m\nlet M = {\n\t#x: N.#x + 1\n}\n\n\
         //cue:path: n\nlet N = {\n\t#x: 3\n}\n",
    );
}

#[test]
fn lets_of_a_part_stay_others_are_put_in() {
    check("i: int\ne: {let L = i, v: L}\n", "e", "\nlet L = i\nv: L\n");
    check(
        "i: int\nlet K = {p: i}\ne: {v: K, w: K.p}\n",
        "e",
        "v: p: int\nw: {\n\tp: I\n}.p\n\n//cue:path: i\nlet I = int\n",
    );
}

#[test]
fn loops_and_patterns_around_a_part_give_it_their_values() {
    check(
        "x: {a: {n: 1}, b: {n: 2}}\nout: {for k, v in x {(k): {w: v.n, q: v, key: k}}}\n",
        "out.a",
        "w:   1\nq:   A\nkey: \"a\"\n\n//cue:path: x.a\nlet A = {\n\tn: 1\n}\n",
    );
    // What begins on the line of its brace begins the file.
    check(
        "x: {a: {n: int}}\nout: {for k, v in x {(k): {w: v.n, q: k}}}\n",
        "out",
        "for k, v in X {\n\t(k): {\n\t\tw: v.n\n\t\tq: k\n\t}\n}\n\n\
         //cue:path: x\nlet X = {\n\ta: n: int\n}\n",
    );
    check("[N=string]: {name: N, ...}\nfoo: {x: 1}\n", "foo", "x:    1\nname: \"foo\"\n...\n");
    check(
        "x: {s: \"u\"}\ni: int\ndyn: {\"k\\(x.s)\": {v: i}, (x.s): {v: i}}\n",
        "dyn",
        "ku: v: I\nu: v:  I\n\n//cue:path: i\nlet I = int\n",
    );
}

#[test]
fn packages_stand_above_a_part_and_names_below_it() {
    check(
        "import \"struct\"\ns: {a: 1}\no: {c: struct.MaxFields(s & d, 3), d: {}}\n",
        "o",
        "import \"struct\"\n\nc: struct.MaxFields(S & d, 3)\nd: {}\n\n\
         //cue:path: s\nlet S = {\n\ta: 1\n}\n",
    );
    check("#A: {x: int, [string]: _}\n", "#A", "\n_#def\n_#def: {\n\tx: int\n\t...\n}\n");
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

#[test]
fn what_nobody_asks_for_is_looked_at_as_far_as_it_costs_little() {
    use std::fmt::Write as _;
    let mut text = "_b0: {v: 1}\n".to_owned();
    for n in 1..50 {
        let _ = writeln!(text, "_b{n}: {{l: _b{0} & {{m: {n}}}, r: _b{0} & {{m: -{n}}}}}", n - 1);
    }
    text.push_str("out: _b49.l.l.m\n");
    assert_eq!(printed(Verb::Export, &text, "out"), "48\n");
    assert_eq!(printed(Verb::Eval, &text, "out"), "48\n");
    // Nor is what a path leads through, or an expression beside.
    assert_eq!(printed(Verb::Export, &text, "_b49.r.l.m"), "48\n");
    assert_eq!(printed(Verb::Export, &text, "_b49.l.r.m + 1"), "-47\n");
}
