//! What can go wrong when something is attached to a release.

use tofu_oci_fault::Fault;
use tofu_oci_layout::{InvalidModuleManifest, LayoutError};
use tofu_oci_store::StoreError;
use tofu_oci_trust::SignatureForm;
use tofu_oci_types::{Digest, Place, ProviderAddr, Tag, Version};

/// Why a release could not be signed, or does not have what was attached to it.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SignError {
    /// the tag does not name a provider release
    #[error("{place} has no release under the tag {tag}")]
    #[fault("not-a-release", todo = "name the tag of a release")]
    #[hint("name the tag of a provider release; `tofu-oci push` and `tofu-oci pack` write them")]
    #[hint("or that of a module; `tofu-oci module push` writes them")]
    NotARelease {
        place: Place,
        tag: Tag,
        #[source]
        source: Box<LayoutError>,
    },
    /// the tag points at a module package without exactly one zip that can be verified
    #[error("{place} has no module that can be read under the tag {tag}")]
    #[fault("module-package-invalid", todo = "publish the module again with `module push`")]
    #[hint("publish the module again: `tofu-oci module push` writes one that can be read")]
    NotAModule {
        place: Place,
        tag: Tag,
        #[source]
        source: Box<InvalidModuleManifest>,
    },
    /// `sign`, `withdraw` or `deprecate` names the provider of what is a module
    #[error("{tag} in {place} is a module, which is no release of {given}")]
    #[fault("module-with-address", todo = "omit `--address`, and name the place alone: `REPOSITORY:VERSION`")]
    #[hint("omit --address, and name the place alone: REPOSITORY:VERSION")]
    ModuleWithAddress { place: Place, tag: Tag, given: Box<ProviderAddr> },
    /// neither the release nor `--address` says which provider it is
    #[error("nothing in {place} says which provider the release {tag} is of")]
    #[fault("address-unknown", todo = "add `--address`")]
    #[hint("say it: --address HOST/NAMESPACE/TYPE, as `source` in required_providers says it")]
    AddressUnknown { place: Place, tag: Tag },
    /// `--address` names another provider than the release
    #[error("the release {tag} in {place} says that it is {annotated}, which is another provider than {given}")]
    #[fault("signs-another-provider", todo = "omit `--address`")]
    #[hint("omit --address: the release says {annotated}")]
    OtherProvider { place: Place, tag: Tag, annotated: Box<ProviderAddr>, given: Box<ProviderAddr> },
    #[error("{place} holds {kept} (its version {version} says so), but {tag} would be signed as {address}")]
    #[fault(code = "kept-for-another")]
    #[hint(if kept.provider_type() == address.provider_type() => "publish {tag} again with `push --address \
            {kept} --replace-tag`, and sign that")]
    #[hint(if kept.provider_type() == address.provider_type() => "or sign this one under the address of the others: \
            --address {kept}")]
    #[hint(if kept.provider_type() != address.provider_type() => "check that this is the repository that you mean: \
            each provider has its own")]
    #[hint("to sign it as {address} all the same, add --rename")]
    OtherAddress { place: Place, tag: Tag, address: Box<ProviderAddr>, kept: Box<ProviderAddr>, version: Box<Version> },
    /// the release under the tag says that it is another version
    #[error("the tag {tag} in {place} points at a release that says it is version {annotated}")]
    #[fault("tag-of-another-version", todo = "sign that version under its own tag")]
    #[hint("the tag was moved or written by hand: sign {annotated} under its own tag")]
    OtherVersion { place: Place, tag: Tag, annotated: Box<Version> },
    /// the registry does not take the signature
    #[error("{place} does not take {}", in_words(*form))]
    #[fault("signature-refused", todo = "sign with `--sign-format cosign-tag`")]
    #[hint(if let Some(way) = without_referrers(*form) => "{way}")]
    Refused {
        place: Place,
        form: SignatureForm,
        #[source]
        source: Box<StoreError>,
    },
    /// the registry does not let the tag be written that the signature needs
    #[error("{place} does not let the tag {tag} be written, which {} needs", in_words(*form))]
    #[fault("tag-refused", todo = "allow changes of tags that begin with `sha256-`")]
    #[hint("if tags are immutable there, allow changes of those that begin with `sha256-`, such as {tag}")]
    #[hint(if let Some(way) = without_referrers(*form) => "{way}")]
    TagRefused {
        place: Place,
        /// The tag: `sha256-HEX`, which lists referrers if a registry does not, or `sha256-HEX.sig`.
        tag: String,
        form: SignatureForm,
        #[source]
        source: Box<StoreError>,
    },
    #[error("{place} took {}, {manifest}, and does not list it among the referrers of {subject}", in_words(*form))]
    #[fault(code = "referrer-not-listed")]
    #[hint(if let Some(way) = without_referrers(*form) => "{way}")]
    NotListed { place: Place, form: SignatureForm, manifest: Digest, subject: Digest },
    /// the registry returns another signature than it took
    #[error("{place} took {}, and does not give it back as it was", in_words(*form))]
    #[fault("signature-not-kept", todo = "run the command again; sign with `--sign-format cosign-tag`")]
    #[hint("run the same command again; if it happens again, the registry changes or loses what it takes")]
    #[hint(if let Some(way) = without_referrers(*form) => "{way}")]
    NotGivenBack {
        place: Place,
        form: SignatureForm,
        #[source]
        source: Box<StoreError>,
    },
    /// the tag for signatures names something else
    #[error("the tag {tag} in {place} holds no signatures: {problem}")]
    #[fault("not-signatures", todo = "look at the tag, and delete it if it is not needed")]
    #[hint("nothing was changed; look at the tag {tag}, and delete it if it is not needed")]
    NotSignatures { place: Place, tag: Tag, problem: String },
    /// the tag has as many signatures as clients read
    #[error(
        "the tag {tag} in {place} holds {layers} signatures; with {more} more it would have more than {most}, and no more are read"
    )]
    #[fault("too-many-signatures", todo = "delete the tag when its signatures are not needed, or sign as a referrer")]
    #[hint(
        "nothing was written under {tag}; delete it when its signatures are not needed any more, or sign as a \
            referrer"
    )]
    Full { place: Place, tag: Tag, layers: usize, more: usize, most: usize },
    /// too many other referrers hide the signature from clients
    #[error("{place} has {}, and who installs {subject} does not find it: too much else refers to it", in_words(*form))]
    #[fault("signature-not-found", todo = "delete the referrers that are not needed")]
    #[hint("delete what refers to {subject} and is not needed, and run the same command again")]
    NotFound { place: Place, form: SignatureForm, subject: Digest },
    /// `cosign` did not sign without a key
    #[error("cosign did not sign the version: {problem}")]
    #[fault("keyless-signing-failed", end = Unexpected, todo = "read what `cosign` says, and run the command again")]
    #[hint("read what cosign says, and run the command again")]
    Keyless { problem: String },
    /// the digest of the release is too long for a tag of its signatures
    #[error("{subject} in {place} has no tag for signatures")]
    #[fault("no-signature-tag", todo = "sign as a referrer")]
    NoTag { place: Place, subject: Digest },
    /// other programs change the tag at the same time
    #[error("others change the tag {tag} in {place} at this moment")]
    #[fault("tag-race", todo = "look at `tofu-oci versions`, and run the command again")]
    #[hint("nothing was lost; run the same command again")]
    Race { place: Place, tag: Tag },
}

fn in_words(form: SignatureForm) -> &'static str {
    match form {
        SignatureForm::Bundle => "the signature (a referrer)",
        SignatureForm::CosignTag => "the signature (a tag)",
        SignatureForm::Sums => "the signed SHA256SUMS (a referrer)",
        SignatureForm::Notice => "the notice (a referrer)",
        SignatureForm::File => "the file (a referrer)",
    }
}

/// What works with a registry that takes no referrers.
fn without_referrers(form: SignatureForm) -> Option<&'static str> {
    match form {
        SignatureForm::Bundle => Some("sign in the form that needs no referrers: --sign-format cosign-tag"),
        SignatureForm::Sums => Some("publish without the SHA256SUMS of the folder: --sums skip"),
        SignatureForm::CosignTag | SignatureForm::Notice | SignatureForm::File => None,
    }
}
