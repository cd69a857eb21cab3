//! Actions of templates of components and traits: the packages of `op-render`, which differ from those of
//! steps. Rendering itself stays pure: it says what it needs, that is done, and it is rendered again.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cue_session::Action;
use serde_json::{Value, json};

use super::{Trouble, charts, explain, object, selector, web};
use crate::render::Actor;
use crate::world::{Apply, HttpRequest, ObjectRef, PatchKind, World};

/// Times a template is rendered again with more answers.
const ROUNDS: usize = 50;

/// What was answered so far, and what is wanted next.
#[derive(Default)]
struct Answers {
    known: HashMap<(String, String), Value>,
    wanted: Option<Action>,
}

/// Where and what: the same place asks anew when its parameters have changed.
fn key(action: &Action) -> (String, String) {
    (format!("{}:{}.{}", action.path, action.provider, action.verb), action.json.clone())
}

impl Actor for Answers {
    fn act(&mut self, action: &Action) -> Result<Value, String> {
        if let Some(answer) = self.known.get(&key(action)) {
            return Ok(answer.clone());
        }
        self.wanted = Some(action.clone());
        Err(format!("{}: not answered yet", action.path))
    }
}

/// Renders with `render` until every action it meets is answered.
///
/// # Errors
/// What went wrong with an action, or with the rendering.
pub async fn rendered<T, E: ToString>(
    world: &dyn World,
    namespace: &str,
    mut render: impl FnMut(&mut dyn Actor) -> Result<T, E>,
) -> Result<T, Trouble> {
    let mut answers = Answers::default();
    for _ in 0..ROUNDS {
        let result = render(&mut answers);
        let Some(action) = answers.wanted.take() else {
            return result.map_err(|error| error.to_string());
        };
        let answer = answer(&action, world, namespace).await;
        let answer = answer.map_err(|error| format!("{}: {error}", action.path))?;
        answers.known.insert(key(&action), answer);
    }
    Err(format!("more than {ROUNDS} actions in one template"))
}

/// What is filled at the action's path.
async fn answer(action: &Action, world: &dyn World, namespace: &str) -> Result<Value, Trouble> {
    if let Some(missing) = action.pending.first() {
        return Err(missing.to_string());
    }
    let whole: Value = serde_json::from_str(&action.json).unwrap_or_default();
    let params = &whole["$params"];
    let returns = match (action.provider.as_str(), action.verb.as_str()) {
        // `processing.http`, the oldest form: the body's JSON is the answer.
        ("http", "processing") => {
            let answer = fetch(&whole, world).await?;
            let body = answer["body"].as_str().unwrap_or_default();
            return serde_json::from_str(body).map_err(|error| format!("no JSON: {error}"));
        }
        ("http", "do") => fetch(params, world).await?,
        ("kube", verb @ ("get" | "apply" | "patch" | "list")) => {
            objects(verb, params, world, namespace).await?
        }
        ("config", "image-registry") => {
            let host = params["registry"].as_str().unwrap_or_default();
            let scheme = if params["useHTTP"] == true { "http" } else { "https" };
            reachable(&format!("{scheme}://{host}/v2/"), &params["auth"], world).await
        }
        ("config", "helm-repository") => {
            let url = params["url"].as_str().unwrap_or_default().trim_end_matches('/');
            reachable(&format!("{url}/index.yaml"), params, world).await
        }
        ("helm", "render") => {
            let about = &params["context"];
            let of = |key: &str| about[key].as_str().unwrap_or_default();
            let (app, name) = (of("appName"), of("name"));
            let owner = charts::Owner { namespace, app, name, once: false };
            charts::rendered(params, world, &owner).await?
        }
        (provider, verb) => match world.service(provider) {
            Some(service) => web::serve(&service, verb, params, world).await?,
            None => return Err(format!("function {verb} not found in provider {provider}")),
        },
    };
    Ok(json!({"$returns": returns}))
}

/// Whether templates of components and traits can do this.
pub fn is_known(provider: &str, verb: &str) -> bool {
    matches!(
        (provider, verb),
        ("http", "do")
            | ("kube", "get" | "apply" | "patch" | "list")
            | ("config", "image-registry" | "helm-repository")
            | ("base64", "encode" | "decode")
            | ("cue", "strategyUnify")
            | ("helm", "render")
    )
}

async fn fetch(params: &Value, world: &dyn World) -> Result<Value, Trouble> {
    let method = params["method"].as_str().filter(|it| !it.is_empty()).unwrap_or("GET");
    let request = HttpRequest {
        method: method.to_uppercase(),
        url: params["url"].as_str().unwrap_or_default().to_owned(),
        headers: web::headers(params),
        body: web::body(&params["request"]["body"]),
        ..HttpRequest::default()
    };
    Ok(web::answer(world.http(&request).await.map_err(explain)?))
}

async fn objects(
    verb: &str,
    params: &Value,
    world: &dyn World,
    namespace: &str,
) -> Result<Value, Trouble> {
    let cluster = params["cluster"].as_str().unwrap_or_default();
    let mut resource = params["resource"].clone();
    let mut at = ObjectRef::of(&resource, cluster);
    if verb == "list" {
        let filter = &params["filter"];
        at.namespace = filter["namespace"].as_str().unwrap_or_default().to_owned();
        at.name = String::new();
        let items = world.list(&at, &selector(&filter["matchingLabels"])).await;
        let items = items.map_err(explain)?;
        let kind = format!("{}List", at.kind);
        return Ok(json!({"apiVersion": at.api_version, "kind": kind, "items": items}));
    }
    let scoped =
        world.is_namespaced(&at.api_version, &at.kind, &at.cluster).await.map_err(explain)?;
    if scoped && at.namespace.is_empty() {
        at.namespace = namespace.to_owned();
        resource["metadata"]["namespace"] = namespace.into();
    }
    match verb {
        "get" => {
            let live = world.get(&at).await.map_err(explain)?;
            live.ok_or_else(|| object::not_found(&at))
        }
        "apply" => world.apply(&resource, cluster, Apply::FORCED).await.map_err(explain),
        _ => {
            let patch = &params["patch"];
            let kind = match patch["type"].as_str().unwrap_or("merge") {
                "merge" => PatchKind::Merge,
                "json" => PatchKind::Json,
                "strategic" => PatchKind::Strategic,
                other => return Err(format!("unknown patch type {other:?}")),
            };
            world.patch(&at, kind, &patch["data"]).await.map_err(explain)
        }
    }
}

/// Whether an address answers to these credentials; why not is no failure of the template.
async fn reachable(url: &str, auth: &Value, world: &dyn World) -> Value {
    let mut request =
        HttpRequest { method: "GET".into(), url: url.to_owned(), ..HttpRequest::default() };
    let named = auth["username"].as_str().filter(|it| !it.is_empty());
    if let Some(user) = named {
        let password = auth["password"].as_str().unwrap_or_default();
        let both = STANDARD.encode(format!("{user}:{password}"));
        request.headers.push(("Authorization".into(), format!("Basic {both}")));
    }
    let (result, message) = match world.http(&request).await {
        Ok(answer) if answer.status < 300 => (true, String::new()),
        // A registry that wants to know who asks is there.
        Ok(answer) if answer.status == 401 && named.is_none() && url.ends_with("/v2/") => {
            (true, String::new())
        }
        Ok(answer) => (false, format!("{url} answers {}", answer.status)),
        Err(error) => (false, error.to_string()),
    };
    json!({"result": result, "message": message})
}
