//! Answers of a session whose budget is used up: none reads as if it were all.

use cue_session::{
    Budget, Concreteness, Effort, Error, FieldSelection, NativeRuntime, Profile, Program,
    ProgramSpec, Runtime, Session, Source,
};

/// A loop that no budget of these tests allows, and a parameter that needs what it gives.
const TEXT: &str = "
_all: [for i, _ in list.Repeat([1], 100_000) {i}]
out: [for i in _all {n: i}]
parameter: [string]: {
	kind: string
	if len(_all) > 1 {size: int}
}
";

fn session(ticks: u64) -> Session {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("t.cue", format!("import \"list\"\n{TEXT}"))],
        packages: Vec::new(),
        profile: Profile::default(),
    });
    let budget = Budget { ticks, bytes: 512 << 20, ..Budget::DEFINITION };
    NativeRuntime::default().start(&program, Vec::new(), budget).expect("it starts")
}

#[track_caller]
fn is_of_the_budget<T: std::fmt::Debug>(answer: Result<T, Error>) {
    match answer {
        Err(Error::Diagnostics(all)) if all.iter().any(|it| it.code == "budget/exceeded") => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_schema_is_whole_or_an_error() {
    is_of_the_budget(session(1_000).schema("parameter"));

    // What spent it need not be what is asked for.
    let mut spent = session(1_000);
    is_of_the_budget(spent.json("out"));
    is_of_the_budget(spent.schema("parameter"));

    let schema = session(10_000_000).schema("parameter").expect("it is within the budget");
    let each = &schema.expect("it is there")["additionalProperties"];
    assert_eq!(each["required"], serde_json::json!(["kind", "size"]));
}

#[test]
fn fields_and_lenient_data_are_whole_or_an_error() {
    is_of_the_budget(session(1_000).fields("out", FieldSelection::Regular));
    is_of_the_budget(session(1_000).json_lenient("out"));
}

#[test]
fn a_survey_tells_all_it_finds_or_nothing_and_leaves_the_session_as_it_was() {
    let much = Effort { ticks: 9_000_000, bytes: 300 << 20 };
    let survey = |effort| {
        let mut session = session(10_000_000);
        let found = session.survey("", Concreteness::Required, effort).expect("no fault");
        let out = session.json("out").expect("it is within the budget").expect("it is there");
        (found.len(), out.len() > 1_000_000)
    };
    // The pattern of a list.
    assert_eq!(survey(much), (0, true));
    assert_eq!(survey(Effort { ticks: 1_000, ..much }), (0, true));
    assert_eq!(survey(Effort { bytes: 1 << 20, ..much }), (0, true));

    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("t.cue", "a: 1 & 2\nb: c: int\n")],
        packages: Vec::new(),
        profile: Profile::default(),
    });
    let start = || NativeRuntime::default().start(&program, Vec::new(), Budget::DEFINITION);
    let survey = |path: &str, how, effort| {
        let found = start().expect("it starts").survey(path, how, effort).expect("no fault");
        found.into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    assert_eq!(survey("", Concreteness::Optional, much), ["a"]);
    assert_eq!(survey("b", Concreteness::Required, much), ["b.c"]);
    assert!(survey("", Concreteness::Optional, Effort { ticks: 2, ..much }).is_empty());
}
