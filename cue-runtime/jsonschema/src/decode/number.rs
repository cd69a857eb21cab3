//! Keywords about numbers, and numbers that other keywords have.

use cue_builtin::number::Number;
use cue_syntax::scan::T;

use super::Decoder;
use super::data::{Content, Id};
use super::keywords::Bound;
use super::kinds::Core;
use super::state::State;

impl Decoder<'_> {
    /// `exclusiveMinimum`, `exclusiveMaximum`: bounds of their own, or in older versions a word about the others.
    pub(super) fn exclusive(&mut self, bound: Bound, of: Id, state: &mut State) {
        let is_word = matches!(self.data[of].content, Content::Bool(_));
        let op = match bound {
            Bound::Least if is_word => return state.exclusive_minimum = true,
            Bound::Most if is_word => return state.exclusive_maximum = true,
            Bound::Least => T::Gtr,
            Bound::Most => T::Lss,
        };
        self.bound(op, of, state);
    }

    /// `minimum`, `maximum`
    pub(super) fn limit(&mut self, bound: Bound, of: Id, state: &mut State) {
        let op = match bound {
            Bound::Least if state.exclusive_minimum => T::Gtr,
            Bound::Least => T::Geq,
            Bound::Most if state.exclusive_maximum => T::Lss,
            Bound::Most => T::Leq,
        };
        self.bound(op, of, state);
    }

    fn bound(&mut self, op: T, of: Id, state: &mut State) {
        let number = self.scalar(of);
        let expr = self.made.unary(op, number);
        self.add(state, of, Core::Number, expr);
    }

    /// `multipleOf`
    pub(super) fn multiple_of(&mut self, of: Id, state: &mut State) {
        let number = self.scalar(of);
        let positive = match &self.data[of].content {
            Content::Number(it) => !it.is_zero() && !it.is_negative(),
            _ => false,
        };
        if !positive {
            let shown = self.shown(of);
            self.problem(of, format!("\"multipleOf\" value must be > 0; found {shown}"));
        }
        let expr = self.made.call_in("math", "MultipleOf", &[number]);
        self.add(state, of, Core::Number, expr);
    }

    /// How many of something a keyword says; what is no count is told and counts as none.
    pub(super) fn count(&mut self, of: Id) -> u64 {
        let count = self.whole(of);
        if count.is_none() {
            self.problem(of, "invalid uint");
        }
        count.unwrap_or_default()
    }

    /// A number that counts something, if it is one.
    pub(super) fn whole(&self, of: Id) -> Option<u64> {
        let Content::Number(number) = &self.data[of].content else { return None };
        counted(number)
    }
}

/// A whole number that is not negative, also one that is written as a fraction.
fn counted(number: &Number) -> Option<u64> {
    if number.is_int() {
        return number.to_bigint()?.try_into().ok();
    }
    let float = number.to_f64();
    let fits = float >= 0.0 && float.fract() == 0.0 && float < u64::MAX as f64;
    fits.then_some(float as u64)
}
