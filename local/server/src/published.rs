//! The published OpenAPI documents of Kubernetes, packed by published/collect.py (see NOTICE there).

use std::io::Read;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

static PACKED: &[u8] = include_bytes!("../published/kubernetes.json.gz");

/// Where schemas are, in a reference.
const SCHEMAS: &str = "#/components/schemas/";

fn documents() -> &'static Value {
    static DOCUMENTS: OnceLock<Value> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let mut text = Vec::new();
        // The pack is part of the program; one that does not unpack leaves a server without schemas.
        let read = flate2::read::GzDecoder::new(PACKED).read_to_end(&mut text);
        read.ok().and_then(|_| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null)
    })
}

/// A schema by name.
#[must_use]
pub fn schema(name: &str) -> Option<&'static Value> {
    documents().get("schemas")?.get(name)
}

/// The schema a reference names.
#[must_use]
pub fn referred(reference: &str) -> Option<&'static Value> {
    schema(reference.strip_prefix(SCHEMAS)?)
}

/// All schemas.
#[must_use]
pub fn schemas() -> Option<&'static Map<String, Value>> {
    documents().get("schemas")?.as_object()
}

/// The name of the schema of a kind.
#[must_use]
pub fn schema_of(group: &str, version: &str, kind: &str) -> Option<String> {
    static KINDS: OnceLock<rustc_hash::FxHashMap<(String, String, String), String>> =
        OnceLock::new();
    let kinds = KINDS.get_or_init(|| {
        let mut kinds = rustc_hash::FxHashMap::default();
        for (name, schema) in schemas().into_iter().flatten() {
            let all = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
            let all = all.map(Vec::as_slice).unwrap_or_default();
            // DeleteOptions and the like claim every group.
            if all.len() != 1 {
                continue;
            }
            for one in all {
                let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
                kinds.insert((text("group"), text("version"), text("kind")), name.clone());
            }
        }
        kinds
    });
    kinds.get(&(group.to_owned(), version.to_owned(), kind.to_owned())).cloned()
}

/// The paths of the documents: `api/v1`, `apis/apps/v1`, …
pub fn paths() -> impl Iterator<Item = &'static str> {
    let all = documents().get("documents").and_then(Value::as_object);
    all.into_iter().flat_map(Map::keys).map(String::as_str)
}

/// A document as it was published.
#[must_use]
pub fn document(path: &str) -> Option<Value> {
    let packed = documents().get("documents")?.get(path)?;
    let mut schemas = Map::new();
    for name in packed.get("schemas")?.as_array()?.iter().filter_map(Value::as_str) {
        let own = packed.get("own").and_then(|own| own.get(name));
        if let Some(schema) = own.or_else(|| schema(name)) {
            schemas.insert(name.to_owned(), schema.clone());
        }
    }
    Some(json!({
        "openapi": packed["openapi"], "info": packed["info"], "paths": packed["paths"],
        "components": {"schemas": schemas, "securitySchemes": packed["securitySchemes"]},
    }))
}

/// One document of all definitions in the older form.
#[must_use]
pub fn swagger() -> Value {
    let mut definitions = Map::new();
    for (name, schema) in schemas().into_iter().flatten() {
        let mut schema = schema.clone();
        older(&mut schema);
        definitions.insert(name.clone(), schema);
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
