//! The packages below `tool`: what tasks of `cue cmd` are made of. Nothing runs them here; as data
//! they are what the official command has: its fields, at its lines and columns.

use cue_session::{Package, Source};

/// Each package by its path, which is also what its positions name.
const PACKAGES: [(&str, &str); 5] = [
    ("tool/cli", include_str!("cli.cue")),
    ("tool/exec", include_str!("exec.cue")),
    ("tool/file", include_str!("file.cue")),
    ("tool/http", include_str!("http.cue")),
    ("tool/os", include_str!("os.cue")),
];

/// The package of that path, if it is one of these.
pub(crate) fn package(path: &str) -> Option<Package> {
    let (path, text) = PACKAGES.into_iter().find(|it| it.0 == path)?;
    Some(Package { path: path.to_owned(), sources: vec![Source::new(path, text)] })
}

/// Whether a position names one of these packages instead of a file.
pub(crate) fn is_package(file: &str) -> bool {
    PACKAGES.iter().any(|it| it.0 == file)
}
