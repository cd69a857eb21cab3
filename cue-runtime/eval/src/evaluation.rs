//! One evaluation as its users see it: paths in, answers out.

use std::borrow::Cow;
use std::sync::Arc;

use cue_definition::Simplified;

use crate::attach::{Fill, attach};
use crate::budget::Budget;
use crate::builtin::{Datum, Kinds};
use crate::closed::NOT_ALLOWED;
use crate::compile::{self, LoadError, Profile, Source as SourceFile};
use crate::empty::EMPTY;
use crate::encode::json::{self, Layout, Values};
use crate::encode::yaml::encode_spelled;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::export::Style;
use crate::heap::{Conjunct, FaultId, Source, Test, VertexId};
use crate::number::Number;
use crate::order::Defaults;
use crate::printed::{Names, Show};
use crate::program::{At, ExprId, Label, LabelKind, Presence, Program};
use crate::report;
use crate::value::Selector;

/// An error with everything a user needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind.
    pub kind: Kind,
    /// CUE's words, without path and position.
    pub message: String,
    /// Dotted.
    pub path: String,
    /// Source, line, column.
    pub positions: Vec<(String, u32, u32)>,
    /// Whether the first of them is the error's own; otherwise all are of what it is about.
    pub placed: bool,
}

/// A member of a struct or list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name without quotes.
    pub label: String,
    /// As it stands in a path.
    pub selector: String,
    /// Kind of label.
    pub label_kind: LabelKind,
    /// How firmly it is there.
    pub presence: Presence,
    /// Comment lines.
    pub docs: Vec<String>,
    /// Indices of those that begin another comment.
    pub breaks: Vec<u32>,
    /// An empty line stands above the first of them.
    pub apart: bool,
    /// `(name, body)`
    pub attributes: Vec<(String, String)>,
}

/// What is unified with a program at a path.
#[derive(Clone, Debug)]
pub enum Addition {
    /// Data.
    Data(Datum),
    /// CUE, compiled into the program as a file of its own.
    File(ExprId),
}

/// Whether values have to be concrete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concreteness {
    /// Every regular field is, defaults taken.
    Required,
    /// Incomplete values are fine.
    Optional,
    /// So are they, but for values that are computed from themselves (the API's `DisallowCycles`).
    Acyclic,
    /// Nor is there a required field that nothing gives (`Final`).
    Final,
}

/// An evaluation of a program with inputs.
pub struct Evaluation {
    pub(crate) evaluator: Evaluator,
    pub(crate) refills: crate::refill::Refills,
}

/// Reads JSON text as data.
///
/// # Errors
/// The decoder's words.
pub fn parse_json(text: &str) -> Result<Datum, String> {
    match json::decode(text.as_bytes(), Values::One) {
        Ok(tree) => Ok(tree.into_datum()),
        Err(error) => Err(error.to_string()),
    }
}

/// JSON text of data, compact.
pub fn print_json(datum: &Datum) -> String {
    json::encode(datum, Layout::Compact)
}

/// JSON text of data as `cue export` prints it, without the last newline.
pub fn print_json_indented(datum: &Datum) -> String {
    json::encode(datum, Layout::Indented)
}

/// Labels of a path: `a.b`, `a."b c"`, `l[1].x`, `#D`.
///
/// # Errors
/// What is wrong with it.
pub fn split_path(path: &str) -> Result<Vec<(LabelKind, Cow<'_, str>)>, String> {
    let mut parts = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']').ok_or("missing ]")?;
            let index = inner[..end].trim();
            if let Some(name) = index.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
                parts.push((LabelKind::Regular, name.into()));
            } else {
                parts.push((LabelKind::Index, index.into()));
            }
            rest = &inner[end + 1..];
        } else if rest.starts_with('"') {
            let mut end = None;
            let mut escaped = false;
            for (at, c) in rest.char_indices().skip(1) {
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '"' => {
                        end = Some(at);
                        break;
                    }
                    _ => {}
                }
            }
            let end = end.ok_or("string literal not terminated")?;
            parts.push((LabelKind::Regular, quoted(&rest[..=end])?));
            rest = &rest[end + 1..];
        } else {
            // By bytes, which takes less than by characters: both are ASCII.
            let ends = |it: u8| matches!(it, b'.' | b'[');
            let end = rest.bytes().position(ends).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches(['?', '!']);
            if name.is_empty() {
                return Err("empty label".into());
            }
            let kind = if name.bytes().all(|it| it.is_ascii_digit()) {
                LabelKind::Index
            } else {
                LabelKind::of_identifier(name)
            };
            parts.push((kind, name.into()));
            rest = &rest[end..];
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Ok(parts)
}

/// The name that a quoted label is.
fn quoted(label: &str) -> Result<Cow<'_, str>, String> {
    // Without escapes it stands there.
    let inner = label.get(1..label.len() - 1).unwrap_or_default();
    if inner.bytes().all(|it| it >= b' ' && it != b'\\') {
        return Ok(inner.into());
    }
    match cue_syntax::parse_expr(label).map(|it| it.kind) {
        Ok(cue_syntax::ast::ExprKind::String(name)) => Ok(name.to_string().into()),
        _ => Err(format!("invalid label {label}")),
    }
}

/// Compiles CUE that is to be unified with a running program.
///
/// # Errors
/// What is wrong with it.
pub fn compile_addition(
    program: &mut Program,
    path: &str,
    text: &str,
) -> Result<Addition, Vec<LoadError>> {
    let mut file = String::new();
    let parts = split_path(path).map_err(|message| {
        vec![LoadError { message, path: String::new(), position: (path.to_owned(), 1, 1) }]
    })?;
    for (kind, name) in &parts {
        match kind {
            LabelKind::Regular => file.push_str(&Datum::text(&**name).cue_text()),
            _ => file.push_str(name),
        }
        file.push_str(": ");
    }
    file.push_str(text);
    crate::attach::extend(program, "fill", &file).map(Addition::File)
}

/// JSON to be unified with a program at a path; one with a hidden field, a definition or an index
/// in it becomes part of the program.
///
/// # Errors
/// What is wrong with the path or the text.
pub fn json_addition(
    program: &mut Arc<Program>,
    path: &str,
    text: &str,
) -> Result<(String, Addition), String> {
    let parts = split_path(path)?;
    let datum = parse_json(text)?;
    if parts.iter().all(|it| it.0 == LabelKind::Regular) {
        return Ok((path.to_owned(), Addition::Data(datum)));
    }
    let mut selectors = Vec::with_capacity(parts.len());
    for (kind, name) in parts {
        selectors.push(match kind {
            LabelKind::Index => Selector::Index(name.parse().map_err(|_| "invalid index")?),
            kind => Selector::Field { kind, name: (*name).into(), presence: Presence::Member },
        });
    }
    let fill = Fill { name: path, text, path: &selectors, scopes: None };
    let wrong =
        |all: Vec<LoadError>| all.into_iter().next().map_or_else(String::new, |it| it.message);
    let expr = attach(Program::own(program), fill).map_err(wrong)?;
    Ok((String::new(), Addition::File(expr)))
}

/// A program out of one text, for tests and tools.
///
/// # Errors
/// What is wrong with it.
pub fn compile_text(text: &str) -> Result<Program, Vec<LoadError>> {
    compile::compile(&[SourceFile::new("in.cue", text)], &[], Profile::V017)
}

/// A number in a value that JSON has no text for.
fn endless(datum: &Datum) -> Option<&Number> {
    match datum {
        Datum::Number(number) => (!number.is_finite()).then_some(number),
        Datum::List(items) => items.iter().find_map(endless),
        Datum::Struct(fields) => fields.iter().find_map(|it| endless(&it.1)),
        _ => None,
    }
}

impl Evaluation {
    /// Begins; nothing is evaluated before it is asked for.
    pub fn start(program: Arc<Program>, additions: &[(String, Addition)], budget: Budget) -> Self {
        let mut evaluator = Evaluator::new(program, budget);
        let (root, env) = (evaluator.root, evaluator.root_env);
        for (path, addition) in additions {
            let source = match addition {
                Addition::Data(datum) => {
                    let parts = split_path(path).unwrap_or_default();
                    let names: Vec<&str> = parts.iter().map(|it| &*it.1).collect();
                    evaluator.heap.keep_data(datum.clone().within(&names), 0)
                }
                Addition::File(expr) => Source::Expr(*expr, env),
            };
            evaluator.heap.get_mut(root).conjuncts.push(Conjunct::new(source));
        }
        Self { evaluator, refills: crate::refill::Refills::default() }
    }

    /// Work done so far.
    pub fn ticks(&self) -> u64 {
        self.evaluator.ticks
    }

    /// The vertex at a path, if there is one that counts as there.
    pub fn find(&mut self, path: &str) -> Result<Option<VertexId>, Diagnostic> {
        if path.is_empty() {
            return Ok(Some(self.evaluator.root));
        }
        if let (id, "") = self.begun(path) {
            return Ok(Some(id));
        }
        let Some((above, label)) = self.site(path)? else { return Ok(None) };
        Ok(self.evaluator.heap.arc(above, label).map(|it| it.vertex))
    }

    /// Whether a path leads to a field that is there: no optional one, and none that is required only.
    ///
    /// # Errors
    /// The path is none.
    pub fn is_member(&mut self, path: &str) -> Result<bool, Diagnostic> {
        let Some((above, label)) = self.site(path)? else { return Ok(path.is_empty()) };
        let arc = self.evaluator.heap.arc(above, label);
        Ok(arc.is_some_and(|it| it.presence == Presence::Member))
    }

    /// Where a path begins, and how it goes on: at the root, or at what has a handle.
    fn begun<'a>(&self, path: &'a str) -> (VertexId, &'a str) {
        let Some(rest) = path.strip_prefix('@') else { return (self.evaluator.root, path) };
        let digits = rest.bytes().take_while(u8::is_ascii_digit);
        let (mut end, mut number) = (0, 0u32);
        for digit in digits {
            number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            end += 1;
        }
        let rest = rest.get(end..).unwrap_or_default();
        let id = self.handled(number).unwrap_or(self.evaluator.root);
        (id, rest.strip_prefix('.').unwrap_or(rest))
    }

    /// The value that a field counts as there in, and its label.
    pub(crate) fn site(&mut self, path: &str) -> Result<Option<(VertexId, Label)>, Diagnostic> {
        let (mut id, rest) = self.begun(path);
        let parts = split_path(rest).map_err(|message| Diagnostic {
            kind: Kind::Permanent,
            message,
            path: path.into(),
            positions: Vec::new(),
            placed: false,
        })?;
        let (it, mut found) = (&mut self.evaluator, None);
        for (kind, name) in parts {
            let real = it.unify(id);
            let real = it.default_of(real).unwrap_or(real);
            let label = match kind {
                LabelKind::Index if !it.heap.get(real).is_list => {
                    it.labels.intern(LabelKind::Regular, &name)
                }
                _ => it.labels.intern(kind, &name),
            };
            match it.heap.arc(real, label) {
                Some(arc) if arc.presence != Presence::Optional || kind != LabelKind::Index => {
                    id = arc.vertex;
                }
                _ => return Ok(None),
            }
            found = Some((real, label));
        }
        Ok(found)
    }

    pub(crate) fn diagnostic(&mut self, fault: FaultId) -> Vec<Diagnostic> {
        let fault = self.evaluator.heap.faults[fault].clone();
        let (place, kind) = (fault.place, fault.kind);
        let path = place.map(|it| self.evaluator.path(it)).unwrap_or_default();
        let mut all = Vec::with_capacity(1 + fault.causes.len());
        for mut each in fault.each() {
            // All of them are of one error (cue-errors 0.1).
            each.kind = kind;
            // A field that only a schema of `matchN` refuses has no error itself.
            let refused = each.place.filter(|it| self.evaluator.heap.get(*it).fault.is_some());
            if let (NOT_ALLOWED, Some(field)) = (each.message.as_str(), refused) {
                each.positions.extend(self.evaluator.declarations_of(field));
            }
            let own = each.place.filter(|it| Some(*it) != place);
            let path = own.map_or_else(|| path.clone(), |it| self.evaluator.path(it));
            all.push((self.describe(&each, &path), all.len()));
        }
        cue_sort::by(&mut all, |(it, first), (other, second)| {
            // Of a choice without alternatives the whole stands before one in it.
            let part = |at: &usize, it: &Diagnostic| *at > 0 || !it.message.ends_with(EMPTY);
            report::order(it, other)
                .then_with(|| part(first, it).cmp(&part(second, other)))
                .then_with(|| it.message.cmp(&other.message))
        });
        all.dedup_by(|(it, _), (other, _)| {
            it.message == other.message && report::order(it, other).is_eq()
        });
        all.into_iter().map(|it| it.0).collect()
    }

    pub(crate) fn describe(&self, fault: &Fault, path: &str) -> Diagnostic {
        // The primary position first, the others in the order of the files (cue-errors 2.1).
        let primary = self.place(fault.at);
        // Texts of one name are texts of their own.
        let text = |at: At| self.evaluator.spots.text_of(at);
        let mut positions: Vec<_> = fault
            .positions
            .iter()
            .filter_map(|at| self.place(*at).map(|place| (place, text(*at))))
            .collect();
        // What is no file has a relative name, and those come last.
        let file = |it: &(String, u32, u32)| {
            [".cue", ".json", ".yaml", ".yml", ".toml"].iter().any(|end| it.0.ends_with(end))
        };
        cue_sort::by(&mut positions, |left, right| {
            (!file(&left.0), left).cmp(&(!file(&right.0), right))
        });
        positions.dedup();
        let first = text(fault.at);
        positions.retain(|it| Some(&it.0) != primary.as_ref() || it.1 != first);
        let mut positions: Vec<_> = positions.into_iter().map(|it| it.0).collect();
        let placed = primary.is_some();
        positions.splice(0..0, primary);
        Diagnostic {
            kind: fault.kind,
            message: fault.message.clone(),
            path: path.to_owned(),
            positions,
            placed,
        }
    }

    /// Source, line and column of a position, if it is one.
    pub(crate) fn place(&self, at: At) -> Option<(String, u32, u32)> {
        let Some(source) = self.evaluator.program.sources.get(at.source as usize) else {
            return self.evaluator.spots.place(at);
        };
        if at.span.end == 0 {
            return None;
        }
        let (line, column) = source.lines.at(at.span.start);
        Some((source.name.clone(), line, column))
    }

    /// The value as data.
    ///
    /// # Errors
    /// What keeps it from being concrete.
    pub fn datum(&mut self, id: VertexId) -> Result<Datum, Vec<Diagnostic>> {
        self.evaluator.defaults = Defaults::Values;
        self.any_datum(id)
    }

    /// The value as YAML, below these labels: the fields of defaults have an order of their own there, and elements of
    /// lists are spelled as they are written (O-32).
    ///
    /// # Errors
    /// What keeps it from being concrete.
    pub fn yaml(&mut self, id: VertexId, within: &[String]) -> Result<String, Vec<Diagnostic>> {
        self.evaluator.defaults = Defaults::Alternatives;
        let datum = self.any_datum(id);
        self.evaluator.defaults = Defaults::Values;
        let datum = datum?;
        let spelled = self.evaluator.spelled_elements(id, &datum);
        Ok(encode_spelled(&datum.within(within), spelled))
    }

    fn any_datum(&mut self, id: VertexId) -> Result<Datum, Vec<Diagnostic>> {
        match self.evaluator.datum(id) {
            Ok(datum) => match endless(&datum) {
                None => Ok(datum),
                Some(number) => {
                    // In the words of who reads it as JSON.
                    let text = number.to_string();
                    let message = match text.strip_prefix('-') {
                        Some(_) => "invalid character 'I' in numeric literal".to_owned(),
                        None => {
                            let first = text.get(..1).unwrap_or_default();
                            format!("invalid character '{first}' looking for beginning of value")
                        }
                    };
                    let (kind, path) = (Kind::Permanent, String::new());
                    let positions = Vec::new();
                    Err(vec![Diagnostic { kind, message, path, positions, placed: false }])
                }
            },
            Err(fault) => {
                let fault = self.evaluator.placed(fault, id);
                Err(self.diagnostic(fault))
            }
        }
    }

    /// What of the value is concrete.
    pub fn lenient(&mut self, id: VertexId) -> Option<Datum> {
        self.evaluator.lenient(id, 0)
    }

    /// Kinds it has or may get, and whether it is concrete.
    pub fn kinds(&mut self, id: VertexId) -> (Kinds, bool) {
        (self.evaluator.kinds_of(id), self.evaluator.is_concrete(id))
    }

    /// The field of that name that is there in a struct.
    pub fn field(&mut self, id: VertexId, kind: LabelKind, name: &str) -> Option<VertexId> {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let real = it.default_of(real).unwrap_or(real);
        let label = it.labels.intern(kind, name);
        let arc = it.heap.arc(real, label).filter(|it| it.presence == Presence::Member);
        arc.map(|it| it.vertex)
    }

    /// Members in order; `None` if it is neither struct nor list.
    pub fn members(&mut self, id: VertexId) -> Option<Vec<(Member, VertexId)>> {
        let it = &mut self.evaluator;
        let id = it.unify(id);
        let id = it.default_of(id).unwrap_or(id);
        let vertex = it.heap.get(id);
        if !vertex.is_struct && !vertex.is_list && vertex.arcs.is_empty() {
            return None;
        }
        let arcs = it.ordered(id);
        let mut members = Vec::with_capacity(arcs.len());
        for arc in arcs {
            let mut docs = Vec::new();
            let mut breaks = Vec::new();
            let mut attributes = Vec::new();
            let mut apart = false;
            for notes in arc.notes() {
                let notes = &it.program.notes[notes as usize];
                apart |= docs.is_empty() && notes.apart;
                let before = docs.len() as u32;
                if before > 0 && !notes.docs.is_empty() {
                    breaks.push(before);
                }
                breaks.extend(notes.breaks.iter().map(|it| before + it));
                docs.extend(notes.lines().map(str::to_owned));
                attributes.extend(notes.attributes.iter().cloned());
            }
            let member = Member {
                label: it.labels.name(arc.label).to_string(),
                selector: it.label_text(arc.label),
                label_kind: it.labels.kind(arc.label),
                presence: arc.presence,
                docs,
                breaks,
                apart,
                attributes,
            };
            members.push((member, arc.vertex));
        }
        Some(members)
    }

    /// The error of the value itself, if it is one; of a struct's members none.
    pub fn error(&mut self, id: VertexId) -> Option<Diagnostic> {
        let real = self.evaluator.unify(id);
        let fault = self.evaluator.heap.fault_of(id, real)?;
        let fault = self.evaluator.placed(fault, id);
        self.diagnostic(fault).into_iter().next()
    }

    /// The error of the budget, once it is used up: what is told after that is not all there is.
    pub fn spent(&mut self) -> Option<Diagnostic> {
        let spent = self.evaluator.spent?;
        self.diagnostic(spent).into_iter().next()
    }

    /// The error of the budget, once a text was read that would not fit: whatever was answered with it is wrong.
    pub fn unread(&mut self) -> Option<Diagnostic> {
        if !self.evaluator.allowance.is_exceeded() {
            return None;
        }
        // Counting nothing notices it.
        let _ = self.evaluator.charge(0);
        self.spent()
    }

    /// Why the text that was asked for last is not all there is, if it is not: it nests too deeply, or needs
    /// more memory than there is. It is told once.
    pub fn unwritten(&mut self) -> Option<Diagnostic> {
        let fault = self.evaluator.unwritten.take()?;
        self.diagnostic(fault).into_iter().next()
    }

    /// For the next text: nothing of it is left out yet.
    pub(crate) fn writer(&mut self) -> &mut Evaluator {
        self.evaluator.unwritten = None;
        &mut self.evaluator
    }

    /// Says whether the texts that follow are simplified.
    pub fn simplify(&mut self, simplified: Simplified) {
        self.evaluator.simplified = simplified;
    }

    /// As CUE text.
    pub fn syntax(&mut self, id: VertexId, style: Style) -> String {
        self.writer().syntax(id, style)
    }

    /// As CUE text with the parts that `show` names; fields of the root without braces.
    pub fn shown(&mut self, id: VertexId, show: Show) -> String {
        self.writer().shown(id, show)
    }

    /// As one CUE expression, with the parts that `show` names.
    pub fn text(&mut self, id: VertexId, show: Show) -> String {
        self.writer().expression_text(id, show)
    }

    /// Its declarations as one CUE expression: merged, not evaluated.
    pub fn declared(&mut self, id: VertexId, show: Show, names: Names) -> String {
        self.validated(self.evaluator.root, Concreteness::Optional);
        self.writer().declared_text(id, show, names)
    }

    /// The same as a file that stands alone.
    pub fn declared_file(&mut self, id: VertexId, show: Show, names: Names) -> String {
        self.validated(self.evaluator.root, Concreteness::Optional);
        self.writer().declared_file(id, show, names)
    }

    /// In few words.
    pub fn short(&mut self, id: VertexId) -> String {
        self.evaluator.short(id)
    }

    /// Whether the struct or list is closed.
    pub fn is_list(&mut self, id: VertexId) -> bool {
        let id = self.evaluator.unify(id);
        let id = self.evaluator.default_of(id).unwrap_or(id);
        self.evaluator.heap.get(id).is_list
    }

    /// Whether more elements may follow.
    pub fn is_open_list(&mut self, id: VertexId) -> bool {
        let id = self.evaluator.unify(id);
        let id = self.evaluator.default_of(id).unwrap_or(id);
        self.evaluator.heap.get(id).closed_length().is_none()
    }

    /// Whether a struct says with `...` that it takes any field.
    pub fn is_open_struct(&mut self, id: VertexId) -> bool {
        let id = self.evaluator.unify(id);
        let id = self.evaluator.default_of(id).unwrap_or(id);
        self.evaluator.heap.get(id).open
    }

    /// What the first pattern (`[string]: T`) of a struct says of fields it fits.
    pub fn pattern(&mut self, id: VertexId) -> Option<VertexId> {
        let it = &mut self.evaluator;
        let id = it.unify(id);
        let id = it.default_of(id).unwrap_or(id);
        let pattern = it.heap.get(id).patterns.first()?.clone();
        Some(it.value_of_pattern(&pattern))
    }

    /// Bounds that a scalar must keep: operator and limit.
    pub fn bounds(&mut self, id: VertexId) -> Vec<(&'static str, Datum)> {
        let id = self.evaluator.unify(id);
        let tests = &self.evaluator.heap.get(id).tests;
        let bound = |it: &Test| match it {
            Test::Bound(operator, limit) => Some((operator.symbol(), limit.clone())),
            Test::Range(_) | Test::Call(..) | Test::Match(..) => None,
        };
        tests.iter().filter_map(|it| bound(&it.0)).collect()
    }

    /// What `...T` of a list says of its elements.
    pub fn element(&mut self, id: VertexId) -> Option<VertexId> {
        let it = &mut self.evaluator;
        let id = it.unify(id);
        let id = it.default_of(id).unwrap_or(id);
        it.element_of(id)
    }

    /// The default of a choice.
    pub fn default(&mut self, id: VertexId) -> Option<VertexId> {
        self.evaluator.default_of(id)
    }

    /// Alternatives that are left of a choice, the default ones marked.
    pub fn alternatives(&mut self, id: VertexId) -> Option<Vec<(VertexId, bool)>> {
        let id = self.evaluator.unify(id);
        let choice = self.evaluator.choice_of(id)?;
        Some(choice.all.iter().map(|it| (*it, choice.defaults.contains(it))).collect())
    }
}
