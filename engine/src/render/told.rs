//! What the templates of a session are told of their context: each what it reads, unless one before it was told that.

use std::collections::BTreeSet;

use cue_session::Input;
use serde_json::{Map, Value};

use super::context::Scope;
use super::process::as_json;
use super::reads::Reads;

/// A context, and what is known of it.
pub(super) struct Told<'a> {
    scope: Box<dyn Scope + 'a>,
    /// Keys that came besides, or in place of those there.
    set: Map<String, Value>,
    known: Known,
}

/// What of a context the session knows.
enum Known {
    /// It has not begun.
    Nothing,
    /// The values of these keys.
    Keys(BTreeSet<Box<str>>),
    /// All, but what came since: these.
    AllBut(BTreeSet<Box<str>>),
}

/// How the next template begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// With what those before it knew.
    Further,
    /// With a context of its own.
    Anew,
}

impl<'a> Told<'a> {
    /// Nothing yet.
    pub(super) fn new(scope: impl Scope + 'a) -> Self {
        Self { scope: Box::new(scope), set: Map::new(), known: Known::Nothing }
    }

    /// One more key, for the templates that follow.
    pub(super) fn set(&mut self, key: &str, value: Value) {
        self.set.insert(key.into(), value);
        match &mut self.known {
            Known::Nothing => {}
            Known::Keys(known) => drop(known.remove(key)),
            Known::AllBut(lacking) => drop(lacking.insert(key.into())),
        }
    }

    /// What the next template gets, which reads this: one that may read anything has all of it, in order.
    pub(super) fn inputs(&mut self, reads: &Reads) -> (Vec<Input>, Again) {
        let keys = match reads {
            Reads::Keys(keys) => Some(keys),
            Reads::All => None,
        };
        let news: Vec<Box<str>> = match (&self.known, keys) {
            (Known::Nothing | Known::Keys(_), None) => {
                self.known = Known::AllBut(BTreeSet::new());
                return (vec![Input::new("context", as_json(&self.whole()))], Again::Anew);
            }
            (Known::Nothing, Some(keys)) => keys.iter().cloned().collect(),
            (Known::Keys(known), Some(keys)) => keys.difference(known).cloned().collect(),
            (Known::AllBut(lacking), Some(keys)) => keys.intersection(lacking).cloned().collect(),
            (Known::AllBut(lacking), None) => lacking.iter().cloned().collect(),
        };
        let values = news.iter().filter_map(|key| Some((key.to_string(), self.value(key)?)));
        let values: Map<String, Value> = values.collect();
        if let Known::Nothing = self.known {
            self.known = Known::Keys(news.into_iter().collect());
            return (vec![Input::new("context", as_json(&values.into()))], Again::Anew);
        }
        let more = |(key, value): (&String, &Value)| {
            Input::new(format!("context.{}", Value::from(key.as_str())), as_json(value))
        };
        let inputs = std::iter::once(Input::again("context")).chain(values.iter().map(more));
        let inputs = inputs.collect();
        match &mut self.known {
            Known::Nothing => {}
            Known::Keys(known) => known.extend(news),
            Known::AllBut(lacking) => lacking.retain(|it| !news.contains(it)),
        }
        (inputs, Again::Further)
    }

    /// The value of a key; what templates make has none here.
    fn value(&self, key: &str) -> Option<Value> {
        self.set.get(key).cloned().or_else(|| self.scope.value(key))
    }

    /// The whole context.
    fn whole(&self) -> Value {
        let mut all = Map::new();
        for key in self.scope.keys() {
            let value = self.value(&key).unwrap_or_default();
            all.insert(key, value);
        }
        for (key, value) in &self.set {
            all.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        all.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(told: &mut Told<'_>, text: &str) -> Vec<String> {
        let (inputs, _) = told.inputs(&Reads::of(std::iter::once(text)));
        let shown = inputs.into_iter().map(|it| format!("{} {:?}", it.path, it.value));
        shown.map(|it| it.replace(['\\', '"'], "")).collect()
    }

    #[test]
    fn what_was_told_is_not_told_again() {
        let scope: Map<String, Value> = [("a", 1), ("b", 2), ("c", 3)]
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .into_iter()
            .collect();
        let mut it = Told::new(scope);
        assert_eq!(told(&mut it, "context.b + context.d"), ["context Json({b:2})"]);
        assert_eq!(told(&mut it, "context.b"), ["context Again"]);
        assert_eq!(told(&mut it, "context.a"), ["context Again", "context.a Json(1)"]);
        it.set("b", json!(5));
        it.set("e", json!(6));
        assert_eq!(told(&mut it, "context.b"), ["context Again", "context.b Json(5)"]);
        assert_eq!(told(&mut it, "{context}"), ["context Json({a:1,b:5,c:3,e:6})"]);
        it.set("a", json!(7));
        assert_eq!(told(&mut it, "context.b"), ["context Again"]);
        assert_eq!(told(&mut it, "{context}"), ["context Again", "context.a Json(7)"]);
        assert_eq!(told(&mut it, "context.a"), ["context Again"]);
    }
}
