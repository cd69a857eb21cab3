//! What is known of a vertex besides a scalar: fields, elements, tests, alternatives. Most vertices are
//! scalars, which take no room for it.

use std::ops::{Deref, DerefMut};

use cue_map::Set;

use crate::heap::{Choice, Pattern, Placed, Rest, Test, Vertex};
use crate::members::Arcs;
use crate::program::{At, ExprId, Label};
use crate::thin::Thin;

/// A vertex dereferences to it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) tests: Thin<(Test, At)>,
    /// Length that a closed list literal demands.
    pub(crate) closed_length: Option<u32>,
    /// Of all list literals.
    pub(crate) longest: u32,
    pub(crate) rest: Thin<Rest>,
    pub(crate) arcs: Arcs,
    pub(crate) patterns: Thin<Pattern>,
    pub(crate) placed: Thin<Placed>,
    /// Labels in the order the literals name them, bodies of comprehensions where they stand (O-4).
    pub(crate) named: Option<Box<Set<Label>>>,
    pub(crate) choice: Option<Box<Choice>>,
    /// Alternatives this vertex is tried with.
    pub(crate) picks: Thin<(ExprId, u32)>,
}

impl Body {
    const EMPTY: Self = Self {
        tests: Thin::new(),
        closed_length: None,
        longest: 0,
        rest: Thin::new(),
        arcs: Arcs::new(),
        patterns: Thin::new(),
        placed: Thin::new(),
        named: None,
        choice: None,
        picks: Thin::new(),
    };
}

impl Body {
    /// Whether a literal with comprehensions names a field.
    pub(crate) fn is_named(&self, label: Label) -> bool {
        self.named.as_ref().is_some_and(|it| it.contains(&label))
    }

    /// Takes in what a literal names, behind what is there.
    pub(crate) fn name(&mut self, labels: &[Label]) {
        let all = self.named.get_or_insert_default();
        if all.is_empty() {
            all.extend(self.arcs.iter().map(|it| it.label));
        }
        all.extend(labels.iter().copied());
    }
}

/// Allocated when something is first put into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lazy(Option<Box<Body>>);

/// What is read of those that have none.
static EMPTY: Body = Body::EMPTY;

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
