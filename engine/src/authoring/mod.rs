//! A definition as its author writes it (`"name": {type, …}` and `template: {…}`) becomes the object of a cluster.

mod check; // templates by themselves
mod header; // what stands beside the template
mod refused; // what is wrong, and where
pub mod upgrade; // templates for older CUE

use cue_session::{Profile, ProgramSpec, Runtime, Source, suggest};
use cue_syntax::ast::{Decl, ExprKind, Field, Span};
use cue_syntax::{Style, format_tree, parse_older, parse_tree};
use serde_json::Value;

use self::header::Header;
use self::refused::Wrong;

pub use self::check::{Checked, check};
pub use self::refused::{Error, Refused};

/// The object of the definition that `source` declares.
///
/// # Errors
/// What is wrong with it.
pub fn render(runtime: &dyn Runtime, source: &str) -> Result<Value, Error> {
    read(runtime, "definition.cue", source).map_err(|it| it.error)
}

/// The same for the text of `file`.
///
/// # Errors
/// What is wrong with it, at its places in the file; with hints.
pub fn read(runtime: &dyn Runtime, file: &str, source: &str) -> Result<Value, Refused> {
    definition(runtime, file, source).map_err(|it| {
        let mut refused = it.told(file, source);
        let spec = ProgramSpec {
            sources: vec![Source::new(file, source)],
            packages: Vec::new(),
            profile: Profile::KubeVela,
        };
        suggest(&spec, || None, &mut refused.wrong);
        refused
    })
}

fn definition(runtime: &dyn Runtime, file: &str, source: &str) -> Result<Value, Wrong> {
    let parsed = parse_older(source);
    if !parsed.errors.is_empty() {
        return Err(Wrong::syntax(parsed.errors));
    }
    let mut headers: Vec<(&str, &Field)> = Vec::new();
    let mut template = None;
    for decl in &parsed.file.decls {
        let Decl::Field(field) = decl else { continue };
        let Some(name) = field.label.name() else { continue };
        if name == "template" {
            template = Some(field);
        } else if let Some((first, _)) = headers.iter().find(|(first, _)| *first != name) {
            let error = Error::TwoNames((*first).into(), name.into());
            return Err(Wrong::at(error, field.label_span));
        } else {
            headers.push((name, field));
        }
    }
    let Some((name, first)) = headers.first().copied() else {
        return Err(Wrong::at(Error::NoHeader, Span::default()));
    };
    let template = template.ok_or_else(|| Wrong::at(Error::NoTemplate, first.label_span))?;
    let ExprKind::Struct(_) = &template.value.kind else {
        return Err(Wrong::at(Error::TemplateShape, template.value.span));
    };
    let mut text = String::new();
    let imports = import_texts(source);
    if !imports.is_empty() {
        text.push_str(&imports.join("\n\n"));
        text.push('\n');
    }
    text.push_str(&inside(source, template.value.span));
    Header::read(runtime, file, source, name, &headers)?.object(&text)
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
    if errors.is_empty() { format_tree(&tree, Style::Former) } else { format!("{text}\n") }
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
