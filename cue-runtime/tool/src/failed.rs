//! Imports that failed, told by the packages that lead to them.

use cue_session::{Diagnostic, Package, Position, Source};

use crate::module::imported;

/// What every such error begins with.
const FAILED: &str = "import failed: ";

/// Names the package that imports what is not there, and those that lead from `root` to it.
pub(crate) fn named(wrong: &mut Diagnostic, root: &str, sources: &[Source], packages: &[Package]) {
    let at = wrong.positions.first().map(|it| it.file.clone()).unwrap_or_default();
    // What does not parse is told with the imports that lead there.
    let failed = wrong.message.starts_with(FAILED);
    if wrong.code != "cue/load" || !wrong.path.is_empty() {
        return;
    }
    // What leads round is told without the packages that it leads through.
    let round = wrong.message.ends_with("import cycle not allowed");
    // From each package that is to be reached: how, and from which import. Packages are loaded by their paths, each
    // with all that it imports before the next.
    let mut ways: Vec<(&[Source], String, Vec<Position>)> =
        vec![(sources, root.to_owned(), Vec::new())];
    let mut reached: Vec<&[Source]> = Vec::new();
    while let Some((sources, path, positions)) = ways.pop() {
        if reached.iter().any(|it| std::ptr::eq(*it, sources)) {
            continue;
        }
        reached.push(sources);
        if let Some(source) = sources.iter().find(|it| it.name == at) {
            match failed {
                true if !root.is_empty() && !round => wrong.path = path,
                true => {}
                false if cue_syntax::parse_file(&source.text).errors.is_empty() => return,
                false => wrong.message.insert_str(0, &FAILED.repeat(positions.len())),
            }
            wrong.positions.splice(0..0, positions);
            return;
        }
        let mut next = imported(sources);
        next.sort_by(|one, other| other.path.cmp(&one.path));
        for it in next {
            let Some(package) = packages.iter().find(|package| package.path == it.path) else {
                continue;
            };
            let (file, line, column) = it.at;
            let mut positions = positions.clone();
            positions.push(Position { file, line, column });
            ways.push((&package.sources, format!("{path}.{}", package.path), positions));
        }
    }
}
