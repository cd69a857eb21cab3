//! What of an object matters to who hears of it, and whether that is another than before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use lateen_engine::api::DefinitionKind;
use lateen_engine::api::names::annotation;
use serde_json::Value;

/// What a change is to who hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    None,
    /// None to who has written that itself.
    State,
    /// Something else is asked for, whoever wrote it.
    Wish,
}

/// What was seen of each object of a kind.
pub(crate) struct Seen<K> {
    kind: String,
    prints: HashMap<K, Prints>,
}

/// Fingerprints, hashed.
#[derive(Clone, Copy, PartialEq)]
struct Prints {
    wish: u64,
    state: u64,
}

impl<K: Clone + Eq + Hash> Seen<K> {
    /// Nothing of a kind.
    pub(crate) fn of(kind: &str) -> Self {
        Self { kind: kind.to_owned(), prints: HashMap::new() }
    }

    /// How an object differs from what was seen of it before.
    pub(crate) fn differs(&mut self, key: &K, object: &Value) -> Difference {
        let nothing = hash("");
        let wish = match self.kind.as_str() {
            "Application" | "WorkflowRun" => hash(&wish(object)),
            _ => nothing,
        };
        let now = Prints { wish, state: hash(&state(&self.kind, object)) };
        match self.prints.insert(key.clone(), now) {
            Some(old) if old == now => Difference::None,
            old if old.map_or(nothing, |it| it.wish) == wish => Difference::State,
            _ => Difference::Wish,
        }
    }

    /// It is gone.
    pub(crate) fn forget(&mut self, key: &K) {
        self.prints.remove(key);
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// What an Application or a run asks for.
fn wish(object: &Value) -> String {
    let meta = &object["metadata"];
    format!("{}{}", meta["generation"], meta["deletionTimestamp"])
}

/// What else of an object matters: everything of a workload; of an Application what users write.
fn state(kind: &str, object: &Value) -> String {
    let meta = &object["metadata"];
    let workflow = match kind {
        "Application" => &object["status"]["workflow"],
        "WorkflowRun" => &object["status"],
        kind if DefinitionKind::from_kind(kind).is_some() => {
            return format!(
                "{}{}",
                meta["generation"],
                meta["annotations"][annotation::DEFINITION_REVISION_NAME]
            );
        }
        _ => return format!("{}{}", meta["name"], meta["resourceVersion"]),
    };
    let phases: Vec<&Value> = workflow["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|it| {
            std::iter::once(&it["phase"])
                .chain(it["subSteps"].as_array().into_iter().flatten().map(|it| &it["phase"]))
        })
        .collect();
    format!(
        "{}|{}|{}|{}|{phases:?}",
        meta["annotations"], meta["labels"], workflow["suspend"], workflow["terminated"]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Difference, Seen};

    fn app(generation: u64, annotation: &str, phase: &str) -> Value {
        json!({
            "metadata": {
                "name": "web", "generation": generation, "resourceVersion": phase,
                "annotations": {"app.oam.dev/publishVersion": annotation},
            },
            "status": {"services": [{"message": phase}], "workflow": {"steps": [{"phase": phase}]}},
        })
    }

    #[test]
    fn who_asks_for_something_else_is_heard_even_by_the_writer() {
        let mut seen = Seen::of("Application");
        let mut differs = |object: Value| seen.differs(&"web", &object);
        assert_eq!(differs(app(1, "v1", "running")), Difference::Wish, "never seen");
        assert_eq!(differs(app(1, "v1", "running")), Difference::None);
        assert_eq!(differs(app(1, "v1", "succeeded")), Difference::State);
        assert_eq!(differs(app(1, "v2", "succeeded")), Difference::State);
        assert_eq!(differs(app(2, "v2", "succeeded")), Difference::Wish, "rolled back");
        let mut going = app(2, "v2", "succeeded");
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(differs(going), Difference::Wish);
    }

    #[test]
    fn every_version_of_what_was_made_is_another_state() {
        let mut seen = Seen::of("Deployment");
        let at = |version: &str| json!({"metadata": {"name": "web", "resourceVersion": version}});
        assert_eq!(seen.differs(&"web", &at("1")), Difference::State, "who made it knows");
        assert_eq!(seen.differs(&"web", &at("2")), Difference::State);
        assert_eq!(seen.differs(&"web", &at("2")), Difference::None);
        seen.forget(&"web");
        assert_eq!(seen.differs(&"web", &at("2")), Difference::State);
    }
}
