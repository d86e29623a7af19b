//! The names of operating systems and architectures that Go knows.

/// Spec: Go 1.25, `internal/syslist`, `KnownOS`, and `windows`, `plan9`, `wasip1` of the same list.
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

/// Spec: Go 1.25, `internal/syslist`, `KnownArch`.
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

/// Whether Go knows both the operating system and the architecture, by its own names.
///
/// Spec: Go 1.25, `internal/syslist`.
pub fn is_known_to_go(os: &str, architecture: &str) -> bool {
    SYSTEMS.contains(&os) && ARCHITECTURES.contains(&architecture)
}
