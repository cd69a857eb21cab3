//! Versions of a value: each fill makes a new one, the old one stays as it is.

use std::sync::Arc;

use crate::attach::{Fill, attach};
use crate::budget::Budget;
use crate::compile::{self, LoadError, Profile, Source};
use crate::evaluation::{Addition, Evaluation};
use crate::program::Program;
use crate::value::path::Selector;

/// What is filled in.
#[derive(Clone, Copy, Debug)]
pub enum Filling<'a> {
    /// A text of its own: JSON or CUE that names nothing outside.
    Alone {
        /// Name for positions.
        name: &'a str,
        /// The text.
        text: &'a str,
    },
    /// CUE in which the fields of the place it is filled into, and of those around it, have names.
    Within {
        /// Name for positions.
        name: &'a str,
        /// The text.
        text: &'a str,
    },
}

/// A program with what was filled into it; cheap to clone.
#[derive(Clone)]
pub struct Version {
    program: Arc<Program>,
    additions: Vec<(String, Addition)>,
    budget: Budget,
}

impl Version {
    /// A value out of one text; the budget is that of each evaluation.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(name: &str, text: &str, budget: Budget) -> Result<Self, Vec<LoadError>> {
        let source = Source::new(name, text);
        let program = compile::compile(&[source], &[], Profile::V017)?;
        Ok(Self { program: Arc::new(program), additions: Vec::new(), budget })
    }

    /// A compiled program.
    pub fn of(program: Arc<Program>, budget: Budget) -> Self {
        Self { program, additions: Vec::new(), budget }
    }

    /// With `filling` unified at `path`.
    ///
    /// # Errors
    /// What is wrong with its text.
    pub fn fill(&self, path: &[Selector], filling: Filling<'_>) -> Result<Self, Vec<LoadError>> {
        let mut program = (*self.program).clone();
        let fill = match filling {
            Filling::Alone { name, text } => Fill { name, text, path, scopes: None },
            Filling::Within { name, text } => {
                let scopes = self.names_along(path);
                let expr = attach(&mut program, Fill { name, text, path, scopes: Some(scopes) })?;
                return Ok(self.with(program, expr));
            }
        };
        let expr = attach(&mut program, fill)?;
        Ok(self.with(program, expr))
    }

    fn with(&self, program: Program, expr: crate::program::ExprId) -> Self {
        let mut additions = self.additions.clone();
        additions.push((String::new(), Addition::File(expr)));
        Self { program: Arc::new(program), additions, budget: self.budget }
    }

    /// Names of the fields at the root and at every place a path passes.
    fn names_along(&self, path: &[Selector]) -> Vec<Vec<Arc<str>>> {
        let mut it = self.evaluate();
        let mut all = Vec::new();
        for steps in 0..path.len().max(1) {
            let names = match it.lookup(&path[..steps]) {
                Ok(id) => it.identifiers(id),
                Err(_) => Vec::new(),
            };
            all.push(names);
        }
        all
    }

    /// Begins an evaluation of it.
    pub fn evaluate(&self) -> Evaluation {
        Evaluation::start(self.program.clone(), &self.additions, self.budget)
    }
}
