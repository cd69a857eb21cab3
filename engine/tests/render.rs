//! An Application of our own definitions, rendered by the interpreter in this process.

use cue_session::NativeRuntime;
use lateen_engine::api::definition::StatusTemplates;
use lateen_engine::api::{Application, Definition};
use lateen_engine::render::{
    Context, Definitions, Library, NoActor, Request, Target, Templates, health, render,
};
use lateen_engine::{authoring, validate};
use serde_json::{Map, Value, json};

const BOX: &str = r#"
box: {type: "component", description: "a box", attributes: workload: definition: {apiVersion: "v1", kind: "ConfigMap"}}
template: {
	output: {apiVersion: "v1", kind: "ConfigMap", data: {size: "\(parameter.size)", app: context.appName}}
	outputs: lid: {apiVersion: "v1", kind: "Secret", metadata: name: context.name + "-lid"}
	parameter: {
		// +usage=How big
		size: *1 | int
	}
}
"#;

const TAG: &str = r#"
tag: {type: "trait", description: "a tag", attributes: {}}
template: {
	patch: metadata: annotations: tag: parameter.text
	outputs: note: {apiVersion: "v1", kind: "ConfigMap", data: of: context.output.data.app}
	if parameter.text == "" {errs: ["text is empty"]}
	parameter: text: string
}
"#;

/// Several containers, whole numbers that were computed, one by an operator of CUE up to 0.14, objects
/// numbered by a loop.
const PAIR: &str = r#"
pair: {type: "component", description: "two", attributes: workload: definition: {apiVersion: "apps/v1", kind: "Deployment"}}
template: {
	output: {
		apiVersion: "apps/v1"
		kind: "Deployment"
		spec: {replicas: 1.5 * 2, minReadySeconds: 7 div 2, template: spec: containers: [{name: "a"}, {name: "b"}]}
	}
	outputs: {
		for at, name in parameter.notes {
			if at > 0 {
				"note-\(at)": {apiVersion: "v1", kind: "ConfigMap", metadata: "name": name}
			}
		}
	}
	parameter: notes: [...string]
}
"#;

/// What it brings is what it asks for: CUE leaves that out, and what else there is stands.
const LATE: &str = r#"
late: {type: "component", description: "asks itself", attributes: workload: definition: {apiVersion: "v1", kind: "ConfigMap"}}
template: {
	output: {apiVersion: "v1", kind: "ConfigMap", data: size: "1"}
	if output.data.more != _|_ {output: data: more: "2"}
	parameter: {}
}
"#;

/// As the trait `lifecycle` does it.
const EACH: &str = r#"
each: {type: "trait", description: "all containers", attributes: {}}
template: {
	patch: spec: template: spec: containers: [...{image: parameter.image}]
	parameter: image: string
}
"#;

/// What it reads of its context those before it have not read.
const NUMBERED: &str = r#"
numbered: {type: "trait", description: "numbers", attributes: {}}
template: {
	outputs: numbers: {apiVersion: "v1", kind: "ConfigMap", data: {
		"of":  "\(context.appRevisionNum) \(context["componentType"]) \(context.parameter.size)"
		"for": context.outputs.lid.metadata.name
		if context.config != _|_ {more: context.config}
	}}
	parameter: {}
}
"#;

/// It goes through all of its context.
const LISTED: &str = r#"
listed: {type: "trait", description: "all keys", attributes: {}}
template: {
	outputs: keys: {apiVersion: "v1", kind: "ConfigMap", data: keys: [for k, v in context {k}]}
	parameter: {}
}
"#;

/// What it declares depends on what it is given.
const GUARDED: &str = r#"
guarded: {type: "component", description: "guards", attributes: workload: definition: {apiVersion: "v1", kind: "ConfigMap"}}
template: {
	output: {apiVersion: "v1", kind: "ConfigMap", data: kind: parameter.kind}
	parameter: {
		kind: *"plain" | "sized" | "odd"
		if kind == "sized" {
			size: int
			if size > 10 {
				reason: string
			}
		}
		"the-store"?: {
			path: string
			if path != "/" {owner: *"root" | string}
		}
		ports?: [...{
			name: string
			if name == "web" {host: string}
		}]
		probe: {http: string} | {tcp: int, wait: *1 | int}
	}
}
"#;

fn app(size: Value, text: &str) -> Application {
    let spec = json!({ "components": [{ "name": "one", "type": "box", "properties": { "size": size }, "traits": [{ "type": "tag", "properties": { "text": text } }] }] });
    serde_json::from_value(json!({
        "apiVersion": "core.oam.dev/v1beta1", "kind": "Application",
        "metadata": { "name": "shop", "namespace": "ns" }, "spec": spec,
    }))
    .expect("an Application")
}

fn definitions(runtime: &NativeRuntime) -> Definitions {
    let mut set = Definitions::default();
    for source in [BOX, TAG, PAIR, LATE, EACH, GUARDED, NUMBERED, LISTED] {
        let object = authoring::render(runtime, source).expect("a definition");
        set.insert(serde_json::from_value::<Definition>(object).expect("reads"));
    }
    set
}

fn rendered(app: &Application) -> Result<Vec<Target>, String> {
    let runtime = NativeRuntime::default();
    let set = definitions(&runtime);
    let request = Request {
        app,
        definitions: &set,
        policies: &[],
        workflows: &[],
        context: Context::of(app, "shop-v1"),
    };
    let (targets, error) =
        render(&request, Templates::new(&runtime, &Library::default()), &mut NoActor);
    error.map_or(Ok(targets), |error| Err(error.to_string()))
}

#[test]
fn objects_carry_names_labels_and_patches() {
    let targets = rendered(&app(json!(3), "red")).expect("renders");
    let component = &targets[0].components[0];
    let workload = &component.workload;
    assert_eq!(workload.pointer("/metadata/name"), Some(&json!("one")));
    assert_eq!(workload.pointer("/metadata/namespace"), Some(&json!("ns")));
    assert_eq!(workload.pointer("/metadata/annotations/tag"), Some(&json!("red")));
    assert_eq!(workload.pointer("/data/size"), Some(&json!("3")));
    assert_eq!(workload["metadata"]["labels"]["workload.oam.dev/type"], "box");
    let names: Vec<&str> = component.auxiliaries.iter().map(|it| it.resource.as_str()).collect();
    assert_eq!(names, ["lid", "note"]);
    let note = &component.auxiliaries[1].object;
    assert_eq!(note.pointer("/data/of"), Some(&json!("shop")));
    assert!(
        note["metadata"]["name"].as_str().is_some_and(|it| it.starts_with("one-tag-")),
        "{note}"
    );
}

#[test]
fn a_patch_of_each_element_reaches_all_numbers_are_whole_loops_keep_their_order() {
    let app = serde_json::from_value(json!({
        "apiVersion": "core.oam.dev/v1beta1", "kind": "Application", "metadata": {"name": "shop"},
        "spec": {"components": [{
            "name": "two", "type": "pair", "properties": {"notes": ["x", "z", "y"]},
            "traits": [{"type": "each", "properties": {"image": "i"}}],
        }]},
    }));
    let targets = rendered(&app.expect("an Application")).expect("renders");
    let component = &targets[0].components[0];
    let spec = &component.workload["spec"];
    assert_eq!(spec["replicas"].to_string(), "3");
    assert_eq!(spec["minReadySeconds"].to_string(), "3");
    assert_eq!(
        spec["template"]["spec"]["containers"],
        json!([{"image": "i", "name": "a"}, {"image": "i", "name": "b"}])
    );
    let names = component.auxiliaries.iter().map(|it| it.object["metadata"]["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["z", "y"]);
}

#[test]
fn a_template_that_asks_for_what_it_brings_is_rendered_without_that() {
    let mut app = app(json!(1), "x");
    app.spec.components.truncate(1);
    let late = json!({ "name": "one", "type": "late" });
    app.spec.components[0] = serde_json::from_value(late).expect("a component");
    let targets = rendered(&app).expect("it renders");
    assert_eq!(targets[0].components[0].workload["data"], json!({"size": "1"}));
}

#[test]
fn each_template_sees_of_its_context_what_it_reads() {
    let all = [
        "name",
        "namespace",
        "workflowName",
        "publishVersion",
        "appName",
        "appRevision",
        "appRevisionNum",
        "revision",
        "components",
        "appLabels",
        "appAnnotations",
        "replicaKey",
        "cluster",
        "clusterVersion",
        "parameter",
        "componentType",
        "output",
        "outputs",
    ];
    let said = json!({"of": "1 box 3", "for": "one-lid"});
    // Who goes through all of it finds all in order, whoever read what of it before.
    for traits in [["numbered", "listed"], ["listed", "numbered"]] {
        let mut app = app(json!(3), "red");
        let more = traits.map(|it| json!({"type": it, "properties": {}}));
        let more = more.map(|it| serde_json::from_value(it).expect("a trait"));
        app.spec.components[0].traits.extend(more);
        let targets = rendered(&app).expect("renders");
        let auxiliaries = &targets[0].components[0].auxiliaries;
        let data = |name: &str| {
            let found = auxiliaries.iter().find(|it| it.resource == name);
            found.expect("it is there").object["data"].clone()
        };
        assert_eq!(data("numbers"), said, "{traits:?}");
        assert_eq!(data("keys"), json!({"keys": all}), "{traits:?}");
    }
}

#[test]
fn a_refused_parameter_is_named() {
    let error = rendered(&app(json!("big"), "red")).expect_err("no number");
    assert!(
        error.contains("validation failed for workload one:") && error.contains("parameter.size"),
        "{error}"
    );
    let error = rendered(&app(json!(1), "")).expect_err("errs");
    assert!(
        error.contains("validation failed for trait tag:\n\nUser Errors:\n  text is empty"),
        "{error}"
    );
}

#[test]
fn admission_says_where() {
    let runtime = NativeRuntime::default();
    let set = definitions(&runtime);
    let mut app = app(json!(1), "red");
    app.spec.components.push(app.spec.components[0].clone());
    let request = Request {
        app: &app,
        definitions: &set,
        policies: &[],
        workflows: &[],
        context: Context::of(&app, ""),
    };
    let refusals = validate::application(
        &request,
        None,
        Templates::new(&runtime, &Library::default()),
        &mut NoActor,
    )
    .expect("no fault");
    assert_eq!(
        validate::message(&refusals),
        "\n  1) \"components[1].name\": duplicated component name one."
    );
}

fn advice(app: &Application) -> Vec<String> {
    let runtime = NativeRuntime::default();
    let set = definitions(&runtime);
    let request = Request {
        app,
        definitions: &set,
        policies: &[],
        workflows: &[],
        context: Context::of(app, ""),
    };
    let all = validate::advice(&request, Templates::new(&runtime, &Library::default()));
    all.expect("no fault").iter().map(ToString::to_string).collect()
}

#[test]
fn advice_names_what_nobody_declares_and_what_is_missing() {
    let mut app = app(json!(1), "red");
    app.spec.components[0].properties = Some(json!({ "sise": 1 }));
    app.spec.components[0].traits[0].properties = Some(json!({ "txt": "red" }));
    let mut unknown = app.spec.components[0].clone();
    unknown.r#type = "bix".into();
    unknown.traits.clear();
    app.spec.components.push(unknown);
    let said = advice(&app);
    assert_eq!(
        said,
        [
            "spec.components[0].properties.sise: undeclared parameter; did you mean size?",
            "spec.components[0].traits[0].properties.txt: undeclared parameter; did you mean text?",
            "spec.components[0].traits[0].properties.text: missing required parameter of type string",
            "spec.components[1].type: there is no ComponentDefinition bix; did you mean box?",
        ]
    );
}

#[test]
fn advice_knows_what_guards_declare_for_what_is_given() {
    let said = |properties: Value| -> Vec<String> {
        let mut app = app(json!(1), "red");
        app.spec.components[0].traits.clear();
        app.spec.components[0].r#type = "guarded".into();
        app.spec.components[0].properties = Some(properties);
        let all = advice(&app).into_iter();
        all.map(|it| it.replace("spec.components[0].properties.", "")).collect()
    };
    let undeclared = |at: &str| format!("{at}: undeclared parameter");
    let missing = |at: &str, kind: &str| format!("{at}: missing required parameter of type {kind}");
    let fine = json!({
        "kind": "sized", "size": 20, "reason": "much",
        "the-store": { "path": "/x", "owner": "me" },
        "ports": [{ "name": "web", "host": "a.example" }, { "name": "other" }],
        "probe": { "tcp": 80 },
    });
    assert_eq!(said(fine), [""; 0]);
    assert_eq!(
        said(
            json!({ "size": 20, "the-store": { "path": "/", "owner": "me" }, "probe": { "tcp": 80 } })
        ),
        [undeclared("size"), undeclared("the-store.owner")]
    );
    assert_eq!(
        said(json!({ "kind": "sized", "size": 20, "sise": 1, "probe": { "http": "/" } })),
        [undeclared("sise") + "; did you mean size?", missing("reason", "string")]
    );
    assert_eq!(
        said(json!({
            "kind": "sized", "probe": { "http": "/" },
            "ports": [{ "name": "other", "host": "a.example" }, { "name": "web" }],
        })),
        [
            undeclared("ports[0].host"),
            missing("ports[1].host", "string"),
            missing("size", "integer"),
        ]
    );
    // What is of another type than it should be is no less declared.
    assert_eq!(
        said(json!({ "kind": 1, "size": 2, "probe": { "http": "/" } })),
        [undeclared("size")]
    );
}

/// What a text lacks as a whole, in a `let` too, leaves no message; what a field of it lacks is that field's.
#[test]
fn a_status_message_is_there_unless_the_whole_text_lacks_something() {
    let runtime = NativeRuntime::default();
    let message = |text: &str| {
        let texts =
            StatusTemplates { custom_status: text.to_owned(), ..StatusTemplates::default() };
        let library = Library::default();
        let templates = Templates::new(&runtime, &library);
        health::evaluate(templates, &texts, &Map::new(), None).expect("it evaluates").message
    };
    assert_eq!(message("message: \"up\"\n"), "up");
    assert_eq!(message("message: \"up\"\nother!: string\n"), "up");
    assert_eq!(message("message: \"up\"\nother: string\n"), "up");
    let by_let = "let all = context.output.all\nif all == _|_ {message: \"none\"}\nif len(all) > 0 {message: \"some\"}\n";
    assert_eq!(message(by_let), "");
    assert_eq!(message("message: \"up\"\nif len(context.output) > 0 {more: 1}\n"), "");
}
