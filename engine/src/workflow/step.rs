//! Runs one step's template: the next `#do`, its answer filled, until none is left.

use chrono::Duration;
use cue_session::{
    Action, Budget, Filling, Input, Profile, Program, ProgramSpec, Runtime, Session, Source,
    SyntaxStyle,
};
use serde_json::{Value, json};

use super::actions::{self, Acting, Done, Host, operator};
use super::literal;
use super::partial;
use super::variables::Variables;
use crate::api::workflow::OutputItem;
use crate::render::{File, Library, OPEN};
use crate::world::World;

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Done; what it had to say.
    Succeeded(String),
    /// Done, and the workflow ends here.
    Broken(String),
    /// Not done yet.
    Waiting(String),
    /// Stopped at the action of this path.
    Suspended {
        /// Resumes by itself after this time.
        after: Option<Duration>,
        /// Shown meanwhile.
        message: String,
        /// The action.
        field: String,
    },
    /// Failed for good.
    Failed {
        /// `Action`, `Rendering`, `Output`.
        reason: &'static str,
        /// Why.
        message: String,
    },
    /// Something went wrong that may pass.
    Troubled(String),
}

/// What a step is run with.
pub struct Setting<'a> {
    /// The interpreter.
    pub runtime: &'a dyn Runtime,
    /// Programs of step templates, and what they may import.
    pub library: &'a Library,
    /// Effects.
    pub world: &'a dyn World,
    /// The owner.
    pub host: &'a dyn Host,
}

/// Actions of one step at most.
const ACTIONS: usize = 1_000;

/// The one step type with a template that is no definition (E-101).
const SUSPEND: &str = r#"import "vela/builtin"

suspend: builtin.#Suspend & {$params: parameter}
parameter: {
	duration?: string
	message?:  string
}
"#;

/// The template of a step type that the engine brings with it.
pub fn embedded(r#type: &str) -> Option<&'static str> {
    (r#type == "suspend").then_some(SUSPEND)
}

/// Runs `template` with `parameter` and `context`, `started` if it was already; suspends of `resumed` paths
/// are over.
pub async fn run(
    setting: &Setting<'_>,
    name: &str,
    started: Option<Session>,
    template: File<'_>,
    parameter: &Value,
    context: &Value,
    outputs: &[OutputItem],
    resumed: &[String],
    variables: &mut Variables,
) -> Outcome {
    let session = started.map_or_else(|| start(setting, template, parameter, context), Ok);
    let mut session = match session {
        Ok(session) => session,
        Err(error) => return Outcome::Failed { reason: "Rendering", message: error.to_string() },
    };
    let outcome = walk(setting, name, &mut session, outputs, resumed, variables).await;
    if matches!(outcome, Outcome::Failed { .. } | Outcome::Broken(_)) {
        // What there is of them is good enough (E-120).
        let _ = export(&mut session, outputs, variables);
    }
    let id = context["stepSessionID"].as_str().unwrap_or_default();
    if let Some(config_map) = setting.host.debug_object(id) {
        debug(setting, &mut session, config_map).await;
    }
    outcome
}

/// Shows what the template has become, for `lateen debug` (E-135).
async fn debug(setting: &Setting<'_>, session: &mut Session, config_map: Value) {
    let text = match session.syntax("", SyntaxStyle::Eval) {
        Ok(text) => literal::formatted(text.unwrap_or_default()),
        Err(error) => error.to_string(),
    };
    show(setting, config_map, text).await;
}

/// Writes what a step has become.
pub(super) async fn show(setting: &Setting<'_>, mut config_map: Value, text: String) {
    config_map["data"] = json!({"debug": text});
    if let Err(error) = actions::apply_plain(setting.world, &config_map).await {
        tracing::warn!(%error, "debug output not written");
    }
}

/// What an action of a step acts with.
fn acting<'a>(
    setting: &Setting<'a>,
    step: &'a str,
    session: &'a mut Session,
    variables: &'a mut Variables,
) -> Acting<'a> {
    let Setting { runtime, world, host, .. } = *setting;
    Acting { world, host, runtime, session, variables, step }
}

/// Carries out the template's actions and evaluates the outputs.
async fn walk(
    setting: &Setting<'_>,
    name: &str,
    session: &mut Session,
    outputs: &[OutputItem],
    resumed: &[String],
    variables: &mut Variables,
) -> Outcome {
    let mut done: Vec<String> = Vec::new();
    let mut said = String::new();
    let mut pending = None;
    loop {
        let action = match session.next_action("", &done) {
            Ok(Some(action)) => action,
            Ok(None) => break,
            Err(error) => {
                return Outcome::Failed { reason: "Rendering", message: error.to_string() };
            }
        };
        if let Some(wrong) = action.pending.iter().find(|it| !it.incomplete) {
            let message = format!("invalid cue task for evaluation: {wrong}");
            return Outcome::Failed { reason: "Rendering", message };
        }
        done.push(action.path.clone());
        if done.len() > ACTIONS {
            let message = format!("more than {ACTIONS} actions");
            return Outcome::Failed { reason: "Rendering", message };
        }
        let waits =
            matches!(action.verb.as_str(), "wait" | "suspend" | "break" | "fail" | "message");
        if !action.pending.is_empty() && !waits && action.verb != "var" {
            // What it needs is not there yet: those before it did not give it.
            let first = action.pending.first().map(ToString::to_string).unwrap_or_default();
            return Outcome::Troubled(format!("{}: {first}", action.path));
        }
        let mut acting = acting(setting, name, session, variables);
        match actions::act(&action, &mut acting).await {
            Err(trouble) => return Outcome::Troubled(format!("run step({name}): {trouble}")),
            Ok(Done::Nothing) => {}
            Ok(Done::Message(message)) => said = message,
            Ok(Done::Wait(message)) => return Outcome::Waiting(message),
            Ok(Done::Break(message)) => return Outcome::Broken(message),
            Ok(Done::Fail(message)) => return Outcome::Failed { reason: "Action", message },
            Ok(Done::Suspend(after, message)) => {
                if !resumed.contains(&action.path) {
                    let message = if message.is_empty() {
                        format!("Suspended by field {}", action.path)
                    } else {
                        message
                    };
                    return Outcome::Suspended { after, message, field: action.path };
                }
            }
            Ok(Done::Returns(value)) => {
                if let Err(error) = fill(session, &action, &value) {
                    return Outcome::Failed { reason: "Rendering", message: error.to_string() };
                }
            }
            Ok(Done::Pending(value, message)) => {
                if let Err(error) = fill(session, &action, &value) {
                    return Outcome::Failed { reason: "Rendering", message: error.to_string() };
                }
                pending.get_or_insert(message);
            }
        }
    }
    if let Some(message) = pending {
        return Outcome::Waiting(message);
    }
    if done.is_empty() {
        let output = session.value("output").ok().flatten();
        if let Some(object) = operator::object_of(output) {
            let mut acting = acting(setting, name, session, variables);
            match operator::carry_out(object, &mut acting).await {
                Err(trouble) => return Outcome::Troubled(format!("run step({name}): {trouble}")),
                Ok(Done::Wait(message)) => return Outcome::Waiting(message),
                Ok(Done::Fail(message)) => return Outcome::Failed { reason: "Action", message },
                Ok(Done::Returns(live)) => {
                    // Outputs of the step are paths in what is live.
                    if let Err(error) = session.fill("output", Filling::Json(live.to_string())) {
                        return Outcome::Failed { reason: "Rendering", message: error.to_string() };
                    }
                }
                Ok(_) => {}
            }
        }
    }
    if setting.host.takes_parts() {
        let part = session.value("application").map_err(|error| error.to_string());
        match part.and_then(|it| it.as_ref().map(partial::spec_of).transpose()) {
            Ok(Some(part)) => variables.give_part(name, part),
            Ok(None) => {}
            Err(message) => return Outcome::Failed { reason: "Output", message },
        }
    }
    match export(session, outputs, variables) {
        Ok(()) => Outcome::Succeeded(said),
        // Complete only once there is what others wait for (W-108).
        Err(message) => Outcome::Waiting(message),
    }
}

/// Results of the older form lie beside the parameters.
fn fill(session: &mut Session, action: &Action, value: &Value) -> Result<(), cue_session::Error> {
    let path = &action.path;
    let flat = action.provider == "op" || action.provider.is_empty();
    let at = if flat { path.clone() } else { format!("{path}.$returns") };
    session.fill(&at, Filling::Json(value.to_string()))
}

/// A template with what it is given, before anything of it is carried out.
pub(super) fn start(
    setting: &Setting<'_>,
    template: File<'_>,
    parameter: &Value,
    context: &Value,
) -> Result<Session, cue_session::Error> {
    let program = setting.library.template(&[template, OPEN]).program;
    let inputs = vec![
        Input::new("parameter", parameter.to_string()),
        Input::new("context", context.to_string()),
    ];
    setting.runtime.start(&program, inputs, Budget::DEFINITION)
}

/// Evaluates `valueFrom` of every output over what the template has become.
fn export(
    session: &mut Session,
    outputs: &[OutputItem],
    variables: &mut Variables,
) -> Result<(), String> {
    let mut missing = Ok(());
    for (index, output) in outputs.iter().enumerate() {
        let from = output.value_from.as_str();
        let mut value = look_up(session, &format!("_output{index}"), from);
        if !matches!(value, Ok(Some(_))) && !from.contains("$returns.") {
            // Results of actions are told as if they lay where the action is (E-120).
            let inside = match from.contains("output.") {
                true => from.replacen("output.", "output.$returns.", 1),
                false => format!("{from}.$returns"),
            };
            if let Ok(Some(found)) = look_up(session, &format!("_returned{index}"), &inside) {
                value = Ok(Some(found));
            }
        }
        match value {
            Ok(Some(value)) => variables.set(&output.name, value),
            other => {
                let why = other.err().unwrap_or_else(|| "it has no value yet".into());
                missing = missing.and(Err(format!("failed to get output from {from}: {why}")));
            }
        }
    }
    missing
}

fn look_up(session: &mut Session, field: &str, text: &str) -> Result<Option<Value>, String> {
    session
        .fill(field, Filling::Cue(text.to_owned()))
        .and_then(|()| session.value(field))
        .map_err(|error| error.to_string())
}

/// Outputs of a step that has no template: over `output` and `outputs`.
///
/// # Errors
/// Which output could not be had, and why.
pub fn export_plain(
    runtime: &dyn Runtime,
    values: &[(&str, &Value)],
    outputs: &[OutputItem],
    variables: &mut Variables,
) -> Result<(), String> {
    if outputs.is_empty() {
        return Ok(());
    }
    let text: String = values.iter().map(|(name, _)| format!("{name}: _\n")).collect();
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("outputs.cue", text)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let inputs = values.iter().map(|(name, value)| Input::new(*name, value.to_string())).collect();
    let mut session =
        runtime.start(&program, inputs, Budget::DEFINITION).map_err(|error| error.to_string())?;
    export(&mut session, outputs, variables)
}
