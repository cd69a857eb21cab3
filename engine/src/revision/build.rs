//! The ApplicationRevision of an Application: name, content, labels.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{canonical, hash};
use crate::api::definition::DefinitionMap;
use crate::api::names::{annotation, label};
use crate::api::object::ObjectMeta;
use crate::api::revision::{ApplicationRevisionSpec, ApplicationRevisionStatus};
use crate::api::{Application, ApplicationRevision, Definition, Policy, V1BETA1, Workflow};

/// Everything an Application was rendered from, besides itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captured {
    /// Component definitions by name.
    pub components: DefinitionMap,
    /// Older component definitions.
    pub workloads: DefinitionMap,
    /// Trait definitions.
    pub traits: DefinitionMap,
    /// Policy definitions.
    pub policies: DefinitionMap,
    /// Step definitions.
    pub steps: DefinitionMap,
    /// External policies, by name.
    pub external_policies: Vec<Policy>,
    /// External workflow.
    pub workflow: Option<Workflow>,
    /// Objects of `ref-objects` components.
    pub referred: Vec<Value>,
    /// Revisions of the definitions of application-scoped policies, by policy.
    pub versions: IndexMap<String, String>,
}

impl Captured {
    /// Adds application-scoped policies that were heard, by their names.
    pub fn hear(&mut self, all: &[(String, Definition)]) {
        for (policy, definition) in all {
            let latest = definition.status.latest_revision.clone().unwrap_or_default();
            self.versions.insert(policy.clone(), latest.name);
            self.policies.insert(definition.metadata.name.clone(), definition.clone());
        }
    }
}

/// What the revision with a number is called.
pub fn name_of(app: &Application, number: i64) -> String {
    format!("{}-v{number}", app.metadata.name)
}

/// Name and number of the revision after the latest one.
pub fn next_name(app: &Application) -> (String, i64) {
    let number = app.status.latest_revision.as_ref().map_or(0, |it| it.revision) + 1;
    (name_of(app, number), number)
}

/// The revision, its hash in its label.
pub fn build(app: &Application, captured: Captured, name: &str) -> ApplicationRevision {
    let mut application = app.clone();
    application.status = Default::default();
    application.metadata.rest = Map::new();
    application.metadata.annotations.shift_remove(annotation::KUBECTL_LAST_APPLIED);
    let mut labels = app.metadata.labels.clone();
    labels.insert(label::APP_NAME.into(), app.metadata.name.clone());
    let spec = ApplicationRevisionSpec {
        application,
        component_definitions: captured.components,
        workload_definitions: captured.workloads,
        trait_definitions: captured.traits,
        policy_definitions: captured.policies,
        workflow_step_definitions: captured.steps,
        policies: captured
            .external_policies
            .into_iter()
            .map(|it| (format!("{}/{}", it.metadata.namespace, it.metadata.name), it))
            .collect(),
        workflow: captured.workflow,
        referred_objects: captured.referred,
        policy_versions: captured.versions,
        ..Default::default()
    };
    let mut revision = ApplicationRevision {
        api_version: V1BETA1.into(),
        kind: "ApplicationRevision".into(),
        metadata: ObjectMeta {
            name: name.into(),
            namespace: app.namespace().into(),
            labels,
            annotations: app.metadata.annotations.clone(),
            ..Default::default()
        },
        spec,
        status: Some(ApplicationRevisionStatus::default()),
        ..Default::default()
    };
    revision.metadata.annotations.shift_remove(annotation::KUBECTL_LAST_APPLIED);
    let hash = hash::revision_hash(&revision, &canonical::text);
    revision.metadata.labels.insert(label::APP_REVISION_HASH.into(), hash);
    revision
}
