//! Lists and watches over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::Asked;
use super::answer::{Streaming, encode, reply};
use super::options::{form, list_options};
use crate::list::{Change, Changes};
use crate::plane::{Plane, Target};
use crate::resource::Resource;
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
    let changes = plane.watch(target, &options)?;
    let timeout = options
        .timeout
        .filter(|seconds| *seconds > 0)
        .unwrap_or(1800 + u64::from(rand::random::<u8>()) * 7);
    let now = tokio::time::Instant::now();
    let watching = Watching {
        changes,
        resource: target.resource.clone(),
        form,
        columns: Columns::Shown,
        beat: tokio::time::interval_at(now + BEAT, BEAT),
        ends: now + Duration::from_secs(timeout),
        last_bookmark: timeout > 2,
    };
    let stream = futures::stream::unfold(Some(watching), |watching| async move {
        let mut watching = watching?;
        let (bytes, goes_on) = watching.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), goes_on.then_some(watching)))
    });
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response.extensions_mut().insert(Streaming);
    Ok(response)
}

/// How often a quiet watch says how far it has come.
const BEAT: Duration = Duration::from_secs(60);

/// A watch that is being answered.
struct Watching {
    changes: Changes,
    resource: Arc<Resource>,
    form: Form,
    columns: Columns,
    beat: tokio::time::Interval,
    ends: tokio::time::Instant,
    last_bookmark: bool,
}

impl Watching {
    // The next lines, and whether more may come; nothing when the watch is over.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        loop {
            tokio::select! {
                batch = self.changes.next() => {
                    if batch.is_empty() {
                        return None;
                    }
                    return Some((self.lines(&batch), true));
                }
                _ = self.beat.tick() => {
                    if let Some(bookmark) = self.changes.bookmark() {
                        return Some((self.lines(&[bookmark]), true));
                    }
                }
                () = tokio::time::sleep_until(self.ends) => {
                    let bookmark = self.changes.bookmark().filter(|_| self.last_bookmark)?;
                    return Some((self.lines(&[bookmark]), false));
                }
            }
        }
    }

    fn lines(&mut self, batch: &[Change]) -> Bytes {
        let mut out = Vec::new();
        for change in batch {
            line(&self.resource, change, &self.form, &mut self.columns, &mut out);
        }
        Bytes::from(out)
    }
}

fn line(
    resource: &Resource,
    change: &Change,
    form: &Form,
    columns: &mut Columns,
    out: &mut Vec<u8>,
) {
    let mut write = |object: &[u8]| {
        out.reserve(object.len() + 40);
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(change.kind.as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        out.extend_from_slice(object);
        out.extend_from_slice(b"}\n");
    };
    if change.kind == "ERROR" || form.is_plain() {
        return write(change.object.text());
    }
    let made = if change.kind == "BOOKMARK" {
        table::render_bookmark(Value::clone(&change.object), form)
    } else {
        let columns = std::mem::replace(columns, Columns::Omitted);
        match table::render(resource, &change.object, form, columns) {
            Ok((_, value)) => value,
            Err(error) => error.status(),
        }
    };
    write(&serde_json::to_vec(&made).unwrap_or_default());
}
