//! The same demands in fewer items: conjunctions within conjunctions are one, and a choice between values is an
//! enumeration.

use std::rc::Rc;

use super::item::{Item, Shared};

/// An item made simpler.
pub(super) fn simplified(item: &Shared) -> Shared {
    enumerated(&flattened(item))
}

/// Conjunctions directly within others become part of these; of what is said twice in a row of them one is kept.
fn flattened(item: &Shared) -> Shared {
    let Item::AllOf(_) = &**item else { return Rc::new(item.mapped(&flattened)) };
    let mut all: Vec<Shared> = Vec::new();
    for each in conjuncts(item) {
        if !all.contains(&each) {
            all.push(flattened(&each));
        }
    }
    match all.as_slice() {
        [only] => only.clone(),
        _ => Rc::new(Item::AllOf(all)),
    }
}

/// What a conjunction holds, with what the conjunctions directly within it hold; else the item itself.
pub(super) fn conjuncts(item: &Shared) -> Vec<Shared> {
    match &**item {
        Item::AllOf(all) => all.iter().flat_map(conjuncts).collect(),
        _ => vec![item.clone()],
    }
}

/// Alternatives that all are values become an enumeration. Among other alternatives nothing is looked for.
fn enumerated(item: &Shared) -> Shared {
    let Item::AnyOf(all) = &**item else { return Rc::new(item.mapped(&enumerated)) };
    let value = |it: &Shared| match &**it {
        Item::Const(text) => Some(text.clone()),
        _ => None,
    };
    match all.iter().map(value).collect::<Option<Vec<String>>>() {
        Some(values) => Rc::new(Item::Enum(values)),
        None => item.clone(),
    }
}
