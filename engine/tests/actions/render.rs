//! Actions of components and traits: rendering asks, the cluster answers, rendering goes on.

use cue_session::NativeRuntime;
use futures::executor::block_on;
use lateen_engine::render::{Library, NoActor, Process, Templates};
use lateen_engine::workflow::actions::rendering::rendered;
use serde_json::{Map, Value, json};

use crate::cluster::Cluster;
use crate::fixture::{files, folder};

fn library() -> Library {
    files(&folder("../definitions/op-render/vela"), "cue")
        .into_iter()
        .map(|(name, text)| (format!("vela/{name}"), text))
        .collect()
}

/// The workload of `template`, or why there is none; the cluster afterwards.
fn render(template: &str, world: &Value) -> (Result<Value, String>, Cluster) {
    let (runtime, library) = (NativeRuntime::default(), library());
    let cluster = Cluster::new(world);
    let result = block_on(rendered(&cluster, "home", |actor| {
        let mut process = Process::new(Templates::new(&runtime, &library), Map::new());
        process.workload("web", "web", template, Some(&json!({})), actor)?;
        Ok::<_, lateen_engine::render::Error>(process.finish()?.base.unwrap_or_default())
    }));
    (result, cluster)
}

#[test]
fn what_is_in_the_cluster_shapes_the_workload() {
    let template = r#"
        import ("vela/kube", "vela/http", "vela/base64", "vela/cue", "vela/config")
        of: {apiVersion: "v1", kind: "ConfigMap"}
        settings: kube.#Get & {$params: resource: of & {metadata: name: "settings"}}
        all: kube.#List & {$params: {resource: of, filter: namespace: "home"}}
        made: kube.#Apply & {$params: resource: of & {metadata: name: "made", data: a: settings.$returns.data.a}}
        changed: kube.#Patch & {$params: {resource: of & {metadata: name: "made"}, patch: {type: "merge", data: data: b: "2"}}}
        page: http.#Post & {$params: {url: "http://h/x", request: {body: "q", header: Accept: ["text/plain", "*/*"]}}}
        coded: base64.#Encode & {$params: "hello"}
        plain: base64.#Decode & {$params: coded.$returns}
        laid: cue.#StrategyUnify & {$params: {
            value: list: [{name: "a", v: 1}, {name: "b", v: 2}]
            patch: {
                // +patchKey=name
                list: [{name: "b", w: 3}]
            }
        }}
        registry: config.#ImageRegistry & {$params: registry: "r.io"}
        charts: config.#HelmRepository & {$params: url: "https://c.io/"}
        output: of & {
            metadata: name: "out"
            data: {
                a:     settings.$returns.data.a
                count: "\(len(all.$returns.items))"
                b:     changed.$returns.data.b
                its_page:  page.$returns.body
                its_coded: coded.$returns
                its_plain: plain.$returns
                its_laid:  "\(laid.$returns.list[1].v + laid.$returns.list[1].w)"
                ok:    "\(registry.$returns.result) \(charts.$returns.result) \(charts.$returns.message)"
            }
        }
        parameter: {...}
    "#;
    let world = json!({
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "home"}, "data": {"a": "1"}}],
        "answers": {"http://h/x": {"body": "page"}, "https://r.io/v2/": {"status": 401}, "https://c.io/index.yaml": {"status": 404}},
    });
    let (result, cluster) = render(template, &world);
    let output = result.expect("a workload");
    assert_eq!(
        output["data"],
        json!({
            "a": "1", "count": "1", "b": "2", "its_page": "page", "its_coded": "aGVsbG8=", "its_plain": "hello", "its_laid": "5",
            "ok": "true false https://c.io/index.yaml answers 404",
        })
    );
    let requests = cluster.requests();
    let posts: Vec<&Value> =
        requests.as_array().into_iter().flatten().filter(|it| it["method"] == "POST").collect();
    assert_eq!(posts.len(), 1, "an answer is asked for once");
    assert_eq!(posts[0]["headers"], json!(["Accept: text/plain", "Accept: */*"]));
    let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made", "namespace": "home"}});
    assert_eq!(cluster.find(&made).expect("made")["data"], json!({"a": "1", "b": "2"}));
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    for (template, message) in [
        (
            r#"a: kube.#Get & {$params: resource: {apiVersion: "v1", kind: "Secret", metadata: name: "no"}}"#,
            "secrets \"no\" not found",
        ),
        (
            r#"a: kube.#Get & {$params: resource: {apiVersion: "v1", kind: "Secret", metadata: name: parameter.name}}"#,
            "name",
        ),
        (
            r#"a: kube.#Patch & {$params: {resource: {apiVersion: "v1", kind: "Secret", metadata: name: "x"}, patch: {type: "merge"}}}"#,
            "incomplete",
        ),
        (
            r#"a: {#do: "fly", #provider: "kube", $params: {}}"#,
            "function fly not found in provider kube",
        ),
        (r#"a: base64.#Decode & {$params: "!"}"#, "a: "),
    ] {
        let text = format!(
            "import (\"vela/kube\", \"vela/base64\")\n{template}\n_b: base64.#Encode & {{$params: \"x\"}}\n_k: kube.#List\noutput: {{kind: \"x\"}}\nparameter: {{...}}\n"
        )
        .replace("_k: kube.#List\n", "_k: kube.#List & {$params: resource: {apiVersion: \"v1\", kind: \"Pod\"}}\n");
        let (result, _) = render(&text, &json!({}));
        let error = result.expect_err(template);
        assert!(error.contains(message), "{template}: {error}");
    }
}

#[test]
fn without_a_cluster_nothing_is_asked() {
    let (runtime, library) = (NativeRuntime::default(), library());
    let mut process = Process::new(Templates::new(&runtime, &library), Map::new());
    let template = "import \"vela/kube\"\na: kube.#List & {$params: resource: {apiVersion: \"v1\", kind: \"Pod\"}}\noutput: {kind: \"x\"}\n";
    assert!(process.workload("web", "web", template, None, &mut NoActor).is_err());
}
