//! The plane in the background, its state, and what another process is told about it.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::Home;
use lateen_e2e::process::{Running, free_port, wait_for_port};

const APP: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: kept}
spec:
  components:
    - {name: note, type: k8s-objects, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: kept-note}, data: {a: b}}]}}
";

#[test]
fn the_plane_in_the_background_keeps_its_state() {
    let home = Home::new();
    let listen = format!("127.0.0.1:{}", free_port().unwrap());
    home.lateen(&["local", "status"]).refused(1, &["not running"]);
    let told = home.lateen(&["local", "start", "--listen", &listen]).ok();
    assert!(told.contains(&listen) && told.contains("export KUBECONFIG="), "{told}");
    let again = home.lateen(&["local", "start", "--listen", &listen]);
    let running = home.lateen(&["local", "status"]);
    let file = home.file("app.yaml", APP);
    let up = home.lateen(&["up", "-f", file.to_str().unwrap()]);
    let stopped = home.lateen(&["local", "stop"]);
    assert!(again.ok().contains("already running"));
    assert!(running.ok().contains("running (process"));
    assert!(up.ok().contains("default/kept running"));
    assert_eq!(stopped.ok(), "stopped\n");
    home.lateen(&["local", "status"]).refused(1, &["not running"]);
    assert_eq!(home.lateen(&["local", "stop"]).ok(), "not running\n");
    // Without a plane in the background the same state is opened in the process.
    assert!(home.lateen(&["ls"]).ok().contains("kept"));
    assert_eq!(home.lateen(&["delete", "kept"]).ok(), "application kept deleted\n");
    assert!(!home.lateen(&["ls"]).ok().contains("kept"));
}

#[test]
fn a_state_has_one_user() {
    let home = Home::new();
    let state = home.folder.path().join("plane.redb");
    let state = state.to_str().unwrap();
    let port = free_port().unwrap();
    let listen = format!("127.0.0.1:{port}");
    let serve = ["local", "serve", "--insecure", "--state", state, "--listen"];
    let mut first = home.command(&[&serve[..], &[&listen]].concat());
    let log = home.folder.path().join("log");
    let _first = Running::start("lateen local serve", &mut first, &log).unwrap();
    wait_for_port(port, std::time::Duration::from_secs(20)).unwrap();
    home.lateen(&[&serve[..], &["127.0.0.1:0"]].concat())
        .refused(2, &["plane.redb", "in use by another process"]);
}
