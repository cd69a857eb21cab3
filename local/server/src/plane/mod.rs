//! The verbs, over objects: what creating, changing and deleting mean. HTTP and the in-process handle both come here.

mod body; // from a body to an object
mod definitions; // what definitions do to the registry
mod hooks; // where webhooks are asked
mod keep; // what requests do not decide
mod removal; // deletion

use std::sync::{Arc, PoisonError, RwLock};

use local_merge::same::same_but_times;
use local_store::{Expect, Store, Stored};
use rand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

pub use body::{Encoding, parse};
use body::{mistyped, report, unreadable};

use crate::admit::webhook::{self, Operation};
use crate::auth::User;
use crate::ownership::Owners;
use crate::resource::{Registry, Resource};
use crate::status::{ApiError, Result};
use crate::told::Told;
use crate::{admit, auth, kinds, meta, ownership, quota};

/// What a plane is made of.
#[derive(Debug)]
pub struct Options {
    /// Where objects are kept.
    pub store: Store,
    /// The address that discovery tells clients, `host:port`.
    pub address: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { store: Store::memory(), address: "127.0.0.1:6443".to_owned() }
    }
}

/// An embedded Kubernetes-compatible API. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plane {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<Store>,
    registry: RwLock<Arc<Registry>>,
    address: String,
    told: Told,
    epoch: Instant,
}

/// How strict a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Unknown fields are dropped silently.
    Ignore,
    /// They are dropped with a warning.
    #[default]
    Warn,
    /// They are errors.
    Strict,
}

/// Whether a patch made what is written.
#[derive(Clone, Debug, Default)]
pub enum Patched {
    /// It was not a patch.
    #[default]
    Not,
    /// It was, and messages show this.
    Shown(String),
    /// It was, and messages show the object, which is written out only for them.
    Unseen,
}

/// Why an object is not changed.
#[derive(Debug)]
pub(crate) enum Undone {
    /// It was refused.
    Refused(ApiError),
    /// What it would become cannot be read as its kind: why.
    Unread(String),
}

impl Undone {
    /// The answer, where no patch is to be shown.
    fn of(self, resource: &Resource) -> ApiError {
        match self {
            Undone::Refused(error) => error,
            Undone::Unread(why) => mistyped(resource, &why),
        }
    }
}

impl From<ApiError> for Undone {
    fn from(error: ApiError) -> Undone {
        Undone::Refused(error)
    }
}

/// Options of a write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The field manager.
    pub manager: String,
    /// Nothing is stored.
    pub dry_run: bool,
    /// What to do about unknown fields.
    pub validation: FieldValidation,
    /// Strict findings made before the body became a value.
    pub findings: Vec<String>,
    /// Warnings for the client are gathered here.
    pub warnings: Vec<String>,
    /// What a patch made; errors of reading it are said of the patch.
    pub patched: Patched,
    /// Who asks; nobody is a controller of the plane itself.
    pub user: Option<User>,
}

impl WriteOptions {
    /// Options with a manager and nothing else.
    pub fn by(manager: impl Into<String>) -> WriteOptions {
        WriteOptions { manager: manager.into(), ..WriteOptions::default() }
    }
}

/// Options of a deletion.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// Seconds of grace.
    pub grace: Option<i64>,
    /// `Foreground`, `Background` or `Orphan`.
    pub propagation: Option<String>,
    /// The uid the object must have.
    pub uid: Option<String>,
    /// The resourceVersion the object must have.
    pub version: Option<String>,
    /// Nothing is stored.
    pub dry_run: bool,
    /// Who asks; nobody is a controller of the plane itself.
    pub user: Option<User>,
}

/// What a deletion left.
#[derive(Clone, Debug)]
pub enum Deleted {
    /// The object is still there, with a deletionTimestamp.
    Waiting(Shown),
    /// The object is gone; this was its last state.
    Gone(Shown),
}

/// An object in the version of its resource: the very one that is stored, where that has this version.
pub type Shown = Arc<Stored>;

/// What a request is about.
#[derive(Clone, Debug)]
pub struct Target {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The namespace; empty for cluster-scoped objects and for all namespaces.
    pub namespace: String,
    /// The name, empty for collections.
    pub name: String,
    /// The subresource, empty for the object.
    pub subresource: String,
}

impl Target {
    pub(crate) fn key(&self) -> String {
        self.resource.key(&self.namespace, &self.name)
    }

    pub(crate) fn not_found(&self) -> ApiError {
        let plural = match self.resource.plural.as_str() {
            "componentstatuses" => "componentstatus",
            plural => plural,
        };
        ApiError::not_found(&self.resource.group, plural, &self.name)
    }

    fn conflict(&self) -> ApiError {
        ApiError::conflict(&self.resource.group, &self.resource.plural, &self.name)
    }
}

/// Now, as Kubernetes writes it.
#[must_use]
pub fn now() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

fn suffix() -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    (0..5)
        .filter_map(|_| LETTERS.get(random.random_range(0..LETTERS.len())))
        .map(|byte| char::from(*byte))
        .collect()
}

/// The namespaces that are always there.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl Plane {
    /// Starts a plane on its store.
    pub fn new(options: Options) -> Result<Plane> {
        let inner = Inner {
            store: Arc::new(options.store),
            registry: RwLock::new(Arc::new(Registry::built_in())),
            address: options.address,
            told: Told::default(),
            epoch: Instant::now(),
        };
        let plane = Plane { inner: Arc::new(inner) };
        let definitions = plane.store().list("apiextensions.k8s.io/customresourcedefinitions/").1;
        for entry in definitions {
            plane.serve_definition(&entry.value);
        }
        for name in NAMESPACES {
            let body = json!({"metadata": {"name": name}});
            plane.bootstrap("", "namespaces", "", body)?;
        }
        for (plural, body) in auth::bootstrap_objects() {
            plane.bootstrap("rbac.authorization.k8s.io", plural, "", body)?;
        }
        for (name, value, what) in [
            (
                "system-cluster-critical",
                2_000_000_000,
                "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
            ),
            (
                "system-node-critical",
                2_000_001_000,
                "Used for system critical pods that must not be moved from their current node.",
            ),
        ] {
            let body = json!({"metadata": {"name": name}, "value": value, "description": what});
            plane.bootstrap("scheduling.k8s.io", "priorityclasses", "", body)?;
        }
        // Before this nobody can have watched.
        plane.store().compact();
        Ok(plane)
    }

    fn bootstrap(&self, group: &str, plural: &str, namespace: &str, mut body: Value) -> Result<()> {
        let Some(resource) = self.registry().get(group, "v1", plural) else { return Ok(()) };
        body["apiVersion"] = json!(resource.api_version());
        body["kind"] = json!(resource.kind);
        let target = Target {
            resource,
            namespace: namespace.to_owned(),
            name: String::new(),
            subresource: String::new(),
        };
        match self.create(&target, body, &mut WriteOptions::by("kube-apiserver")) {
            Err(error) if error.reason != "AlreadyExists" => Err(error),
            _ => Ok(()),
        }
    }

    /// The store below.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.inner.store
    }

    /// What a crowd of watches was told last.
    pub(crate) fn told(&self) -> &Told {
        &self.inner.told
    }

    /// When it began.
    pub(crate) fn epoch(&self) -> Instant {
        self.inner.epoch
    }

    /// The address told to clients.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.inner.address
    }

    /// The resources there are now.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.inner.registry.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One object in the version of the resource.
    pub fn get(&self, target: &Target) -> Result<Shown> {
        let entry = self.store().get(&target.key()).ok_or_else(|| target.not_found())?;
        Ok(kinds::shown(&target.resource, &entry.value))
    }

    /// Creates an object.
    pub fn create(
        &self,
        target: &Target,
        mut body: Value,
        options: &mut WriteOptions,
    ) -> Result<Shown> {
        let resource = &target.resource;
        let owners;
        (body, owners) = ownership::take_applied(body);
        self.read_body(resource, &mut body, options)?;
        self.place(target, &mut body)?;
        {
            let metadata = &mut body["metadata"];
            if metadata["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()) {
                return Err(ApiError::plain(
                    "resourceVersion should not be set on objects to be created",
                ));
            }
            let Some(metadata) = metadata.as_object_mut() else {
                return Err(ApiError::bad_request("metadata must be an object"));
            };
            for key in [
                "resourceVersion",
                "selfLink",
                "uid",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
            ] {
                metadata.shift_remove(key);
            }
        }
        self.namespace_open(target, &body)?;
        let generate = body["metadata"]["generateName"].as_str().unwrap_or_default().to_owned();
        ownership::one_reference_each(&mut body, &mut options.warnings);
        options.warnings.extend(meta::warnings(resource, &body));
        // What the server adds from here on belongs to nobody.
        if owners == Owners::Open {
            ownership::on_update(resource, "", &Value::Null, &mut body, &options.manager)?;
        }
        kinds::even_out(resource, &mut body);
        admit::on_create(self, target, &mut body)?;
        if self.ask_webhooks_for_more(target, &mut body, options)? {
            self.place(target, &mut body)?;
            ownership::one_reference_each(&mut body, &mut options.warnings);
        }
        auth::may_give(self, options.user.as_ref(), target, None, &body)?;
        let given = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        keep::born(resource, &mut body);
        kinds::prepare_create(resource, &mut body);
        admit::allocate(self, target, &mut body)?;
        let tries = if given.is_empty() && !generate.is_empty() { 8 } else { 1 };
        for attempt in 1..=tries {
            let mut object = match attempt == tries {
                true => std::mem::take(&mut body),
                false => body.clone(),
            };
            if given.is_empty() && !generate.is_empty() {
                let base: String = generate.chars().take(58).collect();
                object["metadata"]["name"] = json!(format!("{base}{}", suffix()));
            }
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            self.validate(target, &object, None)?;
            let key = resource.key(&target.namespace, &name);
            if let Some(old) = self.store().get(&key) {
                if attempt < tries {
                    continue;
                }
                let taken = match old.value["metadata"]["deletionTimestamp"].is_null() {
                    true => ApiError::exists,
                    false => ApiError::exists_still,
                };
                return Err(taken(&resource.group, &resource.plural, &name));
            }
            self.ask_webhooks(target, Operation::Create, &Value::Null, &object, options)?;
            admit::within_limits(self, target, &object)?;
            quota::admit(self, target, &object)?;
            let object = kinds::to_stored(resource, object);
            if options.dry_run {
                return Ok(Arc::new(kinds::present(resource, &object).into()));
            }
            match self.store().put(&key, Expect::Absent, |revision| versioned(object, revision)) {
                Ok(entry) => {
                    let answer = kinds::shown(resource, &entry.value);
                    self.after_write(resource, &entry.value);
                    return Ok(answer);
                }
                Err(local_store::Error::Conflict { .. }) if attempt < tries => {}
                Err(local_store::Error::Conflict { .. }) => {
                    return Err(ApiError::exists(&resource.group, &resource.plural, &name));
                }
                Err(other) => return Err(other.into()),
            }
        }
        Err(ApiError::internal("no free name was found"))
    }

    /// Replaces an object or a part of it.
    pub fn update(
        &self,
        target: &Target,
        mut body: Value,
        options: &mut WriteOptions,
    ) -> Result<Shown> {
        let resource = &target.resource;
        self.read_body(resource, &mut body, options)?;
        self.place(target, &mut body)?;
        let given = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if given != target.name {
            if given.is_empty() && resource.custom.is_none() {
                body["metadata"]["name"] = json!(target.name);
            } else {
                return Err(ApiError::bad_request(format!(
                    "the name of the object ({given}) does not match the name on the URL ({})",
                    target.name
                )));
            }
        }
        let version = body["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        if !version.is_empty() && version.parse::<u64>().is_err() {
            let why = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
            return Err(ApiError::plain(why));
        }
        if self.store().get(&target.key()).is_none() {
            if target.subresource.is_empty()
                && kinds::created_by_update(resource)
                && version.is_empty()
            {
                return self.create(target, body, options);
            }
            return Err(target.not_found());
        }
        if version.is_empty() && kinds::needs_version(resource) {
            let kind = if resource.custom.is_some() { &resource.plural } else { &resource.kind };
            return Err(ApiError::invalid(
                &resource.group,
                kind,
                &target.name,
                &[crate::status::FieldError::invalid(
                    "metadata.resourceVersion",
                    &if resource.custom.is_some() { json!(0) } else { json!("") },
                    "must be specified for an update",
                )],
            ));
        }
        let uid = body["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        self.modify(target, options, |current, _| {
            let have = current["metadata"]["uid"].as_str().unwrap_or_default();
            if !uid.is_empty() && uid != have {
                let why = format!(
                    "Precondition failed: UID in precondition: {uid}, UID in object meta: {have}"
                );
                return Err(ApiError::conflict_because(
                    &resource.group,
                    &resource.plural,
                    &target.name,
                    &why,
                ));
            }
            if !version.is_empty() && json!(version) != current["metadata"]["resourceVersion"] {
                return Err(target.conflict());
            }
            let mut next = body.clone();
            next["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
            Ok(next)
        })
    }

    /// Changes an object by a function of its current state in the version of the resource; again if it
    /// changed meanwhile.
    pub fn modify(
        &self,
        target: &Target,
        options: &mut WriteOptions,
        mut change: impl FnMut(&Value, &mut WriteOptions) -> Result<Value>,
    ) -> Result<Shown> {
        let change = |current: &Value, options: &mut WriteOptions| Ok(change(current, options)?);
        self.rewrite(target, options, change).map_err(|undone| undone.of(&target.resource))
    }

    /// The same, and what cannot be read is yet to be put into words.
    pub(crate) fn rewrite(
        &self,
        target: &Target,
        options: &mut WriteOptions,
        mut change: impl FnMut(&Value, &mut WriteOptions) -> Result<Value, Undone>,
    ) -> Result<Shown, Undone> {
        let resource = &target.resource;
        for _ in 0..64 {
            let entry = self.store().get(&target.key()).ok_or_else(|| target.not_found())?;
            let shown = kinds::shown(resource, &entry.value);
            let current = shown.glance();
            let next = change(&current, options)?;
            let given = &next["metadata"]["resourceVersion"];
            if given.as_str().is_some_and(|version| !version.is_empty())
                && *given != current["metadata"]["resourceVersion"]
            {
                return Err(target.conflict().into());
            }
            let (mut next, owners) = ownership::take_applied(next);
            if owners == Owners::Settled && self.is_settled(resource, &current, &next) {
                options.warnings.extend(meta::warnings(resource, &next));
                return Ok(shown.clone());
            }
            next = self.settle(target, &current, next, owners, options)?;
            next["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
            let ends =
                !next["metadata"]["deletionTimestamp"].is_null() && kinds::may_go(resource, &next);
            if !ends && same_but_times(&next, &current) {
                return Ok(shown.clone());
            }
            if options.dry_run {
                return Ok(Arc::new(next.into()));
            }
            if ends {
                match self.store().delete(&entry.key, entry.revision) {
                    Ok(_) => {
                        self.after_delete(resource, &entry.value);
                        return Ok(Arc::new(next.into()));
                    }
                    Err(local_store::Error::Conflict { .. }) => continue,
                    Err(other) => return Err(ApiError::from(other).into()),
                }
            }
            let stored = kinds::to_stored(resource, next);
            let expect = Expect::Revision(entry.revision);
            match self.store().put(&entry.key, expect, |revision| versioned(stored, revision)) {
                Ok(entry) => {
                    let answer = kinds::shown(resource, &entry.value);
                    self.after_write(resource, &entry.value);
                    return Ok(answer);
                }
                Err(local_store::Error::Conflict { .. }) => {}
                Err(other) => return Err(ApiError::from(other).into()),
            }
        }
        Err(target.conflict().into())
    }

    // An apply that changes nothing leaves an object that was completed and checked when it was stored.
    fn is_settled(&self, resource: &Resource, current: &Value, next: &Value) -> bool {
        resource.custom.is_none()
            && current["metadata"]["deletionTimestamp"].is_null()
            && !webhook::any_at_all(self)
            && same_but_times(next, current)
    }

    // What a changed object becomes: what may not change is put back, the rest is checked.
    fn settle(
        &self,
        target: &Target,
        current: &Value,
        mut next: Value,
        owners: Owners,
        options: &mut WriteOptions,
    ) -> Result<Value, Undone> {
        let resource = &target.resource;
        let mut findings = Vec::new();
        kinds::complete(resource, &mut next, &mut findings)
            .map_err(|text| unreadable(resource, text, options))?;
        report(resource, findings, options)?;
        ownership::one_reference_each(&mut next, &mut options.warnings);
        if target.subresource.is_empty() {
            options.warnings.extend(meta::warnings(resource, &next));
        }
        keep::restore(target, current, &mut next);
        if owners == Owners::Open && target.subresource != "binding" {
            ownership::on_update(
                resource,
                &target.subresource,
                current,
                &mut next,
                &options.manager,
            )?;
        }
        kinds::even_out(resource, &mut next);
        self.ask_webhooks_for_changes(target, current, &mut next, options)?;
        auth::may_give(self, options.user.as_ref(), target, Some(current), &next)?;
        admit::on_update(self, target, current, &mut next)?;
        self.validate_update(target, &next, current)?;
        self.ask_webhooks(target, Operation::Update, current, &next, options)?;
        Ok(next)
    }
}

/// The object with its resourceVersion, where Kubernetes puts it.
pub(crate) fn versioned(mut object: Value, revision: u64) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.insert("resourceVersion".to_owned(), json!(revision.to_string()));
    }
    object
}
