//! What a schema says of itself as comments.

/// Up to this length a line of a description stays as it is.
const LONGEST: usize = 100;
/// Where longer ones are broken.
const WIDTH: usize = 80;

/// Title and description as lines of a comment; none for nothing.
pub(crate) fn lines(title: &str, description: &str) -> Vec<String> {
    let title = title.trim();
    let gap = if title.is_empty() || description.is_empty() { "" } else { "\n\n" };
    let text = match description {
        "" => title.to_owned(),
        _ => format!("{title}{gap}{description}").trim().to_owned(),
    };
    of_text(&text)
}

/// A text as lines of a comment.
pub(crate) fn of_text(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let ended = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return lines;
    }
    for line in ended.split('\n') {
        let words: Vec<&str> = line.split_whitespace().collect();
        let joined = words.join(" ");
        if joined.is_empty() {
            lines.push("//".to_owned());
        } else if joined.chars().count() + "// ".len() <= LONGEST {
            lines.push(format!("// {joined}"));
        } else {
            wrap(&words, &mut lines);
        }
    }
    if lines.last().is_some_and(|it| it == "//") {
        lines.pop();
    }
    lines
}

/// As many words on each line as go there.
fn wrap(words: &[&str], lines: &mut Vec<String>) {
    let mut line = String::from("//");
    let mut width = line.len();
    for word in words {
        let more = word.chars().count() + 1;
        if width + more > WIDTH && width > "// ".len() {
            lines.push(std::mem::replace(&mut line, String::from("//")));
            width = "// ".len();
        }
        line.push(' ');
        line.push_str(word);
        width += more;
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn long_lines_are_broken() {
        let told = lines(" A title ", &"word ".repeat(30));
        assert_eq!(told[..2], ["// A title".to_owned(), "//".to_owned()]);
        assert_eq!(told.len(), 4);
        assert!(told.iter().all(|it| it.len() <= 80));
        assert_eq!(lines("", "a\n\n  b\n"), ["// a", "//", "// b"]);
        assert!(lines("", "").is_empty());
    }
}
