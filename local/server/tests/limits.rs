//! LimitRanges: what they give and what they refuse.
#![allow(clippy::unwrap_used, reason = "a test")]

use local_server::{Options, Plane};
use serde_json::{Value, json};

fn plane(limits: &Value) -> Plane {
    let plane = Plane::new(Options::default()).unwrap();
    let handle = plane.handle("test");
    let target = handle.target("v1", "limitranges", "default", "").unwrap();
    handle.create(&target, json!({"metadata": {"name": "l"}, "spec": {"limits": limits}})).unwrap();
    plane
}

fn make(plane: &Plane, plural: &str, object: Value) -> Result<Value, String> {
    let handle = plane.handle("test");
    let target = handle.target("v1", plural, "default", "").unwrap();
    let made = handle.create(&target, object);
    made.map_err(|error| error.status()["message"].as_str().unwrap().to_owned())
}

fn pod(containers: &Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"containers": containers}})
}

#[test]
fn what_is_not_said_is_given() {
    let limits = json!([{"type": "Container", "max": {"cpu": "2"}, "default": {"memory": "1Gi"},
        "defaultRequest": {"memory": "512Mi"}}]);
    let plane = plane(&limits);
    let one = json!([{"name": "a", "image": "i"},
        {"name": "b", "image": "i", "resources": {"requests": {"cpu": "1"}}}]);
    let made = make(&plane, "pods", pod(&one)).unwrap();
    let resources = |index: usize| made["spec"]["containers"][index]["resources"].clone();
    let limits = json!({"cpu": "2", "memory": "1Gi"});
    assert_eq!(
        resources(0),
        json!({"requests": {"cpu": "2", "memory": "512Mi"}, "limits": limits})
    );
    assert_eq!(
        resources(1),
        json!({"requests": {"cpu": "1", "memory": "512Mi"}, "limits": limits})
    );
    assert_eq!(
        made["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        json!(
            "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; memory request for container b; cpu, memory limit for container b"
        )
    );
    assert_eq!(made["status"]["qosClass"], json!("Burstable"));
}

#[test]
fn what_is_too_much_or_too_little_is_refused() {
    let cpu = |request: &str, limit: &str| json!([{"name": "a", "image": "i", "resources": {"requests": {"cpu": request}, "limits": {"cpu": limit}}}]);
    let two = json!([cpu("1", "1")[0], {"name": "b", "image": "i", "resources": {"limits": {"cpu": "1500m"}}}]);
    for (limits, containers, wanted) in [
        (
            json!({"type": "Container", "max": {"cpu": "1"}}),
            cpu("1", "2"),
            Some("maximum cpu usage per Container is 1, but limit is 2"),
        ),
        (json!({"type": "Container", "max": {"cpu": "1"}}), cpu("1", "1"), None),
        (
            json!({"type": "Container", "min": {"cpu": "1"}}),
            cpu("100m", "2"),
            Some("minimum cpu usage per Container is 1, but request is 100m"),
        ),
        (
            json!({"type": "Pod", "max": {"cpu": "2"}}),
            two.clone(),
            Some("maximum cpu usage per Pod is 2, but limit is 2500m"),
        ),
        (
            json!({"type": "Pod", "max": {"memory": "1Gi"}}),
            cpu("1", "1"),
            Some("maximum memory usage per Pod is 1Gi.  No limit is specified"),
        ),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            cpu("500m", "2"),
            Some(
                "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000",
            ),
        ),
        (json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}), cpu("1", "2"), None),
    ] {
        let plane = plane(&json!([limits]));
        let made = make(&plane, "pods", pod(&containers));
        match wanted {
            None => assert!(made.is_ok(), "{limits}: {made:?}"),
            Some(why) => {
                let said = made.unwrap_err();
                assert!(
                    said.starts_with("pods \"p\" is forbidden: ") && said.contains(why),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn claims_are_measured_too() {
    let limits = json!([{"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}]);
    let plane = plane(&limits);
    let claim = |name: &str, size: &str| json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}});
    assert!(make(&plane, "persistentvolumeclaims", claim("a", "1Gi")).is_ok());
    let said = make(&plane, "persistentvolumeclaims", claim("b", "3Gi")).unwrap_err();
    assert!(said.contains("maximum storage usage per PersistentVolumeClaim is 2Gi, but"), "{said}");
    let said = make(&plane, "persistentvolumeclaims", claim("c", "1Mi")).unwrap_err();
    assert!(
        said.contains("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"),
        "{said}"
    );
}
