//! What is neither the cluster nor this process: web servers, mail servers, and how often they are asked.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lateen_engine::world::{Checkout, Error, HttpRequest, HttpResponse, Mail, Tls, Tree};
use lettre::message::{Mailbox, header::ContentType};
use lettre::transport::smtp::AsyncSmtpTransport;
use lettre::transport::smtp::authentication::Credentials;
use lettre::{Address, AsyncTransport, Message, Tokio1Executor};

use crate::git;

/// Longest wait for an answer, whatever a step says.
const PATIENCE: Duration = Duration::from_secs(30);

/// Largest answer that is kept.
const ANSWER_LIMIT: usize = 4 << 20;

/// Keys that are counted at once; the oldest are forgotten.
const KEYS: usize = 10_000;

/// Connections to the outside, shared by all reconciles.
pub struct Outside {
    http: reqwest::Client,
    seen: Mutex<HashMap<String, VecDeque<Instant>>>,
    /// What was fetched lately, so that looking again does not mean fetching again.
    trees: Mutex<Vec<(Instant, Checkout, Tree)>>,
    files: Mutex<Vec<(Instant, HttpRequest, Vec<u8>)>>,
}

/// How long something that was fetched is good enough.
const FRESH: Duration = Duration::from_secs(60);

/// So many of each are kept.
const KEPT: usize = 16;

/// Largest file that is fetched.
const FILE_LIMIT: usize = 32 << 20;

impl Default for Outside {
    fn default() -> Self {
        // An error says that one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            http: reqwest::Client::new(),
            seen: Mutex::default(),
            trees: Mutex::default(),
            files: Mutex::default(),
        }
    }
}

impl Outside {
    /// One request.
    ///
    /// # Errors
    /// There is no answer, or the request makes no sense.
    pub async fn http(&self, request: &HttpRequest) -> Result<HttpResponse, Error> {
        let (status, headers, body) = self.ask(request, ANSWER_LIMIT).await?;
        Ok(HttpResponse { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// A file from a web server, perhaps fetched a moment ago.
    ///
    /// # Errors
    /// There is no answer, or it is no success.
    pub async fn download(&self, request: &HttpRequest) -> Result<Vec<u8>, Error> {
        if let Some(known) = recall(&self.files, request) {
            return Ok(known);
        }
        let (status, _, body) = self.ask(request, FILE_LIMIT).await?;
        match status {
            200..300 => {
                remember(&self.files, request, &body);
                Ok(body)
            }
            404 => Err(Error::NotFound(format!("{}: there is no such file", request.url))),
            _ => Err(Error::Unavailable(format!("{} answers {status}", request.url))),
        }
    }

    /// The files of a git repository, perhaps fetched a moment ago.
    ///
    /// # Errors
    /// What git says.
    pub async fn checkout(&self, what: &Checkout, trust: git::Trust) -> Result<Tree, Error> {
        if let Some(known) = recall(&self.trees, what).filter(|_| !what.fresh) {
            return Ok(known);
        }
        let tree = git::checkout(what, trust).await?;
        remember(&self.trees, what, &tree);
        Ok(tree)
    }

    async fn ask(&self, request: &HttpRequest, limit: usize) -> Result<Answer, Error> {
        let wrong = |error: reqwest::Error| Error::Unavailable(reason(&error));
        let method = reqwest::Method::from_bytes(request.method.as_bytes())
            .map_err(|error| Error::Invalid(error.to_string()))?;
        let client = match &request.tls {
            Some(tls) => client(tls)?,
            None => self.http.clone(),
        };
        let timeout = request.timeout.unwrap_or(PATIENCE).min(PATIENCE);
        let mut builder = client.request(method, &request.url).timeout(timeout);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let mut response = builder.body(request.body.clone()).send().await.map_err(wrong)?;
        let status = response.status().as_u16();
        let text =
            |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(wrong)? {
            if body.len() + chunk.len() > limit {
                let limit = limit >> 20;
                return Err(Error::Invalid(format!("the answer is larger than {limit} MiB")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((status, headers, body))
    }

    /// Sends one mail to all its receivers.
    ///
    /// # Errors
    /// An address is none, or the server's words.
    pub async fn mail(&self, mail: &Mail) -> Result<(), Error> {
        let message = message(mail)?;
        let failed = |error: lettre::transport::smtp::Error| Error::Unavailable(reason(&error));
        let transport = match mail.port {
            // There TLS comes first; elsewhere it is asked for, and used if the server can.
            465 => AsyncSmtpTransport::<Tokio1Executor>::relay(&mail.host).map_err(failed)?,
            _ => {
                use lettre::transport::smtp::client::{Tls, TlsParameters};
                let tls = TlsParameters::new(mail.host.clone()).map_err(failed)?;
                AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&mail.host)
                    .tls(Tls::Opportunistic(tls))
            }
        };
        let transport = transport.port(mail.port).timeout(Some(PATIENCE));
        let transport = if mail.password.is_empty() {
            transport
        } else {
            transport.credentials(Credentials::new(mail.from.clone(), mail.password.clone()))
        };
        transport.build().send(message).await.map_err(failed)?;
        Ok(())
    }

    /// Whether `key` was seen less than `limit` times in the last `period`; if so it is once more.
    pub fn admits(&self, key: &str, limit: u32, period: Duration, now: Instant) -> bool {
        let Ok(mut seen) = self.seen.lock() else { return true };
        if !seen.contains_key(key) && seen.len() >= KEYS {
            let newest = |times: &VecDeque<Instant>| times.back().copied();
            let oldest = seen.iter().min_by_key(|it| newest(it.1)).map(|it| it.0.clone());
            oldest.and_then(|it| seen.remove(&it));
        }
        let times = seen.entry(key.to_owned()).or_default();
        while times.front().is_some_and(|it| now.duration_since(*it) >= period) {
            times.pop_front();
        }
        let admitted = times.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        if admitted {
            times.push_back(now);
        }
        admitted
    }
}

/// Status, header fields, body.
type Answer = (u16, Vec<(String, String)>, Vec<u8>);

fn recall<K: PartialEq, V: Clone>(of: &Mutex<Vec<(Instant, K, V)>>, key: &K) -> Option<V> {
    let mut known = of.lock().ok()?;
    known.retain(|it| it.0.elapsed() < FRESH);
    known.iter().find(|it| it.1 == *key).map(|it| it.2.clone())
}

fn remember<K: PartialEq + Clone, V: Clone>(of: &Mutex<Vec<(Instant, K, V)>>, key: &K, value: &V) {
    let Ok(mut known) = of.lock() else { return };
    known.retain(|it| it.1 != *key);
    if known.len() >= KEPT {
        known.remove(0);
    }
    known.push((Instant::now(), key.clone(), value.clone()));
}

fn client(tls: &Tls) -> Result<reqwest::Client, Error> {
    let wrong = |error: reqwest::Error| Error::Invalid(format!("certificates: {}", reason(&error)));
    let mut builder = reqwest::Client::builder();
    if !tls.authority.is_empty() {
        let authority = reqwest::Certificate::from_pem_bundle(tls.authority.as_bytes());
        for certificate in authority.map_err(wrong)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    if !tls.certificate.is_empty() {
        let both = format!("{}\n{}", tls.certificate, tls.key);
        builder = builder.identity(reqwest::Identity::from_pem(both.as_bytes()).map_err(wrong)?);
    }
    builder.build().map_err(wrong)
}

fn message(mail: &Mail) -> Result<Message, Error> {
    let address = |text: &str| -> Result<Address, Error> {
        text.parse().map_err(|error| Error::Invalid(format!("{text:?} is no address: {error}")))
    };
    let alias = (!mail.alias.is_empty()).then(|| mail.alias.clone());
    let mut builder = Message::builder()
        .from(Mailbox::new(alias, address(&mail.from)?))
        .subject(&mail.subject)
        .header(ContentType::TEXT_HTML);
    for to in &mail.to {
        builder = builder.to(Mailbox::new(None, address(to)?));
    }
    builder.body(mail.body.clone()).map_err(|error| Error::Invalid(error.to_string()))
}

/// An error and what caused it, each said once.
fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(inner) = next {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;

    #[test]
    fn so_many_times_in_a_period() {
        let outside = Outside::default();
        let (start, period) = (Instant::now(), Duration::from_secs(10));
        let at = |seconds| outside.admits("GET-x", 2, period, start + Duration::from_secs(seconds));
        assert_eq!([at(0), at(1), at(2), at(10), at(10)], [true, true, false, true, false]);
        assert!(outside.admits("GET-y", 1, period, start));
        assert!(!outside.admits("GET-z", 0, period, start));
    }

    #[tokio::test]
    async fn a_mail_reaches_its_server() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let (read, mut write) = stream.split();
            let mut lines = BufReader::new(read).lines();
            let mut said = Vec::new();
            write.write_all(b"220 here\r\n").await.expect("written");
            let mut body = false;
            while let Ok(Some(line)) = lines.next_line().await {
                let answer: &[u8] = match line.split(' ').next().unwrap_or_default() {
                    "." => {
                        body = false;
                        b"250 taken\r\n"
                    }
                    _ if body => b"",
                    "EHLO" => b"250-here\r\n250 AUTH PLAIN\r\n",
                    "AUTH" => b"235 welcome\r\n",
                    "DATA" => {
                        body = true;
                        b"354 go on\r\n"
                    }
                    _ => b"250 fine\r\n",
                };
                said.push(line.clone());
                write.write_all(answer).await.expect("written");
                if line == "." {
                    return said;
                }
            }
            said
        });
        let mail = Mail {
            from: "a@x.io".into(),
            alias: "Ä".into(),
            password: "p".into(),
            host: "127.0.0.1".into(),
            port,
            to: vec!["b@x.io".into(), "c@x.io".into()],
            subject: "news".into(),
            body: "<b>hello</b>".into(),
        };
        Outside::default().mail(&mail).await.expect("sent");
        let said = server.await.expect("the server").join("\n");
        for wanted in ["MAIL FROM:<a@x.io>", "RCPT TO:<c@x.io>", "Subject: news", "<b>hello</b>"] {
            assert!(said.contains(wanted), "{wanted} in {said}");
        }
        let wrong = Mail { to: vec!["nobody".into()], ..mail };
        assert!(matches!(Outside::default().mail(&wrong).await, Err(Error::Invalid(_))));
    }

    #[tokio::test]
    async fn an_answer_has_its_time_and_its_size() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/x", listener.local_addr().expect("an address"));
        let server = tokio::spawn(async move {
            let (mut quick, _) = listener.accept().await.expect("a client");
            let mut asked = [0; 512];
            let count = quick.read(&mut asked).await.expect("a request");
            quick
                .write_all(b"HTTP/1.1 404 No\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nno")
                .await
                .expect("written");
            let _slow = listener.accept().await.expect("a client");
            tokio::time::sleep(Duration::from_secs(5)).await;
            count
        });
        let outside = Outside::default();
        let request = HttpRequest {
            method: "GET".into(),
            url,
            timeout: Some(Duration::from_millis(300)),
            ..HttpRequest::default()
        };
        let answer = outside.http(&request).await.expect("an answer");
        assert_eq!((answer.status, answer.body.as_str()), (404, "no"));
        assert_eq!(answer.headers.iter().filter(|it| it.0 == "x-a").count(), 2);
        let request = HttpRequest { url: request.url.replace("/x", "/slow"), ..request };
        // A new connection: the first one was closed by its end.
        assert!(matches!(outside.http(&request).await, Err(Error::Unavailable(_))));
        server.abort();
    }
}
