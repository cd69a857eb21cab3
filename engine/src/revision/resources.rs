//! ConfigMap of the rendered resources of a revision (`spec.resourcesConfigMap`).
//!
//! One key per component. Above the size limit the content is compressed, and above it still, split over several
//! ConfigMaps; the first names the others. A Secret's data never appears: a reference and a hash stand for it.

use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::names::label;
use crate::api::object::text;
use crate::render::Rendered;

/// Bytes of content per ConfigMap; the API server refuses one mebibyte.
pub const LIMIT: usize = 900_000;
/// Bytes that are unpacked at most.
const UNPACKED: u64 = 256 << 20;

const PARTS: &str = "parts";
const PACKED: &str = "resources.json.gz";

/// Why the resources cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A part is missing.
    #[error("ConfigMap {0} of the rendered resources is missing")]
    Missing(String),
    /// The content is damaged.
    #[error("rendered resources are unreadable")]
    Damaged,
}

/// What is stored for one component.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Its resources.
    Rendered(Rendered),
    /// It takes inputs, so it is rendered when its step runs.
    Waiting(Vec<String>),
}

/// The ConfigMaps of revision `revision` of `app`; the first is the one the revision names.
pub fn config_maps(
    app: &str,
    namespace: &str,
    revision: &str,
    entries: &[(String, Entry)],
    limit: usize,
) -> Vec<Value> {
    let mut content = Map::new();
    for (name, entry) in entries {
        let value = match entry {
            Entry::Waiting(inputs) => json!({ "waitsFor": inputs }),
            Entry::Rendered(rendered) => {
                let mut objects = vec![without_secrets(&rendered.workload)];
                objects.extend(rendered.auxiliaries.iter().map(|it| without_secrets(&it.object)));
                json!({ "resources": objects })
            }
        };
        content.insert(name.clone(), value);
    }
    let base = format!("{revision}-resources");
    let config_map = |name: &str, data: Map<String, Value>| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": name, "namespace": namespace,
                "labels": { (label::APP_NAME): app, (label::APP_REVISION): revision },
            },
            "data": data,
        })
    };
    let plain: Map<String, Value> = content
        .iter()
        .map(|(name, value)| (format!("{name}.json"), Value::String(value.to_string())))
        .collect();
    let size: usize =
        plain.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size <= limit {
        return vec![config_map(&base, plain)];
    }
    let packed = STANDARD.encode(gzip(Value::Object(content).to_string().as_bytes()));
    let parts: Vec<&[u8]> = packed.as_bytes().chunks(limit.max(1)).collect();
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let name = if index == 0 { base.clone() } else { format!("{base}-{index}") };
            let mut data = Map::new();
            if index == 0 {
                data.insert(PARTS.into(), parts.len().to_string().into());
            }
            data.insert(PACKED.into(), String::from_utf8_lossy(part).into_owned().into());
            config_map(&name, data)
        })
        .collect()
}

/// Read back what [`config_maps`] wrote: component name to `{resources}` or `{waitsFor}`.
pub fn read(config_maps: &[Value]) -> Result<Map<String, Value>, Error> {
    let first = config_maps.first().ok_or_else(|| Error::Missing("first".into()))?;
    let empty = Map::new();
    let data = first.get("data").and_then(Value::as_object).unwrap_or(&empty);
    if !data.contains_key(PACKED) {
        return data
            .iter()
            .map(|(key, value)| {
                let name = key.strip_suffix(".json").unwrap_or(key);
                let parsed = serde_json::from_str(value.as_str().unwrap_or_default())
                    .map_err(|_| Error::Damaged)?;
                Ok((name.to_owned(), parsed))
            })
            .collect();
    }
    let count: usize = text(first, "/data/parts").parse().map_err(|_| Error::Damaged)?;
    let base = text(first, "/metadata/name");
    let mut packed = String::new();
    for index in 0..count {
        let name = if index == 0 { base.to_owned() } else { format!("{base}-{index}") };
        let part = config_maps
            .iter()
            .find(|it| text(it, "/metadata/name") == name)
            .ok_or(Error::Missing(name))?;
        packed.push_str(
            part.get("data")
                .and_then(|it| it.get(PACKED))
                .and_then(Value::as_str)
                .ok_or(Error::Damaged)?,
        );
    }
    let bytes = STANDARD.decode(packed).map_err(|_| Error::Damaged)?;
    let mut out = Vec::new();
    GzDecoder::new(bytes.as_slice())
        .take(UNPACKED)
        .read_to_end(&mut out)
        .map_err(|_| Error::Damaged)?;
    serde_json::from_slice(&out).map_err(|_| Error::Damaged)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn without_secrets(object: &Value) -> Value {
    let mut object = object.clone();
    if text(&object, "/kind") == "Secret" && text(&object, "/apiVersion") == "v1" {
        if let Value::Object(map) = &mut object {
            let mut hash = Sha256::new();
            for key in ["data", "stringData"] {
                if let Some(value) = map.shift_remove(key) {
                    hash.update(super::canonical::text(&value));
                }
            }
            let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            map.insert("dataHash".into(), format!("sha256:{digest}").into());
            if let Some(annotations) = map
                .get_mut("metadata")
                .and_then(|it| it.get_mut("annotations"))
                .and_then(Value::as_object_mut)
            {
                annotations.shift_remove(crate::api::names::annotation::LAST_APPLIED);
                annotations.shift_remove(crate::api::names::annotation::KUBECTL_LAST_APPLIED);
            }
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<(String, Entry)> {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}});
        let rendered = Rendered { name: "web".into(), workload: secret, ..Rendered::default() };
        vec![
            ("web".into(), Entry::Rendered(rendered)),
            ("late".into(), Entry::Waiting(vec!["x".into()])),
        ]
    }

    #[test]
    fn reads_back_what_was_written_plain_packed_and_split() {
        let plain = read(&config_maps("a", "d", "a-v1", &entries(), LIMIT)).expect("plain");
        assert_eq!(plain.len(), 2);
        for limit in [300, 40] {
            let maps = config_maps("a", "d", "a-v1", &entries(), limit);
            assert_eq!(read(&maps).expect("packed"), plain, "limit {limit}");
        }
        assert!(config_maps("a", "d", "a-v1", &entries(), 40).len() > 1);
    }

    #[test]
    fn secret_data_is_not_stored() {
        let maps = config_maps("a", "d", "a-v1", &entries(), LIMIT);
        assert!(!maps[0].to_string().contains("hunter2"));
        assert!(maps[0].to_string().contains("sha256:"));
    }
}
