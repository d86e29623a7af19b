//! What is to refer to a release, beside what refers to it already.

use tofu_oci_source::{LAYER_LIMIT, Search, evidence};
use tofu_oci_store::{ReadStore, Store, StoreError};
use tofu_oci_trust::{
    CosignTagSignature, Evidence, PublicKey, SignatureForm, SignedContent, SignedSubject, open_cosign_tag, sign_bundle,
    sign_cosign_tag,
};
use tofu_oci_types::{Descriptor, Reference, Tag};

use super::Signing;
use super::artifact::Artifact;
use super::attach::{Attacher, ROUNDS, ReferrerWriters};
use super::image::{SignatureImage, cosign_tag};
use super::seen::{holder, says, signed_bundle};
use crate::dist::SignedSums;
use crate::{AttachedFile, Attachment, AttachmentState};
use crate::{PackError, SignError, Transfers};

/// What is to be attached to one release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttachRequest<'a> {
    /// The descriptor of the index; it need not be in the store yet.
    pub(crate) index: &'a Descriptor,
    /// What a signature says.
    pub(crate) subject: SignedContent<'a>,
    /// The signed checksum file of its origin.
    pub(crate) sums: Option<&'a SignedSums>,
    /// Files that exist already.
    pub(crate) files: &'a [AttachedFile],
    pub(crate) signing: Option<Signing<'a>>,
    /// What the signature says besides.
    pub(crate) note: Option<&'a str>,
}

/// The same, compared with what is there: byte for byte what is missing.
#[derive(Clone, Debug)]
pub(crate) struct AttachPlan<'a> {
    request: AttachRequest<'a>,
    items: Vec<AttachItem<'a>>,
    /// Whether anything refers to the manifest yet.
    is_referred_to: bool,
    writers: ReferrerWriters,
}

#[derive(Clone, Debug)]
struct AttachItem<'a> {
    attachment: Attachment,
    /// What is written if it is missing.
    content: AttachContent<'a>,
}

#[derive(Clone, Debug)]
enum AttachContent<'a> {
    /// A manifest that refers to the index.
    Referrer(Box<Artifact>),
    /// A signature among those under a tag.
    Signature { tag: Tag, signature: CosignTagSignature, key: &'a PublicKey },
}

impl<'a> AttachPlan<'a> {
    /// Looks at what refers to the release, and plans what is missing. If nothing is requested, the store is not asked.
    pub(crate) async fn look(store: &dyn ReadStore, request: AttachRequest<'a>) -> Result<Self, PackError> {
        let (mut items, mut is_referred_to) = (Vec::new(), false);
        let forms = request.signing.map(|signing| signing.forms);
        let has = |form| forms.is_some_and(|forms| forms.has(form));
        if request.sums.is_some() || !request.files.is_empty() || has(SignatureForm::Bundle) {
            let listed = listed(store, &request).await?;
            is_referred_to = !listed.is_empty();
            for file in request.files {
                items.push(file_item(store, &request, file, &listed).await?);
            }
            if let Some(sums) = request.sums {
                items.push(sums_item(store, &request, sums, &listed).await?);
            }
            if let Some(signing) = request.signing.filter(|_| has(SignatureForm::Bundle)) {
                items.push(bundle_item(store, &request, signing, &listed).await?);
            }
        }
        if let Some(signing) = request.signing.filter(|_| has(SignatureForm::CosignTag)) {
            items.push(image_item(store, &request, signing).await?);
        }
        Ok(Self { request, items, is_referred_to, writers: ReferrerWriters::Anyone })
    }

    /// The same, for a manifest that no tag names yet. Only a program that makes the same one can refer to it now: it has the same
    /// checksum file, and waits for others if it has a signature, too.
    pub(crate) fn of_untagged(mut self) -> Self {
        if !self.is_referred_to && self.items.iter().all(|item| item.attachment.form == SignatureForm::Sums) {
            self.writers = ReferrerWriters::OfTheSame;
        }
        self
    }

    /// What is there and what is missing, in the order of writing.
    pub(crate) fn attachments(&self) -> Vec<Attachment> {
        self.items.iter().map(|item| item.attachment.clone()).collect()
    }

    /// Writes what is missing, and reads back what was written.
    pub(crate) async fn attach(self, store: &dyn Store) -> Result<(Vec<Attachment>, Transfers), PackError> {
        let mut attacher = Attacher::new(store, self.request.subject.digest());
        attacher.writers = self.writers;
        let mut attachments = Vec::with_capacity(self.items.len());
        let mut artifacts = Vec::new();
        for AttachItem { mut attachment, content } in self.items {
            if attachment.state == AttachmentState::Missing {
                match content {
                    AttachContent::Referrer(artifact) => {
                        attacher.push(attachment.form, &artifact).await?;
                        artifacts.push((attachment.form, artifact));
                    }
                    AttachContent::Signature { tag, signature, key } => {
                        attachment.manifest = attacher
                            .signature(tag, &signature, key, (&self.request.subject, self.request.note))
                            .await?;
                    }
                }
                attachment.state = AttachmentState::Attached;
            }
            attachments.push(attachment);
        }
        attacher.confirm(&artifacts).await?;
        // Files were confirmed, and nothing else could be found in its place.
        let is_to_find = |attachment: &Attachment| {
            attachment.state == AttachmentState::Attached
                && !matches!(attachment.form, SignatureForm::Sums | SignatureForm::File)
        };
        if attachments.iter().any(is_to_find) {
            for round in 1.. {
                match demand_found(store, &self.request, &attachments).await {
                    // Another program has overwritten it since it was confirmed.
                    Err(PackError::Sign(error)) if round < ROUNDS && matches!(*error, SignError::NotFound { .. }) => {
                        attacher.confirm(&artifacts).await?;
                    }
                    other => {
                        other?;
                        break;
                    }
                }
            }
        }
        Ok((attachments, attacher.transfers))
    }
}

/// Demands that an installer's search finds everything.
async fn demand_found(
    store: &dyn ReadStore,
    request: &AttachRequest<'_>,
    attachments: &[Attachment],
) -> Result<(), PackError> {
    let keys: Vec<PublicKey> = request.signing.iter().map(|signing| signing.key.public().clone()).collect();
    let found = evidence(store, request.index, Search::Everywhere).await?;
    for attachment in attachments {
        let is_it = |piece: &Evidence| match (attachment.form, piece) {
            (SignatureForm::CosignTag, Evidence::CosignTag { payload, signature, .. }) => {
                says(&open_cosign_tag(payload, signature, &keys), (&request.subject, request.note))
            }
            (SignatureForm::Bundle, Evidence::Bundle { origin, .. })
            | (SignatureForm::Notice, Evidence::Notice { origin, .. })
            | (SignatureForm::Sums, Evidence::Sums { origin, .. }) => *origin == attachment.manifest,
            (SignatureForm::File, _) => true,
            _ => false,
        };
        if !found.iter().any(is_it) {
            let (place, form, subject) = (store.place(), attachment.form, request.index.digest.clone());
            return Err(SignError::NotFound { place, form, subject }.into());
        }
    }
    Ok(())
}

/// What is listed as a referrer; an empty list if the repository does not exist yet.
async fn listed(store: &dyn ReadStore, request: &AttachRequest<'_>) -> Result<Vec<Descriptor>, StoreError> {
    match store.referrers(&request.index.digest).await {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        other => other,
    }
}

async fn sums_item(
    store: &dyn ReadStore,
    request: &AttachRequest<'_>,
    sums: &SignedSums,
    listed: &[Descriptor],
) -> Result<AttachItem<'static>, StoreError> {
    let artifact = Artifact::sums(request.index, sums);
    let files = [&sums.sums].into_iter().chain(&sums.signatures).chain(&sums.keys);
    let attachment = Attachment {
        form: SignatureForm::Sums,
        manifest: artifact.manifest.0.digest.clone(),
        tag: None,
        key: None,
        files: files.map(|(name, _)| name.clone()).collect(),
        bytes: artifact.size(),
        state: state(is_there(store, &artifact, listed).await?),
    };
    Ok(AttachItem { attachment, content: AttachContent::Referrer(Box::new(artifact)) })
}

async fn file_item(
    store: &dyn ReadStore,
    request: &AttachRequest<'_>,
    file: &AttachedFile,
    listed: &[Descriptor],
) -> Result<AttachItem<'static>, PackError> {
    let artifact = Artifact::file(request.index, file);
    let seen = if is_there(store, &artifact, listed).await? {
        Some(artifact.manifest.0.digest.clone())
    } else {
        holder(store, request.index, file, listed).await?
    };
    let attachment = Attachment {
        form: match file.peek() {
            Some(_) if file.is_notice() => SignatureForm::Notice,
            Some(_) => SignatureForm::Bundle,
            None => SignatureForm::File,
        },
        manifest: seen.clone().unwrap_or_else(|| artifact.manifest.0.digest.clone()),
        tag: None,
        key: None,
        files: file.name().map(str::to_owned).into_iter().collect(),
        bytes: artifact.size(),
        state: state(seen.is_some()),
    };
    Ok(AttachItem { attachment, content: AttachContent::Referrer(Box::new(artifact)) })
}

async fn bundle_item(
    store: &dyn ReadStore,
    request: &AttachRequest<'_>,
    signing: Signing<'_>,
    listed: &[Descriptor],
) -> Result<AttachItem<'static>, PackError> {
    let artifact = Artifact::bundle(request.index, sign_bundle(signing.key, request.subject, request.note));
    let seen = if is_there(store, &artifact, listed).await? {
        Some(artifact.manifest.0.digest.clone())
    } else if listed.is_empty() {
        None
    } else {
        signed_bundle(store, request.index, signing.key.public(), (&request.subject, request.note)).await?
    };
    let attachment = Attachment {
        form: SignatureForm::Bundle,
        tag: None,
        key: Some(signing.key.public().id()),
        files: Vec::new(),
        bytes: artifact.size(),
        state: state(seen.is_some()),
        manifest: seen.unwrap_or_else(|| artifact.manifest.0.digest.clone()),
    };
    Ok(AttachItem { attachment, content: AttachContent::Referrer(Box::new(artifact)) })
}

async fn image_item<'a>(
    store: &dyn ReadStore,
    request: &AttachRequest<'_>,
    signing: Signing<'a>,
) -> Result<AttachItem<'a>, PackError> {
    let reference = match (store.repository(), request.subject) {
        (Some(repository), _) => repository.to_string(),
        (None, SignedContent::Release(SignedSubject { address, .. })) => address.to_string(),
        (None, SignedContent::Manifest(_)) => "module".to_owned(),
    };
    let signature = sign_cosign_tag(signing.key, request.subject, request.note, &reference);
    let tag = tag(store, request)?;
    let mut image = SignatureImage::read(store, tag.clone()).await?;
    let seen = match &image.found {
        Some(found) if image.is_signed(store, signing.key.public(), (&request.subject, request.note)).await? => {
            Some(found.digest.clone())
        }
        _ => None,
    };
    if seen.is_none() {
        image.demand_room(store, 1, LAYER_LIMIT)?;
    }
    image.add(&signature);
    let (_, artifact) = image.into_artifact();
    let attachment = Attachment {
        form: SignatureForm::CosignTag,
        tag: Some(tag.clone()),
        key: Some(signing.key.public().id()),
        files: Vec::new(),
        bytes: artifact.size(),
        state: state(seen.is_some()),
        manifest: seen.unwrap_or_else(|| artifact.manifest.0.digest.clone()),
    };
    Ok(AttachItem { attachment, content: AttachContent::Signature { tag, signature, key: signing.key.public() } })
}

fn tag(store: &dyn ReadStore, request: &AttachRequest<'_>) -> Result<Tag, SignError> {
    let digest = &request.index.digest;
    cosign_tag(digest, "sig").ok_or_else(|| SignError::NoTag { place: store.place(), subject: digest.clone() })
}

/// Whether it is listed, and there: a registry may go on to list a referrer that was deleted.
async fn is_there(store: &dyn ReadStore, artifact: &Artifact, listed: &[Descriptor]) -> Result<bool, StoreError> {
    let digest = &artifact.manifest.0.digest;
    if listed.iter().all(|referrer| referrer.digest != *digest) {
        return Ok(false);
    }
    match store.resolve(&Reference::Digest(digest.clone())).await {
        Err(error) if error.is_not_found() => Ok(false),
        found => found.map(|_| true),
    }
}

fn state(is_there: bool) -> AttachmentState {
    if is_there { AttachmentState::Present } else { AttachmentState::Missing }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tofu_oci_layout::media_type;

    use super::*;
    use crate::Forms;
    use crate::testing::{Watching, key};

    #[tokio::test]
    async fn only_a_checksum_file_alone_is_not_waited_for() {
        let (store, key) = (Watching::new(), key(1));
        let index = Descriptor::of(media_type::OCI_INDEX, b"an index that no tag names");
        let file = |name: &str| (name.to_owned(), Bytes::from_static(b"text"));
        let sums = SignedSums { sums: file("SHA256SUMS"), signatures: vec![file("SHA256SUMS.sig")], keys: Vec::new() };
        let signing = Signing { key: &key, forms: Forms::Both };
        for (signing, want) in [(None, ReferrerWriters::OfTheSame), (Some(signing), ReferrerWriters::Anyone)] {
            let subject = SignedContent::Manifest(&index.digest);
            let request = AttachRequest { index: &index, subject, sums: Some(&sums), files: &[], signing, note: None };
            let plan = AttachPlan::look(&store, request).await.unwrap();
            assert_eq!(plan.writers, ReferrerWriters::Anyone, "a tag names it");
            assert_eq!(plan.of_untagged().writers, want);
        }
    }
}
