//! `format`: the forms of text and of numbers that CUE has a counterpart for.

use super::Decoder;
use super::data::Id;
use super::kinds::Core;
use super::state::State;
use super::version::{Version, Versions};

/// What a format is in CUE.
#[derive(Clone, Copy)]
enum Meaning {
    /// Nothing.
    None,
    /// A validator of a package.
    Validator(&'static str, &'static str),
    /// `2006-01-02`
    Date,
    /// A type of numbers.
    Number(&'static str),
}

/// A format and where it is known.
fn known(name: &str) -> Option<(Versions, Meaning)> {
    let (open_api, kubernetes) = (Versions::OPEN_API, Versions::KUBERNETES);
    let (drafts, both) = (Versions::DRAFTS, Versions::LIKE_OPEN_API);
    let (draft6, draft7) = (Versions::from(Version::Draft6), Versions::from(Version::Draft7));
    let draft2019 = Versions::from(Version::Draft2019);
    let time = Meaning::Validator("time", "Time");
    let (absolute, relative) =
        (Meaning::Validator("net", "AbsURL"), Meaning::Validator("net", "URL"));
    Some(match name {
        "binary" | "data" => (open_api, Meaning::None),
        "bsonobjectid" | "cidr" | "creditcard" | "hexcolor" | "isbn" | "isbn10" | "isbn13"
        | "mac" | "rgbcolor" | "ssn" | "uuid3" | "uuid4" | "uuid5" => (kubernetes, Meaning::None),
        "byte" | "double" | "float" | "password" => (both, Meaning::None),
        "date" => (draft7.or(both), Meaning::Date),
        "date-time" => (drafts.or(both), time),
        "datetime" => (kubernetes, time),
        "duration" | "uuid" => (draft2019.or(kubernetes), Meaning::None),
        "email" | "hostname" | "ipv4" | "ipv6" => (drafts.or(both), Meaning::None),
        "idn-email" | "idn-hostname" | "relative-json-pointer" | "time" => (draft7, Meaning::None),
        "int32" => (both, Meaning::Number("int32")),
        "int64" => (both, Meaning::Number("int64")),
        "uint32" => (kubernetes, Meaning::Number("uint32")),
        "uint64" => (kubernetes, Meaning::Number("uint64")),
        "iri" => (draft7, absolute),
        "iri-reference" => (draft7, relative),
        "json-pointer" | "uri-template" => (draft6, Meaning::None),
        "regex" => (draft7, Meaning::Validator("regexp", "Valid")),
        "uri" => (drafts.or(both), absolute),
        "uri-reference" => (draft6, relative),
        _ => return None,
    })
}

impl Decoder<'_> {
    /// `format`
    pub(super) fn format(&mut self, of: Id, state: &mut State) {
        let Some(name) = self.text(of) else { return };
        let version = state.info.version;
        // OpenAPI lets a format be anything.
        let told = self.config.strict_keywords && !version.is(Versions::LIKE_OPEN_API);
        match known(&name) {
            Some((versions, meaning)) if version.is(versions) => self.meaning(meaning, of, state),
            None if told => self.problem(of, format!("unknown format {name:?}")),
            Some(_) if told => {
                let text = "is not recognized in schema version";
                self.problem(of, format!("format {name:?} {text} {}", version.text()));
            }
            _ => {}
        }
    }

    fn meaning(&mut self, meaning: Meaning, of: Id, state: &mut State) {
        let (core, expr) = match meaning {
            Meaning::None => return,
            Meaning::Validator(package, name) => {
                (Core::String, self.made.of_package(package, name))
            }
            Meaning::Date => {
                let layout = self.made.text("2006-01-02");
                (Core::String, self.made.call_in("time", "Format", &[layout]))
            }
            Meaning::Number(name) => (Core::Number, self.made.name(name)),
        };
        self.add(state, of, core, expr);
    }
}
