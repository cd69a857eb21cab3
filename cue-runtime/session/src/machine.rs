//! Carries out calls: the one thing that runs both natively and inside the sandbox.

use crate::protocol::{Answer, Call, Diagnostic};

/// An interpreter with its compiled programs and at most one session.
#[derive(Default)]
pub struct Machine {}

impl Machine {
    /// Carry out one call.
    pub fn call(&mut self, call: &Call) -> Answer {
        let _ = call;
        Answer::Diagnostics(vec![Diagnostic {
            code: "cue/unavailable".into(),
            message: "the evaluator is not connected yet".into(),
            path: String::new(),
            positions: Vec::new(),
            incomplete: false,
        }])
    }
}
