//! eval, export, vet and def: sources and data to text, or to what is wrong.

use cue_eval::builtin::Datum;
use cue_eval::encode::json::Html;
use cue_eval::evaluation::{parse_json, print_json};
use cue_session::{
    Budget, Concreteness, Diagnostic, Input, Profile, ProgramSpec, Runtime, Session, Shown, Source,
    SyntaxStyle,
};
use cue_syntax::Style;

use crate::data::{self, Encoding};
use crate::format;
use crate::load::{Load, Loaded, Purpose, Value};
use crate::{Error, diagnostic};

/// Which command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Everything concrete, as data.
    Export,
    /// As CUE, types and all.
    Eval,
    /// Nothing but errors.
    Vet,
    /// As CUE that means the same.
    Def,
}

/// Whether values must be concrete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concrete {
    /// As the command has it.
    #[default]
    Usual,
    /// `-c`
    Must,
    /// `-c=false`
    May,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which command.
    pub verb: Verb,
    /// Of what.
    pub load: Load,
    /// `-e`: these instead of the whole.
    pub expressions: Vec<String>,
    /// `-l`: where data goes.
    pub labels: Vec<String>,
    /// `-d`: what data must satisfy, or what is printed of it.
    pub schema: Option<String>,
    /// Form of the output, where it is not the command's own.
    pub out: Option<Encoding>,
    /// `-c`
    pub concrete: Concrete,
    /// What else `eval` shows.
    pub shown: Shown,
    /// `-s`: how CUE is written.
    pub style: Style,
    /// `--escape`: JSON that may stand in HTML.
    pub escape: bool,
    /// `-i`: `eval` prints values that are wrong beside what is wrong with them.
    pub ignore: bool,
}

/// What a command says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For stdout or the file.
    pub output: Vec<u8>,
    /// For stderr, though nothing failed.
    pub warning: Option<&'static str>,
}

/// Field that holds what `-e` asks for.
const EXPRESSION: &str = "_lateen_expression";
/// Field that holds data of `-d`.
const DATA: &str = "_lateen_data";
/// That field as it stands before the text of the data.
const DATA_LABEL: &str = "_lateen_data: ";
const INCOMPLETE: &str = "some instances are incomplete; use the -c flag to show errors or \
                          -c=false to allow incomplete instances";

/// What the command line gets: five times a definition's work, four times its memory.
pub const BUDGET: Budget = Budget { ticks: 100_000_000, depth: 100_000, bytes: 512 << 20 };

/// Carries out a request.
///
/// # Errors
/// What is wrong with the files, the request or the values.
pub fn evaluate(runtime: &dyn Runtime, request: &Request) -> Result<Outcome, Error> {
    let purpose = if request.verb == Verb::Vet { Purpose::Checks } else { Purpose::Values };
    let mut loaded = request.load.load(purpose)?;
    if request.verb == Verb::Vet && !loaded.data.is_empty() && loaded.sources.is_empty() {
        return Err(Error::Request("data files specified without a schema".into()));
    }
    let rounds = rounds(&mut loaded, request);
    let mut outcome = Outcome::default();
    for round in rounds {
        let mut inputs = Vec::with_capacity(round.len());
        let mut texts = Vec::new();
        for value in &round {
            let path = match (&request.schema, request.labels.as_slice()) {
                (Some(_), []) => DATA.to_owned(),
                (_, labels) => place(runtime, labels, &value.datum)?,
            };
            let checked = value.checked.as_ref().map(|it| &it.0);
            match value.text.as_ref().or(checked) {
                Some(text) if path.is_empty() || path == DATA => {
                    let before = if path.is_empty() { "" } else { DATA_LABEL };
                    texts.push(Source::new(value.file.as_str(), format!("{before}{text}\n")));
                }
                _ if request.verb == Verb::Def && path.is_empty() => {
                    texts.push(Source::new(value.file.as_str(), print_json(&value.datum)));
                }
                _ => inputs.push(Input::new(path, print_json(&value.datum))),
            }
        }
        let whole = [String::new()];
        let asked = if request.expressions.is_empty() { &whole[..] } else { &request.expressions };
        for expression in asked {
            let added = Added { expression, data: !round.is_empty(), texts: &texts };
            let path = match (expression.as_str(), &request.schema) {
                ("", Some(_)) if !round.is_empty() => DATA,
                ("", _) => "",
                _ => EXPRESSION,
            };
            let told = |error| renamed(error, request, expression, (&texts, &round), path);
            let mut session =
                open(runtime, &loaded, request, &added, inputs.clone()).map_err(told)?;
            answer(request, &mut session, path, &round, &mut outcome).map_err(told)?;
        }
    }
    Ok(outcome)
}

/// What an evaluation has besides the files.
struct Added<'a> {
    expression: &'a str,
    data: bool,
    /// Data as sources.
    texts: &'a [Source],
}

/// The data of each evaluation: all at once, but everything that is to be checked on its own.
fn rounds(loaded: &mut Loaded, request: &Request) -> Vec<Vec<Value>> {
    let alone = request.verb == Verb::Vet || request.schema.is_some();
    if loaded.data.is_empty() || !alone {
        return vec![std::mem::take(&mut loaded.data)];
    }
    loaded.data.drain(..).map(|it| vec![it]).collect()
}

fn open(
    runtime: &dyn Runtime,
    loaded: &Loaded,
    request: &Request,
    added: &Added<'_>,
    inputs: Vec<Input>,
) -> Result<Session, Error> {
    let mut sources = loaded.sources.clone();
    sources.extend(added.texts.iter().cloned());
    let clause = loaded.package.as_ref().map(|it| format!("package {it}\n")).unwrap_or_default();
    for (name, field, text) in [
        ("--expression", EXPRESSION, Some(added.expression).filter(|it| !it.is_empty())),
        ("--schema", DATA, request.schema.as_deref().filter(|_| added.data)),
    ] {
        let Some(text) = text else { continue };
        if let Err(all) = cue_syntax::parse_expr(text) {
            let message = all.first().map_or("not an expression", |it| it.message.as_str());
            return Err(Error::Diagnostics(vec![diagnostic(message, Some((name, 1, 1)))]));
        }
        sources.push(Source::new(name, format!("{clause}{field}: {text}\n")));
    }
    let packages = loaded.packages.clone();
    let program = runtime.compile(ProgramSpec { sources, packages, profile: Profile::V017 })?;
    Ok(runtime.start(&program, inputs, BUDGET)?)
}

fn answer(
    request: &Request,
    session: &mut Session,
    path: &str,
    given: &[Value],
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let encoding = request.out.unwrap_or(match request.verb {
        Verb::Export => Encoding::Json,
        Verb::Eval | Verb::Vet | Verb::Def => Encoding::Cue,
    });
    let strict = match request.concrete {
        Concrete::Must => true,
        Concrete::May => false,
        Concrete::Usual => match request.verb {
            Verb::Export => true,
            Verb::Vet => !given.is_empty(),
            Verb::Eval | Verb::Def => encoding != Encoding::Cue,
        },
    };
    let how = if strict { Concreteness::Required } else { Concreteness::Optional };
    let data = encoding != Encoding::Cue && request.verb != Verb::Vet;
    let ignores = request.ignore && request.verb == Verb::Eval;
    if !ignores {
        // Definitions and hidden fields count, though they are no data.
        let wrong = session.validate(path, how)?;
        if !wrong.is_empty() {
            return Err(Error::Diagnostics(wrong));
        }
    }
    let style = match request.verb {
        Verb::Vet => {
            if !strict
                && request.concrete == Concrete::Usual
                && !session.validate(path, Concreteness::Required)?.is_empty()
            {
                outcome.warning = Some(INCOMPLETE);
            }
            return Ok(());
        }
        Verb::Export => SyntaxStyle::Final,
        Verb::Eval => SyntaxStyle::EvalWith(Shown { wrong: ignores, ..request.shown }),
        Verb::Def => SyntaxStyle::Definition,
    };
    let separator = if outcome.output.is_empty() { "" } else { separator(encoding) };
    outcome.output.extend(separator.as_bytes());
    if data {
        let text = session.json(path).and_then(|text| {
            text.ok_or_else(|| cue_session::Error::Diagnostics(vec![diagnostic("no value", None)]))
        });
        let text = match text {
            Ok(text) => text,
            Err(error) => return Err(all_of(session, path, error)),
        };
        let datum = parse_json(&text).map_err(Error::Runtime)?;
        let html = if request.escape { Html::Escaped } else { Html::Plain };
        let text = data::write(encoding, &datum, html, path);
        let text = text.map_err(|wrong| Error::Diagnostics(vec![wrong]))?;
        outcome.output.extend(text);
        return Ok(());
    }
    let mut text = session.syntax(path, style)?.unwrap_or_default();
    if request.style == Style::Simplified {
        text = format::text("-", &text, request.style)?;
    }
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        outcome.output.extend(text.bytes());
        outcome.output.push(b'\n');
    }
    Ok(())
}

/// Every error there is, where conversion to data stops at the first.
fn all_of(session: &mut Session, path: &str, first: cue_session::Error) -> Error {
    match session.validate(path, Concreteness::Required) {
        Ok(all) if !all.is_empty() => Error::Diagnostics(all),
        _ => first.into(),
    }
}

fn separator(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Yaml => "---\n",
        Encoding::Cue => "// ---\n",
        Encoding::Json
        | Encoding::JsonLines
        | Encoding::Toml
        | Encoding::Text
        | Encoding::Binary => "",
    }
}

/// Errors without what was put around the texts that were given.
fn renamed(
    error: Error,
    request: &Request,
    expression: &str,
    (texts, values): (&[Source], &[Value]),
    asked: &str,
) -> Error {
    let Error::Diagnostics(mut all) = error else { return error };
    let is_path = cue_syntax::parse_path(expression).is_ok();
    // A schema that is a path is looked up.
    let looked_up = request.schema.as_ref().is_some_and(|it| cue_syntax::parse_path(it).is_ok());
    for wrong in &mut all {
        wrong.positions.retain(|it| !looked_up || it.file != "--schema");
        if let Some(rest) = wrong.path.strip_prefix(EXPRESSION) {
            let rest = rest.trim_start_matches('.');
            // What was not even compiled has no path of its own.
            wrong.path = match (is_path && wrong.code != "cue/load", rest) {
                (true, "") => expression.to_owned(),
                (true, rest) => format!("{expression}.{rest}"),
                (false, rest) => rest.to_owned(),
            };
        } else if let Some(rest) = wrong.path.strip_prefix(DATA) {
            wrong.path = rest.trim_start_matches('.').to_owned();
        }
        for at in &mut wrong.positions {
            let text = texts.iter().any(|it| it.name == at.file) && at.line == 1;
            let before = match at.file.as_str() {
                "--expression" => EXPRESSION.len() + 2,
                "--schema" => DATA_LABEL.len(),
                _ if !text => continue,
                _ if asked == DATA => DATA_LABEL.len(),
                _ => 0,
            };
            if at.file.starts_with("--") {
                // Below the package clause.
                at.line = 1;
            }
            at.column = at.column.saturating_sub(u32::try_from(before).unwrap_or_default());
            let checked = values.iter().find(|it| it.file == at.file && it.text.is_none());
            let places = checked.and_then(|it| it.checked.as_ref()).map(|it| &it.1);
            let known = |it: &&(u32, _)| it.0 + 1 == at.column;
            if let Some((_, (line, column))) = places.and_then(|it| it.iter().find(known)) {
                (at.line, at.column) = (*line, *column);
            }
        }
    }
    Error::Diagnostics(all)
}

/// The path that `-l` gives a value: `a:`, `"a"`, or an expression over the value.
pub(crate) fn place(
    runtime: &dyn Runtime,
    labels: &[String],
    datum: &Datum,
) -> Result<String, Error> {
    let mut path = Vec::new();
    for label in labels {
        let label = label.trim();
        if label.contains(':') {
            path.extend(
                label.split(':').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned),
            );
            continue;
        }
        let spec = ProgramSpec {
            sources: vec![Source::new("--path", format!("{EXPRESSION}: {label}\n"))],
            packages: Vec::new(),
            profile: Profile::V017,
        };
        let value = match runtime.compile(spec) {
            Ok(program) => {
                let input = Input::new("", print_json(datum));
                runtime.start(&program, vec![input], BUDGET)?.json(EXPRESSION)?
            }
            // A name of the data, which the program alone does not know.
            Err(error) => match (datum, error) {
                (Datum::Struct(fields), error) => {
                    let found = fields.iter().find(|it| *it.0 == *label);
                    match found {
                        Some((_, value)) => Some(print_json(value)),
                        None => return Err(no_label(label, error)),
                    }
                }
                (_, error) => return Err(no_label(label, error)),
            },
        };
        let name = match value.map(|it| parse_json(&it)) {
            Some(Ok(Datum::String(name))) => name,
            _ => return Err(Error::Request(format!("label {label} is not a string"))),
        };
        path.push(cue_syntax::unquote::quote(&name));
    }
    Ok(path.join("."))
}

/// Why a label has no value.
fn no_label(label: &str, error: cue_session::Error) -> Error {
    match error {
        cue_session::Error::Diagnostics(all) => {
            let text = all.first().map_or("no value", |it| &it.message);
            Error::Request(format!("error evaluating label {label}: {text}"))
        }
        other => other.into(),
    }
}

/// For callers that have no positions.
impl From<Diagnostic> for Error {
    fn from(wrong: Diagnostic) -> Self {
        Error::Diagnostics(vec![wrong])
    }
}
