//! Unifying a patch with a base, both already lined up.

use std::sync::Arc;

use cue_map::Map;

use crate::tree::{Field, Rest, Tree};
use crate::{Conflict, Error, order};

/// Both hold, or where they do not. Fields of the patch come first: it is the left operand.
pub(crate) fn unify(patch: Tree, base: Tree) -> Result<Tree, Error> {
    let mut conflicts = Vec::new();
    let tree = both(patch, base, &mut Vec::new(), &mut conflicts);
    bottoms(&tree, &mut conflicts);
    if conflicts.is_empty() { Ok(tree) } else { Err(Error::Result(conflicts)) }
}

fn both(patch: Tree, base: Tree, path: &mut Vec<Arc<str>>, conflicts: &mut Vec<Conflict>) -> Tree {
    let conflict = |message: String, conflicts: &mut Vec<Conflict>, path: &[Arc<str>]| {
        conflicts.push(Conflict { path: path.iter().map(ToString::to_string).collect(), message });
        Tree::Null
    };
    match (patch, base) {
        (Tree::Bottom(text), Tree::Bottom(_)) => {
            // Each side's error counts.
            conflicts.push(explicit());
            Tree::Bottom(text)
        }
        (Tree::Bottom(text), _) | (_, Tree::Bottom(text)) => Tree::Bottom(text),
        (Tree::Cue(left), Tree::Cue(right)) if left == right => Tree::Cue(left),
        (Tree::Cue(text), other) | (other, Tree::Cue(text)) => {
            Tree::Cue(format!("({text}) & ({})", other.to_cue()))
        }
        (Tree::Struct(left), Tree::Struct(right)) => {
            Tree::Struct(structs(left, right, path, conflicts))
        }
        (
            Tree::List { items: left, rest: left_rest },
            Tree::List { items: right, rest: right_rest },
        ) => {
            let short = (left.len() < right.len() && left_rest == Rest::Nothing)
                || (right.len() < left.len() && right_rest == Rest::Nothing);
            if short {
                let message =
                    format!("incompatible list lengths ({} and {})", left.len(), right.len());
                return conflict(message, conflicts, path);
            }
            let mut items = Vec::with_capacity(left.len().max(right.len()));
            let (mut left, mut right) = (left.into_iter(), right.into_iter());
            // Of a list only the first element in error is told.
            let mut quiet = Vec::new();
            let before = conflicts.len();
            loop {
                let told = if conflicts.len() > before { &mut quiet } else { &mut *conflicts };
                match (left.next(), right.next()) {
                    (Some(left), Some(right)) => {
                        path.push(items.len().to_string().into());
                        items.push(both(left, right, path, told));
                        path.pop();
                    }
                    (Some(one), None) => match &right_rest {
                        Rest::Each(each) => {
                            path.push(items.len().to_string().into());
                            items.push(both(one, Tree::clone(each), path, told));
                            path.pop();
                        }
                        Rest::Anything | Rest::Nothing => items.push(one),
                    },
                    // What the patch says of each was put in place when it was lined up.
                    (None, Some(one)) => items.push(one),
                    (None, None) => break,
                }
            }
            let rest = match (left_rest, right_rest) {
                (Rest::Nothing, _) | (_, Rest::Nothing) => Rest::Nothing,
                (Rest::Anything, rest) | (rest, Rest::Anything) => rest,
                (Rest::Each(left), Rest::Each(right)) => {
                    Rest::Each(Box::new(both(*left, *right, path, conflicts)))
                }
            };
            Tree::List { items, rest }
        }
        (patch, base) if same_scalar(&patch, &base) => patch,
        (patch, base) => {
            let (left, right) = (kind(&patch), kind(&base));
            let message = if left == right {
                format!("conflicting values {} and {}", patch.short(), base.short())
            } else {
                // CUE names the operand first that was there first, the base; a scalar before a struct.
                let (first, second) =
                    if right == "struct" { (&patch, &base) } else { (&base, &patch) };
                format!(
                    "conflicting values {} and {} (mismatched types {} and {})",
                    first.short(),
                    second.short(),
                    kind(first),
                    kind(second)
                )
            };
            conflict(message, conflicts, path)
        }
    }
}

fn structs(
    left: Vec<Field>,
    right: Vec<Field>,
    path: &mut Vec<Arc<str>>,
    conflicts: &mut Vec<Conflict>,
) -> Vec<Field> {
    let own = left.len();
    let known: Map<&str, usize> =
        left.iter().enumerate().map(|(at, it)| (&*it.label, at)).collect();
    let mut new = own..;
    let places: Vec<usize> = right
        .iter()
        .filter_map(|it| known.get(&*it.label).copied().or_else(|| new.next()))
        .collect();
    let mut fields = left;
    for (field, at) in right.into_iter().zip(&places) {
        let Some(same) = fields.get_mut(*at) else {
            fields.push(field);
            continue;
        };
        if field.marker.is_empty() {
            same.marker = "";
        }
        let value = std::mem::replace(&mut same.value, Tree::Null);
        path.push(field.label);
        same.value = both(value, field.value, path, conflicts);
        path.pop();
    }
    order::merged(fields, own, &places)
}

fn same_scalar(left: &Tree, right: &Tree) -> bool {
    match (left, right) {
        (Tree::Int(left), Tree::Int(right)) => left == right,
        (Tree::Float(left), Tree::Float(right)) => {
            left == right || left.parse::<f64>().ok() == right.parse::<f64>().ok()
        }
        _ => left == right,
    }
}

fn kind(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "null",
        Tree::Bool(_) => "bool",
        Tree::Int(_) => "int",
        Tree::Float(_) => "float",
        Tree::String(_) => "string",
        Tree::Struct(_) => "struct",
        Tree::List { .. } => "list",
        Tree::Cue(_) | Tree::Bottom(_) => "_",
    }
}

/// The error went through syntax on its way here: only `_|_` was left of it.
fn explicit() -> Conflict {
    let message = "explicit error (_|_ literal) in source".to_owned();
    Conflict { path: Vec::new(), message }
}

fn bottoms(tree: &Tree, conflicts: &mut Vec<Conflict>) {
    match tree {
        Tree::Bottom(_) => {
            conflicts.push(explicit());
        }
        Tree::Struct(fields) => fields.iter().for_each(|it| bottoms(&it.value, conflicts)),
        Tree::List { items, .. } => items.iter().for_each(|it| bottoms(it, conflicts)),
        Tree::Null
        | Tree::Bool(_)
        | Tree::Int(_)
        | Tree::Float(_)
        | Tree::String(_)
        | Tree::Cue(_) => {}
    }
}
