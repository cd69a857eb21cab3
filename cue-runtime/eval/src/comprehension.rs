//! What comprehensions yield: clauses in order, each body in its environment.

use smallvec::SmallVec;

use crate::builtin::{Datum, Kinds};
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, EnvId, EnvKind, FaultId, Key, Source, State, VertexId};
use crate::program::{At, ClauseCode, Code, ExprId, Label, LabelKind, Presence, Program};

impl Program {
    /// Whether clauses are guards that read and compare, and nothing is made for them that is kept.
    fn only_compare(&self, clauses: &[ClauseCode]) -> bool {
        let mut open: SmallVec<[ExprId; 8]> = SmallVec::new();
        for clause in clauses {
            let ClauseCode::If(condition) = clause else { return false };
            open.push(*condition);
        }
        while let Some(expr) = open.pop() {
            match self.code(expr) {
                Code::Scalar(_) | Code::Field { .. } | Code::Variable { .. } => {}
                Code::Select(it, _) | Code::Not(it) => open.push(*it),
                Code::And(left, right)
                | Code::Or(left, right)
                | Code::Compare(_, left, right)
                | Code::Arithmetic(_, left, right) => open.extend([*left, *right]),
                _ => return false,
            }
        }
        true
    }
}

/// What a loop goes through: a list or struct, with names for the keys or without.
struct Range {
    over: VertexId,
    keyed: bool,
}

impl Evaluator {
    /// The bodies a comprehension yields, each in its environment.
    pub(crate) fn yields(
        &mut self,
        index: u32,
        env: EnvId,
    ) -> Result<Vec<(ExprId, EnvId)>, FaultId> {
        let mut out = Vec::new();
        let program = self.program.clone();
        let code = &program.comprehensions[index as usize];
        self.clauses(&code.clauses, code.body, env, &mut out)?;
        if code.on_trial {
            let mut kept = Vec::new();
            for (body, env) in out {
                if self.holds_on_trial(body, env) {
                    kept.push((body, env));
                }
            }
            out = kept;
        }
        if let (true, Some(otherwise)) = (out.is_empty(), code.otherwise) {
            out.push((otherwise, env));
        }
        Ok(out)
    }

    /// Whether everything marked with `?` in a body is there (S-42).
    fn holds_on_trial(&mut self, body: ExprId, env: EnvId) -> bool {
        let outside = std::mem::replace(&mut self.missed, false);
        let trial = self.anonymous(body, env);
        // What is wrong with it otherwise shows where it is yielded.
        let _ = self.permanent(trial, 0);
        !std::mem::replace(&mut self.missed, outside)
    }

    /// The value of a condition (S-35).
    fn condition(&mut self, expr: ExprId, env: EnvId) -> Result<bool, FaultId> {
        let at = self.program.at(expr);
        let value = self.eval(expr, env);
        let vertex = value.vertex();
        match self.demand(value, at) {
            Ok(Concrete::Datum(Datum::Bool(it))) => Ok(it),
            Ok(value) => {
                let clause = self.clause_at(at, "if");
                let kind = self.concrete_kind(&value);
                let message = self.about_given(&value, "", |text| {
                    format!("cannot use {text} (type {kind}) as type bool")
                });
                let positions = self.origin_of(&Operand { value, vertex, at });
                Err(self.fail_at(Kind::Permanent, message, clause, positions))
            }
            Err(Unmet::Fault(fault)) if vertex.is_some() => Err(self.of_clause(fault, at, "if")),
            Err(Unmet::Fault(fault)) => Err(fault),
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.short(id), self.kinds_of(id));
                if kinds.meets(Kinds::BOOL) {
                    let top = matches!(self.program.code(expr), Code::Top);
                    let from = if top { at } else { self.written_at(id) };
                    let message = format!("incomplete bool: {text}");
                    return Err(self.fail(Kind::Incomplete, message, from));
                }
                let clause = self.clause_at(at, "if");
                let message = format!("cannot use {text} (type {kinds}) as type bool");
                let positions = vec![self.written_at(id)];
                Err(self.fail_at(Kind::Permanent, message, clause, positions))
            }
        }
    }

    /// A choice that is not made is told of where the clause is.
    fn of_clause(&mut self, fault: FaultId, at: At, word: &str) -> FaultId {
        let known = &self.heap.faults[fault];
        if known.at != at || !known.message.starts_with("unresolved disjunction ") {
            return fault;
        }
        let at = self.clause_at(at, word);
        let fault = Fault { at, ..self.heap.faults[fault].clone() };
        self.heap.fault(fault)
    }

    /// Where the word stands that a clause begins with.
    fn clause_at(&self, expr: At, word: &str) -> At {
        let source = self.program.sources.get(expr.source as usize);
        let before = source.and_then(|it| it.text.get(..expr.span.start as usize));
        match before.and_then(|it| it.rfind(word)) {
            Some(start) => {
                let mut at = expr;
                at.span.start = start as u32;
                at
            }
            None => expr,
        }
    }

    /// A value for the name of an expression that has failed.
    fn failed_value(&mut self, expr: ExprId, env: EnvId, fault: FaultId) -> VertexId {
        let id = self.heap.vertex(None, None);
        // What embeds it takes its expression.
        let conjunct = Conjunct::new(Source::Expr(expr, env));
        let vertex = self.heap.get_mut(id);
        vertex.conjuncts.push(conjunct);
        vertex.fault = Some(fault);
        vertex.state = State::Done;
        id
    }

    fn clauses(
        &mut self,
        clauses: &[ClauseCode],
        body: ExprId,
        env: EnvId,
        out: &mut Vec<(ExprId, EnvId)>,
    ) -> Result<(), FaultId> {
        self.tick()?;
        let Some((first, rest)) = clauses.split_first() else {
            out.push((body, env));
            return Ok(());
        };
        match first {
            ClauseCode::If(condition) => {
                let at = self.program.at(body);
                if !self.read_through(at, |it| it.condition(*condition, env))? {
                    return Ok(());
                }
                match self.program.asks_whether_there(first) {
                    true => self.asking_what_is_made(|it| it.clauses(rest, body, env, out)),
                    false => self.clauses(rest, body, env, out),
                }
            }
            ClauseCode::Try(value) => match self.attempted(*value, env)? {
                Some(vertex) => self.with_variable(vertex, rest, body, env, out),
                None => Ok(()),
            },
            ClauseCode::Let(value) => {
                let vertex = match self.eval(*value, env) {
                    Value::Vertex(id) => id,
                    Value::Datum(datum) => self.datum_vertex(datum),
                    Value::Fault(fault) => self.failed_value(*value, env, fault),
                };
                self.with_variable(vertex, rest, body, env, out)
            }
            ClauseCode::For { keyed, source } => {
                let over = self.range_source(*source, env)?;
                self.each_round(Range { over, keyed: *keyed }, rest, body, env, out)
            }
        }
    }

    /// The clauses that see a name of one value.
    fn with_variable(
        &mut self,
        vertex: VertexId,
        rest: &[ClauseCode],
        body: ExprId,
        env: EnvId,
        out: &mut Vec<(ExprId, EnvId)>,
    ) -> Result<(), FaultId> {
        let env = self.heap.envs.enter(Some(env), EnvKind::Variables(vertex, Key::None));
        self.clauses(rest, body, env, out)
    }

    /// What `try` gives; nothing if something that it asks for is not there.
    fn attempted(&mut self, expr: ExprId, env: EnvId) -> Result<Option<VertexId>, FaultId> {
        let outside = std::mem::replace(&mut self.missed, false);
        let value = self.eval(expr, env);
        if let Value::Vertex(id) = value {
            let _ = self.permanent(id, 0);
        }
        if std::mem::replace(&mut self.missed, outside) {
            return Ok(None);
        }
        Ok(Some(match value {
            Value::Vertex(id) => id,
            Value::Datum(datum) => self.datum_vertex(datum),
            Value::Fault(fault)
                if self.heap.faults[fault].kind.is_incomplete() && !self.is_unmet(fault) =>
            {
                return Err(fault);
            }
            // Who names it has the error.
            Value::Fault(fault) => self.failed_value(expr, env, fault),
        }))
    }

    /// The list or struct that a loop goes through.
    fn range_source(&mut self, source: ExprId, env: EnvId) -> Result<VertexId, FaultId> {
        let at = self.program.at(source);
        let base = self.eval(source, env);
        if base.vertex().is_some_and(|it| self.is_unmade(it)) {
            let text = self.source_at(at);
            let message = format!("cannot range over {text} (incomplete type _)");
            return Err(self.fail(Kind::Incomplete, message, at));
        }
        let direct = base.vertex().is_some();
        let only = base.vertex().and_then(|it| self.only_embeds(it));
        let base = only.map_or_else(|| self.demand(base, at), |it| Ok(Concrete::Vertex(it)));
        let id = match base {
            Ok(Concrete::Vertex(id)) => id,
            Ok(Concrete::Datum(datum)) => {
                let (text, kind) = (self.source_at(at), datum.kind_name());
                let message =
                    format!("cannot range over {text} (found {kind}, want list or struct)");
                return Err(self.fail(Kind::Permanent, message, at));
            }
            Err(Unmet::Fault(fault)) if direct => return Err(self.of_clause(fault, at, "for")),
            Err(Unmet::Fault(fault)) if self.lacks_field(source, env, fault) => {
                let text = self.source_at(at);
                let message = format!("cannot range over {text} (incomplete)");
                return Err(self.fail(Kind::Incomplete, message, at));
            }
            Err(Unmet::Fault(fault)) => return Err(fault),
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.source_at(at), self.kinds_of(id));
                if kinds.meets(Kinds::STRUCT.or(Kinds::LIST)) {
                    let message = format!("cannot range over {text} (incomplete type {kinds})");
                    return Err(self.fail(Kind::Incomplete, message, at));
                }
                let message =
                    format!("cannot range over {text} (found {kinds}, want list or struct)");
                return Err(self.fail(Kind::Permanent, message, at));
            }
        };
        self.range_over(id, at)?;
        self.has_required(id, at)?;
        Ok(id)
    }

    /// The rounds of a loop.
    fn each_round(
        &mut self,
        Range { over, keyed }: Range,
        rest: &[ClauseCode],
        body: ExprId,
        env: EnvId,
        out: &mut Vec<(ExprId, EnvId)>,
    ) -> Result<(), FaultId> {
        let vertex = self.heap.get(over);
        let list = vertex.is_list;
        let there = vertex.arcs.iter().filter(|it| it.presence == Presence::Member);
        let shown = there.filter(|it| {
            matches!(self.labels.kind(it.label), LabelKind::Regular | LabelKind::Index)
        });
        let arcs: Vec<(Label, VertexId)> = shown.map(|it| (it.label, it.vertex)).collect();
        let compares = self.program.only_compare(rest);
        let mut spare = None;
        for (position, (label, vertex)) in arcs.into_iter().enumerate() {
            let key = match (keyed, list) {
                (false, _) => Key::None,
                (true, true) => Key::Position(position as u32),
                (true, false) => Key::Label(label),
            };
            let kind = EnvKind::Variables(vertex, key);
            let env = match spare.take() {
                Some(spare) => {
                    self.heap.envs[spare].kind = kind;
                    spare
                }
                None => self.heap.envs.enter(Some(env), kind),
            };
            let before = (self.heap.envs.len(), out.len());
            self.clauses(rest, body, env, out)?;
            // Nothing knows an environment of which nothing came: a join has millions of them.
            spare = (compares && before == (self.heap.envs.len(), out.len())).then_some(env);
        }
        Ok(())
    }

    /// Whether a selection has failed for a field that a struct has not, and that one is not finished.
    fn lacks_field(&mut self, expr: ExprId, env: EnvId, fault: FaultId) -> bool {
        let Code::Select(operand, _) = self.program.code(expr) else { return false };
        let operand = *operand;
        let lacks = self.heap.faults[fault].message.starts_with("undefined field: ")
            && self.waits(fault).is_none();
        let from = if lacks { self.eval(operand, env).vertex() } else { None };
        from.is_some_and(|it| self.running(self.follow(it)).is_some())
    }

    /// The value of an expression that is the key of a `for` and nothing else.
    pub(crate) fn key_of(&self, expr: ExprId, env: EnvId) -> Option<Datum> {
        let Code::Variable { up, index: 1 } = self.program.code(expr) else { return None };
        let env = self.env_up(env, *up);
        match self.heap.envs[env].kind {
            EnvKind::Variables(_, Key::Label(label)) => Some(Datum::text(self.labels.name(label))),
            EnvKind::Variables(_, Key::Position(position)) => Some(Datum::count(position as usize)),
            _ => None,
        }
    }

    /// What a clause or an alias names by a number: 1 is a key.
    pub(crate) fn variable(&mut self, expr: ExprId, up: u32, index: u32, env: EnvId) -> Value {
        let at = self.program.at(expr);
        let scope = self.env_up(env, up);
        let EnvKind::Variables(value, key) = self.heap.envs[scope].kind else {
            return Value::Fault(self.fail(Kind::Permanent, "variable out of scope", at));
        };
        match (index, key) {
            (0, _) => return Value::Vertex(value),
            (_, Key::Vertex(key)) => return Value::Vertex(key),
            _ => {}
        }
        let Some(datum) = self.key_of(expr, env) else {
            return Value::Fault(self.fail(Kind::Incomplete, "no such variable", at));
        };
        let key = self.datum_vertex(datum);
        self.heap.envs[scope].kind = EnvKind::Variables(value, Key::Vertex(key));
        Value::Vertex(key)
    }

    /// A vertex of which nothing else is left than comprehensions in its literals: it has no fields.
    fn only_embeds(&self, id: VertexId) -> Option<VertexId> {
        let id = self.follow(id);
        let vertex = self.heap.get(id);
        let bare = vertex.scalar.is_none() && !vertex.is_list && !vertex.is_struct;
        let on = self.running(id)?;
        (bare && self.is_last(on) && !vertex.placed.is_empty()).then_some(id)
    }

    /// Whoever reads the fields of a vertex that is not finished waits for it; once nothing moves
    /// any more it sees the last of them: none may be added later (S-31). A list has no length
    /// before (S-32).
    pub(crate) fn range_over(&mut self, id: VertexId, at: At) -> Result<(), FaultId> {
        let Some(on) = self.running(id).or_else(|| self.growing(id)) else { return Ok(()) };
        let vertex = self.heap.get(id);
        if vertex.frozen || self.patterned == Some(id) {
            return Ok(());
        }
        let last = self.is_last(on);
        let message = if vertex.is_list {
            // What only the fields around it could still bring is no element.
            // Up to v0.14 a list of its own elements has none.
            let bare = self.program.lenient && on == id && vertex.arcs.is_empty();
            // One that is open by what is written has the elements that it has by then.
            let open = !vertex.rest.is_empty();
            let done = vertex.state == State::Done || bare || open;
            if vertex.closed_length().is_some() || last && done {
                return Ok(());
            }
            format!("cannot range over {} (incomplete type list)", self.source_at(at))
        } else if last {
            self.freeze(id);
            return Ok(());
        } else {
            "field set is not known yet".to_owned()
        };
        let mut fault = Fault::new(Kind::Incomplete, message, at);
        fault.place = Some(self.place);
        fault.closes_at = (!last).then_some(on);
        fault.awaits = Some((id, None));
        Err(self.heap.fault(fault))
    }

    /// The fields of a struct are not listed while one is missing that must be there.
    fn has_required(&mut self, id: VertexId, at: At) -> Result<(), FaultId> {
        let vertex = self.heap.get(id);
        let missing = vertex.arcs.iter().filter(|it| {
            it.presence == Presence::Required && self.labels.kind(it.label) == LabelKind::Regular
        });
        let missing: Vec<(Label, VertexId)> = missing.map(|it| (it.label, it.vertex)).collect();
        let Some((label, place)) = missing.first().copied() else { return Ok(()) };
        // What is wrong with them is known then.
        for (_, place) in missing {
            let real = self.unify(place);
            if let Some(fault) = self.heap.get(real).fault {
                if !self.heap.faults[fault].kind.is_incomplete() {
                    return Err(fault);
                }
            }
        }
        let name = self.label_text(label);
        let message = format!("missing required field in for comprehension: {name}");
        let mut positions = self.declarations_of(place);
        positions.push(at);
        let clause = self.clause_at(at, "for");
        Err(self.fail_at(Kind::Incomplete, message, clause, positions))
    }

    /// Vertices of the elements of a list argument.
    pub(crate) fn elements_of(
        &mut self,
        arguments: &[ExprId],
        env: EnvId,
        told: (&str, usize, At),
    ) -> Result<Vec<VertexId>, FaultId> {
        let list = self.list_in(arguments, env, told)?;
        Ok(list.map(|it| self.elements(it)).unwrap_or_default())
    }

    /// The list that an argument is; none if there is no argument.
    pub(crate) fn list_in(
        &mut self,
        arguments: &[ExprId],
        env: EnvId,
        (name, place, call): (&str, usize, At),
    ) -> Result<Option<VertexId>, FaultId> {
        // The schemas of `matchN` come behind a count.
        if place == 1 && arguments.len() != 1 {
            return Err(self.miscounted(name, (arguments, env), 1, call));
        }
        let Some(argument) = arguments.first() else { return Ok(None) };
        let at = self.program.at(*argument);
        let value = self.eval(*argument, env);
        let kinds = match &value {
            Value::Vertex(id) => self.kinds_of(*id),
            Value::Datum(datum) => crate::compare::kinds(datum),
            Value::Fault(_) => Kinds::ANY,
        };
        let open = value.vertex().is_some_and(|it| self.is_undecided(it));
        // Of a list that is one only elements are asked for.
        if place == 1 && !kinds.meets(Kinds::LIST) && (!open || name != "or") {
            if let Some(fault) = self.wrong_arguments(&[*argument], env, call) {
                if open || !self.heap.faults[fault].kind.is_incomplete() {
                    return Err(fault);
                }
            }
        }
        if kinds.meets(Kinds::LIST) {
            if let Concrete::Vertex(id) = self.concrete(value, at)? {
                if self.heap.get(id).is_list {
                    return Ok(Some(id));
                }
            }
            return Err(self.fail(Kind::Permanent, "cannot use value as list", at));
        }
        let (text, from) = match value {
            Value::Vertex(id) => {
                let id = self.unify(id);
                let id = self.default_of(id).filter(|_| name != "or").unwrap_or(id);
                let text = self.about_given(&Concrete::Vertex(id), "", str::to_owned);
                (text, self.origin(id))
            }
            Value::Datum(datum) => (datum.cue_text(), vec![at]),
            Value::Fault(fault) => return Err(fault),
        };
        let message =
            format!("cannot use {text} (type {kinds}) as list in argument {place} to {name}");
        // A choice has no place of its own.
        let kinds = if open { Kinds::LIST } else { kinds };
        Err(self.misused(message, kinds, from))
    }
}
