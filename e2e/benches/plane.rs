//! The embedded plane in memory against a real API server, with the same client in the same run. `make
//! bench-plane`; KUBECONFIG names the real one, which must run on this machine: its CPU time is read from
//! /proc. What is compared is work for a second of the server's CPU, whatever the client costs.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a program that measures: what fails, ends it"
)]

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchParams};
use kube::config::Kubeconfig;
use kube::discovery::ApiResource;
use lateen_e2e::bench::{self, Home};
use lateen_e2e::process::{Running, cpu, resident};
use serde_json::{Value, json};
use tokio::task::JoinSet;

// So many that each row takes the plane most of a second: its CPU time is told in hundredths.
const OBJECTS: usize = 10_000;
const GETS: usize = 20_000;
const LISTS: usize = 40;
const WATCHERS: usize = 100;
/// Changes that each watcher sees.
const WATCHED: usize = 2_000;
const DEPLOYMENTS: usize = 2_000;

/// Requests in flight.
const ABREAST: usize = 16;
const SPACE: &str = "bench-plane";

/// One measured operation.
struct Row {
    what: &'static str,
    /// Objects or events a second of CPU.
    per_core: f64,
    /// The same a second of the clock.
    per_second: f64,
}

struct Server {
    client: Client,
    pid: u32,
}

/// The process that listens on a port of this machine.
fn listener(port: u16) -> Option<u32> {
    let wanted = format!(":{port:04X}");
    let mut inode = None;
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in std::fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields.get(1).is_some_and(|it| it.ends_with(&wanted)) && fields.get(3) == Some(&"0A")
            {
                inode = fields.get(9).map(|it| format!("socket:[{it}]"));
            }
        }
    }
    let inode = inode?;
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let Ok(pid) = process.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
        let mut links = open.flatten().filter_map(|it| std::fs::read_link(it.path()).ok());
        if links.any(|it| it.as_os_str() == inode.as_str()) {
            return Some(pid);
        }
    }
    None
}

/// The port of the server that a kubeconfig leads to.
fn port(kubeconfig: &str) -> u16 {
    let file = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let server = file.clusters.first().and_then(|one| one.cluster.as_ref()?.server.clone());
    let address: http::Uri = server.expect("a server").parse().expect("an address");
    address.port_u16().unwrap_or(443)
}

async fn ready(client: &Client) -> bool {
    let request = Request::get("/readyz").body(Vec::new()).unwrap();
    client.request_text(request).await.is_ok_and(|text| text.contains("ok"))
}

/// Runs `work` for each number, `ABREAST` at once.
async fn each<F: Future<Output = ()>>(count: usize, work: impl Fn(usize) -> F) {
    stream::iter(0..count).map(work).buffer_unordered(ABREAST).for_each(|()| async {}).await;
}

impl Server {
    async fn measured(
        &self,
        what: &'static str,
        units: usize,
        work: impl Future<Output = ()>,
    ) -> Row {
        let (before, begin) = (cpu(self.pid), Instant::now());
        work.await;
        #[allow(clippy::cast_precision_loss, reason = "thousands")]
        let units = units as f64;
        let spent = (cpu(self.pid) - before).max(0.01);
        Row { what, per_core: units / spent, per_second: units / begin.elapsed().as_secs_f64() }
    }

    async fn rows(&self) -> (Vec<Row>, f64) {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), SPACE);
        let spaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(self.client.clone());
        let space = json!({"metadata": {"name": SPACE}});
        spaces
            .create(&PostParams::default(), &serde_json::from_value(space).unwrap())
            .await
            .expect("a new namespace");
        let map = |index: usize| -> ConfigMap {
            serde_json::from_value(json!({
                "metadata": {"name": format!("map-{index}"), "labels": {"app": "bench", "number": index.to_string()}},
                "data": {"first": "a value of some length, as settings are", "second": "x".repeat(200)},
            }))
            .unwrap()
        };
        let (maps, map) = (&maps, &map);
        let mut rows = Vec::new();
        rows.push(
            self.measured(
                "create",
                OBJECTS,
                each(OBJECTS, |index| async move {
                    maps.create(&PostParams::default(), &map(index)).await.expect("created");
                }),
            )
            .await,
        );
        let memory = resident(self.pid);
        rows.push(
            self.measured(
                "get",
                GETS,
                each(GETS, |index| async move {
                    maps.get(&format!("map-{}", index % OBJECTS)).await.expect("there");
                }),
            )
            .await,
        );
        rows.push(
            self.measured("list of 10,000", OBJECTS * LISTS, async {
                for _ in 0..LISTS {
                    // Not parsed into objects: that is the client's work.
                    let url = format!("/api/v1/namespaces/{SPACE}/configmaps");
                    let request = Request::get(url).body(Vec::new()).unwrap();
                    let text = self.client.request_text(request).await.expect("a list");
                    assert!(text.len() > OBJECTS * 300);
                }
            })
            .await,
        );
        rows.push(self.fan_out(maps).await);
        rows.push(self.applies("apply, new", 1).await);
        rows.push(self.applies("apply, changed", 2).await);
        rows.push(self.applies("apply, the same", 2).await);
        (rows, memory)
    }

    /// Every watcher is told of every change; the changes cost too.
    async fn fan_out(&self, maps: &Api<ConfigMap>) -> Row {
        let list = maps.list(&ListParams::default().limit(1)).await.expect("a list");
        let version = list.metadata.resource_version.expect("a version");
        let mut watchers = JoinSet::new();
        for _ in 0..WATCHERS {
            let (maps, version) = (maps.clone(), version.clone());
            watchers.spawn(async move {
                let params = WatchParams::default();
                let mut stream = maps.watch(&params, &version).await.expect("a watch").boxed();
                let mut seen = 0;
                while seen < WATCHED {
                    stream.next().await.expect("an event").expect("an event");
                    seen += 1;
                }
            });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let patch = |index: usize| {
            let patch = Patch::Merge(json!({"data": {"first": index.to_string()}}));
            async move {
                let name = format!("map-{}", index % OBJECTS);
                maps.patch(&name, &PatchParams::default(), &patch).await.expect("patched");
            }
        };
        let work = async {
            each(WATCHED, patch).await;
            while let Some(done) = watchers.join_next().await {
                done.expect("all was told");
            }
        };
        self.measured("events to 100 watchers", WATCHERS * WATCHED, work).await
    }

    async fn applies(&self, what: &'static str, replicas: usize) -> Row {
        let kind = ApiResource {
            group: "apps".into(),
            version: "v1".into(),
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            plural: "deployments".into(),
        };
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), SPACE, &kind);
        let params = PatchParams::apply("bench");
        let (api, params) = (&api, &params);
        let work = each(DEPLOYMENTS, |index| async move {
            let object = deployment(index, replicas);
            let name = format!("web-{index}");
            api.patch(&name, params, &Patch::Apply(object)).await.expect("applied");
        });
        self.measured(what, DEPLOYMENTS, work).await
    }
}

fn deployment(index: usize, replicas: usize) -> Value {
    let labels = json!({"app": format!("web-{index}")});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": format!("web-{index}"), "labels": labels},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80, "name": "http"}],
                    "env": [{"name": "LEVEL", "value": "info"}, {"name": "MODE", "value": "fast"}],
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
                }]},
            },
        },
    })
}

/// Starts a plane in memory; how long it took until it was ready.
async fn plane(home: &Home) -> (Running, Server, Duration) {
    let begin = Instant::now();
    let alone = ["--controllers", "off", "--simulate-pods", "off"];
    let (running, kubeconfig, _) = home.serve(&alone).expect("a plane");
    let client = bench::client(&kubeconfig).await;
    assert!(ready(&client).await);
    let took = begin.elapsed();
    let server = Server { client, pid: running.id() };
    (running, server, took)
}

#[tokio::main]
async fn main() {
    let mut starts = Vec::new();
    for _ in 0..9 {
        starts.push(plane(&Home::new()).await.2);
    }
    starts.sort();
    let home = Home::new();
    let (_running, ours, _) = plane(&home).await;
    let empty = resident(ours.pid);
    let (ours, memory) = ours.rows().await;
    let real = match std::env::var_os("KUBECONFIG") {
        Some(file) => {
            let file = file.to_str().expect("paths are UTF-8");
            let pid = listener(port(file)).expect("the real server runs on this machine");
            let server = Server { client: bench::client(file).await, pid };
            let empty = resident(server.pid);
            Some((server.rows().await, empty))
        }
        None => None,
    };
    println!("| | plane, per core | per second | real, per core | per second | ratio per core |");
    println!("|---|---|---|---|---|---|");
    for (index, row) in ours.iter().enumerate() {
        print!("| {} | {:.0} | {:.0} |", row.what, row.per_core, row.per_second);
        match real.as_ref().and_then(|((rows, _), _)| rows.get(index)) {
            Some(real) => println!(
                " {:.0} | {:.0} | {:.1} |",
                real.per_core,
                real.per_second,
                row.per_core / real.per_core
            ),
            None => println!(" | | |"),
        }
    }
    let millis = |index: usize| starts[index].as_secs_f64() * 1000.0;
    println!(
        "start to ready, with TLS: median {:.0} ms of 9 ({:.0} to {:.0})",
        millis(4),
        millis(0),
        millis(8)
    );
    println!("resident: {empty:.0} MB empty, {memory:.0} MB with {OBJECTS} objects");
    if let Some(((_, memory), empty)) = real {
        println!("resident, real: {empty:.0} MB before, {memory:.0} MB with {OBJECTS} objects");
    }
}
