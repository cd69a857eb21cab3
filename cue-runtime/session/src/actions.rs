//! Finding the next `#do` (kubevela.md §5.3): children before parents, siblings in output order or
//! by `@step(n)`, definitions left aside.

use cue_eval::builtin::Datum;
use cue_eval::heap::VertexId;
use cue_eval::{Evaluation, LabelKind, Member, Presence, evaluation};

use crate::machine::diagnostics;
use crate::protocol::Action;

/// Deepest action that is found.
const DEPTH: u32 = 60;

/// The first action at or below `id` whose path is not in `done`.
pub(crate) fn next(
    it: &mut Evaluation,
    id: VertexId,
    path: &str,
    done: &[String],
) -> Option<Action> {
    visit(it, id, path, done, 0)
}

fn visit(
    it: &mut Evaluation,
    id: VertexId,
    path: &str,
    done: &[String],
    depth: u32,
) -> Option<Action> {
    if depth > DEPTH || done.iter().any(|it| it == path) {
        return None;
    }
    let list = it.is_list(id);
    let mut members = it.members(id)?;
    members.retain(|(member, _)| {
        member.presence == Presence::Member
            && matches!(
                member.label_kind,
                LabelKind::Regular | LabelKind::Index | LabelKind::Hidden
            )
    });
    cue_sort::by_key(&mut members, |(member, _)| step(member));
    let own = text_at(it, id, "#do");
    for (member, vertex) in members {
        // What an action was given or has returned holds no further actions.
        if own.is_some() && matches!(member.label.as_str(), "$params" | "$returns") {
            continue;
        }
        let below = if list {
            format!("{path}[{}]", member.label)
        } else if path.is_empty() {
            member.selector.clone()
        } else {
            format!("{path}.{}", member.selector)
        };
        if let Some(found) = visit(it, vertex, &below, done, depth + 1) {
            return Some(found);
        }
    }
    let verb = own?;
    let provider = text_at(it, id, "#provider").unwrap_or_default();
    let json = it.lenient(id).map_or_else(|| "{}".into(), |datum| evaluation::print_json(&datum));
    let pending = match it.error(id) {
        Some(wrong) => diagnostics(vec![wrong]),
        None => {
            // The older form has its parameters beside `#do`.
            let parameters = member(it, id, "$params").unwrap_or(id);
            diagnostics(it.validate(parameters, cue_eval::Concreteness::Required))
        }
    };
    Some(Action { path: path.to_owned(), verb, provider, json, pending })
}

fn step(member: &Member) -> i64 {
    let found = member.attributes.iter().find(|it| it.0 == "step");
    found.and_then(|it| it.1.trim().parse().ok()).unwrap_or(0)
}

fn member(it: &mut Evaluation, id: VertexId, label: &str) -> Option<VertexId> {
    it.members(id)?.into_iter().find(|(member, _)| member.label == label).map(|it| it.1)
}

fn text_at(it: &mut Evaluation, id: VertexId, label: &str) -> Option<String> {
    let vertex = member(it, id, label)?;
    match it.datum(vertex) {
        Ok(Datum::String(text)) => Some(text.to_string()),
        _ => None,
    }
}
