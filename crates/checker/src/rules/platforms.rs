//! The names of platforms.

/// GOOS names.
const SYSTEMS: &[&str] = &[
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
];

/// GOARCH names.
const ARCHITECTURES: &[&str] = &[
    "386",
    "amd64",
    "amd64p32",
    "arm",
    "arm64",
    "arm64be",
    "armbe",
    "loong64",
    "mips",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
];

/// Whether Go knows a platform of these names.
///
/// Spec: Go, `internal/syslist`.
pub(super) fn is_known(os: &str, architecture: &str) -> bool {
    SYSTEMS.contains(&os) && ARCHITECTURES.contains(&architecture)
}

/// The platform that a tag ends in: `1.0.0-linux_amd64`, `1.0.0_linux.amd64`, `1.0.0-linux-amd64`.
pub(super) fn at_the_end(tag: &str) -> Option<String> {
    let (rest, architecture) = tag.rsplit_once(['_', '.', '-'])?;
    let (_, os) = rest.rsplit_once(['_', '.', '-'])?;
    is_known(os, architecture).then(|| format!("{os}_{architecture}"))
}
