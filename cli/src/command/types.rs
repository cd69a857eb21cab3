//! Types that an Application names and nobody defines, told before anything is applied.

use http::Method;
use lateen_controller::connection::Client;
use lateen_controller::rest::{self, ActAs};
use lateen_engine::api::{DefinitionKind, SYSTEM_NAMESPACE, policies};
use serde_json::Value;

use crate::command::def::nearest;
use crate::exit::bad_input;
use crate::manifest::Document;

/// Steps that need no definition.
const BUILT_IN_STEPS: &[&str] = &["step-group", "apply-component", "builtin-apply-component"];

/// One `type` and where it stands.
struct Use<'a> {
    kind: DefinitionKind,
    name: &'a str,
    path: String,
}

/// Refuses documents with an unknown type: file, document, path, and the nearest known one.
///
/// # Errors
/// All unknown types, a line each; or that the definitions cannot be read.
pub async fn check(
    client: &Client,
    namespace: &str,
    documents: &[&Document],
) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let mut known: Vec<(DefinitionKind, String, Vec<String>)> = Vec::new();
    for document in documents {
        let namespace = document.object["metadata"]["namespace"].as_str().unwrap_or(namespace);
        for it in uses(&document.object) {
            let at = match known.iter().position(|old| old.0 == it.kind && old.1 == namespace) {
                Some(at) => at,
                None => {
                    known.push((
                        it.kind,
                        namespace.into(),
                        names(client, it.kind, namespace).await?,
                    ));
                    known.len() - 1
                }
            };
            let names = &known[at].2;
            // `type@v2` asks for a revision of it.
            let bare = it.name.split('@').next().unwrap_or_default();
            if !names.iter().any(|name| name == bare) {
                problems.push(format!(
                    "{document}: {}: there is no {} named {}{}",
                    it.path,
                    it.kind.kind(),
                    it.name,
                    nearest(bare, names.iter().map(String::as_str))
                ));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(bad_input(problems.join("\n"))) }
}

async fn names(
    client: &Client,
    kind: DefinitionKind,
    namespace: &str,
) -> Result<Vec<String>, rest::Error> {
    let mut kinds = vec![kind];
    if kind == DefinitionKind::Component {
        kinds.push(DefinitionKind::Workload);
    }
    let mut names = Vec::new();
    for kind in kinds {
        let mut places = vec![SYSTEM_NAMESPACE];
        if namespace != SYSTEM_NAMESPACE {
            places.push(namespace);
        }
        for place in places {
            let path = format!("/apis/core.oam.dev/v1beta1/namespaces/{place}/{}", kind.plural());
            let list = rest::send(client, Method::GET, &path, None, &ActAs::default()).await?;
            names.extend(
                items(&list["items"])
                    .filter_map(|it| Some(it["metadata"]["name"].as_str()?.into())),
            );
        }
    }
    Ok(names)
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Every type an Application names that must be defined.
fn uses(app: &Value) -> Vec<Use<'_>> {
    let spec = &app["spec"];
    let mut uses = Vec::new();
    for (index, component) in items(&spec["components"]).enumerate() {
        let path = format!("spec.components[{index}]");
        note(&mut uses, DefinitionKind::Component, component, &path, &[]);
        for (index, it) in items(&component["traits"]).enumerate() {
            note(&mut uses, DefinitionKind::Trait, it, &format!("{path}.traits[{index}]"), &[]);
        }
    }
    for (index, it) in items(&spec["policies"]).enumerate() {
        let path = format!("spec.policies[{index}]");
        note(&mut uses, DefinitionKind::Policy, it, &path, &policies::BUILT_IN);
    }
    for (index, step) in items(&spec["workflow"]["steps"]).enumerate() {
        let path = format!("spec.workflow.steps[{index}]");
        note(&mut uses, DefinitionKind::WorkflowStep, step, &path, BUILT_IN_STEPS);
        for (index, it) in items(&step["subSteps"]).enumerate() {
            let path = format!("{path}.subSteps[{index}]");
            note(&mut uses, DefinitionKind::WorkflowStep, it, &path, BUILT_IN_STEPS);
        }
    }
    uses
}

fn note<'a>(
    uses: &mut Vec<Use<'a>>,
    kind: DefinitionKind,
    value: &'a Value,
    path: &str,
    built_in: &[&str],
) {
    if let Some(name) = value["type"].as_str().filter(|it| !built_in.contains(it)) {
        uses.push(Use { kind, name, path: format!("{path}.type") });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_where_they_stand() {
        let app = serde_json::json!({"spec": {
            "components": [{"type": "webservice", "traits": [{"type": "scaler"}]}],
            "policies": [{"type": "topology"}, {"type": "mine"}],
            "workflow": {"steps": [{"type": "step-group", "subSteps": [{"type": "suspend"}]}]}
        }});
        let found: Vec<String> =
            uses(&app).iter().map(|it| format!("{} {}", it.path, it.name)).collect();
        assert_eq!(
            found,
            [
                "spec.components[0].type webservice",
                "spec.components[0].traits[0].type scaler",
                "spec.policies[1].type mine",
                "spec.workflow.steps[0].subSteps[0].type suspend"
            ]
        );
    }
}
