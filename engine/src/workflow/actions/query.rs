//! Questions about what an Application made: objects, pods, addresses, events, logs.

use serde_json::{Map, Value, json};

use super::{Acting, Asked, Done, Trouble, cluster_name, explain, selector};
use crate::api::names::label;
use crate::api::{ManagedResource, V1BETA1};
use crate::world::{LogPart, ObjectRef, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Resources,
    Applied,
    Tree,
    Pods,
    Services,
    Endpoints,
    Events,
    Logs,
}

/// Levels of ownership that are followed: Deployment, ReplicaSet, Pod.
const LEVELS: usize = 4;

pub(super) async fn answer(
    question: Question,
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Done, Trouble> {
    let world = with.world;
    let list = match question {
        Question::Resources | Question::Services => {
            let services = question == Question::Services;
            let mut list = Vec::new();
            for it in resources(asked, with).await? {
                if services && it.kind != "Service" {
                    continue;
                }
                let Some(object) = world.get(&place(&it)).await.map_err(explain)? else { continue };
                list.push(if services {
                    object
                } else {
                    json!({
                        "cluster": cluster_name(&it.cluster),
                        "component": it.component,
                        "revision": object["metadata"]["labels"][label::APP_REVISION],
                        "object": object,
                    })
                });
            }
            list
        }
        Question::Applied | Question::Tree => {
            let mut list = Vec::new();
            for it in resources(asked, with).await? {
                let mut row = json!({
                    "cluster": cluster_name(&it.cluster),
                    "component": it.component,
                    "trait": it.r#trait,
                    "apiVersion": it.api_version,
                    "kind": it.kind,
                    "namespace": it.namespace,
                    "name": it.name,
                });
                let tree = question == Question::Tree || asked.params["app"]["withTree"] == true;
                if tree && let Some(live) = world.get(&place(&it)).await.map_err(explain)? {
                    row["resourceTree"] = node(world, &live, &it.cluster, LEVELS).await?;
                }
                list.push(row);
            }
            list
        }
        Question::Pods => pods(asked, with).await?,
        Question::Endpoints => {
            let mut list = Vec::new();
            for it in resources(asked, with).await? {
                let Some(object) = world.get(&place(&it)).await.map_err(explain)? else { continue };
                for endpoint in endpoints(world, &object, &it.cluster).await? {
                    list.push(json!({
                        "endpoint": endpoint,
                        "ref": {
                            "apiVersion": it.api_version,
                            "kind": it.kind,
                            "namespace": it.namespace,
                            "name": it.name,
                            "uid": object["metadata"]["uid"],
                        },
                        "cluster": cluster_name(&it.cluster),
                        "component": it.component,
                    }));
                }
            }
            list
        }
        Question::Events => events(asked, with).await?,
        Question::Logs => return logs(asked, with).await,
    };
    Ok(Done::Returns(json!({"list": list})))
}

fn place(it: &ManagedResource) -> ObjectRef {
    ObjectRef {
        cluster: it.cluster.clone(),
        api_version: it.api_version.clone(),
        kind: it.kind.clone(),
        namespace: it.namespace.clone(),
        name: it.name.clone(),
    }
}

/// What the inventory of the Application names, as far as the filter lets it pass.
async fn resources(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
) -> Result<Vec<ManagedResource>, Trouble> {
    let app = &asked.params["app"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, namespace) = (text(&app["name"]), text(&app["namespace"]));
    let labels = format!("{}={name},{}={namespace}", label::APP_NAME, label::APP_NAMESPACE);
    let wanted = ObjectRef::local(V1BETA1, "ResourceTracker", "", "");
    let filter = &app["filter"];
    let passes = |it: &ManagedResource| {
        let is = |key: &str, value: &str| {
            filter[key].as_str().is_none_or(|it| it.is_empty() || it == value)
        };
        let components = filter["components"].as_array();
        !it.deleted
            && is("cluster", cluster_name(&it.cluster))
            && is("clusterNamespace", &it.namespace)
            && is("kind", &it.kind)
            && is("apiVersion", &it.api_version)
            && components
                .is_none_or(|all| all.is_empty() || all.iter().any(|one| *one == it.component))
    };
    let mut all: Vec<ManagedResource> = Vec::new();
    for tracker in with.world.list(&wanted, &labels).await.map_err(explain)? {
        // One that is being deleted holds what is no longer wanted.
        if tracker["metadata"]["deletionTimestamp"].is_string() {
            continue;
        }
        for entry in tracker["spec"]["managedResources"].as_array().into_iter().flatten() {
            let read = serde_json::from_value::<ManagedResource>(entry.clone());
            let Ok(it) = read else { continue };
            if passes(&it) && !all.iter().any(|other| other.key() == it.key()) {
                all.push(it);
            }
        }
    }
    Ok(all)
}

/// Kinds that a kind makes.
fn children(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "Deployment" => &[("apps/v1", "ReplicaSet")],
        "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => {
            &[("v1", "Pod")]
        }
        "CronJob" => &[("batch/v1", "Job")],
        "Service" => &[("discovery.k8s.io/v1", "EndpointSlice")],
        _ => &[],
    }
}

/// Objects of the kinds above that `owner` owns.
async fn owned(world: &dyn World, owner: &Value, cluster: &str) -> Result<Vec<Value>, Trouble> {
    let kind = owner["kind"].as_str().unwrap_or_default();
    let uid = &owner["metadata"]["uid"];
    let mut all = Vec::new();
    for (api_version, kind) in children(kind) {
        let wanted = ObjectRef {
            cluster: cluster.to_owned(),
            api_version: (*api_version).into(),
            kind: (*kind).into(),
            namespace: owner["metadata"]["namespace"].as_str().unwrap_or_default().into(),
            name: String::new(),
        };
        for mut object in world.list(&wanted, "").await.map_err(explain)? {
            let owners = object["metadata"]["ownerReferences"].as_array();
            if owners.into_iter().flatten().any(|it| it["uid"] == *uid) {
                object["apiVersion"] = (*api_version).into();
                object["kind"] = (*kind).into();
                all.push(object);
            }
        }
    }
    Ok(all)
}

/// An object and, below it, what it owns.
fn node<'a>(
    world: &'a dyn World,
    object: &'a Value,
    cluster: &'a str,
    levels: usize,
) -> std::pin::Pin<Box<dyn Future<Output = Result<Value, Trouble>> + Send + 'a>> {
    Box::pin(async move {
        let meta = &object["metadata"];
        let mut leaves = Vec::new();
        if levels > 0 {
            for child in owned(world, object, cluster).await? {
                leaves.push(node(world, &child, cluster, levels - 1).await?);
            }
        }
        let mut node = json!({
            "cluster": cluster_name(cluster),
            "apiVersion": object["apiVersion"],
            "kind": object["kind"],
            "namespace": meta["namespace"].as_str().unwrap_or_default(),
            "name": meta["name"],
            "uid": meta["uid"],
            "creationTimestamp": meta["creationTimestamp"],
            "healthStatus": {"statusCode": health(object)},
        });
        if !leaves.is_empty() {
            node["leafNodes"] = leaves.into();
        }
        Ok(node)
    })
}

fn health(object: &Value) -> &'static str {
    let (spec, status) = (&object["spec"], &object["status"]);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let enough =
        |have: &Value, want: i64| if number(have) >= want { "Healthy" } else { "Progressing" };
    match object["kind"].as_str().unwrap_or_default() {
        "Pod" => match status["phase"].as_str().unwrap_or_default() {
            "Succeeded" => "Healthy",
            "Running" => {
                let all = status["containerStatuses"].as_array();
                let ready = all.into_iter().flatten().all(|it| it["ready"] == true);
                if ready { "Healthy" } else { "Progressing" }
            }
            "Failed" => "UnHealthy",
            _ => "Progressing",
        },
        "Deployment" | "StatefulSet" => {
            enough(&status["readyReplicas"], spec["replicas"].as_i64().unwrap_or(1))
        }
        "ReplicaSet" => enough(&status["readyReplicas"], number(&spec["replicas"])),
        "DaemonSet" => enough(&status["numberReady"], number(&status["desiredNumberScheduled"])),
        _ => "Healthy",
    }
}

/// Pods of one object: its own selector, or what it owns.
async fn pods(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Vec<Value>, Trouble> {
    let cluster = asked.text("cluster");
    let given = &asked.params["value"];
    let at = ObjectRef::of(given, cluster);
    let live = with.world.get(&at).await.map_err(explain)?.unwrap_or_else(|| given.clone());
    if at.kind == "Pod" {
        return Ok(vec![live]);
    }
    let namespace = match at.namespace.as_str() {
        "" => with.host.namespace(),
        namespace => namespace,
    };
    let wanted =
        ObjectRef { cluster: cluster.into(), ..ObjectRef::local("v1", "Pod", namespace, "") };
    let labels = match at.kind.as_str() {
        "Service" => selector(&live["spec"]["selector"]),
        "Job" => format!("job-name={}", at.name),
        _ => selector(&live["spec"]["selector"]["matchLabels"]),
    };
    if !labels.is_empty() {
        return with.world.list(&wanted, &labels).await.map_err(explain);
    }
    let mut found = Vec::new();
    let mut open = vec![live];
    for _ in 0..LEVELS {
        let mut next = Vec::new();
        for object in &open {
            for child in owned(with.world, object, cluster).await? {
                if child["kind"] == "Pod" { found.push(child) } else { next.push(child) }
            }
        }
        open = next;
    }
    Ok(found)
}

/// Addresses under which an object is reached; none for kinds that are not.
async fn endpoints(
    world: &dyn World,
    object: &Value,
    cluster: &str,
) -> Result<Vec<Value>, Trouble> {
    Ok(match object["kind"].as_str().unwrap_or_default() {
        "Service" => {
            let node = match object["spec"]["type"].as_str() {
                Some("NodePort") => node_address(world, cluster).await?,
                _ => None,
            };
            service(object, node)
        }
        "Ingress" => ingress(object),
        "HTTPRoute" => route(object),
        _ => Vec::new(),
    })
}

fn service(object: &Value, node: Option<String>) -> Vec<Value> {
    let (meta, spec) = (&object["metadata"], &object["spec"]);
    let name = format!(
        "{}.{}",
        meta["name"].as_str().unwrap_or_default(),
        meta["namespace"].as_str().unwrap_or_default()
    );
    // Host, key of the port, whether it is reached from inside only.
    let hosts: Vec<(String, &str, bool)> = match spec["type"].as_str().unwrap_or("ClusterIP") {
        "LoadBalancer" => {
            let all = object["status"]["loadBalancer"]["ingress"].as_array().into_iter().flatten();
            let host = |it: &Value| {
                let host = [&it["hostname"], &it["ip"]].into_iter().find_map(Value::as_str);
                host.map(|it| (it.to_owned(), "port", false))
            };
            all.filter_map(host).collect()
        }
        "NodePort" => node.map(|it| (it, "nodePort", false)).into_iter().collect(),
        "ClusterIP" => vec![(name, "port", true)],
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for port in spec["ports"].as_array().into_iter().flatten() {
        for (host, key, inner) in &hosts {
            let mut endpoint = json!({
                "protocol": port["protocol"].as_str().unwrap_or("TCP"),
                "host": host,
                "port": port[*key].as_i64().unwrap_or_default(),
                "path": "",
            });
            for (own, theirs) in [("portName", "name"), ("appProtocol", "appProtocol")] {
                if port[theirs].is_string() {
                    endpoint[own] = port[theirs].clone();
                }
            }
            if *inner {
                endpoint["inner"] = true.into();
            }
            all.push(endpoint);
        }
    }
    all
}

async fn node_address(world: &dyn World, cluster: &str) -> Result<Option<String>, Trouble> {
    let wanted = ObjectRef { cluster: cluster.into(), ..ObjectRef::local("v1", "Node", "", "") };
    let nodes = world.list(&wanted, "").await.map_err(explain)?;
    let address = |kind: &str| {
        nodes
            .iter()
            .flat_map(|it| it["status"]["addresses"].as_array().into_iter().flatten())
            .find_map(|it| {
                (it["type"] == kind).then(|| it["address"].as_str().unwrap_or_default().to_owned())
            })
    };
    Ok(address("ExternalIP").or_else(|| address("InternalIP")))
}

fn ingress(object: &Value) -> Vec<Value> {
    let spec = &object["spec"];
    let scheme = |host: &str| {
        let all = spec["tls"].as_array().into_iter().flatten();
        let mut hosts = all.flat_map(|it| it["hosts"].as_array().into_iter().flatten());
        if hosts.any(|it| it == host) { HTTPS } else { HTTP }
    };
    let address = &object["status"]["loadBalancer"]["ingress"][0];
    let address = [&address["hostname"], &address["ip"]].into_iter().find_map(Value::as_str);
    let mut all = Vec::new();
    for rule in spec["rules"].as_array().into_iter().flatten() {
        let host = rule["host"].as_str().or(address).unwrap_or_default();
        for path in rule["http"]["paths"].as_array().into_iter().flatten() {
            all.push(web(host, path["path"].as_str().unwrap_or_default(), scheme(host)));
        }
    }
    all
}

fn route(object: &Value) -> Vec<Value> {
    let spec = &object["spec"];
    let mut all = Vec::new();
    for host in spec["hostnames"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        for rule in spec["rules"].as_array().into_iter().flatten() {
            let paths = rule["matches"].as_array().into_iter().flatten();
            let paths: Vec<&str> = paths.filter_map(|it| it["path"]["value"].as_str()).collect();
            let paths = if paths.is_empty() { vec!["/"] } else { paths };
            all.extend(paths.into_iter().map(|path| web(host, path, HTTP)));
        }
    }
    all
}

/// A protocol and its port.
type Scheme = (&'static str, u16);

const HTTP: Scheme = ("http", 80);
const HTTPS: Scheme = ("https", 443);

fn web(host: &str, path: &str, (app, port): Scheme) -> Value {
    json!({"protocol": "TCP", "appProtocol": app, "host": host, "port": port, "path": path})
}

async fn events(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Vec<Value>, Trouble> {
    let given = &asked.params["value"];
    let at = ObjectRef::of(given, asked.text("cluster"));
    let wanted = ObjectRef {
        cluster: at.cluster.clone(),
        ..ObjectRef::local("v1", "Event", &at.namespace, "")
    };
    let uid = given["metadata"]["uid"].as_str();
    let about = |it: &Value| {
        let about = &it["involvedObject"];
        about["kind"] == at.kind.as_str()
            && about["name"] == at.name.as_str()
            && uid.is_none_or(|uid| about["uid"] == uid)
    };
    let all = with.world.list(&wanted, "").await.map_err(explain)?;
    Ok(all.into_iter().filter(about).collect())
}

async fn logs(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let options = &asked.params["options"];
    let text = |key: &str| options[key].as_str().unwrap_or_default().to_owned();
    let part = LogPart {
        container: text("container"),
        previous: options["previous"] == true,
        since_seconds: options["sinceSeconds"].as_i64(),
        since_time: text("sinceTime"),
        timestamps: options["timestamps"] == true,
        tail_lines: options["tailLines"].as_i64(),
        limit_bytes: options["limitBytes"].as_i64(),
    };
    let pod = ObjectRef {
        cluster: asked.text("cluster").into(),
        ..ObjectRef::local("v1", "Pod", asked.text("namespace"), asked.text("pod"))
    };
    let mut outputs = Map::new();
    match with.world.logs(&pod, &part).await {
        Ok(text) => outputs.insert("logs".into(), text.into()),
        Err(error) => outputs.insert("err".into(), error.to_string().into()),
    };
    Ok(Done::Returns(json!({"outputs": outputs})))
}
