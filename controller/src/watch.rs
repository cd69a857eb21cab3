//! List, then watch, for ever: every object of a kind as it is seen.

use std::time::Duration;

use futures::StreamExt;
use http::Request;
use kube::Client;
use kube::api::WatchEvent;
use serde_json::Value;

use crate::kinds::Resource;
use crate::rest::{self, ActAs};

/// What was seen.
#[derive(Debug)]
pub enum Seen {
    /// Everything there is: what was seen before and is not here is gone.
    All(Vec<Value>),
    /// One object that came or changed.
    Changed(Value),
    /// One object that went.
    Gone(Value),
}

/// Objects that are watched.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Their kind.
    pub resource: Resource,
    /// Their namespace; empty: all.
    pub namespace: String,
    /// Label selector; empty: all.
    pub selector: String,
}

/// Before a listing that failed is tried again.
const LIST_AGAIN: Duration = Duration::from_secs(2);

/// Before a watch that failed is tried again.
const WATCH_AGAIN: Duration = Duration::from_secs(1);

/// Tells `on` everything about the objects of `scope`; only dropping it ends it.
pub async fn watch(client: &Client, scope: &Scope, mut on: impl FnMut(Seen)) {
    let kind = &scope.resource.kind;
    let mut base = rest::path(&scope.resource, &scope.namespace, None);
    if !scope.selector.is_empty() {
        base = rest::with_query(base, "labelSelector", &scope.selector);
    }
    loop {
        let mut list =
            match rest::send(client, http::Method::GET, &base, None, &ActAs::default()).await {
                Ok(list) => list,
                Err(error) => {
                    tracing::debug!(%error, %kind, "listing failed");
                    tokio::time::sleep(LIST_AGAIN).await;
                    continue;
                }
            };
        let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let mut version = list["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        on(Seen::All(items));
        'watching: loop {
            let path = rest::with_query(base.clone(), "watch", "true");
            let path = rest::with_query(path, "allowWatchBookmarks", "true");
            let path = rest::with_query(path, "timeoutSeconds", "290");
            let path = rest::with_query(path, "resourceVersion", &version);
            let Ok(request) = Request::get(path).body(Vec::new()) else { break };
            let stream = match client.request_events::<Value>(request).await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::debug!(%error, %kind, "watching failed");
                    tokio::time::sleep(WATCH_AGAIN).await;
                    break;
                }
            };
            futures::pin_mut!(stream);
            while let Some(event) = stream.next().await {
                let seen = match event {
                    Ok(WatchEvent::Added(it) | WatchEvent::Modified(it)) => Seen::Changed(it),
                    Ok(WatchEvent::Deleted(it)) => Seen::Gone(it),
                    Ok(WatchEvent::Bookmark(mark)) => {
                        version.clone_from(&mark.metadata.resource_version);
                        continue;
                    }
                    Ok(WatchEvent::Error(_)) | Err(_) => break 'watching,
                };
                if let Seen::Changed(object) | Seen::Gone(object) = &seen
                    && let Some(new) = object["metadata"]["resourceVersion"].as_str()
                {
                    new.clone_into(&mut version);
                }
                on(seen);
            }
        }
    }
}
