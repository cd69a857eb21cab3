//! Custom resources: what a CustomResourceDefinition says, turned into resources of the registry.

use std::sync::Arc;

use kube_cel::{CompiledSchema, Validator, compile_schema};
use serde_json::{Value, json};

use crate::resource::{Node, Registry, Resource, version_rank};
use crate::status::{FieldError, FieldErrorKind};
use crate::{published, validate};

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
    /// Deprecation warning, if any.
    pub deprecated: Option<String>,
    /// The schema for patches, made when first asked for.
    pub merging: std::sync::OnceLock<local_merge::Schema>,
    rules: Option<CompiledSchema>,
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
    let mut found = Vec::new();
    for version in versions.iter().filter(|version| version["served"] == json!(true)) {
        let name = text(&version["name"]);
        let mut schema = version["schema"]["openAPIV3Schema"].clone();
        if !schema.is_object() {
            schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        }
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
            deprecated,
            merging: std::sync::OnceLock::new(),
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

impl Custom {
    /// The errors of an object by schema, list types and rules.
    #[must_use]
    pub fn check(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let node = Node { at: &self.schema };
        let mut body = object.clone();
        strip(&mut body);
        let mut errors = validate::errors(node, &body, "");
        validate::lists(node, &body, "", &mut errors);
        if let Some(old) = old {
            let mut before = old.clone();
            strip(&mut before);
            errors.retain(|error| changed(&error.field, &body, &before));
        }
        if let Some(rules) = &self.rules {
            let blocking = [
                FieldErrorKind::Required,
                FieldErrorKind::NotSupported,
                FieldErrorKind::TooLong,
                FieldErrorKind::TooMany,
                FieldErrorKind::TypeInvalid,
            ];
            if errors.iter().any(|error| blocking.contains(&error.kind)) {
                errors.push(FieldError {
                    field: String::new(),
                    kind: FieldErrorKind::Invalid,
                    text: "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation".to_owned(),
                });
            } else if let Err(broken) = Validator::new().validate_compiled(rules, object, old) {
                errors.extend(broken.iter().map(|rule| self.broken(rule, object)));
            }
        }
        errors
    }

    fn broken(&self, rule: &kube_cel::ValidationError, object: &Value) -> FieldError {
        let kind = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldErrorKind::Forbidden,
            Some("FieldValueRequired") => FieldErrorKind::Required,
            Some("FieldValueDuplicate") => FieldErrorKind::Duplicate,
            _ => FieldErrorKind::Invalid,
        };
        let value =
            at(object, &rule.field_path).filter(|value| !value.is_object() && !value.is_array());
        match (kind, value) {
            (FieldErrorKind::Invalid, Some(value)) => {
                FieldError::invalid(rule.field_path.clone(), value, &rule.message)
            }
            _ => FieldError::rule(rule.field_path.clone(), kind, &rule.message),
        }
    }
}

fn strip(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        for key in ["apiVersion", "kind", "metadata"] {
            fields.shift_remove(key);
        }
    }
}

// An error at a value that is as it was does not count.
fn changed(path: &str, new: &Value, old: &Value) -> bool {
    if path.is_empty() {
        return new != old;
    }
    match (at(new, path), at(old, path)) {
        (Some(new), Some(old)) => new != old,
        (None, None) => {
            let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
            parent.is_empty() || changed(parent, new, old)
        }
        _ => true,
    }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut found = value;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let step = step.trim_end_matches(']');
        found = match found {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            other => other.get(step)?,
        };
    }
    Some(found)
}

/// Fills in what a definition leaves out.
pub fn set_defaults(definition: &mut Value) {
    let kind = text(&definition["spec"]["names"]["kind"]);
    let Some(spec) = definition.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        if text(names.get("singular").unwrap_or(&Value::Null)).is_empty() {
            names.insert("singular".to_owned(), json!(kind.to_lowercase()));
        }
        if text(names.get("listKind").unwrap_or(&Value::Null)).is_empty() {
            names.insert("listKind".to_owned(), json!(format!("{kind}List")));
        }
    }
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    for version in spec.get_mut("versions").and_then(Value::as_array_mut).into_iter().flatten() {
        for column in version
            .get_mut("additionalPrinterColumns")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let _ = column;
        }
    }
}

/// The status of a definition as it is stored: which versions may lie in the store.
pub fn set_stored_versions(definition: &mut Value) {
    let storage = definition["spec"]["versions"].as_array().into_iter().flatten();
    let storage = storage.filter(|version| version["storage"] == json!(true));
    let storage: Vec<Value> = storage.map(|version| version["name"].clone()).collect();
    if !definition["status"].is_object() {
        definition["status"] = json!({
            "conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null,
        });
    }
    let mut stored = definition["status"]["storedVersions"].as_array().cloned().unwrap_or_default();
    for name in storage {
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    definition["status"]["storedVersions"] = Value::Array(stored);
}

/// The status after the names were looked at; `None` if nothing changes.
#[must_use]
pub fn accepted(definition: &Value, registry: &Registry, now: &str) -> Option<Value> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let own = text(&definition["metadata"]["name"]);
    let taken = |test: &dyn Fn(&Resource) -> bool| {
        registry.iter().any(|one| {
            one.group == text(&spec["group"])
                && one.custom.as_ref().is_none_or(|custom| custom.definition != own)
                && test(one)
        })
    };
    let mut clash: Option<(&str, String)> = None;
    for (key, reason) in [
        ("plural", "PluralConflict"),
        ("singular", "SingularConflict"),
        ("kind", "KindConflict"),
        ("listKind", "ListKindConflict"),
    ] {
        let name = text(&names[key]);
        let used = match key {
            "plural" | "singular" => taken(&|one: &Resource| {
                one.plural == name || one.singular == name || one.short.contains(&name)
            }),
            _ => taken(&|one: &Resource| one.kind == name || one.list_kind == name),
        };
        if used {
            clash = Some((reason, name));
        }
    }
    for name in texts(&names["shortNames"]) {
        if taken(&|one: &Resource| {
            one.plural == name || one.singular == name || one.short.contains(&name)
        }) {
            clash = Some(("ShortNamesConflict", name));
        }
    }
    let mut status = definition["status"].clone();
    let established = is_true(&status, "Established");
    let (names_accepted, made) = match &clash {
        None => (
            condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
            condition(
                "Established",
                "True",
                "InitialNamesAccepted",
                "the initial names have been accepted",
                now,
            ),
        ),
        Some((reason, name)) => (
            condition(
                "NamesAccepted",
                "False",
                reason,
                &format!("\"{name}\" is already in use"),
                now,
            ),
            condition("Established", "False", "NotAccepted", "not all names are accepted", now),
        ),
    };
    if clash.is_none() {
        status["acceptedNames"] = names.clone();
    }
    set_condition(&mut status, names_accepted);
    if !established {
        set_condition(&mut status, made);
    }
    (status != definition["status"]).then_some(status)
}

/// Whether a condition holds.
#[must_use]
pub fn is_true(status: &Value, name: &str) -> bool {
    let mut all = status["conditions"].as_array().into_iter().flatten();
    all.any(|one| one["type"] == json!(name) && one["status"] == json!("True"))
}

/// A condition object.
#[must_use]
pub fn condition(name: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    json!({"type": name, "status": status, "lastTransitionTime": now, "reason": reason, "message": message})
}

/// Puts a condition in its place; the time stays if the status does.
pub fn set_condition(status: &mut Value, condition: Value) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(all) = status["conditions"].as_array_mut() else { return };
    match all.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(old) if old["status"] == condition["status"] => {
            old["reason"] = condition["reason"].clone();
            old["message"] = condition["message"].clone();
        }
        Some(old) => *old = condition,
        None => all.push(condition),
    }
}

/// Errors of a definition itself; the commonest rules.
#[must_use]
pub fn errors(definition: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let mut found = Vec::new();
    let name = text(&definition["metadata"]["name"]);
    let group = text(&spec["group"]);
    if name != format!("{}.{group}", text(&names["plural"])) {
        found.push(FieldError::invalid(
            "metadata.name",
            &json!(name),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    if group.is_empty() {
        found.push(FieldError::required("spec.group", ""));
    } else if !group.contains('.') {
        found.push(FieldError::invalid(
            "spec.group",
            &json!(group),
            "should be a domain with at least one dot",
        ));
    }
    if group.ends_with(".k8s.io")
        && definition["metadata"]["annotations"]["api-approved.kubernetes.io"].is_null()
    {
        found.push(FieldError::required("metadata.annotations[api-approved.kubernetes.io]", "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"));
    }
    match spec["scope"].as_str() {
        None | Some("") => found.push(FieldError::required("spec.scope", "")),
        Some("Cluster" | "Namespaced") => {}
        Some(_) => found.push(FieldError::unsupported(
            "spec.scope",
            &spec["scope"],
            &["\"Cluster\"".to_owned(), "\"Namespaced\"".to_owned()],
        )),
    }
    for (key, field) in [
        ("plural", "spec.names.plural"),
        ("singular", "spec.names.singular"),
        ("kind", "spec.names.kind"),
        ("listKind", "spec.names.listKind"),
    ] {
        if text(&names[key]).is_empty() {
            found.push(FieldError::required(field, ""));
        }
    }
    let versions = spec["versions"].as_array().cloned().unwrap_or_default();
    let storing = versions.iter().filter(|version| version["storage"] == json!(true)).count();
    if storing != 1 {
        found.push(FieldError::invalid(
            "spec.versions",
            &spec["versions"],
            "must have exactly one version marked as storage version",
        ));
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            found.push(FieldError::required(
                format!("spec.versions[{index}].schema.openAPIV3Schema"),
                "schemas are required",
            ));
        }
    }
    if spec["preserveUnknownFields"] == json!(true) {
        found.push(FieldError::invalid("spec.preserveUnknownFields", &json!(true), "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"));
    }
    if let Some(old) = old.filter(|old| is_true(&old["status"], "Established")) {
        for (now, then, field) in [
            (&spec["scope"], &old["spec"]["scope"], "spec.scope"),
            (&names["kind"], &old["spec"]["names"]["kind"], "spec.names.kind"),
            (&spec["group"], &old["spec"]["group"], "spec.group"),
            (&names["plural"], &old["spec"]["names"]["plural"], "spec.names.plural"),
        ] {
            if now != then {
                found.push(FieldError::invalid(field, now, "field is immutable"));
            }
        }
    }
    found
}

/// The preferred order of a definition's served versions.
pub fn sort_versions(names: &mut [String]) {
    names.sort_by_key(|name| std::cmp::Reverse(version_rank(name)));
}

/// The OpenAPI document of the custom resources of one group version.
#[must_use]
pub fn document(resources: &[Arc<Resource>]) -> Value {
    let mut schemas = serde_json::Map::new();
    let mut paths = serde_json::Map::new();
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
    let mut wanted: Vec<String> = vec![
        format!("{meta}ObjectMeta"),
        format!("{meta}ListMeta"),
        format!("{meta}Status"),
        format!("{meta}DeleteOptions"),
        format!("{meta}Patch"),
    ];
    while let Some(name) = wanted.pop() {
        if schemas.contains_key(&name) {
            continue;
        }
        if let Some(schema) = published::schema(&name) {
            let said = schema.to_string();
            for part in said.split("#/components/schemas/").skip(1) {
                wanted.push(part.split('"').next().unwrap_or_default().to_owned());
            }
            schemas.insert(name, schema.clone());
        }
    }
    for resource in resources {
        let Some(custom) = &resource.custom else { continue };
        let reversed: Vec<&str> = resource.group.rsplit('.').collect();
        let base = format!("{}.{}", reversed.join("."), resource.version);
        let gvk = |kind: &str| json!([{"group": resource.group, "version": resource.version, "kind": kind}]);
        let about = |key: &str| {
            published::schema(&format!("{meta}Status"))
                .map(|schema| schema["properties"][key].clone())
        };
        let mut schema = custom.schema.clone();
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        schema["properties"]["apiVersion"] = about("apiVersion").unwrap_or_default();
        schema["properties"]["kind"] = about("kind").unwrap_or_default();
        schema["properties"]["metadata"] = json!({
            "allOf": [{"$ref": format!("#/components/schemas/{meta}ObjectMeta")}],
            "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        });
        schema["x-kubernetes-group-version-kind"] = gvk(&resource.kind);
        if !custom.selectable.is_empty() {
            let fields: Vec<Value> =
                custom.selectable.iter().map(|one| json!({"fieldPath": one})).collect();
            schema["x-kubernetes-selectable-fields"] = json!(fields);
        }
        let name = format!("{base}.{}", resource.kind);
        let list = json!({
            "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
            "type": "object", "required": ["items"],
            "properties": {
                "apiVersion": about("apiVersion"), "kind": about("kind"),
                "items": {
                    "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", resource.plural),
                    "type": "array", "items": {"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}},
                },
                "metadata": {
                    "allOf": [{"$ref": format!("#/components/schemas/{meta}ListMeta")}],
                    "description": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
                    "default": {},
                },
            },
            "x-kubernetes-group-version-kind": gvk(&resource.list_kind),
        });
        schemas.insert(name.clone(), schema);
        schemas.insert(format!("{base}.{}", resource.list_kind), list);
        let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
        let path =
            format!("/apis/{}/{}{scope}/{}", resource.group, resource.version, resource.plural);
        let gvk =
            json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
        let operation = |action: &str, types: &[&str]| {
            let body: serde_json::Map<String, Value> = types
                .iter()
                .map(|one| {
                    (
                        (*one).to_owned(),
                        json!({"schema": {"$ref": format!("#/components/schemas/{name}")}}),
                    )
                })
                .collect();
            let flags = ["dryRun", "fieldManager", "fieldValidation"];
            let parameters: Vec<Value> = flags
                .iter()
                .map(|flag| json!({"name": flag, "in": "query", "schema": {"type": "string", "uniqueItems": true}}))
                .collect();
            json!({
                "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk,
                "parameters": parameters, "requestBody": {"content": body},
                "responses": {"200": {"description": "OK"}},
            })
        };
        let plain = ["application/json", "application/yaml"];
        let patches = [
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        paths.insert(
            path.clone(),
            json!({"get": operation("list", &[]), "post": operation("post", &plain)}),
        );
        paths.insert(
            format!("{path}/{{name}}"),
            json!({
                "get": operation("get", &[]), "put": operation("put", &plain),
                "patch": operation("patch", &patches), "delete": operation("delete", &[]),
            }),
        );
    }
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": paths, "components": {"schemas": schemas},
    })
}
