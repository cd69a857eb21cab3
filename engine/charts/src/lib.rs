//! Helm charts and kustomizations, rendered in this process: files in, objects out; no I/O, no clock, no chance.
//!
//! ~~~text
//! archive or folder ─ files ─ chart ─ values ─ template (functions) ─▶ objects
//!                       └── kustomize ─────────────────────────────▶ objects
//! ~~~
//! 1. Equal input gives equal output: the time is given, and what charts draw by chance comes from a seed.
//! 2. Nothing a chart says may hang or exhaust the process: steps, text and depth are bounded.

pub mod files; // files of a tree, archives
pub mod value; // what templates work with
pub mod template; // Go templates
mod functions; // what templates may call
pub mod chart; // a chart and its subcharts
mod values; // values laid over values, conditions
pub mod helm; // a chart rendered
pub mod kustomize; // a kustomization built
pub mod yaml; // objects as text

pub use self::functions::versions;

/// Why something cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self(text)
    }
}
