//! Builds the guest with a nested cargo, whatever way this machine has to a wasm standard library.
//!
//! In order: `GUEST_WASM` (a prebuilt module), `GUEST_SKIP` (an empty one, for linting), the
//! toolchain's own wasm32-unknown-unknown, its rust-src, its wasm32-wasip1, the distribution's rustc.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

const TARGET: &str = "wasm32-unknown-unknown";

/// The most bytes that the guest may have.
const MOST: u64 = 2_500_000;

/// A compiler that can make the guest.
struct Plan {
    rustc: PathBuf,
    target: &'static str,
    build_std: bool,
}

fn main() {
    for name in ["GUEST_WASM", "GUEST_SKIP"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let module = out.join("guest.wasm");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.join("../..").canonicalize().expect("the workspace is there");
    if let Some(given) = env::var_os("GUEST_WASM") {
        std::fs::copy(&given, &module).expect("GUEST_WASM names a readable file");
        name(&module, &root);
        return;
    }
    if env::var_os("GUEST_SKIP").is_some() {
        std::fs::write(&module, b"").expect("OUT_DIR is writable");
        name(&module, &root);
        return;
    }
    for part in
        ["map", "sort", "syntax", "builtin", "definition", "eval", "patch", "session", "guest"]
    {
        println!("cargo::rerun-if-changed={}", root.join("cue-runtime").join(part).display());
    }
    for part in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
    }
    let rustc = PathBuf::from(env::var_os("RUSTC").expect("cargo sets RUSTC"));
    let Some(plan) = plan(&rustc) else {
        println!(
            "cargo::error=no standard library for {TARGET}: run `rustup target add {TARGET}`, or \
             on Debian `apt-get install rustc-web rust-web-src`"
        );
        return;
    };
    // OUT_DIR is <target>/<profile>/build/<crate>/out: one guest for all profiles of the host.
    let target_dir = out.ancestors().nth(4).expect("OUT_DIR is deep").join("guest");
    build(&plan, &rustc, &root, &target_dir);
    let built = target_dir.join(plan.target).join("guest/cue_guest.wasm");
    let size = std::fs::copy(&built, &module).expect("the guest was just built");
    if size > MOST {
        println!(
            "cargo::error=the CUE guest has {size} bytes, {} more than the {MOST} it may have: \
             what made it grow?",
            size - MOST
        );
    }
    name(&module, &root);
}

/// Hands on the hash of the interpreter and of what compiles it: at run time its megabytes are read by
/// nobody but the compiler.
fn name(module: &Path, root: &Path) {
    let mut hash = Sha256::new();
    hash.update(std::fs::read(module).expect("the guest was just written"));
    hash.update(std::fs::read(root.join("Cargo.lock")).expect("the workspace has a lock file"));
    let digest: String = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=GUEST_DIGEST={digest}");
}

fn plan(rustc: &Path) -> Option<Plan> {
    let own = |target, build_std| Plan { rustc: rustc.into(), target, build_std };
    if has_std(rustc, TARGET) {
        return Some(own(TARGET, false));
    }
    if has_source(rustc) {
        return Some(own(TARGET, true));
    }
    if has_std(rustc, "wasm32-wasip1") {
        return Some(own("wasm32-wasip1", false));
    }
    let system = PathBuf::from("/usr/bin/rustc");
    if system.exists() && has_std(&system, TARGET) {
        return Some(Plan { rustc: system, target: TARGET, build_std: false });
    }
    if system.exists() && has_source(&system) {
        return Some(Plan { rustc: system, target: TARGET, build_std: true });
    }
    None
}

fn ask(rustc: &Path, args: &[&str]) -> Option<PathBuf> {
    let output = Command::new(rustc).args(args).output().ok().filter(|it| it.status.success())?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

fn has_std(rustc: &Path, target: &str) -> bool {
    let Some(folder) = ask(rustc, &["--print", "target-libdir", "--target", target]) else {
        return false;
    };
    let Ok(files) = std::fs::read_dir(folder) else { return false };
    files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

fn has_source(rustc: &Path) -> bool {
    ask(rustc, &["--print", "sysroot"])
        .is_some_and(|root| root.join("lib/rustlib/src/rust/library/Cargo.lock").exists())
}

fn build(plan: &Plan, own_rustc: &Path, root: &Path, target_dir: &Path) {
    let cargo = env::var_os("CARGO").expect("cargo sets CARGO");
    let mut command = Command::new(cargo);
    command.current_dir(root);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let cleared = [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
            "CARGO_TARGET_DIR",
            "LLVM_PROFILE_FILE",
            "TARGET",
            "HOST",
            "OPT_LEVEL",
            "PROFILE",
            "DEBUG",
            "OUT_DIR",
            "NUM_JOBS",
        ];
        let prefixes = ["CARGO_PROFILE_", "CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_"];
        if cleared.contains(&text.as_ref()) || prefixes.iter().any(|it| text.starts_with(it)) {
            command.env_remove(&name);
        }
    }
    command.args(["build", "--locked", "-p", "cue-guest", "--profile", "guest"]);
    command.args(["--target", plan.target]).arg("--target-dir").arg(target_dir);
    command.env("RUSTC", &plan.rustc);
    if plan.build_std {
        command.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-std=std,panic_abort");
    }
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|it| it + "/.cargo"));
    let home = home.unwrap_or_default();
    let sysroot = ask(&plan.rustc, &["--print", "sysroot"]).unwrap_or_default();
    // Panics name files: as briefly as they can be told apart.
    let registry = PathBuf::from(&home).join("registry/src");
    let sources = std::fs::read_dir(registry).into_iter().flatten().flatten();
    let sources: Vec<String> =
        sources.map(|it| format!("--remap-path-prefix={}/=", it.path().display())).collect();
    let mut flags = vec![
        // Values are copied by 16 bytes: a fortieth less work, a hundredth less module.
        "-Ctarget-feature=+simd128".to_owned(),
        "-Clink-arg=-zstack-size=268435456".to_owned(),
        // Numbers of functions, types and globals as short as they can be, not padded to 5 bytes.
        "-Clink-arg=--compress-relocations".to_owned(),
        // Which takes that nothing is left to relocate; rustc says so only where it links for speed.
        "-Clink-arg=--strip-all".to_owned(),
        // With 225, as without it, a twentieth more module and a hundredth less work; with 46 a
        // twentieth less module and a tenth more work.
        // (Not `-inline-threshold`: that would hold for what is built for size as well.)
        "-Cllvm-args=-inlinedefault-threshold=120".to_owned(),
        format!("--remap-path-prefix={}=lateen", root.display()),
        format!("--remap-path-prefix={home}=cargo"),
        format!("--remap-path-prefix={}=rust", sysroot.display()),
    ];
    flags.extend(sources);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let host = env::var("HOST").unwrap_or_default();
    if let Some(own) = ask(own_rustc, &["--print", "sysroot"]) {
        let lld = own.join("lib/rustlib").join(host).join("bin/rust-lld");
        if lld.exists() {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", lld);
        }
    }
    let status = command.status().expect("cargo can be run");
    if !status.success() {
        println!("cargo::error=building the CUE guest failed: see the compiler's output above");
        std::process::exit(1);
    }
}
