//! Rules about the index of a release.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &MANIFEST_NOT_JSON,
    &NOT_AN_INDEX,
    &INDEX_MEDIA_TYPE,
    &BODY_MEDIA_TYPE,
    &INDEX_ARTIFACT_TYPE,
    &INDEX_EMPTY,
    &NESTED_INDEX,
    &TOO_MANY_ENTRIES,
    &ATTESTATION_ENTRY,
    &DUPLICATE_MEMBER,
    &MANIFEST_TOO_LARGE,
    &INDEX_BOTH_KINDS,
    &SCHEMA_VERSION,
    &MANIFEST_DIGEST,
    &CONTENT_UNREADABLE,
    &PREDICTED_REFUSAL,
    &PLAIN_HTTP,
    &PLAIN_HTTP_LOOPBACK,
];

pub(crate) static MANIFEST_NOT_JSON: CheckRule = CheckRule {
    id: "manifest-not-json",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest that is not a JSON document",
    why: "Nothing can be read from it.",
    spec: "OCI image-spec 1.1.1, image-index.md",
    fix: "push the release again",
};

pub(crate) static NOT_AN_INDEX: CheckRule = CheckRule {
    id: "not-an-index",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a version tag that names a manifest of one platform instead of an index",
    why: "OpenTofu wants an index that lists a manifest for each platform, even where there is only one platform.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, PackageMeta",
    fix: "push an index that lists the manifest with its platform",
};

pub(crate) static INDEX_MEDIA_TYPE: CheckRule = CheckRule {
    id: "index-media-type",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a version tag whose media type is not the OCI index type, such as a Docker manifest list",
    why: "OpenTofu accepts the OCI index alone.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, PackageMeta",
    fix: "build with OCI media types (`oci-mediatypes=true`), or convert the list to an OCI index",
};

pub(crate) static BODY_MEDIA_TYPE: CheckRule = CheckRule {
    id: "body-media-type",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest whose member `mediaType` is missing or differs from what it was served as",
    why: "OpenTofu demands the member in index and leaf, and a document that is two things at once can show \
           different content to different readers.",
    spec: "OCI image-spec 1.1.1, image-index.md, manifest.md; CVE-2021-41190",
    fix: "write `mediaType` into the document",
};

pub(crate) static INDEX_ARTIFACT_TYPE: CheckRule = CheckRule {
    id: "index-artifact-type",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "an index whose artifactType is not application/vnd.opentofu.provider",
    why: "OpenTofu takes no other index for a provider.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, fetchOCIIndexManifest",
    fix: "set `artifactType` of the index; `tofu-oci push` does",
};

pub(crate) static INDEX_EMPTY: CheckRule = CheckRule {
    id: "index-empty",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "an index without entries",
    why: "There is nothing to install for any platform.",
    spec: "OCI image-spec 1.1.1, image-index.md",
    fix: "push the release again",
};

pub(crate) static NESTED_INDEX: CheckRule = CheckRule {
    id: "nested-index",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "an entry of an index that is itself an index",
    why: "OpenTofu does not look into nested indexes: as an entry of provider type it stops the installation, as \
           any other entry it is skipped.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, selectOCIManifest",
    fix: "list the manifests of the inner index directly",
};

pub(crate) static TOO_MANY_ENTRIES: CheckRule = CheckRule {
    id: "too-many-entries",
    group: Group::Index,
    level: FindingLevel::Warning,
    finds: "an index with more than 1000 entries",
    why: "tofu-oci reads no more than that, and did not check the rest.",
    spec: "`tofu-oci help layouts`",
    fix: "publish fewer entries",
};

pub(crate) static ATTESTATION_ENTRY: CheckRule = CheckRule {
    id: "attestation-entry",
    group: Group::Index,
    level: FindingLevel::Note,
    finds: "an entry that is a build attestation",
    why: "OpenTofu and tofu-oci skip it. It costs readers nothing and cannot be installed.",
    spec: "BuildKit, docs/attestations/attestation-storage.md",
    fix: "nothing; `--provenance=false` leaves it out",
};

pub(crate) static DUPLICATE_MEMBER: CheckRule = CheckRule {
    id: "duplicate-json-member",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest in which a member of an object occurs twice",
    why: "Which of the two counts differs from reader to reader, so two clients see two releases; tofu-oci refuses \
           it.",
    spec: "RFC 8259, section 4",
    fix: "write each member once",
};

pub(crate) static MANIFEST_TOO_LARGE: CheckRule = CheckRule {
    id: "manifest-too-large",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest of more than 4 MiB",
    why: "Registries need not take it, and OpenTofu refuses what is 5 MiB or more.",
    spec: "OCI distribution-spec 1.1.1, Pushing Manifests",
    fix: "publish fewer entries or shorter annotations",
};

pub(crate) static INDEX_BOTH_KINDS: CheckRule = CheckRule {
    id: "manifest-of-two-kinds",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a document with `manifests` beside `layers` or `config`",
    why: "It is an index to one reader and an image to the next; tofu-oci refuses it.",
    spec: "CVE-2021-41190; OCI image-spec 1.1.1, manifest.md",
    fix: "write one of the two",
};

pub(crate) static SCHEMA_VERSION: CheckRule = CheckRule {
    id: "schema-version",
    group: Group::Index,
    level: FindingLevel::Warning,
    finds: "a manifest whose schemaVersion is not 2",
    why: "The specification demands 2, and some registries refuse anything else.",
    spec: "OCI image-spec 1.1.1, image-index.md",
    fix: "write `schemaVersion` 2",
};

pub(crate) static MANIFEST_DIGEST: CheckRule = CheckRule {
    id: "manifest-digest",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest whose bytes do not have the size or digest that names it",
    why: "Every client refuses it: what was asked for and what came are two things.",
    spec: "OCI image-spec 1.1.1, descriptor.md, Digests",
    fix: "push the release again",
};

pub(crate) static CONTENT_UNREADABLE: CheckRule = CheckRule {
    id: "content-unreadable",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a manifest or blob that is there in a form that cannot be read",
    why: "It cannot be used as it lies there, such as a link that leads out of an image layout; other programs read \
           something else, or nothing.",
    spec: "OCI distribution-spec 1.1.1, Pulling manifests and blobs",
    fix: "see the cause in the finding; push or copy the release again",
};

pub(crate) static PREDICTED_REFUSAL: CheckRule = CheckRule {
    id: "opentofu-refuses",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a release that OpenTofu refuses for a reason that no other rule has found",
    why: "The prediction walks through the same steps as OpenTofu does, and one of them fails.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go",
    fix: "`tofu-oci help error CODE` explains the code in the finding",
};

const PLAIN_HTTP_SPEC: &str =
    "OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go; measured";

pub(crate) static PLAIN_HTTP: CheckRule = CheckRule {
    id: "plain-http",
    group: Group::Index,
    level: FindingLevel::Error,
    finds: "a registry on another machine that was spoken to by plain HTTP",
    why: "No release of OpenTofu speaks plain HTTP with a registry, so none installs from here.",
    spec: PLAIN_HTTP_SPEC,
    fix: "serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu",
};

pub(crate) static PLAIN_HTTP_LOOPBACK: CheckRule = CheckRule {
    id: "plain-http-loopback",
    group: Group::Index,
    level: FindingLevel::Warning,
    finds: "a registry on this machine that was spoken to by plain HTTP",
    why: "No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so none installs from here.",
    spec: PLAIN_HTTP_SPEC,
    fix: "serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu",
};
