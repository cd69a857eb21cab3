//! The Application goes: its objects first, then its trackers, then its finalizer (E-16).

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::{Engine, Next, after, place, revision, status, write};
use crate::api::Application;
use crate::api::names::{annotation, finalizer, phase};
use crate::delivery::{Collected, Collector, Extent, Rules, Trackers};
use crate::world::{Error, EventKind, PatchKind};

/// Before objects that are going are looked at again.
const LOOK: Duration = Duration::milliseconds(500);

/// Before objects that could not be removed are tried again.
const RETRY: Duration = Duration::seconds(5);

/// Removes what the Application owns; once nothing is left, the finalizer. What cannot be removed is
/// told in the status, and keeps nothing else.
///
/// Objects on clusters that do not answer are waited for, but not for ever: they are left behind, and that
/// is told, once the annotation `app.oam.dev/abandon-unreachable` says so or patience has run out.
pub(super) async fn remove(
    engine: &Engine<'_>,
    app: &Application,
    live: &Value,
) -> Result<Next, Error> {
    if !app.metadata.finalizers.iter().any(|it| it == finalizer::APPLICATION) {
        return Ok(Next::default());
    }
    let before = serde_json::to_value(&app.status).unwrap_or_default();
    let mut app = app.clone();
    app.status.phase = phase::DELETING.into();
    let rules = Rules::readable(&app);
    let now = engine.world.now();
    let end = DateTime::parse_from_rfc3339(&app.metadata.deletion_timestamp)
        .map(|it| after(it.to_utc(), engine.settings.cluster_patience))
        .unwrap_or(DateTime::<Utc>::MAX_UTC);
    let abandons = app.annotation(annotation::ABANDON) == "true" || end <= now;
    let mut elsewhere = false;
    let collected = match Trackers::load(engine.world, &app).await {
        Ok(trackers) => {
            elsewhere = trackers.reach_elsewhere();
            let all = Collector::new((engine.world, engine.objects), &app, &rules, &trackers);
            let all = if abandons { all.abandoning() } else { all };
            all.run(Extent::Everything).await
        }
        Err(error) => Err(error),
    };
    let (text, wait) = match collected {
        Ok(Collected::All) => return finish(engine, &app).await,
        Ok(Collected::Abandoned(left)) => {
            let text = format!("left behind on clusters that do not answer: {}", left.join("; "));
            engine.world.event(live, EventKind::Warning, "Abandoned", &text).await?;
            return finish(engine, &app).await;
        }
        Ok(Collected::Waiting(text)) => (text, LOOK),
        Err(Error::Unavailable(text)) if !abandons && elsewhere => {
            let by = end.to_rfc3339_opts(SecondsFormat::Secs, true);
            let hint = format!(
                "{text}; what is there is left behind at {by}, or as soon as the Application is annotated {}=true",
                annotation::ABANDON
            );
            (hint, RETRY)
        }
        Err(error) => (error.to_string(), RETRY),
    };
    status::deleting(&mut app, &text, now);
    match write(engine, &app, &before).await {
        Ok(()) | Err(Error::Conflict(_)) => Ok(Next { wake: Some(after(now, wait)) }),
        Err(error) => Err(error),
    }
}

/// Revisions, then the finalizers.
async fn finish(engine: &Engine<'_>, app: &Application) -> Result<Next, Error> {
    for name in revision::names(engine, app).await? {
        engine.world.delete(&revision::at(app, &name)).await?;
    }
    let left: Vec<&String> = app
        .metadata
        .finalizers
        .iter()
        .filter(|it| *it != finalizer::APPLICATION && *it != finalizer::ORPHAN)
        .collect();
    let body = json!({"metadata": {
        "finalizers": left, "resourceVersion": app.metadata.resource_version,
    }});
    match engine.world.patch(&place(app), PatchKind::Merge, &body).await {
        Ok(_) | Err(Error::NotFound(_)) => Ok(Next::default()),
        Err(Error::Conflict(_)) => Ok(Next { wake: Some(engine.world.now()) }),
        Err(error) => Err(error),
    }
}
