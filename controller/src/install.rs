//! Puts CRDs and definitions in place by server-side apply; only commands that say so do this.

use std::time::Duration;

use crate::connection::Client;
use futures::stream::{self, StreamExt};
use http::Method;
use serde_json::Value;

use crate::kinds::Kinds;
use crate::rest::{self, ActAs, Body, Error};

/// Field manager of everything that is installed.
const MANAGER: &str = "lateen";

/// How often a CRD is asked whether it is served.
const POLL: Duration = Duration::from_millis(20);

/// Longest wait for the CRDs.
const PATIENCE: Duration = Duration::from_secs(30);

/// What there is to install, in order.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// CustomResourceDefinitions.
    pub crds: Vec<Value>,
    /// Namespaces.
    pub namespaces: Vec<Value>,
    /// Definitions and everything else.
    pub objects: Vec<Value>,
}

/// Applies the bundle; doing so again changes nothing.
///
/// # Errors
/// The first refusal, or CRDs that are not served in time.
pub async fn install(client: &Client, bundle: &Bundle) -> Result<usize, Error> {
    let kinds = Kinds::default();
    for group in [&bundle.crds, &bundle.namespaces] {
        apply_all(client, &kinds, group).await?;
    }
    let asked = tokio::time::Instant::now();
    for crd in &bundle.crds {
        wait_served(client, crd, asked).await?;
    }
    apply_all(client, &kinds, &bundle.objects).await?;
    Ok(bundle.crds.len() + bundle.namespaces.len() + bundle.objects.len())
}

async fn apply_all(client: &Client, kinds: &Kinds, objects: &[Value]) -> Result<(), Error> {
    let mut applied = stream::iter(objects).map(|it| apply(client, kinds, it)).buffered(8);
    while let Some(result) = applied.next().await {
        result?;
    }
    Ok(())
}

async fn apply(client: &Client, kinds: &Kinds, object: &Value) -> Result<(), Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource =
        kinds.resolve(client, &text(&object["apiVersion"]), &text(&object["kind"])).await?;
    let meta = &object["metadata"];
    let path = rest::path(&resource, &text(&meta["namespace"]), Some(&text(&meta["name"])));
    let path = rest::with_query(path, "fieldManager", MANAGER);
    let path = rest::with_query(path, "force", "true");
    let body = Some((Body::Apply, object));
    rest::send(client, Method::PATCH, &path, body, &ActAs::default()).await?;
    Ok(())
}

async fn wait_served(
    client: &Client,
    crd: &Value,
    since: tokio::time::Instant,
) -> Result<(), Error> {
    let name = crd["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    loop {
        let live = rest::get(client, &path, &ActAs::default()).await?.unwrap_or_default();
        let conditions = live["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if conditions.iter().any(|it| it["type"] == "Established" && it["status"] == "True") {
            return Ok(());
        }
        if since.elapsed() > PATIENCE {
            return Err(Error::Answer(format!(
                "CustomResourceDefinition {name} is not served after {} s",
                PATIENCE.as_secs()
            )));
        }
        tokio::time::sleep(POLL).await;
    }
}
