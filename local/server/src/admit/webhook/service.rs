//! Where the Service of a webhook is. Pods are simulated and answer nothing, so it is found only where
//! something real stands behind it: a name outside, or endpoints that are no pods.

use serde_json::{Value, json};

use crate::plane::Plane;

/// Host and port to connect to.
pub(super) fn address(
    plane: &Plane,
    namespace: &str,
    name: &str,
    port: u16,
) -> Result<(String, u16), String> {
    let found = plane.store().get(&format!("/services/{namespace}/{name}"));
    let Some(found) = found else { return Err(format!("service \"{name}\" not found")) };
    let spec = &found.value["spec"];
    if spec["type"] == json!("ExternalName") {
        return Ok((spec["externalName"].as_str().unwrap_or_default().to_owned(), port));
    }
    let mut ports = spec["ports"].as_array().into_iter().flatten();
    let Some(of_service) = ports.find(|one| one["port"] == json!(port)) else {
        return Err(format!("no service port {port} found for service \"{name}\""));
    };
    let wanted = of_service["name"].as_str().unwrap_or_default();
    let mut pods = false;
    let mut choose = |address: &Value, target: &Value, ports: &Value| {
        if target["kind"] == json!("Pod") {
            pods = true;
            return None;
        }
        let mut all = ports.as_array().into_iter().flatten();
        let one = all.find(|one| one["name"].as_str().unwrap_or_default() == wanted)?;
        let port = one["port"].as_u64().and_then(|it| u16::try_from(it).ok())?;
        Some((address.as_str()?.to_owned(), port))
    };
    if let Some(entry) = plane.store().get(&format!("/endpoints/{namespace}/{name}")) {
        for subset in entry.value["subsets"].as_array().into_iter().flatten() {
            for one in subset["addresses"].as_array().into_iter().flatten() {
                if let Some(at) = choose(&one["ip"], &one["targetRef"], &subset["ports"]) {
                    return Ok(at);
                }
            }
        }
    }
    let (_, slices) = plane.store().list(&format!("discovery.k8s.io/endpointslices/{namespace}/"));
    for slice in slices {
        if slice.value["metadata"]["labels"]["kubernetes.io/service-name"] != json!(name) {
            continue;
        }
        for one in slice.value["endpoints"].as_array().into_iter().flatten() {
            let address = one["addresses"].get(0).unwrap_or(&Value::Null);
            if let Some(at) = choose(address, &one["targetRef"], &slice.value["ports"]) {
                return Ok(at);
            }
        }
    }
    Err(if pods {
        format!(
            "the pods of service \"{name}\" are simulated and answer nothing: give the webhook a clientConfig.url, or the service endpoints that are no pods"
        )
    } else {
        format!("no endpoints available for service \"{name}\"")
    })
}
