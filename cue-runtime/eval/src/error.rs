//! Errors as values; the texts users see are made here and where a fault is raised.

use crate::heap::{FaultId, VertexId};
use crate::program::{At, Label};

/// The error that is written as such. It is told without the path of what it stands for.
pub const LITERAL: &str = "explicit error (_|_ literal) in source";

/// What kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// May still resolve.
    Incomplete,
    /// A reference to itself; may still resolve.
    Cycle,
    /// Values that contain themselves.
    StructuralCycle,
    /// Never will resolve.
    Permanent,
    /// `_|_` or `error()` in the source.
    User,
    /// A limit was reached.
    Budget,
}

impl Kind {
    /// Whether more data may resolve it.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Kind::Incomplete | Kind::Cycle)
    }

    /// Which of two hides the other (cue-errors 0.1).
    pub(crate) fn severity(self) -> u8 {
        match self {
            Kind::Cycle => 0,
            Kind::Incomplete => 1,
            Kind::StructuralCycle => 2,
            Kind::User => 3,
            Kind::Permanent => 4,
            Kind::Budget => 5,
        }
    }

    /// Stable code.
    pub fn code(self) -> &'static str {
        match self {
            Kind::Incomplete => "cue/incomplete",
            Kind::Cycle => "cue/cycle",
            Kind::StructuralCycle => "cue/structural-cycle",
            Kind::Permanent => "cue/eval",
            Kind::User => "cue/user",
            Kind::Budget => "budget/exceeded",
        }
    }
}

/// An error value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: Kind,
    /// CUE's words.
    pub message: String,
    /// The vertex that was being evaluated when it arose; its path is that of the error.
    pub(crate) place: Option<VertexId>,
    /// Where the error is that it wraps: what is said of it in short has that path, too.
    pub(crate) inner: Option<VertexId>,
    /// Where it is: the primary position, if it has one.
    pub(crate) at: At,
    /// What else takes part.
    pub(crate) positions: Vec<At>,
    /// Further errors of the same value, or the parts of the one it sums up; these have none.
    pub(crate) causes: Vec<Fault>,
    /// Of a loop of values: the vertex that it leads back to (S-60).
    pub(crate) closes_at: Option<VertexId>,
    /// The error of the reference that does.
    pub(crate) closed_by: Option<FaultId>,
    /// It is in the words of a user, whatever kind it counts as.
    pub(crate) words: bool,
    /// What the task waits for that it is of: a field of a vertex, or all there is to know of it.
    pub(crate) awaits: Option<(VertexId, Option<Label>)>,
}

impl Fault {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, at: At) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            place: None,
            inner: None,
            at,
            positions: Vec::new(),
            causes: Vec::new(),
            closes_at: None,
            closed_by: None,
            words: false,
            awaits: None,
        }
    }

    /// One without a primary position (cue-errors 2.1).
    pub(crate) fn spread(kind: Kind, message: impl Into<String>) -> Self {
        Self::new(kind, message, At::default())
    }

    pub(crate) fn and_at(mut self, at: At) -> Self {
        self.positions.push(at);
        self
    }

    /// The first error of a list, and how many more there are (cue-errors 0.2).
    pub(crate) fn in_short(&self) -> String {
        match self.causes.len() {
            0 => self.message.clone(),
            count => format!("{} (and {count} more errors)", self.message),
        }
    }

    /// Several errors as one, the first of them with the others behind it.
    pub(crate) fn listed(all: impl IntoIterator<Item = Fault>) -> Option<Fault> {
        let mut all = all.into_iter();
        let mut first = all.next()?;
        first.causes = all.collect();
        Some(first)
    }

    /// Each error of a list, this one first.
    pub(crate) fn each(mut self) -> impl Iterator<Item = Fault> {
        let causes = std::mem::take(&mut self.causes);
        std::iter::once(self).chain(causes)
    }

    /// Whether it is in the words of a user.
    pub(crate) fn is_of_user(&self) -> bool {
        self.words || self.kind == Kind::User && self.message != LITERAL
    }

    /// What two errors of one value make (cue-errors 0.1): the worse kind hides what may still
    /// resolve; equally bad ones stay both.
    pub(crate) fn combined(self, other: Fault) -> Fault {
        let (own, new) = (self.kind, other.kind);
        if own != new && own.is_incomplete() && new.severity() > own.severity() {
            return other;
        }
        if own != new && new.is_incomplete() && own.severity() > new.severity() {
            return self;
        }
        let mut all = self;
        if all.closes_at.is_none() {
            (all.closes_at, all.awaits) = (other.closes_at, other.awaits);
            all.closed_by = other.closed_by;
        }
        if new.severity() > own.severity() {
            all.kind = new;
        }
        for each in other.each() {
            let known = all.causes.iter().any(|it| it.is(&each)) || all.is(&each);
            if !known {
                all.causes.push(each);
            }
        }
        all
    }

    /// Whether it says the same of the same. A loop that leads to a field on several ways is one.
    fn is(&self, other: &Fault) -> bool {
        let both = self.kind == Kind::Cycle && other.kind == Kind::Cycle;
        if both && self.message == other.message {
            return true;
        }
        self.message == other.message
            && self.place == other.place
            && self.at == other.at
            && self.positions == other.positions
    }
}
