//! A measurement that must hold for some time before it counts.

use chrono::Duration;
use cue_session::{Budget, Profile, Program, ProgramSpec, Source};
use serde_json::{Value, json};

use super::{Acting, Asked, Done, Trouble, explain};
use crate::workflow::backoff::parse_duration;
use crate::world::HttpRequest;

const SERVER: &str = "http://prometheus-server.o11y-system.svc:9090";

pub(super) async fn check(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let condition = asked.text("condition");
    let value = measure(asked, with).await?;
    let holds = compare(&value, condition, with)?;
    let path = asked.action.path.as_str();
    let (good, bad) = (format!("success:{path}"), format!("fail:{path}"));
    let (own, other, key, usual) =
        if holds { (&good, &bad, "duration", "5m") } else { (&bad, &good, "failDuration", "2m") };
    let text = match asked.text(key) {
        "" => usual,
        given => given,
    };
    let needed = parse_duration(text).ok_or_else(|| format!("failed to parse duration {text}"))?;
    let now = with.world.now();
    with.variables.set_timer(with.step, other, None);
    let since = with.variables.timer(with.step, own).unwrap_or(now);
    with.variables.set_timer(with.step, own, Some(since));
    let lasted = now - since;
    let over = lasted > Duration::zero() && lasted >= needed;
    let so = if holds { "success" } else { "failure" };
    let message = match (holds, over) {
        (true, true) => "The metric check has passed successfully.".to_owned(),
        _ => {
            let but = if holds { "and" } else { "but" };
            let mut text = format!(
                "The healthy condition should be {condition}, {but} the query result is {value}, indicating {so}."
            );
            if lasted > Duration::zero() {
                text += &format!(
                    " The {so} has persisted for {}s, with {so} duration being {}s.",
                    lasted.num_seconds(),
                    needed.num_seconds()
                );
            }
            text
        }
    };
    let (result, failed) = (holds && over, !holds && over);
    Ok(Done::Returns(json!({"result": result, "failed": failed, "message": message})))
}

/// The one value that the query gives, as Prometheus writes it.
async fn measure(asked: &Asked<'_>, with: &mut Acting<'_>) -> Result<String, Trouble> {
    let server = match asked.text("metricEndpoint") {
        "" => SERVER,
        given => given.trim_end_matches('/'),
    };
    let url = format!("{server}/api/v1/query?query={}", encoded(asked.text("query")));
    let request = HttpRequest { method: "GET".into(), url, ..HttpRequest::default() };
    let response = with.world.http(&request).await.map_err(explain)?;
    let answer: Value = serde_json::from_str(&response.body)
        .map_err(|_| format!("the metric endpoint answered {}", response.status))?;
    if answer["status"] != "success" {
        let error = answer["error"].as_str().unwrap_or("no success");
        return Err(format!("failed to query metrics: {error}"));
    }
    let result = &answer["data"]["result"];
    let sample = match answer["data"]["resultType"].as_str().unwrap_or_default() {
        "scalar" | "string" => result,
        "vector" => match result.as_array().map(Vec::as_slice) {
            Some([one]) => &one["value"],
            all => {
                let count = all.map_or(0, <[Value]>::len);
                return Err(format!("the query must give one value, it gives {count}"));
            }
        },
        other => return Err(format!("the query must give one value, it gives a {other}")),
    };
    let value = sample[1].as_str().unwrap_or_default();
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(value.to_owned()),
        _ => Err(format!("the query gives {value:?}, which can be compared with nothing")),
    }
}

/// `value` left of the condition, as CUE reads it.
fn compare(value: &str, condition: &str, with: &Acting<'_>) -> Result<bool, Trouble> {
    let text = format!("result: {value} {condition}\n");
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("condition.cue", text)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let value = with
        .runtime
        .start(&program, Vec::new(), Budget::DEFINITION)
        .and_then(|mut session| session.value("result"))
        .map_err(|error| format!("condition {condition:?}: {error}"))?;
    match value {
        Some(Value::Bool(it)) => Ok(it),
        _ => Err(format!("condition {condition:?} is no comparison")),
    }
}

/// Percent-encoded for a query.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
