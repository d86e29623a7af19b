//! A file that exists already, beside a release or a module: a bundle, an attestation, a bill of materials.

mod about;
mod model;
#[cfg(test)]
mod tests;

use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::Reporter;

use crate::sign::{SignableRelease, find};
use crate::signing::{AttachPlan, AttachRequest};
use crate::{Attachment, AttachmentState, PackError, Transfers};

pub use model::{AttachFileRequest, AttachReport};

/// Files that are about the release or the module under a version's tag.
pub struct AttachableFiles<'a> {
    request: &'a AttachFileRequest<'a>,
    release: SignableRelease,
}

impl<'a> AttachableFiles<'a> {
    /// Reads the release, and demands that all bundles are about it.
    ///
    /// # Errors
    /// [`PackError::NoRelease`] if the tag does not exist; [`PackError::Attach`] if a bundle is about something else.
    pub async fn find(
        store: &dyn ReadStore,
        request: &'a AttachFileRequest<'a>,
        reporter: &dyn Reporter,
    ) -> Result<Self, PackError> {
        let release = find(store, request.version, &request.address, reporter).await?;
        about::demand(store, request, &release, reporter).await?;
        Ok(Self { request, release })
    }

    /// What [`attach`](Self::attach) would do. The store is only read.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn plan(&self, store: &dyn ReadStore) -> Result<AttachReport, PackError> {
        let attachments = self.look(store).await?.attachments();
        Ok(self.report(store, attachments, Transfers::default()))
    }

    /// Puts them beside it, as referrers. What is there stays; the same content is not put there twice. No tag of a version is
    /// touched.
    ///
    /// # Errors
    /// [`PackError::Sign`] as of [`sign`](crate::sign()).
    pub async fn attach(&self, store: &dyn Store) -> Result<AttachReport, PackError> {
        let (attachments, transfers) = self.look(store).await?.attach(store).await?;
        Ok(self.report(store, attachments, transfers))
    }

    async fn look(&self, store: &dyn ReadStore) -> Result<AttachPlan<'_>, PackError> {
        let Self { request, release } = self;
        let subject = release.of.content(&release.index.digest, request.version);
        let (index, files) = (&release.index, request.files);
        let attach = AttachRequest { index, subject, sums: None, files, signing: None, note: None };
        AttachPlan::look(store, attach).await
    }

    fn report(&self, store: &dyn ReadStore, attachments: Vec<Attachment>, transfers: Transfers) -> AttachReport {
        let Self { request, release } = self;
        AttachReport {
            place: store.place(),
            of: release.of.clone(),
            version: request.version.clone(),
            tag: release.tag.clone(),
            index: release.index.digest.clone(),
            artifact_type: request.files.first().map(|file| file.artifact_type().to_string()).unwrap_or_default(),
            unchanged: attachments.iter().all(|attachment| attachment.state == AttachmentState::Present),
            attachments,
            transfers,
        }
    }
}
