//! The texts and packages that a program is compiled from, and what each of them is held to.

use std::sync::Arc;

use cue_syntax::{Experiment, Experiments, Language};

use crate::program::{At, ExprId, Program};

/// A source text with the means to find positions.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// Name.
    pub name: String,
    /// Lines.
    pub lines: cue_syntax::LineIndex,
    /// Text.
    pub text: Arc<str>,
    /// The version it is written in.
    pub(crate) language: Language,
    /// It is data, no file of the package.
    pub(crate) is_data: bool,
    /// What it asks for.
    pub(crate) experiments: Experiments,
}

/// A package that is imported.
#[derive(Clone)]
pub(crate) struct Package {
    /// As it is imported.
    pub(crate) path: Arc<str>,
    /// Its files.
    pub(crate) roots: Vec<ExprId>,
}

impl Package {
    /// Its path without its name.
    pub(crate) fn folder(&self) -> &str {
        self.path.split(':').next().unwrap_or_default()
    }
}

impl Program {
    /// A source as a tree, in the syntax of the profile.
    pub(crate) fn parsed(&self, text: &str, language: &Language) -> cue_syntax::Parsed {
        match self.lenient {
            true => cue_syntax::parse_older(text),
            false => cue_syntax::parse_as(text, language),
        }
    }

    /// Whether an expression is all of a file of a package.
    pub(crate) fn is_file(&self, at: At) -> bool {
        let source = self.sources.get(at.source as usize);
        at.span.end == 0 && source.is_none_or(|it| !it.is_data)
    }

    /// Whether a source looks at the right side of `&&` and `||` only where it matters.
    pub(crate) fn short_circuits(&self, source: u32) -> bool {
        let own = self.sources.get(source as usize);
        own.is_some_and(|it| it.experiments.has(Experiment::ShortCircuit))
    }

    /// Whether a source compares structs, and values of different kinds.
    pub(crate) fn compares_all(&self, source: u32) -> bool {
        let own = self.sources.get(source as usize);
        !self.lenient && own.is_none_or(|it| it.experiments.has(Experiment::StructCmp))
    }
}
