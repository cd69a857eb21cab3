//! Values that stay with the interpreter from one session to the next.

use cue_session::{
    Budget, Error, Input, NativeRuntime, Profile, Program, ProgramSpec, Runtime, Session, Source,
};
use serde_json::json;

fn program(text: &str) -> Program {
    Program::new(ProgramSpec {
        sources: vec![Source::new("in.cue", text)],
        packages: Vec::new(),
        profile: Profile::V017,
    })
}

fn started() -> Session {
    let workload = program(
        "context: {name: string, ...}
        output: {kind: \"Deployment\", metadata: name: context.name, spec: {replicas: *1 | int, data: 'ab'}}",
    );
    let inputs = vec![Input::new("context", "{\"name\":\"web\"}")];
    NativeRuntime::default().start(&workload, inputs, Budget::DEFINITION).expect("it starts")
}

#[test]
fn a_kept_value_is_seen_and_patched_where_it_is() {
    let mut session = started();
    assert!(session.keep("output", "base").expect("it is complete"));
    assert!(!session.keep("outputs", "more").expect("nothing is wrong"));
    let r#trait = program(
        "context: _
        seen: \"\\(context.name) of \\(context.type), \\(context.output.kind)\"
        patch: spec: replicas: 3",
    );
    let inputs = vec![
        Input::again("context"),
        Input::new("context.type", "\"webservice\""),
        Input::kept("context.output", "base"),
    ];
    session.next(&r#trait, inputs, Budget::DEFINITION).expect("it starts");
    assert_eq!(
        session.value("seen").expect("it is there"),
        Some(json!("web of webservice, Deployment"))
    );
    // Patched is what is kept, not what this session was given.
    let refused = session.patch_kept("patch", "base");
    assert!(refused.is_err(), "replicas is 1 already: {refused:?}");
    let more = program("patch: metadata: labels: \"a-b\": \"c\"");
    session.next(&more, vec![Input::again("context")], Budget::DEFINITION).expect("it starts");
    assert_eq!(session.value("context.output.spec.replicas").expect("it is there"), Some(json!(1)));
    assert!(session.patch_kept("patch", "base").expect("it fits"));
    assert!(!session.patch_kept("other", "base").expect("there is none"));
    let object = json!({
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"a-b": "c"}},
        "spec": {"replicas": 1, "data": "YWI="},
    });
    assert_eq!(session.kept("base").expect("it is kept"), Some(object));
}

#[test]
fn what_is_put_below_an_input_takes_its_place() {
    let mut session = started();
    let show = program("a: _");
    let inputs = vec![
        Input::new("a", "{\"b\":{\"c\":1,\"d\":2}}"),
        Input::new("a.b.c", "[3]"),
        Input::new("a.\"x.y\".z", "null"),
        Input::new("ab", "4"),
    ];
    session.next(&show, inputs, Budget::DEFINITION).expect("it starts");
    let all = json!({"a": {"b": {"c": [3], "d": 2}, "x.y": {"z": null}}, "ab": 4});
    assert_eq!(session.value("").expect("it is data"), Some(all));
}

#[test]
fn what_is_not_there_is_said_by_name() {
    let mut session = started();
    let empty = program("");
    let refused = |session: &mut Session, input| match session.next(
        &empty,
        vec![input],
        Budget::DEFINITION,
    ) {
        Err(Error::Diagnostics(all)) => all[0].to_string(),
        other => panic!("{other:?}"),
    };
    let none = "a: nothing was kept to be used again";
    assert_eq!(refused(&mut session, Input::kept("a", "base")), none);
    let none = "a: there was no input to be used again";
    assert_eq!(refused(&mut session, Input::again("a")), none);
    assert_eq!(session.kept("base").expect("an answer"), None);
}

#[test]
fn nothing_is_kept_beyond_the_last_session() {
    let runtime = NativeRuntime::default();
    let one = program("a: 1");
    let mut session = runtime.start(&one, Vec::new(), Budget::DEFINITION).expect("it starts");
    assert!(session.keep("a", "one").expect("it is there"));
    drop(session);
    let mut session = runtime.start(&one, Vec::new(), Budget::DEFINITION).expect("it starts");
    assert_eq!(session.kept("one").expect("an answer"), None);
}
