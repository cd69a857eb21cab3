//! Values by version and path: fills, questions about a place, comparison.

use std::sync::Arc;

use cue_eval::evaluation::print_json;
use cue_eval::heap::VertexId;
use cue_eval::value::path::parse_selectors;
use cue_eval::value::{Accessor, Filling, Version};
use cue_eval::{Budget, Concreteness, Evaluation, Kind, Profile, Source};

const BUDGET: Budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };

fn version(text: &str) -> Version {
    Version::compile("in.cue", text, BUDGET).expect("it compiles")
}

fn at(it: &mut Evaluation, path: &str) -> VertexId {
    it.lookup(&parse_selectors(path).expect("a path")).expect("a value")
}

fn filled(version: &Version, path: &str, text: &str) -> Version {
    let filling = Filling::Alone { name: "fill.json", text };
    version.fill(&parse_selectors(path).expect("a path"), filling).expect("it fills")
}

#[track_caller]
fn json(version: &Version, path: &str) -> String {
    let mut it = version.evaluate();
    let id = at(&mut it, path);
    match it.datum(id) {
        Ok(datum) => print_json(&datum),
        Err(all) => all[0].message.clone(),
    }
}

#[test]
fn a_fill_makes_a_version_and_the_old_one_stays() {
    let old = version("a: int\nb: a + 1\nl: [int, ...]");
    let new = filled(&filled(&old, "a", "5"), "l[1]", "7");
    assert_eq!(json(&new, "b"), "6");
    assert_eq!(json(&filled(&new, "l[0]", "1"), "l"), "[1,7]");
    assert_eq!(json(&old, "b"), "non-concrete value int in operand to +");
}

#[test]
fn every_kind_of_selector_can_be_filled_and_looked_up() {
    let old = version("_h: int\n#D: x?: int\no: {}\nm: [string]: int\na: {h: _h, d: #D}");
    let new = filled(&filled(&old, "_h", "1"), "#D.x", "2");
    assert_eq!(json(&new, "a"), r#"{"h":1,"d":{"x":2}}"#);
    assert_eq!(json(&filled(&new, "o.\"k-v\"", "3"), "o"), r#"{"k-v":3}"#);
    let patterned = filled(&filled(&new, "o.[string]", "4"), "o.z?", "_");
    assert_eq!(json(&filled(&patterned, "o.z", "_"), "o"), r#"{"z":4}"#);
    let mut it = old.evaluate();
    for path in ["#D.x?", "m.[string]", "m.any?"] {
        assert_eq!(it.lookup(&parse_selectors(path).unwrap()).map(|_| ()), Ok(()), "{path}");
    }
    for (path, kind) in
        [("#D.x", Kind::Permanent), ("m.any", Kind::Incomplete), ("_h.deep", Kind::Permanent)]
    {
        let missing = it.lookup(&parse_selectors(path).unwrap()).unwrap_err();
        assert!(missing.message.starts_with("field not found"), "{path}: {missing:?}");
        assert_eq!(missing.kind, kind, "{path}");
    }
}

#[test]
fn an_expression_sees_the_fields_around_it() {
    let old = version("s: {x: 3}\nx: 9\ny: 1");
    let path = parse_selectors("s.y").unwrap();
    let new = old.fill(&path, Filling::Within { name: "e.cue", text: "x + y" });
    assert_eq!(json(&new.unwrap(), "s"), r#"{"x":3,"y":4}"#);
    let new = old.fill(&path, Filling::Within { name: "e.cue", text: "x + 1" }).unwrap();
    assert_eq!(json(&new, "s"), r#"{"x":3,"y":4}"#);
    let wrong = old.fill(&path, Filling::Alone { name: "e.cue", text: "x + 1" });
    assert_eq!(wrong.err().unwrap()[0].message, "reference \"x\" not found");
}

#[test]
fn the_errors_of_a_fill_name_its_text() {
    let mut it = filled(&version("a: 1"), "a", "2").evaluate();
    let root = at(&mut it, "");
    let wrong = it.validate(root, Concreteness::Optional);
    assert_eq!(wrong[0].message, "conflicting values 2 and 1");
    let places = [("fill.json".to_owned(), 1, 1), ("in.cue".to_owned(), 1, 4)];
    assert_eq!(wrong[0].positions, places);
}

#[test]
fn scalars_by_what_is_wanted() {
    let mut it = version("s: *\"x\" | string\ni: 3\nbig: 1e3 * 10\nt: string").evaluate();
    let mut shown = |path: &str, wanted| {
        let id = at(&mut it, path);
        it.scalar(id, wanted).map_or_else(|it| it.message, |it| it.cue_text())
    };
    assert_eq!(shown("s", Accessor::String), "\"x\"");
    assert_eq!(shown("i", Accessor::Float), "3");
    assert_eq!(shown("i", Accessor::String), "cannot use value 3 (type int) as string");
    assert_eq!(shown("t", Accessor::String), "non-concrete value string");
}

#[test]
fn instances_and_what_keeps_others_from_being_one() {
    let text = "g: {a: int & >2, b?: string, c: [...int]}\nclosed: close({a: _})\n\
        yes: {a: 3, c: [1, 2], d: 1}\nless: {a: >5 & int, c: []}\n\
        small: {a: 1, c: []}\nnone: {c: []}\nbad: {a: 3, b: 1, c: []}";
    let mut it = version(text).evaluate();
    let mut holds = |general: &str, special: &str| {
        let (general, special) = (at(&mut it, general), at(&mut it, special));
        it.subsumes(general, special).is_empty()
    };
    assert!(holds("g", "yes") && holds("g", "less") && holds("closed.a", "g"));
    for special in ["small", "none", "bad"] {
        assert!(!holds("g", special), "{special}");
    }
    assert!(!holds("closed", "yes") && !holds("yes", "g"));
}

#[test]
fn comments_attributes_and_expressions() {
    let text = "// first\na: 1 @x(y)\n// second\na: int\nb: a | 2\nc: b + 1";
    let mut it = version(text).evaluate();
    let (a, c) = (at(&mut it, "a"), at(&mut it, "c"));
    assert_eq!(it.docs(a), ["first\n", "second\n"]);
    assert_eq!(it.attributes(a), [("x".to_owned(), "y".to_owned())]);
    let made = it.expression(c);
    assert_eq!((made.operator, made.operands.len()), ("+", 2));
    let closed = version("c: close({a?: int})\no: {}");
    let mut it = closed.evaluate();
    let (c, o) = (at(&mut it, "c"), at(&mut it, "o"));
    let allows = |it: &mut Evaluation, id, name| it.allows(id, &parse_selectors(name).unwrap()[0]);
    assert!(allows(&mut it, c, "a") && !allows(&mut it, c, "b") && allows(&mut it, c, "#b"));
    assert!(allows(&mut it, o, "b"));
}

#[test]
fn hidden_fields_of_packages_are_their_own() {
    let source = |text: &str| Source::new("x.cue", text);
    let main = "import \"p.test/inner\"\na: inner.#D & {_v: 4}\nb: a._v\nc: a.shown";
    let packages =
        [("p.test/inner".to_owned(), vec![source("package inner\n#D: {_v: 3, shown: _v}")])];
    let program = cue_eval::compile(&[source(main)], &packages, Profile::V017).unwrap();
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let root = it.find("").unwrap().unwrap();
    assert_eq!(it.datum(root).map(|it| it.cue_text()).unwrap(), "{a:{shown:3},b:4,c:3}");
}

#[test]
fn what_an_imported_package_lacks_is_lacking_for_those_who_import_it() {
    // S-73: the package is evaluated in its own order, not in that of who asks.
    let source = |name: &str, text: &str| Source::new(name, text);
    let open = "package b\nimport \"m.test/c\"\nb: c.none & {other: 1}\nname: b.other\n";
    let packages = vec![
        ("m.test/b".to_owned(), vec![source("b.cue", open)]),
        ("m.test/c".to_owned(), vec![source("c.cue", "package c\n")]),
    ];
    let main = source("a.cue", "import \"m.test/b\"\nits: b.name\n");
    let program = cue_eval::compile(&[main], &packages, Profile::V017).unwrap();
    let mut it = Evaluation::start(program.into(), &[], BUDGET);
    let root = it.find("").unwrap().unwrap();
    let all = it.datum(root).unwrap_err();
    assert_eq!(all[0].message, "undefined field: none");
}

#[test]
fn what_is_wrong_in_an_imported_package_is_told_by_its_path_there() {
    let packages = [(
        "m.test/q".to_owned(),
        vec![Source::new("q.cue", "package q\nx: {y: 1} & {y: 2}\nz: string\nw: x\n")],
    )];
    for (main, wanted) in [
        ("a: q.x", "x.y: conflicting values 2 and 1"),
        ("a: q", "x.y: conflicting values 2 and 1"),
        ("a: {b: [q.x]}", "x.y: conflicting values 2 and 1"),
        ("a: {q.x}", "a.y: conflicting values 2 and 1"),
        ("a: q.z", "a: incomplete value string"),
    ] {
        let main = Source::new("a.cue", format!("import \"m.test/q\"\n{main}\n"));
        let program = cue_eval::compile(&[main], &packages, Profile::V017).unwrap();
        let mut it = Evaluation::start(program.into(), &[], BUDGET);
        let root = it.find("").unwrap().unwrap();
        let all = it.validate(root, Concreteness::Required);
        assert_eq!(format!("{}: {}", all[0].path, all[0].message), wanted);
    }
}

#[test]
fn what_has_no_end_is_told_of_where_it_is_referred_to() {
    // S-65, S-72: a path shares the error, and so does what repeats the way back to it.
    let text = "a: {b: c: b, d: 1}\npath: a.b\nmore: a.b & {q: 1}\naround: a & {q: 1}\n";
    let mut it = version(text).evaluate();
    let root = at(&mut it, "");
    it.validate(root, Concreteness::Optional);
    let errors = |it: &mut Evaluation, path: &str| {
        let id = at(it, path);
        it.inspect(id).errors.len()
    };
    assert_eq!(errors(&mut it, "a.b.c"), 1);
    assert_eq!(errors(&mut it, "path"), 1);
    assert_eq!(errors(&mut it, "more"), 1);
    assert_eq!(errors(&mut it, "around"), 0);
}

#[test]
fn words_of_a_user_are_told_from_bottom_literals() {
    // cue-errors 0.1: of both the user's count.
    let mut it =
        version("a: error(\"no\")\nb: _|_\nc: d: _|_\ne: {f: _|_, g: error(\"n\")}").evaluate();
    for (path, literal) in [("a", false), ("b", true), ("c", true), ("e", false)] {
        let id = at(&mut it, path);
        assert_eq!(it.inspect(id).literal, literal, "{path}");
    }
}

#[test]
fn several_defaults_are_a_choice_between_them() {
    let version = version("a: *1 | *2 | string\nb: *1 | *int\nc: 1 | 2");
    let mut it = version.evaluate();
    for (path, syntax, defaults) in
        [("a", "*1 | *2 | string", true), ("b", "*1 | *int", true), ("c", "1 | 2", false)]
    {
        let id = at(&mut it, path);
        let node = it.inspect(id);
        assert_eq!(node.syntax.as_deref(), Some(syntax), "{path}");
        let default = node.default.map(|it| (it.kinds.to_string(), it.value.is_none()));
        assert_eq!(default, defaults.then(|| ("int".to_owned(), true)), "{path}");
    }
}

#[test]
fn what_a_closed_value_closed_counts_as_closed_for_who_refers_to_it() {
    let version = version(
        "#D: out: {o: 1}\nw: #D & {}\nv: w.out & {q: 1}\ni: (#D & {}).out & {q: 1}\n\
         p: #D.out\nx: p & {q: 1}",
    );
    let mut it = version.evaluate();
    for (path, closed) in [("v", true), ("i", true), ("p", true), ("x", false)] {
        let id = at(&mut it, path);
        let node = it.inspect(id);
        assert_eq!((node.closed, node.errors.len()), (closed, 0), "{path}");
    }
}

#[test]
fn a_field_that_the_whole_asks_for_and_brings_is_an_error_only_of_who_prints_it() {
    let version = version("d: {}\nif d.e != _|_ {d: e: 1}\nq: int");
    let mut it = version.evaluate();
    let root = at(&mut it, "");
    assert!(it.validate(root, Concreteness::Optional).is_empty());
    let told = it.unmet(root).expect_err("it is told");
    assert_eq!(told[0].message, "cyclic reference to field e");
    let (_, line, column) = &told[0].positions[0];
    assert_eq!((told.len(), *line, *column), (1, 2, 6));
}

/// Structs and lists are compared where they stand, others as data: the answers are the same (S-56).
#[test]
fn structs_and_lists_are_equal_member_by_member() {
    let text = r#"p: {a: 1, b: [1, {c: 2}], #d: 3, _h: 4, o?: 1}
q: {b: [1, {c: *2 | 3}], a: 1, #d: 5}
#C: l: 1
s: "ab""#;
    let equal = [
        "p == q",
        "#C == {l: 1}",
        "[1, 2, ...] == [1, 2]",
        r#"{x: "\(s)"} == {x: "ab"}"#,
        "{null | *{a: 1}} == {a: 1}",
        "{5, #x: 1} == 5",
        "{[string]: int, a: 1} == {a: 1}",
        "{x: null, y: true} == {y: true, x: null}",
        "[{a: 1}] != [{a: 2}]",
        "[len] == [len]",
        "{x: len} != {x: div}",
        "{} != []",
        "{x: 1} != {x: 1.0}",
        "[{x: 1}] != [{x: 1}, 2]",
        "{x: 1, y: 1} != {x: 1, z: 1}",
        "{x: 1} != {x: 1, for k, v in {z: 1} {(k): v}}",
    ];
    for each in equal {
        assert_eq!(json(&version(&format!("{text}\nit: {each}")), "it"), "true", "{each}");
    }
    let wrong = [
        ("len == len", "invalid operands len and len to '==' (type func and func)"),
        ("len & len", "conflicting values len and len"),
        (
            "{x: 1 & 2} == {x: 1}",
            "invalid left-hand value to '==' (type struct): x: conflicting values 2 and 1",
        ),
        (
            "{x: 1} == {y: [string]}",
            "invalid right-hand value to '==' (type struct): y.0: incomplete value string",
        ),
    ];
    for (each, message) in wrong {
        assert_eq!(json(&version(&format!("it: {each}")), "it"), message, "{each}");
    }
}

/// Go pads to any length; what the standard library pads to is bounded, and beyond it panics.
#[test]
fn numbers_are_written_with_any_number_of_digits() {
    let text = r##"import "strconv"
import "text/template"
import "math"
e: len(strconv.FormatFloat(1.5, 101, 70000, 64))
f: len(strconv.FormatFloat(1.5, 102, 70000, 64))
x: len(strconv.FormatFloat(1.5, 120, 70000, 64))
small: strconv.FormatFloat(4.9e-324, 101, 3, 64)
p: len(template.Execute(#"{{printf "%.70000f %70000d %-70000s %.70000e" 1.5 2 "a" 2.5}}"#, {}))
cut: template.Execute(#"{{printf "%3d|%20000000d|x" 2 7}}"#, {})
power: math.Pow(7, 100000) > 0
least: math.Pow(-10, 5001) < 0
whole: math.Pow(10, 3000) + 1 == math.Pow(10, 3000)"##;
    let it = version(text);
    for (path, wanted) in [
        ("e", "70006"),
        ("f", "70002"),
        ("x", "70008"),
        ("small", "\"4.941e-324\""),
        ("p", "280011"),
        ("power", "true"),
        ("least", "true"),
        ("whole", "true"),
    ] {
        assert_eq!(json(&it, path), wanted, "{path}");
    }
    assert!(json(&it, "cut").starts_with("\"  2|%!(NOVERB)"), "{}", json(&it, "cut"));
}

#[test]
fn functions_over_values_take_what_no_machine_number_holds() {
    let it = version(
        "import \"list\"\nimport \"struct\"\nimport \"encoding/yaml\"\n\
        most: list.MaxItems([1, 2], 9223372036854775808)\n\
        fields: struct.MaxFields({a: 1}, 9223372036854775808)\n\
        few: list.MinItems([1], 9223372036854775808)\n\
        over: list.MinItems([1], 18446744073709551616)\n\
        none: list.Sort([], 63)\nsorted: list.IsSorted([2, 1], 5)\n\
        flat: list.FlattenN({a: 1}, 1)\n\
        lead: yaml.Unmarshal('\\xff')\ntrail: yaml.Unmarshal('a: \\xc3(')\n\
        short: yaml.Unmarshal('\\xe4\\xb8')\nlong: yaml.Unmarshal('\\xc0\\x80')\n\
        pair: yaml.Unmarshal('a\\xed\\xa0\\x80')",
    );
    for (path, wanted) in [
        ("most", "true"),
        ("fields", "true"),
        ("few", "false"),
        (
            "over",
            "error in call to list.MinItems: int 18446744073709551616 overflows int64 in argument 1",
        ),
        ("none", "error in call to list.Sort: field not found: less"),
        ("sorted", "true"),
        ("flat", "error in call to list.FlattenN: cannot use value {a:1} (type struct) as list"),
        ("lead", "error in call to encoding/yaml.Unmarshal: : invalid leading UTF-8 octet"),
        ("trail", "error in call to encoding/yaml.Unmarshal: : invalid trailing UTF-8 octet"),
        ("short", "error in call to encoding/yaml.Unmarshal: : incomplete UTF-8 octet sequence"),
        ("long", "error in call to encoding/yaml.Unmarshal: : invalid length of a UTF-8 sequence"),
        ("pair", "error in call to encoding/yaml.Unmarshal: : invalid Unicode character"),
    ] {
        assert_eq!(json(&it, path), wanted, "{path}");
    }
}
