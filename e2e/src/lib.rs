//! lateen-e2e
#![forbid(unsafe_code)]
