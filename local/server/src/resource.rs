//! Which resources there are: the built-in ones as data, the defined ones from CustomResourceDefinitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::custom::Custom;
use crate::published;

/// One resource in one version.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The API group, empty for core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name, as in paths.
    pub plural: String,
    /// The singular name.
    pub singular: String,
    /// The kind.
    pub kind: String,
    /// The kind of its lists.
    pub list_kind: String,
    /// Whether it lives in namespaces.
    pub namespaced: bool,
    /// Short names.
    pub short: Vec<String>,
    /// Categories.
    pub categories: Vec<String>,
    /// Verbs, sorted.
    pub verbs: Vec<String>,
    /// Names of subresources.
    pub subresources: Vec<String>,
    /// Where objects are stored: group and plural of the storing resource.
    pub prefix: String,
    /// apiVersion of the stored form.
    pub stored: String,
    /// The definition, if it is a custom resource.
    pub custom: Option<Arc<Custom>>,
    /// The name of the published schema, if there is one.
    pub schema: Option<String>,
}

/// Built-in resources: group, version, then `plural kind scope short categories subresources`.
/// Scope is N (namespaced) or C (cluster); V marks kinds that are only asked, not stored.
const BUILT_IN: &[(&str, &str, &str)] = &[
    ("", "v1", "bindings Binding NV - - -"),
    ("", "v1", "componentstatuses ComponentStatus CV cs - -"),
    ("", "v1", "configmaps ConfigMap N cm - -"),
    ("", "v1", "endpoints Endpoints N ep - -"),
    ("", "v1", "events Event N ev - -"),
    ("", "v1", "limitranges LimitRange N limits - -"),
    ("", "v1", "namespaces Namespace C ns - finalize,status"),
    ("", "v1", "nodes Node C no - proxy,status"),
    ("", "v1", "persistentvolumeclaims PersistentVolumeClaim N pvc - status"),
    ("", "v1", "persistentvolumes PersistentVolume C pv - status"),
    (
        "",
        "v1",
        "pods Pod N po all attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status",
    ),
    ("", "v1", "podtemplates PodTemplate N - - -"),
    ("", "v1", "replicationcontrollers ReplicationController N rc all scale,status"),
    ("", "v1", "resourcequotas ResourceQuota N quota - status"),
    ("", "v1", "secrets Secret N - - -"),
    ("", "v1", "serviceaccounts ServiceAccount N sa - token"),
    ("", "v1", "services Service N svc all proxy,status"),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingadmissionpolicies MutatingAdmissionPolicy C - api-extensions -",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding C - api-extensions -",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingwebhookconfigurations MutatingWebhookConfiguration C - api-extensions -",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingadmissionpolicies ValidatingAdmissionPolicy C - api-extensions status",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding C - api-extensions -",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations ValidatingWebhookConfiguration C - api-extensions -",
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions CustomResourceDefinition C crd,crds api-extensions status",
    ),
    ("apps", "v1", "controllerrevisions ControllerRevision N - - -"),
    ("apps", "v1", "daemonsets DaemonSet N ds all status"),
    ("apps", "v1", "deployments Deployment N deploy all scale,status"),
    ("apps", "v1", "replicasets ReplicaSet N rs all scale,status"),
    ("apps", "v1", "statefulsets StatefulSet N sts all scale,status"),
    ("authentication.k8s.io", "v1", "selfsubjectreviews SelfSubjectReview CV - - -"),
    ("authentication.k8s.io", "v1", "tokenreviews TokenReview CV - - -"),
    ("authorization.k8s.io", "v1", "localsubjectaccessreviews LocalSubjectAccessReview NV - - -"),
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews SelfSubjectAccessReview CV - - -"),
    ("authorization.k8s.io", "v1", "selfsubjectrulesreviews SelfSubjectRulesReview CV - - -"),
    ("authorization.k8s.io", "v1", "subjectaccessreviews SubjectAccessReview CV - - -"),
    ("autoscaling", "v2", "horizontalpodautoscalers HorizontalPodAutoscaler N hpa all status"),
    ("autoscaling", "v1", "horizontalpodautoscalers HorizontalPodAutoscaler N hpa all status"),
    ("batch", "v1", "cronjobs CronJob N cj all status"),
    ("batch", "v1", "jobs Job N - all status"),
    (
        "certificates.k8s.io",
        "v1",
        "certificatesigningrequests CertificateSigningRequest C csr - approval,status",
    ),
    ("coordination.k8s.io", "v1", "leases Lease N - - -"),
    ("discovery.k8s.io", "v1", "endpointslices EndpointSlice N - - -"),
    ("events.k8s.io", "v1", "events Event N ev - -"),
    ("networking.k8s.io", "v1", "ingressclasses IngressClass C - - -"),
    ("networking.k8s.io", "v1", "ingresses Ingress N ing - status"),
    ("networking.k8s.io", "v1", "ipaddresses IPAddress C ip - -"),
    ("networking.k8s.io", "v1", "networkpolicies NetworkPolicy N netpol - -"),
    ("networking.k8s.io", "v1", "servicecidrs ServiceCIDR C - - status"),
    ("node.k8s.io", "v1", "runtimeclasses RuntimeClass C - - -"),
    ("policy", "v1", "poddisruptionbudgets PodDisruptionBudget N pdb - status"),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings ClusterRoleBinding C - - -"),
    ("rbac.authorization.k8s.io", "v1", "clusterroles ClusterRole C - - -"),
    ("rbac.authorization.k8s.io", "v1", "rolebindings RoleBinding N - - -"),
    ("rbac.authorization.k8s.io", "v1", "roles Role N - - -"),
    ("scheduling.k8s.io", "v1", "priorityclasses PriorityClass C pc - -"),
    ("storage.k8s.io", "v1", "csidrivers CSIDriver C - - -"),
    ("storage.k8s.io", "v1", "csinodes CSINode C - - -"),
    ("storage.k8s.io", "v1", "csistoragecapacities CSIStorageCapacity N - - -"),
    ("storage.k8s.io", "v1", "storageclasses StorageClass C sc - -"),
    ("storage.k8s.io", "v1", "volumeattachments VolumeAttachment C - - status"),
    ("storage.k8s.io", "v1", "volumeattributesclasses VolumeAttributesClass C vac - -"),
];

const ALL_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// All resources, found by group, version and plural.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    found: BTreeMap<(String, String, String), Arc<Resource>>,
}

impl Registry {
    /// The resources that every server has.
    #[must_use]
    pub fn built_in() -> Registry {
        let mut registry = Registry::default();
        for (group, version, line) in BUILT_IN {
            if let Some(resource) = built_in(group, version, line) {
                registry.insert(resource);
            }
        }
        registry
    }

    /// Adds or replaces one.
    pub fn insert(&mut self, resource: Resource) {
        let key = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        self.found.insert(key, Arc::new(resource));
    }

    /// Takes away what a definition (by its name) brought.
    pub fn remove_definition(&mut self, name: &str) {
        self.found.retain(|_, resource| {
            resource.custom.as_ref().is_none_or(|custom| custom.definition != name)
        });
    }

    /// One resource.
    #[must_use]
    pub fn get(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.found.get(&key).cloned()
    }

    /// The resource of a kind.
    #[must_use]
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Resource>> {
        let same =
            |one: &&Arc<Resource>| one.group == group && one.version == version && one.kind == kind;
        self.found.values().find(same).cloned()
    }

    /// Every resource, sorted by group, version, plural.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.found.values()
    }

    /// Whether the group version is served.
    #[must_use]
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.iter().any(|one| one.group == group && one.version == version)
    }

    /// Groups in the order of discovery with their versions, the preferred one first.
    #[must_use]
    pub fn groups(&self) -> Vec<(String, Vec<String>)> {
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for one in self.iter().filter(|one| !one.group.is_empty()) {
            let versions = groups.entry(&one.group).or_default();
            if !versions.contains(&one.version) {
                versions.push(one.version.clone());
            }
        }
        let mut order: Vec<(String, Vec<String>)> =
            groups.into_iter().map(|(group, versions)| (group.to_owned(), versions)).collect();
        for (_, versions) in &mut order {
            versions.sort_by_key(|version| std::cmp::Reverse(version_rank(version)));
        }
        order.sort_by_key(|(group, _)| group_rank(group));
        order
    }
}

/// GA before beta before alpha, higher numbers first; other names last.
#[must_use]
pub fn version_rank(version: &str) -> (u8, u64, u64) {
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (major, tail) = rest.split_at(digits);
    let Ok(major) = major.parse() else { return (0, 0, 0) };
    if tail.is_empty() {
        return (3, major, 0);
    }
    for (word, rank) in [("beta", 2), ("alpha", 1)] {
        if let Some(Ok(minor)) = tail.strip_prefix(word).map(str::parse) {
            return (rank, major, minor);
        }
    }
    (0, 0, 0)
}

fn group_rank(group: &str) -> (usize, String) {
    let order = [
        "apiregistration.k8s.io",
        "apps",
        "events.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "scheduling.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "discovery.k8s.io",
    ];
    let rank = order.iter().position(|one| *one == group).unwrap_or(order.len());
    (rank, if rank == order.len() { group.to_owned() } else { String::new() })
}

fn built_in(group: &str, version: &str, line: &str) -> Option<Resource> {
    let mut words = line.split(' ');
    let plural = words.next()?;
    let kind = words.next()?;
    let scope = words.next()?;
    let mut list = || -> Option<Vec<String>> {
        let word = words.next()?;
        Some(if word == "-" { Vec::new() } else { word.split(',').map(str::to_owned).collect() })
    };
    let (short, categories, subresources) = (list()?, list()?, list()?);
    let verbs: Vec<&str> = match plural {
        "componentstatuses" => vec!["get", "list"],
        "namespaces" => ALL_VERBS.into_iter().filter(|verb| *verb != "deletecollection").collect(),
        _ if scope.ends_with('V') => vec!["create"],
        _ => ALL_VERBS.to_vec(),
    };
    let (home, stored) = match (group, plural) {
        ("events.k8s.io", "events") => ("", "v1".to_owned()),
        ("autoscaling", _) => (group, "autoscaling/v2".to_owned()),
        ("", _) => (group, version.to_owned()),
        _ => (group, format!("{group}/{version}")),
    };
    Some(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        namespaced: scope.starts_with('N'),
        short,
        categories,
        verbs: verbs.into_iter().map(str::to_owned).collect(),
        subresources,
        prefix: format!("{home}/{plural}/"),
        stored,
        custom: None,
        schema: published::schema_of(group, version, kind),
    })
}

impl Resource {
    /// `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether objects are stored in this very version, and nothing is added when they are shown.
    #[must_use]
    pub fn shows_stored(&self) -> bool {
        let (group, version) = self.stored.split_once('/').unwrap_or(("", &self.stored));
        self.custom.is_none() && group == self.group && version == self.version
    }

    /// The key of an object.
    #[must_use]
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{}{namespace}/{name}", self.prefix)
        } else {
            format!("{}{name}", self.prefix)
        }
    }

    /// Where the objects of a namespace are, or all of them.
    #[must_use]
    pub fn range(&self, namespace: &str) -> String {
        if self.namespaced && !namespace.is_empty() {
            format!("{}{namespace}/", self.prefix)
        } else {
            self.prefix.clone()
        }
    }

    /// Whether there is such a subresource.
    #[must_use]
    pub fn has(&self, subresource: &str) -> bool {
        self.subresources.iter().any(|one| one == subresource)
    }

    /// Whether it is this built-in kind.
    #[must_use]
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.custom.is_none() && self.group == group && self.plural == plural
    }

    /// The fields beyond name and namespace that field selectors may name.
    #[must_use]
    pub fn selectable_fields(&self) -> Vec<&str> {
        if let Some(custom) = &self.custom {
            return custom.selectable.iter().map(String::as_str).collect();
        }
        let fields: &[&str] = match (self.group.as_str(), self.plural.as_str()) {
            ("", "pods") => &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.podIPs",
                "status.nominatedNodeName",
            ],
            ("", "nodes") => &["spec.unschedulable"],
            ("", "namespaces") => &["status.phase"],
            ("", "secrets") => &["type"],
            ("", "services") => &["spec.clusterIP", "spec.type"],
            ("", "replicationcontrollers") => &["status.replicas"],
            ("batch", "jobs") => &["status.successful"],
            ("certificates.k8s.io", _) => &["spec.signerName"],
            ("", "events") => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
            ],
            ("events.k8s.io", "events") => &[
                "regarding.kind",
                "regarding.namespace",
                "regarding.name",
                "regarding.uid",
                "regarding.apiVersion",
                "regarding.resourceVersion",
                "regarding.fieldPath",
                "reason",
                "reportingController",
                "type",
            ],
            _ => &[],
        };
        fields.to_vec()
    }

    /// The schema of its objects, and the document that holds what it refers to.
    #[must_use]
    pub fn schema(&self) -> Option<Node<'_>> {
        if let Some(custom) = &self.custom {
            return Some(Node { at: &custom.schema });
        }
        let name = self.schema.as_deref()?;
        Some(Node { at: published::schema(name)? })
    }
}

/// A place in a schema; references lead into the published schemas.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The schema itself, references followed.
    pub at: &'a Value,
}

impl<'a> Node<'a> {
    /// A schema with its reference followed.
    #[must_use]
    pub fn new(schema: &'a Value) -> Node<'a> {
        let mut at = schema;
        // A chain of references cannot be long; a circle of them is no schema.
        for _ in 0..8 {
            let target =
                at.get("$ref").or_else(|| match at.get("allOf").and_then(Value::as_array) {
                    Some(all) if all.len() == 1 => all.first().and_then(|one| one.get("$ref")),
                    _ => None,
                });
            match target.and_then(Value::as_str).and_then(published::referred) {
                Some(next) => at = next,
                None => break,
            }
        }
        Node { at }
    }

    /// The schema of a property, declared or additional; none if the name is unknown.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<Node<'a>> {
        if let Some(found) = self.at.get("properties").and_then(|all| all.get(name)) {
            return Some(Node::new(found));
        }
        self.at.get("additionalProperties").filter(|one| one.is_object()).map(Node::new)
    }

    /// The schema of list items.
    #[must_use]
    pub fn items(&self) -> Option<Node<'a>> {
        self.at.get("items").map(Node::new)
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.at.get(name) == Some(&Value::Bool(true))
    }

    /// Whether undeclared fields may stay.
    #[must_use]
    pub fn open(&self) -> bool {
        if self.flag("x-kubernetes-preserve-unknown-fields") {
            return true;
        }
        match self.at.get("additionalProperties") {
            Some(Value::Bool(open)) => *open,
            Some(_) => true,
            None => self.at.get("properties").is_none(),
        }
    }
}
