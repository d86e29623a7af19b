//! Rules about signatures and other referrers.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &UNSIGNED,
    &SIGNATURE_REFUSED,
    &SIGNATURE_NOT_CHECKED,
    &SIGNATURE_UNREADABLE,
    &NOT_TRUSTED,
    &WITHDRAWN_VERSION,
    &DEPRECATED_VERSION,
    &REFERRER_DANGLING,
    &REFERRER_OTHER_SUBJECT,
    &REFERRER_MISSING,
];

pub(crate) static UNSIGNED: CheckRule = CheckRule {
    id: "unsigned",
    group: Group::Signatures,
    level: FindingLevel::Note,
    finds: "a release without any signature",
    why: "Nothing proves who made it; clients take what a registry gives.",
    spec: "`tofu-oci help trust`",
    fix: "sign it: `tofu-oci sign REPOSITORY:VERSION --key K`, or `--keyless` as a CI job",
};

pub(crate) static SIGNATURE_REFUSED: CheckRule = CheckRule {
    id: "signature-refused",
    group: Group::Signatures,
    level: FindingLevel::Error,
    finds: "a signature that does not hold for this release",
    why: "It is damaged, by a key that is not trusted for this provider, or made for another provider or version. \
           Clients whose policy wants a signature refuse the release.",
    spec: "`tofu-oci help trust`",
    fix: "sign the release again with the right key, and delete the wrong signature",
};

pub(crate) static SIGNATURE_NOT_CHECKED: CheckRule = CheckRule {
    id: "signature-not-checked",
    group: Group::Signatures,
    level: FindingLevel::Note,
    finds: "a signature that no key at hand could check",
    why: "The trust policy names other keys for this provider than the one that made it, or no keys; what the \
           signature claims is not proven. Another signature may count all the same.",
    spec: "`tofu-oci help trust`",
    fix: "name the key that made it in trust.toml, or give --trust-policy FILE; if another signature counts, nothing",
};

pub(crate) static SIGNATURE_UNREADABLE: CheckRule = CheckRule {
    id: "signature-unreadable",
    group: Group::Signatures,
    level: FindingLevel::Warning,
    finds: "a signature that cannot be read",
    why: "It counts as none.",
    spec: "`tofu-oci help trust`",
    fix: "sign the release again",
};

pub(crate) static NOT_TRUSTED: CheckRule = CheckRule {
    id: "not-trusted",
    group: Group::Signatures,
    level: FindingLevel::Error,
    finds: "a release that the trust policy refuses",
    why: "`tofu-oci install` and `tofu-oci lock` refuse it with this policy.",
    spec: "`tofu-oci help trust`",
    fix: "`tofu-oci help error CODE` explains the code in the finding",
};

pub(crate) static WITHDRAWN_VERSION: CheckRule = CheckRule {
    id: "withdrawn-version",
    group: Group::Signatures,
    level: FindingLevel::Error,
    finds: "a version whose tag points at a release that its publisher has withdrawn or replaced",
    why: "`tofu-oci install` and `tofu-oci lock` refuse it wherever they look at signatures. OpenTofu installs it all the \
           same. Somebody may have put an old release back under the tag.",
    spec: "`tofu-oci help publishing`",
    fix: "push the right release again with --replace-tag, or withdraw the version",
};

pub(crate) static DEPRECATED_VERSION: CheckRule = CheckRule {
    id: "deprecated-version",
    group: Group::Signatures,
    level: FindingLevel::Note,
    finds: "a version that its publisher has deprecated",
    why: "It can still be installed; its publisher asks for another one to be used.",
    spec: "`tofu-oci help publishing`",
    fix: "nothing, if that is meant; users choose the version that the reason names",
};

pub(crate) static REFERRER_DANGLING: CheckRule = CheckRule {
    id: "referrer-dangling",
    group: Group::Signatures,
    level: FindingLevel::Warning,
    finds: "a list of referrers, or a signature, of an index that the repository does not have",
    why: "The release was deleted or moved and its signature stayed behind, or the signature was copied without \
           it.",
    spec: "OCI distribution-spec 1.1.1, Referrers Tag Schema",
    fix: "copy the release with its referrers (`tofu-oci copy` does), or delete the tag",
};

pub(crate) static REFERRER_OTHER_SUBJECT: CheckRule = CheckRule {
    id: "referrer-other-subject",
    group: Group::Signatures,
    level: FindingLevel::Warning,
    finds: "a listed referrer whose manifest names another subject, or none",
    why: "It says nothing about this release and is passed over.",
    spec: "OCI distribution-spec 1.1.1, Listing Referrers",
    fix: "push the referrer again",
};

pub(crate) static REFERRER_MISSING: CheckRule = CheckRule {
    id: "referrer-missing",
    group: Group::Signatures,
    level: FindingLevel::Error,
    finds: "a listed referrer whose manifest is missing",
    why: "What it said, perhaps a signature, is lost.",
    spec: "OCI distribution-spec 1.1.1, Listing Referrers",
    fix: "push the referrer again",
};
