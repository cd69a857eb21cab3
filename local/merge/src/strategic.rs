//! Strategic merge patch: lists merged by key, directives, orders.

use serde_json::{Map, Value};

use crate::Refused;
use crate::go;
use crate::json::without_nulls;
use crate::schema::{Field, Schema, TypeRef};

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

type Fields = Map<String, Value>;

/// Applies a strategic merge patch.
///
/// # Errors
/// 400, 422 or 500 with the text of the reference server.
pub fn patch(schema: &Schema, live: &Value, patch: &Value) -> Result<Value, Refused> {
    let (Value::Object(live), Value::Object(patch)) = (live, patch) else {
        return Err(Refused::new(
            400,
            format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                match patch {
                    Value::Array(_) => "array",
                    Value::String(_) => "string",
                    Value::Bool(_) => "bool",
                    Value::Number(_) | Value::Null | Value::Object(_) => "number",
                }
            ),
        ));
    };
    let mut patch = patch.clone();
    if patch.get(PATCH).is_none() {
        // Typed objects have no such fields.
        patch.shift_remove("apiVersion");
        patch.shift_remove("kind");
    }
    Ok(Value::Object(merge_map(schema, Some(schema.root()), live.clone(), patch)?))
}

fn merge_map(
    schema: &Schema,
    of: Option<TypeRef>,
    mut live: Fields,
    mut patch: Fields,
) -> Result<Fields, Refused> {
    if let Some(directive) = patch.get(PATCH).cloned() {
        return match directive.as_str() {
            Some("replace") => {
                patch.shift_remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(Refused::new(
                500,
                format!(
                    "unknown patch type: {} in map: {}",
                    go::plain(&directive),
                    go::plain(&Value::Object(patch))
                ),
            )),
        };
    }
    retain(&mut live, &mut patch)?;
    let ordered: Vec<String> =
        patch.keys().filter_map(|key| key.strip_prefix(ORDER)).map(str::to_owned).collect();
    for name in ordered {
        let order = patch.shift_remove(&format!("{ORDER}{name}")).unwrap_or_default();
        set_order(schema, of, &name, order, &mut live, &mut patch)?;
    }
    for (key, value) in patch {
        if let Some(name) = key.strip_prefix(DELETE_FROM) {
            let Value::Array(gone) = &value else {
                return Err(Refused::new(400, "invalid patch format of primitive list"));
            };
            if let Some(Value::Array(items)) = live.get_mut(name) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if value.is_null() {
            live.shift_remove(&key);
            continue;
        }
        match (live.get(&key), value) {
            (Some(Value::Object(there)), Value::Object(value)) => {
                let field = lookup(schema, of, &key)?;
                let merged = match field {
                    Some(field) if field.patch.replace => value,
                    field => merge_map(schema, field.map(|it| it.of), there.clone(), value)?,
                };
                live.insert(key, Value::Object(merged));
            }
            (Some(Value::Array(there)), Value::Array(value)) => {
                let field = lookup(schema, of, &key)?;
                let merged = match field {
                    Some(field) if field.patch.merge => {
                        let list = MergeList::of(schema, field, &key);
                        list.merge(there.clone(), value, None)?
                    }
                    _ => value,
                };
                live.insert(key, Value::Array(merged));
            }
            (_, value) => {
                // Nothing of this kind was there: directives vanish, nulls too.
                let mut value = value;
                if !discard(&mut value) {
                    live.shift_remove(&key);
                    continue;
                }
                live.insert(key, without_nulls(&value));
            }
        }
    }
    Ok(live)
}

// False: the whole value is a directive.
fn discard(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            if fields.contains_key(PATCH) {
                return false;
            }
            fields.retain(|key, it| {
                !key.starts_with(ORDER) && !key.starts_with(DELETE_FROM) && discard(it)
            });
            true
        }
        Value::Array(items) => {
            items.retain_mut(discard);
            true
        }
        _ => true,
    }
}

fn lookup<'a>(
    schema: &'a Schema,
    of: Option<TypeRef>,
    key: &str,
) -> Result<Option<&'a Field>, Refused> {
    let Some((map, _)) = of.and_then(|of| schema.map(of)) else { return Ok(None) };
    if let Some(field) = map.fields.get(key) {
        return Ok(Some(field));
    }
    if map.element.is_some() {
        return Err(Refused::new(
            500,
            "merging an object in json but data type is not struct, instead is: map",
        ));
    }
    Err(Refused::new(
        500,
        format!("unable to find api field in struct for the json field {}", go::quoted(key)),
    ))
}

fn retain(live: &mut Fields, patch: &mut Fields) -> Result<(), Refused> {
    let Some(keys) = patch.shift_remove(RETAIN) else { return Ok(()) };
    let bad = || Refused::new(400, "invalid patch format of retainKeys");
    let Value::Array(keys) = keys else { return Err(bad()) };
    let listed = |key: &str| keys.iter().any(|it| it.as_str() == Some(key));
    let unlisted = |(key, value): (&String, &Value)| {
        !value.is_null() && !key.starts_with(ORDER) && !key.starts_with(DELETE_FROM) && !listed(key)
    };
    if patch.iter().any(unlisted) {
        return Err(bad());
    }
    live.retain(|key, _| listed(key));
    Ok(())
}

fn set_order(
    schema: &Schema,
    of: Option<TypeRef>,
    name: &str,
    order: Value,
    live: &mut Fields,
    patch: &mut Fields,
) -> Result<(), Refused> {
    let Value::Array(order) = order else {
        return Err(Refused::new(400, "invalid patch format of setElementOrder list"));
    };
    let Some(field) = lookup(schema, of, name)? else { return Ok(()) };
    let list = MergeList::of(schema, field, name);
    let changes = match patch.shift_remove(name) {
        Some(Value::Array(changes)) => Some(changes),
        Some(other) => {
            patch.insert(name.to_owned(), other);
            return Ok(());
        }
        None => None,
    };
    if let Some(changes) = &changes {
        list.check_order(changes, &order)?;
    }
    let merged = match (live.get(name), changes) {
        (Some(Value::Array(there)), changes) => {
            let there = match patch.shift_remove(&format!("{DELETE_FROM}{name}")) {
                Some(Value::Array(gone)) => {
                    there.iter().filter(|it| !gone.contains(it)).cloned().collect()
                }
                _ => there.clone(),
            };
            list.merge(there, changes.unwrap_or_default(), Some(&order))?
        }
        (_, Some(mut changes)) => {
            changes.retain_mut(discard);
            let changes = changes.iter().map(without_nulls).collect();
            list.sorted(changes, &order, &[])
        }
        (_, None) => return Ok(()),
    };
    live.insert(name.to_owned(), Value::Array(merged));
    Ok(())
}

struct MergeList<'a> {
    schema: &'a Schema,
    element: Option<TypeRef>,
    key: Option<&'a str>,
    name: &'a str,
}

impl<'a> MergeList<'a> {
    fn of(schema: &'a Schema, field: &'a Field, name: &'a str) -> MergeList<'a> {
        let element = schema.list(field.of).map(|(list, _)| list.element);
        MergeList { schema, element, key: field.patch.key.as_deref(), name }
    }

    // What tells elements apart: the value of the key, or the value.
    fn id<'v>(&self, item: &'v Value) -> Option<&'v Value> {
        match item {
            Value::Object(fields) => fields.get(self.key?),
            other => Some(other),
        }
    }

    fn merge(
        &self,
        live: Vec<Value>,
        patch: Vec<Value>,
        order: Option<&[Value]>,
    ) -> Result<Vec<Value>, Refused> {
        if live.is_empty() && patch.is_empty() {
            return Ok(live);
        }
        let kind = |value: &Value| match value {
            Value::Object(_) => 0,
            Value::Array(_) => 1,
            _ => 2,
        };
        let mut kinds = live.iter().chain(&patch).map(kind);
        let first = kinds.next().unwrap_or(2);
        if first == 1 {
            return Err(Refused::generic());
        }
        if kinds.any(|it| it != first) {
            return Err(Refused::new(
                500,
                format!(
                    "list element types are not identical: {}",
                    go::plain(&Value::Array(patch))
                ),
            ));
        }
        if first == 2 {
            let mut all: Vec<Value> = Vec::new();
            for item in live.iter().chain(&patch) {
                if !all.contains(item) {
                    all.push(item.clone());
                }
            }
            return Ok(self.sorted(all, order.unwrap_or(&patch), &live));
        }
        let Some(key) = self.key else {
            return Err(Refused::new(
                500,
                format!("cannot merge lists without merge key for {}", self.name),
            ));
        };
        let mut out = live.clone();
        let mut rest: Vec<Fields> = Vec::new();
        let mut replace = false;
        for item in patch {
            let Value::Object(fields) = item else { continue };
            match fields.get(PATCH).map(|it| it.as_str().unwrap_or_default()) {
                None => rest.push(fields),
                Some("replace") => replace = true,
                Some("delete") => {
                    let gone = fields.get(key).ok_or_else(|| no_key(&fields, key))?;
                    out.retain(|it| self.id(it) != Some(gone));
                }
                Some("merge") => {
                    return Err(Refused::new(
                        500,
                        "merging lists cannot yet be specified in the patch",
                    ));
                }
                Some(other) => {
                    return Err(Refused::new(
                        500,
                        format!(
                            "unknown patch type: {other} in map: {}",
                            go::plain(&Value::Object(fields.clone()))
                        ),
                    ));
                }
            }
        }
        let rest_values: Vec<Value> = rest.iter().cloned().map(Value::Object).collect();
        if replace {
            return Ok(rest_values);
        }
        for fields in rest {
            let wanted = fields.get(key).ok_or_else(|| no_key(&fields, key))?.clone();
            match out.iter_mut().find(|it| self.id(it) == Some(&wanted)) {
                Some(Value::Object(there)) => {
                    *there = merge_map(self.schema, self.element, std::mem::take(there), fields)?;
                }
                _ => {
                    let mut value = Value::Object(fields);
                    if discard(&mut value) {
                        out.push(without_nulls(&value));
                    }
                }
            }
        }
        Ok(self.sorted(out, order.unwrap_or(&rest_values), &live))
    }

    fn sorted(&self, merged: Vec<Value>, order: &[Value], live: &[Value]) -> Vec<Value> {
        let place =
            |list: &[Value], item: &Value| list.iter().position(|it| self.id(it) == self.id(item));
        let (mut given, mut own): (Vec<Value>, Vec<Value>) =
            merged.into_iter().partition(|item| place(order, item).is_some());
        given.sort_by_key(|item| place(order, item));
        own.sort_by_key(|item| place(live, item));
        let mut out = Vec::with_capacity(given.len() + own.len());
        let mut given = given.into_iter().peekable();
        let mut own = own.into_iter().peekable();
        while let (Some(p), Some(s)) = (given.peek(), own.peek()) {
            let own_first = matches!((place(live, s), place(live, p)), (Some(s), Some(p)) if s < p);
            out.extend(if own_first { own.next() } else { given.next() });
        }
        out.extend(given);
        out.extend(own);
        out
    }

    // What is given must come in the order that is given.
    fn check_order(&self, changes: &[Value], order: &[Value]) -> Result<(), Refused> {
        if changes.is_empty() || order.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        for change in changes.iter().filter(|it| it.get(PATCH).is_none()) {
            let found = order.iter().skip(at).position(|it| self.id(it) == self.id(change));
            let Some(found) = found else {
                let text =
                    |list: &[Value]| list.iter().map(go::plain).collect::<Vec<_>>().join(" ");
                return Err(Refused::new(
                    500,
                    format!(
                        "The order in patch list:\n[{}]\n doesn't match $setElementOrder list:\n[{}]\n",
                        text(changes),
                        text(order)
                    ),
                ));
            };
            at += found + 1;
        }
        Ok(())
    }
}

fn no_key(fields: &Fields, key: &str) -> Refused {
    let shown = go::plain(&Value::Object(fields.clone()));
    Refused::new(500, format!("map: {shown} does not contain declared merge key: {key}"))
}
