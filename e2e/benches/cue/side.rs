//! What a side is asked, and what came of it.

/// Texts and what is wanted of them.
pub(crate) struct Asked {
    pub(crate) files: Vec<(String, String)>,
    pub(crate) question: Question,
}

/// What is wanted.
pub(crate) enum Question {
    /// The JSON of the value at a path, the whole if that is empty.
    Value(String),
    /// All that is wrong with the whole.
    Errors,
    /// Each file formatted.
    Format,
}

/// What came of it.
pub(crate) enum Ran {
    /// Best time in milliseconds, peak of memory in bytes, and the value; empty for an error.
    Done { ms: f64, peak: u64, value: String },
    /// A limit ended it.
    Over(String),
    /// A smaller one was over already.
    Skipped,
}

impl Ran {
    pub(crate) fn time(&self) -> String {
        match self {
            Ran::Done { ms, value, .. } => {
                let digits = if *ms < 10.0 { 2 } else { 0 };
                let error = if value.is_empty() { " (error)" } else { "" };
                format!("{ms:.digits$}{error}")
            }
            Ran::Over(why) => why.clone(),
            Ran::Skipped => "–".to_owned(),
        }
    }

    pub(crate) fn memory(&self) -> String {
        match self {
            Ran::Done { peak, .. } => (peak >> 20).to_string(),
            Ran::Over(_) | Ran::Skipped => String::new(),
        }
    }

    pub(crate) fn seconds(&self) -> Option<f64> {
        match self {
            Ran::Done { ms, .. } => Some(ms / 1e3),
            Ran::Over(_) | Ran::Skipped => None,
        }
    }

    /// How many times as fast as another; only where both give a value or both an error.
    pub(crate) fn faster_than(&self, other: &Ran) -> Option<f64> {
        match (self, other) {
            (Ran::Done { ms, value, .. }, Ran::Done { ms: theirs, value: its, .. })
                if value.is_empty() == its.is_empty() =>
            {
                Some(theirs / ms)
            }
            _ => None,
        }
    }
}

/// One of both.
pub(crate) trait Side {
    fn ask(&mut self, asked: &Asked) -> anyhow::Result<Ran>;
}

/// Longest time of one evaluation.
pub(crate) const LONGEST: std::time::Duration = std::time::Duration::from_secs(10);

/// An input is asked again until it took this long, at most [`ROUNDS`] times.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_millis(600);

/// How often at most.
pub(crate) const ROUNDS: usize = 5;
