//! Sets of kinds of values.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign};

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOL: Self = Self(1 << 1);
    pub(crate) const INT: Self = Self(1 << 2);
    pub(crate) const FLOAT: Self = Self(1 << 3);
    pub(crate) const STRING: Self = Self(1 << 4);
    pub(crate) const BYTES: Self = Self(1 << 5);
    pub(crate) const LIST: Self = Self(1 << 6);
    pub(crate) const STRUCT: Self = Self(1 << 7);
    pub(crate) const NUMBER: Self = Self(Self::INT.0 | Self::FLOAT.0);
    /// All that JSON has.
    pub(crate) const ALL: Self = Self(0xFF & !Self::BYTES.0);

    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether they have one in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }
}

impl BitAnd for Kinds {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAndAssign for Kinds {
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for Kinds {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A single kind, as messages have it.
impl fmt::Display for Kinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match *self {
            Self::NULL => "null",
            Self::BOOL => "bool",
            Self::INT => "int",
            Self::FLOAT => "float",
            Self::STRING => "string",
            Self::BYTES => "bytes",
            Self::LIST => "list",
            Self::STRUCT => "struct",
            _ => "_",
        })
    }
}

/// What constraints of a schema are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Core {
    /// All, in the order in which they are written.
    pub(crate) const ALL: [Self; 6] =
        [Self::Null, Self::Bool, Self::Number, Self::String, Self::Array, Self::Object];

    pub(crate) fn kinds(self) -> Kinds {
        match self {
            Core::Null => Kinds::NULL,
            Core::Bool => Kinds::BOOL,
            Core::Number => Kinds::NUMBER,
            Core::String => Kinds::STRING,
            Core::Array => Kinds::LIST,
            Core::Object => Kinds::STRUCT,
        }
    }

    /// As messages have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Core::Null => "null",
            Core::Bool => "bool",
            Core::Number => "number",
            Core::String => "string",
            Core::Array => "array",
            Core::Object => "object",
        }
    }
}
