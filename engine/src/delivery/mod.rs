//! Sending objects out: recorded first, then applied; how they are; what drifted; what is over.
//!
//! ~~~text
//! component ─ stages ─▶ send ─ record in a tracker ─▶ apply (ownership, policies) ─▶ health ─▶ services[]
//! keep_state: what was delivered is as it should be      collect: what is not asked for any more goes
//! ~~~
//! 1. Nothing is applied before a tracker names it: what a crash leaves behind can be collected.
//! 2. An object of another owner is not touched, but as a policy says.
//! 3. One object that fails keeps no other from being delivered, kept or collected.

mod collect; // removing what is over
mod component; // one component at one place
mod deploy; // components by policies, to many places
mod drift; // whether what is live is as wanted
mod foresight; // recorded before their turn
mod keep; // correcting drift
mod rules; // what the resource policies say of an object
mod send; // one object on its way
mod shown; // what a debug policy shows of steps
mod stray; // trackers without an Application
mod trackers; // what is owned

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

pub use self::collect::{Collected, Collector, Extent};
pub use self::foresight::Before;
pub use self::rules::Rules;
pub use self::stray::remove_strays;
pub use self::trackers::Trackers;

use self::trackers::Recorded;
use crate::api::application::{AppliedResource, ServiceStatus};
use crate::api::{Application, Component, DefinitionKind, ManagedResource};
use crate::records::{self, Making};
use crate::render::{Context, Definitions, Placed, Templates};
use crate::settings::Admission;
use crate::workflow::actions::{Applied, Foreseen, Host};
use crate::world::{Call, Error, ObjectRef, World};

/// Delivers for one Application during one reconcile.
pub struct Delivery<'a> {
    /// Effects on what is the engine's own: trackers.
    pub world: &'a dyn World,
    /// Effects on what is delivered: perhaps for somebody else.
    pub objects: &'a dyn World,
    /// The Application.
    pub app: &'a Application,
    /// What its types mean.
    pub definitions: &'a Definitions,
    /// What templates see.
    pub context: &'a Context,
    /// The interpreter and packages of components and traits.
    pub templates: Templates<'a>,
    /// What its policies say.
    pub rules: Rules,
    /// What may be delivered at all.
    pub admission: Admission,
    /// What must be there before anything is applied or asked for: our finalizer, what is recorded of the
    /// revision.
    pub(crate) ready: Making<'a>,
    state: Mutex<State>,
    /// Held while trackers are written.
    writing: futures::lock::Mutex<()>,
}

/// What changes while delivering.
struct State {
    trackers: Trackers,
    services: Vec<ServiceStatus>,
    applied: Vec<AppliedResource>,
    /// Recorded, and to be applied soon; what trackers said before.
    foreseen: Vec<(ObjectRef, Recorded)>,
    /// Live objects read in this reconcile.
    seen: HashMap<(String, String, String, String, String), Value>,
}

impl<'a> Delivery<'a> {
    /// With the trackers as they are.
    pub fn new(
        (world, objects): (&'a dyn World, &'a dyn World),
        app: &'a Application,
        definitions: &'a Definitions,
        context: &'a Context,
        templates: Templates<'a>,
        (rules, trackers): (Rules, Trackers),
    ) -> Self {
        let state = State {
            trackers,
            services: app.status.services.clone(),
            applied: app.status.applied_resources.clone(),
            foreseen: Vec::new(),
            seen: HashMap::new(),
        };
        let state = Mutex::new(state);
        let (admission, writing) = Default::default();
        Self {
            world,
            objects,
            app,
            definitions,
            context,
            templates,
            rules,
            admission,
            ready: records::make_all(world, Vec::new()),
            state,
            writing,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the trackers that differ from what the cluster has. One at a time: of two writes that
    /// are under way, the older might come last, and objects would be there that no tracker names.
    async fn write_trackers(&self) -> Result<(), Error> {
        let _turn = self.writing.lock().await;
        let unwritten = self.state().trackers.unwritten();
        let mut written = Ok(());
        for tracker in unwritten {
            if written.is_ok() {
                written = tracker.write(self.world).await;
            }
            if written.is_err() {
                // Whoever comes next finds it unwritten, and fails as well.
                self.state().trackers.unsettle(&tracker);
            }
        }
        written
    }

    /// Remembers what is live.
    fn saw(&self, resource: &ManagedResource, live: Value) {
        self.state().seen.insert(resource.key(), live);
    }

    /// Applies objects of custom policies (E-88).
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn dispatch_policies(&self, objects: Vec<Value>) -> Result<(), Error> {
        self.send(objects, "", "policy").await.map(drop)
    }

    /// What was found out: rows of components, resources.
    pub fn finish(self) -> (Vec<ServiceStatus>, Vec<AppliedResource>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let named = |name: &str| self.app.spec.components.iter().any(|it| it.name == name);
        let services = state.services.into_iter().filter(|it| named(&it.name)).collect();
        (services, state.applied)
    }
}

impl State {
    /// The row of a component at a place.
    fn note_service(&mut self, row: ServiceStatus) {
        let same = |it: &&mut ServiceStatus| {
            it.name == row.name && it.namespace == row.namespace && it.cluster == row.cluster
        };
        match self.services.iter_mut().find(same) {
            Some(old) => *old = row,
            None => self.services.push(row),
        }
    }

    fn note_applied(&mut self, rows: impl Iterator<Item = AppliedResource>) {
        for row in rows {
            if !self.applied.contains(&row) {
                self.applied.push(row);
            }
        }
    }

    fn seen(&self, resource: &ManagedResource) -> Option<Value> {
        self.seen.get(&resource.key()).cloned()
    }
}

impl Host for Delivery<'_> {
    fn namespace(&self) -> &str {
        self.app.namespace()
    }

    fn name(&self) -> &str {
        &self.app.metadata.name
    }

    fn ready(&self) -> Call<'_, ()> {
        Box::pin(self.ready.clone())
    }

    fn foresee(&self, objects: Vec<(Value, String)>) -> Foreseen<'_> {
        Box::pin(self.expect(objects))
    }

    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(self.send(objects, cluster, "workflow"))
    }

    fn debug_object(&self, step_id: &str) -> Option<Value> {
        self.shown(step_id)
    }

    fn recorded(&self, at: &ObjectRef) -> Option<Value> {
        self.state().trackers.manifest(at).cloned()
    }

    fn forget<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            let known = self.state().trackers.deleted(at);
            if known { self.write_trackers().await } else { Ok(()) }
        })
    }

    fn apply_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(
            async move { self.deliver(&read(component)?, &placed(cluster, namespace), None).await },
        )
    }

    fn apply_changed<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
        change: &'a Value,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            self.deliver(&read(component)?, &placed(cluster, namespace), Some(change)).await
        })
    }

    fn render_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let rendered =
                self.render(&read(component)?, &placed(cluster, namespace), None).await?;
            let named = rendered.auxiliaries.iter().filter(|it| !it.resource.is_empty());
            let outputs: Map<String, Value> =
                named.map(|it| (it.resource.clone(), it.object.clone())).collect();
            Ok(Applied { output: rendered.workload, outputs: outputs.into(), waiting: None })
        })
    }

    fn placements(&self, policies: &[String]) -> Call<'_, Vec<(String, String)>> {
        Box::pin(self.places(policies.to_vec()))
    }

    fn terraform_components(&self) -> Vec<String> {
        let made = |it: &&Component| {
            let (kind, namespace) = (DefinitionKind::Component, self.app.namespace());
            let definition = self.definitions.get(kind, &it.r#type, namespace, false);
            let all = definition.and_then(|it| serde_json::to_value(&it.spec).ok());
            all.is_some_and(|it| it["schematic"]["terraform"].is_object())
        };
        self.app.spec.components.iter().filter(made).map(|it| it.name.clone()).collect()
    }

    fn deploy<'a>(
        &'a self,
        policies: Vec<String>,
        inline: Value,
        parallelism: usize,
    ) -> Call<'a, Option<String>> {
        Box::pin(self.deploy_by(policies, inline, parallelism))
    }

    fn components(&self) -> Vec<(String, Value)> {
        let all = self.app.spec.components.iter();
        all.map(|it| (it.name.clone(), serde_json::to_value(it).unwrap_or_default())).collect()
    }

    fn policies(&self) -> Vec<(String, Value)> {
        let all = self.app.spec.policies.iter();
        all.map(|it| (it.name.clone(), serde_json::to_value(it).unwrap_or_default())).collect()
    }
}

fn read(component: &Value) -> Result<Component, Error> {
    serde_json::from_value(component.clone()).map_err(|error| Error::Invalid(error.to_string()))
}

fn placed(cluster: &str, namespace: &str) -> Placed {
    Placed { cluster: cluster.to_owned(), namespace: namespace.to_owned() }
}
