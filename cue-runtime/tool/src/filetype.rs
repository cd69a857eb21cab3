//! What a file is taken for: its ending, or a qualifier such as `json:` or `yaml+data:`.

use crate::data::Encoding;
use crate::truth::truth;
use crate::{Error, Verb};

/// What is done with a file's values: read, or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// They are what they are.
    #[default]
    Plain,
    /// The same, unless the file says that it is a schema.
    Auto,
    /// They are a schema in JSON Schema; written, they are described as one.
    JsonSchema,
    /// They are an OpenAPI document; written, their definitions are.
    OpenApi,
}

/// How strictly a schema in another language is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strict {
    /// Keywords that nobody knows are errors.
    pub keywords: bool,
    /// So is what has no counterpart in CUE.
    pub features: bool,
    /// Structs are open only where the schema says so.
    pub open_only_when_explicit: bool,
}

/// What may stand in a CUE file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Everything.
    #[default]
    Schema,
    /// Concrete values and references.
    Graph,
    /// Concrete values.
    Data,
}

/// How a file is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType {
    /// Form of its text.
    pub encoding: Encoding,
    /// What is done with its values.
    pub reading: Reading,
    /// What may stand in it, where a qualifier says that; else everything.
    pub form: Option<Form>,
    /// How strictly it is read where it is a schema.
    pub strict: Strict,
}

/// A file that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name; `-` is standard input or output.
    pub name: String,
    /// What it is.
    pub kind: FileType,
}

/// Arguments of a command: packages, and files with what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Import paths and folders, in order.
    pub packages: Vec<String>,
    /// Files, in order.
    pub files: Vec<Named>,
}

/// What the tags of a qualifier say together.
#[derive(Clone, Copy, Debug, Default)]
struct Scope {
    encoding: Option<Encoding>,
    form: Option<Form>,
    /// `auto`, in place of what the encoding alone says.
    reading: Reading,
    strict: Strict,
}

/// Splits arguments. A qualifier holds for the files behind it, up to the next one.
///
/// # Errors
/// A qualifier that does not exist or has no file; a file whose ending says nothing.
pub fn arguments(all: &[String]) -> Result<Arguments, Error> {
    let mut found = Arguments::default();
    let mut others: Vec<&str> = Vec::new();
    let mut qualified = false;
    for argument in all {
        let bare = scope_of(argument).is_some_and(|it| !it.0.is_empty() && it.1.is_empty());
        qualified |= bare;
        if bare || qualified || !is_package(argument) {
            others.push(argument);
        } else {
            found.packages.push(argument.clone());
        }
    }
    let mut scope = Scope::default();
    let mut waiting: Option<&str> = None;
    for other in others {
        match scope_of(other) {
            None if other.is_empty() => return Err(refused("empty file name".into())),
            None => {
                let kind = kind(other, scope, Encoding::Cue)?;
                found.files.push(Named { name: other.to_owned(), kind });
                waiting = None;
            }
            Some(("", _)) => {
                return Err(refused(format!("empty filetype prefix in {other:?}")));
            }
            Some((name, "")) => {
                if let Some(before) = waiting {
                    return Err(without_file(before));
                }
                scope = tags(name)?;
                waiting = Some(name);
            }
            Some((name, file)) => {
                let meant = format!("{name}: {file}");
                return Err(refused(format!(
                    "cannot combine file type and file name; did you mean {meant:?}?"
                )));
            }
        }
    }
    waiting.map_or(Ok(found), |name| Err(without_file(name)))
}

fn without_file(scope: &str) -> Error {
    refused(format!("scoped qualifier {:?} without file", format!("{scope}:")))
}

fn refused(text: String) -> Error {
    Error::Request(text)
}

/// Where a command writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name of the file; `-` is standard output.
    pub name: String,
    /// Form of its text, or why nothing is written in the form that was asked for: that is told once all is loaded.
    pub encoding: Result<Encoding, String>,
    /// What is written of values.
    pub reading: Reading,
}

/// The file that `--out` and `--outfile` name together, in the command's usual form where nothing says what it is.
///
/// # Errors
/// Two qualifiers; one that does not exist; an ending that says nothing.
pub fn output(out: Option<&str>, outfile: Option<&str>, verb: Verb) -> Result<Output, Error> {
    let file = outfile.filter(|it| !it.is_empty()).unwrap_or("-");
    let out = out.filter(|it| !it.is_empty());
    let whole = match out {
        Some(out) if out.contains(':') && file.contains(':') => {
            let text = "cannot specify qualifier in both --out and --outfile";
            return Err(refused(text.into()));
        }
        Some(out) => format!("{out}:{file}"),
        None => file.to_owned(),
    };
    let (scope, file) = match scope_of(&whole) {
        None => (Ok(Scope::default()), whole.as_str()),
        Some(("", _)) => return Err(refused(format!("empty filetype prefix in {whole:?}"))),
        Some((_, "")) => return Err(refused(format!("empty file name in {whole:?}"))),
        Some((name, file)) => (output_tags(name, verb)?, file),
    };
    let reading = scope.as_ref().map_or(Reading::Plain, |it| it.reading);
    let encoding = match (scope, missing_by_ending(file)) {
        (Ok(Scope { encoding: None, .. }), Some(what)) => Err(unwritten(what)),
        (Ok(scope), _) => Ok(kind(file, scope, verb.usual())?.encoding),
        (Err(text), _) => Err(text),
    };
    Ok(Output { name: file.to_owned(), encoding, reading })
}

/// What the official command reads or writes and this one does not, by tag, and the endings of such files.
const MISSING: [(&str, &[&str]); 6] = [
    ("proto", &["proto"]),
    ("textproto", &["textproto", "textpb"]),
    ("pb", &[]),
    ("xml", &["xml"]),
    ("go", &["go"]),
    ("code", &[]),
];

/// What a file is by its ending, if that is none of what is read and written here.
fn missing_by_ending(file: &str) -> Option<&'static str> {
    MISSING.iter().find(|it| it.1.contains(&ending(file))).map(|it| it.0)
}

/// That nothing is written in a form.
fn unwritten(what: &str) -> String {
    match what {
        "go" => unwritten("code"),
        _ => format!("unsupported encoding {what:?}"),
    }
}

/// `json:x` is a qualifier and a file; a colon of an absolute path is part of the path.
fn scope_of(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('/') { None } else { text.split_once(':') }
}

/// What `+` joins.
fn tags(text: &str) -> Result<Scope, Error> {
    let contradict = || Err(refused("invalid tag combination".into()));
    let mut scope = Scope::default();
    let mut words: Vec<(&str, bool)> = Vec::new();
    for tag in text.split('+') {
        let (name, value) = tag.split_once('=').map_or((tag, None), |it| (it.0, Some(it.1)));
        match name {
            "strict" | "strictKeywords" | "strictFeatures" | "openOnlyWhenExplicit" | "koala" => {
                let Some(truth) = value.map_or(Some(true), truth) else {
                    return Err(refused(format!("invalid boolean value for tag {name:?}")));
                };
                words.push((name, truth));
                continue;
            }
            "lang" if value.is_none() => {
                return Err(refused(format!("tag {name:?} must have value ({name}=<value>)")));
            }
            "lang" => continue,
            _ => {}
        }
        let known = known(name);
        if known.is_some() && value.is_some() {
            return Err(refused(format!("cannot specify value for tag {name:?}")));
        }
        match known {
            Some(Tag::Encoding(encoding)) => {
                if scope.encoding.replace(encoding).is_some_and(|it| it != encoding) {
                    return contradict();
                }
            }
            Some(Tag::Form(form)) => {
                if scope.form.replace(form).is_some_and(|it| it != form) {
                    return contradict();
                }
            }
            Some(Tag::Reading(reading)) => {
                if scope.reading != Reading::Plain && scope.reading != reading {
                    return contradict();
                }
                scope.reading = reading;
            }
            Some(Tag::Missing(_)) if scope.reading.is_schema() => return contradict(),
            Some(Tag::Missing(what)) => return Err(missing(what)),
            None => return Err(refused(format!("unknown filetype {name}"))),
        }
    }
    scope.strict = strictness(&words, scope.reading)?;
    match (scope.encoding, scope.form) {
        (Some(Encoding::Text | Encoding::Binary), Some(Form::Schema | Form::Graph)) => contradict(),
        (Some(Encoding::Text | Encoding::Binary), None) if scope.reading != Reading::Plain => {
            contradict()
        }
        (_, Some(Form::Data)) if scope.reading.is_schema() => contradict(),
        (None, _) if scope.reading != Reading::Plain => {
            Ok(Scope { encoding: Some(Encoding::Json), ..scope })
        }
        _ => Ok(scope),
    }
}

/// What the words of a qualifier say of a schema, the later ones over the earlier.
fn strictness(words: &[(&str, bool)], reading: Reading) -> Result<Strict, Error> {
    let said = |name: &str| words.iter().rev().find(|it| it.0 == name).map(|it| it.1);
    let other = words.iter().map(|it| it.0).find(|it| match reading {
        Reading::JsonSchema | Reading::OpenApi => *it == "koala",
        Reading::Plain | Reading::Auto => true,
    });
    if let Some(name) = other {
        return Err(refused(format!("tag {name} is not allowed in this context")));
    }
    if let (Reading::OpenApi, Some(_)) = (reading, said("openOnlyWhenExplicit")) {
        return Err(refused("field \"openOnlyWhenExplicit\" not allowed".into()));
    }
    let all = said("strict").unwrap_or_default();
    Ok(Strict {
        keywords: said("strictKeywords").unwrap_or(all),
        features: said("strictFeatures").unwrap_or(all),
        open_only_when_explicit: said("openOnlyWhenExplicit").unwrap_or_default(),
    })
}

impl Reading {
    /// Whether every value is a schema in another language, or described as one: that need not be concrete.
    pub(crate) fn is_schema(self) -> bool {
        matches!(self, Reading::JsonSchema | Reading::OpenApi)
    }
}

impl FileType {
    /// Of that encoding without more.
    pub(crate) fn plain(encoding: Encoding) -> Self {
        let strict = Strict::default();
        Self { encoding, reading: Reading::Plain, form: None, strict }
    }

    /// Whether there is such a form of the encoding: data is read in no other.
    pub(crate) fn is_form(&self) -> bool {
        if self.reading.is_schema() {
            return self.form != Some(Form::Data);
        }
        match self.encoding {
            Encoding::Json | Encoding::JsonLines | Encoding::Toml => {
                matches!(self.form, None | Some(Form::Data))
            }
            Encoding::Yaml => self.form != Some(Form::Schema),
            Encoding::Cue | Encoding::Text | Encoding::Binary => true,
        }
    }
}

/// Whether a command writes such a form of CUE.
fn is_written(form: Form, verb: Verb) -> bool {
    match verb {
        Verb::Export => form == Form::Data,
        Verb::Eval | Verb::Vet => false,
        Verb::Def => form != Form::Data,
    }
}

/// The same of what is written, or why nothing is in that form.
fn output_tags(text: &str, verb: Verb) -> Result<Result<Scope, String>, Error> {
    let first = text.split('+').next().unwrap_or_default();
    if let Some(Tag::Missing(what)) = known(first) {
        return Ok(Err(unwritten(what)));
    }
    let scope = tags(text)?;
    if scope.reading == Reading::Auto {
        return Ok(Err("unsupported interpretation \"auto\"".into()));
    }
    let cue = scope
        .form
        .filter(|_| scope.encoding == Some(Encoding::Cue) && scope.reading == Reading::Plain);
    let refused = cue.is_some_and(|it| !is_written(it, verb));
    Ok(if refused { Err("no encoding specified".into()) } else { Ok(scope) })
}

/// What a tag says.
enum Tag {
    Encoding(Encoding),
    Form(Form),
    Reading(Reading),
    /// What the official command has and this one has not.
    Missing(&'static str),
}

fn known(tag: &str) -> Option<Tag> {
    Some(match tag {
        "cue" => Tag::Encoding(Encoding::Cue),
        "json" => Tag::Encoding(Encoding::Json),
        "jsonl" => Tag::Encoding(Encoding::JsonLines),
        "yaml" => Tag::Encoding(Encoding::Yaml),
        "toml" => Tag::Encoding(Encoding::Toml),
        "text" => Tag::Encoding(Encoding::Text),
        "binary" => Tag::Encoding(Encoding::Binary),
        "schema" => Tag::Form(Form::Schema),
        "graph" => Tag::Form(Form::Graph),
        "data" | "dag" => Tag::Form(Form::Data),
        "auto" => Tag::Reading(Reading::Auto),
        "jsonschema" => Tag::Reading(Reading::JsonSchema),
        "openapi" => Tag::Reading(Reading::OpenApi),
        other => Tag::Missing(MISSING.iter().find(|it| it.0 == other)?.0),
    })
}

/// Says which form is not read here.
pub fn missing(what: &str) -> Error {
    let name = match what {
        "proto" | "textproto" | "pb" => "Protocol Buffers",
        "xml" => "XML",
        _ => "program code",
    };
    refused(format!("{what}: {name} is not read by this command"))
}

/// By the qualifier, else by the ending.
fn kind(file: &str, scope: Scope, usual: Encoding) -> Result<FileType, Error> {
    let Scope { form, strict, .. } = scope;
    if let Some(encoding) = scope.encoding {
        return Ok(FileType { encoding, reading: scope.reading, form, strict });
    }
    if file == "-" {
        return Ok(FileType { form, ..FileType::plain(usual) });
    }
    let (encoding, reading) = match ending(file) {
        "cue" => (Encoding::Cue, Reading::Plain),
        "json" => (Encoding::Json, Reading::Auto),
        "yaml" | "yml" => (Encoding::Yaml, Reading::Auto),
        "toml" => (Encoding::Toml, Reading::Auto),
        "jsonl" | "ldjson" | "ndjson" => (Encoding::JsonLines, Reading::Plain),
        "txt" => (Encoding::Text, Reading::Plain),
        "wasm" => (Encoding::Binary, Reading::Plain),
        "" if file == "." || !file.ends_with('.') => {
            return Err(refused(format!("no encoding specified for file {file:?}")));
        }
        other => match missing_by_ending(file) {
            Some(what) => return Err(missing(what)),
            None => return Err(refused(format!("unknown file extension .{other}"))),
        },
    };
    Ok(FileType { encoding, reading, form, strict })
}

/// What a file in a folder is, if its ending says so.
pub fn of_ending(file: &str) -> Option<FileType> {
    kind(file, Scope::default(), Encoding::Cue).ok()
}

/// What stands behind the last point of a file's name, which does not begin with it.
pub fn ending(file: &str) -> &str {
    let base = file.rsplit('/').next().unwrap_or(file);
    match base.rsplit_once('.') {
        Some((before, after)) if !before.is_empty() => after,
        _ => "",
    }
}

/// The parts of `path@version:name`.
pub(crate) struct ImportPath<'a> {
    pub(crate) path: &'a str,
    pub(crate) version: Option<&'a str>,
    /// What stands behind the colon.
    pub(crate) qualifier: Option<&'a str>,
}

pub(crate) fn import_path(text: &str) -> ImportPath<'_> {
    let colon = text.rfind([':', '/']).filter(|it| text[*it..].starts_with(':'));
    let (path, qualifier) = match colon {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    match path.split_once('@') {
        Some((path, version)) => ImportPath { path, version: Some(version), qualifier },
        None => ImportPath { path, version: None, qualifier },
    }
}

impl<'a> ImportPath<'a> {
    /// Name of the package, if it can be one.
    ///
    /// # Errors
    /// What has to be said of `text`, which this is of.
    pub(crate) fn package(&self, text: &str) -> Result<&'a str, String> {
        let last = self.path.rsplit('/').next().unwrap_or_default();
        let name = self.qualifier.filter(|it| !it.is_empty()).unwrap_or(last);
        is_name(name).then_some(name).ok_or_else(|| {
            format!("cannot determine package name for {text:?}; set it explicitly with ':'")
        })
    }
}

/// Whether a text can be a name in CUE.
pub(crate) fn is_name(text: &str) -> bool {
    let rest = text.strip_prefix("_#").or_else(|| text.strip_prefix('#')).unwrap_or(text);
    let starts = rest.chars().next().is_some_and(|it| it.is_alphabetic() || "_$".contains(it));
    starts && rest.chars().all(|it| it.is_alphanumeric() || "_$".contains(it))
}

/// Whether an argument is a package, by how it is written.
fn is_package(text: &str) -> bool {
    match text {
        "." | ".." => return true,
        "" | "-" => return false,
        _ => {}
    }
    let ImportPath { path, version, qualifier } = import_path(text);
    if let Some(qualifier) = qualifier {
        let file = path.contains(':') || path == "-";
        return !file && (is_name(qualifier) || path.contains('/'));
    }
    match version {
        Some(version) => !version.contains('/'),
        None => ending(text).is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str]) -> Result<Arguments, String> {
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        arguments(&texts).map_err(|it| it.to_string())
    }

    #[test]
    fn a_qualifier_holds_up_to_the_next() {
        let found = all(&["./x", "a.cue", "json:", "b", "-", "yaml+data:", "c.json"]).unwrap();
        assert_eq!(found.packages, ["./x"]);
        let kinds: Vec<_> =
            found.files.iter().map(|it| (it.name.as_str(), it.kind.encoding)).collect();
        let wanted = [
            ("a.cue", Encoding::Cue),
            ("b", Encoding::Json),
            ("-", Encoding::Json),
            ("c.json", Encoding::Yaml),
        ];
        assert_eq!(kinds, wanted);
        assert_eq!(found.files[3].kind.form, Some(Form::Data));
    }

    /// As v0.17.1 says it, but for what is not read here.
    #[test]
    fn what_is_no_argument() {
        for (texts, wanted) in [
            (&["foo.bar"][..], "unknown file extension .bar"),
            (&["nope:", "x"], "unknown filetype nope"),
            (&["json:x.json"], ""),
            (
                &["json:./x.json"],
                "cannot combine file type and file name; did you mean \"json: ./x.json\"?",
            ),
            (&["json:"], "scoped qualifier \"json:\" without file"),
            (&["json=1:", "x"], "cannot specify value for tag \"json\""),
            (&["openapi+openOnlyWhenExplicit:", "x"], "field \"openOnlyWhenExplicit\" not allowed"),
            (&["strict:", "x"], "tag strict is not allowed in this context"),
            (&["jsonschema+openapi:", "x"], "invalid tag combination"),
            (&["jsonschema+data:", "x"], "invalid tag combination"),
            (&["x.proto"], "proto: Protocol Buffers is not read by this command"),
            (&["-", ""], "empty file name"),
            (&["json:", "-", "./..."], ""),
            (&["graph:", "./..."], "unknown file extension ."),
            (&["text+schema:", "x"], "invalid tag combination"),
            (&["json+yaml:", "x"], "invalid tag combination"),
        ] {
            let told = all(texts).err().unwrap_or_default();
            if !wanted.is_empty() {
                assert_eq!(told, wanted, "{texts:?}");
            }
        }
    }

    #[test]
    fn where_output_goes() {
        let play = |out: Option<&str>, file: Option<&str>| {
            let found = output(out, file, Verb::Export).map_err(|it| it.to_string())?;
            Ok::<_, String>((found.name, found.encoding?))
        };
        assert_eq!(play(None, None), Ok(("-".into(), Encoding::Json)));
        assert_eq!(play(Some("yaml"), None), Ok(("-".into(), Encoding::Yaml)));
        assert_eq!(play(None, Some("text:foo")), Ok(("foo".into(), Encoding::Text)));
        assert_eq!(play(None, Some("x.toml")), Ok(("x.toml".into(), Encoding::Toml)));
        assert_eq!(play(Some("json"), Some("x.toml")), Ok(("x.toml".into(), Encoding::Json)));
        assert_eq!(play(Some("cue+data"), None), Ok(("-".into(), Encoding::Cue)));
        for (out, file, wanted) in [
            (Some("xml"), None, "unsupported encoding \"xml\""),
            (None, Some("x.go"), "unsupported encoding \"code\""),
            (Some("cue+graph"), None, "no encoding specified"),
            (Some("json+auto"), None, "unsupported interpretation \"auto\""),
        ] {
            // Which is told once everything is loaded.
            let found = output(out, file, Verb::Export).unwrap();
            assert_eq!(found.encoding, Err(wanted.to_owned()));
        }
        assert_eq!(play(None, Some("x.bar")), Err("unknown file extension .bar".into()));
    }
}
