//! Specs as the API server prints its structs, and how two of them differ: what may not change is shown so.
//! `structs.json` has the fields in their order, with what they are when nothing is said.

use std::sync::OnceLock;

use local_merge::go;
use serde_json::{Map, Value};

/// Above this two prints are not compared line by line.
const MOST_CELLS: usize = 4_000_000;
/// Lines around a change.
const AROUND: usize = 3;

fn shape(kind: &str) -> &'static Value {
    static SHAPES: OnceLock<Value> = OnceLock::new();
    let all = SHAPES
        .get_or_init(|| serde_json::from_str(include_str!("structs.json")).unwrap_or_default());
    &all[kind]
}

/// How the spec of a claim differs.
pub(super) fn claims(old: &Value, new: &Value) -> String {
    let print = |spec: &Value| lines(&printed(shape("claim"), spec));
    difference(&print(old), &print(new))
}

/// How the spec of a pod differs.
pub(super) fn pods(old: &Value, new: &Value) -> String {
    let print = |spec: &Value| lines(&pod(spec));
    difference(&print(old), &print(new))
}

/// A template of pods.
pub(super) fn template(template: &Value) -> Value {
    let mut shown = template["metadata"].as_object().cloned().unwrap_or_default();
    shown.insert("Spec".to_owned(), pod(&template["spec"]));
    Value::Object(shown)
}

fn pod(spec: &Value) -> Value {
    let mut spec = spec.clone();
    // What the struct has elsewhere.
    for name in ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"] {
        let value = spec[name].clone();
        if !value.is_null() {
            spec["securityContext"][name] = value;
        }
    }
    printed(shape("pod"), &spec)
}

// A value with all its fields, named as in the struct.
fn printed(shape: &Value, value: &Value) -> Value {
    match (shape, value) {
        (Value::Object(_) | Value::Array(_), Value::Null) => Value::Null,
        (_, Value::Null) => shape.clone(),
        (Value::Object(fields), Value::Object(given)) => {
            let of = |name: &str| {
                let found = given.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map_or(&Value::Null, |(_, value)| value)
            };
            let all = fields.iter().map(|(name, shape)| (name.clone(), printed(shape, of(name))));
            Value::Object(all.collect::<Map<_, _>>())
        }
        (Value::Array(items), Value::Array(given)) => {
            let item = items.first().unwrap_or(&Value::Null);
            given.iter().map(|value| printed(item, value)).collect()
        }
        _ => value.clone(),
    }
}

// As Go indents by one space.
fn lines(value: &Value) -> Vec<String> {
    use serde::Serialize;
    let mut out = Vec::new();
    let style = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut out, style);
    if value.serialize(&mut writer).is_err() {
        return Vec::new();
    }
    go::escaped(String::from_utf8_lossy(&out).into_owned()).lines().map(str::to_owned).collect()
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Gone,
    New,
}

// Every line of both, in the order of a unified diff.
fn fates(old: &[String], new: &[String]) -> Vec<Fate> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (a, b) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let a = a.get(..a.len() - end).unwrap_or_default();
    let b = b.get(..b.len() - end).unwrap_or_default();
    let mut all = vec![Fate::Kept; same];
    let width = b.len() + 1;
    if a.len().saturating_mul(width) > MOST_CELLS {
        all.extend(a.iter().map(|_| Fate::Gone));
        all.extend(b.iter().map(|_| Fate::New));
    } else {
        // The longest common part of what is left, from the end.
        let mut best = vec![0u32; (a.len() + 1) * width];
        let at = |best: &[u32], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                let longest = if a.get(i) == b.get(j) {
                    at(&best, i + 1, j + 1) + 1
                } else {
                    at(&best, i + 1, j).max(at(&best, i, j + 1))
                };
                if let Some(cell) = best.get_mut(i * width + j) {
                    *cell = longest;
                }
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            if i < a.len() && j < b.len() && a.get(i) == b.get(j) {
                all.push(Fate::Kept);
                (i, j) = (i + 1, j + 1);
            } else if i < a.len() && (j == b.len() || at(&best, i + 1, j) >= at(&best, i, j + 1)) {
                all.push(Fate::Gone);
                i += 1;
            } else {
                all.push(Fate::New);
                j += 1;
            }
        }
    }
    all.extend(std::iter::repeat_n(Fate::Kept, end));
    all
}

fn difference(old: &[String], new: &[String]) -> String {
    let fates = fates(old, new);
    let changed: Vec<usize> =
        fates.iter().enumerate().filter(|(_, it)| **it != Fate::Kept).map(|(at, _)| at).collect();
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for at in changed {
        let (start, end) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(fates.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => hunks.push((start, end)),
        }
    }
    let mut text = String::new();
    let (mut i, mut j, mut at) = (0, 0, 0);
    for (start, end) in hunks {
        i += start - at;
        j += start - at;
        let (from, to) = (i, j);
        let mut body = String::new();
        for fate in fates.get(start..end).unwrap_or_default() {
            let (mark, line) = match fate {
                Fate::Kept => (' ', old.get(i)),
                Fate::Gone => ('-', old.get(i)),
                Fate::New => ('+', new.get(j)),
            };
            i += usize::from(*fate != Fate::New);
            j += usize::from(*fate != Fate::Gone);
            body.push(mark);
            body.push_str(line.map_or("", String::as_str));
            body.push('\n');
        }
        at = end;
        text.push_str(&format!("@@ -{} +{} @@\n{body}", range(from, i), range(to, j)));
    }
    text
}

fn range(from: usize, to: usize) -> String {
    match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        many => format!("{},{many}", from + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_are_shown_as_structs() {
        let claim = |mode: &str| json!({"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}});
        assert_eq!(
            claims(&claim("ReadWriteOnce"), &claim("ReadWriteMany")),
            "@@ -1,6 +1,6 @@\n {\n  \"AccessModes\": [\n-  \"ReadWriteOnce\"\n+  \"ReadWriteMany\"\n  ],\n  \"Selector\": null,\n  \"Resources\": {\n"
        );
    }

    #[test]
    fn changes_far_apart_are_shown_apart() {
        let pod = |policy: &str, host: bool, command: Value| {
            json!({
                "containers": [{"name": "a", "image": "b", "command": command, "resources": {}}],
                "restartPolicy": policy, "hostNetwork": host, "securityContext": {},
            })
        };
        let same = pod("Always", false, Value::Null);
        assert_eq!(pods(&same, &same), "");
        let text = pods(&same, &pod("Never", true, json!(["x"])));
        assert_eq!(text.matches("@@ -").count(), 3, "{text}");
        for part in [
            "-   \"Command\": null,\n+   \"Command\": [\n+    \"x\"\n+   ],\n",
            "- \"RestartPolicy\": \"Always\",\n+ \"RestartPolicy\": \"Never\",\n",
            "-  \"HostNetwork\": false,\n+  \"HostNetwork\": true,\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
