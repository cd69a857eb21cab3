//! Which cluster a command means, and the runtime for CUE.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use http::Method;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use cue_host::{Options, SandboxRuntime};

use lateen_controller::connection::Client;
use lateen_controller::install::Bundle;
use lateen_controller::lease::Term;
use lateen_controller::observe::Metrics;
use lateen_controller::rest::{self, ActAs};
use lateen_controller::run;

use crate::embedded::{self, Embedded};
use crate::exit::{Exit, Refusal};

/// Flags that choose a cluster.
#[derive(Clone, Debug, Args)]
pub struct TargetArgs {
    /// Use the cluster of this kubeconfig file.
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Use this context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Namespace of the Applications.
    #[arg(short, long, global = true, value_name = "NAME")]
    pub namespace: Option<String>,
}

impl TargetArgs {
    /// The flags that choose the same cluster again.
    pub fn flags(&self) -> Vec<String> {
        let kubeconfig = self.kubeconfig.as_ref().map(|it| it.display().to_string());
        let named = [("--kubeconfig", kubeconfig), ("--context", self.context.clone())];
        let chosen = named.into_iter().filter_map(|(flag, value)| Some([flag.into(), value?]));
        chosen.flatten().collect()
    }
}

/// A cluster that can be asked.
pub struct Cluster {
    /// Its client.
    pub client: Client,
    /// Namespace to use where none is said.
    pub namespace: String,
    /// The plane, if it is in this process.
    pub embedded: Option<Embedded>,
}

impl Cluster {
    /// Runs the controller beside a plane that is in this process; other clusters have their own.
    pub fn drive(&self, runtime: SandboxRuntime) {
        let Some(plane) = &self.embedded else { return };
        tokio::spawn(run::run(
            self.client.clone(),
            Arc::new(runtime),
            Arc::new(Metrics::default()),
            run::Options::default(),
            plane.stop.clone(),
        ));
    }
}

impl TargetArgs {
    /// Whether a real cluster was chosen, by a flag or by running inside one.
    pub fn is_chosen(&self) -> bool {
        self.kubeconfig.is_some()
            || self.context.is_some()
            || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
    }

    /// The cluster to ask: the chosen one, or the embedded plane: the one in the background if it
    /// runs, else its state opened in this process.
    pub async fn reach(&self) -> anyhow::Result<Cluster> {
        if self.is_chosen() {
            return self.answering().await;
        }
        let kubeconfig = embedded::kubeconfig();
        if kubeconfig.exists() {
            let background = TargetArgs { kubeconfig: Some(kubeconfig), ..self.clone() };
            return background.answering().await;
        }
        let plane = Embedded::open(&embedded::Options {
            state: Some(directories().data.join("plane.redb")),
            controllers: true,
            pods: true,
            address: ([127, 0, 0, 1], 16443).into(),
        })?;
        let namespace = self.namespace.clone().unwrap_or_else(|| "default".into());
        let client = plane.client(&namespace);
        Ok(Cluster { client, namespace, embedded: Some(plane) })
    }

    /// The chosen cluster, which must answer: the error names its address.
    async fn answering(&self) -> anyhow::Result<Cluster> {
        let url = self.config().await.map_err(unreachable)?.cluster_url;
        let cluster = self.cluster().await?;
        match rest::send(&cluster.client, Method::GET, "/version", None, &ActAs::default()).await {
            Err(rest::Error::Unreachable(error)) => {
                let text = format!("the Kubernetes API at {url} cannot be reached: {error}");
                Err(Refusal::new(Exit::NoAnswer, text).into())
            }
            // What it does answer is for the command to judge.
            Ok(_) | Err(_) => Ok(cluster),
        }
    }

    /// The chosen cluster.
    pub async fn cluster(&self) -> anyhow::Result<Cluster> {
        self.cluster_during(Term::endless()).await
    }

    /// The chosen cluster, to which nothing is sent once `term` is over.
    pub async fn cluster_during(&self, term: Term) -> anyhow::Result<Cluster> {
        let config = self.config().await.map_err(unreachable)?;
        let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let client = Client::open(config, term).map_err(|error| unreachable(error.into()))?;
        Ok(Cluster { client, namespace, embedded: None })
    }

    async fn config(&self) -> anyhow::Result<Config> {
        let options =
            KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        if let Some(file) = &self.kubeconfig {
            let kubeconfig = Kubeconfig::read_from(file)
                .with_context(|| format!("kubeconfig {}", file.display()))?;
            return Ok(Config::from_custom_kubeconfig(kubeconfig, &options).await?);
        }
        if self.context.is_some() {
            return Ok(Config::from_kubeconfig(&options).await?);
        }
        Ok(Config::infer().await?)
    }
}

fn unreachable(error: anyhow::Error) -> anyhow::Error {
    Refusal::new(Exit::NoAnswer, format!("no cluster to use: {error:#}")).into()
}

/// The hidden command that compiles the interpreter.
pub const COMPILE: &str = "compile-interpreter";

/// The sandboxed CUE runtime, its compiled module cached for this user.
pub fn cue_runtime() -> anyhow::Result<SandboxRuntime> {
    let warm = std::thread::available_parallelism().map_or(2, usize::from);
    let cache = directories().cache;
    if !cue_host::is_compiled(&cache) {
        compile_apart();
    }
    let options = Options { cache: Some(cache), warm, memory: cue_host::MEMORY };
    Ok(SandboxRuntime::new(options)?)
}

/// Compiles the interpreter in a process of its own: it takes twice the memory of all else, once.
/// Where that cannot be, this process compiles it when it needs it.
fn compile_apart() {
    let Ok(program) = std::env::current_exe() else { return };
    let mut child = std::process::Command::new(program);
    child.arg(COMPILE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = child.status() {
        tracing::debug!(%error, "the interpreter is compiled in this process");
    }
}

/// Where lateen keeps things of this user.
pub struct Directories {
    /// What can be made again.
    pub cache: PathBuf,
    /// The embedded plane's state.
    pub data: PathBuf,
}

/// `$LATEEN_HOME`, or else what the XDG base directories say.
pub fn directories() -> Directories {
    let env = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    if let Some(home) = env("LATEEN_HOME") {
        return Directories { cache: home.join("cache"), data: home };
    }
    let home = env("HOME").unwrap_or_else(std::env::temp_dir);
    let cache = env("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")).join("lateen");
    let data = env("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")).join("lateen");
    Directories { cache, data }
}

/// Everything that Lateen installs.
pub fn bundle(runtime: &SandboxRuntime) -> anyhow::Result<Bundle> {
    let mut objects = Vec::new();
    for definition in lateen_definitions::definitions() {
        let mut object = lateen_engine::authoring::render(runtime, definition.source)
            .map_err(|error| anyhow::anyhow!("definition {}: {error}", definition.name))?;
        object["metadata"]["namespace"] = lateen_engine::api::SYSTEM_NAMESPACE.into();
        objects.push(object);
    }
    let namespace = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": lateen_engine::api::SYSTEM_NAMESPACE},
    });
    Ok(Bundle { crds: lateen_engine::api::crds(), namespaces: vec![namespace], objects })
}
