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
use serde_json::{Map, Value};

use super::backoff::{After, Caps};
use super::look::Look;
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

/// Which steps run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    StepByStep,
    /// All whose needs are met.
    Dag,
}

impl Order {
    /// By the name that a mode has in a spec: `DAG` or `StepByStep`.
    pub fn of(mode: &str) -> Self {
        if mode == "DAG" { Self::Dag } else { Self::StepByStep }
    }
}

/// What a pass came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// How it ended.
    pub state: State,
    /// When to look again, unless something changes before.
    pub wake: Option<DateTime<Utc>>,
}

/// How often a step is tried, and what happens then.
#[derive(Clone, Copy, Debug)]
pub struct Trials {
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts.
    pub caps: Caps,
    /// Gate `EnableSuspendOnFailure`.
    pub suspends: bool,
}

/// What is told of a run that a failure has suspended.
const TOO_OFTEN: &str =
    "The workflow suspends automatically because the failed times of steps have reached the limit";

/// Reason of a step that was tried too often.
const EXHAUSTED: &str = "FailedAfterRetries";

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
    /// Gate `EnableSuspendOnFailure`: a failure ends nothing; one too many suspends the run.
    pub suspends: bool,
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
    pub(super) progress: Progress,
}

/// How far this round has come.
#[derive(Default)]
pub(super) struct Progress {
    /// When to look again.
    pub(super) wake: Option<DateTime<Utc>>,
    /// Steps that are not to be looked at again in this round.
    pub(super) seen: HashSet<String>,
    /// By group: steps of a DAG that were free to run by now.
    pub(super) waves: HashMap<String, HashSet<String>>,
    /// A step ran.
    pub(super) ran: bool,
    /// Nothing more can run: what waits is told why.
    pub(super) closing: bool,
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

impl<'a> Plan<'a> {
    /// A round over `steps`.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        (steps, mode): (&'a [WorkflowStep], &'a ExecuteMode),
        Trials { retries, caps, suspends }: Trials,
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
            suspends,
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
        self.try_anew();
        self.held()
    }

    /// The next step to run; `None` once this round is over.
    pub fn next_step(&mut self) -> Option<Due<'a>> {
        let (steps, order) = (self.steps, Order::of(&self.mode.steps));
        if let Look::Due(due) = self.look(steps, None, order) {
            self.progress.ran = true;
            return Some(due);
        }
        self.progress.closing = true;
        self.look(steps, None, order);
        None
    }

    /// How the run stands after this round.
    pub fn end(mut self) -> Passed {
        self.status.step_index = i64::try_from(count_done(self.status)).unwrap_or(0);
        if self.steps.iter().all(|it| self.is_over(row(self.status, None, &it.name))) {
            self.status.terminated = self.is_broken() || any_failed(self.status);
            self.finish();
            return Passed { state: ended(self.status), wake: None };
        }
        let mut suspending = false;
        each(self.status, |it| suspending |= it.phase == "suspending");
        if suspending {
            self.status.suspend = true;
            return Passed { state: State::Suspended, wake: self.progress.wake };
        }
        if self.suspends {
            let mut failed = false;
            each(self.status, |it| failed |= it.phase == "failed");
            if failed {
                return self.after_failure();
            }
        }
        let soon = self.now.checked_add_signed(Duration::seconds(1));
        Passed { state: State::Executing, wake: self.progress.wake.or(soon) }
    }

    /// Whether nothing more comes of a step; where failures suspend, a failed one is not over.
    pub(super) fn is_over(&self, row: Option<&StepStatus>) -> bool {
        is_done(row) && !(self.suspends && row.is_some_and(|it| it.phase == "failed"))
    }

    /// Whether a step has ended the run: what is left is ended too, but for what always runs (W-63).
    pub(super) fn is_broken(&self) -> bool {
        let all = self.status.steps.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps));
        all.into_iter().any(|it| it.phase == "succeeded" && it.reason == "Terminate")
    }

    /// A run that goes on after failures: it is suspended once nothing waits and a step was tried too
    /// often; a step that failed otherwise just stays (E-112, kubevela-observed.md 12).
    fn after_failure(&mut self) -> Passed {
        let (mut waits, mut exhausted) = (false, false);
        each(self.status, |it| {
            waits |= it.phase == "running" && it.reason == "Wait";
            exhausted |= it.phase == "failed" && it.reason == EXHAUSTED;
        });
        let wake = self.progress.wake;
        if waits || !exhausted {
            return Passed { state: State::Executing, wake };
        }
        self.status.suspend = true;
        self.status.message = TOO_OFTEN.into();
        Passed { state: State::Suspended, wake: None }
    }

    /// Somebody resumed what failures had suspended: it is tried anew.
    fn try_anew(&mut self) {
        if self.status.message != TOO_OFTEN || self.status.suspend {
            return;
        }
        self.status.message = String::new();
        let mut again = Vec::new();
        each(self.status, |row| {
            if row.phase == "failed" && row.reason == EXHAUSTED {
                row.phase = "running".into();
                again.push(row.name.clone());
            }
        });
        for name in again {
            let mark = self.variables.mark(&name);
            (mark.failures, mark.next) = (0, None);
        }
    }

    pub(super) fn wake_at(&mut self, at: DateTime<Utc>) {
        let wake = &mut self.progress.wake;
        *wake = Some(wake.map_or(at, |it| it.min(at)));
    }

    /// A time from now; the last there is, if that is beyond all times.
    fn after(&self, wait: Duration) -> DateTime<Utc> {
        self.now.checked_add_signed(wait).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    pub(super) fn time(&self) -> Option<String> {
        Some(self.now.to_rfc3339_opts(SecondsFormat::Secs, true))
    }

    pub(super) fn own(&mut self, it: &WorkflowStep, group: Option<&str>) -> &mut StepStatus {
        // A row that was never written has its id from what was: that of its marks.
        let known = self.variables.marks.get(&it.name).map(|it| it.id.clone());
        let known = known.filter(|it| !it.is_empty());
        match known {
            Some(id) => row_mut(self.status, group, it, &|| id.clone()),
            None => row_mut(self.status, group, it, self.new_id),
        }
    }

    /// A step is over without having run, or without having run to its end.
    pub(super) fn decide(
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
        let in_order = Order::of(&self.mode.steps) == Order::StepByStep;
        if suspending && (in_order || resumed.is_empty()) {
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

    pub(super) fn input(&self, from: &str) -> Option<Value> {
        input(self.variables, self.context, from)
    }

    /// What came of a step.
    pub fn record(&mut self, due: &Due<'_>, outcome: Outcome) {
        let (it, group, now) = (due.step, due.group, self.now);
        match outcome {
            Outcome::Succeeded(message) => self.over(due, "succeeded", "", message),
            Outcome::Broken(message) => {
                self.over(due, "succeeded", "Terminate", message.clone());
                self.status.message = message;
                self.status.suspend = false;
            }
            Outcome::Failed { reason, message } => self.fails(due, reason, message),
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
                let next = self.after(self.caps.delay(waits, After::Wait));
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
                    self.fails(due, EXHAUSTED, message);
                    return;
                }
                let next = self.after(self.caps.delay(failures, After::Failure));
                self.variables.mark(&it.name).next = Some(next);
                put(self.own(it, group), "running", "Execute", message);
                self.wake_at(next);
            }
        }
    }

    /// A failure ends the step; where failures suspend, those that need its values go on waiting.
    fn fails(&mut self, due: &Due<'_>, reason: &str, message: String) {
        if self.suspends {
            put(self.own(due.step, due.group), "failed", reason, message);
        } else {
            self.over(due, "failed", reason, message);
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
