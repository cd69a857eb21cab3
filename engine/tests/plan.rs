//! The plan of a round as scripts: `tests/cases/plan.yaml` says what steps come to, and which of them run,
//! when to look again, how their rows stand. No world and no interpreter takes part.

use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{DateTime, Duration, Utc};
use lateen_engine::api::workflow::{ExecuteMode, WorkflowStatus, WorkflowStep};
use lateen_engine::workflow::backoff::Caps;
use lateen_engine::workflow::plan::{Plan, Trials};
use lateen_engine::workflow::step::Outcome;
use lateen_engine::workflow::variables::Variables;
use serde_json::{Value, json};

fn moment(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 0).expect("a time")
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn outcome(script: &Value, variables: &mut Variables) -> Outcome {
    let Some((kind, value)) = script.as_object().and_then(|it| it.iter().next()) else {
        return Outcome::Succeeded(String::new());
    };
    match kind.as_str() {
        "gives" => {
            for (name, value) in value.as_object().into_iter().flatten() {
                variables.set(name, value.clone());
            }
            Outcome::Succeeded(String::new())
        }
        "waits" => Outcome::Waiting(word(value)),
        "trouble" => Outcome::Troubled(word(value)),
        "fails" => Outcome::Failed { reason: "Action", message: word(value) },
        "breaks" => Outcome::Broken(word(value)),
        "suspends" => Outcome::Suspended {
            after: value.as_i64().and_then(Duration::try_seconds),
            message: "Suspended".into(),
            field: "suspend".into(),
        },
        other => panic!("no such outcome: {other}"),
    }
}

/// Phase of every row, with its reason and message if a case asks for them.
fn rows(status: &WorkflowStatus) -> Value {
    let mut all = serde_json::Map::new();
    for row in &status.steps {
        all.insert(row.name.clone(), json!([row.phase, row.reason, row.message]));
        for sub in &row.sub_steps {
            let name = format!("{}/{}", row.name, sub.name);
            all.insert(name, json!([sub.phase, sub.reason, sub.message]));
        }
    }
    all.into()
}

fn play(case: &Value) -> Vec<String> {
    let steps: Vec<WorkflowStep> = serde_json::from_value(case["steps"].clone()).expect("steps");
    let mode = case["mode"].as_str().unwrap_or("StepByStep");
    let mode = ExecuteMode { steps: mode.into(), sub_steps: "DAG".into(), ..Default::default() };
    let mut status = WorkflowStatus::default();
    let mut variables = Variables::fresh();
    let ids = AtomicU32::new(0);
    let new_id = || format!("id{}", ids.fetch_add(1, Ordering::Relaxed));
    let context = serde_json::Map::from_iter([("appName".to_owned(), json!("shop"))]);
    let judge = |text: &str, statuses: &Value, _: &Value| match text.strip_suffix(".failed") {
        Some(step) => Ok(statuses[step]["failed"] == true),
        None => text.parse::<bool>().map_err(|error| error.to_string()),
    };
    let mut wrong = Vec::new();
    for (index, round) in case["rounds"].as_array().into_iter().flatten().enumerate() {
        if round["resume"] == true {
            status.suspend = false;
        }
        if round["terminate"] == true {
            status.terminated = true;
        }
        let now = moment(round["at"].as_i64().unwrap_or(0));
        let suspends = case["suspends"] == true;
        let trials = Trials { retries: 2, caps: Caps::default(), suspends };
        let work = (steps.as_slice(), &mode);
        let mut plan =
            Plan::new(work, trials, now, &new_id, &judge, &context, &mut status, &mut variables);
        let mut ran = Vec::new();
        let passed = match plan.begin() {
            Some(passed) => passed,
            None => {
                while let Some(due) = plan.next_step() {
                    ran.push(due.step.name.clone());
                    assert!(ran.len() < 50, "{}: runs for ever: {ran:?}", case["name"]);
                    let came = outcome(&round["comes"][&due.step.name], plan.variables);
                    plan.record(&due, came);
                }
                plan.end()
            }
        };
        let mut check = |what: &str, got: Value| {
            if !round[what].is_null() && round[what] != got {
                let want = &round[what];
                wrong.push(format!(
                    "{}, round {index}, {what}: wanted {want}, got {got}",
                    case["name"]
                ));
            }
        };
        check("runs", json!(ran));
        check("state", json!(format!("{:?}", passed.state)));
        check("wake", json!(passed.wake.map_or(-1, |it| (it - moment(0)).num_seconds())));
        check("suspend", json!(status.suspend));
        let all = rows(&status);
        for (name, want) in round["rows"].as_object().into_iter().flatten() {
            let got = match want {
                Value::String(_) => all[name][0].clone(),
                _ => all[name].clone(),
            };
            if *want != got {
                wrong.push(format!(
                    "{}, round {index}, row {name}: wanted {want}, got {got} of {all}",
                    case["name"]
                ));
            }
        }
    }
    wrong
}

#[test]
fn plans_follow_their_scripts() {
    let cases: Vec<Value> =
        serde_yaml::from_str(include_str!("cases/plan.yaml")).expect("cases are YAML");
    assert!(cases.len() > 10);
    let wrong: Vec<String> = cases.iter().flat_map(play).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
