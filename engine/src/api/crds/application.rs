//! Application, and the workflow parts it shares with Workflow and revisions.

use serde_json::Value;

use super::shape::{
    Property, boolean, conditions, group_version_kind, integer, latest_revision, list, object,
    open, reference, reference_properties, root, string, texts, time, whole,
};

pub(super) fn inputs() -> Value {
    list(object(vec![
        ("from", string(), "Output that is taken."),
        ("parameterKey", string(), "Path in the parameters it is put at."),
    ]))
}

pub(super) fn outputs() -> Value {
    list(object(vec![
        ("name", string(), "Name others take it by."),
        ("valueFrom", string(), "CUE expression that gives it."),
    ]))
}

pub(super) fn mode() -> Value {
    object(vec![
        ("steps", string(), "StepByStep or DAG."),
        ("subSteps", string(), "StepByStep or DAG, inside groups."),
    ])
}

pub(super) fn step_properties() -> Vec<Property> {
    vec![
        ("dependsOn", list(string()), "Steps that come first."),
        ("if", string(), "CUE condition, or always."),
        ("inputs", inputs(), "Values taken from other steps."),
        ("meta", object(vec![("alias", string(), "Shown instead of the name.")]), "More about it."),
        ("name", string(), "Name, unique in the workflow."),
        ("outputs", outputs(), "Values given to other steps."),
        ("properties", open(), "Parameters of the step definition."),
        ("stage", string(), "pre-render, before the Application is rendered, or post-render."),
        ("timeout", string(), "Duration after which it fails, like 30s."),
        ("type", string(), "Step definition."),
    ]
}

pub(super) fn steps() -> Value {
    let mut properties = step_properties();
    properties.push(("mode", string(), "StepByStep or DAG, for a group."));
    properties.push(("subSteps", list(object(step_properties())), "Steps of a group."));
    list(object(properties))
}

pub(super) fn step_status_properties() -> Vec<Property> {
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

pub(super) fn workflow_status() -> Value {
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

pub(super) fn application() -> Value {
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
                whole(object(vec![
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
                ])),
                "What became of it.",
            ),
        ],
    )
}
