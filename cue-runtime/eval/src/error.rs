//! Errors as values; the texts users see are made here and where a fault is raised.

use crate::program::At;

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
    /// Path of the value, if it is not that of the vertex that has the fault.
    pub path: Option<String>,
    /// Where; the first is primary.
    pub positions: Vec<At>,
    /// Errors it sums up.
    pub causes: Vec<Fault>,
}

impl Fault {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, at: At) -> Self {
        Self { kind, message: message.into(), path: None, positions: vec![at], causes: Vec::new() }
    }

    pub(crate) fn and_at(mut self, at: At) -> Self {
        if !self.positions.contains(&at) {
            self.positions.push(at);
        }
        self
    }
}
