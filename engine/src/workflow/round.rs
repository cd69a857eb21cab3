//! One pass over all steps: who may run, what their outcomes make of the status, when to look again.

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::actions::Host;
use super::backoff::{Caps, parse_duration};
use super::condition;
use super::step::{self, Outcome, Setting};
use super::variables::{Variables, set_at};
use crate::api::workflow::{ExecuteMode, StepStatus, WorkflowStatus, WorkflowStep};

/// What a pass needs besides effects.
pub struct Round<'a> {
    /// Steps in order.
    pub steps: &'a [WorkflowStep],
    /// Both fields set.
    pub mode: &'a ExecuteMode,
    /// Template of a step type; an error if there is none.
    pub template: &'a (dyn Fn(&str) -> Result<String, String> + Send + Sync),
    /// What templates see as `context`, without the step's own fields.
    pub context: &'a Map<String, Value>,
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts.
    pub caps: Caps,
}

/// How the pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Look again.
    Executing,
    /// Waits for somebody.
    Suspended,
    /// All done.
    Succeeded,
    /// Ended by a failure.
    Failed,
    /// Ended on purpose.
    Terminated,
}

/// What a pass came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// How it ended.
    pub state: State,
    /// When to look again, unless something changes before.
    pub wake: Option<DateTime<Utc>>,
}

const DONE: [&str; 3] = ["succeeded", "failed", "skipped"];

fn is_done(row: Option<&StepStatus>) -> bool {
    row.is_some_and(|it| DONE.contains(&it.phase.as_str()))
}

/// Makes one pass. `status` and `variables` are changed in place.
pub async fn round(
    round: &Round<'_>,
    setting: &Setting<'_>,
    status: &mut WorkflowStatus,
    variables: &mut Variables,
) -> Passed {
    let now = setting.world.now();
    if status.finished {
        return Passed { state: ended(status), wake: None };
    }
    if status.terminated {
        return terminate(status, now);
    }
    if let Some(passed) = held(round, status, variables, now) {
        return passed;
    }
    let mut pass = Pass { round, setting, now, wake: None, broken: None };
    let dag = round.mode.steps == "DAG";
    pass.steps(round.steps, None, dag, status, variables).await;
    let wake = pass.wake;
    if let Some(message) = pass.broken {
        status.message = message;
        return terminate(status, now);
    }
    conclude(round, status, now, wake)
}

/// A user's `suspend: true` stops everything; `false` beside suspending steps lets them go on
/// (kubevela-observed.md 3).
fn held(
    round: &Round<'_>,
    status: &mut WorkflowStatus,
    variables: &mut Variables,
    now: DateTime<Utc>,
) -> Option<Passed> {
    let mut suspending = false;
    let mut wake: Option<DateTime<Utc>> = None;
    let marks = variables.marks.clone();
    let stopped = status.suspend;
    let mut resumed = Vec::new();
    let mut visit = |row: &mut StepStatus| {
        let Some(mark) = marks.get(&row.name) else { return };
        if mark.suspended.is_none() || is_done(Some(row)) {
            return;
        }
        let over = mark.until.is_some_and(|until| until <= now);
        if !stopped || row.phase == "running" || over {
            resumed.push(row.name.clone());
            row.phase = "running".into();
            row.reason = String::new();
        } else {
            suspending = true;
            if let Some(until) = mark.until {
                wake = Some(wake.map_or(until, |it| it.min(until)));
            }
        }
    };
    for row in &mut status.steps {
        visit(row);
        row.sub_steps.iter_mut().for_each(&mut visit);
    }
    for name in &resumed {
        let mark = variables.mark(name);
        let field = std::mem::take(&mut mark.field);
        mark.resumed.push(field);
        mark.suspended = None;
        mark.until = None;
    }
    if suspending && (round.mode.steps != "DAG" || resumed.is_empty()) {
        status.suspend = true;
        return Some(Passed { state: State::Suspended, wake });
    }
    if !resumed.is_empty() {
        status.suspend = suspending;
        return None;
    }
    if status.suspend && !suspending {
        return Some(Passed { state: State::Suspended, wake: None });
    }
    None
}

struct Pass<'a> {
    round: &'a Round<'a>,
    setting: &'a Setting<'a>,
    now: DateTime<Utc>,
    wake: Option<DateTime<Utc>>,
    broken: Option<String>,
}

impl Pass<'_> {
    fn wake_at(&mut self, at: DateTime<Utc>) {
        self.wake = Some(self.wake.map_or(at, |it| it.min(at)));
    }

    fn time(&self) -> Option<String> {
        Some(self.now.to_rfc3339_opts(SecondsFormat::Secs, true))
    }

    /// Steps of the workflow, or of a group.
    fn steps<'s>(
        &'s mut self,
        steps: &'s [WorkflowStep],
        group: Option<&'s str>,
        dag: bool,
        status: &'s mut WorkflowStatus,
        variables: &'s mut Variables,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 's>> {
        Box::pin(async move {
            for it in steps {
                if is_done(row(status, group, &it.name)) {
                    continue;
                }
                if self.broken.is_some() || status.suspend && !dag {
                    return;
                }
                if let Some(missing) = self.dependency(it, steps, group, status, dag) {
                    self.pending(it, group, status, &format!("Pending on DependsOn: {missing}"));
                    continue;
                }
                if let Some(input) =
                    it.inputs.iter().find(|input| self.input(variables, &input.from).is_none())
                {
                    if self.skips(it, group, status, variables) {
                        continue;
                    }
                    let message = format!("Pending on Input: {}", input.from);
                    self.pending(it, group, status, &message);
                    if dag {
                        continue;
                    }
                    return;
                }
                if self.skips(it, group, status, variables) {
                    continue;
                }
                if it.r#type == "step-group" {
                    self.group(it, status, variables).await;
                } else {
                    self.one(it, group, status, variables).await;
                }
                if !dag && !is_done(row(status, group, &it.name)) {
                    return;
                }
            }
        })
    }

    /// What an input is from: a variable, or else a path into the context (E-110).
    fn input(&self, variables: &Variables, from: &str) -> Option<Value> {
        variables.get(from).or_else(|| {
            let mut path = from.strip_prefix("context.")?.split('.');
            let first = self.round.context.get(path.next()?)?;
            path.try_fold(first, |at, part| at.get(part)).cloned()
        })
    }

    /// A step that must be done before this one and is not.
    fn dependency(
        &self,
        it: &WorkflowStep,
        _all: &[WorkflowStep],
        group: Option<&str>,
        status: &WorkflowStatus,
        _dag: bool,
    ) -> Option<String> {
        it.depends_on
            .iter()
            .find(|name| !is_done(row(status, group, name)) && !is_done(row(status, None, name)))
            .cloned()
    }

    fn pending(
        &self,
        it: &WorkflowStep,
        group: Option<&str>,
        status: &mut WorkflowStatus,
        message: &str,
    ) {
        let id = self.setting.world.random_id();
        let row = row_mut(status, group, it, &id);
        row.phase = "pending".into();
        row.message = message.into();
    }

    /// Whether the step is left out: by its `if`, or because an earlier one failed.
    fn skips(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        status: &mut WorkflowStatus,
        variables: &Variables,
    ) -> bool {
        let condition = it.r#if.trim();
        if condition::is_always(condition)
            || !it.r#if.is_empty()
                && row(status, group, &it.name).is_some_and(|it| it.phase == "running")
        {
            return false;
        }
        let skip = if condition.is_empty() {
            failed(status, group)
        } else {
            let seen = condition::statuses(status);
            let mut inputs = Map::new();
            for input in &it.inputs {
                inputs.insert(
                    input.from.clone(),
                    self.input(variables, &input.from).unwrap_or_default(),
                );
            }
            let context = Value::Object(self.round.context.clone());
            let inputs = Value::Object(inputs);
            match condition::evaluate(self.setting.runtime, condition, &seen, &inputs, &context) {
                Ok(runs) => !runs,
                Err(message) => {
                    let time = self.time();
                    let id = self.setting.world.random_id();
                    let row = row_mut(status, group, it, &id);
                    row.phase = "failed".into();
                    row.reason = "Execute".into();
                    row.message = format!("pre check error: {message}");
                    row.first_execute_time.clone_from(&time);
                    row.last_execute_time = time;
                    return true;
                }
            }
        };
        if skip {
            let time = self.time();
            let id = self.setting.world.random_id();
            let row = row_mut(status, group, it, &id);
            row.phase = "skipped".into();
            row.reason = "Skip".into();
            row.message = String::new();
            row.first_execute_time.clone_from(&time);
            row.last_execute_time = time;
            for sub in &it.sub_steps {
                let id = self.setting.world.random_id();
                let row = row_mut(status, Some(&it.name), sub, &id);
                row.phase = "skipped".into();
                row.reason = "Skip".into();
            }
        }
        skip
    }

    async fn group(
        &mut self,
        it: &WorkflowStep,
        status: &mut WorkflowStatus,
        variables: &mut Variables,
    ) {
        let (time, id) = (self.time(), self.setting.world.random_id());
        let own = row_mut(status, None, it, &id);
        own.phase = "running".into();
        own.message = String::new();
        own.first_execute_time = own.first_execute_time.clone().or_else(|| time.clone());
        own.last_execute_time.clone_from(&time);
        let dag = match it.mode.as_str() {
            "" => self.round.mode.sub_steps == "DAG",
            mode => mode == "DAG",
        };
        let timed_out = self.timed_out(it, None, status);
        if !timed_out {
            self.steps(&it.sub_steps, Some(&it.name), dag, status, variables).await;
        }
        let Some(own) = status.steps.iter_mut().find(|row| row.name == it.name) else { return };
        if timed_out {
            own.phase = "failed".into();
            own.reason = "Timeout".into();
            for sub in own.sub_steps.iter_mut().filter(|sub| !DONE.contains(&sub.phase.as_str())) {
                sub.phase = "failed".into();
                sub.reason = "Timeout".into();
            }
            return;
        }
        let all = it.sub_steps.iter().all(|sub| {
            own.sub_steps
                .iter()
                .any(|row| row.name == sub.name && DONE.contains(&row.phase.as_str()))
        });
        if own.sub_steps.iter().any(|row| row.phase == "suspending") {
            own.phase = "suspending".into();
        }
        if !all {
            return;
        }
        match own.sub_steps.iter().find(|row| row.phase == "failed") {
            Some(wrong) => {
                own.phase = "failed".into();
                own.reason = wrong.reason.clone();
            }
            None => own.phase = "succeeded".into(),
        }
    }

    fn timed_out(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        status: &WorkflowStatus,
    ) -> bool {
        let Some(limit) = parse_duration(&it.timeout) else { return false };
        let first = row(status, group, &it.name).and_then(|it| it.first_execute_time.clone());
        let Some(first) = first.and_then(|it| DateTime::parse_from_rfc3339(&it).ok()) else {
            return false;
        };
        let end = first.with_timezone(&Utc) + limit;
        if end <= self.now {
            return true;
        }
        self.wake_at(end);
        false
    }

    async fn one(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        status: &mut WorkflowStatus,
        variables: &mut Variables,
    ) {
        let mark = variables.marks.get(&it.name).cloned().unwrap_or_default();
        let timed_out = self.timed_out(it, group, status);
        let (time, id) = (self.time(), self.setting.world.random_id());
        let own = row_mut(status, group, it, &id);
        own.first_execute_time = own.first_execute_time.clone().or_else(|| time.clone());
        if timed_out {
            own.phase = "failed".into();
            own.reason = "Timeout".into();
            own.last_execute_time = time;
            variables.forget(&it.name);
            return;
        }
        if mark.suspended.is_some() {
            return;
        }
        // What waits looks again whenever something changed; only failures keep their distance.
        let pause = mark.next.filter(|next| mark.failures > 0 && *next > self.now);
        if let Some(next) = pause {
            self.wake_at(next);
            return;
        }
        own.last_execute_time = time;
        let step_id = own.id.clone();
        let outcome = self.execute(it, group, &step_id, &mark.resumed, variables).await;
        self.record(it, group, outcome, status, variables);
    }

    async fn execute(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        id: &str,
        resumed: &[String],
        variables: &mut Variables,
    ) -> Outcome {
        let mut properties = it.properties.clone().unwrap_or_else(|| json!({}));
        let mut given = Vec::new();
        for input in &it.inputs {
            let value = self.input(variables, &input.from).unwrap_or_default();
            given.push((input.parameter_key.clone(), value));
        }
        if it.r#type == "apply-component" || it.r#type == "builtin-apply-component" {
            return self.component(it, &properties, &given, variables).await;
        }
        for (key, value) in given.into_iter().filter(|it| !it.0.is_empty()) {
            set_at(&mut properties, &key, value);
        }
        let template = match (self.round.template)(&it.r#type) {
            Ok(template) => template,
            Err(message) => return Outcome::Failed { reason: "Rendering", message },
        };
        let mut context = self.round.context.clone();
        context.insert("stepName".into(), it.name.as_str().into());
        context.insert("stepSessionID".into(), id.into());
        context.insert("stepGroupName".into(), group.unwrap_or_default().into());
        context.insert("spanID".into(), id.into());
        let context = Value::Object(context);
        let outputs = &it.outputs;
        step::run(
            self.setting,
            &it.name,
            &template,
            &properties,
            &context,
            outputs,
            resumed,
            variables,
        )
        .await
    }

    /// `apply-component`: the one step that is no template.
    async fn component(
        &mut self,
        it: &WorkflowStep,
        properties: &Value,
        inputs: &[(String, Value)],
        variables: &mut Variables,
    ) -> Outcome {
        let name = properties["component"].as_str().unwrap_or(&it.name).to_owned();
        let host: &dyn Host = self.setting.host;
        let Some((_, mut component)) = host.components().into_iter().find(|it| it.0 == name) else {
            let known: Vec<String> = host.components().into_iter().map(|it| it.0).collect();
            let message = format!("component {name} not found (there are: {})", known.join(", "));
            return Outcome::Failed { reason: "Execute", message };
        };
        for (key, value) in inputs.iter().filter(|it| !it.0.is_empty()) {
            let key = key.strip_prefix("properties.").unwrap_or(key);
            set_at(&mut component["properties"], key, value.clone());
        }
        let own_inputs = component["inputs"].as_array().cloned().unwrap_or_default();
        for input in own_inputs {
            let from = input["from"].as_str().unwrap_or_default();
            let key = input["parameterKey"].as_str().unwrap_or_default().to_owned();
            let Some(value) = self.input(variables, from) else {
                return Outcome::Waiting(format!("Pending on Input: {from}"));
            };
            set_at(&mut component["properties"], &key, value);
        }
        let text = |key: &str| properties[key].as_str().unwrap_or_default().to_owned();
        let applied = host.apply_component(&component, &text("cluster"), &text("namespace")).await;
        let applied = match applied {
            Ok(applied) => applied,
            Err(error) => return Outcome::Troubled(format!("run step({}): {error}", it.name)),
        };
        if let Some(message) = applied.waiting {
            return Outcome::Waiting(message);
        }
        let values = [("output", &applied.output), ("outputs", &applied.outputs)];
        let mut wanted = it.outputs.clone();
        for output in component["outputs"].as_array().into_iter().flatten() {
            wanted.extend(serde_json::from_value(output.clone()));
        }
        match step::export_plain(self.setting.runtime, &values, &wanted, variables) {
            Ok(()) => Outcome::Succeeded(String::new()),
            Err(message) => Outcome::Failed { reason: "Output", message },
        }
    }

    fn record(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        outcome: Outcome,
        status: &mut WorkflowStatus,
        variables: &mut Variables,
    ) {
        let id = self.setting.world.random_id();
        let now = self.now;
        match outcome {
            Outcome::Succeeded(message) | Outcome::Broken(message) if message.is_empty() => {
                let own = row_mut(status, group, it, &id);
                own.phase = "succeeded".into();
                own.reason = String::new();
                own.message = String::new();
                variables.forget(&it.name);
            }
            Outcome::Succeeded(message) => {
                let own = row_mut(status, group, it, &id);
                own.phase = "succeeded".into();
                own.reason = String::new();
                own.message = message;
                variables.forget(&it.name);
            }
            Outcome::Broken(message) => {
                let own = row_mut(status, group, it, &id);
                own.phase = "succeeded".into();
                own.reason = "Terminate".into();
                own.message.clone_from(&message);
                self.broken = Some(message);
                variables.forget(&it.name);
            }
            Outcome::Waiting(message) => {
                let own = row_mut(status, group, it, &id);
                let same = own.message == message;
                own.phase = "running".into();
                own.reason = "Wait".into();
                own.message = message;
                // A look before its time, because something changed, is no attempt.
                let planned = variables.marks.get(&it.name).and_then(|it| it.next);
                if let Some(next) = planned.filter(|next| *next > now) {
                    self.wake_at(next);
                    return;
                }
                let mark = variables.mark(&it.name);
                mark.failures = 0;
                mark.waits = if same { mark.waits + 1 } else { 1 };
                let next = now + self.round.caps.delay(mark.waits, false);
                mark.next = Some(next);
                self.wake_at(next);
            }
            Outcome::Suspended { after, message, field } => {
                let own = row_mut(status, group, it, &id);
                own.phase = "suspending".into();
                own.reason = "Suspend".into();
                own.message = message;
                status.suspend = true;
                let until = after.map(|it| now + it);
                let mark = variables.mark(&it.name);
                mark.suspended = Some(now);
                mark.until = until;
                mark.field = field;
                mark.next = None;
                if let Some(until) = until {
                    self.wake_at(until);
                }
            }
            Outcome::Failed { reason, message } => {
                let own = row_mut(status, group, it, &id);
                own.phase = "failed".into();
                own.reason = reason.into();
                own.message = message;
                variables.forget(&it.name);
            }
            Outcome::Troubled(message) => {
                let limit = self.round.retries;
                let mark = variables.mark(&it.name);
                mark.waits = 0;
                mark.failures += 1;
                let failures = mark.failures;
                let next = now + self.round.caps.delay(failures, true);
                mark.next = Some(next);
                let own = row_mut(status, group, it, &id);
                own.message = message;
                // The attempt after the last retry ends it (W rows, kubevela-observed.md 4).
                if failures > limit {
                    own.phase = "failed".into();
                    own.reason = "FailedAfterRetries".into();
                    variables.forget(&it.name);
                } else {
                    own.phase = "running".into();
                    own.reason = "Execute".into();
                    self.wake_at(next);
                }
            }
        }
    }
}

fn row<'a>(status: &'a WorkflowStatus, group: Option<&str>, name: &str) -> Option<&'a StepStatus> {
    match group {
        None => status.steps.iter().find(|it| it.name == name),
        Some(group) => status
            .steps
            .iter()
            .find(|it| it.name == group)?
            .sub_steps
            .iter()
            .find(|it| it.name == name),
    }
}

fn row_mut<'a>(
    status: &'a mut WorkflowStatus,
    group: Option<&str>,
    it: &WorkflowStep,
    id: &str,
) -> &'a mut StepStatus {
    let rows = match group {
        None => &mut status.steps,
        Some(group) => {
            let at = match status.steps.iter().position(|row| row.name == group) {
                Some(at) => at,
                None => {
                    status.steps.push(StepStatus {
                        name: group.into(),
                        r#type: "step-group".into(),
                        id: format!("{id}g"),
                        ..StepStatus::default()
                    });
                    status.steps.len() - 1
                }
            };
            &mut status.steps[at].sub_steps
        }
    };
    let at = match rows.iter().position(|row| row.name == it.name) {
        Some(at) => at,
        None => {
            rows.push(StepStatus {
                name: it.name.clone(),
                r#type: it.r#type.clone(),
                id: id.into(),
                ..StepStatus::default()
            });
            rows.len() - 1
        }
    };
    &mut rows[at]
}

fn failed(status: &WorkflowStatus, group: Option<&str>) -> bool {
    let rows = match group {
        None => &status.steps,
        Some(group) => match status.steps.iter().find(|it| it.name == group) {
            Some(own) => &own.sub_steps,
            None => return false,
        },
    };
    rows.iter().any(|it| it.phase == "failed")
}

fn terminate(status: &mut WorkflowStatus, now: DateTime<Utc>) -> Passed {
    let mut end = |row: &mut StepStatus| {
        if matches!(row.phase.as_str(), "running" | "suspending" | "pending") {
            row.phase = "failed".into();
            row.reason = "Terminate".into();
        }
    };
    for row in &mut status.steps {
        row.sub_steps.iter_mut().for_each(&mut end);
        end(row);
    }
    status.terminated = true;
    status.suspend = false;
    finish(status, now);
    Passed { state: State::Terminated, wake: None }
}

fn finish(status: &mut WorkflowStatus, now: DateTime<Utc>) {
    status.finished = true;
    status.end_time = Some(now.to_rfc3339_opts(SecondsFormat::Secs, true));
}

fn ended(status: &WorkflowStatus) -> State {
    if status.terminated
        && !status.steps.iter().any(|it| it.phase == "failed" && it.reason != "Terminate")
    {
        State::Terminated
    } else if status.steps.iter().any(|it| it.phase == "failed") {
        State::Failed
    } else {
        State::Succeeded
    }
}

fn conclude(
    round: &Round<'_>,
    status: &mut WorkflowStatus,
    now: DateTime<Utc>,
    wake: Option<DateTime<Utc>>,
) -> Passed {
    status.step_index =
        i64::try_from(status.steps.iter().filter(|it| DONE.contains(&it.phase.as_str())).count())
            .unwrap_or(0);
    let all = round.steps.iter().all(|it| is_done(row(status, None, &it.name)));
    if all {
        let failed = status.steps.iter().any(|it| it.phase == "failed");
        status.terminated = failed;
        finish(status, now);
        return Passed { state: ended(status), wake: None };
    }
    let suspending = status.steps.iter().any(|it| {
        it.phase == "suspending" || it.sub_steps.iter().any(|it| it.phase == "suspending")
    });
    if suspending {
        status.suspend = true;
        return Passed { state: State::Suspended, wake };
    }
    Passed { state: State::Executing, wake: wake.or(Some(now + Duration::seconds(1))) }
}
