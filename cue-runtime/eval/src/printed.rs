//! Values as CUE text (O-60 to O-72): evaluated, and the source of what waits for more.

use std::fmt::Write as _;

use cue_definition::texts::scalar_text;
use cue_definition::{Mark, Place as Placed, PlaceOf, Places, Wanted, laid_out};
use cue_syntax::ast::{At, Decl, ExprKind};

use crate::builtin::{Datum, FunctionName, Kinds};
use crate::error::Fault;
use crate::evaluator::Evaluator;
use crate::export::{Style, marker};
use crate::heap::{FaultId, Source, Test, VertexId};
use crate::order::Defaults;
use crate::program::{Code, Label, LabelKind, Notes, Presence};

/// What the printer shows besides regular fields, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Show {
    /// How values are.
    pub style: Style,
    parts: u8,
}

impl Show {
    /// Comments above fields.
    pub const DOCS: u8 = 1;
    /// Attributes of fields.
    pub const ATTRIBUTES: u8 = 2;
    /// Optional fields.
    pub const OPTIONAL: u8 = 4;
    /// Definitions.
    pub const DEFINITIONS: u8 = 8;
    /// Hidden fields.
    pub const HIDDEN: u8 = 16;
    /// Defaults before other alternatives, every field on a line.
    pub const SPREAD: u8 = 32;
    /// Errors stand where they are.
    pub const ERRORS: u8 = 64;
    /// Names that lead out of a part are bound below it (O-80).
    pub const APART: u8 = 128;

    /// Parts are those above, added up.
    pub fn new(style: Style, parts: u8) -> Self {
        Self { style, parts }
    }

    /// What the commands show.
    pub(crate) fn usual(style: Style) -> Self {
        let parts = match style {
            Style::Final => 0,
            Style::Eval => Self::DEFINITIONS,
            Style::Definition => Self::DOCS | Self::ATTRIBUTES | Self::OPTIONAL | Self::DEFINITIONS,
        };
        Self { style, parts }
    }

    pub(crate) fn has(self, part: u8) -> bool {
        self.parts & part != 0
    }
}

/// What becomes of names that lead out of a printed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// They stay.
    Kept,
    /// What they stand for is put in (O-80).
    Replaced,
}

/// What is put in once the text stands: sources need the trees of the files.
#[derive(Default)]
struct Later {
    wanted: Vec<Wanted>,
    /// Structs printed so far.
    structs: usize,
    /// Sources and the structs around them, as they come.
    marks: Vec<Mark>,
    /// Builtin packages named, and where: twice as many as sources before, one more for a source itself.
    imports: Vec<(usize, String)>,
    /// Lists around what is being written.
    lists: usize,
    /// An optional field is being written.
    optional: bool,
    /// Structs that are being written.
    around: Vec<VertexId>,
    /// Choices that are being written with all their alternatives.
    choices: Vec<VertexId>,
    /// Optional fields within others that were written so far.
    opened: usize,
    /// Of a part the places of the whole, and its path.
    outside: Option<(Places, String)>,
}

/// As many optional fields within others are written as they are evaluated.
const MOST_OPENED: usize = 2_000;

impl Later {
    /// A package is named; those without one have none.
    fn import(&mut self, package: &str) {
        if !package.is_empty() && !self.imports.iter().any(|it| it.1 == package) {
            self.imports.push((self.wanted.len() * 2, package.to_owned()));
        }
    }
}

const SOURCE: &str = "__source_";
const LETS: &str = "__lets_";

/// Where a text will stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is all of a file, and says what it imports.
    File,
    Inside,
}

impl Evaluator {
    /// The value as CUE text; fields of the root without braces.
    pub(crate) fn syntax(&mut self, id: VertexId, style: Style) -> String {
        self.shown(id, Show::usual(style))
    }

    /// The same with the parts that `show` names.
    pub(crate) fn shown(&mut self, id: VertexId, show: Show) -> String {
        let style = show.style;
        let mut out = String::new();
        let mut later = Later::default();
        let real = self.unify(id);
        let real =
            if style == Style::Definition { real } else { self.default_of(real).unwrap_or(real) };
        let vertex = self.heap.get(real);
        let plain = vertex.is_struct
            && vertex.choice.is_none()
            && vertex.scalar.is_none()
            && !vertex.is_list
            && vertex.fault.is_none();
        if plain {
            self.write_fields(real, show, &mut out, 0, &mut later);
        } else {
            self.write_value(id, show, &mut out, 0, &mut later);
            out.push('\n');
            // The braces of a file are not written.
            if id == self.root && style != Style::Definition {
                if let Some(inner) = out.strip_prefix("{\n").and_then(|it| it.strip_suffix("}\n")) {
                    if self.heap.get(real).choice.is_none() {
                        out = inner.to_owned();
                    }
                }
            }
        }
        let place = if id == self.root { Place::File } else { Place::Inside };
        later.outside = (show.has(Show::APART) && !later.wanted.is_empty())
            .then(|| (self.places(), self.path(id)));
        self.completed(out, show, later, place)
    }

    /// The value as an expression, structs in braces.
    pub(crate) fn expression_text(&mut self, id: VertexId, show: Show) -> String {
        let mut out = String::new();
        let mut later = Later::default();
        if let Some(text) = self.failed_text(id, show) {
            return text;
        }
        self.write_value(id, show, &mut out, 0, &mut later);
        let names = !later.imports.is_empty();
        let inner = out.strip_prefix("{\n").and_then(|it| it.strip_suffix('}'));
        match inner {
            Some(inner) if names && show.style == Style::Final => {
                let inner = inner.to_owned();
                self.completed(inner, show, later, Place::File)
            }
            _ => self.completed(out, show, later, Place::Inside).trim_end().to_owned(),
        }
    }

    /// The first error of a value, in its place if errors are no values (O-67).
    fn failed_text(&mut self, id: VertexId, show: Show) -> Option<String> {
        if show.style != Style::Final || show.has(Show::ERRORS) {
            return None;
        }
        let fault = self.permanent(id, 0)?;
        Some(format!("_|_ // {}", self.told(&fault)))
    }

    /// An error in short: its path and what it says, and how many others it has.
    fn told(&self, fault: &Fault) -> String {
        let place = fault.place.filter(|_| fault.message != crate::error::LITERAL);
        let path = place.map(|it| self.path(it)).unwrap_or_default();
        let colon = if path.is_empty() { "" } else { ": " };
        let told = fault.in_short();
        // The path is that of the error within.
        let within = "invalid interpolation: ";
        match told.strip_prefix(within) {
            Some(rest) => format!("{within}{path}{colon}{rest}"),
            None => format!("{path}{colon}{told}"),
        }
    }

    /// The error that a value is printed as: one that nothing can resolve.
    fn wrong(&mut self, id: VertexId) -> Option<FaultId> {
        let real = self.unify(id);
        let fault = self.heap.fault_of(id, real)?;
        (!self.heap.faults[fault].kind.is_incomplete()).then_some(fault)
    }

    /// What is said of it: a definition has no place.
    fn said(&self, fault: FaultId, style: Style) -> String {
        let fault = &self.heap.faults[fault];
        match style {
            Style::Final | Style::Eval => self.told(fault),
            Style::Definition => fault.message.clone(),
        }
    }

    /// The declarations of a place, merged but not evaluated; a file if it names packages (O-61).
    pub(crate) fn declared_text(&mut self, id: VertexId, show: Show, names: Names) -> String {
        let (places, closed) = match names {
            Names::Kept => (None, false),
            Names::Replaced => {
                let real = self.unify(id);
                (Some(self.places()), id != self.root && self.is_closed_struct(real))
            }
        };
        let exprs = self.source_of(id);
        let found = self.merged(&exprs, &self.path(id), show, places.as_ref());
        // A part that a definition closes is one (O-77), but not what a call closes.
        let closed = closed && (!found.text.starts_with("close(") || self.is_kept_closed(id));
        let text = match (closed, &found.fields) {
            (true, _) => format!("{{\n_#def\n_#def: {}\n{}}}", found.text, found.lets),
            (false, Some(fields)) if !found.lets.is_empty() => {
                format!("{{\n{fields}{}}}", found.lets)
            }
            (false, None) if !found.lets.is_empty() => {
                format!("{{\n{}\n{}}}", found.text, found.lets)
            }
            (false, _) => found.heading + &found.text,
        };
        let layout = cue_syntax::Style::Plain;
        match (found.fields, found.imports.as_slice()) {
            (Some(fields), imports @ [_, ..]) if !closed => {
                header(imports) + &laid_out(&fields, layout)
            }
            (_, imports @ [_, ..]) if names == Names::Replaced => {
                header(imports) + laid_out(&text, layout).trim_end()
            }
            _ => laid_out(&text, layout).trim_end().to_owned(),
        }
    }

    /// Every place that was evaluated.
    fn places(&mut self) -> Places {
        let mut found = Places::default();
        let mut next = vec![(self.root, String::new())];
        while let Some((id, path)) = next.pop() {
            let real = self.unify(id);
            for arc in &self.heap.get(real).arcs {
                if self.heap.get(arc.vertex).parent == Some(real) {
                    let dot = if path.is_empty() { "" } else { "." };
                    let path = format!("{path}{dot}{}", self.label_text(arc.label));
                    next.push((arc.vertex, path));
                }
            }
            let vertex = self.heap.get(real);
            let of = match &vertex.scalar {
                _ if self.heap.fault_of(id, real).is_some() => PlaceOf::Unknown,
                Some((Datum::Function(_), _)) => PlaceOf::Any,
                Some(_) if vertex.arcs.is_empty() => PlaceOf::Scalar,
                _ if self.is_kept_closed(id) || self.is_kept_closed(real) => PlaceOf::Closed,
                _ => PlaceOf::Any,
            };
            let is_closed = self.is_closed_struct(real) || self.is_kept_closed(id);
            found.insert(path, Placed { exprs: self.source_of(id), of, is_closed });
        }
        found
    }

    /// With sources, `let`s and imports in their places, aligned.
    fn completed(&self, mut text: String, show: Show, mut later: Later, place: Place) -> String {
        let whole = place == Place::File;
        let style = show.style;
        let (mut lets, mut apart) = (false, false);
        if !later.wanted.is_empty() {
            let wanted = &later.wanted;
            let outside = later.outside.as_ref().map(|it| (&it.0, it.1.as_str()));
            let found = self.sources(wanted, &later.marks, show, outside);
            let mut out = String::with_capacity(text.len() * 2);
            let mut rest = text.as_str();
            while let Some(at) = rest.find(SOURCE) {
                let (before, after) = rest.split_at(at);
                out.push_str(before);
                let after = &after[SOURCE.len()..];
                let end = after.find("__").unwrap_or(after.len());
                let number: Option<usize> = after[..end].parse().ok();
                out.push_str(number.and_then(|it| found.texts.get(it)).map_or("_", |it| it));
                rest = after.get(end + 2..).unwrap_or_default();
            }
            out.push_str(rest);
            text = out;
            // A part that is no struct stands first as an expression (O-64).
            apart = !found.hoisted.is_empty() && !text.starts_with(LETS);
            text.push_str(&found.hoisted);
            lets = found.lets.first().is_some_and(|it| !it.is_empty());
            for (number, lines) in found.lets.iter().enumerate() {
                text = text.replacen(&format!("{LETS}{number}__\n"), lines, 1);
            }
            // What a source names comes behind what was named before it.
            later.imports.extend(found.imports.into_iter().map(|it| (it.0 * 2 + 1, it.1)));
            cue_sort::by(&mut later.imports, |one, other| one.0.cmp(&other.0));
        }
        if text.contains(LETS) {
            let kept = text.split_inclusive('\n').filter(|it| !it.trim_start().starts_with(LETS));
            text = kept.collect();
        }
        let mut imports: Vec<String> = Vec::new();
        for (_, import) in &later.imports {
            let import = format!("{import:?}");
            if !imports.contains(&import) {
                imports.push(import);
            }
        }
        let mut header = if whole { header(&imports) } else { String::new() };
        if apart {
            header.push('\n');
        }
        let sources = !later.wanted.is_empty() && style == Style::Eval;
        if whole && header.is_empty() && (lets || sources && self.is_set_off(&text)) {
            header.push('\n');
        }
        let layout = match style {
            Style::Definition if !show.has(Show::SPREAD) => cue_syntax::Style::Simplified,
            Style::Definition => cue_syntax::Style::Plain,
            Style::Eval | Style::Final => cue_syntax::Style::Plain,
        };
        let text = header + &laid_out(&text, layout);
        if style != Style::Eval {
            return text;
        }
        let mut out = String::with_capacity(text.len() * 2);
        let mut before = "";
        for line in text.split_inclusive('\n') {
            let rest = line.trim_start_matches('\t');
            // Behind an element that is an error the line is indented once more (O-67).
            let deeper = before.contains("_|_, // ") && !rest.starts_with(']');
            out.push_str(&"    ".repeat(line.len() - rest.len() + usize::from(deeper)));
            out.push_str(rest);
            before = line;
        }
        out
    }

    /// Whether a file of several declarations begins with an empty line (O-64): if the first of them is a
    /// `let`, an expression, or clauses that begin a line of their source but not the first.
    fn is_set_off(&self, text: &str) -> bool {
        let file = cue_syntax::parse_file(text).file;
        let first = match &*file.decls {
            [Decl::Embed(first), _, ..] => first,
            // One of a source.
            [Decl::Let(..), _, ..] => return true,
            _ => return false,
        };
        let begins =
            |it: &str| it.starts_with('{') || it.starts_with("if ") || it.starts_with("for ");
        match first.kind {
            ExprKind::Comprehension(..) | ExprKind::Struct(_) => {
                self.program.sources.first().is_some_and(|it| !begins(&it.text))
            }
            _ => true,
        }
    }

    fn write_fields(
        &mut self,
        id: VertexId,
        show: Show,
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        let all = depth == 0 && show.style != Style::Definition;
        self.defaults = if all { Defaults::Values } else { Defaults::Alternatives };
        let mut arcs = self.ordered(id);
        self.defaults = Defaults::Values;
        arcs.retain(|it| self.is_shown(it.label, it.presence, show));
        let indent = "\t".repeat(depth);
        later.around.push(id);
        let number = later.structs;
        let _ = writeln!(out, "{indent}{LETS}{number}__");
        later.structs += 1;
        later.marks.push(Mark::Enter(self.literals_of(id)));
        if show.has(Show::ATTRIBUTES) {
            let start = out.len();
            for placed in self.heap.get(id).placed.iter() {
                let literal = &self.program.structs[placed.literal as usize];
                let notes = &self.program.notes[literal.notes as usize];
                for (name, body) in &notes.attributes {
                    let _ = match (out.len() > start, notes.apart) {
                        (false, _) => write!(out, "{indent}@{name}({body})"),
                        (true, true) => write!(out, "\n{indent}@{name}({body})"),
                        (true, false) => write!(out, ", @{name}({body})"),
                    };
                }
            }
            if out.len() > start {
                out.push('\n');
            }
        }
        let first = arcs.first().map(|it| it.label);
        for arc in &arcs {
            let (above, below) = match show.has(Show::DOCS) {
                true => self.comments(&arc.notes, &indent),
                false => Default::default(),
            };
            let opens = first == Some(arc.label);
            out.push_str(if opens { above.trim_start_matches('\n') } else { &above });
            let _ = write!(out, "{indent}{}{}: ", self.label_text(arc.label), marker(arc.presence));
            let optional = arc.presence == Presence::Optional;
            // Types that name themselves have no end: within them they are named. So is what fails.
            let named = match optional
                && (self.is_written_in(arc.vertex, later) || self.fails(arc.vertex))
            {
                true => self.source_of(arc.vertex),
                false => Vec::new(),
            };
            if named.is_empty() {
                let within = later.optional;
                later.optional |= optional;
                match self.spelling_shared(arc.vertex, depth) {
                    Some(text) => out.push_str(&text),
                    None => self.write_value(arc.vertex, show, out, depth, later),
                }
                later.optional = within;
            } else {
                self.write_source(named, out, depth, later);
            }
            if show.has(Show::ATTRIBUTES) {
                for notes in &arc.notes {
                    for (name, body) in &self.program.notes[*notes as usize].attributes {
                        let _ = write!(out, " @{name}({body})");
                    }
                }
            }
            out.push('\n');
            out.push_str(&below);
        }
        later.around.pop();
        later.marks.push(Mark::Leave(number));
    }

    /// Whether a value is one that it stands in, or there are too many such by now.
    fn is_written_in(&mut self, id: VertexId, later: &mut Later) -> bool {
        later.opened += usize::from(later.optional);
        let real = self.unify(id);
        later.opened > MOST_OPENED || later.around.contains(&real)
    }

    /// Whether something in a value is wrong for good.
    fn fails(&mut self, id: VertexId) -> bool {
        let real = self.unify(id);
        let own = self.heap.fault_of(id, real);
        own.is_some_and(|it| !self.heap.faults[it].kind.is_incomplete())
            || self.permanent(real, 0).is_some()
    }

    /// The comments above a field, of all that declare it, each text once, and those below it. They stand apart from each other, and from what is before them where
    /// they did in the source.
    fn comments(&self, notes: &[u32], indent: &str) -> (String, String) {
        let mut all: Vec<&[String]> = Vec::new();
        let (mut before, mut below) = (String::new(), String::new());
        let notes = notes.iter().map(|it| &self.program.notes[*it as usize]);
        // What stands above an outer label comes last.
        let (outer, own): (Vec<&Notes>, Vec<&Notes>) = notes.partition(|it| it.outer);
        for it in own.into_iter().chain(outer) {
            let mut start = 0;
            let between = it.breaks.iter().copied().filter(|at| *at != it.above);
            let mut ends: Vec<u32> = between.chain([it.above, it.docs.len() as u32]).collect();
            ends.sort_unstable();
            for end in ends {
                let lines = it.docs.get(start as usize..end as usize).unwrap_or_default();
                if !lines.is_empty() && !all.contains(&lines) {
                    let above = start < it.above && below.is_empty();
                    let text = if above { &mut before } else { &mut below };
                    let apart = match start {
                        _ if start == it.above => it.gap,
                        0 => it.apart,
                        _ => true,
                    };
                    if !text.is_empty() || apart {
                        text.push('\n');
                    }
                    lines.iter().for_each(|it| text.extend([indent, it, "\n"]));
                    all.push(lines);
                }
                start = end;
            }
        }
        (before, below)
    }

    fn is_shown(&self, label: Label, presence: Presence, show: Show) -> bool {
        let kind = match self.labels.kind(label) {
            LabelKind::Regular => true,
            LabelKind::Definition => show.has(Show::DEFINITIONS),
            LabelKind::Hidden | LabelKind::HiddenDefinition => show.has(Show::HIDDEN),
            LabelKind::Index => false,
        };
        kind && (presence != Presence::Optional || show.has(Show::OPTIONAL))
    }

    fn write_value(
        &mut self,
        id: VertexId,
        show: Show,
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        let style = show.style;
        let place = id;
        let id = self.unify(id);
        if depth > 200 || self.tick().is_err() || out.len() > 64 << 20 {
            out.push('_');
            return;
        }
        if let Some(fault) = self.heap.fault_of(place, id) {
            if !self.heap.faults[fault].kind.is_incomplete() {
                let _ = write!(out, "_|_ // {}", self.said(fault, style));
                return;
            }
            // A `let` is printed by its name, what it holds where it stands.
            let by_let = self.heap.get(place).conjuncts.iter().any(|it| match it.source {
                Source::Expr(expr, _) => {
                    matches!(self.program.code(expr), Code::Let { .. } | Code::Variable { .. })
                }
                Source::Data(_) | Source::Vertex(_) => false,
            });
            // What a function has passed on is written where it is from.
            let passed = match self.heap.get(place).conjuncts.as_slice() {
                [only] => match only.source {
                    Source::Vertex(of) => Some(of),
                    Source::Data(Datum::Live(raw)) => self.handles.get(raw as usize).copied(),
                    Source::Expr(..) | Source::Data(_) => None,
                },
                _ => None,
            };
            let source = match passed {
                Some(of) => of,
                // Up to v0.14 nothing is shared.
                None if by_let || self.program.lenient => place,
                None => self.shares(place).unwrap_or(id),
            };
            let exprs = self.source_of(source);
            self.write_source(exprs, out, depth, later);
            return;
        }
        if self.heap.get(id).choice.is_some() {
            if let (Some(only), Style::Final | Style::Eval) = (self.default_of(id), style) {
                if only != id && (style == Style::Final || self.is_concrete(only)) {
                    self.write_value(only, show, out, depth, later);
                    return;
                }
            }
            let choice = self.choice_of(id).unwrap_or_default();
            // What is left of several defaults (O-66).
            let evaluated = style != Style::Definition;
            let shown = match choice.defaults.len() {
                0 => choice.all.clone(),
                _ if evaluated => choice.defaults.clone(),
                _ if show.has(Show::SPREAD) => choice.defaults_first(),
                _ => choice.all.clone(),
            };
            // A type that names itself says nothing of that: it is not done yet.
            if later.choices.contains(&id) {
                out.push('_');
                return;
            }
            later.choices.push(id);
            let mut texts: Vec<String> = Vec::new();
            for each in shown {
                let mut text = String::new();
                if !evaluated && choice.defaults.contains(&each) {
                    text.push('*');
                }
                self.write_value(each, show, &mut text, depth, later);
                // Structs may differ in what is not shown.
                if text.contains('{') || !texts.contains(&text) {
                    texts.push(text);
                }
            }
            later.choices.pop();
            out.push_str(&texts.join(" | "));
            return;
        }
        let vertex = self.heap.get(id);
        let scalar = vertex.scalar.clone();
        let (is_list, is_struct) = (vertex.is_list, vertex.is_struct);
        if let Some((Datum::Function(name), _)) = &scalar {
            later.import(name.package);
        }
        if scalar.is_some() || is_list {
            let arcs = &self.heap.get(id).arcs;
            let fields = arcs.iter().any(|it| {
                self.labels.kind(it.label) != LabelKind::Index
                    && self.is_shown(it.label, it.presence, show)
            });
            let mut value = String::new();
            let inner = if fields { depth + 1 } else { depth };
            match &scalar {
                Some((datum, _)) => value.push_str(&scalar_text(datum, inner)),
                None => self.write_list(id, show, &mut value, inner, later),
            }
            if !fields {
                out.push_str(&value);
                return;
            }
            self.write_beside(id, show, (&value, is_list), out, depth, later);
            return;
        }
        if is_struct {
            let mut inner = String::new();
            self.write_fields(id, show, &mut inner, depth + 1, later);
            let _ = write!(out, "{{\n{inner}{}}}", "\t".repeat(depth));
            return;
        }
        let text = self.write_tests(id, show, depth, later);
        let arcs = &self.heap.get(id).arcs;
        if arcs.iter().any(|it| self.is_shown(it.label, it.presence, show)) {
            self.write_beside(id, show, (&text, false), out, depth, later);
            return;
        }
        out.push_str(&text);
    }

    /// What no value is known of: kinds, bounds, validators.
    fn write_tests(&mut self, id: VertexId, show: Show, depth: usize, later: &mut Later) -> String {
        let mut parts = vec![self.bounded(id)];
        parts.retain(|it| !it.is_empty());
        let mut named = false;
        // They stand in the order they are written in.
        let tests = &self.heap.get(id).tests;
        let place = |at: usize| (tests[at].1.source, tests[at].1.span.start);
        let order = cue_sort::order(tests.len(), &mut |one, other| place(one).cmp(&place(other)));
        for at in order {
            match self.heap.get(id).tests[at].0.clone() {
                Test::Bound(..) | Test::Range(_) => {}
                Test::Match(expr, _) => {
                    if show.style != Style::Definition || show.has(Show::SPREAD) {
                        let mut text = String::new();
                        self.write_source(vec![self.program.at(expr)], &mut text, depth, later);
                        parts.push(text);
                    } else if !named {
                        named = true;
                        parts.push("matchN".into());
                    }
                }
                Test::Call(package, function, rest, _) => {
                    later.import(package);
                    let mut texts = Vec::with_capacity(rest.len());
                    for argument in &rest {
                        let mut text = String::new();
                        match argument {
                            Datum::Live(_) => {
                                let id = self.live(argument);
                                self.write_value(id, show, &mut text, depth, later);
                            }
                            other => text.push_str(&scalar_text(other, depth)),
                        }
                        texts.push(text);
                    }
                    let name = FunctionName { package, name: function.name }.text();
                    let text = format!("{name}({})", texts.join(", "));
                    if !parts.contains(&text) {
                        parts.push(text);
                    }
                }
            }
        }
        if parts.is_empty() { "_".into() } else { parts.join(" & ") }
    }

    /// A value and the fields beside it: a list stands last, others first (O-65).
    fn write_beside(
        &mut self,
        id: VertexId,
        show: Show,
        (value, is_list): (&str, bool),
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        let mut text = String::new();
        self.write_fields(id, show, &mut text, depth + 1, later);
        let indent = "\t".repeat(depth + 1);
        let value = format!("{indent}{value}\n");
        let (first, last) = if is_list { (text, value) } else { (value, text) };
        let _ = write!(out, "{{\n{first}{last}{}}}", "\t".repeat(depth));
    }

    fn write_list(
        &mut self,
        id: VertexId,
        show: Show,
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        let style = show.style;
        let vertex = self.heap.get(id);
        let arcs: Vec<VertexId> = vertex
            .arcs
            .iter()
            .filter(|it| self.labels.kind(it.label) == LabelKind::Index)
            .map(|it| it.vertex)
            .collect();
        // Evaluated, what more may follow is not shown.
        let open = vertex.closed_length.is_none() && style == Style::Definition;
        let rest = vertex.rest.first().map(|it| (it.value, it.env));
        out.push('[');
        later.lists += 1;
        for (index, arc) in arcs.iter().enumerate() {
            if index > 0 && !out.ends_with('\n') {
                out.push_str(", ");
            }
            match self.element_spelling(*arc, depth) {
                Some(text) => out.push_str(&text),
                // What it says stands behind the comma (O-67).
                None => match self.wrong(*arc) {
                    Some(fault) => {
                        let _ = writeln!(out, "_|_, // {}", self.said(fault, style));
                    }
                    None => self.write_value(*arc, show, out, depth, later),
                },
            }
        }
        later.lists -= 1;
        if open {
            if !arcs.is_empty() && !out.ends_with('\n') {
                out.push_str(", ");
            }
            out.push_str("...");
            if let Some((Some(expr), env)) = rest {
                let value = self.anonymous(expr, env);
                let real = self.unify(value);
                let vertex = self.heap.get(real);
                let says = vertex.kinds != Kinds::ANY
                    || vertex.is_struct
                    || vertex.scalar.is_some()
                    || vertex.choice.is_some();
                // A choice that is being written is not known yet.
                let says = says && !later.choices.contains(&real);
                if says && later.optional {
                    // As optional fields do: a type that names itself would go on for ever.
                    self.write_source(vec![self.program.at(expr)], out, depth, later);
                } else if says {
                    later.optional = true;
                    self.write_value(value, show, out, depth, later);
                    later.optional = false;
                }
            }
        }
        out.push(']');
    }

    fn write_source(&self, exprs: Vec<At>, out: &mut String, depth: usize, later: &mut Later) {
        let _ = write!(out, "{SOURCE}{}__", later.wanted.len());
        later.marks.push(Mark::Source(later.wanted.len()));
        later.wanted.push(Wanted { exprs, level: depth + 1 + later.lists });
    }
}

/// What names packages at the top of a file.
fn header(imports: &[String]) -> String {
    match imports {
        [] => String::new(),
        [only] => format!("import {only}\n\n"),
        all => format!("import (\n\t{}\n)\n\n", all.join("\n\t")),
    }
}
