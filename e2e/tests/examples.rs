//! Every example is delivered by the built binary, on a plane in its process.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::{Home, repository};

/// What the examples ask for in their first lines.
fn preparation(name: &str) -> &'static str {
    match name {
        "places" => {
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: places-test}\n---\n\
             apiVersion: v1\nkind: Namespace\nmetadata: {name: places-live}\n"
        }
        _ => "",
    }
}

#[test]
fn every_example_runs() {
    let mut names: Vec<String> = std::fs::read_dir(repository().join("examples"))
        .unwrap()
        .flatten()
        .filter(|it| {
            // Those that need a git repository are run by tests/git.rs.
            let text = std::fs::read_to_string(it.path().join("app.yaml"));
            text.is_ok_and(|it| !it.contains("https://git.example/"))
        })
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 11, "{names:?}");
    let mut failures = Vec::new();
    for name in &names {
        let home = Home::new();
        let folder = format!("examples/{name}");
        let mut arguments = vec!["up", "--ephemeral", "--timeout", "40", "--demo", &folder];
        let before = home.file("before.yaml", preparation(name));
        arguments.extend(["-f", before.to_str().unwrap()]);
        let answer = home.lateen(&arguments);
        if answer.code != 0 {
            failures.push(format!("{name}: code {}\n{}{}", answer.code, answer.err, answer.out));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
