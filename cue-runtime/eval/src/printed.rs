//! Values as CUE text (O-60 to O-72): evaluated, and the source of what waits for more.

use std::fmt::Write as _;

pub use cue_definition::Simplified;
use cue_definition::texts::scalar_text;
use cue_definition::{Mark, left_open};
use cue_map::Map;

use crate::builtin::{Datum, FunctionName, Kinds};
use crate::completed::{Later, Place};
use crate::error::Fault;
use crate::evaluator::Evaluator;
use crate::export::{Style, marker};
use crate::heap::{FaultId, Source, Test, VertexId};
use crate::interpolation::INVALID;
use crate::order::Defaults;
use crate::outward::Packages;
use crate::program::{Code, Label, LabelKind, Notes, Presence};
use crate::report;

/// What the printer shows besides regular fields, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Show {
    /// How values are.
    pub style: Style,
    parts: u16,
}

impl Show {
    /// Comments above fields.
    pub const DOCS: u16 = 1;
    /// Attributes of fields.
    pub const ATTRIBUTES: u16 = 2;
    /// Optional fields.
    pub const OPTIONAL: u16 = 4;
    /// Definitions.
    pub const DEFINITIONS: u16 = 8;
    /// Hidden fields.
    pub const HIDDEN: u16 = 16;
    /// Defaults before other alternatives, every field on a line.
    pub const SPREAD: u16 = 32;
    /// Errors stand where they are.
    pub const ERRORS: u16 = 64;
    /// Names that lead out of a part are bound below it (O-80).
    pub const APART: u16 = 128;
    /// The text is a file: it says what it imports.
    pub const FILE: u16 = 256;

    /// Parts are those above, added up.
    pub fn new(style: Style, parts: u16) -> Self {
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

    pub(crate) fn has(self, part: u16) -> bool {
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
    /// That of other packages too (O-81).
    PutIn,
}

/// What a value counts for that is written, until the text is laid out: so much its tree takes.
const WRITTEN_BYTES: usize = 160;

/// As many optional fields within others are written as they are evaluated.
const MOST_OPENED: usize = 2_000;

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
        let whole = id == self.root || show.has(Show::FILE);
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
            if whole && style != Style::Definition {
                if let Some(inner) = out.strip_prefix("{\n").and_then(|it| it.strip_suffix("}\n")) {
                    if self.heap.get(real).choice.is_none() {
                        out = inner.to_owned();
                    }
                }
            }
        }
        let place = if whole { Place::File } else { Place::Inside };
        if show.has(Show::APART) && !later.wanted.is_empty() {
            later.outward = self.outward(id, Packages::Named);
        }
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
        if let Some(rest) = told.strip_prefix(INVALID) {
            return format!("{INVALID}{path}{colon}{rest}");
        }
        // So is a second one.
        if let (Some(inner), (outer, Some(rest))) = (fault.inner, report::parts(&told)) {
            // What a function was given has none.
            let within = self.path(inner);
            let colon_within = if within.is_empty() { "" } else { ": " };
            return format!("{path}{colon}{outer}: {within}{colon_within}{rest}");
        }
        format!("{path}{colon}{told}")
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
        out.push_str(&left_open::lets_line(number, depth));
        later.structs += 1;
        let named = self.labels_named(id);
        later.marks.push(Mark::Enter { literals: self.literals_of(id), named });
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
                true => self.comments(arc.notes(), &indent),
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
                let labels = self.labels_written(arc.vertex);
                self.write_source((named, labels), out, depth, later);
            }
            if show.has(Show::ATTRIBUTES) {
                for (name, body) in self.program.attributes(arc.notes()) {
                    let _ = write!(out, " @{name}({body})");
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
            || self.fails_for_good(real)
    }

    /// The comments above a field, of all that declare it, each text once, and those below it. They stand apart from each other, and from what is before them where
    /// they did in the source.
    fn comments(&self, notes: impl Iterator<Item = u32>, indent: &str) -> (String, String) {
        let mut all: Vec<&[String]> = Vec::new();
        let (mut before, mut below) = (String::new(), String::new());
        let notes = notes.map(|it| &self.program.notes[it as usize]);
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
            // What another package hides stays hidden.
            LabelKind::Hidden | LabelKind::HiddenDefinition => {
                show.has(Show::HIDDEN) && self.labels.package(label).is_none()
            }
            LabelKind::Index => false,
        };
        kind && (presence != Presence::Optional || show.has(Show::OPTIONAL))
    }

    /// Counts a value that is written, and looks whether its text may grow on. If not, that is the answer to
    /// whatever was asked: the text is not all there is.
    fn count_written(
        &mut self,
        id: VertexId,
        depth: usize,
        length: usize,
        later: &mut Later,
    ) -> Result<(), FaultId> {
        if let Some(fault) = self.unwritten {
            return Err(fault);
        }
        self.tick()?;
        if depth > self.budget.depth as usize {
            return Err(self.leave_unwritten(id));
        }
        if self.used() + (WRITTEN_BYTES + length) as u64 > self.budget.bytes {
            let fault = self.out_of("memory");
            // There is room again for whatever is asked next.
            (self.spent, self.unwritten) = (None, Some(fault));
            return Err(fault);
        }
        self.bytes += WRITTEN_BYTES as u64;
        later.counted += WRITTEN_BYTES;
        Ok(())
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
        if self.count_written(id, depth, out.len(), later).is_err() {
            out.push('_');
            return;
        }
        if let Some(fault) = self.heap.fault_of(place, id) {
            if !self.heap.faults[fault].kind.is_incomplete() {
                let _ = write!(out, "_|_ // {}", self.said(fault, style));
                return;
            }
            // What a function has passed on is written where it is from.
            let passed = match self.heap.get(place).conjuncts.as_slice() {
                [only] => self.handed_on(only.source()),
                _ => None,
            };
            let source = match passed {
                Some(of) => of,
                // Up to v0.14 nothing is shared.
                None if self.program.lenient => place,
                None => match self.shares(place) {
                    Some(shared) => shared,
                    // A `let` is printed by its name, what it holds where it stands.
                    None if self.is_by_let(place) => place,
                    // Of a part of it that is shared.
                    None => self.part_of_let(place).unwrap_or(id),
                },
            };
            let exprs = (self.source_of(source), self.labels_written(source));
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
                0 => choice.all.to_vec(),
                _ if evaluated => choice.defaults.to_vec(),
                _ if show.has(Show::SPREAD) => choice.defaults_first(),
                _ => choice.all.to_vec(),
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
                // Structs may differ in what is not shown, lists of one choice in being open.
                let own = self.heap.get(id).conjuncts.len() < 2;
                let may_differ = text.contains('{') || own && text.contains('[');
                if may_differ || !texts.contains(&text) {
                    texts.push(text);
                }
            }
            later.choices.pop();
            out.push_str(&texts.join(" | "));
            return;
        }
        let vertex = self.heap.get(id);
        let scalar = self.scalar_of(vertex).map(|(datum, at)| (datum.clone(), at));
        let (is_list, is_struct) = (vertex.is_list, vertex.is_struct);
        if let Some((Datum::Function(name), _)) = &scalar {
            later.import(name.package);
        }
        if scalar.is_some() || is_list {
            let fields = self.stands_in_struct(id, show);
            let mut value = String::new();
            let (inner, text) = if fields { (depth + 1, &mut value) } else { (depth, &mut *out) };
            match &scalar {
                Some((datum, _)) => text.push_str(&scalar_text(datum, inner)),
                None => self.write_list(id, show, text, inner, later),
            }
            if fields {
                self.write_beside(id, show, (&value, is_list), out, depth, later);
            }
            return;
        }
        if is_struct {
            out.push_str("{\n");
            self.write_fields(id, show, out, depth + 1, later);
            out.extend(std::iter::repeat_n('\t', depth).chain(['}']));
            return;
        }
        let text = self.write_tests(id, show, depth, later);
        if self.stands_in_struct(id, show) {
            self.write_beside(id, show, (&text, false), out, depth, later);
            return;
        }
        out.push_str(&text);
    }

    /// Whether a value that is no struct is printed in one: a definition beside it may not be shown itself.
    fn stands_in_struct(&self, id: VertexId, show: Show) -> bool {
        self.heap.get(id).arcs.iter().any(|it| {
            let kind = self.labels.kind(it.label);
            kind != LabelKind::Index && self.is_shown(it.label, it.presence, show)
                || matches!(kind, LabelKind::Definition | LabelKind::HiddenDefinition)
                    && show.style == Style::Eval
                    && show.has(Show::DEFINITIONS)
        })
    }

    /// Whether a value is named by a `let`, or by a clause.
    pub(crate) fn is_by_let(&self, id: VertexId) -> bool {
        self.heap.get(id).conjuncts.iter().any(|it| match it.source() {
            Source::Expr(expr, _) => {
                matches!(self.program.code(expr), Code::Let { .. } | Code::Variable { .. })
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// What no value is known of: kinds, bounds, validators.
    fn write_tests(&mut self, id: VertexId, show: Show, depth: usize, later: &mut Later) -> String {
        let mut parts = vec![self.bounded(id)];
        parts.retain(|it| !it.is_empty());
        let mut named = false;
        let mut matches = Vec::new();
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
                        // The same is said once.
                        let literal = self.literal_text(expr);
                        if !matches.contains(&literal) {
                            matches.push(literal);
                            let exprs = (vec![self.program.at(expr)], Map::default());
                            self.write_source(exprs, &mut text, depth, later);
                            parts.push(text);
                        }
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
                                let id = self.live(argument.clone());
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
        let open = vertex.closed_length().is_none() && style == Style::Definition;
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
                    let exprs = (vec![self.program.at(expr)], Map::default());
                    self.write_source(exprs, out, depth, later);
                } else if says {
                    later.optional = true;
                    self.write_value(value, show, out, depth, later);
                    later.optional = false;
                }
            }
        }
        out.push(']');
    }
}
