//! The state of one evaluation, and expressions: what they give in an environment.

use std::cell::Cell;
use std::sync::Arc;

use cue_definition::Simplified;
use cue_map::{Map, Set};

use crate::absent::Answer;
use crate::budget::{Budget, MOST_NESTED, TOO_DEEP};
use crate::builtin::{Allowance, Datum};
use crate::crowds::Crowd;
use crate::error::Kind;
use crate::groups::{GroupSet, Joined, Lines};
use crate::heap::{Conjunct, Cycle, EnvId, EnvKind, FaultId, Heap, Source, State, VertexId};
use crate::labels::Labels;
use crate::limits::Refusal;
use crate::operators::Logic;
use crate::order::Defaults;
use crate::program::{At, Code, ExprId, Label, LabelKind, Presence, Program};
use crate::rounds::Rounds;
use crate::spending::Spending;
use crate::visited::Visit;
use crate::waiting::{Copied, Suspended, Tasks};
use crate::work::Work;

/// What an expression gives.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Vertex(VertexId),
    Datum(Datum),
    Fault(FaultId),
}

impl Value {
    /// The vertex, if it is one.
    pub(crate) fn vertex(&self) -> Option<VertexId> {
        match self {
            Value::Vertex(id) => Some(*id),
            Value::Datum(_) | Value::Fault(_) => None,
        }
    }
}

pub(crate) struct Evaluator {
    pub(crate) program: Arc<Program>,
    pub(crate) labels: Labels,
    pub(crate) heap: Heap,
    pub(crate) budget: Budget,
    pub(crate) ticks: u64,
    /// Ticks for long ways up from values, which are counted with the next vertex.
    pub(crate) climbed: Cell<u64>,
    /// Memory outside of the heap.
    pub(crate) bytes: u64,
    /// For texts that are put together when they are read.
    pub(crate) allowance: Arc<Allowance>,
    /// The vertex being evaluated.
    pub(crate) current: VertexId,
    /// The last field or element on the way there: where errors are.
    pub(crate) place: VertexId,
    pub(crate) depth: u32,
    /// Expressions that are being evaluated.
    pub(crate) nested: u32,
    /// What the budget goes into.
    pub(crate) spending: Spending,
    /// The budget's error, once it is used up.
    pub(crate) spent: Option<FaultId>,
    /// Why the last text that was asked for is not all there is, but for that.
    pub(crate) unwritten: Option<FaultId>,
    /// Whether texts that are asked for are simplified.
    pub(crate) simplified: Simplified,
    /// The vertex whose missing fields are absent for good.
    pub(crate) frozen: Option<VertexId>,
    /// Vertices on the stack whose value is taken as it is known: all of their tasks waited for it.
    pub(crate) asked_for: Vec<VertexId>,
    /// The last vertex of which a task was told so that waits for a value.
    pub(crate) settled_alone: Option<VertexId>,
    /// Who asked for such a vertex last, before that was clear, and for which.
    pub(crate) asked_alone: Option<(VertexId, VertexId)>,
    /// The vertex that was put off which several tasks that are told so take as it is.
    pub(crate) open_to: Option<VertexId>,
    /// The vertex of which a pattern is all that is left: it brings no fields, who lists them may do so.
    pub(crate) patterned: Option<VertexId>,
    /// How places came to what they refer to, once that was asked for.
    pub(crate) visits: Map<VertexId, Visit>,
    /// What vertices on the stack and those put off still have to do.
    pub(crate) tasks: Map<VertexId, Tasks>,
    pub(crate) suspended: Map<VertexId, Suspended>,
    /// Done with, for the vertices that follow.
    #[allow(
        clippy::vec_box,
        reason = "they go to vertices that wait and come back, without a copy"
    )]
    pub(crate) spare: Vec<Box<Work>>,
    /// What is embedded, and the marks of what stands beside it (C-12).
    pub(crate) besides: Map<(ExprId, EnvId), u32>,
    pub(crate) marks: GroupSet,
    /// Marks of embeddings inside of others, and the marks of these.
    pub(crate) around: Map<u32, u32>,
    /// Marks of operands of embedded conjunctions, by what these stand beside; and the marks of the embeddings.
    pub(crate) operands: Map<(ExprId, u32), u32>,
    pub(crate) operand_of: Map<u32, u32>,
    /// Groups of files that embed something.
    pub(crate) of_files: GroupSet,
    /// Literals that embed something, and the groups of what fields in them embed.
    pub(crate) scopes: Map<u32, u32>,
    /// The marks of embeddings in fields of such literals, with the groups of what they bring.
    pub(crate) embeddings: Map<u32, u32>,
    /// Those groups, with the literals.
    pub(crate) embedding_scopes: Map<u32, u32>,
    /// Groups that close in such an embedding, with the group of what that brings and of those around it.
    pub(crate) apart: Map<u32, Vec<u32>>,
    /// Rounds of loops that embed, as they came.
    pub(crate) rounds: Vec<Rounds>,
    /// Marks of embeddings, and the groups of the literals they stand in.
    pub(crate) homes: Map<u32, u32>,
    /// Groups of embedded values by the value's own group and the mark (C-21).
    pub(crate) embedded: Map<(u32, u32), u32>,
    /// Groups of definitions within themselves (C-21).
    pub(crate) lines: Lines,
    /// Groups that close in an embedding, and the marks of what they say nothing of.
    pub(crate) joined: Joined,
    /// Literals that are embedded, and what embeds them: that closes as they do.
    pub(crate) within: Map<u32, u32>,
    /// Of how many vertices each literal is.
    pub(crate) placings: Vec<u32>,
    /// Groups of literals that embed something; whether they came by a reference.
    pub(crate) literals: Map<u32, u32>,
    /// Fields that frozen vertices had.
    pub(crate) listed: Map<VertexId, Set<Label>>,
    /// Vertices whose conjuncts others took before these were all, and who took them.
    pub(crate) subscribers: Map<VertexId, Vec<Copied>>,
    pub(crate) copies: Map<VertexId, Vec<VertexId>>,
    /// Conjuncts that came for vertices while these were running.
    pub(crate) inbox: Vec<(VertexId, Conjunct)>,
    /// Counts what was found out; what waits is not tried again before.
    pub(crate) epoch: u64,
    /// Structs whose fields were evaluated from the beginning, or from the end (`true`).
    pub(crate) chains: Set<(VertexId, Option<Label>, bool)>,
    /// Vertices with many conjuncts: where these are.
    pub(crate) crowds: Map<VertexId, Crowd>,
    /// Who shares a vertex.
    pub(crate) sharers: Map<VertexId, Vec<VertexId>>,
    /// What references into the results of calls gave.
    pub(crate) led: Map<(ExprId, EnvId), Value>,
    pub(crate) definitions: Map<u32, u32>,
    /// How the literals with lets in them came: these go on from there (S-62).
    pub(crate) let_ways: Map<EnvId, (Cycle, u32)>,
    /// Groups that close only the vertex itself: `close`.
    pub(crate) shallow: GroupSet,
    /// Groups of calls to `close`: one level, whatever is in it (C-7).
    pub(crate) close_calls: Set<u32>,
    /// What stands for a value without a place, once there was an error of one.
    pub(crate) nowhere: Option<VertexId>,
    /// Groups that close.
    pub(crate) closing: GroupSet,
    /// Groups of `__reclose`, and of the calls to `close` in it, and that of the former.
    pub(crate) reclosing: Map<u32, u32>,
    /// Groups of literals that nothing closed can be embedded in: they never close.
    pub(crate) idle: GroupSet,
    /// Structs whose comprehensions yielded nothing, and whether they would name fields.
    pub(crate) emptied: Map<u32, bool>,
    /// How the results of the innermost choice came.
    pub(crate) ways: crate::marks::Ways,
    /// Choices that one alternative is left of while another one is tried.
    pub(crate) undecided: Vec<ExprId>,
    /// Validators that are running.
    pub(crate) checking: Vec<crate::checking::Check>,
    /// Calls of functions that compare values, which are being made.
    pub(crate) comparing: Vec<(At, EnvId)>,
    /// Vertices whose alternatives all failed.
    pub(crate) exhausted: Set<u32>,
    /// Values of which every alternative is tried.
    pub(crate) tried_all: Set<u32>,
    /// Vertices that have failed before any of their alternatives was tried.
    pub(crate) spoiled: Set<u32>,
    /// Alternatives that have fields which are not allowed.
    pub(crate) refused: Set<u32>,
    /// Whose fields are being checked for being allowed.
    pub(crate) checked: Option<VertexId>,
    /// Values that were asked for before it was their turn: those that fail beside others, or beside the value
    /// they are in, and values that fail themselves, of which all was asked for.
    pub(crate) asked_early: Set<u32>,
    /// What an absent operand was missing was asked of a vertex that was being evaluated.
    pub(crate) early: bool,
    /// The vertex that an error is being told of, and how that error reads in values around it.
    pub(crate) failing: Option<(VertexId, String)>,
    /// The values that are being written in few words, each for a message that another one asks for.
    pub(crate) telling: Vec<VertexId>,
    /// The choice whose default is taken though it may still become another one, and the error if
    /// something comes of that.
    pub(crate) tentative: Option<(VertexId, FaultId)>,
    /// A value that is no alternative has failed for good.
    pub(crate) failed: bool,
    /// The error of what a value has, all of which was done with when so many vertices were forgotten.
    pub(crate) known_below: Map<VertexId, (u32, Option<FaultId>)>,
    pub(crate) declared: crate::declared::Declared,
    /// Operands that were absent when a vertex asked, which may have changed since (S-46).
    pub(crate) answers: Vec<Answer>,
    /// What has a limit by the scalar of what is being evaluated, and the last such.
    pub(crate) limited_by: Map<VertexId, VertexId>,
    /// What does not meet such a limit.
    pub(crate) refusals: Vec<Refusal>,
    /// How often something was not finished when errors were looked for.
    pub(crate) passed_over: u64,
    pub(crate) defaults: Defaults,
    /// Choices that are being made: the vertex and the alternative it is tried with.
    pub(crate) trying: Vec<(VertexId, VertexId)>,
    /// The value for which a function is being called.
    pub(crate) calling: Option<VertexId>,
    /// Labels of patterns that are being evaluated.
    pub(crate) labelling: Vec<ExprId>,
    pub(crate) pattern_envs: Map<(ExprId, EnvId, Option<Label>), EnvId>,
    pub(crate) anonymous: Map<(ExprId, EnvId), VertexId>,
    /// Expressions of the values without a place that are being evaluated.
    pub(crate) inlining: Vec<Option<crate::inline::Inlined>>,
    pub(crate) lifted: Map<crate::inline::Lifted, VertexId>,
    pub(crate) imports: Vec<(u32, VertexId)>,
    pub(crate) searched: Map<VertexId, crate::searched::Searched>,
    /// The required field that was missed last, and the error that says so.
    pub(crate) unmet: Option<(FaultId, VertexId)>,
    pub(crate) ahead: crate::ahead::Ahead,
    /// Something marked with `?` was not there.
    pub(crate) missed: bool,
    /// Groups of `x...`: nothing closes through them.
    pub(crate) opened: Set<u32>,
    /// Room in which interpolations are put together.
    pub(crate) put_together: Vec<u8>,
    /// Values that builtin functions hold by number.
    pub(crate) handles: Vec<VertexId>,
    /// Fields at the root that were named.
    pub(crate) named: crate::refill::Named,
    pub(crate) spots: crate::spots::Spots,
    pub(crate) root: VertexId,
    pub(crate) root_env: EnvId,
}

impl Evaluator {
    pub(crate) fn new(program: Arc<Program>, budget: Budget) -> Self {
        let mut heap = Heap::new();
        let root = heap.vertex(None, None);
        let root_env = heap.envs.enter(None, EnvKind::PatternName(None));
        let mut it = Self {
            labels: program.labels.clone(),
            program: program.clone(),
            heap,
            budget,
            ticks: 0,
            climbed: Cell::new(0),
            bytes: 0,
            allowance: Arc::default(),
            current: root,
            place: root,
            depth: 0,
            nested: 0,
            spending: Spending::new(budget.ticks),
            spent: None,
            unwritten: None,
            simplified: Simplified::No,
            frozen: None,
            asked_for: Vec::new(),
            visits: Map::default(),
            settled_alone: None,
            asked_alone: None,
            open_to: None,
            patterned: None,
            tasks: Map::default(),
            suspended: Map::default(),
            spare: Vec::new(),
            besides: Map::default(),
            marks: GroupSet::default(),
            around: Map::default(),
            operands: Map::default(),
            operand_of: Map::default(),
            of_files: GroupSet::default(),
            scopes: Map::default(),
            embeddings: Map::default(),
            embedding_scopes: Map::default(),
            apart: Map::default(),
            rounds: Vec::new(),
            homes: Map::default(),
            embedded: Map::default(),
            lines: Lines::default(),
            placings: Vec::new(),
            literals: Map::default(),
            joined: Joined::default(),
            within: Map::default(),
            listed: Map::default(),
            subscribers: Map::default(),
            copies: Map::default(),
            inbox: Vec::new(),
            epoch: 0,
            chains: Set::default(),
            crowds: Map::default(),
            sharers: Map::default(),
            led: Map::default(),
            definitions: Map::default(),
            let_ways: Map::default(),
            shallow: GroupSet::default(),
            close_calls: Set::default(),
            nowhere: None,
            closing: GroupSet::default(),
            reclosing: Map::default(),
            idle: GroupSet::default(),
            emptied: Map::default(),
            ways: crate::marks::Ways::default(),
            undecided: Vec::new(),
            checking: Vec::new(),
            comparing: Vec::new(),
            exhausted: Set::default(),
            tried_all: Set::default(),
            spoiled: Set::default(),
            checked: None,
            asked_early: Set::default(),
            refused: Set::default(),
            early: false,
            failing: None,
            telling: Vec::new(),
            tentative: None,
            put_together: Vec::new(),
            failed: false,
            known_below: Map::default(),
            declared: crate::declared::Declared::default(),
            answers: Vec::new(),
            limited_by: Map::default(),
            refusals: Vec::new(),
            passed_over: 0,
            defaults: Defaults::Values,
            trying: Vec::new(),
            calling: None,
            labelling: Vec::new(),
            pattern_envs: Map::default(),
            anonymous: Map::default(),
            inlining: Vec::new(),
            lifted: Map::default(),
            imports: Vec::new(),
            searched: Map::default(),
            unmet: None,
            ahead: crate::ahead::Ahead::default(),
            missed: false,
            opened: Set::default(),
            spots: crate::spots::Spots::default(),
            handles: Vec::new(),
            named: crate::refill::Named::default(),
            root,
            root_env,
        };
        for file in &program.roots {
            it.heap.get_mut(root).conjuncts.push(Conjunct::new(Source::Expr(*file, root_env)));
        }
        it
    }

    pub(crate) fn fail(&mut self, kind: Kind, message: impl Into<String>, at: At) -> FaultId {
        self.fail_at(kind, message, at, Vec::new())
    }

    pub(crate) fn env_up(&self, env: EnvId, up: u32) -> EnvId {
        self.heap.envs.outside(env, up).unwrap_or(self.root_env)
    }

    pub(crate) fn first_position(&self, id: VertexId) -> At {
        let first = self.heap.get(id).conjuncts.iter().find_map(|it| match it.source() {
            Source::Expr(expr, _) => Some(self.program.at(expr)),
            Source::Data(_) => Some(self.spots.at(it.spot)),
            Source::Vertex(_) => None,
        });
        first.unwrap_or_default()
    }

    pub(crate) fn datum_vertex(&mut self, datum: Datum) -> VertexId {
        let id = self.heap.vertex(None, None);
        let source = self.heap.keep_data(datum, 0);
        self.heap.get_mut(id).conjuncts.push(Conjunct::new(source));
        id
    }

    pub(crate) fn eval(&mut self, expr: ExprId, env: EnvId) -> Value {
        if let Err(fault) = self.tick() {
            return Value::Fault(fault);
        }
        self.nested += 1;
        let value = match self.nested > MOST_NESTED {
            false => self.eval_code(expr, env),
            true => {
                let at = self.program.at(expr);
                Value::Fault(self.fail(Kind::Budget, TOO_DEEP, at))
            }
        };
        self.nested -= 1;
        value
    }

    fn eval_code(&mut self, expr: ExprId, env: EnvId) -> Value {
        let at = self.program.at(expr);
        let program = self.program.clone();
        match program.code(expr) {
            Code::Scalar(datum) => Value::Datum(datum.clone()),
            Code::Bottom => Value::Fault(self.fail(Kind::User, crate::error::LITERAL, at)),
            Code::Top
            | Code::Type(..)
            | Code::Struct(_)
            | Code::List(_)
            | Code::Bound(..)
            | Code::Unify(..)
            | Code::Disjoin(_)
            | Code::Aliased(_)
            | Code::Function(_) => Value::Vertex(self.anonymous(expr, env)),
            Code::Interpolation(said) => self.interpolate(said, env, at),
            Code::Not(operand) => match self.unary('!', *operand, env, at) {
                Ok(Datum::Bool(it)) => Value::Datum(Datum::Bool(!it)),
                Ok(other) => Value::Datum(other),
                Err(fault) => Value::Fault(fault),
            },
            Code::Negative(operand) => match self.unary('-', *operand, env, at) {
                Ok(Datum::Number(it)) => Value::Datum(Datum::Number(it.neg())),
                Ok(other) => Value::Datum(other),
                Err(fault) => Value::Fault(fault),
            },
            Code::Positive(operand) => match self.unary('+', *operand, env, at) {
                Ok(datum) => Value::Datum(datum),
                Err(fault) => Value::Fault(fault),
            },
            Code::And(left, right) => self.logic(Logic::And, *left, *right, env, at),
            Code::Or(left, right) => self.logic(Logic::Or, *left, *right, env, at),
            Code::Compare(compare, left, right) => {
                self.comparison(*compare, *left, *right, env, at)
            }
            Code::Arithmetic(operator, left, right) => {
                self.arithmetic(*operator, *left, *right, env, at)
            }
            Code::Field { up, label } => self.field(*up, *label, env, at),
            Code::Let { up, index } => self.let_value(*up, *index, env),
            Code::Variable { up, index } => self.variable(expr, *up, *index, env),
            Code::PatternName { up } => {
                let env = self.env_up(env, *up);
                match &self.heap.envs[env].kind {
                    EnvKind::PatternName(Some(name)) => {
                        Value::Datum(Datum::text(self.labels.name(*name)))
                    }
                    _ => Value::Fault(self.fail(Kind::Incomplete, "label is not known yet", at)),
                }
            }
            Code::ComputedField { up, label } => {
                let outer = self.env_up(env, *up);
                let name = match self.scalar(*label, outer) {
                    Ok(Datum::String(name)) => self.labels.intern(LabelKind::Regular, &name),
                    Ok(other) => {
                        let message = format!("invalid label {}", other.cue_text());
                        return Value::Fault(self.fail(Kind::Permanent, message, at));
                    }
                    Err(fault) => return Value::Fault(fault),
                };
                self.field(*up, name, env, at)
            }
            Code::Outer { up, expr } => {
                let outer = self.env_up(env, *up);
                self.eval(*expr, outer)
            }
            Code::Enclosing { up } => {
                let outer = self.env_up(env, *up);
                match self.heap.envs[outer].kind {
                    EnvKind::Struct(vertex, ..) => Value::Vertex(vertex),
                    EnvKind::Variables(..) | EnvKind::PatternName(_) => {
                        Value::Fault(self.fail(Kind::Permanent, "self out of scope", at))
                    }
                }
            }
            Code::Import(index) => Value::Vertex(self.import(*index)),
            Code::Select(operand, label) => {
                let base = self.eval(*operand, env);
                self.select(base, *label, None, Some(*operand), at)
            }
            Code::Index(operand, index) => self.index(*operand, *index, env, at),
            Code::Slice(operand, low, high) => self.slice(*operand, *low, *high, env, at),
            Code::Call(callee, arguments) => self.call(expr, *callee, arguments, env, at),
            Code::Attempt(operand) => {
                // Only the marked step counts: what it selects from must be there.
                let (at, program) = (self.program.at(*operand), self.program.clone());
                let value = match program.code(*operand) {
                    Code::Select(base_expr, label) => match self.eval(*base_expr, env) {
                        Value::Fault(fault) => return Value::Fault(fault),
                        base => self.select(base, *label, None, Some(*base_expr), at),
                    },
                    _ => self.eval(*operand, env),
                };
                if let Value::Fault(fault) = &value {
                    let kind = self.heap.faults[*fault].kind;
                    // What must be there is missed by who refers to it, not by the body (S-42).
                    self.missed |= kind == Kind::Incomplete && !self.is_unmet(*fault);
                }
                value
            }
            Code::Opened(_) => Value::Vertex(self.anonymous(expr, env)),
            Code::CallOf(..) => match self.known_call(expr, env) {
                Ok(Code::Call(callee, arguments)) => self.call(expr, callee, &arguments, env, at),
                Ok(_) => Value::Vertex(self.anonymous(expr, env)),
                Err(fault) => Value::Fault(fault),
            },
        }
    }

    /// Whether an error says that a required field has no value.
    pub(crate) fn is_unmet(&self, fault: FaultId) -> bool {
        self.unmet.is_some_and(|it| it.0 == fault)
    }

    /// Where the name stands that a selection `whole` of `operand` ends with.
    pub(crate) fn selector_at(&self, operand: ExprId, whole: At) -> At {
        let from = self.program.at(operand).span.end;
        let source = self.program.sources.get(whole.source as usize);
        let text = source.and_then(|it| it.text.get(from as usize..whole.span.end as usize));
        let Some(text) = text else { return whole };
        let Some(dot) = text.find('.') else { return whole };
        let name = text[dot + 1..].trim_start();
        let mut at = whole;
        at.span.start = whole.span.end - name.len() as u32;
        at
    }

    pub(crate) fn import(&mut self, index: u32) -> VertexId {
        if let Some((_, id)) = self.imports.iter().find(|it| it.0 == index) {
            return *id;
        }
        let id = self.heap.vertex(None, None);
        let env = self.root_env;
        let program = self.program.clone();
        for file in &program.packages[index as usize].roots {
            self.heap.get_mut(id).conjuncts.push(Conjunct::new(Source::Expr(*file, env)));
        }
        self.imports.push((index, id));
        id
    }

    fn field(&mut self, up: u32, label: Label, env: EnvId, at: At) -> Value {
        let env = self.env_up(env, up);
        let EnvKind::Struct(vertex, ..) = self.heap.envs[env].kind else {
            return Value::Fault(self.fail(Kind::Permanent, "field out of scope", at));
        };
        if vertex == self.root {
            self.named.note(label);
        }
        let found = self.heap.arc(vertex, label).filter(|it| self.can_be_named(it.presence));
        if let Some(found) = found {
            return Value::Vertex(self.tried(found.vertex));
        }
        // Another conjunct may have brought it to what this vertex became.
        let real = self.unify(vertex);
        let arc = self.heap.arc(real, label).map(|it| (it.presence, it.vertex));
        if let Some((_, found)) = arc.filter(|it| self.can_be_named(it.0)) {
            return Value::Vertex(self.tried(found));
        }
        self.early |= self.heap.get(real).state == State::Running;
        if let Some(fault) = self.pending(real, label, arc.map(|it| it.0), at) {
            return Value::Fault(fault);
        }
        match arc {
            Some((Presence::Member | Presence::Required, found)) => {
                Value::Fault(self.misses(label, found, at))
            }
            Some((Presence::Optional, _)) => {
                let name = self.labels.name(label);
                let message = format!("cannot reference optional field: {name}");
                Value::Fault(self.fail(Kind::Incomplete, message, at))
            }
            None => {
                let name = self.labels.name(label);
                Value::Fault(self.fail(Kind::Incomplete, format!("undefined field: {name}"), at))
            }
        }
    }

    /// Whether who names a field gets its value: up to v0.14 also of one that is still to be given.
    pub(crate) fn can_be_named(&self, presence: Presence) -> bool {
        match presence {
            Presence::Member => true,
            Presence::Required => self.program.lenient,
            Presence::Optional => false,
        }
    }
}
