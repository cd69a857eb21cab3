//! Unifying a patch with a base, both already lined up.

use crate::tree::{Field, Tree};
use crate::{Conflict, Error, order};

/// Both hold, or where they do not. Fields of the patch come first: it is the left operand.
pub(crate) fn unify(patch: &Tree, base: &Tree) -> Result<Tree, Error> {
    let mut conflicts = Vec::new();
    let tree = both(patch, base, &mut Vec::new(), &mut conflicts);
    let mut path = Vec::new();
    bottoms(&tree, &mut path, &mut conflicts);
    if conflicts.is_empty() { Ok(tree) } else { Err(Error::Result(conflicts)) }
}

fn both(patch: &Tree, base: &Tree, path: &mut Vec<String>, conflicts: &mut Vec<Conflict>) -> Tree {
    let conflict = |message: String, conflicts: &mut Vec<Conflict>, path: &[String]| {
        conflicts.push(Conflict { path: path.to_vec(), message });
        Tree::Null
    };
    match (patch, base) {
        (Tree::Bottom(_), _) => patch.clone(),
        (_, Tree::Bottom(_)) => base.clone(),
        (Tree::Cue(left), Tree::Cue(right)) if left == right => patch.clone(),
        (Tree::Cue(text), other) | (other, Tree::Cue(text)) => {
            Tree::Cue(format!("({text}) & ({})", other.to_cue()))
        }
        (Tree::Struct(left), Tree::Struct(right)) => {
            let mut fields: Vec<Field> = Vec::with_capacity(left.len() + right.len());
            for field in left {
                let same = |it: &&Field| it.label == field.label;
                let other = right.iter().find(same);
                path.push(field.label.clone());
                let value = match other {
                    Some(other) => both(&field.value, &other.value, path, conflicts),
                    None => field.value.clone(),
                };
                path.pop();
                let marker = match other {
                    Some(other) if other.marker.is_empty() => "",
                    Some(_) | None => field.marker,
                };
                fields.push(Field { value, marker, ..field.clone() });
            }
            let rest = right.iter().filter(|it| !left.iter().any(|own| own.label == it.label));
            fields.extend(rest.cloned());
            Tree::Struct(order::merged(fields, left, right))
        }
        (
            Tree::List { items: left, open: left_open },
            Tree::List { items: right, open: right_open },
        ) => {
            let short = (left.len() < right.len() && !left_open)
                || (right.len() < left.len() && !right_open);
            if short {
                let message =
                    format!("incompatible list lengths ({} and {})", left.len(), right.len());
                return conflict(message, conflicts, path);
            }
            let mut items = Vec::with_capacity(left.len().max(right.len()));
            for index in 0..left.len().max(right.len()) {
                let item = match (left.get(index), right.get(index)) {
                    (Some(left), Some(right)) => {
                        path.push(index.to_string());
                        let item = both(left, right, path, conflicts);
                        path.pop();
                        item
                    }
                    (Some(one), None) | (None, Some(one)) => one.clone(),
                    (None, None) => Tree::Null,
                };
                items.push(item);
            }
            Tree::List { items, open: *left_open && *right_open }
        }
        _ if same_scalar(patch, base) => patch.clone(),
        _ => {
            let (left, right) = (kind(patch), kind(base));
            let message = if left == right {
                format!("conflicting values {} and {}", patch.short(), base.short())
            } else {
                // CUE names the operand first that was there first: the base.
                format!(
                    "conflicting values {} and {} (mismatched types {right} and {left})",
                    base.short(),
                    patch.short()
                )
            };
            conflict(message, conflicts, path)
        }
    }
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

fn bottoms(tree: &Tree, path: &mut Vec<String>, conflicts: &mut Vec<Conflict>) {
    match tree {
        Tree::Bottom(_) => {
            // The error went through syntax on its way here: only `_|_` was left of it.
            let message = "explicit error (_|_ literal) in source".to_owned();
            conflicts.push(Conflict { path: Vec::new(), message });
        }
        Tree::Struct(fields) => {
            for field in fields {
                path.push(field.label.clone());
                bottoms(&field.value, path, conflicts);
                path.pop();
            }
        }
        Tree::List { items, .. } => items.iter().for_each(|it| bottoms(it, path, conflicts)),
        Tree::Null
        | Tree::Bool(_)
        | Tree::Int(_)
        | Tree::Float(_)
        | Tree::String(_)
        | Tree::Cue(_) => {}
    }
}
