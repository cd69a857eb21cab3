//! Deployments: rollout, revisions, conditions.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{
    Times, condition, controlled_by, controller_of, count, deleting, name, number, put_condition,
    reference, selects, set, text, time, unset,
};

const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAX: &str = "deployment.kubernetes.io/max-replicas";
const HASH: &str = "pod-template-hash";
/// Annotations that stay with the Deployment.
const OWN: &[&str] =
    &["kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MAX];
const NO_DEADLINE: i64 = 2_147_483_647;

/// Counts that steer a rollout.
struct Plan {
    wanted: i64,
    surge: i64,
    unavailable: i64,
}

fn plan(object: &Value) -> Plan {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    if text(object, "/spec/strategy/type") == "Recreate" {
        return Plan { wanted, surge: 0, unavailable: 0 };
    }
    let share = |pointer: &str, up: bool| match object.pointer(pointer) {
        Some(Value::Number(it)) => it.as_i64().unwrap_or(0),
        Some(Value::String(it)) => {
            let percent: i64 = it.trim_end_matches('%').parse().unwrap_or(25);
            let scaled = percent.saturating_mul(wanted);
            if up { scaled.saturating_add(99) / 100 } else { scaled / 100 }
        }
        _ => (wanted.saturating_mul(25) + if up { 99 } else { 0 }) / 100,
    };
    let surge = share("/spec/strategy/rollingUpdate/maxSurge", true);
    let mut unavailable = share("/spec/strategy/rollingUpdate/maxUnavailable", false).min(wanted);
    if surge == 0 && unavailable == 0 {
        unavailable = 1;
    }
    Plan { wanted, surge, unavailable: if wanted == 0 { 0 } else { unavailable } }
}

fn revision(object: &Value) -> i64 {
    object["metadata"]["annotations"][REVISION].as_str().and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn size(set: &Value) -> i64 {
    set.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

// The template without the label that tells the sets apart.
fn template(object: &Value) -> Value {
    let mut template = object["spec"]["template"].clone();
    unset(&mut template, "/metadata/labels", HASH);
    template
}

pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) {
        return status(cx, id, object, &owned(cx, id, object), None, &plan(object));
    }
    adopt(cx, id, object);
    let mut sets = owned(cx, id, object);
    sets.sort_by_key(|set| (text(set, "/metadata/creationTimestamp").to_owned(), revision(set)));
    let plan = plan(object);
    let current = template(object);
    let paused = object["spec"]["paused"] == json!(true);
    let mut new = sets.iter().find(|set| template(set) == current).map(|set| name(set).to_owned());
    if !paused {
        if new.is_none() {
            new = create(cx, id, object, &sets, &plan);
        } else if let Some(new) = &new {
            promote(cx, id, object, &sets, new, &plan);
        }
        sets = owned(cx, id, object);
        sets.sort_by_key(|set| {
            (text(set, "/metadata/creationTimestamp").to_owned(), revision(set))
        });
    }
    let (news, olds): (Vec<Value>, Vec<Value>) =
        sets.iter().cloned().partition(|set| Some(name(set)) == new.as_deref());
    let new_set = news.first();
    if paused {
        if let (Some(only), true) = (
            sets.iter().find(|set| size(set) > 0).or(new_set),
            sets.iter().filter(|set| size(set) > 0).count() <= 1,
        ) {
            scale(cx, id, only, plan.wanted);
        }
    } else if let Some(new_set) = new_set {
        if text(object, "/spec/strategy/type") == "Recreate" {
            recreate(cx, id, object, new_set, &olds, &plan);
        } else {
            roll(cx, id, new_set, &olds, &plan);
        }
    }
    let sets = owned(cx, id, object);
    status(cx, id, object, &sets, new.as_deref(), &plan);
    clean(cx, id, object, &sets, new.as_deref());
}

fn owned(cx: &Cx<'_>, id: &Id, object: &Value) -> Vec<Value> {
    let mut sets = cx.cluster.list("apps", "replicasets", &id.namespace);
    sets.retain(|set| controlled_by(set, object));
    sets
}

fn adopt(cx: &Cx<'_>, id: &Id, object: &Value) {
    for set_ in cx.cluster.list("apps", "replicasets", &id.namespace) {
        if controller_of(&set_).is_none()
            && !deleting(&set_)
            && selects(&object["spec"]["selector"], &set_)
        {
            let _gone = cx.cluster.modify(
                &id.beside("apps", "replicasets", name(&set_)),
                Part::Main,
                &mut |it| {
                    let mut all =
                        it["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
                    all.push(reference("apps/v1", "Deployment", object));
                    set(it, &["metadata", "ownerReferences"], Value::Array(all));
                },
            );
        }
    }
}

fn annotations(object: &Value, plan: &Plan) -> Map<String, Value> {
    let mut out = object["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    out.retain(|key, _| !OWN.contains(&key.as_str()));
    out.insert(DESIRED.to_owned(), json!(plan.wanted.to_string()));
    out.insert(MAX.to_owned(), json!((plan.wanted + plan.surge).to_string()));
    out
}

fn mark(cx: &Cx<'_>, id: &Id, object: &Value, revision: &str) {
    if object["metadata"]["annotations"][REVISION] != json!(revision) {
        // Through the status, which leaves the generation alone.
        let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
            set(it, &["metadata", "annotations", REVISION], json!(revision));
        });
    }
}

fn create(cx: &mut Cx<'_>, id: &Id, object: &Value, sets: &[Value], plan: &Plan) -> Option<String> {
    let collisions = object.pointer("/status/collisionCount").and_then(Value::as_i64);
    let hash = crate::revision::hash(&template(object), collisions);
    let named = format!("{}-{hash}", id.name);
    let next = (sets.iter().map(revision).max().unwrap_or(0) + 1).to_string();
    let mut annotations = annotations(object, plan);
    annotations.insert(REVISION.to_owned(), json!(next));
    let total: i64 = sets.iter().map(size).sum();
    let recreate = text(object, "/spec/strategy/type") == "Recreate";
    let replicas = if recreate && total > 0 {
        0
    } else {
        (plan.wanted + plan.surge - total).clamp(0, plan.wanted)
    };
    let mut pods = object["spec"]["template"].clone();
    set(&mut pods, &["metadata", "labels", HASH], json!(hash));
    let mut selector = object["spec"]["selector"].clone();
    set(&mut selector, &["matchLabels", HASH], json!(hash));
    let mut body = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": named, "namespace": id.namespace, "labels": pods["metadata"]["labels"],
            "annotations": annotations, "ownerReferences": [reference("apps/v1", "Deployment", object)]},
        "spec": {"replicas": replicas, "selector": selector, "template": pods}});
    if let Some(min) = object.pointer("/spec/minReadySeconds") {
        set(&mut body, &["spec", "minReadySeconds"], min.clone());
    }
    match cx.cluster.create(&id.beside("apps", "replicasets", &named), body) {
        Ok(_) => {
            mark(cx, id, object, &next);
            event(cx, id, object, &format!("Scaled up replica set {named} from 0 to {replicas}"));
            Some(named)
        }
        Err(error) if error.code == 409 => {
            let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
                set(it, &["status", "collisionCount"], json!(collisions.unwrap_or_default() + 1));
            });
            None
        }
        Err(error) => {
            let message = error.message;
            let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
                let mut status = it["status"].clone();
                put_condition(
                    &mut status,
                    "Progressing",
                    "False",
                    "ReplicaSetCreateError",
                    &message,
                    Times::Updates,
                );
                set(it, &["status"], status);
            });
            cx.queue.after(Duration::from_secs(1), id);
            None
        }
    }
}

// The set of the present template is the newest revision; its annotations follow the Deployment's.
fn promote(cx: &Cx<'_>, id: &Id, object: &Value, sets: &[Value], new: &str, plan: &Plan) {
    let others = sets.iter().filter(|set| name(set) != new).map(revision).max().unwrap_or(0);
    let mut stands = String::new();
    let _gone = cx.cluster.modify(&id.beside("apps", "replicasets", new), Part::Main, &mut |it| {
        let old = revision(it);
        let next = if old > others { old } else { others + 1 };
        stands = next.to_string();
        for (key, value) in annotations(object, plan) {
            set(it, &["metadata", "annotations", &key], value);
        }
        if next != old {
            let past =
                it["metadata"]["annotations"][HISTORY].as_str().map(|past| format!("{past},{old}"));
            if old > 0 {
                set(
                    it,
                    &["metadata", "annotations", HISTORY],
                    json!(past.unwrap_or_else(|| old.to_string())),
                );
            }
            set(it, &["metadata", "annotations", REVISION], json!(stands));
        }
    });
    if !stands.is_empty() {
        mark(cx, id, object, &stands);
    }
}

fn scale(cx: &Cx<'_>, id: &Id, of: &Value, to: i64) -> bool {
    let from = size(of);
    if from == to {
        return false;
    }
    let done =
        cx.cluster.modify(&id.beside("apps", "replicasets", name(of)), Part::Main, &mut |it| {
            set(it, &["spec", "replicas"], json!(to));
        });
    if done.is_ok() {
        let which = if to > from { "up" } else { "down" };
        event(
            cx,
            id,
            &Value::Null,
            &format!("Scaled {which} replica set {} from {from} to {to}", name(of)),
        );
    }
    true
}

fn recreate(cx: &Cx<'_>, id: &Id, object: &Value, new: &Value, olds: &[Value], plan: &Plan) {
    let mut busy = false;
    for old in olds {
        busy |= scale(cx, id, old, 0) || number(old, "/status/replicas") > 0;
    }
    let running =
        cx.cluster.list("", "pods", &id.namespace).into_iter().any(|pod| {
            !crate::object::ended(&pod) && olds.iter().any(|old| controlled_by(&pod, old))
        });
    let _ = object;
    if !busy && !running {
        scale(cx, id, new, plan.wanted);
    }
}

fn roll(cx: &Cx<'_>, id: &Id, new: &Value, olds: &[Value], plan: &Plan) {
    let total: i64 = olds.iter().map(size).sum::<i64>() + size(new);
    if size(new) > plan.wanted {
        scale(cx, id, new, plan.wanted);
        return;
    }
    if size(new) < plan.wanted && total < plan.wanted + plan.surge {
        let more = (plan.wanted + plan.surge - total).min(plan.wanted - size(new));
        scale(cx, id, new, size(new) + more);
        return;
    }
    let available = |set: &Value| number(set, "/status/availableReplicas");
    let least = plan.wanted - plan.unavailable;
    let mut limit = total - least - (size(new) - available(new)).max(0);
    let mut spare: i64 = olds.iter().map(&available).sum::<i64>() + available(new) - least;
    for old in olds {
        let unhealthy = (size(old) - available(old)).clamp(0, limit.max(0));
        limit -= unhealthy;
        let healthy = (size(old) - unhealthy).min(spare.max(0)).min(limit.max(0));
        limit -= healthy;
        spare -= healthy;
        scale(cx, id, old, size(old) - unhealthy - healthy);
    }
}

/// What the sets of a Deployment come to.
struct Counts {
    asked: i64,
    replicas: i64,
    /// Of the set of the present template.
    updated: i64,
    ready: i64,
    available: i64,
    /// Pods that are going.
    leaving: i64,
    /// The set of the present template has been seen to.
    observed: bool,
}

impl Counts {
    fn of(sets: &[Value], new: Option<&Value>) -> Self {
        let sum = |pointer: &str| sets.iter().map(|set| number(set, pointer)).sum::<i64>();
        Self {
            asked: sets.iter().map(size).sum(),
            replicas: sum("/status/replicas"),
            updated: new.map_or(0, |set| number(set, "/status/replicas")),
            ready: sum("/status/readyReplicas"),
            available: sum("/status/availableReplicas"),
            leaving: sum("/status/terminatingReplicas"),
            observed: new.is_none_or(|set| {
                set["status"]["observedGeneration"] == set["metadata"]["generation"]
            }),
        }
    }

    fn write(&self, status: &mut Value) {
        let as_count = |it: i64| usize::try_from(it).unwrap_or(0);
        count(status, "replicas", as_count(self.replicas));
        count(status, "updatedReplicas", as_count(self.updated));
        count(status, "readyReplicas", as_count(self.ready));
        count(status, "availableReplicas", as_count(self.available));
        count(status, "unavailableReplicas", as_count(self.asked - self.available));
        set(status, &["terminatingReplicas"], json!(self.leaving));
    }

    fn are_complete(&self, plan: &Plan) -> bool {
        let all = [self.updated, self.replicas, self.available];
        self.observed && all.into_iter().all(|it| it == plan.wanted)
    }

    /// Whether more is done than a status says.
    fn went_on_since(&self, before: &Value) -> bool {
        let grew = |key: &str, now: i64| now > number(before, key);
        let old = number(before, "/replicas") - number(before, "/updatedReplicas");
        grew("/updatedReplicas", self.updated)
            || grew("/readyReplicas", self.ready)
            || grew("/availableReplicas", self.available)
            || old > self.replicas - self.updated
    }
}

fn status(
    cx: &mut Cx<'_>,
    id: &Id,
    object: &Value,
    sets: &[Value],
    new: Option<&str>,
    plan: &Plan,
) {
    let new_set = sets.iter().find(|set| Some(name(set)) == new);
    let counts = Counts::of(sets, new_set);
    let deadline =
        object.pointer("/spec/progressDeadlineSeconds").and_then(Value::as_i64).unwrap_or(600);
    let paused = object["spec"]["paused"] == json!(true);
    let mut wait = None;
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let before = it["status"].clone();
        let mut status = before.clone();
        set(&mut status, &["observedGeneration"], object["metadata"]["generation"].clone());
        counts.write(&mut status);
        let told = deadline != NO_DEADLINE;
        // It comes before what is available.
        if paused && told {
            progressing(&mut status, "Unknown", "DeploymentPaused", "Deployment is paused");
        }
        availability(&mut status, &counts, plan);
        if !paused && told {
            let rollout = Rollout { counts: &counts, plan, new, deadline };
            wait = rollout.tell(&mut status, &before);
        }
        failure(&mut status, new_set);
        set(it, &["status"], status);
    });
    if let Some(wait) = wait {
        cx.queue.after(wait, id);
    }
}

fn progressing(status: &mut Value, stands: &str, reason: &str, message: &str) {
    put_condition(status, "Progressing", stands, reason, message, Times::Updates);
}

fn availability(status: &mut Value, counts: &Counts, plan: &Plan) {
    let (stands, reason, message) = match counts.available >= plan.wanted - plan.unavailable {
        true => ("True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
        false => (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        ),
    };
    put_condition(status, "Available", stands, reason, message, Times::Updates);
}

/// That pods of the set of the present template are refused.
fn failure(status: &mut Value, new: Option<&Value>) {
    if let Some(failure) = new.and_then(|set| condition(set, "ReplicaFailure")) {
        let said = |key: &str| failure[key].as_str().unwrap_or_default();
        let (reason, message) = (said("reason"), said("message"));
        put_condition(status, "ReplicaFailure", "True", reason, message, Times::Updates);
    } else if let Some(Value::Array(all)) = status.get_mut("conditions") {
        all.retain(|it| it["type"] != "ReplicaFailure");
    }
}

/// How far a rollout is.
struct Rollout<'a> {
    counts: &'a Counts,
    plan: &'a Plan,
    /// The set of the present template.
    new: Option<&'a str>,
    /// Seconds it may take to go on.
    deadline: i64,
}

impl Rollout<'_> {
    /// Says so in its condition; gives when to look whether the deadline has passed.
    fn tell(&self, status: &mut Value, before: &Value) -> Option<Duration> {
        let old = condition(&json!({"status": before}), "Progressing").cloned();
        let said = |key: &str| old.as_ref().and_then(|it| it[key].as_str()).unwrap_or_default();
        if said("reason") == "DeploymentPaused" {
            progressing(status, "Unknown", "DeploymentResumed", "Deployment is resumed");
            return None;
        }
        let new = self.new?;
        if old.is_none() || !said("message").contains(new) {
            let message = format!("Created new replica set \"{new}\"");
            progressing(status, "True", "NewReplicaSetCreated", &message);
        } else if self.counts.are_complete(self.plan) {
            let message = format!("ReplicaSet \"{new}\" has successfully progressed.");
            progressing(status, "True", "NewReplicaSetAvailable", &message);
        } else if self.counts.went_on_since(before) {
            let message = format!("ReplicaSet \"{new}\" is progressing.");
            progressing(status, "True", "ReplicaSetUpdated", &message);
        } else if !matches!(said("reason"), "NewReplicaSetAvailable" | "ProgressDeadlineExceeded") {
            let since = old.as_ref().and_then(|it| time(&it["lastUpdateTime"]));
            let now = chrono::Utc::now();
            let end = since.unwrap_or(now) + chrono::Duration::seconds(self.deadline);
            if let Ok(left) = (end - now).to_std() {
                return Some(left + Duration::from_secs(1));
            }
            let message = format!("ReplicaSet \"{new}\" has timed out progressing.");
            progressing(status, "False", "ProgressDeadlineExceeded", &message);
        }
        None
    }
}

fn clean(cx: &Cx<'_>, id: &Id, object: &Value, sets: &[Value], new: Option<&str>) {
    let limit = object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    let mut olds: Vec<&Value> = sets
        .iter()
        .filter(|set| {
            Some(name(set)) != new
                && size(set) == 0
                && number(set, "/status/replicas") == 0
                && !deleting(set)
        })
        .collect();
    olds.sort_by_key(|set| revision(set));
    let extra = olds.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    for old in olds.into_iter().take(extra) {
        let _gone =
            cx.cluster.delete(&id.beside("apps", "replicasets", name(old)), &Deletion::default());
    }
}

fn event(cx: &Cx<'_>, id: &Id, object: &Value, message: &str) {
    let now = crate::object::now();
    let named = format!("{}.{}", id.name, crate::object::suffix());
    let uid = cx
        .cluster
        .get(id)
        .map_or_else(|| object["metadata"]["uid"].clone(), |it| it["metadata"]["uid"].clone());
    let body = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": named, "namespace": id.namespace},
        "involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "name": id.name, "namespace": id.namespace, "uid": uid},
        "reason": "ScalingReplicaSet", "message": message, "type": "Normal", "count": 1,
        "source": {"component": "deployment-controller"}, "firstTimestamp": now, "lastTimestamp": now});
    let _full = cx.cluster.create(&id.beside("", "events", &named), body);
}
