//! What is known of a vertex besides its fields: the scalar it is, and what narrowed its kinds.

use crate::builtin::Datum;
use crate::evaluator::Evaluator;
use crate::heap::{By, Found, Narrowed, ScalarId, Vertex, VertexId};
use crate::program::{At, ExprId};

/// The kinds of a vertex were narrowed last by its scalar, of which all is known.
const BY_SCALAR: u32 = u32::MAX;

/// They were by an expression, as it stands, which came as the last conjunct of these kinds did: the rest is that.
const BY_EXPR: u32 = 1 << 31;

impl Evaluator {
    /// The scalar that a vertex is, and where that stands.
    #[inline]
    pub(crate) fn scalar_at(&self, id: VertexId) -> Option<(&Datum, At)> {
        self.scalar_of(self.heap.get(id))
    }

    /// The same.
    #[inline]
    pub(crate) fn scalar_of(&self, vertex: &Vertex) -> Option<(&Datum, At)> {
        vertex.scalar.map(|it| self.known(it))
    }

    /// A scalar that is written or was computed, and where it stands.
    pub(crate) fn known(&self, scalar: ScalarId) -> (&Datum, At) {
        match self.heap.found(scalar) {
            Found::Kept(datum, at) => (datum, at),
            Found::Data(datum, spot) => (datum, self.spots.at(spot)),
            Found::Written(expr) => {
                (self.program.code(expr).scalar().unwrap_or(&Datum::Null), self.program.at(expr))
            }
        }
    }

    /// The conjunct that narrowed the kinds of a vertex last.
    pub(crate) fn narrowed(&self, id: VertexId) -> Narrowed {
        let vertex = self.heap.get(id);
        match vertex.narrowed {
            0 => Narrowed::default(),
            BY_SCALAR => {
                let at = self.scalar_of(vertex).map_or_else(At::default, |it| it.1);
                Narrowed { by: By::Scalar, at, via: vertex.scalar_via }
            }
            number if number & BY_EXPR != 0 => {
                let expr = ExprId::unmarked(number, BY_EXPR);
                Narrowed { by: By::Expr(expr), at: self.program.at(expr), via: vertex.kinds_via }
            }
            number => self.heap.narrowed[number as usize - 1].clone(),
        }
    }

    /// Notes what narrowed the kinds of a vertex, where it stands, and how it came: as is known of the kinds already,
    /// more often than not.
    #[inline]
    pub(crate) fn note_narrowed(&mut self, id: VertexId, by: By, at: At, via: u32) {
        let number = match by {
            By::Scalar => BY_SCALAR,
            By::Expr(expr) if self.heap.get(id).kinds_via == via && at == self.program.at(expr) => {
                expr.marked(BY_EXPR).get()
            }
            by => self.heap.narrowed.push(Narrowed { by, at, via }) as u32,
        };
        self.heap.get_mut(id).narrowed = number;
    }

    /// Notes how a conjunct came that is of the kinds a vertex has.
    #[inline]
    pub(crate) fn note_kinds_via(&mut self, id: VertexId, via: u32) {
        if self.heap.get(id).kinds_via != via {
            self.change_kinds_via(id, via);
        }
    }

    #[inline(never)]
    fn change_kinds_via(&mut self, id: VertexId, via: u32) {
        let vertex = self.heap.get(id);
        let by_expr = vertex.narrowed & BY_EXPR != 0 && vertex.narrowed != BY_SCALAR;
        let narrowed = by_expr.then(|| self.narrowed(id));
        self.heap.get_mut(id).kinds_via = via;
        if let Some(Narrowed { by, at, via }) = narrowed {
            self.note_narrowed(id, by, at, via);
        }
    }
}
