//! Names of revisions: hashes of templates as Kubernetes makes them, and the ControllerRevisions that keep templates.

mod print; // a template as Go prints its struct
mod quantity; // a quantity as Go prints its struct

use local_merge::go;
use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{SAFE, controlled_by, deleting, name, number, reference, set, text};

pub(crate) const LABEL: &str = "controller-revision-hash";
/// The longest name before a hash.
const MOST_NAME: usize = 223;
/// How often another name is tried when one is taken.
const TRIES: usize = 10;

/// FNV of 32 bits in its two ways.
#[derive(Clone, Copy)]
enum Fnv {
    MultiplyFirst,
    MultiplyLast,
}

fn fnv(way: Fnv, parts: &[&[u8]]) -> String {
    const PRIME: u32 = 16_777_619;
    let mut hash = 2_166_136_261u32;
    for byte in parts.iter().copied().flatten() {
        hash = match way {
            Fnv::MultiplyFirst => hash.wrapping_mul(PRIME) ^ u32::from(*byte),
            Fnv::MultiplyLast => (hash ^ u32::from(*byte)).wrapping_mul(PRIME),
        };
    }
    // In letters that make no words.
    let letter = |byte: u8| SAFE.get(usize::from(byte) % SAFE.len()).map(|it| char::from(*it));
    hash.to_string().bytes().filter_map(letter).collect()
}

/// The hash of a pod template: `pod-template-hash`, and a DaemonSet's `controller-revision-hash`. `collisions` is the
/// status' `collisionCount`, if it has one.
pub(crate) fn hash(template: &Value, collisions: Option<i64>) -> String {
    let text = print::template(template);
    let mut count = [0u8; 8];
    let Some(collisions) = collisions else { return fnv(Fnv::MultiplyLast, &[text.as_bytes()]) };
    let low = u32::try_from(collisions).unwrap_or_default().to_le_bytes();
    count.iter_mut().zip(low).for_each(|(to, from)| *to = from);
    fnv(Fnv::MultiplyLast, &[text.as_bytes(), &count])
}

// What a ControllerRevision keeps: a patch that brings the template back.
fn data(object: &Value) -> Value {
    let mut template = object["spec"]["template"].clone();
    set(&mut template, &["$patch"], json!("replace"));
    json!({"spec": {"template": template}})
}

// JSON as Go writes maps: keys in order, with what browsers mistake escaped, numbers as floats.
fn go_json(out: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (at, (key, value)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&go::json(&Value::from(key.as_str())));
                out.push(':');
                go_json(out, value);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, value) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                go_json(out, value);
            }
            out.push(']');
        }
        Value::String(_) => out.push_str(&go::json(value)),
        Value::Number(number) => match number.as_f64() {
            Some(float) => out.push_str(&float.to_string()),
            None => out.push_str(&number.to_string()),
        },
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
    }
}

/// The hash of what a StatefulSet's ControllerRevision keeps.
fn data_hash(data: &Value, collisions: i64) -> String {
    let mut text = String::new();
    go_json(&mut text, data);
    fnv(Fnv::MultiplyFirst, &[text.as_bytes(), collisions.to_string().as_bytes()])
}

/// The revision of a template that stands.
pub(crate) struct Revision {
    pub(crate) name: String,
    pub(crate) hash: String,
    /// For the status.
    pub(crate) collisions: i64,
}

fn recorded(cx: &Cx<'_>, id: &Id, object: &Value) -> Vec<Value> {
    let mut all = cx.cluster.list("apps", "controllerrevisions", &id.namespace);
    all.retain(|it| controlled_by(it, object));
    all.sort_by_cached_key(|it| {
        (
            number(it, "/revision"),
            text(it, "/metadata/creationTimestamp").to_owned(),
            name(it).to_owned(),
        )
    });
    all
}

/// The revision of a StatefulSet's or DaemonSet's template; it is written down unless the object is being
/// deleted.
pub(crate) fn record(cx: &Cx<'_>, id: &Id, kind: &str, object: &Value) -> Revision {
    let keep = !deleting(object);
    let data = data(object);
    let collisions = object.pointer("/status/collisionCount").and_then(Value::as_i64);
    let hashed = |collisions: Option<i64>| match kind {
        "StatefulSet" => data_hash(&data, collisions.unwrap_or_default()),
        _ => hash(&object["spec"]["template"], collisions),
    };
    let prefix: String = id.name.chars().take(MOST_NAME).collect();
    let all = recorded(cx, id, object);
    let next = all.last().map_or(0, |it| number(it, "/revision")) + 1;
    let stands = |it: &Value, collisions: Option<i64>| Revision {
        name: name(it).to_owned(),
        hash: it["metadata"]["labels"][LABEL].as_str().unwrap_or_default().to_owned(),
        collisions: collisions.unwrap_or_default(),
    };
    if let Some(known) = all.iter().rfind(|it| it["data"] == data) {
        if keep && number(known, "/revision") + 1 != next {
            let at = id.beside("apps", "controllerrevisions", name(known));
            let _gone = cx.cluster.modify(&at, Part::Main, &mut |it| {
                set(it, &["revision"], json!(next));
            });
        }
        return stands(known, collisions);
    }
    let first = hashed(collisions);
    let mut tried = collisions;
    for _ in 0..TRIES {
        let named = format!("{prefix}-{}", hashed(tried));
        let mut body = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision",
            "metadata": {"name": named, "namespace": id.namespace,
                "labels": object["spec"]["template"]["metadata"]["labels"],
                "annotations": object["metadata"]["annotations"],
                "ownerReferences": [reference("apps/v1", kind, object)]},
            "data": data, "revision": next});
        let label = if kind == "StatefulSet" { first.clone() } else { hashed(tried) };
        set(&mut body, &["metadata", "labels", LABEL], json!(label));
        let at = id.beside("apps", "controllerrevisions", &named);
        if !keep {
            return stands(&body, tried);
        }
        match cx.cluster.create(&at, body.clone()) {
            Err(error) if error.code == 409 => {
                if let Some(there) = cx.cluster.get(&at).filter(|it| it["data"] == data) {
                    return stands(&there, tried);
                }
                tried = Some(tried.unwrap_or_default() + 1);
            }
            Err(error) => {
                tracing::debug!(?id, %error, "writing a revision down");
                return stands(&body, tried);
            }
            Ok(_) => return stands(&body, tried),
        }
    }
    Revision {
        name: format!("{prefix}-{first}"),
        hash: first,
        collisions: tried.unwrap_or_default(),
    }
}

/// Removes the oldest revisions that no pod has, beyond what the object wants kept.
pub(crate) fn forget(cx: &Cx<'_>, id: &Id, object: &Value, live: &dyn Fn(&Value) -> bool) {
    let limit = object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    let Ok(limit) = usize::try_from(limit) else { return };
    let mut old = recorded(cx, id, object);
    old.retain(|it| !live(it));
    let many = old.len().saturating_sub(limit);
    for it in old.into_iter().take(many) {
        let at = id.beside("apps", "controllerrevisions", name(&it));
        let _gone = cx.cluster.delete(&at, &Deletion::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A template a line, with the hashes that Kubernetes 1.36 gives it: alone, with three collisions, and as the data of
    // a StatefulSet's revision.
    #[test]
    fn hashes_are_those_of_kubernetes() {
        let cases = include_str!("hashes.txt");
        let mut played = 0;
        for line in cases.lines() {
            let mut parts = line.splitn(4, ' ');
            let mut next = || parts.next().unwrap_or_default();
            let (alone, three, kept) = (next(), next(), next());
            let template: Value =
                serde_json::from_str(next()).unwrap_or_else(|it| panic!("{it}: {line}"));
            let object = json!({"spec": {"template": template}});
            let found =
                (hash(&template, None), hash(&template, Some(3)), data_hash(&data(&object), 0));
            assert_eq!(found, (alone.into(), three.into(), kept.into()), "{line}");
            played += 1;
        }
        assert!(played > 20);
    }
}
