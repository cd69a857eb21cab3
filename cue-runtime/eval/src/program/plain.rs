//! Literals that are data and nothing else: no name in them, nothing to compute, no label twice. They cannot be
//! wrong, so that they are read as they are written until something else is said of them.

use smallvec::SmallVec;

use super::{Code, DeclLabel, Declaration, ExprId, Label, ListElement, Presence, Program};
use crate::program::LabelKind;

/// How many expressions are within each other in one that is data, itself included; 0 for any other.
pub(crate) type Height = u8;

/// Higher ones go the usual way, which has the budget.
pub(crate) const MOST_NESTED: Height = 64;

impl Program {
    /// Whether an expression is data and nothing else.
    pub(crate) fn is_plain(&self, expr: ExprId) -> bool {
        self.heights[expr.place()] != 0
    }

    /// How high an expression is, whose parts are in the program.
    pub(super) fn height(&self, code: &Code) -> Height {
        let highest = match code {
            Code::Scalar(_) => Some(0),
            Code::List(elements) => self.highest_element(elements),
            Code::Struct(literal) => self.highest_field(*literal),
            _ => None,
        };
        highest.filter(|it| *it < MOST_NESTED).map_or(0, |it| it + 1)
    }

    /// The height of the highest element; `None` if one is not data.
    fn highest_element(&self, elements: &[ListElement]) -> Option<Height> {
        elements.iter().try_fold(0, |highest, it| Some(self.above(it.value()?)?.max(highest)))
    }

    /// The height of the highest field of a struct; `None` if something in it is not data.
    fn highest_field(&self, literal: u32) -> Option<Height> {
        let literal = &self.structs[literal as usize];
        if !literal.lets.is_empty() {
            return None;
        }
        let mut highest = 0;
        let mut labels: SmallVec<[Label; 16]> = SmallVec::new();
        for declaration in &literal.declarations {
            let (label, value) = self.plain_field(declaration)?;
            highest = self.above(value)?.max(highest);
            labels.push(label);
        }
        labels.sort_unstable();
        let repeats = labels.windows(2).any(|it| it[0] == it[1]);
        (!repeats).then_some(highest)
    }

    /// The height of a part; `None` if it is not data.
    fn above(&self, part: ExprId) -> Option<Height> {
        Some(self.heights[part.place()]).filter(|it| *it != 0)
    }

    /// The label and the value of a field that may be one of data.
    pub(crate) fn plain_field(&self, declaration: &Declaration) -> Option<(Label, ExprId)> {
        match declaration {
            Declaration::Field {
                label: DeclLabel::Fixed(label),
                presence: Presence::Member,
                value,
                ..
            } => (self.labels.kind(*label) == LabelKind::Regular).then_some((*label, *value)),
            _ => None,
        }
    }

    /// A literal stands for a builtin package, which messages name so.
    pub(crate) fn name_package(&mut self, literal: ExprId, name: String) {
        self.named_packages.insert(literal, name);
        self.heights[literal.place()] = 0;
    }
}
