//! A network between a controller and its plane that does not do as it should: each request that goes through is
//! judged, and refused, lost, or its answer is.
//!
//! It speaks as much HTTP/1.1 as it takes to find the next request: clients send one after another, none before the
//! answer to the last.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What becomes of a request.
pub enum Fate {
    /// It arrives, and so does the answer.
    Pass,
    /// It does not arrive; the plane seems to answer with this status.
    Refuse(u16),
    /// It does not arrive, and the connection ends.
    Lose,
    /// It is carried out. When the answer comes this is done, and the connection ends without it.
    Mute(Box<dyn FnOnce() + Send>),
    /// As [`Fate::Pass`], but whatever is not answered after this time, no one hears: watches.
    Cut(Duration),
}

/// Judges the requests of one connection, by their heads in lower case.
pub type Judge = Box<dyn FnMut(&str) -> Fate + Send>;

/// A listener to [`serve`] on, and `kubeconfig`, which leads to the plane on that port, through it.
///
/// # Errors
/// When the system has no port.
pub fn between(kubeconfig: &str, plane: u16) -> io::Result<(TcpListener, String)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let through = listener.local_addr()?.to_string();
    Ok((listener, kubeconfig.replace(&format!("127.0.0.1:{plane}"), &through)))
}

/// Passes on what comes to `listener` to the plane on that port, for as long as the process lives.
pub fn serve(listener: TcpListener, plane: u16, mut judge: impl FnMut() -> Judge + Send + 'static) {
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            // A plane that does not answer is the controller's to deal with.
            let _ = connect(plane, &connection, judge());
        }
    });
}

/// What is done in place of passing the next answer on.
type Muted = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Two threads for a connection, one each way.
fn connect(port: u16, controller: &TcpStream, judge: Judge) -> io::Result<()> {
    let plane = TcpStream::connect(("127.0.0.1", port))?;
    controller.set_nodelay(true)?;
    plane.set_nodelay(true)?;
    let muted = Muted::default();
    let (from, to, held) = (controller.try_clone()?, plane.try_clone()?, muted.clone());
    std::thread::spawn(move || {
        let _ = requests(&from, &to, judge, &held);
        let _ = to.shutdown(Shutdown::Both);
    });
    let controller = controller.try_clone()?;
    std::thread::spawn(move || {
        let _ = answers(&plane, &controller, &muted);
        let _ = controller.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Judges requests, and passes on those that shall arrive (RFC 9112: a head, then as many bytes as it says).
fn requests(
    mut from: &TcpStream,
    mut to: &TcpStream,
    mut judge: Judge,
    muted: &Muted,
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
        let mut refused = None;
        match judge(&text) {
            Fate::Pass => {}
            Fate::Refuse(code) => refused = Some(code),
            Fate::Lose => return Ok(()),
            Fate::Mute(then) => {
                *muted.lock().unwrap_or_else(PoisonError::into_inner) = Some(then);
            }
            Fate::Cut(after) => {
                let plane = to.try_clone()?;
                std::thread::spawn(move || {
                    std::thread::sleep(after);
                    let _ = plane.shutdown(Shutdown::Both);
                });
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
            if refused.is_none() {
                to.write_all(&buffer[..part])?;
            }
            buffer.drain(..part);
            left -= part;
        }
        if let Some(code) = refused {
            from.write_all(refusal(code).as_bytes())?;
        }
    }
}

/// An answer that no server gave; one that is busy says when to come back.
fn refusal(code: u16) -> String {
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the network plays tricks","code":{code}}}"#
    );
    let later = if code == 429 { "retry-after: 1\r\n" } else { "" };
    format!(
        "HTTP/1.1 {code} No\r\ncontent-type: application/json\r\n{later}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Bytes of the body that a head announces.
fn length(head: &str) -> usize {
    let said = head.lines().find_map(|it| it.strip_prefix("content-length:"));
    said.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

/// Passes answers on, but for the one that nobody shall hear.
fn answers(mut from: &TcpStream, mut to: &TcpStream, muted: &Muted) -> io::Result<()> {
    let mut piece = [0; 1 << 14];
    loop {
        let read = from.read(&mut piece)?;
        if let Some(then) = muted.lock().unwrap_or_else(PoisonError::into_inner).take() {
            then();
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
    use super::*;

    /// What a client hears that sends `requests` through a network with this judge, and what arrived.
    fn through(requests: &str, judge: impl FnOnce() -> Judge + Send + 'static) -> (String, String) {
        let plane = TcpListener::bind("127.0.0.1:0").expect("a port");
        let network = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = network.local_addr().expect("bound");
        let mut judge = Some(judge);
        let port = plane.local_addr().expect("bound").port();
        serve(network, port, move || judge.take().expect("one connection")());
        let arrived = std::thread::spawn(move || {
            let (mut connection, _) = plane.accept().expect("the network connects");
            let mut piece = [0; 1 << 10];
            let mut arrived = String::new();
            while let Ok(read @ 1..) = connection.read(&mut piece) {
                arrived.push_str(&String::from_utf8_lossy(&piece[..read]));
                if connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n").is_err() {
                    break;
                }
            }
            arrived
        });
        let mut client = TcpStream::connect(at).expect("the network listens");
        client.write_all(requests.as_bytes()).expect("it reads");
        let mut heard = String::new();
        client.set_read_timeout(Some(Duration::from_millis(500))).expect("not zero");
        let mut piece = [0; 1 << 10];
        while let Ok(read @ 1..) = client.read(&mut piece) {
            heard.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        drop(client);
        (heard, arrived.join().expect("no panic"))
    }

    #[test]
    fn each_fate() {
        let request = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let (heard, arrived) = through(request, || Box::new(|_| Fate::Pass));
        assert_eq!((heard.as_str(), arrived.as_str()), ("HTTP/1.1 200 OK\r\n\r\n", request));
        let (heard, arrived) = through(request, || Box::new(|_| Fate::Refuse(429)));
        assert!(heard.starts_with("HTTP/1.1 429 ") && heard.contains("retry-after"), "{heard}");
        assert_eq!(arrived, "");
        let (heard, arrived) = through(request, || Box::new(|_| Fate::Lose));
        assert_eq!((heard.as_str(), arrived.as_str()), ("", ""));
        let (heard, arrived) = through(request, || Box::new(|_| Fate::Mute(Box::new(|| ()))));
        assert_eq!((heard.as_str(), arrived.as_str()), ("", request));
        // The body of what is refused is no request.
        let two = format!("{request}GET /b HTTP/1.1\r\n\r\n");
        let judge = |head: &str| {
            if head.starts_with("post") { Fate::Refuse(500) } else { Fate::Pass }
        };
        let (heard, arrived) = through(&two, move || Box::new(judge));
        assert_eq!(arrived, "GET /b HTTP/1.1\r\n\r\n");
        assert!(heard.ends_with("HTTP/1.1 200 OK\r\n\r\n"), "{heard}");
    }
}
