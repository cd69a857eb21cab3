//! A stored value: its JSON, and the value again for those who look into it.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// A value that does not change any more. Of what is stored only the text is kept, a small part of the value's size:
/// most who ask want it as text. Who looks into it makes the value again, once.
#[derive(Debug, Default)]
pub struct Stored {
    // Apart, so that the rest is in one line of the processor's cache: a list goes through thousands.
    value: OnceLock<Box<Value>>,
    text: OnceLock<Box<[u8]>>,
}

// A value always has a JSON form.
fn written(value: &Value) -> Box<[u8]> {
    serde_json::to_vec(value).unwrap_or_default().into_boxed_slice()
}

// What was written here can be read.
fn read(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_default()
}

impl Stored {
    /// The text of a value.
    #[must_use]
    pub fn written(value: &Value) -> Stored {
        Stored { value: OnceLock::new(), text: OnceLock::from(written(value)) }
    }

    /// The value as JSON.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.text.get_or_init(|| written(self))
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self.value.into_inner() {
            Some(value) => *value,
            None => read(self.text.get().map_or(&[], |it| it)),
        }
    }

    /// The same for those who keep it and seldom look into it: its text alone.
    #[must_use]
    pub fn lean(self: Arc<Self>) -> Arc<Stored> {
        match self.value.get() {
            Some(_) => {
                let text = OnceLock::from(Box::from(self.text()));
                Arc::new(Stored { value: OnceLock::new(), text })
            }
            None => self,
        }
    }

    /// The value for somebody who is the last to look into it, as far as one knows: it is not kept.
    #[must_use]
    pub fn glance(&self) -> Cow<'_, Value> {
        match (self.value.get(), self.text.get()) {
            (None, Some(text)) => Cow::Owned(read(text)),
            _ => Cow::Borrowed(self),
        }
    }
}

impl From<Value> for Stored {
    fn from(value: Value) -> Stored {
        Stored { value: OnceLock::from(Box::new(value)), text: OnceLock::new() }
    }
}

impl Deref for Stored {
    type Target = Value;
    fn deref(&self) -> &Value {
        // One of the two is always there.
        self.value.get_or_init(|| Box::new(read(self.text.get().map_or(&[], |it| it))))
    }
}

impl PartialEq<Value> for Stored {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
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

    #[test]
    fn what_was_written_is_read_again() {
        let value = serde_json::json!({"b": [1, null, 0.5, -3], "a": {"c": "ü\n"}});
        let stored = Stored::written(&value);
        assert_eq!(*stored.glance(), value);
        assert_eq!(stored, value);
        assert_eq!(stored.text(), Stored::from(value.clone()).text());
        assert_eq!(Stored::written(&value).into_value(), value);
    }

    #[test]
    fn what_is_kept_is_its_text_alone() {
        let value = serde_json::json!({"a": [1, 2]});
        let looked_into = Arc::new(Stored::written(&value));
        assert_eq!(looked_into["a"][1], 2);
        let lean = looked_into.lean();
        assert!(lean.value.get().is_none());
        assert_eq!(*lean, value);
        let again = Arc::new(Stored::written(&value));
        assert!(Arc::ptr_eq(&again.clone().lean(), &again), "there is nothing to leave out");
    }
}
