//! Where [`Sightings`] are kept: in a repository as a small artefact under the tag `first-seen`, in a tree of files as a file
//! in the folder of the provider.
//!
//! Several runs may write at once. Each reads again what is there, adds its own and writes, until it reads back its own: what
//! is lost in a race of more than two writers is seen anew by the next run, and so held back longer, never shorter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tofu_oci_disk::{ScratchFile, read_file};
use tofu_oci_layout::media_type;
use tofu_oci_store::{Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Place, ProviderAddr, Reference, Tag};

use crate::destination::LINK;
use crate::{Destination, MirrorError, Sightings};

/// The tag of the artefact. It is no version.
const TAG: &str = "first-seen";
/// The artifact type.
const ARTIFACT_TYPE: &str = "application/vnd.opentofu.provider.first-seen.v1";
/// The annotation that holds the sightings as JSON, so that one request reads them.
const ANNOTATION: &str = "org.opentofu.provider.first-seen";
/// The file in the folder of a provider. Neither clients nor web servers take it for a package.
const FILE: &str = ".first-seen.json";
/// How often a run writes if others write at the same time.
const WRITES: usize = 20;
/// The most that is read of a file, in bytes.
const LIMIT: u64 = 4 << 20;

/// Where the sightings of one provider are kept.
pub(crate) enum FirstSeen {
    /// In a repository.
    Artefact(Arc<dyn Store>),
    /// In a file.
    File(PathBuf),
    /// Nowhere: a bundle is written for the day.
    Nowhere,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadManifest {
    artifact_type: Option<String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SightingsManifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    artifact_type: &'a str,
    config: &'a Descriptor,
    layers: [&'a Descriptor; 1],
    annotations: BTreeMap<&'a str, String>,
}

impl FirstSeen {
    /// Where a destination keeps them.
    pub(crate) fn of(destination: &dyn Destination, address: &ProviderAddr) -> Result<Self, MirrorError> {
        if let Some(store) = destination.store(address)? {
            return Ok(Self::Artefact(store));
        }
        Ok(match destination.place(address)? {
            Place::Folder(folder) => Self::File(folder.join(FILE)),
            _ => Self::Nowhere,
        })
    }

    /// What is remembered; `None` before the first run.
    pub(crate) async fn read(&self) -> Result<Option<Sightings>, MirrorError> {
        match self {
            Self::Artefact(store) => Ok(of_tag(&**store).await?.map(|(_, sightings)| sightings)),
            Self::File(path) => of_file(path),
            Self::Nowhere => Ok(None),
        }
    }

    /// Adds what this run knows. Nothing is written if it is known already.
    pub(crate) async fn add(&self, news: &Sightings) -> Result<(), MirrorError> {
        match self {
            Self::Artefact(store) => add_to_tag(&**store, news).await,
            Self::File(path) => add_to_file(path, news),
            Self::Nowhere => Ok(()),
        }
    }
}

/// The manifest that the tag points at, and what it says.
async fn of_tag(store: &dyn Store) -> Result<Option<(Digest, Sightings)>, MirrorError> {
    let (descriptor, bytes) = match store.manifest(&Reference::Tag(tag())).await {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let unreadable = || MirrorError::NotSightings { place: store.place(), tag: tag() };
    let manifest: ReadManifest = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
    if manifest.artifact_type.as_deref() != Some(ARTIFACT_TYPE) {
        return Err(unreadable());
    }
    let text = manifest.annotations.get(ANNOTATION).ok_or_else(unreadable)?;
    Ok(Some((descriptor.digest, serde_json::from_str(text).map_err(|_| unreadable())?)))
}

async fn add_to_tag(store: &dyn Store, news: &Sightings) -> Result<(), MirrorError> {
    for _ in 0..WRITES {
        let found = of_tag(store).await?;
        let mut all = found.as_ref().map(|(_, sightings)| sightings.clone()).unwrap_or_default();
        all.merge(news);
        if found.as_ref().is_some_and(|(_, known)| *known == all) {
            return Ok(());
        }
        let manifest = put(store, &all).await?;
        // Whether it went well or another run came between: what is read next decides.
        store.retag(&manifest, &tag(), found.as_ref().map(|(digest, _)| digest)).await?;
    }
    Err(MirrorError::SightingsContended { place: store.place(), tag: tag() })
}

async fn put(store: &dyn Store, sightings: &Sightings) -> Result<Descriptor, StoreError> {
    let empty = Bytes::from_static(b"{}");
    let nothing = Descriptor::of(media_type::OCI_EMPTY, &empty);
    let text = serde_json::to_string(sightings).expect("texts and moments are always JSON");
    let manifest = SightingsManifest {
        schema_version: 2,
        media_type: media_type::OCI_MANIFEST,
        artifact_type: ARTIFACT_TYPE,
        config: &nothing,
        layers: [&nothing],
        annotations: BTreeMap::from([(ANNOTATION, text)]),
    };
    let bytes = Bytes::from(serde_json::to_vec(&manifest).expect("a manifest is always JSON"));
    let descriptor = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
    store.push(&nothing, &empty).await?;
    store.push(&descriptor, &bytes).await?;
    Ok(descriptor)
}

fn of_file(path: &Path) -> Result<Option<Sightings>, MirrorError> {
    let failed = |source| MirrorError::SightingsFile { path: path.to_owned(), source };
    if path.is_symlink() {
        return Err(failed(std::io::Error::other(LINK)));
    }
    match read_file(path, LIMIT) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(error.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn add_to_file(path: &Path, news: &Sightings) -> Result<(), MirrorError> {
    let known = of_file(path)?;
    let mut all = known.clone().unwrap_or_default();
    all.merge(news);
    if known.as_ref() == Some(&all) {
        return Ok(());
    }
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let file = ScratchFile::beside(folder)?;
        serde_json::to_writer(file.as_file(), &all)?;
        file.put(path)
    };
    write().map_err(|source| MirrorError::SightingsFile { path: path.to_owned(), source })
}

fn tag() -> Tag {
    TAG.parse().expect("the constant is a tag")
}

#[cfg(test)]
mod tests {
    use tofu_oci_store::MemoryStore;
    use tofu_oci_types::{Moment, Version};

    use super::*;

    fn seen(version: &str) -> Sightings {
        let mut sightings = Sightings::default();
        sightings.see(&version.parse::<Version>().unwrap(), "2026-01-01T00:00:00Z".parse::<Moment>().unwrap());
        sightings
    }

    #[tokio::test]
    async fn runs_that_write_at_once_lose_no_sighting() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        let place = FirstSeen::Artefact(Arc::clone(&store));
        assert_eq!(place.read().await.unwrap(), None);
        let versions: Vec<Sightings> = (0..8).map(|patch| seen(&format!("1.0.{patch}"))).collect();
        let writes = futures_util::future::join_all(versions.iter().map(|one| place.add(one))).await;
        for written in writes {
            written.unwrap();
        }
        let all = place.read().await.unwrap().unwrap();
        for one in &versions {
            let mut both = all.clone();
            both.merge(one);
            assert_eq!(both, all);
        }
    }

    #[tokio::test]
    async fn a_file_keeps_them_beside_a_tree() {
        let dir = tempfile::tempdir().unwrap();
        let place = FirstSeen::File(dir.path().join(".first-seen/h/n/t.json"));
        assert_eq!(place.read().await.unwrap(), None);
        place.add(&seen("1.0.0")).await.unwrap();
        place.add(&seen("1.1.0")).await.unwrap();
        let all = place.read().await.unwrap().unwrap();
        assert!(all.seen(&"1.0.0".parse().unwrap()).is_some() && all.seen(&"1.1.0".parse().unwrap()).is_some());
    }

    #[tokio::test]
    async fn a_tag_of_another_use_is_not_overwritten() {
        let store = MemoryStore::new(Place::Method("memory".into()));
        let bytes = Bytes::from_static(br#"{"schemaVersion":2,"artifactType":"x/y"}"#);
        let other = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
        store.push(&other, &bytes).await.unwrap();
        store.tag(&other, &tag()).await.unwrap();
        let place = FirstSeen::Artefact(Arc::new(store));
        let error = place.add(&seen("1.0.0")).await.unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("not-sightings", "the tag first-seen in memory is not the record of a mirror")
        );
    }
}
