//! A controller that dies again and again: between it and its plane sits a proxy that passes everything on, and
//! kills it after a call that leaves a trace, before it hears the answer.
//!
//! Its first life ends with the first call, the second with the second, and so on up to a longest life, after
//! which they are short again: whatever a reconcile does in a row, it dies behind each of it. Events do not count:
//! nothing follows from them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::process::Running;

/// Starts the controller; called again after each death.
pub type Birth = Box<dyn FnMut() -> anyhow::Result<Running> + Send>;

/// What the connections of all lives share.
struct Shared {
    /// Where the plane listens.
    plane: u16,
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

/// The proxy, and the controller behind it, which ends when this is dropped.
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
        let (calls, deaths) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared =
            Arc::new(Shared { plane, longest, lived: AtomicU64::new(0), calls, log, deaths, life });
        let all = shared.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                // A plane that does not answer is the controller's to deal with.
                let _ = connect(&all, connection);
            }
        });
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
    fn note(&self, head: &str, end: &str) -> io::Result<()> {
        let line = head.lines().next().unwrap_or_default();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(log, "{line}{end}")
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

/// Two threads for a connection, one each way.
fn connect(shared: &Arc<Shared>, controller: TcpStream) -> io::Result<()> {
    let plane = TcpStream::connect(("127.0.0.1", shared.plane))?;
    controller.set_nodelay(true)?;
    plane.set_nodelay(true)?;
    let life = shared.deaths.load(Ordering::Relaxed);
    let is_last = Arc::new(AtomicBool::new(false));
    let (from, to) = (controller.try_clone()?, plane.try_clone()?);
    let (all, last) = (shared.clone(), is_last.clone());
    std::thread::spawn(move || {
        let _ = requests(&all, &from, &to, &last);
        let _ = to.shutdown(Shutdown::Both);
    });
    let shared = shared.clone();
    std::thread::spawn(move || {
        let _ = answers(&shared, &plane, &controller, &is_last, life);
        let _ = controller.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Passes requests on (RFC 9112: a head, then as many bytes as it says) and counts them.
fn requests(
    shared: &Shared,
    mut from: &TcpStream,
    mut to: &TcpStream,
    last: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut piece = [0; 1 << 14];
    loop {
        let Some(head) = buffer.windows(4).position(|it| it == b"\r\n\r\n").map(|it| it + 4) else {
            match from.read(&mut piece)? {
                0 => return Ok(()),
                read => buffer.extend_from_slice(&piece[..read]),
            }
            continue;
        };
        let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
        if leaves_trace(&text) {
            shared.calls.fetch_add(1, Ordering::Relaxed);
            let lived = shared.lived.fetch_add(1, Ordering::Relaxed) + 1;
            let dies = lived == shared.deaths.load(Ordering::Relaxed) % shared.longest + 1;
            shared.note(&text, if dies { " (dies)" } else { "" })?;
            if dies {
                last.store(true, Ordering::SeqCst);
            }
        }
        let mut left = head + length(&text);
        while left > 0 {
            if buffer.is_empty() {
                match from.read(&mut piece)? {
                    0 => return Ok(()),
                    read => buffer.extend_from_slice(&piece[..read]),
                }
            }
            let part = left.min(buffer.len());
            to.write_all(&buffer[..part])?;
            buffer.drain(..part);
            left -= part;
        }
    }
}

/// Whether a request changes what others see.
fn leaves_trace(head: &str) -> bool {
    let line = head.lines().next().unwrap_or_default();
    !line.starts_with("get ") && !line.contains("/events")
}

/// Bytes of the body that a head announces.
fn length(head: &str) -> usize {
    let said = head.lines().find_map(|it| it.strip_prefix("content-length:"));
    said.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

/// Passes answers on; that of the last call nobody lives to hear.
fn answers(
    shared: &Shared,
    mut from: &TcpStream,
    mut to: &TcpStream,
    last: &AtomicBool,
    life: u64,
) -> io::Result<()> {
    let mut piece = [0; 1 << 14];
    loop {
        let read = from.read(&mut piece)?;
        if last.load(Ordering::SeqCst) {
            shared.kill(life);
            return Ok(());
        }
        if read == 0 {
            return Ok(());
        }
        to.write_all(&piece[..read])?;
    }
}

#[cfg(test)]
mod tests {
    use super::{leaves_trace, length};

    #[test]
    fn calls_that_leave_a_trace() {
        assert!(leaves_trace("patch /api/v1/namespaces/a/configmaps/b http/1.1\r\n"));
        assert!(leaves_trace("delete /api/v1/namespaces/a/configmaps/b http/1.1\r\n"));
        assert!(!leaves_trace("get /api/v1/namespaces http/1.1\r\n"));
        assert!(!leaves_trace("post /apis/events.k8s.io/v1/namespaces/a/events http/1.1\r\n"));
        assert_eq!(length("post / http/1.1\r\nhost: a\r\ncontent-length: 12\r\n\r\n"), 12);
        assert_eq!(length("get / http/1.1\r\nhost: a\r\n\r\n"), 0);
    }
}
