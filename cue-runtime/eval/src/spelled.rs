//! What printed values take from where they are written: expressions, literals, spellings.

use crate::evaluator::Evaluator;
use crate::heap::{Source, VertexId};
use crate::program::{At, Code, Declaration, ExprId};

impl Evaluator {
    /// An element that is nothing but a literal keeps its spelling (O-71, O-72).
    pub(crate) fn spelling(&self, id: VertexId) -> Option<String> {
        let vertex = self.heap.get(id);
        let [conjunct] = vertex.conjuncts.as_slice() else { return None };
        let Source::Expr(expr, _) = conjunct.source else { return None };
        vertex.scalar.as_ref()?;
        if !matches!(self.program.code(expr), Code::Number(_) | Code::String(_) | Code::Bytes(_)) {
            return None;
        }
        let at = self.program.at(expr);
        let source = self.program.sources.get(at.source as usize)?;
        let text = source.text.get(at.span.start as usize..at.span.end as usize)?;
        let first = text.chars().next()?;
        let lines = text.contains('\n');
        (!lines && matches!(first, '0'..='9' | '.' | '"' | '\'' | '#')).then(|| text.to_owned())
    }

    /// The expressions that make a value.
    pub(crate) fn source_of(&self, id: VertexId) -> Vec<ExprId> {
        let mut all = Vec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            if let Source::Expr(expr, _) = conjunct.source {
                if !all.contains(&expr) && !matches!(self.program.code(expr), Code::Top) {
                    all.push(expr);
                }
            }
        }
        all
    }

    /// Positions of the literals of a struct that are written in its place, not behind a reference:
    /// their `let`s are printed (O-79).
    pub(crate) fn literals_of(&self, id: VertexId) -> Vec<At> {
        let vertex = self.heap.get(id);
        let mut found = Vec::new();
        let mut next = Vec::new();
        for conjunct in vertex.conjuncts.iter().rev() {
            if let Source::Expr(expr, _) = conjunct.source {
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
                            Declaration::Comprehension(index) => {
                                let code = &self.program.comprehensions[*index as usize];
                                next.extend(code.otherwise);
                                next.push(code.body);
                            }
                            Declaration::Field { .. }
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
