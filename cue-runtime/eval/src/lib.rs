//! The CUE evaluator: a resolved program and inputs in, values or errors out.
//!
//! ~~~text
//! sources -compile-> Program -start-> Heap of vertices -unify-> values -export-> JSON, YAML, CUE
//!              once, shared      one per evaluation, dropped whole
//! ~~~
//! A reference adds the target's conjuncts with their own environments to the referring vertex;
//! nothing is substituted. Vertices are evaluated when asked for. Alternatives of a disjunction are
//! tried as candidates of the same vertex, each with its pick. Start at `heap`, then `unify`.
//!
//! Invariants
//! 1. No name survives `compile`: a reference is (environments up, label). (type Code)
//! 2. Work, depth and memory are counted; exceeding a budget is an ordinary error. (tests)
//! 3. No I/O, clock, environment variable or thread.
#![forbid(unsafe_code)]

pub mod labels; // names of fields as numbers
pub mod program; // what compiling gives: expressions with every name resolved
pub mod sources; // texts and packages that it is compiled from
pub mod compile; // syntax tree -> Program
mod attach; // one more file for a program
mod uses; // which fields of a root read which
pub mod heap; // the arrays and their ids
mod blocks; // arrays that stay where they are
mod body; // what a vertex is besides a scalar
mod groups; // sets of closing values
mod arcs; // what a vertex gets: conjuncts, fields, patterns
mod work; // what is still to do for a vertex
mod turns; // what is met first of what disagrees
mod unfit; // fields of what is no struct
mod unify; // vertices one after the other
mod conjuncts; // conjuncts -> arcs, scalars
mod rounds; // loops whose body embeds
mod settled; // references to what gets no more
mod sharing; // vertices that are references and nothing else
mod reference; // what a vertex takes from another
mod crowds; // vertices with many conjuncts
mod chains; // long chains of references
mod tasks; // computed fields, comprehensions
mod literals; // struct literals -> arcs
mod lists; // list literals -> arcs
mod known; // the scalar a vertex is, and what narrowed its kinds
mod conflict; // kinds and scalars that disagree
mod overtaken; // bounds of what a struct came for later
mod written; // expressions as messages show them
mod members; // the arcs of one vertex: in order, and by label
mod thin; // lists that are mostly empty
mod met; // what a vertex has met already
mod waiting; // who waits for what
mod loops; // values that wait for each other
mod failed; // values that are done with and have errors
mod bodies; // what comprehensions may bring
mod plain; // vertices that are data and nothing else
mod disjunction; // alternatives and defaults
mod empty; // the error where all of them fail
mod below; // errors at or below a value
mod untried; // choices of which not every result was asked for
mod shortcuts; // combinations that come to the same
mod marks; // defaults of several disjunctions
mod ahead; // scalars that are read before what refuses them is known
mod alike; // alternatives that are one
mod narrowing; // alternatives that a tag or a closed struct decides
mod limits; // tests of a value, the tightest first
mod closed; // what closed values allow
mod longer; // lists with more elements than what closes them
pub mod evaluator; // expressions in environments
mod lets; // values of `let`s
mod budget; // what an evaluation may take
mod spending; // what the work goes into
mod inline; // values without a place
mod comprehension; // what comprehensions yield
mod declared; // where fields are declared
mod demand; // concrete values asked of expressions
mod operands; // of binary operators
mod interpolation; // texts with values in them
mod selection; // fields, elements
mod slices; // of lists and bytes
mod operators; // arithmetic, comparison
mod absent; // the comparison with bottom
mod calls; // builtin functions as calls
pub mod spots; // where data stands that functions made
mod looked; // functions that look at values
mod searched; // lists that values are looked for in
pub mod openapi; // definitions as OpenAPI schemas
mod matching; // matchN and matchIf
mod validators; // builtin functions as validators
mod checking; // validators that come upon themselves
mod compare; // plain data: equality and order
mod equality; // of structs and lists where they stand
pub mod error; // errors as values
mod copied; // fields that are copies of what they refer to
mod components; // nodes and edges in order
mod order; // fields in the order they are printed in
mod found; // what only an evaluation tells
mod outward; // where references of a part lead
mod definition; // a package as text, not evaluated
mod bounds; // types and bounds, simplified for printing
mod brief; // values in few words
mod spelled; // how values are written in their sources
mod visited; // who came to a struct first
mod printed; // values as CUE text
mod completed; // what printed texts leave open
pub mod export; // values -> data, short texts
mod validation; // what is wrong in a value, and which errors of it are told
pub mod evaluation; // the face: paths in, answers out
mod refill; // more for what was evaluated
mod report; // the order errors are told in
pub mod inspect; // one node as a whole
pub mod value; // versions, paths, and what can be asked of a place

pub use cue_builtin as builtin;
pub use cue_builtin::{encode, number};

pub use crate::budget::Budget;
pub use crate::compile::{LoadError, Profile, Source, compile};
pub use crate::error::Kind;
pub use crate::evaluation::{Addition, Concreteness, Diagnostic, Evaluation, Member};
pub use crate::export::Style;
pub use crate::printed::{Names, Show, Simplified};
pub use crate::program::{LabelKind, Presence, Program};
