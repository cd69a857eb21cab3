//! `lateen status`: one Application's steps, components and tree.

use clap::Args as ClapArgs;
use lateen_controller::report::{self, Health, Node, Report, Step};
use lateen_controller::rest::{self, ActAs};

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::explain::explain;
use crate::output::{Format, Out, Tone};

/// `lateen status`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen status shop
  lateen status shop --tree
  lateen status shop -o jsonpath='{.status.workflow.steps[*].phase}'")]
pub struct Args {
    /// Name of the Application.
    name: String,
    /// Show every object it created and what those own.
    #[arg(long)]
    tree: bool,
    /// json, yaml or jsonpath=TEMPLATE: the Application itself.
    #[arg(short, long, value_name = "FORM")]
    output: Option<Format>,
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let cluster = cli.target.reach().await?;
    let path = rest::path(&report::applications(), &cluster.namespace, Some(&args.name));
    let Some(app) = rest::get(&cluster.client, &path, &ActAs::default()).await? else {
        let known = report::list(&cluster.client, &cluster.namespace).await?;
        let names = known.iter().map(|it| it.name.as_str());
        return Err(bad_input(format!(
            "there is no Application {} in namespace {}{}",
            args.name,
            cluster.namespace,
            crate::command::def::nearest(&args.name, names)
        )));
    };
    if let Some(format) = &args.output {
        cli.out.value(format, &app)?;
        return Ok(Exit::Done);
    }
    let it = report::report(&app);
    print(&it, &cli.out)?;
    if let Some(lines) = explain(&app, &it.problems, &[], &cluster, cli).await {
        cli.out.note(&format!("\n{lines}"));
    }
    if args.tree {
        cli.out.line("")?;
        print_tree(&report::tree(&cluster.client, &app).await?, &cli.out)?;
    }
    Ok(if it.phase == "running" && it.problems.is_empty() { Exit::Done } else { Exit::NotSo })
}

/// The report for people.
pub fn print(it: &Report, out: &Out) -> anyhow::Result<()> {
    let phase = out.paint(crate::command::ls::phase_tone(&it.phase), &it.phase);
    let revision =
        if it.revision.is_empty() { String::new() } else { format!("  {}", it.revision) };
    out.line(&format!(
        "{} {phase}{revision}",
        out.paint(Tone::Strong, &format!("{}/{}", it.namespace, it.name))
    ))?;
    for problem in &it.problems {
        out.line(&format!("  {}", out.paint(Tone::Bad, problem)))?;
    }
    if !it.steps.is_empty() {
        out.line("")?;
        out.line(&out.paint(Tone::Strong, &format!("workflow {}", it.workflow.0)))?;
        if !it.workflow.1.is_empty() {
            out.line(&format!("  {}", it.workflow.1))?;
        }
        for step in &it.steps {
            print_step(step, 1, out)?;
        }
    }
    if !it.components.is_empty() {
        out.line("")?;
        out.line(&out.paint(Tone::Strong, "components"))?;
        for one in &it.components {
            let (tone, word) =
                if one.healthy { (Tone::Good, "healthy") } else { (Tone::Waiting, "unhealthy") };
            let place = match one.cluster.as_str() {
                "" | "local" => String::new(),
                cluster => format!(" on {cluster}"),
            };
            let line = format!("  {}{place} {}  {}", one.name, out.paint(tone, word), one.message);
            out.line(line.trim_end())?;
            for (kind, healthy, message) in &one.traits {
                let (tone, word) =
                    if *healthy { (Tone::Good, "ok") } else { (Tone::Waiting, "waiting") };
                let line = format!("    {kind} {}  {message}", out.paint(tone, word));
                out.line(line.trim_end())?;
            }
        }
    }
    Ok(())
}

fn print_step(step: &Step, depth: usize, out: &Out) -> anyhow::Result<()> {
    let indent = "  ".repeat(depth);
    out.line(&format!("{indent}{}", step_line(step, out)))?;
    for inner in &step.steps {
        print_step(inner, depth + 1, out)?;
    }
    Ok(())
}

/// One step on one line.
pub fn step_line(step: &Step, out: &Out) -> String {
    let phase = out.paint(step_tone(&step.phase), &step.phase);
    let reason = if step.reason.is_empty() { String::new() } else { format!("/{}", step.reason) };
    let kind = out.paint(Tone::Dim, &step.kind);
    format!("{} {phase}{reason} {kind}  {}", step.name, step.message).trim_end().to_owned()
}

fn step_tone(phase: &str) -> Tone {
    match phase {
        "succeeded" => Tone::Good,
        "failed" => Tone::Bad,
        "skipped" => Tone::Dim,
        _ => Tone::Waiting,
    }
}

/// Live objects as a tree.
pub fn print_tree(nodes: &[Node], out: &Out) -> anyhow::Result<()> {
    print_level(nodes, "", out)
}

fn print_level(nodes: &[Node], indent: &str, out: &Out) -> anyhow::Result<()> {
    for (index, node) in nodes.iter().enumerate() {
        let last = index + 1 == nodes.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let (tone, mark) = match node.health {
            Health::Healthy => (Tone::Good, "healthy"),
            Health::Progressing => (Tone::Waiting, "waiting"),
            Health::Unhealthy => (Tone::Bad, "failed"),
            Health::Unknown => (Tone::Dim, "there"),
        };
        let line = format!(
            "{indent}{branch}{}/{} {}  {}",
            node.kind,
            node.name,
            out.paint(tone, mark),
            out.paint(Tone::Dim, &node.summary)
        );
        out.line(line.trim_end())?;
        print_level(&node.children, &format!("{indent}{below}"), out)?;
    }
    Ok(())
}
