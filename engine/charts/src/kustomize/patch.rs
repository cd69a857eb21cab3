//! Patches of a kustomization: strategic ones and those of RFC 6902.

use serde_json::{Map, Value};

use super::{Made, documents, text};

/// Lists that are merged, and by which member of their items; the first one that items have.
const KEYS: [(&str, &[&str]); 12] = [
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("env", &["name"]),
    ("volumes", &["name"]),
    ("imagePullSecrets", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("ports", &["containerPort", "port"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("webhooks", &["name"]),
];

/// Lays a patch over those it is for: the one it names, or those its target finds.
pub(super) fn lay(all: &mut Vec<Made>, body: &str, target: &Value) -> Result<(), String> {
    let trimmed = body.trim_start();
    let operations: Option<json_patch::Patch> = match trimmed.starts_with(['-', '[']) {
        true => Some(serde_yaml::from_str(body).map_err(|error| format!("a patch: {error}"))?),
        false => None,
    };
    if let Some(operations) = operations {
        if !target.is_object() {
            return Err("a patch of operations needs a target".into());
        }
        let mut found = false;
        for it in all.iter_mut().filter(|it| is_meant(it, target)) {
            found = true;
            json_patch::patch(&mut it.object, &operations)
                .map_err(|error| format!("{} {}: {error}", it.kind(), it.name()))?;
        }
        return if found { Ok(()) } else { Err(format!("no object is the target {target}")) };
    }
    for patch in documents("a patch", body).map_err(|error| error.0)? {
        let meant = |it: &Made| match target.is_object() {
            true => is_meant(it, target),
            false => {
                it.kind() == text(&patch, "kind")
                    && it.names.iter().any(|name| name == text(&patch["metadata"], "name"))
                    && group(&it.object) == group(&patch)
            }
        };
        if !all.iter().any(meant) {
            return Err(format!(
                "no resource matches the strategic merge patch {} {}",
                text(&patch, "kind"),
                text(&patch["metadata"], "name")
            ));
        }
        if patch["$patch"] == "delete" {
            all.retain(|it| !meant(it));
            continue;
        }
        for it in all.iter_mut().filter(|it| meant(it)) {
            let mut patch = patch.clone();
            if target.is_object() {
                // A patch for many names none of them.
                for key in ["apiVersion", "kind"] {
                    patch.as_object_mut().and_then(|it| it.shift_remove(key));
                }
                patch["metadata"].as_object_mut().and_then(|it| it.shift_remove("name"));
            }
            if patch["metadata"].is_null() {
                patch.as_object_mut().and_then(|it| it.shift_remove("metadata"));
            }
            let name = it.object["metadata"]["name"].clone();
            strategic(&mut it.object, &patch, 0);
            it.object["metadata"]["name"] = name;
        }
    }
    Ok(())
}

fn group(object: &Value) -> &str {
    text(object, "apiVersion").split_once('/').map_or("", |it| it.0)
}

fn is_meant(it: &Made, target: &Value) -> bool {
    let pattern = |wanted: &str, got: &str| {
        let whole =
            regex::RegexBuilder::new(&format!("^(?:{wanted})$")).size_limit(1 << 20).build();
        wanted.is_empty() || whole.is_ok_and(|it| it.is_match(got))
    };
    let version = text(&it.object, "apiVersion").rsplit('/').next().unwrap_or_default();
    let labels = &it.object["metadata"]["labels"];
    let selected =
        text(target, "labelSelector").split(',').filter(|it| !it.trim().is_empty()).all(|one| {
            match one.split_once('=') {
                Some((key, value)) => {
                    let (key, value) =
                        (key.trim_end_matches('=').trim(), value.trim_start_matches('=').trim());
                    match key.strip_suffix('!') {
                        Some(key) => labels[key] != value,
                        None => labels[key] == value,
                    }
                }
                None => labels.get(one.trim()).is_some(),
            }
        });
    pattern(text(target, "kind"), it.kind())
        && it.names.iter().any(|name| pattern(text(target, "name"), name))
        && pattern(text(target, "namespace"), text(&it.object["metadata"], "namespace"))
        && pattern(text(target, "group"), group(&it.object))
        && pattern(text(target, "version"), version)
        && selected
}

/// Lays a patch as Kubernetes does: `null` removes, lists with a key are merged by it.
pub(super) fn strategic(onto: &mut Value, patch: &Value, depth: usize) {
    if depth > 100 {
        return;
    }
    let Value::Object(changes) = patch else {
        *onto = patch.clone();
        return;
    };
    if changes.get("$patch").is_some_and(|it| it == "replace") || !onto.is_object() {
        let said = changes.iter().filter(|(key, it)| !key.starts_with('$') && !it.is_null());
        *onto =
            Value::Object(said.map(|(key, it)| (key.clone(), it.clone())).collect::<Map<_, _>>());
        return;
    }
    let Value::Object(own) = onto else { return };
    for (key, value) in changes.iter().filter(|it| !it.0.starts_with('$')) {
        let merge_by = KEYS.iter().find(|it| it.0 == key).map(|it| it.1);
        match (own.get_mut(key), value) {
            (_, Value::Null) => {
                own.shift_remove(key);
            }
            (Some(Value::Array(items)), Value::Array(new)) if merge_by.is_some() => {
                merge(items, new, merge_by.unwrap_or_default(), depth);
            }
            (Some(known), value) => strategic(known, value, depth + 1),
            (None, value) => {
                let mut fresh = Value::Null;
                strategic(&mut fresh, value, depth + 1);
                own.insert(key.clone(), fresh);
            }
        }
    }
}

fn merge(items: &mut Vec<Value>, new: &[Value], keys: &[&str], depth: usize) {
    if new.iter().any(|it| it["$patch"] == "replace") {
        *items = new.iter().filter(|it| it["$patch"] != "replace").cloned().collect();
        return;
    }
    let mut added = Vec::new();
    for it in new {
        let Some(key) = keys.iter().find(|key| !it[**key].is_null()) else {
            added.push(it.clone());
            continue;
        };
        let at = items.iter().position(|own| own[*key] == it[*key]);
        match at {
            Some(at) if it["$patch"] == "delete" => {
                items.remove(at);
            }
            Some(at) => strategic(&mut items[at], it, depth + 1),
            None if it["$patch"] == "delete" => {}
            None => added.push(it.clone()),
        }
    }
    // New ones come first, as Kubernetes has it.
    items.splice(0..0, added);
}
