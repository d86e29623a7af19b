//! What attestations say of a version, which are given as files or lie beside a withdrawn version at its place: they go along
//! with it, or one of them withdraws it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tofu_oci_source::{NotOffered, Release, Source, SourceError};
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{NoReporter, Reporter, Version};

use super::{ChosenOutcome, ProviderState, Question, TwoListings};
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
                *outcome = MirrorOutcome::still(if is_there {
                    self.withdrawn_by_publisher(reason, signer.as_ref(), mark.is_some() && takes_notices)
                } else {
                    MirrorAction::Withdrawn { reason: reason.clone(), signer: signer.clone() }
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

    /// What becomes of a version that is there and that a notice withdraws. People withdraw what they have pushed; and without a
    /// policy a stranger's notice warns, and takes nothing away.
    fn withdrawn_by_publisher(&self, reason: &NoticeReason, signer: Option<&String>, is_ours: bool) -> MirrorAction {
        let (reason, decided) = (reason.clone(), Withdrawer::Publisher { signer: signer.cloned() });
        if is_ours && self.rules.gone != DelistedPolicy::Report && signer.is_some() {
            MirrorAction::Withdraw { reason, decided }
        } else {
            MirrorAction::Gone { reason: Some(reason), decided }
        }
    }

    /// What becomes of versions that `mirror` brought and that their place has withdrawn by a signed notice, which goes along. The
    /// other ones are those that the place no longer lists.
    pub(super) async fn withdrawn_at_place(
        &self,
        lists: &TwoListings<'_>,
        to: &dyn Source,
        look: &mut ProviderState,
    ) -> Result<BTreeMap<String, (Version, MirrorAction)>, MirrorError> {
        let (mut decided, takes_notices) = (BTreeMap::new(), self.takes_notices()?);
        for version in &lists.from.withdrawn {
            let is_half = lists.half_withdrawn_there.contains(version);
            // A place without a record has nothing but what it was given.
            let is_ours = look.sightings.mark(version).is_some() || !takes_notices;
            if !is_ours || !(is_half || lists.there.contains(version)) {
                continue;
            }
            let notices = self.from.withdrawal_notices(self.address, version).await?;
            let files = AttestationFiles::of_notices((self.address, version), self.from.place(), notices);
            let action = match to.release(self.address, version).await {
                Ok(release) => {
                    // A tree of files has no index that a notice could be about.
                    if release.id().identity.index().is_none() {
                        files.not_taken(&files.all(), &self.destination.place(self.address)?, self.reporter);
                        continue;
                    }
                    let judged = files.judge(&*files.beside(release), self.trust, self.reporter).await?;
                    // Without a policy it is anyone's: the place no longer lists the version, and that is all.
                    let Some(Withdrawal { reason, signer: Some(signer), .. }) = &judged.withdrawal else { continue };
                    let action = self.withdrawn_by_publisher(reason, Some(signer), takes_notices);
                    if takes_notices {
                        look.attestations.insert(version.clone(), judged);
                    } else {
                        files.not_taken(&judged, &self.destination.place(self.address)?, self.reporter);
                    }
                    action
                }
                // An earlier run began to withdraw it by the same notice.
                Err(SourceError::NotOffered { what: NotOffered::Withdrawn { reason: Some(reason), .. }, .. }) => {
                    if self.rules.gone == DelistedPolicy::Report || !files.withdraw(&reason) {
                        continue;
                    }
                    MirrorAction::Withdraw { reason, decided: Withdrawer::Publisher { signer: None } }
                }
                Err(SourceError::Store(error)) if !error.is_not_found() && !error.is_of_content() => {
                    return Err(SourceError::from(error).into());
                }
                // What is missing or damaged there needs no notice.
                Err(_) => continue,
            };
            decided.insert(version.to_string(), (version.clone(), action));
        }
        Ok(decided)
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
