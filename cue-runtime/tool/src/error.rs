//! Why a command failed, and how that is told.

use cue_eval::error::LITERAL;
use cue_session::Diagnostic;
use cue_syntax::{LineIndex, SyntaxError};

use crate::{explained, folder, tasks};

/// Why a command failed; its text is what goes to stderr.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The files are wrong: what `cue` prints.
    #[error("{}", print(.0))]
    Diagnostics(Vec<Diagnostic>),
    /// The same, below a line that says of what.
    #[error("{header}{}", print(.all))]
    Headed {
        /// That line.
        header: String,
        /// What is wrong.
        all: Vec<Diagnostic>,
    },
    /// The request is.
    #[error("{0}")]
    Request(String),
    /// A file cannot be read or written.
    #[error("{file}")]
    File {
        /// Its name as given.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The runtime failed.
    #[error("{0}")]
    Runtime(String),
}

impl From<cue_session::Error> for Error {
    fn from(error: cue_session::Error) -> Self {
        match error {
            cue_session::Error::Diagnostics(all) => Error::Diagnostics(all),
            other => Error::Runtime(other.to_string()),
        }
    }
}

/// Longest error text: hostile input may produce any number of errors of any length.
const LONGEST: usize = 1_000_000;

/// Each message, then an indented line for each of its positions.
fn print(all: &[Diagnostic]) -> String {
    let mut text = String::new();
    for (printed, wrong) in all.iter().enumerate() {
        let before = text.len();
        let path = told_path(wrong);
        if !path.is_empty() {
            text.push_str(&format!("{}: ", clipped(path)));
        }
        text.push_str(clipped(&wrong.message));
        text.push_str(if wrong.positions.is_empty() { "\n" } else { ":\n" });
        for at in &wrong.positions {
            let (line, column) = (at.line, at.column);
            text.push_str(&match shown(&at.file).as_str() {
                "" => format!("    {line}:{column}\n"),
                file => format!("    {file}:{line}:{column}\n"),
            });
        }
        // One is told in any case.
        if before > 0 && text.len() > LONGEST {
            text.truncate(before);
            text.push_str(&format!("and {} more errors\n", all.len() - printed));
            break;
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The name of a file as it is told.
pub(crate) fn shown(file: &str) -> String {
    let name = file.trim_start_matches('\0');
    let is_text =
        file.starts_with('\0') || tasks::is_package(name) || cue_eval::spots::is_read(name);
    if is_text || name.is_empty() { name.to_owned() } else { folder::dotted(name) }
}

/// The beginning of a text, at most what one message may take.
fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST / 4)]
}

/// The path that an error is told with: what is written as an error is told without what it stands for.
pub(crate) fn told_path(wrong: &Diagnostic) -> &str {
    if wrong.message.ends_with(LITERAL) { "" } else { &wrong.path }
}

/// A diagnostic without a path.
pub(crate) fn diagnostic(message: impl Into<String>, at: Option<(&str, u32, u32)>) -> Diagnostic {
    let position = |(file, line, column): (&str, u32, u32)| cue_session::Position {
        file: file.to_owned(),
        line,
        column,
    };
    Diagnostic {
        code: "cue/load".into(),
        message: message.into(),
        path: String::new(),
        positions: at.map(position).into_iter().collect(),
        incomplete: false,
        hints: Vec::new(),
    }
}

/// What keeps a text from being parsed.
pub(crate) fn unparsed(name: &str, text: &str, errors: &[SyntaxError]) -> Vec<Diagnostic> {
    let lines = LineIndex::new(text);
    let told = errors.iter().map(|it| {
        let (line, column) = lines.at(it.span.start);
        diagnostic(it.message.as_str(), Some((name, line, column)))
    });
    told.collect()
}

/// As they are told together: those without a place first, then by their places; each once.
pub(crate) fn in_order(mut all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place =
        |it: &Diagnostic| it.positions.first().map(|at| (at.file.clone(), at.line, at.column));
    all.sort_by_cached_key(|it| (place(it), it.message.clone()));
    all.dedup();
    all
}

impl Error {
    /// The same as values; what has no code of its own as it is told.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Error::Diagnostics(all) | Error::Headed { all, .. } => all,
            other => vec![diagnostic(explained::plain(&other), None)],
        }
    }
}

/// For callers that have no positions.
impl From<Diagnostic> for Error {
    fn from(wrong: Diagnostic) -> Self {
        Error::Diagnostics(vec![wrong])
    }
}
