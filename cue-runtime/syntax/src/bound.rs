//! What names are bound to (cue-syntax 3.5): no name is an alias here and a field there, and no label that fields
//! are matched against names one of them.
//!
//! Scopes are those of the official resolver: a struct, a clause of a comprehension, a pattern with its value, a value
//! with an alias. A name is looked for in all that are around, in this file alone.

use cue_map::Map;

use crate::ast::{Clause, Decl, Expr, ExprKind, Field, File, Ident, Label, Span};
use crate::tree::{Kind, NodeId, Tree};

/// Offsets and messages.
pub(crate) type Misbound = Vec<(u32, String)>;

/// How a name is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// By a `let`, or as an alias.
    Alias,
    /// As a field, an import, or by a clause of a comprehension.
    Field,
}

struct Scope<'a> {
    names: Vec<&'a str>,
    /// What is read is in the value of a field of it.
    in_value: bool,
}

struct Walk<'a> {
    text: &'a str,
    open: Vec<Scope<'a>>,
    /// By name: the scopes that bind it, the innermost last.
    bound: Map<&'a str, Vec<(usize, Binding)>>,
    misbound: Misbound,
}

/// What is wrong with the names of a file that is read from `text`.
pub(crate) fn misbound(file: &File, text: &str) -> Misbound {
    let mut walk = Walk { text, open: Vec::new(), bound: Map::default(), misbound: Vec::new() };
    walk.enter();
    for import in &file.imports {
        walk.bind(import.called(), Binding::Field, import.span.start);
    }
    walk.decls(&file.decls);
    walk.misbound
}

impl<'a> Walk<'a> {
    fn enter(&mut self) {
        self.open.push(Scope { names: Vec::new(), in_value: false });
    }

    fn leave(&mut self) {
        for name in self.open.pop().map_or_else(Vec::new, |it| it.names) {
            if let Some(all) = self.bound.get_mut(name) {
                all.pop();
            }
        }
    }

    fn bind(&mut self, name: &'a str, binding: Binding, at: u32) {
        if name == "_" || name.is_empty() {
            return;
        }
        let scope = self.open.len();
        let all = self.bound.entry(name).or_default();
        match all.last() {
            Some((_, known)) if *known != binding => {
                let message =
                    format!("cannot have both alias and field with name \"{name}\" in same scope");
                self.misbound.push((at, message));
            }
            Some((known, _)) if *known == scope => {}
            _ => {
                all.push((scope, binding));
                if let Some(innermost) = self.open.last_mut() {
                    innermost.names.push(name);
                }
            }
        }
    }

    /// The declarations of the innermost scope: all of them bind before one is gone into.
    fn decls(&mut self, decls: &'a [Decl]) {
        for decl in decls {
            match decl {
                Decl::Field(field) => self.bind_field(field),
                Decl::Let(name, _) => {
                    self.bind(&name.name, Binding::Alias, name.of_let(self.text).start);
                }
                Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => {}
            }
        }
        for decl in decls {
            match decl {
                Decl::Field(field) => self.field(field),
                // Its own name is not seen from its value.
                Decl::Let(name, value) => {
                    let scope = self.open.len();
                    let all = self.bound.get_mut(&*name.name);
                    let own = all.and_then(|it| it.pop_if(|it| it.0 == scope));
                    self.in_value(|it| it.expr(value));
                    if let Some(own) = own {
                        self.bound.entry(&name.name).or_default().push(own);
                    }
                }
                Decl::Ellipsis(Some(it), _) | Decl::Embed(it) => self.expr(it),
                Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
            }
        }
    }

    /// What a field binds in the struct it is declared in.
    fn bind_field(&mut self, field: &'a Field) {
        if matches!(field.label, Label::Pattern(..)) {
            return;
        }
        if let Some(alias) = &field.alias {
            self.bind(&alias.name, Binding::Alias, start(field, alias));
        }
        if let Some(key) = &field.key_alias {
            self.bind(&key.name, Binding::Alias, key.span.start);
        }
        if let Label::Ident(name) = &field.label {
            self.bind(&name.name, Binding::Field, field.value.span.start);
        }
    }

    fn field(&mut self, field: &'a Field) {
        let outside = self.open.len();
        match &field.label {
            Label::Ident(_) | Label::String(..) => {}
            Label::Interpolated(label) | Label::Dynamic(label) => self.expr(label),
            Label::Pattern(label, name) => {
                self.enter();
                if let Some(alias) = &field.alias {
                    self.bind(&alias.name, Binding::Alias, start(field, alias));
                }
                if let Some(name) = name.as_ref().or(field.key_alias.as_ref()) {
                    self.bind(&name.name, Binding::Alias, label.span.start);
                }
                self.matched(label);
                self.expr(label);
            }
        }
        if let Some(alias) = &field.value_alias {
            self.enter();
            self.bind(&alias.name, Binding::Alias, alias.span.start);
        }
        self.in_value(|it| it.expr(&field.value));
        while self.open.len() > outside {
            self.leave();
        }
    }

    fn in_value(&mut self, work: impl FnOnce(&mut Self)) {
        let scope = self.open.len() - 1;
        self.open[scope].in_value = true;
        work(self);
        self.open[scope].in_value = false;
    }

    /// The label of a pattern must not name what it would be matched against.
    fn matched(&mut self, label: &'a Expr) {
        let around = self.open.iter().rposition(|it| it.in_value).map_or(0, |it| it + 1);
        let mut named = Vec::new();
        names(label, &mut named);
        for (name, span) in named {
            // Scopes are counted from one.
            let within = |it: &(usize, Binding)| it.0 > around;
            if self.bound.get(name).is_some_and(|all| all.iter().any(within)) {
                let message = format!(
                    "reference \"{name}\" in label expression refers to field against which it would be matched"
                );
                self.misbound.push((span.start, message));
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Struct(decls) => {
                self.enter();
                self.decls(decls);
                self.leave();
            }
            ExprKind::Comprehension(clauses, body) => self.comprehension(clauses, body),
            _ => expr.operands().into_iter().for_each(|it| self.expr(it)),
        }
    }

    fn comprehension(&mut self, clauses: &'a [Clause], body: &'a Expr) {
        let outside = self.open.len();
        let mut otherwise = None;
        for clause in clauses {
            match clause {
                Clause::For { key, value, source } => {
                    self.expr(source);
                    self.enter();
                    for name in key.iter().chain([value]) {
                        self.bind(&name.name, Binding::Field, name.span.start);
                    }
                }
                Clause::Let(name, value) | Clause::Try(_, Some((name, value))) => {
                    self.expr(value);
                    self.enter();
                    self.bind(&name.name, Binding::Field, name.span.start);
                }
                Clause::If(it) => self.expr(it),
                Clause::Try(_, None) => {}
                Clause::Otherwise(it) => otherwise = Some(it),
            }
        }
        self.expr(body);
        while self.open.len() > outside {
            self.leave();
        }
        if let Some(otherwise) = otherwise {
            self.expr(otherwise);
        }
    }
}

/// Where a field begins that has an alias.
fn start(field: &Field, alias: &Ident) -> u32 {
    alias.span.start.min(field.label_span.start)
}

/// The names in an expression, selectors too.
fn names<'a>(expr: &'a Expr, named: &mut Vec<(&'a str, Span)>) {
    match &expr.kind {
        ExprKind::Ident(name) => named.push((name, expr.span)),
        ExprKind::Select(it) => {
            names(&it.0, named);
            named.push((&it.1.name, it.1.span));
        }
        _ => expr.operands().into_iter().for_each(|it| names(it, named)),
    }
}

/// Whether a label of a pattern may name something around it; the usual ones do not.
pub(crate) fn may_name(label: &Expr) -> bool {
    match &label.kind {
        ExprKind::Ident(name) => **name != *USUAL,
        ExprKind::Top | ExprKind::String(_) => false,
        ExprKind::Unary(_, it) => may_name(it),
        _ => true,
    }
}

/// What labels of patterns name as a rule; a field of that name is looked at closely.
pub(crate) const USUAL: &str = "string";

/// Whether anything in a file may be bound wrongly: it has aliases, or a pattern that may name what is around it.
pub(crate) fn is_suspect(tree: &Tree) -> bool {
    let usual = |label: NodeId| match &tree[label].kind {
        Kind::List { elements, .. } => match elements.first().map(|it| &tree[*it].kind) {
            Some(Kind::Ident(name)) => **name == *USUAL,
            _ => false,
        },
        Kind::Ident(name) => **name != *USUAL,
        _ => true,
    };
    tree.nodes.iter().any(|it| match &it.kind {
        Kind::Let { .. } | Kind::Alias { .. } => true,
        Kind::Field { label, extras, .. } => extras.alias().is_some() || !usual(*label),
        _ => false,
    })
}
