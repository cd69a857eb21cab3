//! What watches and our own writes have shown: reads that need no request.
//!
//! 1. What is here may be old by as much as a watch lags; whoever writes names the version it read,
//!    or looks at what is live first. What is not here is asked for.
//! 2. An older version never takes the place of a newer one.
//! 3. Answers to writes may come later than what a watch tells of them: an object that is not here and is
//!    no newer than what the watch has reached was deleted since.
//! 4. Objects are kept as texts: a tenth of the memory of trees, for a parse in place of a copy when
//!    one is read.
//! 5. What somebody began to change or delete is asked for until a watch tells of it, and so is every list that
//!    it would be in: the request may have failed.
//! 6. A list may be older than what was written while it came: what its watch did not yet tell of is asked
//!    for, and so is every list.
//! 7. What belongs to one Application is found without a look at what belongs to the others.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use lateen_engine::api::names::label;
use lateen_engine::api::object::text;
use lateen_engine::world::ObjectRef;
use serde_json::Value;

/// `apiVersion` and `kind`.
type Kind = (String, String);

/// Namespace and name.
type Place = (String, String);

/// After so long a write has come to an end, whatever was heard of it.
const LONGEST: Duration = Duration::from_secs(90);

/// As many writes are kept without a look at how old they are.
const MANY: usize = 4_096;

/// A write of ours that the watch has perhaps not told of.
#[derive(Clone, Copy)]
struct Wrote {
    /// What it was answered with; the newest one until then.
    version: u64,
    since: Instant,
}

impl Wrote {
    fn is_over(&self) -> bool {
        self.since.elapsed() > LONGEST
    }
}

/// An object as it was seen last.
struct Known {
    version: u64,
    echo: Echo,
    /// A write whose end is not known: whoever wants it asks.
    doubtful: bool,
    /// `,a=b,c=d,`: neither names nor values have commas in them.
    labels: Box<str>,
    /// JSON.
    text: Box<[u8]>,
}

impl Known {
    fn of(object: &Value) -> Known {
        let text = serde_json::to_vec(object).unwrap_or_default();
        let (version, labels) = (version(object), labels_of(object).into());
        Known { version, echo: Echo::News, doubtful: false, labels, text: text.into() }
    }

    /// Whether `object` is a later version; where versions are no numbers, everything is.
    fn precedes(&self, object: &Value) -> bool {
        let version = version(object);
        self.version < version || version == u64::MAX
    }

    /// The object; `None` never for what [`Known::of`] was given.
    fn object(&self) -> Option<Value> {
        serde_json::from_slice(&self.text).ok()
    }

    /// The Application it names.
    fn application(&self) -> Option<&str> {
        let all = self.labels.split(',');
        all.filter_map(|it| it.split_once('=')).find(|it| it.0 == label::APP_NAME).map(|it| it.1)
    }
}

/// What the watch tells of a write that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Somebody else than the writer is to hear of it.
    News,
    /// What its only reader has written.
    Expected,
}

/// What is known of one kind.
#[derive(Default)]
struct Store {
    objects: HashMap<Place, Known>,
    /// Those that name an Application, by its name.
    of_application: HashMap<Box<str>, Vec<Place>>,
    coverage: Coverage,
    /// The newest version that the watch has told of.
    reached: u64,
    /// What was written and the list may not have.
    unsure: HashMap<Place, Wrote>,
}

impl Store {
    fn put(&mut self, place: Place, known: Known) {
        let name = known.application().map(Box::from);
        match self.objects.insert(place.clone(), known) {
            Some(old) if old.application() == name.as_deref() => return,
            Some(old) => self.unlist(&place, &old),
            None => {}
        }
        if let Some(name) = name {
            self.of_application.entry(name).or_default().push(place);
        }
    }

    fn remove(&mut self, place: &Place) {
        if let Some(old) = self.objects.remove(place) {
            self.unlist(place, &old);
        }
    }

    fn unlist(&mut self, place: &Place, old: &Known) {
        let Some(name) = old.application() else { return };
        if let Some(places) = self.of_application.get_mut(name) {
            places.retain(|it| it != place);
            if places.is_empty() {
                self.of_application.remove(name);
            }
        }
    }

    /// What is [selected](Self::selected), if all of that is here and none of it in doubt.
    fn complete<'a>(&'a self, namespace: &'a str, selector: &'a str) -> Option<Vec<&'a Known>> {
        if self.coverage != Coverage::Whole || self.unsure.values().any(|it| !it.is_over()) {
            return None;
        }
        self.selected(namespace, selector).map(|it| (!it.doubtful).then_some(it)).collect()
    }

    /// Whether an object may be another one than is known, or there though none is.
    fn is_unsure(&self, place: &Place) -> bool {
        self.unsure.get(place).is_some_and(|it| !it.is_over())
    }

    /// The watch has told of a place.
    fn told(&mut self, place: &Place, version: u64) {
        self.reached = self.reached.max(version);
        if self.unsure.get(place).is_some_and(|it| it.version <= version) {
            self.unsure.remove(place);
        }
    }

    /// Those in a namespace (all if empty) with all labels of a selector, in no order.
    fn selected<'a>(
        &'a self,
        namespace: &'a str,
        selector: &'a str,
    ) -> impl Iterator<Item = &'a Known> {
        let application =
            selector.split(',').find_map(|it| it.strip_prefix(label::APP_NAME)?.strip_prefix('='));
        let listed =
            application.map(|it| self.of_application.get(it).map_or(&[][..], Vec::as_slice));
        let some = listed.into_iter().flatten().filter_map(|it| Some((it, self.objects.get(it)?)));
        let all = self.objects.iter().filter(move |_| application.is_none());
        some.chain(all)
            .filter(move |(place, _)| namespace.is_empty() || place.0 == namespace)
            .map(|it| it.1)
            .filter(move |it| is_selected(&it.labels, selector))
    }
}

/// Which objects of a kind a watch shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// All: it selects nothing.
    #[default]
    Whole,
    /// Those in a namespace, in all if it is empty, with all labels of a selector.
    Part {
        /// May be empty.
        namespace: String,
        /// `a=b,c`; may be empty.
        selector: String,
    },
}

impl Coverage {
    /// What a watch of a namespace and a selector shows.
    pub fn of(namespace: &str, selector: &str) -> Self {
        match namespace.is_empty() && selector.is_empty() {
            true => Coverage::Whole,
            false => Coverage::Part { namespace: namespace.into(), selector: selector.into() },
        }
    }

    fn has(&self, place: &Place, labels: &str) -> bool {
        match self {
            Coverage::Whole => true,
            Coverage::Part { namespace, selector } => {
                (namespace.is_empty() || *namespace == place.0) && is_selected(labels, selector)
            }
        }
    }
}

/// `,a=b,c=d,` of an object's labels.
fn labels_of(object: &Value) -> String {
    let mut labels = String::from(",");
    for (name, value) in object["metadata"]["labels"].as_object().into_iter().flatten() {
        labels.extend([name, "=", value.as_str().unwrap_or_default(), ","]);
    }
    labels
}

/// Whether all labels of a selector, `a=b,c`, are among `,a=b,c=d,`.
fn is_selected(labels: &str, selector: &str) -> bool {
    selector.split(',').filter(|it| !it.is_empty()).all(|it| match it.contains('=') {
        true => labels.contains(&format!(",{it},")),
        false => labels.contains(&format!(",{it}=")),
    })
}

/// Objects of the watched kinds.
#[derive(Default)]
pub struct Mirror {
    kinds: RwLock<HashMap<Kind, Store>>,
    /// Of kinds that were watched once.
    written: Mutex<HashMap<Kind, HashMap<Place, Wrote>>>,
}

impl Mirror {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Kind, Store>> {
        self.kinds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Kind, Store>> {
        self.kinds.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, HashMap<Kind, HashMap<Place, Wrote>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object is about to be written.
    pub fn writes(&self, at: &ObjectRef) {
        let mut written = self.written();
        let Some(all) = written.get_mut(&(at.api_version.clone(), at.kind.clone())) else { return };
        if all.len() > MANY && all.len().is_power_of_two() {
            all.retain(|_, it| !it.is_over());
        }
        let place = (at.namespace.clone(), at.name.clone());
        all.insert(place, Wrote { version: u64::MAX, since: Instant::now() });
    }

    /// A watch starts with a list.
    pub fn start(&self, api_version: &str, kind: &str, list: &Value, coverage: Coverage) {
        let mut store = Store { coverage, reached: version(list), ..Store::default() };
        let mut written = self.written();
        let of_kind = written.entry((api_version.to_owned(), kind.to_owned())).or_default();
        of_kind.retain(|_, it| it.version > store.reached && !it.is_over());
        store.unsure.clone_from(of_kind);
        drop(written);
        for object in list["items"].as_array().into_iter().flatten() {
            store.put(key(object), Known::of(&typed(object, api_version, kind)));
        }
        self.write().insert((api_version.to_owned(), kind.to_owned()), store);
    }

    /// The watch of a kind broke: nothing of it is known any more.
    pub fn stop(&self, api_version: &str, kind: &str) {
        self.write().remove(&(api_version.to_owned(), kind.to_owned()));
    }

    /// A watch told of an object; false if that is the expected echo of a write.
    pub fn saw(&self, object: &Value) -> bool {
        self.heard(object);
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return true };
        let key = key(object);
        store.told(&key, version(object));
        match store.objects.get(&key) {
            Some(old) if !old.precedes(object) => {
                old.version != version(object) || old.echo == Echo::News
            }
            _ => {
                store.put(key, Known::of(object));
                true
            }
        }
    }

    /// A watch told that an object is gone.
    pub fn saw_gone(&self, object: &Value) {
        self.heard(object);
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        let key = key(object);
        store.told(&key, version(object));
        store.remove(&key);
    }

    /// What a watch told of was written long since.
    fn heard(&self, object: &Value) {
        let mut written = self.written();
        let Some(all) = written.get_mut(&kind(object)) else { return };
        let place = key(object);
        if all.get(&place).is_some_and(|it| it.version <= version(object)) {
            all.remove(&place);
        }
    }

    /// Whether the answer to a write of an object is of use here: a watch shows what it is about.
    pub fn follows(&self, object: &Value) -> bool {
        let kinds = self.read();
        let store = kinds.get(&kind(object));
        store.is_some_and(|it| it.coverage.has(&key(object), &labels_of(object)))
    }

    /// A write was answered with this. What no watch shows is not kept: nobody would tell when it changes.
    pub fn answered(&self, object: &Value, echo: Echo) {
        let key = key(object);
        if let Some(wrote) = self.written().get_mut(&kind(object)).and_then(|it| it.get_mut(&key)) {
            wrote.version = version(object);
        }
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        store.unsure.remove(&key);
        if is_let_go(object) {
            return store.remove(&key);
        }
        let newer = match store.objects.get(&key) {
            Some(old) => old.precedes(object),
            None => store.reached < version(object),
        };
        if newer && store.coverage.has(&key, &labels_of(object)) {
            store.put(key, Known { echo, ..Known::of(object) });
        }
    }

    /// An object is about to be changed or deleted, or perhaps was: it is as a watch tells of it next.
    pub fn doubt(&self, at: &ObjectRef) {
        let mut kinds = self.write();
        let store = kinds.get_mut(&(at.api_version.clone(), at.kind.clone()));
        let place = (at.namespace.clone(), at.name.clone());
        if let Some(known) = store.and_then(|it| it.objects.get_mut(&place)) {
            known.doubtful = true;
        }
    }

    /// Perhaps there is an object like this now.
    pub fn doubt_made(&self, object: &Value) {
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        let key = key(object);
        match store.objects.get_mut(&key) {
            Some(known) => known.doubtful = true,
            None if store.coverage.has(&key, &labels_of(object)) => {
                store.put(key, Known { version: 0, doubtful: true, ..Known::of(object) });
            }
            None => {}
        }
    }

    /// An object, if it was seen.
    pub fn get(&self, at: &ObjectRef) -> Option<Value> {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()))?;
        let place = (at.namespace.clone(), at.name.clone());
        let known = store.objects.get(&place).filter(|_| !store.is_unsure(&place))?;
        (!known.doubtful).then(|| known.object())?
    }

    /// Whether an object of a kind that is known as a whole is not there.
    pub fn lacks(&self, at: &ObjectRef) -> bool {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()));
        let key = (at.namespace.clone(), at.name.clone());
        store.is_some_and(|it| {
            it.coverage == Coverage::Whole && !it.objects.contains_key(&key) && !it.is_unsure(&key)
        })
    }

    /// All objects of a kind, a namespace (all if empty) and labels (`a=b,c`), if all are here.
    pub fn list(&self, of: &ObjectRef, labels: &str) -> Option<Vec<Value>> {
        let kinds = self.read();
        let store = kinds.get(&(of.api_version.clone(), of.kind.clone()))?;
        let all = store.complete(&of.namespace, labels)?;
        Some(all.into_iter().filter_map(Known::object).collect())
    }

    /// The version in which [`Self::get`] gives an object; 0 if it is not here.
    pub fn version_of(&self, at: &ObjectRef) -> u64 {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()));
        let found = store.and_then(|it| it.objects.get(&(at.namespace.clone(), at.name.clone())));
        found.map_or(0, |it| it.version)
    }

    /// What tells one answer of [`Self::list`] from every other; `None` if there is none.
    pub fn versions_of(&self, of: &ObjectRef, labels: &str) -> Option<Vec<u64>> {
        let kinds = self.read();
        let store = kinds.get(&(of.api_version.clone(), of.kind.clone()))?;
        let all = store.complete(&of.namespace, labels)?;
        let mut all: Vec<u64> = all.into_iter().map(|it| it.version).collect();
        // No two objects of a kind have the same.
        all.sort_unstable();
        Some(all)
    }
}

fn kind(object: &Value) -> Kind {
    (text(object, "/apiVersion").to_owned(), text(object, "/kind").to_owned())
}

/// Namespace and name.
pub(crate) fn key(object: &Value) -> Place {
    (text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}

/// Whether a write took the last finalizer off what was going: it is answered with what was there, in the
/// version that it had.
fn is_let_go(object: &Value) -> bool {
    let meta = &object["metadata"];
    meta["deletionTimestamp"].is_string()
        && meta["deletionGracePeriodSeconds"].as_u64().unwrap_or_default() == 0
        && meta["finalizers"].as_array().is_none_or(Vec::is_empty)
}

/// Items of a list do not say their kind.
fn typed(object: &Value, api_version: &str, kind: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object
}

/// Versions are numbers that grow (KEP-5504); one that is none counts as the newest.
pub(crate) fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, version: u64, app: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "ns", "resourceVersion": version.to_string(),
                "labels": {"app": app}},
        })
    }

    /// One of an Application.
    fn of(name: &str, version: u64, app: &str) -> Value {
        let mut object = object(name, version, "x");
        object["metadata"]["labels"] = json!({(label::APP_NAME): app});
        object
    }

    fn at(name: &str) -> ObjectRef {
        ObjectRef::local("v1", "ConfigMap", "ns", name)
    }

    #[test]
    fn the_newest_version_stays() {
        let mirror = Mirror::default();
        mirror.saw(&object("a", 1, "x"));
        assert_eq!(mirror.get(&at("a")), None, "kinds that nobody watches are not kept");
        let list = json!({"metadata": {"resourceVersion": "3"}, "items": [object("a", 3, "x")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::of("", "app"));
        mirror.saw(&object("a", 2, "old"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 3, "x")));
        mirror.saw(&object("a", 4, "new"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 4, "new")));
        mirror.doubt(&at("a"));
        assert_eq!(mirror.get(&at("a")), None);
        assert_eq!(mirror.list(&at(""), ""), None, "a selecting watch does not see all");
    }

    #[test]
    fn a_list_that_is_older_than_what_was_written_is_not_believed() {
        let mirror = Mirror::default();
        let list = |version: &str| json!({"metadata": {"resourceVersion": version}, "items": []});
        mirror.start("v1", "ConfigMap", &list("3"), Coverage::Whole);
        // The watch is cut, and its next list is made before this is written.
        mirror.stop("v1", "ConfigMap");
        mirror.writes(&at("a"));
        mirror.answered(&object("a", 8, "x"), Echo::News);
        mirror.start("v1", "ConfigMap", &list("5"), Coverage::Whole);
        assert_eq!(mirror.list(&at(""), ""), None);
        assert!(!mirror.lacks(&at("a")));
        mirror.saw(&object("a", 8, "x"));
        assert_eq!(mirror.list(&at(""), ""), Some(vec![object("a", 8, "x")]));
        // It comes while this is on its way, of which nothing is heard.
        mirror.writes(&at("b"));
        mirror.start("v1", "ConfigMap", &list("9"), Coverage::Whole);
        assert_eq!(mirror.list(&at(""), ""), None);
        mirror.answered(&object("b", 10, "x"), Echo::News);
        assert_eq!(mirror.list(&at(""), ""), Some(vec![object("b", 10, "x")]));
        // A list that was made later has all of it.
        mirror.start("v1", "ConfigMap", &list("11"), Coverage::Whole);
        assert_eq!(mirror.list(&at(""), ""), Some(Vec::new()));
    }

    #[test]
    fn an_answer_that_comes_late_brings_nothing_back() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "5"}, "items": [object("a", 3, "x")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        mirror.saw_gone(&object("a", 7, "x"));
        mirror.answered(&object("a", 7, "x"), Echo::News);
        assert!(mirror.lacks(&at("a")), "it went with the last finalizer that was taken off");
        mirror.answered(&object("b", 4, "x"), Echo::News);
        assert!(mirror.lacks(&at("b")), "the list was made after it went");
        mirror.answered(&object("c", 8, "x"), Echo::News);
        assert!(mirror.get(&at("c")).is_some(), "the watch will tell of it");
        mirror.saw_gone(&object("c", 9, "x"));
        assert!(mirror.lacks(&at("c")));
    }

    #[test]
    fn what_was_let_go_is_gone_before_the_watch_says_so() {
        let mirror = Mirror::default();
        let mut going = object("a", 3, "x");
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        going["metadata"]["finalizers"] = json!(["ours", "theirs"]);
        let list = json!({"metadata": {"resourceVersion": "5"}, "items": [going.clone()]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        going["metadata"]["finalizers"] = json!(["theirs"]);
        mirror.answered(&going, Echo::News);
        assert!(!mirror.lacks(&at("a")), "somebody still holds it");
        going["metadata"]["finalizers"] = json!([]);
        mirror.answered(&going, Echo::News);
        assert!(mirror.lacks(&at("a")));
    }

    #[test]
    fn what_no_watch_shows_is_not_kept() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "5"}});
        mirror.start("v1", "ConfigMap", &list, Coverage::of("ns", "app,home"));
        let (plain, mut marked) = (object("a", 6, "x"), object("b", 7, "x"));
        marked["metadata"]["labels"]["home"] = "y".into();
        let mut far = marked.clone();
        far["metadata"]["namespace"] = "far".into();
        for it in [&plain, &marked, &far] {
            mirror.answered(it, Echo::News);
        }
        assert_eq!(mirror.get(&at("a")), None, "nobody would tell when it goes");
        assert_eq!(mirror.get(&at("b")), Some(marked.clone()));
        assert_eq!([&plain, &marked, &far].map(|it| mirror.follows(it)), [false, true, false]);
    }

    #[test]
    fn what_its_writer_expects_is_no_news() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "5"}});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        mirror.answered(&object("a", 6, "x"), Echo::Expected);
        mirror.answered(&object("b", 7, "x"), Echo::News);
        assert!(!mirror.saw(&object("a", 6, "x")));
        assert!(mirror.saw(&object("b", 7, "x")), "somebody else is to hear of it");
        assert!(mirror.saw(&object("a", 8, "x")), "somebody else wrote it");
        mirror.answered(&object("a", 8, "x"), Echo::Expected);
        assert!(mirror.saw(&object("a", 8, "x")), "the answer came later than the watch");
    }

    #[test]
    fn what_belongs_to_an_application_is_found() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "5"}, "items": [of("a", 3, "web")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        mirror.saw(&of("b", 6, "shop"));
        mirror.saw(&of("c", 7, "web"));
        let names = |app: &str| {
            let found = mirror.list(&at(""), &format!("{}={app}", label::APP_NAME)).unwrap();
            let mut names: Vec<String> = found.iter().map(|it| key(it).1).collect();
            names.sort();
            names.concat()
        };
        assert_eq!((names("web").as_str(), names("shop").as_str()), ("ac", "b"));
        mirror.saw(&of("c", 8, "shop"));
        mirror.saw_gone(&of("a", 9, "web"));
        assert_eq!((names("web").as_str(), names("shop").as_str()), ("", "bc"));
        mirror.saw_gone(&of("b", 10, "shop"));
        assert_eq!(names("shop"), "c");
    }

    /// A DELETE that failed, a POST whose answer was lost: no list is told without what may be there.
    #[test]
    fn what_is_in_doubt_is_asked_for_until_a_watch_tells() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "2"}, "items": [of("a", 1, "web"), of("b", 2, "shop")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        let selector = |app: &str| format!("{}={app}", label::APP_NAME);
        let known = |app: &str| mirror.list(&at(""), &selector(app)).map(|it| it.len());
        mirror.doubt(&at("a"));
        mirror.doubt_made(&of("c", 0, "shop"));
        assert_eq!((known("web"), known("shop")), (None, None));
        assert_eq!(mirror.versions_of(&at(""), &selector("web")), None);
        for name in ["a", "c"] {
            assert!(mirror.get(&at(name)).is_none() && !mirror.lacks(&at(name)), "{name}");
        }
        mirror.saw(&of("a", 1, "web"));
        assert_eq!(known("web"), None, "that was before");
        mirror.saw(&of("a", 3, "web"));
        mirror.saw(&of("c", 4, "shop"));
        assert_eq!((known("web"), known("shop")), (Some(1), Some(2)));
        mirror.doubt(&at("a"));
        mirror.saw_gone(&of("a", 5, "web"));
        assert_eq!(known("web"), Some(0));
    }

    #[test]
    fn a_complete_kind_can_be_listed() {
        let mirror = Mirror::default();
        let items = [object("a", 1, "x"), object("b", 2, "y")];
        let list = json!({"metadata": {"resourceVersion": "2"}, "items": items});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        assert_eq!(mirror.list(&at(""), "app=y").unwrap().len(), 1);
        assert_eq!(mirror.list(&at(""), "app").unwrap().len(), 2);
        assert!(mirror.lacks(&at("c")) && !mirror.lacks(&at("a")));
        mirror.stop("v1", "ConfigMap");
        assert_eq!(mirror.list(&at(""), ""), None);
    }
}
