//! `lateen local snapshot`: everything a plane holds, saved into a file and put back.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use kube::config::{KubeConfigOptions, Kubeconfig};
use local_store::{Snapshot, Store};

use super::Which;
use super::background::Place;
use crate::Cli;
use crate::exit::{Exit, bad_input};

/// `lateen local snapshot …`
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Save everything, also while the plane runs.
    Save {
        /// Where to.
        file: PathBuf,
        #[command(flatten)]
        which: Which,
    },
    /// Put everything back, in place of what is there; the plane must not run.
    Restore {
        /// What was saved.
        file: PathBuf,
        #[command(flatten)]
        which: Which,
    },
}

pub(super) async fn run(verb: Verb, cli: &Cli) -> anyhow::Result<Exit> {
    match verb {
        Verb::Save { file, which } => save(&file, &Place::of(&which), cli).await,
        Verb::Restore { file, which } => restore(&file, &Place::of(&which), cli),
    }
}

async fn save(file: &Path, place: &Place, cli: &Cli) -> anyhow::Result<Exit> {
    let text = if place.running().is_some() {
        ask(place).await?
    } else {
        let state = place.state();
        if !state.exists() {
            return Err(bad_input(format!("there is no plane: {} is missing", state.display())));
        }
        Store::open(&state).map_err(|error| bad_input(error.to_string()))?.snapshot().text()
    };
    let name = file.display().to_string();
    let snapshot = Snapshot::parse(&name, &text).map_err(|error| bad_input(error.to_string()))?;
    std::fs::write(file, &text).map_err(|error| bad_input(format!("{name}: {error}")))?;
    cli.out.line(&format!("saved {} entries into {name}", snapshot.entries.len()))?;
    Ok(Exit::Done)
}

// The file of a running plane is its own; it is asked.
async fn ask(place: &Place) -> anyhow::Result<String> {
    let config = Kubeconfig::read_from(place.kubeconfig())?;
    let config =
        kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
    let client = kube::Client::try_from(config)?;
    let request = http::Request::get("/local/snapshot").body(Vec::new())?;
    client.request_text(request).await.context("asking the plane for its snapshot")
}

fn restore(file: &Path, place: &Place, cli: &Cli) -> anyhow::Result<Exit> {
    if let Some(pid) = place.running() {
        return Err(bad_input(format!("the plane runs (process {pid}); stop it first")));
    }
    let name = file.display().to_string();
    let text =
        std::fs::read_to_string(file).map_err(|error| bad_input(format!("{name}: {error}")))?;
    let snapshot = Snapshot::parse(&name, &text).map_err(|error| bad_input(error.to_string()))?;
    let state = place.state();
    if let Some(folder) = state.parent() {
        std::fs::create_dir_all(folder)?;
    }
    snapshot.restore(&state).map_err(|error| bad_input(error.to_string()))?;
    cli.out.line(&format!("restored {} entries", snapshot.entries.len()))?;
    Ok(Exit::Done)
}
