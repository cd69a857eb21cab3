//! What the comments of a patch ask for: lists lined up by key, values replaced.

use std::sync::Arc;

use crate::tree::{Field, Rest, Tree};

/// Value of `+name=value` in a doc comment.
pub(crate) fn tag<'a>(docs: &'a [String], name: &str) -> Option<&'a str> {
    docs.iter().rev().find_map(|line| {
        let rest = line.trim().trim_start_matches('/').trim_start().strip_prefix('+')?;
        rest.strip_prefix(name)?.trim_start().strip_prefix('=').map(str::trim)
    })
}

/// Changes both sides so that unifying them does what the comments say.
pub(crate) fn align(base: &mut Tree, patch: &mut Tree) {
    walk(base, patch, &mut Vec::new(), None);
}

/// `key` is the `+patchKey` in force: it holds for everything below the field that has it.
fn walk(base: &mut Tree, patch: &mut Tree, path: &mut Vec<Arc<str>>, key: Option<&str>) {
    match patch {
        Tree::Struct(fields) => {
            for field in fields {
                path.push(field.label.clone());
                let own = tag(&field.docs, "patchKey").map(str::to_owned);
                let key = own.as_deref().or(key);
                apply(base, field, path, key);
                walk(base, &mut field.value, path, key);
                path.pop();
            }
        }
        Tree::List { items, .. } => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(index.to_string().into());
                walk(base, item, path, key);
                path.pop();
            }
        }
        Tree::Null
        | Tree::Bool(_)
        | Tree::Int(_)
        | Tree::Float(_)
        | Tree::String(_)
        | Tree::Cue(_)
        | Tree::Bottom(_) => {}
    }
}

fn apply(base: &mut Tree, field: &mut Field, path: &[Arc<str>], key: Option<&str>) {
    let strategy = tag(&field.docs, "patchStrategy").map(str::to_owned);
    let matched = match strategy.as_deref() {
        Some("retainKeys") => Matched::Emptied,
        _ => Matched::Kept,
    };
    let Some(old) = base.at_mut(path) else { return };
    if let Tree::List { items: wanted, rest: wanted_rest } = &mut field.value {
        let Tree::List { items, rest } = old else { return };
        if strategy.as_deref() == Some("replace") {
            items.clone_from(wanted);
            rest.clone_from(wanted_rest);
        } else if let Some(key) = key {
            if let Some(aligned) = line_up(items, wanted, key, matched) {
                *wanted = aligned;
                *wanted_rest = Rest::Anything;
            }
        } else if let Rest::Each(each) = wanted_rest {
            // `[...T]` says something of every element there is.
            let missing = items.len().saturating_sub(wanted.len());
            wanted.extend(std::iter::repeat_n(Tree::clone(each), missing));
        }
    } else if matched == Matched::Emptied {
        // The whole value is the patch's: nothing of the old one is left to disagree.
        *old = field.value.clone();
        old.open_lists();
    }
}

/// What becomes of what a patch meets.
#[derive(Clone, Copy, PartialEq)]
enum Matched {
    Kept,
    /// Only what the patch has stays: `retainKeys`.
    Emptied,
}

/// The elements of a patch in the places of the base elements with the same key, new ones after
/// them. `None` if no element has the key as a literal: then elements are unified by index.
///
/// Each of several keys appends its own block of places (kubevela-observed.md 19).
fn line_up(base: &mut [Tree], patch: &[Tree], key: &str, matched: Matched) -> Option<Vec<Tree>> {
    // No element asks for nothing: the base stays as it is.
    if patch.is_empty() {
        return Some(Vec::new());
    }
    let mut wanted: Vec<(String, usize)> = Vec::new();
    let mut aligned = Vec::new();
    for key in key.split(',') {
        let mut found = false;
        for (index, element) in patch.iter().enumerate() {
            let Some(value) = element.at(key) else { continue };
            found = true;
            let literal = literal(value)?;
            let name = format!("{key}={literal}");
            wanted.retain(|it| it.0 != name);
            wanted.push((name, index));
        }
        if !found {
            return None;
        }
        for element in base.iter_mut() {
            let Some(value) = element.at(key) else { continue };
            let name = format!("{key}={}", literal(value)?);
            if let Some(at) = wanted.iter().position(|it| it.0 == name) {
                let (_, index) = wanted.remove(at);
                if matched == Matched::Emptied {
                    *element = Tree::Struct(Vec::new());
                }
                aligned.push(patch[index].clone());
            } else {
                aligned.push(Tree::Struct(Vec::new()));
            }
        }
    }
    for (index, element) in patch.iter().enumerate() {
        if wanted.iter().any(|it| it.1 == index) {
            aligned.push(element.clone());
        }
    }
    Some(aligned)
}

fn literal(value: &Tree) -> Option<String> {
    match value {
        Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::String(_) => {
            Some(value.short())
        }
        Tree::Struct(_) | Tree::List { .. } | Tree::Cue(_) | Tree::Bottom(_) => None,
    }
}
