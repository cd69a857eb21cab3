//! What only an evaluation tells about declarations.

use cue_definition::{Found, LabelKey, left_of, root_of};
use cue_map::{Map, Set};
use cue_syntax::ast::Marker;

use crate::evaluator::{Evaluator, Value};
use crate::heap::{Source, Vertex, VertexId};
use crate::outward::{Packages, suffix};
use crate::program::{Code, LabelKind, Presence};

/// Evaluates what it asks for.
pub(crate) fn found(it: &mut Evaluator, packages: Packages) -> Found {
    let mut found = Found { simplified: it.simplified, ..Found::default() };
    let mut named = Map::default();
    let mut places = vec![(it.root, String::new(), false)];
    if packages == Packages::PutIn {
        let root = |it: &(u32, VertexId)| (it.1, root_of(it.0 as usize + 1), false);
        places.extend(it.imports.iter().map(root));
    }
    while let Some((id, path, chosen)) = places.pop() {
        it.unify(id);
        let vertex = it.heap.get(id);
        // Names in what alternatives are left of mean the fields before these were tried.
        let left = vertex.forward.is_some_and(|to| !shares(it, id, to));
        // The one that is left is not the field that a name of it is looked for in.
        if left {
            found.shared.entry(path.clone()).or_insert_with(|| left_of(&path));
        }
        let chosen = chosen || left || vertex.choice.is_some();
        let own = |group| it.shallow.contains(&group) && !it.of_parent(id, group);
        if vertex.closing.iter().any(|closing| own(closing.group)) {
            found.closed.insert(path.clone());
        }
        for (key, name) in produced(it, it.heap.get(it.follow(id))) {
            found.labels_at.insert((key, path.clone()), name);
        }
        for arc in &vertex.arcs {
            let dot = if path.is_empty() { "" } else { "." };
            let hidden = it.labels.package(arc.label).map(|it| suffix(it)).unwrap_or_default();
            let place = format!("{path}{dot}{}{hidden}", it.label_text(arc.label));
            found.presence.insert(place.clone(), marker(arc.presence));
            if chosen {
                found.shared.insert(place.clone(), String::new());
            }
            if arc.vertex != id && it.heap.get(arc.vertex).parent == Some(id) {
                places.push((arc.vertex, place, chosen));
            }
        }
        named.insert(id, path);
    }
    found.labels = found_labels(it).labels;
    let closing = &it.heap.get(it.root).closing;
    let deeply = |group| it.closes_deeply(group);
    found.is_closed = it.is_closed_struct(it.root)
        && (closing.is_empty() || closing.iter().any(|it| it.holds() && deeply(it.group)));
    let ids: Vec<VertexId> = named.keys().copied().collect();
    for id in ids {
        if let (Some(target), Some(path)) = (target(it, id), named.get(&id)) {
            // What has no place of its own is no place that is printed; nor is one of another package, be it by
            // way of one of this.
            let last = self::target(it, target).unwrap_or(target);
            let here = it.outermost(last) == it.outermost(id);
            let target = named.get(&target).filter(|_| here).cloned().unwrap_or_default();
            found.shared.entry(path.clone()).or_insert(target);
        }
    }
    found
}

/// Labels that computed fields got wherever they are evaluated.
pub(crate) fn found_labels(it: &Evaluator) -> Found {
    let mut found = Found::default();
    let mut ambiguous = Set::default();
    for vertex in it.heap.vertices() {
        for (key, name) in produced(it, vertex) {
            if found.labels.get(&key).is_some_and(|other| *other != name) {
                ambiguous.insert(key.clone());
            }
            found.labels.insert(key, name);
        }
    }
    found.labels.retain(|key, _| !ambiguous.contains(key));
    found
}

fn marker(presence: Presence) -> Marker {
    match presence {
        Presence::Member => Marker::None,
        Presence::Required => Marker::Required,
        Presence::Optional => Marker::Optional,
    }
}

/// The labels that computed fields of a struct got.
fn produced(it: &Evaluator, vertex: &Vertex) -> Vec<(LabelKey, String)> {
    let all = vertex.placed.iter().flat_map(|it| &it.produced);
    let all = all.filter_map(|(expr, label)| {
        let at = it.program.at(*expr);
        let source = it.program.sources.get(at.source as usize)?;
        let key = (source.name.clone(), at.span.start, at.span.end);
        Some((key, it.labels.name(*label).to_string()))
    });
    all.collect()
}

pub(crate) fn is_in_definition(it: &Evaluator, id: VertexId) -> bool {
    let mut next = Some(id);
    while let Some(id) = next {
        let vertex = it.heap.get(id);
        let kind = vertex.label.map(|label| it.labels.kind(label));
        if matches!(kind, Some(LabelKind::Definition | LabelKind::HiddenDefinition)) {
            return true;
        }
        next = vertex.parent;
    }
    false
}

/// The vertex that a vertex is nothing but a reference to, or several of.
pub(crate) fn target(it: &mut Evaluator, id: VertexId) -> Option<VertexId> {
    if let Some(forward) = it.heap.get(id).forward {
        // An alternative that is left is no other place.
        return shares(it, id, forward).then(|| it.follow(forward));
    }
    let mut shared = None;
    let mut open = Vec::new();
    for conjunct in &it.heap.get(id).conjuncts {
        let Source::Expr(expr, env) = conjunct.source() else { return None };
        open.push((expr, env));
    }
    while let Some((expr, env)) = open.pop() {
        match it.program.code(expr) {
            Code::Field { .. } | Code::Variable { .. } | Code::Select(..) | Code::Index(..) => {}
            Code::Top => continue,
            Code::Unify(left, right) => {
                open.extend([(*left, env), (*right, env)]);
                continue;
            }
            _ => return None,
        }
        let Value::Vertex(target) = it.eval(expr, env) else { return None };
        let target = it.unify(target);
        // What names itself says nothing more.
        if target == id {
            continue;
        }
        if shared.replace(target).is_some_and(|it| it != target) {
            return None;
        }
    }
    let target = shared?;
    let definition = it
        .heap
        .get(id)
        .label
        .is_some_and(|it_label| it.labels.kind(it_label) == LabelKind::Definition);
    let closing = is_closing(it, id);
    let outside = !is_in_definition(it, target) && !is_closing(it, target);
    if target == id || it.is_ancestor(target, id) || (closing || definition) && outside {
        return None;
    }
    Some(target)
}

/// Whether a vertex has its value from another place.
fn shares(it: &Evaluator, id: VertexId, from: VertexId) -> bool {
    it.sharers.get(&from).is_some_and(|it| it.contains(&id))
}

/// Whether something that is said of a vertex closes it.
fn is_closing(it: &Evaluator, id: VertexId) -> bool {
    let conjuncts = &it.heap.get(id).conjuncts;
    conjuncts.iter().any(|it| it.close_as.is_some())
        || conjuncts.iter().flat_map(|it| it.groups.iter()).any(|group| it.closes(*group))
}
