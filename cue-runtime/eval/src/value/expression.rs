//! What a value is made of: an operator and its operands.

use crate::evaluation::Evaluation;
use crate::heap::{Source, VertexId};
use crate::program::{Arithmetic, Code, ExprId};

/// An operator and operands.
#[derive(Clone, Debug)]
pub struct Expression {
    /// As it is written; empty if the value is not made by one.
    pub operator: &'static str,
    /// Operands, as values.
    pub operands: Vec<VertexId>,
}

impl Evaluation {
    /// The expression of a value: of several declarations, their unification.
    pub fn expression(&mut self, id: VertexId) -> Expression {
        let mut parts = Vec::new();
        for conjunct in &self.evaluator.heap.get(id).conjuncts {
            if let Source::Expr(expr, env) = conjunct.source() {
                parts.push((expr, env));
            }
        }
        let none = Expression { operator: "", operands: vec![id] };
        let (expr, env) = match parts.as_slice() {
            [] => return none,
            [only] => *only,
            _ => {
                let all = parts.iter().map(|(expr, env)| self.evaluator.anonymous(*expr, *env));
                return Expression { operator: "&", operands: all.collect() };
            }
        };
        let (operator, operands): (&'static str, Vec<ExprId>) =
            match self.evaluator.program.code(expr).clone() {
                Code::Disjoin(all) => {
                    let values: Vec<(VertexId, bool)> = all
                        .iter()
                        .map(|(expr, marked)| (self.evaluator.anonymous(*expr, env), *marked))
                        .collect();
                    let mut kept = Vec::new();
                    for (value, marked) in &values {
                        // A default that another alternative has in it says nothing more.
                        let covered = *marked
                            && values.iter().any(|(other, marked)| {
                                !marked && self.subsumes(*other, *value).is_empty()
                            });
                        if !covered {
                            kept.push(*value);
                        }
                    }
                    let operator = if kept.len() > 1 { "|" } else { "" };
                    return Expression { operator, operands: kept };
                }
                Code::Unify(left, right) => ("&", vec![left, right]),
                Code::And(left, right) => ("&&", vec![left, right]),
                Code::Or(left, right) => ("||", vec![left, right]),
                Code::Compare(compare, left, right) => (compare.symbol(), vec![left, right]),
                Code::Arithmetic(operator, left, right) => {
                    let operator = match operator {
                        Arithmetic::Add => "+",
                        Arithmetic::Subtract => "-",
                        Arithmetic::Multiply => "*",
                        Arithmetic::Divide => "/",
                    };
                    (operator, vec![left, right])
                }
                Code::Not(operand) => ("!", vec![operand]),
                Code::Negative(operand) => ("-", vec![operand]),
                Code::Positive(operand) => ("+", vec![operand]),
                Code::Bound(compare, limit) => (compare.symbol(), vec![limit]),
                Code::Select(operand, _) => (".", vec![operand]),
                Code::Index(operand, index) => ("[]", vec![operand, index]),
                Code::Slice(operand, low, high) => {
                    ("[:]", std::iter::once(operand).chain(low).chain(high).collect())
                }
                Code::Call(_, arguments) | Code::CallOf(_, arguments) => ("()", arguments.to_vec()),
                _ => return none,
            };
        let operands = operands.into_iter().map(|it| self.evaluator.anonymous(it, env)).collect();
        Expression { operator, operands }
    }
}
