//! The arrays of one evaluation and their ids. Dropped as a whole.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use cue_syntax::ast::Compare;
use smallvec::{SmallVec, smallvec};

use crate::blocks::Blocks;
use crate::body::Lazy;
use crate::builtin::{Datum, Function, Kinds};
use crate::error::Fault;
use crate::groups::Groups;
use crate::program::{At, ExprId, Label};
use crate::thin::Thin;

mod arc;
mod conjunct;
mod environment;
mod picks;
mod scalar;

pub(crate) use self::arc::{ArcEntry, Contribution};
pub(crate) use self::conjunct::{
    By, Came, Conjunct, Cycle, DataId, Lineage, Narrowed, Placed, Source, Standing, Way, kept,
};
pub(crate) use self::environment::{EnvId, EnvKind, Environments, Key};
pub(crate) use self::picks::{AllPicks, Pick, Picks};
pub(crate) use self::scalar::{Found, Scalar, ScalarId, Scalars};

/// A place in the output tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexId(NonZeroU32);

impl VertexId {
    /// Which of them it is.
    #[inline]
    pub fn number(self) -> u32 {
        self.0.get()
    }

    /// The one of that number, if it can be one.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }
}

/// An error value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FaultId(NonZeroU32); // Option<FaultId> is 4 bytes

/// Room for as many vertices is there from the start: a template of a definition has that many.
const FIRST_VERTICES: usize = 256;

/// What a vertex counts for, with its conjuncts and the arc that leads to it.
const VERTEX_BYTES: usize = 256;

/// What a conjunct counts for that is not the first one of a vertex.
pub(crate) const CONJUNCT_BYTES: usize = 80;

/// What an arc counts for that leads to a vertex which is another one's, too. Sizes are named where they are counted:
/// of what has a pointer in it the sandbox's are others, and what is spent is the same there.
pub(crate) const ARC_BYTES: usize = 48;

/// What a scope counts for, with what is known of the literal it is the inside of.
const ENV_BYTES: usize = 64;

/// What an error counts for.
const FAULT_BYTES: usize = 256;

/// The group of what a definition holds that closes one level (C-7): below that it counts as closed, down
/// to the last field, and refuses nothing.
pub(crate) const COUNTS: u32 = 1;

/// Positions of a way in among which one is looked for that comes again.
const RECENT: usize = 8;

/// A position crossed on the way to a conjunct (cue-errors 2.2): a reference, an embedding, the
/// struct that embeds, a comprehension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    before: u32,
    /// A second way that leads here too.
    also: u32,
    at: At,
    embeds: Embeds,
}

/// Into what that embeds a way leads first: nothing, a file and the vertex that it is said of, or a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Embeds(u32); // 4 bytes: there are many ways

impl Embeds {
    const NOTHING: Self = Self(0);
    const LITERAL: Self = Self(u32::MAX);

    fn file_of(id: VertexId) -> Self {
        Self(id.number())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    New,
    Running,
    /// Put off until a vertex that is being evaluated knows more.
    Suspended,
    Done,
}

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) label: ExprId,
    pub(crate) value: ExprId,
    pub(crate) env: EnvId,
    pub(crate) alias: bool,
    pub(crate) groups: Groups,
    pub(crate) from: Lineage,
}

/// A test that a scalar must pass.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Bound(Compare, Datum),
    /// `uint8` and so on.
    Range(&'static str),
    /// A builtin function waiting for its first argument.
    /// The last is the call as written.
    Call(&'static str, &'static Function, Vec<Datum>, (ExprId, EnvId)),
    /// matchN and the like: evaluated with the vertex.
    Match(ExprId, EnvId),
}

/// `...T`: from which element on it holds, and `T`.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) first: usize,
    pub(crate) value: Option<ExprId>,
    pub(crate) env: EnvId,
    pub(crate) groups: Groups,
    pub(crate) from: Lineage,
}

/// What a closing group demands at a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub(crate) group: u32,
    pub(crate) open: bool,
    /// It says bare `_` or the like.
    pub(crate) top: bool,
    /// It says something of fields.
    pub(crate) shape: bool,
}

impl Closing {
    /// Neither `...` nor a bare top (C-10) nor an open validator (C-11) lifts it.
    pub(crate) fn holds(&self) -> bool {
        !self.open && (self.shape || !self.top)
    }
}

/// How far a value counts as closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closed {
    Not,
    /// Its own fields, as `close` does it.
    Here,
    /// With all that is in it.
    Throughout,
}

/// Alternatives that are left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) all: SmallVec<[VertexId; 4]>,
    pub(crate) defaults: SmallVec<[VertexId; 2]>,
    /// Disjunctions of which not every combination is in `all` yet (see `untried`).
    pub(crate) untried: Vec<Disjunction>,
}

impl Choice {
    /// Defaults stand in the order of the alternatives, however each came to be one (D-7).
    pub(crate) fn order_defaults(&mut self) {
        let Self { all, defaults, .. } = self;
        if !matches!(**defaults, [] | [_]) {
            *defaults = all.iter().filter(|it| defaults.contains(it)).copied().collect();
        }
    }

    /// All of them, each default at the front in the place of what stood there (D-7).
    pub(crate) fn defaults_first(&self) -> Vec<VertexId> {
        let mut all = self.all.to_vec();
        for (front, default) in self.defaults.iter().enumerate() {
            if let Some(at) = all.iter().position(|it| it == default) {
                all.swap(front, at);
            }
        }
        all
    }
}

/// A disjunction among the conjuncts of a vertex: which expression, its marks.
#[derive(Clone, Debug)]
pub(crate) struct Disjunction {
    pub(crate) expr: ExprId,
    pub(crate) marks: Vec<bool>,
    /// The conjuncts that it came with.
    pub(crate) sources: Vec<Conjunct>,
    /// What its alternatives are, where they are those of `or`.
    pub(crate) elements: Vec<VertexId>,
}

impl Disjunction {
    /// Where its alternatives stand; none for those of data.
    pub(crate) fn env(&self) -> Option<EnvId> {
        match self.sources.first()?.source() {
            Source::Expr(_, env) => Some(env),
            Source::Data(_) | Source::Vertex(_) => None,
        }
    }
}

/// What goes on with a vertex, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// A reference is being taken in.
    pub(crate) const TAKES: Self = Self(1);
    /// There may be tasks of it that have not run.
    pub(crate) const TASKED: Self = Self(2);
    /// It may have taken conjuncts of another vertex, which may get more.
    pub(crate) const COPIED: Self = Self(4);
    /// References, dynamic labels and the like are left: they may bring any field.
    pub(crate) const LEFT: Self = Self(8);

    /// Whether it has any of these.
    #[inline]
    pub(crate) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    #[inline]
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// It alone.
    #[inline]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// A place in the output tree and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    pub(crate) parent: Option<VertexId>,
    pub(crate) label: Option<Label>,
    pub(crate) conjuncts: SmallVec<[Conjunct; 1]>,
    pub(crate) state: State,
    /// Shares the value of another vertex.
    pub(crate) forward: Option<VertexId>,
    /// A conjunct that does not repeat what encloses it says something (S-62).
    pub(crate) content: bool,
    pub(crate) kinds: Kinds,
    /// A conjunct said which kinds there may be.
    pub(crate) constrained: bool,
    pub(crate) scalar: Option<ScalarId>,
    /// How the scalar came.
    pub(crate) scalar_via: u32,
    pub(crate) is_struct: bool,
    pub(crate) is_list: bool,
    /// See `Evaluator::narrowed`.
    pub(crate) narrowed: u32,
    /// How the last conjunct came that is of these kinds.
    pub(crate) kinds_via: u32,
    pub(crate) closing: Thin<Closing>,
    /// Its fields were listed before it was finished: there may be no more (S-31).
    pub(crate) frozen: bool,
    /// What goes on with it.
    pub(crate) marks: Marks,
    /// What something in it was closed by that holds it to nothing.
    pub(crate) was_closed: Closed,
    pub(crate) open: bool,
    /// What is left of a choice whose default cannot hold (D rules).
    pub(crate) demoted: bool,
    /// As many vertices were forgotten when it was found without errors throughout; 0 for never.
    pub(crate) sound: u32,
    pub(crate) body: Lazy,
    pub(crate) fault: Option<FaultId>,
    /// How often it was evaluated anew.
    pub(crate) laps: u32,
    /// Alternatives this vertex is tried with.
    pub(crate) picks: Picks,
}

/// The arrays.
pub(crate) struct Heap {
    /// By their numbers; what is at 0 is none.
    vertices: Blocks<Vertex>,
    pub(crate) envs: Environments,
    pub(crate) faults: Faults,
    /// What these hold besides themselves.
    in_faults: usize,
    pub(crate) groups: u32,
    /// How often a vertex was forgotten.
    pub(crate) resets: u32,
    /// Link `n` is at `n - 1`.
    pub(crate) ways: Blocks<Way>,
    /// Position `n` is at `n - 1`.
    crossed: Blocks<Crossed>,
    /// What narrowed the kinds of a vertex, of number `n` at `n - 1`.
    pub(crate) narrowed: Blocks<Narrowed>,
    scalars: Scalars,
    picks: AllPicks,
    data: Blocks<(Datum, u32)>,
}

/// The errors, by their ids.
#[derive(Default)]
pub(crate) struct Faults(Blocks<Fault>);

impl Index<FaultId> for Faults {
    type Output = Fault;

    fn index(&self, id: FaultId) -> &Fault {
        &self.0[id.0.get() as usize - 1]
    }
}

impl IndexMut<FaultId> for Faults {
    fn index_mut(&mut self, id: FaultId) -> &mut Fault {
        &mut self.0[id.0.get() as usize - 1]
    }
}

impl Vertex {
    fn new(parent: Option<VertexId>, label: Option<Label>) -> Self {
        Self {
            parent,
            label,
            conjuncts: SmallVec::new(),
            state: State::New,
            forward: None,
            content: false,
            kinds: Kinds::ANY,
            constrained: false,
            scalar: None,
            scalar_via: 0,
            is_struct: false,
            is_list: false,
            narrowed: 0,
            kinds_via: 0,
            closing: Thin::default(),
            frozen: false,
            marks: Marks::default(),
            was_closed: Closed::Not,
            open: false,
            demoted: false,
            sound: 0,
            body: Lazy::default(),
            fault: None,
            laps: 0,
            picks: Picks::NONE,
        }
    }
}

impl Heap {
    pub(crate) fn new() -> Self {
        let mut vertices = Blocks::with_room(FIRST_VERTICES);
        vertices.push(Vertex::new(None, None));
        Self {
            vertices,
            envs: Environments::default(),
            faults: Faults::default(),
            in_faults: 0,
            groups: COUNTS,
            resets: 0,
            ways: Blocks::default(),
            crossed: Blocks::default(),
            narrowed: Blocks::default(),
            scalars: Scalars::default(),
            picks: AllPicks::default(),
            data: Blocks::default(),
        }
    }

    pub(crate) fn vertex(&mut self, parent: Option<VertexId>, label: Option<Label>) -> VertexId {
        self.made_of(Vertex::new(parent, label))
    }

    /// A field of which something is said from the start.
    pub(crate) fn field(&mut self, parent: VertexId, label: Label, said: Conjunct) -> VertexId {
        let conjuncts = smallvec![said];
        self.made_of(Vertex { conjuncts, ..Vertex::new(Some(parent), Some(label)) })
    }

    #[inline(always)]
    fn made_of(&mut self, vertex: Vertex) -> VertexId {
        let number = self.vertices.push(vertex) as u32 - 1;
        // There is one vertex at least now.
        VertexId(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    #[inline]
    pub(crate) fn get(&self, id: VertexId) -> &Vertex {
        &self.vertices[id.0.get() as usize]
    }

    /// How many vertices there are.
    pub(crate) fn made(&self) -> u32 {
        self.vertices.len() as u32 - 1
    }

    /// The error of a value: of the place it stands at, or else of the vertex that place leads to.
    pub(crate) fn fault_of(&self, place: VertexId, real: VertexId) -> Option<FaultId> {
        self.get(place).fault.or(self.get(real).fault)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: VertexId) -> &mut Vertex {
        &mut self.vertices[id.0.get() as usize]
    }

    /// Memory, roughly: a vertex counts with its conjuncts and fields.
    pub(crate) fn bytes(&self) -> u64 {
        let vertices =
            self.made() as usize * VERTEX_BYTES + self.ways.len() * 32 + self.crossed.len() * 24;
        let faults = self.faults.0.len() * FAULT_BYTES + self.in_faults;
        (vertices + self.envs.len() * ENV_BYTES + faults) as u64
    }

    /// Whether a vertex was found without errors throughout, and nothing was forgotten since.
    pub(crate) fn is_sound(&self, id: VertexId) -> bool {
        self.get(id).sound == self.resets + 1
    }

    /// Every vertex.
    pub(crate) fn vertices(&self) -> impl Iterator<Item = &Vertex> {
        self.vertices.iter().skip(1)
    }

    #[inline(never)]
    pub(crate) fn fault(&mut self, fault: Fault) -> FaultId {
        self.in_faults +=
            fault.positions.len() * size_of::<At>() + fault.causes.len() * FAULT_BYTES;
        let made = self.faults.0.push(fault);
        // There is one at least now.
        FaultId(NonZeroU32::new(made as u32).unwrap_or(NonZeroU32::MIN))
    }

    /// One more position on the way in.
    pub(crate) fn cross(&mut self, before: u32, at: At) -> u32 {
        let embeds = self.embeds(before);
        self.crossed.push(Crossed { before, also: 0, at, embeds }) as u32
    }

    /// Into a literal of a vertex that embeds: only the outermost one on a way counts. A file is one to all that is
    /// said of its vertex.
    pub(crate) fn cross_literal(&mut self, before: u32, at: At, id: VertexId) -> u32 {
        let embeds = self.embeds(before);
        if embeds == Embeds::LITERAL || embeds == Embeds::file_of(id) {
            return before;
        }
        self.crossed.push(Crossed { before, also: 0, at, embeds: Embeds::LITERAL }) as u32
    }

    /// To what a file embeds in a vertex.
    pub(crate) fn cross_file(&mut self, before: u32, at: At, id: VertexId) -> u32 {
        let embeds = match self.embeds(before) {
            Embeds::LITERAL => Embeds::LITERAL,
            _ => Embeds::file_of(id),
        };
        self.crossed.push(Crossed { before, also: 0, at, embeds }) as u32
    }

    fn embeds(&self, via: u32) -> Embeds {
        let last = via.checked_sub(1);
        last.map_or(Embeds::NOTHING, |it| self.crossed[it as usize].embeds)
    }

    /// Both ways in one.
    pub(crate) fn join(&mut self, before: u32, also: u32) -> u32 {
        if also == 0 || also == before {
            return before;
        }
        if before == 0 {
            return also;
        }
        let embeds = self.embeds(before).max(self.embeds(also));
        self.crossed.push(Crossed { before, also, at: At::default(), embeds }) as u32
    }

    /// A way in as it is before it comes to a place.
    pub(crate) fn way_around(&self, via: u32, place: At) -> u32 {
        match via.checked_sub(1).map(|it| self.crossed[it as usize]) {
            Some(it) if it.at == place && it.also == 0 => it.before,
            _ => via,
        }
    }

    /// The positions of a way in.
    pub(crate) fn way_in(&self, via: u32, out: &mut Vec<At>) {
        self.along(via, |at| {
            // Of definitions within themselves the same few come again and again.
            if !out.iter().rev().take(RECENT).any(|it| *it == at) {
                out.push(at);
            }
            false
        });
    }

    /// Whether one of the places on a way in is what is looked for.
    pub(crate) fn along(&self, mut via: u32, mut wanted: impl FnMut(At) -> bool) -> bool {
        let mut found = |at: At| at != At::default() && wanted(at);
        // Most are one behind the other.
        while via != 0 && self.crossed[via as usize - 1].also == 0 {
            let crossed = self.crossed[via as usize - 1];
            if found(crossed.at) {
                return true;
            }
            via = crossed.before;
        }
        if via == 0 {
            return false;
        }
        let mut seen = cue_map::Set::default();
        let mut next: SmallVec<[u32; 16]> = smallvec![via];
        while let Some(via) = next.pop() {
            if via == 0 || !seen.insert(via) {
                continue;
            }
            let crossed = self.crossed[via as usize - 1];
            if found(crossed.at) {
                return true;
            }
            next.extend([crossed.before, crossed.also]);
        }
        false
    }

    pub(crate) fn new_group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }

    /// So many groups, one after the other: the first.
    pub(crate) fn new_groups(&mut self, count: u32) -> u32 {
        self.groups += count;
        self.groups - count + 1
    }

    /// Something begins with a vertex.
    #[inline]
    pub(crate) fn mark(&mut self, id: VertexId, mark: Marks) {
        let marks = &mut self.get_mut(id).marks;
        *marks = marks.with(mark);
    }

    /// And ends.
    #[inline]
    pub(crate) fn unmark(&mut self, id: VertexId, mark: Marks) {
        let marks = &mut self.get_mut(id).marks;
        *marks = marks.without(mark);
    }

    pub(crate) fn arc(&self, id: VertexId, label: Label) -> Option<&ArcEntry> {
        self.get(id).arcs.named(label)
    }

    /// Forgets what evaluation found, so that it is done again with more conjuncts.
    pub(crate) fn reset(&mut self, id: VertexId) {
        self.resets += 1;
        let vertex = self.get_mut(id);
        let mut fresh = Vertex::new(vertex.parent, vertex.label);
        fresh.conjuncts = std::mem::take(&mut vertex.conjuncts);
        fresh.frozen = vertex.frozen;
        fresh.marks = vertex.marks.without(Marks::TAKES);
        fresh.laps = vertex.laps + 1;
        *vertex = fresh;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Large values are so many of these.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_value_takes_no_more_than_it_did() {
        assert_eq!(size_of::<Vertex>(), 128);
        assert_eq!(size_of::<ArcEntry>(), ARC_BYTES);
        assert_eq!(size_of::<crate::program::Code>(), 24);
        assert_eq!(size_of::<Conjunct>(), 48);
        assert_eq!(size_of::<environment::Env>(), 28);
    }
}
