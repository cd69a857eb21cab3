//! Charts and kustomizations: where they come from, what they are rendered for (W-115, W-116).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use lateen_charts::chart::Chart;
use lateen_charts::files::Files;
use lateen_charts::{helm, kustomize, versions};
use serde_json::{Value, json};

use super::{Acting, Asked, Done, Trouble, explain, git, registry};
use crate::api::{ApplicationSpec, V1BETA1};
use crate::workflow::partial;
use crate::world::{Checkout, HttpRequest, Login, ObjectRef, World};

/// Answers of a repository that are read at most: its index may be long.
const INDEX: usize = 32 << 20;

/// Whose chart it is.
pub(super) struct Owner<'a> {
    /// Where the owner is.
    pub(super) namespace: &'a str,
    /// Its Application.
    pub(super) app: &'a str,
    /// What a release is called that nobody names.
    pub(super) name: &'a str,
    /// It is rendered once, not at every look.
    pub(super) once: bool,
}

/// `helm.#Render` of steps.
pub(super) async fn render(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let (namespace, app) = (with.host.namespace(), with.host.name());
    let owner = Owner { namespace, app, name: app, once: true };
    rendered(&asked.params, with.world, &owner).await.map(Done::Returns)
}

/// Fetches a chart and renders it.
pub(super) async fn rendered(
    params: &Value,
    world: &dyn World,
    owner: &Owner<'_>,
) -> Result<Value, Trouble> {
    let files = chart_files(world, &params["chart"], owner).await?;
    let chart = Chart::read(&files).map_err(|error| error.0)?;
    let mut values = json!({});
    for from in params["valuesFrom"].as_array().into_iter().flatten() {
        if let Some(more) = values_from(world, from, owner.namespace).await? {
            json_patch::merge(&mut values, &more);
        }
    }
    helm::lay_values(&mut values, &params["values"]);
    let release = release(params, world, owner).await?;
    let rendered = helm::render(&chart, &values, &release).map_err(|error| error.0)?;
    let mut objects = rendered.objects;
    for it in &mut objects {
        let at = ObjectRef::of(it, "");
        // A kind that a definition of the chart brings is not known yet: most live in namespaces.
        let scoped = world.is_namespaced(&at.api_version, &at.kind, "").await.unwrap_or(true);
        if at.namespace.is_empty() && scoped {
            it["metadata"]["namespace"] = release.namespace.as_str().into();
        }
    }
    Ok(json!({
        "resources": objects,
        "notes": rendered.notes,
        "chart": {"name": chart.name(), "version": chart.version()},
    }))
}

async fn release(
    params: &Value,
    world: &dyn World,
    owner: &Owner<'_>,
) -> Result<helm::Release, Trouble> {
    let text = |of: &Value, default: &str| {
        of.as_str().filter(|it| !it.is_empty()).unwrap_or(default).to_owned()
    };
    let version = world.cluster_version("").await.ok().flatten().unwrap_or_default();
    let kube_version =
        if version.git_version.is_empty() { "v1.34.0" } else { &version.git_version };
    // The same owner renders the same at any time: its age is the time, its id the seed.
    let at = ObjectRef::local(V1BETA1, "Application", owner.namespace, owner.app);
    let app = match owner.app {
        "" => Value::Null,
        _ => world.get(&at).await.map_err(explain)?.unwrap_or_default(),
    };
    let born = app["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
    let born: Option<DateTime<Utc>> = DateTime::parse_from_rfc3339(born).ok().map(|it| it.to_utc());
    let name = text(&params["release"]["name"], owner.name);
    let options = &params["options"];
    let is = |key: &str, default: bool| options[key].as_bool().unwrap_or(default);
    Ok(helm::Release {
        seed: format!("{}/{name}", text(&app["metadata"]["uid"], owner.app)),
        name,
        namespace: text(&params["release"]["namespace"], owner.namespace),
        revision: 1,
        kube_version: kube_version.to_owned(),
        api_versions: Vec::new(),
        now: born.unwrap_or(DateTime::UNIX_EPOCH),
        crds: is("includeCRDs", true),
        hooks: !is("skipHooks", false),
        tests: !is("skipTests", true),
    })
}

async fn values_from(
    world: &dyn World,
    from: &Value,
    namespace: &str,
) -> Result<Option<Value>, Trouble> {
    let text = |key: &str| from[key].as_str().unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    if !["ConfigMap", "Secret"].contains(&kind) {
        return Err(format!("values come from a ConfigMap or a Secret, not from {kind:?}"));
    }
    let at = if text("namespace").is_empty() { namespace } else { text("namespace") };
    let key = if text("key").is_empty() { "values.yaml" } else { text("key") };
    let live = world.get(&ObjectRef::local("v1", kind, at, name)).await.map_err(explain)?;
    let said = live.as_ref().and_then(|it| it["data"][key].as_str());
    let Some(said) = said else {
        if from["optional"] == true {
            return Ok(None);
        }
        return Err(format!("{kind} {name}: there is no key {key}"));
    };
    let said = match kind {
        "Secret" => {
            let bytes = STANDARD.decode(said).map_err(|error| format!("Secret {name}: {error}"))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => said.to_owned(),
    };
    let values: Value =
        serde_yaml::from_str(&said).map_err(|error| format!("{kind} {name}: {key}: {error}"))?;
    Ok(values.is_object().then_some(values))
}

/// Whether an address is that of a git repository.
fn is_git(address: &str) -> bool {
    let address = address.strip_prefix("git+").unwrap_or(address);
    address.ends_with(".git")
        || ["git@", "ssh://", "git://", "file://"].iter().any(|it| address.starts_with(it))
}

/// The files of a repository's folder; the whole repository where the folder may refer to others.
async fn checkout(
    world: &dyn World,
    source: &Value,
    (namespace, fresh): (&str, bool),
) -> Result<(Files, String), Trouble> {
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    let revision = [text("revision"), text("version")];
    let revision = revision.into_iter().find(|it| !it.is_empty() && *it != "latest");
    let what = Checkout {
        url: text("source").strip_prefix("git+").unwrap_or(text("source")).to_owned(),
        revision: revision.unwrap_or_default().to_owned(),
        login: login(world, source, namespace).await?,
        fresh,
    };
    let tree = world.checkout(&what).await.map_err(explain)?;
    Ok((tree.files, tree.commit))
}

async fn login(world: &dyn World, source: &Value, namespace: &str) -> Result<Login, Trouble> {
    let credentials =
        if source["auth"].is_object() { &source["auth"] } else { &source["credentials"] };
    git::login(world, credentials, namespace).await
}

async fn chart_files(
    world: &dyn World,
    chart: &Value,
    owner: &Owner<'_>,
) -> Result<Files, Trouble> {
    let text = |key: &str| chart[key].as_str().unwrap_or_default();
    let (source, path) = (text("source"), text("path"));
    if source.is_empty() {
        return Err("chart.source says where the chart is".into());
    }
    let repository = text("repoURL").trim_end_matches('/');
    let address = match repository.starts_with("oci://") {
        true => format!("{repository}/{source}"),
        false => source.to_owned(),
    };
    if address.starts_with("oci://") {
        let login = login(world, chart, owner.namespace).await?;
        let packed = registry::chart(world, &address, text("version"), &login).await?;
        return Files::from_archive(&packed).map_err(|error| format!("{address}: {error}"));
    }
    if is_git(source) || !path.is_empty() {
        let (files, _) = checkout(world, chart, (owner.namespace, owner.once)).await?;
        let inside = files.below(path);
        if inside.is_empty() {
            return Err(format!("{source}: there is no folder {path}"));
        }
        return Ok(inside);
    }
    let login = login(world, chart, owner.namespace).await?;
    let url = match text("repoURL") {
        "" if source.contains("://") => source.to_owned(),
        "" => return Err(format!("{source}: repoURL says in which repository this chart is")),
        repository => found(world, repository, source, text("version"), &login).await?,
    };
    let packed = world.download(&request(&url, &login)).await.map_err(explain)?;
    Files::from_archive(&packed).map_err(|error| format!("{url}: {error}"))
}

fn request(url: &str, login: &Login) -> HttpRequest {
    let mut request =
        HttpRequest { method: "GET".into(), url: url.to_owned(), ..HttpRequest::default() };
    if !login.password.is_empty() {
        let value = match login.user.as_str() {
            "" => format!("Bearer {}", login.password),
            user => format!("Basic {}", STANDARD.encode(format!("{user}:{}", login.password))),
        };
        request.headers.push(("Authorization".into(), value));
    }
    request
}

/// Where a helm repository has a chart: its newest version that is wanted.
async fn found(
    world: &dyn World,
    repository: &str,
    name: &str,
    version: &str,
    login: &Login,
) -> Result<String, Trouble> {
    let base = repository.trim_end_matches('/');
    let url = format!("{base}/index.yaml");
    let text = world.download(&request(&url, login)).await.map_err(explain)?;
    if text.len() > INDEX {
        return Err(format!("{url}: it is too long"));
    }
    let index: Value = serde_yaml::from_slice(&text).map_err(|error| format!("{url}: {error}"))?;
    let entries = index["entries"][name].as_array();
    let entries = entries.ok_or_else(|| format!("{repository}: there is no chart {name}"))?;
    let of = |it: &Value| it["version"].as_str().unwrap_or_default().to_owned();
    let known: Vec<String> = entries.iter().map(of).collect();
    let wanted = if version == "latest" { "" } else { version };
    let chosen = versions::newest(&known, wanted)
        .and_then(|at| entries.get(at))
        .ok_or_else(|| format!("{repository}: chart {name} has no version {version}"))?;
    let found = chosen["urls"][0].as_str();
    let found = found.ok_or_else(|| format!("{repository}: chart {name} has no address"))?;
    Ok(match found.contains("://") {
        true => found.to_owned(),
        false => format!("{base}/{found}"),
    })
}

/// `kustomize.#Build`: the Application that a folder holds, or its objects as a component, and a patch
/// laid over it.
pub(super) async fn build(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let params = &asked.params;
    let (files, commit) = checkout(with.world, params, (with.host.namespace(), true)).await?;
    let path = asked.text("path");
    let objects = match kustomize::is_one(&files, path) {
        true => kustomize::build(&files, path),
        false => kustomize::objects(&files, path),
    };
    let objects = objects.map_err(|error| error.0)?;
    if objects.is_empty() {
        return Err(format!("{}: there is nothing in {path:?}", asked.text("source")));
    }
    let mut spec = part_of(&objects, asked.text("name"))?;
    if params["patch"].is_object() {
        let patch = partial::spec_of(&params["patch"])
            .map_err(|error| error.replacen("application", "patch", 1))?;
        partial::lay(&mut spec, &patch)?;
    }
    let spec = serde_json::to_value(spec).unwrap_or_default();
    Ok(Done::Returns(json!({
        "resources": objects, "application": {"spec": spec}, "commit": commit,
    })))
}

/// What objects are of an Application: the Application among them, or a component that holds them all.
fn part_of(objects: &[Value], name: &str) -> Result<ApplicationSpec, Trouble> {
    let is_app = |it: &&Value| {
        it["kind"] == "Application"
            && it["apiVersion"].as_str().is_some_and(|it| it.starts_with("core.oam.dev/"))
    };
    let mut apps = objects.iter().filter(is_app);
    let spec = match (apps.next(), apps.next()) {
        (Some(_), Some(_)) => return Err("there is more than one Application".into()),
        (Some(app), None) => partial::spec_of(app)?,
        (None, _) => json!({"components": [
            {"name": name, "type": "k8s-objects", "properties": {"objects": objects}},
        ]}),
    };
    serde_json::from_value(spec).map_err(|error| error.to_string())
}
