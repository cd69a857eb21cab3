//! Programs of which only the order of fields is of interest: literals, embeddings, references, guards, loops and
//! computed labels over a few names, all of them with the same value.

use crate::programs::Dice;

const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f", "g", "h"];
const DEFINITIONS: &[&str] = &["#A", "#B", "#C"];
const FIELDS: &[&str] = &["x", "y", "z", "w"];

/// What a struct stands in.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Field,
    /// A loop over `x`.
    Loop,
}

/// How deep structs are.
const DEEPEST: usize = 3;

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (known, name) in DEFINITIONS.iter().enumerate() {
        let body = body(dice, 1, &DEFINITIONS[known + 1..], Of::Field);
        lines.push(format!("{name}: {}, ...}}", &body[..body.len() - 1]));
    }
    for name in FIELDS {
        for _ in 0..=dice.roll(4) / 3 {
            lines.push(format!("{name}: {}", whole(dice)));
        }
    }
    if dice.roll(3) == 0 {
        dice.shuffle(&mut lines);
    }
    lines.join("\n") + "\n"
}

/// What a field at the top is.
fn whole(dice: &mut Dice) -> String {
    let named = |dice: &mut Dice| dice.one(&["#A", "#B", "#C", "x", "y"]).to_owned();
    let body = |dice: &mut Dice| body(dice, 1, DEFINITIONS, Of::Field);
    match dice.roll(10) {
        0 | 1 => format!("{} & {}", named(dice), body(dice)),
        2 => format!("{} & {}", body(dice), dice.one(DEFINITIONS)),
        3 => format!("{} & {}", body(dice), body(dice)),
        4 => format!("{} & {} & {}", named(dice), dice.one(DEFINITIONS), body(dice)),
        _ => body(dice),
    }
}

/// A struct; `embeds` is what it may embed.
fn body(dice: &mut Dice, depth: usize, embeds: &[&str], of: Of) -> String {
    let most = if depth < DEEPEST { 4 } else { 2 };
    let mut all: Vec<String> =
        (0..=dice.roll(most)).map(|_| declaration(dice, depth, embeds)).collect();
    if of == Of::Loop && dice.roll(5) < 2 {
        let at = dice.roll(all.len() + 1);
        let inner = declaration(dice, depth + 1, embeds);
        all.insert(
            at,
            match dice.roll(3) {
                0 => "\"\\(x)q\": 1".to_owned(),
                1 => "\"q\\(x)\": 1".to_owned(),
                _ => format!("if x > 1 {{{inner}}}"),
            },
        );
    }
    format!("{{{}}}", all.join(", "))
}

fn declaration(dice: &mut Dice, depth: usize, embeds: &[&str]) -> String {
    let name = dice.one(NAMES);
    let nested = depth < DEEPEST;
    match dice.roll(34) {
        0 | 1 => format!("{name}?: 1"),
        2..=4 if nested => format!("if true {}", body(dice, depth + 1, embeds, Of::Field)),
        5 | 6 if nested => {
            let over = dice.one(&["[1]", "[1, 2]", "[2, 1]"]);
            format!("for x in {over} {}", body(dice, depth + 1, embeds, Of::Loop))
        }
        7 if nested => {
            format!("if true for x in [1, 2] {}", body(dice, depth + 1, embeds, Of::Loop))
        }
        8 if !embeds.is_empty() => dice.one(embeds).to_owned(),
        9 if nested => body(dice, depth + 1, embeds, Of::Field),
        10 => format!("\"{name}\": 1"),
        11 => format!("(\"{name}\"): 1"),
        12 => "[=~\"^[a-h]$\"]: _".to_owned(),
        13 => format!("_{name}: 1"),
        14 => format!("#{name}: 1"),
        15..=18 if nested => format!("{name}: {}", body(dice, depth + 1, embeds, Of::Field)),
        _ => format!("{name}: 1"),
    }
}
