//! What is read from a cache may be older than what was read before it.

use lateen_engine::reconcile::reconcile;
use serde_json::json;

use crate::plane::Plane;
use crate::{APPLICATION, Shop, application};

/// A policy of scope Application speaks before anything else is read. One whose definition comes up between the two
/// is waited for: an Application never runs without what it says.
#[test]
fn a_policy_that_comes_up_late_is_heard_before_anything_is_applied() {
    let shop = Shop::open();
    // It is looked for in two namespaces.
    for reads in 0..6 {
        let plane = Plane::default();
        shop.definitions.iter().for_each(|it| plane.put(it, ""));
        plane.put(
            &json!({
                "apiVersion": APPLICATION, "kind": "PolicyDefinition",
                "metadata": {"name": "grow", "namespace": "shop"},
                "spec": {
                    "scope": "Application",
                    "schematic": {"cue": {"template": "parameter: {}\noutput: components: [{name: \"part\", type: \"box\", properties: size: 9}]"}},
                },
            }),
            "",
        );
        plane.put(
            &json!({
                "apiVersion": APPLICATION, "kind": "Application",
                "metadata": {"namespace": "shop", "name": "late"},
                "spec": {
                    "components": [{"name": "part", "type": "box"}],
                    "policies": [{"name": "grow", "type": "grow"}],
                },
            }),
            "",
        );
        plane.hide("grow", reads);
        for _ in 0..4 {
            let engine = shop.engine(&plane);
            let _next = plane.run(reconcile(&engine, "shop", "late"));
            let snapshot = plane.snapshot();
            let part = &snapshot["|ConfigMap|shop|part"];
            assert!(part.is_null() || part["data"]["size"] == "9", "{reads} reads late: {part}");
        }
        let app = plane.find(&application("late")).expect("is there");
        assert_eq!(app["status"]["status"], "running", "{reads} reads late: {:#}", app["status"]);
    }
}
