//! ClusterRoles that are made of others.

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Id, Part};
use crate::object::{name, selects, set};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The rules of an aggregated ClusterRole are those of the roles it selects.
pub(crate) fn aggregate(cx: &Cx<'_>, id: &Id, object: &Value) {
    let Some(selectors) = object.pointer("/aggregationRule/clusterRoleSelectors") else { return };
    let selectors: Vec<&Value> = selectors.as_array().into_iter().flatten().collect();
    let mut rules: Vec<Value> = Vec::new();
    let mut roles = cx.cluster.list(GROUP, "clusterroles", "");
    roles.sort_by_key(|role| name(role).to_owned());
    for role in roles {
        if name(&role) == id.name || !selectors.iter().any(|one| selects(one, &role)) {
            continue;
        }
        for rule in role["rules"].as_array().into_iter().flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    if object["rules"] == json!(rules) || (rules.is_empty() && object["rules"].is_null()) {
        return;
    }
    let _gone = cx.cluster.modify(id, Part::Main, &mut |it| set(it, &["rules"], json!(rules)));
}
