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
mod look;
mod model;
#[cfg(test)]
mod tests;
mod withdraw;

use tofu_oci_store::Store;
use tofu_oci_trust::{NoticeReason, ReleaseState};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

pub use look::StatePlan;
pub use model::{StateChange, StateReport, StateRequest};

use crate::found::resolve;
use crate::{NoticeRequest, PackError, StateError};

impl StatePlan<'_> {
    /// Does what is missing, and says what was done.
    ///
    /// # Errors
    /// [`PackError::State`] if another program has moved a tag meanwhile, or if the registry does not let the version's tag go;
    /// then what was written is taken back. [`PackError::Sign`] if the store does not take the notice.
    pub async fn carry_out(self, store: &dyn Store) -> Result<StateReport, PackError> {
        match self.request.change {
            _ if self.is_said() => Ok(self.report),
            StateChange::Withdraw => self.withdraw(store).await,
            StateChange::Reinstate => self.reinstate(store).await,
            StateChange::Deprecate | StateChange::Undeprecate => self.deprecate(store).await,
        }
    }

    /// The notice to be written.
    fn notice(&self, state: ReleaseState, reason: &NoticeReason) -> NoticeRequest<'_> {
        let StateReport { of, version, index, .. } = &self.report;
        NoticeRequest {
            index: &self.index,
            subject: of.content(index, version),
            state,
            ends: self.request.change.kind(),
            reason: reason.clone(),
            writer: self.request.writer,
            replaced_by: None,
            key: self.request.key,
            signed: self.request.signed.filter(|_| state == self.request.change.state()),
        }
    }

    /// Points a tag that pointed at `before` at this manifest. Another program may have done the same.
    async fn point(
        &self,
        store: &dyn Store,
        manifest: &Descriptor,
        tag: &Tag,
        before: Option<&Digest>,
    ) -> Result<(), PackError> {
        if store.retag(manifest, tag, before).await? || points_at(store, tag, &manifest.digest).await? {
            return Ok(());
        }
        Err(self.moved(tag))
    }

    fn moved(&self, tag: &Tag) -> PackError {
        StateError::Moved { place: self.report.place.clone(), tag: tag.clone() }.into()
    }
}

async fn points_at(store: &dyn Store, tag: &Tag, manifest: &Digest) -> Result<bool, PackError> {
    let found = resolve(store, &Reference::Tag(tag.clone())).await?;
    Ok(found.is_some_and(|found| found.digest == *manifest))
}
