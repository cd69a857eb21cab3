//! What is printed: structs as their declarations, everything else as text with the binding
//! strength of its outermost operator.

use std::fmt::Write as _;

use thin_vec::ThinVec;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    Struct(Vec<Item>),
    /// Text and how strongly its outermost operator binds.
    Text(String, u8),
}

/// A declaration.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Attribute(Note),
    Embed(Out),
    Let(String, Out),
    /// A name that a place outside is bound to (O-80).
    Hoisted {
        path: String,
        name: String,
        /// The definition that keeps it closed.
        within: Option<&'static str>,
        value: Out,
    },
    Field(Declared),
    Ellipsis(Option<Out>),
    Comprehension {
        clauses: String,
        body: Out,
        gap: Gap,
        /// The comment above it.
        docs: Vec<String>,
    },
}

/// A declaration that is an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) gap: Gap,
    /// The comment above it.
    pub(crate) docs: Vec<String>,
    /// The comment behind it.
    pub(crate) behind: String,
}

/// What stands before a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// What is before it, on the same line.
    Comma,
    Line,
    /// An empty line.
    Empty,
}

impl Gap {
    /// Writes it behind what is there, then the comment above.
    fn write(self, docs: &[String], text: &mut String) {
        match self {
            Gap::Comma if text.ends_with('\n') => {
                text.pop();
                text.push_str(", ");
            }
            Gap::Empty if !text.is_empty() => text.push('\n'),
            Gap::Comma | Gap::Line | Gap::Empty => {}
        }
        for line in docs {
            let _ = writeln!(text, "{line}");
        }
    }
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// Comments above it, with `//`.
    pub(crate) docs: Vec<ThinVec<String>>,
    /// Comments below it, and whether an empty line stands above them.
    pub(crate) below: Vec<(ThinVec<String>, bool)>,
    /// An empty line stands above the comment.
    pub(crate) apart: bool,
    /// With its marker.
    pub(crate) label: String,
    /// The name that the value has for what is in it.
    pub(crate) alias: Option<String>,
    pub(crate) value: Out,
    pub(crate) attributes: Vec<String>,
    /// Where it is.
    pub(crate) place: Option<String>,
    /// A struct that is its value has braces, however short.
    pub(crate) spread: bool,
    /// There is a comment above it, printed or not.
    pub(crate) documented: bool,
}

impl Declared {
    /// Whether its value is one field, which can be printed behind its label (O-85).
    fn shortened(&self) -> Option<&Declared> {
        if self.spread {
            return None;
        }
        let Out::Struct(items) = &self.value else { return None };
        let [Item::Field(inner)] = items.as_slice() else { return None };
        // Behind the alias it may have.
        let name = match self.label.split_once('=') {
            Some((alias, name)) if !alias.starts_with(['[', '"', '(']) => name,
            _ => &self.label,
        };
        let regular = !name.starts_with(['#', '_']);
        let plain =
            self.attributes.is_empty() && inner.attributes.is_empty() && self.alias.is_none();
        (regular && plain && inner.docs.is_empty() && !inner.documented).then_some(inner)
    }
}

/// Binding strength of what needs no parentheses anywhere.
pub(crate) const PRIMARY: u8 = 9;

/// Stands for a bottom literal until the text is laid out: the comment behind it would end the
/// line.
pub(crate) const BOTTOM: &str = "__bottom_literal__";
/// And for `__no_sharing`; begins as that for bottom does.
pub(crate) const NO_SHARING: &str = "__bottom_literal__unshared__";

impl Out {
    pub(crate) fn primary(text: impl Into<String>) -> Self {
        Out::Text(text.into(), PRIMARY)
    }

    pub(crate) fn bottom() -> Self {
        Out::primary(BOTTOM)
    }

    pub(crate) fn is_top(&self) -> bool {
        matches!(self, Out::Text(text, _) if text == "_")
    }

    /// As an operand: in parentheses if it binds less than `least`.
    pub(crate) fn operand(&self, least: u8) -> String {
        match self {
            Out::Text(text, strength) if *strength < least => format!("({text})"),
            _ => self.text(),
        }
    }

    /// Operands joined by an operator that groups to the left.
    pub(crate) fn joined(operands: &[Out], operator: &str, strength: u8) -> Out {
        let mut text = String::new();
        for (index, operand) in operands.iter().enumerate() {
            if index == 0 {
                text.push_str(&operand.operand(strength));
            } else {
                let gap = if operand.is_set_off() { '\n' } else { ' ' };
                let _ = write!(text, " {operator}{gap}{}", operand.operand(strength + 1));
            }
        }
        Out::Text(text, strength)
    }

    /// Whether it begins a line behind an operator: a struct begins where its first declaration did,
    /// if that is one with a place of its own (O-82).
    fn is_set_off(&self) -> bool {
        let Out::Struct(items) = self else { return false };
        match items.first() {
            Some(Item::Attribute(Note { gap, .. }) | Item::Comprehension { gap, .. }) => {
                *gap != Gap::Comma
            }
            Some(Item::Embed(it)) => it.is_set_off(),
            _ => false,
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Out::Text(text, _) => text.clone(),
            Out::Struct(items) if items.is_empty() => "{}".into(),
            Out::Struct(_) => format!("{{\n{}}}", self.fields()),
        }
    }

    /// The same, where a struct with lets is one text: they stay in its braces.
    pub(crate) fn with_own_lets(self) -> Self {
        match &self {
            Out::Struct(items) if items.iter().any(|it| matches!(it, Item::Let(..))) => {
                Out::primary(self.text())
            }
            _ => self,
        }
    }

    /// The declarations without braces; of another value itself.
    pub(crate) fn fields(&self) -> String {
        let Out::Struct(items) = self else { return self.text() + "\n" };
        let mut text = String::new();
        for item in items {
            item.write(&mut text);
        }
        text
    }
}

impl Item {
    fn write(&self, text: &mut String) {
        match self {
            Item::Attribute(it) => {
                // A comment is set off.
                let bare = it.docs.is_empty() && it.behind.is_empty();
                let gap = if bare { it.gap } else { Gap::Empty };
                gap.write(&it.docs, text);
                let _ = writeln!(text, "{}{}", it.text, it.behind);
            }
            Item::Embed(it) => {
                let _ = writeln!(text, "{}", it.text());
            }
            Item::Let(name, it) => {
                let _ = writeln!(text, "let {name} = {}", it.text());
            }
            Item::Hoisted { path, name, within, value } => {
                let _ = write!(text, "\n//cue:path: {path}\nlet {name} = ");
                let _ = match within {
                    Some(label) => writeln!(text, "{{\n{label}: {}\n}}", value.text()),
                    None => writeln!(text, "{}", value.text()),
                };
            }
            Item::Field(field) => {
                for (index, group) in field.docs.iter().enumerate() {
                    if index > 0 || field.apart && !text.is_empty() {
                        text.push('\n');
                    }
                    for line in group {
                        let _ = writeln!(text, "{line}");
                    }
                }
                let below = &field.below;
                let mut field = field;
                let _ = write!(text, "{}: ", field.label);
                while let Some(inner) = field.shortened() {
                    let _ = write!(text, "{}: ", inner.label);
                    field = inner;
                }
                if let Some(alias) = &field.alias {
                    let _ = write!(text, "{alias}=");
                }
                text.push_str(&field.value.text());
                for attribute in &field.attributes {
                    let _ = write!(text, " {attribute}");
                }
                text.push('\n');
                for (group, gap) in below {
                    if *gap {
                        text.push('\n');
                    }
                    for line in group {
                        let _ = writeln!(text, "{line}");
                    }
                }
            }
            Item::Ellipsis(None) => text.push_str("...\n"),
            Item::Ellipsis(Some(it)) => {
                let _ = writeln!(text, "...{}", it.text());
            }
            Item::Comprehension { clauses, body, gap, docs } => {
                gap.write(docs, text);
                let _ = writeln!(text, "{clauses} {}", body.text());
            }
        }
    }
}
