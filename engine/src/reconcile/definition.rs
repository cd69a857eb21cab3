//! A definition is recorded whenever it changes, with the schema of its parameters (E-24).
//!
//! ~~~text
//! definition ─ DefinitionRevision ─ ConfigMaps of its schema ─ status ─ old revisions go
//! ~~~
//! Everything is named after what it is of: a death in between leaves nothing that is not found again.

use chrono::SecondsFormat;
use serde_json::{Map, Value, json};

use super::{Engine, Next};
use crate::api::names::{SCHEMA_KEY, annotation, label};
use crate::api::object::{self, ObjectMeta, RevisionName};
use crate::api::{Condition, Definition, DefinitionKind, V1BETA1};
use crate::records;
use crate::render::Templates;
use crate::revision::definition_hash;
use crate::schema;
use crate::world::{Apply, Error, ObjectRef};

/// Annotation that names the revision.
const REVISION: &str = "definitionrevision.oam.dev/name";

/// Records one definition.
///
/// # Errors
/// What kept something from being read or written.
pub async fn reconcile_definition(
    engine: &Engine<'_>,
    kind: DefinitionKind,
    namespace: &str,
    name: &str,
) -> Result<Next, Error> {
    let world = engine.world;
    let at = ObjectRef::local(V1BETA1, kind.kind(), namespace, name);
    let Some(live) = world.get(&at).await? else { return Ok(Next::default()) };
    let Ok(mut definition) = serde_json::from_value::<Definition>(live) else {
        return Ok(Next::default());
    };
    if !definition.metadata.deletion_timestamp.is_empty() {
        return Ok(Next::default());
    }
    definition.api_version = V1BETA1.into();
    definition.kind = kind.kind().into();
    let hash = definition_hash(&definition);
    let latest = definition.status.latest_revision.clone();
    if latest.as_ref().is_some_and(|it| it.revision_hash == hash)
        && !definition.status.config_map_ref.is_empty()
    {
        return Ok(Next::default());
    }
    let revision = match &latest {
        Some(latest) if latest.revision_hash == hash => latest.clone(),
        _ => record(engine, kind, &definition, &hash).await?,
    };
    let templates = Templates::new(engine.runtime, engine.render_library);
    let templates = match kind {
        DefinitionKind::WorkflowStep => Templates::new(engine.runtime, engine.step_library),
        _ => templates,
    };
    let found = schema::parameters(templates, &definition);
    let map = format!("{}-schema-{name}", prefix(kind));
    if let Ok(found) = &found {
        let text = schema::text(found.as_ref().unwrap_or(&json!({"type": "object"})));
        let owner = |kind: &str, name: &str, uid: &str| {
            json!({
                "apiVersion": V1BETA1, "kind": kind, "name": name, "uid": uid,
                "controller": true, "blockOwnerDeletion": true,
            })
        };
        let own = owner(kind.kind(), name, &definition.metadata.uid);
        store(engine, &map, namespace, name, own, &text).await?;
        let at = ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, &revision.name);
        if let Some(live) = world.get(&at).await? {
            let own =
                owner("DefinitionRevision", &revision.name, object::text(&live, "/metadata/uid"));
            let map = format!("{}-schema-{}", prefix(kind), revision.name);
            store(engine, &map, namespace, &revision.name, own, &text).await?;
        }
    }
    let (status, reason, message) = match &found {
        Ok(_) => ("True", "ReconcileSuccess", String::new()),
        Err(error) => (
            "False",
            "ReconcileError",
            format!("cannot store capability {name} in ConfigMap: {error}"),
        ),
    };
    let condition = Condition {
        r#type: "Synced".into(),
        status: status.into(),
        reason: reason.into(),
        message,
        last_transition_time: world.now().to_rfc3339_opts(SecondsFormat::Secs, true),
        ..Condition::default()
    };
    let body = json!({"status": {
        "conditions": [condition],
        "configMapRef": map,
        "latestRevision": revision,
    }});
    match world.patch_status(&at, &body).await {
        Ok(()) | Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error),
    }
    limit(engine, kind, namespace, name, &revision.name).await?;
    Ok(Next::default())
}

/// What ConfigMaps of a kind's schemas begin with.
fn prefix(kind: DefinitionKind) -> &'static str {
    match kind {
        DefinitionKind::Component | DefinitionKind::Workload => "component",
        DefinitionKind::Trait => "trait",
        DefinitionKind::Policy => "policy",
        DefinitionKind::WorkflowStep => "workflowstep",
    }
}

/// The label that names the definition on its revisions.
fn label_of(kind: DefinitionKind) -> &'static str {
    match kind {
        DefinitionKind::Component | DefinitionKind::Workload => label::COMPONENT_DEFINITION,
        DefinitionKind::Trait => label::TRAIT_DEFINITION,
        DefinitionKind::Policy => label::POLICY_DEFINITION,
        DefinitionKind::WorkflowStep => label::STEP_DEFINITION,
    }
}

/// The revision of what the definition says now, written if it is not there.
async fn record(
    engine: &Engine<'_>,
    kind: DefinitionKind,
    definition: &Definition,
    hash: &str,
) -> Result<RevisionName, Error> {
    let meta = &definition.metadata;
    let mut number = definition.status.latest_revision.as_ref().map_or(0, |it| it.revision) + 1;
    let named = match meta.annotations.get(REVISION).filter(|it| !it.is_empty()) {
        Some(name) => Some(format!("{}-v{name}", meta.name)),
        None => Some(definition.spec.version.trim_start_matches('v'))
            .filter(|it| !it.is_empty())
            .map(|it| format!("{}-v{it}", meta.name)),
    };
    loop {
        let name = named.clone().unwrap_or_else(|| format!("{}-v{number}", meta.name));
        let at = ObjectRef::local(V1BETA1, "DefinitionRevision", &meta.namespace, &name);
        let revision = RevisionName {
            name,
            revision: number,
            revision_hash: hash.to_owned(),
            ..RevisionName::default()
        };
        let Some(live) = engine.world.get(&at).await? else {
            let object = content(kind, definition, &revision);
            records::make(engine.world, &object).await?;
            return Ok(revision);
        };
        if named.is_some() || object::text(&live, "/spec/revisionHash") == hash {
            let number = live["spec"]["revision"].as_i64().unwrap_or(number);
            return Ok(RevisionName { revision: number, ..revision });
        }
        number += 1;
    }
}

/// The DefinitionRevision object.
fn content(kind: DefinitionKind, definition: &Definition, revision: &RevisionName) -> Value {
    let meta = &definition.metadata;
    let mut copy = definition.clone();
    copy.metadata = ObjectMeta {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        labels: meta.labels.clone(),
        annotations: meta.annotations.clone(),
        ..ObjectMeta::default()
    };
    copy.metadata.annotations.shift_remove(annotation::KUBECTL_LAST_APPLIED);
    let mut labels: Map<String, Value> =
        meta.labels.iter().map(|(key, it)| (key.clone(), it.as_str().into())).collect();
    labels.insert(label_of(kind).into(), meta.name.as_str().into());
    let mut spec = json!({
        "revision": revision.revision,
        "revisionHash": revision.revision_hash,
        "definitionType": kind.revision_type(),
    });
    let own = match kind {
        DefinitionKind::Component | DefinitionKind::Workload => "componentDefinition",
        DefinitionKind::Trait => "traitDefinition",
        DefinitionKind::Policy => "policyDefinition",
        DefinitionKind::WorkflowStep => "workflowStepDefinition",
    };
    // Those of the other kinds are there and empty, as Go writes them.
    let empty = |spec: Value| json!({"metadata": {}, "spec": spec, "status": {}});
    let workload = json!({"workload": {"definition": {"apiVersion": "", "kind": ""}}});
    spec["componentDefinition"] = empty(workload);
    for other in ["traitDefinition", "policyDefinition", "workflowStepDefinition"] {
        spec[other] = empty(json!({"definitionRef": {"name": ""}}));
    }
    spec[own] = serde_json::to_value(copy).unwrap_or_default();
    if spec[own]["status"].is_null() {
        spec[own]["status"] = json!({});
    }
    json!({
        "apiVersion": V1BETA1,
        "kind": "DefinitionRevision",
        "metadata": {
            "name": revision.name,
            "namespace": meta.namespace,
            "labels": labels,
            "ownerReferences": [{
                "apiVersion": V1BETA1, "kind": kind.kind(), "name": meta.name, "uid": meta.uid,
            }],
        },
        "spec": spec,
    })
}

async fn store(
    engine: &Engine<'_>,
    map: &str,
    namespace: &str,
    name: &str,
    owner: Value,
    text: &str,
) -> Result<(), Error> {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": map,
            "namespace": namespace,
            "labels": {"definition.oam.dev": "schema", "definition.oam.dev/name": name},
            "ownerReferences": [owner],
        },
        "data": {SCHEMA_KEY: text},
    });
    engine.world.apply(&object, "", Apply::FORCED).await.map(drop)
}

/// Deletes the oldest revisions over the limit; the latest stays.
async fn limit(
    engine: &Engine<'_>,
    kind: DefinitionKind,
    namespace: &str,
    name: &str,
    latest: &str,
) -> Result<(), Error> {
    let keep = engine.settings.definition_revision_limit;
    let of = ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, "");
    let found = engine.world.list(&of, &format!("{}={name}", label_of(kind))).await?;
    let mut all: Vec<(i64, &str)> = found
        .iter()
        .map(|it| (it["spec"]["revision"].as_i64().unwrap_or(0), object::name(it)))
        .filter(|it| it.1 != latest)
        .collect();
    all.sort_unstable();
    let extra = all.len().saturating_sub(keep);
    for (_, name) in all.into_iter().take(extra) {
        let at = ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, name);
        engine.world.delete(&at).await?;
    }
    Ok(())
}
