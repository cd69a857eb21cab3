//! Functions: those that JSON Schema has a keyword for.

use std::rc::Rc;

use cue_session::Kind;

use crate::generate::Error;
use crate::generate::item::{Item, Shared};
use crate::generate::lists::some;
use crate::generate::values::{Mode, Value, Walk};

/// Layouts of package time that are formats.
const FORMATS: [(&str, &str); 4] = [
    ("2006-01-02T15:04:05Z07:00", "date-time"),
    ("2006-01-02T15:04:05.999999999Z07:00", "date-time"),
    ("2006-01-02", "date"),
    ("15:04:05", "time"),
];

/// Functions of one number that is the value of a keyword, and the type of what they admit.
const COUNTS: [(&str, &str, &str); 4] = [
    ("strings.MinRunes", "string", "minLength"),
    ("strings.MaxRunes", "string", "maxLength"),
    ("list.MinItems", "array", "minItems"),
    ("list.MaxItems", "array", "maxItems"),
];

impl Walk<'_> {
    /// What a call demands; `None` where there is no word for it.
    pub(super) fn call(&mut self, value: &Value, mode: Mode) -> Result<Option<Item>, Error> {
        let arguments = value.operands.clone();
        let name = value.name.as_str();
        if let Some((_, kind, keyword)) = COUNTS.iter().find(|it| it.0 == name) {
            let count = match self.only(name, &arguments)? {
                Ok(only) => self.int(&only)?,
                Err(message) => Err(message),
            };
            return self.with_type(kind, count.map(|it| Item::Keyword(keyword, it.to_string())));
        }
        let item = match (name, arguments.as_slice()) {
            ("error", _) => Item::False,
            ("close", [of, ..]) => {
                let mode = if mode == Mode::Open { Mode::Closed } else { mode };
                let of = self.item(of, mode)?;
                (*of).clone()
            }
            ("math.MultipleOf", _) => {
                let factor = match self.only(name, &arguments)? {
                    Ok(only) => match self.float(&only)? {
                        Some(factor) => Ok(factor),
                        None => Err(self.unfit(&only, "", "number")?),
                    },
                    Err(message) => Err(message),
                };
                return self.with_type("number", factor.map(|it| Item::Keyword("multipleOf", it)));
            }
            ("time.Format", _) => {
                let layout = match self.only(name, &arguments)? {
                    Ok(only) => self.string(&only)?,
                    Err(message) => Err(message),
                };
                let layout = match layout {
                    Ok(layout) => layout,
                    Err(message) => return self.fail(&message).map(Some),
                };
                match FORMATS.iter().find(|it| it.0 == layout) {
                    Some((_, format)) => {
                        Item::all_of([Item::of_type("string"), Item::text("format", format)])
                    }
                    None => Item::of_type("string"),
                }
            }
            ("list.UniqueItems", _) => {
                let unique = Item::Keyword("uniqueItems", "true".into());
                Item::all_of([Item::of_type("array"), unique])
            }
            ("list.MatchN", [count, of]) => self.contains(count, of)?,
            ("matchN", [count, list]) => self.matches(count, list)?,
            ("matchIf", [condition, then, otherwise]) => Item::If {
                condition: self.item(condition, Mode::Open)?,
                then: some(self.item(then, Mode::Open)?),
                otherwise: some(self.item(otherwise, Mode::Open)?),
            },
            ("list.MatchN" | "matchN" | "matchIf", _) => Item::True,
            _ => return Ok(None),
        };
        Ok(Some(item))
    }

    /// The only argument of a function.
    fn only(&mut self, name: &str, arguments: &[String]) -> Result<Result<String, String>, Error> {
        Ok(match arguments {
            [only] => Ok(only.clone()),
            all => Err(format!("{name} expects 1 argument, got {}", all.len())),
        })
    }

    /// A demand of what is of a type.
    fn with_type(
        &mut self,
        kind: &'static str,
        item: Result<Item, String>,
    ) -> Result<Option<Item>, Error> {
        match item {
            Ok(item) => Ok(Some(Item::all_of([Item::of_type(kind), item]))),
            Err(message) => self.fail(&message).map(Some),
        }
    }

    /// Elements of a list that match, counted.
    fn contains(&mut self, count: &str, of: &str) -> Result<Item, Error> {
        let Some((least, most)) = self.range(count)? else { return Ok(Item::True) };
        let wrong = self.composition(of)?.kinds.any_of.is_empty();
        let item = if wrong { Rc::new(Item::False) } else { self.item(of, Mode::Open)? };
        let contains = Item::Contains { item, least: Some(least), most };
        Ok(Item::all_of([Item::of_type("array"), contains]))
    }

    /// `n`, `>=n`, `>=n & <=m`
    fn range(&mut self, count: &str) -> Result<Option<(i64, Option<i64>)>, Error> {
        let value = self.composition(count)?;
        match (value.operator, value.operands.as_slice()) {
            ("", _) => Ok(self.int(count)?.ok().map(|it| (it, None))),
            (">=", [least]) => Ok(self.int(least)?.ok().map(|it| (it, None))),
            ("&", [least, most]) => {
                let least = self.limit(">=", least)?;
                let most = self.limit("<=", most)?;
                Ok(least.zip(most).map(|(least, most)| (least, Some(most))))
            }
            _ => Ok(None),
        }
    }

    /// The number that a bound with this operator has.
    fn limit(&mut self, operator: &str, bound: &str) -> Result<Option<i64>, Error> {
        let value = self.composition(bound)?;
        match (value.operator == operator, value.operands.as_slice()) {
            (true, [limit]) => Ok(self.int(limit)?.ok()),
            _ => Ok(None),
        }
    }

    /// One, none, some or all of several schemas.
    fn matches(&mut self, count: &str, list: &str) -> Result<Item, Error> {
        let mut items: Vec<Shared> = Vec::new();
        if self.composition(list)?.kinds.any_of != [Kind::List] {
            return Ok(Item::True);
        }
        for element in self.members(list)? {
            items.push(self.item(&element.path, Mode::Open)?);
        }
        let value = self.composition(count)?;
        let item = match (value.operator, value.operands.as_slice()) {
            ("", _) => match (self.int(count)?, items.as_slice()) {
                (Ok(0), [only]) => Item::Not(only.clone()),
                (Ok(0), _) => Item::True,
                (Ok(1), []) => Item::False,
                (Ok(1), _) => Item::OneOf(items),
                (Ok(all), _) if all == items.len() as i64 => Item::AllOf(items),
                _ => Item::True,
            },
            (">=", [least]) => match (self.int(least)?, items.is_empty()) {
                (Ok(1), true) => Item::False,
                (Ok(1), false) => Item::AnyOf(items),
                _ => Item::True,
            },
            _ => Item::True,
        };
        Ok(item)
    }
}
