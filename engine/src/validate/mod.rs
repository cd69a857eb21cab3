//! What admission refuses, and why: Applications and definitions, before they are stored.

mod application; // Applications: names, steps, definitions, parameters
mod definition; // definitions: template, version
mod immutable; // parameters that may not change
mod structure; // names, dependencies, timeouts

pub use self::application::{Refusal, application, message, name_steps};
pub use self::definition::definition;
pub use self::structure::structure;
