//! Names that structs and fields have in them: their scopes, `let`s and aliases (O-78, O-79).

use std::rc::Rc;

use cue_builtin::Datum;
use cue_map::Map;
use cue_syntax::ast::{Decl, Ident, Label as AstLabel};

use crate::merge::has_old_alias;
use crate::out::Item;
use crate::printer::Printer;
use crate::scope::{Bound, LetValue, Scope, field_at};

/// The aliases of a scope, among its lets.
const ALIASES: usize = usize::MAX;

impl<'a> Printer<'a> {
    /// The scope inside a struct, and its lets under the names they get.
    pub(crate) fn struct_scope(
        &mut self,
        decls: &'a [Decl],
        scope: &Rc<Scope>,
        file: usize,
    ) -> (Rc<Scope>, Vec<LetValue<'a>>) {
        let key = (file, decls.as_ptr() as usize);
        if let Some((scope, lets)) = self.scopes.get(&key) {
            let (scope, lets) = (scope.clone(), lets.clone());
            self.note_lets(&scope, &lets);
            return (scope, lets);
        }
        let mut names = Map::default();
        let mut lets = Vec::new();
        for decl in decls {
            match decl {
                Decl::Field(field) => {
                    if let Some(alias) = &field.alias {
                        names.insert(alias.name.clone(), Bound::Field);
                    }
                    if let Some(alias) = &field.key_alias {
                        names.insert(alias.name.clone(), label_meant(&field.label));
                    }
                    if let AstLabel::Ident(name) = &field.label {
                        names.insert(name.name.clone(), Bound::Field);
                        if let Some(alias) = &field.alias {
                            let label = name.name.to_string();
                            let bound = match has_old_alias(field) {
                                true => Bound::Alias(label),
                                false => Bound::Renamed(label),
                            };
                            names.insert(alias.name.clone(), bound);
                        }
                    }
                }
                Decl::Let(name, value) => {
                    names.insert(name.name.clone(), Bound::Let(lets.len()));
                    lets.push((name.name.clone(), &**value));
                }
                Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => {}
            }
        }
        let shown = lets.iter().map(|it| it.0.clone()).collect();
        let inner = Scope::with_lets(Some(scope.clone()), names, shown).at(self.place()).entered();
        let lets: Vec<LetValue<'a>> = lets
            .into_iter()
            .enumerate()
            .map(|(index, (_, value))| LetValue { index, value, scope: inner.clone(), file })
            .collect();
        if !decls.is_empty() {
            self.scopes.insert(key, (inner.clone(), lets.clone()));
        }
        self.note_lets(&inner, &lets);
        (inner, lets)
    }

    /// Notes where the lets of a struct of a package are printed.
    fn note_lets(&mut self, scope: &Rc<Scope>, lets: &[LetValue<'a>]) {
        if self.links.is_some() && !lets.is_empty() {
            let there = (lets.to_vec(), self.frame.clone(), self.level);
            self.lets.insert(Rc::as_ptr(scope), there);
        }
    }

    /// Where the value is that is being printed, if that is one place.
    pub(crate) fn place(&self) -> Option<String> {
        let known = !self.path.iter().any(|it| it == crate::expr::SOMEWHERE);
        (known && self.links.is_some()).then(|| self.path.join("."))
    }

    pub(crate) fn place_of(&self, label: &str) -> Option<String> {
        let place = self.place()?;
        Some(field_at(&place, label))
    }

    /// Lets of a struct that are referred to, before its declarations; among them those of what is
    /// embedded as it is `written`, each behind as many as stand before it.
    pub(crate) fn add_lets(
        &mut self,
        lets: &[LetValue<'a>],
        written: Vec<(usize, Item)>,
        items: &mut Vec<Item>,
    ) {
        let mut printed: Vec<Option<Item>> = lets.iter().map(|_| None).collect();
        // One let may be used by another only.
        let mut more = true;
        while more {
            more = false;
            for (index, it) in lets.iter().enumerate() {
                let Some(name) = it.scope.let_name(it.index) else { continue };
                if printed[index].is_none() {
                    let key = (Rc::as_ptr(&it.scope), it.index);
                    if let Some(ready) = self.ready.remove(&key) {
                        printed[index] = Some(Item::Let(name, ready));
                        more = true;
                        continue;
                    }
                    let (scope, used) = Scope::of_let(&it.scope, it.index);
                    let used = used.unwrap_or_else(|| self.path.clone());
                    let outer = std::mem::replace(&mut self.path, used);
                    let value = self.expr(it.value, &scope, it.file);
                    self.path = outer;
                    printed[index] = Some(Item::Let(name, value));
                    more = true;
                }
            }
        }
        for (before, item) in written.into_iter().rev() {
            printed.insert(before.min(printed.len()), Some(item));
        }
        items.splice(0..0, printed.into_iter().flatten());
    }
}

impl Printer<'_> {
    /// Each struct of an evaluated value names its lets anew (O-79); gives the names they had.
    pub(crate) fn enter_lets(&mut self, lets: &[LetValue<'_>]) -> Vec<Option<String>> {
        if let Some(outside) = &mut self.outside {
            outside.enter(lets.iter().map(|it| (Rc::as_ptr(&it.scope), it.index)));
            // It is printed where it is put in, maybe more than once.
            if outside.is_elsewhere() {
                lets.iter().for_each(|it| drop(it.scope.rename_let(it.index, None)));
            }
        }
        let Some(shown) = &mut self.shown else { return Vec::new() };
        shown.extend(lets.iter().map(|it| (Rc::as_ptr(&it.scope), it.index)));
        lets.iter().map(|it| it.scope.rename_let(it.index, None)).collect()
    }

    /// Aliases of a struct are known from where it is printed as declared: before that, what it was
    /// copied to has the labels instead.
    pub(crate) fn enter_aliases(&mut self, scope: &Rc<Scope>) {
        if let Some(shown) = &mut self.shown {
            shown.insert((Rc::as_ptr(scope), ALIASES));
        }
    }

    /// Whether that is so by now.
    pub(crate) fn knows_aliases(&self, scope: &Scope) -> bool {
        let key = (&raw const *scope, ALIASES);
        self.shown.as_ref().is_none_or(|it| it.contains(&key))
    }

    /// A name for what has one of its own, which no other has.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        self.taken.note(name);
        self.taken.unique(name)
    }
}

/// The scope inside of what has a name in a field, its value or a label that is matched: each time it is
/// printed it may get another one.
pub(crate) fn named_scope<'a>(
    scopes: &mut Map<(usize, usize), (Rc<Scope>, Vec<LetValue<'a>>)>,
    alias: Option<&Ident>,
    scope: &Rc<Scope>,
    file: usize,
) -> Rc<Scope> {
    let Some(alias) = alias else { return scope.clone() };
    let key = (file, (&raw const *alias) as usize);
    if let Some((known, _)) = scopes.get(&key) {
        return known.clone();
    }
    let names = Map::from_iter([(alias.name.clone(), Bound::Let(0))]);
    let inner = Scope::with_lets(Some(scope.clone()), names, vec![alias.name.clone()]);
    scopes.insert(key, (inner.clone(), Vec::new()));
    inner
}

/// The same for the name of a label that a pattern matches, among evaluated values: only where the pattern is printed as it
/// is written has it another one.
pub(crate) fn matched_scope<'a>(
    scopes: &mut Map<(usize, usize), (Rc<Scope>, Vec<LetValue<'a>>)>,
    alias: &Ident,
    scope: &Rc<Scope>,
    file: usize,
) -> Rc<Scope> {
    let names = Map::from_iter([(alias.name.clone(), Bound::Field)]);
    let inner = Scope::new(Some(scope.clone()), names);
    scopes.insert((file, (&raw const *alias) as usize), (inner.clone(), Vec::new()));
    inner
}

/// What the name of a label stands for: the label, if it is known.
fn label_meant(label: &AstLabel) -> Bound {
    match label {
        AstLabel::Ident(name) => Bound::Renamed(Datum::text(&*name.name).cue_text()),
        AstLabel::String(text, _) => Bound::Renamed(Datum::text(&**text).cue_text()),
        AstLabel::Dynamic(_) | AstLabel::Interpolated(_) => Bound::Renamed("string".to_owned()),
        AstLabel::Pattern(..) => Bound::Field,
    }
}
