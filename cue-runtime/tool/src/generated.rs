//! `--out jsonschema`: a value as JSON Schema.

use cue_eval::encode::json;
use cue_jsonschema::generate::{self, Closing, schema};
use cue_session::{Profile, Program, ProgramSpec, Runtime, Session, Source};
use cue_syntax::tree::{Group, Kind, NodeId, Tree};
use cue_syntax::{Language, Style, parse_tree_as};

use crate::data::{self, Encoding};
use crate::evaluate::{Asked, BUDGET};
use crate::filetype::Reading;
use crate::output::{datum, told, yaml};
use crate::plan::Unit;
use crate::{Error, Verb, diagnostic, format};

impl Asked<'_> {
    /// The schema, in the form that was asked for.
    pub(crate) fn json_schema(
        &self,
        runtime: &dyn Runtime,
        session: &mut Session,
        path: &str,
    ) -> Result<Vec<u8>, Error> {
        let sources = self.unit.sources.iter().filter(|_| path.is_empty());
        let comments: Vec<String> = sources.flat_map(|it| comments(&it.text)).collect();
        let text = schema(session, path, &comments.join("\n\n"), Closing::Told)
            .map_err(|error| self.undescribed(error))?;
        self.schema_text(runtime, &text)
    }

    /// The description of what `eval` prints, as `eval` prints CUE.
    pub(crate) fn described_as_printed(
        &self,
        runtime: &dyn Runtime,
        printed: &str,
    ) -> Result<Vec<u8>, Error> {
        let mut session = started(runtime, printed)?;
        // What it says stands in no file.
        let unit = &Unit::default();
        let it = Asked { request: self.request, unit, expression: "" };
        let text = match self.request.reading {
            Reading::OpenApi => it.document(runtime, &mut session, "")?,
            _ => it.json_schema(runtime, &mut session, "")?,
        };
        Ok(String::from_utf8_lossy(&text).replace('\t', "    ").into_bytes())
    }

    /// A schema that is CUE, in the form that was asked for.
    fn schema_text(&self, runtime: &dyn Runtime, text: &str) -> Result<Vec<u8>, Error> {
        let request = self.request;
        if request.out == Encoding::Cue {
            // What is left has no braces too many, and is aligned like that.
            let text = format::text("-", text, Style::Value)?;
            let style = if request.verb == Verb::Eval { Style::Spaced } else { Style::Plain };
            let text = self.with_clause(format::text("-", &text, style)?)?;
            return Ok((text.trim_end().to_owned() + "\n").into_bytes());
        }
        let mut session = started(runtime, text)?;
        match request.out {
            Encoding::Json => {
                let text = session.json("");
                let text = told(&mut session, "", text)?;
                Ok((json::indented(&text, request.html()) + "\n").into_bytes())
            }
            Encoding::Yaml => Ok(yaml(&mut session, "", &[])?.into_bytes()),
            out => {
                let datum = datum(&mut session, "")?;
                data::write(out, &datum, request.html(), "")
                    .map_err(|it| Error::Diagnostics(vec![*it]))
            }
        }
    }

    /// Why a value has no schema.
    fn undescribed(&self, error: generate::Error) -> Error {
        match error {
            generate::Error::Session(error) => error.into(),
            generate::Error::Wrong(mut all) => {
                all.sort();
                all.dedup();
                Error::Diagnostics(all.into_iter().map(|it| diagnostic(it, None)).collect())
            }
        }
    }
}

/// A text as a program of its own.
fn started(runtime: &dyn Runtime, text: &str) -> Result<Session, Error> {
    let sources = vec![Source::new("jsonschema", text)];
    let spec = ProgramSpec { sources, packages: Vec::new(), profile: Profile::V017 };
    Ok(runtime.start(&Program::new(spec), Vec::new(), BUDGET)?)
}

/// The comments that are of a file as a whole: those of its package clause, and those directly above its first line;
/// without a clause and such the first one that stands alone.
fn comments(text: &str) -> Vec<String> {
    let (tree, _) = parse_tree_as(text, &Language::NEWEST);
    let Some(root) = tree.root else { return Vec::new() };
    let Kind::File(decls) = &tree[root].kind else { return Vec::new() };
    let clause = decls.iter().find(|it| matches!(tree[**it].kind, Kind::Package(_)));
    let mut all: Vec<&Group> = clause.map_or_else(Vec::new, |it| groups(&tree, *it));
    let of_file = groups(&tree, root);
    all.extend(of_file.iter().filter(|it| it.doc));
    if clause.is_none() && all.is_empty() {
        all.extend(of_file.first());
    }
    all.into_iter().map(words).filter(|it| !it.is_empty()).collect()
}

fn groups(tree: &Tree, id: NodeId) -> Vec<&Group> {
    tree.comments.get(&id).into_iter().flatten().collect()
}

/// A comment without what marks it as one; empty lines in it are one.
fn words(group: &Group) -> String {
    let mut out = String::new();
    for (_, line) in &group.lines {
        let line = line.strip_prefix("//").unwrap_or(line);
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        if !(line.is_empty() && (out.is_empty() || out.ends_with("\n\n"))) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}
