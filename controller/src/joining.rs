//! From a kubeconfig to the Secret that joins its cluster, as cluster-gateway reads it.

use std::collections::BTreeMap;
use std::path::Path;

use k8s_openapi::ByteString;
use lateen_engine::api::SYSTEM_NAMESPACE;
use lateen_engine::api::names::{LOCAL_CLUSTER, label};
use serde_json::{Map, Value, json};

/// The Secret by which the cluster of a kubeconfig's current context is joined as `name`. Files it names
/// are looked for beside it, in `folder`.
///
/// # Errors
/// The name cannot be a cluster's, or the kubeconfig does not say enough.
pub fn secret(
    name: &str,
    kubeconfig: &Value,
    folder: &Path,
    labels: &BTreeMap<String, String>,
) -> Result<Value, String> {
    check_name(name)?;
    let wanted = kubeconfig["current-context"].as_str().unwrap_or_default();
    let context = &named(kubeconfig, "contexts", wanted)?["context"];
    let part = |list: &str, key: &str| {
        let name = context[key].as_str().unwrap_or_default();
        named(kubeconfig, list, name).map(|it| it[key].clone())
    };
    let (cluster, user) = (part("clusters", "cluster")?, part("users", "user")?);
    let read = |of: &Value, key: &str| bytes(of, key, folder);
    let mut data = Map::new();
    let mut put = |key: &str, value: Vec<u8>| {
        data.insert(key.to_owned(), json!(ByteString(value)));
    };
    let endpoint = cluster["server"].as_str().unwrap_or_default();
    if endpoint.is_empty() {
        return Err(format!("the cluster of context {wanted} has no server"));
    }
    put("endpoint", endpoint.into());
    if let Some(proxy) = cluster["proxy-url"].as_str() {
        put("proxy-url", proxy.into());
    }
    if cluster["insecure-skip-tls-verify"] != true
        && let Some(authority) = read(&cluster, "certificate-authority")?
    {
        put("ca.crt", authority);
    }
    let token = match (user["token"].as_str(), user["tokenFile"].as_str()) {
        (Some(token), _) => Some(token.to_owned().into_bytes()),
        (None, Some(file)) => Some(file_of(file, folder)?),
        (None, None) => None,
    };
    let certificate = (read(&user, "client-certificate")?, read(&user, "client-key")?);
    let kind = match (certificate, token) {
        ((Some(certificate), Some(key)), _) => {
            put("tls.crt", certificate);
            put("tls.key", key);
            "X509Certificate"
        }
        (_, Some(token)) => {
            put("token", token);
            "ServiceAccountToken"
        }
        _ => {
            return Err(format!(
                "the user of context {wanted} has neither a token nor a client certificate: programs that fetch credentials cannot be stored; make a token for a service account there"
            ));
        }
    };
    let mut all: Map<String, Value> =
        labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    all.insert(label::CLUSTER_CREDENTIAL.into(), kind.into());
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": SYSTEM_NAMESPACE, "labels": all},
        "type": "Opaque",
        "data": data,
    }))
}

/// Names of clusters are names of Secrets, and stand in paths and labels.
fn check_name(name: &str) -> Result<(), String> {
    if name == LOCAL_CLUSTER {
        return Err(format!("{LOCAL_CLUSTER} is the cluster Lateen runs in; choose another name"));
    }
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let edges = name.starts_with(inner) && name.ends_with(inner);
    if name.len() > 63 || !edges || !name.chars().all(|c| inner(c) || c == '-') {
        return Err(format!(
            "{name:?} cannot be a cluster's name: lower case letters, digits and dashes, 63 at most"
        ));
    }
    Ok(())
}

fn named<'v>(kubeconfig: &'v Value, list: &str, name: &str) -> Result<&'v Value, String> {
    let all = kubeconfig[list].as_array();
    all.into_iter()
        .flatten()
        .find(|it| it["name"] == name)
        .ok_or_else(|| format!("the kubeconfig has no {name:?} among its {list}"))
}

/// What is under `<key>-data`, or in the file under `<key>`.
fn bytes(of: &Value, key: &str, folder: &Path) -> Result<Option<Vec<u8>>, String> {
    let inline = &of[format!("{key}-data")];
    if inline.is_string() {
        return serde_json::from_value(inline.clone())
            .map(|it: ByteString| Some(it.0))
            .map_err(|error| format!("{key}-data: {error}"));
    }
    of[key].as_str().map(|file| file_of(file, folder)).transpose()
}

fn file_of(file: &str, folder: &Path) -> Result<Vec<u8>, String> {
    let path = folder.join(file);
    std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(cluster: Value, user: Value) -> Value {
        json!({
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
        })
    }

    fn joined(config: &Value) -> Result<Value, String> {
        let labels = [("area".to_owned(), "far".to_owned())].into();
        secret("east", config, Path::new("/nowhere"), &labels)
    }

    #[test]
    fn credentials_are_taken_over() {
        let cluster = json!({"server": "https://e:1", "certificate-authority-data": "Y2E="});
        let made = joined(&config(cluster.clone(), json!({"token": "tok"}))).expect("joined");
        assert_eq!(
            made["metadata"]["labels"],
            json!({"area": "far", label::CLUSTER_CREDENTIAL: "ServiceAccountToken"})
        );
        assert_eq!(
            made["data"],
            json!({"endpoint": "aHR0cHM6Ly9lOjE=", "ca.crt": "Y2E=", "token": "dG9r"})
        );
        let pair = json!({"client-certificate-data": "Y3J0", "client-key-data": "a2V5"});
        let made = joined(&config(cluster, pair)).expect("joined");
        assert_eq!(made["metadata"]["labels"][label::CLUSTER_CREDENTIAL], "X509Certificate");
        assert_eq!(
            (&made["data"]["tls.crt"], &made["data"]["tls.key"]),
            (&json!("Y3J0"), &json!("a2V5"))
        );
    }

    #[test]
    fn what_cannot_be_joined_is_told() {
        let server = json!({"server": "https://e:1"});
        for (config, word) in [
            (config(json!({}), json!({"token": "t"})), "no server"),
            (config(server.clone(), json!({"exec": {"command": "aws"}})), "neither a token"),
            (config(server, json!({"tokenFile": "gone"})), "/nowhere/gone"),
            (json!({"current-context": "y"}), "\"y\" among its contexts"),
        ] {
            let error = joined(&config).expect_err("is not enough");
            assert!(error.contains(word), "{error}");
        }
        for name in ["local", "East", "-a", ""] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
