//! Rules about lock files.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &LOCK_SYNTAX,
    &LOCK_NOT_CANONICAL,
    &LOCK_CH_ONLY,
    &LOCK_NO_HASHES,
    &LOCK_H1_ONLY,
    &LOCK_ZH_ONLY,
    &LOCK_UNKNOWN_SCHEME,
    &LOCK_MALFORMED_HASH,
    &LOCK_EMPTY,
    &LOCK_MODULES,
    &LOCK_SYMLINK,
    &LOCK_ONE_PLATFORM,
    &LOCK_PLATFORM,
    &LOCK_PLATFORM_NOT_OFFERED,
    &LOCK_VERSION_GONE,
    &LOCK_VERSION_DEPRECATED,
    &LOCK_NOT_ASKED,
    &LOCK_LINE_UNKNOWN,
];

/// Those that need the release.
pub(super) static ASKED: &[&CheckRule] = &[
    &LOCK_PLATFORM,
    &LOCK_PLATFORM_NOT_OFFERED,
    &LOCK_VERSION_GONE,
    &LOCK_VERSION_DEPRECATED,
    &LOCK_NOT_ASKED,
    &LOCK_LINE_UNKNOWN,
];

pub(crate) static LOCK_SYNTAX: CheckRule = CheckRule {
    id: "lock-syntax",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a lock file that OpenTofu refuses to read",
    why: "`tofu init` stops at it.",
    spec: "OpenTofu 1.12, internal/depsfile/locks_file.go, LoadLocksFromFile",
    fix: "correct the line, or restore the file from version control",
};

pub(crate) static LOCK_NOT_CANONICAL: CheckRule = CheckRule {
    id: "lock-not-canonical",
    group: Group::LockFile,
    level: FindingLevel::Warning,
    finds: "a lock file that the next init would rewrite though it locks the same",
    why: "Text, order or repetitions are not as OpenTofu writes them: the next init changes the file, and a job \
           that demands an unchanged file fails.",
    spec: "OpenTofu 1.12, internal/depsfile/locks_file.go, SaveLocksToBytes",
    fix: "take over the text of the diff, or run `tofu-oci lock`",
};

pub(crate) static LOCK_CH_ONLY: CheckRule = CheckRule {
    id: "lock-ch-only",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a provider that is locked by ch: checksums alone",
    why: "OpenTofu knows h1: and zh: alone. With none of them it verifies nothing, and installs any package.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go, PreferredHashes; OpenTofu 1.12, \
           internal/providercache/installer.go",
    fix: "run `tofu-oci lock`, which adds h1: and zh:",
};

pub(crate) static LOCK_NO_HASHES: CheckRule = CheckRule {
    id: "lock-no-hashes",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a provider that is locked without any checksum that OpenTofu knows",
    why: "OpenTofu then verifies nothing, and installs any package.",
    spec: "OpenTofu 1.12, internal/providercache/installer.go",
    fix: "run `tofu-oci lock`",
};

pub(crate) static LOCK_H1_ONLY: CheckRule = CheckRule {
    id: "lock-h1-only",
    group: Group::LockFile,
    level: FindingLevel::Warning,
    finds: "a provider that is locked by h1: checksums alone",
    why: "An `oci_mirror` looks for the zh: of the package before it downloads, and refuses a package without one.",
    spec: "OpenTofu 1.12, internal/getproviders/package_location_oci_blob_archive.go",
    fix: "run `tofu-oci lock`, which adds zh:",
};

pub(crate) static LOCK_ZH_ONLY: CheckRule = CheckRule {
    id: "lock-zh-only",
    group: Group::LockFile,
    level: FindingLevel::Warning,
    finds: "a provider that is locked by zh: checksums alone",
    why: "It can be installed, but a folder that is there already, or unpacked, cannot be compared with zh:, and \
           OpenTofu then asks for init again.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go; OpenTofu 1.12, internal/providercache/installer.go",
    fix: "run `tofu-oci lock`, which adds h1:",
};

pub(crate) static LOCK_UNKNOWN_SCHEME: CheckRule = CheckRule {
    id: "lock-unknown-scheme",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "a checksum of a scheme that neither OpenTofu nor tofu-oci knows",
    why: "It is kept, and protects nothing.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go",
    fix: "nothing, or remove the line",
};

pub(crate) static LOCK_MALFORMED_HASH: CheckRule = CheckRule {
    id: "lock-malformed-hash",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a checksum that no package can have",
    why: "It is read without complaint and never matches. If it was meant to protect a platform, it does not.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go",
    fix: "remove the line, then run `tofu-oci lock`",
};

pub(crate) static LOCK_EMPTY: CheckRule = CheckRule {
    id: "lock-empty",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "a lock file without any provider",
    why: "It protects nothing.",
    spec: "OpenTofu 1.12, internal/depsfile/locks_file.go",
    fix: "run `tofu-oci lock` where the configuration needs providers",
};

pub(crate) static LOCK_MODULES: CheckRule = CheckRule {
    id: "lock-module-blocks",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "blocks for modules in a lock file",
    why: "They are reserved, lock nothing, and are gone when the file is written.",
    spec: "OpenTofu 1.12, internal/depsfile/locks_file.go",
    fix: "remove them",
};

pub(crate) static LOCK_SYMLINK: CheckRule = CheckRule {
    id: "lock-symlink",
    group: Group::LockFile,
    level: FindingLevel::Warning,
    finds: "a lock file that is a symbolic link",
    why: "OpenTofu and tofu-oci replace the link with a file when they write: its target is no longer kept up.",
    spec: "OpenTofu 1.12, internal/replacefile; `tofu-oci help locking`",
    fix: "put the file itself there",
};

pub(crate) static LOCK_ONE_PLATFORM: CheckRule = CheckRule {
    id: "lock-one-platform",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "a provider whose lines cover one platform, reported if no platform was demanded",
    why: "A package has one zh: and one h1:, so a single line is one platform: init fails on every other one.",
    spec: "OpenTofu 1.12, internal/providercache/installer.go",
    fix: "run `tofu-oci lock` where the provider is used on other platforms too",
};

pub(crate) static LOCK_PLATFORM_NOT_OFFERED: CheckRule = CheckRule {
    id: "lock-platform-not-offered",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a platform that was demanded and that the locked release does not offer",
    why: "init on that platform fails, whatever is locked: there is no package for it.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "choose a version that offers the platform, or publish one; no checksum helps",
};

pub(crate) static LOCK_PLATFORM: CheckRule = CheckRule {
    id: "lock-platform",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a platform that no line of a provider covers",
    why: "init on that platform fails: no checksum of the package is among the lines.",
    spec: "OpenTofu 1.12, internal/providercache/installer.go",
    fix: "run `tofu-oci lock --platform OS_ARCH`",
};

pub(crate) static LOCK_VERSION_GONE: CheckRule = CheckRule {
    id: "lock-version-gone",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a locked version that its repository does not offer any more",
    why: "init demands that the version is still listed.",
    spec: "OpenTofu 1.12, internal/providercache/installer.go",
    fix: "push or copy the release again, or upgrade",
};

pub(crate) static LOCK_VERSION_DEPRECATED: CheckRule = CheckRule {
    id: "lock-version-deprecated",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "a locked version that its publisher has deprecated",
    why: "It can still be installed; its publisher asks for another one to be used.",
    spec: "`tofu-oci help publishing`",
    fix: "choose the version that the reason names, and run `tofu-oci install --upgrade`",
};

pub(crate) static LOCK_NOT_ASKED: CheckRule = CheckRule {
    id: "lock-not-asked",
    group: Group::LockFile,
    level: FindingLevel::Error,
    finds: "a provider whose release cannot be compared with, because it is damaged or no place is configured for it",
    why: "Whether its lines cover the platforms that were demanded is not known, and that is not the same as good.",
    spec: "`tofu-oci help checking`, \"Lock files\"",
    fix: "see the cause in the finding; without --platform nothing is asked",
};

pub(crate) static LOCK_LINE_UNKNOWN: CheckRule = CheckRule {
    id: "lock-line-unknown",
    group: Group::LockFile,
    level: FindingLevel::Note,
    finds: "a checksum that no package of the release has",
    why: "It belongs to a package from another source, or it is wrong.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go",
    fix: "nothing; `tofu-oci lock` keeps lines of others",
};
