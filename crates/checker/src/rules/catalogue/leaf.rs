//! Rules about leaves.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &NO_PROVIDER_LEAF,
    &LEAF_MISSING,
    &LEAF_MEDIA_TYPE,
    &LEAF_ARTIFACT_TYPE,
    &ENTRY_ARTIFACT_TYPE,
    &LEAF_WITHOUT_PLATFORM,
    &DUPLICATE_PLATFORM,
    &PLATFORM_NOT_OFFERED,
    &UNKNOWN_PLATFORM,
    &OS_VERSION,
    &VARIANT,
    &NO_LEAVES,
    &IMAGE_ONLY,
    &IMAGE_LABEL,
    &CONFIG_UNREADABLE,
    &CONFIG_PLATFORM,
    &DIFF_IDS,
    &DIFF_IDS_MISSING,
    &SEVERAL_PACKAGES,
    &NO_ZIP_LAYER,
    &EXTRA_LAYER,
    &LAYER_DIGEST_ALGORITHM,
    &LAYER_PLATFORM,
    &FOREIGN_URLS,
];

pub(crate) static NO_PROVIDER_LEAF: CheckRule = CheckRule {
    id: "no-provider-leaf",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an index of provider type in which no entry has the artifactType \
           application/vnd.opentofu.provider-target",
    why: "OpenTofu skips every entry without that type on the entry itself, and finds nothing to install.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "set `artifactType` on the entries of the index, not on the manifests alone",
};

pub(crate) static LEAF_MISSING: CheckRule = CheckRule {
    id: "leaf-missing",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an entry of an index whose manifest is missing",
    why: "The platform is offered and cannot be installed.",
    spec: "OCI image-spec 1.1.1, image-index.md",
    fix: "push the release again; push leaves before the index",
};

pub(crate) static LEAF_MEDIA_TYPE: CheckRule = CheckRule {
    id: "leaf-media-type",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an entry of provider type that is not an OCI image manifest",
    why: "OpenTofu stops at such an entry, whichever platform it was looking for.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "list OCI image manifests alone under the provider type",
};

pub(crate) static LEAF_ARTIFACT_TYPE: CheckRule = CheckRule {
    id: "leaf-artifact-type",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a leaf whose manifest does not repeat the artifactType of its entry",
    why: "OpenTofu reads the type twice, on the entry and in the manifest, and refuses the leaf when the second is \
           missing or another one.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, fetchOCIImageManifest",
    fix: "set `artifactType` in the manifest too",
};

pub(crate) static ENTRY_ARTIFACT_TYPE: CheckRule = CheckRule {
    id: "entry-artifact-type",
    group: Group::Leaf,
    level: FindingLevel::Warning,
    finds: "a leaf of provider type whose entry in the index does not say so",
    why: "OpenTofu decides by the entry and skips this one, although its manifest is a provider package.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "set `artifactType` on the entry",
};

pub(crate) static LEAF_WITHOUT_PLATFORM: CheckRule = CheckRule {
    id: "leaf-without-platform",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an entry of provider type without a platform",
    why: "OpenTofu stops at such an entry, whichever platform it was looking for.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "write `platform` with `os` and `architecture` on the entry",
};

pub(crate) static DUPLICATE_PLATFORM: CheckRule = CheckRule {
    id: "duplicate-platform",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "two leaves of provider type for one platform",
    why: "OpenTofu refuses the release for that platform as ambiguous.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "list one leaf a platform; variants do not tell leaves apart",
};

pub(crate) static PLATFORM_NOT_OFFERED: CheckRule = CheckRule {
    id: "platform-not-offered",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a platform that was named with --platform and that the release does not offer",
    why: "OpenTofu chooses the version all the same, finds no package in it and stops.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "push the release with a package for that platform, or leave out --platform",
};

pub(crate) static UNKNOWN_PLATFORM: CheckRule = CheckRule {
    id: "unknown-platform",
    group: Group::Leaf,
    level: FindingLevel::Warning,
    finds: "a platform that Go and so OpenTofu do not know",
    why: "No OpenTofu runs there: `x86_64` is `amd64`, `aarch64` is `arm64`, `macos` is `darwin`.",
    spec: "OCI image-spec 1.1.1, image-index.md, \"platform\"",
    fix: "write GOOS and GOARCH names",
};

pub(crate) static OS_VERSION: CheckRule = CheckRule {
    id: "platform-os-version",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an entry of provider type whose platform has an os.version",
    why: "OpenTofu skips the entry, as if the platform were not offered.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "leave out `os.version`",
};

pub(crate) static VARIANT: CheckRule = CheckRule {
    id: "platform-variant",
    group: Group::Leaf,
    level: FindingLevel::Note,
    finds: "an entry whose platform has a variant",
    why: "OpenTofu ignores the variant; two entries that differ only in it would be one platform twice.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "nothing, or leave out `variant`",
};

pub(crate) static NO_LEAVES: CheckRule = CheckRule {
    id: "nothing-installable",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a release in which no leaf can be installed by OpenTofu or by tofu-oci",
    why: "Neither a leaf of provider type nor a labelled image is in it.",
    spec: "`tofu-oci help layouts`",
    fix: "publish it with `tofu-oci push`",
};

pub(crate) static IMAGE_ONLY: CheckRule = CheckRule {
    id: "image-only",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a release that consists of labelled container images alone",
    why: "tofu-oci installs it, as the RFC has it; OpenTofu 1.10 to 1.13 refuse it.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go; OpenTofu RFC \
           20241206-oci-registries, provider packages as container images",
    fix: "publish with `--layout both`, which serves both kinds of client",
};

pub(crate) static IMAGE_LABEL: CheckRule = CheckRule {
    id: "image-label",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a container image without the label org.opentofu.package-type=provider_binary",
    why: "The label says that an image is a provider package. Without it an ordinary image of the same platform \
           would be unpacked as a plugin, so it is refused.",
    spec: "OpenTofu RFC 20241206-oci-registries, provider packages as container images",
    fix: "add `LABEL org.opentofu.package-type=provider_binary` to the Dockerfile",
};

pub(crate) static CONFIG_UNREADABLE: CheckRule = CheckRule {
    id: "config-unreadable",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an image whose config is missing, damaged or no image config",
    why: "The label and the layers' content digests stand in the config; without it the image cannot be installed.",
    spec: "OCI image-spec 1.1.1, config.md",
    fix: "push the release again",
};

pub(crate) static CONFIG_PLATFORM: CheckRule = CheckRule {
    id: "config-platform",
    group: Group::Leaf,
    level: FindingLevel::Warning,
    finds: "a config that names another platform than the index",
    why: "One of the two is wrong: perhaps a package lies under the wrong platform.",
    spec: "OCI image-spec 1.1.1, config.md, `os` and `architecture`",
    fix: "build the leaf again for its platform",
};

pub(crate) static DIFF_IDS: CheckRule = CheckRule {
    id: "diff-ids",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "an image whose diff_ids do not fit its layers",
    why: "A client that checks them refuses the image; the layers are not those that the config was made for.",
    spec: "OCI image-spec 1.1.1, config.md, `rootfs.diff_ids`",
    fix: "push the release again",
};

pub(crate) static DIFF_IDS_MISSING: CheckRule = CheckRule {
    id: "diff-ids-missing",
    group: Group::Leaf,
    level: FindingLevel::Warning,
    finds: "an image whose config names no diff_ids",
    why: "OpenTofu and tofu-oci need none; container tools refuse the image.",
    spec: "OCI image-spec 1.1.1, config.md, `rootfs.diff_ids`",
    fix: "build the image with a current builder",
};

pub(crate) static SEVERAL_PACKAGES: CheckRule = CheckRule {
    id: "several-packages",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a leaf with more than one layer of type archive/zip",
    why: "OpenTofu does not choose among them and refuses the leaf.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCILayer",
    fix: "keep one zip a leaf",
};

pub(crate) static NO_ZIP_LAYER: CheckRule = CheckRule {
    id: "no-zip-layer",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a leaf of provider type without a layer of type archive/zip",
    why: "OpenTofu finds no package in it; `application/zip` and tar archives do not count.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCILayer",
    fix: "push the release zip as a layer of type archive/zip",
};

pub(crate) static EXTRA_LAYER: CheckRule = CheckRule {
    id: "extra-layer",
    group: Group::Leaf,
    level: FindingLevel::Note,
    finds: "a leaf with further layers beside its zip",
    why: "OpenTofu and tofu-oci ignore them; others may not.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCILayer",
    fix: "nothing, or leave them out",
};

pub(crate) static LAYER_DIGEST_ALGORITHM: CheckRule = CheckRule {
    id: "layer-digest-algorithm",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a package layer whose digest is not sha256",
    why: "OpenTofu turns the digest into a `zh:` checksum and refuses any other algorithm.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, PackageMeta",
    fix: "push the package by its sha256 digest",
};

pub(crate) static LAYER_PLATFORM: CheckRule = CheckRule {
    id: "layer-platform",
    group: Group::Leaf,
    level: FindingLevel::Error,
    finds: "a package layer whose own platform differs from the leaf's",
    why: "OpenTofu compares the two and refuses the leaf.",
    spec: "OpenTofu 1.12, internal/getproviders/package_location_oci_blob_archive.go",
    fix: "leave out `platform` on the layer, or write the right one",
};

pub(crate) static FOREIGN_URLS: CheckRule = CheckRule {
    id: "foreign-urls",
    group: Group::Leaf,
    level: FindingLevel::Warning,
    finds: "a descriptor that names URLs to fetch its content from",
    why: "No client here follows them: content comes from the repository, and following them has leaked \
           credentials.",
    spec: "CVE-2020-15157; OCI image-spec 1.1.1, descriptor.md",
    fix: "push the content and leave out `urls`",
};
