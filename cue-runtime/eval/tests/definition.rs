//! Packages as `cue def` prints them: a text in, a text out.

mod validated;

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Evaluation};

use crate::validated::validated;

#[track_caller]
fn check(text: &str, want: &str) {
    let (mut it, _) = validated(text);
    assert_eq!(it.definition(), want);
}

#[test]
fn declarations_of_a_label_are_merged_not_evaluated() {
    check("a: {x: 1}\na: {y: b.c + 1}\nb: c: 2\n", "a: {\n\tx: 1\n\ty: b.c + 1\n}\nb: c: 2\n");
    check("a: b & {x: 1}\na: int\nb: _\n", "a: b & {\n\tint\n\tx: 1\n}\nb: _\n");
}

#[test]
fn plain_values_become_one_and_keep_their_spelling() {
    check("a: 0x10\na: int\nb: 1 + 2\nc: _\n", "a: 0x10\nb: 3\nc: _\n");
    check("l: [0x10, 1 + 2]\n", "l: [16, 1 + 2]\n");
    check("a: \"x\" | \"y\"\na: \"y\"\n", "a: (\"x\" | \"y\") & {\n\t\"y\"\n}\n");
}

#[test]
fn bounds_are_simplified() {
    check("a: >1 & >3\nb: int & >=1 & <=10\n", "a: >3\nb: uint & >=1 & <=10\n");
    check("a: int & >=0 & <=255\nb: >=0 & int\n", "a: uint8\nb: uint\n");
}

#[test]
fn only_regular_fields_are_shortened() {
    check("#D: {a: {b: int}}\nx: {y: {z: 1}}\n", "#D: {\n\ta: b: int\n}\nx: y: z: 1\n");
}

#[test]
fn what_is_not_merged_is_printed_as_written() {
    check(
        "m: {[string]: int}\nm: {x: 1}\ns: {a: true, if a {b: 1}}\n",
        "m: {\n\t{\n\t\t[string]: int\n\t}\n\tx: 1\n}\ns: {\n\ta: true, if a {\n\t\tb: 1\n\t}\n}\n",
    );
    check("k: \"n\"\nx: {(k): 1, \"\\(k)2\": 2}\n", "k: \"n\"\nx: {\n\t(k): 1\n\tn2:  2\n}\n");
}

#[test]
fn lets_come_first_and_once() {
    check(
        "a: {\n\tlet y = 4\n\tb: y\n}\nc: {\n\tlet y = 5\n\td: y\n}\n",
        "a: {\n\tlet y = 4\n\tb: y\n}\nc: {\n\tlet y_1 = 5\n\td: y_1\n}\n",
    );
    check("let x = 3\na: x\n", "\nlet x = 3\na: x\n");
}

#[test]
fn bottom_literals_carry_a_remark() {
    check(
        "x: {}\nif x.f != _|_ {y: 1}\neq: x.f == _|_\n",
        "x: {}\nif x.f != _|_ // explicit error (_|_ literal) in source\n{\n\ty: 1\n}\n\
         eq: x.f == _|_ // explicit error (_|_ literal) in source\n",
    );
}

#[test]
fn comments_imports_and_attributes_stay() {
    check(
        "package p\n\nimport \"strings\"\n\n// doc\na: strings.ToUpper(\"x\") @tag(y)\n",
        "package p\n\nimport \"strings\"\n\n// doc\na: strings.ToUpper(\"x\") @tag(y)\n",
    );
}

#[test]
fn fields_of_two_literals_are_woven() {
    check("c: 1\n{z: 2, y: 3}\na: 4\n", "c: 1\nz: 2\na: 4\ny: 3\n");
    check("a: {z: 1, y: 2} & {x: 3, w: 4}\n", "a: {\n\tz: 1\n\tx: 3\n\ty: 2\n\tw: 4\n}\n");
}

#[test]
fn deep_nesting_ends() {
    let deep = format!("a: {}1{}\n", "[".repeat(2000), "]".repeat(2000));
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let mut it = Evaluation::start(Arc::new(compile_text(&deep).unwrap()), &[], budget);
    assert!(it.definition().starts_with("a: [[["));
}

#[test]
fn names_of_shared_or_captured_fields_are_replaced() {
    // A field that is nothing but a reference is found under the name of its target only.
    check("b: d\na: b + 1\nd: 1\n", "b: d\na: b_9 + 1\nd: 1\n\nlet b_9 = b\n");
    check("b: d\nd: 1\na: b + 1\n", "b: d\nd: 1\na: b + 1\n");
    check("a: b\nb: a\n", "a: b\nb: a_9\n\nlet a_9 = a\n");
    check("#x: a\ny: #x\na: {}\n", "#x: a\ny:  #x\na: {}\n");
    // A field further in has the name.
    check("x: 1\ny: {a: x}\ny: x: 3\n", "x_9=x: 1\ny: {\n\ta: x_9\n\tx: 3\n}\n");
    check(
        "p: X={x: 1, y: X.x}\nq: p\n",
        "p: X_1={\n\tx: 1\n\ty: X_1.x\n}\nq: p_9\n\nlet p_9 = p\n",
    );
}

#[test]
fn comprehensions_keep_what_stands_above_them() {
    check(
        "a: 1\n\n// c\nfor x in [1] {\n\t\"\\(x)\": 1\n}\nb: [\n\tfor x in [1]\n\tfor y in [2] {x}]\n",
        "a: 1\n\n// c\nfor x in [1] {\n\t\"\\(x)\": 1\n}\nb: [\n\tfor x in [1]\n\tfor y in [2] {\n\t\tx\n\t}]\n",
    );
}

#[test]
fn texts_of_several_lines_are_indented_by_one_more() {
    check(
        "n: \"s\"\nx: {y: \"\"\"\n  a\n\n  \\(n)\n  \"\"\", z: 1}\n",
        "n: \"s\"\nx: {\n\ty: \"\"\"\n\t\t\ta\n\n\t\t\t\\(n)\n\t\t\t\"\"\"\n\tz: 1\n}\n",
    );
}

#[test]
fn comments_at_the_top_stay_there() {
    check("// a\n\n// b\nx: 1\n\n// c\n\ny: 2\n", "// a\n// b\nx: 1\ny: 2\n");
    check("// a\n\npackage p\n\nx: 1\n", "// a\n\npackage p\n\nx: 1\n");
    check("// a\npackage p\n\nx: 1\n", "// a\npackage p\n\nx: 1\n");
}

#[test]
fn a_package_that_a_definition_closes_is_one() {
    check(
        "#D: {a: int}\n#D & {}\na: 1\n",
        "\n_#def\n_#def: {\n\t#D & {}\n\t#D: {\n\t\ta: int\n\t}\n\ta: 1\n}\n",
    );
    check("#D: {a: int}\n#D\na: 1\n", "\n#D\n#D: {\n\ta: int\n}\na: 1\n");
}

#[test]
fn names_that_fields_have_are_taken() {
    check("x: {let y = z, a: y}\nz: {y: 4}\n", "x: {\n\tlet y_1 = z\n\ta: y_1\n}\nz: y: 4\n");
    check(
        "x: {[y=string]: y}\nq: [for y in [1] {y}]\n",
        "x: [y_1=string]: y_1\nq: [for y in [1] {\n\ty\n}]\n",
    );
}

#[test]
fn elements_keep_what_is_said_of_their_clauses() {
    let text = "b: int\nl: [\n\t// one\n\tif b > 2 {1},\n\t// two\n\t2,\n]\n";
    check(text, "b: int\nl: [\n\t// one\n\tif b > 2 {\n\t\t1\n\t}, 2]\n");
}

#[test]
fn labels_behind_aliases_stay_in_quotes() {
    check("a: \"x\"\nC=\"\\(a)\": 5\nc: C\n", "a:     \"x\"\nC=\"x\": 5\nc:     C\n");
}

#[test]
fn elements_on_lines_of_their_own_are_no_deeper() {
    check(
        "x: _\nl: [\n\tif x.y != _|_ {\n\t\tx.y\n\t}, 0][0]\n",
        "x: _\nl: [\n\tif x.y != _|_ // explicit error (_|_ literal) in source\n\t{\n\t\tx.y\n\t}, 0][0]\n",
    );
}

#[test]
fn comments_below_the_last_declaration_stay_there() {
    let kept = "b: {\n\tx: 1\n\ty: 2\n\t// foot\n}\n";
    check(kept, kept);
    let apart = "a: {\n\t// doc\n\tx: 1\n\n\t// apart\n}\n";
    check(apart, apart);
    check(
        "h: {\n\tx: int\n\t// one\n} & {\n\ty: int\n\t// two\n}\n",
        "h: {\n\tx: int\n\t// one\n\ty: int\n\t// two\n}\n",
    );
    check(
        "a: int\ng: {\n\tif a > 0 {\n\t\tq: 1\n\t}\n\t// after\n}\n",
        "a: int\ng: {\n\tif a > 0\n\t// after\n\t{\n\t\tq: 1\n\t}\n}\n",
    );
    // Comments are as they are written.
    let tight = "a: {\n\t//tight\n\tx: 1\n\ty: 2\n}\n";
    check(tight, tight);
}

#[test]
fn a_pattern_for_anything_alone_stays_one() {
    check("e: {[string]: _}\n", "e: [string]: _\n");
    check("e: {[string]: _, h: 1}\n", "e: {\n\th: 1\n\t...\n}\n");
    check("{\n\t[string]: _\n\tfoo: 3\n}\n", "\nfoo: 3\n...\n");
}

#[test]
fn an_empty_struct_stays_beside_two_others() {
    check("V: b: 1\na: V & {}\n", "V: b: 1\na: V\n");
    check("V: b: 1\na: V & {} & V\n", "V: b: 1\na: V & V & {}\n");
    check("Y=#W: {#S: int, y: Y.z}\n", "Y=#W: {\n\t#S: int\n\ty:  Y.z\n}\n");
}

#[test]
fn comments_of_files_and_clauses_keep_their_distance() {
    let one = "// A\n\n// B\n\n// doc\na: 1\n";
    check(one, one);
    let clause = "// A\npackage x // l\n\n// B\n\n// C\na: 1\n";
    check(clause, clause);
    // The only comment of a file without a clause is that of its first declaration.
    check(
        "// A\n\nimport \"strings\"\n\na: strings.MinRunes(1)\n",
        "// A\nimport \"strings\"\n\na: strings.MinRunes(1)\n",
    );
    check("// A\n\n// F\npackage _ // l\n\n// B\n\na: 1\n", "// F\n\n// A\na: 1\n\n// l\n\n// B\n");
}

#[test]
fn attributes_of_files_have_their_comments() {
    let kept = "package x\n\n// H\n@bar() // I\n\n// K\na: 1\n";
    check(kept, kept);
    check("// F\n@experiment(try)\n\n// G\na: 1\n", "// F\n@experiment(try)\n\n// G\na: 1\n");
    // What stands above a clause says something of the file only.
    check("// F\n@foo()\n\npackage x\n\na: 1\n", "package x\n\na: 1\n");
}

#[test]
fn anything_allowed_beside_others_is_an_ellipsis() {
    check("_h: {[string]: _}\nf: {[_]: _}\n", "_h: {\n\t...\n}\nf: [_]: _\n");
    check(
        "x: {[string]: _, if y {a: 1}}\ny: bool\n",
        "x: {\n\tif y {\n\t\ta: 1\n\t}\n\t...\n}\ny: bool\n",
    );
    // One with a name is not.
    let named = "d: {\n\t[a=string]: _\n\tb:          1\n}\n";
    check("d: {[a=string]: _, b: 1}\n", named);
}

#[test]
fn fields_are_as_present_as_they_are_found() {
    check(
        "#M: {os!: string}\nx: #M & {os?: \"a\"}\n",
        "#M: {\n\tos!: string\n}\nx: #M & {\n\tos!: \"a\"\n}\n",
    );
}

#[test]
fn functions_keep_away_from_what_is_called_the_same() {
    check("c: matchN: 1\nd: matchN(1, [int])\n", "c: matchN: 1\nd: __matchN(1, [int])\n");
    check("a: error\n", "a: error()\n");
}

#[test]
fn labels_in_quotes_lose_them_beside_the_same_without() {
    check("\"#d\": 1\n#d: 2\na: \"#d\": 1\n", "#d: 1\n#d: 2\na: \"#d\": 1\n");
}

#[test]
fn aliases_of_patterns_are_printed_where_something_refers_to_them() {
    check(
        "a: {E=[string]: name: E | null}\nb: {E=[string]: name: E | null}\n",
        "a: E=[string]: name:   E | null\nb: E_1=[string]: name: E_1 | null\n",
    );
    check("X=(\"foo\"): int\na: X\n", "X=\"foo\": int\na:       X\n");
}

#[test]
fn names_of_labels_are_the_labels() {
    let asked = "@experiment(aliasv2)\n";
    check(
        &format!("{asked}a~(K, _): 1\nb: K\n\"x-y\"~(L, _): L\n(b)~(M, _): {{c: M}}\n"),
        &format!("{asked}a:     1\nb:     \"a\"\n\"x-y\": \"x-y\"\n(b): c: string\n"),
    );
}

#[test]
fn names_mean_the_fields_that_literals_are() {
    // What is written beside a comprehension is told from others by literals only.
    check(
        "S: f: string\nL: {\n\ts: S\n\tif s.f == \"\" {x: 1}\n}\n",
        "S: f: string\nL: {\n\ts: S\n\tif s_9.f == \"\" {\n\t\tx: 1\n\t}\n}\n\nlet s_9 = s\n",
    );
    check(
        "g: {\n\ta!: int\n\tif a > 1 {b: 1}\n\ta: 1\n}\n",
        "g: {\n\ta!: int\n\tif a > 1 {\n\t\tb: 1\n\t}\n\ta: 1\n}\n",
    );
}

#[test]
fn sources_of_clauses_are_seen_from_within() {
    check(
        "a: {\n\tfor k, v in b if v > b.a {\"\\(k)\": v}\n}\nb: {a: 1, b: 2}\n",
        "a: {\n\tfor k, v in b_9 if v > b.a {\n\t\t\"\\(k)\": v\n\t}\n}\nb: {\n\ta: 1\n\tb: 2\n}\n\nlet b_9 = b\n",
    );
}

#[test]
fn names_of_values_beside_comprehensions_stay() {
    check(
        "a: X={b: X.c, c: 1}\nd: {e: X={b: X.c, c: 1}, if true {f: 1}}\n",
        "a: X_1={\n\tb: X_1.c\n\tc: 1\n}\nd: {\n\te: X={\n\t\tb: X.c\n\t\tc: 1\n\t}, if true {\n\t\tf: 1\n\t}\n}\n",
    );
}

#[test]
fn names_are_numbered_as_they_are_printed() {
    check(
        "a: X={b: X.c, c: d, let d = 1}\ne: {c: d, let d = 2}\nf: X={g: X.h, h: 1}\n",
        "a: X_1={\n\tlet d = 1\n\tb: X_1.c\n\tc: d\n}\ne: {\n\tlet d_1 = 2\n\tc: d_1\n}\nf: X_2={\n\tg: X_2.h\n\th: 1\n}\n",
    );
}

#[test]
fn texts_of_several_lines_that_are_embedded_are_indented_once() {
    check(
        "\"\"\"\n\thello\n\t\\(X.x)\n\t\"\"\"\nX: x: string\n",
        "\n\"\"\"\n\thello\n\t\\(X.x)\n\t\"\"\"\nX: x: string\n",
    );
    check(
        "a: '''\n\thello\n\t\\(X.x)\n\t'''\nX: x: string\n",
        "a: '''\n\t\thello\n\t\t\\(X.x)\n\t\t'''\nX: x: string\n",
    );
}

#[test]
fn clauses_keep_what_stands_above_them() {
    let kept = "y: [...int]\na: {\n\tfor x in y\n\n\t// one\n\tlet z = x\n\n\tif z > 1 {\n\t\tq: z\n\t}\n}\n";
    check(kept, kept);
    // What stands above a field is not said of what is in it.
    check(
        "y: int\nb: {\n\t// one\n\tc: {if y > 1 {z: 1}}\n}\n",
        "y: int\nb: {\n\t// one\n\tc: {\n\t\tif y > 1 {\n\t\t\tz: 1\n\t\t}\n\t}\n}\n",
    );
}

#[test]
fn imports_stand_in_the_order_of_the_text() {
    check(
        "import \"strings\"\nimport \"struct\"\n\na: {[=~\"x\"]: strings.MinRunes(1)} & struct.MaxFields(9)\n",
        "import (\n\t\"struct\"\n\t\"strings\"\n)\n\na: struct.MaxFields(9) & {\n\t{\n\t\t[=~\"x\"]: strings.MinRunes(1)\n\t}\n}\n",
    );
}

#[test]
fn a_let_in_an_argument_leaves_an_empty_struct() {
    check(
        "y: len({\n\tlet x = {a: 5}\n\tx\n})\n",
        "y: len({\n\tlet x = {\n\t\ta: 5\n\t}\n\tx\n}) & {}\n",
    );
}

#[test]
fn comprehensions_in_lists_keep_what_stands_above_and_below_them() {
    check(
        "c: [1,\n\n\t// a\n\tif true {2},\n\t// b\n\t3,\n\n\tfor x in [1] {x},\n\t// d\n]\n",
        "c: [1,\n\n\t// a\n\tif true {\n\t\t2\n\t}, 3,\n\n\tfor x in [1] {\n\t\tx\n\t},\n\t// d\n]\n",
    );
}

#[test]
fn comments_behind_a_clause_and_below_an_attribute_stay() {
    check("package p // t\n\na: 1\n", "package p // t\na: 1\n");
    check("package p // t\n\nif true {a: 1}\n", "package p // t\n\nif true {\n\ta: 1\n}\n");
    check("a: 1\n@x(y)\n\n// z\n", "@x(y)\n\n// z\na: 1\n");
    // A remark of a value is no comment of its field.
    check(
        "#k: {\n\ta: int\n}\no?: 1 & 2\n",
        "#k: {\n\ta: int\n}\no?: _|_ // conflicting values 2 and 1\n",
    );
}

#[test]
fn a_file_that_a_definition_closes_is_named() {
    let want = "\n_#def\n_#def: close({\n\t#S\n\ta: 1\n\t#S: close({\n\t\ta: 1\n\t})\n})\n";
    check("a: 1\n#S\n#S: close({a: 1})\n", want);
    check(
        "a: 1\nS\nS: close({a: 1})\n",
        "close({\n\tS\n\ta: 1\n\tS: close({\n\t\ta: 1\n\t})\n})\n",
    );
}
