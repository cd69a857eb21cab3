//! A value of a session as data, and why it is none; CUE without its package clause.

use cue_eval::builtin::Datum;
use cue_eval::evaluation::parse_json;
use cue_session::{Concreteness, Diagnostic, Runtime, Session, SyntaxStyle};
use cue_syntax::ast::ExprKind;

use crate::evaluate::{Asked, EXPRESSION, Of};
use crate::{Error, diagnostic};

impl Asked<'_> {
    /// That a value is no text, with the place and the definitions that a function would tell of it.
    pub(crate) fn untold(
        &self,
        (runtime, session): (&dyn Runtime, &mut Session),
        path: &str,
        of: Of,
        plain: Diagnostic,
    ) -> Diagnostic {
        const ASKED: &str = "strings.ToUpper(";
        if path.is_empty() {
            // A function cannot be given the whole.
            let shown = session.syntax(path, SyntaxStyle::Brief).ok().flatten();
            let kind = plain.message.rfind(" (type ").and_then(|at| plain.message.get(at..));
            let (Some(shown), Some(kind)) = (shown, kind) else { return plain };
            return Diagnostic { message: format!("cannot use value {shown}{kind}"), ..plain };
        }
        let value = if of == Of::Expression { self.expression } else { path };
        let asked = format!("{ASKED}{value})");
        let told = self.start(runtime, Some(&asked)).ok();
        let told = told.and_then(|mut it| it.validate(EXPRESSION, Concreteness::Optional).ok());
        let Some(mut told) = told.and_then(|it| it.into_iter().next()) else { return plain };
        let shown = told.message.strip_prefix("cannot use ").and_then(|it| it.split_once(") as "));
        let wanted = plain.message.rsplit_once(" as ");
        let (Some((shown, _)), Some((_, wanted))) = (shown, wanted) else { return plain };
        let nested = shown.ends_with("(type struct") || shown.ends_with("(type list");
        let message = format!("cannot use value {shown}) as {wanted}");
        told.positions.retain(|_| !nested);
        for at in told.positions.iter_mut().filter(|it| it.file == "--expression") {
            at.column = at.column.saturating_sub(ASKED.len() as u32);
        }
        Diagnostic { message, positions: told.positions, ..plain }
    }
}

/// A value as data.
pub(crate) fn datum(session: &mut Session, path: &str) -> Result<Datum, Error> {
    let text = session.json(path);
    parse_json(&told(session, path, text)?).map_err(Error::Runtime)
}

/// A value as data that has bytes and floats: JSON has none (`5.` is 5), so it is read from YAML if there are some.
pub(crate) fn with_bytes(session: &mut Session, path: &str) -> Result<Datum, Error> {
    let datum = datum(session, path)?;
    let text = yaml(session, path, &[])?;
    if !text.contains("!!binary") && !text.contains(".\n") {
        return Ok(datum);
    }
    let read = cue_eval::encode::yaml::decode(text.as_bytes()).ok();
    let read = read.and_then(|it| it.into_iter().next());
    Ok(read.map_or(datum, |it| it.tree.into_datum()))
}

/// A value as YAML.
pub(crate) fn yaml(session: &mut Session, path: &str, within: &[String]) -> Result<String, Error> {
    let text = session.yaml(path, within);
    told(session, path, text)
}

/// What was told of a value; every error if there is one.
pub(crate) fn told(
    session: &mut Session,
    path: &str,
    text: Result<Option<String>, cue_session::Error>,
) -> Result<String, Error> {
    let none = || cue_session::Error::Diagnostics(vec![diagnostic("no value", None)]);
    match text.and_then(|text| text.ok_or_else(none)) {
        Ok(text) => Ok(text),
        Err(error) => Err(all_of(session, path, error)),
    }
}

/// A value that is bytes.
pub(crate) fn bytes(session: &mut Session, path: &str) -> Result<Option<Datum>, Error> {
    let text = session.syntax(path, SyntaxStyle::Final)?.unwrap_or_default();
    Ok(match cue_syntax::parse_expr(text.trim()).map(|it| it.kind) {
        Ok(ExprKind::Bytes(bytes)) => Some(Datum::bytes(bytes)),
        _ => None,
    })
}

/// Every error there is, where conversion to data stops at the first.
fn all_of(session: &mut Session, path: &str, first: cue_session::Error) -> Error {
    match session.validate(path, Concreteness::Required) {
        Ok(all) if !all.is_empty() => Error::Diagnostics(all),
        _ => first.into(),
    }
}

/// What follows a package clause, if nothing but comments stands above it.
pub(crate) fn without_clause<'a>(text: &'a str, package: &str) -> Option<&'a str> {
    let (above, rest) = text.split_once(&format!("package {package}\n\n"))?;
    let comments = above.lines().all(|it| it.is_empty() || it.starts_with("//"));
    comments.then_some(rest)
}
