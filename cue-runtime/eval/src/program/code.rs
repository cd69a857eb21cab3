//! Expressions: what each is, with its names resolved.

use std::ops::Deref;
use std::sync::Arc;

use cue_syntax::ast::Compare;
use smallvec::SmallVec;

use super::{ExprId, Label, ListElement};
use crate::builtin::{Builtin, Datum, Kinds};

/// Arithmetic with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Functions without a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Len,
    Close,
    And,
    Or,
    Div,
    Mod,
    Quo,
    Rem,
    Error,
    MatchN,
    MatchIf,
    /// `__closeAll` and `__reclose` (C-15).
    CloseAll,
    Reclose,
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) enum Callee {
    Plain(Plain),
    Package(Builtin),
}

/// A part of an interpolation.
#[derive(Clone, Debug)]
pub(crate) enum PartCode {
    Text(Arc<[u8]>),
    Value(ExprId),
}

/// Text and what is put into it.
#[derive(Debug)]
pub(crate) struct Interpolated {
    pub(crate) parts: Box<[PartCode]>,
    pub(crate) quotes: Quotes,
}

/// What a function is called with: one word, as most expressions are small.
pub(crate) type Arguments = Arc<SmallVec<[ExprId; 2]>>;

/// What an interpolated text stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// A string.
    Double,
    /// Bytes.
    Single,
}

/// The name of a predeclared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeName(u8);

const TYPE_NAMES: [&str; 20] = [
    "int", "uint", "uint8", "uint16", "uint32", "uint64", "uint128", "int8", "int16", "int32",
    "int64", "int128", "rune", "float32", "float64", "string", "bytes", "bool", "float", "number",
];

impl TypeName {
    /// That of a type; of what is none the first.
    pub(crate) fn of(name: &str) -> Self {
        Self(TYPE_NAMES.iter().position(|it| *it == name).unwrap_or(0) as u8)
    }

    /// As it is written.
    pub(crate) fn text(self) -> &'static str {
        TYPE_NAMES[usize::from(self.0)]
    }
}

impl Deref for TypeName {
    type Target = str;

    fn deref(&self) -> &str {
        self.text()
    }
}

/// An expression.
#[derive(Clone)]
pub(crate) enum Code {
    Scalar(Datum),
    Interpolation(Arc<Interpolated>),
    Bottom,
    Top,
    Type(Kinds, TypeName),
    Struct(u32),
    List(Arc<[ListElement]>),
    Not(ExprId),
    Negative(ExprId),
    Positive(ExprId),
    Bound(Compare, ExprId),
    Unify(ExprId, ExprId),
    Disjoin(Arc<[(ExprId, bool)]>),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Compare(Compare, ExprId, ExprId),
    Arithmetic(Arithmetic, ExprId, ExprId),
    /// A field of the struct `up` environments out.
    Field {
        up: u32,
        label: Label,
    },
    /// A `let` of that struct.
    Let {
        up: u32,
        index: u32,
    },
    /// The value (0) or key (1) of a comprehension's environment.
    Variable {
        up: u32,
        index: u32,
    },
    /// The name matched by the pattern of that environment.
    PatternName {
        up: u32,
    },
    /// The field of the struct `up` environments out whose label that expression gives there.
    ComputedField {
        up: u32,
        label: ExprId,
    },
    /// An expression as it is `up` environments out.
    Outer {
        up: u32,
        expr: ExprId,
    },
    /// The struct `up` environments out: `self`.
    Enclosing {
        up: u32,
    },
    /// A value whose innermost environment holds the vertex it becomes: `a: X={…}`.
    Aliased(ExprId),
    /// The root of an imported package.
    Import(u32),
    /// A builtin function as a value: a validator.
    Function(Callee),
    Select(ExprId, Label),
    Index(ExprId, ExprId),
    Slice(ExprId, Option<ExprId>, Option<ExprId>),
    Call(Callee, Arguments),
    /// A call of what has a function as its value, or of something that is none.
    CallOf(ExprId, Arguments),
    /// `x?` in a `try`.
    Attempt(ExprId),
    /// `x...`
    Opened(ExprId),
}

impl Code {
    /// Whether it may bring fields.
    pub(crate) fn has_fields(&self) -> bool {
        matches!(
            self,
            Code::Struct(_)
                | Code::List(_)
                | Code::Unify(..)
                | Code::Aliased(_)
                | Code::Opened(_)
                | Code::Disjoin(_)
                | Code::Call(..)
                | Code::CallOf(..)
                | Code::Field { .. }
                | Code::Let { .. }
                | Code::Variable { .. }
                | Code::Enclosing { .. }
                | Code::Select(..)
        )
    }

    /// Whether it needs nothing else: a scalar, a type or a literal.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(
            self,
            Code::Scalar(_)
                | Code::Top
                | Code::Type(..)
                | Code::Struct(_)
                | Code::List(_)
                | Code::Unify(..)
                | Code::Aliased(_)
        )
    }

    /// A list with loops or guards in it.
    pub(crate) fn is_computed_list(&self) -> bool {
        match self {
            Code::List(elements) => {
                elements.iter().any(|it| matches!(it, ListElement::Comprehension(_)))
            }
            _ => false,
        }
    }

    /// The scalar that is written there.
    pub(crate) fn scalar(&self) -> Option<&Datum> {
        match self {
            Code::Scalar(datum) => Some(datum),
            _ => None,
        }
    }

    /// A scalar or a type that is written there.
    pub(crate) fn is_tag(&self) -> bool {
        matches!(self, Code::Scalar(_) | Code::Type(..))
    }

    /// Whether it leads somewhere by names.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(
            self,
            Code::Field { .. }
                | Code::ComputedField { .. }
                | Code::Let { .. }
                | Code::Variable { .. }
                | Code::Enclosing { .. }
                | Code::Select(..)
                | Code::Index(..)
        )
    }

    /// Whether it is a reference or has to be computed (S-23).
    pub(crate) fn is_computed(&self) -> bool {
        matches!(
            self,
            Code::Interpolation(..)
                | Code::Not(_)
                | Code::Negative(_)
                | Code::Positive(_)
                | Code::Bound(..)
                | Code::And(..)
                | Code::Or(..)
                | Code::Compare(..)
                | Code::Arithmetic(..)
                | Code::Field { .. }
                | Code::PatternName { .. }
                | Code::Let { .. }
                | Code::Variable { .. }
                | Code::ComputedField { .. }
                | Code::Outer { .. }
                | Code::Enclosing { .. }
                | Code::Import(_)
                | Code::Select(..)
                | Code::Index(..)
                | Code::Slice(..)
                | Code::Call(..)
                | Code::CallOf(..)
                | Code::Attempt(_)
                | Code::Opened(_)
                | Code::Function(Callee::Package(..))
        )
    }

    /// Whether it is content by itself, not by what it refers to (S-62).
    pub(crate) fn says_something(&self) -> bool {
        self.is_tag()
            || matches!(
                self,
                Code::Interpolation(..)
                    | Code::Top
                    | Code::Struct(_)
                    | Code::List(_)
                    | Code::Bound(..)
                    | Code::Function(_)
            )
    }
}
