//! Configurations: Secrets that carry properties, made by templates that are ConfigMaps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cue_session::{Budget, Input, Profile, Program, ProgramSpec, Source};
use serde_json::{Map, Value, json};

use super::{Acting, Asked, Done, Trouble, explain};
use crate::world::ObjectRef;

const CATALOG: &str = "config.oam.dev/catalog";
const CORE: &str = "velacore-config";
const TYPE: &str = "config.oam.dev/type";
const ALIAS: &str = "config.oam.dev/alias";
const DESCRIPTION: &str = "config.oam.dev/description";
const SENSITIVE: &str = "config.oam.dev/sensitive";
const TEMPLATE_NAMESPACE: &str = "config.oam.dev/template-namespace";
/// Key of the properties in the Secret.
const PROPERTIES: &str = "input-properties";
/// Where templates are, unless they say.
const SYSTEM: &str = "vela-system";

fn secret_at(asked: &Asked<'_>, with: &Acting<'_>) -> Result<ObjectRef, Trouble> {
    let name = asked.text("name");
    if name.is_empty() {
        return Err("a configuration needs a name".into());
    }
    let namespace = match asked.text("namespace") {
        "" => with.host.namespace(),
        given => given,
    };
    Ok(ObjectRef::local("v1", "Secret", namespace, name))
}

/// `name` or `namespace/name`.
fn template_of(text: &str) -> (&str, &str) {
    text.split_once('/').unwrap_or((SYSTEM, text))
}

pub(super) async fn create(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let at = secret_at(asked, with)?;
    let properties = match &asked.params["config"] {
        Value::Null => json!({}),
        given => given.clone(),
    };
    let (template_namespace, template) = template_of(asked.text("template"));
    let mut further = Vec::new();
    let mut secret = json!({"apiVersion": "v1", "kind": "Secret"});
    let mut sensitive = false;
    if !template.is_empty() {
        let name = format!("config-template-{template}");
        let stored = ObjectRef::local("v1", "ConfigMap", template_namespace, &name);
        let stored = with.world.get(&stored).await.map_err(explain)?;
        let stored = stored.ok_or_else(|| {
            format!("the config template {template_namespace}/{template} is not found")
        })?;
        sensitive = stored["metadata"]["annotations"][SENSITIVE] == "true";
        let text = stored["data"]["template"].as_str().unwrap_or_default();
        let made = evaluate(text, &properties, &at, with)?;
        if made["output"].is_object() {
            secret = made["output"].clone();
        }
        let outputs = made["outputs"].as_object().into_iter().flatten();
        further.extend(outputs.map(|it| it.1.clone()).filter(Value::is_object));
    }
    let mut labels = map(&secret["metadata"]["labels"]);
    labels.insert(CATALOG.into(), CORE.into());
    labels.insert(TYPE.into(), template.into());
    let mut annotations = map(&secret["metadata"]["annotations"]);
    for key in [ALIAS, DESCRIPTION] {
        annotations.entry(key).or_insert_with(|| "".into());
    }
    if !template.is_empty() {
        annotations.insert(TEMPLATE_NAMESPACE.into(), template_namespace.into());
        annotations.insert(SENSITIVE.into(), sensitive.to_string().into());
    }
    let mut data = map(&secret["data"]);
    data.insert(PROPERTIES.into(), STANDARD.encode(properties.to_string()).into());
    secret["metadata"] = json!({
        "name": at.name, "namespace": at.namespace, "labels": labels, "annotations": annotations,
    });
    secret["data"] = Value::Object(data);
    for object in &mut further {
        if object["metadata"]["namespace"].is_null() {
            object["metadata"]["namespace"] = at.namespace.as_str().into();
        }
    }
    further.insert(0, secret);
    with.host.dispatch(further, "").await.map_err(explain)?;
    Ok(Done::Nothing)
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// What a configuration's template makes of properties: `template.output` and `template.outputs`.
fn evaluate(
    text: &str,
    properties: &Value,
    at: &ObjectRef,
    with: &Acting<'_>,
) -> Result<Value, Trouble> {
    let open = "context: _\ntemplate: {parameter: _, ...}\n";
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("config.cue", text), Source::new("open.cue", open)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let context = json!({"name": at.name, "namespace": at.namespace});
    let inputs = vec![
        Input::new("template.parameter", properties.to_string()),
        Input::new("context", context.to_string()),
    ];
    let mut session = with
        .runtime
        .start(&program, inputs, Budget::DEFINITION)
        .map_err(|error| format!("the config template cannot be read: {error}"))?;
    let mut part = |path: &str| -> Result<Value, Trouble> {
        let found =
            session.value(path).map_err(|error| format!("the properties do not fit: {error}"))?;
        Ok(found.unwrap_or_default())
    };
    part("template.parameter")?;
    Ok(json!({"output": part("template.output")?, "outputs": part("template.outputs")?}))
}

fn properties_of(secret: &Value) -> Result<Value, Trouble> {
    let name = secret["metadata"]["name"].as_str().unwrap_or_default();
    let Some(text) = secret["data"][PROPERTIES].as_str() else { return Ok(json!({})) };
    let bytes = STANDARD.decode(text).map_err(|error| format!("config {name}: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("config {name}: {error}"))
}

fn is_sensitive(secret: &Value) -> bool {
    secret["metadata"]["annotations"][SENSITIVE] == "true"
}

pub(super) async fn read(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let at = secret_at(asked, with)?;
    let secret = with.world.get(&at).await.map_err(explain)?;
    let secret = secret.filter(|it| it["metadata"]["labels"][CATALOG] == CORE);
    let secret =
        secret.ok_or_else(|| format!("the config {}/{} is not found", at.namespace, at.name))?;
    if is_sensitive(&secret) {
        return Err(format!("the config {}/{} is sensitive", at.namespace, at.name));
    }
    Ok(Done::Returns(json!({"config": properties_of(&secret)?})))
}

pub(super) async fn list(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let template = template_of(asked.text("template")).1;
    if template.is_empty() {
        return Err("the request is invalid: which template?".into());
    }
    let namespace = match asked.text("namespace") {
        "" => with.host.namespace(),
        given => given,
    };
    let wanted = ObjectRef::local("v1", "Secret", namespace, "");
    let labels = format!("{CATALOG}={CORE},{TYPE}={template}");
    let mut configs = Vec::new();
    for secret in with.world.list(&wanted, &labels).await.map_err(explain)? {
        let meta = &secret["metadata"];
        let config = if is_sensitive(&secret) { json!({}) } else { properties_of(&secret)? };
        configs.push(json!({
            "name": meta["name"],
            "alias": meta["annotations"][ALIAS].as_str().unwrap_or_default(),
            "description": meta["annotations"][DESCRIPTION].as_str().unwrap_or_default(),
            "config": config,
        }));
    }
    Ok(Done::Returns(json!({"configs": configs})))
}

pub(super) async fn delete(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let at = secret_at(asked, with)?;
    let secret = with.world.get(&at).await.map_err(explain)?;
    let Some(secret) = secret else {
        return Err(format!("the config {}/{} is not found", at.namespace, at.name));
    };
    if secret["metadata"]["labels"][CATALOG] != CORE {
        return Err(format!("the secret {}/{} is no config", at.namespace, at.name));
    }
    // Or drift correction would bring it back (kubevela-observed.md 30).
    with.host.forget(&at).await.map_err(explain)?;
    with.world.delete(&at).await.map_err(explain)?;
    Ok(Done::Nothing)
}
