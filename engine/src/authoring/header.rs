//! The header of a definition, `"name": {type, attributes, …}`, and the object that it and a template make.

use std::borrow::Cow;

use cue_session::{Budget, Profile, Program, ProgramSpec, Runtime, Source};
use cue_syntax::ast::{Decl, Expr, ExprKind, Field, Span};
use cue_syntax::parse_older;
use serde_json::{Map, Value, json};

use super::refused::{Error, Wrong, first_of};
use super::{inside, slice};
use crate::api::names::annotation;
use crate::api::{DefinitionKind, DefinitionSpec, V1BETA1};

/// Prefix of labels and annotations that authors choose.
const CUSTOM: &str = "custom.definition.oam.dev/";

/// What labels and annotations of definitions have in common.
const OWNED: &str = "definition.oam.dev/";

/// Status texts, which may be given as blocks.
const STATUS: [&str; 3] = ["healthPolicy", "customStatus", "details"];

/// A header: as it is written, and its value.
pub(super) struct Header<'a> {
    name: &'a str,
    /// Fields of its name; more than one, if it is written in parts.
    fields: &'a [(&'a str, &'a Field)],
    value: Map<String, Value>,
}

impl<'a> Header<'a> {
    /// Evaluates the header in `source`, the text of `file`; status given as blocks becomes text.
    pub(super) fn read(
        runtime: &dyn Runtime,
        file: &str,
        source: &str,
        name: &'a str,
        fields: &'a [(&'a str, &'a Field)],
    ) -> Result<Self, Wrong> {
        let mut pieces: Vec<(Span, Cow<'_, str>)> = Vec::new();
        for (_, field) in fields {
            let mut blocks = Vec::new();
            status_blocks(&field.value, &["attributes", "status"], &mut blocks);
            let mut at = field.span.start;
            for (key, span) in &blocks {
                let body = inside(source, *span);
                check_status(name, key, &body, "block").map_err(|it| Wrong::at(it, *span))?;
                let before = Span { start: at, end: span.start };
                pieces.push((before, slice(source, before).into()));
                pieces.push((*span, cue_syntax::unquote::quote(body.trim_end()).into()));
                at = span.end;
            }
            let rest = Span { start: at, end: field.span.end };
            pieces.push((rest, slice(source, rest).into()));
        }
        let program = Program::new(ProgramSpec {
            sources: vec![Source::new(file, in_place(source, &pieces))],
            packages: Vec::new(),
            profile: Profile::KubeVela,
        });
        let mut session = runtime.start(&program, Vec::new(), Budget::DEFINITION)?;
        let quoted = cue_syntax::unquote::quote(name);
        let Some(Value::Object(value)) = session.value(&quoted)? else {
            return Err(Wrong::at(
                Error::NoHeader,
                fields.first().map_or_else(Span::default, |it| it.1.value.span),
            ));
        };
        let header = Self { name, fields, value };
        for key in STATUS {
            let status = header.value.get("attributes").and_then(|it| it.get("status"));
            if let Some(body) = status.and_then(|it| it.get(key)).and_then(Value::as_str) {
                check_status(name, key, body, "string")
                    .map_err(|it| header.wrong(it, &["attributes", "status", key]))?;
            }
        }
        Ok(header)
    }

    /// An error of the field at a path in the header.
    fn wrong(&self, error: Error, path: &[&str]) -> Wrong {
        let placed = self.fields.iter().find_map(|(_, field)| value_at(&field.value, path));
        let whole = || self.fields.first().map_or_else(Span::default, |it| it.1.label_span);
        Wrong::at(error, placed.map_or_else(whole, |it| it.span))
    }

    fn texts(&self, key: &str) -> Result<Map<String, Value>, Wrong> {
        let mut found = Map::new();
        for (label, value) in self.value.get(key).and_then(Value::as_object).into_iter().flatten() {
            let Value::String(_) = value else {
                let error = Error::not_text(format!("{}.{key}.{label}", self.name), value);
                return Err(self.wrong(error, &[key, label]));
            };
            // A key that names its owner already is taken as it is.
            let owned = label.contains(OWNED);
            let key = if owned { label.clone() } else { format!("{CUSTOM}{label}") };
            found.insert(key, value.clone());
        }
        Ok(found)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Wrong> {
        match self.value.get(key) {
            None => Ok(None),
            Some(Value::String(it)) => Ok(Some(it.clone())),
            Some(other) => {
                let error = Error::not_text(format!("{}.{key}", self.name), other);
                Err(self.wrong(error, &[key]))
            }
        }
    }

    /// The object of a cluster, with `template`.
    pub(super) fn object(&self, template: &str) -> Result<Value, Wrong> {
        let kind = match self.text("type")? {
            None => None,
            Some(it) => {
                let mut all = DefinitionKind::CURRENT.into_iter().chain([DefinitionKind::Workload]);
                let known = all.find(|kind| kind.source_type() == it);
                Some(known.ok_or_else(|| self.wrong(Error::Type(it), &["type"]))?)
            }
        };
        let mut annotations = self.texts("annotations")?;
        for (key, label) in [("description", annotation::DESCRIPTION), ("alias", annotation::ALIAS)]
        {
            if let Some(text) = self.text(key)? {
                annotations.insert(label.into(), text.into());
            }
        }
        let labels = self.texts("labels")?;
        let spec = self.value.get("attributes").and_then(Value::as_object);
        let mut spec = spec.cloned().unwrap_or_default();
        let read: DefinitionSpec = serde_json::from_value(Value::Object(spec.clone()))
            .map_err(|error| self.wrong(Error::Spec(error.to_string()), &["attributes"]))?;
        if let Some(unknown) = read.rest.keys().next() {
            let error = Error::UnknownField(unknown.clone());
            return Err(self.wrong(error, &["attributes", unknown]));
        }
        spec.insert("schematic".into(), json!({ "cue": { "template": template } }));
        let mut metadata = Map::new();
        metadata.insert("annotations".into(), Value::Object(annotations));
        if !labels.is_empty() {
            metadata.insert("labels".into(), Value::Object(labels));
        }
        metadata.insert("name".into(), self.name.into());
        let mut object = Map::new();
        if let Some(kind) = kind {
            object.insert("apiVersion".into(), V1BETA1.into());
            object.insert("kind".into(), kind.kind().into());
        }
        object.insert("metadata".into(), Value::Object(metadata));
        object.insert("spec".into(), Value::Object(spec));
        Ok(Value::Object(object))
    }
}

/// What is written at a path below a struct.
fn value_at<'a>(value: &'a Expr, path: &[&str]) -> Option<&'a Expr> {
    let Some((first, rest)) = path.split_first() else { return Some(value) };
    let ExprKind::Struct(decls) = &value.kind else { return None };
    decls.iter().find_map(|decl| match decl {
        Decl::Field(field) if field.label.name() == Some(first) => value_at(&field.value, rest),
        _ => None,
    })
}

/// Pieces of a text where they stand in it, with blanks for all else, so that places in it are places in the text. One
/// that is not what stood there takes as many lines.
fn in_place(source: &str, pieces: &[(Span, Cow<'_, str>)]) -> String {
    let blank = |span: Span, out: &mut String| {
        let skipped = slice(source, span);
        let last = skipped.rfind('\n').map_or(0, |at| at + 1);
        out.extend(skipped.matches('\n'));
        out.extend(std::iter::repeat_n(' ', skipped.len() - last));
    };
    let (mut out, mut at) = (String::new(), 0);
    for (span, piece) in pieces {
        blank(Span { start: at, end: span.start }, &mut out);
        out.push_str(piece);
        if matches!(piece, Cow::Owned(_)) {
            blank(*span, &mut out);
        }
        at = span.end;
    }
    out.push('\n');
    out
}

fn status_blocks<'a>(value: &'a Expr, path: &[&str], found: &mut Vec<(&'a str, Span)>) {
    let ExprKind::Struct(decls) = &value.kind else { return };
    for decl in decls {
        let Decl::Field(field) = decl else { continue };
        let Some(name) = field.label.name() else { continue };
        match path.split_first() {
            Some((first, rest)) if *first == name => status_blocks(&field.value, rest, found),
            None if STATUS.contains(&name) => {
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
    if !parsed.errors.is_empty() {
        return refuse(format!(
            "attributes.status.{key} field failed validation: invalid cue content in {form} literal: {}",
            first_of(&parsed.errors)
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

#[cfg(test)]
mod tests {
    use cue_session::NativeRuntime;

    use crate::authoring::read;

    /// What is told of a source that is no definition: path, message, line and column, hints.
    fn told(source: &str) -> Vec<String> {
        let refused = read(&NativeRuntime::default(), "it.cue", source).expect_err("no definition");
        let tell = |it: &cue_session::Diagnostic| {
            let places: Vec<String> = it
                .positions
                .iter()
                .map(|at| format!("{}:{}:{}", at.file, at.line, at.column))
                .collect();
            let path = if it.path.is_empty() { String::new() } else { format!("{}: ", it.path) };
            format!("{path}{} @ {} {}", it.message, places.join(" "), it.hints.join(" "))
                .trim()
                .to_owned()
        };
        refused.wrong.iter().map(tell).collect()
    }

    #[test]
    fn errors_of_headers_have_the_places_their_author_wrote_them_at() {
        let cases = [
            ("\ntemplate: {}\n", "no metadata found, invalid @ it.cue:1:1"),
            ("a: {}\n", "no template found, invalid @ it.cue:1:1"),
            (
                "a: {}\ntemplate: 5\n",
                "unexpected decl found in template: it must be a struct @ it.cue:2:11",
            ),
            (
                "a: {}\n\nb: {}\ntemplate: {}\n",
                "duplicated definition name found, a and b @ it.cue:3:1",
            ),
            (
                "a: {\n\ttype: \"trat\"\n}\ntemplate: {}\n",
                "invalid type trat @ it.cue:2:8 did you mean \"trait\"?",
            ),
            (
                "a: type: \"trait\"\na: {\n\tlabels: \"x.y/z\": 5\n}\ntemplate: {}\n",
                "a.labels.x.y/z: cannot use value 5 (type int) as string @ it.cue:3:19",
            ),
            (
                "a: {type: \"trait\", attributes: {podDisruptiv: true}}\ntemplate: {}\n",
                "invalid definition spec: json: unknown field \"podDisruptiv\" @ it.cue:1:47",
            ),
            ("a: {\ntemplate: {}\n", "expected '}', found 'EOF' @ it.cue:2:14"),
        ];
        for (source, wanted) in cases {
            assert_eq!(told(source), [wanted], "{source}");
        }
    }

    #[test]
    fn what_blocks_of_status_become_takes_as_many_lines() {
        let source = "template: {}\n// Above.\na: {\n\ttype: \"component\"\n\tattributes: {\n\t\tstatus: {\n\t\t\tcustomStatus: #\"\"\"\n\t\t\t\tmessage: \"\"\n\t\t\t\t\"\"\"#\n\t\t\thealthPolicy: {\n\t\t\t\tisHealth: true\n\t\t\t}, x: nobody\n\t\t}\n\t}\n\tdescription: \"a\" & \"b\"\n}\n";
        assert_eq!(
            told(source),
            ["a.attributes.status.x: reference \"nobody\" not found @ it.cue:12:10",]
        );
        let source = source.replace("nobody", "1");
        assert_eq!(
            told(&source),
            ["a.description: conflicting values \"b\" and \"a\" @ it.cue:15:15 it.cue:15:21"]
        );
    }

    #[test]
    fn status_that_lacks_what_it_is_for_is_told_where_it_stands() {
        let source = "a: {type: \"component\", attributes: status: {\n\thealthPolicy: {a: 1}\n}}\ntemplate: {}\n";
        let wanted = "failed to parse metadata \"a\": healthPolicy must contain an 'isHealth' field @ it.cue:2:16";
        assert_eq!(told(source), [wanted]);
    }
}
