//! Vertices with many conjuncts: whether one is there already is asked once for each that comes.

use cue_map::Map;

use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, Source, VertexId};

/// Of as many each is looked at.
const FEW: usize = 16;

/// What a conjunct is, without its groups: data is never the same.
type Same = (u32, u32);

/// Where the conjuncts of one vertex are.
#[derive(Default)]
pub(crate) struct Crowd {
    /// How many are in `places`.
    known: usize,
    places: Map<Same, u32>,
}

/// Expressions and vertices in one numbering: environments are counted from 1 here.
fn same(conjunct: &Conjunct) -> Option<Same> {
    match conjunct.source() {
        Source::Expr(expr, env) => Some((expr.number(), env.index() as u32 + 1)),
        Source::Vertex(id) => Some((id.number(), 0)),
        Source::Data(_) => None,
    }
}

impl Evaluator {
    /// Where a vertex has the same conjunct.
    pub(crate) fn place_of(&mut self, id: VertexId, conjunct: &Conjunct) -> Option<usize> {
        let wanted = same(conjunct)?;
        let conjuncts = &self.heap.get(id).conjuncts;
        if conjuncts.len() <= FEW {
            return conjuncts.iter().position(|it| same(it) == Some(wanted));
        }
        let crowd = self.crowds.entry(id).or_default();
        if crowd.known > conjuncts.len() {
            *crowd = Crowd::default();
        }
        for (place, it) in conjuncts.iter().enumerate().skip(crowd.known) {
            if let Some(same) = same(it) {
                crowd.places.entry(same).or_insert(place as u32);
            }
        }
        crowd.known = conjuncts.len();
        crowd.places.get(&wanted).map(|place| *place as usize)
    }
}
