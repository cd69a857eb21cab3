//! cue-patch
#![forbid(unsafe_code)]
