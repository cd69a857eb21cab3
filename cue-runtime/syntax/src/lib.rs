//! cue-syntax
#![forbid(unsafe_code)]
