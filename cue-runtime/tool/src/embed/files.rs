//! What `@embed(…)` asks for: a file or those that match a pattern, read as data.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cue_eval::builtin::{self, CallContext, Datum, Item, Member, Run};
use cue_eval::evaluation::print_json;
use cue_session::Position;
use cue_syntax::ast::{ExprKind, File};
use cue_syntax::unquote::quote;

use super::splice::Data;
use crate::data::{self, Encoding, Value};
use crate::filetype::{FileType, Reading};
use crate::interpreted::{Schema, interpreted};
use crate::located::Located;
use crate::{diagnostic, filetype, folder, read};

/// What is wrong with an attribute, and where in the file it asks for.
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) inside: Vec<Position>,
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { message: message.into(), inside: Vec::new() })
}

/// The parts of an attribute: keys, which may be empty, and values.
pub(crate) fn arguments(body: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut quoted = None;
    let mut start = 0;
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match (quoted, c) {
            (Some('\\'), _) => quoted = Some('"'),
            (Some('"'), '\\') => quoted = Some('\\'),
            (Some('"'), '"') => quoted = None,
            (None, '"') => quoted = Some('"'),
            (None, ',') | (_, ',') if quoted.is_none() || at == body.len() => {
                let text = body.get(start..at).unwrap_or_default().trim();
                start = at + 1;
                let (key, value) = match text.split_once('=') {
                    Some((key, value)) if !key.contains('"') => (key.trim(), value.trim()),
                    _ => ("", text),
                };
                all.push((key.to_owned(), unquoted(value)));
            }
            _ => {}
        }
    }
    all
}

fn unquoted(text: &str) -> String {
    match cue_syntax::parse_expr(text).map(|it| it.kind) {
        Ok(ExprKind::String(inner)) if text.starts_with(['"', '#']) => inner.to_string(),
        _ => text.to_owned(),
    }
}

/// A file that asks for others: what its own text says decides what packages are called in what is put in.
pub(super) struct Asking<'a> {
    /// The folder it is in.
    pub(super) folder: &'a Path,
    pub(super) file: &'a File,
    pub(super) text: &'a str,
}

impl Asking<'_> {
    /// The names of packages by their paths, and what has to be imported for that.
    fn names(&self, packages: Vec<(String, String)>) -> (HashMap<String, String>, Vec<String>) {
        let mut names = HashMap::new();
        let mut imports = Vec::new();
        for (path, name) in packages {
            let own = self.file.imports.iter().find(|it| it.path == path);
            if let Some(own) = own.filter(|it| !self.declares(it.called())) {
                names.insert(path, own.called().to_owned());
                continue;
            }
            let mut called = name;
            while self.text.contains(&called) {
                called.push_str("_embedded");
            }
            imports.push(format!("import {called} {}", quote(&path)));
            names.insert(path, called);
        }
        (names, imports)
    }

    /// Whether a name could be that of a field.
    fn declares(&self, name: &str) -> bool {
        let mut around = self.text.match_indices(name).map(|it| it.0 + name.len());
        around.any(|at| self.text.get(at..).is_some_and(|it| it.starts_with([':', '?', '!', '='])))
    }
}

/// A value that is put in.
struct One {
    text: String,
    imports: Vec<String>,
    located: Arc<Located>,
}

/// The data that an attribute of a file asks for.
pub(super) fn value(asking: &Asking<'_>, body: &str) -> Result<Data, Wrong> {
    let folder = asking.folder;
    let given = arguments(body);
    let named = |name: &str| given.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str());
    let (file, glob, kind) = (named("file"), named("glob"), named("type"));
    let may_be_empty = given.iter().any(|it| it.0.is_empty() && it.1 == "allowEmptyGlob");
    match (file, glob) {
        ("", "") => return wrong("attribute must have file or glob field"),
        ("", _) => {}
        (_, "") if may_be_empty => {
            return wrong("allowEmptyGlob must be specified with a glob field");
        }
        (_, "") => {}
        _ => return wrong("attribute cannot have both file and glob field"),
    }
    let path = if file.is_empty() { glob } else { file };
    match called("Clean", &[path]) {
        Ok(Datum::String(clean)) if *clean != *path => {
            return wrong(format!("path not normalized, use {:?} instead", &*clean));
        }
        _ if path.starts_with('/') => return wrong("only relative files are allowed"),
        _ if path == ".." || path.starts_with("../") => {
            return wrong("cannot refer to parent directory");
        }
        _ => {}
    }
    if glob.is_empty() {
        elsewhere(folder, file)?;
        let One { text, imports, located } = one(asking, file, kind)?;
        return Ok(Data { text, imports, parts: vec![(0, file.to_owned(), located)] });
    }
    if let Err(why) = called("Match", &[glob, ""]) {
        return wrong(format!("invalid glob pattern {glob:?}: {why}"));
    }
    let base = glob.rsplit('/').next().unwrap_or(glob);
    let end = base.rsplit_once('.').map_or("", |it| it.1);
    if kind.is_empty() && (!base.contains('.') || end.contains(['*', '?', '[', '\\'])) {
        return wrong("extension not fully specified; type argument required");
    }
    let found = matching(folder, glob)?;
    if found.is_empty() && !may_be_empty {
        return wrong(format!("no matches for glob pattern {glob:?}"));
    }
    let mut data = Data { text: "{".into(), ..Data::default() };
    for file in found.iter().filter(|it| !folder.join(it).is_dir()) {
        if data.text.len() > 1 {
            data.text.push_str(", ");
        }
        data.text.push_str(&format!("{}: ", quote(file)));
        let one = one(asking, file, kind)?;
        data.parts.push((data.text.len(), file.clone(), one.located));
        data.text.push_str(&one.text);
        data.imports.extend(one.imports);
    }
    for file in &found {
        elsewhere(folder, file)?;
    }
    data.text.push('}');
    Ok(data)
}

/// That a file is in another module is an error.
fn elsewhere(folder: &Path, file: &str) -> Result<(), Wrong> {
    let outer = Path::new(file).ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    if outer.into_iter().any(|it| folder.join(it).join("cue.mod").exists()) {
        return wrong(format!("cannot embed file {file:?}: in different module"));
    }
    Ok(())
}

/// A function of the package `path`.
fn called(name: &str, texts: &[&str]) -> Result<Datum, String> {
    let member = builtin::package("path").and_then(|it| it.member(name));
    let Some(Member { item: Item::Function(function), .. }) = member else {
        return Err(format!("path.{name} is not there"));
    };
    let Run::Pure(run) = function.run else { return Err(format!("path.{name} is no function")) };
    let given: Vec<Datum> = texts.iter().copied().chain(["unix"]).map(Datum::text).collect();
    run(&mut CallContext::new(1 << 20), &given).map_err(|it| it.message)
}

/// Most names that one pattern finds.
const NAMES: usize = 100_000;

/// Names below the folder that match, by name; those that begin with a point only where the pattern
/// says so.
fn matching(folder: &Path, glob: &str) -> Result<Vec<String>, Wrong> {
    let mut found = vec![String::new()];
    for pattern in glob.split('/') {
        let mut next = Vec::new();
        for outer in &found {
            let inside: PathBuf = folder.join(outer);
            let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { &inside };
            let joined = |name: &str| match outer.as_str() {
                "" => name.to_owned(),
                outer => format!("{outer}/{name}"),
            };
            if !pattern.contains(['*', '?', '[', '\\']) {
                next.extend(Some(joined(pattern)).filter(|_| inside.join(pattern).exists()));
                continue;
            }
            let Ok(entries) = std::fs::read_dir(inside) else { continue };
            let names = entries.filter_map(|it| it.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> = names
                .filter(|it| !it.starts_with('.') || pattern.starts_with('.'))
                .filter(|it| matches!(called("Match", &[pattern, it]), Ok(Datum::Bool(true))))
                .collect();
            names.sort();
            next.extend(names.iter().map(|it| joined(it)));
        }
        if next.len() > NAMES {
            return wrong(format!("glob pattern {glob:?} matches more than {NAMES} files"));
        }
        found = next;
    }
    Ok(found)
}

/// A file's value as CUE.
fn one(asking: &Asking<'_>, file: &str, kind: &str) -> Result<One, Wrong> {
    let folder = asking.folder;
    let kind = match kind_of(file, kind) {
        Ok(kind) => kind,
        Err(message) => return wrong(message),
    };
    let encoding = kind.map(|it| it.encoding);
    let path = folder.join(file);
    if path.is_dir() {
        return wrong("cannot embed directories");
    }
    let Ok(bytes) = read::bytes(&path) else {
        return wrong(format!("open {file}: no such file or directory"));
    };
    let kind = match kind.filter(|it| it.encoding != Encoding::Cue) {
        None => {
            let name = if encoding.is_none() { "textproto" } else { "cue" };
            let why = if encoding.is_none() {
                ": requires support for schema-guided decoding"
            } else {
                ""
            };
            return wrong(format!("encoding {name:?} not (yet) supported{why}"));
        }
        Some(kind) => kind,
    };
    let encoding = kind.encoding;
    let read = data::read(encoding, file, &bytes).map(|it| interpreted(it, &kind, &bytes));
    let values = read.and_then(data::Read::all).map_err(|all| {
        let it = all.into_iter().next().unwrap_or_else(|| diagnostic("no data", None));
        let absolute = read::absolute(Path::new(file));
        let mut message = it.message.replacen(&absolute, file, 1);
        if it.positions.is_empty() {
            message = format!("failed to decode file: {message}");
        }
        let inside = it.positions.into_iter();
        let inside = inside.map(|it| Position { file: format!("\0{}", it.file), ..it }).collect();
        Wrong { message, inside }
    })?;
    match values.as_slice() {
        [value] if encoding != Encoding::JsonLines => {
            if let Some(schema) = &value.schema {
                return Ok(put_in(asking, value, schema));
            }
            // Nothing can be imported where this is put in.
            let it = match value.located.timed {
                true => Located { text: print_json(&value.datum), ..Located::default() },
                false => value.expression(),
            };
            Ok(One { text: it.text.clone(), imports: Vec::new(), located: Arc::new(it) })
        }
        [_] => wrong("encoding \"jsonl\" not (yet) supported: requires support for streaming"),
        _ => wrong("streaming not implemented: found more than one value in file"),
    }
}

/// A schema, with names for the packages in it that mean those where it is put in.
fn put_in(asking: &Asking<'_>, value: &Value, schema: &Schema) -> One {
    let (names, imports) = asking.names(schema.decoded.packages());
    let line = schema.decoded.line_with(&names);
    // The pieces are the same, if longer or shorter.
    let places = line.places.iter().zip(&value.located.places).map(|(new, old)| (new.0, old.1));
    let located = Located { places: places.collect(), text: line.text, ..Located::default() };
    let mut out = Located::default();
    match schema.line.is_expression {
        true => {
            out.add("(");
            out.append(&located);
            out.add(")");
        }
        false => out.enclose(&located),
    }
    One { text: out.text.clone(), imports, located: Arc::new(out) }
}

/// What a file is by its type, else by its name; none where a schema would have to say. No file says of itself that it
/// is a schema here.
fn kind_of(file: &str, kind: &str) -> Result<Option<FileType>, String> {
    if matches!((kind, filetype::ending(file)), ("textproto", _) | ("", "textproto" | "textpb")) {
        return Ok(None);
    }
    let argument = if kind.is_empty() { Vec::new() } else { vec![format!("{kind}:")] };
    let arguments: Vec<String> = argument.into_iter().chain([folder::dotted(file)]).collect();
    match filetype::arguments(&arguments) {
        Ok(it) => match it.files.first() {
            Some(it) if it.kind.reading == Reading::Auto => {
                Ok(Some(FileType { reading: Reading::Plain, ..it.kind }))
            }
            Some(it) => Ok(Some(it.kind)),
            None => Err(format!("no encoding specified for file {file:?}")),
        },
        Err(error) => Err(error.to_string()),
    }
}
