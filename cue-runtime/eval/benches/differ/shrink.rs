//! Programs made smaller, as long as they still show what is looked for.

use crate::programs;

/// The program with as few of its lines, and of what stands between commas in them, as still show the difference:
/// `stands` says which of several does.
pub fn cut(
    text: &str,
    stands: impl Fn(&[String]) -> Result<Option<usize>, String>,
) -> Result<String, String> {
    let mut lines = programs::declarations(text);
    loop {
        let mut tried = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let mut fewer = lines.clone();
            fewer.remove(at);
            tried.push(fewer);
            for less in without_a_part(line) {
                let mut shorter = lines.clone();
                shorter[at] = less;
                tried.push(shorter);
            }
        }
        // What takes most away is tried first.
        tried.sort_by_key(|it| it.iter().map(String::len).sum::<usize>());
        let texts: Vec<String> = tried.iter().map(|it| programs::with_imports(it)).collect();
        match stands(&texts)? {
            Some(at) => lines = tried[at].clone(),
            None => return Ok(programs::with_imports(&lines)),
        }
    }
}

/// The line without one of the parts of a struct or list in it, each in turn.
pub fn without_a_part(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    // Where the part that is read begins, of each bracket that is open.
    let mut open: Vec<usize> = Vec::new();
    let mut quoted = false;
    let mut escaped = false;
    for (at, it) in line.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' | '(' => open.push(at + 1),
            ',' | '}' | ']' | ')' => {
                let Some(start) = open.pop() else { continue };
                let before = line[..start].strip_suffix(',');
                if it == ',' {
                    all.push(format!("{}{}", &line[..start], line[at + 1..].trim_start()));
                    open.push(at + 1);
                } else if start < at {
                    all.push(format!("{}{}", before.unwrap_or(&line[..start]), &line[at..]));
                }
            }
            _ => {}
        }
    }
    all
}
