//! Files that are named one by one: those of CUE are one instance, the others are data.

use std::collections::BTreeSet;
use std::path::Path;

use cue_session::{Diagnostic, Runtime, Source};
use cue_syntax::Language;

use crate::condition::{Flags, excluded};
use crate::data::{self, Encoding, Value};
use crate::error::{in_order, unparsed};
use crate::filetype::{Named, Reading};
use crate::folder::{self, place_of, shown_name};
use crate::interpreted::{interpreted, is_schema};
use crate::load::{Folders, Instance};
use crate::{Error, diagnostic, form, plan, read, tags};

/// A file and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) named: Named,
    pub(crate) bytes: Vec<u8>,
}

impl Opened {
    /// Its name as messages have it.
    pub(crate) fn shown(&self) -> String {
        shown_name(Path::new(&self.named.name))
    }

    fn is_cue(&self) -> bool {
        self.named.kind.encoding == Encoding::Cue
    }

    /// What it holds.
    pub(crate) fn read(&self) -> data::Read {
        let kind = &self.named.kind;
        let read = data::read(kind.encoding, &self.shown(), &self.bytes);
        let read = read.unwrap_or_else(|wrong| data::Read { values: Vec::new(), wrong });
        interpreted(read, kind, &self.bytes)
    }

    /// Whether it is a schema in another language.
    pub(crate) fn is_schema(&self) -> bool {
        match self.named.kind.reading {
            Reading::Plain => false,
            Reading::JsonSchema | Reading::OpenApi => true,
            Reading::Auto => says_schema(&self.bytes) && is_schema(&self.read(), &self.named.kind),
        }
    }

    /// It as CUE.
    fn source(&self, language: &Language) -> Source {
        read::text(self.shown(), &self.bytes, language)
    }
}

/// Reads files, as they are named; standard input once.
///
/// # Errors
/// The first that cannot be read.
pub(crate) fn opened(files: Vec<Named>) -> Result<Vec<Opened>, Error> {
    let mut input: Option<Vec<u8>> = None;
    let open = |named: Named| {
        let bytes = match (named.name.as_str(), &input) {
            ("-", Some(bytes)) => bytes.clone(),
            ("-", None) => input.insert(read::bytes(Path::new("-"))?).clone(),
            (name, _) => read::bytes(Path::new(name))?,
        };
        Ok(Opened { named, bytes })
    };
    files.into_iter().map(open).collect()
}

/// Whether what stands above the first field of each file that must be data may stand there.
///
/// # Errors
/// What may not, of the first such file.
pub(crate) fn headed(files: &[Opened], language: &Language) -> Result<(), Error> {
    for it in files.iter().filter(|it| it.is_cue()) {
        let Some(form) = it.named.kind.form else { continue };
        let source = it.source(language);
        let header = cue_syntax::parse_header(&source.text);
        let mut wrong = form::unfit(&source, &header, form);
        if let [only] = wrong.as_mut_slice() {
            let name = read::absolute(Path::new(&it.named.name));
            only.message = format!("cannot get syntax for {name:?}: {}", only.message);
        }
        if !wrong.is_empty() {
            return Err(Error::Diagnostics(wrong));
        }
    }
    Ok(())
}

/// The CUE files among them as one.
///
/// # Errors
/// All that keeps them from being that.
pub(crate) fn instance(
    files: &[Opened],
    wanted: Folders,
    language: &Language,
    flags: &Flags<'_>,
) -> Result<Instance, Vec<Diagnostic>> {
    let mut it = Instance::default();
    let mut wrong = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut first = String::new();
    let mut seen = BTreeSet::new();
    for opened in files.iter().filter(|it| it.is_cue()) {
        let source = opened.source(language);
        let path = Path::new(&opened.named.name);
        if !seen.insert(source.name.clone()) {
            continue;
        }
        let parsed = cue_syntax::parse_as(&source.text, language);
        let mut unfit = unparsed(&source.name, &source.text, &parsed.errors);
        if let (true, Some(form)) = (unfit.is_empty(), opened.named.kind.form) {
            unfit = form::unfit(&source, &parsed.file, form);
        }
        if !unfit.is_empty() {
            wrong.extend(unfit);
            continue;
        }
        match excluded(&source, &parsed.file, flags) {
            Ok(None) => {}
            Ok(Some(reason)) => {
                left_out.push(format!("\n    {}: {reason}", folder::dotted(&source.name)));
                continue;
            }
            Err(all) => {
                wrong.extend(all);
                continue;
            }
        }
        let package = parsed.file.package.as_ref().map(|it| it.name.to_string());
        if let Some(package) = package.filter(|it| it != "_") {
            match &it.package {
                None => {
                    first = folder::base(path);
                    it.package = Some(package);
                }
                Some(one) if *one != package => {
                    let other = (package.as_str(), &*folder::base(path));
                    wrong.push(diagnostic(folder::several((one, &first), other, "."), None));
                    continue;
                }
                Some(_) => {}
            }
        }
        match folder::of_other_commands(&opened.named.name) {
            None => it.sources.push(source),
            Some(reason) => {
                left_out.push(format!("\n    {}: {reason}", folder::dotted(&source.name)));
            }
        }
    }
    let enough = wanted == Folders::OfData || files.iter().any(|it| !it.is_cue());
    if it.sources.is_empty() && wrong.is_empty() && !enough && !left_out.is_empty() {
        let text = "build constraints exclude all CUE files in command-line-arguments:";
        wrong.push(diagnostic(format!("{text}{}", left_out.concat()), None));
    }
    if !wrong.is_empty() {
        // Tags are looked for in what could be loaded.
        if let Err(Error::Diagnostics(tags)) = tags::placed(&it.sources) {
            wrong.extend(tags);
        }
        return Err(in_order(wrong));
    }
    it.name = it.package.clone().unwrap_or_default();
    it.sources.sort_by_key(|it| place_of(&it.name));
    Ok(it)
}

/// Those that are data, in order.
pub(crate) fn data(files: Vec<Opened>) -> Vec<Opened> {
    let mut all: Vec<Opened> = files.into_iter().filter(|it| !it.is_cue()).collect();
    all.sort_by_key(|it| place_of(&it.shown()));
    all
}

/// A file of data that cannot be read to its end.
pub(crate) struct Broken {
    /// Its name, as values have it.
    pub(crate) file: String,
    pub(crate) error: Error,
}

/// Whether a text could say that it is a schema.
fn says_schema(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("$schema") || text.contains("openapi")
}

/// All values of files.
///
/// # Errors
/// The first that is wrong.
pub(crate) fn all(files: &[Opened]) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    for it in files {
        values.extend(it.read().all().map_err(Error::Diagnostics)?);
    }
    Ok(values)
}

/// The values that files of data hold, up to the first that is wrong: it cannot be read, or says several things of one
/// field.
pub(crate) fn values(runtime: &dyn Runtime, files: &[Opened]) -> (Vec<Value>, Option<Broken>) {
    let mut values = Vec::new();
    for opened in files {
        let shown = opened.shown();
        let data::Read { values: read, wrong } = opened.read();
        let wrong = Some(wrong).filter(|it| !it.is_empty()).map(Error::Diagnostics);
        for value in read {
            if value.schema.is_none() && data::repeats(&value.datum) {
                if let Err(error) = plan::agrees(runtime, &value) {
                    return (values, Some(Broken { file: shown, error }));
                }
            }
            values.push(value);
        }
        if let Some(error) = wrong {
            return (values, Some(Broken { file: shown, error }));
        }
    }
    (values, None)
}
