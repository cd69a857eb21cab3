//! The cells of built-in kinds.

use chrono::Utc;
use serde_json::{Value, json};

use super::custom::custom_cell;
use super::format::{age, count, duration, joined, or_none, pairs, selector, text, time};
use super::pod::pod_cells;
use crate::resource::Resource;

/// The cells of one object.
pub(super) fn cells(resource: &Resource, object: &Value) -> Vec<Value> {
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
        ("apps", "replicasets") | ("", "replicationcontrollers") => vec![
            name,
            json!(count(&spec["replicas"])),
            json!(count(&status["replicas"])),
            json!(count(&status["readyReplicas"])),
            old,
            joined(pod, "name"),
            joined(pod, "image"),
            // A controller's selector is labels alone.
            if resource.group.is_empty() { pairs } else { selector }(&spec["selector"]),
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
                json!(if spec["suspend"] == json!(true) { "True" } else { "False" }),
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
            vec![
                name,
                phase,
                text(&spec["volumeName"], ""),
                if bound { text(&status["capacity"]["storage"], "") } else { json!("") },
                if bound { json!(access_modes(&status["accessModes"])) } else { json!("") },
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
            // The older version knows one metric.
            let percent = spec["targetCPUUtilizationPercentage"].as_i64();
            let own = percent.map(|percent| format!("cpu: <unknown>/{percent}%"));
            let metrics: Vec<String> = metrics.into_iter().chain(own).collect();
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
        ("apps", "controllerrevisions") => {
            let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            let mut owners = owners.filter(|one| one["controller"] == json!(true));
            let owner = owners.next().map(|owner| {
                let kind = owner["kind"].as_str().unwrap_or_default().to_lowercase();
                let api = owner["apiVersion"].as_str().unwrap_or_default();
                let group =
                    api.split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
                format!("{kind}{group}/{}", owner["name"].as_str().unwrap_or_default())
            });
            vec![
                name,
                or_none(owner.unwrap_or_default()),
                json!(count(&object["revision"]).to_string()),
                old,
            ]
        }
        ("", "podtemplates") => {
            let template = &object["template"];
            let pod = &template["spec"];
            vec![
                name,
                joined(pod, "name"),
                joined(pod, "image"),
                pairs(&template["metadata"]["labels"]),
            ]
        }
        ("", "resourcequotas") => {
            let (requests, limits) = quota_texts(status);
            vec![name, json!(requests), json!(limits), old]
        }
        ("discovery.k8s.io", "endpointslices") => slice_cells(object, name, old),
        ("networking.k8s.io", "ingressclasses") => {
            let to = &spec["parameters"];
            let kind = to["kind"].as_str().unwrap_or_default();
            let shown = match (to["apiGroup"].as_str(), to["name"].as_str()) {
                (Some(group), Some(to)) => format!("{kind}.{group}/{to}"),
                (None, Some(to)) => format!("{kind}/{to}"),
                (_, None) => String::new(),
            };
            vec![name, spec["controller"].clone(), or_none(shown), old]
        }
        ("storage.k8s.io", "storageclasses") => {
            let annotations = &metadata["annotations"];
            let usual = annotations["storageclass.kubernetes.io/is-default-class"] == json!("true");
            let name = name.as_str().unwrap_or_default();
            vec![
                json!(if usual { format!("{name} (default)") } else { name.to_owned() }),
                object["provisioner"].clone(),
                text(&object["reclaimPolicy"], "<unset>"),
                text(&object["volumeBindingMode"], "<unset>"),
                json!(object["allowVolumeExpansion"] == json!(true)),
                old,
            ]
        }
        ("scheduling.k8s.io", "priorityclasses") => vec![
            name,
            json!(count(&object["value"])),
            json!(object["globalDefault"] == json!(true)),
            old,
            text(&object["preemptionPolicy"], ""),
        ],
        (
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
        ) => {
            vec![name, json!(object["webhooks"].as_array().map_or(0, Vec::len)), old]
        }
        ("", "persistentvolumes") => {
            let claim = &spec["claimRef"];
            let claim = claim["name"].as_str().map_or(String::new(), |name| {
                format!("{}/{name}", claim["namespace"].as_str().unwrap_or_default())
            });
            let phase = if metadata["deletionTimestamp"].is_null() {
                text(&status["phase"], "")
            } else {
                json!("Terminating")
            };
            vec![
                name,
                text(&spec["capacity"]["storage"], ""),
                json!(access_modes(&spec["accessModes"])),
                text(&spec["persistentVolumeReclaimPolicy"], ""),
                phase,
                json!(claim),
                text(&spec["storageClassName"], ""),
                text(&spec["volumeAttributesClassName"], "<unset>"),
                text(&status["reason"], ""),
                old,
                text(&spec["volumeMode"], "<unset>"),
            ]
        }
        _ => vec![name, metadata["creationTimestamp"].clone()],
    }
}

fn access_modes(modes: &Value) -> String {
    let modes = modes.as_array().into_iter().flatten().filter_map(Value::as_str);
    let short: Vec<&str> = modes
        .map(|mode| match mode {
            "ReadWriteOnce" => "RWO",
            "ReadOnlyMany" => "ROX",
            "ReadWriteMany" => "RWX",
            _ => "RWOP",
        })
        .collect();
    short.join(",")
}

// Requests and limits of a quota, used/hard.
fn quota_texts(status: &Value) -> (String, String) {
    let mut names: Vec<&String> =
        status["hard"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    names.sort();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for name in names {
        let amount = |part: &str| status[part][name].as_str().unwrap_or("0").to_owned();
        let shown = format!("{name}: {}/{}", amount("used"), amount("hard"));
        if name.starts_with("limits.") { limits.push(shown) } else { requests.push(shown) }
    }
    (requests.join(", "), limits.join(", "))
}

fn some_of(all: &[String]) -> Value {
    let shown = all.get(..all.len().min(3)).unwrap_or_default().join(",");
    json!(match all.len() {
        0 => "<unset>".to_owned(),
        1..=3 => shown,
        many => format!("{shown} + {} more...", many - 3),
    })
}

fn slice_cells(object: &Value, name: Value, old: Value) -> Vec<Value> {
    let ports = object["ports"].as_array().into_iter().flatten();
    let ports: Vec<String> = ports
        .map(|port| match (&port["port"], port["name"].as_str().unwrap_or_default()) {
            (Value::Null, "") => "*".to_owned(),
            (Value::Null, name) => name.to_owned(),
            (number, _) => number.to_string(),
        })
        .collect();
    let endpoints = object["endpoints"].as_array().into_iter().flatten();
    let addresses: Vec<String> = endpoints
        .flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten())
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect();
    vec![name, object["addressType"].clone(), some_of(&ports), some_of(&addresses), old]
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
