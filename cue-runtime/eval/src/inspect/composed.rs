//! How a value is put together, for those who describe it from outside: one operator and its operands, each a
//! value of its own in the same place. An operand is named by a handle, `@` and a number, which begins paths as
//! the root does.
//!
//! Invariants
//! 1. Conjuncts are told as they are written: what a literal embeds is none of its own, and is told before its fields.
//! 2. A handle stays what it is as long as nothing is added to the program.

use crate::evaluation::Evaluation;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, EnvId, EnvKind, Source, VertexId};
use crate::openapi::words::description;
use crate::program::{Code, Declaration, ExprId, Label, Program, StructLiteral};
use crate::written::callee_text;

/// How a value is put together.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The operator: `&`, `|`, a bound's, `(` for a call, `func` for a function as it is, `.` for a reference, `...`;
    /// empty for what it is by itself.
    pub operator: &'static str,
    /// What it is applied to; of a reference where its path begins.
    pub operands: Vec<VertexId>,
    /// The function that is called, the type that is named, a scalar as it is written; of a reference the package that
    /// it leads into.
    pub name: String,
    /// Labels on the way that a reference goes from there.
    pub labels: Vec<String>,
    /// Patterns, each before what it says of fields.
    pub patterns: Vec<VertexId>,
    /// What `...` says of further elements.
    pub rest: Option<VertexId>,
    /// It has `...`.
    pub open: bool,
    /// How far it is closed: 0 is not at all, 2 throughout.
    pub closed: u8,
    /// Its comments as one text.
    pub docs: String,
}

impl Evaluation {
    /// A value by the number of its handle.
    pub(crate) fn handled(&self, number: u32) -> Option<VertexId> {
        VertexId::of_number(number).filter(|_| number <= self.evaluator.heap.made())
    }

    /// How a value is put together.
    pub fn composition(&mut self, id: VertexId) -> Composition {
        let it = &mut self.evaluator;
        let mut told = Composition { docs: it.docs_of(id), ..Composition::default() };
        let conjuncts = it.own_conjuncts(id);
        match conjuncts.as_slice() {
            [] => {}
            [(expr, env)] => it.compose(id, *expr, *env, &mut told),
            all => {
                told.operator = "&";
                told.operands = all.iter().map(|own| it.apart(id, own.0, own.1)).collect();
            }
        }
        let real = it.unify(id);
        let mut at = 0;
        while let Some(pattern) = it.heap.get(real).patterns.get(at).cloned() {
            let label = it.anonymous(pattern.label, pattern.env);
            told.patterns.extend([label, it.value_of_pattern(&pattern)]);
            at += 1;
        }
        let vertex = it.heap.get(real);
        told.open = match vertex.is_list {
            true => vertex.closed_length().is_none(),
            false => vertex.open,
        };
        told.rest = it.element_of(real);
        told.closed = it.closed_itself(real) as u8;
        told
    }
}

impl Evaluator {
    /// What holds at a vertex as it is written, without what its literals embed or bring in loops.
    fn own_conjuncts(&self, id: VertexId) -> Vec<(ExprId, EnvId)> {
        let mut all = Vec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            match conjunct.source() {
                Source::Expr(_, env) if self.is_within(env, id) => {}
                Source::Expr(expr, env) => all.push((expr, env)),
                Source::Data(_) => {}
                Source::Vertex(of) => all.extend(self.own_conjuncts(of)),
            }
        }
        all
    }

    /// Whether an environment is that of a literal of the value itself, or of a loop in one.
    pub(crate) fn is_within(&self, env: EnvId, id: VertexId) -> bool {
        let env = &self.heap.envs[env];
        match env.kind {
            EnvKind::Struct(vertex, ..) => vertex == self.follow(id) || vertex == id,
            EnvKind::Variables(..) => env.parent.is_some_and(|it| self.is_within(it, id)),
            EnvKind::PatternName(_) => false,
        }
    }

    /// An expression as a value in the place of another.
    pub(crate) fn apart(&mut self, id: VertexId, expr: ExprId, env: EnvId) -> VertexId {
        let (parent, label) = (self.heap.get(id).parent, self.heap.get(id).label);
        let vertex = self.heap.vertex(parent, label);
        let conjunct = Conjunct::new(Source::Expr(expr, env));
        self.heap.get_mut(vertex).conjuncts.push(conjunct);
        vertex
    }

    fn compose(&mut self, id: VertexId, expr: ExprId, env: EnvId, told: &mut Composition) {
        let program = self.program.clone();
        let (operator, operands): (_, &[ExprId]) = match program.code(expr) {
            Code::Unify(left, right) => ("&", &[*left, *right]),
            Code::Bound(operator, limit) => (operator.symbol(), &[*limit]),
            Code::Opened(inner) => ("...", &[*inner]),
            Code::Call(callee, arguments) => {
                told.name = callee_text(*callee);
                ("(", arguments)
            }
            Code::Function(callee) => {
                told.name = callee_text(*callee);
                ("func", &[])
            }
            Code::Scalar(_) => {
                told.name = self.source_at(program.at(expr));
                ("", &[])
            }
            Code::Type(_, name) => {
                told.name = name.text().to_owned();
                ("", &[])
            }
            Code::Disjoin(all) => return self.compose_choice(id, all, env, told),
            Code::Outer { up, expr } => {
                let env = self.env_up(env, *up);
                return self.compose(id, *expr, env, told);
            }
            Code::Field { .. } | Code::Select(..) => return self.refer(expr, env, told),
            Code::Struct(literal) => return self.compose_literal(id, (*literal, expr), env, told),
            _ => return,
        };
        told.operator = operator;
        told.operands = operands.iter().map(|it| self.apart(id, *it, env)).collect();
    }

    /// Alternatives, but for defaults that another one admits.
    fn compose_choice(
        &mut self,
        id: VertexId,
        all: &[(ExprId, bool)],
        env: EnvId,
        told: &mut Composition,
    ) {
        let each: Vec<VertexId> = all.iter().map(|it| self.apart(id, it.0, env)).collect();
        for (one, (_, marked)) in each.iter().zip(all) {
            // A definition is closed, as no value beside it is: it admits none.
            let admitted = |(wide, (expr, marked)): (&VertexId, &(ExprId, bool))| {
                !marked && !self.leads_to_definition(*expr) && self.subsumes(*wide, *one).is_empty()
            };
            if !marked || !each.iter().zip(all).any(admitted) {
                told.operands.push(*one);
            }
        }
        if told.operands.len() > 1 {
            told.operator = "|";
        }
    }

    /// Whether an expression leads to a definition, or into one.
    fn leads_to_definition(&self, mut expr: ExprId) -> bool {
        loop {
            match *self.program.code(expr) {
                Code::Field { label, .. } => return self.is_definition(label),
                Code::Select(_, label) if self.is_definition(label) => return true,
                Code::Select(operand, _) => expr = operand,
                _ => return false,
            }
        }
    }

    /// A literal that embeds something: that, and what it declares besides.
    fn compose_literal(
        &mut self,
        id: VertexId,
        (literal, expr): (u32, ExprId),
        env: EnvId,
        told: &mut Composition,
    ) {
        let program = self.program.clone();
        let code = &program.structs[literal as usize];
        let is_value = |it: &ExprId| {
            let code = program.code(*it);
            matches!(code, Code::Scalar(_) | Code::Top | Code::Type(..) | Code::Bottom)
        };
        let embedded = |it: &Declaration| match it {
            Declaration::Embed(it) => Some(*it).filter(|it| !is_value(it)),
            _ => None,
        };
        let all: Vec<ExprId> = code.declarations.iter().filter_map(embedded).collect();
        if all.is_empty() {
            return;
        }
        // Fields stand in a literal of their own, in whose scope what is embedded is looked at.
        let own: Vec<Declaration> =
            code.declarations.iter().filter(|it| embedded(it).is_none()).cloned().collect();
        let beside = (!own.is_empty()).then(|| {
            let own = StructLiteral {
                has_embeds: own.iter().any(|it| !it.is_of_fields()),
                declarations: own,
                lets: code.lets.clone(),
                explicit: code.explicit,
                ..StructLiteral::default()
            };
            let at = program.at(expr);
            let changed = Program::own(&mut self.program);
            let code = changed.add_struct(own);
            let expr = changed.push(code, at);
            self.apart(id, expr, env)
        });
        let around = beside.unwrap_or(id);
        let inner = self.heap.envs.enter_struct(env, around, literal, code.lets.len());
        match (all.as_slice(), beside) {
            ([only], None) => {
                self.compose(id, *only, inner, told);
                // A file that embeds a reference is that; any other literal is what it comes to.
                if told.operator == "." && !program.is_file(program.at(expr)) {
                    *told =
                        Composition { docs: std::mem::take(&mut told.docs), ..Default::default() };
                }
            }
            (all, beside) => {
                told.operands = all.iter().map(|it| self.apart(id, *it, inner)).collect();
                told.operands.extend(beside);
                told.operator = "&";
            }
        }
    }

    /// A reference, if it is a path of fields.
    fn refer(&mut self, expr: ExprId, env: EnvId, told: &mut Composition) {
        let Some((top, path)) = self.steps_of(expr, env) else { return };
        let mut labels = Vec::new();
        let mut next = Some(top);
        let mut outermost = top;
        while let Some(id) = next {
            outermost = id;
            let vertex = self.heap.get(id);
            next = vertex.label.and(vertex.parent);
            labels.extend(vertex.label.filter(|_| next.is_some()));
        }
        labels.reverse();
        labels.extend(&path);
        told.operator = ".";
        told.labels = labels.iter().map(|it| self.label_text(*it)).collect();
        let import = self.imports.iter().find(|it| it.1 == outermost);
        if let Some((index, _)) = import {
            told.name = self.program.packages[*index as usize].folder().to_owned();
        }
        told.operands.push(outermost);
    }

    /// Where a reference begins, and the labels it goes on by.
    fn steps_of(&mut self, expr: ExprId, env: EnvId) -> Option<(VertexId, Vec<Label>)> {
        match *self.program.code(expr) {
            Code::Field { up, label } => {
                let outer = self.env_up(env, up);
                let EnvKind::Struct(vertex, ..) = self.heap.envs[outer].kind else { return None };
                Some((vertex, vec![label]))
            }
            Code::Import(index) => Some((self.import(index), Vec::new())),
            Code::Select(operand, label) => {
                let (top, mut path) = self.steps_of(operand, env)?;
                path.push(label);
                Some((top, path))
            }
            _ => None,
        }
    }

    /// The comments of a field, or of what one declaration of it says.
    fn docs_of(&self, id: VertexId) -> String {
        let vertex = self.heap.get(id);
        let arc = vertex.parent.zip(vertex.label).and_then(|it| self.heap.arc(it.0, it.1));
        let all: Vec<u32> = match (arc, vertex.conjuncts.as_slice()) {
            (Some(arc), _) if arc.vertex == id => arc.notes().collect(),
            (_, [conjunct]) => match conjunct.source() {
                Source::Expr(expr, _) => self.notes_of(expr).into_iter().collect(),
                Source::Data(_) | Source::Vertex(_) => Vec::new(),
            },
            _ => Vec::new(),
        };
        self.comment_of(all)
    }

    /// Comments as one text.
    pub(crate) fn comment_of(&self, notes: impl IntoIterator<Item = u32>) -> String {
        let all = notes.into_iter().map(|it| &self.program.notes[it as usize]);
        let lines = |it: &str| it.to_owned();
        let all: Vec<(Vec<String>, &[u32])> =
            all.map(|it| (it.lines().map(lines).collect(), &*it.breaks)).collect();
        description(all.iter().map(|it| (&*it.0, it.1)))
    }

    /// The comments of a declaration whose value an expression is.
    fn notes_of(&self, expr: ExprId) -> Option<u32> {
        let mut all = self.program.structs.iter().flat_map(|it| &it.declarations);
        all.find_map(|it| match it {
            Declaration::Field { value, notes, .. } => (*value == expr).then_some(*notes),
            _ => None,
        })
    }
}
