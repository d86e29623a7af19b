//! Manifests as they lie in the folder, for looking at what is wrong with them. All of this blocks.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::Value;
use tofu_oci_types::Reference;

use super::blobs::read_limited;
use super::folder::DirStore;
use super::listing::ListedManifest;
use crate::error::{StoreError, StoreItem};
use crate::manifest::OCI_MANIFEST;
use crate::traits::{ReadStore as _, UnverifiedManifest};

impl DirStore {
    /// The tags in the order of `index.json`, each once, whatever their texts are.
    pub(super) fn tag_texts_now(&self) -> Result<Vec<String>, StoreError> {
        let listing = self.listing()?;
        let (mut tags, mut seen) = (Vec::new(), HashSet::new());
        for tag in listing.entries().filter_map(ListedManifest::tag_text) {
            if seen.insert(tag) {
                tags.push(tag.to_owned());
            }
        }
        Ok(tags)
    }

    /// The manifest as a server that trusts this folder would send it: as the media type that `index.json` gives its
    /// digest, else its own, else an image manifest. Of two entries with one tag the last counts.
    pub(super) fn manifest_unverified_now(
        &self,
        reference: &Reference,
        limit: u64,
    ) -> Result<UnverifiedManifest, StoreError> {
        let listing = self.listing()?;
        let digest = match reference {
            Reference::Digest(digest) => digest.clone(),
            Reference::Tag(tag) => {
                let text = listing.tagged(tag).last().and_then(ListedManifest::digest_text);
                text.and_then(|text| text.parse().ok())
                    .ok_or_else(|| StoreError::NotFound { place: self.place(), what: reference.into() })?
            }
        };
        let what = StoreItem::Manifest(digest.clone());
        let (path, _) = self.blob_file(&digest, what.clone())?;
        let bytes = read_limited(&path, limit)?.ok_or_else(|| StoreError::TooLarge {
            place: self.place(),
            what: what.to_string(),
            limit,
        })?;
        let listed = listing.of_digest(&digest).find_map(ListedManifest::media_type).map(str::to_owned);
        let media_type = listed.or_else(|| own_type(&bytes));
        let media_type = media_type.unwrap_or_else(|| OCI_MANIFEST.to_owned());
        Ok(UnverifiedManifest { media_type: Some(media_type), digest: Some(digest), bytes: Bytes::from(bytes) })
    }
}

fn own_type(bytes: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    document.get("mediaType")?.as_str().filter(|own| !own.is_empty()).map(str::to_owned)
}
