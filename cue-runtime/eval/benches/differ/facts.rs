//! What is known of each value of a program: class, kinds, value, closedness, order, errors and their places.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cue_eval::builtin::Kinds;
use cue_eval::evaluation::print_json;
use cue_eval::heap::VertexId;
use cue_eval::inspect::{Class, Node};
use cue_eval::{Evaluation, Kind, LabelKind};
use serde_json::Value;

use crate::compiled;

/// Of one value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    class: String,
    kinds: String,
    value: Value,
    closed: bool,
    /// Whether it may still be one of several: what it has is not compared.
    choice: bool,
    members: Vec<String>,
    text: String,
    /// What is told of the value itself.
    errors: Vec<(String, Vec<String>)>,
}

/// Of all values of a program, by their paths.
pub type Facts = BTreeMap<String, Fact>;

/// The first thing in which they differ, the weightiest first, and where.
pub fn difference(ours: &Facts, theirs: &Facts) -> Option<(&'static str, String)> {
    type Same = fn(&Fact, &Fact) -> bool;
    let all: [(&str, Same); 8] = [
        ("facts: another class", |one, other| {
            one.class == other.class || is_unfinished(one, other)
        }),
        ("facts: other kinds", |one, other| one.kinds == other.kinds),
        ("facts: another value", |one, other| one.value == other.value),
        ("facts: not as closed", |one, other| {
            one.choice || !other.text.is_empty() || one.closed == other.closed
        }),
        ("facts: other members", |one, other| {
            one.choice || sorted(&one.members) == sorted(&other.members)
        }),
        ("facts: another order", |one, other| one.choice || one.members == other.members),
        ("facts: another text", |one, other| {
            other.text.is_empty() || words(&one.text) == words(&other.text)
        }),
        ("facts: other messages", |one, other| {
            let texts = |it: &Fact| it.errors.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
            texts(one) == texts(other)
        }),
    ];
    let both = || {
        let all = ours.iter().filter_map(|(path, one)| Some((path, one, theirs.get(path)?)));
        all.filter(|(_, one, other)| !is_unfinished(one, other))
    };
    for (kind, same) in all {
        if let Some((path, one, other)) = both().find(|(_, one, other)| !same(one, other)) {
            return Some((kind, told(path, one, other)));
        }
    }
    let (path, one, other) = both().find(|(_, one, other)| one.errors != other.errors)?;
    Some(("facts: other places", told(path, one, other)))
}

/// Whether they say the same of values, whatever of order and errors.
pub fn alike(one: &Facts, other: &Facts) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|((path, one), (there, other))| {
            let same = one.class == other.class && one.value == other.value;
            path == there && same && one.kinds == other.kinds && one.closed == other.closed
        })
}

fn told(path: &str, ours: &Fact, theirs: &Fact) -> String {
    format!("of {path:?}\n-- ours:     {ours:?}\n-- official: {theirs:?}")
}

/// Whether officially a value says less than there is: below alternatives that are given up nothing is finished,
/// and what is shared with a wrong value is not told to be wrong.
fn is_unfinished(ours: &Fact, theirs: &Fact) -> bool {
    let shared = theirs.class == "nonconcrete" && theirs.kinds.is_empty();
    shared
        || ours.class == "incomplete" && theirs.text == "_"
        || ours.class == "concrete" && theirs.class == "nonconcrete"
}

/// A text without what is between its words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn sorted(all: &[String]) -> Vec<&String> {
    let mut all: Vec<&String> = all.iter().collect();
    all.sort();
    all
}

/// What the official implementation says (operation `paths`).
pub fn official(result: &Value) -> Option<Facts> {
    let mut facts = Facts::new();
    let mut members: HashMap<String, Vec<String>> = HashMap::new();
    for it in result["paths"].as_array()? {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let mut path = indexed(&text("path"));
        let marker = text("marker");
        path.push_str(&marker);
        let errors = match it["from_child"].as_bool() {
            Some(true) => Vec::new(),
            _ => it["errors"].as_array().into_iter().flatten().map(error).collect(),
        };
        let is_error = !matches!(it["class"].as_str(), Some("concrete" | "nonconcrete"));
        let kinds = if is_error { String::new() } else { named_kinds(&text("incomplete_kind")) };
        let fact = Fact {
            class: text("class"),
            value: it["value"].clone(),
            closed: kinds == "struct" && it["closed"].as_bool().unwrap_or_default(),
            kinds,
            choice: false,
            members: Vec::new(),
            text: if it["value"].is_null() { text("text") } else { String::new() },
            errors: unordered(errors),
        };
        if let Some((parent, label)) = parted(&path) {
            members.entry(parent.to_owned()).or_default().push(label.to_owned());
        }
        facts.insert(path, fact);
    }
    for (path, fact) in &mut facts {
        fact.members = members.remove(bare(path)).unwrap_or_default();
    }
    Some(facts)
}

/// A path without its last label, and that label; elements of lists have none.
fn parted(path: &str) -> Option<(&str, &str)> {
    if path.is_empty() || path.ends_with(']') {
        return None;
    }
    if let Some(before) = path.strip_suffix('"') {
        let begin = before.rfind('"')?;
        return Some((path[..begin].trim_end_matches('.'), &path[begin..]));
    }
    Some(path.rsplit_once('.').unwrap_or(("", path)))
}

/// A message without its path, which is that of the value where it is another; of conjunctions only what is in them:
/// to print one puts it in another order, and errors are printed last.
fn plain(told: &str) -> String {
    let message = told.split_once(": ").map_or(told, |it| it.1);
    if !message.contains(" & ") {
        return message.to_owned();
    }
    let mut words: Vec<&str> = message.split(' ').collect();
    words.sort_unstable();
    words.join(" ")
}

fn error(of: &Value) -> (String, Vec<String>) {
    let told = plain(&super::told(of));
    let places = of["positions"].as_array().into_iter().flatten();
    (told, places.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// What we say of the values that `wanted` has.
pub fn ours(text: &str, wanted: &Facts) -> Option<Facts> {
    let program = Arc::new(compiled(text).ok()?);
    std::panic::catch_unwind(|| {
        let mut facts = Facts::new();
        let mut it = Evaluation::start(program, &[], super::BUDGET);
        let root = it.find("").ok()??;
        visit(&mut it, root, String::new(), wanted, &mut facts);
        Some(facts)
    })
    .ok()?
}

fn visit(
    evaluation: &mut Evaluation,
    id: VertexId,
    path: String,
    wanted: &Facts,
    facts: &mut Facts,
) {
    let node = evaluation.inspect(id);
    let (class, value) = class(&node);
    let mut fact = Fact {
        class: class.to_owned(),
        kinds: String::new(),
        value,
        closed: false,
        choice: false,
        members: Vec::new(),
        text: String::new(),
        errors: Vec::new(),
    };
    if matches!(class, "concrete" | "nonconcrete") {
        fact.kinds = kinds(node.kinds);
        fact.closed = fact.kinds == "struct" && node.closed;
        fact.text = match fact.value.is_null() {
            true => node.syntax.clone().unwrap_or_default(),
            false => String::new(),
        };
    }
    if !node.child_error {
        let told = node.errors.iter().map(|it| {
            let places = it.positions.iter().map(|it| format!("{}:{}:{}", it.0, it.1, it.2));
            (plain(&format!("{}: {}", it.path, it.message)), places.collect())
        });
        fact.errors = unordered(told.collect());
    }
    let several = fact.kinds.contains('|');
    // Of which one is the default, of those it is not told whether they are closed.
    fact.closed |= node.default.is_some() && wanted.get(&path).is_some_and(|it| it.closed);
    fact.choice = node.syntax.is_some() && node.default.is_none() && (node.choice || several);
    if fact.choice {
        facts.insert(path, fact);
        return;
    }
    for (text, label, _, vertex) in &node.members {
        let child = match label {
            LabelKind::Index => format!("{}[{text}]", bare(&path)),
            _ if path.is_empty() => text.clone(),
            _ => format!("{}.{text}", bare(&path)),
        };
        if *label != LabelKind::Index {
            fact.members.push(text.clone());
        }
        if wanted.contains_key(&child) && !facts.contains_key(&child) {
            visit(evaluation, *vertex, child, wanted, facts);
        }
    }
    facts.insert(path, fact);
}

/// Errors sorted, without repeats: the official ones are as they come.
fn unordered(mut errors: Vec<(String, Vec<String>)>) -> Vec<(String, Vec<String>)> {
    errors.sort();
    errors.dedup();
    errors
}

/// A path with elements of failed lists as those of others.
fn indexed(path: &str) -> String {
    let mut out = String::new();
    for (at, label) in path.split('.').enumerate() {
        match label.parse::<u32>() {
            Ok(index) => out.push_str(&format!("[{index}]")),
            Err(_) if at == 0 => out.push_str(label),
            Err(_) => out.push_str(&format!(".{label}")),
        }
    }
    out
}

/// A path without the marker of its last label, as in the paths of what is below.
fn bare(path: &str) -> &str {
    path.trim_end_matches(['?', '!'])
}

/// The class in the words of the official implementation, a default counting as the value, and the value.
fn class(node: &Node) -> (&'static str, Value) {
    let value = |of: &Node| {
        let datum = of.value.as_ref();
        let text = datum.map(print_json);
        text.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or(Value::Null)
    };
    match node.class {
        Class::Concrete => ("concrete", value(node)),
        Class::Open => match node.default.as_deref() {
            Some(it) if it.class == Class::Concrete => ("concrete", value(it)),
            _ => ("nonconcrete", Value::Null),
        },
        Class::Error(kind) => (error_class(kind), Value::Null),
    }
}

fn error_class(kind: Kind) -> &'static str {
    match kind {
        Kind::Incomplete => "incomplete",
        Kind::Cycle => "cycle",
        Kind::StructuralCycle => "structural_cycle",
        Kind::User => "user_error",
        Kind::Permanent | Kind::Budget => "eval_error",
    }
}

/// Names of kinds, sorted.
fn kinds(of: Kinds) -> String {
    let all = [
        (Kinds::BOOL, "bool"),
        (Kinds::BYTES, "bytes"),
        (Kinds::FLOAT, "float"),
        (Kinds::INT, "int"),
        (Kinds::LIST, "list"),
        (Kinds::NULL, "null"),
        (Kinds::STRING, "string"),
        (Kinds::STRUCT, "struct"),
    ];
    let names: Vec<&str> = all.into_iter().filter(|it| of.meets(it.0)).map(|it| it.1).collect();
    names.join("|")
}

/// The same from what is written officially.
fn named_kinds(text: &str) -> String {
    let text = match text {
        "_" => "null|bool|number|string|bytes|list|struct",
        "_|_" => "",
        text => text.trim_matches(['(', ')']),
    };
    let text =
        text.replace("number", "int|float").replace("[...]", "list").replace("{...}", "struct");
    let mut names: Vec<&str> = text.split('|').collect();
    names.sort_unstable();
    names.join("|")
}
