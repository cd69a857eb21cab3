//! What the controller shows of itself: /healthz, /readyz and /metrics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

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
    pub requests: Counter,
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
        let requests = Counter::default();
        let ready_keys = Gauge::<u64, AtomicU64>::default();
        let planned_keys = Gauge::<u64, AtomicU64>::default();
        registry.register("reconciles", "Reconciles done", reconciles.clone());
        registry.register("reconcile_failures", "Reconciles that failed", failures.clone());
        registry.register("reconcile_seconds", "Time of a reconcile", seconds.clone());
        registry.register("api_requests", "Requests sent to API servers", requests.clone());
        registry.register("queue_ready", "Keys waiting for a worker", ready_keys.clone());
        registry.register("queue_planned", "Keys with a later time", planned_keys.clone());
        Self {
            registry,
            reconciles,
            failures,
            seconds,
            requests,
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
