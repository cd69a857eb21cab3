//! What the controller shows of itself: /healthz, /readyz and /metrics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

/// What a request was for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Request {
    /// `GET`, `PATCH` …
    pub verb: String,
    /// `deployments`, `applications/status` …
    pub resource: String,
}

impl Request {
    /// Of a path as `rest::path` makes them.
    pub fn of(verb: &str, path: &str) -> Self {
        let path = path.split('?').next().unwrap_or(path);
        let mut parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        // `api/v1` or `apis/group/version`, then perhaps `namespaces/name`.
        parts.drain(..parts.len().min(if parts.first() == Some(&"apis") { 3 } else { 2 }));
        if parts.len() > 2 && parts.first() == Some(&"namespaces") {
            parts.drain(..2);
        }
        let resource = match parts.as_slice() {
            [] => "discovery".to_owned(),
            [plural] | [plural, _] => (*plural).to_owned(),
            [plural, _, below, ..] => format!("{plural}/{below}"),
        };
        Self { verb: verb.to_owned(), resource }
    }
}

/// Counters and marks of one controller.
pub struct Metrics {
    registry: Registry,
    /// Reconciles done.
    pub reconciles: Counter,
    /// Reconciles that ended in an error.
    pub failures: Counter,
    /// Seconds a reconcile took.
    pub seconds: Histogram,
    /// Requests sent to API servers.
    pub requests: Family<Request, Counter>,
    /// Events that were not told: too many waited.
    pub events_dropped: Counter,
    /// Keys that wait for a worker.
    pub ready_keys: Gauge<u64, AtomicU64>,
    /// Keys with a time to look again.
    pub planned_keys: Gauge<u64, AtomicU64>,
    /// Whether watches have caught up.
    pub synced: AtomicBool,
    /// Whether this process acts.
    pub leading: AtomicBool,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("lateen");
        let reconciles = Counter::default();
        let failures = Counter::default();
        let seconds = Histogram::new(exponential_buckets(0.0005, 2.0, 16));
        let requests = Family::<Request, Counter>::default();
        let events_dropped = Counter::default();
        let ready_keys = Gauge::<u64, AtomicU64>::default();
        let planned_keys = Gauge::<u64, AtomicU64>::default();
        registry.register("reconciles", "Reconciles done", reconciles.clone());
        registry.register("reconcile_failures", "Reconciles that failed", failures.clone());
        registry.register("reconcile_seconds", "Time of a reconcile", seconds.clone());
        registry.register("api_requests", "Requests sent to API servers", requests.clone());
        registry.register(
            "events_dropped",
            "Events not told: too many waited",
            events_dropped.clone(),
        );
        registry.register("queue_ready", "Keys waiting for a worker", ready_keys.clone());
        registry.register("queue_planned", "Keys with a later time", planned_keys.clone());
        Self {
            registry,
            reconciles,
            failures,
            seconds,
            requests,
            events_dropped,
            ready_keys,
            planned_keys,
            synced: AtomicBool::new(false),
            leading: AtomicBool::new(false),
        }
    }
}

/// Serves until `stop`.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn serve(
    address: SocketAddr,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(text))
        .with_state(metrics);
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
}

async fn ready(State(metrics): State<Arc<Metrics>>) -> impl IntoResponse {
    if metrics.synced.load(Ordering::Relaxed) {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "watches have not caught up")
    }
}

async fn text(State(metrics): State<Arc<Metrics>>) -> impl IntoResponse {
    let mut body = String::new();
    match encode(&mut body, &metrics.registry) {
        Ok(()) => (
            StatusCode::OK,
            [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")],
            body,
        ),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            [(header::CONTENT_TYPE, "text/plain")],
            error.to_string(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_what_they_are_for() {
        let of = |path: &str| Request::of("GET", path).resource;
        assert_eq!(of("/apis/apps/v1/namespaces/shop/deployments/web?force=true"), "deployments");
        assert_eq!(of("/apis/core.oam.dev/v1beta1/resourcetrackers"), "resourcetrackers");
        assert_eq!(
            of("/apis/core.oam.dev/v1beta1/namespaces/shop/applications/a/status"),
            "applications/status"
        );
        assert_eq!(of("/api/v1/namespaces/shop"), "namespaces");
        assert_eq!(of("/apis/apps/v1"), "discovery");
    }
}
