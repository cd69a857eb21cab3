//! A definition as its author writes it (`"name": {type, …}` and `template: {…}`) becomes the object of a cluster.

mod check; // templates by themselves
pub mod upgrade; // templates for older CUE

use cue_session::{Error as CueError, Profile, Program, ProgramSpec, Runtime, Source};
use cue_syntax::ast::{Decl, Expr, ExprKind, Field, Span};
use cue_syntax::{Style, format_tree, parse_older, parse_tree};
use serde_json::{Map, Value, json};

use crate::api::names::annotation;
use crate::api::{DefinitionKind, DefinitionSpec, V1BETA1};

pub use self::check::{Checked, check};

/// Prefix of labels and annotations that authors choose.
const CUSTOM: &str = "custom.definition.oam.dev/";

/// What labels and annotations of definitions have in common.
const OWNED: &str = "definition.oam.dev/";

/// Why a source is no definition.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No header.
    #[error("no metadata found, invalid")]
    NoHeader,
    /// No `template`.
    #[error("no template found, invalid")]
    NoTemplate,
    /// `template` is no struct.
    #[error("unexpected decl found in template: it must be a struct")]
    TemplateShape,
    /// Two headers.
    #[error("duplicated definition name found, {0} and {1}")]
    TwoNames(String, String),
    /// Not a kind of definition.
    #[error("invalid type {0}")]
    Type(String),
    /// The spec has a field its kind does not.
    #[error("invalid definition spec: json: unknown field {0:?}")]
    UnknownField(String),
    /// The spec has a field of the wrong shape.
    #[error("invalid definition spec: {0}")]
    Spec(String),
    /// A header's field has the wrong type.
    #[error("{path}: cannot use value {value} (type {kind}) as string")]
    NotText {
        /// Path of the field.
        path: String,
        /// What stands there.
        value: String,
        /// Its type.
        kind: &'static str,
    },
    /// Status texts are no CUE, or lack what they are for.
    #[error("failed to parse metadata {name:?}: {reason}")]
    Status {
        /// Definition.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The source is no CUE.
    #[error("{0}")]
    Syntax(String),
    /// The header does not evaluate.
    #[error(transparent)]
    Cue(#[from] CueError),
}

/// The object of the definition that `source` declares.
pub fn render(runtime: &dyn Runtime, source: &str) -> Result<Value, Error> {
    let parsed = parse_older(source);
    if let Some(error) = parsed.errors.first() {
        let more = parsed.errors.len() - 1;
        let rest = if more > 0 { format!(" (and {more} more errors)") } else { String::new() };
        return Err(Error::Syntax(format!("{}{rest}", error.message)));
    }
    let mut headers: Vec<(&str, &Field)> = Vec::new();
    let mut template = None;
    for decl in &parsed.file.decls {
        let Decl::Field(field) = decl else { continue };
        let Some(name) = field.label.name() else { continue };
        if name == "template" {
            template = Some(field);
        } else if let Some((first, _)) = headers.iter().find(|(first, _)| *first != name) {
            return Err(Error::TwoNames((*first).into(), name.into()));
        } else {
            headers.push((name, field));
        }
    }
    let Some((name, _)) = headers.first().copied() else { return Err(Error::NoHeader) };
    let template = template.ok_or(Error::NoTemplate)?;
    let ExprKind::Struct(_) = &template.value.kind else { return Err(Error::TemplateShape) };
    let mut text = String::new();
    let imports = import_texts(source);
    if !imports.is_empty() {
        text.push_str(&imports.join("\n\n"));
        text.push('\n');
    }
    text.push_str(&inside(source, template.value.span));
    let header = header(runtime, source, name, &headers)?;
    object(name, &header, &text)
}

fn slice(source: &str, span: Span) -> &str {
    source.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// What stands between a struct's braces, formatted as a file.
fn inside(source: &str, braces: Span) -> String {
    let text = slice(source, braces).replace("\r\n", "\n");
    let text = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(&text);
    let text = text.trim_matches([' ', '\t', '\n']);
    let (tree, errors) = parse_tree(text);
    if errors.is_empty() { format_tree(&tree, Style::Simplified) } else { format!("{text}\n") }
}

/// Import declarations as they stand, without the package clause.
fn import_texts(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if !line.starts_with("import") {
            continue;
        }
        let mut text = line.to_owned();
        if line.contains('(') && !line.contains(')') {
            for line in lines.by_ref() {
                text.push('\n');
                text.push_str(line.trim_end());
                if line.trim_start().starts_with(')') {
                    break;
                }
            }
        }
        found.push(text);
    }
    found
}

/// The header's value; status given as blocks becomes text.
fn header(
    runtime: &dyn Runtime,
    source: &str,
    name: &str,
    headers: &[(&str, &Field)],
) -> Result<Map<String, Value>, Error> {
    let mut text = String::new();
    for (_, field) in headers {
        let mut blocks = Vec::new();
        status_blocks(&field.value, &["attributes", "status"], &mut blocks);
        let whole = field.span;
        let mut at = whole.start;
        for (key, span) in &blocks {
            let body = inside(source, *span);
            check_status(name, key, &body, "block")?;
            text.push_str(slice(source, Span { start: at, end: span.start }));
            text.push_str(&cue_syntax::unquote::quote(body.trim_end()));
            at = span.end;
        }
        text.push_str(slice(source, Span { start: at, end: whole.end }));
        text.push('\n');
    }
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("definition.cue", text)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let mut session = runtime.start(&program, Vec::new(), cue_session::Budget::DEFINITION)?;
    let quoted = cue_syntax::unquote::quote(name);
    let Some(Value::Object(header)) = session.value(&quoted)? else { return Err(Error::NoHeader) };
    for key in ["healthPolicy", "customStatus", "details"] {
        let given = header
            .get("attributes")
            .and_then(|it| it.get("status"))
            .and_then(|it| it.get(key))
            .and_then(Value::as_str);
        if let Some(body) = given {
            check_status(name, key, body, "string")?;
        }
    }
    Ok(header)
}

fn status_blocks<'a>(value: &'a Expr, path: &[&str], found: &mut Vec<(&'a str, Span)>) {
    let ExprKind::Struct(decls) = &value.kind else { return };
    for decl in decls {
        let Decl::Field(field) = decl else { continue };
        let Some(name) = field.label.name() else { continue };
        match path.split_first() {
            Some((first, rest)) if *first == name => status_blocks(&field.value, rest, found),
            None if ["healthPolicy", "customStatus", "details"].contains(&name) => {
                if matches!(field.value.kind, ExprKind::Struct(_)) {
                    found.push((name, field.value.span));
                }
            }
            Some(_) | None => {}
        }
    }
}

fn check_status(name: &str, key: &str, body: &str, form: &str) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Status { name: name.into(), reason });
    let parsed = parse_older(body);
    if let Some(error) = parsed.errors.first() {
        let more = parsed.errors.len() - 1;
        let rest = if more > 0 { format!(" (and {more} more errors)") } else { String::new() };
        return refuse(format!(
            "attributes.status.{key} field failed validation: invalid cue content in {form} literal: {}{rest}",
            error.message
        ));
    }
    let has = |wanted: &str| {
        parsed.file.decls.iter().any(|decl| match decl {
            Decl::Field(field) => field.label.name() == Some(wanted),
            Decl::Embed(_) => true,
            Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => false,
        })
    };
    match key {
        "customStatus" if !has("message") => {
            refuse("customStatus must contain a 'message' field".into())
        }
        "healthPolicy" if !has("isHealth") => {
            refuse("healthPolicy must contain an 'isHealth' field".into())
        }
        _ => Ok(()),
    }
}

fn texts(name: &str, key: &str, header: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
    let mut found = Map::new();
    for (label, value) in header.get(key).and_then(Value::as_object).into_iter().flatten() {
        let Value::String(_) = value else {
            return Err(not_text(format!("{name}.{key}.{label}"), value));
        };
        // A key that names its owner already is taken as it is.
        let owned = label.contains(OWNED);
        let key = if owned { label.clone() } else { format!("{CUSTOM}{label}") };
        found.insert(key, value.clone());
    }
    Ok(found)
}

fn not_text(path: String, value: &Value) -> Error {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "struct",
    };
    Error::NotText { path, value: value.to_string(), kind }
}

fn text_of(name: &str, key: &str, header: &Map<String, Value>) -> Result<Option<String>, Error> {
    match header.get(key) {
        None => Ok(None),
        Some(Value::String(it)) => Ok(Some(it.clone())),
        Some(other) => Err(not_text(format!("{name}.{key}"), other)),
    }
}

fn object(name: &str, header: &Map<String, Value>, template: &str) -> Result<Value, Error> {
    let kind = match text_of(name, "type", header)? {
        None => None,
        Some(it) => {
            let all = DefinitionKind::CURRENT.into_iter().chain([DefinitionKind::Workload]);
            Some(all.into_iter().find(|kind| kind.source_type() == it).ok_or(Error::Type(it))?)
        }
    };
    let mut annotations = texts(name, "annotations", header)?;
    for (key, label) in [("description", annotation::DESCRIPTION), ("alias", annotation::ALIAS)] {
        if let Some(text) = text_of(name, key, header)? {
            annotations.insert(label.into(), text.into());
        }
    }
    let labels = texts(name, "labels", header)?;
    let mut spec = header.get("attributes").and_then(Value::as_object).cloned().unwrap_or_default();
    let read: DefinitionSpec = serde_json::from_value(Value::Object(spec.clone()))
        .map_err(|error| Error::Spec(error.to_string()))?;
    if let Some(unknown) = read.rest.keys().next() {
        return Err(Error::UnknownField(unknown.clone()));
    }
    spec.insert("schematic".into(), json!({ "cue": { "template": template } }));
    let mut metadata = Map::new();
    metadata.insert("annotations".into(), Value::Object(annotations));
    if !labels.is_empty() {
        metadata.insert("labels".into(), Value::Object(labels));
    }
    metadata.insert("name".into(), name.into());
    let mut object = Map::new();
    if let Some(kind) = kind {
        object.insert("apiVersion".into(), V1BETA1.into());
        object.insert("kind".into(), kind.kind().into());
    }
    object.insert("metadata".into(), Value::Object(metadata));
    object.insert("spec".into(), Value::Object(spec));
    Ok(Value::Object(object))
}
