//! Which platform the name of a build stands for: the operating systems and architectures that Go knows, alone and in
//! names of builds.

use crate::Platform;

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

/// What builds for an architecture may demand of a processor, the least first.
///
/// Spec: `GoReleaser` 2.12, `goamd64`, `go386`, `goarm`, `goarm64`, `gomips`, `goppc64` and `goriscv64` of a build.
const LEVELS: &[(&[&str], &[&str])] = &[
    (&["amd64"], &["1", "2", "3", "4"]),
    (&["386", "mips", "mipsle", "mips64", "mips64le"], &["softfloat", "hardfloat", "sse2"]),
    (&["arm"], &["5", "6,softfloat", "6", "7,softfloat", "7"]),
    (
        &["arm64"],
        &[
            "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "8.9", "9.0", "9.1", "9.2", "9.3", "9.4",
            "9.5",
        ],
    ),
    (&["ppc64", "ppc64le"], &["power8", "power9", "power10"]),
    (&["riscv64"], &["rva20u64", "rva22u64", "rva23u64"]),
];

/// Whether Go knows both the operating system and the architecture, by its own names.
///
/// Spec: Go 1.25, `internal/syslist`.
pub fn is_known_to_go(os: &str, architecture: &str) -> bool {
    SYSTEMS.contains(&os) && ARCHITECTURES.contains(&architecture)
}

/// The platforms that a build is for, by the text that its file's name has for them, and what it demands of a processor.
///
/// `GoReleaser` names builds that demand more than their platform: `linux_armv7`, `linux_amd64v3`, `linux_mips_softfloat`, and
/// `linux_amd64_v1` in folders. Of two builds for one platform that with the smaller number runs on more machines, and 0 is the
/// name of the platform itself. `darwin_all` is for both architectures, and gives way to a build for one. `Linux_x86_64` and
/// `Windows_i386` are what `goreleaser init` writes, after `uname`. `None` if it is not a platform that Go knows.
///
/// Spec: `GoReleaser` 2.12, `internal/pipe/archive`, default name template; `internal/builders/golang`, `Target`.
pub fn platforms_of_build(text: &str) -> Option<(Vec<Platform>, u8)> {
    let (os, rest) = text.split_once('_')?;
    let os = os.to_ascii_lowercase();
    if (os.as_str(), rest) == ("darwin", "all") {
        let platforms = ["darwin_amd64", "darwin_arm64"].iter().filter_map(|name| name.parse().ok());
        return Some((platforms.collect(), u8::MAX));
    }
    let begins = |name: &'static str, go: &'static str| Some((go, rest.strip_prefix(name)?));
    let named = begins("x86_64", "amd64").or_else(|| begins("i386", "386"));
    let go = ARCHITECTURES.iter().filter_map(|name| begins(name, name)).max_by_key(|(name, _)| name.len());
    let (arch, demands) = named.or(go)?;
    let platform = SYSTEMS.contains(&os.as_str()).then(|| format!("{os}_{arch}").parse().ok())??;
    Some((vec![platform], demanded(arch, demands)?))
}

/// What stands after an architecture, such as `v7`, `_v8.0` or `_softfloat`, as a number.
fn demanded(arch: &str, text: &str) -> Option<u8> {
    if text.is_empty() {
        return Some(0);
    }
    let level = text.strip_prefix('_').map(|rest| rest.strip_prefix('v').unwrap_or(rest)).or(text.strip_prefix('v'))?;
    let (_, levels) = LEVELS.iter().find(|(names, _)| names.contains(&arch))?;
    (1..).zip(*levels).find(|(_, known)| **known == level).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let found = platforms_of_build(text).map_or_else(String::new, |(platforms, demands)| {
            platforms.iter().map(|platform| format!("{platform} {demands}")).collect::<Vec<_>>().join(", ")
        });
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn builds_are_named_as_goreleaser_names_them() {
        check("linux_arm", "linux_arm 0");
        check("linux_armv6", "linux_arm 3");
        check("linux_arm_7", "linux_arm 5");
        check("linux_arm_7,softfloat", "linux_arm 4");
        check("windows_amd64v3", "windows_amd64 3");
        check("linux_amd64_v1", "linux_amd64 1");
        check("darwin_arm64_v8.0", "darwin_arm64 1");
        check("linux_mips64le_softfloat", "linux_mips64le 1");
        check("linux_386_sse2", "linux_386 3");
        check("linux_ppc64le_power9", "linux_ppc64le 2");
        check("darwin_all", "darwin_amd64 255, darwin_arm64 255");
        check("Linux_x86_64", "linux_amd64 0");
        check("Windows_i386", "windows_386 0");
        check("Linux_armv6", "linux_arm 3");
    }

    #[test]
    fn other_names_are_not_guessed_at() {
        for text in [
            "linux_arm7",
            "linux_armv9",
            "linux_amd64v0",
            "macos_arm64",
            "linux_quantum",
            "linux",
            "linux_",
            "linux_amd64_",
        ] {
            check(text, "");
        }
    }
}
