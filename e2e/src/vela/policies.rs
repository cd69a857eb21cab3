//! Overrides and generated workflow steps.

use std::path::Path;

use lateen_engine::api::policies::Override;
use lateen_engine::api::{self, Application, Workflow};
use lateen_engine::policy::{generator, overriding};
use serde_json::{Value, json};

use super::cases::{Score, from, id, lines};

pub(super) fn score_override(root: &Path, score: &mut Score<'_>) {
    for case in lines(&root.join("override/cases.jsonl")) {
        let components: Vec<api::Component> = from(&case["components"]);
        let got = match overriding::parse(Some(&case["policy"])) {
            Ok(policy) => {
                let policy: Override = policy;
                json!({ "components": overriding::apply(&components, &policy) })
            }
            Err(error) => json!({ "error": error.to_string() }),
        };
        score.count(id(&case), &case["expected"], &got);
    }
}

pub(super) fn score_generator(root: &Path, score: &mut Score<'_>) {
    for case in lines(&root.join("generator/cases.jsonl")) {
        let app: Application = from(&case["app"]);
        let workflows: Vec<Workflow> = from(&case["objects"]);
        let mut want = case["expected"].clone();
        let got = match generator::steps(&app, &workflows) {
            Ok(it) => json!({ "steps": it.steps, "mode": it.mode }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        if let Value::Object(want) = &mut want {
            if want.get("steps") == Some(&Value::Null) {
                want.insert("steps".into(), json!([]));
            }
            // Not recorded where a Workflow is referred to.
            if !want.contains_key("mode") && got.get("mode").is_some() {
                want.insert("mode".into(), got["mode"].clone());
            }
        }
        score.count(id(&case), &want, &got);
    }
}
