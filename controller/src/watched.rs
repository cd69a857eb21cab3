//! What is watched, and whose reconcile follows from a change of it.
//!
//! Of the engine's own cluster: Applications, WorkflowRuns, definitions, trackers, what Applications
//! made, Package objects, Secrets of clusters. Of every cluster that is joined: what Applications made.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::connection::Client;
use lateen_engine::api::names::label;
use lateen_engine::api::{DefinitionKind, SYSTEM_NAMESPACE, V1BETA1};
use lateen_engine::world::ObjectRef;
use serde_json::Value;
use tokio::task::{AbortHandle, JoinSet};

use crate::clusters;
use crate::follow::{Followed, Sink};
use crate::kinds::Resource;
use crate::mirror::{self, Coverage};
use crate::news::{Difference, Seen};
use crate::packages::{self, Declared, Packages};
use crate::report;
use crate::run::{Key, Libraries, Shared, Subject};

/// Kinds whose changes may change the health of an Application.
const OWNED: &[(&str, &str, &str)] = &[
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

/// Label that names the WorkflowRun of an object.
const RUN_NAME: &str = "workflowrun.oam.dev/name";
/// Label that names its namespace.
const RUN_NAMESPACE: &str = "workflowrun.oam.dev/namespace";

/// Watches everything; `declared` are the Package objects known so far.
pub(crate) fn start(shared: &Arc<Shared>, declared: Declared, tasks: &mut JoinSet<()>) {
    tasks.spawn(subjects(shared.clone(), report::applications(), Subject::Application));
    let runs = Resource::namespaced("core.oam.dev/v1alpha1", "WorkflowRun", "workflowruns");
    tasks.spawn(subjects(shared.clone(), runs, Subject::Run));
    for (api_version, kind, plural) in OWNED {
        let resource = Resource::namespaced(api_version, kind, plural);
        tasks.spawn(owned(shared.clone(), resource.clone(), Subject::Application));
        tasks.spawn(owned(shared.clone(), resource, Subject::Run));
    }
    for (kind, plural, namespaced) in READ {
        let resource =
            Resource { namespaced: *namespaced, ..Resource::namespaced(V1BETA1, kind, plural) };
        tasks.spawn(read(shared.clone(), resource));
    }
    tasks.spawn(packages(shared.clone(), declared));
    tasks.spawn(members(shared.clone()));
    tasks.spawn(silent(shared.clone()));
}

async fn subjects(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    follow(&shared, &resource, "", |object| itself(subject, object)).await;
}

/// The key of what is reconciled itself.
fn itself(subject: Subject, object: &Value) -> Option<Key> {
    let meta = &object["metadata"];
    Some((subject, meta["namespace"].as_str()?.to_owned(), meta["name"].as_str()?.to_owned()))
}

/// The Application that hears of a change of an object: the one that made it.
fn maker(object: &Value) -> Option<Key> {
    owner(Subject::Application, object).filter(|_| object["kind"] != "Application")
}

/// The Application that hears of a change of an object: itself, or the one that made it.
pub(crate) fn hears(object: &Value) -> Option<Key> {
    match object["kind"] == "Application" && object["apiVersion"] == V1BETA1 {
        true => itself(Subject::Application, object),
        false => maker(object),
    }
}

async fn owned(shared: Arc<Shared>, resource: Resource, subject: Subject) {
    follow(&shared, &resource, &made_by(subject), |object| owner(subject, object)).await;
}

/// Selects what was made for a subject. One label would not do: what a revision renders to names its
/// Application as well, and nobody is to hear of it.
fn made_by(subject: Subject) -> String {
    let (name, home) = labels_of(subject);
    format!("{name},{home}")
}

fn labels_of(subject: Subject) -> (&'static str, &'static str) {
    match subject {
        Subject::Application | Subject::Definition(_) => (label::APP_NAME, label::APP_NAMESPACE),
        Subject::Run => (RUN_NAME, RUN_NAMESPACE),
    }
}

fn owner(subject: Subject, object: &Value) -> Option<Key> {
    let (name, home) = labels_of(subject);
    let labels = &object["metadata"]["labels"];
    Some((subject, labels[home].as_str()?.to_owned(), labels[name].as_str()?.to_owned()))
}

/// What is read over and over; definitions among it are recorded whenever they change.
async fn read(shared: Arc<Shared>, resource: Resource) {
    let kind = DefinitionKind::from_kind(&resource.kind);
    follow(&shared, &resource, "", |object| itself(Subject::Definition(kind?), object)).await;
}

async fn follow(
    shared: &Shared,
    resource: &Resource,
    selector: &str,
    key: impl Fn(&Value) -> Option<Key> + Send,
) {
    // What an Application refers to may be in another namespace than those looked after.
    let own = resource.api_version != V1BETA1 || resource.kind == "Application";
    let namespace = if own { shared.options.namespace.as_str() } else { "" };
    let coverage = Coverage::of(namespace, selector);
    // One watch of a kind feeds the mirror: two that begin anew at their own times would undo each
    // other.
    let mirrored = selector != made_by(Subject::Run);
    let mut keys =
        Keys { shared, resource, coverage, mirrored, key, seen: Seen::of(&resource.kind) };
    Followed { client: &shared.client, resource, namespace, selector }.follow(&mut keys).await;
}

/// Whether a definition that was there before is to be looked at at once: it is a user's, and somebody died
/// before it said which its revision is. Of others there are many, and nothing waits for them.
fn waits(definition: &Value) -> bool {
    definition["metadata"]["namespace"] != SYSTEM_NAMESPACE
        && !definition["status"]["latestRevision"]["name"].is_string()
}

/// Enqueues the keys of what changed. What a reconcile writes comes back here too: that is no news to the
/// Application that wrote it, unless it asks for something else (rolled back, its spec is the one before).
struct Keys<'a, F> {
    shared: &'a Shared,
    resource: &'a Resource,
    coverage: Coverage,
    mirrored: bool,
    key: F,
    seen: Seen<Key>,
}

impl<F: Fn(&Value) -> Option<Key> + Send> Sink for Keys<'_, F> {
    fn begins(&mut self, list: &Value) {
        if self.mirrored {
            let (api_version, kind) = (&self.resource.api_version, &self.resource.kind);
            self.shared.world.mirror().start(api_version, kind, list, self.coverage.clone());
        }
        for (index, item) in list["items"].as_array().into_iter().flatten().enumerate() {
            let Some(key) = (self.key)(item) else { continue };
            self.seen.differs(&key, item);
            match key.0 {
                Subject::Definition(_) if !waits(item) => {
                    let turn = u64::try_from(index).unwrap_or_default();
                    let after = Duration::from_millis(10_000 + 100 * turn);
                    self.shared.queue.add_after(key, after);
                }
                _ => self.shared.queue.add(key),
            }
        }
        // Of Applications that went while nobody looked, only trackers tell.
        if self.resource.kind == "ResourceTracker" {
            let all = list["items"].as_array().into_iter().flatten();
            all.filter_map(maker).for_each(|key| self.shared.queue.add(key));
        }
        self.shared.metrics.synced.store(true, Ordering::Relaxed);
    }

    fn sees(&mut self, object: &Value) {
        let news = !self.mirrored || self.shared.world.mirror().saw(object);
        let Some(key) = (self.key)(object) else { return };
        let version = mirror::version(object);
        match self.seen.differs(&key, object) {
            Difference::Wish => self.shared.queue.add(key),
            // Versions that are no numbers tell nothing.
            Difference::State if version == u64::MAX => self.shared.queue.add(key),
            Difference::State if news => self.shared.queue.add_unless_written(key, version),
            Difference::State | Difference::None => {}
        }
    }

    fn sees_gone(&mut self, object: &Value) {
        if self.mirrored {
            self.shared.world.mirror().saw_gone(object);
        }
        let Some(key) = (self.key)(object) else { return };
        self.seen.forget(&key);
        self.shared.queue.add(key);
    }

    fn breaks(&mut self) {
        if self.mirrored {
            self.shared.world.mirror().stop(&self.resource.api_version, &self.resource.kind);
        }
    }
}

/// Package objects: what templates may import changes with them.
async fn packages(shared: Arc<Shared>, declared: Declared) {
    let resource = packages::resource();
    let mut sink = Imports { shared: &shared, declared };
    Followed { client: &shared.client, resource: &resource, namespace: "", selector: "" }
        .follow(&mut sink)
        .await;
}

/// Templates are made with what is declared now; what failed for want of it is tried again.
struct Imports<'a> {
    shared: &'a Shared,
    declared: Declared,
}

impl Imports<'_> {
    fn take(&self) {
        let Packages { imports, services } = self.declared.packages();
        self.shared.take(Libraries::with(&imports), services);
        enqueue_waiting(self.shared);
    }
}

impl Sink for Imports<'_> {
    fn begins(&mut self, list: &Value) {
        let declared = Declared::of(list);
        if self.declared != declared {
            self.declared = declared;
            self.take();
        }
    }

    fn sees(&mut self, object: &Value) {
        if self.declared.add(object) {
            self.take();
        }
    }

    fn sees_gone(&mut self, object: &Value) {
        if self.declared.remove(object) {
            self.take();
        }
    }

    fn breaks(&mut self) {}
}

/// Applications that do not run are looked at.
fn enqueue_waiting(shared: &Shared) {
    let all = ObjectRef::local(V1BETA1, "Application", "", "");
    for app in shared.world.mirror().list(&all, "").unwrap_or_default() {
        if app["status"]["status"] != "running" {
            itself(Subject::Application, &app).into_iter().for_each(|key| shared.queue.add(key));
        }
    }
}

/// When a cluster answers again, Applications that wait for something are looked at.
async fn silent(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(clusters::SILENCE).await;
        if shared.world.clusters().recovered().await {
            enqueue_waiting(&shared);
        }
    }
}

/// Secrets of clusters: each that is joined is watched as long as it is.
async fn members(shared: Arc<Shared>) {
    let resource = Resource::namespaced("v1", "Secret", "secrets");
    let mut all = Members { shared: &shared, watched: HashMap::new() };
    Followed {
        client: &shared.client,
        resource: &resource,
        namespace: SYSTEM_NAMESPACE,
        selector: label::CLUSTER_CREDENTIAL,
    }
    .follow(&mut all)
    .await;
}

/// The watches of clusters, and the version of the Secret that each is reached by.
struct Members<'a> {
    shared: &'a Arc<Shared>,
    watched: HashMap<String, (String, Watch)>,
}

/// Ends with this.
struct Watch(AbortHandle);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Sink for Members<'_> {
    fn begins(&mut self, list: &Value) {
        let items = || list["items"].as_array().into_iter().flatten();
        self.watched.retain(|name, _| items().any(|it| it["metadata"]["name"] == name.as_str()));
        items().for_each(|it| self.sees(it));
    }

    fn sees(&mut self, secret: &Value) {
        let text = |key: &str| secret["metadata"][key].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("resourceVersion"));
        if self.watched.get(name).is_some_and(|it| it.0 == version) {
            return;
        }
        let task = tokio::spawn(member(self.shared.clone(), name.to_owned(), secret.clone()));
        let watch = (version.to_owned(), Watch(task.abort_handle()));
        self.watched.insert(name.to_owned(), watch);
    }

    fn sees_gone(&mut self, secret: &Value) {
        self.watched.remove(secret["metadata"]["name"].as_str().unwrap_or_default());
    }

    fn breaks(&mut self) {}
}

/// What Applications made in a cluster that is joined.
async fn member(shared: Arc<Shared>, name: String, secret: Value) {
    let client = match clusters::connect_patiently(&secret).await {
        Ok(client) => client,
        Err(reason) => {
            tracing::warn!(cluster = %name, %reason, "a cluster is not watched");
            return;
        }
    };
    let mut tasks = JoinSet::new();
    for (api_version, kind, plural) in OWNED {
        let resource = Resource::namespaced(api_version, kind, plural);
        tasks.spawn(far(shared.clone(), client.clone(), resource));
    }
    while tasks.join_next().await.is_some() {}
}

async fn far(shared: Arc<Shared>, client: Client, resource: Resource) {
    let mut changes = Far { shared: &shared, seen: None };
    let selector = made_by(Subject::Application);
    Followed { client: &client, resource: &resource, namespace: "", selector: &selector }
        .follow(&mut changes)
        .await;
}

/// Enqueues the Applications of what changed since the first list.
struct Far<'a> {
    shared: &'a Shared,
    /// Versions by namespace and name.
    seen: Option<HashMap<(String, String), String>>,
}

impl Far<'_> {
    fn place(object: &Value) -> ((String, String), String) {
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        (mirror::key(object), version.to_owned())
    }

    fn changed(&self, object: &Value) {
        if let Some(key) = owner(Subject::Application, object) {
            self.shared.queue.add(key);
        }
    }
}

impl Sink for Far<'_> {
    fn begins(&mut self, list: &Value) {
        let items = || list["items"].as_array().into_iter().flatten();
        if let Some(seen) = &self.seen {
            for item in items() {
                let (place, version) = Self::place(item);
                if seen.get(&place) != Some(&version) {
                    self.changed(item);
                }
            }
        }
        self.seen = Some(items().map(Self::place).collect());
    }

    fn sees(&mut self, object: &Value) {
        let (place, version) = Self::place(object);
        self.seen.get_or_insert_default().insert(place, version);
        self.changed(object);
    }

    fn sees_gone(&mut self, object: &Value) {
        self.seen.get_or_insert_default().remove(&Self::place(object).0);
        self.changed(object);
    }

    fn breaks(&mut self) {}
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::waits;

    #[test]
    fn definitions_that_nobody_recorded_are_looked_at_at_once() {
        let of = |namespace, status| {
            waits(&json!({"metadata": {"namespace": namespace}, "status": status}))
        };
        assert!(of("shop", json!(null)), "who recorded it died");
        assert!(!of("shop", json!({"latestRevision": {"name": "box-v1", "revision": 1}})));
        assert!(!of("vela-system", json!(null)), "a hundred of them come at once");
    }
}
