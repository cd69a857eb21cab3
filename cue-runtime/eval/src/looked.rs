//! Functions that look at values, not data: what of a list is equal, how many of it fit a schema.

use cue_map::Map;

use crate::builtin::{CallError, Datum};
use crate::error::Fault;
use crate::evaluator::Evaluator;
use crate::heap::VertexId;
use crate::program::{LabelKind, Presence};

impl Evaluator {
    /// The elements of a list that is an argument.
    pub(crate) fn items_of(&mut self, list: Option<&Datum>) -> Vec<VertexId> {
        match list {
            Some(Datum::Live(raw)) => {
                let Some(id) = self.handles.get(*raw as usize).copied() else {
                    return Vec::new();
                };
                let id = self.unify(id);
                let id = self.default_of(id).unwrap_or(id);
                self.elements(id)
            }
            Some(Datum::List(items)) => {
                let items: Vec<Datum> = items.iter().cloned().collect();
                items.into_iter().map(|it| self.live(it)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `list.UniqueItems`: what is equal stays equal only if the second of a pair is final.
    pub(crate) fn unique_items(&mut self, list: Option<&Datum>) -> Result<Datum, CallError> {
        let items = self.items_of(list);
        let keys: Vec<Option<String>> = items.iter().map(|it| self.equal_key(*it, 0)).collect();
        let mut alike: Map<&str, Vec<usize>> = Map::default();
        for (at, key) in keys.iter().enumerate() {
            if let Some(key) = key {
                alike.entry(key).or_default().push(at);
            }
        }
        let mut found = None;
        for (first, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let later = alike.get(&**key).into_iter().flatten().filter(|it| **it > first);
            for second in later.copied() {
                if self.tick().is_err() {
                    continue;
                }
                let scalar = items.get(second).is_some_and(|it| self.is_scalar(*it));
                let text = match scalar {
                    true => format!("equal value ({key}) at position {first} and {second}"),
                    false => format!("equal values at position {first} and {second}"),
                };
                if items.get(second).is_some_and(|it| self.is_final(*it)) {
                    return Err(CallError::unsatisfied(text));
                }
                found = Some(text);
            }
        }
        match found {
            Some(text) => Err(CallError::unsettled(text)),
            None => Ok(Datum::Bool(true)),
        }
    }

    /// The same for values that are equal: regular fields only, in no order.
    fn equal_key(&mut self, id: VertexId, depth: u32) -> Option<String> {
        let id = self.unify(id);
        let id = self.default_of(id)?;
        let vertex = self.heap.get(id);
        if vertex.fault.is_some() || depth > self.budget.depth {
            return None;
        }
        if vertex.is_list {
            let mut keys = Vec::new();
            for element in self.elements(id) {
                keys.push(self.equal_key(element, depth + 1)?);
            }
            return Some(format!("[{}]", keys.join(",")));
        }
        if vertex.scalar.is_some() || !vertex.is_struct {
            return Some(self.short(id));
        }
        let mut keys = Vec::new();
        for (label, vertex, presence) in self.ordered_members(id) {
            if presence == Presence::Member && self.labels.kind(label) == LabelKind::Regular {
                let name = self.label_text(label);
                keys.push(format!("{name}:{}", self.equal_key(vertex, depth + 1)?));
            }
        }
        cue_sort::by(&mut keys, Ord::cmp);
        Some(format!("{{{}}}", keys.join(",")))
    }

    fn is_scalar(&mut self, id: VertexId) -> bool {
        let id = self.unify(id);
        let id = self.default_of(id).unwrap_or(id);
        self.heap.get(id).scalar.is_some()
    }

    /// Whether nothing can be added to a value.
    fn is_final(&mut self, id: VertexId) -> bool {
        if self.is_scalar(id) {
            return true;
        }
        let id = self.unify(id);
        let id = self.default_of(id).unwrap_or(id);
        let vertex = self.heap.get(id);
        if !vertex.is_struct || !vertex.patterns.is_empty() || !self.is_closed_struct(id) {
            return false;
        }
        let arcs: Vec<_> =
            self.heap.get(id).arcs.iter().map(|it| (it.vertex, it.label, it.presence)).collect();
        arcs.into_iter().all(|(vertex, label, presence)| {
            if self.labels.kind(label) != LabelKind::Regular {
                return true;
            }
            match presence {
                Presence::Member => self.datum(vertex).is_ok(),
                // What cannot be set is not added.
                Presence::Optional | Presence::Required => self.fails_for_good(vertex),
            }
        })
    }

    /// `list.MatchN`: how many elements fit, and whether that many should.
    pub(crate) fn match_items(
        &mut self,
        list: Option<&Datum>,
        limit: VertexId,
        schema: VertexId,
    ) -> Result<Datum, CallError> {
        let mut count = 0;
        for item in self.items_of(list) {
            count += i64::from(self.fit(item, schema).is_ok());
        }
        let number = self.datum_vertex(Datum::int(count));
        if self.unifies(number, limit) {
            return Ok(Datum::Bool(true));
        }
        // Of what fails in it a schema is no more than that.
        let schema = match Fault::listed(self.first_failing(schema)) {
            Some(fault) => self.brief_fault(&fault, schema),
            None => self.short(schema),
        };
        let limit = self.short(limit);
        let text = format!("{schema} matches {count} list items, want {limit}");
        Err(CallError::unsatisfied(text))
    }

    /// Whether a struct with `count` fields may come to have `least`.
    pub(crate) fn may_grow(&self, id: VertexId, least: i64) -> bool {
        let vertex = self.heap.get(id);
        let fields =
            vertex.arcs.iter().filter(|it| self.labels.kind(it.label) == LabelKind::Regular);
        let possible = i64::try_from(fields.count()).unwrap_or(i64::MAX);
        // A definition closes what a validator or `_` is said of, too, though these name no fields (S-18).
        let defined = || vertex.closing.iter().any(|it| !it.open && self.closes(it.group));
        let closed = self.is_closed_struct(id) || !vertex.open && defined();
        !vertex.patterns.is_empty() || !closed || possible >= least
    }
}
