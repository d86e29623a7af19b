//! Leaf manifests and their configs.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_types::{Descriptor, Digest, OciPlatform, Platform};

use super::{Planned, PlatformPackage};
use crate::{LABEL, LABEL_PROVIDER, LayoutError, LeafKind, PackageLayout, annotation, artifact_type, media_type};

/// One leaf of a release: push the blobs and the config, then the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafPlan {
    pub platform: Platform,
    /// Whether it is an image or an artifact.
    pub kind: LeafKind,
    /// The config; equal for equal platforms and contents.
    pub config: Planned,
    /// The manifest. Its descriptor carries platform and artifact type as the index entry needs them.
    pub manifest: Planned,
    /// The layers: content that the caller has.
    pub blobs: Vec<Descriptor>,
}

impl LeafPlan {
    /// The small layer of an artifact, if it has one.
    pub fn small(&self) -> Option<&Descriptor> {
        self.kind.small_layer(&self.blobs, |layer| &layer.media_type)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeafManifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'a str>,
    config: &'a Descriptor,
    layers: &'a [Descriptor],
}

#[derive(Serialize)]
struct LeafConfig<'a> {
    architecture: &'a str,
    os: &'a str,
    #[serde(rename = "config")]
    run: ConfigBody,
    rootfs: RootFs<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ConfigBody {
    labels: BTreeMap<&'static str, &'static str>,
}

#[derive(Serialize)]
struct RootFs<'a> {
    r#type: &'a str,
    diff_ids: &'a [&'a Digest],
}

/// The leaves of one platform: the image before the artifact if the layout has both.
///
/// The artifact's config is an image config with the label, although released `OpenTofu` does not read it: one leaf then
/// satisfies the released client and the label rule of the RFC. Its `diff_ids` name the zip itself, because a layer
/// that is not compressed is its own uncompressed form, and tools that compare the number of layers with the number
/// of `diff_ids` are content. The small layer, if there is one, comes after the zip; an image has none.
///
/// # Errors
/// [`LayoutError::Incomplete`] when the package lacks the zip or the layer that the layout is made of, and
/// [`LayoutError::PackageDigest`] for a zip whose digest is not SHA-256, which `OpenTofu` refuses.
///
/// Spec: `OpenTofu` 1.12 `oci_registry_mirror_source.go`; seed RFC "Provider Packages as OCI distribution objects".
pub fn plan_leaves(package: &PlatformPackage, layout: PackageLayout) -> Result<Vec<LeafPlan>, LayoutError> {
    let mut leaves = Vec::new();
    if layout.has(LeafKind::Image) {
        leaves.push(plan_image(package)?);
    }
    if layout.has(LeafKind::Artifact) {
        leaves.push(plan_artifact(package)?);
    }
    Ok(leaves)
}

fn plan_artifact(package: &PlatformPackage) -> Result<LeafPlan, LayoutError> {
    let (digest, size) = package.zip.as_ref().ok_or_else(|| incomplete(package, LeafKind::Artifact, "zip"))?;
    if digest.algorithm() != tofu_oci_types::Algorithm::Sha256 {
        return Err(LayoutError::PackageDigest { digest: digest.clone() });
    }
    let titled = |media_type: &str, digest: &Digest, size: u64, title: String| {
        let mut layer = Descriptor::new(media_type, digest.clone(), size);
        layer.annotations.insert(annotation::TITLE.to_owned(), title);
        layer
    };
    let mut layers = vec![titled(media_type::ARCHIVE_ZIP, digest, *size, package.filename.clone())];
    let mut diff_ids = vec![digest];
    if let Some(small) = &package.small {
        let name = package.filename.strip_suffix(".zip").unwrap_or(&package.filename);
        layers.push(titled(media_type::LAYER_TAR_ZSTD, &small.digest, small.size, format!("{name}.tar.zst")));
        diff_ids.push(&small.diff_id);
    }
    Ok(plan_leaf(package, LeafKind::Artifact, layers, &diff_ids))
}

fn plan_image(package: &PlatformPackage) -> Result<LeafPlan, LayoutError> {
    let layer = package.layer.as_ref().ok_or_else(|| incomplete(package, LeafKind::Image, "layer"))?;
    let blob = Descriptor::new(media_type::LAYER_TAR_GZIP, layer.digest.clone(), layer.size);
    Ok(plan_leaf(package, LeafKind::Image, vec![blob], &[&layer.diff_id]))
}

fn plan_leaf(package: &PlatformPackage, kind: LeafKind, layers: Vec<Descriptor>, diff_ids: &[&Digest]) -> LeafPlan {
    let platform = &package.platform;
    let config = Planned::json(
        media_type::OCI_CONFIG,
        &LeafConfig {
            architecture: platform.arch(),
            os: platform.os(),
            run: ConfigBody { labels: BTreeMap::from([(LABEL, LABEL_PROVIDER)]) },
            rootfs: RootFs { r#type: "layers", diff_ids },
        },
    );
    let artifact = (kind == LeafKind::Artifact).then_some(artifact_type::PROVIDER_TARGET);
    let mut manifest = Planned::json(
        media_type::OCI_MANIFEST,
        &LeafManifest {
            schema_version: 2,
            media_type: media_type::OCI_MANIFEST,
            artifact_type: artifact,
            config: &config.descriptor,
            layers: &layers,
        },
    );
    manifest.descriptor.artifact_type = artifact.map(ToOwned::to_owned);
    manifest.descriptor.platform = Some(OciPlatform::from(platform));
    LeafPlan { platform: platform.clone(), kind, config, manifest, blobs: layers }
}

fn incomplete(package: &PlatformPackage, kind: LeafKind, needs: &'static str) -> LayoutError {
    LayoutError::Incomplete { kind, needs, platform: package.platform.clone() }
}
