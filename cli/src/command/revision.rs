//! `lateen revision list`: the recorded states of an Application.

use clap::{Args as ClapArgs, Subcommand};
use http::Method;
use lateen_controller::kinds::Resource;
use lateen_controller::rest::{self, ActAs};
use serde_json::Value;

use crate::Cli;
use crate::exit::Exit;
use crate::output::Format;

/// `lateen revision …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen revision list shop
  lateen revision list -o yaml")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List revisions, oldest first.
    #[command(visible_alias = "ls")]
    List {
        /// Only of this Application.
        name: Option<String>,
        /// json, yaml or jsonpath=TEMPLATE.
        #[arg(short, long, value_name = "FORM")]
        output: Option<Format>,
    },
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let Verb::List { name, output } = args.verb;
    let cluster = cli.target.reach().await?;
    let resource =
        Resource::namespaced("core.oam.dev/v1beta1", "ApplicationRevision", "applicationrevisions");
    let mut path = rest::path(&resource, &cluster.namespace, None);
    if let Some(name) = &name {
        path = rest::with_query(path, "labelSelector", &format!("app.oam.dev/name={name}"));
    }
    let mut list = rest::send(&cluster.client, Method::GET, &path, None, &ActAs::default()).await?;
    if let Some(format) = &output {
        cli.out.value(format, &list)?;
        return Ok(Exit::Done);
    }
    let Some(items) = list["items"].as_array_mut() else { return Ok(Exit::Done) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    items.sort_by_key(|it| text(&it["metadata"]["creationTimestamp"]));
    let rows: Vec<Vec<String>> = items
        .iter()
        .map(|it| {
            let succeeded = match it["status"]["succeeded"].as_bool() {
                Some(true) => "yes",
                Some(false) | None => "no",
            };
            vec![
                text(&it["metadata"]["name"]),
                text(&it["metadata"]["labels"]["app.oam.dev/app-revision-hash"]),
                succeeded.to_owned(),
                text(&it["metadata"]["creationTimestamp"]),
            ]
        })
        .collect();
    cli.out.table(&["NAME", "HASH", "SUCCEEDED", "CREATED"], &rows)?;
    Ok(Exit::Done)
}
