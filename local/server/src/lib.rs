//! local-server
#![forbid(unsafe_code)]
