//! The files of a package, and what printing them has found out.

use std::rc::Rc;
use std::sync::Arc;

use cue_map::{Map, Set};
use cue_syntax::ast::{Binary, Decl, ExprKind, Label as AstLabel};

use crate::constant::Evaluate;
use crate::found::Found;
use crate::heading::Heading;
use crate::hoisted::{Outside, Outward};
use crate::linked::{Frame, Links};
use crate::merge::Conjunct;
use crate::out::{Gap, Item, Out};
use crate::scope::{Bound, LetValue, Scope};
use crate::sourced::{Attributes, Docs};
use crate::taken::Taken;
use crate::{Key, Source, laid_out, left_open, merge, root_of, used};

/// Files parsed again, and what printing them has found out so far.
pub(crate) struct Printer<'a> {
    pub(crate) files: &'a [Source],
    pub(crate) evaluate: Evaluate,
    /// Builtin packages that the result names: path and name, if that is not the last part.
    pub(crate) imports: Vec<(String, Option<String>)>,
    pub(crate) taken: Taken,
    /// Structs being printed; deep nesting ends.
    pub(crate) depth: u32,
    /// Something nests deeper than that may be: what is printed is not all there is.
    pub(crate) too_deep: bool,
    /// Labels of the place being merged.
    pub(crate) path: Vec<String>,
    pub(crate) docs: Docs,
    /// Attributes of fields are printed.
    pub(crate) attributes: Attributes,
    /// Structs have braces, however short.
    pub(crate) spread: bool,
    /// What names that lead out of a part are replaced by.
    pub(crate) outside: Option<Outside<'a>>,
    /// Labels that patterns name in what is printed and around it.
    pub(crate) named: Vec<&'a Map<Key, String>>,
    /// Expressions around what is printed that compute with it.
    pub(crate) computing: usize,
    /// Definitions around what is printed.
    pub(crate) in_definition: usize,
    /// Scopes of structs that were entered, by file and address of their declarations.
    pub(crate) scopes: Map<(usize, usize), (Rc<Scope>, Vec<LetValue<'a>>)>,
    /// Lets of structs that are being printed, and where these are.
    pub(crate) lets: Map<*const Scope, Lets<'a>>,
    /// Lets as they are printed where they are referred to first.
    pub(crate) ready: Map<LetKey, Out>,
    pub(crate) found: &'a Found,
    /// Names of fields in a whole package, which become others where they are captured.
    pub(crate) links: Option<Links>,
    /// Declarations of a struct that is a comprehension's body or an element: a comment at their end is
    /// left out.
    pub(crate) bare: usize,
    /// The struct of the result that is being printed.
    pub(crate) frame: Option<Rc<Frame>>,
    /// How far lines of a text of several lines are indented.
    pub(crate) level: usize,
    /// Of evaluated values: `let`s that a printed struct has had.
    pub(crate) shown: Option<Set<LetKey>>,
    /// Whether the files are merged with data.
    pub(crate) is_merged: bool,
}

/// The lets of a struct, what is around them, how far they are indented.
pub(crate) type Lets<'a> = (Vec<LetValue<'a>>, Option<Rc<Frame>>, usize);

/// A `let`: the scope that has it, and its number there.
pub(crate) type LetKey = (*const Scope, usize);

/// How deeply values may nest: as deep as a text, of which each level counts twice.
pub(crate) const DEPTH: u32 = 20_010;

/// The files of a package as one text, as `cue def` prints it; other packages are put in if it is known where
/// it leads. None if it nests too deeply.
#[inline(never)]
pub fn package(
    files: &[Source],
    evaluate: Evaluate,
    found: &Found,
    outward: Option<&Outward>,
) -> Option<String> {
    let mut printer = Printer::new(files, evaluate, found);
    printer.links = Some(Links::default());
    for it in printer.main() {
        used::names(&it.file.decls, &mut printer.taken);
    }
    if outward.is_some() {
        let index = Rc::new(printer.index_files(files));
        // What is printed is known by its place.
        printer.scopes.retain(|key, _| files.get(key.0).is_some_and(|it| it.package != 0));
        printer.lead_out(outward, &index);
    }
    let scopes = printer.file_scopes();
    let mut conjuncts: Vec<_> = (files.iter().zip(scopes).enumerate())
        .filter(|(_, (it, _))| it.package == 0)
        .map(|(index, (it, scope))| (it.rank(), Conjunct::File { file: &it.file, index, scope }))
        .collect();
    cue_sort::by_key(&mut conjuncts, |it| it.0);
    let conjuncts = conjuncts.into_iter().map(|it| it.1).collect();
    let body = printer.merge(conjuncts);
    let hoisted = printer.hoisted();
    let text = printer.file(body, hoisted);
    (!printer.too_deep).then_some(text)
}

impl<'a> Printer<'a> {
    pub(crate) fn new(files: &'a [Source], evaluate: Evaluate, found: &'a Found) -> Self {
        Printer {
            files,
            evaluate,
            imports: Vec::new(),
            taken: Taken::default(),
            depth: 0,
            too_deep: false,
            path: Vec::new(),
            docs: Docs::Kept,
            attributes: Attributes::Kept,
            spread: false,
            outside: None,
            named: Vec::new(),
            computing: 0,
            in_definition: 0,
            scopes: Map::default(),
            lets: Map::default(),
            ready: Map::default(),
            found,
            links: None,
            bare: 0,
            frame: None,
            level: 0,
            shown: None,
            is_merged: files.iter().any(|it| it.is_data),
        }
    }

    /// The files of the main package, data first, by name.
    fn main(&self) -> Vec<&'a Source> {
        let mut files: Vec<&'a Source> = self.files.iter().filter(|it| it.package == 0).collect();
        cue_sort::by_key(&mut files, |it| it.rank());
        files
    }

    /// Whether a field that is printed now has its attributes.
    pub(crate) fn keeps_attributes(&self) -> bool {
        match self.attributes {
            Attributes::Kept => true,
            Attributes::Outermost => self.depth == 1,
            Attributes::Dropped => false,
        }
    }

    /// A name of a file in the result: what other packages hide keeps apart from what the main one does.
    pub(crate) fn hidden(&self, name: &str, file: usize) -> String {
        match self.files.get(file) {
            Some(it) if name.starts_with('_') && name != "_" => format!("{name}{}", it.suffix),
            _ => name.to_owned(),
        }
    }

    /// The outermost scope of each file: its imports, then the fields of the package.
    pub(crate) fn file_scopes(&self) -> Vec<Rc<Scope>> {
        let mut shared: Map<usize, Map<Arc<str>, Bound>> = Map::default();
        for Source { file, package, .. } in self.files {
            for decl in &file.decls {
                if let Decl::Field(field) = decl {
                    if let AstLabel::Ident(name) = &field.label {
                        let names = shared.entry(*package).or_default();
                        names.insert(name.name.clone(), Bound::Field);
                    }
                }
            }
        }
        let mut scopes = Vec::new();
        for Source { file, package, .. } in self.files {
            let mut imports = Map::default();
            for import in &file.imports {
                let path = import.path.rsplit_once(':').map_or(&*import.path, |it| it.0);
                let last = path.rsplit('/').next().unwrap_or(path);
                let last = last.split('@').next().unwrap_or(last);
                let alias = import.name.as_ref().map(|it| it.name.to_string());
                // The name that it has anyway is not given again.
                let alias = alias.filter(|it| it != last);
                imports.insert(import.called().into(), Bound::Import(import.path.clone(), alias));
            }
            let imports = Scope::new(None, imports);
            let shared = shared.get(package).cloned().unwrap_or_default();
            let place = match package {
                0 => String::new(),
                other => root_of(*other),
            };
            scopes.push(Scope::new(Some(imports), shared).at(Some(place)).entered());
        }
        scopes
    }

    /// The body with what stands above it.
    fn file(&self, body: Out, hoisted: Vec<Item>) -> String {
        let files = self.main();
        let mut heading = Heading::of(files.iter().map(|it| &*it.text));
        if self.found.closed.contains("") {
            heading.attributes.clear(); // they stand in what is closed
        }
        let written = matches!(files.as_slice(), [it] if merge::is_complex(&it.file.decls));
        let above = |text: &str| text.trim_start_matches('{').starts_with('\n');
        let complex = files.iter().find(|it| merge::is_complex(&it.file.decls));
        let blank = match &body {
            Out::Struct(items) => match items.as_slice() {
                [Item::Let(..), _, ..] => true,
                // One of several files that begins with clauses keeps its line, too.
                [Item::Embed(Out::Struct(items)), _, ..]
                    if matches!(items.first(), Some(Item::Comprehension { .. })) =>
                {
                    complex.is_none_or(|it| above(&it.text))
                }
                [Item::Embed(_), _, ..] if !written => true,
                // A struct in braces that was the whole file.
                [Item::Embed(Out::Struct(items))] => items.len() > 1,
                // It keeps the line that it began, in braces too.
                [Item::Comprehension { .. }, ..] => files.first().is_some_and(|it| above(&it.text)),
                _ => false,
            },
            Out::Text(..) => !hoisted.is_empty(),
        };
        let mut parts = [body, Out::Struct(hoisted)];
        let ([mut fields, hoisted], lets) = match &self.links {
            Some(links) => links.settle(&mut parts),
            None => (parts.each_ref().map(Out::fields), Vec::new()),
        };
        let [body, _] = parts;
        // What is printed as it is written is not looked at.
        let called = matches!(&body, Out::Text(text, _) if text.starts_with("close("));
        let closed = self.found.is_closed && (written || !embeds_definition(&body))
            || called && files.iter().any(|it| embeds_closing(&it.file.decls));
        if closed {
            fields = match &body {
                // It is a call that closes it once more.
                Out::Text(..) => format!("_#def\n_#def: {fields}"),
                Out::Struct(_) => format!("_#def\n_#def: {{\n{fields}}}\n"),
            };
        }
        fields.push_str(&hoisted);
        for it in lets {
            fields.push_str(&format!("\n{it}\n"));
        }
        fields.push_str(&heading.end());
        let imports: Vec<String> = self.imports.iter().map(import_text).collect();
        let text = heading.above(&left_open::header(&imports, &fields));
        let blank = blank && text.is_empty();
        let gap = match (starts_apart(&body) || heading.ends_in_comment() && starts_lower(&body))
            && !closed
        {
            true => "\n",
            false => "",
        };
        let above = if text.is_empty() || heading.is_attached { "" } else { gap };
        let lay = |text: &str| laid_out(text, cue_syntax::Style::Made, self.found.simplified);
        if heading.attributes.is_empty() {
            let blank = blank || closed && text.is_empty();
            let first = if blank { "\n" } else { "" };
            return format!("{first}{}", lay(&(text + above + &fields)));
        }
        // What experiments allow may forbid what is printed.
        let whole = format!("{text}{}{gap}{fields}", heading.attributes);
        match cue_syntax::parse_tree(&whole).1.is_empty() {
            true => lay(&whole),
            false => format!("{}{gap}{}", heading.attributes, lay(&(text + &fields))),
        }
    }
}

/// Whether the first declaration has a comment with an empty line above it.
fn starts_apart(body: &Out) -> bool {
    let Out::Struct(items) = body else { return false };
    match items.first() {
        Some(Item::Field(field)) => field.apart && !field.docs.is_empty(),
        Some(Item::Comprehension { gap: Gap::Empty, docs, .. }) => !docs.is_empty(),
        _ => false,
    }
}

/// Whether the first declaration is a comprehension with an empty line above it.
fn starts_lower(body: &Out) -> bool {
    let Out::Struct(items) = body else { return false };
    matches!(items.first(), Some(Item::Comprehension { gap: Gap::Empty, .. }))
}

/// Whether a reference to a definition is embedded: what it closes needs no other name.
pub(crate) fn embeds_definition(body: &Out) -> bool {
    let Out::Struct(items) = body else { return false };
    items.iter().any(|item| match item {
        Item::Embed(Out::Text(text, _)) => {
            let defines = |it: &str| it.starts_with(['#', '_']) && it.contains('#');
            text.split(['.', '[']).any(defines) && !text.contains(' ')
        }
        _ => false,
    })
}

/// Whether a definition closes a file whatever is made of it: it is embedded, or an operand of what is.
fn embeds_closing(decls: &[Decl]) -> bool {
    let names = |it: &str| it.trim_start_matches('_').starts_with('#');
    decls.iter().any(|decl| {
        let Decl::Embed(first) = decl else { return false };
        let mut open = vec![first];
        while let Some(it) = open.pop() {
            match &it.kind {
                ExprKind::Binary(Binary::Unify, left, right) => open.extend([left, right]),
                ExprKind::Ident(name) if names(name) => return true,
                ExprKind::Select(it) if names(&it.1.name) => return true,
                _ => {}
            }
        }
        false
    })
}

pub(crate) fn import_text((path, alias): &(String, Option<String>)) -> String {
    match alias {
        Some(alias) => format!("{alias} {path:?}"),
        None => format!("{path:?}"),
    }
}
