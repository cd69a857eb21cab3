//! What is evaluated together: packages, and the values of data files with them or one by one.

use std::collections::BTreeSet;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::evaluation::print_json;
use cue_session::{Input, Package, Runtime, Source};

use crate::data::{self, Value};
use crate::embed::Spliced;
use crate::evaluate::Asked;
use crate::filetype::is_name;
use crate::load::{Folders, Instance, Load, Loaded, unparsed};
use crate::located::{Lines, Located};
use crate::place::{self, Placed, Placement, Several};
use crate::sound::Sound;
use crate::{Error, Request, Verb, scope};

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
    /// Whether data is what is looked at.
    pub(crate) checked: bool,
    /// Names of fields that data has at the root.
    pub(crate) fields: BTreeSet<String>,
    /// Whether the value stands below a field of its own, where a schema is too.
    pub(crate) apart: bool,
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
        return refused("cannot combine --schema flag with flag \"path\", \"list\", or \"files\"");
    }
    let loaded = request.load.load(Folders::OfCue)?;
    if loaded.packages.is_empty() && request.name.is_some() {
        return refused("use of -n/--name flag without a directory");
    }
    too_many(request, &loaded)?;
    let clash = clash(request, &loaded);
    let of = if loaded.files.is_none() { Sound::Values } else { Sound::Text };
    let instances: Vec<Instance> = loaded.packages.iter().chain(&loaded.files).cloned().collect();
    if !loaded.unembedded.is_empty() {
        let mut wrong = loaded.unembedded;
        for it in instances {
            let unit = &Unit::from(it);
            if let Err(Error::Diagnostics(all)) =
                (Asked { request, unit, expression: "" }).sound(runtime, Sound::Text)
            {
                wrong.extend(all);
            }
        }
        return Err(Error::Diagnostics(wrong));
    }
    let planned = sorted(runtime, request, &placement, (loaded, clash))
        .map(|(units, broken)| Planned { units, broken });
    match planned {
        Ok(planned) if planned.broken.is_none() => Ok(planned),
        // What is wrong with the packages comes first.
        other => {
            for it in instances {
                Asked { request, unit: &Unit::from(it), expression: "" }.sound(runtime, of)?;
            }
            other
        }
    }
}

/// That packages do not go together with the files that were named, whatever they hold.
fn too_many(request: &Request, loaded: &Loaded) -> Result<(), Error> {
    let refused = |text: &str| Err(Error::Request(text.to_owned()));
    let Some(files) = &loaded.files else { return Ok(()) };
    if let Some(wrong) = loaded.packages.iter().find_map(|it| unparsed(&it.sources)) {
        return Err(wrong);
    }
    let has_data = !loaded.values.is_empty() || loaded.broken.is_some();
    match loaded.packages.len() {
        2.. if request.schema.is_some() => {
            refused("cannot use --schema/-d with flag more than one schema")
        }
        number @ 2.. => {
            refused(&format!("too many packages defined ({number}) in combination with files"))
        }
        1 if !files.sources.is_empty() && has_data => {
            refused("cannot combine packages with individual schema files")
        }
        _ => Ok(()),
    }
}

/// Whether each value of data files is looked at on its own.
fn is_streamed(request: &Request) -> bool {
    !request.merge || request.verb == Verb::Vet || request.schema.is_some()
}

/// That `-p` names another package than a file does. Where data is looked at value by value it may.
fn clash(request: &Request, loaded: &Loaded) -> Option<Error> {
    let name = request.package.as_ref()?;
    let other = loaded.files.as_ref()?.package.as_ref().filter(|it| *it != name)?;
    let allowed = request.force || is_streamed(request) || !loaded.packages.is_empty();
    let text = "flag clashes with existing package name";
    let error = Error::Request(format!("\"package\" {text} ({name} vs {other})"));
    Some(error).filter(|_| !allowed)
}

/// What was loaded as what is evaluated together.
fn sorted(
    runtime: &dyn Runtime,
    request: &Request,
    placement: &Placement,
    (loaded, clash): (Loaded, Option<Error>),
) -> Result<(Vec<Unit>, Option<Error>), Error> {
    let refused = |text: &str| Err(Error::Request(text.to_owned()));
    let Loaded { packages, files, values, broken, unembedded: _ } = loaded;
    let Some(files) = files else {
        let whole = |it: Instance| Unit { sound: Sound::Values, ..Unit::from(it) };
        return Ok((packages.into_iter().map(whole).collect(), None));
    };
    let package = packages.into_iter().next();
    let no_data = values.is_empty() && broken.is_none();
    let plain = package.as_ref().filter(|_| no_data).cloned();
    let schema = package.unwrap_or_else(|| files.clone());
    if request.schema.is_some() && schema.sources.is_empty() {
        return refused("-d/--schema flag specified without a schema");
    }
    if request.schema.is_some() {
        let mut unit = Unit::from(schema.clone());
        unit.apart = true;
        Asked { request, unit: &unit, expression: "" }.agrees(runtime, DATA)?;
        if no_data {
            return refused("-d/--schema flag requires non-CUE input files");
        }
    }
    if let Some(clash) = clash {
        return Err(clash);
    }
    if no_data {
        // A package beside files that are CUE: each for itself.
        let files = Some(files).filter(|it| !it.sources.is_empty());
        return Ok((plain.into_iter().chain(files).map(Unit::from).collect(), None));
    }
    if is_streamed(request) && !placement.is_used() {
        if request.verb == Verb::Vet && schema.sources.is_empty() {
            return refused("data files specified without a schema");
        }
        let each = values.iter().map(|it| {
            let mut unit = Unit::from(schema.clone());
            unit.apart = request.schema.is_some();
            unit.checked = request.verb == Verb::Vet;
            let prefix = if unit.apart { vec![DATA.to_owned()] } else { Vec::new() };
            unit.add(&[Placed::one(prefix)], std::slice::from_ref(it));
            unit
        });
        return Ok((each.collect(), broken));
    }
    if let Some(error) = broken {
        return Err(error);
    }
    let mut data = Unit { package: schema.package.clone(), ..Unit::default() };
    for of_file in by_file(&values) {
        if placement.is_used() {
            let placed = placement.place(runtime, of_file).or_else(|error| {
                // A value that contradicts itself has no labels.
                for value in of_file.iter().filter(|it| data::repeats(&it.datum)) {
                    agrees(runtime, value)?;
                }
                Err(error)
            });
            data.add(&placed?, of_file);
        } else {
            for it in of_file {
                data.add(&[Placed::one(Vec::new())], std::slice::from_ref(it));
            }
        }
    }
    // What data says is held against the rest once it agrees.
    let beside = !schema.sources.is_empty() || !request.expressions.is_empty();
    if data.data.len() > 1 && beside && !request.ignore {
        let whole = Request::new(Verb::Eval, Load::default());
        Asked { request: &whole, unit: &data, expression: "" }.agrees(runtime, "")?;
    }
    let mut unit = Unit::from(schema);
    unit.sources.splice(..0, data.sources);
    let Unit { inputs, data, fields, .. } = data;
    Ok((vec![Unit { inputs, data, fields, ..unit }], None))
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

impl From<Instance> for Unit {
    fn from(it: Instance) -> Self {
        let Instance { name, import_path, sources, packages, package, data: _, spliced } = it;
        Unit { name, import_path, sources, packages, package, spliced, ..Unit::default() }
    }
}

impl Unit {
    /// What there is beside the data.
    pub(crate) fn without_data(&self) -> Self {
        Self {
            sources: self.sources.get(self.data.len()..).unwrap_or_default().to_vec(),
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
        for at in &placed.values {
            if let Some(Datum::Struct(fields)) = values.get(*at).map(|it| &it.datum) {
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
        if values.iter().any(|it| it.located.timed) {
            line.add("import \"time\"\n");
        }
        let begins = line.text.len();
        for it in placed {
            self.name_fields(it, values);
            let part = place::line(it, values);
            if let ([one], Several::Unified) = (it.values.as_slice(), it.several) {
                if let Some(value) = values.get(*one).filter(|_| part.text.len() > LARGE) {
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
        // Data is told before what it is checked against.
        self.sources.insert(
            self.data.len(),
            Source { is_data: true, ..Source::new(name.as_str(), line.text.as_str()) },
        );
        let whole = u32::try_from(begins + 1).unwrap_or(u32::MAX);
        let lines = Lines::new(line.text.as_bytes());
        self.data.push(Arc::new(OfData { name, file: first.file.clone(), whole, lines, line }));
    }
}
