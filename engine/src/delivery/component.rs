//! One component at one place: its stages in order, and how it is (E-75, E-80 to E-86).

use serde_json::{Map, Value, json};

use super::Delivery;
use super::trackers::place;
use crate::api::application::{ServiceStatus, TraitStatus};
use crate::api::names::{RESOURCE_WORKLOAD, cluster_name, is_local, label};
use crate::api::object;
use crate::api::{Component, Definition, DefinitionKind, ManagedResource, Stage};
use crate::render::{self, Placed, Rendered, Versions, health, label_type};
use crate::workflow::actions::{Applied, rendering};
use crate::world::{Error, ObjectRef};

/// What a trait says that waits for its component.
const PENDING: &str = "⏳ Waiting for component to be healthy";

/// What is live of a component.
#[derive(Default)]
struct Live {
    workload: Value,
    /// Trait type, key in `outputs`, object.
    auxiliaries: Vec<(String, String, Value)>,
}

impl Live {
    /// `outputs` of one trait type, or of all.
    fn outputs(&self, of: Option<&str>) -> Map<String, Value> {
        let wanted =
            |it: &&(String, String, Value)| !it.1.is_empty() && of.is_none_or(|of| it.0 == of);
        self.auxiliaries.iter().filter(wanted).map(|it| (it.1.clone(), it.2.clone())).collect()
    }
}

impl Delivery<'_> {
    /// Renders a component for a place, without what needs its live status until there is one; actions
    /// of its templates are carried out.
    ///
    /// # Errors
    /// The renderer's words.
    pub(super) async fn render(
        &self,
        component: &Component,
        at: &Placed,
        status: Option<Value>,
    ) -> Result<Rendered, Error> {
        let skip = |stage| status.is_none() && stage == Stage::PostDispatch;
        let mut context = self.context.clone();
        context.cluster = cluster_name(&at.cluster).to_owned();
        context.live_status.clone_from(&status);
        if !is_local(&context.cluster)
            && let Some(version) = self.objects.cluster_version(&at.cluster).await?
        {
            context.cluster_version = version;
        }
        let mut rendered = rendering::rendered(self.objects, self.app.namespace(), |actor| {
            render::render_component(
                self.templates,
                self.definitions,
                &context,
                component,
                &skip,
                actor,
            )
        })
        .await
        .map_err(Error::Invalid)?;
        // Before what the place adds (E-70).
        let revision = self.app.status.latest_revision.as_ref();
        let hash = revision.map_or("", |it| it.revision_hash.as_str());
        let auxiliaries = rendered.auxiliaries.iter_mut().map(|it| &mut it.object);
        for object in std::iter::once(&mut rendered.workload).chain(auxiliaries) {
            if object.is_object() && !hash.is_empty() {
                object::set_label(object, label::APP_REVISION_HASH, hash);
            }
        }
        rendered.place(at, self.app.namespace());
        Ok(rendered)
    }

    /// Applies a component stage by stage, as far as their health allows, and notes how it is.
    /// `change` is merged into its workload.
    pub(super) async fn deliver(
        &self,
        component: &Component,
        at: &Placed,
        change: Option<&Value>,
    ) -> Result<Applied, Error> {
        let mut rendered = self.render(component, at, None).await?;
        if let Some(change) = change {
            json_patch::merge(&mut rendered.workload, change);
        }
        let mut live = Live::default();
        let early = stage(&rendered, Stage::PreDispatch);
        if !early.is_empty() {
            self.send_part(&rendered, early, &at.cluster, &mut live).await?;
            let mut row = self.row(component, &rendered, at);
            self.judge_traits(component, &mut row, &live, Some(Stage::PreDispatch))?;
            if !row.healthy {
                if row.message.is_empty() {
                    row.message = "traits are not healthy".into();
                }
                let applied = applied(&row, &live);
                self.state().note_service(row);
                return Ok(applied);
            }
        }
        let main = stage(&rendered, Stage::DefaultDispatch);
        self.send_part(&rendered, main, &at.cluster, &mut live).await?;
        let mut row = self.row(component, &rendered, at);
        self.judge_workload(component, &mut row, &live)?;
        if row.workload_healthy && self.has_late_traits(component) {
            let status = live.workload.get("status").cloned().unwrap_or_else(|| json!({}));
            let rendered = self.render(component, at, Some(status)).await?;
            let late = stage(&rendered, Stage::PostDispatch);
            self.send_part(&rendered, late, &at.cluster, &mut live).await?;
        }
        self.judge_traits(component, &mut row, &live, None)?;
        let applied = applied(&row, &live);
        self.state().note_service(row);
        Ok(applied)
    }

    /// Sends objects of a component and sorts what is live of them.
    async fn send_part(
        &self,
        rendered: &Rendered,
        objects: Vec<Value>,
        cluster: &str,
        live: &mut Live,
    ) -> Result<(), Error> {
        let workload = ObjectRef::of(&rendered.workload, cluster);
        for found in self.send(objects.clone(), cluster, "workflow").await? {
            let mut at = ObjectRef::of(&found, cluster);
            if at.namespace.is_empty() {
                at.namespace.clone_from(&workload.namespace);
            }
            if at == workload {
                live.workload = found;
                continue;
            }
            // What the API server sends back has all labels: those of rendering among them.
            let text = |key| object::label(&found, key).unwrap_or_default().to_owned();
            live.auxiliaries.push((text(label::TRAIT_TYPE), text(label::TRAIT_RESOURCE), found));
        }
        Ok(())
    }

    fn has_late_traits(&self, component: &Component) -> bool {
        component.traits.iter().any(|it| self.stage_of(&it.r#type) == Stage::PostDispatch)
    }

    fn stage_of(&self, r#type: &str) -> Stage {
        let found = self.definition(DefinitionKind::Trait, r#type);
        found.map_or(Stage::DefaultDispatch, Definition::stage)
    }

    fn definition(&self, kind: DefinitionKind, r#type: &str) -> Option<&Definition> {
        self.definitions.get(kind, r#type, self.app.namespace(), Versions::Exact)
    }

    fn row(&self, component: &Component, rendered: &Rendered, at: &Placed) -> ServiceStatus {
        let namespace = object::namespace(&rendered.workload);
        let namespace = if namespace.is_empty() { self.app.namespace() } else { namespace };
        self.fresh_row(component, &at.cluster, namespace)
    }

    fn fresh_row(&self, component: &Component, cluster: &str, namespace: &str) -> ServiceStatus {
        let kind = self
            .definition(DefinitionKind::Component, &component.r#type)
            .and_then(|it| it.spec.workload.as_ref())
            .map(|it| serde_json::to_value(it).unwrap_or_default()["definition"].clone());
        ServiceStatus {
            name: component.name.clone(),
            namespace: namespace.to_owned(),
            cluster: cluster.to_owned(),
            healthy: true,
            workload_healthy: true,
            workload_definition: kind
                .and_then(|it| serde_json::from_value(it).ok())
                .or_else(|| Some(Default::default())),
            ..ServiceStatus::default()
        }
    }

    /// Health, message and details of the workload. A workload that a trait manages, or that there
    /// is none of, is nobody's sorrow.
    fn judge_workload(
        &self,
        component: &Component,
        row: &mut ServiceStatus,
        live: &Live,
    ) -> Result<(), Error> {
        if live.workload.is_null() {
            return Ok(());
        }
        let definition = self.definition(DefinitionKind::Component, &component.r#type);
        let outputs = || live.outputs(None);
        let given = component.properties.as_ref();
        let found = self.health(definition, component, &row.cluster, live, outputs, given)?;
        row.workload_healthy = found.healthy;
        row.healthy = found.healthy;
        row.message = found.message;
        row.details = found.details.unwrap_or_default();
        Ok(())
    }

    /// Rows of the traits, of all stages or of one.
    fn judge_traits(
        &self,
        component: &Component,
        row: &mut ServiceStatus,
        live: &Live,
        only: Option<Stage>,
    ) -> Result<(), Error> {
        for it in &component.traits {
            let definition = self.definition(DefinitionKind::Trait, &it.r#type);
            let stage = self.stage_of(&it.r#type);
            if only.is_some_and(|only| only != stage) {
                continue;
            }
            if stage == Stage::PostDispatch && !row.workload_healthy {
                row.traits.push(TraitStatus {
                    r#type: it.r#type.clone(),
                    pending: true,
                    message: PENDING.into(),
                    ..TraitStatus::default()
                });
                continue;
            }
            let outputs = || live.outputs(Some(&label_type(&it.r#type)));
            let given = it.properties.as_ref();
            let found = self.health(definition, component, &row.cluster, live, outputs, given)?;
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
        Ok(())
    }

    /// What the texts of a definition say of what is live, and of those `outputs` of it that they see.
    fn health(
        &self,
        definition: Option<&Definition>,
        component: &Component,
        cluster: &str,
        live: &Live,
        outputs: impl FnOnce() -> Map<String, Value>,
        parameter: Option<&Value>,
    ) -> Result<health::Health, Error> {
        let texts = definition.and_then(|it| it.spec.status.as_ref());
        let Some(texts) = texts.filter(|it| !it.say_nothing()) else {
            return Ok(health::Health { healthy: true, ..health::Health::default() });
        };
        let mut context = self.context.to_json(Some(component), "");
        context.insert("cluster".into(), cluster.into());
        context.insert("output".into(), live.workload.clone());
        context.insert("outputs".into(), Value::Object(outputs()));
        health::evaluate(self.templates, texts, &context, parameter)
            .map_err(|error| Error::Unavailable(error.to_string()))
    }

    /// Looks again at every component that was delivered; true if all are healthy. Nothing is
    /// rendered for that: the trackers say what each consists of.
    ///
    /// # Errors
    /// As a read failed.
    pub async fn observe(&self, components: &[Component]) -> Result<bool, Error> {
        let rows = self.state().services.clone();
        let mut all = true;
        for old in &rows {
            let Some(component) = components.iter().find(|it| it.name == old.name) else {
                continue;
            };
            let mut row = self.fresh_row(component, &old.cluster, &old.namespace);
            let live = match self.live_of(old, &rows).await {
                // Another cluster that does not answer makes only what is on it unknown.
                Err(Error::Unavailable(text)) if !is_local(&old.cluster) => {
                    (row.healthy, row.workload_healthy, row.message) = (false, false, text);
                    row.traits.clone_from(&old.traits);
                    self.state().note_service(row);
                    all = false;
                    continue;
                }
                live => live?,
            };
            self.judge_workload(component, &mut row, &live)?;
            if row.workload_healthy && old.traits.iter().any(|it| it.pending) {
                let at = Placed { cluster: old.cluster.clone(), namespace: old.namespace.clone() };
                all &= self.deliver(component, &at, None).await?.waiting.is_none();
                continue;
            }
            self.judge_traits(component, &mut row, &live, None)?;
            all &= row.healthy;
            self.state().note_service(row);
        }
        Ok(all)
    }

    /// What is live of a component, by what the trackers say.
    async fn live_of(&self, row: &ServiceStatus, rows: &[ServiceStatus]) -> Result<Live, Error> {
        let places = rows.iter().filter(|it| it.name == row.name).count();
        let here = |it: &&ManagedResource| {
            it.component == row.name
                && (places == 1 || it.cluster == row.cluster && it.namespace == row.namespace)
        };
        let own: Vec<ManagedResource> =
            self.state().trackers.wanted().filter(here).cloned().collect();
        let mut live = Live::default();
        for resource in own {
            let known = self.state().seen(&resource);
            let found = match known {
                Some(found) => found,
                None => self.objects.get(&place(&resource)).await?.unwrap_or_else(|| json!({})),
            };
            let raw = resource.raw.as_ref().unwrap_or(&Value::Null);
            if object::label(raw, label::RESOURCE_TYPE) == Some(RESOURCE_WORKLOAD) {
                live.workload = found;
                continue;
            }
            let key = object::label(raw, label::TRAIT_RESOURCE).unwrap_or_default().to_owned();
            live.auxiliaries.push((resource.r#trait, key, found));
        }
        Ok(live)
    }
}

/// Objects of one stage.
fn stage(rendered: &Rendered, stage: Stage) -> Vec<Value> {
    rendered.objects().filter(|it| it.0 == stage).map(|it| it.1.clone()).collect()
}

fn applied(row: &ServiceStatus, live: &Live) -> Applied {
    let waiting = (!row.healthy).then(|| {
        if row.message.is_empty() {
            "wait healthy".to_owned()
        } else {
            format!("wait healthy: {}", row.message)
        }
    });
    Applied { output: live.workload.clone(), outputs: Value::Object(live.outputs(None)), waiting }
}
