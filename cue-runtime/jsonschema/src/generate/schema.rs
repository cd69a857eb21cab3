//! A schema as it is written: keywords in their order, printed as CUE.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::item::{Item, Properties, Shared, Target};

/// A schema, or what stands in one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Schema {
    Bool(bool),
    /// Keywords in order; one may be there twice.
    Object(Vec<(String, Schema)>),
    List(Vec<Schema>),
    /// CUE.
    Text(String),
}

/// Keywords that count together: a schema that has one of them means something else where another is beside it.
const GROUPS: [&[&str]; 4] = [
    &["properties", "patternProperties", "additionalProperties"],
    &["contains", "maxContains", "minContains"],
    &["items", "additionalItems", "prefixItems"],
    &["if", "then", "else"],
];

/// Keywords that stand before all others.
const FIRST: [&str; 4] = ["$schema", "$defs", "type", "description"];

/// Where a keyword stands: those that say what it is, then groups, then the rest by name.
fn rank(keyword: &str) -> usize {
    let first = FIRST.iter().position(|it| *it == keyword);
    let group = || GROUPS.iter().position(|it| it.contains(&keyword));
    first.or_else(|| group().map(|it| it + FIRST.len())).unwrap_or(FIRST.len() + GROUPS.len())
}

/// An object of keywords, in order.
pub(super) fn object(mut keywords: Vec<(String, Schema)>) -> Schema {
    keywords
        .sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
    Schema::Object(keywords)
}

fn keyword(name: &str, value: Schema) -> Schema {
    Schema::Object(vec![(name.into(), value)])
}

pub(super) fn text(text: &str) -> Schema {
    Schema::Text(cue_syntax::unquote::quote(text))
}

/// Writes items, with the names that places have.
pub(super) struct Writer<'a>(pub(super) &'a BTreeMap<Target, String>);

impl Writer<'_> {
    /// An item as a schema.
    pub(super) fn schema(&self, item: &Item) -> Schema {
        match item {
            Item::True => Schema::Bool(true),
            Item::False => Schema::Bool(false),
            Item::AllOf(all) => self.all_of(all),
            Item::AnyOf(all) => keyword("anyOf", self.list(all)),
            Item::OneOf(all) => keyword("oneOf", self.list(all)),
            Item::Not(item) => keyword("not", self.schema(item)),
            Item::Const(value) => keyword("const", Schema::Text(value.clone())),
            Item::Enum(all) => {
                keyword("enum", Schema::List(all.iter().cloned().map(Schema::Text).collect()))
            }
            Item::Ref(target) => keyword("$ref", text(&self.reference(target))),
            Item::Described(words, item) => self.described(words, item),
            Item::Type(names) => keyword(
                "type",
                match names.as_slice() {
                    [only] => text(only),
                    all => Schema::List(all.iter().map(|it| text(it)).collect()),
                },
            ),
            Item::Keyword(name, value) => keyword(name, Schema::Text(value.clone())),
            Item::Items { prefix, rest } => {
                let prefix = Some(prefix).filter(|it| !it.is_empty());
                self.keywords([
                    ("prefixItems", prefix.map(|it| self.list(it))),
                    ("items", rest.as_ref().map(|it| self.schema(it))),
                ])
            }
            Item::Contains { item, least, most } => self.keywords([
                ("contains", Some(self.schema(item))),
                ("minContains", least.map(|it| Schema::Text(it.to_string()))),
                ("maxContains", most.map(|it| Schema::Text(it.to_string()))),
            ]),
            Item::Properties(it) => self.properties(it),
            Item::If { condition, then, otherwise } => self.keywords([
                ("if", Some(self.schema(condition))),
                ("then", then.as_ref().map(|it| self.schema(it))),
                ("else", otherwise.as_ref().map(|it| self.schema(it))),
            ]),
        }
    }

    fn list(&self, all: &[Shared]) -> Schema {
        Schema::List(all.iter().map(|it| self.schema(it)).collect())
    }

    /// Those keywords that have a value.
    fn keywords<const N: usize>(&self, all: [(&str, Option<Schema>); N]) -> Schema {
        let there = all.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        object(there.collect())
    }

    fn properties(&self, it: &Properties) -> Schema {
        let named = |all: &BTreeMap<String, Shared>| {
            let each = all.iter().map(|(name, it)| (name.clone(), self.schema(it)));
            (!all.is_empty()).then(|| Schema::Object(each.collect()))
        };
        let required = Schema::List(it.required.iter().map(|it| text(it)).collect());
        self.keywords([
            ("properties", named(&it.named)),
            ("required", (!it.required.is_empty()).then_some(required)),
            ("additionalProperties", it.additional.as_ref().map(|it| self.schema(it))),
            ("patternProperties", named(&it.patterns)),
        ])
    }

    /// One object is a conjunction of its keywords: into it goes what has none that it has already, nor one that
    /// counts together with these.
    fn all_of(&self, all: &[Shared]) -> Schema {
        let mut merged: Vec<(String, Schema)> = Vec::new();
        let mut apart = Vec::new();
        for item in all {
            match self.schema(item) {
                Schema::Bool(false) => return Schema::Bool(false),
                Schema::Object(keywords) => {
                    let meets = |(name, _): &(String, Schema)| {
                        let group = GROUPS.iter().find(|it| it.contains(&name.as_str()));
                        merged.iter().any(|(held, _)| {
                            held == name || group.is_some_and(|it| it.contains(&held.as_str()))
                        })
                    };
                    match keywords.iter().any(meets) {
                        true => apart.push(Schema::Object(keywords)),
                        false => merged.extend(keywords),
                    }
                }
                Schema::Bool(true) | Schema::List(_) | Schema::Text(_) => {}
            }
        }
        if apart.is_empty() {
            return object(merged);
        }
        if !merged.is_empty() {
            apart.push(object(merged));
        }
        keyword("allOf", Schema::List(apart))
    }

    fn described(&self, words: &str, item: &Item) -> Schema {
        match self.schema(item) {
            Schema::Object(mut keywords) => {
                keywords.push(("description".into(), text(words)));
                object(keywords)
            }
            Schema::Bool(true) => keyword("description", text(words)),
            other => other,
        }
    }

    /// A place as a URI: a pointer into this document, escaped.
    fn reference(&self, target: &Target) -> String {
        let name = self.0.get(target).map_or("", String::as_str);
        let pointer = format!("/$defs/{}", name.replace('~', "~0").replace('/', "~1"));
        let mut uri = String::from("#");
        for byte in pointer.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(byte as char),
                byte if b"-_.~$&+,/:;=?@!()*".contains(&byte) => uri.push(byte as char),
                byte => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
        uri
    }
}

impl Schema {
    /// Keywords as the fields of a file, each struct on lines of its own.
    pub(super) fn fields(keywords: &[(String, Schema)]) -> String {
        let mut out = String::new();
        Self::print_fields(keywords, &mut out, 0);
        out
    }

    fn print(&self, out: &mut String, depth: usize) {
        match self {
            Schema::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Schema::Text(text) => out.push_str(text),
            Schema::List(all) => {
                out.push('[');
                for (index, it) in all.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    it.print(out, depth);
                }
                out.push(']');
            }
            Schema::Object(keywords) if keywords.is_empty() => out.push_str("{}"),
            Schema::Object(keywords) => {
                out.push_str("{\n");
                Self::print_fields(keywords, out, depth + 1);
                out.extend(std::iter::repeat_n('\t', depth));
                out.push('}');
            }
        }
    }

    fn print_fields(fields: &[(String, Schema)], out: &mut String, depth: usize) {
        for (name, it) in fields {
            out.extend(std::iter::repeat_n('\t', depth));
            out.push_str(&cue_syntax::unquote::quote(name));
            out.push_str(": ");
            it.print(out, depth);
            out.push('\n');
        }
    }
}
