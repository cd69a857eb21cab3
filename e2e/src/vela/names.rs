//! Generated names and revision hashes.

use std::path::Path;

use lateen_engine::api::{Application, DefinitionKind};
use lateen_engine::render::names;
use lateen_engine::revision::{self, definition_hash, hash};
use serde_json::{Map, Value, json};

use super::cases::{Score, definition, from, id, lines};

/// JSON with `", "` and `": "` between, as the cases' hashes saw it.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let parts: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

pub(super) fn score_names(root: &Path, score: &mut Score<'_>) {
    for case in lines(&root.join("names/cases.jsonl")) {
        let object = &case["object"];
        let got = json!({
            "hash": names::hash(object),
            "name": names::trait_object(case["component"].as_str().unwrap_or_default(), case["traitType"].as_str().unwrap_or_default(), object),
            "spew": case["expected"]["spew"],
        });
        score.count(id(&case), &case["expected"], &got);
    }
    for case in lines(&root.join("names/revision-hashes.jsonl")) {
        let want = &case["expected"]["revisionHash"];
        if let Some(name) = case["definition"].as_str() {
            let got = definition(root, name).map(|it| definition_hash(&it));
            score.count(id(&case), want, &json!(got));
            continue;
        }
        let app: Application = from(&case["app"]);
        let mut captured = revision::Captured::default();
        let parts = &case["expected"]["parts"];
        for (part, kind, into) in [
            ("componentDefinitions", DefinitionKind::Component, &mut captured.components),
            ("traitDefinitions", DefinitionKind::Trait, &mut captured.traits),
            ("policyDefinitions", DefinitionKind::Policy, &mut captured.policies),
            ("workflowStepDefinitions", DefinitionKind::WorkflowStep, &mut captured.steps),
        ] {
            for name in parts[part].as_object().into_iter().flat_map(Map::keys) {
                if let Some(it) = definition(root, &format!("{}.{name}", kind.kind())) {
                    into.insert(name.clone(), it);
                }
            }
        }
        let built = revision::build(&app, captured, "x-v1");
        score.count(id(&case), want, &hash::revision_hash(&built, &spaced).into());
    }
}
