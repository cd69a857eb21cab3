//! The order of a struct's fields where it is printed (O-1 to O-16): a topological sort of the
//! order inside each literal, by name where nothing decides. `for` iterates insertion order.

use smallvec::{SmallVec, smallvec};

use crate::attach::NOWHERE;
use crate::copied::Reach;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Placed, Source, VertexId};
use crate::program::{At, Code, DeclLabel, Declaration, ExprId, Label, Presence};

mod edges;
mod literals;
mod positions;
mod written;

/// What the default of a field is for the order of its own fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defaults {
    /// A value: in JSON, and where fields are listed.
    Values,
    /// One of the alternatives: in YAML and CUE.
    Alternatives,
}

/// A literal, or data, with its position and whether an operand of `&` brought it.
struct Ranked {
    /// Its number in [`Literals`].
    placed: usize,
    at: Option<At>,
    explicit: bool,
    /// The references by which what it says of fields came.
    through: SmallVec<[ExprId; 2]>,
}

impl Evaluator {
    /// Members in the order they are printed in.
    pub(crate) fn ordered(&self, id: VertexId) -> Vec<ArcEntry> {
        let arcs = &self.heap.get(id).arcs;
        match self.order_of(id) {
            Some(order) => order.into_iter().map(|at| arcs[at].clone()).collect(),
            None => arcs.to_vec(),
        }
    }

    /// Labels, vertices and presence of members in the order they are printed in.
    pub(crate) fn ordered_members(&self, id: VertexId) -> Vec<(Label, VertexId, Presence)> {
        let arcs = &self.heap.get(id).arcs;
        let member = |it: &ArcEntry| (it.label, it.vertex, it.presence);
        match self.order_of(id) {
            Some(order) => order.into_iter().map(|at| member(&arcs[at])).collect(),
            None => arcs.iter().map(member).collect(),
        }
    }

    /// Places of arcs in the order they are printed in; `None` if they stand in it already.
    fn order_of(&self, id: VertexId) -> Option<Vec<usize>> {
        let order =
            || self.order_as_shared(id).or_else(|| self.order_of_own(id, self.reach_of(id)));
        if self.stands_in_order(id) { None } else { order() }
    }

    /// Whether a vertex is a list, or of one literal.
    fn stands_in_order(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let single = vertex.placed.len() <= 1
            && vertex.placed.iter().all(|it| it.produced.is_empty() && !self.may_name(it))
            && vertex.arcs.iter().all(|it| it.is_declared() != vertex.placed.is_empty());
        vertex.is_list || vertex.arcs.len() < 2 || single && !self.has_data_beside(id)
    }

    /// The order that what is said of the vertex itself gives.
    pub(crate) fn order_of_own(&self, id: VertexId, reach: Reach) -> Option<Vec<usize>> {
        if self.stands_in_order(id) {
            return None;
        }
        if let Some(keys) = self.written_places(id, reach) {
            let compare = &mut |one: usize, other: usize| keys[one].cmp(&keys[other]);
            let sorted = keys.is_sorted();
            return (!sorted).then(|| cue_sort::order(keys.len(), compare));
        }
        let literals = self.placed_and_given(id);
        let mut ranked = self.positions(id, &literals, reach);
        self.mark_explicit(id, &mut ranked);
        if !literals.has_data()
            && let Some(order) = self.in_a_row(id, &ranked)
        {
            return Some(order);
        }
        Some(self.sorted(id, &self.edges(id, &literals, ranked)))
    }

    /// Whether a comprehension of the literal may have named fields ahead of it (O-4): what it brought
    /// nothing of stands where the literal has it.
    fn may_name(&self, placed: &Placed) -> bool {
        let mut all = self.program.structs[placed.literal as usize].declarations.iter();
        all.any(|it| matches!(it, Declaration::Comprehension(_)))
    }

    /// The order where one literal has all fields and the others have some in the same order, all of them operands
    /// of `&` in one file: the edges below say the same then.
    fn in_a_row(&self, id: VertexId, ranked: &[Ranked]) -> Option<Vec<usize>> {
        let vertex = self.heap.get(id);
        let plain = |it: &Placed| {
            let round = it.is_computed() || it.firing != 0 && it.repeats > 0;
            it.produced.is_empty() && !round && it.at.span != NOWHERE
        };
        let source = ranked.first()?.at?.source;
        let operand = |it: &Ranked| it.explicit && it.at.is_some_and(|at| at.source == source);
        if !vertex.placed.iter().all(plain) || !ranked.iter().all(operand) {
            return None;
        }
        let nodes = |it: &Ranked| {
            let literal = vertex.placed[it.placed].literal;
            let declarations = self.program.structs[literal as usize].declarations.iter();
            declarations.filter_map(|it| match it {
                Declaration::Field { label: DeclLabel::Fixed(label), .. } => {
                    vertex.arcs.place(*label)
                }
                _ => None,
            })
        };
        let longest = ranked.iter().max_by_key(|it| nodes(it).count())?;
        let mut rank: SmallVec<[usize; 32]> = smallvec![usize::MAX; vertex.arcs.len()];
        let mut order: Vec<usize> = Vec::with_capacity(vertex.arcs.len());
        for node in nodes(longest) {
            if rank[node] == usize::MAX {
                rank[node] = order.len();
                order.push(node);
            }
        }
        let follows = |it: &Ranked| nodes(it).is_sorted_by_key(|node| rank[node]);
        if !ranked.iter().all(follows) {
            return None;
        }
        let data = vertex.arcs.iter().enumerate().filter(|it| !it.1.is_declared());
        order.extend(data.map(|it| it.0).filter(|node| rank[*node] == usize::MAX));
        (order.len() == vertex.arcs.len()).then_some(order)
    }

    /// Step B: literals that are operands of `&`, or come through a reference that is one.
    fn mark_explicit(&self, id: VertexId, ranked: &mut [Ranked]) {
        let vertex = self.heap.get(id);
        let mut expressions: SmallVec<[ExprId; 8]> = SmallVec::new();
        for placed in &vertex.placed {
            for declaration in &self.program.structs[placed.literal as usize].declarations {
                if let Declaration::Embed(expr) = declaration {
                    expressions.push(*expr);
                }
            }
        }
        // What a choice was made of counts as several declarations, unless it has come down to one
        // alternative or its default is looked at as a value of its own: that stands for the choice.
        let field = self.field_of(id);
        let defaults = field.and_then(|it| self.heap.get(it).choice.as_deref());
        let default = defaults.is_some_and(|it| matches!(*it.defaults, [it] if it == id));
        let taken = default && self.defaults == Defaults::Values;
        let picks = self.heap.picks(id);
        let picked = |expr: ExprId| {
            let pick = picks.iter().find(|it| it.0 == expr)?;
            self.program.alternative(*pick)
        };
        let says = |it: ExprId| !matches!(self.program.code(it), Code::Top);
        let chosen =
            field != Some(id) && !taken && picks.iter().any(|it| picked(it.0).is_some_and(says));
        let embedded = expressions.len();
        for conjunct in vertex.conjuncts.iter().filter(|_| !chosen) {
            if let Source::Expr(expr, _) = conjunct.source() {
                expressions.push(expr);
            }
        }
        // Few, as a rule: sorted they are found as fast as in a set.
        let mut operands: SmallVec<[ExprId; 8]> = SmallVec::new();
        while let Some(expr) = expressions.pop() {
            let of_field = expressions.len() >= embedded;
            if let Code::Unify(left, right) = self.program.code(expr) {
                for side in [*left, *right] {
                    operands.push(side);
                    expressions.push(side);
                }
            } else if let Code::Aliased(inner) = self.program.code(expr) {
                expressions.push(*inner);
            } else if let Some(it) = picked(expr).filter(|_| taken && of_field) {
                // It is an operand where the choice is one.
                if operands.contains(&expr) {
                    operands.push(it);
                }
                expressions.push(it);
            }
        }
        if operands.is_empty() {
            return;
        }
        cue_sort::ascending(&mut operands);
        let mut structs: SmallVec<[u32; 8]> = SmallVec::new();
        for operand in &operands {
            if let Code::Struct(literal) = self.program.code(*operand) {
                structs.push(*literal);
            }
        }
        cue_sort::ascending(&mut structs);
        let is_operand = |it: &ExprId| operands.binary_search(it).is_ok();
        for each in ranked {
            let literal = vertex.placed.get(each.placed).map(|it| it.literal);
            let operand = literal.is_some_and(|it| structs.binary_search(&it).is_ok());
            each.explicit |= operand || each.through.iter().any(is_operand);
        }
    }

    /// What the field of a vertex has come to: the vertex, or the choice that it is an alternative of.
    pub(crate) fn field_of(&self, id: VertexId) -> Option<VertexId> {
        let vertex = self.heap.get(id);
        Some(self.follow(self.heap.arc(vertex.parent?, vertex.label?)?.vertex))
    }
}
