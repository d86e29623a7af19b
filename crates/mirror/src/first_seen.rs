//! Where [`Sightings`] are kept: in a repository as a small artefact under the tag `first-seen`, in a tree of files as a file
//! in the folder of the provider.
//!
//! Several runs may write at once. Each reads again what is there, adds its own and writes, until it reads back its own: what
//! is lost in a race of more than two writers is seen anew by the next run, and so held back longer, never shorter.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use tofu_oci_disk::{ScratchFile, read_file};
use tofu_oci_layout::media_type;
use tofu_oci_packer::Rename;
use tofu_oci_source::version_of;
use tofu_oci_store::{Store, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, ModuleAddr, Place, Predecessors, ProviderAddr, Reference, Tag};

use crate::destination::LINK;
use crate::sightings::SightingsRecord;
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

/// How many marks that name no provider are looked into at a time.
const AT_ONCE: usize = 8;

/// Where the sightings of one provider are kept.
pub(crate) struct FirstSeen {
    address: ProviderAddr,
    kept: KeptSightings,
    /// Whether the record was written without names, by an earlier program.
    unnamed: AtomicBool,
}

enum KeptSightings {
    /// In a repository.
    Artefact(Arc<dyn Store>),
    /// In a file of the provider's own.
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
        let kept = match (destination.store(address)?, destination.place(address)?) {
            (Some(store), _) => KeptSightings::Artefact(store),
            (None, Place::Folder(folder)) => KeptSightings::File(folder.join(FILE)),
            (None, _) => KeptSightings::Nowhere,
        };
        Ok(Self { address: address.clone(), kept, unnamed: AtomicBool::new(false) })
    }

    /// What is remembered of the provider; `None` before the first run.
    #[cfg(test)]
    pub(crate) async fn read(&self) -> Result<Option<Sightings>, MirrorError> {
        Ok(self.record().await?.and_then(|record| record.of(&self.address).cloned()))
    }

    /// The same for all providers that share the place.
    pub(crate) async fn record(&self) -> Result<Option<SightingsRecord>, MirrorError> {
        match &self.kept {
            KeptSightings::Artefact(store) => match of_tag(&**store).await? {
                Some((_, record)) => {
                    let all = named(&**store, record.clone(), &self.address).await?;
                    self.unnamed.store(all != record, Ordering::Relaxed);
                    Ok(Some(all))
                }
                None => Ok(None),
            },
            KeptSightings::File(path) => of_file(path, &self.address),
            KeptSightings::Nowhere => Ok(None),
        }
    }

    /// Whether what was read is in a record of an earlier program, which [`FirstSeen::add`] writes anew with the name.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.unnamed.load(Ordering::Relaxed)
    }

    /// Adds what this run knows of the provider. Nothing is written if it is known already.
    pub(crate) async fn add(&self, news: &Sightings) -> Result<(), MirrorError> {
        match &self.kept {
            KeptSightings::Artefact(store) => {
                change(&**store, Some(&self.address), &|record| record.add(&self.address, news)).await
            }
            KeptSightings::File(path) => add_to_file(path, &self.address, news),
            KeptSightings::Nowhere => Ok(()),
        }
    }

    /// Remembers that a release of the provider came out of a bundle and does not say whose it is. In a file of the provider's
    /// own nothing needs to be remembered.
    pub(crate) async fn add_loaded(&self) -> Result<(), MirrorError> {
        let KeptSightings::Artefact(store) = &self.kept else { return Ok(()) };
        let address = &self.address;
        let edit = |record: &mut SightingsRecord| record.loaded.extend([address.clone()]);
        change(&**store, Some(address), &edit).await
    }
}

/// Refuses a provider whose place earlier runs have filled with another one.
///
/// # Errors
/// [`MirrorError::SharedRepository`].
pub(crate) fn demand_own_place(
    record: &SightingsRecord,
    (destination, address): (&dyn Destination, &ProviderAddr),
    (rename, predecessors): (Rename, &Predecessors),
) -> Result<(), MirrorError> {
    match record.owner(address, predecessors).filter(|_| rename == Rename::Refuse) {
        Some(first) => {
            let (first, second) = (Box::new(first.clone()), Box::new(address.clone()));
            Err(MirrorError::SharedRepository { place: destination.place(address)?, first, second })
        }
        None => Ok(()),
    }
}

/// The module that a repository is for by what earlier runs have written there; `None` if they have written nothing. `tags` are
/// those of the repository.
pub(crate) async fn module_of(store: &dyn Store, tags: &[Tag]) -> Result<Option<ModuleAddr>, MirrorError> {
    if !tags.contains(&tag()) {
        return Ok(None);
    }
    Ok(of_tag(store).await?.and_then(|(_, record)| record.module))
}

/// The same after a run that brings this module. Of two runs at once one is the first.
pub(crate) async fn keep_for(store: &dyn Store, module: &ModuleAddr) -> Result<Option<ModuleAddr>, MirrorError> {
    let edit = |record: &mut SightingsRecord| record.module = record.module.take().or_else(|| Some(module.clone()));
    change(store, None, &edit).await?;
    module_of(store, &[tag()]).await
}

/// The record with a name for every entry. An earlier program wrote none; the next write keeps the names.
async fn named(
    store: &dyn Store,
    mut record: SightingsRecord,
    address: &ProviderAddr,
) -> Result<SightingsRecord, StoreError> {
    let asked: Vec<_> = record.unnamed.marked().map(|index| provider_of(store, index)).collect();
    let found: Vec<Option<_>> = futures_util::stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    record.name(address, &found.into_iter().flatten().collect());
    Ok(record)
}

/// The index with the provider that it says it is of.
async fn provider_of(store: &dyn Store, index: &Digest) -> Result<Option<(Digest, ProviderAddr)>, StoreError> {
    let found = match store.resolve(&Reference::Digest(index.clone())).await {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(match version_of(store, &found).await? {
        Some(VersionOf::Provider { address }) => Some((index.clone(), address)),
        Some(VersionOf::Module) | None => None,
    })
}

/// The manifest that the tag points at, and what it says.
async fn of_tag(store: &dyn Store) -> Result<Option<(Digest, SightingsRecord)>, MirrorError> {
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

/// Writes the record anew until what is read back has the edit. `provider` is the one to which entries without a name go.
async fn change(
    store: &dyn Store,
    provider: Option<&ProviderAddr>,
    edit: &(dyn Fn(&mut SightingsRecord) + Sync),
) -> Result<(), MirrorError> {
    for _ in 0..WRITES {
        let found = of_tag(store).await?;
        let mut all = found.as_ref().map(|(_, record)| record.clone()).unwrap_or_default();
        if let Some(provider) = provider {
            all = named(store, all, provider).await?;
        }
        edit(&mut all);
        if found.as_ref().is_some_and(|(_, known)| *known == all) {
            return Ok(());
        }
        let manifest = put(store, &all).await?;
        // Whether it went well or another run came between: what is read next decides.
        store.retag(&manifest, &tag(), found.as_ref().map(|(digest, _)| digest)).await?;
    }
    Err(MirrorError::SightingsContended { place: store.place(), tag: tag() })
}

async fn put(store: &dyn Store, record: &SightingsRecord) -> Result<Descriptor, StoreError> {
    let empty = Bytes::from_static(b"{}");
    let nothing = Descriptor::of(media_type::OCI_EMPTY, &empty);
    let text = serde_json::to_string(record).expect("texts and moments are always JSON");
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

/// The record in a provider's own folder.
fn of_file(path: &Path, address: &ProviderAddr) -> Result<Option<SightingsRecord>, MirrorError> {
    let failed = |source| MirrorError::SightingsFile { path: path.to_owned(), source };
    if path.is_symlink() {
        return Err(failed(std::io::Error::other(LINK)));
    }
    let bytes = match read_file(path, LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut record: SightingsRecord = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    record.name(address, &HashMap::new());
    Ok(Some(record))
}

fn add_to_file(path: &Path, address: &ProviderAddr, news: &Sightings) -> Result<(), MirrorError> {
    let known = of_file(path, address)?;
    let mut all = known.clone().unwrap_or_default();
    all.add(address, news);
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
    use std::collections::HashSet;

    use tofu_oci_store::MemoryStore;
    use tofu_oci_types::{Moment, Predecessors, Version};

    use super::*;

    fn seen(version: &str) -> Sightings {
        let mut sightings = Sightings::default();
        sightings.see(&version.parse::<Version>().unwrap(), "2026-01-01T00:00:00Z".parse::<Moment>().unwrap());
        sightings
    }

    fn kept(kept: KeptSightings) -> FirstSeen {
        FirstSeen { address: "example.com/acme/zap".parse().unwrap(), kept, unnamed: AtomicBool::default() }
    }

    /// An index that says it is of this provider, under its digest alone.
    async fn index_of(store: &dyn Store, address: &str) -> Digest {
        let text = format!(
            r#"{{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","manifests":[],"annotations":{{"{}":"{address}"}}}}"#,
            media_type::OCI_INDEX,
            tofu_oci_layout::artifact_type::PROVIDER,
            tofu_oci_layout::annotation::ADDRESS,
        );
        let index = Descriptor::of(media_type::OCI_INDEX, text.as_bytes());
        store.push(&index, &Bytes::from(text)).await.unwrap();
        index.digest
    }

    /// A store with a record as an earlier program wrote it, whose mark is about a release of this provider.
    async fn unnamed(address: &str) -> Arc<dyn Store> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        let index = index_of(&*store, address).await;
        let mut marked = seen("1.0.0");
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        marked.set_mark(&"1.0.0".parse().unwrap(), crate::Mark::Whole(index), now);
        let record = SightingsRecord { unnamed: marked, ..SightingsRecord::default() };
        let manifest = put(&*store, &record).await.unwrap();
        store.tag(&manifest, &tag()).await.unwrap();
        store
    }

    #[tokio::test]
    async fn marks_of_an_earlier_program_are_those_of_the_provider_that_their_releases_say() {
        let own = kept(KeptSightings::Artefact(unnamed("example.com/acme/zap").await));
        assert_eq!(own.read().await.unwrap().unwrap().mirrored().len(), 1);
        let others = unnamed("example.com/acme-corp/zap").await;
        let other = kept(KeptSightings::Artefact(Arc::clone(&others)));
        assert_eq!(other.read().await.unwrap(), None, "a mark of another provider is not acted on");
        other.add(&seen("1.1.0")).await.unwrap();
        assert_eq!(other.read().await.unwrap(), Some(seen("1.1.0")));
        let address = "example.com/acme-corp/zap".parse().unwrap();
        let named = FirstSeen { address, ..kept(KeptSightings::Artefact(others)) };
        assert_eq!(named.read().await.unwrap().unwrap().mirrored().len(), 1, "and stays with its own");
    }

    #[tokio::test]
    async fn marks_of_another_provider_are_not_read_at_each_listing() {
        let other = kept(KeptSightings::Artefact(unnamed("example.com/acme-corp/zap").await));
        other.read().await.unwrap();
        assert!(other.is_unnamed(), "the names are written once");
        other.add(&seen("1.1.0")).await.unwrap();
        let record = other.record().await.unwrap().unwrap();
        assert_eq!((record.unnamed.marked().count(), other.is_unnamed()), (0, false));
        let address = "example.com/acme/zap".parse().unwrap();
        assert_eq!(record.of_others(&address, Predecessors::NONE), HashSet::from(["1.0.0"]));
    }

    #[tokio::test]
    async fn what_is_seen_of_one_provider_is_not_seen_of_another() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        kept(KeptSightings::Artefact(Arc::clone(&store))).add(&seen("1.0.0")).await.unwrap();
        let address = "other.example/acme/zap".parse().unwrap();
        let other = FirstSeen { address, ..kept(KeptSightings::Artefact(store)) };
        assert_eq!(other.read().await.unwrap(), None);
    }

    #[tokio::test]
    async fn runs_that_write_at_once_lose_no_sighting() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        let place = kept(KeptSightings::Artefact(Arc::clone(&store)));
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
        let place = kept(KeptSightings::File(dir.path().join(".first-seen/h/n/t.json")));
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
        let place = kept(KeptSightings::Artefact(Arc::new(store)));
        let error = place.add(&seen("1.0.0")).await.unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("not-sightings", "the tag first-seen in memory is not the record of a mirror")
        );
    }
}
