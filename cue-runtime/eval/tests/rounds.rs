//! What goes round, what is shared, and what is marked: values as the official command prints them.

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation, Style};

const BUDGET: Budget = Budget { ticks: 500_000, depth: 500, bytes: 100 << 20 };

/// The whole as it is printed in one line, or its errors.
fn printed(text: &str) -> String {
    let program = compile_text(text).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let root = it.find("").expect("it evaluates").expect("the root is there");
    let wrong = it.validate(root, Concreteness::Optional);
    if wrong.is_empty() {
        let text = it.syntax(root, Style::Eval);
        return text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let told = wrong.iter().map(|it| format!("{}: {}", it.path, it.message));
    told.collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    assert_eq!(printed(text), wanted, "{text}");
}

#[test]
fn no_choice_is_made_where_a_reference_leads_to_what_encloses_it() {
    check("a: {c: {d: 1}} | {b: {x: 1} & a}", "a: { c: { d: 1 } } | { b: { x: 1 } }");
    check("a: [1] | [[2] & a]", "a: [1] | [[2]]");
    check(
        "#D: {id: string} | {[string]: #D}\n#D: {id: string} | {[string]: #D}\nx: #D & {a: id: \"i\"}",
        "#D: { id: string } | {} x: { a: { id: \"i\" } }",
    );
}

#[test]
fn what_may_be_absent_goes_round_one_lap_more() {
    check(
        "#X: null | {a: #X, b: int}\nx: #X & {a: #X & {b: 1}, b: 2}",
        "#X: null x: { a: { a: null b: 1 } b: 2 }",
    );
    check(
        "#T: {a: #T} | {d: 1}\nx: #T & {a: {}}",
        "#T: { d: 1 } x: { a: { a: { d: 1 } } | { d: 1 } }",
    );
    // What is a reference and no more shares what that is.
    check("T: {a: T} | {d: 1}\nx: {T}", "T: { d: 1 } x: { a: { d: 1 } } | { d: 1 }");
    // Both laps are fed by the same reference, and neither by anything else.
    check("y: [string]: b: y\nx: y\nx: c: y", "x.c.b.b.b.b.b: structural cycle");
    check("b: a\na: b: b: a\na", "a.b.b: structural cycle; b.b.b.b.b.b: structural cycle");
}

#[test]
fn references_to_one_definition_share_it() {
    check("#T: [\"a\", #T] | [\"d\"]\nx: #T\n#X: x\n#X: #T", "#T: [\"d\"] x: [\"d\"] #X: [\"d\"]");
    // What shares a value has it where it stands, and so has who asks for its parts.
    check(
        "#D: {s: #S, t: s.roles.x}\n#S: {roles: {}, if r {a: 1}, r: bool}",
        "#D: { s: { roles: {}, if r { a: 1 } r: bool } t: s.roles.x } \
         #S: { roles: {}, if r { a: 1 } r: bool }",
    );
}

#[test]
fn marks_are_counted_disjunction_by_disjunction() {
    for (text, wanted) in [
        ("((\"a\" | 4) | (1 | >2)) & (string | *(\"a\" | *4))", "\"a\" | 4"),
        ("(*(int | 3) | (>2 | *3)) & ((2 | \"a\" | *int) | *1 | *(4 | *string))", "1 | 4"),
        ("((*string | int | 2) | int) & (1 | *4)", "4"),
        ("(*int | string) & ((3 | 1) | (*\"a\" | *1 | *2))", "3 | 1 | 2 | \"a\""),
        // One side has lost all its marked ones by the second step.
        (
            "((0 | 1 | 2) | string) & (*(2 | 3) | (0 | 1 | 4) | string) & (*(0 | 3 | 4) | string)",
            "0",
        ),
        // `"a"` and `string` go on alike, but are two until then.
        ("(>2 | (\"a\" | *string)) & (\"a\" | *4)", "4 | \"a\""),
        // A bound is asked last: 1 still counts at the second step.
        ("((*1 | 4) | 2) & (2 | *4 | >2) & (int | \"a\")", "4 | 2"),
    ] {
        check(&format!("v: {text}"), &format!("v: {wanted}"));
    }
}

#[test]
fn what_a_pattern_writes_comes_before_references() {
    check(
        "#A: v: \"a\" | \"b\"\nh: [string]: #A\nh: a: v: *\"a\" | string\nh: [=~\"^b\"]: v: *h.a.v | string\nh: b: _",
        "#A: { v: \"a\" | \"b\" } h: { a: { v: \"a\" } b: { v: \"a\" } }",
    );
}

#[test]
fn a_call_finds_a_scalar_that_is_still_being_evaluated() {
    check(
        "import \"regexp\"\nY: h: \"m\"\nX: Y.h\nY: h: z.h\nz: regexp.FindNamedSubmatch(\"^(?P<h>[a-z]+)$\", X)",
        "Y: { h: \"m\" } X: \"m\" z: { h: \"m\" }",
    );
}

#[test]
fn values_as_they_are_written_have_the_attributes_of_their_own_fields() {
    check(
        "A: {\n\tfor v in src {\"\\(v)\": v}\n\tsrc: _\n\t@t(x)\n\tx: 1 @foo(a)\n\ty: z: 1 @foo(b)\n}",
        "A: { for v in src { \"\\(v)\": v } src: _ x: 1 @foo(a) y: { z: 1 } }",
    );
    check("a: [for x in b {@t(x), c: 1 @t(z)}]\nb: _", "a: [for x in b { c: 1 }] b: _");
}
