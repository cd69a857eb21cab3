//! Struct literals, their fields and comprehensions.

use std::sync::Arc;

use cue_map::{Map, Set};
use cue_syntax::Experiment;
use cue_syntax::ast::{
    Clause, Comments, Decl, Docs, Expr, ExprKind, Field, Ident, Label as AstLabel, Marker, Span,
};

use super::faults::Step;
use super::names::{fixed, identifier};
use super::scopes::{Meaning, Named, Opener};
use super::{Compiler, NO_TRY, NOT_LAST};
use crate::program::{
    At, ClauseCode, Code, ComprehensionCode, DeclLabel, Declaration, ExprId, LabelKind, LetCode,
    Notes, PartCode, Presence, StructLiteral,
};

impl Compiler<'_> {
    /// A struct literal. Each declaration is let go once it is compiled: the tree of a large file is larger than its
    /// program, and both need not be there at once.
    pub(super) fn literal(
        &mut self,
        decls: &mut [Decl],
        names: Map<Arc<str>, Named>,
        span: Span,
    ) -> ExprId {
        let mut attributes = std::mem::take(&mut self.above);
        let mut apart = !attributes.is_empty();
        let first_let = self.counted_lets;
        let names = self.names_of(decls, names);
        self.scopes.enter(Opener::Struct, names);
        let mut labels = self.named_labels(decls).into_iter().peekable();
        let mut literal = StructLiteral {
            explicit: self.experiments.has(Experiment::ExplicitOpen),
            ..StructLiteral::default()
        };
        literal.declarations.reserve_exact(decls.len());
        for (at, decl) in decls.iter_mut().enumerate() {
            match decl {
                Decl::Field(field) => {
                    let label = labels.next_if(|it| it.0 == at).map(|it| it.1);
                    let declaration = self.field(field, label);
                    literal.declarations.push(declaration);
                }
                Decl::Let(name, value) => {
                    self.no_blank(name, name.span);
                    let value = self.let_value(name, value);
                    let label = self.program.labels.of(LabelKind::Regular, &name.name);
                    debug_assert!(literal.lets.last().is_none_or(|it| it.value < value));
                    literal.lets.push(LetCode {
                        value,
                        name: label,
                        number: first_let + 1 + literal.lets.len() as u32,
                        place: literal.declarations.len() as u32,
                    });
                }
                Decl::Ellipsis(..) => literal.declarations.push(Declaration::Open),
                Decl::Embed(value) => {
                    literal.has_embeds = true;
                    let declaration = self.embedded(value);
                    literal.declarations.push(declaration);
                }
                Decl::Attribute(it) => {
                    let before = self.text_before(it.span).bytes().rev();
                    apart |= before.into_iter().find(|it| !b" \t".contains(it)) == Some(b'\n');
                    attributes.push((it.name.clone(), it.body.clone()));
                }
            }
            if !is_asked_again(decl) {
                *decl = Decl::Ellipsis(None, Span::default());
            }
        }
        if !attributes.is_empty() {
            literal.notes = self.program.notes.len() as u32;
            self.program.notes.push(Notes { attributes, apart, ..Notes::default() });
        }
        literal.declarations.shrink_to_fit();
        let used = self.scopes.leave();
        self.all_referenced(decls, &used);
        let code = self.program.add_struct(literal);
        self.push(code, span)
    }

    /// The names that are seen in a literal, besides those that are there before; its `let`s are counted.
    fn names_of(
        &mut self,
        decls: &[Decl],
        mut names: Map<Arc<str>, Named>,
    ) -> Map<Arc<str>, Named> {
        let mut lets = 0;
        for decl in decls {
            match decl {
                Decl::Field(field) => self.names_of_field(field, &mut names),
                Decl::Let(name, _) => {
                    names.insert(name.name.clone(), Named::Let(lets, self.lets.declare()));
                    lets += 1;
                    self.counted_lets += 1;
                }
                Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => {}
            }
        }
        // These are in the way of all others.
        for field in decls.iter().filter_map(computed) {
            for alias in [&field.alias, &field.key_alias].into_iter().flatten() {
                names.insert(alias.name.clone(), Named::Pending);
            }
        }
        names
    }

    fn names_of_field(&mut self, field: &Field, names: &mut Map<Arc<str>, Named>) {
        if let Some(name) = identifier(&field.label) {
            let label = self.label(&name);
            names.insert(name, Named::Field(label));
        }
        if field.alias.is_none() && field.key_alias.is_none() {
            return;
        }
        let Some((kind, text)) = fixed(&field.label) else { return };
        if let Some(key) = &field.key_alias {
            let label = self.program.labels.of(kind, &text);
            names.insert(key.name.clone(), Named::Key(label));
        }
        if let Some(alias) = &field.alias {
            let label = match kind {
                LabelKind::Regular => self.program.labels.of(LabelKind::Regular, &text),
                _ => self.label(&text),
            };
            names.insert(alias.name.clone(), Named::Field(label));
        }
    }

    /// Computed labels that have a name, by the declaration: what they are is known before any value.
    fn named_labels(&mut self, decls: &mut [Decl]) -> Vec<(usize, ExprId)> {
        let mut labels = Vec::new();
        for (at, decl) in decls.iter_mut().enumerate() {
            let Decl::Field(field) = decl else { continue };
            if field.alias.is_none() && field.key_alias.is_none() {
                continue;
            }
            let (AstLabel::Dynamic(label) | AstLabel::Interpolated(label)) = &mut field.label
            else {
                continue;
            };
            let label = self.expr(label);
            labels.push((at, label));
            if let Some(alias) = &field.alias {
                let meaning = Meaning::Named(Named::Computed(label));
                self.scopes.declare(alias.name.clone(), meaning);
            }
            if let Some(key) = &field.key_alias {
                let meaning = Meaning::Named(Named::ComputedKey(label));
                self.scopes.declare(key.name.clone(), meaning);
            }
        }
        labels
    }

    /// What is embedded: an expression, or what a comprehension brings.
    fn embedded(&mut self, value: &mut Expr) -> Declaration {
        if let ExprKind::Comprehension(clauses, body) = &mut value.kind {
            let index = self.comprehension(clauses, body, value.span);
            if self.program.lenient {
                let body = self.program.comprehensions[index as usize].body;
                self.program.set_apart(body);
            }
            return Declaration::Comprehension(index);
        }
        let embed = self.expr(value);
        // What a loop is at may be closed, and another value in each round.
        if self.varies(embed) {
            self.closing = self.program.codes.len();
            self.varying = self.closing;
        }
        Declaration::Embed(embed)
    }

    /// Tells of the names of a literal that nothing refers to.
    fn all_referenced(&mut self, decls: &[Decl], used: &Set<Arc<str>>) {
        if self.program.lenient {
            return;
        }
        for decl in decls {
            match decl {
                Decl::Let(name, _) => self.unreferenced(name, name.of_let(self.text()), used),
                Decl::Field(field) if !matches!(field.label, AstLabel::Pattern(..)) => {
                    if let Some(alias) = &field.alias {
                        self.unreferenced(alias, self.alias_span(field, alias), used);
                    }
                }
                _ => {}
            }
        }
    }

    /// The value of a `let`, from where its own name is not seen.
    fn let_value(&mut self, name: &Ident, value: &mut Expr) -> ExprId {
        let own = self.scopes.hide(&name.name);
        let outside = match &own {
            Some(Meaning::Named(Named::Let(_, number))) => Some(self.lets.begin(*number)),
            _ => None,
        };
        let counted = self.counted_lets;
        let code = self.below(Step::Text("let[]"), |it| it.expr(value));
        // Those within are counted twice (cue-errors 1.1).
        self.counted_lets += self.counted_lets - counted;
        if let Some(outside) = outside {
            self.lets.end(outside);
        }
        if let Some(own) = own {
            self.scopes.declare(name.name.clone(), own);
        }
        code
    }

    /// Where an alias is told of: before a label or value at its name, behind a label at the `~`.
    fn alias_span(&self, field: &Field, alias: &Ident) -> Span {
        if alias.span.start < field.label_span.start || alias.span.start < field.value.span.start {
            let before = self.text_before(alias.span);
            if let Some(start) = before.rfind('~') {
                if start as u32 >= field.label_span.start {
                    return Span { start: start as u32, end: alias.span.end };
                }
            }
        }
        alias.span
    }

    fn text_before(&self, span: Span) -> &str {
        self.text_of(Span { start: 0, end: span.start })
    }

    /// The text that is compiled.
    fn text(&self) -> &str {
        self.program.sources.get(self.source as usize).map_or("", |it| &it.text)
    }

    pub(super) fn text_of(&self, span: Span) -> &str {
        let place = span.start as usize..span.end as usize;
        self.text().get(place).unwrap_or_default()
    }

    /// A field, with its label where that is compiled already.
    pub(super) fn field(&mut self, field: &mut Field, label: Option<ExprId>) -> Declaration {
        for alias in [&field.alias, &field.value_alias].into_iter().flatten() {
            self.no_blank(alias, alias.span);
        }
        let presence = match field.marker {
            Marker::None => Presence::Member,
            Marker::Optional => Presence::Optional,
            Marker::Required => Presence::Required,
        };
        if let AstLabel::Pattern(pattern, alias) = &mut field.label {
            if matches!(pattern.kind, ExprKind::Comprehension(..)) {
                self.error(pattern.span, "comprehension values not allowed in this position");
            }
            let label = self.expr(pattern);
            let mut names = Map::default();
            let key = alias.take().or_else(|| field.rare.as_mut()?.key_alias.take());
            if let Some(key) = &key {
                names.insert(key.name.clone(), Named::PatternName);
            }
            self.scopes.enter(Opener::Clause, names);
            let value = self.below(Step::Text("[]"), |it| it.value(field));
            self.scopes.leave();
            return Declaration::Pattern { label, value, alias: key.is_some() };
        }
        let name = fixed(&field.label);
        let label = match (&mut field.label, name) {
            (AstLabel::String(..), Some((kind, name))) => {
                DeclLabel::Fixed(self.program.labels.of(kind, &name))
            }
            (_, Some((_, name))) => DeclLabel::Fixed(self.label(&name)),
            (AstLabel::Interpolated(inner) | AstLabel::Dynamic(inner), None) => {
                DeclLabel::Computed(label.unwrap_or_else(|| self.expr(inner)))
            }
            _ => DeclLabel::Fixed(self.program.labels.identifier("_")),
        };
        let (docs, attributes) = match &mut field.rare {
            Some(rare) => (rare.docs.take(), std::mem::take(&mut rare.attributes)),
            None => Default::default(),
        };
        let notes = if docs.is_none() && attributes.is_empty() {
            0
        } else {
            let Docs { breaks, apart, comments, .. } = docs.map_or_else(Docs::default, |it| *it);
            let Comments { above, below, gap, outer } = comments;
            self.program.notes.push(Notes {
                above: above.len() as u32,
                docs: above.into_iter().chain(below).collect(),
                breaks: breaks.to_vec(),
                gap,
                outer,
                apart,
                attributes: attributes.into_iter().map(|it| (it.name, it.body)).collect(),
            });
            self.program.notes.len() as u32 - 1
        };
        let step = match &field.label {
            AstLabel::Ident(name) => {
                if &*name.name == "_" {
                    self.error(field.label_span, "cannot use _ as label");
                }
                Step::Label(name.name.clone(), false)
            }
            AstLabel::String(text, _) => Step::Label(text.clone(), true),
            AstLabel::Dynamic(_) => Step::Text("<unknown>"),
            AstLabel::Interpolated(_) | AstLabel::Pattern(..) => Step::Text("?"),
        };
        let value = self.below(step, |it| it.value(field));
        let at = At { source: self.source, span: field.label_span };
        Declaration::Field { label, presence, value, notes, at }
    }

    pub(super) fn value(&mut self, field: &mut Field) -> ExprId {
        let matched = match field.label {
            AstLabel::Pattern(..) => field.alias.as_ref(),
            _ => None,
        };
        let mut names = Map::default();
        let aliases = [matched, field.value_alias.as_ref()].map(|it| it.cloned());
        for alias in aliases.iter().flatten() {
            names.insert(alias.name.clone(), Named::Variable(0));
        }
        if names.is_empty() {
            return self.expr(&mut field.value);
        }
        self.scopes.enter(Opener::Clause, names);
        let value = self.expr(&mut field.value);
        let used = self.scopes.leave();
        if !self.program.lenient {
            // It is told of where the field stands.
            let step = self.path.pop();
            for alias in aliases.iter().flatten() {
                self.unreferenced(alias, self.alias_span(field, alias), &used);
            }
            self.path.extend(step);
        }
        self.push(Code::Aliased(value), field.value.span)
    }

    pub(super) fn comprehension(
        &mut self,
        clauses: &mut [Clause],
        body: &mut Expr,
        span: Span,
    ) -> u32 {
        let mut codes = Vec::new();
        let mut pushed = 0;
        let mut on_trial = false;
        let mut otherwise = None;
        let mut early = None;
        let last = clauses.iter().rposition(|it| !matches!(it, Clause::Otherwise(_)));
        for (at, clause) in clauses.iter_mut().enumerate() {
            match clause {
                Clause::For { key, value, source } => {
                    let source = self.expr(source);
                    let mut names = Map::default();
                    if let Some(key) = key {
                        names.insert(key.name.clone(), Named::Variable(1));
                    }
                    // Of two of one name it is the value.
                    names.insert(value.name.clone(), Named::Variable(0));
                    self.scopes.enter(Opener::Clause, names);
                    self.path.push(Step::Text("for[]"));
                    pushed += 1;
                    codes.push(ClauseCode::For { keyed: key.is_some(), source });
                }
                Clause::If(condition) => codes.push(ClauseCode::If(self.expr(condition))),
                Clause::Let(name, value) => {
                    let value = self.expr(value);
                    let mut names = Map::default();
                    names.insert(name.name.clone(), Named::Variable(0));
                    self.scopes.enter(Opener::Clause, names);
                    self.path.push(Step::Text("let[]"));
                    pushed += 1;
                    codes.push(ClauseCode::Let(value));
                }
                Clause::Try(span, binding) => {
                    if !self.experiments.has(Experiment::Try) {
                        self.error(*span, NO_TRY);
                    }
                    let Some((name, value)) = binding else {
                        on_trial = true;
                        if last != Some(at) {
                            early = Some(*span);
                        }
                        continue;
                    };
                    let outside = std::mem::replace(&mut self.trying, true);
                    let value = self.expr(value);
                    self.trying = outside;
                    let mut names = Map::default();
                    names.insert(name.name.clone(), Named::Variable(0));
                    self.scopes.enter(Opener::Clause, names);
                    self.path.push(Step::Text("try[]"));
                    pushed += 1;
                    codes.push(ClauseCode::Try(value));
                }
                Clause::Otherwise(body) => otherwise = Some(body),
            }
        }
        if let Some(span) = early {
            self.error(span, NOT_LAST);
        }
        let outside = self.trying;
        self.trying |= on_trial;
        let first = self.program.codes.len();
        let body = self.expr(body);
        self.trying = outside;
        for _ in 0..pushed {
            self.scopes.leave();
            self.path.pop();
        }
        let otherwise = otherwise.map(|it| self.expr(it));
        let (closes, varies) = (self.closing > first, self.varying > first);
        let at = At { source: self.source, span };
        let asked = codes.iter().any(|it| self.program.asks_whether_there(it));
        let clauses = codes.into();
        if let Code::Struct(literal) = *self.program.code(body) {
            let literal = &mut self.program.structs[literal as usize];
            literal.varies |= varies;
            literal.asked |= asked;
        }
        let says = self.program.body(body, otherwise);
        let code = ComprehensionCode { clauses, at, body, on_trial, otherwise, closes, says };
        self.program.comprehensions.push(code);
        self.program.comprehensions.len() as u32 - 1
    }

    /// Whether what an expression leads to is found by what a clause names.
    fn varies(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Variable { .. } => true,
            Code::Select(operand, _) => self.varies(*operand),
            Code::Index(one, other) | Code::Unify(one, other) => {
                self.varies(*one) || self.varies(*other)
            }
            Code::Call(_, arguments) => arguments.iter().any(|it| self.varies(*it)),
            Code::Interpolation(said) => said.parts.iter().any(|it| match it {
                PartCode::Value(part) => self.varies(*part),
                PartCode::Text(_) => false,
            }),
            _ => false,
        }
    }
}

/// A field whose label is computed.
fn computed(decl: &Decl) -> Option<&Field> {
    match decl {
        Decl::Field(field) => match field.label {
            AstLabel::Dynamic(_) | AstLabel::Interpolated(_) => Some(field),
            AstLabel::Ident(_) | AstLabel::String(..) | AstLabel::Pattern(..) => None,
        },
        _ => None,
    }
}

/// Whether a declaration has a name that is told of if nobody refers to it.
fn is_asked_again(decl: &Decl) -> bool {
    match decl {
        Decl::Field(field) => field.alias.is_some(),
        Decl::Let(..) => true,
        Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => false,
    }
}
