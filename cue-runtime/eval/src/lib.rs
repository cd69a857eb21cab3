//! cue-eval
#![forbid(unsafe_code)]

pub mod number; // exact decimals, their arithmetic and text
pub mod builtin; // strings, list, math, ...: one file per package
pub mod encode; // JSON and YAML, both ways
