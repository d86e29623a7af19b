//! Referrers, byte for byte.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use tofu_oci_layout::{annotation, artifact_type, media_type};
use tofu_oci_trust::{BUNDLE_TYPE, NOTICE_ARTIFACT_TYPE, SIGN_PREDICATE, SUMS_ARTIFACT_TYPE};
use tofu_oci_types::Descriptor;

use crate::AttachedFile;
use crate::dist::SignedSums;

/// The content that says "nothing here".
///
/// Spec: OCI image-spec 1.1.1, manifest.md, "Guidance for an Empty Descriptor".
const EMPTY: &[u8] = b"{}";
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";

/// Content up to this size is also embedded in the descriptor that names it, so that a reader needs no request for it.
const EMBEDDED: usize = 32 << 10;

/// The media type of a notice: a Sigstore bundle, or a bare statement. It is not the type of a bundle, because
/// `cosign verify` (measured) takes every layer of that type for a signature of the release.
const NOTICE_TYPE: &str = "application/vnd.opentofu.provider.notice.v1+json";

/// A manifest with everything that it names, ready to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Artifact {
    /// Config and layers: what must be there before the manifest.
    pub(super) blobs: Vec<(Descriptor, Bytes)>,
    pub(super) manifest: (Descriptor, Bytes),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReferrerManifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    artifact_type: &'a str,
    config: Embedded<'a>,
    layers: Vec<Embedded<'a>>,
    subject: Descriptor,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'a str, &'a str>,
}

/// A descriptor that carries its content, if that is small.
///
/// Spec: OCI image-spec 1.1.1, descriptor.md, "data".
#[derive(Serialize)]
struct Embedded<'a> {
    #[serde(flatten)]
    descriptor: &'a Descriptor,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl<'a> Embedded<'a> {
    fn new((descriptor, bytes): &'a (Descriptor, Bytes)) -> Self {
        let data = (bytes.len() <= EMBEDDED).then(|| base64::Engine::encode(&BASE64, bytes));
        Self { descriptor, data }
    }
}

const BASE64: base64::engine::GeneralPurpose = base64::engine::general_purpose::STANDARD;

impl Artifact {
    /// A Sigstore bundle as a referrer of the index, as cosign 3 writes it, except for the time.
    ///
    /// Spec: cosign `specs/BUNDLE_SPEC.md`; OCI distribution-spec 1.1.1, "Pushing Manifests with Subject".
    pub(super) fn bundle(index: &Descriptor, bundle: Vec<u8>) -> Self {
        let annotations = BTreeMap::from([
            ("dev.sigstore.bundle.content", "dsse-envelope"),
            ("dev.sigstore.bundle.predicateType", SIGN_PREDICATE),
        ]);
        let bundle = Bytes::from(bundle);
        Self::referrer(BUNDLE_TYPE, vec![(Descriptor::of(BUNDLE_TYPE, &bundle), bundle)], index, annotations)
    }

    /// A file that exists already as a referrer of the index; a bundle as cosign 3 writes it, except for the time. A signed notice is
    /// a [notice](Artifact::notice).
    pub(super) fn file(index: &Descriptor, file: &AttachedFile) -> Self {
        if file.is_notice() {
            return Self::notice(index, file.bytes().clone());
        }
        let media_type = file.artifact_type().to_string();
        let mut descriptor = Descriptor::of(&media_type, file.bytes());
        descriptor.annotations.extend(file.name().map(|name| (annotation::TITLE.to_owned(), name.to_owned())));
        let mut annotations = BTreeMap::new();
        if let Some(peek) = file.peek() {
            annotations.insert("dev.sigstore.bundle.content", "dsse-envelope");
            annotations.insert("dev.sigstore.bundle.predicateType", peek.statement.predicate_type.as_str());
        }
        Self::referrer(&media_type, vec![(descriptor, file.bytes().clone())], index, annotations)
    }

    /// A checksum file with its signatures and the keys that made them as a referrer of the index.
    pub(super) fn sums(index: &Descriptor, sums: &SignedSums) -> Self {
        let titled = |media_type: &str, (name, bytes): &(String, Bytes)| {
            let mut descriptor = Descriptor::of(media_type, bytes);
            descriptor.annotations.insert(annotation::TITLE.to_owned(), name.clone());
            (descriptor, bytes.clone())
        };
        let mut layers = vec![titled("text/plain", &sums.sums)];
        layers.extend(sums.signatures.iter().map(|file| titled("application/pgp-signature", file)));
        layers.extend(sums.keys.iter().map(|file| titled("application/pgp-keys", file)));
        Self::referrer(SUMS_ARTIFACT_TYPE, layers, index, BTreeMap::new())
    }

    /// The documentation of a provider as a referrer of the index.
    pub(super) fn docs(index: &Descriptor, zip: &Bytes, revision: u32) -> Self {
        let mut layer = Descriptor::of(media_type::DOCS_ZIP, zip);
        layer.annotations.insert(annotation::TITLE.to_owned(), "docs.zip".to_owned());
        let revision = revision.to_string();
        let annotations = BTreeMap::from([(annotation::DOCS_REVISION, revision.as_str())]);
        Self::referrer(artifact_type::DOCS, vec![(layer, zip.clone())], index, annotations)
    }

    /// What is said of a release later as a referrer of the index: a Sigstore bundle, or a bare statement.
    ///
    /// A bundle has no media type of a bundle here: `cosign verify` would take it for a signature of the release.
    pub(super) fn notice(index: &Descriptor, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let layers = vec![(Descriptor::of(NOTICE_TYPE, &content), content)];
        Self::referrer(NOTICE_ARTIFACT_TYPE, layers, index, BTreeMap::new())
    }

    fn referrer(
        artifact_type: &str,
        layers: Vec<(Descriptor, Bytes)>,
        index: &Descriptor,
        annotations: BTreeMap<&str, &str>,
    ) -> Self {
        let empty = Bytes::from_static(EMPTY);
        let config = (Descriptor::of(EMPTY_TYPE, &empty), empty);
        let manifest = ReferrerManifest {
            schema_version: 2,
            media_type: media_type::OCI_MANIFEST,
            artifact_type,
            config: Embedded::new(&config),
            layers: layers.iter().map(Embedded::new).collect(),
            subject: Descriptor::new(&index.media_type, index.digest.clone(), index.size),
            annotations,
        };
        let bytes = serde_json::to_vec(&manifest).expect("maps with text keys and plain values always serialise");
        let bytes = Bytes::from(bytes);
        let mut descriptor = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
        descriptor.artifact_type = Some(artifact_type.to_owned());
        let mut blobs = vec![config];
        blobs.extend(layers);
        Self { blobs, manifest: (descriptor, bytes) }
    }

    /// What the manifest names without carrying it.
    pub(super) fn named_alone(&self) -> impl Iterator<Item = &(Descriptor, Bytes)> {
        self.blobs.iter().filter(|(_, bytes)| bytes.len() > EMBEDDED)
    }

    /// Bytes of all that it consists of.
    pub(super) fn size(&self) -> u64 {
        self.blobs.iter().map(|(blob, _)| blob.size).sum::<u64>() + self.manifest.0.size
    }
}
