//! Jobs and CronJobs.

use std::str::FromStr;
use std::time::Duration;

use chrono::Utc;
use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::job_policy::{INDEX, Verdict, index, is_per_index, judge, success};
use crate::object::{
    Times, active, condition, count, deleting, ended, generate, is_true, name, now, pod, pod_id,
    pods_of, put_condition, ready, reference, set, text, time, uid,
};

const TRACKING: &str = "batch.kubernetes.io/job-tracking";

fn finished(job: &Value) -> bool {
    is_true(job, "Complete") || is_true(job, "Failed")
}

/// What the pods of a Job amount to.
struct Tally {
    active: Vec<Value>,
    succeeded: Vec<Value>,
    failed: Vec<Value>,
}

fn tally(pods: Vec<Value>) -> Tally {
    let mut tally = Tally { active: Vec::new(), succeeded: Vec::new(), failed: Vec::new() };
    for pod in pods {
        match text(&pod, "/status/phase") {
            "Succeeded" => tally.succeeded.push(pod),
            "Failed" => tally.failed.push(pod),
            _ if active(&pod) => tally.active.push(pod),
            _ => {}
        }
    }
    tally
}

/// Moves a Job on.
pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    let pods = pods_of(cx.cluster, id, object);
    for pod in pods.iter().filter(|pod| ended(pod) || deleting(pod)) {
        untrack(cx, id, pod);
    }
    if finished(object) {
        return expire(cx, id, object);
    }
    if deleting(object) {
        return;
    }
    let tally = tally(pods);
    let suspended = is_suspended(object);
    let verdict = judge(object, &tally.failed);
    let done = succeeded(&tally);
    let mut end = end(object, &tally, &verdict, &done);
    if let (Some(deadline), Some(since)) = (
        object.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64),
        time(&object["status"]["startTime"]),
    ) {
        let left = since + chrono::Duration::seconds(deadline) - Utc::now();
        match left.to_std() {
            Ok(left) => cx.queue.after(left, id),
            Err(_) => {
                let message = "Job was active longer than specified deadline";
                end = Some(End::failed("DeadlineExceeded", message));
            }
        }
    }
    let mut running = tally.active.len();
    if end.is_some() || suspended {
        for pod in &tally.active {
            let how = Deletion { uid: Some(uid(pod).to_owned()), ..Deletion::default() };
            let _gone = cx.cluster.delete(&pod_id(id, pod), &how);
        }
        running = 0;
    } else {
        running += create(cx, id, object, &tally, &verdict, &done);
    }
    write(cx, id, object, &tally, &verdict, running, end.as_ref(), &done);
}

/// Indexes that have succeeded, ascending; of a Job without indexes nothing.
fn succeeded(tally: &Tally) -> Vec<i64> {
    let mut done: Vec<i64> = tally.succeeded.iter().filter_map(index).collect();
    done.sort_unstable();
    done.dedup();
    done
}

/// How many of the completions are there.
fn reached(object: &Value, tally: &Tally, done: &[i64]) -> usize {
    if is_indexed(object) { done.len() } else { tally.succeeded.len() }
}

fn count_at(object: &Value, path: &str) -> Option<usize> {
    object.pointer(path)?.as_u64().and_then(|it| usize::try_from(it).ok())
}

/// Whether a Job is over, and how; the order is that of the Job controller.
fn end(object: &Value, tally: &Tally, verdict: &Verdict<'_>, done: &[i64]) -> Option<End> {
    if let Some(why) = &verdict.fails {
        return Some(End::failed("PodFailurePolicy", why));
    }
    if verdict.counted.len() > count_at(object, "/spec/backoffLimit").unwrap_or(6) {
        let message = "Job has reached the specified backoff limit";
        return Some(End::failed("BackoffLimitExceeded", message));
    }
    let given_up = verdict.failed_indexes.len();
    if count_at(object, "/spec/maxFailedIndexes").is_some_and(|most| given_up > most) {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(End::failed("MaxFailedIndexesExceeded", message));
    }
    let complete =
        |reason, message: &str| Some(End { kind: "Complete", reason, message: message.to_owned() });
    if let Some(rule) = success(object, done) {
        return complete("SuccessPolicy", &format!("Matched rules at index {rule}"));
    }
    let reached = reached(object, tally, done);
    let over = match count_at(object, "/spec/completions") {
        Some(completions) => reached + given_up >= completions,
        None => reached > 0 && tally.active.is_empty(),
    };
    if !over {
        None
    } else if given_up > 0 {
        Some(End::failed("FailedIndexes", "Job has failed indexes"))
    } else {
        complete("CompletionsReached", "Reached expected number of succeeded pods")
    }
}

/// How a Job ended.
struct End {
    /// The condition that says so.
    kind: &'static str,
    reason: &'static str,
    message: String,
}

impl End {
    fn failed(reason: &'static str, message: &str) -> Self {
        Self { kind: "Failed", reason, message: message.to_owned() }
    }
}

fn is_suspended(job: &Value) -> bool {
    job["spec"]["suspend"] == json!(true)
}

fn is_indexed(job: &Value) -> bool {
    text(job, "/spec/completionMode") == "Indexed"
}

fn untrack(cx: &Cx<'_>, id: &Id, pod: &Value) {
    let tracked = pod["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|all| all.iter().any(|it| it == TRACKING));
    if tracked {
        let _gone = cx.cluster.modify(&pod_id(id, pod), Part::Main, &mut |it| {
            if let Some(Value::Array(all)) = it.pointer_mut("/metadata/finalizers") {
                all.retain(|it| it != TRACKING);
            }
        });
    }
}

fn create(
    cx: &mut Cx<'_>,
    id: &Id,
    object: &Value,
    tally: &Tally,
    verdict: &Verdict<'_>,
    done: &[i64],
) -> usize {
    let indexed = is_indexed(object);
    let parallelism = count_at(object, "/spec/parallelism").unwrap_or(1);
    let completions = count_at(object, "/spec/completions");
    let over = reached(object, tally, done) + verdict.failed_indexes.len();
    let wanted = match completions {
        Some(completions) => parallelism.min(completions.saturating_sub(over)),
        None if over > 0 => 0,
        None => parallelism,
    };
    let running = tally.active.len();
    if wanted <= running {
        return 0;
    }
    let mut paused = std::collections::BTreeSet::new();
    if is_per_index(object) {
        for at in verdict.counted.iter().filter_map(|pod| index(pod)) {
            if let Some(left) = pause(verdict.failures_of(at)) {
                cx.queue.after(left, id);
                paused.insert(at);
            }
        }
    } else if let Some(left) = pause(verdict.counted.iter().copied()) {
        cx.queue.after(left, id);
        return 0;
    }
    let busy: Vec<i64> = tally.active.iter().filter_map(index).collect();
    let taken = |at: &i64| {
        [done, &busy, &verdict.failed_indexes].iter().any(|all| all.contains(at))
            || paused.contains(at)
    };
    let last = completions.and_then(|it| i64::try_from(it).ok()).unwrap_or(0);
    let mut free = (0..last).filter(|at| !taken(at));
    let mut made = 0;
    for _ in running..wanted {
        let mut child =
            pod(&object["spec"]["template"], &id.namespace, reference("batch/v1", "Job", object));
        let mut finalizers =
            child["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        finalizers.push(json!(TRACKING));
        set(&mut child, &["metadata", "finalizers"], Value::Array(finalizers));
        let prefix = if indexed {
            let Some(at) = free.next() else { break };
            set(&mut child, &["metadata", "annotations", INDEX], json!(at.to_string()));
            set(&mut child, &["metadata", "labels", INDEX], json!(at.to_string()));
            set(&mut child, &["spec", "hostname"], json!(format!("{}-{at}", id.name)));
            for container in child
                .pointer_mut("/spec/containers")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                let mut env = container["env"].as_array().cloned().unwrap_or_default();
                env.push(json!({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": format!("metadata.labels['{INDEX}']")}}}));
                set(container, &["env"], Value::Array(env));
            }
            format!("{}-{at}-", id.name)
        } else {
            format!("{}-", id.name)
        };
        let named = generate(&mut child, &prefix);
        match cx.cluster.create(&id.beside("", "pods", &named), child) {
            Ok(_) => made += 1,
            Err(_) => {
                cx.queue.after(Duration::from_secs(1), id);
                break;
            }
        }
    }
    made
}

/// What is left of the pause after failures, which keeps a broken Job from spinning.
fn pause<'p>(failures: impl Iterator<Item = &'p Value>) -> Option<Duration> {
    let ends: Vec<_> = failures
        .map(|pod| {
            time(&pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
        })
        .collect();
    let last = ends.iter().flatten().max()?;
    let pause = 10_i64 << ends.len().saturating_sub(1).min(6);
    (*last + chrono::Duration::seconds(pause.min(600)) - Utc::now()).to_std().ok()
}

// `0-2,5`; two neighbours are `1,2`.
fn ranges(all: &[i64]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first() {
        let length = rest.iter().zip(*first..).take_while(|(a, b)| *a == b).count().max(1);
        match length {
            1 | 2 => out.extend(rest.iter().take(length).map(ToString::to_string)),
            _ => out.push(format!("{first}-{}", first + i64::try_from(length).unwrap_or(1) - 1)),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    out.join(",")
}

fn write(
    cx: &Cx<'_>,
    id: &Id,
    object: &Value,
    tally: &Tally,
    verdict: &Verdict<'_>,
    running: usize,
    end: Option<&End>,
    done: &[i64],
) {
    let (indexed, suspended) = (is_indexed(object), is_suspended(object));
    let are_ready =
        if running == 0 { 0 } else { tally.active.iter().filter(|pod| ready(pod)).count() };
    let gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let mut status = it["status"].clone();
        if status["startTime"].is_null() && !suspended {
            set(&mut status, &["startTime"], json!(now()));
        }
        count(&mut status, "active", running);
        set(&mut status, &["ready"], json!(are_ready));
        set(&mut status, &["terminating"], json!(0));
        set(&mut status, &["uncountedTerminatedPods"], json!({}));
        count(&mut status, "succeeded", tally.succeeded.len());
        count(&mut status, "failed", verdict.counted.len());
        if is_per_index(object) {
            set(&mut status, &["failedIndexes"], json!(ranges(&verdict.failed_indexes)));
        }
        if indexed && !done.is_empty() {
            set(&mut status, &["completedIndexes"], json!(ranges(done)));
        }
        let held = condition(&json!({"status": status}), "Suspended")
            .is_some_and(|it| it["status"] == "True");
        if suspended {
            put_condition(
                &mut status,
                "Suspended",
                "True",
                "JobSuspended",
                "Job suspended",
                Times::Transitions,
            );
            if let Some(fields) = status.as_object_mut() {
                fields.shift_remove("startTime");
            }
        } else if held {
            put_condition(
                &mut status,
                "Suspended",
                "False",
                "JobResumed",
                "Job resumed",
                Times::Transitions,
            );
        }
        if let Some(End { kind, reason, message }) = end {
            let complete = *kind == "Complete";
            let (first, last) = if complete {
                ("SuccessCriteriaMet", "Complete")
            } else {
                ("FailureTarget", "Failed")
            };
            put_condition(&mut status, first, "True", reason, message, Times::Transitions);
            put_condition(&mut status, last, "True", reason, message, Times::Transitions);
            if complete {
                set(&mut status, &["completionTime"], json!(now()));
            }
        }
        set(it, &["status"], status);
    });
    if let Err(error) = gone {
        tracing::debug!(?id, %error, name = name(object), "status of a Job");
    }
}

fn expire(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    let Some(ttl) = object.pointer("/spec/ttlSecondsAfterFinished").and_then(Value::as_i64) else {
        return;
    };
    let end = condition(object, "Complete").or_else(|| condition(object, "Failed"));
    let Some(at) = end.and_then(|it| time(&it["lastTransitionTime"])) else { return };
    match (at + chrono::Duration::seconds(ttl) - Utc::now()).to_std() {
        Ok(left) => cx.queue.after(left, id),
        Err(_) if !deleting(object) => {
            let how = Deletion { propagation: "Background", ..Deletion::default() };
            let _gone = cx.cluster.delete(id, &how);
        }
        Err(_) => {}
    }
}

/// Starts the Jobs of a CronJob when their time has come, and forgets old ones.
pub(crate) fn schedule(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) {
        return;
    }
    let mut jobs = cx.cluster.list("batch", "jobs", &id.namespace);
    jobs.retain(|job| crate::object::controlled_by(job, object));
    let running: Vec<Value> = jobs.iter().filter(|job| !finished(job)).cloned().collect();
    let ended = jobs.iter().filter_map(|job| time(&job["status"]["completionTime"])).max();
    let mut started = None;
    if object["spec"]["suspend"] != json!(true) {
        started = due(cx, id, object, &running);
    }
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let mut status = it["status"].clone();
        let mut active: Vec<Value> = running.iter().map(|job| json!({"apiVersion": "batch/v1", "kind": "Job", "name": name(job),
            "namespace": id.namespace, "uid": uid(job)})).collect();
        if let Some((at, job)) = &started {
            set(&mut status, &["lastScheduleTime"], json!(at));
            active.push(json!({"apiVersion": "batch/v1", "kind": "Job", "name": name(job), "namespace": id.namespace, "uid": uid(job)}));
        }
        if active.is_empty() {
            count(&mut status, "active", 0);
        } else {
            set(&mut status, &["active"], Value::Array(active));
        }
        if let Some(ended) = ended {
            set(&mut status, &["lastSuccessfulTime"], json!(ended.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)));
        }
        if !status.is_null() {
            set(it, &["status"], status);
        }
    });
    for (kind, key, default) in
        [("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1)]
    {
        let keep = object["spec"][key].as_u64().unwrap_or(default);
        let mut old: Vec<&Value> = jobs.iter().filter(|job| is_true(job, kind)).collect();
        old.sort_by_key(|job| text(job, "/metadata/creationTimestamp").to_owned());
        let extra = old.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        for job in old.into_iter().take(extra) {
            let how = Deletion { propagation: "Background", ..Deletion::default() };
            let _gone = cx.cluster.delete(&id.beside("batch", "jobs", name(job)), &how);
        }
    }
}

fn due(cx: &mut Cx<'_>, id: &Id, object: &Value, running: &[Value]) -> Option<(String, Value)> {
    let cron = croner::Cron::from_str(text(object, "/spec/schedule")).ok()?;
    let since = time(&object["status"]["lastScheduleTime"])
        .or_else(|| time(&object["metadata"]["creationTimestamp"]))?;
    let present = Utc::now();
    if let Ok(next) = cron.find_next_occurrence(&present, false) {
        if let Ok(wait) = (next - present).to_std() {
            cx.queue.after(wait + Duration::from_millis(5), id);
        }
    }
    // The most recent time that was missed.
    let at = cron.find_previous_occurrence(&present, true).ok().filter(|at| *at > since)?;
    if let Some(limit) = object.pointer("/spec/startingDeadlineSeconds").and_then(Value::as_i64) {
        if present - at > chrono::Duration::seconds(limit) {
            return None;
        }
    }
    match text(object, "/spec/concurrencyPolicy") {
        "Forbid" if !running.is_empty() => return None,
        "Replace" => {
            for job in running {
                let how = Deletion { propagation: "Background", ..Deletion::default() };
                let _gone = cx.cluster.delete(&id.beside("batch", "jobs", name(job)), &how);
            }
        }
        _ => {}
    }
    let stamp = at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let named = format!("{}-{}", id.name, at.timestamp() / 60);
    let template = &object["spec"]["jobTemplate"];
    let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": named, "namespace": id.namespace,
        "ownerReferences": [reference("batch/v1", "CronJob", object)]}, "spec": template["spec"]});
    for key in ["labels", "annotations"] {
        if let Some(it) = template.pointer(&format!("/metadata/{key}")) {
            set(&mut job, &["metadata", key], it.clone());
        }
    }
    set(
        &mut job,
        &["metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp"],
        json!(stamp),
    );
    let made = cx.cluster.create(&id.beside("batch", "jobs", &named), job).ok()?;
    Some((stamp, made))
}
