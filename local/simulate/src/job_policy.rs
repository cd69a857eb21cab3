//! What the pods of a Job mean by its policies: which failures count, which indexes are over, when enough
//! has succeeded (kubernetes-objects.md, Job).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::{name, text};

/// On a pod of an indexed Job: its index.
pub(crate) const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The index of a pod.
pub(crate) fn index(pod: &Value) -> Option<i64> {
    pod["metadata"]["annotations"][INDEX].as_str()?.parse().ok()
}

/// What failed pods amount to.
#[derive(Default)]
pub(crate) struct Verdict<'a> {
    /// Failures that count against the limits.
    pub(crate) counted: Vec<&'a Value>,
    /// Indexes that are given up, ascending. Empty unless limits are per index.
    pub(crate) failed_indexes: Vec<i64>,
    /// Why the whole Job fails, if a rule says so.
    pub(crate) fails: Option<String>,
}

impl Verdict<'_> {
    /// Counted failures of an index.
    pub(crate) fn failures_of(&self, at: i64) -> impl Iterator<Item = &Value> {
        self.counted.iter().copied().filter(move |pod| index(pod) == Some(at))
    }
}

/// Whether limits are per index.
pub(crate) fn is_per_index(job: &Value) -> bool {
    job["spec"]["backoffLimitPerIndex"].is_i64()
}

/// Judges the failed pods of a Job by `podFailurePolicy` and `backoffLimitPerIndex`.
pub(crate) fn judge<'a>(job: &Value, failed: &'a [Value]) -> Verdict<'a> {
    let mut verdict = Verdict::default();
    let mut given_up: Vec<i64> = Vec::new();
    let mut by_index: BTreeMap<i64, i64> = BTreeMap::new();
    let rules = job["spec"]["podFailurePolicy"]["rules"].as_array().map_or(&[][..], Vec::as_slice);
    for pod in failed {
        let found =
            rules.iter().enumerate().find_map(|(at, rule)| Some((at, rule, cause(rule, pod)?)));
        if let Some((at, rule, cause)) = found {
            match text(rule, "/action") {
                "Ignore" => continue,
                "FailJob" if verdict.fails.is_none() => {
                    verdict.fails = Some(format!("{cause} matching FailJob rule at index {at}"));
                }
                "FailIndex" => given_up.extend(index(pod)),
                _ => {}
            }
        }
        if let Some(at) = index(pod) {
            *by_index.entry(at).or_default() += 1;
        }
        verdict.counted.push(pod);
    }
    if let Some(limit) = job["spec"]["backoffLimitPerIndex"].as_i64() {
        given_up.extend(by_index.iter().filter(|(_, count)| **count > limit).map(|(at, _)| *at));
        given_up.sort_unstable();
        given_up.dedup();
        verdict.failed_indexes = given_up;
    }
    verdict
}

/// How a pod meets a rule's requirement.
fn cause(rule: &Value, pod: &Value) -> Option<String> {
    let place = format!("{}/{}", text(pod, "/metadata/namespace"), name(pod));
    let codes = &rule["onExitCodes"];
    if codes.is_object() {
        let statuses = ["initContainerStatuses", "containerStatuses"]
            .into_iter()
            .flat_map(|key| pod["status"][key].as_array().into_iter().flatten());
        let wanted = codes["values"].as_array().map_or(&[][..], Vec::as_slice);
        for status in statuses {
            let container = text(status, "/name");
            let only = text(codes, "/containerName");
            let code = &status["state"]["terminated"]["exitCode"];
            let ended_badly = code.as_i64().is_some_and(|code| code != 0);
            if !ended_badly || !(only.is_empty() || only == container) {
                continue;
            }
            if wanted.contains(code) == (text(codes, "/operator") == "In") {
                return Some(format!(
                    "Container {container} for pod {place} failed with exit code {code}"
                ));
            }
        }
        return None;
    }
    let has = pod["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    rule["onPodConditions"].as_array()?.iter().find_map(|wanted| {
        let status = wanted["status"].as_str().unwrap_or("True");
        let kind = text(wanted, "/type");
        let met = |it: &Value| text(it, "/type") == kind && text(it, "/status") == status;
        has.iter().any(met).then(|| format!("Pod {place} has condition {kind}"))
    })
}

/// The first rule of `successPolicy` that the succeeded indexes meet.
pub(crate) fn success(job: &Value, done: &[i64]) -> Option<usize> {
    let rules = job["spec"]["successPolicy"]["rules"].as_array()?;
    rules.iter().position(|rule| {
        let listed = rule["succeededIndexes"].as_str();
        let matching = done.iter().filter(|at| listed.is_none_or(|it| lists(it, **at))).count();
        match rule["succeededCount"].as_u64() {
            Some(count) => matching as u64 >= count,
            None => listed.is_some_and(|it| matching as u64 == size(it)),
        }
    })
}

/// The parts of `0,2-4`.
fn parts(ranges: &str) -> impl Iterator<Item = (i64, i64)> {
    ranges.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
    })
}

fn lists(ranges: &str, at: i64) -> bool {
    parts(ranges).any(|(first, last)| (first..=last).contains(&at))
}

fn size(ranges: &str) -> u64 {
    parts(ranges).map(|(first, last)| (last - first + 1).unsigned_abs()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(at: i64, code: i64) -> Value {
        json!({
            "metadata": {"name": format!("job-{at}"), "namespace": "default",
                "annotations": {INDEX: at.to_string()}},
            "status": {"phase": "Failed",
                "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": code}}}],
                "conditions": [{"type": "DisruptionTarget", "status": if code == 137 { "True" } else { "False" }}]},
        })
    }

    fn rules(rules: &Value) -> Value {
        json!({"spec": {"podFailurePolicy": {"rules": rules}}})
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let job = rules(&json!([
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42, 137]}},
        ]));
        let pods = [failed(0, 137), failed(1, 1), failed(2, 42)];
        let verdict = judge(&job, &pods);
        assert_eq!(verdict.counted.len(), 2, "the disrupted one is ignored");
        let why = "Container main for pod default/job-2 failed with exit code 42 matching FailJob rule at index 1";
        assert_eq!(verdict.fails.as_deref(), Some(why));
    }

    #[test]
    fn other_containers_and_other_codes_do_not_match() {
        let other = json!([{"action": "FailJob", "onExitCodes": {"containerName": "side", "operator": "In", "values": [42]}}]);
        assert_eq!(judge(&rules(&other), &[failed(0, 42)]).fails, None);
        let all_but =
            json!([{"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [42]}}]);
        assert_eq!(judge(&rules(&all_but), &[failed(0, 42)]).fails, None);
        assert!(judge(&rules(&all_but), &[failed(0, 43)]).fails.is_some());
    }

    #[test]
    fn indexes_have_limits_of_their_own() {
        let job = json!({"spec": {"backoffLimitPerIndex": 1, "podFailurePolicy": {"rules": [
            {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [7]}}]}}});
        let pods = [failed(0, 1), failed(1, 1), failed(1, 1), failed(4, 7)];
        assert_eq!(judge(&job, &pods).failed_indexes, [1, 4]);
        assert_eq!(judge(&job, &pods).failures_of(1).count(), 2);
    }

    #[test]
    fn success_is_by_list_by_count_or_by_both() {
        let job = |rule: Value| json!({"spec": {"successPolicy": {"rules": [rule]}}});
        let both = job(json!({"succeededIndexes": "0,2-4", "succeededCount": 2}));
        assert_eq!(success(&both, &[1, 2]), None);
        assert_eq!(success(&both, &[2, 4]), Some(0));
        assert_eq!(success(&job(json!({"succeededIndexes": "0,2"})), &[0]), None);
        assert_eq!(success(&job(json!({"succeededIndexes": "0,2"})), &[0, 2]), Some(0));
        assert_eq!(success(&job(json!({"succeededCount": 1})), &[9]), Some(0));
        assert_eq!(success(&json!({"spec": {}}), &[0]), None);
    }
}
