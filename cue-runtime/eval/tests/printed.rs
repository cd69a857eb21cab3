//! Evaluated values as CUE text, as `cue eval` prints them: a text in, a text out.

mod validated;

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Concreteness, Evaluation, Names, Profile, Show, Source, Style, compile};

use crate::validated::validated;

#[track_caller]
fn check(text: &str, want: &str) {
    let (mut it, root) = validated(text);
    assert_eq!(it.syntax(root, Style::Eval), want);
}

#[test]
fn what_waits_is_printed_by_its_source() {
    check("a: int\nb: a + 1\nc: \"n\\(a)\"\n", "a: int\nb: a + 1\nc: \"n\\(a)\"\n");
    check(
        "x: bool\ny: {if x {z: 1}, w: 2}\n",
        "x: bool\ny: {\n    if x {\n        z: 1\n    }\n    w: 2\n}\n",
    );
    check("x: int\nif x > 2 {y: 1}\n", "x: int\nif x > 2 {\n    y: 1\n}\n");
}

#[test]
fn what_refers_to_what_has_failed_fails_there() {
    check(
        "p: {x: 1, y: 1 & 2}\no: {u: p.x, w: p.y}\n",
        "p: {\n    x: 1\n    y: _|_ // p.y: conflicting values 2 and 1\n}\n\
         o: {\n    u: _|_ // p.y: conflicting values 2 and 1\n    w: _|_ // p.y: conflicting values 2 and 1\n}\n",
    );
    // It comes later, so that more of it than was asked for has not failed yet.
    check(
        "o: {a: p.y, l: {t: p.x}, v: {t: p.x}}\np: {x: 1, y: string}\np: y: 7\n",
        "o: {\n    a: _|_ // p.y: conflicting values string and 7 (mismatched types string and int)\n    l: {\n        t: 1\n    }\n    \
         v: {\n        t: 1\n    }\n}\np: {\n    x: 1\n    y: _|_ // p.y: conflicting values string and 7 (mismatched \
         types string and int)\n}\n",
    );
}

#[test]
fn files_that_wait_stand_beside_each_other() {
    let files = [
        Source::new("a.cue", "if x > 1 {y: 1}\nx: int\n"),
        Source::new("b.cue", "#A\n#A: {b: 2}\n"),
        Source::new("c.cue", "let z = 2\nh: z\n"),
        Source::new("d.cue", ""),
    ];
    let program = compile(&files, &[], Profile::V017).expect("it compiles");
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    it.validate(root, Concreteness::Optional);
    let want = "{\n    if x > 1 {\n        y: 1\n    }\n    x: int\n} & {\n    #A\n    #A: {\n        b: 2\n    \
                }\n} & {\n    let z = 2\n    h: z\n} & {}\n";
    assert_eq!(it.shown(root, Show::new(Style::Eval, Show::DEFINITIONS | Show::FILE)), want);
}

#[test]
fn lets_and_packages_that_sources_name_come_first() {
    check("let q = p + 1\np: int\nout: q\n", "\nlet q = p + 1\np:   int\nout: q\n");
    check(
        "import \"strings\"\na: string\nb: strings.ToUpper(a)\n",
        "import \"strings\"\n\na: string\nb: strings.ToUpper(a)\n",
    );
    check("import l \"list\"\na: l.MaxItems(3)\n", "import \"list\"\n\na: list.MaxItems(3)\n");
}

#[test]
fn each_struct_has_lets_with_names_of_its_own() {
    // O-79: names of fields and of other lets are taken; a struct that is printed again names anew.
    let lets =
        "m: string\nx0: x: 1\nf: {let x = m + \"y\", w: x}\ng: {let x = m + \"z\", w: x}\nh: f\n";
    check(
        lets,
        "m: string\nx0: {\n    x: 1\n}\nf: {\n    let x_1 = m + \"y\"\n    w: x_1\n}\n\
         g: {\n    let x_2 = m + \"z\"\n    w: x_2\n}\nh: {\n    let x_3 = m + \"y\"\n    w: x_3\n}\n",
    );
    // Behind a reference a let is not printed: its name stays, or what it holds if it had none yet.
    check(
        "m: string\na: f & {q: 1}\nf: {let c = m + \"y\", w: c}\nz: f & {q: 1}\n",
        "m: string\na: {\n    q: 1\n    w: m + \"y\"\n}\nf: {\n    let c = m + \"y\"\n    w: c\n}\n\
         z: {\n    q: 1\n    w: c\n}\n",
    );
    // So do structs that are printed as written.
    check(
        "#D: {n: int, u: {let c = n + 1, if c > 1 {i: c}}}\nd: #D\n",
        "#D: {\n    n: int\n    u: {\n        let c = n + 1\n        if c > 1 {\n            i: c\n        }\n    }\n}\n\
         d: {\n    n: int\n    u: {\n        let c_1 = n + 1\n        if c_1 > 1 {\n            i: c_1\n        }\n    }\n}\n",
    );
}

#[test]
fn lets_among_clauses_keep_their_expression() {
    check(
        "m: string\nl: [for i in [1] let k = m + \"y\" {k}]\nfor i in [1] let k = m + \"y\" {e: k}\n",
        "m: string\nl: [k]\ne: k\n",
    );
}

#[test]
fn what_is_nothing_but_a_reference_is_printed_as_what_it_shares() {
    // S-72, O-68: however the path goes on, and beside `_` too.
    check(
        "m: int\ny: z: m + 1\nx: y.z\nw: {a: x, l: [y[\"z\"]][0], b: a & _}\n",
        "m: int\ny: {\n    z: m + 1\n}\nx: m + 1\nw: {\n    a: m + 1\n    l: m + 1\n    b: m + 1\n}\n",
    );
    // Not what has no place, nor what is not there.
    check(
        "m: int\ny: z: m + 1\nt: (y & {q: 1}).z\nu: y.none\n",
        "m: int\ny: {\n    z: m + 1\n}\nt: (y & {\n    q: 1\n}).z\nu: y.none\n",
    );
}

#[test]
fn a_declaration_of_anything_stands_first() {
    check(
        "m: int\na: m + 1 & _\nb: m + 1\nb: _\nc: _ & m + 2\nc: _\n",
        "m: int\na: m + 1\nb: _ & m+1\nc: _ & m+2\n",
    );
}

#[test]
fn what_patterns_and_elements_bring_stands_where_their_reference_does() {
    // O-12: `n` is of the pattern, which comes by a reference behind the field, or before it.
    check(
        "#P: [string]: {n: int, v: int}\na: {x: v: 1, #P}\nb: {#P, x: v: 1}\n",
        "#P: {}\na: {\n    x: {\n        v: 1\n        n: int\n    }\n}\n\
         b: {\n    x: {\n        n: int\n        v: 1\n    }\n}\n",
    );
    check(
        "#L: [...{n: int, v: int}]\nM: [{v: 1}]\na: M & #L\nb: #L & M\n",
        "#L: []\nM: [{\n    v: 1\n}]\na: [{\n    v: 1\n    n: int\n}]\n\
         b: [{\n    n: int\n    v: 1\n}]\n",
    );
}

#[test]
fn alternatives_of_one_structure_are_one() {
    // D-9: choices, bounds and patterns in them included; marks count by the order they give.
    check("a: {x: 1 | 2} | {x: 1 | 2}\n", "a: {\n    x: 1 | 2\n}\n");
    check("a: {x: *1 | 2} | {x: 1 | 2}\n", "a: {\n    x: 1\n}\n");
    check("a: {x: *1 | 2} | {x: 1 | *2}\n", "a: {\n    x: 1\n} | {\n    x: 2\n}\n");
    check("a: {x: >1 & int} | {x: int & >1}\n", "a: {\n    x: int & >1\n}\n");
    check("a: {[string]: int} | {[string]: int}\n", "a: {}\n");
    check("#R: {a: 1} | {b: 2}\nc: {#R, #R, _ | {}, x: #R, ...}\n", ONE_OF_TWO);
    check("a: {b?: int} | {b?: int, ...}\nc: [1] | [1, 1]\n", "a: {}\nc: [1] | [1, 1]\n");
    // What only embeds itself says no more than that it is a struct.
    check("#x: {#x | {}}\n", "#x: {}\n");
}

const ONE_OF_TWO: &str = "#R: {
    a: 1
} | {
    b: 2
}
c: {
    a: 1
    x: {
        a: 1
    } | {
        b: 2
    }
} | {
    b: 2
    x: {
        a: 1
    } | {
        b: 2
    }
}
";

#[test]
fn choices_take_their_default_or_what_is_left() {
    check("a: *1 | 2\nb: *1 | *2 | 3\nc: 1 | 2\n", "a: 1\nb: 1 | 2\nc: 1 | 2\n");
}

#[test]
fn marks_of_a_side_count_only_while_a_marked_alternative_is_left() {
    // D-2, with results of its examples.
    let sides = [
        ("(*1 | 2 | 3) & (1 | 2)", "1"),
        ("(*1 | 2 | 3) & (2 | 3)", "2 | 3"),
        ("(*1 | 2) & (1 | *2)", "1 | 2"),
        ("(*1 | 2 | 3) & (*2 | 3)", "2"),
        ("(*\"a\" | \"b\" | \"c\") & (\"b\" | *\"c\")", "\"c\""),
        ("(*1 | *2 | 3) & (*2 | 1 | 3)", "2"),
        ("(*1 | 2 | 3) & (1 | *2 | 3) & (2 | *3)", "2 | 3"),
        ("(*1 | 2 | 3) & (1 | *2 | 3) & (2 | 3) & (*2 | 3)", "2"),
        ("(*1 | 2 | 3) & (1 | *2 | 3) & (1 | 2 | *3)", "1 | 2 | 3"),
        ("(*43 | bool) & (*42 | _)", "43"),
        ("(uint | *1) & (>=3 | *3)", "3"),
        ("(*1 | int) & (*2 | int)", "1 | 2 | int"),
        // Each way to a result counts, also where several lead to one.
        ("(*\"a\" | \"b\") & (string | *\"b\")", "\"a\" | \"b\""),
        ("(2 | int | string) & (3 | *\"a\" | 1)", "\"a\""),
        ("(2 | *int | 3) & (*3 | *2 | int)", "2 | 3"),
        ("(*{x: 1} | {y: 1}) & ({y: int} | *{y: 1})", "{\n    x: 1\n    y: 1\n}"),
        // Only what a step drops itself is gone there.
        ("(*1 | 2 | 3) & (1 | *2 | 3) & (*2 | 3)", "2 | 3"),
        ("(*3 | int) & (3 | *int) & (*1 | 2)", "1 | 2"),
        // Nested ones beside plain ones, also where they are the same (D-3); one that is left has no mark.
        ("2 | (*1 | *int) | 3", "1 | int"),
        ("\"a\" | string | (2 | 3 | *\"a\")", "\"a\""),
        ("(*\"a\" | int) | int", "\"a\""),
        ("*((*1 | int) & 5) | 7", "5"),
        ("(*1 | int | \"a\") & (string | (*1 | 2))", "1"),
        // In the order of the alternatives (D-7).
        ("1 | 3 | *2 | *1", "1 | 2"),
    ];
    for (text, want) in sides {
        check(&format!("a: {text}\n"), &format!("a: {want}\n"));
    }
}

#[test]
fn numbers_are_equal_by_value_and_their_containers_by_kind() {
    // S-56; `list.Contains` looks at members.
    let sides = [
        ("1 == 1.0", "true"),
        ("[1] == [1.0]", "false"),
        ("{x: 1} == {x: 1.0}", "false"),
        ("[1e3] == [1000.0]", "true"),
        ("\"a\" == 'a'", "false"),
        ("\"a\" != 'a'", "true"),
        ("[\"a\"] == ['a']", "false"),
        ("\"ab\" =~ 'b$'", "true"),
    ];
    for (text, want) in sides {
        check(&format!("a: {text}\n"), &format!("a: {want}\n"));
    }
    let list = "import \"list\"\na: list.Contains([1], 1.0)\nb: list.Contains([[1]], [1])\n";
    check(list, "a: false\nb: true\n");
}

#[test]
fn lists_contain_what_is_equal_concrete_or_not() {
    // Of structs all that is there counts, and nothing that only may be.
    let has = |list: &str, wanted: &str, want: &str| {
        check(
            &format!("import \"list\"\na: list.Contains({list}, {wanted})\n"),
            &format!("a: {want}\n"),
        );
    };
    has("[int, 1]", "1", "true");
    has("[int]", "1", "false");
    has("[{a: int}]", "{a: int}", "true");
    has("[{a: int}]", "{a: 1}", "false");
    has("[{a: 1, #b: 2}]", "{a: 1}", "false");
    has("[{a: 1, b?: 2}]", "{a: 1}", "true");
    has("[[1, int]]", "[1, int]", "true");
    has("[*1 | 2]", "1", "true");
    has("[{a: *1 | 2}]", "{a: 1}", "false");
}

#[test]
fn lists_are_closed_and_scalars_stand_beside_fields() {
    check("a: [1, ...int]\nb: [...]\n", "a: [1]\nb: []\n");
    check("a: {5, #n: 1}\n", "a: {\n    5\n    #n: 1\n}\n");
}

#[test]
fn texts_of_several_lines() {
    check(
        "a: \"x\\ny\"\nb: 'x\\ny'\n",
        "a: \"\"\"\n    x\n    y\n    \"\"\"\nb: '''\n    x\n    y\n    '''\n",
    );
    check("a: \"x\\n\\\"\\\"\\\"\\\\\"\n", "a: #\"\"\"\n    x\n    \"\"\"\\#\\\n    \"\"\"#\n");
    check("true: 1\n\"a-b\": 2\n", "true:  1\n\"a-b\": 2\n");
}

#[test]
fn a_part_says_what_the_names_that_lead_out_stand_for() {
    let text = "p: {\n\t// how many\n\tn: *1 | int\n}\nlet v = 2\nx: {a: p.n, b: v, c: a}\n";
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let mut it = Evaluation::start(Arc::new(compile_text(text).unwrap()), &[], budget);
    let x = it.find("x").unwrap().unwrap();
    let show = Show::new(Style::Definition, 0);
    let replaced = it.declared(x, show, Names::Replaced);
    assert_eq!(replaced, "{\n\ta: *1 | int\n\tb: 2\n\tc: a\n}");
    let kept = it.declared(x, show, Names::Kept);
    assert_eq!(kept, "{\n\ta: p.n\n\tb: v\n\tc: a\n}");
    let p = it.find("p").unwrap().unwrap();
    let docs = it.text(p, Show::new(Style::Final, Show::DOCS));
    assert_eq!(docs, "{\n\t// how many\n\tn: 1\n}");
}

#[test]
fn fields_of_nested_comprehensions_stand_in_the_order_of_their_iteration() {
    check(
        "q: {for i, v in [\"x\", \"y\", \"z\"] {if i > 0 {\"o-\\(i)\": v}}}\n",
        "q: {\n    \"o-1\": \"y\"\n    \"o-2\": \"z\"\n}\n",
    );
}

#[test]
fn what_a_place_may_be_is_told_defaults_first() {
    let told = |text: &str| {
        let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
        let program = compile_text(text).expect("it compiles");
        let mut it = Evaluation::start(Arc::new(program), &[], budget);
        let id = it.find("a").expect("it evaluates").expect("it is there");
        it.inspect(id).syntax.unwrap_or_default()
    };
    assert_eq!(told("a: int | *2\n"), "*2 | int");
    assert_eq!(told("a: int | (int | string)\n"), "int | string");
    assert_eq!(
        told("a: matchN(1, [int, {b: c: 1}])\n"),
        "matchN(1, [int, {\n\tb: {\n\t\tc: 1\n\t}\n}])"
    );
    assert_eq!(told("a: {x?: int, y: z: 1} | 2\n"), "{\n\ty: {\n\t\tz: 1\n\t}\n} | 2");
    assert_eq!(told("import \"net\"\na: net.IPv4\n"), "net.IPv4()");
}

#[test]
fn fields_stand_beside_any_value() {
    check("a: {string, #b: 1}\n", "a: {\n    string\n    #b: 1\n}\n");
    check("\"x\"\n#b: 1\n", "\"x\"\n#b: 1\n");
}

#[test]
fn what_is_evaluated_has_all_its_braces() {
    check(
        "x: int\na: [if x > 1 {b: c: 1}]\n",
        "x: int\na: [if x > 1 {\n    b: {\n        c: 1\n    }\n}]\n",
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced_once() {
    check("a: \"\\('x\\x80\\x95y')\"\n", "a: \"x\u{fffd}y\"\n");
}

#[test]
fn a_part_that_names_packages_is_a_file() {
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let program =
        compile_text("import \"strings\"\na: {b: strings.MinRunes(2)}\n").expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let id = it.find("a").expect("it evaluates").expect("it is there");
    let show = Show::new(Style::Definition, 0);
    let text = it.declared(id, show, Names::Replaced);
    assert_eq!(text, "import \"strings\"\n\nb: strings.MinRunes(2)\n");
}

#[test]
fn floats_that_are_whole_have_the_bounds_of_both() {
    check(
        "a: float64 & int & >0\nb: float64\nc: int & float64 & <7\n",
        "a: uint & >0 & <=1.797693134862315708145274237317043567981e+308\nb: float64\nc: int & >=-1.797693134862315708145274237317043567981e+308 & <7\n",
    );
}

#[test]
fn what_experiments_allow_is_laid_out_too() {
    let text = "@experiment(explicitopen)\n\na: {\n\tx: int\n}\nb: f(a)...\nf: _\n";
    check(text, "a: {\n    x: int\n}\nb: f(a)...\nf: _\n");
}

/// A type that names itself twice has as many values as a tree has leaves; one level of them tells all.
#[test]
fn types_that_name_themselves_are_named_within_themselves() {
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let text = "#Tree: {value: int, left?: #Tree, right?: #Tree}\ntree: #Tree & {left: value: 2}\n";
    let program = compile_text(text).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let id = it.find("tree.left").expect("it evaluates").expect("it is there");
    let again = "{\n\tvalue:  int\n\tleft?:  #Tree\n\tright?: #Tree\n}\n";
    let wanted = format!("value: 2\nleft?: {again}right?: {again}");
    assert_eq!(it.syntax(id, Style::Definition), wanted);
}

#[test]
fn functions_and_validators_are_printed_with_what_they_were_given() {
    check(
        "import \"encoding/json\"\na: json.Marshal\nb: len\n",
        "import \"encoding/json\"\n\na: json.Marshal\nb: len\n",
    );
    check(
        "import \"encoding/json\"\na: string & json.Validate(int | string)\n",
        "import \"encoding/json\"\n\na: string & json.Validate(int | string)\n",
    );
    check("a: int & matchN(1, [>10])\n", "a: int & matchN(1, [>10])\n");
    check("a: !=3\nb: !=\"a\" & =~\"b\"\n", "a: !=3\nb: =~\"b\"\n");
}

#[test]
fn operands_beside_a_choice_stand_in_their_own_order() {
    check(
        "a: ({n: int, b: 1} | {n: int, c: 1}) & {n: int, a: 1}\n",
        "a: {\n    n: int\n    b: 1\n    a: 1\n} | {\n    n: int\n    c: 1\n    a: 1\n}\n",
    );
    check("a: {n: int, b: 1} & {n: int, a: 1}\n", "a: {\n    n: int\n    a: 1\n    b: 1\n}\n");
}

#[test]
fn declarations_that_wait_stand_beside_each_other() {
    check(
        "y: {a: 1}\ny: {if q.n == \"x\" {b: 2}}\nq: n: string\n",
        "y: {\n    a: 1\n} & {\n    if q.n == \"x\" {\n        b: 2\n    }\n}\nq: {\n    n: string\n}\n",
    );
    check(
        "y: #A & {}\ny: {\"\\(n)\": 1}\nn: string\n#A: {...}\n",
        "y: #A & {} & {\n    \"\\(n)\": 1\n}\nn: string\n#A: {}\n",
    );
}

#[test]
fn bounds_stand_among_what_is_computed_as_written() {
    check(
        "a: \"n\\(s)\"\na: =~\"^n\"\nb: >2 & len(s) & int\ns: string\n",
        "a: \"n\\(s)\" & =~\"^n\"\nb: int & >2 & len(s)\ns: string\n",
    );
}

#[test]
fn what_a_loop_brings_is_ordered_by_when_it_came_to_be() {
    // O-4: fields that are declared otherwise too were there before.
    check(
        "a: {for v in [\"x\", \"y\"] {(v): 1}, y: 1, z: 1}\n",
        "a: {\n    y: 1\n    x: 1\n    z: 1\n}\n",
    );
    check(
        "a: {c: 1, for v in [\"z\", \"b\", \"y\"] {(v): 1}, b: 1}\n",
        "a: {\n    b: 1\n    z: 1\n    y: 1\n    c: 1\n}\n",
    );
}

#[test]
fn alternatives_with_the_same_schemas_are_one() {
    check(
        "a: (#A | #A) & {}\n#A: {n: matchN(1, [int, {o?: int}])}\n",
        "a: {\n    n: matchN(1, [int, {\n        o?: int\n    }])\n}\n\
         #A: {\n    n: matchN(1, [int, {\n        o?: int\n    }])\n}\n",
    );
    // So are structs of which different things are asked.
    check("a: {b: 1, [string]: int} | {b: 1, [=~\"^b\"]: >0}\n", "a: {\n    b: 1\n}\n");
    check(
        "import \"struct\"\na: struct.MinFields(1) | {[string]: int}\na: {x: 1}\n",
        "a: {\n    x: 1\n}\n",
    );
    check("a: {[string]: int} | {[string]: bool}\na: x: true\n", "a: {\n    x: true\n}\n");
    // Validators stand in the order they are written in.
    check(
        "import \"strings\"\na: matchN(1, [string])\na: strings.MinRunes(1)\n",
        "import \"strings\"\n\na: matchN(1, [string]) & strings.MinRunes(1)\n",
    );
}

#[test]
fn aliases_stand_for_labels_until_they_are_printed() {
    check(
        "a: b & {}\nb: {V=n: string, k: \"\\(V)\"}\nc: b & {}\n",
        "a: {\n    n: string\n    k: \"\\(n)\"\n}\nb: {\n    n: string\n    k: \"\\(V)\"\n}\n\
         c: {\n    n: string\n    k: \"\\(V)\"\n}\n",
    );
}

#[test]
fn who_shares_a_value_that_waits_for_it_is_not_waited_for() {
    check(
        "import \"strings\"\na: b\nb: strings.ToUpper(a)\n",
        "import \"strings\"\n\na: strings.ToUpper(a)\nb: strings.ToUpper(a)\n",
    );
    check("a: b\nb: a + 1\n", "a: a + 1\nb: a + 1\n");
}

#[test]
fn packages_are_named_in_the_order_of_what_names_them() {
    check(
        "import \"list\"\nimport \"strings\"\na: int\nb: list.Sum([a])\nc: strings.MinRunes(1)\n",
        "import (\n\t\"list\"\n\t\"strings\"\n)\n\na: int\nb: list.Sum([a])\nc: strings.MinRunes(1)\n"
            .replace('\t', "    ")
            .as_str(),
    );
}

#[test]
fn only_fields_of_its_own_keep_an_alternative_from_being_known() {
    // D-8: what is further in may be open, and a field that goes round is not known.
    check(
        "a: *{b: {c: int, d: c + 1}} | {e: 1}\nf: *{b: d.g} | {e: 1}\nd: {}\n",
        "a: {\n    b: {\n        c: int\n        d: c + 1\n    }\n}\nf: {\n    e: 1\n}\nd: {}\n",
    );
    check("a: *{b: c + 1, c: b - 1} | {d: 1}\n", "a: {\n    d: 1\n}\n");
    check("a: *{b: c + 1, c: b - 1} | {d: 1}\na: b: 3\n", "a: {\n    b: 3\n    c: 2\n}\n");
    // What is open in both is the same in both.
    check(
        "a: {b: c: d.e} | {b: c: d.f}\nd: {}\n",
        "a: {\n    b: {\n        c: d.e\n    }\n}\nd: {}\n",
    );
}

#[test]
fn alternatives_that_refuse_the_same_fields_are_one() {
    check("a: {} | {b?: _|_}\na: {} | {}\n", "a: {} | {}\n");
}

#[test]
fn lists_of_a_type_that_names_itself_are_open() {
    let text = "#T: [\"a\", #T] | [\"b\", ...#T] | [\"c\", ...#T]\n";
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let program = compile_text(text).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let id = it.find("#T").expect("it evaluates").expect("it is there");
    let printed = it.syntax(id, Style::Definition);
    // The first alternative has no end; in the others it is not known yet what more may follow.
    assert_eq!(printed, "[\"b\", ...] | [\"c\", ...]\n");
}

#[test]
fn bounds_of_texts_and_bytes_are_simplified() {
    // They stand where the tightest is written, and leave `null` out (O-69).
    check("a: <\"c\" & !=null & >\"a\" & >\"b\"\n", "a: <\"c\" & >\"b\"\n");
    check("a: !=\"b\" & <\"c\" & >\"a\"\n", "a: !=\"b\" & <\"c\" & >\"a\"\n");
    check("a: >'a' & d\nd: <'c'\n", "a: >'a' & <'c'\nd: <'c'\n");
    check(
        "a: <\"m\" & <=\"k\"\nb: >'a' & >='a'\nc: !=\"a\" & >\"b\"\nd: >=\"k\" & <=\"k\"\n",
        "a: <=\"k\"\nb: >'a'\nc: >\"b\"\nd: >=\"k\" & <=\"k\"\n",
    );
}

#[test]
fn a_value_may_have_to_be_one_list_or_struct() {
    check(
        "@experiment(structcmp)\na: [1, 2] & ==[1, 2]\nb: {n: 1, #d: 2} & =={n: 1}\nc: null & ==null\n",
        "a: [1, 2]\nb: {\n    n:  1\n    #d: 2\n}\nc: null\n",
    );
}

#[test]
fn alternatives_that_are_no_structs_differ_by_their_definitions() {
    check(
        "a: {#d: 1, 2} | {#d: 2, 2} | {#d: 1, 2}\nb: {#d: 1, 2} | 2\nc: {#d: 1, >1} | {>1, #d: 1}\n",
        "a: {\n    2\n    #d: 1\n} | {\n    2\n    #d: 2\n}\nb: {\n    2\n    #d: 1\n} | 2\n\
         c: {\n    >1\n    #d: 1\n}\n",
    );
    // They do not multiply by bounds that others are tighter than.
    let kind = "#d: <\"k\" | >\"m\" | string\n";
    check(
        &format!("x: {{\n#d\n{}}}\n", kind.repeat(4)),
        "x: {\n    <\"k\"\n    #d: <\"k\" | >\"m\" | string\n} | {\n    >\"m\"\n    \
         #d: <\"k\" | >\"m\" | string\n} | {\n    string\n    #d: <\"k\" | >\"m\" | string\n}\n",
    );
}

#[test]
fn alternatives_that_are_types_are_one_too() {
    check("a: string | string\nb: a + \"x\"\n", "a: string\nb: a + \"x\"\n");
}

#[test]
fn clauses_come_first_behind_the_empty_line_of_their_file() {
    check(
        "\nif _x {a: 1}\nif _x {b: 1}\n_x: bool\n",
        "\nif _x {\n    a: 1\n}\nif _x {\n    b: 1\n}\n_x: bool\n",
    );
}

#[test]
fn what_is_brought_instead_of_nothing_is_printed() {
    check(
        "@experiment(try)\nn: bool\na: {if n {b: 1} else {c: 2}}\nd: {if n let e = 1 {f: e} fallback {g: 2}}\n",
        "n: bool\na: {\n    if n {\n        b: 1\n    } else {\n        c: 2\n    }\n}\nd: {\n    \
         if n let e = 1 {\n        f: e\n    } otherwise {\n        g: 2\n    }\n}\n",
    );
}

#[test]
fn choices_that_ask_for_themselves_end() {
    // Each way on would ask for both again.
    let shape = |kind: &str| {
        format!("{{\n\t#k!: [\"{kind}\", _]\n\tout: in: (#S & {{#k: S.#k[1]}}).out\n}}")
    };
    let text = format!(
        "#S: S={{\n\t#k!: \"leaf\"\n\tout: {{n: 1}}\n}} | {} | {}\n",
        shape("a"),
        shape("b")
    );
    let use_it = "x: (#S & {#k: [\"a\", [\"b\", \"leaf\"]]}).out\n";
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let program = compile_text(&(text + use_it)).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    assert!(it.validate(root, Concreteness::Optional).is_empty());
    let printed = it.syntax(root, Style::Eval);
    assert!(
        printed
            .ends_with("x: {\n    in: {\n        in: {\n            n: 1\n        }\n    }\n}\n"),
        "{printed}"
    );
}

#[test]
fn structs_in_bounds_are_printed_field_by_field() {
    check(
        "@experiment(structcmp)\na: =={n: 1, \"x y\": [{m: 2}]}\n",
        "a: =={\n    n: 1\n    \"x y\": [{\n        m: 2\n    }]\n}\n",
    );
    // However deep.
    let deep = "[".repeat(2_000) + &"]".repeat(2_000);
    let text = format!("@experiment(structcmp)\na: =={deep}\n");
    let program = compile_text(&text).expect("it compiles");
    let budget = Budget { ticks: 1_000_000, depth: 100_000, bytes: 200 << 20 };
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    assert_eq!(it.syntax(root, Style::Eval), format!("a: =={deep}\n"));
}

#[test]
fn an_expression_that_stands_first_is_set_off() {
    // O-64: one that is embedded always, clauses that do not begin the file.
    let d = "#D: {\n    a: int\n    if a > 1 {\n        b: 1\n    }\n}\n";
    check(&format!("#D\n{d}"), &format!("\n#D\n{d}"));
    let clause = "if _x.a {\n    y: 1\n}\n_x: {\n    a: _\n}\n";
    check(clause, clause);
    check(&format!("// About it.\n{clause}"), &format!("\n{clause}"));
    check("{if x {y: 1}}\nx: bool\n", "{\n    if x {\n        y: 1\n    }\n}\nx: bool\n");
}

#[test]
fn elements_keep_the_spelling_of_their_first_literal() {
    // O-72, also where something else is said of them.
    check("a: [0x10, 1_000]\na: [int, >5]\n", "a: [0x10, 1_000]\n");
    check("a: [...string]\na: [#\"C:\\b\"#]\n", "a: [#\"C:\\b\"#]\n");
    check("a: [16]\na: [0x10]\nb: a\nb: [0x10]\n", "a: [16]\nb: [0x10]\n");
    check("a: [0x10 & int]\nb: 0x10\n", "a: [16]\nb: 16\n");
    check(
        "a: b: [#\"\"\"\n  x\n\n   y\n  \"\"\"#, '''\nz\n''']\n",
        "a: {\n    b: [#\"\"\"\n        x\n\n         y\n        \"\"\"#, '''\n        z\n        ''']\n}\n",
    );
}

#[test]
fn an_alternative_whose_required_field_cannot_be_known_is_none() {
    check("b: {}\ne: 1 | {f!: b.f}\n", "b: {}\ne: 1\n");
    check("b: {}\ne: ({f!: b.f} | {g: 1}) & {h: 1}\n", "b: {}\ne: {\n    g: 1\n    h: 1\n}\n");
    check("b: {}\ne: {f!: b.f}\n", "b: {}\ne: {\n    f!: b.f\n}\n");
    check("e: 1 | {f!: int}\n", "e: 1 | {\n    f!: int\n}\n");
}

#[test]
fn who_asks_for_a_field_of_its_own_asks_before_a_definition_closed_it() {
    let waits = "#C: {\n    b: {\n        a: 1\n    }\n}\nif #C.b.h > 0 {\n    b: 1\n}\n";
    check("#C: {b: {a: 1}}\nif #C.b.h > 0 {b: 1}\n", waits);
    check("#C: {a: 1}\nif #C.h == _|_ {b: 1}\n", "#C: {\n    a: 1\n}\nb: 1\n");
}

#[test]
fn an_ellipsis_of_a_struct_that_waits_stays_where_it_is() {
    check(
        "a: {..., b: 1, if y.x < 1 {}}\ny: x: >0\n",
        "a: {\n    ...\n    b: 1, if y.x < 1 {}\n}\ny: {\n    x: >0\n}\n",
    );
    check("b: 1\n...\n\"\\(y)\": 2\ny: string\n", "b: 1\n...\n\"\\(y)\": 2\ny:      string\n");
    // Clauses that begin the file go on behind the lets.
    check("if b.c == 1 {}\nb: {}\nlet V = 5\ny: V\n", "\nlet V = 5, if b.c == 1 {}\nb: {}\ny: V\n");
}

/// Where a value is printed as it is written, what a pattern's alias names is told: the alias is not there.
#[test]
fn labels_that_patterns_name_are_put_in() {
    check(
        "z: [K=string]: {name: K + y.a, (y.b): K, g?: K, l: [K, y[K]], if K == y.c {d: K}}\nz: \"q-r\": {}\ny: {}\n",
        "z: {\n    \"q-r\": {\n        name:  \"q-r\" + y.a\n        (y.b): \"q-r\"\n        g?:    \"q-r\"\n        l: [\"q-r\", y[\"q-r\"]], if \"q-r\" == y.c {\n            d: \"q-r\"\n        }\n    } & {}\n}\ny: {}\n",
    );
    check(
        "z: [K=string]: {let L = K + y.a, name: L, m: \"\\(K) \\(y.a)\"}\nz: p: {}\nz: q: {}\ny: {}\n",
        "z: {\n    p: {\n        let L = \"p\" + y.a\n        name: L\n        m:    \"\\(\"p\") \\(y.a)\"\n    }\n    q: {\n        let L_1 = \"q\" + y.a\n        name: L_1\n        m:    \"\\(\"q\") \\(y.a)\"\n    }\n}\ny: {}\n",
    );
}

/// A range is one expression wherever it is named, and so is written once; other types are not (O-68, O-69).
#[test]
fn ranges_are_written_once_beside_what_waits() {
    for (kind, text) in [
        ("uint8", "a.b & uint8"),
        ("float32", "a.b & float32"),
        ("rune", "a.b & (uint & <=1114111)"),
        ("int", "int & int & a.b"),
    ] {
        let wanted = format!("b: {text}\na: {{}}\n");
        check(&format!("b: {kind}\nb: {kind}\nb: a.b\na: {{}}\n"), &wanted);
    }
}
