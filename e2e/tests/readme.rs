//! The commands of README.md do what is said there.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::{Home, Plane, repository};

/// Lines that start with `lateen` in the code blocks of the README, as words.
fn commands() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if let Some(rest) = line.strip_prefix("lateen ").filter(|_| inside) {
            let command = rest.split(" #").next().unwrap_or(rest);
            found.push(command.split_whitespace().map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn the_commands_of_the_readme_work() {
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    let plane = Plane::start().unwrap();
    for command in &commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words.as_slice() {
            // Services: local.rs and every plane of these tests start them.
            ["controller", ..] | ["local", ..] => {
                Home::new().lateen(&[words[0], "--help"]).ok();
            }
            ["workflow", "resume", name] => {
                plane.until(name, "{.status.status}", "workflowSuspending");
                plane.lateen(&words).ok();
                plane.until(name, "{.status.status}", "running");
            }
            // It stops at its suspend step: not done is what it says.
            ["up", "-f", "examples/approval/app.yaml"] => {
                let answer = plane.lateen(&words);
                assert_eq!(answer.code, 1, "{answer:?}");
            }
            _ => {
                plane.lateen(&words).ok();
            }
        }
    }
}
