//! Provider and `#do` to what is done: the one table of actions (kubevela.md 4.11, W-59).
//!
//! ~~~text
//! Action (path, provider, #do, JSON) ─ find ─▶ Deed ─ act ─▶ World, Host ─▶ Done
//! ~~~
//! Every deed is reached in two forms: its own provider with `$params` and `$returns`, and `op` with
//! everything flat on the field. `Asked` hides the difference.

mod application; // components, policies, places of the owner
mod charts; // charts and kustomizations
mod clock; // dates and seconds since 1970
mod configuration; // configurations kept as Secrets
mod control; // waiting, suspending, ending, variables
mod git; // repositories
mod golayout; // Go's way to write a date's form
mod mail; // sending mails
mod object; // objects of a cluster
pub(super) mod operator; // steps that operators carry out
mod patching; // laying patches over objects
mod prometheus; // measurements and how long they held
mod query; // questions about what an Application made
mod registry; // charts of OCI registries
pub mod rendering; // actions of components and traits
mod web; // HTTP

use std::pin::Pin;

use cue_session::{Action, Runtime, Session};
use serde_json::Value;

use super::variables::Variables;
use crate::api::names::cluster_name;
use crate::world::{Apply, Call, Error, ObjectRef, World};

/// Nothing comes of it but what it spares later.
pub type Foreseen<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What an owner of a workflow does for its steps: components and policies are its own business.
pub trait Host: Send + Sync {
    /// Namespace for objects that say none.
    fn namespace(&self) -> &str;
    /// The Application's name, or the run's.
    fn name(&self) -> &str {
        ""
    }
    /// Waits until what the owner records of itself is there: actions may read it, and what they do cannot
    /// be undone.
    fn ready(&self) -> Call<'_, ()> {
        Box::pin(async { Ok(()) })
    }
    /// The ConfigMap, still without data, that shows what the template of the step of this id has
    /// become; only for owners that are being debugged.
    fn debug_object(&self, _step_id: &str) -> Option<Value> {
        None
    }
    /// Whether steps give parts of an Application, as `application`: those before rendering do (W-14).
    fn takes_parts(&self) -> bool {
        false
    }
    /// Objects that are about to be dispatched one after the other, with their clusters: they may be recorded
    /// together.
    fn foresee(&self, _objects: Vec<(Value, String)>) -> Foreseen<'_> {
        Box::pin(async {})
    }
    /// Records and applies objects as the owner's.
    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>>;
    /// The manifest that was recorded for an object, if it is the owner's.
    fn recorded(&self, _at: &ObjectRef) -> Option<Value> {
        None
    }
    /// The object is deleted on purpose: it is not to be made again.
    fn forget<'a>(&'a self, _at: &'a ObjectRef) -> Call<'a, ()> {
        Box::pin(async { Ok(()) })
    }
    /// Renders, applies and checks a component.
    fn apply_component<'a>(
        &'a self,
        component: &'a Value,
        cluster: &'a str,
        namespace: &'a str,
    ) -> Call<'a, Applied>;
    /// The same with a merge patch on its workload.
    fn apply_changed<'a>(
        &'a self,
        _component: &'a Value,
        _cluster: &'a str,
        _namespace: &'a str,
        _change: &'a Value,
    ) -> Call<'a, Applied> {
        Box::pin(async { Err(Error::Invalid("components cannot be applied here".into())) })
    }
    /// Renders a component without applying it.
    fn render_component<'a>(
        &'a self,
        _component: &'a Value,
        _cluster: &'a str,
        _namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async { Err(Error::Invalid("components cannot be rendered here".into())) })
    }
    /// Delivers components as policies say, so many at once; what it waits for.
    fn deploy<'a>(
        &'a self,
        policies: Vec<String>,
        inline: Value,
        parallelism: usize,
    ) -> Call<'a, Option<String>>;
    /// Cluster and namespace of every place that topology policies select.
    fn placements(&self, _policies: &[String]) -> Call<'_, Vec<(String, String)>> {
        Box::pin(async { Err(Error::Invalid("there are no policies here".into())) })
    }
    /// Components by name, and in order.
    fn components(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
    /// Names of the components that Terraform makes.
    fn terraform_components(&self) -> Vec<String> {
        Vec::new()
    }
    /// Policies by name.
    fn policies(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
}

/// A component that was applied or rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Its workload.
    pub output: Value,
    /// Its auxiliary objects by name.
    pub outputs: Value,
    /// What it waits for, if it is not healthy.
    pub waiting: Option<String>,
}

/// What an action came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// Fill this and go on.
    Returns(Value),
    /// Nothing to fill.
    Nothing,
    /// Fill this; the step waits, further actions are still carried out.
    Pending(Value, String),
    /// The step waits.
    Wait(String),
    /// The step suspends, for so many seconds if said.
    Suspend(Option<chrono::Duration>, String),
    /// The workflow ends here without an error.
    Break(String),
    /// The step fails for good.
    Fail(String),
    /// The step has something to say.
    Message(String),
}

/// Why an action could not be carried out: an error that is retried.
pub type Trouble = String;

/// What actions act with.
pub struct Acting<'a> {
    /// Effects.
    pub world: &'a dyn World,
    /// The owner.
    pub host: &'a dyn Host,
    /// The interpreter, for texts that are CUE themselves.
    pub runtime: &'a dyn Runtime,
    /// The step's template as it has become; patches are read from it, with their comments.
    pub session: &'a mut Session,
    /// The run's variables and marks.
    pub variables: &'a mut Variables,
    /// Name of the step.
    pub step: &'a str,
}

/// One thing that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Wait,
    Suspend,
    Break,
    Fail,
    Message,
    Variable,
    Export,
    Log,
    Nothing,
    Apply,
    ApplyInParallel,
    Patch,
    Read,
    List,
    Delete,
    PatchObject,
    Http,
    Mail,
    Prometheus,
    ToText,
    ToTimestamp,
    ToDate,
    CreateConfig,
    ReadConfig,
    ListConfigs,
    DeleteConfig,
    ApplyComponent,
    RenderComponent,
    LoadComponents,
    LoadInOrder,
    LoadPolicies,
    Deploy,
    ListClusters,
    Placements,
    Decisions,
    PatchApplication,
    TerraformComponents,
    Connection,
    Query(query::Question),
    RenderChart,
    BuildKustomization,
    PushFiles,
}

/// Provider, the `#do` of its own form, the `#do` under `op` (empty if there is none), the deed.
const TABLE: &[(&str, &str, &str, Deed)] = &[
    ("builtin", "wait", "wait", Deed::Wait),
    ("builtin", "suspend", "suspend", Deed::Suspend),
    ("builtin", "break", "break", Deed::Break),
    ("builtin", "fail", "fail", Deed::Fail),
    ("builtin", "message", "message", Deed::Message),
    ("builtin", "var", "var", Deed::Variable),
    ("builtin", "export", "export", Deed::Export),
    ("builtin", "steps", "steps", Deed::Nothing),
    ("kube", "apply", "apply", Deed::Apply),
    ("kube", "apply-in-parallel", "apply-in-parallel", Deed::ApplyInParallel),
    ("kube", "patch", "patch", Deed::Patch),
    ("kube", "read", "read", Deed::Read),
    ("kube", "list", "list", Deed::List),
    ("kube", "delete", "delete", Deed::Delete),
    ("http", "do", "do", Deed::Http),
    ("http", "http", "http", Deed::Http),
    ("http", "get", "get", Deed::Http),
    ("http", "post", "post", Deed::Http),
    ("http", "put", "put", Deed::Http),
    ("email", "send", "send", Deed::Mail),
    ("metrics", "promCheck", "promCheck", Deed::Prometheus),
    ("util", "patch-k8s-object", "patch-k8s-object", Deed::PatchObject),
    ("util", "string", "string", Deed::ToText),
    ("util", "log", "log", Deed::Log),
    ("time", "timestamp", "timestamp", Deed::ToTimestamp),
    ("time", "date", "date", Deed::ToDate),
    ("config", "create", "create-config", Deed::CreateConfig),
    ("config", "read", "read-config", Deed::ReadConfig),
    ("config", "list", "list-config", Deed::ListConfigs),
    ("config", "delete", "delete-config", Deed::DeleteConfig),
    ("oam", "component-apply", "component-apply", Deed::ApplyComponent),
    ("oam", "component-render", "component-render", Deed::RenderComponent),
    ("oam", "load", "load", Deed::LoadComponents),
    ("oam", "load-comps-in-order", "load-comps-in-order", Deed::LoadInOrder),
    ("oam", "load-policies", "load-policies", Deed::LoadPolicies),
    ("multicluster", "deploy", "deploy", Deed::Deploy),
    ("multicluster", "list-clusters", "list-clusters", Deed::ListClusters),
    (
        "multicluster",
        "get-placements-from-topology-policies",
        "get-placements-from-topology-policies",
        Deed::Placements,
    ),
    ("multicluster", "make-placement-decisions", "make-placement-decisions", Deed::Decisions),
    ("multicluster", "patch-application", "patch-application", Deed::PatchApplication),
    (
        "terraform",
        "load-terraform-components",
        "load-terraform-components",
        Deed::TerraformComponents,
    ),
    ("terraform", "get-connection-status", "get-connection-status", Deed::Connection),
    ("query", "listResourcesInApp", "", Deed::Query(query::Question::Resources)),
    ("query", "listAppliedResources", "", Deed::Query(query::Question::Applied)),
    ("query", "getApplicationTree", "", Deed::Query(query::Question::Tree)),
    ("query", "collectPods", "", Deed::Query(query::Question::Pods)),
    ("query", "collectServices", "", Deed::Query(query::Question::Services)),
    ("query", "collectServiceEndpoints", "", Deed::Query(query::Question::Endpoints)),
    ("query", "searchEvents", "", Deed::Query(query::Question::Events)),
    ("query", "collectLogsInPod", "", Deed::Query(query::Question::Logs)),
    ("ql", "read", "", Deed::Read),
    ("ql", "list", "", Deed::List),
    ("helm", "render", "", Deed::RenderChart),
    ("kustomize", "build", "", Deed::BuildKustomization),
    ("git", "push", "", Deed::PushFiles),
];

impl Deed {
    /// Whether nothing is asked of anybody for it, or nothing before the owner is ready.
    fn is_at_home(self) -> bool {
        matches!(
            self,
            Self::Wait
                | Self::Suspend
                | Self::Break
                | Self::Fail
                | Self::Message
                | Self::Variable
                | Self::Export
                | Self::Log
                | Self::Nothing
                | Self::Apply
                | Self::ApplyInParallel
                | Self::PatchObject
                | Self::ToText
                | Self::ToTimestamp
                | Self::ToDate
                | Self::ApplyComponent
                | Self::RenderComponent
                | Self::LoadComponents
                | Self::LoadInOrder
                | Self::LoadPolicies
                | Self::Deploy
        )
    }
}

fn find(provider: &str, verb: &str) -> Option<Deed> {
    let legacy = matches!(provider, "op" | "");
    // `op.#HTTPDelete` and `op.#Delete` were both "delete" once: only the latter is.
    let found = TABLE.iter().find(|(own, of_own, of_op, _)| {
        if legacy {
            !of_op.is_empty() && *of_op == verb
        } else {
            *own == provider && *of_own == verb
        }
    });
    found.map(|it| it.3)
}

/// Whether steps can do this.
pub fn is_known(provider: &str, verb: &str) -> bool {
    find(provider, verb).is_some()
}

/// An action's parameters, whichever form they were given in.
struct Asked<'a> {
    action: &'a Action,
    params: Value,
    flat: bool,
}

impl<'a> Asked<'a> {
    fn new(action: &'a Action) -> Self {
        let mut whole: Value = serde_json::from_str(&action.json).unwrap_or_default();
        let flat = matches!(action.provider.as_str(), "op" | "") || !whole["$params"].is_object();
        let params = if flat { whole } else { whole["$params"].take() };
        Self { action, params, flat }
    }

    fn text(&self, key: &str) -> &str {
        self.params[key].as_str().unwrap_or_default()
    }

    /// Names in a list of names.
    fn names(&self, key: &str) -> Vec<String> {
        let all = self.params[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Where a parameter stands in the template.
    fn path_of(&self, key: &str) -> String {
        let path = &self.action.path;
        let below = if self.flat { key.to_owned() } else { format!("$params.{key}") };
        if path.is_empty() { below } else { format!("{path}.{below}") }
    }
}

/// Carries out one action.
///
/// # Errors
/// What went wrong; the step is tried again.
pub async fn act(action: &Action, with: &mut Acting<'_>) -> Result<Done, Trouble> {
    let (provider, verb) = (action.provider.as_str(), action.verb.as_str());
    let asked = &Asked::new(action);
    let found = find(provider, verb);
    if !found.is_some_and(Deed::is_at_home) {
        with.host.ready().await.map_err(explain)?;
    }
    let Some(deed) = found else {
        let service = with.world.service(provider).filter(|_| !provider.is_empty());
        let service = service.ok_or_else(|| unknown(provider, verb))?;
        let returns = web::serve(&service, verb, &asked.params, with.world).await?;
        return Ok(Done::Returns(returns));
    };
    match deed {
        Deed::Wait => Ok(control::wait(asked)),
        Deed::Suspend => control::suspend(asked),
        Deed::Break => Ok(Done::Break(asked.text("message").into())),
        Deed::Fail => Ok(Done::Fail(asked.text("message").into())),
        Deed::Message => Ok(Done::Message(asked.text("message").into())),
        Deed::Variable => control::variable(asked, with.variables),
        Deed::Export => control::export(asked, with.variables),
        Deed::Log => Ok(control::log(asked, with)),
        Deed::Nothing => Ok(Done::Nothing),
        Deed::Apply => object::apply(asked, with).await,
        Deed::ApplyInParallel => object::apply_in_parallel(asked, with).await,
        Deed::Patch => object::patch(asked, with).await,
        Deed::Read => object::read(asked, with).await,
        Deed::List => object::list(asked, with).await,
        Deed::Delete => object::delete(asked, with).await,
        Deed::PatchObject => Ok(patching::patch_object(asked, with)),
        Deed::Http => web::request(asked, with).await,
        Deed::Mail => mail::send(asked, with).await,
        Deed::Prometheus => prometheus::check(asked, with).await,
        Deed::ToText => control::text_of_bytes(asked),
        Deed::ToTimestamp => clock::timestamp(asked),
        Deed::ToDate => clock::date(asked),
        Deed::CreateConfig => configuration::create(asked, with).await,
        Deed::ReadConfig => configuration::read(asked, with).await,
        Deed::ListConfigs => configuration::list(asked, with).await,
        Deed::DeleteConfig => configuration::delete(asked, with).await,
        Deed::ApplyComponent => application::apply(asked, with).await,
        Deed::RenderComponent => application::render(asked, with).await,
        Deed::LoadComponents => application::load(asked, with).await,
        Deed::LoadInOrder => application::load_in_order(asked, with).await,
        Deed::LoadPolicies => application::load_policies(asked, with).await,
        Deed::Deploy => application::deploy(asked, with).await,
        Deed::ListClusters => application::list_clusters(with).await,
        Deed::Placements => application::placements(asked, with).await,
        Deed::Decisions => application::decisions(asked, with).await,
        Deed::PatchApplication => application::patch_application(asked, with),
        Deed::TerraformComponents => Ok(application::terraform_components(with)),
        Deed::Connection => application::connection(asked, with).await,
        Deed::Query(question) => query::answer(question, asked, with).await,
        Deed::RenderChart => charts::render(asked, with).await,
        Deed::BuildKustomization => charts::build(asked, with).await,
        Deed::PushFiles => git::push(asked, with).await,
    }
}

/// The object that an action applies as it is, and to which cluster, if that is what it does.
pub(super) async fn intended(
    action: &Action,
    world: &dyn World,
    host: &dyn Host,
) -> Option<(Value, String)> {
    let deed = find(&action.provider, &action.verb)?;
    if deed != Deed::Apply {
        return None;
    }
    object::intended(&Asked::new(action), world, host).await
}

/// In the words of the official engine (E-130).
fn unknown(provider: &str, verb: &str) -> String {
    let known = TABLE.iter().any(|it| it.0 == provider) || provider == "op";
    if known {
        format!("function {verb} not found in provider {provider}")
    } else {
        format!("provider {provider} not found")
    }
}

fn explain(error: Error) -> String {
    error.to_string()
}

/// A label selector of labels that must be equal.
fn selector(labels: &Value) -> String {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    pairs.collect::<Vec<_>>().join(",")
}

/// Applies without owning: for objects that only the workflow itself has (its context).
pub async fn apply_plain(world: &dyn World, object: &Value) -> Result<Value, Trouble> {
    world.apply(object, "", Apply::FORCED).await.map_err(explain)
}
