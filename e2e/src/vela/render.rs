//! Whole Applications: objects, errors and the text of a dry run.

use std::fs;
use std::path::{Path, PathBuf};

use lateen_engine::api::{Application, DefinitionRevision, Policy, Workflow};
use lateen_engine::authoring;
use lateen_engine::render::{
    ClusterVersion, Context, Definitions, Library, NoActor, Request, Target, Templates, render,
};
use serde_json::{Value, json};

use super::cases::{Score, definitions, from, id, same};

/// One way of rendering a case, and what is expected of it.
struct Played<'a> {
    name: String,
    expected: &'a Value,
    /// What the newer evaluator says; `null` where it says the same.
    other: &'a Value,
    targets: Vec<Target>,
    error: Option<String>,
}

/// The objects of cases that render.
pub(super) fn score_objects(root: &Path, score: &mut Score<'_>) {
    play(root, &definitions(root), &mut |it| objects(&it, score));
}

/// The errors of cases that do not, and what was finished before.
pub(super) fn score_errors(root: &Path, score: &mut Score<'_>) {
    play(root, &definitions(root), &mut |it| {
        if it.expected["error"].is_string() {
            let before = if it.targets.is_empty() { Value::Null } else { shown(&it.targets) };
            let got = json!({ "targets": before, "error": it.error });
            let want = if same(it.other, &got) { it.other } else { it.expected };
            score.count(&it.name, want, &got);
        }
    });
}

/// The objects again, of the definitions that Lateen ships.
pub(super) fn score_own(root: &Path, score: &mut Score<'_>) {
    let runtime = cue_session::NativeRuntime::default();
    let mut set = definitions(root);
    for it in lateen_definitions::definitions() {
        let object = authoring::render(&runtime, it.source).expect("our own definitions render");
        set.insert(from(&object));
    }
    play(root, &set, &mut |it| objects(&it, score));
}

fn objects(it: &Played<'_>, score: &mut Score<'_>) {
    if it.expected["error"].is_string() {
        return;
    }
    let got = match &it.error {
        None => json!({ "targets": shown(&it.targets) }),
        Some(error) => json!({ "error": error }),
    };
    let want = if same(it.other, &got) { it.other } else { it.expected };
    score.count(&it.name, want, &got);
}

fn shown(targets: &[Target]) -> Value {
    let target = |target: &Target| {
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
    };
    targets.iter().map(target).collect::<Vec<_>>().into()
}

/// The cases of `render/`, by name.
pub(super) fn cases(root: &Path) -> Vec<Value> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join("render")).expect("render").flatten().map(|it| it.path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            serde_json::from_str(&fs::read_to_string(file).unwrap_or_default()).expect("a case")
        })
        .collect()
}

/// Definitions with those of a case.
pub(super) fn with_own(builtin: &Definitions, case: &Value) -> Definitions {
    let mut set = builtin.clone();
    for it in case["customDefinitions"].as_array().into_iter().flatten() {
        if it["kind"] == "DefinitionRevision" {
            set.insert_revision(from::<DefinitionRevision>(&it["object"]));
        } else {
            set.insert(from(&it["object"]));
        }
    }
    set
}

fn play(root: &Path, builtin: &Definitions, each: &mut dyn FnMut(Played<'_>)) {
    let runtime = cue_session::NativeRuntime::default();
    let library =
        lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect::<Library>();
    for case in cases(root) {
        let app: Application = from(&case["app"]);
        let set = with_own(builtin, &case);
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
                render(&request, Templates::new(&runtime, &library), &mut NoActor);
            each(Played {
                name: format!("{} {mode}", id(&case)),
                expected: &case["expected"][mode],
                other: &case["expected_evalv3"][mode],
                targets,
                error: error.map(|it| it.to_string()),
            });
        }
    }
}
