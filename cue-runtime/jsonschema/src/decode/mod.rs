//! A schema as CUE.
