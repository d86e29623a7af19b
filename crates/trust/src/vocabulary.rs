//! The names that signatures use on the wire.

/// The media type of a Sigstore bundle, and the artifact type of the referrer that holds one.
///
/// Spec: Sigstore protobuf-specs, `sigstore_bundle.proto`, `Bundle.media_type`.
pub const BUNDLE_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// The media type of the layer that holds the payload of cosign's `.sig` form.
///
/// Spec: cosign, `specs/SIGNATURE_SPEC.md`, "Signature Payload".
pub const SIMPLE_SIGNING_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

/// The predicate type of a statement that says only "signed", as cosign 3 writes it.
pub const SIGN_PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";

/// The predicate type of a statement that says how something was built, as `actions/attest` writes it.
pub const PROVENANCE_PREDICATE: &str = "https://slsa.dev/provenance/v1";

/// The artifact type of the referrer that carries `SHA256SUMS` and its `OpenPGP` signatures.
pub const SUMS_ARTIFACT_TYPE: &str = "application/vnd.opentofu.provider.shasums.v1";

/// The artifact type of the referrer that carries a notice: what the publisher says of a release later.
pub const NOTICE_ARTIFACT_TYPE: &str = "application/vnd.opentofu.provider.notice.v1";

/// The predicate type of the statement that a notice is.
pub const NOTICE_PREDICATE: &str = "https://opentofu.org/tofu-oci/release-notice/v1";

/// The annotation that names the provider which a signature is for: `HOST/NAMESPACE/TYPE`.
pub const ADDRESS_ANNOTATION: &str = "org.opentofu.provider.address";

/// The annotation that names the version which a signature is for.
pub const VERSION_ANNOTATION: &str = "org.opentofu.provider.version";

/// The annotation in which a signer says more, such as why a release was approved.
pub(crate) const NOTE_ANNOTATION: &str = "org.opentofu.provider.note";

/// The layer annotation that holds the signature of cosign's `.sig` form, in base64.
///
/// Spec: cosign, `specs/SIGNATURE_SPEC.md`, "Properties".
pub const SIGNATURE_ANNOTATION: &str = "dev.cosignproject.cosign/signature";
