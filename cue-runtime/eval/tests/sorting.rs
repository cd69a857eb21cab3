//! `list.Sort` and `list.IsSorted`: what comparators may be, and what comparing costs.

use std::sync::Arc;

use cue_eval::evaluation::{compile_text, print_json};
use cue_eval::{Budget, Concreteness, Evaluation};

const BUDGET: Budget = Budget { ticks: 100_000, depth: 400, bytes: 16 << 20 };

/// `out` as JSON, or the first error.
fn out(text: &str, budget: Budget) -> String {
    let text =
        format!("import (\n\"list\"\n\"strings\"\n)\n_used: strings.ToUpper(\"\")\n{text}\n");
    let program = Arc::new(compile_text(&text).expect("it compiles"));
    let mut it = Evaluation::start(program, &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    if let Some(wrong) = it.validate(root, Concreteness::Optional).into_iter().next() {
        return format!("{}: {}", wrong.path, wrong.message);
    }
    let found = it.find("out").expect("it evaluates").expect("it is there");
    it.datum(found).map_or_else(|all| all[0].message.clone(), |it| print_json(&it))
}

#[test]
fn comparators_compute_less_from_what_x_and_y_are() {
    let call = "error in call to list.Sort: ";
    for (list, comparator, wanted) in [
        ("[3, 1, 2]", "list.Ascending", "[1,2,3]"),
        (r#"["a", "b"]"#, "list.Descending", r#"["b","a"]"#),
        ("[3, 1, 2]", "{T: int, x: T, y: T, less: x > y}", "[3,2,1]"),
        ("[3, 1, 2]", "list.Comparer & {x: int, y: int, less: x < y}", "[1,2,3]"),
        ("[{a: 2}, {a: 1}]", "{x: {}, y: {}, less: x.a < y.a}", r#"[{"a":1},{"a":2}]"#),
        // A default of the one side.
        (
            "[{a: 2}, {}]",
            "{x: {a: *1 | int}, y: {a: *1 | int}, less: x.a < y.a}",
            r#"[{},{"a":2}]"#,
        ),
        // What stands around it, and between.
        ("[{a: 2}, {a: 1}]", "{x: _, y: _, less: x[_k] < y[_k]}", r#"[{"a":1},{"a":2}]"#),
        ("[{a: 2}, {a: 1}]", "{x: _, y: _, p: x.a, less: p < y.a}", r#"[{"a":1},{"a":2}]"#),
        ("[{a: 2}, {a: 1}]", "{x: _, y: _, let p = x.a, less: p < y.a}", r#"[{"a":1},{"a":2}]"#),
        (
            r#"["B", "a"]"#,
            "{x: string, y: string, less: strings.ToLower(x) < strings.ToLower(y)}",
            r#"["a","B"]"#,
        ),
        (
            "[{a: 1, b: 2}, {a: 1, b: 1}]",
            "{x: _, y: _, less: [if x.a != y.a {x.a < y.a}, x.b < y.b][0]}",
            r#"[{"a":1,"b":1},{"a":1,"b":2}]"#,
        ),
        // What is optional is there for who compares.
        ("[{a: 2}, {a: 1}]", "{x?: _, y?: _, less: x.a < y.a}", r#"[{"a":1},{"a":2}]"#),
        ("[2, 1]", "{x: _, y: _, less?: x < y}", &format!("out: {call}field not found: less")),
        (
            "[{a: 1}, {b: 1}]",
            "{x: {}, y: {}, less: x.a < y.a}",
            &format!("out: {call}undefined field: a"),
        ),
        (
            r#"[{a: 1}, {a: "x"}]"#,
            "{x: {a: int}, y: {a: int}, less: x.a < y.a}",
            &format!(
                "out: {call}conflicting values int and \"x\" (mismatched types int and string)"
            ),
        ),
        // What is not allowed there has no part in comparing.
        (
            "[{a: 1, b: 1}, {a: 0}]",
            "close({x: close({a: int}), y: close({a: int}), less: x.a < y.a})",
            r#"[{"a":0},{"a":1,"b":1}]"#,
        ),
    ] {
        let text = format!("_k: \"a\"\nout: list.Sort({list}, {comparator})");
        assert_eq!(out(&text, BUDGET), wanted, "{list} {comparator}");
    }
}

#[test]
fn elements_may_be_in_order() {
    for (list, wanted) in
        [("[1, 1, 2]", "true"), ("[2, 1]", "false"), ("[]", "true"), ("[1, \"a\"]", "false")]
    {
        let text = format!("out: list.IsSorted({list}, list.Ascending)");
        assert_eq!(out(&text, BUDGET), wanted, "{list}");
    }
}

/// Two thousand structs, compared 20,000 times.
const MANY: &str =
    "_l: [for i in list.Range(0, 2000, 1) {a: mod(i*7919, 2003), b: \"b\\(i)\", c: {d: i}}]";

#[test]
fn what_is_compared_is_made_once_however_often_it_is() {
    let budget = Budget { ticks: 200_000, bytes: 16 << 20, ..BUDGET };
    let sorted = "list.Sort(_l, {x: {}, y: {}, less: x.a < y.a})";
    let first = r#"{"a":0,"b":"b0","c":{"d":0}}"#;
    // Nor is a list sorted again when what is read of it is validated.
    for at in ["[0]", "[0].a"] {
        let wanted = if at == "[0]" { first } else { "0" };
        assert_eq!(out(&format!("{MANY}\nout: {sorted}{at}"), budget), wanted);
    }
}
