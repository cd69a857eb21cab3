//! The controller: watches Applications and what they created, reconciles what changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::Utc;
use cue_session::{Package, Runtime};
use kube::Client;
use lateen_engine::api::DefinitionKind;
use lateen_engine::delivery;
use lateen_engine::reconcile::{Engine, reconcile, reconcile_run};
use lateen_engine::render::ClusterVersion;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::cache::{self, Cache};
use crate::kinds::Resource;
use crate::observe::Metrics;
use crate::queue::Queue;
use crate::report;
use crate::rest::{self, ActAs};
use crate::watch::{Scope, Seen, watch};
use crate::world::KubeWorld;

/// How the controller runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Reconciles at once.
    pub workers: usize,
    /// How often every Application is looked at though nothing changed.
    pub resync: Duration,
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts of a step.
    pub caps: lateen_engine::workflow::backoff::Caps,
    /// Revisions kept besides the current one.
    pub revision_limit: usize,
    /// Only Applications of this namespace; empty: all.
    pub namespace: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 4,
            resync: Duration::from_secs(300),
            retries: lateen_engine::workflow::backoff::RETRIES,
            caps: lateen_engine::workflow::backoff::Caps::default(),
            revision_limit: 2,
            namespace: String::new(),
        }
    }
}

/// What is reconciled, its namespace, its name.
type Key = (Subject, String, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Subject {
    Application,
    Run,
}

struct Shared {
    client: Client,
    world: KubeWorld,
    cache: Arc<Cache>,
    runtime: Arc<dyn Runtime>,
    render_packages: Vec<Package>,
    step_packages: Vec<Package>,
    queue: Queue<Key>,
    metrics: Arc<Metrics>,
    options: Options,
    cluster_version: ClusterVersion,
}

/// Kinds whose changes may change the health of an Application.
const WATCHED: &[(&str, &str, &str)] = &[
    ("apps/v1", "Deployment", "deployments"),
    ("apps/v1", "StatefulSet", "statefulsets"),
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("batch/v1", "Job", "jobs"),
];

/// Label that names the Application of an object.
const APP_NAME: &str = "app.oam.dev/name";
/// Label that names its namespace.
const APP_NAMESPACE: &str = "app.oam.dev/namespace";

/// Label that names the WorkflowRun of an object.
const RUN_NAME: &str = "workflowrun.oam.dev/name";
/// Label that names its namespace.
const RUN_NAMESPACE: &str = "workflowrun.oam.dev/namespace";

/// Runs until `stop`.
pub async fn run(
    client: Client,
    runtime: Arc<dyn Runtime>,
    metrics: Arc<Metrics>,
    options: Options,
    stop: CancellationToken,
) {
    let cluster_version = version(&client).await;
    let cache = Arc::new(Cache::default());
    let shared = Arc::new(Shared {
        cluster_version,
        world: KubeWorld::new(client.clone(), metrics.clone(), cache.clone()),
        cache,
        client,
        runtime,
        render_packages: delivery::packages(
            lateen_definitions::render_packages().map(|it| (it.path, it.source)),
        ),
        step_packages: delivery::packages(
            lateen_definitions::packages().map(|it| (it.path, it.source)),
        ),
        queue: Queue::default(),
        metrics,
        options,
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(watch_subjects(shared.clone(), report::applications(), Subject::Application));
    let runs = Resource::new("core.oam.dev/v1alpha1", "WorkflowRun", "workflowruns", true);
    tasks.spawn(watch_subjects(shared.clone(), runs, Subject::Run));
    for (api_version, kind, plural) in WATCHED {
        let resource = Resource::new(api_version, kind, plural, true);
        tasks.spawn(watch_owned(shared.clone(), resource.clone(), Subject::Application));
        tasks.spawn(watch_owned(shared.clone(), resource, Subject::Run));
    }
    for kind in cache::KINDS {
        tasks.spawn(watch_definitions(shared.clone(), kind));
    }
    let mut workers = JoinSet::new();
    for _ in 0..shared.options.workers.max(1) {
        workers.spawn(work(shared.clone()));
    }
    stop.cancelled().await;
    // Watches may end anywhere; a reconcile that runs is let finish.
    tasks.abort_all();
    shared.queue.close();
    while workers.join_next().await.is_some() {}
}

/// What the API server says it is; nothing if it does not say.
async fn version(client: &Client) -> ClusterVersion {
    let answer = rest::send(client, http::Method::GET, "/version", None, &ActAs::default()).await;
    let Ok(answer) = answer else { return ClusterVersion::default() };
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    ClusterVersion {
        major: text("major"),
        minor: text("minor"),
        git_version: text("gitVersion"),
        platform: text("platform"),
    }
}

async fn work(shared: Arc<Shared>) {
    while let Some(key) = shared.queue.next().await {
        let started = std::time::Instant::now();
        let name = format!("{}/{}", key.1, key.2);
        let span = tracing::info_span!("reconcile", subject = ?key.0, name = %name);
        let again = one(&shared, &key).instrument(span).await;
        shared.metrics.reconciles.inc();
        shared.metrics.seconds.observe(started.elapsed().as_secs_f64());
        if let Some(after) = again {
            shared.queue.add_after(key.clone(), after);
        }
        shared.queue.done(&key);
        let (ready, planned) = shared.queue.len();
        shared.metrics.ready_keys.set(ready as u64);
        shared.metrics.planned_keys.set(planned as u64);
    }
}

async fn one(shared: &Shared, key: &Key) -> Option<Duration> {
    let engine = Engine {
        world: &shared.world,
        runtime: &*shared.runtime,
        render_packages: &shared.render_packages,
        step_packages: &shared.step_packages,
        retries: shared.options.retries,
        caps: shared.options.caps,
        revision_limit: shared.options.revision_limit,
        cluster_version: shared.cluster_version.clone(),
    };
    let result = match key.0 {
        Subject::Application => reconcile(&engine, &key.1, &key.2).await,
        Subject::Run => reconcile_run(&engine, &key.1, &key.2).await,
    };
    match result {
        Ok(next) => {
            tracing::debug!(wake = ?next.wake, "reconciled");
            let wake = next.wake.map(|it| (it - Utc::now()).to_std().unwrap_or(Duration::ZERO));
            Some(wake.unwrap_or(shared.options.resync))
        }
        Err(error) => {
            shared.metrics.failures.inc();
            tracing::warn!(%error, "reconcile failed");
            Some(Duration::from_secs(2))
        }
    }
}

async fn watch_subjects(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    let namespace = shared.options.namespace.clone();
    let of = Scope { resource, namespace, selector: String::new() };
    watch_keys(&shared, &of, |object| {
        let meta = &object["metadata"];
        Some((subject, meta["namespace"].as_str()?.to_owned(), meta["name"].as_str()?.to_owned()))
    })
    .await;
}

async fn watch_owned(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    let (name, home) = match subject {
        Subject::Application => (APP_NAME, APP_NAMESPACE),
        Subject::Run => (RUN_NAME, RUN_NAMESPACE),
    };
    let namespace = shared.options.namespace.clone();
    let of = Scope { resource, namespace, selector: name.into() };
    watch_keys(&shared, &of, |object| {
        let labels = &object["metadata"]["labels"];
        Some((subject, labels[home].as_str()?.to_owned(), labels[name].as_str()?.to_owned()))
    })
    .await;
}

async fn watch_definitions(shared: Arc<Shared>, kind: DefinitionKind) {
    let resource = cache::resource(kind);
    let of = Scope { resource, namespace: String::new(), selector: String::new() };
    watch(&shared.client, &of, |seen| shared.cache.note(kind, seen)).await;
}

/// Every object seen enqueues its key. The status a reconcile writes comes back here too: an
/// Application whose generation and control fields did not change is not enqueued again.
async fn watch_keys(shared: &Shared, of: &Scope, key: impl Fn(&Value) -> Option<Key>) {
    let mut known: HashMap<Key, String> = HashMap::new();
    watch(&shared.client, of, |seen| match seen {
        Seen::All(items) => {
            for item in &items {
                if let Some(key) = key(item) {
                    known.insert(key.clone(), fingerprint(&of.resource.kind, item));
                    shared.queue.add(key);
                }
            }
            shared.metrics.synced.store(true, Ordering::Relaxed);
        }
        Seen::Changed(object) | Seen::Gone(object) => {
            let Some(key) = key(&object) else { return };
            let print = fingerprint(&of.resource.kind, &object);
            if known.insert(key.clone(), print.clone()).as_ref() != Some(&print) {
                shared.queue.add(key);
            }
        }
    })
    .await;
}

/// What of an object matters: everything of a workload; of an Application what users write.
fn fingerprint(kind: &str, object: &Value) -> String {
    let meta = &object["metadata"];
    let workflow = match kind {
        "Application" => &object["status"]["workflow"],
        "WorkflowRun" => &object["status"],
        _ => return format!("{}{}", meta["name"], meta["resourceVersion"]),
    };
    let phases: Vec<&Value> = workflow["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|it| {
            std::iter::once(&it["phase"])
                .chain(it["subSteps"].as_array().into_iter().flatten().map(|it| &it["phase"]))
        })
        .collect();
    format!(
        "{}|{}|{}|{}|{}|{}|{phases:?}",
        meta["generation"],
        meta["deletionTimestamp"],
        meta["annotations"],
        meta["labels"],
        workflow["suspend"],
        workflow["terminated"]
    )
}
