//! Go templates, as charts use them.
//!
//! ~~~text
//! text ─ scan (text and actions) ─ parse (nodes) ─ run (with functions) ─▶ text
//! ~~~

mod parse; // nodes of a text
mod run; // nodes carried out
mod scan; // what is text, what is an action
mod words; // pipelines inside an action

use std::collections::HashMap;
use std::rc::Rc;

pub use self::parse::parse;
pub use self::run::{Run, Setting};

use crate::value::Value;

/// A part of a template.
#[derive(Clone, Debug)]
pub enum Node {
    /// As it is.
    Text(String),
    /// A value that is printed, or given a name.
    Action(Pipe),
    /// Branches, each with its condition, and what is left.
    If(Vec<(Pipe, Vec<Node>)>, Vec<Node>),
    /// The same, where the dot is what the condition is about.
    With(Vec<(Pipe, Vec<Node>)>, Vec<Node>),
    /// Once for every item, or else.
    Range(Pipe, Vec<Node>, Vec<Node>),
    /// Another template.
    Template(String, Option<Pipe>),
    /// Ends a range.
    Break,
    /// Ends one turn of a range.
    Continue,
}

/// Commands one after the other, each with the result of the one before as its last argument.
#[derive(Clone, Debug, Default)]
pub struct Pipe {
    /// Variables that get the result.
    pub names: Vec<String>,
    /// They are known already.
    pub assigns: bool,
    /// Operands of each command.
    pub commands: Vec<Vec<Operand>>,
    /// Where it stands.
    pub line: usize,
}

/// One word of a command.
#[derive(Clone, Debug)]
pub struct Operand {
    /// What it starts with.
    pub base: Base,
    /// Fields of it.
    pub fields: Vec<String>,
}

/// What an operand starts with.
#[derive(Clone, Debug)]
pub enum Base {
    /// `.`
    Dot,
    /// `nil`
    Nil,
    /// `"text"`, `5`, `true`
    Literal(Literal),
    /// `$x`
    Variable(String),
    /// `printf`
    Function(String),
    /// `( … )`
    Pipe(Pipe),
}

/// A literal.
#[derive(Clone, Debug)]
pub enum Literal {
    /// Truth.
    Bool(bool),
    /// Whole.
    Int(i64),
    /// Any number.
    Float(f64),
    /// Text.
    Text(String),
}

impl Literal {
    fn value(&self) -> Value {
        match self {
            Self::Bool(it) => Value::Bool(*it),
            Self::Int(it) => Value::Int(*it),
            Self::Float(it) => Value::Float(*it),
            Self::Text(it) => Value::text(it),
        }
    }
}

/// Templates by name.
#[derive(Clone, Debug, Default)]
pub struct Templates(HashMap<String, Rc<Vec<Node>>>);

impl Templates {
    /// Adds a text under `name`, and all that it defines; later ones win.
    ///
    /// # Errors
    /// Where the text is no template.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), String> {
        let parsed = parse(name, text)?;
        for (defined, nodes) in parsed.defined {
            // An empty definition does not replace one that says something.
            let blank = nodes.iter().all(|it| matches!(it, Node::Text(it) if it.trim().is_empty()));
            if !blank || !self.0.contains_key(&defined) {
                self.0.insert(defined, Rc::new(nodes));
            }
        }
        self.0.insert(name.to_owned(), Rc::new(parsed.nodes));
        Ok(())
    }

    /// A template.
    pub fn get(&self, name: &str) -> Option<Rc<Vec<Node>>> {
        self.0.get(name).cloned()
    }
}
