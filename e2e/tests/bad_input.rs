//! What users get wrong: a clear error that names the thing and its place, and nothing is lost.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::{Answer, Home, Plane};

/// Name, the file, exit code, words of the message.
struct Case(&'static str, String, i32, &'static [&'static str]);

fn app(components: &str) -> String {
    format!(
        "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {{name: bad}}\nspec:\n  \
         components:\n{components}"
    )
}

/// Refused before anything reaches the cluster, or by it; the Application that was there stays.
fn refused_by_up() -> Vec<Case> {
    let web = "    - {name: web, type: webservice, properties: {image: nginx}";
    vec![
        Case(
            "broken-yaml",
            "kind: A\nmetadata:\n  name: x\n   bad: y\n".into(),
            2,
            &["broken-yaml.yaml:4:7: document 1 is no valid YAML"],
        ),
        Case(
            "second-document",
            "---\nkind: A\n---\n- x\n".into(),
            2,
            &["document 2 is no object but a list"],
        ),
        Case(
            "no-kind",
            "apiVersion: v1\nmetadata: {name: x}\n".into(),
            2,
            &["no-kind.yaml: document 1 has no kind"],
        ),
        Case(
            "no-name",
            "apiVersion: v1\nkind: ConfigMap\n".into(),
            2,
            &["no-name.yaml: document 1 has no metadata.name"],
        ),
        Case(
            "kind",
            "apiVersion: v1\nkind: Servise\nmetadata: {name: x}\n".into(),
            2,
            &["document 1: there is no kind Servise in v1; did you mean Service?"],
        ),
        Case(
            "component-type",
            app("    - {name: web, type: webservise}\n"),
            2,
            &[
                "document 1: spec.components[0].type: there is no ComponentDefinition named webservise",
                "did you mean webservice?",
            ],
        ),
        Case(
            "trait-type",
            app(&format!("{web}, traits: [{{type: scalr}}]}}\n")),
            2,
            &[
                "spec.components[0].traits[0].type: there is no TraitDefinition named scalr",
                "did you mean scaler?",
            ],
        ),
        Case(
            "step-type",
            app(&format!("{web}}}\n  workflow: {{steps: [{{name: a, type: supsend}}]}}\n")),
            2,
            &["spec.workflow.steps[0].type", "supsend", "did you mean suspend?"],
        ),
        Case(
            "field",
            app("    - {name: web, type: webservice, propertys: {image: nginx}}\n"),
            2,
            &["field.yaml: document 1: Application bad:", ".spec.components[0].propertys"],
        ),
    ]
}

/// Accepted by the cluster; the Application says what is wrong, what ran before goes on.
fn reported_by_status() -> Vec<Case> {
    vec![
        Case(
            "missing",
            app("    - {name: web, type: webservice, properties: {}}\n"),
            1,
            &["component web", "parameter.image", "--> webservice.cue:"],
        ),
        Case(
            "wrong",
            app("    - {name: web, type: webservice, properties: {image: nginx, cpu: 1}}\n"),
            1,
            // In the file, and in the definition that the cluster has.
            &[
                "web",
                "parameter.cpu",
                "conflicting values string and 1",
                ".yaml:6:",
                "webservice.cue:",
            ],
        ),
        Case(
            "trait-conflict",
            app("    - {name: web, type: webservice, properties: {image: nginx}, traits: [\
                 {type: clash}]}\n"),
            1,
            &["clash", "conflicting values"],
        ),
    ]
}

/// A trait that wants another image than the component has.
const CLASH: &str = "\
clash: {
	type: \"trait\"
	attributes: appliesToWorkloads: [\"*\"]
}
template: {
	patch: spec: template: spec: {
		// +patchKey=name
		containers: [{name: context.name, image: \"other\"}]
	}
	parameter: {}
}
";

const GOOD: &str = "    - {name: web, type: webservice, properties: {image: 'nginx:1.27'}}\n";

#[test]
fn nothing_is_lost_to_bad_input() {
    let plane = Plane::start().unwrap();
    let clash = plane.home.file("clash.cue", CLASH);
    plane.lateen(&["def", "apply", clash.to_str().unwrap()]).ok();
    let good = plane.home.file("good.yaml", &app(GOOD));
    let good = good.to_str().unwrap();
    plane.lateen(&["up", "-f", good]).ok();
    let up = |it: &Case| -> Answer {
        let file = plane.home.file(&format!("{}.yaml", it.0), &it.1);
        plane.lateen(&["up", "--timeout", "20", "-f", file.to_str().unwrap()])
    };
    for it in refused_by_up() {
        up(&it).refused(it.2, it.3);
        let generation = plane.lateen(&["status", "bad", "-o", "jsonpath={.metadata.generation}"]);
        assert_eq!(generation.ok(), "1", "{} changed the Application", it.0);
    }
    for it in reported_by_status() {
        up(&it).refused(it.2, it.3);
        let tree = plane.lateen(&["status", "bad", "--tree"]);
        assert!(tree.out.contains("Deployment/web healthy"), "{}: {tree:?}", it.0);
        assert_eq!(tree.err.contains("webservice.cue:"), it.0 != "trait-conflict", "{tree:?}");
        plane.lateen(&["up", "-f", good]).ok();
    }
    // Someone else's port.
    let listen = format!("127.0.0.1:{}", plane.port);
    let second = plane.home.lateen(&["local", "serve", "--ephemeral", "--listen", &listen]);
    second.refused(2, &["cannot listen on", &listen]);
}

#[test]
fn cue_is_told_with_its_place() {
    let home = Home::new();
    let broken = home.file("broken.cue", "a: {\n\tb: [1, 2\n}\n");
    home.lateen(&["def", "vet", broken.to_str().unwrap()]).refused(1, &["broken.cue:3:1\n"]);
    home.lateen(&["def", "render", broken.to_str().unwrap()]).refused(2, &["broken.cue:3:1\n"]);
    let sum = home.file("sum.cue", "a: {\n\tb: [1] + [2\n}\n");
    home.lateen(&["def", "upgrade", sum.to_str().unwrap()])
        .refused(2, &["failed to parse CUE for upgrade", "sum.cue:3:1\n"]);
    let header = "\n\n// Of ours.\nbox: {\n\ttype: \"componnt\"\n\tlabels: \"a\": \"b\" & parm\n}\ntemplate: {}\n";
    let header = home.file("header.cue", header);
    let header = header.to_str().unwrap();
    let wanted = [
        "error[cue/load]: box.labels.a: reference \"parm\" not found",
        "header.cue:6:21\n",
        "& parm\n",
    ];
    home.lateen(&["def", "vet", header]).refused(1, &wanted);
    home.lateen(&["def", "render", header]).refused(2, &wanted);
    home.lateen(&["dry-run", "--offline", "-d", header]).refused(2, &wanted);
    let text = std::fs::read_to_string(header).expect("the file").replace(" & parm", "");
    std::fs::write(header, text).expect("the file");
    let wanted = [
        "error[definition]: invalid type componnt",
        "header.cue:5:8\n",
        "did you mean \"component\"?",
    ];
    home.lateen(&["def", "render", header]).refused(2, &wanted);
    let conflict = home.file("conflict.cue", "a: 1\na: 2\n");
    let conflict = conflict.to_str().unwrap();
    home.lateen(&["cue", "export", conflict])
        .refused(1, &["a: conflicting values 2 and 1", "conflict.cue:1:4", "conflict.cue:2:4"]);
}

#[test]
fn a_template_that_cannot_hold_is_shown_where_its_author_wrote_it() {
    let home = Home::new();
    let definition = home.file(
        "box.cue",
        "box: {\n\ttype: \"component\"\n\tattributes: workload: type: \"autodetects.core.oam.dev\"\n}\n\
         template: {\n\toutput: {apiVersion: \"v1\", kind: \"ConfigMap\", data: a: paramter.x}\n\
         \tparameter: {x: string, mode: *\"fast\" | \"safe\"}\n}\n",
    );
    let warned = home.lateen(&["def", "vet", definition.to_str().unwrap()]);
    assert!(warned.err.contains("warning[cue/load]: template.output.data.a: "), "{}", warned.err);
    assert!(warned.ok().contains("ok"));
    home.lateen(&["def", "vet", "--strict", definition.to_str().unwrap()]).refused(
        1,
        &[
            "template.output.data.a: reference \"paramter\" not found",
            "box.cue:6:57",
            "output: {apiVersion",
            "did you mean \"parameter\"?",
        ],
    );
    let text = std::fs::read_to_string(&definition).expect("the file");
    std::fs::write(&definition, text.replace("paramter", "parameter")).expect("the file");
    assert!(home.lateen(&["def", "vet", definition.to_str().unwrap()]).ok().contains("ok"));
    let file = home
        .file("app.yaml", &app("    - {name: web, type: box, properties: {x: 80, mode: saef}}\n"));
    home.lateen(&[
        "dry-run",
        "--offline",
        "-f",
        file.to_str().unwrap(),
        "-d",
        definition.to_str().unwrap(),
    ])
    .refused(
        1,
        &[
            "Parameter errors:",
            "properties: {x: 80, mode: saef}}",
            "box.cue:2:16",
            "did you mean \"safe\"?",
            "what it may be: \"fast\", \"safe\"",
        ],
    );
}

#[test]
fn a_parameter_that_is_called_nearly_like_a_declared_one_is_told() {
    let home = Home::new();
    let definition = |read: &str| {
        let text = format!(
            "box: {{\n\ttype: \"component\"\n\tattributes: workload: type: \"autodetects.core.oam.dev\"\n}}\n\
             template: {{\n\toutput: {{apiVersion: \"v1\", kind: \"ConfigMap\", data: a: parameter.{read}}}\n\
             \tparameter: {{replicas: string, other?: string}}\n}}\n"
        );
        home.file("box.cue", &text).to_str().unwrap().to_owned()
    };
    let warned = home.lateen(&["def", "vet", &definition("replcas")]);
    let place = ["undefined field: replcas", "box.cue:6:67", "did you mean \"replicas\"?"];
    assert!(place.iter().all(|it| warned.err.contains(it)), "{}", warned.err);
    assert!(warned.ok().contains("ok"));
    for fine in ["replicas", "other", "elsewhere"] {
        assert_eq!(home.lateen(&["def", "vet", &definition(fine)]).err, "", "{fine}");
    }
}

#[test]
fn errors_of_cue_are_told_as_asked() {
    let home = Home::new();
    let file = home.file("a.cue", "#A: {port: int}\nx: #A & {prot: 1}\n");
    let file = file.to_str().unwrap();
    let plain = home.lateen(&["cue", "vet", file]);
    assert!(!plain.err.contains("did you mean"), "{}", plain.err);
    plain.refused(1, &["x.prot: field not allowed:\n    ", "a.cue:2:10"]);
    home.lateen(&["cue", "vet", file, "--errors", "excerpts"]).refused(
        1,
        &["error[cue/eval]: x.prot: field not allowed", "^^^^", "did you mean \"port\"?"],
    );
    let json = home.lateen(&["cue", "vet", file, "--errors=json"]);
    let told: serde_json::Value = serde_json::from_str(&json.err).expect("JSON");
    assert_eq!(told["errors"][0]["hints"][0], "did you mean \"port\"?");
    assert_eq!(told["errors"][0]["places"][0]["end"], 14);
}

/// What loops hold while they run counts: the budget's error with the place, not the sandbox's end.
#[test]
fn loops_in_loops_end_in_the_budget_of_memory() {
    const LOOPS: &str = include_str!("../../cue-runtime/eval/tests/cases/endless/nested_loops.cue");
    let home = Home::new();
    let file = home.file("loops.cue", LOOPS);
    home.lateen(&["cue", "export", file.to_str().unwrap()])
        .refused(1, &["a: evaluation exceeds its budget of memory (768 MiB)", "loops.cue:5:4"]);
}

#[test]
fn rendering_offline_tells_the_same() {
    let home = Home::new();
    let dry = |name: &str, text: &str| {
        let file = home.file(name, text);
        home.lateen(&["dry-run", "--offline", "-f", file.to_str().unwrap()])
    };
    for it in reported_by_status().iter().take(2) {
        dry("a.yaml", &it.1).refused(it.2, it.3);
    }
    dry("b.yaml", &app("    - {name: web, type: webservise}\n")).refused(1, &["web", "webservise"]);
    dry("c.yaml", "apiVersion: core.oam.dev/v1beta1\nkind: Aplication\n")
        .refused(2, &["c.yaml: document 1", "\"Aplication\"", "did you mean Application?"]);
    dry("d.yaml", "").refused(2, &["the files are empty"]);
    home.lateen(&["dry-run", "--offline", "-f", "absent.yaml"])
        .refused(2, &["absent.yaml: No such"]);
}

#[test]
fn places_that_cannot_be_used_are_named() {
    let home = Home::new();
    // A file where the folder of the state should be: modes mean nothing to root.
    let file = home.file("taken", "");
    let state = file.join("plane.redb");
    let state = state.to_str().unwrap();
    let serve = ["local", "serve", "--listen", "127.0.0.1:0", "--state"];
    home.lateen(&[&serve[..], &[state]].concat()).refused(2, &["taken", "exists"]);
    let damaged = home.file("damaged.redb", "this is no database");
    let damaged = damaged.to_str().unwrap();
    home.lateen(&[&serve[..], &[damaged]].concat()).refused(2, &["damaged.redb"]);
    assert_eq!(std::fs::read_to_string(damaged).unwrap(), "this is no database");
    // Nobody listens there.
    let nowhere = "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: \
                   'http://127.0.0.1:9'}}]\ncontexts: [{name: a, context: {cluster: a, user: \
                   a}}]\nusers: [{name: a, user: {}}]\ncurrent-context: a\n";
    let nowhere = home.file("nowhere.yaml", nowhere);
    let nowhere = nowhere.to_str().unwrap();
    for command in [["ls"].as_slice(), &["status", "x"], &["install"], &["delete", "x"]] {
        let answer = home.lateen(&[command, &["--kubeconfig", nowhere]].concat());
        answer.refused(3, &["the Kubernetes API at http://127.0.0.1:9/ cannot be reached"]);
    }
    // Of every request it is said what became of it, and nothing of how.
    let told = home.lateen(&["ls", "-vv", "--kubeconfig", nowhere]);
    told.refused(3, &["request method=GET path=http://127.0.0.1:9/version code=0"]);
    home.lateen(&["ls", "--kubeconfig", "absent.yaml"]).refused(3, &["absent.yaml"]);
    home.lateen(&["ls", "--kubeconfig", nowhere, "--context", "b"]).refused(3, &["b"]);
    home.lateen(&["controller", "--kubeconfig", nowhere, "--application-re-sync-period=soon"])
        .refused(2, &["--application-re-sync-period", "\"soon\"", "5m"]);
}
