//! Finding the next `#do` (kubevela.md §5.3): children before parents, siblings in output order or
//! by `@step(n)`, definitions left aside.

use cue_eval::builtin::Datum;
use cue_eval::heap::VertexId;
use cue_eval::{Evaluation, LabelKind, Member, Presence, evaluation};
use cue_map::{Map, Set};

use crate::machine::{diagnostics, find};
use crate::protocol::{Action, Diagnostic};

/// Deepest action that is found.
const DEPTH: u32 = 60;

/// What is left to do in an evaluation: which actions were carried out, and which fields at its root
/// have no other ones.
#[derive(Default)]
pub(crate) struct Agenda {
    done: Set<String>,
    /// Fields at the root, in order; none before they were listed.
    fields: Option<Vec<String>>,
    places: Map<String, usize>,
    /// The fields before this one have nothing to be done.
    quiet: usize,
}

impl Agenda {
    /// These were carried out too; `known` of those that were told of before still count.
    pub(crate) fn carried_out(&mut self, known: usize, done: &[String]) {
        if known == 0 {
            *self = Self::default();
        }
        self.done.extend(done.iter().cloned());
    }

    /// These fields at the root may have changed; `None` if all may have.
    pub(crate) fn changed(&mut self, fields: Option<&[String]>) {
        for field in fields.unwrap_or_default() {
            match self.places.get(field) {
                Some(place) => self.quiet = self.quiet.min(*place),
                None => self.fields = None,
            }
        }
        if fields.is_none() {
            self.fields = None;
        }
    }

    /// The first action at or below a path that was not carried out.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub(crate) fn next(
        &mut self,
        it: &mut Evaluation,
        below: &str,
    ) -> Result<Option<Action>, Vec<Diagnostic>> {
        let Some(id) = find(it, below)? else { return Ok(None) };
        if below.is_empty() && it.field(id, LabelKind::Definition, "#do").is_none() {
            return Ok(self.next_of_root(it, id));
        }
        Ok(self.visit(it, id, below, 0))
    }

    fn next_of_root(&mut self, it: &mut Evaluation, root: VertexId) -> Option<Action> {
        if self.fields.is_none() {
            let fields: Vec<String> =
                within(it, root)?.into_iter().map(|(member, _)| member.selector).collect();
            self.places = fields.iter().cloned().enumerate().map(|(at, it)| (it, at)).collect();
            (self.fields, self.quiet) = (Some(fields), 0);
        }
        let fields = self.fields.take()?;
        let mut found = None;
        while let (Some(field), None) = (fields.get(self.quiet), &found) {
            if let Ok(Some(id)) = it.find(field) {
                found = self.visit(it, id, field, 1);
            }
            self.quiet += usize::from(found.is_none());
        }
        self.fields = Some(fields);
        found
    }

    fn visit(&self, it: &mut Evaluation, id: VertexId, path: &str, depth: u32) -> Option<Action> {
        if depth > DEPTH || self.done.contains(path) {
            return None;
        }
        let list = it.is_list(id);
        let members = within(it, id)?;
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
            if let Some(found) = self.visit(it, vertex, &below, depth + 1) {
                return Some(found);
            }
        }
        let verb = own?;
        let provider = text_at(it, id, "#provider").unwrap_or_default();
        let json =
            it.lenient(id).map_or_else(|| "{}".into(), |datum| evaluation::print_json(&datum));
        let pending = match it.error(id) {
            Some(wrong) => diagnostics(vec![wrong]),
            None => {
                // The older form has its parameters beside `#do`.
                let parameters = it.field(id, LabelKind::Regular, "$params").unwrap_or(id);
                diagnostics(it.validate(parameters, cue_eval::Concreteness::Required))
            }
        };
        Some(Action { path: path.to_owned(), verb, provider, json, pending })
    }
}

/// Members in which actions may be, in the order they are carried out in.
fn within(it: &mut Evaluation, id: VertexId) -> Option<Vec<(Member, VertexId)>> {
    let mut members = it.members(id)?;
    members.retain(|(member, _)| {
        member.presence == Presence::Member
            && matches!(
                member.label_kind,
                LabelKind::Regular | LabelKind::Index | LabelKind::Hidden
            )
    });
    cue_sort::by_key(&mut members, |(member, _)| step(member));
    Some(members)
}

fn step(member: &Member) -> i64 {
    let found = member.attributes.iter().find(|it| it.0 == "step");
    found.and_then(|it| it.1.trim().parse().ok()).unwrap_or(0)
}

fn text_at(it: &mut Evaluation, id: VertexId, label: &str) -> Option<String> {
    let vertex = it.field(id, LabelKind::Definition, label)?;
    match it.datum(vertex) {
        Ok(Datum::String(text)) => Some(text.to_string()),
        _ => None,
    }
}
