//! What is refused of an object by the definition of its kind.

use kube_cel::Validator;
use serde_json::{Value, json};

use super::Custom;
use super::definition::blocks_rules;
use crate::go;
use crate::resource::Node;
use crate::status::{FieldError, FieldErrorKind};
use crate::validate;

/// Said when expressions were not run.
const NOT_RUN: &str = "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

impl Custom {
    /// The errors of an object by schema, scale paths, list types and rules; `errors` holds those of the
    /// metadata already.
    pub fn check(&self, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
        let node = Node { at: &self.schema };
        let mut body = object.clone();
        strip(&mut body);
        let mut found = validate::errors(node, &body, "");
        self.scale_paths(object, &mut found);
        validate::lists(node, &body, "", &mut found);
        if let Some(old) = old {
            let mut before = old.clone();
            strip(&mut before);
            found.retain(|error| changed(&error.field, &body, &before));
        }
        errors.append(&mut found);
        let Some(rules) = &self.rules else { return };
        if errors.iter().any(blocks_rules) {
            errors.push(FieldError {
                field: String::new(),
                kind: FieldErrorKind::Invalid,
                text: NOT_RUN.to_owned(),
            });
        } else if let Err(broken) = Validator::new().validate_compiled(rules, object, old) {
            errors.extend(broken.iter().map(|rule| self.broken(rule, object)));
        }
    }

    // The fields that the scale subresource reads.
    fn scale_paths(&self, object: &Value, found: &mut Vec<FieldError>) {
        let Some(scale) = &self.scale else { return };
        for (key, wanted) in [
            ("specReplicasPath", "int64"),
            ("statusReplicasPath", "int64"),
            ("labelSelectorPath", "string"),
        ] {
            let path = scale[key].as_str().unwrap_or_default();
            if path.is_empty() {
                continue;
            }
            match reach(object, path, wanted) {
                Err(why) => {
                    let zero = if wanted == "int64" { json!(0) } else { json!("") };
                    found.push(FieldError::invalid(path, &zero, &why));
                }
                Ok(Some(value)) if value < 0 => {
                    let why = "should be a non-negative integer";
                    found.push(FieldError::invalid(path, &json!(value), why));
                }
                Ok(Some(value)) if value > i64::from(i32::MAX) => {
                    let why = format!("should be less than or equal to {}", i32::MAX);
                    found.push(FieldError::invalid(path, &json!(value), &why));
                }
                Ok(_) => {}
            }
        }
    }

    fn broken(&self, rule: &kube_cel::ValidationError, object: &Value) -> FieldError {
        let kind = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldErrorKind::Forbidden,
            Some("FieldValueRequired") => FieldErrorKind::Required,
            Some("FieldValueDuplicate") => FieldErrorKind::Duplicate,
            _ => FieldErrorKind::Invalid,
        };
        // A rule that names another field than its own shows no value.
        let own = schema_at(&self.schema, &rule.field_path).is_some_and(|schema| {
            let all = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
            all.into_iter().any(|one| one["rule"] == json!(rule.rule) && one["fieldPath"].is_null())
        });
        let value = at(object, &rule.field_path)
            .filter(|value| own && !value.is_object() && !value.is_array());
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

fn schema_at<'v>(schema: &'v Value, path: &str) -> Option<&'v Value> {
    let mut at = Node { at: schema };
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        at = match step.strip_suffix(']') {
            Some(index) if index.parse::<usize>().is_ok() => at.items()?,
            Some(key) => at.property(key)?,
            None => at.property(step)?,
        };
    }
    Some(at.at)
}

// The number at a path where Go's type `wanted` must be; a text counts as none.
fn reach(object: &Value, path: &str, wanted: &str) -> Result<Option<i64>, String> {
    let mut found = object;
    let mut been = String::new();
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let Some(fields) = found.as_object() else {
            let (shown, kind) = go::printed(found);
            return Err(format!(
                "{path} accessor error: {shown} is of the type {kind}, expected map[string]interface{{}}"
            ));
        };
        been.push('.');
        been.push_str(step);
        match fields.get(step) {
            Some(inner) => found = inner,
            None => return Ok(None),
        }
    }
    let (shown, kind) = go::printed(found);
    if kind == wanted {
        return Ok(found.as_i64());
    }
    Err(format!("{been} accessor error: {shown} is of the type {kind}, expected {wanted}"))
}
