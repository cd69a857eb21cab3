//! WorkflowRuns from their creation to their end, round by round.

use cue_session::NativeRuntime;
use futures::executor::block_on;
use lateen_engine::api::crds;
use lateen_engine::reconcile::{Engine, reconcile_run};
use lateen_engine::render::{ClusterVersion, Library};
use lateen_engine::settings::Settings;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::fixture::library;

const MAKE: &str = r#"
import "vela/kube"
apply: kube.#Apply & {$params: value: {
	apiVersion: "v1"
	kind:       "ConfigMap"
	metadata: name: parameter.name
	data: {by: context.name, region: context.region, step: context.stepName}
}}
made: apply.$returns.value.metadata.name
parameter: name: string
"#;

const HOLD: &str = r#"
import "vela/builtin"
suspend: builtin.#Suspend & {$params: {}}
"#;

fn definition(name: &str, template: &str) -> Value {
    json!({
        "apiVersion": "core.oam.dev/v1beta1", "kind": "WorkflowStepDefinition",
        "metadata": {"name": name, "namespace": "vela-system"},
        "spec": {"schematic": {"cue": {"template": template}}},
    })
}

fn steps() -> Value {
    json!([
        {"name": "first", "type": "make", "properties": {"name": "one"}, "outputs": [{"name": "it", "valueFrom": "made + \"-more\""}]},
        {"name": "hold", "type": "hold"},
        {"name": "last", "type": "make", "inputs": [{"from": "it", "parameterKey": "name"}]},
    ])
}

fn run(spec: &Value) -> Value {
    json!({
        "apiVersion": "core.oam.dev/v1alpha1", "kind": "WorkflowRun",
        "metadata": {
            "name": "job", "namespace": "home", "uid": "0123-45678",
            "annotations": {"workflowrun.oam.dev/debug": "true"},
        },
        "spec": spec,
    })
}

fn cluster(spec: &Value, more: &[Value]) -> Cluster {
    let mut objects = vec![definition("make", MAKE), definition("hold", HOLD), run(spec)];
    objects.extend_from_slice(more);
    Cluster::new(&json!({"objects": objects}))
}

/// Reconciles until nothing but time or somebody else can change it; its status.
fn settle(cluster: &Cluster) -> Value {
    let (runtime, library) = (NativeRuntime::default(), library());
    let settings = Settings { retries: 2, ..Settings::default() };
    let engine = Engine {
        world: cluster,
        objects: cluster,
        runtime: &runtime,
        render_library: &Library::default(),
        step_library: &library,
        settings: &settings,
        cluster_version: ClusterVersion::default(),
        doubts: true,
    };
    for _ in 0..4 {
        block_on(reconcile_run(&engine, "home", "job")).expect("a reconcile");
        cluster.pass(1);
    }
    cluster.find(&run(&json!({}))).unwrap_or_default()["status"].take()
}

fn phases(status: &Value) -> Vec<&str> {
    let all = status["steps"].as_array().into_iter().flatten();
    all.filter_map(|it| it["phase"].as_str()).collect()
}

fn config_map(cluster: &Cluster, name: &str) -> Option<Value> {
    cluster.find(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "home"},
    }))
}

#[test]
fn a_run_suspends_is_resumed_and_ends() {
    let spec = json!({"context": {"region": "eu"}, "workflowSpec": {"steps": steps()}});
    let cluster = cluster(&spec, &[]);
    let status = settle(&cluster);
    assert_eq!(status["status"], "suspending", "{status}");
    assert_eq!(status["mode"], json!({"steps": "StepByStep", "subSteps": "DAG"}));
    assert_eq!(phases(&status), ["succeeded", "suspending"]);
    let one = config_map(&cluster, "one").expect("what the first step made");
    assert_eq!(one["data"], json!({"by": "job", "region": "eu", "step": "first"}));
    assert_eq!(one["metadata"]["labels"]["workflowrun.oam.dev/name"], "job");
    let store = config_map(&cluster, "workflow-job-context").expect("the context store");
    assert_eq!(store["data"]["vars"], "it: \"one-more\"\n");
    assert_eq!(store["metadata"]["ownerReferences"][0]["kind"], "WorkflowRun");
    let id = status["steps"][0]["id"].as_str().expect("an id");
    let debug = config_map(&cluster, &format!("job-{id}-debug-45678")).expect("debug output");
    let text = debug["data"]["debug"].as_str().unwrap_or_default();
    assert!(text.contains("made: \"one\""), "{text}");

    // The raw patch alone resumes (kubevela-observed.md 3).
    let mut resumed = run(&spec);
    resumed["status"] = json!({"suspend": false});
    cluster.merge(&json!([resumed]));
    let status = settle(&cluster);
    assert_eq!(status["status"], "succeeded", "{status}");
    assert_eq!(phases(&status), ["succeeded", "succeeded", "succeeded"]);
    assert!(config_map(&cluster, "one-more").is_some());
    assert_eq!(status["conditions"][0]["status"], "True");

    // An emptied status starts from the beginning.
    let mut restarted = run(&spec);
    restarted["status"] = Value::Null;
    cluster.merge(&json!([restarted]));
    assert_eq!(phases(&settle(&cluster)), ["succeeded", "suspending"]);

    // Long after its end a run goes.
    let mut resumed = run(&spec);
    resumed["status"] = json!({"suspend": false});
    cluster.merge(&json!([resumed]));
    assert_eq!(settle(&cluster)["finished"], true);
    cluster.pass(31 * 24 * 3600);
    settle(&cluster);
    assert!(cluster.find(&run(&spec)).is_none());
}

#[test]
fn a_run_of_a_workflow_object_is_terminated() {
    let workflow = json!({
        "apiVersion": "core.oam.dev/v1alpha1", "kind": "Workflow",
        "metadata": {"name": "shared", "namespace": "home"},
        "mode": {"steps": "DAG"},
        "steps": [{"name": "hold", "type": "hold"}, {"name": "also", "type": "hold"}],
    });
    let spec = json!({"workflowRef": "shared"});
    let cluster = cluster(&spec, &[workflow]);
    let status = settle(&cluster);
    assert_eq!(status["mode"]["steps"], "DAG", "{status}");
    assert_eq!(phases(&status), ["suspending", "suspending"]);
    let mut terminated = run(&spec);
    terminated["status"] = json!({"terminated": true});
    cluster.merge(&json!([terminated]));
    let status = settle(&cluster);
    assert_eq!((&status["status"], &status["finished"]), (&json!("terminated"), &json!(true)));
    assert_eq!(phases(&status), ["failed", "failed"]);
}

#[test]
fn what_cannot_run_says_so() {
    for (spec, message) in [
        (json!({"workflowRef": "no"}), "workflows.core.oam.dev \"no\" not found"),
        (
            json!({"workflowSpec": {"steps": [{"name": "a", "type": "unknown"}]}}),
            "there is no WorkflowStepDefinition named unknown",
        ),
    ] {
        let status = settle(&cluster(&spec, &[]));
        let said = status["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{said}");
        assert_eq!(status["conditions"][0]["status"], "False");
    }
    let spec = json!({"workflowSpec": {"steps": [
        {"name": "a", "type": "apply-component", "properties": {"component": "web"}},
        {"name": "b", "type": "hold", "if": "always", "timeout": "1s"},
    ]}});
    let status = settle(&cluster(&spec, &[]));
    assert_eq!(phases(&status)[0], "failed", "{status}");
}

#[test]
fn the_kind_is_installed() {
    let all = crds();
    let found = all.iter().find(|it| it["spec"]["names"]["kind"] == "WorkflowRun");
    let found = found.expect("a CustomResourceDefinition");
    assert_eq!(found["spec"]["versions"][0]["name"], "v1alpha1");
    assert!(found["spec"]["versions"][0]["subresources"]["status"].is_object());
}
