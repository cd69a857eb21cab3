//! A saved state comes back as it was, later.
use local_store::{Error, Expect, Snapshot, Store};
use serde_json::json;

#[test]
fn a_saved_state_comes_back_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plane.redb");
    let store = Store::open(&path).unwrap();
    store.put("a", Expect::Absent, |_| json!({"text": "line\nbreak"})).unwrap();
    let kept = store.put("b", Expect::Absent, |_| json!(1)).unwrap();
    let saved = store.snapshot().text();
    store.delete("a", store.get("a").unwrap().revision).unwrap();
    let later = store.put("c", Expect::Absent, |_| json!(2)).unwrap().revision;
    let snapshot = Snapshot::parse("saved", &saved).unwrap();
    assert!(matches!(snapshot.restore(&path), Err(Error::InUse { .. })));
    drop(store);
    let revision = snapshot.restore(&path).unwrap();
    assert!(revision > later);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.revision(), revision);
    assert_eq!(*store.get("a").unwrap().value, json!({"text": "line\nbreak"}));
    assert_eq!(store.get("b").unwrap().revision, kept.revision);
    assert!(store.get("c").is_none());
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let store = Store::memory();
    store.put("a", Expect::Absent, |_| json!(1)).unwrap();
    let text = store.snapshot().text();
    let cut = text.lines().next().unwrap();
    for bad in ["", "{}", "no json", cut, &text[..text.len() - 5]] {
        let error = Snapshot::parse("file", bad).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{bad}: {error}");
    }
}
