//! A plane behind a socket, with or without TLS, and a kubeconfig to reach it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::audit::AuditLog;
use crate::auth::Tokens;
use crate::http;
use crate::plane::Plane;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Serve {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Plain HTTP instead of TLS with a certificate of its own.
    pub insecure: bool,
    /// Where to write a kubeconfig, if anywhere.
    pub kubeconfig: Option<PathBuf>,
    /// The name of the plane in the kubeconfig, after `lateen-`; empty for `lateen` alone.
    pub name: String,
    /// Whose tokens are accepted; without, everybody is the admin.
    pub tokens: Option<Tokens>,
    /// Where to write down who asks for what, if anywhere.
    pub audit_log: Option<Arc<AuditLog>>,
}

/// A plane that is being served; serving ends when this is dropped.
#[derive(Debug)]
pub struct Listening {
    /// The address.
    pub address: SocketAddr,
    /// The kubeconfig as text.
    pub kubeconfig: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listening {
    /// Waits for the end of serving, which only a failure brings.
    pub async fn wait(mut self) {
        let _ = (&mut self.task).await;
    }
}

fn other(error: impl std::fmt::Display) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

impl Plane {
    /// Listens and answers in the background.
    pub async fn serve(&self, options: &Serve) -> std::io::Result<Listening> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let (acceptor, authority) = if options.insecure {
            (None, None)
        } else {
            let names = vec![
                "localhost".to_owned(),
                address.ip().to_string(),
                "kubernetes".to_owned(),
                "kubernetes.default".to_owned(),
            ];
            let made = rcgen::generate_simple_self_signed(names).map_err(other)?;
            let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der())
                .map_err(other)?;
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let mut config = rustls::ServerConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .map_err(other)?
                .with_no_client_auth()
                .with_single_cert(vec![made.cert.der().clone()], key)
                .map_err(other)?;
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            (Some(TlsAcceptor::from(Arc::new(config))), Some(made.cert.pem()))
        };
        let mut tokens = options.tokens.clone();
        let token = tokens.as_mut().map_or("lateen".to_owned(), Tokens::add_admin);
        let kubeconfig = kubeconfig(&options.name, address, authority.as_deref(), &token);
        if let Some(path) = &options.kubeconfig {
            // Whoever waits for the file finds all of it.
            let mut whole = path.clone().into_os_string();
            whole.push(".new");
            tokio::fs::write(&whole, &kubeconfig).await?;
            tokio::fs::rename(&whole, path).await?;
        }
        let (plane, tokens) = (self.clone(), tokens.map(Arc::new));
        let audit_log = options.audit_log.clone();
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, peer)) = listener.accept().await else {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let acceptor = acceptor.clone();
                let (plane, tokens, log) = (plane.clone(), tokens.clone(), audit_log.clone());
                // Without a router: there is one route.
                let service = service_fn(move |request: Request<Incoming>| {
                    let (plane, tokens, log) = (plane.clone(), tokens.clone(), log.clone());
                    async move {
                        let answer = match log {
                            None => http::answer(plane, tokens, request).await,
                            Some(log) => http::audited(plane, tokens, request, &log, peer).await,
                        };
                        Ok::<_, Infallible>(answer)
                    }
                });
                tokio::spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    let ended = match acceptor {
                        None => builder.serve_connection(TokioIo::new(stream), service).await,
                        Some(acceptor) => match acceptor.accept(stream).await {
                            Ok(stream) => {
                                builder.serve_connection(TokioIo::new(stream), service).await
                            }
                            Err(_) => return,
                        },
                    };
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended");
                    }
                });
            }
        });
        Ok(Listening { address, kubeconfig, task })
    }
}

fn kubeconfig(name: &str, address: SocketAddr, authority: Option<&str>, token: &str) -> String {
    let name = if name.is_empty() { "lateen".to_owned() } else { format!("lateen-{name}") };
    let scheme = if authority.is_some() { "https" } else { "http" };
    let trust = authority.map_or(String::new(), |pem| {
        format!(
            "    certificate-authority-data: {}\n",
            base64::engine::general_purpose::STANDARD.encode(pem)
        )
    });
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters:\n- name: {name}\n  cluster:\n    server: {scheme}://{address}\n{trust}contexts:\n- name: {name}\n  context:\n    cluster: {name}\n    user: {name}\nusers:\n- name: {name}\n  user:\n    token: {token}\n"
    )
}
