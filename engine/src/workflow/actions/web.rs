//! HTTP requests: parameters to a request, the answer to results.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Acting, Asked, Done, Trouble, explain};
use crate::workflow::backoff::parse_duration;
use crate::world::{HttpRequest, HttpResponse, ObjectRef, Service, Tls, World};

/// How long an answer may take, unless said.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn request(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let params = &asked.params;
    let method = method(asked);
    let url = asked.text("url").to_owned();
    limit(params, &method, &url, with)?;
    let mut headers = headers(params);
    headers.extend(secret_headers(params, with.world, with.host.namespace()).await?);
    let request = HttpRequest {
        headers,
        body: body(&params["request"]["body"]),
        timeout: Some(timeout(params)?),
        tls: tls(params, with).await?,
        method,
        url,
    };
    // Any answer is a success: what its status means is the template's business.
    let response = with.world.http(&request).await.map_err(|error| {
        let verb = request.method.to_lowercase();
        let verb = verb[..1].to_uppercase() + &verb[1..];
        format!("{verb} {:?}: {error}", request.url)
    })?;
    let answer = answer(response);
    // The older form has its results in `response` (E-134).
    Ok(Done::Returns(if asked.flat { json!({"response": answer}) } else { answer }))
}

/// Lets a service of its own carry out an action: what it answers is what the action returns.
pub(super) async fn serve(
    service: &Service,
    verb: &str,
    params: &Value,
    world: &dyn World,
) -> Result<Value, Trouble> {
    let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    headers.extend(service.headers.iter().cloned());
    let request = HttpRequest {
        method: "POST".into(),
        url: format!("{}/{verb}", service.endpoint.trim_end_matches('/')),
        headers,
        body: if params.is_null() { "{}".into() } else { params.to_string() },
        ..HttpRequest::default()
    };
    let response =
        world.http(&request).await.map_err(|error| format!("{}: {error}", request.url))?;
    if !(200..300).contains(&response.status) {
        return Err(format!(
            "{} answers {}: {}",
            request.url,
            response.status,
            response.body.trim()
        ));
    }
    match response.body.trim() {
        "" => Ok(json!({})),
        body => {
            serde_json::from_str(body).map_err(|error| format!("{}: no JSON: {error}", request.url))
        }
    }
}

/// What templates see of an answer.
pub(super) fn answer(response: HttpResponse) -> Value {
    let mut headers: Map<String, Value> = Map::new();
    for (name, value) in response.headers {
        let all = headers.entry(canonical(&name)).or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.push(value.into());
        }
    }
    json!({
        "body": response.body,
        "statusCode": response.status,
        "header": headers,
        "trailer": {},
    })
}

fn method(asked: &Asked<'_>) -> String {
    // `http.#HTTPPost` of the official package sets `method` beside `$params`.
    let beside = serde_json::from_str::<Value>(&asked.action.json).unwrap_or_default();
    let given = [beside["method"].as_str(), asked.params["method"].as_str()];
    let given = given.into_iter().flatten().find(|it| !it.is_empty());
    match (given, asked.action.verb.as_str()) {
        (Some(method), _) => method.to_uppercase(),
        (None, verb @ ("post" | "put")) => verb.to_uppercase(),
        (None, _) => "GET".into(),
    }
}

pub(super) fn body(given: &Value) -> String {
    match given {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub(super) fn headers(params: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in params["request"]["header"].as_object().into_iter().flatten() {
        let values = match value {
            Value::Array(items) => items.iter().collect(),
            one => vec![one],
        };
        for value in values {
            all.push((name.clone(), value.as_str().map_or_else(|| value.to_string(), Into::into)));
        }
    }
    if all.is_empty() {
        all.push(("Content-Type".into(), "application/json".into()));
    }
    all
}

/// Header fields whose values are in Secrets of the owner's namespace: `name`, `secret`, `key`.
async fn secret_headers(
    params: &Value,
    world: &dyn World,
    namespace: &str,
) -> Result<Vec<(String, String)>, Trouble> {
    let mut all = Vec::new();
    for it in params["request"]["headersFromSecret"].as_array().into_iter().flatten() {
        let text = |key: &str| it[key].as_str().unwrap_or_default();
        let (name, secret, key) = (text("name"), text("secret"), text("key"));
        let at = ObjectRef::local("v1", "Secret", namespace, secret);
        let live = world.get(&at).await.map_err(explain)?;
        let live = live.ok_or_else(|| format!("header {name}: secrets {secret:?} not found"))?;
        let value = live["data"][key].as_str().and_then(|it| STANDARD.decode(it).ok());
        let value = value.and_then(|it| String::from_utf8(it).ok());
        let value = value.ok_or_else(|| format!("header {name}: {secret} has no key {key}"))?;
        all.push((name.to_owned(), value.trim_end_matches(['\r', '\n']).to_owned()));
    }
    Ok(all)
}

fn timeout(params: &Value) -> Result<Duration, Trouble> {
    match params["request"]["timeout"].as_str() {
        None | Some("") => Ok(PATIENCE),
        Some(text) => parse_duration(text)
            .and_then(|it| it.to_std().ok())
            .ok_or_else(|| format!("invalid timeout {text:?}")),
    }
}

/// Refuses what comes too often: per method and address without its query.
fn limit(params: &Value, method: &str, url: &str, with: &Acting<'_>) -> Result<(), Trouble> {
    let request = &params["request"];
    let given = [&request["ratelimiter"], &request["rateLimiter"]];
    let Some(given) = given.into_iter().find(|it| it.is_object()) else { return Ok(()) };
    let times = given["limit"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
    let text = given["period"].as_str().unwrap_or_default();
    let period = parse_duration(text)
        .and_then(|it| it.to_std().ok())
        .ok_or_else(|| format!("invalid period {text:?}"))?;
    let key = format!("{method}-{}", url.split('?').next().unwrap_or(url));
    if with.world.admits(&key, times, period) {
        return Ok(());
    }
    Err("request exceeds the rate limiter".into())
}

async fn tls(params: &Value, with: &mut Acting<'_>) -> Result<Option<Tls>, Trouble> {
    let config = &params["tls_config"];
    let Some(name) = config["secret"].as_str() else { return Ok(None) };
    let namespace = match config["namespace"].as_str() {
        Some(namespace) if !namespace.is_empty() => namespace,
        _ => with.host.namespace(),
    };
    let at = ObjectRef::local("v1", "Secret", namespace, name);
    let secret = with.world.get(&at).await.map_err(explain)?;
    let secret = secret.ok_or_else(|| format!("secrets {name:?} not found"))?;
    let part = |key: &str| -> Result<String, Trouble> {
        let Some(text) = secret["data"][key].as_str() else { return Ok(String::new()) };
        let mut bytes = STANDARD.decode(text).map_err(|it| format!("{name}: {key}: {it}"))?;
        // The official engine wants base64 inside the data as well: both are fine here.
        if let (false, Ok(inner)) = (bytes.starts_with(b"-----"), STANDARD.decode(trimmed(&bytes)))
        {
            bytes = inner;
        }
        String::from_utf8(bytes).map_err(|_| format!("{name}: {key} is no PEM"))
    };
    let tls = Tls {
        authority: part("ca.crt")?,
        certificate: part("client.crt")?,
        key: part("client.key")?,
    };
    if tls == Tls::default() {
        return Err(format!("{name}: there is no ca.crt, client.crt or client.key"));
    }
    Ok(Some(tls))
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect()
}

/// `content-type` as `Content-Type`: templates written for the official engine read it so.
fn canonical(name: &str) -> String {
    let part = |it: &str| {
        it.get(..1).map_or_else(String::new, |first| {
            first.to_uppercase() + &it.get(1..).unwrap_or_default().to_lowercase()
        })
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}
