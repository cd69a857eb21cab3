//! Values as a program that uses the evaluator holds them: a source and what was filled in, places
//! in it by path, and what can be asked of a place.
//!
//! ~~~text
//! Version ─fill─▶ Version (the old one stays) ─evaluate─▶ Evaluation ─lookup─▶ place ─▶ answers
//! ~~~

pub mod path; // selectors and the text of a path
mod fill; // versions
mod lookup; // paths -> places
mod notes; // comments, attributes
mod scalar; // as string, int, bool, float; length
mod expression; // operator and operands
mod subsume; // is one value an instance of another

pub use expression::Expression;
pub use fill::{Filling, Version};
pub use path::{PathError, Selector, parse_path};
pub use scalar::Accessor;
