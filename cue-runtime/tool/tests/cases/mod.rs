//! Cases that are files: what is asked, the files of a folder, and what is printed of them.

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::{Request, evaluate};
use tempfile::TempDir;

use crate::folder::folder;

/// A case, laid out in a folder.
pub struct Case {
    pub name: String,
    pub text: String,
    pub folder: TempDir,
}

impl Case {
    /// The first line that begins with this mark, without it.
    pub fn line(&self, mark: &str) -> Option<&str> {
        self.text.lines().find_map(|it| it.strip_prefix(mark))
    }

    /// What is to be printed.
    pub fn want(&self) -> Option<&str> {
        sections(&self.text).find(|it| it.0 == "out").map(|it| it.1)
    }
}

/// The files of a case: `-- name --` stands above each.
fn sections(case: &str) -> impl Iterator<Item = (&str, &str)> {
    case.split("\n-- ").skip(1).filter_map(|it| it.split_once(" --\n"))
}

/// The cases below `tests` in a folder, each laid out with `more` files.
pub fn cases(of: &str, more: &[(&str, &str)]) -> Vec<Case> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(of);
    let entries = fs::read_dir(all).expect("cases").map(|it| it.expect("a case").path());
    let case = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).expect("text");
        let files = sections(&text).filter(|it| it.0 != "out");
        // The line break before the next name is that name's.
        let files: Vec<_> = files.map(|it| (it.0, format!("{}\n", it.1.trim_end()))).collect();
        let files = files.iter().map(|it| (it.0, it.1.as_str()));
        let folder = folder(&files.chain(more.iter().copied()).collect::<Vec<_>>());
        Case { name: path.display().to_string(), text, folder }
    };
    entries.map(case).collect()
}

/// What a command prints, or the first that is wrong.
pub fn printed(request: &Request) -> Result<String, String> {
    let outcome = evaluate(&NativeRuntime::default(), request).map_err(|it| it.to_string())?;
    match outcome.errors.first() {
        Some(error) => Err(error.to_string()),
        None => Ok(String::from_utf8_lossy(&outcome.output).into_owned()),
    }
}
