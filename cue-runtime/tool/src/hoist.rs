//! `import -R`: texts that hold JSON or YAML become what makes them of the data.

use cue_eval::builtin::Datum;
use cue_eval::encode::json;
use cue_syntax::ast::{Decl, Element, Expr, ExprKind, Field};

use crate::data::{self, Encoding};
use crate::{Error, marshalled};

/// A replacement of a piece of the text.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Rounds for texts within texts.
const ROUNDS: u32 = 32;

/// The text with its texts taken apart.
///
/// # Errors
/// Texts within texts beyond the limit.
pub(crate) fn hoisted(text: &str) -> Result<String, Error> {
    let mut text = text.to_owned();
    let mut rounds = ROUNDS;
    loop {
        let mut names = Vec::new();
        let mut edits = Vec::new();
        let file = cue_syntax::parse_file(&text).file;
        collect_names(&file.decls, &mut names);
        collect(&file.decls, &text, &mut names, &mut edits);
        if edits.is_empty() {
            break;
        }
        let Some(left) = rounds.checked_sub(1) else {
            return Err(Error::Request(format!("texts within texts, more than {ROUNDS} deep")));
        };
        rounds = left;
        edits.sort_by_key(|it| it.start);
        for edit in edits.iter().rev() {
            text.replace_range(edit.start..edit.end, &edit.text);
        }
    }
    Ok(marshalled::imported(text))
}

/// What is still to look at.
pub(crate) enum Part<'a> {
    Field(&'a Field),
    Expr(&'a Expr),
}

pub(crate) fn parts(decls: &[Decl]) -> Vec<Part<'_>> {
    let parts = decls.iter().filter_map(|it| match it {
        Decl::Field(field) => Some(Part::Field(field)),
        Decl::Let(_, value) | Decl::Embed(value) => Some(Part::Expr(value)),
        Decl::Ellipsis(..) | Decl::Attribute(_) => None,
    });
    parts.collect()
}

pub(crate) fn inner<'a>(expr: &'a Expr, work: &mut Vec<Part<'a>>) {
    match &expr.kind {
        ExprKind::Struct(decls) => work.extend(parts(decls)),
        ExprKind::List(elements) => work.extend(elements.iter().filter_map(|it| match it {
            Element::Expr(it) => Some(Part::Expr(it)),
            Element::Ellipsis(_) => None,
        })),
        _ => {}
    }
}

fn collect_names(decls: &[Decl], names: &mut Vec<String>) {
    each_struct(decls, &mut |decls| {
        names.extend(decls.iter().filter_map(|it| match it {
            Decl::Let(name, _) => Some(name.name.to_string()),
            Decl::Field(field) => field.label.name().map(str::to_owned),
            Decl::Embed(_) | Decl::Ellipsis(..) | Decl::Attribute(_) => None,
        }));
    });
}

/// Shows the declarations of a file, and of each struct in it.
pub(crate) fn each_struct(decls: &[Decl], show: &mut impl FnMut(&[Decl])) {
    show(decls);
    let mut work = parts(decls);
    while let Some(part) = work.pop() {
        let expr = match part {
            Part::Field(field) => &field.value,
            Part::Expr(expr) => expr,
        };
        if let ExprKind::Struct(decls) = &expr.kind {
            show(decls);
        }
        inner(expr, &mut work);
    }
}

fn collect(decls: &[Decl], source: &str, names: &mut Vec<String>, edits: &mut Vec<Edit>) {
    let mut work = parts(decls);
    work.reverse();
    while let Some(part) = work.pop() {
        let field = match part {
            Part::Expr(expr) => {
                let before = work.len();
                inner(expr, &mut work);
                if let Some(new) = work.get_mut(before..) {
                    new.reverse();
                }
                continue;
            }
            Part::Field(field) => field,
        };
        let (field, is_bare) = innermost(field, source);
        let (Some(label), ExprKind::String(text)) = (field.label.name(), &field.value.kind) else {
            work.push(Part::Expr(&field.value));
            continue;
        };
        let Some((body, package)) = parsed(text) else { continue };
        let data = unique(label, names);
        let span = field.value.span;
        let closing = if is_bare { "\n}" } else { "" };
        if is_bare {
            let start = field.span.start as usize;
            edits.push(Edit { start, end: start, text: "{\n".to_owned() });
        }
        edits.push(Edit {
            start: span.start as usize,
            end: span.end as usize,
            text: format!("{package}.Marshal({data})\nlet {data} = {body}{closing}"),
        });
    }
}

/// The last field of labels in one line, and whether the struct that it is in is written without braces.
fn innermost<'a>(field: &'a Field, source: &str) -> (&'a Field, bool) {
    let (mut last, mut is_bare) = (field, false);
    while let ExprKind::Struct(decls) = &last.value.kind {
        let [Decl::Field(inner)] = decls.as_slice() else { break };
        if source.as_bytes().get(last.value.span.start as usize) == Some(&b'{') {
            break;
        }
        (last, is_bare) = (inner, true);
    }
    (last, is_bare)
}

/// The list or struct in a text as CUE, with the lines of the text, and what wrote it.
fn parsed(text: &str) -> Option<(String, &'static str)> {
    if json::check(text.as_bytes()).is_ok() {
        // JSON is CUE, but for some of what texts escape.
        let kind = cue_syntax::parse_expr(text).ok()?.kind;
        let holds = matches!(kind, ExprKind::Struct(_) | ExprKind::List(_));
        return holds.then(|| (text.trim().to_owned(), "json"));
    }
    // One line is too often taken for YAML that it is not.
    if !text.contains('\n') {
        return None;
    }
    let values = data::read(Encoding::Yaml, "-", text.as_bytes()).and_then(data::Read::all).ok()?;
    let [value] = values.as_slice() else { return None };
    let written = &value.located.text;
    let body = match &value.datum {
        Datum::Struct(fields) if fields.is_empty() => "{}".to_owned(),
        Datum::Struct(_) => format!("{{\n{}\n}}", written.trim_end()),
        Datum::List(_) => written.clone(),
        _ => return None,
    };
    Some((body, "yaml"))
}

/// A name that nothing has yet.
fn unique(label: &str, names: &mut Vec<String>) -> String {
    let base: String =
        label.chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
    let mut kind = String::from("cue_");
    let mut name = format!("_{kind}{base}");
    while names.contains(&name) {
        name = format!("_{kind}{base}");
        kind.push('x');
    }
    names.push(name.clone());
    name
}
