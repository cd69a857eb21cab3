//! What becomes of what is there already.

/// By the flag that allows to replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and that is an error.
    Kept,
    /// It goes.
    Replaced,
}

impl From<bool> for Existing {
    fn from(replace: bool) -> Self {
        if replace { Self::Replaced } else { Self::Kept }
    }
}
