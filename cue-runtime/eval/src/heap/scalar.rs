//! The scalars that vertices are: most are written in the program, and only named here.

use std::num::NonZeroU32;

use super::{DataId, Heap};
use crate::blocks::Blocks;
use crate::builtin::Datum;
use crate::program::{At, ExprId};

/// A scalar and where it stands: an expression of the program that is one, data, or one that was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScalarId(NonZeroU32); // Option<ScalarId> is 4 bytes

/// In a [`ScalarId`]: the rest is an expression.
const WRITTEN: u32 = 1 << 31;

/// The rest is data.
const DATA: u32 = 1 << 30;

impl ScalarId {
    /// The scalar that an expression is.
    pub(crate) fn written(expr: ExprId) -> Self {
        Self(expr.marked(WRITTEN))
    }

    /// The scalar that data is.
    pub(crate) fn data(data: DataId) -> Self {
        Self(data.0 | DATA)
    }
}

/// A scalar as it comes to a vertex.
pub(crate) enum Scalar {
    /// Just computed, and where it stands.
    New(Datum, At),
    Known(ScalarId),
}

/// Scalars that were computed; number `n` is at `n - 1`.
#[derive(Default)]
pub(crate) struct Scalars(Blocks<(Datum, At)>);

/// Where a scalar is found.
pub(crate) enum Found<'a> {
    /// As the program has it.
    Written(ExprId),
    /// With its spot.
    Data(&'a Datum, u32),
    Kept(&'a Datum, At),
}

impl Heap {
    /// Keeps a scalar that was computed.
    pub(crate) fn keep(&mut self, datum: Datum, at: At) -> ScalarId {
        let made = self.scalars.0.push((datum, at));
        // There is one at least now.
        ScalarId(NonZeroU32::new(made as u32).unwrap_or(NonZeroU32::MIN))
    }

    /// Where a scalar is.
    pub(crate) fn found(&self, id: ScalarId) -> Found<'_> {
        match id.0.get() {
            written if written & WRITTEN != 0 => Found::Written(ExprId::unmarked(written, WRITTEN)),
            data if data & DATA != 0 => {
                let (datum, spot) = &self.data[(data & !DATA) as usize - 1];
                Found::Data(datum, *spot)
            }
            kept => {
                let (datum, at) = &self.scalars.0[kept as usize - 1];
                Found::Kept(datum, *at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::Source;

    #[test]
    fn a_scalar_is_found_where_it_is() {
        let mut heap = Heap::new();
        let at = At { source: 3, ..At::default() };
        let kept = heap.keep(Datum::count(7), at);
        let Source::Data(data) = heap.keep_data(Datum::Bool(true), 9) else {
            panic!("data is a source of its own");
        };
        assert!(
            matches!(heap.found(kept), Found::Kept(it, place) if *it == Datum::count(7) && place == at)
        );
        assert!(matches!(heap.found(ScalarId::data(data)), Found::Data(Datum::Bool(true), 9)));
        let expr = ExprId::at(41);
        assert!(matches!(heap.found(ScalarId::written(expr)), Found::Written(it) if it == expr));
        assert_eq!(size_of::<Option<ScalarId>>(), 4);
    }
}
