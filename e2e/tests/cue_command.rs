//! `lateen cue` beside the official command: the same command lines in folders of the same files, what
//! they print, how they end and which files they leave.
//!
//! `CUE_ORACLE` names what asks the official implementation, as for `make differ`; without it nothing
//! is compared. A line behind `~` is answered differently and known to be (cue-runtime/DIVERGENCES.md).
#![forbid(unsafe_code)]

use lateen_e2e::bench::Home;
use lateen_e2e::command_lines::{Cases, both, official};

const CASES: &str = include_str!("cue_command/cases.txt");

#[test]
fn answers_as_the_official_command() {
    let Some(program) = official() else {
        eprintln!("CUE_ORACLE names no program to compare with");
        return;
    };
    let home = Home::new();
    let Cases { lines, files } = Cases::parse(CASES);
    assert!(lines.len() > 200, "{} lines", lines.len());
    let mut wrong = Vec::new();
    for (known, line) in &lines {
        let (official, ours) = both((&program, &home), line, &files, "");
        let shown = line.join(" ");
        if (official == ours) == *known {
            wrong.push(match known {
                true => format!("cue {shown}: the same now; take the ~ away"),
                false => format!("cue {shown}\n official {official:#?}\n ours {ours:#?}"),
            });
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}
