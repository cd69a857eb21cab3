//! Which comprehensions bring what may be closed by the name of a field whose value a definition closes:
//! `if p.a != _|_ {b: p.a}` with `p: a: #D` (C-12). What they name themselves is known while they are compiled.
//!
//! Fields are known by their last label alone, and what is taken for closed is only looked at more closely when it
//! is evaluated: too many are no error.

use cue_map::Set;

use crate::program::{
    Callee, ClauseCode, Code, DeclLabel, Declaration, ExprId, Label, LabelKind, ListElement, Plain,
    Program,
};

/// Rounds in which names of names are found; where that is not the end of it every comprehension may.
const MOST_ROUNDS: usize = 8;

/// What is known of the program so far.
#[derive(Default)]
struct Closing {
    /// By expression: what it gives may be closed, or something in it.
    values: Vec<bool>,
    /// By expression: what its patterns and computed labels bring may be.
    patterns: Vec<bool>,
    /// Labels of fields that have such values, and such patterns.
    labels: Set<Label>,
    patterned: Set<Label>,
    /// Whether a `let` and what a loop names have.
    lets: bool,
    variables: bool,
}

impl Program {
    /// Marks those comprehensions of a program that names definitions or calls `close`.
    pub(crate) fn note_closing(&mut self) {
        if self.comprehensions.iter().all(|it| it.closes) {
            return;
        }
        let mut known = Closing::default();
        let done = (0..MOST_ROUNDS).any(|_| !self.look_for_closing(&mut known));
        let mut comprehensions = std::mem::take(&mut self.comprehensions);
        for it in &mut comprehensions {
            let bodies = [Some(it.body), it.otherwise];
            it.closes |= !done || bodies.into_iter().flatten().any(|it| known.has(it));
        }
        self.comprehensions = comprehensions;
    }

    /// Whether what is evaluated may close a value: it names a definition, or calls for it.
    pub(crate) fn may_close(&self, code: &Code) -> bool {
        match code {
            Code::Field { label, .. } | Code::Select(_, label) => {
                let kind = self.labels.kind(*label);
                matches!(kind, LabelKind::Definition | LabelKind::HiddenDefinition)
            }
            Code::Call(Callee::Plain(Plain::Close | Plain::CloseAll | Plain::Reclose), _) => true,
            _ => false,
        }
    }

    /// One look at every expression, parts before wholes; whether anything was found.
    fn look_for_closing(&self, known: &mut Closing) -> bool {
        let before = (known.labels.len(), known.patterned.len(), known.lets, known.variables);
        known.values.clear();
        known.patterns.clear();
        for place in 0..self.codes.len() {
            let expr = ExprId::at(place);
            let code = self.code(expr);
            let closes = self.may_close(code) || self.gives_closed(code, known);
            let patterns = match code {
                Code::Struct(literal) => self.note_fields(*literal, known),
                Code::Unify(left, right) => known.is_patterned(*left) || known.is_patterned(*right),
                Code::Disjoin(all) => all.iter().any(|it| known.is_patterned(it.0)),
                Code::Aliased(inner) | Code::Opened(inner) => known.is_patterned(*inner),
                Code::List(_) => closes,
                Code::Field { label, .. } | Code::Select(_, label) => {
                    known.patterned.contains(label)
                }
                _ => false,
            };
            known.values.push(closes);
            known.patterns.push(patterns);
        }
        for it in &self.comprehensions {
            known.variables |= it.clauses.iter().any(|it| match it {
                ClauseCode::For { source, .. } => known.has(*source) || known.is_patterned(*source),
                ClauseCode::Let(value) | ClauseCode::Try(value) => known.has(*value),
                ClauseCode::If(_) => false,
            });
        }
        before != (known.labels.len(), known.patterned.len(), known.lets, known.variables)
    }

    /// Whether an expression leads to such a value, or holds one.
    fn gives_closed(&self, code: &Code, known: &Closing) -> bool {
        match code {
            Code::Field { label, .. } => known.labels.contains(label),
            Code::Select(operand, label) => {
                known.labels.contains(label) || known.is_patterned(*operand)
            }
            Code::Index(operand, _) | Code::Slice(operand, ..) => {
                known.has(*operand) || known.is_patterned(*operand)
            }
            Code::Let { .. } => known.lets,
            Code::Variable { .. } => known.variables,
            Code::ComputedField { label, .. } => known.has(*label) || !known.labels.is_empty(),
            Code::Import(_) => !known.labels.is_empty(),
            Code::Aliased(inner) | Code::Attempt(inner) | Code::Opened(inner) => known.has(*inner),
            Code::Outer { expr, .. } => known.has(*expr),
            Code::Unify(left, right) => known.has(*left) || known.has(*right),
            Code::Disjoin(all) => all.iter().any(|it| known.has(it.0)),
            Code::Call(_, arguments) | Code::CallOf(_, arguments) => {
                arguments.iter().any(|it| known.has(*it))
            }
            Code::List(elements) => elements.iter().any(|it| match it {
                ListElement::Value(value) | ListElement::Rest(Some(value)) => known.has(*value),
                ListElement::Comprehension(index) => self.brings_closed(*index, known),
                ListElement::Rest(None) => false,
            }),
            Code::Struct(literal) => {
                let literal = &self.structs[*literal as usize];
                literal.declarations.iter().any(|it| match it {
                    Declaration::Field { value, .. }
                    | Declaration::Pattern { value, .. }
                    | Declaration::Embed(value) => known.has(*value),
                    Declaration::Comprehension(index) => self.brings_closed(*index, known),
                    Declaration::Open => false,
                })
            }
            _ => false,
        }
    }

    fn brings_closed(&self, index: u32, known: &Closing) -> bool {
        let it = &self.comprehensions[index as usize];
        known.has(it.body) || it.otherwise.is_some_and(|it| known.has(it))
    }

    /// Notes the fields and lets of a literal; whether its patterns and computed labels have such values.
    fn note_fields(&self, literal: u32, known: &mut Closing) -> bool {
        let literal = &self.structs[literal as usize];
        let mut patterns = false;
        for it in &literal.declarations {
            match it {
                Declaration::Field { label: DeclLabel::Fixed(label), value, .. } => {
                    if known.has(*value) {
                        known.labels.insert(*label);
                    }
                    if known.is_patterned(*value) {
                        known.patterned.insert(*label);
                    }
                }
                Declaration::Field { value, .. } | Declaration::Pattern { value, .. } => {
                    patterns |= known.has(*value);
                }
                // What is embedded has the fields of its own under their labels.
                Declaration::Embed(value) => patterns |= known.is_patterned(*value),
                Declaration::Comprehension(index) => {
                    let body = self.comprehensions[*index as usize].body;
                    patterns |= known.is_patterned(body);
                }
                Declaration::Open => {}
            }
        }
        known.lets |= literal.lets.iter().any(|it| known.has(it.value));
        patterns
    }
}

impl Closing {
    fn has(&self, expr: ExprId) -> bool {
        self.values.get(expr.number() as usize - 1).copied().unwrap_or(false)
    }

    fn is_patterned(&self, expr: ExprId) -> bool {
        self.patterns.get(expr.number() as usize - 1).copied().unwrap_or(false)
    }
}
