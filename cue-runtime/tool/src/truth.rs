//! What Go takes for true and for false.

/// Whether a text is one of the six words for true (`true`) or of those for false (`false`); `None` for any other
/// (`strconv.ParseBool`).
pub fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
