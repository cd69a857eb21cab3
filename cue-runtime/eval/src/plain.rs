//! Vertices that are data and nothing else: they cannot be wrong, so they are read, not evaluated.

use crate::builtin::{Datum, Kinds, NOTHING_SAID};
use crate::calls::has_handles;
use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{By, Conjunct, Cycle, DataId, Scalar, ScalarId, Source, State, VertexId};
use crate::lists::End;
use crate::program::{At, Code, LabelKind, Presence, Program};

/// Deeper data goes the usual way, which has the budget.
const DEEP: u32 = 64;

/// Structs with more fields go the usual way: looking for labels that repeat costs as much.
const WIDE: usize = 64;

impl Evaluator {
    /// The data of a vertex that nobody has evaluated and that holds nothing else.
    pub(crate) fn untouched_data(&self, id: VertexId) -> Option<&Datum> {
        let vertex = self.heap.get(id);
        if vertex.state != State::New
            || vertex.forward.is_some()
            || !vertex.patterns.is_empty()
            || !vertex.closing.is_empty()
        {
            return None;
        }
        let mut found = None;
        for conjunct in &vertex.conjuncts {
            match conjunct.source() {
                Source::Data(datum) if found.is_none() && is_free(conjunct) => {
                    found = Some(self.heap.data(datum));
                }
                Source::Expr(expr, _) if matches!(self.program.code(expr), Code::Top) => {}
                _ => return None,
            }
        }
        found
    }

    /// The data of a vertex that is about to be evaluated and has no other conjunct, the way in, and
    /// where it stands.
    pub(crate) fn lone_data(&self, id: VertexId) -> Option<(DataId, u32, u32)> {
        let vertex = self.heap.get(id);
        match vertex.conjuncts.as_slice() {
            [conjunct] if is_free(conjunct) => match conjunct.source() {
                Source::Data(datum)
                    if vertex.patterns.is_empty()
                        && vertex.closing.is_empty()
                        && !vertex.constrained =>
                {
                    Some((datum, conjunct.via, conjunct.spot))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a vertex that is being evaluated has one conjunct, and nothing is known of it yet.
    pub(crate) fn is_lone(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let alone = matches!(&*vertex.conjuncts, [conjunct] if is_free(conjunct));
        alone
            && vertex.state == State::Running
            && vertex.kinds == Kinds::ANY
            && !vertex.is_list
            && vertex.tests.is_empty()
            && !vertex.constrained
            && vertex.arcs.is_empty()
            && vertex.picks.is_empty()
            && vertex.patterns.is_empty()
            && vertex.closing.is_empty()
    }

    /// The scalar of a vertex that is about to be evaluated and has one conjunct, which is written out;
    /// and the way in.
    pub(crate) fn lone_literal(&self, id: VertexId) -> Option<(ScalarId, u32)> {
        let vertex = self.heap.get(id);
        let [conjunct] = vertex.conjuncts.as_slice() else { return None };
        let Source::Expr(expr, _) = conjunct.source() else { return None };
        self.program.code(expr).scalar()?;
        let fresh = vertex.state == State::Running
            && !vertex.constrained
            && vertex.arcs.is_empty()
            && conjunct.cycle != Cycle::Cyclic;
        fresh.then(|| (ScalarId::written(expr), conjunct.via))
    }

    /// Takes data that must hold at a vertex; how it came, and its spot there.
    pub(crate) fn take_data(
        &mut self,
        id: VertexId,
        data: DataId,
        groups: &Groups,
        (via, spot): (u32, u32),
    ) {
        let datum = self.heap.data(data);
        let whole = matches!(datum, Datum::Struct(_) | Datum::List(_));
        if !whole && self.heap.spot(data) == spot {
            return self.take_scalar(id, Scalar::Known(ScalarId::data(data)), via);
        }
        self.take_datum(id, datum.clone(), self.spots.at(spot), groups, (via, spot));
    }

    pub(crate) fn take_datum(
        &mut self,
        id: VertexId,
        datum: Datum,
        at: At,
        groups: &Groups,
        (via, spot): (u32, u32),
    ) {
        let at = match &datum {
            Datum::Struct(_) | Datum::List(_) => self.spots.of_whole(spot),
            _ => at,
        };
        match &datum {
            Datum::Struct(fields) => {
                self.narrow(id, Kinds::STRUCT, By::Datum(datum.clone()), at, via);
                // Where something closes, data is closed as literals are.
                self.note_shapes(id, groups);
                let vertex = self.heap.get_mut(id);
                vertex.is_struct = true;
                vertex.arcs.reserve(fields.len());
                for (index, (name, value)) in fields.iter().enumerate() {
                    let label = self.labels.intern(LabelKind::Regular, name);
                    let place = fields.place(index);
                    let label_at = place.map_or(at, |it| self.spots.at(it.0));
                    let child = self.add_arc(id, label, Presence::Member, groups, 0, label_at);
                    let spot = place.map_or(spot, |it| it.1);
                    let source = self.data_source(value, spot);
                    let groups = self.deep_groups(groups);
                    let conjunct = Conjunct { groups, via, spot, ..Conjunct::new(source) };
                    self.add_conjunct(child, conjunct);
                }
            }
            Datum::List(items) => {
                let lone = items.iter().any(has_handles) && self.is_lone(id);
                self.narrow(id, Kinds::LIST, By::Datum(datum.clone()), at, via);
                if lone {
                    let elements: Vec<VertexId> =
                        items.iter().map(|it| self.live(it.clone())).collect();
                    self.list_into(id, &elements);
                    return;
                }
                let vertex = self.heap.get_mut(id);
                vertex.is_list = true;
                let length = items.len();
                vertex.arcs.reserve(length);
                for (index, value) in items.iter().enumerate() {
                    let label = self.labels.index(index);
                    let child = self.add_arc(id, label, Presence::Member, groups, 0, at);
                    let spot = items.place(index).unwrap_or(spot);
                    let source = self.data_source(value, spot);
                    let by_reference = matches!(source, Source::Vertex(_));
                    let groups = self.deep_groups(groups);
                    let conjunct =
                        Conjunct { groups, via, spot, by_reference, ..Conjunct::new(source) };
                    self.add_conjunct(child, conjunct);
                }
                self.fit_length(id, length, End::Closed, at);
            }
            _ => self.take_scalar(id, Scalar::New(datum, at), via),
        }
    }

    /// What a part of data is for the vertex that gets it: a handle stands for a value.
    pub(crate) fn data_source(&mut self, datum: &Datum, spot: u32) -> Source {
        match datum {
            Datum::Live(NOTHING_SAID) => Source::Expr(Program::nothing_said(), self.root_env),
            Datum::Live(raw) => match self.handles.get(*raw as usize) {
                Some(id) => Source::Vertex(*id),
                None => self.heap.keep_data(Datum::Null, spot),
            },
            _ => self.heap.keep_data(datum.clone(), spot),
        }
    }

    /// Whether a vertex is data that cannot have an error in it.
    pub(crate) fn is_sound_data(&self, id: VertexId) -> bool {
        self.untouched_data(id).is_some_and(|datum| is_sound(datum, 0))
    }
}

/// Whether nothing closed, and no cycle, comes with it.
fn is_free(conjunct: &Conjunct) -> bool {
    conjunct.groups.is_empty() && conjunct.close_as.is_none()
}

/// No label twice, nothing of the evaluator, not deep.
fn is_sound(datum: &Datum, depth: u32) -> bool {
    if depth > DEEP {
        return false;
    }
    match datum {
        Datum::Struct(fields) => {
            fields.len() <= WIDE
                && fields.iter().enumerate().all(|(at, (label, value))| {
                    is_sound(value, depth + 1)
                        && fields.iter().take(at).all(|(before, _)| before != label)
                })
        }
        Datum::List(items) => items.iter().all(|it| is_sound(it, depth + 1)),
        Datum::Function(_) | Datum::Live(_) => false,
        Datum::Null | Datum::Bool(_) | Datum::Number(_) | Datum::String(_) | Datum::Bytes(_) => {
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::budget::Budget;
    use crate::evaluation::{Addition, Concreteness, Evaluation, compile_text, parse_json};

    /// What is wrong with `data` at `context` beside `text`.
    fn wrong(text: &str, data: &str) -> Vec<String> {
        let program = Arc::new(compile_text(text).unwrap());
        let additions = [("context".to_owned(), Addition::Data(parse_json(data).unwrap()))];
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 100 << 20 };
        let mut it = Evaluation::start(program, &additions, budget);
        let root = it.find("").unwrap().unwrap();
        it.validate(root, Concreteness::Required)
            .into_iter()
            .map(|it| format!("{}: {}", it.path, it.message))
            .collect()
    }

    #[test]
    fn sound_data_has_no_errors() {
        assert!(wrong("context: _", r#"{"a": [1, {"b": null}]}"#).is_empty());
    }

    #[test]
    fn a_label_given_twice_must_agree() {
        let all = wrong("context: _", r#"{"in": [{"a": 1, "a": 2}]}"#);
        assert_eq!(all, ["context.in.0.a: conflicting values 2 and 1"]);
    }

    #[test]
    fn what_else_is_said_of_data_is_looked_at() {
        let all = wrong("context: {a: string, [string]: _}", r#"{"a": 1}"#);
        assert_eq!(all.len(), 1, "{all:?}");
        let all = wrong("context: [string]: {b: >2}", r#"{"a": {"b": 1}}"#);
        assert_eq!(all.len(), 1, "{all:?}");
    }
}
