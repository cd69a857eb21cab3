//! One test per strategy: base, patch, what comes of it. Markers stand in `+` keys of the patch.

use cue_patch::{Field, Mode, Rest, Tree, patch};
use serde_json::{Value, json};

/// JSON as a tree; a member `"+name"` holds the markers of the field `name`, space separated. A last
/// element `{"...": T}` stands for `...T`.
fn tree(value: &Value) -> Tree {
    match value {
        Value::Object(map) => Tree::Struct(
            map.iter()
                .filter(|(label, _)| !label.starts_with('+'))
                .map(|(label, value)| {
                    let docs = map.get(&format!("+{label}")).and_then(Value::as_str);
                    let docs = docs.unwrap_or_default().split_whitespace();
                    Field {
                        docs: docs.map(|it| format!("+{it}")).collect(),
                        apart: false,
                        ..Field::new(label.as_str(), tree(value))
                    }
                })
                .collect(),
        ),
        Value::Array(items) => {
            let each = items.last().and_then(|it| it.get("...")).map(tree);
            let items = &items[..items.len() - usize::from(each.is_some())];
            Tree::List {
                items: items.iter().map(tree).collect(),
                rest: each.map_or(Rest::Nothing, |it| Rest::Each(Box::new(it))),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Tree::from_json(value)
        }
    }
}

#[track_caller]
fn check(base: Value, with: Value, mode: Mode, expected: Result<Value, &str>) {
    let result = patch(tree(&base), tree(&with), mode);
    match (result, expected) {
        (Ok(tree), Ok(expected)) => assert_eq!(tree.to_json(), Ok(expected)),
        (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
        (result, expected) => panic!("{result:?}, expected {expected:?}"),
    }
}

#[track_caller]
fn unify(base: Value, with: Value, expected: Result<Value, &str>) {
    check(base, with, Mode::Unify, expected);
}

#[test]
fn what_is_said_of_each_element_holds_for_all_there_are() {
    let hook = json!({"hook": {"command": ["stop"]}});
    unify(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"...": hook}]}),
        Ok(json!({"containers": [
            {"hook": {"command": ["stop"]}, "name": "a"},
            {"hook": {"command": ["stop"]}, "name": "b"},
        ]})),
    );
    unify(
        json!({"containers": [{"name": "a"}, {"name": "b", "hook": {"command": ["go"]}}]}),
        json!({"containers": [{"name": "a"}, {"...": hook}]}),
        Err(
            "result check err: containers.1.hook.command.0: conflicting values \"stop\" and \"go\"",
        ),
    );
    unify(json!({}), json!({"containers": [{"...": hook}]}), Ok(json!({"containers": []})));
}

#[test]
fn without_markers_values_must_agree() {
    unify(json!({"a": 1}), json!({"b": {"c": 2}}), Ok(json!({"b": {"c": 2}, "a": 1})));
    unify(
        json!({"spec": {"n": 2}}),
        json!({"spec": {"n": 3}}),
        Err("result check err: spec.n: conflicting values 3 and 2"),
    );
    unify(
        json!({"n": 2}),
        json!({"n": "2"}),
        Err(
            "result check err: n: conflicting values 2 and \"2\" (mismatched types int and string)",
        ),
    );
}

#[test]
fn lists_go_by_index_and_may_grow() {
    unify(json!({"l": ["a"]}), json!({"l": ["a", "b"]}), Ok(json!({"l": ["a", "b"]})));
    unify(
        json!({"l": [{"x": 1}, {"x": 2}]}),
        json!({"l": [{"y": 1}]}),
        Err("result check err: l: incompatible list lengths (1 and 2)"),
    );
}

#[test]
fn a_key_lines_elements_up() {
    unify(
        json!({"c": [{"name": "x"}, {"name": "y"}]}),
        json!({"+c": "patchKey=name", "c": [{"name": "new"}, {"name": "y", "image": "i"}]}),
        Ok(json!({"c": [{"name": "x"}, {"name": "y", "image": "i"}, {"name": "new"}]})),
    );
    unify(
        json!({"c": [{"name": "x", "env": [{"name": "A", "v": 1}]}]}),
        json!({"+c": "patchKey=name", "c": [{"name": "x", "env": [{"name": "B"}]}]}),
        Ok(json!({"c": [{"name": "x", "env": [{"name": "A", "v": 1}, {"name": "B"}]}]})),
    );
    unify(
        json!({"e": [{"ref": {"name": "a"}}]}),
        json!({"+e": "patchKey=ref.name", "e": [{"ref": {"name": "b"}}]}),
        Ok(json!({"e": [{"ref": {"name": "a"}}, {"ref": {"name": "b"}}]})),
    );
}

#[test]
fn an_empty_patch_with_a_key_changes_nothing() {
    unify(
        json!({"env": [{"name": "A"}]}),
        json!({"+env": "patchKey=name", "env": []}),
        Ok(json!({"env": [{"name": "A"}]})),
    );
}

#[test]
fn retain_keys_replaces() {
    unify(
        json!({"c": [{"name": "x", "old": 1}, {"name": "y", "old": 1}]}),
        json!({"+c": "patchKey=name patchStrategy=retainKeys", "c": [{"name": "y", "new": 2}]}),
        Ok(json!({"c": [{"name": "x", "old": 1}, {"name": "y", "new": 2}]})),
    );
    unify(
        json!({"s": {"kind": "a", "x": 1}, "keep": true}),
        json!({"+s": "patchStrategy=retainKeys", "s": {"kind": "b"}}),
        Ok(json!({"s": {"kind": "b"}, "keep": true})),
    );
}

#[test]
fn replace_takes_the_patches_elements() {
    unify(
        json!({"env": [{"name": "A"}, {"name": "B"}]}),
        json!({"+env": "patchStrategy=replace", "env": [{"name": "C"}]}),
        Ok(json!({"env": [{"name": "C"}]})),
    );
}

#[test]
fn json_patches() {
    let base = json!({"a": {"b": [1]}});
    check(
        base.clone(),
        json!({"operations": [{"op": "add", "path": "/a/b/0", "value": 0}]}),
        Mode::JsonPatch,
        Ok(json!({"a": {"b": [0, 1]}})),
    );
    check(
        base.clone(),
        json!({"operations": [{"op": "mix", "path": "/a"}]}),
        Mode::JsonPatch,
        Err("failed to apply json patch: Unexpected kind: mix"),
    );
    let wrong = [
        (json!({"op": "add", "path": "/a"}), "missing field `value`"),
        (json!({"op": "move", "path": "/a"}), "missing field `from`"),
        (json!({"path": "/a"}), "missing field `op`"),
        (json!({"op": "remove", "path": "a"}), "path \"a\": "),
    ];
    for (operation, why) in wrong {
        let patch = json!({"operations": [operation]});
        let error = cue_patch::patch(tree(&base), tree(&patch), Mode::JsonPatch);
        let error = error.expect_err("it is refused").to_string();
        assert!(error.starts_with(&format!("failed to apply json patch: {why}")), "{error}");
    }
    let moved = json!([
        {"op": "copy", "from": "/a/b", "path": "/c"},
        {"op": "replace", "path": "/a/b/0", "value": 2},
        {"op": "test", "path": "/c/0", "value": 1},
        {"op": "move", "from": "/a/b", "path": "/a/d"},
        {"op": "remove", "path": "/c"},
    ]);
    check(
        base.clone(),
        json!({"operations": moved}),
        Mode::JsonPatch,
        Ok(json!({"a": {"d": [2]}})),
    );
    check(
        base.clone(),
        json!({}),
        Mode::JsonPatch,
        Err("failed to marshal patch value: cue: marshal error: field not found: operations"),
    );
    check(
        base,
        json!({"a": {"b": null, "c": 1}}),
        Mode::JsonMergePatch,
        Ok(json!({"a": {"c": 1}})),
    );
}

#[test]
fn what_is_not_concrete_is_left_to_an_evaluator() {
    let base = Tree::Struct(vec![Field::new("n", Tree::Cue("*1 | int".into()))]);
    let with = Tree::Struct(vec![Field::new("n", Tree::Int("3".into()))]);
    let result = patch(base, with, Mode::Unify).unwrap();
    assert!(!result.is_ground());
    assert_eq!(result.to_cue(), "{\n\tn: (*1 | int) & (3)\n}");
}
