//! Programs of which only the order of fields is of interest: literals, embeddings, references, guards, loops and
//! computed labels over a few names, all of them with the same value; and what functions read and make.

use crate::programs::Dice;

const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f", "g", "h"];
const DEFINITIONS: &[&str] = &["#A", "#B", "#C"];
const FIELDS: &[&str] = &["x", "y", "z", "w"];
/// What data is called that a function has read or made.
const DATA: &[&str] = &["r", "s"];

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
    let mut known: Vec<&str> = match dice.roll(3) {
        0 => DATA.to_vec(),
        _ => Vec::new(),
    };
    lines.extend(known.iter().map(|name| format!("{name}: {}", data(dice))));
    for name in DEFINITIONS.iter().rev() {
        let body = body(dice, 1, &known, Of::Field);
        lines.push(format!("{name}: {}, ...}}", &body[..body.len() - 1]));
        known.push(name);
    }
    for name in FIELDS {
        for _ in 0..=dice.roll(4) / 3 {
            lines.push(format!("{name}: {}", whole(dice, &known)));
        }
    }
    if dice.roll(3) == 0 {
        dice.shuffle(&mut lines);
    }
    let text = lines.join("\n") + "\n";
    let used = PACKAGES.iter().filter(|it| text.contains(&format!("{}.", it.0)));
    let imports: String = used.map(|it| format!("import \"{}\"\n", it.1)).collect();
    imports + &text
}

/// Packages that functions are of, by name and path.
const PACKAGES: &[(&str, &str)] =
    &[("json", "encoding/json"), ("yaml", "encoding/yaml"), ("regexp", "regexp")];

/// A call that gives a struct.
fn data(dice: &mut Dice) -> String {
    let mut names = NAMES.to_vec();
    dice.shuffle(&mut names);
    names.truncate(1 + dice.roll(4));
    let all = |each: fn(&&str) -> String| names.iter().map(each).collect::<Vec<_>>();
    match dice.roll(3) {
        0 => format!("json.Unmarshal(#\"{{{}}}\"#)", all(|it| format!("\"{it}\": 1")).join(", ")),
        1 => format!("yaml.Unmarshal(\"{}\")", all(|it| format!("{it}: 1")).join("\\n")),
        _ => {
            // Its values are texts: names that nothing else has.
            let groups = all(|it| format!("(?P<{it}t>.)")).concat();
            format!("regexp.FindNamedSubmatch(#\"{groups}\"#, \"1111\")")
        }
    }
}

/// What a field at the top is.
fn whole(dice: &mut Dice, known: &[&str]) -> String {
    let named = |dice: &mut Dice| match dice.roll(5) {
        at @ (0 | 1) => ["x", "y"][at].to_owned(),
        _ => dice.one(known).to_owned(),
    };
    let body = |dice: &mut Dice| body(dice, 1, known, Of::Field);
    match dice.roll(11) {
        10 if known.contains(&DATA[0]) => format!("{} & {}", data(dice), body(dice)),
        0 | 1 => format!("{} & {}", named(dice), body(dice)),
        2 => format!("{} & {}", body(dice), dice.one(known)),
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
