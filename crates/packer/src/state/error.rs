//! Why the state of a release could not be changed.

use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_trust::{NoticeReason, ReleaseState};
use tofu_oci_types::{Place, Tag, Version};

use crate::other::because;

/// Why the state of a release could not be changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another program writes the same tag.
    #[error("another program has moved the tag {tag} in {place} meanwhile")]
    Moved {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
    },
    /// The version was withdrawn.
    #[error("{place} has no version {tag}: it was withdrawn{}", because(reason.as_ref()))]
    Withdrawn {
        /// The repository.
        place: Place,
        /// The version's own tag.
        tag: Tag,
        /// Why; `None` if that could not be read. Nothing has verified it.
        reason: Option<NoticeReason>,
        /// The versions that it has, ascending.
        offered: Vec<Version>,
    },
    /// Another release was published under the tag of a withdrawn one.
    #[error("{place} has another release under the tag {tag} than {kept} keeps")]
    Replaced {
        /// The repository.
        place: Place,
        /// The version's own tag.
        tag: Tag,
        /// The tag that keeps the withdrawn one.
        kept: Tag,
    },
    /// A signed notice holds for those who trust its key, whatever is said without a signature.
    #[error("the {state} version {tag} in {place} has a signed notice, which only a signed one takes back")]
    SignedNotice {
        /// The repository.
        place: Place,
        /// The version's own tag.
        tag: Tag,
        /// What the notice says.
        state: ReleaseState,
    },
    /// The registry keeps the version's tag. What was written was taken back, as far as it let itself be.
    #[error("{place} still has the tag {tag}, so the release is not withdrawn")]
    NotWithdrawn {
        /// The repository.
        place: Place,
        /// The version's own tag.
        tag: Tag,
        /// What was written and could not be taken back.
        left: Vec<StoreItem>,
        /// What the registry said.
        #[source]
        source: Box<StoreError>,
    },
}
