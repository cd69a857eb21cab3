//! The defaults of Secrets.

use serde_json::{Value, json};

use super::default;

/// Secrets.
pub(super) fn secret(object: &mut Value) {
    default(object, "type", json!("Opaque"));
    fold_strings(object);
}

fn fold_strings(object: &mut Value) {
    use base64::Engine;
    let Some(fields) = object.as_object_mut() else { return };
    let Some(Value::Object(plain)) = fields.shift_remove("stringData") else { return };
    let data = fields.entry("data").or_insert_with(|| json!({}));
    if let Some(data) = data.as_object_mut() {
        for (key, value) in plain {
            let text = value.as_str().unwrap_or_default();
            let coded = base64::engine::general_purpose::STANDARD.encode(text);
            data.insert(key, json!(coded));
        }
    }
}
