//! HTTP: paths to targets, queries to options, objects to answers in the form the client accepts.

mod answer; // answers
mod options; // what a request says besides its path
mod simulated; // what a kubelet would answer
mod verbs; // writes and deletions
mod watch; // lists and watches

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Limited};

use crate::admit::webhook;
use crate::audit::{AuditLog, Begun, Notes};
use crate::auth::{self, Action, Tokens, User};
use crate::list::Reading;
use crate::plane::{Plane, Target};
use crate::status::{ApiError, Result};
use crate::table::{self, Answer};
use crate::{audit, discovery, scale};
use answer::{Long, Streaming, failed, in_protobuf, show, warn};
use options::{body, form};
use verbs::{change, create, delete, delete_all, posted, update};
use watch::{list, watch};

pub(crate) use answer::reply;

/// Bodies may be this big.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

type Query = BTreeMap<String, String>;

impl Plane {
    /// The API as a service, for `kube::Client::new` or a listener.
    pub fn service(&self) -> axum::Router {
        self.service_for(None)
    }

    /// The API as a service that asks everybody for a token and looks at what they may do.
    pub fn guarded(&self, tokens: Tokens) -> axum::Router {
        self.service_for(Some(Arc::new(tokens)))
    }

    fn service_for(&self, tokens: Option<Arc<Tokens>>) -> axum::Router {
        let plane = self.clone();
        axum::Router::new().fallback(move |request: Request<Body>| {
            let (plane, tokens) = (plane.clone(), tokens.clone());
            async move { answer(plane, tokens, request).await }
        })
    }
}

struct Asked {
    method: Method,
    path: String,
    query: Query,
    /// What is done by it.
    action: Action,
    headers: HeaderMap,
    body: Bytes,
    tokens: Option<Arc<Tokens>>,
    user: User,
}

impl Asked {
    fn get(&self, key: &str) -> &str {
        self.query.get(key).map(String::as_str).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> bool {
        flag(&self.query, key)
    }

    fn header(&self, name: http::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

fn flag(query: &Query, key: &str) -> bool {
    let value = query.get(key).map(|value| value.to_lowercase());
    value.is_some_and(|value| value != "false" && value != "0")
}

/// Path and query of a request, and what is done by it.
fn read(parts: &http::request::Parts) -> (String, Query, Action) {
    let path = percent_decode(parts.uri.path());
    let pairs = parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let mut query = Query::new();
    for pair in pairs {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| percent_decode(&text.replace('+', " "));
        query.entry(decoded(key)).or_insert_with(|| decoded(value));
    }
    let selected = query.get("fieldSelector").and_then(|it| it.strip_prefix("metadata.name="));
    let reading = if flag(&query, "watch") { Reading::Watch } else { Reading::List };
    let method = parts.method.as_str();
    let action = Action::of_request(method, &path, reading, selected.unwrap_or_default());
    (path, query, action)
}

/// Answers a request.
pub(crate) async fn answer<B>(
    plane: Plane,
    tokens: Option<Arc<Tokens>>,
    request: Request<B>,
) -> Response
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let (path, query, action) = read(&parts);
    audit::asks(&action);
    let user = match auth::sender(&plane, tokens.as_deref(), &parts.headers) {
        Ok(user) => user,
        Err(error) => return failed(&error),
    };
    let gzip = parts
        .headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("gzip"));
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let protobuf = accept.is_some_and(table::prefers_protobuf);
    let body = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            let text = format!("Request entity too large: limit is {BODY_LIMIT}");
            return failed(&ApiError::new(413, "RequestEntityTooLarge", text));
        }
    };
    let asked = Asked {
        method: parts.method,
        path,
        query,
        action,
        headers: parts.headers,
        body,
        tokens,
        user,
    };
    let writes = ![Method::GET, Method::HEAD].contains(&asked.method);
    let response = if writes && webhook::any_at_all(&plane) {
        apart(plane, asked).await
    } else {
        respond(&plane, &asked).await
    };
    let mut response = response.unwrap_or_else(|error| failed(&error));
    if protobuf {
        response = in_protobuf(response).await;
    }
    if gzip { compress(response).await } else { response }
}

/// The same, written down.
pub(crate) async fn audited<B>(
    plane: Plane,
    tokens: Option<Arc<Tokens>>,
    request: Request<B>,
    log: &AuditLog,
    peer: SocketAddr,
) -> Response
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let (begun, notes) = (Begun::now(&parts), Notes::default());
    let work = answer(plane, tokens, Request::from_parts(parts, body));
    let response = notes.clone().with(work).await;
    let streams = response.extensions().get::<Streaming>().is_some();
    log.write(&begun, peer, &notes, (response.status().as_u16(), streams));
    response
}

// On a thread where waiting for webhooks keeps nobody from answering, the webhook least of all.
async fn apart(plane: Plane, asked: Asked) -> Result<Response> {
    let here = tokio::runtime::Handle::current();
    let notes = Notes::at_hand();
    let work = move || here.block_on(notes.with(respond(&plane, &asked)));
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ApiError::internal(&error.to_string())))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let hex = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let hex = String::from_utf8_lossy(&hex).into_owned();
                bytes.push(u8::from_str_radix(&hex, 16).unwrap_or(b'%'));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn compress(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let streaming = parts.extensions.get::<Streaming>().is_some();
    let big = parts.extensions.get::<Long>().is_some()
        || http_body::Body::size_hint(&body).lower() >= 128 * 1024;
    if streaming || !big {
        return Response::from_parts(parts, body);
    }
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return Response::from_parts(parts, Body::empty());
    };
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    match encoder.write_all(&bytes).and_then(|()| encoder.finish()) {
        Ok(packed) => {
            parts.headers.insert(CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
            parts.headers.remove(http::header::CONTENT_LENGTH);
            Response::from_parts(parts, Body::from(packed))
        }
        Err(_) => Response::from_parts(parts, Body::from(bytes)),
    }
}

async fn respond(plane: &Plane, asked: &Asked) -> Result<Response> {
    auth::admit(plane, &asked.user, &asked.action)?;
    if asked.path == "/local/snapshot" && asked.method == Method::GET {
        let text = plane.store().snapshot().text();
        return Ok(reply(200, "application/x-ndjson", text.into_bytes()));
    }
    if let Some(response) = discovery::respond(
        plane,
        &asked.method,
        &asked.path,
        asked.get("hash"),
        asked.header(ACCEPT),
    ) {
        return response;
    }
    let parts: Vec<&str> = asked.path.trim_matches('/').split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return Ok(reply(404, "text/plain; charset=utf-8", b"404 page not found\n".to_vec())),
    };
    let registry = plane.registry();
    if !registry.serves(group, version) {
        if group.is_empty() || registry.iter().any(|one| one.group == group && one.custom.is_none())
        {
            return Err(ApiError::no_route());
        }
        return Ok(reply(404, "text/plain; charset=utf-8", b"404 page not found\n".to_vec()));
    }
    let (legacy, rest) = match rest {
        ["watch", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..]
            if rest.first().is_some_and(|plural| !["status", "finalize"].contains(plural)) =>
        {
            (*namespace, rest)
        }
        rest => ("", rest),
    };
    let [plural, rest @ ..] = rest else { return Err(ApiError::no_route()) };
    let resource = registry.get(group, version, plural).ok_or_else(ApiError::no_route)?;
    if let Some(why) = resource.custom.as_ref().and_then(|custom| custom.unconverted.clone()) {
        return Err(ApiError::plain(why));
    }
    let (name, subresource) = match rest {
        [] => ("", ""),
        [name] => (*name, ""),
        [name, subresource] => (*name, *subresource),
        _ => return Err(ApiError::no_route()),
    };
    if resource.namespaced == namespace.is_empty() && !(resource.namespaced && name.is_empty()) {
        return Err(ApiError::no_route());
    }
    if !subresource.is_empty() && !resource.has(subresource) {
        // A definition may bring status and scale later.
        if resource.custom.is_some() && ["status", "scale"].contains(&subresource) {
            return Err(ApiError::not_found(group, plural, name));
        }
        return Err(ApiError::no_route());
    }
    let target = Target {
        resource,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: subresource.to_owned(),
    };
    let mut response = match legacy {
        true => watch(plane, asked, &target)?,
        false => serve(plane, asked, &target).await.unwrap_or_else(|error| failed(&error)),
    };
    if let Some(warning) = standing_warnings(&target) {
        warn(&mut response, &[warning.to_owned()]);
    }
    Ok(response)
}

// Said of every answer about a kind.
fn standing_warnings(target: &Target) -> Option<&'static str> {
    if target.resource.custom.is_some() || !target.resource.group.is_empty() {
        return None;
    }
    match target.resource.plural.as_str() {
        "endpoints" => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        "componentstatuses" => Some("v1 ComponentStatus is deprecated in v1.19+"),
        _ => None,
    }
}

async fn serve(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let Target { namespace, name, subresource, .. } = target;
    let subresource = subresource.as_str();
    let can = |verb: &str| target.resource.verbs.iter().any(|one| one == verb);
    if let Some(answer) = simulated::answer(plane, asked, target) {
        return answer;
    }
    match (asked.method.as_str(), name.is_empty(), subresource.is_empty()) {
        ("GET", true, _) if can("list") => {
            if asked.flag("watch") {
                watch(plane, asked, target)
            } else {
                list(plane, asked, target).await
            }
        }
        ("POST", true, _)
            if can("create") && (!target.resource.namespaced || !namespace.is_empty()) =>
        {
            create(plane, asked, target)
        }
        ("DELETE", true, _)
            if can("deletecollection")
                && (!target.resource.namespaced || !namespace.is_empty()) =>
        {
            delete_all(plane, asked, target).await
        }
        ("GET", false, _) if can("get") => {
            let form = form(asked, target, Answer::Object)?;
            if let Some(version) =
                asked.query.get("resourceVersion").filter(|version| !version.is_empty())
            {
                let wanted: u64 = version.parse().map_err(|_| ApiError::plain(format!("resourceVersion: Invalid value: \"{version}\": strconv.ParseUint: parsing \"{version}\": invalid syntax")))?;
                plane.reached(wanted).await?;
            }
            let object = plane.get(target)?;
            match subresource {
                "scale" => {
                    let scale = Arc::new(scale::scale_of(target, &object)?.into());
                    show(target, 200, &scale, &form, &[])
                }
                "" | "status" | "ephemeralcontainers" | "resize" | "approval" => {
                    show(target, 200, &object, &form, &[])
                }
                _ => Err(ApiError::no_method()),
            }
        }
        ("PUT" | "PATCH", false, false)
            if ["binding", "eviction", "token"].contains(&subresource) =>
        {
            Err(ApiError::no_method())
        }
        ("POST", true, _)
            if target.resource.custom.is_some()
                && target.resource.namespaced
                && namespace.is_empty() =>
        {
            Ok(reply(404, "text/plain; charset=utf-8", b"404 page not found\n".to_vec()))
        }
        ("PUT", false, _) if can("update") => update(plane, asked, target),
        ("PATCH", false, _) if can("patch") => change(plane, asked, target),
        ("DELETE", false, true) if can("delete") => delete(plane, asked, target),
        ("POST", false, false) => {
            let (body, mut options) = body(asked, target, "create")?;
            posted(plane, target, body, &mut options)
        }
        _ => Err(ApiError::no_method()),
    }
}
