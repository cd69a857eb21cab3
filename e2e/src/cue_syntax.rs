//! Recorded CUE texts: accepted or refused, messages, positions, and what `cue fmt` makes of them.

use std::path::Path;

use anyhow::Context;
use cue_syntax::scan::{Scanner, T};
use cue_syntax::{LineIndex, Style, format_tree, parse_tree};
use serde_json::{Value, json};

use crate::score::Scores;

/// Scores `cue/syntax/parse`.
///
/// # Errors
/// A folder or file cannot be read.
pub fn parsed(cases: &Path) -> anyhow::Result<Scores> {
    checked(&cases.join("cue/syntax/parse"), parse)
}

/// Scores `cue/syntax/fmt`.
///
/// # Errors
/// A folder or file cannot be read.
pub fn formatted(cases: &Path) -> anyhow::Result<Scores> {
    checked(&cases.join("cue/syntax/fmt"), format)
}

fn checked(folder: &Path, check: fn(&Value, &mut Scores)) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        for line in text.lines() {
            check(&serde_json::from_str(line)?, &mut scores);
        }
    }
    Ok(scores)
}

fn parse(case: &Value, scores: &mut Scores) {
    let id = case["id"].as_str().unwrap_or_default();
    let source = case["src"].as_str().unwrap_or_default();
    let (_, errors) = parse_tree(source);
    if let Some(want) = case["tokens"].as_array() {
        let got = tokens(source, want.len());
        scores.check("cue.parse.tokens", id, want == &got, || format!("want {want:?} got {got:?}"));
    }
    let accepted = json!(errors.is_empty());
    scores.check("cue.parse.main", id, case["ok"] == accepted, || accepted.to_string());
    if case["ok"] == json!(true) {
        return;
    }
    let lines = LineIndex::new(source);
    let messages: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
    let messages = json!(messages);
    let positions: Vec<Value> = errors
        .iter()
        .map(|it| {
            let (line, column) = lines.at(it.span.start);
            json!([format!("in.cue:{line}:{column}")])
        })
        .collect();
    let positions = json!(positions);
    scores.check("cue.parse.message", id, case["messages"] == messages, || messages.to_string());
    let equal = case["positions"] == positions;
    scores.check("cue.parse.position", id, equal, || positions.to_string());
}

/// Kind, text and offset of the first tokens; a comma that a newline stands for has the newline
/// as its text.
fn tokens(source: &str, most: usize) -> Vec<Value> {
    let mut scanner = Scanner::new(source);
    let mut all = Vec::new();
    while all.len() < most {
        let token = scanner.token();
        if token.kind == T::Eof {
            break;
        }
        let named = matches!(
            token.kind,
            T::Ident
                | T::Int
                | T::Float
                | T::String
                | T::Attribute
                | T::Comment
                | T::Bottom
                | T::Illegal
        );
        let text = if token.inserted {
            "\n".to_owned()
        } else if named || token.kind.is_keyword() || token.kind == T::Comma {
            let text = source.get(token.start as usize..token.end as usize);
            // Carriage returns are no part of a token.
            text.unwrap_or_default().replace('\r', "")
        } else {
            String::new()
        };
        all.push(json!([token.kind.text(), text, token.start.to_string()]));
    }
    all
}

fn format(case: &Value, scores: &mut Scores) {
    let id = case["id"].as_str().unwrap_or_default();
    let (tree, _) = parse_tree(case["in"].as_str().unwrap_or_default());
    let styles = [
        ("cue.fmt.main", "out", Style::Plain),
        ("cue.fmt.simplified", "out_simplified", Style::Simplified),
    ];
    for (name, field, style) in styles {
        if let Some(want) = case[field].as_str() {
            let got = format_tree(&tree, style);
            scores.check(name, id, got == want, || got.clone());
        }
    }
}
