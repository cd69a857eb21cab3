//! Calls of the functions of all packages: arguments that suit their parameters, and some that do not, and what comes
//! of them together with other values, where they are looped over, printed, compared and used as labels.

use cue_eval::builtin::{Function, Item, Kinds, Member, Pass, Run, packages};

use crate::programs::{self, Dice};

const INTS: &[&str] = &["0", "1", "2", "3", "7", "-1", "10", "64", "255", "1000", "n"];
const NUMBERS: &[&str] =
    &["0", "1", "2", "-1", "0.5", "1.5", "-2.25", "10", "1e3", "100", "n", "f"];
const TEXTS: &[&str] = &[
    "\"\"",
    "\"a\"",
    "\"b,a\"",
    "\"a b a\"",
    "\"Héllo\"",
    "\"A1\"",
    "\"12\"",
    "\"0x1f\"",
    "\"true\"",
    "\"1.5\"",
    "\"a.b/c.txt\"",
    "\"/x/../y\"",
    "\"^a+\"",
    "\"(a)(b)?\"",
    "\"10.0.0.1\"",
    "\"10.0.0.0/8\"",
    "\"::1\"",
    "\"example.com:80\"",
    "\"http://u@h/p?q=1\"",
    "\"2024-02-03T04:05:06Z\"",
    "\"2006-01-02\"",
    "\"1h30m\"",
    "\"YWI=\"",
    "\"6162\"",
    "\"{\\\"a\\\": 1}\"",
    "\"[1, 2]\"",
    "\"a: 1\\nb: [x]\\n\"",
    "\"{{.a}}-{{.b}}\"",
    "\"<a>&\"",
    "t",
    "'ab'",
    "\"x\\ty\"",
];
const LISTS: &[&str] = &[
    "[]",
    "[1]",
    "[3, 1, 2]",
    "[\"b\", \"a\"]",
    "[\"a\", 1]",
    "[[1], [2, 3]]",
    "[{a: 1}, {a: 2}]",
    "[1, 1]",
    "l",
    "s",
    "[...]",
    "[int]",
    "[0.5, 2]",
    "[[\"a\", \"b\"], [\"c\", \"d\"]]",
];
const STRUCTS: &[&str] = &[
    "{}",
    "{a: 1}",
    "{a: 1, b: \"x\"}",
    "{a: {b: [1]}}",
    "o",
    "{a: int}",
    "#S",
    "{[string]: int}",
];
const OTHERS: &[&str] = &[
    "true",
    "false",
    "null",
    "int",
    "string",
    "_",
    "1 | 2",
    "*1 | 2",
    "*\"a\" | string",
    "{a: int}",
    ">0",
    "e",
];

/// What is there to be named.
const POOLS: &[(&str, &[&str])] = &[
    ("n", &["2", "int", "*3 | int", "5 | 6", "-4"]),
    ("f", &["1.5", "float", "*2.0 | float", "number & 3"]),
    ("t", &["\"ab\"", "string", "*\"x\" | string", "\"a\" | \"b\"", "t2"]),
    ("t2", &["\"Ab c\"", "*\"y\" | \"z\""]),
    (
        "l",
        &["[2, 1]", "[...int]", "[1, 2, ...]", "*[1] | [2]", "[for i in [3, 1] {i}]", "[n, n + 1]"],
    ),
    ("s", &["[\"b\", \"a\"]", "[t, \"a\"]", "[...string]", "[\"x\"]"]),
    ("o", &["{a: 1, b: \"x\"}", "{a: n}", "{a?: int, b: 2}", "{a: 1} | {b: 1}", "#S & {a: 1}"]),
    ("#S", &["{a: int}", "{a: int, b?: string, ...}", "{a: *1 | int}"]),
    ("e", &["1 & 2", "{a: 1}.b", "int"]),
];

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut lines: Vec<String> = Vec::new();
    for at in 0..1 + dice.roll(3) {
        lines.push(format!("r{at}: {}", result(dice)));
    }
    let mut named = lines.join("\n");
    for (name, values) in POOLS {
        let uses = |text: &str| {
            let word = |it: char| it.is_alphanumeric() || it == '#' || it == '_';
            text.split(|it| !word(it)).any(|it| it == *name)
        };
        if uses(&named) {
            let line = format!("{name}: {}", dice.one(values));
            named.push_str(&line);
            lines.push(line);
        }
    }
    // What the values of the last pools name.
    for (name, values) in [("n", "2"), ("t2", "\"q\""), ("#S", "{a: int}")] {
        let known = |it: &String| it.starts_with(&format!("{name}: "));
        if !lines.iter().any(known) && lines.iter().any(|it| it.contains(name)) {
            lines.push(format!("{name}: {values}"));
        }
    }
    dice.shuffle(&mut lines);
    programs::with_imports(&lines)
}

/// What is made of a call.
fn result(dice: &mut Dice) -> String {
    let (call, kinds) = call(dice, 2, Kinds::ANY);
    let beside = argument(dice, Pass::Schema, kinds, 0);
    let other = dice.one(OTHERS);
    match dice.roll(24) {
        0 => format!("{call} & {beside}"),
        1 => format!("{beside} & {call}"),
        2 => format!("{call} | {beside}"),
        3 => format!("*{call} | {other}"),
        4 => format!("{{{call}, {beside}}}"),
        5 => format!("[for x in {call} {{x}}]"),
        6 => format!("{{for k, v in {call} {{\"\\(k)\": v}}}}"),
        7 => format!("\"\\({call})\""),
        8 => format!("{{({call}): 1}}"),
        9 => format!("{{if {call} {{a: 1}}}}"),
        10 => format!("{{if {call} == {beside} {{a: 1}}}}"),
        11 => format!("{call}[{}]", dice.one(&["0", "1", "\"a\"", "n"])),
        12 => format!("{call}.{}", dice.one(&["a", "b", "c"])),
        13 => format!("{call} + {beside}"),
        14 => format!("[{call}, {other}]"),
        15 => format!("{{x: {call}, y: x}}"),
        16 => format!("len({call})"),
        17 => format!("{call} & {other}"),
        _ => call,
    }
}

/// A call that may give one of these kinds, and what it gives.
fn call(dice: &mut Dice, depth: usize, wanted: Kinds) -> (String, Kinds) {
    loop {
        let package = &packages()[dice.roll(packages().len())];
        let functions = package.members.iter().filter_map(|it: &Member| match &it.item {
            Item::Function(function) => Some(function),
            Item::Constant(_) => None,
        });
        let functions: Vec<&Function> = functions.collect();
        if functions.is_empty() {
            continue;
        }
        let function = functions[dice.roll(functions.len())];
        if !function.result.meets(wanted) || matches!(package.path, "encoding/openapi") {
            continue;
        }
        // Validators may go without their first.
        let asks = function.result == Kinds::BOOL && dice.roll(3) == 0
            || matches!(function.run, Run::Evaluator(_)) && dice.roll(4) == 0;
        let from = usize::from(asks && function.parameters.len() > 1);
        let arguments = function.parameters.iter().skip(from).map(|it| {
            let one = if it.one_of.is_empty() { "" } else { dice.one(it.one_of) };
            match one {
                "" => argument(dice, it.pass, it.kinds, depth),
                one => format!("{one:?}"),
            }
        });
        let arguments: Vec<String> = arguments.collect();
        let kinds = if from == 1 { function.parameters[0].kinds } else { function.result };
        let call = format!("{}.{}({})", package.local_name(), function.name, arguments.join(", "));
        return (call, kinds);
    }
}

/// Something for a parameter, mostly what it takes.
fn argument(dice: &mut Dice, pass: Pass, kinds: Kinds, depth: usize) -> String {
    if dice.roll(12) == 0 {
        return dice.one(OTHERS).to_owned();
    }
    if depth > 0 && dice.roll(6) == 0 {
        return call(dice, depth - 1, kinds).0;
    }
    let pools = [
        (Kinds::INT, INTS),
        (Kinds::NUMBER, NUMBERS),
        (Kinds::STRING, TEXTS),
        (Kinds::LIST, LISTS),
        (Kinds::STRUCT, STRUCTS),
        (Kinds::BOOL, &["true", "false"]),
    ];
    match pass {
        Pass::Strings => {
            return dice.one(&["[\"b\", \"a\"]", "s", "[]", "[\"a\", \"\"]", "[t]"]).to_owned();
        }
        Pass::Numbers => return dice.one(&["[3, 1, 2]", "l", "[]", "[0.5, 1]", "[n]"]).to_owned(),
        Pass::LiveLists => {
            return dice.one(&["[[1], [2]]", "[l, l]", "[]", "[[\"a\"], [{}]]"]).to_owned();
        }
        _ => {}
    }
    let suits: Vec<&[&str]> = pools.iter().filter(|it| kinds.meets(it.0)).map(|it| it.1).collect();
    if suits.is_empty() {
        return dice.one(OTHERS).to_owned();
    }
    let pool = suits[dice.roll(suits.len())];
    dice.one(pool).to_owned()
}
