//! Command lines of `lateen cue` made by chance, beside the official command: `make commands`. They find the files of
//! `e2e/tests/cue_command/cases.txt`; what is answered differently is printed, and how many there were of it.
//!
//! CUE_ORACLE asks the official command, as for `make differ`. PROGRAMS: how many, 500; SEED: which, 1.
#![forbid(unsafe_code)]

use lateen_e2e::bench::Home;
use lateen_e2e::command_lines::{Cases, both, official};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

const CASES: &str = include_str!("../tests/cue_command/cases.txt");

/// What is evaluated with `-e`.
const EXPRESSIONS: [&str; 28] = [
    "name",
    "n",
    "list[0]",
    "title",
    "#S",
    "b",
    "b.x",
    "strings.ToUpper(title)",
    "{x: 1}",
    "a",
    "a+1",
    "\"x\"",
    "nope",
    "[1,2]",
    "b.c",
    "_h",
    "#D",
    "\"\\(title)\"",
    "len(list)",
    "x & 1",
    "port",
    "1/0",
    "sub",
    "e[0]",
    "null",
    "string",
    "if true {x: 1}",
    "#S & {name: \"x\", n: 1, list: []}",
];

/// Where data goes.
const LABELS: [&str; 16] = [
    "name",
    "kind",
    "\"x\"",
    "x:",
    "\"a-b\":",
    "strings.ToLower(name)",
    "#D:",
    "_h:",
    "n",
    "\"\\(n)\"",
    "nope",
    "a.b:",
    "\"a\": b:",
    "path.Base(filename)",
    "recordCount",
    "data.kind",
];

const SCHEMAS: [&str; 9] =
    ["#S", "#D", "#Nope", "string", "{...}", "a", "#S & {n: 3}", "\"x\"", "x.y"];
const FORMS: [&str; 12] = [
    "json",
    "yaml",
    "cue",
    "toml",
    "text",
    "binary",
    "jsonl",
    "json:out.json",
    "yaml:-",
    "nope",
    "cue+data",
    "go",
];
const TARGETS: [&str; 11] = [
    "-",
    "o.json",
    "o.yaml",
    "o.cue",
    "o.txt",
    "o.toml",
    "json:o",
    "site.cue",
    "nowhere/o.json",
    "yaml:-",
    "o.jsonl",
];
const TAGS: [&str; 7] = ["prod", "dev", "env=x", "env=short", "n=3", "n=x", "q=1"];
const PACKAGES: [&str; 14] = [
    ".",
    "./...",
    "./sub",
    "./sub:sub",
    "./sub/...",
    "./open",
    "./two:one",
    "./two:two",
    "./tagged",
    "./broken",
    "nothing",
    "./nothing",
    "own.test/m/sub",
    "strings",
];

/// Files behind a qualifier.
const QUALIFIED: [&[&str]; 12] = [
    &["yaml:", "plain"],
    &["json:", "plain"],
    &["text:", "plain"],
    &["cue:", "plain"],
    &["data:", "plain"],
    &["-"],
    &["json:", "-"],
    &["text:", "sub/f.crt"],
    &["graph:", "site.cue"],
    &["data:", "incomplete.cue"],
    &["jsonl:", "stream.jsonl"],
    &["json+schema:", "plain"],
];

/// What standard input holds.
const INPUTS: [&str; 4] =
    ["", "{\"name\":\"in\",\"n\":1}", "a: 1\nb: c: \"x\"\n", "package site\nz: 1\n"];

/// A command line being made.
struct Line<'a> {
    chance: StdRng,
    files: &'a [String],
    words: Vec<String>,
}

impl Line<'_> {
    fn is(&mut self, probability: f64) -> bool {
        self.chance.random_bool(probability)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.choose(&mut self.chance).copied()
    }

    /// A flag, now and then.
    fn flag(&mut self, probability: f64, name: &str) {
        if self.is(probability) {
            self.words.push(name.to_owned());
        }
    }

    /// A flag with one of some values.
    fn valued(&mut self, probability: f64, name: &str, values: &[&str]) {
        if self.is(probability) {
            let value = self.one(values).unwrap_or_default();
            self.words.extend([name, value].map(str::to_owned));
        }
    }

    fn flags(&mut self, command: &str) {
        if command == "fmt" {
            ["-d", "--check", "-s", "--files"].iter().for_each(|it| self.flag(0.25, it));
            return;
        }
        self.valued(0.12, "-d", &SCHEMAS);
        self.valued(0.1, "-l", &LABELS);
        self.valued(0.1, "-l", &LABELS);
        self.flag(0.06, "--list");
        self.flag(0.05, "--with-context");
        self.flag(0.05, "--merge=false");
        self.valued(0.06, "-p", &["site", "other", "named", "x", "sub"]);
        self.valued(0.04, "-n", &["^d", "x", ".*"]);
        self.valued(0.12, "-t", &TAGS);
        let shown = ["export", "eval", "def"].contains(&command);
        if shown {
            self.valued(0.14, "-e", &EXPRESSIONS);
            self.valued(0.14, "-e", &EXPRESSIONS);
            self.valued(0.2, "--out", &FORMS);
        }
        if shown || command == "import" {
            self.valued(0.1, "-o", &TARGETS);
            self.flag(0.05, "-f");
        }
        match command {
            "eval" => {
                ["-a", "-A", "-H", "-O", "-c", "-i", "-s"].iter().for_each(|it| self.flag(0.1, it));
            }
            "def" => ["-A", "--inline-imports", "-s"].iter().for_each(|it| self.flag(0.12, it)),
            "vet" => ["-c", "-c=false"].iter().for_each(|it| self.flag(0.15, it)),
            "export" => self.flag(0.1, "--escape"),
            _ => {
                self.flag(0.1, "--files");
                self.flag(0.05, "--dry-run");
                self.flag(0.1, "-R");
            }
        }
    }

    /// Packages and files, with qualifiers.
    fn arguments(&mut self) {
        for _ in 0..self.chance.random_range(0..=3) {
            match self.chance.random_range(0..10) {
                0 => {
                    let package = self.one(&PACKAGES).map(str::to_owned);
                    self.words.extend(package);
                }
                1 => {
                    let words = self.one(&QUALIFIED).unwrap_or_default();
                    self.words.extend(words.iter().map(|it| (*it).to_owned()));
                }
                _ => {
                    let file = self.files.choose(&mut self.chance).cloned();
                    self.words.extend(file);
                }
            }
        }
    }
}

/// A command line, and what it reads on standard input.
fn made(seed: u64, files: &[String]) -> (Vec<String>, &'static str) {
    let mut line = Line { chance: StdRng::seed_from_u64(seed), files, words: Vec::new() };
    let commands =
        ["export", "export", "eval", "eval", "vet", "vet", "def", "import", "import", "fmt"];
    let command = line.one(&commands).unwrap_or_default();
    line.words.push(command.to_owned());
    if line.is(0.5) {
        line.flags(command);
        line.arguments();
    } else {
        line.arguments();
        line.flags(command);
    }
    let input = line.one(&INPUTS).unwrap_or_default();
    (line.words, input)
}

/// A number out of the environment.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

fn main() {
    let Some(program) = official() else {
        eprintln!("CUE_ORACLE names no program to compare with");
        std::process::exit(2);
    };
    let home = Home::new();
    let files = Cases::parse(CASES).files;
    let names: Vec<String> = files
        .keys()
        .filter(|it| !it.starts_with("cue.mod") && !it.ends_with(".proto"))
        .cloned()
        .collect();
    let (first, count) = (number("SEED", 1).wrapping_mul(1_000_000), number("PROGRAMS", 500));
    let mut others = 0;
    for seed in first..first + count {
        let (words, input) = made(seed, &names);
        let (official, ours) = both((&program, &home), &words, &files, input);
        if official != ours {
            others += 1;
            println!("== cue {} <<< {input:?}\n{official:#?}\n-- ours\n{ours:#?}", words.join(" "));
        }
    }
    println!("{count} command lines, {others} answered differently");
}
