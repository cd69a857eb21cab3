//! Lists: elements one by one, and what holds for all that follow.

use std::rc::Rc;

use cue_session::Kind;

use crate::generate::Error;
use crate::generate::item::{Item, Shared};
use crate::generate::values::{Mode, Walk};

impl Walk<'_> {
    /// What a list says of its elements. What is known to be one, but not which, may have any.
    pub(super) fn elements(&mut self, path: &str, mode: Mode) -> Result<Item, Error> {
        let value = self.composition(path)?;
        let known = value.kinds.concrete && value.kinds.is(Kind::List);
        let mut prefix: Vec<Shared> = Vec::new();
        if known {
            for element in self.members(path)? {
                prefix.push(self.item(&element.path, mode)?);
            }
        }
        let count = prefix.len();
        let bound = |keyword| Item::Keyword(keyword, count.to_string());
        let mut all = vec![Item::of_type("array")];
        if count > 0 {
            all.push(bound("minItems"));
        }
        let mut rest = None;
        if !known || value.open {
            if let Some(of) = &value.rest {
                rest = some(self.item(of, mode)?);
            }
        } else {
            all.push(bound("maxItems"));
        }
        if rest.is_some() || count > 0 {
            all.push(Item::Items { prefix, rest });
        }
        Ok(Item::all_of(all))
    }
}

/// What demands something.
pub(super) fn some(item: Shared) -> Option<Shared> {
    Some(item).filter(|it: &Rc<Item>| **it != Item::True)
}
