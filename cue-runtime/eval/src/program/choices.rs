//! What is known of disjunctions once they are compiled: on which names alternatives depend, and which disjunctions
//! say the same. Those are of the same scalars and types in the same order, each of which excludes the others:
//! together they are what each of them is.

use cue_map::{Map, Places};

use super::{Code, ExprId, Program};
use crate::builtin::{Datum, Kinds};

/// Which environments around it an expression depends on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outward {
    /// Not on so many, the nearest ones.
    pub(crate) up: u32,
    /// Only on the next one, and on that for nothing but fields.
    pub(crate) fields_there: bool,
}

/// Which say the same as an earlier one.
#[derive(Clone, Default)]
pub(crate) struct Choices {
    /// One of each, and where it is by what it says.
    firsts: Vec<ExprId>,
    places: Option<Places>,
    /// Of those that are there more than once which one is the first.
    same: Map<ExprId, ExprId>,
}

impl Program {
    /// The first of the disjunctions that say the same as one, which is one of them; none if there are no others.
    pub(crate) fn first_choice(&self, expr: ExprId) -> Option<ExprId> {
        self.choices.same.get(&expr).copied()
    }

    /// One more expression, which may be a disjunction that says the same as another one.
    pub(super) fn note_choice(&mut self, expr: ExprId) {
        let Code::Disjoin(all) = self.code(expr) else { return };
        if !self.exclude_each_other(all) {
            return;
        }
        let says = self.says(expr);
        let firsts = &self.choices.firsts;
        let is = |place: usize| firsts.get(place).is_some_and(|it| self.say_same(*it, expr));
        let known = self.choices.places.as_ref().and_then(|it| it.find(&says, is));
        if let Some(first) = known.and_then(|it| firsts.get(it).copied()) {
            self.choices.same.insert(first, first);
            self.choices.same.insert(expr, first);
            return;
        }
        self.choices.firsts.push(expr);
        let place = self.choices.firsts.len() - 1;
        if !self.choices.places.as_mut().is_some_and(|it| it.push(&says, place)) {
            let all = self.choices.firsts.iter().map(|it| self.says(*it)).enumerate();
            self.choices.places = Places::of(all);
        }
    }

    /// What a disjunction of scalars and types says, as far as it is told apart by that at once.
    fn says(&self, expr: ExprId) -> String {
        let mut says = String::new();
        let Code::Disjoin(all) = self.code(expr) else { return says };
        for (alternative, marked) in all.iter() {
            says.push(if *marked { '*' } else { '|' });
            match self.code(*alternative) {
                Code::Scalar(Datum::String(text)) => says.push_str(text),
                Code::Scalar(Datum::Number(number)) => says.push_str(&number.cue_text()),
                Code::Type(_, name) => says.push_str(name),
                _ => {}
            }
        }
        says
    }

    fn say_same(&self, left: ExprId, right: ExprId) -> bool {
        let (Code::Disjoin(left), Code::Disjoin(right)) = (self.code(left), self.code(right))
        else {
            return false;
        };
        let mut pairs = left.iter().zip(right.iter());
        left.len() == right.len()
            && pairs
                .all(|(left, right)| left.1 == right.1 && self.says_same_scalar(left.0, right.0))
    }

    /// Whether no type among scalars and types has another one of them in it.
    fn exclude_each_other(&self, all: &[(ExprId, bool)]) -> bool {
        let mut scalars = Kinds::BOTTOM;
        let mut types = Kinds::BOTTOM;
        for (expr, _) in all {
            match self.code(*expr) {
                Code::Scalar(datum) => {
                    scalars = scalars.or(crate::compare::kinds(datum));
                }
                Code::Type(kinds, _) if types.meets(*kinds) => return false,
                Code::Type(kinds, _) => types = types.or(*kinds),
                _ => return false,
            }
        }
        !types.meets(scalars)
    }
}
