//! Leader election by a Lease: at most one controller acts.
//!
//! The rules are client-go's: a lease is held for `duration` after its last renewal as *this*
//! process saw it change, so clocks of different machines are never compared.

use std::time::Duration;

use crate::connection::Client;
use chrono::{SecondsFormat, Utc};
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::kinds::Resource;
use crate::rest::{self, ActAs, Body, Error};

/// Which lease, held by whom, for how long.
#[derive(Clone, Debug)]
pub struct Election {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Who we are; unique per process.
    pub identity: String,
    /// How long a holder that does not renew is believed.
    pub duration: Duration,
    /// How often the holder renews, and others look.
    pub retry: Duration,
}

/// What was last seen of the lease, and when.
struct Seen {
    holder: String,
    renewed: String,
    at: Instant,
}

/// Campaigns for and keeps one lease.
pub struct Candidate {
    client: Client,
    election: Election,
    seen: Option<Seen>,
}

impl Candidate {
    /// Takes part in `election`.
    pub fn new(client: Client, election: Election) -> Self {
        Self { client, election, seen: None }
    }

    /// Returns once we hold the lease.
    pub async fn win(&mut self) {
        loop {
            match self.attempt().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "leader election: no answer"),
            }
            tokio::time::sleep(self.election.retry).await;
        }
    }

    /// Renews until the lease is lost, then returns.
    pub async fn hold(&mut self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(self.election.retry).await;
            match self.attempt().await {
                Ok(true) => renewed = Instant::now(),
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "leader election: renewing failed"),
            }
            // Stop before others may start.
            if renewed.elapsed() + self.election.retry >= self.election.duration {
                return;
            }
        }
    }

    /// Gives the lease up, so that a successor need not wait.
    pub async fn release(&mut self) {
        if let Ok(Some(mut lease)) = self.read().await
            && holder(&lease) == self.election.identity
        {
            lease["spec"]["holderIdentity"] = json!("");
            let _ = self.put(&lease).await;
        }
    }

    /// Takes or renews the lease if that is allowed now.
    async fn attempt(&mut self) -> Result<bool, Error> {
        let Some(mut lease) = self.read().await? else {
            return self.create().await;
        };
        let holder = holder(&lease).to_owned();
        let renewed = lease["spec"]["renewTime"].as_str().unwrap_or_default().to_owned();
        let changed =
            self.seen.as_ref().is_none_or(|it| it.holder != holder || it.renewed != renewed);
        if changed {
            self.seen = Some(Seen { holder: holder.clone(), renewed, at: Instant::now() });
        }
        let ours = holder == self.election.identity;
        let expired =
            self.seen.as_ref().is_some_and(|it| it.at.elapsed() >= self.election.duration);
        if !ours && !holder.is_empty() && !expired {
            return Ok(false);
        }
        let now = now();
        let transitions = lease["spec"]["leaseTransitions"].as_i64().unwrap_or(0);
        let spec = &mut lease["spec"];
        if !ours {
            spec["leaseTransitions"] = json!(transitions + 1);
            spec["acquireTime"] = json!(now);
        }
        spec["holderIdentity"] = json!(self.election.identity);
        spec["renewTime"] = json!(now);
        spec["leaseDurationSeconds"] = json!(self.election.duration.as_secs());
        self.put(&lease).await
    }

    async fn create(&self) -> Result<bool, Error> {
        let now = now();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.election.name, "namespace": self.election.namespace},
            "spec": {
                "holderIdentity": self.election.identity,
                "leaseDurationSeconds": self.election.duration.as_secs(),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        });
        let path = rest::path(&leases(), &self.election.namespace, None);
        won(rest::send(
            &self.client,
            Method::POST,
            &path,
            Some((Body::Json, &lease)),
            &ActAs::default(),
        )
        .await)
    }

    async fn read(&self) -> Result<Option<Value>, Error> {
        rest::get(&self.client, &self.path(), &ActAs::default()).await
    }

    async fn put(&self, lease: &Value) -> Result<bool, Error> {
        let body = Some((Body::Json, lease));
        won(rest::send(&self.client, Method::PUT, &self.path(), body, &ActAs::default()).await)
    }

    fn path(&self) -> String {
        rest::path(&leases(), &self.election.namespace, Some(&self.election.name))
    }
}

/// A conflict means that somebody else was faster.
fn won(result: Result<Value, Error>) -> Result<bool, Error> {
    match result {
        Ok(_) => Ok(true),
        Err(error) if error.code() == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

fn leases() -> Resource {
    Resource::namespaced("coordination.k8s.io/v1", "Lease", "leases")
}

fn holder(lease: &Value) -> &str {
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default()
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}
