//! Values with their comments, as patches see them.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Path and CUE text of a value that is no data.
pub type NotData = (Vec<String>, String);

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer, as CUE writes it.
    Int(String),
    /// Another number, as CUE writes it.
    Float(String),
    /// A string.
    String(Arc<str>),
    /// Fields in order.
    Struct(Vec<Field>),
    /// Elements in order.
    List {
        /// The elements.
        items: Vec<Tree>,
        /// What may follow them.
        rest: Rest,
    },
    /// Not concrete, or of another kind: CUE text.
    Cue(String),
    /// An error: CUE's words.
    Bottom(String),
}

/// What may follow the elements of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Rest {
    /// Nothing: the length is fixed.
    Nothing,
    /// Anything (`...`).
    Anything,
    /// What each of these values then holds too (`...T`): concrete.
    Each(Box<Tree>),
}

/// A field and the comments above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its label without quotes; `#D` and `_h` keep their prefix.
    pub label: Arc<str>,
    /// `?`, `!` or nothing.
    pub marker: &'static str,
    /// Lines of its doc comment without `//`.
    pub docs: Vec<String>,
    /// An empty line stands above them.
    pub apart: bool,
    /// Its value.
    pub value: Tree,
}

impl Field {
    /// A regular field without comments.
    pub fn new(label: impl Into<Arc<str>>, value: Tree) -> Self {
        Self { label: label.into(), marker: "", docs: Vec::new(), apart: false, value }
    }

    fn write(&self, out: &mut String, depth: usize) {
        for line in &self.docs {
            let _ = write!(out, "// {}", line.trim());
            newline(out, depth);
        }
        let bare = self.label.starts_with(['#', '_']) || is_identifier(&self.label);
        if bare {
            out.push_str(&self.label);
        } else {
            out.push_str(&quoted(&self.label));
        }
        out.push_str(self.marker);
        out.push_str(": ");
        self.value.write(out, depth);
    }

    /// Whether JSON has it.
    pub fn is_data(&self) -> bool {
        self.marker.is_empty() && !self.label.starts_with(['_', '#'])
    }
}

impl Tree {
    /// A value without comments.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Tree::Null,
            Value::Bool(it) => Tree::Bool(*it),
            Value::Number(it) => {
                let text = it.to_string();
                if it.is_f64() { Tree::Float(text) } else { Tree::Int(text) }
            }
            Value::String(it) => Tree::String(it.as_str().into()),
            Value::Array(items) => Tree::List {
                items: items.iter().map(Self::from_json).collect(),
                rest: Rest::Nothing,
            },
            Value::Object(map) => Tree::Struct(
                map.iter()
                    .map(|(label, it)| Field::new(label.as_str(), Self::from_json(it)))
                    .collect(),
            ),
        }
    }

    /// As data; an error names the path and text of what is none.
    ///
    /// # Errors
    /// The path and CUE text of the first value that is not concrete.
    pub fn to_json(&self) -> Result<Value, NotData> {
        Ok(match self {
            Tree::Null => Value::Null,
            Tree::Bool(it) => Value::Bool(*it),
            Tree::Int(text) | Tree::Float(text) => number(text),
            Tree::String(it) => Value::String(it.to_string()),
            Tree::List { items, .. } => {
                let mut all = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    all.push(below(&index.to_string(), item.to_json())?);
                }
                Value::Array(all)
            }
            Tree::Struct(fields) => {
                let mut map = Map::new();
                for field in fields.iter().filter(|it| it.is_data()) {
                    map.insert(
                        field.label.to_string(),
                        below(&field.label, field.value.to_json())?,
                    );
                }
                Value::Object(map)
            }
            Tree::Cue(text) | Tree::Bottom(text) => return Err((Vec::new(), text.clone())),
        })
    }

    /// Leaves what JSON has: data in plain numbers, no comments.
    ///
    /// # Errors
    /// As of [`Tree::to_json`].
    pub fn strip(&mut self) -> Result<(), NotData> {
        match self {
            Tree::Null | Tree::Bool(_) | Tree::String(_) => {}
            Tree::Int(text) if is_short(text) => {}
            Tree::Int(text) | Tree::Float(text) => *self = Self::from_json(&number(text)),
            Tree::List { items, rest } => {
                for (index, item) in items.iter_mut().enumerate() {
                    below(&index.to_string(), item.strip())?;
                }
                *rest = Rest::Nothing;
            }
            Tree::Struct(fields) => {
                fields.retain(Field::is_data);
                for Field { label, docs, apart, value, .. } in fields {
                    docs.clear();
                    *apart = false;
                    below(label, value.strip())?;
                }
            }
            Tree::Cue(text) | Tree::Bottom(text) => return Err((Vec::new(), text.clone())),
        }
        Ok(())
    }

    /// Sorts the fields of every struct by name.
    pub(crate) fn sort(&mut self) {
        match self {
            Tree::Struct(fields) => {
                cue_sort::by(fields, |one, other| one.label.cmp(&other.label));
                fields.iter_mut().for_each(|it| it.value.sort());
            }
            Tree::List { items, .. } => items.iter_mut().for_each(Tree::sort),
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => {}
        }
    }

    /// As JSON text, if all of it is data.
    pub fn json_text(&self) -> Option<String> {
        let mut out = String::new();
        self.write_json(&mut out)?;
        Some(out)
    }

    fn write_json(&self, out: &mut String) -> Option<()> {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Tree::Int(text) | Tree::Float(text) => {
                if is_short(text) {
                    out.push_str(text);
                } else {
                    let _ = write!(out, "{}", number(text));
                }
            }
            Tree::String(it) => write_string(out, it),
            Tree::List { items, .. } => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out)?;
                }
                out.push(']');
            }
            Tree::Struct(fields) => {
                out.push('{');
                for (index, field) in fields.iter().filter(|it| it.is_data()).enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, &field.label);
                    out.push(':');
                    field.value.write_json(out)?;
                }
                out.push('}');
            }
            Tree::Cue(_) | Tree::Bottom(_) => return None,
        }
        Some(())
    }

    /// Whether there is nothing in it that only an evaluator understands.
    pub fn is_ground(&self) -> bool {
        match self {
            Tree::Cue(_) | Tree::Bottom(_) => false,
            Tree::Struct(fields) => fields.iter().all(|it| it.value.is_ground()),
            Tree::List { items, .. } => items.iter().all(Tree::is_ground),
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::String(_) => true,
        }
    }

    /// Opens every list, at any depth.
    pub(crate) fn open_lists(&mut self) {
        match self {
            Tree::List { items, rest } => {
                if *rest == Rest::Nothing {
                    *rest = Rest::Anything;
                }
                items.iter_mut().for_each(Tree::open_lists);
            }
            Tree::Struct(fields) => fields.iter_mut().for_each(|it| it.value.open_lists()),
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => {}
        }
    }

    /// Comments on a struct of one field stand above that field, as CUE prints `a: b: c`.
    pub(crate) fn lower_docs(&mut self) {
        match self {
            Tree::Struct(fields) => {
                for field in fields {
                    if let Tree::Struct(inner) = &mut field.value {
                        if let [only] = inner.as_mut_slice() {
                            let mut docs = std::mem::take(&mut field.docs);
                            if !docs.is_empty() {
                                only.apart = std::mem::take(&mut field.apart);
                            }
                            docs.append(&mut only.docs);
                            only.docs = docs;
                        }
                    }
                    field.value.lower_docs();
                }
            }
            Tree::List { items, .. } => items.iter_mut().for_each(Tree::lower_docs),
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => {}
        }
    }

    /// What stands at labels and indices; `None` if there is nothing.
    pub(crate) fn at_mut(&mut self, path: &[Arc<str>]) -> Option<&mut Tree> {
        let Some((label, rest)) = path.split_first() else { return Some(self) };
        let inner = match self {
            Tree::Struct(fields) => {
                fields.iter_mut().find(|it| *it.label == **label).map(|it| &mut it.value)
            }
            Tree::List { items, .. } => {
                label.parse::<usize>().ok().and_then(|index| items.get_mut(index))
            }
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => None,
        };
        inner?.at_mut(rest)
    }

    /// What stands at a dotted path below.
    pub(crate) fn at<'a>(&'a self, path: &str) -> Option<&'a Tree> {
        path.split('.').try_fold(self, |tree, label| match tree {
            Tree::Struct(fields) => {
                fields.iter().find(|it| *it.label == *label).map(|it| &it.value)
            }
            Tree::List { items, .. } => label.parse::<usize>().ok().and_then(|at| items.get(at)),
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => None,
        })
    }

    /// The fields of a struct as a CUE file has them; another value as an expression.
    pub fn to_cue_fields(&self) -> String {
        let Tree::Struct(fields) = self else { return self.to_cue() };
        let mut out = String::new();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 && field.apart {
                out.push('\n');
            }
            field.write(&mut out, 0);
            out.push('\n');
        }
        out
    }

    /// As a CUE expression, comments included.
    pub fn to_cue(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Tree::Int(text) | Tree::Float(text) | Tree::Cue(text) => out.push_str(text),
            Tree::String(text) if text.contains('\n') => block(text, depth, out),
            Tree::String(text) => out.push_str(&quoted(text)),
            Tree::Bottom(_) => out.push_str("_|_"),
            Tree::Struct(fields) if fields.is_empty() => out.push_str("{}"),
            Tree::Struct(fields) => {
                out.push('{');
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 && field.apart {
                        out.push('\n');
                    }
                    newline(out, depth + 1);
                    field.write(out, depth + 1);
                }
                newline(out, depth);
                out.push('}');
            }
            Tree::List { items, rest } => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    item.write(out, depth);
                }
                if *rest != Rest::Nothing {
                    out.push_str(if items.is_empty() { "..." } else { ", ..." });
                }
                if let Rest::Each(each) = rest {
                    each.write(out, depth);
                }
                out.push(']');
            }
        }
    }

    /// In few words, for messages: as CUE prints values in errors.
    pub(crate) fn short(&self) -> String {
        match self {
            Tree::Struct(fields) => {
                let inner: Vec<String> = fields
                    .iter()
                    .map(|it| format!("{}{}:{}", it.label, it.marker, it.value.short()))
                    .collect();
                format!("{{{}}}", inner.join(","))
            }
            Tree::List { items, rest } => {
                let mut inner: Vec<String> = items.iter().map(Tree::short).collect();
                match rest {
                    Rest::Nothing => {}
                    Rest::Anything => inner.push("...".into()),
                    Rest::Each(each) => inner.push(format!("...{}", each.short())),
                }
                format!("[{}]", inner.join(","))
            }
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::String(_)
            | Tree::Cue(_)
            | Tree::Bottom(_) => self.to_cue(),
        }
    }
}

/// What is no data, as seen from one level up.
fn below<T>(label: &str, result: Result<T, NotData>) -> Result<T, NotData> {
    result.map_err(|(mut path, text)| {
        path.insert(0, label.to_owned());
        (path, text)
    })
}

fn newline(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n('\t', depth));
}

/// A string of several lines, indented like what follows it.
fn block(text: &str, depth: usize, out: &mut String) {
    out.push_str("\"\"\"");
    for line in text.split('\n') {
        newline(out, depth + 1);
        let line = quoted(line);
        // Quotes need no escape here, but three of them would end it.
        out.push_str(&line[1..line.len() - 1]);
    }
    newline(out, depth + 1);
    out.push_str("\"\"\"");
}

fn is_identifier(label: &str) -> bool {
    label.starts_with(|it: char| it.is_alphabetic() || it == '$')
        && label.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
}

/// A CUE string: JSON's escapes are CUE's.
fn quoted(text: &str) -> String {
    Value::String(text.into()).to_string()
}

fn write_string(out: &mut String, text: &str) {
    let plain = text.bytes().all(|it| it >= b' ' && it != b'"' && it != b'\\');
    if plain {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        let _ = write!(out, "{}", Value::from(text));
    }
}

/// Digits that JSON writes in the same way.
fn is_short(text: &str) -> bool {
    text.len() < 19 && text.bytes().all(|it| it.is_ascii_digit())
}

fn number(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(Value::is_number)
        .or_else(|| {
            text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
        })
        .unwrap_or(Value::Null)
}
