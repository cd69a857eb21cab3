//! What a dry run prints, and the files it takes.

use std::path::Path;

use lateen_engine::render::dry_run::Bundle;
use lateen_engine::render::{Context, Definitions, Library, NoActor, Templates};
use serde_json::{Value, json};

use super::cases::{Score, definition, definitions, from, id, lines};
use super::render::{cases, with_own};

/// Exit code and text of the recorded command line, for every case it was given.
pub(super) fn score_cli_text(root: &Path, score: &mut Score<'_>) {
    let builtin = definitions(root);
    for case in cases(root) {
        let recorded = &case["cli"];
        if recorded.is_null() {
            continue;
        }
        let bundle = Bundle { app: from(&case["app"]), ..Bundle::default() };
        let (exit, text) = match print(&bundle, &with_own(&builtin, &case)) {
            Ok(text) => (0, text),
            Err(_) => (1, String::new()),
        };
        let want = recorded["stdout"].as_str().unwrap_or_default().trim_end();
        score.count(
            id(&case),
            &json!([recorded["exitCode"], want]),
            &json!([exit, text.trim_end()]),
        );
    }
}

fn print(bundle: &Bundle, definitions: &Definitions) -> Result<String, String> {
    let runtime = cue_session::NativeRuntime::default();
    let library =
        lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect::<Library>();
    let context = Context { dry_run: true, ..Context::of(&bundle.app, "") };
    bundle
        .show(definitions, context, Templates::new(&runtime, &library), &mut NoActor)
        .map_err(|error| error.to_string())
}

/// Several files, merged or not.
pub(super) fn score_files(root: &Path, score: &mut Score<'_>) {
    let mut set = Definitions::default();
    for name in [
        "ComponentDefinition.webservice",
        "ComponentDefinition.worker",
        "TraitDefinition.scaler",
        "TraitDefinition.expose",
        "TraitDefinition.nocalhost",
        "WorkflowStepDefinition.suspend",
    ] {
        if let Some(it) = definition(root, name) {
            set.insert(it);
        }
    }
    for case in lines(&root.join("dryrun-files/cases.jsonl")) {
        let answer = run(&case, &set);
        let (exit, stdout, stderr) = match answer {
            Ok(text) => (0, text, String::new()),
            Err(error) => (1, String::new(), format!("Error: {error}")),
        };
        let expected = &case["expected"];
        let trimmed = |it: &Value| it.as_str().unwrap_or_default().trim_end().to_owned();
        score.count(
            id(&case),
            &json!([
                expected["exitCode"],
                trimmed(&expected["stdout"]),
                trimmed(&expected["stderr"])
            ]),
            &json!([exit, stdout.trim_end(), stderr.trim_end()]),
        );
    }
}

fn run(case: &Value, definitions: &Definitions) -> Result<String, String> {
    let arguments: Vec<&str> =
        case["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let after = |flag: &str| -> Vec<&str> {
        arguments.windows(2).filter(|it| it[0] == flag).map(|it| it[1]).collect()
    };
    let mut files = after("-f");
    if files.is_empty() {
        files.push("app.yaml");
    }
    let wrapped = |error: String| format!("read application files: [{}]: {error}", files.join(" "));
    let mut objects = Vec::new();
    for file in &files {
        match case["files"].get(file) {
            Some(object) => objects.push((*file, object)),
            None => return Err(wrapped(format!("open {file}: no such file or directory"))),
        }
    }
    let mut bundle =
        Bundle::read(objects.into_iter()).map_err(|error| wrapped(error.to_string()))?;
    if let Some(namespace) = after("-n").first() {
        bundle.app.metadata.namespace = (*namespace).to_owned();
    }
    if arguments.contains(&"--merge") {
        bundle.merge();
    }
    print(&bundle, definitions)
}
