//! Keywords about lists.

use cue_syntax::scan::T;
use cue_syntax::tree::{Kind, NodeId};

use super::Decoder;
use super::data::{Content, Id};
use super::keywords::Bound;
use super::kinds::{Core, Kinds};
use super::state::State;
use super::version::{Version, Versions};

/// Most elements that a list is said to have one by one.
const MOST: u64 = 100_000;

impl Decoder<'_> {
    /// `items`: what each element is, or in older versions each for itself.
    pub(super) fn items(&mut self, key: &str, of: Id, state: &mut State) {
        match self.data[of].content {
            Content::Struct(_) | Content::Bool(_) => {
                let each = self.schema(of, &state.outer());
                self.made.flow(each);
                match state.list {
                    // Beside those that are told one by one it is about the others.
                    Some(list) => self.rest(list, each),
                    None => {
                        let ellipsis = self.made.ellipsis(Some(each));
                        let list = self.made.list(&[ellipsis]);
                        self.add(state, of, Core::Array, list);
                    }
                }
                state.has_items = true;
            }
            Content::List(_) if !state.is(Versions::up_to(Version::Draft2019)) => {
                let version = Version::Draft2020.text();
                let text = "the value of \"items\" must be an object or a boolean";
                self.problem(of, format!("from version {version} onwards, {text}"));
            }
            Content::List(_) => {
                state.items_are_several = true;
                self.prefix_items(key, of, state);
            }
            _ => {}
        }
    }

    /// `prefixItems`
    pub(super) fn prefix_items(&mut self, key: &str, of: Id, state: &mut State) {
        if self.data.kind(of) != Kinds::LIST {
            self.problem(of, "value of \"prefixItems\" must be an array");
        }
        let mut elements = Vec::new();
        for it in self.elements(key, of) {
            let element = self.schema(it, &state.outer());
            self.made.flow(element);
            elements.push(element);
        }
        elements.push(self.made.ellipsis(None));
        let list = self.made.list(&elements);
        state.list = Some(list);
        self.add(state, of, Core::Array, list);
    }

    /// `additionalItems`
    pub(super) fn additional_items(&mut self, of: Id, state: &mut State) {
        let each = match self.data[of].content {
            Content::Bool(_) => self.boolean(of),
            Content::Struct(_) => self.schema(of, &state.outer()),
            _ => {
                self.problem(of, "value of \"additionalItems\" must be an object or boolean");
                return;
            }
        };
        if let Some(list) = state.list.filter(|_| state.items_are_several) {
            self.rest(list, each);
        }
    }

    /// Says what the elements behind those that are told one by one are.
    fn rest(&mut self, list: NodeId, each: NodeId) {
        let closed = self.is_disallowed(each);
        let any = self.made.is_top(each);
        let Kind::List { elements, .. } = &mut self.made.tree[list].kind else { return };
        if closed {
            elements.pop();
            return;
        }
        let last = elements.last().copied();
        if let Some(last) = last.filter(|_| !any) {
            self.made.tree[last].kind = Kind::Ellipsis(Some(each));
        }
    }

    fn is_disallowed(&self, expr: NodeId) -> bool {
        match &self.made.tree[expr].kind {
            Kind::Call { callee, .. } => {
                matches!(&self.made.tree[*callee].kind, Kind::Ident(name) if &**name == "error")
            }
            _ => false,
        }
    }

    /// `minContains`, `maxContains`
    pub(super) fn contained(&mut self, bound: Bound, key: &str, of: Id, state: &mut State) {
        let count = self.whole(of);
        if count.is_none() {
            self.problem(of, format!("value of {key:?} must be a non-negative integer value"));
            return;
        }
        match bound {
            Bound::Least => state.least_contained = count,
            Bound::Most => state.most_contained = count,
        }
    }

    /// `contains`
    pub(super) fn contains(&mut self, of: Id, state: &mut State) {
        let schema = self.schema(of, &state.outer());
        self.made.flow(schema);
        let least = self.made.count(state.least_contained.unwrap_or(1));
        let mut count = self.made.unary(T::Geq, least);
        if let Some(most) = state.most_contained {
            let most = self.made.count(most);
            let most = self.made.unary(T::Leq, most);
            count = self.made.joined(T::And, &[count, most]).unwrap_or(count);
        }
        let expr = self.made.call_in("list", "MatchN", &[count, schema]);
        self.add(state, of, Core::Array, expr);
    }

    /// `minItems`, `maxItems`
    pub(super) fn item_count(&mut self, bound: Bound, of: Id, state: &mut State) {
        if bound == Bound::Most {
            let count = self.count(of);
            let count = self.made.count(count);
            let expr = self.made.call_in("list", "MaxItems", &[count]);
            self.add(state, of, Core::Array, expr);
            return;
        }
        let count = self.count(of);
        if count > MOST {
            self.problem(of, format!("\"minItems\" value must not be greater than {MOST}"));
            return;
        }
        let mut elements: Vec<NodeId> = (0..count).map(|_| self.made.top()).collect();
        elements.push(self.made.ellipsis(None));
        let list = self.made.list(&elements);
        self.add(state, of, Core::Array, list);
    }

    /// `uniqueItems`
    pub(super) fn unique_items(&mut self, of: Id, state: &mut State) {
        if !self.truth(of) {
            return;
        }
        if state.is(Versions::KUBERNETES) {
            self.problem(of, "cannot set uniqueItems to true in a Kubernetes schema");
            return;
        }
        let expr = self.made.call_in("list", "UniqueItems", &[]);
        self.add(state, of, Core::Array, expr);
    }
}
