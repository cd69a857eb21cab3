//! The defaults of who is asked about writes: webhooks, policies and their bindings.

use serde_json::{Value, json};

use super::{default, each};
use crate::resource::Resource;

/// What is of group `admissionregistration.k8s.io`.
pub(super) fn admission(resource: &Resource, object: &mut Value) {
    webhooks(object);
    policies(resource, object);
    if resource.plural == "mutatingwebhookconfigurations" {
        for hook in each(object, "webhooks") {
            default(hook, "reinvocationPolicy", json!("Never"));
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
