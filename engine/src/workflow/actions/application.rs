//! The owner's components and policies, and the places they go to.

use serde_json::{Map, Value, json};

use super::control::patch_variable;
use super::{Acting, Applied, Asked, Done, Trouble, cluster_name, explain, patching};
use crate::api::Component;
use crate::api::names::{LOCAL_CLUSTER, label};
use crate::policy::overriding;
use crate::world::ObjectRef;

/// The component with what an earlier `#Export` of a patch says (W-77).
fn component(asked: &Asked<'_>, with: &Acting<'_>) -> Result<Value, Trouble> {
    let params = &asked.params;
    let given = if params["value"].is_object() { &params["value"] } else { params };
    let name = given["name"].as_str().unwrap_or_default();
    if name.is_empty() || given["type"].as_str().unwrap_or_default().is_empty() {
        return Err("value must be a component with name and type".into());
    }
    let mut component = given.clone();
    if let Some(patch) = with.variables.get(&patch_variable(name)) {
        json_patch::merge(&mut component["properties"], &patch);
    }
    Ok(component)
}

fn answer(applied: &Applied) -> Value {
    json!({"output": applied.output, "outputs": applied.outputs})
}

/// Components that `deploy` delivers at once, unless it says otherwise (E-124).
const PARALLEL: usize = 5;

/// More are never delivered at once.
const MOST: usize = 64;

pub(super) async fn apply(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let component = component(asked, with)?;
    let (cluster, namespace) = (asked.text("cluster"), asked.text("namespace"));
    let change = if asked.params["patch"].is_object() {
        let rendered =
            with.host.render_component(&component, cluster, namespace).await.map_err(explain)?;
        let changed = patching::lay_over(asked, with, &rendered.output)?;
        patching::difference(&rendered.output, &changed)
    } else {
        None
    };
    let applied = match &change {
        Some(change) => with.host.apply_changed(&component, cluster, namespace, change).await,
        None => with.host.apply_component(&component, cluster, namespace).await,
    };
    let mut applied = applied.map_err(explain)?;
    let waits = asked.params["waitHealthy"] != false;
    match applied.waiting.take() {
        // The rest of the template still sees what there is (E-123).
        Some(message) if waits => Ok(Done::Pending(answer(&applied), message)),
        _ => Ok(Done::Returns(answer(&applied))),
    }
}

pub(super) async fn render(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let component = component(asked, with)?;
    let (cluster, namespace) = (asked.text("cluster"), asked.text("namespace"));
    let mut rendered =
        with.host.render_component(&component, cluster, namespace).await.map_err(explain)?;
    if asked.params["patch"].is_object() {
        rendered.output = patching::lay_over(asked, with, &rendered.output)?;
    }
    Ok(Done::Returns(answer(&rendered)))
}

/// Components of the owner, or of another Application of its namespace, in order.
async fn components(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Vec<(String, Value)>, Trouble> {
    let mut all = match other(asked, with).await? {
        None => with.host.components(),
        Some(app) => named(&app["spec"]["components"]),
    };
    for (_, component) in &mut all {
        if let Some(component) = component.as_object_mut() {
            // Data between components is the engine's business (E-133).
            component.remove("inputs");
            component.remove("outputs");
        }
    }
    match asked.text("component") {
        "" => {}
        wanted => {
            all.retain(|it| it.0 == wanted);
            if all.is_empty() {
                return Err(format!("component {wanted} not found"));
            }
        }
    }
    Ok(all)
}

async fn other(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Option<Value>, Trouble> {
    let app = asked.text("app");
    if app.is_empty() || app == with.host.name() {
        return Ok(None);
    }
    let at = ObjectRef::local("core.oam.dev/v1beta1", "Application", with.host.namespace(), app);
    let found = with.world.get(&at).await.map_err(explain)?;
    found.map(Some).ok_or_else(|| format!("applications.core.oam.dev {app:?} not found"))
}

fn named(list: &Value) -> Vec<(String, Value)> {
    let all = list.as_array().into_iter().flatten();
    all.map(|it| (it["name"].as_str().unwrap_or_default().to_owned(), it.clone())).collect()
}

pub(super) async fn load(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let all: Map<String, Value> = components(asked, with).await?.into_iter().collect();
    Ok(Done::Returns(json!({"value": all})))
}

pub(super) async fn load_in_order(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Done, Trouble> {
    let all: Vec<Value> = components(asked, with).await?.into_iter().map(|it| it.1).collect();
    Ok(Done::Returns(json!({"value": all})))
}

pub(super) async fn load_policies(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Done, Trouble> {
    let all = match other(asked, with).await? {
        None => with.host.policies(),
        Some(app) => named(&app["spec"]["policies"]),
    };
    let all: Map<String, Value> = all.into_iter().collect();
    Ok(Done::Returns(json!({"value": all})))
}

pub(super) async fn deploy(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let parallelism = match &asked.params["parallelism"] {
        Value::Null => PARALLEL,
        given => given.as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or(0),
    };
    if parallelism < 1 {
        return Err("parallelism cannot be smaller than 1".into());
    }
    let inline = asked.params["inlinePolicies"].clone();
    let deployed = with.host.deploy(asked.names("policies"), inline, parallelism.min(MOST)).await;
    match deployed.map_err(explain)? {
        Some(message) => Ok(Done::Pending(json!({}), message)),
        None => Ok(Done::Nothing),
    }
}

/// The engine's own cluster and those whose Secrets are there.
async fn clusters(with: &mut Acting<'_>) -> Result<Vec<Value>, Trouble> {
    let wanted = ObjectRef::local("v1", "Secret", "vela-system", "");
    with.world.list(&wanted, label::CLUSTER_CREDENTIAL).await.map_err(explain)
}

pub(super) async fn list_clusters(with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let mut names = vec![Value::from(LOCAL_CLUSTER)];
    names.extend(clusters(with).await?.into_iter().map(|it| it["metadata"]["name"].clone()));
    Ok(Done::Returns(json!({"outputs": {"clusters": names}})))
}

pub(super) async fn placements(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let policies = asked.names("policies");
    let found = with.host.placements(&policies).await.map_err(explain)?;
    let home = with.host.namespace();
    let found: Vec<Value> = found
        .into_iter()
        .map(|(cluster, namespace)| {
            let namespace = if namespace.is_empty() { home } else { &namespace };
            json!({"cluster": cluster, "namespace": namespace})
        })
        .collect();
    Ok(Done::Returns(json!({"placements": found})))
}

/// Where an environment of an env-binding policy goes: by name, by labels, or here.
pub(super) async fn decisions(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let inputs = &asked.params["inputs"];
    let place = &inputs["placement"];
    let env = inputs["envName"].as_str().unwrap_or_default();
    let selector = &place["clusterSelector"];
    let named = selector["name"].as_str().unwrap_or_default();
    let labels = selector["labels"].as_object();
    let cluster = match labels.filter(|it| !it.is_empty()) {
        _ if !named.is_empty() => named.to_owned(),
        None => LOCAL_CLUSTER.to_owned(),
        Some(labels) => {
            let all = clusters(with).await?;
            let fits = |it: &&Value| {
                labels.iter().all(|(key, value)| it["metadata"]["labels"].get(key) == Some(value))
            };
            let found = all.iter().find(fits);
            let found = found.ok_or_else(|| format!("no cluster fits the labels of env {env}"))?;
            found["metadata"]["name"].as_str().unwrap_or_default().to_owned()
        }
    };
    let mut namespace = place["namespaceSelector"]["name"].as_str().unwrap_or_default().to_owned();
    let labels = &place["namespaceSelector"]["labels"];
    if namespace.is_empty() && labels.as_object().is_some_and(|it| !it.is_empty()) {
        let wanted =
            ObjectRef { cluster: cluster.clone(), ..ObjectRef::local("v1", "Namespace", "", "") };
        let found = with.world.list(&wanted, &super::selector(labels)).await.map_err(explain)?;
        let first = found.first().and_then(|it| it["metadata"]["name"].as_str());
        first
            .ok_or_else(|| format!("no namespace fits the labels of env {env}"))?
            .clone_into(&mut namespace);
    }
    if namespace.is_empty() {
        with.host.namespace().clone_into(&mut namespace);
    }
    let decision = json!({"cluster": cluster_name(&cluster), "namespace": namespace});
    Ok(Done::Returns(json!({"outputs": {"decisions": [decision]}})))
}

/// The Application's components as an environment wants them.
pub(super) fn patch_application(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let inputs = &asked.params["inputs"];
    let mut all: Vec<Component> = Vec::new();
    for (name, component) in with.host.components() {
        let read = serde_json::from_value(component);
        all.push(read.map_err(|error| format!("component {name}: {error}"))?);
    }
    if inputs["patch"].is_object() {
        let change =
            overriding::parse(Some(&inputs["patch"])).map_err(|error| format!("patch: {error}"))?;
        all = overriding::apply(&all, &change);
    }
    if let Some(selected) = inputs["selector"]["components"].as_array() {
        all.retain(|it| selected.iter().any(|name| *name == it.name));
    }
    let outputs = json!({
        "metadata": {"name": with.host.name(), "namespace": with.host.namespace()},
        "spec": {"components": all},
    });
    Ok(Done::Returns(json!({"outputs": outputs})))
}

pub(super) fn terraform_components(with: &mut Acting<'_>) -> Done {
    let names = with.host.terraform_components();
    let all = with.host.components().into_iter().filter(|it| names.contains(&it.0));
    let all: Vec<Value> = all.map(|it| it.1).collect();
    Done::Returns(json!({"outputs": {"components": all}}))
}

/// Whether a component is healthy, by the Application's status.
pub(super) async fn connection(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let name = asked.params["inputs"]["componentName"].as_str().unwrap_or_default();
    let (namespace, app) = (with.host.namespace(), with.host.name());
    let at = ObjectRef::local("core.oam.dev/v1beta1", "Application", namespace, app);
    let app = with.world.get(&at).await.map_err(explain)?.unwrap_or_default();
    let rows = app["status"]["services"].as_array();
    let row = rows.into_iter().flatten().find(|it| it["name"] == name);
    let healthy = row.is_some_and(|it| it["healthy"] == true);
    Ok(Done::Returns(json!({"outputs": {"healthy": healthy}})))
}
