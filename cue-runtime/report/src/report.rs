//! What is told of each thing that is wrong.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use cue_session::{Diagnostic, ProgramSpec};
use cue_syntax::LineIndex;

use crate::alternatives::{self, Distance};
use crate::extent;

/// The texts that places are in.
pub trait Texts {
    /// The text of a file as positions name it; none if it is not at hand.
    fn text(&self, file: &str) -> Option<Arc<str>>;

    /// How the file is named to people.
    fn shown(&self, file: &str) -> String {
        file.to_owned()
    }
}

/// Texts of a program.
impl Texts for ProgramSpec {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        let packages = self.packages.iter().flat_map(|it| &it.sources);
        let mut all = self.sources.iter().chain(packages);
        all.find(|it| it.name == file).map(|it| it.text.clone())
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// There is no result.
    #[default]
    Error,
    /// There may be one.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How bad it is; of what diagnostics say an error.
    pub severity: Severity,
    /// Stable code, `cue/eval` say.
    pub code: String,
    /// Dotted path of the value, empty for the root.
    pub path: String,
    /// CUE's words.
    pub message: String,
    /// Where; the first is the most important one.
    pub places: Vec<Place>,
    /// Of a choice of which nothing is left: the alternatives and what is wrong with each, the closest first.
    pub alternatives: Vec<Alternative>,
    /// What may help.
    pub hints: Vec<String>,
}

/// An alternative that does not hold.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its text, shortened; empty where it is not known.
    pub text: String,
    /// What is wrong with it.
    pub errors: Vec<Report>,
    /// How far it is.
    pub(crate) distance: Distance,
}

/// A piece of a text, on one line.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The file as people name it; empty if it has no name.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
    /// The text around it; none where that is not at hand.
    pub around: Option<Around>,
}

/// Where a place is in the text of its file.
#[derive(Clone, Debug)]
pub struct Around {
    /// All of it.
    pub(crate) text: Arc<str>,
    /// The first byte of the line.
    pub(crate) line: usize,
    /// The bytes that are meant.
    pub(crate) span: Range<usize>,
}

impl Place {
    /// Whether both are one.
    pub(crate) fn is_at(&self, other: &Place) -> bool {
        (&self.file, self.line, self.column) == (&other.file, other.line, other.column)
    }

    /// Whether it is an argument of the call that the other one is.
    pub(crate) fn is_argument_of(&self, call: &Place) -> bool {
        let (Some(here), Some(there)) = (&self.around, &call.around) else { return false };
        self.file == call.file
            && there.marked().ends_with(')')
            && there.span.start < here.span.start
            && here.span.end < there.span.end
    }
}

impl Around {
    /// What is meant.
    pub fn marked(&self) -> &str {
        &self.text[self.span.clone()]
    }

    /// Marks no more than this name, if it is what begins here: not what is selected of it or called.
    fn only(&mut self, name: &str) {
        if self.marked().starts_with(name) {
            self.span.end = self.span.start + name.len();
        }
    }

    /// The line.
    pub fn line(&self) -> &str {
        self.text[self.line..].lines().next().unwrap_or_default()
    }
}

/// What is told of `wrong`, with the texts that places are in.
pub fn reports(wrong: &[Diagnostic], texts: &dyn Texts) -> Vec<Report> {
    let mut files = Files { texts, read: Vec::new() };
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for (head, causes) in alternatives::grouped(wrong) {
        // What is asked of a value twice is told twice.
        if !seen.insert((&head.path, &head.message, places(head))) {
            continue;
        }
        let mut report = report(head, &mut files);
        if !causes.is_empty() {
            report.message.truncate(report.message.trim_end_matches(':').len());
            report.alternatives = alternatives::sorted(head, &causes, &mut files);
            report.hints.extend(alternatives::choices(&report.alternatives));
        }
        all.push(report);
    }
    all
}

/// Where an error is.
fn places(wrong: &Diagnostic) -> Vec<(&str, u32, u32)> {
    wrong.positions.iter().map(|it| (it.file.as_str(), it.line, it.column)).collect()
}

/// Of a call marks no more than the function where an argument is marked, too: a mark within another one is hard to
/// tell from it.
fn mark_functions(places: &mut [Place]) {
    for at in 0..places.len() {
        let call = &places[at];
        let has_argument = places.iter().any(|it| it.is_argument_of(call));
        if let Some(around) = places[at].around.as_mut().filter(|_| has_argument) {
            let function = around.marked().find('(').unwrap_or(around.span.len());
            around.span.end = around.span.start + function;
        }
    }
}

/// The name that an error says is not there.
fn missing(message: &str) -> Option<&str> {
    let reference = message.strip_prefix("reference ").and_then(|it| it.strip_suffix(" not found"));
    match reference {
        Some(quoted) => quoted.strip_prefix('"')?.strip_suffix('"'),
        None => message.strip_prefix("undefined field: "),
    }
}

pub(crate) fn report(wrong: &Diagnostic, files: &mut Files<'_>) -> Report {
    let mut places: Vec<Place> = Vec::new();
    let named = missing(&wrong.message);
    for at in &wrong.positions {
        let mut place = files.place(&at.file, at.line, at.column);
        if let Some((around, name)) = place.around.as_mut().zip(named) {
            around.only(name);
        }
        if !places.iter().any(|it| it.is_at(&place)) {
            places.push(place);
        }
    }
    mark_functions(&mut places);
    Report {
        severity: Severity::Error,
        code: wrong.code.clone(),
        path: wrong.path.clone(),
        message: wrong.message.clone(),
        places,
        alternatives: Vec::new(),
        hints: wrong.hints.clone(),
    }
}

/// Files that were read, each once.
pub(crate) struct Files<'a> {
    texts: &'a dyn Texts,
    read: Vec<(String, Option<File>)>,
}

/// A text and where its lines are.
pub(crate) struct File {
    pub(crate) text: Arc<str>,
    pub(crate) lines: LineIndex,
    parsed: Option<cue_syntax::Parsed>,
}

impl File {
    /// What begins at a line and column; none if there is no such place.
    fn around(&self, line: u32, column: u32, of: Language) -> Option<Around> {
        let at = self.lines.offset(line, 1)? as usize;
        let whole = self.text.get(at..)?.lines().next().unwrap_or_default();
        let before = column.checked_sub(1)? as usize;
        let start = match of {
            Language::Yaml => whole.chars().take(before).map(char::len_utf8).sum::<usize>() + at,
            Language::Cue | Language::Data => at + before,
        };
        let last = at + whole.len();
        // What is missing at the end of a text is missing behind its last line.
        let ends = self.text.get(last..start).is_some_and(|it| matches!(it, "\n" | "\r\n"));
        let start = if ends { last } else { start };
        if start > last || !self.text.is_char_boundary(start) {
            return None;
        }
        let end = match of {
            Language::Cue => extent::of_cue(&self.text, start),
            Language::Data | Language::Yaml => extent::of_data(&self.text, start),
        };
        let text = self.text.clone();
        Some(Around { span: start..end.min(text.len()), text, line: at })
    }

    /// The declarations in it.
    pub(crate) fn decls(&mut self) -> &[cue_syntax::ast::Decl] {
        let text = &self.text;
        &self.parsed.get_or_insert_with(|| cue_syntax::parse_older(text)).file.decls
    }
}

impl Files<'_> {
    pub(crate) fn get(&mut self, name: &str) -> Option<&mut File> {
        let at = match self.read.iter().position(|it| it.0 == name) {
            Some(at) => at,
            None => {
                let text = self.texts.text(name);
                let file =
                    text.map(|text| File { lines: LineIndex::new(&text), text, parsed: None });
                self.read.push((name.to_owned(), file));
                self.read.len() - 1
            }
        };
        self.read[at].1.as_mut()
    }

    fn place(&mut self, name: &str, line: u32, column: u32) -> Place {
        let shown = self.texts.shown(name);
        let around = self.get(name).and_then(|it| it.around(line, column, language(name)));
        Place { file: shown, line, column, around }
    }
}

/// Who reads a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Cue,
    /// The decoder of JSON or TOML.
    Data,
    /// That of YAML, whose columns are characters, not bytes.
    Yaml,
}

pub(crate) fn language(name: &str) -> Language {
    match name.rsplit('.').next().unwrap_or_default() {
        "json" | "jsonl" | "ndjson" | "toml" | "txt" => Language::Data,
        "yaml" | "yml" => Language::Yaml,
        _ => Language::Cue,
    }
}

#[cfg(test)]
mod tests {
    use cue_session::{Diagnostic, Position, Profile, ProgramSpec, Source};

    use super::reports;

    #[test]
    fn what_is_missing_at_the_end_is_shown_behind_the_last_line() {
        for (text, column) in [("a: {\n", 6), ("a: {\r\n", 7), ("a: {", 5)] {
            let spec = ProgramSpec {
                sources: vec![Source::new("a.cue", text)],
                packages: Vec::new(),
                profile: Profile::V017,
            };
            let positions = vec![Position { file: "a.cue".into(), line: 1, column }];
            let wrong = Diagnostic { positions, ..Diagnostic::default() };
            let told = reports(&[wrong], &spec);
            let around = told[0].places[0].around.as_ref().expect("a line");
            assert_eq!(around.span.start, 4, "{text:?}");
        }
    }
}
