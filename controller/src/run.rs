//! The controller: watches Applications and what they created, reconciles what changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::Utc;
use cue_session::{Package, Runtime, Source};
use futures::StreamExt;
use http::Request;
use kube::Client;
use lateen_engine::api::{DefinitionKind, V1BETA1};
use lateen_engine::reconcile::{Engine, reconcile, reconcile_definition, reconcile_run};
use lateen_engine::render::{ClusterVersion, Library};
use lateen_engine::settings::Settings;
use lateen_engine::world::ObjectRef;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clusters;
use crate::git::Trust;
use crate::kinds::Resource;
use crate::mirror::Coverage;
use crate::observe::Metrics;
use crate::packages::Packages;
use crate::queue::Queue;
use crate::report;
use crate::rest::{self, ActAs};
use crate::world::KubeWorld;

/// How the controller runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Reconciles at once.
    pub workers: usize,
    /// How often every Application is looked at though nothing changed.
    pub resync: Duration,
    /// Limits and gates of the engine.
    pub settings: Settings,
    /// Only Applications of this namespace; empty: all.
    pub namespace: String,
    /// Where git repositories may be.
    pub repositories: Trust,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 4,
            resync: Duration::from_secs(300),
            settings: Settings::default(),
            namespace: String::new(),
            repositories: Trust::Files,
        }
    }
}

/// What is reconciled, its namespace, its name.
type Key = (Subject, String, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Subject {
    Application,
    Run,
    Definition(DefinitionKind),
}

struct Shared {
    client: Client,
    world: KubeWorld,
    runtime: Arc<dyn Runtime>,
    render_library: Library,
    step_library: Library,
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
    ("batch/v1", "CronJob", "cronjobs"),
    ("v1", "Service", "services"),
    ("v1", "ConfigMap", "configmaps"),
    ("networking.k8s.io/v1", "Ingress", "ingresses"),
];

/// Kinds that are only read, over and over: kind, plural, whether they are in namespaces.
const READ: &[(&str, &str, bool)] = &[
    ("ComponentDefinition", "componentdefinitions", true),
    ("TraitDefinition", "traitdefinitions", true),
    ("PolicyDefinition", "policydefinitions", true),
    ("WorkflowStepDefinition", "workflowstepdefinitions", true),
    ("ResourceTracker", "resourcetrackers", false),
];

/// Label that names the Application of an object.
const APP_NAME: &str = "app.oam.dev/name";
/// Label that names its namespace.
const APP_NAMESPACE: &str = "app.oam.dev/namespace";

/// Annotation that names the revision of a definition.
const REVISION: &str = "definitionrevision.oam.dev/name";

/// Label that names the WorkflowRun of an object.
const RUN_NAME: &str = "workflowrun.oam.dev/name";
/// Label that names its namespace.
const RUN_NAMESPACE: &str = "workflowrun.oam.dev/namespace";

/// Packages that come with the program, and those that Package objects declare.
fn library(own: impl Iterator<Item = lateen_definitions::Package>, more: &[Package]) -> Library {
    let own = own.map(|it| {
        let sources = vec![Source::new(format!("{}.cue", it.path), it.source)];
        Package { path: it.path.into(), sources }
    });
    Library::new(own.chain(more.iter().cloned()).collect())
}

/// Runs until `stop`.
pub async fn run(
    client: Client,
    runtime: Arc<dyn Runtime>,
    metrics: Arc<Metrics>,
    options: Options,
    stop: CancellationToken,
) {
    // Nothing, if it does not say.
    let cluster_version = clusters::version(&client).await.unwrap_or_default();
    let packages = Packages::read(&client).await;
    let shared = Arc::new(Shared {
        cluster_version,
        world: KubeWorld::new(client.clone(), metrics.clone())
            .trusting(options.repositories)
            .asking(packages.services),
        client,
        runtime,
        render_library: library(lateen_definitions::render_packages(), &packages.imports),
        step_library: library(lateen_definitions::packages(), &packages.imports),
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
    for (kind, plural, namespaced) in READ {
        let resource = Resource::new(V1BETA1, kind, plural, *namespaced);
        tasks.spawn(watch_read(shared.clone(), resource));
    }
    tasks.spawn(watch_clusters(shared.clone()));
    let mut workers = JoinSet::new();
    for _ in 0..shared.options.workers.max(1) {
        workers.spawn(work(shared.clone()));
    }
    stop.cancelled().await;
    // Watches may end anywhere; a reconcile that runs is let finish.
    tasks.abort_all();
    shared.queue.close();
    while workers.join_next().await.is_some() {}
    shared.world.finish().await;
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
        objects: &shared.world,
        runtime: &*shared.runtime,
        render_library: &shared.render_library,
        step_library: &shared.step_library,
        settings: &shared.options.settings,
        cluster_version: shared.cluster_version.clone(),
    };
    let result = match key.0 {
        Subject::Application => reconcile(&engine, &key.1, &key.2).await,
        Subject::Run => reconcile_run(&engine, &key.1, &key.2).await,
        Subject::Definition(kind) => reconcile_definition(&engine, kind, &key.1, &key.2).await,
    };
    match result {
        Ok(next) => {
            tracing::debug!(wake = ?next.wake, "reconciled");
            let wake = next.wake.map(|it| (it - Utc::now()).to_std().unwrap_or(Duration::ZERO));
            match key.0 {
                // What changes a definition is a change of it.
                Subject::Definition(_) => wake,
                _ => Some(wake.unwrap_or(shared.options.resync)),
            }
        }
        Err(error) => {
            shared.metrics.failures.inc();
            tracing::warn!(%error, "reconcile failed");
            Some(Duration::from_secs(2))
        }
    }
}

/// When a cluster answers again, Applications that wait for something are looked at.
async fn watch_clusters(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(clusters::SILENCE).await;
        if !shared.world.clusters().recovered().await {
            continue;
        }
        let all = ObjectRef::local(V1BETA1, "Application", "", "");
        for app in shared.world.mirror().list(&all, "").unwrap_or_default() {
            let (meta, phase) = (&app["metadata"], &app["status"]["status"]);
            let name = (meta["namespace"].as_str(), meta["name"].as_str());
            if let (Some(namespace), Some(name)) = name
                && phase != "running"
            {
                shared.queue.add((Subject::Application, namespace.to_owned(), name.to_owned()));
            }
        }
    }
}

async fn watch_subjects(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    watch(&shared, &resource, "", |object| {
        let meta = &object["metadata"];
        Some((subject, meta["namespace"].as_str()?.to_owned(), meta["name"].as_str()?.to_owned()))
    })
    .await;
}

async fn watch_owned(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    let (name, home) = match subject {
        Subject::Application | Subject::Definition(_) => (APP_NAME, APP_NAMESPACE),
        Subject::Run => (RUN_NAME, RUN_NAMESPACE),
    };
    watch(&shared, &resource, name, |object| {
        let labels = &object["metadata"]["labels"];
        Some((subject, labels[home].as_str()?.to_owned(), labels[name].as_str()?.to_owned()))
    })
    .await;
}

/// What is read over and over; definitions among it are recorded whenever they change.
async fn watch_read(shared: Arc<Shared>, resource: Resource) {
    let kind = DefinitionKind::from_kind(&resource.kind);
    watch(&shared, &resource, "", |object| {
        let meta = &object["metadata"];
        let (namespace, name) = (meta["namespace"].as_str()?, meta["name"].as_str()?);
        Some((Subject::Definition(kind?), namespace.to_owned(), name.to_owned()))
    })
    .await;
}

/// Lists, then watches, for ever; every object seen enqueues its key. The status a reconcile
/// writes comes back here too: an Application whose generation and control fields did not change
/// is not enqueued again.
async fn watch(
    shared: &Shared,
    resource: &Resource,
    selector: &str,
    key: impl Fn(&Value) -> Option<Key>,
) {
    // What an Application refers to may be in another namespace than those looked after.
    let own = resource.api_version != V1BETA1 || resource.kind == "Application";
    let namespace = if own { shared.options.namespace.as_str() } else { "" };
    let base = rest::path(resource, namespace, None);
    let coverage = match selector.is_empty() && namespace.is_empty() {
        true => Coverage::Whole,
        false => Coverage::Part,
    };
    // One watch of a kind feeds the mirror: two that begin anew at their own times would undo each
    // other.
    let mirror = (selector != RUN_NAME).then(|| shared.world.mirror());
    let with = |path: String| {
        if selector.is_empty() { path } else { rest::with_query(path, "labelSelector", selector) }
    };
    let mut seen: std::collections::HashMap<Key, String> = std::collections::HashMap::new();
    loop {
        let path = with(base.clone());
        let list =
            match rest::send(&shared.client, http::Method::GET, &path, None, &ActAs::default())
                .await
            {
                Ok(list) => list,
                Err(error) => {
                    tracing::debug!(%error, kind = %resource.kind, "listing failed");
                    tokio::time::sleep(Duration::from_secs(2)).await;
                    continue;
                }
            };
        let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(mirror) = &mirror {
            mirror.start(&resource.api_version, &resource.kind, &list, coverage);
        }
        for (index, item) in items.iter().enumerate() {
            if let Some(key) = key(item) {
                seen.insert(key.clone(), fingerprint(&resource.kind, item));
                match key.0 {
                    // There are many, and nothing waits for what was there before.
                    Subject::Definition(_) => {
                        let turn = u64::try_from(index).unwrap_or_default();
                        let after = Duration::from_millis(10_000 + 100 * turn);
                        shared.queue.add_after(key, after);
                    }
                    Subject::Application | Subject::Run => shared.queue.add(key),
                }
            }
        }
        shared.metrics.synced.store(true, Ordering::Relaxed);
        let mut version = list["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        'watching: loop {
            let path = rest::with_query(with(base.clone()), "watch", "true");
            let path = rest::with_query(path, "allowWatchBookmarks", "true");
            let path = rest::with_query(path, "timeoutSeconds", "290");
            let path = rest::with_query(path, "resourceVersion", &version);
            let Ok(request) = Request::get(path).body(Vec::new()) else { break };
            let stream = match shared.client.request_events::<Value>(request).await {
                Ok(stream) => stream,
                Err(error) => {
                    if let Some(mirror) = &mirror {
                        mirror.stop(&resource.api_version, &resource.kind);
                    }
                    tracing::debug!(%error, kind = %resource.kind, "watching failed");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    break;
                }
            };
            futures::pin_mut!(stream);
            while let Some(event) = stream.next().await {
                use kube::api::WatchEvent;
                let object = match event {
                    Ok(WatchEvent::Added(it) | WatchEvent::Modified(it)) => {
                        if let Some(mirror) = &mirror {
                            mirror.saw(&it);
                        }
                        it
                    }
                    Ok(WatchEvent::Deleted(it)) => {
                        if let Some(mirror) = &mirror {
                            mirror.saw_gone(&it);
                        }
                        it
                    }
                    Ok(WatchEvent::Bookmark(mark)) => {
                        version.clone_from(&mark.metadata.resource_version);
                        continue;
                    }
                    Ok(WatchEvent::Error(_)) | Err(_) => break 'watching,
                };
                if let Some(new) = object["metadata"]["resourceVersion"].as_str() {
                    new.clone_into(&mut version);
                }
                if let Some(key) = key(&object) {
                    let print = fingerprint(&resource.kind, &object);
                    if seen.insert(key.clone(), print.clone()).as_ref() != Some(&print) {
                        shared.queue.add(key);
                    }
                }
            }
        }
    }
}

/// What of an object matters: everything of a workload; of an Application what users write.
fn fingerprint(kind: &str, object: &Value) -> String {
    let meta = &object["metadata"];
    let workflow = match kind {
        "Application" => &object["status"]["workflow"],
        "WorkflowRun" => &object["status"],
        kind if DefinitionKind::from_kind(kind).is_some() => {
            return format!("{}{}", meta["generation"], meta["annotations"][REVISION]);
        }
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
