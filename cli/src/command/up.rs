//! `lateen up`: deliver Applications and watch them until they are done.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use http::Method;
use kube::Client;
use lateen_controller::control::{self, Control};
use lateen_controller::kinds::Kinds;
use lateen_controller::observe::Metrics;
use lateen_controller::report::{self, Report, Step};
use lateen_controller::rest::{self, ActAs, Body};
use lateen_controller::{install, run};
use serde_json::Value;

use crate::Cli;
use crate::command::status;
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, bad_input};
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
        let mut object = lateen_engine::authoring::render(&runtime, text)
            .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
        object["metadata"]["namespace"] = lateen_engine::api::SYSTEM_NAMESPACE.into();
        extra.push(object);
    }
    let cluster = reach(&args, cli).await?;
    let client = cluster.client.clone();
    if cluster.embedded.is_some() {
        install::install(&client, &bundle(&runtime)?).await?;
    }
    install::install(&client, &install::Bundle { objects: extra, ..Default::default() }).await?;
    if let Some(plane) = &cluster.embedded {
        tokio::spawn(run::run(
            client.clone(),
            Arc::new(runtime),
            Arc::new(Metrics::default()),
            run::Options::default(),
            plane.stop.clone(),
        ));
    }
    for document in &documents {
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
        cli.out.line("")?;
        status::print_tree(&report::tree(&client, &object).await?, &cli.out)?;
        if it.phase != "running" {
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
    let place = format!("{}: document {}", document.file, document.number);
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
                "{}: document {}: there is no kind {kind} in {api_version}{}",
                document.file,
                document.number,
                crate::command::def::nearest(&kind, KNOWN_KINDS.iter().copied())
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
    rest::send(client, Method::PATCH, &path, body, &ActAs::default()).await?;
    Ok(())
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

/// How often the Application is looked at.
const POLL: Duration = Duration::from_millis(60);

struct Follow<'a> {
    client: &'a Client,
    namespace: String,
    name: &'a str,
    cli: &'a Cli,
    /// Whether suspends are resumed by patching the status.
    resume: bool,
}

impl Follow<'_> {
    /// Shows each change until the workflow is over; the Application as it is then.
    async fn to_end(&self, until: Instant) -> anyhow::Result<Value> {
        let path = rest::path(&report::applications(), &self.namespace, Some(self.name));
        let mut shown: HashMap<String, String> = HashMap::new();
        let mut resumed = 0;
        loop {
            let app = rest::get(self.client, &path, &ActAs::default())
                .await?
                .ok_or_else(|| bad_input(format!("Application {} is gone", self.name)))?;
            let it = report::report(&app);
            self.show(&it, &mut shown);
            let settled = match it.phase.as_str() {
                "running" => it.components.iter().all(|it| it.healthy),
                "workflowFailed" | "workflowTerminated" => true,
                "workflowSuspending" if self.resume => {
                    resumed += 1;
                    self.cli.out.note(&format!(
                        "  suspended: resuming by patching the status of {}",
                        self.name
                    ));
                    if let Err(error) = control::control(
                        self.client,
                        &self.namespace,
                        self.name,
                        Control::Resume,
                        None,
                    )
                    .await
                    {
                        // The controller may have moved on meanwhile.
                        if resumed > 20 {
                            return Err(bad_input(error.to_string()));
                        }
                    }
                    false
                }
                "workflowSuspending" => {
                    self.cli.out.note(&format!(
                        "suspended; go on with `lateen workflow resume {}`",
                        self.name
                    ));
                    true
                }
                "rendering" | "starting" | "" if !it.problems.is_empty() => true,
                _ => {
                    !it.problems.is_empty()
                        && it.steps.is_empty()
                        && !it.phase.starts_with("running")
                }
            };
            let seen = app["status"]["observedGeneration"] == app["metadata"]["generation"]
                || !it.problems.is_empty();
            if settled && seen {
                return Ok(app);
            }
            if Instant::now() > until {
                self.cli.out.note(&format!("{} is not done in time", self.name));
                return Ok(app);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// One line for each step and component that changed.
    fn show(&self, it: &Report, shown: &mut HashMap<String, String>) {
        let mut tell = |key: String, line: String| {
            if shown.get(&key) != Some(&line) {
                self.cli.out.note(&format!("  {line}"));
                shown.insert(key, line);
            }
        };
        fn steps(all: &[Step], out: &crate::output::Out, tell: &mut impl FnMut(String, String)) {
            for step in all {
                tell(
                    format!("step {}", step.name),
                    format!("step {}", status::step_line(step, out)),
                );
                steps(&step.steps, out, tell);
            }
        }
        steps(&it.steps, &self.cli.out, &mut tell);
        for one in &it.components {
            let word = if one.healthy { "healthy" } else { "waiting" };
            let line = format!("component {} {word} {}", one.name, one.message);
            tell(format!("component {}", one.name), line.trim_end().to_owned());
        }
        for problem in &it.problems {
            tell(format!("problem {problem}"), problem.clone());
        }
    }
}
