//! A small cluster in memory: objects, scripted answers of web servers, a clock that is set.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use lateen_charts::files::Files;
use lateen_engine::workflow::Host;
use lateen_engine::workflow::actions::Applied;
use lateen_engine::world::{
    Apply, Call, Checkout, Error, EventKind, HttpRequest, HttpResponse, LogPart, Mail, ObjectRef,
    PatchKind, Push, Pushed, Service, Tree, World,
};
use serde_json::{Map, Value, json};

use crate::fixture::is_selected;

type Key = (String, String, String, String);

fn key(at: &ObjectRef) -> Key {
    let cluster = if at.cluster == "local" { "" } else { &at.cluster };
    (cluster.to_owned(), at.kind.clone(), at.namespace.clone(), at.name.clone())
}

#[derive(Default)]
struct State {
    objects: BTreeMap<Key, Value>,
    requests: Vec<Value>,
    mails: Vec<Value>,
    admitted: BTreeMap<String, u32>,
    seconds: i64,
    version: u64,
    ids: u64,
}

pub(crate) struct Cluster {
    state: Mutex<State>,
    answers: Value,
    logs: Value,
    trees: Value,
    services: Value,
}

impl Cluster {
    /// As a case describes it: `objects`, `answers` by URL, `logs` by pod.
    pub(crate) fn new(case: &Value) -> Self {
        let mut state = State::default();
        for object in case["objects"].as_array().into_iter().flatten() {
            let cluster = object["cluster"].as_str().unwrap_or_default().to_owned();
            let mut object = object.clone();
            object.as_object_mut().expect("an object").remove("cluster");
            state.version += 1;
            object["metadata"]["resourceVersion"] = state.version.to_string().into();
            state.objects.insert(key(&ObjectRef::of(&object, &cluster)), object);
        }
        Self {
            state: Mutex::new(state),
            answers: case["answers"].clone(),
            logs: case["logs"].clone(),
            trees: case["trees"].clone(),
            services: case["services"].clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with it")
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.state().seconds += seconds;
    }

    /// Somebody else changes objects, or makes them.
    pub(crate) fn merge(&self, objects: &Value) {
        for object in objects.as_array().into_iter().flatten() {
            let at = ObjectRef::of(object, "");
            self.change(&at, object).expect("no version is given");
        }
    }

    pub(crate) fn requests(&self) -> Value {
        self.state().requests.clone().into()
    }

    pub(crate) fn mails(&self) -> Value {
        self.state().mails.clone().into()
    }

    /// The live object of that kind, namespace and name.
    pub(crate) fn find(&self, object: &Value) -> Option<Value> {
        let cluster = object["cluster"].as_str().unwrap_or_default();
        let mut live = self.state().objects.get(&key(&ObjectRef::of(object, cluster))).cloned()?;
        if !cluster.is_empty() {
            live["cluster"] = cluster.into();
        }
        Some(live)
    }

    fn change(&self, at: &ObjectRef, patch: &Value) -> Result<Value, Error> {
        let mut state = self.state();
        state.version += 1;
        let version = state.version.to_string();
        let live = state.objects.entry(key(at)).or_insert_with(|| json!({}));
        if let Some(wanted) = patch["metadata"]["resourceVersion"].as_str()
            && live["metadata"]["resourceVersion"] != wanted
        {
            return Err(Error::Conflict("the object has been modified".into()));
        }
        json_patch::merge(live, patch);
        live["metadata"]["resourceVersion"] = version.into();
        Ok(live.clone())
    }
}

fn files_of(tree: &Map<String, Value>) -> Files {
    let mut files = Files::default();
    for (path, text) in tree {
        let text = text.as_str().expect("a text").as_bytes().to_vec();
        files.add(path, text).expect("a path");
    }
    files
}

impl World for Cluster {
    fn get<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, Option<Value>> {
        Box::pin(async move { Ok(self.state().objects.get(&key(at)).cloned()) })
    }

    fn list<'a>(&'a self, of: &'a ObjectRef, labels: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(async move {
            let wanted = key(of);
            let state = self.state();
            let all = state.objects.iter().filter(|(at, object)| {
                at.0 == wanted.0
                    && at.1 == wanted.1
                    && (wanted.2.is_empty() || at.2 == wanted.2)
                    && is_selected(object, labels)
            });
            Ok(all.map(|it| it.1.clone()).collect())
        })
    }

    fn apply<'a>(&'a self, object: &'a Value, cluster: &'a str, _how: Apply) -> Call<'a, Value> {
        Box::pin(async move { self.change(&ObjectRef::of(object, cluster), object) })
    }

    fn create<'a>(&'a self, object: &'a Value) -> Call<'a, ()> {
        Box::pin(async move {
            let at = ObjectRef::of(object, "");
            if self.state().objects.contains_key(&key(&at)) {
                return Err(Error::Conflict(format!("{} already exists", at.name)));
            }
            self.change(&at, object).map(drop)
        })
    }

    fn replace<'a>(&'a self, object: &'a Value, cluster: &'a str) -> Call<'a, Value> {
        Box::pin(async move {
            let at = ObjectRef::of(object, cluster);
            self.state().objects.remove(&key(&at));
            let mut object = object.clone();
            object["metadata"]["resourceVersion"] = Value::Null;
            self.change(&at, &object)
        })
    }

    fn patch<'a>(&'a self, at: &'a ObjectRef, kind: PatchKind, body: &'a Value) -> Call<'a, Value> {
        Box::pin(async move {
            assert_eq!(kind, PatchKind::Merge);
            self.change(at, body)
        })
    }

    fn patch_status<'a>(&'a self, at: &'a ObjectRef, body: &'a Value) -> Call<'a, ()> {
        Box::pin(async move { self.change(at, body).map(drop) })
    }

    fn delete<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            self.state().objects.remove(&key(at));
            Ok(())
        })
    }

    fn event<'a>(
        &'a self,
        _about: &'a Value,
        _kind: EventKind,
        _reason: &'a str,
        _message: &'a str,
    ) -> Call<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// `services` by provider: addresses.
    fn service(&self, provider: &str) -> Option<Service> {
        let endpoint = self.services[provider].as_str()?.to_owned();
        Some(Service { endpoint, headers: vec![("X-Key".into(), "k".into())] })
    }

    /// `trees` by address: paths and texts.
    fn checkout<'a>(&'a self, what: &'a Checkout) -> Call<'a, Tree> {
        Box::pin(async move {
            self.state().requests.push(json!({
                "checkout": what.url, "revision": what.revision, "user": what.login.user,
            }));
            let Some(tree) = self.trees[&what.url].as_object() else {
                return Err(Error::Unavailable(format!("{}: no such repository", what.url)));
            };
            Ok(Tree { files: files_of(tree), commit: "c0ffee".into() })
        })
    }

    fn push<'a>(&'a self, what: &'a Push) -> Call<'a, Pushed> {
        Box::pin(async move {
            let files: Map<String, Value> =
                what.files.all().map(|(path, text)| (path.to_owned(), text.into())).collect();
            self.state().requests.push(json!({
                "push": what.url, "branch": what.branch, "folder": what.folder,
                "message": what.message, "files": files,
            }));
            Ok(Pushed { commit: "c0ffee".into(), changed: true })
        })
    }

    /// `trees` by address: the archive of the files there, or one file.
    fn download<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, Vec<u8>> {
        Box::pin(async move {
            match &self.trees[&request.url] {
                Value::String(text) => Ok(text.clone().into_bytes()),
                Value::Object(tree) => Ok(files_of(tree).to_archive()),
                _ => Err(Error::NotFound(format!("{}: there is no such file", request.url))),
            }
        })
    }

    fn http<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, HttpResponse> {
        Box::pin(async move {
            let headers: Vec<Value> = request
                .headers
                .iter()
                .map(|(name, value)| json!(format!("{name}: {value}")))
                .collect();
            let tls = request.tls.as_ref();
            self.state().requests.push(json!({
                "method": request.method,
                "url": request.url,
                "headers": headers,
                "body": request.body,
                "millis": request.timeout.map(|it| it.as_millis() as u64),
                "tls": tls.map(|it| json!([it.authority, it.certificate, it.key])),
            }));
            let answer = &self.answers[&request.url];
            if answer.is_null() {
                return Err(Error::Unavailable("connection refused".into()));
            }
            // `needs` is a header without which `challenge` is the answer.
            let needs = answer["needs"].as_str();
            let has = |wanted: &str| headers.iter().any(|it| it == wanted);
            if needs.is_some_and(|it| !has(it)) {
                let challenge = answer["challenge"].as_str().unwrap_or_default().to_owned();
                let headers = vec![("Www-Authenticate".to_owned(), challenge)];
                return Ok(HttpResponse { status: 401, body: String::new(), headers });
            }
            let body = match &answer["body"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let headers = answer["headers"].as_object().into_iter().flatten();
            let headers = headers
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
            Ok(HttpResponse {
                status: u16::try_from(answer["status"].as_u64().unwrap_or(200)).expect("a status"),
                body,
                headers: headers.collect(),
            })
        })
    }

    fn mail<'a>(&'a self, mail: &'a Mail) -> Call<'a, ()> {
        Box::pin(async move {
            if mail.password != "right" {
                return Err(Error::Forbidden("535 authentication failed".into()));
            }
            self.state().mails.push(json!({
                "from": mail.from, "alias": mail.alias, "server": format!("{}:{}", mail.host, mail.port),
                "to": mail.to, "subject": mail.subject, "body": mail.body,
            }));
            Ok(())
        })
    }

    fn logs<'a>(&'a self, pod: &'a ObjectRef, part: &'a LogPart) -> Call<'a, String> {
        Box::pin(async move {
            let text = self.logs[&pod.name].as_str();
            let text =
                text.ok_or_else(|| Error::NotFound(format!("pods {:?} not found", pod.name)))?;
            let lines: Vec<&str> = text.lines().collect();
            let tail =
                part.tail_lines.and_then(|it| usize::try_from(it).ok()).unwrap_or(lines.len());
            Ok(lines[lines.len().saturating_sub(tail)..].join("\n"))
        })
    }

    fn admits(&self, key: &str, limit: u32, _period: Duration) -> bool {
        let mut state = self.state();
        let count = state.admitted.entry(key.to_owned()).or_default();
        *count += 1;
        *count <= limit
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + self.state().seconds, 0).expect("a time")
    }

    fn random_id(&self) -> String {
        let mut state = self.state();
        state.ids += 1;
        format!("id{}", state.ids)
    }
}

/// An Application without an engine: components are ConfigMaps with their properties.
pub(crate) struct Owner<'a> {
    cluster: &'a Cluster,
    components: Vec<(String, Value)>,
    policies: Vec<(String, Value)>,
    recorded: Mutex<BTreeMap<Key, Value>>,
    debug: bool,
}

impl<'a> Owner<'a> {
    pub(crate) fn new(cluster: &'a Cluster, case: &Value) -> Self {
        let named = |list: &Value| {
            let all = list.as_array().into_iter().flatten();
            all.map(|it| (it["name"].as_str().expect("a name").to_owned(), it.clone())).collect()
        };
        Self {
            cluster,
            components: named(&case["components"]),
            policies: named(&case["policies"]),
            recorded: Mutex::default(),
            debug: case["debug"] == true,
        }
    }

    fn workload(component: &Value, namespace: &str) -> Value {
        let namespace = if namespace.is_empty() { "home" } else { namespace };
        let mut made = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": component["name"], "namespace": namespace},
            "data": component["properties"],
        });
        if component["properties"]["pods"].is_number() {
            made["spec"] = json!({"replicas": component["properties"]["pods"]});
        }
        made
    }

    async fn send(&self, workload: Value, cluster: &str) -> Result<Applied, Error> {
        let waiting = (workload["data"]["slow"] == "yes").then(|| "wait healthy".to_owned());
        let live = self.dispatch(vec![workload], cluster).await?;
        Ok(Applied { output: live[0].clone(), outputs: json!({}), waiting })
    }
}

impl Host for Owner<'_> {
    fn namespace(&self) -> &str {
        "home"
    }

    fn name(&self) -> &str {
        "app"
    }

    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(async move {
            let mut live = Vec::new();
            for object in objects {
                let at = key(&ObjectRef::of(&object, cluster));
                self.recorded.lock().expect("unpoisoned").insert(at, object.clone());
                live.push(self.cluster.apply(&object, cluster, Apply::FORCED).await?);
            }
            Ok(live)
        })
    }

    fn debug_object(&self, step_id: &str) -> Option<Value> {
        self.debug.then(|| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("app-{step_id}-debug"), "namespace": "home"},
            })
        })
    }

    fn recorded(&self, at: &ObjectRef) -> Option<Value> {
        self.recorded.lock().expect("unpoisoned").get(&key(at)).cloned()
    }

    fn forget<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            self.recorded.lock().expect("unpoisoned").remove(&key(at));
            Ok(())
        })
    }

    fn apply_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async move { self.send(Self::workload(component, namespace), cluster).await })
    }

    fn apply_changed<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
        change: &'a Value,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let mut workload = Self::workload(component, namespace);
            json_patch::merge(&mut workload, change);
            self.send(workload, cluster).await
        })
    }

    fn render_component<'a>(
        &'a self,
        component: &'a Value,
        _cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let output = Self::workload(component, namespace);
            Ok(Applied { output, outputs: json!({}), waiting: None })
        })
    }

    fn deploy<'a>(
        &'a self,
        policies: Vec<String>,
        _inline: Value,
        _parallelism: usize,
    ) -> Call<'a, Option<String>> {
        Box::pin(async move { Ok(policies.first().map(|it| format!("{it} is not healthy"))) })
    }

    fn placements(&self, policies: &[String]) -> Call<'_, Vec<(String, String)>> {
        let all = policies.iter().map(|it| (it.clone(), String::new())).collect();
        Box::pin(async move { Ok(all) })
    }

    fn components(&self) -> Vec<(String, Value)> {
        self.components.clone()
    }

    fn terraform_components(&self) -> Vec<String> {
        let terraform = self.components.iter().filter(|it| it.1["type"] == "cloud");
        terraform.map(|it| it.0.clone()).collect()
    }

    fn policies(&self) -> Vec<(String, Value)> {
        self.policies.clone()
    }
}
