//! Rules about annotations.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &ANNOTATION_H1,
    &ANNOTATION_ZH,
    &ANNOTATION_SIZE,
    &ANNOTATION_FILENAME,
    &ANNOTATION_SMALL,
    &ANNOTATION_MALFORMED,
    &ANNOTATION_ADDRESS,
    &ADDRESSES_DIFFER,
    &ANNOTATION_VERSION,
    &ANNOTATIONS_MISSING,
    &NAMESPACE_UNDERSCORE,
];

pub(crate) static ANNOTATION_H1: CheckRule = CheckRule {
    id: "annotation-h1",
    group: Group::Annotations,
    level: FindingLevel::Error,
    finds: "an h1: annotation that is not the package's",
    why: "A lock file that is written from signed annotations would refuse the package.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go; `tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static ANNOTATION_ZH: CheckRule = CheckRule {
    id: "annotation-zh",
    group: Group::Annotations,
    level: FindingLevel::Error,
    finds: "a zh: annotation that is not the zip's digest",
    why: "A lock file that is written from signed annotations would refuse the package.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go; `tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static ANNOTATION_SIZE: CheckRule = CheckRule {
    id: "annotation-size",
    group: Group::Annotations,
    level: FindingLevel::Warning,
    finds: "an annotated size that is not the package's",
    why: "People and programs plan downloads by it.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static ANNOTATION_FILENAME: CheckRule = CheckRule {
    id: "annotation-filename",
    group: Group::Annotations,
    level: FindingLevel::Warning,
    finds: "an annotated file name that names another type, version or platform",
    why: "Downloads that are kept under that name are taken for another package.",
    spec: "OpenTofu 1.12, filesystem mirror layout; `tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static ANNOTATION_SMALL: CheckRule = CheckRule {
    id: "annotation-small",
    group: Group::Annotations,
    level: FindingLevel::Warning,
    finds: "an annotated small layer that is not the one of the leaf",
    why: "tofu-oci asks for it before it has read the leaf, and then cannot use it.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push --small --replace-tag`",
};

pub(crate) static ANNOTATION_MALFORMED: CheckRule = CheckRule {
    id: "annotation-malformed",
    group: Group::Annotations,
    level: FindingLevel::Warning,
    finds: "an annotation of ours whose value cannot be read",
    why: "It says nothing, and what reads it falls back to downloading.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static ANNOTATION_ADDRESS: CheckRule = CheckRule {
    id: "annotation-address",
    group: Group::Annotations,
    level: FindingLevel::Error,
    finds: "an index that says it is another provider",
    why: "It may have been copied to the wrong place. A signature binds the address, and this one would be \
           refused.",
    spec: "`tofu-oci help trust`",
    fix: "copy the right release here",
};

pub(crate) static ADDRESSES_DIFFER: CheckRule = CheckRule {
    id: "addresses-differ",
    group: Group::Annotations,
    level: FindingLevel::Error,
    finds: "versions of one repository that name different providers",
    why: "Somebody forgot --address, or pushed to the wrong repository. A signature binds the address, so a trust rule \
          for one of the names refuses the versions of the other.",
    spec: "`tofu-oci help trust`; `tofu-oci help layouts`",
    fix: "push the versions with the wrong address again with `--address ADDRESS --replace-tag`, or keep each provider \
           in a repository of its own",
};

pub(crate) static ANNOTATION_VERSION: CheckRule = CheckRule {
    id: "annotation-version",
    group: Group::Annotations,
    level: FindingLevel::Error,
    finds: "an index that says it is another version than its tag",
    why: "An old release under a new tag takes fixes away from everybody who upgrades.",
    spec: "`tofu-oci help trust`",
    fix: "point the tag at the right index",
};

pub(crate) static ANNOTATIONS_MISSING: CheckRule = CheckRule {
    id: "annotations-missing",
    group: Group::Annotations,
    level: FindingLevel::Note,
    finds: "an index without the annotations that a lock file needs",
    why: "`tofu-oci lock` then reads leaves or downloads packages to lock all platforms.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `tofu-oci push`",
};

pub(crate) static NAMESPACE_UNDERSCORE: CheckRule = CheckRule {
    id: "namespace-underscore",
    group: Group::Annotations,
    level: FindingLevel::Warning,
    finds: "a provider whose namespace has an underscore",
    why: "Terraform 1.16 and later install it. OpenTofu and older Terraform refuse its address.",
    spec: "hashicorp/terraform-registry-address, pull request 144; OpenTofu 1.12, opentofu/registry-address",
    fix: "push it with `--address` and a namespace without underscores, if others than Terraform 1.16 are to install it",
};
