//! Concrete values asked of expressions, and what is said when there are none (cue-errors 1.6).

use crate::builtin::{Datum, Kinds};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId, Source, State, VertexId};
use crate::operators::range;
use crate::program::{At, Code, ExprId, LabelKind};

/// References to references that are followed for where a type is written.
const MOST_ALIASED: usize = 50;

/// A value that an operator can work with.
pub(crate) enum Concrete {
    Datum(Datum),
    Vertex(VertexId),
}

/// Why there is no concrete value.
#[derive(Clone, Copy)]
pub(crate) enum Unmet {
    Fault(FaultId),
    /// A type, a bound or the like: who asks says what it was asked for.
    Open(VertexId),
}

/// A concrete value and where it is from.
pub(crate) struct Operand {
    pub(crate) value: Concrete,
    /// The vertex that has it; none if it was computed.
    pub(crate) vertex: Option<VertexId>,
    /// The expression.
    pub(crate) at: At,
}

impl Evaluator {
    /// The vertex that stands for a choice where a concrete value is asked for.
    #[inline]
    pub(crate) fn default_of(&mut self, id: VertexId) -> Option<VertexId> {
        let id = self.unify(id);
        match &self.heap.get(id).choice {
            None => Some(id),
            Some(_) => self.default_within(id),
        }
    }

    #[inline(never)]
    fn default_within(&mut self, mut id: VertexId) -> Option<VertexId> {
        loop {
            let Some(choice) = &self.heap.get(id).choice else { return Some(id) };
            match (choice.defaults.as_slice(), choice.all.as_slice()) {
                ([only], _) | ([], [only]) => id = *only,
                _ => return None,
            }
            id = self.unify(id);
        }
    }

    /// A concrete value, defaults taken.
    pub(crate) fn demand(&mut self, value: Value, at: At) -> Result<Concrete, Unmet> {
        self.demand_in(value, at, at)
    }

    /// The same of a part of an expression: a choice that is not made is told of where the whole
    /// is.
    pub(crate) fn demand_in(&mut self, value: Value, at: At, whole: At) -> Result<Concrete, Unmet> {
        let id = match value {
            Value::Datum(datum) => return Ok(Concrete::Datum(datum)),
            Value::Fault(fault) => return Err(Unmet::Fault(fault)),
            Value::Vertex(id) => id,
        };
        let before = self.heap.get(self.follow(id)).state;
        if self.is_taken_as_known(id) {
            return Err(Unmet::Open(self.follow(id)));
        }
        let id = self.unify_for(id, at);
        if self.heap.get(id).scalar.is_none() {
            let vertex = self.heap.get(id);
            let bare = !vertex.is_struct && !vertex.is_list && vertex.fault.is_none();
            if vertex.choice.is_some() || bare {
                if let Some(fault) = self.unsettled(id, at) {
                    return Err(Unmet::Fault(fault));
                }
            }
        }
        let Some(id) = self.default_of(id) else {
            let text = self.short(id);
            let message = format!("unresolved disjunction {text} (type {})", self.kinds_of(id));
            return Err(Unmet::Fault(self.fail(Kind::Incomplete, message, whole)));
        };
        let vertex = self.heap.get(id);
        if let Some(fault) = vertex.fault.filter(|it| !self.is_only_tested(id, *it)) {
            if self.waited_alone(id, fault, before) {
                return Err(Unmet::Open(id));
            }
            if let Some(datum) = self.read_ahead(id, fault, before) {
                return Ok(Concrete::Datum(datum));
            }
            let noted = self.note_cycle(fault, id, at);
            if noted != fault {
                self.heap.get_mut(id).fault = Some(noted);
            }
            return Err(Unmet::Fault(noted));
        }
        if let Some((datum, _)) = self.scalar_of(vertex) {
            return Ok(Concrete::Datum(datum.clone()));
        }
        if vertex.is_struct || vertex.is_list {
            return match if before == State::Done { self.failed_below(id) } else { None } {
                Some(fault) => Err(Unmet::Fault(fault)),
                None => Ok(Concrete::Vertex(id)),
            };
        }
        if let Some(fault) = self.put_off(id) {
            if self.waited_alone(id, fault, before) {
                return Err(Unmet::Open(id));
            }
            let noted = self.note_cycle(fault, id, at);
            if let Some(it) = self.suspended.get_mut(&id) {
                it.fault = noted;
            }
            return Err(Unmet::Fault(noted));
        }
        if self.frozen == Some(id) && self.current == id && self.is_bare_literal(id) {
            self.heap.get_mut(id).is_struct = true; // taken back in `last_task`
            return Ok(Concrete::Vertex(id));
        }
        let vertex = self.heap.get(id);
        if vertex.state == State::Running {
            let message = self.cycle_with(id, at);
            let mut fault = Fault::new(Kind::Cycle, message, at);
            fault.place = Some(self.place);
            fault.closes_at = Some(id);
            fault.awaits = Some((id, None));
            let fault = self.heap.fault(fault);
            self.heap.faults[fault].closed_by = Some(fault);
            return Err(Unmet::Fault(fault));
        }
        Err(Unmet::Open(id))
    }

    /// Whether all that is known of a vertex is that a literal is written there: what that embeds finds a struct if
    /// it asks for the vertex itself, once nothing else comes any more.
    fn is_bare_literal(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        // An element is asked for by what is computed of its list, too.
        let element = vertex.label.is_some_and(|it| self.labels.kind(it) == LabelKind::Index);
        !element
            && !vertex.placed.is_empty()
            && vertex.scalar.is_none()
            && vertex.choice.is_none()
            && !vertex.is_list
            && vertex.kinds.meets(Kinds::STRUCT)
            && vertex.tests.is_empty()
    }

    /// The same with the plain words for what is not concrete.
    pub(crate) fn concrete(&mut self, value: Value, at: At) -> Result<Concrete, FaultId> {
        self.concrete_in(value, at, at)
    }

    pub(crate) fn concrete_in(
        &mut self,
        value: Value,
        at: At,
        whole: At,
    ) -> Result<Concrete, FaultId> {
        self.demand_in(value, at, whole).map_err(|unmet| match unmet {
            Unmet::Fault(fault) => fault,
            Unmet::Open(id) => {
                let message = format!("non-concrete value {}", self.short_as_known(id));
                self.fail_of(Kind::Incomplete, message, at, id)
            }
        })
    }

    /// An error about a value: where it was asked for, and where the value is from.
    pub(crate) fn fail_of(
        &mut self,
        kind: Kind,
        message: impl Into<String>,
        at: At,
        value: VertexId,
    ) -> FaultId {
        let positions = self.origin(value);
        self.fail_at(kind, message, at, positions)
    }

    /// An error with further positions.
    pub(crate) fn fail_at(
        &mut self,
        kind: Kind,
        message: impl Into<String>,
        at: At,
        positions: Vec<At>,
    ) -> FaultId {
        self.failing(kind, message.into(), at, positions)
    }

    /// An argument that a function does not take: the error stands where it is written, but a struct or a
    /// list may be written in several places (cue-errors 2.1).
    pub(crate) fn misused(&mut self, message: String, kinds: Kinds, mut from: Vec<At>) -> FaultId {
        // What is predeclared has no place of its own (cue-errors 2.2).
        if kinds == Kinds::FUNC {
            from.clear();
        }
        let several = kinds.meets(Kinds::LIST.or(Kinds::STRUCT)) || from.is_empty();
        let at = if several { At::default() } else { from.remove(0) };
        self.fail_at(Kind::Permanent, message, at, from)
    }

    #[inline(never)]
    fn failing(&mut self, kind: Kind, message: String, at: At, positions: Vec<At>) -> FaultId {
        let mut fault = Fault::new(kind, message, at);
        fault.place = Some(self.place);
        fault.positions = positions;
        self.heap.fault(fault)
    }

    /// Where a value is from: what it is written as, or all that was unified to make it.
    pub(crate) fn origin(&self, id: VertexId) -> Vec<At> {
        let id = self.follow(id);
        if let Some((Datum::Function(_), _)) = self.scalar_of(self.heap.get(id)) {
            return Vec::new();
        }
        let single = self.written_at(id);
        if single != At::default() {
            return vec![single];
        }
        let conjuncts = self.heap.get(id).conjuncts.iter();
        conjuncts
            .filter_map(|it| match it.source() {
                // What packages have and are has no source.
                Source::Expr(expr, _) if self.program.named_packages.contains_key(&expr) => None,
                Source::Expr(expr, _) => Some(self.program.at(expr)),
                Source::Data(_) => Some(self.spots.of_whole(it.spot)),
                Source::Vertex(_) => None,
            })
            .collect()
    }

    /// Where a value that a message names is from: what it is written as, and each conjunct of it as
    /// it is declared, references not followed (cue-errors 2.2).
    pub(crate) fn named_at(&mut self, id: VertexId) -> Vec<At> {
        let id = self.aliased(id);
        let mut all = vec![self.written_at(id)];
        for conjunct in &self.heap.get(id).conjuncts {
            let Source::Expr(expr, _) = conjunct.source() else { continue };
            match self.program.code(expr) {
                // Ranges have no source.
                Code::Type(_, name) if range(name).is_some() => {}
                _ => all.push(self.program.at(expr)),
            }
        }
        all
    }

    /// The type or bound that a field stands for which is nothing but a reference to one: within definitions
    /// these share no value (S-72), but it is the same.
    fn aliased(&mut self, id: VertexId) -> VertexId {
        let mut id = self.follow(id);
        for _ in 0..MOST_ALIASED {
            let [only] = self.heap.get(id).conjuncts.as_slice() else { break };
            let Source::Expr(expr, env) = only.source() else { break };
            if !matches!(self.program.code(expr), Code::Field { .. }) {
                break;
            }
            let Some(target) = self.eval(expr, env).vertex() else { break };
            let target = self.follow(target);
            let vertex = self.heap.get(target);
            if target == id || vertex.is_struct || vertex.is_list || vertex.state != State::Done {
                break;
            }
            id = target;
        }
        id
    }

    /// Where a value is written, if it is one scalar, type, bound or validator.
    pub(crate) fn written_at(&self, id: VertexId) -> At {
        let vertex = self.heap.get(self.follow(id));
        if let Some((_, at)) = self.scalar_of(vertex) {
            return at;
        }
        if vertex.is_struct || vertex.is_list || vertex.choice.is_some() {
            return At::default();
        }
        match &*vertex.tests {
            [] if vertex.kinds == Kinds::ANY => At::default(),
            [] => self.narrowed(self.follow(id)).at,
            _ => self.only_test(id),
        }
    }

    /// Where the value of an operand is from.
    pub(crate) fn origin_of(&mut self, operand: &Operand) -> Vec<At> {
        match operand.vertex {
            Some(id) => {
                let id = self.unify(id);
                match self.default_of(id) {
                    // The default of a choice has no source, but a scalar one.
                    Some(default) if default != id => vec![self.written_at(default)],
                    _ => self.origin(id),
                }
            }
            None if matches!(operand.value, Concrete::Datum(Datum::Function(_))) => Vec::new(),
            None => vec![operand.at],
        }
    }

    /// The source text of an expression.
    pub(crate) fn source_at(&self, at: At) -> String {
        let source = self.program.sources.get(at.source as usize);
        let text = source
            .and_then(|it| it.text.get(at.span.start as usize..at.span.end as usize))
            .unwrap_or_default();
        text.to_owned()
    }

    /// A scalar, or what keeps the expression from being one.
    pub(crate) fn scalar(&mut self, expr: ExprId, env: EnvId) -> Result<Datum, FaultId> {
        self.scalar_in(expr, env, self.program.at(expr))
    }

    /// The same of a part of an expression.
    pub(crate) fn scalar_in(
        &mut self,
        expr: ExprId,
        env: EnvId,
        whole: At,
    ) -> Result<Datum, FaultId> {
        if let Some(key) = self.key_of(expr, env) {
            return Ok(key);
        }
        let at = self.program.at(expr);
        let value = self.eval(expr, env);
        match self.concrete_in(value, at, whole)? {
            Concrete::Datum(datum) => Ok(datum),
            Concrete::Vertex(id) => {
                let what = if self.heap.get(id).is_list { "list" } else { "struct" };
                let text = self.short(id);
                let message = format!("invalid operand {text} (type {what})");
                Err(self.fail(Kind::Permanent, message, at))
            }
        }
    }

    /// An operand of a binary operator (S-53).
    pub(crate) fn operand(
        &mut self,
        expr: ExprId,
        env: EnvId,
        symbol: &str,
        whole: At,
    ) -> Result<Operand, FaultId> {
        let at = self.program.at(expr);
        let value = self.eval(expr, env);
        let vertex = value.vertex();
        // What is compared as it is written need not be evaluated (see `equality`).
        if let ("==" | "!=", Some(id)) = (symbol, vertex.map(|it| self.follow(it))) {
            if self.untouched_literal(id).is_some() && self.program.compares_all(whole.source) {
                return Ok(Operand { value: Concrete::Vertex(id), vertex, at });
            }
        }
        match self.demand_in(value, at, whole) {
            Ok(Concrete::Vertex(id)) if self.is_being_listed(id) => {
                let message = format!("non-concrete value list in operand to {symbol}");
                let positions = vec![self.first_position(id)];
                Err(self.fail_at(Kind::Incomplete, message, whole, positions))
            }
            Ok(value) => Ok(Operand { value, vertex, at }),
            Err(Unmet::Fault(fault)) => {
                let Some(id) = self.known_in_part(fault) else { return Err(fault) };
                let open = self.open_operand(id, symbol, whole);
                Err(self.awaiting_as(fault, open))
            }
            Err(Unmet::Open(id)) => Err(self.open_operand(id, symbol, whole)),
        }
    }

    /// What is known of a value in few words, whatever error it has.
    pub(crate) fn short_as_known(&mut self, id: VertexId) -> String {
        let fault = self.heap.get_mut(id).fault.take();
        let text = self.short(id);
        self.heap.get_mut(id).fault = fault;
        text
    }

    fn open_operand(&mut self, id: VertexId, symbol: &str, whole: At) -> FaultId {
        let text = self.short_as_known(id);
        let message = format!("non-concrete value {text} in operand to {symbol}");
        let positions = self.named_at(id);
        self.fail_at(Kind::Incomplete, message, whole, positions)
    }

    /// Whether a list is being made, and it is not known yet how long it will be (S-32).
    pub(crate) fn is_being_listed(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        vertex.state == State::Running && vertex.is_list && vertex.closed_length().is_none()
    }

    /// Two errors as one.
    pub(crate) fn both_faults(&mut self, left: FaultId, right: FaultId) -> FaultId {
        if left == right {
            return left;
        }
        let (one, other) = (&self.heap.faults[left], &self.heap.faults[right]);
        if one.kind == Kind::Budget {
            return left;
        }
        if other.kind == Kind::Budget {
            return right;
        }
        let mut both = one.clone().combined(other.clone());
        // Each operand counts, though both say the same.
        let counts = both.kind != Kind::Cycle;
        if counts && both.causes.is_empty() && one.message == other.message {
            both.causes.push(Fault { causes: Vec::new(), ..other.clone() });
        }
        self.heap.fault(both)
    }

    /// The operand of `!`, `-` or `+`.
    pub(crate) fn unary(
        &mut self,
        symbol: char,
        operand: ExprId,
        env: EnvId,
        at: At,
    ) -> Result<Datum, FaultId> {
        let wanted = if symbol == '!' { Kinds::BOOL } else { Kinds::NUMBER };
        let place = self.program.at(operand);
        if matches!(self.program.code(operand), Code::Type(..) | Code::Top | Code::Bound(..)) {
            let text = self.source_at(place);
            let message = format!("invalid operand {text} ('{symbol}' requires concrete value)");
            return Err(self.fail_at(Kind::Permanent, message, At::default(), vec![place]));
        }
        let value = self.eval(operand, env);
        let datum = match self.demand_in(value, place, at) {
            Ok(Concrete::Datum(datum)) if crate::compare::kinds(&datum).meets(wanted) => {
                return Ok(datum);
            }
            Ok(other) => other,
            Err(Unmet::Fault(fault)) => return Err(fault),
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.source_at(place), self.kinds_of(id));
                if kinds.meets(wanted) {
                    let message =
                        format!("operand {text} of '{symbol}' not concrete (was {kinds})");
                    return Err(self.fail(Kind::Incomplete, message, place));
                }
                let message = format!("invalid operation {symbol}{text} ({symbol} {kinds})");
                return Err(self.fail(Kind::Permanent, message, at));
            }
        };
        let message = format!(
            "invalid operation {symbol}{} ({symbol} {})",
            self.literal_text(operand),
            self.concrete_kind(&datum)
        );
        Err(self.fail(Kind::Permanent, message, at))
    }

    pub(crate) fn concrete_text(&mut self, value: &Concrete) -> String {
        match value {
            Concrete::Datum(datum) => datum.cue_text(),
            Concrete::Vertex(id) => self.short(*id),
        }
    }

    pub(crate) fn concrete_kind(&self, value: &Concrete) -> &'static str {
        match value {
            Concrete::Datum(datum) => datum.kind_name(),
            Concrete::Vertex(id) if self.heap.get(*id).is_list => "list",
            Concrete::Vertex(_) => "struct",
        }
    }
}
