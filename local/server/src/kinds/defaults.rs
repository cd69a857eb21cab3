//! The defaults of built-in kinds, beyond those the published schemas tell.

use serde_json::{Map, Value, json};

use super::TEMPLATE_GENERATION;
use crate::custom;
use crate::resource::Resource;

pub(super) fn default(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        let entry = fields.entry(key).or_insert(Value::Null);
        // An empty text may be what Go writes of none.
        if entry.is_null() || (*entry == json!("") && value != json!("")) {
            *entry = value;
        }
    }
}

fn each<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Sets the defaults of a kind.
pub(super) fn set_defaults(resource: &Resource, object: &mut Value) {
    if resource.group == "admissionregistration.k8s.io" {
        webhooks(object);
        policies(resource, object);
        if resource.plural == "mutatingwebhookconfigurations" {
            for hook in each(object, "webhooks") {
                default(hook, "reinvocationPolicy", json!("Never"));
            }
        }
    }
    let key = (resource.group.as_str(), resource.plural.as_str());
    if let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) {
        match key {
            ("", "pods") => {
                default(spec, "enableServiceLinks", json!(true));
                pod(spec);
                requests(spec);
                host_ports(spec);
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
                // Part of what is read, so whoever writes the object owns it.
                default(&mut object["metadata"], "annotations", json!({}));
                default(&mut object["metadata"]["annotations"], TEMPLATE_GENERATION, json!("0"));
                let spec = &mut object["spec"];
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
            ("batch", "jobs") => {
                default(spec, "manualSelector", json!(false));
                job(spec);
                let labels = spec["template"]["metadata"]["labels"].clone();
                inherit(&mut object["metadata"], "labels", &labels);
            }
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
                let labels = spec["template"]["metadata"]["labels"].clone();
                inherit(spec, "selector", &labels);
                inherit(&mut object["metadata"], "labels", &labels);
            }
            ("", "services") => service(spec),
            ("", "namespaces") => {}
            ("", "persistentvolumeclaims") => default(spec, "volumeMode", json!("Filesystem")),
            ("", "persistentvolumes") => {
                if spec["hostPath"].is_object() {
                    default(&mut spec["hostPath"], "type", json!(""));
                }
                default(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
                default(spec, "volumeMode", json!("Filesystem"));
                default(object, "status", json!({}));
                default(&mut object["status"], "phase", json!("Pending"));
            }
            ("networking.k8s.io", "ingressclasses") => {
                if spec["parameters"].is_object() {
                    default(&mut spec["parameters"], "scope", json!("Cluster"));
                } else if let Some(fields) = spec.as_object_mut() {
                    fields.retain(|_, value| !value.is_null());
                }
            }
            ("storage.k8s.io", "csidrivers") => {
                for (key, value) in [
                    ("attachRequired", json!(true)),
                    ("podInfoOnMount", json!(false)),
                    ("storageCapacity", json!(false)),
                    ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
                    ("volumeLifecycleModes", json!(["Persistent"])),
                    ("requiresRepublish", json!(false)),
                    ("seLinuxMount", json!(false)),
                ] {
                    default(spec, key, value);
                }
            }
            ("networking.k8s.io", "networkpolicies") => {
                for side in ["ingress", "egress"] {
                    for rule in each(spec, side) {
                        each(rule, "ports")
                            .for_each(|port| default(port, "protocol", json!("TCP")));
                    }
                }
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
                } else {
                    default(spec, "targetCPUUtilizationPercentage", json!(80));
                }
                if spec.get("behavior").is_some_and(Value::is_object) {
                    behavior(&mut spec["behavior"]);
                }
            }
            _ => {}
        }
    }
    match key {
        ("", "podtemplates") => template(object),
        ("", "namespaces") => {
            let name = object["metadata"]["name"].clone();
            if name.as_str().is_some_and(|name| !name.is_empty()) {
                default(&mut object["metadata"], "labels", json!({}));
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            }
        }
        ("", "limitranges") => {
            for item in each(&mut object["spec"], "limits") {
                limits(item);
            }
        }
        ("", "secrets") => {
            default(object, "type", json!("Opaque"));
            fold_strings(object);
        }
        ("", "serviceaccounts" | "configmaps") => {}
        ("storage.k8s.io", "storageclasses") => {
            default(object, "reclaimPolicy", json!("Delete"));
            default(object, "volumeBindingMode", json!("Immediate"));
        }
        ("", "endpoints") => {
            for subset in each(object, "subsets") {
                each(subset, "ports").for_each(|port| default(port, "protocol", json!("TCP")));
            }
        }
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => {
            if let Some(fields) = object.as_object_mut() {
                fields.entry("rules").or_insert(Value::Null);
            }
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
                if subject["kind"] == json!("User") || subject["kind"] == json!("Group") {
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

/// Where a claim's content comes from is said in two fields.
pub(super) fn sources(spec: &mut Value) {
    let older = spec.get("dataSource").filter(|it| it.is_object()).cloned();
    let newer = spec.get("dataSourceRef").filter(|it| it.is_object()).cloned();
    match (older, newer) {
        (Some(source), None) => spec["dataSourceRef"] = source,
        (None, Some(source)) if source["namespace"].as_str().unwrap_or_default().is_empty() => {
            spec["dataSource"] = source;
            if let Some(fields) = spec["dataSource"].as_object_mut() {
                fields.shift_remove("namespace");
            }
        }
        _ => {}
    }
}

// How fast an autoscaler may act, where it says something about that.
fn behavior(behavior: &mut Value) {
    let policy = |kind: &str, value: i64, seconds: i64| json!({"type": kind, "value": value, "periodSeconds": seconds});
    default(behavior, "scaleUp", json!({}));
    default(behavior, "scaleDown", json!({}));
    for (way, policies) in [
        ("scaleUp", json!([policy("Pods", 4, 15), policy("Percent", 100, 15)])),
        ("scaleDown", json!([policy("Percent", 100, 15)])),
    ] {
        let rules = &mut behavior[way];
        default(rules, "selectPolicy", json!("Max"));
        default(rules, "policies", policies);
    }
    default(&mut behavior["scaleUp"], "stabilizationWindowSeconds", json!(0));
}

// Labels that are not given are those of the template.
fn inherit(parent: &mut Value, key: &str, labels: &Value) {
    let none = |labels: &Value| labels.as_object().is_none_or(Map::is_empty);
    if !none(labels) && none(&parent[key]) {
        parent[key] = labels.clone();
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

fn job(spec: &mut Value) {
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
        pod(inner);
    }
}

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

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

fn pod(spec: &mut Value) {
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

// What a container may have at most is what it gets, and what it gets is what it asks for.
fn limits(item: &mut Value) {
    if item["type"] != json!("Container") {
        return;
    }
    for (key, others) in [("default", &["max"][..]), ("defaultRequest", &["default", "min"][..])] {
        for other in others {
            let given = item[*other].clone();
            for (name, amount) in given.as_object().into_iter().flatten() {
                default(item, key, json!({}));
                default(&mut item[key], name, amount.clone());
            }
        }
    }
}

fn policies(resource: &Resource, object: &mut Value) {
    let (spec, constraints) = match resource.plural.as_str() {
        "validatingadmissionpolicies" | "mutatingadmissionpolicies" => {
            (&mut object["spec"], "matchConstraints")
        }
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings" => {
            (&mut object["spec"], "matchResources")
        }
        _ => return,
    };
    if constraints == "matchConstraints" {
        default(spec, "failurePolicy", json!("Fail"));
    }
    if let Some(matching) = spec.get_mut(constraints).filter(|it| it.is_object()) {
        default(matching, "matchPolicy", json!("Equivalent"));
        default(matching, "namespaceSelector", json!({}));
        default(matching, "objectSelector", json!({}));
        for list in ["resourceRules", "excludeResourceRules"] {
            each(matching, list).for_each(|rule| default(rule, "scope", json!("*")));
        }
    }
}

fn webhooks(configuration: &mut Value) {
    for hook in each(configuration, "webhooks") {
        default(hook, "failurePolicy", json!("Fail"));
        default(hook, "matchPolicy", json!("Equivalent"));
        default(hook, "namespaceSelector", json!({}));
        default(hook, "objectSelector", json!({}));
        default(hook, "timeoutSeconds", json!(10));
        let service = hook.get_mut("clientConfig").and_then(|it| it.get_mut("service"));
        if let Some(service) = service.filter(|service| service.is_object()) {
            default(service, "port", json!(443));
        }
        for rule in each(hook, "rules") {
            default(rule, "scope", json!("*"));
        }
    }
}
