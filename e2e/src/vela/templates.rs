//! Single templates and status texts.

use std::path::Path;

use lateen_engine::api;
use lateen_engine::render::{
    ClusterVersion, Context, Library, NoActor, Process, Templates, health, object_error,
};
use serde_json::{Value, json};

use super::cases::{Score, from, id, lines, same};

pub(super) fn score_template(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("template/cases.jsonl")) {
        let given = &case["context"];
        let text = |key: &str| given[key].as_str().unwrap_or_default().to_owned();
        let context = Context {
            app_name: text("AppName"),
            namespace: text("Namespace"),
            app_revision: text("AppRevisionName"),
            workflow_name: text("WorkflowName"),
            publish_version: text("PublishVersion"),
            cluster: text("Cluster"),
            labels: from(&given.get("AppLabels").cloned().unwrap_or_else(|| json!({}))),
            annotations: from(&given.get("AppAnnotations").cloned().unwrap_or_else(|| json!({}))),
            cluster_version: {
                let part = |key: &str| {
                    given["ClusterVersion"][key].as_str().unwrap_or_default().to_owned()
                };
                ClusterVersion {
                    major: part("Major"),
                    minor: part("Minor"),
                    git_version: part("GitVersion"),
                    platform: part("Platform"),
                }
            },
            ..Context::default()
        };
        let component = api::Component {
            name: text("CompName"),
            replica_key: text("ReplicaKey"),
            ..Default::default()
        };
        let library = Library::default();
        let mut process =
            Process::new(Templates::new(&runtime, &library), context.to_json(Some(&component), ""));
        let mut failed = None;
        for (index, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
            let (name, template) = (
                step["name"].as_str().unwrap_or_default(),
                step["template"].as_str().unwrap_or_default(),
            );
            let parameter = Some(&step["params"]).filter(|it| !it.is_null());
            let answer = if step["kind"] == "workload" {
                process.workload(name, name, template, parameter, &mut NoActor)
            } else {
                process.apply_trait(name, template, parameter, &mut NoActor)
            };
            if let Err(error) = answer {
                failed = Some(json!({ "error": error.to_string(), "failedStep": index }));
                break;
            }
        }
        let got = failed.unwrap_or_else(|| {
            let product = process.finish().unwrap_or_default();
            let outputs: Vec<Value> = product
                .outputs
                .iter()
                .map(|it| match object_error(Some(&it.object)) {
                    Some(error) => json!({ "type": it.r#type, "name": it.name, "error": error }),
                    None => json!({ "type": it.r#type, "name": it.name, "object": it.object }),
                })
                .collect();
            match (&product.base, object_error(product.base.as_ref())) {
                (None, _) => json!({ "outputs": outputs }),
                (_, Some(error)) => json!({ "outputError": error, "outputs": outputs }),
                (base, None) => json!({ "output": base, "outputs": outputs }),
            }
        });
        let want = if same(&case["expected_evalv3"], &got) {
            &case["expected_evalv3"]
        } else {
            &case["expected"]
        };
        score.count(id(&case), want, &got);
    }
}

pub(super) fn score_health(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("health/cases.jsonl")) {
        let texts = from(
            &json!({ "healthPolicy": case["healthPolicy"], "customStatus": case["customStatus"], "details": case["details"] }),
        );
        let context = case["context"].as_object().cloned().unwrap_or_default();
        let got = match health::evaluate(
            Templates::new(&runtime, &Library::default()),
            &texts,
            &context,
            Some(&case["parameter"]),
        ) {
            Ok(it) => {
                json!({ "healthy": it.healthy, "message": it.message, "details": it.details, "contextStatus": it.seen })
            }
            Err(fault) => json!({ "fault": fault.to_string() }),
        };
        let mut want = case["expected"].clone();
        if let Value::Object(want) = &mut want {
            want.shift_remove("warnings");
        }
        score.count(id(&case), &want, &got);
    }
}
