//! The order of fields where they are printed (O-1 to O-16): a program in, the text of `cue eval` out,
//! on one line.

mod validated;

use std::sync::Arc;

use cue_eval::{Budget, Evaluation, Profile, Source, Style, compile};

use crate::validated::validated;

const BUDGET: Budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };

#[track_caller]
fn check(text: &str, want: &str) {
    let (mut it, root) = validated(text);
    let words = it.syntax(root, Style::Eval);
    assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), want, "{text}");
}

#[test]
fn a_body_that_brings_nothing_has_no_place() {
    // It has named the field before: the order in which `for` meets it, not the one that is printed.
    check("if false {c: 1}\nb: 1\nc: 2", "b: 1 c: 2");
    check("if true {c: 2}\nb: 1\nc: 2", "c: 2 b: 1");
    check("for k, v in {} {y: v}\nb: 1\ny: 2\nq: y", "b: 1 y: 2 q: 2");
    check("x: {if false {if true {c: 1}}, b: 1, c: 2}", "x: { b: 1 c: 2 }");
    check(
        "x: {if false {c: 1}, b: 1, c: 2}\ny: [for k, v in x {k}]",
        "x: { b: 1 c: 2 } y: [\"c\", \"b\"]",
    );
}

#[test]
fn a_let_alone_is_one_place() {
    // All literals in it are reached by one reference, wherever they stand in it.
    check("let V = {if true {b: 1}, a: 1}\nx: V", "x: { a: 1 b: 1 }");
    check("let V = {z: {{b: 1}, a: 1}}\nx: V", "x: { z: { a: 1 b: 1 } }");
    check("let V = {{b: 1}, c: 2, a: 1}\nlet W = V\nx: W", "x: { b: 1 c: 2 a: 1 }");
    // What is selected from it is shared, with the order that it has.
    check("let V = {z: {{b: 1}, a: 1}}\nx: V.z", "x: { b: 1 a: 1 }");
    check("let V = [{{b: 1}, a: 1}]\nx: V[0]", "x: { b: 1 a: 1 }");
    check("let V = {z: {{b: 1}, a: 1}}\nx: V.z & {}", "x: { a: 1 b: 1 }");
}

#[test]
fn a_choice_that_came_down_to_one_is_an_operand() {
    check(
        "#A: {k: \"x\", f: int, c: 1} | {k: \"y\", f: int}\n_d: #A\nd: #A & {f: 1, k: \"x\"}",
        "#A: { k: \"x\" f: int c: 1 } | { k: \"y\" f: int } d: { f: 1 k: \"x\" c: 1 }",
    );
    check("d: a & {f: 1}\na: *{x: 1} | 1", "d: { f: 1 x: 1 } a: { x: 1 }");
    check("d: a & {f: 1}\na: *{x: 1} | {y: 1}", "d: { x: 1 f: 1 } a: { x: 1 }");
}

#[test]
fn a_copy_looks_as_if_it_shared() {
    // Beside something embedded, `_` or a pattern the reference has a value of its own.
    check("d: {{b: 1}, a: 2}\n{}\nf: d", "d: { b: 1 a: 2 } f: { b: 1 a: 2 }");
    check(
        "x: a: {{b: 1}, a: 2}\ny: z: x.a\ny: z: _",
        "x: { a: { b: 1 a: 2 } } y: { z: { b: 1 a: 2 } }",
    );
    check(
        "d: {{b: 1}, a: 2}\nr: {for k in [\"p\"] {(k): d}}",
        "d: { b: 1 a: 2 } r: { p: { b: 1 a: 2 } }",
    );
    // A definition closes it: it is evaluated again.
    check("d: {{b: 1}, a: 2}\n#p: d", "d: { b: 1 a: 2 } #p: { a: 2 b: 1 }");
    check("#x: {d: {{b: 1}, a: 2}, f: d}", "#x: { d: { b: 1 a: 2 } f: { b: 1 a: 2 } }");
    check(
        "x: {d: {{b: 1}, a: 2}, f: d}\ny: x & {}",
        "x: { d: { b: 1 a: 2 } f: { b: 1 a: 2 } } y: { d: { a: 2 b: 1 } f: { a: 2 b: 1 } }",
    );
}

#[test]
fn a_pattern_declares_each_field_it_applies_to() {
    check("x: {[string]: _, if true {b: 1}, a: 1}", "x: { a: 1 b: 1 }");
    check("x: {if true {b: 1}, [string]: _, a: 1}", "x: { b: 1 a: 1 }");
    check("x: {[=~\"b\"]: _, if true {b: 1}, a: 1}", "x: { b: 1 a: 1 }");
}

#[test]
fn a_let_is_a_declaration_as_well() {
    // The literal counts where its last declaration stands, behind the body.
    check("x: {b: 1, if true {f: S, b: 1}, let S = 2}", "x: { f: 2 b: 1 }");
    check("x: {b: 1, let S = 2, if true {f: S, b: 1}}", "x: { b: 1 f: 2 }");
}

#[test]
fn labels_that_a_let_names_come_last_and_in_reverse() {
    check("x: {for k in [\"a\", \"b\"] {let T = k, (T): 1}}", "x: { b: 1 a: 1 }");
    check("x: {for k in [\"a\", \"b\"] let T = k {(T): 1}}", "x: { a: 1 b: 1 }");
    check("x: {for k in [\"a\", \"b\"] {let T = k, \"\\(k)\": T}}", "x: { a: \"a\" b: \"b\" }");
    check("x: {for k in [\"a\", \"b\"] {let T = k, y: (T): 1}}", "x: { y: { a: 1 b: 1 } }");
    check(
        "x: [for k, _ in {let T = \"a\", (T): 1, let U = \"b\", (\"z\"): 1, (U): 1} {k}]",
        "x: [\"z\", \"b\", \"a\"]",
    );
}

#[test]
fn a_copy_of_a_let_has_the_order_of_what_that_names() {
    check(
        "x: {{c: 5}, b: 1}\nif false {d: 1}\nlet V = x\ne: V",
        "x: { c: 5 b: 1 } e: { c: 5 b: 1 }",
    );
    check("if false {d: 1}\nlet V = {{c: 5}, b: 1}\ne: V", "e: { b: 1 c: 5 }");
}

#[test]
fn alternatives_stand_beside_what_is_said_besides() {
    // Beside a choice operands count as declarations; a default that is a value of its own has operands.
    check("B: {{} | {b: 1}}\nx: B & {a: 1}", "B: {} | { b: 1 } x: { a: 1 } | { b: 1 a: 1 }");
    let text = "x: {z: 1} & (*{} | {y: int}) & {a: 1}";
    check(text, "x: { z: 1 a: 1 }");
    let (mut it, root) = validated(text);
    let json = it.datum(root).map(|it| cue_eval::evaluation::print_json(&it));
    assert_eq!(json.ok().as_deref(), Some(r#"{"x":{"a":1,"z":1}}"#));
    let yaml = it.yaml(root, &[]);
    assert_eq!(yaml.ok().as_deref(), Some("x:\n  z: 1\n  a: 1\n"));
    // Alone it is no operand.
    let (mut it, root) = validated("p: *{for v in [\"a\", \"b\"] {(v): 1}, b: 1} | {c: 1}");
    let json = it.datum(root).map(|it| cue_eval::evaluation::print_json(&it));
    assert_eq!(json.ok().as_deref(), Some(r#"{"p":{"b":1,"a":1}}"#));
}

#[test]
fn what_is_declared_comes_before_what_patterns_say() {
    // Both name one definition: the way by which it came first counts.
    let definition = "#S: {n: string, i: string, ...}\n";
    let printed = "#S: { n: string i: string }";
    for (text, want) in [
        ("s: [string]: #S\ns: a: #S & {n: \"x\"}", "s: { a: { n: \"x\" i: string } }"),
        ("s: {[string]: #S, a: #S & {k: 1}}", "s: { a: { k: 1 n: string i: string } }"),
        ("s: {a: {#S, k: 1}, [string]: #S}", "s: { a: { k: 1 n: string i: string } }"),
        (
            "s: {[string]: #S, [string]: j: 1, a: k: 1}",
            "s: { a: { n: string i: string j: 1 k: 1 } }",
        ),
    ] {
        check(&format!("{definition}{text}"), &format!("{printed} {want}"));
    }
}

#[test]
fn what_is_imported_keeps_the_order_of_its_package() {
    let package =
        "package p\nS: {[string]: c: 3}\nS: a: n: 1\nS: a: b: 2\n#D: {f: _}\n#D: {e: 1}\n";
    let packages = [("m.test/p".to_owned(), vec![Source::new("p.cue", package)])];
    for (main, want) in [
        ("o: p.S", "o: { a: { c: 3 n: 1 b: 2 } }"),
        ("o: p.S.a", "o: { c: 3 n: 1 b: 2 }"),
        ("o: p.#D\nq: [p.S.a]", "o: { f: _ e: 1 } q: [{ c: 3 n: 1 b: 2 }]"),
        ("o: p", "o: { S: { a: { c: 3 n: 1 b: 2 } } #D: { f: _ e: 1 } }"),
    ] {
        let main = Source::new("a.cue", format!("import \"m.test/p\"\n{main}\n"));
        let program = compile(&[main], &packages, Profile::V017).unwrap();
        let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
        let root = it.find("").unwrap().unwrap();
        let words = it.syntax(root, Style::Eval);
        assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), want);
    }
}
