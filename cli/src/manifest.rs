//! Reading manifests: files, folders, stdin; several documents each; JSON or YAML.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::exit::bad_input;

/// One document and where it stands.
#[derive(Clone, Debug)]
pub struct Document {
    /// File name, or `stdin`.
    pub file: String,
    /// 1-based number of the document in the file.
    pub number: usize,
    /// The object.
    pub object: Value,
}

impl std::fmt::Display for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: document {}", self.file, self.number)
    }
}

/// All documents of `files` (`-` is stdin, a folder its YAML and JSON files), empty ones left out.
///
/// # Errors
/// When a file cannot be read or does not parse: names the file, the document, line and column.
pub fn read(files: &[PathBuf]) -> anyhow::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for file in files {
        if file == Path::new("-") {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            parse("stdin", &text, &mut documents)?;
        } else if file.is_dir() {
            let mut inside: Vec<PathBuf> = std::fs::read_dir(file)
                .map_err(|error| bad_input(format!("{}: {error}", file.display())))?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| {
                    path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json")
                })
                .collect();
            inside.sort();
            if inside.is_empty() {
                return Err(bad_input(format!(
                    "{}: no .yaml, .yml or .json files",
                    file.display()
                )));
            }
            for path in inside {
                read_file(&path, &mut documents)?;
            }
        } else {
            read_file(file, &mut documents)?;
        }
    }
    Ok(documents)
}

fn read_file(path: &Path, documents: &mut Vec<Document>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
    parse(&path.display().to_string(), &text, documents)
}

fn parse(file: &str, text: &str, documents: &mut Vec<Document>) -> anyhow::Result<()> {
    for (index, document) in serde_yaml::Deserializer::from_str(text).enumerate() {
        let number = index + 1;
        let object = Value::deserialize(document).map_err(|error| {
            let at = error
                .location()
                .map(|at| format!(":{}:{}", at.line(), at.column()))
                .unwrap_or_default();
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or(&why).to_owned();
            bad_input(format!("{file}{at}: document {number} is no valid YAML: {why}"))
        })?;
        match object {
            Value::Null => {}
            Value::Object(ref map) if map.get("kind") == Some(&Value::from("List")) => {
                let items = map.get("items").and_then(Value::as_array).cloned();
                for object in items.unwrap_or_default() {
                    documents.push(Document { file: file.into(), number, object });
                }
            }
            Value::Object(_) => documents.push(Document { file: file.into(), number, object }),
            other => {
                return Err(bad_input(format!(
                    "{file}: document {number} is no object but {}",
                    kind(&other)
                )));
            }
        }
    }
    Ok(())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_and_empty_ones_left_out() {
        let mut documents = Vec::new();
        parse("a.yaml", "kind: A\n---\n---\nkind: List\nitems: [{kind: B}]\n", &mut documents)
            .unwrap();
        let kinds: Vec<_> = documents.iter().map(|it| it.object["kind"].clone()).collect();
        assert_eq!(kinds, ["A", "B"]);
    }

    #[test]
    fn a_broken_document_is_named_with_its_place() {
        let error = parse("a.yaml", "kind: A\n---\nkind: [\n", &mut Vec::new()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("a.yaml:") && text.contains("document 2"), "{text}");
        let error = parse("a.yaml", "- x\n", &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "a.yaml: document 1 is no object but a list");
    }
}
