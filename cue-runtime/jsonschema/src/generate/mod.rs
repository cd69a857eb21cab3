//! A value as JSON Schema.
