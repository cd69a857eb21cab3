//! The comments of a YAML file, and which of its fields and elements each belongs to.

use std::collections::BTreeMap;

use cue_eval::builtin::Datum;
use cue_eval::encode::{Entry, Tree};

use crate::located::Lines;

/// The comments of one document, by the place of the entry in its tree.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// Lines above a field or an element, and whether an empty line stands above them: until all are
    /// found, how many of them stand there in the file too.
    pub(crate) above: BTreeMap<usize, (Vec<String>, u32)>,
    /// Behind a label or a value, on its line.
    pub(crate) behind: BTreeMap<usize, String>,
    /// Below everything.
    pub(crate) below: Vec<String>,
}

/// A comment as it stands in the file.
struct Comment {
    at: u32,
    line: u32,
    column: u32,
    text: String,
    /// Nothing stands before it on its line.
    alone: bool,
}

/// How far back what a comment stands below is looked for.
const MOST: usize = 10_000;

/// An entry that may have comments.
#[derive(Clone, Copy)]
struct Holder {
    number: usize,
    at: u32,
    line: u32,
    column: u32,
}

/// The comments between two offsets of the file, for the document that stands there.
pub(crate) fn remarks(tree: &Tree, file: &[u8], lines: &Lines, from: usize, to: usize) -> Remarks {
    let mut found = Remarks::default();
    let part = file.get(from..to).unwrap_or_default();
    if !part.contains(&b'#') {
        return found;
    }
    let holders = holders(tree, lines, file);
    let places: BTreeMap<usize, Holder> = holders.iter().map(|it| (it.number, *it)).collect();
    let ends = ends(tree);
    let comments = comments(tree, file, from, to, lines);
    let mut rest = comments.as_slice();
    while let Some(first) = rest.first() {
        if !first.alone {
            found.behind(first, tree, file, lines, (&ends, &holders));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        // Lines of one column that follow each other are one comment.
        let mut count = 1;
        while let (Some(one), Some(next)) = (rest.get(count - 1), rest.get(count)) {
            if !next.alone || next.line != one.line + 1 || next.column != one.column {
                break;
            }
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        // What ends a document that others follow is below it.
        let last = to == file.len();
        found.alone(group, (tree, file), lines, (&holders, last));
        rest = others;
    }
    // An empty line stands above what is said of one if it is far enough from what came before.
    for (number, (_, gap)) in &mut found.above {
        let holder = places.get(number);
        let before = tree.entries.get(..*number).unwrap_or_default().iter().rev();
        let before = before.filter(|it| !matches!(it.0, Entry::End)).find(|it| {
            !matches!(it.0, Entry::Struct | Entry::List) || holder.is_none_or(|at| it.1 < at.at)
        });
        if let (Some(holder), Some(before), 1..) = (holder, before, *gap) {
            *gap = u32::from(holder.line.saturating_sub(*gap + lines.at(before.1).0) >= 2);
        } else {
            *gap = 0;
        }
    }
    found
}

impl Remarks {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.above.is_empty() && self.behind.is_empty() && self.below.is_empty()
    }

    /// What comes behind a value; what stands above an element comes behind it once more.
    pub(crate) fn behind_value(&self, tree: &Tree, number: usize) -> Option<String> {
        let before = number.checked_sub(1).and_then(|it| tree.entries.get(it));
        let element = before.is_some_and(|it| !matches!(it.0, Entry::Key(_)));
        let above = self.above.get(&number).filter(|_| element);
        let above = above.map(|it| format!("\n{}", it.0.join("\n"))).unwrap_or_default();
        let own = self.behind.get(&number).map(|it| format!(" {it}")).unwrap_or_default();
        Some(above + &own).filter(|it| !it.is_empty())
    }

    /// Whether a struct is one field with a scalar that something is said of, and nothing else is.
    pub(crate) fn is_alone(&self, tree: &Tree, number: usize) -> bool {
        let Some(label) = number.checked_sub(1) else { return false };
        let said = |at: usize| self.above.contains_key(&at) || self.behind.contains_key(&at);
        let shape = tree.entries.get(label..number + 4).unwrap_or_default();
        matches!(
            shape,
            [
                (Entry::Key(_), _),
                (Entry::Struct, _),
                (Entry::Key(_), _),
                (Entry::Scalar(_), _),
                (Entry::End, _)
            ]
        ) && !said(label)
            && !said(number + 1)
            && self.behind.contains_key(&(number + 2))
    }

    /// A comment on a line of its own: of what comes, or of what came if it is set off from that.
    fn alone(
        &mut self,
        group: &[Comment],
        (tree, file): (&Tree, &[u8]),
        lines: &Lines,
        (holders, last_document): (&[Holder], bool),
    ) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let texts = || group.iter().map(|it| it.text.clone());
        let (earlier, later) = split(holders, first.at);
        let next = later.first();
        let before = earlier.iter().rev().take(MOST).find(|it| it.column <= first.column);
        let sibling = before.filter(|it| it.column == first.column);
        let empty = |line: u32| lines.is_empty(file, line);
        let of_value = last_document || first.column > 1;
        // Below a key without a value it is said of the next one.
        let empty_handed = before.is_some_and(|it| is_left_out(tree, file, it.number + 1));
        let foot = match next {
            Some(next) if empty_handed && before.is_some_and(|it| it.column == next.column) => None,
            None if empty_handed && last_document => {
                self.below.extend(texts());
                return;
            }
            Some(next) if first.column > next.column => before,
            Some(_) if empty(last.line + 1) && !empty(first.line - 1) => sibling,
            Some(_) => None,
            None if of_value && !empty(first.line.saturating_sub(1)) => before,
            None => {
                self.below.extend(texts());
                return;
            }
        };
        if let Some(it) = foot {
            self.above.entry(it.number).or_default().0.extend(texts());
        } else if let Some(it) = next {
            let (all, own) = self.above.entry(it.number).or_default();
            all.extend(texts());
            *own += group.len() as u32;
        } else {
            self.below.extend(texts());
        }
    }

    /// One more comment behind an entry.
    fn say_behind(&mut self, number: usize, text: &str) {
        let all = self.behind.entry(number).or_default();
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(text);
    }

    /// A comment behind something.
    fn behind(
        &mut self,
        it: &Comment,
        tree: &Tree,
        file: &[u8],
        lines: &Lines,
        (ends, holders): (&[(u32, usize)], &[Holder]),
    ) {
        let last = ends.partition_point(|end| end.0 < it.at).checked_sub(1);
        let number = last.and_then(|last| ends.get(last)).map(|end| end.1);
        let entry = number.and_then(|number| Some((number, tree.entries.get(number)?)));
        let Some((number, (entry, at))) = entry else { return };
        let text = it.text.clone();
        let here = lines.at(*at).0 == it.line;
        match entry {
            Entry::Scalar(_) if here && is_left_out(tree, file, number) => {
                self.say_behind(number.saturating_sub(1), &text);
            }
            // What an alias brings stands where its anchor does: before its label.
            Entry::Key(_) if here && is_aliased(tree, number + 1) => {
                self.say_behind(number + 1, &text);
            }
            Entry::Key(_) if here => self.say_behind(number, &text),
            Entry::Scalar(_) if here => {
                let first = ends.partition_point(|end| end.0 < *at);
                for (_, number) in ends.iter().skip(first).take_while(|end| end.0 == *at) {
                    self.say_behind(*number, &text);
                }
            }
            Entry::End if here && matches!(file.get(*at as usize), Some(b']' | b'}')) => {
                self.say_behind(number, &text);
            }
            _ if !here => {
                if let Some(next) = split(holders, it.at).1.first() {
                    self.above.entry(next.number).or_default().0.push(text);
                }
            }
            _ => {}
        }
    }
}

fn holders(tree: &Tree, lines: &Lines, file: &[u8]) -> Vec<Holder> {
    let mut found = Vec::new();
    // Whether what is open is a list, and written in brackets or braces.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut labelled = false;
    // Where an element in brackets or braces begins: its first part has what is said of it.
    let mut begins = None;
    for (number, (entry, at)) in tree.entries.iter().enumerate() {
        let flow = is_flow(file, *at);
        let within = open.last().is_some_and(|it| it.1);
        let element = open.last().is_none_or(|it| it.0) && !labelled;
        let key = matches!(entry, Entry::Key(_));
        let scalar = matches!(entry, Entry::Scalar(_));
        if (key || element && scalar) && (!within || begins.is_some()) {
            let at = begins.take().unwrap_or(*at);
            let (line, column) = lines.at(at);
            found.push(Holder { number, at, line, column });
        }
        match entry {
            Entry::List | Entry::Struct => {
                if element && !within && flow && !open.is_empty() {
                    begins = Some(*at);
                }
                open.push((matches!(entry, Entry::List), within || flow));
            }
            Entry::End => {
                begins = None;
                open.pop();
            }
            Entry::Key(_) | Entry::Scalar(_) => {}
        }
        labelled = key;
    }
    // An element that is a struct stands where its dash does.
    for it in &mut found {
        let start = (it.at - (it.column - 1)) as usize;
        let line = file.get(start..it.at as usize).unwrap_or_default();
        let dash = line.iter().position(|it| *it != b' ').filter(|at| line.get(*at) == Some(&b'-'));
        if let Some(dash) = dash {
            it.column = dash as u32 + 1;
        }
    }
    // What an alias brings stands where its anchor does.
    found.sort_by_key(|it| it.at);
    found
}

/// Whether a label's value is a scalar that an alias brings.
fn is_aliased(tree: &Tree, number: usize) -> bool {
    let entry = |at: usize| tree.entries.get(at);
    match (number.checked_sub(1).and_then(entry), entry(number)) {
        (Some((Entry::Key(_), label)), Some((Entry::Scalar(_), at))) => at < label,
        _ => false,
    }
}

/// Whether an entry is a null that no text stands for.
fn is_left_out(tree: &Tree, file: &[u8], number: usize) -> bool {
    let Some((Entry::Scalar(Datum::Null), at)) = tree.entries.get(number) else { return false };
    let rest = file.get(*at as usize..).unwrap_or_default();
    let labelled = number.checked_sub(1).and_then(|it| tree.entries.get(it));
    labelled.is_some_and(|it| matches!(it.0, Entry::Key(_)))
        && !["null", "Null", "NULL", "~", "!"].iter().any(|it| rest.starts_with(it.as_bytes()))
}

/// Those before an offset and those behind it.
fn split(holders: &[Holder], at: u32) -> (&[Holder], &[Holder]) {
    holders.split_at(holders.partition_point(|it| it.at <= at))
}

/// What a comment may stand behind, by where it is: everything but openings.
fn ends(tree: &Tree) -> Vec<(u32, usize)> {
    let entries = tree.entries.iter().enumerate();
    let closed = entries.filter(|it| !matches!(it.1.0, Entry::List | Entry::Struct));
    let mut found: Vec<(u32, usize)> = closed.map(|it| (it.1.1, it.0)).collect();
    found.sort_by_key(|it| it.0);
    found
}

/// Whether a list or struct is written in brackets or braces: behind its anchor and its tag.
pub(crate) fn is_flow(file: &[u8], at: u32) -> bool {
    let mut rest = file.get(at as usize..).unwrap_or_default();
    while let Some(b'&' | b'!') = rest.first() {
        let name = rest.iter().take_while(|it| !it.is_ascii_whitespace()).count();
        let blank = rest.iter().skip(name).take_while(|it| **it == b' ').count();
        rest = rest.get(name + blank..).unwrap_or_default();
    }
    matches!(rest.first(), Some(b'[' | b'{'))
}

/// `#` at the beginning of a line or behind a blank, but in quotes and in blocks of text.
fn comments(tree: &Tree, file: &[u8], from: usize, to: usize, lines: &Lines) -> Vec<Comment> {
    let texts: Vec<(usize, usize)> = tree
        .entries
        .iter()
        .filter(|it| {
            matches!(it.0, Entry::Key(_) | Entry::Scalar(Datum::String(_) | Datum::Bytes(_)))
        })
        .filter_map(|it| text_span(file, it.1 as usize))
        .collect();
    let mut found = Vec::new();
    let mut at = from;
    let mut spans = texts.iter().peekable();
    while at < to {
        while spans.next_if(|it| it.1 <= at).is_some() {}
        if let Some((start, end)) = spans.peek().filter(|it| it.0 <= at) {
            at = (*end).max(*start + 1);
            continue;
        }
        let before = at.checked_sub(1).and_then(|it| file.get(it));
        let begins = before.is_none_or(u8::is_ascii_whitespace);
        if file.get(at) == Some(&b'#') && begins {
            let rest = file.get(at..to).unwrap_or_default();
            let length = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
            let text = String::from_utf8_lossy(rest.get(1..length).unwrap_or_default());
            let (line, column) = lines.at(at as u32);
            let start = at - (column as usize - 1);
            let alone = file.get(start..at).is_some_and(|it| it.iter().all(|it| *it == b' '));
            let text = format!("//{}", text.trim_end());
            found.push(Comment { at: at as u32, line, column, text, alone });
            at += length;
            continue;
        }
        at += 1;
    }
    found
}

/// Where a text in quotes or a block of text begins and ends.
fn text_span(file: &[u8], start: usize) -> Option<(usize, usize)> {
    let rest = file.get(start..)?;
    match rest.first()? {
        b'"' => {
            let mut escaped = false;
            let end = rest.iter().skip(1).position(|it| {
                let ends = *it == b'"' && !escaped;
                escaped = *it == b'\\' && !escaped;
                ends
            })?;
            Some((start, start + end + 2))
        }
        b'\'' => {
            let end = rest.iter().skip(1).position(|it| *it == b'\'')?;
            Some((start, start + end + 2))
        }
        b'|' | b'>' => {
            let mut lines = rest.split_inclusive(|it| *it == b'\n');
            let mut end = start + lines.next()?.len();
            let first = end;
            let mut indent = None;
            for line in lines {
                let own = line.iter().take_while(|it| **it == b' ').count();
                let empty = line.iter().all(u8::is_ascii_whitespace);
                let least = *indent.get_or_insert(if empty { 0 } else { own });
                if !empty && (own < least || own == 0) {
                    break;
                }
                if !empty && least == 0 {
                    indent = Some(own);
                }
                end += line.len();
            }
            Some((first, end))
        }
        _ => None,
    }
}
