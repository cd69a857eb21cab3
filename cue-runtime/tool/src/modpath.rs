//! Whether the path that a module gives itself is one.

/// Why a path, with its major version if it has one, cannot be that of a module.
///
/// # Errors
/// That.
pub(crate) fn check(path: &str) -> Result<(), String> {
    let Some((own, version)) = path.split_once('@') else {
        return element_wise(path)
            .map_err(|why| format!("module path {path:?} is not valid: {why}"));
    };
    let major = version.strip_prefix('v').filter(|it| !it.is_empty());
    let is_number = |it: &str| it == "0" || !it.starts_with('0');
    if major.is_none_or(|it| !is_number(it) || !it.chars().all(|it| it.is_ascii_digit())) {
        return Err(format!("module path {path} should contain the major version only"));
    }
    element_wise(own).map_err(|why| format!("malformed module path {path:?}: {why}"))
}

fn element_wise(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("empty string".into());
    }
    if path.starts_with('-') {
        return Err("leading dash".into());
    }
    if path.contains("//") {
        return Err("double slash".into());
    }
    if path.ends_with('/') {
        return Err("trailing slash".into());
    }
    path.split('/').try_for_each(element)?;
    let first = path.split('/').next().unwrap_or_default();
    if !first.contains('.') {
        return Err("missing dot in first path element".into());
    }
    match first.contains('_') {
        true => Err("invalid char '_' in first path element".into()),
        false => Ok(()),
    }
}

fn element(text: &str) -> Result<(), String> {
    let is_mark = |it: &char| matches!(it, '.' | '_' | '-');
    if text.is_empty() {
        return Err("empty path element".into());
    }
    if text.chars().all(|it| it == '.') {
        return Err(format!("invalid path element {text:?}"));
    }
    if let Some(first) = text.chars().next().filter(is_mark) {
        return Err(format!("leading {first:?} in path element"));
    }
    if let Some(last) = text.chars().next_back().filter(is_mark) {
        return Err(format!("trailing {last:?} in path element"));
    }
    let is_known = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || is_mark(&it);
    match text.chars().find(|it| !is_known(*it)) {
        Some(other) => Err(format!("invalid char {other:?}")),
        None => Ok(()),
    }
}
