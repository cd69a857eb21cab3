//! What a command's end means to a script.

/// Exit codes; `lateen cue` uses cue's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, as asked.
    Done,
    /// Not so: it differs, failed, is unhealthy.
    NotSo,
    /// The input is wrong.
    BadInput,
    /// Could not ask: unreachable, forbidden.
    NoAnswer,
    /// Interrupted.
    Interrupted,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::NotSo => 1,
            Exit::BadInput => 2,
            Exit::NoAnswer => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// An error that knows its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The code.
    pub exit: Exit,
    /// What to tell.
    pub text: String,
    /// How the text begins.
    pub begins: Begins,
}

/// How the text of an error begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// With what it is about: `error:` comes before it.
    Plainly,
    /// With what it is, as excerpts do.
    Labelled,
}

impl Refusal {
    /// An error with this code and text.
    pub fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self { exit, text: text.into(), begins: Begins::Plainly }
    }
}

/// The input is wrong, and how.
pub fn bad_input(text: impl Into<String>) -> anyhow::Error {
    Refusal::new(Exit::BadInput, text).into()
}

/// The same, shown by excerpts.
pub fn bad_input_shown(excerpts: String) -> anyhow::Error {
    let begins = Begins::Labelled;
    Refusal { exit: Exit::BadInput, text: excerpts, begins }.into()
}

/// The exit code for an error.
pub fn of(error: &anyhow::Error) -> Exit {
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return refusal.exit;
    }
    if let Some(error) = error.downcast_ref::<lateen_controller::rest::Error>() {
        return match error.code() {
            0 | 401 | 403 | 429 | 500.. => Exit::NoAnswer,
            400..=499 => Exit::BadInput,
            _ => Exit::NotSo,
        };
    }
    Exit::NotSo
}
