//! Rules about tags.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &STRAY_VERSION_TAG,
    &SECOND_SPELLING_TAG,
    &NO_VERSION_TAGS,
    &V_TAG,
    &SEVERAL_BUILDS,
    &PRERELEASES_ONLY,
    &VERSION_ZERO,
    &PLATFORM_TAG,
    &VERSION_NOT_LISTED,
    &TAG_UNREADABLE,
    &HALF_WITHDRAWN,
];

pub(crate) static STRAY_VERSION_TAG: CheckRule = CheckRule {
    id: "stray-version-tag",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a tag that OpenTofu reads as a version but cannot ask for again, such as `2`, `1.4` or `01.4.0`",
    why: "OpenTofu lists the version that it reads, chooses it where it is the newest, asks for the tag of that \
           version's full spelling and gets 404: init fails for every user of the repository.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions and PackageMeta",
    fix: "delete the tag; never let a release pipeline write floating tags such as `1` or `1.4` here",
};

pub(crate) static SECOND_SPELLING_TAG: CheckRule = CheckRule {
    id: "second-spelling-tag",
    group: Group::Tags,
    level: FindingLevel::Warning,
    finds: "a second spelling of a version whose canonical tag is there too, such as `1.0` beside `1.0.0`",
    why: "It changes nothing as long as the canonical tag is there. When that one is deleted, the version is still \
           listed and can no longer be had.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions",
    fix: "delete the tag",
};

pub(crate) static NO_VERSION_TAGS: CheckRule = CheckRule {
    id: "no-version-tags",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a repository without any tag that OpenTofu reads as a version",
    why: "OpenTofu finds versions by listing tags; here it finds none and says that the provider is not found.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions",
    fix: "push a release under its version: MAJOR.MINOR.PATCH without `v`, `+` written `_`",
};

pub(crate) static V_TAG: CheckRule = CheckRule {
    id: "v-tag",
    group: Group::Tags,
    level: FindingLevel::Warning,
    finds: "a tag with `v` before the version while the version's own tag is missing",
    why: "OpenTofu ignores a tag such as `v1.0.0`: what it names cannot be installed.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions",
    fix: "push the same index under the version without `v`",
};

pub(crate) static SEVERAL_BUILDS: CheckRule = CheckRule {
    id: "several-builds",
    group: Group::Tags,
    level: FindingLevel::Warning,
    finds: "versions that differ only in build metadata",
    why: "Build metadata plays no part in the order of versions, so which of them is installed depends on the \
           order in which the registry lists its tags.",
    spec: "OpenTofu 1.12, go-versions, Version.LessThan; OpenTofu 1.12, internal/providercache/installer.go",
    fix: "keep one build of each version",
};

pub(crate) static PRERELEASES_ONLY: CheckRule = CheckRule {
    id: "prereleases-only",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a repository in which every version is a prerelease",
    why: "A prerelease is chosen only by a constraint that names it exactly; `tofu init` without one says that \
           there are no available releases.",
    spec: "OpenTofu 1.12, go-versions, MeetingConstraints",
    fix: "publish a release, or tell users to name the version exactly",
};

pub(crate) static VERSION_ZERO: CheckRule = CheckRule {
    id: "version-zero",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "the version 0.0.0",
    why: "OpenTofu takes 0.0.0 for `no version` and refuses to install it.",
    spec: "OpenTofu 1.12, internal/providercache/installer.go, EnsureProviderVersions",
    fix: "publish the release under another version",
};

pub(crate) static PLATFORM_TAG: CheckRule = CheckRule {
    id: "platform-tag",
    group: Group::Tags,
    level: FindingLevel::Warning,
    finds: "a tag that ends in a platform and is read as a version, such as `1.0.0_linux.amd64`",
    why: "OpenTofu lists it as a version of its own: as a release with build metadata, which init may choose, or \
           as a prerelease.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions",
    fix: "delete the tag; leaves need no tag, the index names them by digest",
};

pub(crate) static VERSION_NOT_LISTED: CheckRule = CheckRule {
    id: "version-not-listed",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a version that was asked for and that no tag reads as",
    why: "OpenTofu does not find it among the versions, and a constraint that names it cannot be met.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions",
    fix: "ask for another version, or push this one if it was not withdrawn",
};

pub(crate) static TAG_UNREADABLE: CheckRule = CheckRule {
    id: "tag-unreadable",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a version tag whose manifest cannot be had",
    why: "The version is listed, so it may be chosen, and then nothing can be installed.",
    spec: "OCI distribution-spec 1.1.1, Pulling manifests",
    fix: "push the release again, or delete the tag",
};

pub(crate) static HALF_WITHDRAWN: CheckRule = CheckRule {
    id: "half-withdrawn",
    group: Group::Tags,
    level: FindingLevel::Error,
    finds: "a version tag without a release beside the tag `withdrawn-VERSION`",
    why: "A withdrawal was interrupted: OpenTofu still lists the version, chooses it where it is the newest, and then fails. If the tag names the withdrawn release, the rule is `withdrawn-version`.",
    spec: "`tofu-oci help withdrawing`",
    fix: "finish it: `tofu-oci withdraw REPOSITORY:VERSION --reason TEXT`; or take it back: `tofu-oci withdraw REPOSITORY:VERSION --undo`; either with `--sign-key KEY` if its notice is signed",
};
