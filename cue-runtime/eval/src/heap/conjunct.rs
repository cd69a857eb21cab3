//! What must hold at a vertex: the demand itself, and how it came there.

use std::fmt;
use std::num::NonZeroU32;

use super::{Closed, EnvId, Heap, VertexId};
use crate::builtin::Datum;
use crate::groups::Groups;
use crate::program::{At, ExprId, Label};
use crate::thin::Thin;

/// What must hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Expr(ExprId, EnvId),
    Data(DataId),
    /// Every conjunct of another vertex.
    Vertex(VertexId),
}

/// Data that must hold somewhere: number `n` is at `n - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataId(pub(super) NonZeroU32);

/// The same in two words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed {
    what: NonZeroU32,
    /// The environment, or what else it is.
    place: u32,
}

impl Packed {
    const DATA: u32 = u32::MAX;
    const VERTEX: u32 = u32::MAX - 1;

    #[inline]
    fn unpacked(self) -> Source {
        match self.place {
            Self::DATA => Source::Data(DataId(self.what)),
            Self::VERTEX => Source::Vertex(VertexId(self.what)),
            env => Source::Expr(ExprId::numbered(self.what), EnvId::numbered(env)),
        }
    }
}

impl From<Source> for Packed {
    #[inline]
    fn from(source: Source) -> Self {
        let (what, place) = match source {
            Source::Expr(expr, env) => (expr.marked(0), env.number()),
            Source::Data(data) => (data.0, Self::DATA),
            Source::Vertex(vertex) => (vertex.0, Self::VERTEX),
        };
        Self { what, place }
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unpacked().fmt(f)
    }
}

impl Heap {
    /// Keeps data that must hold somewhere, with its spot.
    pub(crate) fn keep_data(&mut self, datum: Datum, spot: u32) -> Source {
        let made = self.data.push((datum, spot));
        // There is one at least now.
        Source::Data(DataId(NonZeroU32::new(made as u32).unwrap_or(NonZeroU32::MIN)))
    }

    /// Such data.
    pub(crate) fn data(&self, id: DataId) -> &Datum {
        &self.data[id.0.get() as usize - 1].0
    }

    /// Its spot (see `spots`).
    pub(crate) fn spot(&self, id: DataId) -> u32 {
        self.data[id.0.get() as usize - 1].1
    }
}

/// What must hold at a vertex, and as part of which closing values.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    pub(crate) source: Packed,
    pub(crate) groups: Groups,
    /// For an embedding: the group that closed values embedded here close.
    pub(crate) close_as: Option<NonZeroU32>,
    /// Came through a reference.
    pub(crate) by_reference: bool,
    /// The reference followed first on the way in.
    pub(crate) outer: Option<ExprId>,
    /// The execution of a comprehension that made it, or [`FURTHER_OUT`] what it stands in; 0 for none.
    pub(crate) firing: u32,
    /// How it takes part in cycles; what it brings inherits this (S-62).
    pub(crate) cycle: Cycle,
    /// References followed to reach it: the last link, 0 for none.
    pub(crate) way: u32,
    /// Positions crossed on the way in, for messages: the last, 0 for none.
    pub(crate) via: u32,
    /// Of a pattern or `...T`: it comes after what is written (S-23).
    pub(crate) late: bool,
    /// What it was closed by that holds whoever it was taken for to nothing.
    pub(crate) was_closed: Closed,
    /// Of what is embedded: the mark of what stands beside it; 0 for none (C-12).
    pub(crate) beside: u32,
    /// Of data: where it stands (see `spots`), 0 for nowhere. Of anything else its scope, 0 for none.
    pub(crate) spot: u32,
}

/// Where something stands among what embeds: all but its groups by which closing values tell one arrival of it from another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    close_as: Option<NonZeroU32>,
    beside: u32,
    scope: Option<NonZeroU32>,
}

/// An execution of a comprehension that is not one of the value itself, but of what it stands in.
const FURTHER_OUT: u32 = 1 << 31;

/// Whether that is an execution of a comprehension of the value itself.
fn is_of_value(firing: u32) -> bool {
    firing != 0 && firing & FURTHER_OUT == 0
}

/// What a conjunct hands on to everything inside of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lineage {
    /// The execution of a comprehension further out.
    pub(crate) firing: u32,
    pub(crate) cycle: Cycle,
    pub(crate) outer: Option<ExprId>,
    pub(crate) way: u32,
    pub(crate) via: u32,
    pub(crate) beside: u32,
    /// The scope it has, and that of the fields in it.
    pub(crate) scope: Option<NonZeroU32>,
    pub(crate) inner_scope: Option<NonZeroU32>,
}

/// How data came to a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    /// Positions crossed on the way in.
    pub(crate) via: u32,
    /// Where it stands (see `spots`).
    pub(crate) spot: u32,
    /// The reference followed first on the way in.
    pub(crate) outer: Option<ExprId>,
}

/// A scope as a conjunct keeps it.
pub(crate) fn kept(scope: Option<NonZeroU32>) -> u32 {
    scope.map_or(0, NonZeroU32::get)
}

/// The conjunct that narrowed the kinds of a vertex last (S-14).
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrowed {
    pub(crate) by: By,
    pub(crate) at: At,
    pub(crate) via: u32,
}

/// What a conjunct says, for messages.
#[derive(Clone, Debug, Default)]
pub(crate) enum By {
    #[default]
    Nothing,
    /// As it is written.
    Expr(ExprId),
    /// The scalar of the vertex.
    Scalar,
    Datum(Datum),
    /// The test of that number.
    Test(u32),
    /// Another value.
    Vertex(VertexId),
}

impl Conjunct {
    /// What must hold.
    #[inline]
    pub(crate) fn source(&self) -> Source {
        self.source.unpacked()
    }

    pub(crate) fn lineage(&self) -> Lineage {
        Lineage {
            firing: if self.firing == 0 { 0 } else { self.firing | FURTHER_OUT },
            cycle: self.cycle,
            outer: self.outer,
            way: self.way,
            via: self.via,
            beside: self.beside,
            scope: self.scope(),
            inner_scope: self.scope(),
        }
    }

    /// The demand that one of the alternatives it is a choice of makes in its place (S-62).
    pub(crate) fn alternative(self, alternative: ExprId, env: EnvId) -> Self {
        let cycle = self.cycle.max(Cycle::Optional);
        Self { source: Source::Expr(alternative, env).into(), cycle, ..self }
    }

    /// What a pattern, or `...T`, says of a field or an element that others bring (S-62).
    pub(crate) fn late(source: Source, groups: Groups, from: Lineage) -> Self {
        Self {
            groups,
            by_reference: true,
            outer: from.outer,
            cycle: from.cycle.max(Cycle::Optional),
            way: from.way,
            via: from.via,
            late: true,
            beside: from.beside,
            ..Self::new(source)
        }
    }

    /// How it came, if it is data.
    pub(crate) fn came(&self) -> Came {
        Came { via: self.via, spot: self.spot, outer: self.outer }
    }

    /// The expression it is, by which it refers to something.
    pub(crate) fn reference(&self) -> Option<ExprId> {
        match self.source() {
            Source::Expr(expr, _) => Some(expr),
            Source::Data(_) | Source::Vertex(_) => None,
        }
    }

    /// A plain demand: part of nothing that closes, through no reference.
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source: source.into(),
            groups: Groups::new(),
            close_as: None,
            by_reference: false,
            outer: None,
            firing: 0,
            cycle: Cycle::None,
            way: 0,
            via: 0,
            late: false,
            was_closed: Closed::Not,
            beside: 0,
            spot: 0,
        }
    }

    /// Whether it differs from another one in nothing but its groups and the way it came.
    pub(crate) fn is_once_more(&self, other: &Self) -> bool {
        self.source == other.source
            && self.standing() == other.standing()
            && (self.by_reference, self.late, self.firing)
                == (other.by_reference, other.late, other.firing)
            && (self.cycle, self.was_closed) == (other.cycle, other.was_closed)
    }

    /// Where it stands among what embeds.
    pub(crate) fn standing(&self) -> Standing {
        Standing { close_as: self.close_as, beside: self.beside, scope: self.scope() }
    }

    /// Of a field: the group of the outermost literal around that embeds something (C-12).
    pub(crate) fn scope(&self) -> Option<NonZeroU32> {
        match self.source() {
            Source::Data(_) => None,
            Source::Expr(..) | Source::Vertex(_) => NonZeroU32::new(self.spot),
        }
    }

    /// Whether a comprehension of the value brought it.
    pub(crate) fn is_computed(&self) -> bool {
        is_of_value(self.firing)
    }

    /// The group that it closes as.
    pub(crate) fn closes_as(&self) -> Option<u32> {
        self.close_as.map(NonZeroU32::get)
    }
}

/// How a conjunct takes part in cycles (S-62); it only rises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cycle {
    #[default]
    None,
    /// Below an optional field, a pattern, `...T` or an alternative.
    Optional,
    /// Was optional and goes round once more.
    Spared,
    /// Repeats what encloses it.
    Cyclic,
}

/// A reference that was followed on the way to a conjunct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) before: u32,
    pub(crate) reference: Option<ExprId>,
    pub(crate) target: VertexId,
    pub(crate) place: VertexId,
    /// How many links lead here.
    pub(crate) length: u32,
}

/// A struct literal among the conjuncts of a vertex.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) literal: u32,
    pub(crate) at: At,
    /// How many further times it was added.
    pub(crate) repeats: u32,
    pub(crate) firing: u32,
    /// Labels its dynamic fields gave.
    pub(crate) produced: Thin<(ExprId, Label)>,
}

impl Placed {
    /// Whether a comprehension of the value brought it.
    pub(crate) fn is_computed(&self) -> bool {
        is_of_value(self.firing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_hold_is_the_same_in_two_words() {
        let mut heap = Heap::new();
        let (expr, env) = (ExprId::at(5), EnvId::at(0));
        let vertex = heap.vertex(None, None);
        let Source::Data(data) = heap.keep_data(Datum::Null, 0) else {
            panic!("data is a source of its own");
        };
        let unpacked = |it| Packed::from(it).unpacked();
        assert!(
            matches!(unpacked(Source::Expr(expr, env)), Source::Expr(e, s) if e == expr && s == env)
        );
        assert!(matches!(unpacked(Source::Data(data)), Source::Data(it) if it == data));
        assert!(matches!(unpacked(Source::Vertex(vertex)), Source::Vertex(it) if it == vertex));
        assert_eq!(size_of::<Packed>(), 8);
    }
}
