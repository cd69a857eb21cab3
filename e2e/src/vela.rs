//! KubeVela's rendering side: names, hashes, policies, templates, health, admission, definitions.

use std::fs;
use std::path::{Path, PathBuf};

use lateen_engine::api::policies::Override;
use lateen_engine::api::{
    self, Application, Definition, DefinitionKind, DefinitionRevision, Policy, Workflow,
};
use lateen_engine::policy::{generator, overriding};
use lateen_engine::render::{
    ClusterVersion, Context, Definitions, NoActor, Process, Request, Target, Templates, health,
    names, object_error, render,
};
use lateen_engine::revision::{self, definition_hash, hash};
use lateen_engine::{authoring, schema, validate};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::score::Scores;

/// Counts under one name.
struct Score<'a> {
    name: &'a str,
    scores: &'a mut Scores,
}

impl Score<'_> {
    fn count(&mut self, id: &str, want: &Value, got: &Value) {
        self.scores
            .check(self.name, id, same(want, got), || format!("\n  want {want}\n  got  {got}"));
    }
}

/// Key order and `3` against `3.0` do not matter.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("cases are there");
    text.lines()
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_str(it).expect("a case"))
        .collect()
}

fn from<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("a wire type")
}

fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap_or_default()
}

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

fn definition(root: &Path, name: &str) -> Option<Definition> {
    let text =
        fs::read_to_string(root.join("definitions/objects").join(format!("{name}.json"))).ok()?;
    serde_json::from_str(&text).ok()
}

fn score_names(root: &Path, score: &mut Score<'_>) {
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

fn score_override(root: &Path, score: &mut Score<'_>) {
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

fn score_generator(root: &Path, score: &mut Score<'_>) {
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

fn definitions(root: &Path) -> Definitions {
    let mut set = Definitions::default();
    for entry in fs::read_dir(root.join("definitions/objects")).expect("definitions").flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        if let Ok(it) = serde_json::from_str(&text) {
            set.insert(it);
        }
    }
    set
}

fn shown(targets: &[Target], error: Option<String>) -> Value {
    let targets: Vec<Value> = targets
        .iter()
        .map(|target| {
            let components: Vec<Value> = target
                .components
                .iter()
                .map(|it| {
                    let auxiliaries: Vec<Value> = it
                        .auxiliaries
                        .iter()
                        .map(|it| json!({ "traitType": it.trait_type, "resource": it.resource, "object": it.object }))
                        .collect();
                    json!({ "name": it.name, "workload": it.workload, "auxiliaries": auxiliaries })
                })
                .collect();
            json!({ "title": target.title, "components": components, "policies": target.policies })
        })
        .collect();
    match error {
        Some(error) => {
            json!({ "targets": if targets.is_empty() { Value::Null } else { targets.into() }, "error": error })
        }
        None => json!({ "targets": targets }),
    }
}

fn score_render(root: &Path, score: &mut Score<'_>) {
    let builtin = definitions(root);
    let runtime = cue_session::NativeRuntime::default();
    let packages = packages(lateen_definitions::render_packages());
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join("render")).expect("render").flatten().map(|it| it.path()).collect();
    files.sort();
    for file in files {
        let case: Value =
            serde_json::from_str(&fs::read_to_string(&file).unwrap_or_default()).expect("a case");
        let app: Application = from(&case["app"]);
        let mut set = builtin.clone();
        for it in case["customDefinitions"].as_array().into_iter().flatten() {
            if it["kind"] == "DefinitionRevision" {
                set.insert_revision(from::<DefinitionRevision>(&it["object"]));
            } else {
                set.insert(from(&it["object"]));
            }
        }
        let objects = |kind: &str| {
            case["objects"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|it| it["kind"] == kind)
                .cloned()
                .collect::<Vec<_>>()
        };
        let policies: Vec<Policy> = from(&objects("Policy").into());
        let workflows: Vec<Workflow> = from(&objects("Workflow").into());
        for mode in ["offline", "cluster"] {
            let revision =
                if mode == "cluster" { format!("{}-v1", app.metadata.name) } else { String::new() };
            let mut context = Context { dry_run: true, ..Context::of(&app, &revision) };
            if mode == "cluster" {
                context.cluster_version = ClusterVersion {
                    major: "1".into(),
                    minor: "31".into(),
                    git_version: "v1.31.0".into(),
                    platform: "linux/amd64".into(),
                };
            }
            let request = Request {
                app: &app,
                definitions: &set,
                policies: &policies,
                workflows: &workflows,
                context,
            };
            let (targets, error) =
                render(&request, Templates::new(&runtime, &packages), &mut NoActor);
            let got = shown(&targets, error.map(|it| it.to_string()));
            let primary = &case["expected"][mode];
            let other = &case["expected_evalv3"][mode];
            let want = if same(other, &got) { other } else { primary };
            score.count(&format!("{} {mode}", id(&case)), want, &got);
        }
    }
}

fn score_template(root: &Path, score: &mut Score<'_>) {
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
        let mut process =
            Process::new(Templates::new(&runtime, &[]), context.to_json(Some(&component), ""));
        let mut failed = None;
        for (index, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
            let (name, template) = (
                step["name"].as_str().unwrap_or_default(),
                step["template"].as_str().unwrap_or_default(),
            );
            let parameter = Some(&step["params"]).filter(|it| !it.is_null());
            let answer = if step["kind"] == "workload" {
                process.workload(name, template, parameter, &mut NoActor)
            } else {
                process.apply_trait(name, template, parameter, &mut NoActor)
            };
            if let Err(error) = answer {
                failed = Some(json!({ "error": error.to_string(), "failedStep": index }));
                break;
            }
        }
        let got = failed.unwrap_or_else(|| {
            let product = process.finish();
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

fn score_defs(root: &Path, score: &mut Score<'_>) {
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

fn score_definitions(root: &Path, score: &mut Score<'_>) {
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

fn packages(all: impl Iterator<Item = lateen_definitions::Package>) -> Vec<cue_session::Package> {
    all.map(|it| cue_session::Package {
        path: it.path.into(),
        sources: vec![cue_session::Source::new("package.cue", it.source)],
    })
    .collect()
}

fn score_schema(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("schema/cases.jsonl")) {
        let Some(it) = case["definition"].as_str().and_then(|name| definition(root, name)) else {
            continue;
        };
        let packages = if it.definition_kind() == Some(DefinitionKind::WorkflowStep) {
            packages(lateen_definitions::packages())
        } else {
            packages(lateen_definitions::render_packages())
        };
        let got = schema::parameters(Templates::new(&runtime, &packages), &it);
        if case["expected"]["error"].is_string() {
            score.count(id(&case), &json!(true), &json!(got.is_err()));
            continue;
        }
        let got = got.map_or_else(|error| json!(error.to_string()), |it| it.unwrap_or_default());
        score.count(id(&case), &sorted(&case["expected"]["schema"]), &sorted(&got));
    }
}

/// The order of `required` and `enum` means nothing.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let mut value = sorted(value);
                if let (Value::Array(all), true) = (&mut value, key == "required" || key == "enum")
                {
                    all.sort_by_key(Value::to_string);
                }
                (key.clone(), value)
            })
            .collect::<Map<String, Value>>()
            .into(),
        Value::Array(all) => all.iter().map(sorted).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

fn score_health(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("health/cases.jsonl")) {
        let texts = from(
            &json!({ "healthPolicy": case["healthPolicy"], "customStatus": case["customStatus"], "details": case["details"] }),
        );
        let context = case["context"].as_object().cloned().unwrap_or_default();
        let got = match health::evaluate(
            Templates::new(&runtime, &[]),
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

fn score_crds(root: &Path, score: &mut Score<'_>) {
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

/// Names, and what runs each.
const CATEGORIES: [(&str, fn(&Path, &mut Score<'_>)); 11] = [
    ("vela.names", score_names),
    ("vela.override", score_override),
    ("vela.generator", score_generator),
    ("vela.crds", score_crds),
    ("vela.template", score_template),
    ("vela.health", score_health),
    ("vela.validation", score_validation),
    ("vela.render", score_render),
    ("vela.defs_cue", score_defs),
    ("vela.schema", score_schema),
    ("vela.definitions", score_definitions),
];

/// Scores every category below `root`.
pub fn run(root: &Path) -> anyhow::Result<Scores> {
    anyhow::ensure!(root.join("render").is_dir(), "no cases in {}", root.display());
    let mut scores = Scores::default();
    for (name, run) in CATEGORIES {
        run(root, &mut Score { name, scores: &mut scores });
    }
    Ok(scores)
}

fn score_validation(root: &Path, score: &mut Score<'_>) {
    let builtin = definitions(root);
    let runtime = cue_session::NativeRuntime::default();
    for case in lines(&root.join("validation/cases.jsonl")) {
        let want = &case["expected"]["validate"];
        let templates = Templates::new(&runtime, &[]);
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
        score.count(
            id(&case),
            &json!([want["allowed"], want["message"]]),
            &json!([refusals.is_empty(), message]),
        );
    }
}
