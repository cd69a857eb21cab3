//! Bottom literals with the comment that the printer puts behind them. It ends the line, so what
//! follows goes to the next one, with the indentation that the official printer has there.

use std::fmt::Write as _;

use crate::definition::out::{BOTTOM, NO_SHARING};

const REMARK: &str = "// explicit error (_|_ literal) in source";
/// Behind what keeps a value from being shared, which is printed as bottom, too.
const UNSHARED: &str = "// no sharing";
/// What one tab of a line that goes on stands for.
const TAB: usize = 8;

/// The text as the formatter aligns it, then with what it would not take.
pub(crate) fn laid_out(text: &str, style: cue_syntax::Style) -> String {
    let Some(text) = formatted(text, style) else {
        return text.replace(NO_SHARING, "_|_").replace(BOTTOM, "_|_");
    };
    if text.contains(BOTTOM) { with_remarks(&text) } else { text }
}

/// The text as the formatter has it; experiments that it needs need not be asked for.
fn formatted(text: &str, style: cue_syntax::Style) -> Option<String> {
    const ASKED: &str = "@experiment(try,explicitopen,aliasv2)\n\n";
    let (tree, errors) = cue_syntax::parse_tree(text);
    if errors.is_empty() {
        return Some(cue_syntax::format_tree(&tree, style));
    }
    let (tree, errors) = cue_syntax::parse_tree(&format!("{ASKED}{text}"));
    if !errors.is_empty() {
        return None;
    }
    let text = cue_syntax::format_tree(&tree, style);
    text.strip_prefix(ASKED).map(str::to_owned)
}

/// A list that began on a line with a remark: its lines are one level deeper until it ends.
struct OpenList {
    /// Tabs before the line that it began on.
    indent: usize,
    /// Tabs before the lines of the first block, if that is not one level more.
    first: Option<usize>,
}

fn with_remarks(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let all: Vec<&str> = text.lines().collect();
    let mut list: Option<OpenList> = None;
    let mut deeper: Option<(usize, usize)> = None;
    for (index, line) in all.iter().enumerate() {
        let own = tabs(line);
        let closing = line.trim_start().starts_with('}');
        // The end of a block in a struct that a second one follows on the same line.
        if deeper.is_some_and(|it| it.0 == own) && closing {
            deeper = None;
        }
        let mut extra = usize::from(list.is_some()) + deeper.map_or(0, |it| it.1);
        if let Some(it) = &mut list {
            match it.first {
                Some(_) if closing && own == it.indent => it.first = None,
                Some(first) if own == it.indent + 1 => extra = first.saturating_sub(own),
                Some(_) | None => {}
            }
        }
        let ends_list =
            closing && !line.ends_with('{') && list.as_ref().is_some_and(|it| own == it.indent);
        if line.trim_start().starts_with("}, ") && own == list.as_ref().map_or(own, |it| it.indent)
        {
            if let Some(it) = &mut list {
                it.first = None;
            }
        }
        if !line.contains(BOTTOM) {
            lines.push(format!("{}{line}", "\t".repeat(extra)));
            if ends_list {
                list = None;
            }
            continue;
        }
        let mut rest = *line;
        let mut head = "\t".repeat(extra);
        while let Some((before, after)) = rest.split_once(BOTTOM) {
            let (after, remark) = match NO_SHARING.strip_prefix(BOTTOM) {
                Some(unshared) if after.starts_with(unshared) => {
                    (after.get(unshared.len()..).unwrap_or_default(), UNSHARED)
                }
                _ => (after, REMARK),
            };
            let shown = format!("{head}{before}_|_ {remark}");
            let after = after.trim_start();
            let begins = list.is_none().then(|| opens_list(before)).flatten();
            let width = before.trim_start().chars().count() + "_|_ ".len();
            lines.push(shown);
            let clause = ["{", "for ", "if ", "let "].iter().any(|it| after.starts_with(it));
            let comprehension = {
                let line = line.trim_start_matches(['\t', '}', ',', ' ']);
                line.starts_with("if ") || line.starts_with("for ") || begins.is_some()
            };
            let indent = own + extra;
            head = match (&begins, clause) {
                (Some(_), true) => "\t".repeat(own + width.div_ceil(TAB)),
                (_, true) => "\t".repeat(indent),
                (_, false) if comprehension => "\t".repeat(indent + width.div_ceil(TAB)),
                (_, false) => "\t".repeat(indent + 1),
            };
            if let Some(alone) = begins {
                let first = if alone { own + 2 } else { own + (width + 2).div_ceil(TAB) };
                list = Some(OpenList { indent: own, first: Some(first) });
            } else if list.is_none() && clause && line.ends_with('{') && !closing {
                let end = all[index + 1..].iter().find(|it| tabs(it) == own && !it.is_empty());
                let inline = end.is_some_and(|it| it.trim_start().starts_with("}, "));
                let around = all[..index].iter().rfind(|it| tabs(it) < own && !it.is_empty());
                let in_list = around.is_some_and(|it| opens_list(it).is_some());
                // An element that begins its own line is not deeper.
                let apart = around.is_some_and(|it| it.ends_with('['));
                deeper = (inline && !apart).then_some((own, 1 + usize::from(in_list)));
            }
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        if !rest.is_empty() {
            lines.push(format!("{head}{rest}"));
        }
    }
    aligned(&mut lines);
    lines.join("\n") + "\n"
}

fn tabs(line: &str) -> usize {
    line.bytes().take_while(|it| *it == b'\t').count()
}

/// Whether a list is open at the end of a text; `true` if nothing stands in it before the last
/// element.
fn opens_list(before: &str) -> Option<bool> {
    let mut open = Vec::new();
    let mut quoted = false;
    for (at, c) in before.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => open.push(at),
            ']' if !quoted => {
                open.pop();
            }
            _ => {}
        }
    }
    let at = open.first()?;
    let inside = before.get(at + 1..)?;
    Some(inside.starts_with("if ") || inside.starts_with("for "))
}

/// Remarks at the end of lines that follow each other stand in one column.
fn aligned(lines: &mut [String]) {
    let width = |line: &String| {
        let remark = [REMARK, UNSHARED].into_iter().find(|it| line.ends_with(it))?;
        Some((line.chars().count() - remark.len(), remark))
    };
    let mut start = 0;
    while start < lines.len() {
        let indent = tabs(&lines[start]);
        let block = lines[start..].iter().take_while(|it| tabs(it) == indent).map_while(width);
        let block: Vec<(usize, &str)> = block.collect();
        let widest = block.iter().map(|it| it.0).max().unwrap_or_default();
        for (line, (width, remark)) in lines[start..].iter_mut().zip(&block) {
            line.truncate(line.len() - remark.len());
            let _ = write!(line, "{}{remark}", " ".repeat(widest - width));
        }
        start += block.len().max(1);
    }
}
