//! In which order a release is withdrawn and brought back.

use tofu_oci_store::{Store, StoreError, StoreItem};
use tofu_oci_trust::{NoticeReason, ReleaseState};
use tofu_oci_types::{Digest, Reference, Tag};

use super::look::StatePlan;
use super::model::StateReport;
use super::points_at;
use crate::StateError;
use crate::found::resolve;
use crate::{AttachmentState, PackError, put_notice};

/// Why a withdrawal that the registry refused no longer holds.
const REFUSED: &str = "the registry did not let the version be withdrawn";

impl StatePlan<'_> {
    pub(super) async fn withdraw(mut self, store: &dyn Store) -> Result<StateReport, PackError> {
        let (tag, kept) = (self.report.tag.clone(), self.report.state_tag.clone());
        if self.has_own {
            // Before anything is written, so that a refusal leaves the release as it is.
            store.demand_untag(&tag).await?;
        }
        let notice = if self.is_signed() {
            None
        } else {
            Some(put_notice(store, &self.notice(ReleaseState::Withdrawn, &self.request.reason)).await?)
        };
        let new = notice.as_ref().filter(|notice| notice.attachment.state == AttachmentState::Attached);
        let is_new = new.is_some();
        // What the publisher says stays.
        let noticed = new.filter(|_| self.request.signed.is_none()).map(|notice| notice.manifest.digest.clone());
        let marked = match self.keep(store).await {
            Err(PackError::Store(error)) if !error.is_transient() => {
                return Err(self.take_back(store, error, false, noticed).await);
            }
            marked => marked?,
        };
        if self.has_own {
            self.demand_at(store, &kept).await?;
            match store.untag(&tag, &self.at.digest).await {
                Ok(true) => {}
                Ok(false) => return Err(self.moved(&tag)),
                // As long as the version's own tag names the release, the other one may go.
                Err(error) if !error.is_transient() && self.is_at(store, &tag).await.unwrap_or(false) => {
                    return Err(self.take_back(store, error, marked, noticed).await);
                }
                Err(error) => return Err(error.into()),
            }
            if !self.is_at(store, &kept).await? {
                // The registry has deleted the index with all its tags, and what refers to it.
                self.keep(store).await?;
                put_notice(store, &self.notice(ReleaseState::Withdrawn, &self.request.reason)).await?;
            }
        }
        self.report.notice = notice.map(|notice| notice.manifest.digest);
        self.report.unchanged = !self.has_own && !marked && !is_new;
        Ok(self.report)
    }

    pub(super) async fn reinstate(mut self, store: &dyn Store) -> Result<StateReport, PackError> {
        let (tag, kept) = (self.report.tag.clone(), self.report.state_tag.clone());
        self.report.unchanged = self.own.as_ref() == Some(&self.at.digest)
            && (self.marked.as_ref() == Some(&self.at.digest) || !self.has_mark);
        if self.can_be_ended {
            let notice = put_notice(store, &self.notice(ReleaseState::Available, &self.request.reason)).await?;
            self.report.unchanged &= notice.attachment.state == AttachmentState::Present;
            self.report.notice = Some(notice.manifest.digest);
        }
        if self.own.as_ref() != Some(&self.at.digest) {
            self.point(store, &self.at, &tag, self.own.as_ref()).await?;
        }
        if self.has_mark {
            self.demand_at(store, &tag).await?;
            // Beside the version's own tag it says nothing, so it may stay where no tag can be deleted.
            self.report.kept = match store.untag(&kept, &self.at.digest).await {
                // The next run takes it away.
                Err(error) if error.is_transient() => return Err(error.into()),
                untagged => !untagged.unwrap_or(false),
            };
            if !self.is_at(store, &tag).await? {
                // The registry has deleted the index with all its tags.
                store.tag(&self.at, &tag).await?;
            }
        }
        Ok(self.report)
    }

    /// Points the tag that keeps a withdrawn release at the index; false if it did so before.
    async fn keep(&self, store: &dyn Store) -> Result<bool, PackError> {
        let kept = &self.report.state_tag;
        if self.is_at(store, kept).await? {
            return Ok(false);
        }
        let before = resolve(store, &Reference::Tag(kept.clone())).await?.map(|before| before.digest);
        self.point(store, &self.at, kept, before.as_ref()).await.map(|()| true)
    }

    /// Demands that a tag names the release, before the other one goes.
    async fn demand_at(&self, store: &dyn Store, tag: &Tag) -> Result<(), PackError> {
        if self.is_at(store, tag).await? { Ok(()) } else { Err(self.moved(tag)) }
    }

    async fn is_at(&self, store: &dyn Store, tag: &Tag) -> Result<bool, PackError> {
        points_at(store, tag, &self.at.digest).await
    }

    /// Takes back what this run has written, since the version's tag stays: the notice holds no longer, and the tag beside it
    /// goes if it can.
    async fn take_back(
        &self,
        store: &dyn Store,
        error: StoreError,
        marked: bool,
        noticed: Option<Digest>,
    ) -> PackError {
        let StateReport { place, tag, state_tag, .. } = &self.report;
        let mut left = Vec::new();
        if let Some(notice) = noticed {
            let reason: NoticeReason = REFUSED.parse().expect("the text is one short line");
            if put_notice(store, &self.notice(ReleaseState::Available, &reason)).await.is_err() {
                left.push(StoreItem::Manifest(notice));
            }
        }
        if marked && !store.untag(state_tag, &self.at.digest).await.unwrap_or(false) {
            left.push(StoreItem::Tag(state_tag.clone()));
        }
        let (place, tag, source) = (place.clone(), tag.clone(), Box::new(error));
        StateError::NotWithdrawn { place, tag, left, source }.into()
    }
}
