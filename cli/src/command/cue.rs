//! `lateen cue`: evaluate, export, check, format and import CUE, with cue's flags and exit codes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args as ClapArgs, Subcommand, ValueEnum};
use cue_session::Shown;
use cue_syntax::Style;
use cue_tool::crds;
use cue_tool::evaluate::{Concrete, Imports, Outcome};
use cue_tool::explained::{Color, Form, explained};
use cue_tool::format::{self, Action, Wanted};
use cue_tool::import::{self, Files, Texts};
use cue_tool::place::{Context, Several};
use cue_tool::tags::Variables;
use cue_tool::{Encoding, Error, Load, Request, Verb, evaluate, filetype};

use crate::Cli;
use crate::existing::Existing;
use crate::exit::Exit;
use crate::target::cue_runtime;

/// `lateen cue …`
#[derive(Debug, ClapArgs)]
#[command(mut_args = as_in_go, after_help = "\
Examples:
  lateen cue export config.cue                 JSON
  lateen cue export . --out yaml -e deployments -t env=prod
  lateen cue eval schema.cue data.yaml
  lateen cue vet schema.cue data.json -d '#Config'
  lateen cue fmt ./...
  lateen cue import -l kind -l metadata.name -o - objects.yaml

A qualifier says what the files behind it are: cue: json: jsonl: yaml: toml: text: binary:, with
+data or +graph for CUE that must be data. jsonschema: and openapi: are schemas, with +yaml where they
are YAML and +strict where nothing may be unknown in them; JSON and YAML that say that they are schemas
need none. Protocol Buffers are not read.")]
pub struct Args {
    /// Work in this folder; the first flag behind `cue`.
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    chdir: Option<PathBuf>,
    /// Tell of all errors; they always are told.
    #[arg(short = 'E', long, global = true)]
    all_errors: bool,
    /// Go on where values are wrong; only eval can.
    #[arg(short = 'i', long, global = true)]
    ignore: bool,
    /// Write CUE in its simplest form.
    #[arg(short = 's', long, global = true)]
    simplify: bool,
    /// How errors are told: as cue does, with the lines they are about, or as JSON; with lines on a terminal, else
    /// as cue does.
    #[arg(long, global = true, value_enum, value_name = "FORM")]
    errors: Option<Errors>,
    #[command(subcommand)]
    command: Command,
}

/// `--errors`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Errors {
    /// Messages and places, as cue prints them.
    Plain,
    /// The lines they are about, and hints.
    Excerpts,
    /// One document: {"errors": [...]}.
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the value as JSON or another form; everything must be concrete.
    Export(Export),
    /// Print the value as CUE, types and all.
    Eval(Eval),
    /// Check data against CUE.
    Vet(Vet),
    /// Print CUE that means the same as the files.
    Def(Def),
    /// Format files in place.
    Fmt(Fmt),
    /// Write data files as CUE files.
    Import(Import),
    /// Write definitions in other languages as packages.
    Get(Get),
}

#[derive(Debug, ClapArgs)]
struct Get {
    #[command(subcommand)]
    what: Definitions,
}

#[derive(Debug, Subcommand)]
enum Definitions {
    /// Custom resource definitions of Kubernetes: a package in a folder here for each version.
    Crd(Crd),
}

#[derive(Debug, ClapArgs)]
struct Crd {
    /// Files with definitions.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Group of those that are wanted.
    #[arg(short = 'g', long, value_name = "GROUP")]
    group: Option<String>,
}

/// What is read, and where data in it goes.
#[derive(Debug, ClapArgs)]
struct Input {
    /// Packages, CUE files and data files, each with a qualifier if need be; `-` is stdin.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// Value of a tag, `key=value` or a shorthand, or a name for `@if`; may be repeated.
    #[arg(short = 't', long = "inject", value_name = "TAG")]
    tag: Vec<String>,
    /// Give tags with `var=` what the system says: now, os, arch, cwd, username, hostname, rand.
    #[arg(short = 'T', long)]
    inject_vars: bool,
}

/// Where data goes.
#[derive(Debug, ClapArgs)]
struct Place {
    /// Where data goes: `label:` or an expression over the data; may be repeated.
    #[arg(short = 'l', long = "path", value_name = "LABEL")]
    path: Vec<String>,
    /// Make a list of several values.
    #[arg(long)]
    list: bool,
    /// Labels see `data`, `filename`, `index` and `recordCount` instead of the data's own fields.
    #[arg(long)]
    with_context: bool,
    /// Take all data files together; with `=false` one by one.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", action = clap::ArgAction::Set, value_name = "BOOL")]
    merge: bool,
    /// Expression that data must satisfy, instead of the whole.
    #[arg(short = 'd', long, value_name = "EXPR")]
    schema: Option<String>,
    /// Package of what has none.
    #[arg(short = 'p', long, value_name = "NAME")]
    package: Option<String>,
    /// Names of data files in folders, as a regular expression; for import.
    #[arg(short = 'n', long, value_name = "REGEXP")]
    name: Option<String>,
    /// Where Protocol Buffers would be looked for; they are not read.
    #[arg(short = 'I', long = "proto_path", value_name = "DIR")]
    proto_path: Vec<String>,
    /// How their enums would be written.
    #[arg(long = "proto_enum", value_name = "MODE", default_value = "int", hide = true)]
    proto_enum: String,
}

/// Where the answer goes.
#[derive(Debug, ClapArgs)]
struct Output {
    /// Evaluate this expression instead of the whole; may be repeated.
    #[arg(short = 'e', long, value_name = "EXPR")]
    expression: Vec<String>,
    /// Form of the output: json, jsonl, yaml, toml, cue, text, binary; openapi, jsonschema, jsonschema+yaml … describe
    /// definitions.
    #[arg(long, value_name = "FORM")]
    out: Option<String>,
    /// Write there instead of to stdout; a qualifier or the name's end gives the form.
    #[arg(short = 'o', long, value_name = "FILE")]
    outfile: Option<String>,
    /// Overwrite an existing file.
    #[arg(short = 'f', long)]
    force: bool,
}

/// Whether values must be concrete.
#[derive(Debug, ClapArgs)]
struct Strict {
    /// Everything must be concrete; with `=false` nothing need be.
    #[arg(short = 'c', long, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_name = "BOOL")]
    concrete: Option<bool>,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Export {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    /// Write `<`, `>` and `&` in JSON so that it may stand in HTML.
    #[arg(long)]
    escape: bool,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Eval {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    strict: Strict,
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

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Vet {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    strict: Strict,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Def {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    /// Show attributes; they always are shown.
    #[arg(short = 'A', long)]
    show_attributes: bool,
    /// Put in what is imported from packages that are not built in; refused where there are such.
    #[arg(long)]
    inline_imports: bool,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Fmt {
    /// Packages and files, `DIR/...` for all below; `-` formats stdin.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Name the files that are not formatted, write none; exit 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Print what would change, write nothing.
    #[arg(short = 'd', long)]
    diff: bool,
    /// Arguments are files and folders; folders are looked through.
    #[arg(long = "files")]
    walk: bool,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true, mut_args = as_in_go)]
struct Import {
    /// Mode (json, yaml, toml, text, binary, data, auto), then packages and data files.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// Endings of the files in folders; may be repeated.
    #[arg(long, value_name = "END")]
    ext: Vec<String>,
    /// Make a file of each value.
    #[arg(long = "files")]
    apart: bool,
    /// Take texts apart that hold JSON or YAML.
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Say which files would be written, write none.
    #[arg(long)]
    dry_run: bool,
    /// Write there; `-` is stdout. Without it each file becomes FILE.cue.
    #[arg(short = 'o', long, value_name = "FILE")]
    outfile: Option<String>,
    /// Overwrite existing files.
    #[arg(short = 'f', long)]
    force: bool,
}

impl Input {
    fn request(&self, verb: Verb) -> Request {
        let load = Load {
            arguments: self.files.clone(),
            tags: given(&self.tag),
            variables: if self.inject_vars { Variables::System } else { Variables::None },
        };
        Request {
            labels: given(&self.place.path),
            several: self.place.several(),
            context: self.place.context(),
            merge: self.place.merge,
            schema: self.place.schema.clone().filter(|it| !it.is_empty()),
            name: self.place.name.clone().filter(|it| !it.is_empty()),
            package: self.place.package.clone().filter(|it| !it.is_empty()),
            ..Request::new(verb, load)
        }
    }
}

impl Place {
    fn several(&self) -> Several {
        if self.list { Several::Listed } else { Several::Unified }
    }

    fn context(&self) -> Context {
        if self.with_context { Context::File } else { Context::Value }
    }
}

impl Strict {
    fn concrete(&self) -> Concrete {
        match self.concrete {
            None => Concrete::Usual,
            Some(true) => Concrete::Must,
            Some(false) => Concrete::May,
        }
    }
}

impl Eval {
    fn shown(&self) -> Shown {
        Shown {
            hidden: self.all || self.show_hidden,
            optional: self.all || self.show_optional,
            attributes: self.show_attributes,
            wrong: false,
            concrete: false,
            apart: false,
            file: false,
            simplified: false,
        }
    }
}

/// A flag that is read as cue reads it: what is on or off may say which, as `-c=f`; another takes whatever follows,
/// also what looks like a flag.
fn as_in_go(flag: Arg) -> Arg {
    let is_switch = matches!(flag.get_action(), ArgAction::SetTrue);
    if flag.is_positional() || !is_switch && !flag.get_action().takes_values() {
        return flag;
    }
    if is_switch {
        let flag = flag.action(ArgAction::Set).num_args(0..=1).require_equals(true);
        let flag = flag.default_value("false").default_missing_value("true");
        return flag.value_name("BOOL").hide_default_value(true).value_parser(truth);
    }
    if flag.is_require_equals_set() {
        return flag.value_parser(truth);
    }
    flag.allow_hyphen_values(true)
}

/// The value of a switch.
fn truth(text: &str) -> Result<bool, String> {
    let unknown = || format!("strconv.ParseBool: parsing {text:?}: invalid syntax");
    cue_tool::truth(text).ok_or_else(unknown)
}

/// The values of a flag that may be repeated: one that is empty is none.
fn given(values: &[String]) -> Vec<String> {
    match values {
        [only] if only.is_empty() => Vec::new(),
        all => all.to_vec(),
    }
}

/// Whether this command is the one that was called.
pub fn is_meant() -> bool {
    std::env::args().skip(1).find(|it| !it.starts_with('-')).as_deref() == Some("cue")
}

/// Why a command line was refused, in cue's words where it has some.
pub fn refused(error: &clap::Error) -> String {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(it)) => it.clone(),
        _ => String::new(),
    };
    match (error.kind(), argument.strip_prefix("--"), argument.strip_prefix('-')) {
        (ErrorKind::UnknownArgument, Some(name), _) => format!("unknown flag: --{name}"),
        (ErrorKind::UnknownArgument, None, Some(name)) => {
            format!("unknown shorthand flag: '{name}' in -{}", from_shorthand(name))
        }
        (ErrorKind::InvalidValue | ErrorKind::TooManyValues, Some(name), _) => {
            value_refused(error, name)
        }
        (ErrorKind::ValueValidation, Some(name), _) => value_refused(error, name),
        (ErrorKind::InvalidSubcommand, ..) => match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(name)) => format!("unknown command {name:?} for \"cue\""),
            _ => error.to_string().trim_end().to_owned(),
        },
        _ => error.to_string().trim_end().to_owned(),
    }
}

/// Why the value of a flag was refused: it is none, or not one of those that there are.
fn value_refused(error: &clap::Error, flag: &str) -> String {
    let flag = flag.split(['[', ' ', '=']).next().unwrap_or_default();
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(it)) => it.as_str(),
        _ => "",
    };
    if value.is_empty() && error.kind() != ErrorKind::ValueValidation {
        let last = std::env::args().next_back().unwrap_or_default();
        return match last.strip_prefix('-').filter(|it| it.len() == 1) {
            Some(name) => format!("flag needs an argument: '{name}' in -{name}"),
            None => format!("flag needs an argument: --{flag}"),
        };
    }
    let short = shorthand(flag).map(|it| format!("-{it}, ")).unwrap_or_default();
    let names = format!("{short}--{flag}");
    format!(
        "invalid argument {value:?} for {names:?} flag: strconv.ParseBool: parsing {value:?}: \
         invalid syntax"
    )
}

/// The letter that stands for a flag.
fn shorthand(flag: &str) -> Option<char> {
    let command = Args::augment_args(clap::Command::new("cue"));
    let of = |command: &clap::Command| {
        let found = command.get_arguments().find(|it| it.get_long() == Some(flag));
        found.and_then(Arg::get_short)
    };
    of(&command).or_else(|| command.get_subcommands().find_map(of))
}

/// The letters of the argument that has one nobody knows, from that on.
fn from_shorthand(name: &str) -> String {
    let rest = |it: String| {
        let letters = it.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
        letters.find(name).and_then(|at| letters.get(at..)).map(str::to_owned)
    };
    std::env::args().skip(1).find_map(rest).unwrap_or_else(|| name.to_owned())
}

/// Whether the folder is named before the command, as cue wants it.
fn is_first(folder: &Path) -> bool {
    let mut all = std::env::args().skip_while(|it| it != "cue").skip(1);
    let first = all.next().unwrap_or_default();
    first.starts_with("-C") || first.starts_with("--chdir") || folder.as_os_str().is_empty()
}

/// What holds for every command.
#[derive(Clone, Copy)]
struct Common<'a> {
    ignore: bool,
    style: Style,
    errors: Form,
    cli: &'a Cli,
}

/// What was asked for, or what fits the error stream.
fn form(errors: Option<Errors>, cli: &Cli) -> Form {
    let usual = if cli.out.live { Errors::Excerpts } else { Errors::Plain };
    match errors.unwrap_or(usual) {
        Errors::Plain => Form::Plain,
        Errors::Excerpts if cli.out.is_coloured() => Form::Excerpts(Color::Ansi),
        Errors::Excerpts => Form::Excerpts(Color::None),
        Errors::Json => Form::Json,
    }
}

/// Runs the command.
pub fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.chdir {
        if !is_first(folder) {
            let text = "flag: must be the first argument";
            let folder = folder.display().to_string();
            cli.out.note(&format!("invalid argument {folder:?} for \"-C, --chdir\" {text}"));
            return Ok(Exit::NotSo);
        }
        if let Err(error) = std::env::set_current_dir(folder) {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
                _ => error.to_string(),
            };
            cli.out.note(&format!("chdir {}: {why}", folder.display()));
            return Ok(Exit::NotSo);
        }
    }
    let style = if args.simplify { Style::Simplified } else { Style::Plain };
    let common = Common { ignore: args.ignore, style, errors: form(args.errors, cli), cli };
    let done = match args.command {
        Command::Export(it) => {
            let request = Request { escape: it.escape, ..it.input.request(Verb::Export) };
            values(request, Some(&it.output), common)
        }
        Command::Eval(it) => {
            let concrete = it.strict.concrete();
            let request = it.input.request(Verb::Eval);
            values(Request { shown: it.shown(), concrete, ..request }, Some(&it.output), common)
        }
        Command::Vet(it) => {
            let request = it.input.request(Verb::Vet);
            values(Request { concrete: it.strict.concrete(), ..request }, None, common)
        }
        Command::Def(it) => {
            let imports = if it.inline_imports { Imports::PutIn } else { Imports::Kept };
            let request = Request { imports, ..it.input.request(Verb::Def) };
            values(request, Some(&it.output), common)
        }
        Command::Fmt(it) => formatted(it, common),
        Command::Import(it) => imported(it, common),
        Command::Get(Get { what: Definitions::Crd(it) }) => custom_resources(&it, common),
    };
    // cue ends with 1 whatever was wrong.
    match done {
        Err(error) => {
            let error =
                error.downcast::<Error>().unwrap_or_else(|it| Error::Request(format!("{it:#}")));
            cli.out.note(&explained(&[error], None, common.errors));
            Ok(Exit::NotSo)
        }
        done => done,
    }
}

fn values(request: Request, output: Option<&Output>, common: Common<'_>) -> anyhow::Result<Exit> {
    let mut request = Request { ignore: common.ignore, style: common.style, ..request };
    let mut target = None;
    if let Some(it) = output {
        let named = filetype::output(it.out.as_deref(), it.outfile.as_deref(), request.verb)?;
        request.reading = named.reading;
        match named.encoding {
            Ok(encoding) => request.out = encoding,
            Err(text) => request.unwritten = Some(text),
        }
        request.expressions = given(&it.expression);
        request.force = it.force;
        target = Some(named.name).filter(|it| it != "-");
    }
    request.suggest = common.errors != Form::Plain;
    let done = evaluate(&cue_runtime()?, &request);
    let Outcome { output, warning, errors, begun } = match done {
        Ok(it) => it,
        Err(error) => Outcome { errors: vec![error], ..Outcome::default() },
    };
    let existing = Existing::from(request.force);
    if errors.is_empty() || target.is_none() {
        put(target.as_deref(), existing, &output)?;
    }
    if !errors.is_empty() {
        common.cli.out.note(&explained(&errors, Some(&request), common.errors));
        if begun && request.verb == Verb::Eval && request.out != Encoding::Cue && target.is_some() {
            // It is made before values are looked at.
            put(target.as_deref(), existing, &[])?;
        }
    }
    if let Some(text) = warning {
        common.cli.out.note(text);
    }
    Ok(if errors.is_empty() && warning.is_none() { Exit::Done } else { Exit::NotSo })
}

fn formatted(fmt: Fmt, common: Common<'_>) -> anyhow::Result<Exit> {
    let action = match (fmt.check, fmt.diff) {
        (_, true) => Action::Show,
        (true, false) => Action::Check,
        (false, false) => Action::Write,
    };
    let wanted = if fmt.walk { Wanted::Files } else { Wanted::Packages };
    let request = format::Request { arguments: fmt.files, wanted, style: common.style, action };
    let (outcome, error) = match format::files(&request) {
        Ok(outcome) => (outcome, None),
        Err((outcome, error)) => (outcome, Some(error)),
    };
    put(None, Existing::Kept, outcome.output.as_bytes())?;
    for it in &outcome.changed {
        match action {
            Action::Write => {}
            Action::Check => common.cli.out.line(&it.file)?,
            Action::Show => common.cli.out.line(&it.difference())?,
        }
    }
    if let Some(error) = error {
        return Err(error.into());
    }
    Ok(if fmt.check && !outcome.changed.is_empty() { Exit::NotSo } else { Exit::Done })
}

fn imported(it: Import, common: Common<'_>) -> anyhow::Result<Exit> {
    let options = import::Options {
        endings: it.ext.clone(),
        name: it.place.name.clone().filter(|it| !it.is_empty()),
        package: it.place.package.clone().filter(|it| !it.is_empty()),
        labels: given(&it.place.path),
        several: it.place.several(),
        context: it.place.context(),
        schema: it.place.schema.clone().filter(|it| !it.is_empty()),
        files: if it.apart { Files::Apart } else { Files::Together },
        texts: if it.recursive { Texts::Parsed } else { Texts::Kept },
        force: it.force,
        arguments: it.files,
    };
    for written in import::import(&cue_runtime()?, &options)? {
        let file = it.outfile.clone().filter(|it| !it.is_empty()).unwrap_or(written.file);
        let target = Path::new(&file);
        if file != "-" && target.exists() && !it.force {
            let shown = match &it.outfile {
                Some(name) if !name.is_empty() => name.clone(),
                _ => cue_tool::read::absolute(target),
            };
            let text = format!("Skipping file {shown:?}: already exists.\nUse -f to override.");
            common.cli.out.note(&text);
        } else if it.dry_run {
            let named = it.outfile.as_deref().is_some_and(|it| !it.is_empty());
            let here = std::env::current_dir()?;
            if named && target.is_relative() {
                anyhow::bail!("Rel: can't make {file} relative to {}", here.display());
            }
            let file = target.strip_prefix(&here).unwrap_or(target).display().to_string();
            common.cli.out.note(&format!("importing into {}", file.trim_start_matches("./")));
        } else {
            if let Some(folder) = target.parent().filter(|_| file != "-") {
                std::fs::create_dir_all(folder)?;
            }
            put(
                Some(file.as_str()).filter(|it| *it != "-"),
                Existing::Replaced,
                written.text.as_bytes(),
            )?;
        }
    }
    Ok(Exit::Done)
}

fn custom_resources(it: &Crd, common: Common<'_>) -> anyhow::Result<Exit> {
    let group = it.group.as_deref().filter(|it| !it.is_empty());
    let (written, error) = crds::packages(&it.files, group);
    for it in written {
        common.cli.out.note(&format!("writing {}", it.file));
        if let Some(folder) = Path::new(&it.file).parent() {
            std::fs::create_dir_all(folder)?;
        }
        put(Some(&it.file), Existing::Replaced, it.text.as_bytes())?;
    }
    error.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

/// To a file or to stdout.
fn put(file: Option<&str>, existing: Existing, bytes: &[u8]) -> anyhow::Result<()> {
    let Some(file) = file else {
        return Ok(std::io::stdout().lock().write_all(bytes)?);
    };
    let mut options = std::fs::OpenOptions::new();
    // What is no plain file cannot be overwritten, a terminal say.
    let plain = std::fs::metadata(file).map_or(true, |it| it.is_file());
    let new = plain && existing == Existing::Kept;
    options.write(true).create(true).truncate(plain).create_new(new);
    match options.open(file) {
        Ok(mut open) => Ok(open.write_all(bytes)?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("error writing \"{file}\": file already exists")
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            anyhow::bail!("open {file}: no such file or directory")
        }
        Err(source) => Err(Error::File { file: file.to_owned(), source }.into()),
    }
}
