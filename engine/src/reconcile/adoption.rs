//! Our finalizer and version on an Application (E-3).
//!
//! Whatever the Application delivers waits for it. What is recorded of that does not: its owner takes it along
//! when it goes, and trackers, which have none, are found when they name nothing that is there (`delivery::stray`).

use futures::FutureExt;
use futures::future::Shared;
use serde_json::{Value, json};

use super::{Engine, VERSION, place};
use crate::api::Application;
use crate::api::names::{annotation, finalizer};
use crate::records::{self, Making};
use crate::world::{Call, Error, PatchKind};

/// Begins when it is first waited for, and is done once.
pub(super) struct Adoption<'a> {
    /// The Application's resourceVersion afterwards; `None`: nothing is to be done.
    patched: Option<Shared<Call<'a, String>>>,
    /// The version that is patched.
    before: String,
}

impl<'a> Adoption<'a> {
    /// Marks `app` itself; the cluster is to follow.
    pub(super) fn of(engine: &Engine<'a>, app: &mut Application) -> Self {
        let before = app.metadata.resource_version.clone();
        let meta = &mut app.metadata;
        let mut change = json!({});
        if !meta.finalizers.iter().any(|it| it == finalizer::APPLICATION) {
            meta.finalizers.push(finalizer::APPLICATION.into());
            change["finalizers"] = json!(meta.finalizers);
            change["resourceVersion"] = meta.resource_version.as_str().into();
        }
        if !meta.annotations.contains_key(annotation::VERSION) {
            meta.annotations.insert(annotation::VERSION.into(), VERSION.into());
            change["annotations"] = json!({annotation::VERSION: VERSION});
        }
        if change == json!({}) {
            return Self { patched: None, before };
        }
        let (world, at) = (engine.world, place(app));
        let patch = async move {
            let body = json!({"metadata": change});
            let patched: Value = world.patch(&at, PatchKind::Merge, &body).await?;
            Ok(patched["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned())
        };
        let patch: Call<'a, String> = Box::pin(patch);
        Self { patched: Some(patch.shared()), before }
    }

    /// Waits until the cluster has it.
    ///
    /// # Errors
    /// As the patch failed; always the same.
    pub(super) async fn wait(&self) -> Result<(), Error> {
        match &self.patched {
            Some(patched) => patched.clone().await.map(drop),
            None => Ok(()),
        }
    }

    /// The same together with something else.
    pub(super) fn with<'b, 'c: 'b>(&'b self, making: &Making<'c>) -> Making<'b> {
        let making: Making<'b> = records::clone(making);
        let both = async move { futures::try_join!(self.wait(), making).map(drop) };
        let both: Call<'b, ()> = Box::pin(both);
        both.shared()
    }

    /// Waits, and lets `app` be the version that came of it, unless it is a later one already.
    ///
    /// # Errors
    /// As the patch failed; always the same.
    pub(super) async fn end(&self, app: &mut Application) -> Result<(), Error> {
        let Some(patched) = &self.patched else { return Ok(()) };
        let version = patched.clone().await?;
        if app.metadata.resource_version == self.before {
            app.metadata.resource_version = version;
        }
        Ok(())
    }
}
