//! Reconciling whole Applications: `tests/cases/reconcile/*.yaml` say what users do, one step after the
//! other has settled, and what is there then. Those with `crash` are also played with the process dying at
//! every single call; they must come to the same end.

mod edits;
#[path = "../fixture/mod.rs"]
mod fixture;
mod plane;
mod stale;

use std::collections::HashSet;

use cue_session::NativeRuntime;
use lateen_engine::api::DefinitionKind;
use lateen_engine::authoring;
use lateen_engine::reconcile::{Engine, reconcile, reconcile_definition};
use lateen_engine::render::Library;
use lateen_engine::settings::Settings;
use lateen_engine::world::{ObjectRef, World};
use serde_json::{Value, json};

use crate::fixture::{files, folder, holds, library};
use crate::plane::{Fault, Plane};

const APPLICATION: &str = "core.oam.dev/v1beta1";

/// A component without much to render: many runs are made of it.
const BOX: &str = r#"
box: {type: "component", attributes: workload: definition: {apiVersion: "v1", kind: "ConfigMap"}, annotations: {}, labels: {}, description: ""}
template: {
	output: {apiVersion: "v1", kind: "ConfigMap", data: size: "\(parameter.size)"}
	if parameter.lid {
		outputs: lid: {apiVersion: "v1", kind: "ConfigMap", metadata: name: context.name + "-lid", data: of: context.name}
	}
	parameter: {
		size: *1 | int | string
		lid: *false | bool
	}
}
"#;

/// Traits before and after the workload.
const STAGED: [&str; 2] = [
    r#"
early: {type: "trait", attributes: {stage: "PreDispatch", status: healthPolicy: "isHealth: context.outputs.early.data.ready == \"yes\""}, annotations: {}, labels: {}, description: ""}
template: outputs: early: {apiVersion: "v1", kind: "ConfigMap", metadata: name: context.name + "-early", data: is: "early"}
"#,
    r#"
late: {type: "trait", attributes: stage: "PostDispatch", annotations: {}, labels: {}, description: ""}
template: outputs: late: {apiVersion: "v1", kind: "ConfigMap", metadata: name: context.name + "-late", data: of: context.name}
"#,
];

fn text(below: &str) -> String {
    std::fs::read_to_string(folder(below)).unwrap_or_else(|error| panic!("{below}: {error}"))
}

struct Shop {
    runtime: NativeRuntime,
    definitions: Vec<Value>,
    plain: Library,
    library: Library,
    settings: Settings,
    /// The same, but objects may not leave the Application's namespace.
    homely: Settings,
}

impl Shop {
    fn open() -> Self {
        let runtime = NativeRuntime::default();
        let mut sources = vec![BOX.to_owned()];
        sources.extend(STAGED.map(str::to_owned));
        for name in [
            "component/webservice",
            "component/k8s-objects",
            "component/ref-objects",
            "trait/scaler",
            "trait/labels",
            "workflow-step/suspend",
            "workflow-step/apply-object",
            "workflow-step/deploy",
            "workflow-step/rollback",
        ] {
            sources.push(text(&format!("../definitions/{name}.cue")));
        }
        let definitions = sources
            .iter()
            .map(|source| {
                let mut object = authoring::render(&runtime, source)
                    .unwrap_or_else(|error| panic!("{error}: {source}"));
                object["metadata"]["namespace"] = "vela-system".into();
                object
            })
            .collect();
        let mut settings = Settings { retries: 3, ..Settings::default() };
        settings.gates.application_policies = true;
        settings.gates.global_policies = true;
        settings.mirror_phase = true;
        let mut homely = settings.clone();
        homely.mirror_phase = false;
        homely.admission.cross_namespace = false;
        Self {
            runtime,
            definitions,
            plain: Library::default(),
            library: library(),
            settings,
            homely,
        }
    }

    /// In doubt of what was before.
    fn engine<'a>(&'a self, plane: &'a Plane) -> Engine<'a> {
        Engine {
            world: plane,
            objects: plane,
            runtime: &self.runtime,
            render_library: &self.plain,
            step_library: &self.library,
            settings: if plane.homely { &self.homely } else { &self.settings },
            cluster_version: Default::default(),
            doubts: true,
        }
    }
}

fn application(name: &str) -> ObjectRef {
    ObjectRef::local(APPLICATION, "Application", "shop", name)
}

/// Reconciles until nothing more comes of it; `sure` are those whose last reconcile ended well.
fn settle(shop: &Shop, plane: &Plane, names: &[String], sure: &mut HashSet<String>) {
    for name in names {
        let mut quiet = 0;
        for round in 0.. {
            assert!(
                round < 300,
                "does not come to an end: {:#}",
                plane.snapshot()[format!("|Application|shop|{name}")]
            );
            let before = plane.snapshot();
            let engine = Engine { doubts: !sure.contains(name), ..shop.engine(plane) };
            let Some(result) = plane.run(reconcile(&engine, "shop", name)) else {
                sure.clear();
                continue;
            };
            let wake = match result {
                Ok(next) => {
                    sure.insert(name.clone());
                    next.wake
                }
                Err(_) => {
                    sure.remove(name);
                    Some(plane.now() + chrono::Duration::seconds(2))
                }
            };
            let Some(wake) = wake else { break };
            plane.pass_until(wake);
            // More than there are retries.
            quiet = if plane.snapshot() == before { quiet + 1 } else { 0 };
            if quiet > 5 {
                break;
            }
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What befalls the process once, while a case is played.
#[derive(Clone, Copy, Debug)]
enum Mishap {
    /// It dies after this call.
    Death(usize),
    /// This call fails.
    Fault(usize, Fault),
}

/// What came of a case.
struct Played {
    /// Everything there was after each step.
    seen: Vec<Value>,
    /// What does not fit.
    wrong: Vec<String>,
    /// The calls that changed something.
    effects: Vec<usize>,
    calls: usize,
}

/// Plays a case.
fn play(shop: &Shop, case: &Value, mishap: Option<Mishap>) -> Played {
    let mut plane = Plane::default();
    plane.homely = case["homely"] == true;
    shop.definitions.iter().for_each(|it| plane.put(it, ""));
    for object in list(&case["objects"]) {
        let mut object = object.clone();
        let cluster = object.as_object_mut().and_then(|it| it.remove("cluster"));
        plane.put(&object, cluster.as_ref().map_or("", word));
    }
    match mishap {
        Some(Mishap::Death(call)) => plane.die_after(call),
        Some(Mishap::Fault(call, fault)) => plane.fail_at(call, fault),
        None => {}
    }
    let mut names: Vec<String> = Vec::new();
    let mut sure = HashSet::new();
    let (mut seen, mut wrong) = (Vec::new(), Vec::new());
    for (index, step) in list(&case["steps"]).enumerate() {
        for (verb, value) in step.as_object().into_iter().flatten() {
            match verb.as_str() {
                "apply" => {
                    let mut app = json!({
                        "apiVersion": APPLICATION, "kind": "Application",
                        "metadata": {"namespace": "shop"},
                    });
                    json_patch::merge(&mut app, value);
                    let name = word(&app["metadata"]["name"]).to_owned();
                    if !names.contains(&name) {
                        names.push(name);
                    }
                    plane.put(&app, "");
                }
                "put" => list(value).for_each(|it| {
                    let mut object = it.clone();
                    let cluster = object.as_object_mut().and_then(|it| it.remove("cluster"));
                    plane.put(&object, cluster.as_ref().map_or("", word));
                }),
                "resume" => {
                    let app = plane.find(&application(word(value))).expect("is there");
                    let mut app = app;
                    app["status"]["workflow"]["suspend"] = false.into();
                    plane.put(&app, "");
                }
                "delete" => plane.delete_now(&application(word(value))),
                "remove" => plane.delete_now(&ObjectRef::of(value, word(&value["cluster"]))),
                "refuse" => {
                    list(value).for_each(|it| plane.refuse(word(&it["verb"]), word(&it["name"])))
                }
                "cut" => plane.cut(word(value)),
                "heal" => plane.heal(),
                "pass" => {
                    let seconds = chrono::Duration::seconds(value.as_i64().unwrap_or(0));
                    plane.pass_until(plane.now() + seconds);
                }
                "want" | "writes" | "trackers" | "actors" => {}
                other => panic!("no such step: {other}"),
            }
        }
        let before = plane.writes().len();
        settle(shop, &plane, &names, &mut sure);
        let snapshot = plane.snapshot();
        for (at, wanted) in step["want"].as_object().into_iter().flatten() {
            let got = &snapshot[at];
            let fits = if wanted.is_null() { got.is_null() } else { holds(wanted, got) };
            if !fits {
                let there: Vec<&String> =
                    snapshot.as_object().into_iter().flatten().map(|it| it.0).collect();
                wrong.push(format!(
                    "step {index}: {at}: wanted {wanted}\n  got {got}\n  of {there:?}"
                ));
            }
        }
        for (name, wanted) in step["actors"].as_object().into_iter().flatten() {
            let got = plane.actor(name);
            if got.as_deref() != wanted.as_str() {
                wrong.push(format!("step {index}: {name}: wanted {wanted}, got {got:?}"));
            }
        }
        if let Some(wanted) = step["trackers"].as_u64() {
            let all = plane.writes();
            let got = all[before..].iter().filter(|it| {
                let mut words = it.split(' ');
                matches!(words.next(), Some("create" | "patch"))
                    && words.next() == Some("ResourceTracker")
            });
            let got = got.count() as u64;
            if got != wanted {
                wrong.push(format!("step {index}: trackers are written {got} times, not {wanted}"));
            }
        }
        if step["writes"].is_array() {
            let skip = ["Application", "ResourceTracker", "ApplicationRevision"];
            let got: Vec<String> = plane.writes()[before..]
                .iter()
                .filter(|it| !skip.iter().any(|kind| it.split(' ').nth(1) == Some(*kind)))
                .filter(|it| !it.ends_with("-context") && !it.ends_with("-resources"))
                .cloned()
                .collect();
            if json!(got) != step["writes"] {
                wrong.push(format!("step {index}: writes {got:?}"));
            }
        }
        seen.push(snapshot);
    }
    Played { seen, wrong, effects: plane.effects(), calls: plane.calls() }
}

fn cases() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (file, text) in files(&folder("tests/cases/reconcile"), "yaml") {
        let many: Vec<Value> =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        all.extend(many.into_iter().map(|it| (word(&it["name"]).to_owned(), it)));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 3, "only {} cases", all.len());
    let only = std::env::var("ONLY").unwrap_or_default();
    all.retain(|it| it.0.contains(&only));
    all
}

#[test]
fn every_step_comes_to_what_the_case_wants() {
    let shop = Shop::open();
    let mut failures = Vec::new();
    for (name, case) in cases() {
        let Played { wrong, .. } = play(&shop, &case, None);
        failures.extend(wrong.into_iter().map(|it| format!("{name}: {it}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// An Application may go before it has our finalizer, and the process that looked at it too; whoever comes
/// next finds what was written beside that, and an Application of the same name is not kept by it.
#[test]
fn an_application_that_goes_at_once_leaves_nothing() {
    let shop = Shop::open();
    let made = || {
        json!({
            "apiVersion": APPLICATION, "kind": "Application",
            "metadata": {"namespace": "shop", "name": "brief"},
            "spec": {"components": [{"name": "part", "type": "box"}]},
        })
    };
    let trackers = |plane: &Plane| {
        let of = ObjectRef::local(APPLICATION, "ResourceTracker", "", "");
        plane.run(plane.list(&of, "app.oam.dev/name=brief")).expect("alive").expect("a list")
    };
    let mut seen = HashSet::new();
    for death in 1..40 {
        for again in [false, true] {
            let plane = Plane::default();
            shop.definitions.iter().for_each(|it| plane.put(it, ""));
            plane.put(&made(), "");
            plane.die_after(death);
            let engine = shop.engine(&plane);
            if plane.run(reconcile(&engine, "shop", "brief")).is_some() {
                continue;
            }
            let adopted = plane.find(&application("brief")).is_some_and(|it| {
                it["metadata"]["finalizers"].as_array().is_some_and(|it| !it.is_empty())
            });
            if adopted {
                continue;
            }
            seen.insert(trackers(&plane).len());
            plane.delete_now(&application("brief"));
            if again {
                plane.put(&made(), "");
            }
            settle(&shop, &plane, &["brief".to_owned()], &mut HashSet::new());
            let left = trackers(&plane);
            assert_eq!(left.len(), usize::from(again), "after call {death}: {left:?}");
            let app = plane.find(&application("brief"));
            let runs = app.is_some_and(|it| it["status"]["status"] == "running");
            assert_eq!(runs, again, "after call {death}");
        }
    }
    assert!(seen.contains(&1), "the tracker is never written before the finalizer");
}

/// A definition is recorded when it changes, and only then (E-24).
#[test]
fn definitions_are_recorded_as_they_change() {
    let shop = Shop::open();
    let plane = Plane::default();
    let definition = |size: i64| {
        json!({
            "apiVersion": APPLICATION, "kind": "ComponentDefinition",
            "metadata": {"name": "cup", "namespace": "shop"},
            "spec": {
                "workload": {"definition": {"apiVersion": "v1", "kind": "ConfigMap"}},
                "schematic": {"cue": {"template":
                    format!("output: {{apiVersion: \"v1\", kind: \"ConfigMap\"}}\nparameter: size: *{size} | int")}},
            },
        })
    };
    let reconcile = || {
        let engine = shop.engine(&plane);
        let done = reconcile_definition(&engine, DefinitionKind::Component, "shop", "cup");
        plane.run(done).expect("nobody died").expect("a reconcile");
    };
    let at = ObjectRef::local(APPLICATION, "ComponentDefinition", "shop", "cup");
    for size in 1..=5 {
        plane.put(&definition(size), "");
        reconcile();
        let live = plane.find(&at).expect("is there");
        assert_eq!(live["status"]["latestRevision"]["revision"], size, "{live:#}");
        assert_eq!(live["status"]["configMapRef"], "component-schema-cup");
        let writes = plane.writes().len();
        reconcile();
        assert_eq!(plane.writes().len(), writes, "nothing changed");
    }
    let snapshot = plane.snapshot();
    let revision = |number: i64| &snapshot[format!("|DefinitionRevision|shop|cup-v{number}")];
    for (number, there) in [(1, false), (2, false), (3, true), (4, true), (5, true)] {
        assert_eq!(revision(number).is_object(), there, "revision {number}");
    }
    assert_eq!(revision(5)["metadata"]["labels"]["componentdefinition.oam.dev/name"], "cup");
    let schema = word(
        &snapshot["|ConfigMap|shop|component-schema-cup-v5"]["data"]["openapi-v3-json-schema"],
    );
    assert!(schema.contains("\"default\":5"), "{schema}");
}

/// Lists whose order says nothing.
const SETS: [&str; 5] =
    [".conditions", ".services", ".appliedResources", ".managedResources", ".workflow.steps"];

/// What tells how often something was written, or that it once could not be.
fn is_history(at: &str) -> bool {
    at.contains("|ConfigMap|") && at.ends_with(".metadata.generation")
        || at.contains(".conditions[].StateKeep")
}

fn difference(a: &Value, b: &Value, at: &str, into: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys().filter(|it| !one.contains_key(*it))) {
                difference(&a[key], &b[key], &format!("{at}.{key}"), into);
            }
        }
        // In the order in which they came to be.
        (Value::Array(one), Value::Array(other)) if SETS.iter().any(|it| at.ends_with(it)) => {
            let by_name = |all: &[Value]| -> Value {
                let name = |it: &Value| {
                    ["type", "cluster", "namespace", "kind", "name"]
                        .map(|key| word(&it[key]).to_owned())
                };
                all.iter().map(|it| (name(it).join("|"), it.clone())).collect()
            };
            difference(&by_name(one), &by_name(other), &format!("{at}[]"), into);
        }
        _ if a == b || is_history(at) => {}
        _ => {
            let short = |it: &Value| it.to_string().chars().take(160).collect::<String>();
            into.push(format!("{at}: {} became {}", short(a), short(b)));
        }
    }
}

/// Where what was seen with a mishap differs from what is seen without.
fn differences(calm: &Played, other: &Played) -> Vec<String> {
    let mut all = Vec::new();
    for (step, (calm, seen)) in calm.seen.iter().zip(&other.seen).enumerate() {
        difference(calm, seen, &format!("step {step}"), &mut all);
    }
    all.truncate(4);
    all
}

/// Plays cases whose calls fail or end the process, one after the other: those that ask for it with `crash`, or all
/// with `CRASH=all`. Panics if one ends otherwise for it.
fn befall(mishaps: impl Fn(&Value, &Played) -> Vec<Mishap>) {
    let shop = Shop::open();
    let all = std::env::var("CRASH").is_ok_and(|it| it == "all");
    let mut failures = Vec::new();
    for (name, case) in cases().into_iter().filter(|it| all || it.1["crash"] == true) {
        let calm = play(&shop, &case, None);
        assert!(all || calm.effects.len() > 3, "{name}: {:?}", calm.effects);
        let before = failures.len();
        let mishaps = mishaps(&case, &calm);
        for mishap in &mishaps {
            let played = play(&shop, &case, Some(*mishap));
            let differences = differences(&calm, &played);
            if !differences.is_empty() {
                failures.push(format!("{name}: {mishap:?}: {}", differences.join("\n  ")));
            }
        }
        eprintln!("{name}: {} mishaps, {} end otherwise", mishaps.len(), failures.len() - before);
    }
    let count = failures.len();
    failures.truncate(8);
    assert!(failures.is_empty(), "{count} mishaps end otherwise\n{}", failures.join("\n"));
}

/// Whatever call the process dies at, what is started anew comes to the same end.
#[test]
fn dying_at_any_call_leads_to_the_same_end() {
    befall(|_, calm| calm.effects.iter().map(|call| Mishap::Death(*call)).collect());
}

/// Whatever call fails, for whatever reason, the same: but for cases that say why not.
#[test]
fn any_call_that_fails_leads_to_the_same_end() {
    befall(|case, calm| {
        if case["otherwise"].is_string() {
            return Vec::new();
        }
        let busy = (1..=calm.calls).map(|call| Mishap::Fault(call, Fault::Busy));
        let others = calm.effects.iter().flat_map(|call| {
            [Fault::Unheard, Fault::Conflict].map(|fault| Mishap::Fault(*call, fault))
        });
        busy.chain(others).collect()
    });
}
