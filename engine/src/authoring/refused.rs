//! Why a source is no definition, and where its author reads that.

use cue_session::{Diagnostic, Error as CueError, Position, nearest};
use cue_syntax::ast::Span;
use cue_syntax::{LineIndex, SyntaxError};
use serde_json::Value;

use crate::api::DefinitionKind;

/// The code of what is wrong with a definition as such, not with its CUE.
const CODE: &str = "definition";

/// Why a source is no definition.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No header.
    #[error("no metadata found, invalid")]
    NoHeader,
    /// No `template`.
    #[error("no template found, invalid")]
    NoTemplate,
    /// `template` is no struct.
    #[error("unexpected decl found in template: it must be a struct")]
    TemplateShape,
    /// Two headers.
    #[error("duplicated definition name found, {0} and {1}")]
    TwoNames(String, String),
    /// Not a kind of definition.
    #[error("invalid type {0}")]
    Type(String),
    /// The spec has a field its kind does not.
    #[error("invalid definition spec: json: unknown field {0:?}")]
    UnknownField(String),
    /// The spec has a field of the wrong shape.
    #[error("invalid definition spec: {0}")]
    Spec(String),
    /// A header's field has the wrong type.
    #[error("{path}: cannot use value {value} (type {kind}) as string")]
    NotText {
        /// Path of the field.
        path: String,
        /// What stands there.
        value: String,
        /// Its type.
        kind: &'static str,
    },
    /// Status texts are no CUE, or lack what they are for.
    #[error("failed to parse metadata {name:?}: {reason}")]
    Status {
        /// Definition.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The source is no CUE.
    #[error("{0}")]
    Syntax(String),
    /// The header does not evaluate.
    #[error(transparent)]
    Cue(#[from] CueError),
}

impl Error {
    /// A value of a header that has to be a text.
    pub(super) fn not_text(path: String, value: &Value) -> Self {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(it) if it.is_f64() => "float",
            Value::Number(_) => "int",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "struct",
        };
        Error::NotText { path, value: value.to_string(), kind }
    }

    /// What it may have been meant to be.
    fn hint(&self) -> Option<String> {
        let Error::Type(wanted) = self else { return None };
        let known = DefinitionKind::CURRENT.map(DefinitionKind::source_type);
        Some(match nearest(wanted, known.into_iter()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("there are {}", known.join(", ")),
        })
    }
}

/// A source that is no definition: why in KubeVela's words, and what is wrong at which places.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refused {
    /// Why.
    pub error: Error,
    /// Each error with its place in the file; none where the sandbox broke.
    pub wrong: Vec<Diagnostic>,
}

/// The same before the file is known: why, and what of the text that is about.
pub(super) struct Wrong {
    error: Error,
    about: About,
}

/// What an error is about.
enum About {
    /// One place.
    Place(Span),
    /// Texts that are no CUE.
    Syntax(Vec<SyntaxError>),
    /// What the error itself says.
    Itself,
}

impl Wrong {
    /// An error that is about one place.
    pub(super) fn at(error: Error, place: Span) -> Self {
        Self { error, about: About::Place(place) }
    }

    /// A text that is no CUE: `errors`, of which there is one at least.
    pub(super) fn syntax(errors: Vec<SyntaxError>) -> Self {
        Self { error: Error::Syntax(first_of(&errors)), about: About::Syntax(errors) }
    }

    /// As it is told of `text`, which `file` has.
    pub(super) fn told(self, file: &str, text: &str) -> Refused {
        let Wrong { error, about } = self;
        let wrong = match (about, &error) {
            (About::Syntax(errors), _) => syntax_in(file, text, &errors),
            (About::Place(place), _) => vec![Diagnostic {
                code: CODE.to_owned(),
                message: error.to_string(),
                positions: vec![position(file, &LineIndex::new(text), place)],
                hints: error.hint().into_iter().collect(),
                ..Diagnostic::default()
            }],
            (About::Itself, Error::Cue(cue)) => cue.diagnostics().to_vec(),
            (About::Itself, _) => Vec::new(),
        };
        Refused { error, wrong }
    }
}

impl From<CueError> for Wrong {
    fn from(error: CueError) -> Self {
        Self { error: error.into(), about: About::Itself }
    }
}

/// What keeps `text`, which `file` has, from being CUE.
pub(super) fn syntax_in(file: &str, text: &str, errors: &[SyntaxError]) -> Vec<Diagnostic> {
    let lines = LineIndex::new(text);
    let told = errors.iter().map(|it| Diagnostic {
        code: "cue/load".to_owned(),
        message: it.message.clone(),
        positions: vec![position(file, &lines, it.span)],
        ..Diagnostic::default()
    });
    told.collect()
}

fn position(file: &str, lines: &LineIndex, place: Span) -> Position {
    let (line, column) = lines.at(place.start);
    Position { file: file.to_owned(), line, column }
}

/// The first of several errors, and how many there are besides.
pub(super) fn first_of(errors: &[SyntaxError]) -> String {
    let first = errors.first().map_or("", |it| &it.message);
    match errors.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} (and {} more errors)", count - 1),
    }
}
