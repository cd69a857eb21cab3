//! What an Application has become: its steps, components and the tree of live objects.

use std::collections::BTreeMap;

use crate::connection::Client;
use futures::stream::{self, StreamExt};
use http::Method;
use serde::Serialize;
use serde_json::Value;

use crate::kinds::{Kinds, Resource};
use crate::rest::{self, ActAs, Error};

/// How something is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As wanted.
    Healthy,
    /// On its way.
    Progressing,
    /// Failed, or not there.
    Unhealthy,
    /// Says nothing of itself.
    Unknown,
}

/// One Application in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Components asked for.
    pub components: Vec<String>,
    /// `status.status`
    pub phase: String,
    /// Components that are healthy, and all that report.
    pub healthy: (usize, usize),
    /// When it was created, RFC 3339.
    pub created: String,
}

/// One workflow step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Phase.
    pub phase: String,
    /// Reason, if it says one.
    pub reason: String,
    /// Message, if it says one.
    pub message: String,
    /// Steps of a group.
    pub steps: Vec<Step>,
}

/// One component at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Component {
    /// Name.
    pub name: String,
    /// Namespace it is in.
    pub namespace: String,
    /// Cluster it is in; empty for this one.
    pub cluster: String,
    /// Whether it is as wanted.
    pub healthy: bool,
    /// What it says.
    pub message: String,
    /// Its traits: type, health, message.
    pub traits: Vec<(String, bool, String)>,
}

/// A live object and what it owns.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// Namespace, empty for cluster scope.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Component it belongs to.
    pub component: String,
    /// How it is doing.
    pub health: Health,
    /// In few words.
    pub summary: String,
    /// What it owns.
    pub children: Vec<Node>,
}

/// Everything about one Application.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `status.status`
    pub phase: String,
    /// Revision being delivered.
    pub revision: String,
    /// Conditions that are not True, as `Type: message`.
    pub problems: Vec<String>,
    /// Mode, message of the workflow.
    pub workflow: (String, String),
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Components.
    pub components: Vec<Component>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Where Applications are.
pub fn applications() -> Resource {
    Resource::namespaced("core.oam.dev/v1beta1", "Application", "applications")
}

/// Applications of `namespace`, or of all namespaces if that is empty.
///
/// # Errors
/// As the request failed.
pub async fn list(client: &Client, namespace: &str) -> Result<Vec<Row>, Error> {
    let path = rest::path(&applications(), namespace, None);
    let list = rest::send(client, Method::GET, &path, None, &ActAs::default()).await?;
    let rows = items(&list["items"]).map(|app| {
        let services: Vec<&Value> = items(&app["status"]["services"]).collect();
        let healthy = services.iter().filter(|it| it["healthy"] == true).count();
        Row {
            namespace: text(&app["metadata"]["namespace"]),
            name: text(&app["metadata"]["name"]),
            components: items(&app["spec"]["components"]).map(|it| text(&it["name"])).collect(),
            phase: text(&app["status"]["status"]),
            healthy: (healthy, services.len()),
            created: text(&app["metadata"]["creationTimestamp"]),
        }
    });
    Ok(rows.collect())
}

/// Reads a report out of an Application object.
pub fn report(app: &Value) -> Report {
    let status = &app["status"];
    let workflow = &status["workflow"];
    let mut problems: Vec<(String, String)> = Vec::new();
    for it in items(&status["conditions"]).filter(|it| it["status"] == "False") {
        // Ready repeats what another condition says.
        let message = text(&it["message"]);
        if problems.iter().all(|(_, known)| *known != message) {
            problems.push((text(&it["type"]), message));
        }
    }
    Report {
        namespace: text(&app["metadata"]["namespace"]),
        name: text(&app["metadata"]["name"]),
        phase: text(&status["status"]),
        revision: text(&status["latestRevision"]["name"]),
        problems: problems.iter().map(|(kind, it)| format!("{kind}: {it}")).collect(),
        workflow: (text(&workflow["mode"]), text(&workflow["message"])),
        steps: items(&workflow["steps"]).map(step).collect(),
        components: items(&status["services"]).map(component).collect(),
    }
}

fn step(row: &Value) -> Step {
    Step {
        name: text(&row["name"]),
        kind: text(&row["type"]),
        phase: text(&row["phase"]),
        reason: text(&row["reason"]),
        message: text(&row["message"]),
        steps: items(&row["subSteps"]).map(step).collect(),
    }
}

fn component(row: &Value) -> Component {
    let traits = items(&row["traits"])
        .map(|it| (text(&it["type"]), it["healthy"] == true, text(&it["message"])));
    Component {
        name: text(&row["name"]),
        namespace: text(&row["namespace"]),
        cluster: text(&row["cluster"]),
        healthy: row["healthy"] == true,
        message: text(&row["message"]),
        traits: traits.collect(),
    }
}

/// Objects read at once.
const PARALLEL: usize = 8;

/// The live objects of an Application, each with what it owns.
///
/// # Errors
/// As a request failed; an object that is gone is a node that says so.
pub async fn tree(client: &Client, app: &Value) -> Result<Vec<Node>, Error> {
    let kinds = Kinds::default();
    let here = |it: &&Value| matches!(it["cluster"].as_str(), None | Some("" | "local"));
    let applied: Vec<&Value> = items(&app["status"]["appliedResources"]).filter(here).collect();
    let mut live = Vec::new();
    let mut found = stream::iter(&applied).map(|it| fetch(client, &kinds, it)).buffered(PARALLEL);
    while let Some(object) = found.next().await {
        live.push(object?);
    }
    drop(found);
    let mut owned = Owned::default();
    for (reference, object) in applied.iter().zip(&live) {
        if object.is_some() {
            owned.load(client, reference).await?;
        }
    }
    Ok(applied
        .iter()
        .zip(live)
        .map(|(reference, object)| match object {
            Some(object) => owned.node(&object),
            None => Node {
                api_version: text(&reference["apiVersion"]),
                kind: text(&reference["kind"]),
                namespace: text(&reference["namespace"]),
                name: text(&reference["name"]),
                component: String::new(),
                health: Health::Unhealthy,
                summary: "gone".into(),
                children: Vec::new(),
            },
        })
        .collect())
}

async fn fetch(client: &Client, kinds: &Kinds, it: &Value) -> Result<Option<Value>, Error> {
    let resource = match kinds.resolve(client, &text(&it["apiVersion"]), &text(&it["kind"])).await {
        Ok(resource) => resource,
        Err(Error::UnknownKind { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let path = rest::path(&resource, &text(&it["namespace"]), Some(&text(&it["name"])));
    let object = rest::get(client, &path, &ActAs::default()).await?;
    Ok(object.map(|mut object| {
        object["apiVersion"] = it["apiVersion"].clone();
        object["kind"] = it["kind"].clone();
        object
    }))
}

/// Objects of workload kinds by the uid of their owner, listed once per namespace.
#[derive(Default)]
struct Owned {
    by_owner: BTreeMap<String, Vec<Value>>,
    listed: Vec<(String, &'static str)>,
}

impl Owned {
    async fn load(&mut self, client: &Client, owner: &Value) -> Result<(), Error> {
        let below: &[(&str, &str, &'static str)] = match owner["kind"].as_str() {
            Some("Deployment") => {
                &[("apps/v1", "ReplicaSet", "replicasets"), ("v1", "Pod", "pods")]
            }
            Some("StatefulSet" | "DaemonSet" | "Job") => &[("v1", "Pod", "pods")],
            Some("CronJob") => &[("batch/v1", "Job", "jobs"), ("v1", "Pod", "pods")],
            _ => &[],
        };
        let namespace = text(&owner["namespace"]);
        for (api_version, kind, plural) in below {
            let key = (namespace.clone(), *plural);
            if self.listed.contains(&key) {
                continue;
            }
            self.listed.push(key);
            let resource = Resource::namespaced(api_version, kind, plural);
            let path = rest::path(&resource, &namespace, None);
            let list = rest::send(client, Method::GET, &path, None, &ActAs::default()).await?;
            for item in items(&list["items"]) {
                let mut item = item.clone();
                item["apiVersion"] = (*api_version).into();
                item["kind"] = (*kind).into();
                let owner = items(&item["metadata"]["ownerReferences"])
                    .find(|it| it["controller"] == true)
                    .map(|it| text(&it["uid"]));
                if let Some(owner) = owner {
                    self.by_owner.entry(owner).or_default().push(item);
                }
            }
        }
        Ok(())
    }

    fn node(&self, object: &Value) -> Node {
        let meta = &object["metadata"];
        let children = self.by_owner.get(meta["uid"].as_str().unwrap_or_default());
        let (health, summary) = health(object);
        // A ReplicaSet scaled to nothing is history, not part of what runs.
        let shown = |it: &&Value| it["kind"] != "ReplicaSet" || it["spec"]["replicas"] != 0;
        Node {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            namespace: text(&meta["namespace"]),
            name: text(&meta["name"]),
            component: text(&meta["labels"]["app.oam.dev/component"]),
            health,
            summary,
            children: children
                .into_iter()
                .flatten()
                .filter(shown)
                .map(|it| self.node(it))
                .collect(),
        }
    }
}

/// What an object's own status says, for the kinds people know.
fn health(object: &Value) -> (Health, String) {
    let status = &object["status"];
    let count = |value: &Value| value.as_i64().unwrap_or(0);
    let of = |ready: i64, wanted: i64| {
        let health = if ready >= wanted { Health::Healthy } else { Health::Progressing };
        (health, format!("{ready}/{wanted} ready"))
    };
    match object["kind"].as_str().unwrap_or_default() {
        "Deployment" | "StatefulSet" | "ReplicaSet" => {
            of(count(&status["readyReplicas"]), object["spec"]["replicas"].as_i64().unwrap_or(1))
        }
        "DaemonSet" => of(count(&status["numberReady"]), count(&status["desiredNumberScheduled"])),
        "Pod" => {
            let phase = text(&status["phase"]);
            let ready = items(&status["conditions"])
                .any(|it| it["type"] == "Ready" && it["status"] == "True");
            match phase.as_str() {
                "Succeeded" => (Health::Healthy, phase),
                "Failed" => (Health::Unhealthy, phase),
                "Running" if ready => (Health::Healthy, phase),
                _ => (Health::Progressing, phase),
            }
        }
        "Job" => {
            if count(&status["failed"]) > 0 && count(&status["succeeded"]) == 0 {
                return (Health::Unhealthy, format!("{} failed", count(&status["failed"])));
            }
            let wanted = object["spec"]["completions"].as_i64().unwrap_or(1);
            let done = count(&status["succeeded"]);
            let health = if done >= wanted { Health::Healthy } else { Health::Progressing };
            (health, format!("{done}/{wanted} done"))
        }
        "CronJob" => (Health::Healthy, text(&object["spec"]["schedule"])),
        "PersistentVolumeClaim" => match status["phase"].as_str() {
            Some("Bound") => (Health::Healthy, "Bound".into()),
            phase => (Health::Progressing, phase.unwrap_or("Pending").into()),
        },
        "Service" => (Health::Healthy, text(&object["spec"]["clusterIP"])),
        _ => (Health::Unknown, String::new()),
    }
}
