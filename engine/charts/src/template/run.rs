//! Nodes carried out: what they print.

use std::cell::Cell;

use chrono::{DateTime, Utc};

use super::{Base, Node, Operand, Pipe, Templates};
use crate::functions;
use crate::value::Value;

/// Templates in templates at most.
const DEPTH: usize = 100;

/// Steps of one rendering, and characters it may make of them.
const STEPS: usize = 20_000_000;

/// What a rendering is made with.
pub struct Setting {
    /// The time that templates see.
    pub now: DateTime<Utc>,
    /// What chance is made of.
    pub seed: String,
    drawn: Cell<u64>,
    spent: Cell<usize>,
}

impl Setting {
    /// At a time, with a seed.
    pub fn new(now: DateTime<Utc>, seed: &str) -> Self {
        Self { now, seed: seed.to_owned(), drawn: Cell::new(0), spent: Cell::new(0) }
    }

    /// Takes `steps` from what a rendering may spend.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn spend(&self, steps: usize) -> Result<(), String> {
        let spent = self.spent.get().saturating_add(steps);
        self.spent.set(spent);
        if spent > STEPS { Err("the chart takes too many steps".into()) } else { Ok(()) }
    }

    /// Sixty-four bits by chance: the same for the same seed, one after the other.
    pub fn draw(&self) -> u64 {
        use sha2::{Digest, Sha256};
        let drawn = self.drawn.get();
        self.drawn.set(drawn + 1);
        let digest = Sha256::digest(format!("{}/{drawn}", self.seed).as_bytes());
        digest.iter().take(8).fold(0, |all, it| (all << 8) | u64::from(*it))
    }
}

/// How a range goes on.
#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// One text being made.
pub struct Run<'a> {
    /// What may be called.
    pub templates: &'a Templates,
    /// Time, chance, budget.
    pub setting: &'a Setting,
    /// Name of the template, for errors.
    pub name: &'a str,
    depth: usize,
    out: String,
    variables: Vec<(String, Value)>,
}

impl<'a> Run<'a> {
    /// A run of templates.
    pub fn new(templates: &'a Templates, setting: &'a Setting, name: &'a str) -> Self {
        Self { templates, setting, name, depth: 0, out: String::new(), variables: Vec::new() }
    }

    /// Runs a template with `data` as dot.
    ///
    /// # Errors
    /// Where and why it failed.
    pub fn execute(mut self, data: &Value) -> Result<String, String> {
        let Some(nodes) = self.templates.get(self.name) else {
            return Err(format!("template {:?} not defined", self.name));
        };
        self.variables.push(("$".into(), data.clone()));
        self.nodes(&nodes, data)?;
        Ok(self.out)
    }

    /// What a named template prints.
    ///
    /// # Errors
    /// There is none, or it failed.
    pub fn include(&mut self, name: &str, data: &Value) -> Result<String, String> {
        let Some(nodes) = self.templates.get(name) else {
            return Err(format!("template {name:?} not defined"));
        };
        if self.depth >= DEPTH {
            return Err(format!(
                "rendering template has a nested reference name: {name}: too deep"
            ));
        }
        let own = vec![("$".to_owned(), data.clone())];
        let outer = std::mem::replace(&mut self.variables, own);
        let before = std::mem::take(&mut self.out);
        self.depth += 1;
        let done = self.nodes(&nodes, data);
        self.depth -= 1;
        self.variables = outer;
        let made = std::mem::replace(&mut self.out, before);
        done.map(|_| made).map_err(|error| match error.starts_with("template: ") {
            true => error,
            false => format!("in {name}: {error}"),
        })
    }

    /// What a text prints as a template.
    ///
    /// # Errors
    /// It is none, or it failed.
    pub fn tpl(&mut self, text: &str, data: &Value) -> Result<String, String> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        if self.depth >= DEPTH {
            return Err("tpl: too deep".into());
        }
        self.setting.spend(text.len())?;
        let mut templates = self.templates.clone();
        templates.add("gotpl", text)?;
        let mut inner = Run::new(&templates, self.setting, "gotpl");
        inner.depth = self.depth + 1;
        inner.execute(data)
    }

    fn put(&mut self, text: &str) -> Result<(), String> {
        self.setting.spend(text.len() + 1)?;
        self.out.push_str(text);
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node], dot: &Value) -> Result<Flow, String> {
        let known = self.variables.len();
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                self.variables.truncate(known);
                return Ok(flow);
            }
        }
        self.variables.truncate(known);
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &Node, dot: &Value) -> Result<Flow, String> {
        match node {
            Node::Text(text) => self.put(text)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Action(pipe) => {
                let value = self.pipe(pipe, dot)?;
                if pipe.names.is_empty() {
                    self.put(&value.shown())?;
                }
            }
            Node::If(branches, otherwise) | Node::With(branches, otherwise) => {
                let known = self.variables.len();
                for (pipe, body) in branches {
                    let value = self.pipe(pipe, dot)?;
                    if value.is_true() {
                        let with = matches!(node, Node::With(..));
                        let flow = self.nodes(body, if with { &value } else { dot })?;
                        self.variables.truncate(known);
                        return Ok(flow);
                    }
                }
                let flow = self.nodes(otherwise, dot)?;
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::Range(pipe, body, otherwise) => return self.range(pipe, body, otherwise, dot),
            Node::Template(name, data) => {
                let data = match data {
                    Some(pipe) => self.pipe(pipe, dot)?,
                    None => Value::Nil,
                };
                let text = self.include(name, &data)?;
                self.put(&text)?;
            }
        }
        Ok(Flow::Next)
    }

    fn range(
        &mut self,
        pipe: &Pipe,
        body: &[Node],
        otherwise: &[Node],
        dot: &Value,
    ) -> Result<Flow, String> {
        let bare = Pipe { names: Vec::new(), ..pipe.clone() };
        let over = self.pipe(&bare, dot)?;
        let count = |at: usize| Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
        let pairs: Vec<(Value, Value)> = match &over {
            Value::List(items) => {
                items.iter().enumerate().map(|(at, it)| (count(at), it.clone())).collect()
            }
            Value::Dict(members) => {
                let members = members.borrow();
                members.iter().map(|(key, it)| (Value::text(key), it.clone())).collect()
            }
            Value::Files(files) => {
                files.all().map(|(path, text)| (Value::text(path), Value::text(text))).collect()
            }
            Value::Int(_) | Value::Float(_) => {
                let turns = usize::try_from(over.int()).unwrap_or(0);
                self.setting.spend(turns)?;
                (0..turns).map(|at| (count(at), count(at))).collect()
            }
            Value::Nil => Vec::new(),
            other => {
                return Err(self.at(pipe, &format!("range can't iterate over {}", other.shown())));
            }
        };
        if pairs.is_empty() {
            return self.nodes(otherwise, dot);
        }
        for (key, value) in pairs {
            self.setting.spend(4)?;
            let known = self.variables.len();
            match pipe.names.as_slice() {
                [one] => self.name(pipe, one, value.clone()),
                [first, second] => {
                    self.name(pipe, first, key);
                    self.name(pipe, second, value.clone());
                }
                _ => {}
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(known);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::Next)
    }

    fn name(&mut self, pipe: &Pipe, name: &str, value: Value) {
        let known = self.variables.iter_mut().rev().find(|it| pipe.assigns && it.0 == name);
        match known {
            Some(known) => known.1 = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    fn at(&self, pipe: &Pipe, reason: &str) -> String {
        if reason.starts_with("template: ") {
            return reason.to_owned();
        }
        format!("template: {}:{}: {reason}", self.name, pipe.line)
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Value) -> Result<Value, String> {
        let mut value = None;
        for command in &pipe.commands {
            self.setting.spend(command.len() + 4)?;
            value = Some(self.command(command, dot, value).map_err(|it| self.at(pipe, &it))?);
        }
        let value = value.unwrap_or_default();
        for name in &pipe.names {
            self.name(pipe, name, value.clone());
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &[Operand],
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, String> {
        let Some((first, rest)) = command.split_first() else { return Ok(Value::Nil) };
        let Base::Function(name) = &first.base else {
            if rest.is_empty() && last.is_none() {
                return self.operand(first, dot);
            }
            return self.method(first, rest, dot, last);
        };
        if name == "and" || name == "or" {
            let mut value = Value::Nil;
            for operand in rest {
                value = self.operand(operand, dot)?;
                if value.is_true() == (name == "or") {
                    return Ok(value);
                }
            }
            return Ok(last.unwrap_or(value));
        }
        let mut values = Vec::with_capacity(rest.len() + 1);
        for operand in rest {
            values.push(self.operand(operand, dot)?);
        }
        values.extend(last);
        let value = functions::call(name, &values, self).map_err(|reason| {
            match reason.contains("template: ") {
                true => reason,
                false => format!("error calling {name}: {reason}"),
            }
        })?;
        self.fields(value, &first.fields)
    }

    /// `.Files.Get "x"`: the last field is called.
    fn method(
        &mut self,
        first: &Operand,
        rest: &[Operand],
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, String> {
        let Some((name, before)) = first.fields.split_last() else {
            return Err("can't give argument to non-function".into());
        };
        let holder = Operand { base: first.base.clone(), fields: before.to_vec() };
        let holder = self.operand(&holder, dot)?;
        let mut values = Vec::new();
        for operand in rest {
            values.push(self.operand(operand, dot)?);
        }
        values.extend(last);
        match functions::method(&holder, name, &values) {
            Some(result) => result,
            None => Err(format!("{name} is not a method but has arguments")),
        }
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Result<Value, String> {
        let value = match &operand.base {
            Base::Dot => dot.clone(),
            Base::Nil => Value::Nil,
            Base::Literal(literal) => literal.value(),
            Base::Variable(name) => {
                let found = self.variables.iter().rev().find(|it| it.0 == *name);
                found
                    .map(|it| it.1.clone())
                    .ok_or_else(|| format!("undefined variable {name:?}"))?
            }
            Base::Function(_) => {
                return self.command(std::slice::from_ref(operand), dot, None);
            }
            Base::Pipe(inner) => self.pipe(inner, dot)?,
        };
        self.fields(value, &operand.fields)
    }

    fn fields(&self, mut value: Value, fields: &[String]) -> Result<Value, String> {
        for field in fields {
            value = match &value {
                Value::Dict(members) => members.borrow().get(field).cloned().unwrap_or_default(),
                Value::Nil => {
                    return Err(format!("nil pointer evaluating interface {{}}.{field}"));
                }
                other => match functions::method(other, field, &[]) {
                    Some(result) => result?,
                    None => {
                        let kind = other.type_name();
                        return Err(format!("can't evaluate field {field} in type {kind}"));
                    }
                },
            };
        }
        Ok(value)
    }
}
