//! `topology` and `replication`: where components go, and how often.

use indexmap::IndexMap;
use serde_json::Value;

use super::{Error, overriding, read, strict};
use crate::api::names::LOCAL_CLUSTER;
use crate::api::policies::{Replication, Topology};
use crate::api::{AppPolicy, Component};

/// A joined cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Name.
    pub name: String,
    /// Labels of its secret.
    pub labels: IndexMap<String, String>,
}

/// A cluster, and a namespace unless the application's own is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Cluster.
    pub cluster: String,
    /// Namespace, empty for the application's.
    pub namespace: String,
}

/// Which namespaces an application may deliver to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// Any.
    #[default]
    Any,
    /// Its own only.
    Own,
}

/// Everything a `deploy` delivers: each component to each placement, component by component.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Components after override and replication.
    pub components: Vec<Component>,
    /// Where each goes.
    pub placements: Vec<Placement>,
}

/// Policies of a `deploy` step in the order it names them, inline ones after them.
pub fn pick(
    policies: &[AppPolicy],
    names: &[String],
    inline: &[AppPolicy],
) -> Result<Vec<AppPolicy>, Error> {
    let mut picked = Vec::with_capacity(names.len() + inline.len());
    for name in names {
        let found = policies.iter().find(|it| it.name == *name);
        picked.push(found.cloned().ok_or_else(|| Error::NotFound(name.clone()))?);
    }
    for (index, policy) in inline.iter().enumerate() {
        let mut policy = policy.clone();
        if policy.name.is_empty() {
            policy.name = format!("inline-{}-policy-{index}", policy.r#type);
        }
        picked.push(policy);
    }
    Ok(picked)
}

/// What `policies` make of `components`.
pub fn deployment(
    components: &[Component],
    policies: &[AppPolicy],
    clusters: &[Cluster],
    namespace: &str,
    namespaces: Namespaces,
) -> Result<Deployment, Error> {
    let placements = placements(policies, clusters, namespace, namespaces)?;
    let mut components = components.to_vec();
    for policy in policies.iter().filter(|it| it.r#type == "override") {
        let change = overriding::parse(policy.properties.as_ref()).map_err(|error| {
            Error::Malformed(format!("failed to parse override policy {}: {error}", policy.name))
        })?;
        components = overriding::apply(&components, &change);
    }
    for policy in policies.iter().filter(|it| it.r#type == "replication") {
        components = replicate(components, &read(policy.properties.as_ref())?)?;
    }
    Ok(Deployment { components, placements })
}

/// Placements of the topology policies among `policies`, without duplicates; where the engine runs if there is none.
pub fn placements(
    policies: &[AppPolicy],
    clusters: &[Cluster],
    namespace: &str,
    namespaces: Namespaces,
) -> Result<Vec<Placement>, Error> {
    let mut placements: Vec<Placement> = Vec::new();
    let mut any = false;
    for policy in policies.iter().filter(|it| it.r#type == "topology") {
        any = true;
        for placement in of_topology(policy.properties.as_ref(), clusters, namespace, namespaces)? {
            if !placements.contains(&placement) {
                placements.push(placement);
            }
        }
    }
    if !any {
        placements.push(Placement { cluster: LOCAL_CLUSTER.into(), namespace: String::new() });
    }
    Ok(placements)
}

fn of_topology(
    properties: Option<&Value>,
    clusters: &[Cluster],
    namespace: &str,
    namespaces: Namespaces,
) -> Result<Vec<Placement>, Error> {
    let topology: Topology = read(properties)?;
    strict(&topology.rest)?;
    if namespaces == Namespaces::Own
        && !topology.namespace.is_empty()
        && topology.namespace != namespace
    {
        return Err(Error::CrossNamespace);
    }
    let at = |cluster: &str| Placement {
        cluster: cluster.into(),
        namespace: topology.namespace.clone(),
    };
    if let Some(names) = &topology.clusters {
        return names
            .iter()
            .map(|name| {
                let known = name == LOCAL_CLUSTER || clusters.iter().any(|it| it.name == *name);
                if known { Ok(at(name)) } else { Err(Error::NoCluster(name.clone())) }
            })
            .collect();
    }
    if let Some(labels) =
        topology.cluster_label_selector.as_ref().or(topology.cluster_selector.as_ref())
    {
        let found: Vec<Placement> = clusters
            .iter()
            .filter(|it| labels.iter().all(|(key, value)| it.labels.get(key) == Some(value)))
            .map(|it| at(&it.name))
            .collect();
        if found.is_empty() && !topology.allow_empty {
            return Err(Error::NoClusterMatches);
        }
        return Ok(found);
    }
    Ok(vec![at(LOCAL_CLUSTER)])
}

/// The selected components leave their place and follow at the end, once per key.
pub fn replicate(
    components: Vec<Component>,
    policy: &Replication,
) -> Result<Vec<Component>, Error> {
    if policy.keys.is_empty() {
        return Ok(components);
    }
    let (selected, mut kept): (Vec<_>, Vec<_>) =
        components.into_iter().partition(|it| policy.selector.contains(&it.name));
    if selected.is_empty() {
        return Err(Error::NothingToReplicate);
    }
    for component in selected {
        kept.extend(
            policy
                .keys
                .iter()
                .map(|key| Component { replica_key: key.clone(), ..component.clone() }),
        );
    }
    Ok(kept)
}
