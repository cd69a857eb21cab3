//! Recorded CUE evaluations: every node of a case, the printed forms, and the errors, scored as
//! the reference scorer of the cases does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use cue_eval::builtin::{Datum, Kinds};
use cue_eval::heap::VertexId;
use cue_eval::inspect::{Class, Node};
use cue_eval::{
    Budget, Concreteness, Diagnostic, Evaluation, Kind, LabelKind, LoadError, Presence, Profile,
    Program, Source, compile,
};
use serde_json::{Map, Value, json};

use crate::score::Scores;

/// What one case may use up.
pub(crate) const BUDGET: Budget = Budget { ticks: 4_000_000, depth: 400, bytes: 200 << 20 };
const STACK: usize = 512 << 20;

type Checks = Vec<(String, bool, String)>;

/// Scores `cue/eval`, `cue/pkg` or `cue/idioms`.
///
/// # Errors
/// A folder or file cannot be read.
pub fn run(cases: &Path, suite: &'static str) -> anyhow::Result<Scores> {
    Ok(played(&records(&cases.join("cue").join(suite))?, move |case| {
        let got = record(case);
        let mut checks = Checks::new();
        judge(&format!("cue.{suite}"), case, &got, &mut checks);
        checks
    }))
}

/// Scores `cue/eval014` and `cue/idioms014`: the two modes of the older version.
///
/// # Errors
/// A folder or file cannot be read.
pub fn run_compat(cases: &Path) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    for suite in ["eval", "idioms"] {
        let mut inputs = HashMap::new();
        for input in records(&cases.join("cue").join(suite))? {
            inputs.insert(input["id"].as_str().unwrap_or_default().to_owned(), input);
        }
        let inputs = Arc::new(inputs);
        let old = records(&cases.join("cue").join(format!("{suite}014")))?;
        scores.merge(played(&old, move |case| {
            let id = case["id"].as_str().unwrap_or_default();
            let empty = Value::Null;
            let input = inputs.get(id).unwrap_or(&empty);
            let mut checks = Checks::new();
            for (mode, name, profile) in [
                ("v014_v3", "cue.compat014.v3", Profile::V017),
                ("v014_v2", "cue.compat014.v2", Profile::KubeVela),
            ] {
                let texts = match load(&input["files"], &case["entry"]["args"], profile) {
                    Ok(program) => texts(&Arc::new(program)),
                    Err(_) => Map::new(),
                };
                for form in ["export", "eval_text"] {
                    let want = &case[mode][form];
                    let Some(ok) = want["ok"].as_bool() else { continue };
                    let none = Value::Null;
                    let got = texts.get(form).unwrap_or(&none);
                    let same = got["ok"].as_bool().unwrap_or(false) == ok;
                    let passed = same
                        && (!ok
                            || if form == "export" {
                                equal_json(&want["text"], &got["text"])
                            } else {
                                want["text"] == got["text"]
                            });
                    checks.push((name.into(), passed, format!("{form}: {got}")));
                }
            }
            checks
        }));
    }
    Ok(scores)
}

/// All records below a folder.
pub(crate) fn records(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for path in entries.flatten().map(|it| it.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut records = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file)?.lines() {
            records.push(serde_json::from_str(line).with_context(|| file.display().to_string())?);
        }
    }
    Ok(records)
}

/// Plays cases on a thread with a deep stack; one that panics fails all its assertions.
pub(crate) fn played(
    cases: &[Value],
    play: impl Fn(&Value) -> Checks + Send + Sync + 'static,
) -> Scores {
    let play = Arc::new(play);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let cases = Arc::new(cases.to_vec());
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut handles = Vec::new();
    for _ in 0..threads {
        let (play, cases, next) = (play.clone(), cases.clone(), next.clone());
        let work = move || {
            let mut all = Vec::new();
            loop {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(case) = cases.get(at) else { return all };
                all.push((at, play(case)));
            }
        };
        if let Ok(handle) = std::thread::Builder::new().stack_size(STACK).spawn(work) {
            handles.push(handle);
        }
    }
    let mut results: Vec<(usize, Checks)> =
        handles.into_iter().filter_map(|it| it.join().ok()).flatten().collect();
    results.sort_by_key(|it| it.0);
    let mut scores = Scores::default();
    for (at, checks) in results {
        let id = cases[at]["id"].as_str().unwrap_or_default();
        for (name, passed, what) in checks {
            scores.check(&name, id, passed, || what);
        }
    }
    scores
}

/// The files of a case: the entry's as one package, the others to be imported.
pub(crate) fn sources(files: &Value, entry: &Value) -> (Vec<Source>, Vec<(String, Vec<Source>)>) {
    let empty = Map::new();
    let files = files.as_object().unwrap_or(&empty);
    let args: Vec<&str> =
        entry.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let module = files.get("cue.mod/module.cue").and_then(Value::as_str);
    let language = module.map(cue_tool::load::language).unwrap_or_default();
    let source = |name: &str| Source {
        language: language.clone(),
        ..Source::new(name, files.get(name).and_then(Value::as_str).unwrap_or_default())
    };
    // Test files take no part, even when they are named (cue-errors 1.15).
    let taken = args.iter().filter(|it| !it.ends_with("_test.cue"));
    let sources: Vec<Source> = taken.map(|it| source(it)).collect();
    let module = module.and_then(module_path);
    let mut packages: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for name in files.keys() {
        if !name.ends_with(".cue") || args.contains(&name.as_str()) {
            continue;
        }
        let Some(module) = &module else { continue };
        let (folder, _) = name.rsplit_once('/').unwrap_or(("", name));
        if folder == "cue.mod" {
            continue;
        }
        let vendored = ["cue.mod/pkg/", "cue.mod/usr/", "cue.mod/gen/"];
        let path = match vendored.iter().find_map(|it| folder.strip_prefix(it)) {
            Some(path) => path.to_owned(),
            None if folder.is_empty() => module.clone(),
            None => format!("{module}/{folder}"),
        };
        let source = source(name);
        if let Some(package) = package_name(&source.text) {
            packages.entry(format!("{path}:{package}")).or_default().push(source.clone());
        }
        packages.entry(path).or_default().push(source);
    }
    (sources, packages.into_iter().collect())
}

/// Compiles the files of a case.
pub(crate) fn load(
    files: &Value,
    entry: &Value,
    profile: Profile,
) -> Result<Program, Vec<LoadError>> {
    // Cases without a language version are of the present one.
    let module = files.get("cue.mod/module.cue").and_then(Value::as_str);
    let stated = module.filter(|it| it.contains("language"));
    if let Some(message) = stated.and_then(cue_tool::load::unspoken) {
        return Err(vec![LoadError { message, ..LoadError::default() }]);
    }
    let (sources, packages) = sources(files, entry);
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(&sources, &packages, profile)));
    compiled.unwrap_or_else(|_| {
        Err(vec![LoadError { message: "panic".into(), ..LoadError::default() }])
    })
}

/// The path of a module file, without the version.
fn module_path(text: &str) -> Option<String> {
    let line = text.lines().find_map(|it| it.trim().strip_prefix("module:"))?;
    let path = line.trim().trim_matches('"');
    Some(path.split('@').next().unwrap_or(path).to_owned())
}

fn package_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|it| it.strip_prefix("package "))?;
    line.split("//").next().map(str::trim)
}

/// The record of a case as we see it.
fn record(case: &Value) -> Value {
    let program = match load(&case["files"], &case["entry"]["args"], Profile::V017) {
        Ok(program) => Arc::new(program),
        Err(errors) => {
            let messages: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            let positions: Vec<Value> = errors
                .iter()
                .map(|it| {
                    let (file, line, column) = &it.position;
                    if *line == 0 { json!([]) } else { json!([format!("{file}:{line}:{column}")]) }
                })
                .collect();
            let text = json!({"ok": false, "error": messages.join("\n")});
            return json!({
                "load_errors": messages, "load_positions": positions, "export": text,
                "eval_text": text, "def_text": text, "export_yaml": text,
            });
        }
    };
    let mut got = texts(&program);
    let walked = catch_unwind(AssertUnwindSafe(|| {
        let wanted: HashSet<&str> = case["paths"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it["path"].as_str())
            .collect();
        let mut evaluation = Evaluation::start(program.clone(), &[], BUDGET);
        let mut nodes = Map::new();
        if let Ok(Some(root)) = evaluation.find("") {
            let walk = Walk { wanted: &wanted };
            walk.visit(&mut evaluation, root, "", "", "root", &mut nodes);
        }
        nodes
    }));
    got.insert("nodes".into(), walked.map_or(Value::Null, Value::Object));
    Value::Object(got)
}

struct Walk<'a> {
    wanted: &'a HashSet<&'a str>,
}

impl Walk<'_> {
    /// `package` is that of the last hidden label in the path; empty for the main one.
    fn visit(
        &self,
        evaluation: &mut Evaluation,
        id: VertexId,
        path: &str,
        package: &str,
        kind: &str,
        nodes: &mut Map<String, Value>,
    ) {
        let node = evaluation.inspect(id);
        nodes.insert(node_key(path, package), node_record(&node, kind));
        for ((text, label, presence, vertex), own) in node.members.iter().zip(&node.packages) {
            let (child, kind) = match (label, presence) {
                (LabelKind::Index, _) => (format!("{path}[{text}]"), "index"),
                (_, Presence::Optional) => (joined(path, text), "optional"),
                (_, Presence::Required) => (joined(path, text), "required"),
                (LabelKind::Regular, _) => (joined(path, text), "regular"),
                (LabelKind::Hidden, _) => (joined(path, text), "hidden"),
                (LabelKind::Definition, _) => (joined(path, text), "definition"),
                (LabelKind::HiddenDefinition, _) => (joined(path, text), "hidden_definition"),
            };
            let hidden = matches!(label, LabelKind::Hidden | LabelKind::HiddenDefinition);
            let package = if hidden { own } else { package };
            let wanted = self.wanted.contains(child.as_str());
            if wanted && !nodes.contains_key(&node_key(&child, package)) {
                self.visit(evaluation, *vertex, &child, package, kind, nodes);
            }
        }
    }
}

/// What tells nodes apart: hidden fields of different packages have the same path.
fn node_key(path: &str, package: &str) -> String {
    if package.is_empty() { path.to_owned() } else { format!("{path} of {package}") }
}

fn joined(path: &str, label: &str) -> String {
    if path.is_empty() { label.to_owned() } else { format!("{path}.{label}") }
}

fn node_record(node: &Node, label_kind: &str) -> Value {
    let mut out = Map::new();
    out.insert("label_kind".into(), label_kind.into());
    let (class, code) = class_code(node);
    out.insert("class".into(), class.into());
    if let Some(code) = code {
        out.insert("code".into(), code.into());
    } else {
        out.insert("kind".into(), kind_names(node.kinds));
    }
    if let Some(value) = &node.value {
        out.insert("value".into(), scalar_text(value).into());
    }
    if let Some(default) = &node.default {
        let class = match class_code(default).0 {
            "concrete" => "concrete",
            "nonconcrete" => "nonconcrete",
            _ => "error",
        };
        let mut inner = Map::new();
        inner.insert("class".into(), class.into());
        inner.insert("kind".into(), kind_names(default.kinds));
        if let Some(value) = &default.value {
            inner.insert("value".into(), scalar_text(value).into());
        }
        out.insert("default".into(), Value::Object(inner));
    }
    if let Some(syntax) = &node.syntax {
        out.insert("syntax".into(), syntax.as_str().into());
    }
    if let Some(length) = node.length {
        out.insert("len".into(), length.into());
    }
    out.insert("open_list".into(), node.open_list.into());
    // What may still be something else lists no fields.
    let several = kind_names(node.kinds).as_array().is_some_and(|it| it.len() > 1);
    let open = node.syntax.is_some() && node.default.is_none() && (node.choice || several);
    let members = node.members.iter().filter(|it| !open && it.1 != LabelKind::Index);
    let fields: Vec<&str> = members.map(|it| it.0.as_str()).collect();
    out.insert("fields".into(), json!(fields));
    out.insert("closed".into(), node.closed.into());
    if !node.child_error {
        let messages: Vec<&str> = node.errors.iter().map(|it| it.message.as_str()).collect();
        out.insert("messages".into(), json!(messages));
        let positions: Vec<Vec<String>> = node.errors.iter().map(places).collect();
        out.insert("positions".into(), json!(positions));
    }
    Value::Object(out)
}

/// Positions as `file:line:column`.
pub(crate) fn places(error: &Diagnostic) -> Vec<String> {
    error.positions.iter().map(|(file, line, column)| format!("{file}:{line}:{column}")).collect()
}

fn class_code(node: &Node) -> (&'static str, Option<&'static str>) {
    match node.class {
        Class::Concrete => ("concrete", None),
        Class::Open => ("nonconcrete", None),
        Class::Error(kind) => match kind {
            Kind::Incomplete => ("incomplete", Some("incomplete")),
            Kind::Cycle => ("cycle", Some("cycle")),
            Kind::StructuralCycle => ("structural_cycle", Some("structural_cycle")),
            Kind::User if node.literal => ("user_error", Some("legacy_user")),
            Kind::User => ("user_error", Some("user")),
            Kind::Permanent | Kind::Budget => ("eval_error", Some("eval")),
        },
    }
}

/// Names of kinds.
pub(crate) fn kind_names(kinds: Kinds) -> Value {
    let names: Vec<&str> = [
        (Kinds::NULL, "null"),
        (Kinds::BOOL, "bool"),
        (Kinds::INT, "int"),
        (Kinds::FLOAT, "float"),
        (Kinds::STRING, "string"),
        (Kinds::BYTES, "bytes"),
        (Kinds::STRUCT, "struct"),
        (Kinds::LIST, "list"),
    ]
    .into_iter()
    .filter(|(kind, _)| kinds.meets(*kind))
    .map(|it| it.1)
    .collect();
    json!(names)
}

/// A scalar as the records have it.
pub(crate) fn scalar_text(value: &Datum) -> String {
    match value {
        Datum::String(text) => text.to_string(),
        Datum::Bytes(bytes) => base64(bytes),
        other => other.cue_text(),
    }
}

/// Bytes as the records have them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let wide = (0..3).fold(0u32, |wide, at| {
            wide << 8 | u32::from(group.get(at).copied().unwrap_or_default())
        });
        for at in 0..4 {
            if at <= group.len() {
                let digit = (wide >> (18 - 6 * at)) & 63;
                out.push(char::from(DIGITS[digit as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// What the commands print.
pub(crate) fn texts(program: &Arc<Program>) -> Map<String, Value> {
    let mut out = Map::new();
    for form in ["export", "export_yaml", "eval_text", "def_text"] {
        let text = catch_unwind(AssertUnwindSafe(|| {
            let mut evaluation = Evaluation::start(program.clone(), &[], BUDGET);
            printed(&mut evaluation, form)
        }));
        let value = match text {
            Ok(Ok(text)) => json!({"ok": true, "text": text}),
            Ok(Err(error)) => json!({"ok": false, "error": error}),
            Err(_) => Value::Null,
        };
        out.insert(form.into(), value);
    }
    out
}

fn printed(evaluation: &mut Evaluation, form: &str) -> Result<String, String> {
    let all = |errors: Vec<Diagnostic>| {
        let lines: Vec<String> =
            errors.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
        lines.join("\n")
    };
    let root = evaluation.find("").map_err(|it| it.message)?.ok_or("no root")?;
    let values = match form.starts_with("export") {
        true => Concreteness::Required,
        false => Concreteness::Optional,
    };
    let wrong = evaluation.validate(root, values);
    if !wrong.is_empty() {
        return Err(all(wrong));
    }
    match form {
        "export" => {
            let datum = evaluation.datum(root).map_err(all)?;
            Ok(cue_eval::evaluation::print_json_indented(&datum) + "\n")
        }
        "export_yaml" => {
            let datum = evaluation.datum(root).map_err(all)?;
            Ok(cue_eval::encode::yaml::encode(&datum))
        }
        "eval_text" => evaluation
            .unmet(root)
            .map_err(all)
            .map(|_| evaluation.syntax(root, cue_eval::Style::Eval)),
        _ => Ok(evaluation.definition()),
    }
}

fn judge(suite: &str, want: &Value, got: &Value, checks: &mut Checks) {
    let mut add = |name: &str, passed: bool, what: String| {
        checks.push((format!("{suite}.{name}"), passed, what));
    };
    let show = |it: &Value| if it.is_null() { "nothing".to_owned() } else { it.to_string() };
    if !want["load_errors"].is_null() {
        let failed = got["load_errors"].as_array().is_some_and(|it| !it.is_empty());
        add("main", failed, format!("loads, but: {}", show(&want["load_errors"])));
        for (name, key) in [("message", "load_errors"), ("position", "load_positions")] {
            let what = format!("want {} got {}", show(&want[key]), show(&got[key]));
            add(name, want[key] == got[key], what);
        }
    }
    for a in want["paths"].as_array().into_iter().flatten() {
        let path = a["path"].as_str().unwrap_or_default();
        // The main package is `_`, or its name behind a colon.
        let package = a["hidden_pkg"].as_str().filter(|it| *it != "_" && !it.starts_with(':'));
        let b = &got["nodes"][node_key(path, package.unwrap_or_default()).as_str()];
        let what =
            |key: &str| format!("{path}: {key}: want {} got {}", show(&a[key]), show(&b[key]));
        add("main", !b.is_null() && main_equal(a, b), format!("{path}: want {a} got {b}"));
        if !a["code"].is_null() {
            add("code", a["code"] == b["code"], what("code"));
        }
        if !a["messages"].is_null() {
            add("message", a["messages"] == b["messages"], what("messages"));
            add("position", a["positions"] == b["positions"], what("positions"));
        }
        if a["fields"].as_array().is_some_and(|it| it.len() > 1) {
            add("order", a["fields"] == b["fields"], what("fields"));
        }
        if !a["syntax"].is_null() {
            let same = words(&a["syntax"]) == words(&b["syntax"]);
            add("syntax", same, what("syntax"));
        }
        if names(&a["kind"]).contains("struct") {
            let same = !b.is_null() && truth(&a["closed"]) == truth(&b["closed"]);
            add("closed", same, what("closed"));
        }
    }
    for form in ["export", "eval_text", "def_text", "export_yaml"] {
        let (a, b) = (&want[form], &got[form]);
        let Some(ok) = a["ok"].as_bool() else { continue };
        let same = b["ok"].as_bool() == Some(ok);
        let what = || format!("{form}: want {} got {}", show(a), show(b));
        if !ok {
            add("fails", same, what());
            continue;
        }
        if form == "export" {
            add("export_value", same && equal_json(&a["text"], &b["text"]), what());
        }
        add(&format!("{form}_exact"), same && a["text"] == b["text"], what());
    }
}

fn truth(it: &Value) -> bool {
    it.as_bool().unwrap_or(false)
}

fn words(it: &Value) -> String {
    let words: Vec<&str> = it.as_str().unwrap_or_default().split_whitespace().collect();
    words.join(" ")
}

fn names(it: &Value) -> HashSet<&str> {
    it.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn main_equal(a: &Value, b: &Value) -> bool {
    a["class"] == b["class"]
        && a["label_kind"] == b["label_kind"]
        && names(&a["kind"]) == names(&b["kind"])
        && value_equal(a, b)
        && default_equal(&a["default"], &b["default"])
        && a["len"] == b["len"]
        && truth(&a["open_list"]) == truth(&b["open_list"])
        && names(&a["fields"]) == names(&b["fields"])
}

fn default_equal(a: &Value, b: &Value) -> bool {
    if a.is_null() || b.is_null() {
        return a.is_null() && b.is_null();
    }
    a["class"] == b["class"] && names(&a["kind"]) == names(&b["kind"]) && value_equal(a, b)
}

fn value_equal(a: &Value, b: &Value) -> bool {
    if a["value"] == b["value"] {
        return true;
    }
    let kinds = names(&a["kind"]);
    if kinds.len() != 1 || !(kinds.contains("int") || kinds.contains("float")) {
        return false;
    }
    match (a["value"].as_str(), b["value"].as_str()) {
        (Some(a), Some(b)) => same_number(a, b),
        _ => false,
    }
}

fn same_number(a: &str, b: &str) -> bool {
    let number =
        |it: &str| cue_eval::number::Number::parse_decimal(it, cue_eval::number::NumberKind::Float);
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.compare(&b).is_eq(),
        _ => a == b,
    }
}

/// Whether two JSON texts are equal by value, digits of numbers counting as decimals.
fn equal_json(a: &Value, b: &Value) -> bool {
    let parsed = |it: &Value| cue_eval::evaluation::parse_json(it.as_str()?).ok();
    match (parsed(a), parsed(b)) {
        (Some(a), Some(b)) => same_data(&a, &b),
        _ => false,
    }
}

fn same_data(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Number(a), Datum::Number(b)) => a.compare(b).is_eq(),
        (Datum::List(a), Datum::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_data(a, b))
        }
        (Datum::Struct(a), Datum::Struct(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| {
                    b.iter().any(|(other, it)| other == name && same_data(value, it))
                })
        }
        (Datum::Null, Datum::Null) => true,
        (Datum::Bool(a), Datum::Bool(b)) => a == b,
        (Datum::String(a), Datum::String(b)) => a == b,
        _ => false,
    }
}
