//! OpenAPI schema of a definition's parameters, as stored beside it and shown to users.

use cue_session::Error;
use serde_json::Value;

use crate::api::Definition;
use crate::render::Templates;

/// Schema of `parameter`; `None` if the definition has none.
pub fn parameters(
    templates: Templates<'_>,
    definition: &Definition,
) -> Result<Option<Value>, Error> {
    let Some(template) = definition.template() else { return Ok(None) };
    let program = templates.template(&definition.metadata.name, template).program;
    let mut session = templates.runtime.start(&program, Vec::new(), templates.budget)?;
    let Some(mut schema) = session.schema("parameter")? else { return Ok(None) };
    titles(&mut schema);
    if schema.as_object().is_some_and(serde_json::Map::is_empty) {
        // No parameters are declared: the open `parameter` is what is left.
        return Ok(Some(serde_json::json!({ "type": "object" })));
    }
    Ok(Some(schema))
}

/// The text that is stored: keys sorted, compact.
pub fn text(schema: &Value) -> String {
    crate::revision::canonical::text(schema)
}

/// Properties carry their name as title and the text of `+usage` as description.
fn titles(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            titles(property);
            let Value::Object(property) = property else { continue };
            let usage = property.get("description").and_then(Value::as_str).and_then(usage);
            match usage {
                Some(usage) => property.insert("description".into(), usage.into()),
                None => property.shift_remove("description"),
            };
            property.insert("title".into(), name.as_str().into());
        }
    }
    if let Some(items) = map.get_mut("items") {
        titles(items);
    }
}

/// What stands behind `+usage=`, up to `+short=`; the whole text where there is no `+usage=`.
fn usage(description: &str) -> Option<String> {
    let text = description.split("+usage=").nth(1).unwrap_or(description);
    let text = match text.split_once("+short=") {
        Some((before, _)) => before.trim(),
        None => text,
    };
    Some(text.to_owned()).filter(|it| !it.is_empty())
}
