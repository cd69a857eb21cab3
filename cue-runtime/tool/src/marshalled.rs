//! The imports of what `import -R` wrote: under names that no field around what uses them has.

use cue_definition::Suffixed;
use cue_syntax::ast::{Decl, Expr, ExprKind, Label};

use crate::hoist::{Part, each_struct, inner, parts};

/// Packages whose `Marshal` is called.
const PACKAGES: [&str; 2] = ["json", "yaml"];

/// Which of [`PACKAGES`] a field has the name of.
type Shadowed = [bool; PACKAGES.len()];

/// What a text imports.
struct Import {
    package: usize,
    /// The name it has, if a field has that of the package.
    renamed: Option<String>,
}

/// What a walk through a text finds.
#[derive(Default)]
struct Uses {
    imports: Vec<Import>,
    /// Where a package is named that has another name.
    renamed: Vec<(usize, usize)>,
}

/// The text with the packages imported whose `Marshal` it calls.
pub(crate) fn imported(mut text: String) -> String {
    let mut names = Suffixed::default();
    let mut uses = Uses::default();
    let file = cue_syntax::parse_file(&text).file;
    each_struct(&file.decls, &mut |decls| {
        decls.iter().filter_map(label).for_each(|it| names.note(it));
    });
    uses.find(&file.decls, &mut names);
    for (at, package) in uses.renamed.iter().rev() {
        let named = |it: &&Import| it.package == *package && it.renamed.is_some();
        if let Some(name) = uses.imports.iter().find(named).and_then(|it| it.renamed.as_ref()) {
            text.replace_range(*at..at + PACKAGES[*package].len(), name);
        }
    }
    let specs: Vec<String> = uses.imports.iter().map(spec).collect();
    let clauses = match specs.as_slice() {
        [] => return text,
        [one] => format!("\nimport {one}\n\n"),
        all => format!("\nimport (\n\t{}\n)\n\n", all.join("\n\t")),
    };
    let at = text.starts_with("package ").then(|| text.find('\n')).flatten().map_or(0, |it| it + 1);
    text.insert_str(at, &clauses);
    text
}

fn spec(import: &Import) -> String {
    let path = format!("\"encoding/{}\"", PACKAGES[import.package]);
    match &import.renamed {
        Some(name) => format!("{name} {path}"),
        None => path,
    }
}

impl Uses {
    /// Goes through the declarations in the order they are written in.
    fn find(&mut self, decls: &[Decl], names: &mut Suffixed) {
        let of_file = shadowed(decls, Shadowed::default());
        let mut work: Vec<(Part<'_>, Shadowed)> =
            parts(decls).into_iter().rev().map(|it| (it, of_file)).collect();
        while let Some((part, around)) = work.pop() {
            let expr = match part {
                Part::Field(field) => &field.value,
                Part::Expr(expr) => expr,
            };
            if let Some(package) = called(expr) {
                self.note(package, expr.span.start as usize, around, names);
            }
            let within = match &expr.kind {
                ExprKind::Struct(decls) => shadowed(decls, around),
                _ => around,
            };
            let mut below = Vec::new();
            inner(expr, &mut below);
            work.extend(below.into_iter().rev().map(|it| (it, within)));
        }
    }

    /// That a package is called there.
    fn note(&mut self, package: usize, at: usize, around: Shadowed, names: &mut Suffixed) {
        let is_renamed = around[package];
        let known = |it: &Import| it.package == package && it.renamed.is_some() == is_renamed;
        if !self.imports.iter().any(known) {
            let renamed = is_renamed.then(|| names.unique(PACKAGES[package]));
            self.imports.push(Import { package, renamed });
        }
        if is_renamed {
            self.renamed.push((at, package));
        }
    }
}

/// Which package a call is of.
fn called(expr: &Expr) -> Option<usize> {
    let ExprKind::Call(function, _) = &expr.kind else { return None };
    let ExprKind::Select(selected) = &function.kind else { return None };
    let ExprKind::Ident(name) = &selected.0.kind else { return None };
    PACKAGES.iter().position(|it| **it == **name)
}

/// What is hidden within a struct by its labels, beside what is around it; a label in quotes hides nothing.
fn shadowed(decls: &[Decl], around: Shadowed) -> Shadowed {
    let mut within = around;
    for name in decls.iter().filter_map(label) {
        if let Some(package) = PACKAGES.iter().position(|it| *it == name) {
            within[package] = true;
        }
    }
    within
}

fn label(decl: &Decl) -> Option<&str> {
    match decl {
        Decl::Field(field) => match &field.label {
            Label::Ident(it) => Some(&it.name),
            Label::String(..) | Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => {
                None
            }
        },
        Decl::Let(name, _) => Some(&name.name),
        Decl::Embed(_) | Decl::Ellipsis(..) | Decl::Attribute(_) => None,
    }
}
