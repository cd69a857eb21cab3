//! OpenAPI schemas of parameters, as the official generator gives them.

use cue_session::{Budget, NativeRuntime, Profile, Program, ProgramSpec, Runtime, Source};
use serde_json::{Value, json};

#[track_caller]
fn check(text: &str, expected: &Value) {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("t.cue", text)],
        packages: Vec::new(),
        profile: Profile::default(),
    });
    let mut session = NativeRuntime::default()
        .start(&program, Vec::new(), Budget::DEFINITION)
        .expect("it starts");
    let schema = session.schema("parameter").expect("it evaluates").expect("it is there");
    assert_eq!(&schema, expected, "{text}");
}

#[test]
fn a_marked_default_that_no_other_alternative_allows_is_one_of() {
    check(
        "parameter: port: *0 | (>=1024 & <=65535 & int)",
        &json!({"type": "object", "required": ["port"], "properties": {"port": {
            "type": "integer", "default": 0,
            "oneOf": [{"enum": [0]}, {"minimum": 1024, "maximum": 65535}],
        }}}),
    );
    check(
        "parameter: cpu: *1 | number | string",
        &json!({"type": "object", "required": ["cpu"], "properties": {"cpu": {
            "default": 1, "oneOf": [{}, {}],
        }}}),
    );
    check(
        "parameter: replicas: *1 | int",
        &json!({"type": "object", "required": ["replicas"], "properties": {"replicas": {
            "type": "integer", "default": 1,
        }}}),
    );
}

#[test]
fn a_pattern_may_refer_to_a_definition() {
    check(
        "parameter: envs: [string]: #Secret\n#Secret: {key?: string, secret: string}",
        &json!({"type": "object", "required": ["envs"], "properties": {"envs": {
            "type": "object",
            "additionalProperties": {
                "type": "object", "required": ["secret"],
                "properties": {"key": {"type": "string"}, "secret": {"type": "string"}},
            },
        }}}),
    );
}

#[test]
fn comments_of_a_field_are_told_apart() {
    check(
        "parameter: {\n\t// One.\n\ta: {b: 1}\n\n\t// Behind it.\n}",
        &json!({"type": "object", "required": ["a"], "properties": {"a": {
            "type": "object", "required": ["b"], "description": "One.\n\n\nBehind it.",
            "properties": {"b": {"type": "integer", "enum": [1]}},
        }}}),
    );
}

#[test]
fn a_type_that_holds_itself_ends_where_it_comes_again() {
    check(
        "parameter: #T\n#T: {v: int, l?: #T, r?: #T}",
        &json!({"type": "object", "required": ["v"], "properties": {
            "v": {"type": "integer"}, "l": {}, "r": {},
        }}),
    );
}
