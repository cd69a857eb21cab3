//! What the steps that are sure to follow apply: the owner is told before the first of them does, and
//! records all of it at once.
//!
//! A step is sure to follow if it is next in order, under no condition, and waits for nothing; and if its
//! template, of its properties alone, applies one object and is done. What a step applies in the end is its
//! own business: that it was told here only saves a write.

use cue_session::Session;
use serde_json::{Value, json};

use super::actions;
use super::round::Round;
use super::step::{self, Setting};
use crate::api::workflow::WorkflowStep;
use crate::records;

/// Steps that are looked at ahead: each is evaluated once more for it.
const STEPS: usize = 32;

/// Tells the owner what `due` and the steps behind it apply; names of those steps.
pub(super) async fn tell(
    round: &Round<'_>,
    setting: &Setting<'_>,
    due: &WorkflowStep,
) -> Vec<String> {
    let (mut objects, mut names) = (Vec::new(), Vec::new());
    let from = round.steps.iter().skip_while(|it| it.name != due.name);
    let free = |it: &&WorkflowStep| {
        it.name == due.name
            || it.r#if.is_empty() && it.inputs.is_empty() && it.depends_on.is_empty()
    };
    let steps: Vec<&WorkflowStep> = from.take_while(free).take(STEPS).collect();
    if steps.len() < 2 {
        return names;
    }
    for it in steps {
        let Some(intended) = intended(round, setting, it).await else { break };
        objects.push(intended);
        names.push(it.name.clone());
    }
    if objects.len() > 1 {
        setting.host.foresee(objects).await;
    }
    names
}

/// Starts the template of a step that was looked at, while somebody waits for what the step before it applies.
pub(super) async fn prepare(
    round: &Round<'_>,
    setting: &Setting<'_>,
    name: Option<&String>,
) -> Option<(String, Session)> {
    let it = round.steps.iter().find(|it| Some(&it.name) == name)?;
    // What it shows there knows which run it is of.
    if setting.host.debug_object("").is_some() {
        return None;
    }
    records::give_way_to_others().await;
    let template = (round.template)(&it.r#type).ok()?;
    Some((it.name.clone(), start(round, setting, it, &template)?))
}

/// The template of a step with its properties alone.
fn start(
    round: &Round<'_>,
    setting: &Setting<'_>,
    it: &WorkflowStep,
    template: &str,
) -> Option<Session> {
    let properties = it.properties.clone().unwrap_or_else(|| json!({}));
    let file = format!("{}.cue", it.r#type);
    let context = Value::Object(round.context.clone());
    step::start(setting, (&file, template), &properties, &context).ok()
}

/// The one object that a step applies, and to which cluster.
async fn intended(
    round: &Round<'_>,
    setting: &Setting<'_>,
    it: &WorkflowStep,
) -> Option<(Value, String)> {
    if it.r#type == "step-group" || !it.inputs.is_empty() || !it.outputs.is_empty() {
        return None;
    }
    let template = (round.template)(&it.r#type).ok()?;
    // Of its run, more is known once it begins.
    if template.contains("context") {
        return None;
    }
    let mut session = start(round, setting, it, &template)?;
    let action = session.next_action("", &[]).ok()??;
    let done = [action.path.clone()];
    if !action.pending.is_empty() || session.next_action("", &done).ok()?.is_some() {
        return None;
    }
    actions::intended(&action, setting.world, setting.host).await
}
