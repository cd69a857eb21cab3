//! `lateen completion SHELL`: a completion script.

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::Shell;

use crate::exit::Exit;

/// `lateen completion`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  source <(lateen completion bash)
  lateen completion zsh > ~/.zfunc/_lateen")]
pub struct Args {
    /// For which shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &Args) -> Exit {
    let mut command = crate::Arguments::command();
    clap_complete::generate(args.shell, &mut command, "lateen", &mut std::io::stdout());
    Exit::Done
}
