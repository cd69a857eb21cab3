//! Programs near what users write, made by chance: definitions and what they close, disjunctions with
//! defaults, patterns, comprehensions, aliases, interpolations, builtin functions, references to and fro.

use cue_eval::builtin::packages;

/// Chance that can be repeated.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.roll(100) < chance
    }

    /// Puts all in another order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.roll(at + 1));
        }
    }

    /// One of several.
    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

/// The kinds of fields: most of what is said of a field suits its kind, or nothing would have a value.
#[derive(Clone, Copy)]
enum Suit {
    Int,
    Text,
    Struct,
    List,
}

const TOPS: &[&str] = &["p", "q", "x", "y", "z"];
const DEFINITIONS: &[&str] = &["#A", "#B", "#C"];

const INTS: &[&str] = &[
    "int",
    "number",
    "*1 | int",
    "int | *2 | 3",
    "*1 | 2",
    ">0",
    "int & <10",
    ">=0 & <=3",
    "!=2",
    "uint8",
    "1 | 2",
    "5",
    "matchN(1, [int, string])",
    "null | int",
    "*null | int",
    "int | string",
    "_",
];
const TEXTS: &[&str] = &[
    "string",
    "*\"x\" | string",
    "\"x\" | \"y\"",
    "*\"x\" | \"y\"",
    "\"x\" | *\"y\" | \"z\"",
    "!=\"z\"",
    "=~\"^[a-z]+$\"",
    "!~\"^z\"",
    "strings.MinRunes(1)",
    "strings.MaxRunes(3)",
    "_",
    "string & !=\"\"",
    "null | string",
    "\"x\"",
    "bytes | string",
];
const LISTS: &[&str] = &[
    "[...int]",
    "[...]",
    "[int, ...]",
    "[_, _]",
    "*[] | [...int]",
    "*[1, 2] | [...]",
    "list.MaxItems(2)",
    "list.UniqueItems()",
    "[...(int | string)]",
    "[...number]",
    "_",
];
const STRUCTS: &[&str] = &[
    "{...}",
    "{[string]: int}",
    "{[string]: _}",
    "struct.MaxFields(3)",
    "struct.MinFields(1)",
    "_",
    "{a?: int, ...}",
    "*null | {a: int}",
    "matchN(>0, [string, {a?: int}])",
    "{a: int} | {name: string}",
    "close({a?: int, b?: int})",
    "{} | {a: 1}",
];

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    for name in DEFINITIONS {
        for _ in 0..=dice.roll(8) / 7 {
            let body = match dice.roll(9) {
                0 => format!("{} & {}", dice.one(DEFINITIONS), body(dice, 2)),
                1 => format!("{} | {}", tagged(dice, "x"), tagged(dice, "y")),
                2 => format!("*{} | {}", tagged(dice, "x"), tagged(dice, "y")),
                _ => body(dice, 1),
            };
            lines.push(format!("{name}: {body}"));
        }
    }
    for name in TOPS {
        for _ in 0..=dice.roll(6) / 5 {
            lines.push(format!("{name}: {}", whole(dice)));
        }
    }
    if dice.percent(20) {
        lines.push(format!("let L = {}", any(dice, 1)));
        lines.push(format!("l: {}", dice.one(&["L", "[L, L]", "{a: L}", "L & int", "\"\\(L)\""])));
    }
    dice.shuffle(&mut lines);
    with_imports(&lines)
}

/// The lines, with the packages that they need.
pub fn with_imports(lines: &[String]) -> String {
    let text = lines.join("\n");
    let used = packages().iter().filter(|it| names_of(&text, it.local_name()));
    let imports: Vec<String> = used.map(|it| format!("import \"{}\"\n", it.path)).collect();
    format!("{}\n{text}\n", imports.concat())
}

/// Whether something of a package is named: its names begin in upper case.
fn names_of(text: &str, package: &str) -> bool {
    let dotted = format!("{package}.");
    text.match_indices(&dotted).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let named = text[at + dotted.len()..].starts_with(|it: char| it.is_ascii_uppercase());
        named && !before.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '.')
    })
}

/// The lines without the imports.
pub fn declarations(text: &str) -> Vec<String> {
    let plain = |it: &&str| !it.is_empty() && !it.starts_with("import ");
    text.lines().filter(plain).map(str::to_owned).collect()
}

/// The parts of a program that stand alone: a field with all that it names, `most` lines or fewer.
pub fn parts(text: &str, most: usize) -> Vec<String> {
    let lines = declarations(text);
    let name = |line: &String| line.split(':').next().unwrap_or_default().to_owned();
    let names = |line: &str, name: &str| {
        let part = |it: char| it.is_alphanumeric() || it == '#';
        line.split(|it| !part(it)).any(|it| it == name)
    };
    let mut parts = Vec::new();
    for top in TOPS {
        let mut wanted = vec![(*top).to_owned()];
        let mut at = 0;
        while let Some(next) = wanted.get(at).cloned() {
            at += 1;
            for line in lines.iter().filter(|it| name(it) == next) {
                for other in TOPS.iter().chain(DEFINITIONS) {
                    let known = wanted.iter().any(|it| it == other);
                    if names(line.split_once(':').map_or("", |it| it.1), other) && !known {
                        wanted.push((*other).to_owned());
                    }
                }
            }
        }
        let own: Vec<String> =
            lines.iter().filter(|it| wanted.contains(&name(it))).cloned().collect();
        let part = with_imports(&own);
        if own.len() <= most && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// The same program, last line first.
pub fn backwards(text: &str) -> String {
    let mut lines = declarations(text);
    lines.reverse();
    with_imports(&lines)
}

/// What a field at the top is.
fn whole(dice: &mut Dice) -> String {
    let definition = dice.one(DEFINITIONS);
    match dice.roll(18) {
        0..3 => format!("{definition} & {}", given(dice, 1)),
        3 => format!("{{{definition}, {}", &given(dice, 1)[1..]),
        4 => format!("({definition} | {}) & {}", dice.one(DEFINITIONS), given(dice, 1)),
        5 => format!("[string]: {definition}"),
        6 => format!("{{[string]: {}}} & {{a: {{}}}}", body(dice, 2)),
        7 => format!("[...{definition}] & [{}]", given(dice, 1)),
        8 => format!("*{} | {}", given(dice, 1), body(dice, 1)),
        9 => format!("close({})", given(dice, 1)),
        10 => body(dice, 1),
        11 => any(dice, 0),
        _ => given(dice, 0),
    }
}

/// The name of a field and its kind.
fn named(dice: &mut Dice) -> (&'static str, Suit) {
    [
        ("a", Suit::Int),
        ("b", Suit::Int),
        ("name", Suit::Text),
        ("kind", Suit::Text),
        ("c", Suit::Struct),
        ("d", Suit::List),
    ][dice.roll(6)]
}

/// A struct of constraints.
fn body(dice: &mut Dice, depth: usize) -> String {
    let mut all = Vec::new();
    for _ in 0..=dice.roll(3) {
        all.push(match dice.roll(20) {
            0 | 1 => "...".to_owned(),
            2 => format!("[=~\"^{}\"]: _", dice.one(&["a", "k", "n"])),
            3 => format!("[=~\"^a\"]: {}", constraint(dice, Suit::Int, depth + 1)),
            4 if depth > 1 => dice.one(DEFINITIONS).to_owned(),
            5 => format!("if {} {{{}}}", condition(dice), field(dice, depth + 1)),
            6 => format!("let M = {}, c: M", value(dice, Suit::Struct, depth + 1)),
            7 => format!("V=name: {}, kind: \"\\(V)\"", constraint(dice, Suit::Text, depth + 1)),
            8 => format!("a: int, b: a + {}", dice.roll(3)),
            9 => {
                let (name, suit) = named(dice);
                format!("{name}: {}", value(dice, suit, depth + 1))
            }
            _ => field(dice, depth + 1),
        });
    }
    format!("{{{}}}", all.join(", "))
}

fn field(dice: &mut Dice, depth: usize) -> String {
    let (name, suit) = named(dice);
    let mark = dice.one(&["", "", "?", "?", "!"]);
    format!("{name}{mark}: {}", constraint(dice, suit, depth))
}

fn tagged(dice: &mut Dice, tag: &str) -> String {
    format!("{{kind: \"{tag}\", {}}}", field(dice, 2))
}

fn suited(dice: &mut Dice, suit: Suit) -> Suit {
    match dice.roll(50) {
        0 => Suit::Int,
        1 => Suit::Text,
        2 => Suit::Struct,
        3 => Suit::List,
        _ => suit,
    }
}

fn constraint(dice: &mut Dice, suit: Suit, depth: usize) -> String {
    match suited(dice, suit) {
        Suit::Int => dice.one(INTS).to_owned(),
        Suit::Text => dice.one(TEXTS).to_owned(),
        Suit::List if depth < 3 && dice.percent(25) => format!("[...{}]", body(dice, depth + 1)),
        Suit::List => dice.one(LISTS).to_owned(),
        Suit::Struct if depth > 2 || dice.percent(45) => dice.one(STRUCTS).to_owned(),
        Suit::Struct => match dice.roll(6) {
            0 | 1 => dice.one(DEFINITIONS).to_owned(),
            2 => format!("{} | {}", tagged(dice, "x"), tagged(dice, "y")),
            3 => format!("*{} | {}", tagged(dice, "x"), tagged(dice, "y")),
            _ => body(dice, depth + 1),
        },
    }
}

/// A struct of values.
fn given(dice: &mut Dice, depth: usize) -> String {
    let mut all = Vec::new();
    for _ in 0..dice.roll(4) + usize::from(depth == 0) {
        let (name, suit) = named(dice);
        all.push(match dice.roll(24) {
            18 => seldom_given(dice, depth),
            0 => format!("if {} {{{name}: {}}}", condition(dice), value(dice, suit, depth + 1)),
            1 => format!("for k, v in {} {{\"\\(k)\": v}}", reference(dice, Suit::Struct)),
            2 => format!("for v in [\"a\", \"b\"] {{(v): {}}}", value(dice, Suit::Int, depth + 1)),
            3 => {
                format!("\"\\({})\": {}", reference(dice, Suit::Text), value(dice, suit, depth + 1))
            }
            4 => format!("{name}: {}", constraint(dice, suit, depth + 1)),
            5 => format!("X=a: {}, b: X", value(dice, Suit::Int, depth + 1)),
            _ => format!("{name}: {}", value(dice, suit, depth + 1)),
        });
    }
    format!("{{{}}}", all.join(", "))
}

/// What few structs have.
fn seldom_given(dice: &mut Dice, depth: usize) -> String {
    let (name, suit) = named(dice);
    match dice.roll(12) {
        0 => format!("_h: {}, {name}: _h", value(dice, suit, depth + 1)),
        1 => format!("#N: {}, c: #N", body(dice, depth + 1)),
        2 => format!("\"a-b\": {}", value(dice, suit, depth + 1)),
        3 => format!("({}): {}", reference(dice, Suit::Text), value(dice, suit, depth + 1)),
        4 => format!("Y=c: {{a: 1, b: Y.a}}, a: {}", value(dice, Suit::Int, depth + 1)),
        5 => format!("for i, v in {} {{\"\\(i)\": v}}", reference(dice, Suit::List)),
        6 => {
            let of = reference(dice, Suit::Struct);
            format!("for k, v in {of} let w = v if k != \"a\" {{\"\\(k)\": w}}")
        }
        7 => format!(
            "for x in {} for y in [1, 2] {{\"\\(x)\\(y)\": y}}",
            reference(dice, Suit::List)
        ),
        8 => format!("[K=string]: {{name: K, a?: {}}}", constraint(dice, Suit::Int, depth + 2)),
        9 => format!("{name}: {} @x(y, z=1)", value(dice, suit, depth + 1)),
        10 => format!(
            "if {} if {} {{{name}: {}}}",
            condition(dice),
            condition(dice),
            value(dice, suit, depth + 1)
        ),
        _ => format!("{name}?: {}", constraint(dice, suit, depth + 1)),
    }
}

/// Numbers as few write them.
fn seldom_int(dice: &mut Dice) -> String {
    let of = reference(dice, Suit::Int);
    match dice.roll(10) {
        0 => format!("-{of}"),
        1 => format!("div({of}, 2) + mod({of}, 2)"),
        2 => format!("[if {of} > 1 && {of} < 5 {{1}}, if !({of} == 2) {{3}}, 4][0]"),
        3 => format!("{}[0]", reference(dice, Suit::List)),
        4 => format!("{of} / 2"),
        5 => dice
            .one(&["0x1F", "1_000", "1K", "1.5e3", "-3", "0b101", "2 * 3", "0.1 + 0.2"])
            .to_owned(),
        6 => format!("*{of} | 3"),
        7 => format!("len(\"\\({})\")", reference(dice, Suit::Text)),
        8 => format!("error(\"no \\({of})\")"),
        _ => format!("{{{}, #d: {of}}}", dice.one(&["1", "2", "int"])),
    }
}

/// Lists as few write them.
fn seldom_list(dice: &mut Dice) -> String {
    let of = reference(dice, Suit::List);
    match dice.roll(8) {
        0 => format!("{of}[0:1]"),
        1 => format!("[for i, v in {of} {{i}}, {}]", any(dice, 3)),
        2 => format!("{of} & [...{}]", constraint(dice, Suit::Int, 3)),
        3 => format!("[...{}] & [{}, ...]", constraint(dice, Suit::Int, 3), any(dice, 3)),
        4 => format!("[for x in {of} for y in [1, 2] if x != y {{a: x, b: y}}]"),
        5 => format!("[if {} {{1}}, {}]", condition(dice), any(dice, 3)),
        6 => format!("[[{}], {of}]", any(dice, 3)),
        _ => format!("list.Slice({of}, 0, {})", dice.roll(3)),
    }
}

fn reference(dice: &mut Dice, suit: Suit) -> String {
    let top = dice.one(TOPS);
    let deep = dice.percent(15);
    match suit {
        Suit::Int if deep => format!("{top}.c.a"),
        Suit::Int => format!("{top}.{}", dice.one(&["a", "b"])),
        Suit::Text if deep => format!("{top}.c.name"),
        Suit::Text => format!("{top}.{}", dice.one(&["name", "kind"])),
        Suit::Struct if dice.percent(50) => top.to_owned(),
        Suit::Struct => format!("{top}.c"),
        Suit::List => format!("{top}.d"),
    }
}

fn condition(dice: &mut Dice) -> String {
    match dice.roll(9) {
        0 => "true".to_owned(),
        1 => format!("{} > 1", reference(dice, Suit::Int)),
        2 => format!("{} == \"x\"", reference(dice, Suit::Text)),
        3 => {
            let of = reference(dice, Suit::Struct);
            format!("({of} & {}) != _|_", dice.one(&["{...}", "[...]", "string", "{a: int}"]))
        }
        4 => format!("len({}) > 0", reference(dice, Suit::List)),
        5 => format!("{} == _|_", reference(dice, Suit::Text)),
        6 => format!("{} != _|_", reference(dice, Suit::Text)),
        _ => format!("{} != _|_", reference(dice, Suit::Int)),
    }
}

fn any(dice: &mut Dice, depth: usize) -> String {
    let (_, suit) = named(dice);
    value(dice, suit, depth)
}

fn value(dice: &mut Dice, suit: Suit, depth: usize) -> String {
    let suit = suited(dice, suit);
    let plain = depth > 3 || dice.percent(60);
    match suit {
        Suit::Int if plain => dice.one(&["0", "1", "2", "5", "1.5", "3"]).to_owned(),
        Suit::Int if dice.percent(15) => seldom_int(dice),
        Suit::Int => {
            let of = reference(dice, Suit::Int);
            match dice.roll(12) {
                0..4 => of,
                4 => format!("{of} {} {}", dice.one(&["+", "*", "-", "&", "|"]), dice.roll(3)),
                5 => format!("len({})", reference(dice, Suit::Struct)),
                6 => format!("[if {} {{1}}, 2][0]", condition(dice)),
                7 => format!(
                    "list.{}({})",
                    dice.one(&["Sum", "Max", "Avg"]),
                    reference(dice, Suit::List)
                ),
                8 => format!("math.{}({of})", dice.one(&["Floor", "Abs", "Sqrt"])),
                9 => format!("{}([{of}, {}])", dice.one(&["and", "or"]), dice.roll(3)),
                10 => format!("({} & {}).a", dice.one(DEFINITIONS), given(dice, depth + 1)),
                _ => format!("strings.Count({}, \"x\")", reference(dice, Suit::Text)),
            }
        }
        Suit::Text if plain => dice.one(&["\"x\"", "\"y\"", "\"Web\"", "\"\"", "'b'"]).to_owned(),
        Suit::Text => {
            let of = reference(dice, Suit::Text);
            match dice.roll(8) {
                0..3 => of,
                3 => format!("\"\\({of})-s\""),
                4 => format!("\"n\\({})\"", reference(dice, Suit::Int)),
                5 => format!("strings.{}({of})", dice.one(&["ToUpper", "TrimSpace", "ToTitle"])),
                6 => format!("strings.Join({}, \"-\")", reference(dice, Suit::List)),
                _ => format!("{of} + \"z\""),
            }
        }
        Suit::List if plain => {
            dice.one(&["[]", "[1, 2]", "[3]", "[\"x\", \"y\"]", "[1, 1]", "[{a: 1}]"]).to_owned()
        }
        Suit::List if dice.percent(25) => seldom_list(dice),
        Suit::List => {
            let of = reference(dice, Suit::List);
            match dice.roll(10) {
                0 | 1 => of,
                2 => format!("[for v in {of} {{v}}]"),
                3 => format!("[for k, v in {} if v != 1 {{k}}]", reference(dice, Suit::Struct)),
                4 => format!("strings.Split({}, \"\")", reference(dice, Suit::Text)),
                5 => format!("list.Concat([{of}, [1]])"),
                6 => "list.Range(0, 3, 1)".to_owned(),
                7 => format!("list.FlattenN([{of}, [1]], 1)"),
                8 => format!("list.Sort({of}, list.Descending)"),
                _ => format!("[{}, {}]", any(dice, depth + 1), any(dice, depth + 1)),
            }
        }
        Suit::Struct if dice.percent(20) => reference(dice, Suit::Struct),
        Suit::Struct if depth > 2 => dice.one(&["{}", "{a: 1}", "{name: \"x\"}"]).to_owned(),
        Suit::Struct if dice.percent(20) => {
            format!("{} & {}", dice.one(DEFINITIONS), given(dice, depth + 1))
        }
        Suit::Struct => given(dice, depth + 1),
    }
}
