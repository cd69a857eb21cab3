//! What is wrong with a component, trait or policy, in the words KubeVela's users know.

use cue_session::Diagnostic;

/// What a template belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A component, or a custom policy, by name.
    Workload(String),
    /// A trait, by type.
    Trait(String),
}

impl Part {
    /// `workload` or `trait`.
    pub fn noun(&self) -> &'static str {
        match self {
            Part::Workload(_) => "workload",
            Part::Trait(_) => "trait",
        }
    }

    /// Its name or type.
    pub fn name(&self) -> &str {
        match self {
            Part::Workload(name) | Part::Trait(name) => name,
        }
    }
}

/// Why there are no objects.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no CUE, or refers to what is not there.
    #[error("failed to compile {} {} after merge parameter and context: {}", part.noun(), part.name(), first(diagnostics))]
    Compile {
        /// Whose template.
        part: Part,
        /// What CUE said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Parameters or template do not fit, or the template's `errs` speak.
    #[error("{}", validation(part, user, diagnostics))]
    Validation {
        /// Whose template.
        part: Part,
        /// The template's own messages.
        user: Vec<String>,
        /// What CUE said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Something it makes is not complete.
    #[error("{wrapper}:{}", sections(&[], diagnostics))]
    Incomplete {
        /// What it was about to make.
        wrapper: String,
        /// What CUE said.
        diagnostics: Vec<Diagnostic>,
    },
    /// What it made is no object.
    #[error("{0}")]
    NoObject(String),
    /// A patch does not fit what it patches.
    #[error("{wrapper}: {message}")]
    Patch {
        /// Which patch.
        wrapper: String,
        /// Why.
        message: String,
    },
    /// A `#do` failed.
    #[error("{0}")]
    Action(String),
    /// A definition, or a policy, is missing or refused.
    #[error("{0}")]
    Definition(String),
    /// Adds where it happened.
    #[error("{0}: {1}")]
    In(String, Box<Error>),
    /// The sandbox broke: not the user's doing.
    #[error(transparent)]
    Fault(#[from] cue_session::Fault),
}

impl Error {
    /// Add where it happened.
    pub fn within(self, place: impl Into<String>) -> Self {
        match self {
            Error::Fault(_) => self,
            _ => Error::In(place.into(), Box::new(self)),
        }
    }

    /// Whose template it is, if it is about one.
    pub fn part(&self) -> Option<&Part> {
        match self {
            Error::Compile { part, .. } | Error::Validation { part, .. } => Some(part),
            Error::In(_, inner) => inner.part(),
            _ => None,
        }
    }

    /// What CUE said, if it is about CUE.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Compile { diagnostics, .. }
            | Error::Validation { diagnostics, .. }
            | Error::Incomplete { diagnostics, .. } => diagnostics,
            Error::In(_, inner) => inner.diagnostics(),
            Error::NoObject(_)
            | Error::Patch { .. }
            | Error::Action(_)
            | Error::Definition(_)
            | Error::Fault(_) => &[],
        }
    }
}

fn line(diagnostic: &Diagnostic) -> String {
    if diagnostic.path.is_empty() {
        diagnostic.message.clone()
    } else {
        format!("{}: {}", diagnostic.path, diagnostic.message)
    }
}

/// The first, and how many more there are.
fn first(all: &[Diagnostic]) -> String {
    let Some(it) = all.first() else { return String::new() };
    if all.len() > 1 {
        format!("{} (and {} more errors)", line(it), all.len() - 1)
    } else {
        line(it)
    }
}

fn validation(part: &Part, user: &[String], diagnostics: &[Diagnostic]) -> String {
    format!(
        "validation failed for {} {}:{}",
        part.noun(),
        part.name(),
        sections(user, &told(part, diagnostics))
    )
}

/// What is told of a template whose parameters do not fit: that, and of a workload what else is wrong in its
/// template, but not where it meets them again nor what becomes of them in texts and calls. (With the evaluator of
/// its CUE 0.14; with the older one KubeVela repeats them.)
fn told(part: &Part, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let of_parameter = |it: &&Diagnostic| it.path.starts_with("parameter.") && !it.incomplete;
    let wrong: Vec<&Diagnostic> = diagnostics.iter().filter(of_parameter).collect();
    let mut all = Vec::with_capacity(diagnostics.len());
    for it in diagnostics {
        let used = it.message.starts_with("invalid interpolation: ")
            || it.message.starts_with("error in call to ");
        let follows = |other: &&Diagnostic| {
            it.message.len() > other.message.len() && it.message.ends_with(&other.message)
        };
        if used && wrong.iter().any(follows) {
            continue;
        }
        if wrong.is_empty() || it.path.starts_with("parameter.") {
            all.push(it.clone());
            continue;
        }
        if matches!(part, Part::Trait(_)) {
            continue;
        }
        let again = wrong
            .iter()
            .any(|other| other.message == it.message || turned(&other.message, &it.message));
        if !again {
            all.push(it.clone());
        }
    }
    all
}

/// Whether two messages tell of one conflict, from either side.
fn turned(left: &str, right: &str) -> bool {
    let (Some((values, one, other)), Some((turned, first, second))) =
        (conflict(left), conflict(right))
    else {
        return false;
    };
    let swapped = |(at, and): (usize, &str)| {
        turned == format!("{}{and}{}", &values[at + and.len()..], &values[..at])
    };
    (one, other) == (second, first) && values.match_indices(" and ").any(swapped)
}

const SCALARS: [&str; 6] = ["string", "int", "number", "float", "bool", "bytes"];

/// A type against a literal inside a disjunction: the literal is named first there.
fn literal_first(message: &str) -> Option<String> {
    let (values, one, other) = conflict(message)?;
    let (r#type, value) = values.split_once(" and ")?;
    SCALARS.contains(&r#type).then(|| {
        format!("conflicting values {value} and {type} (mismatched types {other} and {one})")
    })
}

/// The two values of a conflict, and their kinds.
fn conflict(message: &str) -> Option<(&str, &str, &str)> {
    let rest = message.strip_prefix("conflicting values ")?.strip_suffix(')')?;
    let (values, kinds) = rest.split_once(" (mismatched types ")?;
    let (one, other) = kinds.split_once(" and ")?;
    Some((values, one, other))
}

fn sections(user: &[String], diagnostics: &[Diagnostic]) -> String {
    let mut parameters = Vec::new();
    let mut templates = Vec::new();
    let choices: Vec<&str> = diagnostics
        .iter()
        .filter(|it| it.message.ends_with(" errors in empty disjunction:"))
        .map(|it| it.path.as_str())
        .collect();
    let shown = |it: &Diagnostic| {
        let chosen = choices.iter().any(|path| {
            it.path.strip_prefix(path).is_some_and(|it| it.is_empty() || it.starts_with('.'))
        });
        let message = literal_first(&it.message);
        match message.filter(|_| chosen) {
            Some(message) => line(&Diagnostic { message, ..it.clone() }),
            None => line(it),
        }
    };
    for text in diagnostics.iter().map(shown) {
        let group = if text.starts_with("parameter.") { &mut parameters } else { &mut templates };
        if !group.contains(&text) {
            group.push(text);
        }
    }
    parameters.sort();
    templates.sort();
    let mut out = String::new();
    for (title, group) in
        [("User Errors", user), ("Parameter errors", &parameters), ("Template errors", &templates)]
    {
        if !group.is_empty() {
            out.push_str(&format!("\n\n{title}:\n"));
            for text in group {
                out.push_str(&format!("  {text}\n"));
            }
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_do_not_fit_are_told_once() {
        let diagnostic = |path: &str, message: &str| Diagnostic {
            code: String::new(),
            message: message.into(),
            path: path.into(),
            positions: Vec::new(),
            incomplete: false,
            hints: Vec::new(),
        };
        let conflict = "conflicting values 3 and string (mismatched types int and string)";
        let diagnostics = vec![
            diagnostic("parameter.v", conflict),
            diagnostic("output.a", &format!("invalid interpolation: {conflict}")),
            diagnostic("output.b", conflict),
            diagnostic(
                "output.d",
                "conflicting values string and 3 (mismatched types string and int)",
            ),
            diagnostic("output.c", "another"),
        ];
        let text = |part| {
            let (user, diagnostics) = (Vec::new(), diagnostics.clone());
            Error::Validation { part, user, diagnostics }.to_string()
        };
        assert_eq!(
            text(Part::Trait("t".into())),
            format!(
                "validation failed for trait t:\n\nParameter errors:\n  parameter.v: {conflict}"
            )
        );
        assert_eq!(
            text(Part::Workload("w".into())),
            format!(
                "validation failed for workload w:\n\nParameter errors:\n  parameter.v: {conflict}\n\n\nTemplate errors:\n  output.c: another"
            )
        );
    }

    #[test]
    fn errors_are_grouped_sorted_and_not_repeated() {
        let diagnostic = |path: &str| Diagnostic {
            code: String::new(),
            message: if path.starts_with("output") { "worse".into() } else { "bad".into() },
            path: path.into(),
            positions: Vec::new(),
            incomplete: false,
            hints: Vec::new(),
        };
        let error = Error::Validation {
            part: Part::Workload("t".into()),
            user: vec!["no".into()],
            diagnostics: vec![
                diagnostic("output.x"),
                diagnostic("parameter.b"),
                diagnostic("parameter.a"),
                diagnostic("parameter.a"),
            ],
        };
        assert_eq!(
            error.to_string(),
            "validation failed for workload t:\n\nUser Errors:\n  no\n\n\nParameter errors:\n  parameter.a: bad\n  parameter.b: bad\n\n\nTemplate errors:\n  output.x: worse"
        );
    }
}
