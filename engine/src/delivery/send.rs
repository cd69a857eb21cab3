//! One object on its way: may we, must we, how (E-48 to E-50).

use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::Delivery;
use super::drift::holds;
use super::rules::Moment;
use super::trackers::{self, Recorded};
use crate::api::names::{annotation, label};
use crate::api::object;
use crate::revision::object_hash;
use crate::world::{Apply, Call, Error, ObjectRef, PatchKind};

/// Objects applied at once.
const PARALLEL: usize = 10;

impl Delivery<'_> {
    /// Records objects, then applies them; what is live as wanted already is only read.
    pub(super) async fn send(
        &self,
        objects: Vec<Value>,
        cluster: &str,
        creator: &str,
    ) -> Result<Vec<Value>, Error> {
        let mut all = Vec::with_capacity(objects.len());
        for object in objects {
            all.push(self.as_sent(object, cluster).await);
        }
        let objects = all;
        for object in &objects {
            self.admission.check(object, self.app.namespace())?;
        }
        let recorded: Vec<Recorded> = {
            let mut state = self.state();
            objects.iter().map(|it| state.recorded(it, cluster)).collect()
        };
        {
            let trackers = &mut self.state().trackers;
            for object in &objects {
                trackers.record(object, cluster, self.rules.lifetime(object));
            }
            trackers.begin();
        }
        futures::try_join!(self.write_trackers(), self.ready.clone())?;
        let mut calls: Vec<Call<'_, Value>> = Vec::with_capacity(objects.len());
        for (object, recorded) in objects.iter().zip(recorded) {
            calls.push(Box::pin(self.apply(object.clone(), cluster, recorded, Moment::Update)));
        }
        let results: Vec<_> = stream::iter(calls).buffered(PARALLEL).collect().await;
        let rows = objects.iter().map(|it| trackers::applied(it, cluster, creator));
        self.state().note_applied(rows);
        joined(results)
    }

    /// An object as it is recorded and applied.
    pub(super) async fn as_sent(&self, object: Value, cluster: &str) -> Value {
        let mut object = self.owned(object, cluster);
        object::whole_numbers(&mut object);
        let at = ObjectRef::of(&object, cluster);
        // What cannot be told is said by the API server, of that one object.
        if self.objects.is_namespaced(&at.api_version, &at.kind, cluster).await == Ok(false) {
            object::map_mut(&mut object, &["metadata"]).shift_remove("namespace");
        }
        object
    }

    /// Marks an object as this Application's and takes out what the API server says.
    fn owned(&self, mut object: Value, cluster: &str) -> Value {
        object::set_label(&mut object, label::APP_NAME, &self.app.metadata.name);
        object::set_label(&mut object, label::APP_NAMESPACE, self.app.namespace());
        if object::label(&object, label::APP_CLUSTER).is_none() {
            object::set_label(&mut object, label::APP_CLUSTER, cluster);
        }
        if let Some(meta) = object["metadata"].as_object_mut() {
            for key in
                ["resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"]
            {
                meta.remove(key);
            }
        }
        if let Some(map) = object.as_object_mut() {
            map.remove("status");
        }
        object
    }

    /// Applies one object; `recorded` says what trackers said of it before this.
    ///
    /// # Errors
    /// It is another's, or may not be touched; or a request failed.
    pub(super) async fn apply(
        &self,
        mut object: Value,
        cluster: &str,
        recorded: Recorded,
        moment: Moment,
    ) -> Result<Value, Error> {
        let at = ObjectRef::of(&object, cluster);
        let only_reads = self.rules.only_reads(&object);
        if !only_reads && recorded == Recorded::Never {
            // Most likely it is not there: one request tells, and makes it.
            match self.create(&object, cluster).await {
                Err(Error::Conflict(_)) => {}
                made => return made,
            }
        }
        let live = self.objects.get(&at).await?;
        if only_reads {
            return live.ok_or_else(|| {
                Error::Invalid(format!(
                    "{} ({}) is marked as read-only but does not exist. You should check the existence of the resource or remove the read-only policy",
                    at.kind, at.name
                ))
            });
        }
        let shares = self.rules.shares(&object);
        let Some(live) = live else { return self.create(&object, cluster).await };
        if shares {
            let sharers = sharers(&live, &self.key());
            if let Some(other) = self.other_owner(&live) {
                if object::annotation(&live, annotation::SHARED_BY).unwrap_or_default().is_empty() {
                    return Err(Error::Conflict(format!(
                        "application is controlled by {other} but is not sharable"
                    )));
                }
                if object::annotation(&live, annotation::SHARED_BY) == Some(&sharers) {
                    return Ok(live);
                }
                // Another one's: all we may do is say that we share it.
                let body = json!({"metadata": {"annotations": {annotation::SHARED_BY: sharers}}});
                return self.objects.patch(&at, PatchKind::Merge, &body).await;
            }
            object::set_annotation(&mut object, annotation::SHARED_BY, &sharers);
        }
        self.check_owner(&object, &live, &at)?;
        if let Some(paths) = self.rules.kept_paths(&object, moment) {
            if !keep(&mut object, &live, &paths) {
                return Ok(live);
            }
        }
        // Being recorded says nothing of being applied: the process may have died between the two.
        // What is live decides: its hash that we wrote it last, its fields that nobody did since.
        let hash = object::label(&live, label::RENDER_HASH).unwrap_or_default();
        if recorded == Recorded::Exactly
            && hash == render_hash(&mut object)
            && holds(&object, &live)
        {
            return Ok(live);
        }
        match self.rules.update(&object) {
            Some(how) if differs(&object, &live, &how.recreate_fields, &at)? => {
                self.recreate(&object, &live, &at).await
            }
            Some(how) if how.op == "replace" => {
                stamp_hash(&mut object);
                let version = object::text(&live, "/metadata/resourceVersion");
                object::map_mut(&mut object, &["metadata"])
                    .insert("resourceVersion".into(), version.into());
                self.objects.replace(&object, cluster).await
            }
            _ => self.write(&object, cluster).await,
        }
    }

    /// Makes an object that is not there; nothing happens to one that is.
    async fn create(&self, object: &Value, cluster: &str) -> Result<Value, Error> {
        let mut object = object.clone();
        if self.rules.shares(&object) {
            object::set_annotation(&mut object, annotation::SHARED_BY, &self.key());
        }
        stamp_hash(&mut object);
        self.objects.apply(&object, cluster, Apply::NEW).await
    }

    async fn write(&self, object: &Value, cluster: &str) -> Result<Value, Error> {
        let mut object = object.clone();
        stamp_hash(&mut object);
        self.objects.apply(&object, cluster, Apply::FORCED).await
    }

    /// Fields that cannot be changed: away with it, and anew.
    async fn recreate(&self, object: &Value, live: &Value, at: &ObjectRef) -> Result<Value, Error> {
        if object::text(live, "/metadata/deletionTimestamp").is_empty() {
            self.objects.delete(at).await?;
        }
        if self.objects.get(at).await?.is_some() {
            return Err(Error::Unavailable(format!(
                "{} {}/{} is being deleted, to be created anew",
                at.kind, at.namespace, at.name
            )));
        }
        self.write(object, &at.cluster).await
    }

    /// `<namespace>/<name>` of this Application.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.app.namespace(), self.app.metadata.name)
    }

    /// The Application that owns a live object, if it is another.
    fn other_owner(&self, live: &Value) -> Option<String> {
        let name = object::label(live, label::APP_NAME).unwrap_or_default();
        let namespace = object::label(live, label::APP_NAMESPACE).unwrap_or_default();
        let owner = format!("{namespace}/{name}");
        (!name.is_empty() && owner != self.key()).then_some(owner)
    }

    fn check_owner(&self, object: &Value, live: &Value, at: &ObjectRef) -> Result<(), Error> {
        if let Some(other) = self.other_owner(live) {
            return Err(Error::Conflict(format!(
                "existing object {} {}/{} is managed by other application {other}",
                at.kind, at.namespace, at.name
            )));
        }
        let unowned = object::label(live, label::APP_NAME).unwrap_or_default().is_empty();
        if unowned && !self.rules.takes_over(object) {
            return Err(Error::Conflict(format!(
                "{} {}/{} exists but not managed by any application now",
                at.kind, at.namespace, at.name
            )));
        }
        Ok(())
    }
}

/// One error for several (E-48).
pub(super) fn joined<T>(results: Vec<Result<T, Error>>) -> Result<Vec<T>, Error> {
    let mut done = Vec::with_capacity(results.len());
    let mut wrong = Vec::new();
    for result in results {
        match result {
            Ok(it) => done.push(it),
            Err(error) => wrong.push(error),
        }
    }
    match wrong.len() {
        0 => Ok(done),
        1 => Err(wrong.remove(0)),
        count => {
            let texts: Vec<String> = wrong.iter().map(|it| format!("({it})")).collect();
            let text = format!("Found {count} errors. [{}]", texts.join(", "));
            let all_passing = wrong.iter().all(|it| matches!(it, Error::Unavailable(_)));
            Err(if all_passing { Error::Unavailable(text) } else { Error::Invalid(text) })
        }
    }
}

/// The label that tells one render from another (E-26).
fn stamp_hash(object: &mut Value) {
    let hash = render_hash(object);
    object::set_label(object, label::RENDER_HASH, &hash);
}

/// What the label is to say. The version of the controller counts as that of an unstamped build:
/// another release of the controller is no other render.
fn render_hash(object: &mut Value) -> String {
    let version = object
        .pointer_mut("/metadata/annotations")
        .and_then(|it| it.get_mut(annotation::VERSION))
        .map(|it| std::mem::replace(it, "UNKNOWN".into()));
    let hash = object_hash(object);
    if let Some(version) = version {
        object["metadata"]["annotations"][annotation::VERSION] = version;
    }
    hash
}

/// Who shares `live`, with `key` among them.
fn sharers(live: &Value, key: &str) -> String {
    let before = object::annotation(live, annotation::SHARED_BY).unwrap_or_default();
    let mut all: Vec<&str> = before.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    if !all.contains(&key) {
        all.push(key);
    }
    all.join(",")
}

/// Copies what stays from `live`; false if all of it does.
fn keep(object: &mut Value, live: &Value, paths: &[&str]) -> bool {
    for path in paths {
        if *path == "*" {
            return false;
        }
        let pointer = pointer(path);
        if let Some(value) = live.pointer(&pointer) {
            set_pointer(object, &pointer, value.clone());
        }
    }
    true
}

/// `spec.containers[0].image` as a JSON pointer; `["a.b"]` is one key.
fn pointer(path: &str) -> String {
    let mut out = String::new();
    let mut part = String::new();
    let mut rest = path.chars().peekable();
    let mut push = |part: &mut String| {
        if !part.is_empty() {
            out.push('/');
            out.push_str(&part.replace('~', "~0").replace('/', "~1"));
            part.clear();
        }
    };
    while let Some(char) = rest.next() {
        match char {
            '.' => push(&mut part),
            '[' => {
                push(&mut part);
                let quoted = rest.next_if_eq(&'"').is_some();
                while let Some(inner) =
                    rest.next_if(|it| if quoted { *it != '"' } else { *it != ']' })
                {
                    part.push(inner);
                }
                if quoted {
                    rest.next();
                }
                rest.next();
                push(&mut part);
            }
            other => part.push(other),
        }
    }
    push(&mut part);
    out
}

/// Sets a value; what is missing on the way is made, but no list grows.
fn set_pointer(object: &mut Value, pointer: &str, value: Value) {
    let mut at = object;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        at = match at {
            Value::Array(items) => {
                let index = part.parse::<usize>().ok();
                match index.and_then(|it| items.get_mut(it)) {
                    Some(item) => item,
                    None => return,
                }
            }
            other => object::map_mut(other, &[]).entry(part).or_insert(Value::Null),
        };
    }
    *at = value;
}

/// Whether a field that can only be changed by creating the object anew is to change.
fn differs(object: &Value, live: &Value, paths: &[String], at: &ObjectRef) -> Result<bool, Error> {
    for path in paths {
        let pointer = pointer(path);
        let (Some(new), Some(old)) = (object.pointer(&pointer), live.pointer(&pointer)) else {
            return Err(Error::Invalid(format!(
                "failed to evaluate recreateFields: unable to get path {path} from existing object: {} {}/{}",
                at.kind, at.namespace, at.name
            )));
        };
        if !holds(new, old) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_people_write_them() {
        for (path, want) in [
            ("spec.replicas", "/spec/replicas"),
            ("spec.containers[0].image", "/spec/containers/0/image"),
            (r#"data["a/b.c"].d"#, "/data/a~1b.c/d"),
        ] {
            assert_eq!(pointer(path), want);
        }
    }

    #[test]
    fn kept_fields_come_from_what_is_live() {
        let mut object = json!({"spec": {"replicas": 1, "paused": false}});
        let live = json!({"spec": {"replicas": 5, "paused": true}});
        assert!(keep(&mut object, &live, &["spec.replicas", "spec.absent"]));
        assert_eq!(object, json!({"spec": {"replicas": 5, "paused": false}}));
        assert!(!keep(&mut object, &live, &["*"]));
    }

    #[test]
    fn sharers_are_named_once() {
        let live = json!({"metadata": {"annotations": {annotation::SHARED_BY: "a/x,b/y"}}});
        assert_eq!(sharers(&live, "b/y"), "a/x,b/y");
        assert_eq!(sharers(&live, "c/z"), "a/x,b/y,c/z");
    }
}
