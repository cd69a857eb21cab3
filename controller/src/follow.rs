//! Objects of a kind, listed and then watched for ever.

use std::time::Duration;

use crate::connection::Client;
use futures::StreamExt;
use http::{Method, Request};
use kube::api::WatchEvent;
use serde_json::Value;

use crate::kinds::Resource;
use crate::rest::{self, ActAs, Answer};

/// How long one watch lasts: less than a client waits for an answer.
const LASTS: &str = "290";

/// Before a list that failed is asked for again, at first and at last.
const RETRY: Duration = Duration::from_secs(2);
const LAST_RETRY: Duration = Duration::from_secs(30);

/// What is followed.
pub(crate) struct Followed<'a> {
    pub(crate) client: &'a Client,
    pub(crate) resource: &'a Resource,
    /// Empty: all namespaces.
    pub(crate) namespace: &'a str,
    /// Labels; empty: all objects.
    pub(crate) selector: &'a str,
}

/// Who is told.
pub(crate) trait Sink: Send {
    /// All there is, first and after every break.
    fn begins(&mut self, list: &Value);
    /// An object was added or changed.
    fn sees(&mut self, object: &Value);
    /// An object is gone.
    fn sees_gone(&mut self, object: &Value);
    /// The watch broke; [`begins`](Sink::begins) follows some time later.
    fn breaks(&mut self);
}

impl Followed<'_> {
    /// Tells `sink` until the future is dropped.
    pub(crate) async fn follow(&self, sink: &mut impl Sink) {
        let mut base = rest::path(self.resource, self.namespace, None);
        if !self.selector.is_empty() {
            base = rest::with_query(base, "labelSelector", self.selector);
        }
        let kind = self.resource.kind.as_str();
        let mut retry = RETRY;
        loop {
            let listed = rest::send(self.client, Method::GET, &base, None, &ActAs::default()).await;
            let list = match listed {
                Ok(list) => list,
                Err(error) => {
                    tracing::debug!(%error, kind, "listing failed");
                    tokio::time::sleep(retry).await;
                    retry = LAST_RETRY.min(retry * 2);
                    continue;
                }
            };
            retry = RETRY;
            sink.begins(&list);
            let version = list["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
            drop(list);
            let ended = self.watch(&base, version, sink).await;
            // The next list may be long in coming, and nothing is told until then.
            sink.breaks();
            if let Err(error) = ended {
                tracing::debug!(%error, kind, "watching failed");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Until what follows `version` is no longer known, or cannot be asked for, which is the error. A watch
    /// that is cut is resumed where it was, if it came any further than the one before.
    async fn watch(
        &self,
        base: &str,
        mut version: String,
        sink: &mut impl Sink,
    ) -> Result<(), kube::Error> {
        let mut resumed = String::new();
        loop {
            let path = rest::with_query(base.to_owned(), "watch", "true");
            let path = rest::with_query(path, "allowWatchBookmarks", "true");
            let path = rest::with_query(path, "timeoutSeconds", LASTS);
            let path = rest::with_query(path, "resourceVersion", &version);
            let request = Request::get(path).body(Vec::new());
            let request = request.map_err(kube::Error::HttpError)?;
            let stream = self.client.streams().request_events::<Answer>(request).await?;
            futures::pin_mut!(stream);
            while let Some(event) = stream.next().await {
                let object = match event {
                    Ok(WatchEvent::Added(Answer(it)) | WatchEvent::Modified(Answer(it))) => {
                        sink.sees(&it);
                        it
                    }
                    Ok(WatchEvent::Deleted(Answer(it))) => {
                        sink.sees_gone(&it);
                        it
                    }
                    Ok(WatchEvent::Bookmark(mark)) => {
                        version.clone_from(&mark.metadata.resource_version);
                        continue;
                    }
                    Ok(WatchEvent::Error(_)) => return Ok(()),
                    Err(_) if resumed == version => return Ok(()),
                    Err(_) => {
                        resumed.clone_from(&version);
                        break;
                    }
                };
                if let Some(new) = object["metadata"]["resourceVersion"].as_str() {
                    new.clone_into(&mut version);
                }
            }
        }
    }
}
