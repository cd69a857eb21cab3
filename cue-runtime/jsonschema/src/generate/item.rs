//! What a schema says, before it is written: each item is one demand, or puts others together.

use std::collections::BTreeMap;
use std::rc::Rc;

/// An item that others may hold too.
pub(super) type Shared = Rc<Item>;

/// A place that schemas refer to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// Import path of its package; empty for the main one.
    pub(super) package: String,
    /// The labels of its path, as they are written.
    pub(super) labels: Vec<String>,
}

impl Target {
    /// Whether it is a definition or in one. Hidden definitions are none: what refers to them is not closed.
    pub(super) fn is_definition(&self) -> bool {
        self.labels.iter().any(|it| it.starts_with('#'))
    }

    /// Its path as messages have it.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for label in &self.labels {
            match label.bytes().all(|it| it.is_ascii_digit()) {
                true => path.extend(["[", label, "]"]),
                false if path.is_empty() => path.push_str(label),
                false => path.extend([".", label]),
            }
        }
        path
    }
}

/// A demand. Two that are equal demand the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Anything.
    True,
    /// Nothing at all.
    False,
    AllOf(Vec<Shared>),
    AnyOf(Vec<Shared>),
    OneOf(Vec<Shared>),
    Not(Shared),
    /// One value, as CUE.
    Const(String),
    /// One of several.
    Enum(Vec<String>),
    Ref(Target),
    /// With a comment.
    Described(String, Shared),
    /// Of these types.
    Type(Vec<&'static str>),
    /// A keyword that stands alone, and its value as CUE.
    Keyword(&'static str, String),
    Items {
        prefix: Vec<Shared>,
        rest: Option<Shared>,
    },
    Contains {
        item: Shared,
        least: Option<i64>,
        most: Option<i64>,
    },
    Properties(Properties),
    If {
        condition: Shared,
        then: Option<Shared>,
        otherwise: Option<Shared>,
    },
}

/// What is said of the members of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) named: BTreeMap<String, Shared>,
    pub(super) required: Vec<String>,
    /// By regular expression.
    pub(super) patterns: BTreeMap<String, Shared>,
    /// What is said of all others.
    pub(super) additional: Option<Shared>,
}

impl Item {
    pub(super) fn all_of(items: impl IntoIterator<Item = Item>) -> Item {
        Item::AllOf(items.into_iter().map(Rc::new).collect())
    }

    /// Of one type.
    pub(super) fn of_type(name: &'static str) -> Item {
        Item::Type(vec![name])
    }

    /// A keyword whose value is a text.
    pub(super) fn text(keyword: &'static str, text: &str) -> Item {
        Item::Keyword(keyword, cue_syntax::unquote::quote(text))
    }

    /// Every item in it, each put in place of by another.
    pub(super) fn mapped(&self, change: &dyn Fn(&Shared) -> Shared) -> Item {
        let each = |all: &[Shared]| all.iter().map(change).collect();
        let one = |it: &Option<Shared>| it.as_ref().map(change);
        let named = |all: &BTreeMap<String, Shared>| {
            all.iter().map(|(name, it)| (name.clone(), change(it))).collect()
        };
        match self {
            Item::AllOf(all) => Item::AllOf(each(all)),
            Item::AnyOf(all) => Item::AnyOf(each(all)),
            Item::OneOf(all) => Item::OneOf(each(all)),
            Item::Not(item) => Item::Not(change(item)),
            Item::Described(text, item) => Item::Described(text.clone(), change(item)),
            Item::Items { prefix, rest } => Item::Items { prefix: each(prefix), rest: one(rest) },
            Item::Contains { item, least, most } => {
                Item::Contains { item: change(item), least: *least, most: *most }
            }
            Item::Properties(it) => Item::Properties(Properties {
                named: named(&it.named),
                required: it.required.clone(),
                patterns: named(&it.patterns),
                additional: one(&it.additional),
            }),
            Item::If { condition, then, otherwise } => Item::If {
                condition: change(condition),
                then: one(then),
                otherwise: one(otherwise),
            },
            Item::True
            | Item::False
            | Item::Const(_)
            | Item::Enum(_)
            | Item::Ref(_)
            | Item::Type(_)
            | Item::Keyword(..) => self.clone(),
        }
    }
}

/// Both of two demands, if there are two.
pub(super) fn both(one: Option<Shared>, other: Option<Shared>) -> Option<Shared> {
    match (one, other) {
        (None, it) | (it, None) => it,
        (Some(one), other) if *one == Item::True => other,
        (one, Some(other)) if *other == Item::True => one,
        (Some(one), Some(other)) => Some(Rc::new(Item::AllOf(vec![one, other]))),
    }
}
