//! What the engine needs of a CUE runtime: compile, start, ask.

pub use cue_session::{
    Action, Budget, Concreteness, Diagnostic, Error, Field, FieldSelection, Filling, Input, Kind,
    Kinds, Package, Position, Presence, Profile, Program, ProgramSpec, Runtime, Session, Source,
    SyntaxStyle,
};
