//! `lateen up`: deliver Applications and watch them until they are done.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use http::Method;
use lateen_controller::connection::Client;
use lateen_controller::install;
use lateen_controller::kinds::Kinds;
use lateen_controller::report;
use lateen_controller::rest::{self, ActAs, Body};
use serde_json::Value;

use crate::Cli;
use crate::command::def::nearest;
use crate::command::{status, types};
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, bad_input};
use crate::explain::explain;
use crate::follow::{Follow, is_delivered};
use crate::manifest::{self, Document};
use crate::target::{Cluster, bundle, cue_runtime, directories};

/// `lateen up`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen up -f app.yaml
  lateen up -f definitions/ -f app.yaml --ephemeral
  kustomize build . | lateen up -f -")]
pub struct Args {
    /// Files, folders, or `-` for stdin; several documents each.
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Keep the embedded plane in memory only.
    #[arg(long)]
    ephemeral: bool,
    /// Deliver this example folder, resuming what it suspends.
    #[arg(long, value_name = "FOLDER")]
    demo: Option<PathBuf>,
    /// Longest wait, in seconds.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    timeout: u64,
    /// Return as soon as everything is applied.
    #[arg(long)]
    no_wait: bool,
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let (documents, sources) = read(&args)?;
    let apps: Vec<&Document> =
        documents.iter().filter(|it| it.object["kind"] == "Application").collect();
    if documents.is_empty() && sources.is_empty() {
        return Err(bad_input("nothing to deliver: give files with -f"));
    }
    for document in &documents {
        check(document)?;
    }
    let runtime = cue_runtime()?;
    let mut extra = Vec::new();
    for (file, text) in &sources {
        let mut object = crate::command::def::read(&runtime, file, text, cli)?;
        object["metadata"]["namespace"] = lateen_engine::api::SYSTEM_NAMESPACE.into();
        extra.push(object);
    }
    let cluster = reach(&args, cli).await?;
    let client = cluster.client.clone();
    if cluster.embedded.is_some() {
        install::install(&client, &bundle(&runtime)?).await?;
    }
    install::install(&client, &install::Bundle { objects: extra, ..Default::default() }).await?;
    cluster.drive(runtime);
    let (later, first): (Vec<&Document>, Vec<&Document>) =
        documents.iter().partition(|it| it.object["kind"] == "Application");
    for (index, document) in first.iter().chain(&later).enumerate() {
        if index == first.len() {
            // Nothing of an Application is replaced by one that names what is not there.
            types::check(&client, &cluster.namespace, &later).await?;
        }
        apply(&client, &cluster.namespace, document).await?;
        let meta = &document.object["metadata"];
        cli.out.note(&format!(
            "{} {} applied",
            document.object["kind"].as_str().unwrap_or_default(),
            meta["name"].as_str().unwrap_or_default()
        ));
    }
    if args.no_wait || apps.is_empty() {
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    for app in &apps {
        let meta = &app.object["metadata"];
        let namespace = meta["namespace"].as_str().unwrap_or(&cluster.namespace).to_owned();
        let name = meta["name"].as_str().unwrap_or_default();
        let follow = Follow { client: &client, namespace, name, cli, resume: args.demo.is_some() };
        let until = started + Duration::from_secs(args.timeout);
        let object = follow.to_end(until).await?;
        let it = report::report(&object);
        cli.out.line("")?;
        status::print(&it, &cli.out)?;
        let own = std::slice::from_ref(*app);
        if let Some(lines) = explain(&object, &it.problems, own, &cluster, cli).await {
            cli.out.note(&format!("\n{lines}"));
        }
        cli.out.line("")?;
        status::print_tree(&report::tree(&client, &object).await?, &cli.out)?;
        if !is_delivered(&object, &it) {
            exit = Exit::NotSo;
        }
    }
    cli.out.note(&format!("{:.1} s", started.elapsed().as_secs_f64()));
    if let Some(plane) = &cluster.embedded {
        plane.stop.cancel();
    }
    Ok(exit)
}

/// Manifests, and definitions in CUE.
fn read(args: &Args) -> anyhow::Result<(Vec<Document>, Vec<(PathBuf, String)>)> {
    let mut manifests = Vec::new();
    let mut sources = Vec::new();
    let mut cue = |file: PathBuf| -> anyhow::Result<()> {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
        sources.push((file, text));
        Ok(())
    };
    for file in &args.file {
        if file.extension().is_some_and(|it| it == "cue") {
            cue(file.clone())?;
        } else {
            manifests.push(file.clone());
        }
    }
    if let Some(folder) = &args.demo {
        let definitions = folder.join("definitions");
        for entry in std::fs::read_dir(&definitions).into_iter().flatten().flatten() {
            cue(entry.path())?;
        }
        manifests.push(folder.join("app.yaml"));
    }
    Ok((manifest::read(&manifests)?, sources))
}

fn check(document: &Document) -> anyhow::Result<()> {
    let place = document.to_string();
    for field in ["apiVersion", "kind"] {
        if document.object[field].as_str().unwrap_or_default().is_empty() {
            return Err(bad_input(format!("{place} has no {field}")));
        }
    }
    if document.object["metadata"]["name"].as_str().unwrap_or_default().is_empty() {
        return Err(bad_input(format!("{place} has no metadata.name")));
    }
    Ok(())
}

async fn reach(args: &Args, cli: &Cli) -> anyhow::Result<Cluster> {
    if !(args.ephemeral || args.demo.is_some()) || cli.target.is_chosen() {
        return cli.target.reach().await;
    }
    let _ = directories();
    let plane = Embedded::open(&embedded::Options {
        state: None,
        controllers: true,
        pods: true,
        address: ([127, 0, 0, 1], 16443).into(),
    })?;
    let namespace = cli.target.namespace.clone().unwrap_or_else(|| "default".into());
    let client = plane.client(&namespace);
    Ok(Cluster { client, namespace, embedded: Some(plane) })
}

async fn apply(client: &Client, namespace: &str, document: &Document) -> anyhow::Result<()> {
    let kinds = Kinds::default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut object = document.object.clone();
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let resource =
        kinds.resolve(client, &api_version, &kind).await.map_err(|error| match error {
            rest::Error::UnknownKind { .. } => bad_input(format!(
                "{document}: there is no kind {kind} in {api_version}{}",
                nearest(&kind, KNOWN_KINDS.iter().copied())
            )),
            other => other.into(),
        })?;
    if resource.namespaced && text(&object["metadata"]["namespace"]).is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    let meta = &object["metadata"];
    let path = rest::path(&resource, &text(&meta["namespace"]), Some(&text(&meta["name"])));
    let path = rest::with_query(path, "fieldManager", "lateen-cli");
    let path = rest::with_query(path, "force", "true");
    let body = Some((Body::Apply, &object));
    match rest::send(client, Method::PATCH, &path, body, &ActAs::default()).await {
        Ok(_) => Ok(()),
        // What the schema refuses in an apply comes with the code of a fault of the server.
        Err(rest::Error::Refused(it)) if matches!(it.code, 400 | 404 | 413 | 422 | 500) => {
            Err(bad_input(format!(
                "{document}: {kind} {}: {}",
                text(&object["metadata"]["name"]),
                it.message
            )))
        }
        Err(other) => Err(other.into()),
    }
}

/// Kinds people mean when they mistype one.
const KNOWN_KINDS: &[&str] = &[
    "Application",
    "ComponentDefinition",
    "TraitDefinition",
    "PolicyDefinition",
    "WorkflowStepDefinition",
    "Policy",
    "Workflow",
    "Deployment",
    "Service",
    "ConfigMap",
    "Secret",
];
