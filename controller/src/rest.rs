//! Requests to one Kubernetes API as JSON values: paths, verbs, classified refusals.

use std::fmt::Write as _;
use std::time::Instant;

use crate::connection::Client;
use bytes::Bytes;
use http::request::Builder;
use http::{Method, Request};
use kube::client::Body as KubeBody;
use kube::core::Status;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::kinds::Resource;

/// Why a request had no answer that helps.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
    /// It could not be reached, or did not answer in time.
    #[error("the Kubernetes API cannot be reached: {0}")]
    Unreachable(String),
    /// The answer was not what was asked for.
    #[error("unexpected answer from the Kubernetes API: {0}")]
    Answer(String),
    /// The cluster does not have the kind.
    #[error("no kind {kind} in {api_version} on this cluster")]
    UnknownKind {
        /// As asked.
        api_version: String,
        /// As asked.
        kind: String,
    },
}

impl Error {
    /// HTTP status code of a refusal, 0 otherwise.
    pub fn code(&self) -> u16 {
        match self {
            Error::Refused(status) => status.code,
            Error::Unreachable(_) | Error::Answer(_) | Error::UnknownKind { .. } => 0,
        }
    }

    /// Reason of a refusal, empty otherwise.
    pub fn reason(&self) -> &str {
        match self {
            Error::Refused(status) => &status.reason,
            Error::Unreachable(_) | Error::Answer(_) | Error::UnknownKind { .. } => "",
        }
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Error::Refused(status),
            kube::Error::SerdeError(error) => Error::Answer(error.to_string()),
            other => Error::Unreachable(chain(&other)),
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(inner) = next {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            let _ = write!(text, ": {inner_text}");
        }
        next = inner.source();
    }
    text
}

/// Media type of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// An object.
    Json,
    /// RFC 7386.
    MergePatch,
    /// RFC 6902.
    JsonPatch,
    /// Kubernetes' own.
    StrategicPatch,
    /// Server-side apply.
    Apply,
}

impl Body {
    fn media_type(self) -> &'static str {
        match self {
            Body::Json => "application/json",
            Body::MergePatch => "application/merge-patch+json",
            Body::JsonPatch => "application/json-patch+json",
            Body::StrategicPatch => "application/strategic-merge-patch+json",
            Body::Apply => "application/apply-patch+yaml",
        }
    }
}

/// Path of a collection, or of one object if `name` is given.
pub fn path(resource: &Resource, namespace: &str, name: Option<&str>) -> String {
    let mut path = match resource.api_version.split_once('/') {
        Some((group, version)) => format!("/apis/{group}/{version}"),
        None => format!("/api/{}", resource.api_version),
    };
    if resource.namespaced && !namespace.is_empty() {
        let _ = write!(path, "/namespaces/{}", escape(namespace));
    }
    let _ = write!(path, "/{}", resource.plural);
    if let Some(name) = name {
        let _ = write!(path, "/{}", escape(name));
    }
    path
}

/// Appends a query parameter, escaped.
pub fn with_query(mut path: String, name: &str, value: &str) -> String {
    path.push(if path.contains('?') { '&' } else { '?' });
    let _ = write!(path, "{name}={}", escape(value));
    path
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Who a request acts as, if not as the client itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActAs {
    /// Empty for the client itself.
    pub user: String,
    /// Groups of that user.
    pub groups: Vec<String>,
}

impl ActAs {
    /// A request that is made for this user.
    fn mark(&self, mut request: Builder) -> Builder {
        if !self.user.is_empty() {
            request = request.header("Impersonate-User", &self.user);
            for group in &self.groups {
                request = request.header("Impersonate-Group", group);
            }
        }
        request
    }
}

fn request(
    method: Method,
    uri: &str,
    body: Option<(Body, &Value)>,
    identity: &ActAs,
) -> Result<Request<Vec<u8>>, Error> {
    let mut request = identity.mark(Request::builder().method(method).uri(uri));
    let bytes = match body {
        Some((kind, value)) => {
            request = request.header("Content-Type", kind.media_type());
            serde_json::to_vec(value).map_err(|error| Error::Answer(error.to_string()))?
        }
        None => Vec::new(),
    };
    request.body(bytes).map_err(|error| Error::Answer(error.to_string()))
}

/// An object or a list as servers send them, without who owns which field: often half of it, and nobody
/// here asks.
#[derive(Clone, Debug)]
pub(crate) struct Answer(pub(crate) Value);

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Part::Top).map(Self)
    }
}

/// What of an answer is read.
#[derive(Clone, Copy)]
enum Part {
    Top,
    Metadata,
}

impl<'de> Visitor<'de> for Part {
    type Value = Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            let value = match (self, name.as_str()) {
                (Part::Metadata, "managedFields") => {
                    from.next_value::<IgnoredAny>()?;
                    continue;
                }
                (Part::Top, "metadata") => from.next_value_seed(Part::Metadata)?,
                (Part::Top, "items") => {
                    let items: Option<Vec<Answer>> = from.next_value()?;
                    items.map_or(Value::Null, |all| all.into_iter().map(|it| it.0).collect())
                }
                _ => from.next_value()?,
            };
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for Part {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// Sends `body` (if any) and parses the answer.
///
/// # Errors
/// As the request failed.
pub async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<(Body, &Value)>,
    identity: &ActAs,
) -> Result<Value, Error> {
    let bytes = exchange(client, request(method, &client.uri(path), body, identity)?).await?;
    let answer = serde_json::from_slice::<Answer>(&bytes);
    answer.map(|it| it.0).map_err(|error| Error::Answer(error.to_string()))
}

/// The same where nobody wants the answer: it is read, but not parsed.
///
/// # Errors
/// As the request failed.
pub async fn tell(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<(Body, &Value)>,
    identity: &ActAs,
) -> Result<(), Error> {
    exchange(client, request(method, &client.uri(path), body, identity)?).await.map(drop)
}

/// Sends a request; what the answer consists of, unless it is a refusal.
async fn exchange(client: &Client, request: Request<Vec<u8>>) -> Result<Bytes, Error> {
    let what = tracing::enabled!(tracing::Level::TRACE)
        .then(|| (request.method().clone(), request.uri().clone(), Instant::now()));
    let answer = client.send(request.map(KubeBody::from)).await;
    if let Some((method, path, started)) = what {
        let code = answer.as_ref().map_or(0, |it| it.0.as_u16());
        tracing::trace!(%method, %path, code, took = ?started.elapsed(), "request");
    }
    let (code, bytes) = answer?;
    if code.is_client_error() || code.is_server_error() {
        let told = serde_json::from_slice::<Status>(&bytes);
        let status = told.unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&bytes);
            Status::failure(&text, "Failed to parse error data").with_code(code.as_u16())
        });
        return Err(Error::Refused(status.boxed()));
    }
    Ok(bytes)
}

/// GET of a text: logs.
///
/// # Errors
/// As the request failed.
pub async fn text(client: &Client, path: &str, identity: &ActAs) -> Result<String, Error> {
    let request = identity.mark(Request::get(path)).body(Vec::new());
    let request = request.map_err(|error| Error::Answer(error.to_string()))?;
    Ok(client.streams().request_text(request).await?)
}

/// GET; `None` if there is no such object.
pub async fn get(client: &Client, path: &str, identity: &ActAs) -> Result<Option<Value>, Error> {
    match send(client, Method::GET, path, None, identity).await {
        Ok(value) => Ok(Some(value)),
        Err(Error::Refused(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_owns_which_field_is_left_out() {
        let read = |text: &str| serde_json::from_str::<Answer>(text).unwrap().0.to_string();
        let object = r#"{"kind":"Cup","metadata":{"managedFields":[{"f:a":{}}],"name":"a"},"spec":{"managedFields":1.5}}"#;
        let kept = r#"{"kind":"Cup","metadata":{"name":"a"},"spec":{"managedFields":1.5}}"#;
        assert_eq!(read(object), kept);
        let list =
            |item: &str| format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{item}]}}"#);
        assert_eq!(read(&list(object)), list(kept));
        assert_eq!(read(r#"{"metadata":null,"items":null}"#), r#"{"metadata":null,"items":null}"#);
    }

    #[test]
    fn paths_follow_group_scope_and_name() {
        let deployments = Resource::namespaced("apps/v1", "Deployment", "deployments");
        let nodes = Resource::cluster("v1", "Node", "nodes");
        assert_eq!(
            path(&deployments, "shop", Some("web")),
            "/apis/apps/v1/namespaces/shop/deployments/web"
        );
        assert_eq!(path(&deployments, "", None), "/apis/apps/v1/deployments");
        assert_eq!(path(&nodes, "ignored", Some("n 1")), "/api/v1/nodes/n%201");
        assert_eq!(with_query("/x".into(), "a", "b=c,d"), "/x?a=b%3Dc%2Cd");
    }

    #[tokio::test]
    async fn refusals_have_a_code_even_if_a_proxy_answers() {
        let answering = |code: u16, body: &'static str| {
            let server = tower::service_fn(move |_: Request<KubeBody>| async move {
                let answer = http::Response::builder().status(code);
                Ok::<_, kube::Error>(answer.body(KubeBody::from(body.as_bytes().to_vec())).unwrap())
            });
            Client::from(kube::Client::new(server, "default"))
        };
        let own = r#"{"kind":"Status","status":"Failure","message":"taken","reason":"Conflict","code":409}"#;
        for (code, body, want) in [(409, own, "409 taken"), (503, "try later", "503 try later")] {
            let client = answering(code, body);
            let told = tell(&client, Method::POST, "/x", None, &ActAs::default()).await;
            let error = told.unwrap_err();
            assert_eq!(format!("{} {error}", error.code()), want);
        }
        let client = answering(200, "no JSON");
        let sent = send(&client, Method::GET, "/x", None, &ActAs::default()).await;
        assert!(matches!(sent, Err(Error::Answer(_))));
    }
}
