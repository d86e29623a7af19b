//! The documentation of a release, beside what is there.

use tofu_oci_source::find_docs;
use tofu_oci_store::{ReadStore, Store, StoreError};
use tofu_oci_trust::SignatureForm;
use tofu_oci_types::{Descriptor, Digest};

use super::artifact::Artifact;
use super::attach::Attacher;
use crate::{Attachment, AttachmentState, PackError, ReleaseDocs, Transfers};

/// The documentation that a release is to have.
pub(crate) struct DocsPlan {
    subject: Digest,
    attachment: Attachment,
    artifact: Box<Artifact>,
}

impl DocsPlan {
    /// Looks which documentation counts now. Another one gets a revision of its own, and counts in place of it.
    pub(crate) async fn look(
        store: &dyn ReadStore,
        index: &Descriptor,
        docs: &ReleaseDocs,
    ) -> Result<Self, StoreError> {
        let found = find_docs(store, &index.digest).await?;
        let zip = Digest::sha256(docs.zip());
        let revision = match &found {
            Some(found) if found.layer.digest == zip => found.revision,
            Some(found) => found.revision.saturating_add(1),
            None => 1,
        };
        let artifact = Box::new(Artifact::docs(index, docs.zip(), revision));
        let present = found.filter(|found| found.layer.digest == zip).map(|found| found.manifest);
        let attachment = Attachment {
            form: SignatureForm::File,
            state: if present.is_some() { AttachmentState::Present } else { AttachmentState::Missing },
            manifest: present.unwrap_or_else(|| artifact.manifest.0.digest.clone()),
            tag: None,
            key: None,
            files: vec![format!("documentation of {} page{}", docs.pages(), if docs.pages() == 1 { "" } else { "s" })],
            bytes: artifact.size(),
        };
        Ok(Self { subject: index.digest.clone(), attachment, artifact })
    }

    pub(crate) fn attachment(self) -> Attachment {
        self.attachment
    }

    /// Writes it if it is missing, and reads it back.
    pub(crate) async fn attach(self, store: &dyn Store) -> Result<(Attachment, Transfers), PackError> {
        let Self { subject, mut attachment, artifact } = self;
        let mut attacher = Attacher::new(store, &subject);
        if attachment.state == AttachmentState::Missing {
            attacher.push(attachment.form, &artifact).await?;
            attacher.confirm(&[(attachment.form, artifact)]).await?;
            attachment.state = AttachmentState::Attached;
        }
        Ok((attachment, attacher.transfers))
    }
}
