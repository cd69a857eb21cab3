//! Parts of values: fields by name, elements by index, and lists made of parts.

use crate::builtin::{Datum, Kinds};
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{ARC_BYTES, ArcEntry, EnvId, FaultId, Source, State, VertexId};
use crate::program::{At, Code, ExprId, Label, LabelKind, Presence};

/// The selection of a field.
#[derive(Clone, Copy)]
struct Selection {
    /// What it is selected from, evaluated.
    id: VertexId,
    /// The same as it was referred to.
    asked: VertexId,
    label: Label,
    /// What that is written as.
    operand: Option<ExprId>,
    /// Where all of it stands.
    whole: At,
    /// It was done with before it was asked for.
    known: bool,
    /// It is told what was looked for in it, not what it lacks itself.
    unseen: bool,
}

impl Evaluator {
    /// The error of a reference to a required field; what that says holds for who refers to it all the same.
    pub(crate) fn misses(&mut self, label: Label, field: VertexId, at: At) -> FaultId {
        let message = format!("required field missing: {}", self.label_text(label));
        let fault = self.fail(Kind::Incomplete, message, at);
        self.unmet = Some((fault, field));
        fault
    }

    /// Field `label` of `base` (S-47); `operand` is what `base` is written as, `whole` the selection, and
    /// `named` where the label stands: at the end of that, unless it is given.
    pub(crate) fn select(
        &mut self,
        base: Value,
        label: Label,
        named: Option<At>,
        operand: Option<ExprId>,
        whole: At,
    ) -> Value {
        let place = |it: &Self| match (named, operand) {
            (Some(at), _) => at,
            (None, Some(operand)) => it.selector_at(operand, whole),
            (None, None) => whole,
        };
        let id = match base {
            Value::Vertex(id) => match self.found_at_once(id, label) {
                Some(found) => return Value::Vertex(found),
                None => id,
            },
            Value::Fault(fault) => return Value::Fault(fault),
            Value::Datum(datum) => {
                let at = place(self);
                return Value::Fault(self.no_container(&datum, operand, at));
            }
        };
        if self.is_unmade(id) {
            let (message, at) = (self.undefined(label), place(self));
            return Value::Fault(self.fail(Kind::Incomplete, message, at));
        }
        let known = self.heap.get(self.follow(id)).state == State::Done;
        let asked = id;
        let id = match operand {
            Some(operand) => self.unify_for(id, self.program.at(operand)),
            None => self.unify(id),
        };
        let unseen = self.is_unseen(asked, operand);
        let of = Selection { id, asked, label, operand, whole, known, unseen };
        if let Some(fault) = self.failed_itself(of) {
            return Value::Fault(fault);
        }
        let Some(id) = self.default_of(id) else {
            let place = operand.map_or_else(|| place(self), |it| self.operand_at(it, whole));
            return Value::Fault(self.unresolved(id, place));
        };
        if let Some(fault) = if known { self.failed_for(asked, id) } else { None } {
            return Value::Fault(fault);
        }
        let arc = self.heap.arc(id, label).map(|it| (it.presence, it.vertex));
        if let Some((_, found)) = arc.filter(|it| self.can_be_named(it.0)) {
            return Value::Vertex(self.tried(found));
        }
        let at = place(self);
        Value::Fault(self.not_selected(Selection { id, ..of }, arc, at))
    }

    /// The error of an operand that has failed itself: nothing is found in it, be its fields there or not (S-47).
    fn failed_itself(&mut self, of: Selection) -> Option<FaultId> {
        let Selection { id, asked, label, operand, known, unseen, .. } = of;
        let fault = self.heap.get(id).fault?;
        if unseen || self.is_only_tested(id, fault) {
            return None;
        }
        // What is written in place is asked for nothing else: all of it is evaluated first.
        let in_place = self.heap.get(id).state == State::Done && self.is_in_place(operand);
        let failed = match self.heap.faults[fault].kind {
            // What is in it finds what is there (cue-errors 4.1).
            Kind::Incomplete => {
                (known || in_place || self.is_imported(id) && !self.is_ahead(asked))
                    && !self.is_around(id, self.place)
            }
            Kind::User if in_place => true,
            Kind::Permanent | Kind::User => {
                self.heap.get(id).state == State::Done && (known || !self.finds_early(id, label))
            }
            Kind::Cycle | Kind::StructuralCycle | Kind::Budget => false,
        };
        if !failed {
            return None;
        }
        // What fails for good in it counts for more than what it lacks itself.
        let below = if known { self.failed_for(asked, id) } else { None };
        Some(below.unwrap_or_else(|| self.with_beside(id, fault)))
    }

    /// Why nothing is found in a value that has not failed itself; `arc` is what it has of that name.
    fn not_selected(
        &mut self,
        of: Selection,
        arc: Option<(Presence, VertexId)>,
        at: At,
    ) -> FaultId {
        let Selection { id, label, operand, whole, unseen, .. } = of;
        self.early |= self.heap.get(id).state == State::Running;
        // A scalar has no fields, whatever may still come.
        let vertex = self.heap.get(id);
        let bare = !vertex.is_struct && arc.is_none();
        if let Some(datum) = self.scalar_of(vertex).filter(|_| bare).map(|it| it.0.clone()) {
            return self.no_container(&datum, operand, at);
        }
        if let Some(fault) = self.pending(id, label, arc.map(|it| it.0), at) {
            return fault;
        }
        // Nothing is said of it yet: a call that gives it is under way (S-26).
        let vertex = self.heap.get(id);
        let bare = vertex.state == State::Running
            && vertex.placed.is_empty()
            && !vertex.is_list
            && vertex.fault.is_none();
        if bare && !self.is_last(id) && self.calls(id) {
            let fault = self.fail(Kind::Incomplete, self.undefined(label), at);
            let known = &mut self.heap.faults[fault];
            (known.closes_at, known.awaits) = (Some(id), Some((id, Some(label))));
            return fault;
        }
        // What is in a value is told what is lacking for itself, not what the value lacks (cue-errors 4.1).
        let told = self.heap.get(id).fault.filter(|it| {
            let open = self.heap.faults[*it].kind == Kind::Incomplete;
            let passed = unseen || self.is_only_tested(id, *it);
            !(passed || open && self.is_around(id, self.place))
        });
        if let Some(fault) = told {
            return fault;
        }
        match arc {
            Some((Presence::Optional, _)) => {
                let name = self.label_text(label);
                let message = format!("cannot reference optional field: {name}");
                return self.fail(Kind::Incomplete, message, at);
            }
            Some((Presence::Required, found)) => {
                let found = self.unify(found);
                return match self.heap.get(found).fault {
                    Some(fault) if !self.heap.faults[fault].kind.is_incomplete() => fault,
                    _ => self.misses(label, found, at),
                };
            }
            Some((Presence::Member, _)) | None => {}
        }
        if unseen {
            return self.fail(Kind::Incomplete, self.undefined(label), at);
        }
        let vertex = self.heap.get(id);
        let settled = vertex.state == State::Done && !vertex.is_struct && !vertex.is_list;
        // A type that is written there is all it will be.
        let written = operand.map(|it| self.program.code(it));
        let written = matches!(written, Some(Code::Type(..) | Code::Top));
        match settled {
            true if !written && self.is_ahead(id) => {
                let kind = self.kind_of_absence(id);
                self.fail(kind, self.undefined(label), at)
            }
            true => self.no_part(id, operand, at, whole),
            false => self.undefined_in(id, label, operand, at),
        }
    }

    /// The error of a field that a struct does not have: for good, if it never can.
    fn undefined_in(
        &mut self,
        id: VertexId,
        label: Label,
        operand: Option<ExprId>,
        at: At,
    ) -> FaultId {
        let (closed, open) = self.is_closed_to(id, label, operand);
        // What has fields that it does not allow is an error itself.
        if let Some(fault) = self.not_allowed_in(id).filter(|_| closed) {
            return fault;
        }
        let kind = if closed { Kind::Permanent } else { Kind::Incomplete };
        let fault = self.fail(kind, self.undefined(label), at);
        if let Some(on) = open {
            let fault = &mut self.heap.faults[fault];
            (fault.closes_at, fault.awaits) = (Some(on), Some((id, Some(label))));
        }
        fault
    }

    /// Whether a vertex is a struct and no choice, done with and without an error of its own.
    #[inline]
    pub(crate) fn is_sound_struct(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        vertex.state == State::Done
            && vertex.is_struct
            && vertex.fault.is_none()
            && vertex.choice.is_none()
    }

    /// The field of a struct that is done with, where nothing has failed: as [`Evaluator::select`] finds it.
    fn found_at_once(&self, id: VertexId, label: Label) -> Option<VertexId> {
        let real = self.follow(id);
        if !self.is_sound_struct(real) || self.failed || self.is_unmade(id) {
            return None;
        }
        let arc = self.heap.get(real).arcs.named(label)?;
        (arc.presence == Presence::Member).then(|| self.tried(arc.vertex))
    }

    /// How many of the alternatives that a value is made of are no literals: each may close it by itself.
    fn picked_by_name(&self, id: VertexId) -> usize {
        let named = |it: &&(ExprId, u32)| {
            let picked = self.program.alternative(**it);
            !picked.is_some_and(|it| matches!(self.program.code(it), Code::Struct(_)))
        };
        self.heap.picks(id).iter().filter(named).count()
    }

    /// Whether a value is what a function gives.
    fn calls(&self, id: VertexId) -> bool {
        self.heap.get(id).conjuncts.iter().any(|it| match it.source() {
            Source::Expr(expr, _) => matches!(self.program.code(expr), Code::Call(..)),
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether a struct or a list never has a field that it has not, as far as who asks can say; and whose
    /// alternatives may still bring one that is closed to it.
    fn is_closed_to(
        &mut self,
        id: VertexId,
        label: Label,
        operand: Option<ExprId>,
    ) -> (bool, Option<VertexId>) {
        let vertex = self.heap.get(id);
        let fieldless = vertex.is_list && self.labels.kind(label) != LabelKind::Index;
        // The literal around an embedded value closes only for who adds to it.
        let closes = |it: u32| self.closing.contains(&it) && !self.literals.contains_key(&it);
        let closers = vertex.closing.iter().filter(|it| it.holds() && closes(it.group)).count();
        // What `_` or `...` of a closed value let in is closed to who asks, though not to who adds.
        let counts = || closers > 0 || self.is_in_tree(id) && self.counts_as_closed(id);
        // Of other fields any may come to a struct.
        let regular = self.labels.kind(label) == LabelKind::Regular;
        let mut closed = fieldless || regular && !vertex.open && counts();
        if closed && !vertex.patterns.is_empty() && regular {
            // What a pattern allows may still come.
            let patterns = vertex.patterns.clone();
            closed = !patterns.iter().any(|it| self.pattern_matches(it, label));
        }
        // An alternative may still have it.
        let open = self.running(id).filter(|on| closed && !self.is_last(*on));
        let runs = self.running(id).is_some();
        // Up to v0.14 what is closed is so for whoever asks, once all is said of it.
        let older = self.program.lenient && !runs;
        // Who asks for a field of its own asks before a definition has closed that.
        let closing = &self.heap.get(id).closing;
        let called = closing.iter().any(|it| it.holds() && self.close_calls.contains(&it.group));
        let own = self.is_ancestor(self.place, id) && !called;
        let around = self.is_around(id, self.place) && (runs || !self.closes_itself(id));
        // What is left of a choice that has been made is all there is; for who asks in it, where the choice is
        // one of a definition, which closes each alternative.
        let chosen = !runs && !self.heap.get(id).picks.is_empty();
        let defined = chosen && closers > self.picked_by_name(id);
        let inside = !older && !defined && (own || around);
        // What is computed on the way is closed for itself only, but by a call to `close`.
        let inline = !older
            && !chosen
            && (!called && self.is_in_place(operand)
                || operand.is_some_and(|it| matches!(self.program.code(it), Code::Call(..))));
        // A list never has fields, whoever asks.
        let never = fieldless && !runs;
        // Nor has what is asked by itself and can be no struct.
        let kinds = self.heap.get(id).kinds;
        let bare = runs && id == self.place && !kinds.meets(Kinds::STRUCT);
        // A call that lacks something has not closed anything yet.
        let lacks =
            self.heap.get(id).fault.is_some_and(|it| self.heap.faults[it].kind.is_incomplete());
        let ends = never || !(inside || inline || called && lacks);
        (bare || closed && open.is_none() && ends, open)
    }

    /// What is said of a field that is not there; comparisons with bottom ask for many of them.
    fn undefined(&self, label: Label) -> String {
        ["undefined field: ", &self.label_text(label)].concat()
    }

    /// Whether a field of a value that fails is found all the same: by who asks for it before it is the turn of that.
    fn finds_early(&mut self, id: VertexId, label: Label) -> bool {
        let field = self.heap.arc(id, label).filter(|it| it.presence == Presence::Member);
        let (Some(field), Some(fault)) = (field.map(|it| it.vertex), self.heap.get(id).fault)
        else {
            return false;
        };
        let found = self.goes_on(id, fault);
        if found {
            self.asked_early.insert(field.number());
        }
        found
    }

    /// Whether of a value that was found incomplete it is told what was looked for in it, and not why it
    /// is so: of a `let`, of what comes later, and of what is beside the asking one in a value without a
    /// place, of which only that is asked for.
    fn is_unseen(&self, id: VertexId, operand: Option<ExprId>) -> bool {
        let real = self.follow(id);
        self.heap.get(real).state == State::Done
            && self.is_open(real)
            && match operand.map(|it| self.program.code(it)) {
                Some(Code::Let { .. }) => true,
                Some(Code::Field { .. }) => self.is_nowhere(real) || self.is_ahead(id),
                // What is written in place is evaluated before.
                Some(Code::Unify(..) | Code::Struct(_) | Code::List(_)) => false,
                _ => self.is_ahead(id),
            }
    }

    /// Whether a value is in one without a place: who means it by its name is in that too.
    fn is_nowhere(&self, id: VertexId) -> bool {
        let outer = self.outermost(id);
        outer != self.root && !self.is_imported(id) && self.let_name(outer).is_none()
    }

    /// Whether what is selected from has no place but this one.
    fn is_in_place(&self, operand: Option<ExprId>) -> bool {
        operand.is_some_and(|it| matches!(self.program.code(it), Code::Unify(..) | Code::Struct(_)))
    }

    /// Whether a value is in another one, be it by way of values without a place.
    pub(crate) fn is_around(&self, above: VertexId, below: VertexId) -> bool {
        let mut all = std::iter::once(below).chain(self.ancestors(below));
        all.any(|it| it == above || self.follow(it) == above)
    }

    /// Whether a value is closed by a call, or as part of the definition that it stands in: then it is so
    /// for what is in it as well.
    fn closes_itself(&self, id: VertexId) -> bool {
        let closing = &self.heap.get(id).closing;
        let mut next = Some(id).filter(|_| closing.iter().any(|it| it.holds()));
        if closing.iter().any(|it| it.holds() && self.close_calls.contains(&it.group)) {
            return true;
        }
        while let Some(at) = next {
            if let Some(own) = self.definitions.get(&at.number()) {
                return closing.iter().any(|it| it.holds() && it.group == *own);
            }
            let vertex = self.heap.get(at);
            next = vertex.label.and(vertex.parent);
        }
        false
    }

    /// Selecting from a scalar.
    fn no_container(&mut self, datum: &Datum, operand: Option<ExprId>, at: At) -> FaultId {
        let place = operand.map_or(at, |it| self.program.at(it));
        let text = operand.map_or_else(|| datum.cue_text(), |_| self.source_at(place));
        let message =
            format!("invalid operand {text} (found {}, want list or struct)", datum.kind_name());
        self.fail(Kind::Permanent, message, place)
    }

    /// Whether a value is of an imported package: these are evaluated in their own order.
    pub(crate) fn is_imported(&self, id: VertexId) -> bool {
        let outer = self.outermost(id);
        self.imports.iter().any(|it| it.1 == outer)
    }

    /// What has failed below what was asked for; what is evaluated after who asks has no more errors yet than those of
    /// what it asked for.
    pub(crate) fn failed_for(&mut self, asked: VertexId, id: VertexId) -> Option<FaultId> {
        self.failed_below(id).filter(|_| !self.is_ahead(asked))
    }

    /// Whether a value comes after the one that is being evaluated, or is part of it: nothing is
    /// known of it yet then but what it has, and that is what is told.
    fn is_ahead(&self, id: VertexId) -> bool {
        let mut at = Some(self.follow(id));
        // What shares it has it evaluated where that stands.
        while let Some(shared) = at.filter(|_| !self.sharers.is_empty()) {
            let sharers = self.sharers.get(&shared).into_iter().flatten();
            let mut fields = sharers.copied().filter(|it| self.heap.get(*it).label.is_some());
            if fields.any(|it| !self.comes_later(it)) {
                return false;
            }
            at = self.heap.get(shared).parent;
        }
        self.comes_later(id)
    }

    fn comes_later(&self, id: VertexId) -> bool {
        let mut asking = Vec::new();
        let mut next = Some(self.current);
        while let Some(at) = next {
            asking.push(at);
            next = self.heap.get(at).parent;
        }
        let mut below = None;
        // What shares a value stands where it is itself.
        let mut at = if self.heap.get(id).label.is_some() { id } else { self.follow(id) };
        loop {
            let met = asking.iter().position(|it| *it == at || self.follow(*it) == at);
            let Some(met) = met else {
                below = Some(at);
                match self.heap.get(at).parent {
                    Some(parent) => at = parent,
                    None => return false,
                }
                continue;
            };
            let Some(asked) = below else { return false };
            let Some(branch) = met.checked_sub(1) else { return true };
            let place = |it: VertexId| {
                let label = self.heap.get(it).label?;
                self.heap.get(self.follow(at)).arcs.place(label)
            };
            // A `let` is evaluated for the one that asks for it.
            let user = || {
                let mut all = std::iter::once(self.place).chain(self.ancestors(self.place));
                all.find(|it| self.heap.get(*it).parent == Some(at)).and_then(place)
            };
            return match (place(asked), place(asking[branch]).or_else(user)) {
                (Some(asked), Some(asking)) => asked > asking,
                _ => false,
            };
        }
    }

    /// Whether something that a value has not may still come to it.
    fn kind_of_absence(&mut self, id: VertexId) -> Kind {
        match self.kinds_of(id).meets(Kinds::STRUCT.or(Kinds::LIST)) {
            true => Kind::Incomplete,
            false => Kind::Permanent,
        }
    }

    /// Selecting from what may become anything, or never a struct or list.
    fn no_part(&mut self, id: VertexId, operand: Option<ExprId>, at: At, whole: At) -> FaultId {
        let place = operand.map_or(at, |it| self.program.at(it));
        let text = self.source_at(place);
        let kinds = self.kinds_of(id);
        // Of what is only known to be a list nothing can be taken, though lists have elements.
        if kinds.meets(Kinds::STRUCT.or(Kinds::LIST)) && self.container(id) != Some("list") {
            let all = self.source_at(whole);
            let message = format!("{all} undefined as {text} is incomplete (type {kinds})");
            return self.fail(Kind::Incomplete, message, place);
        }
        let message = format!("invalid operand {text} (found {kinds}, want list or struct)");
        self.fail(Kind::Permanent, message, place)
    }

    /// The error of what has no parts and never will have.
    fn without_parts(&mut self, base: &Value, operand: ExprId, at: At) -> Option<FaultId> {
        let id = match base {
            Value::Fault(fault) => return Some(*fault),
            Value::Datum(datum) => return Some(self.no_container(datum, Some(operand), at)),
            Value::Vertex(id) => {
                let id = self.unify_for(*id, self.program.at(operand));
                self.default_of(id)?
            }
        };
        let vertex = self.heap.get(id);
        let whole = vertex.is_struct || vertex.is_list;
        if whole || vertex.state != State::Done || vertex.fault.is_some() {
            return None;
        }
        if let Some(datum) = self.scalar_of(vertex).map(|it| it.0.clone()) {
            return Some(self.no_container(&datum, Some(operand), at));
        }
        let never = !self.is_ahead(id) && self.kind_of_absence(id) == Kind::Permanent;
        never.then(|| self.no_part(id, Some(operand), at, at))
    }

    /// Where an operand stands that something is taken of, with its parentheses.
    fn operand_at(&self, operand: ExprId, whole: At) -> At {
        let mut at = self.program.at(operand);
        if at.source == whole.source {
            at.span.start = at.span.start.min(whole.span.start);
        }
        at
    }

    /// The error of a choice that is not made, and that something is asked of.
    fn unresolved(&mut self, id: VertexId, place: At) -> FaultId {
        let (text, kinds) = (self.short(id), self.kinds_of(id));
        let message = format!("unresolved disjunction {text} (type {kinds})");
        self.fail(Kind::Incomplete, message, place)
    }

    /// The error of what has no parts, though it may get some.
    fn without_parts_yet(&mut self, base: &Value, operand: ExprId, at: At) -> Option<FaultId> {
        let Value::Vertex(id) = base else { return None };
        let id = self.unify_for(*id, self.program.at(operand));
        let Some(id) = self.default_of(id) else {
            return Some(self.unresolved(id, self.operand_at(operand, at)));
        };
        if let Some(fault) = self.heap.get(id).fault.or_else(|| self.failed_for(id, id)) {
            return Some(fault);
        }
        let vertex = self.heap.get(id);
        let done = vertex.state == State::Done && self.scalar_of(vertex).is_none();
        let open = done && !vertex.is_struct && !vertex.is_list;
        open.then(|| self.no_part(id, Some(operand), at, at))
    }

    /// `operand[index]` (S-48).
    pub(crate) fn index(&mut self, operand: ExprId, index: ExprId, env: EnvId, at: At) -> Value {
        let base = self.eval(operand, env);
        let wrong = self.without_parts(&base, operand, at);
        let place = self.program.at(index);
        let key = self.eval(index, env);
        let vertex = key.vertex();
        let key = self.demand_in(key, place, at);
        let own = match key {
            Err(Unmet::Fault(fault)) => Some(fault),
            _ => None,
        };
        // What is asked of the operand comes before what is asked of the index.
        if let Some(fault) = self.either_fault(wrong, own) {
            return Value::Fault(fault);
        }
        let no_index = |it: &mut Self, kinds: &dyn std::fmt::Display| {
            if let Some(fault) = it.without_parts_yet(&base, operand, at) {
                return Value::Fault(fault);
            }
            let text = it.literal_text(index);
            let message = format!("invalid index {text} (invalid type {kinds})");
            Value::Fault(it.fail_at(Kind::Permanent, message, at, vec![place]))
        };
        let key = match key {
            Ok(value) => Operand { value, vertex, at: place },
            Err(Unmet::Fault(fault)) => return Value::Fault(fault),
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.short(id), self.kinds_of(id));
                let wanted = kinds.and(Kinds::INT.or(Kinds::STRING));
                // Of `_` it is not waited for what becomes of it.
                if kinds == Kinds::ANY || wanted == Kinds::BOTTOM {
                    return no_index(self, &kinds);
                }
                let message =
                    format!("invalid non-ground value {text} (must be concrete {wanted})");
                let from = self.written_at(id);
                return Value::Fault(self.fail(Kind::Incomplete, message, from));
            }
        };
        let number = match &key.value {
            Concrete::Datum(Datum::String(name)) => {
                let label = self.labels.intern(LabelKind::Regular, name);
                return self.select(base, label, Some(place), Some(operand), at);
            }
            Concrete::Datum(Datum::Number(number)) if number.is_int() => number.clone(),
            other => return no_index(self, &self.concrete_kind(other)),
        };
        if let Some(message) = self.no_index(&number, index) {
            if let Some(fault) = self.without_parts_yet(&base, operand, at) {
                return Value::Fault(fault);
            }
            let mut positions = vec![place];
            if !matches!(
                self.program.code(index),
                Code::Scalar(Datum::Number(_)) | Code::Negative(_)
            ) {
                positions.extend(self.origin_of(&key));
            }
            return Value::Fault(self.fail_at(Kind::Permanent, message, at, positions));
        }
        let from = self.program.at(operand);
        let asked = base.vertex();
        let beyond = |length: usize| format!("index out of range [{number}] with length {length}");
        let list = match self.demand_settled(base, from, at) {
            Ok(Concrete::Vertex(id)) => id,
            Ok(Concrete::Datum(datum)) => {
                return Value::Fault(self.no_container(&datum, Some(operand), at));
            }
            Err(Unmet::Fault(_)) if asked.is_some_and(|it| self.is_unseen(it, Some(operand))) => {
                return Value::Fault(self.fail(Kind::Incomplete, beyond(0), place));
            }
            Err(Unmet::Fault(fault)) => return Value::Fault(fault),
            Err(Unmet::Open(id)) if self.is_ahead(id) => {
                let kind = self.kind_of_absence(id);
                return Value::Fault(self.fail(kind, beyond(0), place));
            }
            Err(Unmet::Open(id)) => return Value::Fault(self.no_part(id, Some(operand), at, at)),
        };
        let is_list = self.heap.get(list).is_list;
        let position = number.to_i64().and_then(|it| usize::try_from(it).ok());
        if let Some(position) = position.filter(|_| is_list) {
            let label = self.labels.index(position);
            if let Some(found) = self.heap.arc(list, label).map(|it| it.vertex) {
                return Value::Vertex(self.tried(found));
            }
        }
        // Elements that it waits for may still come.
        if let Some(fault) = self.put_off(list).filter(|_| is_list) {
            return Value::Fault(fault);
        }
        let length = if is_list { self.elements(list).len() } else { 0 };
        // So may those of a list that is being made.
        let made = self.running(list).filter(|_| is_list);
        let open = is_list && !self.heap.get(list).rest.is_empty() || made.is_some();
        let kind = if open { Kind::Incomplete } else { Kind::Permanent };
        let message = beyond(length);
        let fault = self.fail(kind, message, place);
        if let Some(on) = made.filter(|it| !self.is_last(*it)) {
            let fault = &mut self.heap.faults[fault];
            (fault.closes_at, fault.awaits) = (Some(on), Some((list, None)));
        }
        Value::Fault(fault)
    }

    /// A list whose elements are these vertices.
    pub(crate) fn list_of(&mut self, elements: &[VertexId]) -> VertexId {
        let id = self.heap.vertex(None, None);
        self.list_into(id, elements);
        self.heap.get_mut(id).state = State::Done;
        id
    }

    /// Whether a vertex is done with and is nothing but a scalar.
    pub(crate) fn is_bare_scalar(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(self.follow(id));
        let bare = vertex.arcs.is_empty() && vertex.scalar.is_some();
        bare && vertex.state == State::Done && vertex.fault.is_none()
    }

    /// Makes a vertex that nothing else is said of a list of these elements.
    pub(crate) fn list_into(&mut self, id: VertexId, elements: &[VertexId]) {
        self.heap.get_mut(id).arcs.reserve(elements.len());
        let mut shared = 0;
        for (index, element) in elements.iter().enumerate() {
            let label = self.labels.index(index);
            let real = self.follow(*element);
            let known = self.heap.get(real);
            // What is done with is the element itself, as often as it is one.
            let child = if known.state == State::Done && known.fault.is_none() {
                shared += ARC_BYTES;
                real
            } else {
                let child = self.heap.vertex(Some(id), Some(label));
                self.heap.get_mut(child).forward = Some(real);
                child
            };
            let vertex = self.heap.get_mut(id);
            vertex.arcs.push(ArcEntry::new(label, child, Presence::Member, At::default()));
        }
        let vertex = self.heap.get_mut(id);
        vertex.is_list = true;
        vertex.kinds = Kinds::LIST;
        let length = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        vertex.longest = length;
        vertex.close_at(length);
        // A budget that is used up stays so.
        let _ = self.charge(shared);
    }
}
