//! From `apiVersion` and `kind` to the resource in the path, asked of the cluster once per group.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::connection::Client;
use http::Method;
use lateen_engine::world::is_resource;
use serde_json::Value;

use crate::rest::{self, ActAs, Error};

/// A kind as the API serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `v1`, `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// `deployments`
    pub plural: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
}

impl Resource {
    /// Its objects live in namespaces.
    pub fn namespaced(api_version: &str, kind: &str, plural: &str) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            plural: plural.into(),
            namespaced: true,
        }
    }

    /// Its objects live in no namespace.
    pub fn cluster(api_version: &str, kind: &str, plural: &str) -> Self {
        Self { namespaced: false, ..Self::namespaced(api_version, kind, plural) }
    }
}

/// Kinds every cluster has: no need to ask.
const BUILT_IN: &[(&str, &str, &str, bool)] = &[
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Secret", "secrets", true),
    ("v1", "Service", "services", true),
    ("v1", "ServiceAccount", "serviceaccounts", true),
    ("v1", "Pod", "pods", true),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("v1", "PersistentVolume", "persistentvolumes", false),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "Node", "nodes", false),
    ("v1", "Event", "events", true),
    ("v1", "Endpoints", "endpoints", true),
    ("v1", "LimitRange", "limitranges", true),
    ("v1", "ResourceQuota", "resourcequotas", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "ControllerRevision", "controllerrevisions", true),
    ("batch/v1", "Job", "jobs", true),
    ("batch/v1", "CronJob", "cronjobs", true),
    ("networking.k8s.io/v1", "Ingress", "ingresses", true),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", false),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", true),
    ("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", true),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", false),
    ("coordination.k8s.io/v1", "Lease", "leases", true),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ("core.oam.dev/v1beta1", "Application", "applications", true),
    ("core.oam.dev/v1beta1", "ApplicationRevision", "applicationrevisions", true),
    ("core.oam.dev/v1beta1", "ComponentDefinition", "componentdefinitions", true),
    ("core.oam.dev/v1beta1", "TraitDefinition", "traitdefinitions", true),
    ("core.oam.dev/v1beta1", "PolicyDefinition", "policydefinitions", true),
    ("core.oam.dev/v1beta1", "WorkflowStepDefinition", "workflowstepdefinitions", true),
    ("core.oam.dev/v1beta1", "WorkloadDefinition", "workloaddefinitions", true),
    ("core.oam.dev/v1beta1", "DefinitionRevision", "definitionrevisions", true),
    ("core.oam.dev/v1beta1", "ResourceTracker", "resourcetrackers", false),
    ("core.oam.dev/v1alpha1", "Policy", "policies", true),
    ("core.oam.dev/v1alpha1", "Workflow", "workflows", true),
    ("core.oam.dev/v1alpha1", "WorkflowRun", "workflowruns", true),
];

/// What is known of a cluster's kinds.
#[derive(Default)]
pub struct Kinds {
    asked: Mutex<HashMap<String, Vec<Resource>>>,
}

impl Kinds {
    /// The resource of a kind; asks the cluster for kinds it does not know, and again for kinds
    /// that were not there last time (a CRD may have come).
    ///
    /// # Errors
    /// [`Error::UnknownKind`] if the cluster has none; otherwise as the request failed.
    pub async fn resolve(
        &self,
        client: &Client,
        api_version: &str,
        kind: &str,
    ) -> Result<Resource, Error> {
        let built_in = BUILT_IN.iter().find(|it| it.0 == api_version && it.1 == kind);
        if let Some((api_version, kind, plural, namespaced)) = built_in {
            let resource = Resource::namespaced(api_version, kind, plural);
            return Ok(Resource { namespaced: *namespaced, ..resource });
        }
        if let Some(known) = self.known(api_version, kind) {
            return Ok(known);
        }
        let resources = ask(client, api_version).await?;
        let found = resources.iter().find(|it| it.kind == kind).cloned();
        if let Ok(mut asked) = self.asked.lock() {
            asked.insert(api_version.into(), resources);
        }
        found.ok_or_else(|| Error::UnknownKind {
            api_version: api_version.into(),
            kind: kind.into(),
        })
    }

    /// `apiVersion` and `kind` of a resource, by its name in the plural or the singular.
    ///
    /// # Errors
    /// As a request failed.
    pub async fn named(
        &self,
        client: &Client,
        group: &str,
        resource: &str,
    ) -> Result<Option<(String, String)>, Error> {
        let fits = |api_version: &str, kind: &str, plural: &str| {
            let of = api_version.split_once('/').map_or("", |it| it.0);
            (group.is_empty() || of == group)
                && (plural == resource.to_lowercase() || is_resource(kind, resource))
        };
        if let Some(it) = BUILT_IN.iter().find(|it| fits(it.0, it.1, it.2)) {
            return Ok(Some((it.0.to_owned(), it.1.to_owned())));
        }
        let groups = rest::send(client, Method::GET, "/apis", None, &ActAs::default()).await?;
        for it in groups["groups"].as_array().into_iter().flatten() {
            if !group.is_empty() && it["name"] != group {
                continue;
            }
            let version = it["preferredVersion"]["groupVersion"].as_str().unwrap_or_default();
            let all = ask(client, version).await?;
            if let Some(it) = all.iter().find(|it| fits(version, &it.kind, &it.plural)) {
                return Ok(Some((it.api_version.clone(), it.kind.clone())));
            }
        }
        Ok(None)
    }

    fn known(&self, api_version: &str, kind: &str) -> Option<Resource> {
        let asked = self.asked.lock().ok()?;
        asked.get(api_version)?.iter().find(|it| it.kind == kind).cloned()
    }
}

async fn ask(client: &Client, api_version: &str) -> Result<Vec<Resource>, Error> {
    let path = if api_version.contains('/') {
        format!("/apis/{api_version}")
    } else {
        format!("/api/{api_version}")
    };
    let list = match rest::send(client, Method::GET, &path, None, &ActAs::default()).await {
        Ok(list) => list,
        Err(Error::Refused(status)) if status.code == 404 => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let resources = list.get("resources").and_then(Value::as_array);
    Ok(resources
        .into_iter()
        .flatten()
        .filter_map(|it| {
            let plural = it.get("name")?.as_str()?;
            let kind = it.get("kind")?.as_str()?;
            let namespaced = it.get("namespaced")?.as_bool()?;
            // Subresources are listed beside their resource.
            let resource = Resource::namespaced(api_version, kind, plural);
            (!plural.contains('/')).then_some(Resource { namespaced, ..resource })
        })
        .collect())
}
