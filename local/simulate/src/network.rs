//! EndpointSlices and Endpoints of Services, load balancers of Services and Ingresses.

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Id, Part};
use crate::object::{
    controlled_by, deleting, ended, name, ready, reference, selects, set, suffix, text, uid,
};

/// Services with this annotation get no address.
const NO_BALANCER: &str = "fake/no-lb";

pub(crate) fn service(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) {
        return;
    }
    if text(object, "/spec/type") == "LoadBalancer" {
        balance(cx, id, object);
    }
    let Some(selector) =
        object.pointer("/spec/selector").and_then(Value::as_object).filter(|it| !it.is_empty())
    else {
        return;
    };
    let selector = json!({"matchLabels": selector});
    let mut pods = cx.cluster.list("", "pods", &id.namespace);
    pods.retain(|pod| {
        selects(&selector, pod) && !ended(pod) && !text(pod, "/status/podIP").is_empty()
    });
    pods.sort_by_key(|pod| name(pod).to_owned());
    let early = publishes_early(object);
    let endpoint = |pod: &Value| {
        let serving = ready(pod);
        json!({"addresses": [text(pod, "/status/podIP")],
            "conditions": {"ready": early || (serving && !deleting(pod)), "serving": serving, "terminating": deleting(pod)},
            "nodeName": text(pod, "/spec/nodeName"),
            "targetRef": {"kind": "Pod", "namespace": id.namespace, "name": name(pod), "uid": uid(pod)}})
    };
    let endpoints: Vec<Value> = pods.iter().map(endpoint).collect();
    let ports: Vec<Value> = object["spec"]["ports"].as_array().into_iter().flatten().map(|port| {
        json!({"name": text(port, "/name"), "protocol": port["protocol"].as_str().unwrap_or("TCP"), "port": target(port, &pods)})
    }).collect();
    slice(cx, id, object, endpoints, &ports);
    legacy(cx, id, object, &pods, &ports);
}

fn publishes_early(service: &Value) -> bool {
    service["spec"]["publishNotReadyAddresses"] == json!(true)
}

// A named port is looked up in the first pod that has it.
fn target(port: &Value, pods: &[Value]) -> Value {
    match &port["targetPort"] {
        Value::String(wanted) => {
            let of = |pod: &Value| {
                pod["spec"]["containers"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .flat_map(|it| {
                        it["ports"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>()
                    })
                    .find(|it| it["name"] == json!(wanted))
                    .map(|it| it["containerPort"].clone())
            };
            pods.iter().find_map(of).unwrap_or_else(|| port["port"].clone())
        }
        Value::Null => port["port"].clone(),
        number => number.clone(),
    }
}

fn slice(cx: &Cx<'_>, id: &Id, object: &Value, endpoints: Vec<Value>, ports: &[Value]) {
    let known = cx
        .cluster
        .list("discovery.k8s.io", "endpointslices", &id.namespace)
        .into_iter()
        .find(|it| controlled_by(it, object));
    if let Some(known) = known {
        let at = id.beside("discovery.k8s.io", "endpointslices", name(&known));
        let _gone = cx.cluster.modify(&at, Part::Main, &mut |it| {
            set(it, &["endpoints"], json!(endpoints));
            set(it, &["ports"], json!(ports));
        });
        return;
    }
    let mut labels = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(
        "endpointslice.kubernetes.io/managed-by".to_owned(),
        json!("endpointslice-controller.k8s.io"),
    );
    labels.insert("kubernetes.io/service-name".to_owned(), json!(id.name));
    if text(object, "/spec/clusterIP") == "None" {
        labels.insert("service.kubernetes.io/headless".to_owned(), json!(""));
    }
    let named = format!("{}-{}", id.name, suffix());
    let family = object["spec"]["ipFamilies"][0].as_str().unwrap_or("IPv4");
    let body = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"generateName": format!("{}-", id.name), "name": named, "namespace": id.namespace, "labels": labels,
            "ownerReferences": [reference("v1", "Service", object)]},
        "addressType": family, "endpoints": endpoints, "ports": ports});
    if let Err(error) =
        cx.cluster.create(&id.beside("discovery.k8s.io", "endpointslices", &named), body)
    {
        tracing::debug!(?id, %error, "creating an EndpointSlice");
    }
}

fn legacy(cx: &Cx<'_>, id: &Id, object: &Value, pods: &[Value], ports: &[Value]) {
    let early = publishes_early(object);
    let address = |pod: &Value| {
        json!({"ip": text(pod, "/status/podIP"), "nodeName": text(pod, "/spec/nodeName"),
        "targetRef": {"kind": "Pod", "namespace": id.namespace, "name": name(pod), "uid": uid(pod)}})
    };
    let (yes, no): (Vec<&Value>, Vec<&Value>) =
        pods.iter().partition(|pod| early || (ready(pod) && !deleting(pod)));
    let mut ports = ports.to_vec();
    for port in ports.iter_mut().filter(|port| text(port, "/name").is_empty()) {
        crate::object::unset(port, "", "name");
    }
    let mut subset = json!({"ports": ports});
    for (key, list) in [("addresses", yes), ("notReadyAddresses", no)] {
        if !list.is_empty() {
            set(&mut subset, &[key], list.into_iter().map(address).collect());
        }
    }
    let subsets = if pods.is_empty() { json!([]) } else { json!([subset]) };
    let at = id.beside("", "endpoints", &id.name);
    if cx.cluster.get(&at).is_some() {
        let _gone = cx.cluster.modify(&at, Part::Main, &mut |it| {
            if subsets.as_array().is_some_and(Vec::is_empty) {
                if let Some(fields) = it.as_object_mut() {
                    fields.shift_remove("subsets");
                }
            } else {
                set(it, &["subsets"], subsets.clone());
            }
        });
        return;
    }
    let mut labels = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert("endpoints.kubernetes.io/managed-by".to_owned(), json!("endpoint-controller"));
    if text(object, "/spec/clusterIP") == "None" {
        labels.insert("service.kubernetes.io/headless".to_owned(), json!(""));
    }
    // Endpoints go with their Service.
    let mut owner = reference("v1", "Service", object);
    if let Some(fields) = owner.as_object_mut() {
        fields.shift_remove("controller");
        fields.shift_remove("blockOwnerDeletion");
    }
    let body = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": id.name, "namespace": id.namespace,
        "labels": labels, "ownerReferences": [owner]}, "subsets": subsets});
    let _exists = cx.cluster.create(&at, body);
}

fn balance(cx: &Cx<'_>, id: &Id, object: &Value) {
    if !cx.options.pods || object["metadata"]["annotations"].get(NO_BALANCER).is_some() {
        return;
    }
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        set(it, &["status", "loadBalancer", "ingress"], json!([{"ip": cx.options.balancer}]));
    });
}

pub(crate) fn ingress(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if !deleting(object) {
        balance(cx, id, object);
    }
}
