//! The engine's World on a Kubernetes API.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::connection::Client;
use chrono::{DateTime, SecondsFormat, Utc};
use http::Method;
use lateen_engine::api::SYSTEM_NAMESPACE;
use lateen_engine::api::names::is_local;
use lateen_engine::render::ClusterVersion;
use lateen_engine::world::{
    Apply, Call, Checkout, Error, EventKind, HttpRequest, HttpResponse, Identity, LogPart, Mail,
    ObjectRef, PatchKind, Push, Pushed, Service, Tree, World,
};
use serde_json::{Value, json};

use crate::calm::Notes;
use crate::clusters::{Clusters, Member};
use crate::git;
use crate::lease::OVER;
use crate::mirror::{self, Echo, Mirror};
use crate::observe::{Metrics, Request};
use crate::outside::Outside;
use crate::recorder::Recorder;
use crate::rest::{self, ActAs, Body};
use crate::run::Key;
use crate::watched;

/// Field manager of everything the engine writes.
pub const MANAGER: &str = "lateen";

/// A resourceVersion that no object has: applied with it, one that is there conflicts, and one that
/// is not there is made. Storage begins with revision 1, which writes nothing.
const NO_VERSION: &str = "1";

/// Effects on the engine's own cluster and on those that are joined.
#[derive(Clone)]
pub struct KubeWorld {
    clusters: Arc<Clusters>,
    /// For whom requests to clusters are made.
    identity: ActAs,
    metrics: Arc<Metrics>,
    outside: Arc<Outside>,
    mirror: Arc<Mirror>,
    recorder: Recorder,
    /// Of the reconcile that this world is for, if it is for one.
    turn: Option<Turn>,
    /// Where repositories may be.
    trust: git::Trust,
    /// Providers that only Package objects know.
    services: Arc<RwLock<HashMap<String, Service>>>,
}

impl KubeWorld {
    /// On the cluster of `client`, without effects once its term is over; within a tokio runtime, where events are
    /// sent from.
    pub fn new(client: Client, metrics: Arc<Metrics>) -> Self {
        let (identity, outside, mirror) = Default::default();
        let recorder = Recorder::start(client.clone(), metrics.clone());
        let clusters = Arc::new(Clusters::new(client));
        let (trust, services, turn) = Default::default();
        Self { clusters, identity, metrics, outside, mirror, recorder, turn, trust, services }
    }

    /// # Errors
    /// Somebody else may be acting by now.
    fn may_act(&self) -> Result<(), Error> {
        if self.clusters.own().client.term().lasts() {
            return Ok(());
        }
        Err(Error::Unavailable(OVER.into()))
    }

    /// Repositories may be elsewhere: in folders of this machine not where others say what is fetched.
    pub fn trusting(self, trust: git::Trust) -> Self {
        Self { trust, ..self }
    }

    /// The same for one reconcile: `notes` take down what it reads, and what it writes of its own is no
    /// reason for another.
    pub(crate) fn for_turn(&self, key: Key, notes: Arc<Notes>) -> Self {
        Self { turn: Some(Turn { key, notes }), ..self.clone() }
    }

    /// More is done than read what watches show.
    fn acts(&self) {
        if let Some(turn) = &self.turn {
            turn.notes.spoil();
        }
    }

    /// Providers that Package objects declare, in place of those declared before.
    pub fn ask_of(&self, services: HashMap<String, Service>) {
        *self.services.write().unwrap_or_else(PoisonError::into_inner) = services;
    }

    /// What watches have shown; whoever watches fills it.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// The clusters that are joined.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// Waits until the events told so far are sent.
    pub async fn finish(&self) {
        self.recorder.finish().await;
    }

    /// What watches have shown, for requests that they answer: of the engine's own cluster, and not
    /// for somebody who may be allowed to see less.
    fn shown(&self, at: &ObjectRef) -> Option<&Mirror> {
        (is_local(&at.cluster) && self.identity == ActAs::default()).then_some(&self.mirror)
    }

    async fn target(&self, at: &ObjectRef, name: Option<&str>) -> Result<Target, Error> {
        let member = self.clusters.member(&at.cluster).await?;
        let resource = member
            .ask(member.kinds.resolve(&member.client, &at.api_version, &at.kind))
            .await
            .map_err(classify)?;
        let namespace = if resource.namespaced && at.namespace.is_empty() && name.is_some() {
            "default"
        } else {
            &at.namespace
        };
        let path = rest::path(&resource, namespace, name);
        Ok(Target { member, path })
    }

    /// A write is about to be sent: a list that is on its way may be older.
    fn writes(&self, to: &Target, at: &ObjectRef) {
        if to.member.is_own() {
            self.mirror.writes(at);
        }
    }

    async fn send(
        &self,
        method: Method,
        to: &Target,
        body: Option<(Body, &Value)>,
    ) -> Result<Value, Error> {
        self.acts();
        let Target { member, path } = to;
        let writes = method != Method::GET;
        if writes {
            self.may_act()?;
        }
        self.metrics.requests.get_or_create(&Request::of(method.as_str(), path)).inc();
        let answer =
            member.ask(rest::send(&member.client, method, path, body, &self.identity)).await;
        let answer = answer.map_err(classify)?;
        if writes && member.is_own() {
            let own = |it: &&Turn| watched::hears(&answer).as_ref() == Some(&it.key);
            let echo = match self.turn.as_ref().filter(own) {
                Some(turn) => {
                    turn.notes.wrote(mirror::version(&answer));
                    Echo::Expected
                }
                None => Echo::News,
            };
            self.mirror.answered(&answer, echo);
        }
        Ok(answer)
    }

    /// A write whose answer nobody asked for: it is parsed only if what watches have shown is the newer
    /// for it. `about` is what is written, as far as that is known.
    async fn tell(
        &self,
        method: Method,
        to: &Target,
        body: (Body, &Value),
        about: &Value,
    ) -> Result<(), Error> {
        let Target { member, path } = to;
        if member.is_own() && self.mirror.follows(about) {
            return self.send(method, to, Some(body)).await.map(drop);
        }
        self.acts();
        self.may_act()?;
        self.metrics.requests.get_or_create(&Request::of(method.as_str(), path)).inc();
        let told = rest::tell(&member.client, method, path, Some(body), &self.identity);
        member.ask(told).await.map_err(classify)
    }
}

/// A reconcile.
#[derive(Clone)]
struct Turn {
    key: Key,
    notes: Arc<Notes>,
}

/// Where a request goes.
struct Target {
    member: Member,
    path: String,
}

impl Target {
    fn with_query(self, name: &str, value: &str) -> Self {
        Self { path: rest::with_query(self.path, name, value), ..self }
    }

    fn owned_by_manager(self) -> Self {
        self.with_query("fieldManager", MANAGER)
    }

    /// Takes fields over from other managers.
    fn forced(self) -> Self {
        self.with_query("force", "true")
    }

    fn below(self, part: &str) -> Self {
        Self { path: format!("{}/{part}", self.path), ..self }
    }
}

/// Sorts refusals into what the engine tells apart.
fn classify(error: rest::Error) -> Error {
    let text = error.to_string();
    if let rest::Error::UnknownKind { .. } = error {
        return Error::Invalid(text);
    }
    match error.code() {
        404 => Error::NotFound(text),
        409 => Error::Conflict(text),
        401 | 403 => Error::Forbidden(text),
        400 | 405 | 413 | 415 | 422 => Error::Invalid(text),
        _ => Error::Unavailable(text),
    }
}

impl World for KubeWorld {
    fn get<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, Option<Value>> {
        Box::pin(async move {
            let shown = self.shown(at);
            if let Some(known) = shown.and_then(|it| it.get(at)) {
                if let Some(turn) = &self.turn {
                    turn.notes.object(at, Some(&known));
                }
                return Ok(Some(known));
            }
            // Definitions are looked for in the Application's namespace first, mostly in vain. Those
            // of the system's are asked for: they may have been made a moment ago.
            let elsewhere = at.kind.ends_with("Definition") && at.namespace != SYSTEM_NAMESPACE;
            // What is reconciled because a watch told of it is gone if that watch says so.
            let own = at.kind == "Application"
                && self
                    .turn
                    .as_ref()
                    .is_some_and(|it| it.key.1 == at.namespace && it.key.2 == at.name);
            if (elsewhere || own) && shown.is_some_and(|it| it.lacks(at)) {
                if let Some(turn) = &self.turn {
                    turn.notes.object(at, None);
                }
                return Ok(None);
            }
            let to = self.target(at, Some(&at.name)).await?;
            match self.send(Method::GET, &to, None).await {
                Ok(value) => Ok(Some(value)),
                Err(Error::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn list<'a>(&'a self, of: &'a ObjectRef, labels: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(async move {
            if let Some(known) = self.shown(of).and_then(|it| it.list(of, labels)) {
                if let Some(turn) = &self.turn {
                    turn.notes.list(of, labels, &known);
                }
                return Ok(known);
            }
            let mut to = self.target(of, None).await?;
            if !labels.is_empty() {
                to = to.with_query("labelSelector", labels);
            }
            let mut list = self.send(Method::GET, &to, None).await?;
            Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
        })
    }

    fn apply<'a>(&'a self, object: &'a Value, cluster: &'a str, how: Apply) -> Call<'a, Value> {
        Box::pin(async move {
            let at = ObjectRef::of(object, cluster);
            let to = self.target(&at, Some(&at.name)).await?.owned_by_manager();
            let to = if how.force { to.forced() } else { to };
            self.writes(&to, &at);
            if how.only_new {
                let mut object = object.clone();
                object["metadata"]["resourceVersion"] = NO_VERSION.into();
                return self.send(Method::PATCH, &to, Some((Body::Apply, &object))).await;
            }
            self.send(Method::PATCH, &to, Some((Body::Apply, object))).await
        })
    }

    fn create<'a>(&'a self, object: &'a Value) -> Call<'a, ()> {
        Box::pin(async move {
            let at = ObjectRef::of(object, "");
            let to = self.target(&at, None).await?.owned_by_manager();
            self.writes(&to, &at);
            let made = self.tell(Method::POST, &to, (Body::Json, object), object).await;
            if let Err(Error::Unavailable(_)) = made {
                self.mirror.doubt_made(object);
            }
            made
        })
    }

    fn replace<'a>(&'a self, object: &'a Value, cluster: &'a str) -> Call<'a, Value> {
        Box::pin(async move {
            let at = ObjectRef::of(object, cluster);
            let to = self.target(&at, Some(&at.name)).await?.owned_by_manager();
            self.writes(&to, &at);
            self.send(Method::PUT, &to, Some((Body::Json, object))).await
        })
    }

    fn patch<'a>(&'a self, at: &'a ObjectRef, kind: PatchKind, body: &'a Value) -> Call<'a, Value> {
        Box::pin(async move {
            let to = self.target(at, Some(&at.name)).await?.owned_by_manager();
            self.writes(&to, at);
            let kind = match kind {
                PatchKind::Merge => Body::MergePatch,
                PatchKind::Json => Body::JsonPatch,
                PatchKind::Strategic => Body::StrategicPatch,
            };
            self.send(Method::PATCH, &to, Some((kind, body))).await
        })
    }

    fn patch_status<'a>(&'a self, at: &'a ObjectRef, body: &'a Value) -> Call<'a, ()> {
        Box::pin(async move {
            let to = self.target(at, Some(&at.name)).await?.below("status").owned_by_manager();
            self.writes(&to, at);
            let about = json!({
                "apiVersion": at.api_version,
                "kind": at.kind,
                "metadata": {"name": at.name, "namespace": at.namespace},
            });
            self.tell(Method::PATCH, &to, (Body::MergePatch, body), &about).await
        })
    }

    fn delete<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            let to = self.target(at, Some(&at.name)).await?;
            let to = to.with_query("propagationPolicy", "Background");
            self.acts();
            self.may_act()?;
            self.writes(&to, at);
            if to.member.is_own() {
                self.mirror.doubt(at);
            }
            let Target { member, path } = &to;
            self.metrics.requests.get_or_create(&Request::of("DELETE", path)).inc();
            let gone = rest::tell(&member.client, Method::DELETE, path, None, &self.identity);
            match member.ask(gone).await.map_err(classify) {
                Ok(()) | Err(Error::NotFound(_)) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn event<'a>(
        &'a self,
        about: &'a Value,
        kind: EventKind,
        reason: &'a str,
        message: &'a str,
    ) -> Call<'a, ()> {
        self.acts();
        Box::pin(async move {
            let at = ObjectRef::of(about, "");
            let now = self.now().to_rfc3339_opts(SecondsFormat::Secs, true);
            let mut message = message.to_owned();
            message.truncate(message.floor_char_boundary(1_000));
            let event = json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {
                    "name": format!("{}.{}", at.name, self.random_id()),
                    "namespace": at.namespace,
                },
                "involvedObject": {
                    "apiVersion": at.api_version,
                    "kind": at.kind,
                    "namespace": at.namespace,
                    "name": at.name,
                    "uid": about["metadata"]["uid"],
                },
                "type": match kind {
                    EventKind::Normal => "Normal",
                    EventKind::Warning => "Warning",
                },
                "reason": reason,
                "message": message,
                "source": {"component": "Application"},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            });
            self.recorder.tell(event).await;
            Ok(())
        })
    }

    fn http<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, HttpResponse> {
        self.acts();
        Box::pin(async move {
            self.may_act()?;
            self.outside.http(request).await
        })
    }

    fn download<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, Vec<u8>> {
        self.acts();
        Box::pin(self.outside.download(request))
    }

    fn checkout<'a>(&'a self, what: &'a Checkout) -> Call<'a, Tree> {
        self.acts();
        Box::pin(self.outside.checkout(what, self.trust))
    }

    fn push<'a>(&'a self, what: &'a Push) -> Call<'a, Pushed> {
        self.acts();
        Box::pin(async move {
            self.may_act()?;
            git::push(what, self.trust).await
        })
    }

    fn mail<'a>(&'a self, mail: &'a Mail) -> Call<'a, ()> {
        self.acts();
        Box::pin(async move {
            self.may_act()?;
            self.outside.mail(mail).await
        })
    }

    fn acting_as(&self, who: &Identity) -> Result<Box<dyn World + '_>, Error> {
        let identity = ActAs { user: who.user.clone(), groups: who.groups.clone() };
        Ok(Box::new(Self { identity, ..self.clone() }))
    }

    fn cluster_version<'a>(&'a self, cluster: &'a str) -> Call<'a, Option<ClusterVersion>> {
        self.acts();
        Box::pin(async move {
            let member = self.clusters.member(cluster).await?;
            member.version().await.map(Some).map_err(classify)
        })
    }

    fn is_namespaced<'a>(
        &'a self,
        api_version: &'a str,
        kind: &'a str,
        cluster: &'a str,
    ) -> Call<'a, bool> {
        Box::pin(async move {
            let member = self.clusters.member(cluster).await?;
            let found = member.ask(member.kinds.resolve(&member.client, api_version, kind)).await;
            found.map(|it| it.namespaced).map_err(classify)
        })
    }

    fn kind_of<'a>(
        &'a self,
        group: &'a str,
        resource: &'a str,
        cluster: &'a str,
    ) -> Call<'a, Option<(String, String)>> {
        Box::pin(async move {
            let member = self.clusters.member(cluster).await?;
            member.ask(member.kinds.named(&member.client, group, resource)).await.map_err(classify)
        })
    }

    fn logs<'a>(&'a self, pod: &'a ObjectRef, part: &'a LogPart) -> Call<'a, String> {
        self.acts();
        Box::pin(async move {
            let mut to = self.target(pod, Some(&pod.name)).await?.below("log");
            let number = |it: Option<i64>| it.map(|it| it.to_string()).unwrap_or_default();
            let yes = |it: bool| if it { "true".to_owned() } else { String::new() };
            for (name, value) in [
                ("container", part.container.clone()),
                ("previous", yes(part.previous)),
                ("sinceSeconds", number(part.since_seconds)),
                ("sinceTime", part.since_time.clone()),
                ("timestamps", yes(part.timestamps)),
                ("tailLines", number(part.tail_lines)),
                ("limitBytes", number(part.limit_bytes)),
            ] {
                if !value.is_empty() {
                    to = to.with_query(name, &value);
                }
            }
            self.metrics.requests.get_or_create(&Request::of("GET", &to.path)).inc();
            let Target { member, path } = &to;
            member.ask(rest::text(&member.client, path, &self.identity)).await.map_err(classify)
        })
    }

    fn service(&self, provider: &str) -> Option<Service> {
        self.acts();
        self.services.read().unwrap_or_else(PoisonError::into_inner).get(provider).cloned()
    }

    fn admits(&self, key: &str, limit: u32, period: Duration) -> bool {
        self.acts();
        self.outside.admits(key, limit, period, Instant::now())
    }

    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn random_id(&self) -> String {
        use rand::Rng as _;
        const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut rng = rand::rng();
        (0..10).map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())])).collect()
    }
}
