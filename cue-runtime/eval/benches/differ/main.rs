//! Programs made by chance, asked of this interpreter and of the official one (`make differ`).
//!
//! `CUE_ORACLE` is a command that answers a list of cases, as `{"files": {…}, "ops": ["export"]}`, with
//! what it gives each. `SEED` is where chance begins, `PROGRAMS` how many are made; where answers differ
//! in kind or in value, `SHOWN` of the programs are printed, cut down to the lines it takes; with `LINES`
//! parts of so many lines at most are asked, a field with all that it names; with `KIND` shown are
//! those of which the kind of difference has that in its name, messages too. With `FACTS` asked is what
//! is known of each value instead: class, kinds, closedness, order, errors and their places. `ABOUT` says
//! which programs are made: such of which the `order` of fields is of interest, `schemas` with data as
//! people write them, `configs` of services, `templates` in KubeVela's form, `calls` of all functions of packages, or those `recorded` in
//! the folder `CASES`, with a few words changed, or those `enlarged`, with what they say standing there `SIZE` times, in `WAYS` by number.
//! With `SLOWER` shown are those that take more than so many times as long as officially. With `DEF`, a command as the official `cue def`, asked is
//! what it prints of the file that is named behind it. With `FORMAT` the texts recorded in the folder `CASES` are formatted, with
//! blanks, lines and comments put in. With `PROFILE=kubevela` ours answers in that profile, to be compared with
//! CUE 0.14 (`CUE_VERSION=0.14.1`, and `CUE_EXPERIMENT=evalv3=0,keepvalidators=0` for its older evaluator).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cue_eval::error::LITERAL;
use cue_eval::evaluation::{Diagnostic, print_json};
use cue_eval::{
    Budget, Concreteness, Evaluation, LoadError, Profile, Program, Source, Style, compile,
};
use serde_json::{Value, json};

mod calls;
mod configs;
mod definitions;
mod enlarged;
mod facts;
mod layouts;
mod ordered;
mod paces;
mod programs;
mod recorded;
mod schemas;
mod shrink;
mod templates;

const BUDGET: Budget = Budget { ticks: 500_000, depth: 1_000, bytes: 200 << 20 };

/// Programs that take longer are printed.
const SLOW: Duration = Duration::from_secs(1);

/// Programs that are asked at once.
const BATCH: usize = 500;

/// What came of one operation.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Json(Value),
    Text(String),
    /// Paths and messages, sorted.
    Errors(Vec<String>),
    /// No answer: out of time, or a panic.
    None,
}

/// What comes of `export` and of `eval`.
type Answer = [Outcome; 2];

/// What differs: of which operation, and how.
type Difference = Option<&'static str>;

fn main() -> ExitCode {
    // `cargo test --benches` only asks whether it starts.
    if std::env::args().any(|it| it == "--test") {
        return ExitCode::SUCCESS;
    }
    let Ok(oracle) = std::env::var("CUE_ORACLE") else {
        eprintln!("CUE_ORACLE names no program to compare with");
        return ExitCode::FAILURE;
    };
    let worker = std::thread::Builder::new().stack_size(512 << 20).spawn(move || run(&oracle));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

fn run(oracle: &str) -> Result<(), String> {
    let shown = number("SHOWN", 10);
    if std::env::var_os("FORMAT").is_some() {
        let all = recorded::texts(cases()?.as_ref())?;
        let mut dice = programs::Dice(number("SEED", 1));
        let texts = layouts::texts(&all, number("PROGRAMS", 2_000), &mut dice);
        return layouts::run(oracle, &texts, shown);
    }
    let texts = texts()?;
    let wanted = std::env::var("KIND").ok();
    if let Ok(command) = std::env::var("DEF") {
        return definitions::run(&command, &texts, shown);
    }
    if let times @ 1.. = number("SLOWER", 0) {
        return paces::run(oracle, &texts, times, shown);
    }
    match std::env::var_os("FACTS") {
        Some(_) => run_facts(oracle, &texts, shown, wanted.as_deref()),
        None => run_answers(oracle, &texts, shown, wanted.as_deref()),
    }
}

/// The folder with recorded cases.
fn cases() -> Result<String, String> {
    std::env::var("CASES").map_err(|_| "CASES names no folder".to_owned())
}

/// The programs that are asked.
fn texts() -> Result<Vec<String>, String> {
    let mut dice = programs::Dice(number("SEED", 1));
    let program: Box<dyn Fn(&mut programs::Dice) -> String> =
        match std::env::var("ABOUT").as_deref() {
            Err(_) => Box::new(programs::program),
            Ok("order") => Box::new(ordered::program),
            Ok("schemas") => Box::new(schemas::program),
            Ok("configs") => Box::new(configs::program),
            Ok("calls") => Box::new(calls::program),
            Ok("templates") => Box::new(templates::program),
            Ok("recorded") => {
                let all = recorded::load(cases()?.as_ref())?;
                Box::new(move |dice| recorded::program(&all, dice))
            }
            Ok("enlarged") => {
                let all = recorded::load(cases()?.as_ref())?;
                let size = number("SIZE", 50) as usize;
                let ways = std::env::var("WAYS").unwrap_or_default();
                let ways: Vec<usize> = ways.split(',').filter_map(|it| it.parse().ok()).collect();
                Box::new(move |dice| enlarged::program(&all, size, &ways, dice))
            }
            Ok(other) => {
                let known = "order, schemas, configs, calls, templates, recorded, enlarged";
                return Err(format!("ABOUT: {other} is none of {known}"));
            }
        };
    let texts: Vec<String> = (0..number("PROGRAMS", 2_000)).map(|_| program(&mut dice)).collect();
    Ok(match number("LINES", 0) as usize {
        0 => texts,
        most => texts.iter().flat_map(|it| programs::parts(it, most)).collect(),
    })
}

/// Compares what export and eval give.
fn run_answers(
    oracle: &str,
    texts: &[String],
    mut shown: u64,
    wanted: Option<&str>,
) -> Result<(), String> {
    let mut found = Found::new();
    let mut valued = 0;
    for texts in texts.chunks(BATCH) {
        let backwards: Vec<String> = texts.iter().map(|it| programs::backwards(it)).collect();
        let again = official(oracle, &backwards)?;
        for ((text, theirs), again) in texts.iter().zip(official(oracle, texts)?).zip(again) {
            valued += usize::from(!matches!(theirs[1], Outcome::Errors(_) | Outcome::None));
            if !alike(&theirs, &again) {
                *found.entry(WAVERS).or_default() += 1;
                continue;
            }
            let started = Instant::now();
            let ours = ours(text);
            if started.elapsed() > SLOW {
                println!("== slow: {:?}\n{}\n", started.elapsed(), text.trim());
            }
            let Some(kind) = difference(&ours, &theirs) else { continue };
            *found.entry(kind).or_default() += 1;
            // Messages differ in more ways than one can look at.
            let look = match wanted {
                Some(wanted) => kind.contains(wanted),
                None => !kind.contains("messages"),
            };
            if look && shown > 0 {
                shown -= 1;
                let text = shrink::cut(text, |texts| {
                    let answers = official(oracle, texts)?;
                    let mut both = texts.iter().zip(&answers);
                    Ok(both.position(|(it, less)| {
                        difference(&self::ours(it), less) == Some(kind)
                            && is_broken(less) == is_broken(&theirs)
                    }))
                })?;
                show(oracle, &text, kind)?;
            }
        }
    }
    println!("{} programs, {valued} that eval prints", texts.len());
    tell(&found);
    Ok(())
}

/// How often each kind of difference was found.
type Found = BTreeMap<&'static str, usize>;

fn tell(found: &Found) {
    for (kind, times) in found {
        println!("{times:6} {kind}");
    }
}

/// Compares what is known of each value.
fn run_facts(
    oracle: &str,
    texts: &[String],
    mut shown: u64,
    wanted: Option<&str>,
) -> Result<(), String> {
    let mut found = Found::new();
    let mut compared = 0;
    for texts in texts.chunks(BATCH) {
        let backwards: Vec<String> = texts.iter().map(|it| programs::backwards(it)).collect();
        let again = asked(oracle, &backwards, &["paths"])?;
        for ((text, theirs), again) in
            texts.iter().zip(asked(oracle, texts, &["paths"])?).zip(again)
        {
            let (Some(theirs), Some(again)) = (known(&theirs), known(&again)) else { continue };
            if !facts::alike(&theirs, &again) {
                *found.entry(WAVERS).or_default() += 1;
                continue;
            }
            compared += 1;
            let Some(kind) = differs(text, &theirs).map(|it| it.0) else { continue };
            *found.entry(kind).or_default() += 1;
            if shown == 0 || wanted.is_some_and(|it| !kind.contains(it)) {
                continue;
            }
            shown -= 1;
            let text = shrink::cut(text, |texts| {
                let answers = asked(oracle, texts, &["paths"])?;
                Ok(texts.iter().zip(&answers).position(|(text, it)| {
                    known(it).and_then(|it| differs(text, &it)).is_some_and(|it| it.0 == kind)
                }))
            })?;
            let theirs = asked(oracle, std::slice::from_ref(&text), &["paths"])?;
            let what = theirs.first().and_then(known).and_then(|it| differs(&text, &it));
            println!("== {kind}\n{}\n{}\n", text.trim(), what.unwrap_or_default().1);
        }
    }
    println!("{compared} programs compared");
    tell(&found);
    Ok(())
}

fn known(answer: &Value) -> Option<facts::Facts> {
    facts::official(&answer["results"][0])
}

fn differs(text: &str, theirs: &facts::Facts) -> Option<(&'static str, String)> {
    match facts::ours(text, theirs) {
        Some(ours) => facts::difference(&ours, theirs),
        None => Some(("facts: none", String::new())),
    }
}

const WAVERS: &str = "not compared: upstream's answer depends on the order of the declarations";

/// Whether both are values, or both errors.
fn alike(one: &Answer, other: &Answer) -> bool {
    let kinds = one.iter().zip(other).map(|(one, other)| match (one, other) {
        (Outcome::Json(one), Outcome::Json(other)) => one == other,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    });
    kinds.into_iter().all(|it| it)
}

fn difference(ours: &Answer, theirs: &Answer) -> Difference {
    let mut worst = None;
    for (one, other, kinds) in [
        (&ours[0], &theirs[0], ["export fails", "export passes", "export of another value"]),
        (&ours[1], &theirs[1], ["eval fails", "eval passes", "eval of another text"]),
    ] {
        match (one, other) {
            (Outcome::Json(ours), Outcome::Json(theirs)) if ours == theirs => {
                // Their equality leaves the order of fields out.
                let (ours, theirs) = (ours.to_string(), theirs.to_string());
                if ours != theirs {
                    return Some("export in another order");
                }
            }
            _ if one == other => {}
            // Upstream's own accidents are no answers.
            (_, Outcome::None) => {}
            (Outcome::None, _) => return Some("no answer"),
            (Outcome::Errors(ours), Outcome::Errors(theirs)) => {
                worst = worst.or(Some(messages(ours, theirs)));
            }
            (Outcome::Errors(_), _) => return Some(kinds[0]),
            (_, Outcome::Errors(_)) => return Some(kinds[1]),
            _ => return Some(kinds[2]),
        }
    }
    worst
}

/// Whether something that is named is not there, or lacks its arguments: what is left out of a program breaks it so.
fn is_broken(answer: &Answer) -> bool {
    let broken = |it: &String| it.ends_with(" not found") || it.contains("not enough arguments");
    let mut all = answer.iter();
    all.any(|it| matches!(it, Outcome::Errors(all) if all.iter().any(broken)))
}

/// How messages differ.
fn messages(ours: &[String], theirs: &[String]) -> &'static str {
    let without = |all: &[String], known: &[String]| -> Vec<String> {
        all.iter().filter(|it| !known.contains(it)).cloned().collect()
    };
    let (more, fewer) = (without(ours, theirs), without(theirs, ours));
    let texts = |all: &[String]| {
        let text = |it: &String| it.split_once(": ").map_or(it.clone(), |it| it.1.to_owned());
        sorted(all.iter().map(text).collect())
    };
    match (more.is_empty(), fewer.is_empty()) {
        (true, true) => "messages: told as often as not",
        (true, false) => "messages: some are missing",
        (false, true) => "messages: some are too many",
        (false, false) if texts(&more) == texts(&fewer) => "messages: at other paths",
        (false, false) if more.len() == fewer.len() => "messages: in other words",
        (false, false) => "messages: others, and not as many",
    }
}

/// A program, in the profile that is asked for.
fn compiled(text: &str) -> Result<Program, Vec<LoadError>> {
    let profile = match std::env::var("PROFILE").as_deref() {
        Ok("kubevela") => Profile::KubeVela,
        _ => Profile::V017,
    };
    compile(&[Source::new("in.cue", text)], &[], profile)
}

fn ours(text: &str) -> Answer {
    let program = match compiled(text) {
        Ok(program) => Arc::new(program),
        Err(errors) => {
            let told = errors.iter().map(|it| format!("{}: {}", it.path, it.message));
            let all: Vec<String> = told.collect();
            return [Outcome::Errors(sorted(all.clone())), Outcome::Errors(sorted(all))];
        }
    };
    // What is written as an error has no path (cue-errors 1.12).
    let path =
        |it: &Diagnostic| if it.message == LITERAL { String::new() } else { it.path.clone() };
    let told = |all: Vec<Diagnostic>| {
        Outcome::Errors(sorted(
            all.iter().map(|it| format!("{}: {}", path(it), it.message)).collect(),
        ))
    };
    let ask = |values: Concreteness| {
        std::panic::catch_unwind(|| {
            let mut it = Evaluation::start(program.clone(), &[], BUDGET);
            let Ok(Some(root)) = it.find("") else { return Outcome::None };
            let wrong = it.validate(root, values);
            if !wrong.is_empty() {
                return told(wrong);
            }
            // What nothing can be given for.
            let unmet = match it.unmet(root) {
                Err(all) => return told(all),
                Ok(unmet) => unmet,
            };
            match (values, unmet) {
                (Concreteness::Optional, None) => {
                    return Outcome::Text(it.syntax(root, Style::Eval));
                }
                (Concreteness::Optional, Some(one)) => {
                    return Outcome::Text(format!("_|_ // {}: {}\n", one.path, one.message));
                }
                _ => {}
            }
            match it.datum(root) {
                Ok(datum) => {
                    serde_json::from_str(&print_json(&datum)).map_or(Outcome::None, Outcome::Json)
                }
                Err(all) => told(all),
            }
        })
        .unwrap_or(Outcome::None)
    };
    [ask(Concreteness::Required), ask(Concreteness::Optional)]
}

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all
}

/// What the official implementation gives each.
fn official(oracle: &str, texts: &[String]) -> Result<Vec<Answer>, String> {
    Ok(asked(oracle, texts, &["export", "eval"])?.iter().map(read).collect())
}

fn asked(oracle: &str, texts: &[String], operations: &[&str]) -> Result<Vec<Value>, String> {
    let cases: Vec<Value> = texts
        .iter()
        .map(|it| json!({"files": {"in.cue": it}, "ops": operations, "timeout_ms": 3_000}))
        .collect();
    let mut words = oracle.split_whitespace();
    let mut child = Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|it| format!("{oracle}: {it}"))?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let input = Value::Array(cases).to_string();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|it| it.to_string())?;
    let _ = writer.join();
    let answers = String::from_utf8_lossy(&output.stdout);
    let lines = answers.lines().map(|it| it.trim_start_matches('[').trim_end_matches([',', ']']));
    // One is an answer each; one that nests deeper than the reader goes is none.
    let answers: Vec<Value> = lines
        .filter(|it| it.starts_with('{'))
        .map(|it| serde_json::from_str(it).unwrap_or_default())
        .collect();
    match answers.len() == texts.len() {
        true => Ok(answers),
        false => Err(format!("{oracle}: {} answers to {}", answers.len(), texts.len())),
    }
}

fn read(answer: &Value) -> Answer {
    if answer["status"] != "ok" {
        return [Outcome::None, Outcome::None];
    }
    let outcome = |at: usize| {
        let result = &answer["results"][at];
        match (result["ok"].as_bool(), &result["json"], &result["text"]) {
            (Some(true), _, Value::String(text)) => Outcome::Text(text.clone()),
            (Some(true), value, _) => Outcome::Json(value.clone()),
            _ => Outcome::Errors(sorted(
                result["errors"].as_array().into_iter().flatten().map(told).collect(),
            )),
        }
    };
    [outcome(0), outcome(1)]
}

fn told(error: &Value) -> String {
    let path = match &error["path"] {
        Value::Array(parts) => {
            parts.iter().filter_map(Value::as_str).collect::<Vec<&str>>().join(".")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let message = error["message"].as_str().unwrap_or_default();
    let at_path = format!("{path}: ");
    let message = message.strip_prefix(&at_path).unwrap_or(message);
    // The command tells the error without what it was found by.
    let message = message.strip_prefix("cue: marshal error: ").unwrap_or(message);
    let message = message.strip_prefix(&at_path).unwrap_or(message);
    // What keeps a text from being evaluated has its place in front of it.
    let place = message.split(' ').next().filter(|it| it.starts_with("in.cue:"));
    let message = place.map_or(message, |it| message[it.len()..].trim_start());
    format!("{path}: {message}")
}

fn show(oracle: &str, text: &str, kind: &str) -> Result<(), String> {
    let theirs = official(oracle, &[text.to_owned()])?;
    println!("== {kind}\n{}", text.trim());
    let ours = ours(text);
    for (of, it) in theirs.iter().flatten().enumerate() {
        if *it != ours[of] {
            println!("-- ours: {:?}\n-- official: {it:?}", ours[of]);
            break;
        }
    }
    println!();
    Ok(())
}
