//! Reading the past, and being told when it is gone.
use std::sync::Arc;

use local_store::{Error, Expect, Store};
use serde_json::json;

#[tokio::test]
async fn past_states_and_watches() {
    let store = Arc::new(Store::memory_with_history(4));
    let start = store.revision();
    let mut watch = store.watch("a/", start);
    let first = store.put("a/x", Expect::Absent, |revision| json!({"rv": revision})).unwrap();
    store.put("b/x", Expect::Absent, |_| json!(1)).unwrap();
    let second = store.put("a/x", Expect::Revision(first.revision), |_| json!(2)).unwrap();
    assert!(matches!(
        store.put("a/x", Expect::Revision(first.revision), |_| json!(3)),
        Err(Error::Conflict { current: Some(now), .. }) if now == second.revision
    ));
    assert!(store.put("a/x", Expect::Absent, |_| json!(3)).is_err());
    let events = watch.next().await.unwrap();
    assert_eq!(events.iter().map(|event| event.revision).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(store.list_at("a/", first.revision).unwrap()[0].revision, first.revision);
    assert!(store.list_at("a/", start).unwrap().is_empty());
    store.delete("a/x", second.revision).unwrap();
    assert!(store.list("a/").1.is_empty());
    assert_eq!(*store.list_at("a/", second.revision).unwrap()[0].value, json!(2));
    for _ in 0..4 {
        let revision = store.get("b/x").unwrap().revision;
        store.put("b/x", Expect::Revision(revision), |_| json!(0)).unwrap();
    }
    assert!(matches!(watch.ready(), Err(Error::Compacted { .. })));
    assert!(matches!(store.list_at("a/", start), Err(Error::Compacted { .. })));
}

#[tokio::test]
async fn what_others_do_neither_wakes_a_watch_nor_makes_it_too_old() {
    let store = Arc::new(Store::memory_with_history(4));
    let mut watch = store.watch("a/", store.revision());
    let others = |count: usize| {
        for index in 0..count {
            let _ = store.put(&format!("b/{index}"), Expect::Absent, |_| json!(0));
            let revision = store.get(&format!("b/{index}")).unwrap().revision;
            store.delete(&format!("b/{index}"), revision).unwrap();
        }
    };
    others(10);
    assert_eq!(watch.position(), store.revision());
    {
        let mut next = std::pin::pin!(watch.next());
        assert!(futures::poll!(next.as_mut()).is_pending());
        others(10);
        let written = store.put("a/x", Expect::Absent, |_| json!(1)).unwrap();
        others(1);
        let events = next.await.unwrap();
        assert_eq!(events.iter().map(|it| it.revision).collect::<Vec<_>>(), [written.revision]);
    }
    let _second = store.watch("a/x", store.revision());
    let _third = store.watch("a/y", store.revision());
    let revision = store.get("a/x").unwrap().revision;
    store.delete("a/x", revision).unwrap();
    assert_eq!((watch.ready().unwrap().len(), watch.crowd()), (1, 2));
}

#[test]
fn what_is_handed_out_up_to_a_revision_leaves_the_rest() {
    let store = Arc::new(Store::memory());
    let mut watch = store.watch("a/", store.revision());
    assert_eq!(watch.waiting(), None);
    let put = |key: &str| store.put(key, Expect::Absent, |_| json!({})).expect("new").revision;
    let (first, _, third) = (put("a/1"), put("b/1"), put("a/2"));
    assert_eq!(watch.waiting(), Some(first - 1));
    let keys = |events: Vec<Arc<local_store::Event>>| -> Vec<String> {
        events.iter().map(|event| event.key.clone()).collect()
    };
    assert_eq!(keys(watch.ready_until(third - 1).expect("kept")), ["a/1"]);
    assert_eq!((watch.waiting(), watch.position()), (Some(third - 1), third - 1));
    let fourth = put("a/3");
    watch.pass(third).expect("kept");
    assert_eq!(watch.waiting(), Some(fourth - 1));
    assert_eq!(keys(watch.ready().expect("kept")), ["a/3"]);
    assert_eq!((watch.waiting(), watch.position()), (None, fourth));
}
