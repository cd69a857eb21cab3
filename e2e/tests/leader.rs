//! Two controllers of one plane: at most one acts, also while the leader changes.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lateen_controller::rest::{self, ActAs};
use lateen_e2e::bench::{Home, client};
use lateen_e2e::deaths::leaves_trace;
use lateen_e2e::process::{Running, tail};
use lateen_e2e::proxy::{self, Fate};

const NAMES: [&str; 3] = ["one", "two", "three"];

const BUSY: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: NAME}
spec:
  components:
    - {name: NAME, type: k8s-objects, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, data: {edit: 'EDIT'}}]}}
";

/// Who wrote what, in the order in which it arrived; leases apart.
type Writes = Arc<Mutex<Vec<(usize, String)>>>;

/// A controller, the network it is behind, and whether that lets anything through.
struct Rival {
    running: Running,
    cut: Arc<AtomicBool>,
}

impl Rival {
    fn start(home: &Home, who: usize, (kubeconfig, port): (&str, u16), writes: &Writes) -> Self {
        let text = std::fs::read_to_string(kubeconfig).unwrap();
        let (listener, text) = proxy::between(&text, port).unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let (writes, is_cut) = (writes.clone(), cut.clone());
        proxy::serve(listener, port, move || {
            let (writes, is_cut) = (writes.clone(), is_cut.clone());
            Box::new(move |head| {
                let line = head.lines().next().unwrap_or_default();
                if is_cut.load(Ordering::SeqCst) {
                    return Fate::Lose;
                }
                if leaves_trace(head) && !line.contains("/leases") {
                    writes.lock().unwrap().push((who, line.to_owned()));
                }
                Fate::Pass
            })
        });
        let file = home.file(&format!("{who}.yaml"), &text);
        let mut command = home.command(&["controller", "--kubeconfig", file.to_str().unwrap()]);
        command
            .args(["--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s"]);
        command.args(["--leader-election-retry-period=300ms", "--application-re-sync-period=1s"]);
        let log = home.folder.path().join(format!("controller-{who}.log"));
        Self { running: Running::start("lateen controller", &mut command, &log).unwrap(), cut }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.running.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

/// The data of the ConfigMaps that the Applications have.
fn edits(kubeconfig: &str) -> [String; 3] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = client(kubeconfig).await.into();
        let mut all = [const { String::new() }; 3];
        for (slot, name) in all.iter_mut().zip(NAMES) {
            let path = format!("/api/v1/namespaces/default/configmaps/{name}");
            let none = ActAs::default();
            let object = rest::get(&client, &path, &none).await.unwrap().unwrap_or_default();
            object["data"]["edit"].as_str().unwrap_or_default().clone_into(slot);
        }
        all
    })
}

/// The first leads and is edited at; then it is stopped as by a machine that hangs, or cut off. The other takes
/// over. The first comes back, and writes nothing any more.
#[test]
fn a_leader_that_comes_back_too_late_writes_nothing() {
    for cut in [false, true] {
        let home = Home::new();
        let (_plane, kubeconfig, port) = home.serve(&["--insecure"]).unwrap();
        home.lateen(&["install", "--kubeconfig", &kubeconfig]).ok();
        let writes = Writes::default();
        let edited = |edit: usize| {
            for name in NAMES {
                let file = BUSY.replace("NAME", name).replace("EDIT", &edit.to_string());
                let file = home.file("app.yaml", &file);
                let file = file.to_str().unwrap();
                home.lateen(&["up", "-f", file, "--no-wait", "--kubeconfig", &kubeconfig]).ok();
            }
        };
        let wrote = |who: usize| writes.lock().unwrap().iter().any(|it| it.0 == who);
        let until = |what: &str, done: &mut dyn FnMut() -> bool| {
            let started = Instant::now();
            while !done() {
                let late = started.elapsed() > Duration::from_secs(60);
                let told =
                    |who| tail(&home.folder.path().join(format!("controller-{who}.log")), 20);
                assert!(!late, "cut {cut}: {what} does not come\n0: {}\n1: {}", told(0), told(1));
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        let mut first = Rival::start(&home, 0, (&kubeconfig, port), &writes);
        edited(0);
        until("the first one's work", &mut || wrote(0));
        let second = Rival::start(&home, 1, (&kubeconfig, port), &writes);
        edited(1);
        if cut {
            first.cut.store(true, Ordering::SeqCst);
        } else {
            first.signal("-STOP");
        }
        edited(2);
        until("the second one's work", &mut || wrote(1));
        if cut {
            first.cut.store(false, Ordering::SeqCst);
        } else {
            first.signal("-CONT");
        }
        // It notices, and ends: whoever started it starts it anew.
        until("the end of the first", &mut || first.running.ended());
        edited(3);
        until("the last edit", &mut || edits(&kubeconfig) == ["3"; 3]);
        drop(second);
        let writes = writes.lock().unwrap();
        let turn = writes.iter().position(|it| it.0 == 1).unwrap();
        let late: Vec<_> = writes[turn..].iter().filter(|it| it.0 == 0).collect();
        assert!(late.is_empty(), "cut {cut}: the first wrote after the second began: {late:?}");
        assert!(writes[..turn].iter().any(|it| it.1.starts_with("patch")), "{writes:?}");
    }
}
