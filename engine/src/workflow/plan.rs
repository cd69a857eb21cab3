//! Which step is next, and what outcomes make of the status: no effect, no waiting, no clock.
//!
//! ~~~text
//! Plan::begin ─ Some(Passed): nothing to run
//!      │ None
//!      ▼
//! next ─ Some(Due) ─▶ (the step is run) ─▶ record ─▶ next … ─ None ─▶ end ─▶ Passed
//! ~~~

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::backoff::{Caps, parse_duration};
use super::condition;
use super::rows::{any_failed, count_done, each, is_done, put, row, row_mut};
use super::step::Outcome;
use super::variables::Variables;
use crate::api::workflow::{ExecuteMode, StepStatus, WorkflowStatus, WorkflowStep};

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

/// What a plan is made from, and what it changes.
pub struct Plan<'a> {
    /// Steps in order.
    pub steps: &'a [WorkflowStep],
    /// Both fields set.
    pub mode: &'a ExecuteMode,
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts.
    pub caps: Caps,
    /// The time of this round.
    pub now: DateTime<Utc>,
    /// Ids for new rows.
    pub new_id: &'a (dyn Fn() -> String + Send + Sync),
    /// Whether an `if` holds: its text, the steps' statuses, `inputs` and `parameter`.
    pub judge: &'a (dyn Fn(&str, &Value, &Value) -> Result<bool, String> + Send + Sync),
    /// What inputs may be from besides values.
    pub context: &'a Map<String, Value>,
    /// What has become of the run.
    pub status: &'a mut WorkflowStatus,
    /// Values and marks.
    pub variables: &'a mut Variables,
    progress: Progress,
}

/// How far this round has come.
#[derive(Default)]
struct Progress {
    /// When to look again.
    wake: Option<DateTime<Utc>>,
    /// A step ended the run.
    broken: Option<String>,
    /// Steps that are not to be looked at again in this round.
    seen: HashSet<String>,
    /// By group: steps of a DAG that were free to run by now.
    waves: HashMap<String, HashSet<String>>,
    /// A step ran.
    ran: bool,
    /// Nothing more can run: what waits is told why.
    closing: bool,
}

/// A step that is to be run now.
#[derive(Clone, Debug, PartialEq)]
pub struct Due<'a> {
    /// The step.
    pub step: &'a WorkflowStep,
    /// Its group, if it is in one.
    pub group: Option<&'a str>,
    /// Id of its row.
    pub id: String,
    /// Suspends in it that are over.
    pub resumed: Vec<String>,
}

/// What a look at some steps came to.
enum Look<'a> {
    Due(Due<'a>),
    /// None of them is due, and those behind them may not run.
    Stop,
    /// None of them is due.
    Past,
}

impl<'a> Plan<'a> {
    /// A round over `steps`.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        (steps, mode): (&'a [WorkflowStep], &'a ExecuteMode),
        (retries, caps): (u32, Caps),
        now: DateTime<Utc>,
        new_id: &'a (dyn Fn() -> String + Send + Sync),
        judge: &'a (dyn Fn(&str, &Value, &Value) -> Result<bool, String> + Send + Sync),
        context: &'a Map<String, Value>,
        status: &'a mut WorkflowStatus,
        variables: &'a mut Variables,
    ) -> Self {
        let progress = Progress::default();
        Self {
            steps,
            mode,
            retries,
            caps,
            now,
            new_id,
            judge,
            context,
            status,
            variables,
            progress,
        }
    }

    /// Whether the run goes on at all; how it stands if not.
    pub fn begin(&mut self) -> Option<Passed> {
        if self.status.finished {
            return Some(Passed { state: ended(self.status), wake: None });
        }
        if self.status.terminated {
            return Some(self.terminate());
        }
        self.held()
    }

    /// The next step to run; `None` once this round is over.
    pub fn next(&mut self) -> Option<Due<'a>> {
        let (steps, dag) = (self.steps, self.mode.steps == "DAG");
        if let Look::Due(due) = self.look(steps, None, dag) {
            self.progress.ran = true;
            return Some(due);
        }
        self.progress.closing = true;
        self.look(steps, None, dag);
        None
    }

    /// How the run stands after this round.
    pub fn end(mut self) -> Passed {
        if let Some(message) = self.progress.broken.take() {
            self.status.message = message;
            return self.terminate();
        }
        self.status.step_index = i64::try_from(count_done(self.status)).unwrap_or(0);
        if self.steps.iter().all(|it| is_done(row(self.status, None, &it.name))) {
            self.status.terminated = any_failed(self.status, None);
            self.finish();
            return Passed { state: ended(self.status), wake: None };
        }
        let mut suspending = false;
        each(self.status, |it| suspending |= it.phase == "suspending");
        if suspending {
            self.status.suspend = true;
            return Passed { state: State::Suspended, wake: self.progress.wake };
        }
        let soon = self.now.checked_add_signed(Duration::seconds(1));
        Passed { state: State::Executing, wake: self.progress.wake.or(soon) }
    }

    fn wake_at(&mut self, at: DateTime<Utc>) {
        let wake = &mut self.progress.wake;
        *wake = Some(wake.map_or(at, |it| it.min(at)));
    }

    /// A time from now; the last there is, if that is beyond all times.
    fn after(&self, wait: Duration) -> DateTime<Utc> {
        self.now.checked_add_signed(wait).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    fn time(&self) -> Option<String> {
        Some(self.now.to_rfc3339_opts(SecondsFormat::Secs, true))
    }

    fn own(&mut self, it: &WorkflowStep, group: Option<&str>) -> &mut StepStatus {
        // A row that was never written has its id from what was: that of its marks.
        let known = self.variables.marks.get(&it.name).map(|it| it.id.clone());
        let known = known.filter(|it| !it.is_empty());
        match known {
            Some(id) => row_mut(self.status, group, it, &|| id.clone()),
            None => row_mut(self.status, group, it, self.new_id),
        }
    }

    /// A step is over without having run, or without having run to its end.
    fn decide(
        &mut self,
        it: &WorkflowStep,
        group: Option<&str>,
        phase: &str,
        reason: &str,
        message: String,
    ) {
        let time = self.time();
        let own = self.own(it, group);
        put(own, phase, reason, message);
        own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
        own.last_execute_time = time;
        self.give_nothing(it);
    }

    /// A step that is over has given what it gives: those that wait for the rest see nothing
    /// (E-120).
    fn give_nothing(&mut self, it: &WorkflowStep) {
        for output in &it.outputs {
            if self.variables.get(&output.name).is_none() {
                self.variables.set(&output.name, Value::Null);
            }
        }
    }

    /// A user's `suspend: true` stops everything; `false` beside suspending steps lets them go on
    /// (kubevela-observed.md 3).
    fn held(&mut self) -> Option<Passed> {
        let (now, stopped) = (self.now, self.status.suspend);
        let mut suspending = false;
        let mut wake: Option<DateTime<Utc>> = None;
        let mut resumed = Vec::new();
        let marks = &self.variables.marks;
        each(self.status, |row| {
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
        });
        for name in &resumed {
            let mark = self.variables.mark(name);
            let field = std::mem::take(&mut mark.field);
            mark.resumed.push(field);
            mark.suspended = None;
            mark.until = None;
        }
        if suspending && (self.mode.steps != "DAG" || resumed.is_empty()) {
            self.status.suspend = true;
            return Some(Passed { state: State::Suspended, wake });
        }
        if !resumed.is_empty() {
            self.status.suspend = suspending;
            return None;
        }
        if self.status.suspend && !suspending {
            return Some(Passed { state: State::Suspended, wake: None });
        }
        None
    }

    fn input(&self, from: &str) -> Option<Value> {
        input(self.variables, self.context, from)
    }

    /// Steps of the workflow, or of a group, from the first one.
    fn look(&mut self, steps: &'a [WorkflowStep], group: Option<&'a str>, dag: bool) -> Look<'a> {
        if dag {
            return self.look_in_waves(steps, group);
        }
        for it in steps {
            if is_done(row(self.status, group, &it.name)) {
                continue;
            }
            // A group that was begun in this round is looked through to its end.
            let begun = self.progress.waves.contains_key(&it.name);
            if self.progress.broken.is_some() || self.status.suspend && !begun {
                return Look::Stop;
            }
            if let Some(message) = self.missing(it, group) {
                self.pending(it, group, false, message);
                return Look::Stop;
            }
            if let Some(due) = self.look_at(it, steps, group, false) {
                return Look::Due(due);
            }
            if !is_done(row(self.status, group, &it.name)) {
                return Look::Stop;
            }
        }
        Look::Past
    }

    /// All that nothing keeps from running, in order; then what became free by that (E-109).
    fn look_in_waves(&mut self, steps: &'a [WorkflowStep], group: Option<&'a str>) -> Look<'a> {
        let key = group.unwrap_or_default();
        loop {
            let wave = self.progress.waves.get(key).cloned().unwrap_or_default();
            for it in steps.iter().filter(|it| wave.contains(it.name.as_str())) {
                if self.progress.broken.is_some() {
                    return Look::Stop;
                }
                if is_done(row(self.status, group, &it.name)) {
                    continue;
                }
                if let Some(due) = self.look_at(it, steps, group, true) {
                    return Look::Due(due);
                }
            }
            // Somebody is waited for: what became free meanwhile waits with the rest.
            if self.status.suspend && !wave.is_empty() {
                return Look::Past;
            }
            let free: Vec<&str> = steps
                .iter()
                .filter(|it| !wave.contains(it.name.as_str()))
                .filter(|it| !is_done(row(self.status, group, &it.name)))
                .filter(|it| self.missing(it, group).is_none())
                .map(|it| it.name.as_str())
                .collect();
            if free.is_empty() {
                break;
            }
            let free: Vec<String> = free.into_iter().map(str::to_owned).collect();
            self.progress.waves.entry(key.to_owned()).or_default().extend(free);
        }
        for it in steps {
            let open = !is_done(row(self.status, group, &it.name));
            if open && let Some(message) = self.missing(it, group) {
                self.pending(it, group, true, message);
            }
        }
        Look::Past
    }

    /// What a step waits for before anything of it is looked at (E-110).
    fn missing(&self, it: &WorkflowStep, group: Option<&str>) -> Option<String> {
        let before = it.depends_on.iter().find(|name| !is_done(self.before(group, name)));
        if let Some(name) = before {
            return Some(format!("Pending on DependsOn: {name}"));
        }
        let input = it.inputs.iter().find(|it| self.input(&it.from).is_none())?;
        Some(format!("Pending on Input: {}", input.from))
    }

    /// The row of a step that another one depends on: beside it, or outside its group.
    fn before(&self, group: Option<&str>, name: &str) -> Option<&StepStatus> {
        row(self.status, group, name).or_else(|| row(self.status, None, name))
    }

    /// A step that waits for no other: to be run, or decided upon.
    fn look_at(
        &mut self,
        it: &'a WorkflowStep,
        steps: &[WorkflowStep],
        group: Option<&'a str>,
        dag: bool,
    ) -> Option<Due<'a>> {
        let seen = self.progress.seen.contains(&it.name);
        if !seen && self.is_skipped(it, steps, group, dag) {
            return None;
        }
        if it.r#type == "step-group" {
            return match self.look_into(it) {
                Look::Due(due) => Some(due),
                Look::Stop | Look::Past => None,
            };
        }
        if seen { None } else { self.due(it, group) }
    }

    /// What waits for others is told of once nothing more can run; in a DAG only after something
    /// ran (E-109).
    fn pending(&mut self, it: &WorkflowStep, group: Option<&str>, dag: bool, message: String) {
        let told = row(self.status, group, &it.name).is_some();
        if self.progress.closing && (self.progress.ran || told || !dag) {
            let time = self.time();
            let own = self.own(it, group);
            own.phase = "pending".into();
            own.message = message;
            own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
            own.last_execute_time = own.last_execute_time.take().or(time);
        }
    }

    /// Whether the step is left out: by its `if`, or because of what it comes after (E-111).
    fn is_skipped(
        &mut self,
        it: &WorkflowStep,
        steps: &[WorkflowStep],
        group: Option<&str>,
        dag: bool,
    ) -> bool {
        let text = it.r#if.trim();
        let runs = row(self.status, group, &it.name)
            .is_some_and(|it| matches!(it.phase.as_str(), "running" | "suspending"));
        if condition::is_always(text) || runs {
            return false;
        }
        let mut message = String::new();
        let skip = if text.is_empty() {
            self.comes_after_failure(it, steps, group, dag)
        } else {
            let seen = condition::statuses(self.status);
            let inputs: Map<String, Value> = it
                .inputs
                .iter()
                .map(|it| (it.from.clone(), self.input(&it.from).unwrap_or_default()))
                .collect();
            let parameter = it.properties.clone().unwrap_or_else(|| json!({}));
            let scope = json!({"inputs": inputs, "parameter": parameter});
            match (self.judge)(text, &seen, &scope) {
                Ok(holds) => !holds,
                Err(error) => {
                    message = format!("pre check error: {error}");
                    true
                }
            }
        };
        if skip {
            self.decide(it, group, "skipped", "Skip", message);
            for sub in &it.sub_steps {
                self.decide(sub, Some(&it.name), "skipped", "Skip", String::new());
            }
        }
        skip
    }

    /// What a step depends on must have succeeded, and what that depends on; without that, what is
    /// before it in order must not have failed.
    fn comes_after_failure(
        &self,
        it: &WorkflowStep,
        steps: &[WorkflowStep],
        group: Option<&str>,
        dag: bool,
    ) -> bool {
        if it.depends_on.is_empty() {
            let earlier = steps.iter().take_while(|other| other.name != it.name);
            return !dag
                && earlier
                    .filter_map(|it| row(self.status, group, &it.name))
                    .any(|it| it.phase == "failed");
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = it.depends_on.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            if self.before(group, name).is_none_or(|it| it.phase != "succeeded") {
                return true;
            }
            let own = steps.iter().chain(self.steps).find(|it| it.name == name);
            open.extend(own.into_iter().flat_map(|it| &it.depends_on).map(String::as_str));
        }
        false
    }

    /// A group: it runs while its steps do, and comes to what they come to.
    fn look_into(&mut self, it: &'a WorkflowStep) -> Look<'a> {
        let time = self.time();
        let own = self.own(it, None);
        put(own, "running", "", String::new());
        own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
        own.last_execute_time = time;
        if self.is_timed_out(it, None) {
            put(self.own(it, None), "failed", "Timeout", String::new());
            for sub in &it.sub_steps {
                let open = row(self.status, Some(&it.name), &sub.name);
                if open.is_some_and(|it| !is_done(Some(it))) {
                    put(self.own(sub, Some(&it.name)), "failed", "Timeout", String::new());
                }
            }
            return Look::Past;
        }
        let dag = match it.mode.as_str() {
            "" => self.mode.sub_steps == "DAG",
            mode => mode == "DAG",
        };
        if let Look::Due(due) = self.look(&it.sub_steps, Some(&it.name), dag) {
            return Look::Due(due);
        }
        let own = self.own(it, None);
        if own.sub_steps.iter().any(|row| row.phase == "suspending") {
            own.phase = "suspending".into();
        }
        let over =
            |sub: &WorkflowStep| is_done(own.sub_steps.iter().find(|row| row.name == sub.name));
        if it.sub_steps.iter().all(over) {
            match own.sub_steps.iter().find(|row| row.phase == "failed") {
                Some(wrong) => {
                    own.reason = wrong.reason.clone();
                    own.phase = "failed".into();
                }
                None => own.phase = "succeeded".into(),
            }
        }
        Look::Past
    }

    fn is_timed_out(&mut self, it: &WorkflowStep, group: Option<&str>) -> bool {
        let Some(limit) = parse_duration(&it.timeout) else { return false };
        let first = row(self.status, group, &it.name).and_then(|it| it.first_execute_time.clone());
        let first = first.and_then(|it| DateTime::parse_from_rfc3339(&it).ok());
        // An end beyond all times never comes.
        let Some(end) = first.and_then(|it| it.to_utc().checked_add_signed(limit)) else {
            return false;
        };
        if end <= self.now {
            return true;
        }
        self.wake_at(end);
        false
    }

    /// A step that nothing keeps from running but its own past.
    fn due(&mut self, it: &'a WorkflowStep, group: Option<&'a str>) -> Option<Due<'a>> {
        self.progress.seen.insert(it.name.clone());
        if self.is_timed_out(it, group) {
            self.decide(it, group, "failed", "Timeout", String::new());
            self.variables.forget(&it.name);
            return None;
        }
        let time = self.time();
        let mark = self.variables.marks.get(&it.name).cloned().unwrap_or_default();
        let own = self.own(it, group);
        own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
        if mark.suspended.is_some() {
            return None;
        }
        // What delivers looks again whenever something changed; all else at its time.
        if let Some(next) = mark.next.filter(|next| *next > self.now)
            && (mark.failures > 0 || !delivers(&it.r#type))
        {
            self.wake_at(next);
            return None;
        }
        let own = self.own(it, group);
        own.last_execute_time = time;
        let id = own.id.clone();
        Some(Due { step: it, group, id, resumed: mark.resumed })
    }

    /// What came of a step.
    pub fn record(&mut self, due: &Due<'_>, outcome: Outcome) {
        let (it, group, now) = (due.step, due.group, self.now);
        match outcome {
            Outcome::Succeeded(message) => self.over(due, "succeeded", "", message),
            Outcome::Broken(message) => {
                let reason = if message.is_empty() { "" } else { "Terminate" };
                self.over(due, "succeeded", reason, message.clone());
                self.progress.broken = Some(message);
            }
            Outcome::Failed { reason, message } => self.over(due, "failed", reason, message),
            Outcome::Waiting(message) => {
                let own = self.own(it, group);
                let same = own.message == message;
                put(own, "running", "Wait", message);
                // A look before its time, because something changed, is no attempt.
                let planned = self.variables.marks.get(&it.name).and_then(|it| it.next);
                if let Some(next) = planned.filter(|next| *next > now) {
                    self.wake_at(next);
                    return;
                }
                let mark = self.variables.mark(&it.name);
                mark.failures = 0;
                mark.waits = if same { mark.waits.saturating_add(1) } else { 1 };
                let waits = mark.waits;
                let next = self.after(self.caps.delay(waits, false));
                self.variables.mark(&it.name).next = Some(next);
                self.wake_at(next);
            }
            Outcome::Suspended { after, message, field } => {
                put(self.own(it, group), "suspending", "Suspend", message);
                self.status.suspend = true;
                let until = after.map(|it| self.after(it));
                self.variables.stamp_suspend(&due.id, &field, now, until);
                let mark = self.variables.mark(&it.name);
                mark.id.clone_from(&due.id);
                mark.suspended = Some(now);
                mark.until = until;
                mark.field = field;
                mark.next = None;
                if let Some(until) = until {
                    self.wake_at(until);
                }
            }
            Outcome::Troubled(message) => {
                let mark = self.variables.mark(&it.name);
                mark.waits = 0;
                mark.failures = mark.failures.saturating_add(1);
                let failures = mark.failures;
                // The attempt after the last retry ends it (W rows, kubevela-observed.md 4).
                if failures > self.retries {
                    self.over(due, "failed", "FailedAfterRetries", message);
                    return;
                }
                let next = self.after(self.caps.delay(failures, true));
                self.variables.mark(&it.name).next = Some(next);
                put(self.own(it, group), "running", "Execute", message);
                self.wake_at(next);
            }
        }
    }

    fn over(&mut self, due: &Due<'_>, phase: &str, reason: &str, message: String) {
        put(self.own(due.step, due.group), phase, reason, message);
        self.give_nothing(due.step);
        self.variables.forget(&due.step.name);
    }

    fn terminate(&mut self) -> Passed {
        each(self.status, |row| {
            if matches!(row.phase.as_str(), "running" | "suspending" | "pending") {
                row.phase = "failed".into();
                row.reason = "Terminate".into();
            }
        });
        self.status.terminated = true;
        self.status.suspend = false;
        self.finish();
        Passed { state: State::Terminated, wake: None }
    }

    fn finish(&mut self) {
        self.status.finished = true;
        self.status.end_time = self.time();
    }
}

/// What an input is from: a variable, or else a path into the context (E-110).
pub(super) fn input(
    variables: &Variables,
    context: &Map<String, Value>,
    from: &str,
) -> Option<Value> {
    variables.get(from).or_else(|| {
        let mut path = from.strip_prefix("context.")?.split('.');
        let first = context.get(path.next()?)?;
        path.try_fold(first, |at, part| at.get(part)).cloned()
    })
}

/// Whether steps of the type deliver components: running them again asks nobody outside for anything.
fn delivers(r#type: &str) -> bool {
    matches!(r#type, "apply-component" | "builtin-apply-component" | "deploy")
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
