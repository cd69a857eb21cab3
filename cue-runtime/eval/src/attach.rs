//! One more file for a compiled program: what a fill brings.

use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::{
    Decl, Element, Expr, ExprKind, Field, Ident, Label as AstLabel, Marker, Span,
};
use thin_vec::{ThinVec, thin_vec};

use crate::compile::{Compiler, LoadError, Source, told};
use crate::program::{Code, DeclLabel, Declaration, ExprId, Label, LabelKind, Presence, Program};
use crate::value::path::Selector;

/// The span of what no source has.
pub(crate) const NOWHERE: Span = Span { start: u32::MAX, end: 0 };

/// A text to fill in.
pub(crate) struct Fill<'a> {
    /// For positions.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) path: &'a [Selector],
    /// Names of the fields at the root, then at each place the path passes; none for a text that
    /// stands alone.
    pub(crate) scopes: Option<Vec<Vec<Arc<str>>>>,
}

/// Compiles one more file against the root of `program`, as a fill with an expression needs.
///
/// # Errors
/// As [`compile`].
pub fn extend(program: &mut Program, name: &str, text: &str) -> Result<ExprId, Vec<LoadError>> {
    let mut fields = Vec::new();
    for root in program.roots.clone() {
        if let Code::Struct(index) = program.code(root) {
            for declaration in &program.structs[*index as usize].declarations {
                if let Declaration::Field { label: DeclLabel::Fixed(label), .. } = declaration {
                    fields.push(*label);
                }
            }
        }
    }
    let taken = std::mem::replace(program, Program::empty());
    let mut compiler = Compiler::new(taken, &[]);
    let source = Source::new(name, text);
    let mut parsed = compiler.parse(&source);
    let shared = fields.into_iter().map(|it| (compiler.program.labels.name(it), it));
    let shared: Map<Arc<str>, Label> = shared.collect();
    let root = compiler.file(&mut parsed, &shared);
    *program = compiler.program;
    if compiler.errors.is_empty() { Ok(root) } else { Err(told(compiler.errors)) }
}

/// Compiles a text to be unified with the root, the selectors of its path around it. Those have
/// no positions: in messages only the text has.
///
/// # Errors
/// As `compile`.
pub(crate) fn attach(program: &mut Program, fill: Fill<'_>) -> Result<ExprId, Vec<LoadError>> {
    let taken = std::mem::replace(program, Program::empty());
    let mut compiler = Compiler::new(taken, &[]);
    let source = Source::new(fill.name, fill.text);
    let mut file = compiler.parse(&source);
    let number = compiler.program.sources.len().saturating_sub(1);
    compiler.program.filled.push((number, fill.path.to_vec()));
    let scopes = fill.scopes.unwrap_or_default();
    let decls = std::mem::take(&mut file.decls);
    file.decls = put(decls, fill.path, &scopes);
    let mut shared = Map::default();
    for name in scopes.into_iter().next().unwrap_or_default() {
        let label = compiler.program.labels.identifier(&name);
        shared.insert(name, label);
    }
    let root = compiler.file(&mut file, &shared);
    *program = compiler.program;
    if compiler.errors.is_empty() { Ok(root) } else { Err(told(compiler.errors)) }
}

/// Declarations that say at a path what those given say; `scopes` are names of further fields at
/// the places on the way.
pub(crate) fn put(
    mut decls: ThinVec<Decl>,
    path: &[Selector],
    scopes: &[Vec<Arc<str>>],
) -> ThinVec<Decl> {
    let mut value = match (decls.len(), decls.pop()) {
        (1, Some(Decl::Embed(only))) => *only,
        (_, last) => {
            decls.extend(last);
            Expr { kind: ExprKind::Struct(decls), span: NOWHERE }
        }
    };
    for (depth, selector) in path.iter().enumerate().rev() {
        let names = if depth == 0 { None } else { scopes.get(depth) };
        value = around(selector, value, names.map(Vec::as_slice).unwrap_or_default());
    }
    match value.kind {
        ExprKind::Struct(decls) if !path.is_empty() => decls,
        kind => thin_vec![Decl::Embed(Box::new(Expr { kind, span: value.span }))],
    }
}

/// What has `value` at a selector; `names` are further fields that can be referred to.
fn around(selector: &Selector, value: Expr, names: &[Arc<str>]) -> Expr {
    let span = NOWHERE;
    let plain = |kind| Expr { kind, span };
    let field = |label: AstLabel, marker: Marker, value: Expr| {
        Decl::Field(Box::new(Field { label, marker, value, rare: None, span, label_span: span }))
    };
    let identifier = |name: &Arc<str>| AstLabel::Ident(Ident { name: name.clone(), span });
    match selector {
        Selector::Index(index) => {
            let mut elements: ThinVec<Element> =
                (0..*index).map(|_| Element::Expr(plain(ExprKind::Top))).collect();
            elements.push(Element::Expr(value));
            elements.push(Element::Ellipsis(None));
            plain(ExprKind::List(elements))
        }
        Selector::AnyField => {
            let any = plain(ExprKind::Ident("string".into()));
            let label = AstLabel::Pattern(Box::new(any), None);
            plain(ExprKind::Struct(thin_vec![field(label, Marker::None, value)]))
        }
        Selector::Field { kind, name, presence } => {
            let label = match kind {
                LabelKind::Regular | LabelKind::Index => AstLabel::String(name.clone(), span),
                LabelKind::Definition | LabelKind::Hidden | LabelKind::HiddenDefinition => {
                    identifier(name)
                }
            };
            let marker = match presence {
                Presence::Member => Marker::None,
                Presence::Optional => Marker::Optional,
                Presence::Required => Marker::Required,
            };
            let mut decls = thin_vec![field(label, marker, value)];
            // Optional and without a say: they only give names.
            let top = || plain(ExprKind::Top);
            decls.extend(names.iter().map(|it| field(identifier(it), Marker::Optional, top())));
            plain(ExprKind::Struct(decls))
        }
    }
}
