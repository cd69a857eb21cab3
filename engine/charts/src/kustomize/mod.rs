//! A kustomization built: resources, generators, patches, names, labels. What is not known is refused.

mod names; // prefixes, suffixes, hashes, and who refers to them
mod patch; // strategic and JSON patches

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Error;
use crate::files::Files;
use crate::functions::clean;

/// Names that the file may have.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields that are known.
const FIELDS: [&str; 22] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "images",
    "replicas",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "buildMetadata",
    "sortOptions",
    "openapi",
];

/// Kustomizations in kustomizations at most.
const DEPTH: usize = 20;

/// Kinds without a namespace.
const CLUSTER_SCOPED: [&str; 10] = [
    "Namespace",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "PersistentVolume",
    "StorageClass",
    "PriorityClass",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Whether a folder holds a kustomization.
pub fn is_one(files: &Files, folder: &str) -> bool {
    let inside = files.below(folder);
    NAMES.iter().any(|it| inside.bytes(it).is_some())
}

/// Builds the kustomization in a folder.
///
/// # Errors
/// What it says that is wrong, or not known here.
pub fn build(files: &Files, folder: &str) -> Result<Vec<Value>, Error> {
    let mut made = made(files, &clean(folder), 0)?;
    names::hash(&mut made);
    Ok(made.into_iter().map(|it| it.object).collect())
}

/// Every document of the YAML files in a folder: what a folder without a kustomization holds.
///
/// # Errors
/// A file does not read.
pub fn objects(files: &Files, folder: &str) -> Result<Vec<Value>, Error> {
    let mut all = Vec::new();
    for (path, text) in files.below(folder).all() {
        if path.ends_with(".yaml") || path.ends_with(".yml") {
            all.extend(documents(path, &text)?);
        }
    }
    Ok(all)
}

/// An object on its way, and what it was called at first.
pub(crate) struct Made {
    pub(crate) object: Value,
    /// Names it had, first to last: others may refer to any.
    pub(crate) names: Vec<String>,
    /// Its name ends with a hash of what it holds.
    pub(crate) hashed: bool,
}

impl Made {
    fn new(object: Value) -> Self {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Self { object, names: vec![name], hashed: false }
    }

    pub(crate) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}

fn documents(path: &str, text: &str) -> Result<Vec<Value>, Error> {
    let wrong = |reason: String| Error(format!("{path}: {reason}"));
    let mut all = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let object = Value::deserialize(document).map_err(|error| wrong(error.to_string()))?;
        match (&object, object["items"].as_array()) {
            (Value::Null, _) => {}
            (_, Some(items)) if object["kind"] == "List" => all.extend(items.iter().cloned()),
            (Value::Object(_), _) => all.push(object),
            _ => return Err(wrong("it holds something that is no object".into())),
        }
    }
    Ok(all)
}

fn list<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of[key].as_array().into_iter().flatten()
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn made(files: &Files, folder: &str, depth: usize) -> Result<Vec<Made>, Error> {
    if depth > DEPTH {
        return Err(Error("kustomizations nest too deeply, or hold each other".into()));
    }
    let path = |name: &str| clean(&format!("{folder}/{name}"));
    let found = NAMES.iter().map(|it| path(it)).find(|it| files.bytes(it).is_some());
    let Some(file) = found else {
        return Err(Error(format!("{folder}: there is no kustomization.yaml")));
    };
    let said = documents(&file, &files.text(&file).unwrap_or_default())?.into_iter().next();
    let said = said.unwrap_or_else(|| json!({}));
    let wrong = |reason: String| Error(format!("{file}: {reason}"));
    let unknown =
        said.as_object().into_iter().flatten().find(|it| !FIELDS.contains(&it.0.as_str()));
    if let Some((field, _)) = unknown {
        return Err(wrong(format!("{field} is not known here")));
    }
    let read = |name: &str| {
        let at = path(name);
        files.text(&at).ok_or_else(|| wrong(format!("there is no file {name}")))
    };

    let mut all: Vec<Made> = Vec::new();
    for name in list(&said, "resources").chain(list(&said, "bases")).filter_map(Value::as_str) {
        let at = path(name);
        if name.contains("://") || name.starts_with("git@") || name.starts_with("github.com/") {
            return Err(wrong(format!("{name}: resources from elsewhere are not fetched")));
        } else if files.bytes(&at).is_some() {
            all.extend(documents(&at, &read(name)?)?.into_iter().map(Made::new));
        } else if is_one(files, &at) {
            all.extend(made(files, &at, depth + 1)?);
        } else {
            return Err(wrong(format!("there is no file and no kustomization {name}")));
        }
    }
    for (key, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
        for it in list(&said, key) {
            let new = generated(it, kind, &said["generatorOptions"], &read).map_err(wrong)?;
            let same = all
                .iter_mut()
                .find(|other| other.kind() == kind && other.names.contains(&new.names[0]));
            match (text(it, "behavior"), same) {
                ("merge", Some(same)) => {
                    let data = new.object["data"].as_object().cloned().unwrap_or_default();
                    for (key, value) in data {
                        same.object["data"][key.as_str()] = value;
                    }
                }
                ("replace", Some(same)) => same.object["data"] = new.object["data"].clone(),
                ("merge" | "replace", None) => {
                    return Err(wrong(format!(
                        "there is no {kind} {} to {}",
                        new.name(),
                        text(it, "behavior")
                    )));
                }
                _ => all.push(new),
            }
        }
    }
    for it in list(&said, "patchesStrategicMerge").filter_map(Value::as_str) {
        let inline = it.contains('\n') || it.contains(": ");
        let body = if inline { it.to_owned() } else { read(it)? };
        patch::lay(&mut all, &body, &Value::Null).map_err(wrong)?;
    }
    for it in list(&said, "patches").chain(list(&said, "patchesJson6902")) {
        let body = match text(it, "path") {
            "" => text(it, "patch").to_owned(),
            name => read(name)?,
        };
        patch::lay(&mut all, &body, &it["target"]).map_err(wrong)?;
    }
    finish(&said, &mut all);
    Ok(all)
}

/// What is said of all of them.
fn finish(said: &Value, all: &mut [Made]) {
    let namespace = text(said, "namespace");
    if !namespace.is_empty() {
        for it in all.iter_mut().filter(|it| !CLUSTER_SCOPED.contains(&it.kind())) {
            it.object["metadata"]["namespace"] = namespace.into();
        }
        names::move_accounts(all, namespace);
    }
    names::rename(all, text(said, "namePrefix"), text(said, "nameSuffix"));
    for it in all.iter_mut() {
        if let Some(pairs) = said["commonLabels"].as_object() {
            label(&mut it.object, pairs, Reach::Selectors);
        }
        for labels in list(said, "labels") {
            let reach = match (&labels["includeSelectors"], &labels["includeTemplates"]) {
                (Value::Bool(true), _) => Reach::Selectors,
                (_, Value::Bool(true)) => Reach::Templates,
                _ => Reach::Object,
            };
            if let Some(pairs) = labels["pairs"].as_object() {
                label(&mut it.object, pairs, reach);
            }
        }
        if let Some(pairs) = said["commonAnnotations"].as_object() {
            add(&mut it.object["metadata"]["annotations"], pairs);
            if let Some(inside @ Value::Object(_)) =
                it.object.pointer_mut("/spec/template/metadata")
            {
                add(&mut inside["annotations"], pairs);
            }
        }
        for image in list(said, "images") {
            exchange(&mut it.object, image);
        }
        for replicas in list(said, "replicas") {
            let scaled = ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"];
            if scaled.contains(&it.kind())
                && it.names.iter().any(|name| name == text(replicas, "name"))
            {
                it.object["spec"]["replicas"] = replicas["count"].clone();
            }
        }
    }
}

/// How far labels go.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Reach {
    Object,
    /// And the pods it makes.
    Templates,
    /// And how it finds them.
    Selectors,
}

fn add(to: &mut Value, pairs: &Map<String, Value>) {
    if !to.is_object() {
        *to = json!({});
    }
    for (key, value) in pairs {
        to[key.as_str()] = value.clone();
    }
}

fn label(object: &mut Value, pairs: &Map<String, Value>, reach: Reach) {
    add(&mut object["metadata"]["labels"], pairs);
    if reach >= Reach::Templates {
        for path in ["/spec/template/metadata", "/spec/jobTemplate/spec/template/metadata"] {
            if let Some(inside) = object.pointer_mut(path).filter(|it| it.is_object()) {
                add(&mut inside["labels"], pairs);
            }
        }
        let templated = object["spec"]["template"]["spec"].is_object();
        if templated && !object["spec"]["template"]["metadata"].is_object() {
            object["spec"]["template"]["metadata"] = json!({"labels": pairs});
        }
    }
    if reach < Reach::Selectors {
        return;
    }
    match object["kind"].as_str().unwrap_or_default() {
        "Service" | "ReplicationController" if object["spec"]["selector"].is_object() => {
            add(&mut object["spec"]["selector"], pairs);
        }
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            add(&mut object["spec"]["selector"]["matchLabels"], pairs);
        }
        _ => {}
    }
}

/// Another image in every container that has it.
fn exchange(value: &mut Value, image: &Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Array(items) if key == "containers" || key == "initContainers" => {
                        for it in items {
                            if let Some(new) =
                                it["image"].as_str().and_then(|it| exchanged(it, image))
                            {
                                it["image"] = new.into();
                            }
                        }
                    }
                    value => exchange(value, image),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| exchange(it, image)),
        _ => {}
    }
}

fn exchanged(old: &str, image: &Value) -> Option<String> {
    let (rest, digest) = old.split_once('@').map_or((old, ""), |it| it);
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (rest, ""),
    };
    if name != text(image, "name") {
        return None;
    }
    let name = if text(image, "newName").is_empty() { name } else { text(image, "newName") };
    Some(match (text(image, "digest"), &image["newTag"]) {
        ("", Value::Null) if !digest.is_empty() => format!("{name}@{digest}"),
        ("", Value::Null) if tag.is_empty() => name.to_owned(),
        ("", Value::Null) => format!("{name}:{tag}"),
        ("", new) => format!("{name}:{}", new.as_str().map_or_else(|| new.to_string(), Into::into)),
        (digest, _) => format!("{name}@{digest}"),
    })
}

/// What a generator makes.
fn generated(
    it: &Value,
    kind: &str,
    common: &Value,
    read: &dyn Fn(&str) -> Result<String, Error>,
) -> Result<Made, String> {
    let name = text(it, "name");
    if name.is_empty() {
        return Err(format!("a {kind} that is made needs a name"));
    }
    let known =
        ["name", "namespace", "behavior", "literals", "files", "envs", "env", "options", "type"];
    if let Some(field) =
        it.as_object().into_iter().flatten().find(|it| !known.contains(&it.0.as_str()))
    {
        return Err(format!("{kind} {name}: {} is not known here", field.0));
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for literal in list(it, "literals").filter_map(Value::as_str) {
        let (key, value) =
            literal.split_once('=').ok_or_else(|| format!("{literal:?} is no key=value"))?;
        let value = value
            .strip_prefix(['"', '\''])
            .and_then(|it| it.strip_suffix(['"', '\'']))
            .unwrap_or(value);
        pairs.push((key.to_owned(), value.to_owned()));
    }
    for file in list(it, "files").filter_map(Value::as_str) {
        let (key, file) =
            file.split_once('=').unwrap_or((file.rsplit('/').next().unwrap_or(file), file));
        pairs.push((key.to_owned(), read(file).map_err(|error| error.0)?));
    }
    for file in list(it, "envs").filter_map(Value::as_str).chain(it["env"].as_str()) {
        for line in read(file).map_err(|error| error.0)?.lines() {
            let line = line.trim();
            if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
                pairs.push((key.to_owned(), value.to_owned()));
            }
        }
    }
    let encoded = |value: String| if kind == "Secret" { STANDARD.encode(value) } else { value };
    let data: Map<String, Value> =
        pairs.into_iter().map(|(key, value)| (key, encoded(value).into())).collect();
    let mut object =
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data});
    if kind == "Secret" {
        let of = if text(it, "type").is_empty() { "Opaque" } else { text(it, "type") };
        object["type"] = of.into();
    }
    if !text(it, "namespace").is_empty() {
        object["metadata"]["namespace"] = text(it, "namespace").into();
    }
    let mut hashed = true;
    for options in [common, &it["options"]] {
        for key in ["labels", "annotations"] {
            if let Some(pairs) = options[key].as_object() {
                add(&mut object["metadata"][key], pairs);
            }
        }
        if options["immutable"] == true {
            object["immutable"] = true.into();
        }
        hashed &= options["disableNameSuffixHash"] != true;
    }
    Ok(Made { hashed, ..Made::new(object) })
}
