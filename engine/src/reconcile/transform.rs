//! Policies of scope `Application` speak before the Application is looked at (E-90 to E-93).

use chrono::SecondsFormat;
use serde_json::{Map, Value, json};

use super::adoption::Adoption;
use super::{Engine, definitions};
use crate::api::names::label;
use crate::api::policies::BUILT_IN;
use crate::api::{AppPolicy, Application, ApplicationRevision, ApplicationSpec};
use crate::api::{Definition, DefinitionKind, V1BETA1};
use crate::policy::scoped::{self, Said, Scoped};
use crate::render::{Definitions, Templates};
use crate::revision::{canonical, spec_hash};
use crate::world::{Apply, Error, EventKind, ObjectRef, PatchKind};

/// The scope.
const SCOPE: &str = "Application";
/// Where global policies are.
const SYSTEM: &str = "vela-system";
/// Annotation: what policies change makes a revision though nobody wrote anything.
pub(super) const AUTO_REVISION: &str = "policy.oam.dev/auto-revision";
/// Annotation: this Application hears no global policies.
const SKIP_GLOBAL: &str = "policy.oam.dev/skip-global";

/// What the policies came to, besides what they changed.
#[derive(Default)]
pub(super) struct Transformed {
    /// `context.custom`
    pub(super) custom: Option<Value>,
    /// Definitions of those that were heard, and the revision each had.
    pub(super) heard: Vec<(String, Definition)>,
    /// Policies whose definitions were not there.
    missed: Vec<AppPolicy>,
}

impl Transformed {
    /// That no policy was passed over whose definition has come up since: what was read of the Application lacks
    /// what that policy says.
    ///
    /// # Errors
    /// One was; the next pass hears it.
    pub(super) fn check(&self, app: &Application, definitions: &Definitions) -> Result<(), Error> {
        let came_up = |it: &&AppPolicy| {
            let found = definitions.get(DefinitionKind::Policy, &it.r#type, app.namespace(), false);
            found.is_some_and(|it| it.spec.scope == SCOPE)
        };
        match self.missed.iter().find(came_up) {
            Some(policy) => Err(Error::Unavailable(format!(
                "policy {}: the PolicyDefinition {} came up while the Application was read",
                policy.name, policy.r#type
            ))),
            None => Ok(()),
        }
    }
}

/// Lets the policies change `app`; what they did is in its status.
///
/// # Errors
/// A policy that the Application names cannot be heard.
pub(super) async fn transform(
    engine: &Engine<'_>,
    app: &mut Application,
    live: &Value,
    adoption: &Adoption<'_>,
) -> Result<Transformed, Error> {
    let before = std::mem::take(&mut app.status.applied_application_policies);
    if !engine.settings.gates.application_policies {
        return Ok(Transformed::default());
    }
    let (all, missed) = find(engine, app).await?;
    if all.is_empty() {
        app.status.application_policies_config_map.clear();
        return Ok(Transformed { missed, ..Transformed::default() });
    }
    adoption.end(app).await?;
    let written = app.spec.clone();
    let labels = (app.metadata.labels.clone(), app.metadata.annotations.clone());
    let templates = Templates::new(engine.runtime, engine.render_library);
    let mut custom = Map::new();
    let mut rows = Vec::new();
    let mut told = Vec::new();
    let mut changes = false;
    let mut given = [Map::new(), Map::new()];
    let mut heard = Vec::new();
    for (index, scoped) in all.iter().enumerate() {
        let spec = app.spec.clone();
        let name = &scoped.policy.name;
        let said = scoped::ask(templates, scoped, app, &custom)
            .and_then(|said| scoped::lay(&said, app, &mut custom).map(|()| said));
        match said {
            Ok(said) => {
                changes |= said.changes_spec();
                for (key, all) in ["labels", "annotations"].iter().zip(&mut given) {
                    all.extend(said.map(key).cloned().unwrap_or_default());
                }
                told.push(audit(index, scoped, &said, &spec, &app.spec));
                rows.push(row(scoped, &said, ""));
            }
            Err(error) if scoped.global => rows.push(row(scoped, &Said::default(), &error)),
            Err(error) => {
                return Err(Error::Invalid(format!(
                    "failed to render explicit policy {name:?}: {error}"
                )));
            }
        }
        let key = if scoped.global { &scoped.definition.metadata.name } else { name };
        heard.push((key.clone(), scoped.definition.clone()));
    }
    let settled = app.status.observed_generation == app.metadata.generation;
    if changes && settled && app.annotation(AUTO_REVISION) != "true" {
        // A policy alone rolls nothing out.
        if let Some(spec) = recorded(engine, app).await? {
            app.spec = spec;
        }
    }
    if labels != (app.metadata.labels.clone(), app.metadata.annotations.clone()) {
        write_back(engine, app, &labels).await?;
    }
    let name = map_name(app);
    if rows != before || app.status.application_policies_config_map != name || !settled {
        let spec = if changes { value(&app.spec) } else { Value::Null };
        let rendered = &spec["components"];
        let data = data(engine, app, &written, told, (given, &custom), rendered);
        keep(engine, app, &name, data).await?;
        if rows != before {
            announce(engine, live, &rows).await?;
        }
    }
    app.status.application_policies_config_map = name;
    app.status.applied_application_policies = rows;
    let custom = (!custom.is_empty()).then_some(Value::Object(custom));
    Ok(Transformed { custom, heard, missed })
}

/// The policies, in the order in which they speak, and those without a definition.
async fn find(
    engine: &Engine<'_>,
    app: &Application,
) -> Result<(Vec<Scoped>, Vec<AppPolicy>), Error> {
    let (mut all, mut missed) = (Vec::new(), Vec::new());
    let defined = app.spec.policies.iter().filter(|it| !BUILT_IN.contains(&it.r#type.as_str()));
    for policy in defined {
        let found = definitions::look_up(engine, app, DefinitionKind::Policy, &policy.r#type);
        let Some(definition) = found.await? else {
            missed.push(policy.clone());
            continue;
        };
        if definition.spec.scope != SCOPE {
            continue;
        }
        if definition.spec.global {
            return Err(Error::Invalid(format!(
                "invalid policy reference: {0}: policy '{0}' is marked as Global and cannot be explicitly referenced in Application spec",
                policy.r#type
            )));
        }
        all.push(Scoped { policy: policy.clone(), definition, global: false });
    }
    let global = engine.settings.gates.global_policies && app.annotation(SKIP_GLOBAL) != "true";
    let places =
        if app.namespace() == SYSTEM { vec![SYSTEM] } else { vec![SYSTEM, app.namespace()] };
    for namespace in places.into_iter().filter(|_| global) {
        let of = ObjectRef::local(V1BETA1, DefinitionKind::Policy.kind(), namespace, "");
        for live in engine.world.list(&of, "").await? {
            let Ok(definition) = serde_json::from_value::<Definition>(live) else { continue };
            if !definition.spec.global || definition.spec.scope != SCOPE {
                continue;
            }
            let name = definition.metadata.name.clone();
            let policy = AppPolicy { name: name.clone(), r#type: name, ..AppPolicy::default() };
            all.push(Scoped { policy, definition, global: true });
        }
    }
    scoped::sort(&mut all);
    Ok((all, missed))
}

/// The spec of the latest revision.
async fn recorded(
    engine: &Engine<'_>,
    app: &Application,
) -> Result<Option<ApplicationSpec>, Error> {
    let Some(latest) = &app.status.latest_revision else { return Ok(None) };
    let at = ObjectRef::local(V1BETA1, "ApplicationRevision", app.namespace(), &latest.name);
    let live = engine.world.get(&at).await?;
    let found = live.and_then(|it| serde_json::from_value::<ApplicationRevision>(it).ok());
    Ok(found.map(|it| it.spec.application.spec))
}

type Texts = crate::api::object::StringMap;

/// Labels and annotations that policies give are written to the live object.
async fn write_back(
    engine: &Engine<'_>,
    app: &mut Application,
    before: &(Texts, Texts),
) -> Result<(), Error> {
    let new = |now: &Texts, old: &Texts| -> Map<String, Value> {
        let changed = now.iter().filter(|(key, value)| old.get(*key) != Some(*value));
        changed.map(|(key, value)| (key.clone(), value.as_str().into())).collect()
    };
    let body = json!({"metadata": {
        "labels": new(&app.metadata.labels, &before.0),
        "annotations": new(&app.metadata.annotations, &before.1),
    }});
    match engine.world.patch(&super::place(app), PatchKind::Merge, &body).await {
        Ok(patched) => {
            let version = patched["metadata"]["resourceVersion"].as_str().unwrap_or_default();
            app.metadata.resource_version = version.to_owned();
            Ok(())
        }
        Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The row in `status.appliedApplicationPolicies`; what is nothing is left out.
fn row(scoped: &Scoped, said: &Said, error: &str) -> Value {
    let applied = said.enabled && error.is_empty();
    let mut row = json!({
        "name": scoped.policy.name,
        "type": scoped.policy.r#type,
        "namespace": scoped.definition.metadata.namespace,
        "source": if scoped.global { "global" } else { "explicit" },
        "applied": applied,
    });
    if let Some(latest) = &scoped.definition.status.latest_revision {
        row["definitionRevisionName"] = latest.name.as_str().into();
        row["revision"] = latest.revision.into();
        row["revisionHash"] = latest.revision_hash.as_str().into();
    }
    let count = |key: &str| said.map(key).map_or(0, Map::len);
    for (key, count) in
        [("labelsCount", count("labels")), ("annotationsCount", count("annotations"))]
    {
        if count > 0 {
            row[key] = count.into();
        }
    }
    for (key, is) in [("specModified", said.changes_spec()), ("hasContext", count("ctx") > 0)] {
        if is {
            row[key] = true.into();
        }
    }
    if !error.is_empty() {
        row["error"] = true.into();
        row["message"] = format!("render error: {error}").into();
    } else if !applied {
        row["message"] = "enabled=false".into();
    }
    row
}

/// What is kept of one policy for those who want to know later: key and text.
fn audit(
    index: usize,
    scoped: &Scoped,
    said: &Said,
    before: &ApplicationSpec,
    after: &ApplicationSpec,
) -> Option<(String, String)> {
    if !said.enabled {
        return None;
    }
    let latest = scoped.definition.status.latest_revision.clone().unwrap_or_default();
    let mut output = said.output.clone();
    if said.changes_spec() {
        let (old, new) = (value(before), value(after));
        let diff = serde_json::to_value(json_patch::diff(&old, &new)).unwrap_or_default();
        output.insert("spec".into(), json!({"after": new, "before": old, "diff": diff}));
    }
    output.sort_keys();
    let mut all = json!({
        "name": scoped.policy.name,
        "namespace": scoped.definition.metadata.namespace,
        "definitionRevisionName": latest.name,
        "revision": latest.revision,
        "revisionHash": latest.revision_hash,
        "priority": scoped.definition.spec.priority,
        "enabled": true,
        "output": output,
    });
    if let Some(map) = all.as_object_mut() {
        map.sort_keys();
    }
    Some((format!("{:03}-{}", index + 1, scoped.policy.name), pretty(&all)))
}

/// A spec as an API server gives it: what has no schema is sorted.
fn value(spec: &ApplicationSpec) -> Value {
    let mut value = serde_json::to_value(spec).unwrap_or_default();
    for list in ["components", "policies"] {
        let parts = value.get_mut(list).and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            sort_properties(part);
            let traits = part.get_mut("traits").and_then(Value::as_array_mut);
            for each in traits.into_iter().flatten() {
                sort_properties(each);
            }
        }
    }
    value
}

fn sort_properties(of: &mut Value) {
    if let Some(properties) = of.get_mut("properties") {
        properties.sort_all_objects();
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// What the ConfigMap holds.
fn data(
    engine: &Engine<'_>,
    app: &Application,
    written: &ApplicationSpec,
    told: Vec<Option<(String, String)>>,
    (given, custom): ([Map<String, Value>; 2], &Map<String, Value>),
    rendered: &Value,
) -> Map<String, Value> {
    let [labels, annotations] = given;
    let total = told.len();
    let told: Vec<(String, String)> = told.into_iter().flatten().collect();
    let info = json!({
        "application_hash": spec_hash(written, &canonical::text),
        "auto_revision": app.annotation(AUTO_REVISION) == "true",
        "cache_hit": false,
        "enabled_policies": told.len(),
        "rendered_at": engine.world.now().to_rfc3339_opts(SecondsFormat::Secs, true),
        "total_policies": total,
    });
    let metadata = json!({
        "annotations": annotations,
        "context": custom,
        "labels": labels,
    });
    let mut data: Map<String, Value> =
        told.into_iter().map(|(key, text)| (key, text.into())).collect();
    data.insert("applied_spec".into(), pretty(&value(&app.spec)).into());
    data.insert("info".into(), pretty(&info).into());
    data.insert("metadata".into(), pretty(&metadata).into());
    data.insert("rendered_spec".into(), pretty(&json!({"components": rendered})).into());
    data
}

/// `application-policies-<namespace>-<name>`, cut to what a name may have.
fn map_name(app: &Application) -> String {
    use sha2::{Digest, Sha256};
    let name = format!("application-policies-{}-{}", app.namespace(), app.metadata.name);
    if name.len() <= 253 {
        return name;
    }
    let key = format!("{}/{}", app.namespace(), app.metadata.name);
    let hash: String =
        Sha256::digest(key.as_bytes()).iter().take(4).map(|it| format!("{it:02x}")).collect();
    let cut = name.floor_char_boundary(244);
    format!("{}-{hash}", &name[..cut])
}

async fn keep(
    engine: &Engine<'_>,
    app: &Application,
    name: &str,
    data: Map<String, Value>,
) -> Result<(), Error> {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": app.namespace(),
            "labels": {
                "app.oam.dev/application-policies": "true",
                (label::APP_NAME): app.metadata.name,
                (label::APP_NAMESPACE): app.namespace(),
                (label::APP_UID): app.metadata.uid,
            },
            "ownerReferences": [{
                "apiVersion": V1BETA1,
                "kind": "Application",
                "name": app.metadata.name,
                "uid": app.metadata.uid,
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "data": data,
    });
    engine.world.apply(&object, "", Apply::FORCED).await.map(drop)
}

async fn announce(engine: &Engine<'_>, live: &Value, rows: &[Value]) -> Result<(), Error> {
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let global = text("source") == "global";
        let (prefix, of) = if global { ("Global", "global ") } else { ("", "") };
        let name = text("name");
        let (kind, reason, message) = if row["applied"] == true {
            let from = format!(" from namespace {}", text("namespace"));
            let from = if global { from.as_str() } else { "" };
            (EventKind::Normal, "PolicyApplied", format!("Applied {of}policy {name}{from}"))
        } else if row["error"] == true {
            let why = text("message").trim_start_matches("render error: ");
            (
                EventKind::Warning,
                "PolicyFailed",
                format!("failed to render {of}policy {name}: {why}"),
            )
        } else {
            (
                EventKind::Normal,
                "PolicySkipped",
                format!("Skipped {of}policy {name}: {}", text("message")),
            )
        };
        engine.world.event(live, kind, &format!("{prefix}{reason}"), &message).await?;
    }
    Ok(())
}
