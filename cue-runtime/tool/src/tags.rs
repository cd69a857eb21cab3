//! `-t key=value` and `-T`: values for fields with `@tag`.

use cue_session::{Diagnostic, Source};
use cue_syntax::ast::{
    Attribute, Binary, Clause, Decl, Element, Expr, ExprKind, Field, Label, Marker,
};
use cue_syntax::unquote::quote;
use cue_syntax::{Language, LineIndex};

use crate::condition::Flags;
use crate::error::in_order;
use crate::load::Instance;
use crate::system;
use crate::{Error, diagnostic};

/// What fields get that ask for a variable of the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// Nothing.
    #[default]
    None,
    /// `-T`: what the system says.
    System,
}

/// Name of the file that gives tagged fields their values: messages have no places in it.
pub(crate) const INJECTED: &str = "\0tags";

/// A field that a tag may fill.
struct Target {
    /// Which instance it is in.
    instance: usize,
    /// None in what is no field of the package: an operand, a `let`.
    path: Option<Vec<String>>,
    key: String,
    shorthands: Vec<String>,
    kind: Kind,
    variable: Option<String>,
    filled: bool,
}

/// Type of a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Int,
    Number,
    Bool,
}

/// Gives tagged fields the values of tags, and of variables where no tag did.
///
/// # Errors
/// `wrong`, which was found before in one of them; a tag that nothing asks for, which counts as wrong with the first; a
/// value that is not of its type.
pub(crate) fn inject(
    instances: &mut [&mut Instance],
    (tags, variables): (&[String], Variables),
    flags: &Flags<'_>,
    wrong: Option<(usize, Error)>,
) -> Result<(), Error> {
    let mut targets = Vec::new();
    for (number, instance) in instances.iter().enumerate() {
        for source in &instance.sources {
            search(source, number, &mut targets);
        }
    }
    let mut texts = vec![String::new(); instances.len()];
    for tag in tags {
        let (key, value) =
            tag.split_once('=').map_or((tag.as_str(), None), |it| (it.0, Some(it.1)));
        let mut found = flags.was_asked(tag);
        for target in &mut targets {
            let meant = match value {
                Some(_) => target.key == key,
                None => target.shorthands.contains(tag),
            };
            if meant {
                found = true;
                let text = literal(target, value.unwrap_or(tag))?;
                fill(target, &text, &mut texts);
            }
        }
        if !found {
            let Some((0, wrong)) = wrong else { return Err(Error::Request(unasked(tag))) };
            let mut all = wrong.into_diagnostics();
            all.push(diagnostic(unasked(tag), None));
            return Err(Error::Diagnostics(in_order(all)));
        }
    }
    if let Some((_, wrong)) = wrong {
        return Err(wrong);
    }
    if variables == Variables::System {
        let mut known: Vec<(String, String)> = Vec::new();
        for target in targets.iter_mut().filter(|it| !it.filled) {
            let Some(name) = target.variable.clone() else { continue };
            let text = match known.iter().find(|it| it.0 == name) {
                Some((_, text)) => text.clone(),
                None => {
                    let text = system::variable(&name)?;
                    known.push((name, text.clone()));
                    text
                }
            };
            fill(target, &text, &mut texts);
        }
    }
    for (instance, text) in instances.iter_mut().zip(texts) {
        if !text.is_empty() {
            let clause = instance.package.as_ref().map(|it| format!("package {it}\n"));
            let text = format!("{}{text}", clause.unwrap_or_default());
            instance.sources.push(Source::new(INJECTED, text));
        }
    }
    Ok(())
}

/// Finds what asks for tags in a file; those that do not stand where they may.
fn search(source: &Source, instance: usize, targets: &mut Vec<Target>) -> Vec<Diagnostic> {
    // What is wrong with a file is told before its tags are.
    let is_wrong = || !cue_syntax::parse_tree_as(&source.text, &Language::NEWEST).1.is_empty();
    if !source.text.contains("@tag") || is_wrong() {
        return Vec::new();
    }
    let file = cue_syntax::parse_file(&source.text).file;
    let mut search = Search { instance, source, targets, wrong: Vec::new() };
    search.run(&file.decls);
    search.wrong
}

/// Whether tags stand where they may.
///
/// # Errors
/// Those that do not.
pub(crate) fn placed(sources: &[Source]) -> Result<(), Error> {
    let wrong: Vec<Diagnostic> =
        sources.iter().flat_map(|it| search(it, 0, &mut Vec::new())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::Diagnostics(wrong)) }
}

/// That nothing asks for a tag.
fn unasked(tag: &str) -> String {
    match tag.split_once('=') {
        Some((key, _)) => format!("no tag for {key:?}"),
        None => format!("tag {tag:?} not used in any file"),
    }
}

fn fill(target: &mut Target, value: &str, texts: &mut [String]) {
    target.filled = true;
    let text = texts.get_mut(target.instance);
    let Some((text, path)) = text.zip(target.path.as_ref()) else { return };
    for label in path {
        text.push_str(label);
        text.push_str(": ");
    }
    text.push_str(value);
    text.push('\n');
}

/// A value of the tag's type.
fn literal(target: &Target, value: &str) -> Result<String, Error> {
    let key = &target.key;
    let refused = |text: String| Err(Error::Request(text));
    match target.kind {
        Kind::Text => Ok(quote(value)),
        Kind::Bool => match value.trim() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok("true".into()),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok("false".into()),
            other => refused(format!("invalid boolean {other:?} for injection tag {key:?}")),
        },
        Kind::Int | Kind::Number => {
            let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
            let number = cue_syntax::parse_expr(unsigned).ok().filter(|_| is_begun(unsigned));
            let number = number.and_then(|it| match it.kind {
                ExprKind::Number(digits) => Some(digits),
                _ => None,
            });
            match number {
                None => refused(format!(
                    "invalid number for injection tag {key:?}: {}",
                    illegal(unsigned)
                )),
                Some(digits) if target.kind == Kind::Int && is_float(&digits) => {
                    refused(format!("invalid int {value:?} for injection tag {key:?}"))
                }
                Some(_) => Ok(value.trim_start_matches('+').to_owned()),
            }
        }
    }
}

/// Whether a text begins as a number does.
fn is_begun(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit() || it == '.')
}

/// Why a text is no number.
fn illegal(value: &str) -> String {
    let radix = [("0x", "hexadecimal"), ("0b", "binary"), ("0o", "octal")];
    let radix = radix.iter().find(|it| value.starts_with(it.0)).map(|it| it.1);
    match radix {
        _ if value.is_empty() => "invalid number \"\"".into(),
        _ if !is_begun(value) => format!("illegal number start {value:?}"),
        Some(radix) => format!("illegal {radix} number {value:?}"),
        None if value.ends_with('_') => "illegal '_' in number".into(),
        None if value.ends_with(['e', 'E']) => format!("illegal exponent {value:?}"),
        None => format!("illegal number {value:?}"),
    }
}

fn is_float(digits: &str) -> bool {
    let radix = ["0x", "0X", "0b", "0o"].iter().any(|it| digits.starts_with(it));
    let multiplied = digits.ends_with(|it: char| it.is_ascii_uppercase() || it == 'i');
    !radix && !multiplied && digits.contains(['.', 'e', 'E'])
}

/// Looks for tags; where they may not be, they are wrong.
struct Search<'a> {
    instance: usize,
    source: &'a Source,
    targets: &'a mut Vec<Target>,
    wrong: Vec<Diagnostic>,
}

/// Where something stands, if that is a place in the package.
type Path = Option<Vec<String>>;

/// What is still to look at, and where it stands.
enum Part<'a> {
    Decl(&'a Decl, Path, Option<&'static str>),
    Expr(&'a Expr, Path, Option<&'static str>),
}

impl Search<'_> {
    fn run(&mut self, decls: &[Decl]) {
        let mut work: Vec<Part<'_>> =
            decls.iter().rev().map(|it| Part::Decl(it, Some(Vec::new()), None)).collect();
        while let Some(part) = work.pop() {
            match part {
                Part::Decl(Decl::Field(field), path, within) => {
                    self.field(field, path, within, &mut work);
                }
                Part::Decl(Decl::Embed(value), path, within) => {
                    work.push(Part::Expr(value, path, within));
                }
                Part::Decl(Decl::Let(_, value) | Decl::Ellipsis(Some(value), _), _, within) => {
                    work.push(Part::Expr(value, None, within));
                }
                Part::Decl(Decl::Ellipsis(None, _) | Decl::Attribute(_), ..) => {}
                Part::Expr(expr, path, within) => inner(expr, &path, within, &mut work),
            }
        }
    }

    fn field<'a>(
        &mut self,
        field: &'a Field,
        path: Path,
        within: Option<&'static str>,
        work: &mut Vec<Part<'a>>,
    ) {
        let label = label(field).filter(|_| field.marker == Marker::None);
        let within = within.or_else(|| label.is_none().then_some("field constraint"));
        let place = path.zip(label).map(|(mut path, label)| {
            path.push(label);
            path
        });
        for attribute in field.attributes.iter().filter(|it| it.name == "tag") {
            let lines = LineIndex::new(&self.source.text);
            let (line, column) = lines.at(attribute.span.start);
            let at = Some((self.source.name.as_str(), line, column));
            match within {
                None => match target(attribute, self.instance, place.clone()) {
                    Ok(target) => self.targets.push(target),
                    Err(message) => self.wrong.push(diagnostic(message, at)),
                },
                Some(within) => {
                    self.wrong.push(diagnostic(format!("@tag not allowed within {within}"), at));
                }
            }
        }
        work.push(Part::Expr(&field.value, place, within));
    }
}

/// What an expression holds. Only structs that are the field itself give it more fields.
fn inner<'a>(expr: &'a Expr, path: &Path, within: Option<&'static str>, work: &mut Vec<Part<'a>>) {
    let mut push = |it: &'a Expr, path: Path, within| work.push(Part::Expr(it, path, within));
    match &expr.kind {
        ExprKind::Struct(decls) => {
            work.extend(decls.iter().rev().map(|it| Part::Decl(it, path.clone(), within)));
        }
        ExprKind::Paren(it) => push(it, path.clone(), within),
        ExprKind::Binary(Binary::Unify, left, right) => {
            push(right, path.clone(), within);
            push(left, path.clone(), within);
        }
        ExprKind::List(elements) => {
            for element in elements.iter().rev() {
                match element {
                    Element::Expr(it) => push(it, None, within.or(Some("lists"))),
                    Element::Ellipsis(it) => {
                        it.iter().for_each(|it| push(it, None, within.or(Some("lists"))));
                    }
                }
            }
        }
        ExprKind::Comprehension(clauses, body) => {
            let within = within.or(Some("comprehension"));
            push(body, None, within);
            for clause in clauses.iter().rev() {
                match clause {
                    Clause::For { source: it, .. } | Clause::If(it) | Clause::Let(_, it) => {
                        push(it, None, within);
                    }
                    Clause::Otherwise(it) => push(it, None, within),
                    Clause::Try(..) => {}
                }
            }
        }
        _ => expr.operands().into_iter().rev().for_each(|it| push(it, None, within)),
    }
}

fn label(field: &Field) -> Option<String> {
    match &field.label {
        Label::Ident(name) => Some(name.name.to_string()),
        Label::String(text, _) => Some(quote(text)),
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => None,
    }
}

fn target(attribute: &Attribute, instance: usize, path: Path) -> Result<Target, String> {
    let mut parts = attribute.body.split(',').map(str::trim);
    let key = parts.next().unwrap_or_default().to_owned();
    if !crate::filetype::is_name(&key) {
        return Err(format!("invalid identifier {key:?}"));
    }
    let mut target = Target {
        instance,
        path,
        key,
        shorthands: Vec::new(),
        kind: Kind::Text,
        variable: None,
        filled: false,
    };
    for part in parts {
        match part.split_once('=') {
            Some(("short", all)) => {
                target.shorthands = all.split('|').map(|it| it.trim().to_owned()).collect();
            }
            Some(("type", kind)) => {
                target.kind = match kind.trim() {
                    "string" => Kind::Text,
                    "int" => Kind::Int,
                    "number" => Kind::Number,
                    "bool" => Kind::Bool,
                    other => return Err(format!("invalid type {other:?}")),
                };
            }
            Some(("var", name)) => target.variable = Some(name.trim().to_owned()),
            _ => {}
        }
    }
    Ok(target)
}
