//! The control plane in this process: store, API, controllers of Kubernetes.

use std::net::SocketAddr;
use std::path::PathBuf;

use lateen_controller::connection::Client;
use local_server::Plane;
use local_store::Store;
use tokio_util::sync::CancellationToken;

use crate::exit::bad_input;
use crate::target::directories;

/// How the plane is opened.
#[derive(Debug)]
pub struct Options {
    /// File of the state; `None`: in memory.
    pub state: Option<PathBuf>,
    /// Whether Kubernetes' own controllers run.
    pub controllers: bool,
    /// Whether pods are simulated.
    pub pods: bool,
    /// Address that discovery tells.
    pub address: SocketAddr,
}

/// A plane and what runs on it.
pub struct Embedded {
    /// The API.
    pub plane: Plane,
    /// Ends what runs on it.
    pub stop: CancellationToken,
}

impl Embedded {
    /// Opens the state and starts the controllers.
    ///
    /// # Errors
    /// When the state cannot be used; the message names the file.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let store = match &options.state {
            None => Store::memory(),
            Some(file) => {
                if let Some(folder) = file.parent() {
                    std::fs::create_dir_all(folder)
                        .map_err(|error| bad_input(format!("{}: {error}", folder.display())))?;
                }
                Store::open(file)
                    .map_err(|error| bad_input(format!("{}: {error}", file.display())))?
            }
        };
        let options_ = local_server::Options { store, address: options.address.to_string() };
        let plane = Plane::new(options_).map_err(|error| bad_input(format!("{error:?}")))?;
        let stop = CancellationToken::new();
        if options.controllers {
            let simulate = local_simulate::Options {
                pods: options.pods,
                ..local_simulate::Options::default()
            };
            let (on, stop) = (plane.clone(), stop.clone());
            tokio::spawn(async move { local_simulate::plane::run(&on, simulate, stop).await });
        }
        Ok(Self { plane, stop })
    }

    /// A client without sockets.
    pub fn client(&self, namespace: &str) -> Client {
        kube::Client::new(self.plane.service(), namespace).into()
    }
}

/// Kubeconfig of the plane in the background.
pub fn kubeconfig() -> PathBuf {
    directories().data.join("kubeconfig")
}
