//! Custom resources: what a CustomResourceDefinition says, turned into resources of the registry.

use std::sync::Arc;

mod definition; // what is refused of a definition
mod document; // OpenAPI
mod instance; // what is refused of an object
mod lifecycle; // defaults, names, conditions of a definition
mod structural; // what is refused of a schema

use kube_cel::{CompiledSchema, compile_schema};
use serde_json::{Value, json};

use crate::published;
use crate::resource::{Resource, version_rank};

pub use definition::errors;
pub use document::{document, older};
pub use lifecycle::{
    accepted, condition, is_true, set_condition, set_defaults, set_stored_versions,
};

/// One version of a definition.
pub struct Custom {
    /// The name of the definition.
    pub definition: String,
    /// The schema of this version, with apiVersion, kind and metadata at the root.
    pub schema: Value,
    /// Whether there is a status subresource.
    pub status: bool,
    /// The scale subresource, if there is one.
    pub scale: Option<Value>,
    /// Additional printer columns.
    pub columns: Vec<Value>,
    /// Paths that field selectors may name.
    pub selectable: Vec<String>,
    /// Why this version cannot be given: only a conversion webhook could make it of the stored one.
    pub unconverted: Option<String>,
    /// Deprecation warning, if any.
    pub deprecated: Option<String>,
    /// The schemas for patches of all served versions.
    pub merging: Arc<[Merging]>,
    rules: Option<CompiledSchema>,
}

/// A served version of a definition, for patches.
#[derive(Debug)]
pub struct Merging {
    /// The version.
    pub version: String,
    schema: Value,
    made: std::sync::OnceLock<local_merge::Schema>,
}

impl Merging {
    /// The schema, made when first asked for.
    #[must_use]
    pub fn schema(&self) -> &local_merge::Schema {
        let make = || local_merge::Schema::custom(published::schemas(), Some(&self.schema));
        self.made.get_or_init(make)
    }
}

fn structural(version: &Value) -> Value {
    let schema = &version["schema"]["openAPIV3Schema"];
    if schema.is_object() {
        return schema.clone();
    }
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

impl std::fmt::Debug for Custom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Custom").field("definition", &self.definition).finish_non_exhaustive()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// The resources a definition serves, once its names are accepted.
#[must_use]
pub fn resources(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let group = text(&spec["group"]);
    let plural = text(&names["plural"]);
    let kind = text(&names["kind"]);
    let versions = spec["versions"].as_array().cloned().unwrap_or_default();
    let stored = versions.iter().find(|version| version["storage"] == json!(true));
    let stored = stored.map(|version| text(&version["name"])).unwrap_or_default();
    let calls = spec["conversion"]["strategy"] == json!("Webhook");
    let served = versions.iter().filter(|version| version["served"] == json!(true));
    let merging: Arc<[Merging]> = served
        .map(|version| Merging {
            version: text(&version["name"]),
            schema: structural(version),
            made: std::sync::OnceLock::new(),
        })
        .collect();
    let mut found = Vec::new();
    for version in versions.iter().filter(|version| version["served"] == json!(true)) {
        let name = text(&version["name"]);
        let schema = structural(version);
        let ruled = schema.to_string().contains("x-kubernetes-validations");
        let rules = ruled.then(|| compile_schema(&schema));
        let subresources = &version["subresources"];
        let scale = subresources.get("scale").filter(|scale| scale.is_object()).cloned();
        let status = subresources.get("status").is_some_and(|status| !status.is_null());
        let deprecated = (version["deprecated"] == json!(true)).then(|| {
            let own = version["deprecationWarning"].as_str().map(str::to_owned);
            own.unwrap_or_else(|| format!("{group}/{name} {kind} is deprecated"))
        });
        let selectable = version["selectableFields"].as_array().into_iter().flatten();
        let custom = Custom {
            definition: text(&definition["metadata"]["name"]),
            schema,
            status,
            scale: scale.clone(),
            columns: version["additionalPrinterColumns"].as_array().cloned().unwrap_or_default(),
            selectable: selectable
                .map(|field| text(&field["jsonPath"]).trim_start_matches('.').to_owned())
                .collect(),
            unconverted: (calls && name != stored).then(|| {
                format!("conversion webhook for {group}/{stored}, Kind={kind} failed: the local plane calls no conversion webhooks; version {stored} is stored and needs none")
            }),
            deprecated,
            merging: merging.clone(),
            rules,
        };
        let mut subs = Vec::new();
        if scale.is_some() {
            subs.push("scale".to_owned());
        }
        if status {
            subs.push("status".to_owned());
        }
        let singular = text(&names["singular"]);
        let list_kind = text(&names["listKind"]);
        found.push(Resource {
            group: group.clone(),
            version: name,
            plural: plural.clone(),
            singular: if singular.is_empty() { kind.to_lowercase() } else { singular },
            kind: kind.clone(),
            list_kind: if list_kind.is_empty() { format!("{kind}List") } else { list_kind },
            namespaced: spec["scope"] == json!("Namespaced"),
            short: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            verbs: [
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ]
            .map(str::to_owned)
            .to_vec(),
            subresources: subs,
            prefix: format!("{group}/{plural}/"),
            stored: format!("{group}/{stored}"),
            custom: Some(Arc::new(custom)),
            schema: None,
        });
    }
    found
}

/// The preferred order of a definition's served versions.
pub fn sort_versions(names: &mut [String]) {
    names.sort_by_key(|name| std::cmp::Reverse(version_rank(name)));
}
