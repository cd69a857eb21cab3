//! What comes out of git repositories, and what goes into them: the examples `templates` and `gitops`, with real
//! repositories on disk (W-113, W-114, W-115, W-116, W-117, W-118, W-119). Where the program `git` is missing they say so.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use lateen_e2e::bench::{Plane, repository};
use serde_json::Value;

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    let done = Command::new("git").args(who).args(arguments).current_dir(folder).output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {arguments:?}: {said}");
    Some(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// An empty repository without files; `None`, and a word, where there is no git.
fn bare() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    if git(folder.path(), &["init", "--quiet", "--bare", "-b", "main", "."]).is_none() {
        eprintln!("the program git is not here: nothing was tried");
        return None;
    }
    Some(folder)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

fn example(name: &str) -> String {
    std::fs::read_to_string(repository().join("examples").join(name).join("app.yaml")).unwrap()
}

/// Image and replicas of a Deployment.
async fn deployment(plane: &Plane, name: &str) -> (String, Value) {
    let path = format!("/apis/apps/v1/namespaces/default/deployments/{name}");
    let it = plane.look(&path).await;
    let image = it["spec"]["template"]["spec"]["containers"][0]["image"].as_str();
    (image.unwrap_or_default().to_owned(), it["spec"]["replicas"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_and_a_kustomization_give_the_components() {
    let Some(bare) = bare() else { return };
    let work = tempfile::tempdir().unwrap();
    copy(&repository().join("examples/templates/repository"), work.path());
    let address = format!("file://{}", bare.path().display());
    let publish = |message: &str| {
        git(work.path(), &["add", "."]).unwrap();
        git(work.path(), &["commit", "--quiet", "-m", message]).unwrap();
        git(work.path(), &["push", "--quiet", &address, "HEAD:refs/heads/main"]).unwrap();
    };
    git(work.path(), &["init", "--quiet", "-b", "main", "."]).unwrap();
    publish("first");

    let plane = tokio::task::spawn_blocking(Plane::start).await.unwrap().unwrap();
    let app = example("templates").replace("https://git.example/shop.git", &address);
    let told = plane.lateen_with(&["up", "-f", "-"], &app);
    assert!(told.out.contains("templates running"), "{}{}", told.out, told.err);
    assert_eq!(deployment(&plane, "cart").await, ("nginx:1.27".into(), 2.into()));
    assert_eq!(deployment(&plane, "backend").await, ("nginx:1.28".into(), 1.into()));
    let settings = plane.look("/api/v1/namespaces/default/configmaps/cart-settings").await;
    assert_eq!(settings["data"]["CURRENCY"], "EUR");
    let path = "/apis/core.oam.dev/v1beta1/namespaces/default/applicationrevisions/templates-v1";
    let recorded = plane.look(path).await;
    let components = &recorded["spec"]["application"]["spec"]["components"];
    assert_eq!(components[0]["name"], "cart", "{components}");
    assert_eq!(components[1]["properties"]["image"], "nginx:1.28", "{components}");

    // What the repository says now is delivered when the workflow runs again.
    let values = work.path().join("charts/cart/values.yaml");
    let text = std::fs::read_to_string(&values).unwrap().replace("EUR", "CHF");
    std::fs::write(&values, text).unwrap();
    publish("second");
    plane.lateen(&["workflow", "restart", "templates"]).ok();
    plane.until("templates", "{.status.latestRevision.name}", "templates-v2");
    plane.until("templates", "{.status.status}", "running");
    let settings = plane.look("/api/v1/namespaces/default/configmaps/cart-settings").await;
    assert_eq!(settings["data"]["CURRENCY"], "CHF");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_rendered_is_pushed_once() {
    let Some(bare) = bare() else { return };
    let plane = tokio::task::spawn_blocking(Plane::start).await.unwrap().unwrap();
    let address = format!("file://{}", bare.path().display());
    let app = example("gitops").replace("https://git.example/deploy.git", &address);
    let told = plane.lateen_with(&["up", "-f", "-"], &app);
    assert!(told.out.contains("gitops running"), "{}{}", told.out, told.err);
    let git = |arguments: &[&str]| git(bare.path(), arguments).unwrap();
    let files = git(&["ls-tree", "-r", "--name-only", "prod"]);
    assert_eq!(files, "clusters/prod/web/deployment-web.yaml\nclusters/prod/web/service-web.yaml");
    let text = git(&["show", "prod:clusters/prod/web/deployment-web.yaml"]);
    assert!(text.contains("image: nginx:1.27") && text.contains("replicas: 2"), "{text}");
    let commit = git(&["rev-parse", "prod"]);
    plane.until("gitops", "{.status.workflow.steps[1].message}", &commit);
    assert_eq!(deployment(&plane, "web").await.0, "", "nothing is delivered here");

    // The workflow runs again: nothing changed, so there is no commit.
    plane.lateen(&["workflow", "restart", "gitops"]).ok();
    plane.until("gitops", "{.status.workflow.status}", "succeeded");
    assert_eq!(git(&["rev-list", "--count", "prod"]), "1");
    let told = plane.lateen_with(&["up", "-f", "-"], &app.replace("nginx:1.27", "nginx:1.28"));
    assert!(told.out.contains("gitops running"), "{}{}", told.out, told.err);
    assert_eq!(git(&["rev-list", "--count", "prod"]), "2");
    let text = git(&["show", "prod:clusters/prod/web/deployment-web.yaml"]);
    assert!(text.contains("image: nginx:1.28"), "{text}");
}
