//! `override`: components patched by name or type, added, or selected.

use indexmap::IndexMap;
use regex::Regex;
use serde_json::Value;

use super::{Error, read, strict};
use crate::api::policies::{Override, OverrideComponent, OverrideTrait};
use crate::api::{Component, Trait};

/// Read an override's properties; unknown fields are refused.
pub fn parse(properties: Option<&Value>) -> Result<Override, Error> {
    let policy: Override = read(properties)?;
    strict(&policy.rest)?;
    for component in &policy.components {
        strict(&component.rest)?;
        component.traits.iter().try_for_each(|it| strict(&it.rest))?;
    }
    Ok(policy)
}

/// `components` under `policy`. Components of one name are one.
pub fn apply(components: &[Component], policy: &Override) -> Vec<Component> {
    let mut order: Vec<String> = components.iter().map(|it| it.name.clone()).collect();
    let mut by_name: IndexMap<String, Component> =
        components.iter().map(|it| (it.name.clone(), it.clone())).collect();
    for change in &policy.components {
        let mut matched = false;
        let pattern = pattern(&change.name);
        for (name, component) in &mut by_name {
            let hit = if change.name.is_empty() {
                change.r#type.is_empty() || change.r#type == component.r#type
            } else {
                pattern.as_ref().is_some_and(|it| it.is_match(name))
            };
            if hit {
                matched = true;
                *component = merge(component, change);
            }
        }
        if !matched && !change.name.is_empty() {
            order.push(change.name.clone());
            by_name.insert(change.name.clone(), added(change));
        }
    }
    order
        .iter()
        .filter(|name| policy.selector.as_ref().is_none_or(|it| it.contains(name)))
        .filter_map(|name| by_name.get(name).cloned())
        .collect()
}

fn pattern(name: &str) -> Option<Regex> {
    Regex::new(&name.replace('*', ".*")).ok()
}

fn merge(base: &Component, change: &OverrideComponent) -> Component {
    if !change.r#type.is_empty() && !change.name.is_empty() && change.r#type != base.r#type {
        return added(change);
    }
    let mut merged = base.clone();
    if !change.external_revision.is_empty() {
        merged.external_revision.clone_from(&change.external_revision);
    }
    merged.properties = merge_properties(base.properties.as_ref(), change.properties.as_ref());
    merged.traits = merge_traits(&base.traits, &change.traits);
    merged
}

fn added(change: &OverrideComponent) -> Component {
    Component {
        name: change.name.clone(),
        r#type: change.r#type.clone(),
        external_revision: change.external_revision.clone(),
        properties: change.properties.clone(),
        traits: merge_traits(&[], &change.traits),
        ..Default::default()
    }
}

fn merge_traits(base: &[Trait], changes: &[OverrideTrait]) -> Vec<Trait> {
    // Traits of one type are one: the last of the base wins its first place.
    let mut traits: IndexMap<&str, Trait> = IndexMap::new();
    for it in base {
        traits.insert(&it.r#type, it.clone());
    }
    for change in changes {
        if change.disable {
            traits.shift_remove(change.r#type.as_str());
            continue;
        }
        match traits.get_mut(change.r#type.as_str()) {
            Some(found) => {
                found.properties =
                    merge_properties(found.properties.as_ref(), change.properties.as_ref())
            }
            None => {
                let fresh = Trait {
                    r#type: change.r#type.clone(),
                    properties: change.properties.clone(),
                    ..Default::default()
                };
                traits.insert(&change.r#type, fresh);
            }
        }
    }
    traits.into_values().collect()
}

/// Structs merge at every depth; everything else is replaced, also by empty values.
pub fn merge_properties(base: Option<&Value>, change: Option<&Value>) -> Option<Value> {
    match (base, change) {
        (base, None) => base.cloned(),
        (None, Some(change)) => Some(change.clone()),
        (Some(base), Some(change)) => {
            let mut merged = base.clone();
            merge_into(&mut merged, change);
            Some(merged)
        }
    }
}

fn merge_into(base: &mut Value, change: &Value) {
    match (base, change) {
        (Value::Object(base), Value::Object(change)) => {
            for (key, value) in change {
                match base.get_mut(key) {
                    Some(below) => merge_into(below, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (base, change) => *base = change.clone(),
    }
}
