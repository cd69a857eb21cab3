//! What `cue` does with files: eval, export, vet, def, fmt and import, without a command line.
//!
//! ~~~text
//! arguments -load-> packages, values -plan-> units -+-> Session -print-> JSON, YAML, TOML, CUE, text
//!             tags, @if          -l, --list   -e, -d -+
//! ~~~
//! Invariants
//! 1. Nothing is printed of a value that is not valid.
//! 2. Every failure names its file and, where there is one, its position.
#![forbid(unsafe_code)]

pub mod filetype; // qualifiers and endings: what an argument is
pub mod read; // bytes of files
mod condition; // `@if`, `@ignore`
mod folder; // the files of a package
mod module; // the module around them
pub mod load; // arguments -> packages and values
pub mod tags; // `-t key=value` -> fields
mod system; // `-T`: time, machine, user
mod form; // CUE that is to be data
pub mod data; // JSON, YAML, TOML, text: both ways
mod located; // where data stands in its file
mod scope; // what expressions of the command line see
pub mod place; // `-l`, `--list`: where data goes
mod plan; // what is evaluated together
mod part; // `def -e`
pub mod evaluate; // eval, export, vet, def
pub mod format; // fmt
mod written; // data as CUE text
mod hoist; // `import -R`
pub mod import; // import

pub use crate::data::Encoding;
pub use crate::evaluate::{Request, Verb, evaluate};
pub use crate::load::Load;

use cue_session::Diagnostic;

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
const LONGEST: usize = 64 << 10;

/// Each message, then an indented line for each of its positions.
fn print(all: &[Diagnostic]) -> String {
    let mut text = String::new();
    for (printed, wrong) in all.iter().enumerate() {
        if text.len() > LONGEST {
            text.push_str(&format!("and {} more errors\n", all.len() - printed));
            break;
        }
        if !wrong.path.is_empty() {
            text.push_str(&format!("{}: ", clipped(&wrong.path)));
        }
        text.push_str(clipped(&wrong.message));
        text.push_str(if wrong.positions.is_empty() { "\n" } else { ":\n" });
        for at in &wrong.positions {
            let file = if at.file.starts_with(['/', '.', '-']) { "" } else { "./" };
            text.push_str(&format!("    {file}{}:{}:{}\n", at.file, at.line, at.column));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The beginning of a text, at most what one message may take.
fn clipped(text: &str) -> &str {
    let mut end = text.len().min(LONGEST / 4);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
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
    }
}
