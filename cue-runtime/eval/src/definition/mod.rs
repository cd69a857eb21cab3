//! What a package says, as text: its declarations merged by label but not evaluated, as `cue def`
//! prints them (O-73 to O-86).
//!
//! ~~~text
//! sources ─parse─▶ conjuncts of the root ─merge─▶ Out ─text─▶ formatter
//! ~~~
//! Works on the syntax trees of the sources; only what refers to nothing is evaluated.

mod scope; // what a name in an expression stands for
mod merge; // conjuncts of one place -> one value
mod expr; // one expression as it stands
mod constant; // values that refer to nothing, evaluated
mod out; // what is printed: structs and texts
mod sourced; // sources of values that wait for more
mod remark; // bottom literals and the comment behind them

use std::rc::Rc;
use std::sync::Arc;

use cue_syntax::ast::{File, Label as AstLabel};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::definition::merge::Conjunct;
use crate::definition::out::{Item, Out};
use crate::definition::scope::{Bound, LetValue, Scope};
use crate::evaluation::Evaluation;
use crate::program::Program;

pub(crate) use crate::definition::expr::is_keyword;
pub(crate) use crate::definition::remark::laid_out;
use crate::definition::sourced::Outside;
pub(crate) use crate::definition::sourced::{Docs, Places, Wanted, merged, sources};

/// Files parsed again, and what printing them has found out so far.
struct Printer<'a> {
    files: &'a [(File, Arc<str>)],
    names: Vec<&'a String>,
    /// Builtin packages that the result names: path and name, if that is not the last part.
    imports: Vec<(String, Option<String>)>,
    /// Names that `let`s have in the result.
    lets: Vec<String>,
    /// Structs being printed; deep nesting ends.
    depth: u32,
    /// Labels of the place being merged.
    path: Vec<String>,
    docs: Docs,
    /// What names that lead out of a part are replaced by.
    outside: Option<Outside<'a>>,
    /// Scopes of structs that were entered, by file and address of their declarations.
    scopes: FxHashMap<(usize, usize), (Rc<Scope>, Vec<LetValue<'a>>)>,
    found: &'a Found,
}

/// What only an evaluation tells.
#[derive(Default)]
struct Found {
    /// Labels that computed fields got: file, first and last byte of the label.
    labels: FxHashMap<(String, u32, u32), String>,
    /// Places that `close` closed.
    closed: FxHashSet<String>,
}

impl Evaluation {
    /// The package as `cue def` prints it: merged, not evaluated.
    pub fn definition(&mut self) -> String {
        let mut found = Found::default();
        let it = &self.evaluator;
        let mut ambiguous = FxHashSet::default();
        for vertex in it.heap.vertices() {
            for (expr, label) in vertex.placed.iter().flat_map(|it| &it.produced) {
                let at = it.program.at(*expr);
                let Some(source) = it.program.sources.get(at.source as usize) else { continue };
                let key = (source.name.clone(), at.span.start, at.span.end);
                let name = it.labels.name(*label).to_string();
                if found.labels.get(&key).is_some_and(|other| *other != name) {
                    ambiguous.insert(key.clone());
                }
                found.labels.insert(key, name);
            }
        }
        found.labels.retain(|key, _| !ambiguous.contains(key));
        let mut places = vec![(it.root, String::new())];
        while let Some((id, path)) = places.pop() {
            let vertex = it.heap.get(id);
            if vertex.closing.iter().any(|closing| it.shallow.contains(&closing.group)) {
                found.closed.insert(path.clone());
            }
            for arc in &vertex.arcs {
                if arc.vertex != id && it.heap.get(arc.vertex).parent == Some(id) {
                    let label = it.label_text(arc.label);
                    let dot = if path.is_empty() { "" } else { "." };
                    places.push((arc.vertex, format!("{path}{dot}{label}")));
                }
            }
        }
        package(&it.program, &found)
    }
}

/// How deeply values may nest.
const DEPTH: u32 = 300;

/// The files of the main package as one text.
fn package(program: &Program, found: &Found) -> String {
    let mut files = Vec::new();
    for root in &program.roots {
        let source = program.at(*root).source as usize;
        let Some(source) = program.sources.get(source) else { continue };
        files.push((&source.name, cue_syntax::parse_file(&source.text).file, source.text.clone()));
    }
    files.sort_by(|left, right| left.0.cmp(right.0));
    let names: Vec<&String> = files.iter().map(|it| it.0).collect();
    let files: Vec<_> = files.iter().map(|(_, file, text)| (file.clone(), text.clone())).collect();
    let mut printer = Printer::new(&files, names, found);
    let scopes = printer.file_scopes();
    let conjuncts = files
        .iter()
        .zip(scopes)
        .enumerate()
        .map(|(index, ((file, _), scope))| Conjunct::File { file, index, scope })
        .collect();
    let body = printer.merge(conjuncts);
    printer.file(body)
}

impl<'a> Printer<'a> {
    fn new(files: &'a [(File, Arc<str>)], names: Vec<&'a String>, found: &'a Found) -> Self {
        Printer {
            files,
            names,
            imports: Vec::new(),
            lets: Vec::new(),
            depth: 0,
            path: Vec::new(),
            docs: Docs::Kept,
            outside: None,
            scopes: FxHashMap::default(),
            found,
        }
    }

    /// The outermost scope of each file: its imports, then the fields of the package.
    fn file_scopes(&self) -> Vec<Rc<Scope>> {
        let mut shared = FxHashMap::default();
        for (file, _) in self.files {
            for decl in &file.decls {
                if let cue_syntax::ast::Decl::Field(field) = decl {
                    if let AstLabel::Ident(name) = &field.label {
                        shared.insert(name.name.clone(), Bound::Field);
                    }
                }
            }
        }
        let mut scopes = Vec::new();
        for (file, _) in self.files {
            let mut imports = FxHashMap::default();
            for import in &file.imports {
                let (path, explicit) = match import.path.rsplit_once(':') {
                    Some((path, name)) => (path, Some(name)),
                    None => (&*import.path, None),
                };
                let last = path.rsplit('/').next().unwrap_or(path);
                let name = match &import.name {
                    Some(name) => &*name.name,
                    None => explicit.unwrap_or(last),
                };
                let alias = import.name.as_ref().map(|it| it.name.to_string());
                imports.insert(name.into(), Bound::Import(import.path.clone(), alias));
            }
            let imports = Scope::new(None, imports);
            scopes.push(Scope::new(Some(imports), shared.clone()));
        }
        scopes
    }

    /// The body with what stands above it.
    fn file(&self, body: Out) -> String {
        let mut text = String::new();
        let package = self.files.iter().find_map(|(file, _)| file.package.as_ref());
        if let Some(package) = package {
            text.push_str(&format!("package {}\n\n", package.name));
        }
        let mut attributes = String::new();
        for (file, _) in self.files {
            for attribute in &file.attributes {
                attributes.push_str(&format!("@{}({})\n", attribute.name, attribute.body));
            }
        }
        match self.imports.as_slice() {
            [] => {}
            [only] => text.push_str(&format!("import {}\n\n", import_text(only))),
            all => {
                text.push_str("import (\n");
                for import in all {
                    text.push_str(&format!("\t{}\n", import_text(import)));
                }
                text.push_str(")\n\n");
            }
        }
        let blank = match &body {
            Out::Struct(items) => match items.first() {
                Some(Item::Embed(_) | Item::Let(..)) => items.len() > 1,
                Some(Item::Comprehension { .. }) => {
                    self.files.first().is_some_and(|it| it.1.starts_with('\n'))
                }
                _ => false,
            },
            Out::Text(..) => false,
        };
        let blank = blank && text.is_empty();
        text.push_str(&body.fields());
        let text = laid_out(&text, cue_syntax::Style::Plain);
        if blank { format!("\n{text}") } else { attributes + &text }
    }
}

fn import_text((path, alias): &(String, Option<String>)) -> String {
    match alias {
        Some(alias) => format!("{alias} {path:?}"),
        None => format!("{path:?}"),
    }
}
