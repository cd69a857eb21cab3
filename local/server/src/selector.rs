//! Label and field selectors.

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use crate::meta;
use crate::resource::Resource;
use crate::status::{ApiError, Result};

/// Which objects a list or watch is about.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
    /// Of each group, one is in the JSON of whatever matches.
    marks: Vec<Vec<Finder<'static>>>,
}

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Missing,
    More(i64),
    Less(i64),
}

impl Selector {
    /// Both selectors of a request.
    pub fn parse(labels: &str, fields: &str, resource: &Resource) -> Result<Selector> {
        let labels = parse_labels(labels).map_err(|text| {
            ApiError::bad_request(format!("unable to parse requirement: {text}")).trim()
        })?;
        let marks = labels.iter().filter_map(Requirement::marks).collect();
        Ok(Selector { labels, fields: parse_fields(fields, resource)?, marks })
    }

    /// Whether an object of which this is the JSON, without blanks, may be meant: to look for a few words in
    /// the texts of thousands takes less than to make values of them.
    #[must_use]
    pub fn may_match(&self, text: &[u8]) -> bool {
        self.marks.iter().all(|group| group.iter().any(|mark| mark.find(text).is_some()))
    }

    /// Whether everything matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether the object is meant.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        let empty = Map::new();
        let labels =
            object.pointer("/metadata/labels").and_then(Value::as_object).unwrap_or(&empty);
        self.labels.iter().all(|requirement| requirement.matches(labels))
            && self
                .fields
                .iter()
                .all(|(path, equal, wanted)| (field(object, path) == *wanted) == *equal)
    }

    /// The name asked for by `metadata.name=x`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let named = |(path, equal, _): &&(String, bool, String)| path == "metadata.name" && *equal;
        self.fields.iter().find(named).map(|(_, _, name)| name.as_str())
    }
}

impl ApiError {
    // Some texts stand alone, without the prefix.
    fn trim(mut self) -> ApiError {
        if let Some((_, alone)) = self.message.split_once("\u{0}") {
            self.message = alone.to_owned();
        }
        self
    }
}

fn field(object: &Value, path: &str) -> String {
    let mut at = object;
    for step in path.split('.') {
        match at.get(step) {
            Some(next) => at = next,
            None => return absent(object, path),
        }
    }
    match at {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

// A few fields read as their Go zero value, or stand elsewhere.
fn absent(object: &Value, path: &str) -> String {
    let source =
        || object.pointer("/source/component").or_else(|| object.pointer("/reportingComponent"));
    match path {
        "spec.hostNetwork" | "spec.unschedulable" => "false".to_owned(),
        "status.successful" => field(object, "status.succeeded").if_empty("0"),
        "status.replicas" => "0".to_owned(),
        "source" => source().and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => match path.strip_prefix("regarding.") {
            Some(rest) => field(object, &format!("involvedObject.{rest}")),
            None => String::new(),
        },
    }
}

trait OrElse {
    fn if_empty(self, other: &str) -> String;
}

impl OrElse for String {
    fn if_empty(self, other: &str) -> String {
        if self.is_empty() { other.to_owned() } else { self }
    }
}

impl Requirement {
    /// What the JSON of an object with such a label has one of: neither keys nor values need escapes.
    fn marks(&self) -> Option<Vec<Finder<'static>>> {
        let finder = |mark: String| Finder::new(&mark).into_owned();
        let key = &self.key;
        match &self.test {
            Test::In(any) => {
                let marks = any.iter().map(|value| format!("\"{key}\":\"{value}\""));
                Some(marks.map(finder).collect())
            }
            Test::Exists | Test::More(_) | Test::Less(_) => {
                Some(vec![finder(format!("\"{key}\":"))])
            }
            Test::NotIn(_) | Test::Missing => None,
        }
    }

    fn matches(&self, labels: &Map<String, Value>) -> bool {
        let value = labels.get(&self.key).and_then(Value::as_str);
        match &self.test {
            Test::In(any) => value.is_some_and(|value| any.iter().any(|one| one == value)),
            Test::NotIn(any) => value.is_none_or(|value| any.iter().all(|one| one != value)),
            Test::Exists => value.is_some(),
            Test::Missing => value.is_none(),
            Test::More(than) => {
                value.and_then(|value| value.parse().ok()).is_some_and(|n: i64| n > *than)
            }
            Test::Less(than) => {
                value.and_then(|value| value.parse().ok()).is_some_and(|n: i64| n < *than)
            }
        }
    }
}

/// Whether a `LabelSelector` object (matchLabels, matchExpressions) selects the labels.
#[must_use]
pub fn object_selects(selector: &Value, labels: &Value) -> bool {
    let empty = Map::new();
    let labels = labels.as_object().unwrap_or(&empty);
    let equal = selector.get("matchLabels").and_then(Value::as_object).unwrap_or(&empty);
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    equal.iter().all(|(key, value)| labels.get(key) == Some(value))
        && expressions.into_iter().flatten().all(|expression| {
            let key = expression["key"].as_str().unwrap_or_default().to_owned();
            let values = expression["values"].as_array().into_iter().flatten();
            let values = values.filter_map(Value::as_str).map(str::to_owned).collect();
            let test = match expression["operator"].as_str() {
                Some("In") => Test::In(values),
                Some("NotIn") => Test::NotIn(values),
                Some("Exists") => Test::Exists,
                _ => Test::Missing,
            };
            Requirement { key, test }.matches(labels)
        })
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Sign(&'static str),
    End,
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Word(word) => word,
            Token::Sign(sign) => sign,
            Token::End => "",
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let signs = ["==", "!=", "=", "!", ",", "(", ")", ">", "<"];
        if let Some(sign) = signs.into_iter().find(|sign| rest.starts_with(sign)) {
            found.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
            continue;
        }
        let end =
            rest.find(|c: char| c.is_whitespace() || "=!,()><".contains(c)).unwrap_or(rest.len());
        found.push(Token::Word(rest[..end].to_owned()));
        rest = &rest[end..];
    }
    found.push(Token::End);
    found
}

struct Labels {
    tokens: Vec<Token>,
    at: usize,
}

impl Labels {
    fn peek(&self) -> Token {
        self.tokens.get(self.at).cloned().unwrap_or(Token::End)
    }
    fn take(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        if self.peek() == Token::Sign("!") {
            self.take();
            let key = self.key()?;
            return Ok(Requirement { key, test: Test::Missing });
        }
        let key = self.key()?;
        let test = match self.peek() {
            Token::End | Token::Sign(",") => Test::Exists,
            Token::Sign("=" | "==") => {
                self.take();
                Test::In(vec![self.value(&key)?])
            }
            Token::Sign("!=") => {
                self.take();
                Test::NotIn(vec![self.value(&key)?])
            }
            Token::Sign(sign @ (">" | "<")) => {
                self.take();
                let word = self.take();
                let number: i64 = word.text().parse().map_err(|_| {
                    format!("values[0]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the value must be an integer", word.text())
                })?;
                if sign == ">" { Test::More(number) } else { Test::Less(number) }
            }
            Token::Word(word) if word == "in" || word == "notin" => {
                self.take();
                let values = self.values(&key)?;
                if word == "in" { Test::In(values) } else { Test::NotIn(values) }
            }
            other => {
                return Err(format!(
                    "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                    other.text()
                ));
            }
        };
        Ok(Requirement { key, test })
    }

    fn key(&mut self) -> Result<String, String> {
        match self.take() {
            Token::Word(word) => match meta::qualified_name_errors(&word).into_iter().next() {
                Some(wrong) => Err(format!("<nil>: Invalid value: \"{word}\": {wrong}")),
                None => Ok(word),
            },
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    fn value(&mut self, key: &str) -> Result<String, String> {
        match self.peek() {
            Token::End | Token::Sign(",") => Ok(String::new()),
            Token::Word(word) => {
                self.take();
                check_value(key, 0, &word)?;
                Ok(word)
            }
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        let open = self.take();
        if open != Token::Sign("(") {
            return Err(format!("found '{}' expected: '('", open.text()));
        }
        let mut values = Vec::new();
        loop {
            match self.take() {
                Token::Word(word) => {
                    check_value(key, values.len(), &word)?;
                    values.push(word);
                    match self.take() {
                        Token::Sign(",") => {}
                        Token::Sign(")") => return Ok(values),
                        other => {
                            return Err(format!("found '{}', expected: ',' or ')'", other.text()));
                        }
                    }
                }
                Token::Sign(",") => values.push(String::new()),
                Token::Sign(")") => {
                    values.push(String::new());
                    return Ok(values);
                }
                other => {
                    return Err(format!(
                        "found '{}', expected: ',', ')' or identifier",
                        other.text()
                    ));
                }
            }
        }
    }
}

fn check_value(key: &str, index: usize, value: &str) -> Result<(), String> {
    match meta::label_value_errors(value).into_iter().next() {
        Some(wrong) => Err(format!("values[{index}][{key}]: Invalid value: \"{value}\": {wrong}")),
        None => Ok(()),
    }
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Labels { tokens: tokens(text), at: 0 };
    let mut found = Vec::new();
    if parser.peek() == Token::End {
        return Ok(found);
    }
    loop {
        match parser.peek() {
            Token::Word(_) | Token::Sign("!") => {}
            other => {
                return Err(format!(
                    "\u{0}found '{}', expected: !, identifier, or 'end of string'",
                    other.text()
                ));
            }
        }
        found.push(parser.requirement()?);
        match parser.take() {
            Token::End => return Ok(found),
            Token::Sign(",") => match parser.peek() {
                Token::Word(_) | Token::Sign("!") => {}
                other => {
                    let text =
                        format!("\u{0}found '{}', expected: identifier after ','", other.text());
                    return Err(text);
                }
            },
            other => {
                return Err(format!(
                    "\u{0}found '{}', expected: ',' or 'end of string'",
                    other.text()
                ));
            }
        }
    }
}

fn parse_fields(text: &str, resource: &Resource) -> Result<Vec<(String, bool, String)>> {
    let mut found = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
            (path, false, value)
        } else if let Some((path, value)) = part.split_once("==") {
            (path, true, value)
        } else if let Some((path, value)) = part.split_once('=') {
            (path, true, value)
        } else {
            let text = format!("invalid selector: '{text}'; can't understand '{part}'");
            return Err(ApiError::bad_request(text));
        };
        let extra = resource.selectable_fields();
        if path != "metadata.name" && path != "metadata.namespace" && !extra.contains(&path) {
            let text = if extra.is_empty() || resource.custom.is_some() {
                let known = ["metadata.name", "metadata.namespace"].into_iter();
                let known = known.map(str::to_owned).chain(extra.iter().map(ToString::to_string));
                let known: Vec<String> = known.map(|one| format!("\"{one}\"")).collect();
                if resource.custom.is_some() {
                    format!("field label not supported: {path}")
                } else {
                    format!("\"{path}\" is not a known field selector: only {}", known.join(", "))
                }
            } else {
                format!("field label not supported: {path}")
            };
            return Err(ApiError::bad_request(text));
        }
        found.push((path.to_owned(), equal, value.to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_matches_has_the_marks_of_its_labels() {
        let of = |labels: Value| json!({"kind": "Cup", "metadata": {"labels": labels}});
        let all = [
            of(json!({"app": "web", "size.io/n": "3"})),
            of(json!({"app": "", "tier": "web"})),
            of(json!({"apps": "web"})),
            json!({"kind": "Cup", "app": "web"}),
        ];
        for (text, matching, worth_a_look) in [
            ("app=web", "0", "03"),
            ("app", "01", "013"),
            ("app=", "1", "1"),
            ("app in (web,)", "01", "013"),
            ("size.io/n>2", "0", "0"),
            ("!app", "23", "0123"),
            ("app!=web,tier", "1", "1"),
            ("", "0123", "0123"),
        ] {
            let labels = parse_labels(text).unwrap();
            let marks = labels.iter().filter_map(Requirement::marks).collect();
            let selector = Selector { labels, fields: Vec::new(), marks };
            let places = |test: &dyn Fn(&Value) -> bool| -> String {
                let some = all.iter().enumerate().filter(|(_, it)| test(it));
                some.map(|(place, _)| place.to_string()).collect()
            };
            assert_eq!(places(&|it| selector.matches(it)), matching, "{text}");
            let looked = places(&|it| selector.may_match(it.to_string().as_bytes()));
            assert_eq!(looked, worth_a_look, "{text}");
        }
    }
}
