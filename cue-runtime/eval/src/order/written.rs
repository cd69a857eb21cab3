//! The order of the most common case: fields of literals of one file, none of which is an operand of `&` or came by
//! a reference, stand where they are written. The edges say the same, and take longer to.

use crate::attach::NOWHERE;
use crate::copied::Reach;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Placed, Source, Vertex, VertexId};
use crate::program::{At, Code, Declaration, ExprId};

/// Where a literal counts, which is where the last of its contributions is.
struct End {
    start: u32,
    /// The turn of that contribution.
    turn: (u32, usize, u32),
}

impl Evaluator {
    /// By what the fields of such a vertex are sorted: where the first literal counts that has one, and where that
    /// has it. `None` for any other.
    pub(super) fn written_places(&self, id: VertexId, reach: Reach) -> Option<Vec<(u32, u32)>> {
        let vertex = self.heap.get(id);
        let operand = |it: Source| matches!(it, Source::Expr(expr, _) if self.has_operands(expr));
        let source = vertex.placed.first()?.at.source;
        if reach != Reach::Own
            || !vertex.picks.is_empty()
            || self.has_data_beside(id)
            || vertex.conjuncts.iter().any(|it| operand(it.source()))
            || !vertex.placed.iter().all(|it| self.stands_as_written(it, source))
        {
            return None;
        }
        let ends = self.ends(vertex, source)?;
        let mut starts: Vec<u32> = ends.iter().map(|it| it.start).collect();
        cue_sort::ascending(&mut starts);
        // Two at one place count as operands.
        if starts.windows(2).any(|it| it[0] == it[1]) {
            return None;
        }
        // What nobody contributes to stands last.
        let key = |arc: &ArcEntry| {
            let places =
                arc.contributions().map(|it| (ends[it.placed as usize].start, it.at.span.start));
            places.min().unwrap_or((u32::MAX, 0))
        };
        Some(vertex.arcs.iter().map(key).collect())
    }

    /// Whether an expression may say of literals that they are operands of `&`.
    fn has_operands(&self, expr: ExprId) -> bool {
        matches!(self.program.code(expr), Code::Unify(..) | Code::Aliased(_))
    }

    /// Whether a literal has no fields but those that are written in it, there, once.
    fn stands_as_written(&self, placed: &Placed, source: u32) -> bool {
        let older = self.program.lenient;
        let code = &self.program.structs[placed.literal as usize];
        let plain = |it: &Declaration| match it {
            Declaration::Embed(expr) => !self.has_operands(*expr),
            Declaration::Pattern { .. } => older,
            Declaration::Field { .. } | Declaration::Comprehension(_) | Declaration::Open => true,
        };
        is_in(placed.at, source)
            && placed.repeats == 0
            && placed.produced.is_empty()
            && (code.lets.is_empty() || older)
            && code.declarations.iter().all(plain)
    }

    /// Where each literal counts; none if a contribution came by a reference or stands elsewhere.
    fn ends(&self, vertex: &Vertex, source: u32) -> Option<Vec<End>> {
        let older = self.program.lenient;
        let end = |it: &Placed| End { start: it.at.span.start, turn: (0, 0, 0) };
        let mut ends: Vec<End> = vertex.placed.iter().map(end).collect();
        for (node, arc) in vertex.arcs.iter().enumerate() {
            // They take their turns as they came, up to v0.14 as they are written.
            let first = match older {
                true => arc.contributions().map(|it| it.at.span.start).min().unwrap_or(0),
                false => 0,
            };
            for by in arc.contributions() {
                let start = by.at.span.start;
                let turn = (first, node, if older { start } else { 0 });
                let end = ends.get_mut(by.placed as usize)?;
                if by.outer.is_some() || !is_in(by.at, source) {
                    return None;
                }
                if turn >= end.turn {
                    *end = End { start, turn };
                }
            }
        }
        Some(ends)
    }
}

fn is_in(at: At, source: u32) -> bool {
    at.source == source && at.span != NOWHERE
}
