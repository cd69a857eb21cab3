//! Where a schema is in CUE: definitions by their names, everything else that is referred to under `_#defs`, and other
//! documents as packages.

use std::collections::hash_map::Entry;

use cue_syntax::tree::NodeId;

use super::builder::{Label, Path, selected};
use super::data::{Data, Id, is_name};
use super::state::Info;
use super::url::Url;
use super::{Base, Decoder, Definition, Names, pointer, pointer_of};

impl Decoder<'_> {
    /// That a value is to be a definition.
    pub(super) fn refer_to(&mut self, value: Id) {
        if let Entry::Vacant(entry) = self.by_value.entry(value) {
            entry.insert(None);
            self.referred.push(value);
            self.dangling += 1;
        }
    }

    /// What stands for a schema where it is: a reference if it is defined elsewhere.
    pub(super) fn defined(&mut self, value: Id, expr: NodeId, info: &Info) -> NodeId {
        let Some(definition) = self.definition_of(value) else { return expr };
        if definition.path.0.is_empty() {
            return expr;
        }
        let local = definition.import.is_empty();
        if local && !self.builder.put(&definition.path, expr, info.comment()) {
            let path = &definition.path;
            self.problem(value, format!("redefinition of schema CUE path {path}"));
            return expr;
        }
        self.refer(value, &definition).unwrap_or(expr)
    }

    fn definition_of(&mut self, value: Id) -> Option<Definition> {
        match self.by_value.get(&value)? {
            Some(known) => return Some(known.clone()),
            // What referred to it did not know yet.
            None => self.again = true,
        }
        let definition = self.define(value)?;
        self.by_value.insert(value, Some(definition.clone()));
        self.dangling = self.dangling.saturating_sub(1);
        Some(definition)
    }

    fn define(&mut self, value: Id) -> Option<Definition> {
        let base = self.innermost();
        let fragment = pointer_of(&self.data.path(value, base.value));
        let url = base.url.with_fragment(fragment);
        let text = url.text();
        if let Some(known) = self.by_url.get(&text) {
            return Some(known.clone());
        }
        let steps = self.data.path(value, Data::ROOT);
        match self.local(&pointer::names_of(&steps)) {
            Ok(path) => {
                let definition = Definition { import: String::new(), path };
                self.by_url.insert(text, definition.clone());
                Some(definition)
            }
            Err(why) => {
                let names = pointer::names_of(&steps);
                let path: Vec<Label> = names.iter().map(|it| Label::field(it)).collect();
                let place = format!("id={text} localPath={}", Path(path));
                self.problem(value, format!("cannot get reference for {place}: {why}"));
                None
            }
        }
    }

    /// Where a schema is that is referred to.
    pub(super) fn located(&mut self, url: &Url, base: &Base) -> Result<Definition, String> {
        if let Some(known) = self.by_url.get(&url.text()) {
            return Ok(known.clone());
        }
        let anchor = !url.fragment.is_empty() && !url.fragment.starts_with('/');
        let own = url.is_same_document(&self.root_url) || url.is_same_document(&base.url);
        let told = |place: String, why: String| {
            let text = "cannot determine CUE location for JSON Schema location";
            format!("{text} {place}: {why}")
        };
        if anchor || !own {
            let place = format!("id={}", url.text());
            return self.elsewhere(url).map_err(|why| told(place, why));
        }
        let found = pointer::find(self.data, base.value, &url.fragment);
        let target = found.ok_or("reference to non-existent schema")?;
        if let Some(Some(known)) = self.by_value.get(&target) {
            return Ok(known.clone());
        }
        self.refer_to(target);
        let names = pointer::names_of(&self.data.path(target, Data::ROOT));
        let path = self.local(&names).map_err(|why| {
            let path = Path(names.iter().map(|it| Label::field(it)).collect());
            told(format!("id={} localPath={path}", url.text()), why)
        })?;
        Ok(Definition { import: String::new(), path })
    }

    /// The place of a schema in this document, by the names that lead to it.
    fn local(&self, names: &[String]) -> Result<Path, String> {
        match self.config.names {
            Names::OpenApi => schema_of_open_api(names),
            Names::Usual => Ok(definition(names)),
        }
    }

    /// The place of a schema in another document.
    fn elsewhere(&self, url: &Url) -> Result<Definition, String> {
        if !url.fragment.is_empty() && !url.fragment.starts_with('/') {
            return Err(format!("anchors ({}) not supported", url.fragment));
        }
        let path = self.local(&pointer::names(&url.fragment))?;
        Ok(Definition { import: import_of(url), path })
    }

    /// A reference to a definition.
    pub(super) fn refer(&mut self, value: Id, definition: &Definition) -> Option<NodeId> {
        let Definition { import, path } = definition;
        if import.is_empty() {
            let found = self.builder.reference(&mut self.made, path);
            if found.is_none() {
                let text = "must be expressed as an identifier";
                let text = format!("initial element of path \"{path}\" {text}");
                self.problem(value, format!("cannot generate reference: {text}"));
            }
            return found;
        }
        let Some(name) = package_name(import) else {
            let text = "cannot determine package name from import path";
            self.problem(value, format!("{text} {import:?}"));
            return None;
        };
        let package = self.made.package(import, &name);
        Some(selected(&mut self.made, package, &path.0))
    }
}

/// The place of a schema: `#name`, or `_#defs` for what is none of the definitions.
fn definition(names: &[String]) -> Path {
    match names {
        [] => Path::default(),
        [group, name] if matches!(group.as_str(), "definitions" | "$defs") => named("#", name),
        _ => {
            let pointer = pointer::of_names(names.iter().map(String::as_str));
            Path(vec![Label::named("_#defs"), Label::field(&pointer)])
        }
    }
}

fn schema_of_open_api(names: &[String]) -> Result<Path, String> {
    match names {
        [first, second, name] if first == "components" && second == "schemas" => {
            Ok(named("#SchemaMap", name))
        }
        _ => Err(format!(
            "openapi: reference must be of the form \"#/components/schemas/\"; found \"#/{}\"",
            names.join("/")
        )),
    }
}

/// `#name`, or a field of a definition where that is no name or the definition's own.
fn named(group: &str, name: &str) -> Path {
    let plain = !name.starts_with(['#', '_']) && is_name(name);
    match plain && group.get(1..) != Some(name) {
        true => Path(vec![Label::named(&format!("#{name}"))]),
        false => Path(vec![Label::named(group), Label::field(name)]),
    }
}

/// The path of the package that another document is.
fn import_of(url: &Url) -> String {
    if !url.opaque.is_empty() {
        return base64(url.opaque.as_bytes());
    }
    let path = url.path.trim_end_matches('/');
    let last = match path.rsplit('/').next() {
        Some("") | None if url.path.is_empty() => ".",
        Some("") | None => "/",
        Some(last) => last,
    };
    if is_name(last) {
        return format!("{}{}", url.host, url.path);
    }
    let stem = last.strip_suffix(".json").unwrap_or(last);
    let name = if is_name(stem) { stem } else { "schema" };
    format!("{}{}:{name}", url.host, url.path)
}

/// The name of a package by its path, if it has one.
pub(super) fn package_name(path: &str) -> Option<String> {
    let colon = path.rfind(['/', ':']).filter(|at| path[*at..].starts_with(':'));
    if let Some(at) = colon {
        return Some(path[at + 1..].to_owned()).filter(|it| !it.is_empty());
    }
    let bare = path.split('@').next().unwrap_or(path);
    let last = bare.rsplit('/').next().unwrap_or(bare);
    let plain = is_name(last) && !last.starts_with('#') && last != "_";
    plain.then(|| last.to_owned())
}

/// Base64 for URLs, without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=chunk.len() {
            let index = (all >> (18 - 6 * digit)) & 63;
            out.push(char::from(DIGITS[index as usize]));
        }
    }
    out
}
