//! What networks and busy API servers do to a controller: requests that are refused for now, that are lost, whose
//! answer is lost, watches that break or begin too far back.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::proxy::{self, Fate};

/// A network to a plane, with faults by chance.
pub struct Faulty {
    faults: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

/// Of a hundred requests, how many have each fault.
const REFUSED: u32 = 8;
const LOST: u32 = 3;
const UNHEARD: u32 = 4;
/// Of a hundred watches, how many begin too far back.
const TOO_OLD: u32 = 15;

impl Faulty {
    /// Between `listener` and the plane on that port.
    pub fn start(listener: TcpListener, plane: u16, seed: u64) -> Self {
        let dice = Arc::new(Mutex::new(StdRng::seed_from_u64(seed)));
        let (faults, requests): (Arc<AtomicU64>, Arc<AtomicU64>) = Default::default();
        let faulty = Self { faults: faults.clone(), requests: requests.clone() };
        proxy::serve(listener, plane, move || {
            let (dice, faults, requests) = (dice.clone(), faults.clone(), requests.clone());
            Box::new(move |head| {
                requests.fetch_add(1, Ordering::Relaxed);
                let fate = fate(head, &mut dice.lock().unwrap_or_else(PoisonError::into_inner));
                if !matches!(fate, Fate::Pass) {
                    faults.fetch_add(1, Ordering::Relaxed);
                }
                fate
            })
        });
        faulty
    }

    /// How many requests had a fault, and how many there were.
    pub fn faults(&self) -> (u64, u64) {
        (self.faults.load(Ordering::Relaxed), self.requests.load(Ordering::Relaxed))
    }
}

fn fate(head: &str, dice: &mut StdRng) -> Fate {
    let luck = dice.random_range(0..100);
    if head.lines().next().is_some_and(|it| it.contains("watch=true")) {
        return match luck {
            0..TOO_OLD => Fate::Refuse(410),
            _ => Fate::Cut(Duration::from_millis(dice.random_range(200..20_000))),
        };
    }
    match luck {
        0..REFUSED => Fate::Refuse([429, 500, 503, 504][dice.random_range(0..4)]),
        luck if luck < REFUSED + LOST => Fate::Lose,
        luck if luck < REFUSED + LOST + UNHEARD => Fate::Mute(Box::new(|| ())),
        _ => Fate::Pass,
    }
}
