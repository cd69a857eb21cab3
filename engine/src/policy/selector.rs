//! Which resources a policy's rule is about.

use serde_json::Value;

use crate::api::names::label;
use crate::api::object::{self, text};
use crate::api::policies::ResourceSelector;

/// Whether `selector` is about `object` (a rendered manifest). Given fields must all fit; none given fits nothing.
pub fn selects(selector: &ResourceSelector, object: &Value) -> bool {
    let by_label = |key| object::label(object, key).unwrap_or_default();
    let questions: [(&Vec<String>, &str); 6] = [
        (&selector.component_names, by_label(label::APP_COMPONENT)),
        (&selector.component_types, by_label(label::WORKLOAD_TYPE)),
        (&selector.oam_types, by_label(label::RESOURCE_TYPE)),
        (&selector.trait_types, by_label(label::TRAIT_TYPE)),
        (&selector.resource_types, text(object, "/kind")),
        (&selector.resource_names, object::name(object)),
    ];
    let mut asked = questions.iter().filter(|(wanted, _)| !wanted.is_empty()).peekable();
    asked.peek().is_some() && asked.all(|(wanted, got)| wanted.iter().any(|it| it == got))
}
