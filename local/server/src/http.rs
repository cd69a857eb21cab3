//! HTTP: paths to targets, queries to options, objects to answers in the form the client accepts.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, USER_AGENT, WARNING,
};
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};

use crate::auth::{self, Action, Tokens, User};
use crate::kinds;
use crate::list::{Change, ListOptions};
use crate::patch::{self, PatchKind};
use crate::plane::{DeleteOptions, Deleted, FieldValidation, Plane, Target, WriteOptions, parse};
use crate::status::{ApiError, FieldError, Result};
use crate::table::{self, Form};
use crate::{discovery, scale};

/// Bodies may be this big.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

type Query = BTreeMap<String, String>;

impl Plane {
    /// The API as a service, for `kube::Client::new` or a listener.
    #[must_use]
    pub fn service(&self) -> axum::Router {
        self.service_for(None)
    }

    /// The API as a service that asks everybody for a token and looks at what they may do.
    #[must_use]
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
        let value = self.query.get(key).map(|value| value.to_lowercase());
        value.is_some_and(|value| value != "false" && value != "0")
    }

    fn header(&self, name: http::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

async fn answer(plane: Plane, tokens: Option<Arc<Tokens>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let user = match auth::sender(&plane, tokens.as_deref(), &parts.headers) {
        Ok(user) => user,
        Err(error) => return failed(&error),
    };
    let gzip = parts
        .headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("gzip"));
    let body = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            let text = format!("Request entity too large: limit is {BODY_LIMIT}");
            return failed(&ApiError::new(413, "RequestEntityTooLarge", text));
        }
    };
    let path = percent_decode(parts.uri.path(), false);
    let query = parts.uri.query().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (percent_decode(key, true), percent_decode(value, true))
    });
    let mut all = Query::new();
    for (key, value) in pairs {
        all.entry(key).or_insert(value);
    }
    let asked = Asked {
        method: parts.method,
        path,
        query: all,
        headers: parts.headers,
        body,
        tokens,
        user,
    };
    let response = match respond(&plane, &asked).await {
        Ok(response) => response,
        Err(error) => failed(&error),
    };
    if gzip { compress(response).await } else { response }
}

fn percent_decode(text: &str, plus: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' if plus => bytes.push(b' '),
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
    let big = http_body::Body::size_hint(&body).lower() >= 128 * 1024;
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

#[derive(Clone, Copy)]
struct Streaming;

/// A JSON answer.
pub(crate) fn reply(code: u16, content_type: &str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

fn json_reply(code: u16, value: &Value) -> Response {
    let mut body = serde_json::to_vec(value).unwrap_or_default();
    body.push(b'\n');
    reply(code, "application/json", body)
}

fn failed(error: &ApiError) -> Response {
    let mut response = json_reply(error.code, &error.status());
    if let Some(seconds) =
        error.details.as_ref().and_then(|details| details["retryAfterSeconds"].as_u64())
    {
        if let Ok(value) = seconds.to_string().parse() {
            response.headers_mut().insert(RETRY_AFTER, value);
        }
    }
    response
}

fn warn(response: &mut Response, warnings: &[String]) {
    for text in warnings {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = format!("299 - \"{quoted}\"").parse() {
            response.headers_mut().append(WARNING, value);
        }
    }
}

async fn respond(plane: &Plane, asked: &Asked) -> Result<Response> {
    let named = asked.get("fieldSelector").strip_prefix("metadata.name=").unwrap_or_default();
    let action = Action::of_request(asked.method.as_str(), &asked.path, asked.flag("watch"), named);
    auth::check(plane, &asked.user, &action)?;
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
    let (name, subresource) = match rest {
        [] => ("", ""),
        [name] => (*name, ""),
        [name, subresource] => (*name, *subresource),
        _ => return Err(ApiError::no_route()),
    };
    if resource.namespaced != !namespace.is_empty() && !(resource.namespaced && name.is_empty()) {
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
    let mut response = serve(plane, asked, &target, legacy).await?;
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

async fn serve(plane: &Plane, asked: &Asked, target: &Target, legacy: bool) -> Result<Response> {
    let Target { namespace, name, subresource, .. } = target;
    let subresource = subresource.as_str();
    let can = |verb: &str| target.resource.verbs.iter().any(|one| one == verb);
    if legacy {
        return watch(plane, asked, target, true);
    }
    match (asked.method.as_str(), name.is_empty(), subresource.is_empty()) {
        ("GET", true, _) if can("list") => {
            if asked.flag("watch") {
                watch(plane, asked, target, false)
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
            let form = form(asked, false)?;
            if let Some(version) =
                asked.query.get("resourceVersion").filter(|version| !version.is_empty())
            {
                let wanted: u64 = version.parse().map_err(|_| ApiError::plain(format!("resourceVersion: Invalid value: \"{version}\": strconv.ParseUint: parsing \"{version}\": invalid syntax")))?;
                plane.reached(wanted).await?;
            }
            let object = plane.get(target)?;
            match subresource {
                "scale" => show(target, 200, scale::scale_of(target, &object)?, &form, &[]),
                "" | "status" | "ephemeralcontainers" | "resize" | "approval" => {
                    show(target, 200, object, &form, &[])
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
            let (code, value) = scale::post(plane, target, body, &mut options)?;
            Ok(json_reply(code, &value))
        }
        _ => Err(ApiError::no_method()),
    }
}

fn form(asked: &Asked, list: bool) -> Result<Form> {
    let accept = asked.header(ACCEPT);
    Form::accepted(accept, list, asked.get("includeObject"))
}

fn manager(asked: &Asked) -> String {
    let given = asked.get("fieldManager");
    if !given.is_empty() {
        return given.to_owned();
    }
    let agent = asked.header(USER_AGENT);
    let agent = agent.split('/').next().unwrap_or_default();
    if agent.is_empty() { "unknown".to_owned() } else { agent.to_owned() }
}

fn write_options(asked: &Asked, verb: &str) -> Result<WriteOptions> {
    let kind = match verb {
        "create" => "CreateOptions",
        "update" => "UpdateOptions",
        _ => "PatchOptions",
    };
    let mut errors = Vec::new();
    dry_run_errors(asked, &mut errors);
    let validation = match asked.get("fieldValidation") {
        "" | "Warn" => FieldValidation::Warn,
        "Strict" => FieldValidation::Strict,
        "Ignore" => FieldValidation::Ignore,
        other => {
            let known = ["\"\"", "\"Ignore\"", "\"Strict\"", "\"Warn\""].map(str::to_owned);
            errors.push(FieldError::unsupported("fieldValidation", &json!(other), &known));
            FieldValidation::Warn
        }
    };
    let given = asked.get("fieldManager");
    if given.len() > 128 {
        errors.push(FieldError::too_long("fieldManager", 128));
    }
    if let Some((at, bad)) = given.char_indices().find(|(_, c)| c.is_control()) {
        let _ = bad;
        errors.push(FieldError::invalid(
            "fieldManager",
            &json!(given),
            &format!("should not contain non-printable characters: index {at}"),
        ));
    }
    if !errors.is_empty() {
        return Err(ApiError::options(kind, &errors));
    }
    Ok(WriteOptions {
        manager: manager(asked),
        dry_run: !asked.get("dryRun").is_empty(),
        validation,
        ..WriteOptions::default()
    })
}

fn dry_run_errors(asked: &Asked, errors: &mut Vec<FieldError>) {
    let dry = asked.get("dryRun");
    if asked.query.contains_key("dryRun") && dry != "All" {
        errors.push(FieldError::unsupported("dryRun", &json!([dry]), &["\"All\"".to_owned()]));
    }
}

fn body(asked: &Asked, target: &Target, verb: &str) -> Result<(Value, WriteOptions)> {
    let kind = asked.header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
    let yaml = match kind.as_str() {
        "application/yaml" => true,
        "application/json" | "" => false,
        "application/vnd.kubernetes.protobuf" => {
            let options = write_options(asked, verb)?;
            let value =
                crate::protobuf::decode(&asked.body).ok_or_else(ApiError::unsupported_media)?;
            return Ok((value, options));
        }
        _ => return Err(ApiError::unsupported_media()),
    };
    let mut options = write_options(asked, verb)?;
    let (value, findings) = parse(&asked.body, yaml).map_err(|text| {
        let said = String::from_utf8_lossy(&asked.body).into_owned();
        let cut: String = said.chars().take(30).collect();
        let dots = if said.chars().count() > 30 { " ..." } else { "" };
        let shown = if said.is_empty() { "<empty>".to_owned() } else { format!("{cut}{dots}") };
        let why = if text.contains("EOF") { "unexpected end of JSON input".to_owned() } else { text };
        ApiError::bad_request(format!("the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: {why} ({shown})", target.resource.kind))
    })?;
    options.findings = findings;
    let kindless =
        target.resource.custom.is_some() && value["kind"].as_str().unwrap_or_default().is_empty();
    if !value.is_object() || kindless {
        return Err(unrecognized(asked, target, &value));
    }
    Ok((value, options))
}

// A body of which it is not known what it is.
fn unrecognized(asked: &Asked, target: &Target, value: &Value) -> ApiError {
    let said = String::from_utf8_lossy(&asked.body);
    let start = asked.body.get(..asked.body.len().min(30)).unwrap_or_default();
    let dots = if asked.body.len() > 30 { " ..." } else { "" };
    let shown = if said.starts_with('{') {
        String::from_utf8_lossy(start).into_owned()
    } else {
        start.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let found = match value {
        Value::Object(_) => None,
        Value::Array(_) => Some("array"),
        Value::String(_) => Some("string"),
        Value::Number(_) => Some("number"),
        Value::Bool(_) | Value::Null => Some("bool"),
    };
    let why = match found {
        None => format!("Object 'Kind' is missing in '{said}'"),
        Some(found) => format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ),
    };
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({shown}{dots})",
        target.resource.kind
    ))
}

fn show(
    target: &Target,
    code: u16,
    object: Value,
    form: &Form,
    warnings: &[String],
) -> Result<Response> {
    let (content_type, value) = table::render(&target.resource, object, form, true)?;
    let mut response = encode(code, &content_type, &value, form);
    warn(&mut response, warnings);
    Ok(response)
}

fn encode(code: u16, content_type: &str, value: &Value, form: &Form) -> Response {
    if form.yaml {
        return reply(code, "application/yaml", yaml_text(value).into_bytes());
    }
    let mut body = serde_json::to_vec(value).unwrap_or_default();
    body.push(b'\n');
    reply(code, content_type, body)
}

// Keys sorted, times quoted: as Go writes YAML.
fn yaml_text(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| *key);
                fields.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    let text = serde_yaml::to_string(&sorted(value)).unwrap_or_default();
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some((key, time)) if chrono::DateTime::parse_from_rfc3339(time).is_ok() => {
            format!("{key}: \"{time}\"\n")
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

fn create(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, false)?;
    let (body, mut options) = body(asked, target, "create")?;
    if target.resource.verbs == ["create"] {
        if target.resource.plural == "bindings" {
            let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let resource = plane.registry().get("", "v1", "pods").ok_or_else(ApiError::no_route)?;
            let pod = Target {
                resource,
                namespace: target.namespace.clone(),
                name,
                subresource: "binding".to_owned(),
            };
            let (code, value) = scale::post(plane, &pod, body, &mut options)?;
            return Ok(json_reply(code, &value));
        }
        let by = (asked.tokens.as_deref(), &asked.user);
        let answer = auth::review(plane, by, target, body, &mut options)?;
        return show(target, 201, answer, &form, &options.warnings);
    }
    let object = plane.create(target, body, &mut options)?;
    show(target, 201, object, &form, &options.warnings)
}

fn update(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, false)?;
    let (body, mut options) = body(asked, target, "update")?;
    if target.subresource == "scale" {
        scale::check_scale(target, &body)?;
        let scale = scale::write_scale(
            plane,
            target,
            &mut options,
            &scale::How::Change(&|_| Ok(body.clone())),
        )?;
        return show(target, 200, scale, &form, &options.warnings);
    }
    let created = plane.store().get(&target.key()).is_none();
    let object = plane.update(target, body, &mut options)?;
    show(target, if created { 201 } else { 200 }, object, &form, &options.warnings)
}

fn change(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, false)?;
    let content =
        asked.header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
    let kind = match content.as_str() {
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" if target.resource.custom.is_none() => {
            PatchKind::Strategic
        }
        "application/apply-patch+yaml" => PatchKind::Apply { force: asked.flag("force") },
        _ => {
            let known = if target.resource.custom.is_some() {
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            } else {
                "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"
            };
            let text = format!(
                "the body of the request was in an unknown format - accepted media types include: {known}"
            );
            return Err(ApiError::new(415, "UnsupportedMediaType", text));
        }
    };
    let mut options = write_options(asked, "patch")?;
    let mut errors = Vec::new();
    if matches!(kind, PatchKind::Apply { .. }) {
        if asked.get("fieldManager").is_empty() {
            errors.push(FieldError::required("fieldManager", "is required for apply patch"));
        }
    } else if asked.query.contains_key("force") {
        errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
    }
    if !errors.is_empty() {
        return Err(ApiError::options("PatchOptions", &errors));
    }
    let yaml = matches!(kind, PatchKind::Apply { .. });
    let before = match kind {
        PatchKind::Apply { .. } => "error decoding YAML: ",
        PatchKind::Strategic => "",
        PatchKind::Json | PatchKind::Merge => "error decoding patch: ",
    };
    let refuse = |text: String| ApiError::bad_request(format!("{before}{text}"));
    let (mut value, findings) = parse(&asked.body, yaml).map_err(refuse)?;
    if yaml && value.is_null() {
        value = json!({});
    }
    let wanted = if matches!(kind, PatchKind::Json) { value.is_array() } else { value.is_object() };
    if !wanted {
        let context = if yaml { "error unmarshaling JSON: while decoding JSON: " } else { "" };
        let found = match &value {
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) | Value::Null => "bool",
        };
        let go = match kind {
            PatchKind::Json => "jsonpatch.Patch",
            _ => "map[string]interface {}",
        };
        return Err(refuse(format!(
            "{context}json: cannot unmarshal {found} into Go value of type {go}"
        )));
    }
    options.findings = findings;
    let created = plane.store().get(&target.key()).is_none();
    let object = patch::patch(plane, target, kind, &value, &mut options)?;
    show(target, if created { 201 } else { 200 }, object, &form, &options.warnings)
}

fn list_options(asked: &Asked) -> Result<ListOptions> {
    let number = |key: &str| -> Result<Option<i64>> {
        let text = asked.get(key);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            ApiError::bad_request(format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
        })
    };
    Ok(ListOptions {
        labels: asked.get("labelSelector").to_owned(),
        fields: asked.get("fieldSelector").to_owned(),
        limit: number("limit")?.unwrap_or(0).max(0),
        next: asked.get("continue").to_owned(),
        version: asked.query.get("resourceVersion").cloned(),
        matching: asked.get("resourceVersionMatch").to_owned(),
        bookmarks: asked.flag("allowWatchBookmarks"),
        initial: asked
            .query
            .contains_key("sendInitialEvents")
            .then(|| asked.flag("sendInitialEvents")),
        timeout: number("timeoutSeconds")?.and_then(|seconds| u64::try_from(seconds).ok()),
    })
}

async fn list(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, true)?;
    let options = list_options(asked)?;
    let page = plane.list(target, &options).await?;
    let (content_type, value) = table::render_list(&target.resource, page, &form)?;
    Ok(encode(200, &content_type, &value, &form))
}

fn watch(plane: &Plane, asked: &Asked, target: &Target, legacy: bool) -> Result<Response> {
    let form = form(asked, false)?;
    let mut options = list_options(asked)?;
    if legacy && !target.name.is_empty() {
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
        let mut first = true;
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
                        let _ = sender.send(line(&resource, bookmark, &form, &mut first)).await;
                    }
                    return;
                }
                () = sender.closed() => return,
            };
            if batch.is_empty() {
                return;
            }
            for change in batch {
                if sender.send(line(&resource, change, &form, &mut first)).await.is_err() {
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

fn line(
    resource: &crate::resource::Resource,
    change: Change,
    form: &Form,
    first: &mut bool,
) -> Bytes {
    let object = if change.kind == "ERROR" {
        change.object
    } else if change.kind == "BOOKMARK" {
        table::render_bookmark(change.object, form, first)
    } else {
        let with_columns = std::mem::replace(first, false);
        match table::render(resource, change.object, form, with_columns) {
            Ok((_, value)) => value,
            Err(error) => error.status(),
        }
    };
    let mut bytes =
        serde_json::to_vec(&json!({"type": change.kind, "object": object})).unwrap_or_default();
    bytes.push(b'\n');
    Bytes::from(bytes)
}

fn delete_options(asked: &Asked) -> Result<DeleteOptions> {
    let mut given = json!({});
    if !asked.body.is_empty() {
        let yaml = asked.header(CONTENT_TYPE).starts_with("application/yaml");
        let (value, _) = parse(&asked.body, yaml).map_err(|text| {
            ApiError::bad_request(format!("couldn't get version/kind; json parse error: {text}"))
        })?;
        let kind = value["kind"].as_str().unwrap_or_default();
        if !kind.is_empty() && kind != "DeleteOptions" {
            let version = value["apiVersion"].as_str().unwrap_or("v1");
            return Err(ApiError::bad_request(format!(
                "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/api/legacyscheme/scheme.go:31\""
            )));
        }
        given = value;
    } else {
        for key in ["propagationPolicy", "dryRun"] {
            if asked.query.contains_key(key) {
                given[key] = json!(asked.get(key));
            }
        }
        if let Ok(seconds) = asked.get("gracePeriodSeconds").parse::<i64>() {
            given["gracePeriodSeconds"] = json!(seconds);
        }
        if asked.query.contains_key("orphanDependents") {
            given["orphanDependents"] = json!(asked.flag("orphanDependents"));
        }
    }
    let mut errors = Vec::new();
    let policy =
        given["propagationPolicy"].as_str().filter(|policy| !policy.is_empty()).map(str::to_owned);
    if let Some(policy) = &policy {
        if given["orphanDependents"].is_boolean() {
            errors.push(FieldError::invalid(
                "propagationPolicy",
                &json!(policy),
                "orphanDependents and deletionPropagation cannot be both set",
            ));
        }
        if !["Foreground", "Background", "Orphan"].contains(&policy.as_str()) {
            let known =
                ["\"Foreground\"", "\"Background\"", "\"Orphan\"", "\"nil\""].map(str::to_owned);
            errors.push(FieldError::unsupported("propagationPolicy", &json!(policy), &known));
        }
    }
    let dry: Vec<&str> = match &given["dryRun"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one],
        _ => Vec::new(),
    };
    if dry.iter().any(|one| *one != "All") {
        errors.push(FieldError::unsupported("dryRun", &json!(dry), &["\"All\"".to_owned()]));
    }
    if !errors.is_empty() {
        return Err(ApiError::options("DeleteOptions", &errors));
    }
    let orphan = given["orphanDependents"]
        .as_bool()
        .map(|orphan| if orphan { "Orphan" } else { "Background" });
    let text = |key: &str| given["preconditions"][key].as_str().map(str::to_owned);
    Ok(DeleteOptions {
        grace: given["gracePeriodSeconds"].as_i64(),
        propagation: policy.or(orphan.map(str::to_owned)),
        uid: text("uid"),
        version: text("resourceVersion"),
        dry_run: !dry.is_empty(),
    })
}

fn delete(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, false)?;
    let options = delete_options(asked)?;
    let mut warnings = Vec::new();
    if target.resource.is("batch", "jobs") && options.propagation.is_none() {
        warnings.push("child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning".to_owned());
    }
    match plane.delete(target, &options)? {
        Deleted::Waiting(object) => show(target, 200, object, &form, &warnings),
        Deleted::Gone(object) if kinds::deletion_shows_object(&target.resource) => {
            show(target, 200, object, &form, &warnings)
        }
        Deleted::Gone(object) => {
            let mut details = json!({"name": target.name});
            if !target.resource.group.is_empty() {
                details["group"] = json!(target.resource.group);
            }
            details["kind"] = json!(target.resource.plural);
            details["uid"] = object["metadata"]["uid"].clone();
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
            let mut response = json_reply(200, &status);
            warn(&mut response, &warnings);
            Ok(response)
        }
    }
}

async fn delete_all(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, true)?;
    let options = delete_options(asked)?;
    let mut page = plane.list(target, &list_options(asked)?).await?;
    for object in &page.items {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default().to_owned();
        let one = Target { namespace: text("namespace"), name: text("name"), ..target.clone() };
        match plane.delete(&one, &options) {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    page.continued = false;
    let (content_type, value) = table::render_list(&target.resource, page, &form)?;
    Ok(encode(200, &content_type, &value, &form))
}
