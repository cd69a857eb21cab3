//! Lists and watches: which state they show, in which pages, with which events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD};
use local_store::{Event, Watch};
use serde_json::{Value, json};

use crate::kinds;
use crate::plane::{Plane, Shown, Target, versioned};
use crate::resource::Resource;
use crate::selector::Selector;
use crate::status::{ApiError, FieldError, Result};
use crate::told::{self, Span, Told};

/// Options of a list or watch, as in the query.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// Label selector.
    pub labels: String,
    /// Field selector.
    pub fields: String,
    /// Page size; 0 for all.
    pub limit: i64,
    /// The continue token.
    pub next: String,
    /// resourceVersion as given.
    pub version: Option<String>,
    /// resourceVersionMatch.
    pub matching: String,
    /// allowWatchBookmarks.
    pub bookmarks: bool,
    /// sendInitialEvents.
    pub initial: Option<bool>,
    /// timeoutSeconds.
    pub timeout: Option<u64>,
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The objects.
    pub items: Vec<Shown>,
    /// The version of the list.
    pub version: u64,
    /// The token of the next page, empty at the end.
    pub next: String,
    /// How many come after this page, when that is known.
    pub remaining: Option<usize>,
    /// Whether this is a page after the first.
    pub continued: bool,
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        format!("resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax")
    })
}

/// What options are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A list.
    List,
    /// A watch.
    Watch,
}

impl ListOptions {
    fn version(&self) -> Option<&str> {
        self.version.as_deref().filter(|version| !version.is_empty())
    }

    /// Refuses combinations that make no sense.
    pub fn check(&self, reading: Reading) -> Result<()> {
        let mut errors = Vec::new();
        let matching = !self.matching.is_empty();
        if reading == Reading::Watch {
            match self.initial {
                None if matching => errors.push(FieldError::forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")),
                Some(_) if self.matching != "NotOlderThan" => {
                    errors.push(FieldError::forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
                    if matching {
                    errors.push(FieldError::unsupported("resourceVersionMatch", &json!(self.matching), &["\"NotOlderThan\"".to_owned()]));
                    }
                }
                _ => {}
            }
        } else {
            if self.initial.is_some() {
                errors.push(FieldError::forbidden(
                    "sendInitialEvents",
                    "sendInitialEvents is forbidden for list",
                ));
            }
            if matching {
                if !["Exact", "NotOlderThan"].contains(&self.matching.as_str()) {
                    errors.push(FieldError::unsupported(
                        "resourceVersionMatch",
                        &json!(self.matching),
                        &["\"Exact\"".to_owned(), "\"NotOlderThan\"".to_owned(), "\"\"".to_owned()],
                    ));
                }
                if self.version().is_none() {
                    errors.push(FieldError::forbidden(
                        "resourceVersionMatch",
                        "resourceVersionMatch is forbidden unless resourceVersion is provided",
                    ));
                }
                if !self.next.is_empty() {
                    errors.push(FieldError::forbidden(
                        "resourceVersionMatch",
                        "resourceVersionMatch is forbidden when continue is provided",
                    ));
                }
                if self.matching == "Exact" && self.version() == Some("0") {
                    errors.push(FieldError::forbidden(
                        "resourceVersionMatch",
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                    ));
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(ApiError::options("ListOptions", &errors)) }
    }
}

/// Go reads base64 without looking at the bits that are left over.
const CONTINUE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

fn token(revision: i64, start: &str) -> String {
    URL_SAFE_NO_PAD.encode(
        json!({"v": "meta.k8s.io/v1", "rv": revision, "start": format!("{start}\u{0}")})
            .to_string(),
    )
}

fn read_token(text: &str) -> Result<(i64, String)> {
    let bad = |why: String| ApiError::bad_request(format!("continue key is not valid: {why}"));
    let bytes = CONTINUE.decode(text.trim_end_matches('=')).map_err(|error| {
        let at = match error {
            base64::DecodeError::InvalidByte(at, _)
            | base64::DecodeError::InvalidLastSymbol(at, _) => at,
            _ => text.len(),
        };
        bad(format!("illegal base64 data at input byte {at}"))
    })?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| bad(crate::go::json_error(&bytes).unwrap_or_else(|| error.to_string())))?;
    if value["v"] != json!("meta.k8s.io/v1") {
        return Err(bad(format!("server does not recognize this encoded version {}", value["v"])));
    }
    let start = value["start"].as_str().unwrap_or_default().trim_end_matches('\u{0}').to_owned();
    Ok((value["rv"].as_i64().unwrap_or(0), start))
}

impl Plane {
    /// One page of the objects of a target.
    pub async fn list(&self, target: &Target, options: &ListOptions) -> Result<Page> {
        options.check(Reading::List)?;
        let resource = &target.resource;
        let selector = Selector::parse(&options.labels, &options.fields, resource)?;
        let mut limit = usize::try_from(options.limit).unwrap_or(0);
        let mut after = None;
        let mut at = None;
        if !options.next.is_empty() {
            if options.version().is_some_and(|version| version != "0") {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let (revision, start) = read_token(&options.next).map_err(|mut error| {
                error.message = format!("invalid continue token: {}", error.message);
                error
            })?;
            at = u64::try_from(revision).ok();
            after = Some(start);
        } else if let Some(version) = options.version() {
            let wanted = number(version).map_err(|text| {
                ApiError::bad_request(format!("invalid resource version: {text}"))
            })?;
            self.reached(wanted).await?;
            if wanted == 0 {
                limit = 0;
            } else if options.matching == "Exact" || (limit > 0 && options.matching.is_empty()) {
                at = Some(wanted);
            }
        }
        let range = resource.range(&target.namespace);
        if limit == 0 && after.is_none() && at.is_none() {
            let (version, all) = self.store().values(&range);
            let items = match selector.is_empty() && resource.shows_stored() {
                true => all,
                false => all.iter().filter_map(|one| selected(resource, &selector, one)).collect(),
            };
            let continued = false;
            return Ok(Page { items, version, next: String::new(), remaining: None, continued });
        }
        let (version, entries) = match at {
            None => self.store().list(&range),
            Some(revision) => {
                let entries = self.store().list_at(&range, revision).map_err(|_| match &after {
                    None => ApiError::expired("The resourceVersion for the provided list is too old."),
                    Some(start) => {
                        let mut error = ApiError::expired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.");
                        error.next = Some(token(-1, start));
                        error
                    }
                })?;
                (revision, entries)
            }
        };
        let mut page = Page {
            items: Vec::new(),
            version,
            next: String::new(),
            remaining: None,
            continued: after.is_some(),
        };
        let mut left = entries.into_iter().filter(|entry| {
            let key = entry.key.strip_prefix(&range).unwrap_or(&entry.key);
            after.as_ref().is_none_or(|start| key > start.as_str())
        });
        let mut last = String::new();
        while let Some(entry) = left.next() {
            let Some(shown) = selected(resource, &selector, &entry.value) else { continue };
            if limit > 0 && page.items.len() == limit {
                page.next = token(i64::try_from(version).unwrap_or(-1), &last);
                if selector.is_empty() {
                    page.remaining = Some(left.count() + 1);
                }
                return Ok(page);
            }
            last = entry.key.strip_prefix(&range).unwrap_or(&entry.key).to_owned();
            page.items.push(shown);
        }
        Ok(page)
    }

    /// Waits a little for a version that is not there yet.
    pub async fn reached(&self, wanted: u64) -> Result<()> {
        for _ in 0..30 {
            if self.store().revision() >= wanted {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(ApiError::too_large(wanted, self.store().revision()))
    }

    /// Opens a watch.
    pub fn watch(&self, target: &Target, options: &ListOptions) -> Result<Changes> {
        options.check(Reading::Watch)?;
        let resource = target.resource.clone();
        let selector = Selector::parse(&options.labels, &options.fields, &resource)?;
        let version = match options.version() {
            None => 0,
            Some(text) => number(text).map_err(ApiError::plain)?,
        };
        let range = resource.range(&target.namespace);
        let replay = options.initial.unwrap_or(version == 0);
        let mut first = Vec::new();
        let mut marked = None;
        let mut after = version;
        if replay || version == 0 {
            let (now, entries) = self.store().list(&range);
            after = now.max(version);
            if replay {
                for entry in entries {
                    if let Some(object) = selected(&resource, &selector, &entry.value) {
                        first.push(Change { kind: "ADDED", object });
                    }
                }
                if options.bookmarks {
                    marked = Some(now);
                    let object = Arc::new(initial_end(&resource, now).into());
                    first.push(Change { kind: "BOOKMARK", object });
                }
            }
        }
        let too_old = after < self.store().oldest();
        if too_old {
            let text = format!("too old resource version: {after} ({})", self.store().oldest());
            let object = Arc::new(ApiError::expired(text).status().into());
            first = vec![Change { kind: "ERROR", object }];
        }
        let source = self.store().watch(&range, after);
        Ok(Changes {
            resource,
            selector,
            first,
            source,
            bookmarks: options.bookmarks,
            marked,
            ended: too_old,
        })
    }
}

fn bookmark(resource: &Resource, revision: u64) -> Value {
    let metadata = json!({"resourceVersion": revision.to_string()});
    json!({"kind": resource.kind, "apiVersion": resource.api_version(), "metadata": metadata})
}

/// The bookmark after what was there when the watch began.
fn initial_end(resource: &Resource, revision: u64) -> Value {
    let mut mark = bookmark(resource, revision);
    mark["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    mark
}

/// One event of a watch.
#[derive(Clone, Debug)]
pub struct Change {
    /// ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
    pub kind: &'static str,
    /// The object, or a Status.
    pub object: Shown,
}

/// An open watch.
#[derive(Debug)]
pub struct Changes {
    resource: Arc<Resource>,
    selector: Selector,
    first: Vec<Change>,
    source: Watch,
    bookmarks: bool,
    /// What the last bookmark told.
    marked: Option<u64>,
    ended: bool,
}

impl Changes {
    /// The next changes; empty when the watch is over. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Vec<Change> {
        if !self.first.is_empty() {
            return std::mem::take(&mut self.first);
        }
        while !self.ended {
            match self.source.next().await {
                Ok(events) => {
                    let changes: Vec<Change> =
                        events.iter().filter_map(|event| self.change(event)).collect();
                    if !changes.is_empty() {
                        return changes;
                    }
                }
                Err(error) => {
                    self.ended = true;
                    return vec![Change {
                        kind: "ERROR",
                        object: Arc::new(ApiError::from(error).status().into()),
                    }];
                }
            }
        }
        Vec::new()
    }

    /// The lines of the changes up to a revision, for which others may have asked before; none if there are none, or
    /// if they are for this watch alone.
    pub(crate) fn lines_until(&mut self, upto: u64, told: &Told) -> Option<Bytes> {
        if self.ended || !self.first.is_empty() || !self.selector.is_empty() {
            return None;
        }
        let from = self.source.waiting().filter(|from| *from < upto)?;
        let prefix = self.source.prefix().to_owned();
        let span = Span { resource: self.resource.clone(), prefix, from, upto };
        if let Some(lines) = told.known(&span) {
            self.source.pass(upto).ok()?;
            return Some(lines);
        }
        let events = self.source.ready_until(upto).ok()?;
        let changes: Vec<Change> = events.iter().filter_map(|event| self.change(event)).collect();
        if changes.is_empty() {
            return None;
        }
        let lines = told::written(&changes);
        told.keep(span, lines.clone());
        Some(lines)
    }

    /// How many watches the last change was for.
    #[must_use]
    pub fn crowd(&self) -> usize {
        self.source.crowd()
    }

    /// A bookmark of how far the watch has come, if bookmarks were asked for.
    pub fn bookmark(&mut self) -> Option<Change> {
        let position = self.source.position();
        self.marked = Some(position);
        self.bookmarks.then(|| Change {
            kind: "BOOKMARK",
            object: Arc::new(bookmark(&self.resource, position).into()),
        })
    }

    /// The bookmark of a watch that ends, if it tells more than the one before.
    pub fn last_bookmark(&mut self) -> Option<Change> {
        if self.marked == Some(self.source.position()) {
            return None;
        }
        self.bookmark()
    }

    fn change(&self, event: &Event) -> Option<Change> {
        let selected = |value: &Shown| selected(&self.resource, &self.selector, value);
        let new = event.value.as_ref().and_then(selected);
        // What was is seldom looked at.
        let old = event.previous.as_ref().map(|(_, value)| value);
        let before = old.filter(|old| self.selector.is_empty() || selected(old).is_some());
        match (before, new) {
            (None, Some(object)) => Some(Change { kind: "ADDED", object }),
            (Some(_), Some(object)) => Some(Change { kind: "MODIFIED", object }),
            (Some(old), None) => {
                let last = kinds::shown(&self.resource, old).glance().into_owned();
                let object = Arc::new(versioned(last, event.revision).into());
                Some(Change { kind: "DELETED", object })
            }
            (None, None) => None,
        }
    }
}

/// An object as it is shown, if it is selected. It is looked into for this alone: what is stored keeps no value for it.
fn selected(resource: &Resource, selector: &Selector, stored: &Shown) -> Option<Shown> {
    if selector.is_empty() {
        return Some(kinds::shown(resource, stored));
    }
    if !selector.may_match(stored.text()) {
        return None;
    }
    let shown = kinds::shown(resource, stored);
    selector.matches(&shown.glance()).then_some(shown)
}
