//! `matchN` and `matchIf`: a value held against other ones, as often as it takes (S-18).

use crate::builtin::{Datum, Kinds};
use crate::closed::NOT_ALLOWED;
use crate::conflict::CONFLICT;
use crate::error::{Fault, Kind, LITERAL};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, EnvId, FaultId, Source, Test, VertexId};
use crate::program::{At, Callee, Code, ExprId, LabelKind, Plain, Presence};
use crate::validators::REQUIRED;
use crate::written::plain_name;

/// How deep what matches is looked through for what matches it again.
const MOST_REPEATS: usize = 8;

impl Evaluator {
    /// `matchN(count, [schemas])` and `matchIf(if, then, else)` as validators.
    pub(crate) fn validate_match(
        &mut self,
        id: VertexId,
        expr: ExprId,
        env: EnvId,
        at: At,
    ) -> Result<(), FaultId> {
        if self.checking.iter().any(|it| it.at == at && it.copy == Some(id)) {
            return Ok(());
        }
        if let Err(fault) = self.begin_check(id, at) {
            return Err(self.mismatched(id, expr, fault, at));
        }
        let result = self.match_once(id, expr, env, at);
        self.checking.pop();
        result
    }

    /// The error of a value that could not even be matched.
    fn mismatched(&mut self, id: VertexId, expr: ExprId, fault: FaultId, at: At) -> FaultId {
        let inner = self.heap.faults[fault].clone();
        if inner.kind == Kind::Budget {
            return fault;
        }
        let name = match self.program.code(expr) {
            Code::Call(Callee::Plain(Plain::MatchIf), _) => "matchIf",
            _ => "matchN",
        };
        let value = self.short(id);
        let message = format!("invalid value {value} (does not satisfy {name}): {}", inner.message);
        let mut positions = inner.positions;
        positions.push(inner.at);
        self.fail_at(inner.kind, message, at, positions)
    }

    /// What is wrong with a call of `matchN` or `matchIf` that does not leave the value out.
    pub(crate) fn no_validator(
        &mut self,
        plain: Plain,
        (arguments, env): (&[ExprId], EnvId),
        at: At,
    ) -> FaultId {
        let name = plain_name(plain);
        let wanted = if plain == Plain::MatchIf { 4 } else { 3 };
        if arguments.len() != wanted {
            return self.miscounted(name, (arguments, env), wanted, at);
        }
        if let Some(fault) = self.wrong_arguments(arguments, env, at) {
            return fault;
        }
        let typed: &[_] = match plain {
            Plain::MatchN => &[(1, Kinds::INT, "int"), (2, Kinds::LIST, "list")],
            _ => &[],
        };
        for (place, kinds, kind) in typed {
            let argument = arguments[*place];
            let Some((text, is, from)) = self.given(argument, env) else { continue };
            if !is.meets(*kinds) {
                let place = place + 1;
                let message = format!(
                    "cannot use {text} (type {is}) as {kind} in argument {place} to {name}"
                );
                return self.misused(message, is, from);
            }
        }
        let message = format!(
            "error in call to {name}: {name} is a validator and should not be used as a function"
        );
        self.fail(Kind::Permanent, message, at)
    }

    fn match_once(
        &mut self,
        id: VertexId,
        expr: ExprId,
        env: EnvId,
        at: At,
    ) -> Result<(), FaultId> {
        let Code::Call(callee, arguments) = self.known_call(expr, env)? else { return Ok(()) };
        let subject = match self.datum(id) {
            Ok(datum) => self.datum_vertex(datum),
            Err(_) => match self.looked_at(id, 0) {
                Datum::Live(_) => id,
                datum => self.datum_vertex(datum),
            },
        };
        if matches!(callee, Callee::Plain(Plain::MatchIf)) {
            let [condition, then, otherwise] = &arguments[..] else { return Ok(()) };
            let condition = self.schema_of(*condition, env)?;
            let meets = self.fit(subject, condition).is_ok();
            let said = if meets { *then } else { *otherwise };
            let chosen = self.schema_of(said, env)?;
            let both = self.matched(subject, chosen);
            let mut all = self.first_failing(both);
            if all.is_empty() {
                all.extend(self.lacking(both, 0));
            }
            let text = self.short(id);
            let mut told: Option<Fault> = None;
            for inner in all {
                let message =
                    format!("invalid value {text} (does not satisfy matchIf): {}", inner.message);
                let kind = match inner.kind {
                    Kind::StructuralCycle => inner.kind,
                    open if open.is_incomplete() => Kind::Incomplete,
                    _ => Kind::Permanent,
                };
                let mut inner = self.moved(inner, both, id);
                if inner.message == REQUIRED || inner.message.starts_with(CONFLICT) {
                    inner.positions.extend(self.refers_at(said));
                }
                inner.positions.push(inner.at);
                let fault = self.fail_at(kind, message, at, inner.positions);
                self.heap.faults[fault].inner = inner.place.filter(|_| inner.message != LITERAL);
                let fault = self.heap.faults[fault].clone();
                told = Some(match told {
                    Some(before) => before.combined(fault),
                    None => fault,
                });
            }
            return told.map_or(Ok(()), |told| Err(self.heap.fault(told)));
        }
        let [limit, _] = &arguments[..] else { return Ok(()) };
        let schemas = self.elements_of(&arguments[1..], env, ("matchN", 3, at))?;
        let (mut matched, mut possible) = (0, 0);
        let mut failed = Vec::new();
        // Where several are matched, the schemas' own errors are told instead.
        let tests = self.heap.get(id).tests.iter();
        let several = tests.filter(|it| matches!(it.0, Test::Match(..))).count() > 1;
        for each in schemas.iter().filter(|_| several) {
            let each = self.unify(*each);
            if let Some(fault) = self.heap.get(each).fault {
                if self.heap.faults[fault].kind == Kind::Permanent {
                    return Err(self.mismatched(id, expr, fault, at));
                }
            }
        }
        let way = self.way_to_test(id, expr);
        for each in schemas {
            let (shares, literal) = (self.shares_at(each), self.literal_at(each));
            let both = self.matched(subject, each);
            let mut all = self.first_failing(both);
            if all.is_empty() {
                if let Some(fault) = self.repeats(both, expr, 0) {
                    let fault = Fault { at, ..fault };
                    failed.push(self.moved(fault, both, id));
                    continue;
                }
                match self.lacking(both, 0) {
                    None => matched += 1,
                    Some(fault) => {
                        possible += 1;
                        all.push(fault);
                    }
                }
            }
            // What is asked for, and what is not allowed, is told of where it is asked.
            for it in &mut all {
                if matches!(it.message.as_str(), REQUIRED | NOT_ALLOWED) {
                    it.at = at;
                }
                if it.message.starts_with(CONFLICT) {
                    it.positions.extend_from_slice(&way);
                    it.positions.extend(shares);
                    // Of a field that a schema embeds it is told where that is from, not what embeds it.
                    let below = |it: &VertexId| {
                        self.is_ancestor(both, *it) && self.follow(*it) != self.follow(both)
                    };
                    let within = it.place.as_ref().is_some_and(below);
                    it.positions.retain(|at| !within || Some(*at) != literal);
                }
            }
            // Errors of schemas in a schema stand beside each other, too.
            failed.extend(all.into_iter().flat_map(|it| self.moved(it, both, id).each()));
        }
        let limit = self.schema_of(*limit, env)?;
        let number = self.datum_vertex(Datum::int(matched));
        if self.unifies(number, limit) {
            return Ok(());
        }
        let more = possible > 0 && self.may_count(limit, matched + 1, matched + possible);
        let (value, wanted) = (self.short(id), self.short(limit));
        let message = format!(
            "invalid value {value} (does not satisfy matchN): {matched} matched, expected {wanted}"
        );
        let kind = if more { Kind::Incomplete } else { Kind::Permanent };
        // Those of the schemas stand next to it.
        let fault = self.fail(kind, message, at);
        self.heap.faults[fault].inner = Some(self.place);
        failed.retain(|it| it.kind.is_incomplete() == more);
        self.heap.faults[fault].causes = failed;
        Err(fault)
    }

    /// The value that an argument of `matchN` or `matchIf` is.
    pub(crate) fn schema_of(&mut self, expr: ExprId, env: EnvId) -> Result<VertexId, FaultId> {
        match self.eval(expr, env) {
            Value::Vertex(id) => Ok(id),
            Value::Datum(datum) => Ok(self.datum_vertex(datum)),
            Value::Fault(fault) => Err(fault),
        }
    }

    /// What a schema is held against of a value that is no data yet: its regular fields, defaults
    /// taken; it is as open as data, and what it only requires is not there.
    fn looked_at(&mut self, id: VertexId, depth: u32) -> Datum {
        let real = self.default_of(id).unwrap_or(id);
        let vertex = self.heap.get(real);
        if depth > self.budget.depth || vertex.fault.is_some() || self.tick().is_err() {
            return Datum::Live(self.handle(id));
        }
        let vertex = self.heap.get(real);
        match self.scalar_of(vertex) {
            Some((datum, _)) => datum.clone(),
            None if vertex.is_struct => {
                let mut fields = Vec::new();
                for (label, arc, presence) in self.ordered_members(real) {
                    let regular = self.labels.kind(label) == LabelKind::Regular;
                    if regular && presence == Presence::Member {
                        let value = self.looked_at(arc, depth + 1);
                        fields.push((self.labels.name(label), value));
                    }
                }
                Datum::fields(fields)
            }
            None if vertex.is_list && vertex.closed_length().is_some() => {
                let elements = self.elements(real);
                Datum::list(elements.into_iter().map(|it| self.looked_at(it, depth + 1)).collect())
            }
            None => Datum::Live(self.handle(id)),
        }
    }

    /// A value together with a schema that it is held against.
    fn matched(&mut self, subject: VertexId, schema: VertexId) -> VertexId {
        let id = self.heap.vertex(None, None);
        for side in [subject, schema] {
            self.heap.get_mut(id).conjuncts.push(Conjunct::new(Source::Vertex(side)));
        }
        // What is data has no validators with it.
        if let Some(check) = self.checking.last_mut().filter(|it| it.datum.is_none()) {
            check.copy = Some(id);
        }
        self.unify(id)
    }

    /// The error of a field that has to match what it is part of once more, and so on without end.
    fn repeats(&mut self, id: VertexId, expr: ExprId, depth: usize) -> Option<Fault> {
        if depth > MOST_REPEATS || self.tick().is_err() {
            return None;
        }
        let id = self.follow(id);
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (label, presence, vertex) = (arc.label, arc.presence, arc.vertex);
            if presence != Presence::Member || self.labels.kind(label) != LabelKind::Regular {
                continue;
            }
            let real = self.follow(vertex);
            let arc = self.heap.get(real);
            let open = arc.scalar.is_none() && !arc.is_struct && !arc.is_list;
            let same = |it: &(Test, At)| matches!(it.0, Test::Match(other, _) if other == expr);
            if open && arc.tests.iter().any(same) {
                let mut fault =
                    Fault::new(Kind::StructuralCycle, "structural cycle", At::default());
                fault.place = Some(vertex);
                return Some(fault);
            }
            if let Some(fault) = self.repeats(real, expr, depth + 1) {
                return Some(fault);
            }
        }
        None
    }

    /// Where a literal is that is all of a value.
    fn literal_at(&self, id: VertexId) -> Option<At> {
        let mut own = self.heap.get(id).conjuncts.iter();
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        let Source::Expr(expr, _) = only.source() else { return None };
        matches!(self.program.code(expr), Code::Struct(_)).then(|| self.program.at(expr))
    }

    /// The way in of a test, by which its schemas come, too: what it came by, and the references to what has it
    /// (cue-errors 2.2).
    fn way_to_test(&mut self, id: VertexId, test: ExprId) -> Vec<At> {
        let mut way = Vec::new();
        let mut next = Some(id);
        for _ in 0..MOST_REPEATS {
            let Some(id) = next.take() else { break };
            let mut open = Vec::new();
            for conjunct in &self.heap.get(self.follow(id)).conjuncts {
                if let Source::Expr(expr, env) = conjunct.source() {
                    open.push((expr, env, conjunct.via));
                }
            }
            while let Some((expr, env, via)) = open.pop() {
                if let Code::Unify(left, right) = self.program.code(expr) {
                    open.extend([(*right, env, via), (*left, env, via)]);
                    continue;
                }
                let refers = self.refers_at(expr);
                let target = match refers {
                    Some(_) => self.eval(expr, env).vertex().map(|it| self.follow(it)),
                    None => None,
                };
                let has = |it: &VertexId| {
                    let tests = &self.heap.get(*it).tests;
                    tests.iter().any(|it| matches!(it.0, Test::Match(other, _) if other == test))
                };
                next = target.filter(has);
                if expr == test || next.is_some() {
                    self.heap.way_in(via, &mut way);
                    way.extend(refers);
                    break;
                }
            }
        }
        way
    }

    /// The way in of what a value is held against; that itself is held against as data, without the
    /// references on its way.
    fn way_of_tests(&mut self, id: VertexId) -> Vec<At> {
        let mut open = Vec::new();
        for conjunct in &self.heap.get(self.follow(id)).conjuncts {
            if let Source::Expr(expr, env) = conjunct.source() {
                open.push((expr, env, conjunct.via));
            }
        }
        let mut found = Vec::new();
        while let Some((expr, env, via)) = open.pop() {
            if let Code::Unify(left, right) = self.program.code(expr) {
                open.extend([(*left, env, via), (*right, env, via)]);
                continue;
            }
            let at = self.refers_at(expr);
            let target = match at {
                Some(_) => self.eval(expr, env).vertex().map(|it| self.follow(it)),
                None => None,
            };
            let brings = target.is_some_and(|it| !self.heap.get(it).tests.is_empty());
            let mut way = Vec::from_iter(at);
            self.heap.way_in(via, &mut way);
            if !brings && !matches!(self.program.code(expr), Code::Call(..)) {
                // Definitions and what embeds something are on it in any case.
                way.retain(|it| {
                    let text = self.source_at(*it);
                    text.starts_with(['#', '{']) || text.starts_with("_#") || text.contains(".#")
                });
            }
            found.append(&mut way);
        }
        found
    }

    /// An error at or below one value as if it were at or below another.
    /// The value it is about is that of the other.
    pub(crate) fn moved(&mut self, mut fault: Fault, from: VertexId, to: VertexId) -> Fault {
        let mut labels = Vec::new();
        let mut next = fault.place;
        while let Some(place) = next.filter(|it| *it != from) {
            let vertex = self.heap.get(place);
            labels.extend(vertex.label);
            next = vertex.parent;
        }
        let mut place = to;
        for label in labels.into_iter().rev() {
            if next.is_none() {
                break;
            }
            place = match self.heap.arc(self.follow(place), label) {
                Some(arc) => arc.vertex,
                // What it has not is told of under its name all the same.
                None => self.heap.vertex(Some(place), Some(label)),
            };
        }
        fault.place = Some(place);
        if fault.message == NOT_ALLOWED {
            let own = self.heap.get(place).conjuncts.iter().filter_map(|it| match it.source() {
                Source::Expr(expr, _) => Some(self.program.at(expr)),
                Source::Data(_) | Source::Vertex(_) => None,
            });
            let own: Vec<At> = own.collect();
            fault.positions = self.named_at(place).into_iter().chain(own).collect();
        }
        if fault.message.starts_with(CONFLICT) || fault.message.starts_with("invalid value ") {
            match self.default_of(place) {
                Some(default) if default != self.follow(place) => {
                    fault.positions.push(self.written_at(default));
                }
                // Of `<` and the like only the value takes part.
                _ if fault.message.contains(" (out of bound <")
                    || fault.message.contains(" (out of bound >") =>
                {
                    fault.positions.push(self.written_at(place));
                }
                _ if fault.message.starts_with(CONFLICT) => {
                    fault.positions.extend(self.way_of_tests(place));
                    fault.positions.extend(self.origin(place));
                }
                _ => fault.positions.extend(self.named_at(place)),
            }
        }
        let causes = std::mem::take(&mut fault.causes).into_iter();
        fault.causes = causes.map(|it| self.moved(it, from, to)).collect();
        fault
    }

    /// Whether a value is, when nothing more is said of it, as a schema demands; the error is
    /// incomplete if more could still make it so.
    pub(crate) fn fit(&mut self, subject: VertexId, schema: VertexId) -> Result<(), Fault> {
        let both = self.matched(subject, schema);
        if let Some(fault) = self.permanent(both, 0) {
            return Err(fault);
        }
        match self.lacking(both, 0) {
            None => Ok(()),
            Some(fault) => Err(fault),
        }
    }

    /// The first incomplete error of a value, or required field that it has not.
    fn lacking(&mut self, id: VertexId, depth: u32) -> Option<Fault> {
        let id = self.default_of(id)?;
        if let Some(fault) = self.heap.get(id).fault {
            return Some(self.heap.faults[fault].clone());
        }
        if depth > self.budget.depth || self.tick().is_err() {
            return None;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (vertex, presence) = (arc.vertex, arc.presence);
            let regular =
                matches!(self.labels.kind(arc.label), LabelKind::Regular | LabelKind::Index);
            match presence {
                Presence::Member => {
                    if let Some(fault) = self.lacking(vertex, depth + 1) {
                        return Some(fault);
                    }
                }
                Presence::Required if regular => {
                    return Some(self.not_given_to_test(vertex));
                }
                Presence::Required | Presence::Optional => {}
            }
        }
        None
    }

    /// Whether a count in a range may be the one that is asked for.
    fn may_count(&mut self, limit: VertexId, least: i64, most: i64) -> bool {
        let limit = self.unify(limit);
        let vertex = self.heap.get(limit);
        let bounds = |it: &(Test, At)| matches!(it.0, Test::Bound(..) | Test::Range(_));
        if vertex.scalar.is_none() && !vertex.tests.iter().all(bounds) {
            return true;
        }
        (least..=most).any(|count| {
            let count = self.datum_vertex(Datum::int(count));
            self.unifies(count, limit)
        })
    }
}
