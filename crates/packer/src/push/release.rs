//! A release whose every byte is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use tofu_oci_layout::{IndexFacts, LeafPlan, Planned, PlatformHashes, plan_index};
use tofu_oci_types::{PackageHash, Place, Tag};

use super::pack::Prepared;
use crate::{
    Attachment, KnownLeaves, PlatformReport, Publication, PushReport, ReleaseParts, ReplacedRelease, SmallLayer,
    Transfers,
};

/// A release ready to be published.
pub(super) struct BuiltRelease {
    pub(super) prepared: Vec<Arc<Prepared>>,
    pub(super) platforms: Vec<PlatformReport>,
    pub(super) index: Planned,
}

impl BuiltRelease {
    /// Plans the index; `checksums` has the order of `prepared`.
    pub(super) fn new(
        publication: &Publication<'_>,
        protocols: &[String],
        prepared: Vec<Arc<Prepared>>,
        checksums: Vec<Option<PackageHash>>,
    ) -> Self {
        let platforms: Vec<PlatformReport> =
            prepared.iter().zip(checksums).map(|(prepared, h1)| report(prepared, h1)).collect();
        let hashes: BTreeMap<_, _> = platforms
            .iter()
            .map(|platform| {
                let hashes = PlatformHashes {
                    h1: platform.h1.clone(),
                    zh: platform.zh.clone(),
                    size: platform.size,
                    filename: platform.filename.clone(),
                };
                (platform.platform.clone(), hashes)
            })
            .collect();
        let facts = IndexFacts {
            address: publication.address.clone(),
            version: publication.version.clone(),
            protocols: protocols.to_vec(),
            hashes,
        };
        let leaves: Vec<LeafPlan> = prepared.iter().flat_map(|prepared| prepared.leaves.iter().cloned()).collect();
        let index = plan_index(&leaves, &facts, publication.layout);
        Self { prepared, platforms, index }
    }

    /// All leaves.
    pub(super) fn known_leaves(&self) -> KnownLeaves {
        let all = || self.platforms.iter();
        KnownLeaves {
            digests: all().flat_map(|one| one.leaves.iter().cloned()).collect(),
            zips: all().filter_map(|one| Some((one.platform.clone(), one.zh.clone()?))).collect(),
            contents: all().filter_map(|one| Some((one.platform.clone(), one.h1.clone()?))).collect(),
        }
    }

    pub(super) fn report(
        self,
        publication: &Publication<'_>,
        place: Place,
        tag: Tag,
        attached: Attached,
        unchanged: bool,
    ) -> PushReport {
        PushReport {
            place,
            version: publication.version.clone(),
            tag,
            what: ReleaseParts {
                address: publication.address.clone(),
                index: self.index.descriptor.digest,
                platforms: self.platforms,
            },
            transfers: attached.transfers,
            attachments: attached.attachments,
            replaced: attached.replaced,
            unchanged,
        }
    }
}

/// What was sent, and what refers to the release now.
#[derive(Default)]
pub(super) struct Attached {
    pub(super) transfers: Transfers,
    pub(super) attachments: Vec<Attachment>,
    pub(super) replaced: Option<ReplacedRelease>,
}

fn report(prepared: &Prepared, h1: Option<PackageHash>) -> PlatformReport {
    let zip = prepared.zip.as_ref();
    let layer = prepared.layer.as_ref();
    PlatformReport {
        platform: prepared.platform.clone(),
        filename: prepared.filename.clone(),
        leaves: prepared.leaves.iter().map(|leaf| leaf.manifest.descriptor.digest.clone()).collect(),
        zip: zip.map(|blob| blob.digest.clone()),
        layer: layer.map(|blob| blob.digest.clone()),
        size: zip.or(layer).map_or(0, |blob| blob.size),
        h1,
        zh: zip.and_then(|blob| PackageHash::zh(&blob.digest)),
        small: prepared.small.as_ref().map(|blob| SmallLayer { digest: blob.digest.clone(), size: blob.size }),
        small_omitted: prepared.small_omitted,
    }
}
