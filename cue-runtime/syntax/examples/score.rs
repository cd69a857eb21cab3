//! Scores parser and printer against recorded cases: `score FOLDER [FILTER]`.
use cue_syntax::Style;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| ".".into());
    let show = args.next().unwrap_or_default();
    let mut scores: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut shown = 0;
    for part in ["parse", "fmt"] {
        let Ok(entries) = std::fs::read_dir(format!("{folder}/{part}")) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for line in text.lines() {
                let Ok(case) = serde_json::from_str::<Value>(line) else { continue };
                for (name, want, got) in check(part, &case) {
                    let score = scores.entry(name).or_default();
                    score.1 += 1;
                    score.0 += u32::from(want == got);
                    if want != got && name == show && shown < 12 {
                        shown += 1;
                        let source = case["src"].as_str().or(case["in"].as_str()).unwrap_or("");
                        println!("== {} {}", path.display(), case["id"]);
                        println!("{}", source.chars().take(1200).collect::<String>());
                        println!("-- want {}", plain(&want));
                        println!("-- got  {}", plain(&got));
                    }
                }
            }
        }
    }
    for (name, (passed, total)) in scores {
        println!("{name} {passed}/{total}");
    }
}

fn plain(value: &Value) -> String {
    let text = value.as_str().map_or(value.to_string(), str::to_owned);
    text.chars().take(1500).collect()
}

fn check(part: &str, case: &Value) -> Vec<(&'static str, Value, Value)> {
    let mut found = Vec::new();
    if part == "fmt" {
        let source = case["in"].as_str().unwrap_or_default();
        let (tree, _) = cue_syntax::parse_tree(source);
        let got = |simplify| {
            let style = if simplify { Style::Simplified } else { Style::Plain };
            json!(cue_syntax::format_tree(&tree, style))
        };
        found.push(("cue.fmt.main", case["out"].clone(), got(false)));
        if !case["out_simplified"].is_null() {
            found.push(("cue.fmt.simplified", case["out_simplified"].clone(), got(true)));
        }
        return found;
    }
    let source = case["src"].as_str().unwrap_or_default();
    let (_, errors) = cue_syntax::parse_tree(source);
    found.push(("cue.parse.main", case["ok"].clone(), json!(errors.is_empty())));
    let lines = cue_syntax::LineIndex::new(source);
    if case["ok"] == json!(false) {
        let messages: Vec<_> = errors.iter().map(|it| it.message.clone()).collect();
        let positions: Vec<_> = errors
            .iter()
            .map(|it| {
                let (line, column) = lines.at(it.span.start);
                if case["positions"][0].is_array() {
                    json!([format!("in.cue:{line}:{column}")])
                } else {
                    json!(format!("in.cue:{line}:{column}"))
                }
            })
            .collect();
        found.push(("cue.parse.message", case["messages"].clone(), json!(messages)));
        found.push(("cue.parse.position", case["positions"].clone(), json!(positions)));
    }
    if let Some(want) = case["tokens"].as_array() {
        let mut scanner = cue_syntax::scan::Scanner::new(source);
        let mut got = Vec::new();
        while got.len() < want.len() + 1 {
            let token = scanner.token();
            use cue_syntax::scan::T;
            let text = source.get(token.start as usize..token.end as usize).unwrap_or("");
            let literal = match token.kind {
                T::Eof => break,
                T::Comma if token.inserted => "\n".into(),
                T::Comma => ",".to_owned(),
                T::String if text.contains("\"\"\"") || text.contains("'''") => {
                    text.replace('\r', "")
                }
                T::Comment => text.replace('\r', ""),
                T::Ident | T::Int | T::Float | T::String | T::Attribute | T::Bottom => {
                    text.to_owned()
                }
                kind if kind.is_keyword() => text.to_owned(),
                T::Illegal => text.to_owned(),
                _ => String::new(),
            };
            let start = token.start.to_string();
            got.push(json!([token.kind.text(), literal, start]));
        }
        got.truncate(500);
        found.push(("cue.parse.tokens", case["tokens"].clone(), json!(got)));
    }
    found
}
