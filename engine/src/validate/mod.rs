//! What admission refuses, and why: Applications and definitions, before they are stored.

mod application; // Applications: names, steps, definitions, parameters
mod definition; // definitions: template, version
mod immutable; // parameters that may not change
mod advice; // types and parameters nobody declares
mod widened; // what guards declare for the parameters that are given
mod suggestion; // the nearest known name
mod structure; // names, dependencies, timeouts

pub use self::advice::{Advice, advice};
pub use self::application::{Refusal, application, message};
pub use self::definition::definition;
pub use self::structure::structure;
pub use self::suggestion::nearest;
