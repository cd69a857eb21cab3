//! cue-eval
#![forbid(unsafe_code)]
