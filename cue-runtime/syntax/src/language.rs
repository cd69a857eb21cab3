//! Versions of the language, and what a file may ask for in each (rule 2.5).

use std::borrow::Cow;
use std::fmt;

/// Major, minor and patch.
type Numbers = [u64; 3];

/// A version of the language, as a module file declares it: `v0.15.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Language(Cow<'static, str>);

impl Default for Language {
    /// The newest, that of files in no module.
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for Language {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Language {
    /// The newest version that is spoken.
    pub const NEWEST: Self = Self(Cow::Borrowed("v0.17.1"));

    /// A version by its text; none if it does not begin with `v` and a number.
    pub fn parse(text: &str) -> Option<Self> {
        let known = text.strip_prefix('v')?.starts_with(|it: char| it.is_ascii_digit());
        known.then(|| Self(text.to_owned().into()))
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it is later than the newest that is spoken.
    pub fn is_unspoken(&self) -> bool {
        Self::default().is_before(self.numbers())
    }

    /// Whether it is earlier than a release: its own candidates are.
    pub fn is_before(&self, release: Numbers) -> bool {
        let own = self.numbers();
        own < release || own == release && self.0.contains('-')
    }

    fn numbers(&self) -> Numbers {
        let text = self.0.strip_prefix('v').unwrap_or(&self.0);
        let mut numbers = [0; 3];
        for (number, text) in numbers.iter_mut().zip(text.split(['.', '-', '+'])) {
            *number = text.parse().unwrap_or(u64::MAX);
        }
        numbers
    }
}

/// What a file may ask for with `@experiment(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// `self`, and aliases behind labels.
    AliasV2,
    /// `x...` opens a closed value.
    ExplicitOpen,
    /// Structs, and values of different kinds, can be compared.
    StructCmp,
    /// `try` and `else`.
    Try,
    /// `&&` and `||` do not look at a right side that no longer matters.
    ShortCircuit,
}

/// Name, what it is, the version it came with, and the one in which everybody has it.
type Known = (&'static str, Option<Experiment>, Numbers, Option<Numbers>);

const KNOWN: &[Known] = &[
    ("testing", None, [0, 13, 0], None),
    ("accepted_", None, [0, 13, 0], Some([0, 15, 0])),
    ("structcmp", Some(Experiment::StructCmp), [0, 14, 0], Some([0, 15, 0])),
    ("explicitopen", Some(Experiment::ExplicitOpen), [0, 15, 0], None),
    ("aliasv2", Some(Experiment::AliasV2), [0, 15, 0], None),
    ("try", Some(Experiment::Try), [0, 16, 0], None),
    ("shortcircuit", Some(Experiment::ShortCircuit), [0, 17, 0], None),
];

/// Experiments that a file has, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Experiments(u8);

impl Experiments {
    /// Whether the file has it.
    pub fn has(self, it: Experiment) -> bool {
        self.0 & 1 << it as u8 != 0
    }

    /// Those that every file has.
    pub fn of(language: &Language) -> Self {
        let newest = *language == Language::NEWEST;
        let settled =
            KNOWN.iter().filter(|it| it.3.is_some_and(|it| newest || !language.is_before(it)));
        Self(settled.filter_map(|it| it.1).fold(0, |all, it| all | 1 << it as u8))
    }

    /// Those of a file with these attributes before its package clause.
    ///
    /// # Errors
    /// In CUE's words, one line each: experiments that nobody knows, or that came later.
    pub(crate) fn read(attributes: &[&str], language: &Language) -> Result<Self, String> {
        let bodies = attributes.iter().filter_map(|it| it.strip_prefix("@experiment("));
        let names = bodies.flat_map(|it| it.trim_end_matches(')').split(','));
        let mut asked: Vec<&str> = names.map(str::trim).filter(|it| !it.is_empty()).collect();
        let mut read = Self::of(language);
        let mut wrong = Vec::new();
        for (name, experiment, since, _) in KNOWN {
            let wanted = asked.contains(name);
            asked.retain(|it| it != name);
            if wanted && language.is_before(*since) {
                let [major, minor, patch] = since;
                wrong.push(format!(
                    "cannot set experiment {name:?} before version v{major}.{minor}.{patch}"
                ));
            }
            if let Some(it) = experiment.filter(|_| wanted) {
                read.0 |= 1 << it as u8;
            }
        }
        wrong.extend(asked.iter().map(|it| format!("unknown experiment {it:?}")));
        match wrong.is_empty() {
            true => Ok(read),
            false => Err(format!(
                "parsing experiments for version {:?}: {}",
                language.text(),
                wrong.join("\n")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Experiment, Experiments, Language};

    #[test]
    fn versions_are_ordered_by_number_and_candidates_come_before() {
        let version = |it| Language::parse(it).expect("a version");
        assert!(version("v0.9.0").is_before([0, 14, 0]));
        assert!(version("v0.15.0-alpha.1").is_before([0, 15, 0]));
        assert!(!version("v0.15.0").is_before([0, 15, 0]));
        assert!(version("v0.17.2").is_unspoken() && !version("v0.17.1").is_unspoken());
        assert_eq!(Language::parse("0.17.0"), None);
    }

    #[test]
    fn experiments_have_their_versions() {
        let old = Language::parse("v0.14.0").expect("a version");
        let read = Experiments::read(&["@experiment(structcmp, testing)"], &old);
        assert!(read.is_ok_and(|it| it.has(Experiment::StructCmp)));
        assert!(Experiments::read(&[], &old).is_ok_and(|it| !it.has(Experiment::StructCmp)));
        let newest = Language::default();
        assert!(Experiments::read(&[], &newest).is_ok_and(|it| it.has(Experiment::StructCmp)));
        let wrong = Experiments::read(&["@experiment(b,try)", "@experiment(aliasv2)"], &old);
        let wanted = "parsing experiments for version \"v0.14.0\": cannot set experiment \"aliasv2\" \
                      before version v0.15.0\ncannot set experiment \"try\" before version \
                      v0.16.0\nunknown experiment \"b\"";
        assert_eq!(wrong, Err(wanted.to_owned()));
    }
}
