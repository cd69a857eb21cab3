//! Where the values of data files go: `-l`, `--list`, `--with-context`.

use std::path::Path;

use cue_eval::builtin::Datum;
use cue_eval::evaluation::{parse_json, print_json};
use cue_session::{Profile, ProgramSpec, Runtime, Source, SyntaxStyle};
use cue_syntax::ast::{Binary, Decl, ExprKind, Label as SyntaxLabel};
use cue_syntax::unquote::quote;

use crate::data::Value;
use crate::evaluate::BUDGET;
use crate::filetype::is_name;
use crate::located::Located;
use crate::read::absolute;
use crate::{Error, scope};

/// Whether values of one place are unified or are elements of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Several {
    /// They must agree.
    #[default]
    Unified,
    /// `--list`
    Listed,
}

/// What labels are computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Context {
    /// The value.
    #[default]
    Value,
    /// `--with-context`: the value as `data`, and where it comes from.
    File,
}

/// One `-l`, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    /// As it stands.
    Fixed(String),
    /// An expression.
    Computed(String),
}

/// Where values go.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    labels: Vec<Label>,
    several: Several,
    context: Context,
}

/// Values at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Labels as CUE has them, outermost first.
    pub(crate) labels: Vec<String>,
    /// Which of the values are there.
    pub(crate) values: Vec<usize>,
    /// Whether they are elements of a list.
    pub(crate) several: Several,
}

impl Placed {
    /// The only value there is.
    pub(crate) fn one(labels: Vec<String>) -> Self {
        Self { labels, values: vec![0], several: Several::Unified }
    }

    /// The same with labels that bind no names: a package refers to what its own files declare.
    pub(crate) fn unbound(&self) -> Self {
        let quoted = |it: &String| match is_name(it) && !it.starts_with(['_', '#']) {
            true => quote(it),
            false => it.clone(),
        };
        Self { labels: self.labels.iter().map(quoted).collect(), ..self.clone() }
    }
}

impl Placement {
    /// Reads `-l`: expressions, or labels with colons.
    ///
    /// # Errors
    /// What is neither.
    pub fn new(path: &[String], several: Several, context: Context) -> Result<Self, Error> {
        let mut labels = Vec::new();
        for text in path {
            if cue_syntax::parse_expr(text).is_ok() {
                labels.push(Label::Computed(text.trim().to_owned()));
            } else {
                labels.extend(full_path(text)?);
            }
        }
        Ok(Self { labels, several, context })
    }

    /// Whether values do not simply stand where they stand in their files.
    pub(crate) fn is_used(&self) -> bool {
        !self.labels.is_empty() || self.several == Several::Listed
    }

    /// Whether labels are asked for.
    pub(crate) fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether labels see the file.
    pub(crate) fn has_context(&self) -> bool {
        self.context == Context::File
    }

    /// Where the values of one file go.
    ///
    /// # Errors
    /// A label that has no value, or one that is no text.
    pub(crate) fn place(
        &self,
        runtime: &dyn Runtime,
        values: &[Value],
    ) -> Result<Vec<Placed>, Error> {
        let mut all: Vec<Placed> = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let labels = match self.resolve(runtime, value) {
                Ok(labels) => labels,
                // A null has no fields that a label could refer to.
                Err(_) if value.is_null() => continue,
                Err(error) => return Err(error),
            };
            let same = all.iter_mut().find(|it| it.labels == labels);
            match same.filter(|_| self.several == Several::Listed) {
                Some(it) => it.values.push(number),
                None => {
                    all.push(Placed { labels, values: vec![number], several: self.several });
                }
            }
        }
        if all.is_empty() && self.several == Several::Listed {
            all.push(Placed { labels: Vec::new(), values: Vec::new(), several: self.several });
        }
        Ok(all)
    }

    fn resolve(&self, runtime: &dyn Runtime, value: &Value) -> Result<Vec<String>, Error> {
        let resolved = self.labels.iter().map(|it| match it {
            Label::Fixed(label) => Ok(label.clone()),
            Label::Computed(text) => computed(runtime, text, &self.seen(value, text)),
        });
        resolved.collect()
    }

    /// The declarations that a label sees.
    fn seen(&self, value: &Value, label: &str) -> String {
        let names = cue_syntax::parse_expr(label).map(|it| scope::names(&it)).unwrap_or_default();
        let mut fields: Vec<(&str, String)> = Vec::new();
        let count = |it: usize| it.to_string();
        if self.context == Context::File {
            fields.push(("data", value.given()));
            fields.push(("filename", quote(&absolute(Path::new(&value.file)))));
            fields.push(("index", count(value.index)));
            fields.push(("recordCount", count(value.count)));
        } else if let Some(schema) = &value.schema {
            // It sees the schema, not what says it.
            return schema.declared();
        } else if let Datum::Struct(all) = &value.datum {
            for name in names.iter().filter(|it| !it.starts_with(['_', '#'])) {
                let field = all.iter().find(|it| *it.0 == **name);
                fields.extend(field.map(|it| (name.as_str(), print_json(&it.1))));
            }
        }
        let known = |name: &str| fields.iter().any(|it| it.0 == name);
        let mut text = scope::imports(&names, known);
        for (name, value) in &fields {
            if names.iter().any(|it| it == name) {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        text
    }

    /// Whether every name in labels that see the program itself is declared there: that is asked before
    /// anything is evaluated.
    ///
    /// # Errors
    /// One that is not.
    pub(crate) fn known(&self, runtime: &dyn Runtime, sources: &[Source]) -> Result<(), Error> {
        for label in &self.labels {
            let text = match label {
                Label::Fixed(name) if name.starts_with('_') => {
                    let text =
                        format!("hidden label {name} not allowed; use Hid to construct a selector");
                    let text = format!("invalid path: invalid path: {text} for hidden fields");
                    return Err(Error::Request(text));
                }
                Label::Fixed(_) => continue,
                Label::Computed(text) => text,
            };
            let expr = cue_syntax::parse_expr(text);
            if let Ok(ExprKind::Number(_) | ExprKind::Null | ExprKind::Bool(_)) =
                expr.as_ref().map(|it| &it.kind)
            {
                computed(runtime, text, "")?;
            }
            let names = expr.map(|it| scope::names(&it)).unwrap_or_default();
            let mut seen = scope::imports(&names, |it| scope::declares(sources, it));
            for name in names.iter().filter(|it| scope::declares(sources, it)) {
                seen.push_str(&format!("{name}: _\n"));
            }
            match computed(runtime, text, &seen) {
                // Of a choice one name is enough.
                Err(Error::Request(why))
                    if why.contains(": reference ")
                        && (why.contains(" more errors)") || !is_choice(text)) =>
                {
                    return Err(Error::Request(why));
                }
                _ if is_choice(text) => return Err(no_label(text)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Labels that see a value of the program itself.
    ///
    /// # Errors
    /// As [`Placement::place`].
    pub(crate) fn around(
        &self,
        runtime: &dyn Runtime,
        datum: &Datum,
    ) -> Result<Vec<String>, Error> {
        let located = Located { text: print_json(datum), ..Located::default() };
        let value = Value {
            file: String::new(),
            index: 0,
            count: 1,
            datum: datum.clone(),
            located: located.into(),
            schema: None,
        };
        self.resolve(runtime, &value)
    }
}

/// The labels of `a: "b": c:`.
fn full_path(text: &str) -> Result<Vec<Label>, Error> {
    let refused = |why: String| {
        Err(Error::Request(format!(
            "labels must be expressions (-l foo -l 'strings.ToLower(bar)') or full paths \
             (-l '\"foo\": \"\\(strings.ToLower(bar))\":) : {why}"
        )))
    };
    let whole = format!("{text}_");
    let parsed = cue_syntax::parse_file(&whole);
    if let Some(wrong) = parsed.errors.first() {
        return refused(format!("parser error in path {text:?}: {}", wrong.message));
    }
    let cut = |span: cue_syntax::ast::Span| {
        whole.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
    };
    let mut labels = Vec::new();
    let mut decls = &parsed.file.decls;
    loop {
        let field = match decls.as_slice() {
            [Decl::Field(field)] => field,
            // In just these words, whatever was given.
            [_] => return refused("%q not a sequence of labels".into()),
            _ => return refused("path flag must be a space-separated sequence of labels".into()),
        };
        labels.push(match &field.label {
            SyntaxLabel::Ident(_) | SyntaxLabel::String(..) => Label::Fixed(cut(field.label_span)),
            SyntaxLabel::Interpolated(it) | SyntaxLabel::Dynamic(it) => {
                Label::Computed(cut(it.span))
            }
            SyntaxLabel::Pattern(..) => return refused("unsupported label type".into()),
        });
        match &field.value.kind {
            ExprKind::Struct(inner) => decls = inner,
            _ => return Ok(labels),
        }
    }
}

/// Field that holds what is asked for.
const LABEL: &str = "_lateen_label";

/// The text that an expression gives, as a label.
fn computed(runtime: &dyn Runtime, text: &str, seen: &str) -> Result<String, Error> {
    let failed =
        |why: &str| Error::Request(format!("error evaluating label {}: {why}", packed(text)));
    let told = |error: cue_session::Error| match error {
        cue_session::Error::Diagnostics(all) => {
            let first = all.first().map_or("no value", |it| it.message.as_str());
            let more = match all.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more errors)", count - 1),
            };
            failed(&format!("{first}{more}"))
        }
        other => other.into(),
    };
    let spec = ProgramSpec {
        sources: vec![Source::new("--path", format!("{seen}{LABEL}: {text}\n"))],
        packages: Vec::new(),
        profile: Profile::V017,
    };
    let program = runtime.compile(spec).map_err(told)?;
    let mut session = runtime.start(&program, Vec::new(), BUDGET)?;
    let value = session.json(LABEL).map_err(told)?.unwrap_or_else(|| "null".into());
    let datum = parse_json(&value);
    match datum {
        Ok(Datum::String(_)) if is_choice(text) => Err(no_label(text)),
        Ok(Datum::String(label)) => Ok(quote(&label)),
        _ => {
            let text = session.syntax(LABEL, SyntaxStyle::Final).ok().flatten().unwrap_or(value);
            let lines = text.trim_end().split('\n');
            let indented = |it: &str| match it {
                "" => "\n".to_owned(),
                it => format!("\t{it}\n"),
            };
            match datum {
                Ok(Datum::Struct(fields)) if fields.is_empty() => Err(failed("{}")),
                Ok(Datum::Struct(_)) => {
                    Err(failed(&format!("{{\n{}}}", lines.map(indented).collect::<String>())))
                }
                _ => Err(failed(text.trim_end())),
            }
        }
    }
}

/// An expression as it is told: nothing stands around its operators.
fn packed(text: &str) -> String {
    match cue_syntax::parse_expr(text).map(|it| it.kind) {
        Ok(ExprKind::Binary(_, left, right)) => {
            let cut = |from: u32, to: u32| text.get(from as usize..to as usize).unwrap_or_default();
            let operator = cut(left.span.end, right.span.start).trim();
            let side = |it: &cue_syntax::ast::Expr| packed(cut(it.span.start, it.span.end));
            format!("{}{operator}{}", side(&left), side(&right))
        }
        _ => text.to_owned(),
    }
}

/// That an expression can be no label, whatever its value.
fn no_label(text: &str) -> Error {
    Error::Request(format!("expression is not a valid label: {}", packed(text)))
}

/// Whether an expression is alternatives: their default is no label.
fn is_choice(text: &str) -> bool {
    let mut expr = cue_syntax::parse_expr(text).ok();
    while let Some(it) = expr {
        match it.kind {
            ExprKind::Paren(inner) => expr = Some(*inner),
            kind => return matches!(kind, ExprKind::Binary(Binary::Disjoin, ..)),
        }
    }
    false
}

/// Values at their places. A comment may stand behind the last one.
pub(crate) fn line(placed: &Placed, values: &[Value]) -> Located {
    let mut out = Located::default();
    for label in &placed.labels {
        out.add(label);
        out.add(": ");
    }
    let listed = placed.several == Several::Listed;
    if listed {
        out.add("[");
    }
    for (number, at) in placed.values.iter().enumerate() {
        if number > 0 {
            out.add("\n");
        }
        if let Some(value) = values.get(*at) {
            out.append(&value.expression());
        }
    }
    if listed {
        out.add("\n]");
    }
    out
}
