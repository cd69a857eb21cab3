//! Keywords that combine schemas: all, any, one or none of them, and one on the condition of another.

use cue_syntax::scan::T;

use super::Decoder;
use super::data::Id;
use super::kinds::Kinds;
use super::state::{Asked, State};

impl Decoder<'_> {
    /// `matchN(count, [schemas])`
    fn matched(
        &mut self,
        count: usize,
        schemas: &[cue_syntax::tree::NodeId],
    ) -> cue_syntax::tree::NodeId {
        let count = self.made.count(count as u64);
        let list = self.made.list(schemas);
        self.made.call("matchN", &[count, list])
    }

    fn combined(&mut self, key: &str, of: Id) -> Vec<Id> {
        let schemas = self.some_elements(key, of);
        if schemas.is_empty() {
            self.problem(of, format!("{key} requires at least one subschema"));
        }
        schemas
    }

    /// `allOf`
    pub(super) fn all_of(&mut self, of: Id, state: &mut State) {
        let schemas = self.combined("allOf", of);
        let mut known = Kinds::NONE;
        let mut all = Vec::with_capacity(schemas.len());
        for it in &schemas {
            let (expr, info) = self.schema_of(*it, &state.outer(), Asked::of(state.info.allowed));
            state.info.allowed &= info.allowed;
            if info.constrained {
                known |= info.known;
                all.push(expr);
            }
        }
        if !all.is_empty() {
            state.info.known &= known;
        }
        let expr = match all.as_slice() {
            [] => return,
            [only] => *only,
            _ => self.matched(schemas.len(), &all),
        };
        self.add_to_all(state, of, expr);
    }

    /// `anyOf`
    pub(super) fn any_of(&mut self, of: Id, state: &mut State) {
        let schemas = self.combined("anyOf", of);
        if schemas.is_empty() {
            return;
        }
        let (mut kinds, mut known) = (Kinds::NONE, Kinds::NONE);
        let mut all = Vec::with_capacity(schemas.len());
        for it in schemas {
            let (expr, info) = self.schema_of(it, &state.outer(), Asked::of(state.info.allowed));
            if !info.allowed.is_empty() {
                kinds |= info.allowed;
                known |= info.known;
                all.push(expr);
            }
        }
        match all.as_slice() {
            [] => state.info.allowed = Kinds::NONE,
            [only] => self.add_to_all(state, of, *only),
            _ => {
                state.info.allowed &= kinds;
                state.info.known &= known;
                let one = self.made.count(1);
                let least = self.made.unary(T::Geq, one);
                let list = self.made.list(&all);
                let expr = self.made.call("matchN", &[least, list]);
                self.add_to_all(state, of, expr);
            }
        }
    }

    /// `oneOf`
    pub(super) fn one_of(&mut self, of: Id, state: &mut State) {
        let schemas = self.combined("oneOf", of);
        if schemas.is_empty() {
            return;
        }
        let (mut kinds, mut known) = (Kinds::NONE, Kinds::NONE);
        // Kinds that exclude each other need no constraint beside the kinds that are allowed.
        let mut needed = false;
        let mut all = Vec::with_capacity(schemas.len());
        for it in schemas {
            let (expr, info) = self.schema_of(it, &state.outer(), Asked::of(state.info.allowed));
            if !info.allowed.is_empty() {
                needed |= info.constrained || kinds.meets(info.allowed);
                kinds |= info.allowed;
                known |= info.known;
                all.push(expr);
            }
        }
        state.info.allowed &= kinds;
        if all.is_empty() || !needed {
            return;
        }
        state.info.known &= known;
        let expr = match all.as_slice() {
            [only] => *only,
            _ => self.matched(1, &all),
        };
        self.add_to_all(state, of, expr);
    }

    /// `not`
    pub(super) fn not(&mut self, of: Id, state: &mut State) {
        let schema = self.schema(of, &state.outer());
        let expr = self.matched(0, &[schema]);
        self.add_to_all(state, of, expr);
    }

    /// `if`, `then`, `else`, once all other keywords are known.
    pub(super) fn conditional(&mut self, value: Id, state: &mut State) {
        let Some(when) = state.when else { return };
        if state.then.is_none() && state.otherwise.is_none() {
            return;
        }
        let (allowed, outer) = (state.info.allowed, state.outer());
        let (when, info) = self.schema_of(when, &outer, Asked::of(allowed));
        let then = match state.then {
            Some(it) => self.schema_of(it, &outer, Asked::of(allowed & info.allowed)).0,
            None => self.made.top(),
        };
        let otherwise = match state.otherwise {
            Some(it) => self.schema_of(it, &outer, Asked::of(allowed)).0,
            None => self.made.top(),
        };
        let expr = self.made.call("matchIf", &[when, then, otherwise]);
        self.add_to_all(state, value, expr);
    }
}
