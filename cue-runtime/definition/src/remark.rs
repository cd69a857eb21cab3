//! Bottom literals with the comment that the printer puts behind them. It ends the line, so what
//! follows goes to the next one, with the indentation that the official printer has there.

use std::fmt::Write as _;

use crate::out::{BOTTOM, NO_SHARING};

const REMARK: &str = "// explicit error (_|_ literal) in source";
/// Behind what keeps a value from being shared, which is printed as bottom, too.
const UNSHARED: &str = "// no sharing";
/// What one tab of a line that goes on stands for.
const TAB: usize = 8;

/// The text as the formatter aligns it, then with what it would not take.
pub fn laid_out(text: &str, style: cue_syntax::Style) -> String {
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
    let mut list: Option<OpenList> = None;
    // Where an operand began behind a remark: its lines are one level deeper.
    let mut operand: Option<usize> = None;
    for line in text.lines() {
        let own = tabs(line);
        let closing = line.trim_start().starts_with('}');
        let mut extra = usize::from(list.is_some()) + usize::from(operand.is_some());
        if operand == Some(own) && closing && !line.trim_start().starts_with("} ") {
            operand = None;
        }
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
        let mut rest = line;
        let mut head = "\t".repeat(extra);
        let cell = line.chars().take(own + value_at(line)).count().saturating_sub(own);
        let cell = cell.div_ceil(TAB).max(1);
        let mut cells = None;
        let text = line.trim_start();
        // The block before it is aligned with the remark.
        if text.starts_with("})") || text.starts_with("}, ") || closing && !text.ends_with('{') {
            let inside = own + extra + 1;
            let width = text.find(BOTTOM).map_or(0, |it| it + "_|_ ".len()).div_ceil(TAB);
            let more = "\t".repeat(width.saturating_sub(1));
            let of_block = |it: &&mut String| tabs(it) == inside && !it.contains(['{', '}']);
            lines.iter_mut().rev().take_while(of_block).for_each(|it| it.insert_str(0, &more));
        }
        while let Some((before, after)) = rest.split_once(BOTTOM) {
            let (after, remark) = match NO_SHARING.strip_prefix(BOTTOM) {
                Some(unshared) if after.starts_with(unshared) => {
                    (after.get(unshared.len()..).unwrap_or_default(), UNSHARED)
                }
                _ => (after, REMARK),
            };
            let mut after = after.trim_start();
            let begins = list.is_none().then(|| begins_list(before)).flatten();
            let width = before.trim_start().chars().count() + "_|_ ".len();
            let clause = ["{", "for ", "if ", "let "].iter().any(|it| after.starts_with(it));
            let comprehension = {
                let line = line.trim_start_matches(['\t', '}', ',', ' ']);
                line.starts_with("if ") || line.starts_with("for ") || begins.is_some()
            };
            let mut indent = own + extra;
            let mut shown = format!("{head}{before}_|_ {remark}");
            head = match (&begins, clause) {
                (Some(_), true) => "\t".repeat(own + width.div_ceil(TAB)),
                (_, true) => "\t".repeat(indent),
                (_, false) if comprehension => "\t".repeat(indent + width.div_ceil(TAB)),
                (_, false) => {
                    // An element and the comma behind it are on the line of the remark.
                    cells = cells.or_else(|| cells_before(before));
                    indent += cell + cells.unwrap_or_default();
                    if after.starts_with([',', ']']) {
                        shown = match before.ends_with('[') || before.ends_with(", ") {
                            true => {
                                format!("{}, {remark}", shown.trim_end_matches(remark).trim_end())
                            }
                            false => shown + ",",
                        };
                        match after.strip_prefix(',') {
                            Some(next) => {
                                after = next.trim_start();
                                indent += usize::from(cells.is_some());
                            }
                            None => indent = own + extra,
                        }
                    }
                    "\t".repeat(indent)
                }
            };
            lines.push(shown);
            let opens = after.matches('(').count() > after.matches(')').count();
            if opens && after.ends_with('{') {
                operand = Some(own);
            }
            if let Some(alone) = begins {
                let first = if alone { own + 2 } else { own + (width + 2).div_ceil(TAB) };
                list = Some(OpenList { indent: own, first: Some(first) });
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

/// How far into a line, without what it is indented by, the value of its field begins.
fn value_at(line: &str) -> usize {
    let text = line.trim_start();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let label =
            rest.find(": ").filter(|it| !rest.get(..*it).is_some_and(|it| it.contains(' ')));
        let Some(label) = label else { return at };
        let value = rest.get(label + 1..).unwrap_or_default();
        at += label + 1 + value.len() - value.trim_start().len();
    }
}

/// What is behind the outermost bracket that is open at the end of a text.
fn open_list(before: &str) -> Option<&str> {
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
    before.get(open.first()? + 1..)
}

/// Whether a comprehension has begun in a list at the end of a text; `true` if nothing stands
/// before it there.
fn begins_list(before: &str) -> Option<bool> {
    let inside = open_list(before)?;
    let begins = |it: &str| it.starts_with("if ") || it.starts_with("for ");
    let any = begins(inside) || [", if ", ", for "].iter().any(|it| inside.contains(it));
    any.then(|| begins(inside))
}

/// How many tabs the elements take up that stand before the last one in a list that is open at the
/// end of a text.
fn cells_before(before: &str) -> Option<usize> {
    let inside = open_list(before)?;
    let elements = inside.split_inclusive(", ").filter(|it| it.ends_with(", "));
    Some(elements.map(|it| (it.chars().count() + 1).div_ceil(TAB)).sum())
}

/// Remarks at the end of lines that follow each other stand in one column.
fn aligned(lines: &mut [String]) {
    let operator = |it: &String| it.trim_start().starts_with(['|', '&', '=', '!']);
    let mut start = 0;
    while start < lines.len() {
        let indent = tabs(&lines[start]);
        // Behind the label, if the value goes on in the next line.
        let goes_on = value_at(&lines[start]) > 0
            && open_list(&lines[start]).is_none()
            && lines.get(start + 1).is_some_and(|it| tabs(it) > indent && operator(it));
        let width = |line: &String| {
            let remark = [REMARK, UNSHARED].into_iter().find(|it| line.ends_with(it))?;
            let label = if goes_on { tabs(line) + value_at(line) } else { indent };
            Some(((line.len() - remark.len()).saturating_sub(label), remark))
        };
        let of_block = |it: &&String| tabs(it) == indent || goes_on && operator(it);
        let block = lines[start..].iter().take_while(of_block).map_while(width);
        let block: Vec<(usize, &str)> = block.collect();
        let widest = block.iter().map(|it| it.0).max().unwrap_or_default();
        for (line, (width, remark)) in lines[start..].iter_mut().zip(&block) {
            line.truncate(line.len() - remark.len());
            let _ = write!(line, "{}{remark}", " ".repeat(widest - width));
        }
        start += block.len().max(1);
    }
}
