//! Whether what a layout calls present is there: after a power cut files may be empty or cut off.

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use tofu_oci_types::{Descriptor, Place};

use crate::dir::{DirStore, MAX_DEPTH, blocking};
use crate::error::StoreError;
use crate::manifest::{MAX_MANIFEST, ManifestEdges, is_manifest_type};
use crate::traits::{ReadStore, fetch_bytes};

/// What of a blob is compared with its descriptor. Manifests are small, and compared by their digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparedBy {
    #[default]
    Sizes,
    /// Its digest: all of it is read.
    Digests,
}

/// Whether a layout has everything that a manifest leads to. Any other place answers for itself.
///
/// # Errors
/// If the machine cannot read it.
pub async fn is_whole(store: &dyn ReadStore, root: &Descriptor, compared: ComparedBy) -> Result<bool, StoreError> {
    Ok(damaged(store, root, compared).await?.is_empty())
}

/// Removes from a layout what a manifest leads to and has another digest, so that it is written again.
///
/// # Errors
/// As [`is_whole`], and if it cannot be removed.
pub async fn remove_damaged(store: &dyn ReadStore, root: &Descriptor) -> Result<(), StoreError> {
    let Place::Layout(dir) = store.place() else { return Ok(()) };
    for damaged in damaged(store, root, ComparedBy::Digests).await? {
        let path = DirStore::open_later(&dir).blob_path(&damaged.digest);
        blocking(move || match std::fs::remove_file(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|error| StoreError::io("remove", path, error)),
        })
        .await?;
    }
    Ok(())
}

/// What is missing or damaged. What a damaged manifest leads to is not known.
async fn damaged(
    store: &dyn ReadStore,
    root: &Descriptor,
    compared: ComparedBy,
) -> Result<Vec<Descriptor>, StoreError> {
    let mut damaged = Vec::new();
    if !matches!(store.place(), Place::Layout(_)) {
        return Ok(damaged);
    }
    let (mut level, mut seen) = (vec![root.clone()], HashSet::new());
    for _ in 0..MAX_DEPTH {
        for manifest in std::mem::take(&mut level) {
            let bytes = match fetch_bytes(store, &manifest, MAX_MANIFEST).await {
                Err(error) if error.is_of_content() => {
                    damaged.push(manifest);
                    continue;
                }
                bytes => bytes?,
            };
            let Ok(edges) = ManifestEdges::parse(&bytes) else { continue };
            for child in edges.children().filter(|child| seen.insert(child.digest.clone())) {
                if is_manifest_type(&child.media_type) {
                    level.push(child.clone());
                } else if !is_there(store, child, compared).await? {
                    damaged.push(child.clone());
                }
            }
        }
    }
    Ok(damaged)
}

async fn is_there(store: &dyn ReadStore, blob: &Descriptor, compared: ComparedBy) -> Result<bool, StoreError> {
    if compared == ComparedBy::Sizes || !store.exists(blob).await? {
        return store.exists(blob).await;
    }
    let read = async { store.fetch(blob).await?.try_for_each(|_| std::future::ready(Ok(()))).await };
    match read.await {
        Err(error) if error.is_of_content() => Ok(false),
        read => read.map(|()| true),
    }
}
