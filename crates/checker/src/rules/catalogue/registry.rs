//! Rules about what a registry can do.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &REGISTRY_UPLOAD_MODE,
    &REGISTRY_MOUNT,
    &REGISTRY_CUSTOM_TYPES,
    &REGISTRY_REFERRERS,
    &REGISTRY_REFERRERS_LOST,
    &REGISTRY_TAGS,
    &REGISTRY_PAGING,
    &REGISTRY_DIGEST,
    &REGISTRY_HEAD,
    &REGISTRY_IMMUTABLE,
    &REGISTRY_DELETE,
    &REGISTRY_LIMIT,
    &REGISTRY_INDEX_CHECK,
    &REGISTRY_RANGES,
    &REGISTRY_LOCATION,
    &REGISTRY_DIGEST_ALGORITHM,
    &REGISTRY_LEFT,
];

pub(crate) static REGISTRY_UPLOAD_MODE: CheckRule = CheckRule {
    id: "registry-upload-mode",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a way to upload that the registry does not have or gets wrong",
    why: "tofu-oci uses POST and PUT by default and needs no other; other clients may.",
    spec: "OCI distribution-spec 1.1.1, Pushing a blob in chunks",
    fix: "do not set tofu-oci or other clients to this way here",
};

pub(crate) static REGISTRY_MOUNT: CheckRule = CheckRule {
    id: "registry-mount",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry that links no blobs between its repositories",
    why: "Copies within the registry send every byte again.",
    spec: "OCI distribution-spec 1.1.1, Mounting a blob from another repository",
    fix: "nothing",
};

pub(crate) static REGISTRY_CUSTOM_TYPES: CheckRule = CheckRule {
    id: "registry-custom-types",
    group: Group::Registry,
    level: FindingLevel::Error,
    finds: "a registry that refuses artifact, config or layer types of its users",
    why: "OpenTofu's layout needs them; only container images can be kept here, which OpenTofu 1.10 to 1.13 do not \
           install.",
    spec: "OCI image-spec 1.1.1, image-index.md; OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go",
    fix: "use another registry, or push with `--layout image` and install with tofu-oci",
};

pub(crate) static REGISTRY_REFERRERS: CheckRule = CheckRule {
    id: "registry-referrers",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry without the referrers API",
    why: "Signatures are listed under a tag `sha256-HEX` instead, which shows among the tags; OpenTofu ignores it.",
    spec: "OCI distribution-spec 1.1.1, Referrers Tag Schema",
    fix: "nothing",
};

pub(crate) static REGISTRY_REFERRERS_LOST: CheckRule = CheckRule {
    id: "registry-referrers-lost",
    group: Group::Registry,
    level: FindingLevel::Error,
    finds: "a registry that takes a referrer and then does not list it",
    why: "Signatures that were pushed are not found.",
    spec: "OCI distribution-spec 1.1.1, Listing Referrers",
    fix: "sign with `--sign-format cosign-tag`, and report it to the registry's operators",
};

pub(crate) static REGISTRY_TAGS: CheckRule = CheckRule {
    id: "registry-tags",
    group: Group::Registry,
    level: FindingLevel::Warning,
    finds: "a list of tags that leaves some out or cannot be paged",
    why: "A client that pages may not see every version.",
    spec: "OCI distribution-spec 1.1.1, Listing Tags",
    fix: "nothing for OpenTofu and tofu-oci, which follow what the registry gives",
};

pub(crate) static REGISTRY_PAGING: CheckRule = CheckRule {
    id: "registry-paging",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry that ignores how a list of tags is to be paged",
    why: "It gives all tags at once; clients that read until nothing is left see them all.",
    spec: "OCI distribution-spec 1.1.1, Listing Tags",
    fix: "nothing",
};

pub(crate) static REGISTRY_DIGEST: CheckRule = CheckRule {
    id: "registry-digests",
    group: Group::Registry,
    level: FindingLevel::Error,
    finds: "a registry that does not keep bytes under their digest",
    why: "What comes back is not what was pushed, or anything may lie under any name; every client then has to \
           refuse it.",
    spec: "OCI distribution-spec 1.1.1, Pushing blobs",
    fix: "use another registry",
};

pub(crate) static REGISTRY_HEAD: CheckRule = CheckRule {
    id: "registry-head",
    group: Group::Registry,
    level: FindingLevel::Error,
    finds: "a registry whose HEAD of a tag lacks type, length or digest",
    why: "OpenTofu resolves tags with HEAD and stops when one of the three is missing.",
    spec: "OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go; OCI distribution-spec 1.1.1, \
           Checking if content exists",
    fix: "use another registry, or ask its operators",
};

pub(crate) static REGISTRY_IMMUTABLE: CheckRule = CheckRule {
    id: "registry-immutable-tags",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry whose tags cannot be moved",
    why: "Good for releases. The tag that lists referrers cannot grow then, so at most one signature fits where \
           there is no referrers API.",
    spec: "OCI distribution-spec 1.1.1, Referrers Tag Schema",
    fix: "sign a release once",
};

pub(crate) static REGISTRY_DELETE: CheckRule = CheckRule {
    id: "registry-delete",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "something that the registry does not delete",
    why: "A wrong tag, such as `2`, stays and has to be removed by the registry's own means.",
    spec: "OCI distribution-spec 1.1.1, Content Management",
    fix: "turn deletion on, or use the registry's own interface",
};

pub(crate) static REGISTRY_LIMIT: CheckRule = CheckRule {
    id: "registry-manifest-limit",
    group: Group::Registry,
    level: FindingLevel::Warning,
    finds: "a registry that refuses manifests of less than 4 MiB",
    why: "Large indexes do not fit.",
    spec: "OCI distribution-spec 1.1.1, Pushing Manifests",
    fix: "nothing for ordinary releases",
};

pub(crate) static REGISTRY_INDEX_CHECK: CheckRule = CheckRule {
    id: "registry-index-check",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "how the registry meets an index whose children are missing",
    why: "One that takes it lets an interrupted push leave half a release behind; tofu-oci pushes the index after \
           its leaves everywhere.",
    spec: "OCI distribution-spec 1.1.1, Pushing Manifests",
    fix: "nothing",
};

pub(crate) static REGISTRY_RANGES: CheckRule = CheckRule {
    id: "registry-ranges",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry that gives blobs as a whole only",
    why: "A download that breaks begins again.",
    spec: "OCI distribution-spec 1.1.1, Pulling blobs",
    fix: "nothing",
};

pub(crate) static REGISTRY_LOCATION: CheckRule = CheckRule {
    id: "registry-upload-location",
    group: Group::Registry,
    level: FindingLevel::Warning,
    finds: "a registry whose uploads go to another origin",
    why: "No credential is shown there; where it expects one the upload fails.",
    spec: "OCI distribution-spec 1.1.1, POST then PUT; GHSA-jxpm-75mh-9fp7",
    fix: "set the registry's external address, such as `http.host` or the proxy's X-Forwarded headers",
};

pub(crate) static REGISTRY_DIGEST_ALGORITHM: CheckRule = CheckRule {
    id: "registry-sha512",
    group: Group::Registry,
    level: FindingLevel::Note,
    finds: "a registry that takes no sha512 digests",
    why: "Nothing here uses them: OpenTofu refuses packages that are not named by sha256.",
    spec: "OCI image-spec 1.1.1, descriptor.md, Registered algorithms",
    fix: "nothing",
};

pub(crate) static REGISTRY_LEFT: CheckRule = CheckRule {
    id: "registry-left-behind",
    group: Group::Registry,
    level: FindingLevel::Warning,
    finds: "content of the probe that could not be deleted",
    why: "It stays in the scratch repository.",
    spec: "OCI distribution-spec 1.1.1, Content Management",
    fix: "delete the scratch repository by the registry's own means",
};
