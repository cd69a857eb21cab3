//! Serves an empty plane: `cargo run -p local-server --example serve -- --listen 127.0.0.1:8080 --insecure`.

use local_server::{Options, Plane, Serve};

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
    let insecure = arguments.iter().any(|one| one == "--insecure");
    let kubeconfig = after("--kubeconfig").map(Into::into);
    let serving = plane.serve(&Serve { listen: listen.parse()?, insecure, kubeconfig }).await?;
    eprintln!("listening on {}", serving.address);
    serving.wait().await;
    Ok(())
}
