//! `--out jsonschema`: values as JSON Schema. What is wanted of `generated/*.cue` is what the official command prints.

mod folder;

use std::path::PathBuf;

use cue_session::NativeRuntime;
use cue_tool::filetype::{self, Reading};
use cue_tool::{Encoding, Load, Request, Verb, evaluate};

use crate::folder::folder;

/// What a command says of a file, asked for with an expression or as a whole.
fn described(file: &str, (verb, out): (Verb, Encoding), expression: &str) -> String {
    let load = Load { arguments: vec![file.to_owned()], ..Load::default() };
    let expressions = Some(expression.to_owned()).filter(|it| !it.is_empty());
    let request = Request {
        out,
        reading: Reading::JsonSchema,
        expressions: expressions.into_iter().collect(),
        ..Request::new(verb, load)
    };
    let outcome = NativeRuntime::on_deep_stack(|| evaluate(&NativeRuntime::default(), &request));
    let outcome = outcome.expect("a thread").expect("it begins");
    let told: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
    String::from_utf8(outcome.output).expect("text") + &told.join("\n")
}

/// The same of a text.
fn schema(text: &str, expression: &str) -> String {
    let folder = folder(&[("x.cue", text)]);
    let file = folder.path().join("x.cue").display().to_string();
    described(&file, (Verb::Def, Encoding::Cue), expression)
}

#[test]
fn schemas_are_those_of_the_official_command() {
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    let mut played = 0;
    for entry in std::fs::read_dir(cases).expect("the cases are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|it| it != "cue") {
            continue;
        }
        let wanted = std::fs::read_to_string(path.with_extension("want")).expect("what is wanted");
        let found = described(&path.display().to_string(), (Verb::Def, Encoding::Cue), "");
        assert_eq!(found, wanted, "{}", path.display());
        played += 1;
    }
    assert_eq!(played, 13);
}

#[test]
fn a_field_is_described_with_its_comments_and_as_closed_as_it_is() {
    let text = "// Of all.\n\n// An item.\n#Item: {name: string, of?: #Kind}\n#Kind: int\n";
    let wanted = "$schema: \"https://json-schema.org/draft/2020-12/schema\"
$defs: Kind: type: \"integer\"
type:                 \"object\"
description:          \"An item.\"
additionalProperties: false
properties: {
	name: type: \"string\"
	of: $ref:   \"#/$defs/Kind\"
}
required: [\"name\"]
";
    assert_eq!(schema(text, "#Item"), wanted);
    assert!(!schema(text, "#Kind & >5").contains("Of all"));
}

#[test]
fn data_has_the_numbers_of_json() {
    let folder = folder(&[("x.cue", "a?: <1000000\nb?: 0x10\n")]);
    let file = folder.path().join("x.cue").display().to_string();
    let json = described(&file, (Verb::Export, Encoding::Json), "");
    assert!(json.contains("\"exclusiveMaximum\": 1E+6"), "{json}");
    assert!(json.contains("\"const\": 16\n"), "{json}");
    let yaml = described(&file, (Verb::Export, Encoding::Yaml), "");
    assert!(yaml.contains("const: 16\n"), "{yaml}");
}

#[test]
fn eval_describes_what_it_prints() {
    let folder = folder(&[("x.cue", "#A: int\na: b: #A\nc?: string\n")]);
    let file = folder.path().join("x.cue").display().to_string();
    let wanted = "$schema: \"https://json-schema.org/draft/2020-12/schema\"
type:    \"object\"
properties: a: {
    type: \"object\"
    properties: b: type: \"integer\"
    required: [\"b\"]
}
required: [\"a\"]
";
    assert_eq!(described(&file, (Verb::Eval, Encoding::Cue), ""), wanted);
}

#[test]
fn what_has_no_schema_is_told() {
    for (text, expression, wanted) in [
        ("#A: {x?: int}\ny: #A.x\n", "", "reference #A.x not found"),
        ("a: >n\nn: int\n", "", "bad argument to unary comparison"),
        (
            "import \"strings\"\na: strings.MinRunes\n",
            "",
            "strings.MinRunes expects 1 argument, got 0",
        ),
        ("matchN(1, [])\n", "", "schema cannot be satisfied"),
    ] {
        assert_eq!(schema(text, expression).trim(), wanted, "{text}");
    }
}

/// The official command does not come to an end with these.
#[test]
fn what_repeats_itself_is_described_once() {
    let alternative = schema("a: {x: int} | *{x: 1}\n", "");
    assert!(alternative.contains("properties: x: type: \"integer\""), "{alternative}");
    let indexed = schema("a: {b: {c: int}}\nd: a[\"b\"]\n", "");
    assert!(indexed.contains("d: {"), "{indexed}");
}

#[test]
fn references_may_lead_far() {
    let text: String = (0..400).map(|at| format!("#D{at}: {{d?: #D{}}}\n", at + 1)).collect();
    let found = schema(&(text + "#D400: int\na?: #D0\n"), "");
    assert!(found.contains("D400: type: \"integer\""), "{found}");
}

/// The official command has references without a name there, and fails.
#[test]
fn loops_are_described_by_what_they_give() {
    let found = schema("for k, v in {a: 1, b: 2} {(k): v}\n", "");
    assert!(found.contains("a: const: 1"), "{found}");
}

#[test]
fn qualifiers_of_output() {
    for (out, wanted) in [
        ("jsonschema", Ok(Encoding::Json)),
        ("jsonschema+yaml", Ok(Encoding::Yaml)),
        ("yaml+jsonschema", Ok(Encoding::Yaml)),
        ("jsonschema+cue", Ok(Encoding::Cue)),
        ("jsonschema+toml", Ok(Encoding::Toml)),
        ("jsonschema+strict", Ok(Encoding::Json)),
        ("jsonschema+schema", Ok(Encoding::Json)),
        ("jsonschema+data", Err("invalid tag combination")),
        ("jsonschema+text", Err("invalid tag combination")),
        ("jsonschema+openapi", Err("invalid tag combination")),
        ("jsonschema+auto", Err("invalid tag combination")),
        ("jsonschema+go", Err("invalid tag combination")),
        ("jsonschema=1", Err("cannot specify value for tag \"jsonschema\"")),
    ] {
        let found = filetype::output(Some(out), None, Verb::Def);
        match (found, wanted) {
            (Ok(found), Ok(encoding)) => {
                assert_eq!((found.encoding, found.reading), (Ok(encoding), Reading::JsonSchema));
            }
            (found, wanted) => {
                assert_eq!(
                    found.map(|_| ()).map_err(|it| it.to_string()),
                    wanted.map(|_| ()).map_err(str::to_owned)
                );
            }
        }
    }
    let file = filetype::output(None, Some("jsonschema:x.yaml"), Verb::Def).expect("it is one");
    assert_eq!((file.encoding, file.reading), (Ok(Encoding::Json), Reading::JsonSchema));
}
