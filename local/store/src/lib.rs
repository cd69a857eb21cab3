//! local-store
#![forbid(unsafe_code)]
