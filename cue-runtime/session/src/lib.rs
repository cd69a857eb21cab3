//! cue-session
#![forbid(unsafe_code)]
