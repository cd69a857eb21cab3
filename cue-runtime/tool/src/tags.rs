//! `-t key=value` and `-T`: values for fields with `@tag`.

use std::sync::Arc;

use cue_session::{Diagnostic, Source};
use cue_syntax::ast::{
    Attribute, Binary, Clause, Decl, Element, Expr, ExprKind, Field, Label, Marker, Span,
};
use cue_syntax::unquote::quote;
use cue_syntax::{Language, LineIndex};

use crate::condition::Flags;
use crate::embed::{Data, Piece, Spliced, arguments};
use crate::error::in_order;
use crate::load::Instance;
use crate::system;
use crate::truth::truth;
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

/// Name of the file that the values of tags are from: messages have no places in it.
pub(crate) const INJECTED: &str = "\0tags";

/// A field that a tag may fill.
struct Target {
    /// Which instance it is in, and which of its files.
    file: (usize, usize),
    /// Where its value stands there.
    value: Span,
    /// Whether that is alternatives: what is unified with them needs parentheses around them.
    is_choice: bool,
    key: String,
    shorthands: Vec<String>,
    kind: Kind,
    variable: Option<String>,
    /// What it is unified with.
    given: Vec<String>,
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
/// `wrong`, which was found before in one of them; a tag that nothing asks for and a value that is not of its type,
/// which count as wrong with the first.
pub(crate) fn inject(
    instances: &mut [&mut Instance],
    (tags, variables): (&[String], Variables),
    flags: &Flags<'_>,
    wrong: Option<(usize, Error)>,
) -> Result<(), Error> {
    let mut targets = Vec::new();
    for (number, instance) in instances.iter().enumerate() {
        for (file, source) in instance.sources.iter().enumerate() {
            search(source, (number, file), &mut targets);
        }
    }
    match (give(tags, flags, &mut targets), wrong) {
        (Ok(()), None) => {}
        (Ok(()), Some((_, wrong))) => return Err(wrong),
        (Err(text), Some((0, wrong))) => {
            let mut all = wrong.into_diagnostics();
            all.push(diagnostic(text, None));
            return Err(Error::Diagnostics(in_order(all)));
        }
        (Err(text), _) => return Err(Error::Request(text)),
    }
    if variables == Variables::System {
        give_variables(&mut targets)?;
    }
    for (number, instance) in instances.iter_mut().enumerate() {
        for (file, source) in instance.sources.iter_mut().enumerate() {
            let here = targets.iter().filter(|it| it.file == (number, file));
            let pieces: Vec<Piece> = here.flat_map(Target::pieces).collect();
            if !pieces.is_empty() {
                let spliced = Spliced::new(source, pieces);
                source.text = spliced.text.as_str().into();
                instance.spliced.push(spliced);
            }
        }
    }
    Ok(())
}

/// Gives the values of tags.
///
/// # Errors
/// Why the first that cannot be given is not.
fn give(tags: &[String], flags: &Flags<'_>, targets: &mut [Target]) -> Result<(), String> {
    for tag in tags {
        let (key, value) =
            tag.split_once('=').map_or((tag.as_str(), None), |it| (it.0, Some(it.1)));
        let mut found = flags.was_asked(tag);
        for target in targets.iter_mut() {
            let meant = match value {
                Some(_) => target.key == key,
                None => target.shorthands.contains(tag),
            };
            if meant {
                found = true;
                target.given.push(literal(target, value.unwrap_or(tag))?);
            }
        }
        if !found {
            return Err(unasked(tag));
        }
    }
    Ok(())
}

/// Gives what the system says where no tag did.
fn give_variables(targets: &mut [Target]) -> Result<(), Error> {
    let mut known: Vec<(String, String)> = Vec::new();
    for target in targets.iter_mut().filter(|it| it.given.is_empty()) {
        let Some(name) = target.variable.clone() else { continue };
        let text = match known.iter().find(|it| it.0 == name) {
            Some((_, text)) => text.clone(),
            None => {
                let text = system::variable(&name)?;
                known.push((name, text.clone()));
                text
            }
        };
        target.given.push(text);
    }
    Ok(())
}

impl Target {
    /// What is put around its value: officially the two are operands of a `&`.
    fn pieces(&self) -> Vec<Piece> {
        if self.given.is_empty() {
            return Vec::new();
        }
        let piece = |at: u32, text: String| {
            let name = INJECTED.trim_start_matches('\0').to_owned();
            let parts = vec![(0, name, Arc::default())];
            let data = Data { text, parts, ..Data::default() };
            Piece { start: at as usize, removed: 0, before: String::new(), data }
        };
        let values: String = self.given.iter().map(|it| format!(" & {it}")).collect();
        match self.is_choice {
            true => vec![
                piece(self.value.start, "(".into()),
                piece(self.value.end, format!("){values}")),
            ],
            false => vec![piece(self.value.end, values)],
        }
    }
}

/// Finds what asks for tags in a file; those that do not stand where they may.
fn search(source: &Source, file: (usize, usize), targets: &mut Vec<Target>) -> Vec<Diagnostic> {
    // What is wrong with a file is told before its tags are.
    let is_wrong = || !cue_syntax::parse_tree_as(&source.text, &Language::NEWEST).1.is_empty();
    if !source.text.contains("@tag") || is_wrong() {
        return Vec::new();
    }
    let parsed = cue_syntax::parse_file(&source.text).file;
    let mut search = Search { file, source, targets, wrong: Vec::new() };
    search.run(&parsed.decls);
    search.wrong
}

/// Whether tags stand where they may.
///
/// # Errors
/// Those that do not.
pub(crate) fn placed(sources: &[Source]) -> Result<(), Error> {
    let wrong: Vec<Diagnostic> =
        sources.iter().flat_map(|it| search(it, (0, 0), &mut Vec::new())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::Diagnostics(wrong)) }
}

/// That nothing asks for a tag.
fn unasked(tag: &str) -> String {
    match tag.split_once('=') {
        Some((key, _)) => format!("no tag for {key:?}"),
        None => format!("tag {tag:?} not used in any file"),
    }
}

/// A value of the tag's type.
///
/// # Errors
/// That it is not of it.
fn literal(target: &Target, value: &str) -> Result<String, String> {
    let key = &target.key;
    match target.kind {
        Kind::Text => Ok(quote(value)),
        Kind::Bool => match truth(value.trim()) {
            Some(known) => Ok(known.to_string()),
            None => Err(format!("invalid boolean {:?} for injection tag {key:?}", value.trim())),
        },
        Kind::Int | Kind::Number => {
            let unsigned = unsigned(value);
            let number = cue_syntax::parse_expr(unsigned).ok().filter(|_| is_begun(unsigned));
            let number = number.and_then(|it| match it.kind {
                ExprKind::Number(digits) => Some(digits),
                _ => None,
            });
            match number.filter(|_| !unsigned.ends_with(char::is_whitespace)) {
                None => {
                    Err(format!("invalid number for injection tag {key:?}: {}", illegal(value)))
                }
                Some(digits) if target.kind == Kind::Int && is_float(&digits) => {
                    Err(format!("invalid int {value:?} for injection tag {key:?}"))
                }
                Some(_) => Ok(value.trim_start_matches('+').to_owned()),
            }
        }
    }
}

/// A number without its sign.
fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// Whether a text begins as a number does.
fn is_begun(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit() || it == '.')
}

/// Why a text is no number.
fn illegal(value: &str) -> String {
    let digits = unsigned(value);
    let radix = [
        ("0x", 16, "hexadecimal"),
        ("0X", 16, "hexadecimal"),
        ("0b", 2, "binary"),
        ("0o", 8, "octal"),
    ];
    let radix = radix.iter().find_map(|it| Some((digits.strip_prefix(it.0)?, it.1, it.2)));
    let follows_none = |(at, _): (usize, &str)| {
        !digits
            .get(at + 1..)
            .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_alphanumeric()))
    };
    // What a number that begins with 0 may go on with after its digits.
    let whole = digits.trim_start_matches(|it: char| it.is_ascii_digit() || it == '_');
    let is_padded = digits.starts_with('0') && digits.len() - whole.len() > 1;
    let exponent = digits.trim_end_matches(['+', '-']).ends_with(['e', 'E']);
    match radix {
        _ if value.is_empty() => "invalid number \"\"".into(),
        Some((rest, base, name))
            if !rest.trim_start_matches('_').starts_with(|it: char| it.is_digit(base)) =>
        {
            format!("illegal {name} number {value:?}")
        }
        _ if digits.starts_with('.') && !digits.contains(|it: char| it.is_ascii_digit()) => {
            format!("illegal fraction {value:?}")
        }
        _ if !is_begun(digits) => format!("illegal number start {value:?}"),
        None if exponent => format!("illegal exponent {value:?}"),
        None if is_padded && !whole.starts_with(['e', 'E', '.']) => {
            format!("illegal integer number {value:?}")
        }
        _ if digits.match_indices('_').any(follows_none) => "illegal '_' in number".into(),
        _ => format!("illegal number {value:?}"),
    }
}

fn is_float(digits: &str) -> bool {
    let radix = ["0x", "0X", "0b", "0o"].iter().any(|it| digits.starts_with(it));
    let multiplied = digits.ends_with(|it: char| it.is_ascii_uppercase() || it == 'i');
    !radix && !multiplied && digits.contains(['.', 'e', 'E'])
}

/// Looks for tags; where they may not be, they are wrong.
struct Search<'a> {
    file: (usize, usize),
    source: &'a Source,
    targets: &'a mut Vec<Target>,
    wrong: Vec<Diagnostic>,
}

/// What is still to look at, and what it is within that may have no tags.
enum Part<'a> {
    Decl(&'a Decl, Option<&'static str>),
    Expr(&'a Expr, Option<&'static str>),
}

impl Search<'_> {
    fn run(&mut self, decls: &[Decl]) {
        let mut work: Vec<Part<'_>> = decls.iter().rev().map(|it| Part::Decl(it, None)).collect();
        while let Some(part) = work.pop() {
            match part {
                Part::Decl(Decl::Field(field), within) => self.field(field, within, &mut work),
                Part::Decl(
                    Decl::Embed(value) | Decl::Let(_, value) | Decl::Ellipsis(Some(value), _),
                    within,
                ) => work.push(Part::Expr(value, within)),
                Part::Decl(Decl::Ellipsis(None, _) | Decl::Attribute(_), _) => {}
                Part::Expr(expr, within) => inner(expr, within, &mut work),
            }
        }
    }

    fn field<'a>(
        &mut self,
        field: &'a Field,
        within: Option<&'static str>,
        work: &mut Vec<Part<'a>>,
    ) {
        let is_plain = has_name(field) && field.marker == Marker::None;
        let within = within.or_else(|| (!is_plain).then_some("field constraint"));
        for attribute in field.attributes.iter().filter(|it| it.name == "tag") {
            let lines = LineIndex::new(&self.source.text);
            let (line, column) = lines.at(attribute.span.start);
            let at = Some((self.source.name.as_str(), line, column));
            let message = match within {
                Some(within) => format!("@tag not allowed within {within}"),
                None => match target(attribute, self.file, &field.value) {
                    Ok(target) => {
                        self.targets.push(target);
                        continue;
                    }
                    Err(message) => message,
                },
            };
            self.wrong.push(diagnostic(message, at));
        }
        work.push(Part::Expr(&field.value, within));
    }
}

/// What an expression holds.
fn inner<'a>(expr: &'a Expr, within: Option<&'static str>, work: &mut Vec<Part<'a>>) {
    let mut push = |it: &'a Expr, within| work.push(Part::Expr(it, within));
    match &expr.kind {
        ExprKind::Struct(decls) => {
            work.extend(decls.iter().rev().map(|it| Part::Decl(it, within)));
        }
        ExprKind::List(elements) => {
            for element in elements.iter().rev() {
                match element {
                    Element::Expr(it) => push(it, within.or(Some("lists"))),
                    Element::Ellipsis(it) => {
                        it.iter().for_each(|it| push(it, within.or(Some("lists"))));
                    }
                }
            }
        }
        ExprKind::Comprehension(clauses, body) => {
            let within = within.or(Some("comprehension"));
            push(body, within);
            for clause in clauses.iter().rev() {
                match clause {
                    Clause::For { source: it, .. } | Clause::If(it) | Clause::Let(_, it) => {
                        push(it, within);
                    }
                    Clause::Otherwise(it) => push(it, within),
                    Clause::Try(..) => {}
                }
            }
        }
        _ => expr.operands().into_iter().rev().for_each(|it| push(it, within)),
    }
}

/// Whether a field has a name of its own.
fn has_name(field: &Field) -> bool {
    match &field.label {
        Label::Ident(_) | Label::String(..) => true,
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => false,
    }
}

fn target(attribute: &Attribute, file: (usize, usize), value: &Expr) -> Result<Target, String> {
    let parts = arguments(&attribute.body);
    let key = match parts.first() {
        Some((key, name)) if key.is_empty() => name.clone(),
        Some((key, value)) => format!("{key}={value}"),
        None => String::new(),
    };
    if !crate::filetype::is_name(&key) {
        return Err(format!("invalid identifier {key:?}"));
    }
    let named = |name: &str| parts.iter().skip(1).find(|it| it.0 == name).map(|it| it.1.as_str());
    let kind = match named("type") {
        None | Some("string") => Kind::Text,
        Some("int") => Kind::Int,
        Some("number") => Kind::Number,
        Some("bool") => Kind::Bool,
        Some(other) => return Err(format!("invalid type {other:?}")),
    };
    let shorthands = named("short").map(|it| it.split('|').map(str::to_owned).collect());
    Ok(Target {
        file,
        value: value.span,
        is_choice: matches!(value.kind, ExprKind::Binary(Binary::Disjoin, ..)),
        key,
        shorthands: shorthands.unwrap_or_default(),
        kind,
        variable: named("var").map(str::to_owned),
        given: Vec::new(),
    })
}
