//! A value as JSON Schema.
//!
//! ~~~text
//! value of a session ─values, structs, lists, calls─▶ items ─simplified─▶ items ─schema, names─▶ CUE that is the schema
//! ~~~
//! What a schema says follows how a value is written, not only what it is: `int & >5` are two demands, and what refers
//! to a place refers to a schema of it. A session tells that of any value, one operator and its operands at a time
//! ([`cue_session::Composition`]); operands have handles, by which their kinds, fields and texts are asked for as those
//! of any field are. So the evaluator does not know of JSON Schema, and nothing here knows of syntax trees: they would
//! have to be resolved once more, without what only evaluation finds (fields of loops, closed structs, kinds).
//!
//! Invariants
//! 1. A place that is referred to is described once, under `$defs`; so recursion ends.
//! 2. What JSON Schema has no word for demands nothing; what cannot be looked at is an error.

mod calls; // functions and validators
mod item; // what a schema says
mod lists; // elements
mod names; // names under `$defs`
mod numbers; // numbers as they are written
mod scalars; // what keywords have
mod schema; // what is written
mod simplified; // fewer items
mod structs; // fields, patterns, closedness
mod values; // what is looked at: values of a session

use std::collections::BTreeMap;
use std::rc::Rc;

use cue_session::Session;

use crate::generate::item::{Item, Target};
use crate::generate::names::names;
use crate::generate::schema::{Schema, Writer, object, text};
use crate::generate::simplified::simplified;
use crate::generate::values::{Mode, Walk};

/// The dialect that is written.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Whether what is closed says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closing {
    /// With `additionalProperties: false`.
    #[default]
    Told,
    /// Not at all: only `...` is told.
    Left,
}

/// Why there is no schema.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What cannot be described, each in words of its own.
    #[error("{}", .0.join("; "))]
    Wrong(Vec<String>),
    /// The session has no answer.
    #[error(transparent)]
    Session(#[from] cue_session::Error),
}

/// The schema of the value at a path, as CUE whose fields are the keywords. `comment` is what is said of the whole
/// where that has no comment of its own: that of its files.
///
/// # Errors
/// What cannot be described.
pub fn schema(
    session: &mut Session,
    path: &str,
    comment: &str,
    closing: Closing,
) -> Result<String, Error> {
    let mut walk = Walk::new(session, closing);
    let value = walk.composition(path)?;
    let comment = if comment.is_empty() { &value.docs } else { comment };
    let root = match (value.operator, value.target.is_none()) {
        // Nothing is there yet, and so nothing is said of it.
        (".", true) => Rc::new(Item::True),
        _ => walk.commented(path, comment, Mode::at(path, value.closed))?,
    };
    walk.define_waiting()?;
    let found = std::mem::take(&mut walk.definitions);
    let targets: Vec<Target> = found.keys().cloned().collect();
    let names = names(&targets);
    let mut by_name: BTreeMap<&str, &Target> = BTreeMap::new();
    for (target, name) in &names {
        if by_name.insert(name, target).is_some() {
            return Err(Error::Wrong(vec![format!(
                "NamesFunc returned non-unique name {}",
                cue_syntax::unquote::quote(name)
            )]));
        }
    }
    let writer = Writer(&names);
    let mut keywords = vec![("$schema".to_owned(), text(DIALECT))];
    match writer.schema(&simplified(&root)) {
        Schema::Object(root) => {
            let defined = |(name, target): (&&str, &&Target)| {
                let item = found.get(*target)?.as_ref()?;
                Some(((*name).to_owned(), writer.schema(&simplified(item))))
            };
            let defined: Vec<_> = by_name.iter().filter_map(defined).collect();
            if !defined.is_empty() {
                keywords.push(("$defs".to_owned(), Schema::Object(defined)));
            }
            keywords.extend(root);
        }
        Schema::Bool(false) if walk.wrong.is_empty() => {
            walk.wrong.push("schema cannot be satisfied".into());
        }
        _ => {}
    }
    if !walk.wrong.is_empty() {
        return Err(Error::Wrong(walk.wrong));
    }
    let Schema::Object(keywords) = object(keywords) else { return Ok(String::new()) };
    Ok(Schema::fields(&keywords))
}
