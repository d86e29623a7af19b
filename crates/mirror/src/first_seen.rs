//! Where [`Sightings`] are kept: in a repository as a small artefact under the tag `first-seen`, in a tree of files as a file
//! in the folder of the provider. In a repository the record says also whose the packages are that do not say it themselves.
//!
//! Several runs may write at once. Each reads again what is there, adds its own and writes, until it reads back its own: what
//! is lost in a race of more than two writers is seen anew by the next run, and so held back longer, never shorter.

use std::collections::{BTreeMap, BTreeSet};
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
use tofu_oci_store::{Store, StoreError, is_cut};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, ModuleAddr, Place, Predecessors, ProviderAddr, Reference, Tag};

use crate::destination::LINK;
use crate::sightings::SightingsRecord;
use crate::{Destination, MirrorError, Sightings};

/// The artifact type, in repositories of modules too.
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

    /// The record of all providers at the place.
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

    /// Adds what this run knows of the provider, and gives the record. Nothing is written if it is known already.
    pub(crate) async fn add(&self, news: &Sightings) -> Result<SightingsRecord, MirrorError> {
        self.change(&|record| record.add(&self.address, news)).await
    }

    /// The same before the first release of the provider moves: from now on the place is for it. Tells whether it was not before.
    ///
    /// # Errors
    /// As [`SightingsRecord::demand_own`], and if the record cannot be read or written.
    pub(crate) async fn claim(
        &self,
        news: &Sightings,
        destination: &dyn Destination,
        names: (Rename, &Predecessors),
    ) -> Result<bool, MirrorError> {
        let is_new = AtomicBool::new(false);
        let edit = |record: &mut SightingsRecord| {
            record.add(&self.address, news);
            is_new.fetch_or(record.claim(&self.address, names), Ordering::Relaxed);
        };
        self.change(&edit).await?.demand_own((destination, &self.address), names)?;
        Ok(is_new.into_inner())
    }

    /// Takes a new claim back: nothing of the provider has come.
    pub(crate) async fn unclaim(&self) -> Result<(), MirrorError> {
        self.change(&|record| drop(record.claimed.take(&self.address))).await.map(drop)
    }

    async fn change(&self, edit: &(dyn Fn(&mut SightingsRecord) + Sync)) -> Result<SightingsRecord, MirrorError> {
        match &self.kept {
            KeptSightings::Artefact(store) => change(&**store, Some(&self.address), edit).await,
            KeptSightings::File(path) => change_file(path, &self.address, edit),
            KeptSightings::Nowhere => Ok(SightingsRecord::default()),
        }
    }
}

/// The modules that earlier runs have recorded in a repository of modules.
pub(crate) async fn recorded_modules(store: &dyn Store) -> Result<BTreeSet<ModuleAddr>, MirrorError> {
    Ok(of_tag(store).await?.map(|(_, record)| record.modules).unwrap_or_default())
}

/// Records a module of which a package does not say that it is that one, and gives all that are recorded then. It is not recorded
/// if another run has recorded one that is not among those from `before`.
pub(crate) async fn record_module(
    store: &dyn Store,
    module: &ModuleAddr,
    before: &BTreeSet<ModuleAddr>,
) -> Result<BTreeSet<ModuleAddr>, MirrorError> {
    let edit = |record: &mut SightingsRecord| {
        if record.modules.is_subset(before) {
            record.modules.insert(module.clone());
        }
    };
    Ok(change(store, None, &edit).await?.modules)
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
        // After a power cut: as a file that is cut off.
        Err(error) if error.is_of_content() && matches!(store.place(), Place::Layout(_)) => {
            let cut = store.resolve(&Reference::Tag(tag())).await?;
            return Ok(Some((cut.digest, SightingsRecord::default())));
        }
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
) -> Result<SightingsRecord, MirrorError> {
    for _ in 0..WRITES {
        let found = of_tag(store).await?;
        let mut all = found.as_ref().map(|(_, record)| record.clone()).unwrap_or_default();
        if let Some(provider) = provider {
            all = named(store, all, provider).await?;
        }
        edit(&mut all);
        if found.as_ref().is_some_and(|(_, known)| *known == all) {
            return Ok(all);
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
    if is_cut(&bytes) {
        // After a power cut. What it said is seen anew, and so held back longer, never shorter: this is not the first run.
        let providers = [(address.clone(), Sightings::default())].into();
        return Ok(Some(SightingsRecord { providers, ..SightingsRecord::default() }));
    }
    let mut record: SightingsRecord = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    record.name_all(address);
    Ok(Some(record))
}

fn change_file(
    path: &Path,
    address: &ProviderAddr,
    edit: &dyn Fn(&mut SightingsRecord),
) -> Result<SightingsRecord, MirrorError> {
    let known = of_file(path, address)?;
    let mut all = known.clone().unwrap_or_default();
    edit(&mut all);
    if known.as_ref() == Some(&all) {
        return Ok(all);
    }
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let file = ScratchFile::beside(folder)?;
        serde_json::to_writer(file.as_file(), &all)?;
        file.as_file().sync_all()?;
        file.put(path)
    };
    write().map_err(|source| MirrorError::SightingsFile { path: path.to_owned(), source })?;
    Ok(all)
}

fn tag() -> Tag {
    Tag::FIRST_SEEN.parse().expect("the constant is a tag")
}

#[cfg(test)]
mod tests;
