//! The builtin packages: a table of functions and constants over plain data; numbers; texts of data.
//!
//! ~~~text
//! import path -package()-> Package -member()-> Function
//! evaluator: checks count and kinds, turns values into `Datum` as `Parameter::pass` says,
//! calls `run`, turns the `Datum` or `CallError` back
//! ~~~
//! Invariants
//! 1. A function reads its arguments and nothing else: no clock, no I/O. (clippy.toml)
//! 2. What a function produces is counted against `CallContext` before it is made. (tests)
//! 3. Message texts are CUE's, without `error in call to …: `, which the evaluator puts before.
#![forbid(unsafe_code)]

pub mod number; // exact decimals, their arithmetic and text
pub mod encode; // JSON, YAML and TOML, both ways
pub mod call; // contexts, errors, kinds, the types of the table
pub mod datum; // plain data in and out of functions
pub mod text; // texts that are put together when they are read
mod arguments; // reading arguments, with CUE's texts for those that do not fit
mod builtin; // functions as the evaluator keeps them
mod strings;
mod strconv;
mod floats; // Go's reading and writing of doubles
mod quoting; // Go's and CUE's string quoting
mod unquote; // CUE literals as text
mod list;
mod structs;
mod math;
mod cephes; // functions of doubles to Go's last digit
mod bits;
mod regexp;
mod matcher; // where expressions match
mod pattern; // Go's regular expression syntax, checked and translated
mod path;
mod time;
mod layout; // Go's time layouts
mod calendar;
mod json;
mod yaml;
mod base64;
mod hex;
mod csv;
mod toml;
mod openapi;
mod html;
mod unicode; // categories and scripts
mod tabwriter;
mod template;
mod printf; // directives of Go's fmt
mod go_value; // values and types as Go shows them
mod net;
mod address; // IP addresses and prefixes
mod url;
mod uuid;
mod crypto;
mod ed25519;
mod digest; // MD5, SHA-1

pub use crate::arguments::int as int_argument;
pub use crate::builtin::Builtin;
pub use crate::call::{
    CallContext, CallError, Code, Constant, Function, Item, Kinds, Member, Package, Parameter,
    Pass, Run, Special,
};
pub use crate::datum::{Datum, Fields, FunctionName, Items, NOTHING_SAID, Places, valid_text};
pub use crate::digest::md5;
pub use crate::floats::shortest;
pub use crate::math::{next_above, next_below};
pub use crate::pattern::Pattern;
pub use crate::text::{Allowance, Text};
pub use crate::url::check as check_url;

const PACKAGES: &[Package] = &[
    ed25519::PACKAGE,
    crypto::HMAC,
    crypto::MD5,
    crypto::SHA1,
    crypto::SHA256,
    crypto::SHA512,
    base64::PACKAGE,
    csv::PACKAGE,
    hex::PACKAGE,
    json::PACKAGE,
    openapi::PACKAGE,
    toml::PACKAGE,
    yaml::PACKAGE,
    html::PACKAGE,
    list::PACKAGE,
    math::PACKAGE,
    bits::PACKAGE,
    net::PACKAGE,
    path::PACKAGE,
    regexp::PACKAGE,
    strconv::PACKAGE,
    strings::PACKAGE,
    structs::PACKAGE,
    tabwriter::PACKAGE,
    template::PACKAGE,
    time::PACKAGE,
    uuid::PACKAGE,
];

/// The package of an import path, `encoding/json` say.
pub fn package(path: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| package.path == path)
}

/// All packages, sorted by path only within their group. Not where it is called: all functions would be
/// compiled there once more.
#[inline(never)]
pub fn packages() -> &'static [Package] {
    PACKAGES
}

/// A character in single quotes, as Go's messages have it.
pub(crate) fn quote_rune(c: char) -> String {
    quoting::go_quote(c.encode_utf8(&mut [0; 4]), '\'', quoting::Plain::Print)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::json;

    /// `function arguments => value` and `function arguments !! message`, arguments as JSON.
    fn check(line: &str) -> Result<(), String> {
        let (call, rest) = line.split_once(' ').ok_or("no arguments")?;
        let (path, name) = call.rsplit_once('.').ok_or("no package")?;
        let split = |mark: &str| rest.rsplit_once(mark);
        let (arguments, wanted, fails) = match (split(" => "), split(" !! ")) {
            (Some((arguments, wanted)), None) => (arguments, wanted, false),
            (None, Some((arguments, wanted))) => (arguments, wanted, true),
            (Some(value), Some(error)) if value.0.len() < error.0.len() => {
                if json::check(value.0.as_bytes()).is_ok() {
                    (value.0, value.1, false)
                } else {
                    (error.0, error.1, true)
                }
            }
            (Some(_), Some(error)) => (error.0, error.1, true),
            (None, None) => return Err("no result".to_owned()),
        };
        let read = |text: &str| {
            json::decode(text.as_bytes(), json::Values::One)
                .map(|tree| tree.into_datum())
                .map_err(|error| format!("{error} in {text}"))
        };
        let member = package(path).and_then(|it| it.member(name)).ok_or("no such function")?;
        let Item::Function(function) = &member.item else { return Err("a constant".to_owned()) };
        let Run::Pure(run) = function.run else { return Err("needs the evaluator".to_owned()) };
        let Datum::List(given) = read(arguments)? else { return Err("no list".to_owned()) };
        let mut given = given.to_vec();
        for parameter in &function.parameters[given.len()..] {
            given.push(Datum::text(parameter.default.ok_or("too few arguments")?));
        }
        let outcome = run(&mut CallContext::new(1 << 24), &given);
        let found = match &outcome {
            Ok(value) => json::encode(value, json::Layout::Compact),
            Err(error) => error.message.clone(),
        };
        let wanted = match (fails, read(wanted)?) {
            (true, Datum::String(text)) => text.to_string(),
            (_, value) => json::encode(&value, json::Layout::Compact),
        };
        let same = found == wanted || (!fails && found == wanted_text(rest));
        if same && fails == outcome.is_err() { Ok(()) } else { Err(format!("found {found}")) }
    }

    /// The value as it stands in the line, for what JSON input does not keep: `-0`.
    fn wanted_text(rest: &str) -> &str {
        rest.rsplit_once(" => ").map_or("", |it| it.1)
    }

    #[test]
    fn functions_do_what_cue_does() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/builtin");
        let mut wrong = Vec::new();
        let mut right = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                // A known difference: the original's double functions are not ours to the bit.
                let (line, known) = match line.strip_prefix("~ ") {
                    Some(line) => (line, true),
                    None => (line, false),
                };
                match (check(line), known) {
                    (Ok(()), false) | (Err(_), true) => right += 1,
                    (Ok(()), true) => wrong.push(format!("now right: {line}")),
                    (Err(reason), false) => wrong.push(format!("{line}\n    {reason}")),
                }
            }
        }
        assert!(wrong.is_empty(), "{} right, {} wrong:\n{}", right, wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn results_are_counted_before_they_are_made() {
        let run = |path: &str, name: &str, arguments: &[Datum]| {
            let Some(Member { item: Item::Function(function), .. }) =
                package(path).and_then(|it| it.member(name))
            else {
                panic!("{name}")
            };
            let Run::Pure(run) = function.run else { panic!("{name}") };
            run(&mut CallContext::new(1 << 20), arguments).unwrap_err().code
        };
        let long = Datum::text("x".repeat(1000));
        assert_eq!(run("strings", "Repeat", &[long, Datum::int(1_000_000)]), Code::Budget);
        let bounds = [Datum::int(0), Datum::int(i64::MAX), Datum::int(1)];
        assert_eq!(run("list", "Range", &bounds), Code::Budget);
        assert_eq!(run("math/bits", "Lsh", &[Datum::int(1), Datum::int(1 << 40)]), Code::Budget);
    }
}
