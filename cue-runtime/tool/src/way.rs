//! The imports that lead to a package, and what is told of one that fails.

use cue_session::{Diagnostic, Position};

use crate::filetype::import_path;
use crate::module::Imported;
use crate::{Error, diagnostic};

/// An import, and those that lead to the file it is in.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) import: Imported,
    above: Vec<Imported>,
}

impl From<Imported> for Way {
    fn from(import: Imported) -> Self {
        Self { import, above: Vec::new() }
    }
}

impl Way {
    /// The way to what the package imports that this one leads to.
    pub(crate) fn to(&self, import: Imported) -> Self {
        let above = self.above.iter().chain([&self.import]).cloned().collect();
        Self { import, above }
    }

    /// Whether it leads to a package that it comes from.
    pub(crate) fn leads_round(&self) -> bool {
        let named = |it: &str| {
            let parts = import_path(it);
            (
                parts.path.to_owned(),
                parts.version.map(str::to_owned),
                parts.package(it).ok().map(str::to_owned),
            )
        };
        self.above.iter().any(|it| named(&it.path) == named(&self.import.path))
    }

    /// What is told of an import that is none of any module.
    pub(crate) fn unlike_any(&self) -> Option<Error> {
        let path = &self.import.path;
        if path.starts_with("./") || path.starts_with("../") {
            return Some(self.refused(&format!("relative import paths not allowed ({path:?})")));
        }
        // No built-in package is known by a name of its own.
        (!is_outside(path) && path.contains(':')).then(|| {
            let Imported { at: (file, line, column), .. } = &self.import;
            let text = format!("builtin package {path:?} undefined");
            diagnostic(text, Some((file, *line, *column))).into()
        })
    }

    /// That what is imported cannot be loaded, told with the packages that lead there from `root`.
    pub(crate) fn failed(&self, root: &str, text: &str) -> Error {
        let above = self.above.iter().map(|it| it.path.as_str());
        let path = [root].into_iter().chain(above).filter(|it| !it.is_empty());
        let path = path.collect::<Vec<_>>().join(".");
        Diagnostic { path, ..self.led_to(diagnostic(text, None)) }.into()
    }

    /// The same told without them.
    pub(crate) fn refused(&self, text: &str) -> Error {
        self.led_to(diagnostic(text, None)).into()
    }

    /// That files of what is imported cannot be read.
    pub(crate) fn unread(&self, wrong: Vec<Diagnostic>) -> Error {
        Error::Diagnostics(wrong.into_iter().map(|it| self.led_to(it)).collect())
    }

    /// What is wrong, told with the imports that lead there.
    fn led_to(&self, mut wrong: Diagnostic) -> Diagnostic {
        let failed = "import failed: ".repeat(self.above.len() + 1);
        wrong.message.insert_str(0, &failed);
        let mut positions: Vec<Position> = Vec::new();
        for Imported { at: (file, line, column), .. } in self.above.iter().chain([&self.import]) {
            let at = Position { file: file.clone(), line: *line, column: *column };
            if !positions.contains(&at) {
                positions.push(at);
            }
        }
        positions.append(&mut wrong.positions);
        Diagnostic { positions, ..wrong }
    }
}

/// Whether a package is none that is built in, by its path.
pub(crate) fn is_outside(path: &str) -> bool {
    path.split('/').next().is_some_and(|it| it.contains('.'))
}
