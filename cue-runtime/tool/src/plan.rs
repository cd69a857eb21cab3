//! What is evaluated together: packages, and the values of data files with them or one by one.

use std::collections::BTreeSet;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::evaluation::print_json;
use cue_session::{Input, Package, Runtime, Source};

use crate::data::Value;
use crate::embed::Spliced;
use crate::evaluate::Asked;
use crate::filetype::is_name;
use crate::load::{Folders, Instance, Load, Loaded};
use crate::located::{Lines, Located};
use crate::place::{self, Placed, Several};
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

/// Loads what a request asks for and sorts it into what is evaluated together, and what is wrong with
/// the data behind that.
///
/// # Errors
/// What cannot be loaded, and what does not go together.
pub(crate) fn units(
    runtime: &dyn Runtime,
    request: &Request,
) -> Result<(Vec<Unit>, Option<Error>), Error> {
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
    let Loaded { packages, files, values, broken } = request.load.load(Folders::OfCue)?;
    if packages.is_empty() && request.name.is_some() {
        return refused("use of -n/--name flag without a directory");
    }
    if let Some(name) = &request.package {
        let every = packages.iter().chain(&files);
        let other = |it: &&Instance| it.package.as_ref().is_some_and(|it| it != name);
        let clash = every.filter(|_| !request.force && request.verb != Verb::Vet).find(other);
        if let Some(Instance { package: Some(other), .. }) = clash {
            let text = "flag clashes with existing package name";
            return Err(Error::Request(format!("\"package\" {text} ({name} vs {other})")));
        }
    }
    let Some(files) = files else {
        return Ok((packages.into_iter().map(Unit::from).collect(), None));
    };
    if packages.len() > 1 && request.schema.is_some() {
        return refused("cannot use --schema/-d with flag more than one schema");
    }
    if packages.len() > 1 {
        return Err(Error::Request(format!(
            "too many packages defined ({}) in combination with files",
            packages.len()
        )));
    }
    let package = packages.into_iter().next();
    let no_data = values.is_empty() && broken.is_none();
    if package.is_some() && !files.sources.is_empty() && !no_data {
        return refused("cannot combine packages with individual schema files");
    }
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
    if no_data {
        // A package beside files that are CUE: each for itself.
        let files = Some(files).filter(|it| !it.sources.is_empty());
        return Ok((plain.into_iter().chain(files).map(Unit::from).collect(), None));
    }
    let merged = request.merge && request.verb != Verb::Vet && request.schema.is_none();
    if !merged && !placement.is_used() {
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
    let mut data = Unit { package: schema.package.clone(), ..Unit::default() };
    for of_file in by_file(&values) {
        if placement.is_used() {
            data.add(&placement.place(runtime, of_file)?, of_file);
        } else {
            for it in of_file {
                data.add(&[Placed::one(Vec::new())], std::slice::from_ref(it));
            }
        }
    }
    if let Some(error) = broken {
        return Err(error);
    }
    // What data says is held against the rest once it agrees.
    if data.data.len() > 1 && !schema.sources.is_empty() {
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
        let name = format!("{}\0{}.json", first.file, self.data.len());
        // Data is told before what it is checked against.
        self.sources.insert(self.data.len(), Source::new(name.as_str(), line.text.as_str()));
        let whole = u32::try_from(begins + 1).unwrap_or(u32::MAX);
        let lines = Lines::new(line.text.as_bytes());
        self.data.push(Arc::new(OfData { name, file: first.file.clone(), whole, lines, line }));
    }
}
