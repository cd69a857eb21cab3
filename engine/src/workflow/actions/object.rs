//! Objects of a cluster: apply, patch, read, list, delete.

use serde_json::{Map, Value, json};

use super::{Acting, Asked, Done, Host, Trouble, explain, patching, selector};
use crate::world::{Error, ObjectRef, PatchKind, World};

/// The object an action is about: `value`, the design's `resource` (an object or YAML), or the flat
/// `apiVersion`, `kind`, `namespace`, `name` (W-30, W-68, W-69).
fn object(asked: &Asked<'_>) -> Result<Value, Trouble> {
    let params = &asked.params;
    if params["value"].is_object() {
        return Ok(params["value"].clone());
    }
    match &params["resource"] {
        Value::String(text) => {
            let read = serde_yaml::from_str::<Value>(text);
            return read.map_err(|error| format!("resource is no YAML: {error}"));
        }
        object @ Value::Object(_) => return Ok(object.clone()),
        Value::Null => {}
        other => return Err(format!("resource must be an object or its text, not {other}")),
    }
    if params["kind"].is_string() {
        let mut meta = Map::new();
        for key in ["name", "namespace"] {
            if params[key].is_string() {
                meta.insert(key.into(), params[key].clone());
            }
        }
        return Ok(json!({
            "apiVersion": params["apiVersion"], "kind": params["kind"], "metadata": meta,
        }));
    }
    Err("no object is given: value".into())
}

/// Puts an object without a namespace into the owner's (kubevela-observed.md 28).
pub(super) async fn at_home(
    object: &mut Value,
    cluster: &str,
    with: &mut Acting<'_>,
) -> Result<(), Trouble> {
    at_home_of(object, cluster, with.world, with.host).await
}

async fn at_home_of(
    object: &mut Value,
    cluster: &str,
    world: &dyn World,
    host: &dyn Host,
) -> Result<(), Trouble> {
    let (api_version, kind) = (of(object, "apiVersion"), of(object, "kind"));
    if kind.is_empty() || api_version.is_empty() {
        return Err("an object needs apiVersion and kind".into());
    }
    let absent = object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty();
    if absent && world.is_namespaced(&api_version, &kind, cluster).await.map_err(explain)? {
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        object["metadata"]["namespace"] = host.namespace().into();
    }
    Ok(())
}

/// What [`apply`] is going to apply, if that is known without looking.
pub(super) async fn intended(
    asked: &Asked<'_>,
    world: &dyn World,
    host: &dyn Host,
) -> Option<(Value, String)> {
    let mut object = object(asked).ok().filter(|_| !asked.params["patch"].is_object())?;
    let cluster = asked.text("cluster");
    at_home_of(&mut object, cluster, world, host).await.ok()?;
    Some((object, cluster.to_owned()))
}

fn of(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}

pub(super) async fn apply(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let mut object = object(asked)?;
    if asked.params["patch"].is_object() {
        object = patching::lay_over(asked, with, &object)?;
    }
    at_home(&mut object, asked.text("cluster"), with).await?;
    let applied = with.host.dispatch(vec![object], asked.text("cluster")).await;
    let live = applied.map_err(explain)?.into_iter().next().unwrap_or_default();
    Ok(Done::Returns(shown(asked, live)))
}

/// What the template sees of a live object: `value`; in the flat form also its fields beside the
/// action (W-31).
fn shown(asked: &Asked<'_>, live: Value) -> Value {
    if !asked.flat {
        return json!({"value": live});
    }
    let mut all = Map::new();
    for (key, value) in live.as_object().into_iter().flatten() {
        if asked.params.get(key).is_none()
            && !["cluster", "err", "resource", "patch"].contains(&key.as_str())
        {
            all.insert(key.clone(), value.clone());
        }
    }
    // Results of this form lie on the parameters: what the server wrote differently stays as given.
    let value = match asked.params.get("value") {
        Some(given) => agreeing(given, live),
        None => live,
    };
    all.insert("value".into(), value);
    Value::Object(all)
}

/// `live`, except where `given` says otherwise.
pub(super) fn agreeing(given: &Value, live: Value) -> Value {
    match (given, live) {
        (Value::Object(given), Value::Object(mut live)) => {
            for (key, value) in given {
                let seen = live.remove(key).unwrap_or(Value::Null);
                live.insert(key.clone(), agreeing(value, seen));
            }
            Value::Object(live)
        }
        (Value::Array(given), Value::Array(live)) if given.len() == live.len() => Value::Array(
            given.iter().zip(live).map(|(given, live)| agreeing(given, live)).collect(),
        ),
        (given, _) => given.clone(),
    }
}

pub(super) async fn apply_in_parallel(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Done, Trouble> {
    let mut objects = asked.params["value"].as_array().cloned().unwrap_or_default();
    for object in &mut objects {
        at_home(object, asked.text("cluster"), with).await?;
    }
    let live = with.host.dispatch(objects, asked.text("cluster")).await.map_err(explain)?;
    let live = match asked.params.get("value") {
        Some(given) if asked.flat => agreeing(given, Value::Array(live)),
        _ => Value::Array(live),
    };
    Ok(Done::Returns(json!({"value": live})))
}

/// Changes an object that is there. One of the owner's own is recorded as it is afterwards, or drift
/// correction would take the change back; of any other only the difference is sent.
pub(super) async fn patch(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let mut object = object(asked)?;
    at_home(&mut object, asked.text("cluster"), with).await?;
    let at = ObjectRef::of(&object, asked.text("cluster"));
    let live = with.world.get(&at).await.map_err(explain)?.ok_or_else(|| not_found(&at))?;
    if let Some(manifest) = with.host.recorded(&at) {
        let changed = patching::lay_over(asked, with, &manifest)?;
        let applied = with.host.dispatch(vec![changed], &at.cluster).await.map_err(explain)?;
        return Ok(Done::Returns(json!({"result": applied.into_iter().next()})));
    }
    let mut known = live.clone();
    if let Some(meta) = known["metadata"].as_object_mut() {
        meta.remove("managedFields");
    }
    let changed = patching::lay_over(asked, with, &known)?;
    let Some(mut difference) = patching::difference(&known, &changed) else {
        return Ok(Done::Returns(json!({"result": live})));
    };
    // Computed from this version: if somebody was faster, it is computed again.
    difference["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    let patched = with.world.patch(&at, PatchKind::Merge, &difference).await.map_err(explain)?;
    Ok(Done::Returns(json!({"result": patched})))
}

/// Reads one object; that it is not there shows in `err`.
pub(super) async fn read(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let mut object = object(asked)?;
    at_home(&mut object, asked.text("cluster"), with).await?;
    let at = ObjectRef::of(&object, asked.text("cluster"));
    match with.world.get(&at).await {
        Ok(Some(live)) => Ok(Done::Returns(shown(asked, live))),
        Ok(None) => Ok(Done::Returns(json!({"err": not_found(&at)}))),
        Err(error @ Error::Unavailable(_)) => Err(error.to_string()),
        Err(error) => Ok(Done::Returns(json!({"err": error.to_string()}))),
    }
}

pub(super) async fn list(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    // The official schema says `resource`, the official engine reads `value`.
    let resource = match &asked.params["resource"] {
        Value::Null => &asked.params["value"],
        resource => resource,
    };
    let filter = &asked.params["filter"];
    let kind = of(resource, "kind");
    let wanted = ObjectRef {
        cluster: asked.text("cluster").into(),
        api_version: of(resource, "apiVersion"),
        namespace: of(filter, "namespace"),
        kind: kind.clone(),
        name: String::new(),
    };
    let key = if asked.flat { "list" } else { "values" };
    match with.world.list(&wanted, &selector(&filter["matchingLabels"])).await {
        Ok(items) => Ok(Done::Returns(json!({key: {
            "apiVersion": wanted.api_version, "kind": format!("{kind}List"), "items": items,
        }}))),
        Err(error @ Error::Unavailable(_)) => Err(error.to_string()),
        Err(error) => Ok(Done::Returns(json!({"err": error.to_string()}))),
    }
}

/// Deletes one object, or all that a filter selects.
pub(super) async fn delete(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let mut object = object(asked)?;
    at_home(&mut object, asked.text("cluster"), with).await?;
    let at = ObjectRef::of(&object, asked.text("cluster"));
    let filter = &asked.params["filter"];
    let mut doomed = Vec::new();
    if filter.is_object() {
        let namespace = match filter["namespace"].as_str() {
            Some(namespace) if !namespace.is_empty() => namespace.to_owned(),
            _ => at.namespace.clone(),
        };
        let wanted = ObjectRef { namespace, name: String::new(), ..at };
        let found = with.world.list(&wanted, &selector(&filter["matchingLabels"])).await;
        for live in found.map_err(explain)? {
            // What a list shows does not repeat its kind.
            let own = ObjectRef::of(&live, &wanted.cluster);
            doomed.push(ObjectRef { namespace: own.namespace, name: own.name, ..wanted.clone() });
        }
    } else if at.name.is_empty() {
        return Err("a name or a filter must say what is deleted".into());
    } else {
        doomed.push(at);
    }
    for at in &doomed {
        with.host.forget(at).await.map_err(explain)?;
        match with.world.delete(at).await {
            Ok(()) | Err(Error::NotFound(_)) => {}
            Err(error @ Error::Unavailable(_)) => return Err(error.to_string()),
            Err(error) => return Ok(Done::Returns(json!({"err": error.to_string()}))),
        }
    }
    Ok(Done::Returns(json!({})))
}

/// As the API server says it.
pub(super) fn not_found(at: &ObjectRef) -> String {
    let group = at.api_version.split_once('/').map_or("", |it| it.0);
    let kind = at.kind.to_lowercase();
    let plural = if kind.ends_with("endpoints") {
        kind
    } else if kind.ends_with(['s', 'x', 'z']) || kind.ends_with("ch") || kind.ends_with("sh") {
        format!("{kind}es")
    } else if let Some(stem) =
        kind.strip_suffix('y').filter(|it| !it.ends_with(['a', 'e', 'o', 'u']))
    {
        format!("{stem}ies")
    } else {
        format!("{kind}s")
    };
    let dot = if group.is_empty() { "" } else { "." };
    format!("{plural}{dot}{group} {:?} not found", at.name)
}
