//! Structural hashes, equal to KubeVela's byte for byte.
//!
//! FNV-1 of 64 bits over scalars; lists fold in order, maps by XOR, records field by field in declaration order,
//! zero fields included. Raw JSON (properties) is a record over its bytes.

use serde_json::{Map, Value};

use super::canonical;
use crate::api::definition::{DefinitionMap, DefinitionReference, Schematic, StatusTemplates};
use crate::api::workflow::{InputItem, OutputItem, WorkflowSpec};
use crate::api::{
    ApplicationRevision, ApplicationSpec, Component, Definition, DefinitionKind, Trait,
    WorkflowStep,
};

/// How raw JSON is written before it is hashed; the API server's form unless a test knows better.
pub type RawText<'a> = &'a dyn Fn(&Value) -> String;

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(14_695_981_039_346_656_037, |hash: u64, byte| {
        hash.wrapping_mul(1_099_511_628_211) ^ u64::from(*byte)
    })
}

fn pair(a: u64, b: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&a.to_le_bytes());
    bytes[8..].copy_from_slice(&b.to_le_bytes());
    fnv(&bytes)
}

fn finish(hash: u64) -> u64 {
    fnv(&hash.to_le_bytes())
}

fn text(text: &str) -> u64 {
    fnv(text.as_bytes())
}

fn integer(value: i64) -> u64 {
    fnv(&value.to_le_bytes())
}

fn byte(value: u8) -> u64 {
    fnv(&[value])
}

fn null() -> u64 {
    integer(0)
}

fn list<T>(items: &[T], each: impl Fn(&T) -> u64) -> u64 {
    items.iter().fold(0, |hash, item| pair(hash, each(item)))
}

fn texts(items: &[String]) -> u64 {
    list(items, |it| text(it))
}

fn map<'a>(entries: impl Iterator<Item = (&'a str, u64)>) -> u64 {
    finish(entries.fold(0, |hash, (key, value)| hash ^ pair(text(key), value)))
}

fn optional<T>(value: Option<&T>, hash: impl Fn(&T) -> u64) -> u64 {
    value.map_or_else(null, hash)
}

struct Record(u64);

impl Record {
    fn new(name: &str) -> Self {
        Self(text(name))
    }

    fn with(self, name: &str, value: u64) -> Self {
        Self(finish(self.0 ^ pair(text(name), value)))
    }
}

fn raw(value: Option<&Value>, write: RawText<'_>) -> u64 {
    optional(value, |value| {
        let bytes = write(value);
        Record::new("RawExtension")
            .with("Raw", list(bytes.as_bytes(), |byte| fnv(&[*byte])))
            .with("Object", null())
            .0
    })
}

/// Of any JSON value.
fn json(value: &Value) -> u64 {
    match value {
        Value::Null => null(),
        Value::Bool(it) => byte(u8::from(*it)),
        Value::Number(it) => match it.as_i64() {
            Some(it) => integer(it),
            None => fnv(&it.as_f64().unwrap_or_default().to_bits().to_le_bytes()),
        },
        Value::String(it) => text(it),
        Value::Array(items) => list(items, json),
        Value::Object(entries) => {
            map(entries.iter().map(|(key, value)| (key.as_str(), json(value))))
        }
    }
}

/// Hash of an object about to be applied (label `oam.dev/render-hash`).
pub fn object_hash(object: &Value) -> String {
    hex(Record::new("Unstructured").with("Object", json(object)).0)
}

fn hex(hash: u64) -> String {
    format!("{hash:x}")
}

fn inputs(items: &[InputItem]) -> u64 {
    list(items, |it| {
        Record::new("InputItem")
            .with("ParameterKey", text(&it.parameter_key))
            .with("From", text(&it.from))
            .0
    })
}

fn outputs(items: &[OutputItem]) -> u64 {
    list(items, |it| {
        Record::new("OutputItem")
            .with("ValueFrom", text(&it.value_from))
            .with("Name", text(&it.name))
            .0
    })
}

fn component(it: &Component, write: RawText<'_>) -> u64 {
    Record::new("ApplicationComponent")
        .with("Name", text(&it.name))
        .with("Type", text(&it.r#type))
        .with("ExternalRevision", text(&it.external_revision))
        .with("Properties", raw(it.properties.as_ref(), write))
        .with("DependsOn", texts(&it.depends_on))
        .with("Inputs", inputs(&it.inputs))
        .with("Outputs", outputs(&it.outputs))
        .with(
            "Traits",
            list(&it.traits, |it: &Trait| {
                Record::new("ApplicationTrait")
                    .with("Type", text(&it.r#type))
                    .with("Properties", raw(it.properties.as_ref(), write))
                    .0
            }),
        )
        .with("Scopes", map(it.scopes.iter().map(|(key, value)| (key.as_str(), text(value)))))
        .with("ReplicaKey", text(&it.replica_key))
        .0
}

fn step_base(it: &WorkflowStep, write: RawText<'_>) -> u64 {
    Record::new("WorkflowStepBase")
        .with("Name", text(&it.name))
        .with("Type", text(&it.r#type))
        .with(
            "Meta",
            optional(it.meta.as_ref(), |it| {
                Record::new("WorkflowStepMeta").with("Alias", text(&it.alias)).0
            }),
        )
        .with("If", text(&it.r#if))
        .with("Timeout", text(&it.timeout))
        .with("DependsOn", texts(&it.depends_on))
        .with("Inputs", inputs(&it.inputs))
        .with("Outputs", outputs(&it.outputs))
        .with("Properties", raw(it.properties.as_ref(), write))
        .0
}

fn steps(items: &[WorkflowStep], write: RawText<'_>) -> u64 {
    list(items, |it| {
        Record::new("WorkflowStep")
            .with("WorkflowStepBase", step_base(it, write))
            .with("Mode", text(&it.mode))
            .with("SubSteps", list(&it.sub_steps, |it| step_base(it, write)))
            .0
    })
}

fn workflow(it: &WorkflowSpec, write: RawText<'_>) -> u64 {
    Record::new("Workflow")
        .with("Ref", text(&it.r#ref))
        .with(
            "Mode",
            optional(it.mode.as_ref(), |it| {
                Record::new("WorkflowExecuteMode")
                    .with("Steps", text(&it.steps))
                    .with("SubSteps", text(&it.sub_steps))
                    .0
            }),
        )
        .with("Steps", steps(&it.steps, write))
        .0
}

/// Hash of an Application's spec.
pub fn spec_hash(spec: &ApplicationSpec, write: RawText<'_>) -> String {
    let policies = list(&spec.policies, |it| {
        Record::new("AppPolicy")
            .with("Name", text(&it.name))
            .with("Type", text(&it.r#type))
            .with("Properties", raw(it.properties.as_ref(), write))
            .0
    });
    hex(Record::new("ApplicationSpec")
        .with("Components", list(&spec.components, |it| component(it, write)))
        .with("Policies", policies)
        .with("Workflow", optional(spec.workflow.as_ref(), |it| workflow(it, write)))
        .0)
}

/// Hash of a component (`context.revision`).
pub fn component_hash(it: &Component) -> String {
    hex(component(it, &canonical::text))
}

fn reference(it: Option<&DefinitionReference>) -> u64 {
    Record::new("DefinitionReference")
        .with("Name", text(it.map_or("", |it| &it.name)))
        .with("Version", text(it.map_or("", |it| &it.version)))
        .0
}

fn status(it: Option<&StatusTemplates>) -> u64 {
    optional(it, |it| {
        Record::new("Status")
            .with("CustomStatus", text(&it.custom_status))
            .with("HealthPolicy", text(&it.health_policy))
            .with("Details", text(&it.details))
            .0
    })
}

fn schematic(it: Option<&Schematic>) -> u64 {
    optional(it, |it| {
        Record::new("Schematic")
            .with(
                "CUE",
                optional(it.cue.as_ref(), |it| {
                    Record::new("CUE").with("Template", text(&it.template)).0
                }),
            )
            .with("Terraform", optional(it.terraform.as_ref(), terraform))
            .0
    })
}

fn terraform(it: &Value) -> u64 {
    let string = |key: &str| text(it.get(key).and_then(Value::as_str).unwrap_or_default());
    let named = |key: &str, record: &str| {
        optional(it.get(key), |value| {
            let part = |key: &str| text(value.get(key).and_then(Value::as_str).unwrap_or_default());
            Record::new(record).with("Name", part("name")).with("Namespace", part("namespace")).0
        })
    };
    Record::new("Terraform")
        .with("Configuration", string("configuration"))
        .with("Type", string("type"))
        .with("Path", string("path"))
        .with(
            "WriteConnectionSecretToReference",
            named("writeConnectionSecretToRef", "SecretReference"),
        )
        .with("ProviderReference", named("providerRef", "Reference"))
        .with(
            "DeleteResource",
            byte(u8::from(it.get("deleteResource").and_then(Value::as_bool).unwrap_or_default())),
        )
        .with("Region", string("customRegion"))
        .with(
            "GitCredentialsSecretReference",
            named("gitCredentialsSecretReference", "SecretReference"),
        )
        .0
}

fn child_kinds(items: &[Value]) -> u64 {
    list(items, |it| {
        let string = |key: &str| text(it.get(key).and_then(Value::as_str).unwrap_or_default());
        let selector = it.get("selector").and_then(Value::as_object).map_or_else(
            || map(std::iter::empty()),
            |it: &Map<String, Value>| {
                map(it.iter().map(|(key, value)| (key.as_str(), json(value))))
            },
        );
        Record::new("ChildResourceKind")
            .with("APIVersion", string("apiVersion"))
            .with("Kind", string("kind"))
            .with("Selector", selector)
            .0
    })
}

/// Hash of a definition's spec; names its revision.
pub fn definition_hash(definition: &Definition) -> String {
    let spec = &definition.spec;
    let write: RawText<'_> = &canonical::text;
    let extension = || raw(spec.extension.as_ref(), write);
    let kind = definition.definition_kind().unwrap_or_default();
    let record = match kind {
        DefinitionKind::Component => {
            let workload = spec.workload.as_ref();
            let gvk = workload.and_then(|it| it.definition.as_ref());
            Record::new("ComponentDefinitionSpec").with("Version", text(&spec.version)).with(
                "Workload",
                Record::new("WorkloadTypeDescriptor")
                    .with("Type", text(workload.map_or("", |it| &it.r#type)))
                    .with(
                        "Definition",
                        Record::new("WorkloadGVK")
                            .with("APIVersion", text(gvk.map_or("", |it| &it.api_version)))
                            .with("Kind", text(gvk.map_or("", |it| &it.kind)))
                            .0,
                    )
                    .0,
            )
        }
        DefinitionKind::Workload => Record::new("WorkloadDefinitionSpec")
            .with("Reference", reference(spec.definition_ref.as_ref())),
        DefinitionKind::Trait => Record::new("TraitDefinitionSpec")
            .with("Reference", reference(spec.definition_ref.as_ref()))
            .with("RevisionEnabled", byte(u8::from(spec.revision_enabled)))
            .with("WorkloadRefPath", text(&spec.workload_ref_path))
            .with("PodDisruptive", byte(u8::from(spec.pod_disruptive)))
            .with("AppliesToWorkloads", texts(&spec.applies_to_workloads))
            .with("ConflictsWith", texts(&spec.conflicts_with))
            .with("Schematic", schematic(spec.schematic.as_ref()))
            .with("Status", status(spec.status.as_ref()))
            .with("Extension", extension())
            .with("ManageWorkload", byte(u8::from(spec.manage_workload)))
            .with("ControlPlaneOnly", byte(u8::from(spec.control_plane_only)))
            .with("Stage", text(&spec.stage))
            .with("Version", text(&spec.version)),
        DefinitionKind::Policy => Record::new("PolicyDefinitionSpec")
            .with("Reference", reference(spec.definition_ref.as_ref()))
            .with("Schematic", schematic(spec.schematic.as_ref()))
            .with("ManageHealthCheck", byte(u8::from(spec.manage_health_check)))
            .with("Version", text(&spec.version))
            .with("Scope", text(&spec.scope))
            .with("Global", byte(u8::from(spec.global)))
            .with("Priority", fnv(&spec.priority.to_le_bytes())),
        DefinitionKind::WorkflowStep => Record::new("WorkflowStepDefinitionSpec")
            .with("Reference", reference(spec.definition_ref.as_ref()))
            .with("Schematic", schematic(spec.schematic.as_ref()))
            .with("Version", text(&spec.version)),
    };
    let record = match kind {
        DefinitionKind::Component | DefinitionKind::Workload => record
            .with("ChildResourceKinds", child_kinds(&spec.child_resource_kinds))
            .with("RevisionLabel", text(&spec.revision_label))
            .with("PodSpecPath", text(&spec.pod_spec_path))
            .with("Status", status(spec.status.as_ref()))
            .with("Schematic", schematic(spec.schematic.as_ref()))
            .with("Extension", extension()),
        DefinitionKind::Trait | DefinitionKind::Policy | DefinitionKind::WorkflowStep => record,
    };
    hex(record.0)
}

fn definition_hashes(definitions: &DefinitionMap) -> u64 {
    map(definitions.iter().map(|(name, it)| (name.as_str(), text(&definition_hash(it)))))
}

/// Hash of everything a revision holds.
pub fn revision_hash(revision: &ApplicationRevision, write: RawText<'_>) -> String {
    let spec = &revision.spec;
    let policies = map(spec.policies.iter().map(|(key, it)| {
        (key.as_str(), text(&format!("{}{}", hex(raw(it.properties.as_ref(), write)), it.r#type)))
    }));
    let workflow =
        spec.workflow.as_ref().map_or_else(String::new, |it| hex(steps(&it.steps, write)));
    let referred = list(&spec.referred_objects, |it| {
        Record::new("ReferredObject").with("RawExtension", raw(Some(it), write)).0
    });
    hex(Record::new("")
        .with("ApplicationSpecHash", text(&spec_hash(&spec.application.spec, write)))
        .with("WorkloadDefinitionHash", definition_hashes(&spec.workload_definitions))
        .with("ComponentDefinitionHash", definition_hashes(&spec.component_definitions))
        .with("TraitDefinitionHash", definition_hashes(&spec.trait_definitions))
        .with("ScopeDefinitionHash", map(std::iter::empty()))
        .with("PolicyDefinitionHash", definition_hashes(&spec.policy_definitions))
        .with("WorkflowStepDefinitionHash", definition_hashes(&spec.workflow_step_definitions))
        .with("PolicyHash", policies)
        .with("WorkflowHash", text(&workflow))
        .with("ReferredObjectsHash", text(&hex(referred)))
        .0)
}
