//! `lateen cluster`: the clusters Applications can be delivered to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args as ClapArgs, Subcommand};
use http::Method;
use lateen_controller::kinds::Resource;
use lateen_controller::rest::{self, ActAs, Body};
use lateen_controller::{clusters, joining};
use lateen_engine::api::SYSTEM_NAMESPACE;
use lateen_engine::api::names::{LOCAL_CLUSTER, annotation, label};
use serde_json::{Value, json};

use crate::Cli;
use crate::existing::Existing;
use crate::exit::{Exit, Refusal, bad_input};
use crate::output::Format;

/// `lateen cluster …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
A joined cluster is a Secret in vela-system; topology policies name it, or its labels.

Examples:
  lateen cluster join east.kubeconfig --name east --labels zone=north
  lateen cluster list
  lateen cluster detach east")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Store how to reach the cluster of a kubeconfig's current context.
    Join {
        /// Its kubeconfig.
        file: PathBuf,
        /// Name for it; the name of its context if not said.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Labels that `clusterLabelSelector` can ask for.
        #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',')]
        labels: Vec<String>,
        /// Take the place of a cluster that was joined by this name: its credentials have changed.
        #[arg(long)]
        replace: bool,
    },
    /// List the clusters.
    #[command(visible_alias = "ls")]
    List {
        /// json, yaml or jsonpath=TEMPLATE.
        #[arg(short, long, value_name = "FORM")]
        output: Option<Format>,
    },
    /// Forget a cluster; what was delivered there stays there.
    Detach {
        /// Its name.
        name: String,
    },
}

/// Longest time a cluster that is to be joined may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    match args.verb {
        Verb::Join { file, name, labels, replace } => {
            join(&file, name, &labels, replace.into(), cli).await
        }
        Verb::List { output } => list(output.as_ref(), cli).await,
        Verb::Detach { name } => detach(&name, cli).await,
    }
}

fn path(name: Option<&str>) -> String {
    rest::path(&Resource::namespaced("v1", "Secret", "secrets"), SYSTEM_NAMESPACE, name)
}

async fn join(
    file: &Path,
    name: Option<String>,
    labels: &[String],
    existing: Existing,
    cli: &Cli,
) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    let kubeconfig: Value = serde_yaml::from_str(&text)
        .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    let context = kubeconfig["current-context"].as_str().unwrap_or_default();
    let name = name.unwrap_or_else(|| context.to_owned());
    let labels = labels
        .iter()
        .map(|it| {
            let (key, value) = it.split_once('=').filter(|it| !it.0.is_empty())?;
            Some((key.to_owned(), value.to_owned()))
        })
        .collect::<Option<BTreeMap<_, _>>>()
        .ok_or_else(|| bad_input("--labels: expected KEY=VALUE,KEY=VALUE"))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let secret = joining::secret(&name, &kubeconfig, folder, &labels)
        .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    let client = clusters::connect(&secret).await.map_err(bad_input)?;
    let version = tokio::time::timeout(PATIENCE, clusters::version(&client)).await;
    let version = match version {
        Ok(Ok(version)) => version.git_version,
        Ok(Err(error)) => return Err(silent(&name, &error.to_string())),
        Err(_) => return Err(silent(&name, "no answer")),
    };
    let hub = cli.target.reach().await?;
    let there = rest::get(&hub.client, &path(Some(&name)), &ActAs::default()).await?;
    let replaces = existing == Existing::Replaced;
    if there.is_some_and(|it| !replaces || !is_cluster(&it)) {
        let hint = if replaces { "and is no cluster" } else { "; --replace changes it" };
        return Err(bad_input(format!("there is a Secret {name} in {SYSTEM_NAMESPACE} {hint}")));
    }
    let to = rest::with_query(path(Some(&name)), "fieldManager", "lateen");
    let to = rest::with_query(to, "force", "true");
    let body = Some((Body::Apply, &secret));
    rest::send(&hub.client, Method::PATCH, &to, body, &ActAs::default())
        .await
        .context("storing the cluster's credentials")?;
    cli.out.line(&format!("cluster {name} joined ({version})"))?;
    Ok(Exit::Done)
}

fn silent(name: &str, error: &str) -> anyhow::Error {
    Refusal::new(Exit::NoAnswer, format!("cluster {name} was not joined: {error}")).into()
}

fn is_cluster(secret: &Value) -> bool {
    secret["metadata"]["labels"][label::CLUSTER_CREDENTIAL].is_string()
}

async fn list(output: Option<&Format>, cli: &Cli) -> anyhow::Result<Exit> {
    let hub = cli.target.reach().await?;
    let all = rest::with_query(path(None), "labelSelector", label::CLUSTER_CREDENTIAL);
    let list = rest::send(&hub.client, Method::GET, &all, None, &ActAs::default()).await?;
    let mut clusters = vec![json!({"name": LOCAL_CLUSTER, "type": "Internal", "labels": {}})];
    clusters.extend(list["items"].as_array().into_iter().flatten().map(shown));
    if let Some(format) = output {
        cli.out.value(format, &json!({"kind": "ClusterList", "version": 1, "items": clusters}))?;
        return Ok(Exit::Done);
    }
    let text = |it: &Value| it.as_str().unwrap_or("-").to_owned();
    let rows: Vec<Vec<String>> = clusters
        .iter()
        .map(|it| {
            let labels = it["labels"].as_object().into_iter().flatten();
            let labels: Vec<String> =
                labels.map(|(key, value)| format!("{key}={}", text(value))).collect();
            let fields = ["name", "alias", "type", "endpoint"];
            let fields = fields.iter().map(|key| text(&it[*key]));
            fields.chain(["true".to_owned(), labels.join(",")]).collect()
        })
        .collect();
    cli.out.table(&["CLUSTER", "ALIAS", "TYPE", "ENDPOINT", "ACCEPTED", "LABELS"], &rows)?;
    Ok(Exit::Done)
}

/// A cluster without its secrets.
fn shown(secret: &Value) -> Value {
    let meta = &secret["metadata"];
    let mut labels = meta["labels"].clone();
    let kind = labels.as_object_mut().and_then(|it| it.remove(label::CLUSTER_CREDENTIAL));
    json!({
        "name": meta["name"],
        "alias": meta["annotations"][annotation::CLUSTER_ALIAS],
        "type": kind,
        "endpoint": clusters::endpoint(secret),
        "labels": labels,
    })
}

async fn detach(name: &str, cli: &Cli) -> anyhow::Result<Exit> {
    let hub = cli.target.reach().await?;
    let at = path(Some(name));
    let there = rest::get(&hub.client, &at, &ActAs::default()).await?;
    if !there.is_some_and(|it| is_cluster(&it)) {
        return Err(bad_input(format!("no cluster {name} is joined")));
    }
    rest::send(&hub.client, Method::DELETE, &at, None, &ActAs::default()).await?;
    cli.out.line(&format!("cluster {name} detached"))?;
    Ok(Exit::Done)
}
