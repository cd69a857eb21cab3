//! The published messages of the API, packed by published/collect_messages.py, which says how they are written.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::published;

/// The package of what all groups share.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// A message: its fields by ascending number.
pub type Message = [Field];

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// Its number.
    pub number: u64,
    /// Its name in JSON; none of a message whose fields are among those around it.
    pub name: Option<&'static str>,
    /// How many there are of it.
    pub many: Many,
    /// What it is.
    pub kind: Kind,
}

/// How many there are of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    /// One or none.
    One,
    /// A list.
    List,
    /// A map from texts.
    Map,
}

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Bytes; in JSON they are base64.
    Bytes,
    /// A message with one text.
    Quantity,
    /// A whole number or a text.
    IntOrString,
    /// A time.
    Time,
    /// A time with microseconds.
    MicroTime,
    /// JSON as it is.
    Raw,
    /// A message with a list of texts, which in JSON is that list.
    Texts,
    /// A message, by package and name.
    Message(&'static str, &'static str),
}

/// Messages by package, then by name.
type Table = FxHashMap<&'static str, FxHashMap<&'static str, Vec<Field>>>;

fn table() -> &'static Table {
    static TEXT: OnceLock<String> = OnceLock::new();
    static READ: OnceLock<Table> = OnceLock::new();
    let text = TEXT.get_or_init(published::messages);
    READ.get_or_init(|| {
        let mut package = "";
        let mut table = Table::default();
        for line in text.lines() {
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            if name == "=" {
                package = rest;
                continue;
            }
            let mut fields: Vec<Field> =
                rest.split(',').filter_map(|text| field(text, package)).collect();
            fields.sort_by_key(|field| field.number);
            table.entry(package).or_default().insert(name, fields);
        }
        table
    })
}

fn field(text: &'static str, package: &'static str) -> Option<Field> {
    let mut words = text.split(' ');
    let number = words.next()?.parse().ok()?;
    let name = words.next().filter(|name| *name != "-");
    let kind = words.next()?;
    let (many, kind) = match (kind.strip_prefix('*'), kind.strip_prefix('%')) {
        (Some(kind), _) => (Many::List, kind),
        (_, Some(kind)) => (Many::Map, kind),
        _ => (Many::One, kind),
    };
    let kind = match kind {
        "s" => Kind::Text,
        "i" => Kind::Integer,
        "b" => Kind::Boolean,
        "y" => Kind::Bytes,
        "q" => Kind::Quantity,
        "x" => Kind::IntOrString,
        "t" => Kind::Time,
        "u" => Kind::MicroTime,
        "r" => Kind::Raw,
        "L" => Kind::Texts,
        name => match name.split_once('/') {
            Some((package, name)) => Kind::Message(package, name),
            None => Kind::Message(package, name),
        },
    };
    Some(Field { number, name, many, kind })
}

/// A message by package and name.
pub fn message(package: &str, name: &str) -> Option<&'static Message> {
    table().get(package)?.get(name).map(Vec::as_slice)
}

/// The message of a kind.
pub fn of(api_version: &str, kind: &str) -> Option<&'static Message> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    match published::schema_of(group, version, kind) {
        Some(schema) => {
            let (package, name) = schema.rsplit_once('.')?;
            message(package, name)
        }
        // Options and answers belong to every group.
        None => message(META, kind),
    }
}

/// Whether objects of a kind can be written in protobuf.
#[must_use]
pub fn known(api_version: &str, kind: &str) -> bool {
    of(api_version, kind).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Reading and writing recurse from message to message.
    #[test]
    fn no_message_is_part_of_itself() {
        fn depth(message: &Message, above: usize) -> usize {
            assert!(above < 30, "a message that nests without end");
            let inner = message.iter().filter_map(|field| match field.kind {
                Kind::Message(package, name) => {
                    let inner = super::message(package, name);
                    Some(depth(inner.expect("every message named is there"), above + 1))
                }
                _ => None,
            });
            inner.max().unwrap_or(above)
        }
        let deepest = table().values().flat_map(FxHashMap::values).map(|one| depth(one, 0)).max();
        assert!(deepest > Some(5), "{deepest:?}");
    }
}
