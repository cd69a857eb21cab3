//! A schema as data: its values in one arena, each with the place it is told by and the white space before that.

use std::collections::HashMap;
use std::sync::Arc;

use cue_builtin::Datum;
use cue_builtin::encode::{Entry, Tree};
use cue_builtin::number::{Number, NumberKind};
use cue_syntax::tree::Distance;

use super::kinds::Kinds;

/// A value of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u32);

/// Which form of text the data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Another one, of which the lines do not count.
    Other,
}

/// Data that says what a schema is.
pub struct Document<'a> {
    /// Its pieces.
    pub tree: &'a Tree,
    /// The file that they are from.
    pub file: &'a [u8],
    /// Its form.
    pub form: Form,
    /// How a scalar that begins there is spelled in CUE as an element of a list.
    pub spelled: &'a dyn Fn(&Datum, u32) -> String,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Field(Arc<str>),
    Element(usize),
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    String(Arc<str>),
    /// Bytes, as CUE spells them.
    Bytes(String),
    List(Vec<Id>),
    Struct(Vec<(Arc<str>, Id)>),
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Byte in the file: of a field its label, else the value itself.
    pub(crate) at: u32,
    /// White space before that.
    pub(crate) distance: Distance,
    pub(crate) content: Content,
    /// As the file spells it, of an element of a list.
    pub(crate) spelled: Option<Box<str>>,
    parent: Option<(Id, Step)>,
}

/// All values of a document.
#[derive(Debug, Default)]
pub(crate) struct Data {
    values: Vec<Value>,
    /// Fields of structs that have many.
    fields: HashMap<(Id, Arc<str>), Id>,
}

/// From how many fields on a struct is looked up in a table.
const MANY: usize = 16;

impl std::ops::Index<Id> for Data {
    type Output = Value;

    fn index(&self, id: Id) -> &Value {
        &self.values[id.0 as usize]
    }
}

impl Data {
    /// The outermost value.
    pub(crate) const ROOT: Id = Id(0);

    /// The values of a document, the first of which is the whole.
    pub(crate) fn read(document: &Document<'_>) -> Self {
        let mut reader = Reader::new(document);
        for number in 0..document.tree.entries.len() {
            reader.entry(number);
        }
        let mut data = reader.data;
        if data.values.is_empty() {
            data.add(0, Distance::Absent, Content::Null, None);
        }
        // The whole is told where its first field is.
        if let Some((_, first)) = data.fields_of(Self::ROOT).first() {
            data.values[0].at = data[*first].at;
        }
        data
    }

    fn add(
        &mut self,
        at: u32,
        distance: Distance,
        content: Content,
        parent: Option<(Id, Step)>,
    ) -> Id {
        self.values.push(Value { at, distance, content, spelled: None, parent });
        Id((self.values.len() - 1) as u32)
    }

    /// The fields of a struct, in order; of anything else none.
    pub(crate) fn fields_of(&self, id: Id) -> &[(Arc<str>, Id)] {
        match &self[id].content {
            Content::Struct(fields) => fields,
            _ => &[],
        }
    }

    /// The elements of a list; of anything else none.
    pub(crate) fn elements_of(&self, id: Id) -> &[Id] {
        match &self[id].content {
            Content::List(elements) => elements,
            _ => &[],
        }
    }

    /// A field of a struct.
    pub(crate) fn field(&self, id: Id, label: &str) -> Option<Id> {
        let fields = self.fields_of(id);
        match fields.len() > MANY {
            true => self.fields.get(&(id, Arc::from(label))).copied(),
            false => fields.iter().find(|it| &*it.0 == label).map(|it| it.1),
        }
    }

    /// The list or struct that a value is directly in.
    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        self[id].parent.as_ref().map(|it| it.0)
    }

    /// The text that a value is.
    pub(crate) fn text(&self, id: Id) -> Option<&Arc<str>> {
        match &self[id].content {
            Content::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn kind(&self, id: Id) -> Kinds {
        match &self[id].content {
            Content::Null => Kinds::NULL,
            Content::Bool(_) => Kinds::BOOL,
            Content::Number(number) if number.kind() == NumberKind::Int => Kinds::INT,
            Content::Number(_) => Kinds::FLOAT,
            Content::String(_) => Kinds::STRING,
            Content::Bytes(_) => Kinds::BYTES,
            Content::List(_) => Kinds::LIST,
            Content::Struct(_) => Kinds::STRUCT,
        }
    }

    /// How to come to a value from one that it is in, or is.
    pub(crate) fn path(&self, id: Id, from: Id) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = id;
        while at != from {
            let Some((parent, step)) = &self[at].parent else { break };
            steps.push(step.clone());
            at = *parent;
        }
        steps.reverse();
        steps
    }
}

/// A list or struct that is being read.
struct Open {
    id: Id,
    /// The white space within it does not count.
    free: bool,
    /// It goes over several lines.
    several: bool,
    /// The label that was read, with its place and distance.
    label: Option<(Arc<str>, u32, Distance)>,
}

struct Reader<'a> {
    document: &'a Document<'a>,
    shapes: Vec<Shape>,
    data: Data,
    open: Vec<Open>,
    /// Where the piece before began.
    before: u32,
}

/// What is known of a list or struct from its text.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Beyond that length lines do not count.
    large: bool,
    /// White space stands before one of its parts.
    spaced: bool,
    /// Its last part begins on a later line.
    several: bool,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document<'a>) -> Self {
        let shapes = shapes(document);
        Self { document, shapes, data: Data::default(), open: Vec::new(), before: 0 }
    }

    fn entry(&mut self, number: usize) {
        let Some((entry, offset)) = self.document.tree.entries.get(number) else { return };
        let offset = *offset;
        match entry {
            Entry::End => {
                self.open.pop();
            }
            Entry::Key(label) => {
                let distance = self.distance(offset, None);
                let quoted = self.document.file.get(offset as usize) == Some(&b'"');
                let inside = self.document.form == Form::Json && quoted && is_bare(label);
                let at = offset + u32::from(inside);
                if let Some(it) = self.open.last_mut() {
                    it.label = Some((label.clone(), at, distance));
                }
            }
            Entry::Scalar(datum) => {
                let content = match datum {
                    Datum::Bool(it) => Content::Bool(*it),
                    Datum::Number(it) => Content::Number(it.clone()),
                    Datum::String(it) => Content::String(it.to_string().into()),
                    Datum::Bytes(_) => Content::Bytes(datum.literal()),
                    _ => Content::Null,
                };
                let element = self.open.last().is_some_and(|it| it.label.is_none());
                let id = self.put(offset, content, number);
                if element {
                    let spelled = (self.document.spelled)(datum, offset);
                    self.data.values[id.0 as usize].spelled = Some(spelled.into());
                }
            }
            Entry::List => self.begin(number, offset, Content::List(Vec::new())),
            Entry::Struct => self.begin(number, offset, Content::Struct(Vec::new())),
        }
        self.before = offset.max(self.before);
    }

    fn begin(&mut self, number: usize, offset: u32, content: Content) {
        let id = self.put(offset, content, number);
        let shape = self.shapes.get(number).copied().unwrap_or_default();
        let free = shape.large || !shape.spaced;
        self.open.push(Open { id, free, several: shape.several, label: None });
    }

    /// Adds a value to what is open.
    fn put(&mut self, offset: u32, content: Content, number: usize) -> Id {
        let own = self.distance(offset, Some(number));
        let Some(open) = self.open.last_mut() else {
            return self.data.add(offset, Distance::Absent, content, None);
        };
        let parent = open.id;
        let Some((label, at, distance)) = open.label.take() else {
            let count = self.data.elements_of(parent).len();
            let step = Step::Element(count);
            let id = self.data.add(offset, own, content, Some((parent, step)));
            if let Content::List(elements) = &mut self.data.values[parent.0 as usize].content {
                elements.push(id);
            }
            return id;
        };
        // What is said twice must be the same; structs come together.
        let there = match &self.data.values[parent.0 as usize].content {
            Content::Struct(fields) if fields.len() <= MANY => {
                fields.iter().find(|it| it.0 == label).map(|it| it.1)
            }
            Content::Struct(_) => self.data.fields.get(&(parent, label.clone())).copied(),
            _ => None,
        };
        if let Some(there) = there {
            return there;
        }
        let step = Step::Field(label.clone());
        let id = self.data.add(at, distance, content, Some((parent, step)));
        if let Content::Struct(fields) = &mut self.data.values[parent.0 as usize].content {
            fields.push((label.clone(), id));
            if fields.len() == MANY + 1 {
                let all: Vec<_> = fields.clone();
                self.data.fields.extend(all.into_iter().map(|it| ((parent, it.0), it.1)));
            } else if fields.len() > MANY {
                self.data.fields.insert((parent, label), id);
            }
        }
        id
    }

    /// The white space before a label, or before the value of an entry, as far as it counts.
    fn distance(&self, offset: u32, value: Option<usize>) -> Distance {
        let Some(open) = self.open.last() else { return Distance::Absent };
        let shape = value.and_then(|it| self.shapes.get(it)).copied();
        let nested = value.is_some_and(|it| self.is_nested(it));
        match self.document.form {
            Form::Other => Distance::Absent,
            Form::Json => {
                // A list or struct decides of itself whether lines count.
                let free = match shape.filter(|_| nested) {
                    Some(own) => own.large || !own.spaced,
                    None => open.free,
                };
                if free { Distance::Absent } else { before(self.document.file, offset) }
            }
            Form::Yaml if nested => Distance::Space,
            Form::Yaml if open.several => Distance::Line,
            Form::Yaml => {
                let range = self.before as usize..offset as usize;
                let between = self.document.file.get(range).unwrap_or_default();
                match between.iter().filter(|it| **it == b'\n').count() {
                    0 => Distance::Space,
                    1 => Distance::Line,
                    _ => Distance::Gap,
                }
            }
        }
    }

    fn is_nested(&self, number: usize) -> bool {
        let entry = self.document.tree.entries.get(number).map(|it| &it.0);
        matches!(entry, Some(Entry::List | Entry::Struct))
    }
}

/// The white space before a byte of JSON.
fn before(file: &[u8], offset: u32) -> Distance {
    let text = file.get(..offset as usize).unwrap_or_default();
    let white = text.iter().rev().take_while(|it| it.is_ascii_whitespace());
    let (mut any, mut lines) = (false, 0);
    for byte in white {
        any = true;
        lines += u32::from(*byte == b'\n');
    }
    match (any, lines) {
        (false, _) => Distance::None,
        (true, 0) => Distance::Space,
        (true, 1) => Distance::Line,
        (true, _) => Distance::Gap,
    }
}

/// The shape of each list and struct, by the place of its entry.
fn shapes(document: &Document<'_>) -> Vec<Shape> {
    let entries = &document.tree.entries;
    let mut found = vec![Shape::default(); entries.len()];
    let mut open: Vec<usize> = Vec::new();
    let ends = document.file.iter().enumerate().filter(|it| *it.1 == b'\n');
    let ends: Vec<usize> = ends.map(|it| it.0).collect();
    let line = |offset: u32| ends.partition_point(|it| *it < offset as usize);
    for (number, (entry, offset)) in entries.iter().enumerate() {
        if let Entry::End = entry {
            let Some(at) = open.pop() else { continue };
            let start = entries.get(at).map_or(0, |it| it.1);
            if let Some(it) = found.get_mut(at) {
                it.large = offset.saturating_sub(start) >= 50;
            }
            continue;
        }
        let white = before(document.file, *offset) != Distance::None;
        if let Some(at) = open.last() {
            let start = entries.get(*at).map_or(0, |it| it.1);
            if let Some(it) = found.get_mut(*at) {
                it.spaced |= white;
                it.several = line(*offset) > line(start);
            }
        }
        if matches!(entry, Entry::List | Entry::Struct) {
            open.push(number);
        }
    }
    found
}

/// Whether a label needs no quotes.
fn is_bare(label: &str) -> bool {
    !label.starts_with(['#', '_']) && is_name(label)
}

/// Whether a text can be a name in CUE.
pub(crate) fn is_name(text: &str) -> bool {
    let rest = text.strip_prefix('_').unwrap_or(text);
    let hash = rest.strip_prefix('#').unwrap_or(rest);
    if text.is_empty() || hash.starts_with(|it: char| it.is_numeric()) {
        return false;
    }
    hash.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$'))
}
