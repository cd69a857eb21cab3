//! What compiling gives: expressions with every name resolved. Immutable, shared by evaluations.

use std::num::NonZeroU32;
use std::sync::Arc;

use cue_map::Map;
pub use cue_syntax::ast::At;
use thin_vec::ThinVec;

use crate::bodies::Body;
use crate::builtin::Datum;
use crate::labels::Labels;
use crate::sources::{Package, SourceText};
use crate::value::path::Selector;

mod choices;
mod code;
mod plain;

pub(crate) use self::choices::{Choices, Outward};
pub(crate) use self::code::{
    Arithmetic, Callee, Code, Interpolated, PartCode, Plain, Quotes, TypeName,
};
pub(crate) use self::plain::{Height, MOST_NESTED};

/// An expression of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(NonZeroU32); // Option<ExprId> is 4 bytes

impl ExprId {
    /// The expression at a place of a program.
    pub(crate) fn at(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place as u32))
    }

    /// The expression of that number.
    #[inline]
    pub(crate) fn numbered(number: NonZeroU32) -> Self {
        Self(number)
    }

    /// Which of them it is.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0.get()
    }

    /// Its number with further bits.
    #[inline]
    pub(crate) fn marked(self, bits: u32) -> NonZeroU32 {
        self.0 | bits
    }

    /// What [`Self::marked`] was asked of.
    #[inline]
    pub(crate) fn unmarked(marked: u32, bits: u32) -> Self {
        Self(NonZeroU32::new(marked & !bits).unwrap_or(NonZeroU32::MIN))
    }

    /// Its place.
    #[inline]
    fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// An interned name and what kind of label it is; an element of a list by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(NonZeroU32); // Option<Label> is 4 bytes

/// In a [`Label`]: the rest is the place of an element.
const ELEMENT: u32 = 1 << 31;

impl Label {
    /// The name at a place of all names.
    pub(crate) fn at(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place as u32))
    }

    /// Its place among the names, which an element has not.
    #[inline]
    pub(crate) fn place(self) -> Option<usize> {
        self.index().is_none().then(|| self.0.get() as usize - 1)
    }

    /// The element at a place of a list; `None` if it is so far on that it has a name.
    pub(crate) fn element(index: usize) -> Option<Self> {
        let index = u32::try_from(index).ok().filter(|it| it & ELEMENT == 0)?;
        NonZeroU32::new(ELEMENT | index).map(Self)
    }

    /// Which element it is, if it says that itself.
    #[inline]
    pub(crate) fn index(self) -> Option<usize> {
        let bits = self.0.get();
        (bits & ELEMENT != 0).then_some((bits & !ELEMENT) as usize)
    }
}

/// What a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabelKind {
    /// `a`, `"a"`
    Regular,
    /// `#a`
    Definition,
    /// `_a`
    Hidden,
    /// `_#a`
    HiddenDefinition,
    /// An element of a list.
    Index,
}

impl LabelKind {
    /// Of a name as written without quotes.
    pub fn of_identifier(name: &str) -> Self {
        if name.starts_with("_#") {
            LabelKind::HiddenDefinition
        } else if name.starts_with('#') {
            LabelKind::Definition
        } else if name.starts_with('_') {
            LabelKind::Hidden
        } else {
            LabelKind::Regular
        }
    }
}

/// How firmly a declaration puts a field there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// `a?:`
    Optional,
    /// `a!:`
    Required,
    /// `a:`
    Member,
}

/// Docs and attributes of a field declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Comment lines as they are written.
    pub docs: Vec<String>,
    /// Indices of those that begin another comment.
    pub breaks: Vec<u32>,
    /// How many of them stand above the field; the others stand below it.
    pub above: u32,
    /// An empty line stands between the field and those below.
    pub gap: bool,
    /// They stand above a label outside: `// a` of `c` in `b: c: 1`.
    pub outer: bool,
    /// An empty line stands above them.
    pub apart: bool,
    /// `(name, body)`
    pub attributes: Vec<(String, String)>,
}

impl Notes {
    /// The comment without what marks it as one.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.docs.iter().map(|it| {
            let text = it.strip_prefix("//").unwrap_or(it);
            text.strip_prefix(' ').unwrap_or(text)
        })
    }
}

/// The label of a declaration.
#[derive(Clone, Debug)]
pub(crate) enum DeclLabel {
    Fixed(Label),
    Computed(ExprId),
}

/// A declaration in a struct.
#[derive(Clone, Debug)]
pub(crate) enum Declaration {
    Field { label: DeclLabel, presence: Presence, value: ExprId, notes: u32, at: At },
    Pattern { label: ExprId, value: ExprId, alias: bool },
    Embed(ExprId),
    Comprehension(u32),
    Open,
}

impl Declaration {
    /// Whether it says nothing but of fields: neither another value nor a comprehension comes with it.
    pub(crate) fn is_of_fields(&self) -> bool {
        !matches!(self, Declaration::Embed(_) | Declaration::Comprehension(_))
    }
}

/// A `let` among declarations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LetCode {
    pub(crate) value: ExprId,
    pub(crate) name: Label,
    /// As messages tell it from others of its name.
    pub(crate) number: u32,
    /// How many declarations stand before it.
    pub(crate) place: u32,
}

/// A struct literal.
#[derive(Clone, Debug, Default)]
pub(crate) struct StructLiteral {
    pub(crate) declarations: Vec<Declaration>,
    /// In order: what stands later is compiled later.
    pub(crate) lets: ThinVec<LetCode>,
    pub(crate) has_embeds: bool,
    /// It is the body of a comprehension that embeds what may be another value in each round.
    pub(crate) varies: bool,
    /// It is the body of a comprehension that asks first whether something is there.
    pub(crate) asked: bool,
    /// Up to v0.14 its fields count apart from what it embeds: it is the body of a comprehension, or a field of one.
    pub(crate) apart: bool,
    /// Embedding does not open it (C-15).
    pub(crate) explicit: bool,
    /// It embeds values, or comprehensions bring some; what these bring else is fields of its own.
    pub(crate) takes_in: bool,
    /// It has `...`.
    pub(crate) is_open: bool,
    /// How many of the declarations are fields.
    pub(crate) fields: u32,
    /// It has fields, comprehensions and `...` only: between two fields nothing else is said of its vertex.
    pub(crate) fields_only: bool,
    /// Its attributes; apart where they stand on lines of their own.
    pub(crate) notes: u32,
    /// Labels as they are named, if it has comprehensions (O-4).
    pub(crate) named: Option<Box<[Label]>>,
}

impl Program {
    /// Marks what comprehensions bring: of a body, and of its fields that are literals, the fields come apart from
    /// what is embedded up to v0.14.
    pub(crate) fn set_apart(&mut self, body: ExprId) {
        let mut open = vec![body];
        while let Some(expr) = open.pop() {
            let Code::Struct(literal) = *self.code(expr) else { continue };
            let literal = &mut self.structs[literal as usize];
            literal.apart = literal.fields > 0;
            for it in &literal.declarations {
                if let Declaration::Field { label: DeclLabel::Fixed(_), value, .. } = it {
                    open.push(*value);
                }
            }
        }
    }
}

impl StructLiteral {
    /// What it embeds, if that is all that it declares.
    pub(crate) fn only_embedded(&self) -> Option<ExprId> {
        match self.declarations.as_slice() {
            [Declaration::Embed(it)] => Some(*it),
            _ => None,
        }
    }
}

/// An element of a list literal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListElement {
    Value(ExprId),
    Comprehension(u32),
    Rest(Option<ExprId>),
}

impl ListElement {
    /// The value of one that is one element.
    pub(crate) fn value(&self) -> Option<ExprId> {
        match self {
            ListElement::Value(value) => Some(*value),
            ListElement::Comprehension(_) | ListElement::Rest(_) => None,
        }
    }
}

/// A clause of a comprehension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClauseCode {
    For {
        keyed: bool,
        source: ExprId,
    },
    If(ExprId),
    Let(ExprId),
    /// `try x = e`
    Try(ExprId),
}

/// Clauses and body; each `for` and `let` is an environment.
#[derive(Clone, Debug)]
pub(crate) struct ComprehensionCode {
    pub(crate) clauses: Box<[ClauseCode]>,
    /// Where the first clause begins.
    pub(crate) at: At,
    pub(crate) body: ExprId,
    /// `try {…}`: the body may be left out.
    pub(crate) on_trial: bool,
    /// What is yielded instead of nothing.
    pub(crate) otherwise: Option<ExprId>,
    /// The body names definitions or calls `close`, or embeds what may be closed.
    pub(crate) closes: bool,
    /// What the body says, for those who ask which fields may still come.
    pub(crate) says: Body,
}

/// A compiled program.
#[derive(Clone)]
pub struct Program {
    pub(crate) codes: Vec<Code>,
    /// Where each stands.
    pub(crate) places: Vec<At>,
    /// Which are data, and how high.
    pub(crate) heights: Vec<Height>,
    /// Which are disjunctions that say the same.
    pub(crate) choices: Choices,
    pub(crate) structs: Vec<StructLiteral>,
    pub(crate) comprehensions: Vec<ComprehensionCode>,
    pub(crate) notes: Vec<Notes>,
    pub(crate) labels: Labels,
    /// Struct literals of the files of the main package.
    pub(crate) roots: Vec<ExprId>,
    /// Files of each imported package.
    pub(crate) packages: Vec<Package>,
    /// Name of the main package, if its files say that they are of one.
    pub(crate) package: Option<Arc<str>>,
    pub(crate) sources: Vec<SourceText>,
    /// Sources that hold at a path, and which.
    pub(crate) filled: Vec<(usize, Vec<Selector>)>,
    /// Whether KubeVela's leniencies hold.
    pub(crate) lenient: bool,
    /// What is selected from and depends on nothing in so many environments around it.
    pub(crate) lifts: Map<ExprId, u32>,
    /// On which environments those alternatives depend that depend on any.
    pub(crate) outward: Map<ExprId, Outward>,
    /// The literals that stand for builtin packages, where these are named as values, and how messages name them.
    pub(crate) named_packages: Map<ExprId, String>,
}

impl Program {
    /// The program of one who changes it: that very one, but a copy where somebody else holds it too.
    #[inline(never)]
    pub fn own(program: &mut Arc<Program>) -> &mut Program {
        Arc::make_mut(program)
    }

    /// The attributes of declarations: one that several have is there once.
    pub(crate) fn attributes(
        &self,
        notes: impl IntoIterator<Item = u32>,
    ) -> Vec<&(String, String)> {
        let mut all = Vec::new();
        for attribute in notes.into_iter().flat_map(|it| &self.notes[it as usize].attributes) {
            if !all.contains(&attribute) {
                all.push(attribute);
            }
        }
        all
    }

    /// Whether what an expression stands for may have a literal that embeds something.
    pub(crate) fn may_embed(&self, expr: ExprId) -> bool {
        match self.code(expr) {
            Code::Struct(literal) => self.structs[*literal as usize].has_embeds,
            Code::Top | Code::Type(..) | Code::Scalar(_) | Code::Bound(..) | Code::List(_) => false,
            _ => true,
        }
    }

    /// The alternative of that number of a disjunction.
    pub(crate) fn alternative(&self, (expr, pick): (ExprId, u32)) -> Option<ExprId> {
        match self.code(expr) {
            Code::Disjoin(all) => all.get(pick as usize).map(|it| it.0),
            _ => None,
        }
    }

    /// Whether two expressions are the same scalar or type.
    pub(crate) fn says_same_scalar(&self, left: ExprId, right: ExprId) -> bool {
        match (self.code(left), self.code(right)) {
            (Code::Scalar(Datum::Number(left)), Code::Scalar(Datum::Number(right))) => {
                left.cue_text() == right.cue_text()
            }
            (Code::Scalar(left), Code::Scalar(right)) => crate::compare::same(left, right),
            (Code::Top, Code::Top) => true,
            (Code::Type(_, left), Code::Type(_, right)) => left == right,
            _ => false,
        }
    }

    /// Whether an expression is a scalar or a type that a scalar can be; `None` if that takes more to tell.
    pub(crate) fn admits(&self, expr: ExprId, datum: &Datum) -> Option<bool> {
        let same = match self.code(expr) {
            Code::Scalar(it) => crate::compare::same(it, datum),
            Code::Type(kinds, name) => {
                let meets = kinds.meets(crate::compare::kinds(datum));
                // Ranges look at the number too.
                return (!meets || cue_definition::is_plain_type(name)).then_some(meets);
            }
            _ => return None,
        };
        Some(same)
    }

    /// Whether two expressions are scalars or types that exclude each other.
    pub(crate) fn exclude(&self, left: ExprId, right: ExprId) -> bool {
        match (self.code(left), self.code(right)) {
            (Code::Scalar(datum), _) => self.admits(right, datum) == Some(false),
            (_, Code::Scalar(datum)) => self.admits(left, datum) == Some(false),
            (Code::Type(left, _), Code::Type(right, _)) => !left.meets(*right),
            _ => false,
        }
    }

    /// `*null | _`, the third expression of every program.
    pub(crate) fn nothing_said() -> ExprId {
        ExprId::at(2)
    }

    pub(crate) fn empty() -> Self {
        let mut program = Program {
            codes: Vec::new(),
            places: Vec::new(),
            heights: Vec::new(),
            choices: Choices::default(),
            structs: Vec::new(),
            comprehensions: Vec::new(),
            // The first is that of declarations without any.
            notes: vec![Notes::default()],
            labels: Labels::default(),
            roots: Vec::new(),
            packages: Vec::new(),
            package: None,
            sources: Vec::new(),
            filled: Vec::new(),
            lenient: false,
            lifts: Map::default(),
            outward: Map::default(),
            named_packages: Map::default(),
        };
        // These stand nowhere.
        let at = At { source: u32::MAX, ..At::default() };
        let null = program.push(Code::Scalar(Datum::Null), at);
        let top = program.push(Code::Top, at);
        program.push(Code::Disjoin([(null, true), (top, false)].into()), at);
        program
    }

    #[inline]
    pub(crate) fn code(&self, id: ExprId) -> &Code {
        &self.codes[id.place()]
    }

    #[inline]
    pub(crate) fn at(&self, id: ExprId) -> At {
        self.places[id.place()]
    }

    /// One more expression.
    pub(crate) fn push(&mut self, code: Code, at: At) -> ExprId {
        let place = self.codes.len();
        self.heights.push(self.height(&code));
        self.codes.push(code);
        self.places.push(at);
        let id = ExprId::at(place);
        self.note_choice(id);
        id
    }

    /// Makes room for about so many expressions: growing would take that of half as many again.
    pub(crate) fn reserve(&mut self, expressions: usize) {
        self.codes.reserve(expressions);
        self.places.reserve(expressions);
        self.heights.reserve(expressions);
    }

    /// Gives back the room that nothing came for.
    pub(crate) fn shrink(&mut self) {
        self.codes.shrink_to_fit();
        self.places.shrink_to_fit();
        self.heights.shrink_to_fit();
        self.structs.shrink_to_fit();
        self.comprehensions.shrink_to_fit();
    }
}
