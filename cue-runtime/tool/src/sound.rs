//! What is told in place of what was asked: a package that does not compile or contradicts itself, a value that fails.

use cue_session::{Concreteness, Diagnostic, Effort, Given, Runtime, Session};

use crate::Error;
use crate::data::Encoding;
use crate::evaluate::{Asked, EXPRESSION, Verb, is_type, is_within, waits_itself};
use crate::plan::{DATA, Unit};

/// What of a package must be sound before other errors are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sound {
    /// It compiles: files that were named one by one, and what is read with data.
    #[default]
    Text,
    /// Its values do not contradict, too: packages.
    Values,
}

/// What the rest of any package may cost.
const LEAST: Effort = Effort { ticks: 100_000, bytes: 32 << 20 };

/// What may come to that for each byte of a text.
const PER_BYTE: Effort = Effort { ticks: 20, bytes: 1_000 };

impl Asked<'_> {
    /// Whether nothing at a path in it contradicts.
    ///
    /// # Errors
    /// What does.
    pub(crate) fn agrees(&self, runtime: &dyn Runtime, path: &str) -> Result<(), Error> {
        let started = self.start(runtime, None);
        let wrong = started.and_then(|mut it| Ok(it.validate(path, Concreteness::Optional)?));
        let wrong = wrong.map(|it| it.into_iter().filter(|it| !it.incomplete).collect::<Vec<_>>());
        match wrong {
            Ok(wrong) if wrong.is_empty() => Ok(()),
            Ok(wrong) => Err(self.renamed(runtime, Error::Diagnostics(wrong))),
            Err(error) => Err(self.renamed(runtime, error)),
        }
    }

    /// Whether the package can be asked: it compiles, and nothing in it contradicts where no data is
    /// read with it and `of` says that its values count.
    ///
    /// # Errors
    /// What keeps it from that.
    pub(crate) fn sound(&self, runtime: &dyn Runtime, of: Sound) -> Result<(), Error> {
        let unit = &self.unit.without_data();
        let package = Asked { unit, expression: "", ..*self };
        if of == Sound::Values && !self.request.ignore {
            return package.agrees(runtime, "");
        }
        package.start(runtime, None).map(drop).map_err(|it| package.renamed(runtime, it))
    }

    /// Whether each of several packages can be asked: one that cannot is all that is told.
    ///
    /// # Errors
    /// All that does not compile, or the first that contradicts itself.
    pub(crate) fn all_sound(&self, runtime: &dyn Runtime, units: &[Unit]) -> Result<(), Error> {
        let mut wrong: Vec<Diagnostic> = Vec::new();
        for unit in units {
            match (Asked { unit, ..*self }).sound(runtime, Sound::Text) {
                // What one imports may be told of already.
                Err(Error::Diagnostics(all)) => {
                    all.into_iter().for_each(|it| {
                        if !wrong.contains(&it) {
                            wrong.push(it);
                        }
                    });
                }
                told => told?,
            }
        }
        if !wrong.is_empty() {
            return Err(Error::Diagnostics(wrong));
        }
        units.iter().try_for_each(|unit| Asked { unit, ..*self }.sound(runtime, Sound::Values))
    }

    /// What the rest of a package may cost where a part of it is asked for: more for a longer text, and never as much
    /// as a text can ask for.
    pub(crate) fn effort(&self) -> Effort {
        let unit = self.unit;
        let of_packages = unit.packages.iter().flat_map(|it| &it.sources);
        let texts = unit.sources.iter().chain(of_packages).map(|it| it.text.len());
        let data = unit.inputs.iter().map(|it| match &it.value {
            Given::Json(text) => text.len(),
            Given::Kept(_) | Given::Again => 0,
        });
        let length = texts.chain(data).map(|it| it as u64).sum::<u64>();
        Effort {
            ticks: LEAST.ticks.saturating_add(length.saturating_mul(PER_BYTE.ticks)),
            bytes: LEAST.bytes.saturating_add(length.saturating_mul(PER_BYTE.bytes)),
        }
    }

    /// The same of the values of a package, where something was asked of it, in the session for that. All of it is
    /// evaluated then, if that is not too much: what fails is an error to what selects beside it (cue-errors 4.1).
    ///
    /// # Errors
    /// What contradicts.
    pub(crate) fn sound_in(&self, session: &mut Session) -> Result<(), Error> {
        if self.expression.is_empty() {
            return Ok(());
        }
        let wrong = session.survey("", Concreteness::Optional, self.effort())?.into_iter();
        if self.request.ignore || self.unit.sound == Sound::Text {
            return Ok(());
        }
        let of_package = |it: &Diagnostic| !it.incomplete && !it.path.starts_with(EXPRESSION);
        let wrong: Vec<Diagnostic> = wrong.filter(of_package).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Error::Diagnostics(wrong)) }
    }

    /// What is wrong with the value that was asked for; definitions and hidden fields in it count, though they are no
    /// data.
    ///
    /// # Errors
    /// It cannot be found out.
    pub(crate) fn wrong(
        &self,
        session: &mut Session,
        path: &str,
        how: Concreteness,
    ) -> Result<Vec<Diagnostic>, Error> {
        let request = self.request;
        let mut wrong = session.validate(path, how)?;
        // Without data `vet` overlooks required fields of definitions that nothing can be given for.
        if request.verb == Verb::Vet
            && !self.has_data()
            && wrong.iter().any(|it| !it.incomplete)
            && session.validate(path, Concreteness::Optional)?.is_empty()
        {
            wrong.clear();
        }
        // Nothing need be given for required fields where they are declared only.
        if request.verb == Verb::Def && request.out == Encoding::Cue {
            wrong.retain(|it| !it.message.starts_with("field is required"));
        }
        // What waits beside a schema is no text that says what it waits for.
        if wrong.is_empty() && path == DATA && request.verb == Verb::Eval {
            let all = session.validate(path, Concreteness::Required)?.into_iter();
            wrong.extend(all.filter(|it| waits_itself(it, DATA)));
        }
        // What has no place of its own is told of what was asked for.
        if !self.expression.is_empty() && cue_syntax::parse_path(self.expression).is_ok() {
            let alone = wrong.iter_mut().filter(|it| it.path.is_empty());
            alone.for_each(|it| self.expression.clone_into(&mut it.path));
        }
        Ok(wrong)
    }
}

/// Whether what a path leads through fails, or waits: then so does a selection in it (cue-errors 4.1).
///
/// # Errors
/// It cannot be found out.
pub(crate) fn withheld(session: &mut Session, path: &str, effort: Effort) -> Result<bool, Error> {
    let Some((first, _)) = path.split_once(['.', '[']) else { return Ok(false) };
    let above = |it: &Diagnostic| is_within(path, &it.path);
    // What is nothing but another value waits where that stands.
    let elsewhere = |it: &Diagnostic| !it.path.starts_with(first) && !is_type(&it.message);
    let wrong = session.survey(first, Concreteness::Required, effort)?;
    Ok(wrong.iter().any(|it| !it.incomplete || above(it) || elsewhere(it)))
}
