//! lateen-definitions
#![forbid(unsafe_code)]
