//! Every effect of the engine: reads, writes, HTTP, the clock, ids.

use std::future::Future;
use std::pin::Pin;

use chrono::{DateTime, Utc};
use lateen_charts::files::Files;
use serde_json::Value;

use crate::api::object;
use crate::render::ClusterVersion;

/// An effect under way; may be dropped at any time, which counts as a crash.
pub type Call<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Why an effect did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such object or kind.
    #[error("{0}")]
    NotFound(String),
    /// Somebody else was faster, or owns a field.
    #[error("{0}")]
    Conflict(String),
    /// Not allowed.
    #[error("{0}")]
    Forbidden(String),
    /// The object is wrong.
    #[error("{0}")]
    Invalid(String),
    /// No answer, or none now: try again.
    #[error("{0}")]
    Unavailable(String),
}

/// Names an object in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef {
    /// Empty or `local` for the cluster the engine runs in.
    pub cluster: String,
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// Empty for cluster scope.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectRef {
    /// Of an object, in `cluster`.
    pub fn of(object: &Value, cluster: &str) -> Self {
        let text = |pointer: &str| object::text(object, pointer).to_owned();
        Self {
            cluster: cluster.to_owned(),
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }

    /// In the engine's own cluster.
    pub fn local(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            cluster: String::new(),
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

/// Whom a request is made for, instead of for the engine itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `system:serviceaccount:<namespace>:<name>` for a service account.
    pub user: String,
    /// Groups of that user.
    pub groups: Vec<String>,
}

/// How an object is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apply {
    /// Take fields over from others.
    pub force: bool,
    /// Only if the object is not there; a conflict otherwise.
    pub only_new: bool,
}

impl Apply {
    /// Takes fields over from others.
    pub const FORCED: Self = Self { force: true, only_new: false };
    /// Makes an object, and touches none that is there.
    pub const NEW: Self = Self { force: true, only_new: true };
}

/// How a patch changes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// RFC 7386.
    Merge,
    /// RFC 6902.
    Json,
    /// Kubernetes' own.
    Strategic,
}

/// How much an event matters (`type` of an Event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// All goes as it should.
    Normal,
    /// Somebody should look.
    Warning,
}

/// An HTTP request of a workflow step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET`
    pub method: String,
    /// Absolute.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
    /// How long to wait for the answer; as long as the world is willing to if not said.
    pub timeout: Option<std::time::Duration>,
    /// Whom to trust and who we are.
    pub tls: Option<Tls>,
}

/// Certificates for a request, as PEM; empty for the usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Authority that signed the server's certificate.
    pub authority: String,
    /// Our certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// A mail of a workflow step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// Sender's address, also the account.
    pub from: String,
    /// Sender's name.
    pub alias: String,
    /// Of the account.
    pub password: String,
    /// Mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Receivers.
    pub to: Vec<String>,
    /// Subject.
    pub subject: String,
    /// HTML or text.
    pub body: String,
}

/// Which part of a pod's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPart {
    /// Container, unless there is only one.
    pub container: String,
    /// Of the container before it was started again.
    pub previous: bool,
    /// Not older than this.
    pub since_seconds: Option<i64>,
    /// Not older than this, RFC 3339.
    pub since_time: String,
    /// With times.
    pub timestamps: bool,
    /// Lines at the end.
    pub tail_lines: Option<i64>,
    /// Bytes at most.
    pub limit_bytes: Option<i64>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status code.
    pub status: u16,
    /// Body as text.
    pub body: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
}

/// How to get into a git repository; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Login {
    /// Account.
    pub user: String,
    /// Its password, or a token.
    pub password: String,
    /// A private key for SSH, as PEM.
    pub key: String,
    /// Hosts that SSH knows.
    pub known_hosts: String,
}

/// Part of a git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checkout {
    /// Where the repository is.
    pub url: String,
    /// Branch, tag or commit; what the repository says if empty.
    pub revision: String,
    /// What was fetched a moment ago will not do.
    pub fresh: bool,
    /// How to get in.
    pub login: Login,
}

/// Files of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// All files.
    pub files: Files,
    /// The commit.
    pub commit: String,
}

/// Files that are to be all there is in a folder of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Push {
    /// Where the repository is.
    pub url: String,
    /// The branch; it is made if it is not there.
    pub branch: String,
    /// The folder.
    pub folder: String,
    /// Its files, by their paths in it.
    pub files: Files,
    /// Of the commit.
    pub message: String,
    /// How to get in.
    pub login: Login,
}

/// What became of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The branch's commit now.
    pub commit: String,
    /// It is a new one: otherwise the files were there already.
    pub changed: bool,
}

/// A provider that is not here: a web service that carries out what its package declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Its address, without the action.
    pub endpoint: String,
    /// Header fields of every request.
    pub headers: Vec<(String, String)>,
}

/// Kinds without a namespace, for worlds that cannot tell.
const CLUSTER_SCOPED: [&str; 12] = [
    "Namespace",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "PersistentVolume",
    "StorageClass",
    "Node",
    "IngressClass",
    "PriorityClass",
    "ResourceTracker",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Kinds whose resources are known without asking anybody.
const RESOURCES: [(&str, &str); 20] = [
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "Namespace"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
];

/// Whether a resource is of a kind: `policies` and `policy` are of `Policy`.
pub fn is_resource(kind: &str, resource: &str) -> bool {
    let (one, wanted) = (kind.to_lowercase(), resource.to_lowercase());
    let many = match one.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if one.ends_with('s') => format!("{one}es"),
        None => format!("{one}s"),
    };
    wanted == one || wanted == many
}

/// Every effect of the engine.
pub trait World: Send + Sync {
    /// One object; `None` if it is not there.
    fn get<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, Option<Value>>;
    /// Objects of the kind and namespace of `of` (its name is left aside) with all of `labels`.
    fn list<'a>(&'a self, of: &'a ObjectRef, labels: &'a str) -> Call<'a, Vec<Value>>;
    /// Server-side apply; the object as it is afterwards.
    fn apply<'a>(&'a self, object: &'a Value, cluster: &'a str, how: Apply) -> Call<'a, Value>;
    /// Makes an object in the engine's own cluster; a conflict if there is one of its name.
    fn create<'a>(&'a self, object: &'a Value) -> Call<'a, ()>;
    /// Puts an object in the place of the live one, whose `resourceVersion` it names; a ConfigMap that
    /// names none in the place of any.
    fn replace<'a>(&'a self, object: &'a Value, cluster: &'a str) -> Call<'a, Value>;
    /// Changes an object.
    fn patch<'a>(&'a self, at: &'a ObjectRef, kind: PatchKind, body: &'a Value) -> Call<'a, Value>;
    /// Changes the status of an object by a merge patch.
    fn patch_status<'a>(&'a self, at: &'a ObjectRef, body: &'a Value) -> Call<'a, ()>;
    /// Deletes; that it is gone already is fine.
    fn delete<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()>;
    /// Tells people; `about` is the object it is about.
    fn event<'a>(
        &'a self,
        about: &'a Value,
        kind: EventKind,
        reason: &'a str,
        message: &'a str,
    ) -> Call<'a, ()>;
    /// A request to anywhere.
    fn http<'a>(&'a self, request: &'a HttpRequest) -> Call<'a, HttpResponse>;
    /// The same effects, but requests to clusters are made for somebody else.
    ///
    /// # Errors
    /// This world can act for itself only.
    fn acting_as(&self, who: &Identity) -> Result<Box<dyn World + '_>, Error> {
        Err(Error::Forbidden(format!("nobody can be acted for here, not {}", who.user)))
    }
    /// Version of a cluster that is not the engine's own; `None` if it is not known.
    fn cluster_version<'a>(&'a self, _cluster: &'a str) -> Call<'a, Option<ClusterVersion>> {
        Box::pin(async { Ok(None) })
    }
    /// Whether objects of the kind live in namespaces of a cluster.
    fn is_namespaced<'a>(
        &'a self,
        _api_version: &'a str,
        kind: &'a str,
        _cluster: &'a str,
    ) -> Call<'a, bool> {
        Box::pin(async move { Ok(!CLUSTER_SCOPED.contains(&kind)) })
    }
    /// `apiVersion` and `kind` of a resource, named in the plural or the singular; any group, if none
    /// is given.
    fn kind_of<'a>(
        &'a self,
        group: &'a str,
        resource: &'a str,
        _cluster: &'a str,
    ) -> Call<'a, Option<(String, String)>> {
        let found = RESOURCES.iter().find(|(api_version, kind)| {
            let of = api_version.split_once('/').map_or("", |it| it.0);
            (group.is_empty() || of == group) && is_resource(kind, resource)
        });
        let found = found.map(|it| (it.0.to_owned(), it.1.to_owned()));
        Box::pin(async move { Ok(found) })
    }
    /// A file from a web server, as it is; any answer but a success is an error.
    fn download<'a>(&'a self, _request: &'a HttpRequest) -> Call<'a, Vec<u8>> {
        Box::pin(async { Err(Error::Unavailable("no files can be fetched from here".into())) })
    }
    /// The files of a git repository.
    fn checkout<'a>(&'a self, _what: &'a Checkout) -> Call<'a, Tree> {
        Box::pin(async { Err(Error::Unavailable("no repository can be read from here".into())) })
    }
    /// Pushes to a git repository; there is no commit if nothing changes.
    fn push<'a>(&'a self, _what: &'a Push) -> Call<'a, Pushed> {
        Box::pin(async { Err(Error::Unavailable("no repository can be written from here".into())) })
    }
    /// Sends a mail.
    fn mail<'a>(&'a self, _mail: &'a Mail) -> Call<'a, ()> {
        Box::pin(async { Err(Error::Unavailable("no mail can be sent from here".into())) })
    }
    /// What a pod wrote.
    fn logs<'a>(&'a self, _pod: &'a ObjectRef, _part: &'a LogPart) -> Call<'a, String> {
        Box::pin(async { Err(Error::Unavailable("no logs can be read from here".into())) })
    }
    /// Where a provider is that only a Package object knows.
    fn service(&self, _provider: &str) -> Option<Service> {
        None
    }
    /// Whether something named `key` may happen once more: not oftener than `limit` times in `period`.
    fn admits(&self, _key: &str, _limit: u32, _period: std::time::Duration) -> bool {
        true
    }
    /// The time.
    fn now(&self) -> DateTime<Utc>;
    /// Ten random characters.
    fn random_id(&self) -> String;
}
