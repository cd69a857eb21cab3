//! Git repositories, by the program `git`: reading the files of a commit, and pushing some.
//!
//! 1. Nothing is checked out: files come out of `git archive`, and go in by `git fast-import`. No path, link or hook of
//!    a repository reaches the file system.
//! 2. Nobody is asked, no configuration of the machine is read, time and size have an end, and logins are in the
//!    environment of the process, never among its arguments.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lateen_charts::files::Files;
use lateen_engine::world::{Checkout, Error, Login, Push, Pushed, Tree};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// How long one call of git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that a repository may have here.
const FETCHED: u64 = 256 << 20;

/// Bytes of the files of a commit.
const FILES: usize = 64 << 20;

/// Pushes that come too late are made anew so often.
const ATTEMPTS: usize = 5;

/// A repository in a folder that goes with it.
struct Repository<'a> {
    folder: tempfile::TempDir,
    url: &'a str,
    environment: Vec<(String, String)>,
}

/// Where repositories may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// On other machines.
    #[default]
    Web,
    /// In folders of this machine, too.
    Files,
}

/// The files of a commit.
///
/// # Errors
/// What git says.
pub async fn checkout(what: &Checkout, trust: Trust) -> Result<Tree, Error> {
    let repository = Repository::open(&what.url, &what.login, trust).await?;
    named(&what.revision)?;
    let wanted = if what.revision.is_empty() { "HEAD" } else { &what.revision };
    repository.fetch(wanted).await?;
    let commit = repository.text(&["rev-parse", "FETCH_HEAD^{commit}"]).await?;
    let tar = repository.run(&["archive", "--format=tar", &commit], &[], FILES).await?;
    let files = Files::from_tar(&tar).map_err(|error| Error::Invalid(error.0))?;
    Ok(Tree { files, commit })
}

/// Makes files all there is in a folder of a branch; there is no commit if they are so already.
///
/// # Errors
/// What git says.
pub async fn push(what: &Push, trust: Trust) -> Result<Pushed, Error> {
    named(&what.branch)?;
    let folder = what.folder.trim_matches('/');
    if folder.is_empty()
        || folder.split('/').any(|it| it.is_empty() || it == "..")
        || !plain(folder)
    {
        return Err(Error::Invalid(format!("{:?} is no folder of a repository", what.folder)));
    }
    if what.branch.is_empty() {
        return Err(Error::Invalid("a push needs a branch".into()));
    }
    let mut last = Error::Unavailable("nothing was pushed".into());
    for _ in 0..ATTEMPTS {
        let repository = Repository::open(&what.url, &what.login, trust).await?;
        let before = repository.head(&what.branch).await?;
        let stream = stream(what, folder, before.as_deref())?;
        repository.run(&["fast-import", "--quiet"], &stream, FILES).await?;
        let tree = repository.text(&["rev-parse", "refs/heads/made^{tree}"]).await?;
        if let Some(before) = &before {
            let same = repository.text(&["rev-parse", &format!("{before}^{{tree}}")]).await?;
            if same == tree {
                return Ok(Pushed { commit: before.clone(), changed: false });
            }
        }
        let commit = repository.text(&["rev-parse", "refs/heads/made"]).await?;
        let to = format!("refs/heads/made:refs/heads/{}", what.branch);
        match repository.run(&["push", "--quiet", "--", &what.url, &to], &[], FILES).await {
            Ok(_) => return Ok(Pushed { commit, changed: true }),
            // Somebody else was faster: what they pushed comes first.
            Err(error @ Error::Conflict(_)) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// What `git fast-import` reads: one commit after `before`.
fn stream(what: &Push, folder: &str, before: Option<&str>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let now = chrono::Utc::now().timestamp();
    let who = "Lateen <lateen@localhost>";
    out.extend_from_slice(
        format!("commit refs/heads/made\ncommitter {who} {now} +0000\n").as_bytes(),
    );
    data(&mut out, what.message.as_bytes());
    if let Some(before) = before {
        out.extend_from_slice(format!("from {before}\nD {folder}\n").as_bytes());
    }
    for (path, bytes) in what.files.iter() {
        if !plain(path) {
            return Err(Error::Invalid(format!("{path:?} is no path in a repository")));
        }
        out.extend_from_slice(format!("M 100644 inline {folder}/{path}\n").as_bytes());
        data(&mut out, bytes);
    }
    out.extend_from_slice(b"done\n");
    out.splice(0..0, b"feature done\n".iter().copied());
    Ok(out)
}

fn data(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

/// Letters, digits and what names have: nothing that a line or a quote could end with.
fn plain(path: &str) -> bool {
    path.chars().all(|it| it.is_ascii_alphanumeric() || "._-/+:@".contains(it))
}

/// A revision that is a name, and no option and no range.
fn named(revision: &str) -> Result<(), Error> {
    let odd = revision.starts_with(['-', '/', '.', ':', '+']) || revision.contains("..");
    if odd || !plain(revision) || revision.contains(':') {
        return Err(Error::Invalid(format!("{revision:?} is no branch, tag or commit")));
    }
    Ok(())
}

impl<'a> Repository<'a> {
    async fn open(url: &'a str, login: &Login, trust: Trust) -> Result<Self, Error> {
        let file = url.starts_with("file://");
        if file && trust == Trust::Web {
            return Err(Error::Forbidden(format!(
                "{url}: folders of this machine are no repositories here"
            )));
        }
        let known = ["https://", "http://", "ssh://", "git@"].iter().any(|it| url.starts_with(it));
        if !known && !file || url.contains(char::is_control) {
            return Err(Error::Invalid(format!(
                "{url:?} is no address of a repository: https://, ssh:// or git@"
            )));
        }
        let folder = tempfile::Builder::new().prefix("lateen-git-").tempdir();
        let folder = folder.map_err(|error| Error::Unavailable(error.to_string()))?;
        let environment =
            environment(folder.path(), login, if file { "file" } else { "https:http:ssh" })?;
        let repository = Self { folder, url, environment };
        repository.run(&["init", "--quiet", "--bare", "."], &[], FILES).await?;
        Ok(repository)
    }

    async fn fetch(&self, wanted: &str) -> Result<(), Error> {
        let arguments = ["fetch", "--quiet", "--no-tags", "--depth=1", "--", self.url, wanted];
        self.run(&arguments, &[], FILES).await.map(drop)
    }

    /// The commit of a branch, fetched; `None` if there is no such branch.
    async fn head(&self, branch: &str) -> Result<Option<String>, Error> {
        let name = format!("refs/heads/{branch}");
        let listed = self.text(&["ls-remote", "--", self.url, &name]).await?;
        if listed.is_empty() {
            return Ok(None);
        }
        self.fetch(&name).await?;
        self.text(&["rev-parse", "FETCH_HEAD"]).await.map(Some)
    }

    async fn text(&self, arguments: &[&str]) -> Result<String, Error> {
        let out = self.run(arguments, &[], FILES).await?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }

    /// Runs git; what it prints.
    async fn run(&self, arguments: &[&str], input: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Unavailable(
                "the program git is not installed where the controller runs".into(),
            ),
            _ => Error::Unavailable(format!("git: {error}")),
        })?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::Unavailable("git: it has no pipes".into()));
        };
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let (mut stdout, mut stderr) = (stdout.take(most), stderr.take(1 << 16));
        let talk = async move {
            let (mut out, mut told) = (Vec::new(), Vec::new());
            let write = async {
                // That it reads no further shows in what it says.
                let _ = stdin.write_all(input).await;
                drop(stdin);
            };
            let read = stdout.read_to_end(&mut out);
            let listen = stderr.read_to_end(&mut told);
            let (_, read, listen) = tokio::join!(write, read, listen);
            read.and(listen).map(|_| (out, told))
        };
        let verb = arguments.first().copied().unwrap_or_default();
        let end = Instant::now() + PATIENCE;
        tokio::pin!(talk);
        let (out, told) = loop {
            tokio::select! {
                done = &mut talk => {
                    break done.map_err(|error| Error::Unavailable(format!("git {verb}: {error}")))?;
                }
                () = tokio::time::sleep(Duration::from_millis(500)) => {
                    if Instant::now() > end {
                        let seconds = PATIENCE.as_secs();
                        return Err(Error::Unavailable(format!("git {verb}: no end after {seconds} s")));
                    }
                    if size(self.folder.path()) > FETCHED {
                        let limit = FETCHED >> 20;
                        return Err(Error::Invalid(format!("{}: it is larger than {limit} MiB", self.url)));
                    }
                }
            }
        };
        if out.len() > limit {
            return Err(Error::Invalid(format!("git {verb}: more than {} MiB", limit >> 20)));
        }
        let left = end.saturating_duration_since(Instant::now());
        let status = tokio::time::timeout(left.max(Duration::from_secs(1)), child.wait()).await;
        let status =
            status.map_err(|_| Error::Unavailable(format!("git {verb}: it does not end")))?;
        let status = status.map_err(|error| Error::Unavailable(format!("git {verb}: {error}")))?;
        if status.success() {
            return Ok(out);
        }
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        let text = format!("git {verb} {}: {told}", self.url);
        let late = ["fetch first", "non-fast-forward", "cannot lock ref", "incorrect old value"];
        Err(match verb {
            "push" if late.iter().any(|it| told.contains(it)) => Error::Conflict(text),
            _ => Error::Unavailable(text),
        })
    }
}

/// What git sees of the world.
fn environment(
    folder: &Path,
    login: &Login,
    protocols: &str,
) -> Result<Vec<(String, String)>, Error> {
    let home = folder.to_string_lossy().into_owned();
    let mut all = vec![
        ("HOME", home.clone()),
        ("GIT_DIR", home.clone()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
        ("GIT_ASKPASS", "true".into()),
        ("GIT_ALLOW_PROTOCOL", protocols.into()),
        ("LC_ALL", "C".into()),
    ];
    let mut settings = vec![
        ("gc.auto", "0".to_owned()),
        ("protocol.version", "2".to_owned()),
        ("http.followRedirects", "initial".to_owned()),
        ("safe.directory", "*".to_owned()),
    ];
    if !login.password.is_empty() {
        let user = if login.user.is_empty() { "git" } else { &login.user };
        let both = STANDARD.encode(format!("{user}:{}", login.password));
        settings.push(("http.extraHeader", format!("Authorization: Basic {both}")));
    }
    all.push(("GIT_CONFIG_COUNT", settings.len().to_string()));
    let mut all: Vec<(String, String)> =
        all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    for (index, (key, value)) in settings.into_iter().enumerate() {
        all.push((format!("GIT_CONFIG_KEY_{index}"), key.to_owned()));
        all.push((format!("GIT_CONFIG_VALUE_{index}"), value));
    }
    let mut ssh = "ssh -F /dev/null -o BatchMode=yes".to_owned();
    let unwritten = |error: std::io::Error| Error::Unavailable(error.to_string());
    if !login.key.is_empty() {
        let path = folder.join("login-key");
        write_private(&path, &login.key).map_err(unwritten)?;
        ssh.push_str(&format!(" -o IdentitiesOnly=yes -i {}", path.display()));
    }
    let hosts = folder.join("login-hosts");
    write_private(&hosts, &login.known_hosts).map_err(unwritten)?;
    // Hosts that nobody named are believed the first time, as there is nobody to ask.
    let strict = if login.known_hosts.is_empty() { "accept-new" } else { "yes" };
    ssh.push_str(&format!(
        " -o StrictHostKeyChecking={strict} -o UserKnownHostsFile={}",
        hosts.display()
    ));
    all.push(("GIT_SSH_COMMAND".into(), ssh));
    Ok(all)
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.trim_end().as_bytes())?;
    file.write_all(b"\n")
}

/// Bytes below a folder, as far as can be told.
fn size(folder: &Path) -> u64 {
    let mut total = 0;
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(it) if it.is_dir() => open.push(entry.path()),
                Ok(it) => total += it.len(),
                Err(_) => {}
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> Files {
        let mut files = Files::default();
        for (path, text) in pairs {
            files.add(path, text.as_bytes().to_vec()).expect("a path");
        }
        files
    }

    /// A bare repository on disk; `None`, and a word, where there is no git.
    fn bare() -> Option<(tempfile::TempDir, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        let done = std::process::Command::new("git")
            .args(["init", "--quiet", "--bare", "-b", "main", "."])
            .current_dir(folder.path())
            .status();
        if !done.is_ok_and(|it| it.success()) {
            eprintln!("the program git is not here: nothing was tried");
            return None;
        }
        let url = format!("file://{}", folder.path().display());
        Some((folder, url))
    }

    /// W-113: what is there already is not pushed again, and what others have pushed stays.
    #[tokio::test]
    async fn what_is_pushed_is_there_and_only_once() {
        let Some((_folder, url)) = bare() else { return };
        let push = |folder: &str, pairs: &[(&str, &str)]| Push {
            url: url.clone(),
            branch: "main".into(),
            folder: folder.into(),
            files: files(pairs),
            message: "a \"message\"\nof two lines".into(),
            login: Login::default(),
        };
        let one = push("shop/web", &[("a.yaml", "a: 1\n"), ("b.yaml", "b\n")]);
        let one = super::push(&one, Trust::Files).await.expect("pushed");
        assert!(one.changed);
        let other = super::push(&push("shop/api", &[("c.yaml", "c\n")]), Trust::Files)
            .await
            .expect("pushed");
        assert_ne!(one.commit, other.commit);
        let again = push("shop/web", &[("a.yaml", "a: 1\n"), ("b.yaml", "b\n")]);
        let again = super::push(&again, Trust::Files).await.expect("pushed");
        assert_eq!(again, Pushed { commit: other.commit.clone(), changed: false });
        let less = super::push(&push("shop/web", &[("a.yaml", "a: 2\n")]), Trust::Files)
            .await
            .expect("pushed");
        assert!(less.changed);

        let what = Checkout { url: url.clone(), revision: "main".into(), ..Checkout::default() };
        let tree = checkout(&what, Trust::Files).await.expect("there");
        assert_eq!(tree.commit, less.commit);
        assert_eq!(tree.files, files(&[("shop/api/c.yaml", "c\n"), ("shop/web/a.yaml", "a: 2\n")]));
        let what = Checkout { revision: String::new(), ..what };
        assert_eq!(checkout(&what, Trust::Files).await.expect("there").commit, less.commit);
    }

    #[tokio::test]
    async fn what_is_no_repository_is_refused() {
        let refused = async |url: &str, revision: &str| {
            let what =
                Checkout { url: url.into(), revision: revision.into(), ..Checkout::default() };
            checkout(&what, Trust::Web).await.expect_err("refused").to_string()
        };
        assert!(refused("file:///etc", "").await.contains("folders of this machine"));
        assert!(refused("ext::sh -c id", "").await.contains("no address"));
        assert!(refused("--upload-pack=id", "").await.contains("no address"));
        if bare().is_some() {
            for revision in ["--upload-pack=id", "a..b", "a b", "a:b", "a\nb"] {
                assert!(
                    refused("https://x.invalid/r.git", revision).await.contains("is no branch")
                );
            }
        }
        let push = Push {
            url: "https://x.invalid/r.git".into(),
            branch: "main".into(),
            folder: "../x".into(),
            ..Push::default()
        };
        assert!(super::push(&push, Trust::Web).await.is_err());
    }
}
