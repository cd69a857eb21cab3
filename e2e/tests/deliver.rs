//! Applications through the built binary: up, status, ls, dry-run, def, revision, workflow, delete.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::{Home, Plane};

const WEB: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: web}
spec:
  components:
    - name: web
      type: webservice
      properties: {image: 'nginx:1.27', ports: [{port: 80, expose: true}]}
";

const HELD: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: held}
spec:
  components:
    - {name: note, type: k8s-objects, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: held-note}, data: {a: b}}]}}
  workflow:
    steps:
      - {name: first, type: suspend}
      - {name: note, type: apply-component, properties: {component: note}}
      - {name: second, type: suspend}
";

/// One plane for all of it: starting is what takes time.
#[test]
fn the_life_of_applications() {
    let plane = Plane::start().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| forms_of_status(&plane));
        scope.spawn(|| workflows_are_steered(&plane));
        scope.spawn(|| a_raw_patch_resumes(&plane));
        scope.spawn(|| definitions_come_and_go(&plane));
    });
}

fn forms_of_status(plane: &Plane) {
    // Two documents on stdin, one of them no Application.
    let space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n---\n";
    let told = plane.lateen_with(&["up", "-f", "-"], &format!("{space}{WEB}"));
    assert!(told.out.contains("default/web running  web-v1"), "{told:?}");
    let person = plane.lateen(&["status", "web"]).ok();
    assert!(person.contains("web healthy  Ready:1/1"), "{person}");
    let tree = plane.lateen(&["status", "web", "--tree"]).ok();
    for line in
        ["├─ Deployment/web healthy  1/1 ready", "ReplicaSet/web-", "Pod/web-", "Service/web"]
    {
        assert!(tree.contains(line), "no {line} in\n{tree}");
    }
    let json = plane.lateen(&["status", "web", "-o", "json"]).ok();
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(object["status"]["status"], "running");
    let yaml = plane.lateen(&["status", "web", "-o", "yaml"]).ok();
    let same: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(same["spec"], object["spec"]);
    let one = plane.lateen(&["status", "web", "-o", "jsonpath={.status.services[0].name}"]).ok();
    assert_eq!(one, "web");
    let table = plane.lateen(&["ls"]).ok();
    assert!(table.starts_with("NAMESPACE") && table.contains("web"), "{table}");
    let revisions = plane.lateen(&["revision", "list", "web"]).ok();
    assert!(revisions.contains("web-v1"), "{revisions}");

    // A change makes a second revision; the same again makes none.
    let changed = WEB.replace("1.27", "1.28");
    for _ in 0..2 {
        plane.lateen_with(&["up", "-f", "-"], &changed).ok();
    }
    let form = "jsonpath={.items[*].metadata.name}";
    let names = plane.lateen(&["revision", "list", "web", "-o", form]).ok();
    assert_eq!(names, "web-v1 web-v2");

    let file = plane.home.file("web.yaml", &changed);
    let file = file.to_str().unwrap();
    assert_eq!(plane.lateen(&["delete", "-f", file]).ok(), "application web deleted\n");
    plane.lateen(&["delete", "web"]).refused(1, &["there is no Application web"]);
    plane.lateen(&["status", "web"]).refused(2, &["there is no Application web"]);
}

fn workflows_are_steered(plane: &Plane) {
    let text = HELD.replace("held", "steered");
    plane.lateen_with(&["up", "--no-wait", "-f", "-"], &text).ok();
    plane.until("steered", "{.status.status}", "workflowSuspending");
    plane
        .lateen(&["workflow", "resume", "steered", "--step", "frist"])
        .refused(2, &["no step frist", "first"]);
    let told = plane.lateen(&["workflow", "resume", "steered"]).ok();
    assert_eq!(told, "workflow of steered resumed\n");
    plane.until("steered", "{.status.workflow.steps[2].phase}", "suspending");
    plane.lateen(&["workflow", "terminate", "steered"]).ok();
    plane.until("steered", "{.status.status}", "workflowTerminated");
    plane.lateen(&["workflow", "resume", "steered"]).refused(2, &["terminated; restart it"]);
    plane.lateen(&["workflow", "restart", "steered"]).ok();
    plane.until("steered", "{.status.workflow.steps[0].phase}", "suspending");
    plane.lateen(&["workflow", "resume", "steered"]).ok();
    plane.until("steered", "{.status.workflow.steps[2].phase}", "suspending");
    plane.lateen(&["workflow", "resume", "steered"]).ok();
    plane.until("steered", "{.status.status}", "running");
    plane.lateen(&["workflow", "suspend", "steered"]).refused(2, &["finished already"]);
    assert!(plane.lateen(&["delete", "steered"]).ok().contains("deleted"));
}

/// What other tools write: only the flag, on the status, twice.
fn a_raw_patch_resumes(plane: &Plane) {
    let Some(kubectl) = lateen_e2e::bench::kubectl() else {
        eprintln!("no kubectl: resuming by a raw patch is left out");
        return;
    };
    plane.lateen_with(&["up", "--no-wait", "-f", "-"], &HELD.replace("held", "raw")).ok();
    let patch = ["patch", "app", "raw", "--subresource=status", "--type=merge", "-p"];
    let patch = [patch.as_slice(), &["{\"status\":{\"workflow\":{\"suspend\":false}}}"]].concat();
    for step in ["0", "2"] {
        let phase = format!("{{.status.workflow.steps[{step}].phase}}");
        plane.until("raw", &phase, "suspending");
        plane.kubectl(&kubectl, &patch, "").ok();
        plane.until("raw", &phase, "succeeded");
    }
    plane.until("raw", "{.status.status}", "running");
}

fn definitions_come_and_go(plane: &Plane) {
    let folder = "examples/own-definitions/definitions";
    assert!(plane.lateen(&["def", "apply", folder]).ok().contains("applied"));
    let list = plane.lateen(&["def", "list"]).ok();
    assert!(list.contains("webservice") && list.contains("ComponentDefinition"), "{list}");
    let name = "jsonpath={.metadata.name}";
    assert_eq!(plane.lateen(&["def", "get", "webservice", "-o", name]).ok(), "webservice");
    plane.lateen(&["def", "get", "webservce"]).refused(2, &["did you mean webservice?"]);
}

/// What an upgrade would change is shown before it is written.
#[test]
fn upgrades_of_definitions_are_shown_and_written() {
    let home = Home::new();
    let text = "old: {type: \"component\", description: \"\", annotations: {}, labels: {}, attributes: workload: type: \"x\"}\n\
         template: {\n\toutput: args: [\"a\"] + parameter.more\n\tparameter: more: [...string]\n}\n";
    let file = home.file("old.cue", text);
    let name = file.to_str().unwrap();
    let shown = home.lateen(&["def", "upgrade", "--diff", name]).ok();
    assert!(shown.contains("-\toutput: args: [\"a\"] + parameter.more\n+"), "{shown}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
    home.lateen(&["def", "upgrade", "--validate", "--diff", name]).refused(1, &["list.Concat"]);
    let written = home.lateen(&["def", "upgrade", "--write", "--diff", name]).ok();
    assert_eq!(written, shown);
    assert!(home.lateen(&["def", "upgrade", "--validate", "--diff", name]).ok().is_empty());
}

/// What KubeVela's CUE has between operands, and today's has not.
#[test]
fn definitions_with_older_operators_are_vetted_and_rendered() {
    let home = Home::new();
    let definition = home.file(
        "half.cue",
        "half: {type: \"component\", description: \"\", annotations: {}, labels: {}, attributes: workload: \
         definition: {apiVersion: \"v1\", kind: \"ConfigMap\"}}\n\
         template: {\n\toutput: {apiVersion: \"v1\", kind: \"ConfigMap\", data: half: \"\\(parameter.n div 2)\"}\n\
         \tparameter: n: int\n}\n",
    );
    let definition = definition.to_str().unwrap();
    let own = home.file(
        "half.yaml",
        "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: half}\n\
         spec: {components: [{name: part, type: half, properties: {n: 7}}]}\n",
    );
    assert!(home.lateen(&["def", "vet", definition]).ok().contains("ok"));
    let own = own.to_str().unwrap();
    let text = home.lateen(&["dry-run", "--offline", "-d", definition, "-f", own]).ok();
    assert!(text.contains("half: \"3\""), "{text}");
}

#[test]
fn rendering_needs_no_cluster() {
    let home = Home::new();
    let file = home.file("web.yaml", WEB);
    let file = file.to_str().unwrap();
    let text = home.lateen(&["dry-run", "--offline", "-f", file]).ok();
    for part in ["kind: Deployment", "image: nginx:1.27", "kind: Service"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let definition = home.file(
        "note.cue",
        "note: {\n\ttype: \"component\"\n\tattributes: workload: definition: {\n\t\tapiVersion: \
         \"v1\"\n\t\tkind: \"ConfigMap\"\n\t}\n}\ntemplate: {\n\toutput: {\n\t\tapiVersion: \
         \"v1\"\n\t\tkind: \"ConfigMap\"\n\t\tdata: text: parameter.text\n\t}\n\tparameter: text: \
         string\n}\n",
    );
    let definition = definition.to_str().unwrap();
    assert!(home.lateen(&["def", "vet", definition]).ok().contains("ok"));
    let object = home.lateen(&["def", "render", definition]).ok();
    assert!(object.contains("kind: ComponentDefinition"), "{object}");
    let own = home.file(
        "own.yaml",
        &WEB.replace("webservice", "note").replace("image: 'nginx:1.27'", "text: hi"),
    );
    let own = own.to_str().unwrap();
    let text = home.lateen(&["dry-run", "--offline", "-d", definition, "-f", own]).ok();
    assert!(text.contains("text: hi"), "{text}");
}

#[test]
fn completion_and_help_are_there() {
    let home = Home::new();
    assert!(home.lateen(&["completion", "bash"]).ok().contains("_lateen"));
    assert!(home.lateen(&["--help"]).ok().contains("lateen up -f app.yaml"));
    assert!(home.lateen(&["version"]).ok().contains("lateen"));
    home.lateen(&["statsu"]).refused(2, &["status"]);
}
