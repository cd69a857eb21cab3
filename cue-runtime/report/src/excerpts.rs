//! Reports with the lines they are about, for people.

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Snippet, normalize_untrusted_str,
};

use crate::alternatives::Distance;
use crate::report::{Around, Place, Report, Severity};

/// Whether there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Text only.
    #[default]
    None,
    /// As terminals understand them.
    Ansi,
}

/// Longest text: hostile input may produce any number of errors of any length.
const LONGEST: usize = 64 << 10;
/// Alternatives of a choice that are shown.
const ALTERNATIVES: usize = 4;
/// Places of one error that are shown.
const PLACES: usize = 8;
/// Lines that are in one piece, those between that nobody looks at included.
const TOGETHER: u32 = 200;
/// Bytes of such a piece.
const PIECE: usize = 16 << 10;
/// Of a longer line only what is around the place.
const LINE: usize = 300;
/// Longest message.
const MESSAGE: usize = 4 << 10;

fn renderer(color: Color) -> Renderer {
    match color {
        Color::None => Renderer::plain(),
        Color::Ansi => Renderer::styled(),
    }
}

/// The lines that an error is about and its hints, for whoever tells its message.
pub fn lines(report: &Report, color: Color) -> String {
    let group = Group::with_level(Level::ERROR).elements(elements(report));
    renderer(color).render(&[group])
}

/// All reports, each with the lines it is about, an empty line between them.
pub fn excerpts(reports: &[Report], color: Color) -> String {
    let renderer = renderer(color);
    let mut text = String::new();
    for (told, report) in reports.iter().enumerate() {
        if text.len() > LONGEST {
            text.push_str(&format!("\nand {} more errors", reports.len() - told));
            break;
        }
        if told > 0 {
            text.push_str("\n\n");
        }
        text.push_str(&renderer.render(&groups(report)));
    }
    text
}

/// The error, and what is wrong with each alternative.
fn groups(report: &Report) -> Vec<Group<'_>> {
    let level = match report.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(said(report));
    if !report.code.is_empty() {
        title = title.id(report.code.as_str());
    }
    let mut all = vec![Group::with_title(title).elements(elements(report))];
    // Values that are something else as a whole are one piece of text, and a hint that lists them.
    if is_of_values(report) {
        return all;
    }
    let first = report.alternatives.first().map(|it| it.distance);
    let closest = report.alternatives.get(1).is_some_and(|it| Some(it.distance) > first);
    for (index, it) in report.alternatives.iter().take(ALTERNATIVES).enumerate() {
        let which = match index {
            0 if closest => "the closest alternative",
            0 => "an alternative",
            _ => "another alternative",
        };
        for (number, wrong) in it.errors.iter().enumerate() {
            let named = match (number, it.text.as_str()) {
                (0, "") => format!("{which}: "),
                (0, text) => format!("{which}, {text}: "),
                _ => String::new(),
            };
            let title = format!("{named}{}", said(wrong));
            let title = Level::NOTE.secondary_title(normalize_untrusted_str(&title));
            all.push(Group::with_title(title).elements(elements(wrong)));
        }
    }
    let left = report.alternatives.len().saturating_sub(ALTERNATIVES);
    if left > 0 {
        let text = format!("and {left} more alternatives");
        all.push(Group::with_title(Level::NOTE.secondary_title(text)));
    }
    all
}

/// Whether it is of a choice between values of which none is the one that was given.
fn is_of_values(report: &Report) -> bool {
    !report.alternatives.is_empty()
        && report.alternatives.iter().all(|it| it.distance == Distance::Whole)
}

/// Path and message, of a length that can be read.
fn said(report: &Report) -> String {
    let end = report.message.floor_char_boundary(MESSAGE);
    let dots = if end < report.message.len() { "…" } else { "" };
    let message = &report.message[..end];
    match report.path.is_empty() {
        true => format!("{message}{dots}"),
        false => format!("{}: {message}{dots}", report.path),
    }
}

/// The pieces of text and the hints.
fn elements(report: &Report) -> Vec<Element<'_>> {
    let mut all = Vec::new();
    let mut every: Vec<&Place> = report.places.iter().collect();
    if is_of_values(report) {
        let errors = report.alternatives.iter().flat_map(|it| &it.errors);
        for place in errors.flat_map(|it| &it.places) {
            if !every.iter().any(|it| it.is_at(place)) {
                every.push(place);
            }
        }
    }
    // Builtin packages have no text to show.
    if every.iter().any(|it| it.around.is_some()) {
        every.retain(|it| it.around.is_some() || it.file.contains('.'));
    }
    let shown = &every[..every.len().min(PLACES)];
    let mut files: Vec<&str> = Vec::new();
    for place in shown {
        if !files.contains(&place.file.as_str()) {
            files.push(&place.file);
        }
    }
    for file in files {
        let mut places: Vec<&Place> = shown.iter().copied().filter(|it| it.file == file).collect();
        places.sort_by_key(|it| (it.line, it.column));
        let mut rest = places.as_slice();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(together(rest));
            all.extend(snippet(piece, shown.first().copied()));
            rest = others;
        }
    }
    if every.len() > PLACES {
        let text = format!("and {} more places", every.len() - PLACES);
        all.push(Level::NOTE.message(text).into());
    }
    let hints = report.hints.iter().map(|it| Level::HELP.message(normalize_untrusted_str(it)));
    all.extend(hints.map(Element::from));
    all
}

/// How many of the places, from the first on, are shown in one piece.
fn together(places: &[&Place]) -> usize {
    let Some(first) = places.first().and_then(|it| it.around.as_ref().map(|at| (it.line, at)))
    else {
        return 1;
    };
    let fits = |it: &&&Place| {
        it.around.as_ref().is_some_and(|at| {
            it.line - first.0 <= TOGETHER
                && at.line().len() <= LINE
                && at.line + at.line().len() - first.1.line <= PIECE
        })
    };
    places.iter().take_while(fits).count().max(1)
}

/// Places of one file in one piece of its text.
fn snippet<'a>(places: &[&'a Place], primary: Option<&Place>) -> Vec<Element<'a>> {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
    let origin = Origin::path(first.file.as_str()).line(first.line as usize);
    let origin = origin.char_column(first.column as usize);
    let (Some(from), Some(to)) = (&first.around, &last.around) else { return vec![origin.into()] };
    let kind = |it: &Place| match primary.is_some_and(|at| std::ptr::eq(at, it)) {
        true => AnnotationKind::Primary,
        false => AnnotationKind::Context,
    };
    if from.line().len() > LINE {
        let (text, span) = cut(from);
        let piece = Snippet::source(text).line_start(first.line as usize);
        let piece: Snippet<'_, Annotation<'_>> = piece.annotation(kind(first).span(span));
        return vec![origin.into(), piece.into()];
    }
    let end = to.line + to.line().len();
    let marks = places.iter().filter_map(|it| {
        let span = &it.around.as_ref()?.span;
        Some(kind(it).span(span.start - from.line..span.end.min(end).max(span.start) - from.line))
    });
    let piece = Snippet::source(&from.text[from.line..end])
        .path(Some(first.file.as_str()).filter(|it| !it.is_empty()))
        .line_start(first.line as usize)
        .annotations(marks);
    vec![piece.into()]
}

/// What is around a place in a long line, and where it is in that.
fn cut(around: &Around) -> (&str, std::ops::Range<usize>) {
    let text = &around.text;
    let start = around.span.start.saturating_sub(LINE / 3).max(around.line);
    let start = text.floor_char_boundary(start);
    let end = (around.span.start + LINE / 2).min(around.line + around.line().len());
    let end = text.floor_char_boundary(end);
    let marked = around.span.start - start..around.span.end.min(end).max(around.span.start) - start;
    (&text[start..end], marked)
}
