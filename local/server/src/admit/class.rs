//! Classes that objects are given: priority of Pods, and the default classes of claims and Ingresses.

use serde_json::{Value, json};

use crate::plane::{Plane, Target};
use crate::status::{ApiError, Result};

const PRIORITIES: &str = "scheduling.k8s.io/priorityclasses/";
const STORAGE: &str = "storage.k8s.io/storageclasses/";
const INGRESS: &str = "networking.k8s.io/ingressclasses/";

/// What a Pod's PriorityClass says of it; the default class if it names none.
pub(super) fn priority(plane: &Plane, target: &Target, object: &mut Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let refused = |why: String| ApiError::forbidden("", &target.resource.plural, &name, &why);
    let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) else { return Ok(()) };
    let named = spec["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let class = if named.is_empty() {
        default_priority(plane)
    } else {
        let found = plane.store().get(&format!("{PRIORITIES}{named}"));
        let Some(found) = found else {
            return Err(refused(format!("no PriorityClass with name {named} was found")));
        };
        Some(Value::clone(&found.value))
    };
    let (mut value, mut policy) = (json!(0), json!("PreemptLowerPriority"));
    if let Some(class) = class {
        value = class["value"].clone();
        policy = class["preemptionPolicy"].clone();
        spec["priorityClassName"] = class["metadata"]["name"].clone();
    } else if let Some(fields) = spec.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "priorityClassName"));
    }
    let given = spec["priority"].clone();
    if !given.is_null() && given != value {
        return Err(refused(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
        )));
    }
    spec["priority"] = value;
    let given = spec["preemptionPolicy"].as_str().unwrap_or_default();
    let computed = policy.as_str().unwrap_or_default();
    if !given.is_empty() && given != computed {
        return Err(refused(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
        )));
    }
    spec["preemptionPolicy"] = policy;
    Ok(())
}

// Of several defaults the lowest counts.
fn default_priority(plane: &Plane) -> Option<Value> {
    let (_, all) = plane.store().list(PRIORITIES);
    let defaults = all.iter().filter(|one| one.value["globalDefault"] == json!(true));
    let lowest = defaults.min_by_key(|one| one.value["value"].as_i64());
    lowest.map(|one| Value::clone(&one.value))
}

/// There is one default PriorityClass.
pub(super) fn only_default(plane: &Plane, target: &Target, object: &Value) -> Result<()> {
    if object["globalDefault"] != json!(true) {
        return Ok(());
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match default_priority(plane) {
        Some(other) if other["metadata"]["name"] != object["metadata"]["name"] => {
            let other = other["metadata"]["name"].as_str().unwrap_or_default();
            let why = format!(
                "PriorityClass {other} is already marked as default. Only one default can exist"
            );
            let resource = &target.resource;
            Err(ApiError::forbidden(&resource.group, &resource.plural, name, &why))
        }
        _ => Ok(()),
    }
}

// The newest class that is marked as the default.
fn marked(plane: &Plane, range: &str, marks: &[&str]) -> Option<Value> {
    let (_, all) = plane.store().list(range);
    let is_default = |class: &Value| {
        let annotations = &class["metadata"]["annotations"];
        marks.iter().any(|mark| annotations[*mark] == json!("true"))
    };
    let mut classes: Vec<&Value> =
        all.iter().map(|one| &*one.value as &Value).filter(|class| is_default(class)).collect();
    let text =
        |class: &Value, key: &str| class["metadata"][key].as_str().unwrap_or_default().to_owned();
    classes.sort_by(|a, b| {
        let newer = text(b, "creationTimestamp").cmp(&text(a, "creationTimestamp"));
        newer.then_with(|| text(a, "name").cmp(&text(b, "name")))
    });
    classes.first().map(|class| class["metadata"]["name"].clone())
}

/// A claim that names no class is given the default one.
pub(super) fn storage(plane: &Plane, object: &mut Value) {
    const OLDER: &str = "volume.beta.kubernetes.io/storage-class";
    let says = !object["spec"]["storageClassName"].is_null()
        || !object["metadata"]["annotations"][OLDER].is_null();
    let marks = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    fill(object, "storageClassName", || marked(plane, STORAGE, &marks).filter(|_| !says));
}

/// An Ingress that names no class is given the default one.
pub(super) fn ingress(plane: &Plane, object: &mut Value) {
    let says = !object["spec"]["ingressClassName"].is_null()
        || !object["metadata"]["annotations"]["kubernetes.io/ingress.class"].is_null();
    let marks = ["ingressclass.kubernetes.io/is-default-class"];
    fill(object, "ingressClassName", || marked(plane, INGRESS, &marks).filter(|_| !says));
}

fn fill(object: &mut Value, key: &str, class: impl FnOnce() -> Option<Value>) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(class) = class() {
        spec.insert(key.to_owned(), class);
    }
}
