//! Where [`Sightings`] are kept: in a repository as a small artefact under the tag `first-seen`, in a tree of files as a file
//! in the folder of the provider. In a repository the record says also whose the packages are that do not say it themselves.
//!
//! Several runs may write at once. A file is locked. In a repository each reads what is there, adds its own and writes. It does so
//! until it reads back its own, after a wait in which every other that had read the record before must have written
//! ([`Store::settle`]).
//!
//! A run writes twice, however many versions it moves: which ones, before the first; the marks of all, with all that it knows, after
//! the last. If it is interrupted, the next one finds out what became of them. So does the next one if another run overwrites the
//! marks: it has read which versions move, and writes that again. So the marks are not read back if the first write still stands
//! after the wait.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use tofu_oci_layout::media_type;
use tofu_oci_packer::Rename;
use tofu_oci_source::version_of;
use tofu_oci_store::{Store, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, ModuleAddr, Moment, Place, Predecessors, ProviderAddr, Reference, Tag};

use self::file::{change_file, of_file};
pub(crate) use self::interrupted::SeenNow;
use super::sightings::{Sighted, SightingsRecord};
use crate::{Destination, MirrorError, Sightings};

mod file;
mod interrupted;

/// The artifact type, in repositories of modules too.
const ARTIFACT_TYPE: &str = "application/vnd.opentofu.provider.first-seen.v1";
/// The annotation that holds the sightings as JSON, so that one request reads them.
const ANNOTATION: &str = "org.opentofu.provider.first-seen";
/// The file in the folder of a provider. Neither clients nor web servers take it for a package.
const FILE: &str = ".first-seen.json";
/// How often a run writes if others write at the same time.
const WRITES: usize = 20;

/// How many marks that name no provider are looked into at a time.
const AT_ONCE: usize = 8;

/// Where the sightings of one provider or module are kept.
pub(crate) struct FirstSeen<A = ProviderAddr> {
    address: A,
    kept: KeptSightings,
    /// Whether the record was written without names, by an earlier program.
    unnamed: AtomicBool,
    /// What was read or written last in a repository, so that it is not read again before it is changed.
    last: Mutex<Option<KnownRecord>>,
    /// What was known before this run. A mark that is still the same says nothing about what another run does meanwhile.
    before: Mutex<Sightings>,
}

/// What is known of the record of a repository.
#[derive(Clone, Debug)]
struct KnownRecord {
    found: FoundRecord,
    /// Whether this run wrote it, with the versions that it moves.
    announces: bool,
}

/// The record of a repository with the digest of its manifest. `None` if the repository has no record.
type FoundRecord = Option<(Digest, SightingsRecord)>;

/// What a run is about to do with versions.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub(crate) versions: BTreeSet<String>,
    /// When the run began, if it moves versions.
    pub(crate) since: Option<Moment>,
    pub(crate) brings: bool,
    /// What an interrupted run was moving, of which it is known by now what became of it.
    pub(crate) interrupted: BTreeSet<String>,
}

/// What a write of the record is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordWrite {
    /// It says which versions move. The run writes again at its end, and repeats what it writes now.
    Moves,
    /// It says what became of them.
    Marks,
    /// Whatever it says must stay.
    Lasting,
}

enum KeptSightings {
    Artefact(Arc<dyn Store>),
    /// In a file of this provider's own.
    File(PathBuf, ProviderAddr),
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
            (None, Place::Folder(folder)) => KeptSightings::File(folder.join(FILE), address.clone()),
            (None, _) => KeptSightings::Nowhere,
        };
        Ok(Self::kept_in(address.clone(), kept))
    }

    /// What is remembered of the provider; `None` before the first run.
    #[cfg(test)]
    pub(crate) async fn read(&self) -> Result<Option<Sightings>, MirrorError> {
        Ok(self.record().await?.and_then(|record| record.of(&self.address).cloned()))
    }

    /// Before a run changes versions: what it has seen, which ones it changes, and, if it brings some, that the place is for the provider
    /// from now on. Tells whether it was not before.
    ///
    /// # Errors
    /// As [`SightingsRecord::demand_own`], and if the record cannot be read or written.
    pub(crate) async fn begin(
        &self,
        news: &Sightings,
        moves: &Moves,
        destination: &dyn Destination,
        names: (Rename, &Predecessors),
    ) -> Result<bool, MirrorError> {
        let is_new = AtomicBool::new(false);
        let claim = |record: &mut SightingsRecord| {
            is_new.fetch_or(moves.brings && record.claim(&self.address, names), Ordering::Relaxed);
        };
        let begun = moves.since.map(|since| (&moves.versions, since));
        let write = if moves.versions.is_empty() { RecordWrite::Lasting } else { RecordWrite::Moves };
        let record = self.change_moving(write, news, (&moves.interrupted, begun), &claim).await?;
        if moves.brings {
            record.demand_own((destination, &self.address), names)?;
        }
        Ok(is_new.into_inner())
    }

    /// After it: what it knows and has marked. `claim` is false if nothing has come and nothing had come before.
    ///
    /// # Errors
    /// As [`FirstSeen::begin`]: another run may have come between, and have the place.
    pub(crate) async fn end(
        &self,
        known: &Sightings,
        (moves, claim): (&Moves, bool),
        destination: &dyn Destination,
        names: (Rename, &Predecessors),
    ) -> Result<(), MirrorError> {
        let claims = |record: &mut SightingsRecord| {
            if moves.brings && claim {
                record.claim(&self.address, names);
            } else if moves.brings && record.of(&self.address).is_none_or(|known| known.mirrored().is_empty()) {
                // If another run has brought something, the place is for the provider.
                record.claimed.remove(&self.address);
            }
        };
        // A claim that is taken back must not come back.
        let write = if claim { RecordWrite::Marks } else { RecordWrite::Lasting };
        let record = self.change_moving(write, known, (&moves.versions, None), &claims).await?;
        if claim { record.demand_own((destination, &self.address), names) } else { Ok(()) }
    }

    /// Takes a new claim back: nothing of the provider has come.
    pub(crate) async fn unclaim(&self) -> Result<(), MirrorError> {
        self.change(RecordWrite::Lasting, &|record| drop(record.claimed.take(&self.address))).await.map(drop)
    }
}

impl<A: Sighted> FirstSeen<A> {
    /// Those of an address in its repository.
    pub(crate) fn in_store(store: Arc<dyn Store>, address: &A) -> Self {
        Self::kept_in(address.clone(), KeptSightings::Artefact(store))
    }

    fn kept_in(address: A, kept: KeptSightings) -> Self {
        Self { address, kept, unnamed: AtomicBool::new(false), last: Mutex::default(), before: Mutex::default() }
    }

    /// The record of all providers and modules at the place.
    pub(crate) async fn record(&self) -> Result<Option<SightingsRecord>, MirrorError> {
        match &self.kept {
            KeptSightings::Artefact(store) => {
                let provider = self.address.provider();
                let found = of_tag(&**store, provider).await?;
                self.know(found.clone(), false);
                let Some((_, record)) = found else { return Ok(None) };
                let Some(provider) = provider else { return Ok(Some(record)) };
                let all = named(&**store, record.clone(), provider).await?;
                self.unnamed.store(all != record, Ordering::Relaxed);
                Ok(Some(all))
            }
            KeptSightings::File(path, provider) => of_file(path, provider),
            KeptSightings::Nowhere => Ok(None),
        }
    }

    /// Before a run changes versions, and after it: what it knows and has marked, which versions it no longer moves and which
    /// ones it moves from now on, and what this edit writes.
    pub(crate) async fn change_moving(
        &self,
        write: RecordWrite,
        known: &Sightings,
        (ended, begun): (&BTreeSet<String>, Option<(&BTreeSet<String>, Moment)>),
        more: &(dyn Fn(&mut SightingsRecord) + Sync),
    ) -> Result<SightingsRecord, MirrorError> {
        let edit = |record: &mut SightingsRecord| {
            record.add(&self.address, &self.news_in(known));
            record.set_moving(&self.address, ended, begun);
            more(record);
        };
        // Marks may be overwritten only if the record says which versions moved.
        let says_all = |record: &SightingsRecord| {
            A::moving(record).get(&self.address).is_some_and(|of| ended.iter().all(|version| of.contains_key(version)))
        };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let said = last.and_then(|known| known.found).is_some_and(|(_, record)| says_all(&record));
        let write = if write == RecordWrite::Marks && !said { RecordWrite::Lasting } else { write };
        self.change(write, &edit).await
    }

    /// The record if the repository has none, or does not exist yet: that is not asked.
    pub(crate) async fn record_of_new(&self) -> Result<Option<SightingsRecord>, MirrorError> {
        if !matches!(self.kept, KeptSightings::Artefact(_)) {
            return self.record().await;
        }
        self.know(None, false);
        Ok(None)
    }

    fn know(&self, found: FoundRecord, announces: bool) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(KnownRecord { found, announces });
    }

    /// Whether what was read is in a record of an earlier program, which [`FirstSeen::add`] writes anew with the name.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.unnamed.load(Ordering::Relaxed)
    }

    /// Adds what this run knows of the provider or module, and gives the record. Nothing is written if it is known already.
    pub(crate) async fn add(&self, news: &Sightings) -> Result<SightingsRecord, MirrorError> {
        self.change(RecordWrite::Lasting, &|record| record.add(&self.address, &self.news_in(news))).await
    }

    /// The same without the marks that are as they were before this run.
    fn news_in(&self, known: &Sightings) -> Sightings {
        known.since(&self.before.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn change(
        &self,
        write: RecordWrite,
        edit: &(dyn Fn(&mut SightingsRecord) + Sync),
    ) -> Result<SightingsRecord, MirrorError> {
        match &self.kept {
            KeptSightings::Artefact(store) => {
                let known = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (digest, record, is_written) =
                    change(&**store, self.address.provider(), (known, write), edit).await?;
                self.know(Some((digest, record.clone())), is_written && write == RecordWrite::Moves);
                Ok(record)
            }
            KeptSightings::File(path, provider) => change_file(path, provider, edit).await,
            KeptSightings::Nowhere => Ok(SightingsRecord::default()),
        }
    }
}

/// The modules that earlier runs have recorded in a repository of modules.
pub(crate) async fn recorded_modules(store: &dyn Store) -> Result<BTreeSet<ModuleAddr>, MirrorError> {
    Ok(of_tag(store, None).await?.map(|(_, record)| record.modules).unwrap_or_default())
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
    Ok(change(store, None, (None, RecordWrite::Lasting), &edit).await?.1.modules)
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

/// The manifest that the tag points at, and what it says. Of one that is cut off, this is not the first run for the provider.
async fn of_tag(
    store: &dyn Store,
    provider: Option<&ProviderAddr>,
) -> Result<Option<(Digest, SightingsRecord)>, MirrorError> {
    let (descriptor, bytes) = match store.manifest(&Reference::Tag(tag())).await {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return Ok(None),
        // After a power cut: as a file that is cut off.
        Err(error) if error.is_of_content() && matches!(store.place(), Place::Layout(_)) => {
            let cut = store.resolve(&Reference::Tag(tag())).await?;
            let providers = provider.map(|provider| (provider.clone(), Sightings::default())).into_iter().collect();
            return Ok(Some((cut.digest, SightingsRecord { providers, ..SightingsRecord::default() })));
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

/// Writes the record anew until what is read back has the edit, if that must be read back. `provider` is the one to which entries
/// without a name go; what was read before is not read again. Gives the record, and whether it was written just now.
async fn change(
    store: &dyn Store,
    provider: Option<&ProviderAddr>,
    (mut known, write): (Option<KnownRecord>, RecordWrite),
    edit: &(dyn Fn(&mut SightingsRecord) + Sync),
) -> Result<(Digest, SightingsRecord, bool), MirrorError> {
    for _ in 0..WRITES {
        let known = known.take();
        let announces = known.as_ref().is_some_and(|known| known.announces);
        let found = match known {
            Some(known) => known.found,
            None => of_tag(store, provider).await?,
        };
        let mut all = found.as_ref().map(|(_, record)| record.clone()).unwrap_or_default();
        if let Some(provider) = provider {
            all = named(store, all, provider).await?;
        }
        edit(&mut all);
        let before = match found {
            Some((digest, record)) if record == all => return Ok((digest, record, false)),
            found => found.map(|(digest, _)| digest),
        };
        // Whoever writes after this, and was not seen by it, has read which versions move.
        let announces = announces && write == RecordWrite::Marks;
        let settled = if announces { store.settle().await } else { Ok(()) };
        let written = put(store, &all, before.as_ref()).await?;
        settled?;
        match (write, written) {
            // What another run overwrites is written again by the last write.
            (RecordWrite::Moves, Some(digest)) => return Ok((digest, all, true)),
            (RecordWrite::Moves, None) => {}
            (RecordWrite::Marks, Some(digest)) if announces => return Ok((digest, all, true)),
            // Whether it went well or another run came between: what is read next decides.
            (RecordWrite::Marks | RecordWrite::Lasting, _) => store.settle().await?,
        }
    }
    Err(MirrorError::SightingsContended { place: store.place(), tag: tag() })
}

/// Puts the record under its tag, if the tag still points at `before`. Gives the digest of its manifest then.
async fn put(
    store: &dyn Store,
    record: &SightingsRecord,
    before: Option<&Digest>,
) -> Result<Option<Digest>, StoreError> {
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
    let is_written = store.push_as(&descriptor, &bytes, &tag(), before).await?;
    Ok(is_written.then_some(descriptor.digest))
}

fn tag() -> Tag {
    Tag::FIRST_SEEN.parse().expect("the constant is a tag")
}

#[cfg(test)]
mod tests;
