//! The program itself: built once, then run by path.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;

/// Builds `tofu-oci` and gives the path of the executable.
pub(crate) fn build() -> ChoreResult<PathBuf> {
    built(&[])
}

/// The same in the release profile.
pub(crate) fn build_release() -> ChoreResult<PathBuf> {
    built(&["--release"])
}

fn built(options: &[&str]) -> ChoreResult<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    // What `cargo run` says of this crate makes build scripts, such as that of `ring`, run again, and all crates above them.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    let output = cargo
        .args(["build", "--quiet", "--package", "tofu-oci-cli", "--message-format", "json-render-diagnostics"])
        .args(options)
        .current_dir(paths::root())
        .stderr(Stdio::inherit())
        .output()
        .doing(|| "starting cargo".to_owned())?;
    if !output.status.success() {
        return Err(ChoreFailure::new("tofu-oci does not build"));
    }
    executable(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| ChoreFailure::new("cargo built no executable named tofu-oci"))
}

/// The path of the program among the messages that cargo prints as JSON.
pub(crate) fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "tofu-oci")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}
