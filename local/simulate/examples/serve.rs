//! Serves an empty plane, with its controllers if asked:
//! `cargo run -p local-simulate --example serve -- --listen 127.0.0.1:8080 --insecure [--controllers on] [--pods on] [--tokens FILE]`.

use local_server::{Options, Plane, Serve, Tokens};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let at = arguments.iter().position(|one| one == flag)?;
        arguments.get(at + 1).cloned()
    };
    let listen = after("--listen").unwrap_or("127.0.0.1:8080".to_owned());
    let mut options = Options { address: listen.clone(), ..Options::default() };
    if let Some(path) = after("--data") {
        options.store = local_store::Store::open(path.as_ref())?;
    }
    let plane = Plane::new(options)?;
    if after("--controllers").as_deref() == Some("on") {
        let pods = after("--pods").as_deref() == Some("on");
        let simulated = local_simulate::Options { pods, ..local_simulate::Options::default() };
        let on = plane.clone();
        tokio::spawn(async move {
            local_simulate::plane::run(&on, simulated, CancellationToken::new()).await;
        });
    }
    let insecure = arguments.iter().any(|one| one == "--insecure");
    let kubeconfig = after("--kubeconfig").map(Into::into);
    let tokens = match after("--tokens") {
        Some(file) => {
            let text = std::fs::read_to_string(&file)?;
            Some(Tokens::parse(&text).map_err(|line| format!("{file}: line {line} is no token"))?)
        }
        None => None,
    };
    let listen = listen.parse()?;
    let options =
        Serve { listen, insecure, kubeconfig, tokens, name: String::new(), audit_log: None };
    let serving = plane.serve(&options).await?;
    eprintln!("listening on {}", serving.address);
    serving.wait().await;
    Ok(())
}
