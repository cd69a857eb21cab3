//! `lateen ls`: Applications and how they are.

use clap::Args as ClapArgs;
use lateen_controller::report::{self, Row};
use serde::Serialize;

use crate::Cli;
use crate::exit::Exit;
use crate::output::{Format, Tone};

/// `lateen ls`
#[derive(Debug, ClapArgs)]
#[command(
    visible_alias = "list",
    after_help = "\
Examples:
  lateen ls
  lateen ls -A -o json"
)]
pub struct Args {
    /// Applications of all namespaces.
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// json, yaml or jsonpath=TEMPLATE.
    #[arg(short, long, value_name = "FORM")]
    output: Option<Format>,
}

#[derive(Serialize)]
struct List {
    kind: &'static str,
    version: u32,
    items: Vec<Row>,
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let cluster = cli.target.reach().await?;
    let namespace = if args.all_namespaces { "" } else { &cluster.namespace };
    let rows = report::list(&cluster.client, namespace).await?;
    if let Some(format) = &args.output {
        cli.out.value(format, &List { kind: "ApplicationList", version: 1, items: rows })?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        cli.out.note("no Applications found");
        return Ok(Exit::Done);
    }
    let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row, cli)).collect();
    cli.out.table(&["NAMESPACE", "NAME", "PHASE", "HEALTHY", "COMPONENTS", "CREATED"], &cells)?;
    Ok(Exit::Done)
}

fn cells(row: &Row, cli: &Cli) -> Vec<String> {
    let tone = phase_tone(&row.phase);
    vec![
        row.namespace.clone(),
        row.name.clone(),
        cli.out.paint(tone, &row.phase),
        format!("{}/{}", row.healthy.0, row.healthy.1),
        row.components.join(","),
        row.created.clone(),
    ]
}

/// Colour of an Application's phase.
pub fn phase_tone(phase: &str) -> Tone {
    match phase {
        "running" => Tone::Good,
        "workflowFailed" | "workflowTerminated" | "unhealthy" => Tone::Bad,
        _ => Tone::Waiting,
    }
}
