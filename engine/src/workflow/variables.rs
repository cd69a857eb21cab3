//! The context ConfigMap of a run: variables, attempts, resume marks.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::literal;
use crate::api::Application;
use crate::api::workflow::StepStatus;

/// What is remembered of one step between rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mark {
    /// Id of the row, once something is named after it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Failures in a row.
    pub failures: u32,
    /// Waits in a row with the same message.
    pub waits: u32,
    /// When to try again.
    pub next: Option<DateTime<Utc>>,
    /// When a suspend of it began.
    pub suspended: Option<DateTime<Utc>>,
    /// When that ends by itself.
    pub until: Option<DateTime<Utc>>,
    /// Suspends that were resumed, by path.
    pub resumed: Vec<String>,
    /// The path that suspends.
    pub field: String,
    /// When something began that must last: by a name of the action's.
    pub timers: BTreeMap<String, DateTime<Utc>>,
}

/// What steps before rendering have come to, for the rounds and the runs after them (W-14).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Early {
    /// What they were run for.
    pub key: String,
    /// All of them have succeeded, or were left out.
    pub done: bool,
    /// Parts of the Application's spec, by step.
    pub parts: BTreeMap<String, Value>,
    /// Their rows, once all is done.
    pub rows: Vec<StepStatus>,
    /// Variables at that time.
    pub values: Map<String, Value>,
}

/// Variables and marks of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables {
    values: Map<String, Value>,
    /// By step name.
    pub marks: BTreeMap<String, Mark>,
    /// Where the logs of steps are found, by step name.
    logs: Map<String, Value>,
    /// When suspends began and end, by `<step id>.<field>.suspendTimeStamp` and the like, for
    /// those who read the ConfigMap (E-118).
    stamps: BTreeMap<String, String>,
    /// Of steps before rendering, if there are any.
    early: Option<Early>,
    changed: bool,
}

impl Variables {
    /// Name of the ConfigMap of an Application.
    pub fn config_map_name(app: &str) -> String {
        format!("workflow-{app}-context")
    }

    /// Reads the ConfigMap; an absent or foreign one is an empty start.
    pub fn read(config_map: Option<&Value>) -> Self {
        let text = |key: &str| {
            config_map.and_then(|it| it["data"][key].as_str()).unwrap_or_default().to_owned()
        };
        Self {
            values: literal::read(&text("vars")),
            marks: serde_json::from_str(&text("marks")).unwrap_or_default(),
            logs: serde_json::from_str(&text("logConfig")).unwrap_or_default(),
            stamps: config_map
                .and_then(|it| it["data"].as_object())
                .into_iter()
                .flatten()
                .filter(|it| it.0.ends_with("TimeStamp"))
                .filter_map(|(key, it)| Some((key.clone(), it.as_str()?.to_owned())))
                .collect(),
            early: serde_json::from_str(&text("preRender")).ok(),
            changed: config_map.is_none(),
        }
    }

    /// A fresh run.
    pub fn fresh() -> Self {
        Self { changed: true, ..Self::default() }
    }

    /// A fresh run of the steps before rendering.
    pub fn early(key: &str) -> Self {
        let early = Some(Early { key: key.to_owned(), ..Early::default() });
        Self { changed: true, early, ..Self::default() }
    }

    /// A fresh run after steps before rendering: it has what they gave.
    pub fn after(early: Early) -> Self {
        Self { changed: true, values: early.values.clone(), early: Some(early), ..Self::default() }
    }

    /// What steps before rendering have come to.
    pub fn before_rendering(&self) -> Option<&Early> {
        self.early.as_ref()
    }

    /// A step before rendering gives a part of the Application's spec.
    pub fn give_part(&mut self, step: &str, part: Value) {
        let early = self.early.get_or_insert_default();
        if early.parts.get(step) != Some(&part) {
            early.parts.insert(step.to_owned(), part);
            self.changed = true;
        }
    }

    /// The steps before rendering are done, with these rows.
    pub fn end_early(&mut self, rows: &[StepStatus]) {
        let early = self.early.get_or_insert_default();
        if !early.done {
            early.done = true;
            early.rows = rows.to_vec();
            early.values = self.values.clone();
            self.changed = true;
        }
    }

    /// Steps before rendering run again, though they were done: all but those of `rows`.
    pub fn reopen_early(&mut self, rows: &[StepStatus]) {
        let Some(early) = self.early.as_mut() else { return };
        early.done = false;
        let kept = rows.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps));
        let kept: Vec<&str> = kept.map(|it| it.name.as_str()).collect();
        early.parts.retain(|name, _| kept.contains(&name.as_str()));
        self.changed = true;
    }

    /// Whether it must be written.
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Whether a fresh run has as much.
    pub fn is_empty(&self) -> bool {
        *self == Self { changed: self.changed, ..Self::default() }
    }

    /// The ConfigMap of an Application's run.
    pub fn config_map(&mut self, app: &Application, start: &str) -> Value {
        let owner = json!({
            "apiVersion": "core.oam.dev/v1beta1",
            "kind": "Application",
            "name": app.metadata.name,
            "uid": app.metadata.uid,
            "controller": true,
        });
        self.config_map_of(&app.metadata.name, app.namespace(), owner, start)
    }

    /// The ConfigMap of a run of `name`, owned by `owner`.
    pub fn config_map_of(
        &mut self,
        name: &str,
        namespace: &str,
        owner: Value,
        start: &str,
    ) -> Value {
        self.changed = false;
        let mut data = self.told();
        let marks = serde_json::to_string(&self.marks).unwrap_or_default();
        data.insert("marks".into(), marks.into());
        if let Some(early) = &self.early {
            let early = serde_json::to_string(early).unwrap_or_default();
            data.insert("preRender".into(), early.into());
        }
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": Self::config_map_name(name),
                "namespace": namespace,
                "annotations": {"vela.io/startTime": start},
                "ownerReferences": [owner],
            },
            "data": data,
        })
    }

    /// What others may read of the run, as it lies in the ConfigMap and later in the revision.
    pub fn told(&self) -> Map<String, Value> {
        let stamps = self.stamps.iter().map(|(key, at)| (key.clone(), at.as_str().into()));
        let mut data: Map<String, Value> = stamps.collect();
        data.insert("vars".into(), literal::write(&self.values).into());
        if !self.logs.is_empty() {
            let logs = serde_json::to_string(&self.logs).unwrap_or_default();
            data.insert("logConfig".into(), logs.into());
        }
        data
    }

    /// A suspend in a step began, and ends by itself at `until`.
    pub fn stamp_suspend(
        &mut self,
        id: &str,
        field: &str,
        now: DateTime<Utc>,
        until: Option<DateTime<Utc>>,
    ) {
        let text = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
        let field = field.rsplit('.').next().unwrap_or_default();
        self.stamps.insert(format!("{id}.{field}.suspendTimeStamp"), text(now));
        if let Some(until) = until {
            self.stamps.insert(format!("{id}.resumeTimeStamp"), text(until));
        }
        self.changed = true;
    }

    /// A variable; dots lead into it.
    pub fn get(&self, path: &str) -> Option<Value> {
        if let Some(value) = self.values.get(path) {
            return Some(value.clone());
        }
        let (first, rest) = path.split_once('.')?;
        let mut value = self.values.get(first)?;
        for part in rest.split('.') {
            value = match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                other => other.get(part)?,
            };
        }
        Some(value.clone())
    }

    /// Sets a variable.
    pub fn set(&mut self, path: &str, value: Value) {
        if self.values.get(path) != Some(&value) {
            self.values.insert(path.to_owned(), value);
            self.changed = true;
        }
    }

    /// Sets a variable, or, where dots lead into one, a part of it.
    pub fn set_below(&mut self, path: &str, value: Value) {
        let Some((name, rest)) = path.split_once('.') else { return self.set(path, value) };
        let mut whole = self.values.get(name).cloned().unwrap_or_else(|| json!({}));
        set_at(&mut whole, rest, value);
        self.set(name, whole);
    }

    /// A variable is gone.
    pub fn unset(&mut self, name: &str) {
        self.changed |= self.values.remove(name).is_some();
    }

    /// All of them.
    pub fn all(&self) -> &Map<String, Value> {
        &self.values
    }

    /// What is remembered of a step.
    pub fn mark(&mut self, step: &str) -> &mut Mark {
        self.changed = true;
        self.marks.entry(step.to_owned()).or_default()
    }

    /// Whether a step was carried out and did not come to its end.
    pub fn has_tried(&self, step: &str) -> bool {
        self.marks.get(step).is_some_and(|it| it.failures > 0 || it.waits > 0)
    }

    /// When something of a step began.
    pub fn timer(&self, step: &str, name: &str) -> Option<DateTime<Utc>> {
        self.marks.get(step)?.timers.get(name).copied()
    }

    /// Something of a step begins, or is over.
    pub fn set_timer(&mut self, step: &str, name: &str, at: Option<DateTime<Utc>>) {
        if self.timer(step, name) == at {
            return;
        }
        let timers = &mut self.mark(step).timers;
        match at {
            Some(at) => timers.insert(name.to_owned(), at),
            None => timers.remove(name),
        };
    }

    /// Where a step's logs are found.
    pub fn set_log(&mut self, step: &str, config: Value) {
        if self.logs.get(step) != Some(&config) {
            self.logs.insert(step.to_owned(), config);
            self.changed = true;
        }
    }

    /// Nothing is to be remembered of a step that is done, but which of its suspends were resumed:
    /// that it is done may not be written yet, and a resume must not be lost. That alone is not
    /// worth a write: nobody looks at the mark of such a step.
    pub fn forget(&mut self, step: &str) {
        let Some(mark) = self.marks.remove(step) else { return };
        if !mark.resumed.is_empty() {
            let kept = Mark { id: mark.id, resumed: mark.resumed, ..Mark::default() };
            self.marks.insert(step.to_owned(), kept);
        }
    }
}

/// Sets `value` at a parameter path: `env[0].value`, `data.web`.
pub fn set_at(properties: &mut Value, path: &str, value: Value) {
    let mut at = properties;
    for part in path.replace('[', ".").replace(']', "").split('.').filter(|it| !it.is_empty()) {
        match part.parse::<usize>() {
            Ok(index) if !at.is_object() => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let Some(items) = at.as_array_mut() else { return };
                if index > 10_000 {
                    return;
                }
                while items.len() <= index {
                    items.push(Value::Null);
                }
                at = &mut items[index];
            }
            _ => {
                if !at.is_object() {
                    *at = json!({});
                }
                let Some(map) = at.as_object_mut() else { return };
                at = map.entry(part.trim_matches('"')).or_insert(Value::Null);
            }
        }
    }
    *at = value;
}

/// Puts an input of a component, or of the step that applies it, into the component (E-100): keys
/// are paths in its properties unless they say `properties` or `traits[` themselves.
pub fn put_input(component: &mut Value, key: &str, value: Value) {
    if key.is_empty() {
        return;
    }
    if key.starts_with("properties") || key.starts_with("traits[") {
        set_at(component, key, value);
    } else {
        set_at(component, &format!("properties.{key}"), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_set_at_paths() {
        let mut value = json!({"env": [{"name": "A"}], "data": {}});
        set_at(&mut value, "env[0].value", json!("x"));
        set_at(&mut value, "data.web", json!(1));
        set_at(&mut value, "new[1]", json!(true));
        assert_eq!(
            value,
            json!({"env": [{"name": "A", "value": "x"}], "data": {"web": 1}, "new": [null, true]})
        );
    }

    #[test]
    fn variables_survive_a_restart() {
        let mut variables = Variables::fresh();
        variables.set("a", json!({"b": [1, 2]}));
        variables.mark("s").failures = 3;
        let stored = variables.config_map(&Application::default(), "");
        let mut read = Variables::read(Some(&stored));
        assert_eq!(read.get("a.b.1"), Some(json!(2)));
        assert_eq!(read.mark("s").failures, 3);
    }

    #[test]
    fn keys_lead_into_properties_or_traits() {
        let mut component = json!({"name": "c", "traits": [{"type": "scaler"}]});
        put_input(&mut component, "data.from", json!(1));
        put_input(&mut component, "properties.data.key", json!(2));
        put_input(&mut component, "traits[0].properties.replicas", json!(3));
        put_input(&mut component, "", json!(4));
        assert_eq!(
            component,
            json!({
                "name": "c",
                "properties": {"data": {"from": 1, "key": 2}},
                "traits": [{"type": "scaler", "properties": {"replicas": 3}}],
            })
        );
    }
}
