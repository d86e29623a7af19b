//! The program for a target, built so that the folder it is built in leaves no trace.

use std::env;
use std::path::{Path, PathBuf};

use super::release::{DistSource, Release};
use super::target::{DistTarget, Linking};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::{ProgramRun, find};

/// What came of a target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Built {
    Program(PathBuf),
    /// It compiles; why there is no program.
    Checked(&'static str),
    /// It was not tried, and why.
    Skipped(&'static str),
}

/// Builds for a target, as far as that goes here.
pub(super) fn build(source: &DistSource, release: &Release, target: &DistTarget) -> ChoreResult<Built> {
    if !has_std(target.triple)? {
        return Ok(Built::Skipped("Rust's library for it is missing: `rustup target add TRIPLE`"));
    }
    let zig = ["zig", "python-zig"].into_iter().find_map(find);
    let own_compiler = env::var_os(format!("CC_{}", target.triple.replace('-', "_"))).is_some();
    if zig.is_none() && !own_compiler {
        return Ok(Built::Skipped("its C code needs `zig`, or a compiler in CC_TARGET"));
    }
    let verb = match target.linking {
        Linking::Rust => "build",
        Linking::Zig if find("cargo-zigbuild").is_some() => "zigbuild",
        Linking::Zig => return Ok(Built::Skipped("it needs `cargo-zigbuild`")),
        Linking::Vendor => "check",
    };
    let mut run = ProgramRun::inheriting(env!("CARGO"))
        .args([verb, "--locked", "--package", "tofu-oci-cli", "--profile", "dist", "--target", target.triple])
        .args(["--message-format", "json-render-diagnostics"])
        .directory(&source.root)
        .variable("SOURCE_DATE_EPOCH", release.date.to_string())
        .variable("CARGO_TARGET_DIR", &source.target)
        .variable("CARGO_ENCODED_RUSTFLAGS", flags(source, target).join("\x1f"));
    // cargo-zigbuild brings compilers of its own.
    if let (Some(zig), false, true) = (&zig, own_compiler, verb != "zigbuild") {
        let of_target = |name: &str| format!("{name}_{}", target.triple.replace('-', "_"));
        run = run
            // The options that are added for clang name targets in a form that zig does not read.
            .variable("CRATE_CC_NO_DEFAULTS", "1")
            .variable(&of_target("CC"), format!("{} cc", zig.display()))
            .variable(&of_target("AR"), format!("{} ar", zig.display()))
            .variable(
                &of_target("CFLAGS"),
                format!("-target {} -O3 -fPIC -ffunction-sections -fdata-sections", target.zig),
            );
    }
    println!("$ {}", run.line());
    let messages = run.success()?.stdout;
    if target.linking == Linking::Vendor {
        return Ok(Built::Checked("its linker needs files of Apple"));
    }
    crate::program::executable(&messages)
        .map(Built::Program)
        .ok_or_else(|| ChoreFailure::new("cargo built no executable named tofu-oci"))
}

/// Whether the compiler can build for a target: it has Rust's libraries for it, or cargo is told to build them.
fn has_std(triple: &str) -> ChoreResult<bool> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = ProgramRun::inheriting(compiler).args(["--print", "target-libdir", "--target", triple]);
    let folder = run.success()?.stdout;
    Ok(env::var_os("CARGO_UNSTABLE_BUILD_STD").is_some() || Path::new(folder.trim()).is_dir())
}

/// The options of the compiler: paths of this machine become others, and equal functions one.
fn flags(source: &DistSource, target: &DistTarget) -> Vec<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&source.root, "/tofu-oci"), remap(&source.target, "/target")];
    flags.extend(cargo_home().map(|home| remap(&home, "/cargo")));
    if target.linking == Linking::Rust {
        let linker = ["linker=rust-lld", "linker-flavor=ld.lld", "link-self-contained=yes"];
        let arguments = ["link-arg=--icf=all", "link-arg=--pack-dyn-relocs=relr"];
        let options = linker.into_iter().chain(arguments).chain(["target-feature=+crt-static"]);
        flags.extend(options.map(|option| format!("-C{option}")));
    }
    flags
}

fn cargo_home() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_the_library_of_rust_is_no_failure_of_cargo() {
        // The Rust project has no library for it to download.
        assert!(!has_std("sparc64-unknown-netbsd").unwrap());
    }
}
