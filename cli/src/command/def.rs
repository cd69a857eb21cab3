//! `lateen def`: check, render, upgrade, apply, list and show definitions.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};
use cue_report::Severity;
use cue_session::{Diagnostic, Profile, ProgramSpec, Runtime, Source};
use cue_tool::format::Changed;
use http::Method;
use lateen_controller::install::{self, Bundle};
use lateen_controller::rest::{self, ActAs};
use lateen_engine::api::{DefinitionKind, SYSTEM_NAMESPACE};
use lateen_engine::authoring::{self, check};
use lateen_engine::render::{Library, Templates};
use serde_json::Value;

use crate::Cli;
use crate::command::dry_run::given;
use crate::exit::{Exit, bad_input, bad_input_shown};
use crate::output::{Format, Tone};
use crate::target::cue_runtime;

pub use lateen_engine::validate::nearest;

/// `lateen def …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen def vet my-trait.cue
  lateen def render my-trait.cue > my-trait.yaml
  lateen def apply definitions/
  lateen def list
  lateen def get webservice")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check definitions; templates that cannot hold are warned of.
    Vet {
        /// CUE files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Fail where a template cannot hold.
        #[arg(long)]
        strict: bool,
    },
    /// Print definitions as objects.
    Render {
        /// CUE files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Rewrite definitions or templates written for older CUE.
    Upgrade {
        /// CUE files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write into the files instead of printing.
        #[arg(short, long)]
        write: bool,
        /// Change nothing, fail if something has to change.
        #[arg(long, conflicts_with = "write")]
        validate: bool,
        /// Show what changes instead of the whole; with --write or --validate besides.
        #[arg(short, long)]
        diff: bool,
    },
    /// Put definitions into the cluster.
    Apply {
        /// CUE or YAML files, or folders.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List definitions of the cluster.
    #[command(visible_alias = "ls")]
    List,
    /// Show one definition of the cluster.
    Get {
        /// Its name.
        name: String,
        /// json, yaml or jsonpath=TEMPLATE.
        #[arg(short, long, value_name = "FORM")]
        output: Option<Format>,
    },
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    match args.verb {
        Verb::Vet { files, strict } => {
            let doubts = if strict { Severity::Error } else { Severity::Warning };
            vet(&files, doubts, cli)
        }
        Verb::Render { files } => {
            for object in given(&cue_runtime()?, &files, cli)? {
                cli.out.line(&format!("---\n{}", serde_yaml::to_string(&object)?.trim_end()))?;
            }
            Ok(Exit::Done)
        }
        Verb::Upgrade { files, write, validate, diff } => {
            let what = match (write, validate) {
                (_, true) => Upgrading::Validate,
                (true, false) => Upgrading::Write,
                (false, false) => Upgrading::Print,
            };
            let shown = if diff { Shown::Difference } else { Shown::Text };
            upgraded(&files, what, shown, cli)
        }
        Verb::Apply { files } => apply(&files, cli).await,
        Verb::List => list(cli).await,
        Verb::Get { name, output } => get(&name, output, cli).await,
    }
}

/// What is done with an upgraded text.
#[derive(Clone, Copy)]
enum Upgrading {
    Print,
    Write,
    /// Only whether it is needed.
    Validate,
}

/// What is printed of an upgraded text.
#[derive(Clone, Copy)]
enum Shown {
    Text,
    /// The lines that change.
    Difference,
}

/// Prints or writes what `authoring::upgrade` makes of each file.
fn upgraded(files: &[PathBuf], what: Upgrading, shown: Shown, cli: &Cli) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for file in files {
        let wrong =
            |error: &dyn std::fmt::Display| bad_input(format!("{}: {error}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
        let upgraded = authoring::upgrade::upgrade(&text).map_err(|error| {
            let name = file.display().to_string();
            let told = error.diagnostics(&name, &text);
            bad_input(format!("{name}: {error}\n{}", excerpts(&told, &name, &text, cli)))
        })?;
        for reason in &upgraded.reasons {
            cli.out.note(&format!("{}: {reason}", file.display()));
        }
        let needed = !upgraded.reasons.is_empty();
        let after = format!("{}\n", upgraded.text);
        match (what, shown) {
            (Upgrading::Print, Shown::Text) => cli.out.line(&upgraded.text)?,
            (_, Shown::Difference) if needed => {
                let changed = Changed {
                    file: file.display().to_string(),
                    before: text,
                    after: after.clone(),
                };
                cli.out.line(changed.difference().trim_end_matches('\n'))?;
            }
            _ => {}
        }
        match what {
            Upgrading::Validate if needed => exit = Exit::NotSo,
            Upgrading::Write if needed => {
                std::fs::write(file, after).map_err(|error| wrong(&error))?;
            }
            Upgrading::Print | Upgrading::Validate | Upgrading::Write => {}
        }
    }
    Ok(exit)
}

fn vet(files: &[PathBuf], doubts: Severity, cli: &Cli) -> anyhow::Result<Exit> {
    let runtime = cue_runtime()?;
    let of_steps: Library = lateen_definitions::packages().map(|it| (it.path, it.source)).collect();
    let of_others: Library =
        lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect();
    let mut exit = Exit::Done;
    for file in files {
        let text = std::fs::read_to_string(file)
            .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
        match read(&runtime, file, &text, cli) {
            Ok(object) => {
                let is_step = object["kind"] == DefinitionKind::WorkflowStep.kind();
                let library = if is_step { &of_steps } else { &of_others };
                let templates = Templates::new(&runtime, library);
                let checked = check(&file.display().to_string(), &text, templates)?;
                if !checked.wrong.is_empty() {
                    cli.out.note(&cli.out.excerpts(&checked.wrong, doubts, &*checked.spec));
                }
                if !checked.wrong.is_empty() && doubts == Severity::Error {
                    exit = Exit::NotSo;
                    continue;
                }
                cli.out.line(&format!("{} {}", file.display(), cli.out.paint(Tone::Good, "ok")))?
            }
            Err(error) => {
                cli.out.note(&error.to_string());
                exit = Exit::NotSo;
            }
        }
    }
    Ok(exit)
}

async fn apply(files: &[PathBuf], cli: &Cli) -> anyhow::Result<Exit> {
    let mut objects = given(&cue_runtime()?, files, cli)?;
    let cluster = cli.target.reach().await?;
    for object in &mut objects {
        if object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty() {
            object["metadata"]["namespace"] =
                cli.target.namespace.as_deref().unwrap_or(SYSTEM_NAMESPACE).into();
        }
    }
    let names: Vec<String> = objects
        .iter()
        .map(|it| format!("{} {}", text(&it["kind"]), text(&it["metadata"]["name"])))
        .collect();
    install::install(&cluster.client, &Bundle { objects, ..Default::default() }).await?;
    for name in names {
        cli.out.line(&format!("{name} applied"))?;
    }
    Ok(Exit::Done)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

async fn all(cli: &Cli) -> anyhow::Result<Vec<Value>> {
    let cluster = cli.target.reach().await?;
    let mut found = Vec::new();
    for kind in DefinitionKind::CURRENT {
        let path = format!("/apis/core.oam.dev/v1beta1/{}", kind.plural());
        let list = rest::send(&cluster.client, Method::GET, &path, None, &ActAs::default()).await?;
        for item in list["items"].as_array().into_iter().flatten() {
            let mut item = item.clone();
            item["kind"] = kind.kind().into();
            found.push(item);
        }
    }
    Ok(found)
}

async fn list(cli: &Cli) -> anyhow::Result<Exit> {
    let rows: Vec<Vec<String>> = all(cli)
        .await?
        .iter()
        .map(|it| {
            let meta = &it["metadata"];
            vec![
                text(&meta["name"]),
                text(&it["kind"]),
                text(&meta["namespace"]),
                text(&meta["annotations"]["definition.oam.dev/description"]),
            ]
        })
        .collect();
    cli.out.table(&["NAME", "KIND", "NAMESPACE", "DESCRIPTION"], &rows)?;
    Ok(Exit::Done)
}

async fn get(name: &str, output: Option<Format>, cli: &Cli) -> anyhow::Result<Exit> {
    let known = all(cli).await?;
    let Some(found) = known.iter().find(|it| it["metadata"]["name"] == name) else {
        let names: Vec<String> = known.iter().map(|it| text(&it["metadata"]["name"])).collect();
        return Err(bad_input(format!(
            "there is no definition {name}{}",
            nearest(name, names.iter().map(String::as_str))
        )));
    };
    cli.out.value(&output.unwrap_or(Format::Yaml), found)?;
    Ok(Exit::Done)
}

/// The object of a definition.
///
/// # Errors
/// What is wrong with it, with the lines that is about.
pub fn read(runtime: &dyn Runtime, file: &Path, text: &str, cli: &Cli) -> anyhow::Result<Value> {
    let name = file.display().to_string();
    authoring::read(runtime, &name, text).map_err(|refused| match refused.wrong.is_empty() {
        true => bad_input(format!("{name}: {refused}")),
        false => bad_input_shown(excerpts(&refused.wrong, &name, text, cli)),
    })
}

/// What is wrong with a text, with its lines.
fn excerpts(wrong: &[Diagnostic], file: &str, text: &str, cli: &Cli) -> String {
    let spec = ProgramSpec {
        sources: vec![Source::new(file, text)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    };
    cli.out.excerpts(wrong, Severity::Error, &spec)
}
