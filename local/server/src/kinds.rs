//! What single kinds have of their own: defaults, generation, how they end, conversions between versions.

use serde_json::{Map, Value, json};

use crate::custom;
use crate::decode;
use crate::plane::{DeleteOptions, now};
use crate::resource::Resource;

/// The finalizer of definitions whose instances still are to be deleted.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Types, unknown fields and defaults: what decoding does.
pub fn complete(
    resource: &Resource,
    object: &mut Value,
    findings: &mut Vec<String>,
) -> Result<(), String> {
    let Some(node) = resource.schema() else { return Ok(()) };
    let mut unknown = Vec::new();
    if resource.custom.is_some() {
        decode::prune(node, object, true, "", &mut unknown);
        decode::set_defaults(node, object);
    } else {
        decode::typed(node, &resource.kind, object, "", &mut unknown)?;
        decode::set_published_defaults(node, object);
        set_defaults(resource, object);
    }
    findings.extend(unknown.iter().map(|path| format!("unknown field \"{path}\"")));
    Ok(())
}

fn default(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        let entry = fields.entry(key).or_insert(Value::Null);
        if entry.is_null() {
            *entry = value;
        }
    }
}

fn each<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn set_defaults(resource: &Resource, object: &mut Value) {
    let key = (resource.group.as_str(), resource.plural.as_str());
    if let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) {
        match key {
            ("", "pods") => {
                default(spec, "enableServiceLinks", json!(true));
                pod(spec, true);
            }
            ("apps", "deployments") => {
                default(spec, "replicas", json!(1));
                default(spec, "strategy", json!({}));
                default(&mut spec["strategy"], "type", json!("RollingUpdate"));
                if spec["strategy"]["type"] == json!("RollingUpdate") {
                    default(&mut spec["strategy"], "rollingUpdate", json!({}));
                    let rolling = &mut spec["strategy"]["rollingUpdate"];
                    default(rolling, "maxUnavailable", json!("25%"));
                    default(rolling, "maxSurge", json!("25%"));
                }
                default(spec, "revisionHistoryLimit", json!(10));
                default(spec, "progressDeadlineSeconds", json!(600));
                template(spec);
            }
            ("apps", "replicasets") => {
                default(spec, "replicas", json!(1));
                template(spec);
            }
            ("apps", "statefulsets") => {
                default(spec, "replicas", json!(1));
                default(spec, "podManagementPolicy", json!("OrderedReady"));
                default(spec, "updateStrategy", json!({}));
                if spec["updateStrategy"]["type"].is_null() {
                    spec["updateStrategy"]["type"] = json!("RollingUpdate");
                    default(&mut spec["updateStrategy"], "rollingUpdate", json!({}));
                }
                if spec["updateStrategy"]["rollingUpdate"].is_object() {
                    default(&mut spec["updateStrategy"]["rollingUpdate"], "partition", json!(0));
                }
                default(spec, "revisionHistoryLimit", json!(10));
                default(spec, "persistentVolumeClaimRetentionPolicy", json!({}));
                let policy = &mut spec["persistentVolumeClaimRetentionPolicy"];
                default(policy, "whenDeleted", json!("Retain"));
                default(policy, "whenScaled", json!("Retain"));
                for claim in each(spec, "volumeClaimTemplates") {
                    default(claim, "apiVersion", json!("v1"));
                    default(claim, "kind", json!("PersistentVolumeClaim"));
                    default(&mut claim["spec"], "volumeMode", json!("Filesystem"));
                    default(claim, "status", json!({}));
                    default(&mut claim["status"], "phase", json!("Pending"));
                }
                template(spec);
            }
            ("apps", "daemonsets") => {
                default(spec, "updateStrategy", json!({}));
                default(&mut spec["updateStrategy"], "type", json!("RollingUpdate"));
                if spec["updateStrategy"]["type"] == json!("RollingUpdate") {
                    default(&mut spec["updateStrategy"], "rollingUpdate", json!({}));
                    let rolling = &mut spec["updateStrategy"]["rollingUpdate"];
                    default(rolling, "maxUnavailable", json!(1));
                    default(rolling, "maxSurge", json!(0));
                }
                default(spec, "revisionHistoryLimit", json!(10));
                template(spec);
            }
            ("batch", "jobs") => job(spec, true),
            ("batch", "cronjobs") => {
                default(spec, "concurrencyPolicy", json!("Allow"));
                default(spec, "suspend", json!(false));
                default(spec, "successfulJobsHistoryLimit", json!(3));
                default(spec, "failedJobsHistoryLimit", json!(1));
                if spec["jobTemplate"]["spec"].is_object() {
                    default(&mut spec["jobTemplate"], "metadata", json!({}));
                    template(&mut spec["jobTemplate"]["spec"]);
                }
            }
            ("", "replicationcontrollers") => {
                default(spec, "replicas", json!(1));
                template(spec);
            }
            ("", "services") => service(spec),
            ("", "namespaces") => {}
            ("", "persistentvolumeclaims") => default(spec, "volumeMode", json!("Filesystem")),
            ("", "persistentvolumes") => {
                default(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
                default(spec, "volumeMode", json!("Filesystem"));
            }
            ("networking.k8s.io", "networkpolicies") => {
                let mut types = vec!["Ingress"];
                if spec["egress"].as_array().is_some_and(|rules| !rules.is_empty()) {
                    types.push("Egress");
                }
                default(spec, "policyTypes", json!(types));
            }
            ("autoscaling", _) => {
                default(spec, "minReplicas", json!(1));
                if resource.version == "v2" {
                    default(
                        spec,
                        "metrics",
                        json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]),
                    );
                }
            }
            _ => {}
        }
    }
    match key {
        ("", "secrets") => {
            default(object, "type", json!("Opaque"));
            fold_strings(object);
        }
        ("", "serviceaccounts" | "configmaps") => {}
        ("storage.k8s.io", "storageclasses") => {
            default(object, "reclaimPolicy", json!("Delete"));
            default(object, "volumeBindingMode", json!("Immediate"));
        }
        ("discovery.k8s.io", "endpointslices") => {
            for port in each(object, "ports") {
                default(port, "name", json!(""));
                default(port, "protocol", json!("TCP"));
            }
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            if object["roleRef"].is_object() {
                default(&mut object["roleRef"], "apiGroup", json!("rbac.authorization.k8s.io"));
            }
            for subject in each(object, "subjects") {
                if subject["kind"] != json!("ServiceAccount") {
                    default(subject, "apiGroup", json!("rbac.authorization.k8s.io"));
                }
            }
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            custom::set_defaults(object);
            custom::set_stored_versions(object);
        }
        ("scheduling.k8s.io", "priorityclasses") => {
            default(object, "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        ("", "nodes") => {
            let capacity = object["status"]["capacity"].clone();
            if capacity.is_object() {
                default(&mut object["status"], "allocatable", capacity);
            }
        }
        _ => {}
    }
}

fn fold_strings(object: &mut Value) {
    use base64::Engine;
    let Some(fields) = object.as_object_mut() else { return };
    let Some(Value::Object(plain)) = fields.shift_remove("stringData") else { return };
    let data = fields.entry("data").or_insert_with(|| json!({}));
    if let Some(data) = data.as_object_mut() {
        for (key, value) in plain {
            let text = value.as_str().unwrap_or_default();
            let coded = base64::engine::general_purpose::STANDARD.encode(text);
            data.insert(key, json!(coded));
        }
    }
}

fn job(spec: &mut Value, whole: bool) {
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        spec["completions"] = json!(1);
    }
    if spec["completions"].is_null() {
        if let Some(fields) = spec.as_object_mut() {
            fields.shift_remove("completions");
        }
    }
    default(spec, "parallelism", json!(1));
    let limit = if spec["backoffLimitPerIndex"].is_null() { 6 } else { i64::from(i32::MAX) };
    default(spec, "backoffLimit", json!(limit));
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "backoffLimitPerIndex"));
    }
    default(spec, "completionMode", json!("NonIndexed"));
    default(spec, "suspend", json!(false));
    let replace =
        if spec["podFailurePolicy"].is_object() { "Failed" } else { "TerminatingOrFailed" };
    default(spec, "podReplacementPolicy", json!(replace));
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "podFailurePolicy"));
    }
    if whole {
        default(spec, "manualSelector", json!(false));
    }
    template(spec);
}

fn service(spec: &mut Value) {
    default(spec, "type", json!("ClusterIP"));
    default(spec, "sessionAffinity", json!("None"));
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    if spec["sessionAffinity"] == json!("ClientIP") {
        default(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": 10800}}));
    }
    for port in each(spec, "ports") {
        default(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        if port["targetPort"].is_null()
            || port["targetPort"] == json!(0)
            || port["targetPort"] == json!("")
        {
            port["targetPort"] = number;
        }
    }
    if kind != "ExternalName" {
        default(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if kind == "NodePort" || kind == "LoadBalancer" {
        default(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        default(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}

fn template(spec: &mut Value) {
    let Some(template) = spec.get_mut("template").filter(|template| template.is_object()) else {
        return;
    };
    default(template, "metadata", json!({}));
    if let Some(inner) = template.get_mut("spec").filter(|inner| inner.is_object()) {
        pod(inner, false);
    }
}

fn pod(spec: &mut Value, own: bool) {
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
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in each(spec, list) {
            container_defaults(container, own);
        }
    }
    for volume in each(spec, "volumes") {
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
        for source in each(&mut volume["projected"], "sources") {
            if source["serviceAccountToken"].is_object() {
                default(&mut source["serviceAccountToken"], "expirationSeconds", json!(3600));
            }
        }
        if let Some(fields) = volume.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
    }
}

fn container_defaults(container: &mut Value, own: bool) {
    let image = container["image"].as_str().unwrap_or_default().to_owned();
    let last = image.rsplit('/').next().unwrap_or_default();
    let tag = last.split_once(':').map(|(_, tag)| tag);
    let always = !image.contains('@') && tag.is_none_or(|tag| tag == "latest");
    default(container, "imagePullPolicy", json!(if always { "Always" } else { "IfNotPresent" }));
    default(container, "terminationMessagePath", json!("/dev/termination-log"));
    default(container, "terminationMessagePolicy", json!("File"));
    default(container, "resources", json!({}));
    if own {
        let limits = container["resources"]["limits"].clone();
        for (name, amount) in limits.as_object().into_iter().flatten() {
            default(&mut container["resources"], "requests", json!({}));
            default(&mut container["resources"]["requests"], name, amount.clone());
        }
        if let Some(fields) = container["resources"].as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
    }
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
        if let Some(get) = probe.get_mut("httpGet").filter(|get| get.is_object()) {
            default(get, "path", json!("/"));
            default(get, "scheme", json!("HTTP"));
        }
    }
    for variable in each(container, "env") {
        let field = variable.get_mut("valueFrom").and_then(|from| from.get_mut("fieldRef"));
        if let Some(field) = field.filter(|field| field.is_object()) {
            default(field, "apiVersion", json!("v1"));
        }
    }
}

/// What creating does to a kind beyond defaults.
pub fn prepare_create(resource: &Resource, object: &mut Value) {
    let drop_status = resource.has("status");
    if drop_status
        && !resource.is("", "nodes")
        && !resource.is("apiextensions.k8s.io", "customresourcedefinitions")
    {
        if let Some(fields) = object.as_object_mut() {
            fields.shift_remove("status");
        }
    }
    let uid = object["metadata"]["uid"].clone();
    let name = object["metadata"]["name"].clone();
    let key = if resource.custom.is_some() {
        ("-", "-")
    } else {
        (resource.group.as_str(), resource.plural.as_str())
    };
    match key {
        ("", "namespaces") => {
            default(&mut object["metadata"], "labels", json!({}));
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            default(object, "spec", json!({}));
            object["spec"]["finalizers"] = json!(["kubernetes"]);
            object["status"] = json!({"phase": "Active"});
        }
        ("", "pods") => {
            object["status"] = json!({"phase": "Pending", "qosClass": qos(&object["spec"])})
        }
        ("", "persistentvolumeclaims" | "persistentvolumes") => {
            object["status"] = json!({"phase": "Pending"})
        }
        ("apps", "deployments" | "statefulsets" | "replicasets" | "daemonsets")
        | ("batch", "cronjobs" | "jobs")
        | ("autoscaling", _)
        | ("", "resourcequotas" | "replicationcontrollers")
        | ("policy", _) => {
            object["status"] = match key.1 {
                "statefulsets" => json!({"replicas": 0, "availableReplicas": 0}),
                "replicasets" | "replicationcontrollers" => json!({"replicas": 0}),
                "daemonsets" => {
                    json!({"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0})
                }
                "poddisruptionbudgets" => {
                    json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0})
                }
                "horizontalpodautoscalers" => json!({"currentMetrics": null, "desiredReplicas": 0}),
                _ => json!({}),
            };
            if key.1 == "daemonsets" {
                default(&mut object["metadata"], "annotations", json!({}));
                object["metadata"]["annotations"]["deprecated.daemonset.template.generation"] =
                    json!("1");
            }
            if key.1 == "jobs" && object["spec"]["manualSelector"] != json!(true) {
                let labels = json!({
                    "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
                    "controller-uid": uid, "job-name": name,
                });
                object["spec"]["selector"] =
                    json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
                default(&mut object["spec"], "template", json!({}));
                default(&mut object["spec"]["template"], "metadata", json!({}));
                let metadata = &mut object["spec"]["template"]["metadata"];
                default(metadata, "labels", json!({}));
                for (label, value) in labels.as_object().into_iter().flatten() {
                    metadata["labels"][label] = value.clone();
                }
            }
        }
        ("", "services") => object["status"] = json!({"loadBalancer": {}}),
        ("networking.k8s.io", "ingresses") => object["status"] = json!({"loadBalancer": {}}),
        ("apiextensions.k8s.io", _) => {
            if let Some(fields) = object.as_object_mut() {
                fields.shift_remove("status");
            }
            custom::set_stored_versions(object);
            default(&mut object["metadata"], "finalizers", json!([]));
            if let Some(all) = object["metadata"]["finalizers"].as_array_mut() {
                if !all.contains(&json!(CLEANUP)) {
                    all.push(json!(CLEANUP));
                }
            }
        }
        _ => {}
    }
}

fn qos(spec: &Value) -> &'static str {
    let containers = spec["containers"].as_array().into_iter().flatten();
    let containers: Vec<&Value> =
        containers.chain(spec["initContainers"].as_array().into_iter().flatten()).collect();
    let amount = |container: &Value, part: &str, name: &str| {
        container["resources"][part][name].as_str().map(str::to_owned)
    };
    let asks = |container: &&Value| {
        ["cpu", "memory"].into_iter().any(|name| {
            amount(container, "requests", name).is_some()
                || amount(container, "limits", name).is_some()
        })
    };
    if !containers.iter().any(asks) {
        return "BestEffort";
    }
    let sure = containers.iter().all(|container| {
        ["cpu", "memory"].into_iter().all(|name| {
            let limit = amount(container, "limits", name);
            limit.is_some() && limit == amount(container, "requests", name)
        })
    });
    if sure { "Guaranteed" } else { "Burstable" }
}

/// Whether the kind counts changes in metadata.generation.
#[must_use]
pub fn has_generation(resource: &Resource) -> bool {
    resource.custom.is_some()
        || matches!(
            (resource.group.as_str(), resource.plural.as_str()),
            ("", "pods" | "replicationcontrollers")
                | ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets")
                | ("batch", _)
                | ("networking.k8s.io", "ingresses" | "ingressclasses" | "networkpolicies")
                | ("policy", _)
                | ("discovery.k8s.io", _)
                | ("apiextensions.k8s.io", _)
                | ("admissionregistration.k8s.io", _)
        )
}

/// Whether a change is one that generation counts.
#[must_use]
pub fn content_differs(resource: &Resource, old: &Value, new: &Value) -> bool {
    if let Some(custom) = &resource.custom {
        let without = |object: &Value| {
            let mut object = object.clone();
            if let Some(fields) = object.as_object_mut() {
                fields.shift_remove("metadata");
                if custom.status {
                    fields.shift_remove("status");
                }
            }
            object
        };
        return without(old) != without(new);
    }
    match resource.plural.as_str() {
        "deployments" => {
            old["spec"] != new["spec"]
                || old["metadata"]["annotations"] != new["metadata"]["annotations"]
        }
        "endpointslices" => {
            ["endpoints", "ports", "addressType"].into_iter().any(|key| old[key] != new[key])
                || old["metadata"]["labels"] != new["metadata"]["labels"]
        }
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            old["webhooks"] != new["webhooks"]
        }
        _ => old["spec"] != new["spec"],
    }
}

/// The main resource does not write the status where there is a subresource for it.
pub fn keep_status(resource: &Resource, old: &Value, new: &mut Value) {
    if !resource.has("status") {
        return;
    }
    if let Some(fields) = new.as_object_mut() {
        match old.get("status") {
            Some(status) => {
                fields.insert("status".to_owned(), status.clone());
            }
            None => {
                fields.shift_remove("status");
            }
        }
    }
    if resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        custom::set_stored_versions(new);
    }
    if resource.is("", "namespaces") {
        new["spec"]["finalizers"] = old["spec"]["finalizers"].clone();
        if new["spec"]["finalizers"].is_null() {
            if let Some(fields) = new["spec"].as_object_mut() {
                fields.shift_remove("finalizers");
            }
        }
    }
    if resource.is("apps", "daemonsets") && old["spec"]["template"] != new["spec"]["template"] {
        let key = "deprecated.daemonset.template.generation";
        let count = old["metadata"]["annotations"][key]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0_i64);
        default(&mut new["metadata"], "annotations", json!({}));
        new["metadata"]["annotations"][key] = json!((count + 1).to_string());
    }
}

/// Whether PUT may create the kind.
#[must_use]
pub fn created_by_update(resource: &Resource) -> bool {
    resource.custom.is_none()
        && matches!(
            resource.plural.as_str(),
            "services"
                | "endpoints"
                | "events"
                | "limitranges"
                | "roles"
                | "clusterroles"
                | "rolebindings"
                | "clusterrolebindings"
                | "leases"
                | "runtimeclasses"
        )
}

/// Whether PUT must name the version it replaces.
#[must_use]
pub fn needs_version(resource: &Resource) -> bool {
    resource.custom.is_some()
        || matches!(
            resource.plural.as_str(),
            "poddisruptionbudgets"
                | "leases"
                | "customresourcedefinitions"
                | "runtimeclasses"
                | "mutatingwebhookconfigurations"
                | "validatingwebhookconfigurations"
                | "csidrivers"
                | "csinodes"
        )
}

/// Whether a deleting object may be removed for good.
#[must_use]
pub fn may_go(resource: &Resource, object: &Value) -> bool {
    let held = |value: &Value| value.as_array().is_some_and(|all| !all.is_empty());
    let graceful = resource.is("", "pods")
        && object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) > 0;
    !held(&object["metadata"]["finalizers"])
        && !graceful
        && !(resource.is("", "namespaces") && held(&object["spec"]["finalizers"]))
}

/// Marks an object as deleting; whether it is gone at once.
pub fn begin_deletion(resource: &Resource, object: &mut Value, options: &DeleteOptions) -> bool {
    let fresh = object["metadata"]["deletionTimestamp"].is_null();
    let mut grace = 0;
    if resource.is("", "pods") {
        let wanted =
            options.grace.or(object["spec"]["terminationGracePeriodSeconds"].as_i64()).unwrap_or(0);
        let wanted = if wanted < 0 { 1 } else { wanted };
        let phase = object["status"]["phase"].as_str().unwrap_or_default();
        let placed = object["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
        grace = if !placed || phase == "Succeeded" || phase == "Failed" { 0 } else { wanted };
    }
    if let Some(policy) = options.propagation.as_deref() {
        let mut all = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        all.retain(|one| *one != json!("orphan") && *one != json!("foregroundDeletion"));
        match policy {
            "Orphan" => all.push(json!("orphan")),
            "Foreground" => all.push(json!("foregroundDeletion")),
            _ => {}
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            if all.is_empty() {
                metadata.shift_remove("finalizers");
            } else {
                metadata.insert("finalizers".to_owned(), json!(all));
            }
        }
    }
    let had = object["metadata"]["deletionGracePeriodSeconds"].as_i64();
    if fresh {
        if grace == 0 && may_go(resource, object) {
            return true;
        }
        let when = chrono::Utc::now() + chrono::Duration::seconds(grace);
        object["metadata"]["deletionTimestamp"] =
            json!(when.format("%Y-%m-%dT%H:%M:%SZ").to_string());
        object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        if let Some(generation) = object["metadata"]["generation"].as_i64() {
            object["metadata"]["generation"] = json!(generation + 1);
        }
    } else if resource.is("", "pods")
        && options.grace.is_some_and(|grace| had.is_some_and(|had| grace < had))
    {
        object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        let when = chrono::Utc::now() + chrono::Duration::seconds(grace);
        object["metadata"]["deletionTimestamp"] =
            json!(when.format("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    if resource.is("", "namespaces") {
        object["status"]["phase"] = json!("Terminating");
    }
    if resource.is("apiextensions.k8s.io", "customresourcedefinitions") && fresh {
        let condition = custom::condition(
            "Terminating",
            "True",
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
            &now(),
        );
        custom::set_condition(&mut object["status"], condition);
    }
    may_go(resource, object)
}

/// Kinds whose DELETE answers with the object.
#[must_use]
pub fn deletion_shows_object(resource: &Resource) -> bool {
    resource.custom.is_none()
        && matches!(
            resource.plural.as_str(),
            "pods"
                | "services"
                | "serviceaccounts"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "podtemplates"
                | "resourcequotas"
                | "namespaces"
                | "storageclasses"
                | "csidrivers"
                | "csinodes"
                | "volumeattachments"
        )
}

/// A stored object in the version of the resource.
#[must_use]
pub fn present(resource: &Resource, stored: &Value) -> Value {
    let mut object = stored.clone();
    let api = resource.api_version();
    let same = object["apiVersion"] == json!(api);
    if resource.custom.is_some() {
        object["apiVersion"] = json!(api);
        if let Some(node) = resource.schema() {
            if !same {
                decode::prune(node, &mut object, true, "", &mut Vec::new());
            }
            decode::set_defaults(node, &mut object);
        }
        return object;
    }
    if !same {
        if resource.is("events.k8s.io", "events") {
            rename(&mut object, &EVENT_FIELDS, false);
        }
        object["apiVersion"] = json!(api);
    }
    object
}

/// Fields of an event in core/v1 and in events.k8s.io/v1.
const EVENT_FIELDS: [(&str, &str); 6] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

fn rename(object: &mut Value, names: &[(&str, &str)], back: bool) {
    let Some(fields) = object.as_object_mut() else { return };
    for (left, right) in names {
        let (from, to) = if back { (right, left) } else { (left, right) };
        if let Some(value) = fields.shift_remove(*from) {
            fields.insert((*to).to_owned(), value);
        }
    }
    let (from, to) = if back {
        ("reportingController", "reportingComponent")
    } else {
        ("reportingComponent", "reportingController")
    };
    if let Some(value) = fields.shift_remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

/// An object as it is stored.
#[must_use]
pub fn to_stored(resource: &Resource, mut object: Value) -> Value {
    if resource.is("events.k8s.io", "events") {
        rename(&mut object, &EVENT_FIELDS, true);
    }
    object["apiVersion"] = json!(resource.stored);
    object
}
