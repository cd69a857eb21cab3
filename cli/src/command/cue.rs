//! `lateen cue`: evaluate, export and check CUE, with cue's own exit codes.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use cue_session::{
    Budget, Concreteness, Diagnostic, Error, Package, Profile, ProgramSpec, Runtime, Session,
    Source, SyntaxStyle,
};

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::target::cue_runtime;

/// `lateen cue …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen cue export config.cue                 JSON
  lateen cue export config.cue --out yaml -e deployments
  lateen cue eval schema.cue data.yaml
  lateen cue vet schema.cue data.json -d '#Config'")]
pub struct Args {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the value as JSON or YAML; everything must be concrete.
    Export(Input),
    /// Print the value as CUE, types and all.
    Eval(Input),
    /// Check data against CUE.
    Vet(Input),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Json,
    Yaml,
    Cue,
    Text,
}

#[derive(Debug, ClapArgs)]
struct Input {
    /// CUE files of one package, and JSON or YAML data; `-` is CUE on stdin.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Evaluate this expression instead of the whole.
    #[arg(short = 'e', long, value_name = "EXPR")]
    expression: Option<String>,
    /// Form of the output.
    #[arg(long, value_enum, value_name = "FORM")]
    out: Option<Form>,
    /// Where data files are unified, a path.
    #[arg(short = 'l', long = "path", value_name = "PATH")]
    path: Option<String>,
    /// Expression that data files must satisfy (vet).
    #[arg(short = 'd', long, value_name = "EXPR")]
    schema: Option<String>,
    /// Everything must be concrete.
    #[arg(short = 'c', long)]
    concrete: bool,
}

/// Name of the field that holds what `-e` asks for.
const EXPRESSION: &str = "_lateen_expression";
/// Name of the field that holds checked data.
const DATA: &str = "_lateen_data";

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    tokio::task::block_in_place(|| match &args.command {
        Verb::Export(input) => export(input, cli),
        Verb::Eval(input) => eval(input, cli),
        Verb::Vet(input) => vet(input, cli),
    })
}

fn export(input: &Input, cli: &Cli) -> anyhow::Result<Exit> {
    let mut session = match open(input)? {
        Ok(session) => session,
        Err(all) => return refuse(&all, cli),
    };
    let path = asked(input);
    let printed = match input.out.unwrap_or(Form::Json) {
        Form::Json => session.json(path),
        Form::Cue => session.syntax(path, SyntaxStyle::Final),
        Form::Yaml => match session.value(path) {
            Ok(Some(value)) => Ok(Some(serde_yaml::to_string(&value)?)),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        },
        Form::Text => session
            .value(path)
            .map(|value| value.map(|it| it.as_str().map_or(it.to_string(), str::to_owned))),
    };
    finish(printed, cli)
}

fn eval(input: &Input, cli: &Cli) -> anyhow::Result<Exit> {
    let mut session = match open(input)? {
        Ok(session) => session,
        Err(all) => return refuse(&all, cli),
    };
    let path = asked(input);
    let how = if input.concrete { Concreteness::Required } else { Concreteness::Optional };
    let wrong = session.validate(path, how).map_err(fault)?;
    if !wrong.is_empty() {
        return refuse(&wrong, cli);
    }
    let printed = match input.out.unwrap_or(Form::Cue) {
        Form::Cue | Form::Text => session.syntax(path, SyntaxStyle::Eval),
        Form::Json | Form::Yaml => session.json(path),
    };
    finish(printed, cli)
}

fn vet(input: &Input, cli: &Cli) -> anyhow::Result<Exit> {
    let mut session = match open(input)? {
        Ok(session) => session,
        Err(all) => return refuse(&all, cli),
    };
    let data = input.files.iter().any(|file| is_data(file));
    let how = if input.concrete || data { Concreteness::Required } else { Concreteness::Optional };
    let path = if data && input.schema.is_some() { DATA } else { "" };
    let wrong = session.validate(path, how).map_err(fault)?;
    if wrong.is_empty() { Ok(Exit::Done) } else { refuse(&wrong, cli) }
}

fn finish(printed: Result<Option<String>, Error>, cli: &Cli) -> anyhow::Result<Exit> {
    match printed {
        Ok(Some(text)) => {
            cli.out.line(text.trim_end_matches('\n'))?;
            Ok(Exit::Done)
        }
        Ok(None) => Err(bad_input("there is no such value")),
        Err(Error::Diagnostics(all)) => refuse(&all, cli),
        Err(error) => Err(fault(error)),
    }
}

fn fault(error: Error) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}

/// Errors as cue prints them: the message, then an indented line for each position.
fn refuse(all: &[Diagnostic], cli: &Cli) -> anyhow::Result<Exit> {
    for wrong in all {
        let path = if wrong.path.is_empty() { String::new() } else { format!("{}: ", wrong.path) };
        let colon = if wrong.positions.is_empty() { "" } else { ":" };
        cli.out.note(&format!("{path}{}{colon}", wrong.message));
        for at in &wrong.positions {
            cli.out.note(&format!("    ./{}:{}:{}", at.file, at.line, at.column));
        }
    }
    Ok(Exit::NotSo)
}

fn asked(input: &Input) -> &'static str {
    if input.expression.is_some() { EXPRESSION } else { "" }
}

fn is_data(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "json" || it == "yaml" || it == "yml")
}

fn open(input: &Input) -> anyhow::Result<Result<Session, Vec<Diagnostic>>> {
    let mut sources = Vec::new();
    let mut inputs = Vec::new();
    let data_path = match (&input.path, &input.schema) {
        (Some(path), _) => path.clone(),
        (None, Some(_)) => DATA.to_owned(),
        (None, None) => String::new(),
    };
    for file in &input.files {
        if is_data(file) {
            for document in crate::manifest::read(std::slice::from_ref(file))? {
                inputs.push(cue_session::Input::new(&data_path, document.object.to_string()));
            }
        } else {
            sources.push(read(file)?);
        }
    }
    let clause = sources.iter().find_map(|it| package_clause(&it.text)).unwrap_or_default();
    let mut synthetic = String::new();
    if let Some(expression) = &input.expression {
        synthetic.push_str(&format!("{EXPRESSION}: {expression}\n"));
    }
    if let Some(schema) = &input.schema {
        synthetic.push_str(&format!("{DATA}: {schema}\n"));
    }
    if !synthetic.is_empty() {
        sources.push(Source::new("command line", format!("{clause}\n{synthetic}")));
    }
    let runtime = cue_runtime()?;
    let spec = ProgramSpec { sources, packages: Vec::<Package>::new(), profile: Profile::V017 };
    let session = runtime
        .compile(spec)
        .and_then(|program| runtime.start(&program, inputs, Budget::DEFINITION));
    match session {
        Ok(session) => Ok(Ok(session)),
        Err(Error::Diagnostics(all)) => Ok(Err(all)),
        Err(error) => Err(fault(error)),
    }
}

fn read(file: &Path) -> anyhow::Result<Source> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())?
    } else {
        std::fs::read_to_string(file)
            .map_err(|error| bad_input(format!("{}: {error}", file.display())))?
    };
    Ok(Source::new(file.display().to_string().trim_start_matches("./"), text))
}

/// The package clause of a file, so that a synthetic file can join its package.
fn package_clause(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| line.starts_with("package ")).map(str::to_owned)
}
