//! Nodes of a template: blocks, branches, definitions.

use super::scan::{Piece, pieces};
use super::words::Words;
use super::{Node, Pipe};

/// A text as nodes, and what it defines.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Of the text itself.
    pub nodes: Vec<Node>,
    /// By name.
    pub defined: Vec<(String, Vec<Node>)>,
}

/// Blocks in blocks at most.
const DEPTH: usize = 100;

/// What a list of nodes ends with.
enum Stop<'a> {
    End,
    /// And what follows: nothing, or another condition.
    Else(&'a str, usize),
    File,
}

struct Parser<'a> {
    name: &'a str,
    pieces: std::iter::Peekable<std::vec::IntoIter<Piece<'a>>>,
    defined: Vec<(String, Vec<Node>)>,
    depth: usize,
    loops: usize,
}

/// Parses a template.
///
/// # Errors
/// Name of the template, line and reason.
pub fn parse(name: &str, text: &str) -> Result<Parsed, String> {
    let pieces = pieces(text)
        .map_err(|(line, reason)| format!("parse error at ({name}:{line}): {reason}"))?;
    let pieces = pieces.into_iter().peekable();
    let mut parser = Parser { name, pieces, defined: Vec::new(), depth: 0, loops: 0 };
    let (nodes, stop, line) = parser.nodes(1)?;
    match stop {
        Stop::File => Ok(Parsed { nodes, defined: parser.defined }),
        Stop::End => Err(parser.wrong(line, "unexpected {{end}}")),
        Stop::Else(..) => Err(parser.wrong(line, "unexpected {{else}}")),
    }
}

impl<'a> Parser<'a> {
    fn wrong(&self, line: usize, reason: &str) -> String {
        format!("parse error at ({}:{line}): {reason}", self.name)
    }

    fn nodes(&mut self, from: usize) -> Result<(Vec<Node>, Stop<'a>, usize), String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong(from, "blocks nest too deeply"));
        }
        let mut nodes = Vec::new();
        let mut last = from;
        let stop = loop {
            let (body, line) = match self.pieces.next() {
                None => break Stop::File,
                Some(Piece::Text(text)) => {
                    nodes.push(Node::Text(text.to_owned()));
                    continue;
                }
                Some(Piece::Action(body, line)) => (body, line),
            };
            last = line;
            let trimmed = body.trim();
            let word = trimmed.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            let rest = trimmed.strip_prefix(word).unwrap_or_default();
            // `end.x` and `$end` are no words of the language.
            let rest = if word.is_empty() || rest.starts_with(['.', '_']) { trimmed } else { rest };
            match word {
                "end" if rest.trim().is_empty() => break Stop::End,
                "else" => break Stop::Else(rest.trim(), line),
                "if" | "with" | "range" => {
                    let node = self.block(word, rest, line)?;
                    nodes.push(node);
                }
                "define" | "block" | "template" => {
                    let (name, data) = self.named(rest, line)?;
                    let data = match data.trim() {
                        "" => None,
                        data => Some(self.pipe(data, line)?),
                    };
                    if word == "template" {
                        nodes.push(Node::Template(name, data));
                        continue;
                    }
                    let (body, stop, at) = self.nodes(line)?;
                    self.closed(&stop, at)?;
                    if word == "block" {
                        nodes.push(Node::Template(name.clone(), data));
                    }
                    self.defined.push((name, body));
                }
                "break" | "continue" if rest.trim().is_empty() => {
                    if self.loops == 0 {
                        return Err(
                            self.wrong(line, &format!("{{{{{word}}}}} outside {{{{range}}}}"))
                        );
                    }
                    nodes.push(if word == "break" { Node::Break } else { Node::Continue });
                }
                _ => {
                    let pipe = self.pipe(trimmed, line)?;
                    nodes.push(Node::Action(pipe));
                }
            }
        };
        self.depth -= 1;
        Ok((nodes, stop, last))
    }

    fn closed(&self, stop: &Stop<'_>, line: usize) -> Result<(), String> {
        match stop {
            Stop::End => Ok(()),
            Stop::Else(..) => Err(self.wrong(line, "expected end; found {{else}}")),
            Stop::File => Err(self.wrong(line, "unexpected EOF")),
        }
    }

    fn block(&mut self, word: &str, head: &str, line: usize) -> Result<Node, String> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        let mut head = (head, line);
        loop {
            let pipe = self.pipe(head.0.trim(), head.1)?;
            self.loops += usize::from(word == "range");
            let (body, stop, at) = self.nodes(head.1)?;
            self.loops -= usize::from(word == "range");
            branches.push((pipe, body));
            match stop {
                Stop::Else("", line) => {
                    let (body, stop, at) = self.nodes(line)?;
                    self.closed(&stop, at)?;
                    otherwise = body;
                    break;
                }
                Stop::Else(more, line) => {
                    let again =
                        more.strip_prefix(word).filter(|it| !it.starts_with(char::is_alphanumeric));
                    match again.filter(|_| word != "range") {
                        Some(condition) => head = (condition, line),
                        None => {
                            return Err(self.wrong(line, &format!("unexpected <{more}> in else")));
                        }
                    }
                }
                other => {
                    self.closed(&other, at)?;
                    break;
                }
            }
        }
        Ok(match word {
            "if" => Node::If(branches, otherwise),
            "with" => Node::With(branches, otherwise),
            _ => match branches.pop() {
                Some((pipe, body)) => Node::Range(pipe, body, otherwise),
                None => return Err(self.wrong(line, "range over nothing")),
            },
        })
    }

    /// A name in quotes, and what follows it.
    fn named(&self, text: &'a str, line: usize) -> Result<(String, &'a str), String> {
        let text = text.trim_start();
        let quote = text.chars().next().filter(|it| matches!(it, '"' | '`'));
        let end = quote.and_then(|quote| text[1..].find(quote));
        let Some(end) = end else {
            return Err(self.wrong(line, "a template needs a name in quotes"));
        };
        Ok((text[1..=end].to_owned(), &text[end + 2..]))
    }

    fn pipe(&self, text: &str, line: usize) -> Result<Pipe, String> {
        let mut words = Words::new(text, line);
        let pipe = words.pipe().and_then(|it| words.finish().map(|()| it));
        let pipe = pipe.map_err(|reason| self.wrong(line, &reason))?;
        if pipe.commands.is_empty() {
            return Err(self.wrong(line, "missing value for command"));
        }
        Ok(pipe)
    }
}
