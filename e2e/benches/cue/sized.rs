//! Programs that are written for a size: both sides are asked the same of each.

use std::fmt::Write as _;

use crate::side::{Asked, Question, Side};
use crate::{Sides, point, points};

/// A name, sizes, and the text of a size.
pub(crate) type Program = (&'static str, [usize; 3], fn(usize) -> String);

/// What is first, and a line for each number.
pub(crate) fn lines(first: &str, count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = first.to_owned();
    for at in 0..count {
        let _ = writeln!(text, "{}", line(at));
    }
    text
}

/// Asks both sides about each program, and prints how long that took.
pub(crate) fn compare(
    title: &str,
    programs: &[Program],
    question: fn() -> Question,
    sides: &mut Sides,
) -> anyhow::Result<()> {
    points(title);
    for (name, sizes, text) in programs {
        for n in *sizes {
            let files = vec![("x.cue".to_owned(), text(n))];
            let asked = Asked { files, question: question() };
            let (mine, other) = (sides.0.ask(&asked)?, sides.1.ask(&asked)?);
            point(name, n as u64, &mine, &other);
        }
    }
    println!();
    Ok(())
}
