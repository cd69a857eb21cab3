//! The conjuncts of one place as one value (O-73, O-74): literals merged by label, what refers to
//! something as operands of `&`, plain values evaluated together.

use std::rc::Rc;
use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::{
    Attribute, Binary, Decl, Expr, ExprKind, Field, File, Label as AstLabel, Marker,
};
use indexmap::IndexMap;
use thin_vec::ThinVec;

use crate::constant::{is_constant, is_unshared, strip, together};
use crate::expr::{is_error, label_text, marker};
use crate::linked::{Frame, Links};
use crate::named::named_scope;
use crate::out::{Declared, Item, Note, Out};
use crate::printer::Printer;
use crate::scope::{LetValue, Scope};
use crate::sourced::{Attributes, Docs};

/// What holds at a place.
#[derive(Clone)]
pub(crate) enum Conjunct<'a> {
    File { file: &'a File, index: usize, scope: Rc<Scope> },
    Expr { expr: &'a Expr, scope: Rc<Scope>, file: usize },
}

/// Whether an expression is an operand of `&`, or stands in a struct.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Operand,
    Embedded,
}

/// Whether a struct has braces, or is the rest of `a: b: 1`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Braces {
    Written,
    None,
}

/// The declarations of one label.
struct Merged<'a> {
    marker: Marker,
    conjuncts: Vec<Conjunct<'a>>,
    docs: Vec<ThinVec<String>>,
    below: Vec<(ThinVec<String>, bool)>,
    apart: bool,
    alias: Option<String>,
    attributes: Vec<String>,
    /// There is a comment above it, printed or not.
    documented: bool,
}

/// What the conjuncts of one place come to.
#[derive(Default)]
struct Parts<'a> {
    values: Vec<(&'a Expr, usize)>,
    embedded: Vec<Out>,
    operands: Vec<Out>,
    /// The fixed labels of each merged literal, for the order.
    literals: Vec<Vec<String>>,
    fields: IndexMap<String, Merged<'a>>,
    attributes: Vec<Note>,
    lets: Vec<LetValue<'a>>,
    /// For what is embedded as it is written: how many attributes and lets stand before it.
    before: Vec<(usize, [usize; 2])>,
    /// Frames of those.
    written: Vec<Rc<Frame>>,
    /// A `let` is in a literal in an operand.
    lets_in_operand: bool,
    open: bool,
    /// `_` is embedded.
    top: bool,
    has_struct: bool,
}

impl Parts<'_> {
    /// The one thing it is, if there is nothing that has to be put into braces with it.
    fn only(&self) -> Option<Out> {
        let plain = self.fields.is_empty() && !self.open && self.attributes.is_empty();
        if !plain || !self.lets.is_empty() {
            return None;
        }
        match (self.embedded.as_slice(), self.operands.as_slice(), self.has_struct) {
            ([], [], true) => Some(Out::Struct(Vec::new())),
            ([], [], false) => Some(Out::primary("_")),
            ([only], [], _) | ([], [only], false) if !self.lets_in_operand => Some(only.clone()),
            _ => None,
        }
    }

    /// Its attributes and what it embeds. Attributes and lets of what is embedded as it is written stand outside of that:
    /// the lets come besides, each with how many stand before it.
    fn embedded_items(&mut self) -> (Vec<Item>, Vec<(usize, Item)>) {
        let mut items: Vec<Item> = self.attributes.drain(..).map(Item::Attribute).collect();
        let mut embedded = std::mem::take(&mut self.embedded);
        let (mut attributes, mut lets) = (Vec::new(), Vec::new());
        for (index, it) in embedded.iter_mut().enumerate() {
            let Out::Struct(inner) = it else { continue };
            let before = self.before.iter().find(|it| it.0 == index);
            let before = before.map_or([0, 0], |it| it.1);
            for item in std::mem::take(inner) {
                match item {
                    Item::Attribute(_) => attributes.push((before[0], item)),
                    Item::Let(..) => lets.push((before[1], item)),
                    _ => inner.push(item),
                }
            }
        }
        for (before, item) in attributes.into_iter().rev() {
            items.insert(before.min(items.len()), item);
        }
        items.extend(embedded.into_iter().map(Item::Embed));
        (items, lets)
    }

    /// Puts the fields in the order that all its literals make together.
    fn order_fields(&mut self) {
        let order = field_order(&self.literals);
        let ranks = self.fields.keys().map(|it| order.get(it).copied().unwrap_or(usize::MAX));
        let ranks: Vec<usize> = ranks.collect();
        let order = cue_sort::order(ranks.len(), &mut |one, other| ranks[one].cmp(&ranks[other]));
        cue_sort::arrange(order, &mut |one, other| self.fields.swap_indices(one, other));
    }
}

impl<'a> Printer<'a> {
    /// The value of a place.
    pub(crate) fn merge(&mut self, conjuncts: Vec<Conjunct<'a>>) -> Out {
        if self.depth > crate::printer::DEPTH {
            self.too_deep = true;
            return Out::primary("_");
        }
        self.depth += 1;
        let out = self.merge_inner(conjuncts);
        self.depth -= 1;
        out
    }

    fn merge_inner(&mut self, conjuncts: Vec<Conjunct<'a>>) -> Out {
        let outer = self.frame.take();
        let frame = Frame::within(outer.clone());
        self.frame = Some(frame.clone());
        self.level += 1;
        let out = self.merge_within(conjuncts, &frame);
        self.level -= 1;
        self.frame = outer;
        out
    }

    fn merge_within(&mut self, conjuncts: Vec<Conjunct<'a>>, frame: &Rc<Frame>) -> Out {
        let mut parts = Parts::default();
        for conjunct in conjuncts {
            match conjunct {
                Conjunct::File { file, index, scope } => {
                    // What `close` closes as a whole holds them, too.
                    for it in file.attributes.iter().filter(|_| self.found.closed.contains("")) {
                        self.add_attribute(it, index, &mut parts);
                    }
                    self.add_struct(&file.decls, &scope, index, &mut parts, Braces::Written);
                }
                Conjunct::Expr { expr, scope, file } => {
                    self.add(expr, &scope, file, &mut parts, Place::Operand);
                }
            }
        }
        self.add_values(&mut parts);
        // What is embedded and nothing stands beside is the struct itself.
        if let ([_], [own], [], true) =
            (&*parts.embedded, &*parts.written, &*parts.operands, parts.fields.is_empty())
        {
            frame.take_in(own);
        }
        if let Some(only) = parts.only() {
            return only;
        }
        let (mut items, lets) = parts.embedded_items();
        parts.order_fields();
        let mut numbers = Vec::new();
        for label in parts.fields.keys() {
            let number = self.links.as_mut().map_or(0, Links::field);
            frame.add(label, number);
            numbers.push(number);
        }
        for ((label, merged), number) in std::mem::take(&mut parts.fields).into_iter().zip(numbers)
        {
            items.push(self.declared(&label, merged, number));
        }
        if parts.open {
            items.push(Item::Ellipsis(None));
        }
        let own_lets = std::mem::take(&mut parts.lets);
        self.add_lets(&own_lets, lets, &mut items);
        let mut operands = parts.operands;
        let closed = !parts.open && self.found.closed.contains(&self.path.join("."));
        let own = match closed {
            true => |own: Out| Out::primary(format!("close({})", own.text())),
            false => |own| own,
        };
        if operands.is_empty() {
            return own(Out::Struct(items));
        }
        // An empty struct says nothing beside one other operand only.
        let says = !items.is_empty() || parts.lets_in_operand;
        if says || parts.has_struct && operands.len() > 1 {
            operands.push(own(Out::Struct(items)));
        }
        match <[Out; 1]>::try_from(operands) {
            Ok([only]) => only,
            Err(operands) => Out::joined(&operands, "&", 2),
        }
    }

    /// Embeds what types, bounds and scalars come to together.
    fn add_values(&self, parts: &mut Parts<'a>) {
        if parts.values.is_empty() {
            if parts.top {
                parts.embedded.push(Out::primary("_"));
            }
            return;
        }
        let values: Vec<(&Expr, &Arc<str>)> =
            parts.values.iter().map(|(it, file)| (*it, &self.files[*file].text)).collect();
        let value = together(&values, self.evaluate);
        let alone = parts.operands.is_empty() && parts.embedded.is_empty() && !parts.has_struct;
        let unshared = parts.values.iter().any(|it| is_unshared(it.0));
        if !value.is_top() || alone || unshared {
            parts.embedded.push(value);
        }
    }

    /// A field of the result, with what its declarations come to together.
    fn declared(&mut self, label: &str, merged: Merged<'a>, number: usize) -> Item {
        let place = self.place_of(label);
        self.path.push(label.to_owned());
        // What is there is a field, however it is declared here.
        let known = place.as_ref().and_then(|it| self.found.presence.get(it));
        let mark = known.copied().unwrap_or(merged.marker);
        let alias = merged.alias.map(|it| self.fresh(&it));
        for conjunct in merged.conjuncts.iter().filter(|_| alias.is_some()) {
            if let Conjunct::Expr { scope, .. } = conjunct {
                scope.rename_let(0, alias.clone());
            }
        }
        let defines = usize::from(is_definition(label));
        self.in_definition += defines;
        let value = self.merge(merged.conjuncts);
        self.in_definition -= defines;
        self.path.pop();
        if let (Some(links), Some(place)) = (&mut self.links, &place) {
            // Of a value with a name of its own no name is recognized.
            let number = if alias.is_some() { usize::MAX } else { number };
            if self.found.presence.contains_key(place) {
                links.printed(place, number);
            }
        }
        Item::Field(Declared {
            docs: merged.docs,
            below: merged.below,
            apart: merged.apart,
            label: format!("{label}{}", marker(mark)),
            alias,
            value,
            attributes: merged.attributes,
            place,
            spread: self.spread,
            documented: merged.documented,
        })
    }

    fn add(
        &mut self,
        expr: &'a Expr,
        scope: &Rc<Scope>,
        file: usize,
        parts: &mut Parts<'a>,
        place: Place,
    ) {
        match &expr.kind {
            ExprKind::Paren(inner) => self.add(inner, scope, file, parts, place),
            ExprKind::Struct(decls) => {
                let text = crate::constant::slice(&self.files[file].text, expr.span);
                let braces = if text.starts_with('{') { Braces::Written } else { Braces::None };
                self.add_struct(decls, scope, file, parts, braces);
            }
            ExprKind::Binary(Binary::Unify, left, right) if place == Place::Operand => {
                self.add(left, scope, file, parts, place);
                self.add(right, scope, file, parts, place);
            }
            ExprKind::Top if place == Place::Embedded => parts.top = true,
            // A value that validates is a call of itself.
            _ if is_error(expr, scope) => {
                let call = Out::primary("error()");
                match place {
                    Place::Embedded => parts.embedded.push(call),
                    Place::Operand => parts.operands.push(call),
                }
            }
            _ if is_constant(expr, scope) => parts.values.push((expr, file)),
            _ => match place {
                Place::Embedded => {
                    self.level -= 1;
                    let mut out = self.expr(expr, scope, file);
                    // What stands for a reference keeps its lets.
                    if self.outside.is_some() && !matches!(expr.kind, ExprKind::Struct(_)) {
                        out = out.with_own_lets();
                    }
                    self.level += 1;
                    parts.lets_in_operand |= matches!(out, Out::Text(..)) && has_let(expr);
                    parts.embedded.push(out);
                }
                // It stands before the braces.
                Place::Operand => {
                    let inner = self.frame.take();
                    self.frame = inner.as_ref().and_then(|it| it.parent());
                    self.level -= 1;
                    let out = self.expr(expr, scope, file);
                    self.level += 1;
                    self.frame = inner;
                    parts.lets_in_operand |= has_let(expr);
                    parts.operands.push(out);
                }
            },
        }
    }

    fn add_attribute(&self, it: &Attribute, file: usize, parts: &mut Parts<'_>) {
        let note = self.note(it, file);
        let known = parts.attributes.iter().any(|it| it.text == note.text);
        if self.attributes == Attributes::Kept && !known {
            parts.attributes.push(note);
        }
    }

    fn add_struct(
        &mut self,
        decls: &'a [Decl],
        scope: &Rc<Scope>,
        file: usize,
        parts: &mut Parts<'a>,
        braces: Braces,
    ) {
        if is_complex(decls) {
            let (out, frame) = self.as_written(decls, scope, file, braces);
            let before = [parts.attributes.len(), parts.lets.len()];
            parts.before.push((parts.embedded.len(), before));
            parts.written.push(frame);
            parts.embedded.push(out);
            return;
        }
        parts.has_struct = true;
        let (inner, lets) = self.struct_scope(decls, scope, file);
        self.enter_aliases(&inner);
        self.enter_lets(&lets);
        parts.lets.extend(lets);
        // The literal comes before those embedded in it.
        let mut labels = Vec::new();
        let place = parts.literals.len();
        parts.literals.push(Vec::new());
        for decl in decls {
            match decl {
                Decl::Attribute(it) => self.add_attribute(it, file, parts),
                Decl::Let(..) => {}
                Decl::Ellipsis(..) => parts.open = true,
                Decl::Embed(value) => self.add(value, &inner, file, parts, Place::Embedded),
                Decl::Field(field) => {
                    let label = match &field.label {
                        AstLabel::Ident(name) => self.hidden(&name.name, file),
                        AstLabel::String(text, _) => label_text(text),
                        AstLabel::Dynamic(_)
                        | AstLabel::Interpolated(_)
                        | AstLabel::Pattern(..) => continue,
                    };
                    labels.push(label.clone());
                    self.add_field(field, label, &inner, file, parts, braces);
                }
            }
        }
        parts.literals[place] = labels;
    }

    fn add_field(
        &mut self,
        field: &'a Field,
        label: String,
        scope: &Rc<Scope>,
        file: usize,
        parts: &mut Parts<'a>,
        braces: Braces,
    ) {
        let merged = parts.fields.entry(label).or_insert_with(|| Merged {
            marker: field.marker,
            conjuncts: Vec::new(),
            docs: Vec::new(),
            below: Vec::new(),
            apart: false,
            alias: None,
            attributes: Vec::new(),
            documented: false,
        });
        merged.marker = firmer(merged.marker, field.marker);
        // The comment above `a: b: 1` belongs to `b`, if that is a name, and is lost where they are
        // merged (O-82).
        let named = |it: &Field| matches!(it.label, AstLabel::Ident(_) | AstLabel::String(..));
        let kept = braces == Braces::Written && self.docs == Docs::Kept;
        let commented = match self.shorthand(field, file) {
            Some(inner) if named(inner) => field,
            _ => self.commented(field, file),
        };
        let comments = commented.comments();
        if kept && !comments.above.is_empty() && !merged.docs.contains(&comments.above) {
            merged.apart |= merged.docs.is_empty() && commented.is_apart();
            merged.docs.push(comments.above.clone());
        }
        let known = merged.below.iter().any(|it| it.0 == comments.below);
        if kept && !comments.below.is_empty() && !known {
            // Comments of several declarations stand apart.
            let gap = comments.gap || !merged.below.is_empty();
            merged.below.push((comments.below.clone(), gap));
        }
        merged.documented |= braces == Braces::Written && field.docs.is_some();
        let kept = self.keeps_attributes();
        for attribute in field.attributes.iter().filter(|_| kept) {
            let text = format!("@{}({})", attribute.name, attribute.body);
            if !merged.attributes.contains(&text) {
                merged.attributes.push(text);
            }
        }
        // It is named when the value is printed.
        if let Some(alias) = &field.value_alias {
            merged.alias.get_or_insert_with(|| alias.name.to_string());
        }
        let alias = field.value_alias.as_deref();
        let scope = named_scope(&mut self.scopes, alias, scope, file);
        merged.conjuncts.push(Conjunct::Expr { expr: &field.value, scope, file });
    }
}

/// Whether a label as it is printed is that of a definition.
fn is_definition(label: &str) -> bool {
    label.starts_with('#') || label.starts_with("_#")
}

fn firmer(left: Marker, right: Marker) -> Marker {
    match (left, right) {
        (Marker::None, _) | (_, Marker::None) => Marker::None,
        (Marker::Required, _) | (_, Marker::Required) => Marker::Required,
        (Marker::Optional, Marker::Optional) => Marker::Optional,
    }
}

/// Whether a field has an alias before its label: `X=a:`. One behind it, `a~X:`, is not printed
/// where the label itself is a name.
pub(crate) fn has_old_alias(field: &Field) -> bool {
    field.alias.as_ref().is_some_and(|it| it.span.start <= field.label_span.start)
}

/// Whether a `let` is in a literal that is a part of an expression, not of a field in it.
fn has_let(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Struct(decls) => decls.iter().any(|decl| match decl {
            Decl::Let(..) => true,
            Decl::Embed(it) => has_let(it),
            _ => false,
        }),
        ExprKind::Comprehension(..) => false,
        _ => expr.operands().into_iter().any(has_let),
    }
}

/// Whether a struct is printed as it is written (O-76).
pub(crate) fn is_complex(decls: &[Decl]) -> bool {
    decls.iter().any(|decl| match decl {
        Decl::Field(field) => match &field.label {
            AstLabel::Pattern(..) | AstLabel::Dynamic(_) | AstLabel::Interpolated(_) => true,
            AstLabel::Ident(_) => has_old_alias(field),
            AstLabel::String(..) => field.alias.is_some(),
        },
        Decl::Ellipsis(Some(value), _) => !matches!(strip(value).kind, ExprKind::Top),
        Decl::Embed(value) => matches!(value.kind, ExprKind::Comprehension(..)),
        Decl::Ellipsis(None, _) | Decl::Let(..) | Decl::Attribute(_) => false,
    })
}

/// Where each label stands (O-73).
fn field_order(literals: &[Vec<String>]) -> Map<String, usize> {
    let mut numbers: Map<&str, usize> = Map::default();
    let mut labels: Vec<&String> = Vec::new();
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for literal in literals.iter().filter(|it| !it.is_empty()) {
        let number = |label| {
            let next = labels.len();
            *numbers.entry(String::as_str(label)).or_insert_with(|| {
                labels.push(label);
                next
            })
        };
        lists.push(literal.iter().map(number).collect());
    }
    // How many stand before each, and where it came to stand.
    let mut need = vec![0; labels.len()];
    for list in &lists {
        list.iter().skip(1).for_each(|label| need[*label] += 1);
    }
    let mut order: Map<String, usize> = Map::default();
    let mut heads = vec![0; lists.len()];
    // Lists before it are at their ends.
    let mut from = 0;
    loop {
        let head = |list: usize, heads: &[usize]| lists[list].get(heads[list]).copied();
        while from < lists.len() && head(from, &heads).is_none() {
            from += 1;
        }
        let mut open = (from..lists.len()).filter_map(|list| Some((list, head(list, &heads)?)));
        let Some((_, first)) = open.clone().next() else { return order };
        let Some((list, label)) = open.find(|(_, label)| need[*label] <= 0) else {
            need[first] = 0;
            continue;
        };
        let next = order.len();
        if !order.contains_key(labels[label]) {
            order.insert(labels[label].clone(), next);
            need[label] = -1;
        }
        heads[list] += 1;
        if lists[list].len() - heads[list] > 1 {
            if let Some(next) = head(list, &heads) {
                need[next] -= i64::from(need[next] > 0);
            }
        }
    }
}
