//! Whether the interpreter answers in the sandbox what it answers natively: every recorded CUE program is compiled
//! and asked everything there is to ask without knowing it, in both profiles; each answer must be the same, byte for
//! byte.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use cue_host::{MEMORY, Options, SandboxRuntime};
use cue_session::{
    Answer, Budget, Call, Concreteness, Fault, FieldSelection, NativeRuntime, Package, Profile,
    ProgramSpec, Runtime, Source, SyntaxStyle,
};
use serde_json::Value;

use crate::cue_eval::{BUDGET, played, records, sources};
use crate::score::Scores;

const STYLES: [SyntaxStyle; 3] = [SyntaxStyle::Eval, SyntaxStyle::Final, SyntaxStyle::Definition];

/// Members that are asked by themselves.
const MEMBERS: usize = 20;

/// Scores `cue/eval`, `cue/pkg` and `cue/idioms` as `cue.sandbox`: a case for each program and profile.
///
/// # Errors
/// A folder or file cannot be read, or there is no sandbox.
pub fn run(cases: &Path, work: &Path) -> anyhow::Result<Scores> {
    let options = Options { cache: Some(work.join("cache")), warm: 4, memory: MEMORY };
    let sandbox = Arc::new(SandboxRuntime::new(options)?);
    let native = Arc::new(NativeRuntime::default());
    let mut scores = Scores::default();
    for suite in ["eval", "pkg", "idioms"] {
        let (native, sandbox) = (native.clone(), sandbox.clone());
        scores.merge(played(&records(&cases.join("cue").join(suite))?, move |case| {
            let profiles = [Profile::V017, Profile::KubeVela];
            let compared = profiles.into_iter().map(|profile| {
                let spec = spec(case, profile);
                let (one, other) = (asked(&*native, &spec), asked(&*sandbox, &spec));
                let differs = one.iter().zip(&other).find(|(one, other)| one != other);
                let same = differs.is_none() && one.len() == other.len() && !one.is_empty();
                let what = format!("{profile:?}, natively and in the sandbox: {differs:?}");
                ("cue.sandbox".to_owned(), same, what)
            });
            compared.collect()
        }));
    }
    Ok(scores)
}

fn spec(case: &Value, profile: Profile) -> ProgramSpec {
    let (files, packages) = sources(&case["files"], &case["entry"]["args"]);
    let own = |all: Vec<cue_eval::Source>| {
        all.into_iter().map(|it| Source::new(it.name, &*it.text)).collect::<Vec<_>>()
    };
    let packages =
        packages.into_iter().map(|(path, files)| Package { path, sources: own(files) }).collect();
    ProgramSpec { sources: own(files), packages, profile }
}

/// An answer: how it begins, and all of it hashed, for it may be long.
#[derive(Debug, PartialEq)]
struct Said {
    call: String,
    begins: String,
    hash: u64,
}

impl Said {
    fn of(call: &Call, answer: &Result<Answer, Fault>) -> Said {
        let text = format!("{answer:?}");
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let begin = |text: &str| text.chars().take(200).collect();
        let call = match call {
            Call::Compile(_) => "Compile".to_owned(),
            other => begin(&format!("{other:?}")),
        };
        Said { call, begins: begin(&text), hash: hasher.finish() }
    }
}

/// What a runtime answers to all questions.
fn asked(runtime: &dyn Runtime, spec: &ProgramSpec) -> Vec<Said> {
    let mut said = Vec::new();
    let Ok(mut instance) = runtime.instance() else { return said };
    let mut ask = |call: Call| {
        let answer = instance.call(&call);
        said.push(Said::of(&call, &answer));
        answer.ok()
    };
    let Some(Answer::Program(program)) = ask(Call::Compile(spec.clone())) else { return said };
    let budget = Budget { ticks: BUDGET.ticks, depth: BUDGET.depth, bytes: BUDGET.bytes };
    ask(Call::Start { program, inputs: Vec::new(), budget });
    let mut paths = vec![String::new()];
    let members = ask(Call::Fields(String::new(), FieldSelection::All));
    if let Some(Answer::Fields(Some(fields))) = members {
        paths.extend(fields.into_iter().take(MEMBERS).map(|it| it.path));
    }
    for path in paths {
        ask(Call::Kinds(path.clone()));
        ask(Call::Json(path.clone()));
        ask(Call::JsonLenient(path.clone()));
        ask(Call::Validate(path.clone(), Concreteness::Required));
        ask(Call::Validate(path.clone(), Concreteness::Optional));
        ask(Call::Schema(path.clone()));
        for style in STYLES {
            ask(Call::Syntax(path.clone(), style));
        }
    }
    said
}
