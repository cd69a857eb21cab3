//! OpenAPI v3 schema of a value: what a `parameter` takes.

use cue_eval::builtin::{Datum, Kinds};
use cue_eval::heap::VertexId;
use cue_eval::openapi::words::{description, type_name};
use cue_eval::{Evaluation, LabelKind, Presence, evaluation};
use serde_json::{Map, Value, json};

/// Deepest member that is described.
const DEPTH: u32 = 40;

/// The schema of a value.
pub(crate) fn of(it: &mut Evaluation, id: VertexId) -> Value {
    schema(it, id, 0)
}

fn data(it: &mut Evaluation, id: VertexId) -> Option<Value> {
    let datum: Datum = it.datum(id).ok()?;
    serde_json::from_str(&evaluation::print_json(&datum)).ok()
}

fn schema(it: &mut Evaluation, id: VertexId, depth: u32) -> Value {
    if depth > DEPTH {
        return json!({});
    }
    if let Some(alternatives) = it.alternatives(id) {
        return choice(it, id, &alternatives, depth);
    }
    let (kinds, concrete) = it.kinds(id);
    if kinds == Kinds::STRUCT {
        return object(it, id, depth);
    }
    if kinds == Kinds::LIST {
        let items = match it.members(id).and_then(|all| all.into_iter().next()) {
            Some((_, first)) => schema(it, first, depth + 1),
            None => {
                it.element(id).map_or_else(|| json!({}), |element| schema(it, element, depth + 1))
            }
        };
        return json!({"type": "array", "items": items});
    }
    let mut out = Map::new();
    let nullable = kinds.meets(Kinds::NULL) && kinds != Kinds::NULL && kinds != Kinds::ANY;
    let kinds = if nullable { kinds.without(Kinds::NULL) } else { kinds };
    if let Some(name) = type_name(kinds) {
        out.insert("type".into(), name.into());
        if nullable {
            out.insert("nullable".into(), true.into());
        }
    }
    if concrete {
        if let Some(value) = data(it, id) {
            out.insert("enum".into(), json!([value]));
        }
    }
    for (operator, limit) in it.bounds(id) {
        let Ok(limit) = serde_json::from_str::<Value>(&evaluation::print_json(&limit)) else {
            continue;
        };
        let (key, exclusive) = match operator {
            ">=" => ("minimum", None),
            ">" => ("minimum", Some("exclusiveMinimum")),
            "<=" => ("maximum", None),
            "<" => ("maximum", Some("exclusiveMaximum")),
            "=~" => ("pattern", None),
            _ => continue,
        };
        out.insert(key.into(), limit);
        if key == "pattern" {
            out.entry("type").or_insert_with(|| "string".into());
        }
        if let Some(exclusive) = exclusive {
            out.insert(exclusive.into(), true.into());
        }
    }
    Value::Object(out)
}

/// Alternatives: literals are an enum, one type says it all, structs share their properties.
fn choice(
    it: &mut Evaluation,
    id: VertexId,
    alternatives: &[(VertexId, bool)],
    depth: u32,
) -> Value {
    let default = it.default(id).and_then(|it_default| data(it, it_default));
    let mut literals = Vec::new();
    let mut nullable = false;
    let mut types: Vec<VertexId> = Vec::new();
    let mut kinds_of_all = Vec::new();
    for (alternative, preferred) in alternatives {
        let (kinds, concrete) = it.kinds(*alternative);
        if kinds == Kinds::NULL {
            nullable = true;
            continue;
        }
        kinds_of_all.push(kinds);
        if concrete && kinds != Kinds::STRUCT && kinds != Kinds::LIST {
            literals.extend(data(it, *alternative).map(|value| (value, *preferred)));
        } else if !(*preferred && kinds == Kinds::LIST) {
            types.push(*alternative);
        }
    }
    let name =
        kinds_of_all.iter().map(|it| type_name(*it)).reduce(|a, b| if a == b { a } else { None });
    let name = name.flatten();
    // A default that another alternative allows too is none of its own.
    if let Some(default) = it.default(id)
        && types.iter().any(|one| it.subsumes(*one, default).is_empty())
    {
        literals.retain(|it| !it.1);
    }
    let mut out = match types.as_slice() {
        [] => {
            let mut out = Map::new();
            let name = type_name(it.kinds(id).0).or(name);
            if let Some(name) = name {
                out.insert("type".into(), name.into());
            }
            if !literals.is_empty() {
                let values: Vec<Value> = literals.into_iter().map(|it| it.0).collect();
                out.insert("enum".into(), values.into());
            }
            out
        }
        [one] if literals.is_empty() => {
            schema(it, *one, depth + 1).as_object().cloned().unwrap_or_default()
        }
        _ => several(it, &types, &literals, name, depth),
    };
    if nullable && out.contains_key("type") {
        out.insert("nullable".into(), true.into());
    }
    if let Some(default) = default.filter(|it| *it != json!([]) && !it.is_null()) {
        out.insert("default".into(), default);
    }
    Value::Object(out)
}

/// `oneOf`. What all alternatives are stands outside; structs differ in what they require.
fn several(
    it: &mut Evaluation,
    types: &[VertexId],
    literals: &[(Value, bool)],
    name: Option<&'static str>,
    depth: u32,
) -> Map<String, Value> {
    let mut all = Vec::new();
    let mut shared = Map::new();
    if !literals.is_empty() {
        let values: Vec<&Value> = literals.iter().map(|it| &it.0).collect();
        all.push(json!({ "enum": values }));
    }
    for one in types {
        let mut one = schema(it, *one, depth + 1);
        if let Value::Object(map) = &mut one {
            map.shift_remove("type");
            if name == Some("object") {
                if let Some(Value::Object(properties)) = map.shift_remove("properties") {
                    for (label, property) in properties {
                        shared.entry(label).or_insert(property);
                    }
                }
            }
        }
        all.push(one);
    }
    let mut out = Map::new();
    out.insert("oneOf".into(), all.into());
    if !shared.is_empty() {
        out.insert("properties".into(), Value::Object(shared));
    }
    if let Some(name) = name {
        out.insert("type".into(), name.into());
    }
    out
}

fn object(it: &mut Evaluation, id: VertexId, depth: u32) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (member, vertex) in it.members(id).unwrap_or_default() {
        if member.label_kind != LabelKind::Regular {
            continue;
        }
        let mut inner = schema(it, vertex, depth + 1);
        let docs = description([(&*member.docs, &*member.breaks)]);
        if let Some(map) = inner.as_object_mut().filter(|_| !docs.is_empty()) {
            map.insert("description".into(), docs.into());
        }
        if member.presence != Presence::Optional {
            required.push(Value::from(member.label.clone()));
        }
        properties.insert(member.label, inner);
    }
    let mut out = Map::new();
    out.insert("type".into(), "object".into());
    if !required.is_empty() {
        out.insert("required".into(), required.into());
    }
    if !properties.is_empty() {
        out.insert("properties".into(), Value::Object(properties));
    }
    if let Some(pattern) = it.pattern(id) {
        out.insert("additionalProperties".into(), schema(it, pattern, depth + 1));
    } else if it.is_open_struct(id) {
        out.insert("additionalProperties".into(), json!({}));
    }
    Value::Object(out)
}
