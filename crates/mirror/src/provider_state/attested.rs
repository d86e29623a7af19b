//! What attestations that are given as files say of a version: they go along with it, or one of them withdraws it.

use std::sync::Arc;

use tofu_oci_source::{NotOffered, Release, Source, SourceError};
use tofu_oci_types::{NoReporter, Reporter, Version};

use super::{ChosenOutcome, Question};
use crate::MirrorError;
use crate::attestations::{AttestationFiles, Withdrawal};
use crate::destination::sightings::VersionMark;
use crate::plan::{MirrorAction, MirrorOutcome, Withdrawer};
use crate::rules::DelistedPolicy;

impl Question<'_> {
    /// Reads the attestations of a version that is carried, and judges those of one that the destination has: a notice among them
    /// may withdraw it.
    pub(super) async fn heed_attestations(
        &self,
        chosen: &mut ChosenOutcome,
        present: Option<Arc<dyn Release>>,
        mark: Option<&VersionMark>,
    ) -> Result<(), MirrorError> {
        let Ok(outcome) = &mut chosen.outcome else { return Ok(()) };
        let moves = matches!(outcome.action, MirrorAction::Add | MirrorAction::Widen { .. });
        let stays = matches!(outcome.action, MirrorAction::Present | MirrorAction::NotOurs);
        let Some(release) = present.or(chosen.release.clone()).filter(|_| moves || stays) else { return Ok(()) };
        let (is_there, takes_notices) = (stays || outcome.action != MirrorAction::Add, self.takes_notices()?);
        let files = AttestationFiles::read(self.attestations, release.id(), self.reporter).await?;
        // What comes later has no place there.
        let notices = (is_there && !takes_notices).then(|| files.clone().notices());
        let heeded = notices.as_ref().unwrap_or(&files);
        if stays || heeded.has_notices() {
            let reporter: &dyn Reporter = if stays { self.reporter } else { &NoReporter };
            let mut judged = heeded.judge(&*heeded.beside(release), self.trust, reporter).await?;
            if is_there && !takes_notices {
                heeded.not_taken(&judged, &self.destination.place(self.address)?, self.reporter);
                judged.counting.clear();
            }
            if let Some(Withdrawal { reason, signer, .. }) = &judged.withdrawal {
                let (reason, signer) = (reason.clone(), signer.clone());
                let decided = Withdrawer::Publisher { signer: signer.clone() };
                // People withdraw what they have pushed.
                let is_ours = mark.is_some() && self.rules.gone != DelistedPolicy::Report && takes_notices;
                // Without a policy a stranger's notice warns; it takes nothing away.
                let is_ours = is_ours && signer.is_some();
                *outcome = MirrorOutcome::still(if !is_there {
                    MirrorAction::Withdrawn { reason, signer }
                } else if is_ours {
                    MirrorAction::Withdraw { reason, decided }
                } else {
                    MirrorAction::Gone { reason: Some(reason), decided }
                });
            }
            // What is carried, or stays as it is, gets nothing by itself.
            let is_left = matches!(outcome.action, MirrorAction::Widen { .. } | MirrorAction::NotOurs);
            if is_there && !is_left {
                chosen.attestations = judged;
            }
        }
        chosen.files = files;
        Ok(())
    }

    /// Whether releases there can get notices and attestations later.
    pub(super) fn takes_notices(&self) -> Result<bool, MirrorError> {
        Ok(self.destination.store(self.address)?.is_some())
    }

    /// Goes on with the withdrawal of a publisher which was interrupted: a notice among the files says the same.
    pub(super) async fn go_on_withdrawing(
        &self,
        chosen: &mut ChosenOutcome,
        version: &Version,
        to: &dyn Source,
    ) -> Result<(), MirrorError> {
        if let Ok(MirrorOutcome { action: MirrorAction::WithdrawnThere, .. }) = chosen.outcome
            && let Err(SourceError::NotOffered { what: NotOffered::Withdrawn { reason: Some(reason), .. }, .. }) =
                to.release(self.address, version).await
            && let Ok(release) = self.from.release(self.address, version).await
            && AttestationFiles::read(self.attestations, release.id(), &NoReporter).await?.withdraw(&reason)
        {
            let decided = Withdrawer::Publisher { signer: None };
            chosen.outcome = Ok(MirrorOutcome::still(MirrorAction::Withdraw { reason, decided }));
        }
        Ok(())
    }
}
