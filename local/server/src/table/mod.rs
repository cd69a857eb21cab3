//! The forms of an answer: the object, its metadata alone, or a Table as kubectl prints it.

mod access; // role bindings
mod cells; // what built-in kinds show
mod cluster; // nodes, priorities, events
mod columns; // which columns a kind has
mod config; // ConfigMaps, Secrets, webhooks
mod custom; // what custom resources show
mod format; // ages, lists, labels
mod limits; // quotas
mod network; // services, ingresses, endpoints
mod pod; // the status of a Pod in one word
mod scaling; // autoscalers, budgets
mod storage; // claims, volumes, classes
mod workload; // what has pods

use std::pin::Pin;
use std::task::Poll;

use axum::body::Bytes;
use http_body::Frame;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use cells::cells;
use columns::columns;

use crate::list::Page;
use crate::plane::Shown;
use crate::protobuf;
use crate::resource::Resource;
use crate::status::{ApiError, Result};

/// The form a client asked for.
#[derive(Clone, Debug, Default)]
pub struct Form {
    shape: Shape,
    include: Include,
    /// How it is written.
    pub written: Written,
    /// meta.k8s.io/v1beta1 instead of v1.
    older: bool,
    /// A form that the answer cannot have: a list's for one object, or the other way round.
    refused: Option<String>,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Written {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Protobuf; objects whose kinds have no message are JSON then.
    Protobuf,
}

/// Whether whole objects of a kind can be protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// The kind has a message.
    Known,
    /// It has none, or nobody asks.
    Unknown,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One object.
    Object,
    /// A list.
    List,
}

/// Whether a Table names its columns: not on later pages and later events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// They are named.
    Shown,
    /// They were named before.
    Omitted,
}

impl Form {
    /// Whether objects are shown as they are, in JSON.
    pub fn is_plain(&self) -> bool {
        self.shape == Shape::Whole && self.written == Written::Json && self.refused.is_none()
    }

    fn meta_version(&self) -> &'static str {
        if self.older { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }

    // Only when there is an answer is it known whether the form fits.
    fn check(&self, resource: &Resource, answer: Answer) -> Result<()> {
        let Some(asked) = &self.refused else { return Ok(()) };
        let (what, kind) = match answer {
            Answer::List => ("a list", &resource.list_kind),
            Answer::Object => ("not a list", &resource.kind),
        };
        let package = match (&resource.custom, resource.group.as_str()) {
            (Some(_), _) => "unstructured",
            (None, "") => "core",
            (None, group) => group.split('.').next().unwrap_or_default(),
        };
        let text = format!(
            "you requested {asked}, but the requested object is {what} (*{package}.{kind})"
        );
        Err(ApiError::new(406, "NotAcceptable", text))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    #[default]
    Whole,
    Table,
    Metadata,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Include {
    None,
    #[default]
    Metadata,
    Object,
}

impl Form {
    /// The best form of an Accept header that is known.
    pub fn accepted(
        accept: &str,
        answer: Answer,
        include: &str,
        messages: Messages,
    ) -> Result<Form> {
        let include = match include {
            "None" => Include::None,
            "Object" => Include::Object,
            "" | "Metadata" => Include::Metadata,
            other if accept.contains("as=Table") => {
                let why = format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: \"{other}\": must be 'Metadata', 'Object', 'None', or empty"
                );
                return Err(ApiError::bad_request(why));
            }
            _ => Include::Metadata,
        };
        if accept.trim().is_empty() {
            return Ok(Form { include, ..Form::default() });
        }
        let mut media = false;
        let mut refused = None;
        for one in Wish::all(accept) {
            let Some(written) = one.written else { continue };
            media = true;
            let known = one.group == "meta.k8s.io" && ["v1", "v1beta1"].contains(&one.version);
            let shape = match one.shape {
                "" => Shape::Whole,
                "Table" if known => Shape::Table,
                "PartialObjectMetadata" | "PartialObjectMetadataList" if known => {
                    if (answer == Answer::List) != (one.shape == "PartialObjectMetadataList") {
                        refused = Some(one.shape.to_owned());
                    }
                    Shape::Metadata
                }
                _ => continue,
            };
            let can = match shape {
                Shape::Whole => messages == Messages::Known,
                Shape::Table => false,
                Shape::Metadata => true,
            };
            if written == Written::Protobuf && !can {
                continue;
            }
            let older = one.version == "v1beta1";
            return Ok(Form { shape, include, written, older, refused });
        }
        if media {
            return Err(ApiError::not_acceptable());
        }
        Err(ApiError::new(
            406,
            "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ))
    }
}

/// Whether the client would best like what is no object of a kind, an error for one, in protobuf.
pub fn prefers_protobuf(accept: &str) -> bool {
    // Most ask for JSON and nothing else.
    accept.contains(protobuf::MEDIA_TYPE) && {
        let mut all = Wish::all(accept).into_iter();
        let first = all.find(|one| one.written.is_some() && one.shape != "Table");
        first.is_some_and(|one| one.written == Some(Written::Protobuf))
    }
}

/// One part of an Accept header.
struct Wish<'a> {
    /// How it is to be written, if that is known here.
    written: Option<Written>,
    shape: &'a str,
    group: &'a str,
    version: &'a str,
    /// How much it is wished for, and how exactly it is said: what is sorted by.
    quality: f32,
    exact: u8,
}

impl<'a> Wish<'a> {
    /// The parts of a header, the best first, as Go's goautoneg sorts them.
    fn all(accept: &'a str) -> Vec<Wish<'a>> {
        let mut all: Vec<Wish<'a>> = accept.split(',').map(Wish::read).collect();
        all.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(b.exact.cmp(&a.exact)));
        all
    }

    fn read(text: &'a str) -> Wish<'a> {
        let mut pieces = text.split(';').map(str::trim);
        let kind = pieces.next().unwrap_or_default();
        let (written, exact) = match kind {
            "*/*" => (Some(Written::Json), 0),
            "application/json" => (Some(Written::Json), 1),
            "application/yaml" => (Some(Written::Yaml), 1),
            protobuf::MEDIA_TYPE => (Some(Written::Protobuf), 1),
            _ => (None, 1),
        };
        let mut wish = Wish { written, shape: "", group: "", version: "", quality: 1.0, exact };
        for piece in pieces {
            match piece.split_once('=') {
                Some(("as", value)) => wish.shape = value,
                Some(("g", value)) => wish.group = value,
                Some(("v", value)) => wish.version = value,
                Some(("q", value)) => wish.quality = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        wish
    }
}

fn partial(object: &Value, version: &str) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": object["metadata"]})
}

/// One object in the form.
pub fn render(resource: &Resource, object: &Shown, form: &Form, columns: Columns) -> Result<Value> {
    form.check(resource, Answer::Object)?;
    let value = match form.shape {
        Shape::Whole => Value::clone(object),
        Shape::Metadata => partial(object, form.meta_version()),
        Shape::Table => {
            let version = object["metadata"]["resourceVersion"].clone();
            let metadata =
                if version.is_null() { json!({}) } else { json!({"resourceVersion": version}) };
            table(resource, std::slice::from_ref(object), metadata, form, columns)
        }
    };
    Ok(value)
}

/// A bookmark in the form.
pub fn render_bookmark(object: Value, form: &Form) -> Value {
    match form.shape {
        Shape::Whole => object,
        Shape::Metadata => partial(&object, form.meta_version()),
        Shape::Table => {
            json!({"kind": "Table", "apiVersion": form.meta_version(), "metadata": object["metadata"], "columnDefinitions": null, "rows": []})
        }
    }
}

fn list_metadata(resource: &Resource, page: &Page, form: &Form) -> Value {
    let mut metadata = json!({"resourceVersion": page.version.to_string()});
    if !page.next.is_empty() {
        metadata["continue"] = json!(page.next);
    } else if resource.custom.is_some() && form.shape == Shape::Whole {
        metadata["continue"] = json!("");
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = json!(remaining);
    }
    metadata
}

/// An item of a list as JSON; those of built-in kinds do not say their kind.
fn item_text(object: &Shown, opening: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(opening) = opening else { return out.extend_from_slice(object.text()) };
    match object.text().strip_prefix(opening) {
        // As objects are stored: what is left out comes first.
        Some(rest) => {
            out.push(b'{');
            out.extend_from_slice(rest);
        }
        None => {
            let item = Item { object, names_kind: false };
            out.extend_from_slice(&serde_json::to_vec(&item).unwrap_or_default());
        }
    }
}

/// An item of a list; those of built-in kinds do not say their kind.
struct Item<'i> {
    object: &'i Value,
    names_kind: bool,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.object.as_object().filter(|_| !self.names_kind) else {
            return self.object.serialize(serializer);
        };
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in fields {
            if key != "kind" && key != "apiVersion" {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// How much of a list is written at once: what is written soon goes on from the processor's cache.
const PIECE: usize = 64 * 1024;

/// The text of a page of a list, piece by piece, put together of what its objects are as JSON.
pub struct ListText {
    head: Vec<u8>,
    opening: Option<Vec<u8>>,
    items: std::vec::IntoIter<Shown>,
    /// About how much is left.
    left: usize,
    begun: bool,
    ended: bool,
}

impl ListText {
    /// The text of a page.
    pub fn new(resource: &Resource, page: Page, form: &Form) -> ListText {
        let api = resource.api_version();
        let metadata = list_metadata(resource, &page, form);
        let head = json!({"kind": resource.list_kind, "apiVersion": api, "metadata": metadata, "items": []});
        let mut head = serde_json::to_vec(&head).unwrap_or_default();
        // Items come between the last two brackets.
        head.truncate(head.len().saturating_sub(2));
        let opening = json!({"apiVersion": api, "kind": resource.kind}).to_string();
        let opening = opening.replace('}', ",").into_bytes();
        let opening = resource.custom.is_none().then_some(opening);
        let left = head.len() + page.items.iter().map(|one| one.text().len() + 1).sum::<usize>();
        let items = page.items.into_iter();
        ListText { head, opening, items, left, begun: false, ended: false }
    }

    /// How long the text will be, about.
    #[must_use]
    pub fn size(&self) -> usize {
        self.left
    }

    /// The next piece of about this length, if there is one.
    pub fn piece(&mut self, length: usize) -> Option<Vec<u8>> {
        if self.ended {
            return None;
        }
        let mut text = std::mem::take(&mut self.head);
        text.reserve(self.left.min(length.saturating_add(length / 8)) + 3);
        while text.len() < length {
            let Some(object) = self.items.next() else {
                text.extend_from_slice(b"]}\n");
                self.ended = true;
                break;
            };
            if self.begun {
                text.push(b',');
            }
            self.begun = true;
            item_text(&object, self.opening.as_deref(), &mut text);
        }
        self.left = self.left.saturating_sub(text.len());
        Some(text)
    }
}

impl http_body::Body for ListText {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.piece(PIECE).map(|text| Ok(Frame::data(Bytes::from(text)))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

/// A page of a list in the form.
pub fn render_list(resource: &Resource, page: &Page, form: &Form) -> Result<Value> {
    form.check(resource, Answer::List)?;
    let metadata = list_metadata(resource, page, form);
    let value = match form.shape {
        Shape::Table => {
            let columns = if page.continued { Columns::Omitted } else { Columns::Shown };
            table(resource, &page.items, metadata, form, columns)
        }
        Shape::Metadata => {
            let items: Vec<Value> =
                page.items.iter().map(|one| partial(one, form.meta_version())).collect();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": form.meta_version(), "metadata": metadata, "items": items})
        }
        Shape::Whole => {
            let names_kind = resource.custom.is_some();
            let items: Vec<Item<'_>> =
                page.items.iter().map(|object| Item { object, names_kind }).collect();
            json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": metadata, "items": items})
        }
    };
    Ok(value)
}

fn table(
    resource: &Resource,
    objects: &[Shown],
    metadata: Value,
    form: &Form,
    columns: Columns,
) -> Value {
    let names = self::columns(resource);
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = json!({"cells": cells(resource, object)});
            if resource.is("", "pods") {
                match object["status"]["phase"].as_str() {
                    Some("Succeeded") => row["conditions"] = json!([{"type": "Completed", "status": "True", "reason": "Succeeded", "message": "The pod has completed successfully."}]),
                    Some("Failed") => row["conditions"] = json!([{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}]),
                    _ => {}
                }
            }
            row["object"] = match form.include {
                Include::None => Value::Null,
                Include::Metadata => partial(object, form.meta_version()),
                Include::Object => Value::clone(object),
            };
            row
        })
        .collect();
    let mut value =
        json!({"kind": "Table", "apiVersion": form.meta_version(), "metadata": metadata});
    value["columnDefinitions"] = if columns == Columns::Shown {
        names
            .iter()
            .map(|column| {
                json!({
                    "name": column.name, "type": column.kind, "format": column.format,
                    "description": column.description, "priority": column.priority,
                })
            })
            .collect()
    } else {
        Value::Null
    };
    if columns == Columns::Omitted {
        if let Some(fields) = value.as_object_mut() {
            fields.insert("columnDefinitions".to_owned(), Value::Null);
        }
    }
    value["rows"] = json!(rows);
    value
}
