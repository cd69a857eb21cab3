//! Files that are added to a folder are embedded without a clean build.

fn main() {
    for folder in ["component", "trait", "policy", "workflow-step", "op", "op-render"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
