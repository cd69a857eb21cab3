//! The cells of a Pod: its status in one word.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::{count, text};

/// Pods.
pub(super) fn pod(parts: Parts<'_>) -> Vec<Value> {
    let Parts { metadata, spec, status, name, age, .. } = parts;
    let mut shown =
        status["reason"].as_str().or(status["phase"].as_str()).unwrap_or_default().to_owned();
    let total = spec["containers"].as_array().map_or(0, Vec::len);
    let (mut ready, mut restarts) = (0, 0);
    let mut starting = false;
    let first = status["initContainerStatuses"].as_array();
    let many = spec["initContainers"].as_array().map_or(0, Vec::len);
    for (index, one) in first.into_iter().flatten().enumerate() {
        restarts += count(&one["restartCount"]);
        let state = &one["state"];
        let ended = &state["terminated"];
        if ended["exitCode"] == json!(0) {
            continue;
        }
        starting = true;
        let waits =
            state["waiting"]["reason"].as_str().filter(|reason| *reason != "PodInitializing");
        shown = match (ended.is_object(), waits) {
            (true, _) => match ended["reason"].as_str().filter(|reason| !reason.is_empty()) {
                Some(reason) => format!("Init:{reason}"),
                None if count(&ended["signal"]) != 0 => format!("Init:Signal:{}", ended["signal"]),
                None => format!("Init:ExitCode:{}", count(&ended["exitCode"])),
            },
            (_, Some(reason)) => format!("Init:{reason}"),
            _ => format!("Init:{index}/{many}"),
        };
        break;
    }
    if !starting {
        restarts = 0;
        let mut running = false;
        for one in status["containerStatuses"].as_array().into_iter().flatten().rev() {
            restarts += count(&one["restartCount"]);
            let state = &one["state"];
            if let Some(reason) =
                state["waiting"]["reason"].as_str().filter(|reason| !reason.is_empty())
            {
                shown = reason.to_owned();
            } else if state["terminated"].is_object() {
                let ended = &state["terminated"];
                shown = match ended["reason"].as_str().filter(|reason| !reason.is_empty()) {
                    Some(reason) => reason.to_owned(),
                    None if count(&ended["signal"]) != 0 => format!("Signal:{}", ended["signal"]),
                    None => format!("ExitCode:{}", count(&ended["exitCode"])),
                };
            } else if one["ready"] == json!(true) && state["running"].is_object() {
                running = true;
                ready += 1;
            }
        }
        if shown == "Completed" && running {
            shown = if crate::custom::is_true(status, "Ready") { "Running" } else { "NotReady" }
                .to_owned();
        }
    }
    if !metadata["deletionTimestamp"].is_null()
        && !["Succeeded", "Failed"].contains(&status["phase"].as_str().unwrap_or_default())
    {
        shown = if status["reason"] == json!("NodeLost") { "Unknown" } else { "Terminating" }
            .to_owned();
    }
    let gates = spec["readinessGates"].as_array().map_or(0, Vec::len);
    let met = spec["readinessGates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|gate| {
            crate::custom::is_true(status, gate["conditionType"].as_str().unwrap_or_default())
        })
        .count();
    let gates = if gates == 0 { "<none>".to_owned() } else { format!("{met}/{gates}") };
    vec![
        name,
        json!(format!("{ready}/{total}")),
        json!(shown),
        json!(restarts.to_string()),
        age,
        text(&status["podIP"], "<none>"),
        text(&spec["nodeName"], "<none>"),
        text(&status["nominatedNodeName"], "<none>"),
        json!(gates),
    ]
}
