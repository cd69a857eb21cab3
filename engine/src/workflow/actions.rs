//! Provider and `#do` to what is done; the one table of actions.

use cue_session::Action;
use serde_json::{Value, json};

use super::backoff::parse_duration;
use super::variables::Variables;
use crate::world::{Apply, Call, HttpRequest, ObjectRef, PatchKind, World};

/// What an owner of a workflow does for its steps: components and policies are its own business.
pub trait Host: Send + Sync {
    /// Namespace for objects that say none.
    fn namespace(&self) -> &str;
    /// Records and applies objects as the owner's.
    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>>;
    /// Renders, applies and checks a component; waiting is `Err(Ok(message))`.
    fn apply_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied>;
    /// Delivers components as policies say.
    fn deploy<'a>(&'a self, policies: Vec<String>, inline: Value) -> Call<'a, Option<String>>;
    /// Components by name, and in order.
    fn components(&self) -> Vec<(String, Value)>;
    /// Policies by name.
    fn policies(&self) -> Vec<(String, Value)>;
}

/// A component that was applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Its live workload.
    pub output: Value,
    /// Its auxiliary objects by name.
    pub outputs: Value,
    /// What it waits for, if it is not healthy.
    pub waiting: Option<String>,
}

/// What an action came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// Fill this and go on.
    Returns(Value),
    /// Nothing to fill.
    Nothing,
    /// The step waits.
    Wait(String),
    /// The step suspends, for so many seconds if said.
    Suspend(Option<chrono::Duration>, String),
    /// The workflow ends here without an error.
    Break(String),
    /// The step fails for good.
    Fail(String),
    /// The step has something to say.
    Message(String),
}

/// Why an action could not be carried out: an error that is retried.
pub type Trouble = String;

/// Carries out one action.
///
/// # Errors
/// What went wrong; the step is tried again.
pub async fn act(
    action: &Action,
    world: &dyn World,
    host: &dyn Host,
    variables: &mut Variables,
) -> Result<Done, Trouble> {
    let whole: Value = serde_json::from_str(&action.json).unwrap_or_default();
    // The older form has its parameters beside `#do`.
    let flat = action.provider == "op" || whole.get("$params").is_none();
    let params = if flat { &whole } else { &whole["$params"] };
    let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
    let verb = action.verb.as_str();
    let provider = action.provider.as_str();
    match (provider, verb) {
        (_, "wait") => {
            if params["continue"] == true {
                return Ok(Done::Nothing);
            }
            Ok(Done::Wait(text("message")))
        }
        (_, "suspend") => {
            let duration = match text("duration").as_str() {
                "" => None,
                given => Some(
                    parse_duration(given)
                        .ok_or_else(|| format!("failed to parse duration {given}"))?,
                ),
            };
            Ok(Done::Suspend(duration, text("message")))
        }
        (_, "break") => Ok(Done::Break(text("message"))),
        (_, "fail") => Ok(Done::Fail(text("message"))),
        (_, "message") => Ok(Done::Message(text("message"))),
        (_, "var") => {
            let path = text("path");
            if text("method") == "Put" {
                variables.set(&path, params["value"].clone());
                return Ok(Done::Nothing);
            }
            match variables.get(&path) {
                Some(value) => Ok(Done::Returns(json!({"value": value}))),
                None => Err(format!("failed to lookup value: var(path={path}) not exist")),
            }
        }
        (_, "export") => {
            let name = if text("name").is_empty() { text("path") } else { text("name") };
            variables.set(&name, params["value"].clone());
            Ok(Done::Nothing)
        }
        (_, "log") => {
            tracing::info!(step = %action.path, data = %params["data"], "workflow log");
            Ok(Done::Nothing)
        }
        (_, "steps") => Ok(Done::Nothing),
        ("kube" | "op", "apply") => {
            let mut object = params["value"].clone();
            own_namespace(&mut object, host.namespace());
            let cluster = text("cluster");
            let applied = host.dispatch(vec![object], &cluster).await.map_err(explain)?;
            Ok(Done::Returns(json!({"value": applied.into_iter().next()})))
        }
        ("kube" | "op", "apply-in-parallel") => {
            let mut objects = params["value"].as_array().cloned().unwrap_or_default();
            objects.iter_mut().for_each(|it| own_namespace(it, host.namespace()));
            let applied = host.dispatch(objects, &text("cluster")).await.map_err(explain)?;
            Ok(Done::Returns(json!({"value": applied})))
        }
        ("kube" | "op", "read") => {
            let mut object = params["value"].clone();
            own_namespace(&mut object, host.namespace());
            let at = ObjectRef::of(&object, &text("cluster"));
            match world.get(&at).await {
                Ok(Some(live)) => Ok(Done::Returns(json!({"value": live}))),
                Ok(None) => {
                    let err = format!("{} {:?} not found", plural(&at), at.name);
                    Ok(Done::Returns(json!({"err": err})))
                }
                Err(error) => Ok(Done::Returns(json!({"err": error.to_string()}))),
            }
        }
        ("kube" | "op", "list") => {
            let resource = &params["resource"];
            let filter = &params["filter"];
            let part =
                |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let of = ObjectRef {
                cluster: text("cluster"),
                api_version: part(resource, "apiVersion"),
                kind: part(resource, "kind"),
                namespace: part(filter, "namespace"),
                name: String::new(),
            };
            let items = world.list(&of, &selector(&filter["matchingLabels"])).await;
            let items = items.map_err(explain)?;
            Ok(Done::Returns(json!({"values": {"items": items}, "list": {"items": items}})))
        }
        ("kube" | "op", "patch") => {
            let mut object = params["value"].clone();
            own_namespace(&mut object, host.namespace());
            let at = ObjectRef::of(&object, &text("cluster"));
            let patched =
                world.patch(&at, PatchKind::Merge, &params["patch"]).await.map_err(explain)?;
            Ok(Done::Returns(json!({"result": patched})))
        }
        ("kube" | "op", "delete") => {
            let mut object = params["value"].clone();
            own_namespace(&mut object, host.namespace());
            let at = ObjectRef::of(&object, &text("cluster"));
            let filter = &params["filter"];
            if at.name.is_empty() && filter.is_object() {
                let of = ObjectRef {
                    namespace: filter["namespace"].as_str().unwrap_or(&at.namespace).to_owned(),
                    ..at
                };
                let labels = selector(&filter["matchingLabels"]);
                for live in world.list(&of, &labels).await.map_err(explain)? {
                    let mut one = of.clone();
                    one.name = live["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                    world.delete(&one).await.map_err(explain)?;
                }
                return Ok(Done::Returns(json!({})));
            }
            world.delete(&at).await.map_err(explain)?;
            Ok(Done::Returns(json!({})))
        }
        ("http" | "op", "do" | "http" | "get" | "post" | "put" | "delete") => {
            let response = world.http(&request(params, verb)).await.map_err(explain)?;
            let headers: serde_json::Map<String, Value> = response
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), json!([value])))
                .collect();
            let answer = json!({
                "body": response.body,
                "statusCode": response.status,
                "header": headers,
            });
            let key = if flat { "response" } else { "" };
            let returns = if key.is_empty() { answer } else { json!({"response": answer}) };
            if response.status >= 500 {
                return Err(format!("http request failed with status {}", response.status));
            }
            Ok(Done::Returns(returns))
        }
        ("oam" | "op", "component-apply") => {
            let component = if params["value"].is_object() { &params["value"] } else { params };
            let namespace = text("namespace");
            let applied = host
                .apply_component(component, &text("cluster"), &namespace)
                .await
                .map_err(explain)?;
            match applied.waiting {
                Some(message) => Ok(Done::Wait(message)),
                None => {
                    Ok(Done::Returns(json!({"output": applied.output, "outputs": applied.outputs})))
                }
            }
        }
        ("oam" | "op", "load") => {
            let all: serde_json::Map<String, Value> = host.components().into_iter().collect();
            Ok(Done::Returns(json!({"value": all})))
        }
        ("oam" | "op", "load-comps-in-order") => {
            let all: Vec<Value> = host.components().into_iter().map(|it| it.1).collect();
            Ok(Done::Returns(json!({"value": all})))
        }
        ("oam" | "op", "load-policies") => {
            let all: serde_json::Map<String, Value> = host.policies().into_iter().collect();
            Ok(Done::Returns(json!({"value": all})))
        }
        ("multicluster" | "op", "deploy") => {
            let names = params["policies"].as_array().into_iter().flatten();
            let names = names.filter_map(Value::as_str).map(str::to_owned).collect();
            match host.deploy(names, params["inlinePolicies"].clone()).await.map_err(explain)? {
                Some(message) => Ok(Done::Wait(message)),
                None => Ok(Done::Nothing),
            }
        }
        ("multicluster" | "op", "list-clusters") => {
            Ok(Done::Returns(json!({"outputs": {"clusters": ["local"]}})))
        }
        ("util" | "op", "string") => {
            let bytes = params["bt"].as_str().unwrap_or_default();
            Ok(Done::Returns(json!({"str": bytes})))
        }
        _ => Err(format!("no action {provider}.{verb}")),
    }
}

fn explain(error: crate::world::Error) -> String {
    error.to_string()
}

fn own_namespace(object: &mut Value, namespace: &str) {
    let cluster_scoped = matches!(
        object["kind"].as_str().unwrap_or_default(),
        "Namespace"
            | "ClusterRole"
            | "ClusterRoleBinding"
            | "CustomResourceDefinition"
            | "PersistentVolume"
            | "StorageClass"
            | "Node"
            | "IngressClass"
            | "PriorityClass"
    );
    let absent = object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty();
    if absent && !cluster_scoped && object["metadata"].is_object() {
        object["metadata"]["namespace"] = namespace.into();
    }
}

fn plural(at: &ObjectRef) -> String {
    let group = at.api_version.split_once('/').map_or("", |it| it.0);
    let name = format!("{}s", at.kind.to_lowercase());
    if group.is_empty() { name } else { format!("{name}.{group}") }
}

fn selector(labels: &Value) -> String {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    pairs.collect::<Vec<_>>().join(",")
}

fn request(params: &Value, verb: &str) -> HttpRequest {
    let method = match params["method"].as_str() {
        Some(method) if !method.is_empty() => method.to_uppercase(),
        _ if matches!(verb, "get" | "post" | "put" | "delete") => verb.to_uppercase(),
        _ => "GET".into(),
    };
    let body = match &params["request"]["body"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let mut headers = Vec::new();
    for (name, value) in params["request"]["header"].as_object().into_iter().flatten() {
        match value {
            Value::Array(items) => headers.extend(
                items.iter().filter_map(Value::as_str).map(|it| (name.clone(), it.to_owned())),
            ),
            other => headers.push((name.clone(), other.as_str().unwrap_or_default().to_owned())),
        }
    }
    let url = params["url"].as_str().unwrap_or_default().to_owned();
    HttpRequest { method, url, headers, body }
}

/// Applies without owning: for objects that only the workflow itself has (its context).
pub async fn apply_plain(world: &dyn World, object: &Value) -> Result<Value, Trouble> {
    world.apply(object, "", Apply { force: true }).await.map_err(explain)
}
