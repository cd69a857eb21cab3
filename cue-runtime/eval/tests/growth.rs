//! What grows with its input grows no faster than it should: each case is given little more work than
//! it needs, and where the work doubled with every step it would not do.

use std::fmt::Write as _;
use std::sync::Arc;

use cue_eval::evaluation::{compile_text, print_json};
use cue_eval::{Budget, Evaluation};

/// The value at a path as JSON, or the first error.
fn value(text: &str, path: &str, ticks: u64) -> String {
    let program = Arc::new(compile_text(text).expect("it compiles"));
    let budget = Budget { ticks, depth: 400, bytes: 256 << 20 };
    let played = || {
        let mut it = Evaluation::start(program, &[], budget);
        let found = it.find(path).expect("it evaluates").expect("it is there");
        match it.datum(found) {
            Ok(datum) => print_json(&datum),
            Err(all) => format!("{}: {}", all[0].path, all[0].message),
        }
    };
    // The stack every runtime gives to the evaluator.
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 20);
        builder.spawn_scoped(scope, played).expect("a thread").join().expect("no panic")
    })
}

#[test]
fn alternatives_that_are_not_allowed_are_not_looked_into() {
    let levels = 30;
    let mut text = String::new();
    for at in 0..levels {
        let next = at + 1;
        let _ = writeln!(text, "#L{at}: {{a: #L{next}}} | {{b: #L{next}}} | {{c: #L{next}}}");
    }
    let inner = "a: b: c: ".repeat(levels / 3);
    let _ = writeln!(text, "#L{levels}: {{v: int}}\nout: #L0 & {{{inner}v: 3}}");
    let got = value(&text, "out", 60_000);
    assert!(got.ends_with(&format!("{{\"v\":3{}", "}".repeat(levels + 1))), "{got}");
}

#[test]
fn a_type_of_itself_goes_as_deep_as_its_data() {
    let depth = 150;
    let mut data = "1".to_owned();
    for at in 0..depth {
        data = format!("{{op: \"+\", l: {data}, r: {at}}}");
    }
    let text = format!(
        "#E: int | {{op: \"+\" | \"-\", l: #E, r: #E}} | {{neg: #E}}\nx: #E & {data}\nout: x.r"
    );
    assert_eq!(value(&text, "out", 100_000), "149");
}

#[test]
fn calls_that_depend_on_nothing_near_are_made_once() {
    let calls = 30;
    let mut text = "#R:\n\t{tag!: \"end\", val: {}}".to_owned();
    let mut before = "end".to_owned();
    for at in 0..calls {
        let _ =
            write!(text, " |\n\t{{tag!: \"n{at}\", val: then: (#R & {{tag: \"{before}\"}}).val}}");
        before = format!("n{at}");
    }
    let _ = write!(text, "\nout: (#R & {{tag: \"{before}\"}}).val");
    let want = format!("{}{{}}{}", "{\"then\":".repeat(calls), "}".repeat(calls));
    assert_eq!(value(&text, "out", 400_000), want);
}

#[test]
fn a_call_that_is_needed_to_make_itself_fails() {
    let text =
        "t: {a: 0, out: 1} | {\n\ta: [_]\n\tout: (t & {a: a[0]}).out\n}\nx: (t & {a: 0}).out\n";
    assert_eq!(value(text, "", 20_000), r#"{"t":{"a":0,"out":1},"x":1}"#);
}

#[test]
fn a_chain_of_choices_is_followed_link_by_link() {
    let links = 60;
    let mut text =
        "o: {\n\tmode: \"a\"\n\tlet D0 = {t: mode, {t: \"a\", n: 1} | {t: \"b\", n: 2}}\n"
            .to_owned();
    for at in 1..=links {
        let before = at - 1;
        let _ = writeln!(
            text,
            "\tlet D{at} = {{t: D{before}.t, {{t: \"a\", n: D{before}.n + 1}} | {{t: \"b\", n: 0}}}}"
        );
    }
    let _ = writeln!(text, "\tres: D{links}.n\n}}");
    assert_eq!(value(&text, "o.res", 20_000), "61");
}

#[test]
fn each_struct_of_a_chain_may_extend_the_one_before() {
    let mut text = "s0: f0: 0\n".to_owned();
    for at in 1..600 {
        let _ = writeln!(text, "s{at}: s{} & {{f{at}: {at}}}", at - 1);
    }
    let got = value(&text, "s599", 30_000);
    assert_eq!(got.matches(":").count(), 600, "{got}");
    assert!(got.contains("\"f599\":599"), "{got}");
}

#[test]
fn a_list_is_searched_by_what_its_elements_are() {
    let text = "import \"list\"\nin: [for i in list.Range(0, 400, 1) {{w: mod(i, 97), t: i}}]\n\
                in: list.UniqueItems()\n\
                out: len([for i in list.Range(0, 800, 2) if list.Contains(in, {t: i, w: mod(i, 97)}) {i}])\n";
    assert_eq!(value(text, "out", 60_000), "200");
}
