//! Vertices that are data and nothing else: they cannot be wrong, so they are read, not evaluated.

use smallvec::SmallVec;

use crate::arcs::{Declared, Unhindered};
use crate::builtin::{Datum, Kinds, NOTHING_SAID};
use crate::calls::has_handles;
use crate::compare;
use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{
    By, Came, Conjunct, Cycle, DataId, FaultId, Scalar, ScalarId, Source, State, Vertex, VertexId,
};
use crate::lists::End;
use crate::program::{
    At, Code, ExprId, Label, LabelKind, ListElement, MOST_NESTED, Presence, Program,
};

/// Structs with more fields go the usual way: looking for labels that repeat costs as much.
const WIDE: usize = 64;

impl Evaluator {
    /// The data of a vertex that nobody has evaluated and that holds nothing else.
    pub(crate) fn untouched_data(&self, id: VertexId) -> Option<&Datum> {
        let vertex = self.heap.get(id);
        if !is_new(vertex) {
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

    /// The data of a vertex that is about to be evaluated and has no other conjunct, and how it came.
    pub(crate) fn lone_data(&self, id: VertexId) -> Option<(DataId, Came)> {
        let vertex = self.heap.get(id);
        match vertex.conjuncts.as_slice() {
            [conjunct] if is_free(conjunct) => match conjunct.source() {
                Source::Data(datum)
                    if vertex.patterns.is_empty()
                        && vertex.closing.is_empty()
                        && !vertex.constrained =>
                {
                    Some((datum, conjunct.came()))
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

    /// Takes data that must hold at a vertex, and how it came there.
    pub(crate) fn take_data(&mut self, id: VertexId, data: DataId, groups: &Groups, came: Came) {
        let datum = self.heap.data(data);
        let whole = matches!(datum, Datum::Struct(_) | Datum::List(_));
        if !whole && self.heap.spot(data) == came.spot {
            return self.take_scalar(id, Scalar::Known(ScalarId::data(data)), came.via);
        }
        let datum = datum.clone();
        self.note_given(id, data, came);
        self.take_datum(id, datum, self.spots.at(came.spot), groups, came);
    }

    pub(crate) fn take_datum(
        &mut self,
        id: VertexId,
        datum: Datum,
        at: At,
        groups: &Groups,
        Came { via, spot, outer }: Came,
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
                let unhindered = self.unhindered(id);
                for (index, (name, value)) in fields.iter().enumerate() {
                    let label = self.labels.intern(LabelKind::Regular, name);
                    let place = fields.place(index);
                    let label_at = place.map_or(at, |it| self.spots.at(it.0));
                    let spot = place.map_or(spot, |it| it.1);
                    let source = self.data_source(value, spot);
                    let own = self.deep_groups(groups);
                    let said = Conjunct { groups: own, via, spot, outer, ..Conjunct::new(source) };
                    self.hold_data(id, unhindered.as_ref(), (label, label_at), groups, said);
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
                let unhindered = self.unhindered(id);
                for (index, value) in items.iter().enumerate() {
                    let label = self.labels.index(index);
                    let spot = items.place(index).unwrap_or(spot);
                    let source = self.data_source(value, spot);
                    let by_reference = matches!(source, Source::Vertex(_));
                    let own = self.deep_groups(groups);
                    let said = Conjunct {
                        groups: own,
                        via,
                        spot,
                        outer,
                        by_reference,
                        ..Conjunct::new(source)
                    };
                    self.hold_data(id, unhindered.as_ref(), (label, at), groups, said);
                }
                self.fit_length(id, length, End::Closed, at);
            }
            _ => self.take_scalar(id, Scalar::New(datum, at), via),
        }
    }

    /// A part of data, where it is named.
    fn hold_data(
        &mut self,
        id: VertexId,
        unhindered: Option<&Unhindered>,
        (label, at): (Label, At),
        groups: &Groups,
        said: Conjunct,
    ) {
        match unhindered {
            Some(known) if self.heap.get(id).arcs.place(label).is_none() => {
                let presence = Presence::Member;
                let declared = Declared { label, presence, notes: 0, at, by: None };
                self.put_field(id, known, declared, groups, said);
            }
            _ => {
                let child = self.add_arc(id, label, Presence::Member, groups, 0, at);
                self.add_conjunct(child, said);
            }
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

    /// The struct or list of a vertex that nobody has evaluated and that is nothing but that, if it is data.
    #[inline]
    pub(crate) fn untouched_literal(&self, id: VertexId) -> Option<ExprId> {
        match self.heap.get(id).state {
            State::New => self.new_literal(id),
            _ => None,
        }
    }

    #[inline(never)]
    fn new_literal(&self, id: VertexId) -> Option<ExprId> {
        let vertex = self.heap.get(id);
        let [conjunct] = vertex.conjuncts.as_slice() else { return None };
        let Source::Expr(expr, _) = conjunct.source() else { return None };
        let untouched = is_new(vertex) && is_free(conjunct);
        let whole = matches!(self.program.code(expr), Code::Struct(_) | Code::List(_));
        (untouched && whole && self.program.is_plain(expr)).then_some(expr)
    }

    /// Whether a vertex is data that cannot have an error in it.
    #[inline]
    pub(crate) fn is_sound_data(&self, id: VertexId) -> bool {
        self.heap.get(id).state == State::New && self.is_sound_untouched(id)
    }

    #[inline(never)]
    fn is_sound_untouched(&self, id: VertexId) -> bool {
        if let [conjunct] = self.heap.get(id).conjuncts.as_slice() {
            if let Source::Expr(..) = conjunct.source() {
                return self.new_literal(id).is_some();
            }
        }
        self.untouched_data(id).is_some_and(|datum| is_sound(datum, 0))
    }

    /// Whether what a vertex shares is a scalar without anything beside it, and nothing is wrong with either.
    pub(crate) fn is_sound_scalar(&self, id: VertexId, shared: VertexId) -> bool {
        let vertex = self.heap.get(shared);
        vertex.scalar.is_some()
            && vertex.arcs.is_empty()
            && vertex.choice.is_none()
            && self.heap.fault_of(id, shared).is_none()
    }

    /// The data that a literal is.
    pub(crate) fn literal_datum(&mut self, expr: ExprId) -> Result<Datum, FaultId> {
        self.tick()?;
        self.charge(64)?;
        let program = self.program.clone();
        match program.code(expr) {
            Code::Scalar(datum) => Ok(datum.clone()),
            Code::List(elements) => {
                let values = elements.iter().filter_map(ListElement::value);
                let items = values.map(|it| self.literal_datum(it)).collect::<Result<_, _>>()?;
                Ok(Datum::list(items))
            }
            Code::Struct(literal) => {
                let fields = program.structs[*literal as usize].declarations.iter();
                let fields = fields.filter_map(|it| program.plain_field(it));
                let mut read =
                    |(label, value)| Ok((program.labels.name(label), self.literal_datum(value)?));
                Ok(Datum::fields(fields.map(&mut read).collect::<Result<_, _>>()?))
            }
            _ => Ok(Datum::Null),
        }
    }

    /// Whether two literals that are data are equal (S-56); `None` if their fields do not come in one order.
    pub(crate) fn same_literals(
        &mut self,
        left: ExprId,
        right: ExprId,
    ) -> Result<Option<bool>, FaultId> {
        self.tick()?;
        let program = self.program.clone();
        match (program.code(left), program.code(right)) {
            (Code::Scalar(left), Code::Scalar(right)) => Ok(Some(compare::same(left, right))),
            (Code::List(left), Code::List(right)) => {
                if left.len() != right.len() {
                    return Ok(Some(false));
                }
                let [left, right] =
                    [left, right].map(|it| it.iter().filter_map(ListElement::value));
                self.same_pairs(left.zip(right))
            }
            (Code::Struct(left), Code::Struct(right)) => {
                let [left, right] =
                    [left, right].map(|it| &program.structs[*it as usize].declarations);
                if left.len() != right.len() {
                    return Ok(Some(false));
                }
                let mut pairs = SmallVec::<[_; 8]>::with_capacity(left.len());
                for (left, right) in left.iter().zip(right) {
                    match (program.plain_field(left), program.plain_field(right)) {
                        (Some(left), Some(right)) if left.0 == right.0 => {
                            pairs.push((left.1, right.1));
                        }
                        _ => return Ok(None),
                    }
                }
                self.same_pairs(pairs.into_iter())
            }
            _ => Ok(Some(false)),
        }
    }

    fn same_pairs(
        &mut self,
        pairs: impl Iterator<Item = (ExprId, ExprId)>,
    ) -> Result<Option<bool>, FaultId> {
        for (left, right) in pairs {
            match self.same_literals(left, right)? {
                Some(true) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(true))
    }
}

/// Whether nobody has evaluated a vertex, and it has nothing but its conjuncts.
fn is_new(vertex: &Vertex) -> bool {
    vertex.state == State::New
        && vertex.forward.is_none()
        && vertex.patterns.is_empty()
        && vertex.closing.is_empty()
}

/// Whether nothing closed, and no cycle, comes with it.
fn is_free(conjunct: &Conjunct) -> bool {
    conjunct.groups.is_empty() && conjunct.close_as.is_none()
}

/// No label twice, nothing of the evaluator, not deep.
#[inline]
fn is_sound(datum: &Datum, depth: u32) -> bool {
    match datum {
        Datum::Struct(_) | Datum::List(_) => is_sound_within(datum, depth),
        Datum::Function(_) | Datum::Live(_) => false,
        Datum::Null | Datum::Bool(_) | Datum::Number(_) | Datum::String(_) | Datum::Bytes(_) => {
            true
        }
    }
}

/// The same of a struct or a list.
fn is_sound_within(datum: &Datum, depth: u32) -> bool {
    if depth > u32::from(MOST_NESTED) {
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
        _ => true,
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

    /// `out` of a program, and how many vertices there are once it is known and all is validated.
    fn result(text: &str) -> (String, u32) {
        let program = Arc::new(compile_text(text).unwrap());
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 100 << 20 };
        let mut it = Evaluation::start(program, &[], budget);
        let root = it.find("").unwrap().unwrap();
        assert!(it.validate(root, Concreteness::Required).is_empty());
        let out = it.find("out").unwrap().unwrap();
        (it.datum(out).unwrap().cue_text(), it.evaluator.heap.made())
    }

    #[test]
    fn literals_that_are_data_are_compared_as_they_are_written() {
        let (small, some) = result("_p: {a: 1}, _q: {a: 1}, out: _p == _q");
        let (large, all) = result(
            "_p: {a: 1, b: {c: [1, {d: null}]}}, _q: {a: 1, b: {c: [1, {d: null}]}}, out: _p == _q",
        );
        assert_eq!((small.as_str(), large.as_str(), some), ("true", "true", all));
        for (other, equal) in [
            ("{b: [1, \"x\"], a: 1}", "true"),
            ("{a: 1, b: [1, \"x\", 2]}", "false"),
            ("{a: 1, b: [1]}", "false"),
            ("{a: 1, b: {}}", "false"),
            ("{a: 1, b: 5}", "false"),
            ("{a: 1, c: [1, \"x\"]}", "false"),
            ("{a: 1}", "false"),
            ("[1]", "false"),
            ("1", "false"),
        ] {
            let text = format!("_p: {{a: 1, b: [1, \"x\"]}}, out: _p == {other}");
            assert_eq!(result(&text).0, equal, "{text}");
        }
    }

    #[test]
    fn literals_that_are_more_than_data_are_evaluated() {
        for (text, told) in [
            ("a: 1, a: 2", "x.b.a: conflicting values 2 and 1"),
            (
                "a: {}, a: []",
                "x.b.a: conflicting values {} and [] (mismatched types struct and list)",
            ),
            ("let y = 1, a: y & 2", "x.b.a: conflicting values 1 and 2"),
            (
                "[string]: int, a: {c: 1}",
                "x.b.a: conflicting values {c:1} and int (mismatched types struct and int)",
            ),
        ] {
            let all = wrong(&format!("x: b: {{{text}}}, context: _"), "1");
            assert_eq!(all, [told], "{text}");
        }
        let said_elsewhere = "#D: b: c: int, x: #D & {b: {c: 1, d: 2}}, context: _";
        assert_eq!(wrong(said_elsewhere, "1"), ["x.b.d: field not allowed"]);
    }

    #[test]
    fn what_else_is_said_of_data_is_looked_at() {
        let all = wrong("context: {a: string, [string]: _}", r#"{"a": 1}"#);
        assert_eq!(all.len(), 1, "{all:?}");
        let all = wrong("context: [string]: {b: >2}", r#"{"a": {"b": 1}}"#);
        assert_eq!(all.len(), 1, "{all:?}");
    }
}
