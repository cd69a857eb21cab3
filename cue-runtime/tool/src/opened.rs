//! The value that was asked for, in a session: the whole, a field of it, or an expression over it.

use cue_session::{Runtime, Session, Source};

use crate::evaluate::{Asked, EXPRESSION, Of};
use crate::plan::{DATA, Unit};
use crate::scope;
use crate::sound::withheld;
use crate::{Error, Request};

/// Where a value stands in a session.
pub(crate) type Opened = (Session, String, Of);

impl Asked<'_> {
    /// Opens what is asked for, all of it evaluated; where the value stands in it, and whether that is a field of the value.
    pub(crate) fn open(&self, runtime: &dyn Runtime) -> Result<Opened, Error> {
        let (mut session, path, of) = match (self.expression, self.unit.apart) {
            ("", true) => (self.start(runtime, None)?, DATA.to_owned(), Of::Field),
            ("", false) => (self.start(runtime, None)?, String::new(), Of::Field),
            (text, true) => self.open_within(runtime, text)?,
            (path, false) => {
                // What is no field may still be a name: of a package, of a `let`.
                if is_path(path) {
                    if let Ok(mut session) = self.start(runtime, None) {
                        self.sound_in(&mut session)?;
                        let member = session.is_member(path).unwrap_or_default();
                        if member && !withheld(&mut session, path, self.effort())? {
                            return Ok((session, path.to_owned(), Of::Field));
                        }
                    }
                }
                (self.start(runtime, Some(path))?, EXPRESSION.to_owned(), Of::Expression)
            }
        };
        self.sound_in(&mut session)?;
        Ok((session, path, of))
    }

    /// The unit with what the expression sees of data that is held against a schema: the fields there are in the two
    /// together, and nothing else of the files.
    pub(crate) fn seeing(&self, runtime: &dyn Runtime) -> Option<Unit> {
        let expression = Some(self.expression).filter(|it| self.unit.apart && !it.is_empty())?;
        // What is wrong is told where the expression is asked for.
        let mut session = self.start(runtime, None).ok()?;
        let mut seen = Seen::default();
        let names = cue_syntax::parse_expr(expression).map(|it| scope::names(&it));
        for name in names.unwrap_or_default().into_iter().filter(|it| !self.hides(it)) {
            let path = format!("{DATA}.{name}");
            if session.is_member(&path).unwrap_or_default() {
                seen.fields.push(name);
            } else if session.exists(&path).unwrap_or_default() {
                seen.optional.push(name);
            }
        }
        Some(Unit { seen, ..self.unit.clone() })
    }

    /// Whether a name is one that the package hides from what its values are held against.
    fn hides(&self, name: &str) -> bool {
        name.starts_with('_') && self.unit.package.is_some()
    }

    /// An expression over such data.
    fn open_within(&self, runtime: &dyn Runtime, text: &str) -> Result<Opened, Error> {
        if is_path(text) && !self.hides(text) {
            let mut session = self.start(runtime, None)?;
            let within = format!("{DATA}.{text}");
            if session.is_member(&within).unwrap_or_default() {
                return Ok((session, within, Of::Field));
            }
        }
        // What it names must be there without the files.
        let seen = self.unit.seen.clone();
        let package = self.unit.package.clone();
        let sources = vec![declared()];
        let alone = &Unit { sources, package, apart: true, seen, ..Unit::default() };
        let request = &Request { schema: None, ..self.request.clone() };
        (Asked { request, unit: alone, expression: text }).start(runtime, Some(text)).map_err(
            |error| {
                let Error::Diagnostics(mut all) = error else { return error };
                for name in &self.unit.seen.optional {
                    let absent = format!("reference {name:?} not found");
                    for it in all.iter_mut().filter(|it| it.message == absent) {
                        it.message = format!("cannot reference optional field: {name}");
                    }
                }
                Error::Diagnostics(all)
            },
        )?;
        Ok((self.start(runtime, Some(text))?, EXPRESSION.to_owned(), Of::Expression))
    }
}

/// Whether an expression is a path that begins with a name.
fn is_path(text: &str) -> bool {
    !text.trim_start().starts_with(['"', '[']) && cue_syntax::parse_path(text).is_ok()
}

/// What an expression sees of data that is held against a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Fields that are there.
    pub(crate) fields: Vec<String>,
    /// Fields that may be.
    pub(crate) optional: Vec<String>,
}

/// The field that data is in, without it.
fn declared() -> Source {
    Source::new("", format!("{DATA}: _"))
}
