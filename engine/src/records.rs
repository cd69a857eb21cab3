//! What the engine writes for itself: revisions, what they render to, variables of runs.
//!
//! Nobody else has fields in it. So it is made, or put in the place of what is there: an API server pays
//! for the apply of a new object more than twice what it pays for making it.

use std::task::Poll;

use futures::FutureExt;
use futures::future::{Shared, try_join_all};
use serde_json::Value;

use crate::world::{Call, Error, ObjectRef, World};

/// Objects on their way; each clone waits for all of them.
pub(crate) type Making<'a> = Shared<Call<'a, ()>>;

/// Makes objects side by side, beginning when it is first waited for.
pub(crate) fn make_all<'a>(world: &'a dyn World, objects: Vec<Value>) -> Making<'a> {
    let all = async move { try_join_all(objects.iter().map(|it| make(world, it))).await.map(drop) };
    let all: Call<'a, ()> = Box::pin(all);
    all.shared()
}

/// Turns in which a request that was begun gets to the server: it goes from hand to hand in this process.
const HANDS: usize = 4;

/// Lets what was begun go on its way before more is computed here.
pub(crate) async fn give_way(making: &Making<'_>) {
    for _ in 0..HANDS {
        if futures::poll!(making.clone()).is_ready() {
            return;
        }
        a_turn().await;
    }
}

/// The same for what somebody else waits for beside this.
pub(crate) async fn give_way_to_others() {
    for _ in 0..HANDS {
        a_turn().await;
    }
}

/// Lets everything else go on once.
async fn a_turn() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The same, for somebody who is there for a shorter time.
pub(crate) fn clone<'a, 'b: 'a>(making: &Making<'b>) -> Making<'a> {
    let making: Call<'a, ()> = Box::pin(making.clone());
    making.shared()
}

/// Makes an object; what a process that died may have left in its place goes.
pub(crate) async fn make(world: &dyn World, object: &Value) -> Result<(), Error> {
    match world.create(object).await {
        Err(Error::Conflict(_)) => {}
        made => return made,
    }
    let Some(live) = world.get(&ObjectRef::of(object, "")).await? else {
        // It went meanwhile.
        return world.create(object).await;
    };
    let mut object = object.clone();
    object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    world.replace(&object, "").await.map(drop)
}

/// What is thought of a ConfigMap before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thought {
    /// It was never made.
    Absent,
    /// It is there.
    There,
}

/// Makes a ConfigMap, or puts it in the place of whichever is there; what was thought only makes that
/// one request.
pub(crate) async fn write(world: &dyn World, object: &Value, it: Thought) -> Result<(), Error> {
    if it == Thought::There {
        match world.replace(object, "").await {
            Err(Error::NotFound(_)) => {}
            put => return put.map(drop),
        }
    }
    make(world, object).await
}
