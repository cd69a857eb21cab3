//! YAML as `cue export --out yaml` writes it, and a reader with CUE's view of scalars.

mod scanner; // text -> tokens
mod scalars; // text of scalars -> tokens
mod tags; // directives, anchors and tags -> tokens
mod parser; // tokens -> events
mod reader; // events -> Tree
mod scalar; // what a plain scalar means
mod writer; // pieces -> text

pub use self::reader::{Document, Error, Refused, decode, decode_keeping};
pub use self::writer::{Spelled, Writer, encode, encode_spelled};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datum;
    use crate::encode::json;

    fn from_json(text: &str) -> Datum {
        json::decode(text.as_bytes(), json::Values::One).unwrap().into_datum()
    }

    fn read(text: &str) -> Result<String, String> {
        let documents = decode(text.as_bytes()).map_err(|error| error.located(""))?;
        let texts: Vec<String> = documents
            .into_iter()
            .map(|it| json::encode(&it.tree.into_datum(), json::Layout::Compact))
            .collect();
        Ok(texts.join(" "))
    }

    #[test]
    fn block_style() {
        for (value, text) in [
            (
                r#"{"a":{"b":[{"c":1,"d":[1]},[1,[2]],{},[],"x"],"e":{}}}"#,
                "a:\n  b:\n    - c: 1\n      d:\n        - 1\n    - - 1\n      - - 2\n    - {}\n    - []\n    - x\n  e: {}\n",
            ),
            ("[]", "[]\n"),
            ("\"x\"", "x\n"),
            (r#""a\nb""#, "|-\n  a\n  b\n"),
            (
                r#"{"a":{"s":"x\ny\n"},"l":["p\nq"]}"#,
                "a:\n  s: |\n    x\n    y\nl:\n  - |-\n    p\n    q\n",
            ),
            (r#"{"k\nl":{"a":1}}"#, "? |-\n  k\n  l\n: a: 1\n"),
            (r#"[[{"a":1},{"b":null}]]"#, "- - a: 1\n  - b: null\n"),
            ("[1e3,1.50,-0.0,16]", "- 1E+3\n- 1.50\n- 0.0\n- 16\n"),
        ] {
            assert_eq!(encode(&from_json(value)), text);
        }
    }

    #[test]
    fn quoting_follows_the_original() {
        let plain = [
            "a b", "-a", "?a", "a:b", ":a", "a#b", "a'b", "a]", "a}", "a,b", "=", "<", "<<", "=a",
            "Infinity", "NaN", "tRue", "1.2.3", "0x", "1e", "e1", "0o8", "1,000", "_1", "+", "--",
            "a\\b", "a\"b", "é",
        ];
        let single = [
            " a", "a ", "-", "- a", "?", "? a", ":", "a:", "a: b", "#", "a #b", "@a", "%a", "!a",
            "&a", "*a", "|", ">a", "\"a", "[a", "{a", ",a", "--- a", "...", "null ",
        ];
        let double = [
            "",
            "y",
            "no",
            "True",
            "t",
            "N",
            "1",
            "01",
            "08",
            "0o1",
            "0x1F",
            "1.5",
            "1.",
            "1e3",
            ".5",
            "+1",
            "-.5",
            "0b1",
            "1_000",
            "0_1",
            "1__0",
            "~",
            "null",
            ".inf",
            "+.inf",
            ".nan",
            ".Nan",
            "---",
            "2020-01-01",
            "2020-1-1",
            "12:30",
            "1:2",
        ];
        for text in plain {
            assert_eq!(encode(&Datum::text(text)), format!("{text}\n"));
        }
        for text in single {
            assert_eq!(encode(&Datum::text(text)), format!("'{text}'\n"));
        }
        for text in double {
            assert_eq!(encode(&Datum::text(text)), format!("\"{text}\"\n"));
        }
        for (text, out) in [
            ("'", "''''\n"),
            ("it's: x", "'it''s: x'\n"),
            ("a\tb", "\"a\\tb\"\n"),
            ("\u{1}", "\"\\x01\"\n"),
            ("😀", "\"\\U0001F600\"\n"),
            ("\u{feff}", "\"\\uFEFF\"\n"),
            ("a\rb", "\"a\\rb\"\n"),
            ("a\nb\n\n", "|+\n  a\n  b\n\n"),
            ("\n", "|2+\n\n"),
            ("\n\n", "|2+\n\n\n"),
            ("\na", "|2-\n\n  a\n"),
            ("  a\nb", "|2-\n    a\n  b\n"),
            ("\ta\nb", "|-\n  \ta\n  b\n"),
            ("a \nb", "\"a \\nb\"\n"),
            ("a\r\nb", "\"a\\r\\nb\"\n"),
            ("\n\nx\n", "|2\n\n\n  x\n"),
        ] {
            assert_eq!(encode(&Datum::text(text)), out, "{text:?}");
        }
        assert_eq!(encode(&Datum::bytes(*b"")), "!!binary\n");
        assert_eq!(encode(&Datum::bytes(*b"ab")), "!!binary YWI=\n");
        assert_eq!(encode(&Datum::bytes(*b"a\nb")), "!!binary |-\n  YQpi\n");
    }

    #[test]
    fn scalars_as_cue_sees_them() {
        for (source, value) in [
            ("[~, Null, NULL, true, yes, on]", "[null,null,null,true,\"yes\",\"on\"]"),
            ("[0x1F, 0o17, 017, 0b11, 1_000, +5, -0]", "[31,15,15,3,1000,5,0]"),
            (
                "[1e3, .5, 5., 089, 2020-01-01, 1:30]",
                "[1E+3,0.5,5,\"089\",\"2020-01-01\",\"1:30\"]",
            ),
            ("[!!str 1, !!int \"3\" , !!binary YWI= ]", "[\"1\",3,\"YWI=\"]"),
            (
                "{1: a, true: b, ~: c, 017: d, 'x': e, b}",
                "{\"1\":\"a\",\"true\":\"b\",\"null\":\"c\",\"0o17\":\"d\",\"x\":\"e\",\"b\":null}",
            ),
            ("a: &x {p: 1}\nb: *x", "{\"a\":{\"p\":1},\"b\":{\"p\":1}}"),
            (
                "b: &b {x: 1, y: 2}\ne: {z: 1, <<: *b, x: 9}\nf: {<<: [*b, {y: 7, w: 8}]}\ng: {x: 0, <<: *b}",
                "{\"b\":{\"x\":1,\"y\":2},\"e\":{\"z\":1,\"x\":9,\"y\":2},\"f\":{\"y\":2,\"w\":8,\"x\":1},\"g\":{\"x\":1,\"y\":2}}",
            ),
            ("a: 1\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"),
            ("a: |\n  x\n  y\nb: >-\n  p\n  q\n", "{\"a\":\"x\\ny\\n\",\"b\":\"p q\"}"),
            ("", ""),
            ("---\n", "null"),
            ("a: 1e400", "{\"a\":\"1e400\"}"),
            ("a: !foo [1]", "{\"a\":[1]}"),
            ("a: !!int {b: !foo\n  [1]}", "{\"a\":{\"b\":[1]}}"),
        ] {
            assert_eq!(read(source).as_deref(), Ok(value), "{source}");
        }
        for (source, message) in [
            ("a: *b", ": unknown anchor 'b' referenced"),
            ("a: &a [*a]", ":1: anchor \"a\" value contains itself"),
            ("a: !foo 1", ":1: cannot unmarshal tag \"!foo\""),
            ("? [1]\n: 2", ":1: invalid map key: !!seq"),
            ("? !foo {a: 1}\n: 2", ":1: invalid map key: !foo"),
            ("a: .inf", "parse error: illegal number start \"+Inf\""),
            (
                "a: 18446744073709551616",
                "parse error: illegal number start \"number & 18446744073709551616\"",
            ),
            ("a: 1__0", ":1: cannot decode \"1__0\" as !!int: illegal '_' in number"),
            ("a: b: c", ": mapping values are not allowed in this context"),
            ("a: [!x, b]", ":1: cannot unmarshal tag \"!x,\""),
        ] {
            assert_eq!(read(source).as_ref().map_err(String::as_str), Err(message), "{source}");
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        let pieces: Vec<&str> = vec![
            "a",
            ":",
            " ",
            "\n",
            "-",
            "[",
            "]",
            "{",
            "}",
            ",",
            "!",
            "!!str",
            "&a",
            "*a",
            "|",
            ">",
            "'",
            "\"",
            "#",
            "%",
            "---",
            "...",
            "?",
            "\\",
            "\t",
            "\u{feff}",
            "é",
            "\u{85}",
            "\u{2028}",
            "\0",
            "\r",
            "1",
            "<<",
            "!<",
            "%YAML 1.2",
            "%TAG ! x",
            "\\x",
        ];
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let outcome = std::panic::catch_unwind(|| decode(text.as_bytes()).is_ok());
            assert!(outcome.is_ok(), "{text:?}");
        }
    }
}
