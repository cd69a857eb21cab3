//! Applies and updates as a table: who does what, and who owns what afterwards.

use local_merge::manage::{self, Conflicts, Writer, renamed};
use local_merge::{FieldSet, Refused, Schema, json, strategic};
use proptest::prelude::*;
use serde_json::{Value, json};

fn schema() -> Schema {
    Schema::custom(
        json!({"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {
            "name": {"type": "string"}, "managedFields": {"type": "array"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge"}}}})
        .as_object()
        .expect("an object"),
        Some(&json!({"type": "object", "properties": {
            "data": {"type": "object", "additionalProperties": {"type": "string"}},
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"},
                "limits": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
                    "items": {"type": "object", "properties": {
                        "name": {"type": "string"}, "weight": {"type": "integer"}}}}}}}})),
    )
}

fn writer<T>(manager: &str, time: &str, act: impl FnOnce(&Writer<'_>) -> T) -> T {
    let schema = |version: &str| (version == "v1").then(schema);
    act(&Writer {
        manager,
        api_version: "v1",
        kind: "Widget",
        subresource: "",
        time,
        reset: &["status"],
        schema: &schema,
        convert: &renamed,
    })
}

fn object(mut body: Value) -> Value {
    body["apiVersion"] = json!("v1");
    body["kind"] = json!("Widget");
    body["metadata"]["name"] = json!("a");
    body
}

fn apply(manager: &str, live: Option<&Value>, body: Value) -> Result<Value, Refused> {
    writer(manager, "2026-01-01T00:00:01Z", |cx| {
        manage::apply(cx, live, &object(body), Conflicts::Refused)
    })
}

fn updated(cx: &Writer<'_>, live: Option<&Value>, new: &Value) -> Value {
    let mut new = new.clone();
    manage::update(cx, live, &mut new);
    new
}

fn force(manager: &str, live: &Value, body: Value) -> Value {
    writer(manager, "2026-01-01T00:00:02Z", |cx| {
        manage::apply(cx, Some(live), &object(body), Conflicts::Forced)
    })
    .expect("forced")
}

fn owned(object: &Value, manager: &str) -> Value {
    let all = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    all.iter().find(|it| it["manager"] == manager).map_or(Value::Null, |it| it["fieldsV1"].clone())
}

#[test]
fn ownership_of_map_keys() {
    let one = apply("alpha", None, json!({"data": {"k": "v", "l": "w"}})).expect("created");
    assert_eq!(owned(&one, "alpha"), json!({"f:data": {"f:k": {}, "f:l": {}}}));
    let refused =
        apply("beta", Some(&one), json!({"data": {"k": "x", "l": "y"}})).expect_err("conflict");
    assert_eq!(
        refused.message,
        "Apply failed with 2 conflicts: conflicts with \"alpha\":\n- .data.k\n- .data.l"
    );
    assert_eq!(refused.conflicts[0], ("conflict with \"alpha\"".to_owned(), ".data.k".to_owned()));
    let two = force("beta", &one, json!({"data": {"k": "x"}}));
    assert_eq!(owned(&two, "alpha"), json!({"f:data": {"f:l": {}}}));
    let three = apply("alpha", Some(&two), json!({})).expect("gives up");
    assert_eq!(three["data"], json!({"k": "x"}));
    assert_eq!(owned(&three, "alpha"), Value::Null);
    let shared = apply("gamma", Some(&three), json!({"data": {"k": "x"}})).expect("shares");
    let entries = shared["metadata"]["managedFields"].as_array().expect("entries");
    assert!(entries.iter().any(|it| it["manager"] == "gamma" && it.get("time").is_none()));
}

#[test]
fn lists_by_key_sets_and_atomic_maps() {
    let one = apply("alpha", None, json!({"spec": {
        "items": [{"name": "a", "weight": 1}, {"name": "b"}], "tags": ["x", "y"], "limits": {"cpu": "1"}}}))
    .expect("created");
    assert_eq!(
        owned(&one, "alpha"),
        json!({"f:spec": {
            "f:items": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:weight": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}},
            "f:limits": {}, "f:tags": {"v:\"x\"": {}, "v:\"y\"": {}}}})
    );
    let refused = apply("beta", Some(&one), json!({"spec": {"limits": {"cpu": "1", "mem": "2"}}}))
        .expect_err("conflict");
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"alpha\": .spec.limits"
    );
    let two = apply(
        "beta",
        Some(&one),
        json!({"spec": {"tags": ["y", "z"], "items": [{"name": "b", "weight": 5}]}}),
    )
    .expect("shares");
    assert_eq!(two["spec"]["tags"], json!(["x", "y", "z"]));
    let three =
        apply("alpha", Some(&two), json!({"spec": {"items": [{"name": "a"}], "tags": ["x"]}}))
            .expect("fewer");
    assert_eq!(three["spec"]["items"], json!([{"name": "a"}, {"name": "b", "weight": 5}]));
    assert_eq!(three["spec"]["tags"], json!(["x", "y", "z"]));
    assert_eq!(three["spec"].get("limits"), None);
}

#[test]
fn order_of_lists() {
    for (live, applied, wanted) in [("abc", "zb", "azbc"), ("ayzbc", "can", "yzbcan")] {
        let items = |names: &str| json!({"spec": {"items": names.chars().map(|c| json!({"name": c.to_string()})).collect::<Vec<_>>()}});
        let live = writer("x", "t", |cx| updated(cx, None, &object(items(live))));
        let out = apply("alpha", Some(&live), items(applied)).expect("applied");
        let names: String = out["spec"]["items"]
            .as_array()
            .expect("list")
            .iter()
            .map(|it| it["name"].as_str().unwrap_or(""))
            .collect();
        assert_eq!(names, wanted);
    }
}

#[test]
fn updates_take_fields() {
    let one = apply("alpha", None, json!({"data": {"l": "1"}})).expect("created");
    let mut new = one.clone();
    new["data"]["l"] = json!("2");
    let two = writer("gamma", "2026-01-01T00:00:03Z", |cx| updated(cx, Some(&one), &new));
    assert_eq!(owned(&two, "alpha"), Value::Null);
    assert_eq!(owned(&two, "gamma"), json!({"f:data": {"f:l": {}}}));
    let refused = apply("alpha", Some(&two), json!({"data": {"l": "1"}})).expect_err("conflict");
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"gamma\" using v1: .data.l"
    );
    let same = writer("delta", "2026-01-01T00:00:04Z", |cx| updated(cx, Some(&two), &two));
    assert_eq!(same, two);
    let created =
        writer("creator", "t", |cx| updated(cx, None, &object(json!({"data": {"k": "v"}}))));
    assert_eq!(owned(&created, "creator"), json!({"f:data": {".": {}, "f:k": {}}}));
}

#[test]
fn violations_are_named() {
    let refused =
        apply("alpha", None, json!({"unknown": 1, "data": {"k": 5}})).expect_err("violations");
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.message,
        "failed to create typed patch object (/a; /v1, Kind=Widget): errors:\n  .unknown: field not declared in schema\n  \
         .data.k: expected string, got &value.valueUnstructured{Value:5}"
    );
    let refused = apply("alpha", None, json!({"spec": {"items": [{"name": "d"}, {"name": "d"}]}}))
        .expect_err("twice");
    assert!(refused.message.ends_with(".spec.items: duplicate entries for key [name=\"d\"]"));
}

#[test]
fn strategic_lists() {
    let live = object(
        json!({"metadata": {"finalizers": ["1", "2"]}, "spec": {"items": [{"name": "a"}, {"name": "b"}]}}),
    );
    for (patch, pointer, wanted) in [
        (
            json!({"spec": {"items": [{"name": "c"}]}}),
            "/spec/items",
            json!([{"name": "c"}, {"name": "a"}, {"name": "b"}]),
        ),
        (
            json!({"spec": {"items": [{"name": "a", "$patch": "delete"}]}}),
            "/spec/items",
            json!([{"name": "b"}]),
        ),
        (
            json!({"spec": {"$setElementOrder/items": [{"name": "b"}, {"name": "a"}]}}),
            "/spec/items",
            json!([{"name": "b"}, {"name": "a"}]),
        ),
        (json!({"spec": {"$patch": "replace", "size": 1}}), "/spec", json!({"size": 1})),
        (
            json!({"metadata": {"finalizers": ["3"]}}),
            "/metadata/finalizers",
            json!(["3", "1", "2"]),
        ),
        (
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["1"]}}),
            "/metadata/finalizers",
            json!(["2"]),
        ),
    ] {
        let out = strategic::patch(&schema(), &live, &patch).expect("patched");
        assert_eq!(out.pointer(pointer), Some(&wanted), "{patch}");
    }
    let refused =
        strategic::patch(&schema(), &live, &json!({"spec": {"items": [{"image": "nokey"}]}}))
            .expect_err("no key");
    assert_eq!(refused.message, "map: map[image:nokey] does not contain declared merge key: name");
}

#[test]
fn json_patches() {
    let live = json!({"a": [1, 2], "b": {"c": 1}});
    for (patch, wanted) in [
        (
            json!([{"op": "add", "path": "/a/-", "value": 3}]),
            Some(json!({"a": [1, 2, 3], "b": {"c": 1}})),
        ),
        (
            json!([{"op": "replace", "path": "/b/x", "value": 3}]),
            Some(json!({"a": [1, 2], "b": {"c": 1, "x": 3}})),
        ),
        (json!([{"op": "remove", "path": "/a/-1"}]), Some(json!({"a": [1], "b": {"c": 1}}))),
        (json!([{"op": "test", "path": "/b/c", "value": 2}]), None),
        (json!([{"op": "add", "path": "/x/y", "value": 2}]), None),
    ] {
        assert_eq!(json::json_patch(&live, &patch).ok(), wanted, "{patch}");
    }
    let merged =
        json::merge_patch(&live, &json!({"a": null, "b": {"d": {"e": null}}})).expect("merged");
    assert_eq!(merged, json!({"b": {"c": 1, "d": {}}}));
}

fn bodies() -> impl Strategy<Value = Value> {
    let items = prop::collection::btree_map("[a-d]", 0..3, 0..4);
    let data = prop::collection::btree_map("[a-c]", "[x-z]", 0..3);
    (items, data, prop::collection::btree_set("[a-d]", 0..3)).prop_map(|(items, data, tags)| {
        let items: Vec<Value> = items
            .into_iter()
            .map(|(name, weight)| json!({"name": name, "weight": weight}))
            .collect();
        json!({"data": data, "spec": {"items": items, "tags": tags}})
    })
}

proptest! {
    #[test]
    fn a_second_equal_apply_changes_nothing(live in bodies(), body in bodies()) {
        let live = writer("x", "t", |cx| updated(cx, None, &object(live)));
        let one = force("alpha", &live, body.clone());
        let two = writer("alpha", "later", |cx| manage::apply(cx, Some(&one), &object(body), Conflicts::Forced)).expect("again");
        prop_assert_eq!(&one, &two);
        for entry in one["metadata"]["managedFields"].as_array().into_iter().flatten() {
            let set = FieldSet::from_json(&entry["fieldsV1"]).expect("readable");
            prop_assert_eq!(&set.to_json(), &entry["fieldsV1"]);
        }
    }
}
