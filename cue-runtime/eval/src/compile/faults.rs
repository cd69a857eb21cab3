//! What is wrong with a program before anything is evaluated: where in it, what hides what, and the
//! checks that need more than one place at a time (cue-errors 1.14, 3.2).

use std::sync::Arc;

use cue_syntax::ast::{Binary, Expr, Ident, Span};
use cue_syntax::{format_expr, is_identifier, is_keyword};

use super::{Compiler, LoadError};
use crate::builtin::Datum;
use crate::program::{Code, ExprId};

/// When an error is found; earlier ones hide later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Parse,
    Compile,
}

/// A part of the path to what is compiled.
#[derive(Clone)]
pub(crate) enum Step {
    /// A label as it is written without quotes; whether it was in quotes.
    Label(Arc<str>, bool),
    /// Of clauses, patterns and computed labels.
    Text(&'static str),
}

/// What the value of a `let`, or all that is outside of any, does with lets, in order.
enum Use {
    /// A reference to one: where from, under which path.
    Reference { to: u32, source: u32, span: Span, path: String },
    /// One stands in it.
    Clause(u32),
}

/// The lets of a program, numbered as they come; 0 is what is outside of all.
#[derive(Default)]
pub(crate) struct Lets {
    uses: Vec<Vec<Use>>,
    inside: u32,
}

impl Lets {
    pub(crate) fn declare(&mut self) -> u32 {
        if self.uses.is_empty() {
            self.uses.push(Vec::new());
        }
        self.uses.push(Vec::new());
        self.uses.len() as u32 - 1
    }

    /// Begins the value of a let; gives what it is inside of, to be put back.
    pub(crate) fn begin(&mut self, it: u32) -> u32 {
        let outside = std::mem::replace(&mut self.inside, it);
        self.uses[outside as usize].push(Use::Clause(it));
        outside
    }

    pub(crate) fn end(&mut self, outside: u32) {
        self.inside = outside;
    }
}

impl Compiler<'_> {
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        let path = self.path_text();
        self.fault(Stage::Compile, self.source, span, path, message.into());
    }

    pub(super) fn fault(
        &mut self,
        stage: Stage,
        source: u32,
        span: Span,
        path: String,
        message: String,
    ) {
        let source = &self.program.sources[source as usize];
        let (line, column) = source.lines.at(span.start);
        let position = (source.name.clone(), line, column);
        self.errors.push((stage, LoadError { message, path, position }));
    }

    fn path_text(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            if !path.is_empty() {
                path.push('.');
            }
            match step {
                Step::Text(text) => path.push_str(text),
                Step::Label(name, quoted)
                    if is_identifier(name)
                        || is_keyword(name)
                        || !quoted && name.starts_with(['_', '#']) =>
                {
                    path.push_str(name);
                }
                Step::Label(name, _) => {
                    path.push_str(&Datum::text(name.clone()).cue_text());
                }
            }
        }
        path
    }

    /// Runs with one more part of the path.
    pub(super) fn below<T>(&mut self, step: Step, run: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = run(self);
        self.path.pop();
        result
    }

    /// `_` names nothing.
    pub(super) fn no_blank(&mut self, name: &Ident, span: Span) {
        if &*name.name == "_" {
            self.error(span, "cannot use _ as alias or let clause");
        }
    }

    /// Operands that never become concrete; a bound as it was written.
    pub(super) fn concrete_operand(
        &mut self,
        operation: Binary,
        operand: &Expr,
        bound: Option<String>,
        code: ExprId,
    ) {
        let never = matches!(self.program.code(code), Code::Type(..) | Code::Top | Code::Bound(..));
        if never {
            let symbol = operation.symbol();
            let text = bound.unwrap_or_else(|| format_expr(operand));
            let message = format!("invalid operand {text} ('{symbol}' requires concrete value)");
            self.error(operand.span, message);
        }
    }

    /// Notes a reference to a let.
    pub(super) fn refers_to_let(&mut self, to: u32, span: Span) {
        let (source, path) = (self.source, self.path_text());
        let inside = self.lets.inside as usize;
        self.lets.uses[inside].push(Use::Reference { to, source, span, path });
    }

    /// Lets that need themselves. A let is gone into where it stands, and from the first reference
    /// to it; what leads back into one of the latter is the error.
    pub(super) fn cyclic_lets(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Within,
            Done,
        }
        let lets = std::mem::take(&mut self.lets);
        let mut referred = vec![Seen::No; lets.uses.len()];
        let mut stood = vec![false; lets.uses.len()];
        // What is gone into: which, how far, and whether by reference.
        let mut open: Vec<(u32, usize, bool)> = vec![(0, 0, false)];
        while let Some((at, next, by_reference)) = open.pop() {
            let Some(one) = lets.uses.get(at as usize).and_then(|it| it.get(next)) else {
                if by_reference {
                    referred[at as usize] = Seen::Done;
                }
                continue;
            };
            open.push((at, next + 1, by_reference));
            match one {
                Use::Clause(it) if !stood[*it as usize] => {
                    stood[*it as usize] = true;
                    open.push((*it, 0, false));
                }
                Use::Clause(_) => {}
                Use::Reference { to, source, span, path } => match referred[*to as usize] {
                    Seen::No => {
                        referred[*to as usize] = Seen::Within;
                        open.push((*to, 0, true));
                    }
                    Seen::Within => {
                        let message = "cyclic references in let clause or alias".to_owned();
                        self.fault(Stage::Compile, *source, *span, path.clone(), message);
                    }
                    Seen::Done => {}
                },
            }
        }
    }
}

/// The errors as they are told: those of the first stage that has any, by place, each once.
pub(crate) fn told(errors: Vec<(Stage, LoadError)>) -> Vec<LoadError> {
    let Some(first) = errors.iter().map(|it| it.0).min() else {
        return Vec::new();
    };
    let own = errors.into_iter().filter(|it| it.0 == first);
    let mut told: Vec<LoadError> = own.map(|it| it.1).collect();
    cue_sort::by(&mut told, |one, other| one.position.cmp(&other.position));
    told.dedup();
    told
}
