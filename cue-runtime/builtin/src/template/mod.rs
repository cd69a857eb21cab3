//! Package `text/template`: Go's templates with their default functions.

mod functions;
mod lexer;
pub(crate) mod literal;
mod syntax;
mod tree;

use std::fmt::Write;

use self::functions::{Failure, arity, call};
use self::syntax::Parser;
use self::tree::{Base, Command, Node, Pipeline, Template, Templates, Term};
use crate::arguments as arg;
use crate::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use crate::datum::Datum;
use crate::go_value::{Form, Value, shown, sorted};
use crate::html;
use crate::quoting::{Plain, go_quote, is_print};

/// The package.
pub(super) const PACKAGE: Package = Package { path: "text/template", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Execute", &[Parameter::STRING, Parameter::DATA], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 0)?;
        let defined = Parser::parse(text).map_err(CallError::permanent)?;
        let data = Value::plain(a.get(1).cloned().unwrap_or(Datum::Null));
        Ok(Datum::text(Run::new(cx, text, &defined).all(data)?))
    }),
    function("HTMLEscape", &[Parameter::STRING], Kinds::STRING, |cx, a| {
        let text = html::escape(arg::text(a, 0)?).replace('\0', "\u{fffd}");
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function("JSEscape", &[Parameter::STRING], Kinds::STRING, |cx, a| {
        let text = js_escape(arg::text(a, 0)?);
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
];

/// A text as a literal of JavaScript holds it.
pub(super) fn js_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '\'' | '"' => {
                out.push('\\');
                out.push(c);
            }
            '<' | '>' | '&' | '=' | '\0'..' ' => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            _ if is_print(c as u32) => out.push(c),
            _ => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
        }
    }
    out
}

/// How the rest of a loop goes on.
#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// What runs, as messages name it.
#[derive(Clone, Copy)]
enum Place<'t> {
    Term(&'t Term),
    Command(&'t Command),
    Pipeline(&'t Pipeline),
    Template(&'t Template),
}

/// What a function takes.
#[derive(Clone, Copy, PartialEq)]
enum Wants {
    Any,
    Text,
}

struct Run<'t, 'c> {
    cx: &'c mut CallContext,
    text: &'t str,
    out: String,
    variables: Vec<(&'t str, Value)>,
    defined: &'t Templates,
    /// The template that runs.
    name: &'t str,
    place: Option<Place<'t>>,
    /// Templates that called each other.
    calls: usize,
    /// Blocks within each other, over all of them.
    depth: usize,
}

/// Templates that call each other deeper than this are refused, as are blocks deeper than the other. Go
/// goes to a hundred thousand; both leave the same rest by 2, 3, 4 and 5, so that with as many
/// templates in turn the same one is refused.
const CALLS: usize = 220;
const DEPTH: usize = 1000;
const TOO_DEEP: &str = "exceeded maximum template depth (100000)";

impl<'t, 'c> Run<'t, 'c> {
    fn new(cx: &'c mut CallContext, text: &'t str, defined: &'t Templates) -> Run<'t, 'c> {
        let (out, variables) = (String::new(), Vec::new());
        Run { cx, text, out, variables, defined, name: "", place: None, calls: 0, depth: 0 }
    }

    /// What the template makes of data.
    fn all(mut self, data: Value) -> Result<String, CallError> {
        self.variables.push(("$", data.clone()));
        if let Some((_, nodes)) = self.defined("") {
            self.nodes(nodes, &data)?;
        }
        Ok(self.out)
    }

    fn defined(&self, name: &str) -> Option<&'t (String, Vec<Node>)> {
        let at = self.defined.binary_search_by(|it| (*it.0).cmp(name)).ok()?;
        self.defined.get(at)
    }

    fn fail<T>(&self, reason: &str) -> Result<T, CallError> {
        let (at, shown) = match self.place {
            Some(Place::Term(it)) => (it.at, it.to_string()),
            Some(Place::Command(it)) => (it.at, it.to_string()),
            Some(Place::Pipeline(it)) => (it.at, it.to_string()),
            Some(Place::Template(it)) => (it.at, it.to_string()),
            None => (0, String::new()),
        };
        let before = self.text.get(..at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |it| it + 1);
        let name = go_quote(self.name, '"', Plain::Print);
        Err(CallError::permanent(format!(
            "template: :{line}:{column}: executing {name} at <{shown}>: {reason}"
        )))
    }

    fn put(&mut self, text: &str) -> Result<(), CallError> {
        self.cx.spend(text.len() + 8)?;
        self.out.push_str(text);
        Ok(())
    }

    fn nodes(&mut self, nodes: &'t [Node], dot: &Value) -> Result<Flow, CallError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail(TOO_DEEP);
        }
        let mut flow = Flow::Next;
        for node in nodes {
            self.cx.spend(8)?;
            flow = self.node(node, dot)?;
            if flow != Flow::Next {
                break;
            }
        }
        self.depth -= 1;
        Ok(flow)
    }

    fn node(&mut self, node: &'t Node, dot: &Value) -> Result<Flow, CallError> {
        let known = self.variables.len();
        match node {
            Node::Text(text) => self.put(text)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    let text = match value.is_nil() {
                        true => "<no value>".to_owned(),
                        false => shown(&value.datum),
                    };
                    self.put(&text)?;
                }
            }
            Node::If(pipeline, body, otherwise) => {
                let value = self.pipeline(pipeline, dot)?;
                let flow = self.nodes(if value.is_true() { body } else { otherwise }, dot)?;
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::With(pipeline, body, otherwise) => {
                let value = self.pipeline(pipeline, dot)?;
                let flow = match value.is_true() {
                    true => self.nodes(body, &value)?,
                    false => self.nodes(otherwise, dot)?,
                };
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::Range(pipeline, body, otherwise) => {
                let value = self.pipeline(pipeline, dot)?;
                let flow = match self.range(pipeline, body, &value)? {
                    true => Flow::Next,
                    false => self.nodes(otherwise, dot)?,
                };
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::Template(it) => self.template(it, dot)?,
        }
        Ok(Flow::Next)
    }

    fn template(&mut self, it: &'t Template, dot: &Value) -> Result<(), CallError> {
        self.place = Some(Place::Template(it));
        let Some((name, nodes)) = self.defined(&it.name) else {
            let name = go_quote(&it.name, '"', Plain::Print);
            return self.fail(&format!("template {name} not defined"));
        };
        if self.calls == CALLS {
            return self.fail(TOO_DEEP);
        }
        let data = match &it.data {
            Some(pipeline) => self.pipeline(pipeline, dot)?,
            None => Value::NONE,
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$", data.clone())]);
        let (outer, place) = (self.name, self.place);
        self.name = name;
        self.calls += 1;
        self.nodes(nodes, &data)?;
        self.calls -= 1;
        (self.variables, self.name, self.place) = (variables, outer, place);
        Ok(())
    }

    /// Runs the body for each element of a value. Whether there is one.
    fn range(
        &mut self,
        pipeline: &'t Pipeline,
        body: &'t [Node],
        over: &Value,
    ) -> Result<bool, CallError> {
        let members = sorted(&over.datum);
        let count = match &over.datum {
            Datum::List(items) => items.len(),
            Datum::Bytes(bytes) => bytes.len(),
            Datum::Struct(_) => members.len(),
            Datum::Null | Datum::Function(_) | Datum::Live(_) => 0,
            Datum::Number(number) if number.is_int() && number.to_i64().is_some() => {
                if pipeline.variables.len() > 1 {
                    let reason = "to iterate over more than one variable";
                    return self.fail(&format!("can't use {number} {reason}"));
                }
                number.to_i64().and_then(|it| usize::try_from(it).ok()).unwrap_or(0)
            }
            datum => return self.fail(&format!("range can't iterate over {}", shown(datum))),
        };
        let known = self.variables.len();
        for at in 0..count {
            self.cx.spend(32)?;
            let (key, value) = match (&over.datum, members.get(at)) {
                (_, Some((label, member))) => {
                    (Value::text((*label).to_owned()), Value::boxed(member))
                }
                (Datum::List(items), _) => {
                    (Value::count(at), items.get(at).map_or(Value::NONE, Value::boxed))
                }
                (Datum::Bytes(bytes), _) => {
                    let byte = i64::from(bytes.get(at).copied().unwrap_or(0));
                    (Value::count(at), Value { datum: Datum::int(byte), form: Form::Byte })
                }
                _ => (Value::NONE, Value { datum: Datum::count(at), form: over.form }),
            };
            match pipeline.variables.as_slice() {
                [one] => self.assign(one, value.clone())?,
                [first, second, ..] => {
                    self.assign(first, key)?;
                    self.assign(second, value.clone())?;
                }
                [] => {}
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(known);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(count > 0)
    }

    fn assign(&mut self, name: &str, value: Value) -> Result<(), CallError> {
        match self.variables.iter_mut().rev().find(|it| it.0 == name) {
            Some(known) => known.1 = value,
            None => return self.fail(&format!("undefined variable: {name}")),
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline, dot: &Value) -> Result<Value, CallError> {
        self.place = Some(Place::Pipeline(pipeline));
        let mut last = None;
        for command in &pipeline.commands {
            last = Some(self.command(command, dot, last)?.unboxed());
        }
        let value = last.unwrap_or(Value::NONE);
        for name in &pipeline.variables {
            if pipeline.assigns {
                self.assign(name, value.clone())?;
            } else {
                self.cx.spend(16)?;
                self.variables.push((name, value.clone()));
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &'t Command,
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, CallError> {
        let Some((first, rest)) = command.words.split_first() else { return Ok(Value::NONE) };
        let arguments = rest.len() + usize::from(last.is_some());
        match &first.base {
            Base::Function(_) => self.function(first, Place::Command(command), rest, dot, last),
            Base::Pipeline(inner) => {
                self.is_alone(first, arguments)?;
                self.pipeline(inner, dot)
            }
            Base::Variable(_) | Base::Chain(_) => self.chain(first, dot, arguments),
            Base::Dot if !first.fields.is_empty() => self.chain(first, dot, arguments),
            Base::Dot | Base::Nil | Base::Literal(..) => {
                self.place = Some(Place::Term(first));
                self.is_alone(first, arguments)?;
                match &first.base {
                    Base::Nil => self.fail("nil is not a command"),
                    Base::Literal(..) => self.literal(first),
                    _ => Ok(dot.clone()),
                }
            }
        }
    }

    /// Refuses arguments of what takes none.
    fn is_alone(&self, term: &Term, arguments: usize) -> Result<(), CallError> {
        match arguments {
            0 => Ok(()),
            _ => self.fail(&format!("can't give argument to non-function {term}")),
        }
    }

    fn literal(&self, term: &Term) -> Result<Value, CallError> {
        match &term.base {
            Base::Literal(value, text) if value.type_name() == "*big.Int" => {
                self.fail(&format!("{text} overflows int"))
            }
            Base::Literal(value, _) => Ok(value.clone()),
            _ => Ok(Value::NONE),
        }
    }

    /// A variable, or a field of something.
    fn chain(&mut self, term: &'t Term, dot: &Value, arguments: usize) -> Result<Value, CallError> {
        self.place = Some(Place::Term(term));
        let mut value = match &term.base {
            Base::Variable(name) => match self.variables.iter().rev().find(|it| it.0 == name) {
                Some(known) => known.1.clone(),
                None => return self.fail(&format!("undefined variable: {name}")),
            },
            Base::Chain(inner) => self.argument(inner, dot, Wants::Any)?,
            _ => dot.clone(),
        };
        let Some(last) = term.fields.len().checked_sub(1) else {
            self.is_alone(term, arguments)?;
            return Ok(value);
        };
        for (at, field) in term.fields.iter().enumerate() {
            value = match &value.datum {
                Datum::Struct(_) if at == last && arguments > 0 => {
                    return self.fail(&format!("{field} is not a method but has arguments"));
                }
                Datum::Struct(fields) => {
                    let found = fields.iter().find(|it| *it.0 == **field);
                    found.map_or(Value::NONE, |it| Value::boxed(&it.1))
                }
                _ if value.is_nil() && value.form != Form::Boxed => Value::NONE,
                _ if value.is_nil() => {
                    let reason = format!("nil pointer evaluating interface {{}}.{field}");
                    return self.fail(&reason);
                }
                _ => {
                    let kind = type_of(&value);
                    return self.fail(&format!("can't evaluate field {field} in type {kind}"));
                }
            };
        }
        Ok(value)
    }

    /// An argument of a function, or what fields are of.
    fn argument(&mut self, term: &'t Term, dot: &Value, wants: Wants) -> Result<Value, CallError> {
        self.place = Some(Place::Term(term));
        let value = match &term.base {
            Base::Nil if wants == Wants::Text => return self.fail("cannot assign nil to string"),
            Base::Literal(value, _) if wants == Wants::Text && value.as_text().is_none() => {
                return self.fail(&format!("expected string; found {term}"));
            }
            Base::Nil | Base::Literal(..) => self.literal(term)?,
            Base::Dot if term.fields.is_empty() => dot.clone(),
            Base::Dot | Base::Variable(_) | Base::Chain(_) => self.chain(term, dot, 0)?,
            Base::Function(_) => self.function(term, Place::Term(term), &[], dot, None)?,
            Base::Pipeline(inner) => self.pipeline(inner, dot)?,
        };
        self.fits(value, wants)
    }

    fn fits(&self, value: Value, wants: Wants) -> Result<Value, CallError> {
        if wants == Wants::Any || value.as_text().is_some() {
            return Ok(value);
        }
        if value.is_nil() && value.form != Form::Boxed {
            return self.fail("invalid value; expected string");
        }
        let kind = if value.is_nil() { type_of(&value) } else { value.type_name() };
        self.fail(&format!("wrong type for value; expected string; got {kind}"))
    }

    /// Calls a function with words and with what comes through a pipe.
    fn function(
        &mut self,
        term: &'t Term,
        whole: Place<'t>,
        words: &'t [Term],
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, CallError> {
        self.place = Some(Place::Term(term));
        let Base::Function(name) = &term.base else { return Ok(Value::NONE) };
        if let Some(reason) = arity(name, words.len(), words.len() + usize::from(last.is_some())) {
            return self.fail(&reason);
        }
        if name == "and" || name == "or" {
            let mut value = Value::NONE;
            for word in words {
                value = self.argument(word, dot, Wants::Any)?;
                if value.is_true() == (name == "or") {
                    return Ok(value);
                }
            }
            return Ok(last.unwrap_or(value));
        }
        let wants = |at| if at == 0 && name == "printf" { Wants::Text } else { Wants::Any };
        let mut values = Vec::new();
        for (at, word) in words.iter().enumerate() {
            values.push(self.argument(word, dot, wants(at))?);
        }
        if let Some(last) = last {
            values.push(self.fits(last, wants(words.len()))?);
        }
        self.cx.spend(16 * values.len() + 16)?;
        call(self.cx, name, &values).or_else(|failure| match failure {
            Failure::Budget(error) => Err(error),
            Failure::Reason(reason) => {
                self.place = Some(whole);
                self.fail(&format!("error calling {name}: {reason}"))
            }
            Failure::NoFunction(value) => {
                let callee = match (words.first().map(|it| &it.base), value.as_text()) {
                    (Some(Base::Pipeline(inner)), _) => inner.to_string(),
                    (Some(_), _) => words[0].to_string(),
                    (None, Some(text)) => text.to_owned(),
                    (None, None) => format!("<{} Value>", value.type_name()),
                };
                self.place = Some(whole);
                let kind = value.type_name();
                self.fail(&format!("error calling call: non-function {callee} of type {kind}"))
            }
        })
    }
}

/// The type of a value, in its box if it is in one.
fn type_of(value: &Value) -> &'static str {
    if value.form == Form::Boxed { "interface {}" } else { value.type_name() }
}
