//! What is asked of a call of a module, and what is found.

use tofu_oci_fetch::{SignedBy, Trust};
use tofu_oci_store::StoreError;
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Constraints, Digest, OciModuleSource, Tag, Version};

use crate::Upgrade;

/// A call of a module in an OCI repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePinRequest {
    /// Its source, with a tag or with a digest.
    pub source: OciModuleSource,
    /// The tag that named the digest when the call was pinned; it does not count if the source has no digest.
    pub tag: Option<Tag>,
    /// Which versions may be chosen; `None` if all may.
    pub constraints: Option<Constraints>,
}

/// How calls are pinned.
#[derive(Clone, Copy, Debug)]
pub struct ModulePinOptions<'a> {
    pub trust: &'a Trust,
    /// Whether a newer version takes the place of the pinned one.
    pub upgrade: Upgrade,
    /// What happens if the tag of a version names another package now.
    pub moved: MovedTags,
}

/// What happens if the tag of a pin names another package now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedTags {
    /// The tag of a version is refused; for any other tag the pin stays.
    Refuse,
    /// The pin follows the tag.
    Accept,
}

/// The package of a call.
#[derive(Clone, Debug)]
pub struct ModulePin {
    /// The digest of its manifest.
    pub digest: Digest,
    /// The tag that names it, or named it when the call was pinned; `None` if no version is known.
    pub tag: Option<Tag>,
    /// What differs from before.
    pub change: ModulePinChange,
    /// What the user should know of it.
    pub remarks: Vec<PinRemark>,
    /// Whose signatures count; empty without a rule for modules.
    pub signers: Vec<SignedBy>,
}

/// What a pin changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModulePinChange {
    /// The call is pinned to this package already.
    Kept,
    /// The call had no digest.
    Pinned,
    /// The call has the digest, and its version was not known.
    Noted,
    /// Another version takes its place, or what a tag that is not a version's names now; `from` is the tag of before.
    Upgraded {
        /// The tag of before.
        from: Option<Tag>,
    },
    /// The same tag names another package.
    Moved,
}

/// What the user should know of a pin.
#[derive(Clone, Debug)]
pub enum PinRemark {
    Withdrawn(Version),
    /// Another version takes the place of this one, which was withdrawn, perhaps with a reason.
    Left {
        withdrawn: Version,
        /// Why, as its publisher says, unverified.
        reason: Option<NoticeReason>,
    },
    /// Its publisher calls the version deprecated.
    Deprecated {
        version: Version,
        /// Why, as its publisher says, unverified.
        reason: NoticeReason,
    },
    /// The repository has the package, and its tag no longer.
    TagGone(Tag),
    /// A tag that is not a version's names another package now.
    Behind {
        tag: Tag,
        now: Digest,
    },
    /// No tag of a version names the package.
    NoVersion,
    /// The tags could not be listed, so that nothing is known of a deprecation.
    TagsUnlisted(StoreError),
}
