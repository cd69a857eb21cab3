//! lateen-controller
#![forbid(unsafe_code)]
