//! Admission of Applications and definitions.

use std::path::Path;

use lateen_engine::api::{Application, DefinitionRevision, Policy, Workflow};
use lateen_engine::render::{Context, Library, NoActor, Request, Templates};
use lateen_engine::validate;
use serde_json::json;

use super::cases::{Score, definitions, from, id, lines};

pub(super) fn score_validation(root: &Path, score: &mut Score<'_>) {
    let builtin = definitions(root);
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("validation/cases.jsonl")) {
        let want = &case["expected"]["validate"];
        let library = Library::default();
        let templates = Templates::new(&runtime, &library);
        let objects = |kind: &str| {
            case["objects"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|it| it["kind"] == kind)
                .cloned()
                .collect::<Vec<_>>()
        };
        if !case["object"].is_null() {
            let revisions: Vec<DefinitionRevision> = from(&objects("DefinitionRevision").into());
            let is_step = case["object"]["kind"] == "WorkflowStepDefinition";
            let refusal = validate::definition(&from(&case["object"]), &revisions, templates)
                .expect("no fault");
            let answer =
                refusal.clone().or_else(|| is_step.then(|| "Validation passed".to_owned()));
            score.count(
                id(&case),
                &json!([want["allowed"], want["message"]]),
                &json!([refusal.is_none(), answer]),
            );
            continue;
        }
        let app: Application = match serde_json::from_value(case["app"].clone()) {
            Ok(app) => app,
            Err(_) => {
                score.count(id(&case), &want["allowed"], &json!(false));
                continue;
            }
        };
        let old: Option<Application> =
            serde_json::from_value(case["old"].clone()).ok().filter(|_| !case["old"].is_null());
        let mut set = builtin.clone();
        for it in case["customDefinitions"].as_array().into_iter().flatten() {
            if it["kind"] == "DefinitionRevision" {
                set.insert_revision(from(&it["object"]));
            } else {
                set.insert(from(&it["object"]));
            }
        }
        let policies: Vec<Policy> = from(&objects("Policy").into());
        let workflows: Vec<Workflow> = from(&objects("Workflow").into());
        let request = Request {
            app: &app,
            definitions: &set,
            policies: &policies,
            workflows: &workflows,
            context: Context::of(&app, ""),
        };
        let refusals = validate::application(&request, old.as_ref(), templates, &mut NoActor)
            .expect("no fault");
        let message = (!refusals.is_empty()).then(|| validate::message(&refusals));
        let got = json!([refusals.is_empty(), message]);
        // Either of upstream's evaluators counts (README of the cases).
        let other = &case["expected_evalv3"]["validate"];
        let other = json!([other["allowed"], other["message"]]);
        let want = json!([want["allowed"], want["message"]]);
        score.count(id(&case), if other == got { &other } else { &want }, &got);
    }
}
