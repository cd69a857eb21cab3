//! The CUE runtime as a wasm module.
