//! Recorded texts with blanks, lines, commas and comments put in or taken out by chance, formatted by both.

use std::fmt::Write as _;

use cue_syntax::scan::{Scanner, T};
use cue_syntax::{LineIndex, Style, format_tree, parse_tree};
use serde_json::Value;

use crate::programs::Dice;
use crate::{Found, asked, tell};

/// Longer ones are left out.
const MOST_BYTES: usize = 4_000;

/// What is put between two words, and in place of what stands there.
const GAPS: &[&str] = &[
    "",
    " ",
    "   ",
    "\t",
    "\n",
    "\n\n",
    "\n\n\n",
    ", ",
    ",\n",
    " // c\n",
    "\n// c\n",
    "\n\n// c\n\n",
];

/// What each text is formatted to, or its first error.
type Formatted = Result<String, String>;

/// As many of the texts, with one to three gaps changed.
pub fn texts(all: &[String], count: u64, dice: &mut Dice) -> Vec<String> {
    let short: Vec<&String> = all.iter().filter(|it| it.len() < MOST_BYTES).collect();
    (0..count).map(|_| changed(short[dice.roll(short.len())], dice)).collect()
}

/// Compares what both make of the texts.
pub fn run(oracle: &str, texts: &[String], mut shown: u64) -> Result<(), String> {
    let mut found = Found::new();
    let mut formatted = 0;
    for texts in texts.chunks(crate::BATCH) {
        for (text, answer) in texts.iter().zip(asked(oracle, texts, &["syntax"])?) {
            // Upstream's own accidents are no answers.
            let Some(theirs) = official(&answer) else { continue };
            formatted += usize::from(theirs.is_ok());
            let ours = ours(text);
            let kind = match (&ours, &theirs) {
                (ours, theirs) if ours == theirs => continue,
                (Ok(ours), Ok(_)) if !parse_tree(ours).1.is_empty() => "a text that is refused",
                (Ok(_), Ok(_)) => "another text",
                (Ok(_), Err(_)) => "formatted, though it is refused",
                (Err(_), Ok(_)) => "refused, though it is formatted",
                (Err(_), Err(_)) => "another error",
            };
            *found.entry(kind).or_default() += 1;
            if shown > 0 {
                shown -= 1;
                println!("== {kind}\n{text}\n{}", compared(&ours, &theirs));
            }
        }
    }
    println!("{} texts, {formatted} that are formatted", texts.len());
    tell(&found);
    Ok(())
}

fn changed(text: &str, dice: &mut Dice) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + dice.roll(3) {
        let gaps = gaps(&text);
        let (from, to) = gaps[dice.roll(gaps.len())];
        // Beside what is there, or in its place.
        let from = if dice.roll(2) == 0 { from } else { to };
        text.replace_range(from..to, dice.one(GAPS));
    }
    text
}

/// From where to where there is nothing but blanks and lines, before each word.
fn gaps(text: &str) -> Vec<(usize, usize)> {
    let mut scanner = Scanner::new(text);
    let mut gaps = Vec::new();
    let mut last = 0;
    loop {
        let token = scanner.token();
        let start = token.start as usize;
        if last <= start && text.get(last..start).is_some_and(|it| it.trim().is_empty()) {
            gaps.push((last, start));
        }
        if !token.inserted {
            last = token.end as usize;
        }
        if token.kind == T::Eof {
            if gaps.is_empty() {
                gaps.push((0, 0));
            }
            return gaps;
        }
    }
}

fn ours(text: &str) -> Formatted {
    let (tree, errors) = parse_tree(text);
    match errors.first() {
        None => Ok(format_tree(&tree, Style::Plain)),
        Some(it) => {
            let (line, column) = LineIndex::new(text).at(it.span.start);
            Err(format!("{line}:{column} {}", it.message))
        }
    }
}

/// What the official implementation gives.
fn official(answer: &Value) -> Option<Formatted> {
    let file = &answer["results"][0]["files"][0];
    if let Some(text) = file["text"].as_str() {
        return Some(Ok(text.to_owned()));
    }
    let first = &file["errors"][0];
    let at = first["positions"][0].as_str()?.strip_prefix("in.cue:")?;
    Some(Err(format!("{at} {}", first["message"].as_str()?)))
}

/// The lines of either that the other has not.
fn compared(ours: &Formatted, theirs: &Formatted) -> String {
    let lines = |it: &Formatted| -> Vec<String> {
        let (Ok(text) | Err(text)) = it;
        text.lines().map(str::to_owned).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let mut out = String::new();
    for (sign, these, those) in [('-', &theirs, &ours), ('+', &ours, &theirs)] {
        for line in these.iter().filter(|it| !those.contains(it)) {
            let _ = writeln!(out, "{sign}{line}");
        }
    }
    out
}
