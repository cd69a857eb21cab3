//! The arcs of one vertex: in order, and found by label.

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashMap;

use crate::heap::ArcEntry;
use crate::program::Label;

/// As many are found fastest by looking at each.
const FEW: usize = 8;

/// Arcs in order; labels are unique. Most vertices have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs(Option<Box<Held>>);

#[derive(Clone, Debug, Default)]
struct Held {
    entries: Vec<ArcEntry>,
    /// Positions by label, once there are more than [`FEW`].
    places: FxHashMap<Label, u32>,
}

impl Arcs {
    /// Where the arc of a label is.
    pub(crate) fn place(&self, label: Label) -> Option<usize> {
        self.0.as_ref().and_then(|it| it.place(label))
    }

    /// The arc of a label.
    pub(crate) fn named(&self, label: Label) -> Option<&ArcEntry> {
        let all = self.0.as_ref()?;
        all.place(label).and_then(|at| all.entries.get(at))
    }

    /// One more, of a label that is not there yet.
    pub(crate) fn push(&mut self, entry: ArcEntry) {
        self.0.get_or_insert_default().push(entry);
    }

    /// Room for some more.
    pub(crate) fn reserve(&mut self, more: usize) {
        if more > 0 {
            self.0.get_or_insert_default().reserve(more);
        }
    }

    /// Reorders them; equals keep their order.
    pub(crate) fn order_by(&mut self, key: impl FnMut(&ArcEntry) -> usize) {
        if let Some(all) = &mut self.0 {
            all.order_by(key);
        }
    }
}

impl Held {
    fn place(&self, label: Label) -> Option<usize> {
        if self.entries.len() > FEW {
            return self.places.get(&label).map(|at| *at as usize);
        }
        self.entries.iter().position(|it| it.label == label)
    }

    fn push(&mut self, entry: ArcEntry) {
        let label = entry.label;
        // Many have one only.
        if self.entries.capacity() == 0 {
            self.entries.reserve_exact(1);
        }
        self.entries.push(entry);
        match self.entries.len() {
            few if few <= FEW => {}
            few if few == FEW + 1 => self.find_places(),
            many => {
                self.places.insert(label, many as u32 - 1);
            }
        }
    }

    fn reserve(&mut self, more: usize) {
        match self.entries.is_empty() {
            true => self.entries.reserve_exact(more),
            false => self.entries.reserve(more),
        }
        let all = self.entries.len() + more;
        if all > FEW {
            self.places.reserve(all);
        }
    }

    fn order_by(&mut self, key: impl FnMut(&ArcEntry) -> usize) {
        cue_sort::by_key(&mut self.entries, key);
        if self.entries.len() > FEW {
            self.find_places();
        }
    }

    fn find_places(&mut self) {
        let places = self.entries.iter().enumerate().map(|(at, it)| (it.label, at as u32));
        self.places = places.collect();
    }
}

impl Deref for Arcs {
    type Target = [ArcEntry];

    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn deref(&self) -> &[ArcEntry] {
        self.0.as_ref().map_or(&[], |it| &it.entries)
    }
}

impl DerefMut for Arcs {
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn deref_mut(&mut self) -> &mut [ArcEntry] {
        self.0.as_mut().map_or(&mut [], |it| &mut it.entries)
    }
}

impl<'a> IntoIterator for &'a Arcs {
    type Item = &'a ArcEntry;
    type IntoIter = std::slice::Iter<'a, ArcEntry>;

    fn into_iter(self) -> Self::IntoIter {
        (**self).iter()
    }
}
