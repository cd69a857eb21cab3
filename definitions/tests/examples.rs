//! Does every example name only what there is: types with a definition, inputs that some step gives,
//! components that the workflow applies?
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lateen_definitions::Kind;
use serde_json::Value;

/// Types the engine knows without a definition.
const BUILT_IN: [&str; 1] = ["builtin-apply-component"];

#[test]
fn an_example_names_only_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut seen = 0;
    for folder in fs::read_dir(&root).unwrap().map(|it| it.unwrap().path()) {
        let Ok(text) = fs::read_to_string(folder.join("app.yaml")) else { continue };
        let app: Value = serde_yaml::from_str(&text).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert_eq!(app["metadata"]["name"], name, "an example is called as its folder");
        let readme = fs::read_to_string(root.join("README.md")).unwrap();
        assert!(
            readme.contains(&format!("[{name}]({name}/")),
            "{name} is not in examples/README.md"
        );
        types(&app, &folder);
        flow(&app, name);
        seen += 1;
    }
    assert!(seen > 10, "{seen} examples");
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Steps and steps of groups, in order.
fn steps(app: &Value) -> Vec<&Value> {
    let top = list(&app["spec"]["workflow"], "steps");
    top.iter().flat_map(|step| std::iter::once(step).chain(list(step, "subSteps"))).collect()
}

fn types(app: &Value, folder: &Path) {
    let own = |name: &str| folder.join(format!("definitions/{name}.cue")).is_file();
    let known = |kind: Kind, name: &str| {
        let there = BUILT_IN.contains(&name)
            || own(name)
            || lateen_definitions::definition(kind, name).is_some();
        assert!(there, "{}: no {} {name}", folder.display(), kind.header());
    };
    for component in list(&app["spec"], "components") {
        known(Kind::Component, text(component, "type"));
        for it in list(component, "traits") {
            known(Kind::Trait, text(it, "type"));
        }
    }
    for policy in list(&app["spec"], "policies") {
        known(Kind::Policy, text(policy, "type"));
    }
    for step in steps(app) {
        known(Kind::WorkflowStep, text(step, "type"));
    }
}

fn flow(app: &Value, example: &str) {
    let components: BTreeSet<_> =
        list(&app["spec"], "components").iter().map(|it| text(it, "name")).collect();
    // Components may come from steps before rendering.
    let early = steps(app).iter().any(|step| text(step, "stage") == "pre-render");
    let mut given = BTreeSet::new();
    let mut applied = BTreeSet::new();
    for step in steps(app) {
        let name = text(step, "name");
        for input in list(step, "inputs") {
            let from = text(input, "from");
            assert!(
                from.starts_with("context.") || given.contains(from),
                "{example}: step {name} takes {from}"
            );
        }
        given.extend(list(step, "outputs").iter().map(|it| text(it, "name")));
        if text(step, "type") == "apply-component" {
            let component = text(&step["properties"], "component");
            let known = early || components.contains(component);
            assert!(known, "{example}: step {name} applies {component}");
            applied.insert(component);
        }
    }
    if !applied.is_empty() && !early {
        assert_eq!(applied, components, "{example}: every component is applied");
    }
}
