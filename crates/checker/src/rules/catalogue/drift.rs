//! Rules about two repositories that should be equal.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] =
    &[&DRIFT_TAG_MISSING, &DRIFT_INDEX, &DRIFT_PLATFORM, &DRIFT_PACKAGE, &DRIFT_ANNOTATION, &DRIFT_REFERRER];

pub(crate) static DRIFT_TAG_MISSING: CheckRule = CheckRule {
    id: "drift-tag-missing",
    group: Group::Drift,
    level: FindingLevel::Error,
    finds: "a version that one of two repositories has and the other has not",
    why: "A lock file made against one cannot be installed from the other.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "copy it: `tofu-oci copy FROM TO`",
};

pub(crate) static DRIFT_INDEX: CheckRule = CheckRule {
    id: "drift-index",
    group: Group::Drift,
    level: FindingLevel::Error,
    finds: "a version whose index differs between two repositories",
    why: "Its signature and its `ch:` checksums hold in one of the two alone.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "copy it again byte for byte, or find out who pushed the other one",
};

pub(crate) static DRIFT_PLATFORM: CheckRule = CheckRule {
    id: "drift-platform",
    group: Group::Drift,
    level: FindingLevel::Error,
    finds: "a platform that one of two releases has and the other has not",
    why: "Users of one repository can install what users of the other cannot.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "copy the complete release",
};

pub(crate) static DRIFT_PACKAGE: CheckRule = CheckRule {
    id: "drift-package",
    group: Group::Drift,
    level: FindingLevel::Error,
    finds: "a platform whose package differs between two repositories",
    why: "One version is two providers: lock files of one refuse the other.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "find out which is right and copy that one",
};

pub(crate) static DRIFT_ANNOTATION: CheckRule = CheckRule {
    id: "drift-annotation",
    group: Group::Drift,
    level: FindingLevel::Warning,
    finds: "annotations that differ between two repositories",
    why: "Digests differ through them although the packages may be equal, so signatures and `ch:` checksums do not \
           carry over.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "copy byte for byte instead of pushing twice",
};

pub(crate) static DRIFT_REFERRER: CheckRule = CheckRule {
    id: "drift-referrer",
    group: Group::Drift,
    level: FindingLevel::Warning,
    finds: "a referrer that one of two repositories has and the other has not",
    why: "A signature that did not come along leaves the copy unsigned.",
    spec: "`tofu-oci help checking`, \"Two repositories\"",
    fix: "copy with `tofu-oci copy`, which takes referrers along",
};
