//! The audit log: who asked for what, and what came of it; a line for each request that comes through a
//! socket, as kube-apiserver writes them at level `Metadata` (`audit.k8s.io/v1`, kind `Event`).
//!
//! What is found out on the way (who asked, whether they may, what admission policies say) is noted with
//! the request at hand; where no log is kept that does nothing.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, SecondsFormat, Utc};
use http::header::USER_AGENT;
use http::request::Parts;
use serde_json::{Value, json};

use crate::auth::{Action, User};

tokio::task_local! {
    static NOTES: Notes;
}

/// What was found out about a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
struct Found {
    action: Action,
    user: Option<User>,
    acts_as: Option<User>,
    annotations: BTreeMap<String, String>,
}

impl Notes {
    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of the request at hand, for a thread that goes on with it; new ones if none are taken.
    pub(crate) fn at_hand() -> Notes {
        NOTES.try_with(Notes::clone).unwrap_or_default()
    }

    /// Runs what is to be noted here.
    pub(crate) async fn with<T>(self, work: impl Future<Output = T>) -> T {
        NOTES.scope(self, work).await
    }
}

fn note(what: impl FnOnce(&mut Found)) {
    let _ = NOTES.try_with(|notes| what(&mut notes.lock()));
}

/// What is asked for.
pub(crate) fn asks(action: &Action) {
    note(|found| found.action = action.clone());
}

/// Who asks.
pub(crate) fn by(user: &User) {
    note(|found| found.user = Some(user.clone()));
}

/// As whom.
pub(crate) fn acts_as(user: &User) {
    note(|found| found.acts_as = Some(user.clone()));
}

/// Whether they may, and why.
pub(crate) fn decided(allowed: Option<&str>) {
    note(|found| {
        let decision = if allowed.is_some() { "allow" } else { "forbid" };
        let told = [("decision", decision), ("reason", allowed.unwrap_or_default())];
        for (key, value) in told {
            found.annotations.insert(format!("authorization.k8s.io/{key}"), value.to_owned());
        }
    });
}

/// What an admission policy says of the request.
pub(crate) fn put(key: &str, value: String) {
    note(|found| drop(found.annotations.insert(key.to_owned(), value)));
}

/// The same; several values of a key are joined.
pub(crate) fn annotate(key: &str, value: &str) {
    note(|found| {
        let known = found.annotations.entry(key.to_owned()).or_default();
        if !known.is_empty() && !known.split(", ").any(|it| it == value) {
            known.push_str(", ");
            known.push_str(value);
        } else if known.is_empty() {
            value.clone_into(known);
        }
    });
}

/// A file that requests are written to.
#[derive(Debug)]
pub struct AuditLog(Mutex<File>);

/// A request, as it came.
pub(crate) struct Begun {
    received: DateTime<Utc>,
    uri: String,
    agent: String,
}

impl Begun {
    pub(crate) fn now(parts: &Parts) -> Begun {
        let agent = parts.headers.get(USER_AGENT).and_then(|it| it.to_str().ok());
        Begun {
            received: Utc::now(),
            uri: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            agent: agent.unwrap_or_default().to_owned(),
        }
    }
}

fn user(it: &User) -> Value {
    let mut told = json!({"username": it.name, "groups": it.groups});
    if !it.uid.is_empty() {
        told["uid"] = json!(it.uid);
    }
    told
}

fn time(it: DateTime<Utc>) -> String {
    it.to_rfc3339_opts(SecondsFormat::Micros, true)
}

impl AuditLog {
    /// Goes on with a file, or begins it.
    ///
    /// # Errors
    /// It cannot be written; the text names it.
    pub fn open(path: &Path) -> std::io::Result<AuditLog> {
        let told = |error: std::io::Error| {
            std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(told)?;
        Ok(AuditLog(file.into()))
    }

    /// Writes a request down: answered, or (`streams`) with an answer that has begun.
    #[allow(clippy::fn_params_excessive_bools, reason = "one of two stages")]
    pub(crate) fn write(
        &self,
        begun: &Begun,
        peer: SocketAddr,
        notes: &Notes,
        (code, streams): (u16, bool),
    ) {
        let found = notes.lock();
        let Action { verb, group, resource, subresource, namespace, name, .. } = &found.action;
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": uuid::Uuid::new_v4().to_string(),
            "stage": if streams { "ResponseStarted" } else { "ResponseComplete" },
            "requestURI": begun.uri,
            "verb": verb,
            "user": found.user.as_ref().map_or_else(|| json!({}), user),
        });
        if let Some(other) = &found.acts_as {
            event["impersonatedUser"] = user(other);
        }
        event["sourceIPs"] = json!([peer.ip().to_string()]);
        if !begun.agent.is_empty() {
            event["userAgent"] = json!(begun.agent);
        }
        if !resource.is_empty() {
            let version = match group.as_str() {
                "" => begun.uri.split('/').nth(2),
                _ => begun.uri.split('/').nth(3),
            };
            event["objectRef"] = json!({});
            let said = [
                ("resource", resource.as_str()),
                ("namespace", namespace),
                ("name", name),
                ("apiGroup", group),
                ("apiVersion", version.unwrap_or_default()),
                ("subresource", subresource),
            ];
            for (key, value) in said.into_iter().filter(|it| !it.1.is_empty()) {
                event["objectRef"][key] = json!(value);
            }
        }
        event["responseStatus"] = json!({"metadata": {}, "code": code});
        event["requestReceivedTimestamp"] = json!(time(begun.received));
        event["stageTimestamp"] = json!(time(Utc::now()));
        if !found.annotations.is_empty() {
            event["annotations"] = json!(found.annotations);
        }
        drop(found);
        let line = format!("{event}\n");
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}
