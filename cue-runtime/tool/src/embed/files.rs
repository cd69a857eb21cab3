//! What `@embed(…)` asks for: a file or those that match a pattern, read as data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cue_eval::builtin::{self, CallContext, Datum, Item, Member, Run};
use cue_eval::evaluation::print_json;
use cue_session::Position;
use cue_syntax::ast::ExprKind;
use cue_syntax::unquote::quote;

use super::splice::Data;
use crate::data::{self, Encoding};
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

/// The data that an attribute of a file in `folder` asks for.
pub(super) fn value(folder: &Path, body: &str) -> Result<Data, Wrong> {
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
        let (text, part) = one(folder, file, kind)?;
        return Ok(Data { text, parts: vec![(0, file.to_owned(), part)] });
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
    let mut data = Data { text: "{".into(), parts: Vec::new() };
    for file in found.iter().filter(|it| !folder.join(it).is_dir()) {
        if data.text.len() > 1 {
            data.text.push_str(", ");
        }
        data.text.push_str(&format!("{}: ", quote(file)));
        let (text, part) = one(folder, file, kind)?;
        data.parts.push((data.text.len(), file.clone(), part));
        data.text.push_str(&text);
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
fn one(folder: &Path, file: &str, kind: &str) -> Result<(String, Arc<Located>), Wrong> {
    let encoding = match encoding(file, kind) {
        Ok(encoding) => encoding,
        Err(message) => return wrong(message),
    };
    let path = folder.join(file);
    if path.is_dir() {
        return wrong("cannot embed directories");
    }
    let Ok(bytes) = read::bytes(&path) else {
        return wrong(format!("open {file}: no such file or directory"));
    };
    let encoding = match encoding {
        Some(Encoding::Cue) | None => {
            let name = if encoding.is_none() { "textproto" } else { "cue" };
            let why = if encoding.is_none() {
                ": requires support for schema-guided decoding"
            } else {
                ""
            };
            return wrong(format!("encoding {name:?} not (yet) supported{why}"));
        }
        Some(encoding) => encoding,
    };
    let values = data::read(encoding, file, &bytes).and_then(data::Read::all).map_err(|all| {
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
            // Nothing can be imported where this is put in.
            let it = match value.located.timed {
                true => Located { text: print_json(&value.datum), ..Located::default() },
                false => value.expression(),
            };
            Ok((it.text.clone(), Arc::new(it)))
        }
        [_] => wrong("encoding \"jsonl\" not (yet) supported: requires support for streaming"),
        _ => wrong("streaming not implemented: found more than one value in file"),
    }
}

/// What a file is by its type, else by its name; none where a schema would have to say.
fn encoding(file: &str, kind: &str) -> Result<Option<Encoding>, String> {
    if matches!((kind, filetype::ending(file)), ("textproto", _) | ("", "textproto" | "textpb")) {
        return Ok(None);
    }
    let argument = if kind.is_empty() { Vec::new() } else { vec![format!("{kind}:")] };
    let arguments: Vec<String> = argument.into_iter().chain([folder::dotted(file)]).collect();
    match filetype::arguments(&arguments) {
        Ok(it) => match it.files.first() {
            Some(it) => Ok(Some(it.kind.encoding)),
            None => Err(format!("no encoding specified for file {file:?}")),
        },
        Err(error) => Err(error.to_string()),
    }
}
