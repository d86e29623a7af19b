//! Which notices a new one ends: a notice about a release that is in a store already.

use bytes::Bytes;
use tofu_oci_source::notices;
use tofu_oci_store::Store;
use tofu_oci_trust::{
    Notice, NoticeReason, NoticeWriter, PrivateKey, ReleaseState, SignatureForm, SignedContent, StatedNotice, heads,
    in_force, sign_notice,
};
use tofu_oci_types::{Descriptor, Digest};

use super::artifact::Artifact;
use super::attach::Attacher;
use crate::{Attachment, AttachmentState};
use crate::{PackError, Transfers};

/// What is to be said of a release.
#[derive(Clone, Debug)]
pub struct NoticeRequest<'a> {
    /// The descriptor of the index, or of a module's manifest, by SHA-256.
    pub index: &'a Descriptor,
    /// What the notice is about.
    pub subject: SignedContent<'a>,
    /// What may be done with the release.
    pub state: ReleaseState,
    /// The kind of notice that it supersedes: deprecated or withdrawn.
    pub ends: ReleaseState,
    pub reason: NoticeReason,
    pub writer: NoticeWriter,
    /// The index that takes its place under the tag of the version.
    pub replaced_by: Option<Digest>,
    /// Who signs it; `None` for a notice without a signature.
    pub key: Option<&'a PrivateKey>,
    /// The bundle in which its publisher has signed it: it is put there as it is.
    pub signed: Option<&'a Bytes>,
}

/// What [`put_notice`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeReport {
    /// The manifest of the notice, as a descriptor that a tag can be pointed at.
    pub manifest: Descriptor,
    /// The notice beside the release.
    pub attachment: Attachment,
    /// What was sent and what was there.
    pub transfers: Transfers,
}

/// Says something of a release: puts a notice beside its index, and reads it back.
///
/// The notice supersedes every earlier one of its kind, whoever made it, also one that another notice has superseded: for those
/// who heed this key alone, the other one may not count. A release that was deprecated and then withdrawn is deprecated when
/// it comes back. If one that says the same holds already, by this key or by none as asked for, nothing is written.
///
/// # Errors
/// [`PackError::Sign`] if the store does not take the notice, or does not show it afterwards.
pub async fn put_notice(store: &dyn Store, request: &NoticeRequest<'_>) -> Result<NoticeReport, PackError> {
    let found = notices(store, request.index).await?;
    let index = request.subject.digest();
    let about: Vec<&StatedNotice> = found.iter().filter(|found| found.is_about(request.subject)).collect();
    let signed = request.signed.map(|bundle| Artifact::notice(request.index, bundle.clone()));
    let said = || heads(&about).into_iter().find(|now| request.says(now, &about));
    if let Some(artifact) = signed.clone().or_else(|| Some(request.artifact(&said()?.notice))) {
        let listed = store.referrers(index).await?;
        if listed.iter().any(|referrer| referrer.digest == artifact.manifest.0.digest) {
            return Ok(request.report(&artifact, AttachmentState::Present, Transfers::default()));
        }
    }
    let artifact = signed.unwrap_or_else(|| request.artifact(&request.notice(&about)));
    let mut attacher = Attacher::new(store, index);
    attacher.push(SignatureForm::Notice, &artifact).await?;
    let written = [(SignatureForm::Notice, Box::new(artifact))];
    attacher.confirm(&written).await?;
    Ok(request.report(&written[0].1, AttachmentState::Attached, attacher.transfers))
}

/// Whether notices of this kind are still to be taken back. Without a key: if one is in force. With a key: if one exists at
/// all, because what took it back may not count for those who heed this key.
pub(crate) fn can_be_ended(kind: ReleaseState, about: &[&StatedNotice], key: Option<&PrivateKey>) -> bool {
    match key {
        Some(_) => about.iter().any(|one| one.notice.state == kind),
        None => in_force(about.iter().copied()).is_some_and(|now| now.notice.state == kind),
    }
}

impl NoticeRequest<'_> {
    /// Whether a notice says what is to be said. One that takes others back must name all of them.
    fn says(&self, now: &StatedNotice, about: &[&StatedNotice]) -> bool {
        let notice = &now.notice;
        let is_left =
            |other: &StatedNotice| other.notice.state == self.ends && !notice.supersedes.contains(&other.digest);
        notice.state == self.state
            && notice.reason == self.reason
            && notice.replaced_by == self.replaced_by
            && (self.state != ReleaseState::Available || !about.iter().any(|other| is_left(other)))
    }

    fn notice(&self, before: &[&StatedNotice]) -> Notice {
        let is_ended = |state: ReleaseState| state == self.ends || state == ReleaseState::Available;
        let ended = before.iter().filter(|one| is_ended(one.notice.state));
        Notice {
            state: self.state,
            reason: self.reason.clone(),
            writer: self.writer,
            replaced_by: self.replaced_by.clone(),
            supersedes: ended.map(|one| one.digest.clone()).collect(),
        }
    }

    fn artifact(&self, notice: &Notice) -> Artifact {
        match self.key {
            Some(key) => Artifact::notice(self.index, sign_notice(key, self.subject, notice)),
            None => Artifact::notice(self.index, notice.to_statement(self.subject)),
        }
    }

    fn report(&self, artifact: &Artifact, state: AttachmentState, transfers: Transfers) -> NoticeReport {
        let manifest = artifact.manifest.0.clone();
        let attachment = Attachment {
            form: SignatureForm::Notice,
            manifest: manifest.digest.clone(),
            tag: None,
            key: self.key.map(|key| key.public().id()),
            files: Vec::new(),
            bytes: artifact.size(),
            state,
        };
        NoticeReport { manifest, attachment, transfers }
    }
}
