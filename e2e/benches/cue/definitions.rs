//! The shipped definitions with parameters of recorded Applications: each side reads, compiles, evaluates and
//! exports `output`; ours also in the sandbox with the compiled definition kept, as the controller renders.

use std::path::Path;
use std::time::Instant;

use cue_host::{Options, SandboxRuntime};
use cue_session::{Budget, Input, NativeRuntime, Profile, Program, ProgramSpec, Runtime, Source};
use lateen_e2e::canonical::canonical;
use serde_json::Value;

use crate::Sides;
use crate::side::{Asked, Question, ROUNDS, Ran, Side};

struct Case {
    name: String,
    template: String,
    parameter: String,
}

const CONTEXT: &str = r#"{"name":"web","namespace":"default","appName":"app","appRevision":"app-v1","appRevisionNum":1,"components":[],"output":{},"outputs":{},"clusterVersion":{"major":"1","minor":"31"},"revision":"web-v1","workflowName":"","publishVersion":"","cluster":"","appLabels":{},"appAnnotations":{}}"#;

fn cases(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut all = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("render"))?.flatten().map(|it| it.path()).collect();
    files.sort();
    for file in files {
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        for component in case["app"]["spec"]["components"].as_array().into_iter().flatten() {
            let kind = component["type"].as_str().unwrap_or_default();
            let object =
                folder.join(format!("definitions/objects/ComponentDefinition.{kind}.json"));
            let Ok(object) = std::fs::read_to_string(object) else { continue };
            let object: Value = serde_json::from_str(&object)?;
            let Some(template) = object["spec"]["schematic"]["cue"]["template"].as_str() else {
                continue;
            };
            let parameter = match &component["properties"] {
                Value::Null => "{}".to_owned(),
                given => given.to_string(),
            };
            all.push(Case { name: kind.to_owned(), template: template.to_owned(), parameter });
        }
    }
    all.sort_by(|a, b| (&a.name, &a.parameter).cmp(&(&b.name, &b.parameter)));
    all.dedup_by(|a, b| a.name == b.name && a.parameter == b.parameter);
    Ok(all)
}

/// Best time with the compiled definition kept.
fn kept(runtime: &dyn Runtime, case: &Case) -> Option<(f64, String)> {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new(
            "a.cue",
            format!("{}\nparameter: _\ncontext: _\n", case.template),
        )],
        packages: Vec::new(),
        profile: Profile::V017,
    });
    let (mut best, mut value) = (f64::INFINITY, String::new());
    for _ in 0..4 * ROUNDS {
        let began = Instant::now();
        let inputs = vec![
            Input::new("parameter", case.parameter.clone()),
            Input::new("context", CONTEXT.to_owned()),
        ];
        let mut session = runtime.start(&program, inputs, Budget::DEFINITION).ok()?;
        value = session.json("output").ok()??;
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    Some((best, value))
}

pub(crate) fn compare(folder: &Path, sides: &mut Sides) -> anyhow::Result<()> {
    let cache = tempfile::tempdir()?;
    let sandbox = SandboxRuntime::new(Options {
        cache: Some(cache.path().to_owned()),
        warm: 2,
        memory: 256 << 20,
    })?;
    let native = NativeRuntime::default();
    let mut sums: std::collections::BTreeMap<String, [f64; 5]> = std::collections::BTreeMap::new();
    let mut different = Vec::new();
    for case in cases(folder)? {
        let text =
            format!("{}\nparameter: {}\ncontext: {CONTEXT}\n", case.template, case.parameter);
        let asked = Asked {
            files: vec![("a.cue".into(), text)],
            question: Question::Value("output".into()),
        };
        let (Ran::Done { ms: mine, value, .. }, Ran::Done { ms: other, value: theirs, .. }) =
            (sides.0.ask(&asked)?, sides.1.ask(&asked)?)
        else {
            continue;
        };
        if value.is_empty() || theirs.is_empty() {
            if value.is_empty() != theirs.is_empty() {
                different.push(case.name.clone());
            }
            continue;
        }
        let natively = NativeRuntime::on_deep_stack(|| kept(&native, &case))?;
        let (Some(sandboxed), Some(natively)) = (kept(&sandbox, &case), natively) else {
            different.push(case.name.clone());
            continue;
        };
        let wanted = canonical(&theirs);
        if [&value, &sandboxed.1, &natively.1].into_iter().any(|it| canonical(it) != wanted) {
            different.push(case.name.clone());
        }
        let sum = sums.entry(case.name).or_default();
        for (held, more) in sum.iter_mut().zip([1.0, other, mine, natively.0, sandboxed.0]) {
            *held += more;
        }
    }
    println!(
        "| definition | parameters | official, ms | native, from text, ms | native, kept, ms | sandbox, kept, ms | sandbox: times as fast |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut total = [0.0; 5];
    for (name, sum) in &sums {
        total.iter_mut().zip(sum).for_each(|(held, more)| *held += more);
        line(name, sum);
    }
    line("all", &total);
    println!(
        "\nAnother answer: {}.\n",
        if different.is_empty() { "none".into() } else { different.join(", ") }
    );
    Ok(())
}

fn line(name: &str, [count, official, text, native, sandbox]: &[f64; 5]) {
    println!(
        "| {name} | {count} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} |",
        official / count,
        text / count,
        native / count,
        sandbox / count,
        official / sandbox
    );
}
