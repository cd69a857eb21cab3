//! CustomResourceDefinitions of all kinds: a superset of the shipped ones, with nothing required that may be left out.

mod shape; // what schemas are built of
mod application; // Application and workflows
mod definition; // definitions
mod record; // revisions, trackers, policies
mod run; // WorkflowRun

use serde_json::{Value, json};

use self::application::application;
use self::definition::{
    component_definition, policy_definition, step_definition, trait_definition, workload_definition,
};
use self::record::{
    application_revision, definition_revision, package, policy, resource_tracker, workflow,
};

/// How a kind is named.
struct Naming {
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    scope: &'static str,
    oam: bool,
}

const fn oam(kind: &'static str, plural: &'static str, short: &'static [&'static str]) -> Naming {
    Naming { group: "core.oam.dev", kind, plural, short, scope: "Namespaced", oam: true }
}

/// Printer column: name, type, path.
type Column = (&'static str, &'static str, &'static str);

const DESCRIPTION: Column =
    ("DESCRIPTION", "string", ".metadata.annotations.definition\\.oam\\.dev/description");

struct Version {
    name: &'static str,
    storage: bool,
    schema: Value,
    status: bool,
    columns: Vec<Column>,
}

impl Version {
    fn new(name: &'static str, schema: Value) -> Self {
        Self { name, storage: true, schema, status: true, columns: Vec::new() }
    }

    fn columns(mut self, columns: &[Column]) -> Self {
        self.columns = columns.to_vec();
        self
    }

    fn without_status(mut self) -> Self {
        self.status = false;
        self
    }

    fn to_json(&self) -> Value {
        let mut version = json!({
            "name": self.name, "served": true, "storage": self.storage,
            "schema": { "openAPIV3Schema": self.schema },
        });
        if let Value::Object(map) = &mut version {
            map.insert(
                "subresources".into(),
                if self.status { json!({ "status": {} }) } else { json!({}) },
            );
            if !self.columns.is_empty() {
                let columns: Vec<Value> = self
                    .columns
                    .iter()
                    .map(|(name, kind, path)| json!({ "name": name, "type": kind, "jsonPath": path }))
                    .collect();
                map.insert("additionalPrinterColumns".into(), columns.into());
            }
        }
        version
    }
}

fn crd(naming: &Naming, versions: &[Version]) -> Value {
    let singular = naming.kind.to_lowercase();
    let mut names = json!({ "kind": naming.kind, "listKind": format!("{}List", naming.kind), "plural": naming.plural, "singular": singular });
    if let Value::Object(map) = &mut names {
        if naming.oam {
            map.insert("categories".into(), json!(["oam"]));
        }
        if !naming.short.is_empty() {
            map.insert("shortNames".into(), json!(naming.short));
        }
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{}.{}", naming.plural, naming.group) },
        "spec": {
            "group": naming.group,
            "names": names,
            "scope": naming.scope,
            "versions": versions.iter().map(Version::to_json).collect::<Vec<_>>(),
        },
    })
}

/// All CustomResourceDefinitions.
pub fn crds() -> Vec<Value> {
    let age: Column = ("AGE", "date", ".metadata.creationTimestamp");
    vec![
        crd(
            &oam("Application", "applications", &["app", "velaapp"]),
            &[Version::new("v1beta1", application()).columns(&[
                ("COMPONENT", "string", ".spec.components[*].name"),
                ("TYPE", "string", ".spec.components[*].type"),
                ("PHASE", "string", ".status.status"),
                ("HEALTHY", "boolean", ".status.services[*].healthy"),
                ("STATUS", "string", ".status.services[*].message"),
                age,
            ])],
        ),
        crd(
            &oam("ApplicationRevision", "applicationrevisions", &["apprev"]),
            &[Version::new("v1beta1", application_revision()).columns(&[
                age,
                (
                    "PUBLISH_VERSION",
                    "string",
                    ".metadata.annotations['app\\.oam\\.dev\\/publishVersion']",
                ),
                ("SUCCEEDED", "string", ".status.succeeded"),
            ])],
        ),
        crd(
            &oam("ComponentDefinition", "componentdefinitions", &["comp"]),
            &[Version::new("v1beta1", component_definition()).columns(&[
                ("WORKLOAD-KIND", "string", ".spec.workload.definition.kind"),
                DESCRIPTION,
            ])],
        ),
        crd(
            &oam("TraitDefinition", "traitdefinitions", &["trait"]),
            &[Version::new("v1beta1", trait_definition())
                .columns(&[("APPLIES-TO", "string", ".spec.appliesToWorkloads"), DESCRIPTION])],
        ),
        crd(
            &oam("PolicyDefinition", "policydefinitions", &["def-policy"]),
            &[Version::new("v1beta1", policy_definition())],
        ),
        crd(
            &oam("WorkflowStepDefinition", "workflowstepdefinitions", &["workflowstep"]),
            &[Version::new("v1beta1", step_definition())],
        ),
        crd(
            &oam("WorkloadDefinition", "workloaddefinitions", &["workload"]),
            &[
                Version { storage: false, ..Version::new("v1alpha2", workload_definition()) }
                    .columns(&[("DEFINITION-NAME", "string", ".spec.definitionRef.name")])
                    .without_status(),
                Version::new("v1beta1", workload_definition())
                    .columns(&[
                        ("DEFINITION-NAME", "string", ".spec.definitionRef.name"),
                        DESCRIPTION,
                    ])
                    .without_status(),
            ],
        ),
        crd(
            &oam("DefinitionRevision", "definitionrevisions", &["defrev"]),
            &[Version::new("v1beta1", definition_revision())
                .columns(&[
                    ("REVISION", "integer", ".spec.revision"),
                    ("HASH", "string", ".spec.revisionHash"),
                    ("TYPE", "string", ".spec.definitionType"),
                ])
                .without_status()],
        ),
        crd(
            &Naming { scope: "Cluster", ..oam("ResourceTracker", "resourcetrackers", &["rt"]) },
            &[Version::new("v1beta1", resource_tracker()).columns(&[
                ("TYPE", "string", ".spec.type"),
                ("APP", "string", ".metadata.labels['app\\.oam\\.dev\\/name']"),
                ("APP-NS", "string", ".metadata.labels['app\\.oam\\.dev\\/namespace']"),
                ("APP-GEN", "number", ".spec.applicationGeneration"),
            ])],
        ),
        crd(
            &oam("Policy", "policies", &[]),
            &[Version::new("v1alpha1", policy())
                .columns(&[("TYPE", "string", ".type")])
                .without_status()],
        ),
        crd(
            &oam("Workflow", "workflows", &[]),
            &[Version::new("v1alpha1", workflow()).without_status()],
        ),
        crd(
            &oam("WorkflowRun", "workflowruns", &["wr"]),
            &[Version::new("v1alpha1", run::schema()).columns(&[
                ("PHASE", "string", ".status.status"),
                ("AGE", "date", ".metadata.creationTimestamp"),
            ])],
        ),
        crd(
            &Naming {
                group: "cue.oam.dev",
                oam: false,
                ..oam("Package", "packages", &["pkg", "cpkg", "cuepkg", "cuepackage"])
            },
            &[Version::new("v1alpha1", package())
                .columns(&[
                    ("PATH", "string", ".spec.path"),
                    ("PROTO", "string", ".spec.provider.protocol"),
                    ("ENDPOINT", "string", ".spec.provider.endpoint"),
                ])
                .without_status()],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structural schema has a type everywhere but where anything goes.
    fn structural(at: &str, schema: &Value) {
        assert!(schema["type"].is_string(), "{at} has no type");
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            structural(&format!("{at}.{key}"), value);
        }
        for key in ["items", "additionalProperties"] {
            if schema[key].is_object() {
                structural(&format!("{at}.{key}"), &schema[key]);
            }
        }
        assert!(
            !(schema["properties"].is_object() && schema["additionalProperties"].is_object()),
            "{at} has both"
        );
    }

    #[test]
    fn schemas_are_structural_and_one_version_is_stored() {
        for crd in crds() {
            let versions = crd["spec"]["versions"].as_array().expect("versions");
            assert_eq!(versions.iter().filter(|it| it["storage"] == true).count(), 1);
            for version in versions {
                structural(
                    crd["metadata"]["name"].as_str().expect("name"),
                    &version["schema"]["openAPIV3Schema"],
                );
            }
        }
    }

    #[test]
    fn what_one_writer_keeps_is_owned_as_one() {
        let mut found = Vec::new();
        for crd in crds() {
            let kind = crd["spec"]["names"]["kind"].as_str().expect("kind");
            for version in crd["spec"]["versions"].as_array().expect("versions") {
                let parts = &version["schema"]["openAPIV3Schema"]["properties"];
                for part in ["spec", "status"] {
                    if parts[part]["x-kubernetes-map-type"] == "atomic" {
                        found.push(format!("{kind}.{part}"));
                    }
                }
            }
        }
        let kept = "Application.status ApplicationRevision.spec ApplicationRevision.status \
            DefinitionRevision.spec ResourceTracker.spec WorkflowRun.status";
        assert_eq!(found.join(" "), kept, "what users write is owned part by part");
    }
}
