//! Running a finished workflow again, when an annotation asks for it (E-13 to E-15).

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::json;

use super::adoption::Adoption;
use super::{Engine, place};
use crate::api::Application;
use crate::api::names::annotation;
use crate::workflow::backoff::parse_duration;
use crate::world::{Error, EventKind, PatchKind};

/// Takes over what the annotation asks for; `None` if the workflow runs as it is, a time if it is
/// to run again then.
///
/// # Errors
/// The annotation could not be taken off.
pub(super) async fn schedule(
    engine: &Engine<'_>,
    app: &mut Application,
    adoption: &Adoption<'_>,
) -> Result<Option<DateTime<Utc>>, Error> {
    let asked = app.annotation(annotation::RESTART_WORKFLOW).to_owned();
    let now = engine.world.now();
    if !asked.is_empty() {
        let finished = app.status.workflow.as_ref().and_then(|it| it.end_time.as_deref());
        let (at, once) = match time(&asked, now, finished) {
            Some(found) => found,
            None => {
                let text = format!(
                    "annotation {}: {asked:?} is no true, no time and no duration",
                    annotation::RESTART_WORKFLOW
                );
                let about = json!({
                    "apiVersion": app.api_version, "kind": app.kind, "metadata": app.metadata,
                });
                engine.world.event(&about, EventKind::Warning, "InvalidRestart", &text).await?;
                return Ok(None);
            }
        };
        app.status.workflow_restart_scheduled_at = stamp(at);
        if once {
            adoption.end(app).await?;
            let body = json!({"metadata": {"annotations": {annotation::RESTART_WORKFLOW: null}}});
            let patched = engine.world.patch(&place(app), PatchKind::Merge, &body).await?;
            let version = patched["metadata"]["resourceVersion"].as_str().unwrap_or_default();
            app.metadata.resource_version = version.to_owned();
            app.metadata.annotations.shift_remove(annotation::RESTART_WORKFLOW);
        }
    }
    let Some(at) = parse(&app.status.workflow_restart_scheduled_at) else { return Ok(None) };
    let Some(workflow) = &app.status.workflow else { return Ok(None) };
    let ended = workflow.end_time.as_deref().and_then(parse);
    if !workflow.finished || ended.is_some_and(|ended| at <= ended) && at > now {
        return Ok(None);
    }
    if at > now {
        return Ok(Some(at));
    }
    app.status.workflow_restart_scheduled_at.clear();
    app.status.workflow = None;
    Ok(None)
}

/// The time, and whether it is asked for once only.
fn time(text: &str, now: DateTime<Utc>, ended: Option<&str>) -> Option<(DateTime<Utc>, bool)> {
    if text == "true" {
        return Some((now, true));
    }
    if let Some(at) = parse(text) {
        return Some((at, true));
    }
    let wait = parse_duration(text)?;
    let from = ended.and_then(parse).unwrap_or(now);
    Some((from.checked_add_signed(wait)?, false))
}

fn parse(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|it| it.with_timezone(&Utc))
}

fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_forms_are_understood() {
        let now = parse("2026-01-02T03:04:05Z").unwrap();
        assert_eq!(time("true", now, None), Some((now, true)));
        let later = parse("2026-01-02T04:00:00Z").unwrap();
        assert_eq!(time("2026-01-02T04:00:00Z", now, None), Some((later, true)));
        let ended = Some("2026-01-02T03:00:00Z");
        assert_eq!(time("1h", now, ended), Some((later, false)));
        assert_eq!(time("soon", now, None), None);
    }
}
