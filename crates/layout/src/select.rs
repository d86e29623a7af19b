//! Which leaf of an index serves a platform.

use std::collections::BTreeMap;

use tofu_oci_types::{Descriptor, Platform};

use crate::index::{ReleaseIndex, has_os_version, is_for, platform_of};
use crate::{LayoutError, LeafKind, media_type};

/// The entry that a platform's package is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    pub descriptor: Descriptor,
    pub kind: LeafKind,
    /// Other images of the platform that would have done, best first: other variants, or the same one again. Worth a
    /// warning, because another client may take one of them. Always empty for an artifact.
    pub passed_over: Vec<Descriptor>,
}

/// The package for a platform.
///
/// Artifact leaves first, by exactly the rules of released `OpenTofu`: a leaf without a platform or of another media type
/// spoils the whole index; a leaf with an `os.version` is passed over; variants are not looked at; two leaves for the
/// platform are refused. If it has no artifact leaf, an image: one without `os.version` before one with,
/// one without a variant before one with, on `arm` `v6` before other variants, and then the first in the index.
///
/// Nested indexes must have been read before: [`ReleaseIndex::unread`].
///
/// # Errors
/// [`LayoutError::PlatformNotOffered`] with what is offered, [`LayoutError::AmbiguousPlatform`], or
/// [`LayoutError::NoProviderPackages`] when nothing in the index is a package.
///
/// Spec: `OpenTofu` 1.12 `oci_registry_mirror_source.go`; OCI image-spec 1.1.1, image-index.md.
pub fn select(index: &ReleaseIndex, platform: &Platform) -> Result<Selected, LayoutError> {
    if let Some(descriptor) = select_artifact(index, platform)? {
        return Ok(Selected { descriptor, kind: LeafKind::Artifact, passed_over: Vec::new() });
    }
    let mut images = ranked_images(index, platform).into_iter().cloned();
    if let Some(descriptor) = images.next() {
        return Ok(Selected { descriptor, kind: LeafKind::Image, passed_over: images.collect() });
    }
    if !index.has_packages() {
        return Err(LayoutError::NoProviderPackages { found: index.other_types() });
    }
    Err(LayoutError::PlatformNotOffered { platform: platform.clone(), offered: index.platforms() })
}

fn select_artifact(index: &ReleaseIndex, platform: &Platform) -> Result<Option<Descriptor>, LayoutError> {
    let mut found: Vec<&Descriptor> = Vec::new();
    for entry in index.artifact_entries() {
        if entry.media_type != media_type::OCI_MANIFEST {
            return Err(LayoutError::LeafMediaType { digest: entry.digest.clone(), found: entry.media_type.clone() });
        }
        if entry.platform.is_none() {
            return Err(LayoutError::NoPlatform { digest: entry.digest.clone() });
        }
        if is_for(entry, platform) && !has_os_version(entry) {
            found.push(entry);
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        several => Err(LayoutError::AmbiguousPlatform {
            platform: platform.clone(),
            digests: several.iter().map(|entry| entry.digest.clone()).collect(),
        }),
    }
}

impl ReleaseIndex {
    /// The entries that a package of this platform may be taken from: artifacts first, then images, best first.
    pub fn candidates(&self, platform: &Platform) -> Vec<Descriptor> {
        let artifacts =
            self.artifact_entries().iter().filter(|entry| is_for(entry, platform) && !has_os_version(entry));
        artifacts.chain(ranked_images(self, platform)).cloned().collect()
    }

    /// What [`candidates`](Self::candidates) says of every platform, by one reading of the index.
    pub fn all_candidates(&self) -> BTreeMap<Platform, Vec<&Descriptor>> {
        let artifacts = self.artifact_entries().iter().filter(|entry| !has_os_version(entry));
        let mut images: Vec<&Descriptor> = self.image_entries().iter().collect();
        images.sort_by_key(|entry| image_rank(entry));
        let mut candidates = BTreeMap::<Platform, Vec<&Descriptor>>::new();
        for entry in artifacts.chain(images) {
            if let Some(platform) = platform_of(entry) {
                candidates.entry(platform).or_default().push(entry);
            }
        }
        candidates
    }
}

/// The images of a platform, best first.
fn ranked_images<'a>(index: &'a ReleaseIndex, platform: &Platform) -> Vec<&'a Descriptor> {
    let mut images: Vec<&Descriptor> = index.image_entries().iter().filter(|entry| is_for(entry, platform)).collect();
    images.sort_by_key(|entry| image_rank(entry));
    images
}

fn image_rank(entry: &Descriptor) -> (bool, (u8, &str)) {
    (has_os_version(entry), variant_rank(entry))
}

fn variant_rank(entry: &Descriptor) -> (u8, &str) {
    let own = entry.platform.as_ref();
    let variant = own.and_then(|platform| platform.variant.as_deref()).unwrap_or_default();
    let arm = own.is_some_and(|platform| platform.architecture == "arm");
    match variant {
        "" => (0, variant),
        // Providers for linux_arm are built with GOARM=6 as a rule, and a v7 program does not run on a v6 machine.
        "v6" if arm => (1, variant),
        _ => (2, variant),
    }
}
