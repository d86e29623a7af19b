//! One platform's manifest, read.

use serde_json::Value;
use tofu_oci_types::{Algorithm, Descriptor, OciPlatform};

use crate::document::{self, MAX_ENTRIES, ManifestDocument};
use crate::{CreationTime, DocumentKind, LayoutError, LeafKind, annotation, artifact_type, media_type};

/// The manifest of one platform's package, as a view of its bytes.
#[derive(Clone, Debug)]
pub struct Leaf {
    kind: LeafKind,
    config: Descriptor,
    layers: Vec<Descriptor>,
    created: Option<CreationTime>,
}

const EXPECTED: &str = "a container image, or an artifact of type application/vnd.opentofu.provider-target";

impl Leaf {
    /// Reads a manifest whose bytes have been checked against the digest of its index entry. At most 4 MiB.
    ///
    /// The artifact type of the index entry says the kind, and the manifest must say the same. An artifact leaf has
    /// exactly one zip, with a SHA-256 digest; an image leaf has an image config and image layers only. For an image,
    /// the label in the config must still be checked: [`crate::ImageConfig::require_provider_label`].
    ///
    /// # Errors
    /// [`LayoutError::NotAProviderPackage`] names what was found instead.
    ///
    /// Spec: OCI image-spec 1.1.1, manifest.md; `OpenTofu` 1.12 `oci_registry_mirror_source.go`.
    pub fn parse(descriptor: &Descriptor, bytes: &[u8]) -> Result<Self, LayoutError> {
        let digest = &descriptor.digest;
        document::require_size(descriptor)?;
        if !media_type::is_leaf(&descriptor.media_type) {
            return Err(refused(descriptor, DocumentKind::of(descriptor)));
        }
        let document = ManifestDocument::parse(descriptor, bytes)?;
        let kind = kind_of(descriptor, &document)?;
        let layers: Vec<Descriptor> = document.member(digest, "layers")?;
        if layers.len() > MAX_ENTRIES {
            let (count, limit) = (layers.len(), MAX_ENTRIES);
            return Err(LayoutError::TooMany { digest: digest.clone(), what: "layers", count, limit });
        }
        let config: Option<Descriptor> = document.member(digest, "config")?;
        let config = config.ok_or_else(|| document::malformed(&digest.to_string(), &"it has no config"))?;
        let created = document.members.get("annotations").and_then(|all| all.get(annotation::CREATED));
        let created = created.and_then(Value::as_str).and_then(CreationTime::read);
        let leaf = Self { kind, config, layers, created };
        match kind {
            LeafKind::Artifact => leaf.check_artifact(descriptor, &document)?,
            LeafKind::Image => leaf.check_image(descriptor, &document)?,
        }
        Ok(leaf)
    }

    /// Whether this is an image or an artifact.
    pub fn kind(&self) -> LeafKind {
        self.kind
    }

    /// The config. That of an artifact need not be read: it may be the empty object.
    pub fn config(&self) -> &Descriptor {
        &self.config
    }

    /// When it was made, by its annotation.
    pub fn created(&self) -> Option<&CreationTime> {
        self.created.as_ref()
    }

    /// All layers, in the order in which an image's are applied.
    pub fn layers(&self) -> &[Descriptor] {
        &self.layers
    }

    /// The zip of an artifact leaf; `None` for an image.
    pub fn package_layer(&self) -> Option<&Descriptor> {
        match self.kind {
            LeafKind::Artifact => self.zips().next(),
            LeafKind::Image => None,
        }
    }

    /// The same package in fewer bytes: the only layer of an artifact leaf that is tar in Zstandard. Whoever takes it must
    /// know the package's `h1:` from elsewhere: the layer's digest says nothing of the zip.
    ///
    /// `OpenTofu` passes over further layers of a leaf that has one zip (measured, 1.10 to 1.12).
    pub fn small_layer(&self) -> Option<&Descriptor> {
        self.kind.small_layer(&self.layers, |layer| &layer.media_type)
    }

    /// What must be fetched for the package: the zip of an artifact, every layer of an image.
    pub fn parts(&self) -> Vec<Descriptor> {
        match self.package_layer() {
            Some(zip) => vec![zip.clone()],
            None => self.layers.clone(),
        }
    }

    fn zips(&self) -> impl Iterator<Item = &Descriptor> {
        self.layers.iter().filter(|layer| layer.media_type == media_type::ARCHIVE_ZIP)
    }

    fn check_artifact(&self, descriptor: &Descriptor, document: &ManifestDocument) -> Result<(), LayoutError> {
        let digest = || descriptor.digest.clone();
        if descriptor.media_type != media_type::OCI_MANIFEST {
            return Err(LayoutError::LeafMediaType { digest: digest(), found: descriptor.media_type.clone() });
        }
        document.require_media_type(descriptor)?;
        let count = self.zips().count();
        let Some(zip) = self.zips().next() else {
            let found = self.layers.iter().map(|layer| layer.media_type.clone()).collect();
            return Err(LayoutError::NoPackageLayer { digest: digest(), found });
        };
        if count > 1 {
            return Err(LayoutError::SeveralPackageLayers { digest: digest(), count });
        }
        if zip.digest.algorithm() != Algorithm::Sha256 {
            return Err(LayoutError::PackageDigest { digest: zip.digest.clone() });
        }
        match (&zip.platform, &descriptor.platform) {
            (Some(own), Some(expected)) if (&own.os, &own.architecture) != (&expected.os, &expected.architecture) => {
                let text = |platform: &OciPlatform| format!("{}_{}", platform.os, platform.architecture);
                Err(LayoutError::LayerPlatform {
                    digest: zip.digest.clone(),
                    found: text(own),
                    expected: text(expected),
                })
            }
            _ => Ok(()),
        }
    }

    fn check_image(&self, descriptor: &Descriptor, document: &ManifestDocument) -> Result<(), LayoutError> {
        let kind = document.kind(descriptor);
        if kind != DocumentKind::ContainerImage {
            return Err(refused(descriptor, kind));
        }
        match self.layers.iter().find(|layer| media_type::layer_format(&layer.media_type).is_none()) {
            None => Ok(()),
            Some(layer) => {
                Err(LayoutError::LayerMediaType { digest: descriptor.digest.clone(), found: layer.media_type.clone() })
            }
        }
    }
}

fn kind_of(descriptor: &Descriptor, document: &ManifestDocument) -> Result<LeafKind, LayoutError> {
    let entry = descriptor.artifact_type.as_deref().filter(|text| !text.is_empty());
    let body = document.artifact_type.as_deref();
    match (entry, body) {
        (Some(artifact_type::PROVIDER_TARGET), Some(artifact_type::PROVIDER_TARGET)) => Ok(LeafKind::Artifact),
        (None, None) => Ok(LeafKind::Image),
        (Some(artifact_type::PROVIDER_TARGET), _) | (None, Some(artifact_type::PROVIDER_TARGET)) => {
            Err(LayoutError::ArtifactTypeMismatch {
                digest: descriptor.digest.clone(),
                descriptor: descriptor.artifact_type.clone(),
                body: document.artifact_type.clone(),
            })
        }
        _ => Err(refused(descriptor, document.kind(descriptor))),
    }
}

fn refused(descriptor: &Descriptor, found: DocumentKind) -> LayoutError {
    LayoutError::NotAProviderPackage { digest: descriptor.digest.clone(), found, expected: EXPECTED }
}
