//! Values as text and text as values: JSON and YAML.
//!
//! ~~~text
//! evaluator -events-> json::Writer, yaml::Writer -> text
//! text -json::decode, yaml::decode-> Datum, with the byte offset of every value
//! ~~~
//! Invariants
//! 1. No recursion on the depth of a value. (tests: 100,000 levels)
//! 2. Reading what was written gives the value back. (tests)

