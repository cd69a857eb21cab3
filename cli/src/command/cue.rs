//! `lateen cue`: evaluate, export, check, format and import CUE, with cue's flags and exit codes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};
use cue_session::Shown;
use cue_syntax::Style;
use cue_tool::evaluate::{Concrete, Outcome};
use cue_tool::format::Action;
use cue_tool::{Encoding, Error, Load, Request, Verb, evaluate, format, import};

use crate::Cli;
use crate::existing::Existing;
use crate::exit::Exit;
use crate::target::cue_runtime;

/// `lateen cue …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen cue export config.cue                 JSON
  lateen cue export . --out yaml -e deployments -t env=prod
  lateen cue eval schema.cue data.yaml
  lateen cue vet schema.cue data.json -d '#Config'
  lateen cue fmt ./...
  lateen cue import -l kind -l metadata.name -o - objects.yaml")]
pub struct Args {
    /// Work in this folder.
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    chdir: Option<PathBuf>,
    /// Tell of all errors; they always are told.
    #[arg(short = 'E', long, global = true)]
    all_errors: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the value as JSON or another form; everything must be concrete.
    Export(Export),
    /// Print the value as CUE, types and all.
    Eval(Eval),
    /// Check data against CUE.
    Vet(Input),
    /// Print CUE that means the same as the files.
    Def(Input),
    /// Format files in place.
    Fmt(Fmt),
    /// Write data files as CUE files.
    Import(Import),
}

#[derive(Debug, ClapArgs)]
struct Input {
    /// CUE files of one package or a folder, and JSON, YAML or TOML data; `-` is CUE on stdin.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Evaluate this expression instead of the whole; may be repeated.
    #[arg(short = 'e', long, value_name = "EXPR")]
    expression: Vec<String>,
    /// Form of the output: json, jsonl, yaml, toml, cue, text, binary.
    #[arg(long, value_name = "FORM", value_parser = encoding)]
    out: Option<Encoding>,
    /// Write there instead of to stdout; the name's end gives the form.
    #[arg(short = 'o', long, value_name = "FILE")]
    outfile: Option<String>,
    /// Overwrite an existing file.
    #[arg(short = 'f', long)]
    force: bool,
    /// Where data goes: `label:` or an expression over the data; may be repeated.
    #[arg(short = 'l', long = "path", value_name = "LABEL")]
    path: Vec<String>,
    /// Expression that data must satisfy.
    #[arg(short = 'd', long, value_name = "EXPR")]
    schema: Option<String>,
    /// Value of a tag, `key=value` or a shorthand; may be repeated.
    #[arg(short = 't', long = "inject", value_name = "TAG")]
    tag: Vec<String>,
    /// Which package of the folder.
    #[arg(short = 'p', long, value_name = "NAME")]
    package: Option<String>,
    /// Everything must be concrete; with `=false` nothing need be.
    #[arg(short = 'c', long, visible_alias = "strict", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_name = "BOOL")]
    concrete: Option<bool>,
    /// Write CUE in its simplest form.
    #[arg(short = 's', long)]
    simplify: bool,
    /// Go on where values are wrong; only eval can.
    #[arg(short = 'i', long)]
    ignore: bool,
}

#[derive(Debug, ClapArgs)]
struct Export {
    #[command(flatten)]
    input: Input,
    /// Write `<`, `>` and `&` in JSON so that it may stand in HTML.
    #[arg(long)]
    escape: bool,
}

impl Input {
    /// The file to write; `None` is stdout.
    fn target(&self) -> Option<&str> {
        self.outfile.as_deref().filter(|it| *it != "-")
    }

    fn request(&self, verb: Verb) -> Request {
        Request {
            verb,
            load: Load {
                arguments: self.files.clone(),
                package: self.package.clone(),
                tags: self.tag.clone(),
            },
            expressions: self.expression.clone(),
            labels: self.path.clone(),
            schema: self.schema.clone(),
            out: self.out.or_else(|| self.target().and_then(Encoding::of_file)),
            concrete: match self.concrete {
                None => Concrete::Usual,
                Some(true) => Concrete::Must,
                Some(false) => Concrete::May,
            },
            shown: Shown::default(),
            style: if self.simplify { Style::Simplified } else { Style::Plain },
            escape: false,
            ignore: self.ignore,
        }
    }
}

#[derive(Debug, ClapArgs)]
struct Eval {
    #[command(flatten)]
    input: Input,
    /// Show optional and hidden fields.
    #[arg(short = 'a', long)]
    all: bool,
    /// Show attributes.
    #[arg(short = 'A', long)]
    show_attributes: bool,
    /// Show hidden fields.
    #[arg(short = 'H', long)]
    show_hidden: bool,
    /// Show optional fields.
    #[arg(short = 'O', long)]
    show_optional: bool,
}

impl Eval {
    fn shown(&self) -> Shown {
        Shown {
            hidden: self.all || self.show_hidden,
            optional: self.all || self.show_optional,
            attributes: self.show_attributes,
            wrong: false,
        }
    }
}

#[derive(Debug, ClapArgs)]
struct Fmt {
    /// Files and folders, `DIR/...` for all below; `-` formats stdin.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Simplify too.
    #[arg(short = 's', long)]
    simplify: bool,
    /// Name the files that are not formatted, write none; exit 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Print what would change, write nothing.
    #[arg(short = 'd', long)]
    diff: bool,
}

#[derive(Debug, ClapArgs)]
struct Import {
    /// JSON, YAML, TOML or text files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Package clause.
    #[arg(short = 'p', long, value_name = "NAME")]
    package: Option<String>,
    /// Label around each value: `label:` or an expression over it; may be repeated.
    #[arg(short = 'l', long = "path", value_name = "LABEL")]
    path: Vec<String>,
    /// Several values as one list.
    #[arg(long)]
    list: bool,
    /// Write there; `-` is stdout. Without it each file becomes FILE.cue.
    #[arg(short = 'o', long, value_name = "FILE")]
    outfile: Option<String>,
    /// Overwrite existing files.
    #[arg(short = 'f', long)]
    force: bool,
}

fn encoding(name: &str) -> Result<Encoding, String> {
    Encoding::of_name(name).ok_or_else(|| format!("unknown filetype {name}"))
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.chdir {
        if let Err(error) = std::env::set_current_dir(folder) {
            cli.out.note(&format!("cannot work in {}: {error}", folder.display()));
            return Ok(Exit::NotSo);
        }
    }
    let done = tokio::task::block_in_place(|| match args.command {
        Command::Export(Export { input, escape }) => {
            values(Request { escape, ..input.request(Verb::Export) }, &input, cli)
        }
        Command::Eval(eval) => {
            let shown = eval.shown();
            values(Request { shown, ..eval.input.request(Verb::Eval) }, &eval.input, cli)
        }
        Command::Vet(input) => values(input.request(Verb::Vet), &input, cli),
        Command::Def(input) => values(input.request(Verb::Def), &input, cli),
        Command::Fmt(fmt) => formatted(&fmt, cli),
        Command::Import(files) => imported(files),
    });
    // cue ends with 1 whatever was wrong.
    match done {
        Err(error) => {
            cli.out.note(&format!("{error:#}"));
            Ok(Exit::NotSo)
        }
        done => done,
    }
}

fn values(request: Request, input: &Input, cli: &Cli) -> anyhow::Result<Exit> {
    let target = input.target();
    let Outcome { output, warning } = evaluate(&cue_runtime()?, &request)?;
    put(target, input.force.into(), &output)?;
    if let Some(text) = warning {
        cli.out.note(text);
        return Ok(Exit::NotSo);
    }
    Ok(Exit::Done)
}

fn formatted(fmt: &Fmt, cli: &Cli) -> anyhow::Result<Exit> {
    let style = if fmt.simplify { Style::Simplified } else { Style::Plain };
    if fmt.files == ["-"] {
        let text = std::io::read_to_string(std::io::stdin())?;
        put(None, Existing::Kept, format::text("-", &text, style)?.as_bytes())?;
        return Ok(Exit::Done);
    }
    let action = match (fmt.check, fmt.diff) {
        (_, true) => Action::Show,
        (true, false) => Action::Check,
        (false, false) => Action::Write,
    };
    let changed = format::files(&fmt.files, style, action)?;
    for it in &changed {
        match action {
            Action::Write => {}
            Action::Check => cli.out.line(&it.file)?,
            Action::Show => cli.out.line(it.difference().trim_end())?,
        }
    }
    let unwanted = action != Action::Write && !changed.is_empty();
    Ok(if unwanted { Exit::NotSo } else { Exit::Done })
}

fn imported(files: Import) -> anyhow::Result<Exit> {
    let runtime = cue_runtime()?;
    let options = import::Options { package: files.package, labels: files.path, list: files.list };
    let mut together = Vec::new();
    let existing = Existing::from(files.force);
    for file in &files.files {
        let bytes =
            std::fs::read(file).map_err(|source| Error::File { file: file.clone(), source })?;
        let text = import::import(&runtime, file, &bytes, &options)?;
        if files.outfile.is_some() {
            together.extend(text.bytes());
        } else {
            let target = Path::new(file).with_extension("cue");
            put(target.to_str(), existing, text.as_bytes())?;
        }
    }
    if let Some(target) = &files.outfile {
        put(Some(target.as_str()).filter(|it| *it != "-"), existing, &together)?;
    }
    Ok(Exit::Done)
}

/// To a file or to stdout.
fn put(file: Option<&str>, existing: Existing, bytes: &[u8]) -> anyhow::Result<()> {
    let Some(file) = file else {
        return Ok(std::io::stdout().lock().write_all(bytes)?);
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(existing == Existing::Kept);
    match options.open(file) {
        Ok(mut open) => Ok(open.write_all(bytes)?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("error writing \"{file}\": file already exists")
        }
        Err(source) => Err(Error::File { file: file.to_owned(), source }.into()),
    }
}
