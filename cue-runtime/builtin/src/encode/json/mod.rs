//! JSON as `cue export` and `json.Marshal` write it, and a reader that keeps numbers exact.
//!
//! Every rendering does both. In the sandbox this crate is built for size: what is `#[inline]` here
//! is built with the evaluator, for speed.

mod reader;
mod scan;
mod writer;

pub use self::reader::{Check, Values, check, decode};
pub use self::writer::{Html, Layout, Writer, encode, encode_with, indented, quote};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for (source, compact) in [
            (
                r#" {"a": [1, 2.50, 1e3, -0, true], "b": {}, "c": [], "d": null} "#,
                r#"{"a":[1,2.50,1E+3,0,true],"b":{},"c":[],"d":null}"#,
            ),
            (r#""\u00e9\/\ud83d\ude00\n\u0001<>&""#, "\"é/😀\\n\\u0001<>&\""),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ] {
            let tree = decode(source.as_bytes(), Values::One).unwrap();
            assert_eq!(encode(&tree.into_datum(), Layout::Compact), compact);
        }
        let tree = decode(br#"{"a":[1,[]],"b":{}}"#, Values::One).unwrap();
        assert_eq!(
            encode(&tree.into_datum(), Layout::Indented),
            "{\n    \"a\": [\n        1,\n        []\n    ],\n    \"b\": {}\n}"
        );
    }

    #[test]
    fn a_text_is_indented_as_its_value_is() {
        for source in [
            r#"{"a":[1,2.5,[],{},[[]],"x<y>&\\\" }],:{"],"b":{"":null,"c":{"d":true}}}"#,
            "[]",
            "{}",
            "\"é \"",
            "-1E+3",
        ] {
            let datum = decode(source.as_bytes(), Values::One).unwrap().into_datum();
            for html in [Html::Plain, Html::Escaped] {
                let want = encode_with(&datum, Layout::Indented, html);
                assert_eq!(indented(source, html), want);
                assert_eq!(indented(&want, html), want);
            }
        }
        assert_eq!(indented("[ ]", Html::Plain), "[]");
    }

    #[test]
    fn errors_are_those_of_go() {
        for (source, message) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("1 2", "invalid character '2' after top-level value"),
            ("tru", "unexpected end of JSON input"),
            ("trx", "invalid character 'x' in literal true (expecting 'u')"),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("-a", "invalid character 'a' in numeric literal"),
            ("\"\\ud800\"", "invalid string: unmatched surrogate pair"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
        ] {
            assert_eq!(decode(source.as_bytes(), Values::One).unwrap_err().message, message);
        }
    }

    #[test]
    fn deep_values_need_no_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let tree = decode(deep.as_bytes(), Values::One).unwrap();
        let (datum, again) = (tree.clone().into_datum(), tree.into_datum());
        assert_eq!(encode(&datum, Layout::Compact), deep);
        assert!(datum == again);
    }
}
