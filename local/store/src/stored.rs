//! A stored value and its JSON, which is written once, whoever asks for it.

use std::ops::Deref;
use std::sync::OnceLock;

use serde_json::Value;

/// A value that does not change any more.
#[derive(Debug, Default)]
pub struct Stored {
    value: Value,
    text: OnceLock<Box<[u8]>>,
}

impl Stored {
    /// The value as JSON.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        // A value always has a JSON form.
        let write = || serde_json::to_vec(&self.value).unwrap_or_default().into_boxed_slice();
        self.text.get_or_init(write)
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }
}

impl From<Value> for Stored {
    fn from(value: Value) -> Stored {
        Stored { value, text: OnceLock::new() }
    }
}

impl Deref for Stored {
    type Target = Value;
    fn deref(&self) -> &Value {
        &self.value
    }
}

impl PartialEq<Value> for Stored {
    fn eq(&self, other: &Value) -> bool {
        self.value == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_written_once() {
        let stored = Stored::from(serde_json::json!({"b": [1, null], "a": "ü\n"}));
        assert_eq!(stored.text(), r#"{"b":[1,null],"a":"ü\n"}"#.as_bytes());
        assert!(std::ptr::eq(stored.text(), stored.text()));
        assert_eq!(stored["b"][0], 1);
        assert_eq!(stored.into_value()["a"], "ü\n");
    }
}
