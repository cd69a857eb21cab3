//! Lists and watches over HTTP.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::time::{Instant, Sleep};

use super::Asked;
use super::answer::{Long, Streaming, encode, reply};
use super::options::{form, list_options};
use crate::list::{Change, Changes};
use crate::plane::{Plane, Target};
use crate::protobuf;
use crate::resource::Resource;
use crate::status::Result;
use crate::table::{self, Answer, Columns, Form, ListText, Written};
use crate::told::{self, Beat};

pub(super) async fn list(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::List)?;
    let options = list_options(asked)?;
    let page = plane.list(target, &options).await?;
    if form.is_plain() {
        let mut text = ListText::new(&target.resource, page, &form);
        if text.size() < SHORT {
            return Ok(reply(200, "application/json", text.piece(usize::MAX).unwrap_or_default()));
        }
        let mut response = Response::new(Body::new(text));
        let json = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response.extensions_mut().insert(Long);
        return Ok(response);
    }
    let value = table::render_list(&target.resource, &page, &form)?;
    Ok(encode(200, &value, &form))
}

pub(super) fn watch(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::Object)?;
    let mut options = list_options(asked)?;
    if !target.name.is_empty() {
        options.fields = format!("metadata.name={}", target.name);
    }
    let changes = plane.watch(target, &options)?;
    let written = form.written;
    let timeout = options
        .timeout
        .filter(|seconds| *seconds > 0)
        .unwrap_or(1800 + u64::from(rand::random::<u8>()) * 7);
    let now = Instant::now();
    let ends = now + Duration::from_secs(timeout);
    let watching = Watching {
        plane: plane.clone(),
        changes,
        resource: target.resource.clone(),
        form,
        columns: Columns::Shown,
        told: None,
        beat: now + BEAT,
        ends,
        timer: Box::pin(tokio::time::sleep_until(ends.min(now + BEAT))),
        last_bookmark: timeout > 2,
    };
    let stream = futures::stream::unfold(Some(watching), |watching| async move {
        let mut watching = watching?;
        let (bytes, goes_on) = watching.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), goes_on.then_some(watching)))
    });
    let mut response = Response::new(Body::from_stream(stream));
    let media = if written == Written::Protobuf { protobuf::STREAM } else { "application/json" };
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(media));
    response.extensions_mut().insert(Streaming);
    Ok(response)
}

/// A list that is shorter is written at once.
const SHORT: usize = 256 * 1024;

/// How often a quiet watch says how far it has come.
const BEAT: Duration = Duration::from_secs(60);

/// How much longer changes are gathered before they are told, for each watch that is told of them: a
/// write to the socket costs more than what is in it.
const PATIENCE: Duration = Duration::from_micros(500);

/// Watches that are told at once, however fast changes come.
const FEW: usize = 20;

/// A change is never told later than this.
const LATEST: Duration = Duration::from_millis(50);

/// A watch that is being answered.
struct Watching {
    plane: Plane,
    changes: Changes,
    resource: Arc<Resource>,
    form: Form,
    columns: Columns,
    told: Option<Instant>,
    beat: Instant,
    ends: Instant,
    timer: Pin<Box<Sleep>>,
    last_bookmark: bool,
}

impl Watching {
    // The next lines, and whether more may come; nothing when the watch is over.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        if let Some(upto) = self.gather().await.filter(|_| self.form.is_plain()) {
            if let Some(lines) = self.changes.lines_until(upto, self.plane.told()) {
                self.told = Some(Instant::now());
                return Some((lines, true));
            }
        }
        loop {
            tokio::select! {
                biased;
                batch = self.changes.next() => {
                    if batch.is_empty() {
                        return None;
                    }
                    self.told = Some(Instant::now());
                    return Some((self.lines(&batch), true));
                }
                () = &mut self.timer => {
                    let now = Instant::now();
                    if now >= self.ends {
                        let last = self.last_bookmark.then(|| self.changes.last_bookmark());
                        let bookmark = last.flatten()?;
                        return Some((self.lines(&[bookmark]), false));
                    }
                    self.beat = now + BEAT;
                    self.timer.as_mut().reset(self.ends.min(self.beat));
                    if let Some(bookmark) = self.changes.bookmark() {
                        return Some((self.lines(&[bookmark]), true));
                    }
                }
            }
        }
    }

    // Where many watch, a change that comes soon after another waits for those after it: until the next of the
    // moments at which all are told the same. The first after a pause is told at once.
    async fn gather(&mut self) -> Option<u64> {
        let (crowd, told) = (self.changes.crowd(), self.told?);
        if crowd <= FEW {
            return None;
        }
        let every = LATEST.min(PATIENCE * u32::try_from(crowd).unwrap_or(u32::MAX));
        let epoch = self.plane.epoch();
        let number = |at: Instant| (at - epoch).as_nanos() / every.as_nanos();
        let now = Instant::now();
        if number(told) < number(now) {
            return None;
        }
        let number = number(now) + 1;
        let left = every.as_nanos() * number - (now - epoch).as_nanos();
        tokio::time::sleep(Duration::from_nanos(u64::try_from(left).unwrap_or(0))).await;
        let beat = Beat { every, number };
        Some(self.plane.told().upto(beat, || self.plane.store().revision()))
    }

    fn lines(&mut self, batch: &[Change]) -> Bytes {
        if self.form.is_plain() {
            return match self.changes.crowd() > FEW {
                true => self.plane.told().lines(batch),
                false => told::written(batch),
            };
        }
        let mut out = Vec::new();
        for change in batch {
            self.line(change, &mut out);
        }
        Bytes::from(out)
    }

    fn line(&mut self, change: &Change, out: &mut Vec<u8>) {
        let made = match change.kind {
            "ERROR" => Value::clone(&change.object),
            "BOOKMARK" => table::render_bookmark(Value::clone(&change.object), &self.form),
            _ => {
                let columns = std::mem::replace(&mut self.columns, Columns::Omitted);
                match table::render(&self.resource, &change.object, &self.form, columns) {
                    Ok(value) => value,
                    Err(error) => error.status(),
                }
            }
        };
        if self.form.written == Written::Protobuf {
            // What is told is metadata, of a kind that has a message, or a Status: all can be written.
            return out.extend(protobuf::encode_event(change.kind, &made).unwrap_or_default());
        }
        told::line(change, &serde_json::to_vec(&made).unwrap_or_default(), out);
    }
}
