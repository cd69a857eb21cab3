//! What is told of files in a folder that is not the working one, without the folder's name.

use std::path::Path;

/// Files are named as they are from the working folder, and some from the root on.
pub fn without(folder: &Path, text: &str) -> String {
    let here = std::env::current_dir().expect("a working folder");
    let up = "../".repeat(here.components().count() - 1);
    let from_root = folder.display().to_string();
    let relative = format!("{up}{}", from_root.trim_start_matches('/'));
    let text = text.replace(&format!("{relative}/"), "").replace(&format!("{from_root}/"), "");
    text.replace(&relative, ".").replace(&from_root, ".")
}
