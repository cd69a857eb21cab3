//! The forms of an answer: the object, its metadata alone, or a Table as kubectl prints it.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::list::Page;
use crate::resource::Resource;
use crate::status::{ApiError, Result};

/// The form a client asked for.
#[derive(Clone, Debug, Default)]
pub struct Form {
    shape: Shape,
    include: Include,
    /// YAML instead of JSON.
    pub yaml: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    #[default]
    Whole,
    Table,
    Metadata,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Include {
    None,
    #[default]
    Metadata,
    Object,
}

impl Form {
    /// The first form of an Accept header that is known.
    pub fn accepted(accept: &str, list: bool, include: &str) -> Result<Form> {
        let include = match include {
            "None" => Include::None,
            "Object" => Include::Object,
            _ => Include::Metadata,
        };
        if accept.trim().is_empty() {
            return Ok(Form { include, ..Form::default() });
        }
        let mut media = false;
        for one in accept.split(',') {
            let mut pieces = one.split(';').map(str::trim);
            let kind = pieces.next().unwrap_or_default();
            let yaml = kind == "application/yaml";
            if !yaml && !["application/json", "*/*", "application/*"].contains(&kind) {
                media |= kind == "application/vnd.kubernetes.protobuf";
                continue;
            }
            media = true;
            let (mut shape, mut group, mut version) = ("", "", "");
            for piece in pieces {
                match piece.split_once('=') {
                    Some(("as", value)) => shape = value,
                    Some(("g", value)) => group = value,
                    Some(("v", value)) => version = value,
                    _ => {}
                }
            }
            let known = group == "meta.k8s.io" && (version == "v1" || version == "v1beta1");
            let shape = match shape {
                "" => Shape::Whole,
                "Table" if known => Shape::Table,
                "PartialObjectMetadata" if known && !list => Shape::Metadata,
                "PartialObjectMetadataList" if known && list => Shape::Metadata,
                "PartialObjectMetadata" if known => Shape::Metadata,
                _ => continue,
            };
            return Ok(Form { shape, include, yaml });
        }
        if media {
            return Err(ApiError::not_acceptable());
        }
        Err(ApiError::new(
            406,
            "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ))
    }
}

fn content_type(form: &Form) -> String {
    let _ = form;
    "application/json".to_owned()
}

fn partial(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
}

/// One object in the form.
pub fn render(
    resource: &Resource,
    object: Value,
    form: &Form,
    with_columns: bool,
) -> Result<(String, Value)> {
    let value = match form.shape {
        Shape::Whole => object,
        Shape::Metadata => partial(&object),
        Shape::Table => {
            let version = object["metadata"]["resourceVersion"].clone();
            let metadata =
                if version.is_null() { json!({}) } else { json!({"resourceVersion": version}) };
            table(resource, &[object], metadata, form, with_columns)
        }
    };
    Ok((content_type(form), value))
}

/// A bookmark in the form.
pub fn render_bookmark(object: Value, form: &Form, first: &mut bool) -> Value {
    match form.shape {
        Shape::Whole => object,
        Shape::Metadata => partial(&object),
        Shape::Table => {
            let _ = first;
            json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"], "columnDefinitions": null, "rows": []})
        }
    }
}

/// A page of a list in the form.
pub fn render_list(resource: &Resource, page: Page, form: &Form) -> Result<(String, Value)> {
    let mut metadata = json!({"resourceVersion": page.version.to_string()});
    if !page.next.is_empty() {
        metadata["continue"] = json!(page.next);
    } else if resource.custom.is_some() && form.shape == Shape::Whole {
        metadata["continue"] = json!("");
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = json!(remaining);
    }
    let value = match form.shape {
        Shape::Table => table(resource, &page.items, metadata, form, !page.continued),
        Shape::Metadata => {
            let items: Vec<Value> = page.items.iter().map(partial).collect();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items})
        }
        Shape::Whole => {
            let mut items = page.items;
            if resource.custom.is_none() {
                for item in &mut items {
                    if let Some(fields) = item.as_object_mut() {
                        fields.shift_remove("kind");
                        fields.shift_remove("apiVersion");
                    }
                }
            }
            json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": metadata, "items": items})
        }
    };
    Ok((content_type(form), value))
}

struct Column {
    name: String,
    kind: &'static str,
    format: String,
    description: String,
    priority: i64,
}

fn table(
    resource: &Resource,
    objects: &[Value],
    metadata: Value,
    form: &Form,
    with_columns: bool,
) -> Value {
    let columns = columns(resource);
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = json!({"cells": cells(resource, object)});
            if resource.is("", "pods") {
                match object["status"]["phase"].as_str() {
                    Some("Succeeded") => row["conditions"] = json!([{"type": "Completed", "status": "True", "reason": "Succeeded", "message": "The pod has completed successfully."}]),
                    Some("Failed") => row["conditions"] = json!([{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}]),
                    _ => {}
                }
            }
            row["object"] = match form.include {
                Include::None => Value::Null,
                Include::Metadata => partial(object),
                Include::Object => object.clone(),
            };
            row
        })
        .collect();
    let mut value = json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata});
    value["columnDefinitions"] = if with_columns {
        columns
            .iter()
            .map(|column| {
                json!({
                    "name": column.name, "type": column.kind, "format": column.format,
                    "description": column.description, "priority": column.priority,
                })
            })
            .collect()
    } else {
        Value::Null
    };
    if !with_columns {
        if let Some(fields) = value.as_object_mut() {
            fields.insert("columnDefinitions".to_owned(), Value::Null);
        }
    }
    value["rows"] = json!(rows);
    value
}

/// Columns of built-in kinds: `name[:type][*]`, `*` for wide ones; the name column is implied.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("", "pods", "Ready,Status,Restarts,Age,IP*,Node*,Nominated Node*,Readiness Gates*"),
    ("apps", "deployments", "Ready,Up-to-date,Available,Age,Containers*,Images*,Selector*"),
    (
        "apps",
        "replicasets",
        "Desired:integer,Current:integer,Ready:integer,Age,Containers*,Images*,Selector*",
    ),
    (
        "",
        "replicationcontrollers",
        "Desired:integer,Current:integer,Ready:integer,Age,Containers*,Images*,Selector*",
    ),
    ("apps", "statefulsets", "Ready,Age,Containers*,Images*"),
    (
        "apps",
        "daemonsets",
        "Desired:integer,Current:integer,Ready:integer,Up-to-date:integer,Available:integer,Node Selector,Age,Containers*,Images*,Selector*",
    ),
    ("batch", "jobs", "Status,Completions,Duration,Age,Containers*,Images*,Selector*"),
    (
        "batch",
        "cronjobs",
        "Schedule,Timezone,Suspend:boolean,Active:integer,Last Schedule,Age,Containers*,Images*,Selector*",
    ),
    ("", "services", "Type,Cluster-IP,External-IP,Port(s),Age,Selector*"),
    ("networking.k8s.io", "ingresses", "Class,Hosts,Address,Ports,Age"),
    ("", "configmaps", "Data,Age"),
    ("", "secrets", "Type,Data,Age"),
    ("", "namespaces", "Status,Age"),
    ("", "serviceaccounts", "Age"),
    (
        "",
        "nodes",
        "Status,Roles,Age,Version,Internal-IP*,External-IP*,OS-Image*,Kernel-Version*,Container-Runtime*",
    ),
    ("", "events", "Type,Reason,Object,Subobject*,Source*,Message,First Seen*,Count*,Name*"),
    (
        "events.k8s.io",
        "events",
        "Type,Reason,Object,Subobject*,Source*,Message,First Seen*,Count*,Name*",
    ),
    (
        "",
        "persistentvolumeclaims",
        "Status,Volume,Capacity,Access Modes,StorageClass,VolumeAttributesClass,Age,VolumeMode*",
    ),
    ("autoscaling", "horizontalpodautoscalers", "Reference,Targets,MinPods,MaxPods,Replicas,Age"),
    ("coordination.k8s.io", "leases", "Holder,Age"),
    (
        "policy",
        "poddisruptionbudgets",
        "Min Available,Max Unavailable,Allowed Disruptions:integer,Age",
    ),
    ("networking.k8s.io", "networkpolicies", "Pod-Selector,Age"),
    ("rbac.authorization.k8s.io", "rolebindings", "Role,Age,Users*,Groups*,ServiceAccounts*"),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        "Role,Age,Users*,Groups*,ServiceAccounts*",
    ),
    ("", "endpoints", "Endpoints,Age"),
];

fn meta_description(field: &str) -> String {
    let schema = crate::published::schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    schema
        .and_then(|schema| schema["properties"][field]["description"].as_str())
        .unwrap_or_default()
        .to_owned()
}

fn columns(resource: &Resource) -> Vec<Column> {
    let event = resource.plural == "events" && resource.custom.is_none();
    let mut columns = vec![Column {
        name: if event { "Last Seen" } else { "Name" }.to_owned(),
        kind: "string",
        format: if event { "" } else { "name" }.to_owned(),
        description: if event {
            "Time when this event was last observed".to_owned()
        } else {
            meta_description("name")
        },
        priority: 0,
    }];
    if let Some(custom) = &resource.custom {
        if custom.columns.is_empty() {
            columns.push(Column {
                name: "Age".to_owned(),
                kind: "date",
                format: String::new(),
                description: meta_description("creationTimestamp"),
                priority: 0,
            });
        }
        for column in &custom.columns {
            let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
            let described = text("description");
            let kind = match column["type"].as_str() {
                Some("integer") => "integer",
                Some("number") => "number",
                Some("boolean") => "boolean",
                Some("date") => "date",
                _ => "string",
            };
            columns.push(Column {
                name: text("name"),
                kind,
                format: text("format"),
                description: if described.is_empty() {
                    format!(
                        "Custom resource definition column (in JSONPath format): {}",
                        text("jsonPath")
                    )
                } else {
                    described
                },
                priority: column["priority"].as_i64().unwrap_or(0),
            });
        }
        return columns;
    }
    let known = COLUMNS
        .iter()
        .find(|(group, plural, _)| *group == resource.group && *plural == resource.plural);
    let Some((_, _, list)) = known else {
        columns.push(Column {
            name: "Created At".to_owned(),
            kind: "date",
            format: String::new(),
            description: meta_description("creationTimestamp"),
            priority: 0,
        });
        return columns;
    };
    for one in list.split(',') {
        let (one, priority) = one.strip_suffix('*').map_or((one, 0), |one| (one, 1));
        let (name, kind) = one.split_once(':').unwrap_or((one, "string"));
        let kind = match kind {
            "integer" => "integer",
            "boolean" => "boolean",
            _ => "string",
        };
        columns.push(Column {
            name: name.to_owned(),
            kind,
            format: if event && name == "Name" { "name" } else { "" }.to_owned(),
            description: if name == "Age" {
                meta_description("creationTimestamp")
            } else {
                String::new()
            },
            priority,
        });
    }
    columns
}

fn time(value: &Value) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(value.as_str()?).ok().map(|time| time.with_timezone(&Utc))
}

/// An age as kubectl writes it.
#[must_use]
pub fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let with = |big: i64, name: &str, small: i64, other: &str| {
        if small == 0 { format!("{big}{name}") } else { format!("{big}{name}{small}{other}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        ..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => with(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => with(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => with(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => with(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

fn age(value: &Value) -> Value {
    match time(value) {
        Some(then) => json!(duration((Utc::now() - then).num_seconds())),
        None => json!("<unknown>"),
    }
}

fn or_none(text: String) -> Value {
    json!(if text.is_empty() { "<none>".to_owned() } else { text })
}

fn pairs(map: &Value) -> Value {
    let mut all: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    all.sort();
    or_none(all.join(","))
}

fn selector(selector: &Value) -> Value {
    let mut all: Vec<String> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        all.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for one in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = one["key"].as_str().unwrap_or_default();
        let values: Vec<&str> =
            one["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        all.push(match one["operator"].as_str() {
            Some("In") => format!("{key} in ({})", values.join(",")),
            Some("NotIn") => format!("{key} notin ({})", values.join(",")),
            Some("Exists") => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    all.sort();
    or_none(all.join(","))
}

fn joined(spec: &Value, field: &str) -> Value {
    let all = spec["containers"].as_array().into_iter().flatten();
    let all: Vec<&str> = all.filter_map(|one| one[field].as_str()).collect();
    json!(all.join(","))
}

fn text(value: &Value, otherwise: &str) -> Value {
    match value {
        Value::String(text) if !text.is_empty() => json!(text),
        Value::Number(number) => json!(number.to_string()),
        _ => json!(otherwise),
    }
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn cells(resource: &Resource, object: &Value) -> Vec<Value> {
    let (metadata, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
    let name = metadata["name"].clone();
    let old = age(&metadata["creationTimestamp"]);
    if let Some(custom) = &resource.custom {
        let mut cells = vec![name];
        if custom.columns.is_empty() {
            cells.push(old);
        }
        cells.extend(custom.columns.iter().map(|column| custom_cell(column, object)));
        return cells;
    }
    let pod = &spec["template"]["spec"];
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => pod_cells(object, name, old),
        ("apps", "deployments") => vec![
            name,
            json!(format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]))),
            json!(count(&status["updatedReplicas"])),
            json!(count(&status["availableReplicas"])),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
            selector(&spec["selector"]),
        ],
        ("apps", "replicasets") => vec![
            name,
            json!(count(&spec["replicas"])),
            json!(count(&status["replicas"])),
            json!(count(&status["readyReplicas"])),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
            selector(&spec["selector"]),
        ],
        ("", "replicationcontrollers") => vec![
            name,
            json!(count(&spec["replicas"])),
            json!(count(&status["replicas"])),
            json!(count(&status["readyReplicas"])),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
            pairs(&spec["selector"]),
        ],
        ("apps", "statefulsets") => vec![
            name,
            json!(format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]))),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
        ],
        ("apps", "daemonsets") => vec![
            name,
            json!(count(&status["desiredNumberScheduled"])),
            json!(count(&status["currentNumberScheduled"])),
            json!(count(&status["numberReady"])),
            json!(count(&status["updatedNumberScheduled"])),
            json!(count(&status["numberAvailable"])),
            pairs(&pod["nodeSelector"]),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
            selector(&spec["selector"]),
        ],
        ("batch", "jobs") => {
            let holds = |kind: &str| crate::custom::is_true(status, kind);
            let state = if holds("Complete") {
                "Complete"
            } else if holds("Failed") {
                "Failed"
            } else if !metadata["deletionTimestamp"].is_null() {
                "Terminating"
            } else if holds("Suspended") {
                "Suspended"
            } else if holds("FailureTarget") {
                "FailureTarget"
            } else if holds("SuccessCriteriaMet") {
                "SuccessCriteriaMet"
            } else {
                "Running"
            };
            let done = count(&status["succeeded"]);
            let completions = match (&spec["completions"], count(&spec["parallelism"])) {
                (Value::Null, many) if many > 1 => format!("{done}/1 of {many}"),
                (Value::Null, _) => format!("{done}/1"),
                (wanted, _) => format!("{done}/{wanted}"),
            };
            let took = match (time(&status["startTime"]), time(&status["completionTime"])) {
                (Some(start), Some(end)) => duration((end - start).num_seconds()),
                (Some(start), None) => duration((Utc::now() - start).num_seconds()),
                _ => String::new(),
            };
            vec![
                name,
                json!(state),
                json!(completions),
                json!(took),
                old,
                joined(pod, "name"),
                joined(pod, "image"),
                selector(&spec["selector"]),
            ]
        }
        ("batch", "cronjobs") => {
            let pod = &spec["jobTemplate"]["spec"]["template"]["spec"];
            let last = time(&status["lastScheduleTime"]).map(|_| age(&status["lastScheduleTime"]));
            vec![
                name,
                spec["schedule"].clone(),
                text(&spec["timeZone"], "<none>"),
                json!(spec["suspend"] == json!(true)),
                json!(status["active"].as_array().map_or(0, Vec::len)),
                last.unwrap_or(json!("<none>")),
                old,
                joined(pod, "name"),
                joined(pod, "image"),
                selector(&spec["jobTemplate"]["spec"]["selector"]),
            ]
        }
        ("", "services") => service_cells(object, name, old),
        ("networking.k8s.io", "ingresses") => {
            let hosts: Vec<&str> = spec["rules"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|rule| rule["host"].as_str())
                .collect();
            let shown = match hosts.len() {
                0 => "*".to_owned(),
                1..=3 => hosts.join(","),
                many => format!(
                    "{} + {} more...",
                    hosts.get(..3).unwrap_or_default().join(","),
                    many - 3
                ),
            };
            let ports = if spec["tls"].as_array().is_some_and(|tls| !tls.is_empty()) {
                "80, 443"
            } else {
                "80"
            };
            vec![
                name,
                text(&spec["ingressClassName"], "<none>"),
                json!(shown),
                json!(addresses(status)),
                json!(ports),
                old,
            ]
        }
        ("", "configmaps") => {
            let many = ["data", "binaryData"]
                .map(|part| object[part].as_object().map_or(0, serde_json::Map::len));
            vec![name, json!(many.iter().sum::<usize>()), old]
        }
        ("", "secrets") => vec![
            name,
            object["type"].clone(),
            json!(object["data"].as_object().map_or(0, serde_json::Map::len)),
            old,
        ],
        ("", "namespaces") => vec![name, status["phase"].clone(), old],
        ("", "serviceaccounts") => vec![name, old],
        ("", "nodes") => {
            let ready = status["conditions"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|one| one["type"] == json!("Ready"));
            let mut state = match ready.map(|one| one["status"] == json!("True")) {
                Some(true) => "Ready",
                Some(false) => "NotReady",
                None => "Unknown",
            }
            .to_owned();
            if spec["unschedulable"] == json!(true) {
                state.push_str(",SchedulingDisabled");
            }
            let mut roles: Vec<&str> = metadata["labels"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
                .collect();
            roles.sort_unstable();
            let address = |kind: &str| {
                let found = status["addresses"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find(|one| one["type"] == json!(kind));
                text(&found.map(|one| one["address"].clone()).unwrap_or_default(), "<none>")
            };
            let info = &status["nodeInfo"];
            vec![
                name,
                json!(state),
                or_none(roles.join(",")),
                old,
                info["kubeletVersion"].as_str().unwrap_or_default().into(),
                address("InternalIP"),
                address("ExternalIP"),
                text(&info["osImage"], "<unknown>"),
                text(&info["kernelVersion"], "<unknown>"),
                text(&info["containerRuntimeVersion"], "<unknown>"),
            ]
        }
        (_, "events") => event_cells(object),
        ("", "persistentvolumeclaims") => {
            let phase = if metadata["deletionTimestamp"].is_null() {
                status["phase"].clone()
            } else {
                json!("Terminating")
            };
            let bound = spec["volumeName"].as_str().is_some_and(|name| !name.is_empty());
            let modes: Vec<&str> = status["accessModes"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|mode| match mode {
                    "ReadWriteOnce" => "RWO",
                    "ReadOnlyMany" => "ROX",
                    "ReadWriteMany" => "RWX",
                    _ => "RWOP",
                })
                .collect();
            vec![
                name,
                phase,
                text(&spec["volumeName"], ""),
                if bound { text(&status["capacity"]["storage"], "") } else { json!("") },
                if bound { json!(modes.join(",")) } else { json!("") },
                text(&spec["storageClassName"], ""),
                text(&spec["volumeAttributesClassName"], "<unset>"),
                old,
                text(&spec["volumeMode"], "<unset>"),
            ]
        }
        ("autoscaling", _) => {
            let reference = format!(
                "{}/{}",
                spec["scaleTargetRef"]["kind"].as_str().unwrap_or_default(),
                spec["scaleTargetRef"]["name"].as_str().unwrap_or_default()
            );
            let metrics: Vec<String> = spec["metrics"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|metric| {
                    let target = &metric["resource"]["target"];
                    let goal = target["averageUtilization"].as_i64().map_or(
                        target["averageValue"].as_str().unwrap_or("<unknown>").to_owned(),
                        |goal| format!("{goal}%"),
                    );
                    format!(
                        "{}: <unknown>/{goal}",
                        metric["resource"]["name"].as_str().unwrap_or_default()
                    )
                })
                .collect();
            let mut shown = metrics.get(..metrics.len().min(2)).unwrap_or_default().join(", ");
            if metrics.len() > 2 {
                shown = format!("{shown} + {} more...", metrics.len() - 2);
            }
            vec![
                name,
                json!(reference),
                or_none(shown),
                text(&spec["minReplicas"], "<unset>"),
                json!(count(&spec["maxReplicas"])),
                json!(count(&status["currentReplicas"])),
                old,
            ]
        }
        ("coordination.k8s.io", _) => vec![name, text(&spec["holderIdentity"], ""), old],
        ("policy", _) => vec![
            name,
            text(&spec["minAvailable"], "N/A"),
            text(&spec["maxUnavailable"], "N/A"),
            json!(count(&status["disruptionsAllowed"])),
            old,
        ],
        ("networking.k8s.io", "networkpolicies") => vec![name, selector(&spec["podSelector"]), old],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            let role = format!(
                "{}/{}",
                object["roleRef"]["kind"].as_str().unwrap_or_default(),
                object["roleRef"]["name"].as_str().unwrap_or_default()
            );
            let of = |kind: &str| {
                let all = object["subjects"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|one| one["kind"] == json!(kind));
                let all: Vec<String> = all
                    .map(|one| {
                        let name = one["name"].as_str().unwrap_or_default();
                        match one["namespace"].as_str() {
                            Some(namespace) if kind == "ServiceAccount" => {
                                format!("{namespace}/{name}")
                            }
                            _ => name.to_owned(),
                        }
                    })
                    .collect();
                json!(all.join(", "))
            };
            vec![name, json!(role), old, of("User"), of("Group"), of("ServiceAccount")]
        }
        ("", "endpoints") => {
            let mut all = Vec::new();
            for subset in object["subsets"].as_array().into_iter().flatten() {
                for address in subset["addresses"].as_array().into_iter().flatten() {
                    for port in subset["ports"].as_array().into_iter().flatten() {
                        all.push(format!(
                            "{}:{}",
                            address["ip"].as_str().unwrap_or_default(),
                            port["port"]
                        ));
                    }
                }
            }
            vec![name, or_none(all.join(",")), old]
        }
        _ => vec![name, metadata["creationTimestamp"].clone()],
    }
}

fn addresses(status: &Value) -> String {
    let all = status["loadBalancer"]["ingress"].as_array().into_iter().flatten();
    let all: Vec<&str> =
        all.filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str())).collect();
    all.join(",")
}

fn service_cells(object: &Value, name: Value, old: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut external: Vec<String> = Vec::new();
    let kind = spec["type"].as_str().unwrap_or_default();
    if kind == "LoadBalancer" && !addresses(status).is_empty() {
        external.push(addresses(status));
    }
    external.extend(
        spec["externalIPs"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned),
    );
    let external = match (kind, external.is_empty()) {
        ("ExternalName", _) => spec["externalName"].clone(),
        ("LoadBalancer", true) => json!("<pending>"),
        (_, true) => json!("<none>"),
        _ => json!(external.join(",")),
    };
    let ports: Vec<String> = spec["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["nodePort"].as_i64().filter(|number| *number > 0) {
                Some(node) => format!("{}:{node}/{protocol}", port["port"]),
                None => format!("{}/{protocol}", port["port"]),
            }
        })
        .collect();
    let address = spec["clusterIPs"].get(0).cloned().unwrap_or_default();
    vec![
        name,
        json!(kind),
        text(&address, "<none>"),
        external,
        or_none(ports.join(",")),
        old,
        pairs(&spec["selector"]),
    ]
}

fn event_cells(object: &Value) -> Vec<Value> {
    let either = |left: &str, right: &str| {
        if object[left].is_null() { object[right].clone() } else { object[left].clone() }
    };
    let about = either("involvedObject", "regarding");
    let source = either("source", "deprecatedSource");
    let first = either("firstTimestamp", "deprecatedFirstTimestamp");
    let last = either("lastTimestamp", "deprecatedLastTimestamp");
    let first = if first.is_null() { object["eventTime"].clone() } else { first };
    let seen = if !object["series"]["lastObservedTime"].is_null() {
        object["series"]["lastObservedTime"].clone()
    } else if last.is_null() {
        first.clone()
    } else {
        last
    };
    let what = format!(
        "{}/{}",
        about["kind"].as_str().unwrap_or_default().to_lowercase(),
        about["name"].as_str().unwrap_or_default()
    );
    let parts = [
        source["component"]
            .as_str()
            .or(object["reportingComponent"].as_str())
            .or(object["reportingController"].as_str()),
        source["host"].as_str().or(object["reportingInstance"].as_str()),
    ];
    let from: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let times = object["series"]["count"]
        .as_i64()
        .or(either("count", "deprecatedCount").as_i64())
        .unwrap_or(1);
    vec![
        age(&seen),
        object["type"].clone(),
        object["reason"].clone(),
        json!(what),
        text(&about["fieldPath"], ""),
        json!(from.join(", ")),
        json!(either("message", "note").as_str().unwrap_or_default().trim()),
        age(&first),
        json!(times.max(1)),
        object["metadata"]["name"].clone(),
    ]
}

fn pod_cells(object: &Value, name: Value, old: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut shown =
        status["reason"].as_str().or(status["phase"].as_str()).unwrap_or_default().to_owned();
    let total = spec["containers"].as_array().map_or(0, Vec::len);
    let (mut ready, mut restarts) = (0, 0);
    let mut starting = false;
    let first = status["initContainerStatuses"].as_array();
    let many = spec["initContainers"].as_array().map_or(0, Vec::len);
    for (index, one) in first.into_iter().flatten().enumerate() {
        restarts += count(&one["restartCount"]);
        let state = &one["state"];
        let ended = &state["terminated"];
        if ended["exitCode"] == json!(0) {
            continue;
        }
        starting = true;
        let waits =
            state["waiting"]["reason"].as_str().filter(|reason| *reason != "PodInitializing");
        shown = match (ended.is_object(), waits) {
            (true, _) => match ended["reason"].as_str().filter(|reason| !reason.is_empty()) {
                Some(reason) => format!("Init:{reason}"),
                None if count(&ended["signal"]) != 0 => format!("Init:Signal:{}", ended["signal"]),
                None => format!("Init:ExitCode:{}", count(&ended["exitCode"])),
            },
            (_, Some(reason)) => format!("Init:{reason}"),
            _ => format!("Init:{index}/{many}"),
        };
        break;
    }
    if !starting {
        restarts = 0;
        let mut running = false;
        for one in status["containerStatuses"].as_array().into_iter().flatten().rev() {
            restarts += count(&one["restartCount"]);
            let state = &one["state"];
            if let Some(reason) =
                state["waiting"]["reason"].as_str().filter(|reason| !reason.is_empty())
            {
                shown = reason.to_owned();
            } else if state["terminated"].is_object() {
                let ended = &state["terminated"];
                shown = match ended["reason"].as_str().filter(|reason| !reason.is_empty()) {
                    Some(reason) => reason.to_owned(),
                    None if count(&ended["signal"]) != 0 => format!("Signal:{}", ended["signal"]),
                    None => format!("ExitCode:{}", count(&ended["exitCode"])),
                };
            } else if one["ready"] == json!(true) && state["running"].is_object() {
                running = true;
                ready += 1;
            }
        }
        if shown == "Completed" && running {
            shown = if crate::custom::is_true(status, "Ready") { "Running" } else { "NotReady" }
                .to_owned();
        }
    }
    if !object["metadata"]["deletionTimestamp"].is_null()
        && !["Succeeded", "Failed"].contains(&status["phase"].as_str().unwrap_or_default())
    {
        shown = if status["reason"] == json!("NodeLost") { "Unknown" } else { "Terminating" }
            .to_owned();
    }
    let gates = spec["readinessGates"].as_array().map_or(0, Vec::len);
    let met = spec["readinessGates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|gate| {
            crate::custom::is_true(status, gate["conditionType"].as_str().unwrap_or_default())
        })
        .count();
    let gates = if gates == 0 { "<none>".to_owned() } else { format!("{met}/{gates}") };
    vec![
        name,
        json!(format!("{ready}/{total}")),
        json!(shown),
        json!(restarts.to_string()),
        old,
        text(&status["podIP"], "<none>"),
        text(&spec["nodeName"], "<none>"),
        text(&status["nominatedNodeName"], "<none>"),
        json!(gates),
    ]
}

fn custom_cell(column: &Value, object: &Value) -> Value {
    let found = json_path(object, column["jsonPath"].as_str().unwrap_or_default());
    let Some(found) = found else { return Value::Null };
    match column["type"].as_str() {
        Some("integer") => found.as_i64().map_or(Value::Null, |number| json!(number)),
        Some("number") => {
            if found.is_number() {
                found
            } else {
                Value::Null
            }
        }
        Some("boolean") => {
            if found.is_boolean() {
                found
            } else {
                Value::Null
            }
        }
        Some("date") => match (&found, time(&found)) {
            (_, Some(_)) => age(&found),
            (Value::Null, _) => Value::Null,
            _ => json!("<invalid>"),
        },
        _ => match found {
            Value::Null => Value::Null,
            Value::String(text) => json!(text),
            other => json!(other.to_string()),
        },
    }
}

/// The first match of kubectl's JSONPath subset.
fn json_path(object: &Value, path: &str) -> Option<Value> {
    let mut found: Vec<&Value> = vec![object];
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']')?;
            let step = inner.get(..end)?;
            rest = inner.get(end + 1..)?;
            found = if step == "*" {
                found.into_iter().flat_map(|one| one.as_array().into_iter().flatten()).collect()
            } else if let Some(test) =
                step.strip_prefix("?(@.").and_then(|test| test.strip_suffix(')'))
            {
                let (field, wanted, equal) = match test.split_once("==") {
                    Some((field, wanted)) => (field, wanted, true),
                    None => test.split_once("!=").map(|(field, wanted)| (field, wanted, false))?,
                };
                let wanted = wanted.trim().trim_matches(['"', '\'']);
                let holds = |one: &&Value| (one[field.trim()].as_str() == Some(wanted)) == equal;
                found
                    .into_iter()
                    .flat_map(|one| one.as_array().into_iter().flatten())
                    .filter(holds)
                    .collect()
            } else if let Ok(index) = step.parse::<usize>() {
                found.into_iter().filter_map(|one| one.get(index)).collect()
            } else {
                let key = step.trim_matches(['"', '\'']);
                found.into_iter().filter_map(|one| one.get(key)).collect()
            };
            continue;
        }
        rest = rest.trim_start_matches('.');
        let mut key = String::new();
        let mut characters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => {
                    if let Some((_, next)) = characters.next() {
                        key.push(next);
                    }
                }
                '.' | '[' => {
                    end = at;
                    break;
                }
                other => key.push(other),
            }
        }
        rest = rest.get(end..)?;
        found = found.into_iter().filter_map(|one| one.get(&key)).collect();
    }
    found.into_iter().next().cloned()
}
