//! Finding things in the folder. All of this blocks.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::error::Category;
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use super::blobs::{is_absent, read_limited};
use super::folder::{DirStore, Folder};
use super::index_json::MAX_INDEX_JSON;
use super::listing::{DirListing, KnownIndex, ListedManifest, ReferrerMap, Stamp, lock};
use crate::error::{StoreError, StoreItem};
use crate::manifest::{ManifestEdges, is_manifest_type};
use crate::traits::ReadStore as _;

/// How deep indexes are followed when looking for referrers.
pub(crate) const MAX_DEPTH: usize = 8;

/// Demands that `oci-layout` names the version that is read here.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn layout_version(bytes: &[u8]) -> Result<(), &'static str> {
    let marker: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    match marker.get("imageLayoutVersion").and_then(serde_json::Value::as_str) {
        Some("1.0.0") => Ok(()),
        Some(_) => Err("its imageLayoutVersion is not 1.0.0"),
        None => Err("its file oci-layout has no imageLayoutVersion"),
    }
}

impl DirStore {
    pub(super) fn check_layout(&self) -> Result<(), StoreError> {
        match std::fs::metadata(&self.root) {
            Ok(metadata) if metadata.is_dir() => {}
            Err(error) if !is_absent(&error) => return Err(StoreError::io("read", &self.root, error)),
            _ => return Err(StoreError::UnknownRepository { place: self.place() }),
        }
        let malformed = |problem: &str| StoreError::Malformed { place: self.place(), problem: problem.to_owned() };
        let bytes = match read_limited(&self.root.join("oci-layout"), 64 * 1024) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(StoreError::Io(error)) if is_absent(&error.source) => {
                return Err(malformed("it is not an OCI image layout (it has no file oci-layout)"));
            }
            Err(error) => return Err(error),
        };
        layout_version(&bytes).map_err(malformed)
    }

    /// What `index.json` lists now. It is read again only if the file has changed.
    pub(super) fn listing(&self) -> Result<Arc<DirListing>, StoreError> {
        let path = self.root.join("index.json");
        let malformed = |problem: String| StoreError::Malformed { place: self.place(), problem };
        // One reader at a time: the others take what it has read.
        let mut last = lock(&self.cache.last);
        if last.is_none() && self.folder == Folder::Ready {
            self.check_layout()?;
        }
        let opened = tofu_oci_disk::open_file(&path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = match opened {
            Ok(opened) => opened,
            Err(error) if is_absent(&error) => {
                if self.is_to_be_made() {
                    return Ok(Arc::default());
                }
                return Err(malformed("it has no index.json".to_owned()));
            }
            Err(error) => return Err(StoreError::io("read", path, error)),
        };
        let stamp = Stamp::of(&metadata);
        if let Some(known) = last.as_ref().filter(|known| known.is(&stamp)) {
            return Ok(Arc::clone(&known.listing));
        }
        if metadata.len() > MAX_INDEX_JSON {
            return Err(malformed("index.json is too large".to_owned()));
        }
        #[cfg(test)]
        self.cache.reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let listing = DirListing::read(file).map_err(|error| match error.classify() {
            Category::Io => StoreError::io("read", &path, error.into()),
            Category::Data => malformed("index.json is not an index".to_owned()),
            Category::Syntax | Category::Eof => malformed(format!("index.json is not valid JSON: {error}")),
        })?;
        let listing = Arc::new(listing);
        *last = stamp.is_lasting().then(|| KnownIndex { stamp, listing: Arc::clone(&listing), own: None });
        Ok(listing)
    }

    /// Whether the layout is made by the first write, which has not come yet.
    pub(super) fn is_to_be_made(&self) -> bool {
        self.folder == Folder::MadeOnWrite && !self.root.join("oci-layout").exists()
    }

    pub(super) fn resolve_now(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let listing = self.listing()?;
        match reference {
            Reference::Tag(tag) => {
                let mut entries = listing.tagged(tag).filter_map(|entry| Some((entry.digest()?, entry)));
                let Some((digest, first)) = entries.next() else {
                    return Err(StoreError::NotFound { place: self.place(), what: reference.into() });
                };
                if entries.any(|(other, _)| other != digest) {
                    let problem = format!("index.json has the tag {tag} twice, for different manifests");
                    return Err(StoreError::Malformed { place: self.place(), problem });
                }
                self.as_stored(&digest, first)
            }
            Reference::Digest(digest) => {
                let mut entries = listing.of_digest(digest).filter(|entry| entry.digest().is_some());
                match entries.find(|entry| entry.media_type().is_some_and(is_manifest_type)) {
                    Some(entry) => self.as_stored(digest, entry),
                    None => self.manifest_by_digest(digest),
                }
            }
        }
    }

    /// The entry with the size that the file has, whatever the entry says.
    fn as_stored(&self, digest: &Digest, entry: ListedManifest<'_>) -> Result<Descriptor, StoreError> {
        let Some(media_type) = entry.media_type().filter(|media_type| !media_type.is_empty()) else {
            return self.manifest_by_digest(digest);
        };
        let (_, size) = self.blob_file(digest, StoreItem::Manifest(digest.clone()))?;
        let mut descriptor = Descriptor::new(media_type, digest.clone(), size);
        descriptor.artifact_type = entry.artifact_type().map(str::to_owned);
        Ok(descriptor)
    }

    /// The descriptor of a manifest that `index.json` does not list: what its bytes say that they are.
    fn manifest_by_digest(&self, digest: &Digest) -> Result<Descriptor, StoreError> {
        let not_found = || StoreError::NotFound { place: self.place(), what: StoreItem::Manifest(digest.clone()) };
        let bytes = match self.manifest_bytes(digest) {
            // Something larger than a manifest can be is a blob.
            Err(StoreError::TooLarge { .. }) => return Err(not_found()),
            other => other?,
        };
        let manifest = ManifestEdges::parse(&bytes).map_err(|_| not_found())?;
        let media_type = manifest.media_type().ok_or_else(not_found)?;
        Ok(Descriptor::new(media_type, digest.clone(), bytes.len() as u64))
    }

    pub(super) fn tags_now(&self) -> Result<Vec<Tag>, StoreError> {
        let listing = self.listing()?;
        let entries = listing.entries().filter(|entry| entry.digest().is_some());
        let tags: BTreeSet<Tag> = entries.filter_map(|entry| entry.tag_text()?.parse().ok()).collect();
        Ok(tags.into_iter().collect())
    }

    pub(super) fn exists_now(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        match self.blob_file(&descriptor.digest, StoreItem::of(descriptor)) {
            Ok((_, size)) => Ok(size == descriptor.size),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Looks through everything that `index.json` leads to by way of indexes, and reads each manifest once. That finds
    /// the manifests which this program lists, an index under the fallback tag `sha256-HEX`, and attestations inside an
    /// image's own index.
    pub(super) fn referrers_now(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let listing = self.listing()?;
        let mut known = listing.referrers();
        self.find_referrers(&listing, &mut known).inspect_err(|_| *known = ReferrerMap::default())?;
        Ok(known.found.get(subject).map(|all| all.values().cloned().collect()).unwrap_or_default())
    }

    fn find_referrers(&self, listing: &DirListing, known: &mut ReferrerMap) -> Result<(), StoreError> {
        let ReferrerMap { entries, seen, found } = known;
        let listed =
            |entry: ListedManifest<'_>| Some((entry.digest()?, entry.media_type().unwrap_or_default().to_owned()));
        let mut level: Vec<(Digest, String)> = Vec::new();
        for (digest, media_type) in listing.entries().skip(*entries).filter_map(listed) {
            if is_manifest_type(&media_type) && seen.insert(digest.clone()) {
                level.push((digest, media_type));
            }
        }
        let mut is_sparse = false;
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for (digest, media_type) in level {
                let Some((manifest, size)) = self.readable_manifest(&digest)? else {
                    is_sparse = true;
                    continue;
                };
                for child in manifest.children().filter(|child| is_manifest_type(&child.media_type)) {
                    if seen.insert(child.digest.clone()) {
                        next.push((child.digest.clone(), child.media_type.clone()));
                    }
                }
                if let Some(subject) = manifest.subject().cloned() {
                    let referrer = manifest.as_referrer(&media_type, &digest, size);
                    found.entry(subject).or_default().insert(digest, referrer);
                }
            }
            level = next;
        }
        if is_sparse {
            // What is not there may still come.
            (*entries, *seen) = (0, HashSet::new());
        } else {
            *entries = (*entries).max(listing.entries().count());
        }
        Ok(())
    }

    /// A manifest that is there and intact: a layout may be sparse, and one damaged manifest must not hide the others.
    ///
    /// # Errors
    /// If the machine cannot read the file: then its subject is unknown.
    fn readable_manifest(&self, digest: &Digest) -> Result<Option<(ManifestEdges, u64)>, StoreError> {
        #[cfg(test)]
        self.cache.manifests_read.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let bytes = match self.manifest_bytes(digest) {
            Ok(bytes) => bytes,
            Err(error @ StoreError::Io(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        if !digest.matches(&bytes) {
            return Ok(None);
        }
        Ok(ManifestEdges::parse(&bytes).ok().map(|manifest| (manifest, bytes.len() as u64)))
    }
}
