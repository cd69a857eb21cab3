//! The way to a Kubernetes API: what kube's own client consists of, but for spans about every request, which
//! took a twelfth of the controller's time, and with nothing held back to fill packets.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ConfigExt as _};
use tower::retry::RetryLayer;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder, ServiceExt as _};

use crate::fence::Fenced;
use crate::lease::Term;

/// A Kubernetes API that can be asked. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    streams: kube::Client,
    direct: Option<Direct>,
    term: Term,
}

/// What each request has a copy of: kube's client has one for all, behind a queue that a task of its own
/// works off, and every request waits for that task to wake up.
#[derive(Clone)]
struct Direct {
    /// Before every path: scheme, host, and where the API begins.
    base: Arc<str>,
    service: BoxCloneSyncService<Request<Body>, Response<Incoming>, BoxError>,
}

impl Client {
    /// Of the API that `config` names; nothing is sent once `term` is over.
    ///
    /// # Errors
    /// What `config` says cannot be used.
    pub fn open(config: Config, term: Term) -> Result<Self, kube::Error> {
        if config.proxy_url.is_some() {
            // Each kind of proxy has a way of its own: there, what is on its way when the term ends still arrives.
            let streams = kube::Client::try_from(config)?;
            return Ok(Self { streams, direct: None, term });
        }
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        // Whoever is gone without a word is noticed within a minute: watches wait for minutes.
        connector.set_keepalive(Some(Duration::from_secs(30)));
        connector.set_keepalive_interval(Some(Duration::from_secs(10)));
        connector.set_keepalive_retries(Some(3));
        let within = term.clone();
        let fenced = connector.map_response(move |it| Fenced::new(it, within.clone()));
        let secured = config.rustls_https_connector_with_connector(fenced)?;
        let mut connector = TimeoutConnector::new(secured);
        connector.set_connect_timeout(config.connect_timeout);
        connector.set_read_timeout(config.read_timeout);
        connector.set_write_timeout(config.write_timeout);
        connector.set_reset_reader_on_write(config.reset_reader_on_write);
        let http: legacy::Client<_, Body> =
            legacy::Builder::new(TokioExecutor::new()).build(connector);
        let retries = config.default_retry.then(|| RetryLayer::new(RetryPolicy::server_retry()));
        let service = ServiceBuilder::new()
            .option_layer(retries)
            .option_layer(config.auth_layer()?)
            .layer(config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(http);
        let base = config.cluster_url.to_string();
        let direct = Direct {
            base: base.trim_end_matches('/').into(),
            service: BoxCloneSyncService::new(service.clone()),
        };
        let streams = ServiceBuilder::new().layer(config.base_uri_layer()).service(service);
        let streams = kube::Client::new(streams, config.default_namespace);
        Ok(Self { streams, direct: Some(direct), term })
    }

    /// Until when it may be used to change anything.
    pub(crate) fn term(&self) -> &Term {
        &self.term
    }

    /// For what kube's client does besides single requests.
    pub fn streams(&self) -> &kube::Client {
        &self.streams
    }

    /// What a request for a path of the API is made with.
    pub(crate) fn uri(&self, path: &str) -> String {
        match &self.direct {
            Some(direct) => format!("{}{path}", direct.base),
            None => path.to_owned(),
        }
    }

    /// The whole answer to a request for what [`Self::uri`] gave.
    pub(crate) async fn send(
        &self,
        request: Request<Body>,
    ) -> Result<(StatusCode, Bytes), kube::Error> {
        let Some(direct) = &self.direct else {
            let answer = self.streams.send(request).await?;
            return Ok((answer.status(), answer.into_body().collect().await?.to_bytes()));
        };
        let answer = direct.service.clone().oneshot(request).await;
        let answer = answer.map_err(|error| match error.downcast() {
            Ok(error) => *error,
            Err(error) => kube::Error::Service(error),
        })?;
        let code = answer.status();
        let body = answer.into_body().collect().await.map_err(kube::Error::HyperError)?;
        Ok((code, body.to_bytes()))
    }
}

impl From<kube::Client> for Client {
    fn from(streams: kube::Client) -> Self {
        Self { streams, direct: None, term: Term::endless() }
    }
}
