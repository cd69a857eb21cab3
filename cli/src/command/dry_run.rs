//! `lateen dry-run`: render Applications without applying anything.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use lateen_controller::rest::{self, ActAs};
use lateen_engine::api::{Application, Definition, DefinitionKind};
use lateen_engine::delivery;
use lateen_engine::render::{Context, Definitions, NoActor, Request, Templates, render};
use serde_json::Value;

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::manifest;
use crate::target::cue_runtime;

/// `lateen dry-run`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen dry-run --offline -f app.yaml
  lateen dry-run --offline -f app.yaml -d definitions/")]
pub struct Args {
    /// Applications, and policies and workflows they refer to.
    #[arg(short, long, required = true, value_name = "FILE")]
    file: Vec<PathBuf>,
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
            insert(&mut definitions, object)?;
        }
    } else {
        online(cli, &mut definitions).await?;
    }
    for object in given(&runtime, &args.definitions)? {
        insert(&mut definitions, object)?;
    }
    let documents = manifest::read(&args.file)?;
    let of_kind = |kind: &'static str| {
        documents.iter().filter(move |it| it.object["kind"] == kind).map(|it| it.object.clone())
    };
    let policies: Vec<_> =
        of_kind("Policy").filter_map(|it| serde_json::from_value(it).ok()).collect();
    let workflows: Vec<_> =
        of_kind("Workflow").filter_map(|it| serde_json::from_value(it).ok()).collect();
    let packages =
        delivery::packages(lateen_definitions::render_packages().map(|it| (it.path, it.source)));
    let mut exit = Exit::Done;
    for document in documents.iter().filter(|it| it.object["kind"] == "Application") {
        let app: Application =
            serde_json::from_value(document.object.clone()).map_err(|error| {
                bad_input(format!("{}: document {}: {error}", document.file, document.number))
            })?;
        let request = Request {
            app: &app,
            definitions: &definitions,
            policies: &policies,
            workflows: &workflows,
            context: Context::of(&app, ""),
        };
        let (targets, error) = render(&request, Templates::new(&runtime, &packages), &mut NoActor);
        for target in &targets {
            for component in &target.components {
                cli.out
                    .line(&format!("---\n# {} -- Component({})", target.title, component.name))?;
                for (_, object) in component.objects() {
                    cli.out.line(&format!("---\n{}", serde_yaml::to_string(object)?.trim_end()))?;
                }
            }
            for object in &target.policies {
                cli.out.line(&format!("---\n{}", serde_yaml::to_string(object)?.trim_end()))?;
            }
        }
        if let Some(error) = error {
            cli.out.note(&format!("error: {}: {error}", document.file));
            exit = Exit::NotSo;
        }
    }
    Ok(exit)
}

fn insert(definitions: &mut Definitions, object: Value) -> anyhow::Result<()> {
    let definition: Definition = serde_json::from_value(object)?;
    definitions.insert(definition);
    Ok(())
}

/// Definition objects from files and folders.
pub fn given(runtime: &dyn cue_session::Runtime, paths: &[PathBuf]) -> anyhow::Result<Vec<Value>> {
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
            let object = lateen_engine::authoring::render(runtime, &text)
                .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
            objects.push(object);
        }
        objects.extend(manifest::read(&yaml)?.into_iter().map(|it| it.object));
    }
    Ok(objects)
}

async fn online(cli: &Cli, definitions: &mut Definitions) -> anyhow::Result<()> {
    let cluster = cli.target.cluster().await?;
    for kind in DefinitionKind::CURRENT {
        for namespace in [lateen_engine::api::SYSTEM_NAMESPACE, &cluster.namespace] {
            let path =
                format!("/apis/core.oam.dev/v1beta1/namespaces/{namespace}/{}", kind.plural());
            let list =
                rest::send(&cluster.client, http::Method::GET, &path, None, &ActAs::default())
                    .await?;
            for item in list["items"].as_array().into_iter().flatten() {
                let mut item = item.clone();
                item["kind"] = kind.kind().into();
                item["apiVersion"] = "core.oam.dev/v1beta1".into();
                insert(definitions, item)?;
            }
        }
    }
    Ok(())
}
