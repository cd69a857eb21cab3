//! `lateen version`: what this binary is.

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::Cli;
use crate::exit::Exit;
use crate::output::Format;

/// `lateen version`
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// json, yaml or jsonpath=TEMPLATE.
    #[arg(short, long, value_name = "FORM")]
    output: Option<Format>,
}

#[derive(Serialize)]
struct Version {
    kind: &'static str,
    version: u32,
    lateen: &'static str,
    cue: &'static str,
    kubernetes: &'static str,
}

/// Runs the command.
pub fn run(args: &Args, cli: &Cli) -> anyhow::Result<Exit> {
    let version = Version {
        kind: "Version",
        version: 1,
        lateen: env!("CARGO_PKG_VERSION"),
        cue: "v0.17",
        kubernetes: "v1.36",
    };
    match &args.output {
        None => cli.out.line(&format!(
            "lateen {}  (CUE {}, embedded Kubernetes API {})",
            version.lateen, version.cue, version.kubernetes
        ))?,
        Some(format) => cli.out.value(format, &version)?,
    }
    Ok(Exit::Done)
}
