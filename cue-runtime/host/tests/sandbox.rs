//! The sandbox answers, has no imports, and survives what a guest may do to it.

use cue_host::{MEMORY, Options, SandboxRuntime};
use cue_session::{
    Budget, Concreteness, Error, Input, NativeRuntime, Profile, ProgramSpec, Runtime, Source,
    SyntaxStyle,
};

fn runtime() -> SandboxRuntime {
    let cache = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cwasm");
    SandboxRuntime::new(Options { cache: Some(cache), warm: 2, memory: MEMORY }).expect("a sandbox")
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

/// What a runtime says of a text; an error of the sandbox itself is none of the text's.
fn told(runtime: &dyn Runtime, text: &str) -> Vec<String> {
    let asked = runtime.compile(spec(text)).and_then(|program| {
        let mut session = runtime.start(&program, Vec::new(), Budget::DEFINITION)?;
        let wrong = session.validate("", Concreteness::Required)?;
        if wrong.is_empty() {
            session.json("")?;
        }
        Ok(wrong)
    });
    match asked {
        Ok(all) | Err(Error::Diagnostics(all)) => all.iter().map(ToString::to_string).collect(),
        Err(Error::Fault(fault)) => panic!("the sandbox broke: {fault}"),
    }
}

#[test]
fn programs_without_end_are_stopped_alike_natively_and_in_the_sandbox() {
    let (sandbox, native) = (runtime(), NativeRuntime::default());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../eval/tests/cases/endless");
    let mut played = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let words = text.lines().next().and_then(|it| it.strip_prefix("// error: "));
        let all = told(&sandbox, &text);
        assert_eq!(all, told(&native, &text), "{}", path.display());
        // How much of the budget is said, too, and this one is larger.
        let words = words.and_then(|it| it.split(" (").next()).expect("the first line says it");
        assert!(all.iter().any(|it| it.contains(words)), "{}: {all:?}", path.display());
        played += 1;
    }
    assert!(played > 10, "{played} cases");
}

#[test]
fn what_nests_as_deep_as_a_text_may_is_printed_alike() {
    let (sandbox, native) = (runtime(), NativeRuntime::default());
    let text = format!("x: {}1{}", "{b: ".repeat(4_000), "}".repeat(4_000));
    for style in [SyntaxStyle::Eval, SyntaxStyle::Definition] {
        let printed = |runtime: &dyn Runtime| {
            let program = runtime.compile(spec(&text)).unwrap();
            let mut session = runtime.start(&program, Vec::new(), Budget::DEFINITION).unwrap();
            session.syntax("", style).unwrap().unwrap()
        };
        let (here, there) = (printed(&native), printed(&sandbox));
        assert!(here == there, "{style:?}");
        assert_eq!(here.matches("b:").count(), 4_000, "{style:?}");
    }
}
