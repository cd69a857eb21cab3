//! The sandbox answers, has no imports, and survives what a guest may do to it.

use cue_host::{Options, SandboxRuntime};
use cue_session::{Budget, Input, Profile, ProgramSpec, Runtime, Source};

fn runtime() -> SandboxRuntime {
    let cache = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cwasm");
    SandboxRuntime::new(Options { cache: Some(cache), warm: 2, memory: 256 << 20 })
        .expect("a sandbox")
}

fn spec(text: &str) -> ProgramSpec {
    ProgramSpec {
        sources: vec![Source::new("in.cue", text)],
        packages: Vec::new(),
        profile: Profile::V017,
    }
}

#[test]
fn a_program_is_compiled_and_asked() {
    let runtime = runtime();
    let program = runtime.compile(spec("parameter: _\nout: replicas: parameter.n + 1")).unwrap();
    for n in [1, 41] {
        let input = Input::new("parameter", format!("{{\"n\":{n}}}"));
        let mut session = runtime.start(&program, vec![input], Budget::DEFINITION).unwrap();
        assert_eq!(
            session.value("out").unwrap(),
            Some(serde_json::json!({ "replicas": n + 1 })),
            "warm instances forget the session before"
        );
    }
}

#[test]
fn a_small_stack_is_enough_for_the_caller() {
    let runtime = runtime();
    let text = format!("x: {}1{}", "(".repeat(9_900), ")".repeat(9_900));
    let done = std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(move || {
            let program = runtime.compile(spec(&text)).unwrap();
            let mut session = runtime.start(&program, Vec::new(), Budget::DEFINITION).unwrap();
            session.value("x").unwrap()
        })
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(done, Some(serde_json::json!(1)));
}
