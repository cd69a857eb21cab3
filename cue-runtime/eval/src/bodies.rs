//! Bodies of comprehensions as they are written: which fields they may bring (S-33).

use smallvec::SmallVec;

use crate::evaluator::Evaluator;
use crate::program::{
    Code, DeclLabel, Declaration, ExprId, Label, LabelKind, Program, StructLiteral,
};

/// How deep nests of comprehensions are looked into for what they name.
const DEEPEST: u32 = 50;

/// Whether a task may bring a field (S-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum May {
    Not,
    /// It may bring anything.
    Any,
    /// It names the field.
    Named,
}

/// What the body of a comprehension says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) labels: Vec<Label>,
    pub(crate) general: bool,
    pub(crate) nested: bool,
}

impl Program {
    /// What a comprehension's body says first, but for what it nests.
    pub(crate) fn body(&self, body: ExprId, otherwise: Option<ExprId>) -> Body {
        let mut it = Body::default();
        for body in std::iter::once(body).chain(otherwise) {
            self.look_into(body, &mut it);
        }
        cue_sort::by(&mut it.labels, Ord::cmp);
        it.labels.dedup();
        it.labels.shrink_to_fit();
        it
    }

    fn look_into(&self, body: ExprId, out: &mut Body) {
        let code = self.code(body);
        if let Some(values) = self.selected(code) {
            return values.into_iter().for_each(|it| self.look_into(it, out));
        }
        let Code::Struct(literal) = code else {
            out.general |= may_have_fields(code);
            return;
        };
        for declaration in &self.structs[*literal as usize].declarations {
            match declaration {
                Declaration::Field { label: DeclLabel::Fixed(label), .. } => {
                    out.labels.push(*label);
                }
                Declaration::Field { .. } => out.general = true,
                Declaration::Pattern { .. } | Declaration::Open => {}
                Declaration::Embed(embed) => self.look_into(*embed, out),
                Declaration::Comprehension(_) => out.nested = true,
            }
        }
    }

    /// A literal, with what follows from its declarations.
    pub(crate) fn add_struct(&mut self, mut literal: StructLiteral) -> Code {
        literal.named = self.named_by(&literal.declarations);
        literal.takes_in = self.takes_in(&literal.declarations);
        literal.is_open = literal.declarations.iter().any(|it| matches!(it, Declaration::Open));
        let fields = literal.declarations.iter();
        literal.fields = fields.filter(|it| matches!(it, Declaration::Field { .. })).count() as u32;
        let by_itself =
            |it: &Declaration| !matches!(it, Declaration::Embed(_) | Declaration::Pattern { .. });
        literal.fields_only = literal.declarations.iter().all(by_itself);
        self.structs.push(literal);
        Code::Struct(self.structs.len() as u32 - 1)
    }

    /// Whether declarations embed values, or have comprehensions whose bodies are or embed some.
    fn takes_in(&self, declarations: &[Declaration]) -> bool {
        let takes_in = |body: ExprId| match self.code(body) {
            Code::Struct(literal) => self.structs[*literal as usize].takes_in,
            _ => true,
        };
        declarations.iter().any(|it| match it {
            Declaration::Embed(_) => true,
            Declaration::Comprehension(index) => {
                let code = &self.comprehensions[*index as usize];
                takes_in(code.body) || code.otherwise.is_some_and(takes_in)
            }
            Declaration::Field { .. } | Declaration::Pattern { .. } | Declaration::Open => false,
        })
    }

    /// Labels in the order a literal with comprehensions names them, bodies where these stand (O-4).
    fn named_by(&self, declarations: &[Declaration]) -> Option<Box<[Label]>> {
        let comprehends = |it: &Declaration| matches!(it, Declaration::Comprehension(_));
        declarations.iter().any(comprehends).then(|| {
            let mut out = Vec::new();
            self.name_fields(declarations, &mut out, 0);
            out.into()
        })
    }

    fn name_fields(&self, declarations: &[Declaration], out: &mut Vec<Label>, depth: u32) {
        for declaration in declarations {
            match declaration {
                Declaration::Field { label: DeclLabel::Fixed(label), .. } => out.push(*label),
                Declaration::Comprehension(index) if depth < DEEPEST => {
                    let body = self.comprehensions[*index as usize].body;
                    if let Code::Struct(inner) = self.code(body) {
                        let declarations = &self.structs[*inner as usize].declarations;
                        self.name_fields(declarations, out, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// The values of a field that is selected from a literal right there: `{t: …}.t`.
    fn selected(&self, code: &Code) -> Option<SmallVec<[ExprId; 2]>> {
        let Code::Select(operand, name) = code else { return None };
        let Code::Struct(literal) = self.code(*operand) else { return None };
        let mut values = SmallVec::new();
        for declaration in &self.structs[*literal as usize].declarations {
            match declaration {
                Declaration::Field { label: DeclLabel::Fixed(label), value, .. } => {
                    if label == name {
                        values.push(*value);
                    }
                }
                Declaration::Pattern { .. } | Declaration::Open => {}
                _ => return None,
            }
        }
        Some(values)
    }
}

impl Evaluator {
    /// Whether a body names a label, with what it nests, and whether it may bring any.
    fn names(&self, body: ExprId, label: Label) -> (bool, bool) {
        let either = |one: (bool, bool), other: (bool, bool)| (one.0 | other.0, one.1 | other.1);
        let code = self.program.code(body);
        if let Some(values) = self.program.selected(code) {
            let all = values.into_iter().map(|it| self.names(it, label));
            return all.fold((false, false), either);
        }
        let Code::Struct(literal) = code else { return (false, may_have_fields(code)) };
        let declarations = &self.program.structs[*literal as usize].declarations;
        declarations.iter().fold((false, false), |found, it| {
            let this = match it {
                Declaration::Field { label: DeclLabel::Fixed(name), .. } => (*name == label, false),
                Declaration::Field { .. } => (false, true),
                Declaration::Pattern { .. } | Declaration::Open => (false, false),
                Declaration::Embed(embed) => self.names(*embed, label),
                Declaration::Comprehension(index) => self.names_within(*index, label),
            };
            either(found, this)
        })
    }

    pub(crate) fn names_within(&self, index: u32, label: Label) -> (bool, bool) {
        let code = &self.program.comprehensions[index as usize];
        let (named, general) = self.names(code.body, label);
        let (other, more) = code.otherwise.map_or((false, false), |it| self.names(it, label));
        (named | other, general | more)
    }

    /// Whether an expression brings a field at a path; the path is read from its end.
    pub(crate) fn brings(&self, body: ExprId, path: &[Label]) -> May {
        let Some((last, rest)) = path.split_last() else { return May::Named };
        let code = self.program.code(body);
        if let Some(values) = self.program.selected(code) {
            let all = values.into_iter().map(|it| self.brings(it, path));
            return all.max().unwrap_or(May::Not);
        }
        let Code::Struct(literal) = code else {
            return if may_have_fields(code) { May::Any } else { May::Not };
        };
        let mut may = May::Not;
        for declaration in &self.program.structs[*literal as usize].declarations {
            let this = match declaration {
                Declaration::Field { label: DeclLabel::Fixed(label), value, .. } => {
                    if label == last { self.brings(*value, rest) } else { May::Not }
                }
                Declaration::Field { .. } if self.is_dynamic(*last) => May::Any,
                Declaration::Field { .. } | Declaration::Pattern { .. } | Declaration::Open => {
                    May::Not
                }
                Declaration::Embed(embed) => self.brings(*embed, path),
                Declaration::Comprehension(index) => {
                    let code = &self.program.comprehensions[*index as usize];
                    let bodies = std::iter::once(code.body).chain(code.otherwise);
                    bodies.map(|it| self.brings(it, path)).max().unwrap_or(May::Not)
                }
            };
            may = may.max(this);
        }
        may
    }

    /// Whether a computed label may be this one.
    pub(crate) fn is_dynamic(&self, label: Label) -> bool {
        self.labels.kind(label) == LabelKind::Regular
    }
}

/// Whether a value that is no struct literal may turn out to have fields.
fn may_have_fields(code: &Code) -> bool {
    !matches!(
        code,
        Code::Scalar(_)
            | Code::Top
            | Code::Bottom
            | Code::Type(..)
            | Code::List(_)
            | Code::Interpolation(..)
            | Code::Not(_)
            | Code::Negative(_)
            | Code::Positive(_)
            | Code::Bound(..)
            | Code::And(..)
            | Code::Or(..)
            | Code::Compare(..)
            | Code::Arithmetic(..)
            | Code::Slice(..)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::budget::Budget;
    use crate::evaluation::{Evaluation, compile_text};

    #[test]
    fn each_guard_of_a_nest_counts_its_own_fields_only() {
        let text = "on: true\nif on {a: 1, if on {b: 1, if on {c: 1, d: 1, if on {(\"e\"): 1}}}}";
        let mut program = compile_text(text).unwrap();
        let d = program.labels.intern(LabelKind::Regular, "d");
        let program = Arc::new(program);
        let budget = Budget { ticks: 1_000, depth: 100, bytes: 1 << 20 };
        let it = Evaluation::start(program.clone(), &[], budget).evaluator;
        let mut bodies: Vec<(usize, bool, bool)> = program
            .comprehensions
            .iter()
            .map(|it| &it.says)
            .map(|body| (body.labels.len(), body.nested, body.general))
            .collect();
        bodies.sort_unstable();
        let want = [(0, false, true), (1, true, false), (1, true, false), (2, true, false)];
        assert_eq!(bodies, want);
        let outermost = (0..program.comprehensions.len() as u32)
            .map(|index| it.names_within(index, d))
            .filter(|found| *found == (true, true));
        assert_eq!(outermost.count(), 3, "what is nested is found when it is asked for");
    }
}
