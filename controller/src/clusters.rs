//! The clusters that are joined: a client for each, from the Secret that says how to reach it.
//!
//! A Secret of `vela-system` with label `cluster.core.oam.dev/cluster-credential-type` is a cluster of its
//! name. It holds `endpoint`, mostly `ca.crt`, and `token` or `tls.crt` and `tls.key`.
//!
//! 1. A Secret is read again when what is known of it is older than [`BELIEVED`]: a cluster that leaves,
//!    or changes its credentials, is noticed then.
//! 2. A cluster that does not answer is asked by one request at a time, every [`SILENCE`]; all others fail
//!    at once. Whoever works on other clusters never waits for it.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::Method;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use lateen_engine::api::SYSTEM_NAMESPACE;
use lateen_engine::api::names::{is_local, label};
use lateen_engine::render::ClusterVersion;
use lateen_engine::world::Error;
use serde_json::{Value, json};

use crate::connection::Client;
use crate::kinds::Kinds;
use crate::lease::Term;
use crate::rest::{self, ActAs};

/// How long a Secret that was read is believed.
const BELIEVED: Duration = Duration::from_secs(10);

/// How long a cluster may take to be connected to, and to answer.
const CONNECT: Duration = Duration::from_secs(3);
const ANSWER: Duration = Duration::from_secs(15);

/// How long the engine's own cluster may take: API servers end what takes them longer than a minute.
const OWN_ANSWER: Duration = Duration::from_secs(65);

/// How long a watch may say nothing.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long a cluster that did not answer is left alone.
pub const SILENCE: Duration = Duration::from_secs(5);

/// One cluster.
#[derive(Clone)]
pub struct Member {
    /// Its name; empty for the engine's own.
    name: String,
    /// Its API.
    pub client: Client,
    /// The kinds it serves.
    pub kinds: Arc<Kinds>,
    silent: Arc<Mutex<Option<Silent>>>,
    version: Arc<Mutex<Option<ClusterVersion>>>,
}

fn silence(lasted: Duration) -> rest::Error {
    rest::Error::Unreachable(format!("no answer within {} s", lasted.as_secs()))
}

/// A cluster did not answer.
struct Silent {
    /// When it may be asked again.
    until: Instant,
    /// What was said of it.
    why: String,
}

impl Member {
    fn new(name: &str, client: Client) -> Self {
        Self {
            name: name.to_owned(),
            client,
            kinds: Arc::default(),
            silent: Arc::default(),
            version: Arc::default(),
        }
    }

    /// Whether it is the cluster the engine runs in.
    pub fn is_own(&self) -> bool {
        self.name.is_empty()
    }

    /// Waits for an answer, but not for ever, and not if this cluster did not answer a moment ago: the
    /// engine's own is always asked.
    ///
    /// # Errors
    /// As the request failed, or because there is no answer.
    pub async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, rest::Error>> + Send,
    ) -> Result<T, rest::Error> {
        if self.name.is_empty() {
            let answer = tokio::time::timeout(OWN_ANSWER, request).await;
            return answer.unwrap_or_else(|_| Err(silence(OWN_ANSWER)));
        }
        if let Some(silent) = lock(&self.silent).as_mut() {
            let now = Instant::now();
            if now < silent.until {
                return Err(rest::Error::Unreachable(silent.why.clone()));
            }
            // This request finds out; all others wait for what it finds.
            silent.until = now + ANSWER;
        }
        let answer = tokio::time::timeout(ANSWER, request).await;
        let answer = answer.unwrap_or_else(|_| Err(silence(ANSWER)));
        *lock(&self.silent) = match &answer {
            Err(rest::Error::Unreachable(why)) => {
                Some(Silent { until: Instant::now() + SILENCE, why: why.clone() })
            }
            Ok(_) | Err(_) => None,
        };
        answer
    }

    /// Its version, asked for once.
    ///
    /// # Errors
    /// As the request failed.
    pub async fn version(&self) -> Result<ClusterVersion, rest::Error> {
        if let Some(known) = &*lock(&self.version) {
            return Ok(known.clone());
        }
        let found = self.ask(version(&self.client)).await?;
        *lock(&self.version) = Some(found.clone());
        Ok(found)
    }
}

/// What an API server says it is.
///
/// # Errors
/// As the request failed.
pub async fn version(client: &Client) -> Result<ClusterVersion, rest::Error> {
    let answer = rest::send(client, Method::GET, "/version", None, &ActAs::default()).await?;
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    Ok(ClusterVersion {
        major: text("major"),
        minor: text("minor"),
        git_version: text("gitVersion"),
        platform: text("platform"),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A cluster as it was joined.
struct Joined {
    /// `resourceVersion` of the Secret.
    version: String,
    read: Instant,
    member: Member,
}

/// The engine's own cluster and those that are joined.
pub struct Clusters {
    own: Member,
    joined: Mutex<HashMap<String, Joined>>,
}

impl Clusters {
    /// With the engine's own.
    pub fn new(client: Client) -> Self {
        Self { own: Member::new("", client), joined: Mutex::default() }
    }

    /// The cluster the engine runs in.
    pub fn own(&self) -> &Member {
        &self.own
    }

    /// The cluster of this name.
    ///
    /// # Errors
    /// There is none, which is `NotFound`; or its Secret cannot be read or does not say enough.
    pub async fn member(&self, name: &str) -> Result<Member, Error> {
        if is_local(name) {
            return Ok(self.own.clone());
        }
        if let Some(known) = self.known(name, |it| it.read.elapsed() < BELIEVED) {
            return Ok(known);
        }
        let path = format!("/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets/{name}");
        let secret = match rest::get(&self.own.client, &path, &ActAs::default()).await {
            Ok(Some(it)) if it["metadata"]["labels"][label::CLUSTER_CREDENTIAL].is_string() => it,
            Ok(_) => return Err(self.forget(name)),
            Err(error) => return Err(Error::Unavailable(format!("cluster {name}: {error}"))),
        };
        let version = text(&secret["metadata"]["resourceVersion"]).to_owned();
        if let Some(known) = self.known(name, |it| {
            let same = it.version == version;
            if same {
                it.read = Instant::now();
            }
            same
        }) {
            return Ok(known);
        }
        let client = client(&secret, ANSWER, self.own.client.term().clone())
            .await
            .map_err(|reason| Error::Forbidden(format!("cluster {name}: {reason}")))?;
        let member = Member::new(name, client);
        let joined = Joined { version, read: Instant::now(), member: member.clone() };
        lock(&self.joined).insert(name.to_owned(), joined);
        Ok(member)
    }

    /// Whether any cluster that did not answer answers again.
    pub async fn recovered(&self) -> bool {
        let silent = |it: &Joined| lock(&it.member.silent).is_some();
        let names: Vec<String> = {
            let all = lock(&self.joined);
            all.iter().filter(|it| silent(it.1)).map(|it| it.0.clone()).collect()
        };
        let mut any = false;
        for name in names {
            if let Ok(member) = self.member(&name).await {
                any |= member.ask(version(&member.client)).await.is_ok();
            }
        }
        any
    }

    fn known(&self, name: &str, good: impl FnOnce(&mut Joined) -> bool) -> Option<Member> {
        let mut all = lock(&self.joined);
        let found = all.get_mut(name)?;
        good(found).then(|| found.member.clone())
    }

    /// The cluster has left.
    fn forget(&self, name: &str) -> Error {
        lock(&self.joined).remove(name);
        Error::NotFound(format!("cluster {name} is not joined"))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text of a Secret, unless it is empty.
fn plain(secret: &Value, key: &str) -> Option<String> {
    let bytes = serde_json::from_value::<k8s_openapi::ByteString>(secret["data"][key].clone());
    let text = String::from_utf8(bytes.ok()?.0).ok()?;
    Some(text.trim().to_owned()).filter(|it| !it.is_empty())
}

/// Where a cluster is, by its Secret.
pub fn endpoint(secret: &Value) -> Option<String> {
    plain(secret, "endpoint")
}

/// Secrets are written in base64, which is what a kubeconfig wants of certificates.
fn kubeconfig(secret: &Value) -> Result<Value, String> {
    let data = &secret["data"];
    let endpoint = endpoint(secret).ok_or("its Secret has no endpoint")?;
    let mut cluster = json!({"server": endpoint});
    if let Some(proxy) = plain(secret, "proxy-url") {
        cluster["proxy-url"] = proxy.into();
    }
    match text(&data["ca.crt"]) {
        // As cluster-gateway has it: no authority, no verification.
        "" => cluster["insecure-skip-tls-verify"] = true.into(),
        authority => cluster["certificate-authority-data"] = authority.into(),
    }
    let user = match text(&secret["metadata"]["labels"][label::CLUSTER_CREDENTIAL]) {
        "ServiceAccountToken" => {
            json!({"token": plain(secret, "token").ok_or("its Secret has no token")?})
        }
        "X509Certificate" => {
            let (certificate, key) = (text(&data["tls.crt"]), text(&data["tls.key"]));
            if certificate.is_empty() || key.is_empty() {
                return Err("its Secret has no tls.crt and tls.key".into());
            }
            json!({"client-certificate-data": certificate, "client-key-data": key})
        }
        other => return Err(format!("credentials of type {other:?} are not known")),
    };
    Ok(json!({
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }))
}

/// A client by what a Secret of a cluster says.
///
/// # Errors
/// What it does not say, or says wrongly.
pub async fn connect(secret: &Value) -> Result<Client, String> {
    client(secret, ANSWER, Term::endless()).await
}

/// The same, for watches: they may be silent for long.
///
/// # Errors
/// As of [`connect`].
pub async fn connect_patiently(secret: &Value) -> Result<Client, String> {
    client(secret, PATIENCE, Term::endless()).await
}

async fn client(secret: &Value, answer: Duration, term: Term) -> Result<Client, String> {
    let file: Kubeconfig = serde_json::from_value(kubeconfig(secret)?)
        .map_err(|error| format!("its Secret cannot be read: {error}"))?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(file, &options)
        .await
        .map_err(|error| format!("its Secret cannot be used: {error}"))?;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(answer);
    Client::open(config, term).map_err(|error| format!("its Secret cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(kind: &str, data: Value) -> Value {
        json!({"metadata": {"name": "east", "labels": {label::CLUSTER_CREDENTIAL: kind}}, "data": data})
    }

    #[test]
    fn secrets_become_kubeconfigs() {
        let endpoint = "aHR0cHM6Ly9lYXN0OjY0NDM="; // https://east:6443
        let token = secret("ServiceAccountToken", json!({"endpoint": endpoint, "token": "dG9r"}));
        let made = kubeconfig(&token).expect("is complete");
        assert_eq!(
            made["clusters"][0]["cluster"],
            json!({"server": "https://east:6443", "insecure-skip-tls-verify": true})
        );
        assert_eq!(made["users"][0]["user"], json!({"token": "tok"}));

        let pair =
            json!({"endpoint": endpoint, "ca.crt": "Y2E=", "tls.crt": "Y3J0", "tls.key": "a2V5"});
        let made = kubeconfig(&secret("X509Certificate", pair)).expect("is complete");
        assert_eq!(made["clusters"][0]["cluster"]["certificate-authority-data"], "Y2E=");
        assert_eq!(
            made["users"][0]["user"],
            json!({"client-certificate-data": "Y3J0", "client-key-data": "a2V5"})
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let endpoint = "aHR0cHM6Ly9lYXN0OjY0NDM=";
        for (secret, want) in [
            (secret("ServiceAccountToken", json!({"token": "dG9r"})), "no endpoint"),
            (secret("ServiceAccountToken", json!({"endpoint": endpoint})), "no token"),
            (
                secret("X509Certificate", json!({"endpoint": endpoint, "tls.crt": "Y3J0"})),
                "tls.key",
            ),
            (secret("Dynamic", json!({"endpoint": endpoint})), "not known"),
            (
                secret("ServiceAccountToken", json!({"endpoint": "%%%", "token": "dG9r"})),
                "no endpoint",
            ),
        ] {
            let reason = kubeconfig(&secret).expect_err("is not complete");
            assert!(reason.contains(want), "{reason}");
        }
    }
}
