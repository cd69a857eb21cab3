//! Git repositories: how to get into them, and what is pushed to them (W-113, W-114).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lateen_charts::files::Files;
use lateen_charts::yaml;
use serde_json::{Value, json};

use super::{Acting, Asked, Done, Trouble, explain};
use crate::world::{Login, ObjectRef, Push, World};

/// What a Secret says: `username` and `password` or `token`, or `ssh-privatekey` and `known_hosts`.
///
/// # Errors
/// There is no such Secret.
pub(super) async fn login(
    world: &dyn World,
    credentials: &Value,
    namespace: &str,
) -> Result<Login, Trouble> {
    let name = credentials["secret"].as_str().or(credentials["secretRef"]["name"].as_str());
    let name = match credentials {
        Value::String(name) => Some(name.as_str()),
        _ => name,
    };
    let Some(name) = name.filter(|it| !it.is_empty()) else { return Ok(Login::default()) };
    let other = credentials["secretRef"]["namespace"].as_str().filter(|it| !it.is_empty());
    let at = ObjectRef::local("v1", "Secret", other.unwrap_or(namespace), name);
    let secret = world.get(&at).await.map_err(explain)?;
    let secret = secret.ok_or_else(|| format!("secrets {name:?} not found"))?;
    let part = |keys: &[&str]| {
        let text = keys.iter().find_map(|key| secret["data"][*key].as_str());
        let bytes = text.and_then(|it| STANDARD.decode(it).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (user, password) = docker(&part(&[".dockerconfigjson"])).unwrap_or_default();
    let given = |text: String, other: String| if text.is_empty() { other } else { text };
    let login = Login {
        user: given(part(&["username", "user"]).trim().to_owned(), user),
        password: given(part(&["password", "token", "bearerToken"]).trim().to_owned(), password),
        key: part(&["ssh-privatekey", "sshPrivateKey", "identity"]),
        known_hosts: part(&["known_hosts", "knownHosts"]),
    };
    if login == Login::default() {
        return Err(format!("{name}: there is no username, password, token or ssh-privatekey"));
    }
    Ok(login)
}

/// User and password of the first registry in a Secret of type `kubernetes.io/dockerconfigjson`.
fn docker(text: &str) -> Option<(String, String)> {
    let config: Value = serde_json::from_str(text).ok()?;
    let entry = config["auths"].as_object()?.values().next()?;
    if let (Some(user), Some(password)) = (entry["username"].as_str(), entry["password"].as_str()) {
        return Some((user.to_owned(), password.to_owned()));
    }
    let both = String::from_utf8(STANDARD.decode(entry["auth"].as_str()?).ok()?).ok()?;
    let (user, password) = both.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// Pushes objects, one to a file.
pub(super) async fn push(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let (home, app) = (with.host.namespace().to_owned(), with.host.name().to_owned());
    let given = |key: &str, default: String| match asked.text(key) {
        "" => default,
        text => text.to_owned(),
    };
    let mut files = Files::default();
    for object in asked.params["resources"].as_array().into_iter().flatten() {
        if object["kind"].as_str().is_none_or(str::is_empty) {
            continue;
        }
        let mut object = object.clone();
        object.as_object_mut().and_then(|it| it.shift_remove("status"));
        let at = ObjectRef::of(&object, "");
        let mut name = format!("{}-{}.yaml", at.kind.to_lowercase(), at.name);
        if !at.namespace.is_empty() && at.namespace != home {
            name = format!("{}/{name}", at.namespace);
        }
        let text = yaml::text(&object).into_bytes();
        files.add(&name, text).map_err(|error| error.0)?;
    }
    if files.is_empty() {
        return Err("there are no objects to push".into());
    }
    let push = Push {
        url: asked.text("url").to_owned(),
        branch: given("branch", "main".into()),
        folder: given("path", format!("{home}/{app}")),
        message: given("message", format!("Deliver {home}/{app}")),
        login: login(with.world, &asked.params["credentials"], &home).await?,
        files,
    };
    let pushed = with.world.push(&push).await.map_err(explain)?;
    Ok(Done::Returns(json!({"commit": pushed.commit, "changed": pushed.changed})))
}
