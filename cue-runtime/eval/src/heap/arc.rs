//! A named child of a vertex, and the declarations that contribute to it.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use crate::groups::Groups;
use crate::heap::VertexId;
use crate::program::{At, ExprId, Label, Presence};

/// A declaration that contributes to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contribution {
    pub(crate) placed: u32,
    pub(crate) at: At,
    pub(crate) outer: Option<ExprId>,
}

/// A named child. There is one for each field and element: what most have nothing in is a word together.
#[derive(Clone, Debug)]
pub(crate) struct ArcEntry {
    pub(crate) label: Label,
    pub(crate) vertex: VertexId,
    pub(crate) presence: Presence,
    /// It came to be where all was closed already.
    pub(crate) late: bool,
    /// The first note that documents and attributes are in; 0 for none, or one that is among `more`.
    note: u16,
    pub(crate) groups: Groups,
    at: At,
    /// The first contribution, where it stands where the field does: its literal, from 1.
    first: Option<NonZeroU32>,
    /// And the reference by which it came.
    first_outer: Option<ExprId>,
    more: Option<Box<More>>,
}

/// What few fields have.
#[derive(Clone, Debug, Default)]
struct More {
    /// Further notes.
    notes: SmallVec<[u32; 2]>,
    /// Further contributions.
    contributions: SmallVec<[Contribution; 1]>,
}

impl ArcEntry {
    /// A field without notes and of no declaration.
    pub(crate) fn new(label: Label, vertex: VertexId, presence: Presence, at: At) -> Self {
        Self {
            label,
            vertex,
            presence,
            late: false,
            note: 0,
            groups: Groups::new(),
            at,
            first: None,
            first_outer: None,
            more: None,
        }
    }

    /// Where it was declared first.
    pub(crate) fn at(&self) -> At {
        self.at
    }

    /// The notes of its declarations, each once.
    pub(crate) fn notes(&self) -> impl Iterator<Item = u32> + '_ {
        let first = Some(u32::from(self.note)).filter(|it| *it != 0);
        let more = self.more.as_deref().map_or(&[][..], |it| &it.notes);
        first.into_iter().chain(more.iter().copied())
    }

    /// One more, but 0.
    #[inline]
    pub(crate) fn add_notes(&mut self, notes: u32) {
        if notes != 0 {
            self.add_some(notes);
        }
    }

    fn add_some(&mut self, notes: u32) {
        if self.notes().any(|it| it == notes) {
            return;
        }
        let first = self.note == 0 && self.more.as_ref().is_none_or(|it| it.notes.is_empty());
        match u16::try_from(notes) {
            Ok(note) if first => self.note = note,
            _ => self.more.get_or_insert_default().notes.push(notes),
        }
    }

    /// One more declaration.
    #[inline]
    pub(crate) fn contribute(&mut self, by: Contribution) {
        match by.placed.checked_add(1).and_then(NonZeroU32::new) {
            Some(literal) if by.at == self.at && !self.is_declared() => {
                (self.first, self.first_outer) = (Some(literal), by.outer);
            }
            _ => self.more.get_or_insert_default().contributions.push(by),
        }
    }

    /// Whether a declaration contributes to it.
    pub(crate) fn is_declared(&self) -> bool {
        self.contributions().next().is_some()
    }

    /// The declarations that contribute to it, in the order they came in.
    pub(crate) fn contributions(&self) -> impl Iterator<Item = Contribution> + '_ {
        let first = self.first.map(|literal| Contribution {
            placed: literal.get() - 1,
            at: self.at,
            outer: self.first_outer,
        });
        let more = self.more.as_deref().map_or(&[][..], |it| &it.contributions);
        first.into_iter().chain(more.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cue_syntax::ast::Span;

    #[test]
    fn contributions_come_as_they_were_added() {
        let at = |start| At { source: 0, span: Span { start, end: start + 1 } };
        let by = |placed, start| Contribution { placed, at: at(start), outer: None };
        let vertex = VertexId(NonZeroU32::MIN);
        for all in [
            [by(0, 1), by(4, 9), by(2, 1)],
            [by(3, 9), by(0, 1), by(1, 1)],
            [by(u32::MAX, 1), by(0, 1), by(1, 1)],
        ] {
            let mut arc = ArcEntry::new(Label::at(0), vertex, Presence::Member, at(1));
            assert!(!arc.is_declared());
            all.into_iter().for_each(|it| arc.contribute(it));
            assert_eq!(arc.contributions().collect::<Vec<_>>(), all);
            for notes in [[0, 7, 2, 7], [70_000, 7, 70_000, 2], [7, 70_000, 0, 2]] {
                let mut arc = arc.clone();
                notes.into_iter().for_each(|it| arc.add_notes(it));
                let mut once: Vec<u32> = Vec::new();
                once.extend(notes.iter().filter(|it| **it != 0));
                once.sort_by_key(|it| notes.iter().position(|note| note == it));
                once.dedup();
                assert_eq!(arc.notes().collect::<Vec<_>>(), once);
            }
        }
    }
}
