//! The engine's World on a Kubernetes API.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use http::Method;
use kube::Client;
use lateen_engine::api::SYSTEM_NAMESPACE;
use lateen_engine::world::{
    Apply, Call, Error, HttpRequest, HttpResponse, LogPart, Mail, ObjectRef, PatchKind, World,
};
use serde_json::{Value, json};

use crate::kinds::Kinds;
use crate::mirror::Mirror;
use crate::observe::{Metrics, Request};
use crate::outside::Outside;
use crate::recorder::Recorder;
use crate::rest::{self, ActAs, Body};

/// Field manager of everything the engine writes.
pub const MANAGER: &str = "lateen";

/// Effects on one cluster.
#[derive(Clone)]
pub struct KubeWorld {
    client: Client,
    kinds: Arc<Kinds>,
    metrics: Arc<Metrics>,
    outside: Arc<Outside>,
    mirror: Arc<Mirror>,
    recorder: Recorder,
}

impl KubeWorld {
    /// On the cluster of `client`; within a tokio runtime, where events are sent from.
    pub fn new(client: Client, metrics: Arc<Metrics>) -> Self {
        let (kinds, outside, mirror) = Default::default();
        let recorder = Recorder::start(client.clone(), metrics.clone());
        Self { client, kinds, metrics, outside, mirror, recorder }
    }

    /// What watches have shown; whoever watches fills it.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// Waits until the events told so far are sent.
    pub async fn finish(&self) {
        self.recorder.finish().await;
    }

    async fn path(&self, at: &ObjectRef, name: Option<&str>) -> Result<String, Error> {
        if !at.cluster.is_empty() && at.cluster != "local" {
            return Err(Error::Unavailable(format!("cluster {} is not joined", at.cluster)));
        }
        let resource =
            self.kinds.resolve(&self.client, &at.api_version, &at.kind).await.map_err(classify)?;
        let namespace = if resource.namespaced && at.namespace.is_empty() && name.is_some() {
            "default"
        } else {
            &at.namespace
        };
        Ok(rest::path(&resource, namespace, name))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<(Body, &Value)>,
    ) -> Result<Value, Error> {
        self.metrics.requests.get_or_create(&Request::of(method.as_str(), path)).inc();
        tracing::trace!(%method, path, "request");
        let writes = method != Method::GET && method != Method::DELETE;
        let answer = rest::send(&self.client, method, path, body, &ActAs::default())
            .await
            .map_err(classify)?;
        if writes {
            self.mirror.saw(&answer);
        }
        Ok(answer)
    }
}

/// Whether an object is in the cluster the engine runs in.
fn is_local(at: &ObjectRef) -> bool {
    at.cluster.is_empty() || at.cluster == "local"
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

fn owned_by_manager(path: String, force: bool) -> String {
    let path = rest::with_query(path, "fieldManager", MANAGER);
    if force { rest::with_query(path, "force", "true") } else { path }
}

impl World for KubeWorld {
    fn get<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, Option<Value>> {
        Box::pin(async move {
            if let Some(known) = self.mirror.get(at).filter(|_| is_local(at)) {
                return Ok(Some(known));
            }
            // Definitions are looked for in the Application's namespace first, mostly in vain. Those
            // of the system's are asked for: they may have been made a moment ago.
            let elsewhere = at.kind.ends_with("Definition") && at.namespace != SYSTEM_NAMESPACE;
            if elsewhere && self.mirror.lacks(at) {
                return Ok(None);
            }
            let path = self.path(at, Some(&at.name)).await?;
            match self.send(Method::GET, &path, None).await {
                Ok(value) => Ok(Some(value)),
                Err(Error::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn list<'a>(&'a self, of: &'a ObjectRef, labels: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(async move {
            if let Some(known) = self.mirror.list(of, labels).filter(|_| is_local(of)) {
                return Ok(known);
            }
            let mut path = self.path(of, None).await?;
            if !labels.is_empty() {
                path = rest::with_query(path, "labelSelector", labels);
            }
            let mut list = self.send(Method::GET, &path, None).await?;
            Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
        })
    }

    fn apply<'a>(&'a self, object: &'a Value, cluster: &'a str, how: Apply) -> Call<'a, Value> {
        Box::pin(async move {
            let at = ObjectRef::of(object, cluster);
            let path = owned_by_manager(self.path(&at, Some(&at.name)).await?, how.force);
            self.send(Method::PATCH, &path, Some((Body::Apply, object))).await
        })
    }

    fn replace<'a>(&'a self, object: &'a Value, cluster: &'a str) -> Call<'a, Value> {
        Box::pin(async move {
            let at = ObjectRef::of(object, cluster);
            let path = owned_by_manager(self.path(&at, Some(&at.name)).await?, false);
            self.send(Method::PUT, &path, Some((Body::Json, object))).await
        })
    }

    fn patch<'a>(&'a self, at: &'a ObjectRef, kind: PatchKind, body: &'a Value) -> Call<'a, Value> {
        Box::pin(async move {
            let path = owned_by_manager(self.path(at, Some(&at.name)).await?, false);
            let kind = match kind {
                PatchKind::Merge => Body::MergePatch,
                PatchKind::Json => Body::JsonPatch,
                PatchKind::Strategic => Body::StrategicPatch,
            };
            self.send(Method::PATCH, &path, Some((kind, body))).await
        })
    }

    fn patch_status<'a>(&'a self, at: &'a ObjectRef, body: &'a Value) -> Call<'a, Value> {
        Box::pin(async move {
            let path = format!("{}/status", self.path(at, Some(&at.name)).await?);
            let path = owned_by_manager(path, false);
            self.send(Method::PATCH, &path, Some((Body::MergePatch, body))).await
        })
    }

    fn delete<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            let path = self.path(at, Some(&at.name)).await?;
            let path = rest::with_query(path, "propagationPolicy", "Background");
            self.mirror.lost(at);
            match self.send(Method::DELETE, &path, None).await {
                Ok(_) | Err(Error::NotFound(_)) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn event<'a>(
        &'a self,
        about: &'a Value,
        warning: bool,
        reason: &'a str,
        message: &'a str,
    ) -> Call<'a, ()> {
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
                "type": if warning { "Warning" } else { "Normal" },
                "reason": reason,
                "message": message,
                "source": {"component": "Application"},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            });
            self.recorder.tell(event);
            Ok(())
        })
    }

    fn http<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, HttpResponse> {
        Box::pin(self.outside.http(request))
    }

    fn mail<'a>(&'a self, mail: &'a Mail) -> Call<'a, ()> {
        Box::pin(self.outside.mail(mail))
    }

    fn is_namespaced<'a>(&'a self, api_version: &'a str, kind: &'a str) -> Call<'a, bool> {
        Box::pin(async move {
            let found = self.kinds.resolve(&self.client, api_version, kind).await;
            found.map(|it| it.namespaced).map_err(classify)
        })
    }

    fn kind_of<'a>(
        &'a self,
        group: &'a str,
        resource: &'a str,
        _cluster: &'a str,
    ) -> Call<'a, Option<(String, String)>> {
        Box::pin(
            async move { self.kinds.named(&self.client, group, resource).await.map_err(classify) },
        )
    }

    fn logs<'a>(&'a self, pod: &'a ObjectRef, part: &'a LogPart) -> Call<'a, String> {
        Box::pin(async move {
            let mut path = format!("{}/log", self.path(pod, Some(&pod.name)).await?);
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
                    path = rest::with_query(path, name, &value);
                }
            }
            self.metrics.requests.get_or_create(&Request::of("GET", &path)).inc();
            rest::text(&self.client, &path).await.map_err(classify)
        })
    }

    fn admits(&self, key: &str, limit: u32, period: Duration) -> bool {
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
