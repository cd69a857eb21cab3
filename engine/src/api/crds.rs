//! CustomResourceDefinitions of all kinds: a superset of the shipped ones, with nothing required that may be left out.

mod run; // the schema of WorkflowRun

use serde_json::{Map, Value, json};

/// A property: name, schema, what it is for.
type Property = (&'static str, Value, &'static str);

fn string() -> Value {
    json!({ "type": "string" })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn integer() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn texts() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

/// A struct of any content.
fn open() -> Value {
    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A struct of named entries, each of any content.
fn entries() -> Value {
    json!({ "type": "object", "additionalProperties": open() })
}

fn object(properties: Vec<Property>) -> Value {
    json!({ "type": "object", "properties": described(properties) })
}

fn requiring(required: &[&str], mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema {
        map.insert("required".into(), json!(required));
    }
    schema
}

/// Declared properties, and whatever else is written.
fn extensible(properties: Vec<Property>) -> Value {
    let mut schema = object(properties);
    if let Value::Object(map) = &mut schema {
        map.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    schema
}

fn described(properties: Vec<Property>) -> Map<String, Value> {
    properties
        .into_iter()
        .map(|(name, mut schema, description)| {
            if let (Value::Object(map), false) = (&mut schema, description.is_empty()) {
                map.insert("description".into(), description.into());
            }
            (name.to_owned(), schema)
        })
        .collect()
}

/// The root of a kind.
fn root(description: &str, properties: Vec<Property>) -> Value {
    let mut all = vec![
        ("apiVersion", string(), "Group and version of this object."),
        ("kind", string(), "Kind of this object."),
        ("metadata", json!({ "type": "object" }), ""),
    ];
    all.extend(properties);
    let mut schema = object(all);
    if let Value::Object(map) = &mut schema {
        map.insert("description".into(), description.into());
    }
    schema
}

fn reference() -> Value {
    object(reference_properties())
}

fn reference_properties() -> Vec<Property> {
    vec![
        ("apiVersion", string(), "Group and version."),
        ("fieldPath", string(), "Path inside the object."),
        ("kind", string(), "Kind."),
        ("name", string(), "Name."),
        ("namespace", string(), "Namespace."),
        ("resourceVersion", string(), "Version that was seen."),
        ("uid", string(), "Uid."),
    ]
}

fn group_version_kind() -> Value {
    object(vec![("apiVersion", string(), "Group and version."), ("kind", string(), "Kind.")])
}

fn conditions() -> Value {
    list(object(vec![
        ("lastTransitionTime", time(), "When it last changed."),
        ("message", string(), "For people."),
        ("reason", string(), "In one word."),
        ("status", string(), "True, False or Unknown."),
        ("type", string(), "What it is about."),
    ]))
}

fn latest_revision() -> Value {
    object(vec![
        ("name", string(), "Name of the revision object."),
        ("revision", integer(), "Number."),
        ("revisionHash", string(), "Hash of its content."),
    ])
}

fn inputs() -> Value {
    list(object(vec![
        ("from", string(), "Output that is taken."),
        ("parameterKey", string(), "Path in the parameters it is put at."),
    ]))
}

fn outputs() -> Value {
    list(object(vec![
        ("name", string(), "Name others take it by."),
        ("valueFrom", string(), "CUE expression that gives it."),
    ]))
}

fn mode() -> Value {
    object(vec![
        ("steps", string(), "StepByStep or DAG."),
        ("subSteps", string(), "StepByStep or DAG, inside groups."),
    ])
}

fn step_properties() -> Vec<Property> {
    vec![
        ("dependsOn", list(string()), "Steps that come first."),
        ("if", string(), "CUE condition, or always."),
        ("inputs", inputs(), "Values taken from other steps."),
        ("meta", object(vec![("alias", string(), "Shown instead of the name.")]), "More about it."),
        ("name", string(), "Name, unique in the workflow."),
        ("outputs", outputs(), "Values given to other steps."),
        ("properties", open(), "Parameters of the step definition."),
        ("timeout", string(), "Duration after which it fails, like 30s."),
        ("type", string(), "Step definition."),
    ]
}

fn steps() -> Value {
    let mut properties = step_properties();
    properties.push(("mode", string(), "StepByStep or DAG, for a group."));
    properties.push(("subSteps", list(object(step_properties())), "Steps of a group."));
    list(object(properties))
}

fn step_status_properties() -> Vec<Property> {
    vec![
        ("firstExecuteTime", time(), "When it first ran."),
        ("id", string(), "Made up when it first ran."),
        ("lastExecuteTime", time(), "When it last ran."),
        ("message", string(), "For people."),
        ("name", string(), "Step."),
        ("phase", string(), "Where it is."),
        ("reason", string(), "Why it is there."),
        ("type", string(), "Step definition."),
    ]
}

fn workflow_status() -> Value {
    let mut step = step_status_properties();
    step.push(("subSteps", list(object(step_status_properties())), "Steps of the group."));
    object(vec![
        ("appRevision", string(), "Revision it runs for."),
        ("contextBackend", reference(), "Where values between steps are kept."),
        ("endTime", time(), "When it ended."),
        ("finished", boolean(), "Nothing is left to run."),
        ("message", string(), "For people."),
        ("mode", string(), "How steps follow each other."),
        ("startTime", time(), "When it started."),
        ("status", string(), "Where it is."),
        ("stepIndex", integer(), "Step that runs, counted from one."),
        ("steps", list(object(step)), "Every step that was reached."),
        ("suspend", boolean(), "It waits for someone; set it to make it wait."),
        ("suspendState", string(), "What it waits for."),
        ("terminated", boolean(), "It was ended; set it to end it."),
    ])
}

fn application() -> Value {
    let component = object(vec![
        ("dependsOn", list(string()), "Components that come first."),
        ("externalRevision", string(), "Revision that is reused."),
        ("inputs", inputs(), "Values taken from others."),
        ("name", string(), "Name, unique in the application."),
        ("outputs", outputs(), "Values given to others."),
        ("properties", open(), "Parameters of the component definition."),
        ("replicaKey", string(), "Set by replication."),
        ("scopes", open(), "No longer used."),
        (
            "traits",
            list(object(vec![
                ("properties", open(), "Parameters of the trait definition."),
                ("type", string(), "Trait definition, with @version if a certain one is meant."),
            ])),
            "What is added to its resources.",
        ),
        ("type", string(), "Component definition, with @version if a certain one is meant."),
    ]);
    let policy = object(vec![
        ("name", string(), "Name."),
        ("properties", open(), "Parameters of the policy."),
        ("type", string(), "Policy."),
    ]);
    let workflow = object(vec![
        ("mode", mode(), "How steps follow each other."),
        ("ref", string(), "Workflow object to use instead of steps."),
        ("steps", steps(), "Steps."),
    ]);
    let details = || texts();
    let service = object(vec![
        ("cluster", string(), "Cluster."),
        ("details", details(), "By label."),
        ("env", string(), "Environment."),
        ("healthy", boolean(), "Workload and traits are healthy."),
        ("message", string(), "For people."),
        ("name", string(), "Component."),
        ("namespace", string(), "Namespace."),
        ("scopes", list(reference()), "No longer used."),
        (
            "traits",
            list(object(vec![
                ("details", details(), "By label."),
                ("healthy", boolean(), "It is healthy."),
                ("message", string(), "For people."),
                ("pending", boolean(), "Not looked at yet."),
                ("type", string(), "Trait."),
            ])),
            "Health of its traits.",
        ),
        ("workloadDefinition", group_version_kind(), "Kind of the workload."),
        ("workloadHealthy", boolean(), "The workload is healthy."),
    ]);
    let mut applied = reference_properties();
    applied.push(("cluster", string(), "Cluster."));
    applied.push(("creator", string(), "policy or workflow."));
    let applied_policy = object(vec![
        ("annotationsCount", integer(), ""),
        ("applied", boolean(), "It was applied."),
        ("definitionRevisionName", string(), ""),
        ("error", boolean(), "It failed."),
        ("hasContext", boolean(), ""),
        ("labelsCount", integer(), ""),
        ("message", string(), "For people."),
        ("name", string(), "Policy."),
        ("namespace", string(), "Namespace of its definition."),
        ("revision", integer(), ""),
        ("revisionHash", string(), ""),
        ("source", string(), "global or explicit."),
        ("specModified", boolean(), "It changed the spec."),
        ("type", string(), "Policy definition."),
    ]);
    root(
        "What is delivered: components, their traits, policies, and the workflow that brings them out.",
        vec![
            (
                "spec",
                object(vec![
                    ("components", list(component), "Parts of the application."),
                    ("policies", list(policy), "Rules about where and how."),
                    ("workflow", workflow, "Steps of delivery; one per component if left out."),
                ]),
                "What is asked for.",
            ),
            (
                "status",
                object(vec![
                    (
                        "applicationPoliciesConfigMap",
                        string(),
                        "ConfigMap about application-scoped policies.",
                    ),
                    (
                        "appliedApplicationPolicies",
                        list(applied_policy),
                        "What application-scoped policies did.",
                    ),
                    ("appliedResources", list(object(applied)), "What was applied."),
                    ("components", list(reference()), "References to components."),
                    ("conditions", conditions(), "What was reached."),
                    ("latestRevision", latest_revision(), "Latest ApplicationRevision."),
                    ("observedGeneration", integer(), "Generation this status is about."),
                    ("phase", string(), "Where it is, by the name other kinds use."),
                    (
                        "policy",
                        list(object(vec![
                            ("name", string(), "Policy."),
                            ("status", open(), "Its status."),
                            ("type", string(), "Its type."),
                        ])),
                        "No longer used.",
                    ),
                    ("services", list(service), "Health of every component at every place."),
                    ("status", string(), "Where it is."),
                    ("workflow", workflow_status(), "The run of the workflow."),
                    ("workflowRestartScheduledAt", time(), "When the workflow runs again."),
                ]),
                "What became of it.",
            ),
        ],
    )
}

fn schematic() -> Value {
    let secret =
        || object(vec![("name", string(), "Name."), ("namespace", string(), "Namespace.")]);
    object(vec![
        ("cue", object(vec![("template", string(), "CUE text.")]), "Template in CUE."),
        (
            "terraform",
            extensible(vec![
                ("configuration", string(), "Text, or where it is."),
                ("customRegion", string(), ""),
                ("deleteResource", boolean(), ""),
                ("gitCredentialsSecretReference", secret(), ""),
                ("path", string(), ""),
                ("providerRef", secret(), ""),
                ("type", string(), "hcl, json or remote."),
                ("writeConnectionSecretToRef", secret(), ""),
            ]),
            "Terraform configuration.",
        ),
    ])
}

fn status_templates() -> Value {
    object(vec![
        ("customStatus", string(), "CUE text that gives message."),
        ("details", string(), "CUE text whose fields are details."),
        ("healthPolicy", string(), "CUE text that gives isHealth."),
    ])
}

fn definition_reference() -> Value {
    object(vec![("name", string(), "Name."), ("version", string(), "Version.")])
}

fn definition_status() -> Value {
    object(vec![
        ("conditions", conditions(), "What was reached."),
        ("configMapRef", string(), "ConfigMap with the schema of the parameters."),
        ("latestRevision", latest_revision(), "Latest DefinitionRevision."),
    ])
}

fn child_kinds() -> Value {
    list(object(vec![
        ("apiVersion", string(), "Group and version."),
        ("kind", string(), "Kind."),
        ("selector", texts(), "Labels."),
    ]))
}

fn component_definition() -> Value {
    root(
        "A type of component.",
        vec![
            (
                "spec",
                object(vec![
                    ("childResourceKinds", child_kinds(), "Kinds below the workload."),
                    ("extension", open(), "More about it."),
                    ("podSpecPath", string(), "Where the pod spec is."),
                    ("revisionLabel", string(), "Label with the revision."),
                    ("schematic", schematic(), "How its resources are made."),
                    ("status", status_templates(), "How its health is told."),
                    ("version", string(), "Version of the definition."),
                    (
                        "workload",
                        object(vec![
                            ("definition", group_version_kind(), "Kind."),
                            ("type", string(), "WorkloadDefinition, or autodetects.core.oam.dev."),
                        ]),
                        "Kind of workload it makes.",
                    ),
                ]),
                "",
            ),
            ("status", definition_status(), ""),
        ],
    )
}

fn workload_definition() -> Value {
    let kube_or_helm = || extensible(vec![]);
    let mut templates = schematic();
    if let Some(Value::Object(properties)) = templates.get_mut("properties") {
        properties.insert("helm".into(), kube_or_helm());
        properties.insert("kube".into(), kube_or_helm());
    }
    root(
        "A type of workload, the older form of a component definition.",
        vec![
            (
                "spec",
                object(vec![
                    ("childResourceKinds", child_kinds(), "Kinds below the workload."),
                    (
                        "definitionRef",
                        definition_reference(),
                        "CustomResourceDefinition of the workload.",
                    ),
                    ("extension", open(), "More about it."),
                    ("podSpecPath", string(), "Where the pod spec is."),
                    ("revisionLabel", string(), "Label with the revision."),
                    ("schematic", templates, "How its resources are made."),
                    ("status", status_templates(), "How its health is told."),
                ]),
                "",
            ),
            ("status", definition_status(), ""),
        ],
    )
}

fn trait_definition() -> Value {
    root(
        "A type of trait.",
        vec![
            (
                "spec",
                object(vec![
                    ("appliesToWorkloads", list(string()), "Workloads it suits."),
                    ("conflictsWith", list(string()), "Traits it does not go with."),
                    ("controlPlaneOnly", boolean(), "Its resources stay where the engine runs."),
                    (
                        "definitionRef",
                        definition_reference(),
                        "CustomResourceDefinition of the trait.",
                    ),
                    ("extension", open(), "More about it."),
                    ("manageWorkload", boolean(), "It applies the workload itself."),
                    ("podDisruptive", boolean(), "Pods restart when it changes."),
                    ("revisionEnabled", boolean(), "No longer used."),
                    ("schematic", schematic(), "How its resources are made."),
                    ("stage", string(), "PreDispatch, DefaultDispatch or PostDispatch."),
                    ("status", status_templates(), "How its health is told."),
                    ("version", string(), "Version of the definition."),
                    ("workloadRefPath", string(), "Path its resources name the workload at."),
                ]),
                "",
            ),
            ("status", definition_status(), ""),
        ],
    )
}

fn policy_definition() -> Value {
    root(
        "A type of policy.",
        vec![
            (
                "spec",
                object(vec![
                    (
                        "definitionRef",
                        definition_reference(),
                        "CustomResourceDefinition of the policy.",
                    ),
                    ("global", boolean(), "For every application."),
                    ("manageHealthCheck", boolean(), "It tells the health of the application."),
                    (
                        "priority",
                        json!({ "type": "integer", "format": "int32" }),
                        "Lower comes first.",
                    ),
                    ("schematic", schematic(), "How its resources are made."),
                    ("scope", string(), "Application, or empty."),
                    ("version", string(), "Version of the definition."),
                ]),
                "",
            ),
            ("status", definition_status(), ""),
        ],
    )
}

fn step_definition() -> Value {
    root(
        "A type of workflow step.",
        vec![
            (
                "spec",
                object(vec![
                    (
                        "definitionRef",
                        definition_reference(),
                        "CustomResourceDefinition of the step.",
                    ),
                    ("schematic", schematic(), "What the step does."),
                    ("version", string(), "Version of the definition."),
                ]),
                "",
            ),
            ("status", definition_status(), ""),
        ],
    )
}

fn definition_revision() -> Value {
    let kinds = ["Component", "Trait", "Policy", "WorkflowStep"];
    root(
        "A version of a definition.",
        vec![(
            "spec",
            requiring(
                &["definitionType", "revision", "revisionHash"],
                object(vec![
                    ("componentDefinition", open(), ""),
                    (
                        "definitionType",
                        json!({ "type": "string", "enum": kinds }),
                        "Kind of the definition.",
                    ),
                    ("policyDefinition", open(), ""),
                    ("revision", integer(), "Number."),
                    ("revisionHash", string(), "Hash of the definition's spec."),
                    ("traitDefinition", open(), ""),
                    ("workflowStepDefinition", open(), ""),
                ]),
            ),
            "",
        )],
    )
}

fn compression() -> Value {
    object(vec![("data", string(), "Base64."), ("type", string(), "gzip, zstd or empty.")])
}

fn application_revision() -> Value {
    root(
        "An application with everything it was rendered from.",
        vec![
            (
                "spec",
                object(vec![
                    ("application", open(), "The application."),
                    ("componentDefinitions", entries(), ""),
                    ("compression", compression(), "When set, the rest is inside it."),
                    ("policies", entries(), "External policies."),
                    ("policyDefinitions", entries(), ""),
                    ("policyVersions", texts(), ""),
                    (
                        "referredObjects",
                        json!({ "type": "array", "items": open(), "x-kubernetes-preserve-unknown-fields": true }),
                        "Objects of ref-objects components.",
                    ),
                    (
                        "resourcesConfigMap",
                        object(vec![("name", string(), "Name.")]),
                        "ConfigMap of the rendered resources.",
                    ),
                    ("traitDefinitions", entries(), ""),
                    ("workflow", open(), "External workflow."),
                    ("workflowStepDefinitions", entries(), ""),
                    ("workloadDefinitions", entries(), ""),
                ]),
                "",
            ),
            (
                "status",
                object(vec![
                    ("succeeded", boolean(), "Its workflow succeeded."),
                    ("workflow", workflow_status(), "The run of its workflow."),
                    ("workflowContext", texts(), "Values between steps at the end."),
                ]),
                "",
            ),
        ],
    )
}

fn resource_tracker() -> Value {
    let mut resource = reference_properties();
    resource.extend([
        ("cluster", string(), "Cluster."),
        ("component", string(), "Component."),
        ("creator", string(), "policy or workflow."),
        ("deleted", boolean(), "Seen to be gone."),
        ("raw", open(), "The manifest."),
        ("skipGC", boolean(), "Never collected."),
        ("trait", string(), "Trait."),
    ]);
    root(
        "The inventory of what an application applied.",
        vec![
            (
                "spec",
                object(vec![
                    ("applicationGeneration", integer(), "Generation of the application."),
                    ("compression", compression(), "When set, the resources are inside it."),
                    ("managedResources", list(object(resource)), "What was applied."),
                    ("type", string(), "root, versioned or component-revision."),
                ]),
                "",
            ),
            ("status", open(), ""),
        ],
    )
}

fn policy() -> Value {
    requiring(
        &["type"],
        root(
            "A policy that applications share.",
            vec![
                ("properties", open(), "Parameters of the policy."),
                ("type", string(), "Policy."),
            ],
        ),
    )
}

fn workflow() -> Value {
    root(
        "A workflow that applications share.",
        vec![("mode", mode(), "How steps follow each other."), ("steps", steps(), "Steps.")],
    )
}

fn package() -> Value {
    requiring(
        &["spec"],
        root(
            "A CUE package, with the service that carries out its actions.",
            vec![(
                "spec",
                requiring(
                    &["path", "templates"],
                    object(vec![
                        ("path", string(), "Import path."),
                        (
                            "provider",
                            object(vec![
                                ("endpoint", string(), "URL of the service."),
                                (
                                    "header",
                                    json!({ "type": "object", "additionalProperties": { "type": "array", "items": { "type": "string" } } }),
                                    "Headers of each call.",
                                ),
                                ("protocol", string(), "http, https or grpc."),
                            ]),
                            "Service that carries out its actions.",
                        ),
                        ("templates", texts(), "Files."),
                    ]),
                ),
                "",
            )],
        ),
    )
}

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
}
