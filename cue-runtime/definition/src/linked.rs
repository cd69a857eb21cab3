//! Names of fields in the result that mean another field there than in the sources: the field gets
//! an alias, or the name a `let` at the end (O-78).
//!
//! The official printer ties a name to the value that it finds under it. A field that is nothing
//! but a reference has the value of its target, so that a name of such a field is tied to the
//! target, and looks as if it meant something else.

use std::cell::RefCell;
use std::rc::Rc;

use cue_map::{Map, Set};

use crate::out::{Item, Out};
use crate::taken::Suffixed;

/// Behind a name in a text, before its number, until all names are known.
const MARK: &str = "__linked_";

/// The fields of a struct of the result.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    parent: Option<Rc<Frame>>,
    /// Labels that are names, and the numbers of these fields.
    labels: RefCell<Map<String, usize>>,
}

impl Frame {
    pub(crate) fn within(parent: Option<Rc<Frame>>) -> Rc<Self> {
        Rc::new(Self { parent, labels: RefCell::default() })
    }

    pub(crate) fn parent(&self) -> Option<Rc<Frame>> {
        self.parent.clone()
    }

    /// The fields of another one are in this one.
    pub(crate) fn take_in(&self, other: &Frame) {
        self.labels
            .borrow_mut()
            .extend(other.labels.borrow().iter().map(|(it, at)| (it.clone(), *at)));
    }

    /// Of several of one label the last is found.
    pub(crate) fn add(&self, label: &str, field: usize) {
        self.labels.borrow_mut().insert(label.to_owned(), field);
    }
}

/// A name in the result.
#[derive(Debug)]
struct Reference {
    name: String,
    frame: Option<Rc<Frame>>,
    /// The field that it is tied to, and its place.
    field: Option<(usize, String)>,
}

/// What is known of a place.
#[derive(Debug, Default)]
struct Known {
    printed: Option<usize>,
    /// Names that came before it was printed.
    waiting: Vec<usize>,
}

/// The names of a result.
#[derive(Debug, Default)]
pub(crate) struct Links {
    references: Vec<Reference>,
    places: Map<String, Known>,
    fields: usize,
}

impl Links {
    /// The number of one more field.
    pub(crate) fn field(&mut self) -> usize {
        self.fields += 1;
        self.fields
    }

    /// A name of a field: what stands for it in a text.
    pub(crate) fn name(&mut self, name: &str, place: &str, frame: Option<Rc<Frame>>) -> String {
        let number = self.references.len();
        let known = self.places.entry(place.to_owned()).or_default();
        let field = known.printed.map(|it| (it, place.to_owned()));
        if field.is_none() {
            known.waiting.push(number);
        }
        self.references.push(Reference { name: name.to_owned(), frame, field });
        format!("{name}{MARK}{number}__")
    }

    /// Whether something named what is in a place.
    pub(crate) fn is_named(&self, place: &str) -> bool {
        self.places.contains_key(place)
    }

    /// The field of a place was printed. Names after it are tied only if there was none before.
    pub(crate) fn printed(&mut self, place: &str, field: usize) {
        let Some(known) = self.places.get_mut(place) else {
            let known = Known { printed: Some(field), waiting: Vec::new() };
            self.places.insert(place.to_owned(), known);
            return;
        };
        for number in known.waiting.drain(..) {
            if let Some(reference) = self.references.get_mut(number) {
                reference.field = Some((field, place.to_owned()));
            }
        }
    }

    /// Names for all marks, in the order of the texts; fields that need an alias get it.
    pub(crate) fn settle(&self, parts: &mut [Out; 2]) -> ([String; 2], Vec<String>) {
        let texts = parts.each_ref().map(Out::fields);
        if self.references.is_empty() {
            return (texts, Vec::new());
        }
        let text = texts.concat();
        let mut names = Suffixed::default();
        let mut chosen: Map<usize, String> = Map::default();
        let mut aliases: Map<String, String> = Map::default();
        let mut lets = Vec::new();
        each_mark(&text, |number| {
            let Some(reference) = self.references.get(number) else { return };
            let name = match self.meaning(reference) {
                Meaning::Itself => reference.name.clone(),
                Meaning::Captured(place) => {
                    let known = aliases.entry(place);
                    known.or_insert_with(|| names.unique(&reference.name)).clone()
                }
                Meaning::Other => {
                    let name = names.unique(&reference.name);
                    lets.push(format!("let {name} = {}", reference.name));
                    name
                }
            };
            chosen.insert(number, name);
        });
        // A struct that is an operand is text already: nothing in it gets an alias.
        let mut lost = Set::default();
        for (place, alias) in &aliases {
            if !parts.iter_mut().any(|it| add_alias(it, place, alias)) {
                lost.insert(alias.clone());
            }
        }
        let texts = if aliases.is_empty() { texts } else { parts.each_ref().map(Out::fields) };
        let name = |number: usize| match chosen.get(&number) {
            Some(alias) if lost.contains(alias) => self.references.get(number).map(|it| &*it.name),
            known => known.map(String::as_str),
        };
        (texts.map(|it| without_marks(&it, name)), lets)
    }

    fn meaning(&self, reference: &Reference) -> Meaning {
        let Some((field, place)) = &reference.field else { return Meaning::Itself };
        let mut next = reference.frame.as_ref();
        let mut first = true;
        while let Some(frame) = next {
            if let Some(there) = frame.labels.borrow().get(&reference.name) {
                match (there == field, first) {
                    (true, true) => return Meaning::Itself,
                    (true, false) => return Meaning::Captured(place.clone()),
                    (false, _) => first = false,
                }
            }
            next = frame.parent.as_ref();
        }
        if first { Meaning::Itself } else { Meaning::Other }
    }
}

/// What a name of the result is.
enum Meaning {
    /// It means what it should.
    Itself,
    /// A field further in has the same name.
    Captured(String),
    /// No field around it is the one it is tied to.
    Other,
}

/// Marks of a text as names.
pub(crate) fn without_marks<'a>(text: &str, name: impl Fn(usize) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, number, after)) = next_mark(rest) {
        let start = before.rfind(|it| !is_letter(it)).map_or(0, |at| at + width(before, at));
        match name(number) {
            Some(name) => {
                out.push_str(before.get(..start).unwrap_or_default());
                out.push_str(name);
            }
            None => out.push_str(before),
        }
        rest = after;
    }
    out + rest
}

fn is_letter(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '#' | '$')
}

fn width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8)
}

fn each_mark(text: &str, mut visit: impl FnMut(usize)) {
    let mut rest = text;
    while let Some((_, number, after)) = next_mark(rest) {
        visit(number);
        rest = after;
    }
}

/// The text before the next mark, its number, the text behind it.
fn next_mark(text: &str) -> Option<(&str, usize, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(MARK)?;
        let rest = text.get(at + MARK.len()..)?;
        let digits = rest.find(|it: char| !it.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        match (number.parse(), after.strip_prefix("__")) {
            (Ok(number), Some(after)) => return Some((text.get(..at)?, number, after)),
            _ => from = at + MARK.len(),
        }
    }
}

/// `alias=` before the label of a field.
fn add_alias(out: &mut Out, place: &str, alias: &str) -> bool {
    let Out::Struct(items) = out else { return false };
    items.iter_mut().any(|item| match item {
        Item::Field(field) if field.place.as_deref() == Some(place) => {
            field.label = format!("{alias}={}", field.label);
            true
        }
        Item::Field(field) => add_alias(&mut field.value, place, alias),
        Item::Embed(it) | Item::Hoisted { value: it, .. } => add_alias(it, place, alias),
        Item::Attribute(_) | Item::Let(..) | Item::Ellipsis(_) | Item::Comprehension { .. } => {
            false
        }
    })
}
