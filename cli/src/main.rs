//! The `lateen` binary.
#![forbid(unsafe_code)]

fn main() {}
