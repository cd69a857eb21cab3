//! eval, export, vet and def: sources and data to text, or to what is wrong.

use cue_eval::builtin::Pattern;
use cue_eval::encode::json::Html;
use cue_session::{
    Budget, Diagnostic, Profile, Program, ProgramSpec, Runtime, Session, Shown, Source,
};
use cue_syntax::Style;
use cue_syntax::ast::Decl;

use crate::answer::titled;
use crate::data::Encoding;
use crate::filetype::{Reading, is_name};
use crate::load::Load;
use crate::place::{Context, Placement, Several};
use crate::plan::{self, DATA, Planned, Unit};
use crate::sound::Sound;
use crate::{Error, experiments, scope};

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

impl Verb {
    /// The form that is written where nothing else is asked for.
    pub fn usual(self) -> Encoding {
        match self {
            Verb::Export => Encoding::Json,
            Verb::Eval | Verb::Vet | Verb::Def => Encoding::Cue,
        }
    }
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

/// What becomes of names of other packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Imports {
    /// They stay.
    #[default]
    Kept,
    /// `--inline-imports`: their values are put in.
    PutIn,
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
    /// `--list`: values of one place are elements of a list.
    pub several: Several,
    /// `--with-context`: what labels see.
    pub context: Context,
    /// `--merge`: values of data files are one, but for `vet`.
    pub merge: bool,
    /// `-d`: what data must satisfy.
    pub schema: Option<String>,
    /// `-n`: which data files of folders; `import` alone reads such.
    pub name: Option<String>,
    /// `-p`: package of CUE that has none.
    pub package: Option<String>,
    /// `-f`: what is there may be replaced, and another package named.
    pub force: bool,
    /// Form of the output.
    pub out: Encoding,
    /// What is written of values.
    pub reading: Reading,
    /// Why nothing is written in the form that was asked for: told once everything is loaded.
    pub unwritten: Option<String>,
    /// `-c`
    pub concrete: Concrete,
    /// What else `eval` shows.
    pub shown: Shown,
    /// `-s`: how CUE is written.
    pub style: Style,
    /// `--escape`: JSON that may stand in HTML.
    pub escape: bool,
    /// What `def` does with imports.
    pub imports: Imports,
    /// `-i`: `eval` prints values that are wrong beside what is wrong with them.
    pub ignore: bool,
    /// Errors say what may have been meant by names nobody knows.
    pub suggest: bool,
}

impl Request {
    /// Everything as the command has it.
    pub fn new(verb: Verb, load: Load) -> Self {
        Self {
            verb,
            load,
            expressions: Vec::new(),
            labels: Vec::new(),
            several: Several::Unified,
            context: Context::Value,
            merge: true,
            schema: None,
            name: None,
            package: None,
            force: false,
            out: verb.usual(),
            reading: Reading::Plain,
            unwritten: None,
            concrete: Concrete::Usual,
            shown: Shown::default(),
            style: Style::Plain,
            escape: false,
            imports: Imports::Kept,
            ignore: false,
            suggest: false,
        }
    }

    pub(crate) fn html(&self) -> Html {
        if self.escape { Html::Escaped } else { Html::Plain }
    }

    /// Whether something is written in the form that was asked for.
    ///
    /// # Errors
    /// Why nothing is.
    pub(crate) fn written(&self) -> Result<(), Error> {
        self.unwritten.as_ref().map_or(Ok(()), |text| Err(Error::Request(text.clone())))
    }

    pub(crate) fn placement(&self) -> Result<Placement, Error> {
        Placement::new(&self.labels, self.several, self.context)
    }
}

/// What a command says.
#[derive(Debug, Default)]
pub struct Outcome {
    /// For stdout or the file.
    pub output: Vec<u8>,
    /// For stderr, though nothing failed.
    pub warning: Option<&'static str>,
    /// What is wrong; what was printed before is not.
    pub errors: Vec<Error>,
    /// Whether the packages compile: all that is wrong is what was asked of them.
    pub begun: bool,
}

/// Field that holds what `-e` asks for.
pub(crate) const EXPRESSION: &str = "_lateen_expression";
pub(crate) const INCOMPLETE: &str = "some instances are incomplete; use the -c flag to show errors or \
                          -c=false to allow incomplete instances";

/// What the command line gets: five times a definition's work, six times its memory.
pub const BUDGET: Budget = Budget { ticks: 100_000_000, depth: 100_000, bytes: 768 << 20 };

/// Who describes what it prints instead of what that is of.
pub(crate) const PRINTED: (Verb, Encoding) = (Verb::Eval, Encoding::Cue);

/// Carries out a request.
///
/// # Errors
/// What keeps it from beginning: files and flags. What is wrong with values is in the outcome.
pub fn evaluate(runtime: &dyn Runtime, request: &Request) -> Result<Outcome, Error> {
    experiments::check()?;
    for text in &request.expressions {
        scope::parsed("--expression", text)?;
    }
    if let Some(pattern) = &request.name {
        Pattern::new(pattern).map_err(Error::Request)?;
    }
    let Planned { units, broken } = plan::units(runtime, request)?;
    let several = units.len() > 1;
    let mut outcome = Outcome::default();
    for unit in &units {
        // Data is held against what it meets before anything is asked of it.
        if let Err(error) = (Asked { request, unit, expression: "" }).met(runtime) {
            outcome.begun = false;
            outcome.errors.push(error);
            return Ok(outcome);
        }
        let whole = [String::new()];
        let asked = if request.expressions.is_empty() { &whole[..] } else { &request.expressions };
        for expression in asked {
            let seeing = (Asked { request, unit, expression }).seeing(runtime);
            let it = Asked { request, unit: seeing.as_ref().unwrap_or(unit), expression };
            let Err(error) = it.told(runtime, &mut outcome) else { continue };
            let held =
                unit.sound == Sound::Text || request.ignore || it.is_incomplete(Some(&error));
            if several && !held {
                it.all_sound(runtime, &units)?;
            }
            let of_packages = several && unit.sound == Sound::Values;
            let name = match request.expressions.len() {
                2.. if request.out == Encoding::Cue => Some(titled(expression)),
                _ => Some(unit.name.clone()).filter(|it| of_packages && !it.is_empty()),
            };
            let named = name.is_some() && request.verb == Verb::Eval && outcome.begun;
            let header = format!("// {}\n", name.unwrap_or_default());
            outcome.errors.push(match error {
                Error::Diagnostics(all) if named => Error::Headed { header, all },
                other => other,
            });
            if !it.goes_on(&outcome) {
                return Ok(outcome);
            }
        }
    }
    outcome.errors.extend(broken);
    Ok(outcome)
}

/// One expression, or the whole, of what is evaluated together.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) unit: &'a Unit,
    /// Empty for the whole.
    pub(crate) expression: &'a str,
}

impl Asked<'_> {
    /// Whether anything is told behind what failed last: a value that is not concrete keeps no other from it.
    fn goes_on(&self, outcome: &Outcome) -> bool {
        let Asked { request, unit, expression } = self;
        let incomplete = || self.is_incomplete(outcome.errors.last());
        match request.verb {
            // What does not compile is told once.
            _ if !outcome.begun => false,
            Verb::Vet => !unit.checked || incomplete(),
            Verb::Eval if request.out == Encoding::Cue => self.is_strict() && incomplete(),
            Verb::Eval => !self.meets_alone() || !expression.is_empty() || incomplete(),
            Verb::Export | Verb::Def => false,
        }
    }

    /// Whether data that is looked at value by value agrees with the schema, where that is not told otherwise: where
    /// expressions are asked for, and where errors of values are printed in their place.
    fn met(&self, runtime: &dyn Runtime) -> Result<(), Error> {
        let Request { verb, expressions, ignore, .. } = self.request;
        let printed = *ignore && *verb == Verb::Eval;
        if !self.meets_alone() || expressions.is_empty() && !printed {
            return Ok(());
        }
        self.agrees(runtime, if self.unit.apart { DATA } else { "" })
    }

    /// Whether it has data that is held against what it meets value by value.
    fn meets_alone(&self) -> bool {
        let Request { merge, labels, several, .. } = self.request;
        let alone = !merge && labels.is_empty() && *several == Several::Unified;
        self.has_data() && (alone || self.unit.apart)
    }

    pub(crate) fn has_data(&self) -> bool {
        !self.unit.data.is_empty() || !self.unit.inputs.is_empty()
    }

    /// Whether it is more than a package or files that were named.
    pub(crate) fn is_joined(&self) -> bool {
        self.has_data() || self.unit.joined
    }

    /// Whether everything must be concrete.
    pub(crate) fn is_strict(&self) -> bool {
        match self.request.concrete {
            Concrete::Must => true,
            // Definitions are described, whatever stands beside them.
            _ if self.request.reading.is_schema() => false,
            // Data that is checked always must be.
            Concrete::May => self.unit.checked,
            Concrete::Usual => match self.request.verb {
                Verb::Export => true,
                Verb::Vet => self.unit.checked,
                Verb::Eval | Verb::Def => self.request.out != Encoding::Cue,
            },
        }
    }

    /// Whether all that is wrong is that something is not concrete.
    fn is_incomplete(&self, error: Option<&Error>) -> bool {
        match error {
            Some(Error::Diagnostics(all) | Error::Headed { all, .. }) => {
                all.iter().all(|it| it.incomplete)
            }
            _ => false,
        }
    }

    /// The sources, with one for an expression.
    pub(crate) fn sources(&self, expression: Option<&str>) -> Vec<Source> {
        let Asked { request, unit, .. } = self;
        let mut sources = unit.sources.clone();
        let clause = unit.package.as_ref().map(|it| format!("package {it}\n")).unwrap_or_default();
        let schema = request.schema.as_deref().filter(|_| unit.apart);
        for (name, field, text) in
            [("--expression", EXPRESSION, expression), ("--schema", DATA, schema)]
        {
            let Some(text) = text else { continue };
            let names =
                cue_syntax::parse_expr(text).map(|it| scope::names(&it)).unwrap_or_default();
            let within = name == "--expression" && unit.apart;
            let imports = scope::imports(&names, |it| match within {
                true => unit.seen.fields.iter().any(|name| name == it),
                false => scope::declares(&unit.sources, it),
            });
            let shared: String = if within {
                unit.seen.fields.iter().map(|it| format!("let {it} = {DATA}.{it}\n")).collect()
            } else {
                // What only the data has is declared, so that an expression can refer to it.
                let of_data = names.iter().filter(|_| name == "--expression");
                let of_data = of_data.filter(|it| self.is_of_data(it));
                let selected = names.iter().filter(|it| self.selects(it));
                let selected = selected.map(|it| format!("{it}?: _\n"));
                of_data.map(|it| format!("{it}: _\n")).chain(selected).collect()
            };
            let text = format!("{clause}{imports}{shared}{field}: {text}\n");
            sources.push(Source::new(name, text));
        }
        // What stands above a file belongs to its clause where one is printed.
        let clause = request.package.as_ref().filter(|it| unit.package.is_none() && is_name(it));
        let plain = !request.reading.is_schema();
        let clause = clause.filter(|_| plain && request.verb == Verb::Def && !self.is_joined());
        // It makes a struct of them, which they have to be.
        let is_struct = |it: &Source| {
            let file = cue_syntax::parse_file(&it.text).file;
            !file.decls.iter().any(|it| matches!(it, Decl::Embed(_)))
        };
        if let Some(package) = clause.filter(|_| unit.sources.iter().all(is_struct)) {
            sources.push(Source::new("--package", format!("package {package}\n")));
        }
        sources
    }

    /// Whether a name is that of a field which only data has.
    fn is_of_data(&self, name: &str) -> bool {
        self.unit.fields.contains(name) && !scope::declares(&self.unit.sources, name)
    }

    /// Whether names are declared for an expression that would count for the package, too.
    fn lends_names(&self) -> bool {
        let names = cue_syntax::parse_expr(self.expression).map(|it| scope::names(&it));
        names.unwrap_or_default().iter().any(|it| self.is_of_data(it))
    }

    /// Whether a name is that of a field which selections alone reach.
    fn selects(&self, name: &str) -> bool {
        let sources = &self.unit.sources;
        scope::selects(sources, name) && !scope::declares(sources, name)
    }

    /// What is compiled.
    pub(crate) fn spec(&self, expression: Option<&str>) -> ProgramSpec {
        let (sources, packages) = (self.sources(expression), self.unit.packages.clone());
        ProgramSpec { sources, packages, profile: Profile::V017 }
    }

    pub(crate) fn start(
        &self,
        runtime: &dyn Runtime,
        expression: Option<&str>,
    ) -> Result<Session, Error> {
        // The session compiles it: an instance that a large program has made large is not used again.
        let program = Program::new(self.spec(expression));
        Ok(runtime.start(&program, self.unit.inputs.clone(), BUDGET)?)
    }

    /// Answers, or tells what is wrong: with the package first.
    fn told(&self, runtime: &dyn Runtime, outcome: &mut Outcome) -> Result<(), Error> {
        outcome.begun = false;
        // The whole tells of its values itself.
        let whole = self.expression.is_empty() && self.request.labels.is_empty();
        let of = if whole { Sound::Text } else { self.unit.sound };
        if self.unit.package.is_some() && self.lends_names() {
            self.sound(runtime, Sound::Text)?;
        }
        self.answer(runtime, outcome).or_else(|error| {
            self.sound(runtime, of)?;
            outcome.begun = true;
            Err(self.renamed(runtime, error))
        })
    }
}

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// The whole or a field of it.
    Field,
    /// An expression over it.
    Expression,
}

/// Whether what is incomplete is a type: that is a value.
pub(crate) fn is_type(message: &str) -> bool {
    message.starts_with("incomplete value")
}

/// Whether a path leads into what is at another one; an empty one is that of the whole.
pub(crate) fn is_within(path: &str, other: &str) -> bool {
    let below = |it: &str| other.is_empty() && !it.is_empty() || it.starts_with(['.', '[']);
    path.strip_prefix(other).is_some_and(below)
}

/// Whether what is at a path waits itself, or what it is nothing but.
pub(crate) fn waits_itself(wrong: &Diagnostic, path: &str) -> bool {
    wrong.incomplete && !is_within(&wrong.path, path) && !is_type(&wrong.message)
}
