//! Programs that others wrote, with a few words changed by chance: recorded cases of one file, each declaration on a
//! line of its own.

use std::path::Path;

use cue_eval::builtin::packages;
use cue_syntax::scan::{Scanner, T};
use serde_json::Value;

use crate::programs::{self, Dice};
use crate::shrink;

/// Longer ones are left out: they are made smaller one declaration after the other where they differ.
const MOST_LINES: usize = 60;

/// Words that are put in for others, besides those of the program.
const WORDS: &[&str] =
    &["int", "string", "_", "number", "bool", "null", "1", "2", "\"a\"", "true", "{}", "[]", "_|_"];

/// What stands for what.
const SIGNS: &[(T, &[&str])] = &[
    (T::And, &["|", "+"]),
    (T::Or, &["&", "| *"]),
    (T::Eql, &["!=", "<"]),
    (T::Neq, &["==", "<"]),
    (T::Add, &["-", "&"]),
    (T::Lss, &[">", ">="]),
    (T::Gtr, &["<", "<="]),
    (T::Option, &["", "!"]),
    (T::Not, &["", "?"]),
    (T::Ellipsis, &["[string]: int", "a: 1"]),
    (T::Mul, &["", "+"]),
];

/// A word of a declaration, and what stands before it.
struct Word {
    kind: T,
    before: &'static str,
    text: String,
}

/// The declarations of each program in the files of a folder.
pub fn load(folder: &Path) -> Result<Vec<Vec<String>>, String> {
    let all: Vec<_> = texts(folder)?.iter().filter_map(|it| declared(it)).collect();
    match all.is_empty() {
        true => {
            Err(format!("{}: no recorded programs with declarations on lines", folder.display()))
        }
        false => Ok(all),
    }
}

/// The text of each case in the files of a folder that is one file.
pub fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let told = |it: std::io::Error| format!("{}: {it}", folder.display());
        let mut found: Vec<_> = std::fs::read_dir(&folder)
            .map_err(told)?
            .filter_map(|it| Some(it.ok()?.path()))
            .collect();
        found.sort();
        for path in found {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "jsonl") {
                let text = std::fs::read_to_string(&path).map_err(told)?;
                all.extend(text.lines().filter_map(one_file));
            }
        }
    }
    match all.is_empty() {
        true => Err(format!("{}: no recorded programs of one file", folder.display())),
        false => Ok(all),
    }
}

/// The text of a case that is one file.
fn one_file(line: &str) -> Option<String> {
    let case: Value = serde_json::from_str(line).ok()?;
    match case["files"].as_object()?.values().collect::<Vec<_>>()[..] {
        [Value::String(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Its declarations, if they can stand on lines and import nothing that [`programs::with_imports`] does not.
fn declared(text: &str) -> Option<Vec<String>> {
    if ["\"\"\"", "'''", "@experiment", "@extern"].iter().any(|it| text.contains(it)) {
        return None;
    }
    let mut lines = vec![String::new()];
    let mut depth = 0_usize;
    for word in words(text) {
        match word.kind {
            T::LBrace | T::LBrack | T::LParen => depth += 1,
            T::RBrace | T::RBrack | T::RParen => depth = depth.checked_sub(1)?,
            T::Comma if depth == 0 => {
                lines.push(String::new());
                continue;
            }
            _ => {}
        }
        let line = lines.last_mut()?;
        line.push_str(word.before);
        line.push_str(&word.text);
    }
    lines.iter_mut().for_each(|it| *it = it.trim().to_owned());
    lines.retain(|it| !it.is_empty() && !it.starts_with("package "));
    let imports = lines.iter().filter(|it| it.starts_with("import"));
    let known =
        |it: &String| packages().iter().any(|known| *it == format!("import \"{}\"", known.path));
    if !imports.into_iter().all(known) || lines.len() > MOST_LINES {
        return None;
    }
    lines.retain(|it| !it.starts_with("import"));
    (!lines.is_empty()).then_some(lines)
}

/// The words of a text without its comments; a blank stands for each gap.
fn words(text: &str) -> Vec<Word> {
    let mut scanner = Scanner::new(text);
    let mut words = Vec::new();
    let mut last = 0;
    loop {
        let token = scanner.token();
        if token.kind == T::Eof {
            return words;
        }
        let gap = text.get(last..token.start as usize).unwrap_or_default();
        let before = if gap.is_empty() { "" } else { " " };
        last = token.end as usize;
        let written = match token.inserted {
            true => ",",
            false => text.get(token.start as usize..last).unwrap_or_default(),
        };
        if token.kind != T::Comment {
            let before = if token.inserted { "" } else { before };
            words.push(Word { kind: token.kind, before, text: written.to_owned() });
        }
    }
}

/// One of the programs, changed in one to three places.
pub fn program(all: &[Vec<String>], dice: &mut Dice) -> String {
    let mut lines = all[dice.roll(all.len())].clone();
    for _ in 0..1 + dice.roll(3) {
        let at = dice.roll(lines.len());
        match dice.roll(8) {
            // A field has another one's value.
            0 => {
                let from = dice.roll(lines.len());
                let value = lines[from].split_once(": ").map(|it| it.1.to_owned());
                let label = lines[at].split_once(": ").map(|it| it.0.to_owned());
                if let (Some(label), Some(value)) = (label, value) {
                    let line = format!("{label}: {value}");
                    match dice.roll(2) {
                        0 => lines[at] = line,
                        _ => lines.insert(at, line),
                    }
                }
            }
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => {
                let mut fewer = shrink::without_a_part(&lines[at]);
                if !fewer.is_empty() {
                    lines[at] = fewer.swap_remove(dice.roll(fewer.len()));
                }
            }
            _ => lines[at] = changed(&lines, at, dice),
        }
    }
    programs::with_imports(&lines)
}

/// A line with another word in it.
fn changed(lines: &[String], at: usize, dice: &mut Dice) -> String {
    let mut own = words(&lines[at]);
    let other = words(&lines[dice.roll(lines.len())]);
    let is_word = |it: &Word| matches!(it.kind, T::Ident | T::Int | T::Float | T::String);
    let mut known: Vec<&str> = other.iter().filter(|it| is_word(it)).map(|it| &*it.text).collect();
    known.extend(WORDS);
    let places: Vec<usize> = (0..own.len())
        .filter(|it| is_word(&own[*it]) || SIGNS.iter().any(|sign| sign.0 == own[*it].kind))
        .collect();
    if places.is_empty() {
        return lines[at].clone();
    }
    let place = places[dice.roll(places.len())];
    let word = &own[place];
    let text = match SIGNS.iter().find(|it| it.0 == word.kind) {
        Some((_, signs)) => dice.one(signs).to_owned(),
        None => match dice.roll(10) {
            0 => format!("({} & {})", word.text, dice.one(&known)),
            1 => format!("({} | {})", word.text, dice.one(&known)),
            2 => format!("{}.a", word.text),
            3 => format!("close({})", word.text),
            _ => dice.one(&known).to_owned(),
        },
    };
    own[place].text = text;
    own.iter().map(|it| format!("{}{}", it.before, it.text)).collect::<String>().trim().to_owned()
}
