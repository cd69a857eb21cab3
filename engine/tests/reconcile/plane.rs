//! A Kubernetes API in memory: versions, generations, fields that are applied and no longer applied,
//! finalizers, owners, several clusters, a clock that is set, and a process that dies at a chosen call.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use chrono::{DateTime, Utc};
use lateen_engine::world::{
    Apply, Call, Error, EventKind, HttpRequest, HttpResponse, Identity, ObjectRef, PatchKind, World,
};
use serde_json::{Map, Value, json};

use crate::fixture::is_selected;

/// Cluster, group, kind, namespace, name.
type Key = (String, String, String, String, String);

fn key(at: &ObjectRef) -> Key {
    let cluster = if at.cluster == "local" { "" } else { &at.cluster };
    let group = at.api_version.split_once('/').map_or("", |it| it.0);
    (cluster.into(), group.into(), at.kind.clone(), at.namespace.clone(), at.name.clone())
}

/// How a call may fail though the process lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server takes no more for now (429, 500), or is not reached: nothing happened.
    Busy,
    /// It was carried out, but the answer did not come in time.
    Unheard,
    /// A write meets a newer version.
    Conflict,
}

impl Fault {
    pub(crate) const ALL: [Fault; 3] = [Fault::Busy, Fault::Unheard, Fault::Conflict];

    fn error(self) -> Error {
        match self {
            Fault::Busy => Error::Unavailable("the server is busy".into()),
            Fault::Unheard => Error::Unavailable("no answer in time".into()),
            Fault::Conflict => Error::Conflict("there is a newer version".into()),
        }
    }
}

#[derive(Default)]
struct State {
    objects: BTreeMap<Key, Value>,
    /// What was applied last, by object: fields that are left out next time go.
    applied: BTreeMap<Key, Value>,
    /// How often an object of this name is yet read as if it were not there.
    late: BTreeMap<String, usize>,
    /// How often there was an object that is gone.
    gone: BTreeMap<Key, usize>,
    unreachable: BTreeSet<String>,
    /// One call of so many fails.
    falters: Option<usize>,
    /// A call that fails.
    fault: Option<(usize, Fault)>,
    /// Verb and name, of lists the kind, that are refused.
    refused: BTreeSet<(String, String)>,
    writes: Vec<String>,
    /// By name of an object: who wrote it last.
    actors: BTreeMap<String, String>,
    seconds: i64,
    version: u64,
    ids: u64,
    calls: usize,
    tracker_writes: usize,
    /// The call after which the process dies.
    death: Option<usize>,
    /// Calls that changed something.
    effects: Vec<usize>,
    dead: bool,
}

#[derive(Default)]
pub(crate) struct Plane {
    state: Arc<Mutex<State>>,
    /// Who is acted for.
    who: String,
    /// The controller lets nothing leave the Application's namespace.
    pub(crate) homely: bool,
}

impl Plane {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with it")
    }

    /// The process dies once this call was carried out, and does not see the answer.
    pub(crate) fn die_after(&self, call: usize) {
        self.state().death = Some(call);
    }

    /// The same so many calls from now.
    pub(crate) fn die_within(&self, calls: usize) {
        let mut state = self.state();
        state.death = Some(state.calls + calls);
    }

    /// This call fails.
    pub(crate) fn fail_at(&self, call: usize, fault: Fault) {
        self.state().fault = Some((call, fault));
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.state().calls
    }

    /// Of so many calls one fails, each time otherwise.
    pub(crate) fn falter(&self, every: usize) {
        self.state().falters = Some(every);
    }

    /// The calls that changed something, by number. To die at any call is to die after one of these:
    /// what the process knew is lost, and the others leave no trace.
    pub(crate) fn effects(&self) -> Vec<usize> {
        self.state().effects.clone()
    }

    /// `get Box web`, `apply`, `patch`, `delete`, in order.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.state().writes.clone()
    }

    /// Who wrote an object of this name last.
    pub(crate) fn actor(&self, name: &str) -> Option<String> {
        self.state().actors.get(name).cloned()
    }

    pub(crate) fn refuse(&self, verb: &str, name: &str) {
        self.state().refused.insert((verb.into(), name.into()));
    }

    /// As a cache is behind: the next reads of objects of this name find nothing.
    pub(crate) fn hide(&self, name: &str, reads: usize) {
        self.state().late.insert(name.into(), reads);
    }

    pub(crate) fn cut(&self, cluster: &str) {
        self.state().unreachable.insert(cluster.into());
    }

    /// Everything answers again.
    pub(crate) fn heal(&self) {
        let mut state = self.state();
        state.refused.clear();
        state.unreachable.clear();
        (state.falters, state.death, state.fault) = (None, None, None);
    }

    /// As a user does it: no call of the engine.
    pub(crate) fn put(&self, object: &Value, cluster: &str) {
        let at = ObjectRef::of(object, cluster);
        self.state().change(&at, |live| json_patch::merge(live, object));
    }

    /// As a user does it.
    pub(crate) fn delete_now(&self, at: &ObjectRef) {
        self.state().delete(&key(at));
    }

    pub(crate) fn find(&self, at: &ObjectRef) -> Option<Value> {
        self.state().objects.get(&key(at)).cloned()
    }

    /// Later; workloads became ready meanwhile.
    pub(crate) fn pass_until(&self, time: DateTime<Utc>) {
        let mut state = self.state();
        state.seconds = state.seconds.max(time.timestamp() + 1 - EPOCH);
        let workloads: Vec<Key> =
            state.objects.keys().filter(|it| it.2 == "Deployment").cloned().collect();
        for at in workloads {
            let Some(live) = state.objects.get_mut(&at) else { continue };
            let replicas = live["spec"]["replicas"].as_i64().unwrap_or(1);
            live["status"] = json!({
                "observedGeneration": live["metadata"]["generation"],
                "replicas": replicas, "updatedReplicas": replicas,
                "readyReplicas": replicas, "availableReplicas": replicas,
            });
        }
    }

    /// Everything there is, without what differs from run to run.
    pub(crate) fn snapshot(&self) -> Value {
        let mut all = Map::new();
        for (at, object) in &self.state().objects {
            // Definitions never change here; what is remembered of attempts always does.
            if at.2.ends_with("Definition") {
                continue;
            }
            let mut object = object.clone();
            if at.4.ends_with("-context") {
                object["data"]["marks"] = Value::Null;
                object["metadata"]["generation"] = Value::Null;
            }
            // How many writes it took to name everything is up to what came together.
            if at.2 == "ResourceTracker" {
                object["metadata"]["generation"] = Value::Null;
            }
            object["metadata"]["resourceVersion"] = Value::Null;
            same_ids(&mut object);
            let text = TIMES.replace_all(&object.to_string(), "TIME").into_owned();
            let text = IDS.replace_all(&text, "ID").into_owned();
            let text = VERSIONS.replace_all(&text, "resourceVersion").into_owned();
            let object = serde_json::from_str(&text).expect("JSON");
            let (cluster, _, kind, namespace, name) = at;
            let mut key = format!("{cluster}|{kind}|{namespace}|{}", IDS.replace(name, "ID"));
            // Another one with another id is one too many, or was expected.
            while all.contains_key(&key) {
                key.push('+');
            }
            all.insert(key, object);
        }
        Value::Object(all)
    }

    /// Runs until it is ready, or the process dies and is started again.
    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..10_000 {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return Some(value);
            }
            let mut state = self.state();
            if std::mem::take(&mut state.dead) {
                state.death = None;
                return None;
            }
        }
        panic!("it waits for what never comes");
    }

    /// Of two changes of trackers that are under way, the second arrives first; those of Applications arrive
    /// after all that is written beside them.
    fn turns(&self, kind: &str) -> usize {
        match kind {
            "Application" => return 20,
            "ResourceTracker" => {}
            _ => return 0,
        }
        let state = &mut self.state();
        state.tracker_writes += 1;
        8 * (state.tracker_writes % 2)
    }

    fn call<'a, T: Send + 'a>(
        &'a self,
        verb: &'static str,
        at: ObjectRef,
        effect: impl FnOnce(&mut State, &ObjectRef) -> Result<T, Error> + Send + 'a,
    ) -> Call<'a, T> {
        Box::pin(async move {
            let result = self.state().serve(verb, &at, &self.who, effect);
            match result {
                Some(result) => result,
                None => std::future::pending().await,
            }
        })
    }
}

/// Ready at its so-manieth turn.
struct Later(usize);

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.0 {
            0 => Poll::Ready(()),
            turns => {
                self.0 = turns - 1;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// Ids of steps are drawn.
fn same_ids(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if key == "id" { *value = "ID".into() } else { same_ids(value) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(same_ids),
        _ => {}
    }
}

/// Ids of steps in texts and keys.
static IDS: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(r"\bid[0-9]{8}\b").expect("a pattern"));

/// Versions of objects, where a text shows them.
static VERSIONS: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(r#"resourceVersion: +\\"\d+\\""#).expect("a pattern"));

static TIMES: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)").expect("a pattern"));

const EPOCH: i64 = 1_700_000_000;

impl State {
    fn serve<T>(
        &mut self,
        verb: &str,
        at: &ObjectRef,
        who: &str,
        effect: impl FnOnce(&mut Self, &ObjectRef) -> Result<T, Error>,
    ) -> Option<Result<T, Error>> {
        if self.dead {
            return None;
        }
        self.calls += 1;
        let reads = matches!(verb, "get" | "list");
        let fault = match (self.fault, self.falters) {
            (Some((call, fault)), _) if call == self.calls => Some(fault),
            (_, Some(every)) if self.calls.is_multiple_of(every) => {
                Some(Fault::ALL[self.calls / every % Fault::ALL.len()])
            }
            _ => None,
        };
        // What only reads, fails before or after alike.
        let fault = fault.map(|it| if reads { Fault::Busy } else { it });
        if let Some(fault @ (Fault::Busy | Fault::Conflict)) = fault {
            return Some(Err(fault.error()));
        }
        if self.unreachable.contains(&at.cluster) {
            return Some(Err(Error::Unavailable(format!("cluster {} is gone", at.cluster))));
        }
        let named = if verb == "list" { &at.kind } else { &at.name };
        if self.refused.contains(&(verb.to_owned(), named.clone())) {
            return Some(Err(Error::Forbidden(format!("{verb} {named} is refused"))));
        }
        if !matches!(verb, "get" | "list" | "event") {
            self.writes.push(format!("{verb} {} {}", at.kind, at.name));
            self.actors.insert(at.name.clone(), who.to_owned());
        }
        let before = self.version;
        let result = effect(self, at);
        if self.version != before {
            self.effects.push(self.calls);
        }
        if self.death == Some(self.calls) {
            self.dead = true;
            return None;
        }
        Some(fault.map_or(result, |it| Err(it.error())))
    }

    fn change(&mut self, at: &ObjectRef, change: impl FnOnce(&mut Value)) -> Value {
        let at = key(at);
        let old = self.objects.get(&at).cloned();
        let mut new = old.clone().unwrap_or_else(|| json!({"metadata": {}}));
        change(&mut new);
        if at.2 == "Deployment" && new["spec"]["replicas"].is_null() {
            new["spec"]["replicas"] = 1.into();
        }
        if old.as_ref() == Some(&new) {
            return new;
        }
        self.version += 1;
        let same = old.as_ref().is_some_and(|old| content(old) == content(&new));
        let generation =
            old.as_ref().map_or(0, |it| it["metadata"]["generation"].as_i64().unwrap_or(0));
        let meta = &mut new["metadata"];
        meta["generation"] = (if same { generation } else { generation + 1 }).into();
        meta["resourceVersion"] = self.version.to_string().into();
        let (kind, deaths) = (at.2.as_str(), self.gone.get(&at).copied().unwrap_or_default());
        let life =
            if deaths > 0 && kind == "Application" { format!("-{deaths}") } else { String::new() };
        meta["uid"] = format!("uid-{kind}-{}-{}{life}", at.3, at.4).into();
        meta["creationTimestamp"] = "2023-11-14T22:13:20Z".into();
        let finalizers = meta["finalizers"].as_array().is_some_and(|it| !it.is_empty());
        self.objects.insert(at.clone(), new.clone());
        if new["metadata"]["deletionTimestamp"].is_string() && !finalizers {
            self.remove(&at);
        }
        new
    }

    fn delete(&mut self, at: &Key) {
        let Some(live) = self.objects.get_mut(at) else { return };
        if live["metadata"]["finalizers"].as_array().is_some_and(|it| !it.is_empty()) {
            self.version += 1;
            live["metadata"]["resourceVersion"] = self.version.to_string().into();
            live["metadata"]["deletionTimestamp"] = "2023-11-14T22:13:20Z".into();
        } else {
            self.remove(at);
        }
    }

    /// With everything it owns.
    fn remove(&mut self, at: &Key) {
        self.version += 1;
        self.applied.remove(at);
        let Some(gone) = self.objects.remove(at) else { return };
        *self.gone.entry(at.clone()).or_default() += 1;
        let owned: Vec<Key> = self
            .objects
            .iter()
            .filter(|(_, it)| {
                let owners = it["metadata"]["ownerReferences"].as_array();
                owners.is_some_and(|it| it.iter().any(|it| it["uid"] == gone["metadata"]["uid"]))
            })
            .map(|it| it.0.clone())
            .collect();
        owned.iter().for_each(|it| self.remove(it));
    }
}

fn content(object: &Value) -> Value {
    let mut content = object.clone();
    if let Some(map) = content.as_object_mut() {
        map.remove("metadata");
        map.remove("status");
    }
    content
}

/// Takes away what was applied and is not any more.
fn prune(live: &mut Value, last: &Value, new: &Value) {
    let (Some(live), Some(last)) = (live.as_object_mut(), last.as_object()) else { return };
    for (key, old) in last {
        match (new.get(key), live.get_mut(key)) {
            (Some(new), Some(live)) => prune(live, old, new),
            (None, Some(below)) if old.is_object() && below.is_object() => {
                prune(below, old, &json!({}));
                if below.as_object().is_some_and(Map::is_empty) {
                    live.remove(key);
                }
            }
            (None, Some(_)) => {
                live.remove(key);
            }
            (_, None) => {}
        }
    }
}

impl World for Plane {
    fn get<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, Option<Value>> {
        self.call("get", at.clone(), |state, at| {
            let late = state.late.get_mut(&at.name).filter(|it| **it > 0);
            if let Some(left) = late {
                *left -= 1;
                return Ok(None);
            }
            Ok(state.objects.get(&key(at)).cloned())
        })
    }

    fn list<'a>(&'a self, of: &'a ObjectRef, labels: &'a str) -> Call<'a, Vec<Value>> {
        self.call("list", of.clone(), move |state, of| {
            let wanted = key(of);
            let all = state.objects.iter().filter(|(at, object)| {
                (&at.0, &at.1, &at.2) == (&wanted.0, &wanted.1, &wanted.2)
                    && (wanted.3.is_empty() || at.3 == wanted.3)
                    && is_selected(object, labels)
            });
            Ok(all.map(|it| it.1.clone()).collect())
        })
    }

    fn apply<'a>(&'a self, object: &'a Value, cluster: &'a str, how: Apply) -> Call<'a, Value> {
        let mut object = object.clone();
        object.as_object_mut().expect("an object").remove("status");
        self.call("apply", ObjectRef::of(&object, cluster), move |state, at| {
            if how.only_new && state.objects.contains_key(&key(at)) {
                return Err(Error::Conflict("the object has been modified".into()));
            }
            let last = state.applied.insert(key(at), object.clone());
            Ok(state.change(at, |live| {
                if let Some(last) = &last {
                    prune(live, last, &object);
                }
                json_patch::merge(live, &object);
            }))
        })
    }

    fn create<'a>(&'a self, object: &'a Value) -> Call<'a, ()> {
        let mut object = object.clone();
        object.as_object_mut().expect("an object").remove("status");
        self.call("create", ObjectRef::of(&object, ""), move |state, at| {
            if state.objects.contains_key(&key(at)) {
                return Err(Error::Conflict(format!("{} {} already exists", at.kind, at.name)));
            }
            state.change(at, |live| *live = object);
            Ok(())
        })
    }

    fn replace<'a>(&'a self, object: &'a Value, cluster: &'a str) -> Call<'a, Value> {
        self.call("replace", ObjectRef::of(object, cluster), move |state, at| {
            let Some(live) = state.objects.get(&key(at)) else {
                return Err(Error::NotFound(format!("{} {} not found", at.kind, at.name)));
            };
            let wanted = &object["metadata"]["resourceVersion"];
            let any = at.kind == "ConfigMap" && wanted.is_null();
            if !any && live["metadata"]["resourceVersion"] != *wanted {
                return Err(Error::Conflict("the object has been modified".into()));
            }
            let meta = live["metadata"].clone();
            Ok(state.change(at, |live| {
                let status = live["status"].take();
                *live = object.clone();
                for key in ["generation", "uid", "creationTimestamp"] {
                    live["metadata"][key] = meta[key].clone();
                }
                if !status.is_null() {
                    live["status"] = status;
                }
            }))
        })
    }

    fn patch<'a>(&'a self, at: &'a ObjectRef, kind: PatchKind, body: &'a Value) -> Call<'a, Value> {
        assert_eq!(kind, PatchKind::Merge);
        let turns = self.turns(&at.kind);
        let written =
            self.call("patch", at.clone(), move |state, at| match state.objects.get(&key(at)) {
                None => Err(Error::NotFound(format!("{} {} not found", at.kind, at.name))),
                Some(_) => Ok(state.change(at, |live| json_patch::merge(live, body))),
            });
        Box::pin(async move {
            Later(turns).await;
            written.await
        })
    }

    fn patch_status<'a>(&'a self, at: &'a ObjectRef, body: &'a Value) -> Call<'a, ()> {
        self.call("status", at.clone(), move |state, at| {
            let Some(live) = state.objects.get(&key(at)) else {
                return Err(Error::NotFound(format!("{} {} not found", at.kind, at.name)));
            };
            let wanted = &body["metadata"]["resourceVersion"];
            if wanted.is_string() && live["metadata"]["resourceVersion"] != *wanted {
                return Err(Error::Conflict("the object has been modified".into()));
            }
            let status = json!({"status": body["status"]});
            state.change(at, |live| json_patch::merge(live, &status));
            Ok(())
        })
    }

    fn delete<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        self.call("delete", at.clone(), |state, at| {
            state.delete(&key(at));
            Ok(())
        })
    }

    fn event<'a>(
        &'a self,
        about: &'a Value,
        _kind: EventKind,
        _reason: &'a str,
        _message: &'a str,
    ) -> Call<'a, ()> {
        self.call("event", ObjectRef::of(about, ""), |_, _| Ok(()))
    }

    fn http<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, HttpResponse> {
        Box::pin(async move { Err(Error::Unavailable(format!("no web here: {}", request.url))) })
    }

    fn acting_as(&self, who: &Identity) -> Result<Box<dyn World + '_>, Error> {
        let who = match who.groups.as_slice() {
            [] => who.user.clone(),
            groups => format!("{} of {}", who.user, groups.join(", ")),
        };
        Ok(Box::new(Self { state: self.state.clone(), who, homely: self.homely }))
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(EPOCH + self.state().seconds, 0).expect("a time")
    }

    fn random_id(&self) -> String {
        let mut state = self.state();
        state.ids += 1;
        format!("id{:08}", state.ids)
    }
}
