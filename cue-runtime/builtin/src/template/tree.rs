//! Go templates as trees: text, actions and blocks; and as messages show them.

use std::fmt::{self, Display, Formatter};

use crate::go_value::Value;
use crate::quoting::{Plain, go_quote};

/// A part of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipeline),
    If(Pipeline, Vec<Node>, Vec<Node>),
    With(Pipeline, Vec<Node>, Vec<Node>),
    Range(Pipeline, Vec<Node>, Vec<Node>),
    Template(Template),
    Break,
    Continue,
}

/// `{{template "name" .}}`
#[derive(Debug)]
pub(super) struct Template {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) data: Option<Pipeline>,
}

/// `$x := a | b c`
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) at: usize,
    pub(super) variables: Vec<String>,
    pub(super) assigns: bool,
    pub(super) commands: Vec<Command>,
}

/// Words; there is one at least.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) at: usize,
    pub(super) words: Vec<Term>,
}

/// A word of a command with the fields that follow it.
#[derive(Debug)]
pub(super) struct Term {
    /// Where messages say that it is: its second field, or the first one behind something else.
    pub(super) at: usize,
    pub(super) base: Base,
    pub(super) fields: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Base {
    Dot,
    Nil,
    Variable(String),
    /// With its text.
    Literal(Value, String),
    /// Without fields.
    Function(String),
    /// Without fields.
    Pipeline(Pipeline),
    /// A pipeline or a function that has fields.
    Chain(Box<Term>),
}

/// Templates by name; that of the whole is empty.
pub(super) type Templates = Vec<(String, Vec<Node>)>;

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", go_quote(&self.name, '"', Plain::Print))?;
        if let Some(data) = &self.data {
            write!(f, " {data}")?;
        }
        f.write_str("}}")
    }
}

impl Display for Pipeline {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            f.write_str(&self.variables.join(", "))?;
            f.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (at, command) in self.commands.iter().enumerate() {
            f.write_str(if at > 0 { " | " } else { "" })?;
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            match &word.base {
                Base::Pipeline(inner) => write!(f, "({inner})")?,
                _ => word.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Dot if self.fields.is_empty() => f.write_str("."),
            Base::Dot => Ok(()),
            Base::Nil => f.write_str("nil"),
            Base::Variable(text) | Base::Literal(_, text) | Base::Function(text) => {
                f.write_str(text)
            }
            Base::Pipeline(inner) => inner.fmt(f),
            Base::Chain(inner) => match &inner.base {
                Base::Pipeline(inner) => write!(f, "({inner})"),
                _ => inner.fmt(f),
            },
        }?;
        self.fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}
