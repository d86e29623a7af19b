//! A signature for a release or a module that is in a store already.

use serde::Serialize;
use tofu_oci_source::{Neighbour, newest_neighbour};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_trust::{KeyId, VersionOf};
use tofu_oci_types::{Descriptor, Digest, Event, Place, Predecessors, ProviderAddr, Reference, Reporter, Tag, Version};

use crate::copy::no_release;
use crate::found::{FoundVersion, read_version};
use crate::kept_for::{or_note, tags_before};
use crate::signing::{AttachPlan, AttachRequest};
use crate::tags::tag_of;
use crate::{Attachment, AttachmentState, PackError, Rename, SignAddress, SignError, Signer, Transfers};

/// Which release to sign, and how.
#[derive(Clone, Debug)]
pub struct SignRequest<'a> {
    /// The version; its canonical tag is read.
    pub version: &'a Version,
    /// Where the provider's address comes from.
    pub address: SignAddress,
    /// What happens when the repository's other versions name another provider than the signature will.
    pub rename: Rename,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    pub signer: Signer<'a>,
    /// What the signature says besides. If this key has signed the same with another note, or without one, this is
    /// another signature.
    pub note: Option<&'a str>,
}

/// What [`sign`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "signed")]
pub struct SignReport {
    /// The repository.
    pub place: Place,
    /// The provider, as the signature names it, or that it is a module, whose signature names nothing.
    #[serde(flatten)]
    pub of: VersionOf,
    /// The version.
    pub version: Version,
    /// The tag that was read.
    pub tag: Tag,
    /// The digest of the index or of the module's manifest: what is signed.
    pub index: Digest,
    /// The key that signed; `None` for a certificate.
    pub key: Option<KeyId>,
    /// One entry a form.
    pub attachments: Vec<Attachment>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the release was signed by this key in all these forms before.
    pub unchanged: bool,
}

/// Signs the release or the module under the version's tag.
///
/// The release is read and compared with what the signature will name. Signatures that are there stay, whoever made
/// them; if this key has signed the same before, nothing is written. No tag of a version is touched.
///
/// # Errors
/// [`PackError::NoRelease`] if the tag does not exist; [`PackError::Sign`] if it does not point at a release, at one of
/// another version or provider, if the repository is kept for another provider, or if the store does not take the
/// signature or does not show it afterwards.
pub async fn sign(
    store: &dyn Store,
    request: &SignRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<SignReport, PackError> {
    let release = find(store, request.version, &request.address, reporter).await?;
    if let (Rename::Refuse, Some(address)) = (request.rename, release.of.address()) {
        require_address(store, &release.tag, (address, request.predecessors), reporter).await?;
    }
    let subject = release.of.content(&release.index.digest, request.version);
    let (signing, files) = (request.signer.signing(), request.signer.files(subject, request.note).await?);
    let mut report = SignReport {
        place: store.place(),
        of: release.of.clone(),
        version: request.version.clone(),
        tag: release.tag,
        index: release.index.digest.clone(),
        key: signing.map(|signing| signing.key.public().id()),
        attachments: Vec::new(),
        transfers: Transfers::default(),
        unchanged: true,
    };
    let note = request.note;
    let attach = AttachRequest { index: &release.index, subject, sums: None, files: &files, signing, note };
    let plan = AttachPlan::look(store, attach).await?;
    (report.attachments, report.transfers) = plan.attach(store).await?;
    report.unchanged = report.attachments.iter().all(|attachment| attachment.state == AttachmentState::Present);
    Ok(report)
}

/// A release or a module that something can be attached to.
pub(crate) struct SignableRelease {
    pub(crate) tag: Tag,
    /// Its manifest by SHA-256.
    pub(crate) index: Descriptor,
    pub(crate) of: VersionOf,
    pub(crate) found: FoundVersion,
}

/// Reads the release, and compares it with what was asked for.
pub(crate) async fn find(
    store: &dyn ReadStore,
    version: &Version,
    address: &SignAddress,
    reporter: &dyn Reporter,
) -> Result<SignableRelease, PackError> {
    let tag = tag_of(version)?;
    let place = || store.place();
    let (index, bytes) = match store.manifest(&Reference::Tag(tag.clone())).await {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return Err(no_release(store, tag).await),
        Err(error) => return Err(error.into()),
    };
    // A signature names the bytes by SHA-256, whatever algorithm the registry names them by.
    let index = Descriptor { digest: Digest::sha256(&bytes), ..index };
    let found = read_version(&index, &bytes, &tag, store)?;
    if let Some(annotated) = found.claimed_version().filter(|annotated| annotated != version) {
        return Err(SignError::OtherVersion { place: place(), tag, annotated: Box::new(annotated) }.into());
    }
    let annotated = match &found {
        FoundVersion::Release(release) => release.claims().address,
        FoundVersion::Module(_) => None,
    };
    if let (SignAddress::Given(given), Some(annotated)) = (address, &annotated)
        && given != annotated
    {
        if given.provider_type() != annotated.provider_type() {
            let (annotated, given) = (Box::new(annotated.clone()), Box::new(given.clone()));
            return Err(SignError::OtherProvider { place: place(), tag, annotated, given }.into());
        }
        let text = format!("the release says that it is {annotated}, and is taken as {given}");
        reporter.event(&Event::warning("other-address", text));
    }
    let of = found.of(address, place(), &tag)?;
    Ok(SignableRelease { tag, index, of, found })
}

/// Demands that the repository's newest other version does not name another provider: a signature under a name that
/// no client asks for protects no client. Tags that cannot be listed are reported, and nothing is compared.
async fn require_address(
    store: &dyn ReadStore,
    tag: &Tag,
    (address, predecessors): (&ProviderAddr, &Predecessors),
    reporter: &dyn Reporter,
) -> Result<(), PackError> {
    let tags = or_note(tags_before(store).await?, reporter);
    match newest_neighbour(store, tags.iter().filter(|other| *other != tag)).await? {
        Some(Neighbour { version, of: VersionOf::Provider { address: kept } })
            if !predecessors.same_provider(&kept, address) =>
        {
            let (version, kept, address) = (Box::new(version), Box::new(kept), Box::new(address.clone()));
            Err(SignError::OtherAddress { place: store.place(), tag: tag.clone(), address, kept, version }.into())
        }
        _ => Ok(()),
    }
}
