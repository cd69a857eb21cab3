//! No text makes scanner, parser or printer panic or hang; formatting keeps what it means.

use std::path::Path;

use cue_syntax::ast::File;
use cue_syntax::{Style, format_tree, parse_expr, parse_file, parse_header, parse_tree};

/// Texts that are mutated: `tests/corpus`, in order of their names.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|it| std::fs::read_to_string(it).expect("a text")).collect()
}

/// How many mutations: `FUZZ_ITERATIONS`, or a thousand.
fn iterations() -> usize {
    std::env::var("FUZZ_ITERATIONS").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000)
}

const BITS: &[&str] = &[
    "\n",
    " ",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\\(",
    "\"\"\"\n",
    "// c\n",
    "#",
    "...",
    "?",
    "!",
    "~",
    "=",
    "&",
    "|",
    "if ",
    "for ",
    "let ",
    "try ",
    "else",
    "@a(",
    "é",
    "\r",
    "_",
    "0x",
    "1.",
    "<",
    "-",
    "*",
    "/",
    "\u{feff}",
    "\0",
    ";",
    "..",
    "package p\n",
    "import \"i\"\n",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

fn mutated(seeds: &[String], dice: &mut Dice) -> String {
    let mut text: Vec<char> = seeds[dice.roll(seeds.len())].chars().collect();
    for _ in 0..=dice.roll(6) {
        let at = dice.roll(text.len() + 1);
        let to = (at + dice.roll(8)).min(text.len());
        match dice.roll(4) {
            0 => drop(text.drain(at..to)),
            1 => {
                let copy = text[at..to].to_vec();
                let there = dice.roll(text.len() + 1);
                text.splice(there..there, copy);
            }
            _ => {
                let bit = BITS[dice.roll(BITS.len())];
                text.splice(at..at, bit.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn fuzz_texts() {
    let seeds = seeds();
    let mut dice = Dice(42);
    for _ in 0..iterations() {
        let text = mutated(&seeds, &mut dice);
        let parsed = parse_file(&text);
        let header = parse_header(&text);
        let said = |it: &File| format!("{:?} {:?}", it.package, it.imports);
        assert_eq!(said(&header), said(&parsed.file), "{text}");
        // Behind a declaration that is none, an attribute counts as one before all.
        if parsed.errors.is_empty() {
            assert_eq!(header.attributes, parsed.file.attributes, "{text}");
        }
        let (tree, errors) = parse_tree(&text);
        assert!(parsed.errors.len() >= errors.len(), "{text}");
        let plain = format_tree(&tree, Style::Plain);
        format_tree(&tree, Style::Simplified);
        let _ = parse_expr(&text);
        if errors.is_empty() && !text.contains("//") {
            let (again, errors) = parse_tree(&plain);
            assert!(errors.is_empty(), "{text}\n--\n{plain}\n{errors:?}");
            assert_eq!(format_tree(&again, Style::Plain).is_empty(), plain.is_empty());
        }
    }
}

#[test]
fn seeds_are_kept_by_the_printer() {
    for seed in seeds() {
        let (tree, errors) = parse_tree(&seed);
        let plain = format_tree(&tree, Style::Plain);
        let (again, after) = parse_tree(&plain);
        assert_eq!(errors.len(), after.len(), "{plain}");
        assert_eq!(format_tree(&again, Style::Plain), plain);
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("-", ""),
        ("a: {", "}"),
        ("f(", ")"),
        ("\"\\(", ")\""),
        ("a: ", ""),
        ("if x {", "}"),
        ("[for x in y {", "}]"),
        ("!", ""),
    ] {
        let (open, close): (&str, &str) = (open, close);
        let text = format!("x: {}1{}", open.repeat(50_000), close.repeat(50_000));
        let (tree, errors) = parse_tree(&text);
        assert!(!errors.is_empty(), "{open}");
        format_tree(&tree, Style::Plain);
        parse_file(&text);
        parse_header(&text);
    }
}

#[test]
fn attributes_in_attributes_may_be_any_number() {
    let told = |text: &str| {
        assert!(parse_header(text).decls.is_empty());
        let parsed = parse_file(text);
        parsed.errors.first().map(|it| (it.message.clone(), it.span.start))
    };
    let many = 1_000_000;
    let expected = "invalid attribute: expected '('".to_owned();
    assert_eq!(told(&"@".repeat(many)), Some((expected.clone(), 1_000_000)));
    assert_eq!(told(&"@a ".repeat(many)), Some((expected.clone(), 3_000_000)));
    assert_eq!(told("@a(@b @c(1), 2)"), Some((expected, 11)));
    assert_eq!(told(&"@a(".repeat(many)), Some(("attribute missing ')'".to_owned(), 3_000_000)));
    assert_eq!(told(&("@a([@b ({".repeat(many) + &"})])".repeat(many))), None);
    assert_eq!(told("@a(@b(1), @c(])), 2)"), Some(("unexpected ']'".to_owned(), 14)));
}

#[test]
fn long_operands_are_errors() {
    for part in [".b", "[0]", "()", "[1:2]"] {
        let text = format!("x: a{}", part.repeat(50_000));
        let (tree, errors) = parse_tree(&text);
        assert!(!errors.is_empty(), "{part}");
        format_tree(&tree, Style::Plain);
        parse_file(&text);
    }
}

#[test]
fn one_long_line() {
    let text = "a: 1, ".repeat(20_000);
    let (tree, errors) = parse_tree(&text);
    assert_eq!(errors, []);
    format_tree(&tree, Style::Plain);
}

#[test]
fn long_chains_are_fine() {
    let text = format!("x: {}1", "1 | ".repeat(3_000));
    let (tree, errors) = parse_tree(&text);
    assert!(errors.is_empty());
    assert_eq!(format_tree(&tree, Style::Plain).len(), text.len() + 1);
}

#[test]
fn what_is_evaluated_can_be_printed() {
    let text = "package p\n\nimport \"strings\"\n\n// doc\na: {\n\tb?: int | *1\n\t...\n}\nc: [for x in a if x > 1 {x}, \"s\\(1+2)\", '\\x00'][0].d\n";
    let parsed = parse_file(text);
    assert_eq!(parsed.errors, []);
    let printed = cue_syntax::format_file(&parsed.file);
    let again = parse_file(&printed);
    assert_eq!(again.errors, [], "{printed}");
    assert_eq!(cue_syntax::format_file(&again.file), printed);
    let expr = parse_expr("{a: 1, b: f(x, 2)}").expect("an expression");
    assert_eq!(cue_syntax::format_expr(&expr), "{\n\ta: 1\n\tb: f(x, 2)\n}");
}

#[test]
fn nesting_up_to_the_limit_is_fine_on_a_small_stack() {
    let worst = "\"a\" | \"a\" & a || a && a == a + a * (";
    let work = move || {
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{a: ", "}"),
            ("-", ""),
            ("f(", ")"),
            (worst, ")"),
            ("a: ", ""),
        ] {
            let text = format!("x: {}1{}", open.repeat(9_900), close.repeat(9_900));
            let parsed = parse_file(&text);
            assert_eq!(parsed.errors, [], "{open}");
            let (tree, _) = parse_tree(&text);
            assert!(!format_tree(&tree, Style::Plain).trim().is_empty());
        }
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn one_level_too_many_is_an_error() {
    let text = format!("x: {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    let (_, errors) = parse_tree(&text);
    assert_eq!(errors[0].message, "expression exceeds maximum nesting depth of 10000");
}

#[test]
fn operators_in_a_row_do_not_nest() {
    let text = format!("x: {}1", "1 + ".repeat(200_000));
    let work = move || assert_eq!(parse_file(&text).errors, []);
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}
