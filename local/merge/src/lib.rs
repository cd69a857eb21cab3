//! local-merge
#![forbid(unsafe_code)]
