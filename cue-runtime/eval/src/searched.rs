//! Lists that values are looked for in: kept with the places of their elements by hash, for as long as
//! nothing changes, since what is looked for once is looked for again for each of many.

use std::hash::{Hash, Hasher};

use cue_map::Map;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::compare;
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::program::{Label, LabelKind, Presence};

/// What an element counts for.
const ELEMENT_BYTES: usize = 64;

/// A list as data.
pub(crate) struct Searched {
    /// What was known when it was made: another list may stand there since.
    at: (u64, u32),
    list: Datum,
    /// No element is more than that.
    plain: bool,
    places: Map<u64, SmallVec<[u32; 1]>>,
}

impl Searched {
    /// Whether an element is equal.
    pub(crate) fn has(&self, wanted: &Datum) -> bool {
        let Datum::List(items) = &self.list else { return false };
        let places = self.places.get(&hash(wanted));
        let mut equal = places.into_iter().flatten().filter_map(|it| items.get(*it as usize));
        equal.any(|it| compare::same(it, wanted))
    }
}

impl Evaluator {
    /// Whether an element of a list is equal: scalars by their values, all else member by member.
    pub(crate) fn is_in_list(&mut self, list: VertexId, wanted: &Datum) -> Result<bool, FaultId> {
        let mut plain = false;
        if self.search(list).is_ok() {
            let searched = &self.searched[&list];
            if !matches!(wanted, Datum::Live(_)) {
                return Ok(searched.has(wanted));
            }
            plain = searched.plain;
        } else if let Some(fault) = self.permanent(list, 0) {
            return Err(self.heap.fault(fault));
        }
        let wanted = self.live(wanted.clone());
        if plain && self.is_plain(wanted) {
            if let Ok(wanted) = self.datum(wanted) {
                return Ok(self.searched.get(&list).is_some_and(|it| it.has(&wanted)));
            }
        }
        for element in self.elements(list) {
            self.tick()?;
            let element = self.default_of(element).unwrap_or(element);
            if self.equals(element, wanted)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two values are equal, concrete or not: of structs all that is there, definitions and
    /// hidden fields too, and nothing that only may be.
    fn equals(&mut self, left: VertexId, right: VertexId) -> Result<bool, FaultId> {
        if let Err(fault) = self.go_in(left) {
            return Err(self.heap.fault(fault));
        }
        let equal = self.equals_within(left, right);
        self.go_out();
        equal
    }

    fn equals_within(&mut self, left: VertexId, right: VertexId) -> Result<bool, FaultId> {
        let (left, right) = (self.unify(left), self.unify(right));
        if left == right {
            return Ok(true);
        }
        let (one, other) = (self.heap.get(left), self.heap.get(right));
        let alike = one.is_list == other.is_list && one.is_struct == other.is_struct;
        let whole = one.choice.is_none() && one.fault.is_none();
        if !alike || !whole || !(one.is_list || one.is_struct) {
            return Ok(self.same_value(left, right, 1));
        }
        let (one, other) = (self.members_of(left), self.members_of(right));
        if one.len() != other.len() {
            return Ok(false);
        }
        for (at, (label, member)) in one.into_iter().enumerate() {
            self.tick()?;
            // What is alike has its fields at the same places, mostly.
            let found = other.get(at).filter(|it| it.0 == label);
            let found = found.or_else(|| other.iter().find(|it| it.0 == label));
            match found {
                Some(found) if self.equals(member, found.1)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether a value is no more than what it is as data.
    fn is_plain(&mut self, id: VertexId) -> bool {
        let id = self.unify(id);
        let members = self.members_of(id);
        self.heap.get(id).choice.is_none()
            && members.into_iter().all(|(label, member)| {
                matches!(self.labels.kind(label), LabelKind::Regular | LabelKind::Index)
                    && self.is_plain(member)
            })
    }

    /// What is there of a struct or a list.
    fn members_of(&self, id: VertexId) -> Vec<(Label, VertexId)> {
        let arcs = self.heap.get(id).arcs.iter();
        arcs.filter(|it| it.presence == Presence::Member).map(|it| (it.label, it.vertex)).collect()
    }

    /// Makes a list ready to be looked into.
    pub(crate) fn search(&mut self, id: VertexId) -> Result<(), FaultId> {
        let now = (self.epoch, self.heap.resets);
        if self.searched.get(&id).is_some_and(|it| it.at == now) {
            return Ok(());
        }
        let list = self.datum(id)?;
        let mut places: Map<u64, SmallVec<[u32; 1]>> = Map::default();
        if let Datum::List(items) = &list {
            self.charge(items.len() * ELEMENT_BYTES)?;
            for (at, item) in items.iter().enumerate() {
                places.entry(hash(item)).or_default().push(at as u32);
            }
        }
        let at = (self.epoch, self.heap.resets);
        let plain = self.is_plain(id);
        self.searched.insert(id, Searched { at, list, places, plain });
        Ok(())
    }
}

/// The same for what is the same ([`compare::same`]).
pub(crate) fn hash(datum: &Datum) -> u64 {
    let mut hasher = FxHasher::default();
    match datum {
        Datum::Null | Datum::Live(_) | Datum::Function(_) => 0_u8.hash(&mut hasher),
        Datum::Bool(it) => it.hash(&mut hasher),
        // Zero has a sign that does not count.
        Datum::Number(it) => (it.to_f64() + 0.0).to_bits().hash(&mut hasher),
        Datum::String(it) => it.as_bytes().hash(&mut hasher),
        Datum::Bytes(it) => it.hash(&mut hasher),
        Datum::List(items) => items.iter().for_each(|it| hash(it).hash(&mut hasher)),
        // In no order.
        Datum::Struct(fields) => {
            let mut all = 0_u64;
            for (name, value) in fields.iter() {
                let mut field = FxHasher::default();
                name.as_bytes().hash(&mut field);
                hash(value).hash(&mut field);
                all = all.wrapping_add(field.finish());
            }
            all.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::parse_json;

    fn hash_of(json: &str) -> u64 {
        hash(&parse_json(json).unwrap())
    }

    #[test]
    fn what_is_equal_has_one_hash() {
        assert_eq!(hash_of("1"), hash_of("1.0"));
        assert_eq!(hash_of("0.10"), hash_of("0.1"));
        assert_eq!(hash_of(r#"{"a":1,"b":[2]}"#), hash_of(r#"{"b":[2.0],"a":1}"#));
        let text = Datum::bytes(b"x".to_vec());
        assert_eq!(hash(&text), hash_of(r#""x""#));
        assert_ne!(hash_of(r#"{"a":1,"b":2}"#), hash_of(r#"{"a":2,"b":1}"#));
    }
}
