//! What printed values take from where they are written: expressions, literals, spellings.

use cue_definition::texts::indented;
use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::encode::yaml::Spelled;
use crate::error::Fault;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, EnvId, Source, VertexId};
use crate::program::{At, Code, Declaration, ExprId, LabelKind};

/// References one after the other that are followed to what they share.
const MOST_SHARED: usize = 50;

impl Evaluator {
    /// The vertex whose expressions are those of one that waits for more: what it shares, if it is
    /// nothing but a reference (S-72, O-68). Earlier versions of CUE shared nothing.
    pub(crate) fn shares(&mut self, id: VertexId) -> Option<VertexId> {
        if self.program.lenient {
            return None;
        }
        let mut found = None;
        let mut next = id;
        for _ in 0..MOST_SHARED {
            let Some(mut target) = self.behind_one(next, Self::referred_by) else { break };
            // A field that a `let` is the value of has its expression all the same.
            if !self.is_rooted(target) {
                let field = self.referred_by(next).filter(|it| self.is_rooted(*it));
                target = field.unwrap_or(target);
            }
            next = target;
            if self.is_rooted(next) {
                found = Some(next);
            }
        }
        found.filter(|it| *it != id)
    }

    /// Whether a value that has no end is so because of what it refers to: it shares that, or repeats
    /// what leads back to it (S-65, S-72).
    pub(crate) fn refers_to_endless(&mut self, id: VertexId, fault: &Fault) -> bool {
        if self.heap.get(id).forward.is_some() || self.path_of(id).is_some() {
            return true;
        }
        let mut next: Vec<(ExprId, EnvId)> = Vec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            if let Source::Expr(expr, env) = conjunct.source() {
                next.push((expr, env));
            }
        }
        let closes = fault.place.and_then(|it| self.path_of(it)).map(|it| self.follow(it));
        while let Some((expr, env)) = next.pop() {
            match self.program.code(expr) {
                Code::Unify(left, right) => next.extend([(*left, env), (*right, env)]),
                Code::Field { .. } | Code::Select(..) | Code::Index(..) => {
                    let target = self.eval(expr, env).vertex().map(|it| self.follow(it));
                    if target.is_some() && target == closes {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// What a path that is all of a vertex leads to, if that waits for more.
    fn referred_by(&mut self, id: VertexId) -> Option<VertexId> {
        let target = self.path_of(id)?;
        // What a definition closes shares only what one closes too, by way of lets or not.
        if self.is_enclosed(id) {
            let mut end = target;
            for _ in 0..MOST_SHARED {
                let Some(next) = self.let_name(end).and_then(|_| self.path_of(end)) else { break };
                end = next;
            }
            if self.heap.get(id).conjuncts.len() > 1 || !self.is_enclosed(end) {
                return None;
            }
        }
        let real = self.unify(target);
        let fault = self.heap.fault_of(target, real)?;
        self.heap.faults[fault].kind.is_incomplete().then_some(target)
    }

    /// What a path that is all of a vertex leads to, or several that lead to the same; `_` beside it says nothing.
    pub(crate) fn path_of(&mut self, id: VertexId) -> Option<VertexId> {
        let mut open: SmallVec<[(ExprId, EnvId); 2]> = SmallVec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            let Source::Expr(expr, env) = conjunct.source() else { return None };
            open.push((expr, env));
        }
        let mut found = None;
        while let Some((expr, env)) = open.pop() {
            match self.program.code(expr) {
                Code::Top => {}
                Code::Unify(left, right) => open.extend([(*right, env), (*left, env)]),
                Code::Field { .. }
                | Code::Let { .. }
                | Code::Variable { .. }
                | Code::Select(..)
                | Code::Index(..) => {
                    let target = self.eval(expr, env).vertex()?;
                    if found.replace(target).is_some_and(|it| it != target) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        found
    }

    fn is_enclosed(&self, id: VertexId) -> bool {
        let mut groups = self.heap.get(id).conjuncts.iter().flat_map(|it| &it.groups);
        groups.any(|it| self.closing.contains(it))
    }

    /// Whether a vertex is a place of a package.
    pub(crate) fn is_rooted(&self, id: VertexId) -> bool {
        self.is_in_tree(id) || self.is_imported(id)
    }

    /// An element keeps the spelling of the first literal that is said of it (O-71, O-72).
    fn spelling(&self, id: VertexId, depth: usize) -> Option<String> {
        let vertex = self.heap.get(id);
        vertex.scalar.filter(|_| vertex.fault.is_none())?;
        let literal = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => match self.program.code(expr) {
                Code::Scalar(Datum::Number(_) | Datum::String(_) | Datum::Bytes(_)) => Some(expr),
                _ => None,
            },
            Source::Data(_) | Source::Vertex(_) => None,
        };
        let expr = vertex.conjuncts.iter().find_map(literal)?;
        let at = self.program.at(expr);
        let source = self.program.sources.get(at.source as usize)?;
        let text = source.text.get(at.span.start as usize..at.span.end as usize)?;
        let first = text.chars().next()?;
        matches!(first, '0'..='9' | '.' | '"' | '\'' | '#').then(|| indented(text, depth))
    }

    /// How an element is spelled, if it is as it is written somewhere.
    pub(crate) fn element_spelling(&mut self, id: VertexId, depth: usize) -> Option<String> {
        self.unify(id);
        self.spelling(id, depth).or_else(|| self.spelling_shared(id, depth))
    }

    /// How the numbers and texts that are elements of lists in a value are spelled in YAML, in order.
    pub(crate) fn spelled_elements(&mut self, id: VertexId, datum: &Datum) -> Vec<Option<Spelled>> {
        let mut spelled = Vec::new();
        let mut open = vec![(Some(id), datum)];
        let within = |it: &Datum| matches!(it, Datum::List(_) | Datum::Struct(_));
        if !within(datum) {
            return spelled;
        }
        while let Some((id, datum)) = open.pop() {
            // What is in a value comes before what is behind it.
            let inner = open.len();
            match datum {
                Datum::List(items) => {
                    let all = items.iter().enumerate();
                    let all = all.map(|(at, it)| (self.member_at(id, Err(at)), it));
                    open.extend(all);
                }
                Datum::Struct(fields) => {
                    let all = fields.iter().filter(|it| within(&it.1));
                    open.extend(all.map(|it| (self.member_at(id, Ok(&it.0)), &it.1)));
                }
                Datum::Number(_) | Datum::String(_) => {
                    spelled.push(id.and_then(|it| self.element(it, datum)));
                }
                _ => {}
            }
            open[inner..].reverse();
        }
        spelled
    }

    /// The field or the element of a value.
    fn member_at(&mut self, id: Option<VertexId>, at: Result<&str, usize>) -> Option<VertexId> {
        let real = self.unify(id?);
        let real = self.default_of(real).unwrap_or(real);
        let label = match at {
            Ok(name) => self.labels.intern(LabelKind::Regular, name),
            Err(index) => self.labels.index(index),
        };
        self.heap.arc(real, label).map(|it| it.vertex)
    }

    fn element(&mut self, id: VertexId, datum: &Datum) -> Option<Spelled> {
        let text = self.element_spelling(id, 0)?;
        match datum {
            // YAML has no such multipliers.
            Datum::Number(_) if text.ends_with(['K', 'M', 'G', 'T', 'P', 'i']) => None,
            Datum::Number(_) => Some(Spelled::Number(text)),
            _ => text.starts_with("\"\"\"").then_some(Spelled::Block),
        }
    }

    /// What is nothing but a reference to an element shares its spelling, too.
    pub(crate) fn spelling_shared(&mut self, id: VertexId, depth: usize) -> Option<String> {
        self.heap.get(self.follow(id)).scalar?;
        let mut next = id;
        for _ in 0..MOST_SHARED {
            let [conjunct] = self.heap.get(next).conjuncts.as_slice() else { return None };
            let Source::Expr(expr, env) = conjunct.source() else { return None };
            match self.program.code(expr) {
                Code::Field { .. }
                | Code::Select(..)
                | Code::Index(..)
                | Code::Variable { index: 0, .. }
                | Code::Let { .. } => {}
                _ => return None,
            }
            next = self.eval(expr, env).vertex()?;
            let label = self.heap.get(next).label;
            if label.is_some_and(|it| self.labels.kind(it) == LabelKind::Index) {
                if let Some(text) = self.spelling(next, depth) {
                    return Some(text);
                }
            }
        }
        None
    }

    /// Whether an expression is a type that is a range of numbers: `uint8`.
    fn is_range(&self, expr: ExprId) -> bool {
        matches!(self.program.code(expr), Code::Type(_, name) if !cue_definition::is_plain_type(name))
    }

    /// The expressions that make a value.
    pub(crate) fn source_of(&self, id: VertexId) -> Vec<At> {
        let mut all: Vec<ExprId> = Vec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            if let Source::Expr(expr, _) = conjunct.source() {
                // The types that are ranges are one expression wherever they are named.
                let again = |it: &ExprId| {
                    *it == expr || self.is_range(expr) && self.program.says_same_scalar(*it, expr)
                };
                if !all.iter().any(again) {
                    all.push(expr);
                }
            }
        }
        all.into_iter().map(|it| self.program.at(it)).collect()
    }

    /// Positions of the literals of a struct that are written in its place, not behind a reference:
    /// their `let`s are printed (O-79).
    pub(crate) fn literals_of(&self, id: VertexId) -> Vec<At> {
        let vertex = self.heap.get(id);
        let mut found = Vec::new();
        let mut next = Vec::new();
        for conjunct in vertex.conjuncts.iter().rev() {
            if let Source::Expr(expr, _) = conjunct.source() {
                next.push(expr);
            }
        }
        while let Some(expr) = next.pop() {
            match self.program.code(expr) {
                Code::Struct(literal) => {
                    let placed = vertex.placed.iter().find(|it| it.literal == *literal);
                    let Some(placed) = placed.filter(|it| !found.contains(&it.at)) else {
                        continue;
                    };
                    found.push(placed.at);
                    let literal = &self.program.structs[*literal as usize];
                    for declaration in literal.declarations.iter().rev() {
                        match declaration {
                            Declaration::Embed(inner) => next.push(*inner),
                            // What those of a comprehension's body hold stands for them.
                            Declaration::Comprehension(_)
                            | Declaration::Field { .. }
                            | Declaration::Pattern { .. }
                            | Declaration::Open => {}
                        }
                    }
                }
                Code::Unify(left, right) => next.extend([*right, *left]),
                Code::Disjoin(all) => next.extend(all.iter().rev().map(|it| it.0)),
                _ => {}
            }
        }
        found
    }
}
