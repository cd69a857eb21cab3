//! Whether the template of a definition holds by itself, told where its author wrote it.

use cue_session::{
    Concreteness, Diagnostic, Error as CueError, Fault, Program, ProgramSpec, Source, suggest,
};

use crate::render::{Templates, missing_package};

/// What every template sees, and only the cluster knows.
const CONTEXT: &str = "context: _\n";

/// What is wrong with a template, and the texts that it is told of.
#[derive(Debug)]
pub struct Checked {
    /// What is wrong whatever the parameters will be; with hints.
    pub wrong: Vec<Diagnostic>,
    /// The file as it was given, and the packages it imports.
    pub spec: ProgramSpec,
}

/// Checks the template in `source`, the text of `file`, a definition as its author writes it. What only parameters or
/// the cluster can tell is not looked for.
///
/// # Errors
/// The sandbox broke.
pub fn check(file: &str, source: &str, templates: Templates<'_>) -> Result<Checked, Fault> {
    let made = templates.library.template(&[(file, source), ("context.cue", CONTEXT)]).program;
    // A name for `parameter` that the library adds is for templates alone.
    let mut spec: ProgramSpec = (*made.spec).clone();
    spec.sources = vec![Source::new(file, source), Source::new("context.cue", CONTEXT)];
    let program = Program::new(spec.clone());
    let (session, wrong) = match templates.runtime.start(&program, Vec::new(), templates.budget) {
        Ok(mut session) => {
            let wrong = session.validate("template", Concreteness::Optional);
            (Some(session), wrong)
        }
        Err(error) => (None, Err(error)),
    };
    let mut wrong = match wrong {
        Ok(all) | Err(CueError::Diagnostics(all)) => all,
        Err(CueError::Fault(fault)) => return Err(fault),
    };
    // Packages that are not shipped may be the cluster's.
    wrong.retain(|it| !it.incomplete && missing_package(&it.message).is_none());
    suggest(&spec, || session, &mut wrong);
    Ok(Checked { wrong, spec })
}
