//! Conjuncts to arcs, scalars, tests and choices: what each is for its vertex.

use std::num::NonZeroU32;

use cue_syntax::ast::Compare;

use crate::builtin::{Datum, Kinds};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{
    By, Came, Conjunct, Cycle, Disjunction, EnvId, EnvKind, FaultId, Key, Scalar, ScalarId, Source,
    Test, VertexId, kept,
};
use crate::program::{At, Callee, Code, ExprId, Plain};
use crate::work::Work;

/// Times that what comes once more is compared with how it came before.
const MOST_COMPARED: usize = 64;

/// Closing values that are compared without being counted.
pub(crate) const FEW_COMPARED: usize = 16;

impl Evaluator {
    /// What is written counts at once, the rest in its turn (S-23).
    pub(crate) fn take(&mut self, id: VertexId, conjunct: Conjunct, work: &mut Work) {
        let vertex = self.heap.get_mut(id);
        vertex.was_closed = vertex.was_closed.max(conjunct.was_closed);
        let computed = match conjunct.source() {
            Source::Expr(expr, _) => self.program.code(expr).is_computed(),
            Source::Data(_) | Source::Vertex(_) => false,
        };
        if computed {
            work.put_off(conjunct);
        } else if conjunct.late {
            work.late.push_back(conjunct);
        } else {
            self.take_now(id, conjunct, work);
        }
    }

    pub(crate) fn take_now(&mut self, id: VertexId, conjunct: Conjunct, work: &mut Work) {
        match conjunct.source() {
            Source::Data(datum) => {
                self.heap.get_mut(id).content = true;
                self.take_data(id, datum, &conjunct.groups, conjunct.came());
            }
            Source::Vertex(target) => {
                // Of what is left of a choice only that.
                self.heap.pick_as(id, self.follow(target));
                self.take_vertex(id, target, &conjunct, work);
            }
            Source::Expr(expr, env) => {
                let mut met = false;
                let new = work.newest_seen.is_none_or(|it| it.index() < env.index());
                if new {
                    work.newest_seen = Some(env);
                }
                if work.brings_group(&conjunct.groups) {
                    met = !new && work.seen.place((expr, env)).is_some();
                } else if !new {
                    let (mut compared, mut once_more) = (0, false);
                    for (groups, standing) in work.seen.of((expr, env)).take(MOST_COMPARED) {
                        met = true;
                        compared += groups.len();
                        if groups.includes(&conjunct.groups) {
                            return;
                        }
                        once_more |= *standing == conjunct.standing();
                    }
                    // There are as many ways through diamonds of embeddings as 2 to their depth, of few groups.
                    let before = work.seen.of((expr, env)).take(MOST_COMPARED).map(|it| &it.0);
                    if once_more && conjunct.groups.is_covered(before) {
                        return;
                    }
                    // What comes anew in each round has to come to an end.
                    if compared > FEW_COMPARED {
                        if self.tick_for(compared as u64).is_err() {
                            return;
                        }
                    }
                }
                // Once more, on behalf of other closing values (C-21): it may vouch for fields.
                if met && !self.program.code(expr).has_fields() {
                    return;
                }
                if !work.seen.last().is_some_and(|it| it.0.is(&conjunct.groups)) {
                    work.met_groups += conjunct.groups.counted();
                }
                work.seen.push((expr, env), (conjunct.groups.clone(), conjunct.standing()));
                self.take_expr(id, expr, env, conjunct, work);
            }
        }
    }

    fn take_expr(
        &mut self,
        id: VertexId,
        expr: ExprId,
        env: EnvId,
        conjunct: Conjunct,
        work: &mut Work,
    ) {
        let at = self.program.at(expr);
        if conjunct.cycle != Cycle::Cyclic && self.program.code(expr).says_something() {
            self.heap.get_mut(id).content = true;
        }
        // What is most often said is told apart first, without a copy of its code.
        match *self.program.code(expr) {
            Code::Struct(literal) => {
                return self.take_struct(id, expr, literal, env, &conjunct, at, work);
            }
            Code::Type(kinds, name) => {
                return self.take_type(id, expr, kinds, name.text(), conjunct.via);
            }
            Code::Scalar(_) => {
                self.heap.get_mut(id).content = true;
                let scalar = Scalar::Known(ScalarId::written(expr));
                return self.take_scalar(id, scalar, conjunct.via);
            }
            _ => {}
        }
        let code = match self.known_call(expr, env) {
            Ok(code) => code,
            Err(fault) => return self.hold(id, fault, &conjunct, work),
        };
        match code {
            Code::Top => {
                self.note_top(id, &conjunct.groups);
                self.allow_all(id, conjunct.via);
            }
            Code::List(elements) => {
                if let Err(fault) = self.take_list(id, expr, &elements, env, &conjunct, at) {
                    self.hold(id, fault, &conjunct, work);
                }
            }
            Code::Aliased(inner) => {
                let env = self.env_of_aliases(id, inner, env, work);
                work.conjuncts
                    .push(Conjunct { source: Source::Expr(inner, env).into(), ..conjunct });
            }
            Code::Opened(inner) => {
                // Whatever is closed in there closes nothing here (C-15).
                let group = self.heap.new_group();
                self.opened.insert(group);
                self.reclose(inner, env, conjunct.closes_as());
                let conjunct = Conjunct {
                    source: Source::Expr(inner, env).into(),
                    close_as: NonZeroU32::new(group),
                    ..conjunct
                };
                self.take_now(id, conjunct, work);
            }
            Code::Unify(left, right) => {
                let mut sides = [right, left].map(|it| Conjunct {
                    source: Source::Expr(it, env).into(),
                    ..conjunct.clone()
                });
                self.set_apart(&mut sides);
                work.conjuncts.extend(sides);
            }
            Code::Disjoin(alternatives) => {
                if let Some(pick) = self.pick(id, expr) {
                    let (alternative, _) = alternatives[pick.min(alternatives.len() - 1)];
                    work.picked.push_back(conjunct.alternative(alternative, env));
                    return;
                }
                let marks: Vec<bool> = alternatives.iter().map(|it| it.1).collect();
                let (sources, elements) = (vec![conjunct], Vec::new());
                work.disjoin(Disjunction { expr, marks, sources, elements }, &self.program);
            }
            Code::Bound(compare, operand) => match self.limit(compare, operand, env, at) {
                Ok(datum) => self.take_bound(id, compare, datum, at, &conjunct),
                Err(fault) => self.hold(id, fault, &conjunct, work),
            },
            Code::Call(Callee::Plain(Plain::Close), arguments) => {
                self.take_close(id, (&arguments, env), &conjunct, at, work);
            }
            Code::Call(Callee::Plain(plain @ (Plain::CloseAll | Plain::Reclose)), arguments) => {
                self.take_closed(id, plain, (&arguments, env), conjunct, at, work);
            }
            Code::Call(Callee::Plain(Plain::And), arguments) => {
                match self.elements_of(&arguments, env, ("and", 1, at)) {
                    Ok(elements) => self.take_all(id, elements, &conjunct, work),
                    Err(fault) => self.hold(id, fault, &conjunct, work),
                }
            }
            Code::Call(Callee::Plain(Plain::Or), arguments) => {
                self.take_or(id, expr, env, &arguments, conjunct, work);
            }
            Code::Function(callee) if !self.is_partial(callee, &[]) => {
                self.heap.get_mut(id).content = true;
                let datum = crate::calls::named(callee);
                // What is predeclared has no place of its own (cue-errors 2.2).
                let at = if matches!(callee, Callee::Plain(_)) { At::default() } else { at };
                let came = Came { spot: 0, ..conjunct.came() };
                self.take_datum(id, datum, at, &conjunct.groups, came);
            }
            Code::Function(callee) => {
                self.note_top(id, &conjunct.groups);
                self.take_validator(id, (expr, env), callee, &[], conjunct.via);
            }
            Code::Call(callee, arguments) if self.is_partial(callee, &arguments) => {
                if matches!(callee, Callee::Plain(_)) {
                    // matchN and matchIf check the fields themselves (C-11).
                    self.note_open_shapes(id, &conjunct.groups);
                } else {
                    self.note_top(id, &conjunct.groups);
                }
                self.take_validator(id, (expr, env), callee, &arguments, conjunct.via);
            }
            _ => self.take_evaluated(id, (expr, env), at, conjunct, work),
        }
    }

    /// The environment in which a value has names: one, however often the same expression comes.
    fn env_of_aliases(
        &mut self,
        id: VertexId,
        inner: ExprId,
        outside: EnvId,
        work: &mut Work,
    ) -> EnvId {
        if let Some(known) = work.aliased.iter().find(|it| (it.0, it.1) == (inner, outside)) {
            return known.2;
        }
        let new = self.heap.envs.enter(Some(outside), EnvKind::Variables(id, Key::None));
        work.aliased.push((inner, outside, new));
        new
    }

    /// `< x`, `!= x`, … with what `x` is.
    fn take_bound(
        &mut self,
        id: VertexId,
        compare: Compare,
        limit: Datum,
        at: At,
        conjunct: &Conjunct,
    ) {
        if matches!(compare, Compare::Equal | Compare::NotEqual) {
            self.note_open_shapes(id, &conjunct.groups);
        }
        let kinds = self.program.bound_kinds(compare, &limit);
        let tests = &mut self.heap.get_mut(id).tests;
        let by = By::Test(tests.len() as u32);
        tests.push((Test::Bound(compare, limit), at));
        self.restrict(id, kinds, by, at, conjunct.via);
    }

    /// `and([…])`: all of them must hold.
    fn take_all(
        &mut self,
        id: VertexId,
        elements: Vec<VertexId>,
        conjunct: &Conjunct,
        work: &mut Work,
    ) {
        if elements.is_empty() {
            self.note_top(id, &conjunct.groups);
            self.allow_all(id, conjunct.via);
        }
        for element in elements.into_iter().rev() {
            let source = Source::Vertex(element).into();
            work.conjuncts.push(Conjunct { source, ..conjunct.clone() });
        }
    }

    /// `close(x)`: what must hold is `x`, closed at one level (C-7).
    fn take_close(
        &mut self,
        id: VertexId,
        (arguments, env): (&[ExprId], EnvId),
        conjunct: &Conjunct,
        at: At,
        work: &mut Work,
    ) {
        let argument = match self.close_argument(arguments, env, at) {
            Ok(argument) => argument,
            Err(fault) => return self.raise_id(id, fault),
        };
        let mut groups = conjunct.groups.clone();
        let group = match conjunct.closes_as() {
            Some(group) if self.opened.contains(&group) => group,
            outer => {
                // The same call closes once, for whomever it comes.
                let call = (argument, env, conjunct.beside);
                let group = match work.calls_to_close.place(call) {
                    Some(known) => *work.calls_to_close.at_mut(known),
                    None => {
                        let group = self.heap.new_group();
                        work.calls_to_close.push(call, group);
                        self.close_calls.insert(group);
                        self.exempt(group, self.embedding_of(conjunct.beside));
                        group
                    }
                };
                if let Some(again) = outer.and_then(|it| self.reclosing.get(&it)) {
                    self.reclosing.insert(group, *again);
                } else if let Some(outer) = outer {
                    if self.closing.insert(outer) {
                        self.shallow.insert(outer);
                    }
                    groups.add(outer);
                }
                group
            }
        };
        groups.add(group);
        if !self.opened.contains(&group) {
            self.shallow.insert(group);
            self.closing.insert(group);
        }
        work.conjuncts.push(Conjunct {
            source: Source::Expr(argument, env).into(),
            groups,
            close_as: NonZeroU32::new(group),
            by_reference: conjunct.by_reference,
            outer: conjunct.outer,
            firing: 0,
            cycle: conjunct.cycle,
            way: conjunct.way,
            via: conjunct.via,
            late: false,
            was_closed: conjunct.was_closed,
            beside: conjunct.beside,
            spot: kept(conjunct.scope()),
        });
    }

    /// A literal that is closed throughout, or as what it is said of is.
    fn take_closed(
        &mut self,
        id: VertexId,
        plain: Plain,
        (arguments, env): (&[ExprId], EnvId),
        conjunct: Conjunct,
        at: At,
        work: &mut Work,
    ) {
        let argument = match self.closed_literal(plain, arguments, at) {
            Ok(argument) => argument,
            Err(fault) => return self.raise_id(id, fault),
        };
        let group = self.heap.new_group();
        match plain {
            Plain::Reclose => drop(self.reclosing.insert(group, group)),
            _ => drop(self.closing.insert(group)),
        }
        let mut groups = conjunct.groups.clone();
        groups.push(group);
        let source = Source::Expr(argument, env).into();
        let close_as = NonZeroU32::new(group);
        work.conjuncts.push(Conjunct { source, groups, close_as, firing: 0, ..conjunct });
    }

    /// What an expression gives, and why what it has read ahead is refused.
    fn take_evaluated(
        &mut self,
        id: VertexId,
        (expr, env): (ExprId, EnvId),
        at: At,
        conjunct: Conjunct,
        work: &mut Work,
    ) {
        // What is embedded shows in messages if it is a reference.
        let via = match self.refers_at(expr) {
            Some(_) => conjunct.via,
            None => self.heap.way_around(conjunct.via, at),
        };
        let (value, refused) = self.reading_ahead(id, (at, via), |it| it.eval(expr, env));
        self.note_led(expr, env, &value);
        // Words of a user's own stand alone.
        let words = |it: &FaultId| self.heap.faults[*it].is_of_user();
        let alone = matches!(&value, Value::Fault(own) if words(own));
        if let Some(refused) = refused.filter(|_| !alone) {
            self.raise_id(id, refused);
        }
        match value {
            Value::Vertex(target) => self.take_vertex(id, target, &conjunct, work),
            Value::Datum(datum) => {
                self.heap.get_mut(id).content = true;
                let came = Came { spot: 0, ..conjunct.came() };
                self.take_datum(id, datum, at, &conjunct.groups, came);
            }
            Value::Fault(fault) => {
                // What is required is missed by whoever refers to it, and yet says what may stand there.
                let unmet = self.unmet.take().filter(|it| it.0 == fault);
                if let Some((_, target)) = unmet.filter(|it| self.is_called(expr, env, it.1)) {
                    self.take_vertex(id, target, &conjunct, work);
                }
                self.hold(id, fault, &conjunct, work);
            }
        }
    }

    /// Whether an expression is a name or a selection of what a field is called.
    fn is_called(&mut self, expr: ExprId, env: EnvId, id: VertexId) -> bool {
        let called = self.heap.get(id).label;
        match *self.program.code(expr) {
            Code::Field { label, .. } => called == Some(label),
            // It is not what is selected from that is missed.
            Code::Select(operand, label) => {
                called == Some(label) && self.eval(operand, env).vertex().is_some()
            }
            _ => false,
        }
    }

    /// A predeclared type or range.
    pub(crate) fn take_type(
        &mut self,
        id: VertexId,
        expr: ExprId,
        kinds: Kinds,
        name: &'static str,
        via: u32,
    ) {
        let at = self.program.at(expr);
        let plain = cue_definition::is_plain_type(name);
        // Ranges are predeclared: they are nowhere.
        let place = if plain { at } else { At::default() };
        if self.restrict(id, kinds, By::Expr(expr), place, via) && !plain {
            self.heap.get_mut(id).tests.push((Test::Range(name), at));
        }
    }
}
