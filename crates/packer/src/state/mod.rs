//! What a publisher says of a release later: that it is withdrawn, deprecated, or available again.
//!
//! ```text
//! look       the version's tag, withdrawn-V, deprecated-V, the notices beside the index     look.rs
//! withdraw   can tags go? · notice · withdrawn-V at the index · the version's tag goes      withdraw.rs
//! reinstate  notice · the version's tag comes back · withdrawn-V goes if the registry lets it
//! deprecate  notice · deprecated-V at the notice                                            deprecate.rs
//! ```
//!
//! In this order, a run that breaks off leaves a release that is named by a tag, and the next run does what is left.

mod deprecate;
mod error;
mod look;
#[cfg(test)]
mod tests;
mod withdraw;

use serde::Serialize;
use tofu_oci_store::Store;
use tofu_oci_trust::{KeyId, NoticeReason, PrivateKey, ReleaseState, SignedSubject};
use tofu_oci_types::{Digest, Place, ProviderAddr, Tag, Version};

pub use error::StateError;
pub use look::StatePlan;

use crate::{NoticeRequest, PackError, SignAddress};

/// What is to become of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// No client can choose it any more.
    Withdraw,
    /// A withdrawn one can be chosen again.
    Reinstate,
    /// It can be chosen, with a warning.
    Deprecate,
    /// The warning ends.
    Undeprecate,
}

/// Which release changes its state, and why.
#[derive(Clone, Debug)]
pub struct StateRequest<'a> {
    /// What is to become of it.
    pub change: StateChange,
    /// The version.
    pub version: &'a Version,
    /// Where the provider's address comes from, which the notice names.
    pub address: SignAddress,
    /// Why; one line.
    pub reason: NoticeReason,
    /// Who signs the notice; `None` for one without a signature.
    pub key: Option<&'a PrivateKey>,
}

/// What a change of state did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// The repository.
    pub place: Place,
    /// The provider's address, as the notice names it.
    pub address: ProviderAddr,
    /// The version, as the notice names it.
    pub version: Version,
    /// What may be done with the release afterwards.
    pub state: ReleaseState,
    /// Why.
    pub reason: NoticeReason,
    /// The version's own tag.
    pub tag: Tag,
    /// The tag that keeps the content of a withdrawn release, or the notice of a deprecated one.
    pub state_tag: Tag,
    /// The digest of the index.
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
    fn state(self) -> ReleaseState {
        match self {
            Self::Withdraw => ReleaseState::Withdrawn,
            Self::Deprecate => ReleaseState::Deprecated,
            Self::Reinstate | Self::Undeprecate => ReleaseState::Available,
        }
    }

    /// The tag beside the version's own.
    fn state_tag(self, version: &Version) -> Result<Tag, PackError> {
        let tag = match self {
            Self::Withdraw | Self::Reinstate => Tag::withdrawn(version),
            Self::Deprecate | Self::Undeprecate => Tag::deprecated(version),
        };
        tag.map_err(|error| PackError::NoTag { version: Box::new(version.clone()), reason: error.to_string() })
    }
}

impl StatePlan<'_> {
    /// Does what is missing, and says what was done.
    ///
    /// # Errors
    /// [`PackError::State`] if another program has moved a tag meanwhile, or if the registry does not let the version's tag go;
    /// then what was written is taken back. [`PackError::Sign`] if the store does not take the notice.
    pub async fn carry_out(self, store: &dyn Store) -> Result<StateReport, PackError> {
        match self.request.change {
            StateChange::Withdraw => self.withdraw(store).await,
            StateChange::Reinstate => self.reinstate(store).await,
            StateChange::Deprecate | StateChange::Undeprecate => self.deprecate(store).await,
        }
    }

    /// The notice to be written.
    fn notice(&self, state: ReleaseState, reason: &NoticeReason) -> NoticeRequest<'_> {
        let StateReport { address, version, index, .. } = &self.report;
        NoticeRequest {
            index: &self.index,
            subject: SignedSubject { index, address, version },
            state,
            reason: reason.clone(),
            replaced_by: None,
            key: self.request.key,
        }
    }

    fn moved(&self, tag: &Tag) -> PackError {
        StateError::Moved { place: self.report.place.clone(), tag: tag.clone() }.into()
    }
}
