//! What says which fields a vertex has: its literals, and behind them data that functions have read or
//! made. What was read is a literal of a file of its own (O-11), which references move like any other; what
//! was made stands where the function was called.

use smallvec::SmallVec;

use crate::attach::NOWHERE;
use crate::builtin::Datum;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Came, Contribution, DataId, Placed, Source, Vertex, VertexId};
use crate::program::{At, Code, ExprId, Label};

/// Literals and data of one vertex, by number: first the literals.
pub(super) struct Literals<'a> {
    pub(super) placed: &'a [Placed],
    data: Vec<Data>,
    /// What data says of each arc; nothing if there is none.
    by_arc: Vec<SmallVec<[Contribution; 1]>>,
}

struct Data {
    at: At,
    labels: Vec<Label>,
}

impl Literals<'_> {
    /// Where each of them stands.
    pub(super) fn positions(&self) -> impl Iterator<Item = At> {
        self.placed.iter().map(|it| it.at).chain(self.data.iter().map(|it| it.at))
    }

    /// Whether there is data among them.
    pub(super) fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// The labels of one that is data.
    pub(super) fn labels(&self, which: usize) -> Option<&[Label]> {
        let data = self.data.get(which.checked_sub(self.placed.len())?)?;
        Some(&data.labels)
    }

    /// What says that there is an arc, which is the one of that number.
    pub(super) fn contributions<'a>(
        &'a self,
        (node, arc): (usize, &'a ArcEntry),
    ) -> impl Iterator<Item = Contribution> + 'a {
        arc.contributions().chain(self.by_arc.get(node).into_iter().flatten().copied())
    }
}

impl Evaluator {
    /// Notes data that came to a vertex by what that was computed from.
    pub(crate) fn note_given(&mut self, id: VertexId, data: DataId, came: Came) {
        if !self.is_placed(data, came.spot) {
            return;
        }
        let vertex = self.heap.get_mut(id);
        let own = |it: Source| matches!(it, Source::Data(own) if own == data);
        if !vertex.conjuncts.iter().any(|it| own(it.source())) {
            vertex.given.push((data, came));
        }
    }

    /// Whether data is a struct of which something is known to stand somewhere.
    fn is_placed(&self, data: DataId, spot: u32) -> bool {
        match self.heap.data(data) {
            Datum::Struct(fields) => spot != 0 || fields.place(0).is_some(),
            _ => false,
        }
    }

    /// Whether data with places is among what a vertex is made of, beside something else.
    pub(super) fn has_data_beside(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let many = vertex.placed.len() + vertex.given.len() + vertex.conjuncts.len() > 1;
        many && (!vertex.given.is_empty() || self.own_data(vertex).next().is_some())
    }

    /// Data with places that is demanded of the vertex itself.
    fn own_data<'a>(&'a self, vertex: &'a Vertex) -> impl Iterator<Item = (DataId, Came)> + 'a {
        vertex.conjuncts.iter().filter_map(|it| match it.source() {
            Source::Data(data) if self.is_placed(data, it.spot) => Some((data, it.came())),
            _ => None,
        })
    }

    /// What says which fields a vertex has.
    pub(super) fn placed_and_given(&self, id: VertexId) -> Literals<'_> {
        let vertex = self.heap.get(id);
        let mut literals =
            Literals { placed: &vertex.placed, data: Vec::new(), by_arc: Vec::new() };
        for (data, Came { spot, outer, .. }) in
            self.own_data(vertex).chain(vertex.given.iter().copied())
        {
            let Datum::Struct(fields) = self.heap.data(data) else { continue };
            literals.by_arc.resize(vertex.arcs.len(), SmallVec::new());
            let placed = (literals.placed.len() + literals.data.len()) as u32;
            let at = self.spots.at(spot);
            let is_call = |it: ExprId| matches!(self.program.code(it), Code::Call(..));
            let outer = outer.filter(|it| !self.spots.is_called(spot) && !is_call(*it));
            let mut labels = Vec::with_capacity(fields.len());
            for (index, (name, _)) in fields.iter().enumerate() {
                let Some(label) = self.labels.known(name) else { continue };
                let Some(node) = vertex.arcs.place(label) else { continue };
                labels.push(label);
                let at = fields.place(index).map_or(at, |it| self.spots.at(it.0));
                literals.by_arc[node].push(Contribution { placed, at, outer });
            }
            literals.data.push(Data { at, labels });
        }
        literals
    }

    /// The file a position counts in, by name, and its place there, with its source.
    pub(super) fn in_file(&self, at: At) -> (&str, (u32, u32)) {
        if let Some((name, offset)) = self.spots.in_text(at) {
            return (name, (at.source, offset));
        }
        // Data that came of one file is named by it, and told apart behind a NUL.
        let source = self.program.sources.get(at.source as usize);
        let name = source.and_then(|it| it.name.split('\0').next()).unwrap_or_default();
        (name, (at.source, at.span.start))
    }
}

/// The position, unless it is that of a declaration without source (a fill's path).
pub(super) fn valid(at: At) -> Option<At> {
    (at.span != NOWHERE).then_some(at)
}
