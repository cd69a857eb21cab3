//! Showing an Application while it is delivered.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lateen_controller::connection::Client;
use lateen_controller::control::{self, Control};
use lateen_controller::report::{self, Report, Step};
use lateen_controller::rest::{self, ActAs};
use serde_json::Value;

use crate::Cli;
use crate::command::status;
use crate::exit::bad_input;

/// How often the Application is looked at.
const POLL: Duration = Duration::from_millis(60);

/// One Application that is followed.
pub struct Follow<'a> {
    /// Whom to ask.
    pub client: &'a Client,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: &'a str,
    /// Where to talk.
    pub cli: &'a Cli,
    /// Whether suspends are resumed by patching the status.
    pub resume: bool,
}

/// Whether only somebody can make the workflow go on.
fn stays_suspended(app: &Value) -> bool {
    let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let timed = |name: &Value| {
        let steps = rows(&app["spec"]["workflow"]["steps"]);
        let inner = steps.iter().flat_map(|it| rows(&it["subSteps"])).collect::<Vec<_>>();
        steps
            .iter()
            .chain(&inner)
            .any(|it| it["name"] == *name && it["properties"]["duration"].is_string())
    };
    let workflow = &app["status"]["workflow"];
    let steps = rows(&workflow["steps"]);
    let inner = steps.iter().flat_map(|it| rows(&it["subSteps"])).collect::<Vec<_>>();
    let held: Vec<&Value> = steps
        .iter()
        .chain(&inner)
        .filter(|it| it["phase"] == "suspending" && it["type"] == "suspend")
        .collect();
    workflow["suspend"] == true && (held.is_empty() || held.iter().any(|it| !timed(&it["name"])))
}

/// Whether the status is of what the spec says now.
fn is_seen(app: &Value) -> bool {
    app["status"]["observedGeneration"] == app["metadata"]["generation"]
}

/// Whether what the spec says now is delivered: a status may still be of what it said before.
pub fn is_delivered(app: &Value, it: &Report) -> bool {
    is_seen(app) && it.phase == "running" && it.problems.is_empty()
}

impl Follow<'_> {
    /// Shows each change until the workflow is over; the Application as it is then.
    pub async fn to_end(&self, until: Instant) -> anyhow::Result<Value> {
        let path = rest::path(&report::applications(), &self.namespace, Some(self.name));
        let mut shown: HashMap<String, String> = HashMap::new();
        let mut resumed = 0;
        loop {
            let app = rest::get(self.client, &path, &ActAs::default())
                .await?
                .ok_or_else(|| bad_input(format!("Application {} is gone", self.name)))?;
            let it = report::report(&app);
            self.show(&it, &mut shown);
            let settled = match it.phase.as_str() {
                "running" => it.components.iter().all(|it| it.healthy),
                "workflowFailed" | "workflowTerminated" => true,
                "workflowSuspending" if self.resume => {
                    resumed += 1;
                    self.cli.out.note(&format!(
                        "  suspended: resuming by patching the status of {}",
                        self.name
                    ));
                    if let Err(error) = control::control(
                        self.client,
                        &self.namespace,
                        self.name,
                        Control::Resume,
                        None,
                    )
                    .await
                    {
                        // The controller may have moved on meanwhile.
                        if resumed > 20 {
                            return Err(bad_input(error.to_string()));
                        }
                    }
                    false
                }
                // Resumed just now, or it goes on by itself.
                "workflowSuspending" if !stays_suspended(&app) => false,
                "workflowSuspending" => {
                    self.cli.out.note(&format!(
                        "suspended; go on with `lateen workflow resume {}`",
                        self.name
                    ));
                    true
                }
                // It stopped before its workflow; steps are of what ran before.
                "starting" | "rendering" | "generatingPolicy" if !it.problems.is_empty() => true,
                _ => {
                    !it.problems.is_empty()
                        && it.steps.is_empty()
                        && !it.phase.starts_with("running")
                }
            };
            if settled && is_seen(&app) {
                return Ok(app);
            }
            if Instant::now() > until {
                self.cli.out.note(&format!("{} is not done in time", self.name));
                return Ok(app);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// One line for each step and component that changed.
    fn show(&self, it: &Report, shown: &mut HashMap<String, String>) {
        let mut tell = |key: String, line: String| {
            if shown.get(&key) != Some(&line) {
                self.cli.out.note(&format!("  {line}"));
                shown.insert(key, line);
            }
        };
        fn steps(all: &[Step], out: &crate::output::Out, tell: &mut impl FnMut(String, String)) {
            for step in all {
                tell(
                    format!("step {}", step.name),
                    format!("step {}", status::step_line(step, out)),
                );
                steps(&step.steps, out, tell);
            }
        }
        steps(&it.steps, &self.cli.out, &mut tell);
        for one in &it.components {
            let word = if one.healthy { "healthy" } else { "waiting" };
            let line = format!("component {} {word} {}", one.name, one.message);
            tell(format!("component {}", one.name), line.trim_end().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_delivered_before_is_not_what_is_asked_for_now() {
        let app = |generation: u64| {
            json!({
                "metadata": {"name": "shop", "generation": generation},
                "status": {"status": "running", "observedGeneration": 1},
            })
        };
        let delivered = |app: Value| is_delivered(&app, &report::report(&app));
        assert!(delivered(app(1)));
        assert!(!delivered(app(2)), "the controller has not seen it");
    }
}
