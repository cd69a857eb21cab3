//! Actions of workflow steps in both forms: `tests/cases/actions/*.yaml` say what a template does to a
//! cluster, and every pair of provider and `#do` that the shipped packages name has an action.

mod cluster;
#[path = "../fixture/mod.rs"]
mod fixture;
mod render;
mod run;

use cue_session::NativeRuntime;
use futures::executor::block_on;
use lateen_engine::api::workflow::OutputItem;
use lateen_engine::authoring;
use lateen_engine::render::Library;
use lateen_engine::workflow::actions;
use lateen_engine::workflow::step::{self, Outcome, Setting};
use lateen_engine::workflow::variables::Variables;
use serde_json::{Value, json};

use crate::cluster::{Cluster, Owner};
use crate::fixture::{files, folder, holds, library};

fn told(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Succeeded(message) => json!({"succeeded": message}),
        Outcome::Broken(message) => json!({"broken": message}),
        Outcome::Waiting(message) => json!({"waiting": message}),
        Outcome::Suspended { after, message, field } => {
            json!({"suspended": message, "field": field, "seconds": after.map(|it| it.num_seconds())})
        }
        Outcome::Failed { reason, message } => json!({"failed": message, "reason": reason}),
        Outcome::Troubled(message) => json!({"troubled": message}),
    }
}

/// Runs the rounds of one case; what does not fit.
fn play(case: &Value, template: &str, library: &Library) -> Vec<String> {
    let cluster = Cluster::new(case);
    let owner = Owner::new(&cluster, case);
    let runtime = NativeRuntime::default();
    let setting = Setting { runtime: &runtime, library, world: &cluster, host: &owner };
    let mut variables = Variables::fresh();
    for (name, value) in case["variables"].as_object().into_iter().flatten() {
        variables.set(name, value.clone());
    }
    let outputs: Vec<OutputItem> = case["outputs"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, from)| {
            serde_json::from_value(json!({"name": name, "valueFrom": from})).expect("an output")
        })
        .collect();
    let context = json!({
        "name": "app", "namespace": "home", "appRevision": "app-v2", "stepName": "one", "stepSessionID": "id1",
    });
    let parameter = match &case["parameter"] {
        Value::Null => json!({}),
        given => given.clone(),
    };
    let mut wrong = Vec::new();
    for (round, want) in case["rounds"].as_array().into_iter().flatten().enumerate() {
        cluster.pass(want["after"].as_i64().unwrap_or(0));
        cluster.merge(&want["before"]);
        let outcome = block_on(step::run(
            &setting,
            "one",
            None,
            ("template.cue", template),
            &parameter,
            &context,
            &outputs,
            &[],
            &mut variables,
        ));
        let got = json!({
            "outcome": told(&outcome),
            "variables": variables.all(),
            "requests": cluster.requests(),
            "mails": cluster.mails(),
        });
        for part in ["outcome", "variables", "requests", "mails"] {
            if !want[part].is_null() && !holds(&want[part], &got[part]) {
                wrong.push(format!(
                    "round {round}: {part}\n  want {}\n  got  {}",
                    want[part], got[part]
                ));
            }
        }
        for object in want["objects"].as_array().into_iter().flatten() {
            let live = cluster.find(object).unwrap_or_default();
            if !holds(object, &live) {
                wrong.push(format!("round {round}: object\n  want {object}\n  got  {live}"));
            }
        }
        for object in want["gone"].as_array().into_iter().flatten() {
            if cluster.find(object).is_some() {
                wrong.push(format!("round {round}: still there: {object}"));
            }
        }
    }
    wrong
}

/// The cases of a folder with their names.
fn cases(below: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (_, text) in files(&folder(below), "yaml") {
        let cases: serde_json::Map<String, Value> = serde_yaml::from_str(&text).expect("cases");
        all.extend(cases);
    }
    let tried = |case: &Value| case["rounds"].as_array().is_some_and(|it| !it.is_empty());
    assert!(!all.is_empty() && all.iter().all(|it| tried(&it.1)), "cases without rounds");
    all
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn templates_do_what_the_cases_say() {
    let library = library();
    let mut wrong = Vec::new();
    for (name, case) in cases("tests/cases/actions") {
        let template = case["template"].as_str().expect("a template");
        let found = play(&case, template, &library);
        wrong.extend(found.into_iter().map(|it| format!("{name}: {it}")));
    }
    report(&wrong);
}

#[test]
fn every_shipped_step_runs_to_its_end() {
    let (runtime, library) = (NativeRuntime::default(), library());
    let cases = cases("tests/cases/steps");
    let mut wrong = Vec::new();
    for (name, source) in files(&folder("../definitions/workflow-step"), "cue") {
        // A row of the design may stand behind the name.
        let is_of = |case: &str| case.split(' ').next() == Some(name.as_str());
        let Some((_, case)) = cases.iter().find(|it| is_of(&it.0)) else {
            wrong.push(format!("{name}: no case"));
            continue;
        };
        let definition = authoring::render(&runtime, &source).expect("a definition");
        let template = definition["spec"]["schematic"]["cue"]["template"].as_str();
        let found = play(case, template.expect("a template"), &library);
        wrong.extend(found.into_iter().map(|it| format!("{name}: {it}")));
    }
    report(&wrong);
}

/// `#do` with its `#provider`, as they stand in CUE texts.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut verb = String::new();
    for line in text.lines() {
        let value = |key: &str| {
            let rest = line.trim().strip_prefix(key)?;
            rest.trim().strip_prefix('"')?.split('"').next().map(str::to_owned)
        };
        if let Some(found) = value("#do:") {
            verb = found;
        }
        if let Some(provider) = value("#provider:") {
            all.push((provider, std::mem::take(&mut verb)));
        }
    }
    all
}

#[test]
fn every_pair_of_components_and_traits_has_an_action() {
    let mut count = 0;
    for (name, text) in files(&folder("../definitions/op-render/vela"), "cue") {
        for (provider, verb) in pairs(&text) {
            count += 1;
            assert!(actions::rendering::is_known(&provider, &verb), "{name}: {provider}.{verb}");
        }
    }
    assert!(count >= 10, "only {count} pairs");
}

#[test]
fn every_shipped_pair_has_an_action() {
    let mut all = Vec::new();
    for dir in ["op/vela", "workflow-step"] {
        for (name, text) in files(&folder("../definitions").join(dir), "cue") {
            all.extend(pairs(&text).into_iter().map(|it| (name.clone(), it)));
        }
    }
    assert!(all.len() >= 80, "only {} pairs", all.len());
    let missing: Vec<_> =
        all.iter().filter(|(_, (provider, verb))| !actions::is_known(provider, verb)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
