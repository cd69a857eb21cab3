//! The defaults of roles and their bindings.

use serde_json::{Value, json};

use super::{default, each};

/// Roles and ClusterRoles.
pub(super) fn role(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.entry("rules").or_insert(Value::Null);
    }
}

/// RoleBindings and ClusterRoleBindings.
pub(super) fn binding(object: &mut Value) {
    if object["roleRef"].is_object() {
        default(&mut object["roleRef"], "apiGroup", json!("rbac.authorization.k8s.io"));
    }
    for subject in each(object, "subjects") {
        if subject["kind"] == json!("User") || subject["kind"] == json!("Group") {
            default(subject, "apiGroup", json!("rbac.authorization.k8s.io"));
        }
    }
}
