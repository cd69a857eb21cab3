//! The controller: reconciles what watches say has changed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::connection::Client;
use chrono::Utc;
use cue_session::{Package, Runtime, Source};
use lateen_engine::api::{DefinitionKind, V1BETA1};
use lateen_engine::reconcile::{Engine, Next, reconcile, reconcile_definition, reconcile_run};
use lateen_engine::render::{ClusterVersion, Library};
use lateen_engine::settings::Settings;
use lateen_engine::world::{ObjectRef, Service};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::calm::{Calm, Notes};
use crate::clusters;
use crate::git::Trust;
use crate::observe::Metrics;
use crate::packages::{self, Declared, Packages};
use crate::queue::Queue;
use crate::watched;
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
pub(crate) type Key = (Subject, String, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Application,
    Run,
    Definition(DefinitionKind),
}

/// What watches and workers share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) world: KubeWorld,
    runtime: Arc<dyn Runtime>,
    libraries: RwLock<Arc<Libraries>>,
    pub(crate) queue: Queue<Key>,
    /// Applications that nothing is to be done for.
    pub(crate) calm: Calm<Key>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: Options,
    cluster_version: ClusterVersion,
}

impl Shared {
    /// What Package objects declare has changed.
    pub(crate) fn take(&self, libraries: Libraries, services: HashMap<String, Service>) {
        *self.libraries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(libraries);
        self.world.ask_of(services);
        self.calm.forget_all();
    }

    fn libraries(&self) -> Arc<Libraries> {
        self.libraries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What templates may import: of resources, and of steps.
pub(crate) struct Libraries {
    render: Library,
    step: Library,
}

impl Libraries {
    /// What comes with the program, and `more`.
    pub(crate) fn with(more: &[Package]) -> Self {
        Self {
            render: library(lateen_definitions::render_packages(), more),
            step: library(lateen_definitions::packages(), more),
        }
    }
}

/// Packages that come with the program, and those that Package objects declare.
fn library(own: impl Iterator<Item = lateen_definitions::Package>, more: &[Package]) -> Library {
    let own = own.map(|it| {
        let sources = vec![Source::new(format!("{}.cue", it.path), it.source)];
        Package { path: it.path.into(), sources }
    });
    Library::new(own.chain(more.iter().cloned()).collect())
}

/// Runs until `stop`. Dropped before, it leaves things as a process that dies does.
pub async fn run(
    client: Client,
    runtime: Arc<dyn Runtime>,
    metrics: Arc<Metrics>,
    options: Options,
    stop: CancellationToken,
) {
    // Nothing, if it does not say.
    let cluster_version = clusters::version(&client).await.unwrap_or_default();
    let declared = Declared::of(&packages::read(&client).await);
    let Packages { imports, services } = declared.packages();
    let shared = Arc::new(Shared {
        cluster_version,
        world: KubeWorld::new(client.clone(), metrics.clone()).trusting(options.repositories),
        client,
        runtime,
        libraries: RwLock::new(Arc::new(Libraries::with(&imports))),
        queue: Queue::default(),
        calm: Calm::default(),
        metrics,
        options,
    });
    shared.world.ask_of(services);
    let mut tasks = JoinSet::new();
    watched::start(&shared, declared, &mut tasks);
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
        let notes = Arc::new(Notes::begin());
        let again = one(&shared, &key, &notes).instrument(span).await;
        shared.metrics.reconciles.inc();
        shared.metrics.seconds.observe(started.elapsed().as_secs_f64());
        if let Some(after) = again {
            shared.queue.add_after(key.clone(), after);
        }
        shared.queue.done(&key, &notes.written());
        let (ready, planned) = shared.queue.len();
        shared.metrics.ready_keys.set(ready as u64);
        shared.metrics.planned_keys.set(planned as u64);
    }
}

async fn one(shared: &Shared, key: &Key, notes: &Arc<Notes>) -> Option<Duration> {
    let mirror = shared.world.mirror();
    if shared.calm.holds(key, mirror) {
        return Some(shared.options.resync);
    }
    let epoch = shared.calm.epoch();
    let libraries = shared.libraries();
    let world = match key.0 {
        Subject::Application => shared.world.for_turn(key.clone(), notes.clone()),
        Subject::Run | Subject::Definition(_) => shared.world.clone(),
    };
    let engine = Engine {
        world: &world,
        objects: &world,
        runtime: &*shared.runtime,
        render_library: &libraries.render,
        step_library: &libraries.step,
        settings: &shared.options.settings,
        cluster_version: shared.cluster_version.clone(),
        doubts: shared.calm.doubts(key),
    };
    let result = match key.0 {
        Subject::Application => reconcile(&engine, &key.1, &key.2).await,
        Subject::Run => reconcile_run(&engine, &key.1, &key.2).await,
        Subject::Definition(kind) => reconcile_definition(&engine, kind, &key.1, &key.2).await,
    };
    match &result {
        Ok(Next { wake: None }) if key.0 == Subject::Application => {
            shared.calm.settle(key, epoch, notes);
        }
        Ok(_) | Err(_) => shared.calm.forget(key),
    }
    if result.is_ok() {
        shared.queue.succeeded(key);
    }
    match result {
        Ok(_) if is_gone(shared, key) => {
            shared.calm.forget(key);
            shared.calm.doubt(key);
            None
        }
        Ok(next) => {
            shared.calm.trust(key);
            tracing::debug!(wake = ?next.wake, "reconciled");
            let wake = next.wake.map(|it| (it - Utc::now()).to_std().unwrap_or(Duration::ZERO));
            match key.0 {
                // What changes a definition is a change of it.
                Subject::Definition(_) => wake,
                _ => Some(wake.unwrap_or(shared.options.resync)),
            }
        }
        Err(error) => {
            shared.calm.doubt(key);
            shared.metrics.failures.inc();
            tracing::warn!(%error, "reconcile failed");
            Some(shared.queue.failed(key))
        }
    }
}

/// Whether watches show that there is nothing of that name any more: only that it is made anew matters.
fn is_gone(shared: &Shared, (subject, namespace, name): &Key) -> bool {
    let (api_version, kind) = match subject {
        Subject::Application => (V1BETA1, "Application"),
        Subject::Run => ("core.oam.dev/v1alpha1", "WorkflowRun"),
        Subject::Definition(kind) => (V1BETA1, kind.kind()),
    };
    shared.world.mirror().lacks(&ObjectRef::local(api_version, kind, namespace, name))
}
