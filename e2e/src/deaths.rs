//! A controller that dies again and again: between it and its plane sits a network that passes everything on, and
//! kills it after a call that leaves a trace, before it hears the answer.
//!
//! Its first life ends with the first call, the second with the second, and so on up to a longest life, after
//! which they are short again: whatever a reconcile does in a row, it dies behind each of it. Events do not count:
//! nothing follows from them.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::process::Running;
use crate::proxy::{self, Fate, Judge};

/// Starts the controller; called again after each death.
pub type Birth = Box<dyn FnMut() -> anyhow::Result<Running> + Send>;

/// What the connections of all lives share.
struct Shared {
    /// Calls of the longest life.
    longest: u64,
    /// Calls of this life so far.
    lived: AtomicU64,
    calls: AtomicU64,
    /// The calls, one on a line; where it died.
    log: Mutex<File>,
    /// How often it died: a connection of a life before does no harm to the next.
    deaths: AtomicU64,
    /// The life it is now.
    life: Mutex<(Option<Running>, Birth)>,
}

/// The network, and the controller behind it, which ends when this is dropped.
pub struct Mortal {
    shared: Arc<Shared>,
}

impl Mortal {
    /// Starts a controller that reaches the plane on `plane` through `listener` alone, and is killed after at
    /// most `longest` calls. The calls are written to `log`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        listener: TcpListener,
        (plane, longest): (u16, u64),
        log: &Path,
        mut birth: Birth,
    ) -> anyhow::Result<Self> {
        let log = Mutex::new(File::create(log)?);
        let life = Mutex::new((Some(birth()?), birth));
        let (lived, calls, deaths) = Default::default();
        let shared = Arc::new(Shared { longest, lived, calls, log, deaths, life });
        let all = shared.clone();
        proxy::serve(listener, plane, move || Shared::judge(&all));
        Ok(Self { shared })
    }

    /// How often it died, and how many calls left a trace.
    pub fn deaths(&self) -> (u64, u64) {
        (self.shared.deaths.load(Ordering::Relaxed), self.shared.calls.load(Ordering::Relaxed))
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.shared.life.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
    }
}

impl Shared {
    /// Of a connection that is made now.
    fn judge(all: &Arc<Self>) -> Judge {
        let shared = all.clone();
        let life = shared.deaths.load(Ordering::Relaxed);
        Box::new(move |head| {
            if !leaves_trace(head) {
                return Fate::Pass;
            }
            shared.calls.fetch_add(1, Ordering::Relaxed);
            let lived = shared.lived.fetch_add(1, Ordering::Relaxed) + 1;
            let dies = lived == shared.deaths.load(Ordering::Relaxed) % shared.longest + 1;
            shared.note(head, if dies { " (dies)" } else { "" });
            if !dies {
                return Fate::Pass;
            }
            let shared = shared.clone();
            Fate::Mute(Box::new(move || shared.kill(life)))
        })
    }

    fn note(&self, head: &str, end: &str) {
        let line = head.lines().next().unwrap_or_default();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever reads it sees that it is short.
        let _ = writeln!(log, "{line}{end}");
    }

    /// Ends the life that a connection belongs to, and begins the next.
    fn kill(&self, life: u64) {
        let mut now = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        if self.deaths.load(Ordering::Relaxed) != life || now.0.is_none() {
            return;
        }
        now.0 = None;
        self.deaths.fetch_add(1, Ordering::Relaxed);
        self.lived.store(0, Ordering::Relaxed);
        match now.1() {
            Ok(next) => now.0 = Some(next),
            Err(error) => eprintln!("{error:#}"),
        }
    }
}

/// Whether a request changes what others see.
pub fn leaves_trace(head: &str) -> bool {
    let line = head.lines().next().unwrap_or_default();
    !line.starts_with("get ") && !line.contains("/events")
}

#[cfg(test)]
mod tests {
    use super::leaves_trace;

    #[test]
    fn calls_that_leave_a_trace() {
        assert!(leaves_trace("patch /api/v1/namespaces/a/configmaps/b http/1.1\r\n"));
        assert!(leaves_trace("delete /api/v1/namespaces/a/configmaps/b http/1.1\r\n"));
        assert!(!leaves_trace("get /api/v1/namespaces http/1.1\r\n"));
        assert!(!leaves_trace("post /apis/events.k8s.io/v1/namespaces/a/events http/1.1\r\n"));
    }
}
