//! What templates work with: Go's values, as far as charts can tell.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::Number;

use crate::files::Files;

/// Members of a dict; dicts are shared, and changed in place by `set`, `unset` and `merge`.
pub type Members = BTreeMap<String, Value>;

/// A value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Nil,
    /// Truth.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any number; those of values files are all of this kind.
    Float(f64),
    /// Text.
    Text(Rc<str>),
    /// A list.
    List(Rc<Vec<Self>>),
    /// A dict.
    Dict(Rc<RefCell<Members>>),
    /// A time.
    Time(DateTime<Utc>),
    /// `.Files`
    Files(Rc<Files>),
    /// `.Capabilities.APIVersions`
    Versions(Rc<BTreeSet<String>>),
}

/// Levels of a value that are looked at; deeper ones are cut.
const DEPTH: usize = 200;

impl Value {
    /// Text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Rc::from(text.as_ref()))
    }

    /// A list.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items))
    }

    /// A dict.
    pub fn dict(members: Members) -> Self {
        Self::Dict(Rc::new(RefCell::new(members)))
    }

    /// Of plain data; its numbers become those of values files.
    pub fn of(data: &serde_json::Value) -> Self {
        match data {
            serde_json::Value::Null => Self::Nil,
            serde_json::Value::Bool(it) => Self::Bool(*it),
            serde_json::Value::Number(it) => match it.as_i64() {
                // What a float cannot hold stays whole.
                Some(whole) if whole.unsigned_abs() > 1 << 53 => Self::Int(whole),
                _ => Self::Float(it.as_f64().unwrap_or_default()),
            },
            serde_json::Value::String(it) => Self::text(it),
            serde_json::Value::Array(it) => Self::list(it.iter().map(Self::of).collect()),
            serde_json::Value::Object(it) => {
                Self::dict(it.iter().map(|(key, it)| (key.clone(), Self::of(it))).collect())
            }
        }
    }

    /// As plain data.
    pub fn plain(&self) -> serde_json::Value {
        self.plain_within(DEPTH)
    }

    fn plain_within(&self, depth: usize) -> serde_json::Value {
        if depth == 0 {
            return serde_json::Value::Null;
        }
        match self {
            Self::Nil | Self::Files(_) | Self::Versions(_) => serde_json::Value::Null,
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => (*it).into(),
            Self::Float(it) => match whole(*it) {
                Some(whole) => whole.into(),
                None => Number::from_f64(*it).map_or(serde_json::Value::Null, Into::into),
            },
            Self::Text(it) => (**it).into(),
            Self::List(items) => items.iter().map(|it| it.plain_within(depth - 1)).collect(),
            Self::Dict(members) => {
                let members = members.borrow();
                let plain =
                    members.iter().map(|(key, it)| (key.clone(), it.plain_within(depth - 1)));
                serde_json::Value::Object(plain.collect())
            }
            Self::Time(it) => it.to_rfc3339().into(),
        }
    }

    /// Whether it counts as something: not zero, not empty.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(it) => *it,
            Self::Int(it) => *it != 0,
            Self::Float(it) => *it != 0.0,
            Self::Text(it) => !it.is_empty(),
            Self::List(it) => !it.is_empty(),
            Self::Dict(it) => !it.borrow().is_empty(),
            Self::Time(_) | Self::Files(_) | Self::Versions(_) => true,
        }
    }

    /// Go's name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::List(_) => "slice",
            Self::Dict(_) => "map",
            Self::Time(_) => "struct",
            Self::Files(_) => "map",
            Self::Versions(_) => "slice",
        }
    }

    /// Go's name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::List(_) => "[]interface {}",
            Self::Dict(_) => "map[string]interface {}",
            Self::Time(_) => "time.Time",
            Self::Files(_) => "engine.files",
            Self::Versions(_) => "common.VersionSet",
            other => other.kind(),
        }
    }

    /// As `{{ . }}` prints it; nothing prints as nothing, as helm has it.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        self.show(&mut out, DEPTH);
        out
    }

    fn show(&self, out: &mut String, depth: usize) {
        use std::fmt::Write as _;
        if depth == 0 {
            return;
        }
        match self {
            Self::Nil => {}
            Self::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Self::Int(it) => {
                let _ = write!(out, "{it}");
            }
            Self::Float(it) => out.push_str(&float(*it)),
            Self::Text(it) => out.push_str(it),
            Self::List(items) => {
                out.push('[');
                for (index, it) in items.iter().enumerate() {
                    out.push_str(if index > 0 { " " } else { "" });
                    it.show_inside(out, depth - 1);
                }
                out.push(']');
            }
            Self::Dict(members) => {
                out.push_str("map[");
                for (index, (key, it)) in members.borrow().iter().enumerate() {
                    out.push_str(if index > 0 { " " } else { "" });
                    out.push_str(key);
                    out.push(':');
                    it.show_inside(out, depth - 1);
                }
                out.push(']');
            }
            Self::Time(it) => {
                let _ = write!(out, "{} +0000 UTC", it.format("%Y-%m-%d %H:%M:%S"));
            }
            Self::Files(_) => out.push_str("map[]"),
            Self::Versions(all) => {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                let _ = write!(out, "[{}]", all.join(" "));
            }
        }
    }

    fn show_inside(&self, out: &mut String, depth: usize) {
        match self {
            Self::Nil => out.push_str("<nil>"),
            other => other.show(out, depth),
        }
    }

    /// A member of a dict.
    pub fn member(&self, key: &str) -> Option<Self> {
        match self {
            Self::Dict(members) => members.borrow().get(key).cloned(),
            _ => None,
        }
    }

    /// The same with nothing shared.
    pub fn copied(&self) -> Self {
        self.copied_within(DEPTH)
    }

    fn copied_within(&self, depth: usize) -> Self {
        if depth == 0 {
            return Self::Nil;
        }
        match self {
            Self::List(items) => {
                Self::list(items.iter().map(|it| it.copied_within(depth - 1)).collect())
            }
            Self::Dict(members) => {
                let members = members.borrow();
                let copied =
                    members.iter().map(|(key, it)| (key.clone(), it.copied_within(depth - 1)));
                Self::dict(copied.collect())
            }
            other => other.clone(),
        }
    }

    /// Whether a dict is this value, or somewhere in it.
    pub fn holds(&self, dict: &Rc<RefCell<Members>>) -> bool {
        let mut open = vec![self.clone()];
        let mut looked = 0;
        while let Some(next) = open.pop() {
            looked += 1;
            if looked > 100_000 {
                return true;
            }
            match next {
                Self::Dict(members) if Rc::ptr_eq(&members, dict) => return true,
                Self::Dict(members) => open.extend(members.borrow().values().cloned()),
                Self::List(items) => open.extend(items.iter().cloned()),
                _ => {}
            }
        }
        false
    }

    /// Whether both are the same all the way down.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(_) | Self::Dict(_), Self::List(_) | Self::Dict(_)) => {
                self.plain() == other.plain()
            }
            _ => self.equals(other).unwrap_or(false),
        }
    }

    /// `eq`; lists and dicts cannot be compared.
    ///
    /// # Errors
    /// They cannot be compared.
    pub fn equals(&self, other: &Self) -> Result<bool, String> {
        match (self, other) {
            (Self::Nil, Self::Nil) => Ok(true),
            (Self::Nil, _) | (_, Self::Nil) => Ok(false),
            (Self::List(_) | Self::Dict(_), _) | (_, Self::List(_) | Self::Dict(_)) => {
                Err("non-comparable types".into())
            }
            (Self::Bool(a), Self::Bool(b)) => Ok(a == b),
            (Self::Text(a), Self::Text(b)) => Ok(a == b),
            (Self::Time(a), Self::Time(b)) => Ok(a == b),
            (Self::Int(a), Self::Int(b)) => Ok(a == b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => Ok(a == b),
                _ => Err("incompatible types for comparison".into()),
            },
        }
    }

    /// `lt` and its like.
    ///
    /// # Errors
    /// They have no order.
    pub fn compares(&self, other: &Self) -> Result<Ordering, String> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Ok(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) => Ok(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Ok(a.cmp(b)),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => Ok(a.partial_cmp(&b).unwrap_or(Ordering::Equal)),
                _ => Err("incompatible types for comparison".into()),
            },
        }
    }

    /// A number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(it) => Some(*it as f64),
            Self::Float(it) => Some(*it),
            _ => None,
        }
    }

    /// As `int` makes one of anything.
    pub fn int(&self) -> i64 {
        match self {
            Self::Bool(it) => i64::from(*it),
            Self::Int(it) => *it,
            Self::Float(it) => *it as i64,
            Self::Text(it) => {
                let digits = it.trim();
                let whole = digits.parse::<i64>().ok();
                whole.or_else(|| digits.parse::<f64>().ok().map(|it| it as i64)).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// As `float64` makes one of anything.
    pub fn float(&self) -> f64 {
        match self {
            Self::Bool(it) => f64::from(u8::from(*it)),
            Self::Text(it) => it.trim().parse().unwrap_or(0.0),
            other => other.number().unwrap_or(0.0),
        }
    }

    /// Items of a list; of anything else none.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// A number as text: a whole one has neither point nor exponent.
pub fn float(number: f64) -> String {
    match whole(number) {
        Some(whole) => whole.to_string(),
        None => number.to_string(),
    }
}
