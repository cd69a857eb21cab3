//! Requests and what is answered, from `tests/cases/*.txt`. Each file is played on a plane of its own:
//!
//! ~~~text
//! # what this shows
//! POST /api/v1/namespaces/default/configmaps?dryRun=All
//! Content-Type: application/json
//! {"metadata": {"name": "a"}}
//! < 201
//! < /metadata/name "a"
//! < /spec absent
//! < warning: 299 - "text"
//! ~~~
//! A line `< text: …` compares a body that is not JSON.

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use local_server::{Options, Plane};
use serde_json::Value;
use tower::ServiceExt;

struct Step {
    line: usize,
    request: String,
    headers: Vec<(String, String)>,
    body: String,
    wanted: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let verb = line.split(' ').next().unwrap_or_default();
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(&verb) {
            steps.push(Step {
                line: index + 1,
                request: line.to_owned(),
                headers: Vec::new(),
                body: String::new(),
                wanted: Vec::new(),
            });
            continue;
        }
        let step = steps.last_mut().expect("a request comes first");
        if let Some(wanted) = line.strip_prefix("< ") {
            step.wanted.push(wanted.to_owned());
        } else if let (Some((name, value)), true) = (line.split_once(": "), step.body.is_empty()) {
            if line.starts_with(|c: char| c.is_ascii_uppercase()) {
                step.headers.push((name.to_owned(), value.to_owned()));
            } else {
                step.body.push_str(line);
            }
        } else {
            step.body.push_str(line);
            step.body.push('\n');
        }
    }
    steps
}

async fn play(plane: &Plane, step: &Step, name: &str) -> Vec<String> {
    let (verb, path) = step.request.split_once(' ').expect("a verb and a path");
    let mut request = Request::builder().method(verb).uri(path.replace(' ', "%20"));
    let given =
        |wanted: &str| step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    if !step.body.is_empty() && !given("content-type") {
        request = request.header("Content-Type", "application/json");
    }
    request = request.header("User-Agent", "test");
    for (name, value) in &step.headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(step.body.clone())).expect("a request");
    let answer = plane.service().oneshot(request).await.expect("an answer");
    let (parts, body) = answer.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut wrong = Vec::new();
    for wanted in &step.wanted {
        let (at, value) = wanted.split_once(' ').unwrap_or((wanted, ""));
        let said = match at {
            _ if at.bytes().all(|byte| byte.is_ascii_digit()) => {
                (parts.status.as_u16().to_string() == at).then_some(String::new()).ok_or(format!(
                    "{} {}",
                    parts.status.as_u16(),
                    text.trim()
                ))
            }
            "text:" => (text.trim() == value).then_some(String::new()).ok_or(text.clone()),
            _ if at.ends_with(':') => {
                let all: Vec<String> = parts
                    .headers
                    .get_all(at.trim_end_matches(':'))
                    .iter()
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                    .collect();
                let fits = all.iter().any(|one| one == value);
                fits.then_some(String::new()).ok_or(format!("{all:?}"))
            }
            _ => {
                let found = json.pointer(at);
                let fits = match value {
                    "absent" => found.is_none(),
                    "present" => found.is_some(),
                    _ => {
                        let wanted: Value = serde_json::from_str(value).unwrap_or_else(|error| {
                            panic!("{name}:{}: {value}: {error}", step.line)
                        });
                        found == Some(&wanted)
                    }
                };
                let shown = found.map_or("nothing".to_owned(), ToString::to_string);
                fits.then_some(String::new()).ok_or(shown)
            }
        };
        if let Err(said) = said {
            wrong.push(format!(
                "{name}:{}: {}\n   wanted {wanted}\n   got {said}",
                step.line, step.request
            ));
        }
    }
    wrong
}

#[tokio::test]
async fn requests_are_answered_as_recorded() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a case");
        let plane = Plane::new(Options::default()).expect("a plane");
        let steps = steps(&text);
        assert!(!steps.is_empty(), "{name} asks nothing");
        for step in &steps {
            assert!(!step.wanted.is_empty(), "{name}:{} expects nothing", step.line);
            wrong.extend(play(&plane, step, &name).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
