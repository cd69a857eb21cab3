//! The published schemas, compiled: what reading an object of a built-in kind looks up at every field.

use std::sync::{OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::published;
use crate::resource::Node;

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
const SCALING_RULES: &str = "io.k8s.api.autoscaling.v2.HPAScalingRules";
/// Packages whose objects are kept as JSON; others forget whether a list is empty or not there.
const KEPT_AS_JSON: [&str; 2] = ["io.k8s.apiextensions-apiserver.", "io.k8s.apimachinery."];

/// The type a schema asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It does not say.
    Any,
    /// An object.
    Object,
    /// A list.
    Array,
    /// A text.
    Text(Text),
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
}

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Anything.
    Plain,
    /// A time.
    Time,
    /// A time with microseconds.
    MicroTime,
    /// Bytes in base64.
    Bytes,
    /// An amount; numbers are amounts too.
    Quantity,
    /// A text or a whole number.
    OrInteger,
}

/// One compiled schema.
#[derive(Debug)]
pub struct Shape {
    /// The type.
    pub wanted: Wanted,
    /// Whether fields that are not declared stay.
    pub open: bool,
    /// What an object gets when it is not there, in the order of the schema.
    pub defaults: Vec<(&'static str, Value)>,
    /// The schema.
    pub schema: Node<'static>,
    fields: FxHashMap<&'static str, Field>,
    more: Option<Link>,
    items: Option<(Link, Option<&'static str>)>,
}

/// What Go writes of a field that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// What it is.
    Kept,
    /// Nothing.
    Left,
    /// Nothing, of a list or map; other values are kept.
    LeftLists,
    /// Null, of a list or map.
    NullLists,
}

/// A declared field.
#[derive(Debug)]
pub struct Field {
    /// The Go type it is part of from here on, if it has a name.
    pub owner: Option<&'static str>,
    /// What is written of it when it is empty.
    pub empty: Empty,
    link: Link,
}

/// The way to a schema; named ones are compiled when somebody goes there.
#[derive(Debug)]
struct Link {
    schema: &'static Value,
    name: Option<&'static str>,
    shape: OnceLock<&'static Shape>,
}

impl Link {
    fn new(schema: &'static Value) -> Link {
        let (mut at, mut name) = (schema, None);
        // As Node::new follows references.
        for _ in 0..8 {
            let Some(next) = reference(at) else { break };
            let next = next.rsplit('/').next().unwrap_or(next);
            let Some((known, target)) = published::schemas().get_key_value(next) else { break };
            (at, name) = (target, Some(known.as_str()));
        }
        Link { schema: at, name, shape: OnceLock::new() }
    }

    fn shape(&self) -> &'static Shape {
        self.shape.get_or_init(|| match self.name {
            Some(name) => named(name, self.schema),
            // Schemas are part of the program: there are only so many.
            None => Box::leak(Box::new(Shape::compile(self.schema, ""))),
        })
    }
}

impl Field {
    /// The compiled schema of the field.
    #[must_use]
    pub fn shape(&self) -> &'static Shape {
        self.link.shape()
    }
}

/// The reference of a schema, alone or in `allOf`.
#[must_use]
pub fn reference(schema: &Value) -> Option<&str> {
    if let Some(direct) = schema.get("$ref") {
        return direct.as_str();
    }
    match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([single]) => single.get("$ref").and_then(Value::as_str),
        _ => None,
    }
}

/// Whether this is what Go has of something that was not set.
#[must_use]
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn type_name(schema: &'static Value) -> Option<&'static str> {
    reference(schema)?.rsplit('.').next()
}

fn named(name: &'static str, schema: &'static Value) -> &'static Shape {
    static MADE: OnceLock<RwLock<FxHashMap<&'static str, &'static Shape>>> = OnceLock::new();
    let made = MADE.get_or_init(RwLock::default);
    if let Some(known) = made.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return known;
    }
    let mut made = made.write().unwrap_or_else(PoisonError::into_inner);
    made.entry(name).or_insert_with(|| Box::leak(Box::new(Shape::compile(schema, name))))
}

impl Shape {
    /// The compiled schema of a published name.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Shape> {
        let (name, schema) = published::schemas().get_key_value(name)?;
        Some(named(name, schema))
    }

    /// A declared field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }

    /// The schema of fields that are not declared.
    #[must_use]
    pub fn more(&self) -> Option<&'static Shape> {
        self.more.as_ref().map(Link::shape)
    }

    /// The schema of elements, and the Go type they are part of if it has a name.
    #[must_use]
    pub fn items(&self) -> Option<(&'static Shape, Option<&'static str>)> {
        self.items.as_ref().map(|(link, owner)| (link.shape(), *owner))
    }

    /// Whether this is a list or a map without declared fields, which are not written when they are empty.
    #[must_use]
    pub fn collects(&self, value: &Value) -> bool {
        match value {
            Value::Array(_) => self.wanted == Wanted::Array,
            Value::Object(_) => self.more.is_some(),
            _ => false,
        }
    }

    fn compile(schema: &'static Value, name: &str) -> Shape {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let wanted = match (text("type"), text("format")) {
            _ if name == QUANTITY => Wanted::Text(Text::Quantity),
            ("string", _) if name == MICRO_TIME => Wanted::Text(Text::MicroTime),
            ("string", "date-time") => Wanted::Text(Text::Time),
            ("string", "byte") => Wanted::Text(Text::Bytes),
            ("string", "int-or-string") => Wanted::Text(Text::OrInteger),
            ("string", _) => Wanted::Text(Text::Plain),
            ("integer", _) => Wanted::Integer,
            ("number", _) => Wanted::Number,
            ("boolean", _) => Wanted::Boolean,
            ("array", _) => Wanted::Array,
            ("object", _) => Wanted::Object,
            _ => Wanted::Any,
        };
        let written: Option<FxHashMap<&str, Option<&str>>> = published::written(name).map(|all| {
            let one = |field: &'static str| match field.split_once('=') {
                Some((field, text)) => (field, Some(text)),
                None => (field.trim_start_matches('-'), None),
            };
            all.split(' ').map(one).collect()
        });
        let forgets = !KEPT_AS_JSON.iter().any(|kept| name.starts_with(kept));
        let required = schema.get("required").and_then(Value::as_array);
        let needed = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let mut fields = FxHashMap::default();
        let mut defaults = Vec::new();
        let declared = schema.get("properties").and_then(Value::as_object);
        for (field, inner) in declared.into_iter().flatten() {
            let known = written.as_ref().and_then(|all| all.get(field.as_str()));
            let always = known.and_then(|text| serde_json::from_str(text.as_ref()?).ok());
            let empty = match (known, &always) {
                // Who wrote what is never empty by accident.
                _ if field == "managedFields" => Empty::Kept,
                // No policy is refused, not taken for the usual ones.
                _ if name == SCALING_RULES && field == "policies" => Empty::Kept,
                (Some(None), _) => Empty::Left,
                (Some(_), Some(Value::Null)) if forgets => Empty::NullLists,
                (None, _) if !needed(field) => Empty::LeftLists,
                _ => Empty::Kept,
            };
            match (inner.get("default"), always) {
                (Some(default), _) if empty == Empty::Left && is_zero(default) => {}
                (Some(default), _) => defaults.push((field.as_str(), default.clone())),
                (None, Some(always)) => defaults.push((field.as_str(), always)),
                (None, None) => {}
            }
            let field_ = Field { owner: type_name(inner), empty, link: Link::new(inner) };
            fields.insert(field.as_str(), field_);
        }
        let more = schema.get("additionalProperties").filter(|one| one.is_object());
        let items = schema.get("items");
        Shape {
            wanted,
            open: Node { at: schema }.open(),
            defaults,
            schema: Node { at: schema },
            fields,
            more: more.map(Link::new),
            items: items.map(|items| (Link::new(items), type_name(items))),
        }
    }
}
