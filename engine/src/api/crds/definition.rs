//! Definitions of every kind.

use serde_json::{Value, json};

use super::shape::{
    boolean, conditions, extensible, group_version_kind, latest_revision, list, object, open, root,
    string, texts,
};

pub(super) fn schematic() -> Value {
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

pub(super) fn status_templates() -> Value {
    object(vec![
        ("customStatus", string(), "CUE text that gives message."),
        ("details", string(), "CUE text whose fields are details."),
        ("healthPolicy", string(), "CUE text that gives isHealth."),
    ])
}

pub(super) fn definition_reference() -> Value {
    object(vec![("name", string(), "Name."), ("version", string(), "Version.")])
}

pub(super) fn definition_status() -> Value {
    object(vec![
        ("conditions", conditions(), "What was reached."),
        ("configMapRef", string(), "ConfigMap with the schema of the parameters."),
        ("latestRevision", latest_revision(), "Latest DefinitionRevision."),
    ])
}

pub(super) fn child_kinds() -> Value {
    list(object(vec![
        ("apiVersion", string(), "Group and version."),
        ("kind", string(), "Kind."),
        ("selector", texts(), "Labels."),
    ]))
}

pub(super) fn component_definition() -> Value {
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

pub(super) fn workload_definition() -> Value {
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

pub(super) fn trait_definition() -> Value {
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

pub(super) fn policy_definition() -> Value {
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

pub(super) fn step_definition() -> Value {
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
