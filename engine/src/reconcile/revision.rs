//! Which revision this is: the latest, an earlier one again, or a new one, recorded with what it
//! renders to (E-12, E-33 to E-40).

use serde_json::{Value, json};

use super::Engine;
use super::definitions::waits_for;
use super::transform::AUTO_REVISION;
use crate::api::names::{annotation, label};
use crate::api::object::{self, RevisionName};
use crate::api::revision::ApplicationRevisionSpec;
use crate::api::{Application, ApplicationRevision, Stage, V1BETA1, WorkflowStep};
use crate::delivery::Trackers;
use crate::render::{Context, Definitions, Templates, render_component};
use crate::revision::resources::{self, Entry};
use crate::revision::{Captured, build, name_of, next_name};
use crate::workflow::actions::rendering;
use crate::world::{Error, ObjectRef};

/// Bytes of rendered resources in one ConfigMap.
const RESOURCES_LIMIT: usize = 800_000;

/// Revisions up to this number are named when they go; of Applications with more, most are gone already.
const NAMED: i64 = 3;

/// What a pass works with.
pub(super) struct Revised {
    /// Name of the ApplicationRevision.
    pub(super) name: String,
    /// It became the latest in this pass.
    pub(super) is_new: bool,
    /// What it consists of, if that is to be written.
    pub(super) unwritten: Vec<Value>,
}

/// Where a revision is.
pub(super) fn at(app: &Application, name: &str) -> ObjectRef {
    ObjectRef::local(V1BETA1, "ApplicationRevision", app.namespace(), name)
}

/// A published version that was delivered before: all is made from what was recorded (E-12).
pub(super) async fn published(
    engine: &Engine<'_>,
    app: &mut Application,
) -> Result<Option<ApplicationRevisionSpec>, Error> {
    let version = app.annotation(annotation::PUBLISH_VERSION);
    let Some(latest) = app.status.latest_revision.as_ref().filter(|_| !version.is_empty()) else {
        return Ok(None);
    };
    let Some(live) = engine.world.get(&at(app, &latest.name)).await? else { return Ok(None) };
    if object::annotation(&live, annotation::PUBLISH_VERSION) != Some(version) {
        return Ok(None);
    }
    let Some(recorded) = content(live) else { return Ok(None) };
    app.spec = recorded.application.spec.clone();
    Ok(Some(recorded))
}

fn content(live: Value) -> Option<ApplicationRevisionSpec> {
    serde_json::from_value::<ApplicationRevision>(live).ok().map(|it| it.spec)
}

/// Finds the revision of what is asked for now, or says what is to be written of a new one; `whole` is the
/// Application with the objects it refers to.
pub(super) async fn revise(
    engine: &Engine<'_>,
    (app, whole, custom): (&mut Application, &Application, Option<&Value>),
    captured: Captured,
    definitions: &Definitions,
    (steps, trackers): (&[WorkflowStep], &Trackers),
) -> Result<Revised, Error> {
    if is_latest(engine, app, &captured, trackers).await? {
        let name = app.status.latest_revision.as_ref().map(|it| it.name.clone());
        let unwritten = Vec::new();
        return Ok(Revised { name: name.unwrap_or_default(), is_new: false, unwritten });
    }
    let (name, number) = next_name(app);
    let revision = build(app, captured, &name);
    let hash = revision.metadata.labels.get(label::APP_REVISION_HASH).cloned().unwrap_or_default();
    if let Some(earlier) = earlier(engine, app, &name, &hash).await? {
        let name = earlier.name.clone();
        app.status.latest_revision = Some(earlier);
        return Ok(Revised { name, is_new: true, unwritten: Vec::new() });
    }
    let unwritten = record(engine, (whole, custom), &revision, definitions, steps).await?;
    app.status.latest_revision = Some(RevisionName {
        name: name.clone(),
        revision: number,
        revision_hash: hash,
        ..Default::default()
    });
    Ok(Revised { name, is_new: true, unwritten })
}

/// Whether the latest revision says what the Application says now (E-33, 2 to 4). A change of a
/// definition alone makes no revision, but under `autoUpdate` (E-36).
async fn is_latest(
    engine: &Engine<'_>,
    app: &Application,
    captured: &Captured,
    trackers: &Trackers,
) -> Result<bool, Error> {
    let Some(latest) = &app.status.latest_revision else { return Ok(false) };
    let auto = app.metadata.annotations.contains_key(annotation::AUTO_UPDATE);
    if auto {
        let revision = build(app, captured.clone(), &latest.name);
        let hash = revision.metadata.labels.get(label::APP_REVISION_HASH);
        return Ok(hash == Some(&latest.revision_hash));
    }
    // The tracker of this generation says which revision was delivered under it.
    let external = captured.workflow.is_some() || !captured.external_policies.is_empty();
    // Steps before rendering may have given something else than the last time.
    let early = app.spec.workflow.iter().flat_map(|it| &it.steps).any(WorkflowStep::is_early);
    let follows = early || app.annotation(AUTO_REVISION) == "true";
    if !external && !follows && trackers.delivered() == Some(latest.name.as_str()) {
        return Ok(true);
    }
    let Some(live) = engine.world.get(&at(app, &latest.name)).await? else { return Ok(false) };
    let published = object::annotation(&live, annotation::PUBLISH_VERSION).unwrap_or_default();
    if published != app.annotation(annotation::PUBLISH_VERSION) {
        return Ok(false);
    }
    let Some(recorded) = content(live) else { return Ok(false) };
    let policies = |all: &mut dyn Iterator<Item = (String, Option<Value>)>| {
        let mut all: Vec<_> = all.map(|it| format!("{it:?}")).collect();
        all.sort();
        all
    };
    let before = policies(
        &mut recorded.policies.values().map(|it| (it.r#type.clone(), it.properties.clone())),
    );
    let now = policies(
        &mut captured.external_policies.iter().map(|it| (it.r#type.clone(), it.properties.clone())),
    );
    Ok(recorded.application.spec == app.spec
        && before == now
        && recorded.workflow.as_ref().map(|it| &it.steps)
            == captured.workflow.as_ref().map(|it| &it.steps))
}

/// An older revision of the same content and version (E-33, 5). One that has the `next` name may
/// have been left half written.
async fn earlier(
    engine: &Engine<'_>,
    app: &Application,
    next: &str,
    hash: &str,
) -> Result<Option<RevisionName>, Error> {
    if app.status.latest_revision.is_none() {
        return Ok(None);
    }
    let labels =
        format!("{}={},{}={hash}", label::APP_NAME, app.metadata.name, label::APP_REVISION_HASH);
    let version = app.annotation(annotation::PUBLISH_VERSION);
    let found = engine.world.list(&at(app, ""), &labels).await?;
    let same = found.iter().find(|it| {
        object::annotation(it, annotation::PUBLISH_VERSION).unwrap_or_default() == version
            && object::name(it) != next
    });
    Ok(same.map(|it| RevisionName {
        name: object::name(it).to_owned(),
        revision: number(object::name(it)),
        revision_hash: hash.to_owned(),
        ..Default::default()
    }))
}

/// The number at the end of a revision's name.
fn number(name: &str) -> i64 {
    name.rsplit_once("-v").and_then(|it| it.1.parse().ok()).unwrap_or(0)
}

/// A revision and the ConfigMaps of what it renders to. The status names it when all of it is there; until
/// then it is written anew.
async fn record(
    engine: &Engine<'_>,
    (app, custom): (&Application, Option<&Value>),
    revision: &ApplicationRevision,
    definitions: &Definitions,
    steps: &[WorkflowStep],
) -> Result<Vec<Value>, Error> {
    let name = &revision.metadata.name;
    let mut context = Context::of(app, name);
    context.cluster_version = engine.cluster_version.clone();
    context.custom = custom.cloned();
    let templates = Templates::new(engine.runtime, engine.render_library);
    let mut entries = Vec::new();
    for component in &app.spec.components {
        let waits = waits_for(component, steps);
        if !waits.is_empty() {
            entries.push((component.name.clone(), Entry::Waiting(waits)));
            continue;
        }
        // What is rendered from a live status cannot be known yet.
        let skip = |stage| stage == Stage::PostDispatch;
        let rendered = rendering::rendered(engine.objects, app.namespace(), |actor| {
            render_component(templates, definitions, &context, component, &skip, actor)
        })
        .await
        .map_err(Error::Invalid)?;
        entries.push((component.name.clone(), Entry::Rendered(rendered)));
    }
    let app_name = &app.metadata.name;
    let maps = resources::config_maps(app_name, app.namespace(), name, &entries, RESOURCES_LIMIT);
    let mut object = serde_json::to_value(revision).unwrap_or_default();
    if let Some(first) = maps.first() {
        object["spec"]["resourcesConfigMap"] = json!({"name": first["metadata"]["name"]});
    }
    let owner = json!([{
        "apiVersion": V1BETA1,
        "kind": "Application",
        "name": app_name,
        "uid": app.metadata.uid,
        "controller": true,
    }]);
    object["metadata"]["ownerReferences"] = owner.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    // The version that was read says nothing about what is recorded.
    if let Some(meta) = object["spec"]["application"]["metadata"].as_object_mut() {
        meta.remove("resourceVersion");
    }
    let mut all = vec![object];
    for mut map in maps {
        map["metadata"]["ownerReferences"] = owner.clone();
        all.push(map);
    }
    Ok(all)
}

/// All revisions of an Application.
async fn listed(engine: &Engine<'_>, app: &Application) -> Result<Vec<Value>, Error> {
    let labels = format!("{}={}", label::APP_NAME, app.metadata.name);
    engine.world.list(&at(app, ""), &labels).await
}

/// Names of all revisions there can be that nobody removes yet. Few are named one by one: a list by label
/// costs every server a look at the revisions of all Applications.
pub(super) async fn names(engine: &Engine<'_>, app: &Application) -> Result<Vec<String>, Error> {
    let newest = app.status.latest_revision.as_ref().map_or(0, |it| it.revision);
    if (1..=NAMED).contains(&newest) {
        // One more may have been made before the status told of it.
        return Ok((1..=newest + 1).map(|it| name_of(app, it)).collect());
    }
    let all = listed(engine, app).await?;
    let there = all.iter().filter(|it| it["metadata"]["deletionTimestamp"].is_null());
    Ok(there.map(|it| object::name(it).to_owned()).collect())
}

/// Deletes the oldest revisions over the limit (E-58).
pub(super) async fn limit(
    engine: &Engine<'_>,
    app: &Application,
    current: &str,
    limit: usize,
) -> Result<(), Error> {
    let newest = app.status.latest_revision.as_ref().map_or(0, |it| it.revision);
    if usize::try_from(newest).unwrap_or(0) <= limit {
        return Ok(());
    }
    let mut all: Vec<(i64, String)> = listed(engine, app)
        .await?
        .iter()
        .map(|it| object::name(it).to_owned())
        .filter(|it| it != current)
        .map(|it| (number(&it), it))
        .collect();
    all.sort_unstable();
    let extra = all.len().saturating_sub(limit);
    for (_, name) in all.into_iter().take(extra) {
        engine.world.delete(&at(app, &name)).await?;
        let map = format!("{name}-resources");
        let place = ObjectRef::local("v1", "ConfigMap", app.namespace(), &map);
        engine.world.delete(&place).await?;
    }
    Ok(())
}
