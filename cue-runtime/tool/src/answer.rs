//! What a command answers of one expression: what is wrong with its value, or the value as it is asked for.

use cue_eval::builtin::Datum;
use cue_eval::encode::json;
use cue_session::{Concreteness, Diagnostic, Runtime, Session, Shown, SyntaxStyle};
use cue_syntax::Style;

use crate::data::{self, Encoding};
use crate::evaluate::{Asked, Concrete, INCOMPLETE, Of, Outcome, PRINTED, Request, Verb};
use crate::filetype::{Reading, is_name};
use crate::output::{bytes, datum, told, with_bytes, yaml};
use crate::place::Placement;
use crate::{Error, format};

impl Asked<'_> {
    /// Adds it to what was answered before.
    pub(crate) fn answer(&self, runtime: &dyn Runtime, outcome: &mut Outcome) -> Result<(), Error> {
        let request = self.request;
        let placement = request.placement()?;
        let around = request.verb == Verb::Export && placement.has_labels() && !self.unit.had_data;
        if around {
            placement.known(runtime, &self.unit.sources)?;
        }
        let ignores = request.ignore && request.verb == Verb::Eval;
        let (mut session, path, of) = match self.open(runtime) {
            Err(error) if ignores && request.out == Encoding::Cue => {
                let text =
                    self.with_clause(self.bottomed(runtime, error)?)?.trim_end().to_owned() + "\n";
                self.begin(outcome);
                outcome.output.extend(text.bytes());
                return Ok(());
            }
            opened => opened?,
        };
        let session = &mut session;
        if !ignores {
            let around = around.then_some(&placement);
            self.check(runtime, session, &path, around)?;
        }
        let Some(style) = self.style(of) else {
            if self.lacks_something(session, &path)? {
                outcome.warning = Some(INCOMPLETE);
            }
            return Ok(());
        };
        let mut labels = Vec::new();
        if around {
            let datum = datum(session, &path)?;
            labels = placement.around(runtime, &datum)?;
        }
        let text = self.text((runtime, session), (&path, of), style, &labels)?;
        self.begin(outcome);
        match outcome.output.is_empty() {
            true => outcome.output = text,
            false => outcome.output.extend(text),
        }
        Ok(())
    }

    /// Refuses a value that is wrong, with the paths of where it is put if that is said.
    fn check(
        &self,
        runtime: &dyn Runtime,
        session: &mut Session,
        path: &str,
        around: Option<&Placement>,
    ) -> Result<(), Error> {
        let strict = self.is_strict();
        let how = if strict { Concreteness::Required } else { Concreteness::Optional };
        let mut wrong = self.wrong(session, path, how)?;
        let waits = wrong.iter().all(|it| it.incomplete);
        // What is not concrete is told of where it is put.
        if let Some(placement) = around.filter(|_| waits) {
            let labels = placement.around(runtime, &Datum::Null).unwrap_or_default();
            wrong.iter_mut().for_each(|it| put_within(&labels, path, it));
        }
        // A field that nothing could be given to is no matter of what need not be concrete.
        if wrong.is_empty() || (waits && self.request.verb == Verb::Vet && !strict) {
            return Ok(());
        }
        Err(Error::Diagnostics(wrong))
    }

    /// How a value is printed; none if it is not.
    fn style(&self, of: Of) -> Option<SyntaxStyle> {
        let request = self.request;
        Some(match request.verb {
            Verb::Vet => return None,
            Verb::Export => SyntaxStyle::Exported,
            Verb::Eval => {
                let concrete = request.concrete == Concrete::Must;
                let whole = self.expression.is_empty();
                // What a package hides it hides from what it is part of.
                let plain = whole && !self.is_joined();
                SyntaxStyle::EvalWith(Shown {
                    wrong: request.ignore,
                    concrete,
                    apart: of == Of::Field && !whole && !self.unit.apart,
                    file: !whole,
                    hidden: request.shown.hidden && (plain || self.unit.package.is_none()),
                    // What need not be there is not concrete.
                    optional: request.shown.optional && !concrete,
                    simplified: request.style == Style::Simplified,
                    ..request.shown
                })
            }
            Verb::Def if request.style == Style::Simplified => SyntaxStyle::Simplified,
            Verb::Def => SyntaxStyle::Definition,
        })
    }

    /// Whether `vet` says that not everything is concrete.
    fn lacks_something(&self, session: &mut Session, path: &str) -> Result<bool, Error> {
        if self.is_strict() || self.request.concrete != Concrete::Usual {
            return Ok(false);
        }
        let lacking = session.validate(path, Concreteness::Required)?;
        Ok(lacking.iter().any(|it| it.incomplete))
    }

    /// The value as it is asked for, within labels.
    fn text(
        &self,
        (runtime, session): (&dyn Runtime, &mut Session),
        (path, of): (&str, Of),
        style: SyntaxStyle,
        labels: &[String],
    ) -> Result<Vec<u8>, Error> {
        let request = self.request;
        if let Some(hidden) = labels.iter().position(|it| it.starts_with('#')) {
            // What a definition is put into is no data.
            return without_value(labels.get(..hidden).unwrap_or_default(), request);
        }
        if request.reading.is_schema() && (request.verb, request.out) == PRINTED {
            let printed = self.cue(session, (path, of), style, labels)?;
            return self.described_as_printed(runtime, &String::from_utf8_lossy(&printed));
        }
        match request.reading {
            Reading::OpenApi => return self.document(runtime, session, path),
            Reading::JsonSchema => return self.json_schema(runtime, session, path),
            _ => {}
        }
        let within = match request.out {
            Encoding::Cue => return self.cue(session, (path, of), style, labels),
            _ => names(labels)?,
        };
        match request.out {
            Encoding::Json if within.is_empty() => {
                let text = session.json(path);
                let text = told(session, path, text)?;
                Ok((json::indented(&text, request.html()) + "\n").into_bytes())
            }
            // JSON has no bytes.
            Encoding::Yaml => Ok(yaml(session, path, &within)?.into_bytes()),
            Encoding::Toml => {
                let datum = with_bytes(session, path)?.within(&within);
                data::write(request.out, &datum, request.html(), path)
                    .map_err(|it| Error::Diagnostics(vec![*it]))
            }
            _ => {
                let mut datum = datum(session, path)?;
                if matches!(request.out, Encoding::Binary | Encoding::Text) {
                    datum = bytes(session, path)?.unwrap_or(datum);
                }
                datum = datum.within(&within);
                data::write(request.out, &datum, request.html(), path).map_err(|it| {
                    Error::Diagnostics(vec![self.untold((runtime, session), path, of, *it)])
                })
            }
        }
    }

    /// What stands above one of several answers.
    fn begin(&self, outcome: &mut Outcome) {
        let request = self.request;
        let header = request.verb == Verb::Eval && request.expressions.len() > 1;
        if request.out == Encoding::Cue && header {
            let title = titled(self.expression);
            let name = title.rsplit('/').next().unwrap_or_default();
            outcome.output.extend(format!("// {name}\n").bytes());
        } else if !outcome.output.is_empty() {
            outcome.output.extend(separator(request.out).as_bytes());
        }
    }
}

/// Puts the path of what is wrong in the value at another path below labels.
fn put_within(labels: &[String], path: &str, wrong: &mut Diagnostic) {
    let plain = |label: &String| match label.trim_matches('"') {
        name if is_name(name) => name.to_owned(),
        _ => label.clone(),
    };
    let own = wrong.path.strip_prefix(path).unwrap_or(&wrong.path).trim_start_matches('.');
    let own = (!own.is_empty()).then(|| own.to_owned());
    wrong.path = labels.iter().map(plain).chain(own).collect::<Vec<_>>().join(".");
}

/// An expression as it stands above its value.
pub(crate) fn titled(expression: &str) -> String {
    let text = format::text("--expression", expression, Style::Plain).unwrap_or_default();
    match text.trim() {
        "" => expression.to_owned(),
        text => text.to_owned(),
    }
}

/// Labels without their quotes.
fn names(labels: &[String]) -> Result<Vec<String>, Error> {
    let name = |label: &String| {
        let name = cue_eval::evaluation::split_path(label).map_err(Error::Request)?;
        Ok(name.into_iter().next().map_or_else(|| label.clone(), |it| it.1.into_owned()))
    };
    labels.iter().map(name).collect()
}

/// An empty struct at a place.
fn without_value(labels: &[String], request: &Request) -> Result<Vec<u8>, Error> {
    if request.out == Encoding::Cue {
        let text = labels.iter().rev().fold(String::new(), |inner, label| match inner.is_empty() {
            true => format!("{label}: {{}}"),
            false => format!("{label}: {inner}"),
        });
        return Ok((text + "\n").into_bytes());
    }
    let datum = Datum::Struct(Default::default()).within(&names(labels)?);
    let written = data::write(request.out, &datum, request.html(), "");
    written.map_err(|it| Error::Diagnostics(vec![*it]))
}

fn separator(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Yaml => "---\n",
        Encoding::Cue => "// ---\n",
        Encoding::Json
        | Encoding::JsonLines
        | Encoding::Toml
        | Encoding::Text
        | Encoding::Binary => "",
    }
}
