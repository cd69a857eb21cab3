//! A schema as it is put together: what holds once, and what may be said several times.

use std::sync::Arc;

use crate::builtin::Datum;

/// Keys that stand first, in this order; the others follow by name.
const FIRST: [&str; 18] = [
    "description",
    "type",
    "format",
    "required",
    "properties",
    "minProperties",
    "maxProperties",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "items",
    "enum",
    "default",
];

type Entries = Vec<(Arc<str>, Datum)>;

/// What a schema says.
#[derive(Default)]
pub(super) struct Said {
    /// The name of its type; none if it has several.
    pub(super) kind: Option<&'static str>,
    /// It is a reference and nothing else.
    pub(super) reference: Option<Datum>,
    pub(super) properties: Entries,
    /// What holds of the whole.
    once: Entries,
    /// What each part adds.
    each: Vec<Entries>,
    /// Even one part stands in `allOf`.
    pub(super) apart: bool,
}

impl Said {
    /// A schema that is somewhere else.
    pub(super) fn named(name: &str) -> Self {
        Said { reference: Some(reference(name)), ..Said::default() }
    }

    /// What holds of the whole; said again it is as said last.
    pub(super) fn once(&mut self, key: &str, value: Datum) {
        put(&mut self.once, key, value);
    }

    /// What one part says: in `allOf` if another has said it already.
    pub(super) fn also(&mut self, key: &str, value: Datum) {
        let last = self
            .each
            .last_mut()
            .filter(|it| it.iter().all(|it| &*it.0 != key && !matches!(&*it.0, "$ref" | "not")));
        match last {
            Some(last) if key != "not" => last.push((key.into(), value)),
            _ => self.each.push(vec![(key.into(), value)]),
        }
    }

    /// Whether it is a struct in any case.
    pub(super) fn is_object(&self) -> bool {
        self.kind == Some("object") && !self.once.iter().any(|it| &*it.0 == "nullable")
    }

    /// Whether a part has said something.
    pub(super) fn is_said(&self) -> bool {
        !self.each.is_empty()
    }

    /// What stands somewhere else holds too.
    pub(super) fn refer(&mut self, name: &str) {
        self.each.push(vec![("$ref".into(), Datum::text(pointer(name)))]);
    }

    /// A property; one of the same name gives way.
    pub(super) fn property(&mut self, label: &Arc<str>, schema: Datum) {
        put(&mut self.properties, label, schema);
    }

    /// The same for the whole of another, which stands in its place.
    pub(super) fn absorb(&mut self, other: Said) {
        if let Some(Datum::Struct(fields)) = other.reference {
            self.each.push(fields.iter().cloned().collect());
            self.apart = true;
        }
        for (label, schema) in other.properties {
            self.property(&label, schema);
        }
        for (key, value) in other.once {
            // Of one that stands for the whole it is not known what it was written as.
            if &*key != "format" {
                self.once(&key, value);
            }
        }
        for entries in other.each {
            for (key, value) in entries {
                self.also(&key, value);
            }
        }
    }

    /// The schema with its keys in order.
    pub(super) fn into_datum(self) -> Datum {
        if let Some(reference) = self.reference {
            return reference;
        }
        let mut entries = Entries::new();
        if let Some(kind) = self.kind {
            entries.push(("type".into(), Datum::text(kind)));
        }
        entries.extend(self.once);
        if !self.properties.is_empty() {
            entries.push(("properties".into(), Datum::fields(self.properties)));
        }
        if self.each.len() == 1 && !self.apart {
            entries.extend(self.each.into_iter().flatten());
        } else if !self.each.is_empty() {
            let all = self.each.into_iter().map(Datum::fields).collect();
            entries.push(("allOf".into(), Datum::list(all)));
        }
        let rank = |key: &str| FIRST.iter().position(|it| *it == key).unwrap_or(FIRST.len());
        cue_sort::by(&mut entries, |left, right| {
            rank(&left.0).cmp(&rank(&right.0)).then_with(|| left.0.cmp(&right.0))
        });
        Datum::fields(entries)
    }
}

fn put(entries: &mut Entries, key: &str, value: Datum) {
    match entries.iter_mut().find(|it| &*it.0 == key) {
        Some(held) => held.1 = value,
        None => entries.push((key.into(), value)),
    }
}

fn pointer(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

fn reference(name: &str) -> Datum {
    Datum::fields(vec![("$ref".into(), Datum::text(pointer(name)))])
}
