//! Charts and kustomizations of `tests/cases`: files and values in, objects or an error out.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::path::Path;

use lateen_charts::chart::Chart;
use lateen_charts::files::Files;
use lateen_charts::{helm, kustomize};
use serde_json::{Value, json};

fn cases(name: &str) -> Vec<(String, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let all: Value = serde_yaml::from_str(&text).unwrap();
    let all: Vec<_> = all.as_object().unwrap().clone().into_iter().collect();
    assert!(all.len() > 3, "only {} cases", all.len());
    all
}

fn files(case: &Value) -> Files {
    let mut files = Files::default();
    for (path, text) in case["files"].as_object().unwrap() {
        files.add(path, text.as_str().unwrap().as_bytes().to_vec()).unwrap();
    }
    files
}

fn release() -> helm::Release {
    helm::Release {
        name: "rel".into(),
        namespace: "home".into(),
        revision: 1,
        kube_version: "v1.31.2".into(),
        api_versions: vec!["example.com/v1".into()],
        now: chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
        seed: "seed".into(),
        crds: true,
        hooks: true,
        tests: false,
    }
}

/// Case by case; what differs is told for all of them.
fn judge(name: &str, play: impl Fn(&Value) -> Result<Value, String>) {
    let mut failures = Vec::new();
    for (title, case) in cases(name) {
        let got = match play(&case) {
            Ok(got) => got,
            Err(error) => json!({ "error": error }),
        };
        let wanted = match &case["error"] {
            Value::Null => case["wanted"].clone(),
            error => json!({ "error": error }),
        };
        if got != wanted {
            let (got, wanted) = (got.to_string(), wanted.to_string());
            failures.push(format!("{title}\n  wanted {wanted}\n  got    {got}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn charts_render_to_what_is_wanted() {
    judge("helm.yaml", |case| {
        let chart = Chart::read(&files(case)).map_err(|it| it.to_string())?;
        let given = if case["values"].is_null() { json!({}) } else { case["values"].clone() };
        let rendered = helm::render(&chart, &given, &release()).map_err(|it| it.to_string())?;
        // A chart renders the same every time.
        assert_eq!(helm::render(&chart, &given, &release()), Ok(rendered.clone()));
        Ok(json!(rendered.objects))
    });
}

/// Every case is `template: what it prints`, with the same values.
#[test]
fn templates_print_what_is_wanted() {
    let mut failures = Vec::new();
    for (template, wanted) in cases("templates.yaml") {
        let mut files = Files::default();
        let about = b"{name: c, version: 1.2.3, appVersion: 7}";
        files.add("Chart.yaml", about.to_vec()).unwrap();
        let values = "{a: {b: 5, t: text, list: [x, y], empty: {}}, on: true, big: 1000000, f: 1.5, m: \"a\\nb\"}";
        files.add("values.yaml", values.as_bytes().to_vec()).unwrap();
        files.add("files/x.txt", b"one\ntwo".to_vec()).unwrap();
        files.add("templates/NOTES.txt", template.as_bytes().to_vec()).unwrap();
        files.add("templates/_t.tpl", b"{{ define \"t\" }}<{{ .b }}>{{ end }}".to_vec()).unwrap();
        let chart = Chart::read(&files).unwrap();
        let got = helm::render(&chart, &json!({}), &release());
        let got = got.map_or_else(|it| format!("error: {it}"), |it| it.notes);
        if json!(got) != wanted {
            failures.push(format!("{template}\n  wanted {wanted}\n  got    {got:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn kustomizations_build_to_what_is_wanted() {
    judge("kustomize.yaml", |case| {
        let folder = case["folder"].as_str().unwrap_or(".");
        let built = kustomize::build(&files(case), folder).map_err(|it| it.to_string())?;
        Ok(json!(built))
    });
}
