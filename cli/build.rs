//! Packs the program's relocations, where the system's loader knows the form.
//!
//! Without it 1.6 MB of them are read at each start, and stay resident.

use std::env;
use std::process::Command;

/// The first glibc whose loader reads packed relocations (DT_RELR).
const SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let named = |name| env::var(name).unwrap_or_default();
    let here = named("HOST") == named("TARGET");
    if here && named("CARGO_CFG_TARGET_ENV") == "gnu" && glibc().is_some_and(|it| it >= SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this system's glibc, as it says itself: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
