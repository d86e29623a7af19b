//! What the publisher says of a release now.

use std::sync::Arc;

use tofu_oci_trust::{Notice, ReleaseState, SignedSubject};
use tofu_oci_types::{Descriptor, Tag};

use super::ahead::OnItsWay;
use super::repository::OpenedRepository;
use crate::evidence::EvidenceReader;
use crate::{ReleaseId, SourceError};

/// The answer to [`NoticeQuestion`] on its way.
pub(super) type NoticeAhead = OnItsWay<Result<Option<Notice>, SourceError>>;

/// The question whether there is a notice of a release, by the tag that holds it.
pub(super) struct NoticeQuestion {
    pub(super) repository: Arc<OpenedRepository>,
    pub(super) id: ReleaseId,
    /// The index or manifest of the release.
    pub(super) release: Descriptor,
}

impl NoticeQuestion {
    /// Whether the repository must be asked: the tags were not listed, or have that one.
    pub(super) fn takes_a_request(&self) -> bool {
        let is_listed = |tag| self.repository.memory.listed().is_none_or(|tags| tags.contains(&tag));
        Tag::deprecated(&self.id.version).is_ok_and(is_listed)
    }

    /// The notice, unverified, if the release is not simply available.
    pub(super) async fn ask(self) -> Result<Option<Notice>, SourceError> {
        let ReleaseId { address, version, .. } = &self.id;
        let Ok(tag) = Tag::deprecated(version) else { return Ok(None) };
        if !self.takes_a_request() {
            return Ok(None);
        }
        let OpenedRepository { store, memory, .. } = &*self.repository;
        let manifest = match memory.resolve(&**store, &tag).await {
            Ok(manifest) => manifest,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = EvidenceReader::new(&**store, memory, &self.release).notice_of(&manifest).await?;
        let subject = SignedSubject { index: &self.release.digest, address, version };
        let found = found.filter(|found| found.is_about(&subject));
        Ok(found.map(|found| found.notice).filter(|notice| notice.state != ReleaseState::Available))
    }
}
