//! One repository of a bundle.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Tag};

use super::read::BundleArchive;
use crate::dir::blocking;
use crate::error::{StoreError, StoreItem};
use crate::manifest::ManifestEdges;
use crate::traits::ReadStore;
use crate::verify::ByteStream;

/// One repository of a bundle, read in place.
#[derive(Clone, Debug)]
pub struct BundleStore {
    bundle: BundleArchive,
    name: String,
}

impl BundleArchive {
    /// One of its repositories; one that it does not have is unknown to every question.
    pub fn repository(&self, name: &str) -> BundleStore {
        BundleStore { bundle: self.clone(), name: name.to_owned() }
    }
}

impl BundleStore {
    fn tags_now(&self) -> Result<&BTreeMap<Tag, Descriptor>, StoreError> {
        self.bundle.0.tags(&self.name)
    }
}

#[async_trait]
impl ReadStore for BundleStore {
    fn place(&self) -> Place {
        self.bundle.place()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let tags = self.tags_now()?;
        let not_found = || StoreError::NotFound { place: self.place(), what: reference.into() };
        let digest = match reference {
            Reference::Tag(tag) => {
                let mut entry = tags.get(tag).ok_or_else(not_found)?.clone();
                entry.size = self.bundle.0.blob(&entry.digest, StoreItem::ManifestOfTag(tag.clone()))?.size;
                return Ok(entry);
            }
            Reference::Digest(digest) => digest.clone(),
        };
        let bundle = Arc::clone(&self.bundle.0);
        let of = digest.clone();
        let bytes = blocking(move || bundle.manifest(&of)).await.map_err(|error| match error {
            // Something larger than a manifest can be is a blob.
            StoreError::TooLarge { .. } => not_found(),
            other => other,
        })?;
        let media_type =
            ManifestEdges::parse(&bytes).ok().and_then(|manifest| manifest.media_type().map(str::to_owned));
        Ok(Descriptor::new(&media_type.ok_or_else(not_found)?, digest, bytes.len() as u64))
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Ok(self.tags_now()?.keys().cloned().collect())
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.tags_now()?;
        let member = self.bundle.0.blob(&descriptor.digest, StoreItem::of(descriptor));
        Ok(member.is_ok_and(|member| member.size == descriptor.size))
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.tags_now()?;
        let member = self.bundle.0.blob(&descriptor.digest, StoreItem::of(descriptor))?;
        Ok(self.bundle.0.stream(member))
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        self.tags_now()?;
        let member = self.bundle.0.blob(&blob.digest, StoreItem::of(blob))?;
        if range.end > member.size {
            let (place, what) = (self.place(), StoreItem::of(blob));
            return Err(StoreError::SizeMismatch { place, what, expected: blob.size, actual: member.size });
        }
        Ok(self.bundle.0.range(member, range))
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let bundle = Arc::clone(&self.bundle.0);
        let find = || async { blocking(move || Ok(bundle.find_referrers())).await };
        let referrers = self.bundle.0.referrers.get_or_try_init(find).await?;
        Ok(referrers.get(subject).cloned().unwrap_or_default())
    }
}
