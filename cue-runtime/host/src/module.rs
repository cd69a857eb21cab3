//! The interpreter's compiled module and its cache on disk.
//!
//! Compiling takes about half a second; a cached file is mapped in a tenth of a millisecond. The
//! file's name holds the hash of the module and of the libraries' versions; whether all that must agree
//! does (settings, processor), wasmtime looks at when it reads the file.

use std::fs;
use std::path::{Path, PathBuf};

use wasmtime::{Engine, Module};

use crate::meter;

/// The interpreter, built by build.rs.
static GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// Names the interpreter and what compiles it: build.rs hashed the module and the lock file.
const DIGEST: &str = env!("GUEST_DIGEST");

/// Why the sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Built with GUEST_SKIP.
    #[error("this binary was built without the CUE interpreter (GUEST_SKIP)")]
    Absent,
    /// Wasmtime refused the module or the configuration.
    #[error("setting up the CUE sandbox failed: {0}")]
    Setup(String),
}

/// The module that `cache` has, if there is one that this engine takes.
pub(crate) fn cached(engine: &Engine, cache: &Path) -> Option<Module> {
    read(engine, &file_in(cache))
}

/// Whether a file that may be used is there.
pub(crate) fn is_cached(cache: &Path) -> bool {
    ours(&file_in(cache))
}

/// Compiles the module and tries to leave it in `cache`.
pub(crate) fn compile(engine: &Engine, cache: Option<&Path>) -> Result<Module, Error> {
    if GUEST.is_empty() {
        return Err(Error::Absent);
    }
    let module = meter::metered(GUEST)
        .and_then(|metered| Module::new(engine, metered).map_err(|error| error.to_string()))
        .map_err(Error::Setup)?;
    if let Some(folder) = cache {
        let file = file_in(folder);
        if let Err(error) = write(&module, folder, &file) {
            tracing::debug!(%error, file = %file.display(), "compiled interpreter not cached");
        }
    }
    Ok(module)
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(format!("cue-{DIGEST}-{}.cwasm", std::env::consts::ARCH))
}

#[allow(unsafe_code)]
fn read(engine: &Engine, file: &Path) -> Option<Module> {
    if !ours(file) {
        return None;
    }
    // SAFETY: the file is a regular one that only this user may write, in a folder that only
    // this user may write, and `write` below is the only thing that makes files of this name.
    unsafe { Module::deserialize_file(engine, file) }.ok()
}

/// Whether only the current user can have written `file`.
#[cfg(unix)]
fn ours(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(meta), Some(Ok(folder))) =
        (fs::symlink_metadata(file), file.parent().map(fs::symlink_metadata))
    else {
        return false;
    };
    let private = |mode: u32| mode & 0o022 == 0;
    let own = fs::metadata("/proc/self").map_or(folder.uid(), |it| it.uid());
    meta.is_file()
        && private(meta.mode())
        && private(folder.mode())
        && meta.uid() == own
        && folder.uid() == own
}

#[cfg(not(unix))]
fn ours(file: &Path) -> bool {
    file.is_file()
}

fn write(module: &Module, folder: &Path, file: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    make_private(folder).map_err(text)?;
    let bytes = module.serialize().map_err(|error| error.to_string())?;
    let part: PathBuf = file.with_extension(format!("{}.part", std::process::id()));
    fs::write(&part, bytes).map_err(text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&part, fs::Permissions::from_mode(0o600)).map_err(text)?;
    }
    fs::rename(&part, file).map_err(text)
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
