//! What `tofu-oci version` says about this build: the commit with its date, the target and the compiler. It reads no clock,
//! so that two builds of one commit are equal. Without git, or outside the repository of tofu-oci, there is no commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Git writes the first when another branch is checked out, and the second whenever HEAD names another commit.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let show = ["show", "--no-patch", "--no-show-signature", "--format=%H %cd", "--date=format-local:%FT%TZ", "HEAD"];
    // The files may stand in the repository of somebody else.
    let is_ours = git(&["rev-parse", "--show-prefix"]).is_some_and(|folder| folder == "crates/cli/");
    let head = is_ours.then(|| git(&show)).flatten().unwrap_or_default();
    let (commit, date) = head.split_once(' ').unwrap_or_default();
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| said(Command::new(rustc).arg("--version")));
    let compiler = compiler.unwrap_or_default();
    for (name, value) in [
        ("COMMIT", commit),
        ("COMMIT_DATE", date),
        ("TARGET", &std::env::var("TARGET").unwrap_or_default()),
        ("RUSTC", compiler.strip_prefix("rustc ").unwrap_or(&compiler)),
    ] {
        println!("cargo::rustc-env=BUILD_{name}={value}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    // A hook of git that builds has variables of its own repository.
    said(Command::new("git").args(arguments).env("TZ", "UTC").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE"))
}

/// What a program prints; `None` if there is no such program, or if it fails.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
