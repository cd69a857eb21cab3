//! What is printed: structs as their declarations, everything else as text with the binding
//! strength of its outermost operator.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Out {
    Struct(Vec<Item>),
    /// Text and how strongly its outermost operator binds.
    Text(String, u8),
}

/// A declaration.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Attribute(String),
    Embed(Out),
    Let(String, Out),
    Field { docs: Vec<Vec<String>>, label: String, value: Out, attributes: Vec<String> },
    Ellipsis(Option<Out>),
    /// Clauses, body, and whether it stands on the line of what is before it.
    Comprehension { clauses: String, body: Out, inline: bool },
}

/// Binding strength of what needs no parentheses anywhere.
pub(super) const PRIMARY: u8 = 9;

/// Stands for a bottom literal until the text is laid out: the comment behind it would end the
/// line.
const BOTTOM: &str = "__bottom_literal__";
const REMARK: &str = "// explicit error (_|_ literal) in source";

impl Out {
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Out::Text(text.into(), PRIMARY)
    }

    pub(super) fn bottom() -> Self {
        Out::primary(BOTTOM)
    }

    pub(super) fn is_top(&self) -> bool {
        matches!(self, Out::Text(text, _) if text == "_")
    }

    /// As an operand: in parentheses if it binds less than `least`.
    pub(super) fn operand(&self, least: u8) -> String {
        match self {
            Out::Text(text, strength) if *strength < least => format!("({text})"),
            _ => self.text(),
        }
    }

    /// Operands joined by an operator that groups to the left.
    pub(super) fn joined(operands: &[Out], operator: &str, strength: u8) -> Out {
        let mut text = String::new();
        for (index, operand) in operands.iter().enumerate() {
            if index == 0 {
                text.push_str(&operand.operand(strength));
            } else {
                let _ = write!(text, " {operator} {}", operand.operand(strength + 1));
            }
        }
        Out::Text(text, strength)
    }

    pub(super) fn text(&self) -> String {
        match self {
            Out::Text(text, _) => text.clone(),
            Out::Struct(items) if items.is_empty() => "{}".into(),
            Out::Struct(_) => format!("{{\n{}}}", self.fields()),
        }
    }

    /// The declarations without braces; of another value itself.
    pub(super) fn fields(&self) -> String {
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
                let _ = writeln!(text, "{it}");
            }
            Item::Embed(it) => {
                let _ = writeln!(text, "{}", it.text());
            }
            Item::Let(name, it) => {
                let _ = writeln!(text, "let {name} = {}", it.text());
            }
            Item::Field { docs, label, value, attributes } => {
                for (index, group) in docs.iter().enumerate() {
                    if index > 0 {
                        text.push('\n');
                    }
                    for line in group {
                        let gap = if line.is_empty() { "" } else { " " };
                        let _ = writeln!(text, "//{gap}{line}");
                    }
                }
                let _ = write!(text, "{label}: {}", value.text());
                for attribute in attributes {
                    let _ = write!(text, " {attribute}");
                }
                text.push('\n');
            }
            Item::Ellipsis(None) => text.push_str("...\n"),
            Item::Ellipsis(Some(it)) => {
                let _ = writeln!(text, "...{}", it.text());
            }
            Item::Comprehension { clauses, body, inline } => {
                if *inline && text.ends_with('\n') {
                    text.pop();
                    text.push_str(", ");
                }
                let _ = writeln!(text, "{clauses} {}", body.text());
            }
        }
    }
}

/// The text as the formatter aligns it, then with what it would not take.
pub(super) fn laid_out(text: &str, blank: bool) -> String {
    let (tree, errors) = cue_syntax::parse_tree(text);
    if !errors.is_empty() {
        return text.replace(BOTTOM, "_|_");
    }
    let text = cue_syntax::format_tree(&tree, cue_syntax::Style::Simplified);
    let text = if text.contains(BOTTOM) { with_remarks(&text) } else { text };
    if blank { format!("\n{text}") } else { text }
}

/// Bottom literals with their remark; what follows one goes to the next line.
fn with_remarks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = line.trim_end_matches('\n');
        let indent: String = line.chars().take_while(|it| *it == '\t').collect();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(BOTTOM) {
            let _ = write!(out, "{before}_|_ {REMARK}");
            let after = after.trim_start();
            if after.is_empty() {
                rest = "";
                break;
            }
            let block = after.starts_with('{');
            let _ = write!(out, "\n{indent}{}", if block { "" } else { "\t" });
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}
