//! Finding things in the folder. All of this blocks.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use super::DirStore;
use super::blobs::{is_absent, read_limited};
use crate::manifest::{Manifest, is_manifest_type};
use crate::{ReadStore as _, StoreError};

/// How deep indexes are followed when looking for referrers.
const MAX_DEPTH: usize = 8;

impl DirStore {
    pub(super) fn check_layout(&self) -> Result<(), StoreError> {
        if !self.root.is_dir() {
            return Err(StoreError::UnknownRepository { place: self.place() });
        }
        let malformed = |problem: &str| StoreError::Malformed { place: self.place(), problem: problem.to_owned() };
        let bytes = match read_limited(&self.root.join("oci-layout"), 64 * 1024) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(StoreError::Io { source, .. }) if is_absent(&source) => {
                return Err(malformed("it is no OCI image layout (it has no file oci-layout)"));
            }
            Err(error) => return Err(error),
        };
        let marker: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match marker.get("imageLayoutVersion").and_then(serde_json::Value::as_str) {
            Some("1.0.0") => Ok(()),
            Some(_) => Err(malformed("its imageLayoutVersion is not 1.0.0")),
            None => Err(malformed("its file oci-layout has no imageLayoutVersion")),
        }
    }

    pub(super) fn resolve_now(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let index = self.index_json()?;
        match reference {
            Reference::Tag(tag) => {
                let entries = index.tagged(tag);
                let Some(first) = entries.first() else {
                    return Err(StoreError::NotFound { place: self.place(), what: format!("tag {tag}") });
                };
                if entries.iter().any(|entry| entry.digest != first.digest) {
                    let problem = format!("index.json has the tag {tag} twice, for different manifests");
                    return Err(StoreError::Malformed { place: self.place(), problem });
                }
                self.as_stored(first)
            }
            Reference::Digest(digest) => {
                match index.entries().find(|(_, entry)| entry.digest == *digest && is_manifest_type(&entry.media_type))
                {
                    Some((_, entry)) => self.as_stored(&entry),
                    None => self.manifest_by_digest(digest),
                }
            }
        }
    }

    /// The entry with the size that the file has, whatever the entry says.
    fn as_stored(&self, entry: &Descriptor) -> Result<Descriptor, StoreError> {
        if entry.media_type.is_empty() {
            return self.manifest_by_digest(&entry.digest);
        }
        let (_, size) = self.blob_file(&entry.digest, &format!("manifest {}", entry.digest))?;
        let mut descriptor = Descriptor::new(&entry.media_type, entry.digest.clone(), size);
        descriptor.artifact_type.clone_from(&entry.artifact_type);
        Ok(descriptor)
    }

    /// The descriptor of a manifest that `index.json` does not list: what its bytes say that they are.
    fn manifest_by_digest(&self, digest: &Digest) -> Result<Descriptor, StoreError> {
        let not_found = || StoreError::NotFound { place: self.place(), what: format!("manifest {digest}") };
        let bytes = match self.manifest_bytes(digest) {
            // Something larger than a manifest can be is a blob.
            Err(StoreError::TooLarge { .. }) => return Err(not_found()),
            other => other?,
        };
        let manifest = Manifest::parse(&bytes).map_err(|_| not_found())?;
        let media_type = manifest.media_type().ok_or_else(not_found)?;
        Ok(Descriptor::new(media_type, digest.clone(), bytes.len() as u64))
    }

    pub(super) fn tags_now(&self) -> Result<Vec<Tag>, StoreError> {
        let tags: BTreeSet<Tag> = self.index_json()?.entries().filter_map(|(tag, _)| tag).collect();
        Ok(tags.into_iter().collect())
    }

    pub(super) fn exists_now(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        match self.blob_file(&descriptor.digest, "") {
            Ok((_, size)) => Ok(size == descriptor.size),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Looks through everything that `index.json` leads to by way of indexes. That finds the manifests which this
    /// program lists, an index under the fallback tag `sha256-HEX`, and attestations inside an image's own index.
    pub(super) fn referrers_now(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let mut found = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut level: Vec<Descriptor> = self.index_json()?.entries().map(|(_, entry)| entry).collect();
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for entry in level {
                if !is_manifest_type(&entry.media_type) || !seen.insert(entry.digest.clone()) {
                    continue;
                }
                let Some((manifest, size)) = self.readable_manifest(&entry.digest) else { continue };
                if manifest.subject() == Some(subject) {
                    let referrer = manifest.as_referrer(&entry.media_type, &entry.digest, size);
                    found.insert(entry.digest.clone(), referrer);
                }
                next.extend(manifest.children().filter(|child| is_manifest_type(&child.media_type)).cloned());
            }
            level = next;
        }
        Ok(found.into_values().collect())
    }

    /// A manifest that is there and intact; a layout may be sparse, and one damaged manifest must not hide the others.
    fn readable_manifest(&self, digest: &Digest) -> Option<(Manifest, u64)> {
        let bytes = self.manifest_bytes(digest).ok().filter(|bytes| digest.matches(bytes))?;
        Some((Manifest::parse(&bytes).ok()?, bytes.len() as u64))
    }
}
