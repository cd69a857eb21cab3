//! Calling webhooks: where they are, whom they are trusted by, how long they may take.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::trust::verifier;
use crate::plane::Plane;

/// Answers may be this big.
const ANSWER_LIMIT: usize = 3 * 1024 * 1024;

/// One call, ready to be made.
pub(super) struct Call {
    url: String,
    /// Host and port to connect to, or why there is none.
    address: Result<(String, u16), String>,
    /// The name the certificate must have.
    server: String,
    path: String,
    roots: Result<Vec<CertificateDer<'static>>, String>,
    timeout: u64,
    body: Vec<u8>,
}

impl Call {
    pub(super) fn new(plane: &Plane, spec: &Value, body: &Value) -> Call {
        let client = &spec["clientConfig"];
        let timeout = spec["timeoutSeconds"].as_u64().unwrap_or(10).clamp(1, 30);
        let pem = client["caBundle"].as_str().unwrap_or_default();
        let pem = base64::engine::general_purpose::STANDARD.decode(pem).unwrap_or_default();
        let roots: Vec<_> = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
        let roots = if roots.is_empty() && !pem.is_empty() {
            Err("unable to load root certificates: unable to parse bytes as PEM block".to_owned())
        } else {
            Ok(roots)
        };
        let body = serde_json::to_vec(body).unwrap_or_default();
        let service = &client["service"];
        let (authority, path, server, address) = if service.is_object() {
            let text = |key: &str| service[key].as_str().unwrap_or_default();
            let (name, namespace) = (text("name"), text("namespace"));
            let port = service["port"].as_u64().and_then(|it| u16::try_from(it).ok());
            let port = port.unwrap_or(443);
            let server = format!("{name}.{namespace}.svc");
            let path = format!("/{}", text("path").trim_start_matches('/'));
            let address = super::service::address(plane, namespace, name, port);
            (format!("{server}:{port}"), path, server, address)
        } else {
            let url = client["url"].as_str().unwrap_or_default();
            let rest = url.strip_prefix("https://").unwrap_or(url);
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let path = if path.is_empty() { "/" } else { path };
            let (host, port) = match authority.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
                _ => (authority, Some(443)),
            };
            let host = host.trim_matches(['[', ']']).to_owned();
            let address =
                port.map(|port| (host.clone(), port)).ok_or_else(|| "invalid port".to_owned());
            (authority.to_owned(), path.to_owned(), host, address)
        };
        let path = format!("{path}?timeout={timeout}s");
        let url = format!("https://{authority}{path}");
        Call { url, address, server, path, roots, timeout, body }
    }

    async fn send(self) -> Result<Vec<u8>, String> {
        if let Err(why) = &self.roots {
            return Err(format!("could not get REST client: {why}"));
        }
        let url = self.url.clone();
        let failed = |why: String| format!("failed to call webhook: Post \"{url}\": {why}");
        let limit = Duration::from_secs(self.timeout);
        match tokio::time::timeout(limit, self.exchange()).await {
            Err(_) => Err(failed("context deadline exceeded".to_owned())),
            Ok(Err(why)) => Err(failed(why)),
            Ok(Ok((200, body))) if body.is_empty() => {
                let why =
                    "0-length response with status code: 200 and content type: application/json";
                Err(format!("failed to call webhook: {why}"))
            }
            Ok(Ok((200, body))) => Ok(body),
            Ok(Ok((code, body))) => {
                Err(format!("failed to call webhook: {}", refused_with(code, &body)))
            }
        }
    }

    async fn exchange(self) -> Result<(u16, Vec<u8>), String> {
        let (host, port) = self.address?;
        let shown = format!("{host}:{port}");
        let stream =
            TcpStream::connect((host.as_str(), port)).await.map_err(|error| {
                match error.kind() {
                    std::io::ErrorKind::ConnectionRefused => {
                        format!("dial tcp {shown}: connect: connection refused")
                    }
                    _ if error.raw_os_error().is_none() => {
                        format!("dial tcp: lookup {host}: no such host")
                    }
                    _ => format!("dial tcp {shown}: {error}"),
                }
            })?;
        let name =
            ServerName::try_from(self.server.clone()).map_err(|error| format!("tls: {error}"))?;
        let verifier = verifier(&self.roots?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .map_err(|error| super::trust::distrust(&error, &self.server))?;
        let io = |error: hyper::Error| match error.is_timeout() {
            true => error.to_string(),
            // Whatever else ends a connection before its answer.
            false => "EOF".to_owned(),
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io)?;
        let request = http::Request::post(&self.path)
            .header(http::header::HOST, &self.server)
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(http::header::ACCEPT, "application/json, */*")
            .header(http::header::USER_AGENT, "kube-apiserver-admission")
            .body(Full::new(Bytes::from(self.body)))
            .map_err(|error| error.to_string())?;
        let connection = tokio::spawn(connection);
        let answer = async {
            let response = sender.send_request(request).await.map_err(io)?;
            let code = response.status().as_u16();
            let body = Limited::new(response.into_body(), ANSWER_LIMIT).collect().await;
            let body = body.map_err(|error| error.to_string())?;
            Ok((code, body.to_bytes().to_vec()))
        };
        let answer = answer.await;
        connection.abort();
        answer
    }
}

// What a client of Kubernetes makes of an answer that is no review.
fn refused_with(code: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body).trim().to_owned();
    let status: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(message) = status["message"].as_str().filter(|_| status["kind"] == "Status") {
        return message.to_owned();
    }
    match code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 => text,
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        500..600 if code != 503 => {
            format!("an error on the server ({text:?}) has prevented the request from succeeding")
        }
        503 => "the server is currently unable to handle the request".to_owned(),
        code => format!(
            "the server responded with the status code {code} but did not return more information"
        ),
    }
}

/// Makes all calls at once, from wherever this is called: the answers are waited for on threads of their own.
pub(super) fn all(calls: Vec<Call>) -> Vec<Result<Vec<u8>, String>> {
    let Some(runtime) = runtime() else {
        return calls.iter().map(|_| Err("no threads for webhooks".to_owned())).collect();
    };
    let wait = move || {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let count = calls.len();
        runtime.spawn(async move {
            let answers = futures::future::join_all(calls.into_iter().map(Call::send)).await;
            let _ = sender.send(answers);
        });
        let lost = || (0..count).map(|_| Err("the call was given up".to_owned())).collect();
        receiver.recv().unwrap_or_else(|_| lost())
    };
    // A worker that waits would keep others from running, the webhook among them.
    let flavor = tokio::runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(tokio::runtime::RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}

fn runtime() -> Option<&'static tokio::runtime::Runtime> {
    static RUNTIME: OnceLock<Option<tokio::runtime::Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("webhooks")
                .enable_all()
                .build()
                .ok()
        })
        .as_ref()
}
