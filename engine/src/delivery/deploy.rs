//! `deploy`: components as policies change them, to every place they name (E-89, E-124).

use std::collections::{BTreeMap, HashMap};

use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::Delivery;
use crate::api::names::{LOCAL_CLUSTER, is_local, label};
use crate::api::{AppPolicy, Component, SYSTEM_NAMESPACE, object};
use crate::policy::placement::{self, Cluster, Namespaces, Placement};
use crate::render::Placed;
use crate::workflow::actions::Applied;
use crate::workflow::variables::set_at;
use crate::world::{Call, Error, ObjectRef};

/// A component on its way to a place.
struct Task<'c> {
    component: &'c Component,
    place: &'c Placement,
}

impl Task<'_> {
    /// `<cluster>/<namespace>/<replica>/<component>`
    fn key(&self) -> String {
        self.key_of(&self.component.name)
    }

    fn key_of(&self, component: &str) -> String {
        format!(
            "{}/{}/{}/{component}",
            self.place.cluster, self.place.namespace, self.component.replica_key
        )
    }
}

impl Delivery<'_> {
    /// Delivers; what is still waited for, if anything.
    pub(super) async fn deploy_by(
        &self,
        names: Vec<String>,
        inline: Value,
        parallelism: usize,
    ) -> Result<Option<String>, Error> {
        let inline: Vec<AppPolicy> = match inline {
            Value::Null => Vec::new(),
            given => serde_json::from_value(given)
                .map_err(|error| Error::Invalid(format!("inlinePolicies: {error}")))?,
        };
        let picked = placement::pick(&self.app.spec.policies, &names, &inline).map_err(refused)?;
        let clusters = self.clusters(&picked).await?;
        let wanted = placement::deployment(
            &self.app.spec.components,
            &picked,
            &clusters,
            self.app.namespace(),
            self.namespaces(),
        )
        .map_err(refused)?;
        let tasks: Vec<Task<'_>> = wanted
            .components
            .iter()
            .flat_map(|component| wanted.placements.iter().map(move |place| (component, place)))
            .map(|(component, place)| Task { component, place })
            .collect();
        self.run(&tasks, parallelism.max(1)).await
    }

    /// Where topologies may point.
    fn namespaces(&self) -> Namespaces {
        if self.admission.cross_namespace { Namespaces::Any } else { Namespaces::Own }
    }

    /// Clusters and namespaces that policies name.
    pub(super) async fn places(
        &self,
        policies: Vec<String>,
    ) -> Result<Vec<(String, String)>, Error> {
        let picked = placement::pick(&self.app.spec.policies, &policies, &[]).map_err(refused)?;
        let clusters = self.clusters(&picked).await?;
        let home = self.app.namespace();
        let found =
            placement::placements(&picked, &clusters, home, self.namespaces()).map_err(refused)?;
        Ok(found.into_iter().map(|it| (it.cluster, it.namespace)).collect())
    }

    /// Rounds: what became ready by those before it, until nothing new does.
    async fn run(&self, tasks: &[Task<'_>], parallelism: usize) -> Result<Option<String>, Error> {
        let mut outputs: HashMap<String, Value> = HashMap::new();
        let mut state: BTreeMap<usize, bool> = BTreeMap::new();
        let mut wrong = Vec::new();
        // A cluster that does not answer now may do so later: it is waited for, not given up, and
        // holds up only what goes there.
        let mut silent = Vec::new();
        loop {
            let ready: Vec<(usize, Component)> = tasks
                .iter()
                .enumerate()
                .filter(|(index, _)| !state.contains_key(index))
                .filter_map(|(index, task)| Some((index, given(task, tasks, &state, &outputs)?)))
                .collect();
            if ready.is_empty() {
                break;
            }
            let mut calls: Vec<Call<'_, Applied>> = Vec::with_capacity(ready.len());
            for (index, component) in &ready {
                let Placement { cluster, namespace, .. } = tasks[*index].place;
                let at = Placed { cluster: cluster.clone(), namespace: namespace.clone() };
                calls.push(Box::pin(async move { self.deliver(component, &at, None).await }));
            }
            let results: Vec<_> = stream::iter(calls).buffered(parallelism).collect().await;
            for ((index, _), result) in ready.iter().zip(results) {
                let index = *index;
                let task = &tasks[index];
                match result {
                    Ok(applied) => {
                        let healthy = applied.waiting.is_none();
                        state.insert(index, healthy);
                        if healthy {
                            publish(task, &applied, &mut outputs)?;
                        }
                    }
                    Err(error) => {
                        state.insert(index, false);
                        match task.place.cluster.as_str() {
                            cluster if is_local(cluster) => wrong.push(error.to_string()),
                            cluster => {
                                let text =
                                    format!("error encountered in cluster {cluster}: {error}");
                                match error {
                                    Error::Unavailable(_) => silent.push(text),
                                    _ => wrong.push(text),
                                }
                            }
                        }
                    }
                }
            }
        }
        match wrong.len() {
            0 => {}
            1 => return Err(Error::Invalid(wrong.remove(0))),
            count => {
                let all: Vec<String> = wrong.iter().map(|it| format!("({it})")).collect();
                let text = format!("Found {count} errors. [{}]", all.join(", "));
                return Err(Error::Invalid(text));
            }
        }
        let waiting =
            tasks.iter().enumerate().filter_map(|(index, task)| match state.get(&index) {
                Some(true) => None,
                Some(false) => Some(format!("{} is not healthy", task.key())),
                None => Some(format!("{} is waiting dependents", task.key())),
            });
        let waiting: Vec<String> = waiting.chain(silent).collect();
        Ok((!waiting.is_empty()).then(|| waiting.join(",")))
    }

    /// The clusters that policies can name: this one, and those whose credentials are stored here.
    async fn clusters(&self, policies: &[AppPolicy]) -> Result<Vec<Cluster>, Error> {
        let own = Cluster { name: LOCAL_CLUSTER.into(), labels: Default::default() };
        let elsewhere = policies.iter().filter(|it| it.r#type == "topology").any(|it| {
            let properties = it.properties.as_ref().unwrap_or(&Value::Null);
            let named = properties["clusters"].as_array();
            ["clusterLabelSelector", "clusterSelector"].iter().any(|key| !properties[key].is_null())
                || named.is_some_and(|all| all.iter().any(|it| it != LOCAL_CLUSTER))
        });
        if !elsewhere {
            return Ok(vec![own]);
        }
        let of = ObjectRef::local("v1", "Secret", SYSTEM_NAMESPACE, "");
        let found = self.world.list(&of, label::CLUSTER_CREDENTIAL).await?;
        let joined = found.iter().map(|it| Cluster {
            name: object::name(it).to_owned(),
            labels: serde_json::from_value(it["metadata"]["labels"].clone()).unwrap_or_default(),
        });
        Ok(std::iter::once(own).chain(joined).collect())
    }
}

fn refused(error: crate::policy::Error) -> Error {
    Error::Invalid(error.to_string())
}

/// The component with its inputs, if those it depends on are healthy and have given them.
fn given(
    task: &Task<'_>,
    tasks: &[Task<'_>],
    state: &BTreeMap<usize, bool>,
    outputs: &HashMap<String, Value>,
) -> Option<Component> {
    let healthy = |name: &str| {
        let key = task.key_of(name);
        let plain = format!("{}/{}//{name}", task.place.cluster, task.place.namespace);
        let mut all = tasks.iter().enumerate();
        let found = all.find(|(_, it)| it.key() == key || it.key() == plain);
        found.is_none_or(|(index, _)| state.get(&index) == Some(&true))
    };
    if !task.component.depends_on.iter().all(|it| healthy(it)) {
        return None;
    }
    let mut component = task.component.clone();
    for input in std::mem::take(&mut component.inputs) {
        let (cluster, namespace) = (&task.place.cluster, &task.place.namespace);
        let plain = format!("{cluster}/{namespace}//{}", input.from);
        let found = outputs.get(&task.key_of(&input.from)).or_else(|| outputs.get(&plain));
        let value = found?.clone();
        if !input.parameter_key.is_empty() {
            let properties = component.properties.get_or_insert_with(|| json!({}));
            let key = input.parameter_key.trim_start_matches("properties.");
            set_at(properties, key, value);
        }
    }
    component.outputs.clear();
    Some(component)
}

/// What a healthy component gives to others.
fn publish(
    task: &Task<'_>,
    applied: &Applied,
    outputs: &mut HashMap<String, Value>,
) -> Result<(), Error> {
    let root = json!({"output": applied.output, "outputs": applied.outputs});
    for output in &task.component.outputs {
        let path: String = output
            .value_from
            .replace('[', ".")
            .replace([']', '"'], "")
            .split('.')
            .map(|it| format!("/{}", it.replace('~', "~0").replace('/', "~1")))
            .collect();
        match root.pointer(&path) {
            Some(value) => {
                outputs.insert(task.key_of(&output.name), value.clone());
            }
            None if output.value_from.starts_with("outputs.") => {}
            None => {
                return Err(Error::Invalid(format!(
                    "get outputs from component {}: failed to lookup value: var(path={}) not exist",
                    task.component.name, output.value_from
                )));
            }
        }
    }
    Ok(())
}
