//! Sending objects out: inventory first, then apply; health of what is there; collecting what is not
//! wanted any more.
//!
//! 1. Nothing is applied before the inventory names it: what a crash leaves behind can be collected.
//! 2. An object that another Application owns is not touched.

mod inventory; // the ResourceTracker of the current generation
mod collect; // removing what no inventory wants

use std::sync::{Mutex, MutexGuard, PoisonError};

use cue_session::Package;
use futures::stream::{self, StreamExt};
use serde_json::{Map, Value, json};

pub use self::collect::{collect_old, remove_all};
pub use self::inventory::Inventory;

use crate::api::application::{AppliedResource, ServiceStatus, TraitStatus};
use crate::api::names::label;
use crate::api::object;
use crate::api::{Application, Component, DefinitionKind, Stage, V1BETA1};
use crate::policy::placement::{self, Placement};
use crate::render::{self, Context, Definitions, NoActor, Placed, Rendered, Templates, health};
use crate::workflow::actions::{Applied, Host};
use crate::world::{Apply, Call, Error, ObjectRef, World};

/// Objects applied at once.
const PARALLEL: usize = 10;

/// Delivers for one Application during one reconcile.
pub struct Delivery<'a> {
    /// Effects.
    pub world: &'a dyn World,
    /// The Application.
    pub app: &'a Application,
    /// What its types mean.
    pub definitions: &'a Definitions,
    /// What templates see.
    pub context: &'a Context,
    /// The interpreter and packages of components and traits.
    pub templates: Templates<'a>,
    state: Mutex<State>,
}

struct State {
    inventory: Inventory,
    services: Vec<ServiceStatus>,
    applied: Vec<AppliedResource>,
}

impl<'a> Delivery<'a> {
    /// With the inventory as it is.
    pub fn new(
        world: &'a dyn World,
        app: &'a Application,
        definitions: &'a Definitions,
        context: &'a Context,
        templates: Templates<'a>,
        inventory: Inventory,
    ) -> Self {
        let state = State {
            inventory,
            services: app.status.services.clone(),
            applied: app.status.applied_resources.clone(),
        };
        Self { world, app, definitions, context, templates, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found out: rows of components, resources, the inventory.
    pub fn finish(self) -> (Vec<ServiceStatus>, Vec<AppliedResource>, Inventory) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.services, state.applied, state.inventory)
    }

    /// Renders a component.
    ///
    /// # Errors
    /// The renderer's words.
    pub fn render(&self, component: &Component, place: &Placed) -> Result<Rendered, Error> {
        let skip = |_: Stage| false;
        let mut rendered = render::render_component(
            self.templates,
            self.definitions,
            self.context,
            component,
            &skip,
            &mut NoActor,
        )
        .map_err(|error| Error::Invalid(error.to_string()))?;
        rendered.place(place, self.app.namespace());
        Ok(rendered)
    }

    /// A component as a step gives it, rendered for a place.
    fn render_at(
        &self,
        component: &Value,
        cluster: &str,
        namespace: &str,
    ) -> Result<(Component, Rendered), Error> {
        let component: Component = serde_json::from_value(component.clone())
            .map_err(|error| Error::Invalid(error.to_string()))?;
        let place = Placed { cluster: cluster.to_owned(), namespace: namespace.to_owned() };
        let mut rendered = self.render(&component, &place)?;
        if namespace.is_empty() {
            let home = Placed { cluster: cluster.to_owned(), namespace: String::new() };
            rendered.place(&home, self.app.namespace());
        }
        Ok((component, rendered))
    }

    /// Records and applies objects; live ones that are recorded as they are wanted are only read.
    async fn send(
        &self,
        objects: Vec<Value>,
        cluster: &str,
        creator: &str,
    ) -> Result<Vec<Value>, Error> {
        let objects: Vec<Value> = objects.into_iter().map(|it| self.owned(it)).collect();
        let known: Vec<bool> = {
            let state = self.state();
            objects.iter().map(|it| state.inventory.has(it, cluster)).collect()
        };
        let write = {
            let mut state = self.state();
            let inventory = &mut state.inventory;
            let changed =
                objects.iter().filter(|it| inventory.record(it, cluster, creator)).count() > 0;
            changed.then(|| inventory.object())
        };
        if let Some(tracker) = write {
            self.world.apply(&tracker, "", Apply { force: true }).await?;
        }
        let one = |(object, known): (Value, bool)| async move {
            let at = ObjectRef::of(&object, cluster);
            if let Some(live) = self.world.get(&at).await? {
                self.check_owner(&live, &at)?;
                // Being recorded says nothing of being applied: the process may have died between
                // the two. What is live decides, and so drift is corrected too.
                if known && holds(&object, &live) {
                    return Ok(live);
                }
            }
            self.world.apply(&object, cluster, Apply { force: true }).await
        };
        let pairs = objects.clone().into_iter().zip(known);
        let results: Vec<Result<Value, Error>> =
            stream::iter(pairs.map(one)).buffered(PARALLEL).collect().await;
        let mut live = Vec::with_capacity(results.len());
        let mut wrong = Vec::new();
        for result in results {
            match result {
                Ok(object) => live.push(object),
                Err(error) => wrong.push(error),
            }
        }
        let mut state = self.state();
        for object in &objects {
            let row = inventory::applied(object, cluster, creator);
            if !state.applied.contains(&row) {
                state.applied.push(row);
            }
        }
        drop(state);
        match wrong.len() {
            0 => Ok(live),
            1 => Err(wrong.remove(0)),
            count => {
                let texts: Vec<String> = wrong.iter().map(|it| format!("({it})")).collect();
                Err(Error::Invalid(format!("Found {count} errors. [{}]", texts.join(", "))))
            }
        }
    }

    fn owned(&self, mut object: Value) -> Value {
        object::set_label(&mut object, label::APP_NAME, &self.app.metadata.name);
        object::set_label(&mut object, label::APP_NAMESPACE, self.app.namespace());
        if let Some(meta) = object["metadata"].as_object_mut() {
            for key in
                ["resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"]
            {
                meta.remove(key);
            }
        }
        object
    }

    fn check_owner(&self, live: &Value, at: &ObjectRef) -> Result<(), Error> {
        let name = object::label(live, label::APP_NAME).unwrap_or_default();
        let namespace = object::label(live, label::APP_NAMESPACE).unwrap_or_default();
        let ours = name == self.app.metadata.name && namespace == self.app.namespace();
        if ours {
            return Ok(());
        }
        if name.is_empty() {
            if self.app.spec.policies.iter().any(|it| it.r#type == "take-over") {
                return Ok(());
            }
            return Err(Error::Conflict(format!(
                "{} {}/{} exists but not managed by any application now; a take-over policy adopts it",
                at.kind, at.namespace, at.name
            )));
        }
        Err(Error::Conflict(format!(
            "{} {}/{} is managed by other application {namespace}/{name}",
            at.kind, at.namespace, at.name
        )))
    }

    /// Applies a rendered component and says how it is.
    async fn deliver(
        &self,
        component: &Component,
        rendered: &Rendered,
        cluster: &str,
    ) -> Result<Applied, Error> {
        let objects: Vec<Value> = rendered.objects().map(|it| it.1.clone()).collect();
        let live = self.send(objects, cluster, "workflow").await?;
        let find = |wanted: &Value| {
            let at = ObjectRef::of(wanted, cluster);
            live.iter()
                .find(|it| {
                    let other = ObjectRef::of(it, cluster);
                    other.kind == at.kind
                        && other.name == at.name
                        && other.namespace == at.namespace
                })
                .cloned()
                .unwrap_or_default()
        };
        let output = find(&rendered.workload);
        let mut outputs = Map::new();
        for it in rendered.auxiliaries.iter().filter(|it| !it.resource.is_empty()) {
            outputs.insert(it.resource.clone(), find(&it.object));
        }
        let outputs = Value::Object(outputs);
        let (row, healthy) = self.service(component, rendered, cluster, &output, &outputs)?;
        let waiting = (!healthy).then(|| {
            if row.message.is_empty() {
                "wait healthy".to_owned()
            } else {
                format!("wait healthy: {}", row.message)
            }
        });
        let mut state = self.state();
        let same = |it: &&mut ServiceStatus| {
            it.name == row.name && it.namespace == row.namespace && it.cluster == row.cluster
        };
        match state.services.iter_mut().find(same) {
            Some(old) => *old = row,
            None => state.services.push(row),
        }
        Ok(Applied { output, outputs, waiting })
    }

    /// The row of a component: health of its workload and traits.
    fn service(
        &self,
        component: &Component,
        rendered: &Rendered,
        cluster: &str,
        output: &Value,
        outputs: &Value,
    ) -> Result<(ServiceStatus, bool), Error> {
        let fault = |error: cue_session::Fault| Error::Unavailable(error.to_string());
        let mut context = self.context.to_json(Some(component), "");
        context.insert("output".into(), output.clone());
        context.insert("outputs".into(), outputs.clone());
        context.insert("cluster".into(), cluster.into());
        let auto_update = false;
        let namespace = self.app.namespace();
        let definition = self.definitions.get(
            DefinitionKind::Component,
            &component.r#type,
            namespace,
            auto_update,
        );
        let texts = definition.and_then(|it| it.spec.status.clone()).unwrap_or_default();
        let parameter = component.properties.as_ref();
        let found = health::evaluate(self.templates, &texts, &context, parameter).map_err(fault)?;
        let mut row = ServiceStatus {
            name: component.name.clone(),
            namespace: object::namespace(&rendered.workload).to_owned(),
            cluster: cluster.to_owned(),
            healthy: found.healthy,
            workload_healthy: found.healthy,
            message: found.message,
            details: found.details.unwrap_or_default(),
            ..ServiceStatus::default()
        };
        if row.namespace.is_empty() {
            row.namespace = namespace.to_owned();
        }
        let kind = definition
            .and_then(|it| it.spec.workload.as_ref())
            .map(|it| serde_json::to_value(it).unwrap_or_default()["definition"].clone());
        row.workload_definition = kind.and_then(|it| serde_json::from_value(it).ok());
        for it in &component.traits {
            let definition =
                self.definitions.get(DefinitionKind::Trait, &it.r#type, namespace, auto_update);
            let texts = definition.and_then(|it| it.spec.status.clone()).unwrap_or_default();
            let parameter = it.properties.as_ref();
            let found =
                health::evaluate(self.templates, &texts, &context, parameter).map_err(fault)?;
            row.healthy &= found.healthy;
            if row.message.is_empty() {
                row.message.clone_from(&found.message);
            }
            row.traits.push(TraitStatus {
                r#type: it.r#type.clone(),
                healthy: found.healthy,
                message: found.message,
                details: found.details.unwrap_or_default(),
                ..TraitStatus::default()
            });
        }
        let healthy = row.healthy;
        Ok((row, healthy))
    }

    /// Looks again at every component that was delivered; true if all are healthy.
    ///
    /// # Errors
    /// As a read failed.
    pub async fn observe(&self) -> Result<bool, Error> {
        let rows = self.state().services.clone();
        let mut all = true;
        for row in rows {
            let Some(component) = self.app.spec.components.iter().find(|it| it.name == row.name)
            else {
                continue;
            };
            let cluster = row.cluster.clone();
            let place = Placed { cluster: cluster.clone(), namespace: row.namespace.clone() };
            // A component with inputs is rendered by its step; its objects are in the inventory.
            let delivered = !self.state().inventory.of_component(&component.name).is_empty();
            let rendered = match self.render(component, &place) {
                Ok(rendered) if delivered => rendered,
                _ => continue,
            };
            let output = match self.world.get(&ObjectRef::of(&rendered.workload, &cluster)).await? {
                Some(live) => live,
                None => json!({}),
            };
            let mut outputs = Map::new();
            for it in rendered.auxiliaries.iter().filter(|it| !it.resource.is_empty()) {
                let live = self.world.get(&ObjectRef::of(&it.object, &cluster)).await?;
                outputs.insert(it.resource.clone(), live.unwrap_or_default());
            }
            let (row, healthy) =
                self.service(component, &rendered, &cluster, &output, &Value::Object(outputs))?;
            all &= healthy;
            let mut state = self.state();
            let old = state.services.iter_mut().find(|it| {
                it.name == row.name && it.namespace == row.namespace && it.cluster == row.cluster
            });
            if let Some(old) = old {
                *old = row;
            }
        }
        Ok(all)
    }
}

impl Host for Delivery<'_> {
    fn namespace(&self) -> &str {
        self.app.namespace()
    }

    fn name(&self) -> &str {
        &self.app.metadata.name
    }

    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(self.send(objects, cluster, "workflow"))
    }

    fn debug_object(&self, step_id: &str) -> Option<Value> {
        if !self.app.spec.policies.iter().any(|it| it.r#type == "debug") {
            return None;
        }
        let (name, uid) = (&self.app.metadata.name, &self.app.metadata.uid);
        let tail = uid.get(uid.len().saturating_sub(5)..).unwrap_or_default();
        Some(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": format!("{name}-{step_id}-debug-{tail}"),
                "namespace": self.app.namespace(),
                "ownerReferences": [{
                    "apiVersion": V1BETA1,
                    "kind": "Application",
                    "name": name,
                    "uid": uid,
                    "controller": true,
                }],
            },
        }))
    }

    fn recorded(&self, at: &ObjectRef) -> Option<Value> {
        self.state().inventory.manifest(at).cloned()
    }

    fn forget<'a>(&'a self, at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async move {
            let write = {
                let inventory = &mut self.state().inventory;
                inventory.forget(at).then(|| inventory.object())
            };
            if let Some(tracker) = write {
                self.world.apply(&tracker, "", Apply { force: true }).await?;
            }
            Ok(())
        })
    }

    fn apply_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let (component, rendered) = self.render_at(component, cluster, namespace)?;
            self.deliver(&component, &rendered, cluster).await
        })
    }

    fn apply_changed<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
        change: &'a Value,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let (component, mut rendered) = self.render_at(component, cluster, namespace)?;
            json_patch::merge(&mut rendered.workload, change);
            self.deliver(&component, &rendered, cluster).await
        })
    }

    fn render_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async move {
            let (_, rendered) = self.render_at(component, cluster, namespace)?;
            let named = rendered.auxiliaries.iter().filter(|it| !it.resource.is_empty());
            let outputs: Map<String, Value> =
                named.map(|it| (it.resource.clone(), it.object.clone())).collect();
            Ok(Applied { output: rendered.workload, outputs: outputs.into(), waiting: None })
        })
    }

    fn placements(&self, policies: &[String]) -> Call<'_, Vec<(String, String)>> {
        let policies = policies.to_vec();
        Box::pin(async move {
            let wrong = |error: crate::policy::Error| Error::Invalid(error.to_string());
            let picked = placement::pick(&self.app.spec.policies, &policies, &[]).map_err(wrong)?;
            let clusters =
                [placement::Cluster { name: "local".into(), labels: Default::default() }];
            let home = self.app.namespace();
            let any = placement::Namespaces::Any;
            let found = placement::placements(&picked, &clusters, home, any).map_err(wrong)?;
            Ok(found.into_iter().map(|it| (it.cluster, it.namespace)).collect())
        })
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

    fn deploy<'a>(&'a self, policies: Vec<String>, inline: Value) -> Call<'a, Option<String>> {
        Box::pin(async move {
            let wrong = |error: crate::policy::Error| Error::Invalid(error.to_string());
            let inline = serde_json::from_value(inline).unwrap_or_default();
            let picked = placement::pick(&self.app.spec.policies, &policies, &inline as &Vec<_>)
                .map_err(wrong)?;
            let clusters =
                [placement::Cluster { name: "local".into(), labels: Default::default() }];
            let wanted = placement::deployment(
                &self.app.spec.components,
                &picked,
                &clusters,
                self.app.namespace(),
                placement::Namespaces::Any,
            )
            .map_err(wrong)?;
            let mut waiting = Vec::new();
            for Placement { cluster, namespace, .. } in &wanted.placements {
                for component in &wanted.components {
                    let place = Placed { cluster: cluster.clone(), namespace: namespace.clone() };
                    let rendered = self.render(component, &place)?;
                    let applied = self.deliver(component, &rendered, cluster).await?;
                    if applied.waiting.is_some() {
                        waiting.push(format!(
                            "{cluster}/{namespace}/{} is not healthy",
                            component.name
                        ));
                    }
                }
            }
            Ok((!waiting.is_empty()).then(|| waiting.join(",")))
        })
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

/// Whether everything `wanted` says is so in `live`; what others added does not matter.
fn holds(wanted: &Value, live: &Value) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().all(|(key, value)| {
            // Written once, shown never: the API server moves it into `data`.
            key == "stringData"
                || live.get(key).is_some_and(|it| holds(value, it))
                || is_empty(value)
        }),
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len()
                && wanted.iter().zip(live).all(|(wanted, live)| holds(wanted, live))
        }
        (Value::Number(wanted), Value::Number(live)) => wanted.as_f64() == live.as_f64(),
        _ => wanted == live,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Packages of the interpreter's form.
pub fn packages<'p>(all: impl Iterator<Item = (&'p str, &'p str)>) -> Vec<Package> {
    all.map(|(path, text)| Package {
        path: path.to_owned(),
        sources: vec![cue_session::Source::new(format!("{path}.cue"), text)],
    })
    .collect()
}
