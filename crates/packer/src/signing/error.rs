//! What can go wrong when something is attached to a release.

use tofu_oci_layout::{InvalidModuleManifest, LayoutError};
use tofu_oci_store::StoreError;
use tofu_oci_trust::SignatureForm;
use tofu_oci_types::{Digest, Place, ProviderAddr, Tag, Version};

/// Why a release could not be signed, or does not have what was attached to it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The tag points at something else than a release.
    #[error("{place} has no release under the tag {tag}")]
    NotARelease {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// What it is instead.
        #[source]
        source: Box<LayoutError>,
    },
    /// The tag points at a module package that `OpenTofu` could not read.
    #[error("{place} has no module that can be read under the tag {tag}")]
    NotAModule {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// What is wrong with it.
        #[source]
        source: Box<InvalidModuleManifest>,
    },
    /// The user names the provider of a module.
    #[error("{tag} in {place} is a module, which is no release of {given}")]
    ModuleWithAddress {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// The address that was given.
        given: Box<ProviderAddr>,
    },
    /// Neither the user nor the release says which provider it is.
    #[error("nothing in {place} says which provider the release {tag} is of")]
    AddressUnknown {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
    },
    /// The address that was given is of another provider than the release.
    #[error("the release {tag} in {place} says that it is {annotated}, which is another provider than {given}")]
    OtherProvider {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// The address in the release.
        annotated: Box<ProviderAddr>,
        /// The address that was given.
        given: Box<ProviderAddr>,
    },
    /// The repository is kept for another provider than the signature would name.
    #[error("{place} holds {kept} (its version {version} says so), but {tag} would be signed as {address}")]
    OtherAddress {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// The address that would be signed.
        address: Box<ProviderAddr>,
        /// The address that the newest other version names.
        kept: Box<ProviderAddr>,
        /// That version.
        version: Box<Version>,
    },
    /// The release says that it is of another version than its tag.
    #[error("the tag {tag} in {place} points at a release that says it is version {annotated}")]
    OtherVersion {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// The version in the release.
        annotated: Box<Version>,
    },
    /// The registry does not take the manifest.
    #[error("{place} does not take {}", in_words(*form))]
    Refused {
        /// The repository.
        place: Place,
        /// What was to be attached.
        form: SignatureForm,
        /// What it said.
        #[source]
        source: Box<StoreError>,
    },
    /// The registry does not let a tag be written that has to be written.
    #[error("{place} does not let the tag {tag} be written, which {} needs", in_words(*form))]
    TagRefused {
        /// The repository.
        place: Place,
        /// The tag: `sha256-HEX`, which lists referrers if a registry does not, or `sha256-HEX.sig`.
        tag: String,
        /// What was to be attached.
        form: SignatureForm,
        /// What it said.
        #[source]
        source: Box<StoreError>,
    },
    /// The registry took it, and does not list it.
    #[error("{place} took {}, {manifest}, and does not list it among the referrers of {subject}", in_words(*form))]
    NotListed {
        /// The repository.
        place: Place,
        /// What was attached.
        form: SignatureForm,
        /// The referrer.
        manifest: Digest,
        /// The release.
        subject: Digest,
    },
    /// The registry took it, and does not return it as it was.
    #[error("{place} took {}, and does not give it back as it was", in_words(*form))]
    NotGivenBack {
        /// The repository.
        place: Place,
        /// What was attached.
        form: SignatureForm,
        /// What happened instead.
        #[source]
        source: Box<StoreError>,
    },
    /// The tag for signatures points at something else.
    #[error("the tag {tag} in {place} holds no signatures: {problem}")]
    NotSignatures {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// What is wrong with it.
        problem: String,
    },
    /// The tag has as many signatures as are read, or would have more.
    #[error(
        "the tag {tag} in {place} holds {layers} signatures; with {more} more it would have more than {most}, and no more are read"
    )]
    Full {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
        /// How many there are.
        layers: usize,
        /// How many were to be added.
        more: usize,
        /// How many are read.
        most: usize,
    },
    /// The store has it, and an installer does not find it: too much else lies beside the release.
    #[error("{place} has {}, and who installs {subject} does not find it: too much else refers to it", in_words(*form))]
    NotFound {
        /// The repository.
        place: Place,
        /// What was attached.
        form: SignatureForm,
        /// The release.
        subject: Digest,
    },
    /// The digest of the release is too long for a tag of its signatures.
    #[error("{subject} in {place} has no tag for signatures")]
    NoTag {
        /// The repository.
        place: Place,
        /// The release.
        subject: Digest,
    },
    /// Others write the same tag all the time.
    #[error("others change the tag {tag} in {place} at this moment")]
    Race {
        /// The repository.
        place: Place,
        /// The tag.
        tag: Tag,
    },
}

fn in_words(form: SignatureForm) -> &'static str {
    match form {
        SignatureForm::Bundle => "the signature (a referrer)",
        SignatureForm::CosignTag => "the signature (a tag)",
        SignatureForm::Sums => "the signed SHA256SUMS (a referrer)",
        SignatureForm::Notice => "the notice (a referrer)",
    }
}
