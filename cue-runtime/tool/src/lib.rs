//! What `cue` does with files: eval, export, vet, def, fmt and import, without a command line.
//!
//! ~~~text
//! arguments -load-> packages, values -plan-> units -+-> Session -print-> JSON, YAML, TOML, CUE, text
//!             tags, @if          -l, --list   -e, -d -+
//! ~~~
//! Invariants
//! 1. Nothing is printed of a value that is not valid.
//! 2. Every failure names its file and, where there is one, its position.
#![forbid(unsafe_code)]

pub mod error; // why a command failed, as it is told
pub mod filetype; // qualifiers and endings: what an argument is
pub mod read; // bytes of files
mod experiments; // `CUE_EXPERIMENT`
mod condition; // `@if`, `@ignore`
mod folder; // the files of a package
mod module; // the module around them
mod modpath; // what it may be called
mod way; // imports that lead to a package
mod replaced; // modules that folders stand for
mod tasks; // `tool/*`
mod named; // files that are named one by one
pub mod load; // arguments -> packages and values
pub mod tags; // `-t key=value` -> fields
mod system; // `-T`: time, machine, user
mod form; // CUE that is to be data
pub mod data; // JSON, YAML, TOML, text: both ways
mod spelled; // scalars of data as CUE
mod refused; // numbers that CUE has not
mod located; // where data stands in its file
mod tables; // TOML as CUE
mod interpreted; // schemas in other languages as CUE
mod embed; // `@embed`
mod scope; // what expressions of the command line see
pub mod place; // `-l`, `--list`: where data goes
mod plan; // what is evaluated together
mod part; // `def -e`
mod sound; // what is told before what was asked
mod opened; // the value that was asked for
mod output; // a value as data
pub mod evaluate; // eval, export, vet, def
mod answer; // of one expression: an error, or a text
mod as_cue; // a value as CUE
mod failed; // imports that failed
mod told; // what is wrong, where it stands
mod schema; // positions beside a schema
pub mod explained; // what is wrong, with the lines it is about
mod described; // --out openapi
mod generated; // --out jsonschema
mod difference; // fmt -d
pub mod format; // fmt
mod remarks; // comments of YAML
mod written; // data as CUE text
mod hoist; // `import -R`
mod marshalled; // what that imports
mod truth; // flags and tags that are true or false
pub mod import; // import
pub mod crds; // get crd

pub use crate::data::Encoding;
pub use crate::error::Error;
pub(crate) use crate::error::diagnostic;
pub use crate::evaluate::{Request, Verb, evaluate};
pub use crate::load::Load;
pub use crate::truth::truth;
