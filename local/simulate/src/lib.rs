//! local-simulate
#![forbid(unsafe_code)]
