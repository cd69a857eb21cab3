//! A chart and its subcharts, out of files.

use serde_json::{Value, json};

use crate::Error;
use crate::files::Files;
use crate::values;

/// Charts in charts at most.
const DEPTH: usize = 10;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// `Chart.yaml`
    pub about: Value,
    /// `values.yaml`
    pub values: Value,
    /// Below `templates/`, by path.
    pub templates: Vec<(String, String)>,
    /// Below `crds/`, by path.
    pub crds: Vec<(String, String)>,
    /// Everything else, for `.Files`.
    pub files: Files,
    /// Below `charts/`.
    pub subcharts: Vec<Chart>,
    /// `values.schema.json`
    pub schema: Option<Value>,
}

impl Chart {
    /// Reads a chart; its `Chart.yaml` is at the root, or in the one folder there is.
    ///
    /// # Errors
    /// What is missing or does not read.
    pub fn read(files: &Files) -> Result<Self, Error> {
        read(files, 0)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.about["name"].as_str().unwrap_or_default()
    }

    /// Its version.
    pub fn version(&self) -> &str {
        self.about["version"].as_str().unwrap_or_default()
    }

    /// What it depends on, as its `Chart.yaml` or its `requirements.yaml` says.
    pub fn dependencies(&self) -> Vec<Value> {
        let own = self.about["dependencies"].as_array().cloned().unwrap_or_default();
        if !own.is_empty() {
            return own;
        }
        let text = self.files.text("requirements.yaml").unwrap_or_default();
        let old: Value = serde_yaml::from_str(&text).unwrap_or_default();
        old["dependencies"].as_array().cloned().unwrap_or_default()
    }
}

fn yaml(files: &Files, path: &str) -> Result<Option<Value>, Error> {
    let Some(text) = files.text(path) else { return Ok(None) };
    let read: Value =
        serde_yaml::from_str(&text).map_err(|error| Error(format!("{path}: {error}")))?;
    Ok(Some(if read.is_null() { json!({}) } else { read }))
}

fn read(files: &Files, depth: usize) -> Result<Chart, Error> {
    if depth > DEPTH {
        return Err(Error("charts nest too deeply".into()));
    }
    let files = &rooted(files)?;
    let about = yaml(files, "Chart.yaml")?.unwrap_or_default();
    if about["name"].as_str().is_none_or(str::is_empty) {
        return Err(Error("Chart.yaml: chart.metadata.name is required".into()));
    }
    let values = yaml(files, "values.yaml")?.unwrap_or_else(values::empty);
    if !values.is_object() {
        return Err(Error("values.yaml: it is no dict".into()));
    }
    let below = |folder: &str| -> Vec<(String, String)> {
        let prefix = format!("{folder}/");
        let inside = files.all().filter(|it| it.0.starts_with(&prefix));
        inside.map(|(path, text)| (path.to_owned(), text)).collect()
    };
    let mut subcharts = Vec::new();
    let mut names: Vec<String> = files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("charts/")?.split('/').next().map(str::to_owned))
        .filter(|it| !it.starts_with(['.', '_']))
        .collect();
    names.dedup();
    for name in names {
        let path = format!("charts/{name}");
        let inside = match files.bytes(&path) {
            Some(packed) if name.ends_with(".tgz") || name.ends_with(".tar.gz") => {
                Files::from_archive(packed)
            }
            Some(_) => continue,
            None => Ok(files.below(&path)),
        };
        let subchart = inside.and_then(|it| read(&it, depth + 1));
        subcharts.push(subchart.map_err(|error| Error(format!("{path}: {error}")))?);
    }
    let schema = match files.text("values.schema.json") {
        Some(text) => Some(
            serde_json::from_str(&text)
                .map_err(|error| Error(format!("values.schema.json: {error}")))?,
        ),
        None => None,
    };
    let apart = ["Chart.yaml", "Chart.lock", "values.yaml", "values.schema.json"];
    Ok(Chart {
        about,
        values,
        templates: below("templates"),
        crds: below("crds"),
        subcharts,
        schema,
        files: files.kept(|path| {
            let folders = ["templates/", "charts/", "crds/"];
            !apart.contains(&path) && !folders.iter().any(|it| path.starts_with(it))
        }),
    })
}

/// The folder with the `Chart.yaml`: archives have one around everything.
fn rooted(files: &Files) -> Result<Files, Error> {
    if files.bytes("Chart.yaml").is_some() {
        return Ok(files.clone());
    }
    let mut folders: Vec<&str> =
        files.iter().filter_map(|(path, _)| path.strip_suffix("/Chart.yaml")).collect();
    folders.retain(|it| !it.contains('/'));
    match folders.as_slice() {
        [one] => Ok(files.below(one)),
        _ => Err(Error("there is no Chart.yaml".into())),
    }
}
