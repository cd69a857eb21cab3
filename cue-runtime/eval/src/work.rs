//! What is still to do for a vertex while it is evaluated: conjuncts, comprehensions, choices, and what of
//! that waits.

use std::collections::VecDeque;

use cue_map::Map;

use crate::groups::{Groups, Known};
use crate::heap::{
    CONJUNCT_BYTES, Conjunct, Disjunction, EnvId, FaultId, Lineage, Pattern, Standing, VertexId,
};
use crate::met::Met;
use crate::program::{At, ExprId, Presence, Program};
use crate::reference::Reach;
use crate::waiting::Left;

/// What is counted for a literal or an expression that was met.
const MET_BYTES: usize = 72;

/// What is counted for a field without a label yet.
const COMPUTED_BYTES: usize = 128;

/// Among as many that wait one is looked for that comes once more.
const FEW_NEAR: usize = 16;

/// A comprehension that has not yielded yet.
pub(crate) struct Pending {
    pub(crate) index: u32,
    pub(crate) env: EnvId,
    pub(crate) groups: Groups,
    pub(crate) close_as: Option<u32>,
    pub(crate) outer: Option<ExprId>,
    pub(crate) from: Lineage,
    /// Of guards in what a comprehension brings: its execution (O-9).
    pub(crate) firing: u32,
}

/// A field whose label is not known yet.
pub(crate) struct Computed {
    pub(crate) label: ExprId,
    pub(crate) env: EnvId,
    pub(crate) presence: Presence,
    pub(crate) value: ExprId,
    pub(crate) notes: u32,
    pub(crate) at: At,
    pub(crate) groups: Groups,
    pub(crate) placed: u32,
    pub(crate) outer: Option<ExprId>,
    pub(crate) from: Lineage,
    /// Why it is not.
    pub(crate) fault: Option<FaultId>,
}

/// A reference that leads round; it waits until the vertex has content of its own.
pub(crate) struct Parked {
    pub(crate) target: VertexId,
    pub(crate) conjunct: Conjunct,
    pub(crate) reach: Reach,
    /// The target encloses the vertex.
    pub(crate) encloses: bool,
    /// The target was reached by another reference before.
    pub(crate) other: bool,
}

/// What is still to do for a vertex.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) conjuncts: Vec<Conjunct>,
    /// What patterns write: after the rest that is written.
    pub(crate) late: VecDeque<Conjunct>,
    /// References and what has to be computed: after what is written (S-23).
    pub(crate) later: VecDeque<Conjunct>,
    pub(crate) seen: Met<(ExprId, EnvId), (Groups, Standing)>,
    /// The newest environments in `seen` and in `inner`: what is newer has not been met.
    pub(crate) newest_seen: Option<EnvId>,
    pub(crate) newest_inner: Option<EnvId>,
    /// The last literal that was placed, in the order they are written in.
    pub(crate) newest_literal: Option<u32>,
    /// The newest group of a conjunct that was met: a newer one has not been.
    pub(crate) newest_group: u32,
    /// Vertices that were taken, and in which `x...`; for which closing values.
    pub(crate) seen_vertices: Met<(VertexId, Option<u32>), (Known, Standing)>,
    /// The environment and the embedding group of a literal that came in; it comes again for other closing values.
    pub(crate) inner: Met<(u32, EnvId), (EnvId, Option<u32>)>,
    /// The groups of calls to `close`, by the argument and what they stand beside.
    pub(crate) calls_to_close: Met<(ExprId, EnvId, u32), u32>,
    /// Bodies of loops that embed, by what is around all of their rounds: the environment of the first, and its place
    /// in `inner`.
    pub(crate) rounds: Map<(u32, EnvId), (EnvId, usize)>,
    /// What is around all rounds of such a body, by its environment: bodies within it are in that, too.
    pub(crate) around_bodies: Map<EnvId, EnvId>,
    /// The environments of values with an alias that came in: once more they are the same.
    pub(crate) aliased: Vec<(ExprId, EnvId, EnvId)>,
    pub(crate) comprehensions: VecDeque<Pending>,
    /// Those that were tried in vain, and why.
    pub(crate) waiting: Vec<(Pending, FaultId)>,
    /// Conjuncts that wait.
    pub(crate) held: Vec<(Conjunct, FaultId)>,
    pub(crate) disjunctions: Vec<Disjunction>,
    /// Alternatives the vertex is tried with: they come after all it is without them (D-7).
    pub(crate) picked: VecDeque<Conjunct>,
    pub(crate) computed: Vec<Computed>,
    /// Patterns that a call gives: it may look at the fields that are written.
    pub(crate) patterns: VecDeque<Pattern>,
    pub(crate) parked: Vec<Parked>,
    /// A reference led to what encloses the vertex.
    pub(crate) encloses: bool,
    /// A reference repeats what leads to it.
    pub(crate) repeats: bool,
    /// Executions of comprehensions so far.
    pub(crate) firings: u32,
    /// Bytes of the closing values in `seen`: who embeds much has other ones with all that it embeds.
    pub(crate) met_groups: usize,
    /// Bytes of it that the evaluation has counted.
    pub(crate) counted: u64,
}

impl Work {
    /// Whether references or dynamic labels are still to be done.
    pub(crate) fn left(&self) -> Left {
        let done = self.late.is_empty()
            && self.later.is_empty()
            && self.computed.is_empty()
            && self.held.is_empty()
            && self.picked.is_empty();
        if done { Left::Nothing } else { Left::Some }
    }

    /// Whether nothing waits, nothing is to be chosen, and what is left to do is nothing.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.comprehensions.is_empty()
            && self.disjunctions.is_empty()
            && self.waiting.is_empty()
            && self.left() == Left::Nothing
            && self.patterns.is_empty()
            && self.parked.is_empty()
            && !self.repeats
    }

    /// Bytes it takes, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        let conjuncts = self.conjuncts.len() + self.late.len() + self.later.len();
        let met = self.seen.len() + self.inner.len();
        let known = met * MET_BYTES + self.met_groups;
        (conjuncts * CONJUNCT_BYTES + known + self.computed.len() * COMPUTED_BYTES) as u64
    }

    /// Ready for another vertex; what was allocated stays.
    pub(crate) fn clear(&mut self) {
        let Work {
            conjuncts,
            late,
            later,
            seen,
            newest_seen,
            newest_inner,
            newest_literal,
            newest_group,
            seen_vertices,
            inner,
            calls_to_close,
            rounds,
            around_bodies,
            aliased,
            comprehensions,
            waiting,
            held,
            disjunctions,
            picked,
            computed,
            patterns,
            parked,
            encloses,
            repeats,
            firings,
            met_groups,
            // What was counted is not cleared but given back.
            counted: _,
        } = self;
        // Most are empty, which is seen faster than they are emptied.
        macro_rules! clear {
            ($($all:ident)*) => {$(
                if !$all.is_empty() {
                    $all.clear();
                }
            )*};
        }
        clear!(conjuncts late later picked comprehensions waiting held disjunctions computed);
        clear!(seen seen_vertices inner calls_to_close rounds around_bodies aliased);
        clear!(patterns parked);
        (*newest_seen, *newest_inner, *newest_literal) = (None, None, None);
        (*newest_group, *firings, *met_groups) = (0, 0, 0);
        (*encloses, *repeats) = (false, false);
    }

    /// What is computed waits for its turn. Of what is embedded several ways one waits for all: through diamonds of
    /// embeddings there are as many as 2 to their depth.
    pub(crate) fn put_off(&mut self, conjunct: Conjunct) {
        let near = if conjunct.beside == 0 { 0 } else { FEW_NEAR };
        let mut near = self.later.iter_mut().rev().take(near);
        match near.find(|it| it.is_once_more(&conjunct)) {
            Some(waiting) => drop(waiting.groups.join(&conjunct.groups)),
            None => self.later.push_back(conjunct),
        }
    }

    /// Whether one of the groups is newer than all that were met; notes them.
    pub(crate) fn brings_group(&mut self, groups: &Groups) -> bool {
        let newest = groups.iter().copied().max().unwrap_or(0);
        let brings = newest > self.newest_group;
        self.newest_group = self.newest_group.max(newest);
        brings
    }

    /// A disjunction counts once, for however many closing values it comes, and so do those that say
    /// the same.
    pub(crate) fn disjoin(&mut self, disjunction: Disjunction, program: &Program) {
        let first = program.first_choice(disjunction.expr);
        let same = |it: &Disjunction| {
            it.expr == disjunction.expr || first.is_some() && program.first_choice(it.expr) == first
        };
        match self.disjunctions.iter_mut().find(|it| same(it)) {
            Some(known) => known.sources.extend(disjunction.sources),
            None => self.disjunctions.push(disjunction),
        }
    }
}
