//! Many disjunctions of one value that have alternatives in common: what is asked for is the value that is left of
//! them beside a literal.

use crate::sized::{Program, lines};

pub(crate) const PROGRAMS: &[Program] = &[
    ("same", [10, 50, 200], |n| chosen(n, "{c: \"x\"}", |_| "{} | {c: string}".to_owned())),
    ("same_bounds", [10, 50, 200], |n| chosen(n, "5", |_| ">0 | >1 | <10".to_owned())),
    ("same_names", [10, 50, 200], |n| {
        let names = "#A: {a: int, ...}\n#B: {b: int, ...}\n";
        names.to_owned() + &chosen(n, "{a: 1, b: 2}", |_| "#A | #B".to_owned())
    }),
    ("some_in_common", [10, 50, 200], |n| {
        chosen(n, "{c0: 1, c1: 1, c2: 1}", |at| format!("{{}} | {{c{}: int}}", at % 3))
    }),
    ("closed", [10, 50, 200], |n| {
        let text = chosen(n, "{c: \"x\"}", |_| "{a: int} | {c: string}".to_owned());
        text.replace('d', "#d")
    }),
    ("closed_names", [10, 50, 200], |n| {
        let text = chosen(n, "{a: 1}", |_| "#A | #B".to_owned()).replace('d', "#d");
        format!("#A: {{a: int}}\n#B: {{b: int}}\n{text}")
    }),
    ("in_literals", [10, 50, 200], |n| {
        let literal = "{d: *false | bool, s: *close({url: string}) | close({name: string})}";
        format!("out: {}\nout: s: name: \"n\"\n", vec![literal; n].join(" & "))
    }),
    ("brought", [10, 50, 200], |n| {
        let parts = lines("", n, |_| "b: *\"q\" | string".to_owned());
        format!("a: b | \"x\"\n{parts}out: a & \"q\"\n")
    }),
    ("bounds_apart", [6, 9, 12], |n| {
        chosen(n, "{c: 0}", |at| format!("{{}} | {{c: int}} | {{c: <{}}}", at + 1))
    }),
    ("tagged", [6, 9, 12], |n| {
        let tags: Vec<String> = (0..n).map(|at| format!("t{at}: \"b\"")).collect();
        chosen(n, &format!("{{{}}}", tags.join(", ")), |at| {
            format!("{{t{at}: \"a\", v?: int}} | {{t{at}: \"b\", v?: string}}")
        })
    }),
];

/// A value that must be each of some choices, and `out`, which is that and a literal.
fn chosen(count: usize, literal: &str, choice: impl Fn(usize) -> String) -> String {
    let choices = lines("", count, |at| format!("d{at}: {}", choice(at)));
    let names: Vec<String> = (0..count).map(|at| format!("d{at}")).collect();
    format!("{choices}x: {}\nout: x & {literal}\n", names.join(" & "))
}
