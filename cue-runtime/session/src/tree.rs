//! A value of an evaluation as a patch sees it: with comments, types as CUE text.

use cue_eval::builtin::Datum;
use cue_eval::heap::VertexId;
use cue_eval::{Evaluation, LabelKind, Presence, Style};
use cue_patch::{Field, Rest, Tree};

/// Deepest value that is looked at.
const DEPTH: u32 = 200;

/// The tree of a value.
pub(crate) fn of(it: &mut Evaluation, id: VertexId) -> Tree {
    tree(it, id, 0)
}

fn tree(it: &mut Evaluation, id: VertexId, depth: u32) -> Tree {
    if let Some(wrong) = it.error(id) {
        return Tree::Bottom(wrong.message);
    }
    let (_, concrete) = it.kinds(id);
    if !concrete || depth > DEPTH {
        return Tree::Cue(it.syntax(id, Style::Definition).trim_end().to_owned());
    }
    if it.is_list(id) {
        let members = it.members(id).unwrap_or_default();
        let items = members.into_iter().map(|(_, vertex)| tree(it, vertex, depth + 1)).collect();
        return Tree::List { items, rest: rest(it, id, depth) };
    }
    let Some(members) = it.members(id) else {
        return match it.datum(id) {
            Ok(datum) => scalar(&datum),
            Err(_) => Tree::Cue(it.short(id)),
        };
    };
    let mut fields = Vec::with_capacity(members.len());
    for (member, vertex) in members {
        // Definitions are printed with the result, and data has none.
        if !matches!(member.label_kind, LabelKind::Regular | LabelKind::Definition) {
            continue;
        }
        let marker = match member.presence {
            Presence::Member => "",
            Presence::Optional => continue,
            Presence::Required => "!",
        };
        let value = tree(it, vertex, depth + 1);
        let (label, docs, apart) = (member.label.into(), member.docs, member.apart);
        fields.push(Field { label, marker, docs, apart, value });
    }
    Tree::Struct(fields)
}

/// What may follow the elements of a list. A type that adds nothing but a check is left out: base and
/// patch are data.
fn rest(it: &mut Evaluation, id: VertexId, depth: u32) -> Rest {
    if !it.is_open_list(id) {
        return Rest::Nothing;
    }
    match it.element(id).map(|each| tree(it, each, depth + 1)) {
        Some(each) if each.is_ground() => Rest::Each(Box::new(each)),
        Some(_) | None => Rest::Anything,
    }
}

/// The tree of plain data.
pub(crate) fn of_datum(datum: &Datum) -> Tree {
    match datum {
        Datum::List(items) => {
            Tree::List { items: items.iter().map(of_datum).collect(), rest: Rest::Nothing }
        }
        Datum::Struct(fields) => Tree::Struct(
            fields.iter().map(|(label, it)| Field::new(label.clone(), of_datum(it))).collect(),
        ),
        other => scalar(other),
    }
}

fn scalar(datum: &Datum) -> Tree {
    match datum {
        Datum::Null => Tree::Null,
        Datum::Bool(it) => Tree::Bool(*it),
        Datum::Number(it) if it.is_int() => Tree::Int(it.cue_text()),
        Datum::Number(it) => Tree::Float(it.cue_text()),
        Datum::String(it) => Tree::String(it.whole()),
        Datum::Struct(fields) if fields.is_empty() => Tree::Struct(Vec::new()),
        other => Tree::Cue(other.cue_text()),
    }
}

/// A tree that is data, numbers in their plainest form included; `None` if something in it is not.
pub(crate) fn datum(tree: &Tree) -> Option<Datum> {
    Some(match tree {
        Tree::Null => Datum::Null,
        Tree::Bool(it) => Datum::Bool(*it),
        Tree::Int(text) => Datum::int(text.parse().ok().filter(|it: &i64| *it >= 0)?),
        Tree::String(it) => Datum::text(it.clone()),
        Tree::List { items, .. } => Datum::list(items.iter().map(datum).collect::<Option<_>>()?),
        Tree::Struct(fields) => {
            let data = fields.iter().filter(|it| it.is_data());
            let pairs = data.map(|it| Some((it.label.clone(), datum(&it.value)?)));
            Datum::fields(pairs.collect::<Option<_>>()?)
        }
        Tree::Float(_) | Tree::Cue(_) | Tree::Bottom(_) => return None,
    })
}
