//! What one component costs to render, warm: in the sandbox as users run it, and natively.
//!
//! Goal: webservice with three traits in the sandbox below 1 ms, later 0.4 ms (the official renderer
//! takes 26 ms of CPU).

use cue_host::{Options, SandboxRuntime};
use cue_session::{NativeRuntime, Runtime, Source};
use lateen_engine::api::{Application, Component, DefinitionKind};
use lateen_engine::render::{Context, Definitions, Library, NoActor, Templates, render_component};

/// As in `lateen` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    NativeRuntime::on_deep_stack(divan::main).expect("a thread");
}

/// A component as application teams write it.
const APPLICATION: &str = "
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: shop, namespace: default}
spec:
  components:
    - name: web
      type: webservice
      properties:
        image: example/web:1.4.0
        ports: [{port: 8080, name: http, expose: true}]
        cpu: 250m
        memory: 128Mi
        env: [{name: STORE_HOST, value: store}]
        readinessProbe: {httpGet: {path: /ready, port: 8080}}
      traits:
        - {type: scaler, properties: {replicas: 3}}
        - {type: labels, properties: {example.com/team: shop}}
        - {type: gateway, properties: {domain: shop.example.com, http: {/: 8080}}}
";

/// Definitions, their programs and a component: all that rendering needs.
struct Bench {
    definitions: Definitions,
    library: Library,
    component: Component,
    context: Context,
}

impl Bench {
    fn new(traits: usize) -> Self {
        let mut app: Application = serde_yaml::from_str(APPLICATION).expect("an Application");
        let mut component = app.spec.components.remove(0);
        component.traits.truncate(traits);
        let library =
            lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect();
        let mut definitions = Definitions::default();
        for (kind, name) in [
            (DefinitionKind::Component, "webservice"),
            (DefinitionKind::Trait, "scaler"),
            (DefinitionKind::Trait, "labels"),
            (DefinitionKind::Trait, "gateway"),
        ] {
            definitions.insert(shipped(kind, name));
        }
        Self { definitions, library, component, context: Context::of(&app, "shop-v1") }
    }

    fn render(&self, runtime: &dyn Runtime) -> usize {
        let rendered = render_component(
            Templates::new(runtime, &self.library),
            &self.definitions,
            &self.context,
            &self.component,
            &|_| false,
            &mut NoActor,
        )
        .expect("it renders");
        rendered.objects().count()
    }
}

/// A shipped definition as the cluster holds it.
fn shipped(kind: DefinitionKind, name: &str) -> lateen_engine::api::Definition {
    let source = lateen_definitions::definitions()
        .find(|it| it.name == name && it.kind.object() == kind.kind())
        .expect("it is shipped");
    let object = lateen_engine::authoring::render(&NativeRuntime::default(), source.source)
        .expect("it renders");
    serde_json::from_value(object).expect("a definition")
}

fn sandbox() -> SandboxRuntime {
    let cache = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cwasm");
    SandboxRuntime::new(Options { cache: Some(cache), warm: 2, memory: 256 << 20 })
        .expect("a sandbox")
}

/// As users run it.
#[divan::bench(args = [0, 1, 3])]
fn webservice_in_the_sandbox(bencher: divan::Bencher<'_, '_>, traits: usize) {
    let (bench, runtime) = (Bench::new(traits), sandbox());
    bench.render(&runtime);
    bencher.bench_local(|| bench.render(&runtime));
}

/// The same without a sandbox.
#[divan::bench(args = [0, 1, 3])]
fn webservice_natively(bencher: divan::Bencher<'_, '_>, traits: usize) {
    let (bench, runtime) = (Bench::new(traits), NativeRuntime::default());
    bench.render(&runtime);
    bencher.bench_local(|| bench.render(&runtime));
}

/// A fresh instance and the first evaluation in it.
#[divan::bench]
fn first_evaluation(bencher: divan::Bencher<'_, '_>) {
    use cue_session::{Budget, Input, Profile, Program, ProgramSpec};
    let runtime = sandbox();
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("a.cue", "parameter: _\nout: {replicas: parameter.n + 1}")],
        packages: Vec::new(),
        profile: Profile::V017,
    });
    bencher.bench_local(|| {
        let inputs = vec![Input::new("parameter", "{\"n\":1}".to_owned())];
        let mut session = runtime.start(&program, inputs, Budget::DEFINITION).expect("it starts");
        session.value("out").expect("it evaluates")
    });
}
