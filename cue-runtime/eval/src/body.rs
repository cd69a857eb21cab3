//! What is known of a vertex besides a scalar: fields, elements, tests, alternatives. Most vertices are
//! scalars, which take no room for it, and most structs and lists have fields and no more.

use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut};

use cue_map::Set;
use smallvec::SmallVec;

use crate::heap::{Came, Choice, DataId, Pattern, Placed, Rest, Test, Vertex};
use crate::members::Arcs;
use crate::program::{At, Label};
use crate::thin::Thin;

/// A vertex dereferences to it, and it to the rest.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) arcs: Arcs,
    pub(crate) placed: SmallVec<[Placed; 1]>,
    pub(crate) tests: Thin<(Test, At)>,
    /// One more than the length that a closed list literal demands.
    closed: Option<NonZeroU32>,
    /// Of all list literals.
    pub(crate) longest: u32,
    pub(crate) choice: Option<Box<Choice>>,
    seldom: Option<Box<Seldom>>,
}

/// What few of them have.
#[derive(Clone, Debug)]
pub(crate) struct Seldom {
    pub(crate) rest: Thin<Rest>,
    pub(crate) patterns: Thin<Pattern>,
    /// Labels in the order the literals name them, bodies of comprehensions where they stand (O-4).
    pub(crate) named: Option<Box<Set<Label>>>,
    /// Data with places that came by what it was computed from (see `order::literals`).
    pub(crate) given: Thin<(DataId, Came)>,
}

impl Body {
    const EMPTY: Self = Self {
        arcs: Arcs::new(),
        placed: SmallVec::new_const(),
        tests: Thin::new(),
        closed: None,
        longest: 0,
        choice: None,
        seldom: None,
    };

    /// Length that a closed list literal demands.
    pub(crate) fn closed_length(&self) -> Option<u32> {
        self.closed.map(|it| it.get() - 1)
    }

    /// Whether it has anything that few have.
    #[inline]
    pub(crate) fn has_seldom(&self) -> bool {
        self.seldom.is_some()
    }

    /// A list literal demands a length.
    pub(crate) fn close_at(&mut self, length: u32) {
        self.closed = Some(NonZeroU32::MIN.saturating_add(length));
    }

    /// Whether a literal with comprehensions names a field.
    pub(crate) fn is_named(&self, label: Label) -> bool {
        self.named.as_ref().is_some_and(|it| it.contains(&label))
    }

    /// Takes in what a literal names, behind what is there.
    pub(crate) fn name(&mut self, labels: &[Label]) {
        let known = match &self.named {
            Some(all) if !all.is_empty() => Vec::new(),
            _ => self.arcs.iter().map(|it| it.label).collect(),
        };
        let all = self.named.get_or_insert_default();
        all.extend(known.into_iter().chain(labels.iter().copied()));
    }
}

impl Seldom {
    const EMPTY: Self =
        Self { rest: Thin::new(), patterns: Thin::new(), named: None, given: Thin::new() };
}

/// Allocated when something is first put into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lazy(Option<Box<Body>>);

impl Lazy {
    /// Whether nothing was put into it.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

/// What is read of those that have none.
static EMPTY: Body = Body::EMPTY;

/// The same of those that have nothing of it.
static NONE: Seldom = Seldom::EMPTY;

impl Deref for Body {
    type Target = Seldom;

    #[inline]
    fn deref(&self) -> &Seldom {
        self.seldom.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Body {
    #[inline]
    fn deref_mut(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_with(|| Box::new(Seldom::EMPTY))
    }
}

impl Deref for Vertex {
    type Target = Body;

    #[inline]
    fn deref(&self) -> &Body {
        self.body.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for Vertex {
    #[inline]
    fn deref_mut(&mut self) -> &mut Body {
        self.body.0.get_or_insert_with(|| Box::new(Body::EMPTY))
    }
}
