//! Where a round looks for the next step: in order or in the waves of a DAG, through conditions, groups and
//! timeouts (E-109 to E-111).

use std::collections::HashSet;

use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::backoff::parse_duration;
use super::condition;
use super::plan::{Due, Order, Plan};
use super::rows::{is_done, put, row};
use crate::api::workflow::{StepStatus, WorkflowStep};

/// What a look at some steps came to.
pub(super) enum Look<'a> {
    Due(Due<'a>),
    /// None of them is due, and those behind them may not run.
    Stop,
    /// None of them is due.
    Past,
}

impl<'a> Plan<'a> {
    /// Steps of the workflow, or of a group, from the first one.
    pub(super) fn look(
        &mut self,
        steps: &'a [WorkflowStep],
        group: Option<&'a str>,
        order: Order,
    ) -> Look<'a> {
        if order == Order::Dag {
            return self.look_in_waves(steps, group);
        }
        for it in steps {
            self.stop_broken(it, group);
            if self.is_over(row(self.status, group, &it.name)) {
                continue;
            }
            // A group that was begun in this round is looked through to its end.
            let begun = self.progress.waves.contains_key(&it.name);
            if self.status.suspend && !begun {
                return Look::Stop;
            }
            if let Some(message) = self.missing(it, group) {
                if self.progress.closing {
                    self.pending(it, group, message);
                }
                return Look::Stop;
            }
            if let Some(due) = self.look_at(it, steps, group, Order::StepByStep) {
                return Look::Due(due);
            }
            if !self.is_over(row(self.status, group, &it.name)) {
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
                self.stop_broken(it, group);
                if self.is_over(row(self.status, group, &it.name)) {
                    continue;
                }
                if let Some(due) = self.look_at(it, steps, group, Order::Dag) {
                    return Look::Due(due);
                }
            }
            // Somebody is waited for: what became free meanwhile waits with the rest.
            if self.status.suspend && !wave.is_empty() {
                return Look::Past;
            }
            steps.iter().for_each(|it| self.stop_broken(it, group));
            if !wave.is_empty() {
                self.tell_waiting(steps, group, &wave);
            }
            let free: Vec<&str> = steps
                .iter()
                .filter(|it| !wave.contains(it.name.as_str()))
                .filter(|it| !self.is_over(row(self.status, group, &it.name)))
                .filter(|it| self.missing(it, group).is_none())
                .map(|it| it.name.as_str())
                .collect();
            if free.is_empty() {
                break;
            }
            let free: Vec<String> = free.into_iter().map(str::to_owned).collect();
            self.progress.waves.entry(key.to_owned()).or_default().extend(free);
        }
        if self.progress.closing {
            self.tell_waiting(steps, group, &HashSet::new());
        }
        Look::Past
    }

    /// Steps of a DAG that still wait for others, once something ran, say for which (E-109).
    fn tell_waiting(
        &mut self,
        steps: &'a [WorkflowStep],
        group: Option<&'a str>,
        wave: &HashSet<String>,
    ) {
        for it in steps.iter().filter(|it| !wave.contains(it.name.as_str())) {
            let known = row(self.status, group, &it.name);
            if self.is_over(known) || !(self.progress.ran || known.is_some()) {
                continue;
            }
            if let Some(message) = self.missing(it, group) {
                self.pending(it, group, message);
            }
        }
    }

    /// After a `#Break` only what always runs is looked at: the rest is ended where it runs, and left
    /// out where it does not (W-63). A group that runs goes on to the end of its steps.
    fn stop_broken(&mut self, it: &WorkflowStep, group: Option<&str>) {
        let live = row(self.status, group, &it.name);
        if !self.is_broken() || condition::is_always(it.r#if.trim()) || self.is_over(live) {
            return;
        }
        let runs = live.is_some_and(|it| matches!(it.phase.as_str(), "running" | "suspending"));
        if !runs {
            self.skip(it, group, String::new());
        } else if it.r#type != "step-group" {
            self.decide(it, group, "failed", "Terminate", String::new());
            self.variables.forget(&it.name);
        }
    }

    /// A step is left out, with all in it.
    fn skip(&mut self, it: &WorkflowStep, group: Option<&str>, message: String) {
        self.decide(it, group, "skipped", "Skip", message);
        for sub in &it.sub_steps {
            self.decide(sub, Some(&it.name), "skipped", "Skip", String::new());
        }
    }

    /// What a step waits for before anything of it is looked at (E-110).
    fn missing(&self, it: &WorkflowStep, group: Option<&str>) -> Option<String> {
        let before = it.depends_on.iter().find(|name| !self.is_over(self.before(group, name)));
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
        order: Order,
    ) -> Option<Due<'a>> {
        let seen = self.progress.seen.contains(&it.name);
        if !seen && self.is_skipped(it, steps, group, order) {
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

    /// The row of a step that waits for others.
    fn pending(&mut self, it: &WorkflowStep, group: Option<&str>, message: String) {
        let time = self.time();
        let own = self.own(it, group);
        own.phase = "pending".into();
        // What upstream's runners are made from shows until they run (E-100).
        if it.r#type == "apply-component" {
            own.r#type = "builtin-apply-component".into();
        }
        own.message = message;
        own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
        own.last_execute_time = own.last_execute_time.take().or(time);
    }

    /// Whether the step is left out: by its `if`, or because of what it comes after (E-111).
    fn is_skipped(
        &mut self,
        it: &WorkflowStep,
        steps: &[WorkflowStep],
        group: Option<&str>,
        order: Order,
    ) -> bool {
        let text = it.r#if.trim();
        let runs = row(self.status, group, &it.name)
            .is_some_and(|it| matches!(it.phase.as_str(), "running" | "suspending"));
        if self.suspends || condition::is_always(text) || runs {
            return false;
        }
        let mut message = String::new();
        let skip = if text.is_empty() {
            self.comes_after_failure(it, steps, group, order)
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
            self.skip(it, group, message);
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
        order: Order,
    ) -> bool {
        if it.depends_on.is_empty() {
            let earlier = steps.iter().take_while(|other| other.name != it.name);
            return order == Order::StepByStep
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
        let order = Order::of(match it.mode.as_str() {
            "" => &self.mode.sub_steps,
            mode => mode,
        });
        if let Look::Due(due) = self.look(&it.sub_steps, Some(&it.name), order) {
            return Look::Due(due);
        }
        let own = self.own(it, None);
        if own.sub_steps.iter().any(|row| row.phase == "suspending") {
            own.phase = "suspending".into();
        }
        let rows = own.sub_steps.clone();
        let over = |sub: &WorkflowStep| self.is_over(rows.iter().find(|row| row.name == sub.name));
        if it.sub_steps.iter().all(over) {
            let own = self.own(it, None);
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
        // It is not over where failures suspend, but it does not run by itself either.
        if row(self.status, group, &it.name).is_some_and(|it| it.phase == "failed") {
            return None;
        }
        if self.is_timed_out(it, group) {
            self.decide(it, group, "failed", "Timeout", String::new());
            self.variables.forget(&it.name);
            return None;
        }
        let time = self.time();
        let mark = self.variables.marks.get(&it.name).cloned().unwrap_or_default();
        let own = self.own(it, group);
        own.first_execute_time = own.first_execute_time.take().or_else(|| time.clone());
        // That it suspends may not have been written: it is run again then, up to there.
        if mark.suspended.is_some() && own.phase == "suspending" {
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
        own.r#type.clone_from(&it.r#type);
        let id = own.id.clone();
        Some(Due { step: it, group, id, resumed: mark.resumed })
    }
}

/// Whether steps of the type deliver components: running them again asks nobody outside for anything.
fn delivers(r#type: &str) -> bool {
    matches!(r#type, "apply-component" | "builtin-apply-component" | "deploy")
}
