//! The work queue: each key once, never two workers on one key, later keys at their time, and those that fail
//! less and less often.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// After a first failure; twice as long after each that follows, up to the longest.
const RETRY: Duration = Duration::from_millis(250);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Keys that want attention.
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
}

struct State<K> {
    ready: VecDeque<K>,
    /// In `ready`.
    waiting: HashSet<K>,
    /// Given to a worker.
    active: HashSet<K>,
    /// Wanted again while active.
    again: HashSet<K>,
    /// Versions that were shown of those that are active, and may be what the worker wrote.
    shown: HashMap<K, Vec<u64>>,
    /// To become ready at an instant; at most one per key, the earliest.
    later: BTreeMap<(Instant, u64), K>,
    due: HashMap<K, (Instant, u64)>,
    /// How often it failed in a row.
    failures: HashMap<K, u32>,
    serial: u64,
    closed: bool,
}

impl<K: Clone + Eq + Hash> Default for Queue<K> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                ready: VecDeque::new(),
                waiting: HashSet::new(),
                active: HashSet::new(),
                again: HashSet::new(),
                shown: HashMap::new(),
                later: BTreeMap::new(),
                due: HashMap::new(),
                failures: HashMap::new(),
                serial: 0,
                closed: false,
            }),
            changed: Notify::new(),
        }
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `key` wants attention now.
    pub fn add(&self, key: K) {
        let mut state = self.lock();
        state.enqueue(key);
        drop(state);
        self.changed.notify_one();
    }

    /// `key` wants attention now because of a version of something, unless that is what the worker of
    /// `key` writes at this moment.
    pub fn add_unless_written(&self, key: K, version: u64) {
        let mut state = self.lock();
        if state.active.contains(&key) {
            state.shown.entry(key).or_default().push(version);
            return;
        }
        state.enqueue(key);
        drop(state);
        self.changed.notify_one();
    }

    /// `key` wants attention after `delay`, unless something wants it earlier.
    pub fn add_after(&self, key: K, delay: Duration) {
        let at = Instant::now() + delay;
        let mut state = self.lock();
        if let Some(slot) = state.due.get(&key).copied() {
            if slot.0 <= at {
                return;
            }
            state.later.remove(&slot);
        }
        state.serial += 1;
        let slot = (at, state.serial);
        state.later.insert(slot, key.clone());
        state.due.insert(key, slot);
        drop(state);
        self.changed.notify_one();
    }

    /// The work on `key` failed: how long it should be left alone.
    pub fn failed(&self, key: &K) -> Duration {
        let mut state = self.lock();
        let failures = state.failures.entry(key.clone()).or_default();
        *failures = failures.saturating_add(1);
        RETRY.saturating_mul(2_u32.saturating_pow(*failures - 1)).min(LAST_RETRY)
    }

    /// The work on `key` succeeded.
    pub fn succeeded(&self, key: &K) {
        self.lock().failures.remove(key);
    }

    /// Forgets a planned time for `key`.
    pub fn forget(&self, key: &K) {
        let mut state = self.lock();
        if let Some(slot) = state.due.remove(key) {
            state.later.remove(&slot);
        }
    }

    /// The next key; `None` once closed. Give it back with [`Queue::done`].
    pub async fn next(&self) -> Option<K> {
        loop {
            let changed = self.changed.notified();
            let wake = {
                let mut state = self.lock();
                if state.closed {
                    self.changed.notify_one();
                    return None;
                }
                state.promote(Instant::now());
                if let Some(key) = state.ready.pop_front() {
                    state.waiting.remove(&key);
                    state.active.insert(key.clone());
                    if !state.ready.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(key);
                }
                state.later.keys().next().map(|slot| slot.0)
            };
            match wake {
                Some(at) => {
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep_until(at) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// The worker is through with `key`, and has written these versions.
    pub fn done(&self, key: &K, written: &[u64]) {
        let mut state = self.lock();
        state.active.remove(key);
        let shown = state.shown.remove(key).unwrap_or_default();
        let foreign = shown.iter().any(|it| !written.contains(it));
        if state.again.remove(key) || foreign {
            state.enqueue(key.clone());
        }
        drop(state);
        self.changed.notify_one();
    }

    /// No more keys are given out.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Keys ready and planned.
    pub fn len(&self) -> (usize, usize) {
        let state = self.lock();
        (state.ready.len(), state.later.len())
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    fn enqueue(&mut self, key: K) {
        if self.active.contains(&key) {
            self.again.insert(key);
        } else if self.waiting.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    fn promote(&mut self, now: Instant) {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            self.due.remove(&key);
            self.enqueue(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_key_is_given_once_and_again_if_wanted_meanwhile() {
        let queue = Queue::default();
        queue.add("a");
        queue.add("a");
        assert_eq!(queue.next().await, Some("a"));
        queue.add("a");
        assert_eq!(queue.len(), (0, 0), "nobody else gets an active key");
        queue.done(&"a", &[]);
        assert_eq!(queue.next().await, Some("a"));
        queue.done(&"a", &[]);
        assert_eq!(queue.len(), (0, 0));
    }

    #[tokio::test]
    async fn what_the_worker_wrote_is_no_reason_to_begin_again() {
        let queue = Queue::default();
        queue.add_unless_written("a", 1);
        assert_eq!(queue.next().await, Some("a"), "nobody was at it");
        queue.add_unless_written("a", 2);
        queue.add_unless_written("a", 3);
        queue.done(&"a", &[3, 2]);
        assert_eq!(queue.len(), (0, 0));
        queue.add("a");
        assert_eq!(queue.next().await, Some("a"));
        queue.add_unless_written("a", 4);
        queue.add_unless_written("a", 5);
        queue.done(&"a", &[5]);
        assert_eq!(queue.next().await, Some("a"), "4 is somebody else's");
        queue.done(&"a", &[]);
        assert_eq!(queue.len(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_time_wins() {
        let queue = Queue::default();
        let start = Instant::now();
        queue.add_after("a", Duration::from_secs(60));
        queue.add_after("a", Duration::from_secs(5));
        queue.add_after("a", Duration::from_secs(30));
        assert_eq!(queue.next().await, Some("a"));
        assert_eq!(start.elapsed().as_secs(), 5);
        queue.done(&"a", &[]);
        assert_eq!(queue.len(), (0, 0), "the later wishes were the same one");
    }

    #[tokio::test]
    async fn closing_wakes_every_worker() {
        let queue = std::sync::Arc::new(Queue::<u8>::default());
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.next().await })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.close();
        for worker in workers {
            assert_eq!(worker.await.unwrap(), None);
        }
    }

    #[test]
    fn failures_are_tried_again_less_and_less_often() {
        let queue = Queue::default();
        let waits: Vec<u128> = (0..10).map(|_| queue.failed(&"a").as_millis()).collect();
        let want = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
        assert_eq!(waits, want);
        (0..100).for_each(|_| assert!(queue.failed(&"a") == LAST_RETRY));
        assert_eq!(queue.failed(&"b"), RETRY);
        queue.succeeded(&"a");
        assert_eq!(queue.failed(&"a"), RETRY);
    }
}
