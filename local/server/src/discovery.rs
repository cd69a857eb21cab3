//! What a client can find out: versions, groups, resources, OpenAPI documents, health.

use std::sync::Arc;

use axum::response::Response;
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::http::reply;
use crate::plane::Plane;
use crate::resource::{Registry, Resource};
use crate::status::{ApiError, Result};
use crate::{custom, published};

/// A document in protobuf that says `swagger: "2.0"` and nothing else.
const EMPTY_SWAGGER: &[u8] = b"\x0a\x032.0";

/// Answers paths that are no resources; none if the path is one.
pub fn respond(
    plane: &Plane,
    method: &Method,
    path: &str,
    hash: &str,
    accept: &str,
) -> Option<Result<Response>> {
    let trimmed = path.trim_end_matches('/');
    let parts: Vec<&str> = trimmed.trim_start_matches('/').split('/').collect();
    let registry = plane.registry();
    let value = match parts.as_slice() {
        [""] => json!({"paths": root_paths(&registry)}),
        ["healthz" | "livez" | "readyz"] | ["healthz" | "livez" | "readyz", "ping"] => {
            return Some(Ok(reply(200, "text/plain; charset=utf-8", b"ok".to_vec())));
        }
        ["healthz" | "livez" | "readyz", ..] => {
            return Some(Ok(reply(
                404,
                "text/plain; charset=utf-8",
                b"404 page not found\n".to_vec(),
            )));
        }
        ["version"] => version(),
        ["api"] => match aggregated_form(accept) {
            Some(form) => return Some(Ok(aggregated(&registry, core(), form))),
            None => {
                json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": plane.address()}]})
            }
        },
        ["apis"] => match aggregated_form(accept) {
            Some(form) => return Some(Ok(aggregated(&registry, registry.groups(), form))),
            None => {
                let groups: Vec<Value> = registry
                    .groups()
                    .iter()
                    .map(|(name, versions)| group(name, versions))
                    .collect();
                json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
            }
        },
        ["apis", name] => {
            let found = registry.groups().into_iter().find(|(group, _)| group == name);
            let Some((name, versions)) = found else {
                return Some(Ok(reply(
                    404,
                    "text/plain; charset=utf-8",
                    b"404 page not found\n".to_vec(),
                )));
            };
            let mut value = json!({"kind": "APIGroup", "apiVersion": "v1"});
            if let (Some(all), Value::Object(fields)) =
                (value.as_object_mut(), group(&name, &versions))
            {
                all.extend(fields);
            }
            value
        }
        ["api", version] => resources(&registry, "", version)?,
        ["apis", group, version] => resources(&registry, group, version)?,
        // kubectl asks so when it knows no newer document of a kind; of what it does not find here it thinks well.
        ["openapi", "v2"] if accept.contains("proto-openapi.spec.v2") => {
            let kind = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
            return Some(Ok(reply(200, kind, EMPTY_SWAGGER.to_vec())));
        }
        ["openapi", "v2"] => {
            let defined = registry.iter().filter(|one| one.custom.is_some());
            let defined: Vec<Arc<Resource>> = defined.cloned().collect();
            published::swagger(custom::older(&defined))
        }
        ["openapi", "v3"] => index(&registry),
        ["openapi", "v3", rest @ ..] => {
            let path = rest.join("/");
            let Some(document) = document(&registry, &path) else {
                let mut response = reply(404, "", Vec::new());
                response.headers_mut().remove(http::header::CONTENT_TYPE);
                return Some(Ok(response));
            };
            let text = serde_json::to_vec(&document).unwrap_or_default();
            let right = published::digest(&path).map_or_else(|| digest(&document), str::to_owned);
            if !hash.is_empty() && hash != right {
                let mut response = reply(301, "text/plain", Vec::new());
                if let Ok(value) = format!("/openapi/v3/{path}?hash={right}").parse() {
                    response.headers_mut().insert(http::header::LOCATION, value);
                }
                return Some(Ok(response));
            }
            return Some(Ok(reply(200, "application/json", text)));
        }
        _ => return None,
    };
    if *method != Method::GET {
        return Some(Err(ApiError::no_method()));
    }
    Some(Ok(reply(200, "application/json", serde_json::to_vec(&value).unwrap_or_default())))
}

fn root_paths(registry: &Registry) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in registry.groups() {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    paths.extend(
        ["/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
            .map(str::to_owned),
    );
    paths
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35", "gitVersion": "v1.36.2",
        "gitCommit": "lateen", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none", "compiler": "rustc", "platform": "linux/amd64",
    })
}

fn group(name: &str, versions: &[String]) -> Value {
    let one =
        |version: &String| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let all: Vec<Value> = versions.iter().map(one).collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first()})
}

/// The kind and group version of a subresource, where they are not the resource's.
fn other_kind(
    resource: &Resource,
    sub: &str,
) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match (resource.plural.as_str(), sub) {
        (_, "scale") => ("autoscaling", "v1", "Scale"),
        ("pods", "binding") => ("", "v1", "Binding"),
        ("pods", "eviction") => ("policy", "v1", "Eviction"),
        ("pods", "attach") => ("", "v1", "PodAttachOptions"),
        ("pods", "exec") => ("", "v1", "PodExecOptions"),
        ("pods", "portforward") => ("", "v1", "PodPortForwardOptions"),
        ("pods", "proxy") => ("", "v1", "PodProxyOptions"),
        ("nodes", "proxy") => ("", "v1", "NodeProxyOptions"),
        ("services", "proxy") => ("", "v1", "ServiceProxyOptions"),
        ("serviceaccounts", "token") => ("authentication.k8s.io", "v1", "TokenRequest"),
        _ => return None,
    })
}

fn sub_verbs(sub: &str) -> Vec<&'static str> {
    match sub {
        "binding" | "eviction" | "token" => vec!["create"],
        "attach" | "exec" | "portforward" => vec!["create", "get"],
        "proxy" => vec!["create", "delete", "get", "patch", "update"],
        "log" => vec!["get"],
        "finalize" => vec!["update"],
        _ => vec!["get", "patch", "update"],
    }
}

fn storage_hash(resource: &Resource) -> String {
    use base64::Engine;
    let (group, version) = resource.stored.split_once('/').unwrap_or(("", &resource.stored));
    let digest = Sha256::digest(format!("{group}/{version}/{}", resource.kind));
    base64::engine::general_purpose::STANDARD.encode(digest.get(..8).unwrap_or_default())
}

fn resources(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    if !registry.serves(group, version) {
        return None;
    }
    let mut entries = Vec::new();
    for one in registry.iter().filter(|one| one.group == group && one.version == version) {
        let mut entry = json!({
            "name": one.plural, "singularName": one.singular, "namespaced": one.namespaced, "kind": one.kind, "verbs": one.verbs,
        });
        if !one.short.is_empty() {
            entry["shortNames"] = json!(one.short);
        }
        if !one.categories.is_empty() {
            entry["categories"] = json!(one.categories);
        }
        if one.verbs.len() > 2 {
            entry["storageVersionHash"] = json!(storage_hash(one));
        }
        entries.push(entry);
        for sub in &one.subresources {
            let mut entry = json!({"name": format!("{}/{sub}", one.plural), "singularName": "", "namespaced": one.namespaced});
            let kind = match other_kind(one, sub) {
                Some((group, version, kind)) => {
                    if group != one.group || version != one.version {
                        entry["group"] = json!(group);
                        entry["version"] = json!(version);
                    }
                    kind
                }
                None => &one.kind,
            };
            if entry["group"] == json!("") || entry["group"].is_null() {
                if let Some(fields) = entry.as_object_mut() {
                    fields.retain(|_, value| *value != json!("") || value.is_boolean());
                    fields.insert("singularName".to_owned(), json!(""));
                    fields.retain(|key, value| !(key == "group" && value.is_null()));
                }
            }
            entry["kind"] = json!(kind);
            entry["verbs"] = json!(sub_verbs(sub));
            entries.push(entry);
        }
    }
    let mut list = json!({"kind": "APIResourceList"});
    if !group.is_empty() {
        list["apiVersion"] = json!("v1");
    }
    list["groupVersion"] =
        json!(if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") });
    list["resources"] = json!(entries);
    Some(list)
}

fn aggregated_form(accept: &str) -> Option<&'static str> {
    for one in accept.split(',') {
        let has = |part: &str| one.split(';').any(|piece| piece.trim() == part);
        if !has("application/json") {
            continue;
        }
        if has("as=APIGroupDiscoveryList") && has("g=apidiscovery.k8s.io") {
            if has("v=v2") {
                return Some("v2");
            }
            continue;
        }
        if !one.contains("as=") {
            return None;
        }
    }
    None
}

/// The group without a name, as [`Registry::groups`] lists the others.
fn core() -> Vec<(String, Vec<String>)> {
    vec![(String::new(), vec!["v1".to_owned()])]
}

fn aggregated(registry: &Registry, groups: Vec<(String, Vec<String>)>, form: &str) -> Response {
    let mut items = Vec::new();
    for (group, versions) in groups {
        let mut shown = Vec::new();
        let core = group.is_empty();
        for version in &versions {
            let resources: Vec<Value> = registry
                .iter()
                .filter(|one| one.group == group && one.version == *version)
                .map(|one| aggregated_resource(one))
                .collect();
            shown.push(json!({"version": version, "resources": resources, "freshness": "Current"}));
        }
        let metadata = if core { json!({}) } else { json!({"name": group}) };
        items.push(json!({"metadata": metadata, "versions": shown}));
    }
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{form}"), "metadata": {}, "items": items});
    let text = serde_json::to_vec(&list).unwrap_or_default();
    reply(
        200,
        &format!("application/json;g=apidiscovery.k8s.io;v={form};as=APIGroupDiscoveryList"),
        text,
    )
}

fn aggregated_resource(one: &Resource) -> Value {
    let own = |kind: &str| match &one.custom {
        Some(_) => json!({"group": one.group, "version": one.version, "kind": kind}),
        None => json!({"group": "", "version": "", "kind": kind}),
    };
    let scope = if one.namespaced { "Namespaced" } else { "Cluster" };
    let mut entry = json!({
        "resource": one.plural, "responseKind": own(&one.kind), "scope": scope,
        "singularResource": one.singular, "verbs": one.verbs,
    });
    if !one.short.is_empty() {
        entry["shortNames"] = json!(one.short);
    }
    if !one.categories.is_empty() {
        entry["categories"] = json!(one.categories);
    }
    let subs: Vec<Value> = one
        .subresources
        .iter()
        .map(|sub| {
            let kind = match other_kind(one, sub) {
                Some((group, version, kind)) if group != one.group || version != one.version => {
                    json!({"group": group, "version": version, "kind": kind})
                }
                Some((_, _, kind)) => own(kind),
                None => own(&one.kind),
            };
            json!({"subresource": sub, "responseKind": kind, "verbs": sub_verbs(sub)})
        })
        .collect();
    if !subs.is_empty() {
        entry["subresources"] = json!(subs);
    }
    entry
}

fn document(registry: &Registry, path: &str) -> Option<Value> {
    if let Some(document) = published::document(path) {
        return Some(document);
    }
    let (group, version) = path.strip_prefix("apis/")?.split_once('/')?;
    let own: Vec<Arc<Resource>> = registry
        .iter()
        .filter(|one| one.group == group && one.version == version && one.custom.is_some())
        .cloned()
        .collect();
    (!own.is_empty()).then(|| custom::document(&own))
}

fn digest(document: &Value) -> String {
    let digest = Sha256::digest(document.to_string());
    let text: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    text.concat()
}

fn index(registry: &Registry) -> Value {
    let owned = |(path, digest): (&str, &str)| (path.to_owned(), digest.to_owned());
    let mut all: std::collections::BTreeMap<String, String> =
        published::digests().map(owned).collect();
    for one in registry.iter().filter(|one| one.custom.is_some()) {
        let path = format!("apis/{}/{}", one.group, one.version);
        all.entry(path).or_insert_with_key(|path| {
            document(registry, path).map(|document| digest(&document)).unwrap_or_default()
        });
    }
    let paths: serde_json::Map<String, Value> = all
        .into_iter()
        .map(|(path, hash)| {
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}
