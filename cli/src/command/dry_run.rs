//! `lateen dry-run`: render an Application without applying anything.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use lateen_engine::render::dry_run::Bundle;
use lateen_engine::render::{Context, Definitions, Library, NoActor, Request, Templates};
use lateen_engine::validate;
use serde_json::Value;

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::explain;
use crate::manifest;
use crate::target::cue_runtime;

/// `lateen dry-run`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen dry-run --offline -f app.yaml
  lateen dry-run --offline -f app.yaml -d definitions/")]
pub struct Args {
    /// The Application, and files of policies and a workflow for it.
    #[arg(short, long, default_value = "app.yaml", value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Take policies and workflow from their files as if the Application named them.
    #[arg(long)]
    merge: bool,
    /// Definitions, in CUE or YAML: files or folders.
    #[arg(short, long, value_name = "FILE")]
    definitions: Vec<PathBuf>,
    /// Ask no cluster: shipped definitions and those given.
    #[arg(long)]
    offline: bool,
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let runtime = cue_runtime()?;
    let mut definitions = Definitions::default();
    if args.offline || !cli.target.is_chosen() {
        for it in lateen_definitions::definitions() {
            let object = lateen_engine::authoring::render(&runtime, it.source)
                .map_err(|error| bad_input(format!("definition {}: {error}", it.name)))?;
            definitions.insert(serde_json::from_value(object)?);
        }
    } else {
        let cluster = cli.target.cluster().await?;
        definitions = explain::definitions_of(&cluster).await?;
    }
    for object in given(&runtime, &args.definitions, cli)? {
        definitions.insert(serde_json::from_value(object)?);
    }
    let documents = manifest::read(&args.file)?;
    if !documents.iter().any(|it| it.object["kind"] == "Application") {
        return Err(bad_input(nothing(&documents)));
    }
    let mut bundle = Bundle::read(documents.iter().map(|it| (it.file.as_str(), &it.object)))
        .map_err(|error| {
            let files: Vec<String> = args.file.iter().map(|it| it.display().to_string()).collect();
            bad_input(format!("read application files: [{}]: {error}", files.join(" ")))
        })?;
    if let Some(namespace) = &cli.target.namespace {
        bundle.app.metadata.namespace.clone_from(namespace);
    }
    if args.merge {
        bundle.merge();
    }
    let library: Library =
        lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect();
    let context = Context { dry_run: true, ..Context::of(&bundle.app, "") };
    let templates = Templates::new(&runtime, &library);
    let request = Request {
        app: &bundle.app,
        definitions: &definitions,
        policies: &[],
        workflows: &[],
        context: context.clone(),
    };
    for it in validate::advice(&request, templates)? {
        cli.out.note(&format!("warning: {it}"));
    }
    match bundle.show(&definitions, context, templates, &mut NoActor) {
        Ok(text) => {
            cli.out.line(text.trim_end_matches('\n'))?;
            Ok(Exit::Done)
        }
        Err(error) => {
            cli.out.note(&format!("Error: {error}"));
            let lines = explain::lines(&error, &bundle.app, &definitions, &documents, cli);
            if let Some(lines) = lines {
                cli.out.note(&format!("\n{lines}"));
            }
            Ok(Exit::NotSo)
        }
    }
}

/// Why there is nothing to render.
fn nothing(documents: &[manifest::Document]) -> String {
    let Some(first) = documents.first() else { return "the files are empty".into() };
    let kind = first.object["kind"].as_str().unwrap_or_default();
    let hint = crate::command::def::nearest(kind, ["Application"].into_iter());
    format!("{first} is no Application but {kind:?}{hint}; there is nothing to render")
}

/// Definition objects from files and folders.
pub fn given(
    runtime: &dyn cue_session::Runtime,
    paths: &[PathBuf],
    cli: &Cli,
) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for path in paths {
        let mut cue = Vec::new();
        let mut yaml = Vec::new();
        if path.is_dir() {
            for entry in std::fs::read_dir(path)?.flatten() {
                let file = entry.path();
                match file.extension().and_then(|it| it.to_str()) {
                    Some("cue") => cue.push(file),
                    Some("yaml" | "yml" | "json") => yaml.push(file),
                    _ => {}
                }
            }
        } else if path.extension().is_some_and(|it| it == "cue") {
            cue.push(path.clone());
        } else {
            yaml.push(path.clone());
        }
        cue.sort();
        yaml.sort();
        for file in cue {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
            objects.push(crate::command::def::read(runtime, &file, &text, cli)?);
        }
        objects.extend(manifest::read(&yaml)?.into_iter().map(|it| it.object));
    }
    Ok(objects)
}
