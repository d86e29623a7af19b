//! Which release changes its state, and what came of it.

use bytes::Bytes;
use serde::Serialize;
use tofu_oci_trust::{KeyId, Notice, NoticeReason, NoticeWriter, PrivateKey, ReleaseState, VersionOf};
use tofu_oci_types::{Digest, Place, Tag, Version};

use crate::{PackError, SignAddress};

/// What is to become of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// No client can choose it any more.
    Withdraw,
    /// A withdrawn one can be chosen again.
    Reinstate,
    /// It can be chosen, with a warning.
    Deprecate,
    Undeprecate,
}

/// Which release changes its state, and why.
#[derive(Clone, Debug)]
pub struct StateRequest<'a> {
    /// What is to become of it.
    pub change: StateChange,
    pub version: &'a Version,
    /// Where the provider's address comes from, which the notice names.
    pub address: SignAddress,
    /// Why; one line.
    pub reason: NoticeReason,
    /// Whose decision it is.
    pub writer: NoticeWriter,
    /// Who signs the notice; `None` for one without a signature.
    pub key: Option<&'a PrivateKey>,
    /// The bundle in which the publisher has signed it already.
    pub signed: Option<&'a Bytes>,
}

impl StateRequest<'_> {
    /// Whether a notice says what this one is to say.
    pub(super) fn says(&self, notice: &Notice) -> bool {
        notice.state == self.change.state() && notice.reason == self.reason
    }
}

/// What a change of state did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// The repository.
    pub place: Place,
    /// The provider, as the notice names it, or that it is a module, whose notices name nothing.
    #[serde(flatten)]
    pub of: VersionOf,
    /// The version.
    pub version: Version,
    /// What may be done with the release afterwards.
    pub state: ReleaseState,
    /// Why.
    pub reason: NoticeReason,
    /// The version's own tag.
    pub tag: Tag,
    /// The tag that keeps the content of a withdrawn release, or the notice of a deprecated one.
    pub state_tag: Tag,
    /// The digest of the index, or of the module's manifest.
    pub index: Digest,
    /// The manifest of the notice; `None` if none is written.
    pub notice: Option<Digest>,
    /// The key that signed it.
    pub key: Option<KeyId>,
    /// Tags that still name the release, sorted.
    pub other_tags: Vec<Tag>,
    /// Whether `state_tag` is there afterwards.
    pub kept: bool,
    /// Whether all of this was so before.
    pub unchanged: bool,
}

impl StateChange {
    /// What a release is afterwards.
    pub(super) fn state(self) -> ReleaseState {
        match self {
            Self::Withdraw => ReleaseState::Withdrawn,
            Self::Deprecate => ReleaseState::Deprecated,
            Self::Reinstate | Self::Undeprecate => ReleaseState::Available,
        }
    }

    /// The kind of notice that it writes or ends.
    pub(super) fn kind(self) -> ReleaseState {
        match self {
            Self::Withdraw | Self::Reinstate => ReleaseState::Withdrawn,
            Self::Deprecate | Self::Undeprecate => ReleaseState::Deprecated,
        }
    }

    /// The tag beside the version's own.
    pub(super) fn state_tag(self, version: &Version) -> Result<Tag, PackError> {
        let tag = match self {
            Self::Withdraw | Self::Reinstate => Tag::withdrawn(version),
            Self::Deprecate | Self::Undeprecate => Tag::deprecated(version),
        };
        tag.map_err(|error| PackError::NoTag { version: Box::new(version.clone()), reason: error.to_string() })
    }
}
