//! Parses files and prints their errors.
fn main() {
    let mut bad = 0;
    for name in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&name).unwrap_or_default();
        let parsed = cue_syntax::parse_file(&text);
        let index = cue_syntax::LineIndex::new(&text);
        for error in &parsed.errors {
            let (line, column) = index.at(error.span.start);
            println!("{name}:{line}:{column}: {}", error.message);
        }
        bad += usize::from(!parsed.errors.is_empty());
    }
    println!("{bad} files with errors");
}
