//! Definitions as authors write them, their schemas, the CRDs.

use std::fs;
use std::path::Path;

use lateen_engine::api::{self, DefinitionKind};
use lateen_engine::authoring::{self, upgrade};
use lateen_engine::render::{Library, Templates};
use lateen_engine::schema;
use serde_json::{Value, json};

use super::cases::{Score, definition, id, lines, sorted};

pub(super) fn score_defs(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("defs-cue/cases.jsonl")) {
        let expected = &case["expected"];
        let (vet, object) =
            match authoring::render(&runtime, case["cue"].as_str().unwrap_or_default()) {
                Ok(object) => (json!([0, ""]), object),
                Err(error) => (
                    json!([1, format!("Error: failed to parse CUE: def.cue: {error}")]),
                    Value::Null,
                ),
            };
        score.count(
            &format!("{} vet", id(&case)),
            &json!([expected["vet"]["exitCode"], expected["vet"]["stderr"]]),
            &vet,
        );
        score.count(&format!("{} render", id(&case)), &expected["render"]["object"], &object);
    }
}

pub(super) fn score_definitions(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    let folder = root.join("definitions");
    let index: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("index.json")).unwrap_or_default())
            .expect("index");
    for row in index.as_array().into_iter().flatten() {
        let text = |below: &str, key: &str| {
            fs::read_to_string(folder.join(below).join(row[key].as_str().unwrap_or_default()))
                .unwrap_or_default()
        };
        let want: Value =
            serde_yaml::from_str(&text("rendered-yaml", "rendered_yaml")).unwrap_or_default();
        let got = authoring::render(&runtime, &text("source", "source"))
            .unwrap_or_else(|error| json!(error.to_string()));
        score.count(row["source"].as_str().unwrap_or_default(), &want, &got);
    }
}

pub(super) fn score_schema(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("schema/cases.jsonl")) {
        let Some(it) = case["definition"].as_str().and_then(|name| definition(root, name)) else {
            continue;
        };
        let library = if it.definition_kind() == Some(DefinitionKind::WorkflowStep) {
            lateen_definitions::packages().map(|it| (it.path, it.source)).collect::<Library>()
        } else {
            lateen_definitions::render_packages()
                .map(|it| (it.path, it.source))
                .collect::<Library>()
        };
        let got = schema::parameters(Templates::new(&runtime, &library), &it);
        if case["expected"]["error"].is_string() {
            score.count(id(&case), &json!(true), &json!(got.is_err()));
            continue;
        }
        let got = got.map_or_else(|error| json!(error.to_string()), |it| it.unwrap_or_default());
        score.count(id(&case), &sorted(&case["expected"]["schema"]), &sorted(&got));
    }
}

pub(super) fn score_crds(root: &Path, score: &mut Score<'_>) {
    let ours = api::crds();
    for entry in fs::read_dir(root.join("crds")).expect("crds").flatten() {
        let shipped: Value =
            serde_yaml::from_str(&fs::read_to_string(entry.path()).unwrap_or_default())
                .expect("yaml");
        let name = shipped["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let Some(mine) = ours.iter().find(|it| it["metadata"]["name"] == name.as_str()) else {
            score.count(&name, &json!("there"), &Value::Null);
            continue;
        };
        score.count(&format!("{name} names"), &shipped["spec"]["names"], &mine["spec"]["names"]);
        score.count(&format!("{name} scope"), &shipped["spec"]["scope"], &mine["spec"]["scope"]);
        for version in shipped["spec"]["versions"].as_array().into_iter().flatten() {
            let found = mine["spec"]["versions"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|it| it["name"] == version["name"]);
            let Some(found) = found else {
                score.count(&format!("{name} {}", version["name"]), &json!("there"), &Value::Null);
                continue;
            };
            for key in ["served", "storage", "subresources"] {
                score.count(&format!("{name} {key}"), &version[key], &found[key]);
            }
            let columns = |it: &Value| -> Vec<Value> {
                it["additionalPrinterColumns"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|it| json!([it["name"], it["type"], it["jsonPath"]]))
                    .collect()
            };
            score.count(
                &format!("{name} columns"),
                &columns(version).into(),
                &columns(found).into(),
            );
            covers(
                &name,
                "",
                &version["schema"]["openAPIV3Schema"],
                &found["schema"]["openAPIV3Schema"],
                score,
            );
        }
    }
}

/// Every shipped property is declared, of the same type, or kept as unknown; nothing more is required.
fn covers(name: &str, at: &str, shipped: &Value, mine: &Value, score: &mut Score<'_>) {
    let open = mine["x-kubernetes-preserve-unknown-fields"] == true;
    for key in mine["required"].as_array().into_iter().flatten() {
        let listed = shipped["required"].as_array().is_some_and(|it| it.contains(key));
        score.count(&format!("{name}{at} requires {key}"), &json!(true), &json!(listed));
    }
    for (key, value) in shipped["properties"].as_object().into_iter().flatten() {
        let below = format!("{at}.{key}");
        match mine["properties"].get(key) {
            Some(found) => {
                score.count(&format!("{name}{below} type"), &value["type"], &found["type"]);
                covers(name, &below, value, found, score);
            }
            None => score.count(&format!("{name}{below}"), &json!(true), &json!(open)),
        }
    }
    if shipped["items"].is_object() && mine["items"].is_object() {
        score.count(
            &format!("{name}{at}[] type"),
            &shipped["items"]["type"],
            &mine["items"]["type"],
        );
        covers(name, &format!("{at}[]"), &shipped["items"], &mine["items"], score);
    }
}

pub(super) fn score_upgrade(root: &Path, score: &mut Score<'_>) {
    for case in lines(&root.join("upgrade/cases.jsonl")) {
        let source = case["input"].as_str().unwrap_or_default();
        let got = match upgrade::upgrade(source) {
            Ok(it) => {
                let reasons: Vec<String> = it.reasons.iter().map(ToString::to_string).collect();
                let old = !reasons.is_empty();
                let reasons = if old { json!(reasons) } else { Value::Null };
                json!({ "upgraded": it.text, "ensured": it.text, "reasons": reasons, "requiresUpgrade": old, "wasUpgraded": old })
            }
            Err(error) => {
                let text = error.to_string();
                json!({ "upgradeError": text, "requiresError": text.replacen("for upgrade", "for version", 1), "ensured": source, "reasons": null, "requiresUpgrade": false, "wasUpgraded": false })
            }
        };
        score.count(id(&case), &case["expected"], &got);
    }
}
