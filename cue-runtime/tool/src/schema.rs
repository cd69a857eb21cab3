//! What is told of data beside a package, or a schema that is looked up in one. Officially the two are values by then,
//! of which one is put to the other: no literal is entered any more, and of the schema is known what it waits for.

use std::cell::RefCell;
use std::collections::HashMap;

use cue_session::{Concreteness, Diagnostic, Position, Runtime, Source};
use cue_syntax::ast::{Decl, ExprKind, Field, File, Label};
use cue_syntax::{Around, LineIndex, around};

use crate::evaluate::{Asked, EXPRESSION, waits_itself};
use crate::plan::DATA;
use crate::{Error, Request};

/// A field that no schema has.
const NONE: &str = "_lateen_none";

/// What is told of a field that may be there, and of one that has to be given.
const ABSENT: [&str; 2] = ["cannot reference optional field", "required field missing"];

/// A source that positions are in.
struct Parsed<'a> {
    name: &'a str,
    file: File,
    lines: LineIndex,
    /// Whether the literal that begins there embeds something, once that was asked.
    embeds: RefCell<HashMap<u32, bool>>,
}

impl Asked<'_> {
    /// Positions of errors as they are where the schema is a value; an empty path is that of the package.
    pub(crate) fn beside_schema(
        &self,
        runtime: &dyn Runtime,
        schema: &str,
        all: &mut [Diagnostic],
    ) {
        let of_data = |at: &Position| self.unit.data.iter().any(|it| it.name == at.file);
        let told = |it: &Diagnostic| it.positions.iter().any(of_data);
        if all.is_empty() {
            return;
        }
        let parsed: Vec<Parsed<'_>> = self.unit.sources.iter().map(Parsed::of).collect();
        let guard = if all.iter().any(told) { self.awaited(runtime, schema) } else { None };
        let chosen = |it: &&Diagnostic| it.message.contains("errors in empty disjunction");
        let choices: Vec<String> = all.iter().filter(chosen).map(|it| it.path.clone()).collect();
        // A schema that is looked up has its own errors before.
        for wrong in all.iter_mut().filter(|it| schema.is_empty() || told(it)) {
            let around = wrong.positions.iter().flat_map(|at| {
                let source = parsed.iter().find(|it| it.name == at.file);
                source.map(|it| it.literals_around(at)).unwrap_or_default()
            });
            let mut literals: Vec<Position> = around.collect();
            let outermost = match schema {
                "" => wrong.path.split_once(['.', '[']).map(|it| it.0),
                schema => Some(schema).filter(|_| wrong.path != DATA),
            };
            if let Some(field) = outermost {
                literals.extend(parsed.iter().flat_map(|it| it.literals_of(field)));
            }
            wrong.positions.retain(|it| !literals.contains(it));
            // Of what is refused, and of alternatives, nothing else is told.
            let refused = wrong.message == "field not allowed" || choices.contains(&wrong.path);
            if refused || !told(wrong) {
                continue;
            }
            if let Some(guard) = guard.as_ref().filter(|it| !wrong.positions.contains(it)) {
                let place = |it: &Position| (it.line, it.column);
                let before = |it: &Position| it.file == guard.file && place(it) < place(guard);
                let last = wrong.positions.iter().rposition(before);
                let at = last.map_or(wrong.positions.len(), |it| it + 1);
                wrong.positions.insert(at, guard.clone());
            }
        }
    }

    /// Whether a schema that is looked up is a field that is there: none that may be, or has yet to be given.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn schema_is_there(&self, runtime: &dyn Runtime) -> Result<(), Error> {
        let Some(schema) = self.request.schema.as_ref().filter(|it| is_lookup(it)) else {
            return Ok(());
        };
        let request = &Request { schema: None, ..self.request.clone() };
        let asked = Asked { request, unit: self.unit, expression: schema };
        // What else is wrong is told where data is held against it.
        let Ok(mut session) = asked.start(runtime, Some(schema)) else { return Ok(()) };
        let mut wrong = session.validate(EXPRESSION, Concreteness::Required).unwrap_or_default();
        wrong.retain(|it| ABSENT.iter().any(|absent| it.message.starts_with(absent)));
        if wrong.is_empty() {
            return Ok(());
        }
        let mut error = asked.renamed(runtime, Error::Diagnostics(wrong));
        if let Error::Diagnostics(all) = &mut error {
            for at in all.iter_mut().flat_map(|it| &mut it.positions) {
                if at.file == "--expression" {
                    at.file = "--schema".into();
                }
            }
        }
        Err(error)
    }

    /// Where the one thing stands that a schema waits for.
    fn awaited(&self, runtime: &dyn Runtime, schema: &str) -> Option<Position> {
        let unit = &self.unit.without_data();
        let package = Asked { unit, expression: "", ..*self };
        let mut session = package.start(runtime, None).ok()?;
        let wrong = session.validate(schema, Concreteness::Required).ok()?;
        let mut own = wrong.iter().filter(|it| waits_itself(it, schema));
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        if schema.is_empty() {
            return only.positions.first().cloned();
        }
        // What waits elsewhere may be what a field is: then there is something to select from the schema.
        let selection = format!("{schema}.{NONE}");
        let mut session = package.start(runtime, Some(&selection)).ok()?;
        let wrong = session.validate(EXPRESSION, Concreteness::Required).ok()?;
        let waits = wrong.iter().any(|it| it.incomplete && it.message == only.message);
        only.positions.first().filter(|_| waits).cloned()
    }
}

/// Whether an expression is a name, or what is selected from one.
fn is_lookup(text: &str) -> bool {
    let mut expr = cue_syntax::parse_expr(text).map(|it| it.kind).ok();
    while let Some(ExprKind::Paren(inner)) = expr {
        expr = Some(inner.kind);
    }
    matches!(expr, Some(ExprKind::Ident(_) | ExprKind::Select(_) | ExprKind::Index(..)))
}

impl<'a> Parsed<'a> {
    fn of(source: &'a Source) -> Self {
        let file = cue_syntax::parse_file(&source.text).file;
        let lines = LineIndex::new(&source.text);
        Self { name: &source.name, file, lines, embeds: RefCell::default() }
    }

    /// The literals that a field of the file is.
    fn literals_of(&self, field: &str) -> Vec<Position> {
        let is = |it: &&Field| matches!(&it.label, Label::Ident(name) if *name.name == *field);
        let fields = self.file.decls.iter().filter_map(|it| match it {
            Decl::Field(it) => Some(&**it),
            _ => None,
        });
        let literals = fields.filter(is).filter(|it| matches!(it.value.kind, ExprKind::Struct(_)));
        literals.map(|it| self.position(it.value.span.start)).collect()
    }

    fn position(&self, offset: u32) -> Position {
        let (line, column) = self.lines.at(offset);
        Position { file: self.name.to_owned(), line, column }
    }

    /// The literals around a place that embed something.
    fn literals_around(&self, at: &Position) -> Vec<Position> {
        let Some(offset) = self.lines.offset(at.line, at.column) else { return Vec::new() };
        let around = around(&self.file.decls, offset);
        let starts = around.iter().filter_map(|it| match it {
            Around::Expr(expr) if expr.span.start != offset => match &expr.kind {
                ExprKind::Struct(decls) => {
                    let mut embeds = self.embeds.borrow_mut();
                    let embeds = embeds
                        .entry(expr.span.start)
                        .or_insert_with(|| decls.iter().any(|it| matches!(it, Decl::Embed(_))));
                    embeds.then_some(expr.span.start)
                }
                _ => None,
            },
            _ => None,
        });
        starts.map(|it| self.position(it)).collect()
    }
}
