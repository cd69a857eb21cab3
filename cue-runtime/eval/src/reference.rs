//! What a vertex takes from another one: its conjuncts, in their own environments, on the way a
//! reference goes.

use smallvec::SmallVec;

use crate::conjuncts::FEW_COMPARED;
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::groups::{FEW_COUNTED, Groups, Known};
use crate::heap::{
    COUNTS, Closing, Conjunct, Cycle, FaultId, Scalar, Source, State, VertexId, Way, kept,
};
use crate::program::{Code, Declaration, ExprId};
use crate::thin::Thin;
use crate::work::{Parked, Work};

/// References one conjunct may come through; more is recursion without end (S-64).
const MOST_LINKS: u32 = 4_000;

/// References after which the scalar that is found is taken, not what it is made of: a chain of them
/// would be followed to its end from each of its links.
const FEW_LINKS: u32 = 8;

/// Literals around an embedding that close with it.
const MOST_ENCLOSED: u32 = 50;

/// Where a reference leads that has been on the way already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    /// To what the same vertex refers to.
    Here,
    /// To where it led before.
    ByItself,
    /// To where others led.
    ByAnother,
}

/// What a reference has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// What it names.
    Itself,
    /// What stands behind that: it is nothing but a path into a definition.
    Behind,
}

impl Evaluator {
    pub(crate) fn take_vertex(
        &mut self,
        id: VertexId,
        target: VertexId,
        conjunct: &Conjunct,
        work: &mut Work,
    ) {
        let target = self.follow(target);
        let target = self.scalar_behind(target);
        let (target, reach) = self.behind(target);
        let opened = conjunct.closes_as().filter(|it| self.opened.contains(it));
        let new = work.brings_group(&conjunct.groups);
        let many = conjunct.groups.len();
        if many > FEW_COUNTED && self.tick_for(many as u64 / 64).is_err() {
            return;
        }
        let (groups, standing) = (Known::new(&conjunct.groups), conjunct.standing());
        if target == id {
            return;
        }
        if !new {
            let (mut compared, mut once_more) = (0, false);
            for before in work.seen_vertices.of((target, opened)) {
                compared += before.0.groups().len();
                if before.0.includes(&groups) {
                    return;
                }
                once_more |= before.1 == standing;
            }
            let before = work.seen_vertices.of((target, opened)).map(|it| it.0.groups());
            if once_more && groups.groups().is_covered(before) {
                return;
            }
            // What comes anew in each round has to come to an end.
            if compared > FEW_COMPARED && self.tick_for(compared as u64).is_err() {
                return;
            }
        }
        work.seen_vertices.push((target, opened), (groups, standing));
        // What a parent's comprehensions add belongs to the target too.
        if let Some(parent) = self.heap.get(target).parent {
            if self.heap.get(parent).state == State::New {
                self.unify(parent);
            }
        }
        let reference = conjunct.reference();
        let path =
            |it: ExprId| matches!(self.program.code(it), Code::Field { .. } | Code::Select(..));
        if reference.is_some_and(path) && self.calls_for_itself(id, target) {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return;
        }
        let mut conjunct = conjunct.clone();
        // What a function gives stands where that says.
        let called = |it: &ExprId| matches!(self.program.code(*it), Code::Call(..));
        if let Some(expr) = reference.filter(|it| !called(it)) {
            let at = self.program.at(expr);
            conjunct.via = self.heap.cross(conjunct.via, at);
        }
        let encloses = self.is_ancestor(target, id);
        work.encloses |= encloses;
        let met = self.on_way(&conjunct, target, id);
        if met == Some(Met::Here) {
            return;
        }
        // What goes round and is fed goes on, without a look at its way (S-62).
        if conjunct.cycle == Cycle::Spared && !encloses && self.is_fed(id) {
            self.take_conjuncts(id, target, &conjunct, reach, work);
            return;
        }
        // What may be absent goes on for one more lap.
        if conjunct.cycle == Cycle::Optional && met.is_some() && !encloses && self.is_fed(id) {
            if self.is_nothing_but(id, &conjunct, target) && self.share_with(id, target) {
                return;
            }
            (conjunct.cycle, conjunct.way) = (Cycle::Spared, 0);
            self.take_conjuncts(id, target, &conjunct, reach, work);
            return;
        }
        if !encloses && met.is_none() && self.repeats_inline(id, &conjunct) {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return;
        }
        if encloses || met.is_some() {
            let other = met == Some(Met::ByAnother);
            let parked = Parked { target, conjunct, reach, encloses, other };
            work.parked.push(parked);
            return;
        }
        let length = self.go_on(&mut conjunct, target, id);
        if length > MOST_LINKS {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return;
        }
        if length > FEW_LINKS {
            if let Some((scalar, via)) = self.settled_scalar(target) {
                self.heap.get_mut(id).content = true;
                let via = self.heap.join(conjunct.via, via);
                self.take_scalar(id, Scalar::Known(scalar), via);
                return;
            }
        }
        self.take_conjuncts(id, target, &conjunct, reach, work);
    }

    /// Repetitions go on only where others say something (S-62); true if any does.
    pub(crate) fn unpark(&mut self, id: VertexId, work: &mut Work) -> bool {
        if work.parked.is_empty() {
            return false;
        }
        let parked = std::mem::take(&mut work.parked);
        let (content, fed) = (self.heap.get(id).content, self.is_fed(id));
        let mut moved = false;
        for mut parked in parked {
            let Parked { target, reach, encloses, other, .. } = parked;
            if !content && (encloses || !fed) {
                work.parked.push(parked);
                continue;
            }
            let way = if encloses { parked.conjunct.way } else { 0 };
            if let Some(fault) = self.cycle_on_way(way) {
                self.raise_id(id, fault);
                return true;
            }
            if encloses || !fed || !other || !content {
                parked.conjunct.cycle = Cycle::Cyclic;
                work.repeats = true;
            } else {
                self.go_on(&mut parked.conjunct, target, id);
            }
            self.take_conjuncts(id, target, &parked.conjunct, reach, work);
            moved = true;
        }
        moved
    }

    /// What is wrong with a field that a conjunct has come by, if that goes round without end by itself: then so does
    /// who refers to it, whatever else that says.
    fn cycle_on_way(&mut self, mut way: u32) -> Option<FaultId> {
        while way != 0 {
            let link = self.heap.ways[way as usize - 1];
            let target = self.unify(link.target);
            let fault = self.heap.get(target).fault;
            let cycles = |it: &FaultId| self.heap.faults[*it].kind == Kind::StructuralCycle;
            if let Some(fault) = fault.filter(cycles) {
                return Some(fault);
            }
            way = link.before;
        }
        None
    }

    /// Whether a conjunct is a plain reference.
    pub(crate) fn refers(&self, conjunct: &Conjunct) -> bool {
        let path = |it| matches!(self.program.code(it), Code::Field { .. } | Code::Select(..));
        matches!(conjunct.source(), Source::Expr(expr, _) if path(expr))
    }

    /// Notes one more reference on the way of a conjunct; how many there are.
    pub(crate) fn go_on(
        &mut self,
        conjunct: &mut Conjunct,
        target: VertexId,
        place: VertexId,
    ) -> u32 {
        let before = conjunct.way;
        let length = match before {
            0 => 1,
            before => self.heap.ways[before as usize - 1].length + 1,
        };
        let way = Way { before, reference: conjunct.reference(), target, place, length };
        conjunct.way = self.heap.ways.push(way) as u32;
        length
    }

    /// Whether a vertex is nothing but a part of a value without a place, as something that encloses
    /// it is already: `a: b: c: {a}.b` (S-64).
    fn repeats_inline(&self, id: VertexId, conjunct: &Conjunct) -> bool {
        let Source::Expr(expr, env) = conjunct.source() else { return false };
        let Code::Select(operand, _) = self.program.code(expr) else { return false };
        let Some(up) = self.program.lifts.get(operand) else { return false };
        let from = self.env_up(env, *up);
        let is_it = |it: &Conjunct| match it.source() {
            Source::Expr(other, env) => other == expr && self.env_up(env, *up) == from,
            Source::Data(_) | Source::Vertex(_) => false,
        };
        let vertex = self.heap.get(id);
        let mut next =
            vertex.label.and(vertex.parent).filter(|_| vertex.conjuncts.iter().all(is_it));
        while let Some(parent) = next {
            let vertex = self.heap.get(parent);
            if vertex.conjuncts.iter().any(is_it) {
                return true;
            }
            next = vertex.label.and(vertex.parent);
        }
        false
    }

    /// The vertex that one stands for which is nothing but a path into a definition: closed is
    /// then only who names the definition (C-3). Up to v0.14 it is closed for everybody.
    pub(crate) fn behind(&mut self, mut target: VertexId) -> (VertexId, Reach) {
        if self.program.lenient {
            return (target, Reach::Itself);
        }
        for laps in 0..20 {
            let reach = if laps > 0 { Reach::Behind } else { Reach::Itself };
            let vertex = self.heap.get(target);
            let [conjunct] = vertex.conjuncts.as_slice() else { return (target, reach) };
            let Source::Expr(expr, env) = conjunct.source() else { return (target, reach) };
            let bare = conjunct.groups.is_empty() && conjunct.close_as.is_none();
            let path = matches!(self.program.code(expr), Code::Select(..) | Code::Index(..));
            if !bare || !path || !self.names_definition(expr) {
                return (target, reach);
            }
            let Value::Vertex(next) = self.eval(expr, env) else { return (target, reach) };
            target = self.follow(next);
        }
        (target, Reach::Behind)
    }

    /// Whether what a call lists refers to the vertex that it is asked for, and lists another value
    /// that refers to the call as well: then each needs the other.
    pub(crate) fn lead_round(&mut self, elements: &[VertexId], id: VertexId, way: u32) -> bool {
        if way == 0 {
            return false;
        }
        let asked = self.heap.ways[way as usize - 1].target;
        let (mut itself, mut others) = (false, false);
        for element in elements {
            if self.tick().is_err() {
                return false;
            }
            let target = self.referred(*element);
            if target == id {
                itself = true;
            } else {
                others |= self.refers_to(target, asked);
            }
        }
        itself && others
    }

    /// The vertex that one stands for which is nothing but a reference.
    pub(crate) fn referred(&mut self, id: VertexId) -> VertexId {
        let id = self.follow(id);
        let [conjunct] = self.heap.get(id).conjuncts.as_slice() else { return id };
        let Source::Expr(expr, env) = conjunct.source() else { return id };
        if !matches!(self.program.code(expr), Code::Field { .. } | Code::Select(..)) {
            return id;
        }
        match self.eval(expr, env) {
            Value::Vertex(target) => self.follow(target),
            Value::Datum(_) | Value::Fault(_) => id,
        }
    }

    /// Whether a value is written with a reference of the name of another one: alone, as an operand of
    /// `&` or embedded.
    fn refers_to(&self, id: VertexId, asked: VertexId) -> bool {
        let Some(name) = self.heap.get(asked).label else { return false };
        let names = |code: &Code| matches!(code, Code::Field { label, .. } | Code::Select(_, label) if *label == name);
        self.is_said(id, names)
    }

    /// The expressions that are said of a value: alone, as operands of `&` or embedded.
    pub(crate) fn all_said(&self, id: VertexId) -> impl Iterator<Item = ExprId> + '_ {
        let written = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => Some(expr),
            Source::Data(_) | Source::Vertex(_) => None,
        };
        let mut open: Vec<ExprId> =
            self.heap.get(id).conjuncts.iter().filter_map(written).collect();
        std::iter::from_fn(move || {
            let expr = open.pop()?;
            match self.program.code(expr) {
                Code::Unify(left, right) => open.extend([*left, *right]),
                Code::Struct(literal) => {
                    let code = &self.program.structs[*literal as usize];
                    open.extend(code.declarations.iter().filter_map(|it| match it {
                        Declaration::Embed(embed) => Some(*embed),
                        _ => None,
                    }));
                }
                _ => {}
            }
            Some(expr)
        })
    }

    /// Whether such an expression is said of a value.
    pub(crate) fn is_said(&self, id: VertexId, is_it: impl Fn(&Code) -> bool) -> bool {
        self.all_said(id).any(|it| is_it(self.program.code(it)))
    }

    /// Whether a vertex is one reference to a field that is done with, and no less closed (S-72).
    fn is_nothing_but(&self, id: VertexId, conjunct: &Conjunct, target: VertexId) -> bool {
        let (vertex, found) = (self.heap.get(id), self.heap.get(target));
        let [only] = vertex.conjuncts.as_slice() else { return false };
        let closes = conjunct.groups.iter().any(|it| self.closing.contains(it));
        matches!((only.source(), conjunct.source()),
            (Source::Expr(only, _), Source::Expr(reference, _)) if only == reference)
            && vertex.picks.is_empty()
            && vertex.arcs.is_empty()
            && conjunct.close_as.is_none()
            && found.state == State::Done
            && self.is_rooted(target)
            && (!closes || self.definitions.contains_key(&target.number()))
    }

    /// Whether something is said of a vertex that does not go round (S-62).
    pub(crate) fn is_fed(&self, id: VertexId) -> bool {
        self.heap.get(id).conjuncts.iter().any(|it| it.cycle <= Cycle::Optional)
    }

    /// How a reference was on its own way before (S-62).
    fn on_way(&self, conjunct: &Conjunct, target: VertexId, id: VertexId) -> Option<Met> {
        let (mut way, mut met) = (conjunct.way, None);
        while way != 0 {
            let link = self.heap.ways[way as usize - 1];
            way = link.before;
            if link.target != target {
                continue;
            }
            if link.place == id {
                return Some(Met::Here);
            }
            if link.reference == conjunct.reference() {
                return Some(Met::ByItself);
            }
            met = Some(Met::ByAnother);
        }
        met
    }

    pub(crate) fn take_conjuncts(
        &mut self,
        id: VertexId,
        target: VertexId,
        conjunct: &Conjunct,
        reach: Reach,
        work: &mut Work,
    ) {
        let target = self.follow(target);
        let mut conjuncts = self.heap.get(target).conjuncts.clone();
        if conjuncts.is_empty() && self.heap.get(target).is_list {
            self.take_elements(id, target, conjunct);
        }
        // What a struct embeds of its own fields may add to these (S-25).
        let own = conjunct.close_as.is_some()
            && self.heap.get(id).picks.is_empty()
            && self.is_ancestor(id, target);
        if own || self.may_get_more(target) {
            self.subscribe(id, target, conjunct, reach);
        }
        // What patterns say of it comes after what is written (S-23).
        cue_sort::by(&mut conjuncts, |it, other| it.late.cmp(&other.late));
        let first = work.conjuncts.len();
        for inner in conjuncts.into_iter().rev() {
            if let Err(spent) = self.tick() {
                self.heap.get_mut(id).fault = Some(spent);
                return;
            }
            let derived = self.derived(id, target, conjunct, reach, inner);
            work.conjuncts.push(derived);
        }
        self.set_apart(&mut work.conjuncts[first..]);
    }

    /// The group of a definition, which has a name of one.
    pub(crate) fn definition_group(&self, id: VertexId) -> Option<u32> {
        let label = self.heap.get(id).label?;
        if self.is_definition(label) { self.definitions.get(&id.number()).copied() } else { None }
    }

    /// The groups of the definitions which a vertex is in, and `COUNTS` if there are any.
    pub(crate) fn definitions_around(&self, id: VertexId) -> SmallVec<[u32; 4]> {
        let mut found = SmallVec::new();
        for id in std::iter::successors(Some(id), |it| self.heap.get(*it).parent) {
            found.extend(self.definition_group(id));
            let named = self.heap.get(id).label.is_some_and(|it| self.is_definition(it));
            if named && !found.contains(&COUNTS) {
                found.push(COUNTS);
            }
        }
        found
    }

    /// What a conjunct of `target` is for a vertex that refers to it.
    pub(crate) fn derived(
        &mut self,
        id: VertexId,
        target: VertexId,
        conjunct: &Conjunct,
        reach: Reach,
        mut inner: Conjunct,
    ) -> Conjunct {
        let mut groups = match inner.groups.is_empty() {
            true => conjunct.groups.clone(),
            false => self.derived_groups(id, target, conjunct, reach, &mut inner),
        };
        groups.settle();
        // A reference leads to a place whichever way that has come by what it is (cue-errors 2.2); what is given
        // as a value has come with it.
        let via = match conjunct.source() {
            Source::Expr(..) => conjunct.via,
            Source::Data(_) | Source::Vertex(_) => self.heap.join(conjunct.via, inner.via),
        };
        let spot = match inner.source() {
            Source::Data(_) => inner.spot,
            Source::Expr(..) | Source::Vertex(_) => kept(conjunct.scope()),
        };
        Conjunct {
            source: inner.source,
            groups,
            close_as: conjunct.close_as.or(inner.close_as),
            by_reference: true,
            outer: conjunct.outer.or(conjunct.reference()).or(inner.outer),
            firing: 0,
            cycle: conjunct.cycle.max(inner.cycle),
            way: if conjunct.way == 0 { inner.way } else { conjunct.way },
            via,
            late: false,
            was_closed: inner.was_closed,
            beside: if conjunct.beside == 0 { inner.beside } else { conjunct.beside },
            spot,
        }
    }

    /// The closing values that a conjunct of `target`, which belongs to some, belongs to where it is referred to; what
    /// it was closed by is noted in it.
    fn derived_groups(
        &mut self,
        id: VertexId,
        target: VertexId,
        conjunct: &Conjunct,
        reach: Reach,
        inner: &mut Conjunct,
    ) -> Groups {
        let reference = conjunct.reference();
        if reference.is_some_and(|it| reach == Reach::Behind || !self.names_definition(it)) {
            // What encloses the target closes it only for those who come through it (C-3).
            let named = self.heap.get(target).label.is_some_and(|it| self.is_definition(it));
            let own = self.definition_group(target);
            let own = own.or_else(|| named.then_some(COUNTS));
            // What a value around it was closed by counts as closing it, though it holds nobody to that.
            let closes = |it: &&u32| **it == COUNTS || self.closes(**it);
            let mut closing = inner.groups.iter().filter(closes).peekable();
            let closed = match closing.peek() {
                None => self.closed_by([].iter()),
                Some(_) => {
                    let around = self.definitions_around(target);
                    self.closed_by(closing.filter(|it| !around.contains(it)))
                }
            };
            inner.groups = own.into_iter().filter(|it| inner.groups.contains(it)).collect();
            inner.was_closed = inner.was_closed.max(closed);
        }
        self.leave_marks(target, &mut inner.groups);
        let closed = inner.groups.iter().any(|it| self.closing.contains(it));
        let mut groups = conjunct.groups.clone();
        let beside = self.embedding_of(conjunct.beside);
        match conjunct.closes_as() {
            Some(group) if self.opened.contains(&group) => {
                inner.was_closed = inner.was_closed.max(self.closed_by(inner.groups.iter()));
            }
            Some(group) if closed => {
                groups.add(group);
                if inner.groups.contains(&COUNTS) {
                    groups.add(COUNTS);
                }
                // Closed through and through, if what is embedded is.
                let deep = inner.groups.iter().any(|it| self.closes_deeply(*it))
                    && !self.close_calls.contains(&group);
                let mut next = Some(group);
                for _ in 0..MOST_ENCLOSED {
                    let Some(group) = next else { break };
                    if self.closing.insert(group) && !deep {
                        self.shallow.insert(group);
                    }
                    if deep {
                        self.shallow.remove(&group);
                    }
                    next = self.within.get(&group).copied();
                }
                // Closing values in one embedding must agree with each other, not with what is
                // beside it (C-12, C-13).
                if beside != 0 && !self.close_calls.contains(&group) {
                    for group in &inner.groups {
                        if self.closing.contains(group) {
                            groups.push(self.embedded_group(*group, beside));
                        }
                    }
                }
            }
            Some(_) if inner.groups.contains(&COUNTS) => groups.add(COUNTS),
            Some(_) => {}
            None if beside != 0 => {
                for group in &inner.groups {
                    groups.push(match self.closing.contains(group) {
                        true => self.embedded_group(*group, beside),
                        false => *group,
                    });
                }
            }
            None => {
                for group in &inner.groups {
                    groups.push(self.group_within(id, *group));
                }
            }
        }
        groups
    }

    /// A mark says what stands beside an embedding: it goes along only with what that closes.
    fn leave_marks(&self, target: VertexId, groups: &mut Groups) {
        if self.besides.is_empty() || !groups.iter().any(|it| self.marks.contains(it)) {
            return;
        }
        let conjuncts = &self.heap.get(target).conjuncts;
        groups.retain(|mark| {
            let says = |it: &u32| self.joined.get(*it).is_some_and(|it| it.contains(mark));
            !self.marks.contains(mark) || conjuncts.iter().any(|it| it.groups.iter().any(says))
        });
    }

    /// What the group of a definition is in a value that is part of that definition already: it closes once
    /// more there, and neither vouches for what the other one refuses (C-21).
    fn group_within(&mut self, id: VertexId, group: u32) -> u32 {
        let Some(parent) = self.heap.get(id).parent else { return group };
        let closing = &self.heap.get(self.follow(parent)).closing;
        let found = closing.binary_search_by_key(&group, |it| it.group);
        let Some(at) = found.ok().filter(|_| group != COUNTS) else { return group };
        // Those within it are each newer than the one before, and a closed value has them in order.
        let within = self.lines.within(group);
        let mut rest = closing[at + 1..].iter().map(|it| it.group);
        let closes = |group: &&u32| rest.find(|it| it >= *group) == Some(**group);
        let before = within.iter().take_while(closes).count();
        if let Some(group) = within.get(before) {
            return *group;
        }
        let last = within.last().copied().unwrap_or(group);
        let own = self.embedded_group(last, 0);
        self.lines.push(last, own);
        own
    }

    /// What a closing group is inside of an embedding: what stands beside that is no concern of it.
    fn embedded_group(&mut self, group: u32, beside: u32) -> u32 {
        if let Some(known) = self.embedded.get(&(group, beside)) {
            return *known;
        }
        let own = self.heap.new_group();
        self.embedded.insert((group, beside), own);
        self.closing.insert(own);
        if self.shallow.contains(&group) {
            self.shallow.insert(own);
        }
        if beside != 0 {
            self.exempt(own, beside);
        }
        own
    }

    /// Something of these groups says which fields there are.
    pub(crate) fn note_shapes(&mut self, id: VertexId, groups: &Groups) {
        note_each(&mut self.heap.get_mut(id).closing, groups, |it| it.shape = true);
    }

    /// And allows all.
    pub(crate) fn note_open_shapes(&mut self, id: VertexId, groups: &Groups) {
        note_each(&mut self.heap.get_mut(id).closing, groups, |it| {
            (it.open, it.shape) = (true, true);
        });
    }

    /// A bare top lifts what it belongs to, if nothing else of that says more (C-10).
    pub(crate) fn note_top(&mut self, id: VertexId, groups: &Groups) {
        note_each(&mut self.heap.get_mut(id).closing, groups, |it| it.top = true);
    }

    /// Groups that hold for children as well: those of definitions, not of `close`.
    #[inline]
    pub(crate) fn deep_groups(&self, groups: &Groups) -> Groups {
        match self.shallow.is_empty() || groups.is_empty() {
            true => groups.clone(),
            false => self.without_shallow(groups),
        }
    }

    #[inline(never)]
    fn without_shallow(&self, groups: &Groups) -> Groups {
        if !groups.iter().any(|it| self.shallow.contains(it)) {
            return groups.clone();
        }
        groups.iter().copied().filter(|it| !self.shallow.contains(it)).collect()
    }
}

/// Notes something of groups at a vertex, which has them in order, as they mostly come.
fn note_each(all: &mut Thin<Closing>, groups: &Groups, note: impl Fn(&mut Closing)) {
    let mut next = 0;
    for group in groups {
        let there = match all.get(next) {
            Some(it) => it.group == *group,
            None => all.last().is_none_or(|it| it.group < *group),
        };
        let found = if there { Ok(next) } else { all.binary_search_by_key(group, |it| it.group) };
        let place = found.unwrap_or_else(|place| place);
        let new = Closing { group: *group, open: false, top: false, shape: false };
        if place == all.len() {
            all.push(new);
        } else if found.is_err() {
            all.insert(place, new);
        }
        note(&mut all[place]);
        next = place + 1;
    }
}
