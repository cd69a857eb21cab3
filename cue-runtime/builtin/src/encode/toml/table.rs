//! Tables of a TOML document while it is read: fields in order, each what its headers and keys make of it.

use std::sync::Arc;

use crate::Datum;
use crate::encode::DecodeError;
use crate::quoting;

/// A table while it is read.
#[derive(Default)]
pub(super) struct Table {
    pub(super) fields: Vec<Field>,
    /// Where it stands; 0 for one that has a header.
    pub(super) place: u32,
}

pub(super) struct Field {
    label: Arc<str>,
    node: Node,
    /// Where the label stands.
    pub(super) place: u32,
}

enum Node {
    Value(Datum, u32),
    Table(Table),
    Tables(Vec<Table>),
}

pub(super) const DUPLICATE: &str = "duplicate key: ";

/// A part of a key, and where it stands.
pub(super) type Part = (Arc<str>, u32);

pub(super) fn joined(path: &[Part], between: &str) -> String {
    path.iter().map(|it| &*it.0).collect::<Vec<&str>>().join(between)
}

impl Table {
    pub(super) fn into_datum(self, base: u32) -> Datum {
        let mut fields = Vec::with_capacity(self.fields.len());
        let mut places = Vec::new();
        for Field { label, node, place } in self.fields {
            let (value, at) = match node {
                Node::Value(value, at) => (value, at),
                Node::Table(table) => {
                    let at = table.place;
                    (table.into_datum(base), at)
                }
                Node::Tables(tables) => {
                    let tables: Vec<Datum> =
                        tables.into_iter().map(|it| it.into_datum(base)).collect();
                    let places = vec![0; tables.len()].into_boxed_slice();
                    (Datum::placed_list(tables, (base != 0).then_some(places)), 0)
                }
            };
            fields.push((label, value));
            if base != 0 {
                places.extend([place, at]);
            }
        }
        Datum::placed_fields(fields, (base != 0).then(|| places.into_boxed_slice()))
    }

    fn field(&mut self, label: &str) -> Option<&mut Field> {
        self.fields.iter_mut().rfind(|it| *it.label == *label)
    }

    pub(super) fn duplicate(&self, offset: usize, path: &[Part]) -> DecodeError {
        DecodeError { message: format!("{DUPLICATE}{}", self.named(path)), offset }
    }

    /// A path as messages have it, with which of a list it is.
    pub(super) fn named(&self, path: &[Part]) -> String {
        let mut table = Some(self);
        let mut names = Vec::new();
        for (at, (label, _)) in path.iter().enumerate() {
            names.push(quoting::label(label));
            let node = table.and_then(|it| it.fields.iter().rfind(|it| it.label == *label));
            table = match node.map(|it| &it.node) {
                Some(Node::Table(inner)) => Some(inner),
                Some(Node::Tables(list)) => {
                    let within = at + 1 < path.len();
                    names.extend(within.then(|| list.len().saturating_sub(1).to_string()));
                    list.last()
                }
                Some(Node::Value(..)) | None => None,
            };
        }
        names.join(".")
    }

    /// Whether a value is at the path.
    pub(super) fn has_value(&mut self, path: &[Part]) -> bool {
        matches!(self.at(path), Some(Node::Value(..)))
    }

    /// Whether a list of tables is at the path.
    pub(super) fn has_tables(&mut self, path: &[Part]) -> bool {
        matches!(self.at(path), Some(Node::Tables(_)))
    }

    /// What is at the path.
    fn at(&mut self, path: &[Part]) -> Option<&Node> {
        let (last, outer) = path.split_last()?;
        let mut table = self;
        for (label, _) in outer {
            table = match table.field(label).map(|it| &mut it.node) {
                Some(Node::Table(inner)) => inner,
                Some(Node::Tables(list)) => list.last_mut()?,
                Some(Node::Value(..)) | None => return None,
            };
        }
        table.field(&last.0).map(|it| &it.node)
    }

    /// The table at the path, made if it is not there; the last of a list of tables.
    ///
    /// One that is made stands where the next part of the path does, the last one at `last`, where that is of a value's key.
    pub(super) fn enter(&mut self, path: &[Part], last: Option<u32>) -> Option<&mut Table> {
        let mut table = self;
        for (index, (label, place)) in path.iter().enumerate() {
            let known = table.fields.iter().rposition(|it| it.label == *label);
            // What the key of a value passes is a table beside what else there is.
            let beside =
                |at: &usize| last.is_some() && matches!(table.fields[*at].node, Node::Value(..));
            let at = match known.filter(|it| !beside(it)) {
                Some(at) => at,
                None => {
                    let next = path.get(index + 1).map_or(last.unwrap_or(0), |it| it.1);
                    let inner = Table { fields: Vec::new(), place: next };
                    let node = Node::Table(inner);
                    table.fields.push(Field { label: label.clone(), node, place: *place });
                    table.fields.len() - 1
                }
            };
            table = match &mut table.fields.get_mut(at)?.node {
                Node::Table(inner) => inner,
                Node::Tables(list) => list.last_mut()?,
                Node::Value(..) => return None,
            };
        }
        Some(table)
    }

    /// Appends a table to the list at the path.
    pub(super) fn append(&mut self, path: &[Part]) -> bool {
        let Some(((label, place), outer)) = path.split_last() else { return false };
        let Some(table) = self.enter(outer, None) else { return false };
        match table.field(label).map(|it| &mut it.node) {
            Some(Node::Tables(list)) => list.push(Table::default()),
            Some(_) => return false,
            None => {
                let node = Node::Tables(vec![Table::default()]);
                table.fields.push(Field { label: label.clone(), node, place: *place });
            }
        }
        true
    }

    pub(super) fn put(&mut self, key: &[Part], value: Datum, at: u32) -> bool {
        let Some(((label, place), outer)) = key.split_last() else { return false };
        let Some(table) = self.enter(outer, Some(*place)) else { return false };
        if table.field(label).is_some() {
            return false;
        }
        let node = Node::Value(value, at);
        table.fields.push(Field { label: label.clone(), node, place: *place });
        true
    }
}
