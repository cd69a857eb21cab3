//! What is evaluated together: packages, and the values of data files with them or one by one.

use std::sync::Arc;

use cue_eval::evaluation::print_json;
use cue_session::{Input, Package, Runtime, Source};

use crate::data::Value;
use crate::filetype::ending;
use crate::load::{Folders, Instance, Loaded};
use crate::located::Located;
use crate::place::{self, Placed};
use crate::{Error, Request, Verb, diagnostic};

/// Something that is evaluated as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    /// How it is told apart from others.
    pub(crate) name: String,
    pub(crate) sources: Vec<Source>,
    pub(crate) packages: Vec<Package>,
    pub(crate) package: Option<String>,
    /// Values too large to be kept as text: where they are, and they.
    pub(crate) inputs: Vec<Input>,
    /// Data among the sources: their names, their files and where their pieces come from.
    pub(crate) data: Vec<(String, String, Arc<Located>)>,
    /// Whether the value stands below a field of its own, where a schema is too.
    pub(crate) apart: bool,
}

/// Field that holds data and the schema of `-d`.
pub(crate) const DATA: &str = "_lateen_data";

/// Data beyond this is handed over as it is, and errors do not say where in it.
const LARGE: usize = 4 << 20;

/// Loads what a request asks for and sorts it into what is evaluated together.
///
/// # Errors
/// What cannot be loaded, and what does not go together.
pub(crate) fn units(runtime: &dyn Runtime, request: &Request) -> Result<Vec<Unit>, Error> {
    let refused = |text: &str| Err(Error::Request(text.to_owned()));
    let placement = request.placement()?;
    for (name, text) in request.schema.iter().map(|it| ("--schema", it)) {
        if let Err(all) = cue_syntax::parse_expr(text) {
            let message = all.first().map_or("not an expression", |it| it.message.as_str());
            return Err(diagnostic(message, Some((name, 1, 1))).into());
        }
    }
    let Loaded { packages, files, values } = request.load.load(Folders::OfCue)?;
    if placement.has_context() && !placement.is_used() {
        return refused(
            "flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\"",
        );
    }
    if placement.is_used() && request.schema.is_some() {
        return refused("cannot combine --schema flag with flag \"path\", \"list\", or \"files\"");
    }
    if packages.is_empty() && request.name.is_some() {
        return refused("use of -n/--name flag without a directory");
    }
    let Some(files) = files else {
        return Ok(packages.into_iter().map(Unit::from).collect());
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
    if package.is_some() && !files.sources.is_empty() && !values.is_empty() {
        return refused("cannot combine packages with individual schema files");
    }
    let plain = package.as_ref().filter(|_| values.is_empty()).cloned();
    let schema = package.unwrap_or_else(|| files.clone());
    if request.schema.is_some() && schema.sources.is_empty() {
        return refused("-d/--schema flag specified without a schema");
    }
    if request.schema.is_some() && values.is_empty() {
        return refused("-d/--schema flag requires non-CUE input files");
    }
    if values.is_empty() {
        // A package beside files that are CUE: each for itself.
        let files = Some(files).filter(|it| !it.sources.is_empty());
        return Ok(plain.into_iter().chain(files).map(Unit::from).collect());
    }
    let merged = request.merge && request.verb != Verb::Vet && request.schema.is_none();
    if !merged && !placement.is_used() {
        if request.verb == Verb::Vet && schema.sources.is_empty() {
            return refused("data files specified without a schema");
        }
        let each = values.iter().enumerate().map(|(number, it)| {
            let mut unit = Unit::from(schema.clone());
            unit.apart = request.schema.is_some();
            let prefix = if unit.apart { vec![DATA.to_owned()] } else { Vec::new() };
            let placed =
                Placed { labels: prefix, values: vec![number], several: Default::default() };
            unit.add(&placed, &values, it);
            unit
        });
        return Ok(each.collect());
    }
    if let Some(clash) = request.package.as_ref().zip(schema.package.as_ref()) {
        if clash.0 != clash.1 && !request.force {
            let text = "flag clashes with existing package name";
            return Err(Error::Request(format!("\"package\" {text} ({} vs {})", clash.0, clash.1)));
        }
    }
    let mut unit = Unit::from(schema);
    for of_file in by_file(&values) {
        if placement.is_used() {
            for placed in placement.place(runtime, of_file)? {
                if let Some(first) = of_file.first() {
                    unit.add(&placed, of_file, first);
                }
            }
        } else {
            for (number, it) in of_file.iter().enumerate() {
                let placed = Placed {
                    labels: Vec::new(),
                    values: vec![number],
                    several: Default::default(),
                };
                unit.add(&placed, of_file, it);
            }
        }
    }
    Ok(vec![unit])
}

/// Values of one file after the other.
pub(crate) fn by_file(values: &[Value]) -> Vec<&[Value]> {
    values.chunk_by(|one, next| one.file == next.file && next.index == one.index + 1).collect()
}

impl From<Instance> for Unit {
    fn from(it: Instance) -> Self {
        let Instance { name, sources, packages, package, data: _ } = it;
        Unit { name, sources, packages, package, ..Unit::default() }
    }
}

impl Unit {
    /// Adds values of a file at their place.
    fn add(&mut self, placed: &Placed, values: &[Value], first: &Value) {
        let line = place::line(placed, values);
        if let [one] = placed.values.as_slice() {
            let single = placed.several == place::Several::Unified && line.text.len() > LARGE;
            if let Some(value) = values.get(*one).filter(|_| single) {
                let path = placed.labels.join(".");
                self.inputs.push(Input::new(path, print_json(&value.datum)));
                return;
            }
        }
        let line = if placed.labels.is_empty() { line.opened() } else { line };
        // The evaluator sorts what ends like a file before what does not.
        let known = ["json", "yaml", "yml", "toml"].contains(&ending(&first.file));
        let end = if known { ".json" } else { "" };
        let name = format!("{}\0{}{end}", first.file, self.data.len());
        self.sources.push(Source::new(name.as_str(), format!("{}\n", line.text)));
        self.data.push((name, first.file.clone(), Arc::new(line)));
    }
}
