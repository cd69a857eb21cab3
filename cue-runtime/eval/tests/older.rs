//! The profile of KubeVela: CUE as it was up to v0.14, with the evaluator KubeVela asks for. Each
//! value was asked of that version.

use std::sync::Arc;

use cue_eval::{Budget, Concreteness, Evaluation, Profile, Source, Style, compile};

#[track_caller]
fn check(text: &str, want: &str) {
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let source = Source::new("in.cue", text);
    let program = compile(&[source], &[], Profile::KubeVela).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    it.validate(root, Concreteness::Optional);
    assert_eq!(it.syntax(root, Style::Eval), want);
}

#[test]
fn div_and_its_like_are_operators() {
    check(
        "a: 7 div 2\nb: -7 mod 2\nc: 1 + 7 quo -2 * 2\nx: 9\nd: x rem 4 == 1\n",
        "a: 3\nb: 1\nc: -5\nx: 9\nd: true\n",
    );
    // They are names all the same.
    check(
        "let mod = 4\na: mod mod mod\ndiv: 8\nb: [div, div div 3]\n",
        "a:   0\ndiv: 8\nb: [8, 2]\n",
    );
    check("x: int\na: div(x, 2)\n", "x: int\na: div(x, 2)\n");
}

#[test]
fn bounds_that_one_number_meets_are_that_number() {
    check(
        "a: int & >=3 & <=3\nb: >=2 & <=2\nc: >=2.5 & <=2.5\nd: int & >2 & <4\ne: >2 & <4\n\
         f: uint8 & >254\ng: uint & <1\nh: {x: int & >=1 & <=1, y: x + 1}\ni: int & >=2.5 & <3.5\n",
        "a: 3\nb: 2\nc: 2.5\nd: 3\ne: >2 & <4\nf: 255\ng: 0\nh: {\n    x: 1\n    y: 2\n}\ni: 3\n",
    );
    check(
        "a: uint\nb: uint16 & >0\nc: uint & <10\nd: rune\ne: float64 & int\n",
        "a: int & >=0\nb: uint16 & >0\nc: uint & <10\nd: uint & <=1114111\ne: int & float64\n",
    );
}

#[test]
fn what_is_of_another_kind_is_not_compared() {
    check(
        "a: null == {}\nb: 1 == 1.0\nc: [1] == [1.0]\nd: [{x: 1}] == [{x: 1}]\ne: (\"a\" == 1) == _|_\n\
         f: *({} == {}) | \"no\"\ng: *(true != 1) | \"no\"\n",
        "a: false\nb: true\nc: false\nd: true\ne: true\nf: \"no\"\ng: \"no\"\n",
    );
}

#[test]
fn a_path_into_a_definition_closes_by_another_name_too() {
    check(
        "#D: a: b: int\np: #D.a\nx: (*(p & {c: 1}) | 0)\ny: {p, c: 1}\nq: #D\nr: q.a\nz: (*(r & {c: 1}) | 0)\n",
        "#D: {\n    a: {\n        b: int\n    }\n}\np: {\n    b: int\n}\nx: 0\ny: {\n    b: int\n    c: 1\n}\n\
         q: {\n    a: {\n        b: int\n    }\n}\nr: {\n    b: int\n}\nz: {\n    b: int\n    c: 1\n}\n",
    );
}

#[test]
fn what_is_embedded_is_ordered_where_it_stands() {
    check(
        "p: {x: 1}\nq: {y: 1, b: 2}\na: {m: 0, p, k: 0, q, c: 0}\nd: {p, m: 1, x: 1}\ne: [for v in [p] {v, n: 1}]\n",
        "p: {\n    x: 1\n}\nq: {\n    y: 1\n    b: 2\n}\n\
         a: {\n    x: 1\n    y: 1\n    b: 2\n    m: 0\n    k: 0\n    c: 0\n}\nd: {\n    x: 1\n    m: 1\n}\n\
         e: [{\n    x: 1\n    n: 1\n}]\n",
    );
}

#[test]
fn what_is_embedded_by_a_path_is_ordered_where_it_stands() {
    check(
        "p: q: {x: 1, y: 2}\na: {p.q, m: 0}\nb: {m: 0, p.q, k: 0}\n",
        "p: {\n    q: {\n        x: 1\n        y: 2\n    }\n}\na: {\n    x: 1\n    y: 2\n    m: 0\n}\n\
         b: {\n    x: 1\n    y: 2\n    m: 0\n    k: 0\n}\n",
    );
}

#[test]
fn who_names_a_required_field_gets_its_value() {
    check(
        "p: {r!: *1 | int, s!: int, l!: []}\na: p.r + 1\nb: \"\\(p.r)\"\nc: p.s\nd: len(p.l)\n\
         e: [if p.r != _|_ {1}, 2][0]\nf: [if p.s != _|_ {1}, 2][0]\ng: {r!: *1 | int, x: r}\nh: g & {r: 3}\n",
        "p: {\n    r!: 1\n    s!: int\n    l!: []\n}\na: 2\nb: \"1\"\nc: int\nd: 0\ne: 1\nf: 2\n\
         g: {\n    r!: 1\n    x:  1\n}\nh: {\n    r: 3\n    x: 3\n}\n",
    );
}

#[test]
fn what_refers_to_itself() {
    // A list of its own elements has none, and what is closed has no other fields, whoever asks.
    check("a: [for v in a {v}]\nb: c: [for v in b.c {v}]\n", "a: []\nb: {\n    c: []\n}\n");
    check(
        "#A: a: int\nx: (*(#A & {a: x.b}) | 0)\ny: *(#A & {}).b | 1\n",
        "#A: {\n    a: int\n}\nx: 0\ny: 1\n",
    );
    // Nothing is shared: each is printed as it is written.
    check("z: {X=a: y.b, c: X}\ny: {}\n", "z: {\n    a: y.b\n    c: X\n}\ny: {}\n");
}

#[test]
fn bounds_are_of_the_kind_of_their_value() {
    check("a: !=2\na: (*\"x\" | 0)\nb: =~\"x\"\nb: ('x' | \"xy\")\n", "a: 0\nb: \"xy\"\n");
}

#[test]
fn a_definition_that_is_a_call_of_close_is_closed_throughout() {
    check(
        "#B: close({a: b: 1})\nx: (*(#B & {a: c: 1}) | 0)\n",
        "#B: {\n    a: {\n        b: 1\n    }\n}\nx: 0\n",
    );
}

#[test]
fn patterns_keep_alternatives_apart() {
    check("a: {[string]: int} | {[string]: bool}\n", "a: {} | {}\n");
}

#[test]
fn a_label_of_a_pattern_that_fails_matches_nothing() {
    check(
        "m: [string]: [(string & int)]: int\nm: a: b: 1\nn: {[1 & 2]: int, x: 1}\n",
        "m: {\n    a: {\n        b: 1\n    }\n}\nn: {\n    x: 1\n}\n",
    );
}

#[test]
fn fields_of_a_body_count_apart_from_what_it_embeds() {
    // What a comprehension brings, fields that are literals and what is in these; what is computed, an operand or an
    // element is a value of its own.
    check(
        "p: {i: 2, a: 3}\nq: {i: 2, y: int}\na: {if true {s: {z: 1, p}}}\n\
         b: {if true {s: {z: 1, p, y: 3}}}\nc: {if true {z: 1, p}}\nd: {s: {z: 1, p}}\n\
         e: {if true {s: t: {z: 1, y: 3, p}}}\nf: {for x in [1] {s: {z: 1, p}}}\n\
         g: {if true {s: {z: 1, y: 1, q}}}\nh: {if true {s: {z: 1, y: 1, q, x: 1}}}\n\
         i: {if true {{s: {z: 1, p}}}}\nj: {if true {s: {z: 1, p} & {b: 1}}}\n\
         k: {if true {s: [{z: 1, p}]}}\nl: {for x in [\"s\"] {(x): {z: 1, p}}}\n\
         m: {if true {if true {s: {z: 1, p}}}}\nn: [if true {z: 1, p}]\n",
        "p: {\n    i: 2\n    a: 3\n}\nq: {\n    i: 2\n    y: int\n}\na: {\n    s: {\n\
         \x20       z: 1\n        i: 2\n        a: 3\n    }\n}\nb: {\n    s: {\n\
         \x20       i: 2\n        a: 3\n        z: 1\n        y: 3\n    }\n}\nc: {\n\
         \x20   z: 1\n    i: 2\n    a: 3\n}\nd: {\n    s: {\n        i: 2\n        a: 3\n\
         \x20       z: 1\n    }\n}\ne: {\n    s: {\n        t: {\n            z: 1\n\
         \x20           y: 3\n            i: 2\n            a: 3\n        }\n    }\n}\n\
         f: {\n    s: {\n        z: 1\n        i: 2\n        a: 3\n    }\n}\ng: {\n\
         \x20   s: {\n        z: 1\n        i: 2\n        y: 1\n    }\n}\nh: {\n    s: {\n\
         \x20       i: 2\n        y: 1\n        z: 1\n        x: 1\n    }\n}\ni: {\n\
         \x20   s: {\n        i: 2\n        a: 3\n        z: 1\n    }\n}\nj: {\n    s: {\n\
         \x20       b: 1\n        i: 2\n        a: 3\n        z: 1\n    }\n}\nk: {\n\
         \x20   s: [{\n        i: 2\n        a: 3\n        z: 1\n    }]\n}\nl: {\n    s: {\n\
         \x20       i: 2\n        a: 3\n        z: 1\n    }\n}\nm: {\n    s: {\n\
         \x20       z: 1\n        i: 2\n        a: 3\n    }\n}\nn: [{\n    i: 2\n    a: 3\n\
         \x20   z: 1\n}]\n",
    );
}
