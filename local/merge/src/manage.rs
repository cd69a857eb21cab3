//! managedFields: who owns what after an update or an apply.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::Refused;
use crate::annotation;
use crate::fieldset::{FieldSet, shown};
use crate::go;
use crate::same::{self, equal};
use crate::schema::Schema;
use crate::typed::{self, Comparison};

/// More Update entries than this are folded together.
const MOST_UPDATES: usize = 10;

/// Paths nobody owns.
static NEVER: LazyLock<FieldSet> = LazyLock::new(|| FieldSet::of_fields(UNOWNED));
const UNOWNED: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "metadata.name",
    "metadata.namespace",
    "metadata.creationTimestamp",
    "metadata.selfLink",
    "metadata.uid",
    "metadata.clusterName",
    "metadata.generation",
    "metadata.managedFields",
    "metadata.resourceVersion",
];

/// What is known of the request that writes.
pub struct Writer<'a> {
    /// Field manager.
    pub manager: &'a str,
    /// apiVersion of the request.
    pub api_version: &'a str,
    /// Kind of the request.
    pub kind: &'a str,
    /// Subresource, empty for the main resource.
    pub subresource: &'a str,
    /// Time of the request, RFC 3339 in seconds.
    pub time: &'a str,
    /// Dotted paths this endpoint cannot change (`status`, `spec`).
    pub reset: &'a [&'a str],
    /// The schema of an apiVersion; none if it is not served.
    pub schema: &'a dyn Fn(&str) -> Option<Schema>,
    /// Conversion to an apiVersion; none if there is none.
    pub convert: &'a dyn Fn(&Value, &str) -> Option<Value>,
}

/// Converts by naming the version, as custom resources without a webhook do.
#[must_use]
pub fn renamed(value: &Value, api_version: &str) -> Option<Value> {
    let mut value = value.clone();
    value.as_object_mut()?.insert("apiVersion".to_owned(), Value::from(api_version));
    Some(value)
}

/// One entry of managedFields.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Who.
    pub manager: String,
    /// By apply; else by update.
    pub applied: bool,
    /// The apiVersion of its paths.
    pub api_version: String,
    /// Last change.
    pub time: Option<String>,
    /// Subresource, or empty.
    pub subresource: String,
    /// What.
    pub set: FieldSet,
}

impl Entry {
    fn same(&self, other: &Entry) -> bool {
        self.manager == other.manager
            && self.applied == other.applied
            && self.subresource == other.subresource
            && (self.applied || self.api_version == other.api_version)
    }

    fn order(&self) -> (bool, &str, &str, &str, &str) {
        (
            !self.applied,
            self.time.as_deref().unwrap_or(""),
            &self.manager,
            &self.api_version,
            &self.subresource,
        )
    }

    fn shown(&self) -> String {
        let mut text = go::quoted(&self.manager);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", go::quoted(&self.subresource)));
        }
        if !self.applied {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// What cannot be decoded.
    pub fn read(value: &Value) -> Result<Entry, String> {
        let text =
            |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let applied = match text("operation").as_str() {
            "Apply" => true,
            "Update" => false,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must be set".to_owned());
        }
        if text("fieldsType") != "FieldsV1" {
            return Err("fieldsType must be `FieldsV1`".to_owned());
        }
        let set = match value.get("fieldsV1") {
            None | Some(Value::Null) => FieldSet::default(),
            Some(fields) => FieldSet::from_json(fields)?,
        };
        let time = Some(text("time")).filter(|it| !it.is_empty());
        let (manager, api_version, subresource) =
            (text("manager"), text("apiVersion"), text("subresource"));
        Ok(Entry { manager, applied, api_version, time, subresource, set })
    }

    fn write(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, it: Value| out.insert(key.to_owned(), it);
        put("manager", json!(self.manager));
        put("operation", json!(if self.applied { "Apply" } else { "Update" }));
        put("apiVersion", json!(self.api_version));
        if let Some(time) = &self.time {
            put("time", json!(time));
        }
        put("fieldsType", json!("FieldsV1"));
        put("fieldsV1", self.set.to_json());
        if !self.subresource.is_empty() {
            put("subresource", json!(self.subresource));
        }
        Value::Object(out)
    }
}

/// Reads managedFields of an object. An absent list is empty.
///
/// # Errors
/// The first entry that cannot be decoded.
pub fn entries(object: &Value) -> Result<Vec<Entry>, String> {
    read_entries(object.pointer("/metadata/managedFields"))
}

fn read_entries(managed: Option<&Value>) -> Result<Vec<Entry>, String> {
    managed.and_then(Value::as_array).into_iter().flatten().map(Entry::read).collect()
}

/// Writes managedFields, sorted; none if there are no entries.
pub fn write_entries(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|it| !it.set.is_empty());
    entries.sort_by(|a, b| a.order().cmp(&b.order()));
    let Some(object) = object.as_object_mut() else { return };
    if entries.is_empty() {
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.shift_remove("managedFields");
        }
        return;
    }
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        let written = entries.iter().map(Entry::write).collect();
        metadata.insert("managedFields".to_owned(), Value::Array(written));
    }
}

pub(crate) fn take_managed(object: &mut Value) -> Option<Value> {
    object.get_mut("metadata")?.as_object_mut()?.shift_remove("managedFields")
}

fn reset(cx: &Writer<'_>) -> FieldSet {
    FieldSet::of_fields(cx.reset)
}

// The object that says nothing, written as `state` is.
fn zero(cx: &Writer<'_>, schema: &Schema, state: &Value) -> Value {
    let mut zero = schema.zero();
    if let Some(zero) = zero.as_object_mut() {
        zero.insert("apiVersion".to_owned(), json!(cx.api_version));
        zero.insert("kind".to_owned(), json!(cx.kind));
        // What is written when it is not set.
        let unset = state.as_object().into_iter().flatten().filter(|(_, value)| value.is_null());
        zero.extend(unset.map(|(name, _)| (name.clone(), Value::Null)));
    }
    zero
}

/// A state that another version of the kind has no place for, in the words of its first violation.
struct Misfit(String);

// Compares in another version; none if that version is gone.
fn compare_at<'c>(
    cx: &Writer<'_>,
    version: &str,
    own: &'c Comparison,
    live: &Value,
    new: &Value,
) -> Result<Option<Cow<'c, Comparison>>, Misfit> {
    if version == cx.api_version {
        return Ok(Some(Cow::Borrowed(own)));
    }
    let Some(schema) = (cx.schema)(version) else { return Ok(None) };
    let converted = (cx.convert)(live, version).zip((cx.convert)(new, version));
    let Some((live, new)) = converted else { return Ok(None) };
    for state in [&live, &new] {
        let wrong = typed::validate(&schema, state);
        // Elements that are there twice are borne here.
        if let Some(wrong) = wrong.into_iter().find(|it| !it.contains("duplicate entries")) {
            return Err(Misfit(wrong));
        }
    }
    Ok(Some(Cow::Owned(typed::compare(&schema, &live, &new).without(&reset(cx)))))
}

/// Makes of `new` the object that an update (create, replace, patch) stores: with its managedFields.
///
/// `live` is none when the object is created; `new` has its defaults.
pub fn update(cx: &Writer<'_>, live: Option<&Value>, new: &mut Value) {
    let given = take_managed(new);
    let Some(schema) = (cx.schema)(cx.api_version) else { return };
    let stored = live.map(entries).and_then(Result::ok).unwrap_or_default();
    let start = match &given {
        _ if !cx.subresource.is_empty() => stored,
        None | Some(Value::Null) => stored,
        Some(Value::Array(all)) if all.is_empty() => Vec::new(),
        Some(Value::Array(all)) if matches!(all.as_slice(), [one] if hollow(one)) => Vec::new(),
        Some(given) => read_entries(Some(given)).unwrap_or(stored),
    };
    if start.is_empty() && live.is_some() {
        return;
    }
    let after = match live {
        Some(live) => updated(cx, &schema, start, live, new),
        None => updated(cx, &schema, start, &zero(cx, &schema, new), new),
    };
    // Where owners cannot be told in their own version, nobody owns anything.
    if let Ok(after) = after {
        write_entries(new, after);
        unchanged_times(live, new);
    }
}

fn hollow(entry: &Value) -> bool {
    entry.as_object().is_some_and(|it| {
        it.values().all(|v| v.is_null() || v == "" || v.as_object().is_some_and(Map::is_empty))
    })
}

fn updated(
    cx: &Writer<'_>,
    schema: &Schema,
    start: Vec<Entry>,
    old: &Value,
    new: &Value,
) -> Result<Vec<Entry>, Misfit> {
    let own = typed::compare(schema, old, new).without(&reset(cx));
    let mut out: Vec<Entry> = Vec::new();
    for mut entry in start {
        let Some(schema) = (cx.schema)(&entry.api_version) else { continue };
        let Some(diff) = compare_at(cx, &entry.api_version, &own, old, new)? else { continue };
        entry.set = typed::reconcile(&schema, &entry.set)
            .difference(&diff.modified)
            .difference(&diff.added)
            .difference(&diff.removed);
        if !entry.set.is_empty() {
            out.push(entry);
        }
    }
    let mine = own.into_changed().difference(&NEVER);
    if !mine.is_empty() {
        let entry = Entry {
            manager: named(cx.manager),
            applied: false,
            api_version: cx.api_version.to_owned(),
            time: Some(cx.time.to_owned()),
            subresource: cx.subresource.to_owned(),
            set: mine,
        };
        match out.iter_mut().find(|it| it.same(&entry)) {
            Some(known) => {
                known.set.extend(&entry.set);
                known.time = entry.time;
            }
            None => out.push(entry),
        }
        fold_ancient(&mut out);
    }
    Ok(out)
}

fn named(manager: &str) -> String {
    if manager.is_empty() { "unknown".to_owned() } else { manager.to_owned() }
}

// Too many updaters: the oldest are folded into one entry per version.
fn fold_ancient(entries: &mut Vec<Entry>) {
    let mut updates: Vec<Entry> = entries.iter().filter(|it| !it.applied).cloned().collect();
    if updates.len() <= MOST_UPDATES {
        return;
    }
    entries.retain(|it| it.applied);
    updates.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut rest = updates.len();
    let mut buckets: Vec<Entry> = Vec::new();
    let mut kept = Vec::new();
    for update in updates {
        if rest <= MOST_UPDATES {
            kept.push(update);
            continue;
        }
        match buckets.iter_mut().find(|it| it.api_version == update.api_version) {
            Some(bucket) => {
                bucket.manager = "ancient-changes".to_owned();
                bucket.subresource = String::new();
                bucket.set.extend(&update.set);
                bucket.time = update.time;
                rest -= 1;
            }
            None => buckets.push(update),
        }
    }
    entries.extend(buckets);
    entries.extend(kept);
}

// The same entries apart from times, and the same object: the old times come back.
fn unchanged_times(live: Option<&Value>, out: &mut Value) {
    let Some(live) = live else { return };
    if !same::same_but_managed(live, out, &equal) {
        return;
    }
    let (a, b) = (same::managed(live), same::managed(out));
    let known = |one: &Value| b.iter().any(|it| same::same_entry(one, it));
    if a.is_empty() || a.len() != b.len() || !a.iter().all(known) {
        return;
    }
    let before = Value::Array(a.to_vec());
    if let Some(Value::Object(metadata)) = out.get_mut("metadata") {
        metadata.insert("managedFields".to_owned(), before);
    }
}

/// What becomes of fields that others own and an apply changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// The apply is refused.
    Refused,
    /// The fields change hands: `force=true`.
    Forced,
}

/// The object that an apply stores, not yet defaulted; equal to `live` if the apply changes nothing.
///
/// # Errors
/// Violations of the schema (500), undecodable managedFields (500), conflicts (409).
pub fn apply(
    cx: &Writer<'_>,
    live: Option<&Value>,
    patch: &Value,
    conflicts: Conflicts,
) -> Result<Value, Refused> {
    let Some(schema) = (cx.schema)(cx.api_version) else {
        return Err(Refused::new(500, format!("no schema for {} {}", cx.api_version, cx.kind)));
    };
    typed_check(cx, &schema, patch)?;
    let nothing = json!({"apiVersion": cx.api_version, "kind": cx.kind});
    let old = live.unwrap_or(&nothing);
    let mut managed = match live.map(entries) {
        Some(Err(error)) => {
            return Err(Refused::new(500, format!("failed to decode managed fields: {error}")));
        }
        Some(Ok(all)) if all.is_empty() => {
            let first =
                Writer { manager: "before-first-apply", subresource: "", reset: &[], ..*cx };
            updated(&first, &schema, Vec::new(), &zero(cx, &schema, old), old).unwrap_or_default()
        }
        Some(Ok(all)) => all,
        None => Vec::new(),
    };
    managed.retain_mut(|entry| match (cx.schema)(&entry.api_version) {
        Some(schema) => {
            entry.set = typed::reconcile(&schema, &entry.set);
            true
        }
        None => false,
    });
    let mut mine = Entry {
        manager: named(cx.manager),
        applied: true,
        api_version: cx.api_version.to_owned(),
        time: None,
        subresource: cx.subresource.to_owned(),
        set: FieldSet::default(),
    };
    mine.set = typed::fields(&schema, patch).recursive_difference(&reset(cx));
    let last = managed.iter().position(|it| it.same(&mine)).map(|at| managed.remove(at));
    mine.time = last.as_ref().and_then(|it| it.time.clone());
    let merged = typed::merge(&schema, old, patch);
    let mut merged = prune(cx, &schema, merged, last.as_ref(), &managed, &mine);
    // The annotation that is renewed in passing is no change of the manager's.
    let changed = live.is_none() || !equal(old, &merged);
    if !managed.is_empty() {
        let diff = typed::compare(&schema, old, &merged).without(&reset(cx));
        settle(cx, &mut managed, &diff, old, &merged, conflicts)?;
    }
    if cx.manager == "kubectl" {
        annotation::renew(&mut merged, patch);
    }
    mine.set = mine.set.difference(&NEVER);
    if changed {
        mine.time = Some(cx.time.to_owned());
    }
    managed.push(mine);
    write_entries(&mut merged, managed);
    unchanged_times(live, &mut merged);
    Ok(merged)
}

fn typed_check(cx: &Writer<'_>, schema: &Schema, patch: &Value) -> Result<(), Refused> {
    let errors = typed::validate(schema, patch);
    let text = match errors.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let meta = |key: &str| patch.pointer(key).and_then(Value::as_str).unwrap_or_default();
    Err(Refused::new(
        500,
        format!(
            "failed to create typed patch object ({}/{}; {}, Kind={}): {text}",
            meta("/metadata/namespace"),
            meta("/metadata/name"),
            if cx.api_version.contains('/') {
                cx.api_version.to_owned()
            } else {
                format!("/{}", cx.api_version)
            },
            cx.kind
        ),
    ))
}

// Takes changed paths from the other managers; refuses if that needs force and there is none.
fn settle(
    cx: &Writer<'_>,
    managed: &mut Vec<Entry>,
    diff: &Comparison,
    old: &Value,
    merged: &Value,
    with: Conflicts,
) -> Result<(), Refused> {
    let mut conflicts: Vec<(usize, FieldSet)> = Vec::new();
    for (at, entry) in managed.iter_mut().enumerate() {
        let at_version = compare_at(cx, &entry.api_version, diff, old, merged)
            .map_err(|Misfit(why)| Refused::new(500, why))?;
        let Some(diff) = at_version else {
            entry.set = FieldSet::default();
            continue;
        };
        let conflict = entry.set.intersection(&diff.changed());
        entry.set = std::mem::take(&mut entry.set).difference(&diff.removed);
        if !conflict.is_empty() {
            conflicts.push((at, conflict));
        }
    }
    if with == Conflicts::Refused && !conflicts.is_empty() {
        let allowed = annotation::last_applied(cx, old);
        let left: Vec<_> = conflicts
            .iter()
            .map(|(at, set)| (*at, set.clone().difference(&allowed)))
            .filter(|(_, set)| !set.is_empty())
            .collect();
        if !left.is_empty() {
            return Err(refusal(managed, left));
        }
    }
    for (at, conflict) in conflicts {
        if let Some(entry) = managed.get_mut(at) {
            entry.set = std::mem::take(&mut entry.set).difference(&conflict);
        }
    }
    managed.retain(|it| !it.set.is_empty());
    Ok(())
}

fn refusal(managed: &[Entry], conflicts: Vec<(usize, FieldSet)>) -> Refused {
    let mut all: Vec<(&Entry, FieldSet)> =
        conflicts.into_iter().filter_map(|(at, set)| Some((managed.get(at)?, set))).collect();
    all.sort_by_key(|(entry, _)| entry.shown());
    let mut listed = Vec::new();
    for (entry, set) in &all {
        for path in set.paths() {
            listed.push((format!("conflict with {}", entry.shown()), shown(&path)));
        }
    }
    let message = match listed.as_slice() {
        [(with, path)] => format!("Apply failed with 1 conflict: {with}: {path}"),
        many => {
            let parts: Vec<_> = all
                .iter()
                .map(|(entry, set)| {
                    let paths: String =
                        set.paths().iter().map(|path| format!("\n- {}", shown(path))).collect();
                    format!("conflicts with {}:{paths}", entry.shown())
                })
                .collect();
            format!("Apply failed with {} conflicts: {}", many.len(), parts.join("\n"))
        }
    };
    Refused { code: 409, message, conflicts: listed }
}

fn prune(
    cx: &Writer<'_>,
    schema: &Schema,
    merged: Value,
    last: Option<&Entry>,
    others: &[Entry],
    mine: &Entry,
) -> Value {
    let Some(last) = last.filter(|it| !it.set.is_empty()) else { return merged };
    // What was applied before is all applied again: nothing is left behind.
    if last.api_version == cx.api_version && last.set.is_within(&mine.set) {
        return merged;
    }
    let mut owned = mine.set.clone();
    for entry in others {
        owned.extend(&entry.set);
    }
    let at_last = (cx.schema)(&last.api_version);
    let (schema, merged, back) = match (&at_last, last.api_version == cx.api_version) {
        (Some(other), false) => match (cx.convert)(&merged, &last.api_version) {
            Some(converted) => (other, converted, true),
            None => return merged,
        },
        _ => (schema, merged, false),
    };
    let named = |set: &FieldSet| typed::with_declared(schema, set);
    let m = named(&typed::fields(schema, &merged));
    let l = named(&last.set);
    let p1 = typed::remove(schema, &merged, &l);
    let keep = named(&typed::fields(schema, &p1)).union(&named(&owned));
    let p2 = typed::remove(schema, &merged, &m.clone().difference(&keep));
    let gone = m.difference(&named(&typed::fields(schema, &p2))).intersection(&l);
    let out = typed::remove(schema, &merged, &gone);
    if back { (cx.convert)(&out, cx.api_version).unwrap_or(out) } else { out }
}
