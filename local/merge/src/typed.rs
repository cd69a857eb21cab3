//! Values seen through a schema: validate, field set, compare, merge, remove.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::fieldset::{Atom, Element, FieldSet, Node, Step, shown};
use crate::go;
use crate::same::equal;
use crate::schema::{Field, List, MapType, Relation, Scalar, Schema, TypeRef};

/// How a value is treated at its place.
enum Shape<'a> {
    Leaf,
    Map(&'a MapType),
    List(&'a List),
}

fn shape<'a>(schema: &'a Schema, of: TypeRef, value: &Value) -> Shape<'a> {
    match value {
        Value::Object(_) => match schema.map(of) {
            Some((map, false)) => Shape::Map(map),
            _ => Shape::Leaf,
        },
        Value::Array(_) => match schema.list(of) {
            Some((list, false)) => Shape::List(list),
            _ => Shape::Leaf,
        },
        _ => Shape::Leaf,
    }
}

fn child(map: &MapType, key: &str) -> Option<TypeRef> {
    map.fields.get(key).map(|field| field.of).or(map.element)
}

/// The identity of a list element.
fn identity(schema: &Schema, list: &List, item: &Value) -> Result<Element, String> {
    let Relation::Keyed(keys) = &list.relation else {
        return match item {
            Value::Array(_) => {
                Err("associative list without keys has an element that's a list type".to_owned())
            }
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null"
                    .to_owned())
            }
            scalar => Ok(Element::Value(Atom(scalar.clone()))),
        };
    };
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let declared = schema.map(list.element).map(|(map, _)| &map.fields);
    let default = |key: &String| {
        declared.and_then(|all| all.get(key)).and_then(|field: &Field| field.default.clone())
    };
    let mut found: Vec<_> = keys
        .iter()
        .filter_map(|key| {
            Some((key.clone(), Atom(fields.get(key).cloned().or_else(|| default(key))?)))
        })
        .collect();
    if found.is_empty() {
        let keys: Vec<_> = keys.iter().map(|key| go::quoted(key)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
             values for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort();
    Ok(Element::Key(found))
}

// The identity, or the index where there is none.
fn identified(schema: &Schema, list: &List, index: usize, item: &Value) -> Element {
    identity(schema, list, item).unwrap_or(Element::Index(i64::try_from(index).unwrap_or(i64::MAX)))
}

fn identities(schema: &Schema, list: &List, items: &[Value]) -> Vec<Element> {
    items.iter().enumerate().map(|(i, item)| identified(schema, list, i, item)).collect()
}

/// What keeps the value from having the type, in the words of the reference server.
#[must_use]
pub fn validate(schema: &Schema, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, schema.root(), value, &mut Vec::new(), &mut errors);
    errors
}

fn check<'a>(
    schema: &Schema,
    of: TypeRef,
    value: &'a Value,
    path: &mut Vec<Step<'a>>,
    errors: &mut Vec<String>,
) {
    let it = schema.at(of);
    if value.is_null() || it.deduced {
        return;
    }
    let at = |path: &[Step<'_>], what: &str| {
        let path: Vec<Element> = path.iter().map(Step::element).collect();
        format!("{}: {what}", shown(&path))
    };
    match value {
        Value::Object(fields) if it.map.is_some() => {
            let Some((map, atomic)) = schema.map(of) else { return };
            for (key, value) in fields {
                path.push(Step::Field(key));
                match child(map, key) {
                    Some(of) => check(schema, of, value, path, errors),
                    None if atomic && map.fields.is_empty() => {}
                    None => errors.push(at(path, "field not declared in schema")),
                }
                path.pop();
            }
        }
        Value::Array(items) if it.list.is_some() => {
            let Some((list, atomic)) = schema.list(of) else { return };
            let mut seen = BTreeMap::new();
            for (index, item) in items.iter().enumerate() {
                let element = if atomic {
                    Element::Index(i64::try_from(index).unwrap_or(i64::MAX))
                } else {
                    match identity(schema, list, item) {
                        Ok(element) => element,
                        Err(error) => {
                            errors.push(at(path, &format!("element {index}: {error}")));
                            continue;
                        }
                    }
                };
                let count = seen.entry(element.clone()).or_insert(0);
                *count += 1;
                if *count == 2 {
                    errors
                        .push(at(path, &format!("duplicate entries for key {}", element.shown())));
                }
                path.push(Step::Element(element));
                check(schema, list.element, item, path, errors);
                path.pop();
            }
        }
        value => match (it.scalar, value) {
            (Some(Scalar::Numeric), Value::Number(_))
            | (Some(Scalar::Text), Value::String(_))
            | (Some(Scalar::Boolean), Value::Bool(_))
            | (Some(Scalar::Untyped), Value::Number(_) | Value::String(_) | Value::Bool(_)) => {}
            (Some(Scalar::Numeric), _) => {
                errors.push(at(
                    path,
                    &format!("expected numeric (int or float), got {}", go::type_name(value)),
                ));
            }
            (Some(Scalar::Text), _) => errors.push(at(
                path,
                &format!(
                    "expected string, got &value.valueUnstructured{{Value:{}}}",
                    go::syntax(value)
                ),
            )),
            (Some(Scalar::Boolean), _) => {
                errors.push(at(path, &format!("expected boolean, got &{{{}}}", go::plain(value))));
            }
            (Some(Scalar::Untyped), _) => {
                errors
                    .push(at(path, &format!("expected any scalar, got &{{{}}}", go::plain(value))));
            }
            (None, _) if it.list.is_some() => {
                errors.push(at(path, &format!("expected list, got &{{{}}}", go::plain(value))));
            }
            (None, _) => {
                errors.push(at(path, &format!("expected map, got &{{{}}}", go::plain(value))))
            }
        },
    }
}

/// The paths a value sets.
#[must_use]
pub fn fields(schema: &Schema, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(schema, schema.root(), value, &mut set);
    set
}

// Collects what is below; returns whether the place itself is a leaf to be added by the caller.
fn collect(schema: &Schema, of: TypeRef, value: &Value, set: &mut FieldSet) -> bool {
    match (shape(schema, of, value), value) {
        (Shape::Map(map), Value::Object(all)) => {
            for (key, value) in all {
                let declared = map.fields.contains_key(key);
                let mut node = Node::default();
                let leaf =
                    child(map, key).is_none_or(|of| collect(schema, of, value, &mut node.below));
                let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                node.member = leaf || empty || !declared;
                if node.member || !node.below.is_empty() {
                    *set.node(Element::Field(key.clone())) = node;
                }
            }
            false
        }
        (Shape::List(list), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let element = identified(schema, list, index, item);
                let mut node = Node { member: true, below: FieldSet::default() };
                // Of two elements with one key only the place is owned.
                if set.get(&element).is_none() {
                    collect(schema, list.element, item, &mut node.below);
                }
                *set.node(element) = node;
            }
            false
        }
        _ => true,
    }
}

/// The difference between two values, as sets of paths.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Only in the old.
    pub removed: FieldSet,
    /// In both, different.
    pub modified: FieldSet,
    /// Only in the new.
    pub added: FieldSet,
}

impl Comparison {
    /// Paths that have a new value.
    #[must_use]
    pub fn changed(&self) -> FieldSet {
        self.modified.clone().union(&self.added)
    }

    /// The same, of a comparison that is not needed any more.
    pub(crate) fn into_changed(self) -> FieldSet {
        let (less, more) = match self.modified.is_empty() {
            true => (self.modified, self.added),
            false => (self.added, self.modified),
        };
        more.union(&less)
    }

    pub(crate) fn without(self, reset: &FieldSet) -> Comparison {
        Comparison {
            removed: self.removed.recursive_difference(reset),
            modified: self.modified.recursive_difference(reset),
            added: self.added.recursive_difference(reset),
        }
    }
}

/// Compares two values.
#[must_use]
pub fn compare(schema: &Schema, old: &Value, new: &Value) -> Comparison {
    let mut out = Comparison::default();
    differ(schema, schema.root(), Some(old), Some(new), &mut Vec::new(), &mut out);
    out
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(it)) => it.is_empty(),
        Some(Value::Array(it)) => it.is_empty(),
        Some(_) => false,
    }
}

fn differ<'a>(
    schema: &Schema,
    of: TypeRef,
    l: Option<&'a Value>,
    r: Option<&'a Value>,
    path: &mut Vec<Step<'a>>,
    out: &mut Comparison,
) {
    // Most of an object is as it was.
    if let (Some(l), Some(r)) = (l, r) {
        if equal(l, r) {
            return;
        }
    }
    let leading = r.filter(|it| !it.is_null()).or(l.filter(|it| !it.is_null()));
    let seen = leading.map_or(Shape::Leaf, |it| shape(schema, of, it));
    let same_kind = |a: &Value| {
        // Two nulls are of one kind; visiting them apart would not end.
        leading.is_none_or(|b| {
            a.is_null() || a.is_object() == b.is_object() && a.is_array() == b.is_array()
        })
    };
    if l.is_some_and(|it| !same_kind(it)) {
        // Another shape: both are visited on their own.
        out.modified.insert_steps(path);
        differ(schema, of, l, None, path, out);
        differ(schema, of, None, r, path, out);
        return;
    }
    let leaf = matches!(seen, Shape::Leaf) || (is_empty(l) && is_empty(r));
    if leaf {
        match (l, r) {
            (Some(_), Some(_)) => out.modified.insert_steps(path),
            (Some(_), None) => out.removed.insert_steps(path),
            (None, Some(_)) => out.added.insert_steps(path),
            (None, None) => {}
        }
        return;
    }
    match seen {
        Shape::Map(map) => {
            let (left, right) = (l.and_then(Value::as_object), r.and_then(Value::as_object));
            let mut visit = |key: &'a str, l: Option<&'a Value>, r: Option<&'a Value>| {
                let Some(of) = child(map, key) else { return };
                path.push(Step::Field(key));
                differ(schema, of, l, r, path, out);
                path.pop();
            };
            for (key, value) in left.into_iter().flatten() {
                visit(key, Some(value), right.and_then(|all| all.get(key)));
            }
            for (key, value) in right.into_iter().flatten() {
                if left.is_none_or(|all| !all.contains_key(key)) {
                    visit(key, None, Some(value));
                }
            }
        }
        Shape::List(list) => {
            let mut both: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
            for (i, item) in l.and_then(Value::as_array).into_iter().flatten().enumerate() {
                both.entry(identified(schema, list, i, item)).or_default().0.push(item);
            }
            for (i, item) in r.and_then(Value::as_array).into_iter().flatten().enumerate() {
                both.entry(identified(schema, list, i, item)).or_default().1.push(item);
            }
            for (element, (left, right)) in both {
                path.push(Step::Element(element));
                if left.len() > 1 || right.len() > 1 {
                    let equal = left.len() == right.len()
                        && left.iter().zip(&right).all(|(a, b)| equal(a, b));
                    match (left.is_empty(), right.is_empty()) {
                        (true, _) => out.added.insert_steps(path),
                        (_, true) => out.removed.insert_steps(path),
                        _ if !equal => out.modified.insert_steps(path),
                        _ => {}
                    }
                } else {
                    differ(
                        schema,
                        list.element,
                        left.first().copied(),
                        right.first().copied(),
                        path,
                        out,
                    );
                }
                path.pop();
            }
        }
        Shape::Leaf => {}
    }
    match (l, r) {
        (None, Some(_)) => out.added.insert_steps(path),
        (Some(_), None) => out.removed.insert_steps(path),
        _ => {}
    }
}

/// Where a value has lists or maps that are owned as a whole, as in messages.
#[must_use]
pub fn atomics(schema: &Schema, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    atomics_below(schema, schema.root(), value, &mut String::new(), &mut found);
    found
}

fn atomics_below(
    schema: &Schema,
    of: TypeRef,
    value: &Value,
    path: &mut String,
    found: &mut Vec<String>,
) {
    let length = path.len();
    match value {
        Value::Object(fields) => {
            let Some((map, atomic)) = schema.map(of) else { return };
            if atomic {
                found.push(path.clone());
            }
            for (key, value) in fields {
                if let Some(of) = map.fields.get(key).and_then(|_| child(map, key)) {
                    path.push_str(&format!(".{key}"));
                    atomics_below(schema, of, value, path, found);
                    path.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            let Some((list, atomic)) = schema.list(of) else { return };
            if atomic {
                found.push(path.clone());
            }
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                atomics_below(schema, list.element, item, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The live value with the applied one laid over it.
#[must_use]
pub fn merge(schema: &Schema, live: &Value, applied: &Value) -> Value {
    overlay(schema, schema.root(), Some(live), applied)
}

fn overlay(schema: &Schema, of: TypeRef, live: Option<&Value>, applied: &Value) -> Value {
    let Some(live) = live else { return applied.clone() };
    if applied.is_null() {
        let kept = !matches!(shape(schema, of, live), Shape::Leaf) && !is_empty(Some(live));
        return if kept { live.clone() } else { Value::Null };
    }
    match (shape(schema, of, applied), live, applied) {
        (Shape::Map(map), Value::Object(left), Value::Object(right)) => {
            let mut out = Map::with_capacity(left.len() + right.len());
            for (key, live) in left {
                let merged = match (right.get(key), child(map, key)) {
                    (None, _) => live.clone(),
                    (Some(value), Some(of)) => overlay(schema, of, Some(live), value),
                    (Some(value), None) => value.clone(),
                };
                out.insert(key.clone(), merged);
            }
            for (key, value) in right {
                if !left.contains_key(key) {
                    out.insert(key.clone(), value.clone());
                }
            }
            Value::Object(out)
        }
        (Shape::List(list), Value::Array(left), Value::Array(right)) => {
            Value::Array(overlay_list(schema, list, left, right))
        }
        _ => applied.clone(),
    }
}

fn overlay_list(schema: &Schema, list: &List, left: &[Value], right: &[Value]) -> Vec<Value> {
    let l = identities(schema, list, left);
    let r = identities(schema, list, right);
    // Lists may be long: nothing below looks through one for every element of the other.
    let mut place: BTreeMap<&Element, usize> = BTreeMap::new();
    for (i, element) in l.iter().enumerate() {
        place.entry(element).or_insert(i);
    }
    let applied: BTreeSet<&Element> = r.iter().collect();
    let mut shared = r.iter().filter(|it| place.contains_key(it));
    let mut next = shared.next();
    let merged = |j: usize| {
        let partner = place.get(&r[j]).and_then(|i| left.get(*i));
        overlay(schema, list.element, partner, &right[j])
    };
    let mut out = Vec::new();
    let mut emitted: BTreeSet<&Element> = BTreeSet::new();
    let (mut i, mut j) = (0, 0);
    while i < l.len() || j < r.len() {
        if i < l.len() && j < r.len() && l[i] == r[j] {
            out.push(merged(j));
            emitted.insert(&r[j]);
            i += 1;
            j += 1;
            next = shared.next();
            continue;
        }
        if i < l.len()
            && j < r.len()
            && applied.contains(&l[i])
            && next.is_some_and(|next| *next != l[i])
        {
            i += 1;
            continue;
        }
        if i < l.len() && !applied.contains(&l[i]) {
            out.push(left[i].clone());
            emitted.insert(&l[i]);
            i += 1;
            continue;
        }
        if i < l.len() && (emitted.contains(&l[i]) || j >= r.len()) {
            i += 1;
        }
        if j < r.len() {
            out.push(merged(j));
            emitted.insert(&r[j]);
            if next == Some(&r[j]) {
                next = shared.next();
            }
            j += 1;
        }
    }
    out
}

/// The value without the members of the set.
#[must_use]
pub fn remove(schema: &Schema, value: &Value, set: &FieldSet) -> Value {
    without(schema, schema.root(), value, set)
}

fn without(schema: &Schema, of: TypeRef, value: &Value, set: &FieldSet) -> Value {
    if set.is_empty() {
        return value.clone();
    }
    match (shape(schema, of, value), value) {
        (Shape::Map(map), Value::Object(all)) => {
            let mut out = Map::new();
            for (key, value) in all {
                match (set.field(key), child(map, key)) {
                    (Some(node), _) if node.member => {}
                    (Some(node), Some(of)) => {
                        out.insert(key.clone(), without(schema, of, value, &node.below));
                    }
                    _ => {
                        out.insert(key.clone(), value.clone());
                    }
                }
            }
            Value::Object(out)
        }
        (Shape::List(list), Value::Array(items)) => {
            let mut out = Vec::new();
            for (index, item) in items.iter().enumerate() {
                match set.get(&identified(schema, list, index, item)) {
                    Some(node) if node.member => {}
                    Some(node) => out.push(without(schema, list.element, item, &node.below)),
                    None => out.push(item.clone()),
                }
            }
            Value::Array(out)
        }
        _ => value.clone(),
    }
}

/// The set, and every declared field that has something below it.
#[must_use]
pub fn with_declared(schema: &Schema, set: &FieldSet) -> FieldSet {
    declared(schema, Some(schema.root()), set)
}

fn declared(schema: &Schema, of: Option<TypeRef>, set: &FieldSet) -> FieldSet {
    let mut out = FieldSet::default();
    for (element, node) in &set.nodes {
        let map = of.and_then(|of| schema.map(of)).map(|(map, _)| map);
        let (of, is_declared) = match element {
            Element::Field(name) => (
                map.and_then(|map| child(map, name)),
                map.is_some_and(|map| map.fields.contains_key(name)),
            ),
            _ => (of.and_then(|of| schema.list(of)).map(|(list, _)| list.element), false),
        };
        let member = node.member || (is_declared && !node.below.is_empty());
        let below = declared(schema, of, &node.below);
        out.nodes.push((element.clone(), Node { member, below }));
    }
    out
}

/// The set where containers that are atomic now stand for what was below them.
#[must_use]
pub fn reconcile(schema: &Schema, set: &FieldSet) -> FieldSet {
    folded(schema, schema.root(), set)
}

fn folded(schema: &Schema, of: TypeRef, set: &FieldSet) -> FieldSet {
    let mut out = FieldSet::default();
    for (element, node) in &set.nodes {
        let of = match element {
            Element::Field(name) => schema.map(of).and_then(|(map, _)| child(map, name)),
            _ => schema.list(of).map(|(list, _)| list.element),
        };
        let kept = match of {
            Some(of) if !node.below.is_empty() && !schema.at(of).deduced => {
                let by_field = matches!(node.below.nodes.first(), Some((Element::Field(_), _)));
                let atomic = match by_field {
                    true => schema.map(of).is_some_and(|(_, atomic)| atomic),
                    false => schema.list(of).is_some_and(|(_, atomic)| atomic),
                };
                if atomic {
                    Node { member: true, below: FieldSet::default() }
                } else {
                    Node { member: node.member, below: folded(schema, of, &node.below) }
                }
            }
            _ => node.clone(),
        };
        out.nodes.push((element.clone(), kept));
    }
    out
}
