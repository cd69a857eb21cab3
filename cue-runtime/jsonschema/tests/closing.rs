//! Schemas that do not say what is closed.

use cue_jsonschema::generate::{Closing, schema};
use cue_session::{Budget, NativeRuntime, Profile, Program, ProgramSpec, Runtime, Source};

const TEXT: &str = "a?: #A
b?: close({x?: int})
c?: {y?: int, ...}
#A: {z?: int, ...}
";

fn written(closing: Closing) -> String {
    let sources = vec![Source::new("x.cue", TEXT)];
    let spec = ProgramSpec { sources, packages: Vec::new(), profile: Profile::V017 };
    let runtime = NativeRuntime::default();
    let mut session =
        runtime.start(&Program::new(spec), Vec::new(), Budget::DEFINITION).expect("it compiles");
    schema(&mut session, "", "", closing).expect("it has a schema")
}

#[test]
fn what_is_closed_is_told_unless_it_is_left_out() {
    for (closing, closed) in [(Closing::Told, 1), (Closing::Left, 0)] {
        let schema = written(closing);
        assert_eq!(schema.matches("\"additionalProperties\": false").count(), closed, "{schema}");
        assert_eq!(schema.matches("\"additionalProperties\": true").count(), 2, "{schema}");
    }
}
