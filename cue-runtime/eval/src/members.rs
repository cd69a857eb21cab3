//! The arcs of one vertex: in order, and found by label.

use std::ops::{Deref, DerefMut};

use cue_map::Map;

use crate::heap::ArcEntry;
use crate::program::Label;
use crate::thin::Thin;

/// As many are found fastest by looking at each.
const FEW: usize = 8;

/// Arcs in order; labels are unique. Most vertices have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    entries: Thin<ArcEntry>,
    /// Positions by label, once there are more than [`FEW`].
    places: Option<Box<Map<Label, u32>>>,
}

impl Arcs {
    /// None.
    pub(crate) const fn new() -> Self {
        Self { entries: Thin::new(), places: None }
    }

    /// Where the arc of a label is.
    pub(crate) fn place(&self, label: Label) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&label).map(|at| *at as usize),
            None => self.entries.iter().position(|it| it.label == label),
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
        match &mut self.places {
            Some(places) => {
                places.insert(label, at as u32);
            }
            None if at >= FEW => self.find_places(),
            None => {}
        }
    }

    /// Room for some more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }

    /// Reorders them; equals keep their order.
    pub(crate) fn order_by(&mut self, key: impl FnMut(&ArcEntry) -> usize) {
        cue_sort::by_key(&mut self.entries, key);
        if self.places.is_some() {
            self.find_places();
        }
    }

    #[cold]
    fn find_places(&mut self) {
        let room = self.entries.capacity();
        let mut places = Map::with_capacity(room);
        places.extend(self.entries.iter().enumerate().map(|(at, it)| (it.label, at as u32)));
        self.places = Some(Box::new(places));
    }
}

impl Deref for Arcs {
    type Target = [ArcEntry];

    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn deref(&self) -> &[ArcEntry] {
        &self.entries
    }
}

impl DerefMut for Arcs {
    #[cfg_attr(not(target_family = "wasm"), inline)]
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
