//! What can stand before a colon without quotes.

/// Whether a name can stand as a label without quotes.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '$')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && !matches!(
            name,
            "true" | "false" | "null" | "for" | "in" | "if" | "let" | "package" | "import"
        )
        || matches!(name, "for" | "in" | "if" | "let")
}

/// Names that labels need no quotes for, though expressions do.
pub fn is_keyword(name: &str) -> bool {
    matches!(name, "true" | "false" | "null" | "package" | "import")
}
