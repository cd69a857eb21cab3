//! What delivering costs the controller: `make bench-engine`, on the embedded plane, and on the API server
//! of KUBECONFIG too if there is one. Four clients make Applications; the end of the run is when a watch
//! has seen every one of them running.
//!
//! SIZES: how many, `100,1000,10000`; IDLE: seconds that are watched afterwards, with a resync a minute;
//! ONLY: `plane` or `real`; OF: what is in the name of what they are of, `web`.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a program that measures: what fails, ends it"
)]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use kube::Client;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, PostParams, WatchEvent, WatchParams,
};
use kube::discovery::ApiResource;
use lateen_e2e::bench::{self, Home};
use lateen_e2e::process::{self, Running, cpu, resident};
use serde_json::{Value, json};

/// Applications that are made at once.
const ABREAST: usize = 4;
const SPACE: &str = "bench-engine";
/// How long every Application may take to be running, beside what many of them take.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// What an Application consists of.
#[derive(Clone, Copy)]
enum Variant {
    /// One ConfigMap.
    ConfigMap,
    /// A webservice with two traits, whose health is not looked at.
    Web,
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Variant::ConfigMap => "one ConfigMap",
            Variant::Web => "webservice, scaler, labels",
        }
    }

    fn application(self, name: &str) -> DynamicObject {
        let component = match self {
            Variant::ConfigMap => {
                json!({"name": name, "type": "k8s-objects", "properties": {"objects": [
                    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}},
                ]}})
            }
            Variant::Web => json!({"name": name, "type": "webservice",
                "properties": {
                    "image": "example/web:1.0.0", "cpu": "0.1", "memory": "64Mi",
                    "ports": [{"port": 8080}], "env": [{"name": "LEVEL", "value": "info"}],
                },
                "traits": [
                    {"type": "scaler", "properties": {"replicas": 2}},
                    {"type": "labels", "properties": {"release": "r1"}},
                ],
            }),
        };
        let object = json!({
            "apiVersion": "core.oam.dev/v1beta1", "kind": "Application",
            "metadata": {"name": name, "annotations": {"app.oam.dev/disable-health-check": "true"}},
            "spec": {"components": [component]},
        });
        serde_json::from_value(object).unwrap()
    }
}

/// One run.
struct Row {
    variant: Variant,
    count: usize,
    /// Applications a second.
    throughput: f64,
    /// Milliseconds of the controller's CPU for each.
    cpu: f64,
    /// Requests for each.
    requests: f64,
    /// MiB resident with all of them there.
    memory: f64,
    /// Afterwards: per cent of a core, requests, MiB resident.
    idle: (f64, f64, f64),
}

/// A controller that runs.
struct Controller {
    running: Running,
    metrics: String,
}

impl Controller {
    fn start(home: &Home, kubeconfig: &Path) -> Self {
        let metrics = format!("127.0.0.1:{}", process::free_port().unwrap());
        let mut command = home.command(&["controller", "--concurrent-reconciles", "4"]);
        // The one before was killed, and its lease lasts.
        command.arg("--leader-elect=false");
        command.args(["--application-re-sync-period", "1m", "--metrics-addr", &metrics]);
        command.arg("--kubeconfig").arg(kubeconfig);
        let log = home.folder.path().join("controller.log");
        let running = Running::start("lateen controller", &mut command, &log).unwrap();
        let port = metrics.rsplit(':').next().and_then(|it| it.parse().ok()).unwrap();
        process::wait_for_port(port, Duration::from_secs(20))
            .unwrap_or_else(|error| panic!("{error}: {}", process::tail(&log, 5)));
        Self { running, metrics }
    }

    fn pid(&self) -> u32 {
        self.running.id()
    }

    /// Requests sent so far, without those of its lease.
    fn requests(&self) -> f64 {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        let asked =
            format!("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.metrics);
        stream.write_all(asked.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let counts = text.lines().filter(|line| {
            line.starts_with("lateen_api_requests_total") && !line.contains("leases")
        });
        counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Waits until it has nothing to ask: at first it records the definitions it finds.
    async fn settle(&self) {
        let (mut before, begin) = (-1.0, Instant::now());
        while begin.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_secs(6)).await;
            let now = self.requests();
            if now <= before {
                return;
            }
            before = now;
        }
    }
}

fn applications(client: &Client) -> Api<DynamicObject> {
    let kind = ApiResource {
        group: "core.oam.dev".into(),
        version: "v1beta1".into(),
        api_version: "core.oam.dev/v1beta1".into(),
        kind: "Application".into(),
        plural: "applications".into(),
    };
    Api::namespaced_with(client.clone(), SPACE, &kind)
}

fn phase(object: &DynamicObject) -> Option<&str> {
    object.data.get("status")?.get("status")?.as_str()
}

/// Waits until a watch has seen `count` Applications running.
async fn all_run(api: &Api<DynamicObject>, count: usize, mut version: String) {
    let mut running = HashSet::new();
    let deadline = Instant::now() + PATIENCE;
    while running.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} run", running.len());
        let params = WatchParams::default().timeout(60);
        let mut events = api.watch(&params, &version).await.unwrap().boxed();
        while let Ok(Some(event)) = events.try_next().await {
            let (WatchEvent::Added(object) | WatchEvent::Modified(object)) = event else {
                continue;
            };
            version = object.metadata.resource_version.clone().unwrap_or_default();
            if phase(&object) == Some("running") {
                running.extend(object.metadata.name);
            }
            if running.len() == count {
                return;
            }
        }
    }
}

async fn run(home: &Home, kubeconfig: &Path, variant: Variant, count: usize, idle: u64) -> Row {
    let client = bench::client(kubeconfig.to_str().unwrap()).await;
    let api = applications(&client);
    let controller = Controller::start(home, kubeconfig);
    controller.settle().await;
    let version = api.list(&ListParams::default().limit(1)).await.unwrap().metadata;
    let version = version.resource_version.unwrap_or_default();
    let (before, sent, begin) = (cpu(controller.pid()), controller.requests(), Instant::now());
    let params = &PostParams::default();
    let made = stream::iter(0..count)
        .map(|index| {
            let application = variant.application(&format!("app-{index}"));
            let api = &api;
            async move { api.create(params, &application).await.expect("made") }
        })
        .buffer_unordered(ABREAST)
        .for_each(|_| async {});
    tokio::join!(made, all_run(&api, count, version));
    let took = begin.elapsed().as_secs_f64();
    // What is told in the background.
    controller.settle().await;
    #[allow(clippy::cast_precision_loss, reason = "thousands")]
    let each = count as f64;
    let spent = (cpu(controller.pid()) - before) * 1000.0 / each;
    let requests = (controller.requests() - sent) / each;
    let memory = resident(controller.pid());
    let (before, sent) = (cpu(controller.pid()), controller.requests());
    tokio::time::sleep(Duration::from_secs(idle)).await;
    #[allow(clippy::cast_precision_loss, reason = "seconds")]
    let share = (cpu(controller.pid()) - before) * 100.0 / idle.max(1) as f64;
    let idle = (share, controller.requests() - sent, resident(controller.pid()));
    // An API server ends what takes it longer than a minute.
    while api.list(&ListParams::default().limit(1)).await.is_ok_and(|it| !it.items.is_empty()) {
        let _ = api.delete_collection(&DeleteParams::default(), &ListParams::default()).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Row { variant, count, throughput: each / took, cpu: spent, requests, memory, idle }
}

/// Everything on one server.
async fn rows(home: &Home, server: &str, kubeconfig: &Path, sizes: &[usize], idle: u64) {
    let installed = home.command(&["install", "--kubeconfig"]).arg(kubeconfig).output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let client = bench::client(kubeconfig.to_str().unwrap()).await;
    let spaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client);
    let space: Value = json!({"metadata": {"name": SPACE}});
    let space = serde_json::from_value(space).unwrap();
    match spaces.create(&PostParams::default(), &space).await {
        // Left by a run before.
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        made => drop(made.expect("a namespace")),
    }
    for count in sizes {
        for variant in variants() {
            let row = run(home, kubeconfig, variant, *count, idle).await;
            println!(
                "| {server} | {} | {} | {:.0} | {:.1} | {:.1} | {:.0} | {:.2} | {:.0} | {:.0} |",
                row.variant.name(),
                row.count,
                row.throughput,
                row.cpu,
                row.requests,
                row.memory,
                row.idle.0,
                row.idle.1,
                row.idle.2,
            );
        }
    }
}

/// All, or the one whose name holds `OF`.
fn variants() -> Vec<Variant> {
    let of = std::env::var("OF").unwrap_or_default();
    [Variant::ConfigMap, Variant::Web].into_iter().filter(|it| it.name().contains(&of)).collect()
}

#[tokio::main]
async fn main() {
    let sizes = std::env::var("SIZES").unwrap_or_else(|_| "100,1000,10000".to_owned());
    let sizes: Vec<usize> =
        sizes.split(',').map(|it| it.trim().parse().expect("numbers")).collect();
    let idle = std::env::var("IDLE").ok().and_then(|it| it.parse().ok()).unwrap_or(60);
    println!(
        "| server | Applications of | how many | a second | CPU ms each | requests each | MiB | idle: % of a core | requests | MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let home = Home::new();
    let only = std::env::var("ONLY").ok();
    let plays = |server: &str| only.as_deref().is_none_or(|it| it == server);
    if plays("plane") {
        let (_plane, kubeconfig, _) = home.serve(&["--simulate-pods", "off"]).expect("a plane");
        rows(&home, "plane", Path::new(&kubeconfig), &sizes, idle).await;
    }
    if let Some(real) = std::env::var_os("KUBECONFIG").filter(|_| plays("real")) {
        rows(&home, "real", Path::new(&real), &sizes, idle).await;
    }
}
