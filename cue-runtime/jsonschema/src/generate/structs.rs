//! Structs: fields, patterns, and whether there may be others.

use std::collections::BTreeSet;
use std::rc::Rc;

use cue_builtin::Pattern;
use cue_session::{Kind, Presence};

use crate::generate::item::{Item, Properties, Shared, both};
use crate::generate::simplified::conjuncts;
use crate::generate::values::{Mode, Walk, is_struct};
use crate::generate::{Closing, Error};

/// What patterns of a struct say, to be left out of what fields say that they fit.
struct Fitting {
    pattern: Pattern,
    says: Vec<Shared>,
}

/// What is said of a struct so far.
#[derive(Default)]
struct Found {
    properties: Properties,
    required: BTreeSet<String>,
    /// What has a schema of its own.
    others: Vec<Shared>,
    /// A pattern fits every name.
    universal: bool,
}

impl Found {
    fn pattern(&mut self, pattern: &str, item: Shared) {
        let known = self.properties.patterns.remove(pattern);
        self.properties.patterns.extend(both(known, Some(item)).map(|it| (pattern.to_owned(), it)));
    }

    fn field(&mut self, name: &str, item: Shared) {
        let known = self.properties.named.remove(name);
        self.properties.named.extend(both(known, Some(item)).map(|it| (name.to_owned(), it)));
    }
}

impl Walk<'_> {
    /// The members of a struct. Those of its literals are told together, as `additionalProperties` counts for what
    /// stands beside it.
    pub(super) fn fields(&mut self, path: &str, mode: Mode) -> Result<Item, Error> {
        let mut found = Found::default();
        let mut parts = Vec::new();
        self.parts(path, &mut parts)?;
        for part in parts {
            let value = self.composition(&part)?;
            let target = value.target.clone();
            let definition = value.labels.iter().any(|it| it.starts_with('#'));
            let structure = is_struct(&value.kinds);
            match target {
                // What is closed here closes what that brings, too.
                Some(target) if mode != Mode::Open && !definition && structure => {
                    self.literal(&target, mode, &mut found)?;
                }
                // Who is described is no part of itself.
                _ if part == path && value.operator != "." => {
                    self.literal(&part, mode, &mut found)?;
                }
                None if structure && !matches!(value.operator, "." | "func") => {
                    self.literal(&part, mode, &mut found)?;
                }
                _ => {
                    let item = self.item(&part, Mode::Open)?;
                    found.others.push(item);
                }
            }
        }
        if !found.universal {
            self.further(path, mode, &mut found)?;
        }
        Ok(self.closed(found, mode))
    }

    /// The conjuncts of a value.
    fn parts(&mut self, path: &str, all: &mut Vec<String>) -> Result<(), Error> {
        let value = self.composition(path)?;
        if value.operator != "&" {
            all.push(path.to_owned());
            return Ok(());
        }
        value.operands.iter().try_for_each(|it| self.parts(it, all))
    }

    /// What a literal declares.
    fn literal(&mut self, path: &str, mode: Mode, found: &mut Found) -> Result<(), Error> {
        let value = self.composition(path)?;
        let mut fitting = Vec::new();
        for (label, says) in &value.patterns {
            let Some(text) = self.expression_of(label)? else {
                // Which names it fits cannot be told: there may be any.
                found.pattern("", Rc::new(Item::True));
                continue;
            };
            found.universal |= text.is_empty();
            let item = self.item(says, mode.within())?;
            found.pattern(&text, item.clone());
            if let Ok(pattern) = Pattern::new(&text) {
                fitting.push(Fitting { pattern, says: conjuncts(&item) });
            }
        }
        for field in self.members(path)? {
            let needed = match field.presence {
                Presence::Optional => false,
                Presence::Required => true,
                // What is data need not be repeated.
                Presence::Member => !self.is_data(&field.path)?,
            };
            if needed {
                found.required.insert(field.label.clone());
            }
            let item = self.item(&field.path, mode.within())?;
            found.field(&field.label, unrepeated(&field.label, item, &fitting));
        }
        Ok(())
    }

    /// `...`, or a pattern for all names that something else than a literal brings.
    fn further(&mut self, path: &str, mode: Mode, found: &mut Found) -> Result<(), Error> {
        let value = self.composition(path)?;
        let mut item = None;
        for (label, says) in &value.patterns {
            if self.expression_of(label)?.is_some_and(|it| it.is_empty()) {
                item = both(item, Some(self.item(says, mode.within())?));
            }
        }
        let item = item.or_else(|| value.open.then(|| Rc::new(Item::True)));
        match item {
            Some(item) if *item == Item::True => found.pattern("", item),
            item => found.properties.additional = item,
        }
        Ok(())
    }

    /// All of it, closed or not.
    fn closed(&mut self, found: Found, mode: Mode) -> Item {
        let Found { mut properties, required, mut others, .. } = found;
        let any = properties.patterns.get("");
        // Without fields there is no difference between what holds for all and for all others.
        if any.is_some_and(|it| **it == Item::True) || properties.named.is_empty() {
            let any = properties.patterns.remove("");
            properties.additional = both(properties.additional.take(), any);
        }
        let closes = mode != Mode::Open && self.closing == Closing::Told;
        let local = !properties.named.is_empty() || others.is_empty();
        if closes && properties.additional.is_none() && local {
            properties.additional = Some(Rc::new(Item::False));
        }
        properties.required = required.into_iter().collect();
        // As the official command has it: with fields, patterns and required fields nothing is said at all.
        let told = properties.named.is_empty()
            || properties.required.is_empty()
            || properties.patterns.is_empty();
        let own = told.then_some(Item::Properties(properties));
        match (others.is_empty(), own) {
            (true, own) => own.unwrap_or(Item::True),
            (false, own) => {
                others.extend(own.map(Rc::new));
                Item::AllOf(others)
            }
        }
    }

    /// The regular expression for the names that a pattern fits; empty for any name.
    fn expression_of(&mut self, path: &str) -> Result<Option<String>, Error> {
        let value = self.composition(path)?;
        let text = match (value.operator, value.operands.as_slice()) {
            (".", _) => {
                return value.target.as_ref().map_or(Ok(None), |it| self.expression_of(it));
            }
            ("=~", [expression]) => self.string(expression)?.ok(),
            _ if value.kinds.concrete && value.kinds.is(Kind::String) => {
                let exact = |it: String| format!("^{}$", quoted(&it));
                self.string(path)?.ok().map(exact)
            }
            _ if self.takes_any_name(path)? => Some(String::new()),
            _ => None,
        };
        Ok(text.filter(|it| Pattern::new(it).is_ok()))
    }

    /// Whether a pattern fits every name.
    fn takes_any_name(&mut self, path: &str) -> Result<bool, Error> {
        let value = self.composition(path)?;
        let mut fits = Vec::new();
        let within = if value.operator == "." { value.target.as_slice() } else { &value.operands };
        for it in within {
            fits.push(self.takes_any_name(it)?);
        }
        Ok(match value.operator {
            "" => !value.kinds.concrete && value.kinds.any_of.contains(&Kind::String),
            "&" => fits.into_iter().all(|it| it),
            "|" | "." => fits.into_iter().any(|it| it),
            _ => false,
        })
    }
}

/// What a field says besides the patterns that it fits.
fn unrepeated(name: &str, item: Shared, fitting: &[Fitting]) -> Shared {
    let all = conjuncts(&item);
    let mut fits = fitting.iter().filter(|it| it.pattern.is_match(name)).peekable();
    let several = matches!(&*item, Item::AllOf(all) if all.len() > 1);
    if fitting.is_empty() || !several {
        return item;
    }
    if fits.peek().is_none() {
        return Rc::new(Item::True);
    }
    let fits: Vec<&Fitting> = fits.collect();
    let repeated = |it: &Shared| fits.iter().any(|fit| fit.says.contains(it));
    let own: Vec<Shared> = all.into_iter().filter(|it| !repeated(it)).collect();
    Rc::new(if own.is_empty() { Item::True } else { Item::AllOf(own) })
}

/// A text as a regular expression that matches it.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
