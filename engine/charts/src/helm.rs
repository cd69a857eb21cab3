//! A chart rendered: values in, objects out.

use std::collections::BTreeSet;
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value as Plain, json};

use crate::Error;
use crate::chart::Chart;
use crate::template::{Run, Setting, Templates};
use crate::value::{Members, Value};
use crate::{functions, values};

/// What a chart is rendered for.
#[derive(Clone, Debug)]
pub struct Release {
    /// `.Release.Name`
    pub name: String,
    /// `.Release.Namespace`
    pub namespace: String,
    /// `.Release.Revision`
    pub revision: i64,
    /// `v1.31.0`
    pub kube_version: String,
    /// `apps/v1`, `apps/v1/Deployment`
    pub api_versions: Vec<String>,
    /// What `now` says.
    pub now: DateTime<Utc>,
    /// What chance is made of.
    pub seed: String,
    /// With the definitions of `crds/`.
    pub crds: bool,
    /// With hooks.
    pub hooks: bool,
    /// With tests, which are hooks too.
    pub tests: bool,
}

/// What a chart came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// Objects, those that others need first.
    pub objects: Vec<Plain>,
    /// `NOTES.txt`
    pub notes: String,
}

/// Kinds in the order in which they are wanted.
const ORDER: [&str; 34] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
];

/// API versions that every cluster of our time has.
const API_VERSIONS: [&str; 28] = [
    "v1",
    "v1/ConfigMap",
    "v1/Secret",
    "v1/Service",
    "v1/Pod",
    "apps/v1",
    "apps/v1/Deployment",
    "apps/v1/StatefulSet",
    "apps/v1/DaemonSet",
    "batch/v1",
    "batch/v1/Job",
    "batch/v1/CronJob",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1/Ingress",
    "networking.k8s.io/v1/NetworkPolicy",
    "policy/v1",
    "policy/v1/PodDisruptionBudget",
    "autoscaling/v1",
    "autoscaling/v2",
    "autoscaling/v2/HorizontalPodAutoscaler",
    "rbac.authorization.k8s.io/v1",
    "storage.k8s.io/v1",
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1/CustomResourceDefinition",
    "coordination.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "certificates.k8s.io/v1",
];

/// A chart in the tree of those that are switched on, with the values it gets.
struct Part<'a> {
    chart: &'a Chart,
    /// `cart/charts/db`
    path: String,
    name: String,
    values: Plain,
    parts: Vec<Part<'a>>,
}

/// Renders a chart with `given` values.
///
/// # Errors
/// What the chart, its values or a template says is wrong.
pub fn render(chart: &Chart, given: &Plain, release: &Release) -> Result<Rendered, Error> {
    if chart.about["type"] == "library" {
        return Err(Error(format!(
            "chart {} is a library: there is nothing to deliver",
            chart.name()
        )));
    }
    if let Some(wanted) = chart.about["kubeVersion"].as_str() {
        let known = functions::versions::Version::parse(&release.kube_version);
        let fits =
            known.is_none_or(|it| functions::versions::satisfies(&it, wanted).unwrap_or(true));
        if !fits {
            return Err(Error(format!(
                "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {}",
                release.kube_version
            )));
        }
    }
    let mut all = chart.values.clone();
    values::lay(&mut all, given);
    let root = part(chart, chart.name().to_owned(), chart.name().to_owned(), all)?;

    let mut templates = Templates::default();
    let mut files: Vec<(String, &str, usize)> = Vec::new();
    let mut scopes = Vec::new();
    collect(&root, &mut files, &mut scopes);
    // The chart's own come last, so that they win over those of its subcharts.
    files.sort_by_key(|it| (std::cmp::Reverse(it.0.matches('/').count()), it.0.clone()));
    for (path, text, _) in &files {
        templates.add(path, text)?;
    }
    let setting = Setting::new(release.now, &release.seed);
    let scopes: Vec<Value> = scopes.iter().map(|it| scope(it, release)).collect();
    link(&root, &scopes, &mut 0);

    let mut rendered = Rendered::default();
    let mut crds = Vec::new();
    if release.crds {
        of_crds(&root, &mut crds)?;
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, _, index) in &files {
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.starts_with('_') {
            continue;
        }
        let Some(Value::Dict(members)) = scopes.get(*index) else { continue };
        let folder = path.rfind("/templates/").map_or(path.as_str(), |at| &path[..at + 10]);
        members.borrow_mut().insert(
            "Template".into(),
            Value::dict(Members::from([
                ("Name".to_owned(), Value::text(path)),
                ("BasePath".to_owned(), Value::text(folder)),
            ])),
        );
        let dot = Value::Dict(members.clone());
        let text = Run::new(&templates, &setting, path).execute(&dot)?;
        if name == "NOTES.txt" {
            // Only what the chart itself says.
            if *index == 0 {
                rendered.notes = text;
            }
            continue;
        }
        if name.ends_with(".tpl") && !text.contains("kind:") {
            continue;
        }
        documents(path, &text, release, &mut rendered.objects)?;
    }
    let place = |it: &Plain| {
        let kind = it["kind"].as_str().unwrap_or_default();
        ORDER.iter().position(|it| *it == kind).unwrap_or(ORDER.len())
    };
    rendered.objects.sort_by_key(place);
    rendered.objects.splice(0..0, crds);
    Ok(rendered)
}

/// Lays values over values, as charts do: `null` takes away.
pub fn lay_values(under: &mut Plain, over: &Plain) {
    if over.is_object() {
        // What takes away must still be there when the chart's own values come.
        lay_all(under, over);
    }
}

fn lay_all(under: &mut Plain, over: &Plain) {
    match (under, over) {
        (Plain::Object(under), Plain::Object(over)) => {
            for (key, value) in over {
                match under.get_mut(key) {
                    Some(own) => lay_all(own, value),
                    None => {
                        under.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (under, over) => *under = over.clone(),
    }
}

fn part<'a>(
    chart: &'a Chart,
    path: String,
    name: String,
    mut own: Plain,
) -> Result<Part<'a>, Error> {
    if let Some(schema) = &chart.schema {
        fits(schema, &own, "").map_err(|error| {
            Error(format!(
                "values don't meet the specifications of the schema of chart {name}: {error}"
            ))
        })?;
    }
    let dependencies = chart.dependencies();
    let mut parts = Vec::new();
    let mut used = BTreeSet::new();
    for dependency in &dependencies {
        let wanted = dependency["name"].as_str().unwrap_or_default();
        let version = dependency["version"].as_str().unwrap_or_default();
        let fitting = |it: &&Chart| {
            let known = functions::versions::Version::parse(it.version());
            it.name() == wanted
                && known
                    .is_none_or(|it| functions::versions::satisfies(&it, version).unwrap_or(true))
        };
        let alias = dependency["alias"].as_str().unwrap_or(wanted).to_owned();
        let found = chart.subcharts.iter().find(fitting);
        let is_on = values::is_on(dependency, &own);
        used.insert(wanted.to_owned());
        let Some(subchart) = found else {
            if is_on {
                return Err(Error(format!(
                    "chart {name} depends on {wanted} {version}, which is not in its folder charts/"
                )));
            }
            continue;
        };
        if !is_on {
            continue;
        }
        let mut below = subchart.values.clone();
        values::lay(&mut below, &values::of_subchart(&own, &alias));
        values::import(dependency, &below, &mut own);
        let path = format!("{path}/charts/{alias}");
        parts.push(part(subchart, path, alias, below)?);
    }
    for subchart in chart.subcharts.iter().filter(|it| !used.contains(it.name())) {
        let mut below = subchart.values.clone();
        values::lay(&mut below, &values::of_subchart(&own, subchart.name()));
        let path = format!("{path}/charts/{}", subchart.name());
        parts.push(part(subchart, path, subchart.name().to_owned(), below)?);
    }
    // A chart sees what its subcharts were given.
    for it in &parts {
        if let Plain::Object(own) = &mut own {
            own.insert(it.name.clone(), it.values.clone());
        }
    }
    Ok(Part { chart, path, name, values: own, parts })
}

fn collect<'a, 'b>(
    part: &'b Part<'a>,
    files: &mut Vec<(String, &'a str, usize)>,
    scopes: &mut Vec<&'b Part<'a>>,
) {
    let index = scopes.len();
    scopes.push(part);
    for (path, text) in &part.chart.templates {
        // What only a library says is not printed.
        let quiet = part.chart.about["type"] == "library";
        if quiet && !path.rsplit('/').next().is_some_and(|it| it.starts_with('_')) {
            continue;
        }
        files.push((format!("{}/{path}", part.path), text, index));
    }
    part.parts.iter().for_each(|it| collect(it, files, scopes));
}

/// What templates of a chart see as dot.
fn scope(part: &Part<'_>, release: &Release) -> Value {
    let text = |it: &str| Value::text(it);
    let dict = |pairs: Vec<(&str, Value)>| {
        Value::dict(pairs.into_iter().map(|(key, it)| (key.to_owned(), it)).collect())
    };
    // `.Chart.AppVersion`: Go's names, with a capital.
    let mut about = Members::new();
    for (key, value) in part.chart.about.as_object().into_iter().flatten() {
        let named = key[..1].to_uppercase() + &key[1..];
        let named = if key == "apiVersion" { "APIVersion".to_owned() } else { named };
        let value = match value {
            // A version that looks like a number is a text all the same.
            Plain::Number(it) if key.ends_with("ersion") => Value::text(it.to_string()),
            other => Value::of(other),
        };
        about.insert(named, value);
    }
    about.insert("Name".into(), text(&part.name));
    about.insert("IsRoot".into(), Value::Bool(!part.path.contains('/')));
    let version = functions::versions::Version::parse(&release.kube_version);
    let parts = version.map_or([1, 34, 0], |it| it.parts);
    let mut known: BTreeSet<String> = API_VERSIONS.iter().map(|it| (*it).to_owned()).collect();
    known.extend(release.api_versions.iter().cloned());
    dict(vec![
        ("Values", Value::of(&part.values)),
        ("Chart", Value::dict(about)),
        ("Files", Value::Files(Rc::new(part.chart.files.clone()))),
        (
            "Release",
            dict(vec![
                ("Name", text(&release.name)),
                ("Namespace", text(&release.namespace)),
                ("Service", text("Helm")),
                ("IsInstall", Value::Bool(release.revision <= 1)),
                ("IsUpgrade", Value::Bool(release.revision > 1)),
                ("Revision", Value::Int(release.revision)),
            ]),
        ),
        (
            "Capabilities",
            dict(vec![
                (
                    "KubeVersion",
                    dict(vec![
                        ("Version", text(&release.kube_version)),
                        ("GitVersion", text(&release.kube_version)),
                        ("Major", text(&parts[0].to_string())),
                        ("Minor", text(&parts[1].to_string())),
                    ]),
                ),
                ("APIVersions", Value::Versions(Rc::new(known))),
                (
                    "HelmVersion",
                    dict(vec![
                        ("Version", text("v3.19.0")),
                        ("GoVersion", text("")),
                        ("GitCommit", text("")),
                    ]),
                ),
            ]),
        ),
    ])
}

/// `.Subcharts`: what those below see, by name.
fn link(part: &Part<'_>, scopes: &[Value], next: &mut usize) {
    let own = *next;
    *next += 1;
    let mut below = Members::new();
    for it in &part.parts {
        let at = *next;
        link(it, scopes, next);
        if let Some(scope) = scopes.get(at) {
            below.insert(it.name.clone(), scope.clone());
        }
    }
    if let Some(Value::Dict(members)) = scopes.get(own) {
        members.borrow_mut().insert("Subcharts".into(), Value::dict(below));
    }
}

fn of_crds(part: &Part<'_>, all: &mut Vec<Plain>) -> Result<(), Error> {
    for (path, text) in &part.chart.crds {
        each(path, text, |object| all.push(object))?;
    }
    part.parts.iter().try_for_each(|it| of_crds(it, all))
}

/// Every document of a text that says something.
fn each(path: &str, text: &str, mut take: impl FnMut(Plain)) -> Result<(), Error> {
    for document in serde_yaml::Deserializer::from_str(text) {
        let object = Plain::deserialize(document)
            .map_err(|error| Error(format!("YAML parse error on {path}: {error}")))?;
        if !object.is_null() {
            take(object);
        }
    }
    Ok(())
}

fn documents(path: &str, text: &str, release: &Release, all: &mut Vec<Plain>) -> Result<(), Error> {
    let mut wrong = None;
    each(path, text, |object| {
        if !object.is_object() || object["kind"].as_str().is_none_or(str::is_empty) {
            wrong.get_or_insert_with(|| format!("{path}: an object has no kind: {object}"));
            return;
        }
        let hook = object["metadata"]["annotations"]["helm.sh/hook"].as_str().unwrap_or_default();
        let test = hook.split(',').any(|it| it.trim().starts_with("test"));
        if !hook.is_empty() && (!release.hooks || test && !release.tests) {
            return;
        }
        match object["items"].as_array() {
            Some(items) if object["kind"] == "List" => all.extend(items.iter().cloned()),
            _ => all.push(object),
        }
    })?;
    wrong.map_or(Ok(()), |it| Err(Error(it)))
}

/// The part of a schema that charts use most: types, required members, choices, bounds, patterns.
fn fits(schema: &Plain, value: &Plain, at: &str) -> Result<(), String> {
    let place = if at.is_empty() { "(root)" } else { at };
    let wrong = |reason: String| Err(format!("{place}: {reason}"));
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        _ => true,
    };
    let types: Vec<&str> = match &schema["type"] {
        Plain::String(one) => vec![one],
        Plain::Array(many) => many.iter().filter_map(Plain::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|it| is(it)) {
        return wrong(format!("Invalid type. Expected: {}, given: {value}", types.join(" or ")));
    }
    if let Some(choices) = schema["enum"].as_array().filter(|it| !it.contains(value)) {
        return wrong(format!("{value} is none of {}", json!(choices)));
    }
    if let Some(number) = value.as_f64() {
        if schema["minimum"].as_f64().is_some_and(|it| number < it) {
            return wrong(format!("Must be greater than or equal to {}", schema["minimum"]));
        }
        if schema["maximum"].as_f64().is_some_and(|it| number > it) {
            return wrong(format!("Must be less than or equal to {}", schema["maximum"]));
        }
    }
    if let Some(text) = value.as_str() {
        if let Some(pattern) = schema["pattern"].as_str().and_then(|it| regex::Regex::new(it).ok())
            && !pattern.is_match(text)
        {
            return wrong(format!("Does not match pattern {}", schema["pattern"]));
        }
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if schema["minLength"].as_u64().is_some_and(|it| length < it) {
            return wrong(format!(
                "String length must be greater than or equal to {}",
                schema["minLength"]
            ));
        }
    }
    if let Some(members) = value.as_object() {
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Plain::as_str);
        if let Some(missing) = { required }.find(|it| !members.contains_key(*it)) {
            return wrong(format!("{missing} is required"));
        }
        for (key, value) in members {
            let below = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            match (&schema["properties"][key.as_str()], &schema["additionalProperties"]) {
                (known @ Plain::Object(_), _) => fits(known, value, &below)?,
                (_, Plain::Bool(false)) => {
                    return wrong(format!("Additional property {key} is not allowed"));
                }
                (_, more @ Plain::Object(_)) => fits(more, value, &below)?,
                _ => {}
            }
        }
    }
    if let (Some(items), Plain::Object(_)) = (value.as_array(), &schema["items"]) {
        for (index, item) in items.iter().enumerate() {
            fits(&schema["items"], item, &format!("{at}[{index}]"))?;
        }
    }
    Ok(())
}
