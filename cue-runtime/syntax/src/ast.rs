//! The syntax tree: plain data, every node with its span.

use std::ops::Deref;
use std::sync::Arc;

use thin_vec::ThinVec;

use crate::language::Experiments;

/// Byte range in one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Whether a byte is in it.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// A position: source and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct At {
    /// Index of the source in the program.
    pub source: u32,
    /// Bytes.
    pub span: Span,
}

impl At {
    /// Whether another place is within this one, or is it.
    pub fn holds(self, other: Self) -> bool {
        self.source == other.source
            && self.span.start <= other.span.start
            && other.span.end <= self.span.end
    }
}

/// A file.
#[derive(Debug, Default)]
pub struct File {
    /// Name of the package, if there is a clause.
    pub package: Option<Ident>,
    /// Imports, in order.
    pub imports: Vec<Import>,
    /// Attributes before the declarations.
    pub attributes: Vec<Attribute>,
    /// What it asks for.
    pub experiments: Experiments,
    /// Everything else.
    pub decls: ThinVec<Decl>,
    /// Of the text, which bounds how deeply the declarations nest.
    pub length: usize,
    /// How many expressions there are in it.
    pub expressions: usize,
}

impl Drop for File {
    fn drop(&mut self) {
        let decls = std::mem::take(&mut self.decls);
        if !decls.is_empty() {
            crate::stack::enough(self.length, || drop(decls));
        }
    }
}

/// `import name "path:package"`
#[derive(Debug)]
pub struct Import {
    /// Local name, if given.
    pub name: Option<Ident>,
    /// Unquoted.
    pub path: String,
    /// Where.
    pub span: Span,
}

impl Import {
    /// The name of the package: behind the colon of its path, or else the last part of that without a version.
    pub fn package(&self) -> &str {
        let last = self.path.rsplit('/').next().unwrap_or(&self.path);
        match self.path.rsplit_once(':') {
            Some((_, name)) => name,
            None => last.split('@').next().unwrap_or(last),
        }
    }

    /// What it is called in its file.
    pub fn called(&self) -> &str {
        self.name.as_ref().map_or_else(|| self.package(), |it| &it.name)
    }
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// As written, prefix included.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
}

impl Ident {
    /// The clause of a `let` in `text` up to this, the name in it.
    pub fn of_let(&self, text: &str) -> Span {
        let before = text.get(..self.span.start as usize).unwrap_or_default();
        match before.trim_end().strip_suffix("let") {
            Some(rest) => Span { start: rest.len() as u32, end: self.span.end },
            None => self.span,
        }
    }
}

/// `@name(body)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Text between the parentheses.
    pub body: String,
    /// Where.
    pub span: Span,
}

/// `?` or `!` behind a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Nothing.
    None,
    /// `?`
    Optional,
    /// `!`
    Required,
}

/// What stands before a colon.
#[derive(Debug)]
pub enum Label {
    /// `a`, `_a`, `#a`
    Ident(Ident),
    /// `"a"`, unquoted.
    String(Arc<str>, Span),
    /// `"\(x)"`
    Interpolated(Box<Expr>),
    /// `(x)`
    Dynamic(Box<Expr>),
    /// `[x]`, with the alias of `[X=x]`.
    Pattern(Box<Expr>, Option<Box<Ident>>),
}

impl Label {
    /// The name, if it is written.
    pub fn name(&self) -> Option<&str> {
        match self {
            Label::Ident(it) => Some(&it.name),
            Label::String(it, _) => Some(it),
            Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => None,
        }
    }
}

/// The comments about a field.
#[derive(Debug, Default)]
pub struct Docs {
    /// Their lines, without `//`.
    pub lines: ThinVec<String>,
    /// Indices of those that begin another comment.
    pub breaks: ThinVec<u32>,
    /// An empty line stands above the first.
    pub apart: bool,
    /// The same comments as they are written.
    pub comments: Comments,
}

/// The comments of a field, with `//`.
#[derive(Debug, Default)]
pub struct Comments {
    /// Lines above it.
    pub above: ThinVec<String>,
    /// Lines below the last field of a struct.
    pub below: ThinVec<String>,
    /// An empty line stands between the field and those below.
    pub gap: bool,
    /// Those above stand above a label outside: `// a` of `c` in `b: c: 1`.
    pub outer: bool,
}

/// `label: value`; it dereferences to what few fields have.
#[derive(Debug)]
pub struct Field {
    /// Label.
    pub label: Label,
    /// Marker.
    pub marker: Marker,
    /// Value.
    pub value: Expr,
    /// What few fields have, if this one has any of it.
    pub rare: Option<Box<Rare>>,
    /// Label to value.
    pub span: Span,
    /// The label.
    pub label_span: Span,
}

/// What few fields have: aliases, attributes, comments.
#[derive(Debug, Default)]
pub struct Rare {
    /// Alias of `X=label:` or `label~X:`.
    pub alias: Option<Box<Ident>>,
    /// Name of the label in `label~(K,X):`.
    pub key_alias: Option<Box<Ident>>,
    /// Alias of `label: X=value`.
    pub value_alias: Option<Box<Ident>>,
    /// Attributes behind the value.
    pub attributes: ThinVec<Attribute>,
    /// The comments about it, if there are any.
    pub docs: Option<Box<Docs>>,
}

impl Rare {
    /// Itself, if there is any of it.
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        let aliases = [&self.alias, &self.key_alias, &self.value_alias];
        let any = aliases.into_iter().any(Option::is_some)
            || !self.attributes.is_empty()
            || self.docs.is_some();
        any.then(|| Box::new(self))
    }
}

impl Deref for Field {
    type Target = Rare;

    fn deref(&self) -> &Rare {
        static NONE: Rare = Rare {
            alias: None,
            key_alias: None,
            value_alias: None,
            attributes: ThinVec::new(),
            docs: None,
        };
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl Field {
    /// The comments about it, with `//`.
    pub fn comments(&self) -> &Comments {
        static NONE: Comments =
            Comments { above: ThinVec::new(), below: ThinVec::new(), gap: false, outer: false };
        self.docs.as_deref().map_or(&NONE, |it| &it.comments)
    }

    /// Whether an empty line stands above them.
    pub fn is_apart(&self) -> bool {
        self.docs.as_deref().is_some_and(|it| it.apart)
    }
}

/// A declaration in a struct or file.
#[derive(Debug)]
pub enum Decl {
    /// A field.
    Field(Box<Field>),
    /// `let x = e`
    Let(Ident, Box<Expr>),
    /// `...` or `...T`
    Ellipsis(Option<Box<Expr>>, Span),
    /// An expression, a comprehension.
    Embed(Box<Expr>),
    /// `@name(…)`
    Attribute(Box<Attribute>),
}

/// A clause of a comprehension.
#[derive(Debug)]
pub enum Clause {
    /// `for k, v in e`
    For {
        /// Key, if named.
        key: Option<Ident>,
        /// Value.
        value: Ident,
        /// Source.
        source: Expr,
    },
    /// `if e`
    If(Expr),
    /// `let x = e`
    Let(Ident, Expr),
    /// `try`, `try x = e`
    Try(Span, Option<(Ident, Expr)>),
    /// `else`, `otherwise`, `fallback`: what is yielded instead of nothing; the last one.
    Otherwise(Expr),
}

impl Clause {
    /// The expression in it.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Clause::For { source: it, .. }
            | Clause::If(it)
            | Clause::Let(_, it)
            | Clause::Otherwise(it)
            | Clause::Try(_, Some((_, it))) => Some(it),
            Clause::Try(_, None) => None,
        }
    }
}

/// An element of a list.
#[derive(Debug)]
pub enum Element {
    /// A value, or a comprehension.
    Expr(Expr),
    /// `...` or `...T`
    Ellipsis(Option<Box<Expr>>),
}

impl Element {
    /// The expression in it.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Element::Expr(it) => Some(it),
            Element::Ellipsis(it) => it.as_deref(),
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
    /// `*`, a default in a disjunction.
    Default,
    /// `<`, `<=`, `>`, `>=`, `!=`, `=~`, `!~`, `==` as bounds.
    Bound(Compare),
    /// `x?`: whether it is there decides the `try` around it.
    Attempt,
    /// `x...`: opened.
    Open,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `=~`
    Match,
    /// `!~`
    NotMatch,
}

impl Binary {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            Binary::Unify => "&",
            Binary::Disjoin => "|",
            Binary::And => "&&",
            Binary::Or => "||",
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Compare(compare) => compare.symbol(),
        }
    }
}

impl Compare {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            Compare::Equal => "==",
            Compare::NotEqual => "!=",
            Compare::Less => "<",
            Compare::LessEqual => "<=",
            Compare::Greater => ">",
            Compare::GreaterEqual => ">=",
            Compare::Match => "=~",
            Compare::NotMatch => "!~",
        }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `&`
    Unify,
    /// `|`
    Disjoin,
    /// `&&`
    And,
    /// `||`
    Or,
    /// A comparison.
    Compare(Compare),
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A part of an interpolated string.
#[derive(Debug)]
pub enum Part {
    /// Text, unescaped.
    Text(Vec<u8>),
    /// `\(e)`
    Expr(Expr),
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Which expression.
#[derive(Debug)]
pub enum ExprKind {
    /// A name.
    Ident(Arc<str>),
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as written.
    Number(Arc<str>),
    /// A string, unquoted.
    String(Arc<str>),
    /// Bytes, unquoted.
    Bytes(Arc<[u8]>),
    /// A string (or bytes) with expressions in it.
    Interpolation {
        /// Parts in order.
        parts: ThinVec<Part>,
        /// `'…'` instead of `"…"`.
        bytes: bool,
    },
    /// `_|_`
    Bottom,
    /// `_`
    Top,
    /// `{…}`
    Struct(ThinVec<Decl>),
    /// `[…]`
    List(ThinVec<Element>),
    /// `op e`
    Unary(Unary, Box<Expr>),
    /// `e op e`
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `e.x`, `e."x"`
    Select(Box<(Expr, Ident)>),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `e[a:b]`
    Slice(Box<(Expr, Option<Expr>, Option<Expr>)>),
    /// `f(a, b)`
    Call(Box<Expr>, ThinVec<Expr>),
    /// `(e)`
    Paren(Box<Expr>),
    /// Clauses and what they yield.
    Comprehension(ThinVec<Clause>, Box<Expr>),
    /// What could not be parsed; there is an error for it.
    Bad,
}

impl ExprKind {
    /// Whether it is a scalar as it is written: `null`, a boolean, a number, a text or bytes.
    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            ExprKind::Null
                | ExprKind::Bool(_)
                | ExprKind::Number(_)
                | ExprKind::String(_)
                | ExprKind::Bytes(_)
        )
    }
}

impl Expr {
    /// The expressions directly in it that see the same names, in order: of a struct and of a
    /// comprehension, which bind names of their own, none.
    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::List(elements) => elements.iter().filter_map(Element::expr).collect(),
            ExprKind::Interpolation { parts, .. } => parts
                .iter()
                .filter_map(|it| match it {
                    Part::Expr(it) => Some(it),
                    Part::Text(_) => None,
                })
                .collect(),
            ExprKind::Unary(_, it) | ExprKind::Paren(it) => vec![it],
            ExprKind::Select(it) => vec![&it.0],
            ExprKind::Binary(_, left, right) | ExprKind::Index(left, right) => vec![left, right],
            ExprKind::Slice(it) => {
                let (base, low, high) = &**it;
                [Some(base), low.as_ref(), high.as_ref()].into_iter().flatten().collect()
            }
            ExprKind::Call(callee, arguments) => {
                std::iter::once(&**callee).chain(arguments).collect()
            }
            ExprKind::Struct(_)
            | ExprKind::Comprehension(..)
            | ExprKind::Ident(_)
            | ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::Bytes(_)
            | ExprKind::Bottom
            | ExprKind::Top
            | ExprKind::Bad => Vec::new(),
        }
    }
}
