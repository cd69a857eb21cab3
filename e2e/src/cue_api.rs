//! Recorded sequences of calls of a value's API: fills make versions, everything else asks one.

use std::io::Write;
use std::path::Path;

use cue_eval::builtin::Datum;
use cue_eval::heap::VertexId;
use cue_eval::inspect::{Class, Node};
use cue_eval::value::path::{parse_selectors, path_text};
use cue_eval::value::{Accessor, Filling, PathError, Selector, Version, parse_path};
use cue_eval::{
    Concreteness, Diagnostic, Evaluation, Kind, LabelKind, LoadError, Names, Presence, Show, Style,
    evaluation,
};
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value, json};

use crate::cue_eval::{BUDGET, kind_names, places, played, records, scalar_text};
use crate::score::Scores;

/// Scores `cue/api`.
///
/// # Errors
/// A folder or file cannot be read.
pub fn run(cases: &Path) -> anyhow::Result<Scores> {
    Ok(played(&records(&cases.join("cue/api"))?, |case| {
        let steps: Vec<&Value> = case["steps"].as_array().into_iter().flatten().collect();
        let results = answers(case["source"].as_str().unwrap_or_default(), &steps);
        let mut checks = Vec::new();
        for (step, got) in steps.iter().zip(results) {
            judge(step, got, &mut checks);
        }
        checks
    }))
}

/// The result equal but for the details of the error; and the error's text and places.
fn judge(step: &Value, mut got: Value, checks: &mut Vec<(String, bool, String)>) {
    let mut want = step["result"].clone();
    let what = |want: &Value, got: &Value| {
        let mut call = step.clone();
        if let Some(call) = call.as_object_mut() {
            call.remove("result");
        }
        format!("{call}: want {want} got {got}")
    };
    let take = |it: &mut Value| it.as_object_mut().and_then(|it| it.remove("error"));
    let (want_error, got_error) = (take(&mut want), take(&mut got));
    for it in [&mut want, &mut got] {
        if it["incomplete_kind"].is_null() {
            it.as_object_mut().and_then(|it| it.remove("incomplete_kind"));
        }
    }
    let same = want == got && want_error.is_some() == got_error.is_some();
    let shown = json!([want, want_error]);
    checks.push(("cue.api.main".into(), same, what(&shown, &json!([got, got_error]))));
    let Some(want) = want_error else { return };
    let got = got_error.unwrap_or_default();
    let mut compare = |name: &str, key: &str| {
        let passed = want[key] == got[key];
        checks.push((format!("cue.api.{name}"), passed, what(&want[key], &got[key])));
    };
    if !want["code"].is_null() {
        compare("code", "code");
    }
    compare("message", "messages");
    compare("position", "positions");
}

/// A version, or why there is none.
type Held = Result<Version, Vec<LoadError>>;

fn answers(source: &str, steps: &[&Value]) -> Vec<Value> {
    let mut versions: Vec<Held> = vec![Version::compile("in.cue", source, BUDGET)];
    let mut results = Vec::new();
    for step in steps {
        let at = step["at"].as_u64().and_then(|it| usize::try_from(it).ok());
        let newest = versions.len() - 1;
        let version = versions.get(at.unwrap_or(newest)).unwrap_or(&versions[newest]).clone();
        let made = step["op"] == "fill" || step["op"] == "unify";
        let result = match &version {
            Err(errors) if step["op"] != "parsepath" => unbuilt(step, errors),
            Err(_) => parsed(step),
            Ok(version) if made => match filled(version, step) {
                Ok(next) => {
                    let mut it = next.evaluate();
                    let result = root_error(&mut it).unwrap_or_else(|| json!({"ok": true}));
                    versions.push(Ok(next));
                    result
                }
                Err(errors) => {
                    versions.push(Ok(version.clone()));
                    json!({"error": loading(&errors)})
                }
            },
            Ok(version) => asked(version, step),
        };
        results.push(result);
    }
    results
}

fn root_error(it: &mut Evaluation) -> Option<Value> {
    let root = it.lookup(&[]).ok()?;
    if it.validate(root, Concreteness::Optional).is_empty() {
        return None;
    }
    Some(json!({"error": errors(&error_of(it, root))}))
}

/// The error of a value: its own, or that of the first field that has one for good.
fn error_of(it: &mut Evaluation, id: VertexId) -> Vec<Diagnostic> {
    let mut next = id;
    loop {
        let node = it.inspect(next);
        if !node.errors.is_empty() {
            return node.errors;
        }
        let fails = |it: &Class| matches!(it, Class::Error(kind) if !kind.is_incomplete());
        let mut members = node.members.iter().filter(|it| it.2 == Presence::Member);
        match members.find(|member| fails(&it.inspect(member.3).class)) {
            Some(member) => next = member.3,
            None => return it.validate(id, Concreteness::Optional),
        }
    }
}

/// JSON as the recorder handed it over, which the recorded places are of: blanks behind colons and commas.
fn spaced(value: &Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W>(&mut self, to: &mut W, first: bool) -> std::io::Result<()>
        where
            W: ?Sized + Write,
        {
            to.write_all(if first { b"" } else { b", " })
        }

        fn begin_object_key<W>(&mut self, to: &mut W, first: bool) -> std::io::Result<()>
        where
            W: ?Sized + Write,
        {
            self.begin_array_value(to, first)
        }

        fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> std::io::Result<()> {
            to.write_all(b": ")
        }
    }
    let mut text = Vec::new();
    let mut writer = Serializer::with_formatter(&mut text, Spaced);
    serde::Serialize::serialize(value, &mut writer).expect("values of JSON are written to memory");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn filled(version: &Version, step: &Value) -> Result<Version, Vec<LoadError>> {
    let path = path(step).unwrap_or_default();
    let json = step.get("json").map(spaced);
    let text = |key: &str| step[key].as_str();
    let filling = match (&json, text("cue"), text("expr")) {
        (Some(text), _, _) => Filling::Alone { name: "fill.json", text },
        (None, Some(text), _) => Filling::Alone { name: "fill.cue", text },
        (None, None, text) => Filling::Within { name: "expr.cue", text: text.unwrap_or("_") },
    };
    version.fill(&path, filling)
}

fn path(step: &Value) -> Result<Vec<Selector>, PathError> {
    parse_selectors(step["path"].as_str().unwrap_or_default())
}

// Errors.

fn errors(all: &[Diagnostic]) -> Value {
    let mut out = json!({
        "messages": all.iter().map(|it| it.message.as_str()).collect::<Vec<_>>(),
        "positions": all.iter().map(places).collect::<Vec<_>>(),
    });
    if let Some(first) = all.first() {
        let (class, code) = class_code(first);
        out["code"] = code.into();
        out["class"] = class.into();
        out["error_paths"] = all.iter().map(|it| it.path.as_str()).collect::<Vec<_>>().into();
    }
    out
}

fn class_code(it: &Diagnostic) -> (&'static str, &'static str) {
    match it.kind {
        Kind::Incomplete => ("incomplete", "incomplete"),
        Kind::Cycle => ("cycle", "cycle"),
        Kind::StructuralCycle => ("structural_cycle", "structural_cycle"),
        Kind::User if it.message.contains("_|_ literal") => ("user_error", "legacy_user"),
        Kind::User => ("user_error", "user"),
        Kind::Permanent | Kind::Budget => ("eval_error", "eval"),
    }
}

fn loading(all: &[LoadError]) -> Value {
    let place = |it: &LoadError| {
        let (file, line, column) = &it.position;
        if *line == 0 { json!([]) } else { json!([format!("{file}:{line}:{column}")]) }
    };
    json!({
        "messages": all.iter().map(|it| it.message.as_str()).collect::<Vec<_>>(),
        "positions": all.iter().map(place).collect::<Vec<_>>(),
    })
}

/// What a value that could not be built answers.
fn unbuilt(step: &Value, errors: &[LoadError]) -> Value {
    match step["op"].as_str() {
        Some("lookup") => {
            let path = path(step).unwrap_or_default();
            let last = path.last().map(Selector::text).unwrap_or_default();
            let message = format!("field not found: {last}");
            let error = json!({"messages": [message], "positions": [[]], "code": "eval"});
            json!({"exists": false, "kind": "_|_", "error": error})
        }
        Some("validate") => json!({"ok": false, "error": loading(errors)}),
        _ => json!({"error": loading(errors)}),
    }
}

fn parsed(step: &Value) -> Value {
    match parse_path(step["path"].as_str().unwrap_or_default()) {
        Ok(path) => {
            let selectors: Vec<String> = path
                .iter()
                .map(|it| {
                    let kind = match it {
                        Selector::Index(_) => "IndexLabel",
                        Selector::Field { kind: LabelKind::Definition, .. } => "DefinitionLabel",
                        Selector::Field { .. } | Selector::AnyField => "StringLabel",
                    };
                    format!("{kind} {}", it.text())
                })
                .collect();
            json!({"path": path_text(&path), "selectors": selectors})
        }
        Err(error) => {
            let place: Vec<String> =
                error.position.iter().map(|(line, column)| format!(":{line}:{column}")).collect();
            json!({"error": {"messages": [error.message], "positions": [place]}})
        }
    }
}

// Questions.

fn asked(version: &Version, step: &Value) -> Value {
    let mut it = version.evaluate();
    let op = step["op"].as_str().unwrap_or_default();
    if op == "parsepath" {
        return parsed(step);
    }
    let path = match path(step) {
        Ok(path) => path,
        Err(error) => return json!({"error": {"messages": [error.message], "positions": [[]]}}),
    };
    let id = match it.lookup(&path) {
        Ok(id) => id,
        Err(error) => return missing(op, error),
    };
    let options: Vec<&str> =
        step["opts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match op {
        "lookup" => described(&mut it, id, &path_text(&path)),
        "fields" => fields(&mut it, id, &options),
        "list" => {
            let members = it.members(id).unwrap_or_default();
            let elements: Vec<Value> = members
                .iter()
                .map(|(member, id)| {
                    let path = format!("{}[{}]", path_text(&path), member.label);
                    described(&mut it, *id, &path)
                })
                .collect();
            json!({"elements": elements})
        }
        "validate" => {
            let values = match options.as_slice() {
                all if all.contains(&"concrete") => Concreteness::Required,
                all if all.contains(&"final") => Concreteness::Final,
                all if all.contains(&"disallow_cycles") => Concreteness::Acyclic,
                _ => Concreteness::Optional,
            };
            let wrong = it.validate(id, values);
            if wrong.is_empty() {
                json!({"ok": true})
            } else {
                json!({"ok": false, "error": errors(&wrong)})
            }
        }
        "json" => match json_text(&mut it, id) {
            Ok(text) => json!({"json": text}),
            Err(error) => json!({"error": errors(&[error])}),
        },
        "syntax" => syntax(&mut it, id, &options),
        "doc" => match it.docs(id) {
            docs if docs.is_empty() => json!({}),
            docs => json!({"docs": docs}),
        },
        "attrs" => {
            let all: Vec<String> =
                it.attributes(id).iter().map(|(name, body)| format!("{name}({body})")).collect();
            if all.is_empty() { json!({}) } else { json!({"attributes": all}) }
        }
        "expr" => {
            let made = it.expression(id);
            let operator = if made.operator.is_empty() { "NoOp" } else { made.operator };
            let operands: Vec<String> = made
                .operands
                .iter()
                .map(|id| it.syntax(*id, Style::Definition).trim().to_owned())
                .collect();
            json!({"op": operator, "args": operands})
        }
        "default" => {
            let default = it.default(id).filter(|default| *default != id);
            let described = described(&mut it, default.unwrap_or(id), &path_text(&path));
            json!({"has_default": default.is_some(), "value": described})
        }
        "equals" => compared(&mut it, id, version, step, |it, id, other| {
            let equal = it.equals(id, other);
            json!({"equals": equal})
        }),
        "subsume" => compared(&mut it, id, version, step, |it, id, other| {
            let why = it.subsumes(id, other);
            if why.is_empty() {
                return json!({"ok": true});
            }
            let places: Vec<Value> = why.iter().map(|_| json!([])).collect();
            json!({"ok": false, "error": {"messages": why, "positions": places}})
        }),
        "allows" => {
            let label = step["label"].as_str().unwrap_or_default();
            let selector = parse_selectors(label).ok().and_then(|mut it| it.pop());
            json!({"allows": it.allows(id, &selector.unwrap_or(Selector::AnyField))})
        }
        "closed" => {
            let node = it.inspect(id);
            let closed = node.closed || node.length.is_some() && !node.open_list;
            json!({"closed": closed})
        }
        "len" => json!({"len": match it.length(id) {
            Ok(length) => json!({
                "exists": true, "kind": "int", "incomplete_kind": ["int"],
                "json": length.to_string(), "value": length.to_string(), "path": path_text(&path),
            }),
            Err(error) => {
                let error = errors(&[error]);
                json!({"exists": true, "kind": "_|_", "incomplete_kind": null, "error": error})
            }
        }}),
        "string" | "int" | "float" | "bool" => {
            let accessor = match op {
                "string" => Accessor::String,
                "int" => Accessor::Int,
                "float" => Accessor::Float,
                _ => Accessor::Bool,
            };
            match it.scalar(id, accessor) {
                Ok(datum) => json!({"value": scalar_text(&datum)}),
                Err(error) => json!({"error": errors(&[error])}),
            }
        }
        _ => Value::Null,
    }
}

/// What an operation answers where there is nothing.
fn missing(op: &str, error: Diagnostic) -> Value {
    let error = errors(&[error]);
    match op {
        "lookup" => json!({"exists": false, "kind": "_|_", "error": error}),
        "validate" => json!({"ok": false, "error": error}),
        "syntax" => {
            let text = format!("_|_ // {}", error["messages"][0].as_str().unwrap_or_default());
            json!({"node": "expr", "text": text})
        }
        _ => json!({"error": error}),
    }
}

/// The other value stands at a hidden place beside the program, so that both are in one evaluation.
fn compared(
    it: &mut Evaluation,
    id: VertexId,
    version: &Version,
    step: &Value,
    compare: impl Fn(&mut Evaluation, VertexId, VertexId) -> Value,
) -> Value {
    let beside = [Selector::identifier("_other")];
    let text = step["cue"].as_str().unwrap_or("_");
    match version.fill(&beside, Filling::Alone { name: "", text }) {
        Ok(both) => {
            *it = both.evaluate();
            let path = path(step).unwrap_or_default();
            match (it.lookup(&path), it.lookup(&beside)) {
                (Ok(id), Ok(other)) => compare(it, id, other),
                _ => Value::Null,
            }
        }
        Err(errors) => {
            let _ = id;
            json!({"error": loading(&errors)})
        }
    }
}

fn json_text(it: &mut Evaluation, id: VertexId) -> Result<String, Diagnostic> {
    let wrong = it.validate(id, Concreteness::Optional);
    if let Some(first) = wrong.into_iter().next() {
        return Err(first);
    }
    match it.datum(id) {
        Ok(datum) => Ok(evaluation::print_json(&datum)),
        Err(mut all) if !all.is_empty() => {
            let mut first = all.swap_remove(0);
            if let Some(text) = first.message.strip_prefix("incomplete value ") {
                first.message = format!("cannot convert incomplete value \"{text}\" to JSON");
            }
            Err(first)
        }
        Err(_) => Ok(String::new()),
    }
}

fn described(it: &mut Evaluation, id: VertexId, path: &str) -> Value {
    let node = it.inspect(id);
    let mut out = Map::new();
    out.insert("exists".into(), true.into());
    if let Class::Error(_) = node.class {
        out.insert("kind".into(), "_|_".into());
        let found = if node.errors.is_empty() { error_of(it, id) } else { node.errors };
        out.insert("error".into(), errors(&found));
        return Value::Object(out);
    }
    out.insert("path".into(), path.into());
    out.insert("incomplete_kind".into(), kind_names(node.kinds));
    out.insert("kind".into(), concrete_kind(&node).into());
    if let Some(value) = &node.value {
        out.insert("value".into(), scalar_text(value).into());
    }
    if let Some(syntax) = &node.syntax {
        out.insert("syntax".into(), syntax.as_str().into());
    }
    if let Some(default) = node.default.as_ref().and_then(|it| it.value.as_ref()) {
        out.insert("default".into(), Datum::cue_text(default).into());
    }
    if let Ok(datum) = it.datum(id) {
        out.insert("json".into(), evaluation::print_json(&datum).into());
    }
    Value::Object(out)
}

fn concrete_kind(node: &Node) -> String {
    let names = kind_names(node.kinds);
    let known = node.value.is_some() || node.syntax.is_none();
    match names.as_array().map(Vec::as_slice) {
        Some([only]) if known => only.as_str().unwrap_or_default().to_owned(),
        _ => "_|_".into(),
    }
}

fn fields(it: &mut Evaluation, id: VertexId, options: &[&str]) -> Value {
    let node = it.inspect(id);
    let shows = |name: &str| options.contains(&name) || options.contains(&"all");
    let mut out = Vec::new();
    for (text, kind, presence, id) in &node.members {
        let shown = match kind {
            LabelKind::Regular => true,
            LabelKind::Definition => shows("definitions"),
            LabelKind::Hidden | LabelKind::HiddenDefinition => shows("hidden"),
            LabelKind::Index => false,
        };
        if !shown || *presence == Presence::Optional && !shows("optional") {
            continue;
        }
        let kinds = it.inspect(*id).kinds;
        let optional = *presence == Presence::Optional;
        out.push(json!({"label": text, "optional": optional, "kind": kind_names(kinds)}));
    }
    json!({"fields": out})
}

fn syntax(it: &mut Evaluation, id: VertexId, options: &[&str]) -> Value {
    let evaluated = options.contains(&"final") || options.contains(&"concrete");
    let mut parts = Show::ATTRIBUTES;
    // Later options win (O-60).
    for option in options {
        match *option {
            "docs" | "!docs" => parts |= Show::DOCS,
            "final" | "concrete" => {
                parts &= !(Show::OPTIONAL | Show::DEFINITIONS | Show::HIDDEN);
            }
            "all" => parts |= Show::OPTIONAL | Show::DEFINITIONS | Show::HIDDEN,
            "optional" => parts |= Show::OPTIONAL,
            "!optional" => parts &= !Show::OPTIONAL,
            "definitions" => parts |= Show::DEFINITIONS,
            "!definitions" => parts &= !Show::DEFINITIONS,
            "hidden" => parts |= Show::HIDDEN | Show::DEFINITIONS,
            "!hidden" => parts &= !(Show::HIDDEN | Show::DEFINITIONS),
            "!attributes" => parts &= !Show::ATTRIBUTES,
            "errors" => parts |= Show::ERRORS,
            _ => {}
        }
    }
    let text = if evaluated {
        it.text(id, Show::new(Style::Final, parts))
    } else {
        let names = if options.contains(&"raw") { Names::Kept } else { Names::Replaced };
        // The library prints every brace; it is the commands that simplify.
        it.declared(id, Show::new(Style::Definition, parts | Show::SPREAD), names)
    };
    let braces = text.ends_with('}') && !text.contains("\n} & {");
    let first = text.lines().find(|it| !it.starts_with("//")).unwrap_or_default();
    let node = match first {
        _ if first.starts_with("import ") => "file",
        _ if first.starts_with('{') && braces => "struct",
        _ => "expr",
    };
    json!({"node": node, "text": text})
}
