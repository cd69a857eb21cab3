//! A value as CUE: what `eval` and `def` print, also of what has none.

use cue_eval::{Names, Simplified};
use cue_session::{Concreteness, Diagnostic, Runtime, Session, Shown, SyntaxStyle};
use cue_syntax::Style;
use cue_syntax::ast::{Binary, Decl, ExprKind};

use crate::evaluate::{Asked, EXPRESSION, Imports, Of, Verb, is_type};
use crate::filetype::is_name;
use crate::output::without_clause;
use crate::{Error, format, part};

impl Asked<'_> {
    /// The value as CUE.
    pub(crate) fn cue(
        &self,
        session: &mut Session,
        (path, of): (&str, Of),
        style: SyntaxStyle,
        labels: &[String],
    ) -> Result<Vec<u8>, Error> {
        let apart = self.unit.apart || self.expression.is_empty();
        let mut part = match (self.request.verb, of) {
            (Verb::Eval | Verb::Def, Of::Expression) => self.bottom(session, path)?,
            _ => None,
        };
        let kept = of == Of::Expression;
        let packages = &self.unit.packages;
        let simplified = match self.request.style {
            Style::Simplified => Simplified::Yes,
            _ => Simplified::No,
        };
        if part.is_none() && self.request.verb == Verb::Def {
            let expression = Some(self.expression).filter(|_| kept);
            let names = match self.request.imports {
                // What data is merged with stays as it is.
                Imports::PutIn if !self.is_joined() => Some(Names::PutIn),
                Imports::PutIn | Imports::Kept if kept => {
                    Some(Names::Kept).filter(|_| is_composite(self.expression))
                }
                Imports::PutIn | Imports::Kept => Some(Names::Replaced),
            };
            part = match names {
                Some(Names::PutIn) if apart => {
                    part::inlined(&self.sources(None), packages, simplified)
                }
                Some(names) if !apart => {
                    part::declared(&self.sources(expression), packages, path, (names, simplified))
                }
                _ => None,
            };
        }
        let mut text = match part {
            Some(text) => text,
            None => self.shown(session, path, style)?.unwrap_or_default(),
        };
        if !labels.is_empty() {
            text = format!("{}: {{\n{}\n}}\n", labels.join(": "), text.trim_end());
        }
        if self.request.verb == Verb::Export {
            // What is left has no braces too many, and is aligned like that.
            text = format::text("-", &text, Style::Value)?;
            text = format::text("-", &text, Style::Plain)?;
        }
        // With data it is no file of the package any more: its clause goes, but the line of that
        // stays above what is embedded first.
        if let (Verb::Def, true, Some(package)) =
            (self.request.verb, self.is_joined(), &self.unit.package)
        {
            if let Some(rest) = without_clause(&text, package) {
                let line = if begins_embedding(rest) { "\n" } else { "" };
                text = format!("{line}{rest}");
            }
        }
        let mut text = self.with_clause(text.trim_end_matches('\n').to_owned())?;
        text.push('\n');
        let comment = &self.unit.comment;
        if self.request.verb == Verb::Def && self.expression.is_empty() && !comment.is_empty() {
            text = format!("{comment}{}", text.trim_start_matches('\n'));
        }
        Ok(text.into_bytes())
    }

    /// CUE with the clause of `-p`, if it has none.
    pub(crate) fn with_clause(&self, text: String) -> Result<String, Error> {
        let package = self.request.package.as_ref();
        match package.filter(|_| cue_syntax::parse_header(&text).package.is_none()) {
            None => Ok(text),
            Some(package) if !is_name(package) => {
                Err(Error::Request(format!("invalid identifier {package:?}")))
            }
            Some(package) => {
                let text = text.trim_start_matches('\n');
                Ok(format!("package {package}\n\n{text}").trim_end().to_owned())
            }
        }
    }

    /// What is printed of an expression that does not compile.
    pub(crate) fn bottomed(&self, runtime: &dyn Runtime, error: Error) -> Result<String, Error> {
        match self.renamed(runtime, error) {
            Error::Diagnostics(all) => match all.as_slice() {
                [Diagnostic { message, positions, .. }] => match positions.as_slice() {
                    [at] if at.file == "--expression" => {
                        Ok(format!("_|_ // {}:{}:{}: {message}\n", at.file, at.line, at.column))
                    }
                    _ => Err(Error::Diagnostics(all)),
                },
                _ => Err(Error::Diagnostics(all)),
            },
            other => Err(other),
        }
    }

    /// The value as it is printed; one that stands alone has what its names stand for beside it (O-80).
    fn shown(
        &self,
        session: &mut Session,
        path: &str,
        style: SyntaxStyle,
    ) -> Result<Option<String>, Error> {
        match style {
            SyntaxStyle::EvalWith(Shown { apart: true, .. }) => part::shown(|runtime| {
                let mut session = self.start(runtime, None)?;
                session.survey("", Concreteness::Optional, self.effort())?;
                Ok(session.syntax(path, style)?)
            }),
            _ => Ok(session.syntax(path, style)?),
        }
    }

    /// What is printed of an expression that has no value yet and is no field, which has a text.
    fn bottom(&self, session: &mut Session, path: &str) -> Result<Option<String>, Error> {
        let wrong = session.validate(path, Concreteness::Required)?;
        // What is missing may be elsewhere.
        let whole = !is_composite(self.expression);
        let of_all = |it: &Diagnostic| it.path == path || whole && !it.path.starts_with(EXPRESSION);
        let own = wrong.into_iter().find(|it| it.incomplete && of_all(it));
        let own = own.filter(|it| !is_type(&it.message));
        Ok(own.map(|it| match it.path == path || it.path.is_empty() {
            true => format!("_|_ // {}\n", it.message),
            false => format!("_|_ // {}: {}\n", it.path, it.message),
        }))
    }
}

/// Whether an expression stands for its parts, which are not evaluated where they are printed.
fn is_composite(expression: &str) -> bool {
    let expr = cue_syntax::parse_expr(expression).map(|it| it.kind);
    matches!(
        expr,
        Ok(ExprKind::Struct(_) | ExprKind::List(_) | ExprKind::Binary(Binary::Disjoin, ..))
    )
}

/// Whether a file without imports embeds something before all else.
fn begins_embedding(text: &str) -> bool {
    let file = cue_syntax::parse_file(text).file;
    file.imports.is_empty() && matches!(file.decls.first(), Some(Decl::Embed(_)))
}
