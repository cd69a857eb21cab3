//! lateen-engine
#![forbid(unsafe_code)]
