//! Imports that failed, told by the packages that lead to them.

use std::collections::HashMap;

use cue_session::{Diagnostic, Package, Position, Source};

use crate::module::imported;

/// What every such error begins with.
const FAILED: &str = "import failed: ";

/// A package that is loaded.
struct Reached<'a> {
    sources: &'a [Source],
    /// The packages on the way to it.
    path: String,
    /// The imports on the way.
    positions: Vec<Position>,
}

/// Names the package that imports what is not there, and those that lead from `root` to it.
pub(crate) fn named(all: &mut [Diagnostic], root: &str, sources: &[Source], packages: &[Package]) {
    let told = |it: &&mut Diagnostic| it.code == "cue/load" && it.path.is_empty();
    let mut all = all.iter_mut().filter(told).peekable();
    if all.peek().is_none() {
        return;
    }
    let reached = reached(root, sources, packages);
    let mut parse: HashMap<&str, bool> = HashMap::new();
    for wrong in all {
        let at = wrong.positions.first().map(|it| it.file.as_str()).unwrap_or_default();
        let named = |it: &&Source| it.name == at;
        let found = reached.iter().find_map(|it| Some((it, it.sources.iter().find(named)?)));
        let Some((package, source)) = found else { continue };
        // What leads round is told without the packages that it leads through.
        let round = wrong.message.ends_with("import cycle not allowed");
        // What does not parse is told with the imports that lead there.
        match wrong.message.starts_with(FAILED) {
            true if !root.is_empty() && !round => wrong.path.clone_from(&package.path),
            true => {}
            false => {
                let parses = parse
                    .entry(&source.name)
                    .or_insert_with(|| cue_syntax::parse_file(&source.text).errors.is_empty());
                if *parses {
                    continue;
                }
                wrong.message.insert_str(0, &FAILED.repeat(package.positions.len()));
            }
        }
        wrong.positions.splice(0..0, package.positions.iter().cloned());
    }
}

/// The packages that `root` leads to, itself first. They are loaded by their paths, each with all that it imports
/// before the next.
fn reached<'a>(root: &str, sources: &'a [Source], packages: &'a [Package]) -> Vec<Reached<'a>> {
    let mut reached: Vec<Reached<'a>> = Vec::new();
    let mut ways = vec![Reached { sources, path: root.to_owned(), positions: Vec::new() }];
    while let Some(way) = ways.pop() {
        if reached.iter().any(|it| std::ptr::eq(it.sources, way.sources)) {
            continue;
        }
        let mut next = imported(way.sources);
        next.sort_by(|one, other| other.path.cmp(&one.path));
        for it in next {
            let Some(package) = packages.iter().find(|package| package.path == it.path) else {
                continue;
            };
            let (file, line, column) = it.at;
            let mut positions = way.positions.clone();
            positions.push(Position { file, line, column });
            let path = format!("{}.{}", way.path, package.path);
            ways.push(Reached { sources: &package.sources, path, positions });
        }
        reached.push(way);
    }
    reached
}
