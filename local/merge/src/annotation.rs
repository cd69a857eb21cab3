//! What client-side apply left on an object, and what server-side apply makes of it.

use serde_json::Value;

use crate::fieldset::FieldSet;
use crate::manage::{Writer, take_managed};
use crate::{go, typed};

/// The annotation of client-side apply.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(LAST_APPLIED)?.as_str()
}

// Paths that `kubectl` may take silently: applied client-side before and unchanged since.
pub(crate) fn last_applied(cx: &Writer<'_>, live: &Value) -> FieldSet {
    let read = || {
        if cx.manager != "kubectl" {
            return None;
        }
        let last: Value = serde_json::from_str(annotation(live)?).ok()?;
        let schema = (cx.schema)(cx.api_version)?;
        if last.get("apiVersion").and_then(Value::as_str) != Some(cx.api_version) {
            return None;
        }
        let over = typed::merge(&schema, live, &last);
        Some(
            typed::fields(&schema, &last)
                .difference(&typed::compare(&schema, live, &over).changed()),
        )
    };
    read().unwrap_or_default()
}

pub(crate) fn renew(object: &mut Value, patch: &Value) {
    if annotation(object).is_none_or(str::is_empty) {
        return;
    }
    let mut last = patch.clone();
    take_managed(&mut last);
    if let Some(Value::Object(all)) = last.pointer_mut("/metadata/annotations") {
        all.shift_remove(LAST_APPLIED);
    }
    let text = format!("{}\n", go::json(&sorted(&last)));
    if let Some(Value::Object(all)) = object.pointer_mut("/metadata/annotations") {
        all.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
}

// As Go writes maps.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
