//! Revisions, trackers, and what stands beside an Application.

use serde_json::{Value, json};

use super::application::{mode, steps, workflow_status};
use super::shape::{
    boolean, compression, entries, integer, list, object, open, reference_properties, requiring,
    root, string, texts, whole,
};

pub(super) fn definition_revision() -> Value {
    let kinds = ["Component", "Trait", "Policy", "WorkflowStep"];
    root(
        "A version of a definition.",
        vec![(
            "spec",
            whole(requiring(
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
            )),
            "",
        )],
    )
}

pub(super) fn application_revision() -> Value {
    root(
        "An application with everything it was rendered from.",
        vec![
            (
                "spec",
                whole(object(vec![
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
                ])),
                "",
            ),
            (
                "status",
                whole(object(vec![
                    ("succeeded", boolean(), "Its workflow succeeded."),
                    ("workflow", workflow_status(), "The run of its workflow."),
                    ("workflowContext", texts(), "Values between steps at the end."),
                ])),
                "",
            ),
        ],
    )
}

pub(super) fn resource_tracker() -> Value {
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
                whole(object(vec![
                    ("applicationGeneration", integer(), "Generation of the application."),
                    ("compression", compression(), "When set, the resources are inside it."),
                    ("managedResources", list(object(resource)), "What was applied."),
                    ("type", string(), "root, versioned or component-revision."),
                ])),
                "",
            ),
            ("status", open(), ""),
        ],
    )
}

pub(super) fn policy() -> Value {
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

pub(super) fn workflow() -> Value {
    root(
        "A workflow that applications share.",
        vec![("mode", mode(), "How steps follow each other."), ("steps", steps(), "Steps.")],
    )
}

pub(super) fn package() -> Value {
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
