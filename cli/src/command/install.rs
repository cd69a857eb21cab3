//! `lateen install`: CRDs and definitions into a cluster.

use clap::Args as ClapArgs;
use lateen_controller::install;
use serde_json::json;

use crate::Cli;
use crate::exit::Exit;
use crate::notes::Note;
use crate::target::{bundle, cue_runtime};

/// `lateen install`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen install --context staging
  lateen install --kubeconfig ~/.kube/config")]
pub struct Args {}

/// Runs the command.
pub async fn run(_args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let cluster = cli.target.reach().await?;
    let bundle = bundle(&cue_runtime()?)?;
    let count = install::install(&cluster.client, &bundle).await?;
    cli.out.line(&format!(
        "{count} objects in place: {} CRDs, {} definitions",
        bundle.crds.len(),
        bundle.objects.len()
    ))?;
    if cluster.embedded.is_none() {
        let known = json!({ "flags": cli.target.flags() });
        cli.out.note(&Note::Installed.fill(&known)?);
    }
    Ok(Exit::Done)
}
