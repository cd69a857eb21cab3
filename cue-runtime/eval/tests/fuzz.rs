//! No program makes the evaluator panic, hang or outgrow its budget.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cue_eval::evaluation::{compile_text, print_json};
use cue_eval::{Budget, Concreteness, Evaluation, Style};

/// Texts that replace or join others.
const BITS: &[&str] = &[
    "a",
    "b",
    "c",
    "x",
    "y",
    "#A",
    "#Any",
    "_",
    "int",
    "string",
    "_|_",
    "1",
    "-1",
    "0.5",
    "1e9",
    "\"x\"",
    "null",
    "true",
    "[]",
    "{}",
    "{a: 1}",
    "[1, 2]",
    "...",
    "&",
    "|",
    "*",
    "+",
    "/",
    "==",
    "<",
    "=~",
    "!",
    "?",
    ":",
    ".",
    ",",
    "\n",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "[string]: ",
    "for k, v in a ",
    "if b {",
    "let q = a\n",
    "len(a)",
    "close(a)",
    "or([a, b])",
    "and([a, b])",
    "a.b",
    "l[0]",
    "\"\\(a)\"",
    "let X = X\n",
    "a: a\n",
    "b: a & b\n",
    "list.Repeat([a], 1000)",
    "strings.Repeat(k, 1000)",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// `tests/corpus`, in order of names.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|it| std::fs::read_to_string(it).expect("a text")).collect()
}

/// A word, a number, a run of space or one sign.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' || c == '#' => 1,
        _ if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut all = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if at > start && (before != Some(class(c)) || class(c) == 0) {
            all.push(&text[start..at]);
            start = at;
        }
        before = Some(class(c));
    }
    all.push(&text[start..]);
    all
}

/// Whether one may stand for the other without breaking the grammar.
fn alike(a: &str, b: &str) -> bool {
    let class = |text: &str| match text.chars().next() {
        Some(c) if c.is_ascii_digit() => 1,
        Some(c) if c.is_alphabetic() || c == '_' || c == '#' => 2,
        Some(c) if c.is_whitespace() => 3,
        _ => 0,
    };
    class(a) == class(b) && class(a) > 0
}

/// One seed: lines copied, dropped and brought from elsewhere, words exchanged, and now and then
/// any piece in any place.
fn mutated(seeds: &[String], dice: &mut Dice) -> String {
    let seed = &seeds[dice.roll(seeds.len())];
    let mut text = tokens(seed);
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(text.len());
        match dice.roll(10) {
            0 => text.insert(at, BITS[dice.roll(BITS.len())]),
            1 => drop(text.remove(at)),
            2 => {
                let to = (at + dice.roll(12)).min(text.len());
                let copy = text[at..to].to_vec();
                let there = dice.roll(text.len());
                text.splice(there..there, copy);
            }
            3 => {
                let lines: Vec<&str> = seeds[dice.roll(seeds.len())].lines().collect();
                text.extend(["\n", lines[dice.roll(lines.len())], "\n"]);
            }
            4 => {
                let lines: Vec<&str> = seed.lines().collect();
                text.extend(["\n", lines[dice.roll(lines.len())], "\n"]);
            }
            5 => {
                let bit = BITS[dice.roll(BITS.len())];
                if alike(bit, text[at]) {
                    text[at] = bit;
                }
            }
            _ => {
                let from = dice.roll(text.len());
                if alike(text[from], text[at]) {
                    text[at] = text[from];
                }
            }
        }
        if text.is_empty() {
            text.push("a: 1");
        }
    }
    text.concat()
}

const BUDGET: Budget = Budget { ticks: 200_000, depth: 400, bytes: 100 << 20 };

/// Everything one can ask of a text; how often it compiled and how often it had a value.
fn play(text: &str) -> (bool, bool) {
    let program = match compile_text(text) {
        Ok(program) => program,
        Err(_) => return (false, false),
    };
    let program = Arc::new(program);
    let mut it = Evaluation::start(program.clone(), &[], BUDGET);
    let root = it.find("").expect("it evaluates").expect("the root is there");
    it.validate(root, Concreteness::Optional);
    it.syntax(root, Style::Eval);
    it.lenient(root);
    let mut fresh = Evaluation::start(program, &[], BUDGET);
    let root = fresh.find("").expect("it evaluates").expect("the root is there");
    let datum = fresh.datum(root);
    if let Ok(datum) = &datum {
        print_json(datum);
    }
    fresh.syntax(root, Style::Definition);
    fresh.syntax(root, Style::Final);
    (true, datum.is_ok())
}

/// Runs on the stack that every runtime gives to the evaluator.
fn with_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(512 << 20)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("it ends")
}

#[test]
fn fuzz_programs() {
    let iterations =
        std::env::var("FUZZ_ITERATIONS").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000);
    with_stack(move || {
        let seeds = seeds();
        let mut dice = Dice(7);
        let (mut compiled, mut valued) = (0, 0);
        for _ in 0..iterations {
            let text = mutated(&seeds, &mut dice);
            let started = Instant::now();
            let outcome = std::panic::catch_unwind(|| play(&text));
            let Ok((a, b)) = outcome else { panic!("panic in\n{text}") };
            assert!(started.elapsed() < Duration::from_secs(10), "hang in\n{text}");
            compiled += usize::from(a);
            valued += usize::from(b);
        }
        // Mutations that never get past the parser would test nothing.
        assert!(compiled * 6 > iterations, "{compiled} of {iterations} compile");
        assert!(valued * 20 > iterations, "{valued} of {iterations} have a value");
    });
}
