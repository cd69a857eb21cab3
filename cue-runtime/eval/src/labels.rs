//! Names of fields as numbers: those of a program, shared by its evaluations, and those met since.

use std::sync::Arc;

use crate::program::{Label, LabelKind};
use cue_map::Places;

/// A name: what it labels, its text, and the package that a hidden one belongs to.
type Name = (LabelKind, Arc<str>, u32);

/// As many are found fastest by looking at each.
const FEW: usize = 8;

/// Names in the order they came, found by what they are.
#[derive(Clone, Debug, Default)]
struct Names {
    all: Vec<Name>,
    /// Once there are more than [`FEW`]: by the text, which the names keep.
    places: Option<Places>,
}

impl Names {
    /// Where a name is.
    fn place(&self, kind: LabelKind, text: &str, package: u32) -> Option<usize> {
        let is = |at: usize| {
            let it = &self.all[at];
            it.0 == kind && it.2 == package && *it.1 == *text
        };
        match &self.places {
            Some(places) => places.find(text, is),
            None => (0..self.all.len()).find(|at| is(*at)),
        }
    }

    /// One that is not there yet.
    fn push(&mut self, name: Name) {
        let at = self.all.len();
        self.all.push(name);
        let noted = match &mut self.places {
            Some(places) => places.push(&*self.all[at].1, at),
            None => at < FEW,
        };
        if !noted {
            self.places = Places::of(self.all.iter().map(|it| &*it.1).enumerate());
        }
    }
}

/// Names, each once.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Shared: an evaluation begins with them.
    known: Arc<Names>,
    /// Their labels follow those known.
    own: Names,
    /// Import paths of packages with hidden fields of their own; number `n` is at `n - 1`.
    packages: Vec<Arc<str>>,
    /// The package whose hidden fields are meant; 0 is the main one.
    package: u32,
}

impl Labels {
    /// The label of a name; hidden ones are those of the package at hand (C-28).
    pub fn intern(&mut self, kind: LabelKind, name: &str) -> Label {
        let canonical = kind == LabelKind::Index && (name == "0" || !name.starts_with(['0', '+']));
        let index = canonical.then(|| name.parse().ok()).flatten();
        match index {
            Some(index) => self.index(index),
            None => self.intern_text(kind, name, None),
        }
    }

    /// The label of a field as [`Labels::intern`] has it, which shares the text if it is new.
    pub(crate) fn of(&mut self, kind: LabelKind, name: &Arc<str>) -> Label {
        self.intern_text(kind, name, Some(name))
    }

    /// The label of a regular field, if there is one.
    pub(crate) fn known(&self, name: &str) -> Option<Label> {
        self.find(LabelKind::Regular, name, 0)
    }

    fn find(&self, kind: LabelKind, name: &str, package: u32) -> Option<Label> {
        let own = || Some(self.known.all.len() + self.own.place(kind, name, package)?);
        self.known.place(kind, name, package).or_else(own).map(Label::at)
    }

    fn intern_text(&mut self, kind: LabelKind, name: &str, shared: Option<&Arc<str>>) -> Label {
        let package = match kind {
            LabelKind::Hidden | LabelKind::HiddenDefinition => self.package,
            LabelKind::Regular | LabelKind::Definition | LabelKind::Index => 0,
        };
        if let Some(label) = self.find(kind, name, package) {
            return label;
        }
        self.own.push((kind, shared.map_or_else(|| name.into(), Arc::clone), package));
        Label::at(self.known.all.len() + self.own.all.len() - 1)
    }

    /// How many labels have come beside those that were known.
    pub(crate) fn grown(&self) -> usize {
        self.own.all.len()
    }

    /// What is there from now on is shared by copies.
    pub(crate) fn share(&mut self) {
        if self.own.all.is_empty() {
            return;
        }
        if self.known.all.is_empty() {
            self.known = Arc::new(std::mem::take(&mut self.own));
            return;
        }
        let known = Arc::make_mut(&mut self.known);
        std::mem::take(&mut self.own).all.into_iter().for_each(|it| known.push(it));
    }

    /// From now on hidden names are those of the package with this import path; gives what they
    /// were before, for `return_to`.
    pub(crate) fn go_to(&mut self, path: &str) -> u32 {
        let known = self.packages.iter().position(|it| **it == *path);
        let at = known.unwrap_or_else(|| {
            self.packages.push(path.into());
            self.packages.len() - 1
        });
        std::mem::replace(&mut self.package, at as u32 + 1)
    }

    /// Hidden names are those of that package again.
    pub(crate) fn return_to(&mut self, package: u32) {
        self.package = package;
    }

    /// The import path of the package a hidden label belongs to; `None` for the main package.
    pub fn package(&self, label: Label) -> Option<&Arc<str>> {
        self.packages.get((self.entry(label)?.2 as usize).checked_sub(1)?)
    }

    /// The label of an element.
    pub fn index(&mut self, index: usize) -> Label {
        Label::element(index)
            .unwrap_or_else(|| self.intern_text(LabelKind::Index, &index.to_string(), None))
    }

    /// The label of an identifier as written.
    pub fn identifier(&mut self, name: &str) -> Label {
        self.intern(LabelKind::of_identifier(name), name)
    }

    /// Name, with its prefix.
    pub fn name(&self, label: Label) -> Arc<str> {
        match (self.entry(label), label.index()) {
            (Some(name), _) => name.1.clone(),
            (None, index) => index.unwrap_or_default().to_string().into(),
        }
    }

    /// Kind.
    pub fn kind(&self, label: Label) -> LabelKind {
        self.entry(label).map_or(LabelKind::Index, |it| it.0)
    }

    /// What is written down of a label: nothing of one that says itself which element it is.
    fn entry(&self, label: Label) -> Option<&Name> {
        let at = label.place()?;
        let known = &self.known.all;
        known.get(at).or_else(|| self.own.all.get(at - known.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_label_whether_it_is_shared_or_not() {
        let mut labels = Labels::default();
        let (a, shown) = (labels.identifier("a"), labels.intern(LabelKind::Regular, "_h"));
        labels.share();
        let mut evaluation = labels.clone();
        assert_eq!(evaluation.identifier("a"), a);
        let hidden = evaluation.identifier("_h");
        assert_ne!(hidden, shown, "one text, two kinds");
        let outside = evaluation.go_to("example.com/p");
        let theirs = evaluation.identifier("_h");
        evaluation.return_to(outside);
        assert_ne!(theirs, hidden, "one text, two packages");
        assert_eq!(evaluation.package(theirs).map(|it| &**it), Some("example.com/p"));
        assert_eq!(evaluation.package(hidden), None);
        assert_eq!(labels.identifier("b"), hidden, "another evaluation counts for itself");
        labels.share();
        assert_eq!((&*labels.name(a), labels.kind(shown)), ("a", LabelKind::Regular));
        assert_eq!(&*evaluation.name(hidden), "_h");
    }

    #[test]
    fn elements_are_named_by_their_place() {
        let mut labels = Labels::default();
        let (first, third, last) = (labels.index(0), labels.index(2), labels.index(1 << 31));
        assert_eq!([0, 2, 1 << 31].map(|it| labels.index(it)), [first, third, last]);
        let named = |labels: &Labels, label| (labels.name(label).to_string(), labels.kind(label));
        assert_eq!(named(&labels, third), ("2".to_owned(), LabelKind::Index));
        assert_eq!(named(&labels, last), ("2147483648".to_owned(), LabelKind::Index));
        let text = |labels: &mut Labels, name| labels.intern(LabelKind::Index, name);
        assert_eq!([text(&mut labels, "2"), text(&mut labels, "2147483648")], [third, last]);
        assert_ne!(text(&mut labels, "02"), third);
        assert_eq!(labels.grown(), 2, "what says itself which it is is not written down");
    }
}
