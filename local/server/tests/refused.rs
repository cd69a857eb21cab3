//! What the API server refuses of built-in kinds, in its words: refused.txt beside it.
use local_server::{Options, Plane};
use serde_json::Value;

fn merge(into: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *into = patch;
        return;
    };
    if !into.is_object() {
        *into = serde_json::json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            into.as_object_mut().expect("an object").shift_remove(&key);
        } else {
            merge(&mut into[key], value);
        }
    }
}

#[test]
fn wrong_objects_are_refused_in_the_words_of_the_reference() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let (mut kind, mut fine, mut object) = (("", ""), Value::Null, Value::Null);
    let mut played = 0;
    for line in include_str!("refused.txt").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "fine" => {
                let mut parts = rest.splitn(3, ' ');
                let mut next = || parts.next().expect("version, plural, object");
                kind = (next(), next());
                fine = serde_json::from_str(next()).expect("JSON");
            }
            "wrong" => {
                object = fine.clone();
                merge(&mut object, serde_json::from_str(rest).expect("JSON"));
            }
            "says" => {
                let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
                let target = handle.target(kind.0, kind.1, "default", &name);
                let mut target = target.expect("known");
                if !target.resource.namespaced {
                    target.namespace.clear();
                }
                let error = handle.create(&target, object.clone()).expect_err(rest);
                assert_eq!(error.message, rest, "{object}");
                played += 1;
            }
            _ => {}
        }
    }
    assert!(played > 300);
    let target = handle.target("v1", "pods", "default", "web").expect("known");
    let pod = serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "web", "image": "nginx"}]},
    });
    handle.create(&target, pod).expect("a good one is taken");
}
