//! Filling what was evaluated gives what evaluating all of it from the beginning gives.

use cue_session::{
    Budget, Concreteness, FieldSelection, Filling, Input, NativeRuntime, Profile, Program,
    ProgramSpec, Runtime, Session, Source, SyntaxStyle,
};

/// Where, JSON or CUE.
type Fill<'a> = (&'a str, &'a str);

fn filling(fill: &Fill<'_>) -> Filling {
    match serde_json::from_str::<serde_json::Value>(fill.1) {
        Ok(_) => Filling::Json(fill.1.into()),
        Err(_) => Filling::Cue(fill.1.into()),
    }
}

fn start(text: &str) -> Session {
    within(text, SMALL).expect("it compiles")
}

/// Programs by chance are mostly small, or else without end.
const SMALL: Budget = Budget { ticks: 200_000, ..Budget::DEFINITION };

fn within(text: &str, budget: Budget) -> Result<Session, cue_session::Error> {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("in.cue", text)],
        packages: Vec::new(),
        profile: Profile::V017,
    });
    let inputs = vec![Input::new("context", "{\"name\":\"n\"}".to_owned())];
    NativeRuntime::default().start(&program, inputs, budget)
}

/// What is wrong, but for the positions: which of them are told depends on what was asked for before, in
/// one evaluation as well.
fn wrong(session: &mut Session, how: Concreteness) -> String {
    let mut all = session.validate("", how).expect("the sandbox is well");
    all.iter_mut().for_each(|it| it.positions.clear());
    format!("{all:?}")
}

/// All that can be asked of the whole.
fn told(session: &mut Session) -> Option<Vec<String>> {
    let mut all = vec![
        format!("{:?}", session.json_lenient("")),
        wrong(session, Concreteness::Optional),
        wrong(session, Concreteness::Required),
        format!("{:?}", session.syntax("", SyntaxStyle::Eval)),
        format!("{:?}", session.fields("", FieldSelection::All)),
    ];
    let mut done = Vec::new();
    while let Ok(Some(mut action)) = session.next_action("", &done) {
        action.pending.iter_mut().for_each(|it| it.positions.clear());
        all.push(format!("{action:?}"));
        done.push(action.path);
    }
    Some(all)
}

/// Values, or that something is wrong: how that reads, and what is left of values that go round, depends on
/// what was asked for before, in one evaluation as well. None beyond the budget.
fn values(session: &mut Session) -> Option<Option<String>> {
    let json = format!("{:?}", session.json_lenient(""));
    let wrong = session.validate("", Concreteness::Optional).expect("the sandbox is well");
    let within = wrong.iter().all(|it| it.code != "budget/exceeded");
    within.then(|| wrong.is_empty().then_some(json))
}

/// Asks after every fill, and of an evaluation that knew all fills before.
#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(
    text: &str,
    fills: &[Fill<'_>],
    told: fn(&mut Session) -> Option<T>,
) {
    let mut running = start(text);
    told(&mut running);
    for count in 1..=fills.len() {
        let fill = &fills[count - 1];
        let filled = running.fill(fill.0, filling(fill));
        let mut fresh = start(text);
        for before in &fills[..count - 1] {
            let _ = fresh.fill(before.0, filling(before));
        }
        let first = fresh.fill(fill.0, filling(fill));
        assert_eq!(format!("{filled:?}"), format!("{first:?}"), "{text}\n{:?}", &fills[..count]);
        let (Some(now), Some(anew)) = (told(&mut running), told(&mut fresh)) else { return };
        assert_eq!(now, anew, "{text}\n{:?}", &fills[..count]);
    }
}

const STEPS: &str = r#"
#Apply: {#do: "apply", #provider: "kube", $params: {value: {...}, cluster: *"" | string}, $returns?: {...}}
first: #Apply & {$params: value: name: context.name}
second: #Apply & {$params: value: {if first.$returns != _|_ {id: first.$returns.id}}}
third: {
	#do: "apply"
	$params: value: ids: [first.$returns.id, second.$returns.id]
}
apart: #Apply & {$params: value: kind: "ConfigMap"}
out: "\(third.$params.value.ids[0])-\(apart.$returns.uid)"
context: _
"#;

#[test]
fn results_reach_those_that_ask_for_them() {
    check(
        STEPS,
        &[
            ("first.$returns", r#"{"id":1}"#),
            ("apart.$returns", r#"{"uid":"u"}"#),
            ("second.$returns", r#"{"id":2}"#),
            ("_out", "third.$params.value.ids[1] + 1"),
            ("first.$returns", r#"{"id":3}"#),
        ],
        told,
    );
}

#[test]
fn guards_at_the_root_are_decided_again() {
    let text = r#"
first: {#do: "read", $returns?: {...}}
if first.$returns != _|_ {second: {#do: "apply", $params: first.$returns.value}}
if first.$returns == _|_ {none: true}
second: _
third: second.$params.x
"#;
    check(text, &[("first.$returns", r#"{"value":{"x":1}}"#), ("second.$returns", "{}")], told);
}

#[test]
fn lets_patterns_and_loops_at_the_root() {
    let text = r#"
let doubled = a.n * 2
a: n: int
b: doubled + 1
c: {let d = b, e: d}
[=~"^x"]: y: a.n
x1: {}
for k, v in list {"k\(k)": v + b}
list: [1, 2]
f: {for k, v in a {"\(k)": v}}
"#;
    check(
        text,
        &[("a.n", "4"), ("b", "9"), ("list", "[1,2]"), ("x2.z", "1"), ("new", "[1]")],
        told,
    );
}

#[test]
fn functions_without_a_place_are_called_again() {
    let text = r#"
#F: {in: int, out: in * 10}
a: int
b: (#F & {in: a}).out
c: [for x in [b] {(#F & {in: x}).out}]
d: (#F & {in: 3}).out
"#;
    check(text, &[("a", "2"), ("e", "(#F & {in: b}).out")], told);
}

#[test]
fn closed_ones_refuse_what_is_filled_in() {
    let text = "#D: {a?: int, b?: c: string}\nd: #D\ne: d.a\nf: close({g: int})\nh: f.g";
    check(
        text,
        &[("d.x", "1"), ("d.a", "\"s\""), ("f.g", "2"), ("f.i", "2"), ("d.b.c", "\"c\"")],
        told,
    );
}

#[test]
fn elements_definitions_and_hidden_fields_may_be_filled_too() {
    let text = "l: [int, string]\nm: l[0]\n#d: {x: int}\nn: #d.x\n_h: string\no: _h";
    check(text, &[("l[0]", "1"), ("#d.x", "2"), ("_h", "\"h\""), ("l[1]", "3")], told);
}

#[test]
fn choices_fall_and_defaults_change() {
    let text = r#"
kind: *"a" | "b"
of: {k: "a", x: int} | {k: "b", y: int}
from: of.k
if kind == "b" {late: true}
copy: of & {k: kind}
size: {a: 1, b: 2}[kind]
"#;
    check(text, &[("of.k", "\"b\""), ("of.y", "1"), ("kind", "\"b\"")], told);
}

/// Links of such a chain share what the first one is.
#[test]
fn chains_of_defaults_follow_what_is_filled() {
    let text = r#"
first: {x: int, l: [int, {y: n}]}
n: number
b: *first | null
c: *b | "none"
d: c.x
e: {k: c} | 0
plain: 1 | 2 | {z: 3}
f: *plain | null
g: *f | 4
#D: {k: {x: int}, l: *k | null, m: *l | string}
h: #D & {k: x: int}
i: *h.m | null
"#;
    check(
        text,
        &[
            ("first.x", "3"),
            ("n", "1"),
            ("plain", "2"),
            ("first.l[0]", "4"),
            ("h.k.x", "5"),
            ("first.w", "6"),
            ("c.v", "7"),
        ],
        told,
    );
}

#[test]
fn what_is_wrong_in_a_filling_changes_nothing() {
    let text = "a: 1\nb: a";
    let mut session = start(text);
    let before = told(&mut session);
    session.fill("c", Filling::Cue("nowhere.x".into())).expect_err("no such name");
    session.fill("c", Filling::Json("{".into())).expect_err("no JSON");
    assert_eq!(told(&mut session), before);
    session.fill("c", Filling::Cue("b + 1".into())).expect("it compiles");
    assert_eq!(session.json("c").expect("a value").as_deref(), Some("2"));
}

/// The first took all of the stack (errors looked for within values that are looked at for errors), the
/// second all of the memory (errors of choices within choices, each with those of all others) before no
/// choice was made within what it is of: it is a value.
#[test]
fn what_is_wrong_is_looked_for_once_more_beside_data() {
    let text = "a: _\nb: (b & {x: {for k, v in c {\"\\(k)\": v}}}).y\nc: {let l = *0 | int, x: l}\n\
                d: {x: 0} | {y: {x: 1}}\ne: {for k, v in b {\"\\(k)\": v}}\n#f: c & {x: *2 | int}\n\
                let l = #f + {x: 0} | {y: int}\nm: l\ncontext: _\n";
    check(text, &[("d.y", "{\"x\": 1}"), ("d", "1"), ("z", "[(d & {x: a}).y]")], values);
}

#[test]
fn what_has_no_end_once_it_is_filled_ends() {
    let rounds = r#"
a: e & {x: e & {x: *2 | int}}
b?: c
c: {if c.x != _|_ {y: c.x}, x: b & {x: {for k, v in a {"\(k)": v}}}}
d: {if c.x != _|_ {y: c.x}, x: {for k, v in #f {"\(k)": v}}}
e?: 1
#f: [c.x, *2 | int]
context: _
"#;
    let choices = r#"
b: {x: 0} | {y: b & {x: e}}
c: b.x
e?: _
let l = {x: {let l = c, x: l}} | {y: int}
m: l
context: _
"#;
    for (text, fills) in [
        (rounds, vec![("b.x", "0"), ("c.y", r#"{"x":1}"#)]),
        (choices, vec![("b.y", r#"{"x":1}"#)]),
    ] {
        let mut session = within(text, Budget::DEFINITION).expect("it compiles");
        for fill in fills {
            session.fill(fill.0, filling(&fill)).expect("it is data");
        }
        session.json_lenient("").expect("it ends");
        let wrong = session.validate("", Concreteness::Optional).expect("it ends");
        assert_eq!(wrong.is_empty(), text == choices, "{text}");
    }
}

/// Numbers by chance, always the same ones.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "#f"];

fn value(chance: &mut Chance, depth: usize) -> String {
    let name = chance.of(&NAMES);
    match chance.below(if depth > 2 { 6 } else { 15 }) {
        0 => "int".into(),
        1 => chance.below(4).to_string(),
        2 => name.into(),
        3 => format!("{name}.x"),
        4 => format!("*{} | int", chance.below(3)),
        5 => "_".into(),
        6 => format!("{{x: {}, y?: {}}}", value(chance, depth + 1), value(chance, depth + 1)),
        7 => format!("{name} & {{x: {}}}", value(chance, depth + 1)),
        8 => format!("[{}, {}]", value(chance, depth + 1), value(chance, depth + 1)),
        9 => format!("{{if {name}.x != _|_ {{y: {name}.x}}, x: {}}}", value(chance, depth + 1)),
        10 => format!("{name} + {}", value(chance, depth + 1)),
        11 => format!("({name} & {{x: {}}}).y", value(chance, depth + 1)),
        12 => format!("{{for k, v in {name} {{\"\\(k)\": v}}}}"),
        13 => format!("{{let l = {}, x: l}}", value(chance, depth + 1)),
        // What leads back to itself by way of a choice depends on what was asked for first.
        _ => format!("{{x: {}}} | {{y: {}}}", chance.below(3), chance.of(&["int", "_", "{x: 1}"])),
    }
}

fn program(chance: &mut Chance) -> String {
    let mut text = String::new();
    for name in NAMES {
        if chance.below(8) > 0 {
            text += &format!("{name}: {}\n", value(chance, 0));
        } else {
            text += &format!("{name}?: {}\n", value(chance, 0));
        }
    }
    match chance.below(8) {
        0 => text += &format!("if {}.x == 1 {{b: {}}}\n", chance.of(&NAMES), value(chance, 1)),
        1 => text += &format!("[string]: {}\n", value(chance, 1)),
        2 => text += &format!("let l = {}\nm: l\n", value(chance, 1)),
        _ => {}
    }
    text += "context: _\n";
    text
}

/// By chance, as often as `FUZZ_ITERATIONS` says.
#[test]
fn fuzz_fills_are_as_if_known_from_the_beginning() {
    let rounds = std::env::var("FUZZ_ITERATIONS").ok().and_then(|it| it.parse().ok());
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds.unwrap_or(300) {
        let text = program(&mut chance);
        if within(&text, SMALL).is_err() {
            continue;
        }
        let fills: Vec<(String, String)> = (0..3)
            .map(|round| match chance.below(4) {
                0 => (format!("z{round}"), value(&mut chance, 1)),
                1 => (chance.of(&NAMES[..5]).into(), chance.below(3).to_string()),
                2 => (format!("{}.x", chance.of(&NAMES[..5])), chance.below(3).to_string()),
                _ => (format!("{}.y", chance.of(&NAMES[..5])), "{\"x\":1}".into()),
            })
            .collect();
        let fills: Vec<Fill<'_>> = fills.iter().map(|it| (&*it.0, &*it.1)).collect();
        check(&text, &fills, values);
    }
}
