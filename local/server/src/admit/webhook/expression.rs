//! Expressions in CEL, as webhooks and policies have them: what the library does not know itself is put into what it
//! knows.
//!
//! An object literal (`Object.spec{replicas: 3}`, `JSONPatch{op: "test", ...}`) becomes a map, and
//! `authorizer.requestResource` a variable of that name.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr, MapEntryExpr, MapExpr, StructExpr};
use kube_cel::cel::common::ast::{LiteralValue, SelectExpr};
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, Value as Cel};
use serde_json::{Number, Value};

/// The rights of who asks, about what the request is about.
pub(super) const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// The type of objects that an apply configuration makes.
const OBJECT: &str = "Object";
/// The type of the operations of a JSON patch.
const JSON_PATCH: &str = "JSONPatch";

/// Which literals of objects an expression may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literals {
    /// None: it does not make objects.
    None,
    /// Those of mutations.
    Mutation,
}

fn parse(text: &str) -> Result<IdedExpr, String> {
    let parser = Parser::default().enable_optional_syntax(true);
    // The reference shows the place one further to the right.
    parser.parse(text).map_err(|error| error.to_string().replace("\n| ", "\n | "))
}

/// An expression that can be run.
pub(crate) struct Expression {
    expr: IdedExpr,
    /// Why a literal does not fit where it stands.
    pub(super) misfit: Option<String>,
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn compile(text: &str, literals: Literals) -> Result<Expression, String> {
        let mut expr = parse(text)?;
        let mut rewriter = Rewriter { literals, misfit: None };
        rewriter.rewrite(&mut expr, None)?;
        Ok(Expression { expr, misfit: rewriter.misfit })
    }

    /// What it comes to.
    pub(super) fn run(&self, context: &Context<'_>) -> Result<Cel, String> {
        context.resolve(&self.expr).map_err(|error| said(&error.to_string()))
    }
}

/// Compiles and runs.
pub(super) fn run(text: &str, literals: Literals, context: &Context<'_>) -> Result<Cel, String> {
    let compiled = Expression::compile(text, literals);
    compiled.map_err(|why| format!("compilation failed: {why}"))?.run(context)
}

// As the reference's library says it.
fn said(why: &str) -> String {
    if let Some(rest) = why.strip_prefix("No such key") {
        return format!("no such key{rest}");
    }
    let inner = why.strip_prefix("Error executing function '").and_then(|it| it.split_once("': "));
    inner.map_or(why, |(_, inner)| inner).to_owned()
}

// What an expression is, where that can be told from its form.
fn kind(it: &IdedExpr) -> Option<&str> {
    match &it.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => Some("bool"),
        Expr::Literal(LiteralValue::Bytes(_)) => Some("bytes"),
        Expr::Literal(LiteralValue::Double(_)) => Some("double"),
        Expr::Literal(LiteralValue::Int(_)) => Some("int"),
        Expr::Literal(LiteralValue::Null) => Some("null_type"),
        Expr::Literal(LiteralValue::String(_)) => Some("string"),
        Expr::Literal(LiteralValue::UInt(_)) => Some("uint"),
        Expr::Struct(literal) => Some(&literal.type_name),
        Expr::Select(select) if select.test => Some("bool"),
        Expr::Select(select) => (kind(&select.operand) == Some("dyn")).then_some("dyn"),
        Expr::Ident(name) => ["object", "oldObject"].contains(&name.as_str()).then_some("dyn"),
        Expr::Unspecified
        | Expr::Call(_)
        | Expr::Comprehension(_)
        | Expr::List(_)
        | Expr::Map(_) => None,
    }
}

/// Reads an expression that must come to one of some types.
pub(crate) fn of_type(
    text: &str,
    literals: Literals,
    types: &[&str],
) -> Result<Expression, String> {
    let failed = |why: String| format!("compilation failed: {why}");
    let read = parse(text).map_err(failed)?;
    let compiled = Expression::compile(text, literals).map_err(failed)?;
    match kind(&read).filter(|found| !types.is_empty() && !types.contains(found)) {
        None => Ok(compiled),
        Some(found) => Err(match types {
            [one] => format!("must evaluate to {one} but got {found}"),
            many => format!("must evaluate to one of [{}] but got {found}", many.join(" ")),
        }),
    }
}

struct Rewriter {
    literals: Literals,
    misfit: Option<String>,
}

impl Rewriter {
    // `place` is the type that a literal here must have, where that is known. Recursion follows the expression, whose
    // nesting the parser bounds.
    fn rewrite(&mut self, it: &mut IdedExpr, place: Option<&str>) -> Result<(), String> {
        match &mut it.expr {
            Expr::Struct(literal) => {
                let literal = std::mem::take(literal);
                it.expr = Expr::Map(self.literal(literal, place)?);
            }
            Expr::Select(select) if is_request_resource(select) => {
                it.expr = Expr::Ident(REQUEST_RESOURCE.to_owned());
            }
            Expr::Select(select) => self.rewrite(&mut select.operand, None)?,
            Expr::Call(call) => {
                for part in call.target.as_deref_mut().into_iter().chain(&mut call.args) {
                    self.rewrite(part, None)?;
                }
            }
            Expr::List(list) => {
                for element in &mut list.elements {
                    self.rewrite(element, place)?;
                }
            }
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        self.rewrite(&mut entry.key, None)?;
                        self.rewrite(&mut entry.value, None)?;
                    }
                }
            }
            Expr::Comprehension(it) => {
                let all = [
                    &mut it.iter_range,
                    &mut it.accu_init,
                    &mut it.loop_cond,
                    &mut it.loop_step,
                    &mut it.result,
                ];
                for part in all {
                    self.rewrite(part, None)?;
                }
            }
            Expr::Unspecified => return Err("the expression is empty".to_owned()),
            Expr::Ident(_) | Expr::Literal(_) => {}
        }
        Ok(())
    }

    fn literal(&mut self, literal: StructExpr, place: Option<&str>) -> Result<MapExpr, String> {
        let name = literal.type_name;
        let object = name == OBJECT || name.starts_with("Object.");
        if self.literals == Literals::None || !(object || name == JSON_PATCH) {
            return Err(format!("undeclared reference to '{name}' (in container '')"));
        }
        if let Some(place) = place.filter(|place| object && *place != name) {
            self.misfit.get_or_insert(format!(
                "unexpected type name \"{name}\", expected \"{place}\", which matches field name path from root Object type"
            ));
        }
        let mut entries = Vec::with_capacity(literal.entries.len());
        for mut entry in literal.entries {
            if let EntryExpr::StructField(mut field) = entry.expr {
                if !object && !["op", "path", "from", "value"].contains(&field.field.as_str()) {
                    return Err(format!("undefined field '{}'", field.field));
                }
                let below = object.then(|| format!("{name}.{}", field.field));
                self.rewrite(&mut field.value, below.as_deref())?;
                let key = Expr::Literal(LiteralValue::String(field.field.as_str().into()));
                let key = IdedExpr { id: entry.id, expr: key };
                let optional = field.optional;
                entry.expr =
                    EntryExpr::MapEntry(MapEntryExpr { key, value: field.value, optional });
            }
            entries.push(entry);
        }
        Ok(MapExpr { entries })
    }
}

fn is_request_resource(select: &SelectExpr) -> bool {
    let of = &select.operand.expr;
    !select.test
        && select.field == "requestResource"
        && matches!(of, Expr::Ident(name) if name == "authorizer")
}

/// A value for expressions. Whole numbers are ints, as in Kubernetes; serde would make them unsigned.
pub(super) fn cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(it) => Cel::Bool(*it),
        Value::Number(it) => {
            it.as_i64().map_or_else(|| Cel::Float(it.as_f64().unwrap_or_default()), Cel::Int)
        }
        Value::String(it) => Cel::String(Arc::new(it.clone())),
        Value::Array(all) => Cel::List(Arc::new(all.iter().map(cel).collect())),
        Value::Object(fields) => {
            let map: HashMap<Key, Cel> = fields
                .iter()
                .map(|(key, value)| (Key::String(Arc::new(key.clone())), cel(value)))
                .collect();
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

/// What an expression came to, as JSON; none if JSON has no such thing.
pub(super) fn json(value: &Cel) -> Option<Value> {
    Some(match value {
        Cel::Null => Value::Null,
        Cel::Bool(it) => Value::Bool(*it),
        Cel::Int(it) => Value::from(*it),
        Cel::UInt(it) => Value::from(*it),
        Cel::Float(it) => Value::Number(Number::from_f64(*it)?),
        Cel::String(it) => Value::String(it.to_string()),
        Cel::Timestamp(it) => Value::String(it.to_rfc3339()),
        Cel::List(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        Cel::Map(map) => {
            let mut fields: Vec<(String, Value)> = Vec::with_capacity(map.map.len());
            for (key, value) in map.map.iter() {
                fields.push((key.to_string(), json(value)?));
            }
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(fields.into_iter().collect())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_of_objects_are_maps() {
        let context = Context::default();
        for (text, wanted) in [
            ("Object{spec: Object.spec{replicas: 1 + 2}}", Ok(json!({"spec": {"replicas": 3}}))),
            (
                "[JSONPatch{op: 'add', path: '/a', value: Object.b{c: true}}]",
                Ok(json!([{"op": "add", "path": "/a", "value": {"c": true}}])),
            ),
            ("Object{a: [Object.a{b: 1}]}", Ok(json!({"a": [{"b": 1}]}))),
            ("Object{?a: optional.none(), ?b: optional.of(2)}", Ok(json!({"b": 2}))),
            (
                "Thing{a: 1}",
                Err("compilation failed: undeclared reference to 'Thing' (in container '')"),
            ),
            ("JSONPatch{what: 1}", Err("compilation failed: undefined field 'what'")),
        ] {
            let made = run(text, Literals::Mutation, &context);
            let made = made.map(|it| json(&it).expect("JSON"));
            assert_eq!(made, wanted.map_err(str::to_owned), "{text}");
        }
        assert!(Expression::compile("Object{a: 1}.a == 1", Literals::None).is_err());
        let text = "Object{spec: Object.other{a: 1}}";
        let misfit = Expression::compile(text, Literals::Mutation).expect("readable").misfit;
        let wanted = "unexpected type name \"Object.other\", expected \"Object.spec\", which matches field name path from root Object type";
        assert_eq!(misfit.as_deref(), Some(wanted));
    }
}
