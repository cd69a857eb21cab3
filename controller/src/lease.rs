//! Leader election by a Lease: at most one controller acts.
//!
//! The rules are client-go's: a lease is held for as long as it says after its last renewal as *this*
//! process saw it change, so clocks of different machines are never compared. What client-go leaves to
//! whoever leads is done here too: a [`Term`] counts from before a renewal was sent, ends while others still
//! wait, and without it nothing is written.

use std::sync::{Arc, Mutex, PoisonError};
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
    /// How long a holder that does not renew is believed. The Lease says it in whole seconds.
    pub duration: Duration,
    /// How long the holder acts without having renewed: shorter, so that it has stopped when others start.
    pub patience: Duration,
    /// How often the holder renews, and others look.
    pub retry: Duration,
}

/// Times with which an election cannot be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A Lease cannot say so.
    #[error("a lease lasts whole seconds, not {0:?}")]
    Fraction(Duration),
    /// The leader would still act when others begin.
    #[error("the renew deadline ({patience:?}) must be shorter than the lease ({duration:?})")]
    Late {
        /// As given.
        patience: Duration,
        /// As given.
        duration: Duration,
    },
    /// The leader would not renew in time.
    #[error(
        "the retry period ({retry:?}) must be longer than nothing and shorter than the renew deadline ({patience:?})"
    )]
    Rare {
        /// As given.
        retry: Duration,
        /// As given.
        patience: Duration,
    },
}

impl Election {
    /// # Errors
    /// Its times do not fit together.
    pub fn checked(self) -> Result<Self, Unfit> {
        let Self { duration, patience, retry, .. } = self;
        if duration.as_secs() == 0 || duration.subsec_nanos() != 0 {
            return Err(Unfit::Fraction(duration));
        }
        if patience >= duration {
            return Err(Unfit::Late { patience, duration });
        }
        if retry.is_zero() || retry >= patience {
            return Err(Unfit::Rare { retry, patience });
        }
        Ok(self)
    }
}

/// A name that no other process has, not even one of the same name on another machine.
pub fn identity(host: &str) -> String {
    format!("{host}_{:016x}", rand::random::<u64>())
}

/// What is told of what would be done after a term.
pub(crate) const OVER: &str = "this controller does not lead any more";

/// Until when the one who has it may act. Clones are one and the same.
#[derive(Clone, Debug)]
pub struct Term {
    /// `None`: for ever.
    end: Arc<Mutex<Option<Instant>>>,
}

impl Term {
    /// Of one who has no rivals.
    pub fn endless() -> Self {
        Self { end: Arc::new(Mutex::new(None)) }
    }

    fn over() -> Self {
        Self { end: Arc::new(Mutex::new(Some(Instant::now()))) }
    }

    /// Whether it lasts.
    pub fn lasts(&self) -> bool {
        self.end().is_none_or(|it| Instant::now() < it)
    }

    fn end(&self) -> Option<Instant> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, end: Instant) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }
}

/// What was last seen of the lease, and when.
struct Seen {
    holder: String,
    renewed: String,
    /// How long it is held from then.
    lasts: Duration,
    at: Instant,
}

/// Campaigns for and keeps one lease.
pub struct Candidate {
    client: Client,
    election: Election,
    seen: Option<Seen>,
    term: Term,
}

impl Candidate {
    /// Takes part in `election`.
    pub fn new(client: Client, election: Election) -> Self {
        Self { client, election, seen: None, term: Term::over() }
    }

    /// What lasts while we hold the lease.
    pub fn term(&self) -> Term {
        self.term.clone()
    }

    /// Returns once we hold the lease.
    pub async fn win(&mut self) {
        loop {
            let patience = self.election.patience;
            match tokio::time::timeout(patience, self.attempt()).await {
                Ok(Ok(true)) if self.term.lasts() => return,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(%error, "leader election: no answer"),
                Err(_) => tracing::warn!(?patience, "leader election: no answer"),
            }
            tokio::time::sleep(self.election.retry).await;
        }
    }

    /// Renews until the lease is lost, then returns: the term is over.
    pub async fn hold(&mut self) {
        while let Some(end) = self.term.end().filter(|it| Instant::now() < *it) {
            let renewed = async {
                tokio::time::sleep(self.election.retry).await;
                self.attempt().await
            };
            match tokio::time::timeout_at(end, renewed).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.term.set(Instant::now()),
                Ok(Err(error)) => tracing::warn!(%error, "leader election: renewing failed"),
                Err(_) => tracing::warn!("leader election: not renewed in time"),
            }
        }
    }

    /// Gives the lease up, so that a successor need not wait.
    pub async fn release(&mut self) {
        self.term.set(Instant::now());
        if let Ok(Some(mut lease)) = self.read().await
            && holder(&lease) == self.election.identity
        {
            lease["spec"]["holderIdentity"] = json!("");
            let _ = self.put(&lease).await;
        }
    }

    /// Takes or renews the lease if that is allowed now, and the term with it.
    async fn attempt(&mut self) -> Result<bool, Error> {
        let Some(mut lease) = self.read().await? else {
            let sent = Instant::now();
            let won = self.create().await?;
            if won {
                self.begin(sent);
            }
            return Ok(won);
        };
        let holder = holder(&lease).to_owned();
        let renewed = lease["spec"]["renewTime"].as_str().unwrap_or_default().to_owned();
        let changed =
            self.seen.as_ref().is_none_or(|it| it.holder != holder || it.renewed != renewed);
        if changed {
            // As the holder means it, who may have been told otherwise.
            let said = lease["spec"]["leaseDurationSeconds"].as_u64();
            let lasts = said.map_or(self.election.duration, Duration::from_secs);
            self.seen = Some(Seen { holder: holder.clone(), renewed, lasts, at: Instant::now() });
        }
        let ours = holder == self.election.identity;
        let expired = self.seen.as_ref().is_some_and(|it| it.at.elapsed() >= it.lasts);
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
        let sent = Instant::now();
        let won = self.put(&lease).await?;
        if won {
            self.begin(sent);
        }
        Ok(won)
    }

    /// Others cannot have seen what was sent at `sent` before that.
    fn begin(&self, sent: Instant) {
        self.term.set(sent + self.election.patience);
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use http::{Request, Response};
    use http_body_util::BodyExt as _;
    use kube::client::Body as KubeBody;
    use rand::rngs::StdRng;
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    /// An API server with one Lease, behind a network that is slow, loses answers, or swallows requests.
    #[derive(Default)]
    struct Server {
        lease: Option<Value>,
        version: u64,
        /// By candidate: nothing gets through until then.
        cut: BTreeMap<usize, Instant>,
        /// The network does as it should.
        calm: bool,
    }

    impl Server {
        fn serve(&mut self, method: &Method, body: Option<Value>) -> (u16, Value) {
            let is_new =
                |lease: &Value| lease["metadata"]["resourceVersion"] == json!(self.version);
            let lease = match (method, body, &self.lease) {
                (&Method::GET, _, Some(lease)) => return (200, lease.clone()),
                (&Method::GET, _, None) => return (404, json!({"code": 404, "status": "Failure"})),
                (&Method::POST, Some(lease), None) => lease,
                (&Method::PUT, Some(lease), Some(_)) if is_new(&lease) => lease,
                _ => return (409, json!({"code": 409, "status": "Failure"})),
            };
            self.version += 1;
            let lease = self.lease.insert(lease);
            lease["metadata"]["resourceVersion"] = json!(self.version);
            (200, lease.clone())
        }
    }

    /// What one candidate reaches of it.
    fn client(server: &Arc<Mutex<Server>>, who: usize, seed: u64) -> Client {
        let (server, random) = (server.clone(), Arc::new(Mutex::new(StdRng::seed_from_u64(seed))));
        let service = tower::service_fn(move |request: Request<KubeBody>| {
            let (server, random) = (server.clone(), random.clone());
            async move {
                let method = request.method().clone();
                let bytes = request.into_body().collect().await?.to_bytes();
                let body = serde_json::from_slice(&bytes).ok();
                let (there, back, luck) = {
                    let mut random = random.lock().unwrap();
                    let mut way = || Duration::from_millis(random.random_range(0..900));
                    (way(), way(), random.random_range(0..20))
                };
                let calm = server.lock().unwrap().calm;
                tokio::time::sleep(if calm { Duration::ZERO } else { there }).await;
                let cut = server.lock().unwrap().cut.get(&who).copied();
                if let Some(until) = cut {
                    tokio::time::sleep_until(until).await;
                }
                let (code, value) = match luck {
                    0 if !calm => (500, json!({"code": 500, "status": "Failure"})),
                    1 if !calm => (429, json!({"code": 429, "status": "Failure"})),
                    _ => server.lock().unwrap().serve(&method, body),
                };
                if luck == 2 && !calm {
                    // Carried out, but nobody hears of it.
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(if calm { Duration::ZERO } else { back }).await;
                let answer = Response::builder().status(code);
                Ok::<_, kube::Error>(
                    answer.body(KubeBody::from(value.to_string().into_bytes())).unwrap(),
                )
            }
        });
        Client::from(kube::Client::new(service, "default"))
    }

    fn election(who: usize) -> Election {
        let [duration, patience, retry] = [15, 10, 2].map(Duration::from_secs);
        let (namespace, name) = ("vela-system".into(), "lateen".into());
        Election { namespace, name, identity: format!("{who}"), duration, patience, retry }
            .checked()
            .unwrap()
    }

    /// Three that want to lead, for an hour, while the network does what networks do. At every moment one
    /// at most has a term that lasts; and when all is well again, one has.
    #[tokio::test(start_paused = true)]
    async fn never_two_at_once() {
        let mut changes = 0;
        for seed in 0..12 {
            let server = Arc::new(Mutex::new(Server::default()));
            let mut terms = Vec::new();
            let mut candidates = tokio::task::JoinSet::new();
            for who in 0..3 {
                let client = client(&server, who, seed * 3 + who as u64);
                let mut candidate = Candidate::new(client, election(who));
                terms.push(candidate.term());
                let mut random = StdRng::seed_from_u64(seed * 7 + who as u64);
                candidates.spawn(async move {
                    loop {
                        candidate.win().await;
                        let wants = Duration::from_secs(random.random_range(20..200));
                        if tokio::time::timeout(wants, candidate.hold()).await.is_err() {
                            candidate.release().await;
                        }
                        assert!(!candidate.term().lasts());
                    }
                });
            }
            let mut random = StdRng::seed_from_u64(seed + 100);
            let leader = Cell::new(None);
            for tenth in 0..36_000 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let leading: Vec<usize> = (0..3).filter(|it| terms[*it].lasts()).collect();
                assert!(leading.len() < 2, "seed {seed}, after {tenth} tenths: {leading:?} lead");
                if let Some(one) = leading.first().copied()
                    && leader.replace(Some(one)) != Some(one)
                {
                    changes += 1;
                }
                if random.random_range(0..600) == 0 {
                    let lasts = Duration::from_millis(random.random_range(500..40_000));
                    let who = random.random_range(0..3);
                    server.lock().unwrap().cut.insert(who, Instant::now() + lasts);
                }
            }
            server.lock().unwrap().calm = true;
            let mut leads = 0;
            for _ in 0..600 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                leads += usize::from(terms.iter().any(Term::lasts));
            }
            assert!(leads > 100, "seed {seed}: led for {leads} of 600 tenths");
        }
        assert!(changes > 12 * 10, "{changes} changes of the leader in twelve hours");
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_that_is_cut_off_ends_before_the_next_begins() {
        let server = Arc::new(Mutex::new(Server { calm: true, ..Server::default() }));
        let candidate = |who| Candidate::new(client(&server, who, 1), election(who));
        let (mut first, mut second) = (candidate(0), candidate(1));
        first.win().await;
        let cut = Instant::now();
        server.lock().unwrap().cut.insert(0, cut + Duration::from_secs(100));
        let (old, new) = (first.term(), second.term());
        let ((), (), ()) = tokio::join!(first.hold(), second.win(), async {
            tokio::time::sleep(Duration::from_millis(9_900)).await;
            assert!(old.lasts() && !new.lasts());
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert!(!old.lasts() && !new.lasts());
        });
        assert!(new.lasts());
        let waited = cut.elapsed().as_secs_f64();
        assert!((15.0..17.1).contains(&waited), "{waited}");
        let lease = server.lock().unwrap().lease.clone().unwrap();
        assert_eq!(lease["spec"]["holderIdentity"], "1");
        assert_eq!(lease["spec"]["leaseTransitions"], 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_given_up_need_not_be_waited_for() {
        let server = Arc::new(Mutex::new(Server { calm: true, ..Server::default() }));
        let candidate = |who| Candidate::new(client(&server, who, 1), election(who));
        let (mut first, mut second) = (candidate(0), candidate(1));
        first.win().await;
        first.release().await;
        assert!(!first.term().lasts());
        let start = Instant::now();
        second.win().await;
        assert!(start.elapsed() < Duration::from_secs(1));
        assert!(Term::endless().lasts());
    }

    #[test]
    fn times_that_do_not_fit_are_refused() {
        let with = |duration, patience, retry| {
            let [duration, patience, retry] =
                [duration, patience, retry].map(Duration::from_millis);
            let election = Election { duration, patience, retry, ..election(0) };
            election.checked().map(drop).map_err(|it| it.to_string())
        };
        assert_eq!(with(3_000, 2_000, 500), Ok(()));
        let told = |text: &str| Err(text.to_owned());
        assert_eq!(with(2_500, 2_000, 500), told("a lease lasts whole seconds, not 2.5s"));
        assert_eq!(with(0, 0, 0), told("a lease lasts whole seconds, not 0ns"));
        let late = "the renew deadline (3s) must be shorter than the lease (3s)";
        assert_eq!(with(3_000, 3_000, 500), told(late));
        for retry in [0, 2_000] {
            assert!(with(3_000, 2_000, retry).unwrap_err().starts_with("the retry period"));
        }
        assert_ne!(identity("a"), identity("a"));
    }
}
