//! What a file keeps, and what is said about a bad one.
use local_store::{Error, Expect, Store};
use serde_json::json;

#[test]
fn survives_and_is_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plane.redb");
    let store = Store::open(&path).unwrap();
    let entry = store.put("a", Expect::Absent, |_| json!({"k": "v"})).unwrap();
    store.put("b", Expect::Absent, |_| json!(1)).unwrap();
    let gone = store.delete("b", 3).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::InUse { .. })));
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.revision(), gone);
    assert_eq!(store.oldest(), gone);
    assert_eq!(store.get("a").unwrap().revision, entry.revision);
    assert!(store.get("b").is_none());
}

#[test]
fn damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plane.redb");
    std::fs::write(&path, b"not a store at all, but long enough to look at").unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}
