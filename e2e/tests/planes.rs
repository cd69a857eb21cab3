//! Several planes side by side, their snapshots, and a state file that is damaged.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::Home;
use lateen_e2e::process::free_port;

const ONE: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: NAME}
spec:
  components:
    - {name: NAME, type: k8s-objects, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME-note}, data: {a: b}}]}}
";

/// Stops its planes, whatever became of the test.
struct Planes {
    home: Home,
    names: &'static [&'static str],
}

impl Planes {
    fn start(&self, name: &str) -> String {
        let listen = format!("127.0.0.1:{}", free_port().unwrap());
        self.home.lateen(&["local", "start", "--name", name, "--listen", &listen]).ok();
        let told = self.home.lateen(&["local", "status", "--name", name, "--kubeconfig-path"]).ok();
        told.trim().to_owned()
    }

    fn stop(&self, name: &str) {
        assert_eq!(self.home.lateen(&["local", "stop", "--name", name]).ok(), "stopped\n");
    }

    fn up(&self, kubeconfig: &str, app: &str) {
        let file = self.home.file(&format!("{app}.yaml"), &ONE.replace("NAME", app));
        let file = file.to_str().unwrap();
        self.home.lateen(&["up", "-f", file, "--kubeconfig", kubeconfig]).ok();
    }

    fn listed(&self, kubeconfig: &str) -> String {
        self.home.lateen(&["ls", "--kubeconfig", kubeconfig]).ok()
    }
}

impl Drop for Planes {
    fn drop(&mut self) {
        for name in self.names {
            self.home.lateen(&["local", "stop", "--name", name]);
        }
    }
}

#[test]
fn two_planes_know_nothing_of_each_other_and_one_is_brought_back_as_a_third() {
    let planes = Planes { home: Home::new(), names: &["east", "west", "third", "fourth"] };
    let (east, west) = (planes.start("east"), planes.start("west"));
    assert_ne!(east, west);
    let config = std::fs::read_to_string(&east).unwrap();
    assert!(config.contains("current-context: lateen-east"), "{config}");
    planes.up(&east, "sun");
    planes.up(&west, "moon");
    let (in_east, in_west) = (planes.listed(&east), planes.listed(&west));
    assert!(in_east.contains("sun") && !in_east.contains("moon"), "{in_east}");
    assert!(in_west.contains("moon") && !in_west.contains("sun"), "{in_west}");

    // Saved while it runs, and again when it does not: both bring back all of it.
    let folder = planes.home.folder.path();
    let (running, stopped) = (folder.join("running.snapshot"), folder.join("stopped.snapshot"));
    let (running, stopped) = (running.to_str().unwrap(), stopped.to_str().unwrap());
    let saved = planes.home.lateen(&["local", "snapshot", "save", running, "--name", "east"]);
    assert!(saved.ok().starts_with("saved "));
    planes
        .home
        .lateen(&["local", "snapshot", "restore", running, "--name", "east"])
        .refused(2, &["runs"]);
    planes.stop("east");
    planes.home.lateen(&["local", "status", "--name", "east"]).refused(1, &["not running"]);
    planes.home.lateen(&["local", "snapshot", "save", stopped, "--name", "east"]).ok();
    for (file, name) in [(running, "third"), (stopped, "fourth")] {
        planes.home.lateen(&["local", "snapshot", "restore", file, "--name", name]).ok();
        let kubeconfig = planes.start(name);
        let found = planes.listed(&kubeconfig);
        assert!(found.contains("sun") && found.contains("running"), "{name}: {found}");
        planes.stop(name);
    }
    // The other went on all the while.
    assert!(planes.listed(&west).contains("moon"));
    planes.stop("west");
}

#[test]
fn a_damaged_state_file_is_reported_and_kept() {
    let home = Home::new();
    let state = home.folder.path().join("plane.redb");
    let file = state.to_str().unwrap().to_owned();
    let save = home.folder.path().join("saved").to_str().unwrap().to_owned();
    for damage in ["all of it is something else", "half of it is gone"] {
        let whole = b"this was never a plane, but it is somebody's file\n".repeat(200);
        let kept = &whole[..if damage.starts_with("half") { whole.len() / 2 } else { whole.len() }];
        std::fs::write(&state, kept).unwrap();
        home.lateen(&["local", "serve", "--state", &file, "--listen", "127.0.0.1:0"])
            .refused(2, &["plane.redb", "damaged"]);
        assert_eq!(std::fs::read(&state).unwrap(), kept, "{damage}");
    }
    // The same of the plane in the background: nobody starts with an empty one instead.
    let place = home.folder.path().join("lateen/planes/hurt");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("plane.redb"), "no plane").unwrap();
    home.lateen(&["local", "start", "--name", "hurt"]).refused(2, &["plane.redb", "damaged"]);
    home.lateen(&["local", "snapshot", "save", &save, "--name", "hurt"])
        .refused(2, &["plane.redb", "damaged"]);
    // A snapshot that lost its end is refused before anything is replaced.
    std::fs::write(&save, "{\"half\": ").unwrap();
    home.lateen(&["local", "snapshot", "restore", &save, "--name", "hurt"]).refused(2, &["saved"]);
    assert_eq!(std::fs::read(place.join("plane.redb")).unwrap(), b"no plane");
}
