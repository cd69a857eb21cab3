//! A vertex that is nothing but a reference shares the value of another one (S-72), unless that would
//! go round without end.

use smallvec::SmallVec;

use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Closed, EnvId, FaultId, Source, State, VertexId};
use crate::program::{At, Code, ExprId, Presence};

/// Vertices that are looked at for one that shares itself.
const MOST_SHARED: usize = 64;

impl Evaluator {
    /// A vertex whose only conjunct is a reference shares its target, or takes a scalar that is found
    /// there; `_` beside it says nothing, nor does a reference to the same. Whether it did.
    pub(crate) fn share(&mut self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let names = match vertex.conjuncts.as_slice() {
            [conjunct] if vertex.picks.is_empty() => match conjunct.source() {
                Source::Expr(expr, _) => self.may_refer(expr),
                Source::Data(_) | Source::Vertex(_) => false,
            },
            _ => true,
        };
        names && self.share_named(id)
    }

    /// Whether an expression may be a reference and nothing else.
    fn may_refer(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Field { .. } | Code::Let { .. } | Code::Variable { .. } => true,
            Code::Enclosing { .. } | Code::Import(_) | Code::Select(..) | Code::Unify(..) => true,
            Code::Struct(literal) => {
                self.program.structs[*literal as usize].only_embedded().is_some()
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn share_named(&mut self, id: VertexId) -> bool {
        let mut references: SmallVec<[(ExprId, EnvId); 2]> = SmallVec::new();
        let mut open: SmallVec<[(ExprId, EnvId, bool); 4]> = SmallVec::new();
        let (mut closes, mut apart, mut closed) = (false, false, false);
        for conjunct in &self.heap.get(id).conjuncts {
            let Source::Expr(expr, env) = conjunct.source() else { return false };
            if conjunct.close_as.is_some() {
                return false;
            }
            open.push((expr, env, !conjunct.groups.is_empty()));
        }
        // Where it has no place, `_` makes it a value of its own.
        let lone = open.len() == 1;
        let placed = self.heap.get(id).label.is_some();
        while let Some((expr, env, grouped)) = open.pop() {
            match self.program.code(expr) {
                Code::Field { .. }
                | Code::Let { .. }
                | Code::Variable { .. }
                | Code::Enclosing { .. } => {
                    references.push((expr, env));
                    closes |= grouped;
                }
                Code::Import(_) | Code::Select(..) if self.is_imported_path(expr) => {
                    references.push((expr, env));
                    closes |= grouped;
                }
                Code::Top if placed && (!lone || references.len() + open.len() > 0) => {
                    apart |= grouped && !self.is_rooted(id);
                }
                Code::Unify(left, right) => {
                    open.extend([(*left, env, grouped), (*right, env, grouped)]);
                }
                _ => return lone && self.take_settled(id),
            }
        }
        let mut shared = None;
        for (expr, env) in &references {
            let Value::Vertex(target) = self.eval(*expr, *env) else { return false };
            let target = self.follow(target);
            let running = self.heap.get(target).state == State::Running;
            if target == id || running || self.is_ancestor(target, id) {
                return false;
            }
            closed |= apart && self.is_closed_already(target);
            let target = self.unify(target);
            if shared.replace(target).is_some_and(|it| it != target) {
                return false;
            }
        }
        let Some(target) = shared else { return false };
        // What is made on the way is a value of its own for each that takes it over, and so is what a definition
        // says of another one, if that is not closed and done with: errors show it, values do not.
        if apart || self.is_on_the_way(target) {
            self.ahead.shares = true;
            if self.ahead.copies {
                return match apart {
                    true => closed && self.share_with(id, target),
                    false => lone && self.take_settled(id),
                };
            }
        }
        let no_less = || match lone {
            true => self.is_no_less_closed(target, id),
            false => self.definitions.contains_key(&target.number()),
        };
        if closes && !no_less() {
            return lone && self.take_settled(id);
        }
        // What waits in a value that is made on the way is written as it is named there.
        if references.len() > 1 && self.is_open(target) && !self.is_rooted(target) {
            return false;
        }
        self.share_with(id, target)
    }

    /// Whether a vertex that is closed may share a value: what is no less so. Up to v0.14 that takes several references.
    pub(crate) fn is_no_less_closed(&self, target: VertexId, id: VertexId) -> bool {
        let defines = self.definitions.contains_key(&target.number());
        !self.program.lenient && (defines || self.closes_as_much(target, id))
    }

    /// Whether another field is in a value that a field is in, too, and all that closes this one closes that.
    fn closes_as_much(&self, target: VertexId, id: VertexId) -> bool {
        let closing = &self.heap.get(target).closing;
        let holds = |group: &u32| closing.iter().any(|it| it.group == *group && it.holds());
        let parent = |it: &VertexId| self.heap.get(*it).parent;
        let mut around = std::iter::successors(parent(&id), parent);
        let mut groups = self.heap.get(id).conjuncts.iter().flat_map(|it| it.groups.iter());
        groups.all(holds) && around.any(|it| it != self.root && self.is_ancestor(it, target))
    }

    /// Whether a value is done with that something closes.
    fn is_closed_already(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let closed = || vertex.closing.iter().any(|it| it.holds());
        vertex.state == State::Done && (vertex.was_closed != Closed::Not || closed())
    }

    /// Whether an expression is a place of an imported package that no definition is around.
    fn is_imported_path(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Import(_) => true,
            Code::Select(operand, _) => match self.program.code(*operand) {
                Code::Select(_, label) if self.is_definition(*label) => false,
                _ => self.is_imported_path(*operand),
            },
            _ => false,
        }
    }

    /// A vertex shares another one, unless that encloses it. Whether it did, or that goes round.
    pub(crate) fn share_with(&mut self, id: VertexId, target: VertexId) -> bool {
        if target == id || self.is_ancestor(target, id) {
            return false;
        }
        if self.is_shared_above(target, id) {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return true;
        }
        self.heap.get_mut(id).forward = Some(target);
        if self.heap.get(id).label.is_some() || self.let_name(id).is_some() {
            self.sharers.entry(target).or_default().push(id);
        }
        true
    }

    /// Where a field that consists of nothing but references says what it is: the second time, if it does so
    /// several times (cue-errors 3.3).
    fn said_at(&self, id: VertexId) -> Option<At> {
        let mut open: SmallVec<[ExprId; 4]> = SmallVec::new();
        let conjuncts = &self.heap.get(id).conjuncts;
        for conjunct in conjuncts {
            let Source::Expr(expr, _) = conjunct.source() else { return None };
            open.push(expr);
        }
        let said = open.get(1).or(open.first()).copied()?;
        while let Some(expr) = open.pop() {
            match self.program.code(expr) {
                Code::Top => {}
                Code::Unify(left, right) => open.extend([*right, *left]),
                _ => drop(self.refers_at(expr)?),
            }
        }
        Some(self.program.at(said))
    }

    /// The reference by which a field has its value, if it is one alone (cue-errors 3.3).
    pub(crate) fn shares_at(&self, id: VertexId) -> Option<At> {
        let [conjunct] = self.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, _) = conjunct.source() else { return None };
        self.refers_at(expr)
    }

    /// The references to lets by which a field shares what one of them names; none if it shares what another
    /// field does.
    pub(crate) fn way_to_let(&mut self, id: VertexId) -> Option<SmallVec<[At; 2]>> {
        let mut way = SmallVec::new();
        let mut place = id;
        for _ in 0..MOST_SHARED {
            let expr = self.heap.get(place).conjuncts.first().map(|it| it.source());
            if let Some(Source::Expr(expr, _)) = expr {
                if matches!(self.program.code(expr), Code::Let { .. }) {
                    way.push(self.program.at(expr));
                }
            }
            let Some(next) = self.shared_with(place).filter(|it| *it != place) else { break };
            if self.is_rooted(next) {
                return None;
            }
            place = next;
        }
        Some(way)
    }

    /// Where a reference is.
    pub(crate) fn refers_at(&self, expr: ExprId) -> Option<At> {
        self.program.code(expr).is_reference().then(|| self.program.at(expr))
    }

    /// Where a field refers to the place that it has its value from, and that place, by way of references
    /// that are all of a field themselves; `real` has its value (cue-errors 3.3).
    pub(crate) fn shares_of(&mut self, id: VertexId, real: VertexId) -> Option<(At, VertexId)> {
        let at = if real == id { self.shares_at(id) } else { self.said_at(id) }?;
        // Nothing is missing where there is a scalar.
        if self.heap.get(real).scalar.is_some() {
            return None;
        }
        let mut place = id;
        let mut first = None;
        for _ in 0..MOST_SHARED {
            let Some(next) = self.behind_one(place, Self::shared_with) else { break };
            // Of fields that refer to each other in a ring the others share the one that ends it.
            if next == id || first == Some(next) {
                place = real;
                break;
            }
            first = first.or(Some(next));
            place = next;
        }
        let within_let = || {
            let outer = self.outermost(place);
            outer != place && self.let_name(outer).is_some()
        };
        let found = place != id && (self.is_rooted(place) || within_let());
        found.then_some((at, place))
    }

    /// The value that another one shares, or what that `refers` to.
    pub(crate) fn behind_one(
        &mut self,
        id: VertexId,
        refers: fn(&mut Self, VertexId) -> Option<VertexId>,
    ) -> Option<VertexId> {
        let real = self.follow(id);
        let next = if real == id { refers(self, id) } else { Some(real) };
        next.filter(|it| *it != id)
    }

    /// The place that a scalar is shared from by fields that are nothing but references: they are not on the
    /// way to it (cue-errors 2.2).
    pub(crate) fn scalar_behind(&mut self, id: VertexId) -> VertexId {
        let mut place = id;
        for _ in 0..MOST_SHARED {
            if self.shares_at(place).is_none() || self.settled_scalar(place).is_none() {
                break;
            }
            let Some(next) = self.shared_with(place).map(|it| self.follow(it)) else { break };
            // What is there alone says it.
            if next == place || self.settled_scalar(next).is_none() {
                break;
            }
            place = next;
        }
        place
    }

    /// Whether a field is a reference that leads to another one, or to what that has failed with; what a `let` names,
    /// and what is made on the way, is nowhere else. That it is not allowed where it is is no other field's error.
    pub(crate) fn is_copy(&mut self, id: VertexId) -> bool {
        let own = self.heap.get(id).fault.map(|it| &self.heap.faults[it]);
        if own.is_some_and(|it| it.message == NOT_ALLOWED && it.place == Some(id)) {
            return false;
        }
        let mut id = id;
        for _ in 0..MOST_SHARED {
            match self.value_of_reference(id) {
                Some(Value::Vertex(of)) if !self.is_rooted(of) => id = of,
                Some(Value::Vertex(_)) => return true,
                Some(Value::Fault(fault)) => {
                    return self.heap.faults[fault].place.is_some_and(|it| it != id);
                }
                Some(Value::Datum(_)) | None => return false,
            }
        }
        false
    }

    /// The field that a field refers to and is nothing else, by way of others that do the same.
    pub(crate) fn referred_to(&mut self, id: VertexId) -> Option<VertexId> {
        let mut found = None;
        for _ in 0..MOST_SHARED {
            match self.value_of_reference(found.unwrap_or(id)) {
                Some(Value::Vertex(of)) if self.is_rooted(of) => found = Some(of),
                _ => break,
            }
        }
        found
    }

    /// What a field that is one reference gets when it asks for that; `_` beside it says nothing, but in a
    /// definition.
    fn value_of_reference(&mut self, id: VertexId) -> Option<Value> {
        let mut own = None;
        for conjunct in &self.heap.get(id).conjuncts {
            let Source::Expr(expr, env) = conjunct.source() else { return None };
            let top = matches!(self.program.code(expr), Code::Top) && conjunct.groups.is_empty();
            if !top && own.replace((expr, env)).is_some() {
                return None;
            }
        }
        let (mut expr, env) = own?;
        while let Code::Unify(left, right) = self.program.code(expr) {
            expr = match (self.program.code(*left), self.program.code(*right)) {
                (Code::Top, _) => *right,
                (_, Code::Top) => *left,
                _ => return None,
            };
        }
        if let Code::Attempt(inner) = self.program.code(expr) {
            expr = *inner;
        }
        self.refers_at(expr)?;
        let outside = std::mem::replace(&mut self.place, id);
        let value = self.led_to(expr, env);
        self.place = outside;
        Some(value)
    }

    /// Whether a field has this error because it is a reference into what has failed elsewhere.
    pub(crate) fn has_asked_for_failed(&mut self, fault: FaultId, id: VertexId) -> bool {
        let Some(place) = self.heap.faults[fault].place else { return false };
        let elsewhere = place != id && !self.is_ancestor(place, id);
        elsewhere && matches!(self.value_of_reference(id), Some(Value::Fault(_)))
    }

    /// What the one reference leads to that a field consists of.
    fn shared_with(&mut self, id: VertexId) -> Option<VertexId> {
        self.shares_at(id)?;
        let Source::Expr(expr, env) = self.heap.get(id).conjuncts.first()?.source() else {
            return None;
        };
        self.led_to(expr, env).vertex()
    }

    /// What a reference gives, once more: what a call has made is not made again.
    fn led_to(&mut self, expr: ExprId, env: EnvId) -> Value {
        match self.led.get(&(expr, env)) {
            Some(value) => value.clone(),
            None => self.eval(expr, env),
        }
    }

    /// Notes what a field has been given by a reference into what a call makes: `f(x).y`.
    pub(crate) fn note_led(&mut self, expr: ExprId, env: EnvId, value: &Value) {
        let mut base = expr;
        while let Code::Select(operand, _) | Code::Index(operand, _) = self.program.code(base) {
            base = *operand;
        }
        let calls = matches!(self.program.code(base), Code::Call(..) | Code::CallOf(..));
        if base != expr && calls && !matches!(value, Value::Fault(_)) {
            self.led.insert((expr, env), value.clone());
        }
    }

    /// Whether `above` encloses `below` by way of fields that share what does: then sharing it would
    /// go round without end (S-61). An optional field ends the round.
    fn is_shared_above(&self, above: VertexId, below: VertexId) -> bool {
        let mut seen: SmallVec<[VertexId; MOST_SHARED]> = SmallVec::new();
        // Those of `seen`, by their last bits: most are new by them.
        let mut bits = [0_u64; 8];
        let mut open: SmallVec<[VertexId; 16]> = smallvec::smallvec![below];
        while let Some(id) = open.pop() {
            let mut next = Some(id);
            while let Some(id) = next {
                if id == above {
                    return true;
                }
                let bit = 1 << (id.number() % u64::BITS);
                let bits = &mut bits[(id.number() / u64::BITS % 8) as usize];
                if seen.len() > MOST_SHARED || *bits & bit != 0 && seen.contains(&id) {
                    break;
                }
                *bits |= bit;
                seen.push(id);
                for sharer in self.sharers.get(&id).into_iter().flatten() {
                    if self.is_member(*sharer) {
                        open.push(*sharer);
                    }
                }
                let vertex = self.heap.get(id);
                next = if vertex.label.is_some() { vertex.parent } else { None };
            }
        }
        false
    }

    /// Whether a vertex is there as a field, not only a constraint.
    fn is_member(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let (Some(parent), Some(label)) = (vertex.parent, vertex.label) else { return false };
        let arc = self.heap.arc(parent, label);
        arc.is_some_and(|it| it.vertex == id && it.presence == Presence::Member)
    }
}
