//! `-t key=value`: values for fields with `@tag`.

use cue_session::Source;
use cue_syntax::ast::{Attribute, Decl, ExprKind, Field, Label};
use cue_syntax::unquote::quote;

use crate::Error;

/// A field that a tag may fill.
struct Target {
    path: Vec<String>,
    key: String,
    shorthands: Vec<String>,
    kind: String,
}

/// A file that gives tagged fields their values; none if no tags were given.
pub(crate) fn source(
    sources: &[Source],
    tags: &[String],
    package: Option<&str>,
) -> Result<Option<Source>, Error> {
    if tags.is_empty() {
        return Ok(None);
    }
    let mut targets = Vec::new();
    for source in sources {
        let parsed = cue_syntax::parse_file(&source.text);
        for decl in &parsed.file.decls {
            collect(decl, &mut Vec::new(), &mut targets);
        }
    }
    let mut text = package.map(|it| format!("package {it}\n")).unwrap_or_default();
    for tag in tags {
        let found: Vec<(&Target, &str)> = match tag.split_once('=') {
            Some((key, value)) => {
                targets.iter().filter(|it| it.key == key).map(|it| (it, value)).collect()
            }
            None => targets
                .iter()
                .filter(|it| it.shorthands.contains(tag))
                .map(|it| (it, tag.as_str()))
                .collect(),
        };
        if found.is_empty() {
            let message = match tag.split_once('=') {
                Some((key, _)) => format!("no tag for \"{key}\""),
                None => format!("tag \"{tag}\" not used in any file"),
            };
            return Err(Error::Request(message));
        }
        for (target, value) in found {
            for label in &target.path {
                text.push_str(label);
                text.push_str(": ");
            }
            let value = literal(&target.kind, value).ok_or_else(|| {
                Error::Request(format!("tag \"{}\": {value} is no {}", target.key, target.kind))
            })?;
            text.push_str(&value);
            text.push('\n');
        }
    }
    Ok(Some(Source::new("tags", text)))
}

/// A value of the tag's type.
fn literal(kind: &str, value: &str) -> Option<String> {
    let number = || {
        let parsed = cue_syntax::parse_expr(value).ok()?;
        let digits = match &parsed.kind {
            ExprKind::Unary(_, inner) => matches!(inner.kind, ExprKind::Number(_)),
            other => matches!(other, ExprKind::Number(_)),
        };
        digits.then(|| value.to_owned())
    };
    match kind {
        "int" | "number" => number(),
        "bool" => matches!(value, "true" | "false").then(|| value.to_owned()),
        _ => Some(quote(value)),
    }
}

fn collect(decl: &Decl, path: &mut Vec<String>, targets: &mut Vec<Target>) {
    let Decl::Field(field) = decl else { return };
    let Some(label) = label(field) else { return };
    path.push(label);
    let tagged = field.attributes.iter().filter(|it| it.name == "tag");
    targets.extend(tagged.map(|it| target(it, path)));
    if let ExprKind::Struct(decls) = &field.value.kind {
        for decl in decls {
            collect(decl, path, targets);
        }
    }
    path.pop();
}

fn label(field: &Field) -> Option<String> {
    match &field.label {
        Label::Ident(name) => Some(name.name.to_string()),
        Label::String(text, _) => Some(quote(text)),
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => None,
    }
}

fn target(attribute: &Attribute, path: &[String]) -> Target {
    let mut parts = attribute.body.split(',').map(str::trim);
    let key = parts.next().unwrap_or_default().to_owned();
    let mut target =
        Target { path: path.to_vec(), key, shorthands: Vec::new(), kind: "string".into() };
    for part in parts {
        match part.split_once('=') {
            Some(("short", all)) => {
                target.shorthands = all.split('|').map(|it| it.trim().to_owned()).collect();
            }
            Some(("type", kind)) => kind.trim().clone_into(&mut target.kind),
            _ => {}
        }
    }
    target
}
