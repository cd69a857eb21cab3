//! What is evaluated together: packages, and the values of data files with them or one by one.

use std::collections::BTreeSet;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::evaluation::print_json;
use cue_session::{Input, Package, Runtime, Source};

use crate::data::Value;
use crate::embed::Spliced;
use crate::error::in_order;
use crate::evaluate::Asked;
use crate::filetype::is_name;
use crate::load::{Folders, Instance, Load};
use crate::located::{Lines, Located};
use crate::named::{self, Broken, Opened};
use crate::opened::Seen;
use crate::place::{self, Placed, Placement, Several};
use crate::sound::Sound;
use crate::{Error, Request, Verb, form, interpreted, scope};

/// Something that is evaluated as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    /// How it is told apart from others.
    pub(crate) name: String,
    /// Its path, of a package in a module; else empty.
    pub(crate) import_path: String,
    pub(crate) sources: Vec<Source>,
    pub(crate) packages: Vec<Package>,
    pub(crate) package: Option<String>,
    /// Values too large to be kept as text: where they are, and they.
    pub(crate) inputs: Vec<Input>,
    /// Data among the sources.
    pub(crate) data: Vec<Arc<OfData>>,
    /// Sources that data of other files was put into.
    pub(crate) spliced: Vec<Spliced>,
    /// Sources that are schemas in other languages.
    pub(crate) schemas: Vec<Arc<OfData>>,
    /// What is said of it as a file, where it is printed as one.
    pub(crate) comment: String,
    /// Whether data is what is looked at.
    pub(crate) checked: bool,
    /// Names of fields that data has at the root.
    pub(crate) fields: BTreeSet<String>,
    /// Whether the value stands below a field of its own, where a schema is too.
    pub(crate) apart: bool,
    /// What of that an expression sees.
    pub(crate) seen: Seen,
    /// Whether other files are unified with a package: it is none that could be printed.
    pub(crate) joined: bool,
    /// Whether files of data were named, of which nothing may be left.
    pub(crate) had_data: bool,
    /// What of it is told before what was asked.
    pub(crate) sound: Sound,
}

/// A source that is data.
#[derive(Debug)]
pub(crate) struct OfData {
    pub(crate) name: String,
    pub(crate) file: String,
    /// Where the first of its values begins.
    pub(crate) whole: u32,
    pub(crate) lines: Lines,
    pub(crate) line: Located,
    /// Whether it says several things of one place, which may not agree.
    pub(crate) repeats: bool,
}

impl OfData {
    /// Whether its first value is a struct that stands at the root.
    pub(crate) fn is_struct(&self) -> bool {
        self.line.text.get(self.whole as usize..).is_some_and(|it| it.starts_with('{'))
    }
}

/// Field that holds data and the schema of `-d`.
pub(crate) const DATA: &str = "_lateen_data";

/// Data beyond this is handed over as it is, and errors do not say where in it.
const LARGE: usize = 4 << 20;

/// What is to be done.
pub(crate) struct Planned {
    /// What is evaluated together.
    pub(crate) units: Vec<Unit>,
    /// What is wrong with the data behind that.
    pub(crate) broken: Option<Error>,
}

/// Loads what a request asks for and sorts it into what is evaluated together.
///
/// # Errors
/// What cannot be loaded, and what does not go together.
pub(crate) fn units(runtime: &dyn Runtime, request: &Request) -> Result<Planned, Error> {
    let refused = |text: &str| Err(Error::Request(text.to_owned()));
    let placement = request.placement()?;
    if let Some(text) = &request.schema {
        scope::parsed("--schema", text)?;
    }
    if placement.has_context() && !placement.is_used() {
        return refused(
            "flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\"",
        );
    }
    if placement.is_used() && request.schema.is_some() {
        return refused(SCHEMA_AND_PLACE);
    }
    let loaded = request.load.load(Folders::OfCue)?;
    if loaded.packages.is_empty() && request.name.is_some() {
        return refused("use of -n/--name flag without a directory");
    }
    let several = loaded.packages.len();
    if loaded.files.is_some() && several > 1 {
        if request.schema.is_some() {
            return refused("cannot use --schema/-d with flag more than one schema");
        }
        return Err(too_many(several));
    }
    if !loaded.unembedded.is_empty() {
        let mut wrong = loaded.unembedded;
        for it in loaded.packages.into_iter().chain(loaded.files) {
            let unit = &Unit::from(it);
            if let Err(Error::Diagnostics(all)) =
                (Asked { request, unit, expression: "" }).sound(runtime, Sound::Text)
            {
                wrong.extend(all);
            }
        }
        return Err(Error::Diagnostics(in_order(wrong)));
    }
    let Some(files) = loaded.files else {
        request.written()?;
        let whole = |it: Instance| Unit { sound: Sound::Values, ..Unit::from(it) };
        let units = loaded.packages.into_iter().map(whole).collect();
        return Ok(Planned { units, broken: None });
    };
    if loaded.data.iter().any(|it| !it.named.kind.is_form()) {
        return refused("no encoding specified");
    }
    let package = loaded.packages.into_iter().next();
    let mut plan = Plan { runtime, request, placement, files, package };
    let data = plan.with_schemas(loaded.data)?;
    match plan.planned(&data) {
        Ok(planned) if planned.broken.is_none() => Ok(planned),
        // What keeps the schema from being one comes first.
        other => {
            let unit = &Unit::from(plan.schema().clone());
            Asked { request, unit, expression: "" }.sound(runtime, Sound::Text)?;
            other
        }
    }
}

/// That more than one package is named beside files.
pub(crate) fn too_many(packages: usize) -> Error {
    let text = "in combination with files";
    Error::Request(format!("too many packages defined ({packages}) {text}"))
}

/// That `-p` names another package than a file does.
///
/// # Errors
/// It does.
pub(crate) fn clash(wanted: Option<&str>, there: Option<&str>) -> Result<(), Error> {
    match wanted.zip(there).filter(|it| it.0 != it.1) {
        None => Ok(()),
        Some((wanted, there)) => {
            let text = "flag clashes with existing package name";
            Err(Error::Request(format!("\"package\" {text} ({wanted} vs {there})")))
        }
    }
}

/// That data cannot both be put somewhere and be held against a part of the schema.
pub(crate) const SCHEMA_AND_PLACE: &str =
    "cannot combine --schema flag with flag \"path\", \"list\", or \"files\"";

/// How files that were named come together, with a package if one was named too.
struct Plan<'a> {
    runtime: &'a dyn Runtime,
    request: &'a Request,
    placement: Placement,
    /// Those that are CUE.
    files: Instance,
    package: Option<Instance>,
}

impl Plan<'_> {
    /// What data is held against.
    fn schema(&self) -> &Instance {
        self.package.as_ref().unwrap_or(&self.files)
    }

    /// Whether each value of data files is looked at on its own.
    fn is_streamed(&self) -> bool {
        let Request { merge, verb, schema, .. } = self.request;
        schema.is_some() || (!merge || *verb == Verb::Vet) && !self.placement.is_used()
    }

    /// Adds schemas in other languages to what data is held against, and gives back the other files. Where there are no
    /// others the schemas are what is looked at: as CUE, unless they are put somewhere or held against something.
    ///
    /// # Errors
    /// A schema that is none, and one beside a package.
    fn with_schemas(&mut self, data: Vec<Opened>) -> Result<Vec<Opened>, Error> {
        let (schemas, others): (Vec<_>, Vec<_>) = data.into_iter().partition(Opened::is_schema);
        let beside = self.is_streamed() || self.placement.is_used();
        let beside = beside || !self.files.sources.is_empty();
        let looked_at = others.is_empty() && beside;
        if schemas.is_empty() || looked_at {
            return Ok(if others.is_empty() { schemas } else { others });
        }
        if self.package.is_some() && !others.is_empty() {
            let text = "cannot combine packages with individual schema files";
            return Err(Error::Request(text.into()));
        }
        let package = self.files.package.clone().or_else(|| self.request.package.clone());
        let package = package.filter(|it| is_name(it));
        let values = named::all(&schemas)?;
        if others.is_empty() {
            self.files.comment = interpreted::comment(&values, package.as_deref());
        }
        for value in values {
            let number = self.files.schemas.len();
            let verb = self.request.verb;
            let found = interpreted::source(&value, number, (verb, package.as_deref()));
            if let Some((source, places)) = found {
                self.files.sources.push(source);
                self.files.schemas.push(Arc::new(places));
            }
        }
        self.files.package = package;
        Ok(others)
    }

    fn planned(&self, data: &[Opened]) -> Result<Planned, Error> {
        let refused = |text: &str| Err(Error::Request(text.to_owned()));
        let request = self.request;
        if request.schema.is_some() {
            if self.schema().sources.is_empty() {
                return refused("-d/--schema flag specified without a schema");
            }
            let unit = &Unit::from(self.schema().clone());
            Asked { request, unit, expression: "" }.schema_is_there(self.runtime)?;
            let unit = &Unit { apart: true, ..unit.clone() };
            Asked { request, unit, expression: "" }.agrees(self.runtime, DATA)?;
            if data.is_empty() {
                return refused("-d/--schema flag requires non-CUE input files");
            }
        }
        if !self.is_streamed() {
            let wanted = request.package.as_deref().filter(|_| !request.force);
            clash(wanted, self.files.package.as_deref())?;
        }
        let (mut values, broken) = named::values(self.runtime, data);
        interpreted::for_verb(&mut values, request.verb);
        if self.is_streamed() && !data.is_empty() {
            request.written()?;
            return self.streamed(&values, broken.map(|it| it.error));
        }
        if let Some(Broken { file, error }) = broken {
            // All of a file is read before any of it is placed.
            values.retain(|it| it.file != file);
            self.placed(&values)?;
            return Err(error);
        }
        let placed = self.placed(&values)?;
        request.written()?;
        Ok(Planned { units: self.merged(placed, data)?, broken: None })
    }

    /// Each value on its own with the schema.
    fn streamed(&self, values: &[Value], broken: Option<Error>) -> Result<Planned, Error> {
        let (schema, vet) = (self.schema(), self.request.verb == Verb::Vet);
        if vet && schema.sources.is_empty() {
            return Err(Error::Request("data files specified without a schema".into()));
        }
        let each = values.iter().map(|it| {
            let mut unit = Unit::from(schema.clone());
            unit.apart = self.request.schema.is_some();
            unit.checked = vet;
            let prefix = if unit.apart { vec![DATA.to_owned()] } else { Vec::new() };
            unit.add(&[Placed::one(prefix)], std::slice::from_ref(it));
            unit
        });
        Ok(Planned { units: each.collect(), broken })
    }

    /// All values at their places.
    fn placed(&self, values: &[Value]) -> Result<Unit, Error> {
        let mut data = Unit { package: self.schema().package.clone(), ..Unit::default() };
        if self.schema().sources.is_empty() {
            data.comment = interpreted::comment(values, self.request.package.as_deref());
        }
        for of_file in by_file(values) {
            if self.placement.is_used() {
                data.add(&self.placement.place(self.runtime, of_file)?, of_file);
            } else {
                for it in of_file {
                    data.add(&[Placed::one(Vec::new())], std::slice::from_ref(it));
                }
            }
        }
        Ok(data)
    }

    /// Data, and what it is held against: the package, with the files that were named beside it, or those files.
    ///
    /// # Errors
    /// What is named does not compile, or does not agree with itself, the package aside.
    fn merged(&self, data: Unit, named: &[Opened]) -> Result<Vec<Unit>, Error> {
        let Plan { runtime, request, .. } = *self;
        let mut unit = Unit::from(self.schema().clone());
        let beside = self.package.as_ref().map(|_| &self.files);
        // It is an instance of its own, which is put to the package as data is.
        let beside = beside.filter(|it| !it.sources.is_empty());
        let mut own = data;
        if let Some(files) = beside {
            let alone = Unit::from(files.clone());
            Asked { request, unit: &alone, expression: "" }.sound(runtime, Sound::Text)?;
            own.sources.splice(..0, alone.sources.iter().map(without_package));
            own.packages = alone.packages;
            own.spliced = alone.spliced;
            own.schemas = alone.schemas;
            unit.joined = true;
        }
        if (own.may_disagree() || beside.is_some()) && !request.ignore {
            let whole = Request::new(Verb::Eval, Load::default());
            Asked { request: &whole, unit: &own, expression: "" }.agrees(runtime, "")?;
        }
        own.packages.retain(|it| unit.packages.iter().all(|other| other.path != it.path));
        unit.packages.extend(own.packages);
        unit.spliced.extend(own.spliced);
        unit.schemas.extend(own.schemas);
        unit.sources.splice(..0, own.sources);
        let Unit { inputs, data, fields, comment, .. } = own;
        if !comment.is_empty() {
            unit.comment = comment;
        }
        let mut unit = Unit { inputs, data, fields, had_data: !named.is_empty(), ..unit };
        if !unit.sources.is_empty() || !unit.inputs.is_empty() {
            return Ok(vec![unit]);
        }
        // Data that was to be placed makes a struct, if an empty one; else there is nothing.
        let empty = (unit.had_data && self.placement.is_used()).then(|| Source::new("", "{}"));
        unit.sources.extend(empty);
        Ok(if unit.sources.is_empty() { Vec::new() } else { vec![unit] })
    }
}

/// A file that is put to a package: blanks stand where it says which one it is of.
fn without_package(source: &Source) -> Source {
    let header = cue_syntax::parse_header(&source.text);
    let clause = header.package.as_ref().map(|it| {
        let start = form::begins(&source.text, "package", it.span.start);
        (start as usize, it.span.end as usize)
    });
    let text = match clause {
        Some((start, end)) => {
            let (before, after) = (&source.text[..start], &source.text[end..]);
            format!("{before}{}{after}", " ".repeat(end - start)).into()
        }
        None => source.text.clone(),
    };
    Source { text, is_data: true, ..source.clone() }
}

/// Whether nothing in a value contradicts.
///
/// # Errors
/// What does.
pub(crate) fn agrees(runtime: &dyn Runtime, value: &Value) -> Result<(), Error> {
    let mut unit = Unit::default();
    unit.add(&[Placed::one(Vec::new())], std::slice::from_ref(value));
    let request = Request::new(Verb::Eval, Load::default());
    Asked { request: &request, unit: &unit, expression: "" }.agrees(runtime, "")
}

/// Values of one file after the other.
pub(crate) fn by_file(values: &[Value]) -> Vec<&[Value]> {
    values.chunk_by(|one, next| one.file == next.file && next.index == one.index + 1).collect()
}

/// What the CUE of values imports, a line each.
fn imports(values: &[Value]) -> BTreeSet<String> {
    let of_schemas = values.iter().filter_map(|it| it.schema.as_ref());
    let of_schemas = of_schemas.flat_map(|it| it.line.imports.iter().cloned());
    let timed = values.iter().any(|it| it.located.timed);
    of_schemas.chain(timed.then(|| "import \"time\"".to_owned())).collect()
}

impl From<Instance> for Unit {
    fn from(it: Instance) -> Self {
        let Instance { name, import_path, sources, packages, package, spliced, .. } = it;
        let Instance { schemas, comment, .. } = it;
        Unit {
            name,
            import_path,
            sources,
            packages,
            package,
            spliced,
            schemas,
            comment,
            ..Unit::default()
        }
    }
}

impl Unit {
    /// Whether anything in it could contradict something else.
    fn may_disagree(&self) -> bool {
        self.sources.len() + self.inputs.len() > 1 || self.data.iter().any(|it| it.repeats)
    }

    /// Whether a source is one of its data.
    fn holds(&self, source: &Source) -> bool {
        self.data.iter().any(|it| it.name == source.name)
    }

    /// What there is beside the data.
    pub(crate) fn without_data(&self) -> Self {
        Self {
            sources: self.sources.iter().filter(|it| !self.holds(it)).cloned().collect(),
            inputs: Vec::new(),
            data: Vec::new(),
            fields: BTreeSet::new(),
            apart: false,
            ..self.clone()
        }
    }

    /// Keeps the names of the fields that values bring to the root.
    fn name_fields(&mut self, placed: &Placed, values: &[Value]) {
        if let Some(first) = placed.labels.first() {
            self.fields.extend(Some(first.trim_matches('"').to_owned()).filter(|it| is_name(it)));
            return;
        }
        // Elements of a list have none there.
        let at_root = placed.values.iter().filter(|_| placed.several == Several::Unified);
        for at in at_root {
            let value = values.get(*at).filter(|it| it.schema.is_none());
            if let Some(Datum::Struct(fields)) = value.map(|it| &it.datum) {
                let names = fields.iter().map(|it| it.0.to_string());
                let regular = |it: &String| is_name(it) && !it.starts_with(['_', '#']);
                self.fields.extend(names.filter(regular));
            }
        }
    }

    /// Adds values of a file at their places.
    fn add(&mut self, placed: &[Placed], values: &[Value]) {
        let Some(first) = values.first() else { return };
        let mut line = Located::default();
        if let Some(package) = &self.package {
            line.add(&format!("package {package}\n"));
        }
        for import in imports(values) {
            line.add(&import);
            line.add("\n");
        }
        let begins = line.text.len();
        for it in placed {
            self.name_fields(it, values);
            let part = match self.package {
                Some(_) => place::line(&it.unbound(), values),
                None => place::line(it, values),
            };
            if let ([one], Several::Unified) = (it.values.as_slice(), it.several) {
                let value = values.get(*one).filter(|it| it.schema.is_none());
                if let Some(value) = value.filter(|_| part.text.len() > LARGE) {
                    let path = it.labels.join(".");
                    self.inputs.push(Input::new(path, print_json(&value.datum)));
                    continue;
                }
            }
            line.add("\n");
            line.append(&part);
        }
        if line.text.len() == begins {
            return;
        }
        line.add("\n");
        // The evaluator sorts what ends like a file before what does not.
        let end = if first.file == "-" { "" } else { ".json" };
        let name = format!("{}\0{}{end}", first.file, self.data.len());
        let places: BTreeSet<_> = placed.iter().map(|it| &it.labels).collect();
        let repeats = places.len() < placed.len();
        self.sources.insert(
            self.data.len(),
            Source { is_data: true, ..Source::new(name.as_str(), line.text.as_str()) },
        );
        let whole = u32::try_from(begins + 1).unwrap_or(u32::MAX);
        let lines = Lines::new(line.text.as_bytes());
        let file = first.file.clone();
        self.data.push(Arc::new(OfData { name, file, whole, lines, line, repeats }));
    }
}
