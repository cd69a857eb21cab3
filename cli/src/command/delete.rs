//! `lateen delete`: an Application and all it created.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;
use http::Method;
use lateen_controller::report;
use lateen_controller::rest::{self, ActAs, Body, Error};
use lateen_engine::api::names::annotation;
use serde_json::json;

use crate::Cli;
use crate::command::def::nearest;
use crate::exit::{Exit, bad_input};
use crate::manifest;
use crate::target::cue_runtime;

/// `lateen delete`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen delete shop
  lateen delete -f app.yaml --wait=false
  lateen delete shop --force   clusters that do not answer keep what they have")]
pub struct Args {
    /// Names of Applications.
    names: Vec<String>,
    /// Delete the Applications in these files; `-` is stdin.
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Wait until everything is gone.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    wait: bool,
    /// Leave behind what is on clusters that do not answer.
    #[arg(long)]
    force: bool,
    /// Longest wait, in seconds.
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    timeout: u64,
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let cluster = cli.target.reach().await?;
    let mut wanted: Vec<(String, String)> =
        args.names.iter().map(|it| (cluster.namespace.clone(), it.clone())).collect();
    for document in manifest::read(&args.file)? {
        if document.object["kind"] == "Application" {
            let meta = &document.object["metadata"];
            let namespace = meta["namespace"].as_str().unwrap_or(&cluster.namespace);
            wanted.push((namespace.into(), meta["name"].as_str().unwrap_or_default().into()));
        }
    }
    if wanted.is_empty() {
        return Err(bad_input("name an Application, or a file with -f"));
    }
    if cluster.embedded.is_some() {
        cluster.drive(cue_runtime()?);
    }
    let mut exit = Exit::Done;
    for (namespace, name) in &wanted {
        let path = rest::path(&report::applications(), namespace, Some(name));
        if rest::get(&cluster.client, &path, &ActAs::default()).await?.is_none() {
            let known = report::list(&cluster.client, namespace).await?;
            cli.out.note(&format!(
                "there is no Application {name} in namespace {namespace}{}",
                nearest(name, known.iter().map(|it| it.name.as_str()))
            ));
            exit = Exit::NotSo;
            continue;
        }
        if args.force {
            let mark = json!({"metadata": {"annotations": {annotation::ABANDON: "true"}}});
            let body = Some((Body::MergePatch, &mark));
            rest::send(&cluster.client, Method::PATCH, &path, body, &ActAs::default()).await?;
        }
        match rest::send(&cluster.client, Method::DELETE, &path, None, &ActAs::default()).await {
            Ok(_) => {}
            // One that is being deleted may go as soon as nothing holds it any more.
            Err(Error::Refused(status)) if args.force && status.code == 404 => {}
            Err(error) => return Err(error.into()),
        }
        let until = tokio::time::Instant::now() + Duration::from_secs(args.timeout);
        while args.wait && rest::get(&cluster.client, &path, &ActAs::default()).await?.is_some() {
            if tokio::time::Instant::now() > until {
                cli.out.note(&format!(
                    "{name} is still being deleted after {} s; `lateen status {name}` says why",
                    args.timeout
                ));
                return Ok(Exit::NotSo);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let word = if args.wait { "deleted" } else { "is being deleted" };
        cli.out.line(&format!("application {name} {word}"))?;
    }
    Ok(exit)
}
