//! The columns of a kind: names, types, and what they say of themselves.

use serde_json::Value;

use crate::published;
use crate::resource::Resource;

/// One column of a Table.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) format: String,
    pub(super) description: String,
    pub(super) priority: i64,
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const AGE: (&str, &str) = ("Age", "meta.v1.ObjectMeta#creationTimestamp");
const CONTAINERS: (&str, &str) = ("Containers*", "Names of each container in the template.");
const IMAGES: (&str, &str) = ("Images*", "Images referenced by each container in the template.");

type Columns = &'static [(&'static str, &'static str)];

/// Group, plural, columns after the first: `Name[:type][*]` (`*` for wide ones) and the description, which is
/// that of a field where it reads `group.version.Kind#field`.
const COLUMNS: &[(&str, &str, Columns)] = &[
    (
        "",
        "pods",
        &[
            ("Ready", "The aggregate readiness state of this pod for accepting traffic."),
            ("Status", "The aggregate status of the containers in this pod."),
            (
                "Restarts",
                "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
            ),
            AGE,
            ("IP*", "core.v1.PodStatus#podIP"),
            ("Node*", "core.v1.PodSpec#nodeName"),
            ("Nominated Node*", "core.v1.PodStatus#nominatedNodeName"),
            ("Readiness Gates*", "core.v1.PodSpec#readinessGates"),
        ],
    ),
    (
        "apps",
        "deployments",
        &[
            ("Ready", "Number of the pod with ready state"),
            ("Up-to-date", "apps.v1.DeploymentStatus#updatedReplicas"),
            ("Available", "apps.v1.DeploymentStatus#availableReplicas"),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "apps.v1.DeploymentSpec#selector"),
        ],
    ),
    (
        "apps",
        "replicasets",
        &[
            ("Desired:integer", "apps.v1.ReplicaSetSpec#replicas"),
            ("Current:integer", "apps.v1.ReplicaSetStatus#replicas"),
            ("Ready:integer", "apps.v1.ReplicaSetStatus#readyReplicas"),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "apps.v1.ReplicaSetSpec#selector"),
        ],
    ),
    (
        "",
        "replicationcontrollers",
        &[
            ("Desired:integer", "core.v1.ReplicationControllerSpec#replicas"),
            ("Current:integer", "core.v1.ReplicationControllerStatus#replicas"),
            ("Ready:integer", "core.v1.ReplicationControllerStatus#readyReplicas"),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "core.v1.ReplicationControllerSpec#selector"),
        ],
    ),
    (
        "apps",
        "statefulsets",
        &[("Ready", "Number of the pod with ready state"), AGE, CONTAINERS, IMAGES],
    ),
    (
        "apps",
        "daemonsets",
        &[
            ("Desired:integer", "apps.v1.DaemonSetStatus#desiredNumberScheduled"),
            ("Current:integer", "apps.v1.DaemonSetStatus#currentNumberScheduled"),
            ("Ready:integer", "apps.v1.DaemonSetStatus#numberReady"),
            ("Up-to-date:integer", "apps.v1.DaemonSetStatus#updatedNumberScheduled"),
            ("Available:integer", "apps.v1.DaemonSetStatus#numberAvailable"),
            ("Node Selector", "core.v1.PodSpec#nodeSelector"),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "apps.v1.DaemonSetSpec#selector"),
        ],
    ),
    (
        "apps",
        "controllerrevisions",
        &[
            ("Controller", "Controller of the object"),
            ("Revision", "apps.v1.ControllerRevision#revision"),
            AGE,
        ],
    ),
    (
        "batch",
        "jobs",
        &[
            ("Status", "Status of the job."),
            ("Completions", "batch.v1.JobStatus#succeeded"),
            ("Duration", "Time required to complete the job."),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "batch.v1.JobSpec#selector"),
        ],
    ),
    (
        "batch",
        "cronjobs",
        &[
            ("Schedule", "batch.v1.CronJobSpec#schedule"),
            ("Timezone", "batch.v1.CronJobSpec#timeZone"),
            ("Suspend:boolean", "batch.v1.CronJobSpec#suspend"),
            ("Active:integer", "batch.v1.CronJobStatus#active"),
            ("Last Schedule", "batch.v1.CronJobStatus#lastScheduleTime"),
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector*", "batch.v1.JobSpec#selector"),
        ],
    ),
    (
        "",
        "services",
        &[
            ("Type", "core.v1.ServiceSpec#type"),
            ("Cluster-IP", "core.v1.ServiceSpec#clusterIP"),
            ("External-IP", "core.v1.ServiceSpec#externalIPs"),
            ("Port(s)", "core.v1.ServiceSpec#ports"),
            AGE,
            ("Selector*", "core.v1.ServiceSpec#selector"),
        ],
    ),
    (
        "networking.k8s.io",
        "ingresses",
        &[
            (
                "Class",
                "The name of the IngressClass resource that should be used for additional configuration",
            ),
            ("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
            ("Address", "Address is a list containing ingress points for the load-balancer"),
            ("Ports", "Ports of TLS configurations that open"),
            AGE,
        ],
    ),
    (
        "networking.k8s.io",
        "ingressclasses",
        &[
            ("Controller", "Controller that is responsible for handling this class"),
            ("Parameters", "A reference to a resource with additional parameters"),
            AGE,
        ],
    ),
    (
        "networking.k8s.io",
        "networkpolicies",
        &[("Pod-Selector", "networking.v1.NetworkPolicySpec#podSelector"), AGE],
    ),
    ("", "configmaps", &[("Data", "core.v1.ConfigMap#data"), AGE]),
    ("", "secrets", &[("Type", "core.v1.Secret#type"), ("Data", "core.v1.Secret#data"), AGE]),
    ("", "namespaces", &[("Status", "The status of the namespace"), AGE]),
    ("", "serviceaccounts", &[AGE]),
    (
        "",
        "podtemplates",
        &[
            ("Containers", "Names of each container in the template."),
            ("Images", "Images referenced by each container in the template."),
            ("Pod Labels", "The labels for the pod template."),
        ],
    ),
    (
        "",
        "resourcequotas",
        &[
            (
                "Request",
                "Request represents a minimum amount of cpu/memory that a container may consume.",
            ),
            (
                "Limit",
                "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
            ),
            AGE,
        ],
    ),
    (
        "",
        "nodes",
        &[
            ("Status", "The status of the node"),
            ("Roles", "The roles of the node"),
            AGE,
            ("Version", "core.v1.NodeSystemInfo#kubeletVersion"),
            ("Internal-IP*", "core.v1.NodeStatus#addresses"),
            ("External-IP*", "core.v1.NodeStatus#addresses"),
            ("OS-Image*", "core.v1.NodeSystemInfo#osImage"),
            ("Kernel-Version*", "core.v1.NodeSystemInfo#kernelVersion"),
            ("Container-Runtime*", "core.v1.NodeSystemInfo#containerRuntimeVersion"),
        ],
    ),
    ("", "events", EVENT),
    ("events.k8s.io", "events", EVENT),
    (
        "",
        "persistentvolumes",
        &[
            ("Capacity", "core.v1.PersistentVolumeSpec#capacity"),
            ("Access Modes", "core.v1.PersistentVolumeSpec#accessModes"),
            ("Reclaim Policy", "core.v1.PersistentVolumeSpec#persistentVolumeReclaimPolicy"),
            ("Status", "core.v1.PersistentVolumeStatus#phase"),
            ("Claim", "core.v1.PersistentVolumeSpec#claimRef"),
            ("StorageClass", "StorageClass of the pv"),
            ("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
            ("Reason", "core.v1.PersistentVolumeStatus#reason"),
            AGE,
            ("VolumeMode*", "core.v1.PersistentVolumeSpec#volumeMode"),
        ],
    ),
    (
        "",
        "persistentvolumeclaims",
        &[
            ("Status", "core.v1.PersistentVolumeClaimStatus#phase"),
            ("Volume", "core.v1.PersistentVolumeClaimSpec#volumeName"),
            ("Capacity", "core.v1.PersistentVolumeClaimStatus#capacity"),
            ("Access Modes", "core.v1.PersistentVolumeClaimStatus#accessModes"),
            ("StorageClass", "StorageClass of the pvc"),
            ("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
            AGE,
            ("VolumeMode*", "core.v1.PersistentVolumeClaimSpec#volumeMode"),
        ],
    ),
    (
        "autoscaling",
        "horizontalpodautoscalers",
        &[
            ("Reference", "autoscaling.v2.HorizontalPodAutoscalerSpec#scaleTargetRef"),
            ("Targets", "autoscaling.v2.HorizontalPodAutoscalerSpec#metrics"),
            ("MinPods", "autoscaling.v2.HorizontalPodAutoscalerSpec#minReplicas"),
            ("MaxPods", "autoscaling.v2.HorizontalPodAutoscalerSpec#maxReplicas"),
            ("Replicas", "autoscaling.v2.HorizontalPodAutoscalerStatus#currentReplicas"),
            AGE,
        ],
    ),
    (
        "coordination.k8s.io",
        "leases",
        &[("Holder", "coordination.v1.LeaseSpec#holderIdentity"), AGE],
    ),
    (
        "policy",
        "poddisruptionbudgets",
        &[
            ("Min Available", "The minimum number of pods that must be available."),
            ("Max Unavailable", "The maximum number of pods that may be unavailable."),
            (
                "Allowed Disruptions:integer",
                "Calculated number of pods that may be disrupted at this time.",
            ),
            AGE,
        ],
    ),
    (
        "rbac.authorization.k8s.io",
        "rolebindings",
        &[
            (
                "Role",
                "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
            ),
            AGE,
            ("Users*", "Users in the roleBinding"),
            ("Groups*", "Groups in the roleBinding"),
            ("ServiceAccounts*", "ServiceAccounts in the roleBinding"),
        ],
    ),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        &[
            (
                "Role",
                "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
            ),
            AGE,
            ("Users*", "Users in the clusterRoleBinding"),
            ("Groups*", "Groups in the clusterRoleBinding"),
            ("ServiceAccounts*", "ServiceAccounts in the clusterRoleBinding"),
        ],
    ),
    ("", "endpoints", &[("Endpoints", "core.v1.Endpoints#subsets"), AGE]),
    (
        "discovery.k8s.io",
        "endpointslices",
        &[
            ("AddressType", "discovery.v1.EndpointSlice#addressType"),
            ("Ports", "discovery.v1.EndpointSlice#ports"),
            ("Endpoints", "discovery.v1.EndpointSlice#endpoints"),
            AGE,
        ],
    ),
    (
        "storage.k8s.io",
        "storageclasses",
        &[
            ("Provisioner", "storage.v1.StorageClass#provisioner"),
            ("ReclaimPolicy", "storage.v1.StorageClass#reclaimPolicy"),
            ("VolumeBindingMode", "storage.v1.StorageClass#volumeBindingMode"),
            ("AllowVolumeExpansion", "storage.v1.StorageClass#allowVolumeExpansion"),
            AGE,
        ],
    ),
    (
        "scheduling.k8s.io",
        "priorityclasses",
        &[
            ("Value:integer", "scheduling.v1.PriorityClass#value"),
            ("Global-Default:boolean", "scheduling.v1.PriorityClass#globalDefault"),
            AGE,
            ("PreemptionPolicy", "scheduling.v1.PriorityClass#preemptionPolicy"),
        ],
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        &[
            (
                "Webhooks:integer",
                "Webhooks indicates the number of webhooks registered in this configuration",
            ),
            AGE,
        ],
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        &[
            (
                "Webhooks:integer",
                "Webhooks indicates the number of webhooks registered in this configuration",
            ),
            AGE,
        ],
    ),
];

const EVENT: Columns = &[
    ("Type", "core.v1.Event#type"),
    ("Reason", "core.v1.Event#reason"),
    ("Object", "core.v1.Event#involvedObject"),
    ("Subobject*", "core.v1.ObjectReference#fieldPath"),
    ("Source*", "core.v1.Event#source"),
    ("Message", "core.v1.Event#message"),
    ("First Seen*", "core.v1.Event#firstTimestamp"),
    ("Count*", "core.v1.Event#count"),
    ("Name*", "meta.v1.ObjectMeta#name"),
];

// The description of a field as the reference's own documents give it, or the text itself.
fn described(source: &str) -> String {
    let Some((kind, field)) = source.split_once('#') else { return source.to_owned() };
    let schema = match kind.strip_prefix("meta.v1.") {
        Some(_) => published::described(META),
        None => published::described(&format!("io.k8s.api.{kind}")),
    };
    let told = schema.and_then(|schema| schema["properties"][field]["description"].as_str());
    let told = told.unwrap_or_default();
    // The known words were added for the published document.
    told.split("\n\nPossible enum values:").next().unwrap_or_default().to_owned()
}

fn plain(name: &str, kind: &'static str, source: &str) -> Column {
    let (name, priority) = name.strip_suffix('*').map_or((name, 0), |name| (name, 1));
    Column {
        name: name.to_owned(),
        kind,
        format: if name == "Name" { "name" } else { "" }.to_owned(),
        description: described(source),
        priority,
    }
}

/// All columns of a kind.
pub(super) fn columns(resource: &Resource) -> Vec<Column> {
    let first = match resource.custom.is_none() && resource.plural == "events" {
        true => plain("Last Seen", "string", "core.v1.Event#lastTimestamp"),
        false => plain("Name", "string", "meta.v1.ObjectMeta#name"),
    };
    let mut columns = vec![first];
    if let Some(custom) = &resource.custom {
        if custom.columns.is_empty() {
            columns.push(plain("Age", "date", AGE.1));
        }
        columns.extend(custom.columns.iter().map(custom_column));
        return columns;
    }
    let known = COLUMNS
        .iter()
        .find(|(group, plural, _)| *group == resource.group && *plural == resource.plural);
    let Some((_, _, known)) = known else {
        columns.push(plain("Created At", "date", AGE.1));
        return columns;
    };
    for (name, source) in *known {
        let (wide, bare) = (name.ends_with('*'), name.trim_end_matches('*'));
        let (bare, kind) = match bare.split_once(':') {
            Some((bare, "integer")) => (bare, "integer"),
            Some((bare, _)) => (bare, "boolean"),
            None => (bare, "string"),
        };
        let mut column = plain(bare, kind, source);
        column.priority = i64::from(wide);
        columns.push(column);
    }
    columns
}

fn custom_column(column: &Value) -> Column {
    let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
    let kind = match column["type"].as_str() {
        Some("integer") => "integer",
        Some("number") => "number",
        Some("boolean") => "boolean",
        Some("date") => "date",
        _ => "string",
    };
    let mut description = text("description");
    if description.is_empty() {
        let path = text("jsonPath");
        description = format!("Custom resource definition column (in JSONPath format): {path}");
    }
    let priority = column["priority"].as_i64().unwrap_or(0);
    Column { name: text("name"), kind, format: text("format"), description, priority }
}
