//! Closed values: which fields they allow, what is told of those they refuse, what counts as closed (C rules).

use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::groups::{FEW_COUNTED, Groups, Membership, Order};
use crate::heap::{COUNTS, Closed, Closing, Conjunct, FaultId, Rest, Source, State, VertexId};
use crate::longer::LENGTHS;
use crate::program::{At, Code, Label, LabelKind, Presence};

/// How deep what a closed struct refuses is refused too.
const MOST_REFUSED: u32 = 50;

/// Functions that hand an element on among which its place is looked for.
const MOST_HANDED_ON: usize = 64;

/// How many values around a struct may close it.
const MOST_AROUND: usize = 200;

/// How many groups are looked at for one that closes: who has more goes round in closed values.
const MOST_GROUPS: usize = 64;

/// What is said of fields that a closed struct has no place for.
pub(crate) const NOT_ALLOWED: &str = "field not allowed";

impl Evaluator {
    pub(crate) fn check_closed(&mut self, id: VertexId) {
        if self.heap.get(id).is_list {
            self.refuse_elements(id);
            return;
        }
        let outside = self.checked.replace(id);
        // Of an alternative it is enough to know that it fails: why is asked if all others do too.
        if self.trying.last().is_some_and(|it| it.1 == id) && self.has_refused(id) {
            self.refused.insert(id.number());
        } else {
            self.refuse_fields(id);
        }
        self.checked = outside;
    }

    /// Whether a closed struct has a field that it does not allow.
    fn has_refused(&mut self, id: VertexId) -> bool {
        let closing = self.closing_here(id);
        (0..self.heap.get(id).arcs.len()).any(|index| self.is_refused(id, index, &closing))
    }

    /// The fields that are there and that a closed struct does not allow.
    pub(crate) fn refused_fields(&mut self, id: VertexId) -> Vec<Label> {
        let closing = self.closing_here(id);
        let mut refused = Vec::new();
        for index in 0..self.heap.get(id).arcs.len() {
            if self.is_refused(id, index, &closing) {
                refused.push(self.heap.get(id).arcs[index].label);
            }
        }
        refused
    }

    fn is_refused(&mut self, id: VertexId, index: usize, closing: &[u32]) -> bool {
        let arc = &self.heap.get(id).arcs[index];
        let there =
            arc.presence == Presence::Member && self.labels.kind(arc.label) == LabelKind::Regular;
        let vertex = arc.vertex;
        there && self.refusing(id, index, closing).is_some() && !self.may_resolve(vertex, id)
    }

    /// Whether a field is an error that may resolve: whether it is allowed is not asked before. One that
    /// is nothing but a reference to another field has no error of its own (S-72).
    fn may_resolve(&mut self, id: VertexId, parent: VertexId) -> bool {
        let real = self.unify(id);
        let lacks = |it: &FaultId| match self.heap.faults[*it].awaits {
            // What waits for a field of the struct itself waits in vain: all its tasks are done.
            Some((on, Some(label))) => on == parent && self.heap.arc(on, label).is_none(),
            _ => false,
        };
        let fault = self.heap.fault_of(id, real);
        let fault = fault.or_else(|| self.put_off(real).filter(lacks));
        fault.is_some_and(|it| self.heap.faults[it].kind.is_incomplete())
            && (self.program.lenient || !self.names_fields(id))
    }

    /// Whether a vertex is nothing but references to itself.
    fn is_itself(&mut self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        if vertex.content || vertex.constrained || vertex.is_struct || vertex.is_list {
            return false;
        }
        let own = vertex.label;
        let parent = vertex.parent.map(|it| self.follow(it));
        let count = vertex.conjuncts.len();
        count > 0
            && (0..count).all(|at| {
                let Source::Expr(expr, env) = self.heap.get(id).conjuncts[at].source() else {
                    return false;
                };
                let target = match *self.program.code(expr) {
                    Code::Field { label, .. } if Some(label) == own => {
                        self.eval(expr, env).vertex()
                    }
                    // Of what is not evaluated yet only the struct around it is looked at.
                    Code::Select(operand, label) if Some(label) == own => {
                        let near = matches!(self.program.code(operand), Code::Field { .. });
                        let from = if near { self.eval(operand, env).vertex() } else { None };
                        from.filter(|it| parent.is_some_and(|at| self.follow(*it) == at))
                            .map(|_| id)
                    }
                    _ => None,
                };
                target.is_some_and(|it| self.follow(it) == self.follow(id))
            })
    }

    /// Whether a vertex is nothing but references to fields that are there.
    fn names_fields(&mut self, id: VertexId) -> bool {
        (0..self.heap.get(id).conjuncts.len()).all(|at| {
            let Source::Expr(expr, env) = self.heap.get(id).conjuncts[at].source() else {
                return false;
            };
            let named = match self.program.code(expr) {
                Code::Top => return true,
                Code::Field { .. } | Code::Let { .. } | Code::Variable { .. } => true,
                Code::Select(..) | Code::Index(..) => true,
                _ => false,
            };
            let target = if named { self.eval(expr, env).vertex() } else { None };
            target.is_some_and(|it| self.heap.get(self.follow(it)).label.is_some())
        })
    }

    /// The groups that refuse fields of a vertex which they do not name.
    fn closing_here(&mut self, id: VertexId) -> Vec<u32> {
        let vertex = self.heap.get(id);
        let fault = vertex.fault.map(|it| self.heap.faults[it].kind);
        let open = fault == Some(Kind::Incomplete);
        if vertex.closing.is_empty() || fault.is_some() && !open || vertex.choice.is_some() {
            return Vec::new();
        }
        self.lift_literals(id);
        let closing = self.heap.get(id).closing.iter();
        let closing = closing.filter(|it| self.closes_here(id, it));
        let closing: Vec<u32> = closing.map(|it| it.group).collect();
        // More may come while it is not complete: it is asked for what the fields have.
        let count = if open && !closing.is_empty() { self.heap.get(id).arcs.len() } else { 0 };
        for index in 0..count {
            let field = self.heap.get(id).arcs[index].vertex;
            let own = self.unify(field) == field;
            let mut members = self.heap.get(field).arcs.iter();
            let full = own && members.any(|it| it.presence == Presence::Member);
            if full && self.is_refused(id, index, &closing) {
                return closing;
            }
        }
        if open { Vec::new() } else { closing }
    }

    /// The first of the groups that has no place for a field.
    fn refusing(&mut self, id: VertexId, index: usize, closing: &[u32]) -> Option<u32> {
        if closing.is_empty() {
            return None;
        }
        // Each field is held against each of them.
        if closing.len() > FEW_COUNTED {
            self.tick_for(closing.len() as u64 / 4).ok()?;
        }
        let arc = &self.heap.get(id).arcs[index];
        let (field, named) = (arc.vertex, arc.groups.clone());
        let itself = self.is_itself(field).then(|| self.definitions_around(id));
        let member = Membership::new(&named, &self.joined);
        // Of definitions within definitions there are as many as these are deep: both are gone through once.
        let mut rest = &named[..];
        closing.iter().copied().find(|group| {
            // Who says no more than that it is itself says nothing of it.
            if itself.as_ref().is_some_and(|around| !around.contains(group)) {
                return true;
            }
            let names = if member.order == Order::Sorted {
                let before = rest.iter().take_while(|it| *it < group).count();
                rest = &rest[before..];
                rest.first() == Some(group)
            } else {
                named.contains(group)
            };
            !names && !self.allows(id, index, *group, &member)
        })
    }

    /// Whether a group names a field or has a pattern for it, or stands beside `...`: that takes
    /// any field but of what is embedded with the group (C-13). `member` is the field's.
    pub(crate) fn allows(
        &mut self,
        id: VertexId,
        index: usize,
        group: u32,
        member: &Membership<'_>,
    ) -> bool {
        if self.has_place(id, member, group) {
            return true;
        }
        let vertex = self.heap.get(id);
        let (label, patterns) = (vertex.arcs[index].label, vertex.patterns.clone());
        patterns.iter().any(|it| {
            let member = Membership::new(&it.groups, &self.joined);
            self.counts_for(&member, group) && self.pattern_matches(it, label)
        })
    }

    /// Makes what a closed struct does not allow an error.
    pub(crate) fn refuse_fields(&mut self, id: VertexId) {
        let closing = self.closing_here(id);
        if closing.is_empty() {
            return;
        }
        // The field by which it fails otherwise, once that was looked for: what does not stays so.
        let (mut looked_for, mut failing) = (false, None);
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (label, vertex, presence, at) = (arc.label, arc.vertex, arc.presence, arc.at());
            if self.labels.kind(label) != LabelKind::Regular {
                continue;
            }
            let Some(group) = self.refusing(id, index, &closing) else { continue };
            // An optional field that is refused is no error of the struct (C-18).
            // Of an alternative it is enough to know that it fails.
            let deep = !self.shallow.contains(&group) && self.heap.get(id).picks.is_empty();
            let levels = if deep { MOST_REFUSED } else { 0 };
            let member = presence == Presence::Member;
            let stale = failing.is_some_and(|it| !self.field_fails_otherwise(id, it));
            if !looked_for || stale {
                (looked_for, failing) = (true, self.failing_otherwise(id));
            }
            if failing.is_some() {
                // Of a struct that fails otherwise only what its fields have is looked at.
                if member {
                    self.refuse_within(vertex, levels);
                }
            } else if !member || !self.may_resolve(vertex, id) {
                self.refuse(vertex, at, levels);
            }
        }
    }

    /// Makes what a field has an error, but what fails otherwise.
    fn refuse_within(&mut self, id: VertexId, levels: u32) {
        let real = self.unify(id);
        if levels == 0 || real != id {
            return;
        }
        if self.heap.get(id).fault.is_some() {
            if !self.brings_parts(id) {
                return;
            }
            // Its elements are told of instead.
            self.heap.get_mut(id).fault = None;
        }
        let fails = self.fails_otherwise(id);
        for index in 0..self.heap.get(id).arcs.len() {
            let Some((vertex, at)) = self.refusable(id, index) else { continue };
            match fails {
                true => self.refuse_within(vertex, levels - 1),
                false => self.refuse(vertex, at, levels - 1),
            }
        }
    }

    /// Makes a field an error, and so many levels of what is written in it.
    pub(crate) fn refuse(&mut self, id: VertexId, at: At, levels: u32) {
        self.unify(id);
        let vertex = self.heap.get_mut(id);
        let inside = vertex.forward.is_none();
        if !inside {
            vertex.forward = None;
            vertex.state = State::Done;
        }
        let mut fault = Fault::spread(Kind::Permanent, NOT_ALLOWED).and_at(at);
        fault.place = Some(id);
        // It is told at the first validator of the struct, if that has one.
        let tests = self.heap.get(id).parent.map(|it| &self.heap.get(it).tests);
        let test = tests.and_then(|it| it.first()).map(|it| it.1);
        fault.at = test.or_else(|| self.all_asked_at(id)).unwrap_or(fault.at);
        let fault = self.heap.fault(fault);
        self.note_failure(fault);
        self.heap.get_mut(id).fault = Some(fault);
        if levels == 0 || !inside {
            return;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            if let Some((vertex, at)) = self.refusable(id, index) {
                self.refuse(vertex, at, levels - 1);
            }
        }
    }

    /// A field or an element that is refused with what it is in, and where it stands.
    pub(crate) fn refusable(&self, id: VertexId, index: usize) -> Option<(VertexId, At)> {
        let arc = &self.heap.get(id).arcs[index];
        match self.labels.kind(arc.label) {
            LabelKind::Regular => Some((arc.vertex, arc.at())),
            LabelKind::Index => Some((arc.vertex, self.element_at(arc.vertex, arc.at()))),
            _ => None,
        }
    }

    /// Where an element of a list stands: what functions give has the place of the call, or that of its text.
    fn element_at(&self, id: VertexId, at: At) -> At {
        let mut next = id;
        for _ in 0..MOST_HANDED_ON {
            match self.heap.get(next).conjuncts.first().map(|it| (it.source(), it.spot)) {
                Some((Source::Data(_), spot)) if spot != 0 => return self.spots.at(spot),
                Some((Source::Expr(it, _), _)) if at == At::default() => {
                    return self.program.at(it);
                }
                Some((Source::Vertex(it), _)) if at == At::default() => next = it,
                _ => break,
            }
        }
        at
    }

    /// Whether a field of a struct fails for another reason than that it is not allowed: that is
    /// all that is told then (cue-errors 1.3).
    pub(crate) fn fails_otherwise(&mut self, id: VertexId) -> bool {
        self.failing_otherwise(id).is_some()
    }

    /// The first such field, by its place.
    fn failing_otherwise(&mut self, id: VertexId) -> Option<usize> {
        (0..self.heap.get(id).arcs.len()).find(|it| self.field_fails_otherwise(id, *it))
    }

    fn field_fails_otherwise(&mut self, id: VertexId, index: usize) -> bool {
        let Some(arc) = self.heap.get(id).arcs.get(index) else { return false };
        if arc.presence != Presence::Member {
            return false;
        }
        let vertex = arc.vertex;
        let mut all = Vec::new();
        self.permanent_all(vertex, &mut all, 0);
        self.takes_refused(vertex, id, 0)
            || all.iter().any(|it| match it.place.filter(|_| it.message.starts_with(LENGTHS)) {
                // It is for its elements that a longer list is not allowed, unless its struct fails by it.
                Some(list) => {
                    let parent = self.heap.get(list).parent;
                    let passed_on = parent.is_some_and(|it| self.heap.get(it).fault.is_some());
                    passed_on || !self.brings_parts(list)
                }
                None => it.message != NOT_ALLOWED || self.ends_choice(id, it),
            })
    }

    /// Whether an error is one of all alternatives of a choice within a struct.
    fn ends_choice(&self, id: VertexId, fault: &Fault) -> bool {
        let within = std::iter::successors(fault.place, |it| self.heap.get(*it).parent);
        let mut within = within.take_while(|it| *it != id);
        within.any(|it| {
            let field = self.field_of(it).filter(|field| *field != self.follow(it));
            field.is_some_and(|field| self.exhausted.contains(&field.number()))
        })
    }

    /// Whether a group refuses fields of a vertex which it does not name.
    pub(crate) fn closes_here(&self, id: VertexId, closing: &Closing) -> bool {
        closing.holds() && self.closes(closing.group) && !self.of_parent(id, closing.group)
    }

    /// Whether a group has a place for a field, but by a pattern.
    pub(crate) fn has_place(&self, id: VertexId, member: &Membership<'_>, group: u32) -> bool {
        self.counts_for(member, group) || self.opened_beside(id, group, member.groups)
    }

    /// Whether something is vouched for in a group: by the group itself, or because it stands beside what the group
    /// closes.
    pub(crate) fn counts_for(&self, member: &Membership<'_>, group: u32) -> bool {
        member.counts_for(group, &self.joined) || self.is_embedded_beside(member.groups, group)
    }

    /// Whether what is in these groups is part of another embedding in the scope of the one that a group is of.
    fn is_embedded_beside(&self, groups: &Groups, group: u32) -> bool {
        let Some(own) = self.apart.get(&group) else { return false };
        // What comes by that embedding is not beside it, whatever that stands in.
        let Some(embedding) = own.first().filter(|it| !groups.contains(it)) else { return false };
        let Some(scope) = self.embedding_scopes.get(embedding) else { return false };
        let mut others = groups.iter().filter(|it| !own.contains(it));
        others.any(|it| self.embedding_scopes.get(it) == Some(scope))
    }

    /// Whether a struct refuses fields it does not name.
    pub(crate) fn is_closed_struct(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        !vertex.is_list
            && (vertex.was_closed != Closed::Not
                || vertex
                    .closing
                    .iter()
                    .any(|it| it.group == COUNTS || it.holds() && self.closes(it.group)))
    }

    /// What `...` of an embedded value admits is nothing that the literal around closes (C-9): only
    /// who refers to the literal meets it closed.
    fn lift_literals(&mut self, id: VertexId) {
        if self.literals.is_empty() {
            return;
        }
        let Some(parent) = self.heap.get(id).parent else { return };
        for index in 0..self.heap.get(id).closing.len() {
            let group = self.heap.get(id).closing[index].group;
            if self.literals.get(&group) != Some(&0) {
                continue;
            }
            let above = &self.heap.get(self.follow(parent)).closing;
            let open = above.iter().any(|it| it.group == group && it.open);
            self.heap.get_mut(id).closing[index].open |= open;
        }
    }

    /// Whether a group closes what is above a vertex, and one level of that only.
    pub(crate) fn of_parent(&self, id: VertexId, group: u32) -> bool {
        if !self.shallow.contains(&group) {
            return false;
        }
        let Some(parent) = self.heap.get(id).parent else { return false };
        self.heap.get(self.follow(parent)).closing.iter().any(|it| it.group == group)
    }

    /// Whether `...` stands beside an embedding that a group is of, and what has these marks is not
    /// in that embedding.
    fn opened_beside(&self, id: VertexId, group: u32, field: &Groups) -> bool {
        let Some(marks) = self.joined.get(group) else { return false };
        let outside =
            |mark: &u32| self.homes.get(mark).is_none_or(|literal| !field.contains(literal));
        let closing = &self.heap.get(id).closing;
        closing.iter().any(|it| it.open && marks.contains(&it.group) && outside(&it.group))
    }

    /// Whether a struct counts as closed: it is part of a closed value, even where that is open. What is
    /// in a value that counts does so too, unless a literal brings it before that comes to be closed.
    pub(crate) fn counts_as_closed(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let own = self.closed_itself(id) != Closed::Not;
        !vertex.is_list
            && vertex.scalar.is_none()
            && (own || vertex.is_struct && self.is_within_closed(id))
    }

    /// Whether a value is part of one that had come to be closed before it was there.
    fn is_within_closed(&self, id: VertexId) -> bool {
        let mut way = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next.filter(|_| way.len() < MOST_AROUND) {
            let vertex = self.heap.get(id);
            next = vertex.label.and(vertex.parent);
            way.extend(vertex.label.zip(next).map(|(label, parent)| (parent, label)));
        }
        let mut within = way.first().is_some_and(|it| self.is_of_rest(it.0, it.1));
        for (parent, label) in way.into_iter().rev() {
            let vertex = self.heap.get(parent);
            let late = || vertex.arcs.named(label).is_some_and(|it| it.late);
            within |= self.is_definition(label)
                || late() && self.closed_itself(parent) == Closed::Throughout;
        }
        within
    }

    /// Whether an element is one of those that the `...` of a closed list admits.
    fn is_of_rest(&self, list: VertexId, label: Label) -> bool {
        let vertex = self.heap.get(list);
        let place = vertex.arcs.place(label);
        let closes = |it: &Rest| self.closed_by(it.groups.iter()) == Closed::Throughout;
        vertex.is_list && vertex.rest.iter().any(|it| place >= Some(it.first) && closes(it))
    }

    /// How far a value itself is closed.
    #[inline]
    pub(crate) fn closed_itself(&self, id: VertexId) -> Closed {
        let vertex = self.heap.get(id);
        let closes = |it: &&u32| self.closes(**it) || **it == COUNTS;
        let own = vertex.closing.iter().map(|it| &it.group).filter(closes);
        vertex.was_closed.max(self.closed_by(own.filter(|it| !self.literals.contains_key(it))))
    }

    /// How far a value that belongs to these groups is closed.
    pub(crate) fn closed_by<'a>(&self, groups: impl Iterator<Item = &'a u32>) -> Closed {
        let mut closed = Closed::Not;
        for group in groups.take(MOST_GROUPS) {
            match self.closes_deeply(*group) || *group == COUNTS {
                true => return Closed::Throughout,
                false if self.closes(*group) => closed = Closed::Here,
                false => {}
            }
        }
        closed
    }

    /// Whether a vertex shares its value beside a `_` that is part of a closed value.
    pub(crate) fn shares_in_closed(&self, id: VertexId) -> bool {
        let closes = |it: &Conjunct| it.groups.iter().any(|group| self.closes(*group));
        let vertex = self.heap.get(id);
        vertex.forward.is_some_and(|it| self.heap.get(self.follow(it)).is_struct)
            && (vertex.conjuncts.iter().any(closes)
                || vertex.label.zip(vertex.parent).is_some_and(|(it, at)| self.is_of_rest(at, it)))
    }

    /// Whether a group closes: one of an embedding does only if something closed was embedded.
    pub(crate) fn closes(&self, group: u32) -> bool {
        self.closing.contains(&group)
    }

    /// Whether it closes what is in the fields, too.
    pub(crate) fn closes_deeply(&self, group: u32) -> bool {
        self.closes(group) && !self.shallow.contains(&group)
    }
}
