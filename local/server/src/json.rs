//! JSON, read once: the value, and the keys that it has twice.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::reading::Path;

struct Seen<'a> {
    path: Path<'a>,
    twice: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Seen<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seen<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let before = self.twice.len();
            let path = Path::Field(&self.path, &key);
            let value = map.next_value_seed(Seen { path, twice: self.twice })?;
            match fields.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                // The later one counts.
                Entry::Occupied(mut entry) => {
                    self.twice.insert(before, Path::Field(&self.path, entry.key()).to_string());
                    entry.insert(value);
                }
            }
        }
        Ok(Value::Object(fields))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = Path::Item(&self.path, items.len());
            match list.next_element_seed(Seen { path, twice: self.twice })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }
    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }
    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }
    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }
    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(Number::from_f64(it).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::String(it.to_owned()))
    }
    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(Value::String(it))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// The value of a text, and the paths of keys that are there twice.
pub fn read(text: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut twice = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Seen { path: Path::Root, twice: &mut twice }.deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, twice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_are_there_twice() {
        let text =
            br#"{"a": {"b": 1, "b": [1.5, {"c": null, "c": true}]}, "d": -2, "a": "\u00e9"}"#;
        let (value, twice) = read(text).expect("JSON");
        assert_eq!(value, json!({"a": "é", "d": -2}));
        assert_eq!(twice, ["a.b", "a.b[1].c", "a"]);
        for bad in ["{} x", "{", "[1,]", ""] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
