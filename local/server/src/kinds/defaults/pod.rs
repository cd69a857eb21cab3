//! The defaults of Pods and of their templates: containers, volumes, what they refer to.

use serde_json::{Map, Value, json};

use super::{default, each};

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Pods.
pub(super) fn pod(spec: &mut Value) {
    default(spec, "enableServiceLinks", json!(true));
    pod_spec(spec);
    requests(spec);
    host_ports(spec);
}

/// What is made after a template, where there is one.
pub(super) fn template(spec: &mut Value) {
    let Some(template) = spec.get_mut("template").filter(|template| template.is_object()) else {
        return;
    };
    default(template, "metadata", json!({}));
    if let Some(inner) = template.get_mut("spec").filter(|inner| inner.is_object()) {
        pod_spec(inner);
    }
}

/// A Pod itself asks for what it is limited to; a template does not.
fn requests(spec: &mut Value) {
    for list in CONTAINERS {
        for container in each(spec, list) {
            let limits = container["resources"]["limits"].clone();
            for (name, amount) in limits.as_object().into_iter().flatten() {
                default(&mut container["resources"], "requests", json!({}));
                default(&mut container["resources"]["requests"], name, amount.clone());
            }
            if let Some(fields) = container["resources"].as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
        }
    }
}

/// On the host's network a Pod's own ports are the host's; those of a template are left alone.
fn host_ports(spec: &mut Value) {
    if spec["hostNetwork"] == json!(true) {
        for list in ["containers", "initContainers"] {
            for container in each(spec, list) {
                for port in each(container, "ports") {
                    let number = port["containerPort"].clone();
                    default(port, "hostPort", number);
                }
            }
        }
    }
}

fn pod_spec(spec: &mut Value) {
    default(spec, "restartPolicy", json!("Always"));
    default(spec, "dnsPolicy", json!("ClusterFirst"));
    default(spec, "schedulerName", json!("default-scheduler"));
    default(spec, "securityContext", json!({}));
    default(spec, "terminationGracePeriodSeconds", json!(30));
    let account =
        spec["serviceAccountName"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    let older = spec["serviceAccount"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    match (account, older) {
        (Some(name), _) => spec["serviceAccount"] = json!(name),
        (None, Some(name)) => spec["serviceAccountName"] = json!(name),
        _ => {
            if let Some(fields) = spec.as_object_mut() {
                fields.retain(|key, value| !(value.is_null() && key.starts_with("serviceAccount")));
            }
        }
    }
    for list in CONTAINERS {
        for container in each(spec, list) {
            container_defaults(container);
        }
    }
    each(spec, "volumes").for_each(volume_defaults);
}

fn volume_defaults(volume: &mut Value) {
    let sources = volume.as_object().map_or(0, Map::len);
    if sources == 1 && volume.get("name").is_some() {
        volume["emptyDir"] = json!({});
    }
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        if volume[source].is_object() {
            default(&mut volume[source], "defaultMode", json!(420));
        }
    }
    if volume["hostPath"].is_object() {
        default(&mut volume["hostPath"], "type", json!(""));
    }
    each(&mut volume["downwardAPI"], "items").for_each(references);
    let claim = volume.pointer_mut("/ephemeral/volumeClaimTemplate/spec");
    if let Some(claim) = claim.filter(|claim| claim.is_object()) {
        default(claim, "volumeMode", json!("Filesystem"));
    }
    for source in each(&mut volume["projected"], "sources") {
        if source["serviceAccountToken"].is_object() {
            default(&mut source["serviceAccountToken"], "expirationSeconds", json!(3600));
        }
        each(&mut source["downwardAPI"], "items").for_each(references);
        if let Some(fields) = source.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
    }
    if volume["image"].is_object() {
        let policy = pull_policy(&volume["image"]["reference"]);
        default(&mut volume["image"], "pullPolicy", policy);
    }
    if let Some(fields) = volume.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

// What has no tag may change.
fn pull_policy(image: &Value) -> Value {
    let image = image.as_str().unwrap_or_default();
    let (path, last) = image.rsplit_once('/').unwrap_or(("", image));
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    let shouted = |text: &str| text.contains(|it: char| it.is_ascii_uppercase());
    // A name that cannot be read has no tag that could be the latest.
    let below = path.split_once('/').map_or("", |(_, below)| below);
    let readable = !name.is_empty() && !shouted(name) && !shouted(below);
    let always = readable && !image.contains('@') && tag.is_none_or(|tag| tag == "latest");
    json!(if always { "Always" } else { "IfNotPresent" })
}

fn request_defaults(handler: &mut Value) {
    if let Some(get) = handler.get_mut("httpGet").filter(|get| get.is_object()) {
        default(get, "path", json!("/"));
        default(get, "scheme", json!("HTTP"));
    }
}

fn container_defaults(container: &mut Value) {
    let policy = pull_policy(&container["image"]);
    default(container, "imagePullPolicy", policy);
    default(container, "terminationMessagePath", json!("/dev/termination-log"));
    default(container, "terminationMessagePolicy", json!("File"));
    default(container, "resources", json!({}));
    if let Some(fields) = container.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "image"));
    }
    for port in each(container, "ports") {
        default(port, "protocol", json!("TCP"));
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe).filter(|probe| probe.is_object()) else {
            continue;
        };
        for (key, value) in [
            ("timeoutSeconds", 1),
            ("periodSeconds", 10),
            ("successThreshold", 1),
            ("failureThreshold", 3),
        ] {
            default(probe, key, json!(value));
        }
        request_defaults(probe);
    }
    for handler in ["postStart", "preStop"] {
        if let Some(handler) = container.get_mut("lifecycle").and_then(|it| it.get_mut(handler)) {
            request_defaults(handler);
        }
    }
    for variable in each(container, "env") {
        if let Some(from) = variable.get_mut("valueFrom") {
            references(from);
        }
    }
}

/// What is said about a reference to a field of the Pod.
fn references(from: &mut Value) {
    if let Some(field) = from.get_mut("fieldRef").filter(|field| field.is_object()) {
        default(field, "apiVersion", json!("v1"));
    }
    if let Some(resource) = from.get_mut("resourceFieldRef").filter(|it| it.is_object()) {
        default(resource, "divisor", json!("0"));
    }
}
