//! The CUE implementation beside the official one, in the same run: library against library, warm.
//!
//! `CUE_ORACLE` is a command that answers cases, one a line, as `{"files": {…}, "ops": ["export"]}`, with
//! `micros` and results; `CASES` the folder of recorded cases (generators of cliffs, texts of the syntax set,
//! definitions). Each input is played by a process of its own on both sides, after a small one, and asked
//! again as long as that is quick: the best time counts, and the peak of memory of the process that
//! evaluates. The output is Markdown. `ONLY` names one generator, `syntax`, `definitions`, `wrong` or
//! `choices`.

mod choices;
mod definitions;
mod ours;
mod side;
mod sized;
mod theirs;
mod wrong;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use lateen_e2e::canonical::canonical;
use lateen_e2e::cuex::{Cliff, SLACK, exponent};

use crate::side::{Asked, Question, Ran, Side};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        // `cargo test --benches` only asks whether it starts.
        (Some("--test"), _) => ExitCode::SUCCESS,
        (Some(ours::PLAY), Some(file)) => ours::play(Path::new(&file)),
        _ => match compare() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("bench-cue: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

fn compare() -> anyhow::Result<()> {
    let variable = |name: &str, what: &str| {
        std::env::var(name).with_context(|| format!("set {name} to {what}"))
    };
    let cases = variable("CASES", "the folder of recorded cases")?;
    let program = variable(
        "CUE_ORACLE",
        "a command that answers cases as the official implementation does (`…/cue-oracle.sh ask`)",
    )?;
    let cases = Path::new(&cases);
    if !cases.join("cuex/cliffs/results.jsonl").is_file() {
        bail!("{} holds no cuex/cliffs: set CASES", cases.display());
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut sides = (ours::Ours::new()?, theirs::Theirs::new(&program));
    let wanted = |name: &str| only.is_empty() || only == name;
    if wanted("syntax") {
        syntax(&cases.join("cue/syntax/fmt"), &mut sides)?;
    }
    if wanted("definitions") {
        definitions::compare(&cases.join("vela"), &mut sides)?;
    }
    if wanted("wrong") {
        sized::compare("wrong", wrong::PROGRAMS, || Question::Errors, &mut sides)?;
    }
    if wanted("choices") {
        let out = || Question::Value("out".to_owned());
        sized::compare("choices", choices::PROGRAMS, out, &mut sides)?;
    }
    if !["syntax", "definitions", "wrong", "choices"].contains(&&*only) {
        cliffs(&cases.join("cuex/cliffs"), &only, &mut sides)?;
    }
    Ok(())
}

/// Both sides.
type Sides = (ours::Ours, theirs::Theirs);

/// Lines that are parsed and formatted.
const LINES: usize = 85_000;

fn syntax(folder: &Path, sides: &mut Sides) -> anyhow::Result<()> {
    let mut texts = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|it| it.path()).collect();
    files.sort();
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            let case: serde_json::Value = serde_json::from_str(line)?;
            let text = case["in"].as_str().unwrap_or_default();
            if cue_syntax::parse_tree(text).1.is_empty() {
                texts.push(text.to_owned());
            }
        }
    }
    let (mut asked, mut lines) = (Vec::new(), 0);
    for (at, text) in texts.iter().cycle().take(1_000_000).enumerate() {
        if lines >= LINES {
            break;
        }
        lines += text.lines().count();
        asked.push((format!("f{at}.cue"), text.clone()));
    }
    let asked = Asked { files: asked, question: Question::Format };
    let (mine, other) = (sides.0.ask(&asked)?, sides.1.ask(&asked)?);
    println!("| | Lateen, ms | official, ms | times as fast | Lateen, MB | official, MB |");
    println!("|---|---|---|---|---|---|");
    println!(
        "| parse and format {lines} lines in {} files | {} | {} | {} | {} | {} |\n",
        asked.files.len(),
        mine.time(),
        other.time(),
        mine.faster_than(&other).map_or_else(String::new, |it| format!("{it:.1}")),
        mine.memory(),
        other.memory()
    );
    Ok(())
}

/// The head of a table of sizes.
fn points(what: &str) {
    println!(
        "| {what} | n | Lateen, ms | official, ms | times as fast | Lateen, MB | official, MB |"
    );
    println!("|---|---|---|---|---|---|---|");
}

/// A line of it.
fn point(name: &str, n: u64, mine: &Ran, other: &Ran) {
    println!(
        "| {name} | {n} | {} | {} | {} | {} | {} |",
        mine.time(),
        other.time(),
        mine.faster_than(other).map_or_else(String::new, |it| format!("{it:.1}")),
        mine.memory(),
        other.memory()
    );
}

/// Everything of one generator.
struct Row {
    id: String,
    goal: Option<f64>,
    sizes: Vec<(u64, Ran, Ran)>,
}

fn cliffs(folder: &Path, only: &str, sides: &mut Sides) -> anyhow::Result<()> {
    points("generator");
    let mut rows = Vec::new();
    for cliff in Cliff::all(folder)?.into_iter().filter(|it| only.is_empty() || it.id == only) {
        let mut row = Row { id: cliff.id.clone(), goal: cliff.goal, sizes: Vec::new() };
        let (mut mine_over, mut other_over) = (false, false);
        for n in &cliff.sizes {
            let scored = cliff.scored.contains(n);
            if !scored && mine_over && other_over {
                continue;
            }
            let (files, _) = cliff.files(*n)?;
            let question = match cliff.expression() {
                Some(path) => Question::Value(path.to_owned()),
                None => Question::Value(String::new()),
            };
            let asked = Asked { files, question };
            let mine = if mine_over { Ran::Skipped } else { sides.0.ask(&asked)? };
            let other = if other_over { Ran::Skipped } else { sides.1.ask(&asked)? };
            mine_over |= matches!(mine, Ran::Over(_));
            other_over |= matches!(other, Ran::Over(_));
            point(&row.id, *n, &mine, &other);
            row.sizes.push((*n, mine, other));
        }
        rows.push(row);
    }
    summary(&rows);
    Ok(())
}

/// One line a generator: the largest size that both answered, the growth, what differs.
fn summary(rows: &[Row]) {
    println!(
        "\n| generator | n | Lateen, ms | official, ms | times as fast | memory | growth | goal | notes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut logarithms, mut slower, mut wide) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let both =
            row.sizes.iter().rev().find(|(_, mine, other)| mine.faster_than(other).is_some());
        let curve: Vec<(u64, f64)> =
            row.sizes.iter().filter_map(|(n, mine, _)| Some((*n, mine.seconds()?))).collect();
        let growth = exponent(&curve);
        let mut notes = Vec::new();
        for (n, mine, other) in &row.sizes {
            if let Ran::Over(why) = mine {
                notes.push(format!("n={n}: {why}"));
            }
            if let (Ran::Done { value: a, .. }, Ran::Done { value: b, .. }) = (mine, other) {
                if canonical(a) != canonical(b) {
                    notes.push(format!("n={n}: another value"));
                }
            }
        }
        if row.goal.is_some_and(|goal| growth > goal + SLACK) {
            wide.push(row.id.as_str());
        }
        let goal = row.goal.map_or_else(|| "output".to_owned(), |it| format!("n^{it}"));
        let notes = notes.join("; ");
        let Some((n, mine, other)) = both else {
            println!("| {} | | | | | | n^{growth:.1} | {goal} | {notes} |", row.id);
            continue;
        };
        let ratio = mine.faster_than(other).unwrap_or(f64::NAN);
        logarithms.push(ratio.ln());
        if ratio < 1.0 {
            slower.push(row.id.as_str());
        }
        let share = match (mine, other) {
            (Ran::Done { peak, .. }, Ran::Done { peak: theirs, .. }) => {
                format!("{:.2}", *peak as f64 / *theirs as f64)
            }
            _ => String::new(),
        };
        println!(
            "| {} | {n} | {} | {} | {ratio:.1} | {share} | n^{growth:.1} | {goal} | {notes} |",
            row.id,
            mine.time(),
            other.time()
        );
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    println!(
        "\n{} generators, geometric mean {mean:.1} times as fast; slower: {}; beyond their goal: {}.",
        rows.len(),
        if slower.is_empty() { "none".to_owned() } else { slower.join(", ") },
        if wide.is_empty() { "none".to_owned() } else { wide.join(", ") }
    );
}
