//! Values that nest as deep as anything may: all of them is printed, compared and checked.

use cue_session::{
    Budget, Concreteness, Error, NativeRuntime, Profile, Program, ProgramSpec, Runtime, Session,
    Source, SyntaxStyle,
};

/// Deeper than any limit of what is looked at in passing.
const LEVELS: usize = 1_500;

fn within(text: &str, budget: Budget) -> Session {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("t.cue", text)],
        packages: Vec::new(),
        profile: Profile::default(),
    });
    NativeRuntime::default().start(&program, Vec::new(), budget).expect("it starts")
}

fn session(text: &str) -> Session {
    within(text, Budget::DEFINITION)
}

fn nested(open: &str, value: &str, close: &str) -> String {
    format!("{}{value}{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

fn fields(value: &str) -> String {
    nested("{b: ", value, "}")
}

#[test]
fn it_is_printed_to_its_last_field() {
    let text = format!("a: {}\nl: {}\n", fields("1"), nested("[", "1", "]"));
    for style in
        [SyntaxStyle::Eval, SyntaxStyle::Final, SyntaxStyle::Definition, SyntaxStyle::Exported]
    {
        let printed = session(&text).syntax("", style).expect("it evaluates").expect("a text");
        let levels = printed.matches("b:").count();
        assert_eq!((levels, printed.contains('_')), (LEVELS, false), "{style:?}");
        assert!(printed.contains(&nested("[", "1", "]")), "{style:?}");
    }
}

#[test]
fn what_is_printed_counts_as_memory_and_is_given_back() {
    let list = |of: &str| format!("[{}]", [of; 10].join(", "));
    let mut text = format!("_a0: {}\n", list("1"));
    for level in 1..9 {
        text.push_str(&format!("_a{level}: {}\n", list(&format!("_a{}", level - 1))));
    }
    text.push_str("out: _a8\nsmall: 1");
    let mut session = within(&text, Budget { bytes: 64 << 20, ..Budget::DEFINITION });
    match session.syntax("", SyntaxStyle::Eval) {
        Err(Error::Diagnostics(all)) => assert_eq!(all[0].code, "budget/exceeded", "{all:?}"),
        other => panic!("{:?}", other.map(|it| it.map(|it| it.len()))),
    }
    let small = session.syntax("small", SyntaxStyle::Eval).expect("there is room for it");
    assert_eq!(small.as_deref(), Some("1\n"));
}

#[test]
fn functions_look_at_all_of_it() {
    let text = format!(
        "import (\n\t\"list\"\n\t\"text/template\"\n)\n\
         one: {one}\ntwo: {two}\n\
         in: list.Contains([{some}, two], two)\nout: list.Contains([{some}, two], one)\n\
         flat: list.FlattenN({lists}, -1)\n\
         equal: one == {one}\nshown: template.Execute(\"{{{{.}}}}\", one)\n",
        one = fields("1"),
        two = fields("2"),
        some = fields("int"),
        lists = nested("[", "1", "]"),
    );
    let mut asked = session(&text);
    let mut value = |path: &str| asked.value(path).expect("it evaluates").expect("it is there");
    assert_eq!(value("in"), true);
    assert_eq!(value("out"), false);
    assert_eq!(value("equal"), true);
    assert_eq!(value("flat"), serde_json::json!([1]));
    assert_eq!(value("shown"), nested("map[b:", "1", "]"));
}

#[test]
fn validators_look_at_all_of_it() {
    let json = |value: &str| nested("{\"b\": ", value, "}");
    for (check, right, wrong) in [
        ("list.UniqueItems()", format!("[{}, {}]", fields("1"), fields("2")), {
            format!("[{}, {}]", fields("1"), fields("1"))
        }),
        (
            &format!("json.Validate({})", fields("int")),
            format!("'{}'", json("1")),
            format!("'{}'", json("true")),
        ),
        (
            &format!("json.Validate({})", fields("{n!: int}")),
            format!("'{}'", json("{\"n\": 1}")),
            format!("'{}'", json("{}")),
        ),
        (&format!("matchN(1, [{}])", fields("1")), fields("1"), fields("2")),
    ] {
        let imports = "import (\n\t\"list\"\n\t\"encoding/json\"\n)\n\
                       _named: [list.MaxItems, json.Marshal]\n";
        for (value, passes) in [(right, true), (wrong, false)] {
            let text = format!("{imports}a: {check}\na: {value}\n");
            let found = session(&text).validate("a", Concreteness::Required).expect("an answer");
            assert_eq!(found.is_empty(), passes, "{:.60}: {:.60}", check, value);
        }
    }
}
