//! Objects that `ref-objects` components take from the cluster, or from an address (E-72).

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::Engine;
use crate::api::names::annotation;
use crate::api::{Application, Component, object};
use crate::world::{Error, HttpRequest, ObjectRef, is_resource};

/// The component type.
const TYPE: &str = "ref-objects";

/// Reads what the components refer to, in order; what the API server adds is taken out.
pub(super) async fn read(engine: &Engine<'_>, app: &Application) -> Result<Vec<Vec<Value>>, Error> {
    let mut all = Vec::new();
    for component in &app.spec.components {
        let mut objects = Vec::new();
        if component.r#type == TYPE {
            for wanted in selectors(component) {
                objects.extend(found(engine, app, &component.name, &wanted).await?);
            }
            for url in urls(component) {
                objects.extend(behind(engine, &url).await?);
            }
        }
        all.push(objects);
    }
    Ok(all)
}

/// All objects as a revision keeps them: each once, sorted.
pub(super) fn kept(all: &[Vec<Value>]) -> Vec<Value> {
    let key = |it: &Value| {
        let at = ObjectRef::of(it, "");
        format!("{}, Kind={}|{}/{}", at.api_version, at.kind, at.namespace, at.name)
    };
    let mut kept: Vec<Value> = all.iter().flatten().cloned().collect();
    kept.sort_by_cached_key(key);
    kept.dedup_by_key(|it| key(it));
    kept
}

/// What the components refer to, out of what a revision keeps.
pub(super) fn of_revision(app: &Application, kept: &[Value]) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for component in &app.spec.components {
        let mut objects = Vec::new();
        if component.r#type == TYPE {
            let selectors = selectors(component);
            let named =
                |it: &&Value| selectors.iter().any(|wanted| fits(app, component, wanted, it));
            objects.extend(kept.iter().filter(named).cloned());
            if objects.is_empty() && !urls(component).is_empty() {
                objects.extend(kept.iter().cloned());
            }
        }
        all.push(objects);
    }
    all
}

/// Whether a selector is for an object.
fn fits(app: &Application, component: &Component, wanted: &Value, it: &Value) -> bool {
    let text = |key: &str| wanted[key].as_str().unwrap_or_default();
    let at = ObjectRef::of(it, "");
    let of_kind = match text("kind") {
        "" => is_resource(&at.kind, text("resource")),
        kind => at.kind == kind,
    };
    let namespace = match text("namespace") {
        "" => app.namespace(),
        given => given,
    };
    let labels = wanted["labelSelector"].as_object().filter(|it| !it.is_empty());
    let chosen = match (text("name"), labels) {
        ("", Some(labels)) => {
            labels.iter().all(|(key, value)| object::label(it, key) == value.as_str())
        }
        ("", None) => at.name == component.name,
        (name, _) => at.name == name,
    };
    of_kind && chosen && (at.namespace.is_empty() || at.namespace == namespace)
}

/// The components render what was read.
pub(super) fn give(app: &mut Application, all: Vec<Vec<Value>>) {
    for (component, objects) in app.spec.components.iter_mut().zip(all) {
        if component.r#type == TYPE {
            component.properties = Some(json!({"objects": objects}));
        }
    }
}

fn selectors(component: &Component) -> Vec<Value> {
    let properties = component.properties.as_ref();
    let all = properties.and_then(|it| it["objects"].as_array());
    all.cloned().unwrap_or_default()
}

fn urls(component: &Component) -> Vec<String> {
    let all = component.properties.as_ref().and_then(|it| it["urls"].as_array());
    all.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// The objects one selector is for.
async fn found(
    engine: &Engine<'_>,
    app: &Application,
    component: &str,
    wanted: &Value,
) -> Result<Vec<Value>, Error> {
    let text = |key: &str| wanted[key].as_str().unwrap_or_default();
    let (api_version, kind) = if text("kind").is_empty() {
        let (group, resource, cluster) = (text("group"), text("resource"), text("cluster"));
        engine.objects.kind_of(group, resource, cluster).await?.ok_or_else(|| {
            Error::Invalid(format!("failed to load ref object: no resource {resource:?} is known"))
        })?
    } else {
        (text("apiVersion").to_owned(), text("kind").to_owned())
    };
    let namespace = match text("namespace") {
        "" if engine.objects.is_namespaced(&api_version, &kind, text("cluster")).await? => {
            app.namespace()
        }
        given => given,
    };
    if !engine.settings.admission.cross_namespace && namespace != app.namespace() {
        return Err(Error::Forbidden(format!(
            "cross namespace is forbidden: {kind} of namespace {namespace:?}"
        )));
    }
    let mut at = ObjectRef::local(&api_version, &kind, namespace, text("name"));
    at.cluster = text("cluster").to_owned();
    let labels = wanted["labelSelector"].as_object().filter(|it| !it.is_empty());
    if let Some(labels) = labels.filter(|_| at.name.is_empty()) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        let mut found = engine.objects.list(&at, &labels.join(",")).await?;
        for it in &mut found {
            object::map_mut(it, &[]).insert("apiVersion".into(), api_version.as_str().into());
            object::map_mut(it, &[]).insert("kind".into(), kind.as_str().into());
        }
        return Ok(found.into_iter().map(clear).collect());
    }
    if at.name.is_empty() {
        component.clone_into(&mut at.name);
    }
    let live = engine.objects.get(&at).await?.ok_or_else(|| {
        Error::Invalid(format!(
            "failed to load ref object {kind} {namespace}/{}: it does not exist",
            at.name
        ))
    })?;
    Ok(vec![clear(live)])
}

/// The objects of the YAML file at an address.
async fn behind(engine: &Engine<'_>, url: &str) -> Result<Vec<Value>, Error> {
    let request = HttpRequest { method: "GET".into(), url: url.to_owned(), ..Default::default() };
    let answer = engine.objects.http(&request).await?;
    if !(200..300).contains(&answer.status) {
        return Err(Error::Unavailable(format!(
            "failed to load ref objects from {url}: status {}",
            answer.status
        )));
    }
    let mut objects = Vec::new();
    for document in serde_yaml::Deserializer::from_str(&answer.body) {
        let object = Value::deserialize(document).map_err(|error| {
            Error::Invalid(format!("failed to load ref objects from {url}: {error}"))
        })?;
        if object.is_object() {
            objects.push(clear(object));
        }
    }
    Ok(objects)
}

/// Without what belongs to the live object alone.
fn clear(mut object: Value) -> Value {
    let kind = object::text(&object, "/kind").to_owned();
    if let Some(map) = object.as_object_mut() {
        map.shift_remove("status");
    }
    let meta = object::map_mut(&mut object, &["metadata"]);
    for key in [
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "ownerReferences",
        "finalizers",
        "selfLink",
    ] {
        meta.shift_remove(key);
    }
    if let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) {
        for key in [
            annotation::KUBECTL_LAST_APPLIED,
            annotation::LAST_APPLIED,
            annotation::LAST_APPLIED_TIME,
        ] {
            annotations.shift_remove(key);
        }
        if annotations.is_empty() {
            meta.shift_remove("annotations");
        }
    }
    // What a cluster chose, another one cannot keep.
    let chosen: &[&str] = match kind.as_str() {
        "Service" => &["clusterIP", "clusterIPs", "healthCheckNodePort"],
        "PersistentVolumeClaim" => &["volumeName"],
        _ => &[],
    };
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for key in chosen {
            spec.shift_remove(*key);
        }
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if kind == "Service"
                && let Some(port) = port.as_object_mut()
            {
                port.shift_remove("nodePort");
            }
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_live_object_is_taken_out() {
        let live = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "a", "namespace": "b", "uid": "1", "resourceVersion": "2",
                "annotations": {annotation::KUBECTL_LAST_APPLIED: "{}"}, "labels": {"x": "y"}},
            "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80, "nodePort": 30000}]},
            "status": {},
        });
        let want = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}},
            "spec": {"ports": [{"port": 80}]},
        });
        assert_eq!(clear(live), want);
    }

    #[test]
    fn objects_are_kept_once_and_sorted() {
        let named = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let all = [vec![named("b"), named("a")], vec![named("b")]];
        assert_eq!(kept(&all), [named("a"), named("b")]);
    }
}
