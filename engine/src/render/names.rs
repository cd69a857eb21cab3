//! Names generated for objects that have none, equal to KubeVela's byte for byte.
//!
//! The hash is FNV-1a of 32 bits over a Go dump of the object, its decimal digits mapped to letters.

use serde_json::Value;

use crate::revision::canonical::exponent;

/// Name of an object of `trait_type` in `component`.
pub fn trait_object(component: &str, trait_type: &str, object: &Value) -> String {
    let middle = match trait_type {
        "" | "dummy" => "trait".to_owned(),
        other => other.to_lowercase().replace('@', "-"),
    };
    format!("{component}-{middle}-{}", hash(object))
}

/// Hash of an object as used in names.
pub fn hash(object: &Value) -> String {
    let mut text = String::new();
    dump(object, &mut text);
    let text = format!("(unstructured.Unstructured){{Object:{text}}}");
    let sum = text
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    let letter = |digit: char| match digit {
        '0' => '4',
        '1' => '5',
        '2' => '6',
        '3' => '7',
        '4' => '8',
        '5' => '9',
        '6' => 'b',
        '7' => 'c',
        '8' => 'd',
        _ => 'f',
    };
    sum.to_string().chars().map(letter).collect()
}

fn dump(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("(interface {})<nil>"),
        Value::Bool(it) => out.push_str(if *it { "(bool)true" } else { "(bool)false" }),
        Value::Number(it) => match it.as_i64() {
            Some(it) => out.push_str(&format!("(int64){it}")),
            None => out.push_str(&format!("(float64){}", general(it.as_f64().unwrap_or_default()))),
        },
        Value::String(it) => {
            out.push_str("(string)");
            out.push_str(it);
        }
        Value::Array(items) => {
            out.push_str("([]interface {})[");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                dump(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("(map[string]interface {})map[");
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                dump(value, out);
            }
            out.push(']');
        }
    }
}

/// Go's `%g` with shortest digits.
fn general(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0".into() } else { "0".into() };
    }
    let scientific = format!("{value:e}");
    let (_, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    if !(-4..6).contains(&power) { exponent(value, 2) } else { format!("{value}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_objects_without_one() {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap"});
        assert_eq!(trait_object("web", "MyTrait", &object), "web-mytrait-9d8444f45");
        assert_eq!(trait_object("web", "", &object), "web-trait-9d8444f45");
        assert_eq!(general(1_234_567.0), "1.234567e+06");
        assert_eq!(general(100_000.0), "100000");
        assert_eq!(general(1e-7), "1e-07");
    }
}
