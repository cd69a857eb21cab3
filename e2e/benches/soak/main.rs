//! Whether clients stay right for long: random writers, reflectors and a book-keeper on a plane that is killed
//! and started again, and forgets its history. `make soak`; SOAK_MINUTES says how long, SOAK_SEED what.
//!
//! In the end every reflector must hold what a list gives, and the book-keeper must have been told of every write
//! that was acknowledged, once and in order, in all the time it was not told to list again.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a program that checks: what fails, ends it"
)]

mod client_go;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::runtime::reflector::{self, Store};
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, InitialListStrategy};
use kube::runtime::{WatchStreamExt, watcher as watching};
use kube::{Api, Client, Config, ResourceExt};
use lateen_e2e::process::{self, Running};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

const NAMESPACES: [&str; 2] = ["default", "kube-public"];
const NAMES: u64 = 40;
const WRITERS: u64 = 6;
/// Between two deaths of the server: the third life is longer than what it remembers of its history.
const LIVES: [Duration; 3] =
    [Duration::from_secs(17), Duration::from_secs(17), Duration::from_secs(130)];
/// How long a book-keeper looks away between two watches: one never, one until the past is gone.
const NAPS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(100)];

/// What all tasks share.
struct Shared {
    stop: AtomicBool,
    /// Revision of every write that was acknowledged.
    written: Mutex<BTreeSet<u64>>,
    /// What each book-keeper saw: from a list on, up to the last event, with the events.
    stretches: [Mutex<Vec<Stretch>>; NAPS.len()],
    wrong: Mutex<Vec<String>>,
    refused: AtomicU64,
}

struct Stretch {
    from: u64,
    to: u64,
    events: BTreeSet<u64>,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wrong(&self, what: String) {
        eprintln!("wrong: {what}");
        self.wrong.lock().unwrap().push(what);
    }
}

/// Tries again soon: the server is away for a moment only.
struct Soon;

impl Iterator for Soon {
    type Item = Duration;
    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }
}

impl Backoff for Soon {
    fn reset(&mut self) {}
}

/// A generator of its own: the same seed, the same traffic.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn revision(object: &ConfigMap) -> u64 {
    object.resource_version().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn client(port: u16) -> Client {
    let mut config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    config.connect_timeout = Some(Duration::from_secs(2));
    Client::try_from(config).unwrap()
}

async fn write(client: Client, mut dice: Dice, shared: Arc<Shared>) {
    let mut count = 0_u64;
    while !shared.stopped() {
        count += 1;
        let namespace = NAMESPACES[usize::try_from(dice.roll(2)).unwrap()];
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let name = format!("map-{}", dice.roll(NAMES));
        let half = if dice.roll(2) == 0 { "a" } else { "b" };
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"half": half}}, "data": {"count": count.to_string()},
        });
        let manager = PatchParams::apply("soak").force();
        let outcome = match dice.roll(10) {
            0..3 => {
                let object = serde_json::from_value(body).unwrap();
                api.create(&PostParams::default(), &object).await.map(|made| revision(&made))
            }
            3..6 => api.patch(&name, &manager, &Patch::Apply(body)).await.map(|it| revision(&it)),
            6..8 => {
                let patch = Patch::Merge(json!({"data": {"count": count.to_string()}}));
                let merged = api.patch(&name, &PatchParams::default(), &patch).await;
                merged.map(|it| revision(&it))
            }
            // The revision of a deletion is told to watchers alone.
            _ => api.delete(&name, &DeleteParams::default()).await.map(|_| 0),
        };
        match outcome {
            Ok(0) => {}
            Ok(revision) => {
                shared.written.lock().unwrap().insert(revision);
            }
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => {
                shared.refused.fetch_add(1, Ordering::Relaxed);
            }
            Err(kube::Error::Api(status)) => shared.wrong(format!("a write: {status:?}")),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
        sleep(Duration::from_millis(dice.roll(8))).await;
    }
}

/// Lists once and follows; lists again only when it is told that the past is gone.
async fn keep_books(client: Client, who: usize, shared: Arc<Shared>) {
    let api: Api<ConfigMap> = Api::all(client);
    let mut there: BTreeMap<String, u64> = BTreeMap::new();
    let mut at = 0_u64;
    while !shared.stopped() {
        if at == 0 {
            let Ok(list) = api.list(&ListParams::default()).await else {
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            at = list.metadata.resource_version.unwrap().parse().unwrap();
            there = list.items.iter().map(|one| (key(one), revision(one))).collect();
            let stretch = Stretch { from: at, to: at, events: BTreeSet::new() };
            shared.stretches[who].lock().unwrap().push(stretch);
        }
        let params = WatchParams::default().timeout(20);
        let Ok(stream) = api.watch(&params, &at.to_string()).await else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let mut stream = stream.boxed();
        while let Some(event) = stream.next().await {
            match event {
                Ok(WatchEvent::Bookmark(mark)) => {
                    at = mark.metadata.resource_version.parse().unwrap();
                    shared.stretches[who].lock().unwrap().last_mut().unwrap().to = at;
                }
                Ok(WatchEvent::Error(status)) if status.code == 410 => {
                    at = 0;
                    break;
                }
                Ok(WatchEvent::Error(status)) => shared.wrong(format!("a watch: {status:?}")),
                Ok(event) => note(event, &mut there, &mut at, (&shared, who)),
                Err(_) => break,
            }
        }
        let waking = Instant::now() + NAPS[who];
        while Instant::now() < waking && !shared.stopped() {
            sleep(Duration::from_millis(100)).await;
        }
    }
}

fn key(object: &ConfigMap) -> String {
    format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any())
}

fn note(
    event: WatchEvent<ConfigMap>,
    there: &mut BTreeMap<String, u64>,
    at: &mut u64,
    (shared, who): (&Shared, usize),
) {
    let (what, object, was_there, stays) = match &event {
        WatchEvent::Added(object) => ("ADDED", object, false, true),
        WatchEvent::Modified(object) => ("MODIFIED", object, true, true),
        WatchEvent::Deleted(object) => ("DELETED", object, true, false),
        WatchEvent::Bookmark(_) | WatchEvent::Error(_) => return,
    };
    let (key, revision) = (key(object), revision(object));
    if revision <= *at {
        shared.wrong(format!("{what} {key} at {revision}, after {at}"));
    }
    if there.contains_key(&key) != was_there {
        shared.wrong(format!("{what} {key} at {revision}, which was there: {}", !was_there));
    }
    if stays {
        there.insert(key, revision)
    } else {
        there.remove(&key)
    };
    *at = revision;
    let mut stretches = shared.stretches[who].lock().unwrap();
    let stretch = stretches.last_mut().unwrap();
    stretch.to = revision;
    if !stretch.events.insert(revision) {
        shared.wrong(format!("{revision} was told twice"));
    }
}

/// A reflector: what it selects, how it lists, whether it dawdles until the history is past it.
struct Mirror {
    name: &'static str,
    selector: &'static str,
    streams: bool,
    dawdles: bool,
    store: Store<ConfigMap>,
}

fn mirror(
    client: &Client,
    tasks: &mut JoinSet<()>,
    shared: &Arc<Shared>,
    (name, selector, streams, dawdles): (&'static str, &'static str, bool, bool),
) -> Mirror {
    let (store, writer) = reflector::store();
    let strategy =
        if streams { InitialListStrategy::StreamingList } else { InitialListStrategy::ListWatch };
    let mut config = watcher::Config { initial_list_strategy: strategy, ..Default::default() };
    config.page_size = (!streams).then_some(7);
    let config = if selector.is_empty() { config } else { config.labels(selector) };
    let stream = watching(Api::<ConfigMap>::all(client.clone()), config);
    let mut stream = reflector::reflector(writer, stream.backoff(Soon)).boxed();
    let shared = shared.clone();
    tasks.spawn(async move {
        let mut seen = 0_u64;
        while stream.next().await.is_some() {
            seen += 1;
            // Now and then it does not look for longer than the server remembers.
            if dawdles && seen.is_multiple_of(2000) && !shared.stopped() {
                sleep(Duration::from_secs(12)).await;
            }
        }
    });
    Mirror { name, selector, streams, dawdles, store }
}

/// What a list gives now: keys and revisions.
async fn listed(client: &Client, selector: &str) -> Option<BTreeMap<String, u64>> {
    let params = ListParams::default().labels(selector);
    let list = Api::<ConfigMap>::all(client.clone()).list(&params).await.ok()?;
    Some(list.items.iter().map(|one| (key(one), revision(one))).collect())
}

impl Mirror {
    /// How the store differs from a list, if it does.
    async fn difference(&self, client: &Client) -> Option<String> {
        let listed = listed(client, self.selector).await?;
        let state = self.store.state();
        let held: BTreeMap<String, u64> =
            state.iter().map(|one| (key(one), revision(one))).collect();
        (held != listed).then(|| {
            let (more, less) = (held.len(), listed.len());
            format!("reflector {} holds {more} objects, a list has {less}, or others", self.name)
        })
    }
}

fn serve(port: u16, folder: &Path) -> Running {
    let mut command = Command::new(process::lateen().unwrap());
    let state = folder.join("plane.redb");
    command.args(["local", "serve", "--insecure", "--listen", &format!("127.0.0.1:{port}")]);
    command.arg("--state").arg(state).env("HOME", folder).env("XDG_DATA_HOME", folder);
    let running = Running::start("lateen local serve", &mut command, &folder.join("log")).unwrap();
    process::wait_for_port(port, Duration::from_secs(20))
        .unwrap_or_else(|error| panic!("{error}: {}", process::tail(&folder.join("log"), 5)));
    running
}

#[tokio::main]
async fn main() -> ExitCode {
    let number = |name: &str, otherwise: f64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let length = Duration::from_secs_f64(number("SOAK_MINUTES", 10.0) * 60.0);
    let seed = number("SOAK_SEED", 1.0);
    let folder = tempfile::tempdir().unwrap();
    let port = process::free_port().unwrap();
    let mut server = Some(serve(port, folder.path()));
    let client = client(port);
    let mut informers = client_go::start(port, folder.path());
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        written: Mutex::default(),
        stretches: Default::default(),
        wrong: Mutex::default(),
        refused: AtomicU64::new(0),
    });
    let mut writers = JoinSet::new();
    for writer in 1..=WRITERS {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a seed")]
        let dice = Dice((seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (writer << 32 | 77));
        writers.spawn(write(client.clone(), dice, shared.clone()));
    }
    for who in 0..NAPS.len() {
        writers.spawn(keep_books(client.clone(), who, shared.clone()));
    }
    let mut mirrors = JoinSet::new();
    let kinds = [
        ("all", "", false, false),
        ("streaming", "", true, false),
        ("half", "half=a", false, false),
        ("half, streaming", "half!=a", true, false),
        ("dawdling", "", false, true),
    ];
    let kept: Vec<Mirror> =
        kinds.into_iter().map(|kind| mirror(&client, &mut mirrors, &shared, kind)).collect();

    let begin = Instant::now();
    let mut deaths = 0;
    for life in LIVES.into_iter().cycle() {
        if begin.elapsed() + life > length {
            break;
        }
        sleep(life).await;
        // Dropping kills with SIGKILL.
        drop(server.take());
        server = Some(serve(port, folder.path()));
        deaths += 1;
    }
    sleep(length.saturating_sub(begin.elapsed())).await;
    shared.stop.store(true, Ordering::Relaxed);
    // The book-keeper's watch ends with its timeout.
    while writers.join_next().await.is_some() {}
    let patience = Instant::now() + Duration::from_secs(60);
    for mirror in &kept {
        while let Some(difference) = mirror.difference(&client).await {
            if Instant::now() > patience {
                shared.wrong(difference);
                break;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
    let mut others = Vec::new();
    for one in &mut informers {
        let list = async |selector: &str| listed(&client, selector).await;
        let (wrong, held) = one.check(list, patience).await;
        wrong.into_iter().for_each(|what| shared.wrong(what));
        others.push(held);
    }
    mirrors.shutdown().await;
    report(&shared, (&kept, &others), deaths, begin.elapsed());
    drop(server);
    if shared.wrong.lock().unwrap().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(shared: &Shared, (kept, others): (&[Mirror], &[String]), deaths: u32, took: Duration) {
    let written = shared.written.lock().unwrap();
    let mut books = Vec::new();
    for stretches in &shared.stretches {
        let stretches = stretches.lock().unwrap();
        let (mut covered, mut told) = (0, 0);
        for stretch in stretches.iter() {
            told += stretch.events.len();
            for revision in written.range(stretch.from + 1..=stretch.to) {
                covered += 1;
                if !stretch.events.contains(revision) {
                    shared.wrong(format!("the write of {revision} was acknowledged and not told"));
                }
            }
        }
        let count = stretches.len();
        books.push(format!(
            "{told} events in {count} stretches, {covered} acknowledged writes among them"
        ));
    }
    let stores: Vec<String> = kept
        .iter()
        .map(|one| {
            let how = match (one.streams, one.dawdles) {
                (true, _) => "streamed",
                (_, true) => "paged, slow",
                _ => "paged",
            };
            format!("{} ({how}) {}", one.name, one.store.state().len())
        })
        .collect();
    println!(
        "soak: {:.1} minutes, {deaths} times killed and started; {} writes acknowledged, {} refused",
        took.as_secs_f64() / 60.0,
        written.len(),
        shared.refused.load(Ordering::Relaxed),
    );
    println!("book-keepers: {}", books.join("; "));
    println!("reflectors: {}", stores.join(", "));
    others.iter().for_each(|held| println!("{held}"));
    println!("wrong: {}", shared.wrong.lock().unwrap().len());
}
