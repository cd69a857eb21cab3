//! Whether the template of a definition holds by itself, told where its author wrote it.

use std::sync::Arc;

use cue_session::{Concreteness, Diagnostic, Error, Fault, ProgramSpec, Session, suggest};

use crate::render::{CONTEXT, Templates, missing_package};

/// What is wrong with a template, and the texts that it is told of.
#[derive(Debug)]
pub struct Checked {
    /// What is wrong whatever the parameters will be; with hints.
    pub wrong: Vec<Diagnostic>,
    /// The file as it was given, and the packages it imports.
    pub spec: Arc<ProgramSpec>,
}

/// Checks the template in `source`, the text of `file`, a definition as its author writes it. What only parameters or
/// the cluster can tell is not looked for.
///
/// # Errors
/// The sandbox broke.
pub fn check(file: &str, source: &str, templates: Templates<'_>) -> Result<Checked, Fault> {
    let program = templates.library.template(&[(file, source), CONTEXT]).program;
    let (mut wrong, mut session) = templates.wrong(&program, "template")?;
    // Packages that are not shipped may be the cluster's.
    wrong.retain(|it| !it.incomplete && missing_package(&it.message).is_none());
    if let Some(session) = &mut session {
        wrong.extend(undeclared(session)?);
    }
    suggest(&program.spec, || session, &mut wrong);
    let meant = |it: &Diagnostic| it.hints.iter().any(|it| it.starts_with("did you mean"));
    wrong.retain(|it| !it.incomplete || meant(it));
    Ok(Checked { wrong, spec: program.spec })
}

/// The references to fields that nothing declares. A parameter that is not declared may be given all the same; what is
/// called nearly like one that is declared is a slip.
fn undeclared(session: &mut Session) -> Result<Vec<Diagnostic>, Fault> {
    let mut waiting = match session.validate("template", Concreteness::Required) {
        Ok(all) | Err(Error::Diagnostics(all)) => all,
        Err(Error::Fault(fault)) => return Err(fault),
    };
    waiting.retain(|it| it.incomplete && it.message.starts_with("undefined field: "));
    Ok(waiting)
}
