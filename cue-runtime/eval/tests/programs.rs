//! The programs that `make differ` compares are of use: they compile, and many have something to print.

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation, Style};

#[path = "../benches/differ/programs.rs"]
mod programs;

const BUDGET: Budget = Budget { ticks: 20_000, depth: 200, bytes: 20 << 20 };

#[test]
fn programs_made_by_chance_compile_and_end() {
    let work = || {
        let mut dice = programs::Dice(3);
        let (mut compiled, mut printed) = (0, 0);
        for _ in 0..200 {
            let text = programs::program(&mut dice);
            let backwards = programs::backwards(&text);
            assert_eq!(
                programs::declarations(&programs::backwards(&backwards)),
                programs::declarations(&text)
            );
            for text in [text, backwards] {
                // Aliases may meet in one struct.
                let Ok(program) = compile_text(&text) else { continue };
                compiled += 1;
                let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
                let root = it.find("").expect("it evaluates").expect("the root is there");
                if it.validate(root, Concreteness::Optional).is_empty() {
                    printed += usize::from(!it.syntax(root, Style::Eval).is_empty());
                }
            }
        }
        assert!(compiled > 320, "{compiled} of 400 compile");
        assert!(printed > 20, "{printed} of 400 are printed");
    };
    let worker = std::thread::Builder::new().stack_size(512 << 20).spawn(work);
    worker.expect("a thread").join().expect("it ends");
}

#[test]
fn parts_of_programs_stand_alone() {
    let mut dice = programs::Dice(3);
    let (mut asked, mut compiled) = (0, 0);
    for _ in 0..200 {
        for part in programs::parts(&programs::program(&mut dice), 4) {
            assert!(programs::declarations(&part).len() <= 4, "{part}");
            asked += 1;
            // A `let` is not taken along.
            compiled += usize::from(compile_text(&part).is_ok());
        }
    }
    assert!(asked > 100, "{asked} parts");
    assert!(compiled * 10 > asked * 9, "{compiled} of {asked} compile");
}
