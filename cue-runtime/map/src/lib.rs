//! Hash maps and sets whose table is compiled once, for the size of the sandbox.
//!
//! ~~~text
//! key -hash-> slot -> place -> (key, value)      in order of insertion; up to eight without slots
//! ~~~
//! The standard library's tables, `hashbrown::HashTable` and `indexmap` compile growing anew for
//! every type, 1.6 KB in the sandbox each time. Here a table knows hashes and places only, so that
//! growing and removing are one piece of code; what is compiled for a type is a vector of entries
//! and the comparison of keys.
//!
//! Entries are walked in the order they were inserted in, until one is removed: then the last one
//! takes its place.
#![forbid(unsafe_code)]

mod table; // hashes to places
mod map; // keys to values
mod set; // keys alone
mod places; // keys of entries that stand elsewhere

pub use crate::map::{Entry, IntoIter, Iter, Map, Occupied, Vacant};
pub use crate::places::Places;
pub use crate::set::Set;
