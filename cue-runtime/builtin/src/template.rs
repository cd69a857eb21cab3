//! Package `text/template`: Go's templates with their default functions.

use std::fmt::Write;

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;
use super::go_value::{shown, sorted, type_name};
use super::printf::{Argument, printf};
use super::quoting::is_print;
use super::template_syntax::{Base, Node, Operand, Parser, Pipeline};
use super::{html, url};

/// The package.
pub(super) const PACKAGE: Package = Package { path: "text/template", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Execute", &[Parameter::STRING, Parameter::DATA], Kinds::STRING, |cx, a| {
        let (nodes, defined) = Parser::parse(arg::text(a, 0)?).map_err(CallError::permanent)?;
        let data = a.get(1).cloned().unwrap_or(Datum::Null);
        let variables = vec![("$".to_owned(), data.clone())];
        let mut run = Run { cx, out: String::new(), variables, defined: &defined, depth: 0 };
        run.nodes(&nodes, &data)?;
        Ok(Datum::text(run.out))
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

fn js_escape(text: &str) -> String {
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

struct Run<'a, 'c> {
    cx: &'c mut CallContext,
    out: String,
    variables: Vec<(String, Datum)>,
    defined: &'a [(String, Vec<Node>)],
    depth: usize,
}

/// Templates that call each other deeper than this are refused.
const DEPTH: usize = 200;

/// A missing key: prints as `<no value>`.
const MISSING: Datum = Datum::Live(u32::MAX);

fn failure(at: &Operand, reason: &str) -> CallError {
    let (line, column, text) = (at.line, at.column, &at.text);
    CallError::permanent(format!(
        "template: :{line}:{column}: executing \"\" at <{text}>: {reason}"
    ))
}

fn is_true(datum: &Datum) -> bool {
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => false,
        Datum::Bool(value) => *value,
        Datum::Number(number) => !number.is_zero(),
        Datum::String(text) => !text.is_empty(),
        Datum::Bytes(bytes) => !bytes.is_empty(),
        Datum::List(items) => !items.is_empty(),
        Datum::Struct(fields) => !fields.is_empty(),
    }
}

impl Run<'_, '_> {
    fn put(&mut self, text: &str) -> Result<(), CallError> {
        self.cx.spend(text.len() + 8)?;
        self.out.push_str(text);
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node], dot: &Datum) -> Result<Flow, CallError> {
        let known = self.variables.len();
        for node in nodes {
            self.cx.spend(8)?;
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                self.variables.truncate(known);
                return Ok(flow);
            }
        }
        self.variables.truncate(known);
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &Node, dot: &Datum) -> Result<Flow, CallError> {
        match node {
            Node::Text(text) => self.put(text)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    let text = match value {
                        Datum::Null => "<no value>".to_owned(),
                        other => shown(&other),
                    };
                    self.put(&text)?;
                }
            }
            Node::If(pipeline, body, otherwise) => {
                let known = self.variables.len();
                let value = self.pipeline(pipeline, dot)?;
                let flow = self.nodes(if is_true(&value) { body } else { otherwise }, dot)?;
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::With(pipeline, body, otherwise) => {
                let known = self.variables.len();
                let value = self.pipeline(pipeline, dot)?;
                let flow = if is_true(&value) {
                    self.nodes(body, &value)?
                } else {
                    self.nodes(otherwise, dot)?
                };
                self.variables.truncate(known);
                return Ok(flow);
            }
            Node::Range(pipeline, body, otherwise) => self.range(pipeline, body, otherwise, dot)?,
            Node::Template(name, data) => {
                let data = match data {
                    Some(pipeline) => self.pipeline(pipeline, dot)?,
                    None => Datum::Null,
                };
                let Some((_, nodes)) = self.defined.iter().rev().find(|it| it.0 == *name) else {
                    return Err(CallError::permanent(format!(
                        "template: :1: executing \"\": template \"{name}\" not defined"
                    )));
                };
                if self.depth > DEPTH {
                    return Err(CallError::permanent("exceeded maximum template depth"));
                }
                let own = vec![("$".to_owned(), data.clone())];
                let outer = std::mem::replace(&mut self.variables, own);
                self.depth += 1;
                self.nodes(nodes, &data)?;
                self.depth -= 1;
                self.variables = outer;
            }
        }
        Ok(Flow::Next)
    }

    fn range(
        &mut self,
        pipeline: &Pipeline,
        body: &[Node],
        otherwise: &[Node],
        dot: &Datum,
    ) -> Result<(), CallError> {
        let bare = Pipeline { variables: Vec::new(), ..pipeline.clone() };
        let over = self.pipeline(&bare, dot)?;
        let pairs: Vec<(Datum, Datum)> = match &over {
            Datum::List(items) => {
                items.iter().enumerate().map(|(at, it)| (Datum::count(at), it.clone())).collect()
            }
            Datum::Struct(_) => {
                sorted(&over).into_iter().map(|(k, v)| (Datum::text(k), v.clone())).collect()
            }
            Datum::Null | Datum::Function(_) | Datum::Live(_) => Vec::new(),
            Datum::Number(number) if number.is_int() => {
                let count = usize::try_from(number.to_i64().unwrap_or(0)).unwrap_or(0);
                self.cx.spend(count.saturating_mul(32))?;
                (0..count).map(|at| (Datum::count(at), Datum::count(at))).collect()
            }
            other => {
                let reason = format!("range can't iterate over {}", shown(other));
                return Err(match pipeline.commands.first().and_then(|it| it.first()) {
                    Some(operand) => failure(operand, &reason),
                    None => CallError::permanent(reason),
                });
            }
        };
        if pairs.is_empty() {
            self.nodes(otherwise, dot)?;
            return Ok(());
        }
        for (key, value) in pairs {
            let known = self.variables.len();
            match pipeline.variables.as_slice() {
                [one] => self.variables.push((one.clone(), value.clone())),
                [first, second] => {
                    self.variables.push((first.clone(), key));
                    self.variables.push((second.clone(), value.clone()));
                }
                _ => {}
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(known);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Datum) -> Result<Datum, CallError> {
        let mut value = None;
        for (at, command) in pipeline.commands.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|it| pipeline.commands.get(it));
            let made = before.is_some_and(|it| makes(it));
            value = Some(self.command(command, dot, value.map(|it| (it, made)))?);
        }
        let value = value.unwrap_or(Datum::Null);
        for name in &pipeline.variables {
            if pipeline.assigns {
                if let Some(known) = self.variables.iter_mut().rev().find(|it| it.0 == *name) {
                    known.1 = value.clone();
                }
            } else {
                self.variables.push((name.clone(), value.clone()));
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &[Operand],
        dot: &Datum,
        last: Option<(Datum, bool)>,
    ) -> Result<Datum, CallError> {
        let Some(first) = command.first() else { return Ok(Datum::Null) };
        let Base::Function(name) = &first.base else {
            if matches!(first.base, Base::Nil) {
                return Err(failure(first, "nil is not a command"));
            }
            if command.len() > 1 || last.is_some() {
                let text = &first.text;
                return Err(failure(first, &format!("can't give argument to non-function {text}")));
            }
            return self.operand(first, dot);
        };
        if name == "and" || name == "or" {
            let mut value = Datum::Null;
            for operand in &command[1..] {
                value = self.operand(operand, dot)?;
                if is_true(&value) == (name == "or") {
                    return Ok(value);
                }
            }
            return Ok(last.map_or(value, |it| it.0));
        }
        let mut values = Vec::new();
        for operand in &command[1..] {
            values.push(self.operand(operand, dot)?);
        }
        let mut made: Vec<bool> = command[1..].iter().map(Operand::is_made).collect();
        made.extend(last.iter().map(|it| it.1));
        values.extend(last.map(|it| it.0));
        self.cx.spend(16 * values.len() + 16)?;
        if let ("printf", [Datum::String(format), rest @ ..]) = (&**name, values.as_slice()) {
            let arguments = rest.iter().zip(&made[1..]);
            let arguments: Vec<Argument<'_>> =
                arguments.map(|(datum, made)| Argument { datum, made: *made }).collect();
            return Ok(Datum::text(printf(self.cx, format, &arguments)?));
        }
        call(name, &values).map_err(|reason| match reason.strip_prefix("wrong number") {
            Some(_) => failure(first, &reason),
            None => {
                let texts: Vec<&str> = command.iter().map(|it| it.text.as_str()).collect();
                let whole = Operand { text: texts.join(" "), ..first.clone() };
                failure(&whole, &format!("error calling {name}: {reason}"))
            }
        })
    }

    fn operand(&mut self, operand: &Operand, dot: &Datum) -> Result<Datum, CallError> {
        let mut value = match &operand.base {
            Base::Dot => dot.clone(),
            Base::Nil => Datum::Null,
            Base::Literal(datum) => datum.clone(),
            Base::Variable(name) => {
                let found = self.variables.iter().rev().find(|it| it.0 == *name);
                found.map_or(Datum::Null, |it| it.1.clone())
            }
            Base::Function(_) => self.command(std::slice::from_ref(operand), dot, None)?,
            Base::Pipeline(inner) => self.pipeline(inner, dot)?,
        };
        for (at, field) in operand.fields.iter().enumerate() {
            value = match &value {
                Datum::Struct(fields) => {
                    fields.iter().find(|it| *it.0 == **field).map_or(MISSING, |it| it.1.clone())
                }
                Datum::Live(_) => MISSING,
                Datum::Null => {
                    let reason = format!("nil pointer evaluating interface {{}}.{field}");
                    return Err(failure(operand, &reason));
                }
                other => {
                    let kind = if at == 0 && self.depth == 0 && matches!(operand.base, Base::Dot) {
                        type_name(other)
                    } else {
                        "interface {}"
                    };
                    let reason = format!("can't evaluate field {field} in type {kind}");
                    return Err(failure(operand, &reason));
                }
            };
        }
        Ok(value)
    }
}

/// Whether what a command gives is a number that it made.
fn makes(command: &[Operand]) -> bool {
    match command {
        [only] => only.is_made(),
        [function, ..] => matches!(&function.base, Base::Function(name) if name == "len"),
        [] => false,
    }
}

impl Operand {
    /// Whether it is a literal, or what a function counts.
    fn is_made(&self) -> bool {
        match &self.base {
            Base::Literal(_) => self.fields.is_empty(),
            Base::Pipeline(inner) => inner.commands.last().is_some_and(|it| makes(it)),
            Base::Dot | Base::Nil | Base::Variable(_) | Base::Function(_) => false,
        }
    }
}

fn call(name: &str, values: &[Datum]) -> Result<Datum, String> {
    let count = values.len();
    let (least, most) = match name {
        "not" | "len" => (1, 1),
        "ne" | "lt" | "le" | "gt" | "ge" => (2, 2),
        "eq" | "index" | "slice" | "printf" | "call" => (1, usize::MAX),
        _ => (0, usize::MAX),
    };
    if count < least {
        let at = if most == least { "want" } else { "want at least" };
        return Err(format!("wrong number of args for {name}: {at} {least} got {count}"));
    }
    if count > most {
        return Err(format!("wrong number of args for {name}: want {most} got {count}"));
    }
    let all = || values.iter().map(shown).collect::<Vec<_>>();
    match name {
        "not" => Ok(Datum::Bool(!is_true(&values[0]))),
        "len" => match &values[0] {
            Datum::String(text) => Ok(Datum::count(text.len())),
            Datum::Bytes(bytes) => Ok(Datum::count(bytes.len())),
            Datum::List(items) => Ok(Datum::count(items.len())),
            Datum::Struct(fields) => Ok(Datum::count(fields.len())),
            Datum::Null | Datum::Function(_) | Datum::Live(_) => {
                Err("len of nil pointer".to_owned())
            }
            other => Err(format!("len of type {}", type_name(other))),
        },
        "index" => values[1..].iter().try_fold(values[0].clone(), |value, key| index(&value, key)),
        "slice" => slice(values),
        "eq" => {
            if count < 2 {
                return Err("missing argument for comparison".to_owned());
            }
            for other in &values[1..] {
                if equal(&values[0], other)? {
                    return Ok(Datum::Bool(true));
                }
            }
            Ok(Datum::Bool(false))
        }
        "ne" => Ok(Datum::Bool(!equal(&values[0], &values[1])?)),
        "lt" | "le" | "gt" | "ge" => {
            let order = match (&values[0], &values[1]) {
                (Datum::Number(a), Datum::Number(b)) if a.is_int() == b.is_int() => a.compare(b),
                (Datum::String(a), Datum::String(b)) => a.cmp(b),
                _ => return Err("incompatible types for comparison".to_owned()),
            };
            Ok(Datum::Bool(match name {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        "print" | "html" | "js" | "urlquery" => {
            let mut out = String::new();
            for (at, value) in values.iter().enumerate() {
                let texts = |it: &Datum| matches!(it, Datum::String(_));
                if at > 0 && !texts(value) && !texts(&values[at - 1]) {
                    out.push(' ');
                }
                out.push_str(&shown(value));
            }
            Ok(Datum::text(match name {
                "html" => html::escape(&out),
                "js" => js_escape(&out),
                "urlquery" => url::escape(&out, url::Part::Query),
                _ => out,
            }))
        }
        "println" => Ok(Datum::text(all().join(" ") + "\n")),
        // Of a text, which alone makes long ones of short ones, before.
        "printf" => {
            let found = type_name(&values[0]);
            Err(format!("wrong type for value; expected string; got {found}"))
        }
        _ => Err(format!("non-function of type {}", type_name(&values[0]))),
    }
}

fn equal(a: &Datum, b: &Datum) -> Result<bool, String> {
    for side in [a, b] {
        if matches!(side, Datum::List(_) | Datum::Struct(_) | Datum::Bytes(_)) {
            return Err(format!("non-comparable type {}: {}", shown(side), type_name(side)));
        }
    }
    let nil = |it: &Datum| matches!(it, Datum::Null | Datum::Function(_) | Datum::Live(_));
    if nil(a) || nil(b) {
        return Ok(nil(a) && nil(b));
    }
    let (left, right) = (type_name(a), type_name(b));
    if left != right {
        return Err(format!("incompatible types for comparison: {left} and {right}"));
    }
    Ok(a == b)
}

fn index(value: &Datum, key: &Datum) -> Result<Datum, String> {
    let place = |length: usize| match key {
        Datum::Number(number) if number.is_int() => {
            let at = number.to_i64().and_then(|at| usize::try_from(at).ok());
            at.filter(|at| *at < length).ok_or_else(|| format!("index out of range: {number}"))
        }
        other => Err(format!("cannot index slice/array with type {}", type_name(other))),
    };
    match value {
        Datum::Struct(fields) => match key {
            Datum::String(label) => {
                let found = fields.iter().find(|it| *it.0 == **label);
                Ok(found.map_or(MISSING, |it| it.1.clone()))
            }
            other => Err(format!("value has type {}; should be string", type_name(other))),
        },
        Datum::List(items) => Ok(items[place(items.len())?].clone()),
        Datum::String(text) => Ok(Datum::int(i64::from(text.as_bytes()[place(text.len())?]))),
        Datum::Null | Datum::Function(_) | Datum::Live(_) => Err("index of untyped nil".to_owned()),
        other => Err(format!("can't index item of type {}", type_name(other))),
    }
}

fn slice(values: &[Datum]) -> Result<Datum, String> {
    let length = match &values[0] {
        Datum::String(text) => text.len(),
        Datum::List(items) => items.len(),
        other => return Err(format!("can't slice item of type {}", type_name(other))),
    };
    let bound = |at: usize, default: usize| match values.get(at) {
        None => Ok(default),
        Some(Datum::Number(number)) => {
            let at = number.to_i64().and_then(|at| usize::try_from(at).ok());
            at.filter(|at| *at <= length).ok_or_else(|| format!("index out of range: {number}"))
        }
        Some(other) => Err(format!("cannot index slice/array with type {}", type_name(other))),
    };
    let (from, to) = (bound(1, 0)?, bound(2, length)?);
    if from > to {
        return Err(format!("invalid slice index: {from} > {to}"));
    }
    Ok(match &values[0] {
        Datum::List(items) => Datum::list(items[from..to].to_vec()),
        Datum::String(text) => Datum::lossy(&text.as_bytes()[from..to]),
        _ => Datum::Null,
    })
}
