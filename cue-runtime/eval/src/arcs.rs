//! What a vertex gets: conjuncts, fields, patterns, and which fields a pattern is about.

use cue_syntax::ast::Compare;

use crate::builtin::{Datum, Kinds};
use crate::compare::BAD_PATTERN;
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::groups::Groups;
use crate::heap::{
    ArcEntry, CONJUNCT_BYTES, COUNTS, Closed, Conjunct, Contribution, Cycle, EnvId, EnvKind,
    FaultId, Lineage, Pattern, Source, State, VertexId, kept,
};
use crate::program::{At, Callee, Code, ExprId, Label, LabelKind, Plain, Presence};

/// What is said of a field besides its value.
pub(crate) struct Declared {
    pub(crate) label: Label,
    pub(crate) presence: Presence,
    pub(crate) notes: u32,
    pub(crate) at: At,
    /// By which declaration; data has none.
    pub(crate) by: Option<Contribution>,
}

/// What is known of the fields of a vertex that nothing hinders from coming and no pattern speaks of.
pub(crate) struct Unhindered {
    /// They come to be where all is closed already.
    late: bool,
}

impl Evaluator {
    pub(crate) fn add_conjunct(&mut self, id: VertexId, conjunct: Conjunct) {
        match self.place_of(id, &conjunct) {
            Some(known) => {
                let groups = &mut self.heap.get_mut(id).conjuncts[known].groups;
                if !groups.join(&conjunct.groups) {
                    return;
                }
            }
            None => {
                if matches!(self.heap.get(id).state, State::Running | State::Suspended) {
                    self.bring(id, conjunct.clone());
                }
                self.hand_on(id, &conjunct);
                // The first one is counted with the vertex.
                let first = self.heap.get(id).conjuncts.is_empty();
                let own = if first { 0 } else { CONJUNCT_BYTES };
                self.bytes += (own + conjunct.groups.spilled()) as u64;
                self.heap.get_mut(id).conjuncts.push(conjunct);
            }
        }
        if self.heap.get(id).state == State::Done || self.heap.get(id).forward.is_some() {
            self.heap.reset(id);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a declaration has that many parts")]
    pub(crate) fn add_field(
        &mut self,
        id: VertexId,
        label: Label,
        presence: Presence,
        value: ExprId,
        env: EnvId,
        groups: Groups,
        notes: u32,
        at: At,
        by: Option<Contribution>,
        from: Lineage,
    ) {
        let conjunct = self.said_of_field(presence, value, env, &groups, from);
        // Computed ones are told of where their values are.
        let place = match by {
            Some(_) if self.heap.get(id).frozen => self.program.at(value),
            _ => at,
        };
        let (vertex, is_new) = self.place_arc(id, label, presence, &groups, notes, place, by);
        let conjunct = self.closed_by_definition(vertex, label, conjunct);
        self.add_conjunct(vertex, conjunct);
        // What is declared of a field comes before what patterns say of it.
        if is_new {
            self.apply_patterns(id, label, vertex);
        }
    }

    /// Whether fields only have to be put into a vertex, where they are not there yet.
    pub(crate) fn unhindered(&self, id: VertexId) -> Option<Unhindered> {
        let vertex = self.heap.get(id);
        if vertex.frozen || !vertex.patterns.is_empty() {
            return None;
        }
        let late = self.closed_itself(id) == Closed::Throughout;
        // What comprehensions may bring is there from the start.
        (!late || vertex.named.is_none()).then_some(Unhindered { late })
    }

    /// A field that is not there yet and that nothing hinders: all that is looked for elsewhere is not.
    pub(crate) fn put_field(
        &mut self,
        id: VertexId,
        known: &Unhindered,
        declared: Declared,
        groups: &Groups,
        said: Conjunct,
    ) {
        self.bytes += said.groups.spilled() as u64;
        let Declared { label, presence, notes, at, by } = declared;
        let field = self.heap.field(id, label, said);
        let mut arc = ArcEntry::new(label, field, presence, at);
        (arc.late, arc.groups) = (known.late, groups.clone());
        arc.add_notes(notes);
        by.into_iter().for_each(|it| arc.contribute(it));
        self.heap.get_mut(id).arcs.push(arc);
    }

    /// What a declaration says of its field.
    #[inline]
    pub(crate) fn said_of_field(
        &self,
        presence: Presence,
        value: ExprId,
        env: EnvId,
        groups: &Groups,
        from: Lineage,
    ) -> Conjunct {
        let cycle = match presence {
            Presence::Optional => from.cycle.max(Cycle::Optional),
            Presence::Member | Presence::Required => from.cycle,
        };
        Conjunct {
            source: Source::Expr(value, env).into(),
            groups: self.deep_groups(groups),
            close_as: None,
            by_reference: false,
            outer: from.outer,
            firing: from.firing,
            cycle,
            way: from.way,
            via: from.via,
            late: false,
            was_closed: Closed::Not,
            beside: from.beside,
            spot: kept(from.inner_scope),
        }
    }

    /// The value of a definition is closed (C rules): all its conjuncts share a group.
    fn closed_by_definition(
        &mut self,
        vertex: VertexId,
        label: Label,
        mut conjunct: Conjunct,
    ) -> Conjunct {
        if !self.is_definition(label) {
            return conjunct;
        }
        // A body that is a call to `close` closes one level (C-7), since v0.15; what is below counts as closed.
        if let Source::Expr(value, _) = conjunct.source() {
            if self.is_close(value) && !self.program.lenient {
                conjunct.groups.add(COUNTS);
                return conjunct;
            }
        }
        let group = match self.definitions.get(&vertex.number()) {
            Some(group) => *group,
            None => {
                let group = self.heap.new_group();
                self.definitions.insert(vertex.number(), group);
                self.closing.insert(group);
                group
            }
        };
        conjunct.groups.add(group);
        conjunct
    }

    /// Whether a label is that of a definition.
    pub(crate) fn is_definition(&self, label: Label) -> bool {
        matches!(self.labels.kind(label), LabelKind::Definition | LabelKind::HiddenDefinition)
    }

    fn is_close(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Call(Callee::Plain(Plain::Close), _) => true,
            Code::Unify(left, right) => self.is_close(*left) || self.is_close(*right),
            _ => false,
        }
    }

    /// Whether the text of a reference names a definition: then it closes (C-1). What is no path
    /// brings what its value has.
    pub(crate) fn names_definition(&self, expr: ExprId) -> bool {
        let definition = |label: &Label| self.is_definition(*label);
        match self.program.code(expr) {
            Code::Field { label, .. } => definition(label),
            Code::Select(operand, label) => definition(label) || self.path_names(*operand),
            Code::Index(operand, _) => self.path_names(*operand),
            Code::Outer { expr, .. } => self.names_definition(*expr),
            Code::Let { .. } | Code::Variable { .. } | Code::ComputedField { .. } => false,
            Code::Enclosing { .. } | Code::Import(_) => false,
            _ => true,
        }
    }

    /// The same for what is selected from; a value that is no path names nothing.
    pub(crate) fn path_names(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Field { .. } | Code::Select(..) | Code::Index(..) | Code::Outer { .. } => {
                self.names_definition(expr)
            }
            _ => false,
        }
    }

    /// The field of a vertex, which is made if it is not there.
    pub(crate) fn add_arc(
        &mut self,
        id: VertexId,
        label: Label,
        presence: Presence,
        groups: &Groups,
        notes: u32,
        at: At,
    ) -> VertexId {
        let (child, is_new) = self.place_arc(id, label, presence, groups, notes, at, None);
        if is_new {
            self.apply_patterns(id, label, child);
        }
        child
    }

    /// An arc without what patterns say of it, declared by `by`; whether it was not there before.
    #[allow(clippy::too_many_arguments, reason = "a declaration has that many parts")]
    fn place_arc(
        &mut self,
        id: VertexId,
        label: Label,
        presence: Presence,
        groups: &Groups,
        notes: u32,
        at: At,
        by: Option<Contribution>,
    ) -> (VertexId, bool) {
        if let Some(index) = self.heap.get(id).arcs.place(label) {
            let arc = &mut self.heap.get_mut(id).arcs[index];
            arc.presence = arc.presence.max(presence);
            arc.groups.join(groups);
            arc.add_notes(notes);
            by.into_iter().for_each(|it| arc.contribute(it));
            return (arc.vertex, false);
        }
        let child = self.heap.vertex(Some(id), Some(label));
        let vertex = self.heap.get(id);
        if vertex.frozen
            && presence == Presence::Member
            && self.labels.kind(label) == LabelKind::Regular
            && !vertex.is_named(label)
            && !self.listed.get(&id).is_some_and(|it| it.contains(&label))
        {
            let name = self.label_text(label);
            let message =
                format!("adding field {name} not allowed as field set was already referenced");
            self.raise(id, Fault::new(Kind::Permanent, message, at));
            return (child, false);
        }
        // What comprehensions may bring is there from the start.
        let late =
            !self.heap.get(id).is_named(label) && self.closed_itself(id) == Closed::Throughout;
        let vertex = self.heap.get_mut(id);
        let mut arc = ArcEntry::new(label, child, presence, at);
        (arc.late, arc.groups) = (late, groups.clone());
        arc.add_notes(notes);
        by.into_iter().for_each(|it| arc.contribute(it));
        vertex.arcs.push(arc);
        (child, true)
    }

    fn apply_patterns(&mut self, id: VertexId, label: Label, child: VertexId) {
        if self.heap.get(id).patterns.is_empty() || self.labels.kind(label) != LabelKind::Regular {
            return;
        }
        for index in 0..self.heap.get(id).patterns.len() {
            let pattern = self.heap.get(id).patterns[index].clone();
            self.apply_pattern(&pattern, label, child);
        }
    }

    pub(crate) fn add_pattern(&mut self, id: VertexId, pattern: Pattern) {
        let arcs: Vec<(Label, VertexId)> =
            self.heap.get(id).arcs.iter().map(|it| (it.label, it.vertex)).collect();
        self.heap.get_mut(id).patterns.push(pattern.clone());
        for (label, vertex) in arcs {
            if self.labels.kind(label) == LabelKind::Regular {
                self.apply_pattern(&pattern, label, vertex);
            }
        }
    }

    pub(crate) fn apply_pattern(&mut self, pattern: &Pattern, label: Label, child: VertexId) {
        match self.fits(pattern, label) {
            Ok(true) => {}
            Ok(false) => return,
            Err(fault) => {
                if let Some(parent) = self.heap.get(child).parent {
                    self.raise_id(parent, fault);
                }
                return;
            }
        }
        // Where the name is not named, what it holds for is in one environment.
        let name = pattern.alias.then_some(label);
        let key = (pattern.value, pattern.env, name);
        let env = match self.pattern_envs.get(&key) {
            Some(env) => *env,
            None => {
                let env = self.heap.envs.enter(Some(pattern.env), EnvKind::PatternName(name));
                self.pattern_envs.insert(key, env);
                env
            }
        };
        let groups = self.deep_groups(&pattern.groups);
        let source = Source::Expr(pattern.value, env);
        let spot = kept(pattern.from.inner_scope);
        self.add_conjunct(child, Conjunct { spot, ..Conjunct::late(source, groups, pattern.from) });
    }

    /// Of a pattern whose label is not known it cannot be said what it holds for; a label that has failed is told
    /// where it is evaluated, if that is no field's value.
    pub(crate) fn unknown_patterns(&mut self, id: VertexId) {
        for index in 0..self.heap.get(id).patterns.len() {
            let pattern = &self.heap.get(id).patterns[index];
            let (label, env) = (pattern.label, pattern.env);
            let code = self.program.code(label);
            // Up to v0.14 only what waits is told, and calls that fail.
            let older = self.program.lenient;
            let call = matches!(code, Code::Call(..));
            let joined = !older && matches!(code, Code::Unify(..) | Code::Bottom);
            let known = !code.is_computed() && !joined || self.only_matches(label);
            // It leads to a struct that has it.
            if known || self.labelling.contains(&label) {
                continue;
            }
            // What a name leads to is told there.
            let named = self.is_path(label);
            self.labelling.push(label);
            let (fault, of) = match self.eval(label, env) {
                Value::Fault(fault) => (Some(fault), None),
                Value::Vertex(of) => {
                    let of = self.unify(of);
                    (self.heap.get(of).fault, Some(of))
                }
                Value::Datum(_) => (None, None),
            };
            self.labelling.pop();
            let Some(fault) = fault else { continue };
            let told = match self.heap.faults[fault].kind {
                Kind::Incomplete => true,
                Kind::Permanent if older => call,
                Kind::User if older => false,
                Kind::Permanent | Kind::User => !(named && of.is_some()),
                Kind::Cycle | Kind::StructuralCycle | Kind::Budget => false,
            };
            if !told {
                continue;
            }
            // A value by itself is nowhere; what computes one is told of the struct.
            let own = of.is_some() && !joined && self.heap.faults[fault].place == of;
            let fault = match own {
                true => {
                    let moved = Fault { place: Some(id), ..self.heap.faults[fault].clone() };
                    self.heap.fault(moved)
                }
                false => fault,
            };
            self.raise_id(id, fault);
        }
    }

    /// Whether a label is expressions that texts match, or both of such: they never disagree.
    fn only_matches(&self, label: ExprId) -> bool {
        match self.program.code(label) {
            Code::Bound(Compare::Match | Compare::NotMatch, limit) => {
                matches!(self.program.code(*limit), Code::Scalar(Datum::String(_)))
            }
            Code::Unify(left, right) => self.only_matches(*left) && self.only_matches(*right),
            Code::Type(kinds, _) => *kinds == Kinds::STRING,
            _ => false,
        }
    }

    pub(crate) fn pattern_matches(&mut self, pattern: &Pattern, label: Label) -> bool {
        self.fits(pattern, label).unwrap_or(false)
    }

    /// The same; an error if the pattern is none.
    fn fits(&mut self, pattern: &Pattern, label: Label) -> Result<bool, FaultId> {
        if let Code::Type(kinds, _) = self.program.code(pattern.label) {
            return Ok(kinds.meets(Kinds::STRING));
        }
        if let Code::Top = self.program.code(pattern.label) {
            return Ok(true);
        }
        let name = Datum::text(self.labels.name(label));
        if let Some(matches) = self.plainly_matches(pattern.label, &name) {
            return Ok(matches);
        }
        // A label that leads to the struct it stands in is no text.
        if self.labelling.contains(&pattern.label) {
            return Ok(false);
        }
        let probe = self.heap.vertex(None, None);
        let name = self.heap.keep_data(name, 0);
        let conjuncts = [Source::Expr(pattern.label, pattern.env), name];
        self.heap.get_mut(probe).conjuncts = conjuncts.into_iter().map(Conjunct::new).collect();
        self.labelling.push(pattern.label);
        let probe = self.unify(probe);
        self.labelling.pop();
        match self.heap.get(probe).fault {
            None => Ok(true),
            Some(it) => {
                let message = &self.heap.faults[it].message;
                if !message.starts_with(BAD_PATTERN) {
                    return Ok(false);
                }
                // It is told where it would bring something.
                let (message, at) = (message.clone(), self.program.at(pattern.value));
                Err(self.fail(Kind::Permanent, message, at))
            }
        }
    }

    /// Whether a name passes a pattern that is written out: bounds with literal limits, and both of such.
    fn plainly_matches(&self, pattern: ExprId, name: &Datum) -> Option<bool> {
        match self.program.code(pattern) {
            Code::Bound(compare, limit) => match self.program.code(*limit) {
                Code::Scalar(limit @ Datum::String(_)) => {
                    crate::compare::holds(*compare, name, limit)
                }
                _ => None,
            },
            Code::Unify(left, right) => {
                let left = self.plainly_matches(*left, name)?;
                Some(self.plainly_matches(*right, name)? && left)
            }
            _ => None,
        }
    }
}
