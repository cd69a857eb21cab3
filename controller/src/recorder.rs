//! Events are told in the background, in order and a little later: no reconcile waits for them, nor its
//! requests behind theirs, and what cannot be told is no reason to stop. Where more are told than can be sent,
//! reconciles wait a little; what is dropped then is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::connection::Client;
use http::Method;
use serde_json::Value;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::observe::{Metrics, Request};
use crate::rest::{self, ActAs, Body};

/// Events that may wait.
const WAITING: usize = 4_096;

/// How long one that comes on top waits for its place before it is dropped.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long events let requests go ahead.
const LATER: Duration = Duration::from_millis(100);

/// How long the last events may take when the process ends.
const LAST: Duration = Duration::from_secs(5);

enum Told {
    /// Since when it waits.
    Event(Box<Value>, Instant),
    /// Everything before has been sent.
    End(oneshot::Sender<()>),
}

/// Sends events to the API server, one after the other.
#[derive(Clone)]
pub(crate) struct Recorder {
    queue: mpsc::Sender<Told>,
    metrics: Arc<Metrics>,
    /// The last event was dropped: that was said.
    drops: Arc<AtomicBool>,
}

impl Recorder {
    /// Starts the task that sends. It ends with the last clone of the recorder.
    pub(crate) fn start(client: Client, metrics: Arc<Metrics>) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING);
        tokio::spawn(send(client, metrics.clone(), waiting));
        Self { queue, metrics, drops: Arc::default() }
    }

    /// Tells an event soon.
    pub(crate) async fn tell(&self, event: Value) {
        let told = Told::Event(Box::new(event), Instant::now());
        let told = match self.queue.try_send(told) {
            Ok(()) => return self.drops.store(false, Ordering::Relaxed),
            Err(TrySendError::Full(told)) => told,
            Err(TrySendError::Closed(_)) => return,
        };
        if tokio::time::timeout(PATIENCE, self.queue.send(told)).await.is_err() {
            self.metrics.events_dropped.inc();
            if !self.drops.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    waiting = WAITING,
                    "events are dropped: the API server takes them too slowly"
                );
            }
        }
    }

    /// Waits until everything that was told has been sent, but not for ever.
    pub(crate) async fn finish(&self) {
        let (done, sent) = oneshot::channel();
        if self.queue.send(Told::End(done)).await.is_ok()
            && tokio::time::timeout(LAST, sent).await.is_err()
        {
            tracing::debug!("the last events were not recorded in time");
        }
    }
}

async fn send(client: Client, metrics: Arc<Metrics>, mut waiting: mpsc::Receiver<Told>) {
    while let Some(told) = waiting.recv().await {
        let event = match told {
            Told::Event(event, since) => {
                tokio::time::sleep_until(since + LATER).await;
                event
            }
            Told::End(done) => {
                // Who asked may have gone.
                let _ = done.send(());
                continue;
            }
        };
        let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
        let path = format!("/api/v1/namespaces/{namespace}/events");
        metrics.requests.get_or_create(&Request::of("POST", &path)).inc();
        let body = Some((Body::Json, &*event));
        if let Err(error) = rest::tell(&client, Method::POST, &path, body, &ActAs::default()).await
        {
            tracing::debug!(%error, "event not recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use http_body_util::BodyExt as _;
    use kube::client::Body as KubeBody;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn events_are_sent_in_order_and_refusals_stop_nothing() {
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = sent.clone();
        let server = tower::service_fn(move |request: http::Request<KubeBody>| {
            let seen = seen.clone();
            async move {
                let path = request.uri().path().to_owned();
                let body = request.into_body().collect().await?.to_bytes();
                let event: Value = serde_json::from_slice(&body).unwrap();
                let reason = event["reason"].as_str().unwrap().to_owned();
                let code = if reason == "Parsed" { 403 } else { 201 };
                seen.lock().unwrap().push(format!("{path} {reason}"));
                let answer = http::Response::builder().status(code);
                Ok::<_, kube::Error>(answer.body(KubeBody::from(b"{}".to_vec())).unwrap())
            }
        });
        let recorder = Recorder::start(kube::Client::new(server, "default").into(), Arc::default());
        for reason in ["Parsed", "Rendered", "Applied"] {
            recorder.tell(json!({"metadata": {"namespace": "shop"}, "reason": reason})).await;
        }
        recorder.finish().await;
        let path = "/api/v1/namespaces/shop/events";
        let expected = ["Parsed", "Rendered", "Applied"].map(|it| format!("{path} {it}"));
        assert_eq!(*sent.lock().unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_no_place_is_counted() {
        let silent = tower::service_fn(|_: http::Request<KubeBody>| {
            std::future::pending::<Result<http::Response<KubeBody>, kube::Error>>()
        });
        let metrics = Arc::<Metrics>::default();
        let recorder =
            Recorder::start(kube::Client::new(silent, "default").into(), metrics.clone());
        let event = json!({"metadata": {"namespace": "shop"}, "reason": "Parsed"});
        recorder.tell(event.clone()).await;
        // It is on its way when the others come.
        tokio::time::sleep(LATER * 2).await;
        for _ in 0..WAITING {
            recorder.tell(event.clone()).await;
        }
        assert_eq!(metrics.events_dropped.get(), 0);
        recorder.tell(event.clone()).await;
        assert_eq!(metrics.events_dropped.get(), 1);
    }
}
