//! Whether what is live is as wanted: what others added does not matter, nor how an API server
//! writes what it was given.

use serde_json::Value;

/// Whether everything `wanted` says is so in `live`.
pub(super) fn holds(wanted: &Value, live: &Value) -> bool {
    same(wanted, live, Meaning::Plain)
}

/// How the text of a value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// As it stands.
    Plain,
    /// An amount: `0.1` and `100m` are one. API servers give back a form of their own.
    Quantity,
}

/// Fields that are amounts, or maps and lists of them.
const QUANTITIES: [&str; 15] = [
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "overhead",
    "hard",
    "used",
    "sizeLimit",
    "divisor",
    "averageValue",
    "default",
    "defaultRequest",
    "max",
    "min",
    "maxLimitRequestRatio",
];

fn same(wanted: &Value, live: &Value, meaning: Meaning) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().all(|(key, value)| {
            let meaning =
                if QUANTITIES.contains(&key.as_str()) { Meaning::Quantity } else { meaning };
            // Written once, shown never: the API server moves it into `data`.
            key == "stringData"
                || live.get(key).is_some_and(|it| same(value, it, meaning))
                || is_empty(value)
        }),
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len()
                && wanted.iter().zip(live).all(|(wanted, live)| same(wanted, live, meaning))
        }
        (Value::Number(wanted), Value::Number(live)) => wanted.as_f64() == live.as_f64(),
        _ if wanted == live => true,
        _ if meaning == Meaning::Quantity => match (amount(wanted), amount(live)) {
            (Some(wanted), Some(live)) => wanted == live,
            _ => false,
        },
        _ => false,
    }
}

/// A quantity in thousandths, rounded up as API servers do in lists of resources.
fn amount(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (factor, tens) = match suffix {
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "" => (1, 0),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1_i128 << 60, 0),
        _ => (1, suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if part.contains(['+', '-']) {
        return None;
    }
    let digits: i128 = format!("{whole}{part}").parse().ok()?;
    let digits = digits.checked_mul(factor)?;
    let tens = tens.checked_add(3)?.checked_sub(i32::try_from(part.len()).ok()?)?;
    let power = 10_i128.checked_pow(tens.unsigned_abs());
    if tens >= 0 {
        return digits.checked_mul(power?);
    }
    let Some(power) = power else { return Some(digits.signum()) };
    let rest = digits % power;
    Some(digits / power + rest.signum())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_api_servers_form_of_an_amount_is_no_drift() {
        let resources = |cpu: Value, memory: Value| json!({"resources": {"limits": {"cpu": cpu, "memory": memory}}});
        for (cpu, memory, live_cpu, live_memory, wanted) in [
            (json!("0.1"), json!("1024Mi"), "100m", "1Gi", true),
            (json!(1), json!("0.5Gi"), "1", "512Mi", true),
            (json!("1000m"), json!("1e3"), "1", "1k", true),
            (json!("0.0001"), json!(".5Gi"), "1m", "512Mi", true),
            (json!("0.2"), json!("1Gi"), "100m", "1Gi", false),
            (json!("0.1"), json!("1G"), "100m", "1Gi", false),
            (json!("x"), json!("1G"), "100m", "1G", false),
        ] {
            let live = resources(live_cpu.into(), live_memory.into());
            assert_eq!(holds(&resources(cpu.clone(), memory), &live), wanted, "{cpu}");
        }
    }

    #[test]
    fn texts_elsewhere_are_compared_as_they_stand() {
        assert!(!holds(&json!({"data": {"cpu": "0.1"}}), &json!({"data": {"cpu": "100m"}})));
        assert!(!holds(&json!({"spec": {"version": "1"}}), &json!({"spec": {"version": "1000m"}})));
    }

    #[test]
    fn what_others_added_does_not_matter() {
        let live =
            json!({"spec": {"replicas": 1, "strategy": {"type": "RollingUpdate"}}, "data": {}});
        assert!(holds(
            &json!({"spec": {"replicas": 1}, "stringData": {"a": "b"}, "x": null}),
            &live
        ));
        assert!(!holds(&json!({"spec": {"replicas": 2}}), &live));
        assert!(!holds(&json!({"spec": {"args": ["a"]}}), &live));
    }

    #[test]
    fn no_amount_breaks_anything() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "1.2.3",
            "1e99",
            "1e-99",
            "9e2147483647",
            "1e-2147483648",
            "1E",
            "--1",
        ] {
            let _ = amount(&json!(text));
        }
    }
}
