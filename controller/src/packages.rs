//! Package objects: CUE that templates may import, and the services that carry out its actions.

use std::collections::{BTreeMap, HashMap};

use crate::connection::Client;
use cue_session::{Package, Source};
use http::Method;
use lateen_engine::world::Service;
use serde_json::Value;

use crate::kinds::Resource;
use crate::mirror;
use crate::rest::{self, ActAs};

/// What Package objects declare.
#[derive(Debug, Default)]
pub struct Packages {
    /// What may be imported.
    pub imports: Vec<Package>,
    /// By provider, which is what the object is called.
    pub services: HashMap<String, Service>,
}

impl Packages {
    /// Of names and specs; what is wrong with one concerns nobody else.
    fn of<'a>(specs: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut all = Self::default();
        for (name, spec) in specs {
            let path = text(&spec["path"]);
            if path.is_empty() {
                tracing::warn!(name, "a package without a path");
                continue;
            }
            let files = spec["templates"].as_object().into_iter().flatten();
            let sources: Vec<Source> =
                files.map(|(file, it)| Source::new(file.as_str(), text(it))).collect();
            all.imports.push(Package { path: path.to_owned(), sources });
            let provider = &spec["provider"];
            let endpoint = text(&provider["endpoint"]);
            match text(&provider["protocol"]) {
                _ if endpoint.is_empty() => {}
                "" | "http" | "https" => {
                    let service =
                        Service { endpoint: address(provider), headers: headers(provider) };
                    all.services.insert(name.to_owned(), service);
                }
                protocol => tracing::warn!(name, protocol, "a package's service is not asked"),
            }
        }
        all
    }
}

/// Package objects, by namespace and name: their specs, which is what counts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Declared(BTreeMap<(String, String), Value>);

impl Declared {
    /// Those of a list.
    pub(crate) fn of(list: &Value) -> Self {
        let items = list["items"].as_array().into_iter().flatten();
        Self(items.map(|it| (mirror::key(it), it["spec"].clone())).collect())
    }

    /// Whether anything is declared by an object that was not before.
    pub(crate) fn add(&mut self, object: &Value) -> bool {
        let spec = &object["spec"];
        self.0.insert(mirror::key(object), spec.clone()).as_ref() != Some(spec)
    }

    /// Whether anything was declared by an object that is gone.
    pub(crate) fn remove(&mut self, object: &Value) -> bool {
        self.0.remove(&mirror::key(object)).is_some()
    }

    /// What they declare.
    pub(crate) fn packages(&self) -> Packages {
        Packages::of(self.0.iter().map(|((_, name), spec)| (name.as_str(), spec)))
    }
}

/// The objects of a cluster, as a list; null if it does not know the kind.
pub async fn read(client: &Client) -> Value {
    let path = rest::path(&resource(), "", None);
    let list = rest::send(client, Method::GET, &path, None, &ActAs::default()).await;
    list.unwrap_or_else(|error| {
        tracing::warn!(%error, "packages are not read");
        Value::Null
    })
}

/// The kind.
pub fn resource() -> Resource {
    Resource::namespaced("cue.oam.dev/v1alpha1", "Package", "packages")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// With its protocol, which may stand apart.
fn address(provider: &Value) -> String {
    let endpoint = text(&provider["endpoint"]);
    if endpoint.contains("://") {
        return endpoint.to_owned();
    }
    let protocol = if text(&provider["protocol"]) == "https" { "https" } else { "http" };
    format!("{protocol}://{endpoint}")
}

fn headers(provider: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in provider["header"].as_object().into_iter().flatten() {
        match value {
            Value::Array(values) => {
                all.extend(values.iter().map(|it| (name.clone(), text(it).to_owned())));
            }
            one => all.push((name.clone(), text(one).to_owned())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_declare_imports_and_services() {
        let object = |name: &str, path: &str, provider: Value| {
            let spec = json!({"path": path, "provider": provider, "templates": {"a.cue": "package a\n#A: 1"}});
            (name.to_owned(), spec)
        };
        let objects = [
            object(
                "sums",
                "ext/sums",
                json!({"protocol": "https", "endpoint": "sums.local/v1", "header": {"X": ["a", "b"]}}),
            ),
            object("far", "ext/far", json!({"protocol": "grpc", "endpoint": "far"})),
            object("plain", "ext/plain", Value::Null),
            object("lost", "", Value::Null),
        ];
        let all = Packages::of(objects.iter().map(|(name, spec)| (name.as_str(), spec)));
        let paths: Vec<&str> = all.imports.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["ext/sums", "ext/far", "ext/plain"]);
        assert_eq!(all.services.len(), 1);
        let service = &all.services["sums"];
        assert_eq!(service.endpoint, "https://sums.local/v1");
        assert_eq!(service.headers.len(), 2);
    }
}
