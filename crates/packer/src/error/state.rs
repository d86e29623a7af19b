//! Why the state of a release could not be changed.

use tofu_oci_fault::Fault;
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_trust::{NoticeReason, ReleaseState};
use tofu_oci_types::{Place, Tag, Version};

use crate::other::because;

/// Why the state of a release could not be changed.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum StateError {
    #[error("another program has moved the tag {tag} in {place} meanwhile")]
    #[fault(code = "tag-race")]
    #[hint("look at what is there now with `tofu-oci versions`, and run the same command again")]
    Moved { place: Place, tag: Tag },
    #[error("{place} has no version {tag}: it was withdrawn{}", because(reason.as_ref()))]
    #[fault(code = "withdrawn")]
    Withdrawn {
        place: Place,
        tag: Tag,
        /// Why; `None` if that could not be read. Nothing has verified it.
        reason: Option<NoticeReason>,
        offered: Vec<Version>,
    },
    /// another release has the tag of the withdrawn one
    #[error("{place} has another release under the tag {tag} than {kept} keeps")]
    #[fault("replaced-release", todo = "withdraw the other release first")]
    #[hint("withdraw the other release first; `tofu-oci copy` takes what {kept} keeps in {place} elsewhere")]
    Replaced { place: Place, tag: Tag, kept: Tag },
    /// a signed notice is to be replaced or taken back without a signature: whoever trusts its key would go on heeding it
    #[error("the {state} version {tag} in {place} has a signed notice, which only a signed one replaces")]
    #[fault("signed-notice", todo = "use the key that signed it: `--sign-key KEY`")]
    #[hint("nothing was changed; use the key that signed it: --sign-key KEY")]
    #[hint("OpenTofu goes by the tag alone; tofu-oci heeds the notice wherever trust.toml or a pin has that key")]
    SignedNotice { place: Place, tag: Tag, state: ReleaseState },
    /// the registry kept the version's tag, and the rest was taken back as far as possible
    #[error("{place} still has the tag {tag}, so the release is not withdrawn")]
    #[fault("not-withdrawn", todo = "read the hints: they name what is left")]
    NotWithdrawn {
        place: Place,
        tag: Tag,
        /// What was written and could not be taken back.
        left: Vec<StoreItem>,
        #[source]
        source: Box<StoreError>,
    },
}
