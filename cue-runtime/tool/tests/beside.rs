//! What is told of data beside a schema, and of expressions in what fails or waits: as the official command does.

mod folder;
mod told;

use cue_session::NativeRuntime;
use cue_tool::evaluate::Concrete;
use cue_tool::{Load, Request, Verb, evaluate};

use crate::folder::folder;

/// What a command prints of these files: schema and expression in front.
fn play(verb: Verb, [schema, expression]: [&str; 2], files: &[(&str, &str)]) -> String {
    let folder = folder(files);
    let arguments = files.iter().map(|it| folder.path().join(it.0).display().to_string());
    let load = Load { arguments: arguments.collect(), ..Load::default() };
    let mut request = Request::new(verb, load);
    request.schema = Some(schema.to_owned()).filter(|it| !it.is_empty());
    request.expressions.extend(Some(expression.to_owned()).filter(|it| !it.is_empty()));
    let error = match evaluate(&NativeRuntime::default(), &request) {
        Err(error) => error,
        Ok(mut outcome) => match outcome.errors.is_empty() {
            true => return String::from_utf8(outcome.output).expect("text"),
            false => outcome.errors.remove(0),
        },
    };
    told::without(folder.path(), &error.to_string()).replace("    ./", "    ")
}

const SCHEMAS: &str = "\
#P: {a: int, b: string, if b != \"\" {c?: int}}
#E: {#P, d: int}
#T: {a: int, b: string, if b != \"\" {c?: int}, if b == \"z\" {d?: int}}
#N: p: #P
#I: {a: int32, if true {b?: 1}}
#A: {a: *1 | 2, b: string, if b != \"\" {c?: int}}
";

#[test]
fn no_literal_of_a_schema_is_entered_and_what_it_waits_for_is_known() {
    let vet = |schema: &str, data: &str| {
        play(Verb::Vet, [schema, ""], &[("s.cue", SCHEMAS), ("d.json", data)])
    };
    let conflict = "a: conflicting values \"x\" and int (mismatched types string and int):";
    let wrong = "{\"a\":\"x\"}\n";
    let told = format!("{conflict}\n    d.json:1:6\n    s.cue:1:9\n    s.cue:1:28");
    assert_eq!(vet("#P", wrong), told);
    let told = format!("{conflict}\n    d.json:1:6\n    s.cue:1:9\n    s.cue:1:28\n    s.cue:2:6");
    assert_eq!(vet("#E", wrong), told);
    let told = format!("{conflict}\n    d.json:1:6\n    s.cue:3:9");
    assert_eq!(vet("#T", wrong), told);
    let told = format!("p.{conflict}\n    d.json:1:11\n    s.cue:1:9\n    s.cue:4:8");
    assert_eq!(vet("#N", "{\"p\":{\"a\":\"x\"}}\n"), told);
    let told =
        "a: conflicting values \"x\" and int32 (mismatched types string and int):\n    d.json:1:6";
    assert_eq!(vet("#I", wrong), told);
    let told = vet("#A", wrong);
    assert!(told.contains("2 errors in empty disjunction") && !told.contains("6:28"), "{told}");
}

#[test]
fn a_package_beside_data_is_a_value_too() {
    let conflict = "a: conflicting values \"x\" and int (mismatched types string and int):";
    let guarded = "{a: int, b: string, if b != \"\" {c?: int}}";
    for (schema, data, told) in [
        (
            format!("#P: {guarded}\n#P\n"),
            "{\"a\":\"x\"}\n",
            format!("{conflict}\n    d.json:1:6\n    s.cue:1:9\n    s.cue:1:28\n    s.cue:2:1"),
        ),
        (
            format!("#P: {guarded}\nx: #P\n"),
            "{\"x\":{\"a\":\"x\"}}\n",
            format!("x.{conflict}\n    d.json:1:11\n    s.cue:1:9\n    s.cue:2:4"),
        ),
        (
            "a: int\nb: string\nif b != \"\" {c?: int}\n".to_owned(),
            "{\"a\":\"x\"}\n",
            format!("{conflict}\n    d.json:1:6\n    s.cue:1:4\n    s.cue:3:4"),
        ),
        (
            format!("x: {guarded}\n"),
            "{\"x\":{\"a\":\"x\"}}\n",
            format!("x.{conflict}\n    d.json:1:11\n    s.cue:1:8"),
        ),
        (
            "#Q: {a: int}\n#P: {#Q, a: \"x\"}\nb: int\n".to_owned(),
            "{\"b\":1}\n",
            format!("#P.{conflict}\n    s.cue:1:9\n    s.cue:2:6\n    s.cue:2:13"),
        ),
    ] {
        let files = [("s.cue", &*schema), ("d.json", data)];
        assert_eq!(play(Verb::Vet, ["", ""], &files), told);
    }
    // Without data it is not one.
    let text = "#Q: {a: int}\n#P: {#Q, a: \"x\"}\n";
    let told = play(Verb::Vet, ["", ""], &[("s.cue", text)]);
    assert!(told.contains("s.cue:2:5\n"), "{told}");
}

#[test]
fn what_waits_beside_a_schema_is_an_error() {
    let eval = |data: &str| play(Verb::Eval, ["#P", ""], &[("s.cue", SCHEMAS), ("d.json", data)]);
    let told = "non-concrete value string in operand to !=:\n    s.cue:1:28\n    s.cue:1:17";
    assert_eq!(eval("{\"a\":1}\n"), told);
    assert_eq!(eval("{\"a\":1,\"b\":\"\"}\n"), "a: 1\nb: \"\"\n");
}

#[test]
fn a_selection_in_what_fails_fails() {
    let text = "p: {a: 1 & 3, c: 1, d: e: 2, l: [1]}\nq: {x: p.c}\nr: {y: 1}\n";
    let told = "p.a: conflicting values 3 and 1:\n    x.cue:1:8\n    x.cue:1:12";
    for expression in ["p.c", "p.d.e", "p.l[0]", "p.d", "q", "q.x", "p.none"] {
        for verb in [Verb::Eval, Verb::Export, Verb::Def] {
            assert_eq!(play(verb, ["", expression], &[("x.cue", text)]), told, "{expression}");
        }
    }
    assert_eq!(play(Verb::Eval, ["", "r.y"], &[("x.cue", text)]), "1\n");
}

#[test]
fn a_selection_in_what_waits_waits() {
    let text = "p: {a: string, if a != \"\" {b: 1}, c: 2}\nq: p\nr: p.c\ns: t: a: int\n";
    let eval = |expression: &str| play(Verb::Eval, ["", expression], &[("x.cue", text)]);
    for expression in ["p.c", "p.a", "p.b", "p.none", "q.c"] {
        let told = "_|_ // p: non-concrete value string in operand to !=\n";
        assert_eq!(eval(expression), told, "{expression}");
    }
    let hoisted = "//cue:path: p\nlet P = {\n    a: string, if a != \"\" {\n        b: 1\n    }\n    c: 2\n}\n";
    assert_eq!(eval("r"), format!("\nP.c\n\n{hoisted}"));
    assert_eq!(eval("s.t"), "a: int\n");
    let export = |expression: &str| play(Verb::Export, ["", expression], &[("x.cue", text)]);
    let told = "p: non-concrete value string in operand to !=:\n    x.cue:1:19\n    x.cue:1:8";
    assert_eq!(export("p.c"), told);
    assert_eq!(export("r"), told);
}

#[test]
fn what_has_no_place_is_told_of_what_was_asked_for() {
    let text = "p: {}\no: s: r: [if p.r == \"d\" {}, \"b\"][0]\n";
    for (expression, path) in [("", ""), ("o", "o: "), ("o.s", "o.s: "), ("o.s.r", "o.s.r: ")] {
        let told = play(Verb::Export, ["", expression], &[("x.cue", text)]);
        assert_eq!(told, format!("{path}undefined field: r:\n    x.cue:2:16"));
    }
}

#[test]
fn required_fields_that_nothing_fits_are_told_beside_data_only() {
    let text = "#M: m!: string & int\nx: 1\n";
    let told = "#M.m: conflicting values string and int (mismatched types string and int):\n    \
                s.cue:1:9\n    s.cue:1:18";
    let data = ("d.json", "{\"x\":1}\n");
    assert_eq!(play(Verb::Vet, ["", ""], &[("s.cue", text), data]), told);
    assert_eq!(play(Verb::Vet, ["", ""], &[("s.cue", text)]), "");
}

#[test]
fn large_data_counts_as_text_of_what_is_looked_at_beside_a_part() {
    let schema = "x: {a: 1, b: 2 & c, c: n}\nl: [...{a: int, b: string}]\nn: int\n";
    let elements: Vec<String> =
        (0..160_000).map(|it| format!(r#"{{"a":{it},"b":"x{it}"}}"#)).collect();
    let data = format!("{{\"n\":3,\"l\":[{}]}}\n", elements.join(","));
    let told = play(Verb::Export, ["", "x.a"], &[("s.cue", schema), ("d.json", &data)]);
    assert!(told.starts_with("x.b: conflicting values 3 and 2:\n    s.cue:1:14\n"), "{told:.200}");
}

#[test]
fn a_field_that_nothing_could_be_given_to_is_no_matter_of_what_need_not_be_concrete() {
    let text = "a!: 1\na?: string\n";
    let missing = "a: field is required but not present:\n    s.cue:1:1";
    assert_eq!(play(Verb::Vet, ["", ""], &[("s.cue", text)]), "");
    assert_eq!(play(Verb::Eval, ["", ""], &[("s.cue", text)]), missing);
    let wrong = format!("{text}b: 1 & 2\n");
    assert!(play(Verb::Vet, ["", ""], &[("s.cue", &wrong)]).contains("b: conflicting values"));
}

#[test]
fn data_that_does_not_fit_is_told_also_where_errors_are_printed_in_their_place() {
    let files = [("s.cue", "#S: {a: int, b?: int}\n"), ("d.yaml", "a: x\n")];
    let folder = folder(&files);
    let played = |data: &str, change: &dyn Fn(&mut Request)| {
        std::fs::write(folder.path().join("d.yaml"), data).expect("a file");
        let arguments = files.iter().map(|it| folder.path().join(it.0).display().to_string());
        let load = Load { arguments: arguments.collect(), ..Load::default() };
        let mut request = Request::new(Verb::Eval, load);
        request.schema = Some("#S".to_owned());
        change(&mut request);
        let outcome = evaluate(&NativeRuntime::default(), &request).expect("an outcome");
        let told: Vec<String> = outcome
            .errors
            .iter()
            .map(|it| it.to_string().lines().next().unwrap_or_default().to_owned())
            .collect();
        (String::from_utf8(outcome.output).expect("text"), told)
    };
    let (output, told) = played("a: x\n", &|it| it.ignore = true);
    assert_eq!(output, "");
    assert_eq!(told, ["a: conflicting values \"x\" and int (mismatched types string and int):"]);
    // What is not concrete keeps nothing from those behind it, and has no optional fields.
    let (output, told) = played("a: 1\n---\nb: 2\n---\na: 3\n", &|it| {
        it.concrete = Concrete::Must;
        it.shown.optional = true;
    });
    assert_eq!(output, "a: 1\n// ---\na: 3\n");
    assert_eq!(told, ["a: incomplete value int:"]);
}
