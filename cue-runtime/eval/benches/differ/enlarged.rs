//! Programs that others wrote, made large in one or two ways: a field, an operand, an alternative, a link of a chain,
//! a part of a list or of a struct as many times as `SIZE` says. What costs more than it should shows where it is many.

use crate::programs::{self, Dice};

/// What is written in place of a declaration: the way it grows, its label, its value, and how often.
type Growth = fn(&str, &str, usize) -> Vec<String>;

/// The ways in which a declaration `label: value` grows.
const GROWTHS: &[Growth] = &[
    // As many fields beside it that say the same.
    |label, value, n| beside(label, value, (0..n).map(|it| (it, value.to_owned()))),
    // The same field, said again and again.
    |label, value, n| vec![format!("{label}: {value}"); n],
    // Operands and alternatives.
    |label, value, n| vec![format!("{label}: {}", joined(n, " & ", |_| format!("({value})")))],
    |label, value, n| vec![format!("{label}: {}", joined(n, " | ", |_| format!("({value})")))],
    |label, value, n| vec![format!("{label}: {value} | {}", joined(n, " | ", |it| it.to_string()))],
    |label, value, n| {
        let apart = joined(n, " | ", |it| format!("{{k_{it}: {it}}}"));
        vec![format!("{label}: {value}"), format!("{label}: {apart}")]
    },
    |label, value, n| {
        vec![
            format!("{label}: {value}"),
            format!("{label}: {}", joined(n, " | ", |it| format!("int & >{it}"))),
        ]
    },
    // Lists.
    |label, value, n| {
        beside(label, value, [(0, format!("[{}]", joined(n, ", ", |_| value.to_owned())))])
    },
    |label, value, n| {
        let name = plain(label);
        beside(label, value, [(0, format!("[{}]", joined(n, ", ", |_| name.clone())))])
    },
    |label, value, n| {
        beside(label, value, [(0, format!("[for i in list.Range(0, {n}, 1) {{({value})}}]"))])
    },
    |label, value, n| {
        beside(
            label,
            value,
            [(0, format!("{{for i in list.Range(0, {n}, 1) {{\"f\\(i)\": {value}}}}}"))],
        )
    },
    // Chains: of names, of what is said beside a name, of what is embedded.
    |label, value, n| chain(label, value, n, |before, _| before.to_owned()),
    |label, value, n| chain(label, value, n, |before, at| format!("{before} & {{k_{at}: {at}}}")),
    |label, value, n| chain(label, value, n, |before, at| format!("{{{before}, k_{at}: {at}}}")),
    |label, value, n| chain(label, value, n, |before, _| format!("{{{before}}}")),
    |label, value, n| chain(label, value, n, |before, _| format!("{before} & ({before})")),
    |label, value, n| chain(label, value, n, |before, _| format!("{{f: {before}}}")),
    |label, value, n| chain(label, value, n, |before, _| format!("[{before}]")),
    |label, value, n| chain(label, value, n, |before, _| format!("*{before} | null")),
    |label, value, n| {
        chain(label, value, n, |before, _| format!("{{if {before} != _|_ {{{before}}}}}"))
    },
    |label, value, n| chain(label, value, n, |before, _| format!("close({before})")),
    // Depth.
    |label, value, n| vec![format!("{label}: {}{value}{}", "{d: ".repeat(n), "}".repeat(n))],
    |label, value, n| vec![format!("{label}: {}{value}{}", "[".repeat(n), "]".repeat(n))],
    |label, value, n| {
        vec![format!("{label}: {value}"), format!("{label}_n: {}{label}", "f: ".repeat(n))]
    },
    // Parts of the struct that is its value.
    |label, value, n| within(label, value, joined(n, ", ", |it| format!("k_{it}: {it}"))),
    |label, value, n| within(label, value, joined(n, ", ", |it| format!("k_{it}?: int"))),
    |label, value, n| within(label, value, joined(n, ", ", |it| format!("[=~\"^k{it}\"]: int"))),
    |label, value, n| {
        within(label, value, joined(n, ", ", |it| format!("if {it} > 0 {{k_{it}: {it}}}")))
    },
    |label, value, n| within(label, value, joined(n, ", ", |it| format!("{{k_{it}: {it}}}"))),
];

/// One of the programs, of which declarations stand `size` times: in one of some ways, or in any if these are none.
pub fn program(all: &[Vec<String>], size: usize, ways: &[usize], dice: &mut Dice) -> String {
    let mut lines = all[dice.roll(all.len())].clone();
    for _ in 0..1 + dice.roll(2) {
        let at = dice.roll(lines.len());
        let Some((label, value)) = lines[at].split_once(": ") else { continue };
        if value.is_empty()
            || !label.chars().all(|it| it.is_alphanumeric() || "_#\"?!".contains(it))
        {
            continue;
        }
        let grown = way(ways, dice)(label, value, 1 + size);
        // Twice the growth is too much of it.
        let long: usize = grown.iter().map(String::len).sum();
        if long < 200_000 {
            lines.splice(at..=at, grown);
        }
    }
    programs::with_imports(&lines)
}

fn way(ways: &[usize], dice: &mut Dice) -> Growth {
    let at = match ways {
        [] => dice.roll(GROWTHS.len()),
        some => some[dice.roll(some.len())] % GROWTHS.len(),
    };
    GROWTHS[at]
}

fn joined(n: usize, between: &str, each: impl Fn(usize) -> String) -> String {
    (0..n).map(each).collect::<Vec<_>>().join(between)
}

/// The label as it is referred to.
fn plain(label: &str) -> String {
    label.trim_end_matches(['?', '!']).to_owned()
}

/// The name of a field beside another one.
fn numbered(label: &str, at: usize) -> String {
    format!(
        "{}_{at}",
        plain(label).trim_matches('"').replace(|it: char| !it.is_alphanumeric() && it != '#', "_")
    )
}

fn beside(
    label: &str,
    value: &str,
    others: impl IntoIterator<Item = (usize, String)>,
) -> Vec<String> {
    let others = others.into_iter().map(|(at, it)| format!("{}: {it}", numbered(label, at)));
    std::iter::once(format!("{label}: {value}")).chain(others).collect()
}

fn chain(label: &str, value: &str, n: usize, link: impl Fn(&str, usize) -> String) -> Vec<String> {
    let first = match label.starts_with('"') {
        true => value.to_owned(),
        false => plain(label),
    };
    let links = (1..n).map(|at| (at, link(&numbered(label, at - 1), at)));
    beside(label, value, std::iter::once((0, first)).chain(links))
}

/// The declaration with more in its struct.
fn within(label: &str, value: &str, more: String) -> Vec<String> {
    vec![match value.strip_suffix('}') {
        Some(open) if value.starts_with('{') => {
            let between = if open.trim_end().ends_with(['{', ',']) { "" } else { ", " };
            format!("{label}: {open}{between}{more}}}")
        }
        _ => format!("{label}: {{{value}, {more}}}"),
    }]
}
