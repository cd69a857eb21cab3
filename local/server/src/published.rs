//! The published OpenAPI documents of Kubernetes, packed by published/collect.py (see NOTICE there),
//! and its protobuf messages.
//!
//! Four packs, each read when it is first needed: what reading objects takes is there at once, the rest is for
//! those who ask for documents.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

static BARE: &[u8] = include_bytes!("../published/schemas.json.gz");
static DESCRIBED: &[u8] = include_bytes!("../published/described.json.gz");
static MESSAGES: &[u8] = include_bytes!("../published/messages.txt.gz");
static DOCUMENTS: &[u8] = include_bytes!("../published/documents.txt.gz");

/// Where schemas are, in a reference.
const SCHEMAS: &str = "#/components/schemas/";

// The packs are part of the program; one that does not unpack leaves a server without schemas.
fn unpacked(pack: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    match flate2::read::GzDecoder::new(pack).read_to_end(&mut text) {
        Ok(_) => text,
        Err(_) => Vec::new(),
    }
}

fn read(pack: &[u8]) -> Map<String, Value> {
    serde_json::from_slice(&unpacked(pack)).unwrap_or_default()
}

/// What Go writes of the fields of a published struct that are empty: nothing (`-field`), or something (`field=what`).
#[must_use]
pub fn written(name: &str) -> Option<&'static str> {
    static READ: OnceLock<FxHashMap<String, &'static str>> = OnceLock::new();
    let all = READ.get_or_init(|| {
        let mut group = "";
        let mut all = FxHashMap::default();
        for line in include_str!("../published/written.txt").lines() {
            match line.split_once(' ') {
                Some(("=", name)) => group = name,
                Some((kind, fields)) => _ = all.insert(format!("{group}.{kind}"), fields),
                None => {}
            }
        }
        all
    });
    all.get(name).copied()
}

/// The protobuf messages, as published/collect_messages.py writes them.
#[must_use]
pub fn messages() -> String {
    String::from_utf8(unpacked(MESSAGES)).unwrap_or_default()
}

/// All schemas, without descriptions.
#[must_use]
pub fn schemas() -> &'static Map<String, Value> {
    static READ: OnceLock<Map<String, Value>> = OnceLock::new();
    READ.get_or_init(|| read(BARE))
}

/// A schema by name, without descriptions.
#[must_use]
pub fn schema(name: &str) -> Option<&'static Value> {
    schemas().get(name)
}

/// The schema a reference names, without descriptions.
#[must_use]
pub fn referred(reference: &str) -> Option<&'static Value> {
    schema(reference.strip_prefix(SCHEMAS)?)
}

fn all_described() -> &'static Map<String, Value> {
    static READ: OnceLock<Map<String, Value>> = OnceLock::new();
    READ.get_or_init(|| read(DESCRIBED))
}

/// A schema by name, as published.
#[must_use]
pub fn described(name: &str) -> Option<&'static Value> {
    all_described().get(name)
}

/// The name of the schema of a kind.
#[must_use]
pub fn schema_of(group: &str, version: &str, kind: &str) -> Option<String> {
    static KINDS: OnceLock<FxHashMap<[String; 3], String>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| {
        let mut kinds = FxHashMap::default();
        for (name, schema) in schemas() {
            let all = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
            // DeleteOptions and the like claim every group.
            if let Some([one]) = all.map(Vec::as_slice) {
                let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
                kinds.insert(["group", "version", "kind"].map(text), name.clone());
            }
        }
        kinds
    });
    kinds.get(&[group, version, kind].map(str::to_owned)).cloned()
}

struct Document {
    digest: &'static str,
    text: &'static str,
}

fn documents() -> &'static BTreeMap<&'static str, Document> {
    static TEXT: OnceLock<String> = OnceLock::new();
    static READ: OnceLock<BTreeMap<&'static str, Document>> = OnceLock::new();
    let text = TEXT.get_or_init(|| String::from_utf8(unpacked(DOCUMENTS)).unwrap_or_default());
    READ.get_or_init(|| {
        let parts = text.lines().filter_map(|line| {
            let (path, rest) = line.split_once('\t')?;
            let (digest, text) = rest.split_once('\t')?;
            Some((path, Document { digest, text }))
        });
        parts.collect()
    })
}

/// The documents, by their paths: `api/v1`, `apis/apps/v1`, … with a digest that changes with their content.
pub fn digests() -> impl Iterator<Item = (&'static str, &'static str)> {
    documents().iter().map(|(path, document)| (*path, document.digest))
}

/// The digest of one document.
#[must_use]
pub fn digest(path: &str) -> Option<&'static str> {
    documents().get(path).map(|document| document.digest)
}

/// A document as it was published.
#[must_use]
pub fn document(path: &str) -> Option<Value> {
    let packed: Value = serde_json::from_str(documents().get(path)?.text).ok()?;
    let mut schemas = Map::new();
    for name in packed.get("schemas")?.as_array()?.iter().filter_map(Value::as_str) {
        let own = packed.get("own").and_then(|own| own.get(name));
        if let Some(schema) = own.or_else(|| described(name)) {
            schemas.insert(name.to_owned(), schema.clone());
        }
    }
    Some(json!({
        "openapi": packed["openapi"], "info": packed["info"], "paths": packed["paths"],
        "components": {"schemas": schemas, "securitySchemes": packed["securitySchemes"]},
    }))
}

/// One document of all definitions in the older form, with more of them.
#[must_use]
pub fn swagger(more: Map<String, Value>) -> Value {
    let mut definitions = Map::new();
    let published = all_described().iter().map(|(name, schema)| (name.clone(), schema.clone()));
    for (name, mut schema) in published.chain(more) {
        older(&mut schema);
        definitions.insert(name, schema);
    }
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {}, "definitions": definitions,
    })
}

// References stand beside their siblings in version 2. The depth is that of the published documents.
fn older(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let single = match fields.get("allOf") {
                Some(Value::Array(all)) if all.len() == 1 => {
                    all.first().and_then(|one| one.get("$ref")).cloned()
                }
                _ => None,
            };
            if let Some(reference) = single {
                fields.remove("allOf");
                fields.insert("$ref".to_owned(), reference);
            }
            fields.remove("default");
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace(SCHEMAS, "#/definitions/");
            }
            fields.values_mut().for_each(older);
        }
        Value::Array(items) => items.iter_mut().for_each(older),
        _ => {}
    }
}
