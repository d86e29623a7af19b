//! A signature for a release that is in a store already.

use serde::Serialize;
use tofu_oci_layout::{LayoutError, ReleaseIndex};
use tofu_oci_source::{Neighbour, newest_neighbour};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_trust::{KeyId, SignedSubject};
use tofu_oci_types::{Descriptor, Digest, Event, Place, ProviderAddr, Reference, Reporter, Tag, Version};

use crate::copy::no_release;
use crate::push::{for_version, tags_unknown};
use crate::signing::{AttachPlan, AttachRequest};
use crate::{Attachment, AttachmentState, PackError, Rename, SignError, Signing, Transfers};

/// Which release to sign, and how.
#[derive(Clone, Debug)]
pub struct SignRequest<'a> {
    /// The version; its canonical tag is read.
    pub version: &'a Version,
    /// Where the provider's address comes from.
    pub address: SignAddress,
    /// What happens when the repository's other versions name another provider than the signature will.
    pub rename: Rename,
    /// Who signs, and in which forms.
    pub signing: Signing<'a>,
}

/// Where the address comes from that a signature names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignAddress {
    /// The user says it.
    Given(ProviderAddr),
    /// The index says it.
    Annotated {
        /// The address if the index does not name one.
        otherwise: Option<ProviderAddr>,
    },
}

/// What [`sign`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignReport {
    /// The repository.
    pub place: Place,
    /// The provider's address, as the signature names it.
    pub address: ProviderAddr,
    /// The version, as the signature names it.
    pub version: Version,
    /// The tag that was read.
    pub tag: Tag,
    /// The digest of the index: what is signed.
    pub index: Digest,
    /// The key that signed.
    pub key: KeyId,
    /// One entry a form.
    pub attachments: Vec<Attachment>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the release was signed by this key in all these forms before.
    pub unchanged: bool,
}

/// Signs the release under the version's tag.
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
    let release = find(store, request, reporter).await?;
    let mut report = SignReport {
        place: store.place(),
        address: release.address.clone(),
        version: request.version.clone(),
        tag: release.tag,
        index: release.index.digest.clone(),
        key: request.signing.key.public().id(),
        attachments: Vec::new(),
        transfers: Transfers::default(),
        unchanged: true,
    };
    let subject = SignedSubject { index: &release.index.digest, address: &release.address, version: request.version };
    let attach =
        AttachRequest { index: &release.index, subject: (&subject).into(), sums: None, signing: Some(request.signing) };
    let plan = AttachPlan::look(store, attach).await?;
    (report.attachments, report.transfers) = plan.attach(store).await?;
    report.unchanged = report.attachments.iter().all(|attachment| attachment.state == AttachmentState::Present);
    Ok(report)
}

struct SignableRelease {
    tag: Tag,
    index: Descriptor,
    address: ProviderAddr,
}

/// Reads the release, and compares it with what was asked for.
async fn find(
    store: &dyn ReadStore,
    request: &SignRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<SignableRelease, PackError> {
    let tag = for_version(request.version)?;
    let place = || store.place();
    let (index, bytes) = match store.manifest(&Reference::Tag(tag.clone())).await {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return Err(no_release(store, tag).await),
        Err(error) => return Err(error.into()),
    };
    // A signature names the bytes by SHA-256, whatever algorithm the registry names them by.
    let index = Descriptor { digest: Digest::sha256(&bytes), ..index };
    let release = read_index(&index, &bytes, &tag, store)?;
    let claims = release.claims();
    if let Some(annotated) = claims.version.filter(|annotated| annotated != request.version) {
        return Err(SignError::OtherVersion { place: place(), tag, annotated: Box::new(annotated) }.into());
    }
    if let (SignAddress::Given(given), Some(annotated)) = (&request.address, &claims.address)
        && given != annotated
    {
        if given.provider_type() != annotated.provider_type() {
            let (annotated, given) = (Box::new(annotated.clone()), Box::new(given.clone()));
            return Err(SignError::OtherProvider { place: place(), tag, annotated, given }.into());
        }
        let text = format!("the release says that it is {annotated}, and is signed as {given}");
        reporter.event(&Event::warning("other-address", text));
    }
    let Some(address) = request.address.choose(claims.address) else {
        return Err(SignError::AddressUnknown { place: place(), tag }.into());
    };
    if request.rename == Rename::Refuse {
        require_address(store, &tag, &address, reporter).await?;
    }
    Ok(SignableRelease { tag, index, address })
}

impl SignAddress {
    /// The address to be named; `None` if nothing names the provider.
    pub(crate) fn choose(&self, annotated: Option<ProviderAddr>) -> Option<ProviderAddr> {
        match self {
            Self::Given(given) => Some(given.clone()),
            Self::Annotated { otherwise } => annotated.or_else(|| otherwise.clone()),
        }
    }
}

/// The index of a release that a signature or a notice is to name.
pub(crate) fn read_index(
    index: &Descriptor,
    bytes: &[u8],
    tag: &Tag,
    store: &dyn ReadStore,
) -> Result<ReleaseIndex, SignError> {
    let not_a_release =
        |source| SignError::NotARelease { place: store.place(), tag: tag.clone(), source: Box::new(source) };
    let release = ReleaseIndex::parse(index, bytes).map_err(not_a_release)?;
    if release.platforms().is_empty() && release.nested().is_empty() {
        return Err(not_a_release(LayoutError::NoProviderPackages { found: Vec::new() }));
    }
    Ok(release)
}

/// Demands that the repository's newest other version does not name another provider: a signature under a name that
/// no client asks for protects no client. Tags that cannot be listed are reported, and nothing is compared.
async fn require_address(
    store: &dyn ReadStore,
    tag: &Tag,
    address: &ProviderAddr,
    reporter: &dyn Reporter,
) -> Result<(), PackError> {
    let tags = match store.tags().await {
        Ok(tags) => tags,
        Err(error) if error.is_transient() => return Err(error.into()),
        Err(error) => {
            reporter.event(&tags_unknown(&error));
            Vec::new()
        }
    };
    match newest_neighbour(store, &tags, tag).await? {
        Some(Neighbour { version, address: kept }) if kept != *address => {
            let (version, kept, address) = (Box::new(version), Box::new(kept), Box::new(address.clone()));
            Err(SignError::OtherAddress { place: store.place(), tag: tag.clone(), address, kept, version }.into())
        }
        _ => Ok(()),
    }
}
