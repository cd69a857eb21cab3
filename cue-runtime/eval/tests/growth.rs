//! What grows with its input grows no faster than it should: each case is given little more work than
//! it needs, and where the work doubled with every step it would not do.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cue_eval::evaluation::{compile_text, print_json};
use cue_eval::{Budget, Concreteness, Evaluation};

/// The value at a path as JSON, or the first error.
fn value(text: &str, path: &str, ticks: u64) -> String {
    value_within(text, path, Budget { ticks, depth: 400, bytes: 256 << 20 })
}

/// With the stack every runtime gives to the evaluator.
fn on_deep_stack<T: Send>(played: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 20);
        builder.spawn_scoped(scope, played).expect("a thread").join().expect("no panic")
    })
}

fn value_within(text: &str, path: &str, budget: Budget) -> String {
    let program = Arc::new(compile_text(text).expect("it compiles"));
    let played = || {
        let mut it = Evaluation::start(program, &[], budget);
        let found = it.find(path).expect("it evaluates").expect("it is there");
        match it.datum(found) {
            Ok(datum) => print_json(&datum),
            Err(all) => format!("{}: {}", all[0].path, all[0].message),
        }
    };
    on_deep_stack(played)
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
fn what_holds_within_an_alternative_is_not_asked_again_around_it() {
    let work = |depth: usize| {
        let mut data = "1".to_owned();
        for at in 0..depth {
            data = format!("{{op: \"+\", l: {data}, r: {at}}}");
        }
        format!("#E: int | {{op: \"+\" | \"-\", l: #E, r: #E}} | {{neg: #E}}\nx: #E & {data}")
    };
    // Twice as deep may be little more than twice the work.
    assert!(!value(&work(90), "x", 32_000).contains("budget"));
    assert!(!value(&work(180), "x", 64_000).contains("budget"));
}

#[test]
fn an_alternative_of_or_asks_for_one_element() {
    let text = "#L: or([for at in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] for and in [1, 2, 3, 4, 5, 6, 7, 8, \
                9, 10] for then in [1, 2, 3] {\"t\\(at).\\(and).\\(then)\"}])\n_x: #L\nout: _x & \"t3.4.2\"";
    assert_eq!(value(text, "out", 40_000), "\"t3.4.2\"");
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

/// A struct with `count` disjunctions, and as many fields.
fn one_of_each(count: usize, alternatives: impl Fn(usize) -> String, field: &str) -> String {
    let mut text = "#S: {\n".to_owned();
    let mut given = String::new();
    for at in 0..count {
        let _ = writeln!(text, "\t{}", alternatives(at));
        if !field.is_empty() {
            let _ = write!(given, "{field}{at}: {at}, ");
        }
    }
    format!("{text}}}\nout: #S & {{{given}}}\n")
}

#[test]
fn what_a_closed_struct_allows_decides_alternatives_without_a_product() {
    let count = 40;
    let text = one_of_each(count, |at| format!("{{x{at}: int}} | {{y{at}: int}}"), "y");
    let want: Vec<String> = (0..count).map(|at| format!("\"y{at}\":{at}")).collect();
    assert_eq!(value(&text, "out", 20_000), format!("{{{}}}", want.join(",")));
    // A field that two of them may bring decides nothing, and one that none brings is an error.
    let text = "#S: {\n{x: int} | {y: int}\n{z: int} | {y: int, v: 1}\n}\nout: #S & {y: 1";
    let got = value(&format!("{text}, z: 2}}"), "out", 20_000);
    assert_eq!(got, r#"{"y":1,"z":2}"#);
    assert!(value(&format!("{text}, w: 2}}"), "out", 20_000).contains("not allowed"));
}

#[test]
fn many_defaults_have_one_in_common() {
    let count = 40;
    let text = one_of_each(count, |at| format!("*{{x{at}: {at}}} | {{y{at}: string}}"), "");
    // Nothing says which of them comes first.
    let mut want: Vec<String> = (0..count).map(|at| format!("\"x{at}\":{at}")).collect();
    want.sort();
    assert_eq!(value(&text, "out", 20_000), format!("{{{}}}", want.join(",")));
}

#[test]
fn defaults_and_what_tags_decide_do_not_multiply() {
    let count = 40;
    let text = one_of_each(count, |at| format!("*{{t{at}: \"a\"}} | {{t{at}: \"b\"}}"), "");
    for some in [2, 1] {
        let tags: Vec<String> =
            (0..count).step_by(some).map(|at| format!("t{at}: \"b\"")).collect();
        let tag = |at: usize| if at.is_multiple_of(some) { "b" } else { "a" };
        let mut want: Vec<String> =
            (0..count).map(|at| format!("\"t{at}\":\"{}\"", tag(at))).collect();
        want.sort();
        let got = value(&format!("{text}x: #S & {{{}}}", tags.join(", ")), "x", 40_000);
        let mut got: Vec<&str> = got.trim_matches(['{', '}']).split(',').collect();
        got.sort_unstable();
        assert_eq!(got, want);
    }
}

#[test]
fn alternatives_that_are_named_are_looked_at_as_if_they_were_written() {
    let count = 40;
    let text = one_of_each(count, |at| format!("#X{at} | #Y{at}"), "y");
    let mut named = String::new();
    for at in 0..count {
        let _ = writeln!(named, "#X{at}: x{at}: int\n#Y{at}: y{at}: int");
    }
    let want: Vec<String> = (0..count).map(|at| format!("\"y{at}\":{at}")).collect();
    assert_eq!(value(&format!("{named}{text}"), "out", 20_000), format!("{{{}}}", want.join(",")));
}

#[test]
fn a_choice_is_there_as_a_whole_when_it_is_asked_for() {
    let text = one_of_each(5, |at| format!("*{{x{at}: {at}}} | {{y{at}: *\"y\" | string}}"), "");
    let program = Arc::new(compile_text(&text).expect("it compiles"));
    let budget = Budget { ticks: 100_000, depth: 400, bytes: 256 << 20 };
    let mut it = Evaluation::start(program, &[], budget);
    let out = it.find("out").expect("it evaluates").expect("it is there");
    let default = it.default(out).expect("one default");
    let want = r#"{"x0":0,"x1":1,"x2":2,"x3":3,"x4":4}"#;
    assert_eq!(it.datum(out).map(|it| print_json(&it)).as_deref(), Ok(want));
    let all = it.alternatives(out).expect("a choice");
    assert_eq!(all.len(), 32);
    assert_eq!(all.iter().filter(|it| it.1).count(), 1);
    assert!(it.datum(default).is_ok());
    let last = it.datum(all[31].0).map(|it| print_json(&it));
    assert_eq!(last.as_deref(), Ok(r#"{"y0":"y","y1":"y","y2":"y","y3":"y","y4":"y"}"#));
}

/// The errors of the whole, and the number of alternatives at a path, within a budget.
fn sound_and_alternatives(text: &str, path: &str, ticks: u64) -> (Vec<String>, Option<usize>) {
    let program = Arc::new(compile_text(text).expect("it compiles"));
    let budget = Budget { ticks, depth: 400, bytes: 256 << 20 };
    let mut it = Evaluation::start(program, &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    let errors = it.validate(root, Concreteness::Optional);
    let found = it.find(path).expect("it evaluates").expect("it is there");
    let all = it.alternatives(found).map(|it| it.len());
    (errors.into_iter().map(|it| it.message).collect(), all)
}

#[test]
fn of_a_choice_that_nobody_looks_at_two_results_are_found() {
    let none = Vec::<String>::new();
    let plain = |at| format!("{{x{at}: {at}}} | {{y{at}: string}}");
    let named = |at| format!("#X{at} | #Y{at}");
    let mut names = String::new();
    for at in 0..40 {
        let _ = writeln!(names, "#X{at}: x{at}: int\n#Y{at}: y{at}: int");
    }
    for text in [one_of_each(40, plain, ""), names.clone() + &one_of_each(40, named, "")] {
        let small = "s: {a: 1} | {b: 2}\n";
        assert_eq!(sound_and_alternatives(&(text + small), "s", 20_000), (none.clone(), Some(2)));
    }
    // Who looks finds all of them.
    for text in [one_of_each(5, plain, ""), names + &one_of_each(5, named, "")] {
        assert_eq!(sound_and_alternatives(&text, "out", 20_000), (none.clone(), Some(32)));
    }
    // Those that fail are none of the two, and one that is left is the value.
    let text = "s: {v: 3, {v: 1} | {v: 2} | {v: 3} | {v: 4} | {v: 5, w: 1} | {v: int, z: 1}}";
    assert_eq!(sound_and_alternatives(text, "s", 20_000), (none.clone(), Some(2)));
    let text = "s: {v: 3, {v: 1} | {v: 2} | {v: 3} | {v: 4} | {v: 5, w: 1}}\no: s.v";
    assert_eq!(sound_and_alternatives(text, "s", 20_000), (none.clone(), None));
    assert_eq!(value(text, "o", 20_000), "3");
    // A default counts though it stands last.
    let text = "s: {a: 1} | {b: 2} | {c: 3} | {d: 4} | *{e: 5}\no: s.e";
    assert_eq!(value(text, "o", 20_000), "5");
    let text = "s: {{a: 1} | {b: 2} | {c: 3}, {d: 4} | *{e: 5}}";
    assert_eq!(sound_and_alternatives(text, "s", 20_000), (none, Some(6)));
}

#[test]
fn disjunctions_that_say_the_same_do_not_multiply() {
    let count = 40;
    let joined = |head: &str, what: &dyn Fn(usize) -> String, by: &str| {
        let all: Vec<String> = (0..count).map(what).collect();
        format!("{head}{}", all.join(by))
    };
    let some = [
        ("{} | {c: string}", 2),
        ("{a: int} | {c: string}", 3),
        ("{a: 1, b?: string} | {a: int}", 2),
        (">0 | >1 | <10", 5),
        ("*>0 | >1 | <10", 5),
        ("[...int] | [1, 2, ...]", 2),
        ("#A | #B", 2),
    ];
    for (written, results) in some {
        let names = joined(
            "#A: {a: int, ...}\n#B: {a: int, b: 1, ...}\n",
            &|at| format!("d{at}: {written}"),
            "\n",
        );
        let values = joined("\nout: ", &|at| format!("d{at}"), " & ");
        let fields = joined("\n", &|at| format!("e{at}: p: {written}"), "\n")
            + &joined("\nin: ", &|at| format!("e{at}"), " & ");
        let got = sound_and_alternatives(&(names.clone() + &values), "out", 60_000);
        assert_eq!(got, (Vec::new(), Some(results)), "{written}");
        let got = sound_and_alternatives(&(names + &fields), "in.p", 100_000);
        assert_eq!(got, (Vec::new(), Some(results)), "{written}");
    }
    // Neither do those that are one after the other, and those that have only some alternatives in common.
    let text = joined("out: ", &|at| format!("({{}} | {{c{}: int}})", at % 3), " & ");
    assert_eq!(sound_and_alternatives(&text, "out", 60_000), (Vec::new(), Some(8)));
    let text = joined("out: ", &|at| format!("({{}} | {{c: int}} | {{c: <{at}}})"), " & ");
    let text = format!("{text}\nsome: out & {{c: 0, d: 1}}");
    assert_eq!(value(&text, "some", 300_000), r#"{"c":0,"d":1}"#);
    // Of closed values only what all of them allow is left.
    let closed = joined("", &|at| format!("#d{at}: {{a?: int}} | {{c: string}}"), "\n");
    let text = closed + &joined("\nout: ", &|at| format!("#d{at}"), " & ");
    assert_eq!(sound_and_alternatives(&text, "out", 60_000), (Vec::new(), Some(2)));
    // What is closed by less is another value, though it has the same fields.
    let all = "{c: string} | {b?: int} | {b: int, c?: string}";
    for count in [3, 4, 20] {
        let lines: Vec<String> = (0..count).map(|at| format!("#d{at}: {all}")).collect();
        let names: Vec<String> = (0..count).map(|at| format!("#d{at}")).collect();
        let text = format!("{}\nout: {}", lines.join("\n"), names.join(" & "));
        assert_eq!(sound_and_alternatives(&text, "out", 60_000), (Vec::new(), Some(4)), "{count}");
    }
}

#[test]
fn what_says_the_same_in_each_of_many_literals_does_not_multiply() {
    let times = |literal: &str| vec![literal; 100].join(" & ");
    let marked = "{d: *false | bool, s: *close({url: string}) | close({secret: {name: string}})}";
    let text = format!("p: {}\np: s: secret: name: \"n\"", times(marked));
    assert_eq!(value(&text, "p", 2_000), r#"{"d":false,"s":{"secret":{"name":"n"}}}"#);
    let list = format!("#L: {}\n", times("{v: int, next: null | #L}"));
    let text = list + "out: #L & {v: 1, next: {v: 2, next: null}}";
    assert_eq!(value(&text, "out", 2_000), r#"{"v":1,"next":{"v":2,"next":null}}"#);
    // A name that stands for something else in each does.
    let mut text: String = (0..8).map(|at| format!("y{at}: {{n: {at}, a: n | 9}}\n")).collect();
    text.push_str("out: y0.a & y1.a & y2.a & y3.a & y4.a & y5.a & y6.a & y7.a");
    assert_eq!(value(&text, "out", 10_000), "9");
}

#[test]
fn choices_between_names_in_definitions_do_not_multiply() {
    let joined = |head: &str, what: &dyn Fn(usize) -> String, by: &str| {
        head.to_owned() + &(0..40).map(what).collect::<Vec<_>>().join(by)
    };
    let choices = |of: &str, written: &str| {
        let head = format!("#A: {{a: int{of}}}\n#B: {{b: int{of}}}\n");
        let all = joined(&head, &|at| format!("#d{at}: {written}"), "\n");
        all + &joined("\nout: ", &|at| format!("#d{at}"), " & ")
    };
    for (of, written, results) in
        [("", "#A | #B", 2), (", ...", "#A | #B", 3), (", ...", "*#A | #B", 3)]
    {
        let got = sound_and_alternatives(&choices(of, written), "out", 20_000);
        assert_eq!(got, (Vec::new(), Some(results)), "{written} {of}");
    }
    // A field of the value itself is one, whichever of its literals names it.
    let text = "s: {min: *1 | int, max: *min | int}\n".repeat(40);
    assert_eq!(value(&text, "s", 10_000), r#"{"min":1,"max":1}"#);
    // A bound that is not known yet does not make a value the same as one without it.
    let text = "y: int\n".to_owned() + &"out: true | >y | 1\n".repeat(8);
    assert_eq!(sound_and_alternatives(&text, "out", 20_000), (Vec::new(), Some(2)));
    // What its declarations call a field is not the same for each of them.
    let keys = (0..8).map(|at| format!("s{at}: {{f{at}~(K, _): K | \"z\"}}\n"));
    let text = format!("@experiment(aliasv2)\n{}", keys.collect::<String>());
    let values: Vec<String> = (0..8).map(|at| format!("s{at}.f{at}")).collect();
    let text = format!("{text}out: {}", values.join(" & "));
    assert_eq!(value(&text, "out", 10_000), r#""z""#);
}

#[test]
fn an_open_name_in_each_of_many_literals_does_not_multiply() {
    let text = format!("_w: {{extra: out.one}}\n{}", "out: {*_w | {}, one: 1}\n".repeat(20));
    assert_eq!(value(&text, "out", 5_000), r#"{"extra":1,"one":1}"#);
}

#[test]
fn what_an_alternative_brings_does_not_multiply() {
    let text = format!("a: b | \"x\"\n{}", "b: *\"q\" | string\n".repeat(40));
    assert_eq!(value(&text, "b", 2_000), r#""q""#);
    assert_eq!(sound_and_alternatives(&text, "a", 10_000), (Vec::new(), Some(3)));
    let text = format!("a: b | \"x\"\nb: {}", vec!["(a | \"y\")"; 40].join(" & "));
    assert_eq!(sound_and_alternatives(&text, "b", 10_000), (Vec::new(), Some(3)));
}

#[test]
fn a_chain_from_a_field_that_goes_round_ends_at_that() {
    let mut text = "a: b: {c0: a".to_owned();
    for at in 1..100 {
        let _ = write!(text, ", c{at}: c{} & {{f{at}: 0}}", at - 1);
    }
    assert_eq!(wrong(&format!("{text}}}"), 20_000), ["a.b.c0: structural cycle"]);
}

#[test]
fn a_chain_of_literals_that_only_embed_is_followed_link_by_link() {
    for (first, last) in [("*1 | 2", "1"), ("3", "3"), ("\"a\" & string", "\"a\"")] {
        let mut text = format!("a0: {first}\n");
        for at in 1..=400 {
            let _ = writeln!(text, "a{at}: {{a{}}}", at - 1);
        }
        assert_eq!(value(&text, "a400", 8_000), last);
    }
}

/// What a chain of 120 defaults ends with, and what is wrong with it.
fn last_of_defaults(first: &str, links: impl Iterator<Item = usize>) -> (String, usize) {
    let links = links.map(|at| format!("a{at}: *a{} | null\n", at - 1));
    let text = format!("b: 3\na0: {first}\n{}", links.collect::<String>());
    let program = Arc::new(compile_text(&text).expect("it compiles"));
    on_deep_stack(|| {
        let budget = Budget { ticks: 10_000, depth: 400, bytes: 64 << 20 };
        let mut it = Evaluation::start(program, &[], budget);
        let root = it.find("").expect("it evaluates").expect("it is there");
        let wrong = it.validate(root, Concreteness::Optional).len();
        let last = it.find("a120").expect("it evaluates").expect("it is there");
        (it.short(last), wrong)
    })
}

#[test]
fn a_chain_of_defaults_is_followed_link_by_link() {
    for (first, shown) in [
        ("5", "*5 | null"),
        ("string", "*string | null"),
        ("{x: 5}", "*{x:5} | null"),
        ("1 | 2", "*1 | *2 | null"),
        ("{x: 5} | {y: 6}", "*{x:5} | *{y:6} | null"),
    ] {
        let forward = last_of_defaults(first, 1..=120);
        assert_eq!(forward, (shown.to_owned(), 0));
        assert_eq!(last_of_defaults(first, (1..=120).rev()), forward);
    }
    let computed = last_of_defaults("{x: b, l: [b, {k: b}]}", 1..=120);
    assert_eq!(computed, ("*{x:3,l:[3,{k:3}]} | null".to_owned(), 0));
}

#[test]
fn a_chain_of_types_is_followed_link_by_link() {
    const LINKS: u64 = 20_000;
    let links = |it: &str, count: usize| -> String {
        let names = (1..count).map(|at| format!("a{at}: a{}\n", at - 1));
        format!("a0: {it}\n{}out: a{}\n", names.collect::<String>(), count - 1)
    };
    for given in ["int", ">=0 & <=10", "int | string"] {
        for text in [
            format!("#D: {{{}}}\nx: #D & {{out: 1}}", links(given, 400)),
            format!("#D: [...{{{}}}]\nx: #D & [{{out: 1}}]", links(given, 400)),
        ] {
            let got = sound_and_alternatives(&text, "x", LINKS);
            assert_eq!(got, (Vec::new(), None), "{given}");
        }
    }
}

#[test]
fn thousands_of_alternatives_are_not_compared_with_each_other() {
    let alternatives = |count: usize| {
        let all: Vec<String> = (0..count).map(|it| format!("\"v{}\"", it % (count - 1))).collect();
        format!("x: {}\nout: x & \"v7\"\n", all.join(" | "))
    };
    let work = |count: usize| {
        let text = alternatives(count);
        let started = Instant::now();
        assert_eq!(value(&text, "out", 1_000_000), "\"v7\"");
        started.elapsed()
    };
    let few = work(2_000);
    // Each with all others: a hundred times as long.
    assert!(work(20_000) < few * 40 + Duration::from_millis(500), "2,000 took {few:?}");
}

#[test]
fn a_text_that_is_read_is_counted_twice_while_it_is_put_together() {
    let mut text = "s0: \"0123456789abcdef\"\n".to_owned();
    for at in 1..=24 {
        let _ = match at % 2 {
            0 => writeln!(text, "s{at}: s{0} + s{0}", at - 1),
            _ => writeln!(text, "s{at}: \"\\(s{0})\\(s{0})\"", at - 1),
        };
    }
    let out = |out: &str| value(&format!("{text}out: {out}"), "out", 10_000);
    // The budget is 256 MiB: what is only measured takes nothing, as long as it would fit.
    assert_eq!(out("len(s23)"), "134217728");
    assert!(out("len(\"\\(s24)x\")").contains("budget of memory"));
    // 64 MiB are there twice while they are put together, then once; the next 64 MiB fit as well, 128 MiB do not.
    assert_eq!(out("[s22 > \"1\", s22 + \"x\" > \"1\"]"), "[false,false]");
    assert!(out("s23 < \"1\"").contains("budget of memory"));
    assert!(out("s23").contains("budget of memory"));
    assert!(out("[s22, s22 + \"x\", s22 + \"y\", s22 + \"z\"]").contains("budget of memory"));
}

#[test]
fn a_chain_of_texts_takes_as_much_as_its_links() {
    let mut text = "s0: \"x\"\n".to_owned();
    for at in 1..=20_000 {
        let _ = writeln!(text, "s{at}: \"\\(s{})y\"", at - 1);
    }
    text.push_str("out: [len(s20000), s20000 =~ \"^xy*$\", s19999 + \"y\" == s20000]");
    // All their texts are 200 MB.
    let budget = Budget { ticks: 1_000_000, depth: 100_000, bytes: 48 << 20 };
    assert_eq!(value_within(&text, "out", budget), "[20001,true,true]");
}

#[test]
fn a_guard_over_its_own_struct_is_asked_once_for_each_alternative() {
    let guard = "p: {if (p & {a: int}) != _|_ {e: 1}}";
    let text = format!("p: *{{c: 1}} | {{d: 1}}\n{guard}");
    assert_eq!(value(&text, "p", 2_000), "{\"c\":1,\"e\":1}");
    let text =
        format!("p: {{c: 1}} | {{d: 1}} | {{f: 1}}\n{guard}\nout: p & {{d: 1, c?: _|_, f?: _|_}}");
    assert!(value(&text, "out", 5_000).contains("\"e\":1"));
    // What the guard brings counts in what it asks for.
    let text = "s: {c: 1}\ns: {if (s & {e: 2}) != _|_ {e: 1}}";
    assert_eq!(value(text, "s", 2_000), "{\"c\":1}");
}

#[test]
fn a_list_that_asks_what_it_is_itself_ends() {
    let text = "p: {a: 1, d: [for k, v in p if (v & int) != _|_ {k}]}";
    let budget = Budget { ticks: 1_000_000, depth: 10_000, bytes: 256 << 20 };
    assert_eq!(value_within(text, "p", budget), "{\"a\":1,\"d\":[\"a\"]}");
}

#[test]
fn elements_that_are_the_same_scalar_are_one() {
    let budget = Budget { ticks: 20_000_000, depth: 400, bytes: 200 << 20 };
    let text = "import \"list\"\nx: list.Repeat([1, 2], 500000)\nout: [len(x), list.Sum(x)]";
    assert_eq!(value_within(text, "out", budget), "[1000000,1500000]");
    let text =
        "import \"list\"\nout: len(list.Repeat([1], 1000000)) + len(list.Repeat([2], 1000000))";
    assert_eq!(value_within(text, "out", budget), "2000000");
    let text = "import \"list\"\nx: list.Repeat([1], 2) & [1, 2]\nout: x";
    assert_eq!(value_within(text, "out", budget), "x.1: conflicting values 1 and 2");
}

#[test]
fn an_alternative_that_needs_its_list_sorted_is_none() {
    // Officially this does not end.
    let text = "import \"list\"\nout: l: [\"c\", \"b\" | sorted, \"a\", \"e\"]\n\
                sorted: list.Sort(out.l, list.Ascending)\n";
    assert_eq!(value(text, "out", 20_000), r#"{"l":["c","b","a","e"]}"#);
    assert_eq!(value(text, "sorted", 20_000), r#"["a","b","c","e"]"#);
}

/// What is wrong with a program, as `cue vet -c` finds it.
fn wrong(text: &str, ticks: u64) -> Vec<String> {
    let program = Arc::new(compile_text(text).expect("it compiles"));
    let played = || {
        let budget = Budget { ticks, depth: 4_000, bytes: 256 << 20 };
        let mut it = Evaluation::start(program, &[], budget);
        let root = it.find("").expect("it evaluates").expect("it is there");
        let all = it.validate(root, Concreteness::Required);
        all.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
    };
    on_deep_stack(played)
}

#[test]
fn each_field_of_a_loop_is_asked_for_no_more_than_a_few_times() {
    // Loops of more than 200 fields are taken up from their end, too.
    for (fields, told) in [(3, 3), (30, 30), (90, 90), (300, 102)] {
        let mut text = String::new();
        for at in 0..fields {
            let _ = writeln!(text, "a{at}: a{} + 1", (at + 1) % fields);
        }
        let all = wrong(&text, fields as u64 * 60);
        assert_eq!(all.len(), told, "{fields} fields: {all:?}");
        let round = |it: &String| it.contains(": cycle with field: a");
        assert!(all.iter().all(round), "{all:?}");
    }
}

#[test]
fn lists_that_go_round_are_told_of_as_often_as_they_do() {
    let mut text = "a: [b, b, b, b, b]\nb: [c, c, c, c, c]\n".to_owned();
    let _ = writeln!(text, "c: [b, b, {{}}, b, b]\nc: [d, d, d, d, d]");
    let _ = writeln!(text, "d: [e, e, e, e, e]\ne: [b, b, b, b, b]");
    let all = wrong(&text, 100_000);
    assert!(all.len() > 100, "{}", all.len());
    let round = |it: &String| it.ends_with(": structural cycle");
    assert!(all.iter().filter(|it| round(it)).count() > 100, "{all:?}");
}

#[test]
fn an_argument_that_leads_to_the_call_it_is_made_for_ends() {
    let choice = "q: {kind: \"x\"} | {kind: \"y\", a: 5}\nq: d: [x.kind]\nx: {q, c: z}\n";
    let call = |it: &str| format!("d: list.FlattenN([{it}.d, [1]], 1)");
    let text = format!("import \"list\"\n{choice}z: {{{}, {}}}", call("z"), call("q"));
    let all = wrong(&text, 5_000);
    assert!(
        all.contains(&"z.d: error in call to list.FlattenN: structural cycle".to_owned()),
        "{all:?}"
    );
}

#[test]
fn elements_that_are_what_they_stand_in_end_in_the_second_round() {
    let all = wrong("#B: {d: [_, _], d: [...{#B}]}", 1_000);
    let ends: Vec<&str> =
        all.iter().filter_map(|it| it.strip_suffix(": structural cycle")).collect();
    assert_eq!(ends, ["#B.d.0.d.0", "#B.d.0.d.1", "#B.d.1.d.0", "#B.d.1.d.1"]);
}

#[test]
fn ways_through_diamonds_of_embeddings_are_not_gone_one_by_one() {
    let diamonds = |levels: usize, embed: &dyn Fn(usize) -> String| {
        let mut text = "#A0: {x: 1}\nA0: {x: 1}\n".to_owned();
        for at in 1..=levels {
            let _ = writeln!(text, "{}", embed(at));
        }
        text
    };
    let twice = |at: usize| format!("A{at}: {{A{0}, A{0}, y{at}: 1}}", at - 1);
    let closed = |at: usize| format!("#A{at}: {{#A{0}, #A{0}, y{at}: 1}}", at - 1);
    let by_two = |at: usize| {
        format!(
            "B{at}: {{A{0}, b{at}: 1}}\nC{at}: {{A{0}, c{at}: 1}}\nA{at}: {{B{at}, C{at}, a{at}: 1}}",
            at - 1
        )
    };
    let guarded = |at: usize| format!("A{at}: {{A{0}, if x > 0 {{A{0}}}, x: _}}", at - 1);
    let called = |at: usize| format!("A{at}: close(A{0}) & A{0}", at - 1);
    // A diamond more would double the work.
    for (path, ticks, embed) in [
        ("A30", 20_000, &twice as &dyn Fn(usize) -> String),
        ("#A30", 8_000, &closed),
        ("A30", 80_000, &by_two),
        ("A30", 500_000, &guarded),
        ("A30", 400_000, &called),
    ] {
        let got = value(&diamonds(30, embed), path, ticks);
        assert!(got.contains("\"x\":1"), "{path}: {got}");
    }
}

#[test]
fn embeddings_within_embeddings_are_held_against_each_other_once() {
    let chain = |links: usize| {
        let mut text = "#A0: {a0: 1}\n".to_owned();
        for at in 1..=links {
            let _ = writeln!(text, "#A{at}: {{#A{0}, a{at}: 1}}", at - 1);
        }
        text
    };
    for (links, ticks) in [(60, 10_000), (120, 40_000)] {
        let got = value(&chain(links), &format!("#A{links}"), ticks);
        assert!(got.contains("\"a0\":1"), "{got}");
    }
}

#[test]
fn operands_of_a_long_conjunction_are_not_set_apart_from_each_other() {
    let operands = 400;
    let mut text = "#D: {r: 1}\n".to_owned();
    for at in 0..operands {
        let _ = writeln!(text, "b{at}: {{#D, k{at}: 1}}");
    }
    let all: Vec<String> = (0..operands).map(|at| format!("b{at}")).collect();
    let _ = writeln!(text, "out: {{{}}}", all.join(" & "));
    // Each refuses what all others have.
    let all = wrong(&text, 40_000);
    assert!(all.iter().all(|it| it.contains("field not allowed")), "{:?}", all.first());
}

/// Each way to say what names there are, and what two of them have in common.
const ENUMS: [&str; 8] = [
    "#Z: N0 | NAMES",
    "#Z: or([NAMED])",
    "_z: [NAMED]\n#Z: or([for it in _z {it}])",
    "#A: NAMES\n#B: \"other\" | \"another\"\n#Z: #A | #B",
    "#Z: string & (NAMES)",
    "#Z: PATTERNS",
    "#A: NAMES\n#B: NAMES | \"other\"\n#Z: #A & #B",
    "#Z: *\"other\" | (NAMES) | null",
];

#[test]
fn of_many_names_one_is_found_without_trying_the_others() {
    let names: Vec<String> = (0..200).map(|at| format!("\"n{at}\"")).collect();
    for way in ENUMS {
        let patterns: Vec<String> = (0..200).map(|at| format!("=~\"^n{at}$\"")).collect();
        let way = way.replace("PATTERNS", &patterns.join(" | "));
        let way = way.replace("NAMED", &names.join(", ")).replace("NAMES", &names.join(" | "));
        let mut text = way.replace("N0", "\"first\"");
        text.push_str("\nl: [...{z: #Z}]\nl: [");
        for at in 0..100 {
            let _ = write!(text, "{{z: \"n{at}\"}}, ");
        }
        text.push(']');
        let all = value(&text, "l", 30_000);
        assert!(all.ends_with("{\"z\":\"n99\"}]"), "{way}: {all}");
    }
}

#[test]
fn what_two_lists_of_names_have_in_common_takes_their_sum() {
    let names = |from: usize, to: usize| {
        let all: Vec<String> = (from..to).map(|at| format!("\"n{at}\"")).collect();
        all.join(" | ")
    };
    let (one, other) = (names(0, 300), names(299, 600));
    assert_eq!(value(&format!("a: {one}\nb: {other}\nout: a & b"), "out", 20_000), "\"n299\"");
}

#[test]
fn structs_by_tag_are_found_among_those_that_a_loop_lists() {
    let mut text = "#Z: or([for it in #K {it}])\n#K: {\n".to_owned();
    for at in 0..200 {
        let _ = writeln!(text, "k{at}: {{k: \"n{at}\", v{at}: int}}");
    }
    text.push_str("}\nl: [...#Z]\nl: [");
    for at in 0..50 {
        let _ = write!(text, "{{k: \"n{at}\", v{at}: {at}}}, ");
    }
    text.push(']');
    let all = value(&text, "l", 30_000);
    assert!(all.ends_with("{\"k\":\"n49\",\"v49\":49}]"), "{all}");
}

#[test]
fn a_join_keeps_nothing_of_the_pairs_that_do_not_match() {
    let mut text = String::from("a: [");
    for at in 0..600 {
        let _ = write!(text, "{{id: {at}, v: \"x\"}}, ");
    }
    text.push_str(
        "]\nb: [for x in a for y in a if x.id == y.id && !(x.v == \"y\") {x.id + y.id}]\n",
    );
    // Each pair takes some forty bytes where it is kept.
    let budget = Budget { ticks: 5_000_000, depth: 400, bytes: 8 << 20 };
    let all = value_within(&text, "b", budget);
    assert!(all.starts_with("[0,2,4,6,") && all.ends_with(",1198]"), "{all}");
}

#[test]
fn names_that_two_lists_have_not_in_common_are_told_for_the_last_of_one() {
    let names = |from: usize, to: usize| {
        let all: Vec<String> = (from..to).map(|at| format!("\"n{at}\"")).collect();
        all.join(" | ")
    };
    // More results than are all told of.
    let text = format!("a: {}\nb: {}\nout: a & b", names(0, 70), names(70, 140));
    let program = Arc::new(compile_text(&text).expect("it compiles"));
    let messages = on_deep_stack(|| {
        let budget = Budget { ticks: 10_000, depth: 400, bytes: 64 << 20 };
        let mut it = Evaluation::start(program, &[], budget);
        let found = it.find("out").expect("it evaluates").expect("it is there");
        let wrong = it.validate(found, Concreteness::Optional);
        wrong.into_iter().map(|it| it.message).collect::<Vec<String>>()
    });
    assert_eq!(messages.first().map(String::as_str), Some("70 errors in empty disjunction:"));
    assert!(
        messages.contains(&"conflicting values \"n70\" and \"n69\"".to_owned()),
        "{messages:?}"
    );
    assert!(!messages.iter().any(|it| it.contains("\"n68\"")), "{messages:?}");
}

#[test]
fn names_that_stand_often_are_not_followed_to_each_of_their_ends() {
    let mut text = String::from("e: string\n");
    for (name, of) in [("d", "e"), ("c", "d"), ("b", "c"), ("a", "b")] {
        let _ = writeln!(text, "{name}: {}", vec![of; 400].join(" & "));
    }
    // There are 25,600 million of them.
    text.push_str("out: (a | \"x\" | \"y\") & \"x\"");
    assert_eq!(value(&text, "out", 200_000), "\"x\"");
}
