//! Which fields somebody owns: a tree of path elements, and its JSON form (`FieldsV1`).

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::go;

/// A scalar that orders: numbers, strings, booleans, lists, maps, null.
#[derive(Clone, Debug)]
pub struct Atom(pub Value);

impl Atom {
    fn rank(&self) -> u8 {
        match self.0 {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Atom) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
            },
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (a, b) if self.rank() == other.rank() => a.to_string().cmp(&b.to_string()),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}
impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Atom {}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A field or map key.
    Field(String),
    /// An element of a keyed list: names and values of its keys, sorted by name.
    Key(Vec<(String, Atom)>),
    /// An element of a set.
    Value(Atom),
    /// An index; only read.
    Index(i64),
}

impl Element {
    /// As in messages: `.name`, `[name="b"]`, `[="x"]`, `[3]`.
    #[must_use]
    pub fn shown(&self) -> String {
        let atom = |it: &Atom| match &it.0 {
            Value::String(text) => go::quoted(text),
            other => go::plain(other),
        };
        match self {
            Element::Field(name) => format!(".{name}"),
            Element::Key(keys) => {
                let keys: Vec<_> =
                    keys.iter().map(|(name, it)| format!("{name}={}", atom(it))).collect();
                format!("[{}]", keys.join(","))
            }
            Element::Value(it) => format!("[={}]", atom(it)),
            Element::Index(it) => format!("[{it}]"),
        }
    }

    fn serialised(&self) -> String {
        match self {
            Element::Field(name) => format!("f:{name}"),
            Element::Key(keys) => {
                let keys: Map<String, Value> =
                    keys.iter().map(|(name, it)| (name.clone(), it.0.clone())).collect();
                format!("k:{}", go::json(&Value::Object(keys)))
            }
            Element::Value(it) => format!("v:{}", go::json(&it.0)),
            Element::Index(it) => format!("i:{it}"),
        }
    }

    // None: an element of a future kind, dropped.
    fn parse(text: &str) -> Result<Option<Element>, String> {
        let Some((kind, rest)) = text.split_once(':').filter(|(kind, _)| kind.len() == 1) else {
            return Err(format!("couldn't parse field path element {}", go::quoted(text)));
        };
        let bad = |error: &dyn std::fmt::Display| format!("parsing {}: {error}", go::quoted(text));
        Ok(match kind {
            "f" => Some(Element::Field(rest.to_owned())),
            "k" => {
                let keys: Map<String, Value> = serde_json::from_str(rest).map_err(|e| bad(&e))?;
                let mut keys: Vec<_> =
                    keys.into_iter().map(|(name, it)| (name, Atom(it))).collect();
                keys.sort();
                Some(Element::Key(keys))
            }
            "v" => Some(Element::Value(Atom(serde_json::from_str(rest).map_err(|e| bad(&e))?))),
            "i" => {
                Some(Element::Index(rest.parse().map_err(|e: std::num::ParseIntError| bad(&e))?))
            }
            _ => None,
        })
    }
}

/// A step of a path on the way through a value; it becomes an [`Element`] only where the path is kept.
pub(crate) enum Step<'a> {
    Field(&'a str),
    Element(Element),
}

impl Step<'_> {
    pub(crate) fn element(&self) -> Element {
        match self {
            Step::Field(name) => Element::Field((*name).to_owned()),
            Step::Element(element) => element.clone(),
        }
    }
}

/// A path as in messages.
#[must_use]
pub fn shown(path: &[Element]) -> String {
    path.iter().map(Element::shown).collect()
}

/// A set of paths. In order, and most are short: a list takes less room than a tree, and is copied faster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub(crate) nodes: Vec<(Element, Node)>,
}

/// What the set says at an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) member: bool,
    pub(crate) below: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

/// How far a difference goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Members go.
    Members,
    /// What is below them too.
    Below,
}

impl FieldSet {
    /// No path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn get(&self, element: &Element) -> Option<&Node> {
        let at = self.nodes.binary_search_by(|(one, _)| one.cmp(element)).ok()?;
        self.nodes.get(at).map(|(_, node)| node)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        // Fields come before all other elements.
        let order = |one: &Element| match one {
            Element::Field(one) => one.as_str().cmp(name),
            Element::Key(_) | Element::Value(_) | Element::Index(_) => Ordering::Greater,
        };
        let at = self.nodes.binary_search_by(|(one, _)| order(one)).ok()?;
        self.nodes.get(at).map(|(_, node)| node)
    }

    pub(crate) fn node(&mut self, element: Element) -> &mut Node {
        let at = match self.nodes.binary_search_by(|(one, _)| one.cmp(&element)) {
            Ok(at) => at,
            Err(at) => {
                self.nodes.insert(at, (element, Node::default()));
                at
            }
        };
        // It is there now.
        &mut self.nodes[at].1
    }

    /// Adds a path; the empty path is no member of any set.
    pub fn insert(&mut self, path: &[Element]) {
        let Some((first, rest)) = path.split_first() else { return };
        let node = self.node(first.clone());
        if rest.is_empty() {
            node.member = true;
        } else {
            node.below.insert(rest);
        }
    }

    pub(crate) fn insert_steps(&mut self, path: &[Step<'_>]) {
        let Some((first, rest)) = path.split_first() else { return };
        let node = self.node(first.element());
        if rest.is_empty() {
            node.member = true;
        } else {
            node.below.insert_steps(rest);
        }
    }

    /// A set of dotted field paths such as `metadata.name`.
    #[must_use]
    pub fn of_fields(paths: &[&str]) -> FieldSet {
        let mut set = FieldSet::default();
        for path in paths {
            let path: Vec<_> =
                path.split('.').map(|name| Element::Field(name.to_owned())).collect();
            set.insert(&path);
        }
        set
    }

    /// Members of either.
    #[must_use]
    pub fn union(mut self, other: &FieldSet) -> FieldSet {
        self.extend(other);
        self
    }

    pub(crate) fn extend(&mut self, other: &FieldSet) {
        if self.is_empty() {
            self.nodes.clone_from(&other.nodes);
            return;
        }
        for (element, node) in &other.nodes {
            let mine = self.node(element.clone());
            mine.member |= node.member;
            mine.below.extend(&node.below);
        }
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let both = |(element, mine): &(Element, Node)| {
            let it = other.get(element)?;
            let below = mine.below.intersection(&it.below);
            let node = Node { member: mine.member && it.member, below };
            (!node.is_empty()).then(|| (element.clone(), node))
        };
        match self.is_empty() || other.is_empty() {
            true => FieldSet::default(),
            false => FieldSet { nodes: self.nodes.iter().filter_map(both).collect() },
        }
    }

    fn subtract(&mut self, other: &FieldSet, reach: Reach) {
        if self.is_empty() || other.is_empty() {
            return;
        }
        self.nodes.retain_mut(|(element, mine)| {
            let Some(it) = other.get(element) else { return true };
            if it.member && reach == Reach::Below {
                return false;
            }
            mine.member &= !(it.member && reach == Reach::Members);
            mine.below.subtract(&it.below, reach);
            !mine.is_empty()
        });
    }

    /// Members that are not members of the other.
    #[must_use]
    pub fn difference(mut self, other: &FieldSet) -> FieldSet {
        self.subtract(other, Reach::Members);
        self
    }

    /// Like `difference`, and what is below a member of the other goes too.
    #[must_use]
    pub fn recursive_difference(mut self, other: &FieldSet) -> FieldSet {
        self.subtract(other, Reach::Below);
        self
    }

    /// Whether all members are members of the other.
    #[must_use]
    pub fn is_within(&self, other: &FieldSet) -> bool {
        self.nodes.iter().all(|(element, mine)| match other.get(element) {
            Some(it) => (!mine.member || it.member) && mine.below.is_within(&it.below),
            None => mine.is_empty(),
        })
    }

    /// All member paths, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<Element>> {
        fn walk(set: &FieldSet, path: &mut Vec<Element>, out: &mut Vec<Vec<Element>>) {
            for (element, node) in &set.nodes {
                path.push(element.clone());
                if node.member {
                    out.push(path.clone());
                }
                walk(&node.below, path, out);
                path.pop();
            }
        }
        let mut out = Vec::new();
        walk(self, &mut Vec::new(), &mut out);
        out
    }

    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.members())
    }

    fn members(&self) -> Map<String, Value> {
        let mut out = Map::with_capacity(self.nodes.len());
        for (element, node) in &self.nodes {
            let mut below = node.below.members();
            if node.member && !below.is_empty() {
                // A member that has members says so itself, first.
                below.shift_insert(0, ".".to_owned(), Value::Object(Map::new()));
            }
            out.insert(element.serialised(), Value::Object(below));
        }
        out
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// What is wrong with a key, or that it is no object.
    pub fn from_json(value: &Value) -> Result<FieldSet, String> {
        let Value::Object(fields) = value else {
            return Err("expected a map of fields".to_owned());
        };
        let mut set = FieldSet::default();
        for (key, below) in fields {
            if key == "." {
                continue;
            }
            let Some(element) = Element::parse(key)? else { continue };
            let read = FieldSet::from_json(below)?;
            let member = read.is_empty() || below.get(".").is_some();
            *set.node(element) = Node { member, below: read };
        }
        Ok(set)
    }
}
