//! Schemas in other languages: JSON Schema, OpenAPI and custom resources of Kubernetes, read as CUE and written from CUE.
//!
//! ~~~text
//! schema as data (JSON, YAML) ─decode─▶ CUE text          `cue import jsonschema`, `jsonschema:x.json`, `@embed`
//! value of a session ─generate─▶ JSON Schema as data      `cue def --out jsonschema`
//! ~~~
//! Invariants
//! 1. No I/O: texts go in and come out; what a schema refers to outside of itself is an import or an error.
//! 2. A schema that is wrong gives errors with the places in it, never a panic.
#![forbid(unsafe_code)]

pub mod decode; // schemas as CUE
pub mod generate; // CUE as JSON Schema
