//! import: data as CUE files.

use cue_eval::builtin::{Datum, Pattern};
use cue_eval::encode::{Tree, json};
use cue_jsonschema::decode;
use cue_session::Runtime;
use cue_syntax::Style;

use crate::data::{self, Encoding, Value, apart};
use crate::evaluate::Asked;
use crate::filetype::{self, FileType, Named, Reading, ending};
use crate::folder::{base, shown_name};
use crate::interpreted::{self, as_cue};
use crate::load::{Folders, Instance, Load};
use crate::located::Lines;
use crate::named::Opened;
use crate::place::{Context, Placed, Placement, Several};
use crate::plan::Unit;
use crate::remarks::Remarks;
use crate::sound::Sound;
use crate::spelled::Spelling;
use crate::written::{Breaks, plain, written};
use crate::{Error, Request, Verb, experiments, format, hoist, plan, read, scope};

/// Whether the values of a file become one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// They do.
    #[default]
    Together,
    /// `--files`: each becomes one of its own.
    Apart,
}

/// What becomes of texts that hold data themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Texts {
    /// They stay texts.
    #[default]
    Kept,
    /// `-R`: they are made of the data.
    Parsed,
}

/// What is imported, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Mode, packages and files.
    pub arguments: Vec<String>,
    /// `--ext`: endings of files in folders.
    pub endings: Vec<String>,
    /// `-n`: names of files in folders.
    pub name: Option<String>,
    /// `-p`: package clause.
    pub package: Option<String>,
    /// `-l`: labels around each value.
    pub labels: Vec<String>,
    /// `--list`
    pub several: Several,
    /// `--with-context`
    pub context: Context,
    /// `-d`, which goes with no import.
    pub schema: Option<String>,
    /// `--files`
    pub files: Files,
    /// `-R`
    pub texts: Texts,
    /// `-f`: another package may be named.
    pub force: bool,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name; `-` for what comes from standard input.
    pub file: String,
    /// What it holds.
    pub text: String,
}

/// What a mode reads.
struct Mode {
    /// How files are read whose ending was asked for.
    encoding: Option<Encoding>,
    /// Which endings count in folders.
    endings: Vec<String>,
    /// Whether files may say that they are schemas.
    reading: Reading,
}

/// Makes CUE files of data files.
///
/// # Errors
/// A mode that is not there; data that cannot be read; several values without a place for each.
pub fn import(runtime: &dyn Runtime, options: &Options) -> Result<Vec<Written>, Error> {
    experiments::check()?;
    let (mode, arguments) = mode(options)?;
    if let Some(text) = &options.schema {
        scope::parsed("--schema", text)?;
    }
    let pattern = options.name.as_deref().map(Pattern::new).transpose().map_err(Error::Request)?;
    let placement = Placement::new(&options.labels, options.several, options.context)?;
    if options.schema.is_some() {
        return Err(Error::Request(plan::SCHEMA_AND_PLACE.into()));
    }
    let loaded = Load { arguments, ..Load::default() }.load(Folders::OfData)?;
    let mut done = Vec::new();
    let several = loaded.packages.len() > 1;
    let it = Import { runtime, options, placement };
    let mut unnamed = false;
    for package in &loaded.packages {
        unnamed |= several && options.package.is_none() && package.package.is_none();
        it.clash(package)?;
        for path in &package.data {
            let name = base(path);
            let wanted = match &pattern {
                Some(pattern) => pattern.is_match(&name),
                None => mode.endings.iter().any(|it| name.ends_with(&format!(".{it}"))),
            };
            let kind = mode.overridden(options).or_else(|| filetype::of_ending(&name));
            let Some(kind) = kind.filter(|it| wanted && it.encoding != Encoding::Cue) else {
                continue;
            };
            let named = Named { name: shown_name(path), kind };
            let bytes = read::bytes(path)?;
            it.file(&Opened { named, bytes }, package.package.as_deref(), &mut done)?;
        }
    }
    if loaded.packages.is_empty() && options.name.is_some() {
        return Err(Error::Request("use of -n/--name flag without a directory".into()));
    }
    if let Some(files) = &loaded.files {
        if several {
            return Err(plan::too_many(loaded.packages.len()));
        }
        let schema = Unit::from(loaded.packages.first().unwrap_or(files).clone());
        let request = &Request::new(Verb::Def, Load::default());
        Asked { request, unit: &schema, expression: "" }.sound(runtime, Sound::Text)?;
        if !loaded.unembedded.is_empty() {
            return Err(Error::Diagnostics(loaded.unembedded));
        }
        if loaded.data.iter().any(|it| !it.named.kind.is_form()) {
            return Err(Error::Request("no encoding specified".into()));
        }
        it.clash(files)?;
        // Beside data a schema is what that is held against, and nothing is.
        let data = loaded.data.iter().any(|it| !it.is_schema());
        for mut opened in loaded.data {
            if data && opened.is_schema() {
                opened.read().all().map_err(Error::Diagnostics)?;
                continue;
            }
            // With `--ext` the mode says what every file is.
            opened.named.kind = mode.overridden(options).unwrap_or(opened.named.kind);
            it.file(&opened, files.package.as_deref(), &mut done)?;
        }
    }
    if unnamed {
        return Err(Error::Request("must specify package name with the -p flag".into()));
    }
    match options.package.as_deref().filter(|it| !filetype::is_name(it)) {
        Some(package) if !done.is_empty() => {
            let text = "error formatting file: invalid identifier";
            Err(Error::Request(format!("{text} {package:?}")))
        }
        _ => Ok(done),
    }
}

impl Mode {
    /// What every file is where both a mode and endings were named.
    fn overridden(&self, options: &Options) -> Option<FileType> {
        let encoding = self.encoding.filter(|_| !options.endings.is_empty())?;
        Some(FileType { reading: self.reading, ..FileType::plain(encoding) })
    }
}

/// The mode, which is the first argument if that can be no file, and the other arguments.
fn mode(options: &Options) -> Result<(Mode, Vec<String>), Error> {
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let mut mode = Mode {
        encoding: None,
        endings: texts(&["json", "yaml", "yml", "toml", "jsonl", "ndjson", "ldjson"]),
        reading: Reading::Auto,
    };
    let mut arguments = options.arguments.clone();
    let named = arguments.first().filter(|it| !it.contains(['/', '\\', ':', '.'])).cloned();
    if let Some(name) = named {
        arguments.remove(0);
        mode.reading = Reading::Plain;
        mode.encoding = Encoding::of_name(&name);
        match name.as_str() {
            "json" => mode.endings = texts(&["json", "jsonl", "ndjson", "ldjson"]),
            "yaml" => mode.endings = texts(&["yaml", "yml"]),
            "toml" => mode.endings = texts(&["toml"]),
            "text" => mode.endings = texts(&["txt"]),
            "binary" if options.endings.is_empty() => {
                return Err(Error::Request("use of --ext flag required in binary mode".into()));
            }
            "data" if !options.endings.is_empty() => {
                return Err(Error::Request("unsupported encoding \"\"".into()));
            }
            "binary" | "data" => {}
            "auto" => {
                mode.reading = Reading::Auto;
                mode.encoding = Some(Encoding::Yaml);
            }
            "openapi" => {
                (mode.reading, mode.encoding) = (Reading::OpenApi, Some(Encoding::Yaml));
            }
            "jsonschema" => {
                (mode.reading, mode.encoding) = (Reading::JsonSchema, Some(Encoding::Yaml));
            }
            "proto" => return Err(filetype::missing(&name)),
            _ => return Err(Error::Request(format!("unknown mode {name:?}"))),
        }
    }
    if !options.endings.is_empty() {
        mode.endings.clone_from(&options.endings);
    }
    Ok((mode, arguments))
}

struct Import<'a> {
    runtime: &'a dyn Runtime,
    options: &'a Options,
    placement: Placement,
}

impl Import<'_> {
    /// `-p` and the package that files are imported into.
    fn clash(&self, into: &Instance) -> Result<(), Error> {
        let wanted = self.options.package.as_deref().filter(|_| !self.options.force);
        plan::clash(wanted, into.package.as_deref())
    }

    /// Adds what one file becomes.
    fn file(
        &self,
        opened: &Opened,
        package: Option<&str>,
        done: &mut Vec<Written>,
    ) -> Result<(), Error> {
        let options = self.options;
        let Opened { named, bytes } = opened;
        let shown = opened.shown();
        let read = data::read(named.kind.encoding, &shown, bytes).map_err(Error::Diagnostics)?;
        let values = interpreted::interpreted(read, &named.kind, bytes);
        let values = values.all().map_err(Error::Diagnostics)?;
        if values.iter().any(|it| it.schema.is_some()) {
            return self.schemas(opened, &values, package, done);
        }
        for value in values.iter().filter(|it| data::repeats(&it.datum)) {
            plan::agrees(self.runtime, value)?;
        }
        let mut texts = texts(named.kind.encoding, bytes, &values);
        if options.files == Files::Apart {
            for (number, value) in values.iter().enumerate() {
                let one = std::slice::from_ref(value);
                let text = texts.get(number..=number).unwrap_or_default();
                let placed = self.placement.place(self.runtime, one)?;
                let text = self.text(&placed, one, text, package)?;
                done.push(Written { file: renamed(&named.name, number), text });
            }
            return Ok(());
        }
        self.fits(&values, &shown)?;
        let placed = self.placement.place(self.runtime, &values)?;
        // At a place there is room for the value alone: the first one's comments come below all.
        let mut below = String::new();
        if self.placement.is_used() || self.placement.has_context() {
            for (text, value) in texts.iter_mut().zip(&values) {
                if !value.located.below.is_empty() {
                    *text = value.located.of_value().to_owned();
                }
            }
            below = values.first().map(|it| it.located.below.join("\n")).unwrap_or_default();
            // So does all that a second and last document is.
            if let ([_, Value { datum: Datum::Null, .. }], [_, text]) = (&*values, &mut *texts) {
                let said = text.strip_suffix("\nnull").filter(|it| it.starts_with("//"));
                if let Some(said) = said.map(str::to_owned) {
                    below.push_str(&said);
                    *text = "null".into();
                }
            }
        }
        if placed.is_empty() && values.is_empty() {
            return Ok(());
        }
        let mut text = self.text(&placed, &values, &texts, package)?;
        if !below.is_empty() {
            text.push_str(&below);
            text.push('\n');
        }
        done.push(Written { file: renamed(&named.name, 0), text });
        Ok(())
    }

    /// That several values have places of their own.
    fn fits(&self, values: &[Value], shown: &str) -> Result<(), Error> {
        if values.len() > 1 && !self.placement.is_used() {
            let text = "path, list, or files flag needed to handle multiple objects in file";
            return Err(Error::Request(format!("{text} ./{shown}")));
        }
        Ok(())
    }

    /// Adds what a file with schemas in other languages becomes.
    fn schemas(
        &self,
        opened: &Opened,
        values: &[Value],
        package: Option<&str>,
        done: &mut Vec<Written>,
    ) -> Result<(), Error> {
        let options = self.options;
        let Opened { named, bytes } = opened;
        let apart = options.files == Files::Apart;
        let all = as_cue(values, named.kind.encoding, bytes);
        if !apart {
            self.fits(values, &opened.shown())?;
        }
        let around = apart || self.placement.is_used() || self.placement.has_context();
        let package = options.package.as_deref().or(package.filter(|_| around));
        let size = if apart { 1 } else { values.len().max(1) };
        for (number, (values, all)) in values.chunks(size).zip(all.chunks(size)).enumerate() {
            let places = self.placement.place(self.runtime, values)?;
            let bare = |it: &Placed| it.labels.is_empty() && it.several == Several::Unified;
            if around && places.iter().any(bare) && all.iter().any(|it| it.decoded.is_expression())
            {
                return Err(Error::Request("cannot map non-struct to object root".into()));
            }
            let placed = places.iter().map(|it| decode::Placed {
                labels: &it.labels,
                listed: it.several == Several::Listed,
                schemas: it.values.iter().filter_map(|at| Some(&all.get(*at)?.decoded)).collect(),
            });
            let placed: Vec<_> = placed.collect();
            let text = decode::text(&placed, package);
            done.push(Written { file: renamed(&named.name, number), text });
        }
        Ok(())
    }

    /// Values at their places as a file.
    fn text(
        &self,
        placed: &[Placed],
        values: &[Value],
        texts: &[String],
        package: Option<&str>,
    ) -> Result<String, Error> {
        let options = self.options;
        let mut out = String::new();
        let around = self.placement.is_used() || self.placement.has_context();
        let inherited = package.filter(|_| around || options.files == Files::Apart);
        if let Some(package) = options.package.as_deref().or(inherited) {
            out.push_str(&format!("package {package}\n\n"));
        }
        // Officially a file that is all of a file is not looked through for names.
        let whole = !around && options.files == Files::Together && options.texts == Texts::Kept;
        if !whole && placed.iter().flat_map(|it| &it.values).any(|it| is_timed(values, *it)) {
            out.push_str("import \"time\"\n\n");
        }
        for it in placed {
            let part = |at: &usize| {
                let text = texts.get(*at).map_or("", String::as_str);
                match values.get(*at).map(|it| &it.datum) {
                    Some(Datum::Struct(fields)) if fields.is_empty() => "{}".to_owned(),
                    // The only field of a value needs no braces, but in definitions and hidden fields.
                    Some(Datum::Struct(fields))
                        if fields.len() == 1
                            && it.labels.last().is_some_and(|it| !keeps_braces(it))
                            && it.several == Several::Unified
                            && !text.starts_with('/') =>
                    {
                        text.trim_end_matches('\n').to_owned()
                    }
                    Some(Datum::Struct(_)) => format!("{{\n{}\n}}", text.trim_end_matches('\n')),
                    _ => text.to_owned(),
                }
            };
            let bare = it.labels.is_empty() && it.several == Several::Unified;
            let object = it
                .values
                .iter()
                .all(|at| values.get(*at).is_some_and(|it| matches!(it.datum, Datum::Struct(_))));
            let alone = options.files == Files::Apart || self.placement.has_context();
            if bare && !object && alone {
                return Err(no_object(it, values));
            }
            if bare && object {
                for at in &it.values {
                    out.push_str(texts.get(*at).map_or("", String::as_str));
                }
            } else {
                let parts: Vec<String> = it.values.iter().map(part).collect();
                // With braces around it the formatter does not align it; comments would keep those that it drops.
                let kept = parts.iter().any(|it| it.contains("//"));
                let mut braces = 0;
                let mut before: Option<&String> = None;
                for label in &it.labels {
                    if before.is_some_and(|it| !kept || keeps_braces(it)) {
                        out.push_str("{\n");
                        braces += 1;
                    }
                    out.push_str(&format!("{label}: "));
                    before = Some(label);
                }
                let listed = it.several == Several::Listed;
                let text = parts.join(", ");
                out.push_str(&if listed { format!("[{text}]") } else { text });
                out.push_str(&"\n}".repeat(braces));
            }
            out.push('\n');
        }
        let text = match options.texts {
            Texts::Kept => out,
            Texts::Parsed => hoist::hoisted(&out)?,
        };
        let invalid = |package: &&str| !filetype::is_name(package);
        if options.package.as_deref().filter(invalid).is_some() {
            // That is told once all data is read.
            return Ok(String::new());
        }
        let text = format::text("-", &text, Style::Data)?;
        // Empty lines of texts over several lines are not indented; a tab of their own is escaped.
        let lines =
            text.split('\n').map(|it| if it.trim_matches('\t').is_empty() { "" } else { it });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Whether what a label stands before keeps its braces: that of a definition or a hidden field does (O-85).
fn keeps_braces(label: &str) -> bool {
    label.starts_with(['#', '_'])
}

/// Whether the text of a value names the package `time`.
fn is_timed(values: &[Value], number: usize) -> bool {
    values.get(number).is_some_and(|it| it.located.timed)
}

/// That a value cannot be a file.
fn no_object(placed: &Placed, values: &[Value]) -> Error {
    let first = placed.values.first().and_then(|it| values.get(*it)).map(|it| &it.datum);
    Error::Request(
        match first {
            Some(Datum::List(_)) => {
                "expected struct as object root, did you mean to use the --list flag?"
            }
            _ => "cannot map non-struct to object root",
        }
        .into(),
    )
}

/// The name of the CUE file of the value with that number in a data file.
fn renamed(file: &str, number: usize) -> String {
    if file == "-" {
        return file.to_owned();
    }
    let end = ending(file);
    let stem =
        file.strip_suffix(end).and_then(|it| it.strip_suffix('.')).filter(|_| !end.is_empty());
    let stem = stem.unwrap_or(file);
    if number == 0 { format!("{stem}.cue") } else { format!("{stem}-{number}.cue") }
}

/// Each value as CUE with the lines of the file; of a struct, its fields.
fn texts(encoding: Encoding, bytes: &[u8], values: &[Value]) -> Vec<String> {
    let as_they_are = || values.iter().map(|it| plain(&it.datum)).collect();
    match encoding {
        Encoding::Json | Encoding::JsonLines => {
            let spelling = Spelling { file: bytes, lines: Lines::new(bytes) };
            let text = |it: &Tree| written(it, &spelling, Breaks::Kept, &Remarks::default()).text;
            json::decode(bytes, json::Values::Stream)
                .map(|it| apart(it).iter().map(text).collect())
                .unwrap_or_else(|_| as_they_are())
        }
        Encoding::Yaml | Encoding::Toml => {
            values.iter().map(|it| it.located.text.clone()).collect()
        }
        Encoding::Text => values.iter().map(|it| it.datum.literal()).collect(),
        Encoding::Binary | Encoding::Cue => as_they_are(),
    }
}
