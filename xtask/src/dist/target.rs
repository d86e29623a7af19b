//! What can be released for: the triples of Rust with the names that archives, packages and images have for them.

use std::fmt;

/// How an executable for a target is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linking {
    /// With the linker and the C library that come with Rust; `zig` compiles the C code of dependencies.
    Rust,
    /// With `cargo-zigbuild`, which has the import libraries.
    Zig,
    /// Not without files of the vendor: it is only checked.
    Vendor,
}

/// A target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DistTarget {
    /// Rust's name.
    pub(super) triple: &'static str,
    /// The words of providers' releases for it, `OS_ARCH`.
    pub(super) platform: &'static str,
    /// Zig's name.
    pub(super) zig: &'static str,
    pub(super) linking: Linking,
    /// If it has packages and an image.
    pub(super) linux: Option<LinuxNames>,
}

/// The words for the processor of a Linux target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinuxNames {
    /// In packages of Debian and in images.
    pub(super) debian: &'static str,
    pub(super) rpm: &'static str,
}

/// All of them. The first one that runs here writes the man pages and completions.
pub(super) const TARGETS: &[DistTarget] = &[
    linux(
        "x86_64-unknown-linux-musl",
        "linux_amd64",
        "x86_64-linux-musl",
        LinuxNames { debian: "amd64", rpm: "x86_64" },
    ),
    linux(
        "aarch64-unknown-linux-musl",
        "linux_arm64",
        "aarch64-linux-musl",
        LinuxNames { debian: "arm64", rpm: "aarch64" },
    ),
    other("x86_64-pc-windows-gnu", "windows_amd64", "x86_64-windows-gnu", Linking::Zig),
    other("x86_64-apple-darwin", "darwin_amd64", "x86_64-macos", Linking::Vendor),
    other("aarch64-apple-darwin", "darwin_arm64", "aarch64-macos", Linking::Vendor),
];

const fn linux(triple: &'static str, platform: &'static str, zig: &'static str, names: LinuxNames) -> DistTarget {
    DistTarget { triple, platform, zig, linking: Linking::Rust, linux: Some(names) }
}

const fn other(triple: &'static str, platform: &'static str, zig: &'static str, linking: Linking) -> DistTarget {
    DistTarget { triple, platform, zig, linking, linux: None }
}

impl DistTarget {
    /// The target of this name.
    pub(super) fn parse(triple: &str) -> Result<&'static Self, String> {
        let known = || TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
        TARGETS.iter().find(|target| target.triple == triple).ok_or_else(|| format!("the targets are {}", known()))
    }

    /// The name of the archive without its ending, as `install.sh` and `cargo binstall` ask for it.
    pub(super) fn stem(&self, version: &str) -> String {
        format!("tofu-oci_{version}_{}", self.platform)
    }

    pub(super) fn archive(&self, version: &str) -> String {
        let ending = if self.is_windows() { "zip" } else { "tar.gz" };
        format!("{}.{ending}", self.stem(version))
    }

    pub(super) fn program(&self) -> &'static str {
        if self.is_windows() { "tofu-oci.exe" } else { "tofu-oci" }
    }

    pub(super) fn is_windows(&self) -> bool {
        self.triple.contains("windows")
    }

    /// Whether this machine runs its programs.
    pub(super) fn runs_here(&self) -> bool {
        self.linux.is_some() && cfg!(target_os = "linux") && self.triple.starts_with(std::env::consts::ARCH)
    }
}

impl fmt::Display for DistTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(triple: &str, archive: &str) {
        assert_eq!(DistTarget::parse(triple).unwrap().archive("1.2.3"), archive);
    }

    #[test]
    fn an_archive_is_named_by_its_version_and_platform() {
        check("x86_64-unknown-linux-musl", "tofu-oci_1.2.3_linux_amd64.tar.gz");
        check("x86_64-pc-windows-gnu", "tofu-oci_1.2.3_windows_amd64.zip");
        assert!(DistTarget::parse("riscv64").unwrap_err().starts_with("the targets are x86_64-unknown-linux-musl,"));
    }
}
