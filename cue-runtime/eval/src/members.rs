//! The arcs of one vertex: in order, and found by label.

use std::ops::{Deref, DerefMut};

use cue_map::Places;

use crate::heap::ArcEntry;
use crate::program::Label;
use crate::thin::Thin;

/// As many are found fastest by looking at each.
const FEW: usize = 8;

/// Arcs in order; labels are unique. Most vertices have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    entries: Thin<ArcEntry>,
    /// Where those are that are no elements at their own place, once there are more than [`FEW`] arcs.
    places: Option<Box<Places>>,
}

impl Arcs {
    /// None.
    pub(crate) const fn new() -> Self {
        Self { entries: Thin::new(), places: None }
    }

    /// Where the arc of a label is.
    pub(crate) fn place(&self, label: Label) -> Option<usize> {
        match self.entries.len() > FEW {
            true => self.place_among_many(label),
            false => self.entries.iter().position(|it| it.label == label),
        }
    }

    #[inline(never)]
    fn place_among_many(&self, label: Label) -> Option<usize> {
        let is = |at: usize| self.entries.get(at).is_some_and(|it| it.label == label);
        match label.index().filter(|it| is(*it)) {
            Some(index) => Some(index),
            None => self.places.as_ref()?.find(&label, is),
        }
    }

    /// The arc of a label.
    pub(crate) fn named(&self, label: Label) -> Option<&ArcEntry> {
        self.place(label).and_then(|at| self.entries.get(at))
    }

    /// One more, of a label that is not there yet.
    pub(crate) fn push(&mut self, entry: ArcEntry) {
        let (label, at) = (entry.label, self.entries.len());
        self.entries.push(entry);
        if at < FEW || (at > FEW && label.index() == Some(at)) {
            return;
        }
        let noted = self.places.as_mut().is_some_and(|it| it.push(&label, at));
        if !noted {
            self.find_places();
        }
    }

    /// Room for some more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }

    /// Reorders them; equals keep their order.
    pub(crate) fn order_by(&mut self, key: impl FnMut(&ArcEntry) -> usize) {
        cue_sort::by_key(&mut self.entries, key);
        if self.entries.len() > FEW {
            self.find_places();
        }
    }

    #[cold]
    fn find_places(&mut self) {
        let all = self.entries.iter().map(|it| it.label).enumerate();
        let named = all.filter(|(at, label)| label.index() != Some(*at));
        self.places = Places::of(named).map(Box::new);
    }
}

impl Deref for Arcs {
    type Target = [ArcEntry];

    #[inline]
    fn deref(&self) -> &[ArcEntry] {
        &self.entries
    }
}

impl DerefMut for Arcs {
    #[inline]
    fn deref_mut(&mut self) -> &mut [ArcEntry] {
        &mut self.entries
    }
}

impl<'a> IntoIterator for &'a Arcs {
    type Item = &'a ArcEntry;
    type IntoIter = std::slice::Iter<'a, ArcEntry>;

    fn into_iter(self) -> Self::IntoIter {
        (**self).iter()
    }
}
