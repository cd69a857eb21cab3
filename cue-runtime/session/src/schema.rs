//! OpenAPI v3 schema of a value: what a `parameter` takes.

use cue_eval::builtin::{Datum, Kinds};
use cue_eval::heap::VertexId;
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
    if let Some(name) = type_name(kinds) {
        out.insert("type".into(), name.into());
    }
    if concrete {
        if let Some(value) = data(it, id) {
            out.insert("enum".into(), json!([value]));
        }
    }
    Value::Object(out)
}

fn choice(
    it: &mut Evaluation,
    id: VertexId,
    alternatives: &[(VertexId, bool)],
    depth: u32,
) -> Value {
    let default = it.default(id).and_then(|it_default| data(it, it_default));
    let mut values = Vec::new();
    let mut open: Option<VertexId> = None;
    for (alternative, _) in alternatives {
        let (kinds, concrete) = it.kinds(*alternative);
        if concrete && kinds != Kinds::STRUCT && kinds != Kinds::LIST {
            values.extend(data(it, *alternative));
        } else {
            open = Some(*alternative);
        }
    }
    let mut out = match (open, values.is_empty()) {
        // `*1 | int`: the type says it all.
        (Some(open), false) => schema(it, open, depth + 1),
        (Some(_), true) => {
            let all: Vec<Value> =
                alternatives.iter().map(|one| schema(it, one.0, depth + 1)).collect();
            json!({"oneOf": all})
        }
        (None, _) => {
            let (kinds, _) = it.kinds(id);
            let mut out = Map::new();
            if let Some(name) = type_name(kinds) {
                out.insert("type".into(), name.into());
            }
            out.insert("enum".into(), values.into());
            Value::Object(out)
        }
    };
    if let (Some(default), Some(map)) = (default, out.as_object_mut()) {
        map.insert("default".into(), default);
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
        let usage = member.docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        if let Some(map) = inner.as_object_mut() {
            map.insert("title".into(), member.label.clone().into());
            if !usage.is_empty() {
                map.insert("description".into(), usage.into());
            }
        }
        let given = inner.get("default").is_some();
        if member.presence != Presence::Optional
            && (member.presence == Presence::Required || !given)
        {
            required.push(Value::from(member.label.clone()));
        } else if member.presence == Presence::Member {
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
    Value::Object(out)
}

fn type_name(kinds: Kinds) -> Option<&'static str> {
    match kinds {
        Kinds::BOOL => Some("boolean"),
        Kinds::INT => Some("integer"),
        Kinds::NUMBER | Kinds::FLOAT => Some("number"),
        Kinds::STRING | Kinds::BYTES => Some("string"),
        Kinds::LIST => Some("array"),
        Kinds::STRUCT => Some("object"),
        _ => None,
    }
}
