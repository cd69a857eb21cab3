//! Lists and watches over HTTP.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::Asked;
use super::answer::{Streaming, encode, reply};
use super::options::{form, list_options};
use crate::list::Change;
use crate::plane::{Plane, Target};
use crate::status::Result;
use crate::table::{self, Answer, Columns, Form};

pub(super) async fn list(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, Answer::List)?;
    let options = list_options(asked)?;
    let page = plane.list(target, &options).await?;
    if form.is_plain() {
        return Ok(reply(
            200,
            "application/json",
            table::list_text(&target.resource, &page, &form),
        ));
    }
    let (content_type, value) = table::render_list(&target.resource, &page, &form)?;
    Ok(encode(200, &content_type, &value, &form))
}

pub(super) fn watch(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, Answer::Object)?;
    let mut options = list_options(asked)?;
    if !target.name.is_empty() {
        options.fields = format!("metadata.name={}", target.name);
    }
    let mut changes = plane.watch(target, &options)?;
    let timeout = options
        .timeout
        .filter(|seconds| *seconds > 0)
        .unwrap_or(1800 + u64::from(rand::random::<u8>()) * 7);
    let ends = tokio::time::Instant::now() + Duration::from_secs(timeout);
    let resource = target.resource.clone();
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(64);
    tokio::spawn(async move {
        let mut columns = Columns::Shown;
        let mut beat = tokio::time::interval_at(
            tokio::time::Instant::now() + Duration::from_secs(60),
            Duration::from_secs(60),
        );
        loop {
            let batch = tokio::select! {
                batch = changes.next() => batch,
                _ = beat.tick() => match changes.bookmark() {
                    Some(bookmark) => vec![bookmark],
                    None => continue,
                },
                () = tokio::time::sleep_until(ends) => {
                    if let Some(bookmark) = changes.bookmark().filter(|_| timeout > 2) {
                        let _ = sender.send(line(&resource, bookmark, &form, &mut columns)).await;
                    }
                    return;
                }
                () = sender.closed() => return,
            };
            if batch.is_empty() {
                return;
            }
            for change in batch {
                if sender.send(line(&resource, change, &form, &mut columns)).await.is_err() {
                    return;
                }
            }
        }
    });
    let stream = futures::stream::unfold(receiver, |mut receiver| async move {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), receiver))
    });
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response.extensions_mut().insert(Streaming);
    Ok(response)
}

#[derive(serde::Serialize)]
struct Line<'l> {
    #[serde(rename = "type")]
    kind: &'static str,
    object: &'l Value,
}

pub(super) fn line(
    resource: &crate::resource::Resource,
    change: Change,
    form: &Form,
    columns: &mut Columns,
) -> Bytes {
    let written = |object: &Value| {
        serde_json::to_vec(&Line { kind: change.kind, object }).unwrap_or_default()
    };
    let mut bytes = if change.kind == "ERROR" || form.is_plain() {
        written(&change.object)
    } else if change.kind == "BOOKMARK" {
        written(&table::render_bookmark(Value::clone(&change.object), form))
    } else {
        let columns = std::mem::replace(columns, Columns::Omitted);
        match table::render(resource, Value::clone(&change.object), form, columns) {
            Ok((_, value)) => written(&value),
            Err(error) => written(&error.status()),
        }
    };
    bytes.push(b'\n');
    Bytes::from(bytes)
}
