//! Syntax trees to a program: every identifier is resolved once.

use std::sync::Arc;

use cue_syntax::ast::{
    Binary, Clause, Decl, Element, Expr, ExprKind, Field, File, Ident, Label as AstLabel, Marker,
    Part, Span, Unary,
};
use cue_syntax::{LineIndex, parse_file};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtin::{self, Constant, Item, Kinds};
use crate::number::Number;
use crate::program::{
    Arithmetic, At, Callee, ClauseCode, Code, ComprehensionCode, DeclLabel, Declaration, ExprId,
    Label, LabelKind, ListElement, Notes, PartCode, Plain, Presence, Program, SourceText,
    StructLiteral,
};

/// A source: name and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// For positions.
    pub name: String,
    /// CUE.
    pub text: String,
}

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// CUE's words.
    pub message: String,
    /// Source name, line, column.
    pub position: (String, u32, u32),
}

/// Compiles the files of one package; `packages` are what they may import besides the builtin ones.
///
/// # Errors
/// Everything that does not parse or resolve, in source order.
pub fn compile(
    sources: &[Source],
    packages: &[(String, Vec<Source>)],
    lenient: bool,
) -> Result<Program, Vec<LoadError>> {
    let mut compiler = Compiler::new(Program { lenient, ..Program::empty() }, packages);
    let roots = compiler.package(sources);
    compiler.program.roots = roots;
    if compiler.errors.is_empty() { Ok(compiler.program) } else { Err(compiler.errors) }
}

#[derive(Clone)]
pub(crate) enum Named {
    Field(Label),
    /// The alias of a field whose label is computed.
    Computed(ExprId),
    /// `K` of `label~(K,V)`: the label as a string.
    Key(Arc<str>),
    ComputedKey(ExprId),
    Let(u32),
    Variable(u32),
    PatternName,
}

#[derive(Clone)]
pub(crate) enum Imported {
    Builtin(&'static builtin::Package),
    Package(u32),
}

pub(crate) enum Scope {
    /// A struct, a comprehension's clause, or a pattern's value: one environment each.
    Names(FxHashMap<Arc<str>, Named>),
    /// A struct's own names.
    Struct(FxHashMap<Arc<str>, Named>),
    /// Imports of a file; no environment.
    Imports(FxHashMap<Arc<str>, Imported>),
}

pub(crate) struct Compiler<'a> {
    pub(crate) program: Program,
    available: &'a [(String, Vec<Source>)],
    loaded: FxHashMap<String, Option<u32>>,
    pub(crate) errors: Vec<LoadError>,
    scopes: Vec<Scope>,
    source: u32,
    /// Names that stand for a `let`, an alias or an import of the file, and were referred to.
    used: Vec<FxHashSet<Arc<str>>>,
    /// The file asks for the new aliases and `self`.
    aliasv2: bool,
    /// `@experiment(try)`
    attempts: bool,
    /// `@experiment(explicitopen)`
    explicitopen: bool,
    /// Inside of what a `try` is about.
    trying: bool,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(program: Program, available: &'a [(String, Vec<Source>)]) -> Self {
        Compiler {
            program,
            available,
            loaded: FxHashMap::default(),
            errors: Vec::new(),
            scopes: Vec::new(),
            source: 0,
            used: Vec::new(),
            aliasv2: false,
            attempts: false,
            explicitopen: false,
            trying: false,
        }
    }
}

impl Compiler<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        let source = &self.program.sources[self.source as usize];
        let (line, column) = source.lines.at(span.start);
        self.errors.push(LoadError {
            message: message.into(),
            position: (source.name.clone(), line, column),
        });
    }

    pub(crate) fn parse(&mut self, source: &Source) -> File {
        self.source = self.program.sources.len() as u32;
        self.program.sources.push(SourceText {
            name: source.name.clone(),
            lines: LineIndex::new(&source.text),
            text: source.text.as_str().into(),
        });
        let parsed = parse_file(&source.text);
        for error in parsed.errors {
            self.error(error.span, error.message);
        }
        parsed.file
    }

    fn package(&mut self, sources: &[Source]) -> Vec<ExprId> {
        let mut files = Vec::new();
        for source in sources {
            let file = self.parse(source);
            files.push((self.source, file));
        }
        let mut shared = FxHashMap::default();
        for (_, file) in &files {
            for decl in &file.decls {
                if let Decl::Field(field) = decl {
                    if let Some(name) = identifier(&field.label) {
                        let label = self.program.labels.identifier(&name);
                        shared.insert(name, label);
                    }
                }
            }
        }
        let outside = (std::mem::take(&mut self.scopes), std::mem::take(&mut self.used));
        let mut roots = Vec::new();
        for (source, file) in &files {
            self.source = *source;
            roots.push(self.file(file, &shared));
        }
        (self.scopes, self.used) = outside;
        roots
    }

    pub(crate) fn file(&mut self, file: &File, shared: &FxHashMap<Arc<str>, Label>) -> ExprId {
        let source = self.source;
        let mut imports = FxHashMap::default();
        let mut places: FxHashMap<Arc<str>, Span> = FxHashMap::default();
        let mut redeclared = Vec::new();
        let text = self.program.sources[source as usize].text.clone();
        let asked: Vec<&str> = text
            .lines()
            .filter_map(|it| it.trim().strip_prefix("@experiment(")?.split(')').next())
            .flat_map(|it| it.split(','))
            .map(str::trim)
            .collect();
        self.aliasv2 = asked.contains(&"aliasv2");
        self.attempts = asked.contains(&"try");
        self.explicitopen = asked.contains(&"explicitopen");
        for import in &file.imports {
            let (path, explicit) = match import.path.rsplit_once(':') {
                Some((path, name)) => (path.to_owned(), Some(name.to_owned())),
                None => (import.path.clone(), None),
            };
            let last = path.rsplit('/').next().unwrap_or(&path);
            let name: Arc<str> = match (&import.name, explicit) {
                (Some(name), _) => name.name.clone(),
                (None, Some(name)) => name.as_str().into(),
                (None, None) => last.into(),
            };
            let name_span = import.name.as_ref().map_or(import.span, |it| it.span);
            if shared.contains_key(&name) || imports.contains_key(&name) {
                let earlier = places.get(&name).copied();
                redeclared.push((name.clone(), earlier, name_span));
            }
            places.entry(name.clone()).or_insert(name_span);
            match self.import(&path) {
                Some(imported) => {
                    imports.insert(name, imported);
                }
                None => {
                    self.source = source;
                    self.error(import.span, format!("cannot find package {path:?}"));
                }
            }
            self.source = source;
        }
        for (name, earlier, again) in redeclared {
            // Against a field the field is the later one; of two imports the second.
            let (span, previous) = match (shared.contains_key(&name), earlier) {
                (true, _) => {
                    let field = file.decls.iter().find_map(|it| match it {
                        Decl::Field(field) if identifier(&field.label).as_ref() == Some(&name) => {
                            Some(field.label_span)
                        }
                        _ => None,
                    });
                    (field.unwrap_or(again), again)
                }
                (false, earlier) => (again, earlier.unwrap_or(again)),
            };
            let it = &self.program.sources[source as usize];
            let (line, column) = it.lines.at(previous.start);
            let place = format!("./{}:{line}:{column}", it.name);
            let message = format!(
                "{name} redeclared as imported package name\n\tprevious declaration at {place}"
            );
            self.error(span, message);
        }
        self.enter(Scope::Imports(imports));
        let names = shared.iter().map(|(name, label)| (name.clone(), Named::Field(*label)));
        let root = self.literal(&file.decls, names.collect(), Span::default());
        let used = self.leave();
        if !self.program.lenient && self.errors.is_empty() {
            for import in &file.imports {
                let path = import.path.rsplit_once(':').map_or(&*import.path, |it| it.0);
                let explicit = import.path.rsplit_once(':').map(|it| it.1);
                let last = path.rsplit('/').next().unwrap_or(path);
                let name = import.name.as_ref().map_or(explicit.unwrap_or(last), |it| &it.name);
                if used.contains(name) {
                    continue;
                }
                let suffix = match &import.name {
                    Some(name) => format!(" as {}", name.name),
                    None => String::new(),
                };
                let message = format!("imported and not used: {:?}{suffix}", import.path);
                self.error(import.span, message);
            }
        }
        root
    }

    fn import(&mut self, path: &str) -> Option<Imported> {
        if let Some((_, sources)) = self.available.iter().find(|it| it.0 == path) {
            if let Some(known) = self.loaded.get(path) {
                return known.map(Imported::Package);
            }
            self.loaded.insert(path.into(), None);
            let outside = self.program.labels.go_to(path);
            let roots = self.package(sources);
            self.program.labels.return_to(outside);
            let index = self.program.packages.len() as u32;
            self.program.packages.push(roots);
            self.loaded.insert(path.into(), Some(index));
            return Some(Imported::Package(index));
        }
        builtin::package(path).map(Imported::Builtin)
    }

    fn enter(&mut self, scope: Scope) {
        self.scopes.push(scope);
        self.used.push(FxHashSet::default());
    }

    /// Leaves the innermost scope; the names of it that were referred to.
    fn leave(&mut self) -> FxHashSet<Arc<str>> {
        self.scopes.pop();
        self.used.pop().unwrap_or_default()
    }

    /// Whether the nearest scope outside that has the name has it as a `let`; of fields `false`.
    fn bound_to_let(&self, name: &Arc<str>) -> Option<bool> {
        self.scopes.iter().rev().find_map(|scope| match scope {
            Scope::Struct(names) => match names.get(name)? {
                Named::Let(_) => Some(true),
                Named::Field(_) => Some(false),
                _ => None,
            },
            Scope::Names(_) | Scope::Imports(_) => None,
        })
    }

    /// A `let` or alias that nothing refers to (cue-errors 1.14).
    fn unreferenced(&mut self, name: &Ident, used: &FxHashSet<Arc<str>>) {
        if !used.contains(&name.name) {
            let message = format!("unreferenced alias or let clause {}", name.name);
            self.error(name.span, message);
        }
    }

    fn push(&mut self, code: Code, span: Span) -> ExprId {
        let id = ExprId(self.program.codes.len() as u32);
        self.program.codes.push((code, At { source: self.source, span }));
        id
    }

    fn literal(
        &mut self,
        decls: &[Decl],
        mut names: FxHashMap<Arc<str>, Named>,
        span: Span,
    ) -> ExprId {
        let mut lets = 0;
        let mut clashes = Vec::new();
        for decl in decls {
            match decl {
                Decl::Field(field) => {
                    if let Some(name) = identifier(&field.label) {
                        let label = self.program.labels.identifier(&name);
                        let outer = match names.get(&name) {
                            Some(it) => Some(matches!(it, Named::Let(_))),
                            None => self.bound_to_let(&name),
                        };
                        if outer == Some(true) {
                            clashes.push((name.clone(), field.label_span));
                        }
                        names.insert(name, Named::Field(label));
                    }
                    if let (Some(key), Some((_, text))) = (&field.key_alias, fixed(&field.label)) {
                        names.insert(key.name.clone(), Named::Key(text));
                    }
                    if let (Some(alias), Some(label)) = (&field.alias, fixed(&field.label)) {
                        let label = match label {
                            (LabelKind::Regular, name) => {
                                self.program.labels.intern(LabelKind::Regular, &name)
                            }
                            (_, name) => self.program.labels.identifier(&name),
                        };
                        names.insert(alias.name.clone(), Named::Field(label));
                    }
                }
                Decl::Let(name, _) => {
                    let own = decls.iter().any(|it| match it {
                        Decl::Field(field) => {
                            identifier(&field.label).as_ref() == Some(&name.name)
                                && field.label_span.start < name.span.start
                        }
                        _ => false,
                    });
                    if own || self.bound_to_let(&name.name) == Some(false) {
                        clashes.push((name.name.clone(), name.span));
                    }
                    names.insert(name.name.clone(), Named::Let(lets));
                    lets += 1;
                }
                Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => {}
            }
        }
        for (name, span) in clashes {
            let message =
                format!("cannot have both alias and field with name \"{name}\" in same scope");
            self.error(span, message);
        }
        self.enter(Scope::Struct(names));
        for decl in decls {
            let Decl::Field(field) = decl else { continue };
            let (AstLabel::Dynamic(label) | AstLabel::Interpolated(label)) = &field.label else {
                continue;
            };
            if field.alias.is_none() && field.key_alias.is_none() {
                continue;
            }
            let label = self.expr(label);
            if let Some(Scope::Struct(names)) = self.scopes.last_mut() {
                if let Some(alias) = &field.alias {
                    names.insert(alias.name.clone(), Named::Computed(label));
                }
                if let Some(key) = &field.key_alias {
                    names.insert(key.name.clone(), Named::ComputedKey(label));
                }
            }
        }
        let mut literal = StructLiteral { explicit: self.explicitopen, ..StructLiteral::default() };
        let mut attributes = Vec::new();
        for decl in decls {
            match decl {
                Decl::Field(field) => {
                    let declaration = self.field(field);
                    literal.declarations.push(declaration);
                }
                Decl::Let(_, value) => {
                    let value = self.expr(value);
                    literal.lets.push(value);
                }
                Decl::Ellipsis(..) => literal.declarations.push(Declaration::Open),
                Decl::Embed(value) => {
                    literal.has_embeds = true;
                    let declaration = match &value.kind {
                        ExprKind::Comprehension(clauses, body) => Declaration::Comprehension(
                            self.comprehension(clauses, body, value.span),
                        ),
                        _ => Declaration::Embed(self.expr(value)),
                    };
                    literal.declarations.push(declaration);
                }
                Decl::Attribute(it) => attributes.push((it.name.clone(), it.body.clone())),
            }
        }
        let used = self.leave();
        if !self.program.lenient {
            for decl in decls {
                match decl {
                    Decl::Let(name, _) => self.unreferenced(name, &used),
                    Decl::Field(field) if !matches!(field.label, AstLabel::Pattern(..)) => {
                        if let Some(alias) = &field.alias {
                            self.unreferenced(alias, &used);
                        }
                    }
                    _ => {}
                }
            }
        }
        let index = self.program.structs.len() as u32;
        self.program.structs.push(literal);
        self.push(Code::Struct(index), span)
    }

    fn field(&mut self, field: &Field) -> Declaration {
        let presence = match field.marker {
            Marker::None => Presence::Member,
            Marker::Optional => Presence::Optional,
            Marker::Required => Presence::Required,
        };
        if let AstLabel::Pattern(pattern, alias) = &field.label {
            let label = self.expr(pattern);
            let mut names = FxHashMap::default();
            let key = alias.as_ref().or(field.key_alias.as_ref());
            if let Some(key) = key {
                names.insert(key.name.clone(), Named::PatternName);
            }
            self.enter(Scope::Names(names));
            let value = self.value(field);
            self.leave();
            return Declaration::Pattern { label, value, alias: key.is_some() };
        }
        let label = match (&field.label, fixed(&field.label)) {
            (AstLabel::String(..), Some((kind, name))) => {
                DeclLabel::Fixed(self.program.labels.intern(kind, &name))
            }
            (_, Some((_, name))) => DeclLabel::Fixed(self.program.labels.identifier(&name)),
            (AstLabel::Interpolated(inner) | AstLabel::Dynamic(inner), None) => {
                DeclLabel::Computed(self.expr(inner))
            }
            _ => DeclLabel::Fixed(self.program.labels.identifier("_")),
        };
        let notes = if field.docs.is_empty() && field.attributes.is_empty() {
            0
        } else {
            let attributes =
                field.attributes.iter().map(|it| (it.name.clone(), it.body.clone())).collect();
            self.program.notes.push(Notes { docs: field.docs.clone(), attributes });
            self.program.notes.len() as u32 - 1
        };
        let value = self.value(field);
        let at = At { source: self.source, span: field.label_span };
        Declaration::Field { label, presence, value, notes, at }
    }

    fn value(&mut self, field: &Field) -> ExprId {
        let matched = match field.label {
            AstLabel::Pattern(..) => field.alias.as_ref(),
            _ => None,
        };
        let mut names = FxHashMap::default();
        let aliases = [matched, field.value_alias.as_ref()];
        for alias in aliases.into_iter().flatten() {
            names.insert(alias.name.clone(), Named::Variable(0));
        }
        if names.is_empty() {
            return self.expr(&field.value);
        }
        self.enter(Scope::Names(names));
        let value = self.expr(&field.value);
        let used = self.leave();
        if !self.program.lenient {
            for alias in aliases.into_iter().flatten() {
                self.unreferenced(alias, &used);
            }
        }
        self.push(Code::Aliased(value), field.value.span)
    }

    fn comprehension(&mut self, clauses: &[Clause], body: &Expr, span: Span) -> u32 {
        let mut codes = Vec::new();
        let mut pushed = 0;
        let mut on_trial = false;
        let mut otherwise = None;
        for clause in clauses {
            match clause {
                Clause::For { key, value, source } => {
                    let source = self.expr(source);
                    let mut names = FxHashMap::default();
                    names.insert(value.name.clone(), Named::Variable(0));
                    if let Some(key) = key {
                        names.insert(key.name.clone(), Named::Variable(1));
                    }
                    self.enter(Scope::Names(names));
                    pushed += 1;
                    codes.push(ClauseCode::For { keyed: key.is_some(), source });
                }
                Clause::If(condition) => codes.push(ClauseCode::If(self.expr(condition))),
                Clause::Let(name, value) => {
                    let value = self.expr(value);
                    let mut names = FxHashMap::default();
                    names.insert(name.name.clone(), Named::Variable(0));
                    self.enter(Scope::Names(names));
                    pushed += 1;
                    codes.push(ClauseCode::Let(value));
                }
                Clause::Try(span, binding) => {
                    if !self.attempts {
                        self.error(*span, NO_TRY);
                    }
                    let Some((name, value)) = binding else {
                        on_trial = true;
                        continue;
                    };
                    let outside = std::mem::replace(&mut self.trying, true);
                    let value = self.expr(value);
                    self.trying = outside;
                    let mut names = FxHashMap::default();
                    names.insert(name.name.clone(), Named::Variable(0));
                    self.enter(Scope::Names(names));
                    pushed += 1;
                    codes.push(ClauseCode::Try(value));
                }
                Clause::Otherwise(body) => otherwise = Some(body),
            }
        }
        let outside = self.trying;
        self.trying |= on_trial;
        let first = self.program.codes.len();
        let body = self.expr(body);
        self.trying = outside;
        for _ in 0..pushed {
            self.leave();
        }
        let otherwise = otherwise.map(|it| self.expr(it));
        let labels = &self.program.labels;
        let closes = self.program.codes[first..].iter().any(|(code, _)| match code {
            Code::Field { label, .. } | Code::Select(_, label) => {
                matches!(labels.kind(*label), LabelKind::Definition | LabelKind::HiddenDefinition)
            }
            Code::Call(Callee::Plain(Plain::Close), _) => true,
            _ => false,
        });
        let at = At { source: self.source, span };
        let code = ComprehensionCode { clauses: codes, at, body, on_trial, otherwise, closes };
        self.program.comprehensions.push(code);
        self.program.comprehensions.len() as u32 - 1
    }

    fn expr(&mut self, expr: &Expr) -> ExprId {
        let span = expr.span;
        let code = match &expr.kind {
            ExprKind::Ident(name) => return self.identifier(name, span),
            ExprKind::Null => Code::Null,
            ExprKind::Bool(it) => Code::Bool(*it),
            ExprKind::Number(text) => match Number::parse_literal(text) {
                Ok(number) => Code::Number(number),
                Err(error) => {
                    self.error(span, error.to_string());
                    Code::Bottom
                }
            },
            ExprKind::String(text) => Code::String(text.clone()),
            ExprKind::Bytes(bytes) => Code::Bytes(bytes.clone()),
            ExprKind::Interpolation { parts, bytes } => {
                let parts = parts
                    .iter()
                    .map(|part| match part {
                        Part::Text(text) => PartCode::Text(text.as_slice().into()),
                        Part::Expr(inner) => PartCode::Value(self.expr(inner)),
                    })
                    .collect();
                Code::Interpolation(parts, *bytes)
            }
            ExprKind::Bottom | ExprKind::Bad => Code::Bottom,
            ExprKind::Top => Code::Top,
            ExprKind::Struct(decls) => return self.literal(decls, FxHashMap::default(), span),
            ExprKind::List(elements) => {
                let mut list = Vec::new();
                for element in elements {
                    list.push(match element {
                        Element::Expr(inner) => match &inner.kind {
                            ExprKind::Comprehension(clauses, body) => ListElement::Comprehension(
                                self.comprehension(clauses, body, inner.span),
                            ),
                            _ => ListElement::Value(self.expr(inner)),
                        },
                        Element::Ellipsis(inner) => {
                            ListElement::Rest(inner.as_ref().map(|it| self.expr(it)))
                        }
                    });
                }
                Code::List(list)
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.expr(operand);
                match op {
                    Unary::Plus => Code::Positive(operand),
                    Unary::Minus => Code::Negative(operand),
                    Unary::Not => Code::Not(operand),
                    Unary::Bound(compare) => Code::Bound(*compare, operand),
                    Unary::Attempt => {
                        if !self.attempts {
                            self.error(span, NO_MARKER);
                        } else if !self.trying {
                            let message = "optional marker (?) is only valid within a try clause";
                            self.error(span, message);
                        }
                        Code::Attempt(operand)
                    }
                    Unary::Open => Code::Opened(operand),
                    Unary::Default => {
                        self.error(span, "preference mark not allowed at this position");
                        Code::Bottom
                    }
                }
            }
            ExprKind::Binary(Binary::Disjoin, ..) => {
                let mut all = Vec::new();
                self.disjuncts(expr, &mut all);
                Code::Disjoin(all)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                match op {
                    Binary::Unify | Binary::Disjoin => Code::Unify(left, right),
                    Binary::And => Code::And(left, right),
                    Binary::Or => Code::Or(left, right),
                    Binary::Compare(compare) => Code::Compare(*compare, left, right),
                    Binary::Add => Code::Arithmetic(Arithmetic::Add, left, right),
                    Binary::Subtract => Code::Arithmetic(Arithmetic::Subtract, left, right),
                    Binary::Multiply => Code::Arithmetic(Arithmetic::Multiply, left, right),
                    Binary::Divide => Code::Arithmetic(Arithmetic::Divide, left, right),
                }
            }
            ExprKind::Select(operand, name, name_span) => {
                return self.select(operand, name, *name_span, span);
            }
            ExprKind::Index(operand, index) => Code::Index(self.expr(operand), self.expr(index)),
            ExprKind::Slice(operand, low, high) => Code::Slice(
                self.expr(operand),
                low.as_ref().map(|it| self.expr(it)),
                high.as_ref().map(|it| self.expr(it)),
            ),
            ExprKind::Call(callee, arguments) => {
                let callee = self.expr(callee);
                let arguments = arguments.iter().map(|it| self.expr(it)).collect();
                match self.program.code(callee) {
                    Code::Function(callee) => Code::Call(*callee, arguments),
                    _ => Code::BadCall(callee),
                }
            }
            ExprKind::Paren(inner) => return self.expr(inner),
            ExprKind::Comprehension(clauses, body) => {
                let index = self.comprehension(clauses, body, span);
                let literal = StructLiteral {
                    declarations: vec![Declaration::Comprehension(index)],
                    lets: Vec::new(),
                    has_embeds: true,
                    explicit: self.explicitopen,
                };
                self.program.structs.push(literal);
                Code::Struct(self.program.structs.len() as u32 - 1)
            }
        };
        self.push(code, span)
    }

    fn disjuncts(&mut self, expr: &Expr, all: &mut Vec<(ExprId, bool)>) {
        match &expr.kind {
            ExprKind::Binary(Binary::Disjoin, left, right) => {
                self.disjuncts(left, all);
                self.disjuncts(right, all);
            }
            ExprKind::Unary(Unary::Default, inner) => {
                let inner = self.expr(inner);
                all.push((inner, true));
            }
            _ => {
                let inner = self.expr(expr);
                all.push((inner, false));
            }
        }
    }

    fn select(&mut self, operand: &Expr, name: &Arc<str>, name_span: Span, span: Span) -> ExprId {
        if let ExprKind::Ident(package) = &operand.kind {
            if let Some(Imported::Builtin(package)) = self.imported(package) {
                let Some(member) = package.member(name) else {
                    let path = package.reference();
                    self.error(span, format!("undefined field: {name} in package {path}"));
                    return self.push(Code::Bottom, span);
                };
                let code = match &member.item {
                    Item::Function(function) => {
                        Code::Function(Callee::Package(package.path, function))
                    }
                    Item::Constant(constant) => return self.constant(constant, span),
                };
                return self.push(code, span);
            }
        }
        let quoted = self.program.sources[self.source as usize]
            .text
            .as_bytes()
            .get(name_span.start as usize)
            == Some(&b'"');
        let label = if quoted {
            self.program.labels.intern(LabelKind::Regular, name)
        } else {
            self.program.labels.identifier(name)
        };
        let operand = self.expr(operand);
        self.push(Code::Select(operand, label), span)
    }

    fn constant(&mut self, constant: &Constant, span: Span) -> ExprId {
        let code = match constant {
            Constant::Int(value) => Code::Number(Number::int(*value)),
            Constant::Number(text) => match Number::parse_literal(text) {
                Ok(number) => Code::Number(number),
                Err(_) => Code::Bottom,
            },
            Constant::String(text) => Code::String((*text).into()),
            Constant::Cue(text) => match cue_syntax::parse_expr(text) {
                Ok(expr) => {
                    let outside =
                        (std::mem::take(&mut self.scopes), std::mem::take(&mut self.used));
                    let id = self.expr(&expr);
                    (self.scopes, self.used) = outside;
                    return id;
                }
                Err(_) => Code::Bottom,
            },
        };
        self.push(code, span)
    }

    fn imported(&mut self, name: &str) -> Option<Imported> {
        for (scope, used) in self.scopes.iter().zip(&mut self.used).rev() {
            match scope {
                Scope::Names(names) | Scope::Struct(names) if names.contains_key(name) => {
                    return None;
                }
                Scope::Names(_) | Scope::Struct(_) => {}
                Scope::Imports(imports) => {
                    used.insert(name.into());
                    return imports.get(name).cloned();
                }
            }
        }
        None
    }

    fn identifier(&mut self, name: &Arc<str>, span: Span) -> ExprId {
        let mut up = 0;
        let mut enclosing = None;
        let mut found = None;
        for (scope, used) in self.scopes.iter().zip(&mut self.used).rev() {
            match scope {
                Scope::Names(names) | Scope::Struct(names) => {
                    let code = names.get(name).map(|it| match it {
                        Named::Field(label) => Code::Field { up, label: *label },
                        Named::Computed(label) => Code::ComputedField { up, label: *label },
                        Named::Key(text) => Code::String(text.clone()),
                        Named::ComputedKey(expr) => Code::Outer { up, expr: *expr },
                        Named::Let(index) => Code::Let { up, index: *index },
                        Named::Variable(index) => Code::Variable { up, index: *index },
                        Named::PatternName => Code::PatternName { up },
                    });
                    if let Some(code) = code {
                        used.insert(name.clone());
                        found = Some(code);
                        break;
                    }
                    if matches!(scope, Scope::Struct(_)) {
                        enclosing = enclosing.or(Some(up));
                    }
                    up += 1;
                }
                Scope::Imports(imports) => {
                    if let Some(Imported::Package(index)) = imports.get(name) {
                        used.insert(name.clone());
                        found = Some(Code::Import(*index));
                        break;
                    }
                }
            }
        }
        if let Some(code) = found {
            return self.push(code, span);
        }
        if let ("self", Some(up)) = (&**name, enclosing) {
            if !self.aliasv2 {
                let message = "predeclared identifier \"self\" requires @experiment(aliasv2)";
                self.error(span, message);
            }
            return self.push(Code::Enclosing { up }, span);
        }
        let code = match predeclared(name) {
            Some(code) => code,
            None => {
                self.error(span, format!("reference \"{name}\" not found"));
                Code::Bottom
            }
        };
        self.push(code, span)
    }
}

const NO_TRY: &str = "try clause requires the try experiment (language version v0.16.0 or later)";
const NO_MARKER: &str =
    "optional marker (?) requires the try experiment (language version v0.16.0 or later)";

/// Types and functions without a package.
fn predeclared(name: &str) -> Option<Code> {
    let plain = |it| Some(Code::Function(Callee::Plain(it)));
    let name = name.strip_prefix("__").unwrap_or(name);
    match name {
        "no_sharing" => Some(Code::Top),
        "string" => Some(Code::Type(Kinds::STRING, "string")),
        "bytes" => Some(Code::Type(Kinds::BYTES, "bytes")),
        "bool" => Some(Code::Type(Kinds::BOOL, "bool")),
        "int" => Some(Code::Type(Kinds::INT, "int")),
        "float" => Some(Code::Type(Kinds::FLOAT, "float")),
        "number" => Some(Code::Type(Kinds::NUMBER, "number")),
        "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "uint128" | "int8" | "int16"
        | "int32" | "int64" | "int128" | "rune" | "float32" | "float64" => Some(Code::Type(
            if name.starts_with("float") { Kinds::FLOAT.or(Kinds::INT) } else { Kinds::INT },
            static_name(name),
        )),
        "len" => plain(Plain::Len),
        "close" => plain(Plain::Close),
        "and" => plain(Plain::And),
        "or" => plain(Plain::Or),
        "div" => plain(Plain::Div),
        "mod" => plain(Plain::Mod),
        "quo" => plain(Plain::Quo),
        "rem" => plain(Plain::Rem),
        "error" => plain(Plain::Error),
        "matchN" => plain(Plain::MatchN),
        "matchIf" => plain(Plain::MatchIf),
        _ => None,
    }
}

fn static_name(name: &str) -> &'static str {
    const NAMES: &[&str] = &[
        "uint", "uint8", "uint16", "uint32", "uint64", "uint128", "int8", "int16", "int32",
        "int64", "int128", "rune", "float32", "float64",
    ];
    NAMES.iter().find(|it| **it == name).copied().unwrap_or("int")
}

/// The name a label can be referred to by.
fn identifier(label: &AstLabel) -> Option<Arc<str>> {
    match label {
        AstLabel::Ident(ident) => Some(ident.name.clone()),
        AstLabel::String(..)
        | AstLabel::Interpolated(_)
        | AstLabel::Dynamic(_)
        | AstLabel::Pattern(..) => None,
    }
}

fn fixed(label: &AstLabel) -> Option<(LabelKind, Arc<str>)> {
    match label {
        AstLabel::Ident(ident) => Some((LabelKind::of_identifier(&ident.name), ident.name.clone())),
        AstLabel::String(text, _) => Some((LabelKind::Regular, text.clone())),
        AstLabel::Interpolated(_) | AstLabel::Dynamic(_) | AstLabel::Pattern(..) => None,
    }
}
