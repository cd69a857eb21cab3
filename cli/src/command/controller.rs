//! `lateen controller`: the controller, with the official one's flags.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::builder::{OsStr, Resettable};
use clap::{Args as ClapArgs, FromArgMatches as _};
use lateen_controller::git::Trust;
use lateen_controller::lease::{self, Candidate, Election};
use lateen_controller::observe::{self, Metrics};
use lateen_controller::run::{self, Options};
use lateen_engine::settings::{Admission, Gates, Kinds, Settings};
use lateen_engine::workflow::backoff::{Caps, parse_duration};
use tokio_util::sync::CancellationToken;

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::target::cue_runtime;

/// Workers that one thread does for.
const WORKERS_OF_A_THREAD: usize = 8;

/// `lateen controller`
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "\
Flags of the official controller that have no meaning here are accepted with a warning.

Examples:
  lateen controller --kubeconfig ~/.kube/config --leader-elect=false")]
pub struct Args {
    /// Reconciles at once.
    #[arg(long, default_value_t = 4, value_name = "N")]
    concurrent_reconciles: usize,
    /// Revisions kept besides the current one.
    #[arg(long, default_value_t = 2, value_name = "N")]
    application_revision_limit: usize,
    /// How often every Application is looked at though nothing changed.
    #[arg(long, default_value = "5m", value_name = "DURATION")]
    application_re_sync_period: String,
    /// Failures in a row before a step fails for good.
    #[arg(long, default_value_t = 10, value_name = "N")]
    max_workflow_step_error_retry_times: u32,
    /// Longest wait, in seconds, before a waiting workflow is looked at again.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    max_workflow_wait_backoff_time: u32,
    /// Longest wait, in seconds, before a workflow with a failed step is looked at again.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    max_workflow_failed_backoff_time: u32,
    /// Only one controller acts at a time.
    #[arg(long, visible_alias = "enable-leader-election", default_value_t = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true",
        action = clap::ArgAction::Set, value_name = "BOOL")]
    leader_elect: bool,
    /// Namespace of the leader's Lease.
    #[arg(long, default_value = "vela-system", value_name = "NAME")]
    leader_election_namespace: String,
    /// How long others wait for a leader that does not renew its Lease.
    #[arg(long, default_value = "15s", value_name = "DURATION")]
    leader_election_lease_duration: String,
    /// How long the leader acts without having renewed its Lease: less than others wait.
    #[arg(long, default_value = "10s", value_name = "DURATION")]
    leader_election_renew_deadline: String,
    /// How often the leader renews its Lease, and others look.
    #[arg(long, default_value = "2s", value_name = "DURATION")]
    leader_election_retry_period: String,
    /// Address of /healthz and /readyz; empty for none.
    #[arg(long, default_value = "", value_name = "ADDRESS")]
    health_addr: String,
    /// Address of /metrics; empty for none.
    #[arg(long, default_value = "", value_name = "ADDRESS")]
    metrics_addr: String,
    /// Gates, as `Name=true,Other=false`.
    #[arg(long, default_value = "", value_name = "GATES")]
    feature_gates: String,
    /// Revisions of a definition kept besides the current one.
    #[arg(long, default_value_t = 2, value_name = "N")]
    definition_revision_limit: usize,
    /// Objects may be outside the Application's namespace.
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = clap::ArgAction::Set, value_name = "BOOL")]
    allow_cross_namespace_resource: bool,
    /// Git repositories may be folders of this machine (file://): whoever writes Applications can read them then.
    #[arg(long, default_value_t = false, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = clap::ArgAction::Set, value_name = "BOOL")]
    allow_file_repositories: bool,
    /// Kinds that may be delivered: whitelist:KIND.VERSION.GROUP,… or blacklist:…
    #[arg(long, default_value = "", value_name = "LIST")]
    allow_resource_types: String,
    /// How long the deletion of an Application waits for clusters that do not answer; after that, what
    /// is on them is left behind.
    #[arg(long, default_value = "1h", value_name = "DURATION")]
    unreachable_cluster_patience: String,
    /// Write the phase of Applications to `status.phase` too, beside `status.status`
    #[arg(long)]
    mirror_status_phase: bool,
    /// Whom Applications without a user are delivered for, with gate AuthenticateApplication.
    #[arg(long, default_value = "kubevela:vela-core", value_name = "USER")]
    authentication_default_user: String,
    /// Further flags of the official controller.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    others: Vec<String>,
}

impl Args {
    /// Threads for its workers. Workers mostly wait, and threads that look for each other's work cost
    /// more than they bring: of an Application's CPU time a sixth, with two on two cores.
    pub fn threads(&self) -> usize {
        let mut known = self.clone();
        // What is wrong with the flags is told when the command runs.
        let _ = known.take_known();
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        known.concurrent_reconciles.div_ceil(WORKERS_OF_A_THREAD).clamp(1, cores)
    }

    fn election(&self) -> anyhow::Result<Election> {
        let lease =
            duration("--leader-election-lease-duration", &self.leader_election_lease_duration)?;
        let patience =
            duration("--leader-election-renew-deadline", &self.leader_election_renew_deadline)?;
        let retry = duration("--leader-election-retry-period", &self.leader_election_retry_period)?;
        Election {
            namespace: self.leader_election_namespace.clone(),
            name: "lateen".into(),
            identity: lease::identity(&host_name()),
            duration: lease,
            patience,
            retry,
        }
        .checked()
        .map_err(|error| bad_input(format!("leader election: {error}")))
    }

    /// Whatever follows the first flag that is not known ends up in `others`: takes those out of it
    /// that are known after all, and gives back the rest.
    fn take_known(&mut self) -> anyhow::Result<Vec<String>> {
        let command = Self::augment_args_for_update(clap::Command::new("controller"))
            .no_binary_name(true)
            .disable_help_flag(true)
            // What was given before stays.
            .mut_args(|it| it.default_value(Resettable::<OsStr>::Reset));
        let known = |flag: &str| {
            let name = flag.strip_prefix("--")?;
            let name = name.split_once('=').map_or(name, |it| it.0);
            command.get_arguments().find(|it| {
                it.get_long() == Some(name)
                    || it.get_visible_aliases().is_some_and(|all| all.contains(&name))
            })
        };
        let mut again = Vec::new();
        let mut unknown = Vec::new();
        let mut rest = std::mem::take(&mut self.others).into_iter().peekable();
        while let Some(flag) = rest.next() {
            let own = known(&flag);
            // A flag is followed by its value, unless that is in it, or it needs none.
            let alone = flag.contains('=') || own.is_some_and(clap::Arg::is_require_equals_set);
            let value = rest.next_if(|next| !alone && !next.starts_with('-'));
            let to = if own.is_some() { &mut again } else { &mut unknown };
            to.push(flag);
            to.extend(value);
        }
        let mut matches = command.try_get_matches_from(again)?;
        self.update_from_arg_matches_mut(&mut matches)?;
        Ok(unknown)
    }
}

/// Runs the command.
pub async fn run(mut args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    for other in args.take_known()? {
        tracing::warn!(flag = %other, "flag without effect");
    }
    let (gates, unknown) = Gates::read(&args.feature_gates);
    for gate in unknown {
        tracing::warn!(%gate, "gate without effect");
    }
    let kinds = Kinds::read(&args.allow_resource_types)
        .map_err(|error| bad_input(format!("--allow-resource-types: {error}")))?;
    let resync = duration("--application-re-sync-period", &args.application_re_sync_period)?;
    let patience = duration("--unreachable-cluster-patience", &args.unreachable_cluster_patience)?;
    let cluster = cli.target.cluster().await?;
    let metrics = Arc::new(Metrics::default());
    let stop = CancellationToken::new();
    for address in [&args.health_addr, &args.metrics_addr] {
        if let Some(address) = address_of(address)? {
            let (metrics, stop) = (metrics.clone(), stop.clone());
            tokio::spawn(async move {
                if let Err(error) = observe::serve(address, metrics, stop).await {
                    tracing::error!(%error, %address, "not served");
                }
            });
        }
    }
    let options = Options {
        workers: args.concurrent_reconciles,
        resync,
        settings: Settings {
            retries: args.max_workflow_step_error_retry_times,
            caps: Caps {
                wait: args.max_workflow_wait_backoff_time.into(),
                failed: args.max_workflow_failed_backoff_time.into(),
            },
            revision_limit: args.application_revision_limit,
            definition_revision_limit: args.definition_revision_limit,
            admission: Admission { cross_namespace: args.allow_cross_namespace_resource, kinds },
            gates,
            default_user: args.authentication_default_user.clone(),
            cluster_patience: chrono::Duration::from_std(patience).unwrap_or(chrono::Duration::MAX),
            mirror_phase: args.mirror_status_phase,
        },
        namespace: String::new(),
        repositories: if args.allow_file_repositories { Trust::Files } else { Trust::Web },
    };
    let election = args.leader_elect.then(|| args.election()).transpose()?;
    let runtime = Arc::new(cue_runtime()?);
    let running = stop.clone();
    tokio::spawn(async move {
        interrupted().await;
        running.cancel();
    });
    if let Some(election) = election {
        let mut candidate = Candidate::new(cluster.client.clone(), election);
        tokio::select! {
            () = candidate.win() => {}
            () = stop.cancelled() => return Ok(Exit::Done),
        }
        metrics.leading.store(true, Ordering::Relaxed);
        tracing::info!("leading");
        // Renewals have the other client to themselves.
        let acting = cli.target.cluster_during(candidate.term()).await?;
        let finished = tokio::select! {
            () = run::run(acting.client, runtime, metrics, options, stop) => true,
            // Another one may act soon: what is under way ends where it is.
            () = candidate.hold() => false,
        };
        if !finished {
            tracing::error!("the lease was lost");
            return Ok(Exit::NotSo);
        }
        candidate.release().await;
        return Ok(Exit::Done);
    }
    metrics.leading.store(true, Ordering::Relaxed);
    run::run(cluster.client, runtime, metrics, options, stop).await;
    Ok(Exit::Done)
}

fn duration(flag: &str, text: &str) -> anyhow::Result<Duration> {
    parse_duration(text)
        .and_then(|it| it.to_std().ok())
        .ok_or_else(|| bad_input(format!("{flag}: {text:?} is no duration such as 30s or 5m")))
}

fn address_of(text: &str) -> anyhow::Result<Option<SocketAddr>> {
    if text.is_empty() {
        return Ok(None);
    }
    let full = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    full.parse().map(Some).map_err(|_| bad_input(format!("{text:?} is no address such as :9440")))
}

fn host_name() -> String {
    std::env::var("HOSTNAME").unwrap_or_else(|_| "lateen".into())
}

/// Returns on Ctrl-C or SIGTERM.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn known_flags_in_front_stay() {
        for behind in [&[][..], &["--shard-id=one", "--application-revision-limit=7"]] {
            let front =
                ["controller", "--application-re-sync-period=soon", "--concurrent-reconciles=9"];
            let given = [&front, behind].concat();
            let mut args =
                Alone::try_parse_from(given).unwrap_or_else(|error| panic!("{error}")).args;
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            assert_eq!(args.threads(), cores.min(2));
            args.take_known().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(args.application_re_sync_period, "soon");
            assert_eq!(args.concurrent_reconciles, 9);
        }
    }

    #[test]
    fn known_flags_behind_unknown_ones_count() {
        let given = [
            "controller",
            "--system-definition-namespace=vela-system",
            "--application-revision-limit=7",
            "--shard-id",
            "one",
            "--max-workflow-step-error-retry-times",
            "2",
            "--leader-elect=false",
            "--allow-file-repositories",
            "--optimize-disable-component-revision",
            "--feature-gates=EnableSuspendOnFailure=true",
        ];
        let mut args = Alone::try_parse_from(given).unwrap_or_else(|error| panic!("{error}")).args;
        let unknown = args.take_known().unwrap_or_else(|error| panic!("{error}"));
        let want = [
            "--system-definition-namespace=vela-system",
            "--shard-id",
            "one",
            "--optimize-disable-component-revision",
        ];
        assert_eq!(unknown, want);
        assert_eq!(args.application_revision_limit, 7);
        assert_eq!(args.max_workflow_step_error_retry_times, 2);
        assert!(!args.leader_elect && args.allow_file_repositories);
        assert_eq!(args.feature_gates, "EnableSuspendOnFailure=true");
        assert_eq!(args.concurrent_reconciles, 4);
    }
}
