//! Errors with the lines they are about, and as JSON.

mod told;

use std::fs;
use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::explained::{Color, Form, explained};
use cue_tool::{Load, Request, Verb, evaluate};

use crate::told::without;

/// What is told of files, by their names and texts, in this form.
fn told(files: &[(&str, &str)], verb: Verb, form: Form) -> String {
    asked(files, form, |load| Request::new(verb, load))
}

fn asked(files: &[(&str, &str)], form: Form, request: impl Fn(Load) -> Request) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    for (file, text) in files {
        fs::write(Path::new(&name(file)), text).expect("a file");
    }
    let arguments = files.iter().map(|it| name(it.0)).collect();
    let request = Request { suggest: true, ..request(Load { arguments, ..Load::default() }) };
    let errors = match evaluate(&NativeRuntime::default(), &request) {
        Ok(outcome) => outcome.errors,
        Err(error) => vec![error],
    };
    let text = explained(&errors, Some(&request), form);
    without(folder.path(), &text)
}

const EXCERPTS: Form = Form::Excerpts(Color::None);

#[test]
fn both_sides_of_a_conflict_are_shown() {
    let files = [
        ("schema.cue", "#Port: >0 & <65536\nport: #Port\n"),
        ("values.yaml", "# ours\nport: \"80\" # http\n"),
    ];
    let text = told(&files, Verb::Vet, EXCERPTS);
    assert_eq!(
        text,
        "\
error[cue/eval]: port: conflicting values \"80\" and >0 (mismatched types string and number)
 --> schema.cue:1:8
  |
1 | #Port: >0 & <65536
  |        ^^
2 | port: #Port
  |       -----
  |
 ::: values.yaml:2:7
  |
2 | port: \"80\" # http
  |       ----"
    );
}

#[test]
fn columns_of_yaml_are_characters() {
    let line = "o: {a: \"\u{e9}\u{e9}\u{e9}\", port: \"80\"}\n";
    let files = [("schema.cue", "o: port: int\n"), ("values.yaml", line)];
    let text = told(&files, Verb::Vet, EXCERPTS);
    let marked = format!("{}----", " ".repeat(20));
    assert!(text.ends_with(&format!("values.yaml:1:21\n  |\n1 | {line}  | {marked}")), "{text}");
}

#[test]
fn only_the_name_that_is_missing_is_marked() {
    let marks = |text: &str| -> Vec<String> {
        let text = told(&[("a.cue", text)], Verb::Export, EXCERPTS);
        let below = text.lines().filter_map(|it| it.strip_prefix("  | "));
        below.filter(|it| it.contains(['^', '-'])).map(str::to_owned).collect()
    };
    assert_eq!(marks("x: strings.ToUpper(3)\n"), ["   ^^^^^^^"]);
    assert_eq!(marks("a: {b: 1}\nx: a.c.d\n"), ["     ^"]);
    // And of a function whose argument is marked, too, the function.
    let text = "import \"strings\"\nx: strings.MinRunes(5) & \"abc\"\n";
    assert_eq!(marks(text), ["   ^^^^^^^^^^^^^^^^ -    -----"]);
}

#[test]
fn a_choice_that_a_guard_meets_is_told_with_its_alternatives() {
    let text = "o: {\n\tif p.a != _|_ {x: 1}\n}\np: {a?: \"A\" | \"B\"}\np: a: \"C\"\nz: 1 & 2\n";
    let text = told(&[("a.cue", text)], Verb::Vet, EXCERPTS);
    assert_eq!(text.matches("error[").count(), 2, "{text}");
    assert!(text.contains("error[cue/eval]: p.a: 2 errors in empty disjunction\n"), "{text}");
    assert!(text.contains("= help: what it may be: \"A\", \"B\"\n"), "{text}");
}

#[test]
fn an_error_without_a_place_is_shown_where_its_field_is() {
    let text = told(&[("a.cue", "a: b\nb: a & {c: {d: a}}\n")], Verb::Export, EXCERPTS);
    assert_eq!(
        text,
        "\
error[cue/structural-cycle]: b.c.d: structural cycle
 --> a.cue:2:13
  |
2 | b: a & {c: {d: a}}
  |             ^"
    );
}

#[test]
fn a_name_nobody_knows_has_a_hint() {
    let hints = |text: &str| -> Vec<String> {
        let text = told(&[("a.cue", text)], Verb::Export, EXCERPTS);
        let hint = |it: &str| Some(it.split_once("= help: ")?.1.to_owned());
        text.lines().filter_map(hint).collect()
    };
    for (text, hint) in [
        ("#A: {port: int}\nx: #A & {prot: 1}\n", "did you mean \"port\"?"),
        ("#A: {a: b: port?: int}\nx: #A & {a: b: \"por t\": 1}\n", "did you mean \"port\"?"),
        (
            "#A: {port: int, host: string}\nx: #A & {zzz: 1}\n",
            "fields that are allowed: port, host",
        ),
        ("port: 1\nx: {y: prt}\n", "did you mean \"port\"?"),
        ("for key, value in {a: 1} {\"x\\(kye)\": value}\n", "did you mean \"key\"?"),
        ("x: strngs.Join([], 1)\n", "did you mean \"strings\"? import \"strings\""),
        ("x: zzzzz\n", ""),
        ("x: strin\n", "did you mean \"string\"?"),
        ("x: json.Marshal(1)\n", "\"json\" is a builtin package: import \"encoding/json\""),
        ("import \"strings\"\nx: strings.ToUper(\"a\")\n", "did you mean \"ToUpper\"?"),
        ("import \"encoding/jsn\"\nx: jsn.Marshal(\"a\")\n", "did you mean \"encoding/json\"?"),
        ("a: {b: port: 1}\nx: a.b.prot\n", "did you mean \"port\"?"),
        ("a: [{port: 1}]\nx: a[0].prot\n", "did you mean \"port\"?"),
        ("x: {a: {port: 1}, y: a.prot}\n", "did you mean \"port\"?"),
    ] {
        let wanted: Vec<&str> = Some(hint).into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(hints(text), wanted, "{text}");
    }
}

#[test]
fn of_a_choice_the_closest_alternative_comes_first() {
    let text = "\
#Square: {kind: \"square\", side: number}
#Shape: #Square | {
	kind: \"circle\"
	radius: number
}
x: #Shape & {kind: \"circle\", radius: \"3\"}
";
    let text = told(&[("a.cue", text)], Verb::Vet, EXCERPTS);
    assert_eq!(
        text,
        "\
error[cue/eval]: x: 2 errors in empty disjunction
  |
note: the closest alternative, { kind: \"circle\" radius: number }: x.radius: conflicting values \"3\" and number (mismatched types string and number)
 --> a.cue:4:10
  |
4 |     radius: number
  |             ^^^^^^
5 | }
6 | x: #Shape & {kind: \"circle\", radius: \"3\"}
  |    ------                            ---
note: another alternative, #Square: x.kind: conflicting values \"square\" and \"circle\"
 --> a.cue:1:17
  |
1 | #Square: {kind: \"square\", side: number}
  |                 ^^^^^^^^
2 | #Shape: #Square | {
  |         -------
...
6 | x: #Shape & {kind: \"circle\", radius: \"3\"}
  |    ------          --------"
    );
}

#[test]
fn of_a_choice_between_values_all_are_listed() {
    let files =
        [("a.cue", "#Level: *\"info\" | \"warning\" | \"error\"\nx: #Level & \"warnin\"\n")];
    let text = told(&files, Verb::Vet, EXCERPTS);
    assert_eq!(
        text,
        "\
error[cue/eval]: x: 3 errors in empty disjunction
 --> a.cue:1:31
  |
1 | #Level: *\"info\" | \"warning\" | \"error\"
  |          ------   ---------   ^^^^^^^
2 | x: #Level & \"warnin\"
  |    ------   --------
  |
  = help: did you mean \"warning\"?
  = help: what it may be: \"error\", \"info\", \"warning\""
    );
}

#[test]
fn programs_read_json() {
    let files = [("a.cue", "#A: {port: int}\nx: #A & {prot: 1}\ny: 1\ny: 2\n")];
    let text = told(&files, Verb::Vet, Form::Json);
    assert_eq!(
        text,
        "{\"errors\":[{\"code\":\"cue/eval\",\"path\":\"x.prot\",\"message\":\"field not allowed\",\"places\":[\
         {\"file\":\"a.cue\",\"line\":2,\"column\":10,\"end\":14,\"text\":\"x: #A & {prot: 1}\"}],\
         \"hints\":[\"did you mean \\\"port\\\"?\"]},\
         {\"code\":\"cue/eval\",\"path\":\"y\",\"message\":\"conflicting values 2 and 1\",\"places\":[\
         {\"file\":\"a.cue\",\"line\":3,\"column\":4,\"end\":5,\"text\":\"y: 1\"},\
         {\"file\":\"a.cue\",\"line\":4,\"column\":4,\"end\":5,\"text\":\"y: 2\"}]}]}"
    );
    let missing = asked(&[], Form::Json, |load| {
        let arguments = vec!["nowhere.cue".to_owned()];
        Request::new(Verb::Vet, Load { arguments, ..load })
    });
    assert!(
        missing.starts_with("{\"errors\":[{\"code\":\"cue/request\",\"path\":\"\",\"message\":"),
        "{missing}"
    );
}

#[test]
fn what_flags_say_is_shown_too() {
    let text = asked(&[("a.cue", "port: 1\n")], EXCERPTS, |load| Request {
        expressions: vec!["prot + 1".to_owned()],
        ..Request::new(Verb::Export, load)
    });
    assert_eq!(
        text,
        "\
error[cue/load]: reference \"prot\" not found
 --> --expression:1:1
  |
1 | prot + 1
  | ^^^^
  |
  = help: did you mean \"port\"?"
    );
}

#[test]
fn long_lines_many_errors_and_bytes_that_are_no_text_stay_readable() {
    let wide = format!("x: {{a: \"{}\", b: 1 & 2}}\n", "é".repeat(100_000));
    let text = told(&[("wide.cue", &wide)], Verb::Vet, EXCERPTS);
    assert!(text.len() < 2_000 && text.contains("--> wide.cue:1:200015"), "{text}");
    assert!(text.contains("éé\", b: 1 & 2}"), "{text}");
    let many: String = (0..5_000).map(|it| format!("f{it}: 1 & 2\n")).collect();
    let text = told(&[("many.cue", &many)], Verb::Vet, EXCERPTS);
    assert!(text.len() < 100_000 && text.ends_with(" more errors"), "{}", text.len());
    let escape = told(&[("esc.cue", "x: \"a\u{1b}[31m\" & \"b\"\n")], Verb::Vet, EXCERPTS);
    assert!(!escape.contains('\u{1b}'), "{escape}");
    let deep = format!("{}1 & 2", "x: ".repeat(5_000));
    assert!(told(&[("deep.cue", &deep)], Verb::Vet, EXCERPTS).contains("conflicting values"));
}

#[test]
fn in_plain_form_all_errors_are_told_as_far_as_anybody_may_read() {
    let plain = |text: &str| told(&[("many.cue", text)], Verb::Export, Form::Plain);
    let many = |count: usize| -> String {
        plain(&(0..count).map(|it| format!("f{it}: {it} & \"x\"\n")).collect::<String>())
    };
    assert_eq!(many(4_000).lines().count(), 3 * 4_000);
    let text = many(30_000);
    let last = text.lines().last().unwrap_or_default();
    let more: usize = last[4..].split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    assert_eq!(last, format!("and {more} more errors"));
    assert_eq!(text.lines().count(), 3 * (30_000 - more) + 1);
    // Here without the folder that each line names.
    assert!((300_000..1_000_000).contains(&text.len()), "{}", text.len());
    let one: String = (0..300).map(|it| format!("a: {it}\n")).collect();
    assert_eq!(plain(&one).lines().count(), 3 * 299);
    let long = "x".repeat(100_000);
    assert!(plain(&format!("a: \"{long}\" & 1")).contains(&long));
}

#[test]
fn what_spent_a_budget_is_named() {
    let text = "\
a: b: 1
slow: here: list: [for i in all for j in all for k in all for l in all {i + j + k + l}]
all: [for i in \"0123456789\" {i}, for a in [1,2,3,4,5,6,7,8] for b in [1,2,3,4,5,6,7,8] {a + b}]
";
    let text = text.replace("for i in \"0123456789\" {i}, ", "");
    let text = told(&[("a.cue", &text)], Verb::Vet, EXCERPTS);
    assert!(
        text.contains("budget of") && text.contains("% of the work is for slow.here.list"),
        "{text}"
    );
}
