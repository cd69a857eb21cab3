//! Errors for people, with the lines they are about, and for programs.

use std::path::Path;
use std::sync::Arc;

pub use cue_report::Color;
use cue_report::{Report, Texts, reports};
use cue_session::Diagnostic;

use crate::error::{shown, told_path};
use crate::{Error, Request, read};

/// How errors are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As `cue` does: messages, and the places below them.
    Plain,
    /// With the lines they are about, and hints.
    Excerpts(Color),
    /// One document, `{"errors": […]}`.
    Json,
}

/// What errors say; `request` is what was asked, whose flags hold texts that errors may be in. Files that errors are in
/// are read once more.
pub fn explained(errors: &[Error], request: Option<&Request>, form: Form) -> String {
    let texts = Files { request };
    match form {
        Form::Plain => errors.iter().map(plain).collect::<Vec<_>>().join("\n"),
        Form::Json => {
            let all: Vec<Report> = errors.iter().flat_map(|it| told(it, &texts)).collect();
            cue_report::json(&all)
        }
        Form::Excerpts(color) => {
            let all = errors.iter().map(|it| {
                let header = match it {
                    Error::Headed { header, .. } => header.as_str(),
                    _ => "",
                };
                format!("{header}{}", cue_report::excerpts(&told(it, &texts), color))
            });
            all.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// All that an error says.
pub(crate) fn plain(error: &Error) -> String {
    match error {
        Error::File { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

fn told(error: &Error, texts: &Files<'_>) -> Vec<Report> {
    let code = match error {
        Error::Diagnostics(all) | Error::Headed { all, .. } => {
            let told = |it: &Diagnostic| Diagnostic { path: told_path(it).into(), ..it.clone() };
            return reports(&all.iter().map(told).collect::<Vec<_>>(), texts);
        }
        Error::Request(_) => "cue/request",
        Error::File { .. } => "cue/file",
        Error::Runtime(_) => "cue/runtime",
    };
    let message = plain(error);
    vec![Report { code: code.to_owned(), message, ..Report::default() }]
}

/// The texts on disk, and those of flags.
struct Files<'a> {
    request: Option<&'a Request>,
}

impl Texts for Files<'_> {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        let flag = match (file, self.request) {
            ("--expression", Some(request)) => match request.expressions.as_slice() {
                [one] => Some(one),
                _ => return None,
            },
            ("--schema", Some(request)) => request.schema.as_ref(),
            _ => None,
        };
        match flag {
            Some(text) => Some(text.as_str().into()),
            None => read::again(Path::new(file)),
        }
    }

    fn shown(&self, file: &str) -> String {
        shown(file)
    }
}
