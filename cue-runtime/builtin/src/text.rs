//! Texts that are put together when they are read.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A string. A long one that was made of others keeps these until somebody reads it: what only asks how long
/// it is, or puts it into a longer one, costs nothing more.
#[derive(Clone)]
pub struct Text(Form);

#[derive(Clone)]
enum Form {
    Whole(Arc<str>),
    Joined(Arc<Joined>),
}

struct Joined {
    length: usize,
    parts: Box<[Text]>,
    whole: OnceLock<Arc<str>>,
    allowance: Arc<Allowance>,
}

/// How many bytes the texts of an evaluation may take once they are put together.
#[derive(Debug, Default)]
pub struct Allowance {
    most: AtomicU64,
    used: AtomicU64,
    exceeded: AtomicBool,
}

impl Allowance {
    /// From now on `most` bytes in all.
    pub fn allow(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Bytes that were put together.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether a text was too long to be put together. It reads as empty: what was made since then is wrong.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    // While it is put together a text is there twice.
    fn take(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let used = self.used();
        let fits =
            used.saturating_add(bytes.saturating_mul(2)) <= self.most.load(Ordering::Relaxed);
        match fits {
            true => self.used.store(used + bytes, Ordering::Relaxed),
            false => self.exceeded.store(true, Ordering::Relaxed),
        }
        fits
    }
}

impl Text {
    /// All parts, one after the other, put together when it is read as far as `allowance` has room then.
    pub fn joined(parts: Vec<Text>, allowance: &Arc<Allowance>) -> Text {
        let length = parts.iter().fold(0, |all: usize, it| all.saturating_add(it.len()));
        let (parts, whole) = (parts.into_boxed_slice(), OnceLock::new());
        Text(Form::Joined(Arc::new(Joined { length, parts, whole, allowance: allowance.clone() })))
    }

    /// Its length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Whole(text) => text.len(),
            Form::Joined(joined) => joined.length,
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it was never anything but one text.
    pub fn is_whole(&self) -> bool {
        matches!(self.0, Form::Whole(_))
    }

    /// Itself, put together.
    pub fn whole(&self) -> Arc<str> {
        self.shared().clone()
    }

    #[inline]
    fn shared(&self) -> &Arc<str> {
        match &self.0 {
            Form::Whole(text) => text,
            Form::Joined(joined) => joined.shared(),
        }
    }
}

impl Joined {
    fn shared(&self) -> &Arc<str> {
        self.whole.get_or_init(|| {
            if !self.allowance.take(self.length) {
                return Arc::from("");
            }
            let mut out = String::with_capacity(self.length);
            // A chain of texts is as deep as it is long: no stack but this one.
            let mut left: Vec<&Text> = self.parts.iter().rev().collect();
            while let Some(Text(form)) = left.pop() {
                match form {
                    Form::Whole(text) => out.push_str(text),
                    Form::Joined(it) => match it.whole.get() {
                        Some(text) => out.push_str(text),
                        None => left.extend(it.parts.iter().rev()),
                    },
                }
            }
            out.into()
        })
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut left = vec![std::mem::take(&mut self.parts)];
        while let Some(parts) = left.pop() {
            for Text(form) in parts {
                if let Form::Joined(it) = form
                    && let Some(mut it) = Arc::into_inner(it)
                {
                    left.push(std::mem::take(&mut it.parts));
                }
            }
        }
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.shared()
    }
}

impl<T: Into<Arc<str>>> From<T> for Text {
    fn from(text: T) -> Text {
        Text(Form::Whole(text.into()))
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.len() == other.len() && **self == **other
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(most: u64) -> Arc<Allowance> {
        let it = Arc::new(Allowance::default());
        it.allow(most);
        it
    }

    #[test]
    fn a_deep_chain_is_put_together_once_and_dropped_without_a_stack() {
        let allowance = allowing(1 << 20);
        let mut text = Text::from("x");
        for _ in 0..100_000 {
            text = Text::joined(vec!["y".into(), text], &allowance);
        }
        assert_eq!((text.len(), allowance.used()), (100_001, 0));
        assert!(text.starts_with("yy") && text.ends_with("yx"));
        assert_eq!(allowance.used(), 100_001);
        // A longer one takes what is put together already.
        assert_eq!(
            *Text::joined(vec![text.clone(), text], &allowance),
            *["y".repeat(100_000), "x".to_owned()].concat().repeat(2)
        );
    }

    #[test]
    fn a_text_beyond_the_allowance_is_empty_and_says_so() {
        let allowance = allowing(100);
        let joined = |times: usize| Text::joined(vec!["0123456789".into(); times], &allowance);
        assert_eq!(joined(4).len(), joined(4).chars().count());
        assert!(!allowance.is_exceeded());
        let long = joined(60);
        assert_eq!((long.len(), &*long), (600, ""));
        assert!(allowance.is_exceeded());
    }
}
