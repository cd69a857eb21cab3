//! Every label, annotation, finalizer, condition and event name.

/// Labels.
pub mod label {
    /// Application a resource belongs to.
    pub const APP_NAME: &str = "app.oam.dev/name";
    /// Namespace of that Application.
    pub const APP_NAMESPACE: &str = "app.oam.dev/namespace";
    /// Uid of that Application (trackers).
    pub const APP_UID: &str = "app.oam.dev/uid";
    /// Name of the ApplicationRevision that rendered it.
    pub const APP_REVISION: &str = "app.oam.dev/appRevision";
    /// Hash of that revision.
    pub const APP_REVISION_HASH: &str = "app.oam.dev/app-revision-hash";
    /// Component it comes from.
    pub const APP_COMPONENT: &str = "app.oam.dev/component";
    /// Cluster it is placed in.
    pub const APP_CLUSTER: &str = "app.oam.dev/cluster";
    /// Key of the replica it belongs to.
    pub const APP_REPLICA: &str = "app.oam.dev/replicaKey";
    /// Component revision, when enabled.
    pub const COMPONENT_REVISION: &str = "app.oam.dev/revision";
    /// `WORKLOAD` or `TRAIT`.
    pub const RESOURCE_TYPE: &str = "app.oam.dev/resourceType";
    /// Component definition's name.
    pub const WORKLOAD_TYPE: &str = "workload.oam.dev/type";
    /// Trait definition's name, or [`super::AUXILIARY_WORKLOAD`].
    pub const TRAIT_TYPE: &str = "trait.oam.dev/type";
    /// Key in `outputs`.
    pub const TRAIT_RESOURCE: &str = "trait.oam.dev/resource";
    /// The trait's object is the workload.
    pub const MANAGE_WORKLOAD: &str = "trait.oam.dev/manage-workload";
    /// Structural hash of what was applied.
    pub const RENDER_HASH: &str = "oam.dev/render-hash";
    /// Reconciling is paused while it is `true`.
    pub const PAUSE: &str = "controller.core.oam.dev/pause";
    /// Which shard takes care of it.
    pub const SHARD: &str = "controller.core.oam.dev/scheduled-shard-id";
    /// On DefinitionRevisions: the definition's name, by kind.
    pub const COMPONENT_DEFINITION: &str = "componentdefinition.oam.dev/name";
    /// See [`COMPONENT_DEFINITION`].
    pub const TRAIT_DEFINITION: &str = "trait.oam.dev/name";
    /// See [`COMPONENT_DEFINITION`].
    pub const POLICY_DEFINITION: &str = "policydefinition.oam.dev/name";
    /// See [`COMPONENT_DEFINITION`].
    pub const STEP_DEFINITION: &str = "workflowstepdefinition.oam.dev/name";
    /// Marks cluster secrets.
    pub const CLUSTER_CREDENTIAL: &str = "cluster.core.oam.dev/cluster-credential-type";
}

/// Annotations.
pub mod annotation {
    /// Version a user publishes by hand.
    pub const PUBLISH_VERSION: &str = "app.oam.dev/publishVersion";
    /// Name of the workflow, shown in `context.workflowName`.
    pub const WORKFLOW_NAME: &str = "app.oam.dev/workflowName";
    /// Definitions follow new versions.
    pub const AUTO_UPDATE: &str = "app.oam.dev/autoUpdate";
    /// Only a controller of this version reconciles it.
    pub const CONTROLLER_REQUIREMENT: &str = "app.oam.dev/controller-version-require";
    /// `true`, a time or a duration.
    pub const RESTART_WORKFLOW: &str = "app.oam.dev/restart-workflow";
    /// Resync interval of one Application.
    pub const RECONCILE_INTERVAL: &str = "app.oam.dev/reconcile-interval";
    /// Manifest of the last apply.
    pub const LAST_APPLIED: &str = "app.oam.dev/last-applied-configuration";
    /// When that was.
    pub const LAST_APPLIED_TIME: &str = "app.oam.dev/last-applied-time";
    /// kubectl's own.
    pub const KUBECTL_LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
    /// Version of the engine that applied it.
    pub const VERSION: &str = "oam.dev/kubevela-version";
    /// Applications that share it, the first owns it.
    pub const SHARED_BY: &str = "app.oam.dev/shared-by";
    /// Application label keys that are not copied.
    pub const FILTER_LABELS: &str = "filter.oam.dev/label-keys";
    /// Application annotation keys that are not copied.
    pub const FILTER_ANNOTATIONS: &str = "filter.oam.dev/annotation-keys";
    /// Never copied to resources.
    pub const INPLACE_UPGRADE: &str = "app.oam.dev/inplace-upgrade";
    /// Suffix of the next DefinitionRevision.
    pub const DEFINITION_REVISION_NAME: &str = "definitionrevision.oam.dev/name";
    /// Lifts `+immutable`.
    pub const FORCE_PARAMETERS: &str = "app.oam.dev/force-param-mutations";
    /// Text shown in listings of definitions.
    pub const DESCRIPTION: &str = "definition.oam.dev/description";
    /// Other name in listings of definitions.
    pub const ALIAS: &str = "definition.oam.dev/alias";
    /// Who acts.
    pub const USERNAME: &str = "app.oam.dev/username";
    /// Groups of who acts.
    pub const GROUP: &str = "app.oam.dev/group";
    /// On a tracker: when the run began that records there.
    pub const RUN_STARTED: &str = "app.oam.dev/run-started";
    /// `true`: what is on clusters that do not answer is left behind when the Application goes.
    pub const ABANDON: &str = "app.oam.dev/abandon-unreachable";
    /// Service account used for applying.
    pub const SERVICE_ACCOUNT: &str = "app.oam.dev/service-account-name";
    /// Another name of a cluster, on its Secret.
    pub const CLUSTER_ALIAS: &str = "cluster.core.oam.dev/cluster-alias";
    /// Result of application-scoped policies may make a revision.
    pub const AUTO_REVISION: &str = "policy.oam.dev/auto-revision";
}

/// Finalizers.
pub mod finalizer {
    /// On Applications: resources are collected before it goes.
    pub const APPLICATION: &str = "app.oam.dev/resource-tracker-finalizer";
    /// On Applications: resources stay when it goes.
    pub const ORPHAN: &str = "app.oam.dev/orphan-resource";
    /// On ResourceTrackers.
    pub const TRACKER: &str = "resourcetracker.core.oam.dev/finalizer";
}

/// Condition types of an Application, in the order they are reached.
pub mod condition {
    /// Definitions found, policies read.
    pub const PARSED: &str = "Parsed";
    /// ApplicationRevision written.
    pub const REVISION: &str = "Revision";
    /// Custom policies applied.
    pub const POLICY: &str = "Policy";
    /// Components rendered.
    pub const RENDER: &str = "Render";
    /// Workflow advanced.
    pub const WORKFLOW: &str = "Workflow";
    /// Everything reached.
    pub const READY: &str = "Ready";
    /// Drift corrected.
    pub const STATE_KEEP: &str = "StateKeep";
    /// Resources being deleted.
    pub const DELETING: &str = "Deleting";
    /// All, in order.
    pub const ORDER: [&str; 6] = [PARSED, REVISION, POLICY, RENDER, WORKFLOW, READY];
}

/// Application phases (`status.status`).
pub mod phase {
    /// Nothing done yet.
    pub const STARTING: &str = "starting";
    /// Revision made.
    pub const RENDERING: &str = "rendering";
    /// Custom policies are being applied.
    pub const GENERATING_POLICY: &str = "generatingPolicy";
    /// The workflow runs.
    pub const RUNNING_WORKFLOW: &str = "runningWorkflow";
    /// The workflow waits for someone.
    pub const SUSPENDING: &str = "workflowSuspending";
    /// The workflow was ended by someone.
    pub const TERMINATED: &str = "workflowTerminated";
    /// The workflow failed.
    pub const FAILED: &str = "workflowFailed";
    /// Delivered and healthy.
    pub const RUNNING: &str = "running";
    /// Delivered and not healthy.
    pub const UNHEALTHY: &str = "unhealthy";
    /// Going away.
    pub const DELETING: &str = "deleting";
}

/// Value of [`label::TRAIT_TYPE`] on a component's own `outputs`.
pub const AUXILIARY_WORKLOAD: &str = "AuxiliaryWorkload";
/// Value of [`label::RESOURCE_TYPE`].
pub const RESOURCE_WORKLOAD: &str = "WORKLOAD";
/// Value of [`label::RESOURCE_TYPE`].
pub const RESOURCE_TRAIT: &str = "TRAIT";
/// The cluster the engine itself runs in.
pub const LOCAL_CLUSTER: &str = "local";

/// The name of a cluster; no name is [`LOCAL_CLUSTER`] too (E-63).
pub fn cluster_name(cluster: &str) -> &str {
    if cluster.is_empty() { LOCAL_CLUSTER } else { cluster }
}

/// Whether it is the cluster the engine itself runs in.
pub fn is_local(cluster: &str) -> bool {
    cluster_name(cluster) == LOCAL_CLUSTER
}

/// Workload definition name that stands for "see what `output` is".
pub const AUTODETECT: &str = "autodetects.core.oam.dev";
/// Key of the parameter schema in a definition's ConfigMap.
pub const SCHEMA_KEY: &str = "openapi-v3-json-schema";
