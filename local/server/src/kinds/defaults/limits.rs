//! The defaults of LimitRanges.

use serde_json::{Value, json};

use super::{default, each};

/// LimitRanges.
pub(super) fn range(object: &mut Value) {
    for item in each(&mut object["spec"], "limits") {
        limits(item);
    }
}

// What a container may have at most is what it gets, and what it gets is what it asks for.
fn limits(item: &mut Value) {
    if item["type"] != json!("Container") {
        return;
    }
    for (key, others) in [("default", &["max"][..]), ("defaultRequest", &["default", "min"][..])] {
        for other in others {
            let given = item[*other].clone();
            for (name, amount) in given.as_object().into_iter().flatten() {
                default(item, key, json!({}));
                default(&mut item[key], name, amount.clone());
            }
        }
    }
}
