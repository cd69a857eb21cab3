//! Programs that have errors, as many as they are long: who vets a lot of data waits for these.

use std::fmt::Write as _;

use crate::sized::{Program, lines};

pub(crate) const PROGRAMS: &[Program] = &[
    ("conflicts", [1_000, 4_000, 16_000], |n| {
        lines("a: [string]: int\n", n, |at| format!("a: f{at}: \"x{at}\""))
    }),
    ("conflicts_referred_to", [1_000, 4_000, 16_000], |n| {
        lines("", n, |at| format!("a: f{at}: b.g{at}\nb: g{at}: {at} & string"))
    }),
    ("refused", [1_000, 4_000, 16_000], |n| {
        lines("#D: n?: int\n", n, |at| format!("a: f{at}: #D & {{x: 1}}"))
    }),
    ("refused_in_one", [500, 1_000, 4_000], |n| {
        lines("#D: n?: int\na: #D\n", n, |at| format!("a: x{at}: {at}"))
    }),
    ("no_alternative", [500, 2_000, 8_000], |n| {
        let choice = "#D: {kind: \"a\", n: int} | {kind: \"b\", m: string} | {kind: \"c\"}\n";
        lines(choice, n, |at| format!("a: f{at}: #D & {{kind: \"x\", n: {at}}}"))
    }),
    ("missing", [1_000, 4_000, 16_000], |n| {
        lines("#D: {n!: int, m!: string}\n", n, |at| format!("a: f{at}: #D"))
    }),
    ("loop", [30, 200, 1_000], |n| lines("", n, move |at| format!("a{at}: a{} + 1", (at + 1) % n))),
    ("lists_that_go_round", [3, 5, 7], |n| {
        let list = |name: &str| format!("[{}]", vec![name; n].join(", "));
        let mut text = format!("a: {}\nb: {}\n", list("b"), list("c"));
        let _ = write!(text, "c: {}\nc: {}\n", list("b").replacen('b', "{}", 1), list("d"));
        let _ = write!(text, "d: {}\ne: {}\n", list("e"), list("b"));
        text
    }),
];
