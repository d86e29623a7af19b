//! The documentation of a release: a referrer of its index with a zip of pages.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tofu_oci_archive::{ArchiveError, Limits, zip_files};
use tofu_oci_docs::{MOST_BYTES, MOST_PAGES, ProviderDocs};
use tofu_oci_fault::Fault;
use tofu_oci_layout::{annotation, artifact_type, media_type};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest, Place, ProviderAddr, RUN, Reference, Version, parse_strictly};

use crate::Release;

/// Most manifests that are opened.
const MOST_OPENED: usize = 100;

/// Why the documentation of a release is not at hand.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum DocsError {
    /// The repository could not be asked.
    #[error(transparent)]
    #[fault(of = _0)]
    Store(#[from] StoreError),
    /// the release has no documentation beside it
    #[error("{address} {version} in {place} has no documentation")]
    #[fault("docs-not-found", todo = "ask the publisher to push the release again with `--docs`")]
    #[hint(
        "its publisher adds it: `{RUN} push DIST REPOSITORY --docs DIR`, where DIR is the docs folder of the provider"
    )]
    NotPublished { address: ProviderAddr, version: Version, place: Place },
    /// the zip with the documentation cannot be read
    #[error("the documentation {layer} in {place} cannot be read")]
    #[fault("docs-damaged", todo = "ask the publisher to push the documentation again")]
    #[hint("`{RUN} push --docs` writes it anew beside the release")]
    Damaged {
        place: Place,
        layer: Digest,
        #[source]
        source: Arc<ArchiveError>,
    },
}

/// The documentation that counts for a release, before it is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDocs {
    /// The manifest that refers to the index.
    pub manifest: Digest,
    /// Which one it is of those of the release, from 1.
    pub revision: u32,
    /// The zip.
    pub layer: Descriptor,
}

/// A manifest that may hold documentation, as a view of its bytes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocsManifest {
    artifact_type: String,
    layers: Vec<Descriptor>,
    subject: Descriptor,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

/// How much the zip with the documentation may hold.
pub fn docs_limits() -> Limits {
    Limits { packed_bytes: MOST_BYTES, total_bytes: MOST_BYTES, entries: MOST_PAGES, ..Limits::default() }
}

/// The documentation beside an index; `None` if it has none. Of several the one with the highest revision counts, and of
/// equal revisions the one with the lowest digest. At most 100 manifests are opened, those first that the list says to be
/// the newest. A manifest that is not what the list of referrers says does not count.
///
/// # Errors
/// If the repository could not be asked.
pub async fn find_docs(store: &dyn ReadStore, index: &Digest) -> Result<Option<FoundDocs>, StoreError> {
    let mut listed = match store.referrers(index).await {
        Err(error) if error.is_not_found() => return Ok(None),
        other => other?,
    };
    listed.retain(|referrer| referrer.artifact_type.as_deref().is_none_or(|found| found == artifact_type::DOCS));
    let said = |referrer: &Descriptor| referrer.annotations.get(annotation::DOCS_REVISION)?.parse::<u32>().ok();
    listed.sort_by_key(|referrer| std::cmp::Reverse(said(referrer)));
    let mut found: Vec<FoundDocs> = Vec::new();
    for referrer in listed.into_iter().take(MOST_OPENED) {
        // Only those after it say an earlier one.
        if found.iter().any(|found| said(&referrer).is_some_and(|revision| revision < found.revision)) {
            break;
        }
        match store.manifest(&Reference::Digest(referrer.digest.clone())).await {
            Ok((_, bytes)) => found.extend(docs_of(&bytes, referrer.digest, index)),
            Err(error) if error.is_of_content() || error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    found.sort_by(|one, other| other.revision.cmp(&one.revision).then_with(|| one.manifest.cmp(&other.manifest)));
    Ok(found.into_iter().next())
}

fn docs_of(bytes: &[u8], manifest: Digest, index: &Digest) -> Option<FoundDocs> {
    let value: Value = parse_strictly(bytes).ok()?;
    let DocsManifest { artifact_type, layers, subject, annotations } = DocsManifest::deserialize(value).ok()?;
    let is_docs = artifact_type == artifact_type::DOCS && subject.digest == *index;
    let [layer] = <[Descriptor; 1]>::try_from(layers).ok()?;
    let revision = annotations.get(annotation::DOCS_REVISION).map_or(Some(1), |text| text.parse().ok())?;
    (is_docs && layer.media_type == media_type::DOCS_ZIP).then_some(FoundDocs { manifest, revision, layer })
}

/// The pages of the documentation, verified by the digest of its zip.
///
/// # Errors
/// [`DocsError::Damaged`] if it is not such a zip, or holds more than [`docs_limits`] let it.
pub async fn read_docs(store: &dyn ReadStore, found: &FoundDocs) -> Result<ProviderDocs, DocsError> {
    let bytes = fetch_bytes(store, &found.layer, MOST_BYTES).await?;
    let files = crate::folder::blocking(move || zip_files(&bytes, &docs_limits())).await;
    let damaged = |source| DocsError::Damaged {
        place: store.place(),
        layer: found.layer.digest.clone(),
        source: Arc::new(source),
    };
    Ok(ProviderDocs::of_files(files.map_err(damaged)?))
}

/// The documentation of a release.
///
/// # Errors
/// [`DocsError::NotPublished`] if it has none, and of every release that lies in no repository.
pub async fn provider_docs(release: &dyn Release) -> Result<ProviderDocs, DocsError> {
    let id = release.id();
    let not_published = || DocsError::NotPublished {
        address: id.address.clone(),
        version: id.version.clone(),
        place: id.place.clone(),
    };
    let (Some(store), Some(index)) = (release.store(), id.identity.index()) else { return Err(not_published()) };
    let found = find_docs(&*store, index).await?.ok_or_else(not_published)?;
    read_docs(&*store, &found).await
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;
    use tofu_oci_store::{MemoryStore, Store as _};

    use super::*;

    /// Puts a manifest beside an index; its digest.
    async fn put(store: &MemoryStore, index: &Descriptor, change: impl FnOnce(&mut Value)) -> Digest {
        let layer = Descriptor::of(media_type::DOCS_ZIP, b"zip");
        let mut manifest = json!({
            "schemaVersion": 2,
            "mediaType": media_type::OCI_MANIFEST,
            "artifactType": artifact_type::DOCS,
            "config": Descriptor::of(media_type::OCI_EMPTY, b"{}"),
            "layers": [layer],
            "subject": index,
        });
        change(&mut manifest);
        let bytes = Bytes::from(manifest.to_string());
        let mut descriptor = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
        descriptor.artifact_type = Some(artifact_type::DOCS.to_owned());
        descriptor.annotations = serde_json::from_value(manifest["annotations"].clone()).unwrap_or_default();
        store.push(&descriptor, &bytes).await.unwrap();
        descriptor.digest
    }

    fn revision(number: &str) -> impl FnOnce(&mut Value) {
        let number = number.to_owned();
        move |manifest| manifest["annotations"] = json!({ annotation::DOCS_REVISION: number })
    }

    #[tokio::test]
    async fn the_highest_revision_counts() {
        let store = MemoryStore::new("memory".parse().unwrap());
        let index = Descriptor::of(media_type::OCI_INDEX, b"index");
        assert_eq!(find_docs(&store, &index.digest).await.unwrap(), None);
        let first = put(&store, &index, |_| {}).await;
        let found = find_docs(&store, &index.digest).await.unwrap().unwrap();
        assert_eq!((found.manifest, found.revision), (first, 1));
        let tenth = put(&store, &index, revision("10")).await;
        put(&store, &index, revision("9")).await;
        let found = find_docs(&store, &index.digest).await.unwrap().unwrap();
        assert_eq!((found.manifest, found.revision), (tenth, 10));
    }

    #[tokio::test]
    async fn the_newest_of_many_revisions_was_not_opened() {
        let store = MemoryStore::new("memory".parse().unwrap());
        let index = Descriptor::of(media_type::OCI_INDEX, b"index");
        for number in 1..=120 {
            put(&store, &index, revision(&number.to_string())).await;
        }
        assert_eq!(find_docs(&store, &index.digest).await.unwrap().unwrap().revision, 120);
    }

    #[tokio::test]
    async fn what_is_something_else_does_not_count() {
        let store = MemoryStore::new("memory".parse().unwrap());
        let index = Descriptor::of(media_type::OCI_INDEX, b"index");
        put(&store, &index, revision("-1")).await;
        put(&store, &index, revision("99999999999")).await;
        put(&store, &index, |manifest| manifest["layers"] = json!([])).await;
        put(&store, &index, |manifest| manifest["layers"][0]["mediaType"] = json!("application/zip")).await;
        put(&store, &index, |manifest| manifest["artifactType"] = json!("application/spdx+json")).await;
        assert_eq!(find_docs(&store, &index.digest).await.unwrap(), None);
    }
}
